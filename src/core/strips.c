/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "core/strips.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "core/pages.h"

#define BLOCK          64
#define AHEAD          24 /* intervals that are asked of memory before they are looked at */
#define OTHER_CLOCK_NS NSEC_PER_SEC /* clocks of one host differ by less, whenever they were read */

/* ---- what an interval is ---- */

/* What runs on a device has a kind of its own; where a trace does not name the device, too. */
bool interval_is_host(const struct session *s, const struct session_interval *v)
{
	if (s->lanes[v->lane].device != SESSION_NONE)
		return false;
	switch (session_node_kind(s, v->node)) {
	case FRAME_KERNEL:
	case FRAME_COPY:
	case FRAME_SET:
	case FRAME_GRAPH:
	case FRAME_GRAPH_RUN:
	case FRAME_PAGES:
		return false;
	default:
		return true;
	}
}

/* What runs in a stream is work, whatever its node is. */
bool interval_is_pages(const struct session *s, const struct session_interval *v)
{
	const struct session_lane *lane = &s->lanes[v->lane];

	return (lane->device == SESSION_NONE || lane->stream == SESSION_NONE) &&
	       session_node_kind(s, v->node) == FRAME_PAGES;
}

uint32_t interval_latency_ns(const struct session *s, const struct session_interval *v)
{
	return interval_is_pages(s, v) ? 0 : v->latency_ns;
}

unsigned interval_pages_lane(const struct session *s, const struct session_interval *v)
{
	return interval_is_pages(s, v) ? pages_kind(session_node_name(s, v->node)).lane
				       : PAGES_NONE;
}

uint32_t interval_node(const struct snapshot *snap, const struct session_interval *v)
{
	const struct session *s = snapshot_session(snap);
	uint32_t any = SNAP_NONE, of = v->node;

	if (snapshot_is_plain(snap))
		return v->node < snapshot_n(snap) ? v->node : SNAP_NONE;
	if (session_node_kind(s, of) == FRAME_PAGES) /* the numbers are who allocated them */
		of = s->nodes[of].parent;
	for (uint32_t row = session_first_row(s, of); row != SESSION_NONE;
	     row = session_next_row(s, row)) {
		any = snapshot_row_node(snap, row);
		if (s->rows[row].lane == v->lane)
			break;
	}
	return any;
}

/* Those of a lane lie apart in the session: the processor cannot guess where. */
static const struct session_interval *look_at(const struct session *s, const uint32_t *order,
					      size_t i, size_t n)
{
	if (i + AHEAD < n)
		__builtin_prefetch(&s->intervals[order[i + AHEAD]]);
	return &s->intervals[order[i]];
}

/* ---- clocks ---- */

/* The clock that has run longest: all others are behind it. */
static int64_t least_offset(const struct session *s)
{
	int64_t least = INT64_MAX, own;

	for (uint32_t i = 0; i < s->n_processes; i++)
		if (session_clock_offset(s, i, &own))
			least = MIN(least, own);
	return least;
}

/* What is to be added to times of a process, whose clock is another one. */
static uint64_t shift_of(const struct session *s, uint32_t process, int64_t least)
{
	uint64_t shift_ns;
	int64_t own;

	if (process == SESSION_NONE || !session_clock_offset(s, process, &own))
		return 0;
	shift_ns = (uint64_t)own - (uint64_t)least;
	return shift_ns < OTHER_CLOCK_NS ? 0 : shift_ns;
}

/* ---- lanes ---- */

static int compare_lanes(const void *a, const void *b)
{
	const struct strip_lane *x = a, *y = b;

	if (x->rank != y->rank)
		return COMPARE(x->rank, y->rank);
	if (x->process != y->process)
		return COMPARE(x->process, y->process);
	if (x->is_host != y->is_host)
		return x->is_host ? -1 : 1;
	if (x->device != y->device)
		return COMPARE(x->device, y->device);
	if (x->pages != y->pages)
		return COMPARE(x->pages, y->pages);
	if (x->context != y->context)
		return COMPARE(x->context, y->context);
	return x->stream != y->stream ? COMPARE(x->stream, y->stream)
				      : COMPARE(x->thread, y->thread);
}

