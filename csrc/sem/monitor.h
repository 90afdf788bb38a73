/* monitor.h: monitors of spectral elements, see struct method and struct engine (solver/solver.h). Next: monitor.c. */
#ifndef UNDA_SEM_MONITOR_H
#define UNDA_SEM_MONITOR_H

#include "../solver/monitor.h"

unda_status sem_monitor(unda_solver *s, struct monitor *m, const unda_monitor *given);
unda_status sem_monitor_ways(unda_solver *s, const unda_solver_options *options, const unda_monitor *given,
                             int64_t num_value, struct monitor *m);
unda_status sem_cpu_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                 const struct monitor_sample *sample);
unda_status sem_cuda_monitor_new(struct monitor *m, struct monitor_piece *piece);
unda_status sem_cuda_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                  const struct monitor_sample *sample);

/* Of samples of a solver that are due at a step nodes [begin, end) of a part, which is the solver or one of its team; begin:
 * that of a group of nodes. */
void sem_cpu_sample(const unda_solver *s, const unda_solver *part, int kind, int64_t step, int64_t begin,
                    int64_t end);
/* On CUDA devices samples are launches among those of a step, of one device or of all parts. u at the end of the present
 * step is there before its forces are: sample_before. Of v and a a pass that goes on keeps one in a's memory for
 * sample_after; where both are due, or forces are added atomically, the step ends, and the next one is begun apart. */
struct sem_pass;
void sem_cuda_choose(const unda_solver *s, bool last, struct sem_pass *pass); /* its mode, what it keeps */
unda_status sem_cuda_sample_before(const unda_solver *s);
unda_status sem_cuda_sample_after(const unda_solver *s, const struct sem_pass *pass);

#endif
