/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Chrome trace JSON, in the form of Triton's Proton (data="trace"): microseconds from the first
 * event on, the calling context of each in args.call_stack. Our own reader makes the same tree and
 * the same sums of it.
 *
 *   pid  a group: its number, or on the host the process's own, where no other has it
 *   tid  a track: its number, or that of the thread, where it is larger than any of these
 *
 * Counters of a device, and times in which not all was recorded (counters.h), are events of its group, behind all others.
 *
 * An arrow goes from the range of the host that launched an operation, at the moment of the launch, to that: a flow of
 * two events, as torch.profiler writes them. */
#include "format/chrome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "core/pages.h"
#include "core/strips.h"
#include "format/counters.h"
#include "format/export.h"
#include "format/json_writer.h"
#include "format/timeline.h"

struct writer {
	const struct session *s;
	struct timeline timeline;
	struct json_writer json;
	struct export_path path;
	struct export_names names;
	struct buf name;
	uint64_t zero_ns;
	uint64_t *n_written; /* by row: events of it so far */
	uint32_t most;       /* names of a calling context */
	uint32_t
		unrecorded_in; /* the last group whose track for that was named; SESSION_NONE: none */
	bool no_names;
};

/* Nanoseconds as microseconds: exact in a double for a hundred days. */
static void key_us(struct writer *w, const char *key, uint64_t ns)
{
	jsonw_key(&w->json, key);
	jsonw_f64(&w->json, (double)ns / 1e3);
}

/* ---- who is who ---- */

static uint32_t pid_on_host(const struct writer *w, uint32_t group)
{
	const struct timeline_group *g = &w->timeline.groups[group];

	return g->process == SESSION_NONE || g->device != SESSION_NONE
		       ? 0
		       : w->s->processes[g->process].pid;
}

static uint64_t pid_of(const struct writer *w, uint32_t group)
{
	uint32_t pid = pid_on_host(w, group);

	if (pid < w->timeline.n_groups)
		return group;
	for (uint32_t i = 0; i < group; i++)
		if (pid_on_host(w, i) == pid)
			return group;
	return pid;
}

static uint64_t tid_of(const struct writer *w, uint32_t track)
{
	const struct timeline_track *t = &w->timeline.tracks[track];
	uint64_t thread = w->s->lanes[t->lane].thread;

	return t->is_host && !t->line && thread >= w->timeline.n_tracks && thread <= UINT32_MAX
		       ? thread
		       : track;
}

#define NO_TID UINT64_MAX

/* An empty name, of what nobody named, is an error to Perfetto. */
static void put_metadata(struct writer *w, const char *what, uint32_t group, uint64_t tid)
{
	if (w->name.error)
		w->json.out->error = w->name.error;
	if (!w->name.len)
		return;
	jsonw_object_flat(&w->json);
	jsonw_key_object(&w->json, "args");
	jsonw_key_text(&w->json, "name", buf_str(&w->name));
	jsonw_object_end(&w->json);
	jsonw_key_text(&w->json, "name", what);
	jsonw_key_text(&w->json, "ph", "M");
	jsonw_key_u64(&w->json, "pid", pid_of(w, group));
	if (tid != NO_TID)
		jsonw_key_u64(&w->json, "tid", tid);
	jsonw_object_end(&w->json);
	buf_clear(&w->name);
}

/* A process on the host that stands under its own number, or has none: it goes by its own name. */
static bool is_own_pid(const struct writer *w, uint32_t group)
{
	const struct timeline_group *g = &w->timeline.groups[group];

	if (g->process == SESSION_NONE || g->device != SESSION_NONE)
		return false;
	return !pid_on_host(w, group) || pid_of(w, group) == pid_on_host(w, group);
}

static const char *exe_of(const struct writer *w, const struct timeline_group *g)
{
	return strtab_str(w->s->strings, w->s->processes[g->process].exe);
}

static void put_names(struct writer *w)
{
	const struct timeline *t = &w->timeline;

	for (size_t i = 0; i < t->n_groups; i++) {
		if (is_own_pid(w, (uint32_t)i))
			buf_puts(&w->name, exe_of(w, &t->groups[i]));
		else
			timeline_group_name(w->s, &t->groups[i], &w->name);
		put_metadata(w, "process_name", (uint32_t)i, NO_TID);
	}
	for (size_t i = 0; i < t->n_tracks; i++) {
		timeline_track_name(w->s, &t->tracks[i], &w->name);
		put_metadata(w, "thread_name", t->tracks[i].group, tid_of(w, (uint32_t)i));
	}
}

