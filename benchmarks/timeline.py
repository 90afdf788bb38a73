"""Draw which kernels run when on the devices of a team: what of the exchange is hidden behind inner cells.

``python benchmarks/timeline.py --case hex7 --nodes 16e6 --out timeline.json`` records four steps with CUPTI,
which PyTorch's profiler brings, and draws them; ``--draw timeline.json`` draws again. The first of the steps
has waited for the host. Not here: rates (``unda bench scaling``).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

OPTIONS = {"dtype": "float32", "integrator": "ab3", "physics": "acoustic"}
STEPS = 4


def recorded(case_name, nodes, devices):
    """Return a row for each kernel: begin and duration [us], device, stream, name, blocks."""
    import torch
    from torch.profiler import ProfilerActivity, profile
    from unda.commands import scaling_case

    case = scaling_case.CASES[case_name]
    for device in devices:
        torch.zeros(1, device=device)  # so that CUPTI knows it
    with scaling_case.simulation(
        case, scaling_case.problem(case, nodes, len(devices)), OPTIONS, devices
    ) as sim:
        sim.step(48)
        with profile(activities=[ProfilerActivity.CUDA]) as found:
            sim.step(STEPS)
            for device in devices:
                torch.cuda.synchronize(device)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trace.json")
            found.export_chrome_trace(str(path))
            events = [
                one for one in json.loads(path.read_text())["traceEvents"] if one.get("cat") == "kernel"
            ]
    first = min(one["ts"] for one in events)
    return sorted(
        [one["ts"] - first, one["dur"], one["args"]["device"], one["args"]["stream"], one["name"],
         one["args"]["grid"][0]]
        for one in events if one["name"] != "find_bad"
    )  # fmt: skip


def draw(path, result):
    """Draw a line for each stream of each device."""
    import matplotlib.pyplot as plt

    rows = result["rows"]
    streams = sorted({(row[2], row[3]) for row in rows})
    colors = {"traces": "#e07b1a"}
    figure, axes = plt.subplots(figsize=(9, 2.6), constrained_layout=True)
    for begin, took, device, stream, name, _ in rows:
        color = colors.get(name, "#1f5fa8")
        axes.barh(
            streams.index((device, stream)), took, left=begin, height=0.7, color=color, edgecolor="white"
        )
    first = {device: min(s for d, s in streams if d == device) for device, _ in streams}
    axes.set_yticks(
        range(len(streams)),
        [
            f"device {device}: {'inner' if stream == first[device] else 'border'} cells"
            for device, stream in streams
        ],
    )
    axes.set(xlabel="microseconds", title=f"{result['device']}, {result['case']}: cells blue, traces orange")
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", default="hex7", help="of DG, as of `unda bench scaling`")
    parser.add_argument("--nodes", type=float, default=16e6, help="of a device")
    parser.add_argument("--devices", default="cuda:0,cuda:1")
    parser.add_argument("--out", type=Path, default=Path("timeline.json"), help="a PNG goes beside it")
    parser.add_argument("--draw", type=Path, help="draw this result, measure nothing")
    given = parser.parse_args()
    if given.draw:
        draw(given.draw.with_suffix(".png"), json.loads(given.draw.read_text()))
        return
    from unda.commands.measuring import origin

    devices = given.devices.split(",")
    rows = recorded(given.case, given.nodes, devices)
    head = {"benchmark": "timeline", **origin(devices[0], None), "case": given.case, "nodes": given.nodes}
    result = {**head, **OPTIONS, "devices": devices, "rows": rows}
    given.out.write_text(json.dumps(result))
    draw(given.out.with_suffix(".png"), result)


if __name__ == "__main__":
    main()
