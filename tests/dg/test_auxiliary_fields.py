"""A physics with an auxiliary field, a memory variable, needs no more than its header.

The toy is acoustic.h with one field more: p relaxes towards a, which follows it,
  p_t + rho c^2 div v = -g (p - a),    a_t = (p - a) / tau.
a has no trace and no derivative; its equation is the local law. A plane wave of wave number k obeys q_t = M q
with a 3 x 3 matrix, whose exponential is the exact solution. Runs are in a process of their own, with a
library whose files that include acoustic.h are compiled with the toy.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import cuda_device
import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL = cuda_device.is_real()
EDITS = {
    "NUM_FIELD     4": "NUM_FIELD     5",
    "NUM_MATERIAL  2": "NUM_MATERIAL  4",
    "NUM_COEF      2": "NUM_COEF      4",
    "NUM_LOCAL     0": "NUM_LOCAL     2",
    "{{1, 0}, {1, 0}}": "{{1, 0}, {1, 0}, {1, 0}, {-1, 0}}",
    "coef[1] = rho * c * c;": "coef[1] = rho * c * c; coef[2] = material[2]; coef[3] = material[3];",
    "(void)material;\n    return 0;": "return material[2] + 1 / material[3];",
    "rhs[0] = -coef[1] * acc[0];": "VAL none = {0}; rhs[4] = none; rhs[0] = -coef[1] * acc[0];",
}
LAW = """
DEVICE void FN(local)(const VAL *q, const VAL *law, VAL *rhs)
{
    rhs[0] -= law[0] * (q[0] - q[4]);
    rhs[4] += law[1] * (q[0] - q[4]);
}
"""

#: In double precision, the only one that runs here.
COMPILED = [(f"dg/cpu_{name}", 64) for name in ("acoustic", "hex_acoustic")]

RUN = """
import sys
import numpy as np
import unda
from unda.problem.medium import Medium

class Relaxing(unda.Acoustic):
    fields = (*unda.Acoustic.fields, "a")
    units = {**unda.Acoustic.units, "a": "Pa"}
    parameters = {**unda.Acoustic.parameters, "g": "1/s", "tau": "s"}

    def __init__(self, **values):
        Medium.__init__(self, **values)

device, kernel, per, shape, degree = sys.argv[1:6]
rho, c, g, tau, k, t = 1.3, 1.1, 2.0, 0.4, 2.0 * np.pi, 0.5
mesh = unda.box_mesh((0, 0, 0), (1, 0.25, 0.25), (4, 1, 1), shape=shape, periodic=(True,) * 3)
medium = Relaxing(rho=rho, c=c, g=g, tau=tau, per=per)
dtype = "float32" if kernel == "tensor" else "float64"
sim = unda.DG(mesh, medium, degree=int(degree), dtype=dtype, device=device, kernel=kernel, cfl=0.7)
x = sim.coordinates[..., 0]
start = np.array([1.0, 0.4, 0.3], complex)  # p, vx, a

def exact(g, t):
    matrix = np.array([[-g, -1j * k * rho * c**2, g], [-1j * k / rho, 0, 0], [1 / tau, 0, -1 / tau]])
    values, vectors = np.linalg.eig(matrix)
    amplitude = vectors @ (np.exp(values * t) * np.linalg.solve(vectors, start))
    return {name: (a * np.exp(1j * k * x)).real for name, a in zip(("p", "vx", "a"), amplitude)}

sim.set(**exact(g, 0.0))
sim.run(until=t)
def error(g):
    return max(np.abs(sim.get(name) - values).max() for name, values in exact(g, sim.t).items())
