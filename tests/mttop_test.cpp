// Cores with the consistency of CPUs: what each shows is what its axioms allow, neither more nor less, and a
// mistake in what may overtake what is noticed by the test that is for it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checker/generate/matrix.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/litmus/suite.hpp"
#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"
#include "spec/program/outstanding.hpp"
#include "tests/texts.hpp"

using namespace lockstep;

namespace {

const std::string folder = LOCKSTEP_SOURCE_DIR "/litmus/mttop";

LitmusTests tests_in(const std::string& where) {
  SuiteFiles files = read_tests(std::vector{where}, LOCKSTEP_SOURCE_DIR "/litmus", Clients::leave_out);
  REQUIRE(files.errors.empty());
  return files.tests;
}
std::shared_ptr<const LitmusTest> named(const std::string& name) {
  return tests_in(name).front();
}

SystemRun run(const LitmusTest& test, const std::string& system, const std::vector<std::string>& faults = {},
              const Reductions& reductions = {}) {
  Subject subject = subject_named(system);
  subject.options.faults = faults;
  subject.options.reductions = reductions;
  return run_on_system(test, subject, {});
}
SystemRun complete(const LitmusTest& test, const std::string& system,
                   const std::vector<std::string>& faults = {}, const Reductions& reductions = {}) {
  SystemRun result = run(test, system, faults, reductions);
  INFO(test.name << " on " << system << ": " << result.message);
  REQUIRE(result.status == RunStatus::complete);
  return result;
}

generate::Relation related(const std::string& system, const std::string& model, int up_to,
                           const std::vector<std::string>& faults = {}) {
  generate::MatrixOptions options;
  options.generate.up_to = up_to;
  options.systems = {subject_named(system)};
  options.systems.front().options.faults = faults;
  options.models = {generate::axiomatic_model(model)};
  options.limits.threads = 2;
  const generate::MatrixReport report = generate::conform_matrix(options);
  const generate::MatrixCell& cell = report.cells.at(0).at(0);
  INFO(generate::matrix_text(report));
  CHECK(cell.judged == report.owed.at(0));
  CHECK(cell.inconclusive == 0);
  return generate::relation(cell);
}

// What a core shows that it ought not, by fault: on which system, and in which test.
struct Noticed {
  std::string system;
  std::string test;
};
const std::map<std::string, Noticed> noticed{
    {"load-passes-store", {"mttop", "mttop-cowr"}},
    {"store-passes-load", {"mttop", "mttop-corw"}},
    {"store-passes-store", {"mttop", "mttop-coww"}},
    {"fence-does-not-drain", {"mttop", "mttop-sb-fences"}},
    {"acquire-does-not-drain", {"mttop", "sb-agent"}},
    {"release-does-not-drain", {"mttop", "mttop-mp-release"}},
    {"buffer-unordered", {"mttop/tso", "mttop-mp"}},
    {"atomic-does-not-drain", {"mttop/tso", "mttop-sb-atomics"}},
    {"load-does-not-drain", {"mttop/sc-wb", "mttop-sb"}},
};

// The second thread of a test, as it hands its accesses out.
struct Handed {
  std::vector<int> slots;  // of each access
  std::size_t ports = 0;   // of the thread, besides its own
  std::size_t awaits = 0;
};
Handed handed(const std::string& code, Outstanding which, int most = 4) {
  const LitmusTest test =
      parse("HRF t\n{ x = 0; y = 0; z = 0; P0:r1 = 0; }\n P0@wg 0,agent 0 ;\n" + code + "forall (true)\n");
  const Program program = with_outstanding(test.program, which, most);
  Handed found;
  found.ports = program.threads.size() - 1;
  for (const Instruction& i : program.threads.front().code) {
    if (is_memory(i.opcode)) found.slots.push_back(i.slot);
    if (i.opcode == Opcode::await) ++found.awaits;
  }
  return found;
}

}  // namespace

TEST_CASE("MTTOP: with one access at a time, and with a write buffer drained before loads, it is SC") {
  for (const std::string system : {"mttop/sc-simple", "mttop/sc-wb"}) {
    CHECK(related(system, "sc", 3) == generate::Relation::equal);
    for (const auto& test : tests_in(folder)) {
      INFO(test->name << " on " << system);
      CHECK(complete(*test, system).outcomes == complete(*test, "sc").outcomes);
    }
  }
}

TEST_CASE("MTTOP: each core shows what its axioms allow, neither more nor less") {
  CHECK(related("mttop/tso", folder + "/mttop-tso.cat", 3) == generate::Relation::equal);
  CHECK(related("mttop", folder + "/mttop-rmo.cat", 3) == generate::Relation::equal);
}

TEST_CASE("MTTOP: a core that lets something overtake is not what its axioms allow") {
  const std::string rmo = folder + "/mttop-rmo.cat";
  const std::string tso = folder + "/mttop-tso.cat";
  const auto weaker = [](const std::string& system, const std::string& axioms, const std::string& fault) {
    INFO(system << ", " << fault);
    const generate::Relation found = related(system, axioms, 4, {fault});
    CHECK((found == generate::Relation::weaker || found == generate::Relation::neither));
  };
  // Fences and atomics that do not drain show in no test of four events (litmus/mttop has larger ones).
  for (const std::string fault : {"load-passes-store", "store-passes-load", "store-passes-store",
                                  "acquire-does-not-drain", "release-does-not-drain"})
    weaker("mttop", rmo, fault);
  for (const std::string fault : {"buffer-unordered", "load-passes-store", "acquire-does-not-drain"})
    weaker("mttop/tso", tso, fault);
  weaker("mttop/sc-wb", "sc", "load-does-not-drain");
}

