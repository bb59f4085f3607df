// Tests of processors: what their instructions become, which verdicts models give them that are written in
// herd's words, and how their errors read.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "checker/axiomatic/model.hpp"
#include "checker/language/test.hpp"
#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "tests/texts.hpp"

using namespace lockstep;

namespace {

std::string one_thread(const std::string& dialect, const std::string& rows, const std::string& initial = "",
                       const std::string& exists = "true") {
  return dialect + " t\n{ " + initial + " }\n P0 ;\n" + rows + "\nexists (" + exists + ")\n";
}
std::string x86(const std::string& rows) {
  return one_thread("X86", rows);
}
std::string x86_64(const std::string& rows) {
  return one_thread("X86_64", rows, "0:rbx=x;");
}
std::string aarch64(const std::string& rows, const std::string& initial = "0:X1=x; 0:X2=y;") {
  return one_thread("AArch64", rows, initial);
}
std::string riscv(const std::string& rows) {
  return one_thread("RISCV", rows, "0:x6=x; 0:x8=y;");
}

// A test of two threads or more: columns of instructions, one string each.
bool seen(const AxiomaticModel& model, const std::string& dialect, const std::string& initial,
          const std::vector<std::vector<std::string>>& threads, const std::string& exists) {
  std::string text = dialect + " t\n{ " + initial + " }\n";
  std::size_t rows = 0;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    text += (t == 0 ? " P" : " | P") + std::to_string(t);
    rows = std::max(rows, threads[t].size());
  }
  text += " ;\n";
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t t = 0; t < threads.size(); ++t) {
      text += std::string(t == 0 ? " " : " | ") + (row < threads[t].size() ? threads[t][row] : "");
    }
    text += " ;\n";
  }
  text += "exists (" + exists + ")\n";
  const ModelRun run = judge(parse(text), model);
  INFO(text << run.message);
  REQUIRE(run.status == RunStatus::complete);
  REQUIRE(run.executions > 0);
  return run.tally.positive > 0;
}

const AxiomaticModel& model(const std::string& name) {
  static std::map<std::string, AxiomaticModel> models;
  const bool ours = name == "sc" || name == "tso" || name == "rmo";
  const std::string path =
      ours ? name : std::string(LOCKSTEP_SOURCE_DIR) + "/tests/data/models/" + name + ".cat";
  return models.try_emplace(name, path).first->second;
}

using Rows = std::vector<std::string>;

// Message passing and store buffering on AArch64, with what stands between the accesses of each thread.
bool arm_message(const Rows& between_writes, const Rows& between_reads,
                 const std::string& write = "STR W0,[X3]", const std::string& read = "LDR W0,[X3]",
                 const std::string& last = "LDR W5,[X1]") {
  Rows writer{"MOV W0,#1", "STR W0,[X1]"};
  writer.insert(writer.end(), between_writes.begin(), between_writes.end());
  writer.push_back(write);
  Rows reader{read};
  reader.insert(reader.end(), between_reads.begin(), between_reads.end());
  reader.push_back(last);
  return seen(model("aarch64"), "AArch64", "0:X1=x; 0:X3=y; 1:X1=x; 1:X3=y;", {writer, reader},
              "1:X0=1 /\\ 1:X5=0");
}
bool arm_buffers(const std::string& write, const Rows& between, const std::string& read) {
  const auto side = [&](const std::string& mine, const std::string& other) {
    Rows rows{"MOV W0,#1", write + " W0,[" + mine + "]"};
    rows.insert(rows.end(), between.begin(), between.end());
    rows.push_back(read + " W2,[" + other + "]");
    return rows;
  };
  return seen(model("aarch64"), "AArch64", "0:X1=x; 0:X3=y; 1:X1=x; 1:X3=y;",
              {side("X1", "X3"), side("X3", "X1")}, "0:X2=0 /\\ 1:X2=0");
}
bool riscv_message(const Rows& between_writes, const Rows& between_reads) {
  Rows writer{"li x5,1", "sw x5,0(x6)"};
  writer.insert(writer.end(), between_writes.begin(), between_writes.end());
  writer.emplace_back("sw x5,0(x8)");
  Rows reader{"lw x5,0(x8)"};
  reader.insert(reader.end(), between_reads.begin(), between_reads.end());
  reader.emplace_back("lw x7,0(x6)");
  return seen(model("riscv"), "RISCV", "0:x6=x; 0:x8=y; 1:x6=x; 1:x8=y;", {writer, reader},
              "1:x5=1 /\\ 1:x7=0");
}
bool riscv_buffers(const std::string& first, const std::string& second = "fence r,r") {
  return seen(model("riscv"), "RISCV", "0:x6=x; 0:x8=y; 1:x6=x; 1:x8=y;",
              {{"li x5,1", "sw x5,0(x6)", first, second, "lw x7,0(x8)"},
               {"li x5,1", "sw x5,0(x8)", first, second, "lw x7,0(x6)"}},
              "0:x7=0 /\\ 1:x7=0");
}
bool x86_buffers(const std::string& by, const std::string& store, const Rows& between) {
  const auto side = [&](const std::string& mine, const std::string& other) {
    Rows rows{"MOV EAX,$1", store + " [" + mine + "],EAX"};
    rows.insert(rows.end(), between.begin(), between.end());
    rows.push_back("MOV EBX,[" + other + "]");
    return rows;
  };
  return seen(model(by), "X86", "", {side("x", "y"), side("y", "x")}, "0:EBX=0 /\\ 1:EBX=0");
}

}  // namespace

