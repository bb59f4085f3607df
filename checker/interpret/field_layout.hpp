// Where the fields that recorded trees name lie in a run's plain state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checker/footprint/terms.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep {

// A field over all indices on the way to it.
struct FieldPlaces {
  std::vector<int> extents;            // by index
  std::vector<std::uint32_t> numbers;  // places, the last index fastest
  bool ranged = false;                 // an integer, with its range
  int low = 0;
  int high = 0;
};

// A queue, whose slots are one index more: behind those that lead to it.
struct QueuePlaces {
  const FieldPlaces* count = nullptr;
  std::size_t leading = 0;  // indices that lead to it
  int capacity = 0;
  std::vector<const FieldPlaces*> scalars;  // of an entry
};

class FieldLayout {
 public:
  // `whole` was recorded at the sizes of the run, whose scalars lie at `places`; `defaults` is a state in
  // which every field has its default.
  FieldLayout(const recorded::WholeDescription& whole, std::vector<footprint::Place> places,
              std::vector<std::byte> defaults);

  // By the names that lead to it, "memory.l1.present", and the number of indices among them. Throws
  // std::logic_error where there is none.
  [[nodiscard]] const FieldPlaces& field(const std::string& names, std::size_t indices) const;
  // The queue that the first segments of a path lead to, or null; `segments` is how many they are.
  [[nodiscard]] const QueuePlaces* queue(const recorded::Path& path, std::size_t& segments) const;

  [[nodiscard]] const std::vector<footprint::Place>& places() const { return places_; }
  [[nodiscard]] std::size_t bytes() const { return defaults_.size(); }
  [[nodiscard]] std::int64_t read(std::uint32_t place, const std::byte* state) const {
    return footprint::value_at(places_[place], state);
  }
  void write(std::uint32_t place, std::int64_t value, std::byte* state) const;
  void reset(std::uint32_t place, std::byte* state) const {
    write(place, read(place, defaults_.data()), state);
  }

 private:
  void note(const recorded::WholeDescription& whole, const recorded::Declaration& declaration,
            const std::string& names, std::size_t indices);

  std::vector<footprint::Place> places_;
  std::vector<std::byte> defaults_;
  std::map<std::pair<std::string, std::size_t>, FieldPlaces> fields_;
  std::map<std::string, QueuePlaces> queues_;
};

}  // namespace lockstep
