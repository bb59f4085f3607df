// The deque of a work-first runtime, by the THE protocol: its worker pushes and pops tasks at the tail T
// without a lock, thieves steal at the head H under one, and the worker takes the lock only where it may
// have met a thief. The worker pushes all its tasks, then pops until there are none; each task counts how
// often it is taken.
//
// Source: Frigo, Leiserson and Randall, "The implementation of the Cilk-5 multithreaded language" (PLDI
// 1998), section 5, the simplified protocol, without exceptions; Hechtman's thesis (2014), 5.3, names it as
// what work-first runtimes do and GPUs are bad at. Its code assumes sequential consistency; the variant
// `as-printed` has relaxed atomics for H and T, plain tasks, and a lock that acquires and releases. The
// default adds what weaker memory needs:
//  - a fence (`sc`) between the worker's store of T and its load of H, and one between a thief's store of H
//    and its load of T: each has to see the other's, or be seen;
//  - T is stored with release when a task is pushed, and loaded with acquire by a thief, which reads the
//    task.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "spec/sync/assembler.hpp"
#include "spec/sync/parameters.hpp"

namespace lockstep::sync {

inline constexpr std::array the_deque_variants{
    Variant{"default", "with two fences, and tasks published"},
    Variant{"as-printed", "as for sequentially consistent memory"},
};
inline constexpr std::array the_deque_faults{
    Fault{"pop-unfenced", "no fence between the worker's T and H"},
    Fault{"steal-unfenced", "no fence between a thief's H and T"},
    Fault{"push-relaxed", "T is stored without release when a task is pushed"},
    Fault{"steal-relaxed", "T is loaded without acquire by a thief"},
    Fault{"pop-without-lock", "the worker looks at H once, and takes the task where H is T"},
    Fault{"steal-without-lock", "thieves take no lock"},
};
inline constexpr std::array the_deque_parameters{
    SyncParameter{"tasks", "that the worker pushes", 1, 3, 2},
    SyncParameter{"thieves", "work-groups, of one thread each", 1, 5, 1},
    SyncParameter{"steals", "how often each thief tries", 1, 3, 1},
};

class TheDeque {
 public:
  explicit TheDeque(const SyncChoice& choice) : choice_(choice), program_(choice.name()) {
    head_ = program_.word("H");
    tail_ = program_.word("T");
    lock_ = program_.word("lock");
    tasks_ = program_.words_together("task", choice["tasks"]);
    taken_ = program_.words_together("taken", choice["tasks"]);
    worker();
    for (int i = 0; i < choice["thieves"]; ++i) thief(i + 1);
    for (const Word taken : taken_) program_.finally(taken, 1);
    program_.finally(lock_, 0);
  }
  Program take() { return program_.take(); }

 private:
  static constexpr Scope scope = Scope::agent;

  [[nodiscard]] bool has(std::string_view repair_without) const {
    return !choice_.is("as-printed") && !choice_.has(repair_without);
  }
  void lock(CodeOf& thread) const { thread.wait_cas(lock_, 0, 1, acquire(scope)); }
  void unlock(CodeOf& thread) const { thread.store(lock_, 0, release(scope)); }

  // Takes the task of that number, which a thread has to itself.
  void execute(CodeOf& thread, Register number, Register scratch) const {
    const Label done = thread.label();
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const Label other = thread.label();
      if (i + 1 < tasks_.size()) {
        thread.branch_unequal(number, static_cast<int>(i), other);
      } else {
        thread.require(number, Comparison::equal, static_cast<int>(i));
      }
      thread.load(scratch, tasks_[i]);
      thread.require(scratch, Comparison::equal, 1);
      thread.update(RmwFunction::add, taken_[i], 1, relaxed(scope));
      if (i + 1 < tasks_.size()) {
        thread.jump(done);
        thread.place(other);
      }
    }
    thread.place(done);
    thread.move(scratch, 0);
  }

  void worker() {
    CodeOf thread = program_.thread({.wg = 0});
    const Register t = thread.reg("t");
    const Register h = thread.reg("h");
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      thread.store(tasks_[i], 1);
      thread.store(tail_, static_cast<int>(i) + 1, has("push-relaxed") ? release(scope) : relaxed(scope));
    }
    thread.move(t, choice_["tasks"]);
    const Label again = thread.here_is();
    const Label alone = thread.label();
    const Label empty = thread.label();
    thread.subtract(t, t, 1);
    thread.store(tail_, t, relaxed(scope));
    if (has("pop-unfenced")) thread.fence({Order::sc, scope});
    thread.load(h, head_, relaxed(scope));
    thread.branch(t, Comparison::greater_equal, h, alone);
    thread.add(t, t, 1);
    thread.store(tail_, t, relaxed(scope));
    if (choice_.has("pop-without-lock")) {
      thread.branch(t, Comparison::less, h, empty);
      thread.subtract(t, t, 1);
    } else {
      lock(thread);
      thread.subtract(t, t, 1);
      thread.store(tail_, t, relaxed(scope));
      thread.load(h, head_, relaxed(scope));
      const Label mine = thread.label();
      thread.branch(t, Comparison::greater_equal, h, mine);
      thread.add(t, t, 1);
      thread.store(tail_, t, relaxed(scope));
      unlock(thread);
      thread.jump(empty);
      thread.place(mine);
      unlock(thread);
    }
    thread.place(alone);
    execute(thread, t, h);
    thread.jump(again);
    thread.place(empty);
    thread.move(h, 0);
    thread.finish();
  }

  void thief(int group) {
    CodeOf thread = program_.thread({.wg = group});
    const Register h = thread.reg("h");
    const Register t = thread.reg("t");
    const bool locks = !choice_.has("steal-without-lock");
    for (int i = 0; i < choice_["steals"]; ++i) {
      const Label stolen = thread.label();
      const Label next = thread.label();
      if (locks) lock(thread);
      thread.load(h, head_, relaxed(scope));
      thread.add(h, h, 1);
      thread.store(head_, h, relaxed(scope));
      if (has("steal-unfenced")) thread.fence({Order::sc, scope});
      thread.load(t, tail_, has("steal-relaxed") ? acquire(scope) : relaxed(scope));
      thread.branch(t, Comparison::greater_equal, h, stolen);
      thread.subtract(h, h, 1);
      thread.store(head_, h, relaxed(scope));
      if (locks) unlock(thread);
      thread.jump(next);
      thread.place(stolen);
      if (locks) unlock(thread);
      thread.subtract(h, h, 1);
      execute(thread, h, t);
      thread.place(next);
      thread.move(h, 0);
      thread.move(t, 0);
    }
    thread.finish();
  }

  const SyncChoice& choice_;
  Assembler program_;
  Word head_;
  Word tail_;
  Word lock_;
  std::vector<Word> tasks_;
  std::vector<Word> taken_;
};

inline Program the_deque(const SyncChoice& choice) {
  return TheDeque(choice).take();
}

}  // namespace lockstep::sync
