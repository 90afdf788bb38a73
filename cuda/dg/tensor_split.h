/* tensor_split.h: the state and the jumps of a tile as pairs of FP16 numbers, for products on tensor cores.
 *
 * A value x is scaled by a power of two and becomes hi + lo, hi = FP16(x), lo = FP16(x - hi): 22 bits of it, as many as
 * the largest value has, down to 2^-18 of that. Fields of an element whose sums are added share a scale, and so does each
 * jump of a face: the power that takes the largest of them to 2^14 and more. So it is a function of the state and its
 * neighbours' traces alone, and the state may grow or shrink by any factor from stage to stage.
 *
 * Both parts take the place of the value: a row, TILE numbers of one field at one node, becomes TILE numbers hi, then
 * TILE numbers lo. */
#ifndef UNDA_DG_TENSOR_SPLIT_H
#define UNDA_DG_TENSOR_SPLIT_H

#include "dg/tile.h"

#include "common/mma.h"

enum { PAIRS = TILE / 2 };

/* Rows of the state and of jumps: in so many parts, of so many nodes with so many values. */
struct state_rows {
    enum { PARTS = 1, NODES = NP, VALUES = NUM_REF, PITCH = PITCH_U };
    static __device__ constexpr int scale(int, int value)
    {
        return field_scale(value);
    }
};
struct jump_rows {
    enum { PARTS = NUM_FACE, NODES = NFP, VALUES = NUM_JUMP, PITCH = PITCH_S };
    static __device__ constexpr int scale(int face, int value)
    {
        return jump_scale(face, value);
    }
};

/* The exponent of a largest size, as a float's bits have it: such that the scale and its inverse are normal numbers. */
static __device__ __forceinline__ int exponent(int most)
{
    int e = most >> 23;
    return e < 15 ? 15 : e;
}
static __device__ __forceinline__ REAL scale(int most)
{
    return __uint_as_float((unsigned)(268 - exponent(most)) << 23); /* 2^(14 - (e - 127)) */
}
static __device__ __forceinline__ REAL unscale(int most)
{
    return __uint_as_float((unsigned)(exponent(most) - 14) << 23);
}

/* A thread has a column, two elements of one value, of every SLOTS-th node; a row is the work of one warp. */
template <class OF> struct columns {
    enum {
        COUNT = OF::PARTS * OF::VALUES * PAIRS,
        SLOTS = THREADS / COUNT > 0 ? THREADS / COUNT : 1,
        STEPS = (OF::NODES + SLOTS - 1) / SLOTS,
        BATCH = STEPS < 8 ? STEPS : 8
    };
    int pair, value, part, slot;
    bool mine;
    __device__ __forceinline__ columns(int i)
        : pair(i % PAIRS), value(i / PAIRS % OF::VALUES), part(i / (PAIRS * OF::VALUES) % OF::PARTS),
          slot(i / COUNT), mine(i < COUNT * SLOTS)
    {
    }
    __device__ __forceinline__ int place() const
    {
        return (part * OF::NODES + slot) * OF::PITCH + value * TILE;
    }
    __device__ __forceinline__ bool has(int step) const
    {
        return mine && ((step + 1) * SLOTS <= OF::NODES || slot + step * SLOTS < OF::NODES);
    }
};

template <class OF> static __device__ __forceinline__ void split_rows(REAL *row, const int (*most)[TILE])
{
    typedef columns<OF> all;
    for (int first = 0; first < all::COUNT * all::SLOTS; first += THREADS) {
        all at(first + anew(threadIdx.x));
        REAL *from = row + at.place();
        const int *size = most[at.mine ? OF::scale(at.part, at.value) : 0] + 2 * at.pair;
        REAL factor[2] = {scale(size[0]), scale(size[1])};
        /* so that the lanes of a warp store to different banks */
        bool lo_first = at.value * TILE / 32 % 2;
#pragma unroll 1
        for (int begin = 0; begin < all::STEPS;
             begin += all::BATCH, from += all::BATCH * all::SLOTS * OF::PITCH) {
            REAL x[all::BATCH][2];
#pragma unroll
            for (int k = 0; k < all::BATCH; k++)
                if (at.has(begin + k))
                    load_vector<2>(x[k], from + k * (all::SLOTS * OF::PITCH) + 2 * at.pair);
            __syncwarp();
#pragma unroll
            for (int k = 0; k < all::BATCH; k++)
                if (at.has(begin + k)) {
                    REAL *to = from + k * (all::SLOTS * OF::PITCH) + at.pair, rest[2];
                    x[k][0] *= factor[0];
                    x[k][1] *= factor[1];
                    unsigned hi = half_pair(x[k][0], x[k][1]);
                    half_values(hi, rest[0], rest[1]);
                    unsigned lo = half_pair(x[k][0] - rest[0], x[k][1] - rest[1]);
                    to[lo_first ? PAIRS : 0] = __uint_as_float(lo_first ? lo : hi);
                    to[lo_first ? 0 : PAIRS] = __uint_as_float(lo_first ? hi : lo);
                }
        }
    }
}

/* After the tile is complete in all threads' eyes; so is what this leaves. */
static __device__ __forceinline__ void split(tile &s)
{
    split_rows<state_rows>(s.u, s.most);
    split_rows<jump_rows>(s.s, s.most);
    __syncthreads();
}

#endif
