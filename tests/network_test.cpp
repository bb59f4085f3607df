// Networks: routes, times computed by hand, and machines whose messages pass them.
#include "refimpl/network.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "refimpl/comparison.hpp"
#include "tests/machines.hpp"

using namespace lockstep;
using timed::Network;
using timed::Tick;
using timed::ticks_per_cycle;
using Topology = NetworkTiming::Topology;

namespace {

const std::string apu = shipped_machine("apu");

// Sixteen bytes a cycle, and two cycles a router.
Network network(Topology topology, std::uint32_t nodes, std::uint32_t columns) {
  NetworkTiming timing;
  timing.topology = topology;
  timing.nodes = nodes;
  timing.columns = columns;
  timing.hop_latency = 2;
  timing.bytes_per_cycle = 16;
  return Network(timing);
}
double cycles(Tick ticks) {
  return static_cast<double>(ticks) / static_cast<double>(ticks_per_cycle);
}

// The APU with a network that link1 and its fills pass.
std::string with_network(const std::string& of_network, const std::string& seats) {
  std::string text = changed(
      apu, "[memory]\n", "[networks.noc]\n" + of_network + "[networks.noc.seats]\n" + seats + "\n[memory]\n");
  for (const std::string system : {"write-through", "quick-release"})
    text = changed(text, "[systems." + system + ".links.link1]", "latency = 10 ",
                   "network = \"noc\"\nlatency = 10 ");
  return changed(text, "[paths.fill1]", "latency = 10 ", "network = \"noc\"\nlatency = 10 ");
}
const std::string crossbar = "topology = \"crossbar\"\nnodes = 9\nhop_latency = 3\nbytes_per_cycle = 32\n";
const std::string mesh =
    "topology = \"mesh\"\nnodes = 12\ncolumns = 4\nhop_latency = 2\nbytes_per_cycle = 32\n";

double part(const Statistics& s, std::size_t operation, const std::string& name) {
  for (const auto& station : s.profile->stations) {
    if (station.name == name) return station.cycles[operation];
  }
  return 0;
}

}  // namespace

TEST_CASE("Networks: routes are as short as they can be, and go from neighbour to neighbour") {
  struct Case {
    Topology topology;
    std::uint32_t nodes;
    std::uint32_t columns;
  };
  for (const Case& c :
       {Case{Topology::crossbar, 9, 9}, Case{Topology::ring, 7, 7}, Case{Topology::ring, 8, 8},
        Case{Topology::mesh, 12, 4}, Case{Topology::torus, 20, 5}, Case{Topology::torus, 4, 2},
        Case{Topology::mesh, 1, 1}, Case{Topology::ring, 2, 2}}) {
    const Network n = network(c.topology, c.nodes, c.columns);
    const auto distance = [&](std::uint32_t a, std::uint32_t b, std::uint32_t extent) {
      const std::uint32_t straight = a > b ? a - b : b - a;
      if (c.topology == Topology::crossbar) return 0U;
      return c.topology == Topology::mesh ? straight : std::min(straight, extent - straight);
    };
    for (std::uint32_t from = 0; from < c.nodes; ++from) {
      for (std::uint32_t to = 0; to < c.nodes; ++to) {
        INFO(from << " to " << to << " of " << c.nodes);
        const std::vector<std::size_t> route = n.route(from, to);
        const std::uint32_t hops = distance(from % c.columns, to % c.columns, c.columns) +
                                   distance(from / c.columns, to / c.columns, c.nodes / c.columns);
        REQUIRE(route.size() == hops + 2);
        std::uint32_t at = from;
        for (std::size_t i = 0; i < route.size(); ++i) {
          const Network::Channel& channel = n.channels()[route[i]];
          if (c.topology == Topology::crossbar && i + 1 == route.size()) at = to;
          CHECK(channel.from == at);
          CHECK((channel.from == channel.to) == (i == 0 || i + 1 == route.size()));
          CHECK(channel.out == (i + 1 == route.size()));
          at = channel.to;
        }
        CHECK(at == to);
      }
    }
  }
}

