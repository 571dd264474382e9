/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "core/pages.h"
#include "core/strips.h"
#include "core/unrecorded.h"

/* What is needed while the tracks are made. */
struct builder {
	struct timeline *t;
	const struct session *s;
	uint32_t *first_track, *group_of; /* of a lane; SESSION_NONE: none yet */
	size_t cap_groups, cap_tracks;
};

struct start {
	uint64_t start_ns, end_ns; /* end_ns: of ranges of the host; else 0 */
	uint32_t interval;
};

/* Of ranges that begin together the one that lasts longer is around the other. */
static int compare(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->interval < y->interval ? -1 : x->interval > y->interval;
}

static int sort_events(struct timeline *t, const struct session *s)
{
	_cleanup_(freep) struct start *order = malloc(s->n_intervals * sizeof(*order));

	t->events = malloc(s->n_intervals * sizeof(*t->events));
	if (!order || !t->events)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_intervals; i++) {
		const struct session_interval *v = &s->intervals[i];

		order[i] = (struct start){v->start_ns, interval_is_host(s, v) ? v->end_ns : 0,
					  (uint32_t)i};
	}
	qsort(order, s->n_intervals, sizeof(*order), compare);
	for (size_t i = 0; i < s->n_intervals; i++)
		t->events[i].interval = order[i].interval;
	t->n_events = s->n_intervals;
	return 0;
}

/* There are as many groups as processes and devices: few. */
static uint32_t group_find(struct builder *b, uint32_t lane)
{
	const struct session_lane *l = &b->s->lanes[lane];
	struct timeline *t = b->t;

	for (size_t i = 0; i < t->n_groups; i++)
		if (t->groups[i].process == l->process && t->groups[i].device == l->device)
			return (uint32_t)i;
	if (ARRAY_ROOM(t->groups, b->cap_groups, t->n_groups + 1) < 0)
		return SESSION_NONE;
	t->groups[t->n_groups] = (struct timeline_group){l->process, l->device};
	return (uint32_t)t->n_groups++;
}

static const struct session_interval *interval_of(const struct builder *b, uint32_t event)
{
	return &b->s->intervals[b->t->events[event].interval];
}

/* Is there room on a track? *ret_outer: the event there that it would lie in. */
static bool fits(const struct builder *b, const struct timeline_track *track,
		 const struct session_interval *v, uint32_t *ret_outer)
{
	uint32_t outer = track->last;
	bool host = interval_is_host(b->s, v);

	if (track->is_host != host || track->pages != interval_pages_lane(b->s, v))
		return false;
	while (outer != SESSION_NONE && interval_of(b, outer)->end_ns <= v->start_ns)
		outer = b->t->events[outer].outer;
	*ret_outer = outer;
	return outer == SESSION_NONE || (host && interval_of(b, outer)->end_ns >= v->end_ns);
}

/* The first track of the lane that has room, else a new one behind them. */
static uint32_t track_find(struct builder *b, const struct session_interval *v, uint32_t *ret_outer)
{
	struct timeline *t = b->t;
	uint32_t lane = v->lane, *link = &b->first_track[lane];
	unsigned line = 0, pages = interval_pages_lane(b->s, v);

	for (; *link != SESSION_NONE; link = &t->tracks[*link].next) {
		if (fits(b, &t->tracks[*link], v, ret_outer))
			return *link;
		line += t->tracks[*link].pages == pages;
	}
	*ret_outer = SESSION_NONE;
	if (b->group_of[lane] == SESSION_NONE)
		b->group_of[lane] = group_find(b, lane);
	if (b->group_of[lane] == SESSION_NONE)
		return SESSION_NONE;
	*link = (uint32_t)t->n_tracks; /* before the array may move */
	if (ARRAY_ROOM(t->tracks, b->cap_tracks, t->n_tracks + 1) < 0)
		return SESSION_NONE;
	t->tracks[t->n_tracks] = (struct timeline_track){.group = b->group_of[lane],
							 .lane = lane,
							 .line = line,
							 .is_host = interval_is_host(b->s, v),
							 .pages = (uint8_t)pages,
							 .last = SESSION_NONE,
							 .next = SESSION_NONE};
	return (uint32_t)t->n_tracks++;
}

static int place_events(struct builder *b)
{
	struct timeline *t = b->t;

	for (uint32_t i = 0; i < t->n_events; i++) {
		struct timeline_event *e = &t->events[i];

		e->track = track_find(b, interval_of(b, i), &e->outer);
		if (e->track == SESSION_NONE)
			return -ENOMEM;
		t->tracks[e->track].last = i;
	}
	return 0;
}

