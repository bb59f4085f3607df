// Remote atomics: today's GPUs with an L2 that writes back. L1s and synchronization are those of
// write_through.hpp; L2, which "performs all device-scoped atomics", keeps what is written until it replaces
// the block, a release at system scope comes, or all threads have ended.
//
// Source: the baseline that LAB, hLRC and PHI are compared with (Dalmia, thesis 2023, 3.3.2 and Table 3.1),
// in a simulator whose L2 writes back. The thesis says no more of it, so this is ours: a write that misses
// fetches nothing, since L2 knows which words are dirty, and a read of a block that is there in part fetches
// the rest (what GPGPU-Sim, which the thesis uses, calls lazy fetch on read). What goes on from L2 of a
// block, a read or an atomic for memory, takes the dirty words along. A release at system scope has L2 write
// back all that is dirty when it comes; an acquire at system scope drops all words that are not dirty. With
// an L2 that writes through the baseline is the system write-through.
//
// Variant sm-wb-nc is a baseline of HALCONE (Mojumder et al. 2020, 4.1): GPUs that share memory, "L2$ with WB
// and no coherency". Between GPUs nothing but a fence at system scope, and so a kernel's begin and end, keeps
// L2s coherent; an atomic at system scope is one at agent scope.
#pragma once

#include <array>
#include <string_view>

#include "spec/memory/write_through.hpp"

namespace lockstep::remote_atomics {

inline constexpr std::array variants{
    Variant{"default", "the baseline of LAB (thesis 3.3.2), with scopes, and an L2 that writes back"},
    Variant{"sm-wb-nc", "HALCONE 4.1: between GPUs no coherence but by fences and kernels' edges"},
};

inline constexpr std::array faults{
    Fault{"release-does-not-wait", "a release is acknowledged when its marker is sent"},
    Fault{"early-acknowledgement", "a system release is acknowledged at L2"},
    Fault{"release-leaves-dirty-words", "a system release has L2 write nothing back"},
    Fault{"acquire-keeps-l1", "an acquire does not invalidate L1"},
    Fault{"acquire-keeps-l2", "an acquire at system scope does not invalidate L2"},
    Fault{"acquire-drops-dirty-words", "an acquire at system scope drops what was not written back"},
    Fault{"fill-survives-acquire", "a fill in flight while its cache is invalidated is cached after it"},
    Fault{"fill-survives-write", "a fill in flight while its block is written is cached after it"},
    Fault{"read-lacks-dirty-words", "a read that misses L2 brings what memory has of words that are dirty"},
    Fault{"whole-block-written-back", "a block that L2 has as a whole is written back as a whole"},
    Fault{"l1-copy-not-updated", "a store leaves the old word in its L1"},
    Fault{"atomic-keeps-l1-copy", "an atomic performed beyond L1 leaves the old copy in its L1"},
    Fault{"atomic-leaves-dirty-words", "an atomic passes L2 without the dirty words of its block"},
    Fault{"atomic-overtakes-writes", "an atomic is sent ahead of the writes on its link"},
    Fault{"marker-overtakes-writes", "a release marker is sent ahead of the writes on its link"},
    Fault{"cpu-not-invalidated", "a GPU write reaches memory without invalidating the CPUs"},
};

// L2 keeps writes.
struct WritesStay {
  static constexpr bool kept_at_l2 = true;
  static constexpr auto& faults = remote_atomics::faults;
  static constexpr auto& variants = remote_atomics::variants;
  static constexpr const char* non_coherent = "sm-wb-nc";
  static constexpr std::string_view source = "thesis 3.3.2; ours";
};

struct Info : MemoryInfo<faults, variants, write_through::Link1Slot, write_through::Link2Slot> {
  static constexpr std::string_view name = "remote-atomics";
  static constexpr std::string_view what =
      "an L2 that writes back and performs the atomics of its GPU (Dalmia, thesis 2023, 3.3.2)";
  static constexpr std::string_view monitor = write_through::Info::monitor;
  static constexpr int place = 12;  // among the systems, where people read of them
  static constexpr bool is_unread(std::string_view, std::string_view, std::string_view) { return false; }
  template <class S>
  static constexpr void default_sizes(S& sizes, int variant) {
    write_through::Info::default_sizes(sizes, variant);
  }
  template <class K>
  using Memory = write_through::Protocol<K, write_through::Direct, WritesStay>;
};

}  // namespace lockstep::remote_atomics