/* The sides of a lane of the session: work of a device, ranges of the host, and pages of each kind. */
enum { OF_DEVICE, OF_HOST, N_SIDES = OF_HOST + PAGES_N_LANES };

/* A lane of the session, as what is on a side of it has it. */
static struct strip_lane lane_of(const struct session *s, const struct session_lane *of,
				 unsigned side)
{
	struct strip_lane lane = {.rank = UINT32_MAX,
				  .process = of->process,
				  .device = of->device,
				  .is_host = side == OF_HOST,
				  .pages = side > OF_HOST ? (uint8_t)(side - OF_HOST) : PAGES_NONE};

	if (of->process < s->n_processes)
		lane.rank = (uint32_t)s->processes[of->process].rank; /* none is -1 */
	if (lane.pages) {
		lane.is_host = of->device == SESSION_NONE;
		lane.stream = SESSION_NONE;
	} else if (lane.is_host) {
		lane.thread = of->thread;
	} else {
		lane.context = of->context;
		lane.stream = of->stream;
	}
	return lane;
}

/* What came to a lane so far. */
struct arrived {
	uint64_t start_ns, end_ns; /* of the last one */
	size_t n_runs;             /* parts that are in order */
};

struct side {
	uint32_t lane; /* of the strips, where there is anything */
	size_t n;
};

/* While the strips are made. */
struct maker {
	struct strips *t;
	struct side *sides;      /* by lane of the session, N_SIDES of each */
	struct arrived *arrived; /* by lane */
	uint64_t *starts;        /* by place in `order`, until a lane is sorted: then its lines */
};

static unsigned side_at(const struct session *s, const struct session_interval *v)
{
	const struct session_lane *lane = &s->lanes[v->lane];
	unsigned pages;

	if (_likely_(lane->device != SESSION_NONE && lane->stream != SESSION_NONE))
		return OF_DEVICE;
	pages = interval_pages_lane(s, v);
	return pages ? OF_HOST + pages : interval_is_host(s, v) ? OF_HOST : OF_DEVICE;
}

static struct side *side_of(const struct maker *m, const struct session_interval *v)
{
	return &m->sides[N_SIDES * (size_t)v->lane + side_at(m->t->s, v)];
}

static void note_earliest(struct strips *t, uint32_t id)
{
	const struct session_interval *v = t->s->intervals;
	uint32_t *first = &t->earliest[v[id].node];

	if (*first == SESSION_NONE || v[id].start_ns < v[*first].start_ns)
		*first = id;
}

/* All is looked at in the order in which it lies, which is cheap, and as seldom as can be. */
static int note_lanes(struct maker *m)
{
	struct strips *t = m->t;
	const struct session *s = t->s;

	for (size_t i = 0; i < s->n_intervals; i++) {
		struct side *side = side_of(m, &s->intervals[i]);

		note_earliest(t, (uint32_t)i);
		if (side->n++)
			continue;
		if (ARRAY_ROOM(t->lanes, t->cap_lanes, t->n_lanes + 1) < 0)
			return -ENOMEM;
		t->lanes[t->n_lanes++] =
			lane_of(s, &s->lanes[s->intervals[i].lane], side_at(s, &s->intervals[i]));
	}
	return 0;
}

/* Work that several threads launched into one stream is one lane. */
static void sort_lanes(struct maker *m)
{
	struct strips *t = m->t;
	const struct session *s = t->s;
	int64_t least = least_offset(s);
	size_t n = 0;

	qsort(t->lanes, t->n_lanes, sizeof(*t->lanes), compare_lanes);
	for (size_t i = 0; i < t->n_lanes; i++)
		if (i == 0 || compare_lanes(&t->lanes[n - 1], &t->lanes[i]) != 0)
			t->lanes[n++] = t->lanes[i];
	t->n_lanes = n;
	for (size_t i = 0; i < n; i++)
		t->lanes[i].shift_ns = shift_of(s, t->lanes[i].process, least);
	for (size_t i = 0; i < N_SIDES * s->n_lanes; i++) {
		struct strip_lane key = lane_of(s, &s->lanes[i / N_SIDES], i % N_SIDES), *lane;

		if (!m->sides[i].n)
			continue;
		lane = bsearch(&key, t->lanes, n, sizeof(key), compare_lanes);
		lane->n += m->sides[i].n;
		m->sides[i].lane = (uint32_t)(lane - t->lanes);
	}
}