int timeline_init(struct timeline *t, const struct session *s)
{
	struct builder b = {.t = t, .s = s};
	int r;

	*t = (struct timeline){0};
	if (!s->n_intervals)
		return -ENODATA;
	b.first_track = malloc(s->n_lanes * sizeof(*b.first_track));
	b.group_of = malloc(s->n_lanes * sizeof(*b.group_of));
	r = b.first_track && b.group_of ? sort_events(t, s) : -ENOMEM;
	if (r == 0) {
		memset(b.first_track, 0xff, s->n_lanes * sizeof(*b.first_track));
		memset(b.group_of, 0xff, s->n_lanes * sizeof(*b.group_of));
		r = place_events(&b);
	}
	free(b.first_track);
	free(b.group_of);
	if (r < 0)
		timeline_done(t);
	return r;
}

/* ---- who launched what ---- */

/* The first track of a thread. */
struct host_track {
	uint64_t thread;
	uint32_t process, track;
};

struct linker {
	struct timeline *t;
	const struct session *s;
	struct host_track *hosts;      /* sorted */
	uint32_t *host_of;             /* by lane: its place there; SESSION_NONE: none */
	struct unrecorded *unrecorded; /* by process; the last: of a lane that has none */
	uint32_t *first, *events;      /* events of track i: from first[i] to first[i + 1] */
	size_t n_hosts;
};

