// What the HRF dialect means, how its errors read, and that what is printed is read back as the same thing.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "checker/language/test.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"
#include "tests/texts.hpp"

using namespace lockstep;

namespace {

// A test around the part that matters.
std::string around(const std::string& rows, const std::string& threads = " P0",
                   const std::string& initial = "") {
  return "HRF t\n{ " + initial + " }\n" + threads + " ;\n" + rows + "\nexists (true)\n";
}

std::vector<Instruction> code_of(const std::string& rows, const std::string& threads = " P0",
                                 const std::string& initial = "") {
  return parse(around(rows, threads, initial)).program.threads.front().code;
}

std::string with_condition(const std::string& condition, const std::string& before = "") {
  return "HRF t\n{ x = 0; y = 0; }\n P0 | P1 ;\n ld r0, x | ld r1, y ;\n mov r1, 2 | ;\n" + before +
         "\nexists " + condition + "\n";
}

std::string canonical(const std::string& condition) {
  return parse(with_condition(condition)).condition_text;
}

SourcePlace place_of(const std::string& text) {
  return error_of(text).place;
}

LitmusTest reparsed(const LitmusTest& test) {
  return parse("HRF t\n" + print_claims(test.program) + print_program(test.program) + "exists " +
               test.condition_text + "\n");
}

// Claims of every kind, a kernel's thread, and places where no jump goes.
const std::string claiming = R"(HRF t
Section="one is inside" 1: P0 IN..OUT, P1 IN..OUT x2
Section="nobody is" 0: P0 OUT..END
Meeting="all have come": P0 IN OUT, P1 OUT END
Final="x is back": x == -1
Progress=fair:terminates, hsa-obe:livelock
{ x = 0; }
 P0             | P1@kernel 0    ;
 st x, 1        | st x, 2        ;
 IN: ld r0, x   | IN: ld r0, x   ;
 OUT: st x, -1  | OUT: st x, -1  ;
 END:           | END:           ;
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

Operand reg(int index) {
  return {true, index};
}
Operand constant(int value) {
  return {false, value};
}

const std::string message_passing = R"(HRF mp-wg
"Message passing inside one work-group"
Race=drf:no, hrf-direct:yes
Expect=sc:never, quick-release/split-fifo:sometimes, write-through:always
Tags=quick, mp
{ x = 0; flag = 0; }
 P0@wg 0,agent 0       | P1@wg 0,agent 0        ;
 st x, 1               | ld.acquire.wg r0, flag ;
 st.release.wg flag, 1 | bne r0, 1, END         ;
                       | ld r1, x               ;
                       | END:                   ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)";

}  // namespace

// ---- The head ----

TEST_CASE("a test has a dialect, a name, a doc string, verdicts and tags") {
  const LitmusTest test = parse(message_passing);
  CHECK(test.file == "t.litmus");
  CHECK(test.dialect == "HRF");
  CHECK(test.name == "mp-wg");
  CHECK(test.program.name == "mp-wg");
  CHECK(test.doc == "Message passing inside one work-group");
  CHECK(test.program.doc == test.doc);
  CHECK(test.tags == std::vector<std::string>{"quick", "mp"});

  REQUIRE(test.expected.size() == 3);
  CHECK(test.expected[0].system == "sc");
  CHECK(test.expected[0].observation == Observation::never);
  CHECK(test.expected[1].system == "quick-release/split-fifo");
  CHECK(test.expected[1].observation == Observation::sometimes);
  CHECK(test.expected[1].place == SourcePlace{4, 18});
  CHECK(test.expected[2].observation == Observation::always);

  REQUIRE(test.expected_races.size() == 2);
  CHECK(test.expected_races[0].model == "drf");
  CHECK_FALSE(test.expected_races[0].race);
  CHECK(test.expected_races[1].model == "hrf-direct");
  CHECK(test.expected_races[1].race);
}

TEST_CASE("a doc string may have several lines, and there may be several") {
  CHECK(parse("HRF t\n\"one\r\ntwo\"\n\"three\"\n{ }\n P0 ;\nexists (true)").doc == "one\ntwo\nthree");
}

TEST_CASE("doc, verdicts and tags are optional") {
  const LitmusTest test = parse(around(" st x, 1 ;"));
  CHECK(test.name == "t");
  CHECK(test.doc.empty());
  CHECK(test.tags.empty());
  CHECK(test.expected.empty());
  CHECK(test.expected_races.empty());
}

TEST_CASE("an unknown key is an error that names the nearest one") {
  const Diagnostic error = error_of("HRF t\nExpct=sc:never\n{ }\n P0 ;\nexists (true)");
  CHECK(error.message == "unknown key 'Expct'");
  CHECK(error.hint == "did you mean 'Expect'?");
  CHECK(error.place == SourcePlace{2, 1});
  CHECK(error.source_line == "Expct=sc:never");
}

TEST_CASE("verdicts are checked word by word") {
  const auto head = [](const std::string& line) { return "HRF t\n" + line + "\n{ }\n P0 ;\nexists (true)"; };
  CHECK(hint_of(head("Race=hrf-drect:no")) == "did you mean 'hrf-direct'?");
  CHECK(message_of(head("Race=drf:maybe")) == "unknown answer 'maybe'");
  CHECK(message_of(head("Race=drf")) == "'drf' needs a value: yes or no");
  CHECK(message_of(head("Race=drf:no, drf:yes")) == "'drf' is listed twice");
  CHECK(hint_of(head("Expect=sc:nevr")) == "did you mean 'never'?");
  CHECK(message_of(head("Expect=sc")) == "'sc' needs a value: never, sometimes, always or fails");
  CHECK(message_of(head("Expect=sc:never\nExpect=sc:never")) == "'sc' is listed twice");
  CHECK(message_of(head("Expect=sc:")) == "expected a value after ':', found the end of the line");
  CHECK(message_of(head("Tags=quick:yes")) == "a tag has no value");
  CHECK(message_of(head("Tags=quick mp")) == "expected ',' or the end of the line, found 'mp'");
  CHECK(message_of(head("Tags=")) == "expected an entry, found the end of the line");
}

TEST_CASE("an unknown dialect is an error that names the nearest one") {
  CHECK(message_of("HRG t\n") == "unknown dialect 'HRG'");
  CHECK(hint_of("HRG t\n") == "did you mean 'HRF'?");
  CHECK(hint_of("opencl t\n") == "did you mean 'OPENCL'?");
  CHECK(hint_of("MIPS t\n") == "one of: HRF, PTX, OPENCL, C, LAUNCHES, VULKAN, X86, X86_64, AArch64, RISCV");
}

TEST_CASE("a test needs a name on the line of its dialect") {
  CHECK(message_of("HRF\n{ }") ==
        "expected the name of the test after its dialect, found the end of the line");
  CHECK(message_of("HRF") == "expected the name of the test after its dialect, found the end of the file");
}

// ---- The initial state ----

TEST_CASE("locations have initial values, and those not mentioned start at 0") {
  const Program program =
      parse(around(" st z, 1 ;", " P0", "x = 1; [y] = -2; int w = 0x10; int [v] = 3")).program;
  REQUIRE(program.locations.size() == 5);
  const std::vector<std::string> names{"x", "y", "w", "v", "z"};
  const std::vector<int> values{1, -2, 16, 3, 0};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(program.locations[i].name == names[i]);
    CHECK(program.locations[i].initial_value == values[i]);
  }
}

