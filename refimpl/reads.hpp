// What a guard has looked at, and what an action has written: how the simulator knows, without searching,
// which rules a firing may have enabled.
//
// While a guard is evaluated, every row of the state that it looks at is noted, in order, under a key. A
// truth value carries which stretch of that list it rests on: whatever came after it cannot matter, and of a
// conjunction with a false operand nothing matters but that operand. What came before it matters only where
// it may have said which rows to look at: by its indices, or by deciding what is looked at (`pin`). Of the
// last row of the stretch it also says which field it rests on, where that is one, and which value of that
// field would make a difference, where that is one. A guard found false is looked at again when something
// that its value rests on has changed, and never before. What rules' trees say of the fields that a guard may
// look at (checker/footprint) would not do: thousands of instances look at the same fields, and each waits
// for one value of one of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::timed {

// Time in sixteenths of a cycle, so that a unit may perform up to sixteen rules in one.
using Tick = std::uint64_t;
inline constexpr Tick ticks_per_cycle = 16;

// A row of a table, a field of a row or its taking a certain value (the keys behind the row's), one aspect of
// a queue, or a whole table.
using Key = std::uint32_t;
inline constexpr Key any_key = 0;  // written by every firing
// A firing by its number, or none (profile.hpp).
inline constexpr std::uint32_t nobody = ~std::uint32_t{0};

// What a truth value rests on: the rows on the list from the one numbered `from` up to, and without, the one
// numbered `rows`; of the last of them one field or all, and of that field its taking one value or any.
using Stamp = std::uint32_t;
inline constexpr Stamp unstamped = ~Stamp{0};
inline constexpr Stamp any = 255;  // field or value
constexpr Stamp stamp(std::uint32_t rows, std::uint32_t from, Stamp field, Stamp value) {
  return rows << 24 | (255 - from) << 16 | field << 8 | value;
}
inline constexpr Stamp rests_on_nothing = 0;
constexpr std::uint32_t rows_of(Stamp s) {
  return s >> 24;
}
constexpr std::uint32_t from_of(Stamp s) {
  return 255 - (s >> 16 & 255);
}
constexpr Stamp field_of(Stamp s) {
  return s >> 8 & 255;
}
constexpr Stamp value_of(Stamp s) {
  return s & 255;
}
// Of something that rests on both.
constexpr Stamp both(Stamp a, Stamp b) {
  if (a == b) return a;
  const std::uint32_t from = std::min(from_of(a), from_of(b));
  if (rows_of(a) == rows_of(b)) return stamp(rows_of(a), from, any, any);
  const Stamp later = std::max(a, b);
  return stamp(rows_of(later), from, field_of(later), value_of(later));
}
// The one that rests on less, of two of which either will do.
constexpr Stamp lesser(Stamp a, Stamp b) {
  const std::uint32_t of_a = rows_of(a) - std::min(from_of(a), rows_of(a));
  const std::uint32_t of_b = rows_of(b) - std::min(from_of(b), rows_of(b));
  return of_a != of_b ? (of_a < of_b ? a : b) : std::min(a, b);
}

// The fields of a row that have keys of their own; data words have none.
struct Fields {
  const std::uint8_t* field_at = nullptr;  // by byte of the row; `any` for data
  const Key* key_of = nullptr;             // by field: its key, relative to the row's; its values' follow
  const Key* index_keys = nullptr;         // those of the fields that are indices
  std::uint32_t indices = 0;
};

class Reads {
 public:
  static constexpr std::uint32_t capacity = 48;
  static constexpr std::uint64_t no_row = ~std::uint64_t{0};

