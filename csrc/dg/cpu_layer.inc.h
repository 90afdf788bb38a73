/* cpu_layer.inc.h: the pass over layers after a stage on the CPU, of one physics on one shape; included by cpu_layer.c, which
 * defines NAME(name), PHYSICS, SPACE and LINES. Lanes are nodes of a cell, of which there are `pitch`, filled up; what is
 * beyond the last node is 0 and stays so. The equations: layer.c, cuda/dg/stretch.h. */
#define VAL      REAL
#define FN(name) NAME(scalar_##name)
#include PHYSICS
#include "dg/stretch.h"
#undef VAL
#undef FN
#define VAL      VEC
#define FN(name) NAME(name)
#include PHYSICS
#include SPACE
#include "dg/stretch.h"

/* A cell of layers as the pass sees it: the state, its rates and what faces correct, [field][vec]; traces across an axis and
 * derivatives of those of its items, [trace][vec]; a row of nodes. */
struct FN(layer_room) {
    VEC *q, *rhs, *fix, *w, *slope[3], *row;
};

/* Field f of node n of an element. */
INLINE int64_t FN(at)(const struct dg_cpu *t, int64_t elem, int n, int f)
{
    return elem * t->num_node * NUM_FIELD + (t->by_cell ? f * t->num_node + n : n * NUM_FIELD + f);
}

INLINE VEC FN(by_node)(const REAL *from, int by_node, int i, int v, int num_vec)
{
    return by_node ? ((const VEC *)from)[i * num_vec + v] : all_lanes(from[i]);
}

/* slope += d w / d x_axis inside the cell: sum_j (d r_j / d x_axis) D_j w. Sums are PARTs: those of 64 bytes that stay from
 * one turn of a loop to the next gcc 12 takes through memory, word by word, where there is no AVX-512. */
#if LINES
INLINE void FN(layer_volume)(const struct dg_cpu *t, const struct dg_layer_args *a, const REAL *gradient,
                             int axis, const struct FN(layer_room) * room, VEC *slope)
{
    int num_node = t->num_node, num_vec = a->pitch / LANES, line = t->num_line_node;
    for (int j = 0; j < 3; j++) {
        bool any = false; /* products whose gradient is 0 are left out */
        const REAL *g = gradient + (a->gradient_nodes ? (3 * j + axis) * a->pitch : 3 * j + axis);
        for (int n = 0; n < (a->gradient_nodes ? num_node : 1); n++)
            any = any || g[n] != 0;
        if (!any)
            continue;
        for (int i = 0; i < NUM_TRACE; i++) {
            VEC *sum = room->row;
            memset(sum, 0, sizeof(VEC) * (size_t)num_vec);
            const REAL *d = a->matrix, *w = (const REAL *)(room->w + i * num_vec);
            REAL *to = (REAL *)sum;
            int step = j == 0 ? 1 : j == 1 ? line : line * line;
            for (int n = 0; n < num_node; n += line * step)
                for (int at = 0; at < line * line; at++)
                    for (int k = 0; k < step; k++)
                        to[n + at / line * step + k] += d[at] * w[n + at % line * step + k];
            for (int v = 0; v < num_vec; v++)
                slope[i * num_vec + v] +=
                    FN(by_node)(gradient, a->gradient_nodes, 3 * j + axis, v, num_vec) * sum[v];
        }
    }
}
#else
INLINE void FN(layer_volume)(const struct dg_cpu *t, const struct dg_layer_args *a, const REAL *gradient,
                             int axis, const struct FN(layer_room) * room, VEC *slope)
{
    int num_node = t->num_node, num_part = a->pitch / PART_LANES;
    const PART *matrix = a->matrix;
    const REAL *w = (const REAL *)room->w;
    PART *to = (PART *)slope;
    for (int p = 0; p < num_part; p++) {
        PART sum[NUM_TRACE] = {{0}};
        for (int k = 0; k < num_node; k++) {
            PART d = {0}; /* the derivative along the axis */
            for (int j = 0; j < 3; j++)
                d += gradient[3 * j + axis] * matrix[(j * num_node + k) * num_part + p];
#pragma GCC unroll 8
            for (int i = 0; i < NUM_TRACE; i++)
                sum[i] += d * w[i * a->pitch + k];
        }
        for (int i = 0; i < NUM_TRACE; i++)
            to[i * num_part + p] += sum[i];
    }
}
#endif

#if LINES
/* The outward normal of a face at a node of it, in the lengths of grad r_j. */
INLINE void FN(layer_normal)(const struct dg_layer_args *a, const REAL *gradient, int face, int n, REAL *m)
{
    for (int i = 0; i < 3; i++) {
        REAL g = gradient[a->gradient_nodes ? (3 * (face / 2) + i) * a->pitch + n : 3 * (face / 2) + i];
        m[i] = face % 2 ? g : -g;
    }
}

