// Work-groups that pass messages to and fro: the sender writes a payload and raises a flag with a release,
// the receiver waits for it with acquires, looks its words up in a table that nobody writes, and answers in
// the same way. Each turn synchronizes; a memory system that invalidates whole caches reads the table anew.
#include "refimpl/workloads/builder.hpp"
#include "refimpl/workloads/parts.hpp"

namespace lockstep {

Workload message_passing_workload(const WorkloadShape& shape) {
  WorkloadBuilder build("message-passing", shape);
  const int pairs = shape.sizes.at("pairs");
  const int rounds = shape.sizes.at("rounds");
  const int payload = shape.sizes.at("payload");
  const int looked_up = shape.sizes.at("table");
  constexpr int at_once = 8;  // words that code looks up before it adds them
  const ArrayOfWords table = build.array("table", looked_up);
  build.fill(table);
  Lanes of_table{};
  for (int i = 0; i < looked_up; ++i) {
    for (std::size_t l = 0; l < of_table.size(); ++l) of_table[l] += build.initial(table[i])[l];
  }
  // Both of a pair sit on the same agent.
  const auto group = [&](int pair, int side) {
    return (pair / shape.agents * 2 + side) * shape.agents + pair % shape.agents;
  };
  for (int pair = 0; pair < pairs; ++pair) {
    const ArrayOfWords data = build.array("data", payload);
    const ArrayOfWords flag = build.array("flag", 1);
    const ArrayOfWords answer = build.array("answer", 1);
    const ArrayOfWords result = build.array("result", 1);
    WaveCode sender = build.wave(group(pair, 0));
    for (int round = 1; round <= rounds; ++round) {
      for (int i = 0; i < payload; ++i) sender.store(data[i], WaveCode::constant(round + i));
      sender.store(flag[0], WaveCode::constant(round), Order::release, Scope::agent);
      sender.wait_for(answer[0], round, Scope::agent);
    }
    WaveCode receiver = build.wave(group(pair, 1));
    const int sum = receiver.reg("sum");
    const std::vector<int> x = receiver.regs("x", at_once);
    const auto add = [&](const ArrayOfWords& words) {
      for (int first = 0; first < words.size; first += at_once) {
        const int count = std::min(at_once, words.size - first);
        for (int i = 0; i < count; ++i) receiver.load(at(x, i), words[first + i]);
        for (int i = 0; i < count; ++i) receiver.add(sum, at(x, i));
      }
    };
    Lanes expected{};
    for (int round = 1; round <= rounds; ++round) {
      receiver.wait_for(flag[0], round, Scope::agent);
      add(data);
      add(table);
      receiver.store(answer[0], WaveCode::constant(round), Order::release, Scope::agent);
      for (std::size_t l = 0; l < expected.size(); ++l) {
        expected[l] = wrapped(std::int64_t{expected[l]} + of_table[l]);
        for (int i = 0; i < payload; ++i) expected[l] = wrapped(std::int64_t{expected[l]} + round + i);
      }
    }
    receiver.store(result[0], WaveCode::value(sum));
    build.expect(result[0], expected);
  }
  return build.take();
}

}  // namespace lockstep
