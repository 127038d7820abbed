/* SPDX-License-Identifier: Apache-2.0 */
/* Rank and job from the environment. A torchrun below mpirun below srun leaves all three sets of
   variables; the one started last knows this process best. */
#include "capture/machine_part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS = 6 };

typedef struct launcher {
    const char *name;
    const char *mark;              /* it is this launcher when the variable is set */
    const char *variable[NUMBERS]; /* rank, size, local rank, local size, node, nodes; NULL: none */
} launcher;

static const launcher launchers[] = {
    {"torchrun",
     "TORCHELASTIC_RUN_ID",
     {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE"}},
    {"openmpi",
     "OMPI_COMM_WORLD_RANK",
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
      "OMPI_COMM_WORLD_LOCAL_SIZE", NULL, NULL}},
    {"pmi", "PMI_RANK", {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", NULL, NULL}},
    {"pmix", "PMIX_RANK", {"PMIX_RANK", NULL, NULL, NULL, NULL, NULL}},
    {"slurm",
     "SLURM_PROCID",
     {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", NULL, "SLURM_NODEID", "SLURM_NNODES"}},
};

static long read_number(const char *const *variables, const char *name)
{
    const char *text = name ? sonde__environment_get(variables, name) : NULL;
    char *end;
    if (!text)
        return -1;
    errno = 0;
    long value = strtol(text, &end, 10);
    return end == text || *end || errno || value < 0 ? -1 : value;
}

static void read_id(const char *const *variables, sonde_job *job)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
                                        "TORCHELASTIC_RUN_ID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *id = sonde__environment_get(variables, names[i]);
        if (!id || !*id)
            continue;
        snprintf(job->id, sizeof job->id, "%s", id);
        return;
    }
}

static sonde_status read_job(const char *const *variables, sonde_job *out)
{
    sonde_job job = {
        .rank = -1, .size = -1, .local_rank = -1, .local_size = -1, .node = -1, .nodes = -1};
    long *number[NUMBERS] = {&job.rank,       &job.size, &job.local_rank,
                             &job.local_size, &job.node, &job.nodes};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (!sonde__environment_get(variables, launchers[i].mark))
            continue;
        if (!job.launcher[0])
            snprintf(job.launcher, sizeof job.launcher, "%s", launchers[i].name);
        for (unsigned n = 0; n < NUMBERS; n++) /* node numbers may be known to an outer one only */
            if (*number[n] < 0 && (n >= 4 || strcmp(job.launcher, launchers[i].name) == 0))
                *number[n] = read_number(variables, launchers[i].variable[n]);
    }
    read_id(variables, &job);
    if (!job.launcher[0] && !job.id[0])
        return SONDE_EABSENT;
    *out = job;
    return SONDE_OK;
}

sonde_status sonde_job_read(sonde_job *out)
{
    return read_job((const char *const *)environ, out);
}

void sonde__machine_write_job(sonde__json *json, const char *const *variables)
{
    sonde_job job;
    if (read_job(variables, &job) != SONDE_OK)
        return;
    const struct {
        const char *key;
        long value;
    } numbers[NUMBERS] = {{"rank", job.rank},
                          {"size", job.size},
                          {"local_rank", job.local_rank},
                          {"local_size", job.local_size},
                          {"node", job.node},
                          {"nodes", job.nodes}};
    sonde__json_key(json, "job");
    sonde__json_begin_object(json);
    sonde__json_key(json, "launcher");
    job.launcher[0] ? sonde__json_string(json, job.launcher) : sonde__json_null(json);
    sonde__json_key(json, "id");
    job.id[0] ? sonde__json_string(json, job.id) : sonde__json_null(json);
    for (unsigned i = 0; i < NUMBERS; i++) {
        sonde__json_key(json, numbers[i].key);
        numbers[i].value >= 0 ? sonde__json_int(json, numbers[i].value) : sonde__json_null(json);
    }
    sonde__json_end_object(json);
}
