/* cpu_blocks.inc.h: the right-hand side on tetrahedra with the four blocks of blocks.h, for degrees where the sums over
 * orbits cost less than the products that they save. Part of cpu_stage.inc.h.
 *
 * Fields are NUM_CHUNK chunks of BLOCK_COLUMNS columns, two of each direction j (0 to 2), c = 0 and 1:
 *   grad-div, pair number i of a number a and a vector b (cuda/space):  D_j a -> acc of D_j a,  D_j b_j -> acc of div b;
 *   curls of v or w, (j, k, l) cyclic:  D_j v_k -> acc_l,  -D_j v_l -> acc_k.
 * A lifted jump of face j + 1 is added where direction j adds, one of face 0 where a single direction takes it: for each
 * sum the first that makes it. */
#undef NUM_CHUNK
#undef COLUMN_FIELD
#undef COLUMN_SUM
#undef COLUMN_SIGN
#undef COLUMN_FACE0
/* Of NUM_REF: what column c of direction j is made of; of NUM_ACC: what its product, with this sign, is part of;
 * whether it takes the jump of face 0. */
#if GRAD_DIV
#define NUM_CHUNK                 GRAD_DIV
#define COLUMN_FIELD(chunk, j, c) ((c) == 0 ? (chunk) : GRAD_DIV * (1 + (j)) + (chunk))
#define COLUMN_SUM(chunk, j, c)   ((c) == 0 ? GRAD_DIV * (1 + (j)) + (chunk) : (chunk))
#define COLUMN_SIGN(c)            1
#define COLUMN_FACE0(j, c)        ((c) == 0 || (j) == 0)
#else
#define NUM_CHUNK                 2
#define COLUMN_FIELD(chunk, j, c) (3 * (1 - (chunk)) + ((j) + 1 + (c)) % 3)
#define COLUMN_SUM(chunk, j, c)   (3 * (chunk) + ((j) + 2 - (c)) % 3)
#define COLUMN_SIGN(c)            ((c) == 0 ? 1 : -1)
#define COLUMN_FACE0(j, c)        ((c) == 0)
#endif

/* Inputs of direction j from jumps s [face][face node][NUM_JUMP] at an orbit of faces 0 and j + 1. */
INLINE void FN(sum_face_orbit)(const struct dg_cpu_blocks *t, const struct FN(block) * b, int chunk, int j,
                               int orbit, const VEC *s, VEC *x)
{
    struct {
        VEC of[2][4];
    } v;
#pragma GCC unroll 4
    for (int g = 0; g < 4; g++) {
        int face = g % 2 ? j + 1 : 0;
        VEC acc[NUM_ACC] = {0};
        FN(apply_lift)(s + t->face_member[orbit][j][g] * NUM_JUMP, face, b->lift_coef[face], acc);
#pragma GCC unroll 2
        for (int c = 0; c < 2; c++)
            v.of[c][g] = face > 0 || COLUMN_FACE0(j, c) ? (REAL)COLUMN_SIGN(c) * acc[COLUMN_SUM(chunk, j, c)]
                                                        : (VEC){0};
    }
#pragma GCC unroll 2
    for (int c = 0; c < 2; c++) {
        sum_orbit(v.of[c]);
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++)
            x[t->face_input[orbit][k] * BLOCK_COLUMNS + 2 * j + c] = v.of[c][k];
    }
}

OWN_FUNCTION void FN(sum_faces)(const struct dg_cpu_blocks *t, const struct FN(block) * b, int chunk,
                                const VEC *s, VEC *x)
{
/* the compiler is to know which chunk it is */
#pragma GCC unroll 3
    for (int i = 0; i < NUM_CHUNK; i++)
        for (int o = 0; i == chunk && o < t->num_face_orbit; o++)
#pragma GCC unroll 3
            for (int j = 0; j < 3; j++)
                FN(sum_face_orbit)(t, b, i, j, o, s, x);
}

