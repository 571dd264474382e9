/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Scopes within kernels as a profile: sums of them, below their kernels. */
#include "format/warps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/format.h"
#include "intra/warp_file.h"
#include "intra/warp_stats.h"

bool warps_detect(const char *head, size_t n)
{
	return warp_file_detect(head, n) || warp_dump_detect(head, n);
}

static ssize_t read_more(void *ctx, void *data, size_t n)
{
	return reader_read(ctx, data, n);
}

int warps_read_trace(struct reader_input *in, struct warp_trace *t, struct warps_said *ret_said,
		     struct format_error *error)
{
	struct warp_file_end end;
	int r;

	*ret_said = (struct warps_said){0};
	if (warp_dump_detect(in->head, in->head_len))
		return warp_dump_read(in, t, &ret_said->losses, error);
	r = warp_file_read(read_more, in, t, &end);
	if (r == -EBADMSG)
		return format_fail(error, r, 0, "no file of scopes, or its beginning is damaged");
	if (r == -EPROTONOSUPPORT)
		return format_fail(error, r, FORMAT_NO_OFFSET,
				   "scopes in a version of the format that this proton does not "
				   "know");
	if (r < 0)
		return format_fail_code(error, r);
	ret_said->n_missing = end.n_bytes - end.n_whole;
	for (size_t i = 0; i < t->n_launches; i++)
		ret_said->n_dropped += t->launches[i].n_dropped;
	for (size_t i = 0; i < t->n_warps; i++)
		ret_said->losses.overwritten += t->warps[i].n_lost;
	return 0;
}

/* ---- sums ---- */

/* The node of a calling context, frames with '\n' between. */
static uint32_t context_node(struct session *s, const char *path, size_t len)
{
	uint32_t node = SESSION_ROOT;

	for (const char *at = path, *end = path + len; node != SESSION_NONE && at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		char *name;

		stop = stop ? stop : end;
		name = strndup(at, (size_t)(stop - at));
		node = name ? session_node(s, node, FRAME_FUNCTION, name) : SESSION_NONE;
		free(name);
		at = stop + 1;
	}
	return node;
}

struct sums {
	const struct warp_trace *t;
	const struct warp_stats *stats;
	struct session *s;
	uint32_t lane;
	uint32_t *nodes; /* of stats */
};

/* Sums of damaged clocks are beyond 64 bits, and so is the largest of these as a double; not a number: it has none. */
static uint64_t whole_cycles(double cycles)
{
	if (!(cycles >= 0))
		return 0;
	return cycles < 0x1p64 ? (uint64_t)cycles : UINT64_MAX;
}

static int put_values(const struct sums *x, const struct warp_stat *stat, uint32_t node)
{
	const struct warp_kernel *k = &x->stats->kernels[stat->kernel];
	double share = k->n_grid_warps ? (double)k->n_launches / (double)k->n_grid_warps : 0;
	bool lasts = stat->event == WARP_EVENT_SCOPE || stat->event == WARP_EVENT_ASYNC;
	bool is_value = stat->event == WARP_EVENT_VALUE;
	const struct {
		uint32_t metric;
		bool has;
		union metric_value v;
	} values[] = {
		{METRIC_SCOPE_ENTRIES, true, {.u64 = stat->n}},
		{METRIC_CYCLES, lasts, {.u64 = whole_cycles(stat->cycles)}},
		{METRIC_NORMALIZED_CYCLES, lasts, {.f64 = stat->cycles * share}},
		{METRIC_CYCLES_MIN, lasts, {.u64 = whole_cycles(stat->min)}},
		{METRIC_CYCLES_MAX, lasts, {.u64 = whole_cycles(stat->max)}},
		{METRIC_SCOPE_VALUE, is_value, {.f64 = stat->value}},
		{METRIC_SCOPE_VALUE_MIN, is_value, {.f64 = stat->value_min}},
		{METRIC_SCOPE_VALUE_MAX, is_value, {.f64 = stat->value_max}},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(values); i++)
		if (values[i].has)
			r = session_add(x->s, node, x->lane, 0, values[i].metric, values[i].v);
	return r;
}

