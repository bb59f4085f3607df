// The grid that a two-level barrier synchronizes: work-groups dealt out to CUs in turn, and what is claimed
// of every barrier.
//
// In this project's machine a work-group has a CU of its own, so the CUs of the papers (SMs) are numbers
// here: work-group w is on CU w mod `cus`, and the first work-group of a CU leads it. Operations that the
// papers perform at local scope (__threadfence_block, atomics of one SM) are between work-groups, which scope
// `wg` does not reach: agent scope takes its place, unless `narrow=1` asks for what a scoped machine would
// make of the paper's own.
//
// Nobody leaves before everybody has arrived; and data written before the barrier is read behind it. The last
// work-group writes a word in each episode and the first reads it, with an old copy of its block in the
// cache.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "spec/sync/assembler.hpp"
#include "spec/sync/backoff.hpp"
#include "spec/sync/parameters.hpp"

namespace lockstep::sync {

inline constexpr std::array grid_parameters{
    SyncParameter{"cus", "compute units (NUM_SM)", 1, most_work_groups, 2},
    SyncParameter{"work-groups-per-cu", "on each of them", 1, 32, 1},
    SyncParameter{"grid", "work-groups altogether (gridDim.x); 0: as many on each CU", 0, most_work_groups,
                  0},
    SyncParameter{"episodes", "how often they meet", 1, 100, 1},
    SyncParameter{"waves", "of a work-group", 1, 2, 1},
    SyncParameter{"waiting", "1: waits by waiting atomics, once its own try has failed", 0, 1, 0},
    SyncParameter{"narrow", "1: local operations at work-group scope", 0, 1, 0},
    SyncParameter{"migrates", "1: the last work-group of CU 0 resumes on CU 1 and reads its smID again", 0, 1,
                  0},
    SyncParameter{"launched-before", "work-groups of a kernel that used the barrier before; 0: none", 0,
                  most_work_groups, 0},
    SyncParameter{"accesses", "words that each work-group increments before each barrier, others in turn", 0,
                  1000, 0},
    SyncParameter{"exchange", "1: and once more those of another on its CU, behind a local barrier", 0, 1, 0},
    backoff_parameter,
};

// One launch of a kernel.
struct Launch {
  int groups = 0;
  int cus = 0;
  int kernel = -1;   // -1: the only one
  int first_wg = 0;  // number of its first work-group within the program
  int episodes = 1;
  bool is_last = true;

  [[nodiscard]] int cu_of(int group) const { return group % cus; }
  [[nodiscard]] bool leads(int group) const { return group < cus; }
  // As printed, numTBsThisSM = gridDim.x / NUM_SM; and how many there are.
  [[nodiscard]] int printed_groups_on_cu() const { return groups / cus; }
  [[nodiscard]] int groups_on(int cu) const { return groups / cus + (cu < groups % cus ? 1 : 0); }
  [[nodiscard]] int most_on_a_cu() const { return (groups + cus - 1) / cus; }
  // numJoin
  [[nodiscard]] int leaders() const { return std::min(groups, cus); }
};

// The work-groups of the launch that is asked about.
inline int groups_of(const SyncChoice& choice) {
  return choice["grid"] > 0 ? choice["grid"] : choice["cus"] * choice["work-groups-per-cu"];
}

// A word for each episode, written before it and read behind it.
class Message {
 public:
  Message(Assembler& program, int episodes) {
    // Three of a block, and their neighbour.
    for (int e = 0; e < episodes; ++e) {
      const std::string name = "x" + std::to_string(e);
      words_.push_back(e % 3 == 0 ? program.word(name) : program.word_beside(words_.back(), name));
    }
    neighbour_ = program.word_beside(words_.front(), "z");
  }
  void before_all(CodeOf& thread, bool reads, Register r) const {
    if (reads) thread.load(r, neighbour_);
  }
  void before(CodeOf& thread, bool writes, int episode) const {
    if (writes) thread.store(words_[static_cast<std::size_t>(episode)], 1);
  }
  void behind(CodeOf& thread, bool reads, Register r, int episode) const {
    if (!reads) return;
    thread.load(r, words_[static_cast<std::size_t>(episode)]);
    thread.require(r, Comparison::equal, 1);
  }

 private:
  std::vector<Word> words_;
  Word neighbour_;
};

// The data of HeteroSync's kernels of barriers (main.cu: kernelAtomicTreeBarrierUniq,
// kernelFBSTreeBarrierUniq): as many words for each work-group, which it alone increments, and then, behind
// each barrier, those of the next work-group, on the next CU. With `exchange` (...LocalExch) the work-groups
// of a CU meet beforehand, and each increments those of the next one on its CU as well; as the code finds
// them, work-group g + NUM_SM, which is on this CU where the grid divides.
class TradedWords {
 public:
  TradedWords(Assembler& program, const SyncChoice& choice) {
    const int groups = groups_of(choice);
    const int count = choice["accesses"];
    if (choice["exchange"] == 1 && count == 0)
      throw std::invalid_argument("exchange=1 needs words to exchange: accesses=1");
    const std::vector<Word> all = program.words_together("own", groups * count);
    for (int g = 0; g < groups; ++g)
      sets_.push_back({{all.begin() + g * count, all.begin() + (g + 1) * count}});
  }

  void increment(CodeOf& thread, int set, Register r) {
    Set& at = sets_[static_cast<std::size_t>(set) % sets_.size()];
    for (const Word word : at.words) {
      thread.load(r, word);
      thread.add(r, r, 1);
      thread.store(word, r);
    }
    if (!at.words.empty()) thread.move(r, 0);
    ++at.times;
  }
  void claim_at_end(Assembler& program) const {
    for (const Set& set : sets_) {
      for (const Word word : set.words) program.finally(word, set.times);
    }
  }

