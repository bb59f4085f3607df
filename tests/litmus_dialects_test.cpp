// What the PTX, OPENCL and C dialects mean, instruction by instruction, and how their errors read.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "checker/language/test.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"
#include "tests/texts.hpp"

using namespace lockstep;

namespace {

// Tests around the part that matters.
std::string ptx(const std::string& rows, const std::string& threads = " P0@cta 0,gpu 0",
                const std::string& initial = "") {
  return "PTX t\n{ " + initial + " }\n" + threads + " ;\n" + rows + "\nexists (true)\n";
}
std::string opencl(const std::string& body,
                   const std::string& parameters = "global atomic_int* x, global int* y",
                   const std::string& initial = "") {
  return "OPENCL t\n{ " + initial + " }\nP0@wg 0, dev 0 (" + parameters + ") {\n" + body +
         "\n}\nexists (true)\n";
}
std::string c(const std::string& body, const std::string& initial = "") {
  return "C t\n{ " + initial + " }\nP0 (atomic_int* x, int* y) {\n" + body + "\n}\nexists (true)\n";
}

std::string quoted(const LitmusTest& test) {
  return "HRF " + test.name + "\n" + print_claims(test.program) + print_program(test.program) + "filter " +
         print(test.filter, test.program) + "\nexists " + test.condition_text + "\n";
}

std::vector<std::filesystem::path> samples() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/data/dialects";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".litmus") files.push_back(entry.path());
  }
  return files;
}

// What a memory system says of a program; empty where it takes it.
std::string refusal(const std::string& text) {
  const auto program = std::make_shared<const Program>(for_memory_systems(parse(text)));
  try {
    find_system("sc").build(program, {});
  } catch (const BadInput& bad) {
    return bad.diagnostic().message;
  }
  return {};
}

}  // namespace

TEST_CASE("the samples of every dialect are read, and read again as they are printed") {
  REQUIRE(samples().size() == 36);
  for (const std::filesystem::path& file : samples()) {
    CAPTURE(file.string());
    const LitmusTest test = read_litmus(file.string());
    CHECK(test.expected.empty());
    const LitmusTest again = parse(quoted(test));
    CHECK(same_program(test.program, again.program));
    CHECK(again.condition_text == test.condition_text);
  }
}

// ---- PTX ----

TEST_CASE("PTX: accesses have orders, and cta, gpu and sys are work-group, agent and system") {
  CHECK(code(ptx(" ld.weak r0, x ; ld.relaxed.cta r1, [x] ; ld.acquire.gpu r2, x ; ld r3, x ;")) ==
        "ld r0, x\nld.relaxed.wg r1, x\nld.acquire.agent r2, x\nld r3, x");
  CHECK(code(ptx(" st.weak x, 1 ; st.relaxed.sys x, 2 ; st.release.cta x, r0 ;")) ==
        "st x, 1\nst.relaxed.system x, 2\nst.release.wg x, r0");
  CHECK(code(ptx(" fence.sc.gpu ; fence.acq_rel.sys ;")) == "fence.sc.agent\nfence.acq_rel.system");
  CHECK(parse(ptx("")).dialect == "PTX");
}

TEST_CASE("PTX: read-modify-writes have operations, and relaxed.gpu where nothing is said") {
  CHECK(code(ptx(" atom.acq_rel.gpu.exch r0, x, 1 ; atom.relaxed.cta.cas r1, x, 0, r0 ;"
                 " red.release.sys.add x, 1 ; atom.add r2, x, 1 ; red.acquire.gpu.plus x, 2 ;")) ==
        "atom.acq_rel.agent.exch r0, x, 1\natom.relaxed.wg.cas r1, x, 0, r0\n"
        "red.release.system.add x, 1\natom.relaxed.agent.add r2, x, 1\nred.acquire.agent.add x, 2");
  for (const std::string operation : {"exch", "add", "sub", "inc", "and", "or", "xor", "min", "max"}) {
    CHECK(code(ptx(" atom.relaxed.sys." + operation + " r0, x, 1 ;")) ==
          "atom.relaxed.system." + operation + " r0, x, 1");
  }
}

