// What the simulator promises: every state it visits is one that the checker reaches, what it leaves in
// memory is what the program computes, and a run depends on nothing but its seed.
#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "checker/explore/adaptor.hpp"
#include "checker/needs/placement.hpp"
#include "checker/needs/values.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"
#include "refimpl/comparison.hpp"
#include "refimpl/engine.hpp"
#include "spec/memory/quick_release.hpp"
#include "spec/memory/rfo.hpp"
#include "spec/memory/write_through.hpp"
#include "spec/program/system.hpp"
#include "tests/machines.hpp"
#include "tests/reachable.hpp"

using namespace lockstep;

namespace {

const std::string machine_file = LOCKSTEP_SOURCE_DIR "/refimpl/machines/apu.toml";

MachineDescription shipped() {
  return read_machine(machine_file);
}

// The shipped machine that knows the system.
MachineDescription machine_with(const std::string& system) {
  for (const std::string name : {"apu", "fear", "halcone", "titan-v"}) {
    MachineDescription machine = read_machine(machines_folder + "/" + name + ".toml");
    if (machine.systems.contains(system)) return machine;
  }
  throw std::out_of_range("no shipped machine knows " + system);
}

// A machine whose caches hold a single block and whose rules all take their time at random.
MachineDescription tiny(MachineDescription machine = shipped()) {
  machine.block_bytes = 2 * timed::word_bytes;
  for (auto& [name, system] : machine.systems) {
    for (auto& [size, value] : system.sizes) value.first = size.find("link") != std::string::npos ? 1 : 2;
    for (auto& [table, cache] : system.caches) {
      cache.sets = 1;
      cache.ways = 1;
      cache.random = true;
    }
  }
  return machine;
}

// The same with DRAM for memory: two channels, and as little room in their queues as there can be.
MachineDescription on_dram(MachineDescription machine) {
  for (auto& [name, system] : machine.systems) {
    MemoryTiming& memory = system.memory;
    memory.kind = MemoryKind::dram;
    memory.channels = 2;
    memory.queue = 1;
    memory.sender_queue = 1;
    memory.device = read_dram(LOCKSTEP_SOURCE_DIR "/refimpl/machines/dram/ddr3-800d.toml", memory.queue);
  }
  return machine;
}

// The same with caches of one bank, which is busy for long, and one MSHR where rules fetch for them.
MachineDescription with_banks(MachineDescription machine) {
  for (auto& [name, system] : machine.systems) {
    for (auto& [table, cache] : system.caches) {
      cache.banks = 1;
      cache.bank_cycles = 7;
      if (table == "l1" || table == "rl1") cache.mshrs = 1;
    }
  }
  return machine;
}

Instruction access(Opcode opcode, int location, Order order = Order::plain, Scope scope = Scope::system) {
  Instruction i;
  i.opcode = opcode;
  i.location = location;
  i.order = order;
  i.scope = scope;
  if (opcode == Opcode::load) i.destination = 0;
  if (opcode != Opcode::load) i.a.value = 1;
  return i;
}

// Two work-groups on one agent: a message with release and acquire, and a neighbour in the same block; once,
// or again and again.
Workload small_program(bool forever, bool reads_back) {
  Workload workload;
  Program& program = workload.program;
  program.name = "small";
  program.locations = {{"x", 0, 0, 0}, {"y", 0, 0, 1}, {"flag", 0, 1, 0}};
  workload.initial.resize(program.locations.size());
  const auto add = [&](int wg, std::vector<Instruction> code) {
    Thread thread;
    thread.name = "P" + std::to_string(wg);
    thread.placement.wave = wg;
    thread.placement.wg = wg;
    thread.registers = {"r0"};
    thread.initial_values = {0};
    thread.code = std::move(code);
    if (forever) {
      Instruction again;
      again.opcode = Opcode::jump;
      again.target = 0;
      thread.code.push_back(again);
    }
    program.threads.push_back(std::move(thread));
  };
  std::vector<Instruction> sender{access(Opcode::store, 0),
                                  access(Opcode::store, 2, Order::release, Scope::agent)};
  if (reads_back) sender.push_back(access(Opcode::load, 1));
  add(0, std::move(sender));
  add(1, {access(Opcode::store, 1), access(Opcode::load, 2, Order::acquire, Scope::agent),
          access(Opcode::load, 0)});
  return workload;
}

// The same message, of stores and loads that slots perform while their threads go on: once.
Workload program_with_slots() {
  Workload workload = small_program(false, false);
  Program& program = workload.program;
  const auto in_slot = [](Instruction i) {
    i.slot = 1;
    return i;
  };
  Instruction await;
  await.opcode = Opcode::await;
  await.a.value = 1;
  const std::vector<Instruction> sender{in_slot(access(Opcode::store, 0)), access(Opcode::store, 1), await,
                                        access(Opcode::store, 2, Order::release, Scope::agent), await};
  const std::vector<Instruction> receiver{access(Opcode::load, 2, Order::acquire, Scope::agent),
                                          in_slot(access(Opcode::load, 0)), access(Opcode::store, 1), await};
  std::vector<Thread> threads;
  for (Thread& thread : program.threads) {
    thread.code = threads.empty() ? sender : receiver;
    threads.push_back(thread);
    thread.code.clear();
    thread.registers.clear();
    thread.initial_values.clear();
    thread.slot_of = static_cast<int>(threads.size()) - 1;
    threads.push_back(thread);
  }
  program.threads = std::move(threads);
  return workload;
}

// Copies what a timed state holds into a concrete one, field by field.
template <class KC, class C, class T>
void project(const KC& k, C& to, const T& from) {
  if constexpr (Leaf<C>) {
    if constexpr (requires { from.v[0]; }) {
      to.v = static_cast<decltype(to.v)>(from.v[0]);
    } else {
      to.v = static_cast<decltype(to.v)>(from.v);
    }
  } else if constexpr (DerivedFields<C>) {
    return;
  } else if constexpr (Described<C>) {
    using To = boost::describe::describe_members<C, boost::describe::mod_public>;
    using From = boost::describe::describe_members<T, boost::describe::mod_public>;
    boost::mp11::mp_for_each<boost::mp11::mp_iota<boost::mp11::mp_size<To>>>([&](auto i) {
      project(k, to.*boost::mp11::mp_at<To, decltype(i)>{}.pointer,
              from.*boost::mp11::mp_at<From, decltype(i)>{}.pointer);
    });
  } else if constexpr (Queue<C>) {
    to.count.v = static_cast<decltype(to.count.v)>(from.size());
    for (std::uint32_t i = 0; i < from.size(); ++i) project(k, to.slots[i], from[i]);
  } else {
    C::visit(k, to, [&](auto& row, auto... index) { project(k, row, from.at(std::uint32_t{index.v}...)); });
  }
}

// Returns how many different states the runs visit.
template <class Info>
std::size_t visits_only_reachable_states(const Workload& workload, std::uint64_t firings,
                                         const MachineDescription& machine = tiny()) {
  using Sizes = typename Info::template Sizes<SmallCapacities>;
  using KC = Concrete<Sizes>;
  using StateC = typename System<Info, KC>::State;
  SystemOptions system;
  const bool forever = workload.program.threads.front().code.back().opcode == Opcode::jump;
  system.reductions = Reductions::none();
  KC k;
  k.sizes.template set<ThreadTag>(static_cast<int>(workload.program.threads.size()));
  k.sizes.template set<RegisterTag>(place(workload.program).registers);
  k.sizes.template set<WorkGroupTag>(2);
  k.sizes.template set<CuTag>(2);
  k.sizes.template set<AgentTag>(1);
  k.sizes.template set<BlockTag>(2);
  k.sizes.template set<WordTag>(2);
  Info::default_sizes(k.sizes, 0);
  k.sizes.visit([&]<class Tag>(Tag, int& size) {
    if constexpr (Tag::fixed && !std::is_same_v<Tag, RegisterTag> && !std::is_same_v<Tag, WordTag>) {
      size = Tag::name.starts_with("link") ? 1 : std::min(2, Tag::capacity);
      system.sizes[std::string(Tag::name)] = size;
    }
  });
  const auto program = std::make_shared<const Program>(workload.program);
  k.set_value_range(values_of(*program));
  const auto model = find_system(Info::name).build(program, system);
  const ReachableStates reachable(*model);
  REQUIRE(reachable.all().size() > 100);
  const unsigned bits = packed_bits<KC, StateC>(k);
  REQUIRE(bits == model->state_bits());

  std::uint64_t steps = 0;
  std::uint64_t beyond = 0;
  boost::unordered_flat_set<PackedState> visited;
  for (std::uint64_t seed = 1; steps < firings; ++seed) {
    SimulationOptions options;
    options.cus = 2;
    options.seed = seed;
    options.jitter = static_cast<int>(seed % 64);
    Engine<Info> engine(workload, machine, options);
    engine.on_firing = [&] {
      StateC state{};
      project(k, state, engine.state());
      PackedState words(model->words());
      pack(k, state, words.data());
      beyond += reachable.contains(words) ? 0 : 1;
      visited.insert(std::move(words));
      ++steps;
    };
    const SimulationEnd end = engine.run(nullptr, 50'000);
    CHECK(end == (forever ? SimulationEnd::limit : SimulationEnd::finished));
  }
  CHECK(beyond == 0);
  return visited.size();
}

// Of a run that stops every few firings.
void overlooks_nothing(const std::string& system, const std::string& name, std::map<std::string, int> sizes,
                       MachineDescription machine, SimulationOptions options) {
  options.cus = std::max(2, machine.agents);
  WorkloadShape shape;
  shape.cus = options.cus;
  shape.agents = machine.agents;
  shape.words_per_block = machine.words_per_block();
  shape.waves_per_cu = 4;
  const bool releases_for_others = options.variant != "split-fifo";
  shape.accesses_per_wave = releases_for_others ? 3 : 1;
  shape.waves_end_kernels = !releases_for_others;
  shape.sizes = std::move(sizes);
  const Workload workload = build_workload(find_workload(name), shape);
  machine.waves_per_cu = 16;
  const TimedSystem timed = find_timed_system(system, options);
  const auto simulator = timed.build(workload, machine, options);
  int checks = 0;
  while (true) {
    const SimulationEnd end = simulator->run(nullptr, 31);
    const std::vector<std::string> missed = simulator->overlooked();
    INFO(name << " on " << system << ", stop " << checks << ": " << (missed.empty() ? "" : missed.front()));
    REQUIRE(missed.empty());
    ++checks;
    if (end == SimulationEnd::limit) continue;
    REQUIRE(end == SimulationEnd::finished);
    break;
  }
  CHECK(checks > 3);
}

// What every location holds at the end of a run; nothing unless it ended well.
std::vector<Lanes> final_memory(const Workload& workload, const std::string& system,
                                const MachineDescription& machine, SimulationOptions options) {
  const TimedSystem timed = find_timed_system(system, options);
  const auto simulator = timed.build(workload, machine, options);
  if (simulator->run() != SimulationEnd::finished) return {};
  std::vector<Lanes> memory;
  for (std::size_t i = 0; i < workload.program.locations.size(); ++i)
    memory.push_back(simulator->word(static_cast<int>(i)));
  return memory;
}

// How many locations do not hold the same words; all of them, of a run that did not end well.
std::size_t differing(const std::vector<Lanes>& memory, const std::vector<Lanes>& other) {
  if (memory.size() != other.size()) return std::max(memory.size(), other.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) count += memory[i] != other[i] ? 1 : 0;
  return count;
}

SimulationRequest request_for(const std::string& system, std::map<std::string, int> sizes, int cus = 4) {
  SimulationRequest request;
  request.machine = shipped();
  request.systems = {system};
  request.sizes = std::move(sizes);
  request.options.cus = cus;
  return request;
}

const std::atomic<bool> never{false};

std::string error_of(const std::string& from, const std::string& to) {
  const std::string text = changed(shipped_machine("apu"), from, to);
  try {
    SimulationRequest request = request_for("write-through", {{"words", 8}});
    request.machine = machine_of(text);
    request.systems = {"write-through", "quick-release"};
    run_workload(request, "copy", never);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("every state that random timed runs visit is one that the explorer reaches") {
  const Workload endless = small_program(true, true);
  const Workload reads_back = small_program(false, true);
  const Workload message = small_program(false, false);
  CHECK(visits_only_reachable_states<write_through::Info>(endless, 500'000) > 500);
  CHECK(visits_only_reachable_states<write_through::Info>(reads_back, 20'000) > 300);
  CHECK(visits_only_reachable_states<quick_release::Info>(message, 480'000) > 500);
  CHECK(visits_only_reachable_states<write_through::Info>(reads_back, 20'000, on_dram(tiny())) > 200);
  CHECK(visits_only_reachable_states<quick_release::Info>(message, 50'000, on_dram(tiny())) > 200);
  CHECK(visits_only_reachable_states<write_through::Info>(reads_back, 20'000, with_banks(tiny())) > 200);
  CHECK(visits_only_reachable_states<quick_release::Info>(message, 50'000, with_banks(tiny())) > 200);
  const Workload slots = program_with_slots();
  CHECK(visits_only_reachable_states<write_through::Info>(slots, 50'000) > 500);
  CHECK(visits_only_reachable_states<quick_release::Info>(slots, 50'000) > 500);
  CHECK(visits_only_reachable_states<rfo::Info>(message, 50'000) > 500);
  CHECK(visits_only_reachable_states<rfo::Info>(slots, 50'000) > 500);
}

TEST_CASE("parking overlooks no enabled rule") {
  const std::map<std::string, int> messages{{"pairs", 1}, {"rounds", 2}, {"table", 4}};
  SimulationOptions options;
  options.jitter = 16;
  for (const std::string& system : timed_system_names()) {
    // No machine says what MTTOP cores have under way.
    // Modules of HMG's GPUs are on none either.
    if (system == "hmg" || system == "mttop" || system == "mttop-rfo") {
      CHECK_THROWS_AS(machine_with(system), std::out_of_range);
      continue;
    }
    const MachineDescription machine = machine_with(system);
    for (const Variant& variant : find_system(system).variants) {
      options.variant = variant.name;
      // In a cache of one block HALCONE's waves may take for ever what another has fetched; two timestamps
      // are too few for any lease. L2 of hLRC and PHI keeps what is asked for, of which it needs room for
      // two.
      const bool by_time = system == "halcone" || system == "g-tsc";
      const bool keeps = system == "hlrc" || system == "phi";
      const MachineDescription small = by_time || keeps ? machine : tiny(machine);
      // Who polls a copy on lease, or a GPU that nothing keeps coherent with the writer's, may do so for
      // ever.
      const bool polls = system == "halcone" || variant.name == "as-told" || variant.name == "polls-leases" ||
                         variant.name == "sm-wb-nc";
      if (!polls) overlooks_nothing(system, "message-passing", messages, small, options);
      overlooks_nothing(system, "stencil", {{"words", 8}, {"kernels", 2}}, small, options);
    }
  }
}

TEST_CASE("parking overlooks no enabled rule under waiting policies") {
  SimulationOptions options;
  options.jitter = 16;
  MachineDescription machine = read_machine(machines_folder + "/awg.toml", machines_folder);
  const std::map<std::string, int> threads{{"threads", 6}, {"rounds", 2}};
  const std::map<std::string, int> grid{{"cus", 2}, {"work-groups-per-cu", 3}, {"waiting", 1}};
  for (const std::string policy : {"busy-waiting", "timeout", "monnr-all", "monnr-one", "awg"}) {
    overlooks_nothing("sc/" + policy, "test-and-set", threads, machine, options);
    overlooks_nothing("sc/" + policy, "tree-barrier", grid, machine, options);
  }
  // With room for one waiter the CP compares the others' words of memory, whose numbers count up: guards that
  // rest on data alone.
  MachineDescription spills = machine;
  spills.scheduler.waiters = 1;
  spills.scheduler.log_entries = 8;
  overlooks_nothing("sc/awg", "ticket-lock", threads, spills, options);
  machine.scheduler.slots_per_cu = 2;
  for (const std::string policy : {"timeout", "monnr-all", "monnr-one"})
    overlooks_nothing("sc/" + policy, "decentralized-ticket-lock", threads, machine, options);
}

TEST_CASE("parking overlooks no enabled rule where memory or a bank is busy") {
  const std::map<std::string, int> messages{{"pairs", 2}, {"rounds", 2}, {"table", 4}};
  const std::map<std::string, int> two_kernels{{"words", 64}, {"kernels", 2}};
  SimulationOptions jittery;
  jittery.jitter = 16;
  for (const std::string system : {"write-through", "quick-release", "rfo"}) {
    const MachineDescription machine = machine_with(system);
    overlooks_nothing(system, "stencil", two_kernels, on_dram(tiny(machine)), jittery);
    overlooks_nothing(system, "stencil", two_kernels, with_banks(machine), {});
    overlooks_nothing(system, "message-passing", messages, with_banks(machine), {});
  }
}

TEST_CASE("a simulated program leaves in memory what it computes") {
  const std::vector<std::pair<std::string, std::map<std::string, int>>> programs{
      {"copy", {{"words", 300}}},
      {"vector-add", {{"words", 300}}},
      {"reduction", {{"words", 300}}},
      {"stencil", {{"words", 100}, {"kernels", 3}}},
      {"message-passing", {{"pairs", 3}, {"rounds", 3}}}};
  for (const auto& [name, sizes] : programs) {
    for (const std::string system : {"write-through", "quick-release", "quick-release/lean", "rfo"}) {
      const ComparedRun run = run_workload(request_for(system, sizes), name, never);
      INFO(name << " on " << system);
      CHECK(run.checked > 0);
      CHECK(run.results.front().end == SimulationEnd::finished);
      CHECK(run.results.front().wrong == 0);
    }
  }
}

TEST_CASE("HALCONE's four GPUs leave in memory what programs compute, unless expired copies are read") {
  const auto run = [](const std::string& system, const std::string& name,
                      const std::map<std::string, int>& sizes, const std::vector<std::string>& faults) {
    SimulationRequest request = request_for(system, sizes, 8);
    request.machine = read_machine(LOCKSTEP_SOURCE_DIR "/refimpl/machines/halcone.toml");
    request.options.faults = faults;
    ComparedRun compared = run_workload(request, name, never);
    INFO(name << " on " << system);
    CHECK(compared.checked > 0);
    CHECK(compared.results.front().end == SimulationEnd::finished);
    return compared.results.front().wrong;
  };
  const std::vector<std::pair<std::string, std::map<std::string, int>>> programs{
      {"copy", {{"words", 100}}},
      {"reduction", {{"words", 100}}},
      {"stencil", {{"words", 64}, {"kernels", 4}}},
      {"stencil", {{"words", 64}, {"kernels", 4}, {"timestamps", 40}}},
      {"message-passing", {{"pairs", 4}, {"rounds", 3}}}};
  for (const std::string system : {"halcone", "halcone/one-clock"}) {
    for (const auto& [name, sizes] : programs) CHECK(run(system, name, sizes, {}) == 0);
  }
  CHECK(run("halcone", "stencil", programs[2].second, {"expired-copy-read"}) > 0);
}

TEST_CASE(
    "what relies on releases for others is refused where they order their own thread's accesses alone") {
  const auto refusal = [](const std::string& workload, int accesses, bool waves_end_kernels) -> std::string {
    SimulationRequest request = request_for("quick-release/split-fifo", {});
    request.machine.accesses_per_wave = accesses;
    request.machine.waves_end_kernels = waves_end_kernels;
    try {
      const ComparedRun run = run_workload(request, workload, never);
      CHECK(run.results.front().wrong == 0);
    } catch (const BadInput& error) {
      return error.diagnostic().message + ": " + error.diagnostic().hint;
    }
    return "none";
  };
  CHECK(refusal("message-passing", 1, true) == "none");
  CHECK(refusal("copy", 1, true) == "none");
  CHECK(refusal("message-passing", 8, true) ==
        "a release on quick-release/split-fifo orders what its own thread has done, and no access that slots "
        "perform for a wave of 'message-passing': say --set accesses_per_wave=1");
  CHECK(refusal("copy", 1, false) ==
        "a release on quick-release/split-fifo orders what its own thread has done, and not the waves of a "
        "kernel that ends of 'copy': say --set kernel_end_by=wave");
}

// Sequential consistency performs each operation at once, so that a run on it is one sequential execution of
// the program's instructions. Of all these programs the whole memory is compared: none of them races, or only
// by atomics that add up and by flags that are waited for, so that every order leaves the same words, as a
// second order on sc confirms.
TEST_CASE("final memory equals that of a sequential execution") {
  const std::vector<std::pair<std::string, std::map<std::string, int>>> programs{
      {"copy", {{"words", 200}}},
      {"vector-add", {{"words", 200}}},
      {"reduction", {{"words", 200}}},
      {"stencil", {{"words", 60}, {"kernels", 3}}},
      {"message-passing", {{"pairs", 3}, {"rounds", 3}}}};
  for (const auto& [name, sizes] : programs) {
    WorkloadShape shape;
    shape.cus = 4;
    shape.sizes = sizes;
    shape.waves_end_kernels = true;
    const Workload workload = build_workload(find_workload(name), shape);
    SimulationOptions options;
    options.cus = 4;
    const std::vector<Lanes> sequential = final_memory(workload, "sc", shipped(), options);
    INFO(name);
    REQUIRE(sequential.size() == workload.program.locations.size());
    CHECK(differing(sequential, workload.initial) > 0);
    options.seed = 2;
    options.jitter = 40;
    CHECK(differing(final_memory(workload, "sc", shipped(), options), sequential) == 0);
    for (const std::string system :
         {"write-through", "quick-release", "quick-release/lean", "quick-release/split-fifo"}) {
      INFO(system);
      options.jitter = 0;
      CHECK(differing(final_memory(workload, system, shipped(), options), sequential) == 0);
      options.jitter = 40;
      CHECK(differing(final_memory(workload, system, tiny(), options), sequential) == 0);
    }
  }
}

TEST_CASE("the same seed simulates the same bits, another seed others") {
  const auto figures = [](std::uint64_t seed) {
    SimulationRequest request = request_for("quick-release", {{"words", 256}, {"kernels", 2}});
    request.options.seed = seed;
    return statistics_json(run_workload(request, "stencil", never).results.front().statistics).dump();
  };
  CHECK(figures(7) == figures(7));
  CHECK(figures(7) != figures(8));
}

TEST_CASE("a mistake in a protocol shows in what a simulation leaves in memory") {
  WorkloadShape shape;
  shape.cus = 4;
  shape.sizes = {{"pairs", 4}, {"rounds", 8}};
  const Workload workload = build_workload(find_workload("message-passing"), shape);
  SimulationOptions options;
  options.cus = 4;
  const std::vector<Lanes> sequential = final_memory(workload, "sc", shipped(), options);
  for (const auto& [system, fault] :
       {std::pair{"write-through", "acquire-keeps-l1"}, std::pair{"quick-release", "no-broadcast"}}) {
    INFO(system << " with " << fault);
    options.faults = {fault};
    const std::vector<Lanes> left = final_memory(workload, system, shipped(), options);
    REQUIRE(left.size() == sequential.size());
    CHECK(differing(left, sequential) > 0);
    int wrong = 0;
    for (std::size_t i = 0; i < workload.outputs.size(); ++i) {
      wrong += left[static_cast<std::size_t>(workload.outputs[i])] != workload.expected[i] ? 1 : 0;
    }
    CHECK(wrong > 0);
  }
}

TEST_CASE("QuickRelease gains on write-through where waves wait for each access and reuse what they read") {
  const auto ratio = [](int table, int accesses) {
    SimulationRequest request = request_for("write-through", {{"table", table}}, 8);
    request.systems = {"write-through", "quick-release"};
    request.machine.accesses_per_wave = accesses;
    const ComparedRun run = run_workload(request, "message-passing", never);
    return run.results[1].statistics.cycles / run.results[0].statistics.cycles;
  };
  CHECK(ratio(128, 1) < 0.8);
  // What takes a wave one access after the other to read again, it reads at once where several are under way.
  CHECK(ratio(128, 8) > ratio(128, 1) + 0.1);
  // Without anything to reuse, what a release flushes is read back from memory.
  CHECK(ratio(1, 1) > 1.2);
}

// Were the look-ups of messages behind one another serialised, every read that hits L2 would hold up those
// behind it on its CU's link for as long as its look-up takes.
TEST_CASE("messages behind one another on a link are looked up in a pipeline") {
  const auto run_with = [](double latency) {
    SimulationRequest request = request_for("write-through", {{"words", 1024}}, 8);
    request.machine.accesses_per_wave = 1;
    request.machine.systems.at("write-through").rules.at("read hits L2").latency = latency;
    return run_workload(request, "stencil", never).results.front().statistics;
  };
  const Statistics shorter = run_with(20);
  const Statistics longer = run_with(200);
  const double added = longer.cycles - shorter.cycles;
  const double if_serialised = 180 * static_cast<double>(shorter.levels.at("L2").hits) / 8;
  INFO(added << " cycles, serialised " << if_serialised);
  CHECK(added > 0);
  CHECK(added < if_serialised / 4);
}

TEST_CASE("machine files are held to what they have to say") {
  using Catch::Matchers::Contains;
  CHECK_THAT(error_of("gigahertz = 1.0", "gigahertz = -1.0"), Contains("'gigahertz' is negative"));
  CHECK_THAT(error_of("cus = 8 ", "cu = 8 "), Contains("'cus' is missing"));
  CHECK_THAT(error_of("agents = 1 ", "agents = 1\nwave_per_cu = 3 "),
             Contains("unknown entry 'wave_per_cu'") && Contains("did you mean 'waves_per_cu'?"));
  CHECK_THAT(error_of("bytes = 16384 ", "bytes = 16000 "),
             Contains("no whole number of sets of 4 ways of 128-byte blocks"));
  CHECK_THAT(error_of("bytes = 16384 ", "bytes = \"16 kB\" "), Contains("'bytes' is not a whole number"));
  CHECK_THAT(error_of("\"load hits L1\" =", "\"load hit L1\" ="),
             Contains("write-through has no rule 'load hit L1'") && Contains("did you mean 'load hits L1'?"));
  CHECK_THAT(error_of("link1-messages = 16", "link1-message = 16"),
             Contains("write-through has no size 'link1-message'"));
  CHECK_THAT(error_of("evict = \"L1 replaces a block\"", "evict = \"load hits L1\""),
             Contains("'load hits L1' is no rule that makes room in 'l1'"));
  CHECK_THAT(error_of("[systems.write-through.caches.l1]", "[systems.write-through.caches.l9]"),
             Contains("write-through has no table of blocks 'l9'"));
  CHECK_THAT(error_of("policy = \"lru\"", "policy = \"lrw\""),
             Contains("'lrw' is unknown as 'policy'") && Contains("did you mean 'lru'?"));
  CHECK_THAT(error_of("from = \"L2\"", "from = \"L7\""), Contains("'L7', which is no unit"));
  CHECK_THAT(error_of("cus = 8 ", "cus = 8 8 "), Contains("m.toml:"));
  CHECK_THAT(error_of("agents = 1 ", "agents = 3 "), Contains("cannot be shared out evenly"));
  CHECK_THAT(error_of("table = \"home.memory\"", "table = \"home.memry\""),
             Contains("did you mean 'home.memory'?"));
}

TEST_CASE("a workload that is too large for its machine is refused") {
  SimulationRequest request = request_for("write-through", {{"words", 4096}, {"waves", 100}}, 2);
  CHECK_THROWS_WITH(run_workload(request, "copy", never), Catch::Contains("too large for the machine"));
  request.sizes = {{"word", 4}};
  CHECK_THROWS_WITH(run_workload(request, "copy", never),
                    Catch::Contains("unknown size 'word'") && Catch::Contains("did you mean 'words'?"));
}
