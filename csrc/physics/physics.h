/* physics.h: a physics as the host sees it: sizes, and the float64 functions of its header.
 * The equations are in cuda/physics/NAME.h; the table of all is in physics.c. */
#ifndef UNDA_PHYSICS_H
#define UNDA_PHYSICS_H

enum { NUM_PHYSICS = 3, MAX_FIELD = 9, MAX_COEF = 8, MAX_WAVE = 2 };

/* Powers of a material's coefficient and of the metric that make a kernel's coefficient. */
struct powers {
    signed char material, metric;
};

struct physics {
    const char *name;
    const char *header; /* as kernels include it */
    int grad_div;       /* pairs of a number and a vector whose gradient and divergence it takes; 0: curls */
    int num_field, num_material, num_wave, num_coef, num_face_coef, num_ref, num_trace, num_lift_coef;
    int conditions;                                                  /* bits 1 << unda_boundary */
    int num_jump[2];                                                 /* by dg.both_jumps */
    int volume_flops, reference_flops, jump_flops[2], lift_flops[2]; /* see dg_flops */
    struct powers coef_power[MAX_COEF], face_coef_power[MAX_COEF];   /* of det; of |m|, of curls det |m| */
    void (*coefficients)(const double *material, double *coef);
    void (*waves)(const double *material, double *speed, double *impedance);
    void (*face_coefficients)(const double *inside, const double *outside, double *face_coef);
    double (*energy)(const double *q, const double *material);
    /* How fast the local law lets fields decay [1/s]; 0: there is none. */
    double (*local_rate)(const double *material);
    /* Why a material is refused, or NULL. */
    const char *(*refuse)(const double *material);
};
extern const struct physics *const physics_table[NUM_PHYSICS]; /* by unda_physics */

#endif