TEST_CASE("PTX: registers are set, computed with and compared") {
  CHECK(code(ptx(" ld r0, 2 ; ld.weak r1, 3 ; mov r2, r1 ; ld r3, r2 ; add r4, r0, 1 ; sub r4, 5, r0 ;"
                 " mul r4, r4, r4 ; and r4, r4, 1 ;")) ==
        "mov r0, 2\nmov r1, 3\nmov r2, r1\nmov r3, r2\nadd r4, r0, 1\nsub r4, 5, r0\nmul r4, r4, r4\n"
        "and r4, r4, 1");
  CHECK(code(ptx(" LC00: ; beq r0,r1,LC00 ; bne r0, 1, LC00 ; blt r0, 1, LC00 ; bge r0, 1, LC01 ;"
                 " bgt r0, 1, LC00 ; ble r0, 1, LC00 ; goto LC01 ; LC01: ;")) ==
        "beq r0, r1, L0\nbne r0, 1, L0\nblt r0, 1, L0\nbge r0, 1, L7\nblt 1, r0, L0\nbge 1, r0, L0\ngoto L7");
  CHECK(code(ptx(" ld.weak %r1, x ; st.weak x, %r1 ;", " P0@cta 0,gpu 0", "P0:%r1 = 0;")) ==
        "ld r1, x\nst x, r1");
}

TEST_CASE("PTX: registers that nothing assigns are 0, also those that only a condition names") {
  const LitmusTest test = parse("PTX t\n{ }\n P0@cta 0,gpu 0 ;\n st.weak x, r3 ;\nexists (P0:r3 == P0:r7)");
  CHECK(test.program.threads[0].registers == std::vector<std::string>{"r3", "r7"});
  CHECK(test.program.threads[0].initial_values == std::vector<std::int32_t>{0, 0});
}

TEST_CASE("PTX: threads are placed on CTAs of GPUs") {
  const Program program = parse(ptx(" | | ;", " P0@cta 0,gpu 0 | P1@cta 0, gpu 1 | P2@cta 2,gpu 1")).program;
  CHECK(program.threads[1].placement.wg == 0);
  CHECK(program.threads[1].placement.agent == 1);
  CHECK(program.threads[2].placement.wg == 2);
  CHECK(program.threads[2].placement.wave == 2);
}

TEST_CASE("PTX: a barrier has a number, which a site may precede, and perhaps participants") {
  CHECK(code(ptx(" bar.cta.sync 0 ; bar.cta.sync 3 ; bar.sync 2 ; barrier.cta.sync.aligned 1 ;")) ==
        "barrier\nbarrier 3\nbarrier 2\nbarrier 1");
  CHECK(code(ptx(" bar.cta.arrive 1, 2, 1 ; bar.cta.sync 1, r0 ; bar.cta.sync 1, 4, 1 ;")) ==
        "barrier.arrive 2, 1\nbarrier r0\nbarrier 4, 1");
  CHECK(code(ptx(" bar.cta.arrive 1 ;")) == "barrier.arrive 1");
}

TEST_CASE("PTX: barriers of different sites never meet") {
  CHECK(code(ptx(" bar.cta.sync 1, 5 ; bar.cta.sync 2, 5 ; bar.cta.sync 2, r0 ; bar.cta.sync 1, r0 ;")) ==
        "barrier 5\nbarrier 32773\nadd %barrier, r0, 32768\nbarrier %barrier\nbarrier r0");
}

TEST_CASE("PTX: a register may hold the address of a location") {
  CHECK(code(ptx(" ld.weak r0, [r1] ; st.weak r1, 1 ;", " P0@cta 0,gpu 0", "P0:r1 = x; P0:r2 = &y;")) ==
        "ld r0, x\nst x, 1");
  CHECK(message_of(ptx(" st.weak y, r1 ;", " P0@cta 0,gpu 0", "P0:r1 = x;")) ==
        "'r1' holds an address, which is no value");
  CHECK(message_of(ptx(" ld.weak r0, [r1] ;")) == "expected a location, found 'r1'");
  CHECK(message_of("PTX t\n{ P0:r1 = x; }\n P0@cta 0,gpu 0 ;\n ld.weak r0, [r1] ;\nexists (P0:r1 == 0)") ==
        "'r1' holds an address, which no question can be about");
}

TEST_CASE("PTX: heads carry what they like, and questions may be bare or missing") {
  const LitmusTest test = parse(
      "PTX 3.2W||x\n\"doc\nmore\"\nHash=12ab\nCom=Rf {\n{x=0;};\nP0@cta 0,gpu 0 ;\nst.weak x, 1 ;\n"
      "locations [x;]\nfilter x == 1\nexists 0==0;\n");
  CHECK(test.name == "3.2W||x");
  CHECK(test.doc == "doc\nmore");
  CHECK(test.condition_text == "(0=0)");
  CHECK(print(test.filter, test.program) == "([x]=1)");
  const LitmusTest none = parse("PTX t\n{ }\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\n");
  CHECK(none.quantifier == Quantifier::forall);
  CHECK(none.condition_text == "(true)");
}

