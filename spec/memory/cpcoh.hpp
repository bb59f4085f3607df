// CPCoh: chiplets with private write-back L2s, kept coherent by the command processor (CP).
//
// The global CP keeps a chiplet coherence table: for each data structure the address ranges that each chiplet
// was given, and a state for each chiplet. When a kernel is launched it looks up what the kernel's labels say
// that will be accessed, and sends acquires (invalidate the whole L2) and releases (write back the whole L2)
// to the local CPs of those chiplets that need one; baseline hardware sends both to every chiplet at every
// kernel boundary. The client is every infinite sequence of kernels, with host accesses between them. A copy
// is known by whether it is current, stale or dirty, not by its value, so the space is finite.
//
// Source: Dalmia, Reducing Synchronization and Communication Overheads in GPUs (thesis, UW-Madison 2023),
// chapter 5. Figures 5.5 and 5.6, which draw the states and the worked example, are read from their prose.
//
// `as-printed` is 5.3.3 as its sentences stand, `as-drawn` 5.3.2 and the worked example 5.3.4 where they say
// something else: that a reader's stale copies are invalidated too, that what is written back stays as a
// clean copy, and that a release depends on ranges. The default variant repairs both; every repair can be
// taken out alone, as a fault (the first of the list below).
//
// Assumptions, where the text is silent:
//  - L1s write through, do not allocate on writes, and are invalidated whenever a kernel is launched ("at
//    synchronization points", 5.6); so they matter to no later kernel, and are left out but in `l1s`.
//  - An L2 allocates on reads and writes and fills the whole line; it knows which words are dirty and writes
//    back those. A line written back stays, clean; eviction, at any time, covers that it does not.
//  - A kernel has no data race: a word that one chiplet writes, no other accesses during that kernel. What
//    synchronizes within a kernel (5.3.2, "do not impact") is left out.
//  - Kernels run one after the other. In `overlapping`, which has two streams, a labelled kernel may go on
//    while the next is launched; what one of the two has written the other does not access, and what one has
//    read the other does not write, until it ends. A kernel accesses any part of what its labels allow.
//  - A chiplet's range may be any set of words. The structures are laid out one after the other; their lines
//    hold `line-word` words, so that structures may share a line. With `base` above one a label of any
//    structure may name any word: bases that overlap.
//  - What is flushed for a reader becomes Valid (Figure 5.5 would say).
//  - Home-served: the home of a line is the chiplet that touches it first.
//
// Every field is reset where it loses its meaning, so that two states that behave alike are one state.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <string_view>

#include "spec/kernel/choice.hpp"
#include "spec/kernel/index.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/program/kernel_rules.hpp"
#include "spec/program/launches.hpp"
#include "spec/program/launching.hpp"

namespace lockstep::cpcoh {

struct ChipletTag : Indices<"chiplet", 3> {};
// Data structures; also the rows of the table.
struct StructureTag : Indices<"structure", 3> {};
// Of a chiplet; each has an L1 (`l1s`).
struct CuTag : Indices<"cu", 2> {};
// All words of memory.
struct WordTag : Indices<"word", 9> {};
// Words of a line.
struct LineWordTag : FixedIndices<"line-word", 9> {};
// Structures that a kernel may label before they are coarsened: eight in the text.
struct LabelTag : FixedIndices<"label", 3> {};
// One: a word belongs to one structure. Two: a label of any structure may name it.
struct BaseTag : FixedIndices<"base", 2> {};
// Kernels that may be in flight where they overlap.
struct StreamTag : Amounts<"streams", 2> {};
inline constexpr ChipletTag chiplets{};
inline constexpr CuTag cus{};
inline constexpr StructureTag structures{};
inline constexpr WordTag words{};

// A word in an L1 or an L2. Overwritten: dirty, although another chiplet has written the word since.
enum class Copy : std::uint8_t { absent, current, stale, dirty, overwritten };
// The table's state of a structure in a chiplet (5.3.2, States). `mixed` is ours: dirty and stale.
enum class Entry : std::uint8_t { not_present, valid, dirty, stale, mixed };
enum class Mode : std::uint8_t { none, read, read_write };
// An acquire or release on its way to a local CP, or its acknowledgement.
enum class Operation : std::uint8_t { none, issued, acknowledged };
enum class Phase : std::uint8_t {
  labelling,      // the host labels what the next kernel accesses
  synchronizing,  // before the launch
  replacing,      // a row of the table, to make room
  running,
  finishing,  // after a kernel without labels
};
// What a kernel beside may do with a word, for what the other has done with it.
enum class Bar : std::uint8_t { none, reads, touches };
BOOST_DESCRIBE_ENUM(Bar, none, reads, touches)
BOOST_DESCRIBE_ENUM(Copy, absent, current, stale, dirty, overwritten)
BOOST_DESCRIBE_ENUM(Entry, not_present, valid, dirty, stale, mixed)
BOOST_DESCRIBE_ENUM(Mode, none, read, read_write)
BOOST_DESCRIBE_ENUM(Operation, none, issued, acknowledged)
BOOST_DESCRIBE_ENUM(Phase, labelling, synchronizing, replacing, running, finishing)

inline constexpr std::array variants{
    Variant{"default", "5.3 with what its text lacks"},
    Variant{"as-printed", "5.3.3 as its sentences stand"},
    Variant{"as-drawn", "5.3.2 and 5.3.4 where they differ from 5.3.3"},
    Variant{"keep-dirty", "default, but an acquire keeps dirty words instead of having them written back"},
    Variant{"home-served",
            "default, but the L2 of a word's home serves every access (5.4.1), and host accesses "
            "are boundaries"},
    Variant{"home-served-as-printed", "home-served, but host accesses are looked up in the table"},
    Variant{"baseline", "an acquire and a release at every kernel boundary (5.1)"},
    Variant{"bounded", "default, and the table may be full: a row that a kernel does not label is replaced"},
    Variant{"overlapping", "default, and a kernel may go on while the next is launched in another stream"},
    Variant{"l1s", "default, with an L1 for each CU, all of which a launch invalidates"},
    Variant{"outcomes", "default, judged by what kernels and the host see, not by what the table claims"},
};

inline constexpr std::array faults{
    // Each takes one repair out of the default variant.
    Fault{"acquire-for-writers-only", "a kernel that only reads gets no acquire (5.3.3, Acquire)"},
    Fault{"release-forgets-copies", "a chiplet that was released is Not Present (5.3.3, Launching)"},
    Fault{"acquire-drops-dirty",
          "an acquire drops what the chiplet has dirty of other structures (5.3.2, Lazy)"},
    Fault{"acquire-before-release", "a chiplet's acquire is performed before its release (5.3.2, Lazy)"},
    Fault{"match-by-base", "only the entry with the label's own base is looked up"},
    Fault{"ranges-split-lines", "ranges are not rounded to whole lines"},
    Fault{"ranges-replaced", "an entry keeps the last kernel's range only"},
    Fault{"no-mixed-state", "what a chiplet writes is Dirty, even where it is stale as well (5.3.2, States)"},
    Fault{"mixed-is-stale", "what is dirty and stale is listed as Stale (5.3.2, States)"},
    Fault{"same-ranges-elide", "no release if every chiplet is given its range again (5.3.3, Release)"},
    Fault{"unlabelled-begins-without-release", "a kernel without labels begins with an acquire only (5.1)"},
    Fault{"unlabelled-ends-without-acquire", "a kernel without labels ends with a release only (5.1)"},
    Fault{"host-unseen", "a host access does not pass through the table"},
    Fault{"coarse-entry-has-one-state", "the combined entry takes the greater state (5.3.2, Coarsening)"},
    // Each takes out a rule that is printed.
    Fault{"no-release-for-reader", "no release where the kernel only reads (5.3.2, Dirty)"},
    Fault{"no-release-for-writer", "no release where the kernel writes (5.3.2, Dirty to Stale)"},
    Fault{"no-acquire", "no acquire of Stale (5.3.2, Stale)"},
    Fault{"no-acknowledgement", "the launch does not wait for acknowledgements (5.3.3, Launching)"},
    Fault{"valid-stays-valid", "what another chiplet will write stays Valid (5.3.2, Valid to Stale)"},
    Fault{"dirty-becomes-valid", "what another chiplet will write becomes Valid (5.3.2, Dirty to Stale)"},
    Fault{"reads-not-tracked", "a label R leaves no trace in the table (5.3.2, Valid)"},
    Fault{"entry-removed-early", "one Not Present removes the entry (5.3.3, Removing)"},
    Fault{"coarse-entry-forgets-chiplets", "the combined entry is the first one's (5.3.2, Coarsening)"},
    Fault{"unlabelled-begins-without-acquire", "a kernel without labels begins with a release only (5.3.3)"},
    Fault{"unlabelled-ends-without-release", "a kernel without labels ends with an acquire only (5.3.3)"},
    Fault{"whole-line-written-back", "a line is written back with its clean words"},
    // Each takes out a part of what replacing a row does (`bounded`).
    Fault{"row-replaced-silently", "a row is replaced without acquires and releases"},
    Fault{"row-replaced-without-acquire", "a row is replaced with releases only"},
    // Each takes out a part of what a kernel that goes on needs (`overlapping`).
    Fault{"acquire-drops-running", "an acquire drops what has been written since its release"},
    Fault{"launch-forgets-running", "operations of a launch empty rows of the kernel that goes on"},
    Fault{"running-writes-unseen", "a launch does not look at what the kernel that goes on may write"},
    Fault{"boundary-forgets-running",
          "the end of a kernel without labels empties rows of the one that goes on"},
    Fault{"acquires-before-releases", "a chiplet's acquire does not wait for the releases of others"},
    Fault{"running-fetches-unseen",
          "an acquire forgets what the kernel that goes on fetches beside dirty words"},
    Fault{"end-noted-in-launch", "a kernel's end is taken note of while a launch waits for acknowledgements"},
    // Each takes out a part of what L1s do (`l1s`).
    Fault{"l1s-by-acquires-alone",
          "a launch invalidates L1s only where it acquires the L2 (5.3.3, Launching)"},
    Fault{"store-keeps-l1", "a store leaves the old word in its CU's L1"},
    // Each takes out an elision.
    Fault{"valid-acquired", "what is Valid is invalidated before it is read again (5.3.2, Stay in Valid)"},
    Fault{"dirty-released", "what is Dirty is released before it is used again (5.3.2, Stay in Dirty)"},
    Fault{"release-by-chiplets", "a release depends on chiplets, not on ranges (5.3.3, Release)"},
};

// What a variant lacks of the default.
constexpr std::uint64_t without(std::initializer_list<NameIn<faults>> names) {
  std::uint64_t bits = 0;
  for (const NameIn<faults> name : names) bits |= std::uint64_t{1} << name.position;
  return bits;
}
inline constexpr std::uint64_t lacking_as_drawn =
    without({"acquire-drops-dirty", "acquire-before-release", "match-by-base", "ranges-split-lines",
             "ranges-replaced", "no-mixed-state", "unlabelled-begins-without-release",
             "unlabelled-ends-without-acquire", "host-unseen", "coarse-entry-has-one-state"});
inline constexpr std::uint64_t lacking_as_printed =
    lacking_as_drawn | without({"acquire-for-writers-only", "release-forgets-copies", "same-ranges-elide",
                                "release-by-chiplets"});
// Faults of two kernels in flight.
inline constexpr std::uint64_t of_overlapping = without(
    {"acquire-drops-running", "launch-forgets-running", "running-writes-unseen", "boundary-forgets-running",
     "acquires-before-releases", "running-fetches-unseen", "end-noted-in-launch"});
// Faults of L1s.
inline constexpr std::uint64_t of_l1s = without({"l1s-by-acquires-alone", "store-keeps-l1"});
inline constexpr std::uint64_t lacking_in_baseline =
    without({"unlabelled-begins-without-release", "unlabelled-ends-without-acquire", "host-unseen"});

// By which launches are answered, for who gives it time.
inline constexpr KernelRules kernel{
    .launches = "enables the launch",
    .evicts = "evicts a line",
    .releases = {"releases: writes back the L2", "releases: finds nothing dirty"},
    .acquires = {"acquires: invalidates the L2", "acquires: finds nothing stale"},
    .completes = "the boundary after a kernel is complete",
};

template <class K>
struct Protocol : ClosedSystem<K, faults, variants> {
  using Base = ClosedSystem<K, faults, variants>;
  using Base::Base, Base::k, Base::fault_bits, Base::is;
  using ChipletTag = cpcoh::ChipletTag;
  using StructureTag = cpcoh::StructureTag;
  using Bool = typename K::Bool;
  using Chiplet = typename K::template Ix<ChipletTag>;
  using Cu = typename K::template Ix<CuTag>;
  using Structure = typename K::template Ix<StructureTag>;
  using Word = typename K::template Ix<WordTag>;
  using MaybeChiplet = typename K::template Maybe<ChipletTag>;
  using MaybeStructure = typename K::template Maybe<StructureTag>;
  template <class E>
  using Enum = typename K::template Enum<E>;

