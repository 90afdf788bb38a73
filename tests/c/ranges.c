/* ranges.c: a stage of DG in two parts, as several devices take it, has the bits of one in a piece: elements
 * beyond the border first, then the border's. Looks inside the library. Not here: teams (library.c). */
#include "rig.h"

#include "dg/method.h"

#include <math.h>
#include <stdlib.h>

static int num_inner, num_border;
static int64_t border_end; /* elements of the second part */
static const struct dg_engine *whole_engine;

/* A stage of all elements in two parts. */
static unda_status stage_in_two(unda_solver *s, const struct stage *stage, int64_t begin, int64_t end)
{
    (void)begin;
    num_inner++;
    TRY_HERE(whole_engine->base.stage(s, stage, border_end, end));
    num_border++;
    return whole_engine->base.stage(s, stage, 0, border_end);
}

/* A few steps; border: blocks of the second part, -1: all in a piece. */
static unda_status run_to(const unda_solver_options *options, int64_t border, double *state)
{
    struct rig rig = {0};
    struct dg_engine split;
    unda_status status = rig_new(&rig, options);
    if (status == UNDA_OK && border >= 0) {
        whole_engine = dg_engine(rig.solver);
        split = *whole_engine;
        split.base.stage = stage_in_two;
        rig.solver->engine = &split.base;
        int64_t all = border * split.base.block(rig.solver);
        border_end = all < NUM_ELEM ? all : NUM_ELEM;
    }
    for (int64_t i = 0; status == UNDA_OK && i < MAX_TIME * rig.info.num_exact * NUM_FIELD; i++)
        rig.outer[i] = (double)(i % 7);
    status = status == UNDA_OK ? rig_use(&rig, 3) : status;
    int64_t all[NUM_ELEM];
    for (int i = 0; i < NUM_ELEM; i++)
        all[i] = i;
    if (status == UNDA_OK)
        status = dg_engine(rig.solver)->move(rig.solver, BUF_Q, NUM_ELEM, all, state, NULL);
    rig_free(&rig);
    return status;
}

/* Kernel microblock has other blocks in each function, which end together after 6 elements. */
static void blocks_of_six(unda_solver_options *options)
{
    static const unda_part microblock[] = {{"km", 3}, {"mb", 2}, {"wp", 1}, {"lift_wp", 1}};
    bool other = strcmp(options->kernel, "microblock") == 0;
    options->num_part = other ? 4 : 1;
    options->part[0] = (unda_part){"tile", 6};
    if (other)
        memcpy(options->part, microblock, sizeof microblock);
}

/* One kernel with blocks of 6 elements on a device, two settings; borders of no block up to all of them. */
unda_status ranges(const char *kernel)
{
    int num = 0, same = 0;
    for (int bits = 0; bits < 2; bits++) {
        unda_solver_options options = {.degree = 2, .precision = bits, .integrator = bits, .flux = 1 - bits};
        snprintf(options.kernel, sizeof options.kernel, "%s", kernel);
        if (rig_device != UNDA_DEVICE_CPU)
            blocks_of_six(&options);
        double *whole = calloc(2 * NUM_ELEM * MAX_RIG_NODE * NUM_FIELD, sizeof *whole);
        double *split = whole + NUM_ELEM * MAX_RIG_NODE * NUM_FIELD;
        unda_status status = run_to(&options, -1, whole);
        for (int64_t border = 0; border <= 4 && status == UNDA_OK; border++, num++) {
            memset(split, 0, NUM_ELEM * MAX_RIG_NODE * NUM_FIELD * sizeof *split);
            status = run_to(&options, border, split);
            same += memcmp(whole, split, NUM_ELEM * MAX_RIG_NODE * NUM_FIELD * sizeof *split) == 0;
        }
        bool moves = fabs(whole[0]) + fabs(whole[9]) > 0;
        same -= !moves;
        free(whole);
        TRY_HERE(status);
    }
    printf("cases=%d\nsame=%d\ninner=%d\nborder=%d\n", num, same, num_inner, num_border);
    return UNDA_OK;
}
