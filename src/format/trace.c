/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"
#include "core/device_work.h"
#include "core/pages.h"
#include "core/unrecorded.h"

#define DEVICES_MAX 4096
#define UNNAMED     "<unnamed>"

/* A call that may have launched work, or a range in which work was launched. */
struct origin {
	uint64_t id;
	uint32_t process;
	uint32_t parent; /* node below which the work is */
	uint32_t lane;
	int64_t start_ns; /* of a call */
};

struct origins {
	struct origin *items;
	size_t n, cap;
};

struct not_all_recorded {
	int64_t start_ns, end_ns;
	uint8_t reason; /* enum unrecorded_reason */
};

struct trace {
	struct session *s;
	struct trace_range *ranges;
	size_t n_ranges, cap_ranges;
	struct trace_work *works;
	size_t n_works, cap_works;
	struct not_all_recorded *unrecorded;
	size_t n_unrecorded, cap_unrecorded;
	struct origins launches, within;
	uint32_t host_set, copy_set, set_set, cycle_set, launch_set;
	uint32_t size_sets[N_COPY_SIZES];       /* SESSION_NONE: no copy was of that size */
	uint64_t *launched;                     /* launch ids of all work, sorted */
	uint32_t directions[COPY_N_DIRECTIONS]; /* string ids */
	struct {
		uint32_t *ids; /* session devices, in the order of their arrival */
		size_t n, cap;
		struct idindex by_index;
		uint32_t type; /* string id */
	} devices;
	struct {
		uint64_t *ids; /* of contexts and streams, in the order of their work */
		size_t n, cap;
		struct idindex index;
	} wide;
	struct {
		struct captured {
			uint32_t above, frame;
		} * items; /* by what trace_captured() returned, less 1 */
		size_t n, cap;
		struct idindex index;
	} captured;
	struct {
		struct launch_config *items; /* by what trace_config() returned, less 1 */
		size_t n, cap;
		struct idindex index;
	} configs;
	int64_t first_ns; /* time of the first event */
	/* Ranges around the one at hand, outermost first. */
	struct open_range {
		int64_t end_ns;
		uint64_t ns; /* how long */
		uint32_t node, track, lane;
		bool in_kernel;
		bool folded; /* a launch: node is its caller's */
	} * open;
	size_t n_open, cap_open;
};

static uint32_t make_launch_set(struct session *s)
{
	static const char *const names[] = {"launch_time (ns)", "launch_count"};
	uint32_t ids[ARRAY_SIZE(names)];
	struct metric m;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		metric_guess(names[i], METRIC_U64, &m);
		ids[i] = metric_table_add(s->metrics, &m);
		if (ids[i] == METRIC_NONE)
			return SESSION_NONE;
	}
	return session_set_intern(s, ids, ARRAY_SIZE(ids));
}

/* A set of memory has the metrics of a copy but the last, the direction. */
static int make_sets(struct trace *t)
{
	static const uint32_t host[] = {METRIC_CPU_TIME, METRIC_CPU_COUNT};
	static const uint32_t copy[] = {METRIC_TIME,     METRIC_COUNT, METRIC_TIME_MIN,
					METRIC_TIME_MAX, METRIC_BYTES, METRIC_DIRECTION};
	static const uint32_t cycles[] = {METRIC_CYCLES, METRIC_SCOPE_ENTRIES, METRIC_CYCLES_MIN,
					  METRIC_CYCLES_MAX};

	for (unsigned i = 0; i < COPY_N_DIRECTIONS; i++) {
		t->directions[i] = strtab_adds(t->s->strings, copy_direction_word(i));
		if (t->directions[i] == STRTAB_NONE)
			return -ENOMEM;
	}
	for (unsigned i = 0; i < N_COPY_SIZES; i++)
		t->size_sets[i] = SESSION_NONE;
	t->host_set = session_set_intern(t->s, host, ARRAY_SIZE(host));
	t->copy_set = session_set_intern(t->s, copy, ARRAY_SIZE(copy));
	t->set_set = session_set_intern(t->s, copy, ARRAY_SIZE(copy) - 1);
	t->cycle_set = session_set_intern(t->s, cycles, ARRAY_SIZE(cycles));
	t->launch_set = make_launch_set(t->s);
	if (t->launch_set == SESSION_NONE)
		return -ENOMEM;
	return MAX(MAX(t->host_set, t->copy_set), MAX(t->set_set, t->cycle_set)) == SESSION_NONE
		       ? -ENOMEM
		       : 0;
}

struct trace *trace_new(struct session *s)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->s = s;
	t->devices.type = strtab_adds(s->strings, "CUDA");
	return t->devices.type == STRTAB_NONE || make_sets(t) < 0 ? trace_free(t) : t;
}

struct trace *trace_free(struct trace *t)
{
	if (!t)
		return NULL;
	free(t->ranges);
	free(t->works);
	free(t->unrecorded);
	free(t->launched);
	free(t->launches.items);
	free(t->within.items);
	free(t->devices.ids);
	idindex_done(&t->devices.by_index);
	free(t->wide.ids);
	idindex_done(&t->wide.index);
	free(t->captured.items);
	idindex_done(&t->captured.index);
	free(t->configs.items);
	idindex_done(&t->configs.index);
	free(t->open);
	free(t);
	return NULL;
}

/* ---- host threads ---- */

/* Instances are never 0. */
static uint64_t instance_of(uint64_t key)
{
	return hash_u64(key) | 1;
}

