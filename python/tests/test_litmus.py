"""Litmus tests: what they show on systems and under models is what the command says."""

import tempfile
import unittest
from pathlib import Path

import command
import lockstep

TESTS = ["mp-agent", "mp-agent-unguarded", "sb-plain-agent", "try-lock-agent"]


def values(outcomes):
    return sorted(tuple(sorted(outcome.items())) for outcome in outcomes)


class OnSystems(unittest.TestCase):
    def test_outcomes_and_counts_are_the_commands(self):
        systems = ["sc", "write-through", "quick-release", "quick-release/split-fifo", "halcone"]
        reports = command.printed_json("litmus", *TESTS, "--on", ",".join(systems))["tests"]
        self.assertEqual([report["name"] for report in reports], TESTS)
        for report in reports:
            test = lockstep.test(report["name"])
            for one in report["systems"]:
                run = test.on(one["system"])
                with self.subTest(test=test.name, system=one["system"]):
                    self.assertEqual(values(run.outcomes), values(o["values"] for o in one["outcomes"]))
                    self.assertEqual(run.status, one["status"])
                    self.assertEqual(run.observation, one["observation"])
                    self.assertEqual(run.validates, one["validates"])
                    self.assertEqual((run.positive, run.negative), (one["positive"], one["negative"]))
                    self.assertEqual(
                        (run.states, run.transitions, run.depth),
                        (one["states"], one["transitions"], one["depth"]),
                    )

    def test_a_suite_reports_what_the_command_reports(self):
        tests, systems = ["mp-agent", "sb-agent"], ["sc", "write-through"]
        ours = lockstep.litmus(tests, systems, against=["hrf-indirect"], threads=2)
        theirs = command.printed_json("litmus", *tests, "--on", ",".join(systems))["tests"]
        for ours_of, theirs_of in zip(ours.reports, theirs, strict=True):
            for part in ("name", "doc", "condition", "verdict", "races", "conformance", "findings"):
                self.assertEqual(ours_of[part], theirs_of[part])
        self.assertEqual(ours.totals["as_expected"], 2)
        frame = ours.frame()
        self.assertEqual(list(frame["system"]), systems * 2)
        self.assertEqual(set(frame["observation"]), {"never"})

    def test_a_suite_finds_violations_of_the_models_that_it_is_held_against(self):
        broken = lockstep.system("write-through", faults=["acquire-keeps-l1"])
        arguments = ["mp-stale-agent", "--on", "write-through", "--fault", "acquire-keeps-l1"]
        for model in ("hrf-indirect", "hrf-direct"):
            ours = lockstep.litmus(["mp-stale-agent"], [broken], against=[model]).reports[0]
            theirs = command.printed_json("litmus", *arguments, "--against", model)["tests"][0]
            self.assertEqual(ours["findings"], theirs["findings"])
            self.assertIn(f"violates {model}", ours["findings"][0]["text"])
        self.assertFalse(
            any(
                "violates" in finding["text"]
                for finding in lockstep.litmus(["mp-stale-agent"], [broken], against=[]).reports[0][
                    "findings"
                ]
            )
        )

    def test_launches_run_on_systems_that_take_them(self):
        name = next(name for name in lockstep.tests() if lockstep.test(name).launches)
        test = lockstep.test(name)
        run = test.on("cpcoh")
        report = command.printed_json("litmus", name, "--on", "cpcoh")["tests"][0]["systems"][0]
        self.assertEqual(values(run.outcomes), values(o["values"] for o in report["outcomes"]))
        with self.assertRaises(lockstep.BadInput):
            test.on("sc")

    def test_a_fault_is_found(self):
        test = lockstep.test("mp-stale-agent")
        good = test.on("write-through")
        bad = test.on("write-through", faults=["acquire-keeps-l1"])
        self.assertEqual((good.observation, bad.observation), ("never", "sometimes"))
        wrong = [outcome for outcome in bad.outcomes if outcome not in good.outcomes]
        self.assertEqual(wrong, [{"P1:r1": 1, "P1:r2": 0}])

    def test_a_shortest_execution_to_an_outcome_is_found(self):
        test = lockstep.test("mp-stale-agent")
        trace = test.on("write-through", faults=["acquire-keeps-l1"]).find({"P1:r1": 1, "P1:r2": 0})
        self.assertEqual(trace.end, "ends with P1:r1=1; P1:r2=0;")
        self.assertIsNone(trace.replay().difference)
        good = test.on("write-through")
        self.assertIsNone(good.find({"P1:r1": 1, "P1:r2": 0}))
        self.assertEqual(good.find({"P1:r2": 1}).end, "ends with P1:r1=1; P1:r2=1;")

    def test_options_mean_what_they_mean_to_the_command(self):
        whole = lockstep.test("mp-agent").on(
            "quick-release", no_reduce=["moves", "stubborn", "dead", "at-once"]
        )
        report = command.printed_json(
            "litmus", "mp-agent", "--on", "quick-release", "--no-reduce", "moves,stubborn,dead,at-once"
        )["tests"][0]["systems"][0]
        self.assertEqual(whole.states, report["states"])
        self.assertGreater(whole.states, lockstep.test("mp-agent").on("quick-release").states)
        small = lockstep.test("mp-agent").on(
            "quick-release", sizes={"s-fifo1-entries": 1}, variant="split-fifo"
        )
        self.assertEqual(small.system, "quick-release/split-fifo, s-fifo1-entries=1")

    def test_a_deadlock_or_a_failed_assertion_is_a_status_with_a_trace(self):
        test = lockstep.parse(
            "HRF wrong\n{ x = 1; }\n P0@wg 0,agent 0 | P1@host ;\n ld r0, x | st x, 2 ;\n assert r0 == 1 | ;\n"
            "forall (true)\n",
            "wrong.litmus",
        )
        run = test.on("sc")
        self.assertEqual(run.status, "assertion")
        self.assertIsNone(run.observation)
        self.assertIsNone(run.trace.replay().difference)

    def test_what_a_test_is_can_be_read(self):
        test = lockstep.test("mp-agent")
        self.assertEqual(test.columns, ["P1:r0", "P1:r1"])
        self.assertEqual((test.dialect, test.quantifier, test.launches), ("HRF", "exists", False))
        self.assertEqual(test.condition, "(P1:r0=1 /\\ P1:r1=0)")
        self.assertEqual(test.expected["quick-release"], "never")
        self.assertIn("quick", test.tags)
        again = lockstep.parse("HRF " + str(test).replace("exists", "exists", 1))
        self.assertEqual(again.on("sc").outcomes, test.on("sc").outcomes)

    def test_what_a_filter_drops_is_no_outcome(self):
        test = lockstep.parse(
            "HRF filtered\n{ x = 0; }\n P0@wg 0,agent 0 | P1@wg 1,agent 0 ;\n st x, 1 | ld r0, x ;\n"
            "filter (P1:r0 == 1)\nexists (P1:r0 == 1)\n"
        )
        run, verdict = test.on("sc"), test.under("sc")
        for one in (run, verdict):
            self.assertEqual(one.outcomes, [{"P1:r0": 1}])
            self.assertEqual(one.array().tolist(), [[1]])
            self.assertEqual(len(one.frame()), 1)
            self.assertEqual(one.observation, "always")

    def test_frames_and_arrays_hold_the_outcomes(self):
        run = lockstep.test("sb-plain-agent").on("write-through")
        frame = run.frame()
        self.assertEqual(list(frame.columns), run.test.columns)
        self.assertEqual(frame.to_dict("records"), run.outcomes)
        array = run.array()
        self.assertEqual(array.dtype.name, "int32")
        self.assertEqual(array.shape, (len(run.outcomes), len(run.test.columns)))
        self.assertEqual([list(outcome.values()) for outcome in run.outcomes], array.tolist())
        rules = run.rules()
        self.assertEqual(rules.groupby("rule", sort=False)["fired"].sum().to_dict(), run.fired)
        # More than there are transitions: what is taken at once with one fires, too.
        self.assertGreater(sum(run.fired.values()), run.transitions)


