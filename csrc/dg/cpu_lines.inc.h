/* cpu_lines.inc.h: the right-hand side on elements whose nodes stand in lines (hexahedra). Derivatives along axis 3 come
 * first; then all else plane by plane, so that it stays in the first caches: derivatives along axes 1 and 2, jumps at
 * the ends of lines, the update. Part of cpu_stage.inc.h. */

/* to_reference at a node, or that of fluids. */
INLINE void FN(node_to_reference)(const struct dg_cpu *t, const struct FN(block) * b, const VEC *q, int node,
                                  VEC *u)
{
    const VEC *metric = FN(metric_at)(t, b, node);
#if FLUIDS
    if (b->fluid) {
        FN(fluid_to_reference)(q + node * NUM_FIELD, metric, u);
        return;
    }
#endif
    FN(to_reference)(q + node * NUM_FIELD, metric, u);
}

INLINE void FN(node_from_reference)(const struct FN(block) * b, const VEC *acc, const VEC *metric,
                                    const VEC *coef, VEC *rhs)
{
#if FLUIDS
    if (b->fluid) {
        FN(fluid_from_reference)(acc, metric, coef, rhs);
        return;
    }
#else
    (void)b;
#endif
    FN(from_reference)(acc, metric, coef, rhs);
}

/* apply_lift at a node of a face, whose sums are acc. */
INLINE void FN(node_apply_lift)(const struct dg_cpu *t, const struct FN(block) * b, const VEC *y, int face,
                                int node, VEC *acc)
{
#if FLUIDS
    if (b->fluid) {
        VEC frame[NUM_FRAME], add[2];
        FN(frame)(FN(metric_at)(t, b, node), face, frame);
        FN(fluid_lifted)(y, face % 2, frame, b->lift_coef[face], add);
        acc[LINE_ACC(face / 2, face / 2)] += add[0];
        acc[LINE_ACC(face / 2, GRAD_DIV + face / 2)] += add[1];
        return;
    }
#else
    (void)t, (void)node;
#endif
    FN(apply_lift)(y, face, b->lift_coef[face], acc);
}

/* Values a node has room for in a slab: auxiliary fields have no reference component. */
enum { FN(wide) = NUM_FIELD > NUM_REF ? NUM_FIELD : NUM_REF };

/* Products whose sums fit the registers in several rows. */
#undef NUM_TOGETHER
#define NUM_TOGETHER (NUM_LINE > 4 ? NUM_LINE / 2 : NUM_LINE)

/* What the stage reads of a neighbour: the nodes of the side that it sees. */
INLINE void FN(prefetch_side)(const struct dg_cpu *t, const struct dg_args *a, int neighbor)
{
    int n = t->num_line_node, face = NEIGHBOR_SIDE(neighbor) % NUM_FACE;
    int run = face / 2 == 0 ? 1 : face / 2 == 1 ? n : n * n; /* nodes one after the other, every n runs */
    int64_t first = (int64_t)NEIGHBOR_ELEM(neighbor) * t->num_node + face % 2 * (n - 1) * run;
    for (int i = 0; i < n * n; i += run, first += n * run)
        FN(prefetch)(a->q, first * NUM_FIELD, run * NUM_FIELD);
}

/* What is needed soon, in shares: all at once would hold up everything else. */
struct FN(ahead) {
    int64_t elem, num_value;      /* first element of the block; values of an element */
    int64_t values, faces, lanes; /* a share: of the states and faces of a block, of its elements */
    int64_t metrics;              /* of its metrics, 0 where they are few, or too many to wait in a cache */
};

INLINE struct FN(ahead) FN(plan_ahead)(const struct dg_cpu *t, int64_t elem)
{
    int64_t n = t->num_line_node, num_value = t->num_node * NUM_FIELD, per_plane = 2 * n, all = per_plane * n;
    int64_t metrics =
        t->slab == n && !t->trilinear && t->metric_nodes > 1 ? LANES * t->metric_words / all : 0;
    return (struct FN(ahead)){elem,
                              num_value,
                              (LANES * num_value + all - 1) / all,
                              (LANES * NUM_FACE + all - 1) / all,
                              (LANES + per_plane - 1) / per_plane,
                              metrics};
}