uint32_t trace_process_find(const struct trace *t, uint64_t key)
{
	return session_process_find(t->s, instance_of(key));
}

uint32_t trace_process(struct trace *t, uint64_t key, uint32_t pid)
{
	size_t n = t->s->n_processes;
	uint32_t id = session_process_add(t->s, instance_of(key));

	if (t->s->n_processes > n) {
		t->s->processes[id].pid = pid;
		t->s->processes[id].end = PROCESS_ENDED;
	}
	return id;
}

uint32_t trace_host_lane(struct trace *t, uint32_t process, uint64_t thread)
{
	const struct session_lane lane = {
		.process = process, .device = SESSION_NONE, .thread = thread};

	return process == SESSION_NONE ? SESSION_NONE : session_lane_intern(t->s, &lane);
}

enum frame_kind trace_call_kind(const char *name)
{
	return strstr(name, "Synchronize") ? FRAME_SYNC : FRAME_FUNCTION;
}

/* ---- events ---- */

/* No clock shows a time beyond this; differences of times within it do not overflow. */
#define TIME_MAX_NS (INT64_C(1) << 62)

static bool times_are_good(struct trace *t, int64_t start_ns, int64_t end_ns)
{
	if (start_ns <= -TIME_MAX_NS || end_ns <= -TIME_MAX_NS || end_ns >= TIME_MAX_NS)
		t->s->losses[LOSS_ZERO_TIME]++;
	else if (end_ns < start_ns)
		t->s->losses[LOSS_REVERSED_TIME]++;
	else
		return true;
	return false;
}

/* The last moment that is known of a range. */
static int64_t said_end(const struct trace_range *range)
{
	return range->end_ns == TRACE_NO_END ? range->start_ns : range->end_ns;
}

int trace_add_range(struct trace *t, const struct trace_range *range)
{
	if (!times_are_good(t, range->start_ns, said_end(range)))
		return 0;
	if (t->n_ranges >= SESSION_NONE ||
	    ARRAY_ROOM(t->ranges, t->cap_ranges, t->n_ranges + 1) < 0)
		return -ENOMEM;
	t->ranges[t->n_ranges] = *range;
	t->ranges[t->n_ranges].seq = (uint32_t)t->n_ranges;
	t->n_ranges++;
	return 0;
}

int trace_add_named_range(struct trace *t, struct trace_range *range, enum frame_kind kind,
			  uint32_t name)
{
	if (name == STRTAB_NONE || range->lane == SESSION_NONE)
		return -ENOMEM;
	range->frame = session_frame_intern(t->s, kind, name, SESSION_NONE, 0);
	return range->frame == SESSION_NONE ? -ENOMEM : trace_add_range(t, range);
}

int trace_add_work(struct trace *t, const struct trace_work *work)
{
	if (!times_are_good(t, work->start_ns, work->end_ns))
		return 0;
	if (t->n_works >= SESSION_NONE || ARRAY_ROOM(t->works, t->cap_works, t->n_works + 1) < 0)
		return -ENOMEM;
	t->works[t->n_works] = *work;
	t->works[t->n_works].seq = (uint32_t)t->n_works;
	t->n_works++;
	return 0;
}

int trace_add_unrecorded(struct trace *t, int64_t start_ns, int64_t end_ns,
			 enum unrecorded_reason reason)
{
	if (!times_are_good(t, start_ns, end_ns))
		return 0;
	if (ARRAY_ROOM(t->unrecorded, t->cap_unrecorded, t->n_unrecorded + 1) < 0)
		return -ENOMEM;
	t->unrecorded[t->n_unrecorded++] =
		(struct not_all_recorded){start_ns, end_ns, (uint8_t)reason};
	return 0;
}

/* ---- devices ---- */

static bool device_equal(const void *ctx, uint32_t i, const void *key)
{
	const struct trace *t = ctx;

	return t->s->devices[t->devices.ids[i]].index == *(const int32_t *)key;
}

int trace_add_device(struct trace *t, const struct session_device *device)
{
	struct session_device d = *device;
	uint64_t hash = hash_u64((uint32_t)d.index);
	uint32_t i = idindex_find(&t->devices.by_index, hash, device_equal, t, &d.index), id;

	if (i != IDINDEX_NONE && !d.name && !d.arch)
		return 0;
	if (i == IDINDEX_NONE && t->devices.n >= DEVICES_MAX)
		return -E2BIG;
	d.type = d.type ? d.type : t->devices.type;
	id = session_device_intern(t->s, &d);
	if (id == SESSION_NONE)
		return -ENOMEM;
	if (i != IDINDEX_NONE) {
		t->devices.ids[i] = id;
		return 0;
	}
	if (ARRAY_ROOM(t->devices.ids, t->devices.cap, t->devices.n + 1) < 0 ||
	    idindex_add(&t->devices.by_index, hash, (uint32_t)t->devices.n) < 0)
		return -ENOMEM;
	t->devices.ids[t->devices.n++] = id;
	return 0;
}

void trace_set_device_type(struct trace *t, const char *type)
{
	uint32_t id = strtab_adds(t->s->strings, type);

	if (id != STRTAB_NONE)
		t->devices.type = id;
}