  struct PerCopy {
    Enum<Copy> copy;
    Bool read;  // in this kernel, where another chiplet might write the word
    BOOST_DESCRIBE_CLASS(PerCopy, (), (copy, read), (), ())
  };
  // Of one word in the L1 of a CU, and what the CU has done with it in this kernel.
  struct PerL1Copy {
    Enum<Copy> copy;
    Bool read;
    Bool written;
    BOOST_DESCRIBE_CLASS(PerL1Copy, (), (copy, read, written), (), ())
  };
  struct PerWord {
    Bool outdated;        // the last-level cache and memory: a chiplet has the word dirty
    MaybeChiplet writer;  // in this kernel, where another chiplet might access the word
    MaybeChiplet home;    // home-served only
    BOOST_DESCRIBE_CLASS(PerWord, (), (outdated, writer, home), (), ())
  };
  struct LocalCp {
    Enum<Operation> acquire;
    Enum<Operation> release;
    BOOST_DESCRIBE_CLASS(LocalCp, (), (acquire, release), (), ())
  };
  // Of two kernels in flight: what each is barred from, and who in the one that goes on has written the word.
  struct PerWordBeside {
    MaybeChiplet writer;
    Enum<Bar> bar;        // of the kernel that was launched last
    Enum<Bar> bar_there;  // of the one that goes on
    BOOST_DESCRIBE_CLASS(PerWordBeside, (), (writer, bar, bar_there), (), ())
  };
  struct State {
    typename K::template Table<PerL1Copy, ChipletTag, CuTag, WordTag> l1;
    typename K::template Table<PerCopy, ChipletTag, WordTag> l2;
    typename K::template Table<PerWord, WordTag> memory;
    // The chiplet coherence table. A row whose chiplets are all Not Present has been removed.
    typename K::template Table<Enum<Entry>, StructureTag, ChipletTag> entry;
    typename K::template Table<Bool, StructureTag, ChipletTag, WordTag> range;
    typename K::template Table<MaybeStructure, StructureTag> indexed_by;  // another's row, once coarsened
    // The packet of the kernel, or of a host access.
    typename K::template Table<Enum<Mode>, StructureTag> mode;
    typename K::template Table<Bool, StructureTag, ChipletTag, WordTag> label;
    Bool unlabelled;
    Bool host;
    Enum<Phase> phase;
    typename K::template Table<LocalCp, ChipletTag> local;
    // The kernel that goes on, if there is one.
    Bool beside;
    typename K::template Table<Enum<Mode>, StructureTag> beside_mode;
    typename K::template Table<Bool, StructureTag, ChipletTag, WordTag> beside_label;
    typename K::template Table<PerWordBeside, WordTag> beside_word;
    typename K::template Table<Bool, ChipletTag, WordTag> beside_read;
    typename K::template Table<Bool, StructureTag, ChipletTag>
        beside_old;  // while a launch changes the table
    BOOST_DESCRIBE_CLASS(State, (),
                         (l1, l2, memory, entry, range, indexed_by, mode, label, unlabelled, host, phase,
                          local, beside, beside_mode, beside_label, beside_word, beside_read, beside_old),
                         (), ())
  };
  using Invariants = InvariantList<K, State>;
  // Where things are in memory; rigid during a run. A line is known by its first word.
  struct Layout {
    typename K::template Map<WordTag, WordTag> line_of;
    typename K::template Map<WordTag, StructureTag> structure_of;
  };

  Layout layout{};

  // Calls place(map, name, from, to, image): word -> first word of its line, word -> structure, as numbers.
  template <class Place>
  void place(Place&& place) {
    const int in_line = k.template extent<LineWordTag>();
    const int in_all = k.template extent<WordTag>();
    const int owners = k.template extent<StructureTag>();
    place(layout.line_of, "line_of", words, words, [=](int word) { return word / in_line * in_line; });
    place(layout.structure_of, "structure_of", words, structures,
          [=](int word) { return word * owners / in_all; });
  }

  // Its own, and what hosts and kernels ask of it (spec/program/launching.hpp).
  template <class Rules>
  void rules(Rules& r) const {
    labelling_rules(r);
    replacing_rules(r);
    launching_rules(r);
    synchronizing_rules(r);
    running_rules(r);
    overlapping_rules(r);
  }

  void invariants(Invariants& v) const {
    v.invariant("whatever a running kernel may read is current",
                [this](const State& s) { return kernels_see_current(s); });
    v.invariant("whatever the host may read is current",
                [this](const State& s) { return host_sees_current(s); });
    v.invariant("the last write of every word is in memory or dirty in an L2",
                [this](const State& s) { return last_writes_are_kept(s); });
    v.invariant("no dirty word is out of date", [this](const State& s) { return dirty_is_newest(s); });
    if (judges_table()) table_invariants(v);
  }
  Bool kernels_see_current(const State& s) const {
    const Bool last = s.phase != Phase::running || s.host || k.forall(words, [&](Word w) {
      return k.forall(chiplets, [&](Chiplet c) {
        if (has_l1s())
          return k.forall(cus,
                          [&](Cu u) { return !cu_may_read(s, c, u, w) || cu_reads_current(s, c, u, w); });
        return !may_read(s, c, w) ||
               k.forall(chiplets, [&](Chiplet h) { return !serves(s, h, c, w) || reads_current(s, h, w); });
      });
    });
    if (!overlaps()) return last;
    return last && (!s.beside || k.forall(words, [&](Word w) {
             return k.forall(chiplets,
                             [&](Chiplet c) { return !may_read_there(s, c, w) || reads_current(s, c, w); });
           }));
  }
  Bool host_sees_current(const State& s) const {
    return s.phase != Phase::running || !s.host ||
           k.forall(words, [&](Word w) { return !host_may(s, w, false) || !s.memory(w).outdated; });
  }
  Bool last_writes_are_kept(const State& s) const {
    return k.forall(words, [&](Word w) {
      return !s.memory(w).outdated ||
             k.exists(chiplets, [&](Chiplet c) { return s.l2(c, w).copy == Copy::dirty; });
    });
  }
  Bool dirty_is_newest(const State& s) const {
    return k.forall(words, [&](Word w) {
      return k.forall(chiplets, [&](Chiplet c) { return s.l2(c, w).copy != Copy::overwritten; });
    });
  }

