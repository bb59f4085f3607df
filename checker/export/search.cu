// ---- the search ------------------------------------------------------------------------------------------
//
// Breadth first, a depth at a time: every state of a depth is expanded by a thread of its own, and successors
// go into one table in the order in which their slots were taken. Counts, verdicts and the length of a run to
// a failure are the same whatever the order in which threads come.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#ifdef __CUDACC__
#include <cuda/atomic>
template <class T>
using Atomic = cuda::atomic_ref<T, cuda::thread_scope_device>;
constexpr auto relaxed = cuda::memory_order_relaxed;
constexpr auto acquire = cuda::memory_order_acquire;
constexpr auto release = cuda::memory_order_release;
#else
#include <atomic>
#include <thread>
template <class T>
using Atomic = std::atomic_ref<T>;
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
#endif

namespace {

using Count = unsigned long long;
using Slot = std::uint32_t;
using model::State;

constexpr int claims_of_model = model::claims > 0 ? model::claims : 1;
constexpr Slot none = 0xffffffff;

// Open addressing. A slot is a tag and a row. A tag is 0 while its slot is empty; else it is a part of the
// state's hash, and its last bit says that the row is there to be read. Whoever takes a slot writes the row
// and then releases the tag; whoever finds the same part of a hash acquires it. (litmus/rmw/insert-agent asks
// whether that is enough: `lockstep litmus insert-agent --model ptx-v6.0`.)
struct Table {
  std::uint32_t* entries;
  Slot* order;    // of states, as they were found
  Slot* parents;  // by slot; null where no run is asked for
  Slot slots;

