/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/usage.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/device_order.h"
#include "core/metadata.h"
#include "core/runs.h"

void usage_done(struct usage *u)
{
	free(u->devices);
	free(u->processes);
	free(u->past);
	free(u->order);
	memset(u, 0, sizeof(*u));
}

void usage_percent(char out[HUMAN_MAX], double busy)
{
	/* A record is taken when its work has ended, which may have begun windows ago. */
	human_percent(out, isnan(busy) ? busy : MIN(busy, 1));
}

/* Room for n entries; new ones have done nothing. */
static int make_room(struct usage_entry **v, size_t *n_now, size_t *cap, size_t n)
{
	if (array_reserve((void **)v, cap, MAX(n, 1u), sizeof(**v)) < 0)
		return -ENOMEM;
	if (n > *n_now)
		memset(*v + *n_now, 0, (n - *n_now) * sizeof(**v));
	*n_now = n;
	return 0;
}

/* ---- the past ---- */

static const enum sensor kept_sensors[USAGE_SENSORS] = {[USAGE_CLOCK] = SENSOR_CLOCK,
							[USAGE_POWER] = SENSOR_POWER,
							[USAGE_TEMPERATURE] = SENSOR_TEMPERATURE,
							[USAGE_MEMORY] = SENSOR_MEMORY};

static void forget_window(struct usage_past *past, size_t at)
{
	past->busy[at] = past->copy_rate[at] = NAN;
	for (unsigned k = 0; k < USAGE_SENSORS; k++)
		past->sensors[k][at] = NAN;
}

static int make_room_for_past(struct usage *u, size_t n)
{
	if (ARRAY_ROOM(u->past, u->cap_past, MAX(n, 1u)) < 0)
		return -ENOMEM;
	for (; u->n_past < n; u->n_past++)
		for (size_t i = 0; i < USAGE_PAST; i++)
			forget_window(&u->past[u->n_past], i);
	return 0;
}

/* A number that is 0 was not told. */
static void keep_sensors(struct usage_past *past, size_t at, const struct sensors *said)
{
	for (unsigned k = 0; said && k < USAGE_SENSORS; k++)
		if (said->v[kept_sensors[k]] > 0)
			past->sensors[k][at] = (float)said->v[kept_sensors[k]];
}

static void keep_window(struct usage *u, const struct session *s)
{
	size_t at = u->n_windows++ % USAGE_PAST;

	for (size_t i = 0; i < u->n_past; i++) {
		forget_window(&u->past[i], at);
		u->past[i].busy[at] = (float)u->devices[i].busy;
		u->past[i].copy_rate[at] = (float)u->devices[i].copy_rate;
		if (!s->ended)
			keep_sensors(&u->past[i], at, session_sensors_find(s, (uint32_t)i));
	}
}

const float *usage_sensor_past(const struct usage *u, uint32_t device, enum sensor sensor)
{
	for (unsigned k = 0; k < USAGE_SENSORS && device < u->n_past; k++)
		if (kept_sensors[k] == sensor)
			return u->past[device].sensors[k];
	return NULL;
}

static void age(struct usage_entry *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		v[i].before = v[i].sum;
		v[i].sum = (struct usage_sum){0};
	}
}

static double rate(double now, double before, double seconds)
{
	return seconds > 0 ? (now - before) / seconds : NAN;
}

static void differentiate(struct usage_entry *v, size_t n, double seconds)
{
	for (size_t i = 0; i < n; i++) {
		v[i].busy = rate(v[i].sum.busy_ns, v[i].before.busy_ns, seconds) / 1e9;
		if (v[i].sum.busy_ns == 0 && v[i].sum.time_ns > 0) /* it is not known */
			v[i].busy = NAN;
		if (v[i].sum.n_busy > 1)
			v[i].busy /= v[i].sum.n_busy;
		v[i].count_rate = rate(v[i].sum.count, v[i].before.count, seconds);
		v[i].copy_rate = rate(v[i].sum.copy_bytes, v[i].before.copy_bytes, seconds);
	}
}

