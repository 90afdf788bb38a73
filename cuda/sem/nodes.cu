/* nodes.cu: what spectral elements do at all unknowns, or at points: the beginning of a step, receivers, the finite
 * check, the clock. Defines: REAL. */
#include "common/args.h"
#include "common/early.h"
#include "sem/advance.h"

/* The first half of a step: v at its middle, u at its end. */
extern "C" __global__ void sem_begin(const __grid_constant__ sem_whole_args a)
{
    wait_for_previous();
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num)
        return;
    REAL *u = (REAL *)a.u, *v = (REAL *)a.v, now = half_step(v[i], ((const REAL *)a.a)[i], a.dt);
    v[i] = now;
    u[i] = fma((REAL)a.dt, now, u[i]);
}

/* Of a channel, what no step changes: terms that are asked for before the kernels before this one end. */
enum { NUM_EARLY = 4 };
struct early_terms {
    long long at[NUM_EARLY];
    double weight[NUM_EARLY];
};

static __device__ early_terms find_terms(const sem_record_args &a, const sem_channel &c)
{
    early_terms terms;
#pragma unroll
    for (int i = 0; i < NUM_EARLY; i++) {
        int k = (int)threadIdx.x % 32 + 32 * i;
        terms.at[i] = k < c.num_term ? a.at[c.first + k] : 0;
        terms.weight[i] = k < c.num_term ? a.weight[c.first + k] : 0;
    }
    return terms;
}

/* Of u or, levels 1 and 2, of v at the middle of the step that begins. */
static __device__ double term(const sem_record_args &a, const sem_channel &c, long long at, double weight)
{
    const REAL *u = (const REAL *)a.u, *v = (const REAL *)a.v, *acc = (const REAL *)a.a;
    REAL value = c.level == 0 ? u[at] : a.mode == SEM_CLOSE ? half_step(v[at], acc[at], a.dt) : v[at];
    return weight * (double)value;
}

/* The sum of a channel. */
static __device__ double weigh(const sem_record_args &a, const sem_channel &c, const early_terms &terms)
{
    double sum = 0;
#pragma unroll
    for (int i = 0; i < NUM_EARLY; i++)
        if ((int)threadIdx.x % 32 + 32 * i < c.num_term)
            sum += term(a, c, terms.at[i], terms.weight[i]);
    for (int k = (int)threadIdx.x % 32 + 32 * NUM_EARLY; k < c.num_term; k += 32)
        sum += term(a, c, a.at[c.first + k], a.weight[c.first + k]);
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    return sum;
}

/* One warp a channel. After a step u and v have gone on to the next one: what was summed before the step is u of
 * this one, and v half a step back; v and a are the mean and the difference of the two halves. The difference loses
 * eps |v| / dt, no more than the rounding of a itself, eps |a| / (omega dt)^2, omega dt < 2. */
extern "C" __global__ void sem_record(const __grid_constant__ sem_record_args a)
{
    int channel = (int)(((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x % 32;
    const bool works = channel < a.num_channel;
    const sem_channel c = a.channel[works ? channel : 0];
    const record_group group = a.group[c.group];
    const early_terms terms = find_terms(a, c);
    wait_for_previous();
    if (!works)
        return;
    long long since = a.clock[1] + a.step - group.first;
    bool due = a.step > 0 && since >= 0 && since % group.every == 0;
    bool next = a.mode != SEM_CLOSE && (since + 1) % group.every == 0;
    double now = 0, before = lane == 0 && due ? a.kept[channel] : 0;
    if (next || (due && c.level > 0))
        now = weigh(a, c, terms);
    if (lane > 0)
        return;
    if (due) {
        double value = c.level == 0 ? before : c.level == 1 ? (before + now) / 2 : (now - before) / a.dt;
        ((REAL *)a.out)[group.base + since / group.every * group.stride + c.offset] = (REAL)value;
    }
    if (next)
        a.kept[channel] = now;
}

/* Smallest index of a value that is not finite. */
extern "C" __global__ void sem_find_bad(const __grid_constant__ sem_whole_args a)
{
    long long step = (long long)gridDim.x * blockDim.x, least = 3 * a.num;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < 3 * a.num; i += step) {
        const void *array = i < a.num ? a.u : i < 2 * a.num ? a.v : a.a;
        REAL value = ((const REAL *)array)[i % a.num];
        if (value - value != 0)
            least = i < least ? i : least;
    }
    if (least < 3 * a.num)
        atomicMin(a.first, (unsigned long long)least);
}

/* ---- the stable step (csrc/sem/dt.c) ---- */

extern "C" __global__ void sem_combine(const __grid_constant__ sem_combine_args a)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.num)
        return;
    REAL *z = (REAL *)a.z;
    z[i] =
        (REAL)a.by_x * ((const REAL *)a.x)[i] + (REAL)a.by_y * ((const REAL *)a.y)[i] + (REAL)a.by_z * z[i];
}

/* In a fixed order, in float64. Blocks are of 256 threads. */
extern "C" __global__ void sem_product(const __grid_constant__ sem_product_args a)
{
    __shared__ double of_warp[8];
    const REAL *x = (const REAL *)a.x, *y = (const REAL *)a.y, *w = (const REAL *)a.weight;
    long long step = (long long)gridDim.x * blockDim.x;
    double sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < a.num; i += step)
        sum += (w ? (double)w[i / a.dim] : 1) * (double)x[i] * (double)y[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int i = 1; i < 8; i++)
        sum += of_warp[i];
    a.part[blockIdx.x] = sum;
}

extern "C" __global__ void sem_advance(const __grid_constant__ clock_args a)
{
    wait_for_previous();
    a.clock[0] += a.num_time;
    a.clock[1] += a.num_step;
}
