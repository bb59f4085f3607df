#include "checker/axiomatic/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "checker/language/test.hpp"
#include "checker/support/tags.hpp"

namespace lockstep {

namespace {

bool is_fence(const ProgramEvent& e, EventStyle style) {
  const EventKind kind = e.kind;
  if (style == EventStyle::vulkan) {
    return (kind == EventKind::fence || kind == EventKind::barrier) && e.order != Order::plain;
  }
  return kind == EventKind::fence || kind == EventKind::barrier_entry || kind == EventKind::barrier_exit ||
         kind == EventKind::kernel_begin || kind == EventKind::kernel_end;
}
bool is_barrier(EventKind kind) {
  return kind == EventKind::barrier || kind == EventKind::barrier_entry || kind == EventKind::barrier_exit;
}
bool is_memory_event(EventKind kind) {
  return reads(kind) || writes(kind);
}

}  // namespace

void Execution::assemble(const Program& of, EventStyle how, const ProgramEvents& all,
                         const std::vector<const ThreadPath*>& chosen) {
  program = &of;
  style = how;
  paths = chosen;
  values = &all.values;
  events.clear();
  first.clear();
  for (std::size_t l = 0; l < of.locations.size(); ++l) {
    ProgramEvent e;
    e.kind = EventKind::initial;
    e.location = e.address = static_cast<std::int16_t>(l);
    events.push_back(e);
  }
  for (const ThreadPath* path : paths) {
    first.push_back(size());
    events.insert(events.end(), path->events.begin(), path->events.end());
  }
  partner.assign(events.size(), -1);
  const auto awaits_its_write = [&](int event) {
    const ProgramEvent& e = events[static_cast<std::size_t>(event)];
    return e.kind == EventKind::read && e.rmw && partner[static_cast<std::size_t>(event)] < 0;
  };
  round.assign(events.size(), -1);
  writes.resize(of.locations.size());
  for (auto& list : writes) list.clear();
  for (int i = 0; i < size(); ++i) {
    const ProgramEvent& e = events[static_cast<std::size_t>(i)];
    if (e.kind == EventKind::write) writes[static_cast<std::size_t>(e.location)].push_back(i);
    if (e.kind == EventKind::write && e.rmw) {
      int read = i - 1;  // of a conditional store, some way in front of it
      while (!awaits_its_write(read)) --read;
      partner[static_cast<std::size_t>(i)] = read;
      partner[static_cast<std::size_t>(read)] = i;
    }
  }
}

bool Execution::meet(int a, int b) const {
  const int of_a = round[static_cast<std::size_t>(a)];
  return of_a >= 0 && of_a == round[static_cast<std::size_t>(b)];
}

int Execution::awaited_at(int barrier) const {
  const ProgramEvent& e = events[static_cast<std::size_t>(barrier)];
  if (e.participants > 0) return e.participants;
  const Placement& mine = program->threads[static_cast<std::size_t>(e.thread)].placement;
  int members = 0;
  for (std::size_t t = 0; t < program->threads.size(); ++t) {
    const Placement& p = program->threads[t].placement;
    if (p.host || p.wg != mine.wg || p.agent != mine.agent) continue;
    // By the text of its code, or, where a register holds the number, by where it arrives.
    const auto& code = program->threads[t].code;
    const bool has_one =
        std::any_of(code.begin(), code.end(),
                    [&](const Instruction& at) {
                      return at.opcode == Opcode::barrier && !at.a.is_register && at.a.value == e.barrier;
                    }) ||
        std::any_of(paths[t]->events.begin(), paths[t]->events.end(), [&](const ProgramEvent& one) {
          return is_barrier(one.kind) && one.barrier == e.barrier;
        });
    if (style == EventStyle::hrf || has_one) ++members;
  }
  return members;
}

std::vector<int> Execution::sc_fences() const {
  std::vector<int> fences;
  for (int i = 0; i < size(); ++i) {
    if (is_sc_fence(events[static_cast<std::size_t>(i)])) fences.push_back(i);
  }
  return fences;
}

bool Execution::scope_includes(int event, int other) const {
  const int thread = events[static_cast<std::size_t>(other)].thread;
  return thread >= 0 && scope_includes_thread(event, thread);
}

bool Execution::scope_includes_thread(int event, int thread) const {
  const ProgramEvent& e = events[static_cast<std::size_t>(event)];
  if (e.thread < 0) return false;
  if (e.thread == thread) return true;
  const Placement& p = program->threads[static_cast<std::size_t>(e.thread)].placement;
  const Placement& q = program->threads[static_cast<std::size_t>(thread)].placement;
  if (style == EventStyle::vulkan) {
    if (has(e.tags, Tag::in_dv)) return true;
    if (p.queue_family != q.queue_family) return false;
    if (has(e.tags, Tag::in_qf)) return true;
    if (p.wg != q.wg) return false;
    return has(e.tags, Tag::in_wg) || (has(e.tags, Tag::in_sg) && p.subgroup == q.subgroup);
  }
  if (e.scope == Scope::system) return true;
  if (p.host || q.host) return false;
  switch (e.scope) {
    case Scope::wave:
      return p.wave == q.wave;
    case Scope::wg:
      return p.agent == q.agent && p.wg == q.wg;
    case Scope::agent:
      return p.agent == q.agent;
    case Scope::system:
      return true;
  }
  return false;
}

void Execution::fill(cat::Base base, std::uint64_t* rows) const {
  using cat::Base;
  const int n = size();
  const auto w = static_cast<std::size_t>(words());
  std::fill(rows, rows + (is_set(base) ? w : w * static_cast<std::size_t>(n)), 0);
  const auto each = [&](const auto& holds) {
    for (int i = 0; i < n; ++i) {
      if (holds(events[static_cast<std::size_t>(i)], i)) {
        rows[static_cast<std::size_t>(i) / 64] |= std::uint64_t{1} << (i % 64);
      }
    }
  };
  const auto pair = [&](int i, int j) {
    rows[static_cast<std::size_t>(i) * w + static_cast<std::size_t>(j) / 64] |= std::uint64_t{1} << (j % 64);
  };
  const auto pairs = [&](const auto& holds) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (holds(i, j)) pair(i, j);
      }
    }
  };
  const auto event = [&](int i) -> const ProgramEvent& { return events[static_cast<std::size_t>(i)]; };
  const auto placed = [&](int i) -> const Placement* {
    return event(i).thread < 0 ? nullptr
                               : &program->threads[static_cast<std::size_t>(event(i).thread)].placement;
  };
  const auto together = [&](const auto& same) {
    pairs([&](int i, int j) {
      const Placement* p = placed(i);
      const Placement* q = placed(j);
      if (p == nullptr || q == nullptr) return false;
      return event(i).thread == event(j).thread || (!p->host && !q->host && same(*p, *q));
    });
  };
  const auto ordered = [&](Order order) {
    each([&](const ProgramEvent& e, int) { return e.kind != EventKind::initial && e.order == order; });
  };
  const auto annotated = [&](Order order) {
    each([&](const ProgramEvent& e, int) { return is_memory_event(e.kind) && e.order == order; });
  };
  const auto tagged = [&](Tag tag) { each([&](const ProgramEvent& e, int) { return has(e.tags, tag); }); };
  const auto scoped = [&](Scope scope) {
    if (style == EventStyle::vulkan) {
      // Also what is no atomic may have one; there is none beyond the device.
      constexpr std::array tags{Tag::in_sg, Tag::in_wg, Tag::in_dv};
      if (scope != Scope::system) tagged(tags[static_cast<std::size_t>(scope)]);
      return;
    }
    each([&](const ProgramEvent& e, int) {
      return e.kind != EventKind::initial && e.order != Order::plain && e.scope == scope;
    });
  };
  const auto region = [&](Region wanted) {
    each([&](const ProgramEvent& e, int) {
      if (is_memory_event(e.kind)) {
        return program->locations[static_cast<std::size_t>(e.location)].region == wanted;
      }
      return includes(e.region, wanted);
    });
  };
  const auto dependency = [&](std::vector<ThreadPath::Bits> ThreadPath::*which) {
    for (std::size_t t = 0; t < paths.size(); ++t) {
      const auto& by_event = paths[t]->*which;
      for (std::size_t j = 0; j < by_event.size(); ++j) {
        for (std::size_t i = 0; i < j; ++i) {
          if (((by_event[j] >> i) & 1U) != 0)
            pair(first[t] + static_cast<int>(i), first[t] + static_cast<int>(j));
        }
      }
    }
  };

  if (base >= Base::first_tag && base <= Base::last_tag) {
    return tagged(static_cast<Tag>(static_cast<int>(base) - static_cast<int>(Base::first_tag)));
  }
  switch (base) {
    case Base::universe:
      return each([](const ProgramEvent&, int) { return true; });
    case Base::reads:
      return each([](const ProgramEvent& e, int) { return reads(e.kind); });
    case Base::writes:
      return each([](const ProgramEvent& e, int) { return lockstep::writes(e.kind); });
    case Base::memory:
      return each([](const ProgramEvent& e, int) { return is_memory_event(e.kind); });
    case Base::fences:
      return each([&](const ProgramEvent& e, int) { return is_fence(e, style); });
    case Base::barriers:
      return each([](const ProgramEvent& e, int) { return is_barrier(e.kind); });
    case Base::initial:
      return each([](const ProgramEvent& e, int) { return e.kind == EventKind::initial; });
    case Base::rmws:
      return each([](const ProgramEvent& e, int) { return e.rmw; });
    case Base::plain:
      return each([](const ProgramEvent& e, int) {
        return is_memory_event(e.kind) && e.kind != EventKind::initial && e.order == Order::plain;
      });
    case Base::atomic:
      return each([](const ProgramEvent& e, int) {
        return is_memory_event(e.kind) && e.kind != EventKind::initial && e.order != Order::plain;
      });
    case Base::relaxed:
      // An update that commutes is relaxed to a model that doesn't know of them.
      return each(
          [](const ProgramEvent& e, int) { return e.order == Order::relaxed || e.order == Order::comm; });
    // In Vulkan what is both is in either.
    case Base::acquire:
      return each([&](const ProgramEvent& e, int) {
        return e.order == Order::acquire || (style == EventStyle::vulkan && e.order == Order::acq_rel);
      });
    case Base::release:
      return each([&](const ProgramEvent& e, int) {
        return e.order == Order::release || (style == EventStyle::vulkan && e.order == Order::acq_rel);
      });
    case Base::acq_rel:
      // In PTX a fence.sc is also acquiring and releasing.
      return each([&](const ProgramEvent& e, int) {
        return e.order == Order::acq_rel ||
               (style == EventStyle::ptx && e.kind == EventKind::fence && e.order == Order::sc);
      });
    case Base::sc:
      return ordered(Order::sc);
    case Base::scope_wave:
      return scoped(Scope::wave);
    case Base::scope_work_item:
      return each([](const ProgramEvent& e, int) {
        return is_memory_event(e.kind) && e.kind != EventKind::initial &&
               (e.order == Order::plain || e.scope == Scope::wave);
      });
    case Base::scope_wg:
      return scoped(Scope::wg);
    case Base::scope_agent:
      return scoped(Scope::agent);
    case Base::scope_system:
      return scoped(Scope::system);
    case Base::global:
      return region(Region::global);
    case Base::local:
      return region(Region::local);
    case Base::non_atomic:
      return each([&](const ProgramEvent& e, int) {
        return is_memory_event(e.kind) && !program->locations[static_cast<std::size_t>(e.location)].atomic;
      });
    case Base::entry:
      return each([](const ProgramEvent& e, int) { return e.kind == EventKind::barrier_entry; });
    case Base::exit:
      return each([](const ProgramEvent& e, int) { return e.kind == EventKind::barrier_exit; });
    case Base::host:
      return each([&](const ProgramEvent&, int i) { return placed(i) != nullptr && placed(i)->host; });
    case Base::generic:
      return each([&](const ProgramEvent& e, int) {
        // Also what dialects without proxies say.
        return e.kind != EventKind::initial && (e.tags & (proxies & ~bit(Tag::generic))) == 0;
      });
    case Base::acquiring_reads:
      return each([](const ProgramEvent& e, int) {
        return reads(e.kind) && acquires(e.order) && !has(e.tags, Tag::acquire_pc);
      });
    case Base::releasing_writes:
      return each([](const ProgramEvent& e, int) { return e.kind == EventKind::write && releases(e.order); });
    case Base::acquire_accesses:
      return annotated(Order::acquire);
    case Base::release_accesses:
      return annotated(Order::release);
    case Base::sc_accesses:
      return annotated(Order::sc);
    case Base::identity:
      return pairs([](int i, int j) { return i == j; });
    case Base::po:
      return pairs(
          [&](int i, int j) { return i < j && event(i).thread >= 0 && event(i).thread == event(j).thread; });
    case Base::loc:
      return pairs([&](int i, int j) {
        return is_memory_event(event(i).kind) && is_memory_event(event(j).kind) &&
               event(i).location == event(j).location;
      });
    case Base::address:
      return pairs([&](int i, int j) {
        return is_memory_event(event(i).kind) && is_memory_event(event(j).kind) &&
               event(i).address == event(j).address;
      });
    case Base::internal:
      return pairs([&](int i, int j) {
        return i == j || (event(i).thread >= 0 && event(i).thread == event(j).thread);
      });
    case Base::external:
      return pairs([&](int i, int j) {
        return i != j && (event(i).thread < 0 || event(i).thread != event(j).thread);
      });
    case Base::rmw:
      return pairs([&](int i, int j) { return i < j && partner[static_cast<std::size_t>(i)] == j; });
    case Base::same_instruction:
      return pairs([&](int i, int j) { return i == j || partner[static_cast<std::size_t>(i)] == j; });
    case Base::addr:
      return dependency(&ThreadPath::addr);
    case Base::data:
      return dependency(&ThreadPath::data);
    case Base::ctrl:
      return dependency(&ThreadPath::ctrl);
    case Base::same_wave:
      return together([](const Placement& p, const Placement& q) { return p.wave == q.wave; });
    case Base::same_wg:
      return together(
          [](const Placement& p, const Placement& q) { return p.agent == q.agent && p.wg == q.wg; });
    case Base::same_agent:
      return together([](const Placement& p, const Placement& q) { return p.agent == q.agent; });
    case Base::same_subgroup:
      return together([](const Placement& p, const Placement& q) {
        return p.agent == q.agent && p.wg == q.wg && p.subgroup >= 0 && p.subgroup == q.subgroup;
      });
    case Base::same_queue_family:
      return together([](const Placement& p, const Placement& q) {
        return p.agent == q.agent && p.queue_family >= 0 && p.queue_family == q.queue_family;
      });
    case Base::system_synchronizes:
      return pairs([&](int i, int j) {
        const auto& known = program->system_synchronizes;
        return event(i).thread >= 0 && event(j).thread >= 0 &&
               std::find(known.begin(), known.end(), std::pair<int, int>(event(i).thread, event(j).thread)) !=
                   known.end();
      });
    case Base::inclusive:
      return pairs([&](int i, int j) { return scope_includes(i, j) && scope_includes(j, i); });
    case Base::contains:
      return pairs([&](int i, int j) {
        if (event(i).thread < 0 || event(j).thread < 0) return false;
        for (int t = 0; t < static_cast<int>(program->threads.size()); ++t) {
          if (scope_includes_thread(j, t) && !scope_includes_thread(i, t)) return false;
        }
        return true;
      });
    case Base::syncbar:
      // A thread that only arrives waits for nobody.
      return pairs([&](int i, int j) { return i != j && meet(i, j) && !event(j).arrives_only; });
    case Base::kernel:
      return pairs([&](int i, int j) {
        return event(i).kind == EventKind::kernel_end && event(j).kind == EventKind::kernel_begin &&
               placed(i)->kernel < placed(j)->kernel;
      });
    case Base::first_tag:  // see above
    case Base::last_tag:
    case Base::rf:
    case Base::co:
    case Base::sync_fence:
    case Base::none:
      return;
  }
}

