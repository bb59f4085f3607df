// What holds of the rules of every system, at every variant and with every fault: they keep the laws of
// protocol code, and they can be told apart and found in their source.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/explain/explain.hpp"
#include "checker/systems/registry.hpp"
#include "tests/systems/list.hpp"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

using Texts = std::vector<std::string>;

// A system at a variant, without a fault or with one, as it is read there.
struct Reading {
  const SystemEntry& entry;
  std::string_view variant;
  Texts faults;
  recorded::Description description;
};
void for_each_reading(const std::function<void(const Reading&)>& f) {
  for (const SystemEntry& entry : systems()) {
    for (const Variant& variant : entry.variants) {
      std::vector<Texts> choices{{}};
      for (const Fault& fault : entry.faults) choices.push_back({std::string(fault.name)});
      for (const Texts& faults : choices) {
        SystemOptions options;
        options.variant = variant.name;
        options.faults = faults;
        INFO(entry.name << "/" << variant.name << (faults.empty() ? "" : ", fault " + faults.front()));
        f({entry, variant.name, faults, entry.describe(options)});
      }
    }
  }
}

const SystemClaims& claims_of(const SystemEntry& entry) {
  for (const auto& [name, claims] : system_claims()) {
    if (name == entry.name) return claims;
  }
  throw std::logic_error("no claims of " + std::string(entry.name));
}

// The name that a header gives its system: name = "..." at the head of a struct Info in its namespace. Empty
// where the header has neither, and is a part of others.
std::string system_in(const fs::path& header) {
  std::ifstream file(header);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  static const std::regex info(
      R"(struct Info\s*(?::[^{]*)?\{\s*static constexpr std::string_view name = "([^"]+)\";)");
  std::smatch found;
  if (std::regex_search(text, found, info)) return found[1];
  INFO(header.string());
  CHECK(text.find("namespace lockstep::" + header.stem().string()) == std::string::npos);
  return {};
}

// ---- what holds of each reading
// ----------------------------------------------------------------------------

void keeps_the_laws(const Reading& reading) {
  for (const recorded::RecordedRule& rule : reading.description.rules) {
    INFO(rule.name << " keeps the laws of protocol code");
    CHECK(rule.problems == Texts{});
  }
}

// Every rule a name of its own, and its unit; every invariant a name of its own.
void is_named(const recorded::Description& d) {
  REQUIRE_FALSE(d.rules.empty());
  std::set<std::string> names;
  for (const recorded::RecordedRule& rule : d.rules) {
    INFO("a rule is named: '" << rule.name << "' of '" << rule.unit << "'");
    CHECK_FALSE(rule.name.empty());
    CHECK_FALSE(rule.unit.empty());
    CHECK(names.insert(rule.name).second);
  }
  names.clear();
  for (const recorded::RecordedInvariant& invariant : d.invariants) {
    INFO("an invariant is named: '" << invariant.name << "'");
    CHECK_FALSE(invariant.name.empty());
    CHECK(names.insert(invariant.name).second);
  }
}

void says_where_it_comes_from(const Reading& reading) {
  if (claims_of(reading.entry).is_cited_whole) return;
  for (const recorded::RecordedRule& rule : reading.description.rules) {
    INFO(rule.name << " says where it comes from");
    CHECK_FALSE(rule.source.empty());
  }
}

void can_fire(const Reading& reading) {
  if (!reading.faults.empty()) return;
  for (const recorded::RecordedRule& rule : reading.description.rules) {
    INFO(rule.name << " can fire, and does something");
    CHECK_FALSE(recorded::is_constant(rule.guard, "false"));
    CHECK_FALSE(rule.writes.empty());
  }
}

// By some rule, but those fields that the system names.
void reads_every_field(const Reading& reading) {
  const std::string fault = reading.faults.empty() ? "" : reading.faults.front();
  recorded::Description rules_only = reading.description;
  rules_only.invariants.clear();
  const Texts unread = unread_fields(rules_only);
  for (const std::string& field : reading.description.fields) {
    // Every memory system shares the port and leaves some of it to the threads: they take the completion
    // and its value, and not every system asks for order and scope.
    if (field.starts_with("port(thread).")) continue;
    INFO(field << " is read");
    const bool is_unread = std::find(unread.begin(), unread.end(), field) != unread.end();
    CHECK(is_unread == claims_of(reading.entry).is_unread(field, reading.variant, fault));
  }
}

}  // namespace

// Most of the time goes into reading the rules, which is done once for all of this.
TEST_CASE("rules keep the laws, are named and cited, can fire, and read every field") {
  std::size_t rules = 0;
  for_each_reading([&](const Reading& reading) {
    keeps_the_laws(reading);
    is_named(reading.description);
    says_where_it_comes_from(reading);
    can_fire(reading);
    reads_every_field(reading);
    rules += reading.description.rules.size();
  });
  CHECK(rules > 3000);
}

TEST_CASE("a fault or a variant changes the rules of its system, and has a name of its own") {
  const auto text = [](const SystemEntry& entry, const std::string& variant, const Texts& faults) {
    SystemOptions options;
    options.variant = variant;
    options.faults = faults;
    std::string all;
    for (const recorded::RecordedRule& rule : entry.describe(options).rules) {
      all += rule.name + "\n" + print(rule.guard) + "\n" + print(rule.action, "  ");
    }
    return all;
  };
  for (const SystemEntry& entry : systems()) {
    INFO(entry.name);
    REQUIRE_FALSE(entry.variants.empty());
    CHECK(entry.variants.front().name == "default");
    std::set<std::string_view> names;
    for (const Fault& fault : entry.faults) {
      INFO(fault.name);
      CHECK(names.insert(fault.name).second);
      CHECK_FALSE(fault.what.empty());
      // Where the default does nothing that it is about, in another variant.
      CHECK(std::any_of(entry.variants.begin(), entry.variants.end(), [&](const Variant& variant) {
        const std::string name(variant.name);
        return text(entry, name, {std::string(fault.name)}) != text(entry, name, {});
      }));
    }
    for (const Variant& variant : entry.variants) {
      INFO(variant.name);
      CHECK(names.insert(variant.name).second);
      CHECK_FALSE(variant.what.empty());
    }
  }
}

TEST_CASE("every protocol under spec is in the registry") {
  std::set<std::string> registered;
  for (const SystemEntry& entry : systems()) {
    CHECK(registered.insert(std::string(entry.name)).second);
    CHECK_FALSE(entry.what.empty());
    CHECK((entry.build != nullptr) == entry.runs_programs);
    CHECK((entry.build_closed != nullptr) == !entry.runs_programs);
    CHECK(entry.describe != nullptr);
  }
  std::set<std::string> defined;
  for (const std::string folder : {"spec/memory", "spec/tasks", "spec/examples"}) {
    for (const auto& header : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / folder)) {
      const std::string name = system_in(header.path());
      if (!name.empty()) defined.insert(name);
    }
  }
  CHECK(defined == registered);
}
