/* talk.cu: a launch that exchanges numbers with launches on neighbouring devices, round by round: each thread adds what
 * two neighbours sent to its own value,
 *
 *     v_t  <-  2 v_(63 - t) + below_t + 3 above_t,
 *
 * a missing neighbour counts as 0. A block talks to the same block of the others. */
enum { TALK_THREADS = 64 };

struct talk_args {
    double *value;        /* [block][thread] */
    const double *box[2]; /* [round][block][thread] from the device below, and above; NULL: there is none */
    const long long *flag[2]; /* [round][block] 1 once the numbers are there */
    double *other_box[2];     /* where those two find what is for them */
    long long *other_flag[2];
    long long begin, end; /* rounds */
};

extern "C" __global__ void __launch_bounds__(TALK_THREADS) talk(struct talk_args args)
{
    extern __shared__ double s_value[];
    __shared__ double s_sum[TALK_THREADS];
    const int t = threadIdx.x;
    s_value[t] = args.value[blockIdx.x * TALK_THREADS + t];
    for (long long round = args.begin; round < args.end; round++) {
        const long long at = round * gridDim.x + blockIdx.x;
        for (int side = 0; side < 2; side++)
            if (args.other_box[side])
                args.other_box[side][at * TALK_THREADS + t] = s_value[t];
        __syncthreads();
        s_sum[t] = 2 * s_value[TALK_THREADS - 1 - t];
        for (int side = 0; side < 2; side++)
            if (t == 0 && args.other_flag[side])
                store_release(&args.other_flag[side][at], 1ll);
        for (int side = 0; side < 2; side++) {
            while (t == 0 && args.flag[side] && !load_acquire(&args.flag[side][at]))
                look_again();
            __syncthreads();
            if (args.box[side])
                s_sum[t] += (1 + 2 * side) * args.box[side][at * TALK_THREADS + t];
        }
        __syncthreads();
        s_value[t] = s_sum[t];
        __syncthreads();
    }
    args.value[blockIdx.x * TALK_THREADS + t] = s_value[t];
}
