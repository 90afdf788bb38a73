/* order.c: the order of a step of spectral elements on the CPU, and which thread does what of it.
 * Each node is summed in a fixed order (color.c), so that results do not depend on the number of threads.
 * Not here: the operations (cpu_step.c, cpu_solid.c, cpu_fluid.c). */
#include "cpu.h"
#include "monitor.h"
#include "team.h"

#include "../base/parallel.h"

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static struct sem_cpu *tables(const unda_solver *s)
{
    return s->data;
}

static const struct sem_cpu_functions *functions(const unda_solver *s)
{
    return s->real_bytes == 4 ? &sem_cpu_functions_f32 : &sem_cpu_functions_f64;
}

static sem_cpu_task *task_of(const unda_solver *s, int region)
{
    sem_cpu_task *const tasks[NUM_REGION][2] = {
        [SOLID] = {sem_cpu_solid_f32, sem_cpu_solid_f64}, [FLUID] = {sem_cpu_fluid_f32, sem_cpu_fluid_f64}};
    return tasks[region][s->real_bytes == 8];
}

/* ---- who comes after whom ---- */

/* Elements that share a node share a corner (color.c). Of the tasks that had it before, the last one has waited for
 * the others. */
static unda_status list_after(unda_solver *s, int kind)
{
    struct sem_cpu *t = tables(s);
    struct sem_cpu_order *order = &t->region[kind].order;
    const struct sem_region *r = &t->sem->region[kind];
    int64_t num = 0, room = 8 * r->num_elem;
    SCRATCH int32_t *last = NULL; /* [node]: the task that has had it, counted from 1 */
    TRY(array_try(&last, r->num_node, sizeof *last, "tasks"));
    TRY(array_own(&t->owned, &order->after, room, sizeof *order->after, "tasks"));
    TRY(array_own(&t->owned, &order->first, r->num_task + 1, sizeof *order->first, "tasks"));
    for (int32_t i = 0; i < r->num_task; i++) {
        int32_t task = r->task[i];
        int64_t end = (task + 1) * (int64_t)TASK_ELEM;
        for (int64_t k = task * (int64_t)TASK_ELEM * 8; k < (end < r->num_elem ? end : r->num_elem) * 8;
             k++) {
            int32_t *before = &last[r->node[k / 8 * t->num_node + sem_corner(t->sem, (int)(k % 8))]];
            bool known = *before == 0 || *before == task + 1;
            for (int64_t l = order->first[i]; l < num && !known; l++)
                known = order->after[l] == *before - 1;
            if (!known)
                order->after[num++] = *before - 1;
            *before = task + 1;
        }
        order->first[i + 1] = num;
    }
    return UNDA_OK;
}

/* A thread's part of `count`, of which it has those from part_begin(thread) to part_begin(thread + 1). */
static int64_t part_begin(int64_t count, int thread, int num_thread)
{
    return count * thread / num_thread;
}

/* Tasks that add to nodes of other parts, and all that come before these: sums keep their order, since no task of the
 * second lot comes before one of the first. */
static unda_status list_early(unda_solver *s, int kind)
{
    const struct sem *sem = tables(s)->sem;
    struct sem_cpu_order *order = &tables(s)->region[kind].order;
    const struct sem_region *r = &sem->region[kind];
    int64_t num_border = sem->cut ? sem->cut->region[kind].num_border : 0; /* the first elements */
    SCRATCH int32_t *place = NULL;                                         /* [task]: in the list */
    TRY(array_own(&tables(s)->owned, &order->early, r->num_task, sizeof *order->early, "tasks"));
    TRY(array_try(&place, r->num_task, sizeof *place, "tasks"));
    for (int32_t i = 0; i < r->num_task; i++)
        place[r->task[i]] = i;
    for (int64_t i = r->num_task - 1; i >= 0; i--) { /* those before a task have lower places */
        order->early[i] = order->early[i] || r->task[i] * (int64_t)TASK_ELEM < num_border;
        for (int64_t k = order->first[i]; k < order->first[i + 1] && order->early[i]; k++)
            order->early[place[order->after[k]]] = true;
    }
    return UNDA_OK;
}

