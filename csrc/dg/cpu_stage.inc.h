/* cpu_stage.inc.h: the CPU stage of DG for one precision, physics and flux; included by cpu_fluxes.inc.h,
 * which defines FN(name), VAL, BOTH_JUMPS and BY_NODE.
 * A block of LANES elements is one vector (VEC) wide: lane l of each belongs to element l of the block, so
 * any degree vectorises fully. Memory holds [elem][node][field]; `gather` and `scatter` transpose on the way.
 * Volume, faces, lift and update in one pass; neighbours are read from the old state. A later loop reads
 * what `gather` stores as VECs: processors cannot forward narrow stores to a wide load.
 * Not here: threads and buffers (cpu.c). */
#include PHYSICS

#include SPACE

/* Of an element: its record, coefficients of its faces. */
#define NUM_WORD           (BY_NODE ? t->num_word : ELEM_WORDS(NUM_COEF))
#define NUM_ELEM_FACE_COEF (BY_NODE ? t->num_face_coef : NUM_FACE * NUM_FACE_COEF)

/* ---- what a block knows ---- */

/* Geometry and the material's coefficients; face_coef, frame and coefficients of the lift of each face. Where
 * materials are by node, their coefficients are loaded with each node. */
struct FN(block) {
    VEC record[ELEM_WORDS(NUM_COEF)];
    VEC face_coef[NUM_FACE][NUM_FACE_COEF];
    VEC frame[NUM_FACE][NUM_FRAME];
    VEC lift_coef[NUM_FACE][NUM_LIFT_COEF];
};

INLINE void FN(load_tables)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem,
                            struct FN(block) * b)
{
    const REAL *record[LANES], *face_coef[LANES];
    for (int l = 0; l < LANES; l++) {
        record[l] = (const REAL *)a->record + NUM_WORD * elem[l];
        face_coef[l] = (const REAL *)a->face_coef + NUM_ELEM_FACE_COEF * elem[l];
    }
    COMMON.gather(record, ELEM_WORDS(NUM_COEF), b->record);
    COMMON.gather(face_coef, NUM_FACE * NUM_FACE_COEF, b->face_coef[0]);
    for (int face = 0; face < NUM_FACE; face++) {
        FN(frame)(b->record, face, b->frame[face]);
        FN(lift_coefficients)(b->frame[face], b->face_coef[face], b->lift_coef[face]);
    }
}

/* u [node][NUM_REF], by way of q [node][NUM_FIELD]. */
INLINE void FN(load_state)(const struct dg_args *a, int num_node, const int64_t *elem,
                           const struct FN(block) * b, VEC *q, VEC *u)
{
    const REAL *from[LANES];
    for (int l = 0; l < LANES; l++)
        from[l] = (const REAL *)a->q + elem[l] * num_node * NUM_FIELD;
    COMMON.gather(from, num_node * NUM_FIELD, q);
    for (int n = 0; n < num_node; n++)
        FN(to_reference)(q + n * NUM_FIELD, b->record, u + n * NUM_REF);
}

/* ---- faces ---- */

/* What lies outside one face: states [face node][field], how their traces are reflected, and 1 where the
 * flux is upwind. A boundary face sees the element's own state. */
struct FN(outside) {
    VEC q[MAX_FACE_NODE * NUM_FIELD];
    VEC mirror[NUM_MIRROR];
    VEC upwind;
};

INLINE void FN(load_outside)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem, int face,
                             struct FN(outside) * o)
{
    int num = t->num_face_node;
    const REAL *q[LANES]; /* where node[l][m] counts from: the neighbour, the element, or the exact data */
    const int *node[LANES];
    for (int l = 0; l < LANES; l++) {
        int neighbor = a->neighbor[NUM_FACE * elem[l] + face];
        REAL mirror[NUM_MIRROR];
        bool inside = neighbor >= 0, boundary = !inside && neighbor > -1 - BOUNDARY_EXACT;
        int64_t slot = (int64_t)a->time * a->num_exact_face + (-1 - BOUNDARY_EXACT - neighbor);
        q[l] = (const REAL *)a->q + (inside ? NEIGHBOR_ELEM(neighbor) : elem[l]) * t->num_node * NUM_FIELD;
        if (!inside && !boundary)
            q[l] = (const REAL *)a->exact + slot * num * NUM_FIELD;
        node[l] = a->face_node + (inside ? NEIGHBOR_SIDE(neighbor) : boundary ? face : NUM_SIDE) * num;
        FN(mirror)(boundary ? -1 - neighbor : BOUNDARY_NONE, mirror);
        for (int i = 0; i < NUM_MIRROR; i++)
            o->mirror[i][l] = mirror[i];
        o->upwind[l] = (BY_NODE && t->upwind) || neighbor == -1 - BOUNDARY_ABSORBING;
    }
    for (int m = 0; m < num; m++) {
        const REAL *from[LANES];
        for (int l = 0; l < LANES; l++)
            from[l] = q[l] + (int64_t)node[l][m] * NUM_FIELD;
        gather(from, NUM_FIELD, o->q + m * NUM_FIELD);
    }
}

