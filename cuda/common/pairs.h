/* pairs.h: two lanes store what each of them has, together. */
#ifndef UNDA_PAIRS_H
#define UNDA_PAIRS_H

#include "common/vector.h"

/* Two lanes whose numbers differ in one bit store an item each. Four doubles are 32 bytes, which an instruction that
 * stores 16 of each lane leaves half empty, and memory takes as long for half as for all of them: so the lanes give each
 * other two numbers, and store one item together, then the other. */
struct lane_pair {
    int bit;         /* by which the lanes differ */
    int apart;       /* from the item of the lane without the bit to that of the other */
    bool own, other; /* whether there is an item to store */
};

static __device__ __forceinline__ void store_quads(double *to, const double *from, const lane_pair &lanes)
{
    int lane = threadIdx.x % 32;
    bool second = lane & lanes.bit;
    double got[2];
#pragma unroll
    for (int i = 0; i < 2; i++)
        got[i] =
            __shfl_xor_sync(1u << lane | 1u << (lane ^ lanes.bit), second ? from[i] : from[2 + i], lanes.bit);
    double *other = to + 4 * (second ? -lanes.apart : lanes.apart);
    double *one = second ? other + 2 : to, *two = second ? to + 2 : other;
    if (second ? lanes.other : lanes.own)
        __stcs((double2 *)one, second ? make_double2(got[0], got[1]) : make_double2(from[0], from[1]));
    if (second ? lanes.own : lanes.other)
        __stcs((double2 *)two, second ? make_double2(from[2], from[3]) : make_double2(got[0], got[1]));
}

template <int NUM, int FIRST = 0>
static __device__ __forceinline__ void store_group_pairs(REAL *array, long long total, long long item,
                                                         const REAL *from, const lane_pair &lanes,
                                                         int more = 0)
{
    constexpr int WIDTH = NUM - FIRST < 4 ? NUM - FIRST : 4;
    REAL *to = array + FIRST * total + item * WIDTH + more * WIDTH;
    if constexpr (WIDTH == 4 && sizeof(REAL) == 8)
        store_quads(to, from + FIRST, lanes);
    else if (lanes.own)
        store_vector<WIDTH>(to, from + FIRST);
    if constexpr (FIRST + WIDTH < NUM)
        store_group_pairs<NUM, FIRST + WIDTH>(array, total, item, from, lanes, more);
}

#endif
