/* cpu_variants.inc.h: every method, physics and flux of one precision; the includer defines REAL, LANES, SQRT
 * and PRECISION(name). */
#include "../base/parallel.h"
#include "../dg/dg_cpu.h"
#include "../fd/scalar_cpu.h"
#include "../fd/staggered_cpu.h"

#include "common/index.h"

#include <math.h>
#include <omp.h>
#include <string.h>

typedef REAL VEC __attribute__((vector_size(64)));                /* one value of LANES elements */
typedef REAL QUAD __attribute__((vector_size(4 * sizeof(REAL)))); /* four values of one element */

/* Transposing works on 32 bytes, which AVX2 has too: blocks of four lanes, one in float64, two in float32. */
typedef REAL PART __attribute__((vector_size(32)));
#define PART_LANES ((int)(32 / sizeof(REAL)))
#if LANES == 16
#define BLOCKS(block) block(0), block(4)
#else
#define BLOCKS(block) block(0)
#endif
/* Of two PARTs, what each block of the result takes; the second one's lanes count on from PART_LANES. */
#define EVEN(i)   (i), (i) + LANES / 2, (i) + 1, (i) + LANES / 2 + 1
#define ODD(i)    (i) + 2, (i) + LANES / 2 + 2, (i) + 3, (i) + LANES / 2 + 3
#define FIRST(i)  (i), (i) + 1, (i) + LANES / 2, (i) + LANES / 2 + 1
#define SECOND(i) (i) + 2, (i) + 3, (i) + LANES / 2 + 2, (i) + LANES / 2 + 3
#define VAL       VEC
#define DEVICE    static inline __attribute__((always_inline, unused))

#define PHYSICS      "physics/acoustic.h"
#define FLUX_CENTRAL 0
#define FN(name)     PRECISION(acoustic_upwind_##name##_)
#include "../dg/dg_cpu.inc.h"
#undef FN
#undef FLUX_CENTRAL
#define FLUX_CENTRAL 1
#define FN(name)     PRECISION(acoustic_central_##name##_)
#include "../dg/dg_cpu.inc.h"
#undef FN
#undef FLUX_CENTRAL
#undef PHYSICS

#define PHYSICS      "physics/elastic.h"
#define FLUX_CENTRAL 0
#define FN(name)     PRECISION(elastic_upwind_##name##_)
#include "../dg/dg_cpu.inc.h"
#undef FN
#undef FLUX_CENTRAL
#define FLUX_CENTRAL 1
#define FN(name)     PRECISION(elastic_central_##name##_)
#include "../dg/dg_cpu.inc.h"
#undef FN
#undef FLUX_CENTRAL
#undef PHYSICS

#define PHYSICS      "physics/maxwell.h"
#define FLUX_CENTRAL 0
#define FN(name)     PRECISION(maxwell_upwind_##name##_)
#include "../dg/dg_cpu.inc.h"
#undef FN
#undef FLUX_CENTRAL
#define FLUX_CENTRAL 1
#define FN(name)     PRECISION(maxwell_central_##name##_)
#include "../dg/dg_cpu.inc.h"
#undef FN
#undef FLUX_CENTRAL
#undef PHYSICS

/* By unda_physics and unda_flux. */
const dg_cpu_block PRECISION(dg_cpu_blocks_)[3][2] = {
    {PRECISION(acoustic_upwind_block_stage_), PRECISION(acoustic_central_block_stage_)},
    {PRECISION(elastic_upwind_block_stage_), PRECISION(elastic_central_block_stage_)},
    {PRECISION(maxwell_upwind_block_stage_), PRECISION(maxwell_central_block_stage_)}};

#include "../fd/fd_cpu.inc.h"
#include "../fd/scalar_cpu.inc.h"

#define TABLE     static const __attribute__((unused))
#define UNROLL    _Pragma("GCC unroll 9")
#define FN(name)  PRECISION(staggered_acoustic_##name##_)
#define STAGGERED "physics/staggered_acoustic.h"
#include "../fd/staggered_cpu.inc.h"
#undef FN
#undef STAGGERED
#define FN(name)  PRECISION(staggered_elastic_##name##_)
#define STAGGERED "physics/staggered_elastic.h"
#include "../fd/staggered_cpu.inc.h"
#undef FN
#undef STAGGERED
#define FN(name)  PRECISION(staggered_maxwell_##name##_)
#define STAGGERED "physics/staggered_maxwell.h"
#include "../fd/staggered_cpu.inc.h"
#undef FN
#undef STAGGERED
#include "../fd/staggered_rows.inc.h"

const struct staggered_cpu_code PRECISION(staggered_cpu_) = {
    PRECISION(staggered_row_),
    {{PRECISION(staggered_acoustic_row0_), PRECISION(staggered_acoustic_row1_)}, /* by unda_physics */
     {PRECISION(staggered_elastic_row0_), PRECISION(staggered_elastic_row1_)},
     {PRECISION(staggered_maxwell_row0_), PRECISION(staggered_maxwell_row1_)}}};
