// A sum over an array: each wave sums its share, work-groups meet at a barrier to add up theirs, and their
// leaders add to one total with atomics.
#include "refimpl/workloads/builder.hpp"
#include "refimpl/workloads/parts.hpp"

namespace lockstep {

Workload reduction_workload(const WorkloadShape& shape) {
  WorkloadBuilder build("reduction", shape);
  const int words = shape.sizes.at("words");
  const Grid grid(shape, words);
  const ArrayOfWords data = build.array("data", words);
  const ArrayOfWords partial = build.array("partial", grid.waves);
  const ArrayOfWords total = build.array("total", 1);
  build.fill(data);
  build.kernel("reduce", grid.waves, Grid::waves_per_group, [&](WaveCode& code, int wave) {
    const int sum = code.reg("sum");
    const std::vector<int> x = code.regs("x", Grid::words_per_access);
    const auto add = [&](int first, int count) {
      for (int i = 0; i < count; ++i) code.load(at(x, i), first + i);
      for (int i = 0; i < count; ++i) code.add(sum, at(x, i));
    };
    grid.for_each_access(wave, [&](int first, int count) { add(data[first], count); });
    code.store(partial[wave], WaveCode::value(sum));
    code.barrier();
    if (wave % Grid::waves_per_group == 0) {
      const int last = std::min(grid.waves, wave + Grid::waves_per_group);
      add(partial[wave + 1], last - wave - 1);
      code.rmw(RmwFunction::add, total[0], WaveCode::value(sum), Order::relaxed, build.across_agents());
    }
  });
  Lanes expected{};
  for (int i = 0; i < words; ++i) {
    for (std::size_t l = 0; l < expected.size(); ++l) expected[l] += build.initial(data[i])[l];
  }
  build.expect(total[0], expected);
  return build.take();
}

}  // namespace lockstep
