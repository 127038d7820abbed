/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a machine and the place in a job, by the calls of C; its shape is tested with
   the command line. */
#include "capture_test.h"

#include "base/json_read.h"
#include "sonde/machine.h"

static void set_all(const char *const (*variables)[2], size_t count)
{
    assert_int_equal(clearenv(), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(setenv(variables[i][0], variables[i][1], 1), 0);
}

static char *describe(sonde_environment environment)
{
    sonde_machine_options options = SONDE_MACHINE_OPTIONS_DEFAULT;
    options.environment = environment;
    char *text = NULL;
    size_t len = 0;
    assert_int_equal(sonde_machine_json(&options, &text, &len), SONDE_OK);
    assert_int_equal(strlen(text), len);
    sonde__json_reader reader;
    sonde__json_reader_init(&reader, text, len);
    assert_true(sonde__json_skip(&reader));
    assert_int_equal(sonde__json_next(&reader), SONDE__JSON_END);
    return text;
}

static void assert_holds(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("%s is not in %s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("%s is in %s", part, text);
}

static void environment_by_list(void **state)
{
    (void)state;
    static const char *const variables[][2] = {
        {"SLURM_JOB_ID", "77"}, {"OMP_NUM_THREADS", "4"},     {"SLURM_JWT", "very secret"},
        {"PATH", "/some/path"}, {"API_TOKEN", "also secret"}, {"NCCL_URL", "tcp://me:hidden@h:1"}};
    set_all(variables, COUNT_OF(variables));
    char *text = describe(SONDE_ENVIRONMENT_LISTED);
    assert_holds(text, "\"SLURM_JOB_ID\":\"77\"");
    assert_holds(text, "\"OMP_NUM_THREADS\":\"4\"");
    assert_holds(text, "\"SLURM_JWT\":\"***\"");
    assert_holds(text, "\"PATH\":null");
    assert_holds(text, "\"API_TOKEN\":null");
    assert_holds(text, "\"NCCL_URL\":\"tcp://***@h:1\"");
    free(text);
    text = describe(SONDE_ENVIRONMENT_ALL);
    assert_holds(text, "\"PATH\":\"/some/path\"");
    assert_holds(text, "\"API_TOKEN\":\"***\"");
    assert_lacks(text, "secret\"");
    assert_lacks(text, "hidden");
    free(text);
    text = describe(SONDE_ENVIRONMENT_NONE);
    assert_holds(text, "\"environment\":{}");
    free(text);
}

static void options_are_checked(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len = 0;
    sonde_machine_options options = SONDE_MACHINE_OPTIONS_DEFAULT;
    options.size--;
    assert_int_equal(sonde_machine_json(&options, &text, &len), SONDE_EINVAL);
    options = (sonde_machine_options)SONDE_MACHINE_OPTIONS_DEFAULT;
    options.environment = SONDE_ENVIRONMENT_COUNT;
    assert_int_equal(sonde_machine_json(&options, &text, &len), SONDE_EINVAL);
    assert_null(text);
    assert_int_equal(sonde_machine_json(NULL, &text, &len), SONDE_OK);
    free(text);
}

/* A recorded machine: no system calls stand in for its files. */
static void recorded_machine(void **state)
{
    (void)state;
    sonde_machine_options options = SONDE_MACHINE_OPTIONS_DEFAULT;
    options.root = FIXTURES "aarch64";
    char *text = NULL;
    size_t len = 0;
    assert_int_equal(sonde_machine_json(&options, &text, &len), SONDE_OK);
    assert_holds(text, "\"network\":\"unsupported\"");
    assert_holds(text, "\"vendor_id_raw\":\"ARM\"");
    assert_lacks(text, "\"hostname\"");
    free(text);
}

static void assert_job(const sonde_job *job, const char *launcher, const char *id, long rank,
                       long size, long local_rank)
{
    assert_string_equal(job->launcher, launcher);
    assert_string_equal(job->id, id);
    assert_int_equal(job->rank, rank);
    assert_int_equal(job->size, size);
    assert_int_equal(job->local_rank, local_rank);
}

static void ranks_of_each_launcher(void **state)
{
    (void)state;
    sonde_job job;
    static const char *const slurm[][2] = {{"SLURM_JOB_ID", "9"}, {"SLURM_PROCID", "3"},
                                           {"SLURM_NTASKS", "8"}, {"SLURM_LOCALID", "1"},
                                           {"SLURM_NODEID", "1"}, {"SLURM_NNODES", "2"}};
    set_all(slurm, COUNT_OF(slurm));
    assert_int_equal(sonde_job_read(&job), SONDE_OK);
    assert_job(&job, "slurm", "9", 3, 8, 1);
    assert_true(job.node == 1 && job.nodes == 2 && job.local_size == -1);
    setenv("OMPI_COMM_WORLD_RANK", "5", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "6", 1);
    assert_int_equal(sonde_job_read(&job), SONDE_OK);
    assert_job(&job, "openmpi", "9", 5, 6, -1); /* the innermost; the node is still Slurm's */
    assert_true(job.node == 1 && job.nodes == 2);
    static const char *const torch[][2] = {
        {"TORCHELASTIC_RUN_ID", "run-1"}, {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}};
    set_all(torch, COUNT_OF(torch));
    assert_int_equal(sonde_job_read(&job), SONDE_OK);
    assert_job(&job, "torchrun", "run-1", 0, 2, 0);
    static const char *const pmi[][2] = {
        {"PMI_RANK", "7"}, {"PMI_SIZE", "x"}, {"MPI_LOCALRANKID", "-3"}};
    set_all(pmi, COUNT_OF(pmi));
    assert_int_equal(sonde_job_read(&job), SONDE_OK);
    assert_job(&job, "pmi", "", 7, -1, -1);
}

static void outside_a_job(void **state)
{
    (void)state;
    static const char *const rank_alone[][2] = {{"RANK", "1"}, {"WORLD_SIZE", "2"}};
    set_all(rank_alone, COUNT_OF(rank_alone)); /* anybody may have a variable of that name */
    sonde_job job = {.rank = 42};
    assert_int_equal(sonde_job_read(&job), SONDE_EABSENT);
    assert_int_equal(job.rank, 42);
    char *text = describe(SONDE_ENVIRONMENT_LISTED);
    assert_lacks(text, "\"job\"");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_by_list), cmocka_unit_test(options_are_checked),
        cmocka_unit_test(recorded_machine),    cmocka_unit_test(ranks_of_each_launcher),
        cmocka_unit_test(outside_a_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