static int put_kernel(const struct sums *x, const struct warp_kernel *k)
{
	const struct strtab *names = x->t->names;
	uint32_t node = context_node(x->s, strtab_str(names, k->path), strtab_len(names, k->path));
	int r = 0;

	if (node != SESSION_NONE)
		node = session_node(x->s, node, FRAME_KERNEL, strtab_str(names, k->name));
	if (node == SESSION_NONE)
		return -ENOMEM;
	for (size_t i = k->stats; r == 0 && i < k->stats + k->n_stats; i++) {
		const struct warp_stat *stat = &x->stats->stats[i];
		uint32_t parent =
			stat->parent == WARP_TRACE_NO_PARENT ? node : x->nodes[stat->parent];

		x->nodes[i] =
			session_node(x->s, parent, FRAME_INSTRUMENT, strtab_str(names, stat->name));
		if (x->nodes[i] == SESSION_NONE)
			return -ENOMEM;
		if (stat->n)
			r = put_values(x, stat, x->nodes[i]);
	}
	return r;
}

/* Of n launches of one process, from this one on. */
static int put_launches(struct session *s, const struct warp_trace *t, uint32_t lane, size_t first,
			size_t n)
{
	struct warp_stats stats;
	int r = warp_stats_init_contexts(&stats, t, first, n);
	struct sums x = {.t = t, .stats = &stats, .s = s, .lane = lane, .nodes = NULL};

	if (r == 0)
		x.nodes = malloc((stats.n_stats + 1) * sizeof(*x.nodes));
	if (!x.nodes || lane == SESSION_NONE)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < stats.n_kernels; i++)
		r = put_kernel(&x, &stats.kernels[i]);
	free(x.nodes);
	warp_stats_done(&stats);
	return r;
}

/* SESSION_NONE: no memory. */
static uint32_t lane_of(struct session *s, const struct warp_trace *t, uint32_t process)
{
	const struct warp_trace_process *p = process ? &t->processes[process - 1] : NULL;
	struct session_lane lane = session_nowhere;

	if (!p)
		return session_lane_intern(s, &lane);
	lane.process = session_process_add(
		s, p->instance ? p->instance : hash_pair(p->pid, (uint32_t)p->rank) | 1);
	if (lane.process == SESSION_NONE)
		return SESSION_NONE;
	s->processes[lane.process].pid = p->pid;
	s->processes[lane.process].rank = p->rank;
	s->processes[lane.process].end = PROCESS_ENDED;
	return session_lane_intern(s, &lane);
}

int warps_session(const struct warp_trace *t, struct session *s)
{
	size_t first = 0;
	int r = 0;

	for (size_t i = 1; r == 0 && i <= t->n_launches; i++) {
		uint32_t process = t->launches[first].process;

		if (i < t->n_launches && t->launches[i].process == process)
			continue;
		r = put_launches(s, t, lane_of(s, t, process), first, i - first);
		first = i;
	}
	return r;
}

/* ---- the format ---- */

static void put_losses(struct session *s, const struct warps_said *said)
{
	s->losses[LOSS_WARP_RECORDS] += said->losses.overwritten;
	s->losses[LOSS_WARP_UNMATCHED] += said->losses.unmatched + said->losses.others;
	s->losses[LOSS_WARP_BLOCKS] += said->losses.broken;
	s->losses[LOSS_WARP_WRAPS] += said->losses.wraps;
	s->losses[LOSS_WARPS] += said->n_dropped;
}

static int put_notes(struct session *s, const struct warp_trace *t, const struct warps_said *said)
{
	char text[160];
	int r = 0;

	if (said->n_missing) {
		snprintf(text, sizeof(text),
			 "the file of scopes ends early or is damaged: what was whole of it is "
			 "here");
		r = session_note(s, SESSION_NONE, NOTE_WARNING, text);
	}
	if (r == 0 && t->n_left_out) {
		snprintf(text, sizeof(text), "single scopes of %" PRIu64 " launches were not kept",
			 t->n_left_out);
		r = session_note(s, SESSION_NONE, NOTE_INFO, text);
	}
	return r;
}

static int warps_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	struct warps_said said;
	struct warp_trace t;
	int r = warp_trace_init(&t);

	if (r == 0)
		r = warps_read_trace(in, &t, &said, error);
	if (r == 0)
		r = warps_session(&t, s);
	if (r == 0)
		r = put_notes(s, &t, &said);
	if (r == 0)
		put_losses(s, &said);
	if (r < 0 && !error->code)
		format_fail_code(error, r);
	s->ended = true;
	warp_trace_done(&t);
	return r;
}

const struct format format_warps = {
	.name = "warps",
	.suffix = WARP_FILE_SUFFIX,
	.names = NAME_RAW,
	.help = "single scopes within kernels; buffers of Triton's Proton, too (read only)",
	.detect = warps_detect,
	.read = warps_read,
};
