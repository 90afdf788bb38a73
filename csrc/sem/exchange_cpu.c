/* exchange_cpu.c: forces on nodes that parts share, on the CPU: each part packs its own into its neighbours' memory and
 * adds up, of each node in the order of parts. Parts take turns (order.c), so nothing needs to be waited for. */
#include "../solver/messages.h"
#include "cpu.h"
#include "team.h"

static const struct transport memory = {.name = "memory"};

static struct sem_cpu *tables(const unda_solver *s)
{
    return s->data;
}

unda_status sem_cpu_exchange_begin(unda_solver *s)
{
    const struct sem_cut *cut = sem_tables(s)->cut;
    struct exchange *x = s->exchange;
    for (int32_t i = 0; i < cut->num_neighbor; i++)
        for (int kind = 0; kind < NUM_REGION; kind++) {
            const struct sem_cut_region *c = &cut->region[kind];
            const struct sem_cpu_region *r = &tables(s)->region[kind];
            void *to = (void *)x->link[i].to[x->turn];
            for (int64_t k = c->first[i]; k < c->first[i + 1]; k++)
                for (int j = 0; j < r->dim; j++)
                    real_put(s, to, c->word[k] - cut->first_word[i] + j,
                             real_get(s, r->force, (int64_t)c->node[c->item[k]] * r->pitch + j));
        }
    return x->transport->begin ? x->transport->begin(s) : UNDA_OK;
}

static void add_up(unda_solver *s, int kind, const void *from)
{
    const struct sem_cut_region *c = &sem_tables(s)->cut->region[kind];
    const struct sem_cpu_region *r = &tables(s)->region[kind];
    for (int64_t k = 0; k < c->num * r->dim; k++) {
        int64_t i = k / r->dim, j = k % r->dim, at = (int64_t)c->node[i] * r->pitch + j;
        double sum = 0;
        for (int64_t n = c->first_term[i]; n < c->first_term[i + 1]; n++)
            sum += c->term[n] == OWN_FORCE ? real_get(s, r->force, at) : real_get(s, from, c->term[n] + j);
        real_put(s, r->force, at, sum);
    }
}

unda_status sem_cpu_exchange_end(unda_solver *s)
{
    struct exchange *x = s->exchange;
    if (x->transport->end)
        TRY(x->transport->end(s));
    for (int kind = 0; kind < NUM_REGION; kind++)
        add_up(s, kind, (const void *)x->from[x->turn]);
    x->turn ^= 1;
    return UNDA_OK;
}

unda_status sem_cpu_join(unda_solver *const *part, int32_t num_part, int transport)
{
    (void)transport; /* there is one */
    for (int32_t p = 0; p < num_part; p++) {
        struct exchange *x = part[p]->exchange;
        x->transport = &memory;
        for (int turn = 0; turn < 2; turn++) {
            void *from;
            TRY(array_own(&tables(part[p])->owned, &from, x->bytes, 1, "forces on shared nodes"));
            x->from[turn] = (uintptr_t)from;
        }
    }
    sem_link_parts(part, num_part);
    return UNDA_OK;
}

unda_status sem_cpu_join_rank(unda_solver *part, const unda_ranks *ranks)
{
    (void)ranks; /* there is one way */
    return messages_on_host(&tables(part)->owned, part->exchange, sem_tables(part)->cut->num_neighbor);
}
