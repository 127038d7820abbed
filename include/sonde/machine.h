/* SPDX-License-Identifier: Apache-2.0 */
/* A description of the machine, as Flowcept stores it with each workflow: platform, CPU, memory,
   disk, network addresses, environment, login, process, GPUs. And the place of this process in a
   parallel job. */
#ifndef SONDE_MACHINE_H
#define SONDE_MACHINE_H

#include "sonde/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, key): whose values are told of the environment; of all others only the names. LISTED: the
   variables of launchers, runtimes and GPUs (SLURM_*, OMP_*, CUDA_*, ...). ALL: every variable.
   NONE: no variable. Secrets are masked in any case. */
#define SONDE_ENVIRONMENT_MAP(X) \
    X(LISTED, "listed")          \
    X(ALL, "all")                \
    X(NONE, "none")

typedef enum sonde_environment {
#define SONDE_ENVIRONMENT_ENUM(name, key) SONDE_ENVIRONMENT_##name,
    SONDE_ENVIRONMENT_MAP(SONDE_ENVIRONMENT_ENUM)
#undef SONDE_ENVIRONMENT_ENUM
        SONDE_ENVIRONMENT_COUNT
} sonde_environment;

typedef struct sonde_machine_options {
    size_t size; /* sizeof(sonde_machine_options), set by the default */
    sonde_environment environment;
    int gpus;               /* not 0: a block for the GPUs, where there are any */
    const char *const *gpu; /* its metrics, as in sonde_capture_options; NULL: all */
    const char *root; /* NULL: this machine; else a folder holding a recorded proc/ and sys/ */
} sonde_machine_options;

#define SONDE_MACHINE_OPTIONS_DEFAULT                                          \
    {                                                                          \
        sizeof(sonde_machine_options), SONDE_ENVIRONMENT_LISTED, 0, NULL, NULL \
    }

/* The description as one JSON object, NUL-terminated; the caller frees it with free(). options
   NULL: the defaults. What cannot be read is missing, with its reason under "sonde". Takes some
   milliseconds: once per workflow, not per task. Reads the environment: not while another thread
   changes it. Fails with EINVAL (options), ENOMEM, ELIMIT. */
SONDE_API sonde_status sonde_machine_json(const sonde_machine_options *options, char **text,
                                          size_t *len);

/* Where this process stands in a parallel job, by what its launcher set: torchrun, Open MPI,
   MPICH and Intel MPI (PMI), PMIx, Slurm; the innermost counts. Numbers not known are -1. */
typedef struct sonde_job {
    char launcher[16]; /* "torchrun", "openmpi", "pmi", "pmix", "slurm"; "" */
    char id[64];       /* of the batch system, or torchrun's; "" */
    long rank;         /* of all */
    long size;         /* how many there are */
    long local_rank;   /* on this node */
    long local_size;
    long node;  /* number of this node */
    long nodes; /* how many there are */
} sonde_job;

/* EABSENT, *out untouched, outside any job. Reads the environment. */
SONDE_API sonde_status sonde_job_read(sonde_job *out);

#ifdef __cplusplus
}
#endif

#endif
