/* dg_cpu.inc.h: the CPU stage of DG for one precision, physics and flux; included by csrc/cpu/cpu_*.c, which
 * define REAL, FN(name), DEVICE, FLUX_CENTRAL and PHYSICS.
 * A block of LANES elements is one vector wide: every inner loop runs over the elements of a block, so any
 * degree vectorises fully. Volume, faces, lift and update in one pass; neighbours are read from the old
 * state. Not here: threads and buffers (dg_cpu.c). */
#include PHYSICS

/* Rows of the matrices packed [row block][column][ROWS]; derivative columns hold three. */
static inline __attribute__((always_inline)) void FN(products)(const struct dg_cpu *t, int block,
                                                               const REAL *u, VEC acc[ROWS][NUM_REF])
{
    const REAL *d = (const REAL *)t->derivative + (int64_t)block * t->num_node * 3 * ROWS;
    for (int k = 0; k < t->num_node; k++, d += 3 * ROWS) {
        const VEC *column = (const VEC *)(u + (int64_t)k * NUM_REF * LANES);
        VEC v[NUM_REF];
        for (int f = 0; f < NUM_REF; f++)
            v[f] = column[f];
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            REAL d3[3] = {d[r], d[ROWS + r], d[2 * ROWS + r]};
            FN(volume)(d3, v, acc[r]);
        }
    }
}

static inline __attribute__((always_inline)) void FN(lift)(const struct dg_cpu *t, int block, int face,
                                                           const REAL *s, VEC y[ROWS][NUM_JUMP])
{
    int num = t->num_face_node;
    const REAL *l = (const REAL *)t->lift + ((int64_t)block * 4 + face) * num * ROWS;
    for (int m = 0; m < num; m++, l += ROWS) {
        const VEC *jump = (const VEC *)(s + ((int64_t)face * num + m) * NUM_JUMP * LANES);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
            for (int j = 0; j < NUM_JUMP; j++)
                y[r][j] += l[r] * jump[j];
    }
}

/* What a block of elements works with, element index last. */
struct FN(block) {
    REAL g[9][LANES];
    REAL coef[NUM_COEF][LANES];
    REAL last[4][LANES];      /* entry of face_coef */
    REAL normal[4][3][LANES]; /* m_f */
};

static inline __attribute__((always_inline)) void FN(load_tables)(const struct dg_args *a,
                                                                  const int64_t *elem, struct FN(block) * b)
{
    for (int l = 0; l < LANES; l++) {
        const REAL *record = (const REAL *)a->record + ELEM_WORDS(NUM_COEF) * elem[l];
        for (int i = 0; i < 9; i++)
            b->g[i][l] = record[i];
        for (int i = 0; i < NUM_COEF; i++)
            b->coef[i][l] = record[9 + i];
        for (int f = 0; f < 4; f++)
            b->last[f][l] =
                ((const REAL *)a->face_coef)[(4 * elem[l] + f) * NUM_FACE_COEF + NUM_FACE_COEF - 1];
    }
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < LANES; l++) {
            b->normal[0][i][l] = b->g[i][l] + b->g[3 + i][l] + b->g[6 + i][l];
            for (int f = 1; f < 4; f++)
                b->normal[f][i][l] = -b->g[3 * (f - 1) + i][l];
        }
}

/* u [node][NUM_REF][LANES] of the block's elements. */
static inline __attribute__((always_inline)) void FN(load_state)(const struct dg_args *a, int num_node,
                                                                 const int64_t *elem,
                                                                 const struct FN(block) * b, REAL *u)
{
    for (int n = 0; n < num_node; n++) {
        REAL q[NUM_FIELD][LANES], out[NUM_REF][LANES];
        for (int l = 0; l < LANES; l++) {
            const REAL *from = (const REAL *)a->q + (elem[l] * num_node + n) * NUM_FIELD;
            for (int f = 0; f < NUM_FIELD; f++)
                q[f][l] = from[f];
        }
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            REAL q1[NUM_FIELD], g1[9], u1[NUM_REF];
            for (int f = 0; f < NUM_FIELD; f++)
                q1[f] = q[f][l];
            for (int i = 0; i < 9; i++)
                g1[i] = b->g[i][l];
            FN(to_reference)(q1, g1, u1);
            for (int f = 0; f < NUM_REF; f++)
                out[f][l] = u1[f];
        }
        memcpy(u + (int64_t)n * NUM_REF * LANES, out, sizeof out);
    }
}

/* Outer states [face node][field][LANES] of one face; condition[l] >= 0 where boundary conditions apply.
 * Returns whether any do. */
