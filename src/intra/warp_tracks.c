/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "intra/warp_waits.h"

#define BLOCK 64u /* segments */

void warp_tracks_done(struct warp_tracks *s)
{
	warp_clock_done(&s->clock);
	free(s->segments);
	free(s->tracks);
	free(s->sums);
	free(s->instants);
	free(s->first_instant);
	free(s->class_of);
	*s = (struct warp_tracks){.t = NULL};
}

/* ---- one warp ---- */

/* A warp while its tracks are made. */
struct maker {
	struct warp_tracks *s;
	uint32_t warp;
	int64_t shift;
	uint64_t first, last; /* of the warp */
	uint64_t known;       /* from which on it is known what it did */
	struct open {
		uint32_t scope;
		uint64_t leave;
	} * stack; /* scopes that are entered, the outermost first */
	size_t n_stack, cap_stack;
	uint64_t at; /* so far its first track is done */
};

static uint64_t shifted(const struct maker *m, uint64_t cycle)
{
	int64_t at = (int64_t)cycle + m->shift;

	return (uint64_t)CLAMP(at, (int64_t)m->first, (int64_t)m->last);
}

static int add_segment(struct warp_tracks *s, uint64_t from, uint64_t to, uint32_t scope)
{
	if (to <= from)
		return 0;
	if (ARRAY_ROOM(s->segments, s->cap_segments, s->n_segments + 1) < 0)
		return -ENOMEM;
	s->segments[s->n_segments++] = (struct warp_segment){from, to, scope, 0};
	return 0;
}

static int add_track(struct maker *m, uint32_t line)
{
	struct warp_tracks *s = m->s;

	if (ARRAY_ROOM(s->tracks, s->cap_tracks, s->n_tracks + 1) < 0)
		return -ENOMEM;
	s->tracks[s->n_tracks++] = (struct warp_track){.warp = m->warp,
						       .line = line,
						       .first = s->n_segments,
						       .from = m->first,
						       .to = m->last,
						       .known = m->known};
	return 0;
}

/* The innermost scope goes on until `to`. */
static int go_on(struct maker *m, uint64_t to)
{
	int r = 0;

	if (m->n_stack)
		r = add_segment(m->s, m->at, to, m->stack[m->n_stack - 1].scope);
	m->at = MAX(m->at, to);
	return r;
}

/* Leave all scopes that are over at `at`. */
static int leave_until(struct maker *m, uint64_t at)
{
	int r = 0;

	while (r == 0 && m->n_stack && m->stack[m->n_stack - 1].leave <= at) {
		r = go_on(m, m->stack[m->n_stack - 1].leave);
		m->n_stack--;
	}
	return r;
}

/* No scope outlasts the one that it is in; one that is open lasts as long as that. */
static int enter(struct maker *m, uint32_t i, const struct warp_trace_scope *scope)
{
	uint64_t at = MAX(shifted(m, scope->enter), m->at), leave = m->last;
	int r = leave_until(m, at);

	if (r == 0)
		r = go_on(m, at);
	if (r < 0 || ARRAY_ROOM(m->stack, m->cap_stack, m->n_stack + 1) < 0)
		return -ENOMEM;
	if (m->n_stack)
		leave = m->stack[m->n_stack - 1].leave;
	if (!scope->is_open)
		leave = MIN(leave, shifted(m, scope->leave));
	m->stack[m->n_stack++] = (struct open){i, leave};
	return 0;
}

static int add_nested(struct maker *m, const struct warp_trace_scope *scopes, size_t n)
{
	int r = add_track(m, 0);

	m->n_stack = 0;
	m->at = m->first;
	for (uint32_t i = 0; r == 0 && i < n; i++)
		if (scopes[i].event == WARP_EVENT_SCOPE)
			r = enter(m, i, &scopes[i]);
	if (r == 0)
		r = leave_until(m, UINT64_MAX);
	if (r == 0)
		m->s->tracks[m->s->n_tracks - 1].n =
			m->s->n_segments - m->s->tracks[m->s->n_tracks - 1].first;
	return r;
}

/* ---- asynchronous scopes ---- */

