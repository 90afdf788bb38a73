/* integrator.c: the time integrators as sequences of stages, the same for every engine.
 *   lsrk4  five stages, 2N storage, order 4 (Carpenter & Kennedy 1994)
 *   ab3    one stage, order 3; its first two steps by lsrk4, so the run keeps order 3
 * Not here: what a stage computes (dg_cpu.inc.h, cuda/dg). */
#include "dg_method.h"

#include "common/index.h"

enum { NUM_LSRK = 5 };
static const double lsrk_a[NUM_LSRK] = {
    0.0, -567301805773.0 / 1357537059087.0, -2404267990393.0 / 2016746695238.0,
    -3550918686646.0 / 2091501179385.0, -1275806237668.0 / 842570457699.0};
static const double lsrk_b[NUM_LSRK] = {1432997174477.0 / 9575080441755.0, 5161836677717.0 / 13612068292357.0,
                                        1720146321549.0 / 2090206949498.0, 3134564353537.0 / 4481467310338.0,
                                        2277821191437.0 / 14882151754819.0};
static const double lsrk_c[NUM_LSRK] = {0.0, 1432997174477.0 / 9575080441755.0,
                                        2526269341429.0 / 6820363962896.0, 2006345519317.0 / 3224310063776.0,
                                        2802321613138.0 / 2924317926251.0};

int integrator_num_stage(int integrator)
{
    return integrator == UNDA_AB3 ? 1 : NUM_LSRK;
}

/* Does step number i from now run as a Runge-Kutta step? */
static bool is_lsrk(const unda_solver *s, int64_t i)
{
    return s->options.integrator == UNDA_LSRK4 || dg_tables(s)->history + i < 2;
}

int64_t integrator_num_time(const unda_solver *s, int64_t num_step)
{
    int64_t num_time = 0;
    for (int64_t i = 0; i < num_step && is_lsrk(s, i); i++)
        num_time += NUM_LSRK;
    return s->options.integrator == UNDA_LSRK4 ? num_time : num_time + num_step - num_time / NUM_LSRK;
}

void integrator_times(const unda_solver *s, int64_t num_step, double *times)
{
    for (int64_t i = 0; i < num_step; i++) {
        int64_t step = s->step + i;
        *times++ = s->t0 + step * s->dt;
        for (int k = 1; is_lsrk(s, i) && k < NUM_LSRK; k++)
            *times++ = s->t0 + (step + lsrk_c[k]) * s->dt;
    }
}

static unda_status lsrk_step(unda_solver *s, int residual, int64_t time)
{
    for (int k = 0; k < NUM_LSRK; k++) {
        struct stage stage = {UPDATE_LSRK, residual, time + k, lsrk_a[k], lsrk_b[k], 0, 0, 0};
        TRY(dg_engine(s)->stage(s, &stage));
        dg_engine(s)->swap(s, BUF_Q, BUF_NEW);
    }
    return UNDA_OK;
}

/* Keeps f(q_n) for later and advances by lsrk4, whose residual lives in the scratch array. */
static unda_status ab3_start(unda_solver *s, int64_t time)
{
    struct stage rhs = {.update = UPDATE_RHS, .r = BUF_R, .time = time};
    TRY(dg_engine(s)->stage(s, &rhs));
    s->have_good = false;
    TRY(lsrk_step(s, BUF_SCRATCH, time));
    dg_engine(s)->swap(s, BUF_R, BUF_R1);
    dg_tables(s)->history++;
    return UNDA_OK;
}

unda_status integrator_step(unda_solver *s, int64_t *time)
{
    if (s->options.integrator == UNDA_LSRK4) {
        TRY(lsrk_step(s, BUF_R, *time));
        *time += NUM_LSRK;
    } else if (dg_tables(s)->history < 2) {
        TRY(ab3_start(s, *time));
        *time += NUM_LSRK;
    } else {
        struct stage ab3 = {UPDATE_AB3, BUF_R, *time, 0, 0, 23.0 / 12, -16.0 / 12, 5.0 / 12};
        TRY(dg_engine(s)->stage(s, &ab3));
        dg_engine(s)->swap(s, BUF_Q, BUF_NEW);
        dg_engine(s)->swap(s, BUF_R, BUF_R1);
        *time += 1;
    }
    s->step++;
    return UNDA_OK;
}
