// A stencil over several kernels, as in Rodinia's hotspot: each kernel reads the grid that the last one wrote
// and coefficients that nobody writes, which a memory system may keep across kernels.
#include "refimpl/workloads/builder.hpp"
#include "refimpl/workloads/parts.hpp"

namespace lockstep {

Workload stencil_workload(const WorkloadShape& shape) {
  WorkloadBuilder build("stencil", shape);
  const int words = shape.sizes.at("words");
  const int kernels = shape.sizes.at("kernels");
  const ArrayOfWords grids[2] = {build.array("even", words), build.array("odd", words)};
  const ArrayOfWords coefficients = build.array("coefficients", words);
  build.fill(grids[0]);
  build.fill(coefficients);
  const Grid grid(shape, words);
  for (int kernel = 0; kernel < kernels; ++kernel) {
    const ArrayOfWords& from = grids[kernel % 2];
    const ArrayOfWords& to = grids[(kernel + 1) % 2];
    for (int wave = 0; wave < grid.waves; ++wave) {
      WaveCode code(build.thread(Grid::group_of(wave), kernel));
      const int sum = code.reg("sum");
      const int x = code.reg("x");
      code.kernel_begin();
      grid.for_each_word(wave, [&](int i) {
        code.load(sum, from[i]);
        for (const int neighbour : {i - 1, i + 1}) {
          if (neighbour < 0 || neighbour >= words) continue;
          code.load(x, from[neighbour]);
          code.arithmetic(ArithmeticFunction::add, sum, WaveCode::value(sum), WaveCode::value(x));
        }
        code.load(x, coefficients[i]);
        code.arithmetic(ArithmeticFunction::multiply, sum, WaveCode::value(sum), WaveCode::value(x));
        code.store(to[i], WaveCode::value(sum));
      });
      code.kernel_end();
    }
  }
  std::vector<Lanes> now;
  for (int i = 0; i < words; ++i) now.push_back(build.initial(grids[0][i]));
  for (int kernel = 0; kernel < kernels; ++kernel) {
    std::vector<Lanes> next(now.size());
    for (int i = 0; i < words; ++i) {
      next[static_cast<std::size_t>(i)] = by_lane([&](std::size_t l) {
        std::int64_t sum = 0;
        for (int j = std::max(0, i - 1); j <= std::min(words - 1, i + 1); ++j)
          sum += now[static_cast<std::size_t>(j)][l];
        return wrapped(std::int64_t{wrapped(sum)} * build.initial(coefficients[i])[l]);
      });
    }
    now = std::move(next);
  }
  for (int i = 0; i < words; ++i) build.expect(grids[kernels % 2][i], now[static_cast<std::size_t>(i)]);
  return build.take();
}

}  // namespace lockstep
