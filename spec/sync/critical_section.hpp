// What threads do between acquiring a lock and releasing it, and how often.
//
// In finite rounds they count: a lost increment shows in the end, also where the lock excludes others well
// and hands over an old copy. In endless rounds, whose values have to stay small, each writes its own number
// and reads it again.
#pragma once

#include <string>

#include "spec/sync/assembler.hpp"
#include "spec/sync/parameters.hpp"

namespace lockstep::sync {

inline constexpr SyncParameter rounds_parameter{"rounds", "how often each thread goes in; 0: for ever", 0, 4,
                                                1};

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

// The critical section of a lock, around one word. `scratch` is 0 before and after.
struct CriticalSection {
  Claim inside;
  Word data;
  bool counts;

  CriticalSection(Assembler& program, int threads, int rounds)
      : inside(program.section("one is in the critical section", 1)),
        data(program.word("data")),
        counts(rounds > 0) {
    if (counts) program.finally("every increment counts", data, threads * rounds);
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
