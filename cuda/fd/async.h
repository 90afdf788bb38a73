/* async.h: copies from global to shared memory that take no registers, flags between blocks, clusters. */
#ifndef UNDA_ASYNC_H
#define UNDA_ASYNC_H

#ifndef __CUDACC__ /* the stand-in: a copy is done at once */
template <class T> static inline void copy_async(T *to, const T *from)
{
    *to = *from;
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
template <class T> static __device__ __forceinline__ void copy_async(T *to, const T *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from),
                 "n"(sizeof(T))
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
static __device__ __forceinline__ void store_remote(unsigned to, float v)
{
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(v) : "memory");
}
static __device__ __forceinline__ void store_remote(unsigned to, double v)
{
    asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(to), "d"(v) : "memory");
}
static __device__ __forceinline__ void store_remote(unsigned to, int v)
{
    asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(to), "r"(v) : "memory");
}
/* Barriers in shared memory on which blocks of a cluster wait for words that neighbours store remotely. */
static __device__ __forceinline__ void meeting_new(unsigned address, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(count) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ __forceinline__ void meeting_arrive(unsigned remote)
{
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
}
static __device__ __forceinline__ void meeting_wait(unsigned address, int parity)
{
    asm volatile("{\n\t.reg .pred done;\n"
                 "again_%=:\n\t"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again_%=;\n\t}" ::"r"(address),
                 "r"(parity)
                 : "memory");
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
