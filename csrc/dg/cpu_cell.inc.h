/* cpu_cell.inc.h: the CPU stage on one hexahedron at a time, whose lines of CELL_LINE = 4 or 8 nodes fill vectors: lanes
 * are nodes of a plane, a vector CELL_ROWS rows of it. A cell stays in the first cache, and memory holds
 * [elem][field][node], so that nothing is transposed. Faces are picked from vectors by permutations. Part of
 * cpu_stage.inc.h, whose functions of the physics it shares; AVX-512 only. Not here: other lines (cpu_lines.inc.h). */

#undef CELL
#undef CELL_ROWS
#undef UNROLL_FACE
#undef CELL_PLANE
#undef CELL_VECS
/* UNROLL_FACE: loops over fields and vectors of a face; of lines of 8 nodes their code would outgrow its cache. */
#undef CELL_OF_ALL
#if CELL_LINE == 4
#define CELL(name)        FN(name##_4)
#define CELL_OF_ALL(name) NAMED(name##_4)
#define UNROLL_FACE       _Pragma("GCC unroll 9")
#else
#define CELL(name)        FN(name##_8)
#define CELL_OF_ALL(name) NAMED(name##_8)
#define UNROLL_FACE       _Pragma("GCC unroll 1")
#endif
#define CELL_ROWS  (LANES / CELL_LINE)             /* of nodes, in a vector */
#define CELL_PLANE (CELL_LINE * CELL_LINE / LANES) /* vectors */
#define CELL_VECS  (CELL_LINE * CELL_PLANE)        /* of a cell */

/* Lines in groups that share reference components: of which each has REF_SLOT. */
#undef NUM_GROUP
#undef GROUP_LINE
#undef REF_GROUP
#undef REF_SLOT
#if GRAD_DIV
#define NUM_GROUP            GRAD_DIV
#define GROUP_LINE(group, i) ((group) + (i) * GRAD_DIV)
#define REF_GROUP(i)         ((i) % GRAD_DIV)
#define REF_SLOT(i)          ((i) / GRAD_DIV)
#else
#define NUM_GROUP            2
#define GROUP_LINE(group, i) (2 * (group) + (i))
#define REF_GROUP(i)         (1 - (i) / 3)
#define REF_SLOT(i)          ((i) % 3)
#endif

#if !BOTH_JUMPS /* the first of the fluxes (cpu_fluxes.inc.h) */
#include "cpu_cell_lines.inc.h"
#endif

/* What a cell knows: numbers of its own, one a lane or the same in all. */
struct CELL(cell) {
    int64_t elem;
    VEC own_metric[HEX_METRIC], own_coef[NUM_COEF];
    const VEC *metric; /* [HEX_METRIC], or of nodes [HEX_METRIC][CELL_VECS] */
    const VEC *coef;   /* [NUM_COEF], or [NUM_COEF][CELL_VECS] */
    bool fluid;        /* has the products of fluids */
};

/* Value i of vector v: of an array [i], or of one by node, [i][CELL_VECS]. */
INLINE VEC CELL(value)(const VEC *array, bool by_node, int i, int v)
{
    return by_node ? array[i * CELL_VECS + v] : array[i];
}

/* ---- lanes ---- */

/* The first `have` lanes of a, then those of b. */
INLINE VEC CELL(join)(VEC a, VEC b, int have)
{
#define NODE(lane, have) (lane) < (have) ? (lane) : (lane) < 2 * (have) ? LANES + (lane) - (have) : 0
    IVEC mask = EACH_LANE(NODE, have);
#undef NODE
    return __builtin_shuffle(a, b, mask);
}

/* Row r of a, then that of b. */
INLINE VEC CELL(two_rows)(VEC a, VEC b, int r)
{
#define NODE(lane, r) ((lane) / CELL_LINE % 2 * LANES + (r) * CELL_LINE + (lane) % CELL_LINE)
    IVEC mask = EACH_LANE(NODE, r);
#undef NODE
    return __builtin_shuffle(a, b, mask);
}

