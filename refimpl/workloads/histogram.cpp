// A histogram: each wave reads its share of the input and adds to the bins that it finds there, by updates
// that commute; a second kernel reads every bin. A word is 16 lanes, so a bin is 16 counts, one for each
// lane. Few bins are hit often and many seldom: the number of a bin is the product of two that are drawn
// evenly. Updates that are not shared fall on the counts that are the work-group's own, as a simulation's
// particles move within a cell more often than to the next: all counts are shared out evenly.
//
// Source: Listing 3.1 of Dalmia's thesis (2023, 3.1), where the input says which bin; here the input's place
// does, for a program's addresses are in its text.
#include <fmt/format.h>

#include <algorithm>

#include "checker/support/diagnostic.hpp"
#include "refimpl/workloads/builder.hpp"
#include "refimpl/workloads/parts.hpp"

namespace lockstep {

Workload histogram_workload(const WorkloadShape& shape) {
  WorkloadBuilder build("histogram", shape);
  const int words = shape.sizes.at("words");
  const int bins = shape.sizes.at("bins");
  const Grid grid(shape, words);
  const ArrayOfWords data = build.array("data", words);
  const ArrayOfWords histogram = build.array("histogram", bins);
  const ArrayOfWords copy = build.array("copy", bins);
  build.fill(data);
  std::mt19937_64 random(shape.seed);
  std::uniform_real_distribution<double> part(0, 1);
  const int shared = shape.sizes.at("shared");
  if (shared > 100) throw BadInput(fmt::format("{} of 100 updates cannot be shared", shared));
  const int groups = (grid.waves + Grid::waves_per_group - 1) / Grid::waves_per_group;
  const int own = std::max(1, bins / groups);
  std::vector<Lanes> expected(static_cast<std::size_t>(bins), Lanes{});
  build.kernel("count", grid.waves, Grid::waves_per_group, [&](WaveCode& code, int wave) {
    const std::vector<int> x = code.regs("x", Grid::words_per_access);
    grid.for_each_access(wave, [&](int first, int count) {
      for (int i = 0; i < count; ++i) code.load(at(x, i), data[first + i]);
      for (int i = 0; i < count; ++i) {
        const double product = part(random) * part(random);
        int bin = static_cast<int>(product * bins);
        if (shared < 100 && part(random) * 100 >= shared)
          bin = (wave / Grid::waves_per_group * own + static_cast<int>(product * own)) % bins;
        code.rmw(RmwFunction::add, histogram[bin], WaveCode::value(at(x, i)), Order::comm,
                 build.across_agents());
        Lanes& counts = expected[static_cast<std::size_t>(bin)];
        for (std::size_t l = 0; l < counts.size(); ++l) counts[l] += build.initial(data[first + i])[l];
      }
    });
  });
  const Grid readers(shape, bins);
  build.kernel("copy", readers.waves, Grid::waves_per_group, [&](WaveCode& code, int wave) {
    const std::vector<int> x = code.regs("x", Grid::words_per_access);
    readers.for_each_access(wave, [&](int first, int count) {
      for (int i = 0; i < count; ++i) code.load(at(x, i), histogram[first + i]);
      for (int i = 0; i < count; ++i) code.store(copy[first + i], WaveCode::value(at(x, i)));
    });
  });
  for (int i = 0; i < bins; ++i) {
    build.expect(histogram[i], expected[static_cast<std::size_t>(i)]);
    build.expect(copy[i], expected[static_cast<std::size_t>(i)]);
  }
  return build.take();
}

}  // namespace lockstep
