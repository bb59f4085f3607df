// What each axiom of the shipped models is for: a test that the model forbids, and that it would allow
// without that one statement; what it must not forbid; of each flag, a test that raises it and one that does
// not.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checker/axiomatic/model.hpp"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

const std::string models_folder = LOCKSTEP_SOURCE_DIR "/spec/models";
const std::string library_folder = models_folder + "/lib";

std::string text_of(const std::string& path) {
  std::ifstream stream(path);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// A model's text with that of the files it includes in their place, less their titles.
std::string whole_text(const std::string& path) {
  std::string whole;
  for (const std::string& line : lines_of(text_of(path))) {
    if (!line.starts_with("include \"")) {
      whole += line + "\n";
      continue;
    }
    const std::string name = line.substr(9, line.find('"', 9) - 9);
    const std::string included = whole_text(library_folder + "/" + name);
    whole += included.substr(included.find('\n') + 1);
  }
  return whole;
}

std::string whole_model(const std::string& model) {
  return whole_text(models_folder + "/" + model + ".cat");
}

// Checks stand on a line each and end with their label.
std::string without(const std::string& text, const std::string& label) {
  std::string rest;
  int dropped = 0;
  for (const std::string& line : lines_of(text)) {
    if (line.ends_with(" as " + label)) {
      ++dropped;
    } else {
      rest += line + "\n";
    }
  }
  INFO("the check '" << label << "'");
  REQUIRE(dropped == 1);
  return rest;
}

ModelRun run_of(const std::string& model, const std::string& text, const std::string& test) {
  ModelRun run = judge(parse_litmus(test, "pin.litmus"), AxiomaticModel(model, text, {}));
  INFO(test << "under " << model << ": " << run.message);
  REQUIRE(run.status == RunStatus::complete);
  REQUIRE_FALSE(run.cut);
  return run;
}

// ---- axioms ----

struct Pin {
  std::vector<std::string> models;
  std::string label;
  std::string test;
};

const std::vector<std::string> race_models{"drf", "hrf-direct", "hrf-indirect", "hrf-relaxed",
                                           "hrf-relaxed-direct"};

std::vector<std::string> with_race_models(std::vector<std::string> models) {
  models.insert(models.end(), race_models.begin(), race_models.end());
  return models;
}

const std::vector<Pin>& pins() {
  static const std::vector<Pin> all{
      {{"vulkan", "vulkan-nochains"},
       "Consistency",
       R"(VULKAN mp
{ }
 P0@sg 0,wg 0,qf 0              | P1@sg 0,wg 1,qf 0               ;
 st.av.dv.sc0 x, 1              | ld.atom.acq.dv.sc0.semsc0 r0, y ;
 st.atom.rel.dv.sc0.semsc0 y, 1 | ld.vis.dv.sc0 r1, x             ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)"},
      // The first of two values handed over.
      {{"vulkan", "vulkan-nochains"},
       "Visibility",
       R"(VULKAN overwritten
{ }
 P0@sg 0,wg 0,qf 0              | P1@sg 0,wg 1,qf 0               ;
 st.sc0 x, 1                    | ld.atom.acq.dv.sc0.semsc0 r0, y ;
 st.av.dv.sc0 x, 2              | ld.vis.dv.sc0 r1, x             ;
 st.atom.rel.dv.sc0.semsc0 y, 1 |                                 ;
exists (P1:r0 == 1 /\ P1:r1 == 1)
)"},
      {{"vulkan", "vulkan-nochains"},
       "Atomicity",
       R"(VULKAN increments
{ }
 P0@sg 0,wg 0,qf 0            | P1@sg 0,wg 1,qf 0            ;
 rmw.atom.dv.sc0.add r0, x, 1 | rmw.atom.dv.sc0.add r0, x, 1 ;
exists (P0:r0 == 0 /\ P1:r0 == 0)
)"},
      // P0's write and P2's are not in each other's scope, and P1's would stand between them.
      {{"vulkan", "vulkan-nochains"},
       "Scoped-order",
       R"(VULKAN between
{ }
 P0@sg 0,wg 0,qf 0   | P1@sg 1,wg 0,qf 0    | P2@sg 0,wg 1,qf 0    ;
 st.atom.wg.sc0 x, 1 | ld.atom.wg.sc0 r0, x | ld.atom.dv.sc0 r0, x ;
                     | st.atom.dv.sc0 x, 2  | st.atom.dv.sc0 x, 3  ;
exists (P1:r0 == 1 /\ P2:r0 == 2)
)"},
      {{"vulkan", "vulkan-nochains"},
       "Location-order",
       R"(VULKAN last
{ }
 P0@sg 0,wg 0,qf 0 ;
 st.sc0 x, 1       ;
 st.sc0 x, 2       ;
exists (x == 1)
)"},
      // Two increments that read the same value.
      {with_race_models({"sc", "tso", "rmo"}), "atomicity",
       R"(HRF increments
{ x = 0; }
 P0@wg 0,agent 0              | P1@wg 1,agent 0              ;
 atom.acq_rel.agent.add r0, x, 1 | atom.acq_rel.agent.add r0, x, 1 ;
exists (P0:r0 == 0 /\ P1:r0 == 0)
)"},
      {with_race_models({"sc"}), "sc",
       R"(HRF store-buffering
{ x = 0; y = 0; }
 P0@wg 0,agent 0       | P1@wg 1,agent 0       ;
 st.release.agent x, 1 | st.release.agent y, 1 ;
 ld.acquire.agent r0, y | ld.acquire.agent r0, x ;
exists (P0:r0 == 0 /\ P1:r0 == 0)
)"},
      // A load that misses its own thread's store: no order that TSO or RMO preserve.
      {{"tso", "rmo"},
       "uniproc",
       R"(HRF store-then-load
{ x = 0; }
 P0@wg 0,agent 0 ;
 st x, 1         ;
 ld r0, x        ;
exists (P0:r0 == 0)
)"},
      {{"tso"},
       "tso",
       R"(HRF message-passing
{ x = 0; y = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1         | ld r0, y        ;
 st y, 1         | ld r1, x        ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)"},
      {{"rmo"},
       "rmo",
       R"(HRF message-passing-with-orders
{ x = 0; y = 0; }
 P0@wg 0,agent 0       | P1@wg 1,agent 0        ;
 st x, 1               | ld.acquire.agent r0, y ;
 st.release.agent y, 1 | ld r1, x               ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)"},

      {{"rc11"},
       "coherence",
       R"(C message-passing
{ x = 0; y = 0; }
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1(atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (1:r0 == 1 /\ 1:r1 == 0)
)"},
      {{"rc11"},
       "atomicity",
       R"(C increments
{ x = 0; }
P0(atomic_int* x) { int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }
P1(atomic_int* x) { int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }
exists (0:r0 == 0 /\ 1:r0 == 0)
)"},
      {{"rc11"},
       "sc",
       R"(C store-buffering
{ x = 0; y = 0; }
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_seq_cst);
  int r0 = atomic_load_explicit(y, memory_order_seq_cst);
}
P1(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_seq_cst);
  int r0 = atomic_load_explicit(x, memory_order_seq_cst);
}
exists (0:r0 == 0 /\ 1:r0 == 0)
)"},
      {{"rc11"},
       "no-thin-air",
       R"(C load-buffering
{ x = 0; y = 0; }
P0(atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_relaxed);
}
P1(atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
  atomic_store_explicit(x, 1, memory_order_relaxed);
}
exists (0:r0 == 1 /\ 1:r0 == 1)
)"},

      // Weak writes, so that nothing but causality orders them.
      {{"ptx-v6.0", "ptx-v7.5"},
       "Coherence",
       R"(PTX writes-in-order-of-causality
{ x = 0; y = 0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.weak x, 1        | ld.acquire.gpu r0, y ;
 st.release.gpu y, 1 | st.weak x, 2         ;
exists (P1:r0 == 1 /\ x == 1)
)"},
      {{"ptx-v6.0", "ptx-v7.5"},
       "Coherence-total",
       R"(PTX readers-agree
{ x = 0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0      | P2@cta 2,gpu 0       | P3@cta 3,gpu 0       ;
 st.relaxed.gpu x, 1 | st.relaxed.gpu x, 2 | ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, x ;
                     |                     | ld.relaxed.gpu r1, x | ld.relaxed.gpu r1, x ;
exists (P2:r0 == 1 /\ P2:r1 == 2 /\ P3:r0 == 2 /\ P3:r1 == 1)
)"},
      {{"ptx-v6.0", "ptx-v7.5"},
       "Atomicity",
       R"(PTX increments
{ x = 0; }
 P0@cta 0,gpu 0                | P1@cta 1,gpu 0                ;
 atom.relaxed.gpu.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 ;
exists (P0:r0 == 0 /\ P1:r0 == 0)
)"},
      {{"ptx-v6.0", "ptx-v7.5"},
       "No-Thin-Air",
       R"(PTX copied-in-a-circle
{ x = 0; y = 0; }
 P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ;
 ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;
 st.relaxed.gpu y, r0 | bne r0, 1, END       ;
                      | st.relaxed.gpu x, 1  ;
                      | END:                 ;
exists (P0:r0 == 1 /\ P1:r0 == 1)
)"},
      {{"ptx-v6.0"},
       "SC-per-Location",
       R"(PTX store-then-load
{ x = 0; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1   ;
 ld.weak r0, x  ;
exists (P0:r0 == 0)
)"},
      {{"ptx-v6.0", "ptx-v7.5"},
       "Causality",
       R"(PTX message-passing
{ x = 0; y = 0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.weak x, 1        | ld.acquire.gpu r0, y ;
 st.release.gpu y, 1 | ld.weak r1, x        ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)"},

      // From fence to fence through local memory, and back through a barrier on global memory: no access of
      // either
      // memory is in a circle.
      {{"opencl"},
       "Global-hb",
       R"(OPENCL back-through-a-global-barrier
{ x = 0; y = 0; }
P0@wg 0, dev 0 (local atomic_int* x, local atomic_int* y) {
  B1: barrier(CLK_GLOBAL_MEM_FENCE);
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_work_group);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  atomic_store_explicit(y, 1, memory_order_relaxed, memory_scope_work_group);
}
P1@wg 0, dev 0 (local atomic_int* x, local atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_work_group);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  B1: barrier(CLK_GLOBAL_MEM_FENCE);
}
P2@wg 0, dev 0 (local atomic_int* x, local atomic_int* y) {
  B1: barrier(CLK_GLOBAL_MEM_FENCE);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_work_group);
}
exists (0:r0 == 1 /\ 1:r0 == 1)
)"},
      {{"opencl"},
       "Local-hb",
       R"(OPENCL back-through-a-local-barrier
{ x = 0; y = 0; }
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  B1: barrier(CLK_LOCAL_MEM_FENCE);
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_work_group);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  atomic_store_explicit(y, 1, memory_order_relaxed, memory_scope_work_group);
}
P1@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_work_group);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  B1: barrier(CLK_LOCAL_MEM_FENCE);
}
P2@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  B1: barrier(CLK_LOCAL_MEM_FENCE);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_work_group);
}
exists (0:r0 == 1 /\ 1:r0 == 1)
)"},
      {{"opencl"},
       "Global-coherence",
       R"(OPENCL message-passing
{ x = 0; y = 0; }
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
}
P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
  int r1 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
}
exists (1:r0 == 1 /\ 1:r1 == 0)
)"},
      {{"opencl"},
       "Local-coherence",
       R"(OPENCL message-passing-in-local-memory
{ x = 0; y = 0; }
P0@wg 0, dev 0 (local atomic_int* x, local atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_work_group);
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_work_group);
}
P1@wg 0, dev 0 (local atomic_int* x, local atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_work_group);
  int r1 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_work_group);
}
exists (1:r0 == 1 /\ 1:r1 == 0)
)"},
      {{"opencl"},
       "Reads-from",
       R"(OPENCL load-before-the-store-it-reads
{ x = 0; }
P0@wg 0, dev 0 (global atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
}
exists (0:r0 == 1)
)"},
      {{"opencl"},
       "Global-visible",
       R"(OPENCL hidden-store
{ x = 0; }
P0@wg 0, dev 0 (global int* x) {
  *x = 1;
  int r0 = *x;
}
exists (0:r0 == 0)
)"},
      {{"opencl"},
       "Local-visible",
       R"(OPENCL hidden-store-in-local-memory
{ x = 0; }
P0@wg 0, dev 0 (local int* x) {
  *x = 1;
  int r0 = *x;
}
exists (0:r0 == 0)
)"},
      {{"opencl"},
       "RMW",
       R"(OPENCL increments
{ x = 0; }
P0@wg 0, dev 0 (global atomic_int* x) {
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_device);
}
P1@wg 1, dev 0 (global atomic_int* x) {
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_device);
}
exists (0:r0 == 0 /\ 1:r0 == 0)
)"},
      {{"opencl"},
       "Scoped-sc",
       R"(OPENCL store-buffering
{ x = 0; y = 0; }
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
  int r0 = atomic_load_explicit(y, memory_order_seq_cst, memory_scope_device);
}
P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
}
exists (0:r0 == 0 /\ 1:r0 == 0)
)"},
  };
  return all;
}