TEST_CASE("PTX: an initial value may be said twice, if it is the same") {
  CHECK(code(ptx("", " P0@cta 0,gpu 0", "x = 1; x = 1; P0:r0 = 2; 0:r0 = 2;")).empty());
  CHECK(message_of(ptx("", " P0@cta 0,gpu 0", "x = 1; x = 2;")) == "'x' is initialised twice");
  CHECK(message_of(ptx("", " P0@cta 0,gpu 0", "P0:r0 = 1; 0:r0 = 2;")) == "'r0' is initialised twice");
}

TEST_CASE("PTX: proxies are ways to a location, and have fences") {
  const std::string names = "x = 0; s @ surface aliases x; t @ texture aliases x; c @ constant aliases x;";
  CHECK(
      code(ptx(
          " sust.weak s, 1 ; suld.relaxed.cta r0, s ; suatom.relaxed.gpu.add r1, s, 1 ; sured.release.sys.add"
          " s, 1 ; tld.weak r2, t ; cold.weak r3, c ; fence.proxy.surface ; fence.proxy.alias ;",
          " P0@cta 0,gpu 0", names)) ==
      "st.surface s, 1\nld.relaxed.wg.surface r0, s\natom.relaxed.agent.add.surface r1, s, 1\n"
      "red.release.system.add.surface s, 1\nld.texture r2, t\nld.constant r3, c\n"
      "fence.proxy.surface\nfence.proxy.alias");
}

TEST_CASE("PTX: what is refused is named") {
  CHECK(message_of(ptx(" fence.proxy.async ;")) == "unknown proxy 'async'");
  CHECK(message_of(ptx(" fence.proxy ;")) == "'fence.proxy' is about no proxy");
  CHECK(message_of(ptx(" fence.proxy.alias.surface ;")) == "a second proxy: 'surface'");
  CHECK(message_of(ptx(" fence.acq_rel.gpu.proxy.alias ;")) ==
        "a fence of a proxy has no order and no scope");
  CHECK(message_of(ptx(" div r0, r1, 2 ;")) == "'div' is not supported: programs have no division");
  CHECK(message_of(ptx("", " P0@cta 0,gpu 0", "x = 0; y @ gneric aliases x;")) == "unknown proxy 'gneric'");
  CHECK(message_of(ptx("", " P0@cta 0,gpu 0", "x = 0; y aliases x;")) ==
        "expected '@' and a proxy, found 'aliases'");
  CHECK(message_of(ptx("", " P0@cta 0,gpu 0", "x = 0; y = x;")) == "pointers in memory are not supported");
  CHECK(message_of(ptx(" bar.cta.red 0 ;")) == "'bar.red' is not supported");
  CHECK(message_of("PTX t\nExpect=sc:never\n{ } P0 ;") == "'Expect' belongs to tests in the HRF dialect");
}

