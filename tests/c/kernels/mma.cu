/* mma.cu: products of common/mma.h. from: A [16][16], B [16][8], then 8 numbers; to: A B, the same of the first 8
 * columns of A, the product of A's first [8][4] and B's first [4][8] in FP64, then FP16 of the numbers. One warp. */
#define DEVICE static __device__ __forceinline__
#include "common/mma.h"

struct reverse_args {
    const double *from;
    double *to;
    long long count;
};

extern "C" __global__ void __launch_bounds__(128) mma(struct reverse_args args)
{
    extern __shared__ double s_value[];
    enum { PITCH = 24 };
    unsigned short *column = (unsigned short *)s_value; /* A by columns */
    const double *a = args.from, *b = a + 256;
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    if (blockIdx.x > 0 || threadIdx.x >= 32)
        return;
    for (int i = lane; i < 256; i += 32)
        column[i % 16 * PITCH + i / 16] = (unsigned short)half_pair((float)a[i], 0);
    __syncwarp();
    unsigned of_a[4], half_a[2], of_b[2], half_b[1];
    load_columns(of_a, column + (lane % 8 + lane / 16 * 8) * PITCH + lane / 8 % 2 * 8);
    load_columns(half_a, column + lane % 8 * PITCH + lane / 8 % 2 * 8);
    for (int i = 0; i < 2; i++)
        of_b[i] = half_pair((float)b[(2 * t + 8 * i) * 8 + g], (float)b[(2 * t + 1 + 8 * i) * 8 + g]);
    half_b[0] = of_b[0];
    float deep[4] = {}, shallow[4] = {};
    double wide[2] = {};
    multiply_add(deep, of_a, of_b);
    multiply_add(shallow, half_a, half_b);
    multiply_add(wide, a[g * 16 + t], b[t * 8 + g]);
    for (int i = 0; i < 4; i++) {
        args.to[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = deep[i];
        args.to[128 + (g + i / 2 * 8) * 8 + 2 * t + i % 2] = shallow[i];
    }
    for (int i = 0; i < 2; i++)
        args.to[256 + g * 8 + 2 * t + i] = wide[i];
    if (lane < 4) {
        float low, high;
        half_values(half_pair((float)a[384 + 2 * lane], (float)a[385 + 2 * lane]), low, high);
        args.to[320 + 2 * lane] = low;
        args.to[321 + 2 * lane] = high;
    }
}