/* Of ranges that begin together the one that lasts longer is around the other. */
static void note_arrival(struct arrived *a, bool is_host, const struct session_interval *v)
{
	bool is_before = v->start_ns<a->start_ns, is_with = v->start_ns == a->start_ns,
				     is_longer = v->end_ns>
				 a->end_ns;

	/* No branches: where all comes in no order they are guesswork. */
	a->n_runs += !a->n_runs | is_before | (is_host & is_with & is_longer);
	a->start_ns = v->start_ns;
	a->end_ns = v->end_ns;
}

/* The intervals of each lane side by side, as they came. */
static void deal(struct maker *m)
{
	struct strips *t = m->t;
	const struct session *s = t->s;
	size_t first = 0;

	for (size_t i = 0; i < t->n_lanes; i++) {
		t->lanes[i].first = first;
		first += t->lanes[i].n;
		t->lanes[i].n = 0;
	}
	for (size_t i = 0; i < s->n_intervals; i++) {
		uint32_t id = side_of(m, &s->intervals[i])->lane;
		struct strip_lane *lane = &t->lanes[id];
		size_t at = lane->first + lane->n++;

		m->starts[at] = s->intervals[i].start_ns;
		t->order[at] = (uint32_t)i;
		note_arrival(&m->arrived[id], lane->is_host, &s->intervals[i]);
	}
}

static int make_lanes(struct maker *m)
{
	const struct strips *t = m->t;

	m->sides = calloc(N_SIDES * t->s->n_lanes, sizeof(*m->sides));
	if (!m->sides || note_lanes(m) < 0)
		return -ENOMEM;
	sort_lanes(m);
	m->arrived = calloc(t->n_lanes + 1, sizeof(*m->arrived));
	m->starts = malloc(t->n_intervals * sizeof(*m->starts));
	if (!m->arrived || !m->starts)
		return -ENOMEM;
	deal(m);
	return 0;
}

/* ---- order ---- */

#define DIGIT_BITS 8 /* the places where values of a digit go to fit the nearest cache */
#define DIGITS     (1u << DIGIT_BITS)
#define FEW_RUNS   8 /* are merged in less time than numbers are dealt */
#define FEW        1024

struct item {
	uint64_t key;
	uint32_t interval;
};

/* Where what is in order from `i` on ends. */
static size_t run_end(const struct item *v, size_t i, size_t n)
{
	if (i < n)
		i++;
	while (i < n && v[i].key >= v[i - 1].key)
		i++;
	return i;
}

static void merge_runs(const struct item *v, size_t i, size_t middle, size_t end, struct item *out)
{
	for (size_t j = middle; i < middle || j < end;)
		if (j == end || (i < middle && v[i].key <= v[j].key))
			*out++ = v[i++];
		else
			*out++ = v[j++];
}

/* What is traced comes nearly in order: parts that are in order are merged until there is one. They end
 * up in either array. */
static struct item *merge_items(struct item *v, size_t n, struct item *other)
{
	while (run_end(v, 0, n) < n) {
		struct item *merged = other;

		for (size_t i = 0, middle, end; i < n; i = end) {
			middle = run_end(v, i, n);
			end = middle < n ? run_end(v, middle, n) : n;
			merge_runs(v, i, middle, end, merged + i);
		}
		other = v;
		v = merged;
	}
	return v;
}

static unsigned digit_of(uint64_t key, unsigned shift)
{
	return key >> shift & (DIGITS - 1);
}

/* By one digit of what keys are above the least, which leaves the order of those alone that have the same. n_of: how
 * many there are of each value of it; becomes that of the next digit. */