/* The session's device of an index; SESSION_NONE: unknown, or one too many. */
static int device_of(struct trace *t, int32_t index, uint32_t *ret)
{
	const struct session_device device = {.index = index};
	uint32_t i;
	int r = index < 0 ? 0 : trace_add_device(t, &device);

	*ret = SESSION_NONE;
	if (r == -E2BIG)
		t->s->losses[LOSS_LANES_FULL]++;
	else if (r < 0)
		return r;
	if (index < 0)
		return 0;
	i = idindex_find(&t->devices.by_index, hash_u64((uint32_t)index), device_equal, t, &index);
	if (i != IDINDEX_NONE)
		*ret = t->devices.ids[i];
	return 0;
}

/* ---- values ---- */

/* A row with room for the values of its set. NULL: no memory. */
static union metric_value *row_values(struct trace *t, uint32_t node, uint32_t lane, uint32_t set)
{
	struct session *s = t->s;
	uint32_t row;

	if (node == SESSION_NONE || lane == SESSION_NONE)
		return NULL;
	row = session_row_intern(s, node, lane, 0, set);
	if (row == SESSION_NONE)
		return NULL;
	memset(s->present + s->rows[row].values, 1, s->sets[set].n);
	return s->values + s->rows[row].values;
}

/* A time and how often: of host ranges, of launches. */
static int add_host_time(struct trace *t, uint32_t node, uint32_t lane, uint32_t set, uint64_t ns)
{
	union metric_value *v = row_values(t, node, lane, set);

	if (!v)
		return -ENOMEM;
	v[0].u64 += ns;
	v[1].u64++;
	return 0;
}

static int add_cycles(struct trace *t, uint32_t node, uint32_t lane, uint64_t cycles)
{
	union metric_value *v = row_values(t, node, lane, t->cycle_set);

	if (!v)
		return -ENOMEM;
	v[2].u64 = v[1].u64 ? MIN(v[2].u64, cycles) : cycles;
	v[0].u64 += cycles;
	v[1].u64++;
	v[3].u64 = MAX(v[3].u64, cycles);
	return 0;
}

/* ---- ranges ---- */

/* By track; of those that start together the one that lasts longer is around the other, of equals
 * the first. */
static int compare_ranges(const void *x, const void *y)
{
	const struct trace_range *a = x, *b = y;

	if (a->track != b->track)
		return COMPARE(a->track, b->track);
	if (a->start_ns != b->start_ns)
		return COMPARE(a->start_ns, b->start_ns);
	if (a->end_ns != b->end_ns)
		return COMPARE(b->end_ns, a->end_ns);
	return COMPARE(a->seq, b->seq);
}

static int origin_add(struct origins *o, const struct origin *origin)
{
	if (ARRAY_ROOM(o->items, o->cap, o->n + 1) < 0)
		return -ENOMEM;
	o->items[o->n++] = *origin;
	return 0;
}

/* The innermost range has ended. */
static int range_close(struct trace *t)
{
	struct open_range *o = &t->open[--t->n_open];
	bool within_launch = t->n_open && o[-1].folded;

	if (o->folded) /* of a runtime's call and the driver's in it, the outer one counts */
		return within_launch ? 0 : add_host_time(t, o->node, o->lane, t->launch_set, o->ns);
	if (!o->in_kernel)
		return add_host_time(t, o->node, o->lane, t->host_set, o->ns);
	return add_cycles(t, o->node, o->lane,
			  o->ns); /* with those of scopes within, as in Hatchet files */
}

static int range_remember(struct trace *t, const struct trace_range *r, uint32_t parent,
			  uint32_t node)
{
	struct origin origin = {r->id, t->s->lanes[r->lane].process, parent, r->lane, r->start_ns};

	if (r->id_is == TRACE_ID_LAUNCH)
		return origin_add(&t->launches, &origin);
	if (r->id_is != TRACE_ID_RANGE)
		return 0;
	origin.parent = node;
	return origin_add(&t->within, &origin);
}

static int compare_ids(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return COMPARE(*a, *b);
}

static int sort_launched(struct trace *t)
{
	t->launched = malloc((t->n_works + 1) * sizeof(*t->launched));
	if (!t->launched)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_works; i++)
		t->launched[i] = t->works[i].launch;
	if (t->n_works)
		qsort(t->launched, t->n_works, sizeof(*t->launched), compare_ids);
	return 0;
}

/* Is this a launch whose work is known, and is there a range around it that it counts for? */
static bool is_folded(const struct trace *t, const struct trace_range *r)
{
	const struct session_frame *f = &t->s->frames[r->frame];

	return r->id_is == TRACE_ID_LAUNCH && t->n_open && !r->placed &&
	       strstr(strtab_str(t->s->strings, f->name), "Launch") &&
	       bsearch(&r->id, t->launched, t->n_works, sizeof(r->id), compare_ids);
}

/* When it was, for a picture over time. */
static int range_keep(struct trace *t, const struct trace_range *r, uint32_t node)
{
	const struct session_interval interval = {.start_ns = (uint64_t)(r->start_ns - t->first_ns),
						  .end_ns = (uint64_t)(r->end_ns - t->first_ns),
						  .node = node,
						  .lane = r->lane};

	return session_interval_add(t->s, &interval);
}

static int range_open(struct trace *t, const struct trace_range *r)
{
	uint32_t parent = t->n_open && !r->placed ? t->open[t->n_open - 1].node : r->base, node;
	bool folded = is_folded(t, r);

	if (ARRAY_ROOM(t->open, t->cap_open, t->n_open + 1) < 0)
		return -ENOMEM;
	node = folded ? parent : session_node_intern(t->s, parent, r->frame);
	if (node == SESSION_NONE)
		return -ENOMEM;
	t->open[t->n_open++] = (struct open_range){.end_ns = r->end_ns,
						   .ns = (uint64_t)(r->end_ns - r->start_ns),
						   .node = node,
						   .track = r->track,
						   .lane = r->lane,
						   .in_kernel = r->in_kernel,
						   .folded = folded};
	if (!folded && !r->in_kernel && range_keep(t, r, node) < 0)
		return -ENOMEM;
	return range_remember(t, r, parent, node);
}