static void share_of(struct usage_entry *v, size_t n, double wall_ns)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].sum.busy_ns > 0)
			v[i].busy = v[i].sum.busy_ns / wall_ns / MAX(v[i].sum.n_busy, 1u);
}

/* When a run is over, what was busy of all of it. */
static void take_whole(struct usage *u, const struct session *s)
{
	uint64_t wall_ns = runs_counted_ns(s);

	if (!wall_ns)
		return;
	share_of(u->devices, u->n_devices, (double)wall_ns);
	share_of(u->processes, u->n_processes, (double)wall_ns);
}

static double or_nothing(double v)
{
	return isnan(v) ? 0 : v;
}

static struct usage_sum row_sum(const struct session *s, const struct session_row *row)
{
	struct usage_sum sum = {
		.time_ns = or_nothing(session_row_number(s, row, METRIC_TIME)),
		.count = or_nothing(session_row_number(s, row, METRIC_COUNT)),
	};

	if (session_node_kind(s, row->node) == FRAME_COPY)
		sum.copy_bytes = or_nothing(session_row_number(s, row, METRIC_BYTES));
	return sum;
}

static void add(struct usage_entry *e, const struct usage_sum *sum)
{
	e->sum.time_ns += sum->time_ns;
	e->sum.count += sum->count;
	e->sum.copy_bytes += sum->copy_bytes;
}

static void add_row(struct usage *u, const struct session *s, const struct session_row *row)
{
	const struct session_lane *lane;
	struct usage_sum sum;

	if (row->lane >= s->n_lanes)
		return;
	lane = &s->lanes[row->lane];
	sum = row_sum(s, row);
	if (lane->device < u->n_devices)
		add(&u->devices[lane->device], &sum);
	if (lane->process < u->n_processes)
		add(&u->processes[lane->process], &sum);
}

static void add_use(struct usage_sum *sum, const struct session_use *use)
{
	sum->busy_ns += (double)use->busy_ns;
	sum->copying_ns += (double)use->copies_ns;
	sum->hidden_ns += (double)use->hidden_ns;
}

/* Covered time of each device, and of each process the mean over its devices. */
static void add_uses(struct usage *u, const struct session *s)
{
	for (size_t i = 0; i < s->n_uses; i++) {
		const struct session_use *use = &s->uses[i];

		if (use->device < u->n_devices)
			add_use(&u->devices[use->device].sum, use);
		if (use->process < u->n_processes) {
			add_use(&u->processes[use->process].sum, use);
			u->processes[use->process].sum.n_busy++;
		}
	}
}

/* Launch metadata is no part of a run's work, as in the tree. 0 or -ENOMEM. */
static int add_rows(struct usage *u, const struct session *s)
{
	_cleanup_(freep) uint8_t *metadata = NULL;

	if (metadata_is_there(s) && !(metadata = metadata_nodes(s)))
		return -ENOMEM;
	for (size_t i = 0; i < s->n_rows; i++)
		if (!metadata || !metadata[s->rows[i].node])
			add_row(u, s, &s->rows[i]);
	return 0;
}

int usage_update(struct usage *u, const struct session *s, uint64_t now_ns)
{
	double seconds = u->updated_ns && now_ns > u->updated_ns
				 ? (double)(now_ns - u->updated_ns) / 1e9
				 : 0;

	_cleanup_(freep) uint32_t *order = device_order_new(s);

	if (!order || make_room_for_past(u, s->n_devices) < 0 ||
	    make_room(&u->processes, &u->n_processes, &u->cap_processes, s->n_processes) < 0 ||
	    make_room(&u->devices, &u->n_devices, &u->cap_devices, s->n_devices) < 0)
		return -ENOMEM;
	free(u->order);
	u->order = order;
	order = NULL;
	u->updated_ns = now_ns;
	u->is_over = s->ended;
	age(u->devices, u->n_devices);
	age(u->processes, u->n_processes);
	if (add_rows(u, s) < 0)
		return -ENOMEM;
	add_uses(u, s);
	differentiate(u->devices, u->n_devices, seconds);
	differentiate(u->processes, u->n_processes, seconds);
	if (seconds > 0)
		keep_window(u, s);
	else if (s->ended)
		take_whole(u, s);
	return 0;
}
