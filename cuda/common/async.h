/* async.h: copies from global to shared memory that take no registers; flags and mailboxes between blocks. The
 * includer defines DEVICE. */
#ifndef UNDA_ASYNC_H
#define UNDA_ASYNC_H

#ifdef __CUDACC__ /* the stand-in driver has its own */
DEVICE unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
/* From memory that no thread writes while the kernel runs, here and not later. */
DEVICE int4 load_now(const int4 *p)
{
    int4 v;
    asm volatile("ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}
/* The same of 1, 2 or 4 numbers. */
template <int NUM> DEVICE void load_now(float *to, const float *from)
{
    if constexpr (NUM == 4)
        asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                     : "l"(from));
    else if constexpr (NUM == 2)
        asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(to[0]), "=f"(to[1]) : "l"(from));
    else
        asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(to[0]) : "l"(from));
}
/* NUM words, of 4, 8 or 16 bytes and so aligned. */
template <int NUM = 1, class T> DEVICE void copy_async(T *to, const T *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from),
                 "n"(NUM * sizeof(T))
                 : "memory");
}
DEVICE void copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Waits until at most LEFT of the groups committed by this thread are under way. */
template <int LEFT> DEVICE void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
/* In a loop that waits for other blocks. */
DEVICE void look_again()
{
}
DEVICE int load_acquire(const int *p)
{
    int v;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
/* Between devices: p in the memory of the one that looks. */
DEVICE int load_acquire_far(const int *p)
{
    int v;
    asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
DEVICE void store_release_far(int *p, int v)
{
    asm volatile("st.release.sys.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
DEVICE long long nanoseconds()
{
    long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}
DEVICE void give_up()
{
    asm volatile("trap;");
}
DEVICE void store_release(int *p, int v)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
DEVICE void add_release(int *p, int v)
{
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
DEVICE int load_relaxed(const int *p)
{
    int v;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
DEVICE void store_relaxed(int *p, int v)
{
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v));
}
/* Eight bytes are there at once, or not at all. */
DEVICE void store_words(unsigned long long *to, unsigned long long v)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(v));
}
DEVICE void store_words(unsigned long long *to, unsigned long long v, unsigned long long w)
{
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(v), "l"(w));
}
DEVICE void load_words(unsigned long long (&v)[1], const unsigned long long *from)
{
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v[0]) : "l"(from));
}
DEVICE void load_words(unsigned long long (&v)[2], const unsigned long long *from)
{
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(v[0]), "=l"(v[1]) : "l"(from));
}
#endif

/* ---- words with a tag beside them: whoever finds the tag has the word ---- */
DEVICE unsigned long long with_tag(unsigned word, unsigned tag)
{
    return (unsigned long long)tag << 32 | word;
}
template <int NUM> DEVICE void store_tagged(unsigned long long *to, const float *from, unsigned tag)
{
    if constexpr (NUM == 2)
        store_words(to, with_tag(__float_as_uint(from[0]), tag), with_tag(__float_as_uint(from[1]), tag));
    else
        store_words(to, with_tag(__float_as_uint(from[0]), tag));
}
template <int NUM> DEVICE void store_tagged(unsigned long long *to, const double *from, unsigned tag)
{
    const unsigned long long bits = (unsigned long long)__double_as_longlong(from[0]);
    store_words(to, with_tag((unsigned)bits, tag), with_tag((unsigned)(bits >> 32), tag));
}
template <int NUM> DEVICE bool has_tag(const unsigned long long (&v)[NUM], unsigned tag)
{
    bool all = true;
#pragma unroll
    for (int i = 0; i < NUM; i++)
        all = all && (unsigned)(v[i] >> 32) == tag;
    return all;
}
template <int NUM> DEVICE void read_tagged(float *to, const unsigned long long (&v)[NUM])
{
#pragma unroll
    for (int i = 0; i < NUM; i++)
        to[i] = __uint_as_float((unsigned)v[i]);
}
template <int NUM> DEVICE void read_tagged(double *to, const unsigned long long (&v)[2])
{
    to[0] = __longlong_as_double((long long)(v[1] << 32 | (v[0] & 0xffffffff)));
}
/* Looks again until all of v, what has been found at `from`, has the tag. */
template <int NUM, class T, int WORDS>
DEVICE void take_tagged(T *to, unsigned long long (&v)[WORDS], const unsigned long long *from, unsigned tag)
{
    while (!has_tag(v, tag)) {
        look_again();
        load_words(v, from);
    }
    read_tagged<NUM>(to, v);
}
#endif