 private:
  struct Set {
    std::vector<Word> words;
    int times = 0;  // that all together increment them
  };
  std::vector<Set> sets_;
};

// What two-level barriers have in common. `Barrier` says what the two kinds of wave do in one episode:
//   void lead(CodeOf&, const Launch&, int group, int episode)   the leader's wave
//   void follow(CodeOf&, const Launch&, int group, int episode) the other wave
//   void prepare(CodeOf&, const Launch&, int group)             its registers; `scratch()` is one of them
//   int reader(const Launch&) const                             if it is not the first work-group
//   void meet_on_cu(CodeOf&, const Launch&, int group)          its local level alone, if it has one
//   void follow_on_cu(CodeOf&, const Launch&, int group)
template <class Barrier>
class Grid {
 public:
  Grid(const SyncChoice& choice, Assembler& program, Barrier& barrier)
      : choice_(choice),
        program_(program),
        barrier_(barrier),
        message_(program, choice["episodes"]),
        traded_(program, choice) {
    const int all = groups_of(choice);
    if (choice["exchange"] == 1 && !has_local_level)
      throw std::invalid_argument("exchange=1 is for tree-barrier and flag-barrier");
    if (choice["migrates"] == 1 && (choice["cus"] < 2 || all < 2)) {
      throw std::invalid_argument("migrates=1 needs two CUs and a work-group on each");
    }
    const int before = choice["launched-before"];
    if (before > 0) launch({before, choice["cus"], 0, 0, 1, false});
    const Launch last{all, choice["cus"], before > 0 ? 1 : -1, before, choice["episodes"], true};
    launch(last);
    traded_.claim_at_end(program);
  }

 private:
  void launch(const Launch& launch) {
    std::vector<Claim> meetings;
    for (int e = 0; launch.is_last && e < launch.episodes; ++e) {
      const std::string which = launch.episodes > 1 ? " of episode " + std::to_string(e + 1) : "";
      meetings.push_back(program_.meeting("nobody leaves the barrier" + which + " early"));
    }
    for (int g = 0; g < launch.groups; ++g) {
      wave(launch, g, true, meetings);
      if (choice_["waves"] == 2) wave(launch, g, false, meetings);
    }
  }

  // Who reads what the last work-group has written; the first where the barrier does not say.
  [[nodiscard]] int reader(const Launch& launch) const {
    if constexpr (requires { barrier_.reader(launch); }) {
      return barrier_.reader(launch);
    } else {
      return 0;
    }
  }

  static constexpr bool has_local_level = requires(Barrier & b, CodeOf& thread, const Launch& launch) {
    b.meet_on_cu(thread, launch, 0);
  };
  // Only with others on its CU.
  [[nodiscard]] bool exchanges(const Launch& launch, int group) const {
    return launch.is_last && choice_["exchange"] == 1 && launch.groups_on(launch.cu_of(group)) > 1;
  }
  void meet_on_cu(CodeOf& thread, const Launch& launch, int group, bool leads) {
    if constexpr (has_local_level)
      leads ? barrier_.meet_on_cu(thread, launch, group) : barrier_.follow_on_cu(thread, launch, group);
  }

  void wave(const Launch& launch, int group, bool leads, const std::vector<Claim>& meetings) {
    CodeOf thread = program_.thread({.wg = launch.first_wg + group, .kernel = launch.kernel});
    if (leads) barrier_.prepare(thread, launch, group);
    const bool reads = leads && launch.is_last && group == reader(launch);
    const bool last_wave = leads == (choice_["waves"] == 1);
    const bool writes = last_wave && launch.is_last && group + 1 == launch.groups && group > 0;
    const bool works = leads && launch.is_last;
    int set = group;
    if (reads) message_.before_all(thread, launch.groups > 1, barrier_.scratch());
    for (int e = 0; e < launch.episodes; ++e) {
      if (works) traded_.increment(thread, set, barrier_.scratch());
      if (exchanges(launch, group)) {
        meet_on_cu(thread, launch, group, leads);
        set += launch.leaders();
        if (works) traded_.increment(thread, set, barrier_.scratch());
      }
      ++set;
      message_.before(thread, writes, e);
      if (launch.is_last) thread.arrive(meetings[static_cast<std::size_t>(e)]);
      leads ? barrier_.lead(thread, launch, group, e) : barrier_.follow(thread, launch, group, e);
      if (launch.is_last) thread.leave(meetings[static_cast<std::size_t>(e)]);
      if (reads) message_.behind(thread, launch.groups > 1, barrier_.scratch(), e);
    }
    thread.finish();
  }

  const SyncChoice& choice_;
  Assembler& program_;
  Barrier& barrier_;
  Message message_;
  TradedWords traded_;
};

// The program of a barrier, which claims what its own words are in the end:
//   void claim_at_end(Assembler&) const
template <class Barrier>
Program across_grid(const SyncChoice& choice, Assembler& program, Barrier barrier) {
  const Grid grid(choice, program, barrier);
  barrier.claim_at_end(program);
  return program.take();
}

// The CU whose words a work-group uses: its own, or after `migrates` another from the second half on.
inline int words_of(const SyncChoice& choice, const Launch& launch, int group, bool later) {
  const int cu = launch.cu_of(group);
  const int last_on_first = (launch.groups - 1) / launch.cus * launch.cus;
  const bool moves = choice["migrates"] == 1 && launch.is_last && group == last_on_first;
  return moves && later ? 1 : cu;
}

}  // namespace lockstep::sync