/* What stands beyond a node of a face. */
INLINE void FN(layer_outer)(const struct dg_cpu *t, const struct dg_layer_args *a, int neighbor, int m,
                            int axis, const REAL *w, const REAL *normal, REAL *out)
{
    if (neighbor < 0) {
        NAME(scalar_axis_reflect)(-1 - neighbor, w, normal, out);
        return;
    }
    REAL q[NUM_FIELD], frame[NUM_FRAME];
    int n = a->face_node[NEIGHBOR_SIDE(neighbor) * t->num_face_node + m];
    for (int f = 0; f < NUM_FIELD; f++)
        q[f] = ((const REAL *)a->q)[FN(at)(t, NEIGHBOR_ELEM(neighbor), n, f)];
    NAME(scalar_axis_frame)(axis, frame);
    NAME(scalar_trace)(q, frame, out);
}

/* Adds to the slope what faces lift, with the central flux: (w+ - w-) / 2 times the normal's component along the axis. */
INLINE void FN(layer_faces)(const struct dg_cpu *t, const struct dg_layer_args *a, int64_t elem,
                            const REAL *gradient, int axis, const struct FN(layer_room) * room, VEC *to)
{
    const REAL *w = (const REAL *)room->w;
    REAL *slope = (REAL *)to;
    for (int face = 0; face < NUM_FACE; face++) {
        int neighbor = a->neighbor[NUM_FACE * elem + face];
        const int *node = a->face_node + face * t->num_face_node;
        for (int m = 0; m < t->num_face_node; m++) {
            REAL normal[3], in[NUM_TRACE], out[NUM_TRACE];
            FN(layer_normal)(a, gradient, face, node[m], normal);
            if (normal[axis] == 0)
                continue;
            for (int i = 0; i < NUM_TRACE; i++)
                in[i] = w[i * a->pitch + node[m]];
            FN(layer_outer)(t, a, neighbor, m, axis, in, normal, out);
            for (int i = 0; i < NUM_TRACE; i++) {
                REAL jump = (REAL)0.5 * normal[axis] * (out[i] - in[i]);
                slope[i * a->pitch + node[m]] += (REAL)t->inv_end_weight * jump;
            }
        }
    }
}
#else
#include "cpu_layer_faces.inc.h"
#endif

/* The share of an item in the rates of the cell, and the stage of its memory variables. */
INLINE void FN(layer_item)(const struct dg_layer_args *a, int64_t item, int axis, const REAL *coef,
                           const VEC *slopes, struct FN(layer_room) * room)
{
    int num_vec = a->pitch / LANES;
    const VEC *profile = (const VEC *)a->profile + item * LAYER_NUMBER * num_vec;
    VEC *psi = (VEC *)a->psi + item * NUM_TRACE * num_vec,
        *psi_r = (VEC *)a->psi_r + item * NUM_TRACE * num_vec;
    const VEC *psi_r1 = (const VEC *)a->psi_r1 + item * NUM_TRACE * num_vec;
    REAL ra = (REAL)a->a, rb = (REAL)a->b, dt = (REAL)a->dt;
    REAL c0 = (REAL)a->c0, c1 = (REAL)a->c1, c2 = (REAL)a->c2;
    for (int v = 0; v < num_vec; v++) {
        VEC z[NUM_TRACE], at[NUM_COEF], rates[NUM_FIELD];
        for (int i = 0; i < NUM_COEF; i++)
            at[i] = FN(by_node)(coef, a->coef_nodes, i, v, num_vec);
        for (int i = 0; i < NUM_TRACE; i++) {
            int k = i * num_vec + v;
            VEC slope = slopes[k], old = psi[k];
            VEC rate =
                -(profile[LAYER_DECAY * num_vec + v] * old + profile[LAYER_GAIN * num_vec + v] * slope);
            z[i] = profile[LAYER_LESS * num_vec + v] * slope + old;
            if (a->update == UPDATE_LSRK) {
                VEC r = a->a == 0 ? dt * rate : ra * psi_r[k] + dt * rate; /* at first r may hold anything */
                psi_r[k] = r;
                psi[k] = old + rb * r;
            } else {
                if (a->update == UPDATE_AB3)
                    psi[k] = old + (c0 * rate + c1 * psi_r1[k] + c2 * psi_r[k]);
                psi_r[k] = rate;
            }
        }
        FN(axis_rates)(axis, z, at, rates);
        for (int f = 0; f < NUM_FIELD; f++)
            room->rhs[f * num_vec + v] +=
                rates[f] - profile[LAYER_FADE * num_vec + v] * room->q[f * num_vec + v];
    }
}

