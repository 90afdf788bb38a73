/* color.c: the order of assembly. A task is a run of elements along the space's order, which one thread adds
 * to the nodes one after the other; tasks of a colour share no node and run side by side, and where tasks of
 * two colours share nodes, the first colour's comes first. So sums at shared nodes have a fixed order, whatever
 * the number of threads, and most of what a task adds stays in its processor's cache. Greedy colouring: each
 * task takes the first colour that none of its nodes has seen. */
#include "sem.h"

int sem_corner(const struct sem *sem, int corner)
{
    int n = sem->space.element->degree + 1;
    return (n - 1) * (corner % 2 + n * (corner / 2 % 2 + n * (corner / 4)));
}

/* Elements that share a node share a corner. */
static uint64_t seen(const struct sem *sem, const struct sem_region *r, int64_t task, const uint64_t *at,
                     uint64_t add, uint64_t *to)
{
    int num = sem->space.num_node;
    int64_t end = (task + 1) * TASK_ELEM < r->num_elem ? (task + 1) * TASK_ELEM : r->num_elem;
    uint64_t found = 0;
    for (int64_t e = task * TASK_ELEM; e < end; e++)
        for (int corner = 0; corner < 8; corner++) {
            int32_t id = r->node[e * num + sem_corner(sem, corner)];
            found |= at[id];
            if (to)
                to[id] |= add;
        }
    return found;
}

unda_status sem_color(struct sem *sem, int region)
{
    struct sem_region *r = &sem->region[region];
    SCRATCH uint64_t *used = NULL;
    SCRATCH int8_t *color = NULL;
    r->num_task = (r->num_elem + TASK_ELEM - 1) / TASK_ELEM;
    TRY(array_try(&used, r->num_node, sizeof *used, "colours"));
    TRY(array_try(&color, r->num_task, sizeof *color, "colours"));
    TRY(array_own(&sem->owned, &r->task, r->num_task, sizeof *r->task, "tasks"));
    TRY(array_own(&sem->owned, &r->color_task, MOST_COLOR + 1, sizeof *r->color_task, "tasks"));
    for (int64_t task = 0; task < r->num_task; task++) {
        uint64_t taken = seen(sem, r, task, used, 0, NULL);
        if (~taken == 0)
            FAIL(UNDA_ERR_MESH,
                 "more than %d runs of cells meet in one, expected fewer: vertices with very many cells",
                 MOST_COLOR);
        color[task] = (int8_t)__builtin_ctzll(~taken);
        seen(sem, r, task, used, (uint64_t)1 << color[task], used);
        r->num_color = color[task] >= r->num_color ? color[task] + 1 : r->num_color;
    }
    int32_t num = 0;
    for (int32_t c = 0; c < r->num_color; c++) {
        r->color_task[c] = num;
        for (int64_t task = 0; task < r->num_task; task++)
            if (color[task] == c)
                r->task[num++] = (int32_t)task;
    }
    r->color_task[r->num_color] = num;
    return UNDA_OK;
}