static int compare_hosts(const void *a, const void *b)
{
	const struct host_track *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int link_init(struct linker *l)
{
	const struct session *s = l->s;
	struct timeline *t = l->t;
	int r = 0;

	t->launchers = malloc(t->n_events * sizeof(*t->launchers));
	l->hosts = malloc((t->n_tracks + 1) * sizeof(*l->hosts));
	l->host_of = malloc((s->n_lanes + 1) * sizeof(*l->host_of));
	l->first = calloc(t->n_tracks + 2, sizeof(*l->first));
	l->events = malloc(t->n_events * sizeof(*l->events));
	l->unrecorded = calloc(s->n_processes + 1, sizeof(*l->unrecorded));
	if (!t->launchers || !l->hosts || !l->host_of || !l->first || !l->events || !l->unrecorded)
		return -ENOMEM;
	for (uint32_t i = 0; i <= s->n_processes && r == 0; i++)
		r = unrecorded_init(&l->unrecorded[i], s, i < s->n_processes ? i : SESSION_NONE, 0);
	return r;
}

static void find_hosts(struct linker *l)
{
	for (uint32_t i = 0; i < l->t->n_tracks; i++) {
		const struct timeline_track *track = &l->t->tracks[i];
		const struct session_lane *lane = &l->s->lanes[track->lane];

		if (track->is_host && !track->line)
			l->hosts[l->n_hosts++] =
				(struct host_track){lane->thread, lane->process, i};
	}
	if (l->n_hosts)
		qsort(l->hosts, l->n_hosts, sizeof(*l->hosts), compare_hosts);
	for (size_t i = 0; i < l->s->n_lanes; i++) {
		const struct session_lane *lane = &l->s->lanes[i];
		const struct host_track key = {lane->thread, lane->process, 0};
		const struct host_track *host =
			bsearch(&key, l->hosts, l->n_hosts, sizeof(key), compare_hosts);

		l->host_of[i] = host ? host->track : SESSION_NONE;
	}
}

static void deal_events(struct linker *l)
{
	const struct timeline *t = l->t;

	for (size_t i = 0; i < t->n_events; i++)
		l->first[t->events[i].track + 2]++;
	for (size_t i = 2; i < t->n_tracks + 2; i++)
		l->first[i] += l->first[i - 1];
	for (uint32_t i = 0; i < t->n_events; i++)
		l->events[l->first[t->events[i].track + 1]++] = i;
}

/* The innermost event of a track that was going on then. */
static uint32_t event_at(const struct linker *l, uint32_t track, uint64_t ns)
{
	const struct timeline_event *events = l->t->events;
	const struct session_interval *v = l->s->intervals;
	size_t lo = l->first[track];
	uint32_t at;

	BISECT(lo, l->first[track + 1], middle,
	       v[events[l->events[middle]].interval].start_ns <= ns)
	at = lo > l->first[track] ? l->events[lo - 1] : SESSION_NONE;
	while (at != SESSION_NONE && v[events[at].interval].end_ns < ns)
		at = events[at].outer;
	return at;
}

/* When nothing was recorded it is not known what a thread was in. */
static bool is_unrecorded(const struct linker *l, uint32_t process, uint64_t ns)
{
	return unrecorded_at(&l->unrecorded[MIN(process, l->s->n_processes)], ns);
}

static uint32_t launcher_of(const struct linker *l, const struct session_interval *v)
{
	uint32_t latency_ns = interval_latency_ns(l->s, v);
	uint32_t track = latency_ns ? l->host_of[v->lane] : SESSION_NONE, at = SESSION_NONE;
	uint64_t ns = v->start_ns - MIN(latency_ns, v->start_ns);

	if (track != SESSION_NONE && is_unrecorded(l, l->s->lanes[v->lane].process, ns))
		return SESSION_NONE;
	for (; track != SESSION_NONE && at == SESSION_NONE; track = l->t->tracks[track].next)
		if (l->t->tracks[track].is_host)
			at = event_at(l, track, ns);
	return at;
}

int timeline_link(struct timeline *t, const struct session *s)
{
	struct linker l = {.t = t, .s = s};
	int r = link_init(&l);

	if (r == 0) {
		find_hosts(&l);
		deal_events(&l);
		for (size_t i = 0; i < t->n_events; i++)
			t->launchers[i] = launcher_of(&l, &s->intervals[t->events[i].interval]);
	}
	for (size_t i = 0; l.unrecorded && i <= s->n_processes; i++)
		unrecorded_done(&l.unrecorded[i]);
	free(l.unrecorded);
	free(l.hosts);
	free(l.host_of);
	free(l.first);
	free(l.events);
	return r;
}

void timeline_done(struct timeline *t)
{
	free(t->launchers);
	free(t->groups);
	free(t->tracks);
	free(t->events);
	*t = (struct timeline){0};
}

void timeline_group_name(const struct session *s, const struct timeline_group *group,
			 struct buf *out)
{
	const struct strtab *strings = s->strings;

	if (group->process != SESSION_NONE) {
		const struct session_process *p = &s->processes[group->process];

		buf_puts(out, p->exe ? strtab_str(strings, p->exe) : "process");
		if (p->pid)
			buf_printf(out, " (%u)", p->pid);
		if (p->rank >= 0)
			buf_printf(out, " rank %d", p->rank);
	}
	if (group->device != SESSION_NONE) {
		const struct session_device *d = &s->devices[group->device];

		buf_printf(out, "%s%s %d", group->process != SESSION_NONE ? ", " : "",
			   strtab_str(strings, d->type), d->index);
		if (d->name)
			buf_printf(out, " %s", strtab_str(strings, d->name));
	}
}

void timeline_track_name(const struct session *s, const struct timeline_track *track,
			 struct buf *out)
{
	const struct session_lane *l = &s->lanes[track->lane];
	char stream[STREAM_WORD];

	if (track->pages) {
		buf_puts(out, pages_lane_words[track->pages]);
	} else if (track->is_host) {
		buf_printf(out, "thread %llu", (unsigned long long)l->thread);
	} else {
		buf_puts(out, session_stream_word(l->stream, stream));
		if (l->context > 1)
			buf_printf(out, " context %u", l->context);
		if (l->thread)
			buf_printf(out, " of thread %llu", (unsigned long long)l->thread);
	}
	if (track->line)
		buf_printf(out, " (%u)", track->line + 1);
}

const char *const timeline_categories[TIMELINE_N] = {
	[TIMELINE_KERNEL] = "kernel",
	[TIMELINE_COPY] = "gpu_memcpy",
	[TIMELINE_SET] = "gpu_memset",
	[TIMELINE_FUNCTION] = "cpu_op",
	[TIMELINE_SCOPE] = "scope",
	[TIMELINE_NVTX] = "nvtx",
	[TIMELINE_PYTHON] = "python_function",
	[TIMELINE_CALL] = "cuda_runtime",
	[TIMELINE_PAGES] = "unified_memory",
};

enum timeline_category timeline_category(const struct session *s, const struct session_interval *v)
{
	enum frame_kind kind = session_node_kind(s, v->node);

	if (interval_is_pages(s, v))
		return TIMELINE_PAGES;
	if (!interval_is_host(s, v))
		return kind == FRAME_COPY  ? TIMELINE_COPY
		       : kind == FRAME_SET ? TIMELINE_SET
					   : TIMELINE_KERNEL;
	return kind == FRAME_SYNC     ? TIMELINE_CALL
	       : kind == FRAME_SCOPE  ? TIMELINE_SCOPE
	       : kind == FRAME_NVTX   ? TIMELINE_NVTX
	       : kind == FRAME_RANGE  ? TIMELINE_NVTX
	       : kind == FRAME_PYTHON ? TIMELINE_PYTHON
				      : TIMELINE_FUNCTION;
}