/* Node l of the rows of a, then of b. */
INLINE VEC CELL(two_ends)(VEC a, VEC b, int l)
{
#define NODE(lane, l) ((lane) / CELL_ROWS % 2 * LANES + (lane) % CELL_ROWS * CELL_LINE + (l))
    IVEC mask = EACH_LANE(NODE, l);
#undef NODE
    return __builtin_shuffle(a, b, mask);
}

/* to [CELL_PLANE]: a field at the nodes of a face. */
INLINE void CELL(pick)(const VEC *field, int face, VEC *to)
{
    int end = face % 2 * (CELL_LINE - 1);
    if (face / 2 == 2) {
        UNROLL_FACE
        for (int f = 0; f < CELL_PLANE; f++)
            to[f] = field[end * CELL_PLANE + f];
    } else if (face / 2 == 1) {
        UNROLL_FACE
        for (int f = 0; f < CELL_PLANE; f++) {
            const VEC *from = field + f * CELL_ROWS * CELL_PLANE + end / CELL_ROWS;
            int r = end % CELL_ROWS;
            to[f] = from[0];
            if (CELL_ROWS > 1)
                to[f] = CELL(two_rows)(from[0], from[CELL_PLANE], r);
            if (CELL_ROWS > 2)
                to[f] = CELL(join)(to[f], CELL(two_rows)(from[2 * CELL_PLANE], from[3 * CELL_PLANE], r),
                                   2 * CELL_LINE);
        }
    } else {
        UNROLL_FACE
        for (int f = 0; f < CELL_PLANE; f++) {
            const VEC *from = field + f * CELL_LINE;
            VEC part[CELL_LINE / 2];
#pragma GCC unroll 4
            for (int i = 0; i < CELL_LINE / 2; i++)
                part[i] = CELL(two_ends)(from[2 * i], from[2 * i + 1], end);
#pragma GCC unroll 4
            for (int i = 0; i < CELL_LINE / 4; i++)
                part[i] = CELL(join)(part[2 * i], part[2 * i + 1], 2 * CELL_ROWS);
            if (CELL_LINE == 8)
                part[0] = CELL(join)(part[0], part[1], 4 * CELL_ROWS);
            to[f] = part[0];
        }
    }
}

/* Adds values of the two faces across an axis, [CELL_PLANE] each, to a field. */
INLINE void CELL(put)(int axis, const VEC *low, const VEC *high, VEC *field)
{
    enum { END = CELL_LINE - 1 };
    VEC none = {0};
    if (axis == 2) {
        for (int f = 0; f < CELL_PLANE; f++) {
            field[f] += low[f];
            field[END * CELL_PLANE + f] += high[f];
        }
    } else if (axis == 1) {
#pragma GCC unroll 8
        for (int k = 0; k < CELL_LINE; k++) {
            VEC *to = field + k * CELL_PLANE;
            VEC a = low[k / CELL_ROWS], b = high[k / CELL_ROWS];
            int r = k % CELL_ROWS;
            if (CELL_PLANE > 1) {
/* row r of a face as the first or the last row */
#define FIRST_ROW(lane, r) ((lane) < CELL_LINE ? (r) * CELL_LINE + (lane) : LANES)
#define LAST_ROW(lane, r)                                                                                    \
    ((lane) >= LANES - CELL_LINE ? (r) * CELL_LINE + (lane) - (LANES - CELL_LINE) : LANES)
                IVEC first = EACH_LANE(FIRST_ROW, r), last = EACH_LANE(LAST_ROW, r);
                to[0] += __builtin_shuffle(a, none, first);
                to[CELL_PLANE - 1] += __builtin_shuffle(b, none, last);
            } else {
#define BOTH_ROWS(lane, r)                                                                                   \
    ((lane) < CELL_LINE ? (r) * CELL_LINE + (lane) : LANES + (r) * CELL_LINE + (lane) % CELL_LINE)
#define ROW_LANES(lane, r) ((lane) < CELL_LINE || (lane) >= LANES - CELL_LINE ? -1 : 0 * (r))
                IVEC both = EACH_LANE(BOTH_ROWS, r), keep = EACH_LANE(ROW_LANES, r);
                to[0] += (VEC)((IVEC)__builtin_shuffle(a, b, both) & keep);
            }
        }
    } else {
        UNROLL_FACE
        for (int f = 0; f < CELL_PLANE; f++)
#pragma GCC unroll 8
            for (int i = 0; i < CELL_LINE; i++) {
#define BOTH_NODES(lane, i)                                                                                  \
    ((lane) % CELL_LINE / (CELL_LINE / 2) * LANES + (i) * CELL_ROWS + (lane) / CELL_LINE)
#define NODE_LANES(lane, i) ((lane) % CELL_LINE == 0 || (lane) % CELL_LINE == END ? -1 : 0 * (i))
                IVEC both = EACH_LANE(BOTH_NODES, i), keep = EACH_LANE(NODE_LANES, i);
                field[f * CELL_LINE + i] += (VEC)((IVEC)__builtin_shuffle(low[f], high[f], both) & keep);
            }
    }
#undef FIRST_ROW
#undef LAST_ROW
#undef BOTH_ROWS
#undef ROW_LANES
#undef BOTH_NODES
#undef NODE_LANES
}

