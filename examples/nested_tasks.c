/* SPDX-License-Identifier: Apache-2.0 */
/* Nested tasks with inputs, outputs, a failure and a tag: what Flowcept calls a workflow with
   tasks. Usage: example_nested_tasks [FOLDER]; then: sonde dump FOLDER/nested.sonde */
#include <sonde/sonde.h>

#include <stdio.h>

static double train_step(int step)
{
    sonde_task task = sonde_task_begin(SONDE_NAME("train_step"));
    sonde_task_int(task, SONDE_USED, SONDE_NAME("step"), step);

    sonde_task forward = sonde_task_begin(SONDE_NAME("forward")); /* its parent is train_step */
    double loss = 1.0 / (step + 1);
    sonde_task_end(forward);

    sonde_task backward = sonde_task_begin(SONDE_NAME("backward"));
    if (step == 2)
        sonde_task_end_with(backward, SONDE_ERROR, "gradient is not finite");
    else
        sonde_task_end(backward);

    sonde_task_double(task, SONDE_GENERATED, SONDE_NAME("loss"), loss);
    sonde_task_end(task);
    return loss;
}

int main(int argc, char **argv)
{
    sonde_options options = SONDE_OPTIONS_DEFAULT;
    options.dir = argc > 1 ? argv[1] : "telemetry";
    options.campaign_id = "examples";
    sonde_session *session = NULL;
    sonde_status status = sonde_open("nested", &options, &session);
    if (status != SONDE_OK) {
        fprintf(stderr, "cannot record: %s\n", sonde_status_text(status));
        return 1;
    }
    sonde_task epoch = sonde_task_begin(SONDE_NAME("epoch"));
    sonde_task_tag(epoch, "demo");
    double loss = 0;
    for (int step = 0; step < 4; step++)
        loss = train_step(step);
    sonde_task_double(epoch, SONDE_GENERATED, SONDE_NAME("loss"), loss);
    sonde_task_end(epoch);
    printf("recorded in %s\n", sonde_session_path(session));
    sonde_close(session);
    return 0;
}
