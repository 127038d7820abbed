/* SPDX-License-Identifier: Apache-2.0 */
/* Prometheus-style metrics: a short name and every attribute as a label, in order of their names.
   The original does not escape label values, and so breaks the text format for some GPU names:
   kept in compat. */
#include "attributes/builders.h"

#include "base/number_format.h"

static void put_escaped(sonde_updates *updates, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n' || text[i] == '\0') { /* a NUL can stand in no text format */
            sonde__key_text(updates, text[i] ? "\\n" : "\xEF\xBF\xBD", text[i] ? 2 : 3);
            continue;
        }
        if (text[i] == '"' || text[i] == '\\')
            sonde__buf_char(&updates->keys, '\\');
        sonde__buf_char(&updates->keys, text[i]);
    }
}

static void put_gpu_type(sonde_updates *updates, const sonde_data *data,
                         const sonde__gpu_count *type)
{
    if (!type)
        SONDE__KEY_LITERAL(updates, "unknown");
    else if (data->table->compat)
        sonde__key_text(updates, type->text, type->len);
    else
        put_escaped(updates, type->text, type->len);
}

static void put_label_value(sonde_updates *updates, const sonde_data *data, int source,
                            const sonde__gpu_set *gpus)
{
    char number[SONDE__UINT_TEXT_MAX];
    switch (source) {
    case SONDE__LABEL_STATUS:
        sonde__key_text(updates, sonde__data_passed(data) ? "pass" : "fail", 4);
        return;
    case SONDE__LABEL_PRIMARY_GPU:
        put_gpu_type(updates, data, gpus->primary);
        return;
    case SONDE__LABEL_GPU_COUNT:
        sonde__key_text(updates, number, sonde__format_uint(gpus->total, number));
        return;
    default:
        sonde__key_value(updates, data, source);
        return;
    }
}

static void put_labels(sonde_updates *updates, const sonde_data *data, const sonde__gpu_set *gpus)
{
    const sonde_attributes *table = data->table;
    for (size_t i = 0; i < table->label_count; i++) {
        sonde__key_text(updates, table->labels[i].text, table->labels[i].len);
        put_label_value(updates, data, table->labels[i].source, gpus);
        sonde__buf_char(&updates->keys, '"');
    }
    sonde__buf_char(&updates->keys, '}');
}

/* A metric with the labels that stand at labels (len bytes of keys). */
static void put_timed(sonde_updates *updates, const char *name, size_t name_len, size_t labels,
                      size_t len, size_t times)
{
    sonde__key_begin(updates);
    sonde__key_text(updates, name, name_len);
    if (sonde__buf_reserve(&updates->keys, len))
        sonde__key_text(updates, updates->keys.data + labels, len);
    sonde__key_end(updates, SONDE__OP_SUM, true, (int64_t)times);
}

static void count_type(sonde_updates *updates, const sonde_data *data, const sonde__gpu_count *type)
{
    sonde__key_begin(updates);
    SONDE__KEY_LITERAL(updates, "tao_job_gpu_total{tao_gpu_type=\"");
    put_gpu_type(updates, data, type);
    SONDE__KEY_LITERAL(updates, "\"}");
    sonde__key_end(updates, SONDE__OP_SUM, false, type->count);
}

static sonde_status labeled_build(void *user, const sonde_data *data,
                                  const sonde_build_context *context, sonde_updates *updates)
{
    static const char duration[] = "tao_job_duration_sum";
    static const char gpu_time[] = "tao_job_gpu_time_sum";
    (void)user;
    (void)context;
    const sonde__gpu_set *gpus = sonde__updates_gpus(updates, data);
    if (!gpus)
        return updates->status;
    sonde__key_begin(updates);
    SONDE__KEY_LITERAL(updates, "tao_job_total");
    size_t labels = updates->keys.len;
    put_labels(updates, data, gpus);
    size_t len = updates->keys.len - labels;
    sonde__key_end(updates, SONDE__OP_SUM, false, 1);

    sonde__number time;
    if (!sonde__data_time(data, &time))
        return sonde_updates_fail(updates, SONDE_EBADDATA, "time_lapsed is not a number");
    if (sonde__number_real(time) > 0) {
        put_timed(updates, duration, sizeof duration - 1, labels, len, 1);
        put_timed(updates, gpu_time, sizeof gpu_time - 1, labels, len, gpus->total);
    }
    for (size_t i = 0; i < gpus->type_count; i++)
        count_type(updates, data, &gpus->types[i]);
    return updates->status;
}

const sonde__builtin sonde__builder_labeled = {
    .builder = {.name = "labeled", .build = labeled_build},
    .needs = 1u << SONDE__ROLE_SUCCESS | 1u << SONDE__ROLE_TIME | 1u << SONDE__ROLE_GPUS,
};