  // ---- what a sequence of launches observes --------------------------------------------------------------

  Bool may_see_stale(const State& s) const { return !kernels_see_current(s) || !host_sees_current(s); }
  Bool has_lost(const State& s) const { return !last_writes_are_kept(s) || !dirty_is_newest(s); }
  Bool is_acquired(const State& s, Chiplet c) const { return s.local(c).acquire != Operation::none; }
  Bool is_released(const State& s, Chiplet c) const { return s.local(c).release != Operation::none; }
  // In the row that the structure leads to; states count as Entry does, and listed_states.
  Bool lists(const State& s, Structure d, Chiplet c, int state) const {
    return k.exists(structures, [&](Structure r) {
      return indexes(s, r, d) && s.entry(r, c) == static_cast<Entry>(state);
    });
  }

  // ---- what rules, properties and lemmas ask --------------------------------------------------------------

  [[nodiscard]] bool baseline() const { return is("baseline"); }
  [[nodiscard]] bool home_served() const { return is("home-served") || is("home-served-as-printed"); }
  // Where a repair is missing the table is wrong long before anybody sees it; what is printed is judged by
  // what is seen.
  [[nodiscard]] bool judges_table() const {
    return !baseline() && !is("outcomes") && !is("as-printed") && !is("as-drawn");
  }
  // A fault, or what the variant lacks.
  [[nodiscard]] bool lacks(typename Base::FaultName name) const {
    const std::uint64_t lacking = is("as-printed") ? lacking_as_printed
                                  : is("as-drawn") ? lacking_as_drawn
                                  : is("baseline") ? lacking_in_baseline
                                                   : 0;
    return (((fault_bits | lacking) >> name.position) & 1U) != 0;
  }

  // ---- what the table says -------------------------------------------------------------------------------

  static Bool may_be_dirty(const Enum<Entry>& e) { return e == Entry::dirty || e == Entry::mixed; }
  static Bool may_be_stale(const Enum<Entry>& e) { return e == Entry::stale || e == Entry::mixed; }
  Enum<Entry> entry_of(const Bool& present, const Bool& dirty, const Bool& stale) const {
    const auto kept = k.select(stale, Enum<Entry>(Entry::stale), Enum<Entry>(Entry::valid));
    const auto clean = k.select(present, kept, Enum<Entry>(Entry::not_present));
    const auto mixed = k.select(stale, Enum<Entry>(Entry::mixed), Enum<Entry>(Entry::dirty));
    return k.select(dirty, mixed, clean);
  }
  // Whether row r is the one that the base of structure d leads to.
  static Bool indexes(const State& s, Structure r, Structure d) {
    return s.indexed_by(d) == MaybeStructure(r) || (r == d && s.indexed_by(d) == MaybeStructure{});
  }

  // ---- what the labels say -------------------------------------------------------------------------------

  Bool same_line(Word v, Word w) const { return layout.line_of(v) == layout.line_of(w); }
  Bool belongs(Structure d, Word w) const {
    if (k.template extent<BaseTag>() > 1) return Bool(true);
    return layout.structure_of(w) == d;
  }
  static Bool named(const State& s, Structure d, Chiplet c, Word w) {
    return s.mode(d) != Mode::none && s.label(d, c, w);
  }
  // Whether the range that d's label gives chiplet c covers word w: rounded to whole lines, since a line is
  // fetched as a whole.
  Bool covers(const State& s, Structure d, Chiplet c, Word w) const {
    if (lacks("ranges-split-lines")) return named(s, d, c, w);
    return k.exists(words, [&](Word v) { return same_line(v, w) && named(s, d, c, v); });
  }
  Bool host_covers(const State& s, Structure d, Word w) const {
    return s.host && s.mode(d) != Mode::none &&
           k.exists(words, [&](Word v) { return same_line(v, w) && belongs(d, v); });
  }
  // Whether a chiplet other than c, or the host, will access word w, by a label that row r is looked up for.
  Bool accessed_elsewhere(const State& s, Structure r, Chiplet c, Word w, bool to_write) const {
    return k.exists(structures, [&](Structure d) {
      return concerns(s, r, d) && (!to_write || s.mode(d) == Mode::read_write) &&
             (host_covers(s, d, w) ||
              k.exists(chiplets, [&](Chiplet j) { return j != c && covers(s, d, j, w); }));
    });
  }
  Bool accessed_here(const State& s, Structure r, Chiplet c, Word w, bool to_write) const {
    return k.exists(structures, [&](Structure d) {
      return concerns(s, r, d) && (!to_write || s.mode(d) == Mode::read_write) && covers(s, d, c, w);
    });
  }
  Bool concerns(const State& s, Structure r, Structure d) const {
    return lacks("match-by-base") ? indexes(s, r, d) : Bool(true);
  }
  Bool ranges_as_before(const State& s, Structure r) const {
    return k.exists(structures, [&](Structure d) {
      return indexes(s, r, d) && s.mode(d) != Mode::none && k.forall(chiplets, [&](Chiplet c) {
        return k.forall(words, [&](Word w) { return covers(s, d, c, w) == s.range(r, c, w); });
      });
    });
  }

  // ---- which operations a launch needs -------------------------------------------------------------------

  // Whether the CP does as the baseline does, at this kernel's boundaries.
  Bool at_boundaries(const State& s) const {
    if (baseline()) return !s.host;
    return s.unlabelled || (s.host && Bool(is("home-served")));
  }
  Bool needs_release(const State& s, Structure r, Chiplet c) const {
    const Bool may_be_met = k.exists(words, [&](Word w) {
      if (lacks("release-by-chiplets")) return accessed_elsewhere(s, r, c, w, false);
      return s.range(r, c, w) && meets_dirty(s, r, c, w);
    });
    const Bool elided = lacks("same-ranges-elide") ? ranges_as_before(s, r) : Bool(false);
    const Bool again = lacks("dirty-released")
                           ? k.exists(words, [&](Word w) { return accessed_here(s, r, c, w, false); })
                           : Bool(false);
    return may_be_dirty(s.entry(r, c)) && ((may_be_met && !elided) || again);
  }
  Bool meets_dirty(const State& s, Structure r, Chiplet c, Word w) const {
    if (lacks("no-release-for-reader")) return accessed_elsewhere(s, r, c, w, true);
    const Bool accessed = accessed_elsewhere(s, r, c, w, false);
    if (!lacks("no-release-for-writer")) return accessed;
    return accessed && !accessed_elsewhere(s, r, c, w, true);
  }
  Bool needs_acquire(const State& s, Structure r, Chiplet c) const {
    if (lacks("no-acquire")) return Bool(false);
    const Bool suspect =
        may_be_stale(s.entry(r, c)) || (Bool(lacks("valid-acquired")) && s.entry(r, c) == Entry::valid);
    return suspect && k.exists(words, [&](Word w) {
      return s.range(r, c, w) && accessed_here(s, r, c, w, lacks("acquire-for-writers-only"));
    });
  }
  void issue(State& s) const {
    k.for_each(chiplets, [&](Chiplet c) {
      const Bool unseen = s.host && Bool(lacks("host-unseen"));
      const Bool looked_up = !at_boundaries(s) && !unseen;
      const Bool all_acquire = at_boundaries(s) && !Bool(lacks("unlabelled-begins-without-acquire"));
      const Bool all_release = at_boundaries(s) && !Bool(lacks("unlabelled-begins-without-release"));
      const Bool acquire =
          looked_up && k.exists(structures, [&](Structure r) { return needs_acquire(s, r, c); });
      // An acquire takes the whole L2: whatever is dirty there has to be written back.
      const bool with_release = !lacks("acquire-drops-dirty") && !is("keep-dirty");
      const Bool release = looked_up && k.exists(structures, [&](Structure r) {
        return needs_release(s, r, c) || (Bool(with_release) && acquire && may_be_dirty(s.entry(r, c)));
      });
      send(s, c, all_acquire || acquire, all_release || release);
    });
    if (overlaps()) bar_from_running(s);
    s.phase = Phase::synchronizing;
  }
  void send(State& s, Chiplet c, const Bool& acquire, const Bool& release) const {
    k.when(acquire, [&] { s.local(c).acquire = Operation::issued; });
    k.when(release, [&] { s.local(c).release = Operation::issued; });
  }
  Bool all_acknowledged(const State& s) const {
    if (lacks("no-acknowledgement")) return Bool(true);
    return k.forall(chiplets, [&](Chiplet c) {
      return s.local(c).acquire != Operation::issued && s.local(c).release != Operation::issued;
    });
  }