static int nest_ranges(struct trace *t)
{
	const struct trace_range *r = t->ranges, *end = r;
	int ret = 0;

	if (t->n_ranges) {
		qsort(t->ranges, t->n_ranges, sizeof(*t->ranges), compare_ranges);
		end += t->n_ranges;
	}
	for (; ret == 0 && r < end; r++) {
		while (ret == 0 && t->n_open &&
		       (t->open[t->n_open - 1].track != r->track ||
			t->open[t->n_open - 1].end_ns <= r->start_ns))
			ret = range_close(t);
		if (ret == 0)
			ret = range_open(t, r);
	}
	while (ret == 0 && t->n_open)
		ret = range_close(t);
	return ret;
}

/* ---- work ---- */

static int compare_origins(const void *x, const void *y)
{
	const struct origin *a = x, *b = y;

	if (a->id != b->id)
		return COMPARE(a->id, b->id);
	if (a->process != b->process)
		return COMPARE(a->process, b->process);
	if (a->lane != b->lane)
		return COMPARE(a->lane, b->lane);
	if (a->parent != b->parent)
		return COMPARE(a->parent, b->parent);
	return COMPARE(a->start_ns, b->start_ns);
}

static void origins_sort(struct origins *o)
{
	if (o->n)
		qsort(o->items, o->n, sizeof(*o->items), compare_origins);
}

/* The first with this id, in this process unless that is unknown. NULL: there is none. */
static const struct origin *origin_find(const struct origins *o, uint64_t id, uint32_t process)
{
	struct origin key = {id, process == SESSION_NONE ? 0 : process, 0, 0, 0};
	size_t lo = 0;

	BISECT(lo, o->n, mid, compare_origins(&o->items[mid], &key) < 0)
	if (lo == o->n || o->items[lo].id != id)
		return NULL;
	return process == SESSION_NONE || o->items[lo].process == process ? &o->items[lo] : NULL;
}

static const struct origin *work_origin(struct trace *t, const struct trace_work *w,
					uint32_t *ret_latency_ns)
{
	const struct origin *o = NULL;

	if (w->launch)
		o = origin_find(&t->launches, w->launch, w->process);
	*ret_latency_ns = o               ? interval_latency(w->start_ns - o->start_ns)
			  : w->latency_ns ? interval_latency((int64_t)MIN(w->latency_ns, INT64_MAX))
					  : 0;
	if (!o && w->range)
		o = origin_find(&t->within, w->range, w->process);
	if (!o && (w->launch || w->range))
		t->s->losses[LOSS_UNMATCHED]++;
	return o;
}

/* Traces have graphs that were recorded whole among the kernels. */
static bool is_graph_run(const struct trace *t, const struct trace_work *w)
{
	return w->kind == ACTIVITY_KERNEL && w->name &&
	       !strncmp(strtab_str(t->s->strings, w->name), GRAPH_RUN_BEGIN,
			strlen(GRAPH_RUN_BEGIN));
}

static uint32_t work_frame(struct trace *t, const struct trace_work *w)
{
	const struct activity a = {.kind = (enum activity_kind)w->kind,
				   .direction = w->direction,
				   .src_kind = w->src_kind,
				   .dst_kind = w->dst_kind};
	static const enum frame_kind kinds[] = {[ACTIVITY_KERNEL] = FRAME_KERNEL,
						[ACTIVITY_COPY] = FRAME_COPY,
						[ACTIVITY_SET] = FRAME_SET};
	bool known = w->kind == ACTIVITY_SET || (w->kind == ACTIVITY_COPY && w->direction);
	uint32_t name = w->name;
	char text[48];

	if (known) {
		activity_transfer_name(&a, text, sizeof(text));
		name = strtab_adds(t->s->strings, text);
	}
	if (!name)
		name = strtab_adds(t->s->strings, UNNAMED);
	if (name == STRTAB_NONE)
		return SESSION_NONE;
	return session_frame_intern(t->s, is_graph_run(t, w) ? FRAME_GRAPH_RUN : kinds[w->kind],
				    name, SESSION_NONE, 0);
}

static bool captured_equal(const void *ctx, uint32_t i, const void *key)
{
	const struct captured *a = &((const struct trace *)ctx)->captured.items[i], *b = key;

	return a->above == b->above && a->frame == b->frame;
}

uint32_t trace_captured(struct trace *t, uint32_t above, enum frame_kind kind, uint32_t name)
{
	struct captured c = {.above = above};
	uint32_t i;

	if (above == SESSION_NONE || name == STRTAB_NONE)
		return SESSION_NONE;
	c.frame = session_frame_intern(t->s, kind, name, SESSION_NONE, 0);
	if (c.frame == SESSION_NONE)
		return SESSION_NONE;
	i = idindex_find(&t->captured.index, hash_pair(c.above, c.frame), captured_equal, t, &c);
	if (i != IDINDEX_NONE)
		return i + 1;
	i = (uint32_t)t->captured.n;
	if (ARRAY_ROOM(t->captured.items, t->captured.cap, t->captured.n + 1) < 0 ||
	    idindex_add(&t->captured.index, hash_pair(c.above, c.frame), i) < 0)
		return SESSION_NONE;
	t->captured.items[t->captured.n++] = c;
	return i + 1;
}

