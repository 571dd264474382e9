/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/copy_rows.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/activity.h"
#include "core/device_order.h"

void copy_rows_done(struct copy_rows *rows)
{
	free(rows->v);
	*rows = (struct copy_rows){0};
}

static int by_place(const void *x, const void *y, void *session)
{
	const struct session_copy_lane *a = &((const struct copy_row *)x)->of;
	const struct session_copy_lane *b = &((const struct copy_row *)y)->of;
	int by = device_compare(session, a->device, b->device);

	by = by ? by : COMPARE(a->context, b->context);
	by = by ? by : COMPARE(a->stream, b->stream);
	by = by ? by : COMPARE(a->direction, b->direction);
	by = by ? by : COMPARE(a->channel_kind, b->channel_kind);
	return by ? by : COMPARE(a->channel, b->channel);
}

/* Those that took as long in an order that is not that of the session. */
static int by_time(const void *x, const void *y, void *session)
{
	const struct copy_row *a = x, *b = y;

	return a->time_ns != b->time_ns ? (a->time_ns > b->time_ns ? -1 : 1)
					: by_place(a, b, session);
}

static int add(struct copy_rows *rows, const struct session *s, const struct session_copy_lane *l)
{
	double copies, hidden;

	if (!l->count && !l->time_ns)
		return 0;
	if (ARRAY_ROOM(rows->v, rows->cap, rows->n + 1) < 0)
		return -ENOMEM;
	session_overlap(s, l->device, &copies, &hidden);
	rows->v[rows->n++] =
		(struct copy_row){.of = *l,
				  .n = (double)l->count,
				  .time_ns = (double)l->time_ns,
				  .hidden_ns = (double)l->hidden_ns,
				  .unsure_ns = (double)l->unsure_ns,
				  .others_ns = session_busy_ns(s, l->device) - copies + hidden};
	rows->unsure_ns += (double)l->unsure_ns;
	return 0;
}

/* Of several processes. */
static void unite(struct copy_rows *rows, const struct session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		struct copy_row *last = n ? &rows->v[n - 1] : NULL;

		if (!last || by_place(last, &rows->v[i], (void *)s) != 0) {
			rows->v[n++] = rows->v[i];
			continue;
		}
		last->n += rows->v[i].n;
		last->time_ns += rows->v[i].time_ns;
		last->hidden_ns += rows->v[i].hidden_ns;
		last->unsure_ns += rows->v[i].unsure_ns;
	}
	rows->n = n;
}

/* ---- which of them ---- */

enum { SOME_COUNT = 1, SOME_DO_NOT = 2 };

/* May copies in these contexts be in this place? What is not known of either may be the same. */
static bool is_place(const struct session_copy_lane *l, const struct session_lane *at,
		     unsigned direction)
{
	return l->process == at->process && l->device == at->device &&
	       (l->stream == SESSION_NONE ||
		(l->context == at->context && l->stream == at->stream)) &&
	       (!l->direction || !direction || l->direction == direction);
}

/* Marks of places: do copies there count? */
static void mark(const struct session *s, const uint8_t *counted, uint8_t *marks)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct session_row *row = &s->rows[i];
		unsigned direction;
		uint8_t does;

		if (session_node_kind(s, row->node) != FRAME_COPY)
			continue;
		direction = copy_direction_of(session_node_name(s, row->node));
		does = counted[i] ? SOME_COUNT : SOME_DO_NOT;
		for (size_t k = 0; k < s->n_copy_lanes; k++)
			if (is_place(&s->copy_lanes[k], session_lane_at(s, row->lane), direction))
				marks[k] |= does;
	}
}

int copy_lanes_counted(const struct session *s, const uint8_t *counted, uint8_t **ret)
{
	uint8_t *marks = calloc(s->n_copy_lanes + 1, 1);
	bool is_known = marks;

	if (!marks)
		return -ENOMEM;
	mark(s, counted, marks);
	for (size_t i = 0; i < s->n_copy_lanes; i++) {
		is_known &= marks[i] == SOME_COUNT || marks[i] == SOME_DO_NOT;
		marks[i] = marks[i] == SOME_COUNT;
	}
	*ret = is_known ? marks : NULL;
	if (!is_known)
		free(marks);
	return 0;
}

