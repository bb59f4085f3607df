// Tests in the Vulkan dialect: what is read and printed, what is refused, and what the models say.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "checker/axiomatic/model.hpp"
#include "checker/language/test.hpp"
#include "checker/races/races.hpp"
#include "checker/support/diagnostic.hpp"

using namespace lockstep;

namespace {

std::string vulkan(const std::string& rows, const std::string& threads = " P0@sg 0,wg 0,qf 0",
                   const std::string& initial = "") {
  return "VULKAN t\n{ " + initial + " }\n" + threads + " ;\n" + rows + "\n";
}

LitmusTest parse(const std::string& text) {
  return parse_litmus(text, "t.litmus");
}

Diagnostic error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const BadInput& bad) {
    return bad.diagnostic();
  }
  return {};
}
std::string message_of(const std::string& text) {
  return error_of(text).message;
}

// The instructions of the first thread as HRF has them, a line each.
std::string code(const std::string& text) {
  const Program program = parse(text).program;
  std::string lines;
  for (const Instruction& i : program.threads[0].code) {
    lines += (lines.empty() ? "" : "\n") + print_instruction(i, program, 0);
  }
  return lines;
}

struct Verdict {
  bool seen = false;
  bool race = false;
  bool operator==(const Verdict&) const = default;
};
constexpr Verdict never{false, false};
constexpr Verdict sometimes{true, false};
constexpr Verdict racy{true, true};

Verdict judged(const std::string& text, const std::string& model = "vulkan") {
  const ModelRun run = judge(parse(text), AxiomaticModel(model));
  INFO(text << run.message);
  REQUIRE(run.status == RunStatus::complete);
  REQUIRE(run.executions > 0);
  return {run.tally.positive > 0, run.raised != 0};
}

// P0 writes x and hands over y; P1, which has seen y, reads an old x.
std::string handed_over(const std::string& write, const std::string& release, const std::string& acquire,
                        const std::string& read, const std::string& p1 = "sg 0,wg 1,qf 0") {
  return vulkan(" " + write + " | " + acquire + " ;\n " + release + " | " + read +
                    " ;\nfilter (P1:r0 == 1)\nexists (P1:r1 == 0)",
                " P0@sg 0,wg 0,qf 0 | P1@" + p1);
}

}  // namespace

TEST_CASE("VULKAN: accesses have a storage class, and atomics are available and visible", "[vulkan]") {
  CHECK(code(vulkan(" ld.sc0 r0, x ; st.nonpriv.sc1 x, r0 ; ld.vis.qf.sc2 r1, x ; st.av.dev.sc3 x, 1 ;")) ==
        "ld.sc0 r0, x\nst.sc1.nonpriv x, r0\nld.sc2.vis.nonpriv.inqf r1, x\nst.sc3.av.nonpriv.indv x, 1");
  CHECK(code(vulkan(" ld.atom.sg.sc0 r0, x ; st.atom.rel.wg.sc0.semsc0.semsc1.semav x, 1 ;")) ==
        "ld.relaxed.wg.sc0.vis.nonpriv.insg r0, x\n"
        "st.release.wg.sc0.semsc0.semsc1.av.semav.nonpriv.inwg x, 1");
  CHECK(code(vulkan(" rmw.atom.acq_rel.dv.sc0.semsc0.add r0, x, 1 ; rmw.atom.qf.sc0 r0, x, 2 ;"
                    " rmw.atom.wg.sc0.cas r0, x, 1, 2 ;")) ==
        "atom.acq_rel.agent.add.sc0.semsc0.av.vis.nonpriv.indv r0, x, 1\n"
        "atom.relaxed.agent.exch.sc0.av.vis.nonpriv.inqf r0, x, 2\n"
        "atom.relaxed.wg.cas.sc0.av.vis.nonpriv.inwg r0, x, 1, 2");
}

TEST_CASE("VULKAN: barriers, operations of the device, registers and labels", "[vulkan]") {
  CHECK(code(vulkan(" membar.acq.dv.semsc0.semvis ; cbar.acq_rel.wg.semsc0 3 ; cbar.wg.semsc1 3 ; avdevice ;"
                    " visdevice ; ld.sc0 r2, 1 ; LC00: ble r2, 0, LC00 ;")) ==
        "fence.acquire.agent.semsc0.semvis.indv\nbarrier.acq_rel.wg.semsc0.inwg 3\nbarrier.inwg 3\n"
        "avdevice\nvisdevice\nmov r2, 1\nbge 0, r2, L6");
}

