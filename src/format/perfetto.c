/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* A trace for Perfetto (https://ui.perfetto.dev): TracePackets with TrackEvents, in the numbers of
 * its protobuf definitions. Names, categories and calling contexts are interned: they are sent with
 * the first event that uses them. A slice begins and ends with an event of its own; the events of a
 * track are in the order of time, which is all that Perfetto asks for: what a slice lies in ends after
 * it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/counters.h"
#include "format/export.h"
#include "format/perfetto_packets.h"
#include "format/timeline.h"

enum { CONTEXT_IID = 1 };

_Static_assert(COUNTER_N < 32, "a bit for each");

struct perfetto {
	const struct session *s;
	struct timeline timeline;
	struct perfetto_packets p;
	struct export_path path;
	struct export_names names;
	uint8_t *sent; /* of a node: its name and context are interned */
	uint32_t most; /* names of a calling context */
	uint32_t *
		counted; /* of a group: a bit for each of its counters that has a track; then for what is not recorded */
	uint32_t *open; /* of a track: its innermost event that has not ended; SESSION_NONE */
	/* What an event launched: launched[first[i]] to launched[first[i + 1]]. */
	uint32_t *first, *launched;
};

/* Text as valid UTF-8, at the end of x->p.text. */
static void put_text(struct perfetto *x, const char *text)
{
	export_put_text(&x->p.text, text, strlen(text));
}

/* ---- tracks ---- */

/* Tracks have the numbers from 1 on, groups those behind them. */
static uint64_t group_uuid(const struct perfetto *x, uint32_t group)
{
	return x->timeline.n_tracks + group + 1;
}

static void put_tracks(struct perfetto *x)
{
	const struct timeline *t = &x->timeline;

	for (size_t i = 0; i < t->n_groups; i++) {
		timeline_group_name(x->s, &t->groups[i], &x->p.text);
		perfetto_put_track(&x->p, group_uuid(x, (uint32_t)i), 0);
	}
	for (size_t i = 0; i < t->n_tracks; i++) {
		timeline_track_name(x->s, &t->tracks[i], &x->p.text);
		perfetto_put_track(&x->p, i + 1, group_uuid(x, t->tracks[i].group));
	}
}

/* ---- interned texts ---- */

/* What all events share; with it the state of the sequence begins. */
static void put_start(struct perfetto *x)
{
	buf_clear(&x->p.message);
	for (size_t i = 0; i < TIMELINE_N; i++) {
		put_text(x, timeline_categories[i]);
		perfetto_intern(&x->p, INTERNED_CATEGORIES, i + 1);
	}
	put_text(x, "calling context");
	perfetto_intern(&x->p, INTERNED_ANNOTATIONS, CONTEXT_IID);
	perfetto_put_start(&x->p);
}

static int intern_node(struct perfetto *x, uint32_t node)
{
	size_t first;
	int r;

	if (x->sent[node])
		return 0;
	x->sent[node] = 1;
	buf_clear(&x->p.message);
	put_text(x, export_name(&x->names, node));
	perfetto_intern(&x->p, INTERNED_NAMES, node + UINT64_C(1));
	r = export_path(x->s, node, &x->path);
	first = x->path.n > x->most ? x->path.n - x->most : 0;
	if (first)
		buf_puts(&x->p.text, "\xe2\x80\xa6"); /* … */
	for (size_t i = first; r == 0 && i + 1 < x->path.n; i++) {
		if (i)
			buf_puts(&x->p.text, " > ");
		put_text(x, export_name(&x->names, x->path.nodes[i]));
	}
	perfetto_intern(&x->p, INTERNED_STRINGS, node + UINT64_C(1));
	pb_message(&x->p.packet, PACKET_INTERNED, &x->p.message);
	return r;
}

/* ---- events ---- */

static void put_end(struct perfetto *x, uint32_t track, uint64_t end_ns)
{
	perfetto_put_end(&x->p, track + UINT64_C(1), end_ns);
}

/* End what is open on a track, the innermost first, down to one event. */
static void end_down_to(struct perfetto *x, uint32_t track, uint32_t event)
{
	uint32_t *open = &x->open[track];

	for (; *open != event; *open = x->timeline.events[*open].outer)
		put_end(x, track, x->s->intervals[x->timeline.events[*open].interval].end_ns);
}

/* Arrows are numbered by the event that they lead to. */
static void put_flows(struct perfetto *x, uint32_t event)
{
	for (uint32_t i = x->first[event]; i < x->first[event + 1]; i++)
		pb_fixed64(&x->p.message, EVENT_FLOWS, x->launched[i] + UINT64_C(1));
	if (x->timeline.launchers[event] != SESSION_NONE)
		pb_fixed64(&x->p.message, EVENT_FLOWS_END, event + UINT64_C(1));
}

static int put_begin(struct perfetto *x, uint32_t event)
{
	const struct timeline_event *e = &x->timeline.events[event];
	const struct session_interval *v = &x->s->intervals[e->interval];
	int r;

	end_down_to(x, e->track, e->outer);
	x->open[e->track] = event;
	perfetto_packet_begin(&x->p, v->start_ns);
	r = intern_node(x, v->node);
	buf_clear(&x->p.inner);
	pb_u64(&x->p.inner, ANNOTATION_NAME_IID, CONTEXT_IID);
	pb_u64(&x->p.inner, ANNOTATION_STRING_IID, v->node + UINT64_C(1));
	buf_clear(&x->p.message);
	pb_u64(&x->p.message, EVENT_TYPE, SLICE_BEGIN);
	pb_u64(&x->p.message, EVENT_TRACK, e->track + UINT64_C(1));
	pb_u64(&x->p.message, EVENT_NAME_IID, v->node + UINT64_C(1));
	pb_u64(&x->p.message, EVENT_CATEGORY_IID, timeline_category(x->s, v) + UINT64_C(1));
	pb_message(&x->p.message, EVENT_ANNOTATION, &x->p.inner);
	put_flows(x, event);
	pb_message(&x->p.packet, PACKET_EVENT, &x->p.message);
	perfetto_packet_end(&x->p);
	return r;
}

static int put_events(struct perfetto *x)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < x->timeline.n_events; i++)
		r = put_begin(x, i);
	for (uint32_t i = 0; r == 0 && i < x->timeline.n_tracks; i++)
		end_down_to(x, i, SESSION_NONE);
	return r;
}

