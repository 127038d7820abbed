/* SPDX-License-Identifier: Apache-2.0 */
/* Making the store. Pages of tmpfs that are not there kill by SIGBUS when they are touched, so each
   part is populated (MADV_POPULATE_WRITE, Linux 5.14) before its first use; where the kernel
   cannot, the store is private memory. The descriptor is kept to link the file to a name later; it
   lies high and is checked before use, because a host may close or reuse it. */
#include "record/metric_store.h"

#include "base/errno_status.h"
#include "base/ids.h"
#include "record/recorder.h"
#include "record/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, FD_FROM = 64, LANES_LEAST = 4 };

static struct {
    pthread_mutex_t lock;
    sonde__metric_view view;
    _Atomic(const sonde__metric_view *) ready; /* &view, when it is usable */
    int fd;
    dev_t dev;
    ino_t ino;
    bool shared;
    bool failed; /* there was no memory; not tried again */
    sonde_status reason;
    char path[SONDE__METRIC_PATH_BYTES]; /* "" while it has no name */
} store = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static uint64_t page_up(uint64_t bytes)
{
    return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

sonde__metric_layout sonde__metric_layout_of(uint32_t lanes_max)
{
    sonde__metric_layout at;
    at.series = PAGE;
    at.gauges = at.series + SONDE__METRIC_SERIES_BYTES;
    at.blocks = at.gauges + page_up(SONDE__GAUGES_MAX * sizeof(uint64_t));
    at.lanes = at.blocks + (uint64_t)SONDE__METRIC_BLOCKS * SONDE__METRIC_BLOCK_BYTES;
    at.histograms = page_up(SONDE__COUNTERS_MAX * sizeof(uint64_t));
    at.lane_stride =
        at.histograms + page_up((uint64_t)SONDE__HISTOGRAMS_MAX * SONDE__HISTOGRAM_CELL_BYTES);
    at.size = at.lanes + lanes_max * at.lane_stride;
    return at;
}

void sonde__metric_store_path(uint64_t run, char out[SONDE__METRIC_PATH_BYTES])
{
    char run_hex[17] = "";
    sonde__id_to_hex(run, run_hex);
    snprintf(out, SONDE__METRIC_PATH_BYTES, "%s/sonde-metrics.%u.%s", sonde__segment_dir(),
             (unsigned)geteuid(), run_hex);
}

bool sonde__metric_store_back(uint64_t offset, uint64_t bytes)
{
    if (!store.shared)
        return true;
    int saved = errno;
    uint64_t first = offset & ~(uint64_t)(PAGE - 1);
    uint64_t end = page_up(offset + bytes);
    bool backed = madvise(store.view.base + first, end - first, MADV_POPULATE_WRITE) == 0;
    errno = saved;
    return backed;
}

/* Counts what back() has put there; pages are counted once because callers ask for each once. */
static void note_backed(uint64_t bytes)
{
    atomic_fetch_add_explicit(&sonde__metric_header_of(&store.view)->backed, bytes,
                              memory_order_relaxed);
}

uint16_t sonde__metric_store_block(bool reserve)
{
    const sonde__metric_view *view = sonde__metric_store_now();
    sonde__metric_header *header = sonde__metric_header_of(view);
    uint32_t limit = SONDE__METRIC_BLOCKS - (reserve ? 0 : SONDE__METRIC_BLOCKS_RESERVE);
    uint32_t next = atomic_load_explicit(&header->blocks, memory_order_relaxed);
    do {
        if (next >= limit)
            return 0;
    } while (!atomic_compare_exchange_weak(&header->blocks, &next, next + 1));
    uint64_t offset = view->at.blocks + (uint64_t)next * SONDE__METRIC_BLOCK_BYTES;
    if (!sonde__metric_store_back(offset, SONDE__METRIC_BLOCK_BYTES))
        return 0;
    note_backed(SONDE__METRIC_BLOCK_BYTES);
    return (uint16_t)next;
}

/* A nameless file of the right size, mapped and its header's page populated. */
static sonde_status map_shared(sonde__metric_view *view)
{
    if (!sonde__file_size_allowed(view->at.size))
        return SONDE_ELIMIT;
    int fd = open(sonde__segment_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return sonde__status_of_errno(errno);
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FROM);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    struct stat info;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || ftruncate(fd, (off_t)view->at.size) != 0 ||
        fstat(fd, &info) != 0) {
        sonde_status status = sonde__status_of_errno(errno);
        close(fd);
        return status;
    }
    void *base = mmap(NULL, view->at.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED || madvise(base, PAGE, MADV_POPULATE_WRITE) != 0) {
        sonde_status status =
            base != MAP_FAILED && errno == EINVAL ? SONDE_EUNSUPPORTED : SONDE_ELIMIT;
        if (base != MAP_FAILED)
            munmap(base, view->at.size);
        close(fd);
        return status;
    }
    madvise(base, view->at.size, MADV_DONTFORK);
    view->base = base;
    store.fd = fd;
    store.dev = info.st_dev;
    store.ino = info.st_ino;
    return SONDE_OK;
}

