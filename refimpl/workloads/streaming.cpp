// Pure streams: every word is read or written once.
#include "refimpl/workloads/builder.hpp"
#include "refimpl/workloads/parts.hpp"

namespace lockstep {

Workload copy_workload(const WorkloadShape& shape) {
  WorkloadBuilder build("copy", shape);
  const int words = shape.sizes.at("words");
  const ArrayOfWords from = build.array("from", words);
  const ArrayOfWords to = build.array("to", words);
  build.fill(from);
  const Grid grid(shape, words);
  build.kernel("copy", grid.waves, Grid::waves_per_group, [&](WaveCode& code, int wave) {
    const std::vector<int> r = code.regs("r", Grid::words_per_access);
    grid.for_each_access(wave, [&](int first, int count) {
      for (int i = 0; i < count; ++i) code.load(at(r, i), from[first + i]);
      for (int i = 0; i < count; ++i) code.store(to[first + i], WaveCode::value(at(r, i)));
    });
  });
  for (int i = 0; i < words; ++i) build.expect(to[i], build.initial(from[i]));
  return build.take();
}

Workload vector_add_workload(const WorkloadShape& shape) {
  WorkloadBuilder build("vector-add", shape);
  const int words = shape.sizes.at("words");
  const ArrayOfWords a = build.array("a", words);
  const ArrayOfWords b = build.array("b", words);
  const ArrayOfWords sum = build.array("sum", words);
  build.fill(a);
  build.fill(b);
  const Grid grid(shape, words);
  build.kernel("add", grid.waves, Grid::waves_per_group, [&](WaveCode& code, int wave) {
    const std::vector<int> x = code.regs("x", Grid::words_per_access);
    const std::vector<int> y = code.regs("y", Grid::words_per_access);
    grid.for_each_access(wave, [&](int first, int count) {
      for (int i = 0; i < count; ++i) code.load(at(x, i), a[first + i]);
      for (int i = 0; i < count; ++i) code.load(at(y, i), b[first + i]);
      for (int i = 0; i < count; ++i) code.add(at(x, i), at(y, i));
      for (int i = 0; i < count; ++i) code.store(sum[first + i], WaveCode::value(at(x, i)));
    });
  });
  for (int i = 0; i < words; ++i) {
    build.expect(sum[i],
                 by_lane([&](std::size_t l) { return build.initial(a[i])[l] + build.initial(b[i])[l]; }));
  }
  return build.take();
}

}  // namespace lockstep