static void put_if_known(struct writer *w, const char *key, uint64_t v)
{
	if (v)
		jsonw_key_u64(&w->json, key, v);
}

static void put_text_if_known(struct writer *w, const char *key, uint32_t string)
{
	if (string)
		jsonw_key_text(&w->json, key, strtab_str(w->s->strings, string));
}

/* "90" is 9.0 and "120" 12.0; "gfx942" has no such numbers. */
static void put_compute(struct writer *w, const char *arch)
{
	size_t n = strspn(arch, "0123456789");

	if (n < 2 || n > 4 || arch[n])
		return;
	jsonw_key_u64(&w->json, "computeMajor", strtoull(arch, NULL, 10) / 10);
	jsonw_key_u64(&w->json, "computeMinor", (uint64_t)(arch[n - 1] - '0'));
}

/* Under the keys of torch.profiler, and cudaDeviceProp's where that has none; "arch", "type" and
 * "uuid" are our own. */
static void put_device(struct writer *w, const struct session_device *d)
{
	jsonw_object_flat(&w->json);
	jsonw_key(&w->json, "id");
	jsonw_i64(&w->json, d->index);
	jsonw_key_text(&w->json, "name", strtab_str(w->s->strings, d->name));
	put_text_if_known(w, "type", d->type);
	put_text_if_known(w, "arch", d->arch);
	put_compute(w, strtab_str(w->s->strings, d->arch));
	put_text_if_known(w, "uuid", d->uuid);
	put_if_known(w, "numSms", d->num_sms);
	put_if_known(w, "totalGlobalMem", d->memory_bytes);
	put_if_known(w, "clockRate", d->clock_khz);
	put_if_known(w, "memoryClockRate", d->memory_clock_khz);
	put_if_known(w, "memoryBusWidth", d->bus_width_bits);
	jsonw_object_end(&w->json);
}

static void put_devices(struct writer *w)
{
	jsonw_key_array(&w->json, "deviceProperties");
	for (size_t i = 0; i < w->s->n_devices; i++)
		put_device(w, &w->s->devices[i]);
	jsonw_array_end(&w->json);
}

/* A trace is of one rank, or says nothing of it. */
static void put_rank(struct writer *w)
{
	if (w->s->n_processes != 1 || w->s->processes[0].rank < 0)
		return;
	jsonw_key(&w->json, "distributedInfo");
	jsonw_object_flat(&w->json);
	jsonw_key_u64(&w->json, "rank", (uint64_t)w->s->processes[0].rank);
	jsonw_object_end(&w->json);
}

/* ---- events ---- */

/* Of one that is too deep the outermost names, "…", and its own. */
static int put_call_stack(struct writer *w, uint32_t node)
{
	int r = export_path(w->s, node, &w->path);
	size_t n = w->path.n, left_out = n > w->most ? n - w->most : 0;

	jsonw_key_array(&w->json, "call_stack");
	jsonw_strings(&w->json, "ROOT");
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (left_out && i == n - 1 - left_out) {
			jsonw_strings(&w->json, "\xe2\x80\xa6");
			i = n - 1;
		}
		jsonw_strings(&w->json, export_name(&w->names, w->path.nodes[i]));
	}
	jsonw_array_end(&w->json);
	return r;
}

/* The value of a metric in a row; false: absent. */
static bool row_value(const struct session *s, const struct session_row *row, uint32_t metric,
		      uint64_t *ret)
{
	uint32_t at = session_row_place(s, row, metric);

	if (at == SESSION_NONE || !s->present[at])
		return false;
	*ret = s->values[at].u64;
	return true;
}

/* Bytes and number of all copies of a calling context on a lane, over all epochs. The first row
 * that has them, or SESSION_NONE. */
static uint32_t sum_bytes(const struct session *s, const struct session_interval *v,
			  uint64_t *ret_bytes, uint64_t *ret_count)
{
	uint32_t row = session_first_row(s, v->node), first = SESSION_NONE;
	uint64_t bytes, count;

	*ret_bytes = *ret_count = 0;
	for (; row != SESSION_NONE; row = session_next_row(s, row)) {
		if (s->rows[row].lane != v->lane ||
		    !row_value(s, &s->rows[row], METRIC_BYTES, &bytes) ||
		    !row_value(s, &s->rows[row], METRIC_COUNT, &count))
			continue;
		first = first == SESSION_NONE ? row : first;
		*ret_bytes += bytes;
		*ret_count += count;
	}
	return first;
}

