// Executions that tell models apart: formulas say of executions what judging says, what is found is what is
// known, and what is not found is not there.
#include "proofs/distinguish/distinguish.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "checker/generate/generate.hpp"
#include "checker/support/diagnostic.hpp"
#include "proofs/distinguish/alphabet.hpp"
#include "proofs/distinguish/relations.hpp"
#include "proofs/distinguish/skeleton.hpp"

using namespace lockstep;
using namespace lockstep::distinguish;

namespace {

std::shared_ptr<const AxiomaticModel> model_named(const std::string& name) {
  return std::make_shared<const AxiomaticModel>(name);
}
std::shared_ptr<const AxiomaticModel> model_from(const std::string& name, const std::string& text) {
  return std::make_shared<const AxiomaticModel>(name, "\"" + name + "\"\n" + text,
                                                std::vector<std::string>{});
}

DistinguishReport apart(const Models& models, int up_to) {
  DistinguishOptions options;
  options.up_to = up_to;
  options.limits.threads = 2;
  return distinguish_models(models, options);
}

// The verdict of a model's formulas on one outcome of a skeleton, and what judging its test says.
class Doubt {
 public:
  Doubt(const Frame& frame, const AxiomaticModel& model)
      : bits_(context_),
        model_(model),
        bases_(with_inclusive(bases_of(*model.plan(), model.name()))),
        tables_(frame, bases_),
        skeleton_(bits_, frame, tables_, bases_),
        any_(context_, "QF_FD"),
        allowed_(context_, "QF_FD") {
    any_.add(skeleton_.possible());
    allowed_.add(skeleton_.possible());
    z3::expr possible = bits_.yes();
    const auto fresh = [&](const std::string& name) {
      return context_.bool_const(("choice " + name).c_str());
    };
    const Chosen chosen = skeleton_.choose(*model.plan(), fresh, false, possible);
    PlanReader reader(bits_, *model.plan(), skeleton_.base(), skeleton_.present());
    const Judgement judgement = reader.judge(chosen);
    allowed_.add(possible && judgement.chosen && judgement.allowed && judgement.exact);
  }

  // Of some outcome that random demands lead to, as far as they do not contradict each other.
  void ask(std::mt19937& random, int& allowed) {
    std::vector<z3::expr> all = skeleton_.program();
    all.insert(all.end(), skeleton_.outcome().begin(), skeleton_.outcome().end());
    z3::expr_vector demands(context_);
    for (int i = 0; i < 40; ++i) {
      demands.push_back(all[random() % all.size()]);
      if (any_.check(demands) != z3::sat) demands.pop_back();
    }
    REQUIRE(any_.check(demands) == z3::sat);
    const z3::model found = any_.get_model();
    z3::expr_vector given(context_);
    for (const z3::expr& e : all) given.push_back(found.eval(e, true).is_true() ? e : !e);
    const Witness witness = skeleton_.witness(found, "doubt", "");
    const bool by_formulas = allowed_.check(given) == z3::sat;
    const ModelRun run = judge(*witness.test, model_);
    INFO(model_.name() << "\n" << print_program(witness.test->program) << witness.test->condition_text);
    REQUIRE(run.status == RunStatus::complete);
    // What is computed may come about in several ways; formulas are about one.
    const bool computes = print_program(witness.test->program).find("add") != std::string::npos;
    if (by_formulas || !computes) CHECK(run.allows(witness.outcome) == by_formulas);
    allowed += by_formulas ? 1 : 0;
  }

 private:
  static std::set<cat::Base> with_inclusive(std::set<cat::Base> bases) {
    bases.insert(cat::Base::inclusive);
    return bases;
  }
  z3::context context_;
  Bits bits_;
  const AxiomaticModel& model_;
  std::set<cat::Base> bases_;
  Tables tables_;
  Skeleton skeleton_;
  z3::solver any_;
  z3::solver allowed_;
};

}  // namespace

