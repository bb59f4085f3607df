// What a synchronization program is asked for: its variant, a deliberate fault, and its parameters by name.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "spec/kernel/rules.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

struct SyncParameter {
  std::string_view name;
  std::string_view what;
  int low = 0;
  int high = 0;
  int standard = 0;
};

// As many as a machine with time is asked for; what explores all runs holds fewer, and says so.
inline constexpr int most_work_groups = 4096;

// What a user asks for; whatever is left out is as usual.
struct SyncParameters {
  std::string variant;  // empty: "default"
  std::string fault;    // empty: none
  std::map<std::string, int, std::less<>> values;
};

struct SyncProgram;

// The same, complete and within its ranges.
class SyncChoice {
 public:
  // Throws std::invalid_argument on names that the program does not have and on values out of range.
  SyncChoice(const SyncProgram& program, const SyncParameters& asked);

  [[nodiscard]] int operator[](std::string_view name) const { return values_.find(name)->second; }
  [[nodiscard]] bool is(std::string_view variant) const { return variant_ == variant; }
  [[nodiscard]] bool has(std::string_view fault) const { return fault_ == fault; }
  // "ticket-lock/default, threads=3": with what differs from the standard.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::string variant_;
  std::string fault_;
  std::map<std::string, int, std::less<>> values_;
};

struct SyncProgram {
  std::string_view name;
  std::string_view what;
  std::string_view source;
  std::span<const Variant> variants;  // the first is "default"
  std::span<const Fault> faults;
  std::span<const SyncParameter> parameters;
  Program (*assemble)(const SyncChoice& choice);

  // Throws std::invalid_argument, with a message for people, on what the program does not have, on values out
  // of range, and on values that together need more than a machine holds.
  [[nodiscard]] Program build(const SyncParameters& asked) const {
    return assemble(SyncChoice(*this, asked));
  }
};

namespace sync {

template <class Named>
std::string names_of(std::span<const Named> all) {
  std::string text;
  for (const Named& one : all) text.append(text.empty() ? "" : ", ").append(one.name);
  return text.empty() ? "none" : text;
}

template <class Named>
void check_name(std::span<const Named> all, std::string_view name, const std::string& what,
                std::string_view program) {
  if (std::any_of(all.begin(), all.end(), [&](const Named& one) { return one.name == name; })) return;
  throw std::invalid_argument(std::string(program) + " has no " + what + " '" + std::string(name) +
                              "'; it has: " + names_of(all));
}

}  // namespace sync

inline SyncChoice::SyncChoice(const SyncProgram& program, const SyncParameters& asked)
    : variant_(asked.variant.empty() ? "default" : asked.variant), fault_(asked.fault) {
  sync::check_name(program.variants, variant_, "variant", program.name);
  if (!fault_.empty()) sync::check_name(program.faults, fault_, "fault", program.name);
  for (const auto& [name, value] : asked.values) {
    sync::check_name(program.parameters, name, "parameter", program.name);
  }
  name_ = std::string(program.name) + "/" + variant_;
  if (!fault_.empty()) name_ += ", fault " + fault_;
  for (const SyncParameter& p : program.parameters) {
    const auto found = asked.values.find(p.name);
    const int value = found == asked.values.end() ? p.standard : found->second;
    const std::string text = std::string(p.name) + "=" + std::to_string(value);
    if (value < p.low || value > p.high) {
      throw std::invalid_argument(text + " of " + std::string(program.name) + " is not between " +
                                  std::to_string(p.low) + " and " + std::to_string(p.high));
    }
    if (value != p.standard) name_ += ", " + text;
    values_.emplace(p.name, value);
  }
}

}  // namespace lockstep
