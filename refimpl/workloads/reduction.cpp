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
  for (int wave = 0; wave < grid.waves; ++wave) {
    WaveCode code(build.thread(Grid::group_of(wave), 0));
    const int sum = code.reg("sum");
    const int x = code.reg("x");
    const auto add = [&](int location) {
      code.load(x, location);
      code.arithmetic(ArithmeticFunction::add, sum, WaveCode::value(sum), WaveCode::value(x));
    };
    code.kernel_begin();
    grid.for_each_word(wave, [&](int i) { add(data[i]); });
    code.store(partial[wave], WaveCode::value(sum));
    code.barrier();
    if (wave % Grid::waves_per_group == 0) {
      const int last = std::min(grid.waves, wave + Grid::waves_per_group);
      for (int other = wave + 1; other < last; ++other) add(partial[other]);
      code.rmw(RmwFunction::add, total[0], WaveCode::value(sum), Order::relaxed, build.across_agents());
    }
    code.kernel_end();
  }
  Lanes expected{};
  for (int i = 0; i < words; ++i) {
    for (std::size_t l = 0; l < expected.size(); ++l) expected[l] += build.initial(data[i])[l];
  }
  build.expect(total[0], expected);
  return build.take();
}

}  // namespace lockstep
