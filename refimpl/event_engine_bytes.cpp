// Bytes of messages and of accesses to memory: what the machine file says of them, looked up when an engine
// is made, held against what the rules do, and summed up as they fire.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "checker/support/diagnostic.hpp"
#include "refimpl/event_engine.hpp"

namespace lockstep {

namespace {

template <class Names>
std::vector<std::string> words_of(const Names& names) {
  return {names.begin(), names.end()};
}
std::vector<std::string> words_of(const timed::FieldNames& names) {
  std::vector<std::string> words;
  for (const timed::FieldName& field : names) {
    if (words.empty() || words.back() != field.name) words.push_back(field.name);
  }
  return words;
}

std::size_t position_of(const timed::FieldNames& names, const std::string& name) {
  return static_cast<std::size_t>(
      std::find_if(names.begin(), names.end(),
                   [&](const timed::FieldName& field) { return field.name == name; }) -
      names.begin());
}

// The operation that a thread asks for, as a field.
const timed::FieldName& request_field() {
  static const timed::FieldName field{
      "request", false, timed::names_of_values<Timed<MachineSizes<TimedCapacities>>::Enum<Operation>>()};
  return field;
}

}  // namespace

void EventEngine::bytes_error(const RuleInfo& r, const std::string& message, const std::string& hint) const {
  machine_error(description_, r.place.line > 0 ? r.place : timing_.place,
                fmt::format("'{}' {}", r.name, message),
                hint.empty() ? hint : fmt::format("{}, in [systems.{}.rules]", hint, system_));
}

void EventEngine::unsaid_bytes(const RuleInfo& r, const std::string& link) const {
  bytes_error(r, fmt::format("sends on {}, and says no bytes", link),
              fmt::format("say sends.{} = ... of it", link));
}

// ---- looking names up -------------------------------------------------------------------------------------

void EventEngine::set_bytes() {
  for (RuleInfo& r : rules_) {
    r.weights.assign(link_levels_.size(), {});
    r.sends.resize(link_levels_.size());
    const auto found = timing_.rules.find(r.name);
    if (found == timing_.rules.end()) continue;
    const RuleTiming& timing = found->second;
    set_sends(r, timing);
    r.carried = sum_of(timing.bytes);
    check_terms(r.carried, nullptr, false);
    r.read = sum_of(timing.read);
    r.write = sum_of(timing.write);
    const auto looks_at_messages = [](const Term& term) {
      return term.counts == ByteTerm::Kind::mask || term.condition != nullptr;
    };
    for (const Sum* sum : {&r.read, &r.write}) {
      journal_.wants_message |= std::any_of(sum->terms.begin(), sum->terms.end(), looks_at_messages);
    }
  }
  journal_.weigher = this;
}

void EventEngine::set_sends(RuleInfo& r, const RuleTiming& timing) {
  std::vector<std::string> names;
  for (const LinkLevel& level : link_levels_) names.push_back(short_name(level.queue->name));
  for (const auto& [link, count] : timing.sends) {
    const auto found = std::find(names.begin(), names.end(), link);
    if (found == names.end()) {
      machine_error(description_, count.place, fmt::format("{} has no link '{}'", system_, link),
                    suggestion(link, names));
    }
    const auto level = static_cast<std::size_t>(found - names.begin());
    Sum& sum = r.sends[level];
    sum = sum_of(count);
    check_terms(sum, link_levels_[level].queue->fields, false);
    timed::Weight& weight = r.weights[level];
    weight.plain = true;
    int header = 0;
    int data = 0;
    for (const Term& term : sum.terms) {
      const bool mask = term.counts == ByteTerm::Kind::mask;
      weight.plain &= term.condition == nullptr && term.bytes >= 0 && !(mask && weight.masked);
      weight.masked |= mask;
      (term.is_header ? header : data) += mask ? 0 : term.bytes;
    }
    weight.fixed = {static_cast<unsigned>(header), static_cast<unsigned>(data)};
  }
}

EventEngine::Sum EventEngine::sum_of(const ByteCount& count) const {
  Sum sum{count.said(), count.place, {}};
  for (const ByteTerm& said : count.terms) {
    Term term;
    term.is_header = said.kind == ByteTerm::Kind::header;
    term.counts = said.kind;
    term.bytes = said.kind == ByteTerm::Kind::header  ? static_cast<int>(said.bytes)
                 : said.kind == ByteTerm::Kind::block ? static_cast<int>(description_.block_bytes)
                                                      : timed::word_bytes;
    if (said.kind == ByteTerm::Kind::marks) find_marks(said, count.place, term);
    if (said.subtracted) term.bytes = -term.bytes;
    if (!said.condition.empty()) term.condition = &said;
    sum.terms.push_back(term);
  }
  return sum;
}

void EventEngine::find_marks(const ByteTerm& said, SourcePlace place, Term& out) const {
  std::vector<std::string> names;
  for (const timed::TableInfo& table : binder_.tables) {
    if (!table.sparse) continue;
    names.push_back(short_name(table.name));
    if (names.back() != said.table) continue;
    out.first_field = position_of(*table.fields, said.field);
    if (out.first_field == table.fields->size()) {
      machine_error(description_, place, fmt::format("'{}' has no field '{}'", said.table, said.field),
                    suggestion(said.field, words_of(*table.fields)));
    }
    while (out.first_field + out.fields < table.fields->size() &&
           (*table.fields)[out.first_field + out.fields].name == said.field)
      ++out.fields;
    out.table = table.table;
    out.block_place = static_cast<std::size_t>(
        std::find(table.tags.begin(), table.tags.end(), BlockTag::name) - table.tags.begin());
    if (!(*table.fields)[out.first_field].per_word) out.bytes = static_cast<int>(description_.block_bytes);
    return;
  }
  machine_error(description_, place, fmt::format("{} has no table of blocks '{}'", system_, said.table),
                suggestion(said.table, names));
}

void EventEngine::check_terms(const Sum& sum, const timed::FieldNames* message, bool marks) const {
  for (const Term& term : sum.terms) {
    if (term.counts == ByteTerm::Kind::mask &&
        (message == nullptr || position_of(*message, "mask") == message->size()))
      machine_error(description_, sum.place, "'mask' of a message that has none");
    if (term.counts == ByteTerm::Kind::marks && !marks) {
      machine_error(description_, sum.place, "what a rule takes away from a table is no part of a message",
                    "it may be written to memory");
    }
    if (term.condition == nullptr) continue;
    if (term.condition->condition == request_field().name) {
      term.values = values_named(*term.condition, sum.place, request_field().values);
      continue;
    }
    const std::size_t field = message == nullptr ? 0 : position_of(*message, term.condition->condition);
    if (message == nullptr || field == message->size()) {
      std::vector<std::string> names = message == nullptr ? std::vector<std::string>{} : words_of(*message);
      names.push_back(request_field().name);
      machine_error(description_, sum.place,
                    fmt::format("'{}' is no field of the message", term.condition->condition),
                    suggestion(term.condition->condition, names));
    }
    term.of = message;
    term.field = field;
    term.values = values_named(*term.condition, sum.place, (*message)[field].values);
  }
}

std::uint64_t EventEngine::values_named(const ByteTerm& condition, SourcePlace place,
                                        const std::vector<std::string_view>& names) const {
  std::uint64_t values = 0;
  for (const std::string& value : condition.values) {
    const auto found = std::find(names.begin(), names.end(), value);
    if (found == names.end()) {
      machine_error(description_, place, fmt::format("'{}' is no value of '{}'", value, condition.condition),
                    suggestion(value, words_of(names)));
    }
    values |= std::uint64_t{1} << (found - names.begin());
  }
  return values;
}

// ---- what rules do ----------------------------------------------------------------------------------------

void EventEngine::check_accesses(const SystemEntry& system) {
  const Accesses* const accesses = accesses_of(system, options_.variant, options_.faults);
  if (accesses == nullptr) {
    for (const auto& [name, link] : timing_.links) {
      if (link.network.empty()) continue;
      machine_error(description_, link.place,
                    fmt::format("'{}' passes a network, and nobody knows which rules of {} take from it",
                                name, system_),
                    "link the system's translation unit of trees (recorded)");
    }
    for (const auto& [name, cache] : timing_.caches) {
      if (cache.banks == 0) continue;
      machine_error(
          description_, cache.place,
          fmt::format("'{}' has banks, and nobody knows which rules of {} look it up", name, system_),
          "link the system's translation unit of trees (recorded)");
    }
    return;
  }
  for (RuleInfo& r : rules_) {
    const auto found = accesses->find(r.name);
    if (found == accesses->end()) continue;
    set_look_ups(r, found->second);
    set_accesses(r, found->second);
    check_links(r, found->second);
    check_memory(r, found->second);
    for (const timed::QueueInfo& queue : binder_.queues) {
      if (found->second.takes.empty() || short_name(queue.name) != short_name(found->second.takes)) continue;
      check_terms(r.read, queue.fields, true);
      check_terms(r.write, queue.fields, true);
    }
  }
  set_looked_up();
  set_takers(*accesses);
}

// The rule that makes room fires with the one that needs it.
void EventEngine::set_look_ups(RuleInfo& r, const RuleAccesses& accesses) const {
  if (r.cache >= 0) return;
  for (std::size_t c = 0; c < caches_.size(); ++c) {
    const Cache& cache = caches_[c];
    if (cache.bank_turn == 0) continue;
    const bool looks =
        std::any_of(accesses.looked_up.begin(), accesses.looked_up.end(),
                    [&](const std::string& table) { return short_name(table) == cache.table_name; });
    if (looks) r.looks_up.push_back(static_cast<int>(c));
  }
}

void EventEngine::set_accesses(RuleInfo& r, const RuleAccesses& accesses) const {
  for (std::size_t c = 0; c < caches_.size(); ++c) {
    for (const std::string& table : accesses.looked_up) {
      if (short_name(table) != caches_[c].table_name) continue;
      // What another unit's guard alone asks of a block has come with a message.
      const bool writes = accesses.writes.contains(table);
      if (writes || accesses.reads.contains(table) || r.unit == caches_[c].unit)
        r.accesses.emplace_back(static_cast<int>(c), writes);
    }
  }
}

std::vector<std::pair<std::string, double>> EventEngine::energy(const Statistics& counted) const {
  const EnergyCosts& costs = description_.energy;
  std::vector<std::pair<std::string, double>> all;
  if (!costs.said) return all;
  const auto add = [&](const std::string& name, double picojoules) {
    if (picojoules <= 0) return;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.first == name; });
    if (found == all.end()) {
      all.emplace_back(name, picojoules);
    } else {
      found->second += picojoules;
    }
  };
  for (const RuleInfo& r : rules_) {
    const auto times = static_cast<double>(r.firings);
    if (r.name == "executes") add("instructions", times * costs.instruction);
    for (const auto& [cache, writes] : r.accesses) {
      const std::string& level = timing_.caches.at(caches_[static_cast<std::size_t>(cache)].table_name).level;
      const auto cost = costs.levels.find(level);
      if (cost != costs.levels.end()) add(level, times * (writes ? cost->second.write : cost->second.read));
    }
  }
  for (const Statistics::Messages& m : counted.messages) {
    const auto cost = costs.messages.find(m.way);
    if (cost == costs.messages.end()) continue;
    add("messages", static_cast<double>(m.messages) * cost->second.message +
                        static_cast<double>(m.bytes()) * cost->second.byte);
  }
  add("L3", static_cast<double>(counted.memory.l3_hits) * costs.l3.read +
                static_cast<double>(counted.memory.l3_misses) * costs.l3.write);
  add("DRAM", static_cast<double>(counted.memory.reads) * costs.dram.read +
                  static_cast<double>(counted.memory.writes) * costs.dram.write);
  return all;
}