  // ---- how a launch changes the table --------------------------------------------------------------------

  // What is listed once a chiplet's operations are complete.
  struct Kept {
    Bool present;
    Bool dirty;
    Bool stale;
  };
  Kept kept_by_operations(const State& s, Structure r, Chiplet c) const {
    const Bool acquired = s.local(c).acquire != Operation::none;
    const Bool released = s.local(c).release != Operation::none;
    const Enum<Entry> old = s.entry(r, c);
    const Bool emptied = is("keep-dirty") ? acquired && !may_be_dirty(old) : acquired;
    const Bool forgotten = Bool(lacks("release-forgets-copies")) && released && may_be_dirty(old);
    return {.present = old != Entry::not_present && !emptied && !forgotten,
            .dirty = may_be_dirty(old) && !released && !emptied,
            .stale = may_be_stale(old) && !acquired};
  }
  Enum<Entry> entry_after_launch(const State& s, Structure r, Chiplet c) const {
    const Enum<Entry> old = s.entry(r, c);
    const auto [present, dirty, stale] = kept_by_operations(s, r, c);
    // Others will write.
    const Bool overwritten =
        present && !(Bool(lacks("valid-stays-valid")) && old == Entry::valid) &&
        !(Bool(lacks("dirty-becomes-valid")) && may_be_dirty(old)) &&
        k.exists(words, [&](Word w) { return s.range(r, c, w) && accessed_elsewhere(s, r, c, w, true); });
    // This chiplet will access.
    const Bool remembered = Bool(!lacks("launch-forgets-running"));
    const Bool writes =
        exists_named(s, r, c, [&](Structure d, Word) { return s.mode(d) == Mode::read_write; }) ||
        (remembered && goes_on(s, r, c, true));
    const Bool uses =
        exists_named(s, r, c,
                     [&](Structure d, Word) {
                       return s.mode(d) == Mode::read_write || !Bool(lacks("reads-not-tracked"));
                     }) ||
        (remembered && goes_on(s, r, c, false));
    const Bool shares = exists_named(s, r, c,
                                     [&](Structure, Word w) {
                                       return accessed_elsewhere(s, r, c, w, true) || written_beside(s, c, w);
                                     }) ||
                        (remembered && (shares_there(s, r, c) || is_old_there(s, r, c)));
    if (lacks("no-mixed-state")) {
      const Enum<Entry> kept = entry_of(present || uses, dirty, stale || overwritten);
      return k.select(writes, Enum<Entry>(Entry::dirty), kept);
    }
    const Bool becomes_stale = stale || overwritten || (uses && shares);
    const Bool becomes_dirty = (dirty || writes) && !(Bool(lacks("mixed-is-stale")) && becomes_stale);
    return entry_of(present || uses, becomes_dirty, becomes_stale);
  }
  template <class Claim>
  Bool exists_named(const State& s, Structure r, Chiplet c, Claim&& claim) const {
    return k.exists(structures, [&](Structure d) {
      return indexes(s, r, d) && k.exists(words, [&](Word w) { return covers(s, d, c, w) && claim(d, w); });
    });
  }
  void enter_ranges(State& s, Structure r, Chiplet c) const {
    const Bool named = exists_named(s, r, c, [](Structure, Word) { return Bool(true); });
    const Bool dropped = s.local(c).acquire != Operation::none && !Bool(is("keep-dirty"));
    const Bool replaced = Bool(lacks("ranges-replaced")) && named;
    k.for_each(words, [&](Word w) {
      const Bool now = k.exists(structures, [&](Structure d) {
        return indexes(s, r, d) &&
               (covers(s, d, c, w) || (Bool(!lacks("launch-forgets-running")) && covers_there(s, d, c, w)));
      });
      s.range(r, c, w) =
          s.entry(r, c) != Entry::not_present && (now || (s.range(r, c, w) && !dropped && !replaced));
    });
  }
  void update_table(State& s) const {
    if (overlaps()) mark_old(s, true);
    k.for_each(structures, [&](Structure r) {
      k.for_each(chiplets, [&](Chiplet c) {
        const Enum<Entry> next = entry_after_launch(s, r, c);
        s.entry(r, c) = next;
      });
    });
    if (lacks("entry-removed-early")) {
      k.for_each(structures, [&](Structure r) {
        k.when(k.exists(chiplets, [&](Chiplet c) { return s.entry(r, c) == Entry::not_present; }),
               [&] { k.for_each(chiplets, [&](Chiplet c) { s.entry(r, c) = Entry::not_present; }); });
      });
    }
    k.for_each(structures,
               [&](Structure r) { k.for_each(chiplets, [&](Chiplet c) { enter_ranges(s, r, c); }); });
    forget_removed(s);
    if (overlaps()) mark_old(s, false);
  }
  // A removed row indexes only its own structure.
  void forget_removed(State& s) const {
    k.for_each(structures, [&](Structure d) {
      k.when(k.exists(structures,
                      [&](Structure r) { return s.indexed_by(d) == MaybeStructure(r) && removed(s, r); }),
             [&] { s.indexed_by(d) = MaybeStructure{}; });
    });
  }
  Bool removed(const State& s, Structure r) const {
    return k.forall(chiplets, [&](Chiplet c) { return s.entry(r, c) == Entry::not_present; });
  }

  // ---- labelling, and coarsening -------------------------------------------------------------------------

  Bool labelled(const State& s) const {
    return k.exists(structures, [&](Structure d) { return s.mode(d) != Mode::none; });
  }
  // Whether the kernel labels a structure that row r stands for.
  Bool row_labelled(const State& s, Structure r) const {
    return k.exists(structures, [&](Structure d) { return indexes(s, r, d) && s.mode(d) != Mode::none; });
  }
  // More rows than a kernel may label: so many, and one more, all different.
  Bool too_many(const State& s) const { return more_labelled(s, k.template extent<LabelTag>()); }
  template <class... Others>
  Bool more_labelled(const State& s, int rows, const Others&... others) const {
    return k.exists(structures, [&](Structure d) {
      const Bool another = row_labelled(s, d) && (Bool(true) && ... && (d != others));
      if constexpr (sizeof...(others) < LabelTag::capacity) {
        if (rows > 0) return another && more_labelled(s, rows - 1, others..., d);
      }
      return another;
    });
  }
  template <class Rules>
  void labelling_rules(Rules& r) const {
    // A label names a structure, its mode, and the words that each chiplet will be at: a word at a time.
    const auto labels = [&](LaunchRequest request, std::string_view name, Mode mode) {
      r.asked(
          request, {.name = name, .unit = "host", .source = "5.3.2 Labeling", .fairness = Fairness::optional},
          over(structures, chiplets, words),
          [this, mode](const State& s, Structure d, Chiplet c, Word w) {
            return s.phase == Phase::labelling && !s.host && (s.mode(d) == Mode::none || s.mode(d) == mode) &&
                   !s.label(d, c, w) && belongs(d, w);
          },
          [mode](State& s, Structure d, Chiplet c, Word w) {
            s.mode(d) = mode;
            s.label(d, c, w) = true;
          });
    };
    labels(LaunchRequest::labels_read, "labels a chiplet's range R", Mode::read);
    labels(LaunchRequest::labels_write, "labels a chiplet's range R/W", Mode::read_write);
    const auto host_asks = [&](LaunchRequest request, std::string_view name, Mode mode) {
      r.asked(
          request, {.name = name, .unit = "host", .source = "5.4.1", .fairness = Fairness::optional},
          over(structures),
          [=, this](const State& s, Structure) {
            return s.phase == Phase::labelling && !s.host && !labelled(s);
          },
          [mode](State& s, Structure d) {
            s.host = true;
            s.mode(d) = mode;
          });
    };
    host_asks(LaunchRequest::host_reads, "the host asks to read a structure", Mode::read);
    host_asks(LaunchRequest::host_writes, "the host asks to write a structure", Mode::read_write);
    r.rule(
        {.name = "coarsens two structures", .unit = "global CP", .source = "5.3.2 Coarsening"},
        over(structures, structures),
        [=, this](const State& s, Structure d, Structure e) {
          // The text prefers neighbours in memory; any two will do.
          const int others = k.template extent<LabelTag>() - 1;
          return s.phase == Phase::labelling && d != e && row_labelled(s, d) && row_labelled(s, e) &&
                 (others == 0 ? Bool(true) : more_labelled(s, others - 1, d, e));
        },
        [=, this](State& s, Structure d, Structure e) { coarsen(s, d, e); });
  }
  void coarsen(State& s, Structure d, Structure e) const {
    k.for_each(chiplets, [&](Chiplet c) {
      if (!lacks("coarse-entry-forgets-chiplets")) {
        const Enum<Entry> both = combined(s.entry(d, c), s.entry(e, c));
        s.entry(d, c) = both;
        k.for_each(words, [&](Word w) { s.range(d, c, w) = s.range(d, c, w) || s.range(e, c, w); });
      }
      remove(s, e, c);
    });
    k.for_each(structures, [&](Structure f) {
      k.when(f == e || s.indexed_by(f) == MaybeStructure(e), [&] { s.indexed_by(f) = MaybeStructure(d); });
    });
  }
  // 5.3.2 has "the more conservative"; of Dirty and Stale neither is.
  Enum<Entry> combined(const Enum<Entry>& a, const Enum<Entry>& b) const {
    const Bool stale = may_be_stale(a) || may_be_stale(b);
    const Bool dirty = may_be_dirty(a) || may_be_dirty(b);
    const Bool kept = lacks("coarse-entry-has-one-state") ? dirty && !stale : dirty;
    return entry_of(a != Entry::not_present || b != Entry::not_present, kept, stale);
  }

