/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/device_order.h"
#include "core/traffic.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/metadata.h"

void traffic_done(struct traffic *t)
{
	free(t->pairs);
	*t = (struct traffic){0};
}

/* ---- ends ---- */

/* Of the host's end: "pageable" in ours, "Pageable" in other tools'. */
static uint8_t memory_of(const char *name)
{
	static const uint8_t told[] = {MEMORY_PAGEABLE, MEMORY_PINNED, MEMORY_MANAGED};

	for (size_t i = 0; i < ARRAY_SIZE(told); i++)
		if (strcasestr(name, memory_kind_word(told[i])))
			return told[i];
	return MEMORY_UNKNOWN;
}

/* A device as a program counts them: that which is known by this number, of the same kind as the one that copied. */
static uint32_t device_by_number(const struct session *s, uint32_t like, unsigned number)
{
	if (like < s->n_devices && s->devices[like].index == (int32_t)number)
		return like;
	for (uint32_t i = 0; i < s->n_devices; i++)
		if (s->devices[i].index == (int32_t)number &&
		    (like >= s->n_devices || s->devices[i].type == s->devices[like].type))
			return i;
	return SESSION_NONE;
}

/* Between which two the name says; where it does not, from the one that did it. */
static void peers_of(const struct session *s, const char *name, uint32_t device,
		     struct traffic_pair *p)
{
	const char *numbers = strcasestr(name, "PtoP ");
	unsigned from, to;

	p->from = (struct traffic_end){.is_device = true, .device = device};
	p->to = (struct traffic_end){.is_device = true, .device = SESSION_NONE};
	if (!numbers || sscanf(numbers + strlen("PtoP "), "%u to %u", &from, &to) != 2)
		return;
	p->from.device = device_by_number(s, device, from);
	p->to.device = device_by_number(s, device, to);
}

static bool ends_of(const struct session *s, const char *name, uint32_t device,
		    struct traffic_pair *p)
{
	const struct traffic_end on_device = {.is_device = true, .device = device},
				 on_host = {.memory = memory_of(name), .device = SESSION_NONE};

	switch (copy_direction_of(name)) {
	case COPY_HOST_TO_DEVICE:
		p->from = on_host;
		p->to = on_device;
		return true;
	case COPY_DEVICE_TO_HOST:
		p->from = on_device;
		p->to = on_host;
		return true;
	case COPY_DEVICE_TO_DEVICE:
		p->from = p->to = on_device;
		return true;
	case COPY_HOST_TO_HOST:
		p->from = p->to = on_host;
		return true;
	case COPY_PEER_TO_PEER:
		peers_of(s, name, device, p);
		return true;
	default:
		return false;
	}
}

static bool is_end(const struct traffic_end *a, const struct traffic_end *b)
{
	return a->is_device == b->is_device && a->memory == b->memory && a->device == b->device;
}

/* ---- from where to where ---- */

/* NULL: out of memory. */
static struct traffic_pair *pair_like(struct traffic *t, const struct traffic_pair *like)
{
	for (size_t i = 0; i < t->n_pairs; i++)
		if (is_end(&t->pairs[i].from, &like->from) && is_end(&t->pairs[i].to, &like->to))
			return &t->pairs[i];
	if (ARRAY_ROOM(t->pairs, t->cap_pairs, t->n_pairs + 1) < 0)
		return NULL;
	t->pairs[t->n_pairs] = *like;
	return &t->pairs[t->n_pairs++];
}

static double number(const struct session *s, const struct session_row *row, uint32_t metric)
{
	double v = session_row_number(s, row, metric);

	return isnan(v) ? 0 : v;
}

/* A node may have its values in several rows. */
static int add_pair(struct traffic *t, const struct session *s, const struct session_row *row)
{
	/* Those of a batch, too: all have their sizes. */
	double n = number(s, row, METRIC_COUNT) + number(s, row, METRIC_BESIDES),
	       bytes = number(s, row, METRIC_BYTES), time_ns = number(s, row, METRIC_TIME);
	struct traffic_pair like = {.n = 0}, *p;

	if (!(n > 0 || bytes > 0 || time_ns > 0) ||
	    !ends_of(s, session_node_name(s, row->node), session_lane_at(s, row->lane)->device,
		     &like))
		return 0;
	p = pair_like(t, &like);
	if (!p)
		return -ENOMEM;
	p->n += n;
	p->bytes += bytes;
	p->time_ns += time_ns;
	return 0;
}

static int compare_ends(const struct session *s, const struct traffic_end *a,
			const struct traffic_end *b)
{
	int by = COMPARE(a->is_device, b->is_device);

	by = by ? by : device_compare(s, a->device, b->device);
	return by ? by : COMPARE(a->memory, b->memory);
}

/* Those with as many in an order that is not that of the rows: it is the same when they were written and read. */
static int by_bytes(const void *a, const void *b, void *session)
{
	const struct traffic_pair *p = a, *q = b;
	int by = p->bytes > q->bytes ? -1 : p->bytes < q->bytes;

	by = by ? by : compare_ends(session, &p->from, &q->from);
	return by ? by : compare_ends(session, &p->to, &q->to);
}

/* What the way is able to: to and from the host what copies of pinned memory reach, for where others are slower that is
 * what they lack (and pageable memory that is in the processor's caches is faster than it was measured to be). A copy
 * within a device reads and writes its memory. Between devices nothing was measured. */
static double measured(const struct traffic_pair *p, const struct session *s,
		       const struct peaks *peaks)
{
	if (p->from.is_device && p->to.is_device)
		return is_end(&p->from, &p->to)
			       ? peaks_measured(peaks, s, p->to.device, MEASURED_MEMORY)
			       : NAN;
	if (p->to.is_device)
		return peaks_measured(peaks, s, p->to.device, MEASURED_TO_DEVICE);
	if (p->from.is_device)
		return peaks_measured(peaks, s, p->from.device, MEASURED_TO_HOST);
	return NAN;
}

