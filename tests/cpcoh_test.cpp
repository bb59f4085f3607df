// CPCoh: what is checked of every infinite sequence of kernels, what becomes of it when it is broken on
// purpose, the worked example of 5.3.4 step by step, sequences of kernels that the text decides, and which of
// the operations that it issues are needed.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/export/crosscheck.hpp"
#include "checker/systems/registry.hpp"
#include "tests/violated.hpp"

using namespace lockstep;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

using SizesOfRun = std::map<std::string, int>;
using Texts = std::vector<std::string>;

constexpr const char* stale_read = "whatever a running kernel may read is current";
constexpr const char* stale_for_host = "whatever the host may read is current";
constexpr const char* lost = "the last write of every word is in memory or dirty in an L2";
constexpr const char* unlisted_dirty = "what a chiplet has dirty is listed as Dirty";
constexpr const char* unlisted_stale = "what a chiplet has stale is listed as Stale";
constexpr const char* unlisted = "what a chiplet has is listed";
constexpr const char* unneeded = "an operation is issued only where the table says that it may be needed";

// Two structures of a word each.
const SizesOfRun shared_line{};  // in one line
const SizesOfRun own_lines{{"line-word", 1}};
// One structure of two words.
const SizesOfRun split_line{{"structure", 1}};
const SizesOfRun two_lines{{"structure", 1}, {"line-word", 1}};
const SizesOfRun one_word{{"structure", 1}, {"word", 1}};
// Two structures, of which a kernel may label one.
const SizesOfRun coarse{{"label", 1}};

std::unique_ptr<Model> cpcoh(const std::string& variant, const SizesOfRun& sizes, const Texts& faults = {}) {
  SystemOptions options;
  options.reductions = Reductions::none();
  options.variant = variant;
  options.sizes = sizes;
  options.faults = faults;
  return find_system("cpcoh").build_closed(options);
}

}  // namespace

TEST_CASE("CPCoh: no kernel reads a stale word, none is lost, every launch comes, whatever the kernels are") {
  for (const SizesOfRun& sizes : {shared_line, split_line, two_lines, coarse}) {
    for (const std::string variant :
         {"default", "keep-dirty", "home-served", "baseline", "outcomes", "bounded"}) {
      INFO(variant << ", structure " << sizes.count("structure") << ", label " << sizes.count("label"));
      CHECK(violated(*cpcoh(variant, sizes)) == "");
    }
  }
}

TEST_CASE("CPCoh with a line for each structure, and with three chiplets") {
  if (sanitized) return;
  for (const SizesOfRun& sizes : {own_lines, SizesOfRun{{"chiplet", 3}, {"structure", 1}}}) {
    CHECK(violated(*cpcoh("default", sizes)) == "");
  }
}

TEST_CASE("CPCoh: with a kernel that goes on while the next is launched, none sees less") {
  CHECK(violated(*cpcoh("overlapping", one_word)) == "");
  CHECK(violated(*cpcoh("overlapping", {{"structure", 1}, {"word", 1}, {"chiplet", 3}})) == "");
}

TEST_CASE("CPCoh: likewise with two words of a line", "[.][nightly]") {
  CHECK(violated(*cpcoh("overlapping", split_line)) == "");
}

TEST_CASE("CPCoh: L1s that a launch invalidates keep nothing from later kernels") {
  CHECK(violated(*cpcoh("l1s", one_word)) == "");
  CHECK(violated(*cpcoh("l1s", split_line)) == "");
  CHECK(violated(*cpcoh("l1s", one_word, {"l1s-by-acquires-alone"})) == stale_read);
}

TEST_CASE("CPCoh: every rule of L1s fires") {
  const auto model = cpcoh("l1s", one_word);
  const ExploreResult result = explore(*model, {});
  for (std::size_t i = 0; i < result.fired.size(); ++i) {
    INFO(model->rules()[i].name);
    CHECK((result.fired[i] == 0) == (model->rules()[i].name == "coarsens two structures"));
  }
}

TEST_CASE("CPCoh: every rule fires") {
  std::vector<std::uint64_t> fired;
  for (const SizesOfRun& sizes : {shared_line, coarse}) {
    const ExploreResult result = explore(*cpcoh("bounded", sizes), {});
    fired.resize(result.fired.size());
    for (std::size_t i = 0; i < fired.size(); ++i) fired[i] += result.fired[i];
  }
  CHECK(std::count(fired.begin(), fired.end(), 0U) == 0);
}

TEST_CASE("CPCoh as its text has it fails, in each of its readings") {
  for (const SizesOfRun& sizes : {shared_line, own_lines, split_line, two_lines}) {
    CHECK(violated(*cpcoh("as-printed", sizes)) == lost);
    CHECK(violated(*cpcoh("as-drawn", sizes)) == lost);
  }
  CHECK(violated(*cpcoh("home-served-as-printed", shared_line)) == stale_read);
}