// ---- what must stay allowed ----

// Weak outcomes, each next to an axiom that would forbid it if it said a little more.
const std::vector<std::pair<std::string, std::string>>& allowances() {
  static const std::vector<std::pair<std::string, std::string>> all{
      // Atomics without an order bring nothing along.
      {"vulkan", R"(VULKAN mp-relaxed
{ }
 P0@sg 0,wg 0,qf 0   | P1@sg 0,wg 1,qf 0    ;
 st.atom.dv.sc0 x, 1 | ld.atom.dv.sc0 r0, y ;
 st.atom.dv.sc0 y, 1 | ld.atom.dv.sc0 r1, x ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)"},
      {"sc", R"(HRF one-after-the-other
{ x = 0; y = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1         | ld r0, y        ;
 st y, 1         | ld r1, x        ;
exists (P1:r0 == 0 /\ P1:r1 == 1)
)"},
      {"tso", R"(HRF store-buffering
{ x = 0; y = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1         | st y, 1         ;
 ld r0, x        | ld r0, y        ;
 ld r1, y        | ld r1, x        ;
exists (P0:r0 == 1 /\ P0:r1 == 0 /\ P1:r0 == 1 /\ P1:r1 == 0)
)"},
      {"rmo", R"(HRF loads-of-one-location-out-of-order
{ x = 0; }
 P0@wg 0,agent 0 | P1@wg 1,agent 0 ;
 st x, 1         | ld r0, x        ;
                 | ld r1, x        ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)"},
      {"rmo", R"(HRF a-branch-before-a-load
{ x = 0; y = 0; }
 P0@wg 0,agent 0       | P1@wg 1,agent 0 ;
 st x, 1               | ld r0, y        ;
 st.release.agent y, 1 | bne r0, 1, END  ;
                       | ld r1, x        ;
                       | END:            ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)"},
      {"rc11", R"(C readers-that-acquire-disagree
{ x = 0; y = 0; }
P0(atomic_int* x) { atomic_store_explicit(x, 1, memory_order_release); }
P1(atomic_int* y) { atomic_store_explicit(y, 1, memory_order_release); }
P2(atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_acquire);
  int r1 = atomic_load_explicit(y, memory_order_acquire);
}
P3(atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = atomic_load_explicit(x, memory_order_acquire);
}
exists (2:r0 == 1 /\ 2:r1 == 0 /\ 3:r0 == 1 /\ 3:r1 == 0)
)"},
      // An acquire between sc accesses: what C11 forbade, and no compiler for Power kept.
      {"rc11", R"(C an-acquire-beside-sc
{ x = 0; y = 0; }
P0(atomic_int* x) { atomic_store_explicit(x, 1, memory_order_seq_cst); }
P1(atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_acquire);
  int r1 = atomic_load_explicit(y, memory_order_seq_cst);
}
P2(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_seq_cst);
  int r0 = atomic_load_explicit(x, memory_order_seq_cst);
}
exists (1:r0 == 1 /\ 1:r1 == 0 /\ 2:r0 == 0)
)"},
      // A store by another thread, and no RMW, ends a release sequence.
      {"rc11", R"(C a-broken-release-sequence
{ x = 0; y = 0; }
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1(atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
  atomic_store_explicit(y, 2, memory_order_relaxed);
}
P2(atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (1:r0 == 1 /\ 2:r0 == 2 /\ 2:r1 == 0)
)"},
      // Causality orders writes of different locations, which coherence does not.
      {"ptx-v6.0", R"(PTX handed-over-twice
{ x = 0; y = 0; z = 0; }
 P0@cta 0,gpu 0      | P1@cta 0,gpu 0       | P2@cta 1,gpu 0       ;
 st.weak x, 1        | ld.acquire.cta r0, y | ld.acquire.gpu r0, z ;
 st.release.cta y, 1 | st.release.gpu z, 1  | ld.weak r1, x        ;
exists (P1:r0 == 1 /\ P2:r0 == 1 /\ P2:r1 == 1)
)"},
      {"ptx-v6.0", R"(PTX weak-writes-in-no-order
{ x = 0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0       | P3@cta 0,gpu 0       ;
 st.weak x, 1   | st.weak x, 2   | ld.acquire.gpu r0, x | ld.acquire.gpu r0, x ;
                |                | ld.acquire.gpu r1, x | ld.acquire.gpu r1, x ;
exists (P2:r0 == 1 /\ P2:r1 == 2 /\ P3:r0 == 2 /\ P3:r1 == 1)
)"},
      {"ptx-v6.0", R"(PTX sc-fences-out-of-scope
{ x = 0; y = 0; }
 P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ;
 st.relaxed.gpu x, 1  | st.relaxed.gpu y, 1  ;
 fence.sc.cta         | fence.sc.gpu         ;
 ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;
exists (P0:r0 == 0 /\ P1:r0 == 0)
)"},
      {"ptx-v6.0", R"(PTX increments-out-of-scope
{ x = 0; }
 P0@cta 0,gpu 0                | P1@cta 1,gpu 0                ;
 atom.relaxed.cta.add r0, x, 1 | atom.relaxed.cta.add r0, x, 1 ;
exists (P0:r0 == 0 /\ P1:r0 == 0)
)"},
      {"ptx-v6.0", R"(PTX load-buffering
{ x = 0; y = 0; }
 P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ;
 ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;
 st.relaxed.gpu y, 1  | st.relaxed.gpu x, 1  ;
exists (P0:r0 == 1 /\ P1:r0 == 1)
)"},
      // A flag in local memory hands over no global data.
      {"opencl", R"(OPENCL a-local-flag-for-global-data
{ x = 0; y = 0; }
P0@wg 0, dev 0 (global atomic_int* x, local atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_work_group);
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_work_group);
}
P1@wg 0, dev 0 (global atomic_int* x, local atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_work_group);
  int r1 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_work_group);
}
exists (1:r0 == 1 /\ 1:r1 == 0)
)"},
      // Fences on global memory hand nothing over through a local location.
      {"opencl", R"(OPENCL global-fences-around-a-local-flag
{ x = 0; y = 0; }
P0@wg 0, dev 0 (global atomic_int* x, local atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_work_group);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_work_group);
  atomic_store_explicit(y, 1, memory_order_relaxed, memory_scope_work_group);
}
P1@wg 0, dev 0 (global atomic_int* x, local atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_work_group);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_work_group);
  int r1 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_work_group);
}
exists (1:r0 == 1 /\ 1:r1 == 0)
)"},
      {"opencl", R"(OPENCL sc-of-different-devices
{ x = 0; y = 0; }
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
  int r0 = atomic_load_explicit(y, memory_order_seq_cst, memory_scope_device);
}
P1@wg 1, dev 1 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
}
exists (0:r0 == 0 /\ 1:r0 == 0)
)"},
      {"opencl", R"(OPENCL a-racing-plain-load
{ x = 0; y = 0; }
P0@wg 0, dev 0 (global int* x, global atomic_int* y) {
  *x = 1;
  atomic_store_explicit(y, 1, memory_order_relaxed, memory_scope_device);
}
P1@wg 1, dev 0 (global int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);
  int r1 = *x;
}
exists (1:r0 == 1 /\ 1:r1 == 0)
)"},
  };
  return all;
}

