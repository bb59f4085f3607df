// The decentralized ticket lock: each work-group waits at a queue entry of its own, and the holder unlocks
// the next one. An entry is 1 where its work-group may go in, else -1.
//
// Source: Dutu et al., "Independent Forward Progress of Work-groups" (2020), Fig. 10: (a), left, with a wait
// instruction, and (b), right, with waiting atomics. One instruction serves both: a waiting atomic, which a
// scheduler that has the wait instruction splits into the load and the arming of its monitor. What is left of
// the difference is the work-group's inner loop, which shows with two waves (variant `wait-instruction`).
//
//  - The print adds 16 to the tail, for entries in cache lines of their own, and does not say what follows
//    the last entry. Here the entries are a ring, as many as work-groups, since no more tickets are out at
//    once; or as many as `entries` says.
//  - The text has the holder lock its own entry "to begin its critical section"; the code does so at the
//    beginning of its end (l. 24), which nobody can tell: nobody else looks at the entry in between.
//  - No order is printed. "lock acquire" and "lock release" stand beside the load and the last exchange.
//    HeteroSync's code (cudaLocksMutexSleep.cu) has a fence behind the load, and one behind the exchanges:
//    variant `as-released`, and with `narrow=1` SleepMutexLocal.
//  - With waves=2 a second wave comes along as printed: it does nothing inside the critical section. Unlock
//    begins with a work-group barrier, for the lock is held for both.
#pragma once

#include <array>
#include <vector>

#include "spec/sync/critical_section.hpp"

namespace lockstep::sync {

inline constexpr std::array decentralized_variants{
    Variant{"default", "Fig. 10 (b): a waiting atomic, and no barrier in the loop"},
    Variant{"wait-instruction", "Fig. 10 (a), as printed: __syncthreads() in a loop that a wave may skip"},
    Variant{"as-released", "HeteroSync's code: relaxed accesses, and the fence behind the exchanges"}};
inline constexpr std::array decentralized_faults{
    Fault{"entry-not-reset", "the holder leaves its own entry unlocked (l. 24 is missing)"},
    Fault{"handed-over-relaxed", "the next entry is unlocked without a release"},
    Fault{"two-entries-unlocked", "two entries are unlocked to begin with"},
};
inline constexpr std::array decentralized_parameters{
    SyncParameter{"threads", "work-groups", 1, most_work_groups, 2}, rounds_parameter,
    SyncParameter{"waves", "of a work-group", 1, 2, 1},
    SyncParameter{"entries", "of the ring; 0: one a work-group", 0, most_work_groups, 0},
    narrow_fences_parameter};

class DecentralizedTicketLock {
 public:
  explicit DecentralizedTicketLock(const SyncChoice& choice)
      : choice_(choice),
        groups_(choice["threads"]),
        entries_(choice["entries"] > 0 ? choice["entries"] : groups_),
        rounds_(choice["rounds"]),
        orders_(choice),
        program_(choice.name()),
        tail_(program_.word("tail")),
        critical_(program_, groups_, rounds_) {
    add_queue();
    if (two_waves()) add_shared();
    for (int g = 0; g < groups_; ++g) {
      leader(g);
      if (two_waves()) second_wave(g);
    }
    if (rounds_ > 0) {
      const int next = groups_ * rounds_ % entries_;
      program_.finally("every ticket was drawn", tail_, next);
      for (int i = 0; i < entries_; ++i) {
        program_.finally(entry(i), i == next ? 1 : -1);
      }
    }
  }
  Program take() { return program_.take(); }

 private:
  static constexpr Scope agent = Scope::agent;
  static constexpr Scope wg = Scope::wg;

  [[nodiscard]] bool two_waves() const { return choice_["waves"] == 2; }
  [[nodiscard]] Word entry(int i) const { return queue_[static_cast<std::size_t>(i % entries_)]; }
  [[nodiscard]] Word acquired(int g) const { return acquired_[static_cast<std::size_t>(g)]; }

  // Entries have blocks of their own as far as there are blocks.
  void add_queue() {
    const bool apart = entries_ + (two_waves() ? 1 : 0) <= 3;
    for (int i = 0; i < entries_; ++i) {
      const bool open = i == 0 || (i == 1 && choice_.has("two-entries-unlocked"));
      const std::string name = "entry" + std::to_string(i);
      const bool fresh = apart || i % 4 == 0;
      queue_.push_back(fresh ? program_.word(name, open ? 1 : -1)
                             : program_.word_beside(queue_.back(), name, open ? 1 : -1));
    }
  }
  void add_shared() { acquired_ = program_.words_together("acquired", groups_); }