TEST_CASE("each location has its own block by default") {
  const Program program = parse(around(" st z, 1 ;", " P0", "x = 0; y = 0;")).program;
  for (int i = 0; i < 3; ++i) {
    CHECK(program.locations[static_cast<std::size_t>(i)].block == i);
    CHECK(program.locations[static_cast<std::size_t>(i)].word == 0);
  }
}

TEST_CASE("a block list puts locations in one block, in its order") {
  const Program program = parse(around(" st z, 1 ;", " P0", "x = 0; z = 0; y = 0; block y [x] w;")).program;
  REQUIRE(program.locations.size() == 4);
  CHECK(program.locations[0].block == 0);
  CHECK(program.locations[0].word == 1);
  CHECK(program.locations[1].block == 1);
  CHECK(program.locations[1].word == 0);
  CHECK(program.locations[2].block == 0);
  CHECK(program.locations[2].word == 0);
  CHECK(program.locations[3].name == "w");
  CHECK(program.locations[3].block == 0);
  CHECK(program.locations[3].word == 2);
}

TEST_CASE("a location named block or int is only a name") {
  const Program program =
      parse(around(" st block, 1 ;", " P0", "block = 1; int = 2; block block int;")).program;
  CHECK(program.locations[0].initial_value == 1);
  CHECK(program.locations[1].initial_value == 2);
  CHECK(program.locations[1].block == 0);
  const Program longer = parse(around("", " P0", "blocks = 1; integer = 2;")).program;
  CHECK(longer.locations[0].name == "blocks");
  CHECK(longer.locations[1].name == "integer");
}

TEST_CASE("a block has at most four words, and a location is in one block") {
  CHECK(message_of(around("", " P0", "block a b c d e;")) == "a block has at most 4 words");
  CHECK(message_of(around("", " P0", "block a b; block c a;")) == "'a' is already in a block");
  CHECK(message_of(around("", " P0", "block a a;")) == "'a' is already in a block");
}

TEST_CASE("registers may have initial values") {
  const Program program =
      parse(around(" st x, r3 | st x, r0 ;", " P0 | P1", "P0:r3 = 7; 1:r0 = -1;")).program;
  CHECK(program.threads[0].registers == std::vector<std::string>{"r3"});
  CHECK(program.threads[0].initial_values == std::vector<std::int32_t>{7});
  CHECK(program.threads[1].initial_values == std::vector<std::int32_t>{-1});
}

TEST_CASE("mistakes in the initial state are named") {
  CHECK(message_of(around("", " P0", "x = 1; x = 2;")) == "'x' is initialised twice");
  CHECK(message_of(around("", " P0", "P0:r1 = 1; 0:r1 = 2;")) == "'r1' is initialised twice");
  CHECK(message_of(around("", " P0", "P1:r1 = 1;")) == "unknown thread 'P1'");
  CHECK(message_of(around("", " P0", "P0:x = 1;")) == "expected a register, found 'x'");
  CHECK(message_of(around("", " P0", "r1 = 1;")) == "expected a location, found register 'r1'");
  CHECK(hint_of(around("", " P0", "r1 = 1;")) ==
        "a register's initial value names its thread, as in P0:r1 = 1");
  CHECK(message_of(around("", " P0", "x = 2147483648;")) == "'2147483648' is not an integer of 32 bits");
  CHECK(message_of(around("", " P0", "x = 1y;")) == "'1y' is not an integer of 32 bits");
  CHECK(message_of(around("", " P0", "x 1;")) == "expected '=', found '1'");
  CHECK(message_of(around("", " P0", "x = y;")) == "expected an integer, found 'y'");
  CHECK(message_of(around("", " P0", "x = 1 y = 2;")) == "expected ';' or '}', found 'y'");
  CHECK(message_of("HRF t\n P0 ;") == "expected the initial state in '{' and '}', found 'P0'");
}

// ---- Threads ----

TEST_CASE("a thread without a placement is a work-group of its own on agent 0") {
  const Program program = parse(around("", " P0 | P1")).program;
  REQUIRE(program.threads.size() == 2);
  CHECK(program.threads[1].name == "P1");
  CHECK(program.threads[1].placement.wave == 1);
  CHECK(program.threads[1].placement.wg == 1);
  CHECK(program.threads[1].placement.agent == 0);
  CHECK(program.threads[1].placement.kernel == -1);
  CHECK_FALSE(program.threads[1].placement.host);
}

TEST_CASE("a placement names wave, work-group, agent, kernel or host") {
  const Program program =
      parse(around("", " P0@wg 3,agent 2,wave 5 | P1@kernel 1, agent 1 | P2 @ host")).program;
  CHECK(program.threads[0].placement.wave == 5);
  CHECK(program.threads[0].placement.wg == 3);
  CHECK(program.threads[0].placement.agent == 2);
  CHECK(program.threads[1].placement.wg == 1);
  CHECK(program.threads[1].placement.agent == 1);
  CHECK(program.threads[1].placement.kernel == 1);
  CHECK(program.threads[2].placement.host);
  CHECK(program.threads[2].placement.wave == 2);
}

TEST_CASE("mistakes in the row of threads are named") {
  CHECK(message_of(around("", " P0 | P2")) == "expected thread P1, found 'P2'");
  CHECK(message_of(around("", " P0 | P1@wave 0")) == "P0 and P1 are both in wave 0");
  CHECK(place_of(around("", " P0 | P1@wave 0")) == SourcePlace{3, 7});
  CHECK(hint_of(around("", " P0@agnt 1")) == "did you mean 'agent'?");
  CHECK(message_of(around("", " P0@wg 1,wg 2")) == "'wg' is given twice");
  CHECK(message_of(around("", " P0@wg")) == "'wg' needs a number");
  CHECK(message_of(around("", " P0@wg -1")) == "the number of a wg is negative");
  CHECK(message_of(around("", " P0@host 1")) == "host takes no number");
  CHECK(message_of(around("", " P0@host,wg 1")) == "a host thread has no work-group and no agent");
  CHECK(message_of(around("", " P0@agent 1,host")) == "a host thread has no work-group and no agent");
  CHECK(message_of(around("", " P0@")) == "expected wg, agent, host, kernel or wave, found ';'");
  CHECK(message_of("HRF t\n{ }\n ;\nexists (true)") == "expected a thread, found ';'");
}

// ---- Instructions ----

TEST_CASE("plain loads and stores are those without an order, and those that are weak") {
  const auto code = code_of(" ld r0, x ; ld.weak r1, [x] ; st x, r0 ; st.weak y, 0x10 ;");
  REQUIRE(code.size() == 4);
  CHECK(code[0].opcode == Opcode::load);
  CHECK(code[0].order == Order::plain);
  CHECK(code[0].destination == 0);
  CHECK(code[0].location == 0);
  CHECK(code[0].place == SourcePlace{4, 2});
  CHECK(code[1].order == Order::plain);
  CHECK(code[1].destination == 1);
  CHECK(code[1].location == 0);
  CHECK(code[2].opcode == Opcode::store);
  CHECK(code[2].a == reg(0));
  CHECK(code[3].location == 1);
  CHECK(code[3].a == constant(16));
}

