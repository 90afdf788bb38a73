"""Functions that the processes of test_sweep.py import."""

import glob
import os
import signal
import sys
import time

import unda


def run(degree, device="cpu", kind="tetrahedra"):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 1, 1), shape="tet" if kind == "tetrahedra" else "hex")
    make, field = (unda.SEM, "chi_t") if kind == "sem" else (unda.DG, "p")
    with make(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=degree, device=device) as sim:
        sim.set(**{field: 1.0})
        sim.step(2)
        return sim.energy(), os.getpid(), sim.config["threads"], device


def fail_on_two(degree):
    if degree == 2:
        raise ValueError("no twos")
    if degree == 3:
        os._exit(1)
    if degree == 4:
        sys.exit(3)
    return degree


def note(folder, i):
    with open(os.path.join(folder, f"ran_{i}"), "a") as file:
        file.write("x")
    return i * i


def parts(degree):
    return {"half": fail_on_two(degree) / 2, "name": "one"}


def total(values):
    return float((values - 1).sum())


def wait_for(path):
    """Wait until a file of this pattern is there; in a process that nobody ends, not for ever."""
    for _ in range(30_000):
        if glob.glob(str(path)):
            return
        time.sleep(0.02)
    raise TimeoutError(path)


def last_first(folder, i, together):
    """Of the cases that are to run together the last one ends first."""
    if i + 1 < together:
        wait_for(os.path.join(folder, f"done_{i + 1}"))
    open(os.path.join(folder, f"done_{i}"), "w").close()
    return i, os.getpid(), os.environ["OMP_NUM_THREADS"], os.environ.get("UNDA_DEVICE")


def first_then_wait(folder, i):
    """Case 0 is done at once; the others tell who they are and wait for what never comes."""
    if i > 0:
        with open(os.path.join(folder, f"pid_{i}.tmp"), "w") as file:
            file.write(str(os.getpid()))
        os.rename(os.path.join(folder, f"pid_{i}.tmp"), os.path.join(folder, f"pid_{i}"))
        wait_for(os.path.join(folder, "never"))
    return i


def interrupt_the_sweep(folder, i):
    """Case 1 sends Ctrl-C to the sweep and ends when that has seen it; what comes later takes its time.

    A sweep that goes on afterwards must not be interrupted: it may be the one of pytest.
    """
    seen = os.path.join(folder, "seen")
    if i == 1 and not os.path.exists(seen):
        wait_for(os.path.join(folder, "cache", "*.pkl"))  # until the sweep has kept case 0
        time.sleep(0.1)  # and only waits
        os.kill(os.getppid(), signal.SIGINT)
        wait_for(seen)
    if i > 1:
        time.sleep(0.2)
    return i


def interrupt_oneself(i):
    if i == 1:
        raise KeyboardInterrupt
    return i


def kind(value):
    return type(value).__name__


def given(value):
    return value


class WorkerLost(BaseException):
    """Ends a worker of the tests' executor."""


def lose_on_one(folder, i):
    value = note(folder, i)
    if i == 1:
        raise WorkerLost
    return value


def begin(word):
    os.environ["UNDA_SWEEP_BEGUN"] = word


def die_on_three(i):
    if i == 3:
        os._exit(1)
    return i, os.getpid(), os.environ["UNDA_SWEEP_BEGUN"], os.environ["OMP_NUM_THREADS"]


def told(device):
    return device


def wait_the_first_time(folder, i):
    """Case 0 tells who it is and waits for its end; when it runs once more it is done at once."""
    mark = os.path.join(folder, f"pid_{i}")
    if i == 0 and not os.path.exists(mark):
        with open(mark + ".tmp", "w") as file:
            file.write(str(os.getpid()))
        os.rename(mark + ".tmp", mark)
        wait_for(os.path.join(folder, "never"))
    return i


def unsendable(i):
    return (one for one in ()) if i == 1 else i
