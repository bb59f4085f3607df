// The centralized ticket lock: draw a number, wait until it is served.
//
// Source: named by Dutu et al., "Independent Forward Progress of Work-groups" (2020), Table 2 (FAMutex, and
// FAMutexLocal: `narrow=1`); no code is printed, and the default is the usual one. Tickets are drawn with
// atomicInc, which wraps, at the number of threads: no more are out at once, so that endless rounds are
// finitely many states. HeteroSync's (cudaLocksMutexFA.cu) wrap at a thousand million. In its code for HIP
// (hipLocksMutexFA.h) tickets do, and turns are added to: variant `turn-not-wrapped`, else as the default.
//
// With waves=2 a second wave of each work-group comes along, and does what is inside on a word of its own. In
// the default it waits at the work-group's barrier. HeteroSync's code has all waves ask a word of the
// work-group whether its leader has the lock, in a loop with one barrier: variant `as-released`.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "spec/sync/critical_section.hpp"

namespace lockstep::sync {

inline constexpr std::array ticket_lock_variants{
    Variant{"default", "tickets and turns count modulo threads"},
    Variant{"as-released", "HeteroSync's code: fences, and one barrier in the loop that waits"},
    Variant{"turn-not-wrapped", "tickets count modulo threads, and turns do not, as in its code for HIP"}};
inline constexpr std::array ticket_lock_faults{
    Fault{"two-tickets", "it draws two tickets and takes the first"},
    Fault{"turn-relaxed", "the turn is passed on without a release"},
    Fault{"turn-not-read-to-acquire", "seeing one's turn acquires nothing"},
};
inline constexpr std::array ticket_lock_parameters{
    SyncParameter{"threads", "work-groups", 1, most_work_groups, 2}, rounds_parameter,
    SyncParameter{"waves", "of a work-group", 1, 2, 1}, narrow_fences_parameter};

class TicketLock {
 public:
  explicit TicketLock(const SyncChoice& choice)
      : choice_(choice),
        groups_(choice["threads"]),
        rounds_(choice["rounds"]),
        orders_(choice),
        program_(choice.name()),
        next_(program_.word("next")),
        serving_(program_.word("serving")),
        critical_(program_, groups_, rounds_) {
    if (two_waves()) {
      second_.emplace(program_, groups_, rounds_, " second wave");
      if (orders_.fences()) have_ = program_.words_together("have", groups_);
    }
    for (int g = 0; g < groups_; ++g) {
      leader(g);
      if (two_waves()) second_wave(g);
    }
    if (rounds_ > 0) {
      program_.finally("every ticket was drawn", next_, 0);
      if (!choice_.is("turn-not-wrapped")) program_.finally("every ticket was served", serving_, 0);
    }
  }
  Program take() { return program_.take(); }

 private:
  static constexpr Scope agent = Scope::agent;
  static constexpr Scope wg = Scope::wg;

  [[nodiscard]] bool two_waves() const { return choice_["waves"] == 2; }
  // Whether the work-group asks a shared word whether it has the lock.
  [[nodiscard]] bool shares() const { return !have_.empty(); }
  [[nodiscard]] Word have(int g) const { return have_[static_cast<std::size_t>(g)]; }
  void meet(CodeOf& thread) const {
    if (two_waves()) thread.barrier();
  }

  void leader(int g) {
    CodeOf thread = program_.thread({.wg = g});
    const Register ticket = thread.reg("ticket");
    const Register r = thread.reg("r");
    const bool blind = choice_.has("turn-not-read-to-acquire");
    repeat(thread, rounds_, [&] {
      meet(thread);
      thread.update(RmwFunction::increment, ticket, next_, groups_ - 1, relaxed(agent));
      if (choice_.has("two-tickets")) {
        thread.update(RmwFunction::increment, next_, groups_ - 1, relaxed(agent));
      }
      if (shares()) {
        thread.store(have(g), 0, relaxed(wg));
        thread.barrier();
        const Label out = thread.label();
        const Label not_yet = thread.label();
        const Label again = thread.here_is();
        thread.load(r, have(g), relaxed(wg));
        thread.branch_equal(r, 1, out);
        thread.load(r, serving_, relaxed(agent));
        thread.branch_unequal(r, ticket, not_yet);
        orders_.fence_inside(thread, blind);
        thread.store(have(g), 1, relaxed(wg));
        thread.place(not_yet);
        thread.barrier();
        thread.jump(again);
        thread.place(out);
        thread.move(r, 0);
      } else {
        thread.wait_load(ticket, serving_, ticket, orders_.take(blind));
        orders_.fence_inside(thread, blind);
        meet(thread);
      }
      thread.move(ticket, 0);
      critical_.execute(thread, r);
      meet(thread);
      orders_.fence_inside(thread, choice_.has("turn-relaxed"));
      const Access hands_over = orders_.give(choice_.has("turn-relaxed"));
      if (choice_.is("turn-not-wrapped")) {
        thread.update(RmwFunction::add, serving_, 1, hands_over);
      } else {
        thread.update(RmwFunction::increment, serving_, groups_ - 1, hands_over);
      }
      meet(thread);
    });
    thread.finish();
  }

  void second_wave(int g) {
    CodeOf thread = program_.thread({.wg = g});
    const Register r = thread.reg("r");
    repeat(thread, rounds_, [&] {
      thread.barrier();
      thread.barrier();
      if (shares()) {
        const Label out = thread.label();
        const Label again = thread.here_is();
        thread.load(r, have(g), relaxed(wg));
        thread.branch_equal(r, 1, out);
        thread.barrier();
        thread.jump(again);
        thread.place(out);
        thread.move(r, 0);
      }
      second_->execute(thread, r);
      thread.barrier();
      thread.barrier();
    });
    thread.finish();
  }

  const SyncChoice& choice_;
  int groups_;
  int rounds_;
  LockOrders orders_;
  Assembler program_;
  Word next_;
  Word serving_;
  CriticalSection critical_;
  std::optional<CriticalSection> second_;
  std::vector<Word> have_;
};

inline Program ticket_lock(const SyncChoice& choice) {
  return TicketLock(choice).take();
}

}  // namespace lockstep::sync
