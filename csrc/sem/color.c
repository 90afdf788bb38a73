/* color.c: the order of assembly. A task is a run of elements along the space's order, which one thread adds
 * to the nodes one after the other; tasks of a colour share no node and run side by side, and where tasks of
 * two colours share nodes, the first colour's comes first. So sums at shared nodes have a fixed order, whatever
 * the number of threads, and most of what a task adds stays in its processor's cache. Greedy colouring: each task
 * takes the first colour that none of the tasks before it with which it shares a node has. */
#include "sem.h"

int sem_corner(const struct sem *sem, int corner)
{
    int n = sem->space.element->degree + 1;
    return (n - 1) * (corner % 2 + n * (corner / 2 % 2 + n * (corner / 4)));
}

/* The nodes at the corners of a task's elements: elements that share a node share one of these. */
#define EACH_CORNER(sem, r, task, node)                                                                      \
    for (int64_t at = (task) * (int64_t)TASK_ELEM * 8, node;                                                 \
         at < ((task) + 1) * (int64_t)TASK_ELEM * 8 && at < (r)->num_elem * 8 &&                             \
         (node = (r)->node[at / 8 * (sem)->space.num_node + sem_corner(sem, (int)(at % 8))], true);          \
         at++)

static unda_status take_colors(const struct sem *sem, struct sem_region *r, int8_t *color)
{
    SCRATCH uint64_t *colors = NULL; /* [node]: of the tasks that have had it, a bit each */
    TRY(array_try(&colors, r->num_node, sizeof *colors, "colours"));
    for (int64_t task = 0; task < r->num_task; task++) {
        uint64_t taken = 0;
        EACH_CORNER(sem, r, task, node)
        taken |= colors[node];
        if (~taken == 0)
            FAIL(UNDA_ERR_MESH,
                 "more than %d runs of cells meet in one, expected fewer: vertices with very many cells",
                 MOST_COLOR);
        color[task] = (int8_t)__builtin_ctzll(~taken);
        EACH_CORNER(sem, r, task, node)
        colors[node] |= (uint64_t)1 << color[task];
        r->num_color = color[task] >= r->num_color ? color[task] + 1 : r->num_color;
    }
    return UNDA_OK;
}

static void sort_by_color(struct sem_region *r, const int8_t *color)
{
    int32_t num = 0;
    for (int32_t c = 0; c < r->num_color; c++) {
        r->color_task[c] = num;
        for (int64_t task = 0; task < r->num_task; task++)
            if (color[task] == c)
                r->task[num++] = (int32_t)task;
    }
    r->color_task[r->num_color] = num;
}

unda_status sem_color(struct sem *sem, int region)
{
    struct sem_region *r = &sem->region[region];
    SCRATCH int8_t *color = NULL;
    r->num_task = (r->num_elem + TASK_ELEM - 1) / TASK_ELEM;
    TRY(array_own(&sem->owned, &r->task, r->num_task, sizeof *r->task, "tasks"));
    TRY(array_own(&sem->owned, &r->color_task, MOST_COLOR + 1, sizeof *r->color_task, "tasks"));
    TRY(array_try(&color, r->num_task, sizeof *color, "colours"));
    TRY(take_colors(sem, r, color));
    sort_by_color(r, color);
    return UNDA_OK;
}