/* ---- faces ---- */

/* What lies outside a face: states [field][CELL_PLANE]; else as struct outside. */
struct CELL(outside) {
    VEC q[NUM_FIELD * CELL_PLANE];
    VEC mirror[NUM_MIRROR];
    VEC upwind;
    bool inside;
};

/* Exact data, [face node][field]. */
INLINE void CELL(add_exact)(const struct dg_args *a, int64_t slot, REAL sign, VEC *to)
{
    enum { NUM = CELL_LINE * CELL_LINE };
    const REAL *q = (const REAL *)a->exact + ((int64_t)a->time * a->num_exact_face + slot) * NUM * NUM_FIELD;
    for (int c = 0; c < NUM_FIELD; c++)
        for (int m = 0; m < NUM; m++)
            to[c * CELL_PLANE + m / LANES][m % LANES] += sign * q[m * NUM_FIELD + c];
}

AVX512 static void CELL(load_outside)(const struct dg_cpu *t, const struct dg_args *a, int64_t elem, int face,
                                      struct CELL(outside) * o)
{
    enum { NUM = CELL_LINE * CELL_LINE };
    int neighbor = a->neighbor[NUM_FACE * elem + face];
    bool inside = neighbor >= 0, boundary = !inside && neighbor > -1 - BOUNDARY_EXACT;
    int side = inside ? NEIGHBOR_SIDE(neighbor) : face;
    const VEC *q = (const VEC *)a->q + (inside ? NEIGHBOR_ELEM(neighbor) : elem) * NUM_FIELD * CELL_VECS;
    REAL mirror[NUM_MIRROR];
    FN(mirror)(boundary ? -1 - neighbor : BOUNDARY_NONE, mirror);
    for (int i = 0; i < NUM_MIRROR; i++)
        o->mirror[i] = all_lanes(mirror[i]);
    o->upwind = all_lanes((REAL)(t->upwind || neighbor == -1 - BOUNDARY_ABSORBING));
    o->inside = inside;
    if (!inside && !boundary) {
        memset(o->q, 0, sizeof o->q);
        CELL(add_exact)(a, -1 - BOUNDARY_EXACT - neighbor, 1, o->q);
        return;
    }
#define PICK(face)                                                                                           \
    case face:                                                                                               \
        _Pragma("GCC unroll 1") for (int c = 0; c < NUM_FIELD; c++)                                          \
            CELL(pick)(q + c * CELL_VECS, face, o->q + c * CELL_PLANE);                                      \
        break
    switch (side % NUM_FACE) {
        PICK(0);
        PICK(1);
        PICK(2);
        PICK(3);
        PICK(4);
        PICK(5);
    }
#undef PICK
    if (side < NUM_FACE)
        return;
    /* the neighbour's face is turned: on a face across axis 3 the numbers of nodes are places on it */
    const int *place = a->face_node + (side / NUM_FACE * NUM_FACE + 4) * NUM;
    for (int c = 0; c < NUM_FIELD; c++) {
        REAL straight[NUM], *to = (REAL *)(o->q + c * CELL_PLANE);
        memcpy(straight, to, sizeof straight);
        for (int m = 0; m < NUM; m++)
            to[m] = straight[place[m]];
    }
}