TEST_CASE("Networks: a lone message takes its routers' time and its own length") {
  Network m = network(Topology::mesh, 16, 4);
  // Six hops, seven routers of two cycles, and 64 bytes at 16 a cycle.
  CHECK(cycles(m.send(0, 0, 0, 15, 64).arrival) == 7 * 2 + 4);
  Network t = network(Topology::torus, 16, 4);
  CHECK(cycles(t.send(0, 160, 0, 15, 64).arrival) == 10 + 3 * 2 + 4);
  Network r = network(Topology::ring, 16, 16);
  CHECK(cycles(r.send(0, 0, 1, 14, 32).arrival) == 4 * 2 + 2);
  Network x = network(Topology::crossbar, 16, 16);
  CHECK(cycles(x.send(0, 0, 0, 15, 64).arrival) == 2 + 4);
  CHECK(cycles(x.send(0, 0, 7, 7, 16).arrival) == 2 + 1);
}

TEST_CASE("Networks: messages wait for channels that they share, and for no others") {
  Network x = network(Topology::crossbar, 8, 8);
  CHECK(x.send(0, 0, 0, 5, 64).waited == 0);
  // Out of the same node: four cycles behind the other. Out of another one: at once.
  CHECK(cycles(x.send(0, 0, 1, 5, 64).waited) == 4);
  CHECK(x.send(0, 0, 2, 6, 64).waited == 0);
  // Into the router of the same node.
  CHECK(cycles(x.send(0, 0, 2, 7, 16).waited) == 4);
  Network m = network(Topology::mesh, 16, 4);
  // Row 0 from 0 to 3, and from 1 to 2: they share the channel from 1 to 2, that the first one reaches two
  // routers later.
  CHECK(m.send(0, 0, 0, 3, 64).waited == 0);
  // It is there after one router, for a cycle, before the first one's head comes.
  CHECK(m.send(0, 0, 1, 2, 16).waited == 0);
  // Another one would reach into it, and waits until it has passed: from cycle 2 to 4 + 4.
  CHECK(cycles(m.send(0, 0, 1, 6, 64).waited) >= 4);
}

TEST_CASE("Networks: channels carry one message at a time, whatever the order of sending") {
  std::mt19937_64 random(7);
  for (const Topology topology : {Topology::crossbar, Topology::ring, Topology::mesh, Topology::torus}) {
    const bool rows = topology == Topology::mesh || topology == Topology::torus;
    Network n = network(topology, 12, rows ? 4 : 12);
    Tick now = 0;
    Tick last = 0;
    std::uint64_t sent = 0;
    for (int i = 0; i < 4000; ++i) {
      now += random() % 40;
      const Tick at = now + random() % 2000;
      const auto from = static_cast<std::uint32_t>(random() % 12);
      const auto to = static_cast<std::uint32_t>(random() % 12);
      const unsigned bytes = static_cast<unsigned>(random() % 100);
      sent += bytes;
      const Network::Sent s = n.send(now, at, from, to, bytes);
      const Tick takes = bytes * ticks_per_cycle / 16;
      const Tick alone = (n.route(from, to).size() - 1) * 2 * ticks_per_cycle + takes;
      CHECK(s.arrival == at + alone + s.waited);
      last = std::max(last, s.arrival);
      bool apart = true;
      for (const Network::Channel& channel : n.channels()) {
        for (std::size_t k = 0; k < channel.taken.size(); ++k) {
          apart &= channel.taken[k].first < channel.taken[k].second;
          apart &= k == 0 || channel.taken[k - 1].second < channel.taken[k].first;
        }
      }
      REQUIRE(apart);
    }
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    for (const Network::Channel& channel : n.channels()) {
      CHECK(channel.busy <= last);
      if (channel.from == channel.to) (channel.out ? out : in) += channel.bytes;
    }
    CHECK(in == sent);
    CHECK(out == sent);
  }
}