/* Each of so many threads has, in either lot, the places of the tasks of its part, whose elements and nodes lie together. */
static void deal(struct sem_cpu_order *order, const struct sem_region *r, int num_thread)
{
    int64_t num = 0;
    for (int i = 0; i < NUM_LOT * (num_thread + 1); i++) {
        int lot = i / (num_thread + 1), thread = i % (num_thread + 1);
        int64_t begin = part_begin(r->num_task, thread, num_thread),
                end = part_begin(r->num_task, thread + 1, num_thread);
        order->begin[i] = num;
        for (int32_t place = 0; place < r->num_task && thread < num_thread; place++)
            if (r->task[place] >= begin && r->task[place] < end && order->early[place] == (lot == EARLY))
                order->place[num++] = place;
    }
    order->num_thread = num_thread;
}

/* The first node of a thread: that which its elements are the first to have, but for the group that it is in. */
static int64_t first_node(const struct sem_cpu *t, int kind, int thread, int num_thread)
{
    const struct sem_region *r = &t->sem->region[kind];
    int64_t elem = part_begin(r->num_task, thread, num_thread) * TASK_ELEM;
    if (thread == 0) /* a part may have nodes without elements */
        return 0;
    int64_t node = elem < r->num_elem ? r->first[elem] : r->num_node;
    return thread < num_thread ? node / GROUP_NODES * GROUP_NODES : node;
}

/* A call for the nodes [begin, end) of this thread. */
#define OWN_NODES(t, kind, call)                                                                             \
    do {                                                                                                     \
        int thread = omp_get_thread_num(), num_thread = omp_get_num_threads();                               \
        int64_t begin = first_node(t, kind, thread, num_thread);                                             \
        int64_t end = first_node(t, kind, thread + 1, num_thread);                                           \
        if (begin < end)                                                                                     \
            call;                                                                                            \
    } while (0)

/* A call for [begin, end), this thread's share of a list; then all wait for each other. */
#define SHARED(count, call)                                                                                  \
    do {                                                                                                     \
        int thread = omp_get_thread_num(), num_thread = omp_get_num_threads();                               \
        int64_t begin = part_begin(count, thread, num_thread);                                               \
        int64_t end = part_begin(count, thread + 1, num_thread);                                             \
        if (begin < end)                                                                                     \
            call;                                                                                            \
        _Pragma("omp barrier")                                                                               \
    } while (0)

/* New pages are where the thread is that is the first to write them. */
static void touch(const unda_solver *s, const struct sem_cpu_region *r, int64_t begin, int64_t end)
{
    for (int level = 0; level < NUM_LEVEL; level++)
        memset((char *)r->level[level] + begin * r->dim * s->real_bytes, 0,
               (size_t)((end - begin) * r->dim * s->real_bytes));
    memset((char *)r->force + begin * r->pitch * s->real_bytes, 0,
           (size_t)((end - begin) * r->pitch * s->real_bytes));
}

unda_status sem_cpu_order_new(unda_solver *s)
{
    struct sem_cpu *t = tables(s);
    for (int kind = 0; kind < NUM_REGION; kind++) {
        struct sem_cpu_order *order = &t->region[kind].order;
        int64_t num_task = t->sem->region[kind].num_task;
        TRY(list_after(s, kind));
        TRY(list_early(s, kind));
        TRY(array_own(&t->owned, &order->done, num_task, sizeof *order->done, "tasks"));
        TRY(array_own(&t->owned, &order->place, num_task, sizeof *order->place, "tasks"));
        TRY(array_own(&t->owned, &order->turn, s->threads, sizeof *order->turn, "tasks"));
        TRY(array_own(&t->owned, &order->begin, NUM_LOT * (int64_t)(s->threads + 1), sizeof *order->begin,
                      "tasks"));
    }
#pragma omp parallel num_threads(s->threads)
    for (int kind = 0; kind < NUM_REGION; kind++)
        OWN_NODES(t, kind, touch(s, &t->region[kind], begin, end));
    return UNDA_OK;
}

/* ---- steps ---- */

/* Which groups of nodes have begun the next step. */
enum begun { NONE, UNWATCHED, ALL };

static bool has_begun(const struct sem_cpu_region *r, enum begun begun, int64_t node)
{
    return begun == ALL || (begun == UNWATCHED && !r->watched[node / GROUP_NODES]);
}

/* The end of the groups that are as that of `begin`, which a group begins with. */
static int64_t run_end(const struct sem_cpu_region *r, enum begun begun, int64_t begin, int64_t end)
{
    int64_t stop = begin + GROUP_NODES;
    while (stop < end && has_begun(r, begun, stop) == has_begun(r, begun, begin))
        stop += GROUP_NODES;
    return stop < end ? stop : end;
}

