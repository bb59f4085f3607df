#include "checker/cluster/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "checker/explore/model.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/journal.hpp"
#include "checker/support/json_text.hpp"
#include "spec/kernel/concrete.hpp"

namespace lockstep::cluster {

namespace {

// An exception that ranks may tell one another.
struct Told {
  enum Kind : std::uint64_t { none, bad_input, broken_rule, out_of_range, out_of_memory, other };
  std::uint64_t kind = none;
  std::int32_t value = 0;  // of out_of_range
  ValueRange range{};
  std::string text{};
};

Told told(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const BadInput& e) {
    return {Told::bad_input, 0, {}, e.what()};
  } catch (const BrokenRule& e) {
    return {Told::broken_rule, 0, {}, e.what()};
  } catch (const ValueOutOfRange& e) {
    return {Told::out_of_range, e.value, e.range, ""};
  } catch (const std::bad_alloc&) {
    return {Told::out_of_memory, 0, {}, ""};
  } catch (const std::exception& e) {
    return {Told::other, 0, {}, e.what()};
  }
}

std::uint64_t word_of(std::int32_t number) {
  return static_cast<std::uint32_t>(number);
}
std::int32_t number_of(std::uint64_t word) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(word));
}

}  // namespace

std::vector<std::string> all_texts(Ranks& ranks, const std::string& mine) {
  Words words(1 + (mine.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  words[0] = mine.size();
  if (!mine.empty()) std::memcpy(words.data() + 1, mine.data(), mine.size());
  std::vector<Words> from;
  ranks.exchange(std::vector<Words>(static_cast<std::size_t>(ranks.size()), words), from);
  std::vector<std::string> texts;
  texts.reserve(from.size());
  for (const Words& one : from)
    texts.emplace_back(reinterpret_cast<const char*>(one.data() + 1), static_cast<std::size_t>(one[0]));
  return texts;
}

Words words_of(Ranks& ranks, std::uint64_t rank, const Words& mine) {
  const Words all = ranks.all(mine);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * mine.size());
  return {begin, begin + static_cast<std::ptrdiff_t>(mine.size())};
}

void agree(Ranks& ranks, const std::exception_ptr& mine) {
  const Told error = told(mine);
  const Words kinds = ranks.all({error.kind});
  const auto first =
      std::find_if(kinds.begin(), kinds.end(), [](std::uint64_t kind) { return kind != Told::none; });
  if (first == kinds.end()) return;
  const auto rank = static_cast<std::uint64_t>(first - kinds.begin());
  const std::string text = all_texts(ranks, error.text)[rank];
  const Words numbers =
      words_of(ranks, rank, {word_of(error.value), word_of(error.range.low), word_of(error.range.high)});
  if (*first == Told::bad_input && rank == static_cast<std::uint64_t>(ranks.rank()))
    std::rethrow_exception(mine);
  switch (*first) {
    case Told::bad_input:
      throw BadInput(fmt::format("rank {}: {}", rank, text));
    case Told::broken_rule:
      throw BrokenRule(text);
    case Told::out_of_range:
      throw ValueOutOfRange{number_of(numbers[0]), {number_of(numbers[1]), number_of(numbers[2])}};
    case Told::out_of_memory:
      throw std::bad_alloc();
    default:
      throw std::runtime_error(fmt::format("rank {}: {}", rank, text));
  }
}

void agree_on(Ranks& ranks, const nlohmann::json& asked) {
  const std::vector<std::string> all = all_texts(ranks, json_text(asked));
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    throw BadInput(fmt::format("rank {} was asked for something else than rank 0: {}", r,
                               differences(nlohmann::json::parse(all[r]), nlohmann::json::parse(all[0]))),
                   "give all ranks the same command and the same files");
  }
}

}  // namespace lockstep::cluster
