"""Candidates: name -> defines and the shape to time."""


def config(
    order,
    dts,
    step,
    zb,
    v=1,
    groups=1,
    unroll=1,
    variable=0,
    layer=0,
    num_zb=1,
    towers=132,
    cells=1.6e9,
    nz=None,
    **more,
):
    m, half = order // 2, dts * step
    rows = step * (2 * dts - 1)
    nz = nz or zb * num_zb
    nx = 2 * half * towers - half
    ny = int(cells / nx / nz)
    stride_y = -(-(nz + 2 * m + 4) // 32) * 32
    lo_y = 2 * half + 2 * m + 1
    stride_x = stride_y * (ny + 2 * lo_y)
    pad_x = 2 * half + m
    return dict(
        order=order,
        dts=dts,
        step=step,
        zb=zb,
        num_zb=num_zb,
        v=v,
        groups=groups,
        unroll=unroll,
        variable=variable,
        layer=layer,
        nx=nx,
        ny=ny,
        nz=nz,
        stride_x=stride_x,
        stride_y=stride_y,
        lo_y=lo_y,
        pad_x=pad_x,
        half=half,
        rows=rows,
        m=m,
        more=more,
    )


def defines(c):
    d = ["-DREAL=" + c["more"].get("real", "float")] + [
        "-D%s=%s" % (k.upper(), c[k])
        for k in "order dts step zb num_zb v groups unroll variable layer stride_x stride_y".split()
    ]
    return d + ["-D%s=%s" % (k, v) for k, v in c["more"].get("define", {}).items()]


def d(**k):
    return {"define": k}


CONFIGS = {
    "a7": config(2, 7, 1, 224, unroll=2, define=dict(OLD=1, CHUNK=14)),
    "b3": config(4, 3, 2, 256, unroll=2, define=dict(OLD=1, CHUNK=12)),
    "c2": config(6, 2, 3, 192, unroll=2, define=dict(OLD=0, CHUNK=6)),
    "d3": config(8, 3, 2, 160, unroll=1, define=dict(OLD=0, CHUNK=6)),
    "b3k": config(4, 3, 2, 256, unroll=2, num_zb=4, towers=96, define=dict(OLD=1, CHUNK=12)),
    "a7l": config(2, 7, 1, 224, unroll=2, layer=1, define=dict(OLD=1, CHUNK=14)),
    "b3l": config(4, 3, 2, 256, unroll=2, layer=1, define=dict(OLD=1, CHUNK=12)),
    "c2l": config(6, 2, 3, 192, unroll=1, layer=1, define=dict(OLD=0, CHUNK=6)),
    "d3l": config(8, 3, 2, 160, unroll=1, layer=1, define=dict(OLD=0, CHUNK=6)),
    "a5v": config(2, 5, 1, 256, unroll=2, variable=2, define=dict(OLD=1, CHUNK=6)),
    "b3v": config(4, 3, 2, 256, unroll=1, variable=2, define=dict(OLD=0, CHUNK=6)),
    "c2v": config(6, 2, 3, 192, unroll=1, variable=2, define=dict(OLD=0, CHUNK=6)),
    "d3v": config(8, 3, 2, 160, unroll=1, variable=1, define=dict(OLD=0, CHUNK=6)),
    "b3lv": config(4, 3, 2, 256, unroll=1, layer=1, variable=2, define=dict(OLD=0, CHUNK=6)),
    "c2lv": config(6, 2, 3, 192, unroll=1, layer=1, variable=2, define=dict(OLD=0, CHUNK=6)),
}
if __name__ == "__main__":
    import sys

    for n in sys.argv[1:] or CONFIGS:
        print(n, *defines(CONFIGS[n]))