other = unda.DG(mesh, Relaxing(rho=rho, c=c, g=g + 1.0, tau=tau, per=per), degree=int(degree), device="cpu")
print(error(g), error(0.98 * g), 1 / other.dt_stable - 1 / sim.dt_stable)
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """Variables of an environment with the toy's library and kernels."""
    folder = tmp_path_factory.mktemp("toy")
    shutil.copytree(ROOT / "cuda", folder / "cuda")
    header = folder / "cuda" / "physics" / "acoustic.h"
    text = header.read_text()
    for old, new in EDITS.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    header.write_text(text + LAW)

    def told(target):
        return subprocess.run(
            ["make", "-s", target], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split()

    flags = ["-O0" if word == "-O3" else word for word in told("flags")]
    # one version of each function, and the stages of single cells for AVX-512
    (folder / "plain.h").write_text('#include "base/parallel.h"\n#undef CLONES\n#define CLONES\n')
    flags += ["-include", str(folder / "plain.h"), f"-iquote{folder / 'cuda'}"]
    objects = told("objects")
    for name, bits in (*COMPILED, ("physics/physics", 0)):
        end = f"_f{bits}.o" if bits else ".o"
        (at,) = [i for i, one in enumerate(objects) if one.endswith(name + end)]
        objects[at] = str(folder / f"{at}.o")
        source = [f"-DREAL_BITS={bits}"] * bool(bits) + ["-c", f"csrc/{name}.c", "-o", objects[at]]
        subprocess.run(["gcc", *flags, *source], cwd=ROOT, check=True)
    link = ["-shared", "-fopenmp", "-lm", "-ldl", "-lpthread", "-o"]
    subprocess.run(["gcc", *objects, *link, folder / "libtoy.so"], cwd=ROOT, check=True)
    # another one knows of no AVX-512: there hexahedra are taken in blocks, whatever their degree
    (at,) = [i for i, one in enumerate(objects) if one.endswith("base/parallel.o")]
    objects[at] = str(folder / "parallel.o")
    source = ["-DUNDA_NO_CLONES", "-c", "csrc/base/parallel.c", "-o", objects[at]]
    subprocess.run(["gcc", *flags, *source], cwd=ROOT, check=True)
    subprocess.run(["gcc", *objects, *link, folder / "libblocks.so"], cwd=ROOT, check=True)
    cuda_device.prepare()
    return {"UNDA_LIBRARY": str(folder / "libtoy.so"), "UNDA_KERNEL_DIR": str(folder / "cuda")}


def run(toy, *words):
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words], env=os.environ | toy, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


@pytest.mark.each_value("device", "shape")
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("device", "kernel", "per", "shape", "degree"),
    [
        ("cpu", "auto", "cell", "tet", 4),
        ("cpu", "auto", "node", "tet", 4),
        ("cpu", "auto", "cell", "hex", 4),
        ("cpu", "auto", "cell", "hex", 7),
        ("cpu", "auto", "node", "hex", 7),
        ("cuda", "fused", "cell", "tet", 4),
        pytest.param("cuda", "node", "node", "tet", 4, marks=[] if REAL else pytest.mark.slow),
        *(
            pytest.param("cuda", kernel, "cell", "tet", 4, marks=[] if REAL else pytest.mark.slow)
            for kernel in ("blocks", "tensor", "element", "gemm", "microblock")
        ),
        ("cuda", "columns", "cell", "hex", 4),
        ("cuda", "lines", "node", "hex", 4),
        pytest.param("cuda", "base", "cell", "hex", 4, marks=[] if REAL else pytest.mark.slow),
    ],
)
def test_a_relaxing_wave_decays_as_its_matrix_says(toy, device, kernel, per, shape, degree):
    """Degree 4 with four cells a wavelength: errors of some 1e-4, less of degree 7; 2 % of g is seen.

    1/dt grows with the rate of the law over 4.6, where the real axis leaves the stable region of lsrk4.
    """
    error, wrong, slower = run(toy, device, kernel, per, shape, str(degree))
    assert error < 1e-3 < wrong
    assert slower == pytest.approx(1 / 4.6, rel=1e-9)


def test_without_avx512_hexahedra_are_taken_in_blocks(toy):
    """Degree 7, of which cells are taken one at a time else: another order of sums, the same wave."""
    blocks = toy | {"UNDA_LIBRARY": str(Path(toy["UNDA_LIBRARY"]).with_name("libblocks.so"))}
    error, wrong, slower = run(blocks, "cpu", "auto", "cell", "hex", "7")
    assert error < 1e-3 < wrong
    assert slower == pytest.approx(1 / 4.6, rel=1e-9)
    assert run(toy, "cpu", "auto", "cell", "hex", "7")[1] == pytest.approx(wrong, rel=1e-9)
