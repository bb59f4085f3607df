// Reader-writer semaphores: a reader takes one permit, a writer all of them. SpinSem guards the number of
// permits with a lock that everybody contends for; PriorSem adds a flag with which those that leave hold back
// those that enter; SleepSem has no lock.
//
// Source: Dalmia, thesis, ch. 4: SpinSem is Fig. 4.4, PriorSem Fig. 4.8. Its `post` enters and its `wait`
// leaves; atomics are relaxed at agent scope, __threadfence() is a fence at agent scope, and the number of
// permits is plain data under the lock. Backoff takes time only (backoff.hpp): SpinSemEBO and PriorSemEBO are
// these with `backoff`, after each failure to enter, as HeteroSync has it; who leaves tries again at once.
//
// What is printed, and what the variants are:
//  - `acqLock` becomes true with the lock, whether or not there were permits (4.4 (a) l. 7, 4.8 (a) l. 11): a
//    thread that found too few enters without. Repaired: it tries again.
//  - One brace is missing in 4.4 (a), 4.4 (b) and 4.8 (b). Closing the loop where 4.8 (a), which balances,
//    closes it, the lock is released behind the loop, by its owner. Closing it at the end, as the indentation
//    of l. 11-12 has it, every turn of the loop releases the lock, also that of a thread which did not get
//    it. Between a fence and its neighbour, or behind __syncthreads(), a brace changes nothing with one wave.
//    Closing it earlier than l. 9 would take the number of permits out of the lock's conditional.
//  - HeteroSync's code of SpinSem (cudaLocksSemaphoreEBO.cu) differs in a word that a writer sets when it
//  finds too
//    few permits, and clears when it gets in; a reader that finds it set has failed, too (`as-released`).
//  - The flag of PriorSem is one bit for all who leave, and each sets it once: whoever gets out first clears
//    it for the others as well (4.8 (b) l. 12-14, 18). Repaired: it is set again after every failure. The
//    code published with HeteroSync counts those who leave instead (variant `counted`).
//
// SleepSem, of which 4.2.1.2 prints no code, has no lock: "each thread attempting to join the semaphore must
// a) check if there is space in the semaphore and, once there is space b) update the semaphore", two
// accesses. The thesis leaves it out for livelock.
//  - as-released is the code of HeteroSync (cudaLocksSemaphoreSleep.cu), which does neither: it counts those
//    who have come, and whoever finds too many draws a ticket and waits until as many have left. Its fences
//    behind entry are of the block.
//  - as-described: a) and b) and nothing else. More get in than there are permits.
//  - gives-back: whoever finds at b) that somebody came between a) and b) undoes b) and begins anew.
//  - default: b) is a compare-and-swap that expects what a) has read.
//
// Threads that begin inside (`leaving`) are readers that have their permits and only leave.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "spec/sync/backoff.hpp"
#include "spec/sync/critical_section.hpp"