/* ---- counters ---- */

/* Behind those of tracks and groups. */
static uint64_t counter_uuid(const struct perfetto *x, uint32_t group, enum counter counter)
{
	return group_uuid(x, (uint32_t)x->timeline.n_groups + group * COUNTER_N + counter);
}

static void put_counter_track(struct perfetto *x, uint32_t group, enum counter counter)
{
	buf_clear(&x->p.inner);
	pb_u64(&x->p.inner, COUNTER_UNIT, counter == COUNTER_MEMORY ? UNIT_BYTES : UNIT_NONE);
	buf_clear(&x->p.message);
	pb_u64(&x->p.message, TRACK_UUID, counter_uuid(x, group, counter));
	put_text(x, counter_tracks[counter].name);
	pb_message(&x->p.message, TRACK_NAME, &x->p.text);
	pb_u64(&x->p.message, TRACK_PARENT, group_uuid(x, group));
	pb_message(&x->p.message, TRACK_COUNTER, &x->p.inner);
	pb_message(&x->p.packet, PACKET_TRACK, &x->p.message);
	perfetto_packet_end(&x->p);
	buf_clear(&x->p.text);
	x->counted[group] |= 1u << counter;
}

static void put_counter(void *ctx, uint32_t group, enum counter counter, uint64_t ns, double value)
{
	struct perfetto *x = ctx;
	uint64_t bits;

	if (!(x->counted[group] & 1u << counter))
		put_counter_track(x, group, counter);
	memcpy(&bits, &value, sizeof(bits));
	perfetto_packet_begin(&x->p, ns);
	buf_clear(&x->p.message);
	pb_u64(&x->p.message, EVENT_TYPE, VALUE);
	pb_u64(&x->p.message, EVENT_TRACK, counter_uuid(x, group, counter));
	pb_fixed64(&x->p.message, EVENT_VALUE, bits);
	pb_message(&x->p.packet, PACKET_EVENT, &x->p.message);
	perfetto_packet_end(&x->p);
}

