/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Profiles of pprof: ours, those of Go, and of what else writes profile.proto.
 *
 *   sample ── locations, the leaf first ─┬─ lines: functions, inlined ones first ──> nodes
 *          │                             └─ or an address in a mapping ───────────> native frame
 *          ├─ a value for each sample type ──> metrics of one row
 *          └─ labels: a thread ──────────────> lane
 */
#include "format/pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/pprof_tables.h"
#include "format/stacks.h"

/* A location with inlined lines is many contexts, named in a byte or two, any number of times: a stack
 * may be longer than the file that holds it. Profiles of programs stay far below this. */
#define NODES_A_BYTE 4
#define NODES_MORE   65536

/* The same of threads, each of which has a row in all contexts of its stack: with up to as many values
 * as there are types. */
#define VALUES_A_BYTE 16
#define ROWS_MORE     65536

static const char *const left_outs[PPROF_LEFT_N] = {
	[PPROF_LEFT_VALUES] = "left out: values below 0 or too large",
	[PPROF_LEFT_NO_STACK] = "left out: samples without a stack",
};

/* ---- stacks ---- */

static int far_longer(struct pprof *x)
{
	return format_fail(x->error, -EFBIG, FORMAT_NO_OFFSET,
			   "its stacks are far longer than the file (inlined functions, "
			   "over and over)");
}

static bool edge_equal(const void *ctx, uint32_t i, const void *key)
{
	const struct pprof_edge *a = &((const struct pprof *)ctx)->edges[i], *b = key;

	return a->node == b->node && a->location == b->location;
}

/* Below a node, the frames of a location. */
static int descend(struct pprof *x, const struct pprof_location *l, uint32_t *node)
{
	for (size_t i = l->n; i-- > 0;) {
		*node = session_node_intern(x->s, *node, x->frames[l->first + i]);
		if (*node == SESSION_NONE)
			return pprof_no_memory(x);
	}
	if (x->s->n_nodes > NODES_A_BYTE * x->file.n_bytes + NODES_MORE)
		return far_longer(x);
	return 0;
}

/* The same with memory: a way through many frames is gone once. */
static int follow(struct pprof *x, uint32_t location, uint32_t *node)
{
	const struct pprof_location *l =
		(const struct pprof_location *)x->locations.rows + location;
	struct pprof_edge e = {*node, location, *node};
	uint64_t hash = hash_pair(e.node, e.location);
	uint32_t i;
	int r;

	if (l->n == 1)
		return descend(x, l, node);
	i = idindex_find(&x->by_edge, hash, edge_equal, x, &e);
	if (i != IDINDEX_NONE) {
		*node = x->edges[i].to;
		return 0;
	}
	r = descend(x, l, &e.to);
	if (r < 0)
		return r;
	if (ARRAY_ROOM(x->edges, x->cap_edges, x->n_edges + 1) < 0 ||
	    idindex_add(&x->by_edge, hash, (uint32_t)x->n_edges) < 0)
		return pprof_no_memory(x);
	x->edges[x->n_edges++] = e;
	*node = e.to;
	return 0;
}

/* The root's own value, as we write it. */
static bool is_root(const struct pprof *x)
{
	const struct pprof_location *l =
		(const struct pprof_location *)x->locations.rows + x->stack[0];

	return x->ours && x->n_stack == 1 && l->n == 1 &&
	       !strcmp(pprof_str(x, x->s->frames[x->frames[l->first]].name), "ROOT");
}

static int walk(struct pprof *x, uint32_t *ret)
{
	int r = 0;

	*ret = SESSION_ROOT;
	if (is_root(x))
		return 0;
	for (size_t i = x->n_stack; r == 0 && i-- > 0;)
		r = follow(x, x->stack[i], ret);
	return r;
}

/* ---- samples ---- */

static int wrong(struct pprof *x, const char *what)
{
	return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET,
			   "wrong shape: sample %" PRIu64 " %s", x->n_samples, what);
}

static int take_locations(struct pprof *x, struct pb_field *f)
{
	uint64_t id;
	uint32_t i;
	int r;

	while ((r = pb_take_number(f, &id)) > 0) {
		i = pprof_find(&x->locations, id);
		if (i == IDINDEX_NONE)
			return wrong(x, "refers to a location that is not there");
		if (ARRAY_ROOM(x->stack, x->cap_stack, x->n_stack + 1) < 0)
			return pprof_no_memory(x);
		x->stack[x->n_stack++] = i;
	}
	return r < 0 ? pprof_broken(x, "a sample's locations") : 0;
}