/* Those nodes of [begin, end) begin a step of which `begun` says so or, not `which`, the others. */
static void begin_step(unda_solver *s, const struct sem_cpu_region *r, double dt, enum begun begun,
                       bool which, int64_t begin, int64_t end)
{
    for (int64_t stop; begin < end; begin = stop) {
        stop = run_end(r, begun, begin, end);
        if (has_begun(r, begun, begin) == which)
            functions(s)->predict(r, dt, begin, stop);
    }
}

static void wait_for(struct sem_cpu_order *order, int32_t task)
{
    enum { SPINS = 1000 }; /* then another thread may need this one's processor */
    for (int spin = 0; atomic_load_explicit(&order->done[task], memory_order_acquire) != order->pass; spin++)
        if (spin > SPINS)
            sched_yield();
}

/* The tasks of a thread's part in a lot that nobody has taken, in their order. */
static void do_part(unda_solver *s, int kind, enum lot lot, int part, const void *u, void *force)
{
    struct sem_cpu *t = tables(s);
    const struct sem_region *r = &t->sem->region[kind];
    struct sem_cpu_order *order = &t->region[kind].order;
    sem_cpu_task *of_task = task_of(s, kind);
    void *work = (char *)t->work + omp_get_thread_num() * t->work_bytes;
    const int64_t *of_part = order->begin + lot * (order->num_thread + 1) + part;
    int64_t begin = of_part[0], num = of_part[1] - begin;
    for (int64_t i; (i = atomic_fetch_add(&order->turn[part].next, 1)) < num;) {
        int32_t place = order->place[begin + i], then = order->place[begin + (i + 1 < num ? i + 1 : i)];
        for (int64_t k = order->first[place]; k < order->first[place + 1]; k++)
            wait_for(order, order->after[k]);
        of_task(t, &t->region[kind], r->task[place], r->task[then], u, force, work);
        atomic_store_explicit(&order->done[r->task[place]], order->pass, memory_order_release);
    }
}

/* force -= K u of a lot, with the sums of each node in the order of the list of tasks; all threads come here. Each does
 * the tasks of its own part, so that what is in its cache is what it needs next, and then helps the others. A place waits
 * for earlier ones alone: of those that are not done, the first has been taken or is the next one of a thread's part. */
static void add_lot(unda_solver *s, int kind, enum lot lot, const void *u, void *force)
{
    struct sem_cpu *t = tables(s);
    struct sem_cpu_order *order = &t->region[kind].order;
    int thread = omp_get_thread_num(), num_thread = omp_get_num_threads();
#pragma omp single
    {
        if (order->num_thread != num_thread)
            deal(order, &t->sem->region[kind], num_thread);
        order->pass += lot == EARLY || !t->sem->cut; /* both lots of a part are one pass */
        for (int i = 0; i < num_thread; i++)
            atomic_store(&order->turn[i].next, 0);
    }
    for (int i = 0; i < num_thread; i++)
        do_part(s, kind, lot, (thread + i) % num_thread, u, force);
#pragma omp barrier
}

/* What a step is, or with dt = 0 the accelerations of the present state, and which nodes have begun it, and which are to
 * begin the next one. */
struct moment {
    double dt;
    int64_t time; /* row of the amplitudes, -1: no sources */
    enum begun begun, ahead;
    const unda_solver *whole; /* whose monitors have samples at the step's end; NULL: none has */
    int64_t step;             /* that of its end */
};

static void begin_regions(unda_solver *s, const struct moment *m)
{
    const struct sem_cpu *t = tables(s);
    for (int kind = 0; kind < NUM_REGION && m->begun != ALL; kind++)
        OWN_NODES(t, kind, begin_step(s, &t->region[kind], m->dt, m->begun, false, begin, end));
#pragma omp barrier
}

static void add_sources(unda_solver *s, int kind, const struct moment *m, int64_t first, int64_t num)
{
    if (m->time < 0 || num == 0)
        return;
    const char *amplitude = (const char *)tables(s)->amplitude + m->time * s->num_source * s->real_bytes;
    SHARED(num, functions(s)->sources(&tables(s)->region[kind], amplitude, first + begin, first + end));
}

