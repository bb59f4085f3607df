// A barrier that is another one by how many work-groups a CU has: CUDA's single level where they are few, the
// two levels of G-SRB where they are many.
//
// Source: Dalmia, thesis, ch. 4, 4.3.1.1 and 4.5.1 ("a hybrid global barrier implementation that uses CCG at
// low contention levels and G-SRB at medium and high contention levels", "selecting CCG and G-SRB at 8
// TBs/SM"). No code is printed. Who compares which number with the 8 is open, and matters: every work-group
// has to come to the same. Here all compare gridDim.x / NUM_SM (default), or each the number of its own CU
// (`by-cu`), which differ by one where the grid does not divide. `threshold` is 2 where nothing is said, so
// that few work-groups show both.
#pragma once

#include <array>
#include <utility>

#include "spec/sync/ccg_barrier.hpp"
#include "spec/sync/grid.hpp"
#include "spec/sync/sense_barrier.hpp"

namespace lockstep::sync {

inline constexpr std::array hybrid_barrier_variants{
    Variant{"default", "by gridDim.x / NUM_SM, which is the same for all"},
    Variant{"by-cu", "by the number of work-groups on one's own CU"},
};
inline constexpr std::array hybrid_barrier_faults{
    ccg_barrier_faults[0],
    sense_barrier_faults[0],
};
inline constexpr std::array hybrid_barrier_parameters = [] {
  std::array<SyncParameter, grid_parameters.size() + 1> all{};
  std::copy(grid_parameters.begin(), grid_parameters.end(), all.begin());
  all.back() = {"threshold", "work-groups on a CU from which on it is G-SRB", 1, 33, 2};
  return all;
}();

class HybridBarrier {
 public:
  HybridBarrier(const SyncChoice& choice, Assembler& program)
      : choice_(choice), single_(choice, program), tree_(choice, program, false) {}
  void claim_at_end(Assembler& program) const {
    tree_.claim_at_end(program);
    if (!any_climbs_) single_.claim_at_end(program);
  }

  void prepare(CodeOf& thread, const Launch& launch, int group) {
    climbed_ = climbs(launch, group);
    any_climbs_ = any_climbs_ || climbed_;
    climbed_ ? tree_.prepare(thread, launch, group) : single_.prepare(thread, launch, group);
  }
  [[nodiscard]] Register scratch() const { return climbed_ ? tree_.scratch() : single_.scratch(); }

  void lead(CodeOf& thread, const Launch& launch, int group, int episode) {
    climbs(launch, group) ? tree_.lead(thread, launch, group, episode)
                          : single_.lead(thread, launch, group, episode);
  }
  void follow(CodeOf& thread, const Launch& launch, int group, int episode) {
    climbs(launch, group) ? tree_.follow(thread, launch, group, episode)
                          : single_.follow(thread, launch, group, episode);
  }

 private:
  [[nodiscard]] bool climbs(const Launch& launch, int group) const {
    const int found =
        choice_.is("by-cu") ? launch.groups_on(launch.cu_of(group)) : launch.printed_groups_on_cu();
    return found >= choice_["threshold"];
  }

  const SyncChoice& choice_;
  CcgBarrier single_;
  SenseBarrier tree_;
  bool climbed_ = false;  // whoever was prepared last
  bool any_climbs_ = false;
};

inline Program hybrid_barrier(const SyncChoice& choice) {
  Assembler program(choice.name());
  return across_grid(choice, program, HybridBarrier(choice, program));
}

}  // namespace lockstep::sync
