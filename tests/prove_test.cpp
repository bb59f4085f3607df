// What the prover claims: lemmas that hold are proved, at a size and at any; each fault breaks an obligation;
// what a solver cannot do is never counted as proved.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>

#include "checker/explore/adaptor.hpp"
#include "checker/explore/explorer.hpp"
#include "checker/interpret/mutation.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"
#include "checker/systems/trees.hpp"
#include "proofs/proof_system.hpp"
#include "proofs/prover.hpp"
#include "proofs/report.hpp"
#include "spec/examples/german.hpp"
#include "spec/memory/cpcoh.hpp"
#include "spec/memory/g_tsc.hpp"
#include "spec/memory/halcone.hpp"
#include "spec/memory/quick_release.hpp"
#include "spec/memory/rfo.hpp"
#include "spec/memory/write_through.hpp"

using namespace lockstep;

namespace {

ProofResult prove_system(const std::string& name, bool any_size, const std::vector<std::string>& faults = {},
                         ProveOptions options = {}) {
  SystemOptions system;
  system.faults = faults;
  const auto subject = find_proof(name).build(system, any_size);
  options.any_size = any_size;
  return prove(*subject, options);
}

// Which lemma at write-through's port each fault breaks, with one agent, block and word.
const std::map<std::string, std::string> write_through_seen_by{
    {"release-does-not-wait", "what a thread that has released is ordered behind is where its scope sees it"},
    {"early-acknowledgement", "what a thread that has released is ordered behind is where its scope sees it"},
    {"acquire-keeps-l1", "a fresh L1 holds no older copy, and fetches none"},
    {"acquire-keeps-l2", "a fresh L2 holds no older copy, and fetches none"},
    {"fill-survives-acquire", "a fresh L1 is brought no older copy"},
    {"fill-survives-write", "a fresh L1 is brought no older copy"},
    {"l1-copy-not-updated", "a fresh L1 holds no older copy, and fetches none"},
    {"l2-copy-not-updated", "a fresh L2 holds no older copy, and fetches none"},
    {"atomic-keeps-l1-copy",
     "an atomic on its way leaves nothing of its block in its L1, nor to be put there"},
    {"atomic-overtakes-writes", "an atomic is behind what its thread is ordered behind"},
    {"marker-overtakes-writes", "a marker is behind what its thread is ordered behind"},
    {"cpu-not-invalidated", "or in memory, if no link has a write"},
};

// Likewise at quick-release's port, and at halcone's.
const std::map<std::string, std::string> quick_release_seen_by{
    {"fill-ignores-write", "a fresh L1 holds no older copy, and fetches none"},
    {"fill-overtaken", "an older fill on its way to an L1 that has been told is ahead of that"},
    {"fill-survives-eviction", "a fresh L1 is brought no older copy"},
    {"acquire-hits-l1",
     "until the first race, a completed load or RMW returned the newest write at its point"},
    {"flush-unacknowledged", "a flush is behind its late store, or still to be queued"},
    {"atomic-overtakes-write", "what passes an L1 leaves nothing of its block there, nor to be put there"},
    {"atomic-invalidates-nothing", "an L2 that has told its L1s is fresh, and one that is fresh tells them"},
    {"host-release-does-not-wait", "what is published to the system is fresh in all caches, and in memory"},
    {"early-acknowledgement", "who waits for invalidations waits for those that its scope lacks"},
    {"invalidations-not-awaited", "who waits for invalidations waits for those that its scope lacks"},
    {"entry-lost", "a thread that releases has its marker in one place"},
    {"no-broadcast", "an L1 that has been told is fresh, or will be when that arrives"},
    {"stale-own-copy", "the L1 of a late store shows nothing older"},
    {"written-bit-forgotten", "the written bit of rL1 is set while wL1 is newer"},
    {"cpu-not-invalidated", "memory holds the newest write if none is on its way"},
    {"cpu-write-not-broadcast", "an L1 that has been told is fresh, or will be when that arrives"},
    {"marker-overtakes", "a marker is behind what its thread is ordered behind"},
    {"no-second-flush", "a flush is behind its late store, or still to be queued"},
    {"l2-partial-hit-not-written", "what passes L1s is behind what its thread is ordered behind"},
    {"agents-not-invalidated", "when the newest write is in memory, an L2 is fresh or will be told"},
    {"mask-ignored", "a performed write at an L1 is of the newest one's CU, and no other is but beyond it"},
    {"partial-hit-served",
     "until the first race, a completed load or RMW returned the newest write at its point"},
};
const std::map<std::string, std::string> halcone_seen_by{
    {"write-joins-lease", "a lease between the newest write and those ahead is of the newest"},
    {"lease-prolonged", "a lease between the newest write and those ahead is of the newest"},
    {"lease-prolonged-by-answer", "a lease between the newest write and those ahead is of the newest"},
    {"hit-keeps-words", "copies agree where their leases meet"},
    {"read-keeps-clock",
     "until the first race, a completed load or RMW returned the newest write at its point"},
    {"store-without-time", "an atomic write carries the time of what its thread is ordered behind"},
    {"acquire-keeps-l1-clock", "who is ordered behind the newest write has a clock there, or is about to"},
    {"acquire-keeps-bank-clocks", "who is ordered behind the newest write has a clock there, or is about to"},
    {"fence-keeps-l1", "who is ordered behind the newest write has a clock there, or is about to"},
    {"fence-keeps-l2", "who is ordered behind the newest write has a clock there, or is about to"},
    {"entry-forgotten", "a lease between the newest write and those ahead is of the newest"},
    {"overflow-forgets-leases", "a lease between the newest write and those ahead is of the newest"},
    {"lease-not-recorded", "the time of an answer is in memory's past, and in its lease"},
    {"expired-copy-read",
     "until the first race, a completed load or RMW returned the newest write at its point"},
    {"write-not-locked", "a lease between the newest write and those ahead is of the newest"},
    {"merged-by-address",
     "until the first race, a completed load or RMW returned the newest write at its point"},
};

bool refuted(const ProofResult& result, const std::string& lemma) {
  return std::any_of(result.obligations.begin(), result.obligations.end(), [&](const Obligation& o) {
    return o.status == ProofStatus::refuted && o.lemma == lemma;
  });
}

// The promise at a port: all of it, or with a mistake the lemma that it breaks.
ProofResult prove_port(const std::string& name, const SystemOptions& system = {},
                       const std::string& lemma = {}) {
  ProveOptions options;
  options.from_scratch = true;
  if (!lemma.empty()) options.only = {lemma};
  return prove(*theorem_of(name, system), options);
}
// With one agent, block and word, which is faster.
SystemOptions one_of_each() {
  SystemOptions system;
  system.sizes = {{"agent", 1}, {"block", 1}, {"word", 1}};
  return system;
}
bool fault_refutes(const std::string& name, const std::string& fault, const std::string& lemma,
                   SystemOptions system = {}) {
  system.faults = {fault};
  return refuted(prove_port(name, system, lemma), lemma);
}

void all_faults_refuted(const std::string& name, std::span<const Fault> faults,
                        const std::map<std::string, std::string>& seen_by) {
  for (const Fault& one : faults) {
    const std::string fault(one.name);
    INFO(fault);
    REQUIRE(seen_by.contains(fault));
    CHECK(fault_refutes(name, fault, seen_by.at(fault)));
  }
}

// Whether the explorer finds a run that breaks the promise at the port, on the machine that is so described.
bool promise_broken(const std::string& name, const SystemOptions& system, const std::string& where) {
  const auto machines = theorem_of(name, system)->machines();
  return std::any_of(machines.begin(), machines.end(), [&](const ExploredMachine& machine) {
    if (machine.where.find(where) == std::string::npos) return false;
    ExploreOptions options;
    options.deadlocks = false;
    options.time_limit = std::chrono::minutes(3);
    return explore(*machine.model, options).verdict == Verdict::invariant;
  });
}

// The runs that must exist at the port.
void all_runs_exist(const std::string& name) {
  const auto runs = theorem_of(name, {})->runs_that_must_exist();
  CHECK(runs.size() == 4);
  for (const SoughtRun& run : runs) {
    INFO(run.name);
    ExploreOptions options;
    options.deadlocks = false;
    CHECK(explore(*run.model, options).verdict == Verdict::invariant);
  }
}

// A system of one table and a few rules, written for these tests.
struct CellTag {
  static constexpr std::string_view name = "cell";
  static constexpr int capacity = 4;
  static constexpr bool interchangeable = true;
  static constexpr bool fixed = false;
};
struct SlotTag {
  static constexpr std::string_view name = "slot";
  static constexpr int capacity = 2;
  static constexpr bool interchangeable = false;
  static constexpr bool fixed = true;
};
inline constexpr CellTag cells{};

template <class K>
struct Toy {
  using Kind = K;
  using Bool = typename K::Bool;
  using Cell = typename K::template Ix<CellTag>;
  struct Row {
    Bool a;
    Bool b;
    BOOST_DESCRIBE_CLASS(Row, (), (a, b), (), ())
  };
  struct State {
    typename K::template Table<Row, CellTag> cell;
    typename K::template Fifo<Row, SlotTag> queue;
    BOOST_DESCRIBE_CLASS(State, (), (cell, queue), (), ())
  };
  K k;
  bool checks_room = true;
  bool vacuous = false;
  bool contradiction = false;
  [[nodiscard]] const K& kind() const { return k; }

