/* plane.h: the metric and the material at the nodes of a plane r_1 = a of a hexahedron, row by row along r_2. Of a map
 * of eight vertices (cuda/space/trilinear.h) e_2 is the same along a row, e_1 and e_3 are linear in r_2. Included by
 * sem/work_plane.h. */
#ifndef UNDA_SEM_PLANE_H
#define UNDA_SEM_PLANE_H

#include "common/index.h"
#include "sem/column.h"

#if METRIC_KIND == METRIC_TRILINEAR
struct plane_metric {
    /* e_1 at r_2 = 0 and its slope along r_2, both at r_3 = 0, and what r_3 adds; e_2, e_3 at r_2 = r_3 = 0 and the
     * slope of both, of e_2 along r_3, of e_3 along r_2. */
    REAL first[2][3], more[2][3], second[3], third[3], slope[3];
    REAL start[3], along[3], up[3]; /* of the row: e_1 and its slope, e_2 */

    __device__ __forceinline__ static void ask_early(const sem_tile_args &, const sem_tile &)
    {
    }
    __device__ __forceinline__ plane_metric(const sem_tile_args &a, const sem_tile &t, const place &p)
    {
        const REAL *map = metric_of(a, t.first_elem + p.elem);
        REAL r_1 = line_point[p.a];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            REAL m[NUM_MAP / 3];
            load_constant<NUM_MAP / 3>(m, map + i * (NUM_MAP / 3));
            const REAL *linear = m, *mixed = m + 3, triple = m[6];
            first[0][i] = linear[0];
            first[1][i] = mixed[0];
            more[0][i] = mixed[2];
            more[1][i] = triple;
            second[i] = linear[1] + mixed[0] * r_1;
            third[i] = linear[2] + mixed[2] * r_1;
            slope[i] = mixed[1] + triple * r_1;
        }
    }
    __device__ __forceinline__ void begin_row(int k)
    {
        constexpr double point[N] = {LINE_POINTS};
#pragma unroll
        for (int i = 0; i < 3; i++) {
            start[i] = first[0][i] + more[0][i] * (REAL)point[k];
            along[i] = first[1][i] + more[1][i] * (REAL)point[k];
            up[i] = second[i] + slope[i] * (REAL)point[k];
        }
    }
    __device__ __forceinline__ void get(int, int b, REAL *metric) const
    {
        constexpr double point[N] = {LINE_POINTS};
        REAL e_1[3], e_3[3];
        if (MATERIAL_NODES > 1)
            keep_apart();
#pragma unroll
        for (int i = 0; i < 3; i++) {
            e_1[i] = start[i] + along[i] * (REAL)point[b];
            e_3[i] = third[i] + slope[i] * (REAL)point[b];
        }
        cofactor(up, e_3, metric);
        cofactor(e_3, e_1, metric + 3);
        cofactor(e_1, up, metric + 6);
        metric[9] = reciprocal(up[0] * metric[3] + up[1] * metric[4] + up[2] * metric[5]);
    }
};
#elif METRIC_KIND == METRIC_STORED
/* Metrics of the next node are asked for while those of one are at work, lines of the rows behind still earlier. */
struct plane_metric {
    enum { ROW_BYTES = N * NUM_METRIC * LANES * (int)sizeof(REAL), ROWS_AHEAD = 2 };
    const REAL *from, *row;
    REAL next[NUM_METRIC];

    __device__ __forceinline__ void load(int k, int b)
    {
#pragma unroll
        for (int i = 0; i < NUM_METRIC; i += 2)
            load_constant<2>(next + i, from + ((k * N + b) * NUM_METRIC + i) * LANES);
    }
    __device__ __forceinline__ static void ask(const REAL *row, int k)
    {
        const char *at = (const char *)row + k * ROW_BYTES;
#pragma unroll
        for (int i = 0; i < ROW_BYTES; i += LANES * LINE)
            if (i + (int)threadIdx.x % 32 * LINE < ROW_BYTES)
                prefetch_l2(at + i + (int)threadIdx.x % 32 * LINE);
    }
    __device__ __forceinline__ static void ask_early(const sem_tile_args &a, const sem_tile &t)
    {
        for (int k = 0; k < ROWS_AHEAD; k++)
            ask(lane_values<NUM_METRIC>(a.metric, t) - (int)threadIdx.x % 32 * 2, k);
    }
    __device__ __forceinline__ plane_metric(const sem_tile_args &a, const sem_tile &t, const place &)
    {
        from = lane_values<NUM_METRIC>(a.metric, t);
        row = from - (int)threadIdx.x % 32 * 2;
        load(0, 0);
    }
    __device__ __forceinline__ void begin_row(int k) const
    {
        if (k + ROWS_AHEAD < N)
            ask(row, k + ROWS_AHEAD);
    }
    __device__ __forceinline__ void get(int k, int b, REAL *metric)
    {
#pragma unroll
        for (int i = 0; i < NUM_METRIC; i++)
            metric[i] = next[i];
        if (k * N + b + 1 < SQUARE)
            load(k + (b + 1) / N, (b + 1) % N);
    }
};
#else
struct plane_metric {
    REAL all[NUM_METRIC];

    __device__ __forceinline__ static void ask_early(const sem_tile_args &, const sem_tile &)
    {
    }
    __device__ __forceinline__ plane_metric(const sem_tile_args &a, const sem_tile &t, const place &p)
    {
#pragma unroll
        for (int i = 0; i < NUM_METRIC; i++)
            all[i] = __ldg(metric_of(a, t.first_elem + p.elem) + i);
    }
    __device__ __forceinline__ void begin_row(int) const
    {
    }
    __device__ __forceinline__ void get(int, int, REAL *metric) const
    {
#pragma unroll
        for (int i = 0; i < NUM_METRIC; i++)
            metric[i] = all[i];
    }
};
#endif

/* Times a number that a thread needs once. By node, that of the next one is asked for while one is at work. */
struct plane_material {
    REAL factor, next[NUM_COEF];
    const REAL *from;

    __device__ __forceinline__ plane_material(const sem_tile_args &a, const sem_tile &t, const place &p)
    {
        factor = line_weight[p.a];
        from = MATERIAL_NODES > 1 ? lane_values<NUM_COEF>(a.coef, t)
                                  : (const REAL *)a.coef + (long long)(t.first_elem + p.elem) * NUM_COEF;
        load_constant<NUM_COEF>(next, from);
#pragma unroll
        for (int i = 0; i < NUM_COEF; i++)
            next[i] = MATERIAL_NODES > 1 ? next[i] : factor * next[i];
    }
    __device__ __forceinline__ void get(int k, int b, REAL *coef)
    {
#pragma unroll
        for (int i = 0; i < NUM_COEF; i++)
            coef[i] = MATERIAL_NODES > 1 ? factor * next[i] : next[i];
        if (MATERIAL_NODES > 1 && k * N + b + 1 < SQUARE)
            load_constant<NUM_COEF>(next, from + (k * N + b + 1) * NUM_COEF * LANES);
    }
};

#endif