TEST_CASE("PTX: errors have places and remedies") {
  const Diagnostic error = error_of(ptx(" ld.aquire.gpu r0, x ;"));
  CHECK(error.message == "unknown modifier 'aquire'");
  CHECK(error.hint == "did you mean 'acquire'?");
  CHECK(error.place == SourcePlace{4, 5});
  CHECK(message_of(ptx(" ld.sc.gpu r0, x ;")) == "'ld' can't be sc");
  CHECK(message_of(ptx(" ld.acquire r0, x ;")) == "'ld.acquire' is atomic and has no scope");
  CHECK(hint_of(ptx(" ld.acquire r0, x ;")) == "add a scope: ld.acquire.gpu");
  CHECK(hint_of(ptx(" ld.acquire.wg r0, x ;")).starts_with("one of: weak, relaxed, acquire, cta"));
  CHECK(hint_of(ptx("", " P0@wg 0")) == "one of: cta, gpu");
  CHECK(message_of(ptx(" bar.cta 0 ;")) == "'bar.cta' neither waits nor arrives");
  CHECK(message_of(ptx(" bar.cta.sync ;")) == "'bar' takes 1 to 3 operands, found 0");
  CHECK(message_of(ptx(" bar.cta.sync 1, 2, 0 ;")) == "a barrier has one participant at least");
  CHECK(message_of(ptx(" bar.cta.sync -1 ;")) == "the number of a barrier is from 0 to 32767");
  const Diagnostic crowd = error_of(ptx(" bar.cta.sync 1, 2, 3 | ;", " P0@cta 0,gpu 0 | P1@cta 0,gpu 0"));
  CHECK(crowd.message == "the barrier waits for 3, and the CTA has 2 threads");
  CHECK(crowd.place == SourcePlace{4, 21});
  const Diagnostic other =
      error_of(ptx(" bar.cta.sync 1, 2, 2 | bar.cta.sync 1, 2 ;", " P0@cta 0,gpu 0 | P1@cta 0,gpu 0"));
  CHECK(other.message == "threads that meet at a barrier disagree on how many take part");
  CHECK(other.hint == "P0 on line 4 has 2");
  CHECK(other.place == SourcePlace{4, 41});
  CHECK(message_of(ptx(" bar.cta.sync 1 ; bar.cta.sync 1, 1 ;")) ==
        "a barrier with its place in the program, among others without");
  CHECK(message_of(ptx(" bar.sync 1, 2 ;")).starts_with("two operands of 'bar.sync' may be"));
  CHECK(message_of(ptx(" bar.cta.sync r0, 1 ;")) == "expected the number of the barrier's place, found 'r0'");
}

// ---- OPENCL ----

TEST_CASE("OPENCL: atomics have orders and scopes, and sc at the device where nothing is said") {
  CHECK(code(opencl("int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_work_group);\n"
                    "int r1 = atomic_load_explicit(x, memory_order_relaxed);\nint r2 = atomic_load(x);")) ==
        "ld.acquire.wg r0, x\nld.relaxed.agent r1, x\nld.sc.agent r2, x");
  CHECK(code(opencl("atomic_store(x, 1); atomic_store_explicit(x, 2, memory_order_release, "
                    "memory_scope_all_svm_devices); atomic_init(x, 3);")) ==
        "st.sc.agent x, 1\nst.release.system x, 2\nst x, 3");
  CHECK(code(opencl("int r0 = atomic_exchange_explicit(x, 1, memory_order_acq_rel, memory_scope_work_item);\n"
                    "int r1 = atomic_fetch_add(x, r0); atomic_fetch_sub(x, 1);")) ==
        "atom.acq_rel.wave.exch r0, x, 1\natom.sc.agent.add r1, x, r0\nred.sc.agent.sub x, 1");
  for (const std::string operation : {"and", "or", "xor", "min", "max"}) {
    CHECK(code(opencl("atomic_fetch_" + operation + "(x, 1);")) == "red.sc.agent." + operation + " x, 1");
  }
}

TEST_CASE("OPENCL: fences and barriers say which memory they order") {
  CHECK(code(opencl(
            "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);\n"
            "atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_release, memory_scope_work_group);\n"
            "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, "
            "memory_scope_device);\n"
            "atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_relaxed, memory_scope_device);")) ==
        "fence.acq_rel.agent.global\nfence.release.wg.local\nfence.sc.agent");
  CHECK(code(opencl("barrier(CLK_GLOBAL_MEM_FENCE); B2: barrier(CLK_LOCAL_MEM_FENCE);\n"
                    "END: work_group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, "
                    "memory_scope_work_group);")) == "barrier.global\nbarrier.local 2\nbarrier 32768");
}

TEST_CASE("OPENCL: parameters say where a location lies and what its type admits") {
  const Program program = parse(
                              "OPENCL t\n{ [x] = 1; }\n"
                              "P0@wg 0, dev 0 (global atomic_int* x, volatile global int* y, local "
                              "atomic_int *z, atomic_uint* w) "
                              "{ }\nP1@wg 0, dev 1 (global int* x) { }\nexists (x=1)")
                              .program;
  REQUIRE(program.locations.size() == 4);
  CHECK(program.locations[0].initial_value == 1);
  CHECK_FALSE(program.locations[0].atomic);
  CHECK_FALSE(program.locations[1].atomic);
  CHECK(program.locations[1].region == Region::global);
  CHECK(program.locations[2].atomic);
  CHECK(program.locations[2].region == Region::local);
  CHECK(program.locations[3].atomic);
  CHECK(program.threads[1].placement.agent == 1);
}

