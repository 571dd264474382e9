/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Scopes within kernels as Triton's Proton writes them (data="trace" of its instrumentation): a block is a process, a line of a warp a
 * thread; a cycle is a nanosecond. Or in real time, where the clock was measured; then "Frequency (MHz)" is what it was. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idindex.h"
#include "base/hash.h"
#include "base/util.h"
#include "format/json_writer.h"
#include "format/warp_lines.h"
#include "format/warps.h"

#define CYCLE_MHZ 1000.0 /* at which one is a nanosecond */

/* Names of colours that viewers know, in the order in which Triton's Proton has its scopes take turns. */
static const char *const colours[] = {
	"cq_build_passed",
	"cq_build_failed",
	"thread_state_iowait",
	"thread_state_running",
	"thread_state_runnable",
	"thread_state_unknown",
	"rail_response",
	"rail_idle",
	"rail_load",
	"cq_build_attempt_passed",
	"cq_build_attempt_failed",
};

struct writer {
	const struct warps_write_options *o;
	struct json_writer json;
	struct buf text;
	const struct warp_trace_launch *launch; /* whose colours these are */
	uint32_t *coloured;                     /* names, by their number in turn */
	size_t n_coloured, cap_coloured;
	struct idindex by_name;
	size_t n_events;
	char *kernel; /* its name, as it is written; NULL: raw */
};

static const char *text_of(const struct warp_lines *l, uint32_t name)
{
	return strtab_str(l->t->names, name);
}

static bool is_coloured(const void *ctx, uint32_t i, const void *name)
{
	return ((const struct writer *)ctx)->coloured[i] == *(const uint32_t *)name;
}

/* NULL: out of memory. */
static const char *colour_of(struct writer *w, uint32_t name)
{
	uint32_t i = idindex_find(&w->by_name, hash_u64(name), is_coloured, w, &name);

	if (i == IDINDEX_NONE) {
		i = (uint32_t)w->n_coloured;
		if (ARRAY_ROOM(w->coloured, w->cap_coloured, w->n_coloured + 1) < 0 ||
		    idindex_add(&w->by_name, hash_u64(name), i) < 0)
			return NULL;
		w->coloured[w->n_coloured++] = name;
	}
	return colours[i % ARRAY_SIZE(colours)];
}

/* Each launch begins with the first one. */
static void begin_launch(struct writer *w, const struct warp_lines *l,
			 const struct warp_trace_launch *launch)
{
	if (w->launch == launch)
		return;
	w->launch = launch;
	w->n_coloured = 0;
	idindex_done(&w->by_name);
	free(w->kernel);
	w->kernel =
		naming_of_mode(w->o->naming, text_of(l, launch->kernel), FRAME_KERNEL, w->o->names);
}

static const char *kernel_of(const struct writer *w, const struct warp_lines *l)
{
	return w->kernel ? w->kernel : text_of(l, w->launch->kernel);
}

/* What its events are of. */
static const char *symbol_of(const struct writer *w, const struct warp_lines *l)
{
	return w->launch->symbol ? text_of(l, w->launch->symbol) : kernel_of(w, l);
}

/* The kernel is its last frame. */
static void put_call_stack(struct writer *w, const struct warp_lines *l)
{
	uint32_t path = w->launch->path;
	const char *at = text_of(l, path), *end = at + strtab_len(l->t->names, path);

	jsonw_key_array(&w->json, "call_stack");
	jsonw_strings(&w->json, "ROOT");
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		jsonw_string(&w->json, at, (size_t)(stop - at));
		at = stop + 1;
	}
	jsonw_strings(&w->json, kernel_of(w, l));
	jsonw_array_end(&w->json);
}

/* What of a scope's own: "async" ones of Triton's Proton have nothing of it. */
static void put_block_args(struct writer *w, const struct warp_lines *l,
			   const struct warp_lines_block *b)
{
	uint64_t copied_ns = MAX(b->copied_ns, b->left_ns);

	jsonw_key_u64(&w->json, "Finalization Time (ns)", copied_ns - b->left_ns);
	jsonw_key(&w->json, "Frequency (MHz)");
	jsonw_f64(&w->json, CYCLE_MHZ / warp_lines_cycle_ns(l, w->o->in_ns));
	jsonw_key_u64(&w->json, "Init Time (ns)", b->entered_ns);
	jsonw_key_u64(&w->json, "Post Final Time (ns)", copied_ns);
}

