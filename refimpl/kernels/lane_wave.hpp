// A wave that executes a kernel's steps, and asks a memory for what is not its own.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "refimpl/kernels/lane_code.hpp"

namespace lockstep::kernels {

class LaneWave;

// What a step needs beside registers. Lanes that are not active take no part.
class LaneMemory {
 public:
  LaneMemory() = default;
  LaneMemory(const LaneMemory&) = delete;
  LaneMemory& operator=(const LaneMemory&) = delete;
  virtual ~LaneMemory() = default;

  // Of a load, store or update. Where a result comes later, the wave's register is marked as awaited, and the
  // result written, once it is there, in the lanes that were active.
  virtual void access(LaneWave& wave, const Step& step, Mask active) = 0;
  virtual void fence(LaneWave& wave, const Step& step) = 0;
  virtual void pass_time(LaneWave& wave, std::int32_t cycles) = 0;
  virtual void launch(LaneWave& wave, const Step& step);
  virtual std::int32_t random(std::uint32_t lane, std::size_t step, std::int32_t below);
  // Whether the wave has to stop behind what it has just asked for.
  [[nodiscard]] virtual bool holds(const LaneWave& wave) const = 0;
  [[noreturn]] virtual void fail(SourcePlace place, const std::string& message,
                                 const std::string& hint) const = 0;
};

class LaneWave {
 public:
  enum class Stop : std::uint8_t {
    ended,
    held,     // by memory
    awaits,   // a register: `awaited_register`
    barrier,  // in front of what stands behind it
    spent,    // it has taken as many steps as it was given
  };

  // All lanes of `active` begin, with values in the first registers.
  void begin(const LaneCode& code, Mask active);
  // `steps`: that it may take, and how many are left then.
  Stop run(LaneMemory& memory, std::uint64_t& steps);

  [[nodiscard]] Vector& reg(int r) { return registers_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] const Vector& reg(int r) const { return registers_[static_cast<std::size_t>(r)]; }
  void await(int r) { ++awaited_[static_cast<std::size_t>(r)]; }
  void arrived(int r) { --awaited_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] int awaited_register() const { return awaited_register_; }
  [[nodiscard]] const LaneCode& code() const { return *code_; }
  // Of the step that it has executed last.
  [[nodiscard]] SourcePlace place() const { return pc_ == 0 ? SourcePlace{} : code_->steps[pc_ - 1].place; }
  // How many steps have computed something since this was asked.
  std::int32_t take_computed() { return std::exchange(computed_, 0); }
  [[nodiscard]] std::int32_t computed() const { return computed_; }
  std::size_t number = 0;  // for whoever has several

 private:
  struct Frame {
    bool loop = false;
    Mask before = 0;
    Mask left = 0;       // of a loop, for good
    Mask proceeded = 0;  // to its next round
    Mask taken = 0;      // of an if: those for which it held
  };
  [[nodiscard]] bool is_there(int r) {
    if (r < 0 || awaited_[static_cast<std::size_t>(r)] == 0) return true;
    awaited_register_ = r;
    return false;
  }
  [[nodiscard]] Mask where(int r) const;
  void compute(LaneMemory& memory, const Step& step);
  // Those of `before` that have not left.
  [[nodiscard]] Mask still(Mask before) const;

  const LaneCode* code_ = nullptr;
  std::size_t pc_ = 0;
  Mask active_ = 0;
  Mask ended_ = 0;
  std::vector<Vector> registers_;
  std::vector<std::uint8_t> awaited_;  // how many accesses are to bring a part of it
  std::vector<Frame> frames_;
  int awaited_register_ = -1;
  std::int32_t computed_ = 0;
};

}  // namespace lockstep::kernels