INLINE int64_t FN(least)(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Where states outgrow the last cache share i of 2 n of plane k: of what the update reads, and of tables, states and neighbours of the next block. */
static __attribute__((noinline)) void FN(prefetch_now)(const struct dg_cpu *t, const struct dg_args *a,
                                                       int kind, const struct FN(ahead) * h, int k, int i)
{
    int64_t at = 2 * k * t->num_line_node + i, end = a->num_elem * h->num_value, next = h->elem + LANES;
    int64_t part = t->num_face_node * NUM_FIELD, old = h->elem * h->num_value + at * h->values;
    if (t->slab == t->num_line_node)
        FN(prefetch_old)(a, kind, old, FN(least)(h->values, end - old));
    else
        for (int64_t e = h->elem + i * h->lanes;
             e < FN(least)(h->elem + (i + 1) * h->lanes, FN(least)(next, a->num_elem)); e++)
            FN(prefetch_old)(a, kind, e * h->num_value + k * part, part);
    FN(prefetch)(a->q, old + LANES * h->num_value, FN(least)(h->values, end - (old + LANES * h->num_value)));
    int64_t last =
        FN(least)(NUM_FACE * FN(least)(next + LANES, a->num_elem), NUM_FACE * next + (at + 1) * h->faces);
    for (int64_t face = NUM_FACE * next + at * h->faces; face < last; face++) {
        int neighbor = a->neighbor[face];
        if (neighbor >= 0 && NEIGHBOR_ELEM(neighbor) / LANES != next / LANES)
            FN(prefetch_side)(t, a, neighbor);
    }
    if (h->metrics && next < a->num_elem)
        FN(prefetch)(t->metric, next * t->metric_words + at * h->metrics, h->metrics);
    if (at == 0 && next + LANES <= a->num_elem) {
        FN(prefetch)(a->record, NUM_WORD * next, NUM_WORD * LANES);
        FN(prefetch)(a->face_coef, NUM_ELEM_FACE_COEF * next, t->by_node ? 0 : NUM_ELEM_FACE_COEF * LANES);
    }
}

INLINE void FN(prefetch_share)(const struct dg_cpu *t, const struct dg_args *a, int kind,
                               const struct FN(ahead) * h, int k, int i)
{
    if (t->read_ahead)
        FN(prefetch_now)(t, a, kind, h, k, i);
}

/* ---- derivatives ---- */

#undef LINE
#undef TARGET
#undef WIDTH
#if HAS_AVX512
#define LINE(name) FN(vectors_##name)
#define TARGET     AVX512
#define WIDTH      VEC
#include "cpu_products.inc.h"
#undef LINE
#undef TARGET
#undef WIDTH
#endif
#define LINE(name) FN(parts_##name)
#define TARGET     NARROW_CLONES
#define WIDTH      PART
#include "cpu_products.inc.h"

/* Products along axis 3 of `num` lines. */
INLINE void FN(third)(const struct dg_cpu *t, int num, bool apart, const VEC *u, int from, int step, VEC *to)
{
#if HAS_AVX512
    if (parallel_has_avx512())
        FN(vectors_third)(t, num, apart, u, from, step, to);
    else
#endif
        FN(parts_third)(t, num, apart, u, from, step, to);
}

/* z [node][NUM_LINE]: products along axis 3. */
INLINE void FN(third_axis)(const struct dg_cpu *t, const struct FN(block) * b, const VEC *q, VEC *z)
{
    int n = t->num_line_node, plane = n * n;
    VEC line[(MAX_DEGREE + 1) * NUM_REF], u[NUM_REF];
    for (int i = 0; i < plane; i++) {
        for (int k = 0; k < n; k++) {
            FN(node_to_reference)(t, b, q, i + k * plane, u);
            for (int c = 0; c < NUM_LINE; c++)
                line[k * NUM_REF + LINE_REF(2, c)] = u[LINE_REF(2, c)];
        }
        FN(third)(t, 1, true, line, 1, plane, z + i * NUM_LINE);
    }
}

/* acc: products along axes 1 and 2 in a plane, which add to z; NULL: they are in acc. */
INLINE void FN(plane)(const struct dg_cpu *t, const struct dg_args *a, int kind,
                      const struct FN(ahead) * ahead, int k, const VEC *u, const VEC *z, VEC *acc)
{
    int n = t->num_line_node;
    for (int i = 0; z && i < n * n; i++)
        for (int c = 0; c < NUM_LINE; c++)
            acc[i * NUM_ACC + LINE_ACC(2, c)] = z[i * NUM_LINE + c];
#if HAS_AVX512
    if (parallel_has_avx512())
        FN(vectors_plane)(t, a, kind, ahead, k, u, acc);
    else
#endif
        FN(parts_plane)(t, a, kind, ahead, k, u, acc);
}

/* Adds jumps s to the nodes of plane k: of faces across axes 1 and 2 it has a row, of those across axis 3 all or
 * nothing. */
OWN_FUNCTION void FN(add_jumps)(const struct dg_cpu *t, const struct dg_args *a, const struct FN(block) * b,
                                int k, const VEC *s, VEC *acc)
{
    int n = t->num_line_node, num = t->num_face_node;
    for (int face = 0; face < NUM_FACE; face++) {
        int first = face < 4 ? k * n : 0, last = face < 4 ? first + n : k == face % 2 * (n - 1) ? num : 0;
        for (int m = first; m < last; m++) {
            VEC y[NUM_JUMP];
            for (int i = 0; i < NUM_JUMP; i++)
                y[i] = (REAL)t->inv_end_weight * s[(face * num + m) * NUM_JUMP + i];
            int node = a->face_node[face * num + m];
            FN(node_apply_lift)(t, b, y, face, node, acc + (node - k * num) * NUM_ACC);
        }
    }
}

/* The right-hand side at `num` nodes from `first` on. */
OWN_FUNCTION void FN(finish)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem,
                             const struct FN(block) * b, int first, int num, const VEC *q, const VEC *acc,
                             VEC *out)
{
    VEC own[NUM_COEF];
    (void)q;
    for (int i = 0; i < num; i++) {
        const VEC *coef = b->record, *metric = FN(metric_at)(t, b, first + i);
        VEC sum[NUM_ACC];
        if (t->by_node) {
            FN(load_coef)(t, a, elem, first + i, 1, own);
            coef = own;
        }
        for (int c = 0; c < NUM_ACC; c++)
            sum[c] = metric[NUM_METRIC - 1] * acc[i * NUM_ACC + c];
        FN(node_from_reference)(b, sum, metric, coef, out + i * NUM_FIELD);
#if NUM_LOCAL
        if (t->has_local)
            FN(local)(q + i * NUM_FIELD, coef + NUM_COEF - NUM_LOCAL, out + i * NUM_FIELD);
#endif
    }
}

