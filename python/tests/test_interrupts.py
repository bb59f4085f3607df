"""Ctrl-C, limits of time, and threads: a long call is never in the way."""

import signal
import subprocess
import sys
import threading
import time
import unittest

import lockstep

# What would take long, of each kind of call.
LONG = {
    "check": 'lockstep.system("quick-release").check("ring-wg-agent")',
    "check, two threads": 'lockstep.system("quick-release").check("ring-wg-agent", threads=2)',
    "explore": 'lockstep.system("quick-release").model("ring-wg-agent").explore()',
    "on": 'lockstep.test("ring-wg-agent").on("quick-release")',
    "find": 'lockstep.test("ring-wg-agent").on("quick-release", timeout=0.1).find({})',
    "litmus": 'lockstep.litmus(["ring-wg-agent"], ["quick-release"])',
    "progress": 'lockstep.test("sync-g-srb").progress("quick-release")',
    "simulate": 'lockstep.simulate("ring-wg-agent", on="quick-release")',
    "sample": 'lockstep.sample("mp-agent", runs=100_000_000)',
}

CHILD = """
import signal, sys, time
import lockstep
print("begins", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    # All is as before.
    assert lockstep.test("mp-agent").on("sc").observation == "never"
    print("goes on", flush=True)
else:
    print("ended by itself", flush=True)
"""


def child(code):
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


class CtrlC(unittest.TestCase):
    def test_it_ends_every_kind_of_call_within_a_second(self):
        for name, call in LONG.items():
            with self.subTest(call=name):
                process = child(CHILD.format(call=call))
                self.assertEqual(process.stdout.readline(), "begins\n")
                time.sleep(0.5)
                self.assertIsNone(process.poll())
                process.send_signal(signal.SIGINT)
                sent = time.monotonic()
                said = process.stdout.readline()
                seconds = time.monotonic() - sent
                out, error = process.communicate(timeout=60)
                self.assertEqual((said, out, error), ("interrupted\n", "goes on\n", ""))
                self.assertLess(seconds, 1)

    def test_handlers_of_other_signals_run_meanwhile(self):
        code = """
import signal, lockstep
def handler(number, frame): raise TimeoutError("time is up")
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    lockstep.system("quick-release").check("ring-wg-agent")
except TimeoutError as error:
    print(error)
"""
        out, error = child(code).communicate(timeout=60)
        self.assertEqual((out, error), ("time is up\n", ""))

    def test_python_ends_although_a_daemon_is_in_a_call(self):
        code = """
import threading, time, lockstep
threading.Thread(target=lambda: lockstep.system("quick-release").check("ring-wg-agent"), daemon=True).start()
class Slow:  # so that there is time for the other thread to meet an interpreter that is gone
    def __del__(self, sleep=time.sleep): sleep(1)
slow = Slow()
time.sleep(0.5)
print("ends", flush=True)
"""
        process = child(code)
        self.assertEqual(process.stdout.readline(), "ends\n")
        ended = time.monotonic()
        out, error = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - ended, 3)
        self.assertEqual((process.returncode, out, error), (0, "", ""))


class Limits(unittest.TestCase):
    def test_times_are_kept(self):
        for call, status in (
            ('test("ring-wg-agent").on("quick-release", timeout=0.5).status', "out of time"),
            ('system("quick-release").check("ring-wg-agent", timeout=0.5).message', "out of time"),
            ('simulate("ring-wg-agent", timeout=0.5).end("write-through")', "interrupted"),
        ):
            began = time.monotonic()
            with self.subTest(call=call):
                self.assertEqual(eval(f"lockstep.{call}"), status)
                self.assertLess(time.monotonic() - began, 3)


class Threads(unittest.TestCase):
    def test_a_call_does_not_hold_up_other_threads(self):
        counted = 0
        working = threading.Event()
        working.set()

        def count():
            nonlocal counted
            while working.is_set():
                counted += 1
                time.sleep(0.005)

        counter = threading.Thread(target=count)
        counter.start()
        lockstep.system("quick-release").check("ring-wg-agent", timeout=1)
        working.clear()
        counter.join()
        self.assertGreater(counted, 40)

    def test_calls_of_several_threads_run_at_the_same_time(self):
        # Each is seen at work while the other one is.
        both = threading.Barrier(2, timeout=30)
        results = {}

        def check(name):
            met = False

            def told(now):
                nonlocal met
                if not met:
                    both.wait()
                    met = True

            results[name] = lockstep.system(name).check("ring-wg-agent", timeout=2, progress=told)
            results[name, "met"] = met

        threads = [threading.Thread(target=check, args=[name]) for name in ("quick-release", "write-through")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(results["quick-release", "met"] and results["write-through", "met"])
        for name in ("quick-release", "write-through"):
            self.assertGreater(results[name].states, 1000)

    def test_results_are_those_of_one_after_the_other(self):
        tests = ["mp-agent", "sb-plain-agent", "try-lock-agent", "mp-agent-unguarded"] * 3
        alone = {name: lockstep.test(name).on("quick-release").outcomes for name in tests}
        together = [None] * len(tests)

        def run(i):
            together[i] = lockstep.test(tests[i]).on("quick-release").outcomes

        threads = [threading.Thread(target=run, args=[i]) for i in range(len(tests))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(together, [alone[name] for name in tests])


if __name__ == "__main__":
    unittest.main()
