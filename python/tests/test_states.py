"""States one by one, and all at once."""

import re
import unittest

import command
import lockstep

SYSTEMS = ["sc", "write-through", "quick-release"]


def reachable(model):
    """Every state of a model, found by hand, and how many steps there are between them."""
    seen = set(model.initial())
    waiting = list(seen)
    steps = 0
    while waiting:
        for step in waiting.pop().enabled:
            steps += 1
            if step.after not in seen:
                seen.add(step.after)
                waiting.append(step.after)
    return seen, steps


class Walking(unittest.TestCase):
    def test_walking_by_hand_meets_the_states_that_exploring_does(self):
        for name in SYSTEMS:
            model = lockstep.system(name).model("mp-agent")
            seen, steps = reachable(model)
            result = model.explore()
            with self.subTest(system=name):
                self.assertEqual(result.verdict, "holds")
                self.assertEqual((len(seen), steps), (result.states, result.transitions))
                without = ["--no-reduce", "moves,stubborn,dead,at-once"]
                run = command.printed_json("check", name, "--program", "mp-agent", *without)["runs"][0]
                self.assertEqual(len(seen), run["states"])

    def test_a_system_that_is_its_own_client_is_walked_too(self):
        model = lockstep.system("german", sizes={"node": 2}).model()
        seen, steps = reachable(model)
        result = model.explore(threads=2)
        self.assertEqual((len(seen), steps), (result.states, result.transitions))
        self.assertEqual(result.states, lockstep.system("german", sizes={"node": 2}).check().states)
        self.assertIsNone(model.test)

    def test_ends_show_the_outcomes_of_the_run(self):
        for name in ("sc", "write-through"):
            for test in ("mp-agent", "sb-plain-agent", "try-lock-agent"):
                seen, _ = reachable(lockstep.system(name).model(test))
                shown = {tuple(state.outcome.items()) for state in seen if state.is_end}
                run = lockstep.test(test).on(name)
                with self.subTest(system=name, test=test):
                    self.assertEqual(shown, {tuple(outcome.items()) for outcome in run.outcomes})
                    self.assertFalse(any(state.is_stuck for state in seen))
                    self.assertTrue(all(state.violated is None for state in seen))

    def test_steps_change_what_they_say(self):
        state = lockstep.system("quick-release").model("mp-agent").initial()[0]
        for _ in range(30):
            if not state.enabled:
                break
            step = state.enabled[0]
            after = state.take(step)
            self.assertEqual(after, step.after)
            before = state.fields
            for change in step.changes:
                self.assertEqual(before[change.path], change.before)
                before[change.path] = change.after
            self.assertEqual(before, after.fields)
            self.assertEqual(state.take(str(step)), after)
            self.assertTrue(str(step).startswith(step.narration[0].rule))
            for kind, member in step.parameters:
                self.assertIn(f"{kind} {member}", str(step))
            state = after

    def test_fields_are_values(self):
        state = lockstep.system("write-through").model("mp-agent").initial()[0]
        fields = state.fields
        for path, value in fields.items():
            self.assertIs(type(state.field(path)), type(value))
            self.assertEqual(state.field(path), value)
        self.assertIn(bool, {type(value) for value in fields.values()})
        self.assertIn(int, {type(value) for value in fields.values()})
        self.assertIs(state.field("memory.port(0).done"), False)

    def test_states_are_values(self):
        model = lockstep.system("quick-release").model("mp-agent")
        first, again = model.initial()[0], model.initial()[0]
        self.assertEqual(first, again)
        self.assertEqual(hash(first), hash(again))
        self.assertFalse(first != again)
        self.assertNotEqual(first, first.enabled[0].after)
        self.assertNotEqual(first, lockstep.system("quick-release").model("mp-agent").initial()[0])
        self.assertNotEqual(first, "a state")
        packed = first.packed
        self.assertEqual(packed.dtype.name, "uint64")
        self.assertEqual(packed.shape, (-(-model.state_bits // 64),))
        self.assertEqual(packed.tolist(), again.packed.tolist())

    def test_a_state_outlives_what_it_came_from(self):
        state = lockstep.system("quick-release").model(lockstep.test("mp-agent")).initial()[0]
        for _ in range(5):
            state = state.enabled[-1].after
        self.assertGreater(len(state.fields), 10)

    def test_a_step_from_elsewhere_is_refused(self):
        state = lockstep.system("sc").model("mp-agent").initial()[0]
        step = state.enabled[0]
        with self.assertRaisesRegex(lockstep.BadInput, "is a step from another state"):
            step.after.take(step)
        with self.assertRaisesRegex(lockstep.BadInput, "is not enabled.*\n.*did you mean"):
            state.take(str(step) + "x")

    def test_a_counterexample_leads_into_what_a_fault_breaks(self):
        system = lockstep.system("german", faults=["grant-without-invalidating"])
        model, trace = system.model(), system.check().trace
        state = model.initial()[0]
        for step in trace.steps[1:]:
            self.assertIsNone(state.violated)
            state = state.take(step.narration[0].rule)
        self.assertIn(state.violated, model.invariants)
        self.assertEqual(trace.end, f"violated: {state.violated}")

    def test_a_deadlock_is_no_end(self):
        system = lockstep.system("rfo", faults=["recall-not-awaited"])
        every_step = ["moves", "stubborn", "dead", "at-once"]
        trace = lockstep.test("sb-agent").on(system, no_reduce=every_step).trace
        self.assertEqual(trace.end, "deadlock")
        state = system.model("sb-agent").initial()[0]
        for step in trace.steps[1:]:
            self.assertFalse(state.is_stuck or state.is_end)
            state = state.take(step.narration[0].rule)
        self.assertTrue(state.is_stuck)
        self.assertFalse(state.is_end)
        self.assertIsNone(state.outcome)


class Exploring(unittest.TestCase):
    def test_checking_says_what_the_command_says(self):
        for system, arguments in (("german", []), ("quick-release", ["--program", "false-sharing-agent"])):
            run = command.printed_json("check", system, *arguments, "--threads", 1)["runs"][0]
            result = lockstep.system(system).check(*arguments[1:])
            with self.subTest(system=system):
                self.assertEqual(result.verdict, run["verdict"])
                self.assertEqual(
                    (result.states, result.transitions, result.depth, result.state_bits),
                    (run["states"], run["transitions"], run["depth"], run["state_bits"]),
                )

    def test_a_fault_is_found_with_a_shortest_counterexample(self):
        arguments = ["quick-release", "--program", "false-sharing-agent", "--fault", "no-broadcast"]
        run = command.printed_json("check", *arguments, "--threads", 1, "--trace", "/dev/null")["runs"][0]
        result = lockstep.system("quick-release", faults=["no-broadcast"]).check("false-sharing-agent")
        self.assertEqual((result.verdict, result.violated), ("violated", run["violated"]))
        self.assertEqual(
            [step.rule for step in result.trace.steps], [step["rule"] for step in run["trace"]["steps"]]
        )
        self.assertEqual(len(result.trace) - 1, result.depth)
        self.assertIn(result.violated.removeprefix("violated: "), result.text())

    def test_firings_are_counted_by_rule(self):
        result = lockstep.system("quick-release").check("false-sharing-agent")
        self.assertGreaterEqual(sum(result.fired.values()), result.transitions)
        frame = result.rules()
        self.assertEqual(frame.groupby("rule", sort=False)["fired"].sum().to_dict(), result.fired)
        never = frame[frame["fired"] == 0]["rule"]
        self.assertLessEqual(set(result.never_fired), set(never))

    def test_a_limit_is_a_status(self):
        system = lockstep.system("quick-release")
        for limit in ({"timeout": 0.05}, {"memory": 0.001}):
            result = system.check("ring-wg-agent", **limit)
            with self.subTest(limit=limit):
                self.assertEqual(result.verdict, "inconclusive")
                self.assertRegex(result.message, "out of (time|memory)")
                self.assertIsNone(result.trace)

    def test_progress_is_told(self):
        told = []
        result = lockstep.system("quick-release").check("ring-wg-agent", timeout=1.2, progress=told.append)
        self.assertGreaterEqual(len(told), 2)
        self.assertTrue(all(now.states <= result.states for now in told))
        self.assertRegex(str(told[-1]), r"\d+.* states")

    def test_an_error_of_whoever_is_told_ends_the_search(self):
        def refuse(now):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            lockstep.system("quick-release").check("ring-wg-agent", timeout=30, progress=refuse)

    def test_systems_say_what_they_are(self):
        listed = command.printed_json("list", "systems")["sections"][0]["items"]
        self.assertEqual(lockstep.systems(), {item["name"]: item["what"] for item in listed})
        for name in lockstep.systems():
            system = lockstep.system(name)
            sections = command.printed_json("list", name)["sections"]
            by_kind = {
                section["kind"]: {i["name"]: i["what"] for i in section["items"]} for section in sections
            }
            with self.subTest(system=name):
                self.assertEqual(system.variants, by_kind["variants"])
                self.assertEqual(system.faults, by_kind["faults"])
                self.assertEqual(list(system.sizes), list(by_kind["sizes"]))
                for size, what in by_kind["sizes"].items():
                    one = system.sizes[size]
                    self.assertEqual(re.split(r" {2,}", what.strip()), [str(one.capacity), one.default])


if __name__ == "__main__":
    unittest.main()