namespace lockstep::sync {

inline constexpr std::array spin_semaphore_variants{
    Variant{"default", "tries again where there are too few permits; the owner releases the lock"},
    Variant{"unlock-in-loop", "the last brace of Fig. 4.4 at its end, permits repaired"},
    Variant{"as-printed", "Fig. 4.4, its missing brace where Fig. 4.8 (a) has one"},
    Variant{"as-printed-unlock-in-loop", "Fig. 4.4, its missing brace at the end"},
    Variant{"as-released", "HeteroSync's code: the default, and readers stay out while a writer waits"},
};
inline constexpr std::array prior_semaphore_variants{
    Variant{"default", "permits repaired; the flag is set after every failure"},
    Variant{"counted", "permits repaired; the flag counts those who leave"},
    Variant{"flag", "permits repaired, nothing else: each sets the flag once"},
    Variant{"unlock-in-loop", "permits repaired; the missing brace of Fig. 4.8 (b) at its end"},
    Variant{"as-printed", "Fig. 4.8, its missing brace behind l. 15"},
    Variant{"as-printed-17", "Fig. 4.8, its missing brace behind l. 17: each turn releases the lock"},
    Variant{"as-printed-18", "Fig. 4.8, its missing brace behind l. 18: and clears the flag"},
    Variant{"as-printed-20", "Fig. 4.8, its missing brace at the end: and may set it again"},
};
inline constexpr std::array sleep_semaphore_variants{
    Variant{"default", "permits are taken by a compare-and-swap that expects what was checked"},
    Variant{"gives-back", "takes permits, and gives them back if there were too few after all"},
    Variant{"as-described", "4.2.1.2: checks, then updates, in two steps"},
    Variant{"as-released", "HeteroSync's code: counts who has come, and hands out tickets"},
};
inline constexpr std::array semaphore_faults{
    Fault{"writer-takes-one", "a writer takes and gives back one permit"},
    Fault{"leaves-without-lock", "the number of permits is updated without the lock on the way out"},
    Fault{"unlock-unfenced", "no fence in front of the exchange that releases the lock"},
};
inline constexpr std::array prior_semaphore_faults{
    semaphore_faults[0],
    semaphore_faults[1],
    semaphore_faults[2],
    Fault{"priority-never-cleared", "the flag stays up (l. 18 is missing)"},
};
inline constexpr std::array sleep_semaphore_faults{
    semaphore_faults[0],
    Fault{"enters-unfenced", "no fence behind taking permits"},
    Fault{"leaves-unfenced", "no fence in front of giving them back"},
};
inline constexpr std::array semaphore_parameters{
    SyncParameter{"readers", "work-groups that enter to read", 0, most_work_groups, 1},
    SyncParameter{"writers", "work-groups that enter to write", 0, most_work_groups, 1},
    SyncParameter{"size", "permits", 1, most_work_groups, 2},
    rounds_parameter,
    SyncParameter{"leaving", "readers that begin inside and only leave", 0, most_work_groups, 0},
    SyncParameter{"accesses", "more words that writers write, and each reader its part of them", 0, 1000, 0},
    backoff_parameter,
};

// What threads do with a semaphore, however it is entered and left.
class ReadersAndWriters {
 public:
  virtual ~ReadersAndWriters() = default;
  ReadersAndWriters(const ReadersAndWriters&) = delete;
  ReadersAndWriters& operator=(const ReadersAndWriters&) = delete;

  Program take() {
    x_ = program_.word("x");
    y_ = program_.word_beside(x_, "y");
    more_ = program_.words_together("more", choice_["accesses"]);
    for (int t = 0; t < choice_["leaving"]; ++t) leaving();
    for (int t = 0; t < readers_; ++t) entering(false, t);
    for (int t = 0; t < writers_; ++t) entering(true, t);
    if (rounds_ > 0) {
      program_.finally("all permits are back", permits_, counts_up_ ? 0 : size_);
      claim_at_end();
      program_.finally("every write counts", x_, writers_ * rounds_);
      for (const Word word : more_) program_.finally(word, writers_ * rounds_);
    }
    return program_.take();
  }

 protected:
  static constexpr Access atomically = relaxed(Scope::agent);
  static constexpr Access fully = acq_rel(Scope::agent);

  explicit ReadersAndWriters(const SyncChoice& choice)
      : choice_(choice),
        readers_(choice["readers"]),
        writers_(choice["writers"]),
        size_(choice["size"]),
        rounds_(choice["rounds"]),
        program_(choice.name()),
        backoff_(choice),
        inside_(program_.section("no more are inside than there are permits", size_)) {
    const std::string leaving = "leaving=" + std::to_string(choice_["leaving"]);
    if (choice_["leaving"] > size_) {
      throw std::invalid_argument(leaving + " is more than there are permits: size=" + std::to_string(size_));
    }
    if (rounds_ == 0 && choice_["accesses"] > 0)
      throw std::invalid_argument("accesses count, and in endless rounds (rounds=0) without end");
    if (readers_ + writers_ + choice_["leaving"] == 0) {
      throw std::invalid_argument("readers, writers and leaving are all 0: there is no thread");
    }
  }

  // After a failure to enter.
  void back_off(CodeOf& thread, bool writer) const {
    writer ? backoff_.pause(thread) : backoff_.pause_a_little_longer(thread);
  }

  // `r` is 0 before and after `leave`; between the two it is the reader's or writer's.
  virtual void enter(CodeOf& thread, Register r, bool writer) const = 0;
  virtual void leave(CodeOf& thread, Register r, bool writer) const = 0;

  // Of its own words.
  virtual void claim_at_end() {}
  // Where its own words come before it.
  void place_permits() { permits_ = program_.word("permits", size_ - choice_["leaving"]); }
  // The number of those who have them, in place of those that are left.
  void place_count() {
    permits_ = program_.word("count", choice_["leaving"]);
    counts_up_ = true;
  }
  // decAmt and incAmt, l. 2.
  [[nodiscard]] int amount(bool writer) const {
    return writer && !choice_.has("writer-takes-one") ? size_ : 1;
  }

