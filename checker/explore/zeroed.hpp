// Memory that begins as zeros, for tables that are hit at random.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace lockstep {

struct FreeZeroed {
  std::size_t mapped = 0;  // bytes of pages of its own; 0: it is of the heap
  void operator()(std::byte* memory) const {
    if (mapped != 0) {
      munmap(memory, mapped);
    } else {
      std::free(memory);  // NOLINT: pairs with aligned_alloc
    }
  }
};
using Zeroed = std::unique_ptr<std::byte[], FreeZeroed>;

// Aligned as a line of the first cache. Tables of more than a few pages have pages of their own, which go
// back to the system when they are freed: tables that take turns growing would leave the heap full of holes.
// Those of many pages ask for large ones. Throws std::bad_alloc.
inline Zeroed zeroed(std::size_t bytes) {
  constexpr std::size_t line = 64;
  constexpr std::size_t page = 4096;
  constexpr std::size_t large_page = std::size_t{2} << 20;
  if (bytes < 16 * page) {
    const std::size_t rounded = (bytes + line - 1) / line * line;
    Zeroed memory(static_cast<std::byte*>(std::aligned_alloc(line, rounded)), {});
    if (!memory) throw std::bad_alloc();
    std::memset(memory.get(), 0, bytes);
    return memory;
  }
  const std::size_t alignment = bytes < large_page ? page : large_page;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  // More than is needed, so that some of it begins where a large page may; the rest goes back.
  const std::size_t slack = alignment - page;
  void* const mapped =
      mmap(nullptr, rounded + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();  // NOLINT: the system's own macro
  auto* begin = static_cast<std::byte*>(mapped);
  const std::size_t over = reinterpret_cast<std::uintptr_t>(begin) % alignment;
  const std::size_t before = over == 0 ? 0 : alignment - over;
  if (before != 0) munmap(begin, before);
  begin += before;
  if (slack != before) munmap(begin + rounded, slack - before);
#ifdef MADV_HUGEPAGE
  if (alignment == large_page) madvise(begin, rounded, MADV_HUGEPAGE);
#endif
  return Zeroed(begin, {rounded});
}

}  // namespace lockstep