TEST_CASE("formulas say of executions what judging says") {
  const std::string name =
      GENERATE("sc", "tso", "rmo", "rc11", "opencl", "ptx-v6.0", "ptx-v7.5", "hrf-indirect", "hrf-direct");
  const auto model = model_named(name);
  std::mt19937 random(7);
  int asked = 0;
  int allowed = 0;
  const std::vector<Frame> all = frames(5, 3);
  for (std::size_t i = 0; i < all.size(); i += 2) {
    Doubt doubt(all[i], *model);
    for (int tries = 0; tries < 10; ++tries, ++asked) doubt.ask(random, allowed);
  }
  INFO(name << ": " << asked << " asked, " << allowed << " allowed");
  CHECK(asked >= 100);
  CHECK(allowed > asked / 10);
  CHECK(allowed < asked);
}

TEST_CASE("frames are every placement once") {
  CHECK(frames(1, 4).size() == 1);
  // One thread; or two: in one work-group, in two of one agent, on two agents.
  CHECK(frames(2, 4).size() == 1 + 3);
  // 3; 2 and 1; 1, 1 and 1: all together, two together and the third elsewhere (2 places), all apart (3
  // ways).
  CHECK(frames(3, 2).size() == 1 + 3);
  CHECK(frames(3, 3).size() == 1 + 3 + 6);
  for (const Frame& frame : frames(5, 4)) CHECK(frame.events() == 5);
}

TEST_CASE("operations that models see no difference between are one") {
  const auto distinct = [](const std::string& name) {
    const auto model = model_named(name);
    const auto bases = bases_of(*model->plan(), name);
    return Tables(frames(2, 2).back(), bases).distinct_operations().size();
  };
  // Loads, stores, RMWs; fences are nothing to it.
  CHECK(distinct("sc") <= 5);
  CHECK(distinct("tso") > distinct("sc"));
  CHECK(distinct("hrf-indirect") > distinct("tso"));
}

TEST_CASE("known differences are found, and none smaller") {
  struct Known {
    std::string left;
    std::string right;
    int events;
    std::size_t allows;
  };
  const auto known = GENERATE(values<Known>({
      {"sc", "tso", 4, 1},         // store buffering, or the like
      {"tso", "rmo", 3, 1},        // two loads of one location
      {"sc", "rc11", 4, 1},        // relaxed message passing
      {"rc11", "ptx-v6.0", 3, 1},  // coherence of plain stores is partial
  }));
  const DistinguishReport report = apart({model_named(known.left), model_named(known.right)}, 4);
  const Finding& finding = report.findings.front();
  REQUIRE(finding.difference);
  CHECK(finding.difference->events == known.events);
  CHECK(finding.difference->allows == known.allows);
  CHECK(finding.decided == known.events - 1);
  CHECK(exit_status(report) == 1);
}

TEST_CASE("HRF-direct and HRF-indirect part at a chain through two scopes", "[.][nightly]") {
  const DistinguishReport report = apart({model_named("hrf-direct"), model_named("hrf-indirect")}, 5);
  CHECK_FALSE(report.findings.at(0).difference);  // both judge SC executions
  CHECK(report.findings.at(0).decided == 5);
  REQUIRE(report.findings.at(1).difference);
  CHECK(report.findings.at(1).difference->events == 5);
  CHECK(report.findings.at(1).difference->allows == 1);
  CHECK(report.findings.at(1).decided == 4);
}

TEST_CASE("what each check of a model is for is found where it is left out") {
  const auto whole = model_named("sc");
  const auto without_atomicity =
      model_from("no-atomicity", "include \"executions.cat\"\nacyclic run-order | rf | co | fr as sc\n");
  const DistinguishReport report = apart({whole, without_atomicity}, 4);
  REQUIRE(report.findings.front().difference);
  const Difference& difference = *report.findings.front().difference;
  CHECK(difference.events == 3);  // a store between the halves of an exchange
  CHECK(difference.allows == 1);
  CHECK_THAT(print_program(difference.test->program), Catch::Contains("exch"));
}

