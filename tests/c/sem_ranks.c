/* sem_ranks.c: two processes of spectral elements, which are threads of this one: they unite values and exchange messages
 * through memory. Looks inside the library for the numbers of elements. Not here: processes of MPI (tests/mpi). */
#include "rig.h"

#include "mesh/mesh.h"

#include <pthread.h>

enum { NUM_RANK = 2, ROOM = 1 << 20 };

/* ---- meeting ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int num_here, num_meeting;
static bool broken; /* one has failed */
static unsigned char shared[NUM_RANK][ROOM];

/* All wait for each other; 1: one has failed. */
static int meet(void)
{
    pthread_mutex_lock(&lock);
    int meeting = num_meeting;
    if (!broken && ++num_here == NUM_RANK) {
        num_here = 0;
        num_meeting++;
        pthread_cond_broadcast(&changed);
    }
    while (meeting == num_meeting && !broken)
        pthread_cond_wait(&changed, &lock);
    int failed = meeting == num_meeting;
    pthread_mutex_unlock(&lock);
    return failed;
}

static void fail(void)
{
    pthread_mutex_lock(&lock);
    broken = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* ---- a process ---- */

struct process {
    pthread_t thread;
    int32_t which;
    const unda_mesh *whole;
    const long *num_allocation;
    struct spectral sem;
    unda_message message;
    unda_status status;
    bool no_memory;
    long step_allocations;
};

static int32_t unite(void *of, int64_t num_byte, void *bytes)
{
    const struct process *one = of;
    if (num_byte > ROOM)
        return 1;
    if (num_byte)
        memcpy(shared[one->which], bytes, (size_t)num_byte);
    if (meet())
        return 1;
    for (int64_t i = 0; i < num_byte; i++)
        ((unsigned char *)bytes)[i] = shared[0][i] | shared[1][i];
    return meet();
}

static int32_t start(int32_t num, void *request)
{
    const struct process *one = request;
    memcpy(shared[one->which], one->message.send, (size_t)(num * one->message.num_byte));
    return meet();
}

static int32_t wait(int32_t num, void *request, void *status)
{
    const struct process *one = request;
    (void)status;
    memcpy(one->message.receive, shared[!one->which], (size_t)(num * one->message.num_byte));
    return meet();
}

static unda_status new_solver(struct process *one)
{
    static const int32_t part[SEM_ELEM] = {0, 1, 1, 0};
    unda_mesh *local = NULL;
    int64_t place[SEM_ELEM];
    TRY_HERE(unda_mesh_part(&local, one->whole, NUM_RANK, part, one->which));
    for (int64_t e = 0; e < local->num_owned; e++)
        place[e] = one->whole->place[local->part.global[e]];
    const unda_ranks ranks = {.size_bytes = sizeof ranks,
                              .num_rank = NUM_RANK,
                              .which = one->which,
                              .num_elem = SEM_ELEM,
                              .place = place,
                              .unite = unite,
                              .of = one,
                              .whole = one->which ? NULL : one->whole};
    unda_status status = spectral_new_rank(&one->sem, local, &ranks);
    unda_mesh_free(local);
    return status;
}

static unda_status use(struct process *one)
{
    enum { OWN = SEM_ELEM / 2 };
    double state[OWN * SEM_NODE * SEM_FIELD] = {0}, energy, dt[OWN];
    TRY_HERE(new_solver(one));
    unda_solver *solver = one->sem.solver;
    one->message.size_bytes = sizeof one->message;
    TRY_HERE(unda_solver_get_message(solver, 0, &one->message));
    const unda_requests requests = {
        .size_bytes = sizeof requests, .num = 1, .request = one, .start = start, .wait = wait};
    TRY_HERE(unda_solver_set_requests(solver, &requests));
    TRY_HERE(spectral_add_points(&one->sem));
    TRY_HERE(unda_solver_write(solver, UNDA_STATE, 0, OWN, state));
    TRY_HERE(unda_solver_set_clock(solver, 0, 0, 0));
    TRY_HERE(unda_solver_record(solver, one->sem.group));
    TRY_HERE(spectral_step(&one->sem, 5));
    long before = *one->num_allocation;
    TRY_HERE(spectral_step(&one->sem, 5));
    one->step_allocations = *one->num_allocation - before;
    meet(); /* what follows allocates */
    TRY_HERE(unda_solver_read(solver, UNDA_STATE, 1, OWN - 1, state));
    TRY_HERE(unda_solver_element_dt(solver, dt));
    TRY_HERE(unda_solver_energy(solver, &energy));
    return energy > 0 ? UNDA_OK : UNDA_ERR_INTERNAL;
}

static void *live(void *of)
{
    struct process *one = of;
    one->status = use(one);
    one->no_memory = one->status == UNDA_ERR_MEMORY && strstr(unda_error(), "no memory for ");
    if (one->status != UNDA_OK)
        fail();
    spectral_free(&one->sem);
    return NULL;
}

unda_status spectral_ranks(const long *num_allocation, int *num_failed, long *step_allocations)
{
    const unda_box box = {
        .size_bytes = sizeof box, .shape = UNDA_HEX, .cells = {2, 1, 2}, .upper = {1, 1, 1}, .perturb = 0.1};
    unda_mesh *whole = NULL;
    struct process one[NUM_RANK] = {0};
    TRY_HERE(unda_box_mesh_new(&whole, &box));
    broken = false;
    num_here = 0;
    for (int i = 0; i < NUM_RANK; i++) {
        one[i].which = i;
        one[i].whole = whole;
        one[i].num_allocation = num_allocation;
        if (pthread_create(&one[i].thread, NULL, live, &one[i]))
            return UNDA_ERR_INTERNAL;
    }
    for (int i = 0; i < NUM_RANK; i++)
        pthread_join(one[i].thread, NULL);
    unda_mesh_free(whole);
    *step_allocations = one[0].step_allocations + one[1].step_allocations;
    if (one[0].status == UNDA_OK && one[1].status == UNDA_OK)
        return UNDA_OK;
    ++*num_failed; /* the other one could not go on, and has not waited for ever */
    bool told =
        (one[0].no_memory || one[1].no_memory) && one[0].status != UNDA_OK && one[1].status != UNDA_OK;
    return told ? UNDA_OK : UNDA_ERR_INTERNAL;
}