TEST_CASE("atomics have an order and a scope") {
  const auto code =
      code_of(" ld.acquire.wg r0, x ; st.release.system x, 1 ; ld.sc.sys r0, x ; st.relaxed.wave x, -5 ;");
  CHECK(code[0].order == Order::acquire);
  CHECK(code[0].scope == Scope::wg);
  CHECK(code[1].order == Order::release);
  CHECK(code[1].scope == Scope::system);
  CHECK(code[2].order == Order::sc);
  CHECK(code[2].scope == Scope::system);
  CHECK(code[3].order == Order::relaxed);
  CHECK(code[3].scope == Scope::wave);
  CHECK(code[3].a == constant(-5));
}

TEST_CASE("a read-modify-write has an operation, and red has no destination") {
  const auto code = code_of(
      " atom.acq_rel.agent.add r0, x, 3 ; atom.sc.wg.cas r1, x, r0, 7 ; red.relaxed.system.max x, r1 ;");
  CHECK(code[0].opcode == Opcode::rmw);
  CHECK(code[0].rmw == RmwFunction::add);
  CHECK(code[0].order == Order::acq_rel);
  CHECK(code[0].destination == 0);
  CHECK(code[0].a == constant(3));
  CHECK(code[1].rmw == RmwFunction::compare_swap);
  CHECK(code[1].a == reg(0));
  CHECK(code[1].b == constant(7));
  CHECK(code[2].rmw == RmwFunction::maximum);
  CHECK(code[2].destination == -1);
  CHECK(code[2].location == 0);
  CHECK(code[2].a == reg(1));
}

TEST_CASE("every read-modify-write operation has its word") {
  const std::vector<std::pair<std::string, RmwFunction>> words{{"exch", RmwFunction::exchange},
                                                               {"cas", RmwFunction::compare_swap},
                                                               {"add", RmwFunction::add},
                                                               {"sub", RmwFunction::subtract},
                                                               {"inc", RmwFunction::increment},
                                                               {"and", RmwFunction::bit_and},
                                                               {"or", RmwFunction::bit_or},
                                                               {"xor", RmwFunction::bit_xor},
                                                               {"min", RmwFunction::minimum},
                                                               {"max", RmwFunction::maximum},
                                                               {"dec", RmwFunction::decrement},
                                                               {"umin", RmwFunction::minimum_unsigned},
                                                               {"umax", RmwFunction::maximum_unsigned}};
  for (const auto& [word, function] : words) {
    const std::string last = word == "cas" ? ", 1, 2 ;" : ", 1 ;";
    CHECK(code_of(" atom.relaxed.wg." + word + " r0, x" + last).front().rmw == function);
    CHECK(code_of(" red.relaxed.wg." + word + " x" + last).front().rmw == function);
  }
}

TEST_CASE("an update that commutes says so, and nothing else does") {
  const auto code = code_of(" red.comm.agent.add x, 1 ; atom.comm.wg.max r0, x, 2 ;");
  CHECK(code[0].order == Order::comm);
  CHECK(code[0].scope == Scope::agent);
  CHECK(code[1].order == Order::comm);
  CHECK(code[1].destination == 0);
  for (const std::string instruction : {"ld.comm.agent r0, x", "st.comm.agent x, 1", "fence.comm.agent"}) {
    CHECK_THROWS_AS(code_of(" " + instruction + " ;"), BadInput);
  }
}

TEST_CASE("fences and barriers have no operands") {
  const auto code = code_of(" fence.acq_rel.wg ; fence.sc.agent ; barrier ;");
  CHECK(code[0].opcode == Opcode::fence);
  CHECK(code[0].order == Order::acq_rel);
  CHECK(code[0].scope == Scope::wg);
  CHECK(code[1].order == Order::sc);
  CHECK(code[2].opcode == Opcode::barrier);
}

TEST_CASE("moves and arithmetic compute on registers and constants") {
  const auto code = code_of(
      " mov r0, 5 ; add r1, r0, 1 ; sub r1, 1, r0 ; mul r1, r1, r1 ; and r1, r1, 3 ;"
      " or r1, r1, 3 ; xor r1, r1, 3 ; min r1, r1, 3 ; max r1, r1, 3 ;");
  CHECK(code[0].opcode == Opcode::move);
  CHECK(code[0].a == constant(5));
  for (int i = 1; i < 9; ++i) {
    CHECK(code[static_cast<std::size_t>(i)].opcode == Opcode::arithmetic);
    CHECK(static_cast<int>(code[static_cast<std::size_t>(i)].arithmetic) == i - 1);
  }
  CHECK(code[2].a == constant(1));
  CHECK(code[2].b == reg(0));
}

TEST_CASE("a pause takes a register or a constant, and does nothing else") {
  const auto code = code_of(" mov r0, 5 ; pause r0 ; pause 64 ;");
  CHECK(code[1].opcode == Opcode::pause);
  CHECK(code[1].a == reg(0));
  CHECK(code[2].a == constant(64));
  const std::string head = "HRF t\n{ }\nP0@wg 0,agent 0 ;\n";
  const Program program =
      parse_litmus(head + " mov r0, 5 ;\n pause r0 ;\n pause 64 ;\nforall (true)\n", "t.litmus").program;
  CHECK_THAT(print_program(program), Catch::Contains("pause r0") && Catch::Contains("pause 64"));
  CHECK_THROWS_WITH(code_of(" pause ;"), Catch::Contains("pause"));
}

TEST_CASE("branches and jumps go to labels, also to one at the very end") {
  const auto code = code_of(
      " AGAIN: ld r0, x ; beq r0, 1, END ; bne r0, 2, AGAIN ; blt r0, 3, AGAIN ;"
      " bge 4, r0, AGAIN ; goto END ; END: ;");
  REQUIRE(code.size() == 6);
  CHECK(code[1].comparison == Comparison::equal);
  CHECK(code[1].target == 6);
  CHECK(code[2].comparison == Comparison::not_equal);
  CHECK(code[2].target == 0);
  CHECK(code[3].comparison == Comparison::less);
  CHECK(code[4].comparison == Comparison::greater_equal);
  CHECK(code[4].a == constant(4));
  CHECK(code[4].b == reg(0));
  CHECK(code[5].opcode == Opcode::jump);
  CHECK(code[5].target == 6);
}

TEST_CASE("assertions compare with any comparison") {
  const std::vector<std::string> symbols{"==", "!=", "<", ">=", ">", "<="};
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const Instruction assertion = code_of(" mov r0, 1 ; assert r0 " + symbols[i] + " 1 ;")[1];
    CHECK(assertion.opcode == Opcode::assertion);
    CHECK(static_cast<std::size_t>(assertion.comparison) == i);
    CHECK(assertion.a == reg(0));
    CHECK(assertion.b == constant(1));
  }
}

TEST_CASE("cells may be empty, and labels belong to their own thread") {
  const Program program = parse(message_passing).program;
  CHECK(program.threads[0].code.size() == 2);
  CHECK(program.threads[1].code.size() == 3);
  CHECK(program.threads[1].code[1].target == 3);
}

