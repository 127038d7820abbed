/* SPDX-License-Identifier: Apache-2.0 */
/* sonde serve: /metrics with 10 000 series under wrk, beside libmicrohttpd serving the same bytes
   prebuilt; its CPU time beside prometheus-node-exporter, both scraped in turn; its memory. */
#include "bench.h"
#include "sonde/sonde.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERIES = 10000, PER_FAMILY = 1000, ROUNDS = 5, SCRAPES = 50, PAGE_MAX = 8 << 20 };
static const unsigned interval_us = 100000; /* ten times the usual rate: it is a ratio */

static char folder[] = "/tmp/sonde_bench_XXXXXX";
static char shm[64];
static char page[PAGE_MAX];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Starts a program whose output comes back through *out (NULL: nowhere). */
static pid_t start(const char *const argv[], FILE **out)
{
    int ends[2];
    if (pipe(ends) != 0)
        die("pipe");
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int null = open("/dev/null", O_WRONLY);
        dup2(out ? ends[1] : null, 1);
        dup2(null, 2);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(ends[1]);
    if (out)
        *out = fdopen(ends[0], "r");
    else
        close(ends[0]);
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

static int dial(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((in_port_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Whether page holds a whole answer: as long as it says, or up to the last chunk. */
static bool is_whole(size_t total)
{
    const char *end = strstr(page, "\r\n\r\n");
    const char *length = strcasestr(page, "Content-Length:");
    if (!end)
        return false;
    if (length && length < end)
        return total >= (size_t)(end + 4 - page) + strtoul(length + 15, NULL, 10);
    return total >= 5 && memcmp(page + total - 5, "0\r\n\r\n", 5) == 0;
}

/* GET /metrics on a connection that stays, as Prometheus does it. The answer is in page. Returns
   the length of its body, 0 when there is none. */
static size_t scrape(int fd, const char **body)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    size_t total = 0;
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)sizeof request - 1)
        return 0;
    do {
        ssize_t got = recv(fd, page + total, sizeof page - 1 - total, 0);
        if (got <= 0)
            return 0;
        total += (size_t)got;
        page[total] = '\0';
    } while (!is_whole(total));
    *body = strstr(page, "\r\n\r\n") + 4;
    return strncmp(page, "HTTP/1.1 200", 12) == 0 ? total - (size_t)(*body - page) : 0;
}

static pid_t start_server(int *port)
{
    static char program[512];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len <= 0)
        die("/proc/self/exe");
    program[len] = '\0';
    memcpy(strrchr(program, '/'), "/sonde", 7); /* shorter than what it replaces */
    static const char *const argv[] = {program,      "serve", "--listen",  "127.0.0.1:0",
                                       "--interval", "100ms", "--no-host", NULL};
    static const char *const with_host[] = {program,      "serve", "--listen", "127.0.0.1:0",
                                            "--interval", "100ms", NULL};
    FILE *out;
    pid_t pid = start(*port < 0 ? with_host : argv, &out);
    char line[256] = "";
    if (!fgets(line, sizeof line, out) ||
        sscanf(line, "listening on http://127.0.0.1:%d", port) != 1)
        die("sonde serve");
    fclose(out);
    return pid;
}

static void make_series(void)
{
    for (int i = 0; i < SERIES; i++) {
        char name[64];
        char shard[16];
        int family = i / PER_FAMILY;
        snprintf(name, sizeof name, family % 2 ? "bench_gauge_%d" : "bench_%d_total", family);
        snprintf(shard, sizeof shard, "%d", i % PER_FAMILY);
        const char *const labels[] = {"shard", shard, "method", "GET", "zone", "eu-1", NULL};
        if (family % 2)
            sonde_gauge_set(sonde_gauge_get(name, "A gauge", labels), i * 1.25);
        else
            sonde_counter_add(sonde_counter_get(name, "Events", labels), i);
    }
}

/* --- under wrk --- */

static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    (void)url, (void)method, (void)version, (void)upload, (void)upload_size, (void)state;
    return MHD_queue_response(connection, MHD_HTTP_OK, user);
}