struct async {
	uint64_t from, to;
	uint32_t scope, line;
};

static int compare_async(const void *a, const void *b)
{
	const struct async *x = a, *y = b;

	return x->from != y->from ? COMPARE(x->from, y->from) : COMPARE(x->scope, y->scope);
}

static int compare_lines(const void *a, const void *b)
{
	const struct async *x = a, *y = b;

	return x->line != y->line ? COMPARE(x->line, y->line) : compare_async(a, b);
}

/* Each goes to the first line that is free then. */
static int choose_lines(struct async *v, size_t n)
{
	uint64_t *free_at = calloc(n + 1, sizeof(*free_at));
	uint32_t lines = 0;

	if (!free_at)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t line = 0;

		while (line < lines && free_at[line] > v[i].from)
			line++;
		lines = MAX(lines, line + 1);
		free_at[line] = v[i].to;
		v[i].line = line + 1;
	}
	free(free_at);
	return 0;
}

static int put_lines(struct maker *m, const struct async *v, size_t n)
{
	struct warp_tracks *s = m->s;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (i == 0 || v[i].line != v[i - 1].line)
			r = add_track(m, v[i].line);
		if (r == 0)
			r = add_segment(s, v[i].from, v[i].to, v[i].scope);
		if (r == 0)
			s->tracks[s->n_tracks - 1].n =
				s->n_segments - s->tracks[s->n_tracks - 1].first;
	}
	return r;
}

static int add_async(struct maker *m, const struct warp_trace_scope *scopes, size_t n)
{
	size_t n_async = 0;
	struct async *v;
	int r;

	for (size_t i = 0; i < n; i++)
		n_async += scopes[i].event == WARP_EVENT_ASYNC;
	if (!n_async)
		return 0;
	v = malloc(n_async * sizeof(*v));
	if (!v)
		return -ENOMEM;
	n_async = 0;
	for (uint32_t i = 0; i < n; i++)
		if (scopes[i].event == WARP_EVENT_ASYNC)
			v[n_async++] = (struct async){
				shifted(m, scopes[i].enter),
				scopes[i].is_open ? m->last : shifted(m, scopes[i].leave), i, 0};
	qsort(v, n_async, sizeof(*v), compare_async);
	r = choose_lines(v, n_async);
	if (r == 0) {
		qsort(v, n_async, sizeof(*v), compare_lines);
		r = put_lines(m, v, n_async);
	}
	free(v);
	return r;
}

/* ---- instants ---- */

static int compare_instants(const void *a, const void *b)
{
	const struct warp_instant *x = a, *y = b;

	return x->at != y->at ? COMPARE(x->at, y->at) : COMPARE(x->scope, y->scope);
}

static int add_instants(struct maker *m, const struct warp_trace_scope *scopes, size_t n)
{
	struct warp_tracks *s = m->s;
	size_t first = s->n_instants;

	for (uint32_t i = 0; i < n; i++) {
		if (scopes[i].event != WARP_EVENT_MARK && scopes[i].event != WARP_EVENT_VALUE)
			continue;
		if (ARRAY_ROOM(s->instants, s->cap_instants, s->n_instants + 1) < 0)
			return -ENOMEM;
		s->instants[s->n_instants++] =
			(struct warp_instant){shifted(m, scopes[i].enter), i};
	}
	if (s->n_instants > first)
		qsort(&s->instants[first], s->n_instants - first, sizeof(*s->instants),
		      compare_instants);
	s->first_instant[m->warp + 1] = s->n_instants;
	return 0;
}

static int add_warp(struct maker *m, uint32_t warp)
{
	const struct warp_trace_warp *w = warp_tracks_warp(m->s, warp);
	const struct warp_trace_scope *scopes = &m->s->t->scopes[w->scopes];
	int r;

	m->warp = warp;
	m->shift = m->s->clock.shift[warp];
	m->first = (uint64_t)((int64_t)warp_trace_first_cycle(m->s->t, w) + m->shift);
	m->last = (uint64_t)((int64_t)warp_last_cycle(m->s->t, w) + m->shift);
	m->known = (uint64_t)((int64_t)warp_known_cycle(m->s->t, w) + m->shift);
	r = add_nested(m, scopes, w->n_scopes);
	if (r == 0)
		r = add_async(m, scopes, w->n_scopes);
	return r < 0 ? r : add_instants(m, scopes, w->n_scopes);
}