TEST_CASE("registers are numbered in order of first appearance") {
  const Program program = parse(around(" ld r5, x ; add r1, r5, r5 ;")).program;
  CHECK(program.threads[0].registers == std::vector<std::string>{"r5", "r1"});
  CHECK(program.threads[0].initial_values == std::vector<std::int32_t>{0, 0});
}

TEST_CASE("comments nest, and tabs and CRLF are blanks") {
  const LitmusTest plain = parse(around(" st x, 1 ;\n ld r0, x ;"));
  const LitmusTest decorated = parse(
      "\xEF\xBB\xBFHRF\tt (* a (* b *) c *)\r\n{ }// no | end ;\r\n\tP0\t;\r\n\tst x, (**) 1 ;\r\n ld r0, x "
      ";\r\n"
      "exists (true) // done");
  CHECK(same_program(plain.program, decorated.program));
}

TEST_CASE("mnemonics are case-sensitive, and the nearest is named") {
  const Diagnostic error = error_of(around(" LD r0, x ;"));
  CHECK(error.message == "unknown instruction 'LD'");
  CHECK(error.hint == "did you mean 'ld'?");
  CHECK(error.place == SourcePlace{4, 2});
  CHECK(hint_of(around(" fnece.sc.wg ;")) == "did you mean 'fence'?");
  CHECK(hint_of(around(" lod.acquire.wg r0, x ;")) == "did you mean 'ld'?");
}

TEST_CASE("an order that the instruction cannot have is an error") {
  CHECK(message_of(around(" ld.release.wg r0, x ;")) == "'ld' can't be release");
  CHECK(hint_of(around(" ld.release.wg r0, x ;")) == "one of: weak, relaxed, acquire, sc");
  CHECK(message_of(around(" st.acq_rel.wg x, 1 ;")) == "'st' can't be acq_rel");
  CHECK(message_of(around(" fence.relaxed.wg ;")) == "'fence' can't be relaxed");
  CHECK(message_of(around(" atom.weak.add r0, x, 1 ;")) == "'atom' can't be weak");
}

TEST_CASE("an order and a scope come together") {
  CHECK(message_of(around(" ld.acquire r0, x ;")) == "'ld.acquire' is atomic and has no scope");
  CHECK(hint_of(around(" ld.acquire r0, x ;")) == "add a scope: ld.acquire.agent");
  CHECK(message_of(around(" st.wg x, 1 ;")) == "'st.wg' has a scope and no order");
  CHECK(hint_of(around(" st.wg x, 1 ;")) == "add an order: st.release.wg");
  CHECK(message_of(around(" ld.weak.wg r0, x ;")) == "'ld.weak.wg' has a scope, but a weak access has none");
  CHECK(message_of(around(" fence ;")) == "'fence' needs an order and a scope");
  CHECK(message_of(around(" red.add x, 1 ;")) == "'red.add' needs an order and a scope");
  CHECK(hint_of(around(" red.add x, 1 ;")) == "add them: red.acq_rel.agent.add");
}

TEST_CASE("modifiers are known words, each once, in one order") {
  CHECK(message_of(around(" ld.aquire.wg r0, x ;")) == "unknown modifier 'aquire'");
  CHECK(hint_of(around(" ld.aquire.wg r0, x ;")) == "did you mean 'acquire'?");
  CHECK(place_of(around(" ld.acquire.gw r0, x ;")) == SourcePlace{4, 13});
  CHECK(hint_of(around(" ld.acquire.cta r0, x ;")) == "the scope of a work-group is 'wg'");
  CHECK(hint_of(around(" ld.acquire.gpu r0, x ;")) == "the scope of a device is 'agent'");
  CHECK(message_of(around(" ld.acquire.wg.wg r0, x ;")) == "a second scope: 'wg'");
  CHECK(message_of(around(" ld.sc.acquire.wg r0, x ;")) == "a second order: 'acquire'");
  CHECK(message_of(around(" ld.acquire.wg.add r0, x ;")) == "unknown modifier 'add'");
  CHECK(message_of(around(" mov.wg r0, 1 ;")) == "'mov' takes no modifiers");
  CHECK(message_of(around(" ld. r0, x ;")) == "unknown modifier ''");
  CHECK(hint_of(around(" ld.wg.acquire r0, x ;")) == "write it ld.acquire.wg");
  CHECK(hint_of(around(" atom.add.sc.wg r0, x, 1 ;")) == "write it atom.sc.wg.add");
  CHECK(message_of(around(" atom.sc.wg r0, x, 1 ;")) == "'atom' needs an operation");
}

TEST_CASE("a host thread has the system scope only, and no barrier") {
  CHECK(code_of(" st.release.system x, 1 ;", " P0@host").size() == 1);
  CHECK(message_of(around(" st.release.agent x, 1 ;", " P0@host")) ==
        "P0 is a host thread: it shares only the system scope");
  CHECK(hint_of(around(" red.sc.wg.add x, 1 ;", " P0@host")) == "write it red.sc.system.add");
  CHECK(message_of(around(" barrier ;", " P0@host")) ==
        "P0 is a host thread: it has no work-group whose barrier it could join");
}

TEST_CASE("the number and the kind of operands are checked") {
  CHECK(message_of(around(" ld r0 ;")) == "'ld' takes 2 operands, found 1");
  CHECK(hint_of(around(" ld.acquire.wg r0 ;")) == "write it like this: ld.acquire.wg r0, x");
  CHECK(message_of(around(" mov r0, 1, 2 ;")) == "'mov' takes 2 operands, found 3");
  CHECK(message_of(around(" barrier 0, 1, 2 ;")) == "'barrier' takes at most 2 operands, found 3");
  CHECK(message_of(around(" atom.sc.wg.cas r0, x, 1 ;")) == "'atom' takes 4 operands, found 3");
  CHECK(message_of(around(" ld x, r0 ;")) == "expected a register, found 'x'");
  CHECK(message_of(around(" ld r0, r1 ;")) == "expected a location, found 'r1'");
  CHECK(message_of(around(" st 1, 1 ;")) == "expected a location, found '1'");
  CHECK(message_of(around(" st x, y ;")) == "expected a register or an integer, found 'y'");
  CHECK(message_of(around(" goto 1 ;")) == "expected a label, found '1'");
  CHECK(message_of(around(" assert 1, 1 ;")) == "expected a comparison, found ','");
  CHECK(message_of(around(" st x == 1 ;")) == "expected ',', found '=='");
  CHECK(message_of(around(" ld r0 x ;")) == "expected ',', '|' or ';' after an instruction, found 'x'");
  CHECK(message_of(around(" ld r0, ;")) == "expected an operand, found ';'");
  CHECK(message_of(around(" st x, 0x80000000 ;")) == "'0x80000000' is not an integer of 32 bits");
  CHECK(code_of(" st x, -0x80000000 ;").front().a == constant(-2147483647 - 1));
}

TEST_CASE("labels are defined, and once") {
  CHECK(message_of(around(" LOOP: ld r0, x ; beq r0, 0, LOPO ;")) == "unknown label 'LOPO' in P0");
  CHECK(hint_of(around(" LOOP: ld r0, x ; beq r0, 0, LOPO ;")) == "did you mean 'LOOP'?");
  CHECK(hint_of(around(" goto END ;")) == "P0 has no labels");
  CHECK(message_of(around(" goto END | END: ;", " P0 | P1")) == "unknown label 'END' in P0");
  CHECK(message_of(around(" A: ;\n A: ;")) == "label 'A' is defined twice in P0");
  CHECK(hint_of(around(" A: ;\n A: ;")) == "first defined on line 4");
  CHECK(message_of(around(" r1: barrier ;")) == "'r1' is a register, not a label");
}

