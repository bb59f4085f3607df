#include "refimpl/kernels/lane_wave.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace lockstep::kernels {

namespace {

template <class F>
void by_lane(Vector& to, const Vector& a, const Vector& b, F f) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<std::int32_t>(f(static_cast<std::uint32_t>(a[i]), static_cast<std::uint32_t>(b[i])));
  }
}
template <class F>
void by_signed_lane(Vector& to, const Vector& a, const Vector& b, F f) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::int32_t>(f(a[i], b[i]));
}

constexpr std::uint32_t bits_of_shift = 31;

}  // namespace

void LaneMemory::launch(LaneWave&, const Step&) {
  throw std::logic_error("kernels launch nothing");
}
std::int32_t LaneMemory::random(std::uint32_t, std::size_t, std::int32_t) {
  throw std::logic_error("kernels draw no random numbers");
}

void LaneWave::begin(const LaneCode& code, Mask active) {
  code_ = &code;
  pc_ = 0;
  active_ = active;
  ended_ = 0;
  registers_.resize(static_cast<std::size_t>(code.registers));
  awaited_.assign(registers_.size(), 0);
  frames_.clear();
}

Mask LaneWave::where(int r) const {
  Mask mask = 0;
  const Vector& v = reg(r);
  for (std::size_t i = 0; i < v.size(); ++i) mask |= Mask{v[i] != 0} << i;
  return mask;
}

Mask LaneWave::still(Mask before) const {
  Mask mask = before & ~ended_;
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (frame->loop) return mask & ~(frame->left | frame->proceeded);
  }
  return mask;
}

void LaneWave::compute(LaneMemory& memory, const Step& step) {
  ++computed_;
  Vector& to = reg(step.to);
  const Vector& a = reg(step.a);
  const Vector& b = reg(step.b);
  using U = std::uint32_t;
  switch (step.calculation) {
    case Calculation::add:
      return by_lane(to, a, b, [](U x, U y) { return x + y; });
    case Calculation::subtract:
      return by_lane(to, a, b, [](U x, U y) { return x - y; });
    case Calculation::multiply:
      return by_lane(to, a, b, [](U x, U y) { return x * y; });
    case Calculation::divide:
    case Calculation::remainder: {
      const bool divides = step.calculation == Calculation::divide;
      for_each_lane(active_, [&](std::size_t i) {
        if (b[i] == 0) memory.fail(step.place, "division by zero", "");
        const std::int64_t x = a[i];
        to[i] = static_cast<std::int32_t>(divides ? x / b[i] : x % b[i]);
      });
      return;
    }
    case Calculation::shift_left:
      return by_lane(to, a, b, [](U x, U y) { return x << (y & bits_of_shift); });
    case Calculation::shift_right:
      return by_signed_lane(
          to, a, b, [](std::int32_t x, std::int32_t y) { return x >> (static_cast<U>(y) & bits_of_shift); });
    case Calculation::bit_and:
      return by_lane(to, a, b, [](U x, U y) { return x & y; });
    case Calculation::bit_or:
      return by_lane(to, a, b, [](U x, U y) { return x | y; });
    case Calculation::bit_xor:
      return by_lane(to, a, b, [](U x, U y) { return x ^ y; });
    case Calculation::minimum:
      return by_signed_lane(to, a, b, [](std::int32_t x, std::int32_t y) { return std::min(x, y); });
    case Calculation::maximum:
      return by_signed_lane(to, a, b, [](std::int32_t x, std::int32_t y) { return std::max(x, y); });
    case Calculation::equal:
      return by_lane(to, a, b, [](U x, U y) { return U{x == y}; });
    case Calculation::not_equal:
      return by_lane(to, a, b, [](U x, U y) { return U{x != y}; });
    case Calculation::less:
      return by_signed_lane(to, a, b, [](std::int32_t x, std::int32_t y) { return int{x < y}; });
    case Calculation::less_equal:
      return by_signed_lane(to, a, b, [](std::int32_t x, std::int32_t y) { return int{x <= y}; });
  }
}