  template <class Start>
  void start(Start& s) const {
    s.start(over(), [](State&) {});
  }
  template <class Rules>
  void rules(Rules& r) const {
    // Two loops, one within the other, and a write to rows that are not the loop's own.
    r.rule(
        {.name = "marks all", .unit = "toy"}, over(cells), [](const State&, Cell) { return Bool(true); },
        [this](State& s, Cell c) {
          k.for_each(cells, [&](Cell i) {
            K::when(i != c, [&] {
              s.cell(i).a = true;
              k.for_each(cells, [&](Cell j) { K::when(j == i, [&] { s.cell(j).b = true; }); });
            });
          });
        });
    r.rule(
        {.name = "clears one", .unit = "toy"}, over(cells),
        [](const State& s, Cell c) { return s.cell(c).a; },
        [](State& s, Cell c) {
          s.cell(c).b = false;
          s.cell(c).a = s.cell(c).b;
        });
    r.rule(
        {.name = "queues", .unit = "toy"}, over(cells),
        [this](const State& s, Cell) { return checks_room ? !k.full(s.queue) : Bool(true); },
        [this](State& s, Cell c) { k.push(s.queue, s.cell(c)); });
    r.triggered(
        {.name = "takes", .unit = "toy"}, over(cells), [](auto& s, Cell) -> auto& { return s.queue; },
        [](const State&, Cell, const Row& row) { return row.a; },
        [](State& s, Cell c, const Row& row) {
          s.cell(c).a = row.a;
          s.cell(c).b = row.b;
        });
  }
  template <class Invariants>
  void invariants(Invariants& v) const {
    v.invariant("a and b go together", [this](const State& s) {
      return k.forall(cells, [&](Cell c) { return s.cell(c).a == s.cell(c).b; });
    });
    v.invariant("so they do in the queue", [](const State& s) {
      return !K::contains(s.queue, [](const Row& row) { return row.a != row.b; });
    });
    if (vacuous) {
      v.invariant("says nothing", [this](const State& s) {
        return k.forall(cells, [&](Cell c) { return s.cell(c).a || !s.cell(c).a; });
      });
    }
    if (contradiction) {
      v.invariant("nothing is marked",
                  [this](const State& s) { return k.forall(cells, [&](Cell c) { return !s.cell(c).a; }); });
    }
  }
};

struct ToyChoice {
  bool checks_room = true;
  bool vacuous = false;
  bool contradiction = false;
};
ProofResult prove_toy(bool any_size, ToyChoice choice = {}, ProveOptions options = {}) {
  using Sizes = DynamicSizes<CellTag, SlotTag>;
  const CompiledProof<Toy<Symbolic<Sizes>>> subject(
      [=](Trees) {
        return Toy<Symbolic<Sizes>>{Symbolic<Sizes>(Sizes{}), choice.checks_room, choice.vacuous,
                                    choice.contradiction};
      },
      [] { return std::unique_ptr<Model>(); }, Sizes{}, any_size);
  options.any_size = any_size;
  return prove(subject, options);
}

// Cells that a loop marks, in ways that one iteration after the other and all at once tell apart, or not.
enum class Marking {
  first_alone,      // reads what other iterations write
  chosen_before,    // clears a row that it may mark later
  chosen_after,     // marks its own row, then clears a chosen one: the same in every order
  through_a_loop,   // reads within an inner loop what other iterations write
  chosen_by_state,  // marks rows that the state chooses, all alike, and reads what no iteration writes
  numbers_itself,   // writes its own number where the state chooses
};
template <class K>
struct Cells {
  using Kind = K;
  using Bool = typename K::Bool;
  using Cell = typename K::template Ix<CellTag>;
  struct Row {
    Bool marked;
    Bool wanted;
    Cell next;
    BOOST_DESCRIBE_CLASS(Row, (), (marked, wanted, next), (), ())
  };
  struct State {
    typename K::template Table<Row, CellTag> cell;
    Cell chosen;
    BOOST_DESCRIBE_CLASS(State, (), (cell, chosen), (), ())
  };
  K k;
  Marking marking = Marking::first_alone;
  [[nodiscard]] const K& kind() const { return k; }