/* The forces of a lot of a region's elements, and of sources. */
static void make_forces(unda_solver *s, int kind, enum lot lot, const struct moment *m)
{
    const struct sem_cpu_region *r = &tables(s)->region[kind];
    int64_t early = r->sources.num_early;
    if (r->num_elem == 0)
        return;
    add_lot(s, kind, lot, r->level[LEVEL_U], r->force);
    if (lot == EARLY)
        add_sources(s, kind, m, 0, early);
    else
        add_sources(s, kind, m, early, r->sources.num - early);
}

/* Monitors take nodes that are in the cache. */
static void sample_step(unda_solver *s, int kind, const struct moment *m, int64_t begin, int64_t end)
{
    enum { AT_ONCE = 16 * GROUP_NODES };
    const struct sem_cpu_region *r = &tables(s)->region[kind];
    for (int64_t stop; begin < end; begin = stop) {
        stop = end - begin < AT_ONCE ? end : begin + AT_ONCE;
        functions(s)->finish(r, m->dt / 2, begin, stop);
        sem_cpu_sample(m->whole, s, kind, m->step, begin, stop);
        begin_step(s, r, m->dt, m->ahead, true, begin, stop);
    }
}

/* Nodes [begin, end) end a step, and begin the next one where it says so. */
static void end_step(unda_solver *s, int kind, const struct moment *m, int64_t begin, int64_t end)
{
    const struct sem_cpu_region *r = &tables(s)->region[kind];
    if (m->whole) {
        sample_step(s, kind, m, begin, end);
        return;
    }
    for (int64_t stop; begin < end; begin = stop) {
        stop = run_end(r, m->ahead, begin, end);
        if (has_begun(r, m->ahead, begin))
            functions(s)->pass(r, m->dt, begin, stop);
        else
            functions(s)->finish(r, m->dt / 2, begin, stop);
    }
}

/* They become accelerations, then v + dt/2 a: the last half of a step; dt 0: at rest. */
static void end_region(unda_solver *s, int kind, const struct moment *m)
{
    const struct sem_cpu *t = tables(s);
    const struct sem_cpu_region *r = &t->region[kind];
    const struct sem_cpu_functions *f = functions(s);
    const void *matrix = m->dt > 0 ? r->inverse : r->rest;
    if (r->num_node == 0)
        return;
    if (t->sem->coupling.num)
        SHARED(t->sem->coupling.num, f->couple(t, kind, begin, end));
    if (r->num_side)
        SHARED(r->num_side, f->sides(r, matrix, begin, end));
    OWN_NODES(t, kind, end_step(s, kind, m, begin, end));
}

/* The fluid comes first: its chi'' is the pressure on the solid. */
static void step_alone(unda_solver *s, const struct moment *m)
{
#pragma omp parallel num_threads(s->threads)
    {
        uint32_t kept = parallel_flush();
        begin_regions(s, m);
        for (int kind = FLUID; kind >= SOLID; kind--) {
            make_forces(s, kind, LATE, m);
            end_region(s, kind, m);
        }
        parallel_restore(kept);
    }
}

/* The forces of a lot in both regions; before the first one nodes begin the step. */
static void make_lot(unda_solver *s, enum lot lot, const struct moment *m)
{
#pragma omp parallel num_threads(s->threads)
    {
        uint32_t kept = parallel_flush();
        if (lot == EARLY)
            begin_regions(s, m);
        for (int kind = FLUID; kind >= SOLID; kind--)
            make_forces(s, kind, lot, m);
        parallel_restore(kept);
    }
}

/* Parts of a process take turns. Forces on common nodes travel behind the second lot of those of elements. */
static unda_status step_parts(const struct sem_team *team, const struct moment *m)
{
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *s = team->part[p];
        make_lot(s, EARLY, m);
        TRY(s->engine->exchange_begin(s));
        make_lot(s, LATE, m);
    }
    for (int32_t p = 0; p < team->num_part; p++) {
        unda_solver *s = team->part[p];
        TRY(s->engine->exchange_end(s));
#pragma omp parallel num_threads(s->threads)
        {
            uint32_t kept = parallel_flush();
            for (int kind = FLUID; kind >= SOLID; kind--) {
                end_region(s, kind, m);
#pragma omp barrier /* the solid reads chi'' */
            }
            parallel_restore(kept);
        }
    }
    return UNDA_OK;
}

