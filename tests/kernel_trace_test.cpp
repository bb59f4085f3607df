// Kernel traces: what is read from them, counted by hand, and what is said of files that are none.
#include "refimpl/workloads/kernel_trace.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "checker/support/process.hpp"
#include "refimpl/comparison.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

const std::atomic<bool> never_interrupted{false};
const std::string example = LOCKSTEP_SOURCE_DIR "/examples/kernel-trace/kernelslist.g";

std::string header(const std::string& grid, const std::string& block, const std::string& version = "4") {
  return "-kernel name = k\n-kernel id = 1\n-grid dim = " + grid + "\n-block dim = " + block +
         "\n-shmem base_addr = 0x00007f3000000000\n-local mem base_addr = 0x00007f3100000000\n"
         "-accelsim tracer version = " +
         version + "\n\n#format\n\n";
}
std::string block(const std::vector<std::vector<std::string>>& warps) {
  std::string text = "#BEGIN_TB\n\nthread block = 0,0,0\n\n";
  for (std::size_t w = 0; w < warps.size(); ++w) {
    text += "warp = " + std::to_string(w) + "\ninsts = " + std::to_string(warps[w].size()) + "\n";
    for (const std::string& line : warps[w]) text += line + "\n";
    text += "\n";
  }
  return text + "#END_TB\n";
}
std::string one_warp(const std::vector<std::string>& lines) {
  return header("(1,1,1)", "(32,1,1)") + block({lines});
}

WorkloadShape small_shape(int accesses = 4) {
  WorkloadShape shape;
  shape.cus = 2;
  shape.waves_per_cu = 4;
  shape.accesses_per_wave = accesses;
  return shape;
}

Workload built(const std::string& text, const WorkloadShape& shape = small_shape()) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "kernel-1.traceg").string();
  write_file(file, text);
  return kernel_trace(file).build(shape);
}
std::string error_of(const std::string& text, const WorkloadShape& shape = small_shape()) {
  try {
    built(text, shape);
  } catch (const BadInput& error) {
    const Diagnostic& d = error.diagnostic();
    return std::to_string(d.place.line) + ": " + d.message;
  }
  return "no error";
}

// The code of the kernel's waves, without slots, one instruction a word: "ld.1" is a load in slot 1.
std::vector<std::string> codes(const Workload& workload) {
  std::vector<std::string> all;
  for (const Thread& thread : workload.program.threads) {
    if (thread.slot_of >= 0 || thread.name.find(".P") == std::string::npos) continue;
    std::string text;
    for (const Instruction& i : thread.code) {
      text += text.empty() ? "" : " ";
      switch (i.opcode) {
        case Opcode::load:
          text += "ld";
          break;
        case Opcode::store:
          text += "st";
          break;
        case Opcode::rmw:
          text += "rmw";
          break;
        case Opcode::fence:
          text += "fence";
          break;
        case Opcode::barrier:
          text += "barrier";
          break;
        case Opcode::dispatch:
          text += "dispatch";
          break;
        case Opcode::await:
          text += "await" + std::to_string(i.a.value);
          break;
        default:
          text += "x";
          break;
      }
      if (i.slot > 0) text += "." + std::to_string(i.slot);
    }
    // What every wave ends with.
    const std::string last = " await15";
    all.push_back(text.ends_with(last) ? text.substr(0, text.size() - last.size()) : text);
  }
  return all;
}

const std::string far_load = "0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f0000000000 4";

}  // namespace

TEST_CASE("Kernel traces: a warp's lanes are coalesced to words, whatever form their addresses have") {
  // 32 lanes of 4 bytes are two words of 64 bytes.
  const std::string strided = "0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f0000000000 4";
  std::string listed = "0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 0";
  std::string differences = "0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 2 0x7f0000000000";
  for (int lane = 0; lane < 32; ++lane) {
    char address[32];
    std::snprintf(address, sizeof address, " 0x7f00000000%02x", 4 * lane);
    listed += address;
    if (lane > 0) differences += " 4";
  }
  const std::string with_first = differences.substr(0, differences.find(" 4", 40)) + " 0" +
                                 differences.substr(differences.find(" 4", 40));
  for (const std::string& line : {strided, listed, differences, with_first}) {
    INFO(line);
    const Workload workload = built(one_warp({line}));
    REQUIRE(workload.program.locations.size() == 2);
    CHECK(workload.program.locations[0].name == "0x7f0000000000");
    CHECK(workload.program.locations[1].name == "0x7f0000000040");
    CHECK(codes(workload) == std::vector<std::string>{"dispatch ld.1 ld.2"});
  }
  const auto words = [](const std::string& line) { return built(one_warp({line})).program.locations.size(); };
  CHECK(words("0000 ffffffff 1 R4 LDG.E.128.SYS 1 R2 16 1 0x7f0000000000 16") == 8);
  CHECK(words("0000 ffffffff 1 R4 LDG.E.64.SYS 1 R2 4 1 0x7f0000000000 8") == 4);  // the opcode wins
  CHECK(words("0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f0000000000 0") == 1);
  CHECK(words("0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f0000000000 4096") == 32);
  CHECK(words("0000 0000000f 1 R4 LDG.E.SYS 1 R2 4 1 0x7f000000003c 4") == 2);
  CHECK(words("0000 00000001 1 R4 LDG.E.64.SYS 1 R2 8 0 0x7f000000003c") == 2);  // over the edge of a word
  CHECK(words("0000 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f0000000080 -4") == 3);
}