// Axioms that follow from their model's others.
const std::vector<std::pair<std::string, std::string>> implied{
    // The order of sc fences is chosen, so any order that the axiom forbids can be exchanged for one that it
    // allows. Let an execution pass all other checks, and take one class of events that base causality leads
    // around in a circle. Program order, synchronization and barriers alone lead no fence around: a read
    // would
    // come before the write it reads, against Causality, Coherence or SC-per-Location, or threads would wait
    // for
    // each other at two barriers and never end. So the class's fences can be ordered along these three, and
    // the
    // classes among themselves as they were. Events of one class were related by base causality both ways, so
    // no pair is added to causality, and the other checks, all of which say that causality is small, still
    // pass;
    // and causality no longer leads from a fence back to one that is before it.
    {"ptx-v6.0", "FenceSC"},
    {"ptx-v7.5", "FenceSC"},
    // Program order is base causality here: what a thread has written or observed comes before what it does
    // next at
    // that address, which leaves morally strong communication no way back.
    {"ptx-v7.5", "SC-per-Location"},
};

// ---- flags ----

struct FlagPin {
  std::vector<std::string> models;
  std::string label;
  std::string raised;
  std::string not_raised;
};

const std::string guarded = R"(HRF guarded
{ x = 0; y = 0; }
 P0@wg 0,agent 0       | P1@wg 1,agent 0        ;
 st x, 1               | ld.acquire.agent r0, y ;
 st.release.agent y, 1 | bne r0, 1, END         ;
                       | ld r1, x               ;
                       | END:                   ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)";

