// What the axiomatic side claims: every construct of cat means what herd's users know it to mean, mistakes in
// models are named with their place, and the models agree with exploration wherever both can answer.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "checker/axiomatic/clauses.hpp"
#include "checker/axiomatic/graph.hpp"
#include "checker/axiomatic/model.hpp"
#include "checker/axiomatic/suite.hpp"
#include "checker/generate/generate.hpp"
#include "checker/generate/model.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

AxiomaticModel model_of(const std::string& text) {
  return {"test.cat", text, {}};
}

LitmusTest hrf(const std::string& initial, const std::string& columns, const std::string& condition) {
  return parse_litmus("HRF t\n{ " + initial + " }\n" + columns + "\n" + condition + "\n", "t.litmus");
}

// Message passing, with an RMW and a fence so that no base set is empty.
const LitmusTest& message_passing() {
  static const LitmusTest test = hrf("x = 0; flag = 0;",
                                     " P0@wg 0,agent 0       | P1@wg 1,agent 0            ;\n"
                                     " st x, 1               | ld.acquire.agent r0, flag  ;\n"
                                     " fence.release.agent   | bne r0, 1, END             ;\n"
                                     " st.release.wg flag, 1 | ld r1, x                   ;\n"
                                     " atom.acq_rel.agent.add r0, x, 1 | END:              ;\n",
                                     "exists (P1:r0 == 1 /\\ P1:r1 == 0)");
  return test;
}

std::uint64_t executions(const std::string& model, const LitmusTest& test = message_passing()) {
  const ModelRun run = judge(test, model_of(model));
  INFO(model << run.message);
  REQUIRE(run.status == RunStatus::complete);
  return run.executions;
}

// Whether what a model's checks say holds in every candidate execution, coherence included, or in none.
bool always(const std::string& model) {
  return executions(model + "\nacyclic co") == executions("acyclic co");
}
bool never(const std::string& model) {
  return executions(model) == 0;
}

std::string error_of(const std::string& model) {
  try {
    const AxiomaticModel compiled = model_of(model);
    const ModelRun run = judge(message_passing(), compiled);
    return run.status == RunStatus::error ? run.message : "no error";
  } catch (const BadInput& error) {
    return error.what();
  }
}

Observation observed(const std::string& model, const LitmusTest& test) {
  const ModelRun run = judge(test, AxiomaticModel(model));
  INFO(test.name << " under " << model << ": " << run.message);
  REQUIRE(run.status == RunStatus::complete);
  REQUIRE(run.observation().has_value());
  return *run.observation();
}

const LitmusTests& shipped_tests() {
  static const LitmusTests tests = [] {
    const std::string home = LOCKSTEP_SOURCE_DIR "/litmus";
    LitmusTests all = read_tests(std::vector{home}, home).tests;
    // Barriers and semaphores spin in more ways than can be unrolled.
    std::erase_if(all, [](const auto& test) {
      return !test->program.sections.empty() || !test->program.meetings.empty();
    });
    return all;
  }();
  return tests;
}

}  // namespace

TEST_CASE("every operator of cat means what it means in herd", "[axiomatic]") {
  // Each holds of all relations, so of these.
  for (const std::string claim : {
           "empty (po | rf) \\ (rf | po)",
           "empty (po & loc) \\ po",
           "empty (po \\ loc) & loc",
           "empty (po; po) \\ po",
           "empty (po^-1)^-1 \\ po",
           "empty po^+ \\ po",
           "empty (rf; fr)+ \\ (rf; fr); (rf; fr)*",
           "empty po* \\ (po | id)",
           "empty po^* \\ po*",
           "empty po? \\ (po | id)",
           "empty ~(~po) \\ po",
           "empty po & ~po",
           "empty ([R]; po) \\ ((R * _) & po)",
           "empty (po; [W]) \\ (po & _ * W)",
           "empty domain(rf) \\ W",
           "empty range rf \\ R",
           "empty (R * W) & (W * R) & loc & po & po^-1",
           "empty W & R",
           "empty M \\ (R | W)",
           "empty {} | 0",
           "empty co0 \\ co",
           "acyclic po",
           "irreflexive rf",
           "~empty rf",
           "~acyclic po | po^-1",
           "~irreflexive po; po^-1",
           "empty rmw \\ ([R]; po; [W])",
           "empty rfe \\ ext  empty rfi \\ int",
           "empty (int & ext)",
           "empty (IW * _) & int \\ id",
       }) {
    INFO(claim);
    CHECK(always(claim));
  }
  for (const std::string claim :
       {"empty po", "acyclic po | po^-1", "irreflexive id", "~empty 0", "empty _", "~acyclic po", "empty rmw",
        "empty F", "empty REL & WG", "empty ACQ & AGENT", "empty NA"}) {
    INFO(claim);
    CHECK(never(claim));
  }
}

TEST_CASE("operators bind as in herd: | ++ ; \\ & * ~ and then what stands behind", "[axiomatic]") {
  CHECK(always("let a = po | rf; co & loc  let b = po | (rf; (co & loc))  empty a \\ b  empty b \\ a"));
  CHECK(always("let a = po; rf \\ co; fr  let b = po; (rf \\ co); fr  empty a \\ b  empty b \\ a"));
  CHECK(always("let a = R * W & po  let b = (R * W) & po  empty a \\ b  empty b \\ a"));
  CHECK(always("let a = ~po^-1  let b = ~(po^-1)  empty a \\ b  empty b \\ a"));
  CHECK(always("let a = po \\ rf \\ co  let b = (po \\ rf) \\ co  empty a \\ b  empty b \\ a"));
  // A star with nothing behind it is a closure, also at the end of a line before a check.
  CHECK(always("let a = po*\nempty a \\ (po | id)"));
  CHECK(always("let a = po*\n~empty a"));
}