static void deal_items(const struct item *v, size_t n, uint64_t least, unsigned shift,
		       size_t n_of[DIGITS], struct item *out)
{
	unsigned next = shift + DIGIT_BITS < 64 ? shift + DIGIT_BITS : shift;
	size_t at[DIGITS], first = 0;

	for (unsigned d = 0; d < DIGITS; d++) {
		at[d] = first;
		first += n_of[d];
	}
	memset(n_of, 0, DIGITS * sizeof(*n_of));
	for (size_t i = 0; i < n; i++) {
		out[at[digit_of(v[i].key - least, shift)]++] = v[i];
		n_of[digit_of(v[i].key - least, next)]++;
	}
}

/* By their keys, those with the same key as they came; in either array. Where many come too early or late,
 * comparing them is guesswork for the processor, and dealing them by digits is none. */
static struct item *sort_items(struct item *v, size_t n, size_t n_runs, struct item *other)
{
	uint64_t least = UINT64_MAX, most = 0;
	size_t n_of[DIGITS] = {0};

	if (n <= FEW || n_runs <= FEW_RUNS)
		return merge_items(v, n, other);
	for (size_t i = 0; i < n; i++) {
		least = MIN(least, v[i].key);
		most = MAX(most, v[i].key);
	}
	for (size_t i = 0; i < n; i++)
		n_of[digit_of(v[i].key - least, 0)]++;
	for (unsigned shift = 0; shift < 64 && (most - least) >> shift; shift += DIGIT_BITS) {
		struct item *dealt = other;

		deal_items(v, n, least, shift, n_of, dealt);
		other = v;
		v = dealt;
	}
	return v;
}

/* Of ranges that begin together the one that lasts longer comes first: in the order of their ends, and then, as those
 * that begin together stay as they are, in that of their starts. */
static void sort_lane_items(const struct session *s, const struct strip_lane *lane, uint32_t *order,
			    const uint64_t *starts, size_t n_runs, struct item *v)
{
	struct item *other = v + lane->n, *sorted = v;

	if (lane->is_host) {
		for (size_t i = 0; i < lane->n; i++)
			v[i] = (struct item){UINT64_MAX - look_at(s, order, i, lane->n)->end_ns,
					     order[i]};
		sorted = sort_items(v, lane->n, n_runs, other);
		for (size_t i = 0; i < lane->n; i++)
			sorted[i].key = s->intervals[sorted[i].interval].start_ns;
		other = sorted == v ? other : v;
	} else {
		for (size_t i = 0; i < lane->n; i++)
			v[i] = (struct item){starts[i], order[i]};
	}
	sorted = sort_items(sorted, lane->n, n_runs, other);
	for (size_t i = 0; i < lane->n; i++)
		order[i] = sorted[i].interval;
}

static int sort_lane(struct maker *m, uint32_t id)
{
	const struct strip_lane *lane = &m->t->lanes[id];
	size_t n_runs = m->arrived[id].n_runs;
	struct item *items;

	if (n_runs <= 1)
		return 0;
	items = malloc(2 * lane->n * sizeof(*items));
	if (!items)
		return -ENOMEM;
	sort_lane_items(m->t->s, lane, m->t->order + lane->first, m->starts + lane->first, n_runs,
			items);
	free(items);
	return 0;
}

/* ---- strips ---- */

/* When the strips of a lane are free again, as a tree of the earliest: the first that is free is found
 * however many there are. */
struct free_lines {
	uint64_t *v; /* v[1] is the earliest of all; the leaves are v[size …] */
	size_t size, n;
};

static int lines_grow(struct free_lines *f)
{
	size_t size = f->size ? 2 * f->size : 8;
	uint64_t *v = malloc(2 * size * sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++)
		v[size + i] = i < f->n ? f->v[f->size + i] : 0;
	for (size_t i = size; i-- > 1;)
		v[i] = MIN(v[2 * i], v[2 * i + 1]);
	free(f->v);
	f->v = v;
	f->size = size;
	return 0;
}

/* The first line that is free at `start_ns`, taken until `end_ns`; SIZE_MAX: no memory. */
static size_t lines_take(struct free_lines *f, uint64_t start_ns, uint64_t end_ns)
{
	size_t i = 1;

	if ((f->size == 0 || f->v[1] > start_ns) && lines_grow(f) < 0)
		return SIZE_MAX;
	while (i < f->size)
		i = 2 * i + (f->v[2 * i] > start_ns);
	f->n = MAX(f->n, i - f->size + 1);
	f->v[i] = end_ns;
	for (size_t up = i / 2; up > 0; up /= 2)
		f->v[up] = MIN(f->v[2 * up], f->v[2 * up + 1]);
	return i - f->size;
}