static void share_out(struct traffic *t, const struct session *s, const struct peaks *peaks)
{
	double bytes = 0;

	for (size_t i = 0; i < t->n_pairs; i++)
		bytes += t->pairs[i].bytes;
	for (size_t i = 0; i < t->n_pairs; i++)
		t->pairs[i].share = t->pairs[i].bytes / bytes;
	for (size_t i = 0; i < t->n_pairs; i++)
		t->pairs[i].measured = measured(&t->pairs[i], s, peaks);
	if (t->n_pairs)
		qsort_r(t->pairs, t->n_pairs, sizeof(*t->pairs), by_bytes, (void *)s);
}

/* ---- sizes ---- */

static void add_size(struct traffic *t, const struct session *s, const struct session_row *row)
{
	unsigned direction = copy_direction_of(session_node_name(s, row->node));

	for (unsigned i = 0; i < N_COPY_SIZES; i++) {
		t->sizes[i].n[direction] += number(s, row, metric_of_copies(i));
		t->sizes[i].bytes[direction] += number(s, row, metric_of_copied_bytes(i));
	}
}

/* Directions that no copy went are absent, and sizes that none had left out. */
static void sizes_settle(struct traffic *t)
{
	bool was[COPY_N_DIRECTIONS] = {false};

	for (unsigned i = 0; i < N_COPY_SIZES; i++)
		for (unsigned d = 0; d < COPY_N_DIRECTIONS; d++)
			was[d] |= t->sizes[i].n[d] > 0;
	for (unsigned i = 0; i < N_COPY_SIZES; i++) {
		struct traffic_size z = t->sizes[i];
		bool is_any = false;

		z.size = i;
		for (unsigned d = 0; d < COPY_N_DIRECTIONS; d++) {
			is_any |= z.n[d] > 0;
			if (!was[d])
				z.n[d] = z.bytes[d] = NAN;
		}
		if (is_any)
			t->sizes[t->n_sizes++] = z;
	}
}

/* ---- all of it ---- */

static bool has_sizes(const struct session *s)
{
	bool has = false;

	for (unsigned i = 0; i < N_COPY_SIZES && !has; i++)
		has = session_has_values(s, metric_of_copies(i));
	return has;
}

static int add_rows(struct traffic *t, const struct session *s, const struct numbers *kept,
		    const uint8_t *metadata)
{
	bool sizes = has_sizes(s);

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct session_row *row = &s->rows[i];

		if (session_node_kind(s, row->node) != FRAME_COPY || metadata[row->node] ||
		    (kept && !numbers_row_counts(kept, i)))
			continue;
		if (add_pair(t, s, row) < 0)
			return -ENOMEM;
		if (sizes)
			add_size(t, s, row);
	}
	return 0;
}

int traffic_make(struct traffic *t, const struct session *s, const struct numbers *kept,
		 const struct peaks *peaks)
{
	_cleanup_(freep) uint8_t *metadata = metadata_nodes(s);
	int e;

	t->n_pairs = t->n_sizes = 0;
	memset(t->sizes, 0, sizeof(t->sizes));
	e = metadata ? add_rows(t, s, kept, metadata) : -ENOMEM;
	if (e < 0) {
		t->n_pairs = 0;
		return e;
	}
	share_out(t, s, peaks);
	sizes_settle(t);
	return 0;
}

/* ---- names ---- */

void traffic_end_name(const struct session *s, const struct traffic_end *end,
		      char out[TRAFFIC_NAME / 2])
{
	const size_t size = TRAFFIC_NAME / 2;
	char device[DEVICE_WORD] = "a device";

	if (end->device < s->n_devices)
		session_device_word(s, end->device, device);
	if (end->is_device)
		snprintf(out, size, "%s", device);
	else if (end->memory == MEMORY_UNKNOWN)
		snprintf(out, size, "host");
	else
		snprintf(out, size, "host %s", memory_kind_word(end->memory));
}

void traffic_pair_name(const struct session *s, const struct traffic_pair *p,
		       char out[TRAFFIC_NAME])
{
	char from[TRAFFIC_NAME / 2], to[TRAFFIC_NAME / 2];

	traffic_end_name(s, &p->from, from);
	traffic_end_name(s, &p->to, to);
	if (p->from.is_device && p->to.is_device && p->to.device == SESSION_NONE)
		snprintf(to, sizeof(to), "another device");
	if (is_end(&p->from, &p->to))
		snprintf(out, TRAFFIC_NAME, "within %s", from);
	else
		snprintf(out, TRAFFIC_NAME, "%.43s to %.43s", from, to);
}

static void power_name(unsigned power, char out[TRAFFIC_NAME / 4])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};

	snprintf(out, TRAFFIC_NAME / 4, "%u %s", 1u << power % 10, units[power / 10]);
}

void traffic_size_name(const struct traffic_size *z, char out[TRAFFIC_NAME])
{
	char from[TRAFFIC_NAME / 4], to[TRAFFIC_NAME / 4];

	power_name(COPY_SIZE_LEAST + z->size - (z->size > 0), from);
	power_name(COPY_SIZE_LEAST + z->size, to);
	if (!z->size)
		snprintf(out, TRAFFIC_NAME, "below %s", from);
	else if (z->size == N_COPY_SIZES - 1)
		snprintf(out, TRAFFIC_NAME, "%s and more", from);
	else
		snprintf(out, TRAFFIC_NAME, "%s to %s", from, to);
}