TEST_CASE("VULKAN: work-groups are told apart by queue family, too", "[vulkan]") {
  const Program program =
      parse(vulkan("", " P0@sg 1,wg 0,qf 0 | P1@sg 0,wg 0,qf 1 | P2@sg 2, wg 0, qf 0")).program;
  CHECK(program.threads[0].placement.wg != program.threads[1].placement.wg);
  CHECK(program.threads[0].placement.wg == program.threads[2].placement.wg);
  CHECK(program.threads[0].placement.subgroup == 1);
  CHECK(program.threads[1].placement.queue_family == 1);
}

TEST_CASE("VULKAN: what is wrong is named in its place", "[vulkan]") {
  const Diagnostic error = error_of(vulkan(" ld.sc0.viss r0, x ;"));
  CHECK(error.message == "unknown modifier 'viss'");
  CHECK(error.hint == "did you mean 'vis'?");
  CHECK(error.place == SourcePlace{4, 9});
  CHECK(message_of(vulkan(" ld r0, x ;")) == "'ld' has no storage class");
  CHECK(message_of(vulkan(" ld.sc0.sc1 r0, x ;")) == "a second storage class: 'sc1'");
  CHECK(message_of(vulkan(" ld.av.dv.sc0 r0, x ;")) == "'av' says nothing of 'ld'");
  CHECK(message_of(vulkan(" ld.vis.sc0 r0, x ;")) == "'ld.vis.sc0' needs a scope");
  CHECK(message_of(vulkan(" ld.dv.sc0 r0, x ;")) ==
        "'ld.dv.sc0' has a scope, and is neither atomic nor made available or visible");
  CHECK(message_of(vulkan(" ld.acq.dv.sc0 r0, x ;")) == "'ld.acq.dv.sc0' has an order, and is no atomic");
  CHECK(message_of(vulkan(" ld.atom.rel.dv.sc0 r0, x ;")) == "'ld' can't be release");
  CHECK(message_of(vulkan(" rmw.sc0 r0, x, 1 ;")) == "an rmw is atomic, and says so");
  CHECK(message_of(vulkan(" membar.dv.semsc0 ;")) == "'membar.dv.semsc0' needs an order");
  CHECK(message_of(vulkan(" membar.acq.dv.semsc0.semav ;")) == "'semav' belongs to a release");
  CHECK(message_of(vulkan(" cbar.acq_rel.wg.semsc0 ;")) == "'cbar' takes 1 to 3 operands, found 0");
  CHECK(message_of(vulkan(" cbar.wg 1, 1, 2 ;")) ==
        "the barrier waits for 2, and the work-group has 1 thread");
  CHECK(message_of(vulkan("", " P0@sg 0,wg 0")) == "P0 has no 'qf'");
  CHECK(message_of(vulkan("", " P0@cta 0,gpu 0")) == "unknown placement 'cta'");
  CHECK(message_of("VULKAN t\n{ }\n{ ssw 0 2; }\n P0@sg 0,wg 0,qf 0 ;\n") == "unknown thread '2'");
  CHECK(message_of("PTX t\n{ }\n{ ssw 0 1; }\n P0@cta 0,gpu 0 ;\n") ==
        "a second pair of braces belongs to tests in Vulkan");
  CHECK(message_of("HRF t\n{ }\n P0@wg 0,agent 0 ;\n barrier.acquire.wg ;\nexists (true)") ==
        "a barrier has no order and no scope of its own");
}

TEST_CASE("other names for a location", "[vulkan]") {
  const auto of = [](const std::string& initial) { return vulkan("", " P0@sg 0,wg 0,qf 0", initial); };
  const Program program = parse(of("x = 3; y aliases x; z aliases y;")).program;
  REQUIRE(program.locations.size() == 3);
  CHECK(program.locations[1].memory == 0);
  CHECK(program.locations[2].memory == 0);
  CHECK(program.locations[2].address == -1);
  CHECK(program.locations[2].initial_value == 3);
  CHECK(message_of(of("x aliases x;")) == "'x' is another name for itself");
  CHECK(message_of(of("y aliases x; x aliases y;")) == "'x' has memory already");
  CHECK(message_of(of("y @ surface aliases x;")) == "proxies belong to PTX");
  CHECK(message_of("OPENCL t\n{ y aliases x; }\nP0 (global int* x) { }") ==
        "another name for a location belongs to tests in PTX and Vulkan");
}

