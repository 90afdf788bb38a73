/* block_columns.h: which fields the products of kernel blocks take, and which sums they make.
 *
 * Fields are CHUNKS chunks, of which TOGETHER are taken at a time: 2 TOGETHER columns of each direction j (0 to 2), two
 * of a chunk, c = 0 and 1:
 *   grad-div, pair number i of a number a and a vector b (cuda/space):  D_j a -> acc of D_j a,  D_j b_j -> acc of div b;
 *   curls of v or w, (j, k, l) cyclic:  D_j v_k -> acc_l,  -D_j v_l -> acc_k.
 * A lifted jump of face j + 1 is added where direction j adds, one of face 0 where a single direction takes it:
 * for each sum the first that makes it. What a chunk reads is not needed afterwards, so its sums can stand in the same
 * place. */
#ifndef UNDA_DG_BLOCK_COLUMNS_H
#define UNDA_DG_BLOCK_COLUMNS_H

#include "dg/case.h"

enum {
    CHUNKS = GRAD_DIV ? GRAD_DIV : 2,
    CHUNK_SUMS = GRAD_DIV ? 4 : 3,
    TOGETHER = CHUNKS / TURNS,
    COLUMNS = 2 * TOGETHER /* of a direction, in a turn */
};

/* Of NUM_REF: what column c of direction j is made of. */
static __device__ constexpr int column_field(int chunk, int j, int c)
{
    return !GRAD_DIV ? 3 * (1 - chunk) + (j + 1 + c) % 3 : c == 0 ? chunk : GRAD_DIV * (1 + j) + chunk;
}

/* Of NUM_ACC: which sum its product is part of. */
static __device__ constexpr int column_sum(int chunk, int j, int c)
{
    return !GRAD_DIV ? 3 * chunk + (j + 2 - c) % 3 : c == 0 ? GRAD_DIV * (1 + j) + chunk : chunk;
}

/* Its sign. */
static __device__ constexpr int column_sign(int c)
{
    return !GRAD_DIV && c == 1 ? -1 : 1;
}

/* Whether it takes the jump of face 0. */
static __device__ constexpr bool column_face0(int j, int c)
{
    return c == 0 || (GRAD_DIV && j == 0);
}

/* Of NUM_ACC: sum number i of a chunk, and the field of NUM_REF whose place it takes. */
static __device__ constexpr int chunk_sum(int chunk, int i)
{
    return GRAD_DIV ? GRAD_DIV * i + chunk : 3 * chunk + i;
}
static __device__ constexpr int chunk_place(int chunk, int i)
{
    return GRAD_DIV ? GRAD_DIV * i + chunk : 3 * (1 - chunk) + i;
}

#endif