/* What the next cell reads of a neighbour. */
INLINE void CELL(prefetch_face)(const struct dg_args *a, int64_t face)
{
    int neighbor = face < NUM_FACE * a->num_elem ? a->neighbor[face] : -1;
    if (neighbor < 0)
        return;
    const VEC *q = (const VEC *)a->q + (int64_t)NEIGHBOR_ELEM(neighbor) * NUM_FIELD * CELL_VECS;
    int seen = NEIGHBOR_SIDE(neighbor) % NUM_FACE, end = seen % 2 * (CELL_LINE - 1);
    int first = seen / 2 == 0 ? 0 : seen / 2 == 1 ? end / CELL_ROWS : end * CELL_PLANE;
    int step = seen / 2 == 1 ? CELL_PLANE : 1, num = seen / 2 == 0   ? CELL_VECS
                                                     : seen / 2 == 1 ? CELL_LINE
                                                                     : CELL_PLANE;
    for (int c = 0; c < NUM_FIELD; c++)
#pragma GCC unroll 1
        for (int i = 0; i < num; i++)
            __builtin_prefetch(q + c * CELL_VECS + first + i * step, 0, 3);
}

/* Frames and coefficients of a face's nodes, [CELL_PLANE] of each; or one of each. */
struct CELL(frames) {
    VEC frame[CELL_PLANE][NUM_FRAME], coef[CELL_PLANE][NUM_FACE_COEF];
};

/* Arrays of a cell and of the faces across an axis. One object for a whole block of cells, not variables of the loops
 * over axes and sides: where these are unrolled, gcc 12 takes an address from one side for the next, overlooks that
 * use, and lets the array share its place on the stack with one that is still needed (its bugs 90348 and 113372). */
struct CELL(work) {
    struct CELL(cell) cell;
    struct CELL(outside) outside;
    struct CELL(frames) at;
    VEC metric[9][CELL_PLANE];
    VEC own[NUM_FIELD][CELL_PLANE];
    VEC jumps[CELL_PLANE * NUM_JUMP];
    VEC lifted[2][NUM_LINE][CELL_PLANE];
};

/* To w->at. */
INLINE void CELL(load_frames)(const struct dg_cpu *t, const struct dg_args *a, int face, bool affine,
                              struct CELL(work) * w)
{
    const struct CELL(cell) *cell = &w->cell;
    struct CELL(frames) *to = &w->at;
    const REAL *coef = (const REAL *)t->cell_face_coef +
                       (cell->elem * NUM_FACE + face) * NUM_FACE_COEF * (BY_NODE ? t->num_face_node : 1);
    (void)a;
#pragma GCC unroll 9
    for (int i = 0; i < 9; i++)
        if (!affine && (GRAD_DIV ? i / 3 == face / 2 : i / 3 != face / 2))
            CELL(pick)(cell->metric + i * CELL_VECS, face, w->metric[i]);
    for (int f = 0; f < (affine && !BY_NODE ? 1 : CELL_PLANE); f++) {
        VEC g[9], own[NUM_FACE_COEF];
#pragma GCC unroll 9
        for (int i = 0; i < 9; i++)
            if (GRAD_DIV ? i / 3 == face / 2 : i / 3 != face / 2)
                g[i] = affine ? cell->metric[i] : w->metric[i][f];
        FN(frame)(g, face, to->frame[f]);
        for (int i = 0; i < NUM_FACE_COEF; i++)
            own[i] = BY_NODE ? ((const VEC *)coef)[i * CELL_PLANE + f] : all_lanes(coef[i]);
        if (affine && !BY_NODE)
            memcpy(to->coef[f], own, sizeof own);
        else
            FN(join)(own, FN(area)(to->frame[f]), to->coef[f]);
    }
}

