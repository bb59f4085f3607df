#include "checker/scheduling/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

struct NamedTimeouts {
  Timeouts timeouts;
  std::string_view name;
};
constexpr std::array timeout_names{NamedTimeouts{Timeouts::none, "none"},
                                   NamedTimeouts{Timeouts::stalled, "stalled"},
                                   NamedTimeouts{Timeouts::all, "all"}};

struct NamedReading {
  bool WaitingReadings::*reading;
  std::string_view name;
};
constexpr std::array reading_names{
    NamedReading{&WaitingReadings::keeps_monitoring, "keeps-monitoring"},
    NamedReading{&WaitingReadings::hashed_conditions, "hashed-conditions"},
    NamedReading{&WaitingReadings::observes_plain_stores, "observes-plain-stores"},
    NamedReading{&WaitingReadings::expiry_resumes, "expiry-resumes"},
    NamedReading{&WaitingReadings::any_order, "any-order"},
    NamedReading{&WaitingReadings::any_set_full, "any-set-full"},
    NamedReading{&WaitingReadings::predictor, "predictor"},
};

struct NamedNumber {
  int SchedulerSetup::*number;
  std::string_view name;
  bool of_policies;
};
constexpr std::array number_names{
    NamedNumber{&SchedulerSetup::slots, "slots", false},
    NamedNumber{&SchedulerSetup::taken, "taken", true},
    NamedNumber{&SchedulerSetup::conditions, "conditions", true},
    NamedNumber{&SchedulerSetup::waiters, "waiters", true},
    NamedNumber{&SchedulerSetup::log_entries, "log", true},
};

template <class Range>
std::vector<std::string> names_in(const Range& range) {
  std::vector<std::string> names;
  names.reserve(range.size());
  for (const auto& one : range) names.emplace_back(one.name);
  return names;
}

template <class Range>
const auto& named(const Range& range, std::string_view name, std::string_view what) {
  const auto found =
      std::find_if(range.begin(), range.end(), [&](const auto& one) { return one.name == name; });
  if (found != range.end()) return *found;
  throw BadInput(fmt::format("unknown {} '{}'", what, name), suggestion(name, names_in(range)));
}

int number_in(std::string_view text, std::string_view setting) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number > most_scheduled) {
    throw BadInput(fmt::format("'{}' is not a number from 0 to {}", setting, most_scheduled));
  }
  return number;
}

}  // namespace

SchedulerSetup scheduler_named(std::string_view name) {
  SchedulerSetup setup;
  for (const NamedProgressModel& one : progress_models) {
    if (one.name != name) continue;
    setup.model = one.model;
    return setup;
  }
  for (const NamedWaitingPolicy& one : waiting_policies) {
    if (one.name != name) continue;
    setup.is_policy = true;
    setup.policy = one.policy;
    setup.timeouts = printed_timeouts(one.policy);
    return setup;
  }
  throw BadInput(fmt::format("unknown scheduler '{}'", name), suggestion(name, scheduler_names()));
}

std::string_view name_of(ProgressModel model) {
  return progress_models.at(static_cast<std::size_t>(model)).name;
}
std::string_view name_of(WaitingPolicy policy) {
  return waiting_policies.at(static_cast<std::size_t>(policy)).name;
}
std::string_view name_of(const SchedulerSetup& setup) {
  return setup.is_policy ? name_of(setup.policy) : name_of(setup.model);
}

std::vector<std::string> scheduler_names() {
  std::vector<std::string> names = names_in(progress_models);
  for (const NamedWaitingPolicy& one : waiting_policies) names.emplace_back(one.name);
  return names;
}

void apply_setting(SchedulerSetup& setup, std::string_view setting) {
  const auto equals = setting.find('=');
  const std::string_view key = setting.substr(0, equals);
  std::vector<std::string> keys = names_in(number_names);
  keys.insert(keys.end(), {"timeouts", "reading", "fault"});
  if (equals == std::string_view::npos || std::find(keys.begin(), keys.end(), key) == keys.end()) {
    throw BadInput(fmt::format("'{}' is no setting of a scheduler", setting),
                   suggestion(std::string(key), keys));
  }
  const std::string_view value = setting.substr(equals + 1);
  const auto of_policies = [&] {
    if (setup.is_policy) return;
    throw BadInput(
        fmt::format("'{}' is for waiting policies; {} is a progress model", setting, name_of(setup)));
  };
  if (key == "timeouts") {
    of_policies();
    setup.timeouts = named(timeout_names, value, "timeouts").timeouts;
  } else if (key == "reading") {
    of_policies();
    setup.readings.*named(reading_names, value, "reading").reading = true;
  } else if (key == "fault") {
    of_policies();
    const auto& fault = named(scheduler_faults, value, "fault of a scheduler");
    setup.fault_bits |= std::uint64_t{1} << static_cast<unsigned>(&fault - scheduler_faults.data());
  } else if (key == "slots" && value == "any") {
    if (setup.is_policy)
      throw BadInput("'slots=any' is for progress models", "give a policy a number of slots");
    setup.slots = 0;
    setup.any_slots = true;
  } else {
    const NamedNumber& number = named(number_names, key, "setting");
    if (number.of_policies) of_policies();
    setup.*number.number = number_in(value, setting);
  }
}

std::vector<std::string> settings_of(const SchedulerSetup& setup) {
  const SchedulerSetup own = scheduler_named(name_of(setup));
  std::vector<std::string> settings;
  if (setup.any_slots) settings.emplace_back("slots=any");
  for (const NamedNumber& number : number_names) {
    if (setup.*number.number != own.*number.number)
      settings.push_back(fmt::format("{}={}", number.name, setup.*number.number));
  }
  if (setup.timeouts != own.timeouts) {
    settings.push_back(
        fmt::format("timeouts={}", timeout_names.at(static_cast<std::size_t>(setup.timeouts)).name));
  }
  for (const NamedReading& reading : reading_names) {
    if (setup.readings.*reading.reading) settings.push_back(fmt::format("reading={}", reading.name));
  }
  for (std::size_t i = 0; i < scheduler_faults.size(); ++i) {
    if (setup.has(static_cast<unsigned>(i)))
      settings.push_back(fmt::format("fault={}", scheduler_faults.at(i).name));
  }
  return settings;
}

std::string description_of(const SchedulerSetup& setup) {
  std::string text(name_of(setup));
  for (const std::string& setting : settings_of(setup)) text += ", " + setting;
  return text;
}

void check_setup(const SchedulerSetup& setup, int work_groups, int agents, bool performs_at_once,
                 std::string_view system) {
  if (setup.is_policy && !performs_at_once && agents > 1) {
    throw BadInput(
        fmt::format("{} has the monitor of one GPU, and the program has {}", name_of(setup), agents),
        "put all its work-groups on one agent, or run it on sc, where one monitor sees all");
  }
  if (setup.readings.observes_plain_stores && !performs_at_once) {
    throw BadInput(
        fmt::format("reading=observes-plain-stores: {} performs a plain store where no monitor stands",
                    system),
        "run it on sc, where every request is performed at once");
  }
  if (setup.slots > work_groups) {
    throw BadInput(
        fmt::format("slots={} is more than the {} work-groups of the program", setup.slots, work_groups));
  }
  const int slots = setup.slots == 0 ? work_groups : setup.slots;
  if (setup.taken >= slots && setup.taken > 0) {
    throw BadInput(fmt::format("taken={} leaves none of {} slots", setup.taken, slots));
  }
}

}  // namespace lockstep