  // ---- a table that is full: ours ------------------------------------------------------------------------
  //
  // The text does not say how many rows there are. A table of any size may be full when a kernel is labelled;
  // then a row goes that the kernel does not label. Once it has gone nobody knows of what it stood for.

  [[nodiscard]] bool replaces_rows() const {
    return is("bounded") || lacks("row-replaced-silently") || lacks("row-replaced-without-acquire");
  }
  template <class Rules>
  void replacing_rules(Rules& r) const {
    if (!replaces_rows()) return;
    r.rule(
        {.name = "replaces a row", .unit = "global CP", .source = "ours", .fairness = Fairness::optional},
        over(structures),
        [=, this](const State& s, Structure row) {
          return s.phase == Phase::labelling && !removed(s, row) && !row_labelled(s, row);
        },
        [=, this](State& s, Structure row) {
          const bool acquires = !lacks("row-replaced-silently") && !lacks("row-replaced-without-acquire");
          k.for_each(chiplets, [&](Chiplet c) {
            const Bool dirty = k.exists(structures, [&](Structure d) { return may_be_dirty(s.entry(d, c)); });
            k.when(s.entry(row, c) != Entry::not_present,
                   [&] { send(s, c, acquires, dirty && Bool(!lacks("row-replaced-silently"))); });
            if (!acquires) remove(s, row, c);
          });
          s.phase = Phase::replacing;
        });
    r.rule(
        {.name = "the row is replaced", .unit = "global CP", .source = "ours"}, over(),
        [=, this](const State& s) { return s.phase == Phase::replacing && all_acknowledged(s); },
        [=, this](State& s) {
          k.for_each(structures, [&](Structure row) {
            k.for_each(chiplets, [&](Chiplet c) {
              const auto [present, dirty, stale] = kept_by_operations(s, row, c);
              s.entry(row, c) = entry_of(present, dirty, stale);
              k.when(!present, [&] { remove(s, row, c); });
            });
          });
          forget_removed(s);
          clear_operations(s);
          s.phase = Phase::labelling;
        });
  }
  void remove(State& s, Structure row, Chiplet c) const {
    s.entry(row, c) = Entry::not_present;
    k.for_each(words, [&](Word w) { s.range(row, c, w) = false; });
  }

  // ---- launching -----------------------------------------------------------------------------------------

  template <class Rules>
  void launching_rules(Rules& r) const {
    r.asked(
        LaunchRequest::launches,
        {.name = "inspects the table and issues operations",
         .unit = "global CP",
         .source = "5.3.3 Launching"},
        over(),
        [=, this](const State& s) { return s.phase == Phase::labelling && labelled(s) && !too_many(s); },
        [=, this](State& s) { issue(s); });
    r.asked(
        LaunchRequest::launches_unlabelled,
        {.name = "takes a kernel without labels", .unit = "global CP", .source = "5.3.3 Indirect"}, over(),
        [=, this](const State& s) { return s.phase == Phase::labelling && !s.host && !labelled(s); },
        [=, this](State& s) {
          s.unlabelled = true;
          issue(s);
        });
    r.rule(
        {.name = "enables the launch", .unit = "global CP", .source = "5.3.3 Launching"}, over(),
        [=, this](const State& s) { return s.phase == Phase::synchronizing && all_acknowledged(s); },
        [=, this](State& s) {
          const auto update = [&] { update_table(s); };
          if (lacks("host-unseen")) {
            k.when(!s.host, update);
          } else {
            update();
          }
          if (has_l1s() && !lacks("l1s-by-acquires-alone")) {
            k.for_each(chiplets, [&](Chiplet c) { k.when(!s.host, [&] { invalidate_l1s(s, c); }); });
          }
          clear_operations(s);
          s.phase = Phase::running;
        });
  }
  void clear_operations(State& s) const {
    k.for_each(chiplets, [&](Chiplet c) {
      s.local(c).acquire = Operation::none;
      s.local(c).release = Operation::none;
    });
  }

  // ---- acquires and releases at the chiplets -------------------------------------------------------------

  template <class Rules>
  void synchronizing_rules(Rules& r) const {
    const auto release_comes = [=, this](const State& s, Chiplet c) {
      const Bool waits = Bool(lacks("acquire-before-release")) && s.local(c).acquire == Operation::issued;
      return s.local(c).release == Operation::issued && !waits;
    };
    const auto acquire_comes = [=, this](const State& s, Chiplet c) {
      const Bool waits = !Bool(lacks("acquire-before-release")) && s.local(c).release == Operation::issued;
      return s.local(c).acquire == Operation::issued && !waits && may_acquire_beside(s);
    };
    const auto holds = [=, this](const State& s, Chiplet c, auto kind) {
      return k.exists(words, [&](Word w) { return kind(s.l2(c, w).copy); });
    };
    const auto dirty = [](const Enum<Copy>& copy) {
      return copy == Copy::dirty || copy == Copy::overwritten;
    };
    const auto stale = [](const Enum<Copy>& copy) { return copy == Copy::stale; };
    r.rule(
        {.name = "releases: writes back the L2", .unit = "local CP", .source = "5.3.3 Launching"},
        over(chiplets), [=](const State& s, Chiplet c) { return release_comes(s, c) && holds(s, c, dirty); },
        [=, this](State& s, Chiplet c) {
          k.for_each(words, [&](Word w) { write_back(s, c, w); });
          s.local(c).release = Operation::acknowledged;
        });
    r.rule(
        {.name = "releases: finds nothing dirty", .unit = "local CP", .source = "5.3.3 Launching"},
        over(chiplets), [=](const State& s, Chiplet c) { return release_comes(s, c) && !holds(s, c, dirty); },
        [](State& s, Chiplet c) { s.local(c).release = Operation::acknowledged; });
    r.rule(
        {.name = "acquires: invalidates the L2", .unit = "local CP", .source = "5.3.3 Launching"},
        over(chiplets), [=](const State& s, Chiplet c) { return acquire_comes(s, c) && holds(s, c, stale); },
        [=, this](State& s, Chiplet c) { invalidate(s, c); });
    r.rule(
        {.name = "acquires: finds nothing stale", .unit = "local CP", .source = "5.3.3 Launching"},
        over(chiplets), [=](const State& s, Chiplet c) { return acquire_comes(s, c) && !holds(s, c, stale); },
        [=, this](State& s, Chiplet c) { invalidate(s, c); });
  }
  void invalidate(State& s, Chiplet c) const {
    // A kernel that goes on may have written since.
    if (overlaps() && !lacks("acquire-drops-running"))
      k.for_each(words, [&](Word w) { write_back(s, c, w); });
    k.for_each(words, [&](Word w) {
      const Bool kept = Bool(is("keep-dirty")) && s.l2(c, w).copy == Copy::dirty;
      k.when(!kept, [&] { s.l2(c, w).copy = Copy::absent; });
    });
    if (has_l1s()) invalidate_l1s(s, c);
    s.local(c).acquire = Operation::acknowledged;
  }
  // Writes a dirty word back and keeps it, clean.
  void write_back(State& s, Chiplet c, Word w) const {
    auto& copy = s.l2(c, w).copy;
    if (lacks("whole-line-written-back")) {
      const Bool with_it = copy == Copy::stale && k.exists(words, [&](Word v) {
        return same_line(v, w) && s.l2(c, v).copy == Copy::dirty;
      });
      k.when(with_it, [&] { s.memory(w).outdated = true; });
    }
    k.when(copy == Copy::overwritten, [&] {
      s.memory(w).outdated = true;
      copy = Copy::stale;
    });
    k.when(copy == Copy::dirty, [&] {
      s.memory(w).outdated = false;
      copy = Copy::current;
    });
  }

  // ---- a kernel runs -------------------------------------------------------------------------------------

