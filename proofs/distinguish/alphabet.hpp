// What a model can see of two events: the truth of its base sets and relations, by what the events are, which
// threads they are of, and whether they access one location. It is asked of executions that are put together
// for the purpose, so that nothing of what an event means is said a second time.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "checker/axiomatic/execution.hpp"
#include "checker/axiomatic/plan.hpp"
#include "spec/program/program.hpp"

namespace lockstep::distinguish {

// An instruction that accesses a location, or a fence, and the events that it gives rise to.
struct Operation {
  Instruction instruction;
  std::vector<ProgramEvent> events;  // one, or an RMW's read and write
};
// Loads, stores, exchanges and fences of every order, at the scopes of work-groups, agents and the system,
// the plainest first.
const std::vector<Operation>& operations();

// One event of one operation.
struct Letter {
  int operation = 0;
  int part = 0;
};
const std::vector<Letter>& letters();
inline constexpr std::size_t most_letters = 64;
using Letters = std::bitset<most_letters>;
const ProgramEvent& event_of(const Letter& letter);

// Threads with so many events each, and where they are.
struct Frame {
  std::vector<int> sizes;
  std::vector<Placement> placements;  // one for each thread
  [[nodiscard]] int events() const;
};
// Of so many events: every way to distribute them over so many threads at most, on every placement on agents
// and their work-groups, but for the names of threads, work-groups and agents.
std::vector<Frame> frames(int events, int most_threads);

// Two events' places in a frame, as far as it matters what holds of them.
enum class Where : std::uint8_t { elsewhere, before, after };  // in another thread; earlier or later in one

class Tables {
 public:
  // For these base sets and relations, but those that are chosen or that a program's text decides:
  // is_from_text().
  Tables(const Frame& frame, const std::set<cat::Base>& bases);

  // The letters of which a set consists, of a thread's events.
  [[nodiscard]] Letters members(cat::Base set, int thread) const;
  // What follows a letter in a relation: `from` and `to` are threads, and equal unless `where` is elsewhere.
  [[nodiscard]] Letters successors(cat::Base relation, int from, int to, Where where, bool same_location,
                                   std::size_t letter) const;
  // The same of initial writes.
  [[nodiscard]] bool initial_in(cat::Base set) const;
  [[nodiscard]] bool initially(cat::Base relation,
                               bool same_location) const;  // from one to another, or itself
  [[nodiscard]] Letters after_initial(cat::Base relation, int thread, bool same_location) const;
  [[nodiscard]] Letters before_initial(cat::Base relation, int thread, bool same_location) const;
  [[nodiscard]] bool to_itself(cat::Base relation, int thread, std::size_t letter) const;

  // Operations that no set or relation tells from one of these are left out.
  [[nodiscard]] const std::vector<int>& distinct_operations() const { return distinct_; }
  // Equal for frames that these sets and relations do not tell apart.
  [[nodiscard]] const std::vector<std::uint64_t>& identity() const { return identity_; }

 private:
  struct Relation {
    // By from, to, where and same location: rows of letters.
    std::map<std::array<int, 4>, std::array<Letters, most_letters>> rows;
    std::array<bool, 2> initially{};
    std::map<std::array<int, 2>, Letters> after_initial;
    std::map<std::array<int, 2>, Letters> before_initial;
    std::map<int, Letters> to_itself;
  };
  struct Set {
    std::map<int, Letters> members;
    bool initial = false;
  };
  void probe(const Frame& frame, int from, int to);
  void tell_apart();

  std::map<cat::Base, Set> sets_;
  std::map<cat::Base, Relation> relations_;
  std::vector<int> distinct_;
  std::vector<std::uint64_t> identity_;
};

// Whether a base relation follows from which instruction an event is of, what it depends on, or a choice.
bool is_from_text(cat::Base base);

}  // namespace lockstep::distinguish
