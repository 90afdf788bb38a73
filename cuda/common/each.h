/* each.h: loops whose index is a constant in each turn. The includer defines DEVICE. */
#ifndef UNDA_EACH_H
#define UNDA_EACH_H

template <int N> struct number {
    static constexpr int value = N;
};
/* f(number<I>()) for I = FIRST .. END - 1: for indices that must be constants, and for bodies so large that
 * #pragma unroll gives up. */
template <int FIRST, int END, class F> DEVICE void each(const F &f)
{
    if constexpr (FIRST < END) {
        f(number<FIRST>());
        each<FIRST + 1, END>(f);
    }
}

#endif
