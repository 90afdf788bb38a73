/* cpu_blocks.c: tables, sums and products of cpu_blocks.h. */
#include "blocks.h"
#include "cpu_common.h"

/* ---- tables ---- */

/* Rows of the next tile of `left` rows: 4 or 3, few blocks have 2 or 1 left, so that none is padded. */
static int tile_rows(int left)
{
    return left % BLOCK_ROWS == 0 ? BLOCK_ROWS : left < 3 ? left : 3;
}

/* Tiles of all blocks and their entries; with tile NULL it counts alone. */
static int64_t make_tiles(struct dg_cpu_blocks *b, const struct blocks *from, struct dg_cpu_tile *tile,
                          REAL *matrix)
{
    int64_t at = 0;
    int row = 0, input = 0;
    b->num_tile = 0;
    for (int block = 0; block < NUM_BLOCK; block++) {
        int width = block_columns(&from->sizes, block), num = from->sizes.nodes[block];
        for (int i = 0, rows; i < num; i += rows) {
            rows = tile_rows(num - i);
            if (tile)
                tile[b->num_tile] =
                    (struct dg_cpu_tile){rows, row + i, input, width, from->sizes.nodes[block ^ 1], at};
            for (int k = 0; tile && k < width; k++)
                for (int r = 0; r < rows; r++)
                    matrix[at + k * rows + r] = (REAL)from->matrix[block][(i + r) * width + k];
            b->num_tile++;
            at += (int64_t)rows * width;
        }
        row += num;
        input += width;
    }
    b->num_row = row;
    b->num_input = input;
    return at;
}

static void copy_orbits(struct dg_cpu_blocks *b, const struct blocks *from)
{
    int row[NUM_BLOCK], nodes[NUM_BLOCK], faces[NUM_BLOCK];
    for (int block = 0, first = 0, input = 0; block < NUM_BLOCK; block++) {
        row[block] = first;
        nodes[block ^ 1] = input;
        faces[block] = input + from->sizes.nodes[block ^ 1];
        first += from->sizes.nodes[block];
        input += block_columns(&from->sizes, block);
    }
    for (int o = 0; o < b->num_orbit; o++) {
        const struct orbit *one = &from->orbit[o];
        for (int s = 0; s < NUM_BLOCK; s++) {
            bool has = one->sum[s] >= 0;
            b->input[o][s] = has ? nodes[s] + one->sum[s] : b->num_input;
            b->result[o][s] = has ? row[s] + one->sum[s] : b->num_row;
            b->node[o][s] = has ? row[s] + one->sum[s] : b->num_row + 1;
            for (int j = 0; j < 3; j++)
                b->member[o][j][s] = one->member[j][s];
        }
        for (int j = 0; j < 3; j++)
            for (int g = 0; g < NUM_BLOCK; g++)
                if (one->sum[g] >= 0)
                    b->node_row[one->member[j][g]][j] = b->node[o][g];
    }
    for (int o = 0; o < b->num_face_orbit; o++)
        for (int s = 0; s < NUM_BLOCK; s++) {
            const struct orbit *one = &from->face_orbit[o];
            b->face_input[o][s] = one->sum[s] >= 0 ? faces[s] + one->sum[s] : b->num_input;
            for (int j = 0; j < 3; j++)
                b->face_member[o][j][s] = one->member[j][s];
        }
}

static unda_status fill(struct dg_cpu_blocks *b, const struct blocks *from, int num_node, void *owner)
{
    static const char what[] = "blocks of a reference element";
    int64_t words = make_tiles(b, from, NULL, NULL), orbits = b->num_orbit = from->num_orbit;
    int64_t face_orbits = b->num_face_orbit = from->num_face_orbit;
    TRY(array_own(owner, &b->tile, b->num_tile, sizeof *b->tile, what));
    TRY(array_own(owner, &b->matrix, words, sizeof(REAL), what));
    TRY(array_own(owner, &b->member, orbits, sizeof *b->member, what));
    TRY(array_own(owner, &b->input, orbits, sizeof *b->input, what));
    TRY(array_own(owner, &b->result, orbits, sizeof *b->result, what));
    TRY(array_own(owner, &b->node, orbits, sizeof *b->node, what));
    TRY(array_own(owner, &b->node_row, num_node, sizeof *b->node_row, what));
    TRY(array_own(owner, &b->face_member, face_orbits, sizeof *b->face_member, what));
    TRY(array_own(owner, &b->face_input, face_orbits, sizeof *b->face_input, what));
    make_tiles(b, from, b->tile, b->matrix);
    copy_orbits(b, from);
    return UNDA_OK;
}

unda_status PRECISION(dg_cpu_pack_blocks_)(struct dg_cpu_blocks **blocks, const struct element *el,
                                           void *owner)
{
    struct blocks *from;
    TRY(array_own(owner, blocks, 1, sizeof **blocks, "blocks of a reference element"));
    TRY(blocks_new(&from, el));
    unda_status status = fill(*blocks, from, el->num_node, owner);
    blocks_free(from);
    return status;
}

/* ---- sums ---- */

