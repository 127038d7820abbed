/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"

#include "base/errno_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *copy_text(sonde__text text)
{
    char *copy = malloc(text.len + 1);
    if (!copy)
        return NULL;
    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return copy;
}

void sonde__kept_fill(sonde__kept *kept, const sonde__packet *packet, uint64_t order)
{
    char number[SONDE__PACKET_NUMBER_BYTES];
    *kept = (sonde__kept){
        .operation = copy_text(packet->operation),
        .device = copy_text(packet->device),
        .packet_id = copy_text(sonde__packet_id_text(packet, number)),
        .error = copy_text(packet->error),
        .layer = packet->layer,
        .duration_ns = packet->duration_ns,
        .order = order,
    };
}

static void free_kept(sonde__kept *kept)
{
    free(kept->operation);
    free(kept->device);
    free(kept->packet_id);
    free(kept->error);
}

static void free_list(sonde__kept_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_kept(&list->items[i]);
    free(list->items);
    *list = (sonde__kept_list){0};
}

static bool init_list(sonde__kept_list *list, size_t max)
{
    list->items = calloc(max, sizeof *list->items);
    list->max = list->items ? max : 0;
    return list->items != NULL;
}

/* Among equals the earlier one stands first, as a stable sort has it. */
static void offer_slowest(sonde__kept_list *list, const sonde__packet *packet, uint64_t order)
{
    size_t at = list->count;
    while (at > 0 && list->items[at - 1].duration_ns < packet->duration_ns)
        at--;
    if (at >= list->max)
        return;
    if (list->count == list->max)
        free_kept(&list->items[--list->count]);
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
    sonde__kept_fill(&list->items[at], packet, order);
    list->count++;
}

void sonde__analysis_add(sonde__analysis *analysis, const sonde__packet *packet)
{
    uint64_t order = analysis->tally.packets;
    sonde__tally_add(&analysis->tally, packet);
    sonde__kept_list *slowest = &analysis->slowest, *failed = &analysis->failed;
    if (!packet->success) {
        if (failed->count < failed->max)
            sonde__kept_fill(&failed->items[failed->count++], packet, order);
    } else if (slowest->count < slowest->max ||
               (slowest->max > 0 &&
                packet->duration_ns > slowest->items[slowest->count - 1].duration_ns)) {
        offer_slowest(slowest, packet, order);
    }
}

static bool ends_with(const char *text, const char *suffix)
{
    size_t len = strlen(text), suffix_len = strlen(suffix);
    return len > suffix_len && strcmp(text + len - suffix_len, suffix) == 0;
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* path with another suffix, when it has the one given. */
static bool change_suffix(const char *path, const char *from, const char *to, char *out)
{
    size_t stem = strlen(path) - strlen(from);
    if (!ends_with(path, from) || stem + strlen(to) >= SONDE__ANALYSIS_PATH_MAX)
        return false;
    snprintf(out, SONDE__ANALYSIS_PATH_MAX, "%.*s%s", (int)stem, path, to);
    return true;
}

/* Whether the file begins like a journal; its name may be anything. */
static sonde_status looks_like_journal(const char *path, bool *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return sonde__status_of_errno(errno);
    char magic[4] = "";
    ssize_t got = read(fd, magic, sizeof magic);
    int error = errno;
    close(fd);
    if (got < 0)
        return sonde__status_of_errno(error);
    *out = ends_with(path, ".sonde") || (got == 4 && memcmp(magic, "SNDF", 4) == 0);
    return SONDE_OK;
}

/* Finds the files of the session that path belongs to. */
static sonde_status locate(sonde__analysis *analysis, const char *path)
{
    char other[SONDE__ANALYSIS_PATH_MAX];
    size_t path_len = strlen(path);
    if (path_len >= sizeof analysis->path)
        return SONDE_ELIMIT;
    memcpy(analysis->path, path, path_len + 1);
    if ((change_suffix(path, ".json", ".sonde", other) && is_file(other)) ||
        (change_suffix(path, ".json", ".csv", other) && is_file(other)))
        memcpy(analysis->path, other, strlen(other) + 1);
    sonde_status status = looks_like_journal(analysis->path, &analysis->from_journal);
    if (status != SONDE_OK)
        return status;
    const char *suffix = ends_with(analysis->path, ".sonde") ? ".sonde" : ".csv";
    change_suffix(analysis->path, suffix, ".json", analysis->json_path);
    if (!analysis->from_journal)
        memcpy(analysis->csv_path, analysis->path, sizeof analysis->csv_path);
    else if (!change_suffix(analysis->path, suffix, ".csv", analysis->csv_path) ||
             !is_file(analysis->csv_path))
        analysis->csv_path[0] = '\0';
    const char *slash = strrchr(analysis->path, '/');
    const char *name = slash ? slash + 1 : analysis->path;
    size_t len = strlen(name) - (ends_with(name, suffix) ? strlen(suffix) : 0);
    snprintf(analysis->session_name, sizeof analysis->session_name, "%.*s",
             (int)(len > 255 ? 255 : len), name);
    return SONDE_OK;
}

sonde_status sonde__analyze(const char *path, size_t top, sonde__analysis *analysis)
{
    memset(analysis, 0, sizeof *analysis);
    sonde__tally_init(&analysis->tally, SONDE__TALLY_ALL);
    sonde_status status = locate(analysis, path);
    if (status != SONDE_OK) {
        snprintf(analysis->error, sizeof analysis->error, "%.300s: %s", path,
                 status == SONDE_EABSENT ? "there is no such file" : sonde_status_text(status));
        return status;
    }
    if (top > SONDE__ANALYSIS_TOP_MAX)
        top = SONDE__ANALYSIS_TOP_MAX;
    if (!init_list(&analysis->slowest, top) ||
        !init_list(&analysis->failed, SONDE__ANALYSIS_FAILED_KEPT) ||
        !init_list(&analysis->open, SONDE__ANALYSIS_OPEN_KEPT)) {
        snprintf(analysis->error, sizeof analysis->error, "out of memory");
        return SONDE_ENOMEM;
    }
    sonde__analysis_read_summary(analysis);
    return analysis->from_journal ? sonde__analyze_journal(analysis) : sonde__analyze_csv(analysis);
}

void sonde__analysis_free(sonde__analysis *analysis)
{
    sonde__tally_free(&analysis->tally);
    free_list(&analysis->slowest);
    free_list(&analysis->failed);
    free_list(&analysis->open);
    free(analysis->run_json);
    analysis->run_json = NULL;
}
