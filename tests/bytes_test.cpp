// Bytes of messages and of accesses to memory: what a machine file has to say of each rule, and what comes of
// it on programs whose traffic can be counted by hand.
#include "refimpl/bytes.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "refimpl/timed.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

constexpr std::uint64_t word = timed::word_bytes;

// Programs, a wave on a CU of its own for each thread; the waves that follow one another run on the CUs in
// turn.
struct Waves {
  Workload workload;
  explicit Waves(int count) {
    workload.program.name = "waves";
    for (int i = 0; i < count; ++i) {
      Thread thread;
      thread.name = "W" + std::to_string(i);
      thread.placement.wave = i;
      thread.placement.wg = i;
      thread.registers = {"r0"};
      thread.initial_values = {0};
      workload.program.threads.push_back(std::move(thread));
    }
  }
  int location(int block, int word_of_block) {
    workload.program.locations.push_back({"x", 0, block, word_of_block});
    workload.initial.emplace_back();
    workload.initial.back().fill(block + 1);
    return static_cast<int>(workload.program.locations.size()) - 1;
  }
  Instruction& add(int wave, Opcode opcode, int at) {
    Instruction i;
    i.opcode = opcode;
    i.location = at;
    if (opcode == Opcode::load) i.destination = 0;
    if (opcode == Opcode::store) i.a = {true, 0};
    auto& code = workload.program.threads[static_cast<std::size_t>(wave)].code;
    code.push_back(i);
    return code.back();
  }
};

constexpr int waves = 8;

// Each wave copies blocks of its own, word by word.
Workload copy_of(int blocks, int words_per_block) {
  Waves program(waves);
  for (int b = 0; b < blocks; ++b) {
    for (int w = 0; w < words_per_block; ++w) {
      program.add(b % waves, Opcode::load, program.location(b, w));
      program.add(b % waves, Opcode::store, program.location(blocks + b, w));
    }
  }
  return program.workload;
}

Statistics simulate(const std::string& system, const MachineDescription& machine, const Workload& workload) {
  return simulate(system, machine, workload, waves);
}

struct Sums {
  std::uint64_t messages = 0;
  std::uint64_t header = 0;
  std::uint64_t data = 0;
};
Sums on(const Statistics& s, const std::string& way, const std::string& kind) {
  Sums sums;
  for (const Statistics::Messages& m : s.messages) {
    if (m.way != way || m.kind != kind) continue;
    sums.messages += m.messages;
    sums.header += m.header_bytes;
    sums.data += m.data_bytes;
  }
  return sums;
}