/* What was captured there stands below this node, where it was launched from `parent`. As deep as readers make it:
 * a few frames. */
static uint32_t captured_node(struct trace *t, uint32_t captured, uint32_t parent)
{
	const struct captured *c = captured ? &t->captured.items[captured - 1] : NULL;

	if (!c)
		return session_node(t->s, parent, FRAME_GRAPH, CAPTURED_AT);
	parent = captured_node(t, c->above, parent);
	return parent == SESSION_NONE ? parent : session_node_intern(t->s, parent, c->frame);
}

static uint32_t work_node(struct trace *t, const struct trace_work *w, const struct origin *o)
{
	uint32_t parent = w->parent != SESSION_NONE ? w->parent : o ? o->parent : SESSION_ROOT;
	uint32_t frame = work_frame(t, w);

	if (w->captured)
		parent = captured_node(t, w->captured, parent);
	if (parent == SESSION_NONE)
		return parent;
	return frame == SESSION_NONE ? frame : session_node_intern(t->s, parent, frame);
}

#define WIDE_FROM (UINT64_C(1) << 31)

static bool wide_equal(const void *ctx, uint32_t i, const void *key)
{
	return ((const struct trace *)ctx)->wide.ids[i] == *(const uint64_t *)key;
}

/* The number of a context or stream in 32 bits; -ENOMEM. */
static int fit_id(struct trace *t, uint64_t id, uint32_t *ret)
{
	uint32_t i;

	*ret = (uint32_t)id;
	if (id < WIDE_FROM)
		return 0;
	i = idindex_find(&t->wide.index, hash_u64(id), wide_equal, t, &id);
	if (i == IDINDEX_NONE) {
		i = (uint32_t)t->wide.n;
		if (t->wide.n >= WIDE_FROM ||
		    ARRAY_ROOM(t->wide.ids, t->wide.cap, t->wide.n + 1) < 0 ||
		    idindex_add(&t->wide.index, hash_u64(id), i) < 0)
			return -ENOMEM;
		t->wide.ids[t->wide.n++] = id;
	}
	*ret = (uint32_t)WIDE_FROM + i;
	return 0;
}

static int work_lane(struct trace *t, const struct trace_work *w, const struct origin *o,
		     struct session_lane *ret)
{
	struct session_lane lane = {
		.process = w->process, .device = SESSION_NONE, .thread = w->thread};
	int r = device_of(t, w->device, &lane.device);

	if (fit_id(t, w->context, &lane.context) < 0 || fit_id(t, w->stream, &lane.stream) < 0)
		return -ENOMEM;
	if (w->no_stream)
		lane.stream = SESSION_NONE;
	if (o) {
		lane.process = t->s->lanes[o->lane].process;
		lane.thread = t->s->lanes[o->lane].thread;
	} else if (w->process == SESSION_NONE && t->s->n_processes == 1) {
		lane.process = 0;
	}
	*ret = lane;
	return r;
}

/* As in a recording: a histogram begins with the second execution. */
static int work_histogram(struct trace *t, uint32_t node, const struct session_lane *lane,
			  uint64_t n_before, uint64_t before_ns, uint64_t ns)
{
	struct hist *h;
	int r = 0;

	if (!n_before)
		return 0;
	h = session_hist_of(t->s, node, lane->device, lane->process);
	if (!h)
		return -ENOMEM;
	if (n_before == 1)
		r = hist_count(h, hist_bin(before_ns), 1);
	return r < 0 ? r : hist_count(h, hist_bin(ns), 1);
}

static bool config_equal(const void *ctx, uint32_t i, const void *key)
{
	return launch_config_equal(&((const struct trace *)ctx)->configs.items[i], key);
}

uint32_t trace_config(struct trace *t, const struct launch_config *config)
{
	uint64_t hash = hash_bytes(config, sizeof(*config));
	uint32_t i;

	if (!launch_config_is_known(config))
		return 0;
	i = idindex_find(&t->configs.index, hash, config_equal, t, config);
	if (i != IDINDEX_NONE)
		return i + 1;
	if (t->configs.n >= SESSION_NONE - 1 ||
	    ARRAY_ROOM(t->configs.items, t->configs.cap, t->configs.n + 1) < 0 ||
	    idindex_add(&t->configs.index, hash, (uint32_t)t->configs.n) < 0)
		return SESSION_NONE;
	t->configs.items[t->configs.n] = *config;
	return (uint32_t)++t->configs.n;
}

static int add_config(struct trace *t, const struct trace_work *w, uint32_t node,
		      const struct session_lane *lane)
{
	struct session_config of = {.node = node, .device = lane->device, .process = lane->process},
			      *c;

	if (!w->config || w->kind != ACTIVITY_KERNEL || lane->device == SESSION_NONE)
		return 0;
	of.of = t->configs.items[w->config - 1];
	c = session_config_of(t->s, &of);
	if (!c)
		return -ENOMEM;
	c->count++;
	c->time_ns += (uint64_t)(w->end_ns - w->start_ns);
	return 0;
}

