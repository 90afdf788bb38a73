/* dg_cpu.h: the CPU engine's tables, and the stage function of each precision, physics and flux.
 * Next: dg_cpu.c (threads, buffers), dg_cpu.inc.h (the stage). */
#ifndef UNDA_DG_CPU_H
#define UNDA_DG_CPU_H

#include "dg_method.h"

enum { ROWS = 4 }; /* rows of a matrix worked on at once; padded with zeros */

/* All in REAL; element order internal. */
struct dg_cpu {
    void *owned; /* the arrays, but for the sampled data */
    int num_node, num_face_node, lanes;
    bool has_local;
    void *derivative; /* [row block][node][3][ROWS] */
    void *lift;       /* [row block][face][face node][ROWS] */
    void *record, *face_coef;
    int32_t
        *face_node; /* [side + 1][face node]: nodes of each side; the last, 0, 1, 2, ..., serves exact data */
    void *buffer[NUM_BUF]; /* [elem][node][field] */
    void *work;            /* [thread][work_bytes] */
    int64_t work_bytes, num_block;
    /* Sampled data of the present call. */
    void *amplitude, *exact; /* [time][source], [time][slot][face node][field] */
    int64_t amplitude_room, exact_room;
    struct dg_parts parts;
    int64_t point_version; /* of the sources that these are of */
};

/* Stage of one block of elements. */
typedef void (*dg_cpu_block)(const struct dg_cpu *t, const struct dg_args *a, int kind, int64_t first,
                             int64_t block, void *work);
/* By unda_flux. */
extern const dg_cpu_block dg_cpu_acoustic_f32[2], dg_cpu_acoustic_f64[2];
extern const dg_cpu_block dg_cpu_elastic_f32[2], dg_cpu_elastic_f64[2];
extern const dg_cpu_block dg_cpu_maxwell_f32[2], dg_cpu_maxwell_f64[2];
extern const dg_cpu_block dg_cpu_hex_acoustic_f32[2], dg_cpu_hex_acoustic_f64[2];
extern const dg_cpu_block dg_cpu_hex_elastic_f32[2], dg_cpu_hex_elastic_f64[2];
extern const dg_cpu_block dg_cpu_hex_maxwell_f32[2], dg_cpu_hex_maxwell_f64[2];

#endif
