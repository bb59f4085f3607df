"""The simulator's figures are those of the command."""

import unittest

import command
import lockstep


class Simulation(unittest.TestCase):
    def test_counters_are_the_commands(self):
        systems = ["write-through", "quick-release"]
        runs = command.printed_json(
            "sim", "stencil", "--on", ",".join(systems), "--size", "words=256", "--seed", 3
        )["runs"]
        simulation = lockstep.simulate("stencil", on=systems, sizes={"words": 256}, seed=3)
        self.assertEqual(simulation.systems, systems)
        self.assertTrue(simulation.right)
        for run, system in zip(runs, systems, strict=True):
            counters = simulation.counters[system]
            self.assertEqual(counters, {name: run[name] for name in counters})
            self.assertEqual(simulation.end(system), run["end"])
            self.assertEqual(simulation.wrong(system), run["words_wrong"])
            self.assertEqual(simulation.figures[system]["cycles"], run["cycles"])

    def test_figures_make_a_frame(self):
        simulation = lockstep.simulate("copy", on=["write-through", "quick-release"], sizes={"words": 256})
        frame = simulation.frame()
        self.assertEqual(list(frame.columns), ["write-through", "quick-release"])
        for system in simulation.systems:
            self.assertEqual(frame[system].to_dict(), simulation.figures[system])
        self.assertIn("cycles", frame.index)
        self.assertEqual(
            simulation.text(),
            command.run("sim", "copy", "--on", "write-through,quick-release", "--size", "words=256")[1],
        )

    def test_entries_of_the_machine_are_said_otherwise(self):
        sizes = {"words": 256}
        usual = lockstep.simulate("copy", sizes=sizes)
        slow = lockstep.simulate("copy", sizes=sizes, set={"systems.*.links.link1.latency": 500})
        run = command.printed_json(
            "sim", "copy", "--size", "words=256", "--set", "systems.*.links.link1.latency=500"
        )["runs"][0]
        cycles = slow.figures["write-through"]["cycles"]
        self.assertEqual(cycles, run["cycles"])
        self.assertGreater(cycles, usual.figures["write-through"]["cycles"])
        dram = {"memory.kind": "dram", "memory.preset": "ddr4", "memory.bytes_per_cycle": None}
        counted = lockstep.simulate("copy", sizes=sizes, set=dram).counters["write-through"]
        self.assertEqual(counted["memory"]["kind"], "dram")

    def test_launches_run_beside_their_baseline(self):
        simulation = lockstep.simulate("babelstream", on="cpcoh", sizes={"pages": 16, "rounds": 1})
        self.assertEqual(simulation.systems, ["cpcoh/baseline", "cpcoh"])
        self.assertTrue(simulation.right)
        self.assertIn("babelstream", lockstep.workloads(launches=True))

    def test_a_mistake_shows_in_what_is_computed(self):
        good = lockstep.simulate("message-passing", on="write-through")
        bad = lockstep.simulate("message-passing", on="write-through", faults=["acquire-keeps-l1"])
        self.assertTrue(good.right)
        self.assertFalse(bad.right)

    def test_litmus_tests_run_again_and_again(self):
        run = command.printed_json("sim", "mp-agent", "--on", "quick-release", "--runs", 50, "--jitter", 20)
        samples = lockstep.sample("mp-agent", on="quick-release", runs=50, jitter=20)
        self.assertEqual(samples.counters, run["tests"][0])
        frame = samples.frame()
        self.assertEqual(frame["runs"].sum(), 50)
        shown = {(row["P1:r0"], row["P1:r1"]) for _, row in frame.iterrows()}
        explored = lockstep.test("mp-agent").on("quick-release")
        self.assertLessEqual(shown, {tuple(outcome.values()) for outcome in explored.outcomes})
        once = lockstep.simulate(lockstep.test("mp-agent"), on="quick-release")
        self.assertEqual(once.workload, "mp-agent")
        self.assertEqual(once.figures, lockstep.simulate("mp-agent", on="quick-release").figures)


if __name__ == "__main__":
    unittest.main()
