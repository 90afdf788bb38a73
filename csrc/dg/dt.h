/* dt.h: what the stable steps of all shapes share. Next: dt.c (tetrahedra), dt_hex.c. */
#ifndef UNDA_DG_DT_H
#define UNDA_DG_DT_H

#include "dg.h"

/* One kind of wave in a material: speed and impedance. With K = Z c and 1 / rho = c / Z its energy is
 * p^2 / 2K + rho v^2 / 2; 1 / eps and 1 / mu are those of light. */
struct wave {
    double speed, impedance;
};

static inline struct wave wave_of(const struct dg *dg, const double *material, int kind)
{
    double speed[MAX_WAVE], impedance[MAX_WAVE];
    dg->physics->waves(material, speed, impedance);
    return (struct wave){speed[kind], impedance[kind]};
}

/* The upwind flux damps an element's p and vn this many times as strongly as it does between equal ones: 2 Z /
 * (Z- + Z+), Z the larger impedance. */
static inline double damping_weight(struct wave in, struct wave out)
{
    return in.impedance > 0 ? 2 * fmax(in.impedance, out.impedance) / (in.impedance + out.impedance) : 0;
}

/* 1 / (stable step) of a hexahedron's waves [1/s]. */
double dg_hex_rate(const struct dg *dg, int64_t elem, int integrator);

#endif