CLONES static void PRECISION(sum_nodes_)(const struct dg_cpu_blocks *b, const VEC *u, int num_ref,
                                         const signed char field[BLOCK_COLUMNS], VEC *x)
{
    for (int o = 0; o < b->num_orbit; o++)
        for (int j = 0; j < 3; j++)
            for (int c = 2 * j; c < 2 * j + 2; c++) {
                VEC v[4];
#pragma GCC unroll 4
                for (int g = 0; g < 4; g++)
                    v[g] = u[b->member[o][j][g] * num_ref + field[c]];
                sum_orbit(v);
#pragma GCC unroll 4
                for (int s = 0; s < 4; s++)
                    x[b->input[o][s] * BLOCK_COLUMNS + c] = v[s];
            }
}

CLONES static void PRECISION(sum_results_)(const struct dg_cpu_blocks *b, VEC *y)
{
    for (int c = 0; c < BLOCK_COLUMNS; c++)
        y[b->num_row * BLOCK_COLUMNS + c] = (VEC){0};
    for (int o = 0; o < b->num_orbit; o++)
        for (int c = 0; c < BLOCK_COLUMNS; c++) {
            VEC v[4];
#pragma GCC unroll 4
            for (int s = 0; s < 4; s++)
                v[s] = y[b->result[o][s] * BLOCK_COLUMNS + c];
            sum_orbit(v);
#pragma GCC unroll 4
            for (int g = 0; g < 4; g++)
                y[b->node[o][g] * BLOCK_COLUMNS + c] = v[g];
        }
}

/* ---- products ----
 * A tile's sums over nodes and over face nodes are made apart and added at the end: they round less than one long sum. */

/* Of `num` columns at a time, which with the rows the compiler is to know: as many sums as fit the registers, of which a
 * processor has 32 of 64 bytes, or 16 of 32 bytes. gcc 12 keeps vectors wider than those in memory. */
#define DEFINE_SUMS(name, TYPE)                                                                              \
    INLINE void PRECISION(name)(int rows, int num, const REAL *d, int inputs, const TYPE *x, bool add,       \
                                TYPE *y)                                                                     \
    {                                                                                                        \
        enum { WIDTH = BLOCK_COLUMNS * LANES * (int)sizeof(REAL) / (int)sizeof(TYPE) };                      \
        for (int c = 0; c < WIDTH; c += num) {                                                               \
            TYPE sum[BLOCK_ROWS][BLOCK_COLUMNS] = {0};                                                       \
            for (int k = 0; k < inputs; k++)                                                                 \
                _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++)                                       \
                    _Pragma("GCC unroll 6") for (int i = 0; i < num; i++) sum[r][i] +=                       \
                    d[k * rows + r] * x[k * WIDTH + c + i];                                                  \
            _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++)                                           \
                _Pragma("GCC unroll 6") for (int i = 0; i < num; i++)                                        \
            {                                                                                                \
                TYPE *to = y + r * WIDTH + c + i;                                                            \
                *to = add ? *to + sum[r][i] : sum[r][i];                                                     \
            }                                                                                                \
        }                                                                                                    \
    }

#if HAS_AVX512
DEFINE_SUMS(sum_vectors_, VEC)

AVX512 static void PRECISION(multiply_vectors_)(int rows, const REAL *d, int inputs, const VEC *x, bool add,
                                                VEC *y)
{
    if (rows == 4)
        PRECISION(sum_vectors_)(4, BLOCK_COLUMNS, d, inputs, x, add, y);
    else if (rows == 3)
        PRECISION(sum_vectors_)(3, BLOCK_COLUMNS, d, inputs, x, add, y);
    else if (rows == 2)
        PRECISION(sum_vectors_)(2, BLOCK_COLUMNS, d, inputs, x, add, y);
    else
        PRECISION(sum_vectors_)(1, BLOCK_COLUMNS, d, inputs, x, add, y);
}
#endif

DEFINE_SUMS(sum_parts_, PART)

NARROW_CLONES static void PRECISION(multiply_parts_)(int rows, const REAL *d, int inputs, const PART *x,
                                                     bool add, PART *y)
{
    if (rows == 4)
        PRECISION(sum_parts_)(4, 3, d, inputs, x, add, y);
    else if (rows == 3)
        PRECISION(sum_parts_)(3, 4, d, inputs, x, add, y);
    else if (rows == 2)
        PRECISION(sum_parts_)(2, 6, d, inputs, x, add, y);
    else
        PRECISION(sum_parts_)(1, 6, d, inputs, x, add, y);
}

static void PRECISION(multiply_)(const struct dg_cpu_tile *tile, const void *matrix, const VEC *x, VEC *y)
{
    const REAL *d = (const REAL *)matrix + tile->matrix;
    int num[2] = {tile->num_node_input, tile->num_input - tile->num_node_input};
    x += tile->first_input * BLOCK_COLUMNS;
    y += tile->first_row * BLOCK_COLUMNS;
    for (int of_faces = 0; of_faces < 2; of_faces++) {
#if HAS_AVX512
        if (parallel_has_avx512())
            PRECISION(multiply_vectors_)(tile->rows, d, num[of_faces], x, of_faces, y);
        else
#endif
            PRECISION(multiply_parts_)(tile->rows, d, num[of_faces], (const PART *)x, of_faces, (PART *)y);
        d += num[of_faces] * tile->rows;
        x += num[of_faces] * BLOCK_COLUMNS;
    }
}

const struct dg_cpu_blocks_common BLOCKS_COMMON = {PRECISION(sum_nodes_), PRECISION(multiply_),
                                                   PRECISION(sum_results_)};