class UnderModels(unittest.TestCase):
    def test_verdicts_are_the_commands(self):
        reports = command.printed_json("litmus", *TESTS, "--model", "sc,hrf-indirect,ptx-v6.0")["tests"]
        compared = 0
        for report in reports:
            test = lockstep.test(report["name"])
            for one in report["models"]:
                verdict = test.under(one["model"])
                with self.subTest(test=test.name, model=one["model"]):
                    self.assertEqual(values(verdict.outcomes), values(o["values"] for o in one["outcomes"]))
                    self.assertEqual(verdict.status, one["status"])
                    self.assertEqual(verdict.executions, one["executions"])
                    self.assertEqual(verdict.candidates, one["candidates"])
                    compared += 1
        self.assertEqual(compared, 3 * len(TESTS))

    def test_a_model_is_compiled_once_for_all_tests(self):
        model = lockstep.model("ptx-v6.0")
        self.assertEqual(model.name, "ptx-v6.0")
        for name in ("mp-agent", "sb-agent"):
            test = lockstep.test(name)
            self.assertEqual(test.under(model).outcomes, test.under("ptx-v6.0").outcomes)

    def test_frames_say_how_many_executions_there_are(self):
        verdict = lockstep.test("mp-agent").under("ptx-v6.0")
        frame = verdict.frame()
        self.assertEqual(frame["executions"].sum(), verdict.executions)
        self.assertEqual(frame[verdict.test.columns].to_dict("records"), verdict.outcomes)

    def test_a_model_of_ones_own_is_read_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "mine.cat"
            file.write_text('"Mine"\nacyclic po | rf | co | (rf^-1 ; co) as sc\n')
            test = lockstep.test("sb-agent")
            self.assertEqual(test.under(file).outcomes, test.on("sc").outcomes)


class Progress(unittest.TestCase):
    def test_verdicts_are_the_commands(self):
        name = "sync-test-and-set"
        verdicts = set()
        for scheduler in ("unfair", "obe", "fair", "awg"):
            for situation in ("resident", "oversubscribed"):
                asked = ["--scheduler", scheduler, "--situation", situation]
                cell = command.printed_json("progress", name, *asked)["cells"][0]
                progress = lockstep.test(name).progress("sc", scheduler=scheduler, situation=situation)
                with self.subTest(scheduler=scheduler, situation=situation):
                    self.assertEqual(progress.verdict, cell["verdict"])
                    self.assertEqual((progress.states, progress.edges), (cell["states"], cell["edges"]))
                    self.assertEqual(progress.trace is not None, "trace" in cell)
                    if progress.trace:
                        self.assertIsNone(progress.trace.replay().difference)
                verdicts.add(progress.verdict)
        self.assertGreater(len(verdicts), 1)


if __name__ == "__main__":
    unittest.main()