TEST_CASE("definitions: functions, patterns, tuples, recursion, procedures", "[axiomatic]") {
  CHECK(always("let f(r) = r; r  empty f(po) \\ po"));
  CHECK(always("let f r = r; r  empty f po \\ po"));
  CHECK(always("let f(a, b) = a \\ b  empty f(po, po)"));
  CHECK(always("let f = fun r -> r; r  empty f(po) \\ po"));
  CHECK(always("let f = fun (a, b) -> a & b  empty f(po, po^-1)"));
  CHECK(always("let (a, b) = (po, rf)  empty a \\ po  empty b \\ rf"));
  CHECK(always("let r = let s = po in s; s  empty r \\ po"));
  CHECK(always("let rec r = po | (r; r)  empty r \\ po  empty po \\ r"));
  CHECK(always("let rec a = rf | b; po and b = a; rf  empty a \\ (rf | rf; rf; po)+"));
  CHECK(always("let rec s = IW | range([s]; po)  empty s \\ IW"));
  CHECK(always("let x = po let f(r) = r & x let x = rf  empty f(po) \\ po  ~empty f(po)"));
  CHECK(always("procedure none(r) = empty r & ~r end  call none(po)"));
  CHECK(always("procedure each(a, b) = empty a \\ b irreflexive a end  call each(po; po, po) as twice"));
  CHECK(never("procedure none(r) = empty r end  call none(po)"));
  CHECK(always("call subseteq(R, M)  call inclusion(rf, loc)  call total(co | co^-1 | (W * W) \\ loc, W)"));
}

TEST_CASE("sets are taken apart and put together", "[axiomatic]") {
  CHECK(always(
      "let rec all s = match s with || {} -> 0 || e ++ rest -> [{e}] | all rest end  empty all R \\ [R]  "
      "empty [R] \\ all R"));
  CHECK(always("let ids = map (fun e -> e) R  empty ids \\ R"));
  // A set of orders is one of its members at a time.
  CHECK(executions("let rec each s = match s with || {} -> {} || o ++ rest -> o ++ each rest end "
                   "with o from each (linearisations(W, co0)) acyclic o") ==
        executions("with o from linearisations(W, co0) acyclic o"));
  CHECK(always("forall s in classes-loc(W) do empty s \\ W  empty (s * s) \\ loc end"));
  CHECK(always("let t = 'a let r = match t with || 'b -> rf || 'a -> 0 || _ -> po end  empty r"));
  CHECK(always("if \"no-such-variant\" empty po else empty 0 end"));
  CHECK(always("let r = if R = R then 0 else po  empty r"));
  CHECK(always("if R subset M then empty 0 else empty po end"));
  CHECK(always("let r = try no-such-thing with 0  empty r"));
}

TEST_CASE("orders are chosen: coherence as herd's library asks for it, and linear orders", "[axiomatic]") {
  const LitmusTest writes = hrf("x = 0;",
                                " P0@wg 0,agent 0 | P1@wg 1,agent 0 ;\n"
                                " st x, 1         | st x, 2         ;\n"
                                " st x, 3         | ld r0, x        ;\n",
                                "exists (x == 1)");
  // Three writes have 6 orders, and the read 4 values.
  CHECK(executions("acyclic co", writes) == 24);
  CHECK(executions("include \"cos.cat\" acyclic co", writes) == 24);
  CHECK(executions("with co from cross(map (fun s -> linearisations(s, co0)) (classes-loc W)) acyclic co",
                   writes) == 24);
  CHECK(executions("with o from linearisations(W \\ IW, po) acyclic co | o", writes) == 12);
  const std::size_t partial = executions("with co from generate_partial_cos(co0) acyclic co", writes);
  CHECK(partial > 24);
  for (const char* const title : {"PTX", "SPIRV", "Vulkan"}) {
    CHECK(executions(std::string(title) + " \"a model\" acyclic co", writes) == partial);
  }
}

TEST_CASE("barriers: who waits for whom, and who never leaves", "[axiomatic]") {
  const AxiomaticModel ptx("ptx-v6.0");
  const auto judged = [&](const std::string& initial, const std::string& columns,
                          const std::string& condition) {
    const ModelRun run =
        judge(parse_litmus("PTX t\n{ " + initial + " }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n" + columns +
                               condition + "\n",
                           "t.litmus"),
              ptx);
    INFO(run.message);
    REQUIRE(run.status == RunStatus::complete);
    return run;
  };
  // Each waits at the barrier that the other has still to reach.
  CHECK(judged("x = 0;",
               " bar.cta.sync 0 | bar.cta.sync 1 ;\n bar.cta.sync 1 | bar.cta.sync 0 ;\n st.weak x, 1 | ;\n",
               "exists (x == 1)")
            .executions == 0);
  // Numbers in registers: two barriers that have nothing to do with each other.
  CHECK(judged("x = 0; y = 0; P0:r2 = 1; P1:r3 = 2;",
               " st.weak x, 1 | st.weak y, 1 ;\n bar.cta.sync 1, r2 | bar.cta.sync 1, r3 ;\n"
               " ld.weak r0, y | ld.weak r0, x ;\n",
               "exists (P0:r0 == 0 /\\ P1:r0 == 0)")
            .observation() == Observation::sometimes);
  CHECK(judged("x = 0;", " st.weak x, 1 | bar.cta.sync 0 ;\n bar.cta.arrive 0 | ld.weak r0, x ;\n",
               "forall (P1:r0 == 1)")
            .observation() == Observation::always);
}

