#include "checker/explore/state_tree.hpp"

#include <algorithm>
#include <stdexcept>

namespace lockstep {

// ---- numbered values --------------------------------------------------------------------------------------

NumberedValues::NumberedValues() {
  constexpr unsigned first_bits = 7;
  indices_.push_back(std::make_unique<Index>(first_bits));
  index_.store(indices_.back().get(), std::memory_order_release);
}

std::uint32_t NumberedValues::add(std::uint64_t value, std::uint64_t hash) {
  const std::lock_guard lock(adding_);
  if (const std::uint32_t found = find(*indices_.back(), value, hash); found != nowhere) return found;
  const std::uint32_t number = count_.load(std::memory_order_relaxed);
  if (number == most) throw std::length_error("more parts of states than are numbered");
  if ((std::size_t{number} + 1) * 4 > (std::size_t{1} << indices_.back()->bits) * 3) enlarge();
  const unsigned chunk = chunk_of(number);
  const std::uint32_t first = first_of(chunk);
  if (number == first)
    chunks_[chunk] =
        std::make_unique_for_overwrite<std::uint64_t[]>(chunk == 0 ? 1U << first_chunk_bits : first);
  chunks_[chunk][number - first] = value;
  put(*indices_.back(), hash, number);
  count_.store(number + 1, std::memory_order_relaxed);
  return number;
}

void NumberedValues::put(Index& index, std::uint64_t hash, std::uint32_t number) {
  const std::uint32_t mask = index.mask();
  auto at = static_cast<std::uint32_t>(hash) & mask;
  while (index.slots[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & mask;
  index.slots[at].store(tag_of(index, hash) | (number + 1), std::memory_order_release);
}

void NumberedValues::enlarge() {
  auto larger = std::make_unique<Index>(indices_.back()->bits + 1);
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  for (std::uint32_t number = 0; number < count; ++number) put(*larger, hash_of(value(number)), number);
  index_.store(larger.get(), std::memory_order_release);
  indices_.push_back(std::move(larger));
}

void NumberedValues::release() {
  if (indices_.size() > 1) indices_.erase(indices_.begin(), indices_.end() - 1);
}

std::size_t NumberedValues::memory() const {
  std::size_t bytes = 0;
  for (const auto& index : indices_) bytes += sizeof(std::uint32_t) << index->bits;
  const std::uint32_t count = size();
  if (count > 0) {
    const unsigned last = chunk_of(count - 1);
    bytes += sizeof(std::uint64_t) * (std::size_t{1} << (first_chunk_bits + last));
  }
  return bytes;
}

// ---- the tree ---------------------------------------------------------------------------------------------

namespace {

constexpr unsigned word_bits = 64;

std::size_t parts_of(unsigned state_bits) {
  return std::bit_ceil(std::max<std::size_t>(2, (state_bits + word_bits - 1) / word_bits));
}

}  // namespace

StateTree::StateTree(unsigned state_bits)
    : words_(std::max(1U, (state_bits + word_bits - 1) / word_bits)),
      parts_(parts_of(state_bits)),
      part_bits_(std::max(1U, static_cast<unsigned>((state_bits + parts_ - 1) / parts_))),
      part_mask_(part_bits_ == word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << part_bits_) - 1),
      nodes_(2 * parts_) {}

void StateTree::open(StateKey key, Batch& batch) const {
  const std::size_t i = batch.opened_++;
  if (batch.states_.size() < batch.opened_ * words_) {
    batch.states_.resize(2 * batch.opened_ * words_);
    batch.values_.resize(2 * batch.opened_ * parts_);
    batch.numbers_.resize(2 * batch.opened_ * 2 * parts_);
  }
  std::uint32_t* const numbers = batch.numbers(i);
  numbers[2] = static_cast<std::uint32_t>(key >> 32);
  numbers[3] = static_cast<std::uint32_t>(key);
  for (std::size_t n = 2; n < parts_; ++n) {
    const std::uint64_t children = nodes_[n].value(numbers[n]);
    numbers[2 * n] = static_cast<std::uint32_t>(children >> 32);
    numbers[2 * n + 1] = static_cast<std::uint32_t>(children);
  }
  std::uint64_t* const words = batch.states_.data() + i * words_;
  std::uint64_t* const values = batch.values(i);
  std::fill_n(words, words_, 0);
  for (std::size_t part = 0; part < parts_; ++part) {
    const std::uint64_t value = nodes_[parts_ + part].value(numbers[parts_ + part]);
    values[part] = value;
    const std::size_t at = part * part_bits_;
    const std::size_t word = at / word_bits;
    const unsigned shift = at % word_bits;
    if (word >= words_) continue;
    words[word] |= value << shift;
    if (shift + part_bits_ > word_bits && word + 1 < words_) words[word + 1] |= value >> (word_bits - shift);
  }
}

void StateTree::ask(std::size_t node, std::uint64_t value, std::size_t at, Batch& batch) {
  NumberedValues& values = nodes_[node];
  if (values.is_small()) {
    batch.numbers_of_near_[at] = values.number_of(value);
    return;
  }
  const std::uint64_t hash = NumberedValues::hash_of(value);
  values.prefetch_slot(hash);
  batch.questions_.push_back({value, hash, static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(at)});
}

void StateTree::answer(Batch& batch) {
  for (const Batch::Question& question : batch.questions_)
    nodes_[question.node].prefetch_value(question.hash);
  for (const Batch::Question& question : batch.questions_)
    batch.numbers_of_near_[question.at] = nodes_[question.node].number_of(question.value, question.hash);
  batch.questions_.clear();
}

void StateTree::keys_of(const std::uint64_t* states, const std::vector<Near>& wanted, Batch& batch,
                        std::vector<StateKey>& keys) {
  const std::size_t stride = 2 * parts_;
  const std::size_t count = wanted.size();
  if (batch.numbers_of_near_.size() < count * stride) batch.numbers_of_near_.resize(count * stride);
  std::vector<Batch::Differing>& differing = batch.differing_;
  differing.clear();
  // A state has the numbers of the one that it is near, but where the two differ.
  std::uint32_t* const all = batch.numbers_of_near_.data();
  for (std::size_t s = 0; s < count; ++s) {
    const std::uint64_t* const state = states + wanted[s].state * words_;
    const std::uint64_t* const near = batch.state(wanted[s].of);
    const std::uint64_t* const values = batch.values(wanted[s].of);
    std::copy_n(batch.numbers(wanted[s].of), stride, all + s * stride);
    std::size_t next = 0;  // the first part that has not been compared
    for (std::size_t word = 0; word < words_; ++word) {
      if (state[word] == near[word]) continue;
      const std::size_t last = std::min((word + 1) * word_bits - 1, parts_ * part_bits_ - 1) / part_bits_;
      for (std::size_t i = std::max(next, word * word_bits / part_bits_); i <= last; ++i) {
        const std::uint64_t value = part(state, i);
        if (value == values[i]) continue;
        ask(parts_ + i, value, s * stride + parts_ + i, batch);
        if (parts_ > 2)
          differing.push_back({static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(parts_ + i)});
      }
      next = last + 1;
    }
  }
  answer(batch);
  for (std::size_t level = parts_ / 2; level >= 2; level /= 2) {
    // Of the nodes of a level, those above the ones that differ a level below; each once.
    std::size_t left = 0;
    for (const Batch::Differing below : differing) {
      const Batch::Differing here{below.state, below.node / 2};
      if (left > 0 && differing[left - 1] == here) continue;
      differing[left++] = here;
      const std::size_t at = here.state * stride + here.node;
      const std::uint32_t* const children = all + here.state * stride + 2 * here.node;
      ask(here.node, pair(children[0], children[1]), at, batch);
    }
    differing.resize(left);
    answer(batch);
  }
  keys.resize(count);
  for (std::size_t s = 0; s < count; ++s) keys[s] = pair(all[s * stride + 2], all[s * stride + 3]);
}

StateKey StateTree::key_of(const std::uint64_t* words) {
  std::vector<std::uint32_t> numbers(2 * parts_, 0);
  for (std::size_t i = 0; i < parts_; ++i) numbers[parts_ + i] = nodes_[parts_ + i].number_of(part(words, i));
  for (std::size_t n = parts_ - 1; n >= 2; --n)
    numbers[n] = nodes_[n].number_of(pair(numbers[2 * n], numbers[2 * n + 1]));
  return pair(numbers[2], numbers[3]);
}

std::size_t StateTree::memory() const {
  std::size_t bytes = 0;
  for (std::size_t n = 2; n < nodes_.size(); ++n) bytes += nodes_[n].memory();
  return bytes;
}

void StateTree::release() {
  for (NumberedValues& node : nodes_) node.release();
}

}  // namespace lockstep
