/* cpu_stage.inc.h: the CPU stage of DG for one precision, physics and flux; included by cpu_fluxes.inc.h,
 * which defines FN(name), VAL, BOTH_JUMPS, BY_NODE and LINES (elements of tensor nodes, else of dense matrices),
 * CELLS_ONLY (nothing but cpu_cell.inc.h).
 * A block of LANES elements is one vector (VEC) wide: lane l of each belongs to element l of the block, so
 * any degree vectorises fully. Memory holds [elem][node][field]; `gather` and `scatter` transpose on the way.
 * Volume, faces, lift and update in one pass; neighbours are read from the old state. A later loop reads
 * what `gather` stores as VECs: processors cannot forward narrow stores to a wide load.
 * Not here: threads and buffers (cpu.c). */
#include PHYSICS

#include SPACE

/* Of an element: its record, which a tetrahedron's metric begins, and coefficients of its faces. */
#if LINES
#define FIRST_COEF 0
#else
#define FIRST_COEF METRIC_WORDS
#endif
#define RECORD_WORDS(num_coef) ((FIRST_COEF + (num_coef) + 3) / 4 * 4)
/* Whether materials are by node: of lines, whose functions are long, not known to the compiler. */
#define NODE_MATERIALS     (LINES ? t->by_node : BY_NODE)
#define NUM_WORD           (NODE_MATERIALS ? t->num_word : RECORD_WORDS(NUM_COEF))
#define NUM_ELEM_FACE_COEF (NODE_MATERIALS ? t->num_face_coef : NUM_FACE * NUM_FACE_COEF)

/* ---- what a block knows ---- */

/* Geometry and the material's coefficients; face_coef, frame and coefficients of the lift of each face. Where
 * materials are by node, their coefficients are loaded with each node. */
struct FN(block) {
    VEC record[RECORD_WORDS(NUM_COEF)];
    const VEC *metric; /* [node], or one, a hexahedron's; a tetrahedron's begins its record */
    VEC face_coef[NUM_FACE][NUM_FACE_COEF];
    VEC frame[NUM_FACE][NUM_FRAME];
    VEC lift_coef[NUM_FACE][NUM_LIFT_COEF];
#if LINES && FLUIDS
    bool is_fluid[LANES],
        has[2]; /* whether an element has the products of fluids; whether any has not, any has */
    bool fluid; /* the products at hand are those of fluids */
#endif
};

/* room [node][NUM_METRIC]: for metrics that are computed here. */
INLINE void FN(load_metric)(const struct dg_cpu *t, const int64_t *elem, struct FN(block) * b, VEC *room)
{
#if LINES
    const VEC *words = (const VEC *)t->metric + elem[0] / LANES * t->metric_words;
    b->metric = t->trilinear ? room : words;
    for (int n = 0; t->trilinear && n < t->num_node; n++)
        FN(trilinear_metric)(words, (const REAL *)t->coordinate + 3 * n, !GRAD_DIV, room + n * NUM_METRIC);
#else
    (void)t, (void)elem, (void)room;
    b->metric = b->record;
#endif
}

#if LINES
/* `join_area` of hex_gll.h with loops that the compiler is to unroll: it knows the powers then. */
INLINE void FN(join)(const VEC *material, VEC area, VEC *face_coef)
{
    enum { MOST_POWER = 3 };
    static const signed char power[NUM_FACE_COEF][2] = FACE_COEF_POWERS;
    VEC inverse = 1 / area;
#pragma GCC unroll 16
    for (int i = 0; i < NUM_FACE_COEF; i++) {
        VEC coef = material[i];
#pragma GCC unroll 4
        for (int k = 0; k < MOST_POWER; k++) {
            if (k < power[i][1])
                coef *= area;
            if (k < -power[i][1])
                coef *= inverse;
        }
        face_coef[i] = coef;
    }
}
#endif