TEST_CASE("a register that nothing assigns cannot be read") {
  CHECK(message_of(around(" st x, r0 ;")) == "register 'r0' is read, and nothing in P0 assigns it");
  CHECK(place_of(around(" st x, r0 ;")) == SourcePlace{4, 8});
  CHECK(code_of(" st x, r0 ;", " P0", "P0:r0 = 0;").size() == 1);
  CHECK(code_of(" st x, r0 ; ld r0, x ;").size() == 2);
}

TEST_CASE("a row has a cell for each thread") {
  CHECK(message_of(around(" st x, 1 | st x, 2 ;")) ==
        "this row has more cells than there are threads: 1 thread");
  CHECK(message_of(around(" st x, 1 ;", " P0 | P1")) == "this row has 1 cell, and there are 2 threads");
  CHECK(message_of(around(" % ;")) == "expected an instruction, '|' or ';', found '%'");
}

TEST_CASE("a test fits the capacities") {
  std::string row = " P0";
  for (int i = 1; i < 65; ++i) row += " | P" + std::to_string(i);
  CHECK(message_of(around("", row)) == "a test has at most 64 threads");
  std::string state;
  for (int i = 0; i < 65; ++i) state += "x" + std::to_string(i) + " = 0; ";
  CHECK(message_of(around("", " P0", state)) == "a test has at most 64 locations");
  CHECK(message_of(around("", " P0", "x[65] = 0;")) == "a test has at most 64 locations");
  std::string rows;
  for (int i = 0; i < 257; ++i) rows += " mov r" + std::to_string(i) + ", 0 ;\n";
  CHECK(message_of(around(rows)) == "a thread has at most 256 registers");
  std::string most;
  for (int i = 0; i < 1024; ++i) most += " barrier ;\n";
  CHECK(code_of(most).size() == 1024);
  CHECK(message_of(around(most + " barrier ;")) == "a thread has at most 1024 instructions");
  CHECK(message_of(around(most, " P0@kernel 0")) == "a thread has at most 1024 instructions");
}

// ---- Kernels ----

TEST_CASE("a kernel begins and ends its threads, and labels at the end point at the end mark") {
  const auto code = code_of(" A: ld r0, x ; beq r0, 0, A ; beq r0, 1, END ; END: ;", " P0@kernel 0");
  REQUIRE(code.size() == 5);
  CHECK(code[0].opcode == Opcode::kernel_begin);
  CHECK(code[0].place == SourcePlace{0, 0});
  CHECK(code[2].target == 1);
  CHECK(code[3].target == 4);
  CHECK(code[4].opcode == Opcode::kernel_end);
  CHECK(code[4].place == SourcePlace{0, 0});
}

TEST_CASE("a host thread of a kernel begins and ends it, and other threads get no marks") {
  const Program program =
      parse(around(" goto E | st x, 1 | st x, 2 ;\n E: | | ;", " P0@host,kernel 1 | P1 | P2@kernel 0"))
          .program;
  REQUIRE(program.threads[0].code.size() == 3);
  CHECK(program.threads[0].code[0].opcode == Opcode::kernel_begin);
  CHECK(program.threads[0].code[1].target == 2);
  CHECK(program.threads[0].code[2].opcode == Opcode::kernel_end);
  CHECK(program.threads[1].code.size() == 1);
  CHECK(program.threads[1].placement.kernel == -1);
  CHECK(program.threads[2].code.size() == 3);
}

// ---- Conditions ----

TEST_CASE("conditions print as herd prints them") {
  CHECK(parse(message_passing).condition_text == "(P1:r0=1 /\\ P1:r1=0)");
  CHECK(canonical("(0:r0 == 1)") == "(P0:r0=1)");
  CHECK(canonical("(x = 1 && [y] != 2)") == "([x]=1 /\\ [y]!=2)");
  CHECK(canonical("(P0:r0 < 1 || P0:r0 <= P1:r1 || 3 > x || x >= 0xa)") ==
        "(P0:r0<1 \\/ P0:r0<=P1:r1 \\/ 3>[x] \\/ [x]>=10)");
  CHECK(canonical("(not x = 1)") == "(not ([x]=1))");
  CHECK(canonical("(true)") == "(true)");
  CHECK(canonical("(((x=-1)))") == "([x]=-1)");
}

TEST_CASE("~ binds tighter than /\\, and /\\ than \\/") {
  CHECK(canonical("(~x=1 /\\ y=2 \\/ x=3)") == "(not ([x]=1) /\\ [y]=2 \\/ [x]=3)");
  CHECK(canonical("(~(x=1 /\\ y=2) \\/ x=3)") == "(not ([x]=1 /\\ [y]=2) \\/ [x]=3)");
  CHECK(canonical("((x=1 \\/ x=2) /\\ (y=1 /\\ false))") == "(([x]=1 \\/ [x]=2) /\\ [y]=1 /\\ false)");
  const Formula formula = parse(with_condition("(x=1 \\/ y=1 /\\ y=2 /\\ y=3)")).condition;
  CHECK(formula.kind == Formula::Kind::or_);
  REQUIRE(formula.children.size() == 2);
  CHECK(formula.children[1].kind == Formula::Kind::and_);
  CHECK(formula.children[1].children.size() == 3);
  CHECK(formula.children[1].children[2].right.value == 3);
  CHECK(parse(with_condition("(x=1 /\\ (y=1 /\\ (y=2 /\\ y=3)))")).condition.children.size() == 4);
}

TEST_CASE("a question is exists, ~exists or forall") {
  const auto quantifier = [](const std::string& word) {
    return parse("HRF t\n{ x = 0; }\n P0 ;\n" + word + " (x = 1)").quantifier;
  };
  CHECK(quantifier("exists") == Quantifier::exists);
  CHECK(quantifier("~exists") == Quantifier::not_exists);
  CHECK(quantifier("~ exists") == Quantifier::not_exists);
  CHECK(quantifier("forall") == Quantifier::forall);
  CHECK(hint_of("HRF t\n{ x = 0; }\n P0 ;\nexist (x = 1)") == "did you mean 'exists'?");
}

TEST_CASE("filters are a conjunction, and true where there are none") {
  const LitmusTest none = parse(with_condition("(x=1)"));
  CHECK(print(none.filter, none.program) == "(true)");
  const LitmusTest one = parse(with_condition("(x=1)", "filter (y=1)"));
  CHECK(print(one.filter, one.program) == "([y]=1)");
  const LitmusTest two = parse(with_condition("(x=1)", "filter (y=1 \\/ y=2) filter (P0:r0=0)"));
  CHECK(print(two.filter, two.program) == "(([y]=1 \\/ [y]=2) /\\ P0:r0=0)");
}

TEST_CASE("what a test names is observed, once each") {
  const LitmusTest test =
      parse(with_condition("(P1:r1=1 /\\ P1:r1=0)", "locations [x; P0:r1; [x]]\nfilter (P0:r1=1)"));
  std::string names;
  for (const ConditionTerm& term : test.observed) names += print(term, test.program) + ";";
  CHECK(names == "[x];P0:r1;P1:r1;");
}

