/* async.h: copies from global to shared memory that take no registers, flags between blocks, clusters. */
#ifndef UNDA_ASYNC_H
#define UNDA_ASYNC_H

#ifndef __CUDACC__ /* the stand-in: a copy is done at once */
template <int NUM = 1, class T> static inline void copy_async(T *to, const T *from)
{
    for (int i = 0; i < NUM; i++)
        to[i] = from[i];
}
static inline void copy_commit()
{
}
template <int LEFT> static inline void copy_wait()
{
}
static inline int load_acquire(const int *p)
{
    return *p;
}
static inline void store_release(int *p, int v)
{
    *p = v;
}
#else
static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
/* NUM words, of 4, 8 or 16 bytes and so aligned. */
template <int NUM = 1, class T> static __device__ __forceinline__ void copy_async(T *to, const T *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from),
                 "n"(NUM * sizeof(T))
                 : "memory");
}
static __device__ __forceinline__ void copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Waits until at most LEFT of the groups committed by this thread are under way. */
template <int LEFT> static __device__ __forceinline__ void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
static __device__ __forceinline__ int load_acquire(const int *p)
{
    int v;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
static __device__ __forceinline__ void store_release(int *p, int v)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
/* ---- clusters ---- */
static __device__ __forceinline__ int cluster_rank()
{
    int r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
static __device__ __forceinline__ unsigned remote_address(unsigned address, int rank)
{
    unsigned r;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank));
    return r;
}
static __device__ __forceinline__ void store_remote(unsigned to, int v)
{
    asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(to), "r"(v) : "memory");
}
/* Meetings: barriers in shared memory that blocks of a cluster pass when so many bytes were stored there. */
static __device__ __forceinline__ void meeting_expect(unsigned address, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes)
                 : "memory");
}
static __device__ __forceinline__ void meeting_new(unsigned address)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/* Acquires for the block alone: what was stored is its own shared memory; for the cluster L1 would be
 * emptied. */
static __device__ __forceinline__ void meeting_wait(unsigned address, int parity)
{
    asm volatile("{\n\t.reg .pred done;\n"
                 "again_%=:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again_%=;\n\t}" ::"r"(address),
                 "r"(parity)
                 : "memory");
}
/* Stores NUM words, at most 16 bytes, into the shared memory of another block, and tells its meeting. Loads
 * may pass it: what it stores was loaded before. */
#define STORE_ASYNC "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes."
template <int NUM>
static __device__ __forceinline__ void store_async(unsigned to, const float *from, unsigned meeting)
{
    if constexpr (NUM == 4)
        asm volatile(STORE_ASYNC "v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "f"(from[0]), "f"(from[1]),
                     "f"(from[2]), "f"(from[3]), "r"(meeting));
    else if constexpr (NUM == 2)
        asm volatile(STORE_ASYNC "v2.f32 [%0], {%1, %2}, [%3];" ::"r"(to), "f"(from[0]), "f"(from[1]),
                     "r"(meeting));
    else
        asm volatile(STORE_ASYNC "f32 [%0], %1, [%2];" ::"r"(to), "f"(from[0]), "r"(meeting));
}
template <int NUM>
static __device__ __forceinline__ void store_async(unsigned to, const double *from, unsigned meeting)
{
    if constexpr (NUM == 2)
        asm volatile(STORE_ASYNC "v2.f64 [%0], {%1, %2}, [%3];" ::"r"(to), "d"(from[0]), "d"(from[1]),
                     "r"(meeting));
    else
        asm volatile(STORE_ASYNC "f64 [%0], %1, [%2];" ::"r"(to), "d"(from[0]), "r"(meeting));
}
static __device__ __forceinline__ void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
static __device__ __forceinline__ void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#endif
#endif