static int take_values(struct pprof *x, struct pb_field *f)
{
	uint64_t v;
	int r;

	while ((r = pb_take_number(f, &v)) > 0) {
		if (x->n_values == x->n_types)
			return wrong(x, "has more values than there are sample types");
		x->values[x->n_values++] = (int64_t)v;
	}
	return r < 0 ? pprof_broken(x, "a sample's values") : 0;
}

static bool is_thread(const char *key)
{
	static const char *const keys[] = {"thread",     "thread_id",        "thread id",
					   "thread_tid", "thread native id", "tid"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* Remember a thread that has a name, and one more than are told. */
static void note_name(struct pprof *x, uint32_t text)
{
	for (uint32_t i = 0; i < x->n_named; i++)
		if (x->named[i] == text)
			return;
	if (x->n_named <= PPROF_NAMED_MAX)
		x->named[x->n_named++] = text;
}

static uint64_t number_of_name(uint32_t text)
{
	return UINT64_C(1) << 32 | text;
}

/* A name stands beyond what a thread's number can be. */
static int take_label(struct pprof *x, struct pb_span message)
{
	uint64_t v[LABEL_NUMBER + 1];
	uint32_t key, text;
	char *end;
	int r = pprof_numbers(x, message, "a label", v, ARRAY_SIZE(v));

	if (r == 0)
		r = pprof_text(x, v[LABEL_KEY], &key);
	if (r == 0)
		r = pprof_text(x, v[LABEL_STRING], &text);
	if (r < 0 || !is_thread(pprof_str(x, key)))
		return r;
	x->thread = v[LABEL_NUMBER];
	if (!text)
		return 0;
	x->thread = strtoull(pprof_str(x, text), &end, 10);
	if (*end || end == pprof_str(x, text)) {
		x->thread = number_of_name(text);
		note_name(x, text);
	}
	return 0;
}

static int take_sample(struct pprof *x, struct pb_span message)
{
	struct pb_field f;
	int r, taken = 0;

	x->n_samples++;
	x->n_stack = x->n_values = 0;
	x->thread = 0;
	while (taken == 0 && (r = pb_take(&message, &f)) > 0) {
		if (f.number == SAMPLE_LOCATION)
			taken = take_locations(x, &f);
		else if (f.number == SAMPLE_VALUE)
			taken = take_values(x, &f);
		else if (f.number == SAMPLE_LABEL && f.wire == PB_BYTES)
			taken = take_label(x, f.bytes);
	}
	if (taken < 0)
		return taken;
	if (r < 0)
		return pprof_broken(x, "a sample");
	return x->n_values < x->n_types ? wrong(x, "has fewer values than there are sample types")
					: 0;
}

/* False: nothing to add. */
static bool value_of(struct pprof *x, uint32_t i, union metric_value *ret)
{
	const struct pprof_type *t = &x->types[i];
	int64_t v = x->values[i];

	if (!v)
		return false;
	if (metric_table_get(x->s->metrics, t->metric)->type == METRIC_F64) {
		ret->f64 = (double)v * (double)t->factor / t->divisor;
		return true;
	}
	if (v > 0 && !__builtin_mul_overflow((uint64_t)v, t->factor, &ret->u64))
		return true;
	x->n_left_out[PPROF_LEFT_VALUES]++;
	return false;
}

static int add_values(struct pprof *x, uint32_t node)
{
	struct session_lane place = session_nowhere;
	uint32_t lane, row;
	union metric_value v;

	place.thread = x->thread;
	lane = session_lane_intern(x->s, &place);
	row = lane == SESSION_NONE ? lane : session_row_intern(x->s, node, lane, 0, x->set);
	if (row == SESSION_NONE)
		return pprof_no_memory(x);
	for (uint32_t i = 0; i < x->n_types; i++)
		if (value_of(x, i, &v))
			stack_add(x->s, row, i, v);
	return 0;
}

static int read_sample(struct pprof *x, struct pb_span message)
{
	uint32_t node, n = 0;
	int r = take_sample(x, message);

	for (uint32_t i = 0; r == 0 && i < x->n_types; i++)
		n += x->values[i] != 0;
	if (r < 0 || !n)
		return r;
	if (!x->n_stack) {
		x->n_left_out[PPROF_LEFT_NO_STACK]++;
		return 0;
	}
	r = walk(x, &node);
	return r < 0 ? r : add_values(x, node);
}

/* ---- the whole ---- */

/* We say so in a comment; comments of others are notes. */
static int read_comments(struct pprof *x)
{
	struct pb_span all = pprof_messages(&x->file, PROFILE_COMMENT);
	uint32_t text;
	uint64_t i;
	int r = 0;

	for (unsigned n = 0; r == 0 && n < 16 && pb_take_varint(&all, &i); n++) {
		r = pprof_text(x, i, &text);
		if (r < 0)
			return r;
		x->ours = x->ours || stacks_are_ours(pprof_str(x, text));
		if (text && !x->ours &&
		    session_note(x->s, SESSION_NONE, NOTE_INFO, session_text(x->s, text)) < 0)
			return pprof_no_memory(x);
	}
	return r;
}

static int each(struct pprof *x, unsigned field,
		int (*read)(struct pprof *x, struct pb_span message))
{
	struct pb_span all = pprof_messages(&x->file, field), message;
	int r = 0;

	while (r == 0 && pprof_next(&all, &message))
		r = read(x, message);
	return r;
}

/* "the file's threads are numbers here: 4294967303 MainThread, 4294967305 worker" */
static int note_threads(struct pprof *x)
{
	_cleanup_(buf_done) struct buf text = {0};

	if (!x->n_named)
		return 0;
	buf_puts(&text, "the file's threads are numbers here:");
	for (uint32_t i = 0; i < MIN(x->n_named, (uint32_t)PPROF_NAMED_MAX); i++)
		buf_printf(&text, "%s %" PRIu64 " %.60s", i ? "," : "", number_of_name(x->named[i]),
			   pprof_str(x, x->named[i]));
	if (x->n_named > PPROF_NAMED_MAX)
		buf_puts(&text, " and more");
	return text.error ? text.error
			  : session_note(x->s, SESSION_NONE, NOTE_INFO, buf_str(&text));
}

static int add_notes(struct pprof *x)
{
	char text[96];
	int r = note_threads(x);

	for (unsigned i = 0; r == 0 && i < PPROF_LEFT_N; i++) {
		if (!x->n_left_out[i])
			continue;
		snprintf(text, sizeof(text), "%s: %" PRIu64, left_outs[i], x->n_left_out[i]);
		r = session_note(x->s, SESSION_NONE, NOTE_WARNING, text);
	}
	return r < 0 ? pprof_no_memory(x) : 0;
}

static int elapse(struct pprof *x)
{
	uint64_t values = VALUES_A_BYTE * x->file.n_bytes;
	uint64_t a_row = MAX(x->n_types, VALUES_A_BYTE / NODES_A_BYTE);
	int r = stacks_elapse(x->s, values / a_row + ROWS_MORE);

	if (r == -EFBIG)
		return far_longer(x);
	return r < 0 ? pprof_no_memory(x) : 0;
}

static void set_times(struct pprof *x)
{
	uint64_t start = x->file.numbers[PROFILE_TIME_NANOS];
	uint64_t duration = x->file.numbers[PROFILE_DURATION_NANOS];

	if (start >= UINT64_C(1) << 63 || duration >= UINT64_C(1) << 63)
		return;
	x->s->start_ns = start;
	x->s->end_ns = start && duration ? start + duration : 0;
}

static int build(struct pprof *x)
{
	static const struct {
		unsigned field;
		int (*read)(struct pprof *x, struct pb_span message);
	} parts[] = {
		{PROFILE_FUNCTION, pprof_read_function}, {PROFILE_MAPPING, pprof_read_mapping},
		{PROFILE_LOCATION, pprof_read_location}, {PROFILE_SAMPLE_TYPE, pprof_read_type},
		{PROFILE_SAMPLE, read_sample},
	};
	int r = 0;

	if (!x->file.n_strings)
		return pprof_broken(x, "it has no strings");
	r = read_comments(x);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(parts); i++) {
		if (parts[i].field == PROFILE_SAMPLE)
			r = pprof_make_set(x);
		if (r == 0)
			r = each(x, parts[i].field, parts[i].read);
	}
	if (r == 0)
		r = elapse(x);
	set_times(x);
	x->s->ended = true;
	return r < 0 ? r : add_notes(x);
}

int pprof_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	struct pprof x = {
		.s = s,
		.error = error,
		.functions = {.what = "functions", .size = sizeof(struct pprof_function)},
		.mappings = {.what = "mappings", .size = sizeof(struct pprof_mapping)},
		.locations = {.what = "locations", .size = sizeof(struct pprof_location)},
	};
	int r = pprof_file_read(in, s->strings, &x.file, error);

	if (r == 0)
		r = build(&x);
	pprof_file_done(&x.file);
	pprof_table_done(&x.functions);
	pprof_table_done(&x.mappings);
	pprof_table_done(&x.locations);
	idindex_done(&x.by_edge);
	buf_done(&x.scratch);
	free(x.frames);
	free(x.edges);
	free(x.stack);
	return r;
}