static void put_args(struct writer *w, const struct warp_lines *l, const struct warp_lines_block *b,
		     const struct warp_trace_scope *s)
{
	jsonw_key_object(&w->json, "args");
	if (s->event != WARP_EVENT_ASYNC)
		put_block_args(w, l, b);
	put_call_stack(w, l);
	if (s->event == WARP_EVENT_VALUE) {
		jsonw_key(&w->json, "value");
		jsonw_f64(&w->json, s->value);
	}
	jsonw_object_end(&w->json);
}

/* Microseconds, of which each has 1000 of what is counted. A clock that is broken is no reason to refuse the whole file where it is
 * read. */
static void put_time(struct writer *w, const char *key, double v)
{
	jsonw_key(&w->json, key);
	jsonw_f64(&w->json, CLAMP(v, -WARP_LINES_NS_MOST, WARP_LINES_NS_MOST) / 1000);
}

static int put_scope(struct writer *w, const struct warp_lines *l, const struct warp_lines_block *b,
		     const struct warp_trace_warp *warp, const struct warp_lines_scope *s)
{
	const char *kernel = symbol_of(w, l);
	const char *colour = colour_of(w, s->scope->name);
	bool is_instant = !warp_lines_lasts(s);
	char process[WARP_PROCESS_TEXT];

	if (!colour)
		return -ENOMEM;
	jsonw_object_flat(&w->json);
	put_args(w, l, b, s->scope);
	jsonw_key_text(&w->json, "cat", s->scope->event == WARP_EVENT_ASYNC ? "async" : kernel);
	jsonw_key_text(&w->json, "cname", colour);
	if (!is_instant)
		put_time(w, "dur",
			 (double)((uint64_t)s->leave - (uint64_t)s->enter) *
				 warp_lines_cycle_ns(l, w->o->in_ns));
	jsonw_key_text(&w->json, "name", text_of(l, s->scope->name));
	jsonw_key_text(&w->json, "ph", is_instant ? "i" : "X");
	warp_trace_process_text(l->t, b->launch, process);
	buf_clear(&w->text);
	buf_printf(&w->text, "%s%s%s Core%u CTA%llu", process, *process ? " " : "", kernel,
		   b->multiprocessor, (unsigned long long)b->block);
	jsonw_key_text(&w->json, "pid", buf_str(&w->text));
	if (is_instant)
		jsonw_key_text(&w->json, "s", "t");
	buf_clear(&w->text);
	buf_printf(&w->text, "warp %u (line %u)", warp->warp, s->line);
	jsonw_key_text(&w->json, "tid", buf_str(&w->text));
	put_time(w, "ts", warp_lines_ns(l, b, warp, s->enter, w->o->in_ns));
	jsonw_object_end(&w->json);
	w->n_events++;
	return w->text.error;
}

static int put_block(void *ctx, struct warp_lines *l, const struct warp_lines_block *b)
{
	struct writer *w = ctx;
	int r = 0;

	begin_launch(w, l, b->launch);
	for (size_t i = 0; r == 0 && i < b->n_warps; i++) {
		r = warp_lines_of(l, b->warps[i]);
		for (size_t k = 0; r == 0 && k < l->n_scopes; k++)
			r = put_scope(w, l, b, b->warps[i], &l->scopes[k]);
	}
	return r;
}

int warps_chrome(const struct warp_trace *t, const struct warps_write_options *o, struct out *out)
{
	struct writer w = {.o = o};
	struct warp_lines l;
	int r;

	warp_lines_init(&l, t);
	l.cost = o->cost;
	buf_init(&w.text, 0);
	jsonw_init(&w.json, out, true);
	jsonw_object(&w.json);
	jsonw_key_text(&w.json, "displayTimeUnit", "ns");
	jsonw_key_array(&w.json, "traceEvents");
	r = warp_lines_each(&l, put_block, &w);
	jsonw_array_end(&w.json);
	jsonw_object_end(&w.json);
	out_putc(out, '\n');
	buf_done(&w.text);
	free(w.coloured);
	free(w.kernel);
	idindex_done(&w.by_name);
	warp_lines_done(&l);
	if (r == 0 && !w.n_events)
		r = -ENODATA;
	return r < 0 ? r : out->error;
}