  static constexpr int stride = model::words + 1;
  [[nodiscard]] BOTH std::uint32_t& tag(Slot slot) const {
    return entries[static_cast<std::size_t>(slot) * stride];
  }
  [[nodiscard]] BOTH std::uint32_t* row(Slot slot) const {
    return entries + static_cast<std::size_t>(slot) * stride + 1;
  }
};

struct Counters {
  Count states;  // the end of the order
  Count firings;
  Count claims[claims_of_model];
  Slot first[claims_of_model];  // of the states of a claim, one that was found in the earliest depth
  unsigned failed;              // 1: where the search stops at a failure, there is one
  unsigned full;
  Slot broken;  // the state whose successor, or guard, left the range of its types
};

BOTH inline std::uint64_t hash(const std::uint32_t* row) {
  std::uint64_t h = 0x9e3779b97f4a7c15ull;
  UNROLL
  for (int i = 0; i < model::words; ++i) {
    h = (h ^ row[i]) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  h *= 0xc4ceb9fe1a85ec53ull;
  return h ^ (h >> 29);
}

// `h`: the row's hash.
BOTH inline void insert(const Table& table, Counters* counters, const std::uint32_t* row, std::uint64_t h,
                        Slot parent) {
  std::uint32_t tag = static_cast<std::uint32_t>(h >> 32) & ~1u;
  if (tag == 0) tag = 2;
  Slot slot = static_cast<Slot>(((h & 0xffffffffu) * table.slots) >> 32);
  for (Slot probes = 0; probes < table.slots; ++probes) {
    Atomic<std::uint32_t> at(table.tag(slot));
    std::uint32_t found = at.load(acquire);
    if (found == 0) {
      if (at.compare_exchange_strong(found, tag, acquire, acquire)) {
        std::uint32_t* const mine = table.row(slot);
        for (int i = 0; i < model::words; ++i) mine[i] = row[i];
        if (table.parents != nullptr) table.parents[slot] = parent;
        at.store(tag | 1u, release);
        const Count number = Atomic<Count>(counters->states).fetch_add(1, relaxed);
        if (number < table.slots) table.order[number] = slot;
        return;
      }
    }
    if ((found & ~1u) == tag) {
      while ((found & 1u) == 0) found = at.load(acquire);
      const std::uint32_t* const other = table.row(slot);
      bool same = true;
      for (int i = 0; i < model::words; ++i) same = same && other[i] == row[i];
      if (same) return;
    }
    if (++slot == table.slots) slot = 0;
    if (probes == 4096 && Atomic<Count>(counters->states).load(relaxed) > table.slots / 10 * 9) break;
  }
  Atomic<unsigned>(counters->full).store(1, relaxed);
}

BOTH inline void begin(const Table& table, Counters* counters) {
  model::starts([&](const std::uint32_t* row, bool sound) {
    if (!sound) counters->broken = none - 1;
    insert(table, counters, row, hash(row), none);
  });
}

// A number that stands for everything that the rules and claims say of a state, made of their answers one by
// one.
struct Reading {
  std::uint64_t number = 0;
  BOTH void successor(std::uint64_t h, bool sound, int rule, int member) {
    number += h * static_cast<std::uint64_t>(2 * (rule * 1021 + member) + (sound ? 1 : 3));
  }
  BOTH void claim(int claim) { number += std::uint64_t{1} << (claim % 64); }
  BOTH void live() { number ^= std::uint64_t{1} << 63; }
};

BOTH inline Reading expand(const Table& table, Counters* counters, Slot slot, Count& firings) {
  std::uint32_t row[model::words];
  UNROLL
  for (int i = 0; i < model::words; ++i) row[i] = table.row(slot)[i];
  State state;
  model::unpack(row, state);
  bool all_sound = true;
  Reading reading;
  const bool live =
      model::successors(state, row, [&](const std::uint32_t* next, bool sound, int rule, int member) {
        const std::uint64_t h = hash(next);
        ++firings;
        all_sound = sound && all_sound;
        reading.successor(h, sound, rule, member);
        insert(table, counters, next, h, slot);
      });
  if (live) reading.live();
  model::judge(state, live, [&](int claim, bool failure) {
    reading.claim(claim);
    Atomic<Count>(counters->claims[claim]).fetch_add(1, relaxed);
    Slot first = none;
    Atomic<Slot>(counters->first[claim]).compare_exchange_strong(first, slot, relaxed, relaxed);
    if (failure && model::stops) Atomic<unsigned>(counters->failed).store(1, relaxed);
  });
  if (!all_sound || state.broken_) Atomic<Slot>(counters->broken).store(slot, relaxed);
  return reading;
}

struct Options {
  std::size_t memory = 0;  // MiB; 0: on a graphics processor nine tenths of what is free, else 1024
  std::size_t states = 0;  // for so many states instead, with as much room again
  int depth = -1;          // no further than that
  unsigned threads = 0;    // of the machine's processors; 0: all
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "search: %s\n", what);
  std::exit(2);
}

// `bytes`: of the table, where nothing else was asked for.
std::size_t slots_for(const Options& options, std::size_t bytes) {
  constexpr std::size_t slot = sizeof(std::uint32_t) * Table::stride + sizeof(Slot) * (model::stops ? 2 : 1);
  if (options.memory != 0) bytes = options.memory << 20;
  const std::size_t slots = options.states != 0 ? 2 * options.states + 1024 : bytes / slot;
  return slots < none - 2 ? slots : none - 2;
}

#ifdef __CUDACC__

void must(cudaError_t error) {
  if (error != cudaSuccess) fail(cudaGetErrorString(error));
}

// The same of a state, by the processor.
Reading read(const std::uint32_t* row) {
  State state;
  model::unpack(row, state);
  Reading reading;
  const bool live =
      model::successors(state, row, [&](const std::uint32_t* next, bool sound, int rule, int member) {
        reading.successor(hash(next), sound, rule, member);
      });
  if (live) reading.live();
  model::judge(state, live, [&](int claim, bool) { reading.claim(claim); });
  return reading;
}

__global__ void begin_kernel(Table table, Counters* counters) {
  begin(table, counters);
}

constexpr unsigned threads_a_block = 128;

// Every `stride`th state from `from` on, of those before `to`; what was made of them into `readings`, where
// it is asked for.
__global__ void __launch_bounds__(threads_a_block)
    expand_kernel(Table table, Counters* counters, Count from, Count to, Count stride, Reading* readings) {
  Count firings = 0;
  const Count threads = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count n = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; from + n * stride < to;
       n += threads) {
    const Reading reading = expand(table, counters, table.order[from + n * stride], firings);
    if (readings != nullptr) readings[n] = reading;
  }
  if (firings != 0) Atomic<Count>(counters->firings).fetch_add(firings, relaxed);
}

