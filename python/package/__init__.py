"""Lockstep from Python: GPU coherence protocols and memory models, checked and simulated.

    import lockstep
    test = lockstep.test("mp-agent")
    print(test.on("quick-release").frame())          # outcomes, by exhaustive exploration
    print(test.under("ptx-v6.0").frame())            # what a model allows
    result = lockstep.system("quick-release", faults=["no-broadcast"]).check("false-sharing-agent")
    print(result.violated, result.trace.text())      # a shortest counterexample
    print(lockstep.simulate("stencil", on=["write-through", "quick-release"]).frame())

What cannot be used raises BadInput; a limit of time or memory is a status of the result; Ctrl-C raises
KeyboardInterrupt, however long a call has been going on. Calls that take long let other threads of Python run.
Frames need pandas and arrays numpy; nothing else does.
"""

from lockstep._lockstep import (
    AxiomaticModel,
    BadInput,
    BrokenRule,
    Change,
    Exploration,
    Fired,
    Model,
    Progress,
    Replay,
    Rule,
    Run,
    Samples,
    Search,
    Simulation,
    Size,
    State,
    Step,
    Suite,
    System,
    Test,
    Trace,
    TraceStep,
    Verdict,
    __version__,
    home,
    litmus,
    load_trace,
    model,
    models,
    parse,
    sample,
    schedulers,
    simulate,
    system,
    systems,
    test,
    tests,
    workloads,
)

__all__ = [
    "AxiomaticModel",
    "BadInput",
    "BrokenRule",
    "Change",
    "Exploration",
    "Fired",
    "Model",
    "Progress",
    "Replay",
    "Rule",
    "Run",
    "Samples",
    "Search",
    "Simulation",
    "Size",
    "State",
    "Step",
    "Suite",
    "System",
    "Test",
    "Trace",
    "TraceStep",
    "Verdict",
    "home",
    "litmus",
    "load_trace",
    "model",
    "models",
    "parse",
    "sample",
    "schedulers",
    "simulate",
    "system",
    "systems",
    "test",
    "tests",
    "workloads",
]
