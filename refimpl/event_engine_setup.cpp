// How an event engine comes to be: the machine file, the program and the rules put together.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"
#include "refimpl/event_engine.hpp"
#include "refimpl/interleave.hpp"
#include "spec/program/barriers.hpp"

namespace lockstep {

EventEngine::EventEngine(const Workload& workload, const MachineDescription& machine,
                         const SimulationOptions& options, const SystemEntry& system)
    : workload_(workload),
      description_(machine),
      system_(system.name),
      timing_(system_timing()),
      options_(options),
      variant_(variant_index(system, options.variant)),
      fault_bits_(fault_mask(system, options.faults)),
      random_(options.seed) {
  take_variant(system);
  place_threads();
}

void EventEngine::take_variant(const SystemEntry& system) {
  for (const auto& [name, other] : timing_.variants) {
    const auto found = std::find_if(system.variants.begin(), system.variants.end(),
                                    [&name = name](const auto& v) { return v.name == name; });
    if (found == system.variants.end()) {
      std::vector<std::string> names;
      for (const auto& v : system.variants) names.emplace_back(v.name);
      machine_error(description_, other.place, fmt::format("{} has no variant '{}'", system_, name),
                    suggestion(name, names));
    }
    if (found - system.variants.begin() != variant_) continue;
    for (const auto& [size, value] : other.sizes) timing_.sizes[size] = value;
    for (const auto& [rule, timing] : other.rules) timing_.rules[rule] = timing;
    for (const PathTiming& path : other.paths) {
      std::erase_if(timing_.paths,
                    [&](const PathTiming& p) { return p.from == path.from && p.to == path.to; });
      timing_.paths.push_back(path);
    }
  }
}

void EventEngine::set_up(const SystemEntry& system) {
  set_timing();
  set_bytes();
  check_accesses(system);
  waiting_.assign(binder_.next, {});
  for (Key key = 0; key < binder_.next; ++key) waiting_[key].table = binder_.table_of[key];
  watches_.resize(1);
  set_owners();
  find_candidates();
}

void EventEngine::begin() {
  for (std::size_t i = 0; i < journal_.rows.size(); ++i)
    journal_.rows[i].table->settle(journal_.rows[i].slot);
  journal_.clear();
  // From now on what is done to memory counts.
  for (const timed::TableInfo& table : binder_.tables) {
    if (table.sparse)
      table.table->is_memory = of_table_[static_cast<std::size_t>(table.table->number)].is_memory;
  }
  issued_.assign(threads_count(), 0);
  paused_until_.assign(threads_count(), 0);
  set_times();
  set_profile();
  start();
}

SystemTiming EventEngine::system_timing() const {
  const auto found = description_.systems.find(std::string(system_));
  if (found != description_.systems.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, system] : description_.systems) names.push_back(name);
  machine_error(description_, {}, fmt::format("the machine says nothing of '{}'", system_),
                suggestion(system_, names));
}

// ---- the machine and the program --------------------------------------------------------------------------

void EventEngine::place_threads() {
  if (CountedBarriers(program()).any()) {
    throw BadInput(
        fmt::format("'{}' has barriers that only some threads of a work-group wait at, and in "
                    "simulations work-groups meet whole",
                    program().name));
  }
  cus_ = options_.cus > 0 ? options_.cus : description_.cus;
  agents_ = description_.agents;
  if (cus_ % agents_ != 0) {
    throw BadInput(fmt::format("{} CUs cannot be shared out evenly among {} agents", cus_, agents_));
  }
  if (workload_.cus > 0 && workload_.cus != cus_)
    throw BadInput(fmt::format("'{}' was made for {} CUs, and the machine has {}", workload_.program.name,
                               workload_.cus, cus_));
  const int cus_per_agent = cus_ / agents_;
  std::map<std::pair<int, int>, int> groups;
  std::map<std::pair<int, int>, int> groups_of_agent;  // where each kernel is dealt out anew, also by kernel
  std::vector<int> cu_of_group;
  std::map<std::pair<int, int>, int> resident;  // by kernel and CU
  for (const Thread& thread : workload_.program.threads) {
    const Placement& at = thread.placement;
    seats_.is_host.push_back(at.host ? 1 : 0);
    if (at.host) {
      seats_.cu_of.push_back(0);
      seats_.work_group_of.push_back(0);
      continue;
    }
    if (at.agent >= agents_) {
      throw BadInput(fmt::format("'{}' runs on agent {}, the machine has {}", thread.name, at.agent, agents_),
                     fmt::format("--set agents={} shares its CUs out to as many", at.agent + 1));
    }
    const auto [group, fresh] = groups.try_emplace({at.agent, at.wg}, static_cast<int>(groups.size()));
    if (fresh) {
      const int turn = groups_of_agent[{at.agent, workload_.cus > 0 ? at.kernel : -1}]++;
      cu_of_group.push_back(at.agent * cus_per_agent + turn % cus_per_agent);
    }
    const int cu = cu_of_group[static_cast<std::size_t>(group->second)];
    seats_.cu_of.push_back(static_cast<std::uint32_t>(cu));
    seats_.work_group_of.push_back(static_cast<std::uint32_t>(group->second));
    if (thread.slot_of < 0 && ++resident[{at.kernel, cu}] > description_.waves_per_cu) {
      throw BadInput(fmt::format("'{}' is too large for the machine: more than {} waves on one CU",
                                 workload_.program.name, description_.waves_per_cu),
                     "fewer waves, more CUs, or several kernels");
    }
  }
  for (int c = 0; c < cus_; ++c) seats_.agent_of.push_back(static_cast<std::uint32_t>(c / cus_per_agent));
  work_groups_ = std::max<int>(1, static_cast<int>(groups.size()));
}

void EventEngine::refuse_outstanding() const {
  throw BadInput(fmt::format("threads of {}/{} go on while accesses are under way, and simulated ones wait",
                             system_, find_system(system_).variants[static_cast<std::size_t>(variant_)].name),
                 "simulate a variant whose threads wait");
}

void EventEngine::refuse_homes() const {
  if (timing_.memory.home_bytes == 0) return;
  throw BadInput(
      fmt::format("{} has one memory, and home_bytes says which GPU's memory a block is in", system_),
      fmt::format("leave home_bytes out of [systems.{}.memory]", system_));
}