  // How many rows have been noted; more than `capacity` when some were forgotten.
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] bool in_guard() const { return count_ != no_guard; }
  // Whether anybody wants to know what the guard looks at.
  [[nodiscard]] bool listing() const { return count_ < unlisted; }
  // Calls f(key, row) for all that a stamp says to wait for; the row's number in its table, as several rows
  // of a sparse table may share a key.
  template <class F>
  void for_each_key(Stamp s, F&& f) const {
    const std::uint32_t rows = rows_of(s);
    if (rows > capacity) {
      f(any_key, no_row);
      return;
    }
    const std::uint32_t from = std::min(from_of(s), rows);
    for (std::uint32_t i = 0; i < from; ++i) {
      const Entry& entry = entries_[i];
      if (i < pinned_ || (entry.leads && entry.fields == nullptr)) {
        f(entry.key, entry.row);
      } else if (entry.leads) {
        for (std::uint32_t j = 0; j < entry.fields->indices; ++j)
          f(entry.key + entry.fields->index_keys[j], entry.row);
      }
    }
    for (std::uint32_t i = from; i < rows; ++i) f(key(i, s), entries_[i].row);
  }
  // The message of a link that arrived last, of those that were looked at.
  struct Arrival {
    Tick at = 0;
    Tick starts = 0;                 // when it left, its turn having come
    std::uint32_t sent_by = nobody;  // which firing
    std::uint32_t level = 0;         // of its link
  };
  [[nodiscard]] const Arrival& last_arrival() const { return arrival_; }
  // No message that was looked at has arrived before this.
  [[nodiscard]] Tick not_before() const { return arrival_.at; }

  // The block of the message whose head was looked at, or none.
  static constexpr std::uint32_t no_block = ~std::uint32_t{0};
  [[nodiscard]] std::uint32_t message_block() const { return message_block_; }
  void note_message(std::uint32_t block) { message_block_ = block; }

  // `compares_data` is by key of a table: whether a guard has compared data words of its rows.
  void begin(const Key* table_of, char* compares_data) {
    count_ = 0;
    pinned_ = 0;
    arrival_ = {};
    message_block_ = no_block;
    table_of_ = table_of;
    compares_data_ = compares_data;
  }
  // A guard of which only the value is wanted.
  void begin_unlisted() { count_ = unlisted; }
  void end() { count_ = no_guard; }

  // `leads`: what lies there may say which other rows are looked at. `number` is the row's in its table.
  void note(Key key, bool leads, const void* row = nullptr, std::size_t size = 0,
            const Fields* fields = nullptr, std::uint64_t number = no_row) {
    if (count_ < capacity) {
      if (count_ > 0 && entries_[count_ - 1].key == key && entries_[count_ - 1].row == number) {
        // A head whose emptiness alone was looked at so far.
        if (fields != nullptr)
          entries_[count_ - 1] = {key, leads, static_cast<const char*>(row), size, fields, number};
        return;
      }
      entries_[count_++] = {key, leads, static_cast<const char*>(row), size, fields, number};
    } else if (listing()) {
      count_ = capacity + 1;
    }
  }
  // What was looked at so far decides what else is: nothing rests on less.
  void pin() {
    if (listing()) pinned_ = std::min(count_, capacity);
  }
  void note_arrival(const Arrival& arrival) {
    if (arrival.at > arrival_.at) arrival_ = arrival;
  }

  // Of what rests on everything so far.
  [[nodiscard]] Stamp stamp_now() const { return stamp_since(0); }
  // Of what rests on everything since so many were noted. The last of those may have been noted once more.
  [[nodiscard]] Stamp stamp_since(std::uint32_t count) const {
    return listing() ? stamp(count_, count > 0 ? count - 1 : 0, any, any) : unstamped;
  }
  // Of what rests on the last row noted.
  [[nodiscard]] Stamp stamp_of_last() const { return stamp_since(count_); }
  // Of a field that would have to take the value: how far back the row lies that holds it. A field that lies
  // in no row rests on everything so far.
  [[nodiscard, gnu::always_inline]] Stamp stamp_of(const void* field, Stamp value = any) const {
    return listing() ? found(field, value) : unstamped;
  }

  // Of what rests on no more than the indices that lie in the rows so far.
  [[nodiscard]] Stamp stamp_of_indices() const {
    return listing() ? stamp(count_, count_, any, any) : unstamped;
  }
  // Of two indices compared. One that lies in no row is a parameter, or comes from rows whose indices are
  // waited for in any case.
  [[nodiscard]] Stamp stamp_of_indices(const void* one, const void* other) const {
    if (!listing()) return unstamped;
    const Stamp of_one = found_index(one);
    const Stamp of_other = found_index(other);
    if (from_of(of_one) == count_) return of_other;
    if (from_of(of_other) == count_) return of_one;
    return both(of_one, of_other);
  }

  // Data words are compared, which come from rows that have been noted: from now on those who watch rows of
  // these tables are woken by data, too.
  void note_comparison_of_data() const {
    for (std::uint32_t i = 0; i < std::min(count_, capacity); ++i)
      compares_data_[table_of_[entries_[i].key]] = 1;
  }

  // Forgets what was noted since; for a loop that turns out not to rest on it.
  void rewind(std::uint32_t count) { count_ = count; }

  // Puts whole tables in place of their rows among those noted since: a loop over many rows rests on all.
  void widen(std::uint32_t since) {
    if (count_ > capacity) return;
    std::uint32_t kept = since;
    for (std::uint32_t i = since; i < count_; ++i) {
      const Key table = table_of_[entries_[i].key];
      bool known = false;
      for (std::uint32_t j = since; j < kept; ++j) known |= entries_[j].key == table;
      if (!known) entries_[kept++] = {table, true, nullptr, 0, nullptr, no_row};
    }
    count_ = kept;
  }

 private:
  static constexpr std::uint32_t no_guard = 0xFFFF;  // is being evaluated
  static constexpr std::uint32_t unlisted = 0xFFFE;  // nothing is noted
  struct Entry {
    Key key = 0;
    bool leads = false;
    const char* begin = nullptr;
    std::size_t size = 0;
    const Fields* fields = nullptr;
    std::uint64_t row = no_row;
  };
  // What to wait for, of the i-th of the rows that a stamp names.
  [[nodiscard]] Key key(std::uint32_t i, Stamp s) const {
    const Entry& entry = entries_[i];
    if (i + 1 != rows_of(s) || field_of(s) == any) return entry.key;
    const Key key = entry.key + entry.fields->key_of[field_of(s)];
    return value_of(s) == any ? key : key + 1 + value_of(s);
  }
  // The first row on the list that it lies in; if in none, as many as there are.
  [[nodiscard]] std::uint32_t row_with(const void* field) const {
    const char* const at = static_cast<const char*>(field);
    std::uint32_t i = 0;
    while (i < count_ && static_cast<std::size_t>(at - entries_[i].begin) >= entries_[i].size) ++i;
    return i;
  }
  [[nodiscard]] Stamp found(const void* field, Stamp value) const {
    if (count_ > capacity) return stamp(count_, 0, any, any);
    const std::uint32_t i = row_with(field);
    if (i == count_) return stamp(count_, 0, any, any);
    const Entry& entry = entries_[i];
    // Rows that are absent share one that lies for all of them.
    for (std::uint32_t j = count_ - 1; j > i; --j) {
      if (entries_[j].begin == entry.begin && (entries_[j].key != entry.key || entries_[j].row != entry.row))
        return stamp(j + 1, i, any, any);
    }
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(field) - entry.begin);
    const Stamp known = entry.fields == nullptr ? any : entry.fields->field_at[offset];
    return stamp(i + 1, i, known, known == any ? any : value);
  }
  // An index that lies in none of the rows on the list rests on their indices alone.
  [[nodiscard]] Stamp found_index(const void* field) const {
    if (count_ > capacity) return stamp(count_, 0, any, any);
    if (row_with(field) == count_) return stamp_of_indices();
    const Stamp s = found(field, any);
    return rows_of(s) == count_ ? s : stamp(count_, from_of(s), any, any);
  }

  std::uint32_t count_ = no_guard;
  std::uint32_t pinned_ = 0;
  Arrival arrival_;
  std::uint32_t message_block_ = no_block;
  const Key* table_of_ = nullptr;
  char* compares_data_ = nullptr;
  std::array<Entry, capacity> entries_{};
};