TEST_CASE("VULKAN: release and acquire hand over what is available and visible", "[vulkan]") {
  const std::string release = "st.atom.rel.qf.sc0.semsc0 y, 1";
  const std::string acquire = "ld.atom.acq.qf.sc0.semsc0 r0, y";
  CHECK(judged(handed_over("st.av.qf.sc0 x, 1", release, acquire, "ld.vis.qf.sc0 r1, x")) == never);
  // Private accesses, available to too few, not visible, in another class, in another queue family.
  CHECK(judged(handed_over("st.sc0 x, 1", release, acquire, "ld.vis.qf.sc0 r1, x")) == racy);
  CHECK(judged(handed_over("st.nonpriv.sc0 x, 1", release, acquire, "ld.vis.qf.sc0 r1, x")) == racy);
  CHECK(judged(handed_over("st.av.wg.sc0 x, 1", release, acquire, "ld.vis.qf.sc0 r1, x")) == racy);
  CHECK(judged(handed_over("st.av.qf.sc0 x, 1", release, acquire, "ld.nonpriv.sc0 r1, x")) == racy);
  CHECK(judged(handed_over("st.av.qf.sc1 x, 1", release, acquire, "ld.vis.qf.sc1 r1, x")) == racy);
  CHECK(judged(handed_over("st.av.qf.sc0 x, 1", release, acquire, "ld.vis.qf.sc0 r1, x", "sg 0,wg 1,qf 1")) ==
        racy);
  // By semantics in place of the accesses.
  CHECK(judged(handed_over("st.nonpriv.sc0 x, 1", "st.atom.rel.qf.sc0.semsc0.semav y, 1",
                           "ld.atom.acq.qf.sc0.semsc0.semvis r0, y", "ld.nonpriv.sc0 r1, x")) == never);
  CHECK(judged(handed_over("st.nonpriv.sc0 x, 1", "st.atom.rel.qf.sc0.semsc1.semav y, 1",
                           "ld.atom.acq.qf.sc0.semsc0.semvis r0, y", "ld.nonpriv.sc0 r1, x")) == racy);
}

TEST_CASE("VULKAN: fences order through the atomics next to them, by storage class", "[vulkan]") {
  const auto fenced = [](const std::string& semantics, const std::string& flag) {
    return vulkan(" st.av.dv.sc0 x, 1 | ld.atom.wg." + flag + " r0, y ;\n membar.rel.wg." + semantics +
                      " | membar.acq.wg." + semantics + " ;\n st.atom.wg." + flag +
                      " y, 1 | ld.vis.dv.sc0 r1, x ;\nfilter (P1:r0 == 1)\nexists (P1:r1 == 0)",
                  " P0@sg 0,wg 0,qf 0 | P1@sg 1,wg 0,qf 0");
  };
  CHECK(judged(fenced("semsc0", "sc0")) == never);
  CHECK(judged(fenced("semsc0.semsc3", "sc3")) == never);
  CHECK(judged(fenced("semsc0", "sc1")) == racy);
  CHECK(judged(fenced("semsc1", "sc1")) == racy);
}

TEST_CASE("VULKAN: control barriers synchronize where they have an order", "[vulkan]") {
  const auto met = [](const std::string& barrier, const std::string& p1) {
    return vulkan(" st.nonpriv.sc0 x, 1 | " + barrier + " ;\n " + barrier +
                      " | ld.nonpriv.sc0 r0, x ;\nexists (P1:r0 == 0)",
                  " P0@sg 0,wg 0,qf 0 | P1@" + p1);
  };
  CHECK(judged(met("cbar.acq_rel.wg.semsc0.semav.semvis 1", "sg 1,wg 0,qf 0")) == never);
  CHECK(judged(met("cbar.acq_rel.sg.semsc0.semav.semvis 1", "sg 0,wg 0,qf 0")) == never);
  CHECK(judged(met("cbar.acq_rel.sg.semsc0.semav.semvis 1", "sg 1,wg 0,qf 0")) == racy);
  CHECK(judged(met("cbar.wg.semsc0 1", "sg 1,wg 0,qf 0")) == racy);
  CHECK(judged(met("cbar.acq_rel.dv.semsc0.semav.semvis 1", "sg 0,wg 1,qf 0")) == racy);
}