/* Coefficients at node m of a face: the block's, or that node's own, which are put in `own`. */
INLINE const VEC *FN(face_coef_at)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem,
                                   const struct FN(block) * b, int face, int m, VEC own[NUM_FACE_COEF])
{
    if (!BY_NODE)
        return b->face_coef[face];
    const REAL *from[LANES];
    for (int l = 0; l < LANES; l++)
        from[l] = (const REAL *)a->face_coef + NUM_ELEM_FACE_COEF * elem[l] +
                  (face * t->num_face_node + m) * NUM_FACE_COEF;
    gather(from, NUM_FACE_COEF, own);
    return own;
}

/* s [face][face node][NUM_JUMP]. */
INLINE void FN(faces)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem,
                      const struct FN(block) * b, const VEC *u, VEC *s)
{
    struct FN(outside) outside;
    for (int face = 0; face < NUM_FACE; face++) {
        FN(load_outside)(t, a, elem, face, &outside);
        const int *node = a->face_node + face * t->num_face_node;
        for (int m = 0; m < t->num_face_node; m++, s += NUM_JUMP) {
            VEC in[NUM_TRACE], seen[NUM_TRACE], out[NUM_TRACE], own[NUM_FACE_COEF];
            const VEC *coef = FN(face_coef_at)(t, a, elem, b, face, m, own);
            FN(trace_reference)(u + node[m] * NUM_REF, face, in);
            FN(trace)(outside.q + m * NUM_FIELD, b->frame[face], seen);
            FN(reflect)(seen, b->frame[face], coef, outside.mirror, out);
            FN(jump)(in, out, b->frame[face], coef, outside.upwind, s);
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
            change.upwind[lane] = (BY_NODE && t->upwind) || neighbor == -1 - BOUNDARY_ABSORBING;
        }
        for (int m = 0; m < num; m++) {
            VEC in[NUM_TRACE] = {0}, out[NUM_TRACE], mirrored[NUM_TRACE], jumps[NUM_JUMP];
            VEC own[NUM_FACE_COEF];
            const VEC *coef = FN(face_coef_at)(t, a, elem, b, face, m, own);
            FN(trace)(change.q + m * NUM_FIELD, b->frame[face], out);
            FN(reflect)(out, b->frame[face], coef, change.mirror, mirrored);
            for (int k = 0; k < NUM_TRACE; k++)
                out[k] -= mirrored[k];
            FN(jump)(in, out, b->frame[face], coef, change.upwind, jumps);
            for (int k = 0; k < NUM_JUMP; k++)
                s[m * NUM_JUMP + k] += jumps[k];
        }
    }
}

/* ---- products ---- */

/* Rows of the matrices packed [row block][column][ROWS]; derivative columns hold three. */
typedef void FN(part)(const REAL *d, const VEC *u, VEC *acc);
INLINE void FN(multiply)(const struct dg_cpu *t, int block, int first, int last, FN(part) * part,
                         const VEC *u, VEC acc[ROWS][NUM_ACC])
{
    const REAL *d = (const REAL *)t->derivative + (int64_t)block * t->num_node * 3 * ROWS;
    for (int k = 0; k < t->num_node; k++, d += 3 * ROWS, u += NUM_REF) {
#pragma GCC unroll 8
        for (int r = first; r < last; r++) {
            REAL d3[3] = {d[r], d[ROWS + r], d[2 * ROWS + r]};
            part(d3, u, acc[r]);
        }
    }
}

/* Elastic waves have more sums a row than fit the registers in four rows: in parts, u is read less often. */
INLINE void FN(products)(const struct dg_cpu *t, int block, const VEC *u, VEC acc[ROWS][NUM_ACC])
{
#if NUM_ACC > 6
    FN(multiply)(t, block, 0, ROWS, FN(volume_div), u, acc);
    FN(multiply)(t, block, 0, ROWS / 2, FN(volume_grad), u, acc);
    FN(multiply)(t, block, ROWS / 2, ROWS, FN(volume_grad), u, acc);
#else
    FN(multiply)(t, block, 0, ROWS, FN(volume), u, acc);
#endif
}

