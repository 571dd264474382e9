/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/device_metrics.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "backends/cuda_values.h"
#include "base/util.h"
#include "collect/graph_nodes.h"
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "core/metric.h"
#include "wire/wire.h"

#define READER "<metric>" /* what the kernel that reads them is called, as in Triton's Proton */

/* Reasons that were told: once each, whatever the metrics are called. */
static bool is_told(const char *why)
{
	static _Atomic(const char *) told[16];
	const char *seen;

	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		seen = NULL;
		if (atomic_compare_exchange_strong(&told[i], &seen, why))
			return false;
		if (seen == why)
			return true;
	}
	return true;
}

static int refuse(const char *name, const char *why)
{
	char text[256];

	if (is_told(why))
		return -EINVAL;
	snprintf(
		text, sizeof(text),
		"metric '%.64s' lies in a GPU's memory, and is left out while a graph is captured: "
		"%s",
		name, why);
	collect_note(NOTE_WARNING, text);
	return -EINVAL;
}

/* The number of the first, whose node is the newest of this thread; 0: there is none. */
static uint32_t capture(struct thread_state *t, const struct device_numbers *d,
			const char **ret_why)
{
	uint64_t before = t->capture.node;
	uint32_t first;

	collect_hide(true);
	first = cuda_values_capture(d->stream, d->memory, (enum cuda_value_kind)d->kind, d->n,
				    ret_why);
	collect_hide(false);
	if (first && t->capture.node == before) {
		*ret_why = "CUPTI did not tell of the node that reads it";
		return 0;
	}
	return first;
}

int collect_metric_device(uint32_t node, const char *name, const struct device_numbers *d)
{
	char element[METRIC_VECTOR_NAME_MAX + 16];
	struct thread_state *t;
	const char *why;
	uint32_t first;

	if (!collect_on)
		return 0;
	if (d->kind < 0 || d->kind >= CUDA_VALUE_N_KINDS)
		return refuse(name, "no such kind of numbers");
	if (d->n > 1 && strnlen(name, METRIC_VECTOR_NAME_MAX + 1) > METRIC_VECTOR_NAME_MAX)
		return refuse(name, "the name of several numbers has at most 200 bytes");
	t = thread_state();
	if (!t->tid)
		return refuse(name, "there are too many threads");
	first = capture(t, d, &why);
	if (!first)
		return refuse(name, why);
	graph_node_call(t->capture.node, string_intern(READER, strlen(READER)));
	for (size_t i = 0; i < d->n; i++) {
		if (d->n > 1)
			metric_element_name(element, name, i);
		collect_metric_computed(node, d->n > 1 ? element : name, d->kind >= CUDA_VALUE_I64,
					first + (uint32_t)i);
	}
	return 0;
}
