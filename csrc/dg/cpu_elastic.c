/* cpu_elastic.c: elastic waves by DG: the stages on the CPU. Next: cpu_stage.inc.h. */
#define PHYSICS     "physics/elastic.h"
#define SPACE       "space/tet_affine.h"
#define NAMED(name) PRECISION(elastic_##name##_)
#include "cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_elastic_)[3] = {NAMED(one_block_stage), NAMED(both_block_stage),
                                                    NAMED(by_node_block_stage)};