std::optional<int> EventEngine::home_of(int block) const {
  if (timing_.memory.home_bytes == 0) return std::nullopt;
  const std::uint64_t blocks = timing_.memory.home_bytes / description_.block_bytes;
  const timed::Interleave homes(static_cast<std::uint64_t>(agents_), false);
  return static_cast<int>(homes.member(static_cast<std::uint64_t>(block) / blocks));
}

void EventEngine::refuse_releases_for_others() const {
  for (const Thread& thread : program().threads) {
    const auto has = [&](Opcode opcode) {
      return std::any_of(thread.code.begin(), thread.code.end(),
                         [&](const Instruction& i) { return i.opcode == opcode; });
    };
    const bool slots = thread.slot_of >= 0;
    if (!slots && (!has(Opcode::dispatch) || has(Opcode::kernel_end))) continue;
    throw BadInput(
        fmt::format("a release on {}/{} orders what its own thread has done, and {} of '{}'", system_,
                    find_system(system_).variants[static_cast<std::size_t>(variant_)].name,
                    slots ? "no access that slots perform for a wave" : "not the waves of a kernel that ends",
                    program().name),
        slots ? "say --set accesses_per_wave=1" : "say --set kernel_end_by=wave");
  }
}

bool EventEngine::has_barriers() const {
  for (const Thread& thread : program().threads) {
    for (const Instruction& i : thread.code) {
      if (i.opcode == Opcode::barrier) return true;
    }
  }
  return false;
}

int EventEngine::blocks_needed() const {
  int blocks = 1;
  int registers = 1;
  for (const Location& l : workload_.program.locations) {
    blocks = std::max(blocks, l.block + 1);
    if (l.word >= description_.words_per_block()) {
      throw BadInput(fmt::format("'{}' uses {} words of a block, the machine's blocks have {}",
                                 workload_.program.name, l.word + 1, description_.words_per_block()));
    }
  }
  for (const Thread& t : workload_.program.threads)
    registers = std::max(registers, static_cast<int>(t.registers.size()));
  if (registers > most_registers) {
    throw BadInput(fmt::format("'{}' needs {} registers, threads have {}", workload_.program.name, registers,
                               most_registers));
  }
  return blocks;
}

std::map<std::string, int> EventEngine::queue_sizes(const std::vector<std::string>& queues) const {
  std::map<std::string, int> sizes;
  auto asked = options_.sizes;
  for (const auto& [variant, other] : timing_.variants) {
    for (const auto& [name, size] : other.sizes) {
      if (std::find(queues.begin(), queues.end(), name) != queues.end()) continue;
      machine_error(description_, size.second, fmt::format("{} has no size '{}'", system_, name),
                    suggestion(name, queues));
    }
  }
  auto given = timing_.sizes;
  for (const std::string& name : queues) {
    if (const auto found = given.find(name); found != given.end()) {
      sizes[name] = found->second.first;
      given.erase(found);
    }
    if (const auto found = asked.find(name); found != asked.end()) {
      if (found->second < 1) throw BadInput(fmt::format("size {}={} is not positive", name, found->second));
      sizes[name] = found->second;
      asked.erase(found);
    }
  }
  if (!given.empty()) {
    machine_error(description_, given.begin()->second.second,
                  fmt::format("{} has no size '{}'", system_, given.begin()->first),
                  suggestion(given.begin()->first, queues));
  }
  if (!asked.empty()) {
    std::vector<std::string> names = options_.size_names;
    names.insert(names.end(), queues.begin(), queues.end());
    throw BadInput(
        fmt::format("unknown size '{}' of {} on {}", asked.begin()->first, program().name, system_),
        suggestion(asked.begin()->first, names));
  }
  return sizes;
}

// ---- the rules --------------------------------------------------------------------------------------------

std::uint16_t EventEngine::family_of(const std::vector<RuleParameter<timed::Erased>>& parameters) {
  const bool of_blocks = std::any_of(parameters.begin(), parameters.end(),
                                     [](const auto& p) { return p.name == BlockTag::name; });
  if (parameters.size() > (of_blocks ? 2 : 3))
    throw BadInput(fmt::format("a rule over {} index types cannot be simulated", parameters.size()),
                   "a simulated rule has at most three parameters, and over blocks two");
  std::vector<std::string_view> tags;
  tags.reserve(parameters.size());
  for (const auto& parameter : parameters) tags.push_back(parameter.name);
  for (std::size_t f = 0; f < families_.size(); ++f) {
    if (families_[f].tags == tags) return static_cast<std::uint16_t>(f);
  }
  Family family;
  family.tags = std::move(tags);
  family.of_threads = !family.tags.empty() && family.tags.front() == ThreadTag::name;
  for (const auto& parameter : parameters) {
    family.extents.push_back(static_cast<std::uint32_t>(parameter.extent));
    family.listed = family.listed && parameter.name != BlockTag::name;
  }
  if (family.listed) {
    family.instances = 1;
    for (const std::uint32_t e : family.extents) family.instances *= e;
    family.dirty.assign(family.instances, 0);
    family.scheduled.assign(family.instances, 0);
  }
  families_.push_back(std::move(family));
  return static_cast<std::uint16_t>(families_.size() - 1);
}

int EventEngine::add_rule(const Rule& rule) {
  RuleInfo info;
  info.name = rule.name;
  info.unit_name = rule.unit;
  info.fairness = rule.fairness;
  rules_.push_back(std::move(info));
  return static_cast<int>(rules_.size() - 1);
}

void EventEngine::list_rules(const std::vector<RuleOf>& rules, void* state) {
  state_of_rules_ = state;
  threads_family_ = family_of({{ThreadTag::name, static_cast<int>(threads_count()), {}}});
  for (const RuleOf& value : rules) {
    Family& family = families_[family_of(value.parameters)];
    if (family.rules.size() >= first_case)
      throw BadInput(fmt::format("more than {} rules over ({}) cannot be simulated", first_case,
                                 fmt::join(family.tags, ", ")));
    if (value.rule.fairness == Fairness::fair) family.fair |= std::uint64_t{1} << family.rules.size();
    family.rules.push_back(add_rule(value.rule));
    family.listed_rules.push_back(&value);
  }
  families_[threads_family_].fair |= ~std::uint64_t{0} << first_case;
  for (std::size_t f = 0; f < families_.size(); ++f) {
    Family& family = families_[f];
    if (f != threads_family_) family.stride = family.rules.size();
    if (family.listed) family.parked.resize(family.spot(family.instances, 0));
  }
  for (auto& cases : program_rules_) cases.fill(-1);
  rules_of_issue_.fill(-1);
  rules_of_slots_.fill(-1);
}

