// The monitor of an SC execution: which of the accesses so far happen before each thread's present.
//
// Accesses are kept by *class*: thread, location, plain or atomic, read or write, scope instance. One bit a
// class is enough: program order puts a thread's accesses of one class in line, so if any of them is
// unordered with a later access, the latest is, and if the latest is ordered, all are. A *set* of classes
// means: the latest access of each class in it happens before something, namely
//   known(t, S)      thread t's present,
//   released(S, A)   some release that the acquires A pair with,
//   before_fence     a release fence that the thread has passed,
//   seen             a release that an atomic read of the thread could pair with,
// each in the closure S. HRF-direct closes program order with so_S for each scope instance S on its own, so
// it has a closure for each; the other models close everything together and have one. In HRF-relaxed-direct a
// pair of a release and an acquire belongs to the closures of both their scope instances: it is
// synchronization with respect to the one as much as to the other, and for equal instances that is what
// HRF-direct says.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/races/races.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

// A set of threads as a scope names it. Two levels with the same members are still two instances.
struct ScopeInstance {
  Scope scope = Scope::system;
  std::uint32_t members = 0;  // one bit a thread
  bool operator==(const ScopeInstance&) const = default;
};

struct AccessClass {
  int thread = 0;
  int location = 0;
  bool atomic = false;
  bool writes = false;
  ScopeInstance instance;  // of an atomic
  bool operator==(const AccessClass&) const = default;
};

// What a thread does in one step of an SC execution; reads and writes as in PerformedOperation.
struct Event {
  int thread = 0;
  int instruction = 0;
  bool reads = false;
  bool writes = false;
};

class Monitor {
 public:
  using Classes = std::uint64_t;  // one bit an access class
  static constexpr std::size_t max_classes = 64;
  using Sets = std::vector<Classes>;

  // One monitor for each group of locations that fits into Classes; usually one, and none where no two
  // accesses of the program conflict. A race is on one location, so the groups decide it together.
  static std::vector<Monitor> monitors_of(const Program& program, RaceModel model, SyncReading reading);

  [[nodiscard]] Sets initial() const { return Sets(set_count_, 0); }
  [[nodiscard]] unsigned bits() const { return static_cast<unsigned>(set_count_ * classes_.size()); }
  void pack(const Sets& sets, std::uint64_t* words) const;
  void unpack(const std::uint64_t* words, Sets& sets) const;

  // The classes whose latest access races with the event if it comes next.
  [[nodiscard]] Classes races(const Event& event, const Sets& sets) const;
  void perform(const Event& event, Sets& sets) const;

  [[nodiscard]] const std::vector<AccessClass>& classes() const { return classes_; }
  // -1 where the event is no access, or one that nothing conflicts with.
  [[nodiscard]] int class_of(const Event& event) const;

 private:
  class Builder;

  struct Join {
    std::size_t to;
    std::size_t from;
  };
  // What an instruction does to the sets.
  struct Site {
    std::vector<Join> acquiring;  // when it reads: into what its thread knows
    std::vector<Join> seeing;     // when it reads: into what its thread has seen, for a later acquire fence
    std::vector<Join> releasing;  // when it writes
    int read_class = -1;
    int write_class = -1;
  };

  [[nodiscard]] const Site& site(const Event& event) const {
    return sites_[static_cast<std::size_t>(event.thread)][static_cast<std::size_t>(event.instruction)];
  }
  [[nodiscard]] std::size_t known(int thread, std::size_t closure) const {
    return static_cast<std::size_t>(thread) * closures_ + closure;
  }

  std::vector<AccessClass> classes_;
  std::vector<Classes> conflicting_;  // by class
  std::vector<Classes> own_;          // by thread
  std::size_t closures_ = 1;
  std::size_t set_count_ = 0;
  std::vector<std::vector<Site>> sites_;  // by thread and instruction
};

// Whether two accesses by different threads conflict under the model, and how.
std::optional<ConflictKind> conflict(const AccessClass& a, const AccessClass& b, RaceModel model);

}  // namespace lockstep
