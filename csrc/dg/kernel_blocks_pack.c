/* kernel_blocks_pack.c: the matrices and the table of kernel blocks in the order in which its threads read them. */
#include "half.h"
#include "kernel_blocks.h"

/* Row tiles one after the other, each [column][rows]; rows beyond a block's stay zero. */
static void pack_matrices(const struct blocks *b, int rows, double *matrix)
{
    for (int i = 0; i < NUM_BLOCK; i++) {
        int block = blocks_order[i], columns = block_columns(&b->sizes, block);
        for (int row = 0; row < b->sizes.nodes[block]; row++)
            for (int k = 0; k < columns; k++)
                matrix[(row / rows * columns + k) * rows + row % rows] = b->matrix[block][row * columns + k];
        matrix += blocks_round_up(b->sizes.nodes[block], rows) * columns;
    }
}

/* Orbits by the characters that they have: all, 0 and 1, 0 and 2, 0 alone. */
static int kind_of(const struct orbit *orbit)
{
    return orbit->sum[3] >= 0 ? 0 : orbit->sum[1] >= 0 ? 1 : orbit->sum[2] >= 0 ? 2 : 3;
}

static void sort_orbits(const struct blocks *b, const struct orbit *sorted[MOST_BLOCK_NODE])
{
    enum { NUM_KIND = 4 };
    int num = 0;
    for (int kind = 0; kind < NUM_KIND; kind++)
        for (int o = 0; o < b->num_orbit; o++)
            if (kind_of(&b->orbit[o]) == kind)
                sorted[num++] = &b->orbit[o];
}

/* Whether a tile of orbits has a character. */
static bool tile_has(const struct orbit *const *orbit, int num, int character)
{
    for (int i = 0; i < num; i++)
        if (orbit[i]->sum[character] >= 0)
            return true;
    return false;
}

struct inputs {
    int begin, end;
};

/* Of a block's rows for a tile of orbits: where they begin. */
struct entries {
    int rows;
    int64_t begin;
};

/* Entry k of a row: as cuda/dg/block_double.h has it, row g of a tile and input t in lane 4 g + t. */
static void put_double(double *matrix, const struct entries *to, int row, int k, double entry)
{
    enum { DEPTH = 4 };
    matrix[to->begin + k / DEPTH * DEPTH * to->rows + row / UNIT * WARP + row % UNIT * DEPTH + k % DEPTH] =
        entry;
}

/* As cuda/dg/block_split.h has it, two inputs to a word: hi of a step, then lo. */
static void put_split(int32_t *words, const struct entries *to, int row, int k, uint32_t entry)
{
    enum { TALL = 16, DEPTH = 16, LANE_WORDS = 4 };
    int depth = k % DEPTH, lane = row % UNIT * 4 + depth % UNIT / 2,
        word = row % TALL / UNIT + depth / UNIT * 2, shift = k % 2 * 16;
    words += to->begin + k / DEPTH * DEPTH * to->rows + row / TALL * 2 * WARP * LANE_WORDS +
             lane * LANE_WORDS + word;
    words[0] |= (int32_t)((entry & 0xffff) << shift);
    words[WARP * LANE_WORDS] |= (int32_t)(entry >> 16 << shift);
}

/* The scales of derivative and lift. */
static void find_scales(const struct blocks *b, int scale[2])
{
    double most[2] = {0};
    for (int block = 0; block < NUM_BLOCK; block++)
        for (int i = 0, columns = block_columns(&b->sizes, block); i < b->sizes.nodes[block] * columns; i++) {
            bool lift = i % columns >= b->sizes.nodes[block ^ 1];
            most[lift] = fmax(most[lift], fabs(b->matrix[block][i]));
        }
    for (int i = 0; i < 2; i++)
        scale[i] = half_scale(most[i]);
}

