/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Scopes within kernels from traces as Triton's Proton writes them: a process is a block ("matmul Core3 CTA17"), a thread is a line of a
 * warp ("warp 2 (line 1)"), a microsecond is 1000 cycles. Launches of a kernel from one calling context cannot be told apart. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "format/chrome.h"
#include "format/warps.h"

#define NONE      WARP_TRACE_NO_PARENT
#define OPEN_MOST 256 /* scopes of a warp in which another one may lie */

struct event {
	int64_t enter, leave;
	uint64_t block;
	uint32_t kernel, path, name; /* in the trace's names */
	uint32_t core, warp;
	enum warp_event is;
};

struct reader {
	struct session *s; /* has the texts of the file */
	struct warp_trace *t;
	struct event *events;
	size_t n, cap;
	struct buf path;
	struct warp_trace_scope *scopes; /* of a warp */
	uint32_t *open;
	size_t cap_scopes, cap_open;
};

/* The number behind a word, to its end or to a blank; what is before the word is *ret_before long. False: there is none. */
static bool number_behind(const char *text, const char *word, uint64_t *ret, size_t *ret_before)
{
	const char *at = NULL, *next = strstr(text, word);
	char *end;

	/* The last one: the name of a kernel could have it, too. */
	for (; next; next = strstr(next + 1, word))
		at = next;
	if (!at || at[strlen(word)] < '0' || at[strlen(word)] > '9')
		return false;
	errno = 0;
	*ret = strtoull(at + strlen(word), &end, 10);
	*ret_before = (size_t)(at - text);
	return !errno && (!*end || *end == ' ');
}

/* "matmul Core3 CTA17", "warp 2 (line 1)" */
static bool parse_place(struct reader *r, const struct chrome_event *e, struct event *ret)
{
	const char *pid = strtab_str(r->s->strings, e->pid);
	uint64_t core, warp;
	size_t before, n_name;

	if (!number_behind(pid, " Core", &core, &n_name) ||
	    !number_behind(pid, " CTA", &ret->block, &before) || before < n_name ||
	    !number_behind(strtab_str(r->s->strings, e->tid), "warp ", &warp, &before) || before ||
	    core > UINT32_MAX || warp > UINT32_MAX)
		return false;
	ret->core = (uint32_t)core;
	ret->warp = (uint32_t)warp;
	ret->kernel = strtab_add(r->t->names, pid, n_name);
	return true;
}

/* The calling context, without the root and the kernel. STRTAB_NONE: out of memory. */
static uint32_t path_of(struct reader *r, const struct chrome_event *e, uint32_t kernel)
{
	const char *name = strtab_str(r->t->names, kernel);
	size_t n = e->n_call_stack;

	if (n > 0 && !strcmp(strtab_str(r->s->strings, e->call_stack[n - 1]), name))
		n--;
	buf_clear(&r->path);
	for (size_t i = 0; i < n; i++) {
		const char *frame = strtab_str(r->s->strings, e->call_stack[i]);

		if (!i && !strcmp(frame, "ROOT"))
			continue;
		if (r->path.len)
			buf_putc(&r->path, '\n');
		buf_puts(&r->path, frame);
	}
	return r->path.error ? STRTAB_NONE
			     : strtab_add(r->t->names, buf_str(&r->path), r->path.len);
}

static enum warp_event kind_of(const struct reader *r, const struct chrome_event *e)
{
	const char *cat = strtab_str(r->s->strings, e->cat);

	if (e->ph == 'i')
		return WARP_EVENT_MARK;
	if (!strcmp(cat, "async"))
		return WARP_EVENT_ASYNC;
	return strcmp(cat, "flow") ? WARP_EVENT_SCOPE : WARP_EVENT_MARK;
}

static int on_event(void *ctx, const struct chrome_event *e)
{
	struct reader *r = ctx;
	struct event event = {.enter = e->ts_ns};

	bool lasts = e->ph == 'X' && e->has_dur && e->dur_ns >= 0;

	if ((!lasts && e->ph != 'i') || !e->has_ts || e->ts_ns > INT64_MAX / 4 ||
	    e->ts_ns < -(INT64_MAX / 4) || (lasts && e->dur_ns > INT64_MAX / 4) ||
	    !parse_place(r, e, &event))
		return 0;
	event.leave = e->ts_ns + (lasts ? e->dur_ns : 0);
	event.path = path_of(r, e, event.kernel);
	event.name = strtab_adds(r->t->names, strtab_str(r->s->strings, e->name));
	event.is = kind_of(r, e);
	if (event.kernel == STRTAB_NONE || event.path == STRTAB_NONE || event.name == STRTAB_NONE ||
	    ARRAY_ROOM(r->events, r->cap, r->n + 1) < 0)
		return -ENOMEM;
	r->events[r->n++] = event;
	return 0;
}