  template <class Start>
  void start(Start& s) const {
    s.start(over(), [](State&) {});
  }
  template <class Rules>
  void rules(Rules& r) const {
    r.rule(
        {.name = "marks", .unit = "cells"}, over(cells), [](const State&, Cell) { return Bool(true); },
        [this](State& s, Cell c) { k.for_each(cells, [&](Cell i) { mark(s, c, i); }); });
  }
  void mark(State& s, Cell c, Cell i) const {
    switch (marking) {
      case Marking::first_alone:
        K::when(!k.exists(cells, [&](Cell j) { return s.cell(j).marked; }), [&] { s.cell(i).marked = true; });
        return;
      case Marking::chosen_before:
        s.cell(c).marked = false;
        s.cell(i).marked = true;
        return;
      case Marking::chosen_after:
        s.cell(i).marked = true;
        s.cell(c).marked = false;
        return;
      case Marking::through_a_loop:
        k.for_each(cells, [&](Cell j) { K::when(!s.cell(j).marked, [&] { s.cell(j).wanted = true; }); });
        s.cell(i).marked = true;
        return;
      case Marking::chosen_by_state:
        K::when(!s.cell(i).wanted, [&] { s.cell(s.cell(i).next).marked = true; });
        return;
      case Marking::numbers_itself:
        K::when(i == c, [&] { s.chosen = i; });
        return;
    }
  }
  template <class Invariants>
  void invariants(Invariants& v) const {
    v.invariant("all are marked or none", [this](const State& s) {
      return k.forall(cells, [&](Cell c) {
        return k.forall(cells, [&](Cell d) { return s.cell(c).marked == s.cell(d).marked; });
      });
    });
  }
  void restore(State&) const {}
  [[nodiscard]] bool proper_end(const State&) const { return true; }
};
ProofResult prove_cells(Marking marking, bool any_size) {
  using Sizes = DynamicSizes<CellTag>;
  const CompiledProof<Cells<Symbolic<Sizes>>> subject(
      [=](Trees) {
        return Cells<Symbolic<Sizes>>{Symbolic<Sizes>(Sizes{}), marking};
      },
      [] { return std::unique_ptr<Model>(); }, Sizes{}, any_size);
  ProveOptions options;
  options.any_size = any_size;
  return prove(subject, options);
}
Verdict explore_cells(Marking marking, int count) {
  using Sizes = DynamicSizes<CellTag>;
  Cells<Concrete<Sizes>> system;
  system.k.sizes.set<CellTag>(count);
  system.marking = marking;
  return explore(CompiledModel<Cells<Concrete<Sizes>>>(system, Reductions::none()), {}).verdict;
}

std::string script(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file.string();
}

}  // namespace

TEST_CASE("loops within loops, rows of others and queues mean the same at a size and at any") {
  const bool any_size = GENERATE(false, true);
  const ProofResult result = prove_toy(any_size);
  CHECK(result.proved());
  CHECK(result.obligations.size() > 8);
}

TEST_CASE("a loop that reads what its other iterations write is refused at any size, by its accesses") {
  CHECK(explore_cells(Marking::first_alone, 3) == Verdict::invariant);
  CHECK(refuted(prove_cells(Marking::first_alone, false), "all are marked or none"));
  CHECK_THROWS_AS(prove_cells(Marking::first_alone, true), BadInput);
  CHECK_THROWS_WITH(
      prove_cells(Marking::first_alone, true),
      Catch::Contains("the rule \"marks\"") && Catch::Contains("one iteration may write what another reads: "
                                                               "cell.marked(cell!) and cell.marked(cell?"));
  CHECK_THROWS_WITH(prove_cells(Marking::through_a_loop, true),
                    Catch::Contains("cell.marked(cell!) and cell.marked(cell!2)"));
}

TEST_CASE("a loop whose iterations disagree on a row is refused at any size") {
  CHECK(explore_cells(Marking::chosen_before, 3) == Verdict::invariant);
  CHECK(refuted(prove_cells(Marking::chosen_before, false), "all are marked or none"));
  CHECK_THROWS_WITH(prove_cells(Marking::chosen_before, true),
                    Catch::Contains("two iterations may leave different values in one row: "
                                    "cell.marked(cell!) and cell.marked(cell)"));
  CHECK_THROWS_WITH(prove_cells(Marking::numbers_itself, true),
                    Catch::Contains("writes chosen") && Catch::Contains("a value of its own"));
}

TEST_CASE("a loop whose iterations agree is read as they come to, in whatever order") {
  const Marking marking = GENERATE(Marking::chosen_after, Marking::chosen_by_state);
  CHECK(explore_cells(marking, 3) == Verdict::invariant);
  CHECK(refuted(prove_cells(marking, false), "all are marked or none"));
  CHECK(refuted(prove_cells(marking, true), "all are marked or none"));
}

