"""One wave on two devices
=======================

One wave on two devices: the traces are those of one, bit for bit.

Needs a CUDA device; a single one has both parts, which shows the same but is no faster. What travels between
them, and when: docs/scaling.md. Draws two_gpus.png where matplotlib is installed.
Sample run: python examples/two_gpus.py 24     (cells along an edge of the box; --quick: 2, for the tests)
"""

import sys

import numpy as np
import unda

given = sys.argv[1] if len(sys.argv) > 1 else "24"
cells = 2 if given == "--quick" else int(given)
names = [name for name in unda.devices() if name != "cpu"]
if not names:
    print("no CUDA device: this example needs one, better two; `unda info` says what was looked for")
    sys.exit()
if len(names) == 1:
    print(f"one device, {names[0]}: it has both parts")
pair = [names[0], names[-1]]

mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(cells,) * 3)
water = unda.Acoustic(rho=1000.0, c=1500.0)
traces = []
for device in (names[0], pair):
    sim = unda.DG(mesh, water, degree=4, boundary={"zmax": "free", "*": "absorbing"}, device=device)
    sim.add_source(unda.VolumeInjection((0.5, 0.5, 0.5), unda.ricker(250.0 * cells)))  # where parts meet
    rec = sim.add_receivers([(0.5, 0.5, 0.9), (0.2, 0.3, 0.4)], ["p"])
    sim.run(until=0.01 / cells)
    traces.append(rec["p"])
    print(sim)
print(sim.team)

try:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    sim.plot_slice("p", y=0.48, ax=left)
    right.plot(1e3 * rec.t, traces[1].T, lw=2.5)
    right.plot(1e3 * rec.t, traces[0].T, "k--", lw=0.8)
    right.set(xlabel="t [ms]", ylabel="p [Pa]", title="Traces of two devices (dashed: of one)")
    figure.savefig("two_gpus.png", dpi=110)
except ImportError:
    print("no picture: pip install 'unda-waves[plot]'")

assert traces[0].any()
assert np.array_equal(*traces), "the traces differ"
print(f"{traces[0].size} samples on {names[0]} and on {' + '.join(pair)}: the same bits")