/* acc at a node from the derivatives y [chunk][row][BLOCK_COLUMNS]. */
INLINE void FN(sum_columns)(const struct dg_cpu_blocks *t, const VEC *y, int node, VEC *acc)
{
    for (int i = 0; i < NUM_ACC; i++)
        acc[i] = (VEC){0};
#pragma GCC unroll 3
    for (int chunk = 0; chunk < NUM_CHUNK; chunk++)
#pragma GCC unroll 3
        for (int j = 0; j < 3; j++)
#pragma GCC unroll 2
            for (int c = 0; c < 2; c++)
                acc[COLUMN_SUM(chunk, j, c)] +=
                    (REAL)COLUMN_SIGN(c) *
                    y[(chunk * BLOCK_RESULTS(t) + t->node_row[node][j]) * BLOCK_COLUMNS + 2 * j + c];
}

/* From derivatives y to rhs [elem][node][field]. */
OWN_FUNCTION void FN(finish_blocks)(const struct dg_cpu *t, const struct dg_args *a, const int64_t *elem,
                                    const struct FN(block) * b, const VEC *y, REAL *rhs)
{
    for (int first = 0; first < t->num_node; first += ROWS) {
        VEC acc[ROWS][NUM_ACC];
        int rows = t->num_node - first < ROWS ? t->num_node - first : ROWS;
        for (int r = 0; r < ROWS; r++)
            FN(sum_columns)(t->blocks, y, first + (r < rows ? r : rows - 1), acc[r]);
        FN(finish_rows)(t, a, elem, b, first, rows, acc, rhs);
    }
}

/* The products of a chunk, x [input][BLOCK_COLUMNS] to y [row][BLOCK_COLUMNS]; what is needed next is asked for in
 * equal parts. */
INLINE void FN(multiply_chunk)(const struct dg_cpu *t, const struct dg_args *a, int kind, int64_t first,
                               int chunk, const VEC *x, VEC *y)
{
    int64_t num_value = t->num_node * NUM_FIELD, all = LANES * num_value;
    int num = NUM_CHUNK * t->blocks->num_tile, at = chunk * t->blocks->num_tile,
        elems = (LANES + num - 1) / num;
    int64_t values = (all + num - 1) / num;
    for (int i = 0; i < t->blocks->num_tile; i++, at++) {
        FN(prefetch_old)(a, kind, first * num_value + at * values, values);
        if (at * elems < LANES)
            FN(prefetch_elements)(t, a, num_value, first + LANES + at * elems, elems);
        BLOCKS_COMMON.multiply(&t->blocks->tile[i], t->blocks->matrix, x, y);
    }
}

/* As right_hand_side; room: inputs of a chunk, results of all. */
OWN_FUNCTION void FN(right_hand_side_by_blocks)(const struct dg_cpu *t, const struct dg_args *a, int kind,
                                                const int64_t *elem, const struct FN(block) * b, const VEC *u,
                                                const VEC *s, VEC *room, REAL *rhs)
{
#define FIELDS(chunk)                                                                                        \
    {COLUMN_FIELD(chunk, 0, 0), COLUMN_FIELD(chunk, 0, 1), COLUMN_FIELD(chunk, 1, 0),                        \
     COLUMN_FIELD(chunk, 1, 1), COLUMN_FIELD(chunk, 2, 0), COLUMN_FIELD(chunk, 2, 1)}
    static const signed char field[3][BLOCK_COLUMNS] = {FIELDS(0), FIELDS(1), FIELDS(2)};
#undef FIELDS
    VEC *x = room, *y = x + BLOCK_INPUTS(t->blocks) * BLOCK_COLUMNS;
    for (int chunk = 0; chunk < NUM_CHUNK; chunk++) {
        VEC *results = y + chunk * BLOCK_RESULTS(t->blocks) * BLOCK_COLUMNS;
        BLOCKS_COMMON.sum_nodes(t->blocks, u, NUM_REF, field[chunk], x);
        FN(sum_faces)(t->blocks, b, chunk, s, x);
        FN(multiply_chunk)(t, a, kind, elem[0], chunk, x, results);
        BLOCKS_COMMON.sum_results(t->blocks, results);
    }
    FN(finish_blocks)(t, a, elem, b, y, rhs);
}
