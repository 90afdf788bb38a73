/* kernel.h: kernels by name, each with named options (parts); 0 leaves a part to the engine.
 * An engine lists its kernels. Not here: how a kernel computes (dg/cuda.h, fd/). */
#ifndef UNDA_KERNEL_H
#define UNDA_KERNEL_H

#include "../base/base.h"

struct kernel_part {
    const char *name;
    int32_t low, high;
    unda_tuned tuned;
};
struct kernel {
    const char *name;
    int32_t num_part;
    struct kernel_part part[UNDA_MAX_PART];
    int32_t shape;  /* unda_shape of the cells that it is for; of grids 0 */
    bool reference; /* to compare with: a tuner does not try it */
};

/* The value that options give to a part, 0 where they give none. */
int32_t kernel_part(const unda_solver_options *options, const char *name);
/* Whether a kernel has a part of this name. */
bool kernel_has(const struct kernel *kernel, const char *name);
/* Whether a kernel has such a part, and the value is in its range. */
bool kernel_takes(const struct kernel *kernel, const unda_part *part);
/* Whether options name this kernel. */
bool kernel_is(const unda_solver_options *options, const char *name);
/* Whether a kernel is for the shape of the cells. */
bool kernel_fits(const unda_solver_options *options, const struct kernel *kernel);
/* Refuses kernels and parts that are not in the list, which ends with NULL, those of other shapes and values out of
 * range. */
unda_status kernel_check(const unda_solver_options *options, const struct kernel *const *list);
/* Describes the kernel in use, then each of its parts; a part of value 0 is left out. */
void kernel_describe(unda_solver_info *info, const char *name);
void kernel_describe_part(unda_solver_info *info, const char *name, int64_t value);

#endif
