/* monitor.h: monitors of spectral elements, see struct method and struct engine (solver/solver.h). Next: monitor.c. */
#ifndef UNDA_SEM_MONITOR_H
#define UNDA_SEM_MONITOR_H

#include "../solver/monitor.h"

unda_status sem_monitor(unda_solver *s, struct monitor *m, const unda_monitor *given);
unda_status sem_cpu_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                 const struct monitor_sample *sample);
unda_status sem_cuda_monitor_new(struct monitor *m, struct monitor_piece *piece);
unda_status sem_cuda_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                  const struct monitor_sample *sample);

#endif