TEST_CASE("VULKAN: chains of availability are for devices that have them", "[vulkan]") {
  const std::string chain = vulkan(
      " st.av.sg.sc0 x, 1 | ld.atom.acq.sg.sc0.semsc0 r0, f | ld.atom.acq.wg.sc0.semsc0 r0, g ;\n"
      " st.atom.rel.sg.sc0.semsc0 f, 1 | st.atom.rel.wg.sc0.semsc0.semav g, 1 | ld.vis.wg.sc0 r1, x ;\n"
      "filter (P1:r0 == 1 /\\ P2:r0 == 1)\nexists (P2:r1 == 0)",
      " P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 0,qf 0 | P2@sg 1,wg 0,qf 0");
  CHECK(judged(chain) == never);
  CHECK(judged(chain, "vulkan-nochains") == racy);
}

TEST_CASE("VULKAN: what the API orders needs the device domain", "[vulkan]") {
  const auto ordered = [](const std::string& middle, const std::string& first, const std::string& last,
                          const std::string& question) {
    return "VULKAN t\n{ }\n{ ssw 0 1; ssw 1 2; }\n P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 0,qf 1 | P2@sg 0,wg 0,qf 2 "
           ";\n " +
           first + " | " + middle + " | " + last + " ;\n | visdevice | ;\nexists (" + question + ")\n";
  };
  CHECK(judged(ordered("avdevice", "st.sc0 x, 1", "ld.sc0 r0, x", "P2:r0 == 0")) == never);
  CHECK(judged(ordered("visdevice", "st.sc0 x, 1", "ld.sc0 r0, x", "P2:r0 == 0")) == racy);
  CHECK(judged(ordered("avdevice", "st.sc0 x, 1", "st.sc0 x, 2", "x == 1")) == never);
  // ssw is not transitive by itself, but a read before a write needs no more.
  CHECK(judged(ordered("avdevice", "ld.sc0 r0, x", "st.sc0 x, 1", "P0:r0 == 1")) == never);
}

TEST_CASE("VULKAN: references to one location are different ones to shader operations", "[vulkan]") {
  const auto through = [](const std::string& name) {
    return vulkan(" st.sc0 x, 1 ;\n ld.sc0 r0, " + name + " ;\nexists (P0:r0 == 0)", " P0@sg 0,wg 0,qf 0",
                  "x = 0; y aliases x;");
  };
  CHECK(judged(through("x")) == never);
  CHECK(judged(through("y")) == racy);
  CHECK(judged(vulkan(" st.sc0 y, 1 ;\nexists (x == 1)", " P0@sg 0,wg 0,qf 0", "y aliases x;")) == sometimes);
}

TEST_CASE("VULKAN: atomics count, and release sequences go on through them", "[vulkan]") {
  const std::string two = " P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0";
  CHECK(judged(vulkan(" rmw.atom.dv.sc0.add r0, x, 1 | rmw.atom.dv.sc0.add r0, x, 1 ;\n"
                      "exists (P0:r0 == 0 /\\ P1:r0 == 0)",
                      two)) == never);
  CHECK(judged(vulkan(" rmw.atom.wg.sc0.add r0, x, 1 | rmw.atom.wg.sc0.add r0, x, 1 ;\n"
                      "exists (P0:r0 == 0 /\\ P1:r0 == 0)",
                      two)) == racy);
  CHECK(judged(vulkan(" st.av.dv.sc0 x, 1 | rmw.atom.dv.sc0 r0, y, 2 | ld.atom.acq.dv.sc0.semsc0 r0, y ;\n"
                      " st.atom.rel.dv.sc0.semsc0 y, 1 | | ld.vis.dv.sc0 r1, x ;\n"
                      "filter (P1:r0 == 1 /\\ P2:r0 == 2)\nexists (P2:r1 == 0)",
                      two + " | P2@sg 0,wg 2,qf 0")) == never);
}

TEST_CASE("memory systems and the search for races take no storage classes", "[vulkan]") {
  const Program program = parse(vulkan(" st.sc0 x, 1 ;")).program;
  CHECK_THROWS_WITH(analyse_races(program), Catch::Contains("which models alone understand"));
}