/* w->jumps [CELL_PLANE][NUM_JUMP] of a face, from q [NUM_FIELD][CELL_VECS]. */
INLINE void CELL(jumps)(const struct dg_cpu *t, const struct dg_args *a, const VEC *q, int face,
                        bool one_frame, struct CELL(work) * w)
{
    struct CELL(outside) *o = &w->outside;
    int neighbor = a->neighbor[NUM_FACE * w->cell.elem + face];
    /* most cells are not turned */
    if (neighbor >= 0 && NEIGHBOR_SIDE(neighbor) == (face ^ 1)) {
        const VEC *beside = (const VEC *)a->q + (int64_t)NEIGHBOR_ELEM(neighbor) * NUM_FIELD * CELL_VECS;
        UNROLL_FACE
        for (int c = 0; c < NUM_FIELD; c++)
            CELL(pick)(beside + c * CELL_VECS, face ^ 1, o->q + c * CELL_PLANE);
        o->inside = true;
    } else
        CELL(load_outside)(t, a, w->cell.elem, face, o);
    UNROLL_FACE
    for (int c = 0; c < NUM_FIELD; c++)
        CELL(pick)(q + c * CELL_VECS, face, w->own[c]);
    UNROLL_FACE
    for (int f = 0; f < CELL_PLANE; f++) {
        VEC one[NUM_FIELD], other[NUM_FIELD], in[NUM_TRACE], seen[NUM_TRACE], out[NUM_TRACE];
        const VEC *frame = w->at.frame[one_frame ? 0 : f], *coef = w->at.coef[one_frame ? 0 : f];
#pragma GCC unroll 9
        for (int c = 0; c < NUM_FIELD; c++) {
            one[c] = w->own[c][f];
            other[c] = o->q[c * CELL_PLANE + f];
        }
        FN(trace)(one, frame, in);
        FN(trace)(other, frame, seen);
        if (!o->inside) {
            FN(reflect)(seen, frame, coef, o->mirror, out);
            for (int i = 0; i < NUM_TRACE; i++)
                seen[i] = out[i];
        }
        VEC upwind = all_lanes((REAL)t->upwind);
        if (BOTH_JUMPS && !o->inside)
            upwind = o->upwind;
        FN(jump)(in, seen, frame, coef, upwind, w->jumps + f * NUM_JUMP);
    }
}

/* As add_incident, of one face. */
AVX512 static void CELL(add_incident)(const struct dg_cpu *t, const struct dg_args *a, int64_t elem,
                                      int64_t index, int face, bool one_frame, const struct CELL(frames) * at,
                                      VEC *s)
{
    VEC change[NUM_FIELD * CELL_PLANE] = {0}, mirror[NUM_MIRROR];
    int neighbor = a->neighbor[NUM_FACE * elem + face];
    bool found = false;
    for (const struct dg_incident *i = a->incident + a->incident_range[index];
         i < a->incident + a->incident_range[index + 1]; i++)
        if (i->face == NUM_FACE * elem + face) {
            found = true;
            CELL(add_exact)(a, i->slot, (REAL)i->sign, change);
        }
    if (!found)
        return;
    REAL weight[NUM_MIRROR];
    FN(mirror)(neighbor < 0 ? -1 - neighbor : BOUNDARY_ABSORBING, weight); /* absorbing: of nothing */
    for (int k = 0; k < NUM_MIRROR; k++)
        mirror[k] = all_lanes(weight[k]);
    VEC upwind = all_lanes((REAL)(t->upwind || neighbor == -1 - BOUNDARY_ABSORBING));
    for (int f = 0; f < CELL_PLANE; f++) {
        VEC q[NUM_FIELD], in[NUM_TRACE] = {0}, out[NUM_TRACE], mirrored[NUM_TRACE], jumps[NUM_JUMP];
        const VEC *frame = at->frame[one_frame ? 0 : f], *coef = at->coef[one_frame ? 0 : f];
        for (int c = 0; c < NUM_FIELD; c++)
            q[c] = change[c * CELL_PLANE + f];
        FN(trace)(q, frame, out);
        FN(reflect)(out, frame, coef, mirror, mirrored);
        for (int k = 0; k < NUM_TRACE; k++)
            out[k] -= mirrored[k];
        FN(jump)(in, out, frame, coef, upwind, jumps);
        for (int k = 0; k < NUM_JUMP; k++)
            s[f * NUM_JUMP + k] += jumps[k];
    }
}

