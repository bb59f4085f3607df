// Machines said otherwise than in their files, what those files assume, and what may be concluded in spite of
// that.
#include "refimpl/sweep.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>

#include "checker/support/process.hpp"
#include "refimpl/workloads/workload.hpp"
#include "tests/machines.hpp"

using namespace lockstep;

namespace {

using Texts = std::vector<std::string>;

std::string file_of(const std::string& machine) {
  return machines_folder + "/" + machine + ".toml";
}

MachineDescription with(const MachineSettings& settings, const std::string& machine = "apu") {
  return read_machine(file_of(machine), machines_folder, settings);
}
std::string error_with(const MachineSettings& settings) {
  try {
    with(settings);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "no error";
}

std::vector<Assumption> assumed(const std::string& machine = "apu") {
  return read_assumptions(file_of(machine), machines_folder);
}

const Assumption& named(const std::vector<Assumption>& all, const std::string& name) {
  for (const Assumption& a : all) {
    if (a.name == name) return a;
  }
  throw std::out_of_range(name);
}

Workload small_copy(const MachineDescription& machine, int cus) {
  WorkloadShape shape;
  shape.cus = cus;
  shape.agents = machine.agents;
  shape.words_per_block = machine.words_per_block();
  shape.sizes = {{"words", 64}};
  return build_workload(find_workload("copy"), shape);
}

// A system "b" that takes so many cycles where "a" takes 100, as a function of settings NAME=NUMBER.
class Pretended {
 public:
  explicit Pretended(std::function<double(const std::map<std::string, double>&)> cycles)
      : cycles_(std::move(cycles)) {}

  ComparedRun operator()(const MachineSettings& settings) {
    std::map<std::string, double> values;
    for (const std::string& s : settings)
      values[s.substr(0, s.find('='))] = std::strtod(s.substr(s.find('=') + 1).c_str(), nullptr);
    const std::scoped_lock lock(mutex_);
    ++runs;
    seen.insert(settings);
    ComparedRun run{"pretended", 8, 1, 0, {}};
    for (const char* system : {"a", "b"}) {
      SystemResult result;
      result.system = system;
      result.statistics.cycles = run.results.empty() ? 100 : cycles_(values);
      run.results.push_back(std::move(result));
    }
    return run;
  }
  int runs = 0;
  std::set<MachineSettings> seen;

 private:
  std::mutex mutex_;
  std::function<double(const std::map<std::string, double>&)> cycles_;
};

Assumption range(const std::string& name, double least, double most, double own, bool whole = false) {
  Assumption a;
  a.name = name;
  a.kind = Assumption::Kind::range;
  a.entries.push_back({name, std::to_string(own), {}});
  a.least = least;
  a.most = most;
  a.whole = whole;
  return a;
}
Assumption values(const std::string& name, Texts values, const std::string& own) {
  Assumption a;
  a.name = name;
  a.entries.push_back({name, own, {}});
  a.values = std::move(values);
  return a;
}

SweepRequest request_of(Pretended& machine, std::vector<Assumption> assumptions) {
  SweepRequest request;
  request.workload = "pretended";
  request.systems = {"a", "b"};
  request.assumptions = std::move(assumptions);
  request.run = std::ref(machine);
  request.check = [](const MachineSettings&) {};
  return request;
}

double value_of(const std::map<std::string, double>& values, const std::string& name, double otherwise) {
  const auto found = values.find(name);
  return found == values.end() ? otherwise : found->second;
}

}  // namespace

// ---- settings
// -------------------------------------------------------------------------------------------------------------

TEST_CASE("Settings: entries of a machine file are said otherwise, one or many at a time, or taken away") {
  CHECK(with({"memory.queue=64"}).systems.at("write-through").memory.queue == 64);
  CHECK(with({"memory.queue = 64", "memory.queue=7"}).systems.at("write-through").memory.queue == 7);
  CHECK(with({"memory.channel_index=hashed"}).systems.at("quick-release").memory.hashed_channels);
  CHECK(with({"memory.channel_index=\"hashed\""}).systems.at("quick-release").memory.hashed_channels);
  CHECK(with({"systems.write-through.rules.\"load hits L1\".latency=7.5"})
            .systems.at("write-through")
            .rules.at("load hits L1")
            .latency == 7.5);
  // A rule without an entry has one now.
  CHECK(with({"systems.write-through.rules.\"invented\".latency=2"})
            .systems.at("write-through")
            .rules.at("invented")
            .latency == 2);
  const MachineDescription many = with({"systems.*.links.link1.latency=99"});
  CHECK(many.systems.at("write-through").links.at("link1").latency == 99);
  CHECK(many.systems.at("quick-release").links.at("link1").latency == 99);
  CHECK(many.systems.at("write-through").links.at("link2").latency == 20);
  const MachineDescription dram =
      with({"memory.kind=dram", "memory.preset=ddr3-800d", "memory.bytes_per_cycle="});
  CHECK(dram.systems.at("write-through").memory.kind == MemoryKind::dram);
  CHECK(dram.systems.at("sc").memory.kind == MemoryKind::flat);
  // What is said of a header holds wherever sums of bytes have one.
  const RuleTiming rule = with({"header_bytes=32"}).systems.at("write-through").rules.at("write passes L2");
  CHECK(rule.sends.at("link2").terms.at(0).bytes == 32);
}

TEST_CASE("Settings: what cannot be set is told with the setting and the nearest name") {
  CHECK_THAT(error_with({"memory.quue=3"}),
             Catch::Contains("with memory.quue=3: unknown entry 'quue'") && Catch::Contains("'queue'"));
  CHECK_THAT(error_with({"memory.queue=0"}),
             Catch::Contains("with memory.queue=0: queue = 0 is not between"));
  CHECK_THAT(error_with({"memory.queue=many"}), Catch::Contains("'queue' is not a whole number"));
  CHECK_THAT(error_with({"memory.queue=[1"}), Catch::Contains("with memory.queue=[1: "));
  CHECK_THAT(error_with({"memory.queue"}), Catch::Contains("gives no value"));
  CHECK_THAT(error_with({"=3"}), Catch::Contains("is no path"));
  CHECK_THAT(error_with({"memory..queue=3"}), Catch::Contains("is no path"));
  CHECK_THAT(error_with({"paths.fil1.latency=3"}),
             Catch::Contains("there is no section [paths.fil1]") && Catch::Contains("'fill1'"));
  CHECK_THAT(error_with({"name.x=3"}), Catch::Contains("there is no section [name]"));
  CHECK_THAT(error_with({"systems.*.links.link9.latency=3"}), Catch::Contains("names nothing"));
  // Wrong together with something that stands in the file: the place there, and the setting.
  CHECK_THAT(error_with({"systems.write-through.caches.l1.ways=7"}),
             Catch::Contains("apu.toml:") && Catch::Contains("7 ways of 128-byte") &&
                 Catch::Contains("(with systems.write-through.caches.l1.ways=7)"));
  CHECK_THAT(error_with({"memory.queue="}), Catch::Contains("'queue' is missing in [memory]"));
}

TEST_CASE("Settings: places in a file are its own, however many texts there are") {
  const std::string text = changed(shipped_machine("apu"), "queue = 16", "queue = 0");
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("queue = 0")), '\n');
  CHECK_THAT(machine_error_of(text), Catch::StartsWith("m.toml:" + std::to_string(line) + ":"));
}

