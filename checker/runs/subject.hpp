// What a run explores: a system with its options and, for a memory system, the program that runs on it.
//
// A Subject says everything that a trace file needs to build the same model again.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explore/model.hpp"
#include "checker/systems/registry.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

struct Subject {
  const SystemEntry* system = nullptr;
  SystemOptions options;
  std::shared_ptr<const Program> program;    // null where the system runs none
  std::shared_ptr<const Launches> launches;  // null where its client is every one

  // As people name it on the command line, without faults and sizes: "quick-release/split-fifo".
  [[nodiscard]] std::string name() const;
  // The name together with what differs from the defaults: "quick-release, fault early-ack,
  // s-fifo1-entries=2".
  [[nodiscard]] std::string description() const;
  // The name of its program or sequence of launches; empty where it has none.
  [[nodiscard]] std::string client() const;
  // Throws BadInput where options or program do not fit the system.
  [[nodiscard]] std::unique_ptr<Model> build() const;
  // The same for a system that runs programs.
  [[nodiscard]] std::unique_ptr<ProgramModel> build_with_program() const;
  // The same for a system whose client launches kernels.
  [[nodiscard]] std::unique_ptr<LaunchesModel> build_with_launches() const;
  // All that explores it has to know. Throws as build() does, and where a rule breaks a law of protocol code.
  [[nodiscard]] recorded::WholeDescription describe() const;
};

// "quick-release" or "quick-release/split-fifo"; throws BadInput with the nearest name.
Subject subject_named(std::string_view name);

// What a user asks of several systems at once.
struct SharedOptions {
  std::string variant;  // empty: as each was named
  std::vector<std::string> faults;
  std::map<std::string, int> sizes;
};

// Gives each subject those of the options that its system knows. Throws BadInput, with the nearest name, on
// one that no system knows, and on a variant for a subject that was named with another.
void apply_shared(const SharedOptions& shared, std::span<Subject> subjects);

// "s-fifo1-entries=2", of `least` at least; throws BadInput on anything else.
std::pair<std::string, int> parse_size(std::string_view text, int least = 1);

// What may be done without, by its name on a command line.
struct ReductionSwitch {
  std::string_view name;
  bool Reductions::*is_on;
};
inline constexpr std::array reduction_switches{
    ReductionSwitch{"moves", &Reductions::moves}, ReductionSwitch{"stubborn", &Reductions::stubborn},
    ReductionSwitch{"dead", &Reductions::dead}, ReductionSwitch{"at-once", &Reductions::at_once}};

// All reductions but those named. Throws BadInput with the nearest name.
Reductions reductions_without(std::span<const std::string> names);

// Where invariants are the question: those that pass over no breach of one, without those named; none where
// the system runs no programs.
Reductions reductions_for_invariants(const SystemEntry& system, std::span<const std::string> without);

// What verdicts on these subjects rest on besides the explorer: whose claims (spec/kernel/at_once.hpp) were
// used, and what discharges them. A line with its end, or nothing.
std::string rests_on_text(std::span<const Subject> subjects);

}  // namespace lockstep