TEST_CASE("MTTOP: no core is weaker than the model that it is called after") {
  CHECK(related("mttop/tso", "tso", 4) == generate::Relation::stronger);
  CHECK(related("mttop", "rmo", 4) == generate::Relation::stronger);
  CHECK(related("mttop", "tso", 4) == generate::Relation::neither);
}

TEST_CASE("MTTOP: each of its faults is noticed by the test that is for it") {
  const auto& faults = find_system("mttop").faults;
  const auto own = std::find_if(faults.begin(), faults.end(), [](const auto& fault) {
    return fault.name == "acknowledgements-not-awaited";
  });
  CHECK(static_cast<std::size_t>(own - faults.begin()) == noticed.size());
  for (const auto& [fault, by] : noticed) {
    const auto test = named(by.test);
    INFO(fault << ", " << by.test);
    CHECK(complete(*test, by.system, {fault}).outcomes != complete(*test, by.system).outcomes);
  }
}

TEST_CASE("MTTOP: reductions keep every outcome") {
  for (const auto& test : tests_in(folder)) {
    if (test->program.threads.size() > 2) continue;
    for (const std::string system : {"mttop", "mttop/tso"}) {
      INFO(test->name << " on " << system);
      const SystemRun full = complete(*test, system, {}, Reductions::none());
      const SystemRun reduced = complete(*test, system);
      CHECK(reduced.outcomes == full.outcomes);
      CHECK(reduced.exploration.states < full.exploration.states);
    }
  }
}

TEST_CASE("threads go on past what the core does not wait for, to the first use of what was read") {
  const std::string code = " ld r0, x ;\n st y, 1 ;\n st z, r0 ;\n ld r1, x ;\n";
  const Handed none = handed(code, Outstanding::none);
  CHECK(none.slots == std::vector{0, 0, 0, 0});
  CHECK(none.ports == 0);
  const Handed stores = handed(code, Outstanding::stores);
  CHECK(stores.slots == std::vector{0, 1, 2, 0});
  CHECK(stores.awaits == 1);  // at the end
  const Handed accesses = handed(code, Outstanding::accesses);
  // The last access is waited for: nothing comes behind it.
  CHECK(accesses.slots == std::vector{1, 2, 3, 0});
  CHECK(accesses.awaits == 2);
  // What was read is used by the branch; who goes back waits for all, who goes on does not.
  const Handed loop =
      handed(" AGAIN: ;\n st x, 1 ;\n ld r0, y ;\n beq r0, 0, AGAIN ;\n st z, 1 ;\n", Outstanding::accesses);
  CHECK(loop.slots == std::vector{1, 2, 0});
  CHECK(loop.awaits == 3);
  // Paths that meet have slots of their own.
  const Handed paths =
      handed(" beq r1, 0, L ;\n ld r0, x ;\n goto M ;\n L: st z, 1 ;\n M: st y, r0 ;\n ld r2, x ;\n",
             Outstanding::accesses);
  CHECK(paths.slots == std::vector{1, 2, 3, 0});
}

TEST_CASE("a full write buffer is emptied, and what synchronizes is waited for") {
  const std::string stores = " st x, 1 ;\n st y, 1 ;\n st z, 1 ;\n ld r0, x ;\n";
  CHECK(handed(stores, Outstanding::stores, 2).slots == std::vector{1, 2, 1, 0});
  CHECK(handed(stores, Outstanding::stores, 2).ports == 2);
  const std::string synchronized =
      " st x, 1 ;\n ld.acquire.agent r0, y ;\n st.release.agent z, 1 ;\n st.sc.agent x, 2 ;\n ld r1, y ;\n";
  CHECK(handed(synchronized, Outstanding::accesses).slots == std::vector{1, 0, 2, 0, 0});
  // A fence is passed when nothing is under way: slots are used again.
  const std::string fenced = " st x, 1 ;\n fence.sc.agent ;\n st y, 1 ;\n ld r0, x ;\n";
  CHECK(handed(fenced, Outstanding::stores).slots == std::vector{1, 1, 0});
  // Whoever waits for a value, or is the host, has nothing under way.
  CHECK(handed(" ld.acquire.agent.wait r0, x, 1 ;\n st y, 1 ;\n", Outstanding::accesses).ports == 0);
  const LitmusTest host =
      parse("HRF t\n{ x = 0; y = 0; }\n P0@host ;\n st x, 1 ;\n ld r0, y ;\nforall (true)\n");
  CHECK(with_outstanding(host.program, Outstanding::accesses, 4).threads.size() == 1);
}

TEST_CASE("MTTOP: how much may be under way is a size") {
  Subject subject = subject_named("mttop");
  subject.options.sizes = {{"outstanding", 1}};
  const auto test = named("mttop-coww-fifo");
  const SystemRun one = run_on_system(*test, subject, {});
  REQUIRE(one.status == RunStatus::complete);
  CHECK(one.exploration.states < complete(*test, "mttop").exploration.states);
  subject.options.sizes = {{"outstanding", 8}};
  const SystemRun many = run_on_system(*test, subject, {});
  CHECK(many.status == RunStatus::error);
  CHECK_THAT(many.message, Catch::Contains("not between 1 and the built capacity 7"));
  const std::string store = " st x, 1 | st x, 2 | st x, 3 ;\n st y, 1 | st y, 2 | st y, 3 ;\n";
  const LitmusTest wide =
      parse("HRF wide\n{ x = 0; y = 0; }\n P0@wg 0,agent 0 | P1@wg 1,agent 0 | P2@wg 2,agent 0 ;\n" + store +
            store + store + "exists (x == 1)\n");
  CHECK_THAT(run(wide, "mttop").message,
             Catch::Contains("3 threads that leave 12 accesses under way, and this build holds 12 of both"));
  CHECK(complete(wide, "mttop/sc-simple").tally.positive > 0);
}
