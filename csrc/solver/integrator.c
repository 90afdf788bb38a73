/* integrator.c: the time integrators, and one step of them on any engine with buffers.
 *   lsrk4  five stages, 2N storage, order 4 (Carpenter & Kennedy 1994)
 *   ab3    one stage, order 3; its first two steps use lsrk4, which preserves the order
 * Not here: what a stage computes (dg/cpu_stage.inc.h, cuda/dg). */
#include "integrator.h"

#include "common/index.h"

static const double lsrk4_stages[5][6] = {
    {0, 0, 1432997174477.0 / 9575080441755.0},
    {1432997174477.0 / 9575080441755.0, -567301805773.0 / 1357537059087.0,
     5161836677717.0 / 13612068292357.0},
    {2526269341429.0 / 6820363962896.0, -2404267990393.0 / 2016746695238.0,
     1720146321549.0 / 2090206949498.0},
    {2006345519317.0 / 3224310063776.0, -3550918686646.0 / 2091501179385.0,
     3134564353537.0 / 4481467310338.0},
    {2802321613138.0 / 2924317926251.0, -1275806237668.0 / 842570457699.0,
     2277821191437.0 / 14882151754819.0}};
static const double ab3_stages[1][6] = {{0, 0, 0, 23.0 / 12, -16.0 / 12, 5.0 / 12}};

static const struct integrator lsrk4 = {.num_stage = 5, .update = UPDATE_LSRK, .stage = lsrk4_stages};
static const struct integrator ab3 = {
    .num_stage = 1, .num_level = 2, .start = &lsrk4, .update = UPDATE_AB3, .stage = ab3_stages};
const struct integrator *const integrators[] = {[UNDA_LSRK4] = &lsrk4, [UNDA_AB3] = &ab3};

/* The integrator that takes step number i, counted from the present one. */
static const struct integrator *kind_at(const struct integration *in, int64_t i)
{
    return in->num_valid + i < in->kind->num_level ? in->kind->start : in->kind;
}

int64_t integration_num_time(const struct integration *in, int64_t num_step)
{
    int64_t start = in->kind->num_level - in->num_valid, num = 0;
    for (int64_t i = 0; i < start && i < num_step; i++)
        num += in->kind->start->num_stage;
    return num + (num_step > start ? num_step - start : 0) * in->kind->num_stage;
}

void integration_times(const unda_solver *s, const struct integration *in, int64_t num_step, double *times)
{
    for (int64_t i = 0; i < num_step; i++)
        for (int k = 0; k < kind_at(in, i)->num_stage; k++)
            *times++ = s->t0 + ((double)(s->step + i) + kind_at(in, i)->stage[k][0]) * s->dt;
}

unda_status integration_stage(unda_solver *s, const struct integration *in, const struct stage *stage)
{
    TRY(s->engine->integrate(s, stage));
    return s->engine->stage(s, stage, 0, in->num_elem);
}

/* All stages of a step, with the residual in buffer r. */
static unda_status take_stages(unda_solver *s, const struct integration *in, const struct integrator *kind,
                               int r, int64_t time)
{
    for (int k = 0; k < kind->num_stage; k++) {
        const double *c = kind->stage[k];
        struct stage stage = {kind->update, r, time + k, c[1], c[2], c[3], c[4], c[5]};
        TRY(integration_stage(s, in, &stage));
        s->engine->swap(s, BUF_Q, BUF_NEW);
    }
    return UNDA_OK;
}

/* A starting step stores f(q_n) for later; its own residual is then in the scratch buffer. */
unda_status integration_step(unda_solver *s, struct integration *in, int64_t *time)
{
    const struct integrator *kind = kind_at(in, 0);
    bool starts = kind != in->kind;
    if (starts) {
        TRY(integration_stage(s, in, &(struct stage){.update = UPDATE_RHS, .r = BUF_R, .time = *time}));
        s->have_good = false; /* the good state is in the scratch buffer */
    }
    TRY(take_stages(s, in, kind, starts ? BUF_SCRATCH : BUF_R, *time));
    if (in->kind->num_level)
        s->engine->swap(s, BUF_R, BUF_R1);
    in->num_valid += starts;
    *time += kind->num_stage;
    s->step++;
    return solver_after_step(s);
}