TEST_CASE("a queue that may overrun is an obligation that fails") {
  const bool any_size = GENERATE(false, true);
  const ProofResult result = prove_toy(any_size, {.checks_room = false});
  CHECK_FALSE(result.proved());
  CHECK(refuted(result, "a queue that is pushed onto has room"));
}

TEST_CASE("a lemma that says nothing is not counted as proved") {
  const ProofResult result = prove_toy(false, {.vacuous = true});
  CHECK_FALSE(result.proved());
  CHECK(result.count(ProofStatus::vacuous) == 1);
  CHECK(exit_status(result) == 1);
}

TEST_CASE("lemmas that never let a rule happen are reported beside what they make of it") {
  ProveOptions options;
  options.from_scratch = GENERATE(false, true);
  const ProofResult result = prove_toy(false, {.contradiction = true}, options);
  CHECK_FALSE(result.proved());
  CHECK(std::any_of(result.obligations.begin(), result.obligations.end(), [](const Obligation& o) {
    return o.status == ProofStatus::vacuous && o.rule == "clears one";
  }));
}

TEST_CASE("a proof says which sizes stay fixed, and what its client may ask") {
  using SizeList = std::vector<std::pair<std::string, int>>;
  const auto subject = [](const std::string& name, bool any_size) {
    return find_proof(name).build({}, any_size);
  };
  CHECK(subject("write-through", true)->fixed_sizes() ==
        SizeList{{"word", 2}, {"link1-messages", 2}, {"link2-messages", 2}});
  CHECK(subject("german", true)->fixed_sizes().empty());
  CHECK(subject("cpcoh", true)->fixed_sizes() == SizeList{{"label", 2}, {"base", 1}, {"streams", 2}});
  for (const std::string name : {"german", "write-through", "quick-release", "rfo", "g-tsc", "halcone",
                                 "hmg-monolithic", "lab", "fear", "cpcoh"}) {
    INFO(name);
    const auto at_a_size = subject(name, false);
    CHECK(at_a_size->fixed_sizes() == at_a_size->sizes());
    CHECK(at_a_size->client().empty() == (name == "german" || name == "cpcoh"));
  }
  CHECK(subject("write-through", true)->client() ==
        "load (plain, relaxed, acquire), store of 0 or 1 (plain, relaxed, release), exchange of 0 or 1 "
        "(relaxed, "
        "acquire, release, acq_rel), fence (acquire, release, acq_rel), at wg, agent, system; of the watched "
        "word "
        "never 0; words of 32 bits");
  CHECK_THAT(subject("lab", false)->client(), Catch::Contains("add of 1 or 2 (comm)"));
  CHECK_THAT(subject("halcone", false)->client(), !Catch::Contains("watched") && !Catch::Contains("comm"));

  ProofTitle title{"s",           "t", "any number of nodes", "Z3", {{"word", 2}, {"link-messages", 1}},
                   "load (plain)"};
  const std::string text = proof_text(title, {}, false);
  CHECK_THAT(text, Catch::Contains("  Fixed     word=2, link-messages=1\n  Client    load (plain)\n"));
  const nlohmann::json json = proof_json(title, {});
  CHECK(json.at("fixed") == nlohmann::json{{"word", 2}, {"link-messages", 1}});
  CHECK(json.at("client") == "load (plain)");
  title.fixed.clear();
  CHECK_THAT(proof_text(title, {}, false), Catch::Contains("  Fixed     nothing\n"));
}

// That the trees of a system say what is read of its rules.
ProofResult prove_trees(const ProofEntry& entry, const SystemOptions& system, bool any_size = false) {
  ProveOptions options;
  options.any_size = any_size;
  return prove(*proof_of_trees(entry.build(system, any_size)), options);
}
void check_trees(const ProofEntry& entry, const SystemOptions& system, bool any_size = false) {
  const ProofResult result = prove_trees(entry, system, any_size);
  INFO(entry.system << " " << system.variant << " " << fmt::format("{}", fmt::join(system.faults, ",")));
  for (const Obligation& o : result.obligations) {
    INFO(o.rule << ": " << o.lemma << ": " << o.message);
    CHECK(o.status == ProofStatus::proved);
  }
  CHECK(result.obligations.size() > 3);
}

TEST_CASE("the trees of every system at its default say what the proofs read, in every state", "[prove]") {
  for (const ProofEntry& entry : proofs()) check_trees(entry, {});
  // On CPCoh Z3 gives up on one.
  for (const char* const name : {"german", "write-through"}) check_trees(find_proof(name), {}, true);
}

TEST_CASE("the trees of every system at every other variant say what the proofs read, in every state",
          "[.][nightly]") {
  for (const ProofEntry& entry : proofs()) {
    const auto& variants = find_system(entry.system).variants;
    for (std::size_t i = 1; i < variants.size(); ++i) {
      SystemOptions system;
      system.variant = variants[i].name;
      check_trees(entry, system);
    }
  }
}

TEST_CASE("the trees of every system with every fault say what the proofs read, in every state",
          "[.][nightly]") {
  for (const ProofEntry& entry : proofs()) {
    for (const Fault& fault : find_system(entry.system).faults) {
      SystemOptions system;
      system.faults = {std::string(fault.name)};
      check_trees(entry, system);
    }
  }
}

TEST_CASE("a tree that says something else than its rule is refuted, with a state that shows it", "[prove]") {
  const ProofEntry& entry = find_proof("german");
  const SystemEntry& german = find_system("german");
  std::size_t refuted = 0;
  for (const recorded::RecordedRule& rule : trees_of(german, SystemOptions{}).rules) {
    for (const Mutation& mutation : mutations_of(rule)) {
      SystemOptions changed;
      changed.mutation = std::make_shared<const Mutation>(mutation);
      ProveOptions options;
      options.rule = rule.name;
      const ProofResult result = prove(*proof_of_trees(entry.build(changed, false)), options);
      INFO(rule.name << " " << text(mutation));
      // A guard that is always false changes nothing of what a rule does where it is enabled.
      for (const Obligation& o : result.obligations) {
        CHECK(o.rule == rule.name);
        if (o.status != ProofStatus::refuted) continue;
        ++refuted;
        REQUIRE(o.counterexample);
        CHECK_FALSE(o.counterexample->fields.empty());
        break;
      }
    }
  }
  CHECK(refuted > 60);
}

