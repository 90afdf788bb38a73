/* line_prefetch.h: what blocks of kernels lines, columns and blocks ask for before they need it. The includer defines what
 * case.h asks for, TILE, THREADS, AHEAD, WAVE (blocks on the device at once), UPDATE. Next: lines.cu, columns.cu. */
#ifndef UNDA_DG_LINE_PREFETCH_H
#define UNDA_DG_LINE_PREFETCH_H

#define PREFETCH_LOOP _Pragma("unroll 1") /* of a turn or two */
#include "dg/prefetch.h"

/* So many bytes of an array, by the first warp. */
static __device__ __forceinline__ void prefetch_few(const void *array, long long begin, int bytes)
{
    int i = threadIdx.x * 128;
    if (i < bytes)
        prefetch_l2((const char *)array + begin + i);
}

/* The tables of elements: few bytes, but a thread comes to each of them only after the one before, and would wait for
 * memory every time. */
static __device__ __forceinline__ void prefetch_tables(const dg_args &a, long long first, int count)
{
    constexpr int SIZE = sizeof(REAL);
    prefetch_few(a.neighbor, 4 * NUM_FACE * first, 4 * NUM_FACE * count);
    if (BY_NODE)
        return;
    prefetch_few(a.record, SIZE * RECORD * first, SIZE * RECORD * count);
#pragma unroll
    for (int value = 0; value < NUM_FACE_COEF; value += 4) {
        int width = GROUP_WIDTH(NUM_FACE_COEF, value / 4);
        prefetch_few(a.face_coef, SIZE * (value * a.num_coef_face + NUM_FACE * first * width),
                     SIZE * NUM_FACE * count * width);
    }
}

/* Asks for what this block's update reads, and for the state and the tables of blocks that run soon. */
static __device__ __forceinline__ void prefetch_memory(const dg_args &a, long long first, int count)
{
    if (UPDATE == UPDATE_AB3 || (UPDATE == UPDATE_LSRK && a.a != 0))
        prefetch(a, a.r, first, count);
    if (UPDATE == UPDATE_AB3)
        prefetch(a, a.r1, first, count);
    long long soon = first + (long long)AHEAD * TILE, left = a.num_elem - soon;
    int num = left < TILE ? (int)left : TILE;
    if (AHEAD > 1 && left > 0)
        prefetch(a, a.q, soon, num);
    long long later = first + (long long)WAVE * TILE, rest = a.num_elem - later;
    if (threadIdx.x < 32 && rest > 0)
        prefetch_tables(a, later, rest < TILE ? (int)rest : TILE);
}

#endif
