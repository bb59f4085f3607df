// Which fields are not meant follows from what is pushed: a push that leaves a field at its default does not
// mean it, in messages of the kind that it gives; one that copies both from another message means it where
// that does. A field has to be one or the other in all messages of a kind. Then each rule is read with a
// message known to be of such a kind: what is left of it may copy the field to where it is not meant either,
// and do nothing else.
#include "checker/symmetry/messages.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

namespace lockstep::symmetry {

namespace {

using recorded::Expression;
using recorded::Op;
using recorded::Path;
using recorded::RecordedRule;
using recorded::Segment;
using recorded::Sort;
using recorded::Statement;

// The members that an expression may be; none where that is not seen.
std::optional<std::set<std::string>> members(const Expression& e) {
  if (e->op == Op::constant) return std::set{e->text};
  if (e->op != Op::select) return std::nullopt;
  auto one = members(e->children[1]);
  const auto other = members(e->children[2]);
  if (!one || !other) return std::nullopt;
  one->insert(other->begin(), other->end());
  return one;
}

// Messages are told apart by the paths that lead to them; the head that a triggered rule consumes is another
// than the head after it. Its guard sees the one that will be consumed.

// The length of the part of a path that leads to a message of the queue, or 0.
std::size_t to_message(const Path& path, const std::string& queue) {
  for (std::size_t n = 2; n < path.size(); ++n) {
    const std::string& name = path[n - 1].name;
    const bool is_message = name == "head" || name == "entry" || name.starts_with("slot");
    if (is_message && names_of({path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n - 1)}) == queue)
      return n;
  }
  return 0;
}

// What tells the message apart that the first `n` segments lead to; `trigger` where it is a guard that looks.
std::string message_at(const Path& path, std::size_t n, const Path* trigger) {
  const Path to(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n));
  const bool is_consumed =
      std::any_of(to.begin(), to.end(), [](const Segment& segment) { return segment.consumed; }) ||
      (trigger != nullptr && !trigger->empty() && print(to) == print(*trigger) + ".head");
  return print(to) + (is_consumed ? "!" : "");
}

// Within a message: "payload.mutex".
std::string within(const Path& path, std::size_t message) {
  return print(Path(path.begin() + static_cast<std::ptrdiff_t>(message), path.end()));
}

// What is known of a message: its kind.
struct Assumption {
  std::string queue;
  std::string message;
  std::string field;  // that holds the kind
  std::string kind;
};

struct Push {
  std::string queue;
  std::vector<std::pair<std::string, Expression>> row;
  [[nodiscard]] Expression value(const std::string& field) const {
    const auto found =
        std::find_if(row.begin(), row.end(), [&](const auto& one) { return one.first == field; });
    return found == row.end() ? nullptr : found->second;
  }
};

// A tree in which a message is known to be of a kind: what cannot happen then is not in it, and variables are
// what they stand for.
class Known {
 public:
  explicit Known(const Assumption* assumption) : assumption_(assumption) {}

  // Calls `expression(e)` for what is left of the guard and the action, `push(p)` for each push, and
  // `path(p)` for what is written.
  template <class OnExpression, class OnPush, class OnPath>
  void read(const RecordedRule& rule, OnExpression&& expression, OnPush&& push, OnPath&& path) {
    trigger_ = &rule.trigger;
    const Expression guard = fold(rule.guard);
    if (recorded::is_constant(guard, "false")) return;
    expression(guard);
    trigger_ = nullptr;
    path(fold(rule.trigger));
    read(rule.action, expression, push, path);
  }
  Expression fold(const Expression& e) {
    switch (e->op) {
      case Op::read: {
        if (assumption_ != nullptr) {
          const std::size_t n = to_message(e->path, assumption_->queue);
          if (n != 0 && within(e->path, n) == assumption_->field &&
              message_at(e->path, n, trigger_) == assumption_->message)
            return recorded::constant(e->type, assumption_->kind);
        }
        auto node = std::make_shared<recorded::Node>(*e);
        node->path = fold(e->path);
        return node;
      }
      case Op::local: {
        const auto found = locals_.find(e->text);
        return found == locals_.end() ? e : found->second;
      }
      case Op::not_:
        return recorded::negation(fold(e->children[0]));
      case Op::and_:
        return recorded::conjunction(fold(e->children[0]), fold(e->children[1]));
      case Op::or_:
        return recorded::disjunction(fold(e->children[0]), fold(e->children[1]));
      case Op::select:
        return recorded::choice(fold(e->children[0]), fold(e->children[1]), fold(e->children[2]));
      case Op::equal:
      case Op::not_equal:
        return recorded::comparison(e->op, fold(e->children[0]), fold(e->children[1]));
      case Op::constant:
      case Op::parameter:
        return e;
      default: {
        auto node = std::make_shared<recorded::Node>(*e);
        for (Expression& child : node->children) child = fold(child);
        node->path = fold(e->path);
        return node;
      }
    }
  }
  Path fold(Path path) {
    for (Segment& segment : path) {
      for (Expression& index : segment.index) index = fold(index);
    }
    return path;
  }