inline constinit thread_local Reads reads{};

// What the Timed kind asks of a table besides its rows: settling what a firing has written.
class TableBase {
 public:
  enum class Change : std::uint8_t { none, inserted, dropped };

  TableBase() = default;
  TableBase(const TableBase&) = delete;
  TableBase& operator=(const TableBase&) = delete;
  virtual ~TableBase() = default;

  // Brings the table's indexes up to date with a row that has been written, and drops it if it is a default
  // row again. `slot` is what the table put into the journal.
  virtual Change settle(std::uint32_t slot) = 0;
  // Of a sparse table: the row's index values, and when a rule last used it.
  [[nodiscard]] virtual const std::uint32_t* coordinates(std::uint32_t) const { return nullptr; }
  [[nodiscard]] virtual Tick used(std::uint32_t) const { return 0; }
  // Likewise, of the row of these index values: its number, and what is written when it is.
  [[nodiscard]] virtual std::uint64_t number_of(const std::uint32_t*) const { return 0; }
  [[nodiscard]] virtual Key key_of(const std::uint32_t*) const { return any_key; }
  // How many of so many fields, from `first` on in the order of its outline, the last firing that wrote the
  // row has set to nothing.
  [[nodiscard]] virtual unsigned taken_away(std::uint32_t, std::size_t, std::size_t) const { return 0; }
  // Of a dense table: whether two rows hold the same.
  [[nodiscard]] virtual bool alike(std::uint32_t, std::uint32_t) const { return false; }
  // Of memory: how many words of the row that firing has changed.
  [[nodiscard]] virtual unsigned changed_words(std::uint32_t) const { return 0; }