/* What the jumps of a face add to acc[LINE_ACC(axis, i)], to w->lifted[side][i]. */
INLINE void CELL(lift)(const struct dg_cpu *t, int face, bool one_frame, struct CELL(work) * w)
{
    UNROLL_FACE
    for (int f = 0; f < CELL_PLANE; f++) {
        VEC y[NUM_JUMP], acc[NUM_ACC] = {0};
        const VEC *frame = w->at.frame[one_frame ? 0 : f];
        VEC lift_coef[NUM_LIFT_COEF];
        FN(lift_coefficients)(frame, w->at.coef[one_frame ? 0 : f], lift_coef);
#pragma GCC unroll 8
        for (int i = 0; i < NUM_JUMP; i++)
            y[i] = (REAL)t->inv_end_weight * w->jumps[f * NUM_JUMP + i];
#if FLUIDS
        VEC add[2];
        if (w->cell.fluid) {
            FN(fluid_lifted)(y, face % 2, frame, lift_coef, add);
            acc[LINE_ACC(face / 2, face / 2)] = add[0];
            acc[LINE_ACC(face / 2, GRAD_DIV + face / 2)] = add[1];
        } else
            FN(apply_lift)(y, face, lift_coef, acc);
#else
        FN(apply_lift)(y, face, lift_coef, acc);
#endif
#pragma GCC unroll 8
        for (int i = 0; i < NUM_LINE; i++)
            w->lifted[face % 2][i][f] = acc[LINE_ACC(face / 2, i)];
    }
}

INLINE void CELL(add_faces)(const struct dg_cpu *t, const struct dg_args *a, struct CELL(work) * w,
                            int64_t index, const VEC *q, int axis, bool affine, VEC *acc)
{
#pragma GCC unroll 2
    for (int side = 0; side < 2; side++) {
        int face = 2 * axis + side;
        CELL(prefetch_face)(a, NUM_FACE * (w->cell.elem + 1) + face);
        const VEC *next = q + NUM_FIELD * CELL_VECS + face * (NUM_FIELD * CELL_VECS / NUM_FACE);
#pragma GCC unroll 1
        for (int i = 0; i < NUM_FIELD * CELL_VECS / NUM_FACE; i++)
            __builtin_prefetch(next + i, 0, 3);
        CELL(load_frames)(t, a, face, affine, w);
        CELL(jumps)(t, a, q, face, affine && !BY_NODE, w);
        if (a->incident_range)
            CELL(add_incident)(t, a, w->cell.elem, index, face, affine && !BY_NODE, &w->at, w->jumps);
        CELL(lift)(t, face, affine && !BY_NODE, w);
    }
    for (int i = 0; i < NUM_LINE; i++)
        CELL(put)(axis, w->lifted[0][i], w->lifted[1][i], acc + LINE_ACC(axis, i) * CELL_VECS);
}

/* ---- the stage ---- */