// ---- systems that another file describes
// --------------------------------------------------------------------------------

TEST_CASE("Machines: a system that the file does not describe is as the first shipped file has it") {
  const MachineDescription apu = with({});
  CHECK(apu.systems.at("write-through").borrowed.empty());
  CHECK(apu.systems.at("halcone").borrowed == "halcone.toml");
  CHECK(apu.systems.at("lab").borrowed == "titan-v.toml");
  CHECK(with({}, "halcone").systems.at("quick-release").borrowed == "apu.toml");
  // Memory is this machine's, but for the table that is memory.
  CHECK(apu.systems.at("halcone").memory.table == "memory");
  CHECK(apu.systems.at("halcone").memory.channels == apu.systems.at("write-through").memory.channels);
  // Units and paths that are missing come along; those that are here stay as they are.
  CHECK(apu.systems.at("halcone").units.contains("MM"));
  CHECK_FALSE(apu.systems.at("halcone").units.contains("L2"));
  CHECK(apu.units.at("L2").per_cycle == 4);
  CHECK_FALSE(apu.units.contains("MM"));
  // Beside those that the system has of its own.
  const MachineDescription titan = with({}, "titan-v");
  CHECK(titan.systems.at("rfo").borrowed == "apu.toml");
  for (const std::string unit : {"home", "memory"}) CHECK(titan.systems.at("rfo").units.contains(unit));
  CHECK_THAT(machine_error_of("name = \"m\"\ngigahertz = 1\ncus = 1\nagents = 1\nwaves_per_cu = 1\n"
                              "block_bytes = 64\nsystems = {}\n"),
             !Catch::Contains("no error"));
}

