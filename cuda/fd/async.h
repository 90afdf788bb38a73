/* async.h: copies from global to shared memory that take no registers; flags and mailboxes between blocks. */
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
static inline void look_again()
{
    emu->yield();
}
static inline int load_acquire(const int *p)
{
    return *p;
}
static inline int load_relaxed(const int *p)
{
    return *p;
}
static inline void store_relaxed(int *p, int v)
{
    *p = v;
}
static inline void store_words(unsigned long long *to, unsigned long long v)
{
    *to = v;
}
static inline void store_words(unsigned long long *to, unsigned long long v, unsigned long long w)
{
    to[0] = v, to[1] = w;
}
static inline void load_words(unsigned long long (&v)[1], const unsigned long long *from)
{
    v[0] = *from;
}
static inline void load_words(unsigned long long (&v)[2], const unsigned long long *from)
{
    v[0] = from[0], v[1] = from[1];
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
/* In a loop that waits for other blocks. */
static __device__ __forceinline__ void look_again()
{
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
static __device__ __forceinline__ int load_relaxed(const int *p)
{
    int v;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
static __device__ __forceinline__ void store_relaxed(int *p, int v)
{
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v));
}
/* Eight bytes are there at once, or not at all. */
static __device__ __forceinline__ void store_words(unsigned long long *to, unsigned long long v)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(v));
}
static __device__ __forceinline__ void store_words(unsigned long long *to, unsigned long long v,
                                                   unsigned long long w)
{
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(v), "l"(w));
}
static __device__ __forceinline__ void load_words(unsigned long long (&v)[1], const unsigned long long *from)
{
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v[0]) : "l"(from));
}
static __device__ __forceinline__ void load_words(unsigned long long (&v)[2], const unsigned long long *from)
{
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(v[0]), "=l"(v[1]) : "l"(from));
}
#endif

/* ---- words with a tag beside them: whoever finds the tag has the word ---- */
static __device__ __forceinline__ unsigned long long with_tag(unsigned word, unsigned tag)
{
    return (unsigned long long)tag << 32 | word;
}
template <int NUM>
static __device__ __forceinline__ void store_tagged(unsigned long long *to, const float *from, unsigned tag)
{
    if constexpr (NUM == 2)
        store_words(to, with_tag(__float_as_uint(from[0]), tag), with_tag(__float_as_uint(from[1]), tag));
    else
        store_words(to, with_tag(__float_as_uint(from[0]), tag));
}
template <int NUM>
static __device__ __forceinline__ void store_tagged(unsigned long long *to, const double *from, unsigned tag)
{
    const unsigned long long bits = (unsigned long long)__double_as_longlong(from[0]);
    store_words(to, with_tag((unsigned)bits, tag), with_tag((unsigned)(bits >> 32), tag));
}
/* Looks again until all of v has the tag. */
template <int NUM>
static __device__ __forceinline__ void wait_words(unsigned long long (&v)[NUM],
                                                  const unsigned long long *from, unsigned tag)
{
    for (;;) {
        bool all = true;
#pragma unroll
        for (int i = 0; i < NUM; i++)
            all = all && (unsigned)(v[i] >> 32) == tag;
        if (all)
            break;
        look_again();
        load_words(v, from);
    }
}
/* v: what has been found at `from`. */
template <int NUM>
static __device__ __forceinline__ void take_tagged(float *to, unsigned long long (&v)[NUM],
                                                   const unsigned long long *from, unsigned tag)
{
    wait_words(v, from, tag);
#pragma unroll
    for (int i = 0; i < NUM; i++)
        to[i] = __uint_as_float((unsigned)v[i]);
}
template <int NUM>
static __device__ __forceinline__ void take_tagged(double *to, unsigned long long (&v)[2],
                                                   const unsigned long long *from, unsigned tag)
{
    wait_words(v, from, tag);
    to[0] = __longlong_as_double((long long)(v[1] << 32 | (v[0] & 0xffffffff)));
}
#endif
