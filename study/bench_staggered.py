"""Gcell/s of the staggered schemes at 512^3, order 4, float32, CPML 10 on five sides: python bench_staggered.py."""
import time
import unda
n = 512
grid = unda.Grid((n, n, n), 10.0)
media = {"elastic": unda.Elastic(rho=2000.0, vp=3300.0, vs=1900.0), "acoustic": unda.Acoustic(rho=1000.0, c=1500.0),
         "maxwell": unda.Maxwell(eps_r=2.0)}
for name, medium in media.items():
    wall = "pec" if name == "maxwell" else "free"
    for sides in ({"zmax": wall, "*": unda.CPML(width=10)}, {"*": "periodic"}):
        for rows in (8,):
            for planes in (0,):
                sim = unda.FD(grid, medium, scheme="staggered", order=4, boundary=sides, device="cuda",
                              kernel_options={"rows": rows, "planes": planes})
                sim.step(3)
                steps = 10
                sim._rate = 1e9
                begin = time.perf_counter()
                sim.step(steps)
                seconds = (time.perf_counter() - begin) / steps
                print(f"{name:9s} layers {len(sides) == 2!s:5s} rows {rows:2d} planes {planes:3d} "
                      f"{n**3 / seconds / 1e9:7.2f} Gcell/s", flush=True)
                sim.close()
