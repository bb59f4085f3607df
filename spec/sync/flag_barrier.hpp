// HeteroSync's decentralized tree barrier ("lock-free"): each work-group raises a flag of its own, and the
// first of its CU, which waits for all of them, raises another flag for each to let it go. In between the
// first of each CU do the same among themselves.
//
// Source: named by Dutu et al. 2020, Table 2 (LFTreeBarr); no code is printed. Modelled is HeteroSync's
// (cudaLocksBarrierFast.cu: joinLFBarrier_helper). One wave stands for the lanes that look at the flags side
// by side. What the code does, and what is repaired in the default variant:
//  - Who waits for the flags fences only where one is not up yet, and clears them and raises the others'
//  ahead
//    of its next fence ("outVars acts as a store release, need TF to enforce ordering" stands behind the
//    stores). So what others have written before the barrier is nowhere ordered behind it, and a flag may be
//    cleared when it has been raised for the next barrier. Repaired: a fence in front, and one in between
//    (variant `main-unfenced` is the code in that).
//  - Who leaves clears its flags by plain stores and then fences, which does for an acquire as well. Here the
//    fence comes first and the stores are atomic.
//  - The leader's wave raises its flag without having met its siblings. Repaired: __syncthreads() comes first
//    (variant `siblings-not-met` is the code in that).
//  - The number of work-groups of a CU is ceil(gridDim.x / NUM_SM), everywhere: where the grid does not
//    divide some CU waits for one more than it has. Repaired: the number that there are (variant
//    `rounds-up`).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "spec/sync/grid.hpp"

namespace lockstep::sync {

inline constexpr std::array flag_barrier_variants{
    Variant{"default", "HeteroSync's code with four repairs"},
    Variant{"siblings-not-met", "only as released: no __syncthreads() in front of raising the flag"},
    Variant{"main-unfenced", "only as released: the main work-group fences behind the flags that it raises"},
    Variant{"rounds-up", "only as released: as many work-groups on each CU as on the fullest"},
    Variant{"as-released", "HeteroSync's code"},
};
inline constexpr std::array flag_barrier_faults{
    Fault{"last-not-awaited", "the last work-group's flag is not looked at"},
    Fault{"joins-unfenced", "no fence in front of raising one's flag"},
    Fault{"leaves-unfenced", "no fence behind seeing oneself let go"},
    Fault{"flag-not-cleared", "who leaves does not clear the flag that let it go"},
};

class FlagBarrier {
 public:
  FlagBarrier(const SyncChoice& choice, Assembler& program) : choice_(choice) {
    const Launch widest{std::max(choice["launched-before"], groups_of(choice)), choice["cus"]};
    const int local = widest.most_on_a_cu() > 1 ? widest.cus : 0;
    int words = 2 * widest.leaders();
    for (int cu = 0; cu < local; ++cu) words += 2 * groups_expected(widest, cu);
    words_per_block_ = words <= 8 ? 2 : WordTag::capacity;
    for (int cu = 0; cu < local; ++cu)
      local_.push_back(flags_for(program, groups_expected(widest, cu), "_" + std::to_string(cu) + "_"));
    global_ = flags_for(program, widest.leaders(), "");
  }
  void claim_at_end(Assembler& program) const {
    for (const Flags& flags : local_) claim(program, flags);
    claim(program, global_);
  }

  void prepare(CodeOf& thread, const Launch&, int) { r_ = thread.reg("r"); }
  [[nodiscard]] Register scratch() const { return r_; }
  // One whom the main one lets go.
  [[nodiscard]] int reader(const Launch& launch) const { return launch.groups > 2 ? 1 : 0; }

  void lead(CodeOf& thread, const Launch& launch, int group, int) {
    const int cu = launch.cu_of(group);
    // With one work-group on each CU there is no local level.
    if (launch.most_on_a_cu() == 1) return global(thread, launch, group);
    local(thread, launch, group, [&] { global(thread, launch, cu); });
  }
  // cudaBarrierLocal
  void meet_on_cu(CodeOf& thread, const Launch& launch, int group) const {
    local(thread, launch, group, [] {});
  }
  void follow_on_cu(CodeOf& thread, const Launch& launch, int group) const {
    const int own = as_released("siblings-not-met") ? 2 : 3;
    for (int i = 0; i < own + (launch.leads(group) ? 2 : 0); ++i) thread.barrier();
  }
  void follow(CodeOf& thread, const Launch& launch, int group, int) {
    const bool local = launch.most_on_a_cu() > 1;
    const int own = as_released("siblings-not-met") ? 2 : 3;
    const int of_main = 2;
    int barriers = 0;
    if (local) barriers += own + (group < launch.cus ? of_main : 0);
    if (!local || group < launch.cus) barriers += own + (group == 0 ? of_main : 0);
    for (int i = 0; i < barriers; ++i) thread.barrier();
  }

 private:
  struct Flags {
    std::vector<Word> in;   // has come
    std::vector<Word> out;  // may go
  };