  static Bool unlabelled_or(const State& s, const Bool& b) { return s.unlabelled || b; }
  Bool may_access(const State& s, Chiplet c, Word w) const {
    return unlabelled_or(s, k.exists(structures, [&](Structure d) { return named(s, d, c, w); }));
  }
  Bool may_change(const State& s, Chiplet c, Word w) const {
    return unlabelled_or(s, k.exists(structures, [&](Structure d) {
      return s.label(d, c, w) && s.mode(d) == Mode::read_write;
    }));
  }
  static Bool written_by_none_but(const State& s, Chiplet c, Word w) {
    return s.memory(w).writer == MaybeChiplet{} || s.memory(w).writer == MaybeChiplet(c);
  }
  // Without a race.
  Bool may_read(const State& s, Chiplet c, Word w) const {
    return may_access(s, c, w) && written_by_none_but(s, c, w) && is_open(s, w, false);
  }
  Bool may_write(const State& s, Chiplet c, Word w) const {
    return may_change(s, c, w) && written_by_none_but(s, c, w) &&
           !k.exists(chiplets, [&](Chiplet j) { return j != c && s.l2(j, w).read; }) && is_open(s, w, true);
  }
  // Whether the L2 of chiplet h serves chiplet c's accesses of word w.
  Bool serves(const State& s, Chiplet h, Chiplet c, Word w) const {
    if (!home_served()) return h == c;
    return s.memory(w).home == MaybeChiplet(h) || (s.memory(w).home == MaybeChiplet{} && h == c);
  }
  static Bool reads_current(const State& s, Chiplet h, Word w) {
    const auto& copy = s.l2(h, w).copy;
    return copy == Copy::current || copy == Copy::dirty || (copy == Copy::absent && !s.memory(w).outdated);
  }
  Bool host_may(const State& s, Word w, bool to_write) const {
    return s.host && is_open(s, w, to_write) && k.exists(structures, [&](Structure d) {
      return belongs(d, w) && s.mode(d) != Mode::none && (!to_write || s.mode(d) == Mode::read_write);
    });
  }

  template <class Rules>
  void running_rules(Rules& r) const {
    if (has_l1s()) {
      cu_rules(r);
    } else {
      chiplet_rules(r);
    }
    r.rule(
        {.name = "evicts a line", .unit = "chiplet", .source = "5.4.1", .fairness = Fairness::optional},
        over(chiplets, words),
        [=, this](const State& s, Chiplet c, Word w) {
          return layout.line_of(w) == w &&
                 k.exists(words, [&](Word v) { return same_line(v, w) && s.l2(c, v).copy != Copy::absent; });
        },
        [=, this](State& s, Chiplet c, Word w) {
          k.for_each(words, [&](Word v) { k.when(same_line(v, w), [&] { write_back(s, c, v); }); });
          k.for_each(words,
                     [&](Word v) { k.when(same_line(v, w), [&] { s.l2(c, v).copy = Copy::absent; }); });
        });
    r.asked(
        LaunchRequest::host_stores,
        {.name = "the host writes a word", .unit = "host", .source = "5.4.1", .fairness = Fairness::optional},
        over(words),
        [=, this](const State& s, Word w) { return s.phase == Phase::running && host_may(s, w, true); },
        [=, this](State& s, Word w) {
          supersede(s, w);
          s.memory(w).outdated = false;
          bar_running(s, w, true);
        });
    r.asked(
        LaunchRequest::ends,
        {.name = "the kernel or the host is done", .unit = "local CP", .source = "5.3.3 Launching"}, over(),
        [](const State& s) { return s.phase == Phase::running; },
        [=, this](State& s) {
          const Bool boundary = baseline() ? !s.host : Bool(s.unlabelled);
          k.when(
              boundary,
              [&] {
                k.for_each(chiplets, [&](Chiplet c) {
                  send(s, c, Bool(!lacks("unlabelled-ends-without-acquire")),
                       Bool(!lacks("unlabelled-ends-without-release")));
                });
                s.phase = Phase::finishing;
              },
              [&] { s.phase = Phase::labelling; });
          clear_packet(s);
        });
    r.rule(
        {.name = "the boundary after a kernel is complete", .unit = "global CP", .source = "5.3.3 Indirect"},
        over(), [=, this](const State& s) { return s.phase == Phase::finishing && all_acknowledged(s); },
        [=, this](State& s) {
          clear_operations(s);
          k.for_each(structures, [&](Structure d) {
            k.for_each(chiplets, [&](Chiplet c) { remove(s, d, c); });
            s.indexed_by(d) = MaybeStructure{};
          });
          if (overlaps() && !lacks("boundary-forgets-running")) list_running(s);
          s.unlabelled = false;
          s.phase = Phase::labelling;
        });
  }
  // A chiplet's accesses, whichever of its CUs they are of.
  template <class Rules>
  void chiplet_rules(Rules& r) const {
    r.asked(
        LaunchRequest::loads,
        {.name = "reads a word", .unit = "chiplet", .source = "5.4.1", .fairness = Fairness::optional},
        over(chiplets, chiplets, words),
        [=, this](const State& s, Chiplet c, Chiplet h, Word w) {
          return s.phase == Phase::running && serves(s, h, c, w) && may_read(s, c, w);
        },
        [=, this](State& s, Chiplet c, Chiplet h, Word w) {
          fill(s, h, w);
          note_reader(s, c, w);
          bar_running(s, w, false);
        });
    r.asked(
        LaunchRequest::stores,
        {.name = "writes a word", .unit = "chiplet", .source = "5.4.1", .fairness = Fairness::optional},
        over(chiplets, chiplets, words),
        [=, this](const State& s, Chiplet c, Chiplet h, Word w) {
          return s.phase == Phase::running && serves(s, h, c, w) && may_write(s, c, w);
        },
        [=, this](State& s, Chiplet c, Chiplet h, Word w) {
          fill(s, h, w);
          supersede(s, w);
          k.when(
              h == c,
              [&] {
                s.l2(h, w).copy = Copy::dirty;
                s.memory(w).outdated = true;
              },
              [&] {  // written through
                s.l2(h, w).copy = Copy::current;
                s.memory(w).outdated = false;
              });
          note_writer(s, c, w);
          bar_running(s, w, true);
        });
  }
  // Fetches what the L2 of chiplet h lacks of a line.
  void fill(State& s, Chiplet h, Word w) const {
    k.for_each(words, [&](Word v) {
      k.when(same_line(v, w), [&] {
        k.when(s.l2(h, v).copy == Copy::absent, [&] {
          s.l2(h, v).copy =
              k.select(s.memory(v).outdated, Enum<Copy>(Copy::stale), Enum<Copy>(Copy::current));
        });
        if (home_served()) s.memory(v).home = MaybeChiplet(h);
      });
    });
  }
  // Every copy of the word is of an older write from now on.
  void supersede(State& s, Word w) const {
    if (has_l1s()) {
      k.for_each(chiplets, [&](Chiplet j) {
        k.for_each(cus, [&](Cu u) {
          auto& copy = s.l1(j, u, w).copy;
          k.when(copy == Copy::current, [&] { copy = Copy::stale; });
        });
      });
    }
    k.for_each(chiplets, [&](Chiplet j) {
      auto& copy = s.l2(j, w).copy;
      k.when(copy == Copy::dirty, [&] { copy = Copy::overwritten; });
      k.when(copy == Copy::current, [&] { copy = Copy::stale; });
    });
  }
  void write_in_own_l2(State& s, Chiplet c, Word w) const {
    fill(s, c, w);
    supersede(s, w);
    s.l2(c, w).copy = Copy::dirty;
    s.memory(w).outdated = true;
  }
  // Where it matters to another chiplet, or to a kernel beside.
  void note_reader(State& s, Chiplet c, Word w) const {
    k.when(Bool(overlaps()) || k.exists(chiplets, [&](Chiplet j) { return j != c && may_change(s, j, w); }),
           [&] { s.l2(c, w).read = true; });
  }
  void note_writer(State& s, Chiplet c, Word w) const {
    k.when(Bool(overlaps()) || k.exists(chiplets, [&](Chiplet j) { return j != c && may_access(s, j, w); }),
           [&] { s.memory(w).writer = MaybeChiplet(c); });
  }
  void clear_packet(State& s) const {
    k.for_each(structures, [&](Structure d) {
      s.mode(d) = Mode::none;
      k.for_each(chiplets, [&](Chiplet c) { k.for_each(words, [&](Word w) { s.label(d, c, w) = false; }); });
    });
    k.for_each(words, [&](Word w) {
      s.memory(w).writer = MaybeChiplet{};
      k.for_each(chiplets, [&](Chiplet c) { s.l2(c, w).read = false; });
      if (has_l1s()) {
        k.for_each(chiplets, [&](Chiplet c) {
          k.for_each(cus, [&](Cu u) {
            s.l1(c, u, w).read = false;
            s.l1(c, u, w).written = false;
          });
        });
      }
      if (overlaps()) s.beside_word(w).bar = Bar::none;
    });
    s.host = false;
  }

  // ---- an L1 for each CU ---------------------------------------------------------------------------------
  //
  // "Each with a private L1 cache" (5.2.1). What a kernel's work-groups on the CUs of a chiplet access is
  // divided among them in any way that has no race; labels and table know chiplets alone. Where a chiplet has
  // one CU its L1 is left out: whatever makes its copies old marks the chiplet Stale.

