/* scalar.h: one step of the scalar wave equation p_tt = c^2 laplace p, order 2 in time, any even order in
 * space; the same operations in the same order in every kernel and on the CPU, so that all give the same
 * bits. With L p = sum_a [W_a1 (p_(+1) + p_(-1) - 2 p) + W_a0 p + sum_(m > 1) W_am (p_(+m) + p_(-m))],
 * W_a0 = -2 sum_(m > 1) W_am, axes a in the order x, y, z and distances m ascending,
 *   folded:  p' = p + [L p + (p - p_old)],      W_am = c^2 dt^2 C_m / h_a^2,
 *   split:   p' = p + [k L p + (p - p_old)],    W_am = h^2 C_m / h_a^2,    k = c^2 dt^2 / h^2.
 * What is in brackets is of the size of p' - p, so that one sum alone is rounded like p: sums near 2 p, a tap each,
 * would add up over a long run. Of a constant, first pairs and p - p_old are exactly 0, and what the others round is
 * less than half a unit of p: it stays as it is to the last bit. In sponges, g < 1 (csrc/fd/layer.c),
 *   p' = g (p + [.. (p - g p_old)]).
 * What matched layers (csrc/fd/scalar/matched.c) add along x, y, z is summed first.
 * Each pair is added first, so that mirror symmetry holds to the last bit. The includer defines REAL,
 * DEVICE and FMA. The scheme: docs/fd_scalar.md. */
#ifndef UNDA_SCALAR_H
#define UNDA_SCALAR_H

/* L p, from a sum of 0 on, axis by axis: the first pair, */
DEVICE REAL scalar_first(REAL weight, REAL low, REAL high, REAL p, REAL sum)
{
    return FMA(weight, FMA((REAL)-2, p, low + high), sum);
}
/* from order 4 on the centre, */
DEVICE REAL scalar_center(REAL center, REAL p, REAL sum)
{
    return FMA(center, p, sum);
}
/* then the other pairs. */
DEVICE REAL scalar_pair(REAL weight, REAL low, REAL high, REAL sum)
{
    return FMA(weight, low + high, sum);
}
/* The same where the low value may be the image of one inside, with its sign, which costs no operation. */
DEVICE REAL scalar_first_image(REAL weight, REAL sign, REAL low, REAL high, REAL p, REAL sum)
{
    return FMA(weight, FMA((REAL)-2, p, FMA(sign, low, high)), sum);
}
DEVICE REAL scalar_pair_image(REAL weight, REAL sign, REAL low, REAL high, REAL sum)
{
    return FMA(weight, FMA(sign, low, high), sum);
}
/* What is added to p: folded, split. */
DEVICE REAL scalar_change(REAL sum, REAL p, REAL old)
{
    return sum + (p - old);
}
DEVICE REAL scalar_change_damped(REAL sum, REAL p, REAL old, REAL damp)
{
    return sum + FMA(-damp, old, p);
}
DEVICE REAL scalar_split(REAL speed, REAL sum, REAL p, REAL old)
{
    return FMA(speed, sum, p - old);
}
DEVICE REAL scalar_split_damped(REAL speed, REAL sum, REAL p, REAL old, REAL damp)
{
    return FMA(speed, sum, FMA(-damp, old, p));
}
DEVICE REAL scalar_advance(REAL p, REAL sum)
{
    return p + sum;
}
DEVICE REAL scalar_advance_damped(REAL p, REAL sum, REAL damp)
{
    return damp * (p + sum);
}
/* Matched layers (csrc/fd/scalar/matched.c), along one axis after the other: fluxes at both half nodes in units of
 * their first weight, g_1, which is in `a` of the half nodes and comes as `weight`; then memories. */
DEVICE REAL scalar_flux(REAL low, REAL high)
{
    return high - low;
}
DEVICE REAL scalar_flux_pair(REAL ratio, REAL low, REAL high, REAL flux)
{
    return FMA(ratio, high - low, flux);
}
DEVICE REAL scalar_memory(REAL b, REAL a, REAL driver, REAL memory)
{
    return FMA(b, memory, a * driver);
}
/* What drives the node's memory, m = m(+) - m(-). */
DEVICE REAL scalar_stretched(REAL weight, REAL low, REAL high, REAL m)
{
    return FMA(weight, high - low, m);
}
/* What the three memories of a node add to its differences is taken off the level before instead, so that the
 * step itself stays as it is: folded, split. */
DEVICE REAL scalar_previous(REAL addition, REAL old)
{
    return old - addition;
}
DEVICE REAL scalar_previous_split(REAL speed, REAL addition, REAL old)
{
    return FMA(-speed, addition, old);
}
/* Sources after that, in the order in which they were added. */
DEVICE REAL scalar_source(REAL weight, REAL amplitude, REAL p)
{
    return FMA(weight, amplitude, p);
}

#endif