const std::string unguarded = R"(HRF unguarded
{ x = 0; y = 0; }
 P0@wg 0,agent 0       | P1@wg 1,agent 0        ;
 st x, 1               | ld.acquire.agent r0, y ;
 st.release.agent y, 1 | ld r1, x               ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)";

// The same hand-over with a scope that leaves the other thread out.
const std::string too_narrow = R"(HRF too-narrow
{ x = 0; y = 0; }
 P0@wg 0,agent 0    | P1@wg 1,agent 0        ;
 st x, 1            | ld.acquire.agent r0, y ;
 st.release.wg y, 1 | bne r0, 1, END         ;
                    | ld r1, x               ;
                    | END:                   ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)";

// Scopes that differ and include each other.
const std::string unequal = R"(HRF unequal
{ x = 0; y = 0; }
 P0@wg 0,agent 0        | P1@wg 1,agent 0        ;
 st x, 1                | ld.acquire.agent r0, y ;
 st.release.system y, 1 | bne r0, 1, END         ;
                        | ld r1, x               ;
                        | END:                   ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
)";

// A chain of hand-overs that changes scope on its way.
const std::string chain = R"(HRF chain
{ x = 0; y = 0; z = 0; }
 P0@wg 0,agent 0    | P1@wg 0,agent 0        | P2@wg 1,agent 0        ;
 st x, 1            | ld.acquire.wg r0, y    | ld.acquire.agent r0, z ;
 st.release.wg y, 1 | bne r0, 1, END         | bne r0, 1, END         ;
                    | st.release.agent z, 1  | ld r1, x               ;
                    | END:                   | END:                   ;
