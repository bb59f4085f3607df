"""What cannot be used is refused with the place, the reason and the nearest name; nothing ends the interpreter."""

import os
import tempfile
import unittest
from pathlib import Path

import lockstep


class Errors(unittest.TestCase):
    def refused(self, call, *said, hint=None, **where):
        with self.assertRaises(lockstep.BadInput) as caught:
            call()
        error = caught.exception
        for text in said:
            self.assertIn(text, str(error))
        if hint is not None:
            self.assertEqual(error.hint, hint)
            self.assertIn(f"hint: {hint}", str(error))
        for name, value in where.items():
            self.assertEqual(getattr(error, name), value)
        self.assertIn(error.message, str(error))
        return error

    def test_it_is_an_error_of_value(self):
        self.assertTrue(issubclass(lockstep.BadInput, ValueError))
        self.assertEqual(lockstep.BadInput.__module__, "lockstep")

    def test_an_error_in_a_test_has_its_place(self):
        text = "HRF broken\n{ x = 0; }\n P0@wg 0,agent 0 ;\n lod r0, x ;\nexists (P0:r0 == 1)\n"
        error = self.refused(
            lambda: lockstep.parse(text, "broken.litmus"),
            "broken.litmus:4:2: error: ",
            "4 |  lod r0, x ;",
            "^",
            file="broken.litmus",
            line=4,
            column=2,
        )
        self.assertIn("ld", error.hint)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "broken.litmus"
            file.write_text(text)
            for name in (file, str(file)):
                self.refused(lambda: lockstep.test(name), file=str(file), line=4, column=2)

    def test_names_lead_to_the_nearest(self):
        test = lockstep.test("mp-agent")
        meant = "did you mean '{}'?".format
        for call, name in (
            (lambda: lockstep.test("mp-agnt"), "mp-agent"),
            (lambda: lockstep.system("quick-relaese"), "quick-release"),
            (lambda: lockstep.system("quick-release/split-fif"), "split-fifo"),
            (lambda: lockstep.system("quick-release", variant="split-fif"), "split-fifo"),
            (lambda: lockstep.system("write-through", faults=["aquire-keeps-l1"]), "acquire-keeps-l1"),
            (lambda: lockstep.system("quick-release", sizes={"s-fifo1-entris": 2}), "s-fifo1-entries"),
            (lambda: test.on("write-trough"), "write-through"),
            (lambda: test.on("quick-release", variant="split-fif"), "split-fifo"),
            (lambda: test.on("write-through", faults=["aquire-keeps-l1"]), "acquire-keeps-l1"),
            (lambda: test.on("sc", no_reduce=["stuborn"]), "stubborn"),
            (lambda: test.on("sc").find({"P1:r2": 0}), None),
            (lambda: test.under("ptx-v6"), "ptx-v6.0"),
            (lambda: test.progress("sc", scheduler="obee"), "obe"),
            (lambda: test.progress("sc", situation="residnt"), "resident"),
            (lambda: test.progress("sc", fairness="weka"), "weak"),
            (lambda: lockstep.litmus([test], ["sc"], against=["hrf-indirct"]), "hrf-indirect"),
            (lambda: lockstep.system("sc").model("mp-agnt"), "mp-agent"),
            (
                lambda: lockstep.system("sc").model(test).initial()[0].field("memory.port(0).don"),
                "memory.port(0).done",
            ),
            (lambda: lockstep.simulate("stencl"), "stencil"),
            (lambda: lockstep.simulate("stencil", on="write-trough"), "write-through"),
            (lambda: lockstep.simulate("stencil", faults=["aquire-keeps-l1"]), "acquire-keeps-l1"),
        ):
            with self.subTest(name=name):
                error = self.refused(call)
                if name:
                    self.assertEqual(error.hint, meant(name))

    def test_numbers_are_checked(self):
        test = lockstep.test("mp-agent")
        for limit in (
            {"threads": 0},
            {"threads": -1},
            {"threads": 5000},
            {"timeout": 0},
            {"timeout": -1.0},
            {"timeout": float("nan")},
            {"memory": 0},
            {"memory": float("inf")},
        ):
            with self.subTest(limit=limit):
                name = next(iter(limit))
                self.refused(lambda: test.on("sc", **limit), f"{name}=")
        self.refused(
            lambda: lockstep.system("quick-release", sizes={"s-fifo1-entries": 1000}), "s-fifo1-entries=1000"
        )
        self.refused(lambda: test.on("sc", sizes={"threads": 1}))
        self.refused(lambda: lockstep.sample(test, runs=0))
        self.refused(lambda: lockstep.sample(test, jitter=-1))
        self.refused(lambda: lockstep.simulate("copy", cus=-1))

    def test_files_are_checked(self):
        with tempfile.TemporaryDirectory() as folder:
            none = Path(folder) / "none.litmus"
            self.refused(lambda: lockstep.test(none), "none.litmus", file=str(none))
            self.refused(lambda: lockstep.test(folder), "is a folder", file=folder)
            for name, content in (
                ("empty", b""),
                ("garbage", os.urandom(4096)),
                ("latin", "HRF caf\u00e9\n{ x = 0; }\n \u00e9".encode("latin-1")),
                ("long", b"HRF long\n" + b"x" * (2 << 20)),
            ):
                file = Path(folder) / f"{name}.litmus"
                file.write_bytes(content)
                with self.subTest(file=name):
                    self.refused(lambda: lockstep.test(file), f"{name}.litmus", file=str(file))
            odd = os.fsdecode(b"caf\xe9.litmus")  # as a name in Latin-1 comes out of a folder
            self.refused(lambda: lockstep.test(Path(folder) / odd), "caf\ufffd.litmus")
            machine = Path(folder) / "m.toml"
            machine.write_text("name = 'm'\nthis is no TOML\n")
            error = self.refused(lambda: lockstep.simulate("copy", machine=machine), file=str(machine))
            self.assertEqual(error.line, 2)
            model = Path(folder) / "m.cat"
            model.write_text('"m"\nacyclic po | rff as c\n')
            self.refused(lambda: lockstep.test("mp-agent").under(model), file=str(model), line=2)
            self.refused(lambda: lockstep.model(Path(folder) / "none.cat"), "none.cat")

    def test_what_does_not_fit_is_said(self):
        launches = next(name for name in lockstep.tests() if lockstep.test(name).launches)
        self.refused(lambda: lockstep.test(launches).on("sc"))
        self.refused(lambda: lockstep.test(launches).under("sc"), "models judge programs")
        self.refused(lambda: lockstep.test(launches).progress(), "schedulers run programs")
        self.refused(lambda: lockstep.test("mp-agent").on("cpcoh"))
        self.refused(lambda: lockstep.test("mp-agent").on("german"))
        self.refused(lambda: lockstep.system("quick-release").check(), "needs a program")
        self.refused(lambda: lockstep.system("quick-release").model(), "needs a program")
        self.refused(lambda: lockstep.litmus(["mp-agent"], ["cpcoh"]))
        self.refused(lambda: lockstep.simulate("all"), "several workloads")
        self.refused(lambda: lockstep.simulate("copy", set={"memory.queu": 1}))
        self.refused(lambda: lockstep.simulate(lockstep.test(launches)))
        threads = "HRF many\n{ x = 0; }\n" + " | ".join(f" P{i}@wg {i},agent 0" for i in range(40)) + " ;\n"
        threads += " | ".join(" st x, 1" for _ in range(40)) + " ;\nexists (x == 1)\n"
        self.refused(lambda: lockstep.parse(threads).on("sc"))

    def test_a_value_that_does_not_fit_is_said_with_a_remedy(self):
        text = "HRF grows\n{ x = 0; }\n P0@wg 0,agent 0 ;\n L: ;\n ld r0, x ;\n add r0, r0, 1 ;\n st x, r0 ;\n goto L ;\nexists (x == 1)\n"
        try:
            test = lockstep.parse(text)
        except lockstep.BadInput as error:
            self.fail(str(error))
        error = self.refused(lambda: test.on("sc"), "computes")
        self.assertIn("unroll", error.hint)
        state = lockstep.system("sc").model(test).initial()[0]

        def walk():
            at = state
            for _ in range(300_000):
                at = at.enabled[0].after

        error = self.refused(walk, "computes")
        self.assertIn("unroll", error.hint)

    def test_wrong_types_are_errors_of_type(self):
        test = lockstep.test("mp-agent")
        for call in (
            lambda: test.on(3),
            lambda: test.on("sc", faults="acquire-keeps-l1"),
            lambda: test.on("sc", sizes=["threads=1"]),
            lambda: lockstep.test(None),
            lambda: lockstep.parse(3),
            lambda: test.on("sc", "default"),
            lambda: lockstep.system("sc").model(test).initial()[0].take(3),
        ):
            with self.assertRaises(TypeError):
                call()


if __name__ == "__main__":
    unittest.main()
