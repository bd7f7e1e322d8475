/* The calls of MPI that zerohop makes, behind plain numbers and pointers: compiled by the MPI's own compiler, so that one zerohop runs
 * on any of them. Everything returns 0 or an error that zh_error puts into words. All of it is called by one
 * thread only, but for zh_exit. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    MPI_Win win;
    char *base;
    MPI_Group group; /* of an access epoch */
    MPI_Group others; /* of an exposure epoch */
} window;

int zh_version(void) { return 3; }

int zh_init(int *rank, int *size) {
    int provided, error;
    /* Unless the user has told OpenMPI something else: ranks that wait give their cores to those that work, and the one-sided component
     * for fast networks, which fails to allocate windows over TCP (4.1), is left out. */
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    setenv("OMPI_MCA_osc", "^rdma", 0);
    error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    if (error) return error;
    if (provided < MPI_THREAD_FUNNELED) return MPI_ERR_OTHER;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
    return error ? error : MPI_Comm_size(MPI_COMM_WORLD, size);
}

/* All ranks come to it together. MPICH over UCX (4.0.2 with 1.13, over TCP) ends each rank's connections here and then waits in a way that
 * no longer answers a rank that is later, which so waits for ever. After the same nap from the same moment, none is much later. */
int zh_finalize(void) {
#ifdef MPICH_VERSION
    const struct timespec nap = { 0, 200000000 };
    nanosleep(&nap, NULL);
#endif
    return MPI_Finalize();
}

int zh_abort(int status) { return MPI_Abort(MPI_COMM_WORLD, status); }

/* Ends this process and no other, from any thread: without what MPI has for the end of a process, for it is in the middle of a call. */
int zh_exit(int status) { _exit(status); }

int zh_library(char *text, int room) {
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, error = MPI_Get_library_version(name, &length);
    if (error) return error;
    strncpy(text, name, room - 1);
    text[room - 1] = 0;
    return 0;
}

int zh_error(int error, char *text, int room) {
    char words[MPI_MAX_ERROR_STRING];
    int length;
    if (MPI_Error_string(error, words, &length)) return 1;
    strncpy(text, words, room - 1);
    text[room - 1] = 0;
    return 0;
}

/* Requests: begun here, asked for with zh_test, which forgets one that is done. */
static int begun(MPI_Request request, void **out, int error) {
    MPI_Request *kept;
    if (error) return error;
    kept = malloc(sizeof *kept);
    if (!kept) return MPI_ERR_NO_MEM;
    *kept = request;
    *out = kept;
    return 0;
}

int zh_test(void *request, int *done) {
    int error = MPI_Test(request, done, MPI_STATUS_IGNORE);
    if (error || *done) free(request);
    return error;
}

int zh_barrier(void **out) {
    MPI_Request request;
    int error = MPI_Ibarrier(MPI_COMM_WORLD, &request);
    return begun(request, out, error);
}

int zh_allgather(const void *mine, int bytes, void *all, void **out) {
    MPI_Request request;
    int error = MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    return begun(request, out, error);
}

int zh_allgatherv(const void *mine, int bytes, void *all, const int *counts, const int *starts, void **out) {
    MPI_Request request;
    int error = MPI_Iallgatherv(mine, bytes, MPI_BYTE, all, counts, starts, MPI_BYTE, MPI_COMM_WORLD, &request);
    return begun(request, out, error);
}