/* ---- what is not known ---- */

/* Behind those of counters. */
static uint64_t unrecorded_uuid(const struct perfetto *x, uint32_t group)
{
	return counter_uuid(x, (uint32_t)x->timeline.n_groups, COUNTER_BUSY) + group;
}

static void put_unrecorded(void *ctx, uint32_t group, const struct unrecorded_span *span)
{
	struct perfetto *x = ctx;
	uint64_t uuid = unrecorded_uuid(x, group);

	if (!(x->counted[group] & 1u << COUNTER_N)) {
		put_text(x, UNRECORDED_TRACK);
		perfetto_put_track(&x->p, uuid, group_uuid(x, group));
		x->counted[group] |= 1u << COUNTER_N;
	}
	perfetto_packet_begin(&x->p, span->start_ns);
	buf_clear(&x->p.message);
	pb_u64(&x->p.message, EVENT_TYPE, SLICE_BEGIN);
	pb_u64(&x->p.message, EVENT_TRACK, uuid);
	put_text(x, unrecorded_words[span->reason]);
	pb_message(&x->p.message, EVENT_NAME, &x->p.text);
	buf_clear(&x->p.text);
	pb_message(&x->p.packet, PACKET_EVENT, &x->p.message);
	perfetto_packet_end(&x->p);
	perfetto_put_end(&x->p, uuid, span->end_ns);
}

static int put_trace(struct perfetto *x)
{
	int r;

	perfetto_packets_init(&x->p, x->p.out);
	put_tracks(x);
	put_start(x);
	r = put_events(x);
	if (r == 0)
		r = counters_put(&x->timeline, x->s, put_counter, x);
	if (r == 0)
		r = unrecorded_put_all(&x->timeline, x->s, put_unrecorded, x);
	return perfetto_packets_done(&x->p, r);
}

/* Events that were launched, by who launched them. */
static int list_launched(struct perfetto *x)
{
	const struct timeline *t = &x->timeline;

	x->first = calloc(t->n_events + 2, sizeof(*x->first));
	x->launched = malloc(t->n_events * sizeof(*x->launched));
	if (!x->first || !x->launched)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_events; i++)
		if (t->launchers[i] != SESSION_NONE)
			x->first[t->launchers[i] + 2]++;
	for (size_t i = 2; i < t->n_events + 2; i++)
		x->first[i] += x->first[i - 1];
	for (uint32_t i = 0; i < t->n_events; i++)
		if (t->launchers[i] != SESSION_NONE)
			x->launched[x->first[t->launchers[i] + 1]++] = i;
	return 0;
}

static int perfetto_write(const struct session *s, const struct write_options *options,
			  struct out *out)
{
	struct perfetto x = {.s = s, .p.out = out};
	int r = timeline_init(&x.timeline, s);

	if (r < 0)
		return r;
	x.sent = calloc(s->n_nodes, 1);
	x.counted = calloc(x.timeline.n_groups, sizeof(*x.counted));
	x.open = malloc(x.timeline.n_tracks * sizeof(*x.open));
	if (x.open)
		memset(x.open, 0xff, x.timeline.n_tracks * sizeof(*x.open));
	r = x.sent && x.counted && x.open ? export_names_init(&x.names, s, options) : -ENOMEM;
	if (r == 0)
		r = export_events_limit(s, options ? options->notes : NULL, &x.most);
	if (r == 0)
		r = timeline_link(&x.timeline, s);
	if (r == 0)
		r = list_launched(&x);
	if (r == 0)
		r = put_trace(&x);
	export_names_done(&x.names);
	free(x.sent);
	free(x.counted);
	free(x.open);
	free(x.first);
	free(x.launched);
	free(x.path.nodes);
	timeline_done(&x.timeline);
	return r < 0 ? r : out->error;
}

const struct format format_perfetto = {
	.name = "perfetto",
	.suffix = ".perfetto-trace",
	.names = NAME_DEMANGLED,
	.help = "every execution, for ui.perfetto.dev (record --trace)",
	.write = perfetto_write,
};