  // `at(entry)` for the entry that the ticket names, which only a chain of branches can say.
  template <class At>
  void by_ticket(CodeOf& thread, Register ticket, At at) const {
    const Label done = thread.label();
    for (int i = 0; i < entries_; ++i) {
      const bool last = i + 1 == entries_;
      const Label other = thread.label();
      if (!last) thread.branch_unequal(ticket, i, other);
      at(i);
      if (!last) thread.jump(done);
      thread.place(other);
    }
    thread.place(done);
  }

  void leader(int g) {
    CodeOf thread = program_.thread({.wg = g});
    const Register ticket = thread.reg("ticket");
    const Register r = thread.reg("r");
    repeat(thread, rounds_, [&] {
      thread.update(RmwFunction::increment, ticket, tail_, entries_ - 1, relaxed(agent));  // l. 5
      if (two_waves()) {
        thread.update(RmwFunction::exchange, acquired(g), 0, relaxed(wg));  // l. 6
        thread.barrier();                                                   // (a) l. 8, (b) l. 9
      }
      if (two_waves() && choice_.is("wait-instruction")) {
        lock_with_wait_instruction(thread, ticket, r, g);
      } else {
        by_ticket(thread, ticket, [&](int i) { thread.wait_load(r, entry(i), 1, orders_.take()); });
        orders_.fence_inside(thread);
        if (two_waves()) thread.update(RmwFunction::exchange, acquired(g), 1, release(wg));  // (b) l. 15
      }
      critical_.execute(thread, r);
      if (two_waves()) thread.barrier();
      unlock(thread, ticket);
      thread.move(ticket, 0);
    });
    thread.finish();
  }

  void unlock(CodeOf& thread, Register ticket) const {
    by_ticket(thread, ticket, [&](int i) {
      if (!choice_.has("entry-not-reset")) {
        thread.update(RmwFunction::exchange, entry(i), -1, relaxed(agent));  // l. 24
      }
      thread.update(RmwFunction::exchange, entry(i + 1), 1,
                    orders_.give(choice_.has("handed-over-relaxed")));  // l. 25
    });
    orders_.fence_inside(thread);  // which here is outside
  }

  void lock_with_wait_instruction(CodeOf& thread, Register ticket, Register r, int g) const {
    const Label out = thread.label();
    const Label meet = thread.label();
    const Label again = thread.here_is();  // l. 9
    thread.load(r, acquired(g), acquire(wg));
    thread.branch_equal(r, 1, out);
    by_ticket(thread, ticket, [&](int i) { thread.load(r, entry(i), acquire(agent)); });  // l. 11
    thread.branch_unequal(r, 1, meet);
    thread.update(RmwFunction::exchange, acquired(g), 1, release(wg));  // l. 12
    thread.place(meet);
    thread.barrier();                          // l. 15
    thread.load(r, acquired(g), acquire(wg));  // l. 16
    thread.branch_equal(r, 1, again);
    by_ticket(thread, ticket, [&](int i) { thread.wait_load(r, entry(i), 1, acquire(agent)); });  // l. 17
    thread.jump(again);
    thread.place(out);
  }

  void second_wave(int g) {
    CodeOf thread = program_.thread({.wg = g});
    const Register r = thread.reg("r");
    repeat(thread, rounds_, [&] {
      const Label out = thread.label();
      thread.barrier();
      const Label again = thread.here_is();
      thread.load(r, acquired(g), acquire(wg));
      thread.branch_equal(r, 1, out);
      // In (a) it meets its leader in the loop; at the wait it has nothing to wait for that its leader has
      // not.
      if (choice_.is("wait-instruction")) thread.barrier();
      thread.jump(again);
      thread.place(out);
      thread.move(r, 0);
      thread.barrier();
    });
    thread.finish();
  }

  const SyncChoice& choice_;
  int groups_;
  int entries_;
  int rounds_;
  LockOrders orders_;
  Assembler program_;
  Word tail_;
  CriticalSection critical_;
  std::vector<Word> queue_;
  std::vector<Word> acquired_;
};

inline Program decentralized_ticket_lock(const SyncChoice& choice) {
  return DecentralizedTicketLock(choice).take();
}

}  // namespace lockstep::sync