/* The update of `count` values of each element, from index on; of a block with fluids and solids that of the kind
 * whose products rhs [elem][node][field] has. */
INLINE void FN(update_block)(const struct dg_args *a, int kind, const struct FN(block) * b, int64_t index,
                             int64_t stride, int64_t lanes, int64_t count, const REAL *rhs)
{
#if FLUIDS
    if (b->has[0] && b->has[1]) {
        for (int64_t l = 0; l < lanes; l++)
            if (b->is_fluid[l] == b->fluid)
                COMMON.update_part(a, kind, index + l * stride, stride, 1, count, rhs + l * count);
        return;
    }
#else
    (void)b;
#endif
    COMMON.update_part(a, kind, index, stride, lanes, count, rhs);
}

/* Right-hand side and update of a block whose states q [node][NUM_FIELD] and jumps s [face][face node][NUM_JUMP] are
 * there, a slab of planes at a time. */
OWN_FUNCTION void FN(slabs)(const struct dg_cpu *t, const struct dg_args *a, int kind, const int64_t *elem,
                            int64_t lanes, int64_t index, const struct FN(block) * b,
                            const struct FN(ahead) * ahead, const VEC *q, const VEC *s, VEC *z)
{
    int n = t->num_line_node, plane = n * n;
    int64_t num_value = (int64_t)t->num_node * NUM_FIELD;
    VEC *u = z + t->num_node * NUM_LINE, *out = u; /* of a slab [node][NUM_REF], then [node][NUM_FIELD] */
    VEC *acc = u + t->slab * plane * FN(wide),
        *rhs = acc; /* of a slab [node][NUM_ACC], then [elem][node][field] */
    bool whole = t->slab == n;
    if (!whole)
        FN(third_axis)(t, b, q, z);
    for (int k = 0; k < n; k += t->slab) {
        int first = k * plane, planes = n - k < t->slab ? n - k : t->slab, num = planes * plane;
        for (int i = 0; i < num; i++)
            FN(node_to_reference)(t, b, q, first + i, u + i * NUM_REF);
        if (whole)
            FN(third)(t, plane, false, u, plane, plane, acc);
        for (int i = 0; i < planes; i++) {
            FN(plane)(t, a, kind, ahead, k + i, u + i * plane * NUM_REF,
                      whole ? NULL : z + (k + i) * plane * NUM_LINE, acc + i * plane * NUM_ACC);
            FN(add_jumps)(t, a, b, k + i, s, acc + i * plane * NUM_ACC);
            /* while acc is in the first cache; in place of u of planes that are done */
            if (NUM_FIELD <= NUM_REF)
                FN(finish)(t, a, elem, b, first + i * plane, plane, q + (first + i * plane) * NUM_FIELD,
                           acc + i * plane * NUM_ACC, out + i * plane * NUM_FIELD);
        }
        if (NUM_FIELD > NUM_REF)
            FN(finish)(t, a, elem, b, first, num, q + first * NUM_FIELD, acc, out);
        COMMON.add_sources_part(a, elem[0], a->source_range[index], a->source_range[index + 1], num_value,
                                first * NUM_FIELD, num * NUM_FIELD, out);
        COMMON.scatter(out, num * NUM_FIELD, (REAL *)rhs, num * NUM_FIELD);
        FN(update_block)(a, kind, b, elem[0] * num_value + first * NUM_FIELD, num_value, lanes,
                         num * NUM_FIELD, (REAL *)rhs);
    }
}