TEST_CASE("OpenCL: a work-group whose work-items come to different barriers is flagged", "[axiomatic]") {
  const AxiomaticModel rc11("rc11");
  const auto flags = [&](const std::string& p0, const std::string& p1, const std::string& place = "0") {
    const std::string text =
        "OPENCL t\n{ x = 0; y = 0; }\nP0@wg 0, dev 0 (global atomic_int* x, global int* y) {\n" + p0 +
        "\n}\nP1@wg " + place + ", dev 0 (global atomic_int* x, global int* y) {\n" + p1 +
        "\n}\nexists (true)\n";
    const ModelRun run = judge(parse_litmus(text, "t.litmus"), rc11);
    INFO(run.message);
    REQUIRE(run.status == RunStatus::complete);
    return run.raised_flags();
  };
  using Flags = std::vector<std::string>;
  const Flags diverge{"barrier-divergence"};
  const std::string barrier = "barrier(CLK_GLOBAL_MEM_FENCE);";
  const std::string read = "int r0 = atomic_load_explicit(x, memory_order_relaxed);";
  const std::string write = "atomic_store_explicit(x, 1, memory_order_relaxed);";
  CHECK(flags(barrier + write, write + barrier).empty());
  CHECK(flags(barrier, write) == diverge);
  CHECK(flags(barrier, write, "1").empty());
  // On some runs only: those that hang count, too.
  CHECK(flags(read + "if (r0 == 1) { " + barrier + " }", write + barrier) == diverge);
  CHECK(flags(read + "if (r0 == 2) { " + barrier + " }", write) == Flags{});
  CHECK(flags(barrier + read + "if (r0 == 1) { " + barrier + " }", write + barrier) == diverge);
  // Whatever each reads, one barrier follows.
  CHECK(flags(read + "if (r0 == 1) { " + barrier + " } else { " + barrier + " }", write + barrier).empty());
  CHECK(flags("B1: " + barrier + "B2: " + barrier, "B2: " + barrier + "B1: " + barrier) == diverge);
  // What cannot be read cannot diverge.
  CHECK(flags(write + barrier + read + "if (r0 == 0) { " + barrier + " }", barrier).empty());
}

TEST_CASE("a barrier with a quorum opens for whoever comes, and is then new", "[axiomatic]") {
  const AxiomaticModel ptx("ptx-v6.0");
  const auto judged = [&](const std::string& initial, const std::string& threads, const std::string& rest) {
    return judge(parse_litmus("PTX t\n{ " + initial + " }\n" + threads + rest + "\n", "t.litmus"), ptx);
  };
  const auto seen = [&](const std::string& threads, const std::string& rest) {
    const ModelRun run = judged("x = 0; y = 0;", threads, rest);
    INFO(run.message);
    REQUIRE(run.status == RunStatus::complete);
    REQUIRE(run.observation().has_value());
    return *run.observation();
  };
  const std::string two = " P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n";
  const std::string three = " P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n";
  const std::string four = " P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 | P3@cta 0,gpu 0 ;\n";
  // P1 meets P2, and P0 that only arrives comes later.
  CHECK(seen(three,
             " st.weak x, 1           | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;\n"
             " bar.cta.arrive 1, 1, 2 | ld.weak r0, x        | ;\nexists (P1:r0 == 0)") ==
        Observation::sometimes);
  CHECK(seen(two,
             " st.weak x, 1           | bar.cta.sync 1, 1, 2 ;\n"
             " bar.cta.arrive 1, 1, 2 | ld.weak r0, x        ;\nexists (P1:r0 == 0)") == Observation::never);
  // Three come, two by two: one is left behind, and its registers stay as they are.
  const std::string left =
      " st.weak x, 1         | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;\n"
      " bar.cta.sync 1, 1, 2 | ld.weak r0, x        | mov r1, 1            ;\n mov r1, 1 | mov r1, 1 | ;\n";
  CHECK(seen(three, left + "exists (P0:r1 == 0 /\\ P1:r0 == 0)") == Observation::sometimes);
  CHECK(seen(three, left + "exists (P0:r1 == 1 /\\ P1:r1 == 1 /\\ P1:r0 == 0)") == Observation::never);
  CHECK(seen(three, left + "exists (P0:r1 == 1 /\\ P1:r1 == 1 /\\ P2:r1 == 0)") == Observation::sometimes);
  // With all of them gone home together nobody is.
  CHECK(seen(three, left + "exists (P0:r1 == 1 /\\ P1:r1 == 1 /\\ P2:r1 == 1)") == Observation::never);
  // Nobody ever leaves: no outcome.
  CHECK(judged("x = 0;", two, " bar.cta.sync 1, 1, 2 | ;\n st.weak x, 1 | ;\nexists (x == 1)").executions ==
        0);
  // Two pairs of four: P1 meets P0, or does not.
  CHECK(seen(four,
             " st.weak x, 1         | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;\n"
             " bar.cta.sync 1, 1, 2 | ld.weak r0, x        | | ;\nexists (P1:r0 == 0)") ==
        Observation::sometimes);
  // All four at once, and twice: whoever comes second has met everybody first.
  CHECK(seen(four,
             " st.weak x, 1         | bar.cta.sync 1, 1, 4 | bar.cta.sync 1, 1, 4 | bar.cta.sync 1, 1, 4 ;\n"
             " bar.cta.sync 1, 1, 4 | ld.weak r0, x        | | ;\nexists (P1:r0 == 0)") ==
        Observation::never);
  // A barrier opens again: P0 may meet P1 first and then P2, and what P1 wrote has come to P2 by then.
  CHECK(seen(three,
             " bar.cta.sync 1, 1, 2 | st.weak x, 1         | bar.cta.sync 1, 1, 2 ;\n"
             " bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 | ld.weak r0, x ;\nexists (P2:r0 == 1)") ==
        Observation::sometimes);
  // Places with numbers that would be one and the same in 16 bits.
  CHECK(seen(two,
             " bar.cta.sync 1, 1 | bar.cta.sync 1, 1 ;\n bar.cta.sync 2, 1 | bar.cta.sync 2, 1 ;\n"
             " st.weak x, 1      | st.weak y, 1      ;\n bar.cta.sync 3, 1 | bar.cta.sync 3, 1 ;\n"
             " ld.weak r0, y     | ld.weak r0, x     ;\nexists (P0:r0 == 0 \\/ P1:r0 == 0)") ==
        Observation::never);
  // Where registers hold the numbers, what is wrong shows in a run.
  const ModelRun differ = judged("x = 0; P0:r1 = 1; P1:r1 = 2;", two,
                                 " bar.cta.sync 1, 1, r1 | bar.cta.sync 1, 1, r1 ;\nexists (x == 0)");
  CHECK(differ.message.find("has a barrier 1 with 1 participants, and with 2 (line 4)") != std::string::npos);
  const ModelRun none = judged("x = 0; P0:r1 = 0;", two, " bar.cta.sync 1, 1, r1 | ;\nexists (x == 0)");
  CHECK(none.message.find("a register of participants that says none (line 4)") != std::string::npos);
}

