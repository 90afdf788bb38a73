/* rank.c: a grid in one of many processes: its slab's messages, and what it agrees upon with the others. A process has
 * two blocks of host memory to send from, for the slab below and the one above, and two to receive in:
 *     post     border planes -> block of their side; messages start (from devices with `arrive`, after the copies)
 *     arrive   messages end; blocks -> ghosts
 * A block has room for what leaves over a cut after any pass. The blocks of a message stand as their sender has them, so
 * that two processes, which are each other's neighbours on both sides of a periodic grid, send one message of both.
 * Not here: the order of a step, sources (slabs.c), receivers (rank_samples.c). */
#include "rank.h"

#include "../solver/ranks.h"
#include "slabs.h"

#include <stdio.h>
#include <string.h>

struct fd_rank {
    unda_ranks ranks;
    unda_requests requests; /* size_bytes = 0: not given yet */
    int64_t block;          /* bytes */
    char *send, *receive;   /* [2][block]: of the sender's sides */
    bool left;              /* messages of a post have started */
};

static struct fd_rank *rank(const unda_solver *s)
{
    return slabs(s)->rank;
}
static unda_solver *own(const unda_solver *s)
{
    return slab_of(s, slabs(s)->first);
}
static bool cut(const unda_solver *s, int side)
{
    return fd_cut(fd_tables(own(s)), side);
}

/* ---- creation ---- */

/* Planes of all arrays that travel that a slab sends over its side. */
static int64_t num_plane(const struct fd_travel *travel, int side)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < travel->num; i++)
        sum += side ? travel->below[i] : travel->above[i];
    return sum;
}

static int64_t most_planes(const unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    int64_t most = fd->half; /* of one array, as for the energy */
    for (int pass = 0; pass < fd->scheme->num_pass; pass++)
        for (int side = 0; side < 2; side++) {
            struct fd_travel travel = fd_travel_after(s, pass);
            int64_t num = num_plane(&travel, side);
            most = num > most ? num : most;
        }
    return most;
}

unda_status fd_rank_new(unda_solver *s, const unda_ranks *ranks)
{
    struct fd_rank *r;
    TRY(array_try(&r, 1, sizeof *r, "messages"));
    slabs(s)->rank = r;
    r->ranks = *ranks;
    r->ranks.place = NULL;
    r->block = most_planes(s) * fd_slab_engine(s)->plane_bytes(own(s));
    TRY(fd_slab_engine(s)->staging(own(s), 4 * r->block, &r->send));
    r->receive = r->send + 2 * r->block;
    s->host_bytes += 4 * r->block;
    return UNDA_OK;
}

void fd_rank_free(unda_solver *s)
{
    array_free(rank(s));
    slabs(s)->rank = NULL;
}

/* ---- what all agree upon ---- */

unda_status fd_rank_unite(const unda_solver *s, void *bytes, int64_t num_byte)
{
    return rank(s) ? ranks_unite(&rank(s)->ranks, bytes, num_byte) : UNDA_OK;
}

unda_status fd_rank_least(const unda_solver *s, double *value)
{
    return rank(s) ? ranks_least(&rank(s)->ranks, 1, value) : UNDA_OK;
}

/* ---- messages ---- */

/* Of both sides: planes from border to block, or from the neighbour's block to ghosts. */
static unda_status carry(unda_solver *s, const struct fd_travel *travel, bool arrives)
{
    const struct fd_engine *engine = fd_slab_engine(s);
    const struct fd *fd = fd_tables(own(s));
    int64_t plane = engine->plane_bytes(own(s));
    for (int side = 0; side < 2; side++) {
        char *at =
            arrives ? rank(s)->receive + (1 - side) * rank(s)->block : rank(s)->send + side * rank(s)->block;
        for (int32_t i = 0; i < travel->num && cut(s, side); i++) {
            int64_t count = (side == 1) != arrives ? travel->below[i] : travel->above[i];
            int64_t first = !arrives ? (side ? fd->end - count : fd->begin)
                            : side   ? fd->end
                                     : fd->begin - count;
            if (count > 0)
                TRY(engine->carry(own(s), travel->held[i], first, count, arrives ? NULL : at,
                                  arrives ? at : NULL));
            at += count * plane;
        }
    }
    return UNDA_OK;
}

unda_status fd_rank_post(unda_solver *s, const struct fd_travel *travel)
{
    const struct fd_engine *engine = fd_slab_engine(s);
    if ((cut(s, 0) || cut(s, 1)) && !rank(s)->requests.size_bytes)
        FAIL(UNDA_ERR_ARG, "this process has messages and no requests, expected unda_solver_set_requests");
    TRY(carry(s, travel, false));
    rank(s)->left = !engine->packed;
    return rank(s)->left ? ranks_start(&rank(s)->requests) : UNDA_OK;
}