int EventEngine::add_case(const Rule& rule) {
  int found = -1;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].unit_name == rule.unit && rules_[i].name == rule.name) found = static_cast<int>(i);
  }
  return found < 0 ? add_rule(rule) : found;
}

void EventEngine::set_owners() {
  for (const auto& [key, room] : binder_.rooms) watch_of(key).room = room;
  for (const timed::TableInfo& table : binder_.tables) {
    if (table.name == "context") {
      context_key_ = table.first_key + 1;
      context_keys_ = table.keys_per_row;
    }
    if (table.keys_per_row == 0) continue;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      const Family& family = families_[f];
      if (!family.listed || family.tags != table.tags) continue;
      for (std::uint32_t i = 0; i < family.instances; ++i) {
        for (Key aspect = 0; aspect < table.keys_per_row; ++aspect) {
          Waiting& waiting = waiting_[table.first_key + 1 + i * table.keys_per_row + aspect];
          waiting.instance = i;
          waiting.family = static_cast<std::uint16_t>(f);
        }
      }
    }
  }
}

void EventEngine::find_candidates() {
  candidate_tables_.clear();
  for (const Family& family : families_) candidate_tables_.emplace_back(family.rules.size(), nullptr);
  for (std::size_t f = 0; f < families_.size(); ++f) {
    Family& family = families_[f];
    if (family.listed) continue;
    for (std::size_t n = 0; n < family.rules.size(); ++n) {
      if (((family.fair >> n) & 1U) == 0) continue;
      find_candidates_of(static_cast<std::uint16_t>(f), static_cast<std::uint16_t>(n));
    }
  }
}

bool EventEngine::watches_candidate(std::uint16_t f, std::uint16_t rule) {
  for (const timed::TableInfo& table : binder_.tables) {
    if (!table.sparse || table.tags != families_[f].tags) continue;
    bool watched = false;
    for (Key key = table.first_key; key < binder_.next && binder_.table_of[key] == table.first_key; ++key) {
      auto& others = watches_[waiting_[key].watch].others;
      watched |= std::erase_if(others, [&](const Watcher& w) { return w.family == f && w.rule == rule; }) > 0;
    }
    if (!watched) continue;
    candidate_tables_[f][rule] = &table;
    auto& candidates = of_table_[static_cast<std::size_t>(table.table->number)].candidates;
    if (candidates.empty() || candidates.back().first != f) candidates.push_back({f, 0});
    candidates.back().second |= std::uint64_t{1} << rule;
    return true;
  }
  return false;
}

void EventEngine::find_candidates_of(std::uint16_t f, std::uint16_t rule) {
  const Family& family = families_[f];
  const std::string& name = rules_[static_cast<std::size_t>(family.rules[rule])].name;
  const Parameters last{family.extents[0] - 1, family.extents.size() == 2 ? family.extents[1] - 1 : 0};
  // Best is a table that alone makes the guard false; else one that it has looked at.
  for (const bool all : {false, true}) {
    probing_all_ = all;
    consider_family(f, last, std::uint64_t{1} << rule);
    probing_all_ = false;
    if (watches_candidate(f, rule)) return;
  }
  throw BadInput(
      fmt::format("the rule '{}' cannot be simulated: on absent rows its guard has to be false", name),
      fmt::format(
          "a rule over ({}) is looked at where a row of one table over these is present; make what its guard "
          "asks first a field of that table's rows",
          fmt::join(family.tags, ", ")));
}

void EventEngine::start() {
  for (std::size_t f = 0; f < families_.size(); ++f) {
    Family& family = families_[f];
    FirstOfMany first;
    for (std::size_t i = 0; i < family.instances; ++i) {
      const Tick now = journal_.now;
      if (f == threads_family_ && options_.start_spread > 0) {
        journal_.now = random_() % (static_cast<Tick>(options_.start_spread) * timed::ticks_per_cycle);
      }
      std::uint64_t rules = rules_of(family, i);
      if (f == threads_family_ && observed_ == nullptr) rules = park_as_first(first, i, rules);
      consider_family(static_cast<std::uint16_t>(f), parameters_of(family, i), rules);
      if (f == threads_family_ && first.thread == i) find_shared(first, rules);
      journal_.now = now;
    }
  }
  started_ = true;
}

// A rule that waits for one thing, a field of the thread's own row, waits for it as long as it is what it is,
// whatever else there is. So does the same rule of a thread in the same place whose row is the same.
std::uint64_t EventEngine::park_as_first(FirstOfMany& first, std::size_t thread, std::uint64_t rules) {
  const auto in_one_place = [&](std::size_t a, std::size_t b) {
    return seats_.cu_of[a] == seats_.cu_of[b] && seats_.work_group_of[a] == seats_.work_group_of[b] &&
           seats_.is_host[a] == seats_.is_host[b];
  };
  if (thread == 0 || !in_one_place(first.thread, thread)) {
    first = {thread, {}};
    return rules;
  }
  Family& family = families_[threads_family_];
  for (const FirstOfMany::Shared& shared : first.shared) {
    if ((rules & shared.rules) == 0 || !shared.table->table->alike(static_cast<std::uint32_t>(first.thread),
                                                                   static_cast<std::uint32_t>(thread)))
      continue;
    const Key key = shared.key + static_cast<Key>(thread - first.thread) * shared.table->keys_per_row;
    const std::uint64_t waiting = rules & shared.rules;
    waiting_[key].own |= waiting;
    for (std::uint64_t rest = waiting; rest != 0; rest &= rest - 1) {
      Parked& parked = family.parked[family.spot(thread, static_cast<unsigned>(std::countr_zero(rest)))];
      ++parked.epoch;
      parked.key = key;
    }
    rules &= ~waiting;
  }
  return rules;
}

