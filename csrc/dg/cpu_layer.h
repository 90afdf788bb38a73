/* cpu_layer.h: the pass over layers after a stage, on the CPU. Next: layer_cpu.c, cpu_layer.inc.h. */
#ifndef UNDA_DG_CPU_LAYER_H
#define UNDA_DG_CPU_LAYER_H

#include "cpu.h"

/* Of cell number `cell` of layers, with work space of LAYER_VALUES values of each of its `pitch` nodes. */
typedef void (*dg_cpu_layer)(const struct dg_cpu *t, const struct dg_layer_args *a, int64_t cell, void *work);
/* State, rates, traces, their derivatives along three axes, what faces correct, and a row of nodes. */
enum { LAYER_VALUES = 2 * 9 + 6 + 3 * 6 + 9 + 1 };
/* By unda_physics. */
extern const dg_cpu_layer dg_cpu_layer_tet_f32[NUM_PHYSICS], dg_cpu_layer_tet_f64[NUM_PHYSICS];
extern const dg_cpu_layer dg_cpu_layer_hex_f32[NUM_PHYSICS], dg_cpu_layer_hex_f64[NUM_PHYSICS];

/* layer_cpu.c: tables and memory variables of the engine, and their bytes; the pass over the elements [begin, end). */
unda_status dg_cpu_layers_new(unda_solver *s);
int64_t dg_cpu_layers_bytes(const unda_solver *s);
unda_status dg_cpu_layers_move(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *out,
                               const void *in);
void dg_cpu_layers_copy(unda_solver *s, int to, int from);
unda_status dg_cpu_layers_pass(unda_solver *s, const struct stage *stage, int64_t begin, int64_t end);

#endif