TEST_CASE("OPENCL: plain syntax is a plain access, whatever the type") {
  CHECK(code(opencl("*x = 1; int r0 = *x; *y = *x + r0;")) ==
        "st x, 1\nld r0, x\nld %_0, x\nadd %_0, %_0, r0\nst y, %_0");
}

TEST_CASE("OPENCL: a kernel without a placement is a work-group of its own") {
  const Program program = parse("OPENCL t\n{ }\nP0 (int* x) { }\nP1 (int* x) { }\nexists (true)").program;
  CHECK(program.threads[1].placement.wg == 1);
  CHECK(program.threads[1].placement.agent == 0);
}

TEST_CASE("OPENCL: errors have places and remedies") {
  CHECK(message_of(opencl("int r0 = atomic_laod(x);")) == "unknown function 'atomic_laod'");
  CHECK(hint_of(opencl("int r0 = atomic_laod(x);")) == "did you mean 'atomic_load'?");
  CHECK(error_of(opencl("int r0 = atomic_laod(x);")).place == SourcePlace{4, 10});
  CHECK(hint_of(opencl("atomic_store_explicit(x, 1, memory_order_relase);")) ==
        "did you mean 'memory_order_release'?");
  CHECK(hint_of(opencl("atomic_store_explicit(x, 1, memory_order_release, memory_scope_devise);")) ==
        "did you mean 'memory_scope_device'?");
  CHECK(message_of(opencl("atomic_store(x);")) == "'atomic_store' takes 2 arguments, found 1");
  CHECK(message_of(opencl("barrier(CLK_IMAGE_MEM_FENCE);")) == "unknown fence flag 'CLK_IMAGE_MEM_FENCE'");
  CHECK(message_of(opencl("barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);")) ==
        "a barrier of scope 'memory_scope_device' is not supported");
  CHECK(message_of(opencl("L: *y = 1;")) == "only barriers have labels");
  CHECK(message_of(opencl("*z = 1;")) == "P0 has no parameter 'z'");
  CHECK(hint_of(opencl("atomic_store(X, 1);")) == "did you mean 'x'?");
  CHECK(message_of(opencl("", "global itn* x")) == "unknown type 'itn'");
  CHECK(message_of(opencl("", "global int x")) == "expected a pointer type, found 'x'");
  CHECK(message_of(opencl("", "int** x")) == "pointers in variables are not supported");
  CHECK(message_of("OPENCL t\n{ }\nP0@wg 0, div 0 (int* x) { }") == "unknown placement 'div'");
  CHECK(message_of("OPENCL t\n{ }\nP1 (int* x) { }") == "expected thread P0, found 'P1'");
  CHECK(message_of("OPENCL t\n{ }\nexists (true)") == "expected thread P0, found 'exists'");
  CHECK(hint_of("OPENCL t\n{ }\nP0 () { }\nexist (true)") == "did you mean 'exists'?");
}

// ---- C ----

TEST_CASE("C: atomics have the system scope, and threads are work-groups of one agent") {
  CHECK(code(c("int r0 = atomic_load_explicit(x, memory_order_acquire); atomic_store(x, 2);\n"
               "atomic_thread_fence(memory_order_seq_cst); atomic_thread_fence(memory_order_relaxed);")) ==
        "ld.acquire.system r0, x\nst.sc.system x, 2\nfence.sc.system");
  const Program program = parse("C t\n{ }\nP0 (int* x) { }\nP1 (int* x) { }\nexists (true)").program;
  CHECK(program.threads[0].placement.agent == program.threads[1].placement.agent);
  CHECK(program.threads[0].placement.wg != program.threads[1].placement.wg);
  CHECK(parse(c("")).dialect == "C");
}

TEST_CASE("C: an order that an access cannot have counts for the part that it can") {
  CHECK(code(c("int r0 = atomic_load_explicit(x, memory_order_release);\n"
               "int r1 = atomic_load_explicit(x, memory_order_acq_rel);\n"
               "int r2 = atomic_load_explicit(x, memory_order_consume);\n"
               "atomic_store_explicit(x, 1, memory_order_acquire);")) ==
        "ld.relaxed.system r0, x\nld.acquire.system r1, x\nld.acquire.system r2, x\nst.relaxed.system x, 1");
}