  int number = -1;         // among the sparse tables of the state
  bool is_memory = false;  // reads by actions are noted, too
};

// What a reader knows of a field of a row: its path there, whether it is one of as many as a block has words,
// and the names of its values.
struct FieldName {
  std::string name;
  bool per_word = false;
  std::vector<std::string_view> values;
};
using FieldNames = std::vector<FieldName>;

// A message as whoever weighs it sees it.
struct Message {
  const FieldNames* names = nullptr;
  std::vector<std::uint32_t> fields;  // as many as names; of an index its member, of an enumeration its value
  unsigned masked_words = 0;          // that its mask names
};

struct Bytes {
  unsigned header = 0;
  unsigned data = 0;
};

// What a rule sends on one link, as far as it can be said without looking at messages.
struct Weight {
  bool plain = false;   // no more than this
  bool masked = false;  // data follow the mask
  Bytes fixed;
};

// Who looks at messages.
class Weigher {
 public:
  Weigher() = default;
  Weigher(const Weigher&) = delete;
  Weigher& operator=(const Weigher&) = delete;
  virtual ~Weigher() = default;
  // Of a message that the rule that is firing sends on a link of that level.
  virtual Bytes weigh(std::size_t level, const Message& message) = 0;
};

// What one firing writes.
struct Journal {
  struct Row {
    TableBase* table;
    std::uint32_t slot;
  };
  struct Look {
    TableBase* table;
    std::uint32_t block;
  };
  Tick now = 0;
  std::vector<Key> keys;
  std::vector<Row> rows;
  std::vector<Look> looks;          // of its action at memory, without writing
  std::vector<char> compares_data;  // by key of a table: whether rows that are written wake those who watch
                                    // them though nothing but data may have changed

  std::uint32_t firing = nobody;  // the number of the firing, where firings are recorded
  // Of the rule that is firing, by level of links; none while none is.
  const Weight* weights = nullptr;
  Weigher* weigher = nullptr;
  // The first message that it takes, where that is wanted.
  bool wants_message = false;
  bool has_message = false;
  Message message;
  Message sent;  // the one that is being weighed

  void write(Key key) {
    if (keys.empty() || keys.back() != key) keys.push_back(key);
  }
  void clear() {
    keys.clear();
    rows.clear();
    looks.clear();
    has_message = false;
  }
};

}  // namespace lockstep::timed