TEST_CASE("a weak compare-and-exchange may fail though the values are equal, and tells", "[axiomatic]") {
  const AxiomaticModel rc11("rc11");
  const auto seen = [&](const std::string& strength, const std::string& condition) {
    const std::string text =
        "C t\n{ x = 0; }\nP0 (atomic_int* x) { int e = 0; int r0 = atomic_compare_exchange_" + strength +
        "(x, &e, 1); int r1 = atomic_load(x); }\nexists (" + condition + ")\n";
    const ModelRun run = judge(parse_litmus(text, "t.litmus"), rc11);
    INFO(run.message);
    REQUIRE(run.observation().has_value());
    return *run.observation();
  };
  for (const std::string failure : {"0:r0 = 0", "0:r1 = 0"}) {
    CAPTURE(failure);
    CHECK(seen("weak", failure + " /\\ 0:e = 0") == Observation::sometimes);
    CHECK(seen("strong", failure) == Observation::never);
  }
  // It tells the truth.
  CHECK(seen("weak", "~(0:r0 = 0:r1)") == Observation::never);
  CHECK(seen("weak", "0:r0 = 1 /\\ 0:r1 = 1") == Observation::sometimes);
}

TEST_CASE("flags mark executions and forbid none", "[axiomatic]") {
  const ModelRun run = judge(message_passing(), model_of("flag ~empty rf as some  flag empty rf as none"));
  CHECK(run.executions == executions("empty 0"));
  CHECK(run.raised_flags() == std::vector<std::string>{"some"});
  CHECK_FALSE(run.observation().has_value());
  const ModelRun undefined = judge(message_passing(), model_of("undefined_unless empty rf as seen"));
  CHECK(undefined.raised_flags() == std::vector<std::string>{"seen"});
}

TEST_CASE("comments and titles are no statements", "[axiomatic]") {
  CHECK(always("C \"a model\" (* a (* nested *) comment *)\n// a line\nempty 0 as nothing"));
  CHECK(always("# a line\nempty 0"));
  CHECK(always("\"only a string\" let r = po (* end *)"));
}

TEST_CASE("names that other tools have for other machines are empty, with a warning", "[axiomatic]") {
  const auto model = [](const std::string& text) { return AxiomaticModel("test.cat", text, {}); };
  CHECK(judge(message_passing(), model("empty (LK * W) | crit\nempty po; [EIEIO]; po\nempty LK | UL"))
            .executions == executions("empty 0"));
  CHECK(model("empty LK\nempty po & crit\nempty LK | UL").warnings() ==
        "test.cat:1:7: warning: 'LK' is of machines that no dialect here describes: it is empty\n"
        "test.cat:2:12: warning: 'crit' is of machines that no dialect here describes: it is empty\n"
        "test.cat:3:12: warning: 'UL' is of machines that no dialect here describes: it is empty\n");
  CHECK(model("empty CON & GEN & SUR & TEX & SC0 & SEMSC1 & NONPRIV as a\nempty ssw & vloc & ssg & sqf")
            .warnings()
            .empty());
  // Within try they are unknown, as they would be there.
  CHECK(always("let a = try LK with W\nempty (a \\ W) | (W \\ a)"));
  CHECK(model("empty try LK with R & W").warnings().empty());
}

TEST_CASE("mistakes in models are named with their place and a remedy", "[axiomatic]") {
  const auto is = [](const std::string& model, const std::string& expected) {
    INFO(model);
    CHECK_THAT(error_of(model), Catch::Contains(expected));
  };
  is("let r = po |", "test.cat:1:13: error: expected an expression, found the end of the file");
  is("let r = (po", "test.cat:1:12: error: expected ')' or an operator");
  is("let = po", "test.cat:1:5: error: expected a definition");
  is("acyclic pox", "unknown name 'pox'");
  is("acyclic pox", "did you mean 'po'?");
  is("acyclic po | R", "'R' is a set and stands beside a relation");
  is("acyclic [po]", "a set of events is needed, and 'po' is a relation");
  is("acyclic R", "a relation is needed, and 'R' is a set");
  is("let f(a, b) = a  acyclic f(po)", "a tuple of 2 is taken apart here, but this is a relation");
  is("acyclic po(rf)", "is applied like a function and is a relation");
  is("let rec f(r) = f(r)  acyclic f(po)", "recursion that does not converge");
  is("let rec r = po \\ r  acyclic r", "recursion that does not converge: 'r' has no least fixpoint");
  is("include \"no-such.cat\"", "no file 'no-such.cat' to include");
  is("call nothing(po)", "unknown procedure 'nothing'");
  is("(* open", "a comment that ends");
  is("", "the model is empty");
  is("let r = " + std::string(500, '(') + "po", "fewer than 200 levels of nesting");
  is("let x = match po with || 'a -> po end acyclic x", "");
  CHECK_THROWS_WITH(AxiomaticModel("hrf-indirekt"), Catch::Contains("did you mean 'hrf-indirect'?"));
  CHECK_THROWS_WITH(AxiomaticModel("/no/such/model.cat"), Catch::Contains("no such file"));
}

TEST_CASE("a model that tells nothing apart is refused", "[axiomatic]") {
  CHECK_THROWS_WITH(refuse_vacuous(model_of("empty _ as nothing")),
                    Catch::Contains("test.cat:1:1: error: the model forbids every execution ('nothing')"));
  CHECK_THROWS_WITH(refuse_vacuous(model_of("flag ~empty W as writes")),
                    Catch::Contains("the model flags every execution ('writes')"));
  for (const std::string& name : cat::model_names()) CHECK_NOTHROW(refuse_vacuous(AxiomaticModel(name)));
}

