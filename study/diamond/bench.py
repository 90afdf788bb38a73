import ctypes as C
import sys
import time

import cupy as cp
import numpy as np
from configs import CONFIGS

T0 = time.time()
cu = C.CDLL("libcuda.so.1")


class Args(C.Structure):
    _fields_ = [
        ("p", C.c_void_p * 2),
        ("k", C.c_void_p),
        ("gx", C.c_void_p),
        ("gy", C.c_void_p),
        ("gz", C.c_void_p),
        ("mark", C.c_void_p),
        ("source_first", C.c_void_p),
        ("source_z", C.c_void_p),
        ("source_id", C.c_void_p),
        ("source_w", C.c_void_p),
        ("amplitude", C.c_void_p),
        ("cell_first", C.c_void_p),
        ("cell_z", C.c_void_p),
        ("cell_id", C.c_void_p),
        ("record", C.c_void_p),
        ("ticket", C.c_void_p),
        ("progress", C.c_void_p),
        ("nx", C.c_int),
        ("ny", C.c_int),
        ("nz", C.c_int),
        ("num_level", C.c_int),
        ("num_row", C.c_int),
        ("num_tower", C.c_int),
        ("num_source", C.c_int),
        ("num_cell", C.c_int),
        ("due", C.c_int),
        ("every", C.c_int),
        ("layer", C.c_int * 4),
        ("unused", C.c_int),
        ("sign", C.c_double * 6),
        ("w", C.c_double * 13),
        ("w_float", C.c_float * 13),
    ]


def ok(r, what=""):
    if r:
        s = C.c_char_p()
        cu.cuGetErrorString(r, C.byref(s))
        raise RuntimeError("%s: %s" % (what, s.value))


cp.zeros(1)
plain = cp.RawModule(path="cubin/plain.cubin")


