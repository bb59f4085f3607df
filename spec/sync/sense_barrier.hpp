// Sense-reversing barriers in two levels. The work-groups of a CU count themselves and the last reverses the
// CU's sense; a leader of each CU (G-SRB), or every work-group (G-CPUSRB), counts itself globally and the
// last of them reverses the global sense, for which all wait.
//
// Source: Dalmia, thesis, ch. 4, Fig. 4.6; for G-CPUSRB, of which no code is printed, 4.4.2 and Table 4.2
// ("all TBs per SM join the global barrier"). What is printed, and what is repaired in the default variant:
//  - `*sense` and `*global_sense` are read and written as plain data (4.6 (a) l. 1, 8, 11, (b) l. 7, 10);
//    only 4.6 (c) reads them past the L1 (ld_glb_cg). Spinning on a copy in an L1 need not end, and it races.
//    Repaired: relaxed atomics.
//  - Only who reverses a sense fences (4.6 (a) l. 10, (b) l. 9). All others leave having acquired nothing,
//    and read old copies behind the barrier. Repaired: a fence behind each loop (variant `leaves-unfenced` is
//    the print in that).
//  - numTBsThisSM as in tree_barrier.hpp (variant `truncates`).
//  - The leader's wave joins without having met its siblings: with two waves others leave before the second
//    has arrived. Repaired: __syncthreads() comes first (variant `leader-first` is the print in that).
//  - One brace is missing in 4.6 (a); behind the loop is the only place before __syncthreads().
//  - "initialized to false the first time the barrier is called": a launch with fewer work-groups than CUs
//    reverses the global sense and not that of CUs without work-groups, which are one ahead ever after:
//    `launched-before=1`. Variant `own-senses` repairs it: the global sense to wait for is that which the
//    work-group found the other way round on its arrival.
// HeteroSync's code (hipLocksBarrierAtomicSRB.h: joinBarrier_helperSRB; variant `as-released`) differs from
// the figure in a word `done`, which all clear on arrival and each leader sets behind the global barrier: the
// others first wait for it to be clear. It is loaded, as the senses are past the L1, with the word behind it
// (flat_load_dwordx2), which for `done` is the global sense. The number of work-groups on a CU is
// ceil(gridDim.x / NUM_SM), everywhere; where it is 4 or less the code takes a single level
// (g-cpusrb/single-level), which this variant does not.
// `s` is a register of each work-group's leader.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "spec/sync/grid.hpp"

namespace lockstep::sync {

inline constexpr std::array sense_barrier_variants{
    Variant{"default", "Fig. 4.6 with four repairs"},
    Variant{"own-senses", "and each level has a private sense of its own"},
    Variant{"leaves-unfenced", "only as printed: no fence behind the loops"},
    Variant{"truncates", "only numTBsThisSM as printed"},
    Variant{"leader-first", "only as printed: the leader joins before its siblings have come"},
    Variant{"as-printed", "Fig. 4.6"},
    Variant{"as-released", "HeteroSync's code, its two levels whatever the number of work-groups"},
};
inline constexpr std::array cpu_sense_barrier_variants{
    Variant{"default", "two levels, and all work-groups join the global one"},
    Variant{"single-level", "the global level alone, as a CPU has it"},
};
inline constexpr std::array sense_barrier_faults{
    Fault{"joins-off-by-one", "the global counter is complete one early"},
    Fault{"unfenced", "no fences"},
    Fault{"counter-not-reset", "the global counter is compared and not put back to 0"},
};

class SenseBarrier {
 public:
  SenseBarrier(const SyncChoice& choice, Assembler& program, bool all_join)
      : choice_(choice), all_join_(all_join), backoff_(choice) {
    for (int cu = 0; has_local_level() && cu < choice["cus"]; ++cu) {
      const std::string on = "_" + std::to_string(cu);
      counters_.push_back(program.word("localBarr" + on));
      senses_.push_back(program.word_beside(counters_.back(), "sense" + on));
    }
    counter_ = program.word("globalBarr");
    if (released()) done_ = program.word_beside(counter_, "done");
    sense_ = program.word_beside(counter_, "global_sense");
  }
  void claim_at_end(Assembler& program) const {
    for (const Word counter : counters_) program.finally(counter, 0);
    program.finally(counter_, 0);
  }

