// What follows from a program before it runs: the range of its values, its place on the machine, and whether
// the built state can hold it.
#include "checker/needs/values.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/language/test.hpp"
#include "checker/needs/placement.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"
#include "checker/systems/sizes.hpp"

using namespace lockstep;

namespace {

// One thread's code in the HRF dialect, a line each.
Program one_thread(const std::string& initial, const std::vector<std::string>& code) {
  std::string text = "HRF t\n{ " + initial + " }\n P0@wg 0,agent 0 ;\n";
  for (const std::string& line : code) text += " " + line + " ;\n";
  return parse_litmus(text + "forall (true)\n", "t.litmus").program;
}

Program placed(const std::string& columns, int threads) {
  std::string code;
  for (int t = 0; t < threads; ++t) code += std::string(t == 0 ? " " : "| ") + "st x, 1 ";
  return parse_litmus("HRF t\n{ x = 0; }\n " + columns + " ;\n" + code + ";\nforall (true)\n", "t.litmus")
      .program;
}

std::string range_of(const Program& program) {
  const ValueRange range = values_of(program);
  return std::to_string(range.low) + ".." + std::to_string(range.high);
}
std::string range_of(const std::string& initial, const std::vector<std::string>& code) {
  return range_of(one_thread(initial, code));
}

// Runs the program on flat memory with the range that its text tells; throws if it leaves it.
Verdict run(const Program& program) {
  const auto model = find_system("sc").build(std::make_shared<const Program>(program), {});
  return explore(*model, {}).verdict;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const BadInput& error) {
    return error.diagnostic().message;
  }
  return "no error";
}
std::string hint_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const BadInput& error) {
    return error.diagnostic().hint;
  }
  return "no error";
}

std::unique_ptr<ProgramModel> build(const Program& program, const std::string& system,
                                    const std::map<std::string, int>& sizes) {
  SystemOptions options;
  options.sizes = sizes;
  return find_system(system, options).build(std::make_shared<const Program>(program), options);
}

}  // namespace

// ---- values ----------------------------------------------------------------------------------------------

TEST_CASE("a program that only copies takes the values in its text") {
  CHECK(range_of("x = 0;", {"ld r0, x"}) == "0..1");  // a bit at least
  CHECK(range_of("x = 5;", {"ld r0, x"}) == "0..5");
  CHECK(range_of("x = -3;", {"st x, 2"}) == "-3..2");
  CHECK(range_of("x = 0; P0:r0 = 9;", {"st x, r0"}) == "0..9");
  CHECK(range_of("x = 0;", {"atom.relaxed.agent.exch r0, x, 4"}) == "0..4");
  CHECK(range_of("x = 0;", {"atom.relaxed.agent.cas r0, x, 2, 7"}) == "0..7");
  CHECK(range_of("x = 0;", {"mov r0, 3", "bne r0, 6, END", "END:"}) == "0..6");
  CHECK(range_of("x = 2;", {"atom.relaxed.agent.min r0, x, 1", "max r1, r0, 3"}) == "0..3");
}

TEST_CASE("an increment that wraps stays at or below its operand, in loops too") {
  CHECK(range_of("x = 0;", {"L: red.relaxed.agent.inc x, 3", "goto L"}) == "0..3");
}

TEST_CASE("a sum with a constant outside of loops widens the range by the constant") {
  CHECK(range_of("x = 2;", {"atom.relaxed.agent.add r0, x, 3"}) == "-3..6");
  CHECK(range_of("x = 2;", {"ld r0, x", "add r1, r0, 1", "add r2, r1, 1"}) == "-2..4");
  CHECK(range_of("x = 2;", {"ld r0, x", "sub r1, r0, 4"}) == "-4..8");
}

TEST_CASE("a sum in a loop, of two registers, or a product takes 16 bits") {
  CHECK(range_of("x = 0;", {"L: red.relaxed.agent.add x, 1", "goto L"}) == "-32768..32767");
  CHECK(range_of("x = 0;", {"L: ld r0, x", "add r0, r0, 1", "goto L"}) == "-32768..32767");
  CHECK(range_of("x = 0;", {"ld r0, x", "add r1, r0, r0"}) == "-32768..32767");
  CHECK(range_of("x = 0;", {"ld r0, x", "mul r1, r0, 2"}) == "-32768..32767");
  CHECK(range_of("x = 0;", {"ld r0, x", "atom.relaxed.agent.add r1, x, r0"}) == "-32768..32767");
  CHECK(range_of("x = 0;", {"L: ld r0, x", "beq r0, 0, L"}) == "0..1");  // a loop that computes nothing
}