TEST_CASE("no mutant is proved that breaks an invariant in a reachable state", "[prove]") {
  const SystemEntry& german = find_system("german");
  SystemOptions system;
  system.sizes = {{"node", 2}};
  std::size_t broken = 0;
  for (const recorded::RecordedRule& rule : trees_of(german, system).rules) {
    ProveOptions options;
    options.rule = rule.name;
    CHECK(prove(*find_proof("german").build(system, false), options).proved());
    for (const Mutation& mutation : mutations_of(rule)) {
      SystemOptions changed = system;
      changed.mutation = std::make_shared<const Mutation>(mutation);
      if (explore(*german.build_closed(changed), {}).verdict != Verdict::invariant) continue;
      ++broken;
      INFO(rule.name << " " << text(mutation));
      CHECK(prove(*find_proof("german").build(changed, false), options).count(ProofStatus::refuted) > 0);
    }
  }
  CHECK(broken > 15);
}

TEST_CASE("german is proved for any number of nodes, and at a size") {
  CHECK(prove_system("german", true).proved());
  CHECK(prove_system("german", false).proved());
}

TEST_CASE("every fault of german breaks an obligation, and the counterexample names the rule") {
  for (const Fault& fault : german::faults) {
    const bool any_size = GENERATE(false, true);
    INFO(fault.name);
    ProveOptions options;
    options.seconds_each = 20;
    const ProofResult result = prove_system("german", any_size, {std::string(fault.name)}, options);
    CHECK_FALSE(result.proved());
    REQUIRE(result.count(ProofStatus::refuted) > 0);
    for (const Obligation& o : result.obligations) {
      if (o.status != ProofStatus::refuted) continue;
      REQUIRE(o.counterexample);
      CHECK(o.counterexample->rule.starts_with(o.rule));
      CHECK_FALSE(o.counterexample->fields.empty());
    }
  }
}

TEST_CASE("german's lemmas hold in every reachable state of three nodes") {
  SystemOptions options;
  options.sizes = {{"node", 3}};
  const auto model = find_proof("german").build(options, false)->model();
  const ExploreResult result = explore(*model, {});
  CHECK(result.verdict == Verdict::holds);
  CHECK(result.states == 58104);
}

TEST_CASE("quick-release is proved, and a release that waits for no invalidation is not") {
  CHECK(prove_system("quick-release", false).proved());
  const ProofResult broken = prove_system("quick-release", false, {"invalidations-not-awaited"});
  CHECK(refuted(broken, "a marker that is out waits for invalidations"));
}

TEST_CASE("write-through is proved, and an acquire that keeps its L1 is not") {
  ProveOptions options;
  const ProofResult broken = prove_system("write-through", false, {"acquire-keeps-l1"});
  CHECK(refuted(broken, "an L1 that is new holds no older copy"));
}

TEST_CASE("at write-through's port there are the runs that must exist") {
  all_runs_exist("write-through");
  CHECK(theorem_of("sc", {}) == nullptr);
}

TEST_CASE("the promise at write-through's port is proved") {
  CHECK(prove_port("write-through", one_of_each()).proved());
}

TEST_CASE("the promise at write-through's port is proved for two of everything", "[.][nightly]") {
  CHECK(prove_port("write-through").proved());
}

TEST_CASE("every fault of write-through breaks the proof of what its port promises", "[.][nightly]") {
  all_faults_refuted("write-through", write_through::faults, write_through_seen_by);
}

TEST_CASE("at write-through's port a release that does not wait is noticed") {
  const std::string fault = "release-does-not-wait";
  CHECK(fault_refutes("write-through", fault, write_through_seen_by.at(fault), one_of_each()));
}

TEST_CASE(
    "quick-release as printed breaks the promise at its port, in a run, and so does an RMW that overtakes") {
  SystemOptions printed;
  printed.variant = "as-printed";
  CHECK(promise_broken("quick-release", printed,
                       "(two CUs), the promise alone, asking for loads and an agent's"));
  SystemOptions overtaking;
  overtaking.faults = {"atomic-overtakes-write"};
  CHECK(promise_broken("quick-release", overtaking, "(one CU), the promise alone"));
}

TEST_CASE("the promise at quick-release's port is proved for two of everything", "[.][nightly]") {
  CHECK(prove_port("quick-release").proved());
}

TEST_CASE("every fault of quick-release breaks the proof of what its port promises", "[.][nightly]") {
  all_faults_refuted("quick-release", quick_release::faults, quick_release_seen_by);
}

TEST_CASE("at quick-release's port a marker that overtakes is noticed, and S-FIFOs split by wavefront are") {
  const std::string fault = "marker-overtakes";
  const std::string lemma = quick_release_seen_by.at(fault);
  CHECK(fault_refutes("quick-release", fault, lemma, one_of_each()));
  SystemOptions split = one_of_each();
  split.variant = "split-fifo";
  CHECK(refuted(prove_port("quick-release", split, lemma), lemma));
}

TEST_CASE(
    "the promise at halcone's port is proved, and not that of atomics that hit copies, or carry no time") {
  SystemOptions small;
  small.sizes = {{"block", 1}, {"word", 1}};
  CHECK(prove_port("halcone", small).proved());
  const std::string fault = "store-without-time";
  CHECK(fault_refutes("halcone", fault, halcone_seen_by.at(fault), small));
  small.variant = "polls-leases";
  const std::string promise =
      "until the first race, a completed load or RMW returned the newest write at its point";
  CHECK(refuted(prove_port("halcone", small, promise), promise));
}

TEST_CASE("the promise at halcone's port is proved for two of everything, at every variant that keeps it",
          "[.][nightly]") {
  for (const char* variant : {"default", "one-clock", "atomic"}) {
    INFO(variant);
    SystemOptions system;
    system.variant = variant;
    CHECK(prove_port("halcone", system).proved());
  }
}

TEST_CASE("every fault of halcone breaks the proof of what its port promises", "[.][nightly]") {
  all_faults_refuted("halcone", halcone::faults, halcone_seen_by);
}