  [[nodiscard]] bool has_l1s() const {
    const bool asked = is("l1s") || ((fault_bits & of_l1s) != 0 && !is("overlapping") && !home_served());
    return asked && k.template extent<CuTag>() > 1;
  }
  void invalidate_l1s(State& s, Chiplet c) const {
    k.for_each(cus, [&](Cu u) { k.for_each(words, [&](Word w) { s.l1(c, u, w).copy = Copy::absent; }); });
  }
  // Without a race with another CU of the chiplet, either.
  Bool cu_may_read(const State& s, Chiplet c, Cu u, Word w) const {
    return may_read(s, c, w) && !k.exists(cus, [&](Cu o) { return o != u && s.l1(c, o, w).written; });
  }
  Bool cu_may_write(const State& s, Chiplet c, Cu u, Word w) const {
    return may_write(s, c, w) &&
           !k.exists(cus, [&](Cu o) { return o != u && (s.l1(c, o, w).read || s.l1(c, o, w).written); });
  }
  static Bool cu_reads_current(const State& s, Chiplet c, Cu u, Word w) {
    const auto& copy = s.l1(c, u, w).copy;
    return copy == Copy::current || (copy == Copy::absent && reads_current(s, c, w));
  }

  template <class Rules>
  void cu_rules(Rules& r) const {
    const auto reads = [=, this](State& s, Chiplet c, Cu u, Word w) {
      k.when(may_change(s, c, w), [&] { s.l1(c, u, w).read = true; });
      note_reader(s, c, w);
    };
    r.rule(
        {.name = "reads a word in L1", .unit = "CU", .source = "5.2.1", .fairness = Fairness::optional},
        over(chiplets, cus, words),
        [=, this](const State& s, Chiplet c, Cu u, Word w) {
          return s.phase == Phase::running && s.l1(c, u, w).copy != Copy::absent && cu_may_read(s, c, u, w);
        },
        reads);
    r.rule(
        {.name = "reads a word that L1 lacks",
         .unit = "CU",
         .source = "5.4.1",
         .fairness = Fairness::optional},
        over(chiplets, cus, words),
        [=, this](const State& s, Chiplet c, Cu u, Word w) {
          return s.phase == Phase::running && s.l1(c, u, w).copy == Copy::absent && cu_may_read(s, c, u, w);
        },
        [=, this](State& s, Chiplet c, Cu u, Word w) {
          fill(s, c, w);
          k.for_each(words, [&](Word v) {
            const Enum<Copy> now =
                k.select(reads_current(s, c, v), Enum<Copy>(Copy::current), Enum<Copy>(Copy::stale));
            k.when(same_line(v, w) && s.l1(c, u, v).copy == Copy::absent, [&] { s.l1(c, u, v).copy = now; });
          });
          reads(s, c, u, w);
        });
    r.rule(
        {.name = "writes a word through L1",
         .unit = "CU",
         .source = "5.1, 5.4.1",
         .fairness = Fairness::optional},
        over(chiplets, cus, words),
        [=, this](const State& s, Chiplet c, Cu u, Word w) {
          return s.phase == Phase::running && cu_may_write(s, c, u, w);
        },
        [=, this](State& s, Chiplet c, Cu u, Word w) {
          write_in_own_l2(s, c, w);
          if (!lacks("store-keeps-l1"))
            k.when(s.l1(c, u, w).copy != Copy::absent, [&] { s.l1(c, u, w).copy = Copy::current; });
          s.l1(c, u, w).written = true;
          note_writer(s, c, w);
        });
    r.rule(
        {.name = "an L1 evicts a line", .unit = "CU", .source = "5.2.1", .fairness = Fairness::optional},
        over(chiplets, cus, words),
        [=, this](const State& s, Chiplet c, Cu u, Word w) {
          return layout.line_of(w) == w && k.exists(words, [&](Word v) {
            return same_line(v, w) && s.l1(c, u, v).copy != Copy::absent;
          });
        },
        [=, this](State& s, Chiplet c, Cu u, Word w) {
          k.for_each(words,
                     [&](Word v) { k.when(same_line(v, w), [&] { s.l1(c, u, v).copy = Copy::absent; }); });
        });
  }

  // ---- two kernels in flight: ours -----------------------------------------------------------------------
  //
  // "In multi-stream workloads independent kernels from different streams run simultaneously" (5.6), of which
  // the text says no more. One of the two is the kernel that was launched last, in all that is above; the
  // other is here, and goes on.

  [[nodiscard]] bool overlaps() const {
    return k.template extent<StreamTag>() > 1 &&
           (is("overlapping") || ((fault_bits & of_overlapping) != 0 && !is("l1s")));
  }
  Bool named_there(const State& s, Structure d, Chiplet c, Word w) const {
    if (!overlaps()) return Bool(false);
    return s.beside && s.beside_mode(d) != Mode::none && s.beside_label(d, c, w);
  }
  Bool covers_there(const State& s, Structure d, Chiplet c, Word w) const {
    if (!overlaps()) return Bool(false);
    return k.exists(words, [&](Word v) { return same_line(v, w) && named_there(s, d, c, v); });
  }
  // Its label of what row r stands for names words of the chiplet.
  template <class Claim>
  Bool exists_there(const State& s, Structure r, Chiplet c, Claim&& claim) const {
    if (!overlaps()) return Bool(false);
    return k.exists(structures, [&](Structure d) {
      return indexes(s, r, d) &&
             k.exists(words, [&](Word w) { return covers_there(s, d, c, w) && claim(d, w); });
    });
  }
  Bool goes_on(const State& s, Structure r, Chiplet c, bool to_write) const {
    return exists_there(
        s, r, c, [&](Structure d, Word) { return Bool(!to_write) || s.beside_mode(d) == Mode::read_write; });
  }
  // It may write the word's line in a chiplet other than c.
  Bool written_beside(const State& s, Chiplet c, Word w) const {
    if (!overlaps() || lacks("running-writes-unseen")) return Bool(false);
    return k.exists(structures, [&](Structure d) {
      return s.beside_mode(d) == Mode::read_write &&
             k.exists(chiplets, [&](Chiplet j) { return j != c && covers_there(s, d, j, w); });
    });
  }
  // A line of its own may be written elsewhere, by either.
  Bool shares_there(const State& s, Structure r, Chiplet c) const {
    return exists_there(s, r, c, [&](Structure, Word w) {
      return written_beside(s, c, w) || accessed_elsewhere(s, r, c, w, true);
    });
  }
  // Or is dirty elsewhere: what it fetches of the line is old.
  Bool fetches_old(const State& s, Structure r, Chiplet c) const {
    if (lacks("running-fetches-unseen")) return Bool(false);
    return exists_there(s, r, c, [&](Structure, Word w) {
      return k.exists(chiplets, [&](Chiplet j) {
        return j != c && s.local(j).release == Operation::none && k.exists(structures, [&](Structure d) {
          return s.range(d, j, w) && may_be_dirty(s.entry(d, j));
        });
      });
    });
  }
  void mark_old(State& s, bool marked) const {
    k.for_each(structures, [&](Structure r) {
      k.for_each(chiplets, [&](Chiplet c) { s.beside_old(r, c) = Bool(marked) && fetches_old(s, r, c); });
    });
  }
  Bool is_old_there(const State& s, Structure r, Chiplet c) const {
    if (!overlaps()) return Bool(false);
    return s.beside_old(r, c);
  }
  // What it fetches behind an acquire must not be older than what the launch has written back.
  Bool may_acquire_beside(const State& s) const {
    if (!overlaps() || lacks("acquires-before-releases")) return Bool(true);
    return k.forall(chiplets, [&](Chiplet c) { return s.local(c).release != Operation::issued; });
  }
  void list_running(State& s) const {
    k.for_each(structures, [&](Structure r) {
      k.for_each(chiplets, [&](Chiplet c) {
        s.entry(r, c) = entry_of(goes_on(s, r, c, false), goes_on(s, r, c, true), shares_there(s, r, c));
        k.for_each(words, [&](Word w) { s.range(r, c, w) = covers_there(s, r, c, w); });
      });
    });
  }

  // What the kernel that was launched last may still do with the word.
  Bool is_open(const State& s, Word w, bool to_write) const {
    if (!overlaps()) return Bool(true);
    return s.beside_word(w).bar == Bar::none || (Bool(!to_write) && s.beside_word(w).bar == Bar::reads);
  }
  Bool may_touch_there(const State& s, Chiplet c, Word w, bool to_write) const {
    const auto& word = s.beside_word(w);
    const Bool named = k.exists(structures, [&](Structure d) {
      return named_there(s, d, c, w) && (!to_write || s.beside_mode(d) == Mode::read_write);
    });
    return named && (word.writer == MaybeChiplet{} || word.writer == MaybeChiplet(c)) &&
           (word.bar_there == Bar::none || (Bool(!to_write) && word.bar_there == Bar::reads));
  }
  Bool may_read_there(const State& s, Chiplet c, Word w) const { return may_touch_there(s, c, w, false); }
  Bool may_write_there(const State& s, Chiplet c, Word w) const {
    return may_touch_there(s, c, w, true) &&
           !k.exists(chiplets, [&](Chiplet j) { return j != c && s.beside_read(j, w); });
  }
  static void bar(Enum<Bar>& of, bool written) {
    if (written) {
      of = Bar::touches;
    } else {
      K::when(of == Bar::none, [&] { of = Bar::reads; });
    }
  }
  // The kernel that was launched last, or the host, has accessed the word.
  void bar_running(State& s, Word w, bool written) const {
    if (!overlaps()) return;
    k.when(s.beside, [&] { bar(s.beside_word(w).bar_there, written); });
  }
  // What the one that goes on has accessed before the other was launched.
  void bar_from_running(State& s) const {
    k.for_each(words, [&](Word w) {
      auto& word = s.beside_word(w);
      const Bool read = k.exists(chiplets, [&](Chiplet c) { return s.beside_read(c, w); });
      const Enum<Bar> for_reads = k.select(read, Enum<Bar>(Bar::reads), Enum<Bar>(Bar::none));
      word.bar = k.select(word.writer == MaybeChiplet{}, for_reads, Enum<Bar>(Bar::touches));
    });
  }
  static Bool last_is_in_flight(const State& s) {
    return s.phase == Phase::synchronizing || s.phase == Phase::running;
  }