  void prepare(CodeOf& thread, const Launch&, int) {
    s_ = thread.reg("s");
    d_ = thread.reg("d");
    e_ = thread.reg("e");
    backoff_.prepare(thread);
  }
  [[nodiscard]] Register scratch() const { return d_; }

  // 4.6 (c)
  void lead(CodeOf& thread, const Launch& launch, int group, int episode) {
    if (released()) thread.store(done_, 0);
    meet_siblings(thread);
    const Word sense = local_sense(launch, group, episode);
    if (waits_for_own()) {
      thread.load(e_, sense_, shared(Scope::agent));
      thread.compute(ArithmeticFunction::equal, e_, e_, 0);
    }
    if (has_local_level()) local(thread, launch, group, episode, sense);  // l. 1
    if (all_join_ || launch.leads(group)) {
      global(thread, launch, sense);  // l. 3
      if (released()) thread.store(done_, 1);
    } else {
      if (released()) await_not_done(thread);
      follow_global(thread, sense);  // l. 6-8
    }
  }
  void follow(CodeOf& thread, const Launch&, int, int) {
    meet_siblings(thread);
    if (has_local_level()) thread.barrier();
    thread.barrier();
  }

 private:
  [[nodiscard]] bool has_local_level() const { return !choice_.is("single-level"); }
  [[nodiscard]] bool waits_for_own() const { return choice_.is("own-senses") || !has_local_level(); }
  [[nodiscard]] bool fenced() const {
    return !plainly() && !choice_.is("leaves-unfenced") && !choice_.has("unfenced");
  }
  [[nodiscard]] bool released() const { return choice_.is("as-released"); }
  // Senses are plain data, and nobody fences behind a loop.
  [[nodiscard]] bool plainly() const { return choice_.is("as-printed") || released(); }
  [[nodiscard]] bool waits() const { return choice_["waiting"] == 1; }
  [[nodiscard]] Scope local_scope() const { return choice_["narrow"] == 1 ? Scope::wg : Scope::agent; }
  // How a sense is accessed.
  [[nodiscard]] Access shared(Scope scope) const { return plainly() ? plain : relaxed(scope); }
  [[nodiscard]] Word local_sense(const Launch& launch, int group, int episode) const {
    if (!has_local_level()) return {};
    return senses_[static_cast<std::size_t>(words_of(choice_, launch, group, episode > 0))];
  }

  void meet_siblings(CodeOf& thread) const {
    const bool first = choice_.is("as-printed") || choice_.is("leader-first");
    if (choice_["waves"] == 2 && !first) thread.barrier();
  }
  void end_of_phase(CodeOf& thread, Scope scope) const {
    if (fenced()) thread.fence(acq_rel(scope));
    if (choice_["waves"] == 2) thread.barrier();
  }

  // 4.6 (a)
  void local(CodeOf& thread, const Launch& launch, int group, int episode, Word sense) const {
    const int cu = words_of(choice_, launch, group, episode > 0);
    const bool truncates = choice_.is("as-printed") || choice_.is("truncates");
    const int rounded = truncates ? launch.printed_groups_on_cu() : launch.groups_on(cu);
    const int n = released() ? launch.most_on_a_cu() : rounded;
    const Scope scope = local_scope();
    const Word counter = counters_[static_cast<std::size_t>(cu)];
    const Label out = thread.label();
    backoff_.restart(thread);
    thread.load(s_, sense, shared(scope));  // l. 1
    thread.compute(ArithmeticFunction::equal, s_, s_, 0);
    join(thread, counter, scope);  // l. 3, 7
    const Label again = thread.here_is();
    thread.load(d_, sense, shared(scope));  // l. 8
    thread.branch_equal(d_, s_, out);
    thread.cas(d_, counter, n, 0, relaxed(scope));  // l. 9
    unless_last(thread, n, again, [&] {
      thread.wait_load(d_, sense, s_, relaxed(scope));
      thread.jump(out);
    });
    if (!choice_.has("unfenced")) thread.fence(acq_rel(scope));
    thread.store(sense, s_, shared(scope));  // l. 11
    thread.jump(again);
    thread.place(out);
    end_of_phase(thread, scope);
  }

