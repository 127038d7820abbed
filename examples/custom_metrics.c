/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, gauges and histograms of one's own: PyVeda's "Custom Metrics" block, with labels.
   Build: cc custom_metrics.c $(pkg-config --cflags --libs sonde) */
#include <sonde/sonde.h>

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    /* handles are looked up once */
    sonde_counter *requests = sonde_counter_get("http_requests_total", "Total HTTP requests", NULL);
    sonde_gauge *connections = sonde_gauge_get("active_connections", "Active connections", NULL);
    sonde_histogram *duration =
        sonde_histogram_get("request_duration_ms", "Request duration", NULL);
    sonde_family *responses = sonde_counter_family("http_responses_total", "By method and code",
                                                   SONDE_KEYS("method", "code"));

    sonde_counter_inc(requests);
    sonde_counter_add(requests, 5);
    sonde_gauge_set(connections, 42);
    sonde_gauge_inc(connections);
    sonde_gauge_dec(connections);
    sonde_histogram_observe(duration, 12.5);
    sonde_histogram_observe(duration, 45.2);
    sonde_counter_inc(sonde_counter_with(responses, SONDE_VALUES("GET", "200")));
    sonde_counter_inc(sonde_counter_with(responses, SONDE_VALUES("GET", "404")));
    sonde_counter_inc(sonde_counter_with(responses, SONDE_VALUES("GET", "200")));

    printf("requests: %" PRIu64 "\n", sonde_counter_value(requests));
    printf("connections: %.0f\n", sonde_gauge_value(connections));
    printf("p95: %.1f ms, mean: %.2f ms, count: %" PRIu64 "\n",
           sonde_histogram_percentile(duration, 95), sonde_histogram_mean(duration),
           sonde_histogram_count(duration));

    /* everything there is, for an exporter */
    sonde_metric_set *set = sonde_metric_set_create();
    if (!set || sonde_metric_set_collect(set) != SONDE_OK)
        return 1;
    for (size_t i = 0; i < sonde_metric_set_count(set); i++) {
        const sonde_metric *metric = sonde_metric_set_at(set, i);
        if (metric->kind != SONDE_METRIC_COUNTER)
            continue;
        printf("%s", metric->name);
        for (size_t n = 0; n < metric->label_count; n++)
            printf(" %s=%s", metric->labels[n].key, metric->labels[n].value);
        printf(" %" PRIu64 "\n", metric->counter);
    }
    sonde_metric_set_destroy(set);
    return 0;
}