 private:
  template <class OnExpression, class OnPush, class OnPath>
  void read(const std::vector<Statement>& block, OnExpression& expression, OnPush& push, OnPath& path) {
    for (const Statement& s : block) {
      switch (s.kind) {
        case Statement::Kind::let:
          // It is looked at where it is used.
          locals_[s.name] = fold(s.value);
          break;
        case Statement::Kind::when: {
          const Expression condition = fold(s.value);
          if (!recorded::is_constant(condition, "false")) read(s.then, expression, push, path);
          if (!recorded::is_constant(condition, "true")) read(s.otherwise, expression, push, path);
          if (condition->op != Op::constant) expression(condition);
          break;
        }
        case Statement::Kind::for_each:
          read(s.then, expression, push, path);
          break;
        case Statement::Kind::push:
        case Statement::Kind::push_front: {
          Push made{names_of(s.target), {}};
          for (const auto& [name, value] : s.row) made.row.emplace_back(name, fold(value));
          path(fold(s.target));
          push(made);
          break;
        }
        case Statement::Kind::assign:
          expression(fold(s.value));
          path(fold(s.target));
          break;
        case Statement::Kind::pop:
          path(fold(s.target));
          break;
      }
    }
  }

  const Assumption* assumption_;
  const Path* trigger_ = nullptr;  // within a guard
  std::map<std::string, Expression> locals_;
};

// A field of a queue's messages that may be not meant, and the kinds of the messages in which it is left at
// its default and in which it is not.
struct Candidate {
  std::string queue;
  std::string field;
  std::string kind;
  std::set<std::string> left;
  std::set<std::string> meant;
  bool is_possible = true;
};

// Something that a push copies from a message of a queue.
struct Copied {
  const Candidate* of = nullptr;
  std::string message;
};

// The messages of a queue that a tree names.
class Messages {
 public:
  explicit Messages(const std::string& queue) : queue_(queue) {}
  void of(const RecordedRule& rule) {
    trigger_ = &rule.trigger;
    of(rule.guard);
    trigger_ = nullptr;
    of(rule.trigger);
    of(rule.action);
  }
  void of(const Expression& e) {
    if (!e) return;
    if (e->op == Op::read && to_message(e->path, queue_) != 0) latest = std::max(latest, e->time);
    of(e->path);
    for (const Expression& child : e->children) of(child);
  }
  void of(const Path& path) {
    if (const std::size_t n = to_message(path, queue_); n != 0) found.insert(message_at(path, n, trigger_));
    for (const Segment& segment : path) {
      for (const Expression& index : segment.index) of(index);
    }
  }
  void of(const std::vector<Statement>& block) {
    for (const Statement& s : block) {
      of(s.target);
      of(s.value);
      for (const auto& [name, value] : s.row) of(value);
      of(s.then);
      of(s.otherwise);
    }
  }
  std::set<std::string> found;
  std::size_t latest = 0;  // after how many statements one is looked at last

 private:
  const std::string& queue_;
  const Path* trigger_ = nullptr;
};

