/* monitor_levels.h: kernel `monitor_levels` adds samples that are levels of the state, each in an array of its own,
 * to squares or to a Fourier transform, in their order. Of boxes of grids without images, whose accumulators have the
 * padding of the grid's rows; a thread has values side by side, which can be moved together. Included by monitor.cu. */
#ifndef UNDA_MONITOR_LEVELS_H
#define UNDA_MONITOR_LEVELS_H

constexpr int LEVELS = MONITOR_LEVELS * 4 / sizeof(REAL);
typedef run<REAL, MONITOR_LEVEL_VALUES> level_values;
typedef run<double, MONITOR_LEVEL_VALUES> level_sums;

static __device__ __forceinline__ void add_level_squares(const monitor_args &a, const level_values *p,
                                                         double *sums)
{
    level_sums sum = *(const level_sums *)sums;
#pragma unroll
    for (int n = 0; n < LEVELS; n++)
#pragma unroll
        for (int v = 0; v < MONITOR_LEVEL_VALUES && n < a.num_held; v++)
            sum.v[v] = sum.v[v] + (double)p[n].v[v] * (double)p[n].v[v];
    *(level_sums *)sums = sum;
}

/* The sums of cosines and of sines of frequency f. */
static __device__ __forceinline__ void add_level_waves(const monitor_args &a, const level_values *p, int f,
                                                       double *sums)
{
    level_sums c = *(const level_sums *)sums, s = *(const level_sums *)(sums + a.num);
    const double *wave = a.wave + 2 * f;
#pragma unroll
    for (int n = 0; n < LEVELS; n++) {
#pragma unroll
        for (int v = 0; v < MONITOR_LEVEL_VALUES && n < a.num_held; v++) {
            const double one = (double)p[n].v[v];
            c.v[v] = c.v[v] + wave[0] * one;
            s.v[v] = s.v[v] + wave[1] * one;
        }
        wave += 2 * a.num_frequency;
    }
    *(level_sums *)sums = c;
    *(level_sums *)(sums + a.num) = s;
}

/* Threads are numbered along z and on through the rows of a plane, so that those of a block read memory side by side:
 * rows begin in the middle of what memory fetches at once. */
extern "C" __global__ void __launch_bounds__(256, 2) monitor_levels(const __grid_constant__ monitor_args a)
{
    const int row = a.pitch / MONITOR_LEVEL_VALUES;
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, y = i / row;
    const long long at_z = (i - y * row) * MONITOR_LEVEL_VALUES;
    if (y >= a.num_y)
        return;
    for (int x = blockIdx.y; x < a.num_x; x += gridDim.y) {
        const long long place = (long long)(a.first[0] + x) * a.stride[0] + (a.first[1] + y) * a.stride[1] +
                                a.first[2] - a.pad + at_z;
        double *sums = (double *)a.sums + (x * (long long)a.num_y + y) * a.pitch + at_z;
        level_values p[LEVELS];
#pragma unroll
        for (int n = 0; n < LEVELS; n++)
            if (n < a.num_held)
                p[n] = *(const level_values *)((const REAL *)a.level[n] + place);
        if (a.statistic == MONITOR_SQUARES)
            add_level_squares(a, p, sums);
        for (int f = 0; f < a.num_frequency; f++, sums += 2 * a.num)
            add_level_waves(a, p, f, sums);
    }
}

#endif