static int on_device(void *ctx, const struct session_device *device)
{
	(void)ctx, (void)device;
	return 0;
}

/* ---- launches, warps ---- */

static int compare_launches(const struct event *a, const struct event *b)
{
	return a->kernel != b->kernel ? COMPARE(a->kernel, b->kernel) : COMPARE(a->path, b->path);
}

static int compare_warps(const struct event *a, const struct event *b)
{
	int r = compare_launches(a, b);

	if (r)
		return r;
	if (a->block != b->block)
		return COMPARE(a->block, b->block);
	return a->core != b->core ? COMPARE(a->core, b->core) : COMPARE(a->warp, b->warp);
}

/* Within a warp what lies in another one comes behind it. */
static int compare(const void *x, const void *y)
{
	const struct event *a = x, *b = y;
	int r = compare_warps(a, b);

	if (r)
		return r;
	return a->enter != b->enter ? COMPARE(a->enter, b->enter) : COMPARE(b->leave, a->leave);
}

/* Of the n_open scopes of a warp that may still go on the innermost one in which all of this lies; those that ended before go. */
static uint32_t parent_of(struct reader *r, const struct warp_trace_scope *scope, size_t *n_open)
{
	while (*n_open > 0 && r->scopes[r->open[*n_open - 1]].leave <= scope->enter &&
	       scope->enter < scope->leave)
		--*n_open;
	for (size_t i = *n_open; i-- > 0 && *n_open - i <= OPEN_MOST;)
		if (r->scopes[r->open[i]].leave >= scope->leave)
			return r->open[i];
	return NONE;
}

/* The block's time begins with the least of its own: `base`. */
static int add_warp(struct reader *r, const struct event *v, size_t n, int64_t base)
{
	const struct warp_trace_warp warp = {.warp = v->warp,
					     .multiprocessor = v->core,
					     .block = v->block,
					     .entered_ns = (uint64_t)(v->enter - base),
					     .entered_clock = (uint64_t)(v->enter - base)};
	size_t n_open = 0;

	if (ARRAY_ROOM(r->scopes, r->cap_scopes, n) < 0 || ARRAY_ROOM(r->open, r->cap_open, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct warp_trace_scope *scope = &r->scopes[i];

		*scope = (struct warp_trace_scope){.enter = (uint64_t)(v[i].enter - base),
						   .leave = (uint64_t)(v[i].leave - base),
						   .name = v[i].name,
						   .event = v[i].is};
		scope->parent = parent_of(r, scope, &n_open);
		if (v[i].is == WARP_EVENT_SCOPE)
			r->open[n_open++] = (uint32_t)i;
	}
	return warp_trace_add_warp(r->t, &warp, r->scopes, n);
}

static int add_all(struct reader *r)
{
	int64_t base = 0;
	int code = 0;

	for (size_t i = 0; i < r->n; i++)
		base = MIN(base, r->events[i].enter);
	if (r->n > 0)
		qsort(r->events, r->n, sizeof(*r->events), compare);
	for (size_t i = 0, n; code == 0 && i < r->n; i += n) {
		const struct event *e = &r->events[i];

		if (!i || compare_launches(e - 1, e))
			code = warp_trace_add_launch(
				r->t, &(struct warp_trace_launch){
					      .kernel = e->kernel, .path = e->path, .device = -1});
		n = 1;
		while (i + n < r->n && !compare_warps(e, e + n))
			n++;
		if (code == 0)
			code = add_warp(r, e, n, base);
	}
	return code;
}

int chrome_read_warps(struct reader_input *in, struct warp_trace *t, struct format_error *error)
{
	struct reader r = {.s = session_new(), .t = t};
	const struct chrome_sink sink = {on_event, on_device, &r};
	struct chrome_document document;
	int code = 0;

	buf_init(&r.path, 0);
	if (!r.s)
		code = format_fail_code(error, -ENOMEM);
	if (code == 0)
		code = chrome_parse(in, r.s, &sink, &document, error);
	if (code == 0 && (code = add_all(&r)) < 0)
		format_fail_code(error, code);
	buf_done(&r.path);
	free(r.events);
	free(r.scopes);
	free(r.open);
	session_free(r.s);
	return code;
}
