/* scheme.c: the scalar scheme as one of fd_scheme: p_tt = c^2 laplace p of one density, two levels of p.
 * Not here: steps (scalar/cpu.c, scalar/step.c, diamond.c), weights (stencil.c), layers (layer.c,
 * matched.c). */
#include "../energy.h"
#include "../layer.h"

#include "../../physics/physics.h"

#include <math.h>

static unda_status check(const unda_solver_options *o)
{
    if (o->physics != UNDA_ACOUSTIC)
        FAIL(UNDA_ERR_ARG, "physics is %d, expected acoustic (%d): the scalar scheme", o->physics,
             UNDA_ACOUSTIC);
    return UNDA_OK;
}

static unda_status sizes(unda_solver *s, const unda_solver_options *o)
{
    struct fd *fd = fd_tables(s);
    fd->num_field = 1;
    fd->num_array = 2;
    fd->num_material = !fd->uniform;
    fd->num_parameter = 2;
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            int end = 2 * a + side;
            bool matched = o->boundary[end] == UNDA_BOUNDARY_ABSORBING && o->fd->stretch[end] != 0;
            double frequency = o->fd->frequency[end], stretch = o->fd->stretch[end];
            if (matched && (stretch != 1 || !(isfinite(frequency) && frequency >= 0)))
                FAIL(UNDA_ERR_ARG,
                     "layer at %c%s has stretch %g and frequency %g, expected 1 and 0 or more; or stretch 0: "
                     "a layer that damps",
                     "xyz"[a], side ? "max" : "min", stretch, frequency);
            fd->axis[a].matched[side] = matched ? o->fd->layer[end] : 0;
            fd->field[FD_P].sign[a][side] = fd->axis[a].side[side];
        }
    fd->field[FD_PREVIOUS] = fd->field[FD_P];
    fd_list_matched(fd);
    s->dt_stable = fd_scalar_stable(fd);
    return UNDA_OK;
}

static unda_status prepare(unda_solver *s)
{
    fd_scalar_weights(fd_tables(s), s->dt, s->dt_stable, s->real_bytes);
    if (fd_tables(s)->uniform)
        TRY(fd_check_range(fd_tables(s), "squares of Courant numbers", 1, &fd_tables(s)->speed));
    TRY(fd_damping(fd_tables(s), s->dt));
    return fd_matched_tables(fd_tables(s), s->dt);
}

static void info(const unda_solver *s, unda_solver_info *info)
{
    const struct fd *fd = fd_tables(s);
    /* 3 M pairs: add, multiply-add; less 2 p; centre; old level, p */
    info->flops = 9 * fd->half + 6 + (fd->half > 1 ? 6 : 0) + 3 + (fd->split ? 1 : 0);
    info->bytes_per_elem = (fd->uniform ? 3 : 4) * s->real_bytes; /* p, p_ read, p' written; speed */
}

/* Keeps rho, which is one number, and c where it is; after the first node nothing is written. */
static unda_status check_material(struct fd *fd, const double *material)
{
    double rho = material[0], c = material[1];
    if (!(isfinite(rho) && rho > 0) || !(isfinite(c) && c > 0) || c > fd->speed_max * (1 + 1e-12))
        FAIL(UNDA_ERR_ARG, "material has rho = %g, c = %g, expected rho > 0, 0 < c <= speed_max = %g", rho, c,
             fd->speed_max);
    if (fd->rho != 0 && fd->rho != rho)
        FAIL(UNDA_ERR_ARG, "material has rho = %g and rho = %g, expected one density: the scalar scheme",
             fd->rho, rho);
    if (fd->rho == 0)
        fd->rho = rho;
    if (fd->uniform)
        fd->c = c;
    double speed = fd->uniform ? 1 : c * c * fd->speed_unit;
    TRY(fd_check_range(fd, "squares of Courant numbers", 1, &speed));
    return fd_check_units(fd, physics_table[UNDA_ACOUSTIC], material);
}

static double material(const struct fd *fd, const double *material, int which, int num_free)
{
    (void)which;
    (void)num_free;
    return material[1] * material[1] * fd->speed_unit;
}

/* c^2 of each node: so reciprocity is exact. */
static double gain(const struct fd *fd, const fd_corners corner, int f, const double *rates, int free)
{
    (void)f;
    (void)free;
    return rates[0] * (fd->uniform ? fd->c * fd->c : corner[0][0] / fd->speed_unit);
}

const struct fd_scheme fd_scalar = {.name = "scalar",
                                    .end_node = 1,
                                    .check = check,
                                    .cpu = &fd_scalar_cpu,
                                    .cuda = &fd_scalar_cuda,
                                    .num_pass = 1,
                                    .sizes = sizes,
                                    .prepare = prepare,
                                    .info = info,
                                    .check_material = check_material,
                                    .material = material,
                                    .gain = gain,
                                    .add_energy = fd_scalar_add_energy,
                                    .energy_unit = fd_scalar_energy_unit};