void EventEngine::find_shared(FirstOfMany& first, std::uint64_t rules) {
  const Family& family = families_[threads_family_];
  const auto thread = static_cast<std::uint32_t>(first.thread);
  for (std::uint64_t rest = rules & ~of_cases & ~family.scheduled[thread]; rest != 0; rest &= rest - 1) {
    const auto rule = static_cast<unsigned>(std::countr_zero(rest));
    const Key key = family.parked[family.spot(thread, rule)].key;
    const Waiting& waiting = waiting_[key];
    if (key == timed::any_key || waiting.family != threads_family_ || waiting.instance != thread) continue;
    const auto known = std::find_if(first.shared.begin(), first.shared.end(),
                                    [&](const FirstOfMany::Shared& s) { return s.key == key; });
    if (known != first.shared.end()) {
      known->rules |= std::uint64_t{1} << rule;
      continue;
    }
    const auto table = std::find_if(binder_.tables.begin(), binder_.tables.end(),
                                    [&](const auto& t) { return t.first_key == binder_.table_of[key]; });
    if (table == binder_.tables.end() || table->sparse || table->tags.size() != 1) continue;
    first.shared.push_back({&*table, key, std::uint64_t{1} << rule});
  }
}

// ---- the machine file -------------------------------------------------------------------------------------

void EventEngine::set_timing() {
  auto units = description_.units;
  units.insert(timing_.units.begin(), timing_.units.end());
  for (const auto& [name, timing] : units) {
    const std::array<std::size_t, 4> counts{threads_count(), static_cast<std::size_t>(cus_) + 1,
                                            static_cast<std::size_t>(agents_) + 1, 1};
    const std::size_t count = counts[static_cast<std::size_t>(timing.per)];
    unit_kinds_.push_back({name, timing.per, timing.per_cycle, units_.size(), count});
    units_.resize(units_.size() + count);
  }
  for (Family& family : families_) set_places(family);
  std::vector<std::string> names;
  auto given = timing_.rules;
  for (RuleInfo& r : rules_) {
    names.push_back(r.name);
    const auto unit = std::find_if(unit_kinds_.begin(), unit_kinds_.end(),
                                   [&](const UnitKind& u) { return u.name == r.unit_name; });
    if (unit == unit_kinds_.end()) {
      machine_error(
          description_, {},
          fmt::format("no [units.{}], which performs '{}' in {}", r.unit_name, r.name, system_),
          options_.policy ? "refimpl/machines/awg.toml has what waiting policies need: --machine" : "");
    }
    r.unit = static_cast<int>(unit - unit_kinds_.begin());
    RuleTiming timing;
    if (const auto found = given.find(r.name); found != given.end()) timing = found->second;
    const auto cycles = [](double c) {
      return static_cast<Tick>(c * static_cast<double>(timed::ticks_per_cycle) + 0.5);
    };
    const auto level = [&](const std::string& name) {
      if (name.empty()) return -1;
      const auto known = std::find(level_names_.begin(), level_names_.end(), name);
      if (known != level_names_.end()) return static_cast<int>(known - level_names_.begin());
      level_names_.push_back(name);
      levels_.emplace_back();
      return static_cast<int>(level_names_.size() - 1);
    };
    r.latency = cycles(timing.latency + (r.name == "begins its kernel" ? description_.kernel_launch : 0));
    r.occupancy = cycles(timing.occupancy / unit->per_cycle);
    r.anew = timing.anew;
    r.spreads = r.name == "is dispatched";
    r.place = timing.place;
    r.hit = level(timing.hit);
    r.miss = level(timing.miss);
    if (!timing.carries.empty()) {
      r.carries = true;
      const auto known = std::find(carried_kinds_.begin(), carried_kinds_.end(), timing.carries);
      r.carried_kind = static_cast<std::size_t>(known - carried_kinds_.begin());
      if (known == carried_kinds_.end()) carried_kinds_.push_back(timing.carries);
    }
  }
  // A program may lack instructions that the machine file times.
  for (const char* name : {"issues", "completes", "awaits", "executes", "begins its kernel", "is dispatched",
                           "arrives at", "departs from", "opens the barrier"}) {
    given.erase(name);
  }
  for (const std::string& name : names) given.erase(name);
  for (const std::string& name : rules_of_variants_) given.erase(name);
  if (!given.empty()) {
    machine_error(description_, given.begin()->second.place,
                  fmt::format("{} has no rule '{}'", system_, given.begin()->first),
                  suggestion(given.begin()->first, names));
  }
  paths_.resize(unit_kinds_.size());
  for (auto& row : paths_) row.resize(unit_kinds_.size());
  auto paths = description_.paths;
  paths.insert(paths.end(), timing_.paths.begin(), timing_.paths.end());
  for (const PathTiming& timing : paths) {
    const auto number = [&](const std::string& name) {
      return static_cast<std::size_t>(std::find_if(unit_kinds_.begin(), unit_kinds_.end(),
                                                   [&](const UnitKind& u) { return u.name == name; }) -
                                      unit_kinds_.begin());
    };
    Path& path = paths_[number(timing.from)][number(timing.to)];
    path.name = timing.from + " to " + timing.to;
    path.traffic = std::make_unique<std::vector<timed::Link::Traffic>>();
    timed::Link link;
    link.latency = static_cast<Tick>(timing.latency * static_cast<double>(timed::ticks_per_cycle));
    link.ticks_per_byte_256 =
        static_cast<Tick>(256.0 * static_cast<double>(timed::ticks_per_cycle) / timing.bytes_per_cycle);
    link.by_kind = path.traffic.get();
    path.network = network_named(timing.network);
    path.links.assign(unit_kinds_[number(timing.to)].count, link);
  }
  set_links();
  set_caches();
  set_mshrs();
  set_memory();
  set_anew();
  check_choices();
  set_nearest();
  set_turns();
  set_polled();
}

// ---- what a machine says of choices
// ------------------------------------------------------------------------

void EventEngine::check_choices() const {
  std::set<std::string> of_families;
  for (const Family& family : families_) {
    for (const int number : family.rules) of_families.insert(rules_[static_cast<std::size_t>(number)].name);
  }
  for (const auto& [name, timing] : timing_.rules) {
    const bool chooses = !timing.nearest.empty() || !timing.turns.empty() || timing.every > 0;
    if (!chooses || of_families.contains(name) || rules_of_variants_.contains(name)) continue;
    machine_error(description_, timing.place,
                  fmt::format("'{}' is of a thread's instruction, which leaves nothing open", name),
                  "nearest, turns and every are for rules of memory");
  }
  for (const auto& [variant, other] : timing_.variants) {
    for (const auto& [name, timing] : other.rules) {
      if (of_families.contains(name) || rules_of_variants_.contains(name) || timing_.rules.contains(name))
        continue;
      machine_error(description_, timing.place, fmt::format("{} has no rule '{}'", system_, name),
                    suggestion(name, std::vector(rules_of_variants_.begin(), rules_of_variants_.end())));
    }
  }
}

