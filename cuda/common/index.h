/* index.h: integer codes of the tables, shared by host and kernels.
 * A neighbour is num_side * elem + side, side = num_face * turn + face (turn 0 where vertices are sorted, as on
 * tetrahedra); negative ones are boundaries. No includes: NVRTC reads this alone. */
#ifndef UNDA_INDEX_H
#define UNDA_INDEX_H

/* Words of an element's record: its metric, then NUM_COEF coefficients, padded to fours. */
#define METRIC_WORDS         9
#define ELEM_WORDS(num_coef) ((METRIC_WORDS + (num_coef) + 3) / 4 * 4)

/* Kinds of metrics of hexahedra: unda_metric. */
#define METRIC_AFFINE    1
#define METRIC_TRILINEAR 2
#define METRIC_STORED    3

/* Words of the map of an element of eight vertices: the vectors a_1 a_2 a_3, m_1 m_2 m_3, b (space/trilinear.h), then
 * 1 / unit, padded to fours. */
#define MAP_LINEAR   0
#define MAP_MIXED    9
#define MAP_TRIPLE   18
#define MAP_PER_UNIT 21
#define NUM_MAP      24

/* Groups of four: `total` items of num values each stand as [group][item][values of the group], what is left
 * in the last group, so that an item is read in aligned quads whatever the number of its values. */
#define GROUP_WIDTH(num, group) ((num) - 4 * (group) < 4 ? (num) - 4 * (group) : 4)
#define GROUP_INDEX(total, num, item, value)                                                                 \
    ((value) / 4 * 4 * (total) + (item) * GROUP_WIDTH(num, (value) / 4) + (value) % 4)

/* neighbor = -1 - condition; from BOUNDARY_EXACT on, -1 - BOUNDARY_EXACT - slot with exact outer data. */
#define BOUNDARY_NONE      (-1) /* between two elements */
#define BOUNDARY_ABSORBING 0
#define BOUNDARY_RIGID     1
#define BOUNDARY_FREE      2
#define BOUNDARY_FIXED     3
#define BOUNDARY_SYMMETRY  4
#define BOUNDARY_PEC       5
#define BOUNDARY_PMC       6
#define BOUNDARY_EXACT     7

/* What a stage does with the right-hand side r of dq/dt = r. */
#define UPDATE_RHS  0 /* store r */
#define UPDATE_LSRK 1 /* res = a res + dt r, q' = q + b res (Carpenter & Kennedy 1994) */
#define UPDATE_AB3  2 /* q' = q + dt (c0 r + c1 r1 + c2 r2), keep r in place of r2 */

#endif