TEST_CASE(
    "halcone as printed breaks the promise at its port, in a run; the default has the runs that must exist") {
  SystemOptions printed;
  printed.variant = "as-printed";
  CHECK(promise_broken("halcone", printed, "(two CUs), the promise alone, asking for loads, stores and an"));
  all_runs_exist("halcone");
}

TEST_CASE("quick-release's promise is stated for one message a link") {
  SystemOptions wide;
  wide.sizes = {{"link1-messages", 2}};
  CHECK_THROWS_WITH(theorem_of("quick-release", wide), Catch::Contains("one message a link"));
}

TEST_CASE("cpcoh is proved for any number of chiplets, structures and words, with any lines",
          "[.][nightly]") {
  CHECK(prove_system("cpcoh", true).proved());
}

TEST_CASE("cpcoh with L1s is proved for any number of CUs as well") {
  SystemOptions options;
  options.variant = "l1s";
  CHECK(prove(*find_proof("cpcoh").build(options, true), {}).proved());
  for (const std::string fault : {"l1s-by-acquires-alone", "store-keeps-l1"}) {
    INFO(fault);
    options.faults = {fault};
    CHECK(prove(*find_proof("cpcoh").build(options, true), {}).count(ProofStatus::refuted) > 0);
  }
}

TEST_CASE("every fault of cpcoh breaks an obligation") {
  for (std::size_t i = 0; i < cpcoh::faults.size(); ++i) {
    // Two kernels in flight are not proved without a fault either.
    if (((cpcoh::of_overlapping >> i) & 1U) != 0) continue;
    const Fault& fault = cpcoh::faults[i];
    INFO(fault.name);
    SystemOptions system;
    system.faults = {std::string(fault.name)};
    system.sizes = {{"chiplet", 2}, {"structure", 2}, {"word", 2}, {"label", 1}};
    const ProofResult result = prove(*find_proof("cpcoh").build(system, false), {});
    CHECK(result.count(ProofStatus::refuted) > 0);
  }
}

TEST_CASE("g-tsc is proved for timestamps that nobody uses up, and for few, and not as told") {
  SystemOptions few;
  few.sizes = {{"timestamps", 16}};
  CHECK(prove_system("g-tsc", false).proved());
  CHECK(prove(*find_proof("g-tsc").build(few, false), {}).proved());
  for (const std::string variant : {"cu-clock", "polls-leases"}) {
    INFO(variant);
    SystemOptions options;
    options.variant = variant;
    CHECK(prove(*find_proof("g-tsc").build(options, false), {}).proved());
  }
  SystemOptions told;
  told.variant = "as-told";
  CHECK(prove(*find_proof("g-tsc").build(told, false), {}).count(ProofStatus::refuted) > 0);
}

TEST_CASE("every fault of g-tsc breaks an obligation") {
  const std::string returned = "a load returns what its time selects";
  const std::string answered = "so is an answer with the newest lease";
  const std::string reached = "a warp's clock has reached the time of what it was answered";
  const std::map<std::string, std::string> seen_by{
      {"write-joins-lease", answered},
      {"write-before-its-warp", "no operation's time is before its warp's clock was"},
      {"read-keeps-clock", reached},
      {"write-keeps-clock", reached},
      {"expired-copy-read", returned},
      {"later-copy-read", returned},
      {"lease-not-noted", "no answer's lease does"},
      {"time-forgotten", "the last write is no later than its block"},
      {"renewed-unseen", answered},
      {"renewal-of-other-copy", returned},
      {"hit-keeps-words", answered},
      {"write-not-locked", "copies and answers of one version are the same"},
      {"fill-ends-lock", answered},
      {"fence-keeps-clock", reached},
      {"overflow-forgets-leases", answered},
      {"dirty-block-dropped", answered},
  };
  for (const Fault& fault : g_tsc::faults) {
    const std::string name(fault.name);
    INFO(name);
    REQUIRE(seen_by.contains(name));
    ProveOptions options;
    options.only = {seen_by.at(name)};
    CHECK(refuted(prove_system("g-tsc", false, {name}, options), seen_by.at(name)));
  }
}

TEST_CASE("halcone is proved for timestamps that nobody uses up, and for few") {
  SystemOptions few;
  few.sizes = {{"timestamps", 16}};
  CHECK(prove_system("halcone", false).proved());
  CHECK(prove(*find_proof("halcone").build(few, false), {}).proved());
}

TEST_CASE("every fault of halcone breaks an obligation") {
  const std::string covered = "a copy on a lease that covers the watched time holds what it selects";
  const std::string ends = "no lease of a copy ends after memory's time";
  const std::string begun = "a copy's lease has begun by its cache's clock";
  const std::string reached = "the clock of a CU has reached the time of what it was answered";
  const std::string banks = "an acquire at system scope moves the clocks of all banks";
  const std::map<std::string, std::string> seen_by{
      {"write-joins-lease", covered},
      {"lease-prolonged", ends},
      {"lease-prolonged-by-answer", ends},
      {"hit-keeps-words", covered},
      {"read-keeps-clock", begun},
      {"store-without-time", "what synchronizes is no earlier than its CU's clock was"},
      {"acquire-keeps-l1-clock", reached},
      {"acquire-keeps-bank-clocks", banks},
      {"fence-keeps-l1", reached},
      {"fence-keeps-l2", banks},
      {"entry-forgotten", ends},
      {"overflow-forgets-leases", ends},
      {"lease-not-recorded", ends},
      {"expired-copy-read", "a load returns what its time selects"},
      {"write-not-locked", covered},
      {"merged-by-address", "a load returns what its time selects"},
  };
  for (const Fault& fault : halcone::faults) {
    const std::string name(fault.name);
    INFO(name);
    REQUIRE(seen_by.contains(name));
    ProveOptions options;
    options.only = {seen_by.at(name)};
    CHECK(refuted(prove_system("halcone", false, {name}, options), seen_by.at(name)));
  }
}

TEST_CASE("read for ownership is proved for any number of threads, CUs and blocks") {
  CHECK(find_proof("rfo").build({}, true)->fixed_sizes() ==
        std::vector<std::pair<std::string, int>>{{"word", 2}, {"cluster", 1}});
  CHECK(prove_system("rfo", true).proved());
}

