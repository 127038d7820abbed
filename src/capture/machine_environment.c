/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the process. Flowcept stores every variable in clear; here a list says whose
   values are told: those that explain how a parallel or GPU program was started. */
#include "base/mask.h"
#include "capture/machine_part.h"

enum { VALUE_BYTES_MAX = 1 << 20 };

/* Names that end with * stand for all that begin so. */
static const char *const listed[] = {"SLURM_*",
                                     "PBS_*",
                                     "LSB_*",
                                     "SGE_*",
                                     "JOB_ID",
                                     "CUDA_*",
                                     "NVIDIA_*",
                                     "ROCR_*",
                                     "HIP_*",
                                     "HSA_*",
                                     "ROCM_*",
                                     "GPU_DEVICE_ORDINAL",
                                     "OMP_*",
                                     "GOMP_*",
                                     "KMP_*",
                                     "MKL_*",
                                     "OPENBLAS_*",
                                     "BLIS_*",
                                     "OMPI_COMM_*",
                                     "PMI_*",
                                     "PMIX_RANK",
                                     "MPI_*",
                                     "MPICH_*",
                                     "I_MPI_*",
                                     "NCCL_*",
                                     "RCCL_*",
                                     "UCX_*",
                                     "FI_*",
                                     "TORCH*",
                                     "PYTORCH_*",
                                     "XLA_*",
                                     "TF_CPP_*",
                                     "TF_GPU_*",
                                     "TF_NUM_*",
                                     "TF_XLA_*",
                                     "JAX_*",
                                     "RANK",
                                     "WORLD_SIZE",
                                     "LOCAL_RANK",
                                     "GROUP_RANK",
                                     "ROLE_RANK",
                                     "MASTER_ADDR",
                                     "MASTER_PORT",
                                     "LOCAL_WORLD_SIZE",
                                     "LANG",
                                     "LC_*",
                                     "TZ",
                                     "HOSTNAME",
                                     "CONDA_DEFAULT_ENV",
                                     "VIRTUAL_ENV",
                                     "PYTHONHASHSEED",
                                     "MALLOC_*",
                                     "SONDE_*",
                                     NULL};

bool sonde__environment_lists(const char *name, size_t len)
{
    for (size_t i = 0; listed[i]; i++) {
        size_t known = strlen(listed[i]);
        bool open = listed[i][known - 1] == '*';
        known -= open;
        if ((open ? len >= known : len == known) && memcmp(name, listed[i], known) == 0)
            return true;
    }
    return false;
}

const char *sonde__environment_get(const char *const *variables, const char *name)
{
    size_t len = strlen(name);
    for (; *variables; variables++)
        if (strncmp(*variables, name, len) == 0 && (*variables)[len] == '=')
            return *variables + len + 1;
    return NULL;
}

/* name: NUL-terminated copy, because masking wants one. */
static void write_value(sonde__json *json, const char *name, const char *value)
{
    sonde__buf shown;
    sonde__buf_init(&shown, VALUE_BYTES_MAX);
    sonde__mask_value(name, value, &shown);
    if (shown.status == SONDE_OK)
        sonde__json_string_n(json, shown.data ? shown.data : "", shown.len);
    else
        sonde__json_null(json);
    sonde__buf_free(&shown);
}

static void write_variable(sonde__json *json, const char *variable, sonde_environment which,
                           sonde__buf *name)
{
    const char *equals = strchr(variable, '=');
    size_t len = equals ? (size_t)(equals - variable) : 0;
    if (len == 0)
        return;
    sonde__buf_clear(name);
    sonde__buf_append(name, variable, len);
    sonde__buf_char(name, '\0');
    if (name->status != SONDE_OK)
        return;
    sonde__json_key_n(json, variable, len);
    if (which == SONDE_ENVIRONMENT_ALL || sonde__environment_lists(variable, len))
        write_value(json, name->data, equals + 1);
    else
        sonde__json_null(json);
}

void sonde__machine_write_environment(sonde__json *json, const char *const *variables,
                                      sonde_environment which)
{
    sonde__buf name;
    sonde__buf_init(&name, VALUE_BYTES_MAX);
    sonde__json_key(json, "environment");
    sonde__json_begin_object(json);
    for (; which != SONDE_ENVIRONMENT_NONE && *variables; variables++)
        write_variable(json, *variables, which, &name);
    sonde__json_end_object(json);
    sonde__buf_free(&name);
}
