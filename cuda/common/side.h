/* side.h: values beyond the sides of a grid, on the host (whose includer has int64_t) and on devices. */
#ifndef UNDA_SIDE_H
#define UNDA_SIDE_H

/* What stands at the outermost node: the sign of images about it; 0 where the axis closes on itself. Of
 * fields of the staggered schemes behind a layer: no images, all is 0 there. */
enum { SIDE_FREE = -1, SIDE_PERIODIC = 0, SIDE_RIGID = 1, SIDE_NOTHING = 2 };

#ifdef __cplusplus
#define IMAGE       static __device__ __forceinline__
#define IMAGE_PLACE int
#else
#define IMAGE       static inline
#define IMAGE_PLACE int64_t
#endif

/* The place whose value, times *sign (multiplied by -1, or 0 behind a layer), stands at place i: images about
 * nodes `first` and `last`, of places at nodes or (half) half a cell on, of which the last one lies outside and
 * is an image, too. */
IMAGE IMAGE_PLACE fd_place(IMAGE_PLACE first, IMAGE_PLACE last, int half, int low, int high, IMAGE_PLACE i,
                           int *sign)
{
    if (i >= first && i <= last - half)
        return i;
    if (last == first)
        return first;
    if (low == SIDE_PERIODIC)
        return (i % (last + 1) + last + 1) % (last + 1);
    while (i < first || i > last - half) {
        int side = i < first ? low : high;
        if (side == SIDE_NOTHING) {
            *sign = 0;
            return i < first ? first : last - half;
        }
        *sign *= side;
        i = 2 * (i < first ? first : last) - half - i;
    }
    return i;
}

#endif