TEST_CASE("a condition names known threads, registers and locations") {
  CHECK(message_of(with_condition("(P7:r0 = 1)")) == "unknown thread 'P7'");
  CHECK(hint_of(with_condition("(P7:r0 = 1)")) == "one of: P0, P1");
  CHECK(message_of(with_condition("(P1:r0 = 1)")) == "P1 has no register 'r0'");
  CHECK(hint_of(with_condition("(P1:r0 = 1)")) == "did you mean 'r1'?");
  CHECK(message_of(with_condition("(z = 1)")) == "unknown location 'z'");
  CHECK(message_of(with_condition("(r0 = 1)")) == "register 'r0' of which thread?");
  CHECK(message_of(with_condition("(x = 1)", "locations [z;]")) == "unknown location 'z'");
}

TEST_CASE("a malformed condition is an error at its place") {
  CHECK(message_of(with_condition("()")) == "expected a comparison, true, false, '~' or '(', found ')'");
  CHECK(message_of(with_condition("x = 1")) == "expected a condition in parentheses, found 'x'");
  CHECK(message_of(with_condition("(x = 1")) == "expected /\\, \\/ or ')', found the end of the file");
  CHECK(message_of(with_condition("(x = 1 y = 2)")) == "expected /\\, \\/ or ')', found 'y'");
  CHECK(message_of(with_condition("(x)")) == "expected ==, !=, <, <=, > or >=, found ')'");
  CHECK(message_of(with_condition("(x = )")) == "expected a register, a location or an integer, found ')'");
  CHECK(message_of(with_condition("(x = 1 /\\ )")) ==
        "expected a comparison, true, false, '~' or '(', found ')'");
  CHECK(message_of(with_condition("(x = 1 \\/ )")) ==
        "expected a comparison, true, false, '~' or '(', found ')'");
  CHECK(message_of(with_condition("(~ )")) == "expected a comparison, true, false, '~' or '(', found ')'");
  CHECK(message_of(with_condition("(x = 1) more")) ==
        "expected the end of the file after the condition, found 'more'");
  CHECK(message_of("HRF t\n{ }\n P0 ;\n") ==
        "expected a row, or exists, ~exists or forall with a condition, found the end of the file");
  CHECK(message_of("HRF t\n{ }\n P0 ;\n~exist (true)") == "expected exists after '~', found 'exist'");
  CHECK(place_of(with_condition("(x = )")) == SourcePlace{7, 13});
}

TEST_CASE("conditions nest to a limit and no further") {
  const auto parentheses = [](std::size_t depth) {
    return std::string(depth, '(') + "x=1" + std::string(depth, ')');
  };
  CHECK(canonical(parentheses(200)) == "([x]=1)");
  CHECK(message_of(with_condition(parentheses(201))) == "nested too deeply: at most 200 levels");
  CHECK(message_of(with_condition(parentheses(100000))) == "nested too deeply: at most 200 levels");
  CHECK(message_of(with_condition("(" + std::string(100000, '~') + "x=1)")) ==
        "nested too deeply: at most 200 levels");
}

// ---- The file as a whole ----

TEST_CASE("an error shows its line with a caret and a hint") {
  CHECK(error_of("HRF t\r\n{ }\r\n P0 ;\r\n\tlod r0, x ;\r\nexists (true)").text() ==
        "t.litmus:4:2: error: unknown instruction 'lod'\n"
        " 4 | \tlod r0, x ;\n"
        "   | \t^\n"
        "hint: did you mean 'ld'?");
}

TEST_CASE("what is no text is refused") {
  CHECK(message_of("") == "the file is empty");
  CHECK(message_of(" \n(* nothing *)\n") == "expected a dialect such as HRF, found the end of the file");
  CHECK(message_of(std::string("HRF t\0", 6)) == "not a text file: it has a NUL byte");
  CHECK(place_of(std::string("HRF t\n\0", 7)) == SourcePlace{2, 1});
  for (const std::string bytes :
       {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    CHECK(message_of("HRF t \"" + bytes + "\"") == "not a text file: invalid UTF-8");
  }
  CHECK(parse("HRF t \"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\" { } P0 ; exists (true)").doc.size() == 11);
  CHECK(message_of(std::string((1U << 20U) + 1, ' ')) == "the file is larger than 1 MiB");
}

TEST_CASE("comments and doc strings end") {
  CHECK(message_of("HRF t\n (* a (* b *)") == "expected a comment that ends, found '('");
  CHECK(place_of("HRF t\n (* a (* b *)") == SourcePlace{2, 2});
  CHECK(message_of("HRF t\n\"doc\n{ }") == "expected a doc string that ends, found '\"'");
}

TEST_CASE("a megabyte of junk is refused quickly") {
  const auto repeated = [](const std::string& piece) {
    std::string text;
    while (text.size() < 1000000) text += piece;
    return text;
  };
  const std::vector<std::string> texts{
      "HRF t\n" + repeated("(*"),
      "HRF " + repeated("name"),
      "HRF t\n{ " + repeated("block ") + "=",
      "HRF t\n{ " + repeated("int "),
      "HRF t\n{ } P0@" + repeated("wg "),
      "HRF t\n{ } P0@wg 0, wave 0" + repeated(",kernel 1"),
      "HRF t\n{ } P0 ;\n" + repeated("l (* *) "),
      "HRF t\n{ } P0 ;\n ld" + repeated(".wg") + " r0, x ;",
      "HRF t\n{ } P0 ;\n st x" + repeated(",1") + " ;",
      "HRF t\n{ } P0 ;\n" + repeated("abcdef: ;\n"),
      "HRF t\n{ } P0 ;\n" + repeated("a") + " r0 ;",
      "HRF t\n{ } P0 ;\n" + repeated("|"),
      "HRF t\nTags=" + repeated("a,") + "\n{ } P0 ;",
      "HRF t\nExpect=" + repeated("sc:never,"),
      with_condition("(" + repeated("x=1 /\\ ") + "z=1)"),
      with_condition("(" + repeated("x=1 \\/ y=2 /\\ ") + ")"),
      with_condition("(" + repeated("(x=1) \\/ (y=2 (* *) /\\ ") + ")"),
  };
  for (const std::string& text : texts) {
    const auto start = std::chrono::steady_clock::now();
    const std::string shown = error_of(text).text();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    CAPTURE(shown);
    CHECK(elapsed.count() < 5.0);
    CHECK(shown.size() < 1000);
  }
}

TEST_CASE("many labels do not slow a thread down") {
  std::string rows;
  for (int i = 0; i < 60000; ++i) rows += "L" + std::to_string(i) + ": ;\n";
  CHECK(parse(around(rows + " goto L59999 ;")).program.threads[0].code[0].target == 0);
  CHECK(message_of(around(rows + " goto M ;")) == "unknown label 'M' in P0");
}

TEST_CASE("files are read from disk, and what is no regular file is refused") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  const auto refusal = [](const std::filesystem::path& file) {
    try {
      read_litmus(file.string());
    } catch (const BadInput& bad) {
      return bad.diagnostic().message;
    }
    return std::string("accepted");
  };
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  };
  const std::filesystem::path good = write("good.litmus", message_passing);
  CHECK(read_litmus(good.string()).name == "mp-wg");
  CHECK(read_litmus(good.string()).file == good.string());
  CHECK(refusal(folder / "missing.litmus") == "no such file");
  CHECK(refusal(folder) == "not a regular file");
  CHECK(refusal(write("empty.litmus", "")) == "the file is empty");
  CHECK(refusal(write("binary.litmus", std::string("HRF\0", 4))) == "not a text file: it has a NUL byte");
  CHECK(refusal(write("large.litmus", std::string(3U << 20U, ' '))) == "the file is larger than 1 MiB");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(refusal(folder / "pipe") == "not a regular file");
}