void EventEngine::set_looked_up() {
  for (Family& family : families_) {
    const bool any = std::any_of(family.rules.begin(), family.rules.end(), [&](int number) {
      return !rules_[static_cast<std::size_t>(number)].looks_up.empty();
    });
    if (any && family.listed) family.looked_up.assign(family.spot(family.instances, 0), 0);
  }
}

void EventEngine::check_links(const RuleInfo& r, const RuleAccesses& accesses) const {
  for (std::size_t level = 0; level < link_levels_.size(); ++level) {
    const std::string link = short_name(link_levels_[level].queue->name);
    const bool pushes = std::any_of(accesses.pushes.begin(), accesses.pushes.end(),
                                    [&](const std::string& queue) { return short_name(queue) == link; });
    if (pushes && !r.sends[level].said) unsaid_bytes(r, link);
    // A fault may take away what the rule otherwise does.
    if (!pushes && r.sends[level].said && options_.faults.empty())
      bytes_error(r, fmt::format("sends nothing on {}", link), "");
  }
}

void EventEngine::check_memory(const RuleInfo& r, const RuleAccesses& accesses) const {
  const std::string& memory = timing_.memory.table;
  const bool reads = accesses.reads.contains(memory);
  const bool writes = accesses.writes.contains(memory);
  if (reads && !r.read.said) {
    bytes_error(r, "reads from memory, and says no bytes", "say reads = ... of it");
  }
  if (writes && !r.write.said) {
    bytes_error(r, "writes to memory, and says no bytes", "say writes = ... of it");
  }
  if (!options_.faults.empty()) return;
  // To change a part of a block one may have to fetch all of it.
  if (!reads && !writes && r.read.said) bytes_error(r, "reads nothing from memory", "");
  if (!writes && r.write.said) bytes_error(r, "writes nothing to memory", "");
}