TEST_CASE("choices of the other model are all tried") {
  // A coherence that agrees with the order of two threads' stores exists whatever is read of them, but for
  // one.
  const auto with_order =
      model_from("with-order",
                 "include \"executions.cat\"\nacyclic run-order | rf | co | fr as sc\nempty broken-rmw as a\n"
                 "with o from linearisations(W, po & (W * W))\nempty co \\ o as agrees\n");
  const DistinguishReport report = apart({model_named("sc"), with_order}, 3);
  CHECK_FALSE(report.findings.front().difference);
  CHECK(report.findings.front().decided == 3);
  CHECK(exit_status(report) == 0);
}

TEST_CASE("models that say the same in other words are not told apart") {
  const auto other_words = model_from("other-words",
                                      "include \"executions.cat\"\nlet all = (run-order | rf | co | fr)+\n"
                                      "irreflexive all as sc\nempty rmw & (fre; coe) as atomicity\n");
  const DistinguishReport report = apart({model_named("sc"), other_words}, 4);
  CHECK_FALSE(report.differ());
  CHECK(report.findings.front().decided == 4);
  CHECK_THAT(distinguish_text(report), Catch::Contains("No execution of up to 4 events"));
}

TEST_CASE("a choice that no check looks at has to be made") {
  const auto by_order = model_from(
      "by-order", "with s from linearisations(M, po | rf | co | fr)\nempty rmw & (fre; coe) as a\n");
  const DistinguishReport same = apart({model_named("sc"), by_order}, 3);
  CHECK_FALSE(same.differ());
  CHECK(same.findings.front().decided == 3);
  CHECK(apart({model_named("tso"), by_order}, 4).differ());
}

TEST_CASE("what writes nothing at first is no event") {
  const auto one_location =
      model_from("one-location",
                 "include \"executions.cat\"\nacyclic run-order | rf | co | fr as sc\n"
                 "empty broken-rmw as a\nempty (IW * IW) \\ id as one\nempty ~M & ~F as none-else\n");
  const DistinguishReport report = apart({model_named("sc"), one_location}, 3);
  REQUIRE(report.findings.front().difference);
  CHECK(report.findings.front().difference->allows == 0);
  CHECK(report.findings.front().difference->events == 3);  // of two locations, which two events have not
}

TEST_CASE("a location that nobody accesses is none to a model") {
  // One of two locations is accessed. A model that counted both would allow nothing, as the other would.
  const std::string at_one =
      "include \"executions.cat\"\nempty broken-rmw as a\nempty (IW * IW) \\ id as one\n";
  const DistinguishReport report =
      apart({model_from("reads-in-any-order", at_one + "acyclic rf | co | fr | (po-loc \\ (R * R)) as c\n"),
             model_from("coherent", at_one + "acyclic rf | co | fr | po-loc as c\n")},
            3);
  REQUIRE(report.findings.front().difference);
  CHECK(report.findings.front().difference->events == 3);
}

TEST_CASE("recursions are followed to their ends, through several definitions") {
  const std::string rest = "acyclic a | rf | co | fr | po-loc as cycles\n";
  const auto steps =
      model_from("steps", "let rec a = b and b = c and c = d and d = e and e = po & (R * W)\n" + rest);
  const auto at_once = model_from("at-once", "let a = po & (R * W)\n" + rest);
  const DistinguishReport report = apart({steps, at_once}, 4);
  CHECK_FALSE(report.differ());
  CHECK(report.findings.front().decided == 4);
}

TEST_CASE("a program that one model leaves undefined differs by that") {
  const DistinguishReport report = apart({model_named("sc"), model_named("drf")}, 3);
  REQUIRE(report.findings.size() == 2);
  CHECK_FALSE(report.findings[0].difference);
  REQUIRE(report.findings[1].difference);
  CHECK(report.findings[1].difference->allows == 0);
  CHECK(report.findings[1].difference->events == 1);  // which is relaxed
}

