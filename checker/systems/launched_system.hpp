// A system whose client launches kernels, with the client given (spec/program/launches.hpp): of the model's
// own transitions those of the client are kept where they are the sequence's next, all others as they are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checker/explore/adaptor.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"
#include "spec/program/launches.hpp"

namespace lockstep {

namespace launched {

// What a rule is to the client.
enum class Role : std::uint8_t {
  none,  // the hardware's, or a running kernel's
  labels_read,
  labels_write,
  host_reads,
  host_writes,
  inspects,
  unlabelled,
  launches,
  ends,
};
constexpr bool acts(Role role) {
  return role != Role::none && role != Role::launches;
}

// One act of the client.
struct Act {
  Role role = Role::none;
  std::vector<int> parameters;
  int launch = 0;
};

inline std::vector<Act> acts_of(const Launches& launches) {
  std::vector<Act> acts;
  for (std::size_t i = 0; i < launches.launches.size(); ++i) {
    const Launch& one = launches.launches[i];
    const int number = static_cast<int>(i);
    for (const LaunchLabel& label : one.labels) {
      acts.push_back({label.write ? Role::labels_write : Role::labels_read,
                      {label.structure, label.chiplet, label.word},
                      number});
    }
    if (one.kind == Launch::Kind::host_reads) acts.push_back({Role::host_reads, {one.structure}, number});
    if (one.kind == Launch::Kind::host_writes) acts.push_back({Role::host_writes, {one.structure}, number});
    const bool unlabelled = one.kind == Launch::Kind::unlabelled;
    acts.push_back({unlabelled ? Role::unlabelled : Role::inspects, {}, number});
    acts.push_back({Role::ends, {}, number});
  }
  return acts;
}

inline std::vector<Role> roles_of(const std::vector<RuleDescription>& rules, const LaunchRules& client) {
  const std::array named{
      std::pair{client.labels_read, Role::labels_read}, std::pair{client.labels_write, Role::labels_write},
      std::pair{client.host_reads, Role::host_reads},   std::pair{client.host_writes, Role::host_writes},
      std::pair{client.inspects, Role::inspects},       std::pair{client.unlabelled, Role::unlabelled},
      std::pair{client.launches, Role::launches},       std::pair{client.ends, Role::ends}};
  std::vector<Role> roles(rules.size(), Role::none);
  for (const auto& [name, role] : named) {
    const auto found = std::find_if(rules.begin(), rules.end(), [&, wanted = name](const RuleDescription& r) {
      return r.name == wanted;
    });
    if (found == rules.end()) throw std::logic_error("no rule is called '" + std::string(name) + "'");
    roles[static_cast<std::size_t>(found - rules.begin())] = role;
  }
  return roles;
}

inline void check_claims(const std::vector<std::string>& invariants, const LaunchRules& client) {
  for (const auto& names : {client.never_stale, client.never_lost}) {
    for (const std::string_view name : names) {
      if (std::find(invariants.begin(), invariants.end(), name) == invariants.end())
        throw std::logic_error("no invariant is called '" + std::string(name) + "'");
    }
  }
}

// Where the notes of a run stand behind the packed state: how far the sequence is, and the terms it observes.
class Notes {
 public:
  explicit Notes(const Launches& launches) {
    for (const LaunchTerm& term : launches.observed) {
      using Kind = LaunchTerm::Kind;
      const bool counts = term.kind == Kind::acquires || term.kind == Kind::releases;
      add(counts ? count_bits : term.kind == Kind::state ? state_bits : 1);
    }
  }
  [[nodiscard]] unsigned words() const { return next_ / 64 + 1; }
  [[nodiscard]] static std::size_t position(const std::uint64_t* notes) {
    return static_cast<std::size_t>(notes[0] & mask(position_bits));
  }
  static void advance(std::uint64_t* notes) { ++notes[0]; }
  [[nodiscard]] std::int32_t get(const std::uint64_t* notes, std::size_t term) const {
    const Place& at = places_[term];
    return static_cast<std::int32_t>((notes[at.bit / 64] >> (at.bit % 64)) & mask(at.width));
  }
  void set(std::uint64_t* notes, std::size_t term, std::int32_t value) const {
    const Place& at = places_[term];
    std::uint64_t& word = notes[at.bit / 64];
    word &= ~(mask(at.width) << (at.bit % 64));
    word |= (static_cast<std::uint64_t>(value) & mask(at.width)) << (at.bit % 64);
  }
  static constexpr std::size_t most_acts = std::size_t{1} << 16;

