"""The document shows what happens."""

import doctest
import os
import tempfile
import unittest
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


class Readme(unittest.TestCase):
    def test_it_shows_what_happens(self):
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            self.addCleanup(os.chdir, here)
            options = doctest.NORMALIZE_WHITESPACE
            failed, tried = doctest.testfile(str(README), module_relative=False, optionflags=options)
            os.chdir(here)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 20)


if __name__ == "__main__":
    unittest.main()
