// The barrier of a whole grid in NVIDIA's cooperative groups (`grid_group.sync`): one level, one word.
// Every work-group's leader adds 1 to it, the first one's what is missing to 2^31, so that the last to come
// turns its highest bit; all wait for the bit to differ from what they found. Nothing is reset: the word
// overflows with every second barrier.
//
// Source: described from its machine code by Dalmia, thesis, ch. 4, 4.2.1.1 ("an aggressive, single-level
// global memory barrier", "a sense direction counter that exploits integer overflow", no backoff). Orders
// are those of the headers that NVIDIA publishes with CUDA: for GPUs of compute capability 7 and later an
// addition that releases and loads that acquire (default); for earlier ones fences around relaxed accesses
// (`fenced`).
#pragma once

#include <array>
#include <limits>
#include <stdexcept>

#include "spec/sync/grid.hpp"

namespace lockstep::sync {

inline constexpr std::array ccg_barrier_variants{
    Variant{"default", "an addition that releases, loads that acquire"},
    Variant{"fenced", "relaxed accesses between fences"},
};
inline constexpr std::array ccg_barrier_faults{
    Fault{"expects-one-less", "the first work-group adds one too many"},
    Fault{"nobody-turns", "the first work-group adds 1 as the others do"},
    Fault{"joins-relaxed", "nothing is released"},
    Fault{"leaves-relaxed", "nothing is acquired"},
    Fault{"bit-alone", "all wait for the bit to be set, not for it to turn"},
};

class CcgBarrier {
 public:
  CcgBarrier(const SyncChoice& choice, Assembler& program)
      : choice_(choice), arrived_(program.word("arrived")) {
    if (choice["waiting"] == 1) {
      throw std::invalid_argument(
          "CCG's barrier waits for a bit, and waiting atomics for a word: no waiting=1");
    }
  }
  void claim_at_end(Assembler& program) const {
    const int met = choice_["episodes"] + (choice_["launched-before"] > 0 ? 1 : 0);
    program.finally(arrived_, met % 2 == 1 ? bit : 0);
  }

  void prepare(CodeOf& thread, const Launch&, int) {
    old_ = thread.reg("old");
    now_ = thread.reg("now");
  }
  [[nodiscard]] Register scratch() const { return now_; }

  void lead(CodeOf& thread, const Launch& launch, int group, int) {
    constexpr Scope agent = Scope::agent;
    const bool fenced = choice_.is("fenced");
    const bool releases = !choice_.has("joins-relaxed");
    const bool acquires = !choice_.has("leaves-relaxed");
    if (choice_["waves"] == 2) thread.barrier();
    if (fenced && releases) thread.fence(acq_rel(agent));
    thread.update(RmwFunction::add, old_, arrived_, added(launch, group),
                  !fenced && releases ? release(agent) : relaxed(agent));
    if (choice_.has("bit-alone")) thread.move(old_, 0);
    const Label again = thread.here_is();
    thread.load(now_, arrived_, !fenced && acquires ? acquire(agent) : relaxed(agent));
    thread.compute(ArithmeticFunction::bit_xor, now_, now_, old_);
    thread.branch(now_, Comparison::greater_equal, 0, again);  // the highest bit is the sign
    thread.move(old_, 0);
    thread.move(now_, 0);
    if (fenced && acquires) thread.fence(acq_rel(agent));
    if (choice_["waves"] == 2) thread.barrier();
  }
  void follow(CodeOf& thread, const Launch&, int, int) {
    thread.barrier();
    thread.barrier();
  }

 private:
  static constexpr int bit = std::numeric_limits<int>::min();  // 2^31, as registers have it

  [[nodiscard]] int added(const Launch& launch, int group) const {
    if (group > 0 || choice_.has("nobody-turns")) return 1;
    const int others = launch.groups - 1 - (choice_.has("expects-one-less") ? 1 : 0);
    return others > 0 ? std::numeric_limits<int>::max() - others + 1 : bit - others;
  }

  const SyncChoice& choice_;
  Word arrived_;
  Register old_;
  Register now_;
};

inline Program ccg_barrier(const SyncChoice& choice) {
  Assembler program(choice.name());
  return across_grid(choice, program, CcgBarrier(choice, program));
}

}  // namespace lockstep::sync
