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
    build.kernel("stencil", grid.waves, Grid::waves_per_group, [&](WaveCode& code, int wave) {
      const std::vector<int> sum = code.regs("sum", Grid::words_per_access);
      const std::vector<int> coefficient = code.regs("coefficient", Grid::words_per_access);
      const std::vector<int> neighbours[2] = {code.regs("left", Grid::words_per_access),
                                              code.regs("right", Grid::words_per_access)};
      grid.for_each_access(wave, [&](int first, int count) {
        const auto is_there = [&](int i, int side) {
          const int neighbour = first + i + 2 * side - 1;
          return neighbour >= 0 && neighbour < words;
        };
        for (int i = 0; i < count; ++i) code.load(at(sum, i), from[first + i]);
        for (int side = 0; side < 2; ++side) {
          for (int i = 0; i < count; ++i) {
            if (is_there(i, side)) code.load(at(neighbours[side], i), from[first + i + 2 * side - 1]);
          }
        }
        for (int i = 0; i < count; ++i) code.load(at(coefficient, i), coefficients[first + i]);
        for (int i = 0; i < count; ++i) {
          for (int side = 0; side < 2; ++side) {
            if (is_there(i, side)) code.add(at(sum, i), at(neighbours[side], i));
          }
          code.arithmetic(ArithmeticFunction::multiply, at(sum, i), WaveCode::value(at(sum, i)),
                          WaveCode::value(at(coefficient, i)));
        }
        for (int i = 0; i < count; ++i) code.store(to[first + i], WaveCode::value(at(sum, i)));
      });
    });
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