static bool map_private(sonde__metric_view *view)
{
    void *base = mmap(NULL, view->at.size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    madvise(base, view->at.size, MADV_DONTFORK);
    view->base = base;
    return true;
}

/* Fewer lanes where the host limits its address space. */
static bool map_some(sonde__metric_view *view)
{
    for (uint32_t lanes = SONDE__METRIC_LANES; lanes >= LANES_LEAST; lanes /= 4) {
        view->lanes_max = lanes;
        view->at = sonde__metric_layout_of(lanes);
        store.reason = map_shared(view);
        store.shared = store.reason == SONDE_OK;
        if (store.shared || map_private(view))
            return true;
    }
    return false;
}

static void make_store(void)
{
    sonde__metric_view *view = &store.view;
    if (!map_some(view)) {
        store.failed = true;
        return;
    }
    sonde__metric_header *header = sonde__metric_header_of(view);
    memcpy(header->magic, SONDE__METRIC_MAGIC, sizeof header->magic);
    header->layout = SONDE__METRIC_LAYOUT;
    header->pid = (uint32_t)getpid();
    header->uid = (uint32_t)geteuid();
    header->lanes_max = view->lanes_max;
    atomic_store(&header->blocks, 1);
    atomic_store(&header->backed, PAGE);
    atomic_store_explicit(&store.ready, view, memory_order_release);
}

const sonde__metric_view *sonde__metric_store_now(void)
{
    return atomic_load_explicit(&store.ready, memory_order_acquire);
}

const sonde__metric_view *sonde__metric_store(void)
{
    const sonde__metric_view *view = sonde__metric_store_now();
    if (view || !sonde__recorder_watch_fork())
        return view;
    pthread_mutex_lock(&store.lock);
    if (!sonde__metric_store_now() && !store.failed)
        make_store();
    pthread_mutex_unlock(&store.lock);
    return sonde__metric_store_now();
}

/* The descriptor is still ours. */
static bool fd_is_ours(void)
{
    struct stat info;
    return store.fd >= 0 && fstat(store.fd, &info) == 0 && info.st_dev == store.dev &&
           info.st_ino == store.ino;
}

void sonde__metric_store_publish(uint64_t run, bool shared)
{
    const sonde__metric_view *view = sonde__metric_store();
    if (!view)
        return;
    pthread_mutex_lock(&store.lock);
    atomic_store(&sonde__metric_header_of(view)->run, run);
    if (!shared) {
        store.reason = SONDE_EOFF;
    } else if (store.shared && !fd_is_ours()) {
        store.reason = SONDE_EGONE;
    } else if (store.shared) {
        char from[32];
        snprintf(from, sizeof from, "/proc/self/fd/%d", store.fd);
        sonde__metric_store_path(run, store.path);
        store.reason = SONDE_OK;
        if (linkat(AT_FDCWD, from, AT_FDCWD, store.path, AT_SYMLINK_FOLLOW) != 0) {
            store.reason = sonde__status_of_errno(errno);
            store.path[0] = '\0';
        }
    }
    pthread_mutex_unlock(&store.lock);
}

void sonde__metric_store_withdraw(void)
{
    pthread_mutex_lock(&store.lock);
    if (store.path[0] != '\0')
        unlink(store.path);
    store.path[0] = '\0';
    pthread_mutex_unlock(&store.lock);
}

sonde_status sonde__metric_store_reason(void)
{
    pthread_mutex_lock(&store.lock);
    sonde_status reason = store.reason;
    pthread_mutex_unlock(&store.lock);
    return reason;
}

void sonde__metric_store_after_fork(void)
{
    pthread_mutex_init(&store.lock, NULL);
    if (fd_is_ours())
        close(store.fd);
    store.fd = -1;
    store.shared = store.failed = false;
    store.path[0] = '\0';
    store.view = (sonde__metric_view){0};
    atomic_store(&store.ready, NULL);
}

void sonde__metric_store_remove(uint64_t run)
{
    char path[SONDE__METRIC_PATH_BYTES];
    sonde__metric_store_path(run, path);
    unlink(path);
}

/* The store of this name, when its process is dead and left nothing else. */
static void sweep_one(const char *name, const char *run)
{
    char segment[PATH_MAX];
    char path[PATH_MAX];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", sonde__segment_dir(), name);
    snprintf(segment, sizeof segment, "%s/sonde.%u.%s", sonde__segment_dir(), (unsigned)geteuid(),
             run);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && access(segment, F_OK) != 0)
        unlink(path);
    close(fd);
}

void sonde__metric_store_sweep(void)
{
    char prefix[48];
    int len = snprintf(prefix, sizeof prefix, "sonde-metrics.%u.", (unsigned)geteuid());
    DIR *dir = opendir(sonde__segment_dir());
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (strncmp(entry->d_name, prefix, (size_t)len) == 0)
            sweep_one(entry->d_name, entry->d_name + len);
    if (dir)
        closedir(dir);
}
