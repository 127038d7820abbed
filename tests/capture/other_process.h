/* SPDX-License-Identifier: Apache-2.0 */
/* A process with files, sockets and threads of known number, for tests to look at. */
#ifndef SONDE_TESTS_OTHER_PROCESS_H
#define SONDE_TESTS_OTHER_PROCESS_H

#include "capture_test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum { OTHER_THREADS = 3 }; /* beside the main one */

typedef struct opened {
    uint64_t descriptors;
    uint64_t files;
    uint64_t connections;
} opened;

/* Keeps count of a descriptor, which must be good. */
static inline int took(opened *count, int fd)
{
    CHECK(fd >= 0);
    count->descriptors++;
    return fd;
}

static inline struct sockaddr_in local_address(in_port_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static inline int bound_socket(opened *count, int type)
{
    int fd = took(count, socket(AF_INET, type, 0));
    struct sockaddr_in address = local_address(0);
    CHECK(bind(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

/* Two named files, one of them twice open; a deleted one, memory, a pipe, a device and a folder. */
static inline void open_files(opened *count)
{
    char path[] = "/tmp/sonde-gone-XXXXXX";
    int ends[2];
    int named = took(count, open(SONDE_SOURCE_DIR "/CMakeLists.txt", O_RDONLY | O_CLOEXEC));
    took(count, open(SONDE_SOURCE_DIR "/LICENSE", O_RDONLY | O_CLOEXEC));
    took(count, dup(named));
    count->files += 3;
    took(count, mkstemp(path));
    CHECK(unlink(path) == 0);
    took(count, memfd_create("sonde", 0));
    CHECK(pipe(ends) == 0);
    count->descriptors += 2;
    took(count, open("/dev/null", O_RDONLY | O_CLOEXEC));
    took(count, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/* A listening socket (twice open), both ends of a connection, and TCP sockets the kernel does not
   list: three new ones, and one that is only bound. */
static inline void open_tcp(opened *count)
{
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    int listening = bound_socket(count, SOCK_STREAM);
    CHECK(listen(listening, 4) == 0);
    CHECK(getsockname(listening, (struct sockaddr *)&address, &len) == 0);
    int client = took(count, socket(AF_INET, SOCK_STREAM, 0));
    CHECK(connect(client, (const struct sockaddr *)&address, sizeof address) == 0);
    took(count, accept(listening, NULL, NULL));
    took(count, dup(listening));
    count->connections += 3;
    for (unsigned i = 0; i < 3; i++)
        took(count, socket(AF_INET, SOCK_STREAM, 0));
    bound_socket(count, SOCK_STREAM);
    int v6 = socket(AF_INET6, SOCK_STREAM, 0);
    if (v6 >= 0 && listen(took(count, v6), 1) == 0) /* takes a port of its own */
        count->connections++;
}

static inline void open_udp_and_unix(opened *count)
{
    int pair[2];
    int bound = bound_socket(count, SOCK_DGRAM);
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    CHECK(getsockname(bound, (struct sockaddr *)&address, &len) == 0);
    int connected = took(count, socket(AF_INET, SOCK_DGRAM, 0));
    CHECK(connect(connected, (const struct sockaddr *)&address, sizeof address) == 0);
    count->connections += 2;
    took(count, socket(AF_INET, SOCK_DGRAM, 0));
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    count->descriptors += 2;
}

static inline opened open_everything(void)
{
    opened count = {0};
    open_files(&count);
    open_tcp(&count);
    open_udp_and_unix(&count);
    return count;
}

/* Whether a socket can be connected to 127.0.0.1 here; says so when not. */
static inline bool no_loopback(void)
{
    struct sockaddr_in address = local_address(0);
    socklen_t len = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    bool works = listening >= 0 && client >= 0 &&
                 bind(listening, (const struct sockaddr *)&address, len) == 0 &&
                 listen(listening, 1) == 0 &&
                 getsockname(listening, (struct sockaddr *)&address, &len) == 0 &&
                 connect(client, (const struct sockaddr *)&address, len) == 0;
    close(listening);
    close(client);
    if (!works)
        print_message("skipped: no loopback network\n");
    return !works;
}

static inline void *sleep_on(void *argument)
{
    (void)argument;
    for (;;)
        pause();
    return NULL;
}

typedef struct other_process {
    pid_t pid;
    opened count; /* of everything it has open */
} other_process;

/* In the child: nothing open but three times /dev/null, then everything, then a sleep. */
static inline void be_other_process(int ready)
{
    int null = open("/dev/null", O_RDWR);
    CHECK(dup2(null, 0) == 0 && dup2(null, 1) == 1);
    CHECK(dup2(ready, 3) == 3); /* standard error stays until all checks are done */
    for (int fd = 4; fd < 1024; fd++)
        close(fd);
    opened count = open_everything();
    count.descriptors += 3;
    pthread_t thread;
    for (unsigned i = 0; i < OTHER_THREADS; i++)
        CHECK(pthread_create(&thread, NULL, sleep_on, NULL) == 0);
    CHECK(dup2(0, 2) == 2);
    if (write(3, &count, sizeof count) != (ssize_t)sizeof count)
        _exit(1);
    close(3);
    sleep_on(NULL);
}

static inline other_process start_other_process(void)
{
    other_process other;
    int ends[2];
    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    other.pid = fork();
    assert_true(other.pid >= 0);
    if (other.pid == 0)
        be_other_process(ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &other.count, sizeof other.count), sizeof other.count);
    char end;
    assert_int_equal(read(ends[0], &end, 1), 0); /* it has closed its end */
    close(ends[0]);
    return other;
}

static inline void stop_other_process(pid_t pid)
{
    assert_true(pid > 0); /* 0 would be all of us */
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

#endif