std::uint32_t EventEngine::extent_of(std::string_view type) const {
  for (const Family& family : families_) {
    for (std::size_t p = 0; p < family.tags.size(); ++p) {
      if (family.tags[p] == type) return family.extents[p];
    }
  }
  return 0;
}

std::optional<std::uint32_t> EventEngine::parameter_of(const Family& family, std::string_view type,
                                                       std::size_t instance) {
  const auto found = std::find(family.tags.begin(), family.tags.end(), type);
  if (found == family.tags.end()) return std::nullopt;
  return members_of(family,
                    parameters_of(family, instance))[static_cast<std::size_t>(found - family.tags.begin())];
}

std::optional<std::uint32_t> EventEngine::nearest_of(const Family& family, const RuleTiming& timing,
                                                     std::uint32_t extent, std::size_t instance) {
  std::optional<std::uint32_t> to = parameter_of(family, timing.nearest_to, instance);
  if (!to && timing.nearest_to == CuTag::name && family.of_threads)
    to = family.places[static_cast<std::size_t>(Per::cu)][instance];
  if (!to || extent == 0) return std::nullopt;
  return *to % extent;
}

void EventEngine::set_nearest() {
  for (Family& family : families_) {
    for (std::size_t n = 0; n < family.rules.size(); ++n) {
      const RuleInfo& r = rules_[static_cast<std::size_t>(family.rules[n])];
      const auto found = timing_.rules.find(r.name);
      if (found == timing_.rules.end() || found->second.nearest.empty()) continue;
      const RuleTiming& timing = found->second;
      const std::uint32_t extent = extent_of(timing.nearest);
      if (!family.listed || family.instances == 0 || !nearest_of(family, timing, extent, 0)) {
        machine_error(description_, r.place,
                      fmt::format("'{}' is over ({}), and has no {} nearest to a {}", r.name,
                                  fmt::join(family.tags, ", "), timing.nearest, timing.nearest_to));
      }
      if (!parameter_of(family, timing.nearest, 0)) {
        if (!timing.turns.empty()) continue;
        machine_error(description_, r.place,
                      fmt::format("'{}' is over ({}), and no {} is chosen by it", r.name,
                                  fmt::join(family.tags, ", "), timing.nearest),
                      "say whose turns it waits for, too, or leave nearest out");
      }
      if (family.left_out.empty()) family.left_out.assign(family.instances, 0);
      for (std::size_t i = 0; i < family.instances; ++i) {
        if (parameter_of(family, timing.nearest, i) != nearest_of(family, timing, extent, i))
          family.left_out[i] |= std::uint64_t{1} << n;
      }
    }
  }
}

void EventEngine::set_turns() {
  for (const Family& family : families_) {
    for (const int number : family.rules) {
      RuleInfo& r = rules_[static_cast<std::size_t>(number)];
      const auto found = timing_.rules.find(r.name);
      if (found == timing_.rules.end() || found->second.turns.empty()) continue;
      const RuleTiming& timing = found->second;
      if (r.occupancy > 0) {
        machine_error(
            description_, r.place,
            fmt::format("'{}' waits for its turn, and then for its unit, and might miss it", r.name),
            "say occupancy = 0 of it");
      }
      const std::uint32_t extent = extent_of(timing.turns);
      const auto own = [&](std::size_t instance) {
        const auto parameter = parameter_of(family, timing.turns, instance);
        return parameter || timing.nearest != timing.turns ? parameter
                                                           : nearest_of(family, timing, extent, instance);
      };
      if (!family.listed || family.instances == 0 || !own(0)) {
        machine_error(description_, r.place,
                      fmt::format("'{}' is over ({}), and of no {}", r.name, fmt::join(family.tags, ", "),
                                  timing.turns),
                      fmt::format("say nearest = {{ {} = \"cu\" }} of it", timing.turns));
      }
      r.turn = std::max<Tick>(
          1, static_cast<Tick>(timing.turn_cycles * static_cast<double>(timed::ticks_per_cycle) + 0.5));
      r.turns = extent;
      for (std::size_t i = 0; i < family.instances; ++i) r.own_turn.push_back(*own(i));
    }
  }
}

void EventEngine::set_polled() {
  for (std::size_t f = 0; f < families_.size(); ++f) {
    const Family& family = families_[f];
    for (std::size_t n = 0; n < family.rules.size(); ++n) {
      RuleInfo& r = rules_[static_cast<std::size_t>(family.rules[n])];
      const auto found = timing_.rules.find(r.name);
      if (found == timing_.rules.end() || found->second.every <= 0) continue;
      if (!family.tags.empty() || r.fairness != Fairness::fair || polled_family_ != 0xFFFF) {
        machine_error(description_, r.place,
                      fmt::format("'{}' cannot be looked at from time to time", r.name),
                      "one rule of a system can, if it has no parameters");
      }
      r.every = std::max<Tick>(
          1, static_cast<Tick>(found->second.every * static_cast<double>(timed::ticks_per_cycle) + 0.5));
      polled_family_ = static_cast<std::uint16_t>(f);
      polled_rule_ = static_cast<std::uint16_t>(n);
    }
  }
}

void EventEngine::set_anew() {
  for (std::size_t f = 0; f < families_.size(); ++f) {
    const Family& family = families_[f];
    for (std::size_t n = 0; n < family.rules.size(); ++n) {
      const RuleInfo& r = rules_[static_cast<std::size_t>(family.rules[n])];
      if (!r.anew) continue;
      if (!family.listed || family.of_threads || (anew_family_ != 0xFFFF && anew_family_ != f)) {
        machine_error(description_, r.place, fmt::format("the time of '{}' cannot count anew", r.name),
                      "it can for rules over one index type that is neither threads nor blocks");
      }
      anew_family_ = static_cast<std::uint16_t>(f);
      anew_ |= std::uint64_t{1} << n;
    }
  }
  if (anew_family_ != 0xFFFF) due_.assign(families_[anew_family_].instances * 64, 0);
}