/* Beside what copies add up to, how many there were of its size; 0 bytes: nobody says how large it is. */
static int add_size(struct trace *t, const struct trace_work *w, uint32_t node, uint32_t lane)
{
	unsigned size = copy_size(w->bytes);
	const uint32_t metrics[] = {metric_of_copies(size), metric_of_copied_bytes(size)};
	union metric_value *v;

	if (!w->bytes || w->no_size)
		return 0;
	if (t->size_sets[size] == SESSION_NONE)
		t->size_sets[size] = session_set_intern(t->s, metrics, ARRAY_SIZE(metrics));
	v = t->size_sets[size] == SESSION_NONE ? NULL
					       : row_values(t, node, lane, t->size_sets[size]);
	if (!v)
		return -ENOMEM;
	v[0].u64++;
	v[1].u64 += w->bytes;
	return 0;
}

static int work_values(struct trace *t, const struct trace_work *w, uint32_t node, uint32_t lane)
{
	const uint32_t sets[] = {[ACTIVITY_KERNEL] = SET_KERNEL,
				 [ACTIVITY_COPY] = t->copy_set,
				 [ACTIVITY_SET] = t->set_set};
	uint64_t ns = (uint64_t)(w->end_ns - w->start_ns), n_before, before_ns;
	union metric_value *v = row_values(t, node, lane, sets[w->kind]);

	if (!v)
		return -ENOMEM;
	before_ns = v[0].u64;
	n_before = v[1].u64++;
	v[0].u64 += ns;
	v[2].u64 = n_before ? MIN(v[2].u64, ns) : ns;
	v[3].u64 = MAX(v[3].u64, ns);
	if (w->kind != ACTIVITY_KERNEL) {
		v[4].u64 += w->bytes;
		t->s->present[v - t->s->values + 4] = v[4].u64 > 0;
	}
	if (w->kind == ACTIVITY_COPY) {
		v[5].text = t->directions[w->direction];
		if (add_size(t, w, node, lane) < 0)
			return -ENOMEM;
	}
	if (add_config(t, w, node, &t->s->lanes[lane]) < 0)
		return -ENOMEM;
	return work_histogram(t, node, &t->s->lanes[lane], n_before, before_ns, ns);
}

/* What a collector charges to who allocated them. */
static int pages_values(struct trace *t, const struct trace_work *w, const struct pages_kind *kind,
			const struct session_interval *v)
{
	static const uint32_t amounts[] = {
		[UNIFIED_TO_DEVICE] = METRIC_TO_DEVICE,  [UNIFIED_TO_HOST] = METRIC_TO_HOST,
		[UNIFIED_TO_PEER] = METRIC_TO_PEER,      [UNIFIED_CPU_FAULT] = METRIC_CPU_FAULTS,
		[UNIFIED_GPU_FAULT] = METRIC_GPU_FAULTS, [UNIFIED_THRASH] = METRIC_THRASHES,
		[UNIFIED_THROTTLE] = METRIC_THROTTLED,   [UNIFIED_REMOTE] = METRIC_REMOTE};
	bool has_moved = kind->unit == PAGES_BYTES;
	uint64_t took_ns = v->end_ns - v->start_ns;
	const struct {
		uint32_t metric;
		uint64_t value;
	} values[] = {
		{amounts[kind->what], kind->unit == PAGES_TIME ? took_ns : v->amount},
		{METRIC_MIGRATIONS, has_moved},
		{METRIC_MIGRATING, has_moved ? took_ns : 0},
		{METRIC_ASKED_FOR, kind->cause == UNIFIED_AS_ASKED ? v->amount : 0},
		{METRIC_EVICTED, kind->cause == UNIFIED_EVICTED ? v->amount : 0},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(values); i++)
		if (values[i].value)
			r = session_add(t->s, w->parent, v->lane, 0, values[i].metric,
					(union metric_value){.u64 = values[i].value});
	return r;
}

/* Of a kind that is not known, nothing is. */
static int pages_place(struct trace *t, const struct trace_work *w)
{
	struct pages_kind kind = pages_kind(strtab_str(t->s->strings, w->name));
	uint64_t amount = kind.unit == PAGES_BYTES ? w->bytes : w->n_pages;
	uint32_t name = w->name ? w->name : strtab_adds(t->s->strings, UNNAMED), frame;
	struct session_interval v = {.amount = (uint32_t)MIN(amount, UINT32_MAX),
				     .start_ns = (uint64_t)(w->start_ns - t->first_ns),
				     .end_ns = (uint64_t)(w->end_ns - t->first_ns)};
	struct session_lane lane;
	int r = work_lane(t, w, NULL, &lane);

	if (r < 0 || name == STRTAB_NONE)
		return -ENOMEM;
	frame = session_frame_intern(t->s, FRAME_PAGES, name, SESSION_NONE, 0);
	if (frame == SESSION_NONE)
		return -ENOMEM;
	if (lane.device != SESSION_NONE)
		lane.stream = SESSION_NONE;
	v.node = session_node_intern(t->s, w->parent, frame);
	v.lane = session_lane_intern(t->s, &lane);
	if (v.node == SESSION_NONE || v.lane == SESSION_NONE)
		return -ENOMEM;
	r = kind.lane != PAGES_OTHER ? pages_values(t, w, &kind, &v) : 0;
	return r < 0 ? r : session_interval_add(t->s, &v);
}

