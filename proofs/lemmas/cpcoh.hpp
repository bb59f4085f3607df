// Why no kernel reads a stale word under CPCoh: the table lists whatever a chiplet has dirty or stale; a
// launch issues what the listed states need for the ranges that the kernel names; a local CP's
// acknowledgement means that nothing dirty, or nothing at all, is left; so whatever a running kernel may read
// is current when it starts, and only a word's one writer changes it while it runs.
#pragma once

#include "spec/memory/cpcoh.hpp"

namespace lockstep::cpcoh {

template <class Protocol>
struct Lemmas {
  using State = typename Protocol::State;
  using Bool = typename Protocol::Bool;
  using Chiplet = typename Protocol::Chiplet;
  using Cu = typename Protocol::Cu;
  using Structure = typename Protocol::Structure;
  using Word = typename Protocol::Word;
  using MaybeChiplet = typename Protocol::MaybeChiplet;
  template <class E>
  using Enum = typename Protocol::template Enum<E>;

  const Protocol& p;

  template <class V>
  void lemmas(V& v) const {
    packets(v);
    operations(v);
    copies(v);
    launches(v);
    if (p.has_l1s()) l1s(v);
  }

 private:
  static Bool implies(const Bool& a, const Bool& b) { return !a || b; }
  static Bool dirty(const State& s, Chiplet c, Word w) { return s.l2(c, w).copy == Copy::dirty; }
  static Bool stale(const State& s, Chiplet c, Word w) { return s.l2(c, w).copy == Copy::stale; }
  static Bool running(const State& s) { return s.phase == Phase::running; }
  Bool listed(const State& s, Chiplet c, Word w, auto entry) const {
    return p.k.exists(structures, [&](Structure r) { return s.range(r, c, w) && entry(s.entry(r, c)); });
  }
  static Bool present(const Enum<Entry>& e) { return e != Entry::not_present; }

  template <class V>
  void each_chiplet(V& v, std::string_view name, auto claim) const {
    v.invariant(name, [this, claim](const State& s) {
      return p.k.forall(chiplets, [&](Chiplet c) { return claim(s, c); });
    });
  }
  template <class V>
  void each_copy(V& v, std::string_view name, auto claim) const {
    each_chiplet(v, name, [this, claim](const State& s, Chiplet c) {
      return p.k.forall(words, [&](Word w) { return claim(s, c, w); });
    });
  }
  // For two different chiplets.
  template <class V>
  void each_pair(V& v, std::string_view name, auto claim) const {
    each_copy(v, name, [this, claim](const State& s, Chiplet c, Word w) {
      return p.k.forall(chiplets, [&](Chiplet j) { return j == c || claim(s, c, j, w); });
    });
  }

  template <class V>
  void packets(V& v) const {
    v.invariant("a kernel without labels has none, and is no host access", [=, this](const State& s) {
      return implies(s.unlabelled,
                     !s.host && !p.labelled(s) && s.phase != Phase::labelling && s.phase != Phase::replacing);
    });
    v.invariant("after the end of a kernel without labels its boundary follows",
                [](const State& s) { return implies(s.phase == Phase::finishing, s.unlabelled); });
    v.invariant("a host access goes by its mode alone", [=, this](const State& s) {
      return p.k.forall(structures, [&](Structure d) {
        return p.k.forall(chiplets, [&](Chiplet c) {
          return p.k.forall(
              words, [&](Word w) { return implies(s.label(d, c, w), !s.host && s.mode(d) != Mode::none); });
        });
      });
    });
    each_copy(v, "who reads and writes is noted while a kernel runs", [](const State& s, Chiplet c, Word w) {
      return implies(s.l2(c, w).read || s.memory(w).writer != MaybeChiplet{}, running(s));
    });
  }

  template <class V>
  void operations(V& v) const {
    each_chiplet(v, "operations are outstanding at boundaries only", [](const State& s, Chiplet c) {
      return s.phase == Phase::synchronizing || s.phase == Phase::finishing || s.phase == Phase::replacing ||
             (s.local(c).acquire == Operation::none && s.local(c).release == Operation::none);
    });
    each_chiplet(v, "a kernel without labels has them all", [](const State& s, Chiplet c) {
      return implies(s.unlabelled && !running(s),
                     s.local(c).acquire != Operation::none && s.local(c).release != Operation::none);
    });
    each_chiplet(v, "a labelled launch has those that it needs", [this](const State& s, Chiplet c) {
      const Bool acquire = p.k.exists(structures, [&](Structure r) { return p.needs_acquire(s, r, c); });
      const Bool release = p.k.exists(structures, [&](Structure r) {
        return p.needs_release(s, r, c) || (acquire && Protocol::may_be_dirty(s.entry(r, c)));
      });
      return implies(s.phase == Phase::synchronizing && !s.unlabelled,
                     (s.local(c).acquire != Operation::none) == acquire &&
                         (s.local(c).release != Operation::none) == release);
    });
    each_chiplet(
        v, "where a row is replaced what is dirty is released first", [this](const State& s, Chiplet c) {
          return s.phase != Phase::replacing || s.local(c).acquire == Operation::none ||
                 s.local(c).release != Operation::none ||
                 !p.k.exists(structures, [&](Structure r) { return Protocol::may_be_dirty(s.entry(r, c)); });
        });
    each_chiplet(v, "a chiplet's release comes before its acquire", [](const State& s, Chiplet c) {
      return implies(s.local(c).acquire == Operation::acknowledged, s.local(c).release != Operation::issued);
    });
    each_copy(v, "an acknowledged release has left nothing dirty", [](const State& s, Chiplet c, Word w) {
      return implies(s.local(c).release == Operation::acknowledged, !dirty(s, c, w));
    });
    each_copy(v, "an acknowledged acquire has left nothing", [](const State& s, Chiplet c, Word w) {
      return implies(s.local(c).acquire == Operation::acknowledged, s.l2(c, w).copy == Copy::absent);
    });
  }