// ---- waiting policies -------------------------------------------------------------------------------------

SchedulerSetup EventEngine::setup_of_policy() const {
  const SchedulerTiming& said = description_.scheduler;
  if (said.cus_taken > 0 && said.cus_taken >= cus_) {
    throw BadInput(fmt::format("{} CUs are taken away of {}", said.cus_taken, cus_),
                   "take fewer with --set scheduler.cus_taken=N");
  }
  SchedulerSetup setup = scheduler_named(name_of(*options_.policy));
  // Places of the CUs that are taken: those that nobody has had are not counted to begin with.
  std::set<std::uint32_t> groups_there;
  for (std::size_t t = 0; t < threads_count(); ++t) {
    if (seats_.is_host[t] == 0 && is_taken(seats_.cu_of[t])) groups_there.insert(seats_.work_group_of[t]);
  }
  setup.taken = std::min(said.cus_taken * said.slots_per_cu, static_cast<int>(groups_there.size()));
  const int slots = said.slots_per_cu * (cus_ - said.cus_taken) + setup.taken;
  if (said.slots_per_cu > 0 && (slots < work_groups_ || setup.taken > 0)) setup.slots = slots;
  setup.conditions = said.conditions;
  setup.waiters = said.waiters;
  setup.log_entries = said.log_entries;
  setup.readings.predictor = true;
  return setup;
}

void EventEngine::set_times() {
  for (std::size_t f = 0; f < families_.size(); ++f) {
    const Family& family = families_[f];
    for (std::size_t n = 0; n < family.rules.size(); ++n) {
      const RuleInfo& r = rules_[static_cast<std::size_t>(family.rules[n])];
      const auto timing = timing_.rules.find(r.name);
      if (timing == timing_.rules.end() || !timing->second.at) continue;
      if (r.fairness != Fairness::optional || !family.listed) {
        machine_error(description_, r.place, fmt::format("'{}' happens when it can, not at a time", r.name),
                      "'at' is for what need not happen");
      }
      const auto& cu_of = family.places[static_cast<std::size_t>(Per::cu)];
      for (std::size_t i = 0; i < family.instances; ++i) {
        const Parameters at = parameters_of(family, i);
        if (!is_taken(cu_of[i])) continue;
        wheel_.push(static_cast<Tick>(*timing->second.at * static_cast<double>(timed::ticks_per_cycle)),
                    {static_cast<std::uint16_t>(f), static_cast<std::uint16_t>(n), at.a, at.b});
      }
    }
  }
}

// Which unit each instance belongs to. Host threads have a place of their own behind the CUs and agents.
void EventEngine::set_places(Family& family) {
  if (family.tags.empty()) {
    for (auto& places : family.places) places.assign(1, 0);
    return;
  }
  const auto of_thread = [&](std::uint32_t t) {
    const bool host = seats_.is_host[t] != 0;
    const std::uint32_t cu = seats_.cu_of[t];
    family.places[0].push_back(t);
    family.places[1].push_back(host ? static_cast<std::uint32_t>(cus_) : cu);
    family.places[2].push_back(host ? static_cast<std::uint32_t>(agents_) : seats_.agent_of[cu]);
  };
  const auto of_cu = [&](std::uint32_t c) {
    family.places[0].push_back(0);
    family.places[1].push_back(c);
    family.places[2].push_back(seats_.agent_of[c]);
  };
  const std::string tag(family.tags.front());
  Per per = Per::system;
  if (tag == ThreadTag::name) per = Per::thread;
  if (tag == CuTag::name) per = Per::cu;
  if (tag == AgentTag::name) per = Per::agent;
  if (tag == WorkGroupTag::name) per = Per::cu;
  if (const auto found = timing_.index_types.find(tag); found != timing_.index_types.end())
    per = found->second.first;
  std::vector<std::uint32_t> cu_of_group(static_cast<std::size_t>(work_groups_), 0);
  for (std::size_t t = 0; t < threads_count(); ++t) {
    if (seats_.is_host[t] == 0) cu_of_group[seats_.work_group_of[t]] = seats_.cu_of[t];
  }
  const std::uint32_t members = family.extents.front();
  const std::uint32_t repeat = family.listed ? family.behind_first() : 1;
  for (std::uint32_t i = 0; i < members * (tag == BlockTag::name ? 0 : 1); ++i) {
    for (std::uint32_t j = 0; j < repeat; ++j) {
      if (per == Per::thread && i < threads_count()) {
        of_thread(i);
      } else if (tag == WorkGroupTag::name) {
        of_cu(cu_of_group[i]);
      } else if (per == Per::cu) {
        of_cu(i % static_cast<std::uint32_t>(cus_));
      } else {
        family.places[0].push_back(0);
        family.places[1].push_back(0);
        family.places[2].push_back(per == Per::agent ? i : 0);
      }
    }
  }
}

void EventEngine::set_links() {
  auto given = timing_.links;
  std::vector<std::string> names;
  std::size_t sparse = 0;
  for (timed::TableInfo& table : binder_.tables) {
    if (table.sparse) table.table->number = static_cast<int>(sparse++);
  }
  of_table_.resize(sparse);
  for (timed::QueueInfo& queue : binder_.queues) {
    const std::string name = short_name(queue.name);
    names.push_back(name);
    const auto found = given.find(name);
    if (found == given.end()) continue;
    link_levels_.push_back({&queue, {}, links_.size(), network_named(found->second.network), -1, {}});
    timed::Link link;
    link.latency = static_cast<Tick>(found->second.latency * static_cast<double>(timed::ticks_per_cycle));
    link.ticks_per_byte_256 = static_cast<Tick>(256.0 * static_cast<double>(timed::ticks_per_cycle) /
                                                found->second.bytes_per_cycle);
    link.level = link_levels_.size() - 1;
    link.by_kind = &link_levels_.back().traffic;
    if (link_levels_.back().network >= 0) link.carrier = this;
    for (timed::Link** place : queue.places) {
      links_.push_back(link);
      ++link.number;
      *place = &links_.back();
    }
    given.erase(found);
  }
  if (!given.empty()) {
    machine_error(description_, given.begin()->second.place,
                  fmt::format("{} has no queue '{}'", system_, given.begin()->first),
                  suggestion(given.begin()->first, names));
  }
}

// ---- networks ---------------------------------------------------------------------------------------------