INLINE void FN(load_tables)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem,
                            struct FN(block) * b, VEC *room)
{
    const REAL *record[LANES], *face_coef[LANES];
    for (int l = 0; l < LANES; l++) {
        record[l] = (const REAL *)a->record + NUM_WORD * elem[l];
        face_coef[l] = (const REAL *)a->face_coef + NUM_ELEM_FACE_COEF * elem[l];
    }
    COMMON.gather(record, RECORD_WORDS(NUM_COEF), b->record);
    COMMON.gather(face_coef, NUM_FACE * NUM_FACE_COEF, b->face_coef[0]);
    FN(load_metric)(t, elem, b, room);
    for (int face = 0; face < NUM_FACE; face++) {
        FN(frame)(b->metric, face, b->frame[face]);
#if LINES
        if (!NODE_MATERIALS && t->metric_nodes == 1)
            FN(join)(b->face_coef[face], FN(area)(b->frame[face]), b->face_coef[face]);
#else
        FN(lift_coefficients)(b->frame[face], b->face_coef[face], b->lift_coef[face]);
#endif
    }
#if LINES && FLUIDS
    b->has[0] = b->has[1] = b->fluid = false;
    for (int l = 0; l < LANES; l++) {
        b->is_fluid[l] = t->metric_nodes > 1 && !(b->record[FIRST_COEF + FLUID_COEF][l] > 0);
        b->has[b->is_fluid[l]] = true;
    }
#endif
}

/* The metric at a node. */
INLINE const VEC *FN(metric_at)(const struct dg_cpu *t, const struct FN(block) * b, int node)
{
    return LINES && t->metric_nodes > 1 ? b->metric + node * HEX_METRIC : b->metric;
}

/* q [node][NUM_FIELD]. */
INLINE void FN(load_state)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem, VEC *q)
{
    const REAL *from[LANES];
    for (int l = 0; l < LANES; l++)
        from[l] = (const REAL *)a->q + elem[l] * t->num_node * NUM_FIELD;
    COMMON.gather(from, t->num_node * NUM_FIELD, q);
}

/* ---- faces ---- */

/* What lies outside one face: states [face node][field], how their traces are reflected, and 1 where the
 * flux is upwind. A boundary face sees the element's own state. */
struct FN(outside) {
    VEC q[MAX_FACE_NODE * NUM_FIELD];
    VEC mirror[NUM_MIRROR];
    VEC upwind;
    bool inside; /* neighbours on all lanes */
};

/* to [face node][field] from q[l][node[l][face node]]; same: the lists of nodes are. */
INLINE void FN(gather_traces)(const REAL *const q[LANES], const int *const node[LANES], int num, bool same,
                              VEC *to)
{
    for (int l = 0; l < LANES; l += PART_LANES)
        for (int m = 0; m < num; m++) {
            const REAL *from[PART_LANES];
            for (int k = 0; k < PART_LANES; k++)
                from[k] = q[l + k] + (int64_t)node[same ? 0 : l + k][m] * NUM_FIELD;
            gather_part(from, NUM_FIELD, (REAL *)(to + m * NUM_FIELD) + l);
        }
}

INLINE void FN(load_outside)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem, int face,
                             struct FN(outside) * o)
{
    int num = t->num_face_node;
    const REAL *q[LANES]; /* where node[l][m] counts from: the neighbour, the element, or the exact data */
    const int *node[LANES];
    o->inside = true;
    for (int l = 0; l < LANES; l++) {
        int neighbor = a->neighbor[NUM_FACE * elem[l] + face];
        REAL mirror[NUM_MIRROR];
        o->inside = o->inside && neighbor >= 0;
        bool inside = neighbor >= 0, boundary = !inside && neighbor > -1 - BOUNDARY_EXACT;
        int64_t slot = (int64_t)a->time * a->num_exact_face + (-1 - BOUNDARY_EXACT - neighbor);
        q[l] = (const REAL *)a->q + (inside ? NEIGHBOR_ELEM(neighbor) : elem[l]) * t->num_node * NUM_FIELD;
        if (!inside && !boundary)
            q[l] = (const REAL *)a->exact + slot * num * NUM_FIELD;
        node[l] = a->face_node + (inside ? NEIGHBOR_SIDE(neighbor) : boundary ? face : NUM_SIDE) * num;
#if LINES /* the opposite face has the same nodes elsewhere: where cells are not turned, all lanes have one list */
        if (boundary) {
            q[l] += (a->face_node[face * num] - a->face_node[(face ^ 1) * num]) * NUM_FIELD;
            node[l] = a->face_node + (face ^ 1) * num;
        }
#endif
        FN(mirror)(boundary ? -1 - neighbor : BOUNDARY_NONE, mirror);
        for (int i = 0; i < NUM_MIRROR; i++)
            o->mirror[i][l] = mirror[i];
        o->upwind[l] = ((BY_NODE || LINES) && t->upwind) || neighbor == -1 - BOUNDARY_ABSORBING;
    }
    bool same = LINES;
    for (int l = 1; l < LANES; l++)
        same = same && node[l] == node[0];
    if (same)
        FN(gather_traces)(q, node, num, true, o->q);
    else
        FN(gather_traces)(q, node, num, false, o->q);
}

