// What instructions carry for models alone: Vulkan's storage classes, availability and visibility, and PTX's
// proxies, as bits of Instruction::tags. Memory systems know none of it and take no program that has any.
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
  alias,  // of a proxy fence: between addresses
};
inline constexpr std::size_t tag_count = static_cast<std::size_t>(Tag::alias) + 1;

constexpr std::uint32_t bit(Tag tag) {
  return std::uint32_t{1} << static_cast<unsigned>(tag);
}
constexpr std::uint32_t bits(Tag first, Tag last) {
  return (bit(last) << 1U) - bit(first);
}
constexpr bool has(std::uint32_t tags, Tag tag) {
  return (tags & bit(tag)) != 0;
}

inline constexpr std::uint32_t storage_classes = bits(Tag::sc0, Tag::sc3);
inline constexpr std::uint32_t storage_semantics = bits(Tag::semsc0, Tag::semsc3);
inline constexpr std::uint32_t scope_instances = bits(Tag::in_sg, Tag::in_dv);
inline constexpr std::uint32_t proxies = bits(Tag::generic, Tag::constant);
inline constexpr std::uint32_t device_operations = bit(Tag::avdevice) | bit(Tag::visdevice);
// By what of an RMW its read and its write go alone.
inline constexpr std::uint32_t only_of_reads = bit(Tag::vis) | bit(Tag::semvis);
inline constexpr std::uint32_t only_of_writes = bit(Tag::av) | bit(Tag::semav);

// How programs are printed.
inline constexpr std::array<std::string_view, tag_count> tag_words{
    "sc0",  "sc1",  "sc2",   "sc3",     "semsc0",  "semsc1",   "semsc2",    "semsc3",
    "av",   "vis",  "semav", "semvis",  "nonpriv", "avdevice", "visdevice", "insg",
    "inwg", "inqf", "indv",  "generic", "surface", "texture",  "constant",  "alias"};

// ".sc0.av.indv"
inline std::string print_tags(std::uint32_t tags) {
  std::string text;
  for (; tags != 0; tags &= tags - 1) {
    text.append(".").append(tag_words[static_cast<std::size_t>(std::countr_zero(tags))]);
  }
  return text;
}

// The tag of that word, as a bit; 0 where there is none.
inline std::uint32_t tag_of(std::string_view word) {
  for (std::size_t i = 0; i < tag_count; ++i) {
    if (tag_words[i] == word) return std::uint32_t{1} << i;
  }
  return 0;
}

// For memory systems and the search for races: throws BadInput where a program says any of this.
void refuse_for_models(const Program& program);

}  // namespace lockstep