TEST_CASE("Networks: a lone load passes one on its way there and back") {
  const std::string text = with_network(crossbar, "L1 = [0, 1, 2, 3, 4, 5, 6, 7]\nL2 = [8]\n");
  const Statistics s = simulate("write-through", machine_of(text), loads_of({{0}}), 8, true);
  CHECK(part(s, 0, "link1: way") == Approx(10 + 8 / 64.0 + 3 + 8 / 32.0));
  CHECK(part(s, 0, "L2 to L1: way") == Approx(10 + 136 / 64.0 + 3 + 136 / 32.0));
  CHECK(part(s, 0, "link2: way") == Approx(20 + 8 / 64.0));
  CHECK(part(s, 0, "link1: bandwidth") == 0);
  // From CU 0, at node 0, to L2's at node 8 and back.
  std::map<std::string, std::uint64_t> bytes;
  for (const auto& link : s.profile->links) {
    if (link.to >= 0)
      bytes[link.name + " " + std::to_string(link.number) + " " + std::to_string(link.to)] = link.bytes;
  }
  CHECK(bytes == std::map<std::string, std::uint64_t>{
                     {"noc: in 0 0", 8}, {"noc: out 8 8", 8}, {"noc: in 8 8", 136}, {"noc: out 0 0", 136}});
  // Waves of eight CUs that ask at once meet at L2's node.
  const Statistics all = simulate("write-through", machine_of(text),
                                  loads_of({{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}), 8, true);
  CHECK(part(all, 0, "link1: bandwidth") == Approx(28 * 8 / 32.0));
}

TEST_CASE("Networks: an L2 in slices has blocks in turn, each as far as its slice") {
  // CU 0 at node 0 of four in a row; slices at nodes 0 to 3.
  const std::string row =
      "topology = \"mesh\"\nnodes = 4\ncolumns = 4\nhop_latency = 5\nbytes_per_cycle = 1000000\n";
  const std::string text = with_network(row, "L1 = [0]\nL2 = { nodes = \"all\", by = \"block\" }\n");
  for (int block = 0; block < 8; ++block) {
    INFO(block);
    const Statistics s = simulate("write-through", machine_of(text), loads_of({{block}}), 1, true);
    const int hops = block % 4;
    CHECK(part(s, 0, "link1: way") == Approx(10 + 8 / 64.0 + 5 * (hops + 1)).margin(0.2));
    CHECK(part(s, 0, "L2 to L1: way") == Approx(10 + 136 / 64.0 + 5 * (hops + 1)).margin(0.2));
  }
}

TEST_CASE("Networks: programs compute what they do without, and nothing is overlooked") {
  const std::string seats =
      "L1 = [0, 1, 2, 3, 8, 9, 10, 11]\nL2 = { nodes = [4, 5, 6, 7], by = \"block\" }\n";
  for (const std::string system : {"write-through", "quick-release"}) {
    for (const auto& [workload, sizes] :
         {std::pair{"message-passing", std::map<std::string, int>{{"pairs", 8}}},
          std::pair{"stencil", std::map<std::string, int>{{"words", 512}, {"kernels", 2}}},
          std::pair{"histogram", std::map<std::string, int>{{"words", 512}}}}) {
      INFO(workload << " on " << system);
      SimulationRequest request;
      request.machine = machine_of(with_network(mesh, seats));
      request.systems = {system};
      request.sizes = sizes;
      request.options.profile = true;
      const std::atomic<bool> never = false;
      const ComparedRun run = run_workload(request, workload, never);
      const SystemResult& r = run.results.at(0);
      CHECK(r.end == SimulationEnd::finished);
      CHECK(r.wrong == 0);
      CHECK(run.checked > 0);
      const Statistics& s = r.statistics;
      for (std::size_t op = 0; op < 4; ++op) {
        double sum = 0;
        for (const auto& station : s.profile->stations) sum += station.cycles[op];
        CHECK(sum == Approx(s.operations.at(op).waited).margin(1e-6));
      }
      // What goes into routers comes out of them: what link1 and the fills carry.
      std::uint64_t in = 0;
      std::uint64_t out = 0;
      for (const auto& link : s.profile->links) {
        in += link.name == "noc: in" ? link.bytes : 0;
        out += link.name == "noc: out" ? link.bytes : 0;
      }
      CHECK(in == s.bytes_on("link1") + s.bytes_on("L2 to L1"));
      CHECK(out == in);
    }
  }
}

TEST_CASE("Networks: machine files are held to what one can be") {
  using Catch::Matchers::Contains;
  const std::string seats = "L1 = [0, 1, 2, 3, 4, 5, 6, 7]\nL2 = [8]\n";
  const auto error_at_start = [&](const std::string& text) {
    try {
      static_cast<void>(simulate("write-through", machine_of(text), loads_of({{0}}), 8));
    } catch (const BadInput& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(machine_error_of(with_network(crossbar, "L3 = [0]\n")),
             Contains("'L3', which is no unit, has a seat") && Contains("did you mean 'L"));
  CHECK_THAT(machine_error_of(with_network(crossbar, "L1 = [9]\n")),
             Contains("'L1' is at no node: they are numbered from 0 to 8"));
  CHECK_THAT(machine_error_of(with_network(crossbar, "L1 = []\n")),
             Contains("'L1' has an empty list of nodes"));
  CHECK_THAT(machine_error_of(with_network(crossbar, "L1 = \"none\"\n")), Contains("'L1' is at no node"));
  CHECK_THAT(machine_error_of(with_network(crossbar, "L1 = { by = \"block\" }\n")),
             Contains("'nodes' of 'L1' is missing"));
  CHECK_THAT(machine_error_of(
                 with_network("topology = \"star\"\n" + crossbar.substr(crossbar.find("nodes")), seats)),
             Contains("'star' is unknown as 'topology'"));
  CHECK_THAT(machine_error_of(with_network(changed(mesh, "columns = 4", "columns = 5"), seats)),
             Contains("12 nodes are not so many rows of 5"));
  CHECK_THAT(machine_error_of(with_network(changed(mesh, "columns = 4\n", ""), seats)),
             Contains("'columns' is missing"));
  CHECK_THAT(machine_error_of(with_network(crossbar + "columns = 3\n", seats)),
             Contains("unknown entry 'columns'"));
  CHECK_THAT(
      machine_error_of(changed(apu, "[paths.fill1]", "latency = 10 ", "network = \"noc\"\nlatency = 10 ")),
      Contains("'noc' is no network") && Contains("describe it in [networks.NAME]"));
  CHECK_THAT(error_at_start(with_network(crossbar, "L1 = [0, 1, 2, 3, 4, 5, 6, 7]\n")),
             Contains("pass the network 'noc', and it has no seat there") && Contains("L2 = [...]"));
  CHECK_THAT(error_at_start(with_network(crossbar, "L1 = [0, 1, 2]\nL2 = [8]\n")),
             Contains("3 nodes for 8 units 'L1' of this machine"));
  CHECK_THAT(error_at_start(with_network(crossbar, "L1 = \"all\"\nL2 = [8]\n")),
             Contains("more than there are units"));
  CHECK_THAT(error_at_start(with_network(crossbar, "L1 = [0, 1]\nL2 = [7, 8]\n")),
             Contains("by = \"block\""));
  // It is said before anything runs, also of a path that this run would not take.
  CHECK_THAT(error_at_start(changed(with_network(crossbar, seats), "[paths.answer2]", "latency = 30 ",
                                    "network = \"noc\"\nlatency = 30 ")),
             Contains("messages to or from 'directory' pass the network 'noc'"));
  CHECK(error_at_start(with_network(crossbar, "L1 = [0, 1]\nL2 = [8]\n")) == "no error");
}