  const SyncChoice& choice_;
  int readers_;
  int writers_;
  int size_;
  int rounds_;
  Assembler program_;
  Backoff backoff_;
  Claim inside_;
  Word permits_;
  bool counts_up_ = false;

 private:
  [[nodiscard]] CodeOf next_thread() { return program_.thread({.wg = threads_++}); }

  void leaving() {
    CodeOf thread = next_thread();
    const Register r = thread.reg("r");
    thread.enter(inside_);
    read(thread, r);
    thread.exit(inside_);
    leave(thread, r, false);
    thread.finish();
  }

  void entering(bool writer, int number) {
    CodeOf thread = next_thread();
    const Register r = thread.reg("r");
    backoff_.prepare(thread);
    repeat(thread, rounds_, [&] {
      backoff_.restart(thread);
      enter(thread, r, writer);
      thread.enter(inside_, writer ? size_ : 1);
      writer ? write(thread, r) : read(thread, r);
      writer ? write_more(thread, r) : read_more(thread, r, number);
      thread.exit(inside_);
      leave(thread, r, writer);
      thread.move(r, 0);
    });
    thread.finish();
  }

  // A writer changes both words, a reader finds them equal.
  void write(CodeOf& thread, Register r) const {
    if (rounds_ == 0) {
      thread.store(x_, thread.number() + 1);
      thread.store(y_, thread.number() + 1);
      return;
    }
    thread.load(r, x_);
    thread.add(r, r, 1);
    thread.store(x_, r);
    thread.store(y_, r);
  }
  void read(CodeOf& thread, Register r) const {
    const Register s = thread.reg("s");
    thread.load(r, x_);
    thread.load(s, y_);
    thread.require(r, Comparison::equal, s);
    thread.move(r, 0);
    thread.move(s, 0);
  }

  void write_more(CodeOf& thread, Register r) const {
    for (const Word word : more_) {
      thread.load(r, word);
      thread.add(r, r, 1);
      thread.store(word, r);
    }
  }
  // "Each access a fraction (1/N)" (4.4.2): N are those readers that there are to a writer.
  void read_more(CodeOf& thread, Register r, int number) const {
    const int parts = std::max(1, readers_ / std::max(1, writers_));
    const int words = static_cast<int>(more_.size());
    const int part = number % parts;
    for (int w = part * words / parts; w < (part + 1) * words / parts; ++w)
      thread.load(r, more_[static_cast<std::size_t>(w)]);
  }

  Word x_;
  Word y_;
  std::vector<Word> more_;
  int threads_ = 0;
};

class LockedSemaphore final : public ReadersAndWriters {
 public:
  LockedSemaphore(const SyncChoice& choice, bool has_priority)
      : ReadersAndWriters(choice), has_priority_(has_priority), lock_(program_.word("lock")) {
    place_permits();
    if (has_priority_) priority_ = program_.word("priority");
    if (writers_wait()) waiting_ = program_.word_beside(permits_, "writerWaiting");
  }

 private:
  [[nodiscard]] bool permits_repaired() const {
    return choice_.is("default") || choice_.is("counted") || choice_.is("flag") ||
           choice_.is("unlock-in-loop") || choice_.is("as-released");
  }
  [[nodiscard]] bool writers_wait() const { return choice_.is("as-released"); }
  [[nodiscard]] bool unlocks_in_loop_of_entry() const {
    return choice_.is("as-printed-unlock-in-loop") || (choice_.is("unlock-in-loop") && !has_priority_);
  }
  [[nodiscard]] bool unlocks_in_loop_of_exit() const {
    return unlocks_in_loop_of_entry() || choice_.is("unlock-in-loop") || choice_.is("as-printed-17") ||
           choice_.is("as-printed-18") || choice_.is("as-printed-20");
  }
  [[nodiscard]] bool clears_in_loop() const {
    return choice_.is("unlock-in-loop") || choice_.is("as-printed-18") || choice_.is("as-printed-20");
  }
  [[nodiscard]] bool sets_again() const {
    return choice_.is("default") || choice_.is("unlock-in-loop") || choice_.is("as-printed-20");
  }
  [[nodiscard]] bool counts_leavers() const { return choice_.is("counted"); }

