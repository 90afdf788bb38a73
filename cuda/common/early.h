/* early.h: what a kernel begins with that may start while the one before it ends (gpu_shape.early). Until
 * wait_for_previous() it may read only what no kernel writes. */
#ifndef UNDA_EARLY_H
#define UNDA_EARLY_H

/* Waits until all kernels before this one are done, and what they wrote can be read; then the next kernel may take what
 * room there is. Nothing else orders kernels that start early: all threads of each call this. In the other order a kernel
 * starts while the one before the one before it runs: its blocks go where there is room just then, several to a
 * multiprocessor while others have none, and stay there (benchmarks/NOTES.md). */
#ifdef __CUDACC__ /* the stand-in driver has its own, and counts threads that wait */
static __device__ __forceinline__ void wait_for_previous()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
#endif

#endif