TEST_CASE(
    "Machines: every system runs on every shipped machine, and those described run as without the others") {
  for (const std::string name : {"apu", "titan-v", "halcone"}) {
    const MachineDescription machine = with({}, name);
    const MachineDescription alone = read_machine(file_of(name));
    const int cus = 2 * machine.agents;
    const Workload workload = small_copy(machine, cus);
    for (const std::string& system : timed_system_names()) {
      INFO(system << " on " << name);
      if (!machine.systems.contains(system)) continue;  // one of the tests' own
      const Statistics ran = simulate(system, machine, workload, cus);
      CHECK(ran.cycles > 0);
      if (!alone.systems.contains(system)) continue;
      CHECK(statistics_json(ran) == statistics_json(simulate(system, alone, workload, cus)));
    }
  }
}

// ---- what is assumed
// -----------------------------------------------------------------------------------------------------------

TEST_CASE("Assumptions: what a shipped machine file marks as assumed, it says how far that might be off") {
  for (const std::string name : {"apu", "titan-v", "halcone", "chiplets"}) {
    std::set<int> covered;
    for (const Assumption& a : assumed(name)) {
      for (const Assumption::Entry& entry : a.entries) covered.insert(entry.place.line);
      for (const std::string& change : a.changes.empty() ? Texts{} : a.changes.back()) {
        INFO(change);
        CHECK(change.find('=') != std::string::npos);
      }
    }
    // Values of alternatives have no place: they are named here.
    const std::map<std::string, Texts> otherwise{{"titan-v", {"ways = 4 ", "ways = 3 "}}};
    std::string section;
    std::istringstream lines(shipped_machine(name));
    int line = 0;
    for (std::string text; std::getline(lines, text);) {
      ++line;
      if (text.starts_with("[")) section = text;
      if (text.starts_with("#") || text.find('=') == std::string::npos) continue;
      if (text.find("assumed") == std::string::npos || section.starts_with("[[assumed]]")) continue;
      if (section.starts_with("[systems.sc.")) continue;    // the yardstick
      if (section.starts_with("[units.memory]")) continue;  // its only unit
      if (text.starts_with("policy") && section.find("caches.w") != std::string::npos) continue;
      const auto known = otherwise.find(name);
      const auto begins = [&](const std::string& t) { return text.starts_with(t); };
      if (known != otherwise.end() && std::any_of(known->second.begin(), known->second.end(), begins))
        continue;
      INFO(name << ".toml:" << line << ": " << text);
      CHECK(covered.contains(line));
    }
  }
}