def load(name, c):
    mod, f, m = C.c_void_p(), C.c_void_p(), C.c_void_p()
    ok(cu.cuModuleLoad(C.byref(mod), ("cubin/%s.cubin" % name).encode()), "load " + name)
    ok(cu.cuModuleGetFunction(C.byref(f), mod, b"fd_diamond"))
    ok(cu.cuModuleGetFunction(C.byref(m), mod, b"fd_diamond_mark"))
    size = 8 if c["more"].get("real") == "double" else 4
    tips = 0
    half_of = lambda j: c["step"] * (c["dts"] - abs(j // c["step"] - (c["dts"] - 1)))
    for j in range(-c["m"], 0):
        near = j + c["m"]
        tips += 2 * (c["half"] if near > c["step"] * (c["dts"] - 1) else half_of(near))
    slots = 2 * c["half"] ** 2 + c["m"] * c["rows"]
    shared = (
        (2 * slots + 2 * tips + c["m"] * c["rows"])
        * (c["zb"] + 2 * (-(-c["m"] // c["v"]) * c["v"]) + c["v"])
        * size
    )
    ok(cu.cuFuncSetAttribute(f, 8, shared), "shared %d" % shared)
    regs, loc = C.c_int(), C.c_int()
    cu.cuFuncGetAttribute(C.byref(regs), 4, f)
    cu.cuFuncGetAttribute(C.byref(loc), 3, f)
    return f, m, shared, regs.value, loc.value


def launch(f, grid, block, shared, args):
    ptr = (C.c_void_p * 1)(C.addressof(args))
    ok(cu.cuLaunchKernel(f, grid[0], grid[1], 1, block, 1, 1, shared, C.c_void_p(0), ptr, None), "launch")


def coefs(m):
    cs = {1: [1.0], 2: [4 / 3, -1 / 12], 3: [1.5, -0.15, 1 / 90], 4: [1.6, -0.2, 8 / 315, -1 / 560]}[m]
    w = [0.1 * x * s for s in (1, 0.9, 0.8) for x in cs]
    return [2 - 2 * sum(w)] + w


class Case:
    def __init__(self, name, c, nx, ny, nz, nt, sources, boxes, every, due, sign, layer, seed):
        self.c, self.n, self.nt = c, (nx, ny, nz), nt
        m, half = c["m"], c["half"]
        self.f, self.mk, self.shared, self.regs, self.local = load(name, c)
        rng = np.random.default_rng(seed)
        sx, sy = c["stride_x"], c["stride_y"]
        size = (nx + 2 * c["pad_x"]) * sx + 64
        self.off = off = c["pad_x"] * sx + c["lo_y"] * sy + 32
        self.a = cp.empty(size, cp.float32)
        self.b = cp.empty(size, cp.float32)
        self.kk = cp.empty(size if c["variable"] else 1, cp.float32)
        noise = plain.get_function("noise")
        for i, v in enumerate([self.a, self.b, self.kk]):
            noise((4096,), (256,), (v, np.int64(v.size), np.uint32(seed * 3 + i)))
        self.kk *= np.float32(0.3)
        self.kk += np.float32(0.6)
        A = self.args = Args()
        self.sign = cp.asarray(np.array(sign, np.int32))
        for i in range(6):
            A.sign[i] = sign[i]
        w = coefs(m)
        for i, v in enumerate(w):
            A.w[i] = v
            A.w_float[i] = np.float32(v)
        if c["variable"]:
            A.w[0] = A.w_float[0] = np.float32(w[0] - 2)
        self.w = cp.asarray(np.array(list(A.w_float), np.float32))
        P = 64
        g = [np.ones(n + 2 * P, np.float32) for n in (nx, ny, nz)]
        lay = [[0, nx], [0, ny]]
        if layer:
            for a_, n in enumerate((nx, ny, nz)):
                for s in range(2):
                    l = min(layer[2 * a_ + s], n // 2)
                    d = np.exp(-0.02 * (1 + np.arange(l)) ** 2 / max(l, 1)).astype(np.float32)
                    if l:
                        if s == 0:
                            g[a_][P : P + l] = d[::-1]
                        else:
                            g[a_][P + n - l : P + n] = d
                        if a_ < 2:
                            lay[a_][s] = l if s == 0 else n - l
        A.layer[:] = lay[0] + lay[1]
        self.g = [cp.asarray(x) for x in g]
        A.gx, A.gy, A.gz = [x.data.ptr + 4 * P for x in self.g]
        A.nx, A.ny, A.nz, A.num_level = nx, ny, nz, nt
        A.num_row = (nx - 1 + half) // (2 * half) + 1
        A.num_tower = A.num_row * -(-(ny - m + half + m * nt) // half)
        self.flags = cp.zeros(A.num_tower + 1, cp.int32)
        A.ticket = self.flags.data.ptr
        A.progress = self.flags.data.ptr + 4

        def table(cells):  # cells: (k, 3) -> csr
            col = cells[:, 0].astype(np.int64) * ny + cells[:, 1]
            order = np.argsort(col, kind="stable")
            first = np.zeros(nx * ny + 1, np.int32)
            first[1:] = np.cumsum(np.bincount(col, minlength=nx * ny))
            return cp.asarray(first), cp.asarray(cells[order, 2].astype(np.int32)), order

        ns = sources
        if ns:
            box = min(4, min(nx, ny, nz) // 2)
            cells, ids = [], []
            for s in range(ns):
                o = [rng.integers(0, n - box + 1) for n in (nx, ny, nz)]
                for i in range(box):
                    for j in range(box):
                        for k in range(box):
                            cells.append((o[0] + i, o[1] + j, o[2] + k))
                            ids.append(s)
            self.sf, self.sz, order = table(np.array(cells))
            self.si = cp.asarray(np.array(ids, np.int32)[order])
            self.sw = cp.asarray(rng.standard_normal(len(ids)).astype(np.float32))
            self.amp = cp.asarray(rng.standard_normal((nt, ns)).astype(np.float32))
            A.source_first, A.source_z, A.source_id, A.source_w, A.amplitude = [
                x.data.ptr for x in (self.sf, self.sz, self.si, self.sw, self.amp)
            ]
            A.num_source = ns
        self.nc = 0
        if boxes:
            e = np.array([min(8, n // 2) for n in (nx, ny, nz)])
            o = np.stack([rng.integers(0, n - x + 1, boxes) for n, x in zip((nx, ny, nz), e)], 1)
            ijk = np.stack(np.meshgrid(*[np.arange(x) for x in e], indexing="ij"), -1).reshape(-1, 3)
            cells = (o[:, None] + ijk[None]).reshape(-1, 3)
            self.cells = cp.asarray(cells.T.astype(np.int32).copy())
            self.cf, self.cz, order = table(cells)
            self.ci = cp.asarray(order.astype(np.int32))
            self.nc = len(cells)
            self.rec = cp.full((nt // every + 2, self.nc), 7, cp.float32)
            A.cell_first, A.cell_z, A.cell_id, A.record = [
                x.data.ptr for x in (self.cf, self.cz, self.ci, self.rec)
            ]
            A.num_cell, A.every, A.due = self.nc, every, due
        if ns or boxes:
            self.mark = cp.zeros(((2 * A.num_row + 2), ny + 2 * half), cp.uint8)
            A.mark = self.mark.data.ptr
            launch(self.mk, ((ny + 2 * half + 127) // 128, 2 * A.num_row + 1), 128, 0, A)
        A.p[0] = self.a.data.ptr + 4 * off
        A.p[1] = self.b.data.ptr + 4 * off
        A.k = self.kk.data.ptr + 4 * off if c["variable"] else 0
        for v in (self.a, self.b):
            self.ghosts(v)
        self.layer = layer

    def ghosts(self, v):
        nx, ny, nz = self.n
        plain.get_function("ghosts")(
            (nx * ny // 256 + 1,),
            (256,),
            (
                v[self.off :],
                self.sign,
                np.int32(self.c["m"]),
                np.int32(nx),
                np.int32(ny),
                np.int32(nz),
                np.int64(self.c["stride_x"]),
                np.int64(self.c["stride_y"]),
            ),
        )

    def run(self, blocks=0):
        blocks = blocks or 132 * self.c["more"].get("define", {}).get("MIN_BLOCKS", 1)
        self.flags.fill(0)
        nb = self.c["num_zb"]
        launch(
            self.f,
            (min(blocks // nb, self.args.num_tower) * nb, 1),
            -(-self.c["zb"] // self.c["v"] // 32) * 32 * self.c["groups"],
            self.shared,
            self.args,
        )

    def plain(self, a, b):
        nx, ny, nz = self.n
        c = self.c
        out = []
        f, z = plain.get_function("plain"), np.int64(0)
        A = self.args
        for n in range(self.nt):
            u, v = (b, a) if n % 2 == 0 else (a, b)
            amp = self.amp[n] if A.num_source else z
            src = (self.sf, self.sz, self.si, self.sw) if A.num_source else (z, z, z, z)
            f(
                (nx * ny * nz // 256 + 1,),
                (256,),
                (
                    u[self.off :],
                    v[self.off :],
                    self.kk[self.off :] if c["variable"] else z,
                    *[x[64:] for x in self.g],
                    self.w,
                    self.sign,
                    np.int32(c["m"]),
                    np.int32(nx),
                    np.int32(ny),
                    np.int32(nz),
                    np.int64(c["stride_x"]),
                    np.int64(c["stride_y"]),
                    np.int32(c["variable"]),
                    np.int32(1 if c["layer"] else 0),
                    *src,
                    amp,
                ),
            )
            L = n + 1
            if self.nc and L >= A.due and (L - A.due) % A.every == 0:
                o = cp.empty(self.nc, cp.float32)
                plain.get_function("cells")(
                    (self.nc // 256 + 1,),
                    (256,),
                    (
                        v[self.off :],
                        o,
                        *self.cells,
                        np.int32(self.nc),
                        np.int64(c["stride_x"]),
                        np.int64(c["stride_y"]),
                    ),
                )
                out.append(o)
        return out

    def inside(self, v):
        nx, ny, nz = self.n
        sx, sy = self.c["stride_x"], self.c["stride_y"]
        return cp.lib.stride_tricks.as_strided(v[self.off :], (nx, ny, nz), (4 * sx, 4 * sy, 4))


def verify(name, c, seed, variable_layer=True):
    rng = np.random.default_rng(seed)
    bad = 0
    sizes = []
    shapes = [
        (3 * c["half"] + 5, 5 * c["half"] + 3, c["zb"] * c["num_zb"] - c["v"], 2 * c["half"] + 3),
        (c["m"] + 1, c["m"] + 2, c["zb"] * (c["num_zb"] - 1) + 2 * c["m"] + 1, 7),
        (
            int(rng.integers(20, 90)),
            int(rng.integers(20, 200)),
            c["zb"] * c["num_zb"],
            int(rng.integers(5, 40)),
        ),
    ]
    for i, (nx, ny, nz, nt) in enumerate(shapes):
        ny = min(ny, c["ny"])
        sign = [int(s) for s in rng.choice([-1, 1], 6)]
        layer = [int(x) for x in rng.integers(0, 12, 6)] if c["layer"] else None
        every = int(rng.integers(1, 5))
        t = Case(
            name,
            c,
            nx,
            ny,
            nz,
            nt,
            3 if i != 1 else 0,
            5 if i != 1 else 0,
            every,
            1 + int(rng.integers(0, every)),
            sign,
            layer,
            seed + i,
        )
        a, b = t.a.copy(), t.b.copy()
        out = t.plain(a, b)
        t.run()
        cp.cuda.Device().synchronize()
        wrong = int((t.inside(a) != t.inside(t.a)).sum() + (t.inside(b) != t.inside(t.b)).sum())
        wr = sum(int((o != t.rec[k]).sum()) for k, o in enumerate(out))
        finite = bool(cp.isfinite(t.inside(t.b)).all()) and float(cp.abs(t.inside(t.b)).max()) > 0
        if wrong or wr or not finite:
            bad += 1
            print("  WRONG", name, (nx, ny, nz, nt), sign, wrong, wr, "finite", finite)
    return "ok" if not bad else "WRONG"


def timing(name, c, nt, blocks=0, extras=True, layer=None, nx=None, ny=None, nz=None, rep=2):
    t = Case(
        name,
        c,
        nx or c["nx"],
        ny or c["ny"],
        nz or c["nz"],
        nt,
        1 if extras else 0,
        1000 if extras else 0,
        4,
        4,
        [-1, 1, 1, 1, 1, -1],
        layer,
        5,
    )
    e0, e1 = cp.cuda.Event(), cp.cuda.Event()
    ms = []
    for i in range(rep + 1):
        e0.record()
        t.run(blocks)
        e1.record()
        e1.synchronize()
        ms.append(cp.cuda.get_elapsed_time(e0, e1))
    n = t.n[0] * t.n[1] * t.n[2]
    best = n * nt / np.median(ms[1:]) / 1e6
    r = "%7.1f Gcell/s  regs %d local %d shared %d cells %.2fe9 %s" % (
        best,
        t.regs,
        t.local,
        t.shared,
        n / 1e9,
        t.n,
    )
    del t
    cp.get_default_memory_pool().free_all_blocks()
    return r


if __name__ == "__main__":
    for arg in sys.argv[1:]:
        name, *opt = arg.split(":")
        extras = "x" not in opt
        small = "s" in opt
        opt = [o for o in opt if o not in ("x", "s")]
        nt = int(opt[0]) if opt else 64
        c = CONFIGS[name]
        try:
            v = verify(name, c, 11) if nt > 0 else "-"
            cp.get_default_memory_pool().free_all_blocks()
            tm = (
                timing(
                    name,
                    c,
                    abs(nt),
                    extras=extras,
                    layer=[20, 20, 20, 20, 20, 0] if c["layer"] else None,
                    ny=600 if small else None,
                    rep=1 if small else 2,
                )
                if nt
                else ""
            )
            print("%-5s %s %s  nt %d  [%.0f s]" % (name, v, tm, abs(nt), time.time() - T0), flush=True)
        except Exception as x:
            print(name, "failed", repr(x)[:300], flush=True)
            if "illegal" in repr(x) or "launch" in repr(x):
                raise
