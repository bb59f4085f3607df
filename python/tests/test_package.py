"""The package itself: its stub and its docstrings say what there is; it needs no other package; it finds its data."""

import ast
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import command
import lockstep

FOLDER = Path(lockstep.__file__).parent
STUB = ast.parse((FOLDER / "__init__.pyi").read_text())


def public(names):
    return {name for name in names if not name.startswith("_")}


def arguments_of(function):
    """As a stub has them: names in order, '*' where those that follow are by name alone."""
    arguments = [argument.arg for argument in function.args.args]
    if function.args.kwonlyargs:
        arguments += ["*", *(argument.arg for argument in function.args.kwonlyargs)]
    return arguments


def documented_arguments(docstring):
    """The same, as the first line of a docstring says them."""
    line = docstring.splitlines()[0]
    names = line[line.index("(") + 1 : line.rindex(")")]
    depth, parts = 0, [""]
    for letter in names:
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.split(":")[0].split("=")[0].strip() for part in parts if part.strip()]


class Stub(unittest.TestCase):
    def test_it_has_what_the_module_has(self):
        classes = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
        functions = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(set(lockstep.__all__), public(classes) | public(functions))
        self.assertEqual(set(lockstep.__all__), public(vars(lockstep)) - {"annotations"})
        for name, node in functions.items():
            with self.subTest(function=name):
                self.assertEqual(documented_arguments(getattr(lockstep, name).__doc__), arguments_of(node))

    def test_it_has_what_the_classes_have(self):
        for node in STUB.body:
            if not isinstance(node, ast.ClassDef) or node.name in ("BadInput", "BrokenRule"):
                continue
            ours = getattr(lockstep, node.name)
            members = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
            with self.subTest(of=node.name):
                self.assertEqual(public(members), public(vars(ours)))
                for name, member in members.items():
                    if name.startswith("_"):
                        continue
                    is_property = any(getattr(d, "id", "") == "property" for d in member.decorator_list)
                    self.assertEqual(is_property, isinstance(vars(ours)[name], property), name)
                    if not is_property:
                        self.assertEqual(
                            documented_arguments(getattr(ours, name).__doc__), arguments_of(member), name
                        )

    def test_everything_says_what_it_is(self):
        for name in lockstep.__all__:
            thing = getattr(lockstep, name)
            self.assertTrue(thing.__doc__, name)
            self.assertEqual(thing.__module__, "lockstep", name)
            text = thing.__doc__ if isinstance(thing, type) else "\n".join(thing.__doc__.splitlines()[1:])
            self.assertTrue(text.strip(), name)
            self.assertNotIn("_lockstep", text)
            self.assertFalse([line for line in text.splitlines() if len(line) > 120], name)

    def test_it_is_typed(self):
        self.assertTrue((FOLDER / "py.typed").exists())

    def test_values_print(self):
        test = lockstep.test("mp-agent")
        model = lockstep.system("quick-release").model(test)
        state = model.initial()[0]
        trace = lockstep.system("german", faults=["grant-without-invalidating"]).check().trace
        simulation = lockstep.simulate("copy", sizes={"words": 256})
        for value in (
            test,
            test.on("sc"),
            test.under("sc"),
            lockstep.model("sc"),
            test.progress("sc"),
            lockstep.litmus([test], ["sc"]),
            lockstep.system("sc"),
            lockstep.system("quick-release").sizes["s-fifo1-entries"],
            model,
            model.rules[0],
            model.explore(),
            state,
            state.enabled[0],
            state.enabled[0].narration[0],
            state.enabled[0].changes[0],
            trace,
            trace.steps[0],
            simulation,
            lockstep.sample(test, runs=2),
        ):
            self.assertRegex(repr(value), r"^<lockstep\.[A-Z]\w+ .*>$")


class Alone(unittest.TestCase):
    def run_python(self, code, *flags, **variables):
        environment = {name: value for name, value in os.environ.items() if name != "LOCKSTEP_HOME"}
        # Python imports what lies where it is started: a folder with nothing in it.
        with tempfile.TemporaryDirectory() as elsewhere:
            done = subprocess.run(
                [sys.executable, *flags, "-c", code],
                capture_output=True,
                text=True,
                env=environment | variables,
                cwd=elsewhere,
                timeout=120,
            )
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_it_needs_neither_numpy_nor_pandas(self):
        code = """
import sys
sys.modules["numpy"] = sys.modules["pandas"] = None
import lockstep
run = lockstep.test("mp-agent").on("quick-release")
print(len(run.outcomes), len(run.fired) > 0)
state = lockstep.system("quick-release").model("mp-agent").initial()[0]
print(len(state.enabled) > 0, hash(state) != 0)
lockstep.simulate("copy", sizes={"words": 256}).figures
for ask in (run.frame, run.rules, run.array, lambda: state.packed):
    try:
        ask()
    except ImportError as error:
        print(error)
"""
        said = self.run_python(code).splitlines()
        self.assertEqual(said[:2], ["2 True", "True True"])
        self.assertEqual(said[2:4], ["frames need pandas: apt-get install python3-pandas"] * 2)
        self.assertEqual(len(said), 6)
        self.assertTrue(all("numpy" in line for line in said[4:]))

    def test_importing_it_imports_neither(self):
        said = self.run_python("import sys, lockstep; print({'numpy', 'pandas'} & set(sys.modules))")
        self.assertEqual(said, "set()\n")

    def test_it_finds_what_comes_with_it_from_anywhere(self):
        said = self.run_python(
            "import lockstep; print(lockstep.home(), len(lockstep.tests()) > 100, len(lockstep.models()) > 5)"
        )
        home, *others = said.split()
        self.assertEqual(others, ["True", "True"])
        self.assertTrue((Path(home) / "litmus").is_dir())
        listed = command.run("list", "tests")[1].splitlines()[0].removeprefix("Tests in ")
        self.assertTrue((Path(home) / "litmus").samefile(listed))

    def test_lockstep_home_comes_first(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "litmus").mkdir()
            test = lockstep.home() / "litmus" / "mp" / "mp-agent.litmus"
            (Path(folder) / "litmus" / "mine.litmus").write_text(
                test.read_text().replace("mp-agent", "mine", 1)
            )
            said = self.run_python(
                "import lockstep; print(lockstep.home(), list(lockstep.tests()))", LOCKSTEP_HOME=folder
            )
            self.assertEqual(said, f"{folder} ['mine']\n")

    def test_it_is_as_new_as_the_command(self):
        self.assertEqual(command.run("--version")[1], f"lockstep {lockstep.__version__}\n")


if __name__ == "__main__":
    unittest.main()