static int work_place(struct trace *t, const struct trace_work *w)
{
	uint32_t latency_ns = (uint32_t)MIN(w->latency_ns, UINT32_MAX);
	const struct origin *o = w->parent == SESSION_NONE ? work_origin(t, w, &latency_ns) : NULL;
	struct session_interval interval = {.latency_ns = latency_ns,
					    .start_ns = (uint64_t)(w->start_ns - t->first_ns),
					    .end_ns = (uint64_t)(w->end_ns - t->first_ns)};
	struct session_lane lane;
	int r = work_lane(t, w, o, &lane);

	if (r < 0)
		return r;
	interval.node = work_node(t, w, o);
	interval.lane = session_lane_intern(t->s, &lane);
	r = work_values(t, w, interval.node, interval.lane);
	return r < 0 ? r : session_interval_add(t->s, &interval);
}

static int compare_works(const void *x, const void *y)
{
	const struct trace_work *a = x, *b = y;

	return a->start_ns != b->start_ns ? COMPARE(a->start_ns, b->start_ns)
					  : COMPARE(a->seq, b->seq);
}

static int place_works(struct trace *t)
{
	int r = 0;

	origins_sort(&t->launches);
	origins_sort(&t->within);
	if (t->n_works)
		qsort(t->works, t->n_works, sizeof(*t->works), compare_works);
	for (size_t i = 0; r == 0 && i < t->n_works; i++)
		r = t->works[i].is_pages ? pages_place(t, &t->works[i])
					 : work_place(t, &t->works[i]);
	return r;
}

/* ---- what it adds up to ---- */

/* Of work that was placed: works and what they became are in one order. */
static int add_up(struct trace *t, const struct session_interval *placed)
{
	_cleanup_(freep) struct device_work *work = calloc(t->n_works + 1, sizeof(*work));
	size_t n = 0;

	if (!work)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_works; i++) {
		const struct session_lane *lane = &t->s->lanes[placed[i].lane];

		if (lane->device != SESSION_NONE && !t->works[i].is_pages)
			work[n++] =
				(struct device_work){.start_ns = placed[i].start_ns,
						     .end_ns = placed[i].end_ns,
						     .process = lane->process,
						     .device = lane->device,
						     .context = lane->context,
						     .stream = lane->stream,
						     .direction = t->works[i].direction,
						     .is_copy = t->works[i].kind == ACTIVITY_COPY};
	}
	return device_work_add_up(t->s, work, n);
}

/* ---- when not all was recorded ---- */

/* As far as there are events. */
static int flatten_unrecorded(const struct trace *t, int64_t last_ns, struct unrecorded *all)
{
	_cleanup_(freep) struct unrecorded_span *v = calloc(t->n_unrecorded, sizeof(*v));
	size_t n = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_unrecorded; i++) {
		int64_t start_ns = MAX(t->unrecorded[i].start_ns, t->first_ns),
			end_ns = MIN(t->unrecorded[i].end_ns, last_ns);

		if (start_ns < end_ns)
			v[n++] = (struct unrecorded_span){
				.start_ns = (uint64_t)(start_ns - t->first_ns),
				.end_ns = (uint64_t)(end_ns - t->first_ns),
				.reason = t->unrecorded[i].reason};
	}
	return unrecorded_flatten(all, v, n);
}

/* A trace has them by device: each once. */
static int add_unrecorded(struct trace *t, int64_t last_ns)
{
	struct unrecorded all = {0};
	int r = t->n_unrecorded ? flatten_unrecorded(t, last_ns, &all) : 0;

	for (size_t i = 0; r == 0 && i < all.n; i++) {
		const struct session_unrecorded span = {SESSION_NONE, (uint32_t)i, all.v[i].reason,
							all.v[i].start_ns, all.v[i].end_ns};

		r = session_unrecorded_set(t->s, &span);
	}
	unrecorded_done(&all);
	return r;
}

/* ---- the whole ---- */

/* First and last moment; false when there is no event. */
static bool bounds(const struct trace *t, int64_t *ret_first_ns, int64_t *ret_last_ns)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < t->n_ranges; i++) {
		first = MIN(first, t->ranges[i].start_ns);
		last = MAX(last, said_end(&t->ranges[i]));
	}
	for (size_t i = 0; i < t->n_works; i++) {
		first = MIN(first, t->works[i].start_ns);
		last = MAX(last, t->works[i].end_ns);
	}
	*ret_first_ns = first;
	*ret_last_ns = last;
	return last >= first;
}

/* Times beyond 2001 in nanoseconds since 1970 are taken for that. */
#define EPOCH_LIKELY_NS INT64_C(1000000000000000000)

/* Intervals count from the first event on; what time of day that was, if it is known. */
static int set_clocks(struct trace *t, int64_t base_ns)
{
	struct session_clock clock = {.name = strtab_adds(t->s->strings, "realtime")};
	int64_t start_ns = t->first_ns;
	int r = 0;

	if (start_ns < EPOCH_LIKELY_NS && base_ns > 0 && base_ns < TIME_MAX_NS)
		start_ns += base_ns;
	if (start_ns < EPOCH_LIKELY_NS)
		return 0;
	if (clock.name == STRTAB_NONE)
		return -ENOMEM;
	t->s->start_ns = clock.clock_ns = (uint64_t)start_ns;
	for (; r == 0 && clock.process < t->s->n_processes; clock.process++)
		r = session_clock_add(t->s, &clock);
	return r;
}

static void close_ranges(struct trace *t, int64_t last_ns)
{
	for (size_t i = 0; i < t->n_ranges; i++)
		if (t->ranges[i].end_ns == TRACE_NO_END)
			t->ranges[i].end_ns = last_ns;
}

