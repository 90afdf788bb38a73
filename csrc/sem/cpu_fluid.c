/* cpu_fluid.c: the force of fluid elements on the CPU. Next: cpu_force.inc.h. */
#define DIM      1
#define FN(name) PRECISION(sem_fluid_##name##_)
#define FLUX     "sem/fluid.h"
#include "cpu_force.inc.h"

sem_cpu_task *const PRECISION(sem_cpu_fluid_) = FN(task);