int zh_send(int to, int tag, const void *bytes, int count, void **out) {
    MPI_Request request;
    int error = MPI_Isend(bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
    return begun(request, out, error);
}

/* Lets the library get on: a rank that only looks at its memory would not serve those who put into it. */
int zh_progress(void) {
    int there;
    return MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

/* Whether a message is there, and its bytes. */
int zh_probe(int from, int tag, int *there, int *count) {
    MPI_Status status;
    int error = MPI_Iprobe(from, tag, MPI_COMM_WORLD, there, &status);
    return error || !*there ? error : MPI_Get_count(&status, MPI_BYTE, count);
}

int zh_receive(int from, int tag, void *bytes, int count) {
    return MPI_Recv(bytes, count, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Windows. */
int zh_window(int64_t bytes, int passive, void **out, void **base) {
    window *w = calloc(1, sizeof *w);
    int error;
    if (!w) return MPI_ERR_NO_MEM;
    w->group = w->others = MPI_GROUP_NULL;
    error = MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w->base, &w->win);
    if (error) { free(w); return error; }
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    memset(w->base, 0, (size_t)bytes);
    if (passive) {
        error = MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win);
        if (!error) error = MPI_Win_sync(w->win);
    }
    *out = w;
    *base = w->base;
    /* Nobody may write here before the zeros are there. */
    return error ? error : MPI_Barrier(MPI_COMM_WORLD);
}

int zh_window_free(window *w, int passive) {
    int error = passive ? MPI_Win_unlock_all(w->win) : 0;
    if (!error) error = MPI_Win_free(&w->win);
    free(w);
    return error;
}

int zh_put(window *w, int rank, int64_t offset, const void *bytes, int count) {
    return MPI_Put(bytes, count, MPI_BYTE, rank, (MPI_Aint)offset, count, MPI_BYTE, w->win);
}

int zh_get(window *w, int rank, int64_t offset, void *bytes, int count, void **out) {
    MPI_Request request;
    int error = MPI_Rget(bytes, count, MPI_BYTE, rank, (MPI_Aint)offset, count, MPI_BYTE, w->win, &request);
    return begun(request, out, error);
}

/* Numbers that ranks wait for are replaced and fetched by accumulates, which are atomic: of a put that is polled by loads the standard says
 * only that its bytes come some time, in any order. */
int zh_replace(window *w, int rank, int64_t offset, const uint64_t *value) {
    return MPI_Accumulate(value, 1, MPI_UINT64_T, rank, (MPI_Aint)offset, 1, MPI_UINT64_T, MPI_REPLACE, w->win);
}

static int fetch_and_op(window *w, int rank, int64_t offset, uint64_t value, MPI_Op op, uint64_t *before) {
    /* What is given up after an error may still be read and written: it is not freed then. */
    uint64_t *cell = malloc(2 * sizeof *cell);
    int error;
    if (!cell) return MPI_ERR_NO_MEM;
    cell[0] = value;
    error = MPI_Fetch_and_op(&cell[0], &cell[1], MPI_UINT64_T, rank, (MPI_Aint)offset, op, w->win);
    if (!error) error = MPI_Win_flush(rank, w->win);
    if (error) return error;
    *before = cell[1];
    free(cell);
    return 0;
}

int zh_fetch_add(window *w, int rank, int64_t offset, uint64_t value, uint64_t *before) {
    return fetch_and_op(w, rank, offset, value, MPI_SUM, before);
}

int zh_fetch(window *w, int rank, int64_t offset, uint64_t *value) {
    return fetch_and_op(w, rank, offset, 0, MPI_NO_OP, value);
}

int zh_flush(window *w, int rank) { return MPI_Win_flush(rank, w->win); }
int zh_sync(window *w) { return MPI_Win_sync(w->win); }
int zh_fence(window *w) { return MPI_Win_fence(0, w->win); }

static int subset(const int *ranks, int count, MPI_Group *group) {
    MPI_Group all;
    int error = MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (error) return error;
    error = MPI_Group_incl(all, count, ranks, group);
    MPI_Group_free(&all);
    return error;
}

int zh_post(window *w, const int *ranks, int count) {
    int error = subset(ranks, count, &w->others);
    return error ? error : MPI_Win_post(w->others, 0, w->win);
}

int zh_start(window *w, const int *ranks, int count) {
    int error = subset(ranks, count, &w->group);
    return error ? error : MPI_Win_start(w->group, 0, w->win);
}

int zh_complete(window *w) {
    int error = MPI_Win_complete(w->win);
    MPI_Group_free(&w->group);
    return error;
}

/* Whether all who were let in are through. */
int zh_exposed(window *w, int *over) {
    int error = MPI_Win_test(w->win, over);
    if (!error && *over) MPI_Group_free(&w->others);
    return error;
}