  [[nodiscard]] bool as_released(std::string_view variant) const {
    return choice_.is("as-released") || choice_.is(variant);
  }
  [[nodiscard]] int groups_expected(const Launch& launch, int cu) const {
    return as_released("rounds-up") ? launch.most_on_a_cu() : launch.groups_on(cu);
  }
  [[nodiscard]] Scope local_scope() const { return choice_["narrow"] == 1 ? Scope::wg : Scope::agent; }
  // Side by side, as in an array, in as few blocks as leave one for the message.
  Flags flags_for(Assembler& program, int count, const std::string& on) {
    Flags flags;
    for (int i = 0; i < count; ++i) flags.in.push_back(next(program, "in" + on + std::to_string(i)));
    for (int i = 0; i < count; ++i) flags.out.push_back(next(program, "out" + on + std::to_string(i)));
    return flags;
  }
  Word next(Assembler& program, const std::string& name) {
    const bool fresh = words_++ % words_per_block_ == 0;
    last_ = fresh ? program.word(name) : program.word_beside(last_, name);
    return last_;
  }
  static void claim(Assembler& program, const Flags& flags) {
    for (const Word flag : flags.in) program.finally(flag, 0);
    for (const Word flag : flags.out) program.finally(flag, 0);
  }
  static Word at(const std::vector<Word>& flags, int place) { return flags[static_cast<std::size_t>(place)]; }

  // With what the first of the CU does when all of it have come.
  template <class F>
  void local(CodeOf& thread, const Launch& launch, int group, F&& met) const {
    const int cu = launch.cu_of(group);
    const Flags& flags = local_[static_cast<std::size_t>(cu)];
    const int place = group / launch.cus;
    raise(thread, flags, place);
    if (place == 0) {
      await_all(thread, flags, groups_expected(launch, cu), local_scope());
      met();
      let_go(thread, flags, groups_expected(launch, cu), local_scope());
    }
    await_own(thread, flags, place, local_scope());
  }

  // cudaBarrier; the first work-group is the main one.
  void global(CodeOf& thread, const Launch& launch, int place) const {
    raise(thread, global_, place);
    if (place == 0) {
      await_all(thread, global_, launch.leaders(), Scope::agent);
      let_go(thread, global_, launch.leaders(), Scope::agent);
    }
    await_own(thread, global_, place, Scope::agent);
  }

  // setMyInFlag
  void raise(CodeOf& thread, const Flags& flags, int place) const {
    constexpr Scope scope = Scope::agent;
    if (!as_released("siblings-not-met")) meet_siblings(thread);
    if (!choice_.has("joins-unfenced")) thread.fence_once(acq_rel(scope));
    thread.update(RmwFunction::exchange, at(flags.in, place), 1, relaxed(scope));
    meet_siblings(thread);
  }
  // spinOnInFlags
  void await_all(CodeOf& thread, const Flags& flags, int expected, Scope scope) const {
    for (int i = 0; i < expected - (choice_.has("last-not-awaited") ? 1 : 0); ++i) {
      if (choice_["waiting"] == 1) {
        thread.wait_load(r_, at(flags.in, i), 1, relaxed(scope));
        continue;
      }
      const Label up = thread.label();
      const Label again = thread.here_is();
      thread.load(r_, at(flags.in, i), relaxed(scope));
      thread.branch_equal(r_, 1, up);
      if (as_released("main-unfenced")) thread.fence(acq_rel(scope));
      thread.jump(again);
      thread.place(up);
    }
    meet_siblings(thread);
    if (!as_released("main-unfenced")) thread.fence(acq_rel(scope));
  }
  // setOutFlags
  void let_go(CodeOf& thread, const Flags& flags, int expected, Scope scope) const {
    const bool fences_between = !as_released("main-unfenced");
    for (int i = 0; i < expected; ++i) {
      thread.store(at(flags.in, i), 0, relaxed(scope));
      if (!fences_between) thread.store(at(flags.out, i), 1, relaxed(scope));
    }
    if (fences_between) thread.fence(acq_rel(scope));
    for (int i = 0; fences_between && i < expected; ++i) thread.store(at(flags.out, i), 1, relaxed(scope));
    meet_siblings(thread);
    if (as_released("main-unfenced")) thread.fence(acq_rel(scope));
  }
  // spinOnMyOutFlag
  void await_own(CodeOf& thread, const Flags& flags, int place, Scope scope) const {
    thread.wait_load(r_, at(flags.out, place), 1, relaxed(scope));
    const bool fences = !choice_.has("leaves-unfenced");
    const bool fences_first = fences && !choice_.is("as-released");
    const Access clearing = choice_.is("as-released") ? plain : relaxed(scope);
    if (fences_first) thread.fence(acq_rel(scope));
    if (!choice_.has("flag-not-cleared")) thread.store(at(flags.out, place), 0, clearing);
    thread.store(at(flags.in, place), 0, clearing);
    if (fences && !fences_first) thread.fence(acq_rel(scope));
    thread.move(r_, 0);
    meet_siblings(thread);
  }
  void meet_siblings(CodeOf& thread) const {
    if (choice_["waves"] == 2) thread.barrier();
  }

  const SyncChoice& choice_;
  std::vector<Flags> local_;  // of CUs
  Flags global_;
  int words_ = 0;
  int words_per_block_ = 2;
  Word last_;
  Register r_;
};

inline Program flag_barrier(const SyncChoice& choice) {
  Assembler program(choice.name());
  return across_grid(choice, program, FlagBarrier(choice, program));
}

}  // namespace lockstep::sync
