// Software backoff: who has tried in vain pauses, each time for longer, before it tries again.
//
// Source: HeteroSync doubles a number and adds 1 up to a bound (MAX_BACKOFF, a power of two), in its barriers
// (hipLocksBarrierAtomic.h) and for the writers of its semaphores; readers add 5 each time, there without
// a bound (cudaLocksSemaphoreEBO.cu). Dalmia, thesis, 4.4.3: "We set the maximum exponential backoff to
// 1024". What one of it takes is not said: the code of CUDA counts in an empty loop, that of HIP sleeps 64
// cycles (s_sleep). Here it is one cycle. Where there is no time a pause is nothing; but who backs off spins,
// and waits by no waiting atomic.
#pragma once

#include <stdexcept>
#include <string>

#include "spec/sync/assembler.hpp"
#include "spec/sync/parameters.hpp"

namespace lockstep::sync {

inline constexpr SyncParameter backoff_parameter{
    "backoff", "pauses behind failures, longer each time, below this power of two; 0: none", 0, 1 << 20, 0};

class Backoff {
 public:
  explicit Backoff(const SyncChoice& choice) : bound_(choice["backoff"]) {
    if (bound_ == 1 || (bound_ & (bound_ - 1)) != 0)
      throw std::invalid_argument("backoff=" + std::to_string(bound_) + " is no power of two from 2 on");
  }

  [[nodiscard]] bool is_any() const { return bound_ > 0; }
  // The thread's own register, once.
  void prepare(CodeOf& thread) {
    if (is_any()) pause_ = thread.reg("pause", 1);
  }
  void restart(CodeOf& thread) const {
    if (is_any()) thread.move(pause_, 1);
  }
  void pause(CodeOf& thread) const {
    if (!is_any()) return;
    thread.pause(pause_);
    thread.add(pause_, pause_, pause_);
    thread.add(pause_, pause_, 1);
    thread.compute(ArithmeticFunction::bit_and, pause_, pause_, bound_ - 1);
  }
  // As readers of a semaphore do.
  void pause_a_little_longer(CodeOf& thread) const {
    if (!is_any()) return;
    thread.pause(pause_);
    thread.add(pause_, pause_, 5);
    thread.compute(ArithmeticFunction::minimum, pause_, pause_, bound_ - 1);
  }

 private:
  int bound_;
  Register pause_;
};

}  // namespace lockstep::sync