int EventEngine::network_named(const std::string& name) {
  if (name.empty()) return -1;
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    if (networks_[i].name == name) return static_cast<int>(i);
  }
  const NetworkTiming& timing = description_.networks.at(name);
  NetworkInUse network{name, timed::Network(timing), {}};
  for (const UnitKind& kind : unit_kinds_) {
    NetworkInUse::Seats& seats = network.seats.emplace_back();
    const auto said = timing.seats.find(kind.name);
    if (said == timing.seats.end()) continue;
    // Behind CUs and agents there is a place for hosts, who sit with the last of them.
    const std::size_t units =
        kind.per == Per::thread || kind.per == Per::system ? kind.count : kind.count - 1;
    const std::vector<std::uint32_t>& nodes = said->second.nodes;
    const auto fail = [&](const std::string& why, const std::string& hint) {
      machine_error(
          description_, said->second.place,
          fmt::format("{} nodes for {} units '{}' of this machine: {}", nodes.size(), units, kind.name, why),
          hint);
    };
    if (said->second.by_block) {
      if (nodes.size() % units != 0) fail("they cannot be shared out evenly", "say as many for each unit");
      seats.of_unit = nodes.size() / units;
      seats.nodes = nodes;
      continue;
    }
    if (nodes.size() > units) {
      fail("more than there are units",
           units == 1 ? "by = \"block\" has blocks take a unit's in turn" : "say one for each, or fewer");
    }
    if (units % nodes.size() != 0)
      fail("units cannot be shared out evenly", "say one for each, or one for each two, or the like");
    for (std::size_t unit = 0; unit < units; ++unit)
      seats.nodes.push_back(nodes[unit / (units / nodes.size())]);
  }
  networks_.push_back(std::move(network));
  return static_cast<int>(networks_.size() - 1);
}

void EventEngine::seats_error(const NetworkInUse& network, int kind) const {
  const std::string& unit = unit_kinds_[static_cast<std::size_t>(kind)].name;
  machine_error(description_, description_.networks.at(network.name).place,
                fmt::format("messages to or from '{}' pass the network '{}', and it has no seat there", unit,
                            network.name),
                fmt::format("say {} = [...] in [networks.{}.seats]", unit, network.name));
}

std::uint32_t EventEngine::node_of(const NetworkInUse& network, int kind, std::size_t unit,
                                   std::uint32_t block) const {
  const NetworkInUse::Seats& seats = network.seats[static_cast<std::size_t>(kind)];
  const std::size_t units = seats.nodes.size() / seats.of_unit;
  return seats.nodes[std::min(unit, units - 1) * seats.of_unit + block % seats.of_unit];
}

void EventEngine::set_takers(const Accesses& accesses) {
  for (std::size_t from = 0; from < paths_.size(); ++from) {
    for (std::size_t to = 0; to < paths_.size(); ++to) {
      const int passed = paths_[from][to].network;
      if (passed < 0) continue;
      const NetworkInUse& network = networks_[static_cast<std::size_t>(passed)];
      for (const std::size_t end : {from, to}) {
        if (network.seats[end].nodes.empty()) seats_error(network, static_cast<int>(end));
      }
    }
  }
  for (LinkLevel& level : link_levels_) {
    if (level.network < 0) continue;
    const std::string name = short_name(level.queue->name);
    const auto table = std::find_if(binder_.tables.begin(), binder_.tables.end(),
                                    [&](const timed::TableInfo& t) { return t.name == level.queue->name; });
    for (const Family& family : families_) {
      if (table == binder_.tables.end() || !family.listed || family.tags != table->tags) continue;
      for (const int number : family.rules) {
        const RuleInfo& r = rules_[static_cast<std::size_t>(number)];
        const auto found = accesses.find(r.name);
        if (level.taker >= 0 || found == accesses.end() || short_name(found->second.takes) != name) continue;
        level.taker = r.unit;
        for (std::size_t i = 0; i < family.instances; ++i) {
          level.takers.push_back(
              place(family, unit_kinds_[static_cast<std::size_t>(r.unit)].per, parameters_of(family, i)));
        }
      }
    }
    const NetworkInUse& network = networks_[static_cast<std::size_t>(level.network)];
    const auto has_seat = [&](int kind) {
      return !network.seats[static_cast<std::size_t>(kind)].nodes.empty();
    };
    for (const RuleInfo& r : rules_) {
      const auto found = accesses.find(r.name);
      if (found == accesses.end() || has_seat(r.unit)) continue;
      for (const std::string& queue : found->second.pushes) {
        if (short_name(queue) == name) seats_error(network, r.unit);
      }
    }
    if (level.taker >= 0 && !has_seat(level.taker)) seats_error(network, level.taker);
    if (level.taker < 0 || level.takers.size() != level.queue->places.size()) {
      machine_error(
          description_, timing_.links.at(name).place,
          fmt::format("'{}' cannot pass a network: no rule over its queues alone takes from it", name));
    }
  }
}

timed::Carrier::Carried EventEngine::carry(const timed::Link& link, Tick at, timed::Bytes weight,
                                           std::uint32_t block) {
  const LinkLevel& level = link_levels_[link.level];
  NetworkInUse& through = networks_[static_cast<std::size_t>(level.network)];
  const std::size_t unit = unit_of(*firing_family_, *firing_, firing_at_) -
                           unit_kinds_[static_cast<std::size_t>(firing_->unit)].first;
  const timed::Network::Sent sent = through.network.send(
      journal_.now, at, node_of(through, firing_->unit, unit, block),
      node_of(through, level.taker, level.takers[link.number], block), weight.header + weight.data);
  return {sent.arrival, sent.waited};
}