TEST_CASE("a file that includes itself is refused", "[axiomatic]") {
  const TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
  std::ofstream(folder / "a.cat") << "include \"b.cat\"\n";
  std::ofstream(folder / "b.cat") << "include \"a.cat\"\n";
  CHECK_THROWS_WITH(AxiomaticModel((folder / "a.cat").string()), Catch::Contains("includes itself"));
}

TEST_CASE("the models tell the shapes apart that they are known for", "[axiomatic]") {
  const auto shape = [](const std::string& columns, const std::string& condition) {
    return hrf("x = 0; y = 0;", columns, condition);
  };
  const LitmusTest sb = shape(
      " P0@wg 0,agent 0 | P1@wg 1,agent 0 ;\n st.relaxed.agent x, 1 | st.relaxed.agent y, 1 ;\n"
      " ld.relaxed.agent r0, y | ld.relaxed.agent r0, x ;\n",
      "exists (P0:r0 == 0 /\\ P1:r0 == 0)");
  const LitmusTest mp = shape(
      " P0@wg 0,agent 0 | P1@wg 1,agent 0 ;\n st.relaxed.agent x, 1 | ld.relaxed.agent r0, y ;\n"
      " st.relaxed.agent y, 1 | ld.relaxed.agent r1, x ;\n",
      "exists (P1:r0 == 1 /\\ P1:r1 == 0)");
  const LitmusTest lb = shape(
      " P0@wg 0,agent 0 | P1@wg 1,agent 0 ;\n ld.relaxed.agent r0, x | ld.relaxed.agent r0, y ;\n"
      " st.relaxed.agent y, 1 | st.relaxed.agent x, 1 ;\n",
      "exists (P0:r0 == 1 /\\ P1:r0 == 1)");
  CHECK(observed("sc", sb) == Observation::never);
  CHECK(observed("tso", sb) == Observation::sometimes);
  CHECK(observed("tso", mp) == Observation::never);
  CHECK(observed("rmo", mp) == Observation::sometimes);
  CHECK(observed("rmo", lb) == Observation::sometimes);
  CHECK(observed("rc11", lb) == Observation::never);
  CHECK(observed("ptx-v6.0", lb) == Observation::sometimes);
}

TEST_CASE("two roads to one answer: SC outcomes by exploration and by the sc model", "[axiomatic]") {
  const AxiomaticModel sc("sc");
  std::size_t compared = 0;
  for (const auto& test : shipped_tests()) {
    const ModelRun run = judge(*test, sc);
    INFO(test->file << " " << run.message);
    REQUIRE(run.status == RunStatus::complete);
    if (run.cut) continue;
    const SystemRun explored = run_on_system(*test, subject_named("sc"), {});
    if (failed(explored.status)) continue;
    REQUIRE(explored.status == RunStatus::complete);
    std::vector<Outcome> allowed;
    for (const AllowedOutcome& one : run.outcomes) allowed.push_back(one.outcome);
    CHECK(allowed == explored.outcomes);
    ++compared;
  }
  CHECK(compared > 250);
}

TEST_CASE("two roads to one answer: races by exploration and by the cat models", "[axiomatic]") {
  const std::vector<std::pair<RaceModel, std::string>> roads{
      {RaceModel::drf, "drf"},
      {RaceModel::hrf_direct, "hrf-direct"},
      {RaceModel::hrf_indirect, "hrf-indirect"},
      {RaceModel::hrf_relaxed_direct, "hrf-relaxed-direct"},
      {RaceModel::hrf_relaxed_indirect, "hrf-relaxed"}};
  std::size_t compared = 0;
  for (const auto& road : roads) {
    const RaceModel race_model = road.first;
    const std::string& name = road.second;
    const AxiomaticModel model(name);
    for (const auto& test : shipped_tests()) {
      const ModelRun run = judge(*test, model);
      INFO(test->file << " under " << name << " " << run.message);
      REQUIRE(run.status == RunStatus::complete);
      if (run.cut) continue;
      RaceOptions options;
      options.models = {race_model};
      options.readings = {SyncReading::same_location};
      const RaceReport report = analyse_races(test->program, options);
      const RaceAnswer answer = report.of(race_model, SyncReading::same_location).answer;
      if (answer == RaceAnswer::not_judged) continue;
      const std::vector<std::string> raised = run.raised_flags();
      const bool races = std::find(raised.begin(), raised.end(), "race") != raised.end();
      CHECK(races == (answer == RaceAnswer::race));
      ++compared;
    }
  }
  CHECK(compared > 1200);
}

