// What threads do between acquiring a lock and releasing it, and how often.
//
// In finite rounds they count: a lost increment shows in the end, also where the lock excludes others well
// and hands over an old copy. In endless rounds, whose values have to stay small, each writes its own number
// and reads it again.
#pragma once

#include <stdexcept>
#include <string>

#include "spec/sync/assembler.hpp"
#include "spec/sync/parameters.hpp"

namespace lockstep::sync {

inline constexpr SyncParameter rounds_parameter{"rounds", "how often each thread goes in; 0: for ever", 0,
                                                1000, 1};

// HeteroSync's local locks are those of one CU, with fences that reach one work-group
// (__threadfence_block()), and atomics that reach the device.
inline constexpr SyncParameter narrow_fences_parameter{
    "narrow", "1: fences at work-group scope, as in the local forms (as-released alone has fences)", 0, 1, 0};

// How a lock orders what is inside: by its own accesses, or as released by relaxed ones and fences.
class LockOrders {
 public:
  explicit LockOrders(const SyncChoice& choice)
      : fences_(choice.is("as-released")), scope_(choice["narrow"] == 1 ? Scope::wg : Scope::agent) {
    if (choice["narrow"] == 1 && !fences_)
      throw std::invalid_argument("narrow=1 needs the variant as-released");
  }
  [[nodiscard]] bool fences() const { return fences_; }
  [[nodiscard]] Access take(bool orders_nothing = false) const {
    return fences_ || orders_nothing ? relaxed(Scope::agent) : acquire(Scope::agent);
  }
  [[nodiscard]] Access give(bool orders_nothing = false) const {
    return fences_ || orders_nothing ? relaxed(Scope::agent) : release(Scope::agent);
  }
  // Behind what takes the lock, or in front of what gives it away.
  void fence_inside(CodeOf& thread, bool orders_nothing = false) const {
    if (fences_ && !orders_nothing) thread.fence(acq_rel(scope_));
  }

 private:
  bool fences_;
  Scope scope_;
};

// `body()` as often as asked for. The counter ends where it began, so that it tells no states apart.
template <class Body>
void repeat(CodeOf& thread, int rounds, Body body) {
  if (rounds == 1) return body();
  if (rounds == 0) {
    const Label again = thread.here_is();
    body();
    return thread.jump(again);
  }
  const Register round = thread.reg("round");
  const Label again = thread.here_is();
  body();
  thread.add(round, round, 1);
  thread.branch_unequal(round, rounds, again);
  thread.move(round, 0);
}

// The critical section of a lock, around one word. `scratch` is 0 before and after. `who`: of which waves,
// where not all have the same word.
struct CriticalSection {
  Claim inside;
  Word data;
  bool counts;

  CriticalSection(Assembler& program, int threads, int rounds, const std::string& who = "")
      : inside(program.section("one" + who + " is in the critical section", 1)),
        data(program.word(who.empty() ? "data" : "data2")),
        counts(rounds > 0) {
    if (counts) program.finally("every increment" + who + " counts", data, threads * rounds);
  }

  void execute(CodeOf& thread, Register scratch) const {
    const int own = thread.number() + 1;
    thread.enter(inside);
    if (counts) {
      thread.load(scratch, data);
      thread.add(scratch, scratch, 1);
      thread.store(data, scratch);
    } else {
      thread.store(data, own);
      thread.load(scratch, data);
      thread.require(scratch, Comparison::equal, own);
    }
    thread.exit(inside);
    thread.move(scratch, 0);
  }
};

}  // namespace lockstep::sync