/* So many of a lane do not overlap: they are all on the first line. *ret_end_ns: until when it is taken. */
static size_t find_first_line(struct strips *t, const struct strip_lane *lane, uint32_t *line,
			      uint64_t *ret_end_ns)
{
	uint64_t end_ns = 0;
	size_t i;

	for (i = 0; i < lane->n; i++) {
		const struct session_interval *v =
			look_at(t->s, t->order + lane->first, i, lane->n);

		if (v->start_ns < end_ns)
			break;
		end_ns = v->end_ns;
	}
	memset(line, 0, i * sizeof(*line));
	*ret_end_ns = end_ns;
	return i;
}

/* The line of each interval of a lane. */
static int find_lines(struct strips *t, const struct strip_lane *lane, uint32_t *line,
		      size_t *ret_n_lines)
{
	struct free_lines lines = {0};
	uint64_t end_ns;
	size_t first = find_first_line(t, lane, line, &end_ns);
	int r = lines_take(&lines, 0, end_ns) ? -ENOMEM : 0;

	for (size_t i = first; r == 0 && i < lane->n; i++) {
		const struct session_interval *v =
			look_at(t->s, t->order + lane->first, i, lane->n);
		size_t at = lines_take(&lines, v->start_ns, v->end_ns);

		r = at > UINT32_MAX ? -ENOMEM : 0;
		line[i] = (uint32_t)at;
	}
	*ret_n_lines = lines.n;
	free(lines.v);
	return r;
}

static int add_strips(struct strips *t, uint32_t lane, size_t n)
{
	if (ARRAY_ROOM(t->strips, t->cap_strips, t->n_strips + n) < 0)
		return -ENOMEM;
	t->lanes[lane].first_strip = (uint32_t)t->n_strips;
	t->lanes[lane].n_strips = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		t->strips[t->n_strips++] = (struct strip){.lane = lane, .line = (uint32_t)i};
	return 0;
}

/* Each line of a lane has its part of `order`. */
static void split_lane(struct strips *t, uint32_t id, const uint32_t *line, uint32_t *scratch)
{
	const struct strip_lane *lane = &t->lanes[id];
	struct strip *strips = t->strips + lane->first_strip;
	size_t first = lane->first;

	if (lane->n_strips == 1) {
		strips->first = first;
		strips->n = lane->n;
		return;
	}
	for (size_t i = 0; i < lane->n; i++)
		strips[line[i]].n++;
	for (uint32_t k = 0; k < lane->n_strips; k++) {
		strips[k].first = first;
		first += strips[k].n;
		strips[k].n = 0;
	}
	memcpy(scratch, t->order + lane->first, lane->n * sizeof(*scratch));
	for (size_t i = 0; i < lane->n; i++) {
		struct strip *strip = &strips[line[i]];

		t->order[strip->first + strip->n++] = scratch[i];
	}
}

/* What the starts of a lane took, its lines take when it is sorted. */
static int make_strips(struct maker *m)
{
	struct strips *t = m->t;
	size_t n_lines = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < t->n_lanes; i++) {
		uint32_t *line = (uint32_t *)(m->starts + t->lanes[i].first);

		r = sort_lane(m, i);
		if (r == 0)
			r = find_lines(t, &t->lanes[i], line, &n_lines);
		if (r == 0)
			r = add_strips(t, i, n_lines);
		if (r == 0)
			split_lane(t, i, line, line + t->lanes[i].n);
	}
	return r;
}

/* ---- the whole ---- */

static uint64_t shifted(const struct strip_lane *lane, uint64_t ns)
{
	return ns > UINT64_MAX - lane->shift_ns ? UINT64_MAX : ns + lane->shift_ns;
}

/* The run began before its first operation, unless the clocks do not say. */
static void find_zero(struct strips *t)
{
	const struct session *s = t->s;
	uint64_t start_ns = s->n_runs && s->runs[0].start_ns ? s->runs[0].start_ns : s->start_ns;
	uint64_t zero_ns = start_ns - (uint64_t)least_offset(s);

	t->zero_ns = start_ns && zero_ns < t->first_ns ? zero_ns : t->first_ns;
}

