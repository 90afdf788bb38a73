/* cpu_solid.c: the force of solid elements on the CPU. Next: cpu_force.inc.h. */
#define DIM      3
#define FN(name) PRECISION(sem_solid_##name##_)
#define FLUX     "sem/solid.h"
#include "cpu_force.inc.h"

sem_cpu_task *const PRECISION(sem_cpu_solid_) = FN(task);
