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
  for (int wave = 0; wave < grid.waves; ++wave) {
    WaveCode code(build.thread(Grid::group_of(wave), 0));
    const int r = code.reg("r");
    code.kernel_begin();
    grid.for_each_word(wave, [&](int i) {
      code.load(r, from[i]);
      code.store(to[i], WaveCode::value(r));
    });
    code.kernel_end();
  }
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
  for (int wave = 0; wave < grid.waves; ++wave) {
    WaveCode code(build.thread(Grid::group_of(wave), 0));
    const int x = code.reg("x");
    const int y = code.reg("y");
    code.kernel_begin();
    grid.for_each_word(wave, [&](int i) {
      code.load(x, a[i]);
      code.load(y, b[i]);
      code.arithmetic(ArithmeticFunction::add, x, WaveCode::value(x), WaveCode::value(y));
      code.store(sum[i], WaveCode::value(x));
    });
    code.kernel_end();
  }
  for (int i = 0; i < words; ++i) {
    build.expect(sum[i],
                 by_lane([&](std::size_t l) { return build.initial(a[i])[l] + build.initial(b[i])[l]; }));
  }
  return build.take();
}

}  // namespace lockstep