// The table in the memory of a graphics processor.
class Search {
 public:
  explicit Search(const Options& options) {
    cudaDeviceProp properties{};
    must(cudaGetDeviceProperties(&properties, 0));
    std::snprintf(name_, sizeof name_, "%s", properties.name);
    std::size_t free = 0;
    std::size_t total = 0;
    must(cudaMemGetInfo(&free, &total));
    const std::size_t slots = slots_for(options, free / 10 * 9);
    table_.slots = static_cast<Slot>(slots);
    must(cudaMalloc(&table_.entries, slots * sizeof(std::uint32_t) * Table::stride));
    must(cudaMalloc(&table_.order, slots * sizeof(Slot)));
    table_.parents = nullptr;
    if (model::stops) must(cudaMalloc(&table_.parents, slots * sizeof(Slot)));
    must(cudaMalloc(&counters_, sizeof(Counters)));
    int blocks = 0;
    must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, expand_kernel, threads_a_block, 0));
    blocks_ = static_cast<unsigned>(blocks * properties.multiProcessorCount);
    must(cudaMemset(table_.entries, 0, slots * sizeof(std::uint32_t) * Table::stride));
  }
  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] const Table& table() const { return table_; }
  void start(const Counters& counters) {
    must(cudaMemcpy(counters_, &counters, sizeof counters, cudaMemcpyHostToDevice));
    begin_kernel<<<1, 1>>>(table_, counters_);
  }
  void expand_all(Count from, Count to) { launch(from, to, 1, nullptr); }
  [[nodiscard]] Counters counters() const {
    Counters now;
    must(cudaMemcpy(&now, counters_, sizeof now, cudaMemcpyDeviceToHost));
    return now;
  }
  [[nodiscard]] Slot parent(Slot slot) const {
    Slot parent = none;
    must(cudaMemcpy(&parent, table_.parents + slot, sizeof parent, cudaMemcpyDeviceToHost));
    return parent;
  }
  void row(Slot slot, std::uint32_t* to) const {
    must(cudaMemcpy(to, table_.row(slot), sizeof(std::uint32_t) * model::words, cudaMemcpyDeviceToHost));
  }
  // Two compilers have read the rules: whether they agree on some thousand states, by the code that has
  // searched. What it inserts is there already, or lies behind where the search stopped.
  [[nodiscard]] bool confirmed(Count states) {
    const Count stride = states / 8192 + 1;
    const Count samples = (states + stride - 1) / stride;
    Reading* readings = nullptr;
    must(cudaMalloc(&readings, samples * sizeof *readings));
    launch(0, states, stride, readings);
    std::vector<Reading> here(samples);
    std::vector<Slot> slots(samples);
    must(cudaMemcpy(here.data(), readings, samples * sizeof *readings, cudaMemcpyDeviceToHost));
    must(cudaFree(readings));
    must(cudaMemcpy2D(slots.data(), sizeof(Slot), table_.order, stride * sizeof(Slot), sizeof(Slot), samples,
                      cudaMemcpyDeviceToHost));
    for (Count i = 0; i < samples; ++i) {
      std::uint32_t row[model::words];
      this->row(slots[i], row);
      if (here[i].number != read(row).number) return false;
    }
    return true;
  }

 private:
  void launch(Count from, Count to, Count stride, Reading* readings) {
    const Count needed = ((to - from) / stride + threads_a_block) / threads_a_block;
    expand_kernel<<<static_cast<unsigned>(needed < blocks_ ? needed : blocks_), threads_a_block>>>(
        table_, counters_, from, to, stride, readings);
    must(cudaGetLastError());
  }

  Table table_{};
  Counters* counters_ = nullptr;
  unsigned blocks_ = 1;
  char name_[256] = {};
};

#else

// The table in the machine's own memory.
class Search {
 public:
  explicit Search(const Options& options)
      : threads_(options.threads != 0 ? options.threads : std::thread::hardware_concurrency()) {
    if (threads_ == 0) threads_ = 1;
    std::snprintf(name_, sizeof name_, "%u threads", threads_);
    const std::size_t slots = slots_for(options, std::size_t{1} << 30);
    table_.slots = static_cast<Slot>(slots);
    table_.entries = made<std::uint32_t>(slots * Table::stride);
    table_.order = made<Slot>(slots);
    table_.parents = model::stops ? made<Slot>(slots) : nullptr;
  }
  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] const Table& table() const { return table_; }
  void start(const Counters& counters) {
    counters_ = counters;
    begin(table_, &counters_);
  }
  void expand_all(Count from, Count to) {
    constexpr Count chunk = 64;
    Count next = from;
    const auto work = [&] {
      Count firings = 0;
      for (;;) {
        const Count begin = Atomic<Count>(next).fetch_add(chunk, relaxed);
        if (begin >= to) break;
        const Count end = begin + chunk < to ? begin + chunk : to;
        for (Count i = begin; i < end; ++i) expand(table_, &counters_, table_.order[i], firings);
      }
      Atomic<Count>(counters_.firings).fetch_add(firings, relaxed);
    };
    if (to - from <= chunk || threads_ == 1) return work();
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads_; ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
  }
  [[nodiscard]] Counters counters() const { return counters_; }
  [[nodiscard]] Slot parent(Slot slot) const { return table_.parents[slot]; }
  void row(Slot slot, std::uint32_t* to) const {
    std::memcpy(to, table_.row(slot), sizeof(std::uint32_t) * model::words);
  }
  [[nodiscard]] static bool confirmed(Count) { return true; }

 private:
  // Pages that nobody touches are never there.
  template <class T>
  T* made(std::size_t n) {
    void* const memory = std::calloc(n, sizeof(T));
    if (memory == nullptr) fail("there is not as much memory");
    owned_.emplace_back(memory, &std::free);
    return static_cast<T*>(memory);
  }

  std::vector<std::unique_ptr<void, void (*)(void*)>> owned_;
  Table table_{};
  Counters counters_{};
  unsigned threads_;
  char name_[64] = {};
};

