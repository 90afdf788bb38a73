/* reduce.h: sums in memory to which many threads add. The includer defines DEVICE, REAL. */
#ifndef UNDA_REDUCE_H
#define UNDA_REDUCE_H

/* Adds to NUM words; four of float32, at a multiple of 16 bytes, by one request. */
template <int NUM> DEVICE void add_atomically(REAL *to, const REAL (&x)[NUM])
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (NUM == 4 && sizeof(REAL) == 4) {
        asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"((float)x[0]),
                     "f"((float)x[1]), "f"((float)x[2]), "f"((float)x[3])
                     : "memory");
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < NUM; i++)
        atomicAdd(to + i, x[i]);
}

#endif