// ---- as rules fire ----------------------------------------------------------------------------------------

timed::Bytes EventEngine::weigh(std::size_t level, const timed::Message& message) {
  const RuleInfo& r = *firing_;
  const Sum& sum = r.sends[level];
  if (!sum.said) unsaid_bytes(r, short_name(link_levels_[level].queue->name));
  if (message.masked_words > 0 && !r.weights[level].masked) {
    const std::string link = short_name(link_levels_[level].queue->name);
    bytes_error(r, fmt::format("sends data by its mask on {}, and leaves the mask out of its bytes", link),
                fmt::format("say sends.{} = \"8 + mask\" of it", link));
  }
  return total(r, sum, &message, thread_of(*firing_family_, firing_at_), 0);
}

timed::Bytes EventEngine::total(const RuleInfo& r, const Sum& sum, const timed::Message* message,
                                std::uint32_t thread, std::uint32_t block) const {
  int header = 0;
  int data = 0;
  for (const Term& term : sum.terms) {
    if (term.condition != nullptr && !holds(r, term, message, thread)) continue;
    int count = 1;
    if (term.counts == ByteTerm::Kind::mask)
      count = message == nullptr ? 0 : static_cast<int>(message->masked_words);
    if (term.counts == ByteTerm::Kind::marks) count = static_cast<int>(marks_taken(term, block));
    (term.is_header ? header : data) += count * term.bytes;
  }
  return {static_cast<unsigned>(std::max(0, header)), static_cast<unsigned>(std::max(0, data))};
}

