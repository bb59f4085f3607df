#include "checker/symmetry/automorphisms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_set>

#include "checker/support/diagnostic.hpp"
#include "checker/symmetry/loops.hpp"

namespace lockstep::symmetry {

namespace {

using recorded::Declaration;
using recorded::RecordedRule;
using recorded::RigidFunction;
using Permutation = std::vector<std::uint8_t>;

// Candidates looked at, at most: beyond these, symmetries of many types at once may be missed.
constexpr std::size_t most_candidates = 200'000;
// All permutations of so many members that look alike are candidates; of more, those that are their own
// inverses.
constexpr int all_permuted = 4;
constexpr int most_members = 9;

// What names members, as it reads once members are renamed.
struct Naming {
  const RecordedRule* rule = nullptr;
  const recorded::Expression* claim = nullptr;
  std::set<std::pair<std::string, int>> members;
  [[nodiscard]] std::string text(const Renaming& renaming, const std::vector<NotMeant>& not_meant) const {
    if (rule == nullptr) return normal_text(*claim, renaming);
    // What is counted by name stays under its name.
    return (rule->thread < 0 ? rule->name : "") + "\n" + normal_text(*rule, renaming, not_meant);
  }
};

std::size_t moved(const Permutation& permutation) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < permutation.size(); ++i) n += permutation[i] != i ? 1 : 0;
  return n;
}

// `looks`: of each member; only members that look the same become each other.
std::vector<Permutation> candidates_of(const std::vector<std::string>& looks) {
  std::vector<std::size_t> p(looks.size());
  std::iota(p.begin(), p.end(), std::size_t{0});
  std::vector<bool> many;
  for (const std::string& look : looks)
    many.push_back(std::count(looks.begin(), looks.end(), look) > all_permuted);
  std::vector<Permutation> all;
  do {
    bool fits = true;
    for (std::size_t i = 0; i < p.size() && fits; ++i)
      fits = looks[p[i]] == looks[i] && (!many[i] || p[p[i]] == i);
    if (fits) all.emplace_back(p.begin(), p.end());
  } while (std::next_permutation(p.begin(), p.end()));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return moved(a) < moved(b); });
  return all;
}

// Index types of which elements of their own stand in a state, or in a tree: loops over them are spelt out.
void collect_unrolled(const Declaration& d, std::set<std::string>& types) {
  if (d.unrolled || d.kind == Declaration::Kind::queue) types.insert(d.over.begin(), d.over.end());
  for (const Declaration& part : d.parts) collect_unrolled(part, types);
}

class Search {
 public:
  Search(const recorded::WholeDescription& whole, const Model& model, const PackedLayout& layout,
         const std::vector<NotMeant>& not_meant)
      : whole_(whole), layout_(layout), not_meant_(not_meant) {
    for (const RecordedRule& rule : whole.rules) note(Naming{&rule, nullptr, {}}, rule_namings_);
    for (const auto* claims : {&whole.assertions, &whole.invariants}) {
      for (const auto& claim : *claims) note(Naming{nullptr, &claim.predicate, {}}, claim_namings_);
    }
    if (whole.proper_end) note(Naming{nullptr, &whole.proper_end, {}}, end_namings_);
    restore_.name = "restore";
    restore_.guard = recorded::constant(recorded::bool_type, "true");
    restore_.action = whole.restore;
    note(Naming{&restore_, nullptr, {}}, rule_namings_);
    for (const std::string& function : applied_) {
      if (std::none_of(whole.functions.begin(), whole.functions.end(),
                       [&](const RigidFunction& f) { return f.name == function; }))
        throw std::logic_error("nothing is known of the function '" + function + "'");
    }
    words_ = std::max(1U, model.words());
    initial_.clear(words_);
    model.initial(initial_);
    for (std::size_t i = 0; i < initial_.size(); ++i)
      starts_.emplace(initial_.state(i), initial_.state(i) + words_);
  }

