/* pitch.c: where element nodes stand in shared memory. */
#include "tiles.h"

/* Found by counting, of columns for [0] lines along r_1 and r_3 (and, once, r_2), for [1] along r_2 and r_3; of planes
 * for lines along r_1 and for nodes of planes. */
struct sem_pitch sem_pitch(int n, bool planes)
{
    static const struct sem_pitch columns[] =
        {
            [3] = {3, {14, 14}, {55, 43}},   [4] = {4, {19, 20}, {80, 80}},   [5] = {5, {25, 26}, {125, 130}},
            [6] = {6, {43, 38}, {260, 228}}, [7] = {7, {49, 50}, {369, 369}}, [8] = {8, {69, 72}, {552, 576}},
        },
                                  whole[] = {
                                      [3] = {9, {3, 0}, {27, 0}},   [4] = {17, {4, 0}, {68, 0}},
                                      [5] = {30, {5, 0}, {155, 0}}, [6] = {37, {6, 0}, {230, 0}},
                                      [7] = {7, {49, 0}, {344, 0}}, [8] = {65, {8, 0}, {520, 0}},
                                  };
    int plane = n * n | 1;
    if (n < 9)
        return planes ? whole[n] : columns[n];
    return (struct sem_pitch){n, {plane, plane}, {n * plane, n * plane}};
}
