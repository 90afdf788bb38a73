/* prefetch.h: requests a line of memory before it is used. */
#ifndef UNDA_PREFETCH_H
#define UNDA_PREFETCH_H

/* Into L2; needs no register, and an invalid address causes no fault. */
#ifdef __CUDACC__ /* the stand-in driver has its own */
static __device__ __forceinline__ void prefetch_l2(const void *address)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}
#endif

#endif
