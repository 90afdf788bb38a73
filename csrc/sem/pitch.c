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

struct sem_pitch sem_pitch_flat(int n)
{
    static const struct sem_pitch flat[] = {
        [3] = {3, {30, 35}, {73, 105}},  [4] = {4, {19, 20}, {80, 80}},   [5] = {5, {35, 37}, {185, 185}},
        [6] = {6, {47, 38}, {292, 228}}, [7] = {7, {52, 71}, {369, 497}}, [8] = {8, {69, 72}, {547, 568}},
    };
    int plane = n * n | 1;
    return n < 9 ? flat[n] : (struct sem_pitch){n, {plane, plane}, {n * plane, n * plane}};
}

/* Rows are dealt out to warps so that a warp has few in one bank: one by one to the first warp with room that has the
 * fewest in the row's bank. */
void sem_spread_rows(const struct sem_pitch *pitch, int n, int cells, int *row)
{
    int num = cells * n * n, num_warp = (num + 31) / 32, used[32] = {0}, count[32][32] = {{0}};
    for (int i = 0; i < num; i++) {
        int bank = (i / (n * n) * pitch->elem[0] + i / n % n * pitch->plane[0] + i % n * pitch->row) % 32;
        int best = -1;
        for (int w = 0; w < num_warp; w++) {
            int room = w < num_warp - 1 ? 32 : num - 32 * (num_warp - 1);
            if (used[w] < room && (best < 0 || count[w][bank] < count[best][bank]))
                best = w;
        }
        count[best][bank]++;
        row[32 * best + used[best]++] = i;
    }
}