/* Frame and coefficients of a node of a face: the block's, or its own. */
struct FN(face_node) {
    VEC own_frame[NUM_FRAME], own_coef[NUM_FACE_COEF];
    const VEC *frame, *coef;
};

INLINE void FN(face_at)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem,
                        const struct FN(block) * b, int face, int m, struct FN(face_node) * at)
{
    at->frame = b->frame[face];
    at->coef = b->face_coef[face];
    if (NODE_MATERIALS) {
        const REAL *from[LANES];
        for (int l = 0; l < LANES; l++)
            from[l] = (const REAL *)a->face_coef + NUM_ELEM_FACE_COEF * elem[l] +
                      (face * t->num_face_node + m) * NUM_FACE_COEF;
        gather(from, NUM_FACE_COEF, at->own_coef);
        at->coef = at->own_coef;
    }
#if LINES
    if (t->metric_nodes > 1) {
        FN(frame)(FN(metric_at)(t, b, a->face_node[face * t->num_face_node + m]), face, at->own_frame);
        at->frame = at->own_frame;
    }
    if (NODE_MATERIALS || t->metric_nodes > 1) {
        FN(join)(at->coef, FN(area)(at->frame), at->own_coef);
        at->coef = at->own_coef;
    }
#endif
}

/* s [face][face node][NUM_JUMP], of dense elements from u [node][NUM_REF], of lines from q [node][NUM_FIELD]. */
INLINE void FN(faces)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem,
                      const struct FN(block) * b, const VEC *u, VEC *s)
{
    struct FN(outside) outside;
    for (int face = 0; face < NUM_FACE; face++) {
        FN(load_outside)(t, a, elem, face, &outside);
        const int *node = a->face_node + face * t->num_face_node;
        for (int m = 0; m < t->num_face_node; m++, s += NUM_JUMP) {
            VEC in[NUM_TRACE], seen[NUM_TRACE], out[NUM_TRACE];
            struct FN(face_node) at;
            FN(face_at)(t, a, elem, b, face, m, &at);
#if LINES
            FN(trace)(u + node[m] * NUM_FIELD, at.frame, in);
#else
            FN(trace_reference)(u + node[m] * NUM_REF, face, in);
#endif
            FN(trace)(outside.q + m * NUM_FIELD, at.frame, seen);
            if (!outside.inside)
                FN(reflect)(seen, at.frame, at.coef, outside.mirror, out);
            FN(jump)(in, outside.inside ? seen : out, at.frame, at.coef, outside.upwind, s);
        }
    }
}

/* Adds what incident waves make of the jumps at faces of the block's elements: the flux is linear, so each
 * is the jump from nothing to the change of the outer state. */
INLINE void FN(add_incident)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem,
                             int64_t index, const struct FN(block) * b, VEC *s)
{
    int num = t->num_face_node;
    const struct dg_incident *begin = a->incident + a->incident_range[index];
    const struct dg_incident *end = a->incident + a->incident_range[index + 1];
    for (int face = 0; begin < end && face < NUM_FACE; face++, s += num * NUM_JUMP) {
        struct FN(outside) change = {0};
        for (const struct dg_incident *i = begin; i < end; i++) {
            int64_t lane = FACE_ELEM(i->face) - elem[0];
            int neighbor = a->neighbor[i->face];
            REAL mirror[NUM_MIRROR];
            if (FACE_LOCAL(i->face) != face)
                continue;
            const REAL *q =
                (const REAL *)a->exact + ((int64_t)a->time * a->num_exact_face + i->slot) * num * NUM_FIELD;
            for (int k = 0; k < num * NUM_FIELD; k++)
                change.q[k][lane] += (REAL)i->sign * q[k];
            FN(mirror)(neighbor < 0 ? -1 - neighbor : BOUNDARY_ABSORBING, mirror); /* absorbing: of nothing */
            for (int k = 0; k < NUM_MIRROR; k++)
                change.mirror[k][lane] = mirror[k];
            change.upwind[lane] = ((BY_NODE || LINES) && t->upwind) || neighbor == -1 - BOUNDARY_ABSORBING;
        }
        for (int m = 0; m < num; m++) {
            VEC in[NUM_TRACE] = {0}, out[NUM_TRACE], mirrored[NUM_TRACE], jumps[NUM_JUMP];
            struct FN(face_node) at;
            FN(face_at)(t, a, elem, b, face, m, &at);
            FN(trace)(change.q + m * NUM_FIELD, at.frame, out);
            FN(reflect)(out, at.frame, at.coef, change.mirror, mirrored);
            for (int k = 0; k < NUM_TRACE; k++)
                out[k] -= mirrored[k];
            FN(jump)(in, out, at.frame, at.coef, change.upwind, jumps);
            for (int k = 0; k < NUM_JUMP; k++)
                s[m * NUM_JUMP + k] += jumps[k];
        }
    }
}