  template <class Rules>
  void overlapping_rules(Rules& r) const {
    if (!overlaps()) return;
    r.asked(
        LaunchRequest::overlaps,
        {.name = "the next kernel is launched beside", .unit = "host", .source = "5.6, ours"}, over(),
        [](const State& s) { return s.phase == Phase::running && !s.host && !s.unlabelled && !s.beside; },
        [=, this](State& s) {
          s.beside = true;
          k.for_each(structures, [&](Structure d) {
            s.beside_mode(d) = s.mode(d);
            k.for_each(chiplets, [&](Chiplet c) {
              k.for_each(words, [&](Word w) { s.beside_label(d, c, w) = s.label(d, c, w); });
            });
          });
          k.for_each(words, [&](Word w) {
            auto& word = s.beside_word(w);
            word.writer = s.memory(w).writer;
            word.bar_there = word.bar;
            k.for_each(chiplets, [&](Chiplet c) { s.beside_read(c, w) = s.l2(c, w).read; });
          });
          clear_packet(s);
          s.phase = Phase::labelling;
        });
    r.rule(
        {.name = "reads a word beside", .unit = "chiplet", .source = "5.4.1", .fairness = Fairness::optional},
        over(chiplets, words),
        [=, this](const State& s, Chiplet c, Word w) { return may_read_there(s, c, w); },
        [=, this](State& s, Chiplet c, Word w) {
          fill(s, c, w);
          s.beside_read(c, w) = true;
          k.when(last_is_in_flight(s), [&] { bar(s.beside_word(w).bar, false); });
        });
    r.rule(
        {.name = "writes a word beside",
         .unit = "chiplet",
         .source = "5.4.1",
         .fairness = Fairness::optional},
        over(chiplets, words),
        [=, this](const State& s, Chiplet c, Word w) { return may_write_there(s, c, w); },
        [=, this](State& s, Chiplet c, Word w) {
          write_in_own_l2(s, c, w);
          s.beside_word(w).writer = MaybeChiplet(c);
          k.when(last_is_in_flight(s), [&] { bar(s.beside_word(w).bar, true); });
        });
    r.rule(
        {.name = "the kernel beside is done", .unit = "local CP", .source = "5.3.3 Launching"}, over(),
        [=, this](const State& s) {
          const Bool launching = s.phase == Phase::synchronizing || s.phase == Phase::finishing;
          return s.beside && (Bool(lacks("end-noted-in-launch")) || !launching);
        },
        [=, this](State& s) {
          s.beside = false;
          k.for_each(structures, [&](Structure d) {
            s.beside_mode(d) = Mode::none;
            k.for_each(chiplets, [&](Chiplet c) {
              k.for_each(words, [&](Word w) { s.beside_label(d, c, w) = false; });
            });
          });
          k.for_each(words, [&](Word w) {
            s.beside_word(w).writer = MaybeChiplet{};
            s.beside_word(w).bar_there = Bar::none;
            k.for_each(chiplets, [&](Chiplet c) { s.beside_read(c, w) = false; });
          });
        });
  }

  // ---- what the table claims -----------------------------------------------------------------------------

  void table_invariants(Invariants& v) const {
    // While a kernel without labels runs, the table is empty and claims nothing.
    const auto listed = [=, this](const State& s, auto copy, auto entry) {
      return s.unlabelled || k.forall(chiplets, [&](Chiplet c) {
        return k.forall(words, [&](Word w) {
          return !copy(s.l2(c, w).copy) ||
                 k.exists(structures, [&](Structure r) { return s.range(r, c, w) && entry(s.entry(r, c)); });
        });
      });
    };
    v.invariant("what a chiplet has dirty is listed as Dirty", [=](const State& s) {
      return listed(
          s, [](const Enum<Copy>& copy) { return copy == Copy::dirty; },
          [](const Enum<Entry>& e) { return may_be_dirty(e); });
    });
    v.invariant("what a chiplet has stale is listed as Stale", [=](const State& s) {
      return listed(
          s, [](const Enum<Copy>& copy) { return copy == Copy::stale; },
          [](const Enum<Entry>& e) { return may_be_stale(e); });
    });
    if (!home_served()) {  // where a home caches for others, which the table does not see
      v.invariant("what a chiplet has is listed", [=](const State& s) {
        return listed(
            s, [](const Enum<Copy>& copy) { return copy != Copy::absent; },
            [](const Enum<Entry>& e) { return e != Entry::not_present; });
      });
    }
    v.invariant(
        "an operation is issued only where the table says that it may be needed", [=, this](const State& s) {
          return s.phase != Phase::synchronizing || at_boundaries(s) || k.forall(chiplets, [&](Chiplet c) {
            const Bool acquire = s.local(c).acquire != Operation::none;
            const Bool may_meet_stale = exists_entry(s, c, [&](Structure r, Word w) {
              return may_be_stale(s.entry(r, c)) && accessed_here(s, r, c, w, false);
            });
            const Bool may_be_met = exists_entry(s, c, [&](Structure r, Word w) {
              return may_be_dirty(s.entry(r, c)) && (acquire || accessed_elsewhere(s, r, c, w, false));
            });
            return (!acquire || may_meet_stale) && (s.local(c).release == Operation::none || may_be_met);
          });
        });
  }
  template <class Claim>
  Bool exists_entry(const State& s, Chiplet c, Claim&& claim) const {
    return k.exists(structures, [&](Structure r) {
      return k.exists(words, [&](Word w) { return s.range(r, c, w) && claim(r, w); });
    });
  }
};

struct Info : SystemInfo<faults, variants> {
  static constexpr std::string_view name = "cpcoh";
  static constexpr std::string_view what =
      "CPCoh: chiplets kept coherent by the command processor (UW-Madison 2023, ch. 5)";
  static constexpr int place = 40;  // among the systems, where people read of them
  // Fields that no rule reads.
  static constexpr bool is_unread(std::string_view field, std::string_view variant, std::string_view fault) {
    bool overlaps = variant == "overlapping";
    bool has_l1s = variant == "l1s";
    for (std::size_t i = 0; i < faults.size(); ++i) {
      const bool on = faults[i].name == fault;
      overlaps |= on && variant != "l1s" && ((of_overlapping >> i) & 1U) != 0;
      has_l1s |=
          on && variant != "overlapping" && !variant.starts_with("home-served") && ((of_l1s >> i) & 1U) != 0;
    }
    return (field == "memory(word).home" && !variant.starts_with("home-served")) ||
           (field.starts_with("beside") && !overlaps) || (field.starts_with("l1") && !has_l1s);
  }
  template <class Capacities>
  using Sizes = SizesWithin<Capacities, ChipletTag, CuTag, StructureTag, WordTag, LineWordTag, LabelTag,
                            BaseTag, StreamTag>;
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<ChipletTag>(2);
    sizes.template set<CuTag>(2);
    sizes.template set<StructureTag>(2);
    sizes.template set<WordTag>(2);
    sizes.template set<LineWordTag>(2);
    sizes.template set<LabelTag>(2);
    sizes.template set<BaseTag>(1);
    sizes.template set<StreamTag>(StreamTag::capacity);
  }
  // Where two labels are too many every rule can happen.
  template <class S>
  static constexpr void sizes_of_every_rule(S& sizes) {
    sizes.template set<LabelTag>(1);
  }
  // What launches ask of, and that with every client there may be.
  template <class K>
  using Launched = Protocol<K>;
  template <class K>
  using Closed = AnyLaunches<Protocol<K>>;
  static constexpr auto& kernel = cpcoh::kernel;
  // Sizes that fit a sequence of launches; `structure_of` and `line_of` place its words as it does.
  template <class S>
  static constexpr void sizes_for(S& sizes, const Launches& launches) {
    const int owners = static_cast<int>(launches.structures.size());
    sizes.template set<ChipletTag>(launches.chiplets);
    sizes.template set<CuTag>(launches.cus);
    sizes.template set<StructureTag>(owners);
    sizes.template set<WordTag>(owners * launches.words);
    sizes.template set<LineWordTag>(launches.line);
    sizes.template set<LabelTag>(launches.tracked > 0 ? launches.tracked : owners);
    sizes.template set<BaseTag>(launches.aliases ? 2 : 1);
    const bool go_on = std::any_of(launches.launches.begin(), launches.launches.end(),
                                   [](const Launch& launch) { return launch.goes_on; });
    sizes.template set<StreamTag>(go_on ? 2 : 1);
  }
};

}  // namespace lockstep::cpcoh