TEST_CASE("C: expressions are data, in the order of C's precedence") {
  CHECK(code(c("int a = 1, b; b = a + 2 * a - 3;")) ==
        "mov %a, 1\nmul %_0, 2, %a\nadd %_0, %a, %_0\nsub %b, %_0, 3");
  CHECK(code(c("int r0 = 2; r0 = r0 == 1 | r0 & 4;")) ==
        "mov r0, 2\neq %_0, r0, 1\nand %_1, r0, 4\nor r0, %_0, %_1");
  CHECK(code(c("int r0 = 2; r0 = r0 > 1; r0 = 1 >= r0; r0 = !r0; r0 = -r0; r0 = ~r0; r0 = (r0 ^ r0) + 1;")) ==
        "mov r0, 2\nlt r0, 1, r0\nle r0, r0, 1\neq r0, r0, 0\nsub r0, 0, r0\nxor r0, r0, -1\n"
        "xor %_0, r0, r0\nadd r0, %_0, 1");
  CHECK(code(c("int r0 = 1 + 2 * 3 == 7; r0 += 2; r0++; *y = 0x10u; *y -= 1;")) ==
        "mov r0, 1\nadd r0, r0, 2\nadd r0, r0, 1\nst y, 16\nld %_0, y\nsub %_0, %_0, 1\nst y, %_0");
  CHECK(code(c("int r0 = (int)*y; uint32_t r1 = (volatile int)(r0);")) == "ld r0, y\nmov r1, r0");
}

TEST_CASE("C: && and || branch only where they guard an access") {
  CHECK(code(c("int a = 0; int b = 0; int r0 = a && b == 1;")) ==
        "mov %a, 0\nmov %b, 0\nne %_0, %a, 0\neq %_1, %b, 1\nand r0, %_0, %_1");
  CHECK(code(c("int a = 0; int r0 = a || *y;")) ==
        "mov %a, 0\nmov %_0, 0\nbne %a, 0, L5\nld %_1, y\nbeq %_1, 0, L6\nmov %_0, 1\nmov r0, %_0");
}

TEST_CASE("C: if, while, do and for become branches") {
  CHECK(code(c("int r0 = *y; if (r0 == 1 && r0 < 3) *y = 1; else { *y = 2; }")) ==
        "ld r0, y\nbne r0, 1, L5\nbge r0, 3, L5\nst y, 1\ngoto L6\nst y, 2");
  CHECK(code(c("while (atomic_load_explicit(x, memory_order_relaxed) != 1) { }")) ==
        "ld.relaxed.system %_0, x\nbeq %_0, 1, L3\ngoto L0");
  CHECK(code(c("int r0 = 0; do { r0++; if (r0 > 5) break; continue; } while (r0 <= 3);")) ==
        "mov r0, 0\nadd r0, r0, 1\nbge 5, r0, L4\ngoto L6\ngoto L5\nbge 3, r0, L1");
  CHECK(code(c("for (int i = 0; i < 2; i++) *y = i;")) ==
        "mov %i, 0\nbge %i, 2, L5\nst y, %i\nadd %i, %i, 1\ngoto L1");
  CHECK(code(c("for (;;) { return; }")) == "goto L2\ngoto L0");
}

TEST_CASE("C: a compare-and-swap reads what it expects, and writes it back when it fails") {
  CHECK(
      code(c("int r0 = atomic_compare_exchange_strong_explicit(x, y, 2, memory_order_acq_rel, "
             "memory_order_relaxed);")) ==
      "ld %_0, y\natom.acq_rel.system.cas.relaxed %_1, x, %_0, 2\neq r0, %_1, %_0\nbne r0, 0, L5\nst y, %_1");
  CHECK(code(c("int e = 0; atomic_compare_exchange_weak(x, &e, 2);")) ==
        "mov %e, 0\natom.sc.system.cas.weak %_0, x, %e, 2\nbeq %_0, %e, L4\nmov %e, %_0");
  // Where a weak one's success is asked for, the values do not tell.
  CHECK(code(c("int e = 0; int r0 = atomic_compare_exchange_weak(x, &e, 2);")) ==
        "mov %e, 0\natom.sc.system.cas.weak %_0, r0, x, %e, 2\nbne r0, 0, L4\nmov %e, %_0");
  CHECK(code(c("int e = 0; e = atomic_compare_exchange_weak(x, &e, 2);")) ==
        "mov %e, 0\natom.sc.system.cas.weak %_0, %_1, x, %e, 2\nbne %_1, 0, L4\nmov %e, %_0\nmov %e, %_1");
  // The order of a failure is said where it is not the reading part of the order.
  CHECK(code(c("int e = 0; SCAS(x, &e, 2, memory_order_release, memory_order_release);")) ==
        "mov %e, 0\natom.release.system.cas %_0, x, %e, 2\nbeq %_0, %e, L4\nmov %e, %_0");
}