static inline __attribute__((always_inline)) int FN(load_outer)(const struct dg_cpu *t,
                                                                const struct dg_args *a, const int64_t *elem,
                                                                int face, REAL *outer, int *condition)
{
    int any = 0, num = t->num_face_node;
    for (int l = 0; l < LANES; l++) {
        int neighbor = a->neighbor[4 * elem[l] + face];
        condition[l] = -1;
        if (neighbor >= 0) {
            const REAL *from = (const REAL *)a->q + (int64_t)(neighbor >> 2) * t->num_node * NUM_FIELD;
            const int *node = a->face_node + (neighbor & 3) * num;
            for (int m = 0; m < num; m++)
                for (int f = 0; f < NUM_FIELD; f++)
                    outer[(m * NUM_FIELD + f) * LANES + l] = from[node[m] * NUM_FIELD + f];
        } else if (neighbor <= -1 - BOUNDARY_EXACT) {
            int64_t slot = (int64_t)a->time * a->num_exact_face + (-1 - BOUNDARY_EXACT - neighbor);
            const REAL *from = (const REAL *)a->exact + slot * num * NUM_FIELD;
            for (int m = 0; m < num; m++)
                for (int f = 0; f < NUM_FIELD; f++)
                    outer[(m * NUM_FIELD + f) * LANES + l] = from[m * NUM_FIELD + f];
        } else {
            condition[l] = -1 - neighbor;
            any = 1;
            for (int i = 0; i < num * NUM_FIELD; i++)
                outer[i * LANES + l] = 0;
        }
    }
    return any;
}

/* s [face][face node][NUM_JUMP][LANES]. */
static inline __attribute__((always_inline)) void FN(faces)(const struct dg_cpu *t, const struct dg_args *a,
                                                            const int64_t *elem, const struct FN(block) * b,
                                                            const REAL *u, REAL *s)
{
    REAL outer[MAX_FACE_NODE * NUM_FIELD * LANES] __attribute__((aligned(64)));
    int condition[LANES], num = t->num_face_node;
    for (int face = 0; face < 4; face++) {
        int any = FN(load_outer)(t, a, elem, face, outer, condition);
        REAL coef[NUM_FACE_COEF][LANES];
        for (int l = 0; l < LANES; l++)
            for (int i = 0; i < NUM_FACE_COEF; i++)
                coef[i][l] = ((const REAL *)a->face_coef)[(4 * elem[l] + face) * NUM_FACE_COEF + i];
        for (int m = 0; m < num; m++) {
            const REAL *inner = u + (int64_t)a->face_node[face * num + m] * NUM_REF * LANES;
            const REAL *out = outer + m * NUM_FIELD * LANES;
            REAL t_in[NUM_TRACE][LANES], t_out[NUM_TRACE][LANES], jumps[NUM_JUMP][LANES];
#pragma omp simd
            for (int l = 0; l < LANES; l++) {
                REAL u1[NUM_REF], q1[NUM_FIELD], m1[3], in1[NUM_TRACE], out1[NUM_TRACE];
                for (int f = 0; f < NUM_REF; f++)
                    u1[f] = inner[f * LANES + l];
                for (int f = 0; f < NUM_FIELD; f++)
                    q1[f] = out[f * LANES + l];
                for (int i = 0; i < 3; i++)
                    m1[i] = b->normal[face][i][l];
                FN(trace_reference)(u1, face, in1);
                FN(trace)(q1, m1, out1);
                for (int i = 0; i < NUM_TRACE; i++) {
                    t_in[i][l] = in1[i];
                    t_out[i][l] = out1[i];
                }
            }
            for (int l = 0; any && l < LANES; l++) {
                REAL in1[NUM_TRACE], out1[NUM_TRACE];
                for (int i = 0; i < NUM_TRACE; i++)
                    in1[i] = t_in[i][l];
                if (condition[l] < 0)
                    continue;
                FN(boundary)(condition[l], in1, out1);
                for (int i = 0; i < NUM_TRACE; i++)
                    t_out[i][l] = out1[i];
            }
#pragma omp simd
            for (int l = 0; l < LANES; l++) {
                REAL in1[NUM_TRACE], out1[NUM_TRACE], coef1[NUM_FACE_COEF], s1[NUM_JUMP];
                for (int i = 0; i < NUM_TRACE; i++) {
                    in1[i] = t_in[i][l];
                    out1[i] = t_out[i][l];
                }
                for (int i = 0; i < NUM_FACE_COEF; i++)
                    coef1[i] = coef[i][l];
                FN(jump)(in1, out1, coef1, condition[l] == BOUNDARY_ABSORBING, s1);
                for (int j = 0; j < NUM_JUMP; j++)
                    jumps[j][l] = s1[j];
            }
            memcpy(s + (int64_t)(face * num + m) * NUM_JUMP * LANES, jumps, sizeof jumps);
        }
    }
}