void EventEngine::set_caches() {
  auto given = timing_.caches;
  std::vector<std::string> names;
  for (const timed::TableInfo& table : binder_.tables) {
    if (!table.sparse) continue;
    const std::string name = table.name.substr(table.name.rfind('.') + 1);
    names.push_back(name);
    const auto found = given.find(name);
    if (found == given.end()) continue;
    const CacheGeometry& geometry = found->second;
    Cache cache;
    cache.table_name = name;
    cache.index = timed::Interleave(geometry.sets, geometry.hashed);
    cache.sets = geometry.sets;
    cache.ways = geometry.ways;
    cache.random = geometry.random;
    cache.table = table.table;
    cache.extents = table.extents;
    std::vector<std::string> optional;
    bool known = false;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      for (std::size_t n = 0; n < families_[f].rules.size(); ++n) {
        RuleInfo& r = rules_[static_cast<std::size_t>(families_[f].rules[n])];
        if (r.fairness != Fairness::optional || families_[f].tags != table.tags) continue;
        optional.push_back(r.name);
        if (r.name != geometry.evict) continue;
        known = true;
        cache.family = static_cast<std::uint16_t>(f);
        cache.rule = static_cast<std::uint16_t>(n);
        cache.unit = r.unit;
        r.cache = static_cast<int>(caches_.size());
      }
    }
    // A variant without the rule has no use for the cache.
    const bool of_others = std::none_of(rules_.begin(), rules_.end(),
                                        [&](const RuleInfo& r) { return r.name == geometry.evict; });
    if (of_others && rules_of_variants_.contains(geometry.evict)) {
      given.erase(found);
      continue;
    }
    if (!known) {
      machine_error(description_, geometry.place,
                    fmt::format("'{}' is no rule that makes room in '{}'", geometry.evict, name),
                    suggestion(geometry.evict, optional));
    }
    const std::size_t units = cache.extents.size() == 2 ? cache.extents[0] : 1;
    cache.lines.resize(units * cache.sets);
    cache.stalled_since.assign(units * cache.sets, 0);
    cache.used.assign(units * cache.sets, 0);
    if (geometry.banks > 0) {
      cache.bank_index = timed::Interleave(geometry.banks, geometry.hashed_banks);
      cache.bank_turn =
          static_cast<Tick>(geometry.bank_cycles * static_cast<double>(timed::ticks_per_cycle) + 0.5);
      cache.first_bank = banks_.size();
      banks_.resize(banks_.size() + units * geometry.banks);
      for (std::size_t b = cache.first_bank; b < banks_.size(); ++b) banks_[b].cache = caches_.size();
    }
    of_table_[static_cast<std::size_t>(table.table->number)].cache = static_cast<int>(caches_.size());
    caches_.push_back(std::move(cache));
    given.erase(found);
  }
  if (!given.empty()) {
    machine_error(description_, given.begin()->second.place,
                  fmt::format("{} has no table of blocks '{}'", system_, given.begin()->first),
                  suggestion(given.begin()->first, names));
  }
}

void EventEngine::set_mshrs() {
  std::vector<std::string> names;
  for (Cache& cache : caches_) {
    names.push_back(cache.table_name);
    cache.mshrs = timing_.caches.at(cache.table_name).mshrs;
    const std::size_t units = cache.extents.size() == 2 ? cache.extents[0] : 1;
    cache.misses.resize(units);
    cache.without_mshr.resize(units);
  }
  const Family& threads = families_[threads_family_];
  std::vector<char> fetched(caches_.size(), 0);
  std::vector<char> filled(caches_.size(), 0);
  const auto set = [&](RuleInfo& r, const std::string& name, int& of, std::vector<char>& seen,
                       SourcePlace place) {
    if (name.empty()) return;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      machine_error(description_, place, fmt::format("'{}', which is no cache of {}", name, system_),
                    suggestion(name, names));
    }
    const auto is_this = [&](int number) { return &rules_[static_cast<std::size_t>(number)] == &r; };
    if (std::none_of(threads.rules.begin(), threads.rules.end(), is_this)) {
      machine_error(description_, place,
                    fmt::format("'{}' is not asked for by a thread, but by a message", r.name),
                    "a message that waited at its queue's head for an MSHR would hold up those behind it");
    }
    const auto c = static_cast<std::size_t>(found - names.begin());
    seen[c] = 1;
    if (caches_[c].mshrs > 0) of = static_cast<int>(c);
  };
  for (RuleInfo& r : rules_) {
    const auto timing = timing_.rules.find(r.name);
    if (timing == timing_.rules.end()) continue;
    set(r, timing->second.fetches, r.fetches, fetched, timing->second.place);
    set(r, timing->second.fills, r.fills, filled, timing->second.place);
  }
  for (std::size_t c = 0; c < caches_.size(); ++c) {
    if (caches_[c].mshrs == 0 || (fetched[c] != 0 && filled[c] != 0)) continue;
    machine_error(
        description_, timing_.caches.at(names[c]).place,
        fmt::format("'{}' has MSHRs, and no rule {} it", names[c], fetched[c] == 0 ? "fetches for" : "fills"),
        fmt::format("say fetches = \"{0}\" of what misses, and fills = \"{0}\" of what brings the block",
                    names[c]));
  }
}

void EventEngine::set_memory() {
  const MemoryTiming& m = timing_.memory;
  std::vector<std::string> names;
  bool known = false;
  for (const timed::TableInfo& table : binder_.tables) {
    if (!table.sparse) continue;
    const std::string name = table.name.substr(table.name.find('.') + 1);
    names.push_back(name);
    if (name != m.table) continue;
    known = true;
    OfTable& use = of_table_[static_cast<std::size_t>(table.table->number)];
    use.is_memory = true;
    use.block_place = static_cast<std::size_t>(
        std::find(table.tags.begin(), table.tags.end(), BlockTag::name) - table.tags.begin());
  }
  if (!known) {
    machine_error(description_, timing_.place,
                  fmt::format("{} has no table '{}' to be memory", system_, m.table),
                  suggestion(m.table, names));
  }
  timed::MainMemory::Port ports = 0;
  for (Family& family : families_) {
    family.first_port = ports;
    ports += family.listed ? static_cast<timed::MainMemory::Port>(family.instances) : 1;
  }
  main_memory_.set(m, description_.block_bytes, description_.gigahertz, ports);
  held_.resize(m.kind == MemoryKind::dram ? ports : 0);
  // A replacement's requests count among those of the instance whose firing causes it.
  const auto asks = [&](const RuleInfo& r) {
    const auto found = timing_.rules.find(r.name);
    return found != timing_.rules.end() && (found->second.read.said() || found->second.write.said());
  };
  for (RuleInfo& r : rules_) {
    r.asks_memory = asks(r) || std::any_of(rules_.begin(), rules_.end(), [&](const RuleInfo& evict) {
                      return evict.cache >= 0 && evict.unit == r.unit && asks(evict);
                    });
  }
}

}  // namespace lockstep
