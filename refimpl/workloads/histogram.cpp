// A histogram: each wave reads its share of the input and adds to the bins that it finds there, by updates
// that commute; a second kernel reads every bin. A word is 16 lanes, so a bin is 16 counts, one for each
// lane. Few bins are hit often and many seldom: the number of a bin is the product of two that are drawn
// evenly.
//
// Source: Listing 3.1 of Dalmia's thesis (2023, 3.1), where the input says which bin; here the input's place
// does, for a program's addresses are in its text.
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
  std::vector<Lanes> expected(static_cast<std::size_t>(bins), Lanes{});
  for (int wave = 0; wave < grid.waves; ++wave) {
    WaveCode code(build.thread(Grid::group_of(wave), 0));
    const int x = code.reg("x");
    code.kernel_begin();
    grid.for_each_word(wave, [&](int i) {
      const double product = part(random) * part(random);
      const int bin = static_cast<int>(product * bins);
      code.load(x, data[i]);
      code.rmw(RmwFunction::add, histogram[bin], WaveCode::value(x), Order::comm, build.across_agents());
      Lanes& count = expected[static_cast<std::size_t>(bin)];
      for (std::size_t l = 0; l < count.size(); ++l) count[l] += build.initial(data[i])[l];
    });
    code.kernel_end();
  }
  const Grid readers(shape, bins);
  for (int wave = 0; wave < readers.waves; ++wave) {
    WaveCode code(build.thread(Grid::group_of(wave), 1));
    const int x = code.reg("x");
    code.kernel_begin();
    readers.for_each_word(wave, [&](int i) {
      code.load(x, histogram[i]);
      code.store(copy[i], WaveCode::value(x));
    });
    code.kernel_end();
  }
  for (int i = 0; i < bins; ++i) {
    build.expect(histogram[i], expected[static_cast<std::size_t>(i)]);
    build.expect(copy[i], expected[static_cast<std::size_t>(i)]);
  }
  return build.take();
}

}  // namespace lockstep