TEST_CASE("Assumptions: whatever a shipped machine may be by its file, it is a machine") {
  for (const std::string name : {"apu", "titan-v", "halcone"}) {
    Texts systems;
    for (const auto& [system, timing] : with({}, name).systems) {
      if (timing.borrowed.empty()) systems.push_back(system);
    }
    for (const Assumption& a : concerning(assumed(name), systems)) {
      const bool numbers = a.kind == Assumption::Kind::range || a.kind == Assumption::Kind::times;
      for (std::size_t i = 0; i < (numbers ? 2 : a.values.size()); ++i) {
        const double choice = !numbers ? static_cast<double>(i) : i == 0 ? a.least : a.most;
        INFO(name << ": " << a.name << " = " << a.text(choice));
        CHECK_NOTHROW(with(a.settings(choice), name));
        for (const std::string& setting : a.settings(choice)) {
          INFO(setting);
          CHECK((setting.find("systems.") != 0 ||
                 std::any_of(
                     systems.begin(), systems.end(),
                     [&](const auto& system) { return setting.starts_with("systems." + system + "."); }) ||
                 a.kind == Assumption::Kind::alternatives));
        }
      }
    }
  }
}

TEST_CASE("Assumptions: a choice is turned into settings of all that it is about") {
  const std::vector<Assumption> apu = assumed();
  const Assumption& latency = named(apu, "latency, L1s to L2");
  CHECK(latency.own() == 1.0);
  const Texts twice = latency.settings(2);
  const std::set<std::string> all(twice.begin(), twice.end());
  CHECK(all.contains("paths.fill1.latency=20"));
  CHECK(all.contains("systems.write-through.links.link1.latency=20"));
  CHECK(all.contains("systems.lab.links.link1.latency=80"));  // the other file's 40
  CHECK(latency.text(2) == "x2");
  const Assumption& queue = named(apu, "requests that wait at a channel");
  CHECK(queue.settings(33) == Texts{"memory.queue=33"});
  CHECK(queue.own() == 16.0);
  const Assumption& index = named(apu, "channel index");
  CHECK(index.settings(1) == Texts{"memory.channel_index=\"hashed\""});
  CHECK_FALSE(index.own().has_value());  // the file says nothing
  const Assumption& model = named(apu, "model of memory");
  CHECK(model.text(*model.own()) == "flat");
  CHECK(model.settings(0) == Texts{"memory.kind=dram", "memory.preset=ddr3-800d", "memory.bytes_per_cycle="});
  // Whole numbers stay whole, and at least 1.
  Assumption small = latency;
  small.entries = {{"x", "3", {}}};
  CHECK(small.settings(0.1) == Texts{"x=1"});
  CHECK(small.settings(0.5) == Texts{"x=2"});
}

TEST_CASE("Assumptions: what is no assumption is told with its place") {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      parse_assumptions(text, "m.toml", machines_folder);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "no error";
  };
  const auto error = [&](const std::string& section) {
    return error_of(shipped_machine("apu") + "[[assumed]]\nname = \"mine\"\n" + section);
  };
  CHECK(error("of = [\"memory.queue\"]\nrange = [1, 32]\n") == "no error");
  CHECK_THAT(error("of = [\"memory.queue\"]\n"), Catch::Contains("none of 'values', 'range', 'times'"));
  CHECK_THAT(error("of = [\"memory.queue\"]\nrange = [1, 32]\ntimes = [1, 2]\n"), Catch::Contains("besides"));
  CHECK_THAT(error("of = [\"memory.queue\"]\nrange = [32, 64]\n"),
             Catch::Contains("memory.queue = 16 is not among what 'mine' may be"));
  CHECK_THAT(error("of = [\"memory.queue\"]\nvalues = [1, 2]\n"), Catch::Contains("is not among"));
  CHECK_THAT(error("of = [\"memory.queue\"]\ntimes = [2, 4]\n"), Catch::Contains("is not among"));
  CHECK_THAT(error("of = [\"memory.mshrs\"]\ntimes = [1, 2]\n"), Catch::Contains("has no value to multiply"));
  CHECK_THAT(error("of = [\"memory.queue\"]\nrange = [64, 8]\n"), Catch::Contains("is not [LEAST, MOST]"));
  CHECK_THAT(error("of = [\"paths.fil1.latency\"]\nrange = [1, 32]\n"), Catch::Contains("'fill1'"));
  CHECK_THAT(error("of = []\nrange = [1, 32]\n"), Catch::Contains("'of' is empty"));
  CHECK_THAT(error("alternatives = { a = [\"memory.queue=3\"] }\n"), Catch::Contains("say NAME = []"));
  CHECK_THAT(error("of = [\"memory.queue\"]\nrange = [1, 32]\nbecause = 3\n"),
             Catch::Contains("unknown entry 'because'"));
  CHECK_THAT(error_of(shipped_machine("apu") +
                      "[[assumed]]\nname = \"block size\"\nof = [\"memory.queue\"]\nrange = [1, 32]\n"),
             Catch::Contains("'block size' is assumed twice"));
}

