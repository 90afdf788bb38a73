"""The Rayleigh wave of the elastic staggered scheme: its speed and strength, and what they make of a trace.

Waves exp(i (k x - omega t)) below a free side z = 0, in rows z = 0, -h, .. (vx, sxx, szz) and -h/2, .. (vz,
sxz), as the scheme takes them: with i w = vz, D the difference of order 2M along z over images, K the one
along x, K = (2/h) sum D_m sin((m - 1/2) k h), and sin(omega dt/2) = kappa dt/2 of leapfrog,
    sxx' = (lambda + 2 mu) K vx + lambda D w,     szz' = lambda K vx + (lambda + 2 mu) D w,
    sxz' = mu (D vx - K w),
    rho kappa^2 vx = K sxx' - D sxz',             rho kappa^2 w = -K sxz' - D szz'.
vx and w are continued evenly, szz and sxz oddly; on the side szz = 0, and sxx is 4 mu (lambda + mu) /
(lambda + 2 mu) K vx. Among the eigenvectors it is the one that inverse iteration finds from the exact wave.
Far from a force its share of a trace is phi_s phi_r sqrt(k) / (m U) exp(i k r): phi_s, phi_r what source
and receiver take of the mode (csrc/fd/row.c), m = int rho v^2 dz, U the group speed. The scheme's trace is
taken to be the exact one times the ratio of these: P and S waves, which are wrong by less, have no term of
their own.
``python benchmarks/surface_mode.py`` prints the table of docs/free_surface.md.
Not here: runs (tests/fd/test_staggered_surface.py), points alone (surface_points.py).
"""

from __future__ import annotations

import numpy as np


