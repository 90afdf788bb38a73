/* cuda_profile.c: times the kernels of a step of spectral elements one by one. */
#include "cuda.h"

#include <stdio.h>

static struct sem_cuda *tables(const unda_solver *s)
{
    return s->data;
}

struct timed_part {
    unda_solver *s;
    int region, color; /* color num_color: the shared nodes; region NUM_REGION: receivers */
};

static unda_status queue_part(void *of)
{
    const struct timed_part *p = of;
    struct sem_pass pass = {.mode = SEM_STEP, .time = -1};
    if (p->region == NUM_REGION)
        return sem_points_record(p->s, 1);
    const struct sem_tiles *tiles = &tables(p->s)->region[p->region].tiles;
    return p->color == tiles->num_color
               ? sem_launch_shared(p->s, p->region, &pass)
               : sem_launch_tiles(p->s, p->region, &pass, tiles->first_color[p->color],
                                  tiles->first_color[p->color + 1]);
}

static unda_status time_part(unda_solver *s, int region, int color, const char *name, int64_t num_run,
                             unda_profile *profile)
{
    struct timed_part timed = {s, region, color};
    int at = profile->num_kernel++;
    snprintf(profile->name[at], sizeof profile->name[at], "%s", name);
    profile->launches[at] = 1;
    TRY(gpu_median_seconds(&(struct gpu_work){tables(s)->stream, queue_part, &timed}, num_run,
                           &profile->seconds[at]));
    profile->stage_seconds += region < NUM_REGION ? profile->seconds[at] : 0;
    return UNDA_OK;
}

/* Steps of length 0, which change nothing. */
unda_status sem_profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    static const char *const names[NUM_REGION] = {[SOLID] = "solid", [FLUID] = "fluid"};
    struct sem_cuda *t = tables(s);
    void *state;
    int64_t clock[NUM_CLOCK] = {0, s->step, s->step, 0};
    TRY(sem_state_level(s, SOLID, LEVEL_U, &state));
    t->wrote = true;
    t->base_step = s->step;
    t->mode = SEM_STEP;
    TRY(cuda_record_begin(s, &t->samples, t->stream));
    TRY(gpu_upload(t->stream, t->clock, clock, sizeof clock));
    profile->num_kernel = 0;
    for (int region = NUM_REGION - 1; region >= 0; region--) {
        const struct sem_tiles *tiles = &t->region[region].tiles;
        for (int color = 0; color <= tiles->num_color && tiles->num_elem; color++) {
            char name[32];
            if (color == tiles->num_color)
                snprintf(name, sizeof name, "%s shared", names[region]);
            else if (tiles->num_color > 1)
                snprintf(name, sizeof name, "%s color %d", names[region], color);
            else
                snprintf(name, sizeof name, "%s tiles", names[region]);
            TRY(time_part(s, region, color, name, num_run, profile));
        }
    }
    return t->num_channel ? time_part(s, NUM_REGION, 0, "record", num_run, profile) : UNDA_OK;
}