TEST_CASE("CPCoh: every mistake is seen by what the table claims, or by a kernel") {
  struct Seen {
    SizesOfRun sizes;
    std::string first;    // what is violated first
    std::string outcome;  // and first by what kernels and the host see; empty where nothing is
  };
  const std::map<std::string, Seen> expected{
      {"acquire-for-writers-only", {shared_line, stale_read, stale_read}},
      {"release-forgets-copies", {split_line, unlisted, stale_read}},
      {"acquire-drops-dirty", {split_line, lost, lost}},
      {"acquire-before-release", {split_line, lost, lost}},
      {"match-by-base", {shared_line, unlisted_stale, stale_read}},
      {"ranges-split-lines", {split_line, unlisted, stale_read}},
      {"ranges-replaced", {two_lines, unlisted, stale_read}},
      {"no-mixed-state", {split_line, unlisted_stale, stale_read}},
      {"mixed-is-stale", {split_line, unlisted_dirty, lost}},
      {"same-ranges-elide", {split_line, stale_read, stale_read}},
      {"unlabelled-begins-without-release", {split_line, lost, lost}},
      {"unlabelled-ends-without-acquire", {split_line, unlisted, stale_read}},
      {"host-unseen", {split_line, stale_for_host, stale_for_host}},
      {"coarse-entry-has-one-state", {coarse, unlisted_dirty, lost}},
      {"no-release-for-reader", {split_line, stale_read, stale_read}},
      {"no-release-for-writer", {split_line, stale_read, stale_read}},
      {"no-acquire", {split_line, stale_read, stale_read}},
      {"no-acknowledgement", {split_line, unlisted, stale_read}},
      {"valid-stays-valid", {split_line, unlisted_stale, stale_read}},
      {"dirty-becomes-valid", {split_line, unlisted_stale, stale_read}},
      {"reads-not-tracked", {split_line, unlisted, stale_read}},
      {"entry-removed-early", {split_line, unlisted, stale_read}},
      {"coarse-entry-forgets-chiplets", {coarse, unlisted, stale_read}},
      {"unlabelled-begins-without-acquire", {split_line, stale_read, stale_read}},
      {"unlabelled-ends-without-release", {split_line, lost, lost}},
      {"whole-line-written-back", {split_line, stale_read, stale_read}},
      {"row-replaced-silently", {split_line, unlisted, stale_read}},
      {"row-replaced-without-acquire", {split_line, unlisted, stale_read}},
      {"acquire-drops-running", {split_line, stale_read, stale_read}},
      {"launch-forgets-running", {split_line, unlisted_dirty, stale_for_host}},
      {"running-writes-unseen", {split_line, unlisted_stale, stale_read}},
      {"boundary-forgets-running", {split_line, unlisted, stale_read}},
      {"end-noted-in-launch", {split_line, unlisted_dirty, stale_read}},
      {"acquires-before-releases", {split_line, unlisted_stale, stale_read}},
      // It takes two lines, of which one has two words: litmus/cpcoh/fetched-beside-dirty.
      {"running-fetches-unseen", {one_word, "", ""}},
      {"l1s-by-acquires-alone", {one_word, stale_read, stale_read}},
      {"store-keeps-l1", {one_word, stale_read, stale_read}},
      {"valid-acquired", {split_line, unneeded, ""}},
      {"dirty-released", {split_line, unneeded, ""}},
      {"release-by-chiplets", {two_lines, unneeded, ""}},
  };
  REQUIRE(expected.size() == find_system("cpcoh").faults.size());
  for (const auto& [fault, seen] : expected) {
    INFO(fault);
    CHECK(violated(*cpcoh("default", seen.sizes, {fault})) == seen.first);
    CHECK(violated(*cpcoh("outcomes", seen.sizes, {fault})) == seen.outcome);
  }
}

TEST_CASE("CPCoh: without ranges in lines or labels in common, some repairs change nothing") {
  CHECK(violated(*cpcoh("default", two_lines, {"match-by-base"})) == "");
  CHECK(violated(*cpcoh("default", two_lines, {"ranges-split-lines"})) == "");
  CHECK(violated(*cpcoh("default", two_lines, {"whole-line-written-back"})) == "");
  CHECK(violated(*cpcoh("default", split_line, {"ranges-replaced"})) == "");
  CHECK(violated(*cpcoh("default", shared_line, {"coarse-entry-has-one-state"})) == "");
}