/* A trace does not say what was started, but how long it took, and when devices worked. */
static int add_run(struct trace *t, int64_t last_ns)
{
	struct session_run run = {.start_ns = t->s->start_ns,
				  .wall_ns = (uint64_t)(last_ns - t->first_ns),
				  .end = PROCESS_VANISHED};
	int64_t first_work_ns = INT64_MAX, last_work_ns = INT64_MIN;

	for (size_t i = 0; i < t->n_works; i++) {
		if (t->works[i].is_pages)
			continue;
		first_work_ns = MIN(first_work_ns, t->works[i].start_ns);
		last_work_ns = MAX(last_work_ns, t->works[i].end_ns);
	}
	if (first_work_ns <= last_work_ns) {
		run.first_work_ns = (uint64_t)(first_work_ns - t->first_ns);
		run.last_work_ns = (uint64_t)(last_work_ns - t->first_ns);
	}
	return session_run_add(t->s, &run);
}

int trace_finish(struct trace *t, int64_t base_ns)
{
	int64_t last_ns = 0;
	size_t n_before; /* intervals of the host */
	int r;

	t->s->ended = true;
	if (!bounds(t, &t->first_ns, &last_ns))
		return 0;
	close_ranges(t, last_ns);
	r = set_clocks(t, base_ns);
	t->s->end_ns = t->s->start_ns + (uint64_t)(last_ns - t->first_ns);
	if (r == 0)
		r = add_run(t, last_ns);
	if (r == 0)
		r = add_unrecorded(t, last_ns);
	if (r == 0)
		r = sort_launched(t);
	if (r == 0)
		r = nest_ranges(t);
	n_before = t->s->n_intervals;
	if (r == 0)
		r = place_works(t);
	return r < 0 ? r : add_up(t, t->s->intervals + n_before);
}

/* ---- words ---- */

struct transfer_word {
	const char *text;
	uint8_t value;
};

static uint8_t find_word(const char *name, const struct transfer_word *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcasestr(name, words[i].text))
			return words[i].value;
	return 0;
}

static const struct transfer_word memories[] = {
	{"pageable", MEMORY_PAGEABLE}, {"pinned", MEMORY_PINNED}, {"managed", MEMORY_MANAGED},
	{"array", MEMORY_ARRAY},       {"device", MEMORY_DEVICE},
};

/* "memcpy HtoD pinned", "memset device": names of activity_transfer_name(), read back. */
static void parse_own_memory(const char *name, struct trace_work *work)
{
	const char *word = strrchr(name, ' ');
	uint8_t *end = work->direction == COPY_DEVICE_TO_HOST ? &work->dst_kind : &work->src_kind;

	for (size_t i = 0; word && i < ARRAY_SIZE(memories); i++)
		if (!strcmp(word + 1, memories[i].text))
			*end = memories[i].value;
}

/* "Pinned -> Device": the kinds of memory at both ends. */
static void parse_memories(const char *name, struct trace_work *work)
{
	const char *open = strchr(name, '('), *arrow = open ? strstr(open, "->") : NULL;
	char source[32];

	if (!open) {
		parse_own_memory(name, work);
		return;
	}
	snprintf(source, sizeof(source), "%.*s", arrow ? (int)MIN(arrow - open, 31) : 31, open);
	work->src_kind = find_word(source, memories, ARRAY_SIZE(memories));
	if (arrow)
		work->dst_kind = find_word(arrow, memories, ARRAY_SIZE(memories));
}

void trace_parse_transfer(const char *name, struct trace_work *work)
{
	static const struct transfer_word directions[] = {
		{"HtoD", COPY_HOST_TO_DEVICE},
		{"DtoH", COPY_DEVICE_TO_HOST},
		{"DtoD", COPY_DEVICE_TO_DEVICE},
		{"HtoH", COPY_HOST_TO_HOST},
		{"PtoP", COPY_PEER_TO_PEER},
		{"H2D", COPY_HOST_TO_DEVICE},
		{"D2H", COPY_DEVICE_TO_HOST},
		{"D2D", COPY_DEVICE_TO_DEVICE},
		{"P2P", COPY_PEER_TO_PEER},
		{"HOST_TO_DEVICE", COPY_HOST_TO_DEVICE},
		{"DEVICE_TO_HOST", COPY_DEVICE_TO_HOST},
		{"DEVICE_TO_DEVICE", COPY_DEVICE_TO_DEVICE},
		{"HOST_TO_HOST", COPY_HOST_TO_HOST},
		{"HostToDevice", COPY_HOST_TO_DEVICE},
		{"DeviceToHost", COPY_DEVICE_TO_HOST},
		{"DeviceToDevice", COPY_DEVICE_TO_DEVICE},
		{"Host-to-Device", COPY_HOST_TO_DEVICE},
		{"Device-to-Host", COPY_DEVICE_TO_HOST},
		{"Device-to-Device", COPY_DEVICE_TO_DEVICE},
		{"Peer-to-Peer", COPY_PEER_TO_PEER},
	};
	static const struct transfer_word kinds[] = {
		{"memset", ACTIVITY_SET}, {"memcpy", ACTIVITY_COPY}, {"memory_copy", ACTIVITY_COPY},
		{"copy", ACTIVITY_COPY},  {"fill", ACTIVITY_SET},
	};

	if (work->kind == ACTIVITY_KERNEL)
		work->kind = find_word(name, kinds, ARRAY_SIZE(kinds));
	if (work->kind == ACTIVITY_COPY)
		work->direction = find_word(name, directions, ARRAY_SIZE(directions));
	parse_memories(name, work);
}