LaneWave::Stop LaneWave::run(LaneMemory& memory, std::uint64_t& steps) {
  const std::vector<Step>& code = code_->steps;
  while (pc_ < code.size()) {
    if (steps == 0) return Stop::spent;
    const Step& step = code[pc_];
    if (!is_there(step.a) || !is_there(step.b) || !is_there(step.c) || !is_there(step.to))
      return Stop::awaits;
    ++pc_;
    --steps;
    switch (step.act) {
      case Act::constant:
        reg(step.to).fill(step.n);
        break;
      case Act::copy: {
        Vector& to = reg(step.to);
        const Vector& from = reg(step.a);
        if (active_ == ~Mask{0}) {
          to = from;
        } else {
          for (std::size_t i = 0; i < to.size(); ++i) to[i] = ((active_ >> i) & 1U) != 0 ? from[i] : to[i];
        }
        break;
      }
      case Act::compute:
        compute(memory, step);
        break;
      case Act::random: {
        for_each_lane(active_, [&](std::size_t i) {
          const std::int32_t below = reg(step.a)[i];
          if (below < 1)
            memory.fail(step.place, "random numbers from 0 to below " + std::to_string(below), "");
          reg(step.to)[i] = memory.random(static_cast<std::uint32_t>(i), pc_, below);
        });
        break;
      }
      case Act::load:
      case Act::store:
      case Act::update:
        if (active_ == 0) break;
        ++computed_;
        memory.access(*this, step, active_);
        if (memory.holds(*this)) return Stop::held;
        break;
      case Act::fence:
        memory.fence(*this, step);
        if (memory.holds(*this)) return Stop::held;
        break;
      case Act::barrier:
        return Stop::barrier;
      case Act::pass_time:
        if (active_ != 0)
          memory.pass_time(*this, reg(step.a)[static_cast<std::size_t>(std::countr_zero(active_))]);
        break;
      case Act::begin_if: {
        Frame frame;
        frame.before = active_;
        frame.taken = active_ & where(step.a);
        active_ = frame.taken;
        frames_.push_back(frame);
        if (active_ == 0) pc_ = static_cast<std::size_t>(step.n);
        break;
      }
      case Act::otherwise:
        active_ = still(frames_.back().before & ~frames_.back().taken);
        if (active_ == 0) pc_ = static_cast<std::size_t>(step.n);
        break;
      case Act::end_if: {
        const Mask before = frames_.back().before;
        frames_.pop_back();
        active_ = still(before);
        break;
      }
      case Act::begin_loop: {
        Frame frame;
        frame.loop = true;
        frame.before = active_;
        frames_.push_back(frame);
        break;
      }
      case Act::test:
        frames_.back().left |= active_ & ~where(step.a);
        active_ = still(frames_.back().before);
        if (active_ == 0) {
          const Mask before = frames_.back().before;
          frames_.pop_back();
          active_ = still(before);
          pc_ = static_cast<std::size_t>(step.n);
        }
        break;
      case Act::next_round:
        frames_.back().proceeded = 0;
        active_ = still(frames_.back().before);
        break;
      case Act::repeat:
        pc_ = static_cast<std::size_t>(step.n);
        break;
      case Act::leave:
      case Act::proceed: {
        const auto frame =
            std::find_if(frames_.rbegin(), frames_.rend(), [](const Frame& f) { return f.loop; });
        (step.act == Act::leave ? frame->left : frame->proceeded) |= active_;
        active_ = 0;
        break;
      }
      case Act::end:
        ended_ |= active_;
        active_ = 0;
        break;
      case Act::launch:
        if (active_ != 0) memory.launch(*this, step);
        break;
    }
  }
  return Stop::ended;
}

}  // namespace lockstep::kernels
