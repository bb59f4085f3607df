"""The notebook shows what its cells print: run here cell by cell, and by Jupyter where there is one."""

import ast
import contextlib
import importlib.util
import io
import json
import os
import unittest
from pathlib import Path

import pandas

NOTEBOOK = Path(__file__).parent.parent / "example.ipynb"


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shown(cell):
    """As text: what it printed, and the value of its last line."""
    printed, value = "", None
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            printed += "".join(output["text"])
        else:
            value = "".join(output["data"]["text/plain"])
    return printed, value


def run(source, names):
    """The same of a cell that is run in `names`."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        if last:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), None if value is None else repr(value)


class Notebook(unittest.TestCase):
    def setUp(self):
        self.notebook = json.loads(NOTEBOOK.read_text())
        self.cells = code_cells(self.notebook)

    def test_it_was_run_in_order(self):
        self.assertEqual(
            [cell["execution_count"] for cell in self.cells], list(range(1, len(self.cells) + 1))
        )
        self.assertTrue(any(shown(cell)[1] for cell in self.cells))

    def test_its_cells_say_what_it_shows(self):
        names = {}
        # Frames are as wide in a notebook, whatever terminal there is.
        pandas.set_option("display.max_columns", 20, "display.width", 80)
        for number, cell in enumerate(self.cells, 1):
            with self.subTest(cell=number):
                self.assertEqual(run("".join(cell["source"]), names), shown(cell))

    @unittest.skipUnless(
        importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel"),
        "Jupyter is not installed",
    )
    def test_jupyter_runs_it(self):
        os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
        import nbclient
        import nbformat

        again = nbformat.reads(NOTEBOOK.read_text(), as_version=4)
        nbclient.NotebookClient(again, timeout=120).execute()
        for before, after in zip(self.cells, code_cells(again), strict=True):
            self.assertEqual(shown(after), shown(before))


if __name__ == "__main__":
    unittest.main()
