#include "checker/symmetry/symmetric_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <stdexcept>

#include "checker/support/diagnostic.hpp"

namespace lockstep::symmetry {

namespace {

using Packed = std::vector<std::uint64_t>;

// Between two states of a run, at most so many are looked at to find a way from one to the other.
constexpr std::size_t most_looked_at = 100'000;
// Of so many states that are expanded one is, renamed, expanded too.
constexpr std::size_t looked_at = 256;

// The first successor of a state that satisfies `wanted`: the step to it, and whether there is one.
template <class Wanted>
bool step_from(const Model& model, const Packed& from, Wanted&& wanted, Trace& trace) {
  Successors successors;
  successors.clear(std::max(1U, model.words()));
  model.expand(from.data(), successors);
  for (std::size_t i = 0; i < successors.size(); ++i) {
    if (!wanted(successors.state(i))) continue;
    const Firing firing = successors.firing(i);
    trace.steps.push_back({firing, model.narrate(from.data(), firing),
                           Packed(successors.state(i), successors.state(i) + from.size())});
    return true;
  }
  return false;
}

// The same by as many steps as it takes.
template <class Wanted>
bool way_from(const Model& model, const Packed& from, Wanted&& wanted, Trace& trace) {
  std::vector<std::pair<Packed, std::size_t>> seen{{from, 0}};
  std::set<Packed> known{from};
  std::vector<Packed> way;
  for (std::size_t at = 0; at < seen.size() && seen.size() < most_looked_at && way.empty(); ++at) {
    Successors successors;
    successors.clear(std::max(1U, model.words()));
    const Packed state = seen[at].first;
    try {
      model.expand(state.data(), successors);
    } catch (const BrokenRule&) {
      continue;
    }
    for (std::size_t i = 0; i < successors.size() && way.empty(); ++i) {
      Packed next(successors.state(i), successors.state(i) + state.size());
      if (wanted(next.data())) {
        way.push_back(next);
        for (std::size_t back = at; back != 0; back = seen[back].second) way.push_back(seen[back].first);
      }
      if (known.insert(next).second) seen.emplace_back(std::move(next), at);
    }
  }
  Packed state = from;
  for (auto next = way.rbegin(); next != way.rend(); ++next) {
    step_from(
        model, state, [&](const std::uint64_t* one) { return std::equal(next->begin(), next->end(), one); },
        trace);
    state = *next;
  }
  return !way.empty();
}

}  // namespace

SymmetricModel::SymmetricModel(const Model& model, const recorded::WholeDescription& whole,
                               const std::vector<std::string>& wanted)
    : ModelView(model),
      not_meant_(fields_not_meant(whole)),
      layout_(whole, model.packed_scalars(), not_meant_),
      automorphisms_(automorphisms_of(whole, model, layout_, not_meant_, wanted)),
      representatives_(layout_, automorphisms_.elements, std::max(1U, model.words())) {}

void SymmetricModel::represent(std::size_t first, Successors& out,
                               std::vector<std::uint32_t>* elements) const {
  thread_local Representatives::Room room;
  const std::size_t added = out.size() - first;
  const unsigned words = std::max(1U, model_.words());
  std::uint64_t* state = out.last(added);
  for (std::size_t i = 0; i < added; ++i, state += words) {
    const std::uint32_t element = representatives_.represent(state, room);
    if (elements != nullptr) elements->push_back(element);
  }
}

void SymmetricModel::initial(Successors& out) const {
  const std::size_t first = out.size();
  model_.initial(out);
  represent(first, out, nullptr);
}

void SymmetricModel::expand(const std::uint64_t* state, Successors& out) const {
  const std::size_t first = out.size();
  model_.expand(state, out);
  thread_local std::size_t expanded = 0;
  if (++expanded % looked_at == 0) look_at(state, first, out, expanded / looked_at);
  represent(first, out, nullptr);
}

void SymmetricModel::expand(const std::uint64_t* state, Successors& out,
                            std::vector<std::uint32_t>& elements) const {
  const std::size_t first = out.size();
  model_.expand(state, out);
  represent(first, out, &elements);
}

// By definition: a renamed state has the renamed successors.
void SymmetricModel::look_at(const std::uint64_t* state, std::size_t first, const Successors& found,
                             std::size_t number) const {
  const unsigned words = std::max(1U, model_.words());
  const std::vector<Renaming>& elements = automorphisms_.elements;
  const Renaming& renaming = elements[number % elements.size()];
  const auto renamed = [&](const std::uint64_t* one) {
    Packed other(words);
    layout_.rename(one, renaming, words, other.data());
    return other;
  };
  std::set<Packed> expected;
  for (std::size_t i = first; i < found.size(); ++i) expected.insert(renamed(found.state(i)));
  Successors other;
  other.clear(words);
  other.begin_state();
  model_.expand(renamed(state).data(), other);
  std::set<Packed> there;
  for (std::size_t i = 0; i < other.size(); ++i) there.insert(Packed(other.state(i), other.state(i) + words));
  if (there != expected || other.live != found.live || (other.violated < 0) != (found.violated < 0))
    throw std::logic_error("a renamed state has other successors: this symmetry is none");
}

std::vector<std::uint64_t> SymmetricModel::representative(const std::uint64_t* state) const {
  Representatives::Room room;
  std::vector<std::uint64_t> of(state, state + std::max(1U, model_.words()));
  representatives_.represent(of.data(), room);
  return of;
}

Trace SymmetricModel::run_of_model(const Trace& of_representatives) const {
  const unsigned words = std::max(1U, model_.words());
  Successors starts;
  starts.clear(words);
  model_.initial(starts);
  Trace trace;
  trace.initial = of_representatives.initial;
  const std::uint64_t* const start = starts.state(trace.initial);
  trace.steps.push_back(of_representatives.steps.front());
  trace.steps.back().state.assign(start, start + words);
  for (std::size_t i = 1; i < of_representatives.steps.size(); ++i) {
    const Packed& wanted = of_representatives.steps[i].state;
    const auto stands_for = [&](const std::uint64_t* state) { return representative(state) == wanted; };
    // Of states that are alike in much the one that stands for them may not be found (representatives.hpp).
    const auto is_alike = [&](const std::uint64_t* state) {
      Packed renamed(words);
      return std::any_of(automorphisms_.elements.begin(), automorphisms_.elements.end(),
                         [&](const Renaming& element) {
                           layout_.rename(state, element, words, renamed.data());
                           return renamed == wanted;
                         });
    };
    const Packed from = trace.steps.back().state;
    if (!step_from(model_, from, stands_for, trace) && !step_from(model_, from, is_alike, trace) &&
        !way_from(model_, from, stands_for, trace))
      return {};
  }
  return trace;
}

}  // namespace lockstep::symmetry