TEST_CASE("C: elements of arrays are locations, and computed ones have an index") {
  const std::string text =
      "C t\n{ int x[3] = {4, 5}; y; }\nP0 (atomic_int* x, int* y) {\n  int r0 = *y;\n  *(x + 1) = x[2];\n"
      "  atomic_store(x + r0, 1);\n  x[r0 + 1] = *(1 + x);\n  atomic_store(&x[r0], 2);\n}\nexists (x[1] = 5)";
  const Program program = parse(text).program;
  REQUIRE(program.locations.size() == 4);
  CHECK(program.locations[0].array == 3);
  CHECK(program.locations[1].name == "x[1]");
  CHECK(program.locations[1].initial_value == 5);
  CHECK(code(text) ==
        "ld r0, y\nld %_0, x[2]\nst x[1], %_0\nst.sc.system x[r0], 1\nadd %_0, r0, 1\nld %_1, x[1]\n"
        "st x[%_0], %_1\nst.sc.system x[r0], 2");
  CHECK(parse(text).condition_text == "([x[1]]=5)");
  const auto with_array = [](const std::string& body) {
    return code("C t\n{ int x[3]; }\nP0 (atomic_int* x) { int r0 = 0; " + body + " }\nexists (true)");
  };
  CHECK(with_array("x[r0 + 1] += 2 * r0;") ==
        "mov r0, 0\nadd %_0, r0, 1\nld %_1, x[%_0]\nmul %_2, 2, r0\nadd %_1, %_1, %_2\nst x[%_0], %_1");
  CHECK(with_array("r0 = SCAS(x, x + r0, 1);") ==
        "mov r0, 0\nld %_0, x[r0]\natom.sc.system.cas %_1, x, %_0, 1\neq %_2, %_1, %_0\nbne %_2, 0, L6\n"
        "st x[r0], %_1\nmov r0, %_2");
  CHECK(message_of(c("*(x + 1) = 2;")) == "'x' has no element 1");
}

TEST_CASE("C: the initial state has types and macros, and may leave values out") {
  const Program program =
      parse(c("r5 = r5;",
              "int x = 3; atomic_int y = ATOMIC_VAR_INIT(4); int z; [w] = 5; int 0:r5 = 6; 0:r6 = 7"))
          .program;
  REQUIRE(program.locations.size() == 4);
  CHECK(program.locations[0].initial_value == 3);
  CHECK(program.locations[1].initial_value == 4);
  CHECK(program.locations[2].initial_value == 0);
  CHECK(program.locations[3].initial_value == 5);
  CHECK(program.threads[0].registers[0] == "r5");
  CHECK(program.threads[0].initial_values[0] == 6);
}

TEST_CASE("C: a parameter in a condition is a register with an address, which is not 0") {
  const LitmusTest test = parse("C t\n{ }\nP0 (atomic_int* x) { int r0 = atomic_load(x); }\nexists (0:x=0)");
  REQUIRE(test.program.threads[0].registers.size() == 2);
  CHECK(test.program.threads[0].registers[1] == "x");
  CHECK(test.program.threads[0].initial_values[1] != 0);
}

TEST_CASE("C: what is refused is named") {
  CHECK(message_of(c("int r0 = x;")) == "a pointer is used as a value: pointers are not supported as values");
  CHECK(message_of(c("int *p = x;")) == "pointers in variables are not supported");
  CHECK(message_of(c("", "int *x = 0;")) == "pointers in memory are not supported");
  CHECK(message_of(c("int r0 = 4 / 2;")) == "'/' is not supported: programs do not divide or shift");
  CHECK(message_of(c("int r0 = *y ? 1 : 2;")) == "'? :' is not supported");
  CHECK(message_of(c("goto END;")) == "goto is not supported");
  CHECK(message_of(c("break;")) == "'break' stands outside a loop");
  CHECK(message_of(c("r0 = 1;")) == "unknown variable 'r0' in P0");
  CHECK(hint_of(c("r0 = 1;")) == "declare it: int r0;");
  CHECK(message_of(c("x = 1;")) == "'x' is nothing that can be assigned to");
  CHECK(hint_of(c("x = 1;")) == "write *x");
  CHECK(message_of(c("int x = 1;")) == "'x' is a parameter of P0 already");
  CHECK(message_of(c("int r0 = 1")) == "expected an operator or ';', found '}'");
  CHECK(message_of(c("if (1) ")) == "expected a statement, found '}'");
  CHECK(message_of(c("int r0 = (1;")) == "expected an operator or ')', found ';'");
  CHECK(message_of("C t\n{ }\nP0 (int* x) { *x = 1;") ==
        "expected a statement or '}', found the end of the file");
  CHECK(message_of("C t\n{ }\nP0 (int* x) { /* *x = 1; }") == "expected a comment that ends, found '/'");
}