  Automorphisms run(const std::vector<std::string>& wanted) {
    choose_types(wanted);
    Renaming none;
    for (const std::string& type : types_) {
      candidates_[type] = candidates_of(looks_of(type));
      none[type] = candidates_[type].front();
    }
    group_ = {flat(none)};
    in_group_ = {group_.front()};
    std::vector<Renaming> all;
    Renaming chosen;
    enumerate(0, chosen, all);
    std::stable_sort(all.begin(), all.end(),
                     [](const Renaming& a, const Renaming& b) { return moved_by(a) < moved_by(b); });
    for (const Renaming& candidate : all) {
      if (in_group_.contains(flat(candidate)) || !is_automorphism(candidate)) continue;
      add(candidate);
    }
    Automorphisms found;
    for (const std::string& element : group_) found.elements.push_back(unflat(element));
    for (const std::string& type : types_) {
      const bool renamed = std::any_of(found.elements.begin(), found.elements.end(),
                                       [&](const Renaming& one) { return moved(one.at(type)) != 0; });
      if (renamed) {
        found.types.push_back(type);
      } else {
        found.refused.push_back(why_not(type));
      }
    }
    found.refused.insert(found.refused.end(), refused_.begin(), refused_.end());
    found.all = all_;
    return found;
  }

 private:
  void note(Naming naming, std::vector<Naming>& among) {
    Mentions mentions(not_meant_);
    if (naming.rule != nullptr) mentions.of(*naming.rule);
    if (naming.claim != nullptr) mentions.of(*naming.claim);
    for (const auto& [type, interchangeable] : mentions.types)
      interchangeable_.try_emplace(type, interchangeable);
    taken_over_.insert(mentions.taken_over.begin(), mentions.taken_over.end());
    applied_.insert(mentions.functions.begin(), mentions.functions.end());
    naming.members = std::move(mentions.members);
    if (!naming.members.empty()) among.push_back(std::move(naming));
  }

  // ---- which types ----

  void choose_types(const std::vector<std::string>& wanted) {
    std::set<std::string> unrolled;
    collect_unrolled(whole_.state, unrolled);
    std::vector<std::string> names;
    for (const auto& [type, extent] : whole_.extents) names.push_back(type);
    for (const std::string& name : wanted) {
      if (!whole_.extents.contains(name))
        throw BadInput(fmt::format("there is no index type '{}'", name), suggestion(name, names));
    }
    const std::set<std::string> together = with_bound(wanted);
    const std::map<std::string, std::string> ordered = ordered_loops(whole_);
    for (const auto& [type, extent] : whole_.extents) {
      if (!wanted.empty() && !together.contains(type)) continue;
      const auto known = interchangeable_.find(type);
      std::string why;
      if (known == interchangeable_.end()) {
        why = "no rule is about it";
      } else if (!known->second || unrolled.contains(type)) {
        why = "its members are known by their numbers";
      } else if (ordered.contains(type)) {
        why = fmt::format("'{}' has a loop over it whose order may matter", ordered.at(type));
      } else if (extent > most_members) {
        why = fmt::format("it has {} members, and of more than {} none are renamed", extent, most_members);
      } else if (extent < 2) {
        why = fmt::format("it has {} member{}", extent, extent == 1 ? "" : "s");
      } else {
        types_.push_back(type);
        continue;
      }
      if (std::find(wanted.begin(), wanted.end(), type) != wanted.end())
        refused_.push_back(fmt::format("{}: {}", type, why));
    }
  }
  // What is bound to one type is renamed with it: a thread's CU.
  [[nodiscard]] std::set<std::string> with_bound(const std::vector<std::string>& wanted) const {
    std::set<std::string> all(wanted.begin(), wanted.end());
    for (std::size_t before = 0; before != all.size();) {
      before = all.size();
      const auto bind = [&](const std::string& one, const std::string& other) {
        if (all.contains(one) && !other.empty()) all.insert(other);
        if (all.contains(other)) all.insert(one);
      };
      for (const RigidFunction& f : whole_.functions) {
        if (applied_.contains(f.name)) bind(f.from, f.to);
      }
      for (const auto& [from, to] : taken_over_) bind(from, to);
    }
    return all;
  }

  // ---- candidates ----

  // What each member of a type looks like to those who forget the names of all others: a renaming keeps that.
  // In which order statements come may then depend on names that are forgotten, so of each text its
  // characters are compared, in whatever order.
  [[nodiscard]] std::vector<std::string> looks_of(const std::string& type) const {
    const auto extent = static_cast<std::size_t>(whole_.extents.at(type));
    Renaming alike;
    for (const std::string& one : types_)
      alike[one].assign(static_cast<std::size_t>(whole_.extents.at(one)), 0);
    std::vector<std::string> looks;
    for (std::size_t member = 0; member < extent; ++member) {
      alike[type].assign(extent, 0);
      alike[type][member] = 1;
      std::multiset<std::string> texts;
      for (const auto* namings : {&rule_namings_, &claim_namings_, &end_namings_}) {
        for (const Naming& naming : *namings) {
          if (!naming.members.contains({type, static_cast<int>(member)})) continue;
          std::string text = naming.text(alike, not_meant_);
          std::sort(text.begin(), text.end());
          texts.insert(std::move(text));
        }
      }
      std::string& look = looks.emplace_back();
      for (const std::string& text : texts) look += text + "\f";
    }
    return looks;
  }

