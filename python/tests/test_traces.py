"""Traces outlive their run: the command fires again what was saved here, and the other way round."""

import json
import tempfile
import unittest
from pathlib import Path

import command
import lockstep


class Traces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "t.json"

    def test_a_saved_trace_is_fired_again_by_the_command(self):
        trace = lockstep.system("quick-release", faults=["no-broadcast"]).check("false-sharing-agent").trace
        trace.save(self.file)
        status, out, error = command.run("replay", self.file)
        self.assertEqual((status, error), (0, ""))
        self.assertTrue(out.startswith(trace.text()) or trace.text() in out)
        self.assertIn(trace.end, out)

    def test_a_trace_of_the_commands_is_read(self):
        command.run("check", "german", "--fault", "grant-without-invalidating", "--trace", self.file)
        trace = lockstep.load_trace(self.file)
        self.assertEqual(trace.system, "german, fault grant-without-invalidating")
        self.assertIsNone(trace.client)
        self.assertEqual(trace.steps[0].rule, "starts")
        replayed = trace.replay()
        self.assertIsNone(replayed.difference)
        self.assertIsNone(replayed.step)
        self.assertEqual(replayed.trace.text(), trace.text())

    def test_a_trace_that_no_longer_runs_says_where(self):
        lockstep.system("quick-release", faults=["no-broadcast"]).check("false-sharing-agent").trace.save(
            self.file
        )
        text = json.loads(self.file.read_text())
        text["faults"] = []
        self.file.write_text(json.dumps(text))
        self.assertEqual(command.run("replay", self.file)[0], 1)
        replayed = lockstep.load_trace(self.file).replay()
        self.assertIsNotNone(replayed.difference)
        self.assertIsInstance(replayed.step, int)

    def test_what_is_narrated_is_what_changes(self):
        trace = lockstep.system("german", faults=["grant-without-invalidating"]).check().trace
        self.assertEqual(len(trace), len(trace.steps))
        changed = [change for step in trace.steps[1:] for fired in step.narration for change in fired.changes]
        self.assertTrue(changed)
        self.assertTrue(all(change.before != change.after for change in changed))

    def test_what_is_no_trace_is_refused(self):
        self.file.write_text("{}")
        with self.assertRaises(lockstep.BadInput) as caught:
            lockstep.load_trace(self.file)
        self.assertEqual(caught.exception.file, str(self.file))
        with self.assertRaises(lockstep.BadInput):
            lockstep.load_trace(self.file.with_name("none.json"))
        trace = lockstep.system("german", faults=["grant-without-invalidating"]).check().trace
        with self.assertRaises(lockstep.BadInput):
            trace.save(self.file.parent / "no" / "folder" / "t.json")


if __name__ == "__main__":
    unittest.main()