TEST_CASE("served at the home, what the table asks for is never needed") {
  for (const SizesOfRun& sizes : {shared_line, split_line, two_lines, coarse}) {
    CHECK(violated(*cpcoh("home-served", sizes,
                          {"no-acquire", "no-release-for-reader", "no-release-for-writer"})) == "");
  }
  const auto model = cpcoh("home-served", two_lines);
  const ExploreResult result = explore(*model, {});
  for (std::size_t i = 0; i < model->rules().size(); ++i) {
    if (model->rules()[i].name == "acquires: invalidates the L2") CHECK(result.fired[i] == 0);
  }
}

namespace {

// Takes a model through rules that are named.
class ChipletMachine {
 public:
  ChipletMachine(const std::string& variant, const SizesOfRun& sizes, const Texts& faults = {})
      : model_(cpcoh(variant, sizes, faults)) {
    successors_.clear(model_->words());
    model_->initial(successors_);
    keep(0);
  }

  [[nodiscard]] std::string field(const std::string& path) const {
    for (const auto& [name, value] : model_->fields(state_.data())) {
      if (name == path) return value;
    }
    throw std::logic_error("no field " + path);
  }
  // What the present state violates, or nothing.
  [[nodiscard]] std::string violation() {
    expand();
    return successors_.violated < 0 ? ""
                                    : model_->invariants().at(static_cast<std::size_t>(successors_.violated));
  }
  [[nodiscard]] bool enabled(const std::string& rule, const std::vector<int>& parameters) {
    return find(rule, parameters) < successors_.size();
  }
  void take(const std::string& rule, const std::vector<int>& parameters = {}) {
    INFO(rule);
    const std::size_t found = find(rule, parameters);
    REQUIRE(found < successors_.size());
    keep(found);
  }

  void label(const std::string& mode, int structure, int chiplet, const std::vector<int>& range) {
    for (const int word : range) take("labels a chiplet's range " + mode, {structure, chiplet, word});
  }
  void inspect() { take("inspects the table and issues operations"); }
  // "release 1, acquire 0": what is on its way, by chiplet.
  [[nodiscard]] std::string issued(int chiplet_count) const {
    std::string text;
    for (int c = 0; c < chiplet_count; ++c) {
      for (const std::string operation : {"release", "acquire"}) {
        if (field(fmt::format("local({}).{}", c, operation)) == "none") continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", operation, c);
      }
    }
    return text;
  }
  // Lets the local CPs perform what was issued, releases and acquires in any order that is allowed.
  void synchronize() {
    for (bool any = true; any;) {
      any = false;
      for (const std::string rule : {"releases: writes back the L2", "releases: finds nothing dirty",
                                     "acquires: invalidates the L2", "acquires: finds nothing stale"}) {
        for (int c = 0; c < 3; ++c) {
          if (!enabled(rule, {c})) continue;
          take(rule, {c});
          any = true;
        }
      }
    }
  }
  void launch() {
    inspect();
    synchronize();
    take("enables the launch");
  }
  void read(int chiplet, int word) { take("reads a word", {chiplet, chiplet, word}); }
  void write(int chiplet, int word) { take("writes a word", {chiplet, chiplet, word}); }
  void end() { take("the kernel or the host is done"); }

 private:
  void expand() {
    successors_.clear(model_->words());
    model_->expand(state_.data(), successors_);
  }
  std::size_t find(const std::string& rule, const std::vector<int>& parameters) {
    expand();
    std::size_t i = 0;
    for (; i < successors_.size(); ++i) {
      const Firing& firing = successors_.firing(i);
      if (model_->rules().at(firing.rule).name == rule && firing.parameter_count == parameters.size() &&
          std::equal(parameters.begin(), parameters.end(), firing.parameters.begin()))
        break;
    }
    return i;
  }
  void keep(std::size_t i) { state_.assign(successors_.state(i), successors_.state(i) + model_->words()); }

  std::unique_ptr<Model> model_;
  Successors successors_;
  std::vector<std::uint64_t> state_;
};

// The worked example's arrays A (words 0 to 2), B (3 to 5) and C (6 to 8).
constexpr int A = 0;
constexpr int B = 1;
constexpr int C = 2;
const SizesOfRun example{{"structure", 3}, {"word", 9}, {"line-word", 1}, {"label", 3}};

void first_kernel(ChipletMachine& m) {
  m.label("R", A, 0, {0});
  m.label("R", A, 1, {1, 2});
  m.label("R/W", B, 0, {3});
  m.label("R/W", B, 1, {4, 5});
}
// B's range grows for chiplet 0 and shrinks for chiplet 1.
void second_kernel(ChipletMachine& m) {
  m.label("R", A, 0, {0});
  m.label("R", A, 1, {1, 2});
  m.label("R", B, 0, {3, 4});
  m.label("R", B, 1, {5});
  m.label("R/W", C, 0, {6});
  m.label("R/W", C, 1, {7, 8});
}

}  // namespace