// ---- sweeps
// ----------------------------------------------------------------------------------------------------------------

TEST_CASE("Sweep: a difference that has one sign at every point stands") {
  Pretended machine([](const auto& v) { return 80 + value_of(v, "x", 4) - value_of(v, "y", 1); });
  SweepRequest request = request_of(machine, {range("x", 1, 10, 4), values("y", {"1", "2"}, "1")});
  const Sweep done = sweep(request);
  // Five of a range and the base, the other value of a list, and all at once.
  CHECK(done.alone.size() == 5 + 1);
  CHECK(done.together.size() == 32);
  CHECK(machine.runs == 1 + 6 + 32);
  const Conclusion c = conclusion(done, 1);
  CHECK(c.stands());
  CHECK(c.sign == Sign::less);
  CHECK(c.points == 39);
  CHECK(c.least >= 0.79);
  CHECK(c.most <= 0.89);
  CHECK(holds_where(done, 0, 1) == "everywhere");
  CHECK_THAT(sweep_text(done), Catch::Contains("b has fewer cycles than a: STANDS\n  at all 39 points, 0.79 "
                                               "to 0.89; 2 values moved, all else as it is\n"));
  CHECK(exit_status_of({done}) == 0);
}

TEST_CASE("Sweep: where a sign changes is found between the points") {
  // Fewer below 100, by more than the 2 % within which two are equal.
  Pretended machine([](const auto& v) { return value_of(v, "x", 16) < 100 ? 90.0 : 110.0; });
  const Sweep done = sweep(request_of(machine, {range("x", 4, 256, 16, true), values("y", {"1", "2"}, "1")}));
  const Conclusion c = conclusion(done, 1);
  CHECK_FALSE(c.stands());
  CHECK(c.turns_on == std::vector<std::size_t>{0});
  double below = 0;
  double above = 256;
  for (const SweepPoint& point : done.alone) {
    if (!point.choices[0]) continue;
    CHECK(*point.choices[0] == std::round(*point.choices[0]));
    if (*point.choices[0] < 100) below = std::max(below, *point.choices[0]);
    if (*point.choices[0] >= 100) above = std::min(above, *point.choices[0]);
  }
  CHECK(below >= 90);
  CHECK(above <= 110);
  CHECK(holds_where(done, 0, 1) == "4 to " + std::to_string(static_cast<int>(below)));
  CHECK_THAT(sweep_text(done), Catch::Contains("b has fewer cycles than a: DOES NOT STAND"));
}

TEST_CASE("Sweep: what two values do together only, moving them together finds") {
  Pretended machine(
      [](const auto& v) { return value_of(v, "x", 1) > 2 && value_of(v, "y", 1) > 2 ? 150.0 : 80.0; });
  const Sweep done = sweep(request_of(machine, {values("w", {"1", "2"}, "1"), range("x", 1, 4, 1),
                                                values("v", {"1", "2"}, "1"), range("y", 1, 4, 1)}));
  const Conclusion c = conclusion(done, 1);
  CHECK_FALSE(c.stands());
  CHECK(c.turns_on.empty());
  CHECK(c.holding < c.points);
  // Of the four, the two that it takes.
  const SweepPoint& few = done.fewest.at(1);
  CHECK_FALSE(few.choices[0].has_value());
  CHECK(few.choices[1].value() > 2);
  CHECK_FALSE(few.choices[2].has_value());
  CHECK(few.choices[3].value() > 2);
  CHECK(done.ratio(few, 1) == 1.5);
  CHECK_THAT(sweep_text(done), Catch::Contains("values together: 1.50, more with\n    x: "));
}

