/* monitor.h: monitors of DG, see struct method and struct engine (solver/solver.h). Next: monitor.c. */
#ifndef UNDA_DG_MONITOR_H
#define UNDA_DG_MONITOR_H

#include "../solver/monitor.h"

unda_status dg_monitor(unda_solver *s, struct monitor *m, const unda_monitor *given);
unda_status dg_team_monitor(unda_solver *s, struct monitor *m, const unda_monitor *given);
unda_status dg_cpu_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                const struct monitor_sample *sample);
unda_status dg_cuda_monitor_new(struct monitor *m, struct monitor_piece *piece);
/* Samples that are due at the present step, after which the engine takes more. */
unda_status dg_cuda_monitors_take(const unda_solver *s);
unda_status dg_cuda_monitor_take(const struct monitor *m, const struct monitor_piece *piece,
                                 const struct monitor_sample *sample);

#endif
