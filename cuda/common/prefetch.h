/* prefetch.h: requests a line of memory before it is used. */
#ifndef UNDA_PREFETCH_H
#define UNDA_PREFETCH_H

/* Into L2; needs no register, and an invalid address causes no fault. */
static __device__ __forceinline__ void prefetch_l2(const void *address)
{
#ifdef __CUDACC__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#else
    (void)address;
#endif
}

#endif