std::string event_text(const Execution& execution, int event, std::int32_t value) {
  const ProgramEvent& e = execution.events[static_cast<std::size_t>(event)];
  const auto modifiers = [&] {
    if (e.order == Order::plain) return print_tags(e.tags);
    if (execution.style == EventStyle::vulkan)
      return fmt::format(".{}{}", dialect_word(e.order), print_tags(e.tags));
    return fmt::format(".{}.{}{}", dialect_word(e.order), dialect_word(e.scope), print_tags(e.tags));
  };
  const auto access = [&](std::string_view kind) {
    return fmt::format("{}{} {}={}", kind, modifiers(),
                       execution.program->locations[static_cast<std::size_t>(e.location)].name, value);
  };
  switch (e.kind) {
    case EventKind::initial:
      return access("init");
    case EventKind::read:
      return access("R");
    case EventKind::write:
      return access("W");
    case EventKind::fence:
      return "F" + modifiers();
    case EventKind::barrier:
      return fmt::format("barrier{} {}", modifiers(), e.barrier);
    case EventKind::barrier_entry:
      return fmt::format("arrive {}", e.barrier);
    case EventKind::barrier_exit:
      return fmt::format("depart {}", e.barrier);
    case EventKind::kernel_begin:
      return "kernel begins";
    case EventKind::kernel_end:
      return "kernel ends";
  }
  return {};
}

}  // namespace lockstep