/* ---- classes ---- */

static int compare_classes(const void *a, const void *b)
{
	const struct warp_class *x = a, *y = b;

	return x->cycles != y->cycles ? COMPARE(y->cycles, x->cycles) : COMPARE(x->name, y->name);
}

static uint32_t name_of(const struct warp_tracks *s, const struct warp_track *track,
			const struct warp_segment *segment)
{
	return warp_tracks_scope(s, track->warp, segment->scope)->name;
}

static void sum_names(const struct warp_tracks *s, struct warp_class *names)
{
	for (size_t k = 0; k < s->n_tracks; k++)
		for (size_t i = 0; i < s->tracks[k].n; i++) {
			const struct warp_segment *v = &s->segments[s->tracks[k].first + i];

			names[name_of(s, &s->tracks[k], v)].cycles += v->to - v->from;
		}
}

static void rank_names(struct warp_tracks *s, struct warp_class *names, uint32_t n)
{
	qsort(names, n, sizeof(*names), compare_classes);
	while (s->n_classes < MIN(n, WARP_OTHERS) && names[s->n_classes].cycles) {
		s->classes[s->n_classes] = names[s->n_classes];
		s->classes[s->n_classes].waits =
			warp_name_waits(strtab_str(s->t->names, names[s->n_classes].name));
		s->class_of[names[s->n_classes].name] = (uint8_t)s->n_classes;
		s->n_classes++;
	}
	for (uint32_t i = s->n_classes; i < n; i++)
		s->classes[WARP_OTHERS].cycles += names[i].cycles;
}

static int make_classes(struct warp_tracks *s)
{
	uint32_t n = strtab_count(s->t->names);
	struct warp_class *names = calloc(n + 1, sizeof(*names));

	s->class_of = malloc(n + 1);
	if (!names || !s->class_of) {
		free(names);
		return -ENOMEM;
	}
	memset(s->class_of, WARP_OTHERS, n + 1);
	for (uint32_t i = 0; i < n; i++)
		names[i].name = i;
	sum_names(s, names);
	rank_names(s, names, n);
	free(names);
	return 0;
}

/* ---- sums ---- */

static int make_sums(struct warp_tracks *s, struct warp_track *track)
{
	uint64_t sums[WARP_CLASSES] = {0};

	track->first_block = s->n_sums;
	if (ARRAY_ROOM(s->sums, s->cap_sums, s->n_sums + track->n / BLOCK + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < track->n; i++) {
		struct warp_segment *v = &s->segments[track->first + i];

		v->class = s->class_of[name_of(s, track, v)];
		if (i % BLOCK == 0)
			memcpy(s->sums[s->n_sums++], sums, sizeof(sums));
		sums[v->class] += v->to - v->from;
	}
	if (track->line && track->n) {
		track->from = track->known = s->segments[track->first].from;
		track->to = s->segments[track->first + track->n - 1].to;
	}
	return 0;
}

static int make_tracks(struct warp_tracks *s)
{
	struct maker m = {.s = s};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->launch->n_warps; i++)
		r = add_warp(&m, i);
	free(m.stack);
	if (r == 0)
		r = make_classes(s);
	for (size_t k = 0; r == 0 && k < s->n_tracks; k++)
		r = make_sums(s, &s->tracks[k]);
	return r;
}

int warp_tracks_init(struct warp_tracks *s, const struct warp_trace *t, size_t launch)
{
	int r;

	*s = (struct warp_tracks){.t = t};
	if (launch >= t->n_launches)
		return -ENODATA;
	s->launch = &t->launches[launch];
	s->first_instant = calloc(s->launch->n_warps + 1, sizeof(*s->first_instant));
	r = s->first_instant ? warp_clock_init(&s->clock, t, launch) : -ENOMEM;
	if (r == 0)
		r = make_tracks(s);
	if (r < 0)
		warp_tracks_done(s);
	return r;
}