TEST_CASE("bits of values below a power of two stay below it") {
  CHECK(range_of("x = 5;", {"atom.relaxed.agent.or r0, x, 2"}) == "0..7");
  CHECK(range_of("x = 3;", {"ld r0, x", "xor r1, r0, 1"}) == "0..3");
  CHECK(range_of("x = 4;", {"ld r0, x", "and r1, r0, 1"}) == "0..7");
  CHECK(range_of("x = -3;", {"ld r0, x", "or r1, r0, 1"}) == "-4..3");
  CHECK(range_of("x = 0;", {"ld r0, x", "mul r0, r0, 2", "and r0, r0, 1"}) == "-32768..32767");
}

TEST_CASE("no program without loops leaves the range that its text tells") {
  const auto stays = [](const std::string& initial, const std::vector<std::string>& code) {
    std::string text;
    for (const std::string& line : code) text += line + "; ";
    INFO(initial << " " << text);
    CHECK_NOTHROW(run(one_thread(initial, code)));
  };
  stays("x = 5;", {"ld r0, x", "add r0, r0, 7", "sub r0, r0, 20", "st x, r0"});
  stays("x = 5; y = 2;", {"ld r0, x", "or r0, r0, 2", "xor r0, r0, 15", "st y, r0"});
  stays("x = 1;", {"atom.relaxed.agent.sub r0, x, 5", "atom.relaxed.agent.sub r0, x, 5"});
  stays("x = 7;", {"ld r0, x", "and r0, r0, -2", "st x, r0"});
  // The constant is on the left.
  stays("x = 5;", {"ld r0, x", "sub r1, 1, r0", "st x, r1"});
  stays("x = -5;", {"ld r0, x", "sub r1, 1, r0", "st x, r1"});
  // A sum after bits: 5 | 2 = 7, and one more.
  stays("x = 5;", {"ld r0, x", "or r0, r0, 2", "add r0, r0, 1", "st x, r0"});
  stays("x = -5;", {"ld r0, x", "and r0, r0, -2", "sub r0, r0, 3", "st x, r0"});
}

TEST_CASE("words from one end of 32 bits to the other are kept") {
  const Program program = one_thread("x = -2147483648;", {"ld r0, x", "st x, 2147483647", "ld r1, x"});
  CHECK(range_of(program) == "-2147483648..2147483647");
  const auto model = build(program, "sc", {});
  std::vector<std::int32_t> registers;
  ExploreOptions options;
  options.on_end = [&](const std::uint64_t* state) {
    registers = {model->final_register(state, 0, 0), model->final_register(state, 0, 1)};
  };
  CHECK(explore(*model, options).verdict == Verdict::holds);
  CHECK(registers == std::vector<std::int32_t>{INT32_MIN, INT32_MAX});
}

TEST_CASE("a range that is given is the one that is used") {
  const Program program = one_thread("x = 0;", {"L: red.relaxed.agent.add x, 1", "goto L"});
  SystemOptions options;
  options.value_range = ValueRange{0, 6};
  const auto model = find_system("sc").build(std::make_shared<const Program>(program), options);
  CHECK_THROWS_AS(explore(*model, {}), ValueOutOfRange);
}

// ---- places ----------------------------------------------------------------------------------------------

TEST_CASE("work-groups and agents are numbered in the order in which threads name them") {
  const PlacementTable table =
      place(placed("P0@wg 7,agent 3 | P1@host | P2@wg 2,agent 3 | P3@wg 7,agent 3 | P4@wg 2,agent 0", 5));
  CHECK(table.host == std::vector<bool>{false, true, false, false, false});
  CHECK(table.cu_of_thread ==
        std::vector<int>{0, 0, 1, 0, 2});  // a work-group of another agent is another one
  CHECK(table.agent_of_cu == std::vector<int>{0, 0, 1});
  CHECK(table.cus == 3);
  CHECK(table.agents == 2);
}

TEST_CASE("a machine has at least one of everything, and two words in a block") {
  const PlacementTable hosts = place(placed("P0@host | P1@host", 2));
  CHECK(hosts.cus == 1);
  CHECK(hosts.agents == 1);
  CHECK(hosts.agent_of_cu == std::vector<int>{0});
  CHECK(hosts.registers == 1);
  CHECK(hosts.blocks == 1);
  CHECK(hosts.words == 2);
}

TEST_CASE("blocks, words and registers are as many as the program needs") {
  const PlacementTable table =
      place(one_thread("block a b c; d = 0; e = 0;", {"ld r0, a", "ld r1, c", "ld r2, e"}));
  CHECK(table.blocks == 3);
  CHECK(table.words == 3);
  CHECK(table.registers == 3);
}