/* A session holds the bytes of all copies in a calling context on a stream, not of each: an event
 * has its share. Mostly all have the same size, and then it is the truth. */
static void put_bytes(struct writer *w, const struct session_interval *v)
{
	uint64_t bytes, count, left, k;
	uint32_t row = sum_bytes(w->s, v, &bytes, &count);

	if (row == SESSION_NONE || !count)
		return;
	left = bytes % count;
	k = w->n_written[row]++ % count;
	jsonw_key_u64(&w->json, "bytes", bytes / count + left * (k + 1) / count - left * k / count);
	if (count > 1)
		jsonw_key_u64(&w->json, "bytes_mean_of", count);
}

/* How much it is. */
static void put_amount(struct writer *w, const struct session_interval *v)
{
	static const char *const keys[] = {[PAGES_BYTES] = "bytes", [PAGES_NUMBER] = "count"};
	uint8_t unit = pages_kind(session_node_name(w->s, v->node)).unit;

	if (unit < ARRAY_SIZE(keys))
		jsonw_key_u64(&w->json, keys[unit], v->amount);
}

/* Where work ran; of a range of the host, its process and thread say that. */
static void put_place(struct writer *w, const struct session_interval *v)
{
	const struct session_lane *lane = &w->s->lanes[v->lane];

	put_if_known(w, "context", lane->context);
	if (lane->device != SESSION_NONE) {
		jsonw_key(&w->json, "device");
		jsonw_i64(&w->json, w->s->devices[lane->device].index);
	}
	if (lane->stream != SESSION_NONE && !interval_is_pages(w->s, v))
		jsonw_key_u64(&w->json, "stream", lane->stream);
	put_if_known(w, "thread", lane->thread);
}

static int put_event(struct writer *w, const struct timeline_event *e)
{
	const struct session_interval *v = &w->s->intervals[e->interval];
	const struct timeline_track *track = &w->timeline.tracks[e->track];
	int r;

	jsonw_object_flat(&w->json);
	jsonw_key_object(&w->json, "args");
	if (track->pages)
		put_amount(w, v);
	else if (!track->is_host)
		put_bytes(w, v);
	r = put_call_stack(w, v->node);
	if (!track->is_host)
		put_place(w, v);
	put_if_known(w, "latency_ns", interval_latency_ns(w->s, v));
	jsonw_object_end(&w->json);
	jsonw_key_text(&w->json, "cat", timeline_categories[timeline_category(w->s, v)]);
	key_us(w, "dur", v->end_ns - v->start_ns);
	jsonw_key_text(&w->json, "name", export_name(&w->names, v->node));
	jsonw_key_text(&w->json, "ph", "X");
	jsonw_key_u64(&w->json, "pid", pid_of(w, track->group));
	jsonw_key_u64(&w->json, "tid", tid_of(w, e->track));
	key_us(w, "ts", v->start_ns - w->zero_ns);
	jsonw_object_end(&w->json);
	return r;
}

/* One end of an arrow. */
static void put_flow(struct writer *w, uint32_t id, const char *end, uint32_t track, uint64_t ns)
{
	jsonw_object_flat(&w->json);
	if (*end == 'f')
		jsonw_key_text(&w->json, "bp", "e");
	jsonw_key_text(&w->json, "cat", "ac2g");
	jsonw_key_u64(&w->json, "id", id + UINT64_C(1));
	jsonw_key_text(&w->json, "name", "launch");
	jsonw_key_text(&w->json, "ph", end);
	jsonw_key_u64(&w->json, "pid", pid_of(w, w->timeline.tracks[track].group));
	jsonw_key_u64(&w->json, "tid", tid_of(w, track));
	key_us(w, "ts", ns - w->zero_ns);
	jsonw_object_end(&w->json);
}

static void put_launch(struct writer *w, uint32_t event)
{
	const struct timeline *t = &w->timeline;
	const struct session_interval *v = &w->s->intervals[t->events[event].interval];
	uint32_t by = t->launchers[event];

	if (by == SESSION_NONE)
		return;
	put_flow(w, event, "s", t->events[by].track, v->start_ns - v->latency_ns);
	put_flow(w, event, "f", t->events[event].track, v->start_ns);
}