exists (P2:r0 == 1 /\ P2:r1 == 0)
)";

// The same chain with an unequal pair in the middle, whose scopes include each other.
const std::string relaxed_chain = R"(HRF relaxed-chain
{ x = 0; y = 0; z = 0; }
 P0@wg 0,agent 0    | P1@wg 0,agent 0         | P2@wg 1,agent 0        ;
 st x, 1            | ld.acquire.wg r0, y     | ld.acquire.agent r0, z ;
 st.release.wg y, 1 | bne r0, 1, END          | bne r0, 1, END         ;
                    | st.release.system z, 1  | ld r1, x               ;
                    | END:                    | END:                   ;
exists (P2:r0 == 1 /\ P2:r1 == 0)
)";

const std::string relaxed = R"(HRF relaxed
{ x = 0; }
 P0@wg 0,agent 0       | P1@wg 1,agent 0        ;
 st.relaxed.agent x, 1 | ld.relaxed.agent r0, x ;
exists (P1:r0 == 1)
)";

std::string c_hand_over(const std::string& order) {
  return "C hand-over\n{ x = 0; y = 0; }\n"
         "P0(int* x, atomic_int* y) {\n  *x = 1;\n  atomic_store_explicit(y, 1, memory_order_release);\n}\n"
         "P1(int* x, atomic_int* y) {\n  int r1 = 0;\n"
         "  int r0 = atomic_load_explicit(y, memory_order_" +
         order + ");\n  if (r0 == 1) { r1 = *x; }\n}\nexists (1:r0 == 1 /\\ 1:r1 == 0)\n";
}