std::string error_of(const std::string& text, const std::string& system = "write-through") {
  try {
    const MachineDescription machine = machine_of(text);
    simulate(system, machine, copy_of(8, machine.words_per_block()));
  } catch (const BadInput& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("Bytes: a sum is numbers, words, blocks, masks and marks, with conditions") {
  std::string wrong;
  const auto terms = parse_bytes("8 + mask - word[request != load|rmw] + wl3.dirty", 0, wrong);
  REQUIRE(terms.size() == 4);
  CHECK(terms[0].kind == ByteTerm::Kind::header);
  CHECK(terms[0].bytes == 8);
  CHECK(terms[1].kind == ByteTerm::Kind::mask);
  CHECK(!terms[1].subtracted);
  CHECK(terms[2].kind == ByteTerm::Kind::word);
  CHECK(terms[2].subtracted);
  CHECK(terms[2].condition == "request");
  CHECK(terms[2].negated);
  CHECK(terms[2].values == std::vector<std::string>{"load", "rmw"});
  CHECK(!terms[3].subtracted);
  CHECK(terms[3].table == "wl3");
  CHECK(terms[3].field == "dirty");
  const auto said = [&](const std::string& text) {
    CHECK(parse_bytes(text, 0, wrong).empty());
    return wrong;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(said("8 + maks"), Contains("'maks' is none of header, word, block, mask and TABLE.FIELD"));
  CHECK_THAT(said("8 +"), Contains("a term is missing"));
  CHECK_THAT(said("header + mask"), Contains("the machine has no header_bytes"));
  CHECK(parse_bytes("header", 12, wrong).at(0).bytes == 12);
  CHECK_THAT(said("8 mask"), Contains("'mask' follows its end"));
  CHECK_THAT(said("8x"), Contains("'8x' is not a number of bytes"));
  CHECK_THAT(said("99999999999"), Contains("is not a number of bytes"));
  CHECK_THAT(said("word[request load]"), Contains("FIELD = VALUE"));
  CHECK_THAT(said("word[request = load"), Contains("not closed"));
  CHECK_THAT(said("word[request = ]"), Contains("a value is missing"));
}

TEST_CASE("Bytes: a rule that sends or accesses memory and says no bytes is named") {
  using Catch::Matchers::Contains;
  const std::string apu = shipped_machine("apu");
  const std::string section = "[systems.write-through.rules]";
  const auto error = [&](const std::string& from, const std::string& to) {
    return error_of(changed(apu, section, from, to));
  };
  CHECK(error_of(apu) == "no error");
  CHECK_THAT(error("miss = \"L1\", sends.link1 = \"header\"", "miss = \"L1\""),
             Contains("m.toml:") && Contains("'load misses L1' sends on link1, and says no bytes") &&
                 Contains("say sends.link1 = ... of it, in [systems.write-through.rules]"));
  CHECK_THAT(error("\"L2 passes a marker on\" = { sends.link2 = \"header\" }\n", ""),
             Contains("'L2 passes a marker on' sends on link2"));
  CHECK_THAT(error("reads = \"block\", writes = \"cpu.dirty\"", "latency = 1"),
             Contains("'read reaches memory' reads from memory, and says no bytes"));
  CHECK_THAT(error("\"write reaches memory\" = { writes = \"mask + cpu.dirty\" }", ""),
             Contains("'write reaches memory' writes to memory, and says no bytes"));
  CHECK_THAT(error("hit = \"L1\" }", "hit = \"L1\", sends.link1 = 8 }"),
             Contains("'load hits L1' sends nothing on link1"));
  CHECK_THAT(error("hit = \"L1\" }", "hit = \"L1\", reads = 8 }"),
             Contains("'load hits L1' reads nothing from memory"));
  CHECK_THAT(error("sends.link1 = \"header\"", "sends.link3 = 8"),
             Contains("write-through has no link 'link3'"));
  CHECK_THAT(error("sends.link1 = \"header\"", "sends.link1 = -8"), Contains("'link1' is negative"));
  CHECK_THAT(error("sends.link1 = \"header\"", "sends.link1 = \"8 + blok\""),
             Contains("'blok' is none of header, word, block, mask and TABLE.FIELD"));
  CHECK_THAT(error("hit = \"L1\" }", "hit = \"L1\", bytes = 8 }"), Contains("'bytes' of no message"));
  CHECK_THAT(error("carries = \"fill\", bytes = \"header + block\"", "carries = \"fill\""),
             Contains("'bytes' is missing in [systems.write-through.rules.fill reaches L2]"));
  CHECK_THAT(error("bytes = \"header + block\"", "bytes = \"8 + mask\""),
             Contains("'mask' of a message that has none"));
  CHECK_THAT(error("cpu.dirty", "cpus.dirty"),
             Contains("no table of blocks 'cpus'") && Contains("did you mean 'cpu'?"));
  CHECK_THAT(error("cpu.dirty", "cpu.dirt"), Contains("'cpu' has no field 'dirt'"));
  CHECK_THAT(error("request != load", "requests != load"), Contains("'requests' is no field of the message"));
  CHECK_THAT(error("request != load", "request != lode"),
             Contains("'lode' is no value of 'request'") && Contains("load, store, rmw, fence"));
}

TEST_CASE("Bytes: what is said is held against what rules write") {
  using Catch::Matchers::Contains;
  const std::string apu = shipped_machine("apu");
  const std::string section = "[systems.write-through.rules]";
  CHECK_THAT(error_of(changed(apu, section, "sends.link1 = \"header + mask\"", "sends.link1 = 8")),
             Contains("'store writes through L1' sends data by its mask on link1, and leaves the mask out"));
  CHECK_THAT(
      error_of(changed(apu, section, "writes = \"mask + cpu.dirty\"", "writes = \"cpu.dirty\"")),
      Contains("'write reaches memory' changes 64 bytes of a block of memory, and says that it writes 0"));
  CHECK_THAT(
      error_of(changed(apu, "\"S-FIFO3 dequeues a dirty block\"", "wl3.dirty + cpu.dirty", "cpu.dirty"),
               "quick-release"),
      Contains("of a block of memory, and says that it writes 0"));
}

TEST_CASE("Bytes: a copy of N bytes reads N and writes N at DRAM on every system") {
  const auto copies = [](const std::string& name, const std::string& system) {
    const MachineDescription machine = machine_of(shipped_machine(name));
    constexpr int blocks = 96;
    const Statistics s = simulate(system, machine, copy_of(blocks, machine.words_per_block()));
    INFO(system << " on " << name);
    CHECK(s.memory.read_bytes == blocks * std::uint64_t{machine.block_bytes});
    CHECK(s.memory.write_bytes == blocks * std::uint64_t{machine.block_bytes});
    return s;
  };
  copies("apu", "sc");
  copies("halcone", "halcone");
  for (const auto& [name, system] : {std::pair{"apu", "write-through"}, std::pair{"titan-v", "write-through"},
                                     std::pair{"titan-v", "lab"}}) {
    const Statistics s = copies(name, system);
    // The first load of a block asks for it, every word is written; headers have 8 bytes.
    for (const std::string link : {"link1", "link2"}) {
      const Sums writes = on(s, link, "write");
      CHECK(writes.messages == 192);
      CHECK(writes.data == 192 * word);
      CHECK(writes.header == 192 * 8);
      const Sums reads = on(s, link, "read");
      CHECK(reads.messages == 96);
      CHECK(reads.data == 0);
      CHECK(reads.header == 96 * 8);
    }
    for (const std::string path : {"directory to L2", "L2 to L1"}) {
      const Sums fills = on(s, path, "fill");
      CHECK(fills.messages == 96);
      CHECK(fills.data == 192 * word);
      CHECK(fills.header == 96 * 8);
    }
  }
  // Words of a block that are dirty together go on together.
  const Statistics s = copies("apu", "quick-release");
  CHECK(on(s, "link2", "write").data == 192 * word);
  CHECK(on(s, "link2", "write").messages < 192);
}

TEST_CASE("Bytes: LAB and write-through are equal where nothing is updated") {
  // With caches of the same size.
  std::string text =
      changed(shipped_machine("titan-v"), "[systems.lab.caches.l1]", "bytes = 24576", "bytes = 32768");
  text = changed(text, "[systems.lab.caches.l1]", "ways = 3", "ways = 4");
  const MachineDescription machine = machine_of(text);
  const Workload copy = copy_of(1024, machine.words_per_block());
  const Statistics lab = simulate("lab", machine, copy);
  const Statistics base = simulate("write-through", machine, copy);
  CHECK(lab.cycles == base.cycles);
  CHECK(lab.drained == base.drained);
  CHECK(lab.memory.read_bytes == base.memory.read_bytes);
  CHECK(lab.memory.write_bytes == base.memory.write_bytes);
  CHECK(lab.memory.reads == base.memory.reads);
  CHECK(lab.memory.writes == base.memory.writes);
  for (const std::string link : {"link1", "link2"}) CHECK(lab.bytes_on(link) == base.bytes_on(link));
}

TEST_CASE("Bytes: one store, and one update, cost what they bring") {
  const auto traffic = [](const std::string& name, const std::string& system, Opcode opcode) {
    Waves program(1);
    Instruction& i = program.add(0, opcode, program.location(3, 0));
    i.a = {false, 7};
    if (opcode == Opcode::rmw) {
      i.rmw = RmwFunction::add;
      i.order = Order::comm;
      i.scope = Scope::agent;
    }
    const Statistics s = simulate(system, machine_of(shipped_machine(name)), program.workload);
    return std::pair{s.memory.read_bytes, s.memory.write_bytes};
  };
  using Bytes = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(traffic("apu", "sc", Opcode::store) == Bytes{0, word});
  CHECK(traffic("apu", "write-through", Opcode::store) == Bytes{0, word});
  CHECK(traffic("apu", "quick-release", Opcode::store) == Bytes{0, word});
  CHECK(traffic("titan-v", "lab", Opcode::store) == Bytes{0, word});
  CHECK(traffic("halcone", "halcone", Opcode::store) == Bytes{0, word});
  // What a LAB has gathered is performed on the word in memory; L2 performs an RMW on a block that it
  // fetches.
  CHECK(traffic("titan-v", "lab", Opcode::rmw) == Bytes{word, word});
  CHECK(traffic("titan-v", "write-through", Opcode::rmw) == Bytes{2 * word, word});
  CHECK(traffic("halcone", "halcone", Opcode::rmw) == Bytes{word, word});
}

TEST_CASE("Bytes: blocks that lie in the GPUs by turns are read over links, those by first touch are not") {
  const std::string file = shipped_machine("halcone");
  const auto with_homes = [&](const std::string& text) { return changed(file, "home_bytes = 4096", text); };
  const auto read_over_links = [&](const std::string& text) {
    return on(simulate("hmg-monolithic", machine_of(with_homes(text)), copy_of(64, 1)), "up", "read")
        .messages;
  };
  // Of eight waves, two on each GPU, each eighth block: two of eight are at home with who reads them.
  CHECK(read_over_links("home_bytes = 64") == 48);
  CHECK(read_over_links("") == 0);
  using Catch::Matchers::Contains;
  CHECK_THAT(error_of(with_homes("home_bytes = 96"), "hmg-monolithic"), Contains("96 is not a power of two"));
  CHECK_THAT(error_of(with_homes("home_bytes = 32"), "hmg-monolithic"),
             Contains("home_bytes = 32 is not between"));
  CHECK_THAT(error_of(changed(file, "[memory]", "channels", "home_bytes = 64\nchannels"), "halcone"),
             Contains("halcone has one memory"));
}