TEST_CASE("the worked example of 5.3.4, step by step") {
  const std::string variant = GENERATE("default", "as-drawn", "keep-dirty");
  INFO(variant);
  ChipletMachine m(variant, example);
  // 1. The table is empty: the structures are added, no operation is generated.
  first_kernel(m);
  m.inspect();
  CHECK(m.issued(2) == "");
  m.take("enables the launch");
  CHECK(m.field("range(1,0,3)") == "true");
  CHECK(m.field("range(1,0,4)") == "false");
  CHECK(m.field("range(1,1,5)") == "true");
  // 2. A is Valid, B is Dirty in both.
  for (const int c : {0, 1}) {
    CHECK(m.field(fmt::format("entry({},{})", A, c)) == "valid");
    CHECK(m.field(fmt::format("entry({},{})", B, c)) == "dirty");
    CHECK(m.field(fmt::format("entry({},{})", C, c)) == "not_present");
  }
  m.read(0, 0);
  m.read(1, 1);
  m.write(0, 3);
  m.write(1, 4);
  m.write(1, 5);
  m.end();
  // 3, 4. The next kernel: a release for chiplet 1, nothing for chiplet 0, A is kept in both.
  second_kernel(m);
  m.inspect();
  CHECK(m.issued(2) == "release 1");
  CHECK(m.violation() == "");
  m.take("releases: writes back the L2", {1});
  m.take("enables the launch");
  CHECK(m.field("entry(1,0)") == "dirty");
  CHECK(m.field("entry(1,1)") == "valid");
  for (const int c : {0, 1}) {
    CHECK(m.field(fmt::format("entry({},{})", A, c)) == "valid");
    CHECK(m.field(fmt::format("entry({},{})", C, c)) == "dirty");
  }
  CHECK(m.field("l2(0,0).copy") == "current");
  CHECK(m.field("l2(1,1).copy") == "current");
  // It reads what it produced, and what chiplet 1 produced from memory.
  CHECK(m.field("l2(0,3).copy") == "dirty");
  CHECK(m.field("l2(0,4).copy") == "absent");
  m.read(0, 4);
  CHECK(m.field("l2(0,4).copy") == "current");
  CHECK(m.violation() == "");
}

TEST_CASE("by the words of 5.3.3 the worked example releases both chiplets") {
  ChipletMachine m("as-printed", example);
  first_kernel(m);
  m.launch();
  m.write(0, 3);
  m.write(1, 4);
  m.end();
  second_kernel(m);
  m.inspect();
  CHECK(m.issued(2) == "release 0, release 1");
}

TEST_CASE("the worked example reads a stale word if B's halves meet within a line") {
  // Lines of three: all of B is one line.
  SizesOfRun sizes = example;
  sizes["line-word"] = 3;
  const std::string variant = GENERATE("as-drawn", "default");
  INFO(variant);
  ChipletMachine m(variant, sizes);
  first_kernel(m);
  m.launch();
  m.write(0, 3);
  m.write(1, 4);
  CHECK(m.field("l2(0,4).copy") == "stale");
  m.end();
  second_kernel(m);
  m.inspect();
  if (variant == "as-drawn") {
    CHECK(m.issued(2) == "release 1");
    m.synchronize();
    m.take("enables the launch");
    CHECK(m.violation() == stale_read);
  } else {
    CHECK(m.issued(2) == "release 0, acquire 0, release 1, acquire 1");
    m.synchronize();
    m.take("enables the launch");
    CHECK(m.violation() == "");
  }
}

TEST_CASE("CPCoh elides what it says it does") {
  SECTION("a chiplet that goes on with what it wrote keeps it") {
    ChipletMachine m("default", two_lines);
    for (int kernel = 0; kernel < 3; ++kernel) {
      m.label("R/W", 0, 0, {0});
      m.label("R/W", 0, 1, {1});
      m.inspect();
      CHECK(m.issued(2) == "");
      m.take("enables the launch");
      m.write(0, 0);
      m.write(1, 1);
      m.end();
    }
    CHECK(m.field("l2(0,0).copy") == "dirty");
  }
  SECTION("readers keep what they read") {
    ChipletMachine m("default", two_lines);
    for (int kernel = 0; kernel < 2; ++kernel) {
      m.label("R", 0, 0, {0, 1});
      m.label("R", 0, 1, {0, 1});
      m.inspect();
      CHECK(m.issued(2) == "");
      m.take("enables the launch");
      m.read(0, 0);
      m.read(1, 0);
      m.end();
    }
    CHECK(m.field("entry(0,1)") == "valid");
  }
  SECTION("what another chiplet writes is invalidated when it is read again, no earlier") {
    ChipletMachine m("default", two_lines);
    m.label("R", 0, 0, {0});
    m.launch();
    m.read(0, 0);
    m.end();
    m.label("R/W", 0, 1, {0});
    m.inspect();
    CHECK(m.issued(2) == "");
    m.take("enables the launch");
    CHECK(m.field("entry(0,0)") == "stale");
    m.write(1, 0);
    m.end();
    m.label("R", 0, 0, {0});
    m.inspect();
    CHECK(m.issued(2) == "acquire 0, release 1");
    m.synchronize();
    m.take("enables the launch");
    CHECK(m.field("entry(0,0)") == "valid");
    CHECK(m.field("entry(0,1)") == "valid");
  }
}

