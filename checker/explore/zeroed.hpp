// Memory that begins as zeros, for tables that are hit at random.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace lockstep {

struct FreeZeroed {
  void operator()(std::byte* memory) const { std::free(memory); }  // NOLINT: pairs with aligned_alloc
};
using Zeroed = std::unique_ptr<std::byte[], FreeZeroed>;

// Aligned as a line of the first cache; large tables ask for large pages. Throws std::bad_alloc.
inline Zeroed zeroed(std::size_t bytes) {
  constexpr std::size_t line = 64;
  constexpr std::size_t large_page = std::size_t{2} << 20;
  const std::size_t alignment = bytes < large_page ? line : large_page;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  Zeroed memory(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (alignment == large_page) madvise(memory.get(), rounded, MADV_HUGEPAGE);
#endif
  std::memset(memory.get(), 0, bytes);
  return memory;
}

}  // namespace lockstep