  template <class V>
  void copies(V& v) const {
    each_copy(v, "memory is out of date where an L2 is dirty", [](const State& s, Chiplet c, Word w) {
      return implies(dirty(s, c, w), s.memory(w).outdated);
    });
    each_pair(v, "beside a dirty copy others are stale", [](const State& s, Chiplet c, Chiplet j, Word w) {
      return implies(dirty(s, c, w), s.l2(j, w).copy == Copy::absent || stale(s, j, w));
    });
  }

  template <class V>
  void launches(V& v) const {
    each_chiplet(
        v, "a row has a range for a chiplet as long as it has a state", [this](const State& s, Chiplet c) {
          return p.k.forall(structures, [&](Structure r) {
            return p.k.exists(words, [&](Word w) { return s.range(r, c, w); }) == present(s.entry(r, c));
          });
        });
    each_copy(
        v, "the lines of a running kernel's ranges are listed", [this](const State& s, Chiplet c, Word w) {
          return p.k.forall(structures, [&](Structure d) {
            const Bool named = running(s) && p.covers(s, d, c, w);
            return implies(named, listed(s, c, w, present)) &&
                   implies(named && s.mode(d) == Mode::read_write, listed(s, c, w, Protocol::may_be_dirty));
          });
        });
    each_copy(v, "what others will write is listed as Stale", [this](const State& s, Chiplet c, Word w) {
      const Bool others = p.k.exists(structures, [&](Structure d) {
        return s.mode(d) == Mode::read_write &&
               (p.host_covers(s, d, w) ||
                p.k.exists(chiplets, [&](Chiplet j) { return j != c && p.covers(s, d, j, w); }));
      });
      return implies(running(s) && others && listed(s, c, w, present),
                     listed(s, c, w, Protocol::may_be_stale));
    });
    each_pair(v, "a line that a kernel uses is dirty elsewhere only where it may be written",
              [this](const State& s, Chiplet c, Chiplet j, Word w) {
                const Bool used =
                    p.k.exists(words, [&](Word u) { return p.same_line(u, w) && p.may_access(s, c, u); });
                return implies(running(s) && dirty(s, j, w) && used, p.may_change(s, j, w));
              });
    each_pair(v, "a word that a kernel uses is dirty elsewhere only if it was written there",
              [this](const State& s, Chiplet c, Chiplet j, Word w) {
                return implies(running(s) && dirty(s, j, w) && p.may_access(s, c, w),
                               s.memory(w).writer == MaybeChiplet(j));
              });
    each_copy(v, "a word that a kernel uses is stale only if another chiplet wrote it",
              [this](const State& s, Chiplet c, Word w) {
                return implies(running(s) && stale(s, c, w) && p.may_access(s, c, w),
                               !Protocol::written_by_none_but(s, c, w));
              });
  }

  template <class V>
  void each_l1_copy(V& v, std::string_view name, auto claim) const {
    each_copy(v, name, [this, claim](const State& s, Chiplet c, Word w) {
      return p.k.forall(cus, [&](Cu u) { return claim(s, c, u, w); });
    });
  }
  template <class V>
  void l1s(V& v) const {
    each_l1_copy(v, "what a CU reads and writes is noted while a kernel runs",
                 [](const State& s, Chiplet c, Cu u, Word w) {
                   return implies(s.l1(c, u, w).read || s.l1(c, u, w).written, running(s) && !s.host);
                 });
    each_l1_copy(v, "an L1 has nothing dirty", [](const State& s, Chiplet c, Cu u, Word w) {
      return s.l1(c, u, w).copy != Copy::dirty && s.l1(c, u, w).copy != Copy::overwritten;
    });
    each_l1_copy(v, "a word that a kernel uses is stale in an L1 only if another CU wrote it",
                 [this](const State& s, Chiplet c, Cu u, Word w) {
                   return implies(
                       running(s) && !s.host && s.l1(c, u, w).copy == Copy::stale && p.may_access(s, c, w),
                       !Protocol::written_by_none_but(s, c, w) ||
                           p.k.exists(cus, [&](Cu o) { return o != u && s.l1(c, o, w).written; }));
                 });
  }
};

}  // namespace lockstep::cpcoh