TEST_CASE("Sweep: what is moved together takes each part of each range once") {
  Pretended machine([](const auto&) { return 100.0; });
  SweepRequest request = request_of(machine, {range("x", 1, 16, 4), values("y", {"1", "2", "3", "4"}, "1")});
  request.together = 8;
  const Sweep done = sweep(request);
  std::set<int> parts;
  std::multiset<int> choices;
  for (const SweepPoint& point : done.together) {
    parts.insert(static_cast<int>(std::log2(*point.choices[0]) * 2));
    choices.insert(static_cast<int>(*point.choices[1]));
  }
  CHECK(parts.size() == 8);
  for (int choice = 0; choice < 4; ++choice) CHECK(choices.count(choice) == 2);
  CHECK(conclusion(done, 1).sign == Sign::equal);
  CHECK_THAT(sweep_text(done), Catch::Contains("a and b: no difference (within 2 %) in cycles: STANDS"));
}

TEST_CASE("Sweep: a grid has every combination") {
  Pretended machine([](const auto& v) { return value_of(v, "x", 0) * value_of(v, "y", 0) * 10; });
  SweepRequest request = request_of(machine, {values("x", {"1", "2", "3"}, ""), values("y", {"3", "4"}, "")});
  request.grid = true;
  const Sweep done = sweep(request);
  CHECK(done.alone.empty());
  CHECK(done.together.size() == 6);
  CHECK(machine.seen.contains({"x=3", "y=4"}));
  const std::string csv = sweep_csv({done});
  CHECK_THAT(csv, Catch::StartsWith("workload,system,moved,end,words wrong,x,y,cycles\n"));
  CHECK_THAT(csv, Catch::Contains("\npretended,b,grid,finished,0,3,4,120\n"));
}

TEST_CASE("Sweep: it goes on from a journal, and refuses that of another sweep") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "journal").string();
  Pretended machine([](const auto& v) { return 80 + value_of(v, "x", 4); });
  SweepRequest request = request_of(machine, {range("x", 1, 10, 4)});
  request.journal = file;
  request.identity = {{"machine", "this one"}};
  std::atomic<bool> interrupted = false;
  request.interrupted = &interrupted;
  const auto run = request.run;
  request.run = [&](const MachineSettings& settings) {
    if (machine.runs == 6) interrupted = true;
    return run(settings);
  };
  const Sweep begun = sweep(request);
  CHECK(begun.interrupted);
  CHECK(exit_status_of({begun}) == 130);
  CHECK_THAT(sweep_text(begun), Catch::Contains("interrupted: of the points so far"));
  interrupted = false;
  request.run = run;
  const int before = machine.runs;
  const Sweep ended = sweep(request);
  CHECK_FALSE(ended.interrupted);
  CHECK(machine.runs == before + 1 + 5 + 32 - 6);
  Pretended again([](const auto& v) { return 80 + value_of(v, "x", 4); });
  SweepRequest whole = request_of(again, {range("x", 1, 10, 4)});
  CHECK(sweep_csv({sweep(whole)}) == sweep_csv({ended}));
  request.identity = {{"machine", "another"}};
  CHECK_THROWS_AS(sweep(request), BadInput);
}

