"""One wave on two devices
=======================

One wave on two devices: the traces are those of one, bit for bit.

Needs a CUDA device; a single one has both parts, which shows the same but is no faster. What travels between
them, and when: docs/scaling.md. --quick: a small box, for tests.
"""

import sys

import numpy as np
import unda

cells = 2 if "--quick" in sys.argv else 24
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

assert traces[0].any()
assert np.array_equal(*traces), "the traces differ"
print(f"{traces[0].size} samples on {names[0]} and on {' + '.join(pair)}: the same bits")