/* trilinear_metric of vector v of the nodes, from r [3][CELL_VECS] on. */
INLINE void CELL(trilinear_metric)(const VEC *map, const VEC *r, VEC *metric)
{
    const VEC *m = map + MAP_MIXED, *b = map + MAP_TRIPLE;
    VEC e[9], g[9];
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) {
        VEC next = r[(j + 1) % 3 * CELL_VECS], last = r[(j + 2) % 3 * CELL_VECS];
        for (int i = 0; i < 3; i++)
            e[3 * j + i] = (map[MAP_LINEAR + 3 * j + i] + m[3 * j + i] * next) +
                           (m[(j + 2) % 3 * 3 + i] + b[i] * next) * last;
    }
    for (int j = 0; j < 3; j++)
        FN(cofactor)(e + 3 * ((j + 1) % 3), e + 3 * ((j + 2) % 3), g + 3 * j);
    for (int i = 0; i < 9; i++)
        metric[i] = GRAD_DIV ? g[i] : e[i];
    metric[9] = map[MAP_PER_UNIT] / (e[0] * g[0] + e[1] * g[1] + e[2] * g[2]);
}

/* room [HEX_METRIC][CELL_VECS]: for metrics that are computed here. */
INLINE void CELL(load)(const struct dg_cpu *t, const struct dg_args *a, int64_t elem, bool affine, VEC *room,
                       struct CELL(cell) * cell)
{
    const REAL *words = (const REAL *)t->metric + elem * t->metric_words;
    const REAL *coef = (const REAL *)t->cell_coef + elem * NUM_COEF * (BY_NODE ? t->num_node : 1);
    (void)a;
    cell->elem = elem;
    cell->metric = affine ? cell->own_metric : t->trilinear ? room : (const VEC *)words;
    for (int i = 0; affine && i < HEX_METRIC; i++)
        cell->own_metric[i] = all_lanes(words[i]);
    if (!affine && t->trilinear) {
        VEC map[NUM_MAP];
        for (int i = 0; i < NUM_MAP; i++)
            map[i] = all_lanes(words[i]);
        for (int v = 0; v < CELL_VECS; v++) {
            VEC metric[HEX_METRIC];
            CELL(trilinear_metric)(map, (const VEC *)t->coordinate + v, metric);
            for (int i = 0; i < HEX_METRIC; i++)
                room[i * CELL_VECS + v] = metric[i];
        }
    }
    for (int i = 0; !BY_NODE && i < NUM_COEF; i++)
        cell->own_coef[i] = all_lanes(coef[i]);
    cell->coef = BY_NODE ? (const VEC *)coef : cell->own_coef;
#if FLUIDS
    cell->fluid = !affine && !(coef[FLUID_COEF * (BY_NODE ? t->num_node : 1)] > 0);
#else
    cell->fluid = false;
#endif
}

/* u [4][CELL_VECS]: those reference components that the lines of one group take. */
INLINE void CELL(to_references)(const struct CELL(cell) * cell, const VEC *q, bool affine, int group, VEC *u)
{
    for (int v = 0; v < CELL_VECS; v++) {
        VEC one[NUM_FIELD], metric[9], to[NUM_REF];
#pragma GCC unroll 16
        for (int c = 0; c < NUM_FIELD; c++)
            one[c] = q[c * CELL_VECS + v];
#pragma GCC unroll 16
        for (int i = 0; i < 9; i++)
            metric[i] = CELL(value)(cell->metric, !affine, i, v);
        FN(to_reference)(one, metric, to);
#if FLUIDS
        if (cell->fluid)
            FN(fluid_to_reference)(one, metric, to);
#endif
#pragma GCC unroll 16
        for (int i = 0; i < NUM_REF; i++)
            if (REF_GROUP(i) == group)
                u[REF_SLOT(i) * CELL_VECS + v] = to[i];
    }
}

/* From acc [NUM_ACC][CELL_VECS] the right-hand side in its place, [NUM_FIELD][CELL_VECS]: no vector reads what another
 * one has written, as a loop over vectors v writes values v alone. */