TEST_CASE("a source that a branch follows from, through a computed value, stays") {
  const std::string head = "acyclic po | rf | co | fr as sc\nflag ~empty (";
  const std::string tail = "[R]; (data \\ ctrl); [W]; rfe; [R]; ctrl; [W]) as odd\n";
  const DistinguishReport report = apart(
      {model_from("from-any", head + "rfe; " + tail), model_from("from-start", head + "[IW]; rfe; " + tail)},
      5);
  REQUIRE(report.findings.back().difference);
  CHECK(report.findings.back().difference->events == 5);
}

TEST_CASE("what enumeration finds on straight programs is found with as few events") {
  const auto [left, right] = GENERATE(table<std::string, std::string>(
      {{"sc", "tso"}, {"tso", "rmo"}, {"rc11", "rmo"}, {"opencl", "rc11"}, {"ptx-v6.0", "rmo"}}));
  const Models both{model_named(left), model_named(right)};
  const DistinguishReport report = apart(both, 4);
  REQUIRE(report.findings.front().difference);
  generate::GenerateOptions options;
  options.up_to = 0;
  options.straight = true;
  const generate::Generator generator(options);
  std::size_t tried = 0;
  for (const generate::Family& family : generator.families()) {
    generator.enumerate(family, [&](const generate::Blueprint& blueprint) {
      // All programs take minutes.
      if (++tried % 37 != 0) return;
      const auto test = to_test(blueprint);
      const ModelRun one = judge(*test, *both[0]);
      const ModelRun two = judge(*test, *both[1]);
      if (one.raised != 0 || two.raised != 0) return;
      for (const AllowedOutcome& outcome : one.outcomes) {
        if (two.allows(outcome.outcome)) continue;
        int events = 0;
        for (const Thread& thread : test->program.threads) {
          for (const Instruction& i : thread.code)
            events += i.opcode == Opcode::rmw ? 2 : is_memory(i.opcode) || i.opcode == Opcode::fence ? 1 : 0;
        }
        INFO(print_program(test->program));
        CHECK(report.findings.front().difference->events <= events);
      }
    });
  }
  CHECK(tried > 1000);
}

TEST_CASE("models whose executions cannot be looked for are refused") {
  const auto own_coherence = model_from("own", "include \"cos.cat\"\nacyclic po | rf | co | fr\n");
  const auto into_sets = model_from(
      "sets", "with o from linearisations(W, 0)\nwith p from linearisations(W, o)\nacyclic p | po\n");
  CHECK_THROWS_AS(
      apart({model_named("sc"), model_from("co", "with co from linearisations(W, 0)\nacyclic co | po\n")}, 2),
      BadInput);
  CHECK_THROWS_AS(apart({model_named("sc"),
                         model_from("unseen-co", "with co from linearisations(W, po)\nacyclic po | rf\n")},
                        2),
                  BadInput);
  CHECK_THROWS_WITH(apart({model_named("sc"), model_named("sc")}, 2), Catch::Contains("sc twice"));
  CHECK_NOTHROW(apart({model_named("sc"), own_coherence}, 2));
  CHECK_NOTHROW(apart({model_named("sc"), into_sets}, 2));
}

TEST_CASE("a search ends at its limits, and says how far it came") {
  DistinguishOptions options;
  options.up_to = 8;
  options.limits.threads = 2;
  options.limits.time = std::chrono::milliseconds(300);
  const Models same{model_named("ptx-v6.0"), model_named("ptx-v7.5")};
  const DistinguishReport report = distinguish_models(same, options);
  CHECK(report.out_of_time);
  CHECK(report.seconds < 5);
  CHECK(exit_status(report) == 3);
  CHECK_THAT(distinguish_text(report), Catch::Contains("out of time"));
  const nlohmann::json json = distinguish_json(report);
  CHECK(json.at("schema") == "lockstep.distinguish/1");
  CHECK(json.at("findings").at(0).at("difference").is_null());

  std::atomic<bool> interrupted{true};
  options.limits.interrupted = &interrupted;
  CHECK(exit_status(distinguish_models(same, options)) == 130);
}