// After how many statements the queue's head may be another message, first, otherwise than by a trigger; or
// never.
std::size_t first_change(const std::vector<Statement>& block, const std::string& queue, std::size_t& time) {
  std::size_t first = ~std::size_t{0};
  for (const Statement& s : block) {
    if (s.kind != Statement::Kind::when && s.kind != Statement::Kind::for_each) ++time;
    const bool is_of_queue = s.kind == Statement::Kind::pop || s.kind == Statement::Kind::push ||
                             s.kind == Statement::Kind::push_front;
    if (is_of_queue && names_of(s.target) == queue) first = std::min(first, time);
    first = std::min({first, first_change(s.then, queue, time), first_change(s.otherwise, queue, time)});
  }
  return first;
}

class Fields {
 public:
  explicit Fields(const recorded::WholeDescription& whole) : whole_(whole) {
    for (const RecordedRule& rule : whole.rules) {
      for (const Push& push : pushes(rule, nullptr)) note(push);
    }
  }

  std::vector<NotMeant> run() {
    do {
      classify();
    } while (drop_one());
    std::vector<NotMeant> found;
    for (const Candidate& c : candidates_) {
      if (c.is_possible && !c.left.empty()) found.push_back({c.queue, c.field, c.kind, c.left});
    }
    return found;
  }

 private:
  static std::vector<Push> pushes(const RecordedRule& rule, const Assumption* assumption) {
    std::vector<Push> all;
    Known(assumption)
        .read(
            rule, [](const Expression&) {}, [&](const Push& push) { all.push_back(push); },
            [](const Path&) {});
    return all;
  }

