// Progress tables: programs against schedulers in several situations.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/liveness/liveness.hpp"
#include "checker/scheduling/setup.hpp"

namespace lockstep {

// What there is room for (Dutu et al., 2020, VI).
enum class Situation : std::uint8_t {
  resident,        // a slot for every work-group
  oversubscribed,  // a slot fewer
  taken,           // a slot is taken away at some moment, with who is there; policies only
};
inline constexpr std::array situations{Situation::resident, Situation::oversubscribed, Situation::taken};
std::string_view word(Situation situation);
// Throws BadInput with the nearest name.
Situation situation_named(std::string_view name);

// The setup in a situation of a program with that many work-groups; none where it has no meaning: one
// work-group alone is not oversubscribed, and a progress model knows of no CU that could be taken away.
std::optional<SchedulerSetup> in_situation(const SchedulerSetup& setup, Situation situation, int work_groups);

int work_groups_of(const Program& program);

struct ProgressCell {
  std::size_t program = 0;
  std::string scheduler;
  Situation situation = Situation::resident;
  bool asked = false;  // else the situation has no meaning
  LivenessRun run;
};

struct ProgressTable {
  std::vector<std::shared_ptr<const Program>> programs;
  std::vector<SchedulerSetup> schedulers;
  std::vector<Situation> situations;
  std::vector<ProgressCell> cells;  // by program, then situation, then scheduler
  bool interrupted = false;
  double seconds = 0;
};

struct TableOptions {
  Subject system;  // without a program
  LivenessOptions liveness;
  unsigned threads = 1;
  std::function<void(std::size_t done, std::size_t all)> on_progress;
};

ProgressTable fill(std::vector<std::shared_ptr<const Program>> programs,
                   std::vector<SchedulerSetup> schedulers, std::vector<Situation> situations,
                   const TableOptions& options);

// A block for each situation: a line a program, a column a scheduler.
std::string table_text(const ProgressTable& table);
// Of one verdict: what was explored, the verdict, and its path or lasso.
std::string liveness_text(const LivenessRun& run);
// Schema lockstep.progress/1.
nlohmann::json table_json(const ProgressTable& table);

// 130 interrupted, 2 an error, 1 a program does not terminate or progress, 3 a limit was reached, else 0.
int exit_status(std::span<const LivenessRun* const> runs, bool interrupted);

}  // namespace lockstep