INLINE void CELL(finish)(const struct dg_cpu *t, const struct CELL(cell) * cell, const VEC *q, bool affine,
                         VEC *acc)
{
    for (int v = 0; v < CELL_VECS; v++) {
        VEC metric[HEX_METRIC], coef[NUM_COEF], sum[NUM_ACC], to[NUM_FIELD];
        for (int i = 0; i < HEX_METRIC; i++)
            metric[i] = CELL(value)(cell->metric, !affine, i, v);
        for (int i = 0; i < NUM_COEF; i++)
            coef[i] = CELL(value)(cell->coef, BY_NODE, i, v);
        for (int i = 0; i < NUM_ACC; i++)
            sum[i] = metric[HEX_METRIC - 1] * acc[i * CELL_VECS + v];
        FN(from_reference)(sum, metric, coef, to);
#if FLUIDS
        if (cell->fluid)
            FN(fluid_from_reference)(sum, metric, coef, to);
#endif
#if NUM_LOCAL
        if (t->has_local) {
            VEC one[NUM_FIELD];
            for (int c = 0; c < NUM_FIELD; c++)
                one[c] = q[c * CELL_VECS + v];
            FN(local)(one, coef + NUM_COEF - NUM_LOCAL, to);
        }
#else
        (void)t, (void)q;
#endif
        for (int c = 0; c < NUM_FIELD; c++)
            acc[c * CELL_VECS + v] = to[c];
    }
}

INLINE void CELL(add_source)(const struct dg_args *a, int i, VEC *rhs)
{
    REAL amplitude = ((const REAL *)a->amplitude)[(int64_t)a->time * a->num_source + a->source_column[i]];
    const VEC *weight = (const VEC *)a->source_weight + (int64_t)i * NUM_FIELD * CELL_VECS;
    for (int k = 0; k < NUM_FIELD * CELL_VECS; k++)
        rhs[k] += weight[k] * amplitude;
}

INLINE void CELL(run)(const struct dg_cpu *t, const struct dg_args *a, int kind, int64_t elem, int64_t index,
                      bool affine, int source, int last, struct CELL(work) * w, void *memory)
{
    VEC *u = memory, *acc = u + 4 * CELL_VECS,
        *room = acc + (NUM_ACC > NUM_FIELD ? NUM_ACC : NUM_FIELD) * CELL_VECS;
    const VEC *q = (const VEC *)a->q + elem * NUM_FIELD * CELL_VECS;
    CELL(load)(t, a, elem, affine, room, &w->cell);
#pragma GCC unroll 3
    for (int group = 0; group < NUM_GROUP; group++) {
        CELL(to_references)(&w->cell, q, affine, group, u);
        CELL_OF_ALL(lines)(t->derivative, a, kind, elem, group, u, acc);
    }
#pragma GCC unroll 3
    for (int axis = 0; axis < 3; axis++)
        CELL(add_faces)(t, a, w, index, q, axis, affine, acc);
    CELL(finish)(t, &w->cell, q, affine, acc);
    for (int i = source; i < last; i++)
        CELL(add_source)(a, i, acc);
    CELL_OF_ALL(update)(a, kind, elem, acc);
}

/* The cells of one block. */
AVX512 static void CELL(cells_stage)(const struct dg_cpu *t, const struct dg_args *a, int kind, int64_t first,
                                     int64_t index, void *memory)
{
    struct CELL(work) w;
    int source = a->source_range[index], end = a->source_range[index + 1];
    for (int64_t elem = first; elem < first + LANES && elem < a->num_elem; elem++) {
        int last = source;
        while (last < end && a->source_elem[last] == elem)
            last++;
        if (t->metric_nodes == 1)
            CELL(run)(t, a, kind, elem, index, true, source, last, &w, memory);
        else
            CELL(run)(t, a, kind, elem, index, false, source, last, &w, memory);
        source = last;
    }
}