static void find_bounds(struct strips *t)
{
	t->first_ns = UINT64_MAX;
	for (size_t i = 0; i < t->n_strips; i++) {
		const struct strip *strip = &t->strips[i];

		t->first_ns = MIN(t->first_ns, strip_start_ns(t, strip, 0));
		t->last_ns = MAX(t->last_ns, strip_end_ns(t, strip, strip->n - 1));
	}
	find_zero(t);
}

static int count_blocks(struct strips *t)
{
	for (size_t i = 0; i < t->n_strips; i++) {
		t->strips[i].first_block = t->n_blocks;
		t->n_blocks += (t->strips[i].n + BLOCK - 1) / BLOCK;
	}
	t->blocks = calloc(t->n_blocks, sizeof(*t->blocks));
	return t->blocks ? 0 : -ENOMEM;
}

static int make_all(struct strips *t)
{
	struct maker m = {.t = t};
	int r;

	t->n_intervals = t->s->n_intervals;
	t->n_nodes = t->s->n_nodes;
	t->order = malloc(t->n_intervals * sizeof(*t->order));
	t->classes = calloc(t->n_intervals, 1);
	t->earliest = malloc(t->n_nodes * sizeof(*t->earliest));
	if (!t->order || !t->classes || !t->earliest)
		return -ENOMEM;
	memset(t->earliest, 0xff, t->n_nodes * sizeof(*t->earliest));
	r = make_lanes(&m);
	if (r == 0)
		r = make_strips(&m);
	free(m.sides);
	free(m.arrived);
	free(m.starts);
	if (r == 0)
		r = count_blocks(t);
	if (r < 0)
		return r;
	find_bounds(t);
	return 0;
}

int strips_init(struct strips *t, const struct session *s)
{
	int r;

	*t = (struct strips){.s = s};
	if (!s->n_intervals)
		return -ENODATA;
	r = make_all(t);
	if (r < 0)
		strips_done(t);
	return r;
}

void strips_done(struct strips *t)
{
	free(t->lanes);
	free(t->strips);
	free(t->blocks);
	free(t->order);
	free(t->classes);
	free(t->earliest);
	*t = (struct strips){0};
}

/* ---- classes ---- */

/* The classes of nodes, each for one lane of the session: that which it was last asked for. */
struct sorter {
	struct strips *t;
	uint8_t (*class_of)(void *ctx, uint32_t node, uint32_t lane);
	void *ctx;
	uint32_t *lanes; /* by node; SESSION_NONE: for none yet */
	uint8_t *classes;
};

static uint8_t class_at(struct sorter *x, const struct session_interval *v)
{
	if (x->lanes[v->node] != v->lane) {
		x->lanes[v->node] = v->lane;
		x->classes[v->node] = x->class_of(x->ctx, v->node, v->lane) % STRIP_CLASSES;
	}
	return x->classes[v->node];
}

static void sort_strip(struct sorter *x, const struct strip *strip)
{
	struct strips *t = x->t;
	uint64_t ns[STRIP_CLASSES] = {0};

	for (size_t i = 0; i < strip->n; i++) {
		const struct session_interval *v =
			look_at(t->s, t->order + strip->first, i, strip->n);
		uint8_t class = class_at(x, v);

		if (i % BLOCK == 0) {
			struct strip_block *block = &t->blocks[strip->first_block + i / BLOCK];

			block->start_ns = strip_start_ns(t, strip, i);
			memcpy(block->ns, ns, sizeof(ns));
		}
		t->classes[strip->first + i] = class;
		ns[class] += v->end_ns - v->start_ns;
	}
}

int strips_sort(struct strips *t, uint8_t (*class_of)(void *ctx, uint32_t node, uint32_t lane),
		void *ctx)
{
	_cleanup_(freep) uint32_t *lanes = malloc(t->n_nodes * sizeof(*lanes));
	_cleanup_(freep) uint8_t *classes = malloc(t->n_nodes);
	struct sorter x = {t, class_of, ctx, lanes, classes};

	if (!lanes || !classes)
		return -ENOMEM;
	memset(lanes, 0xff, t->n_nodes * sizeof(*lanes));
	for (size_t i = 0; i < t->n_strips; i++)
		sort_strip(&x, &t->strips[i]);
	return 0;
}