// The shortest sequences of kernels that show where the text fails (docs/findings.md).
TEST_CASE("by 5.3.3 a kernel that only reads gets no acquire, and reads a stale copy") {
  ChipletMachine m("as-printed", two_lines);
  m.label("R", 0, 0, {0});
  m.launch();
  m.read(0, 0);
  m.end();
  m.label("R/W", 0, 1, {0});
  m.launch();
  m.write(1, 0);
  m.end();
  m.label("R", 0, 0, {0});
  m.inspect();
  CHECK(m.issued(2) == "release 1");
  m.synchronize();
  m.take("enables the launch");
  CHECK(m.violation() == stale_read);
}

TEST_CASE("by 5.3.3 a chiplet that was released is Not Present, and its clean copies are forgotten") {
  ChipletMachine m("as-printed", two_lines);
  m.label("R/W", 0, 0, {0});
  m.launch();
  m.write(0, 0);
  m.end();
  m.label("R/W", 0, 1, {0});
  m.launch();
  CHECK(m.field("entry(0,0)") == "not_present");
  CHECK(m.field("l2(0,0).copy") == "current");
  m.write(1, 0);
  m.end();
  m.label("R/W", 0, 0, {0});
  m.inspect();
  CHECK(m.issued(2) == "release 1");
  m.synchronize();
  m.take("enables the launch");
  CHECK(m.violation() == stale_read);
}

TEST_CASE("an acquire for one structure drops what is dirty of another") {
  const std::string variant = GENERATE("as-drawn", "keep-dirty", "default");
  INFO(variant);
  ChipletMachine m(variant, own_lines);
  m.label("R", 0, 0, {0});
  m.launch();
  m.read(0, 0);
  m.end();
  m.label("R/W", 0, 1, {0});
  m.label("R/W", 1, 0, {1});
  m.launch();
  m.write(0, 1);
  m.end();
  m.label("R", 0, 0, {0});
  m.inspect();
  CHECK(m.issued(2) == (variant == "default" ? "release 0, acquire 0, release 1" : "acquire 0, release 1"));
  m.synchronize();
  CHECK(m.violation() == (variant == "as-drawn" ? lost : ""));
  if (variant == "keep-dirty") CHECK(m.field("l2(0,1).copy") == "dirty");
}

TEST_CASE("a release that follows its chiplet's acquire comes too late") {
  const std::string variant = GENERATE("as-drawn", "default");
  INFO(variant);
  ChipletMachine m(variant, own_lines);
  m.label("R", 0, 0, {0});
  m.launch();
  m.read(0, 0);
  m.end();
  m.label("R/W", 0, 1, {0});
  m.label("R/W", 1, 0, {1});
  m.launch();
  m.write(0, 1);
  m.end();
  m.label("R", 0, 0, {0});
  m.label("R", 1, 1, {1});
  m.inspect();
  CHECK(m.issued(2) == "release 0, acquire 0, release 1");
  const bool acquire_first = m.enabled("acquires: finds nothing stale", {0});
  CHECK(acquire_first == (variant == "as-drawn"));
  m.synchronize();
  CHECK(m.violation() == (variant == "as-drawn" ? lost : ""));
}

TEST_CASE("one state of four cannot say that a structure is dirty and stale") {
  const std::string variant = GENERATE("as-drawn", "default");
  INFO(variant);
  ChipletMachine m(variant, two_lines);
  m.label("R", 0, 0, {0, 1});
  m.launch();
  m.read(0, 1);
  m.end();
  m.label("R/W", 0, 0, {0});
  m.label("R/W", 0, 1, {1});
  m.launch();
  CHECK(m.field("entry(0,0)") == (variant == "default" ? "mixed" : "dirty"));
  m.write(0, 0);
  m.write(1, 1);
  m.end();
  m.label("R", 0, 0, {0, 1});
  m.inspect();
  CHECK(m.issued(2) == (variant == "default" ? "release 0, acquire 0, release 1" : "release 1"));
  m.synchronize();
  m.take("enables the launch");
  CHECK(m.violation() == (variant == "default" ? "" : stale_read));
}