 private:
  static constexpr unsigned position_bits = 17;
  static constexpr unsigned count_bits = 16;
  static constexpr unsigned state_bits = 3;
  static_assert(listed_states.size() <= std::size_t{1} << state_bits);
  struct Place {
    unsigned bit;
    unsigned width;
  };
  static constexpr std::uint64_t mask(unsigned width) { return (std::uint64_t{1} << width) - 1; }
  // Nothing straddles two words.
  void add(unsigned width) {
    if (next_ % 64 + width > 64) next_ = (next_ / 64 + 1) * 64;
    places_.push_back({next_, width});
    next_ += width;
  }
  std::vector<Place> places_;
  unsigned next_ = position_bits;
};

}  // namespace launched

// `Protocol` offers, beside what every system does, `indexes(s, row, structure)` and the fields entry(row,
// chiplet), local(chiplet).acquire and .release, phase and host; `client` names its rules.
template <class Protocol>
class LaunchedModel final : public LaunchesModel {
 public:
  using Kind = typename Protocol::Kind;
  using State = typename Protocol::State;
  using Chiplet = typename Protocol::Chiplet;
  using Structure = typename Protocol::Structure;

  LaunchedModel(Protocol protocol, const LaunchRules& client, std::shared_ptr<const Launches> launches)
      : model_(std::move(protocol), Reductions::none()),
        client_(client),
        launches_(std::move(launches)),
        acts_(launched::acts_of(*launches_)),
        roles_(launched::roles_of(model_.rules(), client)),
        notes_(*launches_) {
    launched::check_claims(model_.invariants(), client);
    if (acts_.size() >= launched::Notes::most_acts) throw BadInput("the sequence of launches is too long");
  }

  [[nodiscard]] unsigned state_bits() const override { return 64 * (model_.words() + notes_.words()); }
  [[nodiscard]] const std::vector<RuleDescription>& rules() const override { return model_.rules(); }
  [[nodiscard]] const std::vector<std::string>& invariants() const override { return model_.invariants(); }

  void initial(Successors& out) const override {
    prepare(out);
    Successors& own = scratch();
    model_.initial(own);
    for (std::size_t i = 0; i < own.size(); ++i) {
      std::uint64_t* after = out.add(own.firing(i));
      std::fill_n(std::copy_n(own.state(i), model_.words(), after), notes_.words(), 0);
    }
  }

  void expand(const std::uint64_t* state, Successors& out) const override {
    prepare(out);
    Successors& own = scratch();
    model_.expand(state, own);
    std::vector<std::uint64_t> noted(state + model_.words(), state + words());
    if (own.violated >= 0) note_claims(model_.load(state), noted.data());
    const std::size_t position = launched::Notes::position(noted.data());
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Firing& firing = own.firing(i);
      const launched::Role role = roles_[firing.rule];
      const bool acts = launched::acts(role);
      if (acts && !is_next(position, role, firing)) continue;
      // What the sequence has next will come, whatever the rule says of clients in general.
      out.live |= acts || rules()[firing.rule].fairness == Fairness::fair;
      ++out.fired[firing.rule];
      std::uint64_t* after = out.add(firing);
      std::uint64_t* notes = std::copy_n(own.state(i), model_.words(), after);
      std::copy(noted.begin(), noted.end(), notes);
      note(role, position, own.state(i), notes);
      if (acts) launched::Notes::advance(notes);
    }
  }

  [[nodiscard]] bool proper_end(const std::uint64_t* state) const override {
    return launched::Notes::position(state + model_.words()) == acts_.size();
  }

  [[nodiscard]] std::int32_t observed(const std::uint64_t* state, std::size_t term) const override {
    std::vector<std::uint64_t> noted(state + model_.words(), state + words());
    note_claims(model_.load(state), noted.data());
    return notes_.get(noted.data(), term);
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(
      const std::uint64_t* state) const override {
    return model_.fields(state);
  }
  [[nodiscard]] std::vector<NarratedStep> narrate(const std::uint64_t* state,
                                                  const Firing& firing) const override {
    std::vector<NarratedStep> steps = model_.narrate(state, firing);
    const std::size_t position = launched::Notes::position(state + model_.words());
    if (launched::acts(roles_[firing.rule]) && position < acts_.size() && !steps.empty()) {
      const auto launch = static_cast<std::size_t>(acts_[position].launch);
      steps.front().rule += " for " + launches_->launches[launch].name;
    }
    return steps;
  }
  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t index) const override {
    return model_.narrate_initial(index);
  }

 private:
  using Role = launched::Role;
  using TermKind = LaunchTerm::Kind;

  void prepare(Successors& out) const {
    out.begin_state();
    if (out.fired.size() < rules().size()) out.fired.resize(rules().size());
  }
  // The model's own successors, before they are filtered; one for each thread that expands.
  Successors& scratch() const {
    thread_local Successors own;
    own.clear(model_.words());
    return own;
  }