TEST_CASE(
    "Sweep: points that are no machine end it at once where they were named, and are counted where not") {
  Pretended machine([](const auto&) { return 80.0; });
  SweepRequest request = request_of(machine, {range("x", 1, 10, 4)});
  request.check = [](const MachineSettings& settings) {
    if (settings == MachineSettings{"x=10"}) throw BadInput("ten is no machine");
  };
  CHECK_THROWS_AS(sweep(request), BadInput);
  CHECK(machine.runs == 0);
  request.check = [](const MachineSettings&) {};
  const auto run = request.run;
  std::atomic<int> left = 1 + 5 + 3;
  request.run = [&](const MachineSettings& settings) {
    if (left-- <= 0) throw BadInput("not this one");
    return run(settings);
  };
  const Sweep done = sweep(request);
  CHECK(conclusion(done, 1).points == 9);
  CHECK_THAT(sweep_text(done),
             Catch::Contains("29 combinations left out, no machine: ") && Catch::Contains("not this one"));
}

TEST_CASE("Sweep: a figure that nothing has, and a run that goes wrong, are told") {
  Pretended machine([](const auto&) { return 80.0; });
  SweepRequest request = request_of(machine, {values("x", {"1", "2"}, "1")});
  request.figure = "cycle";
  CHECK_THROWS_WITH(sweep(request), Catch::Contains("no figure 'cycle'") && Catch::Contains("'cycles'"));
  request.figure = "cycles";
  const auto run = request.run;
  request.run = [&](const MachineSettings& settings) {
    ComparedRun result = run(settings);
    if (settings == MachineSettings{"x=2"}) result.results[1].wrong = 3;
    return result;
  };
  const Sweep done = sweep(request);
  CHECK(exit_status_of({done}) == 1);
  CHECK_THAT(sweep_text(done), Catch::Contains("pretended on b: WRONG, 3 words with x=2") &&
                                   Catch::Contains("NOTHING FOLLOWS") && !Catch::Contains("STANDS"));
  CHECK_FALSE(conclusion(done, 1).stands());
  CHECK(sweep_json(done).at("conclusions").at(0).at("stands") == false);
  request.run = [&](const MachineSettings& settings) {
    ComparedRun result = run(settings);
    result.results[0].end = SimulationEnd::stuck;
    return result;
  };
  CHECK_THAT(sweep_text(sweep(request)), Catch::Contains("NOTHING FOLLOWS: the machine as it is"));
}

TEST_CASE("Sweep: where nothing was moved, nothing stands") {
  Pretended machine([](const auto&) { return 80.0; });
  SweepRequest request = request_of(machine, {values("x", {"1", "2"}, "1")});
  request.together = 0;
  request.assumptions[0].values = {"1"};
  CHECK_FALSE(conclusion(sweep(request), 1).stands());
  // A grid of what is no machine ends at once, as what is moved alone does.
  request = request_of(machine, {values("x", {"1", "2"}, "")});
  request.grid = true;
  request.check = [](const MachineSettings& settings) {
    if (settings == MachineSettings{"x=2"}) throw BadInput("two is no machine");
  };
  CHECK_THROWS_WITH(sweep(request), Catch::Contains("two is no machine"));
  request.check = [](const MachineSettings&) {};
  const auto run = request.run;
  request.run = [&](const MachineSettings& settings) {
    if (!settings.empty()) throw BadInput("never");
    return run(settings);
  };
  CHECK_THROWS_WITH(sweep(request), Catch::Contains("no combination is a machine: never"));
}

TEST_CASE("Sweep: a place between those that were tried is found by moving all, and is told as one value's") {
  Pretended machine([](const auto& v) {
    const double x = value_of(v, "x", 1);
    return x > 30 && x < 60 ? 150.0 : 80.0;
  });
  SweepRequest request = request_of(machine, {range("x", 1, 1000, 1, true), range("y", 1, 4, 1)});
  request.points = 2;
  const Sweep done = sweep(request);
  CHECK(done.fewest.empty());
  CHECK(conclusion(done, 1).turns_on == std::vector<std::size_t>{0});
}