TEST_CASE("the same ranges on the same chiplets are no reason to elide where they overlap") {
  const std::string variant = GENERATE("as-printed", "default");
  INFO(variant);
  ChipletMachine m(variant, two_lines);
  for (const int c : {0, 1}) m.label("R/W", 0, c, {0, 1});
  m.launch();
  m.write(0, 0);
  m.end();
  for (const int c : {0, 1}) m.label("R", 0, c, {0, 1});
  m.inspect();
  CHECK((m.issued(2) == "") == (variant == "as-printed"));
  m.synchronize();
  m.take("enables the launch");
  CHECK(m.violation() == (variant == "default" ? "" : stale_read));
}

TEST_CASE("a narrower range does not end what a chiplet has dirty of the wider one") {
  const std::string variant = GENERATE("as-drawn", "default");
  INFO(variant);
  ChipletMachine m(variant, two_lines);
  m.label("R/W", 0, 0, {0});
  m.launch();
  m.write(0, 0);
  m.end();
  m.label("R", 0, 0, {1});
  m.launch();
  m.end();
  m.label("R", 0, 1, {0});
  m.inspect();
  CHECK(m.issued(2) == (variant == "default" ? "release 0" : ""));
  m.synchronize();
  m.take("enables the launch");
  CHECK(m.violation() == (variant == "default" ? "" : stale_read));
}

TEST_CASE("labels with bases of their own that name the same words are met by their ranges only") {
  const std::string variant = GENERATE("as-drawn", "default");
  INFO(variant);
  ChipletMachine m(variant, {{"base", 2}, {"line-word", 1}});
  m.label("R/W", 0, 0, {0});
  m.launch();
  m.write(0, 0);
  m.end();
  m.label("R", 1, 1, {0});
  m.inspect();
  CHECK(m.issued(2) == (variant == "default" ? "release 0" : ""));
  m.synchronize();
  m.take("enables the launch");
  CHECK(m.violation() == (variant == "default" ? "" : stale_read));
}

TEST_CASE("neither Dirty nor Stale is the more conservative state of a coarsened entry") {
  const std::string variant = GENERATE("as-drawn", "default");
  INFO(variant);
  ChipletMachine m(variant, {{"label", 1}, {"line-word", 1}});
  m.label("R", 0, 0, {0});
  m.launch();
  m.read(0, 0);
  m.end();
  m.take("the host asks to write a structure", {0});
  m.launch();
  if (variant == "default") CHECK(m.field("entry(0,0)") == "stale");
  m.end();
  m.label("R/W", 0, 1, {0});
  m.launch();
  m.end();
  m.label("R/W", 1, 0, {1});
  m.launch();
  m.write(0, 1);
  m.end();
  m.label("R", 0, 1, {0});
  m.label("R", 1, 1, {1});
  m.take("coarsens two structures", {0, 1});
  CHECK(m.field("entry(0,0)") == (variant == "default" ? "mixed" : "stale"));
  m.inspect();
  CHECK(m.issued(2) == (variant == "default" ? "release 0" : ""));
  m.synchronize();
  m.take("enables the launch");
  CHECK(m.violation() == (variant == "default" ? "" : stale_read));
}

TEST_CASE("a kernel without labels meets what earlier kernels left, and leaves copies behind") {
  SECTION("an acquire alone, as the baseline begins with, drops what is still dirty") {
    const std::string variant = GENERATE("as-drawn", "default");
    ChipletMachine m(variant, two_lines);
    m.label("R/W", 0, 0, {0});
    m.launch();
    m.write(0, 0);
    m.end();
    m.take("takes a kernel without labels");
    CHECK(m.issued(2) ==
          (variant == "default" ? "release 0, acquire 0, release 1, acquire 1" : "acquire 0, acquire 1"));
    m.synchronize();
    CHECK(m.violation() == (variant == "default" ? "" : lost));
  }
  SECTION("a release alone, as the baseline ends with, leaves copies that the table does not know") {
    const std::string variant = GENERATE("as-drawn", "default");
    ChipletMachine m(variant, two_lines);
    m.take("takes a kernel without labels");
    m.synchronize();
    m.take("enables the launch");
    m.read(0, 0);
    m.end();
    m.synchronize();
    m.take("the boundary after a kernel is complete");
    m.label("R/W", 0, 1, {0});
    m.launch();
    m.write(1, 0);
    m.end();
    m.label("R", 0, 0, {0});
    m.launch();
    CHECK(m.violation() == (variant == "default" ? "" : stale_read));
  }
}