  static std::size_t moved_by(const Renaming& renaming) {
    std::size_t n = 0;
    for (const auto& [type, permutation] : renaming) n += moved(permutation);
    return n;
  }

  void enumerate(std::size_t next, Renaming& chosen, std::vector<Renaming>& all) {
    if (all.size() >= most_candidates) {
      all_ = false;
      return;
    }
    if (next == types_.size()) {
      all.push_back(chosen);
      return;
    }
    const std::string& type = types_[next];
    for (const Permutation& candidate : candidates_[type]) {
      chosen[type] = candidate;
      if (keeps_functions(chosen)) enumerate(next + 1, chosen, all);
    }
    chosen.erase(type);
  }

  // Of those between types that have been chosen for.
  [[nodiscard]] bool keeps_functions(const Renaming& renaming) const {
    const auto renamed = [&](const std::string& type, std::size_t member) {
      const auto found = renaming.find(type);
      return found == renaming.end() ? member : std::size_t{found->second.at(member)};
    };
    const auto is_open = [&](const std::string& type) {
      return candidates_.contains(type) && !renaming.contains(type);
    };
    for (const RigidFunction& f : whole_.functions) {
      if (!applied_.contains(f.name) || is_open(f.from) || is_open(f.to)) continue;
      for (std::size_t i = 0; i < f.image.size(); ++i) {
        const std::size_t j = renamed(f.from, i);
        if (j >= f.image.size()) return false;
        const auto image = static_cast<std::size_t>(f.image[i]);
        const bool in_range = f.to.empty() || !candidates_.contains(f.to) ||
                              image < static_cast<std::size_t>(whole_.extents.at(f.to));
        const std::size_t expected = f.to.empty() || !in_range ? image : renamed(f.to, image);
        if (static_cast<std::size_t>(f.image[j]) != expected) return false;
      }
    }
    for (const auto& [from, to] : taken_over_) {
      if (is_open(from) || is_open(to)) continue;
      const int common = std::min(whole_.extents.at(from), whole_.extents.at(to));
      for (int i = 0; i < std::max(whole_.extents.at(from), whole_.extents.at(to)); ++i) {
        const auto member = static_cast<std::size_t>(i);
        const std::size_t left = i < whole_.extents.at(from) ? renamed(from, member) : member;
        const std::size_t right = i < whole_.extents.at(to) ? renamed(to, member) : member;
        if (left != right || (i < common && left >= static_cast<std::size_t>(common))) return false;
      }
    }
    return true;
  }

  // ---- is it one? ----

  // Whether what names members reads the same once they are renamed, as a whole.
  [[nodiscard]] const Naming* changed(const std::vector<Naming>& namings, const Renaming& renaming) const {
    const auto is_moved = [&](const std::pair<std::string, int>& member) {
      const auto found = renaming.find(member.first);
      return found != renaming.end() &&
             found->second.at(static_cast<std::size_t>(member.second)) != member.second;
    };
    std::vector<const Naming*> touched;
    for (const Naming& naming : namings) {
      if (std::any_of(naming.members.begin(), naming.members.end(), is_moved)) touched.push_back(&naming);
    }
    std::multiset<std::string> texts;
    for (const Naming* naming : touched) texts.insert(naming->text({}, not_meant_));
    for (const Naming* naming : touched) {
      const auto found = texts.find(naming->text(renaming, not_meant_));
      if (found == texts.end()) return naming;
      texts.erase(found);
    }
    return nullptr;
  }

  [[nodiscard]] bool keeps_starts(const Renaming& renaming) const {
    std::vector<std::uint64_t> state(words_);
    return std::all_of(starts_.begin(), starts_.end(), [&](const auto& start) {
      layout_.rename(start.data(), renaming, words_, state.data());
      return starts_.contains(state);
    });
  }

  [[nodiscard]] bool is_automorphism(const Renaming& renaming) const {
    return changed(rule_namings_, renaming) == nullptr && changed(claim_namings_, renaming) == nullptr &&
           changed(end_namings_, renaming) == nullptr && keeps_starts(renaming);
  }