TEST_CASE("Kernel traces: words of a page lie where the trace has them, pages behind one another") {
  const Workload workload = built(one_warp({"0000 00000001 1 R4 LDG.E.SYS 1 R2 4 0 0x7f0000000140",
                                            "0010 00000001 1 R5 LDG.E.SYS 1 R2 4 0 0x123456789000",
                                            "0020 00000001 1 R6 LDG.E.SYS 1 R2 4 0 0x7f0000000180"}));
  const auto& at = workload.program.locations;
  REQUIRE(at.size() == 3);
  CHECK(at[0].block == 1 + 0x140 / 128);
  CHECK(at[0].word == 1);
  CHECK(at[2].block == 1 + 0x180 / 128);
  CHECK(at[2].word == 0);
  CHECK(at[1].block == 1 + (0x200000 + (0x123456789000 & 0x1fffff)) / 128);
}

TEST_CASE("Kernel traces: instructions wait for what their registers need, and for nothing else") {
  const auto code = [](const std::vector<std::string>& lines) {
    return codes(built(one_warp(lines))).front();
  };
  const std::string other_load = "0010 00000001 1 R5 LDG.E.SYS 1 R3 4 0 0x7f0000001000";
  CHECK(code({far_load, other_load, "0020 ffffffff 1 R6 FADD 2 R4 R5 0"}) ==
        "dispatch ld.1 ld.2 ld.3 await7 x");
  CHECK(code({far_load, other_load, "0020 ffffffff 1 R6 FADD 1 R5 0"}) == "dispatch ld.1 ld.2 ld.3 await4 x");
  CHECK(code({far_load, other_load, "0020 ffffffff 1 R6 FADD 2 R7 RZ 0"}) == "dispatch ld.1 ld.2 ld.3 x");
  // A register that is loaded again, an address that was loaded, and a word that was written.
  CHECK(code({far_load, "0010 00000001 1 R4 LDG.E.SYS 1 R3 4 0 0x7f0000001000"}) ==
        "dispatch ld.1 ld.2 await3 ld.3");
  CHECK(code({far_load, "0010 00000001 1 R5 LDG.E.SYS 1 R4 4 0 0x7f0000001000"}) ==
        "dispatch ld.1 ld.2 await3 ld.3");
  CHECK(code({"0000 00000001 0 STG.E.SYS 2 R2 R6 4 0 0x7f0000000000",
              "0010 00000001 1 R5 LDG.E.SYS 1 R3 4 0 "
              "0x7f0000000004"}) == "dispatch st.1 await1 ld.2");
  CHECK(code({"0000 00000001 1 R5 ATOMG.E.ADD.STRONG.GPU 2 R2 R6 4 0 0x7f0000000000",
              "0010 00000001 0 RED.E.MAX.STRONG.GPU 2 R2 R6 4 0 0x7f0000000100",
              "0020 ffffffff 0 MEMBAR.SC.GPU 0 0", far_load}) ==
        "dispatch rmw.1 rmw.2 await3 fence ld.3 ld.4");
  // With one access under way there are no slots.
  CHECK(codes(built(one_warp({far_load}), small_shape(1))).front() == "dispatch ld ld");
}

TEST_CASE("Kernel traces: orders, scopes and functions are those of the opcode") {
  const auto only = [](const std::string& opcode) {
    const Workload workload = built(one_warp({"0000 00000001 0 " + opcode + " 2 R2 R6 4 0 0x7f0000000000"}));
    for (const Thread& thread : workload.program.threads) {
      for (const Instruction& i : thread.code) {
        if (is_memory(i.opcode)) return i;
      }
    }
    return Instruction{};
  };
  CHECK(only("STG.E.SYS").order == Order::plain);
  CHECK(only("STG.E.STRONG.SYS").order == Order::relaxed);
  CHECK(only("STG.E.STRONG.SYS").scope == Scope::system);
  CHECK(only("STG.E.STRONG.GPU").scope == Scope::agent);
  CHECK(only("RED.E.ADD.STRONG.GPU").order == Order::comm);
  CHECK(only("RED.E.ADD.STRONG.GPU").scope == Scope::agent);
  CHECK(only("ATOMG.E.CAS.STRONG.SYS").order == Order::relaxed);
  CHECK(only("ATOMG.E.CAS.STRONG.SYS").rmw == RmwFunction::compare_swap);
  CHECK(only("RED.E.MIN.S32.STRONG.GPU").rmw == RmwFunction::minimum);
}

