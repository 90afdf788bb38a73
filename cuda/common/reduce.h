/* reduce.h: sums in memory to which many threads add. The includer defines DEVICE, REAL. */
#ifndef UNDA_REDUCE_H
#define UNDA_REDUCE_H

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/* One request for two words, at a multiple of 8 bytes. */
DEVICE void add_pair(float *to, float x, float y)
{
    asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(x), "f"(y) : "memory");
}
#else
DEVICE void add_pair(float *to, float x, float y)
{
    atomicAdd(to, x);
    atomicAdd(to + 1, y);
}
#endif

/* Adds to item `item` of an array [item][NUM] that begins at a multiple of 8 bytes. Of three words of float32 two go
 * together: the first two of even items, the last two of odd ones. */
template <int NUM> DEVICE void add_atomically(REAL *array, long long item, const REAL (&x)[NUM])
{
    REAL *to = array + item * NUM;
    if constexpr (NUM == 3 && sizeof(REAL) == 4) {
        const int odd = (int)(item & 1);
        add_pair((float *)to + odd, (float)(odd ? x[1] : x[0]), (float)(odd ? x[2] : x[1]));
        atomicAdd(to + (odd ? 0 : 2), odd ? x[0] : x[2]);
    } else {
#pragma unroll
        for (int i = 0; i < NUM; i++)
            atomicAdd(to + i, x[i]);
    }
}

#endif