bool EventEngine::holds(const RuleInfo& r, const Term& term, const timed::Message* message,
                        std::uint32_t thread) const {
  const ByteTerm& condition = *term.condition;
  std::uint64_t value = 0;
  if (condition.condition == request_field().name) {
    if (thread == nowhere && message != nullptr) {
      if (term.of != message->names) {
        term.of = message->names;
        term.field = position_of(*message->names, std::string(ThreadTag::name));
      }
      if (term.field < message->names->size()) thread = message->fields[term.field];
    }
    if (thread == nowhere) bytes_error(r, "has neither a thread nor a message of one", "");
    if (term.values == 0) term.values = values_named(condition, r.place, request_field().values);
    value = static_cast<std::uint64_t>(status_of(thread).operation);
  } else {
    if (message == nullptr)
      bytes_error(r, fmt::format("takes no message with a field '{}'", condition.condition), "");
    if (term.of != message->names) find_field(r, term, *message->names);
    value = message->fields[term.field];
  }
  return (((term.values >> value) & 1U) != 0) != condition.negated;
}

void EventEngine::find_field(const RuleInfo& r, const Term& term, const timed::FieldNames& names) const {
  term.of = &names;
  term.field = position_of(names, term.condition->condition);
  if (term.field == names.size()) {
    bytes_error(r, fmt::format("takes a message without a field '{}'", term.condition->condition),
                suggestion(term.condition->condition, words_of(names)));
  }
  term.values = values_named(*term.condition, r.place, names[term.field].values);
}

unsigned EventEngine::marks_taken(const Term& term, std::uint32_t block) const {
  unsigned marks = 0;
  for (const timed::Journal::Row& row : journal_.rows) {
    if (row.table != term.table || row.table->coordinates(row.slot)[term.block_place] != block) continue;
    marks += row.table->taken_away(row.slot, term.first_field, term.fields);
  }
  return marks;
}

}  // namespace lockstep