// The lemmas by which its faults are refuted, at its port, too.
const std::map<std::string, std::string>& rfo_seen_by() {
  static const std::map<std::string, std::string> seen_by{
      {"acknowledgements-not-awaited", "a single writer, or many readers"},
      {"read-not-awaited", "a reply is to the requester, who waits"},
      {"upgrade-of-a-lost-copy", "a reply is what its sender had to give"},
      {"write-back-not-probed", "what is sent is current"},
      {"late-write-back-taken", "the directory knows of every copy"},
      {"owner-not-probed", "what the directory does says how far it may be"},
      {"owner-forgotten", "a copy beside no owner is that of L2, or memory's"},
      {"sharer-forgotten", "the directory knows of every copy"},
      {"exclusive-beside-sharers", "a sharer is known beside none that may write"},
      {"recall-keeps-copies", "who has a shared copy is known, or hears that it loses it"},
      {"recall-drops-data", "L2, or memory, is current, unless a cache has written the block"},
      {"recall-not-awaited", "the directory knows of every copy"},
      {"l2-drops-data", "L2, or memory, is current, unless a cache has written the block"},
  };
  return seen_by;
}

TEST_CASE("each fault of read for ownership is refuted for any number of caches", "[.][nightly]") {
  for (const Fault& fault : rfo::faults) {
    const std::string name(fault.name);
    INFO(name);
    REQUIRE(rfo_seen_by().contains(name));
    ProveOptions options;
    options.only = {rfo_seen_by().at(name)};
    CHECK(refuted(prove_system("rfo", true, {name}, options), rfo_seen_by().at(name)));
  }
}

TEST_CASE("the promise at rfo's port is proved, whatever races, and its runs exist") {
  CHECK(prove_port("rfo", one_of_each()).proved());
  all_runs_exist("rfo");
  CHECK(fault_refutes("rfo", "recall-drops-data", rfo_seen_by().at("recall-drops-data"), one_of_each()));
}

TEST_CASE("the promise at rfo's port is proved for two of everything, and each fault breaks the proof",
          "[.][nightly]") {
  CHECK(prove_port("rfo").proved());
  all_faults_refuted("rfo", rfo::faults, rfo_seen_by());
}

namespace {

void check_behind_cores(const std::vector<std::string>& variants) {
  for (const std::string& variant : variants) {
    INFO(variant);
    SystemOptions options;
    options.variant = variant;
    ProveOptions any;
    any.any_size = true;
    CHECK(prove(*find_proof("mttop-rfo").build(options, true), any).proved());
  }
}

}  // namespace

TEST_CASE("caches are as coherent behind cores that let accesses through in another order") {
  check_behind_cores({"default"});
}
TEST_CASE("caches are as coherent behind cores of every kind", "[.][nightly]") {
  check_behind_cores({"reads-ordered", "tso", "sc-wb", "sc-simple"});
}

TEST_CASE(
    "a mutex of fear is proved to have one holder, and not where it is given away or back out of turn") {
  CHECK(prove_system("fear", false).proved());
  const std::map<std::string, std::string> seen_by{
      {"release-out-of-turn", "a busy wire has one update on its way"},
      {"busy-ignored", "a mutex has one holder"},
      {"grant-not-told", "a table says whether a mutex is held, or an update is on its way"},
  };
  for (const auto& [fault, lemma] : seen_by) {
    INFO(fault);
    ProveOptions options;
    options.only = {lemma};
    CHECK(refuted(prove_system("fear", false, {fault}, options), lemma));
  }
}

TEST_CASE("copies of HMG's GPUs are proved to be memory's, and not where one is forgotten or kept too long") {
  CHECK(prove_system("hmg-monolithic", false).proved());
  const std::map<std::string, std::string> seen_by{
      {"gpu-not-noted", "what is to be kept is memory's, and known, or an invalidation follows it"},
      {"gpus-not-invalidated", "a copy's words are the newest on their way, or memory's, or invalidated"},
      {"fill-survives-store-at-home", "nothing that changes the block follows a read that is to be kept"},
  };
  for (const auto& [fault, lemma] : seen_by) {
    INFO(fault);
    ProveOptions options;
    options.only = {lemma};
    CHECK(refuted(prove_system("hmg-monolithic", false, {fault}, options), lemma));
  }
}

TEST_CASE("a second solver that is missing is bad input, with the way to get it") {
  ProveOptions options;
  options.recheck = "no-such-solver";
  CHECK_THROWS_WITH(prove_toy(false, {}, options), Catch::Contains("not installed"));
}

TEST_CASE("a second solver's word decides: sat disagrees, unknown and crashes prove nothing") {
  const TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  ProveOptions options;
  options.seconds_each = 1;
  const auto ask = [&](const std::string& text) {
    options.recheck = script(folder / "solver", "case \"$1\" in --version) exit 0;; esac\n" + text);
    return prove_toy(false, {}, options);
  };
  const auto all_are = [](const ProofResult& result, ProofStatus status) {
    return !result.proved() && result.count(status) > 0 &&
           std::all_of(result.obligations.begin(), result.obligations.end(),
                       [&](const Obligation& o) { return o.status == status || o.seconds == 0; });
  };
  CHECK(ask("echo unsat").proved());
  const ProofResult sat = ask("echo sat");
  CHECK(all_are(sat, ProofStatus::disagree));
  CHECK(exit_status(sat) == 1);
  const ProofResult unknown = ask("echo unknown");
  CHECK(all_are(unknown, ProofStatus::unknown));
  CHECK(exit_status(unknown) == 3);
  const ProofResult crash = ask("kill -SEGV $$");
  CHECK(all_are(crash, ProofStatus::error));
  CHECK(exit_status(crash) == 2);
  CHECK(all_are(ask("echo nonsense"), ProofStatus::error));
}

TEST_CASE("cvc5 confirms german, for any number of nodes") {
  ProveOptions options;
  options.recheck = "cvc5";
  try {
    const ProofResult result = prove_system("german", true, {}, options);
    CHECK(result.proved());
    CHECK(std::any_of(result.obligations.begin(), result.obligations.end(),
                      [](const Obligation& o) { return o.recheck_seconds > 0; }));
  } catch (const BadInput& missing) {
    WARN("not judged: " << missing.what());
  }
}

