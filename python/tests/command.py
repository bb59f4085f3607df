"""The command `lockstep`, which the package is held against."""

import json
import os
import subprocess

path = os.environ["LOCKSTEP_COMMAND"]


def run(*arguments):
    """Its status, and what it said on stdout and stderr."""
    done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=240)
    return done.returncode, done.stdout, done.stderr


def printed_json(*arguments):
    """What it prints as JSON, whatever its status."""
    status, out, error = run(*arguments, "--json")
    assert status in (0, 1, 3), error
    return json.loads(out)
