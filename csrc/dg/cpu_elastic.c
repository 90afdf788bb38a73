/* cpu_elastic.c: elastic waves by DG: the stages on the CPU. Next: dg_cpu.inc.h. */
#define PHYSICS     "physics/elastic.h"
#define NAMED(name) PRECISION(elastic_##name##_)
#include "dg_cpu_fluxes.inc.h"

const dg_cpu_block PRECISION(dg_cpu_elastic_)[3] = {NAMED(one_block_stage), NAMED(both_block_stage),
                                                    NAMED(by_node_block_stage)};