TEST_CASE("obligations are kept as SMT-LIB text that says what it is") {
  const TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path() / "smt";
  ProveOptions options;
  options.smt_directory = folder.string();
  const ProofResult result = prove_toy(true, {}, options);
  REQUIRE(result.proved());
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    CHECK(text.find("; unsat means proved") != std::string::npos);
    CHECK(text.find("(check-sat)") != std::string::npos);
    ++files;
  }
  CHECK(files > 0);
}

TEST_CASE("systems answer when they are left alone, some at any size") {
  const auto answers = [](const std::string& name, const std::string& variant, bool any_size) {
    SystemOptions system;
    system.variant = variant;
    ProveOptions options;
    options.any_size = any_size;
    const ProofResult result = prove(*progress_of(name, system, any_size), options);
    INFO(name << "/" << variant);
    CHECK(result.proved());
    for (const std::string_view claim :
         {"as long as a request waits, some rule is enabled", "leaves less to do",
          "answers whoever waits no longer",
          "where threads have ended and no rule is enabled, memory has drained"}) {
      CHECK(std::any_of(result.obligations.begin(), result.obligations.end(),
                        [&](const Obligation& o) { return o.lemma == claim; }));
    }
  };
  answers("write-through", "default", true);
  answers("write-through", "atomics-hold", false);
  answers("remote-atomics", "default", true);
  answers("lab", "default", false);
  answers("lab", "checked", false);
  answers("quick-release", "split-fifo", false);
  answers("halcone", "default", true);
  answers("halcone", "merged", false);
  answers("g-tsc", "default", true);
  answers("g-tsc", "cu-clock", false);
  CHECK(progress_of("sc", {}, false) == nullptr);
  CHECK_THROWS_WITH(progress_of("lab", {}, true), Catch::Contains("not proved for any size"));
}

TEST_CASE("two messages on each of quick-release's links leave it to answer") {
  SystemOptions system;
  system.sizes = {{"link1-messages", 2}, {"link2-messages", 2}};
  CHECK(prove(*progress_of("quick-release", system, false), {}).proved());
}

TEST_CASE("where no lease fits its timestamps, time begins again without end") {
  SystemOptions few;
  few.sizes = {{"timestamps", 3}};
  CHECK(refuted(prove(*progress_of("halcone", few, false), {}), "leaves less to do"));
  few.sizes = {{"timestamps", 4}};
  CHECK(prove(*progress_of("halcone", few, false), {}).proved());
}

TEST_CASE("a system that may not answer is not proved to: each way to stop, to go round and to forget") {
  struct Slip {
    std::string system, rule, mutant, claim;
  };
  const std::string stops = "as long as a request waits, some rule is enabled";
  const std::string rounds = "leaves less to do";
  const std::string forgets = "answers whoever waits no longer";
  const std::vector<Slip> slips{
      {"write-through", "directory answers a marker", "never fires", stops},
      {"write-through", "fill reaches L1", "never fires", stops},
      {"write-through", "fill reaches L1", "present = true`, where !read(thread).stale1", rounds},
      {"write-through", "load hits L1", "lacks `port(thread).pending = false`", rounds},
      {"write-through", "load hits L1", "lacks `port(thread).done = true`", forgets},
      {"remote-atomics", "release writes a block back", "never fires", stops},
      {"remote-atomics", "release writes a block back", "lacks `l2(agent, block).due = false`", rounds},
      {"quick-release", "S-FIFO2 passes a marker on", "never fires", stops},
      {"quick-release", "invalidation reaches rL1", "never fires", stops},
      {"quick-release", "invalidation reaches rL1", "lacks `invalidation1(cu, block) = false`", rounds},
      {"g-tsc", "renewal finds another copy", "never fires", stops},
      {"g-tsc", "renewal finds another copy", "lacks `transit(thread).stage = none`", rounds},
      {"halcone", "time begins again", "never fires", stops},
      {"halcone", "time begins again", "does nothing", rounds},
  };
  for (const Slip& slip : slips) {
    std::size_t made = 0;
    for (const recorded::RecordedRule& rule : trees_of(find_system(slip.system), SystemOptions{}).rules) {
      if (rule.name != slip.rule) continue;
      for (const Mutation& mutation : mutations_of(rule)) {
        if (!text(mutation).ends_with(slip.mutant)) continue;
        ++made;
        SystemOptions changed;
        changed.mutation = std::make_shared<const Mutation>(mutation);
        ProveOptions options;
        options.check_vacuity = false;
        INFO(slip.system << ": " << slip.rule << " " << text(mutation));
        CHECK(refuted(prove(*progress_of(slip.system, changed, false), options), slip.claim));
      }
    }
    INFO(slip.system << ": " << slip.rule << " " << slip.mutant);
    CHECK(made == 1);
  }
}

TEST_CASE("a proof of a system that has none names those that have") {
  CHECK_THROWS_WITH(find_proof("sc"), Catch::Contains("no proof of 'sc'"));
  CHECK_THROWS_WITH(find_proof("germann"), Catch::Contains("german"));
}

TEST_CASE("a counterexample's text leaves out what lies beyond a queue's end and in empty indices") {
  ProofResult result;
  Obligation o;
  o.rule = "r";
  o.lemma = "l";
  o.status = ProofStatus::refuted;
  o.counterexample = CounterexampleToInduction{"r (cell 0)",
                                               {{"q.count(0)", "1", "1", false},
                                                {"q[0].a(0)", "true", "true", false},
                                                {"q[1].a(0)", "true", "true", false},
                                                {"m.has", "false", "false", true},
                                                {"m.index", "3", "3", false}}};
  result.obligations.push_back(o);
  const std::string text = proof_text({"s", "t", "f", "Z3"}, result, false);
  CHECK(text.find("q[0].a(0) = true") != std::string::npos);
  CHECK(text.find("q[1].a(0)") == std::string::npos);
  CHECK(text.find("m.index") == std::string::npos);
}