TEST_CASE("the host finds memory out of date unless its accesses pass through the table") {
  const std::string variant = GENERATE("as-drawn", "default");
  ChipletMachine m(variant, two_lines);
  m.label("R/W", 0, 0, {0});
  m.launch();
  m.write(0, 0);
  m.end();
  m.take("the host asks to read a structure", {0});
  m.launch();
  CHECK(m.violation() == (variant == "default" ? "" : stale_for_host));
}

TEST_CASE("a removed entry takes its structures' common index with it") {
  ChipletMachine m("default", coarse);
  m.label("R", 0, 0, {0});
  m.label("R", 1, 0, {1});
  CHECK_FALSE(m.enabled("inspects the table and issues operations", {}));
  m.take("coarsens two structures", {0, 1});
  m.launch();
  CHECK(m.field("indexed_by(1)") == "0");
  CHECK(m.field("entry(0,0)") == "valid");
  m.end();
  m.take("takes a kernel without labels");
  m.synchronize();
  m.take("enables the launch");
  CHECK(m.field("entry(0,0)") == "not_present");
  CHECK(m.field("indexed_by(1)") == "none");
}

namespace {

// One launch as the global CP sees it: the table, the packet, and what it issues.
struct Issue {
  std::string view;
  bool acquire = false;
  int chiplet = 0;
  auto operator<=>(const Issue&) const = default;
};
// Why an operation is needed in some state that the CP cannot tell from the present one.
enum class Need { none, for_neighbour, at_once };
using Needs = std::map<Issue, Need>;

using Fields = std::map<std::string, std::string>;

// Whether the operation meets something in this state: a word that is named itself, or one beside it in a
// line.
Need need_of(const Fields& fields, const SizesOfRun& sizes, const Issue& issue) {
  const auto at = [&](const std::string& path) -> const std::string& { return fields.at(path); };
  const int in_line = sizes.at("line-word");
  const auto named = [&](int word, bool here) {
    bool any = at("unlabelled") == "true";
    for (int d = 0; d < sizes.at("structure"); ++d) {
      const bool mine = word * sizes.at("structure") / sizes.at("word") == d;
      if (!here && at("host") == "true" && mine && at(fmt::format("mode({})", d)) != "none") any = true;
      for (int c = 0; c < sizes.at("chiplet"); ++c) {
        if ((c == issue.chiplet) == here && at(fmt::format("label({},{},{})", d, c, word)) == "true")
          any = true;
      }
    }
    return any;
  };
  const bool with_acquire = at(fmt::format("local({}).acquire", issue.chiplet)) == "issued";
  Need need = Need::none;
  for (int w = 0; w < sizes.at("word"); ++w) {
    const std::string& copy = at(fmt::format("l2({},{}).copy", issue.chiplet, w));
    if (copy != (issue.acquire ? "stale" : "dirty")) continue;
    if (named(w, issue.acquire) || (!issue.acquire && with_acquire)) return Need::at_once;
    for (int v = 0; v < sizes.at("word"); ++v) {
      if (v / in_line == w / in_line && named(v, issue.acquire)) need = Need::for_neighbour;
    }
  }
  return need;
}

// Every operation that any reachable firing of the rule issues, with its need.
Needs needs_of(const Model& model, const SizesOfRun& sizes, const std::string& rule) {
  Needs needs;
  std::unordered_set<std::string> seen;
  std::vector<std::vector<std::uint64_t>> waiting;
  Successors out;
  const auto add = [&](const std::uint64_t* state) {
    const std::string bytes(reinterpret_cast<const char*>(state), model.words() * sizeof(std::uint64_t));
    if (seen.insert(bytes).second) waiting.emplace_back(state, state + model.words());
  };
  const auto note = [&](const std::uint64_t* state) {
    Fields fields;
    std::string view;
    for (const auto& [path, value] : model.fields(state)) {
      fields[path] = value;
      const bool unknown_to_cp = path.starts_with("l2") || path.starts_with("memory");
      if (!unknown_to_cp) view += path + "=" + value + " ";
    }
    for (int c = 0; c < sizes.at("chiplet"); ++c) {
      for (const bool acquire : {false, true}) {
        if (fields.at(fmt::format("local({}).{}", c, acquire ? "acquire" : "release")) != "issued") continue;
        const Issue issue{view, acquire, c};
        Need& need = needs[issue];
        need = std::max(need, need_of(fields, sizes, issue));
      }
    }
  };
  out.clear(model.words());
  model.initial(out);
  add(out.state(0));
  while (!waiting.empty()) {
    const std::vector<std::uint64_t> state = std::move(waiting.back());
    waiting.pop_back();
    out.clear(model.words());
    model.expand(state.data(), out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (model.rules()[out.firing(i).rule].name == rule) note(out.state(i));
      add(out.state(i));
    }
  }
  return needs;
}

struct NeedCount {
  int at_once = 0;
  int for_neighbour = 0;
  int none = 0;
  bool operator==(const NeedCount&) const = default;
};
std::ostream& operator<<(std::ostream& out, const NeedCount& t) {
  return out << t.at_once << " needed at once, " << t.for_neighbour << " for a neighbour, " << t.none
             << " not";
}
NeedCount tally(const Needs& needs, bool acquire) {
  NeedCount t;
  for (const auto& [issue, need] : needs) {
    if (issue.acquire != acquire) continue;
    ++(need == Need::at_once ? t.at_once : need == Need::for_neighbour ? t.for_neighbour : t.none);
  }
  return t;
}

}  // namespace