TEST_CASE("Kernel traces: shared and local memory take time and access nothing, also by generic addresses") {
  const auto code = [](const std::string& line) { return codes(built(one_warp({line}))).front(); };
  CHECK(code("0000 ffffffff 1 R4 LDS 1 R2 4 1 0x7f3000000000 4") == "dispatch x");
  CHECK(code("0000 ffffffff 0 STL 1 R2 4 1 0x7f3100000000 4") == "dispatch x");
  CHECK(code("0000 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f3000000100 4") == "dispatch x");
  CHECK(code("0000 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f3100000100 4") == "dispatch x");
  CHECK(code("0000 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f2f00000000 4") == "dispatch ld.1 ld.2");
  CHECK(code("0000 00000000 1 R4 LDG.E 1 R2 4 1") == "dispatch x");  // of no lane
}

TEST_CASE("Kernel traces: blocks beyond those that fit follow in the places of earlier ones") {
  // Two CUs with room for two blocks of two warps each: places 0 to 3.
  std::string text = header("(6,1,1)", "(64,1,1)");
  for (int b = 0; b < 6; ++b) {
    const std::string load = "0000 00000001 1 R4 LDG.E.SYS 1 R2 4 0 0x7f00000" + std::to_string(b) + "0000";
    text += block({{load}, std::vector<std::string>(static_cast<std::size_t>(b), "0000 ffffffff 0 NOP 0 0")});
  }
  const Workload workload = built(text);
  const std::vector<std::string> all = codes(workload);
  REQUIRE(all.size() == 8);
  CHECK(all[0] == "dispatch ld.1 await1 ld.2");
  CHECK(all[1] == "dispatch x x x x");
  CHECK(all[3] == "dispatch x x x x x x");
  CHECK(all[4] == "dispatch ld.1");
  CHECK_THAT(error_of(header("(1,1,1)", "(256,1,1)") + block({})),
             Catch::Contains("a thread block of k has 8 warps, and a CU of this machine 4 waves"));
}

TEST_CASE("Kernel traces: nobody waits at a barrier for a warp that has ended") {
  const std::string barrier = "0000 ffffffff 0 BAR.SYNC 0 0";
  const std::string text = header("(2,1,1)", "(64,1,1)") +
                           block({{barrier, barrier, "0010 ffffffff 0 EXIT 0 0"}, {barrier}}) +
                           block({{}, {barrier}});
  const std::vector<std::string> all = codes(built(text));
  CHECK(all == std::vector<std::string>{"dispatch barrier barrier x", "dispatch barrier barrier",
                                        "dispatch barrier", "dispatch barrier"});
}