  void unlock(CodeOf& thread) const {
    if (!choice_.has("unlock-unfenced")) thread.fence_once(fully);
    thread.update(RmwFunction::exchange, lock_, 0, atomically);
  }

  // Fig. 4.4 (a), with Fig. 4.8 (a) l. 6-8.
  void enter(CodeOf& thread, Register r, bool writer) const override {
    const int taken = amount(writer);
    const Label mine = thread.label();
    const Label too_few = thread.label();
    const Label inside = thread.label();
    const Label again = thread.here_is();
    if (has_priority_) let_leave(thread, r, writer);
    thread.cas(r, lock_, 0, 1, atomically);
    if (unlocks_in_loop_of_entry() || backoff_.is_any()) {
      thread.branch_equal(r, 0, mine);
      if (unlocks_in_loop_of_entry()) unlock(thread);
      back_off(thread, writer);
      thread.jump(again);
    } else {
      thread.branch_unequal(r, 0, again);
    }
    thread.place(mine);
    thread.fence(fully);
    if (writers_wait() && !writer) {
      thread.load(r, waiting_);
      thread.branch_unequal(r, 0, too_few);
    }
    thread.load(r, permits_);
    thread.branch(r, Comparison::less, taken, too_few);
    thread.subtract(r, r, taken);
    thread.store(permits_, r);
    if (permits_repaired()) {
      if (writers_wait() && writer) thread.store(waiting_, 0);
      unlock(thread);
      thread.jump(inside);
      thread.place(too_few);
      if (writers_wait() && writer) thread.store(waiting_, 1);
      unlock(thread);
      back_off(thread, writer);
      thread.jump(again);
    } else {
      thread.place(too_few);
      unlock(thread);
    }
    thread.place(inside);
  }

  // Fig. 4.8 (a) l. 6-8.
  void let_leave(CodeOf& thread, Register r, bool writer) const {
    if (!backoff_.is_any()) return thread.wait_cas(priority_, 0, 0, atomically);
    const Label nobody = thread.label();
    const Label again = thread.here_is();
    thread.cas(r, priority_, 0, 0, atomically);
    thread.branch_equal(r, 0, nobody);
    back_off(thread, writer);
    thread.jump(again);
    thread.place(nobody);
  }

  // Fig. 4.4 (b), with Fig. 4.8 (b) l. 11-15 and 18-19.
  void leave(CodeOf& thread, Register r, bool writer) const override {
    const Label mine = thread.label();
    if (has_priority_ && counts_leavers()) thread.update(RmwFunction::add, priority_, 1, atomically);
    if (!choice_.has("leaves-without-lock")) {
      take_lock_to_leave(thread, r, mine);
      thread.fence(fully);
    }
    thread.load(r, permits_);
    thread.add(r, r, amount(writer));
    thread.store(permits_, r);
    if (choice_.has("leaves-without-lock")) {
      thread.fence(fully);
    } else {
      unlock(thread);
    }
    if (has_priority_) lower(thread);
  }

  void take_lock_to_leave(CodeOf& thread, Register r, Label mine) const {
    const bool flag = has_priority_ && !counts_leavers();
    const bool once = flag && !sets_again();  // setPriority is a register
    const Register set = once ? thread.reg("set") : Register{};
    const Label failed = thread.label();
    const Label again = thread.here_is();
    thread.cas(r, lock_, 0, 1, atomically);
    if (!flag && !unlocks_in_loop_of_exit()) {
      thread.branch_unequal(r, 0, again);
    } else {
      thread.branch_equal(r, 0, mine);
      if (once) thread.branch_unequal(set, 0, failed);
      if (flag) thread.update(RmwFunction::bit_or, priority_, 1, atomically);
      if (once) thread.move(set, 1);
      thread.place(failed);
      if (unlocks_in_loop_of_exit()) unlock(thread);
      if (flag && clears_in_loop()) thread.update(RmwFunction::bit_and, priority_, 0, atomically);
      thread.jump(again);
    }
    thread.place(mine);
    if (once) thread.move(set, 0);  // l. 19
  }

  void lower(CodeOf& thread) const {
    if (choice_.has("priority-never-cleared")) return;
    if (counts_leavers()) {
      thread.update(RmwFunction::subtract, priority_, 1, atomically);
    } else {
      thread.update(RmwFunction::bit_and, priority_, 0, atomically);
    }
  }

