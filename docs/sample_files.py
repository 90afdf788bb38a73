"""Write the samples of `unda.datasets` that are made by a script, into python/unda/datasets.

salt.sgy: the section of examples/shot_gather.py, sampled every 25 m. kernels.json: of a measurement of DG's
kernels, what notebooks/07_kernels.ipynb draws.
Sample run: python docs/sample_files.py [FOLDER]   (needs segyio).
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import segyio

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))

from shot_gather import speed  # noqa: E402

STEP, SIZE, DEPTH = 25, 4000, 2000  # m
DATE = b"2026-11-27"  # of the section that is stored
MEASURED = ROOT / "benchmarks" / "results" / "h200_modave2016_kernels.json"


def salt(path):
    """Write a trace for each x: speeds [m/s] in IEEE floats, from the surface down."""
    x, depth = np.arange(0, SIZE + 1, STEP), np.arange(0, DEPTH + 1, STEP)
    spec = segyio.spec()
    spec.format, spec.samples, spec.tracecount = 5, depth, len(x)
    with segyio.create(str(path), spec) as file:
        file.text[0] = re.sub(rb"\d{4}-\d\d-\d\d", DATE, file.text[0])  # segyio writes today's
        file.bin[segyio.BinField.Interval] = 1000 * STEP  # "ms" are metres
        for i, one in enumerate(x):
            file.header[i] = {189: 1, 193: i + 1, 181: one, 185: 0, 71: 1, 117: 1000 * STEP}
            file.trace[i] = speed(float(one), 0.0, -depth.astype(float)).astype(np.float32)


def kernels(path):
    """Write the acoustic rows: time a node, and place of each function under the roof, to four digits."""

    def short(row):
        functions = {
            name: {key: float(f"{one[key]:.4g}") for key in ("flops_per_byte", "gflops")}
            for name, one in row["functions"].items()
        }
        time = float(f"{row['ns_per_node']:.4g}")
        return {"kernel": row["kernel"], "degree": row["degree"], "ns_per_node": time, "functions": functions}

    result = json.loads(MEASURED.read_text())
    limits = {key: result["limits"][key] for key in ("copy", "fma32")}
    rows = [short(row) for row in result["rows"] if row["physics"] == "acoustic"]
    kept = {"device": result["device"], "date": result["date"], "limits": limits, "rows": rows}
    Path(path).write_text(json.dumps(kept) + "\n")


def write(folder):
    """Write both."""
    salt(Path(folder) / "salt.sgy")
    kernels(Path(folder) / "kernels.json")


if __name__ == "__main__":
    write(sys.argv[1] if len(sys.argv) > 1 else ROOT / "python" / "unda" / "datasets")
