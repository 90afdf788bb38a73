/* kernel.c: kernels and their options by name: those requested, and those that an engine has. Not here: the
 * kernels (dg/kernels.c; fd: scalar/cpu.c, scalar/step.c, diamond.c, staggered/cpu.c,
 * staggered/cuda.c). */
#include "kernel.h"

#include "solver.h"

#include <stdio.h>
#include <string.h>

bool kernel_is(const unda_solver_options *o, const char *name)
{
    return strcmp(o->kernel, name) == 0;
}

bool kernel_fits(const unda_solver_options *o, const struct kernel *kernel)
{
    return kernel->shape == o->shape;
}

/* What users call the choice of a kernel: that of SEM says how sums are assembled. */
static const char *argument(const unda_solver_options *o)
{
    return o->method == UNDA_SEM ? "assembly" : "kernel";
}

static bool any(const unda_solver_options *o)
{
    return o->kernel[0] == '\0' || kernel_is(o, "auto");
}

int32_t kernel_part(const unda_solver_options *o, const char *name)
{
    for (int i = 0; i < o->num_part; i++)
        if (strcmp(o->part[i].name, name) == 0)
            return o->part[i].value;
    return 0;
}

/* ---- checks ---- */

static unda_status check_text(const char *what, const char *text, size_t room)
{
    if (!memchr(text, '\0', room))
        FAIL(UNDA_ERR_ARG, "%s has no end, expected a name of up to %zu bytes", what, room - 1);
    return UNDA_OK;
}

/* Appends ", name" as far as there is room. */
static void list_name(char *text, size_t room, const char *name)
{
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s%s", used ? ", " : "", name);
}

static const struct kernel_part *find_part(const struct kernel *kernel, const char *name)
{
    for (int i = 0; i < kernel->num_part; i++)
        if (strcmp(kernel->part[i].name, name) == 0)
            return &kernel->part[i];
    return NULL;
}

bool kernel_has(const struct kernel *kernel, const char *name)
{
    return find_part(kernel, name) != NULL;
}

static bool may_be_chosen(const unda_solver_options *o, const struct kernel *kernel)
{
    return kernel_fits(o, kernel) && (any(o) || kernel_is(o, kernel->name));
}

/* The part of this name of the first so many kernels that may be chosen. */
static const struct kernel_part *part_of_first(const unda_solver_options *o, const struct kernel *const *list,
                                               int num, const char *name)
{
    const struct kernel_part *part = NULL;
    for (int k = 0; k < num && list[k] && !part; k++)
        if (may_be_chosen(o, list[k]))
            part = find_part(list[k], name);
    return part;
}

bool kernel_takes(const struct kernel *kernel, const unda_part *given)
{
    const struct kernel_part *part = find_part(kernel, given->name);
    return part && (given->value == 0 || (given->value >= part->low && given->value <= part->high));
}

/* A part must belong to one of the kernels that may be chosen, and its value be in the range of one. */
static unda_status check_part(const unda_solver_options *o, const unda_part *given,
                              const struct kernel *const *list)
{
    char names[512] = "";
    int32_t low = INT32_MAX, high = INT32_MIN;
    bool taken = false;
    TRY(check_text("a kernel's part", given->name, sizeof given->name));
    for (int k = 0; list[k]; k++) {
        if (!may_be_chosen(o, list[k]))
            continue;
        for (int i = 0; i < list[k]->num_part; i++)
            if (!part_of_first(o, list, k, list[k]->part[i].name))
                list_name(names, sizeof names, list[k]->part[i].name);
        const struct kernel_part *part = find_part(list[k], given->name);
        low = part && part->low < low ? part->low : low;
        high = part && part->high > high ? part->high : high;
        taken = taken || kernel_takes(list[k], given);
    }
    if (low > high)
        FAIL(UNDA_ERR_ARG, "%s %s has no option %s, expected one of %s", argument(o),
             any(o) ? "auto" : o->kernel, given->name, names[0] ? names : "none");
    if (!taken)
        FAIL(UNDA_ERR_ARG, "%s is %d, expected %d..%d, or 0 to have it chosen", given->name, given->value,
             low, high);
    return UNDA_OK;
}

unda_status kernel_check(const unda_solver_options *o, const struct kernel *const *list)
{
    char names[256] = "auto";
    bool found = any(o), other = false;
    TRY(check_text("kernel", o->kernel, sizeof o->kernel));
    for (int i = 0; list[i]; i++) {
        bool named = kernel_is(o, list[i]->name), fits = kernel_fits(o, list[i]);
        found = found || (named && fits);
        other = other || (named && !fits);
        if (fits)
            list_name(names, sizeof names, list[i]->name);
    }
    if (!found)
        FAIL(UNDA_ERR_ARG, "%s is %s%s, expected one of %s", argument(o), o->kernel,
             other ? ", which is for cells of another shape" : "", names);
    if (o->num_part < 0 || o->num_part > UNDA_MAX_PART)
        FAIL(UNDA_ERR_ARG, "num_part is %d, expected 0..%d", o->num_part, UNDA_MAX_PART);
    for (int i = 0; i < o->num_part; i++)
        TRY(check_part(o, &o->part[i], list));
    return UNDA_OK;
}

/* ---- telling ---- */

void kernel_describe(unda_solver_info *info, const char *name)
{
    snprintf(info->kernel, sizeof info->kernel, "%s", name);
}

void kernel_describe_part(unda_solver_info *info, const char *name, int64_t value)
{
    if (value == 0)
        return;
    unda_part *part = &info->part[info->num_part++];
    snprintf(part->name, sizeof part->name, "%s", name);
    part->value = (int32_t)value;
}

unda_status unda_kernel_get(const unda_solver_options *options, int32_t index, unda_kernel_info *info)
{
    CHECK_SIZE(info, unda_kernel_info);
    const struct engine *engine;
    TRY(solver_engine(options, &engine));
    const struct kernel *kernel = NULL;
    int32_t num = 0;
    for (int i = 0; engine->kernels[i]; i++)
        if (kernel_fits(options, engine->kernels[i]) && num++ == index)
            kernel = engine->kernels[i];
    if (index < 0 || index >= num)
        FAIL(UNDA_ERR_ARG, "index is %d, expected 0..%d: the kernels of engine %s", index, num - 1,
             engine->name);
    info->num_kernel = num;
    info->num_part = kernel->num_part;
    info->reference = kernel->reference;
    snprintf(info->name, sizeof info->name, "%s", kernel->name);
    for (int i = 0; i < kernel->num_part; i++) {
        snprintf(info->part[i], sizeof info->part[i], "%s", kernel->part[i].name);
        info->low[i] = kernel->part[i].low;
        info->high[i] = kernel->part[i].high;
        info->tuned[i] = kernel->part[i].tuned;
    }
    return UNDA_OK;
}
