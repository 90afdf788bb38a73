/* scalar.h: one step of the scalar wave equation p_tt = c^2 laplace p, order 2 in time, any even order in
 * space; the same operations in the same order in every kernel and on the CPU, so that all give the same
 * bits. Folded:  p' = (2 - 2 sum W) p + sum W_am (p_(+m) + p_(-m)) - p_old,      W = c^2 dt^2 C_m / h_a^2
 * split:   p' = 2 p + k (-2 sum V p + sum V_am (..)) - p_old,              V = h^2 C_m / h_a^2, k = c^2 dt^2
 * / h^2 with axes a in the order x, y, z and distances m ascending. In layers g < 1 (csrc/fd/layer.c): p' = g
 * (.. - g p_old). A pair is added first, so that mirrored waves stay mirrored to the last bit. The includer
 * defines REAL, DEVICE and FMA. */
#ifndef UNDA_SCALAR_H
#define UNDA_SCALAR_H

DEVICE REAL scalar_center(REAL center, REAL p)
{
    return center * p;
}
DEVICE REAL scalar_pair(REAL weight, REAL low, REAL high, REAL sum)
{
    return FMA(weight, low + high, sum);
}
/* What p_old is taken from: folded, the sum itself. */
DEVICE REAL scalar_split(REAL speed, REAL sum, REAL p)
{
    return FMA(speed, sum, p + p);
}
DEVICE REAL scalar_advance(REAL sum, REAL old)
{
    return sum - old;
}
DEVICE REAL scalar_advance_damped(REAL sum, REAL old, REAL damp)
{
    return damp * FMA(-damp, old, sum);
}
/* Sources after that, in the order in which they were added. */
DEVICE REAL scalar_source(REAL weight, REAL amplitude, REAL p)
{
    return FMA(weight, amplitude, p);
}

#endif
