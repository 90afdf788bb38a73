/* cpu_pass.inc.h: a row's update of one physics on the CPU; the includer defines STAGGERED, the header,
 * and FN(name). Loops run along z, where gcc vectorises them. */
#include "../../cpu/precision.h"
#include "cpu.h"

#define TABLE  static const __attribute__((unused))
#define UNROLL _Pragma("GCC unroll 9")
#include STAGGERED

/* Updates fields first .. first + count: all arguments but t, difference, at and num are constants where
 * this is inlined. */
DEVICE void FN(update)(const struct staggered_cpu *t, void *const *difference, int64_t at, int64_t num,
                       int pass, int first, int count, int derivatives, int needs)
{
    const struct staggered_need *need = FN(needs) + (pass ? FN(needs0) : 0);
    const int64_t *step = t->base.stride;
    REAL *field[FD_MAX_FIELD];
    const REAL *d[FD_MAX_DERIVATIVE], *medium[STAGGERED_MAX_NEED];
    UNROLL for (int i = 0; i < count; i++)
        field[i] = (REAL *)t->base.array[first + i] + at;
    UNROLL for (int i = 0; i < derivatives; i++)
        d[i] = difference[i];
    UNROLL for (int i = 0; i < needs; i++)
        medium[i] = (const REAL *)t->base.material[need[i].material] + at + (need[i].bits & 1) * step[0] +
                    (need[i].bits >> 1 & 1) * step[1] + (need[i].bits >> 2);
#pragma GCC ivdep /* not omp simd, which would keep f, e and m in memory */
    for (int64_t z = 0; z < num; z++) {
        REAL f[FD_MAX_FIELD], e[FD_MAX_DERIVATIVE], m[STAGGERED_MAX_NEED];
        UNROLL for (int i = 0; i < count; i++)
            f[i] = field[i][z];
        UNROLL for (int i = 0; i < derivatives; i++)
            e[i] = d[i][z];
        UNROLL for (int i = 0; i < needs; i++)
            m[i] = medium[i][z];
        if (pass == 0)
            FN(pass0)(f, e, m);
        else
            FN(pass1)(f, e, m);
        UNROLL for (int i = 0; i < count; i++)
            field[i][z] = f[i];
    }
}

CLONES static void FN(row0)(const struct staggered_cpu *t, void *const *difference, int64_t at, int64_t num)
{
    FN(update)(t, difference, at, num, 0, FN(first0), FN(count0), FN(derivatives0), FN(needs0));
}
CLONES static void FN(row1)(const struct staggered_cpu *t, void *const *difference, int64_t at, int64_t num)
{
    FN(update)(t, difference, at, num, 1, FN(first1), FN(count1), FN(derivatives1), FN(needs1));
}
