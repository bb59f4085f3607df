// Names of subjects, and building their models.
#include "checker/runs/subject.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "checker/interpret/mutation.hpp"
#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/tags.hpp"
#include "checker/systems/scheduled_registry.hpp"
#include "checker/systems/trees.hpp"

namespace lockstep {

namespace {

void refuse_launches_on(const SystemEntry& system) {
  if (system.build_launched == nullptr)
    throw BadInput(fmt::format("{} takes no sequence of launches", system.name));
}

}  // namespace

std::string Subject::name() const {
  std::string text(system->name);
  if (options.variant != "default") text += "/" + options.variant;
  return text;
}

std::string Subject::description() const {
  std::string text = name();
  for (const std::string& fault : options.faults) text += ", fault " + fault;
  for (const auto& [size, value] : options.sizes) text += fmt::format(", {}={}", size, value);
  if (options.mutation)
    text += fmt::format(", whose '{}' {}", options.mutation->rule, lockstep::text(*options.mutation));
  if (options.scheduler) text += " under " + description_of(*options.scheduler);
  return text;
}

std::string Subject::client() const {
  return program ? program->name : launches ? launches->name : "";
}

std::unique_ptr<Model> Subject::build() const {
  if (launches != nullptr) return build_with_launches();
  if (!system->runs_programs) return system->build_closed(options);
  return build_with_program();
}

std::unique_ptr<ProgramModel> Subject::build_with_program() const {
  if (!system->runs_programs) throw BadInput(fmt::format("{} runs no programs", system->name));
  if (program == nullptr) throw BadInput(fmt::format("{} needs a program", system->name));
  refuse_for_models(*program);
  if (options.scheduler && options.mutation)
    throw BadInput("a rule whose tree is walked runs under no scheduler");
  if (options.scheduler) return build_scheduled(*system, program, options);
  return system->build(program, options);
}

std::unique_ptr<LaunchesModel> Subject::build_with_launches() const {
  refuse_launches_on(*system);
  return system->build_launched(launches, options);
}

recorded::WholeDescription Subject::describe() const {
  if (launches != nullptr) refuse_launches_on(*system);
  SystemOptions built = options;
  if (built.scheduler && goes_unscheduled(*system, *built.scheduler)) built.scheduler.reset();
  recorded::WholeDescription whole = launches == nullptr ? system->describe_whole(program, built)
                                                         : system->describe_launched(launches, built);
  refuse_unlawful(system->name, whole);
  return whole;
}

Subject subject_named(std::string_view name) {
  Subject subject;
  subject.system = &find_system(name, subject.options);
  return subject;
}

namespace {

// Gives `name` to every subject whose system has it among `names_of(system)`.
template <class NamesOf, class Give>
void give(std::string_view what, const std::string& name, std::span<Subject> subjects, NamesOf&& names_of,
          Give&& give) {
  std::vector<std::string> all;
  bool known = false;
  for (Subject& subject : subjects) {
    const std::vector<std::string> names = names_of(*subject.system);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      give(subject);
      known = true;
    }
    all.insert(all.end(), names.begin(), names.end());
  }
  if (known) return;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const std::string whose = subjects.size() == 1 ? fmt::format("{} has no {}", subjects[0].system->name, what)
                                                 : fmt::format("none of the systems has a {}", what);
  throw BadInput(fmt::format("{} '{}'", whose, name), suggestion(name, all));
}

template <class Range>
std::vector<std::string> names_in(const Range& range) {
  std::vector<std::string> names;
  names.reserve(std::size(range));
  for (const auto& one : range) names.emplace_back(one.name);
  return names;
}

void set_variant(Subject& subject, const std::string& variant) {
  if (subject.options.variant != "default" && subject.options.variant != variant) {
    throw BadInput(fmt::format("'{}' names another variant than '{}'", subject.name(), variant));
  }
  subject.options.variant = variant;
}

void set_size(Subject& subject, const std::string& name, int value) {
  for (const SizeDescription& size : subject.system->sizes) {
    if (size.name == name && value > size.capacity) {
      throw BadInput(fmt::format("size {}={} is above the {} that this build of {} holds", name, value,
                                 size.capacity, subject.system->name));
    }
  }
  subject.options.sizes[name] = value;
}

}  // namespace

void apply_shared(const SharedOptions& shared, std::span<Subject> subjects) {
  if (!shared.variant.empty()) {
    give(
        "variant", shared.variant, subjects,
        [](const SystemEntry& system) { return names_in(system.variants); },
        [&](Subject& subject) { set_variant(subject, shared.variant); });
  }
  for (const std::string& fault : shared.faults) {
    give(
        "fault", fault, subjects, [](const SystemEntry& system) { return names_in(system.faults); },
        [&](Subject& subject) { subject.options.faults.push_back(fault); });
  }
  for (const auto& [size, value] : shared.sizes) {
    give(
        "size", size, subjects, [](const SystemEntry& system) { return names_in(system.sizes); },
        [&, name = size, wanted = value](Subject& subject) { set_size(subject, name, wanted); });
  }
}

std::pair<std::string, int> parse_size(std::string_view text, int least) {
  const auto equals = text.find('=');
  int value = 0;
  bool good = equals != std::string_view::npos && equals > 0;
  if (good) {
    const std::string_view number = text.substr(equals + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    good = error == std::errc() && end == number.data() + number.size() && value >= least;
  }
  if (!good)
    throw BadInput(fmt::format("'{}' is not a size", text), "write NAME=NUMBER, such as s-fifo1-entries=2");
  return {std::string(text.substr(0, equals)), value};
}

Reductions reductions_without(std::span<const std::string> names) {
  Reductions reductions;
  for (const std::string& name : names) {
    const auto* const found = std::find_if(reduction_switches.begin(), reduction_switches.end(),
                                           [&](const ReductionSwitch& one) { return one.name == name; });
    if (found == reduction_switches.end()) {
      std::vector<std::string> known;
      for (const ReductionSwitch& one : reduction_switches) known.emplace_back(one.name);
      throw BadInput(fmt::format("there is no reduction '{}'", name), suggestion(name, known));
    }
    reductions.*found->is_on = false;
  }
  return reductions;
}

Reductions reductions_for_invariants(const SystemEntry& system, std::span<const std::string> without) {
  return system.runs_programs ? reductions_without(without).for_invariants() : Reductions::none();
}

std::string rests_on_text(std::span<const Subject> subjects) {
  std::vector<std::string> names;
  for (const Subject& subject : subjects) {
    if (subject.system->claims && subject.options.reductions.at_once &&
        std::find(names.begin(), names.end(), subject.system->name) == names.end())
      names.emplace_back(subject.system->name);
  }
  if (names.empty()) return {};
  return fmt::format("Rests on what is claimed of {} (`lockstep prove {} --claims`).\n",
                     fmt::join(names, " and "), names.size() == 1 ? names.front() : "SYSTEM");
}

}  // namespace lockstep
