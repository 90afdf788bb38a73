/* record.h: receivers of spectral elements. Included by sem/nodes.cu and, where a step's first kernel records what the
 * step before it left, by sem/tiles.cu and sem/cells.cu. */
#ifndef UNDA_SEM_RECORD_H
#define UNDA_SEM_RECORD_H

#include "common/args.h"
#include "common/early.h"
#include "sem/advance.h"

/* Of a channel, what no step changes: terms of each lane that are asked for before the kernels before this one end. */
template <int EARLY> struct early_terms {
    long long at[EARLY];
    double weight[EARLY];
};

template <int EARLY>
static __device__ __forceinline__ early_terms<EARLY> find_terms(const sem_record_args &a,
                                                                const sem_channel &c)
{
    early_terms<EARLY> terms;
#pragma unroll
    for (int i = 0; i < EARLY; i++) {
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
template <int EARLY>
static __device__ __forceinline__ double weigh(const sem_record_args &a, const sem_channel &c,
                                               const early_terms<EARLY> &terms)
{
    double sum = 0;
#pragma unroll
    for (int i = 0; i < EARLY; i++)
        if ((int)threadIdx.x % 32 + 32 * i < c.num_term)
            sum += term(a, c, terms.at[i], terms.weight[i]);
    for (int k = (int)threadIdx.x % 32 + 32 * EARLY; k < c.num_term; k += 32)
        sum += term(a, c, a.at[c.first + k], a.weight[c.first + k]);
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    return sum;
}

/* One warp a channel. After a step u and v have gone on to the next one: what was summed before the step is u of
 * this one, and v half a step back; v and a are the mean and the difference of the two halves. The difference loses
 * eps |v| / dt, no more than the rounding of a itself, eps |a| / (omega dt)^2, omega dt < 2. */
template <int EARLY> static __device__ __forceinline__ void record(const sem_record_args &a, int block)
{
    int channel = (int)(((long long)block * blockDim.x + threadIdx.x) / 32), lane = (int)threadIdx.x % 32;
    const bool works = channel < a.num_channel;
    const sem_channel c = a.channel[works ? channel : 0];
    const record_group group = a.group[c.group];
    const early_terms<EARLY> terms = find_terms<EARLY>(a, c);
    wait_for_previous();
    if (!works)
        return;
    /* one division, which is a function of its own; past: steps past a sample, below 0 before the first one */
    long long now_at = a.clock[1] + a.step, since = now_at - group.first;
    long long sample = since / group.every, past = since - sample * group.every;
    bool due = now_at > a.clock[2] && since >= 0 && past == 0;
    bool next = a.mode != SEM_CLOSE && (past + 1 == group.every || past + 1 == 0);
    double now = 0, before = lane == 0 && due ? a.kept[channel] : 0;
    if (next || (due && c.level > 0))
        now = weigh(a, c, terms);
    if (lane > 0)
        return;
    if (due) {
        double value = c.level == 0 ? before : c.level == 1 ? (before + now) / 2 : (now - before) / a.dt;
        ((REAL *)a.out)[group.base + sample * group.stride + c.offset] = (REAL)value;
    }
    if (next)
        a.kept[channel] = now;
}

#endif
