/* staggered.h: shared by the staggered schemes of all physics. Fields are at nodes or shifted by half a cell
 * along some axes: bits 1, 2, 4 of `stagger` for x, y, z. A derivative is a difference of one field along an axis,
 * evaluated at the position of another: forward (of the nodes i, i + 1) if that one is shifted along the
 * axis, else backward:
 *   forward   h d/dx = sum_m D_m (f_(+m) - f_(1-m)),
 *   backward  h d/dx = sum_m D_m (f_(m-1) - f_(-m)).
 * A need is a material at a node next to the position: that node, or the next one along the axes of its bits.
 * */
#ifndef UNDA_STAGGERED_H
#define UNDA_STAGGERED_H

struct staggered_derivative {
    signed char target, axis, source;
};
struct staggered_need {
    signed char material, bits;
};
enum { STAGGERED_MAX_NEED = 8 }; /* of a pass */

#ifndef DIVIDE /* what divides materials, whose last bit does not matter */
#define DIVIDE(a, b) ((a) / (b))
#endif

#endif
