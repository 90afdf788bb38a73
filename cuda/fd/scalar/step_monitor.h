/* step_monitor.h: a running maximum or minimum in step.cu: a step has level n of its nodes, and n - 1 until it overwrites it,
 * so that samples of one or both cost their accumulators alone. These stand row after row, with padding, so that vectors of
 * the grid are vectors of theirs. Included by step.cu. */

struct samples_of_row {
    int at; /* of the thread's nodes, in a plane */
    bool takes;
    vec kept; /* of the next plane, in flight */

    DEVICE_MEMBER samples_of_row(const scalar_args &a, int row, int z, bool store) : kept{}
    {
        const scalar_monitor &m = a.monitor;
        const int j = row - a.wall[0] - m.first[1], k = z - m.first[2];
        takes = store && j >= 0 && j < m.num[1] && k >= 0 && k < m.num[2];
        at = j * m.num[2] + k;
    }
    DEVICE_MEMBER bool has(const scalar_args &a, int x) const
    {
        return takes && x >= a.monitor.first[0] && x < a.monitor.first[0] + a.monitor.num[0];
    }
    DEVICE_MEMBER REAL *place(const scalar_args &a, int x) const
    {
        return (REAL *)a.monitor.kept + (x - a.monitor.first[0]) * a.monitor.plane + at;
    }
    DEVICE_MEMBER void fetch(const scalar_args &a, int x)
    {
        if (has(a, x))
            kept = load(place(a, x));
    }
    DEVICE_MEMBER void prefetch(const scalar_args &a, int x) const
    {
        if (has(a, x))
            prefetch_l2(place(a, x));
    }
    /* Takes those of `fetch`, and the levels of its plane. */
    DEVICE_MEMBER void keep(const scalar_args &a, int x, const vec &previous, const vec &center)
    {
        bool grows = false;
        UNROLL for (int l = 0; l < WIDTH; l++) {
            REAL most = kept.v[l];
            if (a.monitor.two && (a.monitor.minimum ? previous.v[l] < most : previous.v[l] > most))
                most = previous.v[l];
            if (a.monitor.minimum ? center.v[l] < most : center.v[l] > most)
                most = center.v[l];
            grows |= most != kept.v[l];
            kept.v[l] = most;
        }
        if (grows && has(a, x))
            *(vec *)place(a, x) = kept;
    }
};
