/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Scopes within kernels for Perfetto: a group is a block, a track a warp, on which scopes lie in each other; what cannot lie so has
 * further tracks. A cycle is a nanosecond, or by the clock that was measured. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/export.h"
#include "format/perfetto_packets.h"
#include "format/warp_lines.h"
#include "format/warps.h"

#define NONE WARP_TRACE_NO_PARENT
enum { VALUE_IID = 1 };

struct writer {
	const struct warps_write_options *o;
	struct perfetto_packets p;
	uint64_t uuid;   /* of the latest track */
	uint64_t block;  /* of the group at hand */
	uint64_t *lines; /* of a warp: its tracks; 0: it has none yet */
	uint32_t *open;  /* … their innermost scope that goes on */
	size_t n_lines, cap_lines, cap_open;
	uint8_t *sent; /* of a name: it is interned */
	size_t n_events;
};

static const char *text_of(const struct warp_lines *l, uint32_t name)
{
	return strtab_str(l->t->names, name);
}

static void put_text(struct writer *w, const char *text)
{
	export_put_text(&w->p.text, text, strlen(text));
}

static void put_group(struct writer *w, const struct warp_lines *l,
		      const struct warp_lines_block *b)
{
	const char *raw = text_of(l, b->launch->kernel);
	char *name = naming_of_mode(w->o->naming, raw, FRAME_KERNEL, w->o->names);
	char process[WARP_PROCESS_TEXT];

	warp_trace_process_text(l->t, b->launch, process);
	buf_printf(&w->p.text, "%s%s", process, *process ? " " : "");
	put_text(w, name ? name : raw);
	buf_printf(&w->p.text, " Core%u CTA%llu", b->multiprocessor, (unsigned long long)b->block);
	free(name);
	w->block = ++w->uuid;
	perfetto_put_track(&w->p, w->block, 0);
}

/* The track of a line of a warp, which is told of once it is used. */
static uint64_t track_of(struct writer *w, const struct warp_trace_warp *warp, uint32_t line)
{
	if (w->lines[line])
		return w->lines[line];
	buf_printf(&w->p.text, "warp %u", warp->warp);
	if (line)
		buf_printf(&w->p.text, " (line %u)", line);
	w->lines[line] = ++w->uuid;
	perfetto_put_track(&w->p, w->lines[line], w->block);
	return w->lines[line];
}

static void intern_name(struct writer *w, const struct warp_lines *l, uint32_t name)
{
	buf_clear(&w->p.message);
	if (w->sent[name])
		return;
	w->sent[name] = 1;
	put_text(w, text_of(l, name));
	perfetto_intern(&w->p, INTERNED_NAMES, name + UINT64_C(1));
	pb_message(&w->p.packet, PACKET_INTERNED, &w->p.message);
}

/* What records cost can be more than the time that passed: what would be before the device's clock began is then. */
static uint64_t time_of(const struct writer *w, const struct warp_lines *l,
			const struct warp_lines_block *b, const struct warp_trace_warp *warp,
			int64_t cycle)
{
	double ns = round(warp_lines_ns(l, b, warp, cycle, w->o->in_ns));

	return ns < 0 && l->first_ns < -ns ? 0 : l->first_ns + (uint64_t)(int64_t)ns;
}

static void put_value(struct writer *w, const struct warp_trace_scope *s)
{
	uint64_t bits;

	memcpy(&bits, &s->value, sizeof(bits));
	buf_clear(&w->p.inner);
	pb_u64(&w->p.inner, ANNOTATION_NAME_IID, VALUE_IID);
	pb_fixed64(&w->p.inner, ANNOTATION_DOUBLE, bits);
	pb_message(&w->p.message, EVENT_ANNOTATION, &w->p.inner);
}

/* A slice begins, or an instant is. */
static void put_begin(struct writer *w, const struct warp_lines *l,
		      const struct warp_trace_scope *s, uint64_t track, uint64_t time_ns)
{
	bool is_instant = s->event == WARP_EVENT_MARK || s->event == WARP_EVENT_VALUE;

	perfetto_packet_begin(&w->p, time_ns);
	intern_name(w, l, s->name);
	buf_clear(&w->p.message);
	pb_u64(&w->p.message, EVENT_TYPE, is_instant ? INSTANT : SLICE_BEGIN);
	pb_u64(&w->p.message, EVENT_TRACK, track);
	pb_u64(&w->p.message, EVENT_NAME_IID, s->name + UINT64_C(1));
	if (s->event == WARP_EVENT_VALUE)
		put_value(w, s);
	pb_message(&w->p.packet, PACKET_EVENT, &w->p.message);
	perfetto_packet_end(&w->p);
	w->n_events++;
}

/* End what goes on on a line, the innermost first, down to one scope. */
static void end_down_to(struct writer *w, const struct warp_lines *l,
			const struct warp_lines_block *b, const struct warp_trace_warp *warp,
			uint32_t line, uint32_t scope)
{
	uint32_t *open = &w->open[line];

	for (; *open != scope && *open != NONE; *open = l->scopes[*open].outer)
		perfetto_put_end(&w->p, w->lines[line],
				 time_of(w, l, b, warp, l->scopes[*open].leave));
}

static int put_warp(struct writer *w, struct warp_lines *l, const struct warp_lines_block *b,
		    const struct warp_trace_warp *warp)
{
	size_t n = MAX(l->n_lines, 1u);

	if (ARRAY_ROOM(w->lines, w->cap_lines, n) < 0 || ARRAY_ROOM(w->open, w->cap_open, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		w->lines[i] = 0;
		w->open[i] = NONE;
	}
	for (uint32_t i = 0; i < l->n_scopes; i++) {
		const struct warp_lines_scope *s = &l->scopes[i];
		uint64_t track = track_of(w, warp, s->line);

		end_down_to(w, l, b, warp, s->line, s->outer);
		if (warp_lines_lasts(s))
			w->open[s->line] = i;
		put_begin(w, l, s->scope, track, time_of(w, l, b, warp, s->enter));
	}
	for (uint32_t i = 0; i < l->n_lines; i++)
		end_down_to(w, l, b, warp, i, NONE);
	return 0;
}

static int put_block(void *ctx, struct warp_lines *l, const struct warp_lines_block *b)
{
	struct writer *w = ctx;
	int r = 0;

	put_group(w, l, b);
	for (size_t i = 0; r == 0 && i < b->n_warps; i++) {
		r = warp_lines_of(l, b->warps[i]);
		if (r == 0)
			r = put_warp(w, l, b, b->warps[i]);
	}
	return r;
}

static void put_start(struct writer *w)
{
	buf_clear(&w->p.message);
	put_text(w, "value");
	perfetto_intern(&w->p, INTERNED_ANNOTATIONS, VALUE_IID);
	perfetto_put_start(&w->p);
}

int warps_perfetto(const struct warp_trace *t, const struct warps_write_options *o, struct out *out)
{
	struct writer w = {.o = o, .sent = calloc(strtab_count(t->names) + 1, 1)};
	struct warp_lines l;
	int r = w.sent ? 0 : -ENOMEM;

	warp_lines_init(&l, t);
	l.cost = o->cost;
	l.nests = true;
	perfetto_packets_init(&w.p, out);
	put_start(&w);
	if (r == 0)
		r = warp_lines_each(&l, put_block, &w);
	r = perfetto_packets_done(&w.p, r);
	free(w.lines);
	free(w.open);
	free(w.sent);
	warp_lines_done(&l);
	if (r == 0 && !w.n_events)
		r = -ENODATA;
	return r < 0 ? r : out->error;
}