/* ---- columns ---- */

size_t warp_tracks_find(const struct warp_tracks *s, size_t track, uint64_t at)
{
	const struct warp_track *k = &s->tracks[track];
	size_t low = 0;

	BISECT(low, k->n, i, s->segments[k->first + i].to <= at)
	return low;
}

/* The sums of segments [from, to) of a track, each whole. */
static void add_whole(const struct warp_tracks *s, const struct warp_track *k, size_t from,
		      size_t to, struct warp_cell *cell)
{
	size_t first = (from + BLOCK - 1) / BLOCK, last = to / BLOCK;

	if (last <= first)
		first = last = from / BLOCK; /* nothing between */
	for (unsigned c = 0; last > first && c < WARP_CLASSES; c++)
		cell->cycles[c] +=
			s->sums[k->first_block + last][c] - s->sums[k->first_block + first][c];
	for (size_t i = from; i < to; i++) {
		const struct warp_segment *v = &s->segments[k->first + i];

		if (last > first && i == first * BLOCK) {
			i = last * BLOCK - 1;
			continue;
		}
		cell->cycles[v->class] += v->to - v->from;
	}
}

static void add_part(const struct warp_segment *v, uint64_t from, uint64_t to,
		     struct warp_cell *cell)
{
	cell->cycles[v->class] += MIN(v->to, to) - MAX(v->from, from);
}

/* From segment i on, whose end is in the column or behind it. Returns the first one that ends behind the column. */
static size_t add_column(const struct warp_tracks *s, size_t track, size_t i, uint64_t from,
			 uint64_t to, struct warp_cell *cell)
{
	const struct warp_track *k = &s->tracks[track];
	const struct warp_segment *v = &s->segments[k->first];
	size_t end = i;

	if (i == k->n || v[i].from >= to)
		return i;
	BISECT(end, k->n, at, v[at].to <= to)
	if (!cell->n) {
		cell->track = track;
		cell->segment = i;
	}
	cell->n += (uint32_t)(end - i) + (end < k->n && v[end].from < to);
	if (end > i) {
		add_part(&v[i], from, to, cell);
		add_whole(s, k, i + 1, end, cell);
	}
	if (end < k->n && v[end].from < to)
		add_part(&v[end], from, to, cell);
	return end;
}

/* The column of a moment. */
static unsigned column_of(const struct warp_view *view, uint64_t at)
{
	unsigned k = (unsigned)((unsigned __int128)(at - view->from) * view->n /
				(view->to - view->from));

	while (k > 0 && warp_view_start(view, k) > at)
		k--;
	while (k + 1 < view->n && warp_view_start(view, k + 1) <= at)
		k++;
	return k;
}

static void add_presence(const struct warp_track *k, uint64_t from, uint64_t to,
			 struct warp_cell *cell)
{
	uint64_t known = CLAMP(k->known, from, to);

	cell->unknown += known - from;
	cell->present += to - known;
}

void warp_tracks_add(const struct warp_tracks *s, size_t track, const struct warp_view *view,
		     struct warp_cell *cells)
{
	const struct warp_track *k = &s->tracks[track];
	uint64_t from = MAX(k->from, view->from), to = MIN(k->to, view->to);
	uint64_t start, end;
	size_t i;

	if (from >= to)
		return;
	i = warp_tracks_find(s, track, from);
	for (unsigned c = column_of(view, from); c < view->n; c++) {
		start = warp_view_start(view, c);
		end = warp_view_start(view, c + 1);
		if (start >= to)
			break;
		add_presence(k, MAX(start, from), MIN(end, to), &cells[c]);
		i = add_column(s, track, i, start, end, &cells[c]);
	}
}

const struct warp_instant *warp_tracks_instant(const struct warp_tracks *s, uint32_t warp,
					       uint64_t from, uint64_t to)
{
	size_t low = s->first_instant[warp], end = s->first_instant[warp + 1];

	BISECT(low, end, i, s->instants[i].at < from)
	return low < end && s->instants[low].at < to ? &s->instants[low] : NULL;
}