  [[nodiscard]] bool is_next(std::size_t position, Role role, const Firing& firing) const {
    if (position >= acts_.size()) return false;
    const launched::Act& act = acts_[position];
    return act.role == role &&
           std::equal(act.parameters.begin(), act.parameters.end(), firing.parameters.begin(),
                      firing.parameters.begin() + firing.parameter_count);
  }

  // The launch that a state belongs to: the one whose act is next.
  [[nodiscard]] int launch_at(std::size_t position) const {
    return position < acts_.size() ? acts_[position].launch : -1;
  }

  // Which claims a state breaks.
  struct Broken {
    bool stale = false;
    bool lost = false;
  };
  [[nodiscard]] Broken broken_in(const State& state) const {
    Broken broken;
    for (const auto& claim : model_.engine().lists().invariants) {
      const auto among = [&](const auto& names) {
        return std::find(names.begin(), names.end(), claim.name) != names.end();
      };
      constexpr std::array<std::uint8_t, max_parameters> none{};
      const auto fails = [&] { return !claim.predicate(&state, none.data()); };
      if (among(client_.never_stale)) broken.stale |= fails();
      if (among(client_.never_lost)) broken.lost |= fails();
    }
    return broken;
  }
  void note_claims(const State& state, std::uint64_t* notes) const {
    const Broken broken = broken_in(state);
    const int launch = launch_at(launched::Notes::position(notes));
    for (std::size_t t = 0; t < launches_->observed.size(); ++t) {
      const LaunchTerm& term = launches_->observed[t];
      const bool here = term.launch < 0 || term.launch == launch;
      if (term.kind == TermKind::stale && broken.stale && here) notes_.set(notes, t, 1);
      if (term.kind == TermKind::lost && broken.lost && here) notes_.set(notes, t, 1);
    }
  }

  // What a transition adds to the notes. Operations are issued as a launch is taken up, and where its kernel
  // ends.
  void note(Role role, std::size_t position, const std::uint64_t* packed, std::uint64_t* notes) const {
    const bool taken_up = role == Role::inspects || role == Role::unlabelled;
    if (!taken_up && role != Role::ends && role != Role::launches) return;
    if (launches_->observed.empty()) return;
    const State after = model_.load(packed);
    const int launch = launch_at(position);
    for (std::size_t t = 0; t < launches_->observed.size(); ++t) {
      const LaunchTerm& term = launches_->observed[t];
      if (term.launch >= 0 && (term.launch != launch || role == Role::ends)) continue;
      if (term.kind == TermKind::state && role == Role::launches) notes_.set(notes, t, listed(after, term));
      if (role == Role::launches) continue;
      if (term.kind == TermKind::acquire && acquired(after, term.chiplet)) notes_.set(notes, t, 1);
      if (term.kind == TermKind::release && released(after, term.chiplet)) notes_.set(notes, t, 1);
      int count = notes_.get(notes, t);
      for (int c = 0; c < launches_->chiplets; ++c) {
        count += term.kind == TermKind::acquires && acquired(after, c) ? 1 : 0;
        count += term.kind == TermKind::releases && released(after, c) ? 1 : 0;
      }
      if (term.kind == TermKind::acquires || term.kind == TermKind::releases) notes_.set(notes, t, count);
    }
  }

  static Chiplet chiplet(int c) { return {static_cast<std::uint8_t>(c)}; }
  // On its way, or acknowledged: not what an operation is by default.
  template <class Operation>
  static bool issued(const Operation& operation) {
    return Kind::truth(operation != Operation{});
  }
  static bool acquired(const State& s, int c) { return issued(s.local(chiplet(c)).acquire); }
  static bool released(const State& s, int c) { return issued(s.local(chiplet(c)).release); }

  // The state of the row that the structure leads to.
  [[nodiscard]] std::int32_t listed(const State& s, const LaunchTerm& term) const {
    const Structure structure{static_cast<std::uint8_t>(term.structure)};
    for (std::size_t r = 0; r < launches_->structures.size(); ++r) {
      const Structure row{static_cast<std::uint8_t>(r)};
      if (!Kind::truth(Protocol::indexes(s, row, structure))) continue;
      const std::string text = s.entry(row, chiplet(term.chiplet)).text();
      const auto found = std::find(listed_states.begin(), listed_states.end(), text);
      if (found == listed_states.end()) throw std::logic_error("no word for the state " + text);
      return static_cast<std::int32_t>(found - listed_states.begin());
    }
    throw std::logic_error("a structure has no row");
  }

  CompiledModel<Protocol> model_;
  LaunchRules client_;
  std::shared_ptr<const Launches> launches_;
  std::vector<launched::Act> acts_;
  std::vector<Role> roles_;
  launched::Notes notes_;
};

}  // namespace lockstep