unda_status fd_rank_arrive(unda_solver *s, const struct fd_travel *travel)
{
    if (!rank(s)->left) {
        TRY(fd_slab_engine(s)->packed(own(s)));
        TRY(ranks_start(&rank(s)->requests));
    }
    TRY(ranks_wait(&rank(s)->requests));
    return carry(s, travel, true);
}

/* Two processes of a periodic grid: one message has both blocks. */
static bool both(const unda_solver *s)
{
    return slabs(s)->num == 2 && cut(s, 0) && cut(s, 1);
}

unda_status fd_rank_message(const unda_solver *s, int32_t which, unda_message *message)
{
    const struct fd_rank *r = rank(s);
    int num = both(s) ? 1 : cut(s, 0) + cut(s, 1), side = both(s) ? 0 : which + !cut(s, 0);
    if (which < 0 || which >= num)
        FAIL(UNDA_ERR_ARG, "which is %d, expected a neighbour within 0..%d", which, num - 1);
    *message = (unda_message){.size_bytes = sizeof *message,
                              .num_byte = (1 + both(s)) * r->block,
                              .rank = slab_beside(slabs(s), slabs(s)->first, side),
                              .send = r->send + side * r->block,
                              .receive = r->receive + (both(s) ? 0 : 1 - side) * r->block};
    return UNDA_OK;
}

unda_status fd_rank_set_requests(unda_solver *s, const unda_requests *requests)
{
    TRY(ranks_check_requests(requests));
    rank(s)->requests = *requests;
    return UNDA_OK;
}

unda_status fd_rank_member(const unda_solver *s, int32_t which, unda_member *member)
{
    if (which != 0)
        FAIL(UNDA_ERR_ARG, "which is %d, expected 0: this process's slab", which);
    TRY(fd_slabs_member(s, slabs(s)->first, member));
    snprintf(member->transport, sizeof member->transport, "mpi");
    return UNDA_OK;
}

/* ---- stable step, energy ---- */

unda_status fd_rank_slab(unda_solver *s, unda_solver **slab)
{
    *slab = s;
    if (fd_tables(s)->num_slab == 0 || !rank(s))
        return UNDA_OK;
    TRY(fd_rank_unite(s, NULL, 0));
    TRY(fd_slabs_open(s));
    TRY(fd_slabs_settle(s));
    *slab = own(s);
    return UNDA_OK;
}

/* Of all the grid, if that is shared by processes. */
static unda_solver *shared(const unda_solver *slab)
{
    unda_solver *whole = fd_tables(slab)->whole;
    return whole && rank(whole) ? whole : NULL;
}

unda_status fd_rank_swap(unda_solver *slab, void *const out[2], void *const in[2], int64_t bytes)
{
    const unda_solver *s = shared(slab);
    struct fd_rank *r = s ? rank(s) : NULL;
    for (int64_t at = 0, num; r && at < bytes; at += num) {
        num = bytes - at < r->block ? bytes - at : r->block;
        for (int side = 0; side < 2; side++)
            memcpy(r->send + side * r->block, (const char *)out[side] + at, (size_t)num);
        TRY(ranks_start(&r->requests));
        TRY(ranks_wait(&r->requests));
        for (int side = 0; side < 2; side++)
            if (cut(s, side))
                memcpy((char *)in[side] + at, r->receive + (1 - side) * r->block, (size_t)num);
    }
    return UNDA_OK;
}

unda_status fd_rank_most(const unda_solver *slab, double *value)
{
    double least = -*value;
    if (shared(slab))
        TRY(fd_rank_least(shared(slab), &least));
    *value = -least;
    return UNDA_OK;
}

/* Each process in turn goes on with the sum of those before: the order of one. */
unda_status fd_rank_energy(unda_solver *s, double *energy)
{
    const struct fd *fd = fd_tables(s);
    double sum = 0;
    TRY(fd_need_material(s));
    TRY(fd_rank_unite(s, NULL, 0));
    TRY(fd_slabs_open(s));
    for (int array = 0; array < fd->num_array; array++) {
        struct fd_travel travel = fd_travel_all(fd, array);
        TRY(fd_slabs_travel(s, &travel));
    }
    TRY(fd_slabs_settle(s));
    for (int32_t i = 0; i < slabs(s)->num; i++) {
        double sum_here = sum;
        sum = 0;
        if (i == slabs(s)->first) {
            TRY(fd_add_energies(own(s), &sum_here));
            sum = sum_here;
        }
        TRY(fd_rank_unite(s, &sum, sizeof sum));
    }
    *energy = fd_energy_of(fd, sum);
    return UNDA_OK;
}