/* The same of those that count in numbers. */
static int numbers_counted(const struct session *s, const struct numbers *kept, uint8_t **ret)
{
	_cleanup_(freep) uint8_t *counted = malloc(MAX(s->n_rows, (size_t)1));

	if (!counted)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_rows; i++)
		counted[i] = numbers_row_counts(kept, i);
	return copy_lanes_counted(s, counted, ret);
}

int copy_rows_make(struct copy_rows *rows, const struct session *s, const struct numbers *kept)
{
	_cleanup_(freep) uint8_t *marks = NULL;

	rows->n = 0;
	rows->unsure_ns = 0;
	if (kept && numbers_counted(s, kept, &marks) < 0)
		return -ENOMEM;
	rows->of_all = kept ? !marks : s->copy_lanes_of_all;
	for (size_t i = 0; i < s->n_copy_lanes; i++) {
		if (marks && !marks[i])
			continue;
		if (add(rows, s, &s->copy_lanes[i]) < 0) {
			rows->n = 0;
			return -ENOMEM;
		}
	}
	if (!rows->n)
		return 0;
	qsort_r(rows->v, rows->n, sizeof(*rows->v), by_place, (void *)s);
	unite(rows, s);
	qsort_r(rows->v, rows->n, sizeof(*rows->v), by_time, (void *)s);
	return 0;
}

/* ---- names ---- */

/* Of all that had no place of their own. */
static bool is_others(const struct copy_row *c)
{
	return c->of.stream == SESSION_NONE && c->of.direction == COPY_UNKNOWN;
}

static bool has_contexts(const struct copy_rows *rows, const struct copy_row *c)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].of.device == c->of.device && rows->v[i].of.stream != SESSION_NONE &&
		    rows->v[i].of.context != c->of.context)
			return true;
	return false;
}

void copy_row_stream(const struct copy_rows *rows, const struct copy_row *c,
		     char out[COPY_ROW_WORD])
{
	if (c->of.stream == SESSION_NONE)
		snprintf(out, COPY_ROW_WORD, "%s", is_others(c) ? "others" : "-");
	else if (has_contexts(rows, c))
		snprintf(out, COPY_ROW_WORD, "%" PRIu32 "/%" PRIu32, c->of.context, c->of.stream);
	else
		snprintf(out, COPY_ROW_WORD, "%" PRIu32, c->of.stream);
}

void copy_row_channel(const struct copy_row *c, char out[COPY_ROW_WORD])
{
	static const char *const words[CHANNEL_N_KINDS] = {"-", "compute", "copy", "decompress"};
	unsigned kind = c->of.channel_kind % CHANNEL_N_KINDS;

	if (kind == CHANNEL_UNKNOWN)
		snprintf(out, COPY_ROW_WORD, "-");
	else
		snprintf(out, COPY_ROW_WORD, "%s %" PRIu32, words[kind], c->of.channel);
}

const char *copy_row_direction(const struct copy_row *c)
{
	return c->of.direction == COPY_UNKNOWN ? "-" : copy_direction_short(c->of.direction);
}

void copy_row_name(const struct session *s, const struct copy_rows *rows, const struct copy_row *c,
		   char out[2 * COPY_ROW_WORD])
{
	char device[DEVICE_WORD], stream[COPY_ROW_WORD], channel[COPY_ROW_WORD];

	session_device_word(s, c->of.device, device);
	copy_row_stream(rows, c, stream);
	copy_row_channel(c, channel);
	if (is_others(c))
		snprintf(out, 2 * COPY_ROW_WORD, "%s, all others", device);
	else
		snprintf(out, 2 * COPY_ROW_WORD, "%s %s, stream %.24s%s%.24s", device,
			 copy_row_direction(c), stream,
			 c->of.channel_kind == CHANNEL_UNKNOWN ? "" : ", ",
			 c->of.channel_kind == CHANNEL_UNKNOWN ? "" : channel);
}

void copy_rows_unsure(const struct copy_rows *rows, char out[2 * COPY_ROW_WORD])
{
	char time[HUMAN_MAX];

	*out = '\0';
	if (!(rows->unsure_ns > 0))
		return;
	human_time_ns(time, rows->unsure_ns);
	snprintf(out, 2 * COPY_ROW_WORD,
		 "up to %s more may have been hidden: work beside it was told of too late", time);
}
