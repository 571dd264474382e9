/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/launch_rows.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/samples.h"

void launch_rows_done(struct launch_rows *rows)
{
	free(rows->v);
	*rows = (struct launch_rows){0};
}

/* ---- what one means ---- */

/* The compute capability of a device; 0: it has none, or it is not known. */
static unsigned capability(const struct session *s, const struct session_device *d)
{
	return strcmp(session_text(s, d->type), "CUDA")
		       ? 0
		       : (unsigned)strtoul(session_text(s, d->arch), NULL, 10);
}

const struct sm_limits *session_sm_limits(const struct session *s, uint32_t device)
{
	return device < s->n_devices ? sm_limits_find(capability(s, &s->devices[device])) : NULL;
}

struct occupancy session_config_occupancy(const struct session *s, const struct session_config *c)
{
	unsigned n_sms = c->device < s->n_devices ? s->devices[c->device].num_sms : 0;

	return occupancy_of(&c->of, session_sm_limits(s, c->device), n_sms);
}

/* Without registers nothing but the shape is known. */
static double or_unknown(const struct launch_config *c, double v)
{
	return c->registers ? v : NAN;
}

double launch_registers(const struct launch_config *c)
{
	return or_unknown(c, c->registers);
}

double launch_shared(const struct launch_config *c)
{
	return or_unknown(c, (double)c->static_shared + c->dynamic_shared);
}

double launch_local(const struct launch_config *c)
{
	return c->local == LAUNCH_LOCAL_UNKNOWN ? NAN : or_unknown(c, c->local);
}

const char *launch_extent_text(const uint32_t of[3], char out[LAUNCH_EXTENT_TEXT])
{
	unsigned n = of[2] > 1 ? 3 : of[1] > 1 ? 2 : 1;
	size_t at = 0;

	if (!of[0])
		n = 0;
	snprintf(out, LAUNCH_EXTENT_TEXT, "-");
	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(out + at, LAUNCH_EXTENT_TEXT - at, "%s%u", i ? "x" : "",
				       of[i]);
	return out;
}

/* ---- rows ---- */

static int by_what(const void *x, const void *y)
{
	const struct launch_row *a = x, *b = y;
	int by = COMPARE(a->function, b->function);

	by = by ? by : COMPARE(a->device, b->device);
	by = by ? by : memcmp(&a->of, &b->of, sizeof(a->of));
	/* The first of those that are one row has its node. */
	by = by ? by : -COMPARE(a->time_ns, b->time_ns);
	return by ? by : COMPARE(a->node, b->node);
}

static int by_time(const void *x, const void *y)
{
	const struct launch_row *a = x, *b = y;
	int by = -COMPARE(a->time_ns, b->time_ns);

	by = by ? by : COMPARE(a->node, b->node);
	return by ? by : by_what(a, b);
}

static bool is_alike(const struct session_device *a, const struct session_device *b)
{
	return a->type == b->type && a->arch == b->arch && a->num_sms == b->num_sms;
}

static uint32_t first_alike(const struct session *s, uint32_t device)
{
	uint32_t i = 0;

	while (device < s->n_devices && i < device &&
	       !is_alike(&s->devices[i], &s->devices[device]))
		i++;
	return MIN(i, device);
}

/* The context of the picture that it counts in; SNAP_NONE: in none. */
static uint32_t node_of(struct numbers *numbers, const struct session_config *c)
{
	const struct session_hist of = {
		.node = c->node, .device = c->device, .process = c->process};
	uint32_t node, iter = 0;

	do
		node = hist_next_node(numbers_snapshot(numbers), &of, &iter);
	while (node != SNAP_NONE && !numbers_counts(numbers, node));
	return node;
}

static int add(struct launch_rows *rows, struct numbers *numbers, const uint32_t *functions,
	       const struct session_config *c)
{
	const struct session *s = snapshot_session(numbers_snapshot(numbers));
	uint32_t node = c->count ? node_of(numbers, c) : SNAP_NONE;

	if (node == SNAP_NONE)
		return 0;
	if (ARRAY_ROOM(rows->v, rows->cap, rows->n + 1) < 0)
		return -ENOMEM;
	rows->v[rows->n++] = (struct launch_row){.node = node,
						 .function = functions[node],
						 .device = first_alike(s, c->device),
						 .of = c->of,
						 .n = (double)c->count,
						 .time_ns = (double)c->time_ns,
						 .is = session_config_occupancy(s, c)};
	return 0;
}

static bool is_one(const struct launch_row *a, const struct launch_row *b)
{
	return a->function == b->function && a->device == b->device &&
	       launch_config_equal(&a->of, &b->of);
}

static void unite(struct launch_rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (!n || !is_one(&rows->v[n - 1], &rows->v[i])) {
			rows->v[n++] = rows->v[i];
			continue;
		}
		rows->v[n - 1].n += rows->v[i].n;
		rows->v[n - 1].time_ns += rows->v[i].time_ns;
	}
	rows->n = n;
}

int launch_rows_make(struct launch_rows *rows, struct numbers *numbers)
{
	const struct session *s = snapshot_session(numbers_snapshot(numbers));
	uint32_t n_functions;
	const uint32_t *functions = numbers_functions(numbers, &n_functions);
	int r = functions ? 0 : -ENOMEM;

	rows->n = 0;
	for (size_t i = 0; i < s->n_configs && r == 0; i++)
		r = add(rows, numbers, functions, &s->configs[i]);
	if (r < 0)
		rows->n = 0;
	if (!rows->n)
		return r;
	qsort(rows->v, rows->n, sizeof(*rows->v), by_what);
	unite(rows);
	qsort(rows->v, rows->n, sizeof(*rows->v), by_time);
	return 0;
}