std::string opencl_hand_over(const std::string& scope) {
  return "OPENCL hand-over\n{ x = 0; y = 0; }\n"
         "P0@wg 0, dev 0 (global int* x, global atomic_int* y) {\n  *x = 1;\n"
         "  atomic_store_explicit(y, 1, memory_order_release, memory_scope_" +
         scope +
         ");\n}\n"
         "P1@wg 1, dev 0 (global int* x, global atomic_int* y) {\n  int r1 = 0;\n"
         "  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);\n"
         "  if (r0 == 1) { r1 = *x; }\n}\nexists (1:r0 == 1 /\\ 1:r1 == 0)\n";
}

// By way of a thread in the middle, of the first one's subgroup, which makes available what that did.
std::string vulkan_chain(const std::string& scope) {
  return "VULKAN chain\n{ }\n P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 0,qf 0 | P2@sg 1,wg 0,qf 0 ;\n"
         " st.av." +
         scope +
         ".sc0 x, 1 | ld.atom.acq.sg.sc0.semsc0 r0, f | ld.atom.acq.wg.sc0.semsc0 r0, g ;\n"
         " st.atom.rel.sg.sc0.semsc0 f, 1 | st.atom.rel.wg.sc0.semsc0.semav g, 1 | ld.vis.wg.sc0 r1, x ;\n"
         "filter (P1:r0 == 1 /\\ P2:r0 == 1)\nexists (P2:r1 == 0)\n";
}
const std::string vulkan_private =
    "VULKAN private\n{ }\n P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 0,qf 0 ;\n"
    " st.sc0 x, 1 | st.sc0 x, 2 ;\nexists (x == 1)\n";