INLINE void FN(layer_load)(const struct dg_cpu *t, const struct dg_layer_args *a, int64_t elem,
                           struct FN(layer_room) * room)
{
    size_t bytes = sizeof(VEC) * (size_t)(NUM_FIELD * a->pitch / LANES);
    REAL *q = (REAL *)room->q;
    memset(room->q, 0, bytes);
    memset(room->rhs, 0, bytes);
    for (int f = 0; f < NUM_FIELD; f++)
        for (int n = 0; n < t->num_node; n++)
            q[f * a->pitch + n] = ((const REAL *)a->q)[FN(at)(t, elem, n, f)];
}

INLINE void FN(layer_traces)(const struct dg_layer_args *a, int axis, struct FN(layer_room) * room)
{
    int num_vec = a->pitch / LANES;
    VEC frame[NUM_FRAME];
    FN(axis_frame)(axis, frame);
    for (int v = 0; v < num_vec; v++) {
        VEC q[NUM_FIELD], w[NUM_TRACE];
        for (int f = 0; f < NUM_FIELD; f++)
            q[f] = room->q[f * num_vec + v];
        FN(trace)(q, frame, w);
        for (int i = 0; i < NUM_TRACE; i++)
            room->w[i * num_vec + v] = w[i];
    }
}

/* Adds the rates to what the stage wrote. */
INLINE void FN(layer_store)(const struct dg_cpu *t, const struct dg_layer_args *a, int64_t elem,
                            const struct FN(layer_room) * room)
{
    const REAL *rhs = (const REAL *)room->rhs;
    REAL to_r = a->update == UPDATE_LSRK ? (REAL)a->dt : 1;
    REAL to_q = a->update == UPDATE_LSRK ? (REAL)(a->b * a->dt) : (REAL)a->c0;
    for (int f = 0; f < NUM_FIELD; f++)
        for (int n = 0; n < t->num_node; n++) {
            int64_t at = FN(at)(t, elem, n, f);
            ((REAL *)a->r)[at] += to_r * rhs[f * a->pitch + n];
            if (a->update != UPDATE_RHS)
                ((REAL *)a->q_new)[at] += to_q * rhs[f * a->pitch + n];
        }
}

/* The layers' share of a stage of one cell, which is cell number `cell` of layers. */
CLONES static void FN(layer_pass)(const struct dg_cpu *t, const struct dg_layer_args *a, int64_t cell,
                                  void *memory)
{
    int num_vec = a->pitch / LANES;
    VEC *values = memory;
    struct FN(layer_room) all = {.q = values,
                                 .rhs = values + NUM_FIELD * num_vec,
                                 .fix = values + 2 * NUM_FIELD * num_vec,
                                 .w = values + 3 * NUM_FIELD * num_vec,
                                 .row = values + (3 * NUM_FIELD + 4 * NUM_TRACE) * num_vec},
                          *room = &all;
    int64_t elem = a->elem[cell];
    const REAL *gradient = (const REAL *)a->gradient + cell * 9 * (a->gradient_nodes ? a->pitch : 1);
    const REAL *coef = (const REAL *)a->coef + cell * NUM_COEF * (a->coef_nodes ? a->pitch : 1);
    const int *axes = a->axis + a->first[cell];
    int num_item = a->first[cell + 1] - a->first[cell];
    FN(layer_load)(t, a, elem, room);
    for (int i = 0; i < num_item; i++) {
        room->slope[i] = room->w + (1 + i) * NUM_TRACE * num_vec;
        memset(room->slope[i], 0, sizeof(VEC) * (size_t)(NUM_TRACE * num_vec));
        FN(layer_traces)(a, axes[i], room);
        FN(layer_volume)(t, a, gradient, axes[i], room, room->slope[i]);
#if LINES
        FN(layer_faces)(t, a, elem, gradient, axes[i], room, room->slope[i]);
#endif
    }
#if !LINES
    FN(layer_faces)(t, a, elem, cell, axes, num_item, room);
    FN(layer_fix)(a, coef, room);
#endif
    for (int i = 0; i < num_item; i++)
        FN(layer_item)(a, a->first[cell] + i, axes[i], coef, room->slope[i], room);
    FN(layer_store)(t, a, elem, room);
}

#undef VAL
#undef FN
/* of the shape, by physics */
#undef NUM_LINE
#undef LINE_REF
#undef LINE_ACC
#undef LINE_SIGN