/* Requests a second; 0 when wrk does not say. */
static double load(int port)
{
    char url[64];
    char line[256];
    double rate = 0;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/metrics", port);
    FILE *out;
    const char *argv[] = {"wrk", "-t1", "-c8", "-d1s", url, NULL};
    pid_t pid = start(argv, &out);
    while (fgets(line, sizeof line, out))
        sscanf(line, "Requests/sec: %lf", &rate);
    fclose(out);
    waitpid(pid, NULL, 0);
    return rate;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void bench_wrk(void)
{
    int port = 0;
    const char *body;
    pid_t server = start_server(&port);
    int fd = dial(port);
    size_t len = scrape(fd, &body);
    close(fd);
    if (len < SERIES * 40)
        die("/metrics is too short");
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
    struct MHD_Daemon *floor_daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL,
                                                       answer, response, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        floor_daemon ? MHD_get_daemon_info(floor_daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info)
        die("libmicrohttpd");
    double ratios[ROUNDS];
    double ours = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        double floor_rate = load(info->port);
        ours = load(port);
        ratios[i] = floor_rate > 0 ? ours / floor_rate : 0;
    }
    qsort(ratios, ROUNDS, sizeof *ratios, by_value);
    bench_note("size of the page", (double)len / 1024, "KiB");
    bench_note("scrapes under wrk", ours, "1/s");
    bench_check("serve.wrk.by_prebuilt", ratios[ROUNDS / 2]);
    MHD_stop_daemon(floor_daemon);
    MHD_destroy_response(response);
    stop(server);
}

/* --- beside node_exporter --- */

/* CPU time of all threads of a process, ns. */
static double cpu_ns(pid_t pid)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    double sum = 0;
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        double on_cpu = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)pid, entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%lf", &on_cpu) == 1)
            sum += on_cpu;
        if (file)
            fclose(file);
    }
    if (dir)
        closedir(dir);
    return sum;
}

static double rss_anon_mib(pid_t pid)
{
    char path[64];
    char line[256];
    double kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "RssAnon: %lf", &kib);
    if (file)
        fclose(file);
    return kib / 1024;
}

static void bench_node_exporter(void)
{
    const char *body;
    int port = -1;
    int other_port = 20000 + (int)getpid() % 20000;
    char listen[64];
    snprintf(listen, sizeof listen, "--web.listen-address=127.0.0.1:%d", other_port);
    const char *argv[] = {"prometheus-node-exporter",
                          listen,
                          "--collector.disable-defaults",
                          "--collector.cpu",
                          "--collector.meminfo",
                          "--collector.diskstats",
                          "--collector.netdev",
                          "--collector.filesystem",
                          NULL};
    pid_t other = start(argv, NULL);
    pid_t server = start_server(&port);
    int fd = dial(port);
    int other_fd = -1;
    for (int i = 0; i < 50 && (other_fd = dial(other_port)) < 0; i++)
        usleep(interval_us);
    if (scrape(fd, &body) == 0 || other_fd < 0 || scrape(other_fd, &body) == 0)
        die("the first scrape");
    double ours = cpu_ns(server);
    double theirs = cpu_ns(other);
    for (int i = 0; i < SCRAPES; i++) {
        scrape(fd, &body);
        scrape(other_fd, &body);
        usleep(interval_us);
    }
    ours = cpu_ns(server) - ours;
    theirs = cpu_ns(other) - theirs;
    bench_note("a reading and a scrape", ours / SCRAPES / 1e3, "us of CPU");
    bench_check("serve.cpu.less_than_node_exporter", theirs / ours);
    bench_check("serve.memory.mib", rss_anon_mib(server));
    close(fd);
    close(other_fd);
    stop(server);
    stop(other);
}

static void clean(const char *path)
{
    const char *argv[] = {"rm", "-rf", path, NULL};
    waitpid(start(argv, NULL), NULL, 0);
}

int main(void)
{
    snprintf(shm, sizeof shm, "/dev/shm/sb%d", (int)getpid());
    sonde_session *session;
    if (!mkdtemp(folder) || mkdir(shm, 0700) != 0)
        die(folder);
    setenv("SONDE_SHM_DIR", shm, 1);
    setenv("SONDE_DIR", folder, 1);
    bench_title("serve");
    bench_node_exporter();
    if (sonde_open("bench", NULL, &session) != SONDE_OK)
        die("session");
    make_series();
    bench_wrk();
    sonde_close(session);
    clean(folder);
    clean(shm);
    return bench_finish();
}