TEST_CASE("processors: threads are the host's, and their accesses are relaxed at least") {
  const LitmusTest test = parse(x86(" MOV [x],$1 ; MOV EAX,[y] ;"));
  CHECK(test.dialect == "X86");
  CHECK(test.program.threads[0].placement.host);
  CHECK(code(x86(" MOV [x],$1 ; MOV EAX,[y] ; MOV EBX,EAX ;")) ==
        "st.relaxed.system x, 1\nld.relaxed.system %EAX, y\nmov %EBX, %EAX");
}

TEST_CASE("X86_64: operands come in AT&T's order, with the letter of their width or without") {
  CHECK(code(x86_64(" movq $1,(y) ; movl (%rbx),%eax ; mov %eax,%ecx ; addl $2,%ecx ; MFENCE ; sfence ;")) ==
        "st.relaxed.system y, 1\nld.relaxed.system %rax, x\nmov %rcx, %rax\nadd %rcx, %rcx, 2\n"
        "fence.sc.system.mfence\nfence.sfence");
  CHECK(code(x86_64(" movl $1,x(%rip) ;")) == "st.relaxed.system x, 1");
  CHECK(code(x86_64(" lock xaddl %eax,(y) ; xchgq %rax,(%rbx) ; lock incl (y) ;")) ==
        "atom.sc.system.add %rax, y, %rax\natom.sc.system.exch %rax, x, %rax\nred.sc.system.add y, 1");
}

TEST_CASE("X86: a comparison is kept for the branch behind it") {
  CHECK(code(x86(" L0: CMP [x],$1 ; JNE L0 ;")) ==
        "ld.relaxed.system %passing, x\nmov %compared, %passing\nmov %with, 1\nbne %compared, %with, L0");
}

TEST_CASE("AArch64: orders, and RMWs by their letters") {
  CHECK(code(aarch64(" LDR W0,[X1] ; LDAR X0,[X1] ; LDAPR W0,[X1] ; STR W0,[X2] ; STLR WZR,[X2] ;")) ==
        "ld.relaxed.system %X0, x\nld.sc.system %X0, x\nld.acquire.system.acquirepc %X0, x\n"
        "st.relaxed.system y, %X0\nst.sc.system y, 0");
  CHECK(code(aarch64(" SWP W3,W4,[X1] ; LDADDA W3,W4,[X1] ; LDSETL W3,W4,[X1] ; LDEORAL W3,WZR,[X1] ;"
                     " STADD W3,[X1] ; CAS W3,W4,[X2] ;")) ==
        "atom.relaxed.system.exch %X4, x, %X3\natom.acquire.system.add %X4, x, %X3\n"
        "atom.release.system.or %X4, x, %X3\natom.sc.system.xor %discarded, x, %X3\n"
        "red.relaxed.system.add x, %X3\natom.relaxed.system.cas %X3, y, %X3, %X4");
  CHECK(code(aarch64(" LDCLR W3,W4,[X1] ;")) ==
        "xor %passing, %X3, -1\natom.relaxed.system.and %X4, x, %passing");
  CHECK(code(aarch64(" DMB SY ; DMB ISHLD ; DSB ST ; ISB ;")) ==
        "fence.sc.system.dmb_sy\nfence.acquire.system.dmb_ishld\nfence.dsb_st\nfence.isb");
}

TEST_CASE("RISCV: registers by number and by convention, fences by what they order") {
  CHECK(code(riscv(" lw a0,0(x6) ; sw a0,(x8) ; amoswap.w.aq t0,a0,(x6) ; amoor.d.aqrl x0,t0,(x8) ;")) ==
        "ld.relaxed.system %x10, x\nst.relaxed.system y, %x10\natom.acquire.system.exch %x5, x, %x10\n"
        "atom.sc.system.or %discarded, y, %x5");
  CHECK(code(riscv(" fence ; fence iorw,iorw ; fence rw,w ; fence r,r ; fence.tso ;")) ==
        "fence.sc.system.fence_rw_rw\nfence.sc.system.fence_rw_rw\nfence.release.system.fence_rw_w\n"
        "fence.fence_r_r\nfence.acq_rel.system.fence_tso");
}