static unda_status take_step(unda_solver *s, const struct moment *m)
{
    if (sem_tables(s)->team)
        return step_parts(sem_tables(s)->team, m);
    step_alone(s, m);
    return UNDA_OK;
}

unda_status sem_cpu_accelerate(unda_solver *s, int64_t time)
{
    return take_step(s, &(struct moment){.time = time});
}

unda_status sem_cpu_stiffness(unda_solver *s, int kind, const void *u, void *force)
{
    struct sem_cpu *t = tables(s);
    const struct sem_cpu_region *r = &t->region[kind];
#pragma omp parallel num_threads(s->threads)
    {
        uint32_t kept = parallel_flush();
        for (enum lot lot = t->sem->cut ? EARLY : LATE; lot < NUM_LOT; lot++)
            add_lot(s, kind, lot, u, r->force);
        OWN_NODES(t, kind, functions(s)->take(r, force, begin, end));
        parallel_restore(kept);
    }
    return UNDA_OK;
}

static bool any_due(const unda_solver *s, int64_t step)
{
    bool due = false;
    for (int32_t g = 0; g < s->num_group; g++)
        due = due || receiver_due(s->groups[g], step);
    return due;
}

unda_status sem_cpu_run(unda_solver *s, int64_t num_step)
{
    struct sem *sem = sem_tables(s);
    enum begun begun = NONE;
    int64_t time = 0;
    if (!sem->num_valid) {
        TRY(sem_settle(s)); /* walls; then accelerations with sources */
        TRY(sem_cpu_accelerate(s, time++));
    }
    sem->num_valid = 1;
    for (int64_t i = 0; i < num_step; i++) {
        enum begun ahead = i + 1 == num_step ? NONE : any_due(s, s->step + 1) ? UNWATCHED : ALL;
        const unda_solver *whole = monitors_until(s, 2) == 1 ? s : NULL;
        TRY(take_step(s, &(struct moment){s->dt, time++, begun, ahead, whole, s->step + 1}));
        begun = ahead;
        s->step++;
        TRY(solver_after_step(s));
    }
    return UNDA_OK;
}

/* ---- profile ---- */

/* The forces of one colour, as in a step, into an array that is not the state's. */
static void time_color(unda_solver *s, int kind, int32_t color, void *force)
{
    const struct sem_cpu *t = tables(s);
    const struct sem_region *r = &t->sem->region[kind];
    sem_cpu_task *of_task = task_of(s, kind);
#pragma omp parallel num_threads(s->threads)
    {
        uint32_t kept = parallel_flush();
        void *work = (char *)t->work + omp_get_thread_num() * t->work_bytes;
#pragma omp for schedule(static)
        for (int64_t i = r->color_task[color]; i < r->color_task[color + 1]; i++)
            of_task(t, &t->region[kind], r->task[i], r->task[i + 1 < r->num_task ? i + 1 : 0],
                    t->region[kind].level[LEVEL_U], force, work);
        parallel_restore(kept);
    }
}

/* Each colour: a step passes over them one after the other. */
unda_status sem_cpu_profile(unda_solver *s, int64_t num_run, unda_profile *profile)
{
    static const char *const names[NUM_REGION] = {[SOLID] = "solid", [FLUID] = "fluid"};
    const struct sem *sem = sem_tables(s);
    SCRATCH double *seconds = NULL;
    TRY(array_try(&seconds, num_run, sizeof *seconds, "profile"));
    profile->num_kernel = 0;
    for (int kind = NUM_REGION - 1; kind >= 0; kind--) {
        const struct sem_region *r = &sem->region[kind];
        SCRATCH void *force = NULL;
        TRY(array_try(&force, r->num_node * tables(s)->region[kind].pitch, s->real_bytes, "profile"));
        for (int32_t color = 0; color < r->num_color; color++) {
            int at = profile->num_kernel++;
            for (int64_t run = 0; run < num_run; run++) {
                double begin = clock_seconds();
                time_color(s, kind, color, force);
                seconds[run] = clock_seconds() - begin;
            }
            snprintf(profile->name[at], sizeof profile->name[at], "%s color %d", names[kind], color);
            profile->seconds[at] = array_median(seconds, num_run);
            profile->launches[at] = 1;
            profile->stage_seconds += profile->seconds[at];
        }
    }
    return UNDA_OK;
}