TEST_CASE("Sweep: a middle that is no machine is left out, and the ends of a range are its ends") {
  Pretended machine([](const auto& v) { return value_of(v, "x", 64) > 100 ? 150.0 : 80.0; });
  SweepRequest request = request_of(machine, {range("x", 64, 128, 64, true)});
  request.points = 2;
  request.together = 0;
  const auto run = request.run;
  request.run = [&](const MachineSettings& settings) {
    if (!settings.empty() && settings != MachineSettings{"x=128"}) throw BadInput("neither 64 nor 128");
    return run(settings);
  };
  const Sweep done = sweep(request);
  CHECK(conclusion(done, 1).points == 2);
  Pretended other([](const auto&) { return 100.0; });
  request = request_of(other, {range("x", 0.11, 1000000, 1)});
  for (const SweepPoint& point : sweep(request).alone) {
    CHECK(*point.choices[0] >= 0.11);
    CHECK(*point.choices[0] <= 1000000);
  }
}

TEST_CASE("Sweep: a figure that one system does not have counts as 0, and lines stay within 80 columns") {
  Pretended machine(
      [](const auto& v) { return static_cast<int>(value_of(v, "seed", 1)) % 3 == 0 ? 120.0 : 80.0; });
  Assumption many;
  many.name = "seed";
  many.entries.push_back({"seed", "1", {}});
  for (int i = 1; i < 60; ++i) many.values.push_back(std::to_string(i));
  const Sweep done = sweep(request_of(machine, {many}));
  const std::string text = sweep_text(done);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    CHECK(end - at < 80);
    at = end + 1;
  }
  CHECK_THAT(text, Catch::Contains("in places") && Catch::Contains("same sign: at 1, 2, 4, 5"));
  Pretended none([](const auto&) { return 0.0; });
  SweepRequest request = request_of(none, {values("x", {"1", "2"}, "1")});
  request.systems = {"a", "b"};
  const Sweep zero = sweep(request);
  CHECK(zero.ratio(zero.base, 1) == 0);
  CHECK_THAT(sweep_csv({zero}), Catch::Contains("pretended,b,as it is,finished,0,,0\n"));
}

TEST_CASE("Sweep: a journal that says too little is damaged") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "journal").string();
  Pretended machine([](const auto&) { return 80.0; });
  SweepRequest request = request_of(machine, {values("x", {"1", "2"}, "1")});
  request.journal = file;
  for (const char* line : {R"({"workload":"pretended","settings":[]})",
                           R"({"workload":"pretended","settings":[],"where":"here","results":[]})"}) {
    std::filesystem::remove(file);
    sweep(request);
    std::FILE* stream = std::fopen(file.c_str(), "a");
    std::fprintf(stream, "%s\n", line);
    std::fclose(stream);
    CHECK_THROWS_WITH(sweep(request), Catch::Contains("the journal is damaged"));
  }
  request.journal = "/dev/zero";
  CHECK_THROWS_WITH(sweep(request), Catch::Contains("a journal is a file"));
}

TEST_CASE("Sweep: simulations beside one another give what they give alone") {
  const auto of_threads = [](unsigned threads) {
    SweepRequest request;
    request.workload = "message-passing";
    request.systems = {"write-through", "quick-release"};
    request.assumptions = assumed();
    std::erase_if(request.assumptions, [](const Assumption& a) {
      return a.name != "requests that wait at a channel" && a.name != "messages on link2";
    });
    std::atomic<bool> never = false;
    request.run = [&never](const MachineSettings& settings) {
      SimulationRequest one;
      one.machine = with(settings);
      one.systems = {"write-through", "quick-release"};
      one.sizes = {{"pairs", 4}, {"rounds", 2}};
      return run_workload(one, "message-passing", never);
    };
    request.check = [](const MachineSettings& settings) { with(settings); };
    request.together = 4;
    request.threads = threads;
    return sweep_csv({sweep(request)});
  };
  const std::string alone = of_threads(1);
  CHECK(std::count(alone.begin(), alone.end(), '\n') > 20);
  CHECK(of_threads(4) == alone);
}
