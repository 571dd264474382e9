/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Chrome trace JSON, in the form of Triton's Proton (data="trace"): microseconds from the first
 * event on, the calling context of each in args.call_stack. Our own reader makes the same tree and
 * the same sums of it. */
#include "format/chrome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/export.h"
#include "format/json_writer.h"
#include "format/timeline.h"

struct writer {
	const struct session *s;
	struct timeline timeline;
	struct json_writer json;
	struct export_path path;
	struct buf name;
	uint64_t zero_ns;
};

static void key_text(struct writer *w, const char *key, const char *text)
{
	jsonw_key(&w->json, key);
	jsonw_strings(&w->json, text);
}

static void key_u64(struct writer *w, const char *key, uint64_t v)
{
	jsonw_key(&w->json, key);
	jsonw_u64(&w->json, v);
}

/* Nanoseconds as microseconds: exact in a double for a hundred days. */
static void key_us(struct writer *w, const char *key, uint64_t ns)
{
	jsonw_key(&w->json, key);
	jsonw_f64(&w->json, (double)ns / 1e3);
}

/* ---- who is who ---- */

static void put_metadata(struct writer *w, const char *what, uint32_t group, uint32_t track)
{
	jsonw_object_flat(&w->json);
	jsonw_key(&w->json, "args");
	jsonw_object(&w->json);
	key_text(w, "name", buf_str(&w->name));
	jsonw_object_end(&w->json);
	key_text(w, "name", what);
	key_text(w, "ph", "M");
	key_u64(w, "pid", group);
	if (track != SESSION_NONE)
		key_u64(w, "tid", track);
	jsonw_object_end(&w->json);
	buf_clear(&w->name);
}

static void put_names(struct writer *w)
{
	const struct timeline *t = &w->timeline;

	for (size_t i = 0; i < t->n_groups; i++) {
		timeline_group_name(w->s, &t->groups[i], &w->name);
		put_metadata(w, "process_name", (uint32_t)i, SESSION_NONE);
	}
	for (size_t i = 0; i < t->n_tracks; i++) {
		timeline_track_name(w->s, &t->tracks[i], &w->name);
		put_metadata(w, "thread_name", t->tracks[i].group, (uint32_t)i);
	}
}

/* Under the keys of torch.profiler. */
static void put_devices(struct writer *w)
{
	const struct session *s = w->s;

	jsonw_key(&w->json, "deviceProperties");
	jsonw_array(&w->json);
	for (size_t i = 0; i < s->n_devices; i++) {
		const struct session_device *d = &s->devices[i];

		jsonw_object_flat(&w->json);
		jsonw_key(&w->json, "id");
		jsonw_i64(&w->json, d->index);
		key_text(w, "name", strtab_str(s->strings, d->name));
		key_u64(w, "numSms", d->num_sms);
		key_u64(w, "totalGlobalMem", d->memory_bytes);
		jsonw_object_end(&w->json);
	}
	jsonw_array_end(&w->json);
}

/* ---- events ---- */

static int put_call_stack(struct writer *w, uint32_t node)
{
	int r = export_path(w->s, node, &w->path);

	jsonw_key(&w->json, "call_stack");
	jsonw_array(&w->json);
	jsonw_strings(&w->json, "ROOT");
	for (size_t i = 0; r == 0 && i < w->path.n; i++)
		jsonw_strings(&w->json, export_name(w->s, w->path.nodes[i]));
	jsonw_array_end(&w->json);
	return r;
}

static int put_event(struct writer *w, const struct timeline_event *e)
{
	const struct session_interval *v = &w->s->intervals[e->interval];
	const struct session_lane *lane = &w->s->lanes[v->lane];
	int r;

	jsonw_object_flat(&w->json);
	jsonw_key(&w->json, "args");
	jsonw_object(&w->json);
	r = put_call_stack(w, v->node);
	if (lane->device != SESSION_NONE) {
		jsonw_key(&w->json, "device");
		jsonw_i64(&w->json, w->s->devices[lane->device].index);
	}
	key_u64(w, "stream", lane->stream);
	jsonw_object_end(&w->json);
	key_text(w, "cat", timeline_category(w->s, v->node));
	key_us(w, "dur", v->end_ns - v->start_ns);
	key_text(w, "name", export_name(w->s, v->node));
	key_text(w, "ph", "X");
	key_u64(w, "pid", w->timeline.tracks[e->track].group);
	key_u64(w, "tid", e->track);
	key_us(w, "ts", v->start_ns - w->zero_ns);
	jsonw_object_end(&w->json);
	return r;
}

/* The time of day at CLOCK_MONOTONIC `ns`, where a process gave a pair; else ns as it is. */
static uint64_t time_of_day(const struct session *s, uint64_t ns)
{
	for (size_t i = 0; i < s->n_clocks; i++) {
		const struct session_clock *c = &s->clocks[i];

		if (!strcmp(strtab_str(s->strings, c->name), "realtime"))
			return ns + (c->clock_ns - c->monotonic_ns);
	}
	return ns;
}

static int put_trace(struct writer *w)
{
	int r = 0;

	jsonw_object(&w->json);
	key_u64(w, "baseTimeNanoseconds", time_of_day(w->s, w->zero_ns));
	put_devices(w);
	key_text(w, "displayTimeUnit", "us");
	jsonw_key(&w->json, "traceEvents");
	jsonw_array(&w->json);
	put_names(w);
	for (size_t i = 0; r == 0 && i < w->timeline.n_events; i++)
		r = put_event(w, &w->timeline.events[i]);
	jsonw_array_end(&w->json);
	jsonw_object_end(&w->json);
	return r;
}

int chrome_write(const struct session *s, const struct write_options *options, struct out *out)
{
	struct writer w = {.s = s};
	int r = timeline_init(&w.timeline, s);

	if (r < 0)
		return r;
	w.zero_ns = s->intervals[w.timeline.events[0].interval].start_ns;
	buf_init(&w.name, 0);
	jsonw_init(&w.json, out, options && options->compact);
	r = put_trace(&w);
	out_putc(out, '\n');
	r = w.name.error ? w.name.error : r;
	buf_done(&w.name);
	free(w.path.nodes);
	timeline_done(&w.timeline);
	return r < 0 ? r : out->error;
}
