/* monitor.h: statistics of a field over time, kept where the state is: what a monitor is, and what methods and engines add.
 * A monitor has a piece for each solver with values of its own: one, or one for each part of a team. A piece's values stand
 * in rows: nodes of an element, or nodes along z; accumulators are [array][row][value].
 * Next: monitor.c (pieces, the public functions), monitor_samples.c (which samples are due), cpu_monitor.c,
 * cuda_monitor.c (accumulating); dg/monitor.c, fd/monitor.c (which rows a piece has, and where they stand in the state). */
#ifndef UNDA_MONITOR_H
#define UNDA_MONITOR_H

#include "solver.h"

/* Where the values of a piece stand now, in host memory or on a device. */
struct monitor_view {
    uintptr_t earlier; /* of the field one sample before, where two are taken */
    uintptr_t base[3]; /* addresses of arrays of the fields: one, or those of a quantity of three */
    int64_t value;     /* of the value at (0, 0, 0) in them */
    int64_t stride[2]; /* values from one place to the next along each of the first two axes */
    int64_t step;      /* and along the last */
};

struct monitor_piece {
    unda_solver *part;
    int64_t num_row;
    int64_t *to; /* [num_row]: its number among the rows that users see; NULL: see move of struct monitor */
    /* Places along axes, one after the other; ~place: minus the value there. Rows have the first two axes, of which that of
     * elements is one; the values of a row have the last. */
    int32_t num_axis[3];
    int64_t *place; /* [num_axis[0] + num_axis[1] + num_axis[2]] */
    /* Accumulators of a row stand behind `pad` others that nobody reads, rows `pitch` apart, so that vectors of a device's
     * state are vectors of theirs; without padding 0 and num_axis[2]. */
    int32_t pad, pitch;
    void *sums; /* accumulators in host memory; NULL: on the device */
    void *held; /* [batch][row][value] REAL in host memory: see struct monitor */
    void *of;   /* the method's own */
    struct cuda_monitor *cuda;
};

/* What a sample adds. */
struct monitor_sample {
    int32_t statistic, quantity, num_frequency;
    bool first;        /* accumulators have no values yet */
    bool two;          /* the one before comes first, of which the field is at hand as well */
    int32_t slot, num; /* where it is held, -1: it is not; so many that are held are added, 0: none yet */
    /* [sample][2 num_frequency], of all samples that are added: for each frequency f cos(2 pi f t), - sin(2 pi f t) */
    const double *wave;
};

struct monitor {
    int32_t field, statistic, quantity, num_frequency, num_array;
    int64_t every, first, num_sample;
    int64_t num_row, row; /* that users see */
    int64_t bytes;        /* of an accumulator */
    int32_t
        num_moved; /* numbers of fields that a sample reads, or has written for it: 0 where a step has them */
    double lag, *frequency;
    /* The engine takes samples within its steps, whose values are at hand then, and steps go on beyond them; else they
     * are taken between calls of the engine. wave: of samples that are held, then of those of a call,
     * [sample][2 num_frequency]. */
    bool inside;
    /* Every step is a sample, and the engine has the field of the last step as well: two are taken at once. */
    bool pairs;
    int64_t num_call; /* samples of the present call */
    /* Several samples are held, and then added at once, if batch is above 1: accumulators are read and written less often.
     * Sums have the same bits. num_held: before the present call. */
    int32_t batch, num_held;
    /* Above 0: samples are not copied to be held, but stay where the state had them, in arrays of so many bytes, while
     * steps go on in others. */
    int64_t level_bytes;
    double *wave;
    struct monitor_piece *piece;
    int32_t num_piece;
    /* Of methods whose pieces do not have the rows that users see: accumulators [row][value] of one array of a piece, in
     * host memory, to the users' or from there. */
    void (*move)(const struct monitor *m, const struct monitor_piece *piece, char *sums, char *out,
                 const char *in);
    void *owned; /* frequency, piece and their arrays */
};

/* monitor.c */
void monitors_free(unda_solver *s);

/* monitor_samples.c */
/* The present state is its first sample, whatever it had. */
unda_status monitor_restart(unda_solver *s, struct monitor *m);
/* Adds what is held; levels may be added in turns of their own. */
unda_status monitor_add_held(struct monitor *m);
/* So many steps lead to the next sample of a monitor; of `most`, to that of any; likewise of one that the engine does not take
 * within its steps. */
int64_t monitor_until(const unda_solver *s, const struct monitor *m);
int64_t monitors_until(const unda_solver *s, int64_t most);
int64_t monitors_ahead(const unda_solver *s, int64_t most);
/* s->step was set: monitors whose first sample would be later begin anew. */
unda_status monitors_set_clock(unda_solver *s);
/* Before the engine takes num_step steps, and after: samples that are due at the present step, those that it took. */
void monitors_begin(unda_solver *s, int64_t num_step);
unda_status monitors_take(unda_solver *s);
/* Room for calls of max_step steps. */
unda_status monitors_reserve(unda_solver *s);
/* Before something else than steps changes the state: adds samples that stay in its arrays. */
unda_status monitors_settle(unda_solver *s);
/* Whether a sample is due at a step of the present call, for engines that take it; which. */
bool monitor_due(const unda_solver *s, const struct monitor *m, int64_t step, struct monitor_sample *sample);
/* The fields that a sample takes: one, or three. */
static inline int32_t monitor_num_field(int32_t quantity)
{
    return quantity < UNDA_MINUS_MEAN ? 1 : 3;
}
/* Values of a piece, in each of the arrays of its accumulators, with padding. */
static inline int64_t monitor_num_value(const struct monitor_piece *piece)
{
    return piece->num_row * piece->pitch;
}
/* Of a method: the next of its pieces, with arrays; m->piece has room for it. It counts unless it has no rows. */
unda_status monitor_add_piece(struct monitor *m, unda_solver *part, const int32_t *num_axis,
                              struct monitor_piece **piece);

/* So many samples are held, and then added at once: where that moves less. A node's sample takes of memory, not at once,
 *     a real read and two written and read besides, then 16 (squares) or 32 (each frequency) bytes for all that were held
 * instead of as many for each: of float64 squares that is more, and on the CPU, where a row is in the cache, as much. On
 * the CPU twice as many of several frequencies, whose sums are most of what moves. */
int32_t monitor_hold(const struct monitor *m, int real_bytes, bool on_cpu);

/* Refuses fields and elements that there are not. */
unda_status monitor_check_field(const unda_monitor *given, int32_t num_field);
unda_status monitor_check_elem(const unda_monitor *given, int64_t num_elem);

/* Of engines with the state in host memory: the accumulators of a piece; adds to them (cpu_monitor.c). */
unda_status monitor_cpu_new(struct monitor *m, struct monitor_piece *piece);
void monitor_cpu_take(const struct monitor_piece *piece, const struct monitor_view *view,
                      const struct monitor_sample *sample);
/* Of the rows that begin at number i of the first axis those from j on to before end of the second. */
void monitor_cpu_rows(const struct monitor_piece *piece, const struct monitor_view *view,
                      const struct monitor_sample *sample, int64_t i, int64_t j, int64_t end);
void monitor_cpu_rows_f32(const struct monitor_piece *piece, const struct monitor_view *view,
                          const struct monitor_sample *sample, int64_t i, int64_t j, int64_t end);
void monitor_cpu_rows_f64(const struct monitor_piece *piece, const struct monitor_view *view,
                          const struct monitor_sample *sample, int64_t i, int64_t j, int64_t end);

#endif
