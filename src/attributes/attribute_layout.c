/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same for every record, worked out once per table: defaults in place, the order of the
   comprehensive name, the labels in order with their punctuation. */
#include "attributes/attribute_table.h"

#include "base/number_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sonde_status put_list(sonde_data *data, size_t index, const char *text)
{
    sonde__data_begin_list(data, index);
    sonde_status status = SONDE_OK;
    while (*text && status == SONDE_OK) {
        size_t len = strcspn(text, ",");
        status = sonde__data_add_item(data, index, text, len);
        text += len;
        text += *text == ',';
    }
    return status;
}

static sonde_status put_default(sonde_data *data, size_t index, const sonde__row *row)
{
    int64_t number = 0;
    switch (row->view.type) {
    case SONDE_ATTRIBUTE_BOOLEAN:
        sonde__data_put_number(data, index, SONDE__DATUM_BOOL, strcmp(row->standard, "true") == 0,
                               0);
        return SONDE_OK;
    case SONDE_ATTRIBUTE_INTEGER:
        sonde__parse_int(row->standard, strlen(row->standard), &number);
        sonde__data_put_number(data, index, SONDE__DATUM_INT, number, 0);
        return SONDE_OK;
    case SONDE_ATTRIBUTE_LIST:
        return put_list(data, index, row->standard);
    default:
        return sonde__data_put_text(data, index, row->standard, strlen(row->standard), true);
    }
}

/* Stable by metric_order. */
static void order_names(sonde_attributes *attributes)
{
    size_t count = 0;
    for (size_t i = 0; i < attributes->count; i++) {
        const sonde_attribute *row = &attributes->rows[i].view;
        if (!row->include_in_comprehensive)
            continue;
        size_t at = count++;
        while (at > 0 &&
               attributes->rows[attributes->named[at - 1]].view.metric_order > row->metric_order) {
            attributes->named[at] = attributes->named[at - 1];
            at--;
        }
        attributes->named[at] = (int)i;
        attributes->time_is_named |= (int)i == attributes->roles[SONDE__ROLE_TIME];
    }
    attributes->named_count = count;
}

static void add_label(sonde_attributes *attributes, int source, const char *name)
{
    sonde__label *label = &attributes->labels[attributes->label_count++];
    label->source = source;
    label->len = (size_t)snprintf(label->text, sizeof label->text, ",tao_%s=\"", name);
}

/* By byte order of the names; '=' sorts behind digits and before letters, but the original compares
   names without it. */
static int compare_labels(const void *a, const void *b)
{
    const sonde__label *left = a;
    const sonde__label *right = b;
    size_t left_len = strcspn(left->text, "=");
    size_t right_len = strcspn(right->text, "=");
    int order = memcmp(left->text, right->text, left_len < right_len ? left_len : right_len);
    return order ? order : (left_len > right_len) - (left_len < right_len);
}

static void order_labels(sonde_attributes *attributes)
{
    attributes->label_count = 0;
    for (size_t i = 0; i < attributes->count; i++) {
        const sonde__row *row = &attributes->rows[i];
        bool is_label = row->view.type != SONDE_ATTRIBUTE_LIST &&
                        (int)i != attributes->roles[SONDE__ROLE_SUCCESS] &&
                        (int)i != attributes->roles[SONDE__ROLE_TIME];
        if (is_label)
            add_label(attributes, (int)i, row->name);
    }
    add_label(attributes, SONDE__LABEL_STATUS, "status");
    add_label(attributes, SONDE__LABEL_PRIMARY_GPU, "primary_gpu");
    add_label(attributes, SONDE__LABEL_GPU_COUNT, "gpu_count");
    qsort(attributes->labels, attributes->label_count, sizeof attributes->labels[0],
          compare_labels);
    attributes->labels[0].text[0] = '{';
}

static sonde_status lay_out(sonde_attributes *attributes)
{
    sonde_data *defaults = &attributes->defaults;
    for (size_t i = 0; i < attributes->count; i++) {
        sonde_status status = put_default(defaults, i, &attributes->rows[i]);
        if (status != SONDE_OK)
            return status;
    }
    for (size_t i = 0; i < SONDE__ROLE_COUNT; i++)
        attributes->roles[i] = sonde_attributes_find(attributes, sonde__roles[i].name);
    order_names(attributes);
    order_labels(attributes);
    return SONDE_OK;
}

sonde_status sonde__attributes_freeze(sonde_attributes *attributes)
{
    pthread_mutex_lock(&attributes->lock);
    sonde_status status = attributes->frozen ? SONDE_OK : lay_out(attributes);
    if (status == SONDE_OK)
        attributes->frozen = true;
    pthread_mutex_unlock(&attributes->lock);
    return status;
}