  void claim_at_end() override {
    program_.finally("the lock is free", lock_, 0);
    if (has_priority_) program_.finally("nobody has priority", priority_, 0);
    if (writers_wait()) program_.finally("no writer waits", waiting_, 0);
  }

  bool has_priority_;
  Word lock_;
  Word priority_;
  Word waiting_;
};

// The number of permits without a lock.
class LockFreeSemaphore final : public ReadersAndWriters {
 public:
  explicit LockFreeSemaphore(const SyncChoice& choice) : ReadersAndWriters(choice) { place_permits(); }

 private:
  void enter(CodeOf& thread, Register r, bool writer) const override {
    const int taken = amount(writer);
    const Label again = thread.here_is();
    thread.load(r, permits_, atomically);
    if (backoff_.is_any()) {
      const Label enough = thread.label();
      thread.branch(r, Comparison::greater_equal, taken, enough);
      back_off(thread, writer);
      thread.jump(again);
      thread.place(enough);
    } else {
      thread.branch(r, Comparison::less, taken, again);
    }
    if (choice_.is("default")) {
      const Register wanted = thread.reg("wanted");
      const Register seen = thread.reg("seen");
      thread.subtract(wanted, r, taken);
      thread.cas(seen, permits_, r, wanted, atomically);
      thread.branch_unequal(seen, r, again);
      thread.move(wanted, 0);
      thread.move(seen, 0);
    } else if (choice_.is("as-described")) {
      thread.update(RmwFunction::subtract, permits_, taken, atomically);
    } else {
      const Label inside = thread.label();
      thread.update(RmwFunction::subtract, r, permits_, taken, atomically);
      thread.branch(r, Comparison::greater_equal, taken, inside);
      thread.update(RmwFunction::add, permits_, taken, atomically);
      thread.jump(again);
      thread.place(inside);
    }
    if (!choice_.has("enters-unfenced")) thread.fence(fully);
    thread.move(r, 0);
  }
  void leave(CodeOf& thread, Register, bool writer) const override {
    if (!choice_.has("leaves-unfenced")) thread.fence(fully);
    thread.update(RmwFunction::add, permits_, amount(writer), atomically);
  }
};

// HeteroSync's. Those who wait are in one line, readers and writers, and a writer waits for its own permits
// as well.
class ReleasedSleepSemaphore final : public ReadersAndWriters {
 public:
  explicit ReleasedSleepSemaphore(const SyncChoice& choice) : ReadersAndWriters(choice) {
    place_count();
    head_ = program_.word_beside(permits_, "head");
    tail_ = program_.word_beside(permits_, "tail");
  }

 private:
  void enter(CodeOf& thread, Register r, bool writer) const override {
    const Label inside = thread.label();
    const Register ticket = thread.reg("ticket");
    thread.update(RmwFunction::add, r, permits_, amount(writer), atomically);
    thread.branch(r, writer ? Comparison::equal : Comparison::less, size_, inside);
    thread.update(RmwFunction::add, ticket, tail_, 1, atomically);
    const Label again = thread.here_is();
    thread.load(r, head_, atomically);
    thread.branch(ticket, Comparison::greater_equal, r, again);
    if (writer) {
      thread.update(RmwFunction::add, r, permits_, 0, atomically);
      thread.branch_unequal(r, 0, again);
    }
    thread.fence(acq_rel(Scope::wg));
    thread.place(inside);
    thread.move(ticket, 0);
    thread.move(r, 0);
  }
  void leave(CodeOf& thread, Register r, bool writer) const override {
    const Label done = thread.label();
    thread.update(RmwFunction::subtract, r, permits_, amount(writer), atomically);
    thread.branch(size_, Comparison::greater_equal, r, done);
    thread.fence(fully);
    thread.update(RmwFunction::add, head_, 1, atomically);
    thread.place(done);
    thread.move(r, 0);
  }

  Word head_;
  Word tail_;
};

inline Program spin_semaphore(const SyncChoice& choice) {
  return LockedSemaphore(choice, false).take();
}
inline Program prior_semaphore(const SyncChoice& choice) {
  return LockedSemaphore(choice, true).take();
}
inline Program sleep_semaphore(const SyncChoice& choice) {
  if (choice.is("as-released")) return ReleasedSleepSemaphore(choice).take();
  return LockFreeSemaphore(choice).take();
}

}  // namespace lockstep::sync