// ---- Printing ----

TEST_CASE("a printed program is aligned columns") {
  CHECK(print_program(parse(message_passing).program) ==
        "{ x = 0; flag = 0; }\n"
        " P0@wg 0,agent 0       | P1@wg 0,agent 0        ;\n"
        " st x, 1               | ld.acquire.wg r0, flag ;\n"
        " st.release.wg flag, 1 | bne r0, 1, L3          ;\n"
        "                       | ld r1, x               ;\n"
        "                       | L3:                    ;\n");
}

TEST_CASE("a printed program leaves out the marks of kernels") {
  const Program program =
      parse(around(" A: ld r0, x | st x, 1 ;\n beq r0, 0, A | ;", " P0@kernel 1 | P1@host,kernel 0")).program;
  CHECK(print_program(program) ==
        "{ x = 0; }\n"
        " P0@wg 0,agent 0,kernel 1 | P1@host,kernel 0 ;\n"
        " L0: ld r0, x             | st x, 1          ;\n"
        " beq r0, 0, L0            |                  ;\n");
}

TEST_CASE("an instruction is printed as it is in its program, and the marks of kernels by name") {
  const Program program =
      parse(around(" A: ld.sc.wg r0, x | st x, 1 ;\n beq r0, 0, A | ;", " P0@kernel 1 | P1")).program;
  const std::vector<std::string> texts{"kernel.begin", "ld.sc.wg r0, x", "beq r0, 0, L0", "kernel.end"};
  REQUIRE(program.threads[0].code.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CHECK(print_instruction(program.threads[0].code[i], program, 0) == texts[i]);
  }
  CHECK(print_instruction(program.threads[1].code[0], program, 1) == "st x, 1");
}

TEST_CASE("a printed program is read back as the same program") {
  const std::vector<std::string> texts{
      message_passing,
      around(" st z, 1 ;", " P0", "x = 1; z = 0; y = -2; block y x w; block z v;"),
      around(" st x, r3 | add r0, r1, r0 ;", " P0@wave 1 | P1@wave 0,host",
             "P0:r3 = 7; P1:r1 = 0; P1:r5 = 2;"),
      around(" ld r1, x ; ld r0, x ;", " P0", "P0:r0 = 0;"),
      around(" add r0, r1, 1 ; mov r1, 1 ; mov r2, r0 ;"),
      around(" A: atom.acq_rel.agent.cas r0, x, 1, -2 ; red.sc.wave.inc x, 1 ; fence.sc.system ; barrier ;"
             " blt r0, 1, END ; bge 1, r0, A ; goto A ; assert r0 <= 3 ; END: ;",
             " P0@wg 1,agent 2,kernel 3"),
      around(" goto E | ld.sc.system r0, x ;\n E: | E: ;", " P0@host,kernel 1 | P1@kernel 0"),
      around("", " P0 | P1"),
      around(
          " ld.acquire.agent.wait r0, x, r0 ; red.relaxed.wg.cas.wait x, 0, 1 ;"
          " atom.relaxed.agent.cas.weak r2, r3, x, 0, 1 ; atom.relaxed.agent.cas.weak r3, r0, x, r2, r3 ;"
          " atom.sc.system.exch.wait r0, x, 1, -2 ; atom.acq_rel.agent.cas.acquire.weak.wait r0, x, r0, 1 ;"),
      claiming,
  };
  for (const std::string& text : texts) {
    const LitmusTest test = parse(text);
    CAPTURE(print_program(test.program));
    const LitmusTest again = reparsed(test);
    CHECK(same_program(test.program, again.program));
    CHECK(again.condition_text == test.condition_text);
    CHECK(print_program(again.program) == print_program(test.program));
  }
}

TEST_CASE("claims name places by labels") {
  const LitmusTest test = parse(claiming);
  const Program& program = test.program;
  REQUIRE(program.sections.size() == 2);
  CHECK(program.sections[0].name == "one is inside");
  CHECK(program.sections[0].capacity == 1);
  // A kernel's thread begins with the kernel.
  CHECK(program.sections[0].stretches == std::vector<Stretch>{{0, 1, 2, 1}, {1, 2, 3, 2}});
  CHECK(program.sections[1].stretches == std::vector<Stretch>{{0, 2, 3, 1}});
  REQUIRE(program.meetings.size() == 1);
  CHECK(program.meetings[0].participants == std::vector<Rendezvous::Participant>{{0, 1, 2}, {1, 3, 4}});
  CHECK(program.final_values == std::vector<FinalValue>{{"x is back", 0, -1}});
  REQUIRE(test.expected_progress.size() == 2);
  CHECK(test.expected_progress[1].scheduler == "hsa-obe");
  CHECK(test.expected_progress[1].verdict == "livelock");
}

TEST_CASE("what a claim gets wrong is said where it stands") {
  const auto message = [](const std::string& what, const std::string& with) {
    return message_of(replaced(claiming, what, with));
  };
  CHECK(message("P0 IN..OUT", "P7 IN..OUT") == "unknown thread 'P7'");
  CHECK(message("P0 IN..OUT", "P0 IN..OTU") == "unknown label 'OTU' in P0");
  CHECK(message("P0 IN..OUT", "P0 OUT..IN") == "'IN' is not behind 'OUT'");
  CHECK(message("OUT x2", "OUT x0") == "a thread weighs 1 at least");
  CHECK(message("\"nobody is\"", "\"one is inside\"") == "'one is inside' is claimed twice");
  CHECK(message(": x == -1", ": y == -1") == "unknown location 'y'");
  CHECK(message("Section=", "Sektion=") == "unknown key 'Sektion'");
  CHECK(message("hsa-obe:livelock", "fair:livelock") == "'fair' is listed twice");
  CHECK(message("hsa-obe", "hsa-oeb") == "unknown scheduler 'hsa-oeb'");
  CHECK(message("livelock", "lifelock") == "unknown verdict 'lifelock'");
  CHECK(error_of(replaced(claiming, "hsa-obe", "hsa-oeb")).hint == "did you mean 'hsa-obe'?");
  CHECK(place_of(replaced(claiming, "P0 IN..OUT", "P0 IN..OTU")) == SourcePlace{2, 35});
}