namespace {

constexpr const char* labelled_launch = "inspects the table and issues operations";
constexpr const char* unlabelled_launch = "takes a kernel without labels";

// All sizes by name, with two chiplets.
SizesOfRun sizes_of(int structures, int words, int in_line, int labels) {
  return {
      {"chiplet", 2}, {"structure", structures}, {"word", words}, {"line-word", in_line}, {"label", labels}};
}
Needs default_needs(const SizesOfRun& sizes, const std::string& rule) {
  return needs_of(*cpcoh("default", sizes), sizes, rule);
}
bool says(const Issue& issue, const std::string& path, const Texts& values) {
  return std::any_of(values.begin(), values.end(), [&](const std::string& value) {
    return issue.view.find(fmt::format("{}={} ", path, value)) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("every acquire and release of a labelled launch is needed, for all that the table can tell") {
  struct Counted {
    SizesOfRun sizes;
    NeedCount acquires;
    NeedCount releases;
  };
  for (const auto& [sizes, acquires, releases] : {
           Counted{sizes_of(1, 1, 1, 1), {40, 0, 0}, {40, 0, 0}},
           Counted{sizes_of(1, 2, 2, 1), {240, 0, 0}, {168, 0, 0}},
           Counted{sizes_of(2, 2, 2, 2), {4400, 480, 0}, {3752, 608, 0}},
           Counted{sizes_of(2, 2, 2, 1), {1440, 64, 0}, {1040, 256, 0}},
       }) {
    if (sanitized && sizes.at("structure") > 1) continue;
    INFO("structures " << sizes.at("structure") << ", words " << sizes.at("word"));
    const Needs needs = default_needs(sizes, labelled_launch);
    CHECK(tally(needs, true) == acquires);
    CHECK(tally(needs, false) == releases);
  }
}

TEST_CASE("unless one state of a structure stands for two ranges") {
  const Needs needs = default_needs(sizes_of(1, 2, 1, 1), labelled_launch);
  CHECK(tally(needs, true) == NeedCount{1984, 0, 32});
  CHECK(tally(needs, false) == NeedCount{1960, 0, 48});
  for (const auto& [issue, need] : needs) {
    if (need != Need::none) continue;
    INFO(issue.view);
    CHECK(says(issue, fmt::format("range(0,{},0)", issue.chiplet), {"true"}));
    CHECK(says(issue, fmt::format("range(0,{},1)", issue.chiplet), {"true"}));
  }
}

TEST_CASE("of what a kernel without labels begins with, the table could tell what is not needed") {
  const Needs needs = default_needs(sizes_of(1, 1, 1, 1), unlabelled_launch);
  CHECK(tally(needs, true) == NeedCount{10, 0, 18});
  CHECK(tally(needs, false) == NeedCount{6, 0, 22});
  for (const auto& [issue, need] : needs) {
    const std::string entry = fmt::format("entry(0,{})", issue.chiplet);
    INFO(issue.view);
    CHECK((need != Need::none) == says(issue, entry, {issue.acquire ? "stale" : "dirty", "mixed"}));
  }
}

TEST_CASE("Rumur and SPIN agree on CPCoh, where they are installed") {
  Subject subject = subject_named("cpcoh");
  subject.options.sizes = {{"structure", 1}};
  CrosscheckOptions options;
  options.limits.time = std::chrono::seconds(240);
  const CrosscheckRun run = crosscheck(subject, nullptr, options);
  CHECK(run.ours.states == 17020);
  for (const OtherCount& other : run.others) {
    INFO(word(other.checker) << ": " << other.count.message);
    if (other.count.status == CountStatus::missing) continue;
    CHECK(other.count.states == run.ours.states);
    CHECK(other.count.firings == run.ours.firings);
  }
}