/* A counter of a device; its value is called as what it counts is. */
static void put_counter(void *ctx, uint32_t group, enum counter counter, uint64_t ns, double value)
{
	struct writer *w = ctx;

	jsonw_object_flat(&w->json);
	jsonw_key_object(&w->json, "args");
	jsonw_key(&w->json, counter_tracks[counter].key);
	jsonw_f64(&w->json, value);
	jsonw_object_end(&w->json);
	jsonw_key_text(&w->json, "name", counter_tracks[counter].name);
	jsonw_key_text(&w->json, "ph", "C");
	jsonw_key_u64(&w->json, "pid", pid_of(w, group));
	key_us(w, "ts", ns - w->zero_ns);
	jsonw_object_end(&w->json);
}

/* On a track of their own behind all others. */
static void put_unrecorded(void *ctx, uint32_t group, const struct unrecorded_span *span)
{
	struct writer *w = ctx;
	uint64_t tid = w->timeline.n_tracks + group;

	jsonw_object_flat(&w->json);
	jsonw_key_object(&w->json, "args");
	jsonw_key_text(&w->json, "reason", unrecorded_words[span->reason]);
	jsonw_object_end(&w->json);
	jsonw_key_text(&w->json, "cat", "unrecorded");
	key_us(w, "dur", span->end_ns - span->start_ns);
	jsonw_key_text(&w->json, "name", UNRECORDED_TRACK);
	jsonw_key_text(&w->json, "ph", "X");
	jsonw_key_u64(&w->json, "pid", pid_of(w, group));
	jsonw_key_u64(&w->json, "tid", tid);
	key_us(w, "ts", span->start_ns - w->zero_ns);
	jsonw_object_end(&w->json);
	if (w->unrecorded_in == group)
		return;
	w->unrecorded_in = group;
	buf_puts(&w->name, UNRECORDED_TRACK);
	put_metadata(w, "thread_name", group, tid);
}

/* The time of day at CLOCK_MONOTONIC `ns`, where a process gave a pair; else ns as it is. */
static uint64_t time_of_day(const struct session *s, uint64_t ns)
{
	int64_t offset_ns;

	for (uint32_t i = 0; i < s->n_processes; i++)
		if (session_clock_offset(s, i, &offset_ns))
			return ns + (uint64_t)offset_ns;
	return ns;
}

static int put_trace(struct writer *w)
{
	int r = 0;

	jsonw_object(&w->json);
	jsonw_key_u64(&w->json, "baseTimeNanoseconds", time_of_day(w->s, w->zero_ns));
	put_devices(w);
	put_rank(w);
	jsonw_key_text(&w->json, "displayTimeUnit", "us");
	jsonw_key_array(&w->json, "traceEvents");
	if (!w->no_names)
		put_names(w);
	for (uint32_t i = 0; r == 0 && i < w->timeline.n_events; i++) {
		r = put_event(w, &w->timeline.events[i]);
		put_launch(w, i);
	}
	if (r == 0 && !w->no_names)
		r = counters_put(&w->timeline, w->s, put_counter, w);
	if (r == 0 && !w->no_names)
		r = unrecorded_put_all(&w->timeline, w->s, put_unrecorded, w);
	jsonw_array_end(&w->json);
	jsonw_object_end(&w->json);
	return r;
}

int chrome_write(const struct session *s, const struct write_options *options, struct out *out)
{
	struct writer w = {
		.s = s, .unrecorded_in = SESSION_NONE, .no_names = options && options->no_names};
	int r = timeline_init(&w.timeline, s);

	if (r < 0)
		return r;
	w.zero_ns = s->intervals[w.timeline.events[0].interval].start_ns;
	buf_init(&w.name, 0);
	jsonw_init(&w.json, out, options && options->compact);
	w.n_written = calloc(s->n_rows + 1, sizeof(*w.n_written));
	r = !w.n_written ? -ENOMEM : export_names_init(&w.names, s, options);
	if (r == 0)
		r = export_events_limit(s, options ? options->notes : NULL, &w.most);
	if (r == 0)
		r = timeline_link(&w.timeline, s);
	if (r == 0)
		r = put_trace(&w);
	out_putc(out, '\n');
	r = w.name.error ? w.name.error : r;
	buf_done(&w.name);
	export_names_done(&w.names);
	free(w.path.nodes);
	free(w.n_written);
	timeline_done(&w.timeline);
	return r < 0 ? r : out->error;
}
