// Why every copy is current, for any number of cores and blocks: whoever has a copy, or is being sent one, is
// known to the directory or has an invalidation on its way behind it.
#include "my.hpp"

#include <boost/describe.hpp>

#include "proofs/lemmas/memory.hpp"
#include "proofs/open_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep::my {

// No lemma speaks of the past.
template <class Open>
struct History {
  struct Ghost {
    BOOST_DESCRIBE_CLASS(Ghost, (), (), (), ())
  };
  const Open& open;

  void step(Ghost&, const typename Open::State&, const typename Open::State&) const {}
};

template <class System>
struct Lemmas : MemoryClaims<System> {
  using Base = MemoryClaims<System>;
  using Base::each_thread, Base::k, Base::system;
  using typename Base::Bool, typename Base::K, typename Base::Open, typename Base::State;
  using Memory = typename Open::Memory;
  using Core = typename Memory::Core;
  using Block = typename Memory::Block;
  using Down = typename Memory::Down;

  template <class V>
  void lemmas(V& v) const {
    of_each_copy(v, "whoever has a copy is known, or is sent an invalidation",
                 [](const auto& m, const Core& c, const Block& b) {
                   return !m.cache(c, b).present || m.entry(c, b).sharer || sent(m, c, b);
                 });
    of_each_copy(v, "whoever is sent a fill is known, or is sent an invalidation behind it",
                 [](const auto& m, const Core& c, const Block& b) {
                   return !ends_with_a_fill(m.down(c), b) || m.entry(c, b).sharer;
                 });
    of_each_copy(v, "the directory waits for an invalidation as long as it is on its way",
                 [](const auto& m, const Core& c, const Block& b) {
                   return sent(m, c, b) == K::contains(m.down(c), [&](const Down& d) {
                            return d.kind == DownKind::invalidation && d.block == b;
                          });
                 });
    of_each_copy(v, "an invalidation is on its way once",
                 [](const auto& m, const Core& c, const Block& b) { return once(m.down(c), b); });
    each_thread(v, "a fill on its way is current", [this](const State&, const auto& m, const Core& c) {
      return !K::contains(m.down(c), [&](const Down& d) {
        return d.kind == DownKind::fill && !system.system().memory().same(d.data, m.memory(d.block));
      });
    });
  }

 private:
  template <class V, class Claim>
  void of_each_copy(V& v, std::string_view name, Claim claim) const {
    each_thread(v, name, [this, claim](const State&, const auto& m, const Core& c) {
      return k().forall(blocks, [&](const Block& b) { return claim(m, c, b); });
    });
  }

  template <class MemoryState>
  [[nodiscard]] static Bool sent(const MemoryState& m, const Core& c, const Block& b) {
    return m.entry(c, b).invalidation == Invalidation::sent;
  }
  // The last message about the block, if there is one, is a fill.
  template <class Queue>
  [[nodiscard]] static Bool ends_with_a_fill(const Queue& queue, const Block& b) {
    Bool fill(false);
    K::for_each_queued(queue, [&](const Down& d) {
      fill = (fill && d.block != b) || (d.kind == DownKind::fill && d.block == b);
    });
    return fill;
  }
  template <class Queue>
  [[nodiscard]] static Bool once(const Queue& queue, const Block& b) {
    Bool once(true);
    Bool seen(false);
    K::for_each_queued(queue, [&](const Down& d) {
      const Bool is = d.kind == DownKind::invalidation && d.block == b;
      once = once && !(seen && is);
      seen = seen || is;
    });
    return once;
  }
};

}  // namespace lockstep::my

namespace lockstep {

namespace {

ProofEntry entry() {
  return {"my", "every copy is current", "any number of threads and blocks",
          [](const SystemOptions& options, bool any_size) {
            return build_memory_proof<my::Info, my::History, my::Lemmas>(find_system("my"), options,
                                                                         any_size);
          }};
}

const RegisteredProof registered(origin<my::Info>("my.proofs.cpp"), entry);

}  // namespace

}  // namespace lockstep