def weights(order):
    """Return D_1 .. D_M of h f' = sum D_m (f(m - 1/2) - f(1/2 - m))."""
    x = np.arange(1, order // 2 + 1) - 0.5
    return np.linalg.solve(2 * np.array([x ** (2 * k + 1) for k in range(len(x))]), np.eye(len(x))[0])


def differences(order, num):
    """Return d/dz (z up, cells) from nodes to halves and back, each for even [0] and odd [1] images."""
    down, up = np.zeros((2, 2, num, num))
    for image, sign in enumerate((1.0, -1.0)):
        for j in range(num):
            for m, w in enumerate(weights(order), start=1):
                for node, one in ((j + 1 - m, w), (j + m, -w)):  # node -i is the image of node i
                    if abs(node) < num:
                        down[image, j, abs(node)] += one * (sign if node < 0 else 1.0)
                for half, one in ((j - m, w), (j + m - 1, -w)):  # half -1 - i that of half i
                    inside = half if half >= 0 else -1 - half
                    if inside < num:
                        up[image, j, inside] += one * (sign if half < 0 else 1.0)
    return down, up


def speed_of(vp, vs):
    """Return the speed of Rayleigh's wave (the cubic of unda.exact.rayleigh_wave)."""
    q = (vs / vp) ** 2
    roots = np.roots([1, -8, 24 - 16 * q, -16 * (1 - q)])
    return vs * np.sqrt(min(root.real for root in roots if abs(root.imag) < 1e-9 and 0 < root.real < 1))


def exact(k, z, vp, vs):
    """Return vx and w = vz / i of the exact wave at heights z."""
    c = speed_of(vp, vs)
    a, b = np.sqrt(1 - (c / vp) ** 2), np.sqrt(1 - (c / vs) ** 2)
    r = (1 + b * b) / 2
    return np.exp(a * k * z) - r * np.exp(b * k * z), -(a * np.exp(a * k * z) - r / b * np.exp(b * k * z))


def mode(order, k, vp, vs):
    """Return kappa, vx at nodes 0, -1, .. and w at -1/2, .. for k in radians a cell, rho = 1."""
    num = int(np.clip(14 / k, 30, 120))
    mu, lam = vs * vs, vp * vp - 2 * vs * vs
    kt = 2 * weights(order) @ np.sin((np.arange(1, order // 2 + 1) - 0.5) * k)
    down, up = differences(order, num)
    side, eye = np.arange(num) == 0, np.eye(num)
    own = np.where(side, 4 * mu * (lam + mu) / (lam + 2 * mu), lam + 2 * mu)[:, None]
    other, whole = np.where(side, 0.0, lam)[:, None], np.where(side, 0.0, lam + 2 * mu)[:, None]
    sxx = np.hstack([own * kt * eye, other * up[0]])
    szz = np.hstack([other * kt * eye, whole * up[0]])
    sxz = mu * np.hstack([down[0], -kt * eye])
    matrix = np.vstack([kt * sxx - up[1] @ sxz, -kt * sxz - down[1] @ szz])
    place = -np.arange(num)
    vector = np.concatenate([exact(k, place, vp, vs)[0], exact(k, place - 0.5, vp, vs)[1]])
    value = (speed_of(vp, vs) * k) ** 2
    for _ in range(6):  # inverse iteration
        vector /= np.linalg.norm(vector)
        better = np.linalg.solve(matrix - value * np.eye(2 * num), vector)
        value += 1 / (vector @ better)
        vector = better / np.linalg.norm(better)
    return np.sqrt(value), vector[:num], vector[num:]


def polynomial(places, slopes, x):
    """Return what a polynomial through values at places and slopes at others takes of each at x."""
    power = np.arange(len(places) + len(slopes))[:, None]
    columns = [np.asarray(places, float)[None] ** power]
    columns.append(power * np.asarray(slopes, float)[None] ** np.maximum(power - 1, 0))
    return np.linalg.solve(np.hstack(columns), float(x) ** power[:, 0])


def taken(k, vx, w, depth, vp, vs):
    """Return what a point at that depth takes of vx and of w."""
    if depth == 0:
        row = polynomial(-np.arange(6) - 0.5, [0.0], 0.0)
        return vx[0], row[:6] @ w[:6] - row[6] * (1 - 2 * (vs / vp) ** 2) * k * vx[0]
    first = max(0, int(depth) - 3)
    nodes = np.arange(first, first + 6)
    across, along = polynomial(-nodes, [], -depth), polynomial(-nodes - 0.5, [], -depth)
    return across @ vx[nodes], along @ w[nodes]


def wave(order, dt, depth, vp, vs):
    """Return omega, k and strengths over the exact wave's at these omega, [force x z][field x z]."""
    ks = np.linspace(0.12, 1.4, 17)
    omega, found, wanted = [], [], []
    c = speed_of(vp, vs)
    for k in ks:
        kappa, vx, w = mode(order, k, vp, vs)
        omega.append(2 / dt * np.arcsin(kappa * dt / 2) if dt else kappa)
        norm = 0.5 * vx[0] ** 2 + (vx[1:] ** 2).sum() + (w**2).sum()
        found.append(np.outer(taken(k, vx, w, 0, vp, vs), taken(k, vx, w, depth, vp, vs)) / norm)
        true, z = omega[-1] / c, np.linspace(-20 / omega[-1] * c, 0, 4001)
        norm = np.trapezoid(sum(one**2 for one in exact(true, z, vp, vs)), z)
        at = [exact(true, -d, vp, vs) for d in (0.0, depth)]
        wanted.append(np.outer(*at) / norm)
    omega = np.array(omega)
    ratio = np.array(found) / np.array(wanted)
    scale = np.sqrt(ks / (omega / c)) * c / np.gradient(omega, ks)
    ratio = np.concatenate([np.ones((1, 2, 2)), ratio * scale[:, None, None]])
    return np.append(0, omega), np.append(0, ks), ratio


def expected_error(order, dt, r, depth, t, trace, force, field, vp, vs):
    """Return the norm of (the scheme's trace - the exact one), over that of the exact one.

    The force at the surface, along x (0) or z (1), the trace (of vx, 0, or vz, 1) at distance r along x;
    lengths in cells.
    """
    omega, k, ratio = wave(order, dt, depth, vp, vs)
    num = 4 * len(t)
    spectrum, w = np.fft.rfft(trace, num), 2 * np.pi * np.fft.rfftfreq(num, t[1] - t[0])
    turn = np.exp(-1j * r * (np.interp(w, omega, k) - w / speed_of(vp, vs)))
    factor = np.where(w < omega[-1], np.interp(w, omega, ratio[:, force, field]) * turn, 1.0)
    change = np.fft.irfft((factor - 1) * spectrum, num)[: len(t)]
    return np.linalg.norm(change) / np.linalg.norm(trace)


def main():
    print(
        "| order | nodes a wavelength | speed | vz of a vertical force | vx of it | vx of a horizontal one |"
    )
    print("|---|---|---|---|---|---|")
    vp, vs = 3**0.5, 1.0
    for order in (2, 4, 8):
        omega, k, ratio = wave(order, 0.0, 0, vp, vs)
        for nodes in (10, 20, 40):
            one = 2 * np.pi / nodes
            speed = np.interp(one, k, np.append(1, omega[1:] / k[1:] / speed_of(vp, vs))) - 1
            zz, zx, xx = (np.interp(one, k, ratio[:, i, j]) - 1 for i, j in ((1, 1), (1, 0), (0, 0)))
            print(
                f"| {order} | {nodes} | {100 * speed:+.2f} % |",
                " | ".join(f"{100 * v:+.1f} %" for v in (zz, zx, xx)),
                "|",
            )


if __name__ == "__main__":
    main()
