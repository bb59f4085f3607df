// The event engine on protocols made for it: what it has to find out about rules before it runs any.
#include <array>
#include <boost/describe.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/systems/registry.hpp"
#include "refimpl/engine.hpp"
#include "refimpl/machine.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/program/machine.hpp"
#include "spec/program/port.hpp"

using namespace lockstep;

namespace {

// Flat memory behind a buffer of one word a block, which two steps empty: a fair rule over blocks each. If
// a block leads, others are written back once it is in the buffer, where it stays.
template <class K, int Leader = -1>
struct Buffered {
  using Bool = typename K::Bool;
  using Value = typename K::Value;
  using ThreadIx = typename K::template Ix<ThreadTag>;
  using Block = typename K::template Ix<BlockTag>;
  using Word = typename K::template Ix<WordTag>;

  struct Line {
    Bool dirty;
    Bool written;
    typename K::template Ix<WordTag> word;
    Value value;
    BOOST_DESCRIBE_CLASS(Line, (), (dirty, written, word, value), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Line, BlockTag> buffer;
    typename K::template Table<Value, BlockTag, WordTag> memory;
    BOOST_DESCRIBE_CLASS(State, (), (port, buffer, memory), (), ())
  };

  const K& k;
  const Machine<K>& machine;
  std::uint64_t fault_bits = 0;
  int variant = 0;

  static Bool leads(Block b) {
    if constexpr (Leader < 0) {
      return Bool(false);
    } else {
      return b == K::template constant<BlockTag>(Leader);
    }
  }
  void initialise(State& s, Block b, Word w, Value v) const { s.memory(b, w) = v; }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const { return s.memory(b, w); }
  [[nodiscard]] Bool drained(const State& s) const {
    return k.forall(blocks,
                    [&](Block b) { return leads(b) || (!s.buffer(b).dirty && !s.buffer(b).written); });
  }

  void rules(RuleList<K, State>& r) const {
    r.rule(
        {.name = "stores", .unit = "memory"}, over(threads),
        [](const State& s, ThreadIx i) {
          return s.port(i).pending && !s.buffer(s.port(i).request.block).dirty &&
                 !s.buffer(s.port(i).request.block).written;
        },
        [](State& s, ThreadIx i) {
          Line& line = s.buffer(s.port(i).request.block);
          line.dirty = true;
          line.word = s.port(i).request.word;
          line.value = s.port(i).request.a;
          complete<K>(s.port(i));
        });
    r.rule(
        {.name = "writes back", .unit = "memory"}, over(blocks),
        [](const State& s, Block b) {
          if constexpr (Leader < 0) {
            return Bool(s.buffer(b).dirty);
          } else {
            return s.buffer(b).dirty && !leads(b) && s.buffer(K::template constant<BlockTag>(Leader)).dirty;
          }
        },
        [](State& s, Block b) {
          s.memory(b, s.buffer(b).word) = s.buffer(b).value;
          s.buffer(b).dirty = false;
          s.buffer(b).written = true;
        });
    r.rule(
        {.name = "forgets", .unit = "memory"}, over(blocks),
        [](const State& s, Block b) { return s.buffer(b).written; },
        [](State& s, Block b) { s.buffer(b) = Line{}; });
  }
};

struct BufferedInfo {
  static constexpr std::string_view name = "buffered";
  template <class Capacities>
  using Sizes = MachineSizes<Capacities>;
  template <class S>
  static constexpr void default_sizes(S&, int) {}
  template <class K>
  using Memory = Buffered<K>;
};

constexpr int leader = 5000;
struct LedInfo : BufferedInfo {
  static constexpr std::string_view name = "led";
  template <class K>
  using Memory = Buffered<K, leader>;
};

// The shipped machine, on which every rule takes no time and one turn of flat memory.
MachineDescription machine_for(const std::string& system) {
  MachineDescription machine = read_machine(LOCKSTEP_SOURCE_DIR "/refimpl/machines/apu.toml");
  SystemTiming timing = machine.systems.at("sc");
  timing.rules.clear();
  ByteTerm one_word;
  one_word.kind = ByteTerm::Kind::word;
  timing.rules["writes back"].write.terms = {one_word};
  machine.systems[system] = timing;
  return machine;
}

// Each thread stores its number, from one on, twice to a block of its own.
Workload stores_to(const std::vector<int>& blocks_used) {
  Workload workload;
  Program& program = workload.program;
  program.name = "stores";
  for (int b = 0; b < static_cast<int>(blocks_used.size()); ++b) {
    program.locations.push_back({"x" + std::to_string(b), 0, blocks_used[static_cast<std::size_t>(b)], 0});
    Thread thread;
    thread.name = "P" + std::to_string(b);
    thread.placement.wave = b;
    thread.placement.wg = b;
    Instruction store;
    store.opcode = Opcode::store;
    store.location = b;
    store.a.value = b + 1;
    thread.code = {store, store};
    program.threads.push_back(std::move(thread));
  }
  workload.initial.resize(program.locations.size());
  return workload;
}

}  // namespace

TEST_CASE("two fair rules over blocks wait for rows of one table") {
  SystemEntry entry;
  entry.name = BufferedInfo::name;
  const std::array<Variant, 1> variants{Variant{"default", "the only one"}};
  entry.variants = variants;
  constexpr int used = 3;
  Engine<BufferedInfo> engine(stores_to({0, 1, 2}), machine_for("buffered"), {}, entry);
  SimulationEnd end = SimulationEnd::limit;
  while (end == SimulationEnd::limit) {
    end = engine.run(nullptr, 1);
    CHECK(engine.overlooked().empty());
  }
  CHECK(end == SimulationEnd::finished);
  for (int b = 0; b < used; ++b) CHECK(engine.word(b)[0] == b + 1);
  std::uint64_t forgets = 0;
  for (const auto& rule : engine.statistics().rules) {
    if (rule.name == "forgets") forgets = rule.firings;
  }
  CHECK(forgets == 2 * used);
}

TEST_CASE("a rule over blocks waits for another row, though its own has the same key") {
  // Few threads are waited for: 4096 keys (timed.hpp).
  constexpr std::uint64_t keys = 4096;
  int follower = leader + 1;
  while (timed::scatter(static_cast<std::uint64_t>(follower)) % keys != timed::scatter(leader) % keys)
    ++follower;
  SystemEntry entry;
  entry.name = LedInfo::name;
  const std::array<Variant, 1> variants{Variant{"default", "the only one"}};
  entry.variants = variants;
  Workload workload = stores_to({leader, follower});
  workload.program.threads.front().code.pop_back();
  Engine<LedInfo> engine(std::move(workload), machine_for("led"), {}, entry);
  SimulationEnd end = SimulationEnd::limit;
  while (end == SimulationEnd::limit) {
    end = engine.run(nullptr, 1);
    CHECK(engine.overlooked().empty());
  }
  CHECK(end == SimulationEnd::finished);
}
