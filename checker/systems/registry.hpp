// The systems that Lockstep knows, by name, and how to build a model of one.
//
// A system is a header with a struct Info, under spec/ or anywhere else. The build makes translation units of
// it, one for each value kind (cmake/systems.cmake), which register themselves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explore/model.hpp"
#include "checker/support/registration.hpp"
#include "spec/kernel/concrete.hpp"
#include "spec/kernel/recorded.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/program/launches.hpp"
#include "spec/program/program.hpp"
#include "spec/scheduler/setup.hpp"

namespace lockstep {

struct Mutation;  // checker/interpret/mutation.hpp

// What a run asks of a system: "quick-release/split-fifo", sizes that differ from the defaults, faults.
struct SystemOptions {
  std::string variant = "default";
  std::vector<std::string> faults;
  std::map<std::string, int> sizes;
  Reductions reductions;
  std::optional<ValueRange> value_range;
  // Hold trees against rules, slowly; with Reductions::stubborn, footprints as well; and ask all guards of
  // every state.
  bool check_footprints = false;
  // A change of one rule, whose tree is then walked in its place. Nothing is taken at once by claims then.
  std::shared_ptr<const Mutation> mutation;
  // So many that it pays to find out, in a millisecond, which guards look at what has changed.
  bool many_states = false;
  bool memory_observed = true;              // whether final values of locations will be read
  std::optional<SchedulerSetup> scheduler;  // none: every thread has a processor of its own
};

struct SizeDescription {
  std::string name;
  int capacity = 0;
  std::string what_sets_it;  // "the program", or the default
};

// A model of a program on a memory system: besides exploring, its final states can be read.
class ProgramModel : public Model {
 public:
  // The final value of a register or a location (index into Program::locations).
  [[nodiscard]] virtual std::int32_t final_register(const std::uint64_t* state, int thread,
                                                    int index) const = 0;
  [[nodiscard]] virtual std::int32_t final_location(const std::uint64_t* state, int index) const = 0;
};

// A model of a system under a sequence of launches: besides exploring, what its ends have seen can be read.
class LaunchesModel : public Model {
 public:
  // The value of a term, an index into Launches::observed.
  [[nodiscard]] virtual std::int32_t observed(const std::uint64_t* state, std::size_t term) const = 0;
};

struct SystemEntry {
  std::string_view name;
  std::string_view what;
  std::span<const Fault> faults;
  std::span<const Variant> variants;
  bool runs_programs = true;
  bool only_if_named = false;  // too large for every test: not among the systems where none is named
  bool claims = false;         // something is claimed beside the protocol (spec/kernel/at_once.hpp)
  std::vector<SizeDescription> sizes;
  // Exactly one of the two builds, by runs_programs. Both throw BadInput on options that do not fit.
  std::unique_ptr<ProgramModel> (*build)(std::shared_ptr<const Program>, const SystemOptions&) = nullptr;
  std::unique_ptr<Model> (*build_closed)(const SystemOptions&) = nullptr;
  // Of a memory system with a port for launches: under a sequence of them. Null for all others.
  std::unique_ptr<LaunchesModel> (*build_launched)(std::shared_ptr<const Launches>,
                                                   const SystemOptions&) = nullptr;
  // Every rule and invariant of the system itself, without a program, as expression trees.
  recorded::Description (*describe)(const SystemOptions&) = nullptr;
  // All that explores the system has to know; the program is null where the system runs none. Throws BadInput
  // as building a model does.
  recorded::WholeDescription (*describe_whole)(std::shared_ptr<const Program>,
                                               const SystemOptions&) = nullptr;
  // The same under a sequence of launches, whose terms are the registers of one thread. Null as
  // build_launched.
  recorded::WholeDescription (*describe_launched)(std::shared_ptr<const Launches>,
                                                  const SystemOptions&) = nullptr;
};

// In the order in which people should read them. Throws BadInput where two have one name, or one was compiled
// against another version of Lockstep.
std::span<const SystemEntry> systems();

// One of static storage in the system's translation unit puts the system on that list.
struct RegisteredSystem {
  RegisteredSystem(const Origin& origin, SystemEntry (*entry)());
};

// Likewise what the translation unit of its trees knows.
struct SystemDescriptions {
  decltype(SystemEntry::describe) describe = nullptr;
  decltype(SystemEntry::describe_whole) describe_whole = nullptr;
  decltype(SystemEntry::describe_launched) describe_launched = nullptr;
};
struct RegisteredDescriptions {
  RegisteredDescriptions(const Origin& origin, SystemDescriptions descriptions);
};

// Throws BadInput with the nearest name.
const SystemEntry& find_system(std::string_view name);
// "quick-release/split-fifo": the system, and the variant put into `options`.
const SystemEntry& find_system(std::string_view name, SystemOptions& options);

// Index of a variant, bits of faults; throw BadInput with the nearest name.
int variant_index(const SystemEntry& entry, std::string_view name);
std::uint64_t fault_mask(const SystemEntry& entry, std::span<const std::string> names);

}  // namespace lockstep