namespace {

struct RoadsCompared {
  std::size_t tests = 0;
  std::size_t owed = 0;
};

// Holds exploration against the cat models on each `stride`-th generated test that a glance does not dismiss,
// and on each `dismissed_stride`-th of those that it does.
RoadsCompared compare_roads(int up_to, std::size_t stride, std::size_t dismissed_stride) {
  generate::GenerateOptions options;
  options.up_to = up_to;
  options.straight = true;
  const generate::Generator generator(options);
  const std::vector<std::pair<RaceModel, std::string>> roads{{RaceModel::hrf_direct, "hrf-direct"},
                                                             {RaceModel::hrf_indirect, "hrf-indirect"}};
  RoadsCompared compared;
  for (const auto& road : roads) {
    const RaceModel race_model = road.first;
    const std::string& name = road.second;
    const auto explored = generate::race_free_model(race_model);
    const auto axiomatic = generate::axiomatic_model(name);
    std::size_t number = 0;
    for (const generate::Family& family : generator.families()) {
      generator.enumerate(family, [&](const generate::Blueprint& blueprint) {
        if (++number % (explored->owes_nothing(blueprint) ? dismissed_stride : stride) != 0) return;
        const auto test = generate::to_test(blueprint);
        const generate::Obligation left = explored->obligation(*test, {});
        const generate::Obligation right = axiomatic->obligation(*test, {});
        INFO(test->name << " under " << name);
        REQUIRE(left.owed != generate::Owed::unknown);
        REQUIRE(right.owed != generate::Owed::unknown);
        // The cat models pair on the same location.
        if (left.by_one_reading) return;
        if ((left.owed == generate::Owed::outcomes) != (right.owed == generate::Owed::outcomes)) {
          FAIL_CHECK("one road finds a race, the other none");
        } else if (left.owed == generate::Owed::outcomes && left.allowed != right.allowed) {
          FAIL_CHECK("the roads lead to different outcomes");
        }
        ++compared.tests;
        compared.owed += left.owed == generate::Owed::outcomes ? 1 : 0;
      });
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("two roads to one answer: on generated tests", "[axiomatic]") {
  const RoadsCompared compared = compare_roads(5, 20, 400);
  CHECK(compared.tests > 5000);
  CHECK(compared.owed > 2000);
}

// Some minutes: `lockstep_tests "[every-generated-test]"`.
TEST_CASE("two roads to one answer: on every generated test of size 5", "[.every-generated-test]") {
  const RoadsCompared compared = compare_roads(5, 1, 50);
  WARN(compared.tests << " tests compared, " << compared.owed << " owed SC outcomes");
}

TEST_CASE("a forbidden outcome comes with the check that fails and its cycle", "[axiomatic]") {
  const LitmusTest test = hrf("x = 0; flag = 0;",
                              " P0@wg 0,agent 0          | P1@wg 1,agent 0           ;\n"
                              " st x, 1                  | ld.acquire.agent r0, flag ;\n"
                              " st.release.agent flag, 1 | ld r1, x                  ;\n",
                              "exists (P1:r0 == 1 /\\ P1:r1 == 0)");
  const auto candidate = find_candidate(test, AxiomaticModel("sc"), {1, 0});
  REQUIRE(candidate != nullptr);
  REQUIRE(candidate->failures.size() == 1);
  CHECK(candidate->failures[0].label == "sc");
  CHECK(candidate->failures[0].cycle.size() == 4);
  const std::string dot = candidate_dot(test, *candidate, "title");
  for (const std::string edge : {"label=\"po\"", "label=\"rf\"", "label=\"fr\"", "penwidth"}) {
    CHECK_THAT(dot, Catch::Contains(edge));
  }
  CHECK(find_candidate(test, AxiomaticModel("sc"), {7, 7}) == nullptr);
}

TEST_CASE("loops: an idle iteration more says nothing new, a bound that bites is reported", "[axiomatic]") {
  const LitmusTest spin = hrf("x = 0; flag = 0;",
                              " P0@wg 0,agent 0          | P1@wg 1,agent 0           ;\n"
                              " st x, 1                  | LOOP:                     ;\n"
                              " st.release.agent flag, 1 | ld.acquire.agent r0, flag ;\n"
                              "                          | bne r0, 1, LOOP           ;\n"
                              "                          | ld r1, x                  ;\n",
                              "exists (P1:r1 == 0)");
  CHECK(observed("hrf-direct", spin) == Observation::never);
  const LitmusTest counting = hrf("x = 0;",
                                  " P0@wg 0,agent 0                 ;\n LOOP:                          ;\n"
                                  " atom.relaxed.agent.add r0, x, 1 ;\n bne r0, 4, LOOP                ;\n",
                                  "exists (x == 5)");
  const ModelRun run = judge(counting, AxiomaticModel("sc"));
  CHECK(run.cut);
  CHECK_FALSE(run.observation().has_value());
  JudgeOptions more;
  more.unroll.iterations = 5;
  CHECK(judge(counting, AxiomaticModel("sc"), more).observation() == Observation::always);
}

TEST_CASE("values count that are written on runs which do not end before others write", "[axiomatic]") {
  // Nobody ends before both have added: on their first runs both only spin.
  const LitmusTest meet = hrf("x = 0;",
                              " P0@wg 0,agent 0            | P1@wg 1,agent 0            ;\n"
                              " red.acq_rel.agent.add x, 1 | red.acq_rel.agent.add x, 1 ;\n"
                              " L: ld.acquire.agent r0, x  | L: ld.acquire.agent r0, x  ;\n"
                              " bne r0, 2, L               | bne r0, 2, L               ;\n",
                              "exists (P0:r0 == 2 /\\ P1:r0 == 2)");
  CHECK(observed("sc", meet) == Observation::always);
}

TEST_CASE("a waiting atomic is a loop to a model", "[axiomatic]") {
  const LitmusTest handed = hrf("x = 0; flag = 0;",
                                " P0@wg 0,agent 0          | P1@wg 1,agent 0                  ;\n"
                                " st x, 1                  | ld.acquire.agent.wait r0, flag, 1 ;\n"
                                " st.release.agent flag, 1 | ld r1, x                         ;\n",
                                "exists (P1:r1 == 0)");
  CHECK(observed("hrf-direct", handed) == Observation::never);
  CHECK(observed("sc", handed) == Observation::never);
  const LitmusTest taken = hrf("x = 0;",
                               " P0@wg 0,agent 0                        ;\n"
                               " red.relaxed.agent.exch.wait x, 3, 0    ;\n"
                               " atom.relaxed.agent.cas.wait r0, x, 3, 4 ;\n",
                               "exists (P0:r0 == 3 /\\ x == 4)");
  CHECK(observed("sc", taken) == Observation::always);
}

// ---- judging in fewer steps -------------------------------------------------------------------------------

namespace {

// All that is said of a test but how many candidates were met.
std::string told(const ModelRun& run, bool counts) {
  std::string text = run.message + (run.cut ? "cut " : "") + (run.assertion_fails ? "fails " : "");
  for (const std::string& flag : run.raised_flags()) text += flag + " ";
  if (counts) text += std::to_string(run.executions);
  for (const AllowedOutcome& one : run.outcomes) {
    text += " [";
    for (const std::int32_t value : one.outcome) text += std::to_string(value) + " ";
    text += "flags " + std::to_string(one.flags);
    text += counts ? " in " + std::to_string(one.executions) + "]" : "]";
  }
  return text;
}

ModelRun judged_by(JudgeBy by, const LitmusTest& test, const AxiomaticModel& model, int iterations = 3) {
  JudgeOptions options;
  options.unroll.iterations = iterations;
  options.by = by;
  return judge(test, model, options);
}

// What is said of a test by all its candidates, put together with a path for each value of each read and then
// checked, holds however it is found. True: some execution is allowed.
bool check_shorter_ways(const LitmusTest& test, const AxiomaticModel& model) {
  JudgeOptions plainly;
  plainly.unroll.iterations = 3;
  plainly.by = JudgeBy::executions;
  plainly.plainly = true;
  const ModelRun all = judge(test, model, plainly);
  const ModelRun executions = judged_by(JudgeBy::executions, test, model);
  const ModelRun outcomes = judged_by(JudgeBy::outcomes, test, model);
  INFO(test.name << " under " << model.name() << "\n" << print_program(test.program));
  CHECK(executions.counted);
  CHECK(told(executions, true) == told(all, true));
  CHECK(told(outcomes, outcomes.counted) == told(all, outcomes.counted));
  return all.executions > 0;
}

// Small programs in which anything may depend on anything: loops, branches, assertions, updates, conditional
// stores, fences, barriers, addresses in registers, values out of thin air.
class Mixtures {
 public:
  explicit Mixtures(std::uint32_t seed) : random_(seed) {}

  LitmusTest next() {
    const int threads = one_in(4) ? 3 : 2;
    std::vector<std::vector<std::string>> columns;
    for (int t = 0; t < threads; ++t) columns.push_back(column(2 + below(threads == 2 ? 3 : 2)));
    std::string text = " ";
    for (int t = 0; t < threads; ++t) {
      text += "P" + std::to_string(t) + "@wg " + std::to_string(one_in(2) ? t : 0) + ",agent 0" +
              (t + 1 < threads ? " | " : " ;\n ");
    }
    for (std::size_t line = 0; line < 8; ++line) {
      for (int t = 0; t < threads; ++t) {
        const auto& lines = columns[static_cast<std::size_t>(t)];
        text += (line < lines.size() ? lines[line] : "") + (t + 1 < threads ? " | " : " ;\n ");
      }
    }
    std::string initial = "x = 0; y = 1; a[2] = {0, 1};";
    std::string condition = "exists (";
    for (int t = 0; t < threads; ++t) {
      for (const std::string r : {"r0", "r1"}) initial += " P" + std::to_string(t) + ":" + r + " = 0;";
      condition += "P" + std::to_string(t) + ":" + reg() + " == " + one_of({"0", "1", "2"}) + " /\\ ";
    }
    return hrf(initial, text, condition + one_of({"x", "y"}) + " == " + one_of({"0", "1"}) + ")");
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  std::string one_of(const std::vector<std::string>& words) {
    return words[static_cast<std::size_t>(below(static_cast<int>(words.size())))];
  }
  std::string reg() { return one_of({"r0", "r1"}); }
  std::string operand() { return one_of({"0", "1", "1", "2", "r0", "r1"}); }
  std::string place() { return one_of({"x", "x", "x", "y", "y", "a[0]", "a[1]", "a[r0]"}); }

  std::string instruction() {
    const std::string reading = one_of({"", ".relaxed.agent", ".acquire.agent", ".acquire.wg", ".sc.system"});
    const std::string writing = one_of({"", ".relaxed.agent", ".release.agent", ".release.wg", ".sc.system"});
    const std::string both = one_of({".relaxed.agent", ".acq_rel.agent", ".acquire.agent", ".release.wg"});
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return "ld" + reading + " " + reg() + ", " + place();
      case 4:
      case 5:
      case 6:
      case 7:
        return "st" + writing + " " + place() + ", " + operand();
      case 8:
        return "atom" + both + one_of({".add ", ".exch ", ".sub ", ".max "}) + reg() + ", " + place() + ", " +
               operand();
      case 9:
        return "atom" + both + one_of({".cas ", ".cas.weak "}) + reg() + ", " + place() + ", " +
               one_of({"0", "1", "r0"}) + ", " + operand();
      case 10:
        return "fence" + one_of({".acquire", ".release", ".acq_rel", ".sc", ".sc"}) + ".agent";
      case 11:
        return one_of({"add ", "xor ", "eq ", "lt "}) + reg() + ", " + reg() + ", " + operand();
      case 12:
        return one_of({"assert ", "assert "}) + reg() + one_of({" == ", " != "}) + one_of({"0", "1"});
      case 13:
        return "barrier";
      case 14:
        return "ld.relaxed.agent.exclusive r0, x";
      default:
        return "st.relaxed.agent.exclusive r1, " + one_of({"x", "x", "y"}) + ", " + operand();
    }
  }

  // One branch at most, back as often as forward.
  std::vector<std::string> column(int size) {
    std::vector<std::string> lines;
    for (int i = 0; i < size; ++i) lines.push_back(instruction());
    if (one_in(2)) {
      const int at = below(size + 1);
      const int target = below(size + 2);
      lines.insert(lines.begin() + at, one_of({"beq ", "bne ", "blt "}) + reg() + ", " + operand() + ", L");
      if (target > size) {
        lines.emplace_back("L:");
      } else {
        lines[static_cast<std::size_t>(target)].insert(0, "L: ");
      }
    }
    return lines;
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("whatever is left out of a search, the answer is that of all candidates", "[axiomatic]") {
  std::vector<AxiomaticModel> models;
  for (const char* const name : {"sc", "rc11", "ptx-v6.0", "opencl", "vulkan", "hrf-indirect"})
    models.emplace_back(name);
  // What shrinks when more is chosen, also below a closure, next to flags of both kinds.
  models.push_back(model_of(
      "let gap = (po & loc) \\ (rf; rf^-1 | co)  flag ~empty rf \\ (po | co) as far\n"
      "flag acyclic po | rf as causal  irreflexive ((~co & loc & W * W) \\ co^-1 \\ id); po; gap+; rf\n"
      "acyclic co | rf | fr | po & loc"));
  models.push_back(
      model_of("\"OpenCL\" flag ~empty (W * W) & loc & ext \\ (co | co^-1) as unordered\n"
               "let rec hb = po | rf & ext | hb; hb  irreflexive hb; (co | fr)?"));
  // Of what a model chooses by itself there are no bounds.
  models.push_back(model_of("with o from linearisations(W \\ IW, po) acyclic co | o | rf"));
  Mixtures mixtures(7);
  std::size_t allowed = 0;
  for (int i = 0; i < 150; ++i) {
    const LitmusTest test = mixtures.next();
    for (const AxiomaticModel& model : models) allowed += check_shorter_ways(test, model) ? 1 : 0;
  }
  CHECK(allowed > 500);
}

TEST_CASE("outcomes are found one by one where executions are too many", "[axiomatic]") {
  std::string columns = " P0@wg 0,agent 0 | P1@wg 1,agent 0 | P2@wg 2,agent 0 | P3@wg 3,agent 0 ;\n";
  for (int line = 0; line < 8; ++line) {
    for (int t = 0; t < 4; ++t) {
      const std::string place((line / 2 + t * line) % 2 == 0 ? "x" : "y");
      columns += line % 2 == 0 ? " st.relaxed.agent " + place + ", " + std::to_string(1 + (line / 2 + t) % 2)
                               : " ld.relaxed.agent r0, " + place;
      columns += t < 3 ? " |" : " ;\n";
    }
  }
  const LitmusTest test = hrf("x = 0; y = 0;", columns,
                              "exists (P0:r0 == 0 /\\ P1:r0 == 1 /\\ P2:r0 == 2 /\\ P3:r0 == 0 /\\ y == 1)");
  const ModelRun run = judge(test, AxiomaticModel("sc"));
  INFO(run.message);
  REQUIRE(run.status == RunStatus::complete);
  CHECK_FALSE(run.counted);
  const SystemRun explored = run_on_system(test, subject_named("sc"), {});
  REQUIRE(explored.status == RunStatus::complete);
  std::vector<Outcome> allowed;
  for (const AllowedOutcome& one : run.outcomes) allowed.push_back(one.outcome);
  CHECK(allowed == explored.outcomes);
}

TEST_CASE("a ticket lock under a model: one after the other, where every order is in its place",
          "[axiomatic]") {
  const auto lock = [](const std::string& waits, const std::string& leaves) {
    std::string columns = " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n";
    for (const std::string& line :
         {std::string("atom.relaxed.gpu.add r0, next, 1"), "L: " + waits + " r1, now",
          std::string("bne r1, r0, L"), std::string("ld.weak r2, x"), std::string("add r3, r2, 1"),
          std::string("st.weak x, r3"), "atom." + leaves + ".gpu.add r4, now, 1"})
      columns += " " + line + " | " + line + " ;\n";
    return parse_litmus("PTX t\n{ next = 0; now = 0; x = 0; }\n" + columns + "exists (x == 1)\n", "t.litmus");
  };
  const AxiomaticModel ptx("ptx-v6.0");
  const auto says = [&](const std::string& waits, const std::string& leaves) {
    const ModelRun executions = judged_by(JudgeBy::executions, lock(waits, leaves), ptx, 4);
    const ModelRun outcomes = judged_by(JudgeBy::outcomes, lock(waits, leaves), ptx, 4);
    CHECK(executions.status == RunStatus::complete);
    CHECK_FALSE(executions.cut);
    CHECK(told(outcomes, false) == told(executions, false));
    return executions.tally.observation();
  };
  CHECK(says("ld.acquire.gpu", "release") == Observation::never);
  CHECK(says("ld.relaxed.gpu", "release") == Observation::sometimes);
  CHECK(says("ld.acquire.gpu", "relaxed") == Observation::sometimes);
}

TEST_CASE("clauses have the solutions that trying all values finds", "[axiomatic]") {
  std::mt19937 random(3);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint32_t>(n)); };
  constexpr int variables = 9;
  for (int formula = 0; formula < 200; ++formula) {
    std::vector<std::vector<Literal>> given(static_cast<std::size_t>(15 + below(30)));
    for (auto& clause : given) {
      for (int i = below(10) == 0 ? 2 : 0; i < 3; ++i) clause.emplace_back(below(variables), below(2) == 0);
    }
    const auto solves = [&](int values) {
      return std::all_of(given.begin(), given.end(), [&](const auto& clause) {
        return std::any_of(clause.begin(), clause.end(),
                           [&](Literal l) { return (((values >> l.variable()) & 1) != 0) == l.positive(); });
      });
    };
    std::set<int> expected;
    for (int values = 0; values < 1 << variables; ++values) {
      if (solves(values)) expected.insert(values);
    }
    Clauses clauses;
    clauses.clear();
    for (int v = 0; v < variables; ++v) clauses.add_variable(below(2) == 0);
    for (const auto& clause : given) clauses.add(clause);
    std::set<int> found;
    while (clauses.propagate()) {
      if (clauses.restart_if_due() || clauses.decide()) continue;
      int values = 0;
      std::vector<Literal> others;
      for (const Literal l : clauses.trail()) {
        values |= l.positive() ? 1 << l.variable() : 0;
        others.push_back(!l);
      }
      REQUIRE(found.insert(values).second);
      clauses.add(others);
    }
    CHECK(found == expected);
  }
}

TEST_CASE("messages quote the expression that they are about, whole", "[axiomatic]") {
  CHECK_THAT(error_of("acyclic po; (R | W)+ ; rf"), Catch::Contains("'R | W' is a set"));
  CHECK_THAT(error_of("let r = (po | rf; co)(rf)"),
             Catch::Contains("'po | rf; co' is applied like a function"));
}