  void note(const Push& push) {
    if (find(push.queue, "") != nullptr) return;
    const auto kind = std::find_if(push.row.begin(), push.row.end(), [](const auto& field) {
      return field.second->type.sort == Sort::enumeration;
    });
    if (kind == push.row.end()) return;
    for (const auto& [field, value] : push.row) {
      if (value->type.sort == Sort::index)
        candidates_.push_back({push.queue, field, kind->first, {}, {}, true});
    }
  }
  // Any of the queue where no field is named.
  [[nodiscard]] const Candidate* find(const std::string& queue, const std::string& field) const {
    const auto found = std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) {
      return c.queue == queue && (field.empty() || (c.field == field && c.is_possible));
    });
    return found == candidates_.end() ? nullptr : &*found;
  }

  [[nodiscard]] Copied copied(const Expression& value) const {
    if (value->op != Op::read) return {};
    for (const Candidate& c : candidates_) {
      const std::size_t n = to_message(value->path, c.queue);
      if (n != 0 && c.is_possible && within(value->path, n) == c.field)
        return {&c, message_at(value->path, n, nullptr)};
    }
    return {};
  }

  void classify() {
    for (Candidate& c : candidates_) {
      c.left.clear();
      c.meant.clear();
    }
    std::size_t before = ~std::size_t{0};
    for (std::size_t now = 0; now != before;) {
      before = now;
      for (const RecordedRule& rule : whole_.rules) {
        for (const Push& push : pushes(rule, nullptr)) {
          for (Candidate& c : candidates_) {
            if (c.queue == push.queue && c.is_possible) classify(rule, push, c);
          }
        }
      }
      now = 0;
      for (const Candidate& c : candidates_) now += c.left.size() + c.meant.size();
    }
  }
  void classify(const RecordedRule& rule, const Push& push, Candidate& c) const {
    const Expression value = push.value(c.field);
    const Copied from = copied(value);
    if (from.of == nullptr) {
      add(members(push.value(c.kind)), is_left(value) ? c.left : c.meant, c);
      return;
    }
    for (const bool left : {true, false}) {
      for (const std::string& kind : left ? std::set(from.of->left) : std::set(from.of->meant)) {
        const Assumption assumption{from.of->queue, from.message, from.of->kind, kind};
        for (const Push& made : pushes(rule, &assumption)) {
          if (made.queue != c.queue) continue;
          const Copied again = copied(made.value(c.field));
          if (again.of == from.of && again.message == from.message)
            add(members(made.value(c.kind)), left ? c.left : c.meant, c);
        }
      }
    }
  }
  static void add(const std::optional<std::set<std::string>>& kinds, std::set<std::string>& to,
                  Candidate& c) {
    if (kinds) {
      to.insert(kinds->begin(), kinds->end());
    } else {
      c.is_possible = false;  // nobody sees of which kind it is
    }
  }

  // Whether one of them turned out not to be possible.
  bool drop_one() {
    for (Candidate& c : candidates_) {
      if (!c.is_possible || c.left.empty()) continue;
      const bool both =
          std::any_of(c.left.begin(), c.left.end(), [&](const auto& kind) { return c.meant.contains(kind); });
      if (both || somebody_looks(c)) {
        c.is_possible = false;
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool somebody_looks(const Candidate& c) const {
    for (const RecordedRule& rule : whole_.rules) {
      Messages messages(c.queue);
      messages.of(rule);
      // What is at the head then is another message.
      std::size_t time = 0;
      if (messages.latest >= first_change(rule.action, c.queue, time)) return true;
      for (const std::string& message : messages.found) {
        for (const std::string& kind : c.left) {
          if (looks(rule, c, {c.queue, message, c.kind, kind})) return true;
        }
      }
    }
    std::vector<Expression> claims{whole_.proper_end};
    for (const auto* all : {&whole_.invariants, &whole_.assertions}) {
      for (const auto& claim : *all) claims.push_back(claim.predicate);
    }
    for (const Expression& claim : claims) {
      if (!claim) continue;
      Messages messages(c.queue);
      messages.of(claim);
      for (const std::string& message : messages.found) {
        for (const std::string& kind : c.left) {
          const Assumption assumption{c.queue, message, c.kind, kind};
          if (is_in(Known(&assumption).fold(claim), c, message)) return true;
        }
      }
    }
    return false;
  }

  [[nodiscard]] bool looks(const RecordedRule& rule, const Candidate& c, const Assumption& assumption) const {
    bool looks = false;
    const auto look = [&](const Expression& e) { looks |= is_in(e, c, assumption.message); };
    Known(&assumption)
        .read(
            rule, [&](const Expression& e) { looks |= is_in_guard(e, c, assumption.message, rule.trigger); },
            [&](const Push& push) {
              for (const auto& [field, value] : push.row) {
                const Copied from = copied(value);
                const bool is_passed_on = from.of == &c && from.message == assumption.message &&
                                          is_left_in(push, find(push.queue, field));
                if (!is_passed_on) look(value);
              }
            },
            [&](const Path& path) {
              // Messages are made whole, and do not change on the way.
              looks |= to_message(path, c.queue) != 0;
              for (const Segment& segment : path) {
                for (const Expression& index : segment.index) look(index);
              }
            });
    return looks;
  }
  // Whether a message that is pushed does not mean that field either.
  static bool is_left_in(const Push& push, const Candidate* field) {
    if (field == nullptr) return false;
    const auto kinds = members(push.value(field->kind));
    return kinds && std::all_of(kinds->begin(), kinds->end(),
                                [&](const std::string& kind) { return field->left.contains(kind); });
  }
  // In what stands for the guard as well as for the action, a head that is going to be consumed is that
  // message.
  static bool is_in_guard(const Expression& e, const Candidate& c, const std::string& message,
                          const Path& trigger) {
    return is_in(e, c, message, &trigger);
  }
  static bool is_in(const Expression& e, const Candidate& c, const std::string& message,
                    const Path* trigger = nullptr) {
    if (!e) return false;
    const std::size_t n = e->op == Op::read ? to_message(e->path, c.queue) : 0;
    if (n != 0 && within(e->path, n) == c.field && message_at(e->path, n, trigger) == message) return true;
    for (const Segment& segment : e->path) {
      for (const Expression& index : segment.index) {
        if (is_in(index, c, message, trigger)) return true;
      }
    }
    return std::any_of(e->children.begin(), e->children.end(),
                       [&](const Expression& child) { return is_in(child, c, message, trigger); });
  }

  const recorded::WholeDescription& whole_;
  std::vector<Candidate> candidates_;
};

}  // namespace

bool is_left(const Expression& value) {
  return value->op == Op::constant && value->type.sort == Sort::index && value->text == "0";
}

std::string names_of(const Path& path) {
  std::string names;
  for (const Segment& segment : path) names += (names.empty() ? "" : ".") + segment.name;
  return names;
}

std::vector<NotMeant> fields_not_meant(const recorded::WholeDescription& whole) {
  return Fields(whole).run();
}

}  // namespace lockstep::symmetry
