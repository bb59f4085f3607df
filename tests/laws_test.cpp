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

// Calls the function with every system at every variant, without a fault and with each.
using Visit = std::function<void(const SystemEntry&, const Texts& faults, const recorded::Description&)>;
using VisitVariant = std::function<void(const SystemEntry&, std::string_view variant, const Texts& faults,
                                        const recorded::Description&)>;
void for_each_variant_description(const VisitVariant& f) {
  for (const SystemEntry& entry : systems()) {
    for (const Variant& variant : entry.variants) {
      std::vector<Texts> choices{{}};
      for (const Fault& fault : entry.faults) choices.push_back({std::string(fault.name)});
      for (const Texts& faults : choices) {
        SystemOptions options;
        options.variant = variant.name;
        options.faults = faults;
        INFO(entry.name << "/" << variant.name << (faults.empty() ? "" : ", fault " + faults.front()));
        f(entry, variant.name, faults, entry.describe(options));
      }
    }
  }
}
void for_each_description(const Visit& f) {
  for_each_variant_description([&](const SystemEntry& entry, std::string_view, const Texts& faults,
                                   const recorded::Description& d) { f(entry, faults, d); });
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

}  // namespace

TEST_CASE("no rule of any system breaks a law of protocol code") {
  std::size_t rules = 0;
  for_each_description([&](const SystemEntry&, const Texts&, const recorded::Description& d) {
    for (const recorded::RecordedRule& rule : d.rules) {
      INFO(rule.name);
      CHECK(rule.problems == Texts{});
      ++rules;
    }
  });
  CHECK(rules > 3000);
}

TEST_CASE("every rule has a name of its own and names its unit") {
  for_each_description([](const SystemEntry&, const Texts&, const recorded::Description& d) {
    REQUIRE_FALSE(d.rules.empty());
    std::set<std::string> names;
    for (const recorded::RecordedRule& rule : d.rules) {
      INFO(rule.name);
      CHECK_FALSE(rule.name.empty());
      CHECK_FALSE(rule.unit.empty());
      CHECK(names.insert(rule.name).second);
    }
    names.clear();
    for (const recorded::RecordedInvariant& invariant : d.invariants) {
      INFO(invariant.name);
      CHECK_FALSE(invariant.name.empty());
      CHECK(names.insert(invariant.name).second);
    }
  });
}

TEST_CASE("every rule of a protocol from the literature says where it comes from") {
  for_each_description([&](const SystemEntry& entry, const Texts&, const recorded::Description& d) {
    if (claims_of(entry).is_cited_whole) return;
    for (const recorded::RecordedRule& rule : d.rules) {
      INFO(rule.name);
      CHECK_FALSE(rule.source.empty());
    }
  });
}

TEST_CASE("every rule of a system without faults can fire, and does something") {
  for_each_description([](const SystemEntry&, const Texts& faults, const recorded::Description& d) {
    if (!faults.empty()) return;
    for (const recorded::RecordedRule& rule : d.rules) {
      INFO(rule.name);
      CHECK_FALSE(recorded::is_constant(rule.guard, "false"));
      CHECK_FALSE(rule.writes.empty());
    }
  });
}

TEST_CASE("every declared field is read by some rule of its system, but those that it names") {
  for_each_variant_description([&](const SystemEntry& entry, std::string_view variant, const Texts& faults,
                                   const recorded::Description& d) {
    const std::string fault = faults.empty() ? "" : faults.front();
    recorded::Description rules_only = d;
    rules_only.invariants.clear();
    const Texts unread = unread_fields(rules_only);
    for (const std::string& field : d.fields) {
      // Every memory system shares the port and leaves some of it to the threads: they take the completion
      // and its value, and not every system asks for order and scope.
      if (field.starts_with("port(thread).")) continue;
      INFO(field);
      const bool is_unread = std::find(unread.begin(), unread.end(), field) != unread.end();
      CHECK(is_unread == claims_of(entry).is_unread(field, variant, fault));
    }
  });
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
