/* ranges.c: a stage of DG in two parts, as several devices take it, has the bits of one in a piece: elements
 * beyond the border while an exchange is under way, the border's after it. Looks inside the library. Not here:
 * exchanges that move something. */
#include "rig.h"

#include "dg/method.h"

#include <math.h>
#include <stdlib.h>

static int num_begin, num_end;

static unda_status begin_exchange(unda_solver *s)
{
    (void)s;
    num_begin++;
    return UNDA_OK;
}

static unda_status end_exchange(unda_solver *s)
{
    (void)s;
    num_end++;
    return UNDA_OK;
}

/* A few steps; border: blocks of the second part, -1: all in a piece. */
static unda_status run_to(const unda_solver_options *options, int64_t border, double *state)
{
    struct rig rig = {0};
    struct dg_engine split;
    unda_status status = rig_new(&rig, options);
    if (status == UNDA_OK && border >= 0) {
        split = *dg_engine(rig.solver);
        split.base.exchange_begin = begin_exchange;
        split.base.exchange_end = end_exchange;
        rig.solver->engine = &split.base;
        int64_t all = border * split.base.block(rig.solver);
        dg_tables(rig.solver)->integration.num_border = all < NUM_ELEM ? all : NUM_ELEM;
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
    printf("cases=%d\nsame=%d\nexchanges=%d\nended=%d\n", num, same, num_begin, num_end);
    return UNDA_OK;
}
