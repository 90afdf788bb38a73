/* mma.h: products of small matrices by a warp on tensor cores, C += A B, from compute capability 8.0 on; those of FP64
 * by multiply-adds on older devices. The includer defines DEVICE.
 *
 * A register holds two FP16 numbers, the first one in its low half. With g = lane / 4, t = lane % 4 a lane holds
 *   of A [16][16]  a0: row g,      columns 2t, 2t + 1;      of B [16][8]  b0: rows 2t, 2t + 1, column g
 *                  a1: row g + 8,  the same columns;                      b1: rows 2t + 8, 2t + 9
 *                  a2, a3: columns 2t + 8, 2t + 9;          of C [16][8]  c0, c1: row g, columns 2t, 2t + 1
 *                                                                         c2, c3: row g + 8.
 * Half as deep, [16][8] and [8][8], are a0, a1 and b0. Products of FP16 are exact; their sum with C is rounded towards
 * zero. Of FP64, A [8][4], B [4][8], C [8][8], a lane has a: row g, column t; b: row t, column g; c0, c1 as above. */
#ifndef UNDA_MMA_H
#define UNDA_MMA_H

#ifdef __CUDACC__ /* the stand-in driver has its own */
/* i, of which the compiler no longer knows where it comes from: what depends on it is computed here and not kept in
 * registers from before. */
DEVICE int anew(int i)
{
    asm volatile("" : "+r"(i));
    return i;
}
/* FP16 of two numbers, each rounded to the nearest. */
DEVICE unsigned half_pair(float low, float high)
{
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
/* The two numbers again. */
DEVICE void half_values(unsigned pair, float &low, float &high)
{
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(low), "=f"(high)
        : "r"(pair));
}
/* A of 16 rows, deep as NUM says, of a matrix that stands in shared memory by columns: lane l names the eight numbers
 * of column l % 8 + l / 16 * 8, rows l / 8 % 2 * 8 on, which are 16 bytes, so aligned. */
DEVICE void load_columns(unsigned (&a)[4], const void *column)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"((unsigned)__cvta_generic_to_shared(column))
                 : "memory");
}
DEVICE void load_columns(unsigned (&a)[2], const void *column)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a[0]), "=r"(a[1])
                 : "r"((unsigned)__cvta_generic_to_shared(column))
                 : "memory");
}
DEVICE void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
DEVICE void multiply_add(float (&c)[4], const unsigned (&a)[2], const unsigned (&b)[1])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
#if __CUDA_ARCH__ >= 800
DEVICE void multiply_add(double (&c)[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
}
#else /* right on any device, and slow */
DEVICE void multiply_add(double (&c)[2], double a, double b)
{
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        double left = __shfl_sync(~0u, a, 4 * g + k);
#pragma unroll
        for (int i = 0; i < 2; i++)
            c[i] += left * __shfl_sync(~0u, b, 4 * (2 * t + i) + k);
    }
}
#endif
#endif

#endif