/* The stage of a block; memory as below. Where some of its elements are fluids all pass twice, and each takes what is
 * its own: an element's values then come from the same instructions whatever lies beside it, so that they do not
 * depend on how a mesh is split. Choosing after each product did: there the compiler rounds solids' products
 * otherwise (GCC 14). */
INLINE void FN(run)(const struct dg_cpu *t, const struct dg_args *a, int kind, const int64_t *elem,
                    int64_t lanes, int64_t index, void *memory)
{
    struct FN(ahead) ahead = FN(plan_ahead)(t, elem[0]);
    struct FN(block) b;
    VEC *q = memory;                                     /* [node][NUM_FIELD] */
    VEC *s = q + t->num_node * NUM_FIELD;                /* [face][face node][NUM_JUMP] */
    VEC *z = s + NUM_FACE * t->num_face_node * NUM_JUMP; /* [node][NUM_LINE] */
    VEC *u = z + t->num_node * NUM_LINE, *acc = u + t->slab * t->num_face_node * FN(wide);
    FN(load_tables)(t, a, elem, &b, acc + t->slab * t->num_face_node * FN(wide));
    FN(load_state)(t, a, elem, q);
    FN(faces)(t, a, elem, &b, q, s);
    if (a->incident_range)
        FN(add_incident)(t, a, elem, index, &b, s);
#if FLUIDS
    for (int fluid = 0; fluid < 2; fluid++)
        if (b.has[fluid]) {
            b.fluid = fluid;
            FN(slabs)(t, a, kind, elem, lanes, index, &b, &ahead, q, s, z);
        }
#else
    FN(slabs)(t, a, kind, elem, lanes, index, &b, &ahead, q, s, z);
#endif
}