  // Why no two members of a type change places, by themselves or with those of other types.
  [[nodiscard]] std::string why_not(const std::string& type) {
    Renaming swap = unflat(group_.front());
    std::swap(swap[type][0], swap[type][1]);
    std::string why = "with whatever else is renamed";
    if (const Naming* naming = changed(rule_namings_, swap)) {
      const RecordedRule& rule = *naming->rule;
      why = rule.thread >= 0 && whole_.program != nullptr
                ? fmt::format("what a thread of the program does names {}", text_of(*naming, type))
                : fmt::format("'{}' names {}", rule.name, text_of(*naming, type));
    } else if (changed(claim_namings_, swap) != nullptr) {
      why = "an invariant or assertion names members of it";
    } else if (changed(end_namings_, swap) != nullptr) {
      why = "what is a proper end names members of it";
    } else if (!keeps_functions(swap)) {
      why = "the machine tells its members apart";
    } else if (!keeps_starts(swap)) {
      why = "initial states tell its members apart";
    }
    return fmt::format("{}: {}", type, why);
  }
  static std::string text_of(const Naming& naming, const std::string& type) {
    std::string text;
    for (const auto& [of, member] : naming.members) {
      if (of == type) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, member);
    }
    return text.empty() ? "members that go with it" : text;
  }

  // ---- the group ----

  [[nodiscard]] std::string flat(const Renaming& renaming) const {
    std::string all;
    for (const auto& [type, permutation] : renaming) all.append(permutation.begin(), permutation.end());
    return all;
  }
  [[nodiscard]] Renaming unflat(const std::string& all) const {
    Renaming renaming;
    std::set<std::string> ordered(types_.begin(), types_.end());
    std::size_t at = 0;
    for (const std::string& type : ordered) {
      const auto extent = static_cast<std::size_t>(whole_.extents.at(type));
      Permutation& permutation = renaming[type];
      for (std::size_t i = 0; i < extent; ++i) permutation.push_back(static_cast<std::uint8_t>(all[at + i]));
      at += extent;
    }
    return renaming;
  }
  // First the one, then the other.
  [[nodiscard]] std::string product(const std::string& first, const std::string& second) const {
    std::string both(first.size(), '\0');
    for (std::size_t i = 0, begin = 0; i < first.size(); ++i) {
      begin = begins_[i];
      both[i] = second[begin + static_cast<std::uint8_t>(first[i])];
    }
    return both;
  }

  void add(const Renaming& generator) {
    if (begins_.empty()) {
      for (const auto& [type, permutation] : generator) {
        const std::size_t begin = begins_.size();
        begins_.insert(begins_.end(), permutation.size(), begin);
      }
    }
    auto generators = generators_;
    generators.push_back(flat(generator));
    std::vector<std::string> group{group_.front()};
    std::unordered_set<std::string> known{group_.front()};
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (const std::string& one : generators) {
        std::string made = product(group[i], one);
        if (known.insert(made).second) group.push_back(std::move(made));
        if (group.size() > most_elements) {
          all_ = false;
          return;
        }
      }
    }
    generators_ = std::move(generators);
    group_ = std::move(group);
    in_group_ = std::move(known);
  }

  const recorded::WholeDescription& whole_;
  const PackedLayout& layout_;
  const std::vector<NotMeant>& not_meant_;
  RecordedRule restore_;  // what gives derived fields their values
  std::vector<Naming> rule_namings_;
  std::vector<Naming> claim_namings_;
  std::vector<Naming> end_namings_;
  std::map<std::string, bool> interchangeable_;
  std::set<std::pair<std::string, std::string>> taken_over_;
  Successors initial_;
  unsigned words_ = 1;
  std::set<std::vector<std::uint64_t>> starts_;
  std::vector<std::string> types_;
  std::set<std::string> applied_;  // rigid functions
  std::vector<std::string> refused_;
  std::map<std::string, std::vector<Permutation>> candidates_;
  std::vector<std::string> generators_;
  std::vector<std::string> group_;
  std::unordered_set<std::string> in_group_;
  std::vector<std::size_t> begins_;  // by place in a flat renaming: where its type's begin
  bool all_ = true;
};

}  // namespace

Automorphisms automorphisms_of(const recorded::WholeDescription& whole, const Model& model,
                               const PackedLayout& layout, const std::vector<NotMeant>& not_meant,
                               const std::vector<std::string>& wanted) {
  return Search(whole, model, layout, not_meant).run(wanted);
}

}  // namespace lockstep::symmetry