TEST_CASE("processors: an address may be computed, and depends on what it is computed from") {
  CHECK(code(aarch64(" LDR W0,[X1] ; EOR W3,W0,W0 ; LDR W4,[X2,W3,SXTW] ; ADD X5,X2,X3 ; STR W0,[X5] ;")) ==
        "ld.relaxed.system %X0, x\nxor %X3, %X0, %X0\nld.relaxed.system %X4, y[%X3]\nadd %X5, 0, %X3\n"
        "st.relaxed.system y[%X5], %X0");
  CHECK(error_of(aarch64(" STR W0,[X5] ;")).message == "'X5' holds no address");
  CHECK(error_of(aarch64(" MOV W1,#1 ;")).message == "'X1' holds an address, which is no value");
  CHECK(error_of(aarch64(" MOV W5,#1 ; ADD X5,X1,X6 ;")).message ==
        "'X5' is given an address, and holds a value elsewhere");
  CHECK(error_of(aarch64(" LDR W0,[X1,#4] ;")).message == "an address 4 bytes away is not supported");
}

TEST_CASE("x86-TSO: only a store and a later load are exchanged, and no fence for stores alone prevents it",
          "[models]") {
  for (const std::string by : {"tso", "x86"}) {
    CHECK(x86_buffers(by, "MOV", {}));
    CHECK(x86_buffers(by, "MOV", {"SFENCE"}));
    CHECK_FALSE(x86_buffers(by, "MOV", {"MFENCE"}));
    CHECK_FALSE(x86_buffers(by, "XCHG", {}));
    CHECK_FALSE(seen(model(by), "X86", "", {{"MOV [x],$1", "MOV [y],$1"}, {"MOV EAX,[y]", "MOV EBX,[x]"}},
                     "1:EAX=1 /\\ 1:EBX=0"));
  }
  CHECK_FALSE(x86_buffers("sc", "MOV", {}));
}

TEST_CASE("AArch64: message passing needs order on both sides", "[models]") {
  CHECK(arm_message({}, {}));
  CHECK(arm_message({"DMB SY"}, {}));
  CHECK(arm_message({}, {"DMB SY"}));
  CHECK_FALSE(arm_message({"DMB SY"}, {"DMB SY"}));
  CHECK_FALSE(arm_message({"DMB ST"}, {"DMB LD"}));
  CHECK(arm_message({"DMB LD"}, {"DMB LD"}));
  CHECK(arm_message({"DMB ST"}, {"DMB ST"}));
  CHECK_FALSE(arm_message({}, {}, "STLR W0,[X3]", "LDAR W0,[X3]"));
  CHECK_FALSE(arm_message({}, {}, "STLR W0,[X3]", "LDAPR W0,[X3]"));
  CHECK(arm_message({}, {}, "STLR W0,[X3]"));
  // By dependencies.
  CHECK_FALSE(
      arm_message({"DMB ISH"}, {"EOR W2,W0,W0"}, "STR W0,[X3]", "LDR W0,[X3]", "LDR W5,[X1,W2,SXTW]"));
  CHECK(arm_message({"DMB ISH"}, {"CBNZ W0,L", "L:"}));
  CHECK_FALSE(arm_message({"DMB ISH"}, {"CBNZ W0,L", "L: ISB"}));
}

TEST_CASE("AArch64: a release and a later acquire are in order, unless the acquire is LDAPR", "[models]") {
  CHECK(arm_buffers("STR", {}, "LDR"));
  CHECK_FALSE(arm_buffers("STR", {"DMB SY"}, "LDR"));
  CHECK(arm_buffers("STR", {"DMB ST"}, "LDR"));
  CHECK_FALSE(arm_buffers("STLR", {}, "LDAR"));
  CHECK(arm_buffers("STLR", {}, "LDAPR"));
}

TEST_CASE("RISCV: fences order what they name", "[models]") {
  CHECK(riscv_message({}, {}));
  CHECK_FALSE(riscv_message({"fence w,w"}, {"fence r,r"}));
  CHECK_FALSE(riscv_message({"fence rw,w"}, {"fence r,rw"}));
  CHECK_FALSE(riscv_message({"fence.tso"}, {"fence.tso"}));
  CHECK(riscv_message({"fence w,r"}, {"fence r,r"}));
  CHECK(riscv_message({"fence w,w"}, {"fence r,w"}));
  CHECK(riscv_buffers("fence w,w"));
  CHECK(riscv_buffers("fence.tso"));
  CHECK_FALSE(riscv_buffers("fence w,r"));
  CHECK_FALSE(riscv_buffers("fence"));
  CHECK(riscv_buffers("fence rw,w", "fence r,rw"));
}