/* s: jumps of the face. */
INLINE void FN(lift)(const struct dg_cpu *t, int block, int face, const VEC *s, VEC y[ROWS][NUM_JUMP])
{
    int num = t->num_face_node;
    const REAL *l = (const REAL *)t->lift + ((int64_t)block * NUM_FACE + face) * num * ROWS;
    for (int m = 0; m < num; m++, l += ROWS, s += NUM_JUMP) {
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
            for (int j = 0; j < NUM_JUMP; j++)
                y[r][j] += l[r] * s[j];
    }
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

/* Tables and neighbours of the elements from `elem` on. */
INLINE void FN(prefetch_elements)(const struct dg_cpu *t, const struct dg_args *a, int64_t num_value,
                                  int64_t elem, int64_t count)
{
    int64_t last = elem + count < a->num_elem ? elem + count : a->num_elem;
    for (; elem < last; elem++) {
        FN(prefetch)(a->record, NUM_WORD * elem, NUM_WORD);
        FN(prefetch)(a->face_coef, NUM_ELEM_FACE_COEF * elem, NUM_ELEM_FACE_COEF);
        for (int face = 0; face < NUM_FACE; face++)
            if (a->neighbor[NUM_FACE * elem + face] >= 0)
                FN(prefetch)(a->q, NEIGHBOR_ELEM(a->neighbor[NUM_FACE * elem + face]) * num_value, num_value);
    }
}

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
        from[l] = (const REAL *)a->record + NUM_WORD * elem[l] + METRIC_WORDS + first * NUM_COEF;
    COMMON.gather(from, rows * NUM_COEF, coef);
}

/* rhs [elem][node][field] of a block of elements. */
INLINE void FN(right_hand_side)(const struct dg_cpu *t, const struct dg_args *a, int kind,
                                const int64_t *elem, const struct FN(block) * b, const VEC *u, const VEC *s,
                                REAL *rhs)
{
    int64_t first = elem[0];
    int num_node = t->num_node, num_value = num_node * NUM_FIELD, part = ROWS * NUM_FIELD * LANES;
    int share = (LANES * ROWS + num_node - 1) / num_node; /* elements of the next block for a block of rows */
    for (int block = 0; block * ROWS < num_node; block++) {
        VEC acc[ROWS][NUM_ACC] = {0};
        FN(prefetch_old)(a, kind, first * num_value + block * part, part);
        if (block * share < LANES)
            FN(prefetch_elements)(t, a, num_value, first + LANES + block * share, share);
        FN(products)(t, block, u, acc);
        for (int face = 0; face < NUM_FACE; face++) {
            VEC y[ROWS][NUM_JUMP] = {0};
            FN(lift)(t, block, face, s + face * t->num_face_node * NUM_JUMP, y);
            for (int r = 0; r < ROWS; r++)
                FN(apply_lift)(y[r], face, b->lift_coef[face], acc[r]);
        }
        VEC out[ROWS * NUM_FIELD];
        int rows = num_node - block * ROWS < ROWS ? num_node - block * ROWS : ROWS;
        const VEC *coef = b->record + METRIC_WORDS;
        int step = BY_NODE ? NUM_COEF : 0;
        VEC own[ROWS * NUM_COEF] = {0};
        if (BY_NODE) {
            FN(load_coef)(t, a, elem, block * ROWS, rows, own);
            coef = own;
        }
        for (int r = 0; r < ROWS; r++)
            FN(from_reference)(acc[r], b->record, coef + r * step, out + r * NUM_FIELD);
        if (t->has_local)
            FN(add_local)(t, a, elem, block * ROWS, rows, coef, step, out);
        COMMON.scatter(out, rows * NUM_FIELD, rhs + block * ROWS * NUM_FIELD, num_node * NUM_FIELD);
    }
}

/* ---- sources and update ---- */

/* One block of at most LANES elements from `first` on; memory holds u, s and the right-hand side. */
CLONES static void FN(block_stage)(const struct dg_cpu *t, const struct dg_args *a, int kind, int64_t first,
                                   int64_t index, void *memory)
{
    int64_t elem[LANES], num_value = (int64_t)t->num_node * NUM_FIELD;
    int64_t lanes = a->num_elem - first < LANES ? a->num_elem - first : LANES;
    for (int l = 0; l < LANES; l++)
        elem[l] = first + (l < lanes ? l : lanes - 1);
    struct FN(block) b;
    VEC *u = memory, *s = u + t->num_node * NUM_REF;
    REAL *rhs = (REAL *)(s + NUM_FACE * t->num_face_node * NUM_JUMP);
    FN(load_tables)(t, a, elem, &b);
    FN(load_state)(a, t->num_node, elem, &b, (VEC *)rhs, u);
    FN(faces)(t, a, elem, &b, u, s);
    if (a->incident_range)
        FN(add_incident)(t, a, elem, index, &b, s);
    FN(right_hand_side)(t, a, kind, elem, &b, u, s, rhs);
    COMMON.add_sources(a, first, a->source_range[index], a->source_range[index + 1], num_value, rhs);
    COMMON.update(a, kind, first * num_value, lanes * num_value, rhs);
}
