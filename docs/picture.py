"""Draw docs/ten_lines.png: run the ten lines of README.md and picture what they computed.

Its metadata say from what it was made: tests/project/test_readme.py sees when it is out of date.

Sample run: python docs/picture.py    (needs matplotlib and pillow).
"""

import hashlib
import re
from pathlib import Path

import matplotlib.pyplot as plt
import unda

ROOT = Path(__file__).resolve().parent.parent


def code():
    """Return the first Python block of the README."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]


def ten_lines():
    """Run the first Python block of the README; returns its variables."""
    variables = {}
    exec(compile(code(), "README.md", "exec"), variables)
    return variables


def made_from(variables):
    """Return what a picture is made from: a hash of the code, and the largest of each trace [Pa]."""
    text = code() + Path(__file__).read_text()
    peaks = " ".join(f"{abs(trace).max():.3g}" for trace in variables["rec"]["p"])
    return {"Source": f"sha256 {hashlib.sha256(text.encode()).hexdigest()}, peaks {peaks} Pa"}


def draw(variables, name):
    """Draw a slice of the pressure, and the traces with the exact ones dashed."""
    sim, rec = variables["sim"], variables["rec"]
    exact = unda.exact.point_source(variables["medium"], variables["source"], walls={"zmax": "free"}).bind(
        sim.mesh
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    sim.plot_slice("p", y=500.0, ax=left)
    for point, trace in zip(rec.points, rec["p"], strict=True):
        right.plot(rec.t, trace, label="at ({:g}, {:g}, {:g}) m".format(*point))
        right.plot(rec.t, exact(*point, rec.t)["p"], "k--", lw=0.8)
    right.set(xlabel="t [s]", ylabel="p [Pa]", title="Receivers (dashed: exact)")
    right.legend()
    figure.savefig(name, dpi=80, metadata=made_from(variables), pil_kwargs={"optimize": True})


if __name__ == "__main__":
    draw(ten_lines(), ROOT / "docs" / "ten_lines.png")
