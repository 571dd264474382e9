/* SPDX-License-Identifier: MIT */
/* Our own cost of a CUDA launch, without a GPU: the ENTER and EXIT callbacks of the backend as
 * CUPTI would call them, against an immediate return. Blocks of 10,000 launches alternate between
 * the two; what counts is the median of the differences of the pairs.
 *
 *   cupti_launch MOCK_LIBCUPTI [pairs [no-idle | api]]      prints one line of JSON
 *
 * no-idle: without the times of launches; api: of launches by the runtime, all calls of which are timed. */
#include "config.h" // IWYU pragma: keep

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cupti.h"
#include "base/clock.h"
#include "base/util.h"

enum { BLOCK = 10000, N_PAIRS_MAX = 1000 };

static uint64_t n_launches;

static uint32_t sink_launch(struct activity_sink *sink, const void *what)
{
	n_launches++;
	return 1;
}

static void sink_unlaunch(struct activity_sink *sink, uint64_t n)
{
	n_launches -= n;
}

static void sink_record(struct activity_sink *sink, const struct activity *a)
{
}

static void sink_lose(struct activity_sink *sink, enum loss loss, uint64_t n)
{
}

static void sink_device(struct activity_sink *sink, const struct device_info *info)
{
}

static void sink_note(struct activity_sink *sink, const char *text)
{
	fprintf(stderr, "cupti_launch: %s\n", text);
}

static void sink_connect(struct activity_sink *sink)
{
}

static const struct activity_sink_ops ops = {
	.launch = sink_launch,
	.record = sink_record,
	.unlaunch = sink_unlaunch,
	.lose = sink_lose,
	.device = sink_device,
	.note = sink_note,
	.connect = sink_connect,
};

static double block(void *backend, uint32_t first, bool runtime)
{
	abi_callback_fn callback = cupti_callback_for(backend);
	uint32_t result = 0;
	struct abi_call call = {.function = "launch", .result = &result};
	uint64_t start_ns = clock_monotonic_ns();

	for (uint32_t i = 0; i < BLOCK; i++) {
		call.site = ABI_ENTER;
		call.correlation = first + i;
		if (runtime)
			callback(backend, ABI_DOMAIN_RUNTIME, 211, &call);
		callback(backend, ABI_DOMAIN_DRIVER, 307, &call);
		call.site = ABI_EXIT;
		callback(backend, ABI_DOMAIN_DRIVER, 307, &call);
		if (runtime)
			callback(backend, ABI_DOMAIN_RUNTIME, 211, &call);
	}
	return (double)(clock_monotonic_ns() - start_ns) / BLOCK;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	bool api = argc > 3 && !strcmp(argv[3], "api");
	struct backend_options options = {
		.count_launches = true, .no_idle = argc > 3 && !api, .api = api};
	struct activity_sink sink = {.ops = &ops};
	int n_pairs = argc > 2 ? CLAMP(atoi(argv[2]), 1, N_PAIRS_MAX) : 50;
	static double difference[N_PAIRS_MAX];
	struct cupti *c;
	void *state;

	if (argc < 2) {
		fprintf(stderr, "usage: cupti_launch MOCK_LIBCUPTI [pairs [no-idle | api]]\n");
		return 2;
	}
	setenv("PROTON_CUPTI_PATH", argv[1], 1);
	if (backend_cupti.start(&options, &sink, &state) < 0)
		return 1;
	c = state;
	for (int i = 0; i < n_pairs; i++) {
		double with = block(c, (uint32_t)i * BLOCK + 1, api);

		atomic_store(&c->phase, CUPTI_OFF); /* the callback returns at once */
		difference[i] = with - block(c, 1, api);
		atomic_store(&c->phase, CUPTI_RUNNING);
	}
	qsort(difference, (size_t)n_pairs, sizeof(difference[0]), by_value);
	printf("{\"bench\": \"cupti_launch\", \"pairs\": %d, \"ns_min\": %.1f, \"ns_median\": "
	       "%.1f, "
	       "\"ns_p90\": %.1f}\n",
	       n_pairs, difference[0], difference[n_pairs / 2], difference[n_pairs * 9 / 10]);
	return 0;
}