TEST_CASE("a conditional store fails where another wrote in between, and may fail always", "[models]") {
  const std::vector<Rows> once{{"LDXR W0,[X1]", "ADD W2,W0,#1", "STXR W3,W2,[X1]"},
                               {"LDXR W0,[X1]", "ADD W2,W0,#1", "STXR W3,W2,[X1]"}};
  for (const std::string by : {"sc", "aarch64"}) {
    const auto asked = [&](const std::string& exists) {
      return seen(model(by), "AArch64", "0:X1=x; 1:X1=x;", once, exists);
    };
    CHECK_FALSE(asked("0:X3=0 /\\ 1:X3=0 /\\ ~ (x=2)"));
    CHECK(asked("0:X3=1 /\\ 1:X3=1"));
    CHECK(asked("0:X3=0 /\\ 1:X3=1 /\\ x=1"));
    // Nothing was watched, or another location.
    CHECK_FALSE(seen(model(by), "AArch64", "0:X1=x;", {{"MOV W2,#1", "STXR W3,W2,[X1]"}}, "0:X3=0"));
    CHECK_FALSE(seen(model(by), "AArch64", "0:X1=x; 0:X4=y;",
                     {{"LDXR W0,[X1]", "MOV W2,#1", "STXR W3,W2,[X4]"}}, "0:X3=0"));
  }
}

TEST_CASE("memory systems take a processor's test where its orders say all that it says") {
  const auto refusal = [](const std::string& text) {
    Subject subject = subject_named("sc");
    subject.program = std::make_shared<const Program>(parse(text).program);
    try {
      (void)subject.build();
    } catch (const BadInput& bad) {
      return bad.diagnostic().message;
    }
    return std::string();
  };
  CHECK(refusal(x86(" MOV [x],$1 ; MFENCE ; XCHG [y],EAX ;")).empty());
  CHECK(refusal(aarch64(" STLR W0,[X1] ; DMB LD ; LDAPR W0,[X2] ;")).empty());
  CHECK(refusal(aarch64(" LDXR W0,[X1] ;")) ==
        "'t' has stores that succeed only if nobody wrote there, which models alone understand");
  CHECK(refusal(aarch64(" DMB ST ;")) ==
        "'t' has a fence that is neither an acquire nor a release, which models alone understand");
}

TEST_CASE("processors: what is not understood is refused by name") {
  CHECK(error_of(x86(" MVO EAX,$1 ;")).hint == "did you mean 'mov'?");
  CHECK(error_of(x86(" XADD [x],EAX ;")).message == "'XADD' without a lock is not supported");
  CHECK(error_of(x86(" LOCK MOV [x],$1 ;")).message == "'MOV' takes no lock prefix");
  CHECK(error_of(x86(" MOV [x],[y] ;")).message == "one operand is in memory at most");
  CHECK(error_of(x86(" L0: ADD EAX,$1 ; JNE L0 ;")).message == "what 'JNE' goes by is not known");
  CHECK(error_of(x86_64(" movl $1,(%rdx) ;")).message == "'%rdx' holds no address");
  CHECK(error_of(x86_64(" movl $1,(%foo) ;")).message == "there is no register '%foo'");
  CHECK(error_of(x86_64(" movl $1,4(%rip) ;")).message == "there is no register '%rip'");
  CHECK(error_of(aarch64(" ADD X5,X1,X6,LSR ;")).message == "unknown extension 'LSR'");
  CHECK(error_of(aarch64(" DMB OSH ;")).message == "unknown fence 'dmb osh'");
  CHECK(hint_of("X86 t\n{ }\n P0 ;\n nop ;\nexsts (0:EAX=1)\n") ==
        "a question begins with exists, ~exists or forall");
  CHECK(error_of(aarch64(" LDR W0 ;")).message == "'LDR' takes 2 operands, found 1");
  CHECK(error_of(aarch64(" LDR W0,[X1,W2,LSL] ;", "0:X1=x;")).message == "unknown extension 'LSL'");
  CHECK(error_of(aarch64("", "0:r1=x;")).message == "AArch64 has no register 'r1'");
  CHECK(error_of(one_thread("AArch64", " LDR W0,[X1] ;", "0:X1=x;", "0:X1=0")).message ==
        "'X1' holds an address, which no question can be about");
  CHECK(error_of(one_thread("RISCV", " add x5,x6,x7 ;", "0:x6=x;", "0:x5=0")).message ==
        "'x5' holds an address, which no question can be about");
  CHECK(error_of(riscv(" fence x,w ;")).message == "unknown fence 'fence x w'");
  CHECK(error_of(riscv(" beqz x5,NOWHERE ;")).message == "unknown label 'NOWHERE' in P0");
  CHECK(error_of(one_thread("RISCV", " nop ;", "0:x0=1;")).message == "this register is always 0");
}