// ---- errors ----------------------------------------------------------------------------------------------

TEST_CASE("a program beyond the built capacity is refused with what it needs and what there is") {
  const auto refusal = [](const Program& program) {
    return error_of([&] { check_capacity(program, place(program)); });
  };
  const Program good = placed("P0@wg 0,agent 0 | P1@host", 2);
  CHECK(refusal(good) == "no error");

  Program threads = good;
  while (threads.threads.size() < 7) threads.threads.push_back(good.threads[1]);
  CHECK(refusal(threads) == "'t' needs 7 threads, this build holds 6");

  Program registers = good;
  registers.threads[0].registers.resize(9);
  CHECK(refusal(registers) == "'t' needs 9 registers in one thread, this build holds 8");

  Program agents = good;
  agents.threads.assign(5, good.threads[0]);
  for (int t = 0; t < 5; ++t) agents.threads[static_cast<std::size_t>(t)].placement.agent = t;
  CHECK(refusal(agents) == "'t' needs 5 agents, this build holds 4");

  Program blocks = good;
  blocks.locations[0].block = 5;
  CHECK(refusal(blocks) == "'t' needs 6 cache blocks, this build holds 5");

  Program words = good;
  words.locations[0].word = 4;
  CHECK(refusal(words) == "'t' needs 5 words in one block, this build holds 4");

  Program code = good;
  code.threads[0].code.resize(65);
  CHECK(refusal(code) == "'t' needs 65 instructions in one thread, this build holds 64");
  code.threads[0].code.resize(64);
  CHECK(refusal(code) == "no error");

  while (threads.threads.size() < 13) threads.threads.push_back(good.threads[1]);
  for (const SystemEntry& entry : systems()) {
    if (!entry.runs_programs) continue;
    CHECK_THROWS_AS(entry.build(std::make_shared<const Program>(threads), {}), BadInput);
  }
}

TEST_CASE("a size that is unknown or does not fit is refused with a remedy") {
  const Program program = placed("P0@wg 0,agent 0 | P1@wg 1,agent 0", 2);
  const auto refusal = [&](const std::map<std::string, int>& sizes) {
    return error_of([&] { build(program, "quick-release", sizes); });
  };
  CHECK(refusal({}) == "no error");
  CHECK(refusal({{"s-fifo1-entries", 4}, {"cu", 3}}) == "no error");
  CHECK(refusal({{"s-fifo1-entries", 5}}) ==
        "size s-fifo1-entries=5 is not between 1 and the built capacity 4");
  CHECK(refusal({{"link1-messages", 0}}) ==
        "size link1-messages=0 is not between 1 and the built capacity 2");
  CHECK(refusal({{"thread", 1}}) == "size thread=1 is below the 2 that the program needs");
  CHECK(refusal({{"cu", 1}}) == "size cu=1 is below the 2 that the program needs");
  CHECK(refusal({{"s-fifo1-entry", 2}}) == "unknown size 's-fifo1-entry'");
  CHECK(hint_of([&] {
          build(program, "quick-release", {{"s-fifo1-entriess", 2}});
        }) == "did you mean 's-fifo1-entries'?");
}

TEST_CASE("an unknown system, variant or fault is refused with the nearest name") {
  CHECK(error_of([] { find_system("quick-relase"); }) == "unknown system 'quick-relase'");
  CHECK(hint_of([] { find_system("quick-relase"); }) == "did you mean 'quick-release'?");
  SystemOptions options;
  CHECK(hint_of([&] { find_system("quick-release/as-print", options); }) == "did you mean 'as-printed'?");
  CHECK(hint_of([] {
          fault_mask(find_system("write-through"), std::vector<std::string>{"acquire-keeps-l3"});
        }).starts_with("did you mean 'acquire-keeps-l"));
  CHECK(find_system("quick-release/lean", options).name == "quick-release");
  CHECK(options.variant == "lean");
}

TEST_CASE("faults and variants are numbered in the order in which they are listed") {
  const SystemEntry& entry = find_system("quick-release");
  for (std::size_t i = 0; i < entry.faults.size(); ++i) {
    CHECK(fault_mask(entry, std::vector{std::string(entry.faults[i].name)}) == std::uint64_t{1} << i);
  }
  CHECK(fault_mask(entry, std::vector<std::string>{}) == 0);
  CHECK(fault_mask(entry,
                   std::vector{std::string(entry.faults[0].name), std::string(entry.faults[3].name)}) == 9);
  for (std::size_t i = 0; i < entry.variants.size(); ++i) {
    CHECK(variant_index(entry, entry.variants[i].name) == static_cast<int>(i));
  }
}