TEST_CASE("Kernel traces: what is no trace is refused with its place") {
  const std::string good = one_warp({far_load, "0010 ffffffff 0 EXIT 0 0"});
  CHECK(error_of(good) == "no error");
  const auto with = [&](const std::string& from, const std::string& to) {
    return error_of(changed(good, from, to));
  };
  CHECK(error_of("") == "0: the file ends within its header");
  CHECK_THAT(error_of(good.substr(0, good.find("#END_TB"))),
             Catch::Contains("the file ends within a thread block"));
  CHECK_THAT(error_of(good.substr(0, good.find("0010 "))),
             Catch::Contains("after 1 of 2 instructions of a warp"));
  CHECK_THAT(with("insts = 2", "insts = 3"),
             Catch::Contains("the warp has 2 instructions, and should have 3"));
  CHECK_THAT(with("insts = 2", "insts = 1"), Catch::Contains("expected 'warp = '"));
  CHECK_THAT(with("insts = 2", "insts = -2"), Catch::Contains("'-2' is no insts"));
  CHECK_THAT(with("(1,1,1)", "(2,1,1)"), Catch::Contains("after 1 of 2 thread blocks"));
  CHECK_THAT(with("(1,1,1)", "(1,1)"), Catch::Contains("expected '(x,y,z)'"));
  CHECK_THAT(with("(1,1,1)", "(9999999,9999999,1)"), Catch::Contains("too large"));
  CHECK_THAT(with("-grid dim", "-grid din"), Catch::Contains("the header says no 'grid dim'"));
  CHECK_THAT(with("tracer version = 4", "tracer version = 9"), Catch::Contains("version '9' is not known"));
  CHECK_THAT(with("-accelsim tracer version = 4\n", ""),
             Catch::Contains("says no 'accelsim tracer version'"));
  CHECK_THAT(with("warp = 0", "warp = 1"), Catch::Contains("'1' is no warp"));
  CHECK_THAT(with("0000 ffffffff", "0000 1ffffffff"), Catch::Contains("more lanes than a warp"));
  CHECK_THAT(with("0000 ffffffff", "00x0 ffffffff"), Catch::Contains("'00x0' is no PC"));
  CHECK_THAT(with("0x7f0000000000 4", "0x7f0000000000"), Catch::Contains("the line ends before stride"));
  CHECK_THAT(with("0x7f0000000000 4", "0x7f0000000000 4 4"),
             Catch::Contains("'4' is behind the instruction's end"));
  CHECK_THAT(with("4 1 0x7f0000000000 4", "4 3 0x7f0000000000 4"),
             Catch::Contains("'3' is no form of addresses"));
  CHECK_THAT(with("4 1 0x7f0000000000 4", "4 2 0x7f0000000000 4 4"),
             Catch::Contains("2 differences of addresses for 31 further lanes"));
  CHECK_THAT(with("4 1 0x7f0000000000 4", "4 1 0xffffffffffffffff 4"), Catch::Contains("is too large"));
  CHECK_THAT(with(" 4 1 0x7f0000000000 4", " 0"), Catch::Contains("'LDG.E.SYS' has no addresses"));
  CHECK_THAT(with("LDG.E.SYS", "ATOMG.E.SYS"), Catch::Contains("'ATOMG.E.SYS' says no function"));
  CHECK_THAT(with("EXIT", "BAR.ARV"), Catch::Contains("barriers that a warp does not wait at"));
  CHECK_THAT(error_of(good + "#BEGIN_TB\n"), Catch::Contains("more thread blocks than the grid's 1"));
  CHECK_THAT(with("EXIT", std::string(1, '\0')), Catch::Contains("NUL byte"));
  // Version 2 has block and warp in front.
  CHECK_THAT(with("tracer version = 4", "tracer version = 2"), Catch::Contains("'ffffffff' is no block y"));
}

TEST_CASE("Kernel traces: a list names kernels that are there, packed or not") {
  const TemporaryFolder folder;
  const std::string list = (folder.path() / "kernelslist.g").string();
  const auto error = [&] {
    try {
      kernel_trace(list).build(small_shape());
    } catch (const BadInput& bad) {
      return bad.diagnostic().message;
    }
    return std::string("none");
  };
  CHECK(error() == "no such file");
  write_file(list, "MemcpyHtoD,0x00007f0000000000,512\n");
  CHECK(error() == "the list names no kernel");
  write_file(list, "MemcpyHtoD,0x00007f0000000000,512\nkernel-1.traceg\nkernel-1.traceg\n");
  CHECK_THAT(error(), Catch::Contains("there is no file") && Catch::Contains("kernel-1.traceg"));
  const std::string kernel = (folder.path() / "kernel-1.traceg").string();
  write_file(kernel, one_warp({far_load}));
  CHECK(error() == "none");
  CHECK(codes(kernel_trace(list).build(small_shape())).size() == 2);
  if (std::system("command -v xz >/dev/null 2>&1") != 0) {
    WARN("not tried: there is no xz");
    return;
  }
  REQUIRE(std::system(("xz '" + kernel + "'").c_str()) == 0);
  CHECK(codes(kernel_trace(list).build(small_shape())).size() == 2);
  CHECK(codes(kernel_trace(kernel + ".xz").build(small_shape())).size() == 1);
  write_file(kernel + ".xz", "this is nothing that xz has packed");
  CHECK(error() == "xz cannot unpack it");
}

TEST_CASE("Kernel traces: the example runs on every system, and its accesses are counted") {
  CHECK(names_kernel_trace(example));
  CHECK_FALSE(names_kernel_trace("copy"));
  SimulationRequest request;
  request.machine = read_machine(machines_folder + "/apu.toml", machines_folder);
  request.systems = {"sc", "write-through", "quick-release", "rfo", "lab", "halcone"};
  const ComparedRun run = run_workload(request, example, never_interrupted);
  for (const SystemResult& result : run.results) {
    INFO(result.system);
    CHECK(result.end == SimulationEnd::finished);
    CHECK(result.waiting.empty());
    for (const Statistics::Operation& operation : result.statistics.operations) {
      INFO(operation.name);
      // Of 8 warps: two words of x, y and the sum's input; two of what is stored; an update a block.
      if (operation.name == "load") CHECK(operation.count == 8 * (2 + 2 + 2));
      if (operation.name == "store") CHECK(operation.count == 8 * 2);
      if (operation.name == "rmw") CHECK(operation.count == 2);
    }
  }
}
