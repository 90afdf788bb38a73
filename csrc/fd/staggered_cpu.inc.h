/* staggered_cpu.inc.h: a row's update of one physics on the CPU; the includer defines REAL, PLACE, DEVICE,
 * TABLE, FN(name) and STAGGERED, the header. Loops run along z, where gcc vectorises them. */
#include STAGGERED

#define UPDATE(pass, count, terms, first)                                                                    \
    {                                                                                                        \
        const REAL *const medium[FD_MAX_MATERIAL] = {t->base.material[0], t->base.material[1],               \
                                                     t->base.material[2]};                                   \
        REAL *field[count];                                                                                  \
        const REAL *d[terms];                                                                                \
        for (int i = 0; i < (count); i++)                                                                    \
            field[i] = (REAL *)t->base.array[(first) + i] + at;                                              \
        for (int i = 0; i < (terms); i++)                                                                    \
            d[i] = difference[i];                                                                            \
        _Pragma("omp simd") for (int64_t z = 0; z < num; z++)                                                \
        {                                                                                                    \
            REAL f[count], e[terms];                                                                         \
            for (int i = 0; i < (count); i++)                                                                \
                f[i] = field[i][z];                                                                          \
            for (int i = 0; i < (terms); i++)                                                                \
                e[i] = d[i][z];                                                                              \
            pass(f, e, medium, at + z, t->base.stride);                                                      \
            for (int i = 0; i < (count); i++)                                                                \
                field[i][z] = f[i];                                                                          \
        }                                                                                                    \
    }

CLONES static void FN(row0)(const struct staggered_cpu *t, void *const *difference, int64_t at, int64_t num)
    UPDATE(FN(pass0), FN(count0), FN(terms0), FN(first0))

        CLONES
    static void FN(row1)(const struct staggered_cpu *t, void *const *difference, int64_t at, int64_t num)
        UPDATE(FN(pass1), FN(count1), FN(terms1), FN(first1))

#undef UPDATE