/* Right-hand side at one node of all elements of the block: rhs [NUM_FIELD][LANES]. */
static inline __attribute__((always_inline)) void FN(finish)(const struct FN(block) * b, const VEC *acc,
                                                             REAL *rhs)
{
    REAL in[NUM_REF][LANES];
    memcpy(in, acc, sizeof in);
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        REAL acc1[NUM_REF], g1[9], coef1[NUM_COEF], rhs1[NUM_FIELD];
        for (int f = 0; f < NUM_REF; f++)
            acc1[f] = in[f][l];
        for (int i = 0; i < 9; i++)
            g1[i] = b->g[i][l];
        for (int i = 0; i < NUM_COEF; i++)
            coef1[i] = b->coef[i][l];
        FN(from_reference)(acc1, g1, coef1, rhs1);
        for (int f = 0; f < NUM_FIELD; f++)
            rhs[f * LANES + l] = rhs1[f];
    }
}

/* Adds the sources of one element and node to its right-hand side. */
static inline void FN(add_sources)(const struct dg_args *a, int64_t elem, int64_t node_field, int first,
                                   int last, int64_t num_value, REAL *rhs)
{
    for (int i = first; i < last; i++)
        if (a->source_elem[i] == elem) {
            REAL amplitude = ((const REAL *)a->amplitude)[(int64_t)a->time * a->num_source + i];
            const REAL *weight = (const REAL *)a->source_weight + i * num_value + node_field;
            for (int f = 0; f < NUM_FIELD; f++)
                rhs[f] += weight[f] * amplitude;
        }
}

/* The update of one node's fields; see common/index.h. */
static inline __attribute__((always_inline)) void FN(update)(const struct dg_args *a, int kind, int64_t index,
                                                             const REAL *rhs)
{
    const REAL *q = (const REAL *)a->q + index, *r1 = (const REAL *)a->r1 + index;
    REAL *q_new = (REAL *)a->q_new + index, *r = (REAL *)a->r + index;
    REAL ra = (REAL)a->a, rb = (REAL)a->b, dt = (REAL)a->dt;
    REAL c0 = (REAL)a->c0, c1 = (REAL)a->c1, c2 = (REAL)a->c2;
    for (int f = 0; f < NUM_FIELD; f++) {
        if (kind == UPDATE_LSRK) {
            REAL residual = a->a == 0 ? dt * rhs[f] : ra * r[f] + dt * rhs[f];
            r[f] = residual;
            q_new[f] = q[f] + rb * residual;
        } else if (kind == UPDATE_AB3) {
            q_new[f] = q[f] + (c0 * rhs[f] + c1 * r1[f] + c2 * r[f]);
            r[f] = rhs[f];
        } else {
            r[f] = rhs[f];
        }
    }
}

/* One block of at most LANES elements from `first` on; memory holds u and s. */
CLONES static void FN(block_stage)(const struct dg_cpu *t, const struct dg_args *a, int kind, int64_t first,
                                   int64_t index, void *memory)
{
    int64_t elem[LANES], num_node = t->num_node;
    int lanes = (int)(a->num_elem - first < LANES ? a->num_elem - first : LANES);
    int source_first = a->source_range[index], source_last = a->source_range[index + 1];
    for (int l = 0; l < LANES; l++)
        elem[l] = first + (l < lanes ? l : lanes - 1);
    struct FN(block) b __attribute__((aligned(64)));
    REAL *u = memory, *s = u + num_node * NUM_REF * LANES;
    FN(load_tables)(a, elem, &b);
    FN(load_state)(a, t->num_node, elem, &b, u);
    FN(faces)(t, a, elem, &b, u, s);
    for (int rows = 0; rows * ROWS < num_node; rows++) {
        VEC acc[ROWS][NUM_REF] = {0};
        FN(products)(t, rows, u, acc);
        for (int face = 0; face < 4; face++) {
            VEC y[ROWS][NUM_JUMP] = {0};
            FN(lift)(t, rows, face, s, y);
            for (int r = 0; r < ROWS; r++)
                FN(spread)(y[r], face, *(const VEC *)b.last[face], acc[r]);
        }
        for (int r = 0; r < ROWS && rows * ROWS + r < num_node; r++) {
            REAL rhs[NUM_FIELD][LANES] __attribute__((aligned(64)));
            FN(finish)(&b, acc[r], rhs[0]);
            for (int l = 0; l < lanes; l++) {
                int64_t node = elem[l] * num_node + rows * ROWS + r;
                REAL rhs1[NUM_FIELD];
                for (int f = 0; f < NUM_FIELD; f++)
                    rhs1[f] = rhs[f][l];
                if (source_first < source_last)
                    FN(add_sources)(a, elem[l], (int64_t)(rows * ROWS + r) * NUM_FIELD, source_first,
                                    source_last, num_node * NUM_FIELD, rhs1);
                FN(update)(a, kind, node * NUM_FIELD, rhs1);
            }
        }
    }
}
