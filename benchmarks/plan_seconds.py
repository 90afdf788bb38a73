"""Run what plans propose, and compare seconds and errors with those that they say.

For each proposal of a cube of so many wavelengths the domain itself is made and its steps are timed; the
error is that of ``check``, along the way of the plan.
``python benchmarks/plan_seconds.py --device cuda --way 20 -o FILE``.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import unda
from unda.commands.measuring import heading
from unda.limits import device_limits

MEDIA = {
    "acoustic": unda.Acoustic(rho=1000.0, c=1500.0),
    "elastic": unda.Elastic(rho=2200.0, vp=3000.0, vs=1600.0),
    "maxwell": unda.Maxwell(eps=4 * unda.EPS0, mu=unda.MU0),
}
SLOWEST = {"acoustic": 1500.0, "elastic": 1600.0, "maxwell": 299792458.0 / 2}
LENGTH = 10.0  # of the shortest wave [m]


def simulation(one: Any, medium: unda.Medium, edge: float, device: str) -> Any:
    """Return the proposal's run in its domain."""
    if one.method == "FD":
        n = round(edge / one.spacing) + 1
        return unda.FD(unda.Grid((n,) * 3, one.spacing), medium, device=device, **one.options)
    n = math.ceil(edge / one.cell)
    box = unda.box_mesh((0, 0, 0), (n * one.cell,) * 3, (n,) * 3, shape=one.kind)
    kind = unda.DG if one.method == "DG" else unda.SEM
    return kind(box, medium, device=device, **one.options)


def step_time(sim: Any, seconds: float) -> float:
    """Return the seconds of a step, in calls of about so many."""
    sim.step(2)
    num, took = 2, 0.0
    while took < seconds / 2:
        num *= 2
        begin = time.perf_counter()
        sim.step(num)
        took = time.perf_counter() - begin
    return took / num


def runs(physics: str, device: str, way: float, seconds: float) -> list[dict[str, Any]]:
    """Run the proposals of a plan."""
    edge = LENGTH * way
    found = unda.plan(MEDIA[physics], SLOWEST[physics] / LENGTH, error=0.01, distance=edge, device=device)
    print(found, flush=True)
    made = []
    for one in found:
        with simulation(one, MEDIA[physics], edge, device) as sim:
            step = step_time(sim, seconds)
        made.append(
            {"physics": physics, "method": f"{one.method} {one.kind}", "degree": one.degree,
             "wavelengths": way, "nodes": one.num_node, "steps": one.steps, "seconds_said": one.seconds,
             "seconds": step * one.steps, "error_said": one.error, "error": one.check()}
        )  # fmt: skip
        print(made[-1], flush=True)
    return made


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--way", type=float, default=8.0, help="edge of the cube, in shortest wavelengths")
    parser.add_argument("--seconds", type=float, default=2.0, help="to time steps")
    parser.add_argument("-o", "--output", type=Path, default=Path("plan_seconds.json"))
    args = parser.parse_args()
    head = {"benchmark": "plan_seconds", **heading(args.device, device_limits(args.device), None)}
    made = [one for name in MEDIA for one in runs(name, args.device, args.way, args.seconds)]
    args.output.write_text(json.dumps(head | {"runs": made}, indent=1) + "\n")


if __name__ == "__main__":
    main()
