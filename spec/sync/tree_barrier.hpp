// The two-level atomic tree barrier: the work-groups of a CU meet at a counter of theirs, one leader of each
// CU meets the others at a global counter, and the work-groups of the CU meet again.
//
// Source: HeteroSync's barrier as printed by Dalmia, thesis, ch. 4, Fig. 4.2. What is printed, and what is
// repaired in the default variant:
//  - Both phases leave where atomicCAS(&counter, n, 0) returns n (4.2 (a) l. 9-10, (b) l. 9). It does so to
//    one work-group only, and to nobody after: with two or more the others wait for ever. Repaired: they
//    leave where it returns 0, that is, where somebody has put the counter back. (The published code of
//    HeteroSync compares with 0.)
//  - 4.2 (c) passes globalBarr1 twice (l. 4-5) and localBarr1 twice (l. 7-8). The text wants the second
//    counters there: one that is used again at once may count the next barrier's first arrival before a slow
//    work-group has seen it at 0. Repaired as the text has it (variant `one-counter` is the print in that).
//  - numTBsThisSM = gridDim.x / NUM_SM (4.2 (a) l. 2) is the number of work-groups on a CU only where it
//    divides, and 0 where there are fewer than CUs, although 4.2 (b) l. 2 provides for that. Repaired: the
//    number that there are (variant `truncates` is the print in that).
// The leader's wave joins without having met its siblings ("assuming no races between threads in the same
// TB"); here that is made good by the second barrier of each pair, which nobody joins before __syncthreads().
// atomicInc wraps at 2^31 - 1, which no run here comes to: it is an addition. `done` is a thread's own and is
// where the thread stands. Two fences that follow each other are one.
#pragma once

#include <array>
#include <vector>

#include "spec/sync/grid.hpp"

namespace lockstep::sync {

inline constexpr std::array tree_barrier_variants{
    Variant{"default", "Fig. 4.2 with three repairs"},
    Variant{"one-counter", "only the counters as printed: the first ones twice"},
    Variant{"truncates", "only numTBsThisSM as printed"},
    Variant{"as-printed", "Fig. 4.2"},
};
inline constexpr std::array tree_barrier_faults{
    Fault{"joins-off-by-one", "the global counter is complete one leader early"},
    Fault{"unfenced", "no fences"},
    Fault{"last-barrier-skipped", "a CU does not meet again after the global barrier"},
};

class TreeBarrier {
 public:
  TreeBarrier(const SyncChoice& choice, Assembler& program) : choice_(choice), backoff_(choice) {
    for (int cu = 0; cu < choice["cus"]; ++cu) {
      const std::string on = "_" + std::to_string(cu);
      const Word first = program.word("localBarr1" + on);
      local_.push_back({first, program.word_beside(first, "localBarr2" + on)});
    }
    const Word first = program.word("globalBarr1");
    global_ = {first, program.word_beside(first, "globalBarr2")};
  }
  void claim_at_end(Assembler& program) const {
    for (const auto& counters : local_) {
      for (const Word counter : counters) program.finally(counter, 0);
    }
    for (const Word counter : global_) program.finally(counter, 0);
  }

  void prepare(CodeOf& thread, const Launch&, int) {
    r_ = thread.reg("r");
    backoff_.prepare(thread);
  }
  [[nodiscard]] Register scratch() const { return r_; }

  // cudaBarrierAtomicLocal
  void meet_on_cu(CodeOf& thread, const Launch& launch, int group) const {
    backoff_.restart(thread);
    local(thread, launch, group, 0, false);
    local(thread, launch, group, 1, false);
  }
  void follow_on_cu(CodeOf& thread, const Launch&, int) const {
    thread.barrier();
    thread.barrier();
  }

  // 4.2 (c)
  void lead(CodeOf& thread, const Launch& launch, int group, int) {
    meet_on_cu(thread, launch, group);  // l. 1-2
    if (launch.leads(group)) {
      backoff_.restart(thread);
      global(thread, launch, 0);                              // l. 4
      global(thread, launch, has_second_counters() ? 1 : 0);  // l. 5
    }
    if (choice_.has("last-barrier-skipped")) return;
    backoff_.restart(thread);
    local(thread, launch, group, 0, true);                              // l. 7
    local(thread, launch, group, has_second_counters() ? 1 : 0, true);  // l. 8
  }
  void follow(CodeOf& thread, const Launch& launch, int group, int) {
    const int local_barriers = choice_.has("last-barrier-skipped") ? 2 : 4;
    for (int i = 0; i < local_barriers + (launch.leads(group) ? 2 : 0); ++i) thread.barrier();
  }

 private:
  using Counters = std::array<Word, 2>;

  [[nodiscard]] bool has_second_counters() const {
    return !choice_.is("as-printed") && !choice_.is("one-counter");
  }
  [[nodiscard]] Scope local_scope() const { return choice_["narrow"] == 1 ? Scope::wg : Scope::agent; }

  // 4.2 (a)
  void local(CodeOf& thread, const Launch& launch, int group, std::size_t which, bool later) const {
    const int cu = words_of(choice_, launch, group, later);
    const bool truncates = choice_.is("as-printed") || choice_.is("truncates");
    const int n = truncates ? launch.printed_groups_on_cu() : launch.groups_on(cu);
    meet(thread, local_[static_cast<std::size_t>(cu)][which], n, local_scope());
  }
  // 4.2 (b)
  void global(CodeOf& thread, const Launch& launch, std::size_t which) const {
    const int n = launch.leaders() - (choice_.has("joins-off-by-one") ? 1 : 0);
    meet(thread, global_[which], n, Scope::agent);
  }

  void meet(CodeOf& thread, Word counter, int n, Scope scope) const {
    if (!choice_.has("unfenced")) thread.fence_once(acq_rel(scope));
    thread.update(RmwFunction::add, counter, 1, relaxed(scope));
    if (choice_["waiting"] == 1) {
      // Whoever arrives last finds all of them; the others wait until the counter is back at 0.
      const Label met = thread.label();
      thread.cas(r_, counter, n, 0, relaxed(scope));
      thread.branch_equal(r_, n, met);
      thread.wait_load(r_, counter, 0, relaxed(scope));
      thread.place(met);
      thread.move(r_, 0);
    } else {
      const Label again = thread.here_is();
      const int left = choice_.is("as-printed") ? n : 0;
      thread.cas(r_, counter, n, 0, relaxed(scope));
      if (backoff_.is_any()) {
        const Label met = thread.label();
        thread.branch_equal(r_, left, met);
        backoff_.pause(thread);
        thread.jump(again);
        thread.place(met);
      } else {
        thread.branch_unequal(r_, left, again);
      }
    }
    if (!choice_.has("unfenced")) thread.fence(acq_rel(scope));
    if (choice_["waves"] == 2) thread.barrier();
  }

  const SyncChoice& choice_;
  std::vector<Counters> local_;
  Counters global_;
  Backoff backoff_;
  Register r_;
};

inline Program tree_barrier(const SyncChoice& choice) {
  Assembler program(choice.name());
  return across_grid(choice, program, TreeBarrier(choice, program));
}

}  // namespace lockstep::sync
