/* tile_column.h: the lines of a tile's nodes, by slot, and forces on its element nodes, where a thread owns a column.
 * Included by sem/tiles.cu. */
#ifndef UNDA_SEM_TILE_COLUMN_H
#define UNDA_SEM_TILE_COLUMN_H

#include "sem/work_column.h"

/* Slots along the thread's line along r_1. */
struct lines_of_thread {
    unsigned short slot[LINE_WORDS];
};

DEVICE void find_lines(const sem_tile_args &, lines_of_thread &own, tile &, const sem_tile &t,
                       const place &own_place, const unsigned short *lines)
{
    const place p = row_place(own_place, t.num_elem);
    copy_commit();
    if (p.works)
        load_words(own.slot, lines + (p.elem * SQUARE + p.b * N + p.a) * LINE_WORDS);
}

/* The lines of all threads, from u by slot to the force on element nodes in s.first. */
DEVICE void work(const sem_tile_args &a, tile &s, const sem_tile &t, const place &p,
                 const lines_of_thread &own)
{
    const place r = row_place(p, t.num_elem);
    const lines_in at = lines_of(s, p, r);
    REAL x[DIM][N], f[DIM][N];
    const int sources = find_sources(a, t.number);
    if (r.works) {
        pick_line(s.u, own.slot, x);
        store_line<1>(at.row, x);
        derive<false>(x);
    }
    sync_element();
    work_on_lines(a, s, p, r.works, at, t.first_elem + p.elem, x, f);
    sync_element();
    add_sources(a, sources, p, f);
    if (p.works) {
        add_lines(at, f);
        store_line<PLANE0>(at.column, f);
    }
}

#endif