// ---- All dialects ----

TEST_CASE("a program of any dialect is printed as one of HRF that reads the same") {
  const std::vector<std::string> texts{
      ptx(" bar.cta.arrive 1, 2, 1 ; bar.cta.sync 2, r0 ; atom.relaxed.gpu.cas r0, x, 1, 2 ; ble r0, 1, LC00 "
          ";"
          " LC00: ;"),
      opencl("B1: barrier(CLK_LOCAL_MEM_FENCE); int total = *y; total = total > 1;",
             "local atomic_int* x, global int* y, atomic_int* r1"),
      c("int e = 0; while (!atomic_compare_exchange_weak_explicit(x, &e, e + 1, memory_order_acq_rel, "
        "memory_order_relaxed)) { } int unused; x[e] = 1;",
        "int x[2] = {1, 2}; int r5 = 3; 0:r6 = 1;"),
  };
  for (const std::string& text : texts) {
    const LitmusTest test = parse(text);
    CAPTURE(quoted(test));
    const LitmusTest again = parse(quoted(test));
    CHECK(same_program(test.program, again.program));
    CHECK(quoted(again) == quoted(test));
  }
}

TEST_CASE("memory systems refuse by name what they do not run") {
  CHECK(refusal(ptx(" bar.cta.sync 0 | bar.cta.sync 0 ;", " P0@cta 0,gpu 0 | P1@cta 0,gpu 0")).empty());
  CHECK(refusal(ptx(" bar.cta.sync 1 | bar.cta.sync 1 ;\n bar.cta.sync 2 | bar.cta.sync 2 ;",
                    " P0@cta 0,gpu 0 | P1@cta 0,gpu 0"))
            .empty());
  for (const std::string some : {" bar.cta.sync 1 | bar.cta.sync 2 ;", " bar.cta.arrive 0 | bar.cta.sync 0 ;",
                                 " bar.cta.sync 1, 1, 1 | ;", " bar.cta.sync r0 | bar.cta.sync 0 ;",
                                 " bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;"}) {
    CAPTURE(some);
    CHECK(refusal(ptx(some, " P0@cta 0,gpu 0 | P1@cta 0,gpu 0")).empty());
  }
  CHECK(
      refusal(ptx(" ld.weak r0, x ; bar.cta.sync r0 ;", " P0@cta 0,gpu 0")) ==
      "'t' has a barrier whose number or participants a register holds, and on memory systems both are known "
      "beforehand");
  CHECK(refusal(c("int r0 = *y; *(x + r0) = 1;")) ==
        "'t' computes addresses, and memory systems run no such program");
  std::string many = "int a = 0";
  for (int i = 1; i < 9; ++i) many += ", a" + std::to_string(i) + " = 0";
  CHECK(refusal(c(many + ";")) == "'t' needs 9 registers in one thread, this build holds 8");
}

TEST_CASE("junk in any dialect is refused quickly") {
  const auto repeated = [](const std::string& piece) {
    std::string text;
    while (text.size() < 500000) text += piece;
    return text;
  };
  const std::vector<std::string> texts{
      "PTX " + repeated("a=b\n"),
      "PTX t\n" + repeated("word "),
      "C t\n{ " + repeated("int "),
      "C t\n{ x = {" + repeated("1, "),
      c(repeated("r0 ")),
      c("int r0 = " + repeated("(")),
      c("int r0 = " + repeated("1 + ") + "1;"),
      c("int r0 = " + repeated("!") + "1;"),
      c("int r0 = " + repeated("atomic_load(")),
      c("int r0 = " + repeated("x[")),
      c(repeated("{")),
      c(repeated("if (1) ")),
      c(repeated(";") + "r"),
      c("int r0;" + repeated("r0 = 1;")),
      c(repeated("int a;") + "%"),
      "OPENCL t\n{ }\nP0 (" + repeated("global "),
      "OPENCL t\n{ }\n" + repeated("P0 () { } "),
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