TEST_CASE("only an atomic waits, and says for what") {
  CHECK(message_of(around(" ld.wait r0, x, 1 ;")) == "'ld.wait' waits, which only atomics do");
  CHECK(message_of(around(" ld.acquire.agent.wait r0, x ;")).starts_with("'ld' takes 3 operands"));
  CHECK(message_of(around(" st.release.agent.wait x, 1 ;")) == "unknown modifier 'wait'");
  CHECK(message_of(around(" red.relaxed.agent.wait.cas x, 0, 1 ;")) ==
        "the parts of 'red.relaxed.agent.wait.cas' are in disorder");
  CHECK(message_of(around(" red.relaxed.agent.cas.wait.wait x, 0, 1 ;")) == "a second 'wait'");
}

TEST_CASE("a compare-and-swap that may fail without cause tells whether it did") {
  const LitmusTest test = parse(around(" atom.relaxed.agent.cas.weak r0, r1, x, 0, 1 ;"));
  const Instruction& swap = test.program.threads[0].code[0];
  CHECK(swap.destination == 0);
  CHECK(swap.status == 1);
  CHECK(
      message_of(around(" atom.relaxed.agent.cas r0, r1, x, 0, 1 ;")).starts_with("'atom' takes 4 operands"));
  CHECK(message_of(around(" atom.relaxed.agent.cas.weak r0, r0, x, 0, 1 ;")).find("a register of its own") !=
        std::string::npos);
  CHECK(message_of(around(" atom.relaxed.agent.cas.weak r0, r1, x, r0, 1 ;")).find("a register of its own") !=
        std::string::npos);
  CHECK(message_of(around(" atom.relaxed.agent.cas.weak.wait r0, r1, x, 0, 1 ;")).find("tells no success") !=
        std::string::npos);
}

TEST_CASE("a test without a question says what else is to be judged") {
  CHECK_NOTHROW(
      parse(replaced("HRF t\nProgress=fair:trap\n{ x = 0; }\n P0 ;\n st x, 1 ;\n", "trap", "trap")));
  CHECK(message_of("HRF t\n{ x = 0; }\n P0 ;\n st x, 1 ;\n").starts_with("expected a row"));
}

TEST_CASE("programs that differ in anything but places are not the same") {
  const Program program = parse(message_passing).program;
  const auto differs = [&](auto change) {
    Program other = program;
    change(other);
    return !same_program(program, other);
  };
  CHECK(differs([](Program& p) { p.locations[0].block = 7; }));
  CHECK(differs([](Program& p) { p.locations[0].word = 1; }));
  CHECK(differs([](Program& p) { p.locations[0].name = "y"; }));
  CHECK(differs([](Program& p) { p.locations[0].initial_value = 1; }));
  CHECK(differs([](Program& p) { p.locations.pop_back(); }));
  CHECK(differs([](Program& p) { p.threads.pop_back(); }));
  CHECK(differs([](Program& p) { p.threads[0].placement.host = true; }));
  CHECK(differs([](Program& p) { p.threads[0].placement.wave = 9; }));
  CHECK(differs([](Program& p) { p.threads[0].placement.wg = 9; }));
  CHECK(differs([](Program& p) { p.threads[0].placement.agent = 9; }));
  CHECK(differs([](Program& p) { p.threads[0].placement.kernel = 9; }));
  CHECK(differs([](Program& p) { p.threads[1].registers[0] = "r9"; }));
  CHECK(differs([](Program& p) { p.threads[1].initial_values[0] = 9; }));
  CHECK(differs([](Program& p) { p.threads[1].code.pop_back(); }));
  CHECK(differs([](Program& p) { p.threads[1].code[0].opcode = Opcode::move; }));
  CHECK(differs([](Program& p) { p.threads[1].code[0].order = Order::sc; }));
  CHECK(differs([](Program& p) { p.threads[1].code[0].scope = Scope::wave; }));
  CHECK(differs([](Program& p) { p.threads[1].code[0].location = 0; }));
  CHECK(differs([](Program& p) { p.threads[1].code[0].destination = 1; }));
  CHECK(differs([](Program& p) { p.threads[1].code[1].comparison = Comparison::less; }));
  CHECK(differs([](Program& p) { p.threads[1].code[1].target = 0; }));
  CHECK(differs([](Program& p) { p.threads[1].code[1].a = constant(0); }));
  CHECK(differs([](Program& p) { p.threads[1].code[1].b = constant(0); }));
  CHECK(differs([](Program& p) { p.threads[1].code[1].rmw = RmwFunction::add; }));
  CHECK(differs([](Program& p) { p.threads[1].code[1].arithmetic = ArithmeticFunction::multiply; }));
  CHECK_FALSE(differs([](Program& p) { p.threads[1].code[1].place = {1, 1}; }));
}

// ---- Diagnostics ----

TEST_CASE("the nearest name is one slip away, and blind to case") {
  const std::vector<std::string> words{"acquire", "release", "relaxed", "acq_rel", "sc"};
  CHECK(nearest("aquire", words) == "acquire");
  CHECK(nearest("acqiure", words) == "acquire");
  CHECK(nearest("ACQUIRE", words) == "acquire");
  CHECK(nearest("relase", words) == "release");
  CHECK(nearest("cs", words) == "sc");
  CHECK(nearest("banana", words).empty());
  CHECK(nearest("", words).empty());
  CHECK(nearest(std::string(100000, 'a'), words).empty());
  CHECK(nearest("x", std::vector<std::string>{"y"}).empty());
}

TEST_CASE("a suggestion is the nearest name, else what there is") {
  CHECK(suggestion("relase", std::vector<std::string>{"release", "sc"}) == "did you mean 'release'?");
  CHECK(suggestion("banana", std::vector<std::string>{"release", "sc"}) == "one of: release, sc");
  CHECK(suggestion("banana", std::vector<std::string>(20, "sc")).ends_with("sc, ..."));
  CHECK(suggestion("banana", {}).empty());
}

TEST_CASE("a diagnostic says as much of its place as is known") {
  CHECK(Diagnostic{"f", {}, "m", "", ""}.text() == "f: error: m");
  CHECK(Diagnostic{"f", {3, 0}, "m", "", "abc"}.text() == "f:3: error: m\n 3 | abc");
  CHECK(Diagnostic{"", {}, "m", "h", ""}.text() == "error: m\nhint: h");
  CHECK(std::string(BadInput("m", "h").what()) == "error: m\nhint: h");
}

TEST_CASE("the caret stands under its character, whatever stands before it") {
  CHECK(Diagnostic{"f", {1, 4}, "m", "", "\xC3\xA9\tab"}.text() ==
        "f:1:4: error: m\n 1 | \xC3\xA9\tab\n   |  \t^");
  CHECK(Diagnostic{"f", {1, 3}, "m", "", "a\x1B[b"}.text() == "f:1:3: error: m\n 1 | a?[b\n   |   ^");
  CHECK(Diagnostic{"f", {1, 9}, "m", "", "ab"}.text() == "f:1:9: error: m\n 1 | ab\n   |   ^");
}

TEST_CASE("a long line is shown around the caret") {
  const std::string line = std::string(500, 'a') + "!" + std::string(500, 'b');
  const std::string text = Diagnostic{"f", {1, 501}, "m", "", line}.text();
  const std::size_t caret = text.rfind('^') - text.rfind('\n');
  const std::size_t shown = text.find('!') - text.find('\n');
  CHECK(caret == shown);
  CHECK(text.find("| ...a") != std::string::npos);
  CHECK(text.find("b...\n") != std::string::npos);
  CHECK(text.size() < 400);
}