#endif

void print_instance(int rule, int member) {
  std::printf("%s", model::rule_titles[rule]);
  model::parameters(rule, member, [](const char* type, int i) { std::printf(", %s %d", type, i); });
  std::printf("\n");
}

// The firings from an initial state to this one.
void print_run(const Search& search, Slot last) {
  std::vector<Slot> way;
  for (Slot slot = last; slot != none; slot = search.parent(slot)) way.push_back(slot);
  std::printf("  from an initial state, by %zu firings:\n", way.size() - 1);
  for (std::size_t step = way.size() - 1; step > 0; --step) {
    std::uint32_t row[model::words];
    std::uint32_t wanted[model::words];
    search.row(way[step], row);
    search.row(way[step - 1], wanted);
    State state;
    model::unpack(row, state);
    bool found = false;
    model::successors(state, row, [&](const std::uint32_t* reached, bool, int rule, int member) {
      if (found || std::memcmp(reached, wanted, sizeof wanted) != 0) return;
      found = true;
      std::printf("  %4zu. ", way.size() - step);
      print_instance(rule, member);
    });
  }
}

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto number = [&]() -> unsigned long {
      char* end = nullptr;
      const unsigned long n = i + 1 < argc ? std::strtoul(argv[i + 1], &end, 10) : 0;
      if (n == 0 || end == nullptr || *end != '\0') {
        std::fprintf(stderr, "search: %s takes a number from 1 on\n", argv[i]);
        std::exit(2);
      }
      ++i;
      return n;
    };
    if (std::strcmp(argv[i], "--memory") == 0) {
      options.memory = number();
    } else if (std::strcmp(argv[i], "--states") == 0) {
      options.states = number();
    } else if (std::strcmp(argv[i], "--depth") == 0) {
      options.depth = static_cast<int>(number());
    } else if (std::strcmp(argv[i], "--threads") == 0) {
      options.threads = static_cast<unsigned>(number());
    } else {
      std::printf(
          "Explores: %s\n\n  --memory MIB   of the table (default: nine tenths of what is free on a "
          "graphics\n"
          "                 processor, else 1024)\n  --states N     a table for so many states instead\n"
          "  --depth N      no further than so many firings from a start\n"
          "  --threads N    of the machine's processors (default: all)\n",
          model::title);
      std::exit(std::strcmp(argv[i], "--help") == 0 ? 0 : 2);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read(argc, argv);
  Search search(options);
  std::printf("%s\non %s, a table of %u slots of %d words\n", model::title, search.name(),
              search.table().slots, model::words);
  std::fflush(stdout);
  Counters counters{};
  for (Slot& first : counters.first) first = none;
  counters.broken = none;
  const auto start = std::chrono::steady_clock::now();
  search.start(counters);
  counters = search.counters();
  int depth = 0;
  bool bounded = false;
  for (Count from = 0; from < counters.states && counters.full == 0 && counters.broken == none && !bounded;) {
    const Count to = counters.states;
    search.expand_all(from, to);
    counters = search.counters();
    from = to;
    if (counters.failed != 0) break;
    if (counters.states > to) ++depth;
    bounded = options.depth >= 0 && depth >= options.depth;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (counters.full != 0) {
    std::printf("the table is full after %llu states: --memory gives it more\n", counters.states);
    return 3;
  }
  if (counters.broken != none) {
    std::printf("a rule or its guard leaves the range of its types\n");
    if (model::stops && counters.broken < search.table().slots) print_run(search, counters.broken);
    return 2;
  }
  std::printf("states %llu\nfirings %llu\ndepth %d\nseconds %.6f\n", counters.states, counters.firings, depth,
              took.count());
  for (int i = 0; i < model::claims; ++i) {
    std::printf("claim %d %llu %s\n", i, counters.claims[i], model::claim_titles[i]);
    if (model::stops && counters.first[i] != none) print_run(search, counters.first[i]);
  }
  if (!search.confirmed(counters.states)) {
    std::printf(
        "the graphics processor does something else with the rules than the host's: count on nothing here\n");
    return 2;
  }
  if (counters.failed != 0) {
    std::printf("failed\n");
    return 1;
  }
  std::printf(bounded ? "bounded\n" : "complete\n");
  return 0;
}