/* ---- what the nodes of an element do to each other ---- */

/* Adds the local law at `rows` nodes of the elements, from node `first` on; it sees the old state. */
INLINE void FN(add_local)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem, int first,
                          int rows, const VEC *coef, int step, VEC *rhs)
{
#if NUM_LOCAL
    const REAL *from[LANES];
    VEC q[ROWS * NUM_FIELD];
    for (int l = 0; l < LANES; l++)
        from[l] = (const REAL *)a->q + (elem[l] * t->num_node + first) * NUM_FIELD;
    COMMON.gather(from, rows * NUM_FIELD, q);
    for (int r = 0; r < rows; r++)
        FN(local)(q + r * NUM_FIELD, coef + r * step + NUM_COEF - NUM_LOCAL, rhs + r * NUM_FIELD);
#else
    (void)t, (void)a, (void)elem, (void)first, (void)rows, (void)coef, (void)step, (void)rhs;
#endif
}

/* Coefficients of the materials of `rows` nodes, from node `first` on. */
INLINE void FN(load_coef)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem, int first,
                          int rows, VEC *coef)
{
    const REAL *from[LANES];
    for (int l = 0; l < LANES; l++)
        from[l] = (const REAL *)a->record + NUM_WORD * elem[l] + FIRST_COEF + first * NUM_COEF;
    COMMON.gather(from, rows * NUM_COEF, coef);
}

/* ---- prefetching: memory that is needed soon arrives while the products run ---- */

INLINE void FN(prefetch)(const void *array, int64_t first, int64_t count)
{
    const char *from = (const char *)((const REAL *)array + first);
    for (int64_t i = 0; i < count * (int64_t)sizeof(REAL); i += 64)
        __builtin_prefetch(from + i, 0, 2);
}

/* `count` values from `first` on of what the update reads. */
INLINE void FN(prefetch_old)(const struct dg_args *a, int kind, int64_t first, int64_t count)
{
    FN(prefetch)(a->r, first, count);
    if (kind != UPDATE_RHS)
        FN(prefetch)(a->q_new, first, count);
    if (kind == UPDATE_AB3)
        FN(prefetch)(a->r1, first, count);
}

#if LINES
/* Whether an axis is the first that has a share in acc[LINE_ACC(axis, i)], in the order 3, 1, 2. */
#undef FIRST_SHARE
#if GRAD_DIV
#define FIRST_SHARE(axis, i) ((i) < GRAD_DIV)
#else
#define FIRST_SHARE(axis, i) ((axis) == 0 && LINE_ACC(axis, i) % 3 == 2)
#endif
#endif

#if !CELLS_ONLY
#if LINES
#include "cpu_lines.inc.h"
#else
#include "cpu_dense.inc.h"
#endif

/* ---- a stage ---- */

/* One block of at most LANES elements from `first` on. */
CLONES static void FN(block_stage)(const struct dg_cpu *t, const struct dg_args *a, int kind, int64_t first,
                                   int64_t index, void *memory)
{
    int64_t elem[LANES], lanes = a->num_elem - first < LANES ? a->num_elem - first : LANES;
    for (int l = 0; l < LANES; l++)
        elem[l] = first + (l < lanes ? l : lanes - 1);
    FN(run)(t, a, kind, elem, lanes, index, memory);
}
#endif

#if LINES && HAS_AVX512
#define CELL_LINE 4
#include "cpu_cell.inc.h"
#undef CELL_LINE
#define CELL_LINE 8
#include "cpu_cell.inc.h"
#undef CELL_LINE
#endif