  // 4.6 (b)
  void global(CodeOf& thread, const Launch& launch, Word sense) const {
    constexpr Scope agent = Scope::agent;
    const int joining = all_join_ ? launch.groups : launch.leaders();
    const int n = joining - (choice_.has("joins-off-by-one") ? 1 : 0);
    const int after = choice_.has("counter-not-reset") ? n : 0;
    const Label out = thread.label();
    backoff_.restart(thread);
    join(thread, counter_, agent);  // l. 2, 6
    const Label again = thread.here_is();
    thread.load(d_, sense_, shared(agent));  // l. 7
    if (!waits_for_own()) thread.load(e_, sense, shared(agent));
    thread.branch_equal(d_, e_, out);
    thread.cas(d_, counter_, n, after, relaxed(agent));  // l. 8
    unless_last(thread, n, again, [&] {
      thread.wait_load(d_, sense_, e_, relaxed(agent));
      thread.jump(out);
    });
    if (!choice_.has("unfenced")) thread.fence(acq_rel(agent));  // l. 9
    thread.store(sense_, e_, shared(agent));  // l. 10: *sense is as it was read, while its leader is here
    thread.jump(again);
    thread.place(out);
    end_of_phase(thread, agent);
  }

  // Whoever has not found `n` goes back, or waits.
  template <class Wait>
  void unless_last(CodeOf& thread, int n, Label again, Wait wait) const {
    if (!waits() && !backoff_.is_any()) return thread.branch_unequal(d_, n, again);
    const Label last = thread.label();
    thread.branch_equal(d_, n, last);
    if (waits()) {
      wait();
    } else {
      backoff_.pause(thread);
      thread.jump(again);
    }
    thread.place(last);
  }

  // while (ld_gbl_cg(done)), which loads the global sense as well.
  void await_not_done(CodeOf& thread) const {
    const Label again = thread.here_is();
    thread.load(d_, done_, relaxed(Scope::agent));
    thread.load(e_, sense_, relaxed(Scope::agent));
    thread.compute(ArithmeticFunction::bit_or, d_, d_, e_);
    thread.branch_unequal(d_, 0, again);
    thread.fence(acq_rel(Scope::agent));
  }

  // 4.6 (c) l. 7
  void follow_global(CodeOf& thread, Word sense) const {
    if (waits()) {
      // The sense of its CU does not change before all of the CU have left.
      if (!waits_for_own()) thread.load(e_, sense, relaxed(Scope::agent));
      thread.wait_load(d_, sense_, e_, relaxed(Scope::agent));
    } else {
      const Label again = thread.here_is();
      thread.load(d_, sense_, relaxed(Scope::agent));
      if (!waits_for_own()) thread.load(e_, sense, relaxed(Scope::agent));
      thread.branch_unequal(d_, e_, again);
    }
    end_of_phase(thread, Scope::agent);
  }

  void join(CodeOf& thread, Word counter, Scope scope) const {
    if (!choice_.has("unfenced")) thread.fence_once(acq_rel(scope));
    thread.update(RmwFunction::add, counter, 1, relaxed(scope));
  }

  const SyncChoice& choice_;
  bool all_join_;
  Backoff backoff_;
  std::vector<Word> counters_;  // of CUs
  std::vector<Word> senses_;
  Word counter_;
  Word done_;
  Word sense_;
  Register s_;
  Register d_;
  Register e_;
};

inline Program sense_barrier(const SyncChoice& choice) {
  Assembler program(choice.name());
  return across_grid(choice, program, SenseBarrier(choice, program, false));
}
inline Program cpu_sense_barrier(const SyncChoice& choice) {
  Assembler program(choice.name());
  return across_grid(choice, program, SenseBarrier(choice, program, true));
}

}  // namespace lockstep::sync
