#include "cli/completion.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "checker/axiomatic/cat_compiler.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/races/races.hpp"
#include "checker/runs/subject.hpp"
#include "checker/systems/registry.hpp"
#include "cli/common.hpp"
#include "spec/scheduler/setup.hpp"
#include "spec/sync/catalogue.hpp"

namespace lockstep::cli {

namespace {

using Words = std::vector<std::string>;

template <class Range>
Words names_of(const Range& range) {
  Words names;
  for (const auto& one : range) names.emplace_back(one.name);
  return names;
}
void append(Words& to, const Words& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// "quick-release" for "quick-release/split-fifo"; null where the word names none.
const SystemEntry* system_of(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('/'));
  for (const SystemEntry& system : systems()) {
    if (system.name == name) return &system;
  }
  return nullptr;
}

Words systems_and_variants(std::string_view begun) {
  if (begun.find('/') == std::string_view::npos) return names_of(systems());
  Words names;
  if (const SystemEntry* const system = system_of(begun)) {
    for (const Variant& variant : system->variants)
      names.push_back(std::string(system->name) + "/" + std::string(variant.name));
  }
  return names;
}

// Of the systems that the words name, commas between them or not.
template <class Take>
Words of_systems(const Words& words, Take&& take) {
  Words names;
  for (const std::string& word : words) {
    for (std::size_t at = 0; at <= word.size();) {
      const std::size_t end = std::min(word.find_first_of(",=", at), word.size());
      if (const SystemEntry* const system = system_of(std::string_view(word).substr(at, end - at)))
        append(names, take(*system));
      at = end + 1;
    }
  }
  return names;
}

Words tests() {
  const std::string home = litmus_home();
  const SuiteFiles files = read_tests(std::vector{home}, home, Clients::include);
  Words names;
  for (const LitmusTests* kind : {&files.tests, &files.launches}) {
    for (const auto& test : *kind) names.push_back(test->name);
  }
  return names;
}

Words models() {
  Words names = cat::model_names();
  for (const RaceModel model : race_models) names.emplace_back(name(model));
  return names;
}

// "{tests,lemmas}" in what an option says of its type.
Words listed_in(const std::string& type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin);
  Words names;
  if (begin == std::string::npos || end == std::string::npos) return names;
  for (std::size_t at = begin + 1; at < end;) {
    const std::size_t comma = std::min(type.find(',', at), end);
    names.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return names;
}

// Of a comparison: systems with their faults, and models.
Words sides(std::string_view begun) {
  const std::size_t plus = begun.rfind('+');
  if (plus == std::string_view::npos) {
    Words names = systems_and_variants(begun);
    append(names, models());
    return names;
  }
  Words names;
  if (const SystemEntry* const system = system_of(begun.substr(0, begun.find('+')))) {
    for (const Fault& fault : system->faults)
      names.push_back(std::string(begun.substr(0, plus + 1)) + std::string(fault.name));
  }
  return names;
}

// What may stand for an option or a positional argument, by its name.
Words values(const CLI::Option& option, const Words& words, std::string_view begun) {
  const std::string name = option.get_positional() ? option.get_name(true) : option.get_lnames().front();
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is({"SYSTEM", "on", "faults"})) return systems_and_variants(begun);
  if (is({"variant"})) return of_systems(words, [](const SystemEntry& s) { return names_of(s.variants); });
  if (is({"fault"})) return of_systems(words, [](const SystemEntry& s) { return names_of(s.faults); });
  if (is({"size", "proof-size"})) {
    Words sizes = of_systems(words, [](const SystemEntry& s) { return names_of(s.sizes); });
    for (std::string& size : sizes) size += '=';
    return sizes;
  }
  if (is({"A", "B"})) return sides(begun);
  if (is({"model", "models", "against"})) return models();
  if (is({"TESTS", "tests", "program"})) return tests();
  if (is({"PROGRAMS"})) {
    Words programs = names_of(sync_programs());
    append(programs, tests());
    return programs;
  }
  if (is({"scheduler"})) {
    Words schedulers = names_of(progress_models);
    append(schedulers, names_of(waiting_policies));
    return schedulers;
  }
  if (is({"no-reduce"})) return names_of(reduction_switches);
  if (is({"WHAT"})) {
    Words kinds = listed_kinds;
    append(kinds, names_of(systems()));
    return kinds;
  }
  return listed_in(option.get_type_name());
}

const CLI::Option* option_named(const CLI::App& command, std::string_view word) {
  for (const CLI::Option* const option : command.get_options()) {
    const auto& names = option->get_lnames();
    if (word.starts_with("--") && std::find(names.begin(), names.end(), word.substr(2)) != names.end())
      return option;
  }
  return nullptr;
}
bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

// Those that go on from what is begun, each behind what comes before the last comma.
Words going_on(Words candidates, const std::string& begun, bool is_list, const std::string& before = "") {
  const std::size_t comma = is_list ? begun.rfind(',') : std::string::npos;
  const std::size_t start = comma == std::string::npos ? 0 : comma + 1;
  const std::string_view last = std::string_view(begun).substr(start);
  std::erase_if(candidates, [&](const std::string& candidate) { return !candidate.starts_with(last); });
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (std::string& candidate : candidates) candidate = before + begun.substr(0, start) + candidate;
  return candidates;
}

Words values_going_on(const CLI::Option& option, const Words& words, const std::string& begun,
                      const std::string& before = "") {
  const bool is_list = option.get_delimiter() != '\0';
  const std::string last = is_list ? begun.substr(begun.rfind(',') + 1) : begun;
  return going_on(values(option, words, last), begun, is_list, before);
}

}  // namespace

std::vector<std::string> completions(const CLI::App& command, const std::vector<std::string>& line) {
  Words words = line;
  if (words.empty()) words.emplace_back();
  // Some shells take "--on=sc" apart: "--on", "=", "sc".
  const bool begins_value = words.back() == "=";
  std::erase(words, "=");
  if (begins_value) words.emplace_back();
  const std::string begun = words.back();
  words.pop_back();

  if (const std::size_t equals = begun.find('='); begun.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* const option = option_named(command, begun.substr(0, equals));
    if (option == nullptr || !takes_value(*option)) return {};
    return values_going_on(*option, words, begun.substr(equals + 1), begun.substr(0, equals + 1));
  }
  if (!words.empty()) {
    const CLI::Option* const option = option_named(command, words.back());
    if (option != nullptr && takes_value(*option)) return values_going_on(*option, words, begun);
  }
  if (begun.starts_with("-")) {
    Words names;
    for (const CLI::Option* const option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return going_on(std::move(names), begun, false);
  }
  // The first positional argument that has no word yet, or the last.
  std::vector<const CLI::Option*> places;
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_positional() && option->get_lnames().empty()) places.push_back(option);
  }
  if (places.empty()) return {};
  std::size_t taken = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("-")) continue;
    const CLI::Option* const before = i > 0 ? option_named(command, words[i - 1]) : nullptr;
    if (before == nullptr || !takes_value(*before)) ++taken;
  }
  return values_going_on(*places[std::min(taken, places.size() - 1)], words, begun);
}

}  // namespace lockstep::cli
