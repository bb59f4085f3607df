// What instructions carry for models: Vulkan's storage classes, availability and visibility, PTX's proxies,
// and what processors say besides an order, as bits of Instruction::tags. Memory systems know none of it;
// they take a program that says some of it where its orders say as much.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "spec/program/program.hpp"

namespace lockstep {

enum class Tag : std::uint8_t {
  sc0,  // storage class of an access
  sc1,
  sc2,
  sc3,
  semsc0,  // storage classes that an acquire or release orders
  semsc1,
  semsc2,
  semsc3,
  av,  // makes what it writes available
  vis,
  semav,  // makes available what was written before
  semvis,
  nonpriv,   // takes part in what orders threads
  avdevice,  // an operation by itself, to the device domain
  visdevice,
  in_sg,  // the instance that its scope names; an access that is no atomic may have one, too
  in_wg,
  in_qf,
  in_dv,
  generic,  // only of a proxy fence; what has no proxy is generic
  surface,
  texture,
  constant,
  alias,       // of a proxy fence: between addresses
  exclusive,   // a load that watches its location, and the store that succeeds only if nobody wrote there
  acquire_pc,  // an acquire that a release before it does not wait for (AArch64's LDAPR)
  // fences of x86,
  mfence,
  lfence,
  sfence,
  // of AArch64, of all of the system and of the inner shareable domain,
  dmb_sy,
  dmb_ld,
  dmb_st,
  dmb_ish,
  dmb_ishld,
  dmb_ishst,
  dsb_sy,
  dsb_ld,
  dsb_st,
  dsb_ish,
  dsb_ishld,
  dsb_ishst,
  isb,
  // and of RISC-V: what comes before, and what after
  fence_r_r,
  fence_r_w,
  fence_r_rw,
  fence_w_r,
  fence_w_w,
  fence_w_rw,
  fence_rw_r,
  fence_rw_w,
  fence_rw_rw,
  fence_tso,
};
inline constexpr std::size_t tag_count = static_cast<std::size_t>(Tag::fence_tso) + 1;

using Tags = std::uint64_t;
constexpr Tags bit(Tag tag) {
  return Tags{1} << static_cast<unsigned>(tag);
}
constexpr Tags bits(Tag first, Tag last) {
  return (bit(last) << 1U) - bit(first);
}
constexpr bool has(Tags tags, Tag tag) {
  return (tags & bit(tag)) != 0;
}

inline constexpr Tags storage_classes = bits(Tag::sc0, Tag::sc3);
inline constexpr Tags storage_semantics = bits(Tag::semsc0, Tag::semsc3);
inline constexpr Tags scope_instances = bits(Tag::in_sg, Tag::in_dv);
inline constexpr Tags proxies = bits(Tag::generic, Tag::constant);
inline constexpr Tags processor_fences = bits(Tag::mfence, Tag::fence_tso);
inline constexpr Tags device_operations = bit(Tag::avdevice) | bit(Tag::visdevice);
// By what of an RMW its read and its write go alone.
inline constexpr Tags only_of_reads = bit(Tag::vis) | bit(Tag::semvis);
inline constexpr Tags only_of_writes = bit(Tag::av) | bit(Tag::semav);

// How programs are printed.
inline constexpr std::array<std::string_view, tag_count> tag_words{
    "sc0",        "sc1",         "sc2",        "sc3",       "semsc0",    "semsc1",     "semsc2",
    "semsc3",     "av",          "vis",        "semav",     "semvis",    "nonpriv",    "avdevice",
    "visdevice",  "insg",        "inwg",       "inqf",      "indv",      "generic",    "surface",
    "texture",    "constant",    "alias",      "exclusive", "acquirepc", "mfence",     "lfence",
    "sfence",     "dmb_sy",      "dmb_ld",     "dmb_st",    "dmb_ish",   "dmb_ishld",  "dmb_ishst",
    "dsb_sy",     "dsb_ld",      "dsb_st",     "dsb_ish",   "dsb_ishld", "dsb_ishst",  "isb",
    "fence_r_r",  "fence_r_w",   "fence_r_rw", "fence_w_r", "fence_w_w", "fence_w_rw", "fence_rw_r",
    "fence_rw_w", "fence_rw_rw", "fence_tso"};

// ".sc0.av.indv"
inline std::string print_tags(Tags tags) {
  std::string text;
  for (; tags != 0; tags &= tags - 1) {
    text.append(".").append(tag_words[static_cast<std::size_t>(std::countr_zero(tags))]);
  }
  return text;
}

// The tag of that word, as a bit; 0 where there is none.
inline Tags tag_of(std::string_view word) {
  for (std::size_t i = 0; i < tag_count; ++i) {
    if (tag_words[i] == word) return Tags{1} << i;
  }
  return 0;
}

// For memory systems and the search for races: throws BadInput where a program says any of this that is more
// than an order.
void refuse_for_models(const Program& program);

}  // namespace lockstep