const std::vector<FlagPin>& flag_pins() {
  const std::vector<std::string> relaxed_models{"hrf-relaxed", "hrf-relaxed-direct"};
  static const std::vector<FlagPin> all{
      {race_models, "race", unguarded, guarded},
      // All scopes are the system's in drf.
      {{"hrf-direct", "hrf-indirect", "hrf-relaxed", "hrf-relaxed-direct"}, "race", too_narrow, guarded},
      {{"drf"}, "race", unguarded, too_narrow},
      {{"hrf-direct", "hrf-indirect"}, "race", unequal, guarded},
      {relaxed_models, "race", too_narrow, unequal},
      {{"hrf-direct"}, "race", chain, guarded},
      {{"hrf-indirect"}, "race", relaxed_chain, chain},
      {{"hrf-relaxed"}, "race", too_narrow, relaxed_chain},
      {{"hrf-relaxed-direct"}, "race", relaxed_chain, unequal},
      {{"drf", "hrf-direct", "hrf-indirect"}, "relaxed-atomics", relaxed, guarded},
      {{"vulkan"}, "race", vulkan_private, vulkan_chain("sg")},
      {{"vulkan-nochains"}, "race", vulkan_chain("sg"), vulkan_chain("wg")},
      {{"rc11"}, "race", c_hand_over("relaxed"), c_hand_over("acquire")},
      {{"opencl"}, "data_race", opencl_hand_over("work_group"), opencl_hand_over("device")},
  };
  return all;
}

std::string named(const std::string& model, const std::string& label) {
  return model + ": " + label;
}

template <class PinType>
std::set<std::string> names_of(const std::vector<PinType>& all) {
  std::set<std::string> names;
  for (const PinType& pin : all) {
    for (const std::string& model : pin.models) names.insert(named(model, pin.label));
  }
  return names;
}

}  // namespace

TEST_CASE("an axiom forbids what its model would allow without it", "[models]") {
  for (const Pin& pin : pins()) {
    for (const std::string& model : pin.models) {
      INFO(model << " without " << pin.label << "\n" << pin.test);
      const std::string text = whole_model(model);
      CHECK(run_of(model, text, pin.test).tally.positive == 0);
      CHECK(run_of(model, without(text, pin.label), pin.test).tally.positive > 0);
    }
  }
}

TEST_CASE("an axiom forbids no more than it should", "[models]") {
  for (const auto& [model, test] : allowances()) {
    INFO(model << "\n" << test);
    CHECK(run_of(model, whole_model(model), test).tally.positive > 0);
  }
}