/* ---- looking ---- */

const struct session_interval *strip_interval(const struct strips *t, const struct strip *strip,
					      size_t i)
{
	return &t->s->intervals[t->order[strip->first + i]];
}

uint64_t strip_start_ns(const struct strips *t, const struct strip *strip, size_t i)
{
	return shifted(&t->lanes[strip->lane], strip_interval(t, strip, i)->start_ns);
}

uint64_t strip_end_ns(const struct strips *t, const struct strip *strip, size_t i)
{
	return shifted(&t->lanes[strip->lane], strip_interval(t, strip, i)->end_ns);
}

/* The last block that begins at `ns` or before; the first one, where none does. */
static size_t block_at(const struct strips *t, const struct strip *strip, uint64_t ns)
{
	const struct strip_block *blocks = t->blocks + strip->first_block;
	size_t lo = 0, hi = (strip->n + BLOCK - 1) / BLOCK;

	while (hi - lo > 1) {
		size_t middle = lo + (hi - lo) / 2;

		if (blocks[middle].start_ns <= ns)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

size_t strip_begun(const struct strips *t, const struct strip *strip, uint64_t ns)
{
	size_t i = block_at(t, strip, ns) * BLOCK;

	while (i < strip->n && strip_start_ns(t, strip, i) <= ns)
		i++;
	return i;
}

/* What a strip did before a moment. */
struct past {
	size_t n; /* began */
	uint64_t ns[STRIP_CLASSES];
	uint64_t end_ns; /* of the last one that began */
};

static struct past past_at(const struct strips *t, const struct strip *strip, uint64_t ns)
{
	size_t block = ns ? block_at(t, strip, ns - 1) : 0;
	struct past past = {.n = block * BLOCK};

	memcpy(past.ns, t->blocks[strip->first_block + block].ns, sizeof(past.ns));
	for (; past.n < strip->n; past.n++) {
		uint64_t start_ns = strip_start_ns(t, strip, past.n);

		if (start_ns >= ns)
			break;
		past.end_ns = strip_end_ns(t, strip, past.n);
		past.ns[t->classes[strip->first + past.n]] += MIN(past.end_ns, ns) - start_ns;
	}
	return past;
}

uint64_t strip_column_ns(const struct strip_view *view, unsigned i)
{
	uint64_t span_ns = view->to_ns - view->from_ns;

	if (i >= view->n)
		return view->to_ns;
	return view->from_ns + span_ns / view->n * i + span_ns % view->n * i / view->n;
}

/* Between two moments. */
static struct strip_cell cell_between(const struct strips *t, const struct strip *strip,
				      const struct past *a, uint64_t a_ns, const struct past *b)
{
	bool goes_on = a->n > 0 && a->end_ns > a_ns;
	struct strip_cell cell = {.n = b->n - a->n + goes_on, .first = a->n - goes_on};
	uint64_t most_ns = 0;

	cell.least_ns = b->ns[STRIP_LEAST] - a->ns[STRIP_LEAST];
	if (cell.n)
		cell.class = t->classes[strip->first + cell.first];
	for (uint8_t i = 0; i < STRIP_CLASSES; i++) {
		uint64_t ns = b->ns[i] - a->ns[i];

		cell.busy_ns += ns;
		if (ns > most_ns && (i < STRIP_LEAST || !most_ns)) {
			most_ns = ns;
			cell.class = i;
		}
	}
	return cell;
}

void strips_cells(const struct strips *t, const struct strip *strip, const struct strip_view *view,
		  struct strip_cell *ret)
{
	uint64_t at_ns = view->from_ns, next_ns;
	struct past at = past_at(t, strip, at_ns), next;

	for (unsigned i = 0; i < view->n; i++, at = next, at_ns = next_ns) {
		next_ns = strip_column_ns(view, i + 1);
		next = past_at(t, strip, next_ns);
		ret[i] = cell_between(t, strip, &at, at_ns, &next);
	}
}

bool strips_have_contexts(const struct strips *t, const struct strip_lane *lane)
{
	for (size_t i = 0; i < t->n_lanes; i++)
		if (t->lanes[i].process == lane->process && t->lanes[i].device == lane->device &&
		    !t->lanes[i].is_host && !t->lanes[i].pages &&
		    t->lanes[i].context != lane->context)
			return true;
	return false;
}

uint32_t strips_device_lane(const struct strips *t, uint32_t lane)
{
	const struct strip_lane *of = &t->lanes[lane];

	while (lane > 0 && !t->lanes[lane - 1].is_host &&
	       t->lanes[lane - 1].process == of->process && t->lanes[lane - 1].device == of->device)
		lane--;
	return lane;
}

bool strips_same_place(const struct strip_lane *a, const struct strip_lane *b)
{
	return a->process == b->process && a->device == b->device && a->is_host == b->is_host;
}

/* ---- from launches to operations ---- */

uint64_t strip_launched_ns(const struct strips *t, const struct strip *strip, size_t i)
{
	uint64_t start_ns = strip_start_ns(t, strip, i);
	uint32_t latency_ns = interval_latency_ns(t->s, strip_interval(t, strip, i));

	return latency_ns ? start_ns - MIN(latency_ns, start_ns) : 0;
}

const struct strip_lane *strip_launcher(const struct strips *t, const struct strip *strip, size_t i)
{
	const struct session_lane *of = &t->s->lanes[strip_interval(t, strip, i)->lane];

	for (size_t k = 0; k < t->n_lanes; k++)
		if (t->lanes[k].is_host && !t->lanes[k].pages &&
		    t->lanes[k].process == of->process && t->lanes[k].thread == of->thread)
			return &t->lanes[k];
	return NULL;
}

struct strip_place strips_range_at(const struct strips *t, const struct strip_lane *lane,
				   uint64_t ns)
{
	for (uint32_t k = lane->n_strips; k-- > 0;) {
		const struct strip *strip = &t->strips[lane->first_strip + k];
		size_t n = strip_begun(t, strip, ns);

		if (n > 0 && strip_end_ns(t, strip, n - 1) >= ns)
			return (struct strip_place){strip, n - 1};
	}
	return (struct strip_place){NULL, 0};
}

/* The first of a strip of a device that a thread launched from one moment to another. On a stream a thread's work
 * comes in the order of its launches. */
static size_t first_launched(const struct strips *t, const struct strip *strip, uint64_t thread,
			     const struct strip_view *within, size_t most)
{
	size_t from = strip_begun(t, strip, within->from_ns), end = strip->n;

	if (end - from > most)
		end = from + most;
	/* What began with the range was launched with it at the earliest. */
	while (from > 0 && strip_start_ns(t, strip, from - 1) == within->from_ns)
		from--;
	for (size_t i = from; i < end; i++) {
		uint64_t ns = strip_launched_ns(t, strip, i);

		if (t->s->lanes[strip_interval(t, strip, i)->lane].thread != thread || !ns)
			continue;
		if (ns >= within->from_ns)
			return ns <= within->to_ns ? i : SIZE_MAX;
	}
	return SIZE_MAX;
}

struct strip_place strips_first_launched(const struct strips *t, const struct strip *strip,
					 size_t i, size_t most)
{
	const struct strip_lane *host = &t->lanes[strip->lane];
	struct strip_view within = {.from_ns = strip_start_ns(t, strip, i),
				    .to_ns = strip_end_ns(t, strip, i)};
	struct strip_place first = {NULL, 0};

	for (size_t k = 0; k < t->n_strips; k++) {
		const struct strip_lane *lane = &t->lanes[t->strips[k].lane];
		size_t at;

		if (lane->is_host || lane->process != host->process)
			continue;
		at = first_launched(t, &t->strips[k], host->thread, &within, most);
		if (at == SIZE_MAX)
			continue;
		first = (struct strip_place){&t->strips[k], at};
		/* The next one has to be before it. */
		within.to_ns = strip_launched_ns(t, first.strip, at) - 1;
		if (within.to_ns < within.from_ns)
			break;
	}
	return first;
}
