/* state.cu: moving and checking states: gather and scatter elements, traces at cut faces, receivers, finite check, clocks.
 * One thread per value, or one warp per receiver channel; limited by latency or by one read of the state.
 * Defines: REAL, LAYOUT. */
#define DEVICE static __device__ __forceinline__
#include "common/args.h"
#include "common/integral.h"
#include LAYOUT

/* elements[i] <-> packed[i], num_value = num_node num_field reals each. */
extern "C" __global__ void gather(const __grid_constant__ gather_args a)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.count * a.num_value)
        return;
    int node = (int)(i % a.num_value) / a.num_field, field = (int)(i % a.num_field);
    long long at = state_index(a.total, a.num_field, a.num_node, a.elem[i / a.num_value], node, field);
    if (a.scatter)
        ((REAL *)a.state)[at] = ((const REAL *)a.packed)[i];
    else
        ((REAL *)a.packed)[i] = ((const REAL *)a.state)[at];
}

/* A value in an element: lanes take turns over the nodes, then a fixed tree of sums: the same bits each time. Lane 0 has it. */
DEVICE double weigh(const double *weight, const REAL *q, long long total, int num_field, int num_node,
                    long long elem, int field)
{
    double value = 0;
    for (int n = threadIdx.x % 32; n < num_node; n += 32)
        value += weight[n] * (double)q[state_index(total, num_field, num_node, elem, n, field)];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

/* One warp a channel. */
extern "C" __global__ void record(const __grid_constant__ record_args a)
{
    int channel = (int)((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x % 32;
    if (channel >= a.num_channel)
        return;
    const record_channel c = a.channel[channel];
    const record_group group = a.group[c.group];
    long long since = a.clock[1] + a.step + blockIdx.y - group.first;
    if (since % group.every != 0)
        return;
    const REAL *q = (const REAL *)a.q + blockIdx.y * a.q_step;
    double sum = 0; /* of the sums of its elements, so that others may add some of these up */
    for (int part = 0; part < c.num_row; part++) {
        long long row = c.row + (long long)part * c.skip;
        sum += c.field < 0 ? a.integral[blockIdx.y * a.integral_step + row]
                           : weigh((const double *)a.weight + row * a.num_node, q, a.total, a.num_field,
                                   a.num_node, a.elem[row], c.field);
    }
    if (lane != 0)
        return;
    REAL *out = (REAL *)a.out + group.base + since / group.every * group.stride;
    if (!group.wide) {
        out[c.offset] = (REAL)sum;
        return;
    }
    union {
        double whole;
        REAL half[2];
    } words;
    words.whole = sum;
    out[2 * c.offset] = words.half[0];
    out[2 * c.offset + 1] = words.half[1];
}

/* Integrals over time, of one stage: from the state before it; of many: what each state before one gives, of which
 * `integrate_stages` makes the integrals. One warp a place, and a row of blocks a state. */
extern "C" __global__ void integrate(const __grid_constant__ integral_args a)
{
    int i = (int)((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (i >= a.num_place)
        return;
    const integral_place p = a.place[i];
    double value =
        weigh((const double *)a.weight + p.row * a.num_node, (const REAL *)a.q + blockIdx.y * a.q_step,
              a.total, a.num_field, a.num_node, a.elem[p.row], p.field);
    if (threadIdx.x % 32 != 0)
        return;
    if (a.value)
        a.value[(long long)blockIdx.y * a.num_place + i] = value;
    else
        integral_advance(&a, 0, value, &a.u[i], &a.r[i], a.update == UPDATE_AB3 ? a.r1[i] : 0);
}

/* Whole steps of STAGES stages, STEPS at once, so that what memory gives is asked for before it is needed. */
template <int STAGES, int STEPS>
DEVICE void load_values(const integral_args &a, int step, int i, double *value)
{
#pragma unroll
    for (int k = 0; k < STEPS * STAGES; k++)
        value[k] =
            step + k / STAGES < a.num_step ? a.value[((long long)step * STAGES + k) * a.num_place + i] : 0;
}
template <int STAGES, int STEPS> DEVICE void integrate_steps(const integral_args &a, int i)
{
    constexpr bool ab3 = STAGES == 1;
    double u = a.u[i], r = ab3 ? a.r[i] : 0, r1 = ab3 ? a.r1[i] : 0, next[STEPS * STAGES];
    load_values<STAGES, STEPS>(a, 0, i, next);
    for (int from = 0; from < a.num_step; from += STEPS) {
        double value[STEPS * STAGES];
#pragma unroll
        for (int k = 0; k < STEPS * STAGES; k++)
            value[k] = next[k];
        load_values<STAGES, STEPS>(a, from + STEPS, i, next);
#pragma unroll
        for (int k = 0; k < STEPS * STAGES; k++) {
            const int step = from + k / STAGES;
            if (step >= a.num_step)
                break;
            integral_advance(&a, k % STAGES, value[k], &u, &r, r1);
            if (ab3) { /* whose rates become those of the next step */
                const double older = r1;
                r1 = r;
                r = older;
            }
            if (k % STAGES == STAGES - 1)
                a.after[(long long)step * a.num_place + i] = u;
        }
    }
    a.u[i] = u;
    a.r[i] = r;
    if (ab3)
        a.r1[i] = r1;
}

/* One thread a place. */
extern "C" __global__ void integrate_stages(const __grid_constant__ integral_args a)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= a.num_place)
        return;
    if (a.update == UPDATE_AB3)
        integrate_steps<1, 16>(a, i);
    else
        integrate_steps<5, 3>(a, i);
}

/* One thread a value, so that a warp writes what stands side by side: it may go over a link to another device. */
extern "C" __global__ void traces(const __grid_constant__ trace_args a)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int values = a.num_face_node * a.num_field;
    if (i >= a.num * values)
        return;
    long long face = a.face[i / values];
    int m = (int)(i % values) / a.num_field, field = (int)(i % a.num_field);
    int node = a.face_node[face % a.num_face * a.num_face_node + m];
    long long at = state_index(a.total, a.num_field, a.num_node, face / a.num_face, node, field);
    if (a.unpack)
        ((REAL *)a.state)[at] = ((const REAL *)a.packed)[i];
    else
        ((REAL *)a.packed)[i] = ((const REAL *)a.state)[at];
}

/* Smallest index, as [elem][node][field], of a value that is not finite. */
extern "C" __global__ void find_bad(const __grid_constant__ finite_args a)
{
    long long step = (long long)gridDim.x * blockDim.x, num = a.num * a.num_field, least = num;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < num; i += step) {
        long long node = i / a.num_field;
        REAL value = ((const REAL *)a.q)[state_index(a.total, a.num_field, a.num_node, node / a.num_node,
                                                     (int)(node % a.num_node), (int)(i % a.num_field))];
        if (value - value != 0)
            least = i < least ? i : least;
    }
    if (least < num)
        atomicMin(a.first, (unsigned long long)least);
}

extern "C" __global__ void advance(const __grid_constant__ clock_args a)
{
    a.clock[0] += a.num_time;
    a.clock[1] += a.num_step;
}
