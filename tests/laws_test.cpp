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
#include <string>
#include <vector>

#include "checker/explain/explain.hpp"
#include "checker/systems/registry.hpp"

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

// Names defined in the headers of a folder: name = "..." within a struct Info or ...Info.
Texts systems_in(const fs::path& header) {
  std::ifstream file(header);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  static const std::regex info(R"(struct \w*Info \{\s*static constexpr std::string_view name = "([^"]+)\";)");
  Texts names;
  for (std::sregex_iterator at(text.begin(), text.end(), info), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
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
  // Sequential consistency is a definition, German's protocol a page that is cited as a whole.
  const std::set<std::string_view> exempt{"sc", "german"};
  for_each_description([&](const SystemEntry& entry, const Texts&, const recorded::Description& d) {
    if (exempt.contains(entry.name)) return;
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

TEST_CASE("every declared field is read by some rule of its system") {
  // Every system shares the port and leaves some of it to the threads: they take the completion and its
  // value. Flat memory needs neither order nor scope, and only a protocol that drains at the end asks who has
  // ended.
  const std::map<std::string_view, std::set<std::string>> read_by_threads_alone{
      {"sc",
       {"port(thread).done", "port(thread).result", "port(thread).ended", "port(thread).request.order",
        "port(thread).request.scope", "port(thread).request.returns"}},
      {"write-through",
       {"port(thread).done", "port(thread).result", "port(thread).ended", "port(thread).request.returns"}},
      {"quick-release", {"port(thread).done", "port(thread).result", "port(thread).request.returns"}},
      {"halcone",
       {"port(thread).done", "port(thread).result", "port(thread).ended", "port(thread).request.returns",
        "l1(cu, block).wts"}},  // which its invariants and Fig. 5 have
      {"cpcoh", {}},
      {"lab", {"port(thread).done", "port(thread).result"}},
      {"german", {"auxiliary"}}};  // which exists for the invariants only
  // What a fault leaves without a reader, because ignoring it is the fault.
  const std::map<std::string, std::string> ignored{{"drop-write-back", "node(node).acknowledgement_data"},
                                                   {"expired-copy-read", "l1(cu, block).rts"}};
  for_each_variant_description([&](const SystemEntry& entry, std::string_view variant, const Texts& faults,
                                   const recorded::Description& d) {
    std::set<std::string> expected = read_by_threads_alone.at(entry.name);
    if (entry.name == "halcone") {
      const bool printed = variant.starts_with("as-printed");
      const bool forgets = !faults.empty() && faults.front() == "entry-forgotten";
      if (variant != "ordered") expected.insert({"up1(cu)", "down1(cu)", "up2(agent)", "down2(agent)"});
      if (printed || forgets) expected.insert("mm(mm).forgotten");
      if (printed || variant == "time-carried")
        expected.insert({"port(thread).request.order", "port(thread).request.scope", "mm(mm).latest"});
    }
    const bool buffers_results =
        variant == "as-printed" || (!faults.empty() && faults.front() == "result-buffered");
    if (entry.name == "lab" && buffers_results) expected.insert("port(thread).request.returns");
    if (entry.name == "cpcoh" && !variant.starts_with("home-served")) expected.insert("memory(word).home");
    if (!faults.empty() && ignored.contains(faults.front())) expected.insert(ignored.at(faults.front()));
    recorded::Description rules_only = d;
    rules_only.invariants.clear();
    const Texts unread = unread_fields(rules_only);
    CHECK(std::set<std::string>(unread.begin(), unread.end()) == expected);
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
    const std::string sound = text(entry, "default", {});
    for (const Fault& fault : entry.faults) {
      INFO(fault.name);
      CHECK(names.insert(fault.name).second);
      CHECK_FALSE(fault.what.empty());
      CHECK(text(entry, "default", {std::string(fault.name)}) != sound);
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
  // home.hpp is what memory systems share.
  const std::set<std::string> parts{"home.hpp"};
  std::set<std::string> defined;
  for (const std::string folder : {"spec/memory", "spec/examples"}) {
    for (const auto& header : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / folder)) {
      if (parts.contains(header.path().filename().string())) continue;
      INFO(header.path().string());
      const Texts names = systems_in(header.path());
      CHECK_FALSE(names.empty());
      defined.insert(names.begin(), names.end());
    }
  }
  CHECK(defined == registered);
}