/* The matrices on tensor cores: in matrix, or as pairs of FP16 numbers in words, whose head has the scales. */
static void pack_fragments(const unda_solver *s, const struct blocks *b, int rows, double *matrix,
                           int32_t *words)
{
    const struct orbit *sorted[MOST_BLOCK_NODE];
    int scale[2];
    sort_orbits(b, sorted);
    find_scales(b, scale);
    bool split = words != NULL;
    for (int i = 0; split && i < 2; i++)
        words[i] = half_inverse(scale[i]);
    for (int first = 0; first < b->num_orbit; first += rows) {
        int tall = b->num_orbit - first < rows ? b->num_orbit - first : rows;
        struct entries to = {rows, (int64_t)(first / rows) * blocks_warp_entries(s, &b->sizes, rows)};
        for (int pass = 0; pass < (split ? 2 : 1); pass++)
            for (int block = 0; block < NUM_BLOCK; block++) {
                int nodes = b->sizes.nodes[block ^ 1], columns = block_columns(&b->sizes, block);
                struct inputs of = split ? pass ? (struct inputs){nodes, columns} : (struct inputs){0, nodes}
                                         : (struct inputs){0, columns};
                if (!tile_has(sorted + first, tall, block))
                    continue;
                for (int o = 0; o < tall; o++)
                    for (int k = of.begin, row = sorted[first + o]->sum[block]; k < of.end && row >= 0; k++) {
                        double entry = b->matrix[block][row * columns + k];
                        if (split)
                            put_split(words + HEAD, &to, o, k - of.begin, half_split(entry, scale[pass]));
                        else
                            put_double(matrix, &to, o, k, entry);
                    }
                to.begin += (int64_t)blocks_round_up(of.end - of.begin, blocks_unit_inputs(s)) * rows;
            }
    }
}

static int32_t pair(int low, int high)
{
    return (int32_t)((uint32_t)low | (uint32_t)high << 16);
}

/* Where the sums of an orbit stand, by character: words. */
static void find_sums(const struct orbit *orbit, const int first[NUM_BLOCK], bool flip, int pitch,
                      int place[NUM_BLOCK])
{
    for (int s = 0; s < NUM_BLOCK; s++)
        place[s] = orbit->sum[s] < 0 ? ABSENT : (first[flip ? s ^ 1 : s] + orbit->sum[s]) * pitch;
}

/* Members by direction, a byte each; where each sum goes, and of nodes where each result is. */
static void pack_orbit(const struct orbit *orbit, const struct block_rows *at, bool face, int32_t *record)
{
    int input[NUM_BLOCK], result[NUM_BLOCK];
    find_sums(orbit, face ? at->face : at->node, !face, at->pitch, input);
    find_sums(orbit, at->result, false, at->pitch, result);
    for (int j = 0; j < DIRECTIONS; j++) {
        const int *m = orbit->member[j];
        record[j] =
            (int32_t)((uint32_t)m[0] | (uint32_t)m[1] << 8 | (uint32_t)m[2] << 16 | (uint32_t)m[3] << 24);
    }
    record[4] = pair(input[0], input[1]);
    record[5] = pair(input[2], input[3]);
    record[6] = pair(result[0], result[1]);
    record[7] = pair(result[2], result[3]);
}

/* Where a node's derivatives stand: the values at an orbit take the places of its results, member g that of
 * character g. (What leaves a node alone is generated by Q and P alone, so that members and characters that are left
 * have the same numbers.) */
static void pack_node(const struct blocks *b, const struct block_rows *at, int node, int32_t *record)
{
    int place[DIRECTIONS];
    for (int j = 0; j < DIRECTIONS; j++) {
        int g = b->g_of_node[j][node];
        place[j] = (at->result[g] + b->orbit[b->of_node[j][node]].sum[g]) * at->pitch;
    }
    record[0] = pair(place[0], place[1]);
    record[1] = pair(place[2], 0);
}

static void pack_table(const struct blocks *b, const struct plan *plan, const struct block_rows *at,
                       int32_t *table)
{
    const struct orbit *sorted[MOST_BLOCK_NODE];
    sort_orbits(b, sorted);
    for (int o = 0; o < b->num_orbit; o++, table += ORBIT_WORDS)
        pack_orbit(blocks_on_tensor_cores(plan) ? sorted[o] : &b->orbit[o], at, false, table);
    for (int o = 0; o < b->num_face_orbit; o++, table += ORBIT_WORDS)
        pack_orbit(&b->face_orbit[o], at, true, table);
    if (blocks_on_tensor_cores(plan)) /* results are in rows of nodes */
        return;
    for (int node = 0; node < at->num_node; node++, table += NODE_WORDS)
        pack_node(b, at, node, table);
}

unda_status blocks_pack(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table)
{
    const struct element *el = dg_tables(s)->space.element;
    struct block_rows at = blocks_rows(s, plan);
    struct blocks *b;
    TRY(blocks_new(&b, el));
    int orbits = b->num_orbit + b->num_face_orbit;
    if (blocks_on_tensor_cores(plan))
        pack_fragments(s, b, plan->rows, matrix, blocks_split(s, plan) ? table + ORBIT_WORDS * orbits : NULL);
    else
        pack_matrices(b, plan->rows, matrix);
    pack_table(b, plan, &at, table);
    blocks_free(b);
    return UNDA_OK;
}
