// Independent jobs on several threads, with their results taken in order.
#pragma once

#include <functional>

namespace lockstep {

// Calls work(0), ..., work(count - 1) on up to `threads` threads, begun in that order. Meanwhile the calling
// thread calls `attend` whenever a job has ended and a few times a second besides, and once after the last.
// An exception from a job is rethrown when all threads have stopped; no further job is begun then.
void run_jobs(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work,
              const std::function<void()>& attend);

}  // namespace lockstep
