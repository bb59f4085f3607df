// Keys of visited states that memory has no room for, on a disk: in files that are sorted by a permutation of
// the keys, each for its share of it. Nothing is looked up one by one. What may be new is gathered, and held
// against the files at once, in their order (delayed duplicate detection; Stern and Dill, "Using magnetic
// disk instead of main memory in the Murphi verifier", CAV 1998).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checker/explore/key_set.hpp"

namespace lockstep {

class DiskSet {
 public:
  // Begins empty: files of that name in the folder are removed.
  explicit DiskSet(std::string folder);
  ~DiskSet();
  DiskSet(const DiskSet&) = delete;
  DiskSet& operator=(const DiskSet&) = delete;

  // Adds all keys of a set, and leaves the set as it is. Throws BadInput where the disk is full; what was
  // there stays, with or without some of the new ones.
  void add(const KeySet& keys);
  // For each of the keys, whether it is there.
  [[nodiscard]] std::vector<bool> holds(const std::vector<StateKey>& keys) const;

  [[nodiscard]] std::uint64_t size() const;

 private:
  static constexpr unsigned share_bits = 6;
  static constexpr std::size_t shares = std::size_t{1} << share_bits;
  [[nodiscard]] std::string file_of(std::size_t share, const char* end = "") const;
  void merge(std::size_t share);

  std::string folder_;
  std::vector<std::uint64_t> sizes_;  // keys, by share
};

}  // namespace lockstep
