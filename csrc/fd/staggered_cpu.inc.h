/* staggered_cpu.inc.h: a row's update of one physics on the CPU; the includer defines REAL, PLACE, DEVICE,
 * TABLE, UNROLL, FN(name) and STAGGERED, the header. Loops run along z, where gcc vectorises them. */
#include STAGGERED

/* Of the fields first .. first + count: all but t, difference, at and num are constants where this is
 * inlined. */
DEVICE void FN(update)(const struct staggered_cpu *t, void *const *difference, int64_t at, int64_t num,
                       int pass, int first, int count, int terms)
{
    const REAL *const medium[FD_MAX_MATERIAL] = {t->base.material[0], t->base.material[1],
                                                 t->base.material[2]};
    const PLACE step[3] = {t->base.stride[0], t->base.stride[1], 1};
    REAL *field[FD_MAX_FIELD];
    const REAL *d[FD_MAX_TERM];
    UNROLL for (int i = 0; i < count; i++) field[i] = (REAL *)t->base.array[first + i] + at;
    UNROLL for (int i = 0; i < terms; i++) d[i] = difference[i];
#pragma GCC ivdep /* not omp simd, which keeps f and e in memory */
    for (int64_t z = 0; z < num; z++) {
        REAL f[FD_MAX_FIELD], e[FD_MAX_TERM];
        UNROLL for (int i = 0; i < count; i++) f[i] = field[i][z];
        UNROLL for (int i = 0; i < terms; i++) e[i] = d[i][z];
        if (pass == 0)
            FN(pass0)(f, e, medium, at + z, step);
        else
            FN(pass1)(f, e, medium, at + z, step);
        UNROLL for (int i = 0; i < count; i++) field[i][z] = f[i];
    }
}

CLONES static void FN(row0)(const struct staggered_cpu *t, void *const *difference, int64_t at, int64_t num)
{
    FN(update)(t, difference, at, num, 0, FN(first0), FN(count0), FN(terms0));
}
CLONES static void FN(row1)(const struct staggered_cpu *t, void *const *difference, int64_t at, int64_t num)
{
    FN(update)(t, difference, at, num, 1, FN(first1), FN(count1), FN(terms1));
}