TEST_CASE("an axiom that follows from the others changes no verdict", "[models]") {
  // Chains of sc fences, alone and against synchronization the other way.
  const std::string head =
      "PTX fences\n{ x = 0; y = 0; z = 0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;\n";
  const std::string observed =
      "exists (P0:r0 == 0 /\\ P1:r0 == 0 /\\ P2:r0 == 0 /\\ P0:r1 == 0 /\\ P1:r1 == 0 /\\ P2:r1 == 0)\n";
  const std::vector<std::string> rows{
      " st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 | st.relaxed.gpu z, 1 ;\n"
      " fence.sc.gpu | fence.sc.gpu | fence.sc.gpu ;\n"
      " ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, z | ld.relaxed.gpu r0, x ;\n",
      " ld.acquire.gpu r0, x | ld.acquire.gpu r0, y | ld.acquire.gpu r0, z ;\n"
      " fence.sc.gpu | fence.sc.gpu | fence.sc.gpu ;\n"
      " st.release.gpu y, 1 | st.release.gpu z, 1 | st.release.gpu x, 1 ;\n",
      " fence.sc.gpu | ld.acquire.gpu r0, x | ld.acquire.gpu r0, y ;\n"
      " st.release.gpu x, 1 | fence.sc.cta | fence.sc.sys ;\n"
      " ld.relaxed.gpu r1, z | st.release.gpu y, 1 | ld.relaxed.gpu r1, x ;\n"
      "  | | st.relaxed.gpu z, 1 ;\n",
      " st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, x | st.relaxed.gpu y, 1 ;\n"
      " fence.sc.gpu | fence.sc.gpu | fence.sc.gpu ;\n"
      " ld.relaxed.gpu r1, y | st.relaxed.gpu y, 2 | ld.relaxed.gpu r1, x ;\n"};
  for (const auto& [model, label] : implied) {
    const std::string text = whole_model(model);
    for (const std::string& columns : rows) {
      const std::string test = head + columns + observed;
      INFO(model << " without " << label << "\n" << test);
      const ModelRun all = run_of(model, text, test);
      const ModelRun fewer = run_of(model, without(text, label), test);
      REQUIRE(all.outcomes.size() == fewer.outcomes.size());
      for (std::size_t i = 0; i < all.outcomes.size(); ++i) {
        CHECK(all.outcomes[i].outcome == fewer.outcomes[i].outcome);
      }
      CHECK(all.executions <= fewer.executions);
    }
  }
}

TEST_CASE("a flag is raised where it should be and nowhere else", "[models]") {
  const auto raises = [](const std::string& model, const std::string& label, const std::string& test) {
    const std::vector<std::string> raised = run_of(model, whole_model(model), test).raised_flags();
    return std::find(raised.begin(), raised.end(), label) != raised.end();
  };
  for (const FlagPin& pin : flag_pins()) {
    for (const std::string& model : pin.models) {
      INFO(model << ": " << pin.label);
      {
        INFO(pin.raised);
        CHECK(raises(model, pin.label, pin.raised));
      }
      INFO(pin.not_raised);
      CHECK_FALSE(raises(model, pin.label, pin.not_raised));
    }
  }
}

TEST_CASE("every check of every shipped model is pinned", "[models]") {
  std::set<std::string> pinned = names_of(pins());
  for (const auto& [model, label] : implied) pinned.insert(named(model, label));
  const std::set<std::string> flagged = names_of(flag_pins());

  std::set<std::string> checks;
  std::set<std::string> flags;
  for (const std::string& model : cat::model_names()) {
    const AxiomaticModel compiled(models_folder + "/" + model + ".cat");
    REQUIRE(compiled.plan().has_value());
    for (const cat::Check& check : compiled.plan()->checks) {
      INFO(model << ": " << check.label);
      // Two checks with one label could not be told apart.
      CHECK((check.flag ? flags : checks).insert(named(model, check.label)).second);
    }
    // What is pinned is the model as shipped, and not some other reading of its files.
    CHECK(AxiomaticModel(model, whole_model(model), {}).plan()->checks.size() ==
          compiled.plan()->checks.size());
  }
  CHECK(pinned == checks);
  CHECK(flagged == flags);
}

TEST_CASE("what only a circle of reads and dependent writes explains appears where no axiom is against it",
          "[models]") {
  const auto asked = [](const std::string& model, const std::string& question) {
    const std::string test =
        "C t\n{ }\n"
        "P0 (atomic_int* x, atomic_int* y) {\n"
        "  int r = atomic_load_explicit(x, memory_order_relaxed);\n"
        "  atomic_store_explicit(y, r, memory_order_relaxed);\n}\n"
        "P1 (atomic_int* x, atomic_int* y) {\n"
        "  int r = atomic_load_explicit(y, memory_order_relaxed);\n"
        "  atomic_store_explicit(x, r, memory_order_relaxed);\n}\n" +
        question;
    const ModelRun run = judge(parse_litmus(test, "t.litmus"), AxiomaticModel(model));
    REQUIRE(run.status == RunStatus::complete);
    return run.tally.positive > 0;
  };
  CHECK(asked("opencl", "exists (0:r=42 /\\ 1:r=42)"));
  CHECK(asked("opencl", "filter (0:r=7)\nexists (x=7)"));
  CHECK_FALSE(asked("opencl", "exists (0:r=42 /\\ 1:r=41)"));
  for (const std::string model : {"sc", "tso", "rmo", "rc11"}) {
    CHECK_FALSE(asked(model, "exists (0:r=42)"));
  }
}
