"""Faults of what travels between parts, slabs, devices and processes: ``make mutate`` puts them in as well.

Of each way there are three kinds: `dropped`, a face, a node, a plane or a message does not arrive; `place`,
it is turned or taken for another one, or is on the wrong side; `late`, what is read is of a stage before,
since buffers take no turns, or a wait or an event is missing. Streams of the stand-in driver run as late as
they may, or every other one as early as it may (UNDA_EMULATOR_EAGER): so tests see a wait that is missing.

MPI that knows devices copies nothing itself: its faults are those of "processes, MPI".
Not here: what parts agree upon, sums and points of several parts (mutations.py); faults that tests put into
messages at run time (c/team.c, c/sem_team.c, c/sem_ranks.c, mpi/test_mpi_fd.py, mpi/test_mpi_nccl.py).
"""

from __future__ import annotations

KINDS = ("dropped", "place", "late")

#: {way: {kind: [(file, what stands there, what stands there instead)]}}
EXCHANGE_FAULTS: dict[str, dict[str, list[tuple[str, str, str]]]] = {
    "DG: traces of parts, on the CPU": {
        "dropped": [
            ("csrc/dg/exchange_cpu.c", "first[i + 1] - cut->first[i],", "first[i + 1] - cut->first[i] - 1,"),
        ],
        "place": [
            ("csrc/dg/exchange_cpu.c", "* space->num_face_node + m]", "* space->num_face_node]"),
            ("csrc/dg/exchange_cpu.c", "node_at(s, face[i], m);",
             "node_at(s, face[i], unpack ? num_node - 1 - m : m);"),
            ("csrc/dg/team.c", "there->first[back] *", "there->first[0] *"),
            ("csrc/mesh/part.c", "here < there ? here : there", "here"),
            ("csrc/mesh/part.c", "mesh->turn[i] = whole->turn[face];",
             "mesh->turn[i] = elem < mesh->num_owned ? whole->turn[face] : 0;"),
            ("csrc/mesh/part.c", "part->ghost[i] = faces[i].ghost;",
             "part->ghost[i] = faces[i ^ (i > 0)].ghost;"),
        ],
        "late": [
            ("csrc/dg/exchange_cpu.c", "(char *)x->from[x->turn], true",
             "(char *)x->from[x->turn ^ 1], true"),
            ("csrc/dg/exchange_cpu.c",
             "    if (x->transport->end)\n        TRY(x->transport->end(s));\n"
             "    move_traces(s, cut->num_cut, cut->ghost, (char *)x->from[x->turn], true);\n",
             "    move_traces(s, cut->num_cut, cut->ghost, (char *)x->from[x->turn], true);\n"
             "    if (x->transport->end)\n        TRY(x->transport->end(s));\n"),
        ],
    },
    "DG: traces of parts, on devices": {
        "dropped": [
            ("csrc/dg/exchange_cuda.c", "+ 1] - first[neighbor], to,", "+ 1] - first[neighbor] - 1, to,"),
            ("csrc/dg/exchange_cuda.c", "own(s)->ghost, cut_of(s)->num_cut, from, true",
             "own(s)->ghost, cut_of(s)->num_cut - 1, from, true"),
        ],
        "place": [
            ("cuda/common/state.cu", "a.num_face * a.num_face_node + m]", "a.num_face * a.num_face_node]"),
            ("csrc/dg/exchange_cuda.c", "(gpu_ptr)(8 * first[neighbor])", "(gpu_ptr)(8 * first[0])"),
        ],
        "late": [
            ("csrc/dg/exchange_cuda.c", "    TRY(gpu_stream_wait(c->stream, c->ready));\n", ""),
            ("csrc/dg/exchange_cuda.c", "    return gpu_stream_wait(c->first, c->received);",
             "    return UNDA_OK;"),
            ("csrc/dg/cuda_team.c", "    TRY(spread(s));\n    set_steps", "    set_steps"),
            ("csrc/dg/cuda_team.c", "    TRY(collect(s));\n", ""),
        ],
    },
    "SEM: forces of parts, on the CPU": {
        "dropped": [
            ("csrc/sem/exchange_cpu.c", ": real_get(s, from, c->term[n] + j)", ": 0 * j"),
            ("csrc/sem/exchange_cpu.c", "k < c->first[i + 1]; k++", "k < c->first[i + 1] - 1; k++"),
            ("csrc/sem/order.c", "TASK_ELEM < num_border;", "TASK_ELEM < 0 * num_border;"),
        ],
        "place": [
            ("csrc/sem/exchange_cpu.c", "c->node[c->item[k]] * r->pitch",
             "c->node[c->item[k ^ (k > 0)]] * r->pitch"),
            ("csrc/sem/team.c", "there->first_word[back]", "there->first_word[0]"),
            ("csrc/sem/cut.c", "qsort(c->node, (size_t)c->num, sizeof *c->node, by_number);",
             "(void)by_number;"),
            ("csrc/sem/cut.c", "cut->first_word[i + 1] += cut->first_word[i];", ""),
            ("csrc/sem/cut.c", "word[to] += sem->region[kind].dim;", "word[to] += 1;"),
        ],
        "late": [
            ("csrc/sem/exchange_cpu.c", "(const void *)x->from[x->turn]",
             "(const void *)x->from[x->turn ^ 1]"),
            ("csrc/sem/exchange_cpu.c", "TRY(x->transport->end(s));", ";"),
        ],
    },
    "SEM: forces of parts, on devices": {
        "dropped": [
            ("csrc/sem/exchange_cuda.c", "c->first[neighbor + 1] - first;",
             "c->first[neighbor + 1] - first - 1;"),
            ("csrc/sem/exchange_cuda.c", "cut->region[region].num;\n", "cut->region[region].num - 1;\n"),
            ("cuda/sem/nodes.cu", "k == a.first_place[node] ? sum : 0", "sum"),
        ],
        "place": [
            ("csrc/sem/exchange_cuda.c", "a.first_word = cut->first_word[neighbor];", "a.first_word = 0;"),
            ("csrc/sem/exchange_cuda.c", "cut.item + (gpu_ptr)(4 * first)", "cut.item"),
            ("cuda/sem/nodes.cu", "a.word[item] - a.first_word", "a.word[item]"),
        ],
        "late": [
            ("csrc/sem/cuda_team.c", "TRY(part->engine->exchange_end(part));", ""),
            ("csrc/sem/cuda_team.c", "    TRY(spread(team));\n", ""),
            ("csrc/sem/cuda_team.c", "    TRY(collect(team));\n", ""),
            ("csrc/sem/cuda_team.c", "    TRY(spread(sem_team_of(s)));\n", ""),
        ],
    },
    "DG, SEM: between devices, peer": {
        "dropped": [
            ("csrc/solver/cuda_exchange.c",
             "    for (int32_t i = 0; i < c->num_neighbor; i++)\n        TRY(c->pack",
             "    for (int32_t i = 1; i < c->num_neighbor; i++)\n        TRY(c->pack"),
        ],
        "place": [
            ("csrc/solver/cuda_exchange.c", "c->there[i] += other->exchange->link[k].bytes;", "(void)k;"),
        ],
        "late": [
            ("csrc/solver/cuda_exchange.c", "TRY(gpu_stream_wait(c->stream, own(c->neighbor[i])->sent));",
             ""),
            ("csrc/solver/cuda_exchange.c", "return gpu_stream_wait(own(s)->stream, own(s)->ready);",
             "return UNDA_OK;"),
            ("csrc/solver/cuda_exchange.c", "return gpu_stream_wait(c->first, c->received);",
             "return UNDA_OK;"),
            ("csrc/solver/cuda_exchange.c", "c->unpack(s, x->from[x->turn])",
             "c->unpack(s, x->from[x->turn ^ 1])"),
            ("csrc/solver/cuda_exchange.c", "    x->turn ^= 1;\n", ""),
        ],
    },
    "DG, SEM: between devices, by the host": {
        "dropped": [
            ("csrc/solver/cuda_exchange.c",
             "    for (int32_t i = 0; i < c->num_neighbor; i++) {\n        TRY(gpu_upload_async(",
             "    for (int32_t i = 1; i < c->num_neighbor; i++) {\n        TRY(gpu_upload_async("),
        ],
        "place": [
            ("csrc/solver/cuda_exchange.c", "host[x->turn] + c->there[i]", "host[x->turn]"),
            ("csrc/solver/cuda_exchange.c", "        to += (gpu_ptr)x->link[i].bytes;\n", ""),
            ("csrc/solver/cuda_exchange.c", "            at += x->link[i].bytes;\n", ""),
        ],
        "late": [
            ("csrc/solver/cuda_exchange.c", "own(s)->host[x->turn], own(s)->packed[x->turn]",
             "own(s)->host[x->turn], own(s)->packed[x->turn ^ 1]"),
            ("csrc/solver/cuda_exchange.c", "->host[x->turn] + c->there[i]",
             "->host[x->turn ^ 1] + c->there[i]"),
        ],
    },
    "processes, MPI": {
        "dropped": [
            ("csrc/solver/messages.c", ".num_byte = x->link[which].bytes,",
             ".num_byte = x->link[which].bytes / 2,"),
        ],
        "place": [
            ("csrc/solver/messages.c", "at += x->link[i].bytes;", ""),
            ("csrc/solver/messages.c", "send + (uintptr_t)begin_of(x, i)", "send"),
            ("csrc/solver/messages.c", "        memcpy(in, x->message[1], (size_t)x->bytes);",
             "        memcpy(in, x->message[0], (size_t)x->bytes);"),
        ],
        "late": [
            ("csrc/solver/messages.c", "    return ranks_wait(part->exchange->requests);",
             "    (void)part;\n    return UNDA_OK;"),
        ],
    },
    "DG, SEM: processes on devices, MPI by the host": {
        "dropped": [
            ("csrc/solver/cuda_ranks.c", "own(s)->from[x->turn], x->message[1], x->bytes",
             "own(s)->from[x->turn], x->message[1], x->bytes / 2"),
        ],
        "place": [
            ("csrc/solver/cuda_ranks.c", "own(s)->from[x->turn], x->message[1]",
             "own(s)->from[x->turn], x->message[0]"),
        ],
        "late": [
            ("csrc/solver/cuda_ranks.c", "    TRY(gpu_sync(own(s)->stream));\n", ""),
            ("csrc/solver/cuda_ranks.c", "own(s)->packed[x->turn], x->bytes)",
             "own(s)->packed[x->turn ^ 1], x->bytes)"),
            ("csrc/solver/cuda_ranks.c", "own(s)->from[x->turn], x->message[1]",
             "own(s)->from[x->turn ^ 1], x->message[1]"),
        ],
    },
    "processes on devices, NCCL": {
        "dropped": [
            ("csrc/gpu/nccl.c", "POINTER(m->send), bytes, BYTE", "POINTER(m->send), bytes / 2, BYTE"),
        ],
        "place": [
            ("csrc/gpu/nccl.c", "m->receive), bytes, BYTE, m->rank",
             "message->receive), bytes, BYTE, m->rank"),
            ("csrc/solver/cuda_ranks.c", "        send += (gpu_ptr)bytes;\n", ""),
            ("csrc/solver/cuda_ranks.c", "        receive += (gpu_ptr)bytes;\n", ""),
            ("csrc/solver/cuda_ranks.c", "{neighbor[i], send,", "{neighbor[c->num_neighbor - 1 - i], send,"),
            ("csrc/solver/cuda_ranks.c", "return gpu_download(c->stream, in, c->from[0], x->bytes);",
             "return gpu_download(c->stream, in, c->packed[0], x->bytes);"),
        ],
        "late": [
            ("csrc/solver/cuda_ranks.c", ": gpu_nccl_exchange(c->nccl, c->stream, c->message",
             ": gpu_nccl_exchange(c->nccl, c->first, c->message"),
            ("csrc/solver/cuda_ranks.c", "gpu_nccl_exchange(c->nccl, c->stream, c->direct",
             "gpu_nccl_exchange(c->nccl, c->first, c->direct"),
            ("csrc/solver/cuda_exchange.c", "own(s)->nccl ? gpu_nccl_sync(own(s)->nccl, stream) :", ""),
        ],
    },
    "FD: planes of slabs": {
        "dropped": [
            ("csrc/fd/slabs.c", "fd.begin - below, below));", "fd.begin - below, below - 1));"),
            ("csrc/fd/slabs.c", "if (fd_cut(fd, 1) && below > 0)",
             "if (fd_cut(fd, 1) && i + 1 < slabs(s)->end && below > 0)"),
            ("csrc/fd/slab.c", "(fd_cut(fd, 1) ? fd->half : 0)", "(fd_cut(fd, 1) ? fd->half - 1 : 0)"),
        ],
        "place": [
            ("csrc/fd/slabs.c", "slab_of(s, low), held, fd->begin,", "slab_of(s, low), held, fd->begin + 1,"),
            ("csrc/fd/slabs.h", "(side ? 1 : t->num - 1)", "(side ? t->num - 1 : 1)"),
        ],
        "late": [
            ("csrc/fd/slabs.c", "one(s)->fresh(array, time) : array",
             "one(s)->fresh(array, time + 1) : array"),
            ("csrc/fd/slabs.c", "    TRY(post(s, &made));\n", ""),
        ],
    },
    "FD staggered: planes of slabs": {
        "dropped": [
            ("csrc/fd/slabs.c", "*below -= !fd->field[array].half[0];",
             "*below -= fd->field[array].half[0];"),
            ("csrc/fd/slabs.c", "*above -= fd->field[array].half[0];",
             "*above -= !fd->field[array].half[0];"),
            ("csrc/fd/slabs.c", "add_array(fd, &material, FD_MATERIAL + i, FD_MATERIAL + i);", ";"),
        ],
        "place": [
            ("csrc/fd/rank.c", "(side == 1) != arrives ?", "(side == 1) ?"),
            ("csrc/fd/rank.c", "        block += (uintptr_t)(planes.num * engine->plane_bytes(own(s)));\n",
             ""),
        ],
        "late": [
            ("csrc/fd/slabs.c", "if (travels(fd, pass, array))\n            add_array",
             "if (travels(fd, 1 - pass, array))\n            add_array"),
        ],
    },
    "FD: slabs on devices": {
        "dropped": [
            ("csrc/fd/cuda_send.c", "count * fd_cuda_plane_bytes(from)",
             "(count - 1) * fd_cuda_plane_bytes(from)"),
        ],
        "place": [
            ("csrc/fd/cuda_send.c", "plane_at(to, array, place)", "plane_at(to, array, place + 1)"),
        ],
        "late": [
            ("csrc/fd/cuda_send.c", "    return gpu_stream_wait(fd_cuda(to)->away, fd_cuda(from)->sent);",
             "    (void)to;\n    (void)from;\n    return UNDA_OK;"),
            ("csrc/fd/cuda_send.c", "    return gpu_stream_wait(t->stream, t->made);", "    return UNDA_OK;"),
            ("csrc/fd/cuda_send.c", "    return gpu_stream_wait(t->away, t->before);", "    return UNDA_OK;"),
        ],
    },
    "FD: slabs in processes": {
        "dropped": [
            ("csrc/fd/rank.c", "i = 0; i < travel->num; i++) {\n        struct",
             "i = 1; i < travel->num; i++) {\n        struct"),
        ],
        "place": [
            ("csrc/fd/rank.c", "both(s) ? side != arrives :", "both(s) ? side :"),
            ("csrc/fd/rank.c", "for (int side = 1; side >= 0 && rank(s)->ranks.nccl; side--)",
             "for (int side = 0; side < 2 && rank(s)->ranks.nccl; side++)"),
            ("csrc/fd/rank.c", "num == 2 && cut(s, 0)", "num == 3 && cut(s, 0)"),
            ("csrc/fd/rank.c", "(1 + both(s)) * r->block", "r->block"),
        ],
        "late": [
            ("csrc/fd/rank.c",
             "    TRY(x->transport->end(slab));\n    return fd_rank_unpack(slab, x->from[0]);",
             "    TRY(fd_rank_unpack(slab, x->from[0]));\n    return x->transport->end(slab);"),
        ],
    },
    "FD: slabs in processes on devices": {
        "dropped": [
            ("csrc/fd/cuda_send.c", "arrives ? 0 : here, arrives ? here : 0", "arrives ? 0 : here, 0"),
            ("csrc/fd/cuda_send.c", "planes.num * fd_cuda_plane_bytes(s)",
             "(planes.num - 1) * fd_cuda_plane_bytes(s)"),
        ],
        "place": [
            ("csrc/fd/cuda_send.c", "arrives ? here : at, arrives ? at : here",
             "arrives ? at : here, arrives ? here : at"),
        ],
        "late": [
            ("csrc/fd/cuda_send.c", "    cuda_exchange_of(s)->num_direct = 0;\n", "    (void)s;\n"),
            ("csrc/fd/cuda_send.c", "s->exchange ? cuda_exchange_wait(s, fd_cuda(s)->away) :", ""),
        ],
    },
    "FD diamond: slabs on devices": {
        "dropped": [
            ("csrc/fd/scalar/diamond_slabs.c",
             "        TRY(exchange(s, (struct stage_done){levels, stage}));",
             ""),
            ("csrc/fd/scalar/diamond_slabs.c", "bool before = done.stage < 0;", "bool before = false;"),
            ("csrc/fd/scalar/diamond_slabs.c", "{shared - half, end}", "{shared - half + 1, end}"),
            ("csrc/fd/scalar/diamond_slabs.c", "cut - tile->step + half}", "cut - tile->step}"),
            ("csrc/fd/scalar/diamond_slabs.c", "first + half - reach, end", "first + half - reach + 1, end"),
            ("csrc/fd/scalar/diamond_slabs.c", "(struct fd_span){shared, end};",
             "(struct fd_span){shared, shared};"),
            ("csrc/fd/scalar/diamond_slabs.c", "return 2 * (c->planes.end", "return 1 * (c->planes.end"),
        ],
        "place": [
            ("csrc/fd/scalar/diamond_slabs.c", "(done.stage % 2 != 0)", "(done.stage % 2 == 0)"),
        ],
        "late": [
            ("csrc/fd/scalar/diamond_slabs.c",
             "        TRY(fd_cuda_receive(slab_of(s, i + 1), slab_of(s, i)));\n",
             ""),
            ("csrc/fd/scalar/diamond_slabs.c",
             "        TRY(fd_cuda_receive(slab_of(s, i), slab_of(s, i + 1)));\n",
             ""),
            ("csrc/fd/scalar/diamond_slabs.c", "    EACH(s, i) TRY(fd_cuda_sent(slab_of(s, i)));\n", ""),
        ],
    },
    "FD diamond: slabs on devices, all stages together": {
        "dropped": [
            ("cuda/fd/scalar/diamond_tile.h", "return j >= HALF - M;", "return j > HALF - M;"),
            ("cuda/fd/scalar/diamond_tile.h", "return j < HALF - STEP + M;",
             "return j < HALF - STEP + M - 1;"),
            ("cuda/fd/scalar/diamond_level.h", "if (FAR && s.sends_far && ", "if (false && "),
            ("cuda/fd/scalar/diamond_rare.h", "if (FAR && there && ", "if (false && "),
            ("cuda/fd/scalar/diamond.cu", "w.n & 1, last), first, end)", "w.n & 1, last), first, first)"),
        ],
        "place": [
            ("cuda/fd/scalar/diamond_level.h", "s.up ? goes_up(J) : goes_down(J)",
             "s.up ? goes_down(J) : goes_up(J)"),
            ("csrc/fd/scalar/diamond.c", "diamond.far_progress[!side]", "diamond.far_progress[side]"),
            ("csrc/fd/scalar/diamond.c", "fd_cuda_origin(other, t->array[1])",
             "fd_cuda_origin(other, t->array[0])"),
            ("cuda/fd/scalar/diamond_tower.h", "side = stage % 2 ? 0 : 1;", "side = stage % 2;"),
        ],
        "late": [
            ("cuda/fd/scalar/diamond_tower.h", "if (FAR && i / WIDE == 1 && stage > 0 &&", "if (false &&"),
            ("cuda/fd/scalar/diamond.cu", "* NUM_ZB + w.rank, n);", "* NUM_ZB + w.rank, DONE);"),
            ("csrc/fd/scalar/diamond_together.c", "if (d->far_progress[side])", "if (false)"),
            ("csrc/fd/scalar/diamond_together.c", "TRY(diamond_exchange_before(s, levels));", ""),
        ],
    },
    "FD diamond: slabs in processes": {
        "dropped": [
            ("csrc/fd/scalar/diamond_slabs.c", "i = 0; i < num_piece(s, &c); i++) {",
             "i = 1; i < num_piece(s, &c); i++) {"),
        ],
        "place": [
            ("csrc/fd/scalar/diamond_slabs.c", "(side == 1) != arrives", "(side == 1)"),
            ("csrc/fd/scalar/diamond_slabs.c", "        block += (uintptr_t)piece.bytes;\n", ""),
        ],
        "late": [
            ("csrc/fd/scalar/diamond_slabs.c", "carry, &done);",
             "carry, &(struct stage_done){done.levels, done.stage - (done.stage > 0)});"),
        ],
    },
}  # fmt: skip

LISTED = [fault for kinds in EXCHANGE_FAULTS.values() for kind in KINDS for fault in kinds[kind]]
