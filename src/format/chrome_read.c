/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/idindex.h"
#include "format/annotations.h"
#include "format/counters.h"
#include "format/hatchet_kind.h"
#include "format/tokens.h"
#include "format/trace.h"

/* ---- what an event is, by its category ---- */

enum event_class {
	BY_TRACK = 0, /* the category says nothing: what runs on a stream is work */
	CALL,         /* of the vendor's library: may launch work */
	RANGE,
	WORK,
	PAGES,    /* of unified memory */
	IGNORED,  /* repeats what other events say */
	OVERHEAD, /* what the profiler itself took */
	NOT_ALL,  /* our own: a time in which not all was recorded */
};

static const struct category {
	const char *text;
	enum event_class class;
	uint8_t kind; /* enum frame_kind of a range, enum activity_kind of work */
} categories[] = {
	/* torch.profiler, since 1.12 and before */
	{"cpu_op", RANGE, FRAME_FUNCTION},
	{"operator", RANGE, FRAME_FUNCTION},
	{"user_annotation", RANGE, FRAME_SCOPE},
	{"python_function", RANGE, FRAME_PYTHON},
	{"kernel", WORK, ACTIVITY_KERNEL},
	{"gpu_memcpy", WORK, ACTIVITY_COPY},
	{"memcpy", WORK, ACTIVITY_COPY},
	{"gpu_memset", WORK, ACTIVITY_SET},
	{"memset", WORK, ACTIVITY_SET},
	{"cuda_runtime", CALL, FRAME_FUNCTION},
	{"cuda_driver", CALL, FRAME_FUNCTION},
	{"runtime", CALL, FRAME_FUNCTION},
	{"xpu_runtime", CALL, FRAME_FUNCTION},
	{"privateuse1_runtime", CALL, FRAME_FUNCTION},
	{"gpu_user_annotation", IGNORED, 0},
	{"external_correlation", IGNORED, 0},
	{"overhead", OVERHEAD, 0},
	{"cuda_sync", IGNORED, 0},
	{"trace", IGNORED, 0},
	{"unrecorded", NOT_ALL, 0},
	{"unified_memory", PAGES, 0}, /* our own */
	/* Triton's Proton */
	{"scope", RANGE, FRAME_SCOPE},
	{"metric", RANGE, FRAME_SCOPE},
	/* programs that turn reports of nsys into traces */
	{"cuda_api", CALL, FRAME_FUNCTION},
	{"nvtx", RANGE, FRAME_NVTX},
	{"nvtx-kernel", IGNORED, 0},
};

/* ---- tracks ---- */

enum track_class { HOST_TRACK, STREAM_TRACK, DERIVED_TRACK };

struct process {
	uint32_t pid, name;  /* string ids */
	uint32_t session_id; /* SESSION_NONE until a host thread runs in it */
};

/* A (pid, tid) of the trace. */
struct track {
	uint32_t pid, tid, name; /* string ids */
	uint32_t process;        /* index of ours */
};

/* A "B" or "E" event, to be matched when all have come. An end says nothing of what it ends, often not
 * even a category: all that begins on a track is on one stack, also what is not kept. */
struct mark {
	int64_t at_ns;
	uint32_t track;
	uint32_t seq;   /* order of arrival */
	uint32_t begun; /* index of what begins here, by `is` */
	enum mark_is { MARK_END, MARK_NOTHING, MARK_RANGE, MARK_WORK } is;
};

/* What has no place in a profile, by the phase of its events. */
enum left_out {
	LEFT_NOTHING = 0, /* names, flows, ends: they say nothing of their own */
	LEFT_ASYNC,
	LEFT_INSTANTS,
	LEFT_COUNTERS,
	LEFT_SAMPLES,
	LEFT_OBJECTS,
	LEFT_DUMPS,
	LEFT_OVERHEAD,
	LEFT_NO_TIME,
	LEFT_NO_DURATION,
	LEFT_UNKNOWN,
	LEFT_N
};

static const struct {
	const char *phases, *what;
} left_outs[LEFT_N] = {
	[LEFT_NOTHING] = {"MstfeFc()", ""},
	[LEFT_ASYNC] = {"bnSTp", "asynchronous events"},
	[LEFT_INSTANTS] = {"iIR", "instants"},
	[LEFT_COUNTERS] = {"C", "values of counters"},
	[LEFT_SAMPLES] = {"P", "samples"},
	[LEFT_OBJECTS] = {"NOD", "events of objects"},
	[LEFT_DUMPS] = {"vV", "dumps of memory"},
	[LEFT_OVERHEAD] = {"", "overhead of the profiler"},
	[LEFT_NO_TIME] = {"", "events without a time"},
	[LEFT_NO_DURATION] = {"", "ranges without a duration"},
	[LEFT_UNKNOWN] = {"", "events of no known kind"},
};

struct reader {
	struct session *s;
	struct annotations *annotations; /* of a file; NULL: there is none */
	struct trace *trace;
	struct process *processes;
	size_t n_processes, cap_processes;
	struct track *tracks;
	size_t n_tracks, cap_tracks;
	struct idindex by_pid, by_track;
	struct mark *marks;
	size_t n_marks, cap_marks;
	struct trace_range *ranges; /* what began by a mark; its end is filled in */
	size_t n_ranges, cap_ranges;
	struct trace_work *works;
	size_t n_works, cap_works;
	int64_t last_ns;
	uint64_t seed; /* tells processes of different traces apart */
	struct buf name;
	uint64_t n_left_out[LEFT_N];
};

static const char *str(const struct reader *r, uint32_t id)
{
	return strtab_str(r->s->strings, id);
}

static bool pid_equal(const void *ctx, uint32_t i, const void *key)
{
	return ((const struct reader *)ctx)->processes[i].pid == *(const uint32_t *)key;
}

static uint32_t process_intern(struct reader *r, uint32_t pid)
{
	uint32_t i = idindex_find(&r->by_pid, hash_u64(pid), pid_equal, r, &pid);

	if (i != IDINDEX_NONE)
		return i;
	if (ARRAY_ROOM(r->processes, r->cap_processes, r->n_processes + 1) < 0 ||
	    idindex_add(&r->by_pid, hash_u64(pid), (uint32_t)r->n_processes) < 0)
		return SESSION_NONE;
	r->processes[r->n_processes] = (struct process){pid, 0, SESSION_NONE};
	return (uint32_t)r->n_processes++;
}

static bool track_equal(const void *ctx, uint32_t i, const void *key)
{
	const struct track *a = &((const struct reader *)ctx)->tracks[i], *b = key;

	return a->pid == b->pid && a->tid == b->tid;
}

static uint32_t track_intern(struct reader *r, uint32_t pid, uint32_t tid)
{
	struct track track = {.pid = pid, .tid = tid};
	uint32_t i = idindex_find(&r->by_track, hash_pair(pid, tid), track_equal, r, &track);

	if (i != IDINDEX_NONE)
		return i;
	track.process = process_intern(r, pid);
	if (track.process == SESSION_NONE ||
	    ARRAY_ROOM(r->tracks, r->cap_tracks, r->n_tracks + 1) < 0 ||
	    idindex_add(&r->by_track, hash_pair(pid, tid), (uint32_t)r->n_tracks) < 0)
		return SESSION_NONE;
	r->tracks[r->n_tracks] = track;
	return (uint32_t)r->n_tracks++;
}

/* The first number in a text; false when it has no digit. */
static bool number_in(const char *text, uint64_t *ret)
{
	const char *p = text + strcspn(text, "0123456789");
	struct number n;

	if (!*p)
		return false;
	number_parse(p, strspn(p, "0123456789"), &n);
	*ret = n.is_int ? n.u64 : 0;
	return true;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* "GPU Stream 7", "Stream #16(compute)", "stream 7" */
static bool is_stream(const char *name)
{
	const char *p = strcasestr(name, "stream ");

	return p && (is_number((char[]){p[7], '\0'}) || p[7] == '#');
}

/* A stream's number, in whatever words; false also where our own traces say that there is none. */
static bool stream_in(const char *label, uint64_t *ret)
{
	return strncmp(label, STREAM_NO_WORD, strlen(STREAM_NO_WORD)) != 0 && number_in(label, ret);
}

/* "Device 0", "/device:GPU:0", "GPU 0": its index, or -1. */
static int32_t device_in(const char *name)
{
	static const char *const words[] = {"Device ", "/device:", "GPU "};
	uint64_t index;
	const char *p;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		p = strstr(name, words[i]);
		if (p && number_in(p, &index) && index <= INT32_MAX)
			return (int32_t)index;
	}
	return -1;
}

static const char *track_label(const struct reader *r, const struct track *t)
{
	return str(r, t->name ? t->name : t->tid);
}

static const char *process_label(const struct reader *r, const struct track *t)
{
	const struct process *p = &r->processes[t->process];

	return str(r, p->name ? p->name : p->pid);
}

/* XLA lays modules, steps and operations beside the streams of a device: the same time again. */
static enum track_class track_class(const struct reader *r, const struct track *t)
{
	const char *label = track_label(r, t), *process = process_label(r, t);

	if (is_stream(label))
		return STREAM_TRACK;
	if (device_in(process) < 0)
		return HOST_TRACK;
	if (!*label || is_number(label))
		return STREAM_TRACK;
	return !strncmp(process, "/device:", 8) ? DERIVED_TRACK : HOST_TRACK;
}

/* The session's process of a host thread. */
static uint32_t session_process(struct reader *r, struct process *p)
{
	const char *pid = str(r, p->pid);
	uint64_t number = 0;

	if (p->session_id == SESSION_NONE) {
		number_in(pid, &number);
		p->session_id = trace_process(r->trace, hash_bytes(pid, strlen(pid)) ^ r->seed,
					      (uint32_t)number);
	}
	return p->session_id;
}

/* A thread's number, also in the words of those who give one thread several tracks ("CUDA API 77",
 * "NVTX Thread 77"). Names stand beyond what a thread id can be. */
static uint64_t thread_of(const struct reader *r, const struct track *t)
{
	const char *tid = str(r, t->tid);
	uint64_t number;

	if ((is_number(tid) || !strncmp(tid, "CUDA", 4) || !strncmp(tid, "NVTX", 4)) &&
	    number_in(tid, &number))
		return number;
	return UINT64_C(1) << 32 | t->tid;
}

static uint32_t host_lane(struct reader *r, const struct track *t)
{
	uint32_t process = session_process(r, &r->processes[t->process]);

	return trace_host_lane(r->trace, process, thread_of(r, t));
}

/* ---- frames and paths ---- */

static uint32_t frame_of(struct reader *r, enum frame_kind kind, uint32_t name)
{
	return session_frame_intern(r->s, kind, name, SESSION_NONE, 0);
}

static uint32_t guessed_frame(struct reader *r, uint32_t name)
{
	return frame_of(r, hatchet_guess_kind(str(r, name), strtab_len(r->s->strings, name), 0),
			name);
}

/* "module.py(12): forward" as "module.py:12@forward", which all else here calls it. */
static uint32_t python_frame(struct reader *r, uint32_t name)
{
	const char *text = str(r, name), *close = strstr(text, "): "), *open = close;
	size_t len = strtab_len(r->s->strings, name);
	uint32_t id;

	while (open && open > text && open[-1] >= '0' && open[-1] <= '9')
		open--;
	if (!open || open == close || open <= text + 1 || open[-1] != '(')
		return frame_of(r, FRAME_PYTHON, name);
	buf_clear(&r->name);
	buf_put(&r->name, text, (size_t)(open - 1 - text));
	buf_putc(&r->name, ':');
	buf_put(&r->name, open, (size_t)(close - open));
	buf_putc(&r->name, '@');
	buf_put(&r->name, close + 3, len - (size_t)(close + 3 - text));
	id = r->name.error ? STRTAB_NONE : strtab_add(r->s->strings, r->name.data, r->name.len);
	return id == STRTAB_NONE ? SESSION_NONE : frame_of(r, FRAME_PYTHON, id);
}

static uint32_t range_frame(struct reader *r, const struct category *c, uint32_t name)
{
	if (c->kind == FRAME_PYTHON)
		return python_frame(r, name);
	if (c->class == CALL)
		return frame_of(r, trace_call_kind(str(r, name)), name);
	return frame_of(r, c->class == BY_TRACK ? FRAME_FUNCTION : (enum frame_kind)c->kind, name);
}

static bool is_root(const struct reader *r, const struct chrome_event *e, size_t i)
{
	return i == 0 && !strcmp(str(r, e->call_stack[0]), "ROOT");
}

/* The node of the first n entries of a call stack, which may begin with the root. */
static uint32_t stack_node(struct reader *r, const struct chrome_event *e, size_t n)
{
	uint32_t node = SESSION_ROOT, frame;

	for (size_t i = 0; i < n && node != SESSION_NONE; i++) {
		if (is_root(r, e, i))
			continue;
		frame = guessed_frame(r, e->call_stack[i]);
		node = frame == SESSION_NONE ? frame : session_node_intern(r->s, node, frame);
	}
	return node;
}

static int add_metrics(struct reader *r, const struct chrome_event *e, uint32_t node, uint32_t lane)
{
	struct metric m;
	uint32_t id;
	int ret = 0;

	for (size_t i = 0; i < e->n_metrics && ret == 0; i++) {
		metric_guess(str(r, e->metrics[i].name), METRIC_F64, &m);
		id = metric_table_add(r->s->metrics, &m);
		if (id == METRIC_NONE)
			return -ENOMEM;
		if (metric_table_get(r->s->metrics, id)->type == METRIC_F64)
			ret = session_add(r->s, node, lane, 0, id,
					  (union metric_value){.f64 = e->metrics[i].value});
	}
	return ret;
}

/* ---- events ---- */

static const struct category *category_of(const struct reader *r, const struct chrome_event *e)
{
	static const struct category unknown = {"", BY_TRACK, 0};
	const char *cat = str(r, e->cat);

	for (size_t i = 0; e->cat && i < ARRAY_SIZE(categories); i++)
		if (!strcasecmp(cat, categories[i].text))
			return &categories[i];
	return &unknown;
}

/* "process_name", "thread_name" */
static int on_name(struct reader *r, const struct chrome_event *e)
{
	uint32_t i;

	if (!e->arg_name)
		return 0;
	if (!strcmp(str(r, e->name), "process_name")) {
		i = process_intern(r, e->pid);
		if (i != SESSION_NONE)
			r->processes[i].name = e->arg_name;
		return i == SESSION_NONE ? -ENOMEM : 0;
	}
	if (strcmp(str(r, e->name), "thread_name") != 0)
		return 0;
	i = track_intern(r, e->pid, e->tid);
	if (i != SESSION_NONE)
		r->tracks[i].name = e->arg_name;
	return i == SESSION_NONE ? -ENOMEM : 0;
}

static int add_mark(struct reader *r, const struct chrome_event *e, uint32_t track, enum mark_is is,
		    size_t begun)
{
	if (r->n_marks >= SESSION_NONE || ARRAY_ROOM(r->marks, r->cap_marks, r->n_marks + 1) < 0)
		return -ENOMEM;
	r->marks[r->n_marks] = (struct mark){.at_ns = e->ts_ns,
					     .track = track,
					     .seq = (uint32_t)r->n_marks,
					     .begun = (uint32_t)begun,
					     .is = is};
	r->n_marks++;
	return 0;
}

/* A complete range, or one that begins here and whose end comes by a mark of its own. */
static int add_range(struct reader *r, const struct chrome_event *e, uint32_t track,
		     const struct trace_range *range)
{
	if (e->ph == 'X' && !e->has_dur) {
		r->n_left_out[LEFT_NO_DURATION]++;
		return 0;
	}
	if (e->ph == 'X')
		return trace_add_range(r->trace, range);
	if (ARRAY_ROOM(r->ranges, r->cap_ranges, r->n_ranges + 1) < 0)
		return -ENOMEM;
	r->ranges[r->n_ranges] = *range;
	return add_mark(r, e, track, MARK_RANGE, r->n_ranges++);
}

/* The same for work; without a duration it is counted as a loss. */
static int add_work(struct reader *r, const struct chrome_event *e, uint32_t track,
		    struct trace_work *work)
{
	if (e->ph == 'X') {
		if (!e->has_dur)
			work->end_ns = TRACE_NO_TIME;
		return trace_add_work(r->trace, work);
	}
	if (ARRAY_ROOM(r->works, r->cap_works, r->n_works + 1) < 0)
		return -ENOMEM;
	r->works[r->n_works] = *work;
	return add_mark(r, e, track, MARK_WORK, r->n_works++);
}

/* A kernel that says where it was launched from; its own name is the last of the stack. */
static int work_on_stack(struct reader *r, const struct chrome_event *e, struct trace_work *w)
{
	size_t n = e->n_call_stack;

	if (n && e->call_stack[n - 1] == e->name)
		n--;
	w->parent = stack_node(r, e, n);
	return w->parent == SESSION_NONE ? -ENOMEM : 0;
}

/* A node of a graph has what PyTorch says of it, in the event or in a file. */
static int captured_in(struct reader *r, const struct chrome_event *e, struct trace_work *w)
{
	struct annotation a = {{[ANNOTATION_MODULE] = e->module,
				[ANNOTATION_NAME] = e->arg_name ? e->arg_name : e->arg_str,
				[ANNOTATION_PHASE] = e->phase}};

	if (!e->graph_node)
		return 0;
	if (r->annotations &&
	    annotations_take(r->annotations, e->graph_node, r->s->strings, &a) < 0)
		return -ENOMEM;
	return annotation_captured(&a, r->trace, &w->captured);
}

static int on_work(struct reader *r, const struct category *c, const struct chrome_event *e,
		   uint32_t track)
{
	const struct track *t = &r->tracks[track];
	struct trace_work w = {.start_ns = e->ts_ns,
			       .end_ns = e->ts_ns + e->dur_ns,
			       .launch = e->correlation,
			       .range = e->external,
			       .bytes = e->bytes,
			       .latency_ns = e->latency_ns,
			       .thread = e->thread,
			       .name = e->name,
			       .parent = SESSION_NONE,
			       .process = SESSION_NONE,
			       .context = e->context,
			       .stream = e->stream,
			       .device = e->device,
			       .no_size = e->is_mean,
			       .kind = c->kind};
	const char *name = str(r, e->name);
	uint64_t number;

	if (c->class != WORK)
		w.kind = ACTIVITY_KERNEL;
	if (w.kind != ACTIVITY_KERNEL || !strncasecmp(name, "memcpy", 6) ||
	    !strncasecmp(name, "memset", 6))
		trace_parse_transfer(name, &w);
	if (e->has_original_stream)
		w.stream = e->original_stream;
	else
		w.no_stream = !e->has_stream && !stream_in(track_label(r, t), &w.stream);
	if (w.device < 0)
		w.device = device_in(process_label(r, t));
	if (w.device < 0 && !e->n_call_stack && is_number(str(r, t->pid)) &&
	    number_in(str(r, t->pid), &number) && number < 1024)
		w.device = (int32_t)number; /* torch.profiler's pid of what runs on a device */
	w.config = trace_config(r->trace, &e->config);
	if (w.config == SESSION_NONE ||
	    (e->n_call_stack ? work_on_stack(r, e, &w) : captured_in(r, e, &w)) < 0)
		return -ENOMEM;
	return add_work(r, e, track, &w);
}

/* Pages of unified memory: below who allocated them, in no stream. */
static int on_pages(struct reader *r, const struct chrome_event *e, uint32_t track)
{
	const struct track *t = &r->tracks[track];
	size_t n = e->n_call_stack - (e->n_call_stack > 0);
	struct trace_work w = {.start_ns = e->ts_ns,
			       .end_ns = e->ts_ns + e->dur_ns,
			       .name = e->name,
			       .bytes = e->bytes,
			       .n_pages = e->n_pages,
			       .is_pages = true,
			       .no_stream = true,
			       .device = e->device,
			       .parent = stack_node(r, e, n > 0 ? n - 1 : 0),
			       .process = e->device < 0
						  ? session_process(r, &r->processes[t->process])
						  : SESSION_NONE};

	if (w.parent != SESSION_NONE && n > 0 && !is_root(r, e, n - 1)) {
		uint32_t frame = frame_of(r, FRAME_ALLOC, e->call_stack[n - 1]);

		w.parent =
			frame == SESSION_NONE ? frame : session_node_intern(r->s, w.parent, frame);
	}
	if (w.parent == SESSION_NONE || (e->device < 0 && w.process == SESSION_NONE))
		return -ENOMEM;
	return add_work(r, e, track, &w);
}

/* A scope of Triton's Proton, or a range of our own trace, which says its whole path; its name may hold
 * its metrics as well. The kernels below it have the same path: its frame is theirs, but for that of a
 * call, which stands below nothing. */
static int on_scope(struct reader *r, const struct category *c, const struct chrome_event *e,
		    struct trace_range *range)
{
	bool is_call = c->class == CALL && e->n_call_stack > 1;
	uint32_t node = stack_node(r, e, e->n_call_stack - is_call);

	if (node == SESSION_NONE)
		return -ENOMEM;
	range->placed = true;
	range->base = node;
	if (is_call)
		return 0;
	range->base = node == SESSION_ROOT ? node : r->s->nodes[node].parent;
	range->frame = r->s->nodes[node].frame;
	return node == SESSION_ROOT ? 0 : add_metrics(r, e, node, range->lane);
}

/* A scope within a kernel: its track is a warp, its category the kernel's name. */
static int on_cycles(struct reader *r, const struct chrome_event *e, uint32_t track)
{
	struct trace_range range = {.start_ns = e->ts_ns,
				    .end_ns = e->ts_ns + e->dur_ns,
				    .track = track * 2 + 1,
				    .in_kernel = true,
				    .frame = frame_of(r, FRAME_INSTRUMENT, e->name),
				    .lane = session_lane_intern(r->s, &session_nowhere)};
	uint32_t frame = frame_of(r, FRAME_KERNEL, e->cat);
	size_t n = e->n_call_stack;

	/* Triton's Proton has the kernel as the last frame, too. */
	n -= n > 0 && e->call_stack[n - 1] == e->cat;
	range.base = stack_node(r, e, n);
	if (range.frame == SESSION_NONE || range.lane == SESSION_NONE || frame == SESSION_NONE ||
	    range.base == SESSION_NONE)
		return -ENOMEM;
	range.base = session_node_intern(r->s, range.base, frame);
	return range.base == SESSION_NONE ? -ENOMEM : add_range(r, e, track, &range);
}

static int on_range(struct reader *r, const struct category *c, const struct chrome_event *e,
		    uint32_t track)
{
	struct trace_range range = {.start_ns = e->ts_ns,
				    .end_ns = e->ts_ns + e->dur_ns,
				    .base = SESSION_ROOT,
				    .frame = range_frame(r, c, e->name),
				    .lane = host_lane(r, &r->tracks[track])};

	if (range.frame == SESSION_NONE || range.lane == SESSION_NONE)
		return -ENOMEM;
	range.track = range.lane * 2;
	if (c->class != RANGE && e->correlation) {
		range.id = e->correlation;
		range.id_is = TRACE_ID_LAUNCH;
	} else if (e->external) {
		range.id = e->external;
		range.id_is = TRACE_ID_RANGE;
	}
	if (c->class == CALL && !strncmp(str(r, e->name), "hip", 3))
		trace_set_device_type(r->trace, "HIP");
	if (e->n_call_stack && on_scope(r, c, e, &range) < 0)
		return -ENOMEM;
	return add_range(r, e, track, &range);
}

static int on_execution(struct reader *r, const struct chrome_event *e)
{
	const struct category *c = category_of(r, e);
	uint32_t track = track_intern(r, e->pid, e->tid);
	enum track_class on;

	if (track == SESSION_NONE)
		return -ENOMEM;
	if (!r->seed)
		r->seed = (uint64_t)e->ts_ns;
	r->last_ns = MAX(r->last_ns, e->ts_ns + e->dur_ns);
	if (e->ph == 'E')
		return add_mark(r, e, track, MARK_END, 0);
	if (e->in_cycles)
		return on_cycles(r, e, track);
	on = track_class(r, &r->tracks[track]);
	if (c->class == WORK || (c->class == BY_TRACK && on == STREAM_TRACK))
		return on_work(r, c, e, track);
	if (c->class == NOT_ALL && e->has_dur)
		return trace_add_unrecorded(r->trace, e->ts_ns, e->ts_ns + e->dur_ns,
					    unrecorded_reason_of(str(r, e->reason)));
	if (c->class == PAGES)
		return on_pages(r, e, track);
	/* What is on the track of a stream and is no work was put there for people to see. */
	r->n_left_out[LEFT_OVERHEAD] += c->class == OVERHEAD;
	if (c->class == IGNORED || c->class == OVERHEAD || c->class == NOT_ALL || on != HOST_TRACK)
		return e->ph == 'B' ? add_mark(r, e, track, MARK_NOTHING, 0) : 0;
	return on_range(r, c, e, track);
}

/* torch.profiler marks where its window begins and ends. */
static bool is_window_mark(const struct reader *r, const struct chrome_event *e)
{
	const char *name = str(r, e->name);

	return !strncmp(name, "Iteration Start", 15) || !strcmp(name, "Record Window End");
}

static enum left_out left_out_by_phase(const struct reader *r, const struct chrome_event *e)
{
	/* They are made of the other events, or of what a profile has besides. */
	for (unsigned i = 0; e->ph == 'C' && i < COUNTER_N; i++)
		if (!strcmp(str(r, e->name), counter_tracks[i].name))
			return LEFT_NOTHING;
	/* JAX ends its list with an empty event. */
	if (is_window_mark(r, e) || (!e->ph && !e->name))
		return LEFT_NOTHING;
	for (unsigned i = 0; e->ph && i < LEFT_N; i++)
		if (strchr(left_outs[i].phases, e->ph))
			return (enum left_out)i;
	return LEFT_UNKNOWN;
}

static int on_event(void *ctx, const struct chrome_event *e)
{
	struct reader *r = ctx;

	if (e->ph == 'M')
		return on_name(ctx, e);
	if (!e->ph || !strchr("XBE", e->ph)) {
		r->n_left_out[left_out_by_phase(r, e)]++;
		return 0;
	}
	if (e->has_ts)
		return on_execution(ctx, e);
	r->n_left_out[LEFT_NO_TIME]++;
	return 0;
}

static int on_device(void *ctx, const struct session_device *device)
{
	struct reader *r = ctx;
	struct session_device d = *device;

	if (strstr(str(r, d.name), "AMD")) {
		d.type = strtab_adds(r->s->strings, "HIP");
		if (strncmp(str(r, d.arch), "gfx", 3) != 0)
			d.arch = 0; /* major and minor do not name a gfx target */
		trace_set_device_type(r->trace, "HIP");
		if (d.type == STRTAB_NONE)
			return -ENOMEM;
	}
	return trace_add_device(r->trace, &d);
}

/* ---- begin and end ---- */

static int compare_marks(const void *x, const void *y)
{
	const struct mark *a = x, *b = y;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return (a->seq > b->seq) - (a->seq < b->seq);
}

/* What began at a mark goes on until end_ns. */
static int add_begun(struct reader *r, const struct mark *begin, int64_t end_ns)
{
	if (begin->is == MARK_RANGE) {
		r->ranges[begin->begun].end_ns = end_ns;
		return trace_add_range(r->trace, &r->ranges[begin->begun]);
	}
	if (begin->is == MARK_NOTHING)
		return 0;
	r->works[begin->begun].end_ns = end_ns;
	return trace_add_work(r->trace, &r->works[begin->begun]);
}

/* An end belongs to the innermost begin that is open; marks[*n_open] are those, moved down. */
static int match_mark(struct reader *r, struct mark mark, size_t *n_open)
{
	if (mark.is != MARK_END) {
		r->marks[(*n_open)++] = mark;
		return 0;
	}
	if (!*n_open || r->marks[*n_open - 1].track != mark.track) {
		r->s->losses[LOSS_SCOPE_MISMATCH]++;
		return 0;
	}
	return add_begun(r, &r->marks[--*n_open], mark.at_ns);
}

/* A range that was never ended lasted until the end; of work nobody knows how long it took. */
static int close_marks(struct reader *r, uint32_t track, size_t *n_open)
{
	int ret = 0;

	while (ret == 0 && *n_open && r->marks[*n_open - 1].track != track) {
		const struct mark *mark = &r->marks[--*n_open];

		ret = add_begun(r, mark,
				mark->is == MARK_WORK ? TRACE_NO_TIME
						      : MAX(r->last_ns, mark->at_ns));
	}
	return ret;
}

static int match_marks(struct reader *r)
{
	size_t n_open = 0;
	int ret = 0;

	if (r->n_marks)
		qsort(r->marks, r->n_marks, sizeof(*r->marks), compare_marks);
	for (size_t i = 0; ret == 0 && i < r->n_marks; i++) {
		struct mark mark = r->marks[i];

		ret = close_marks(r, mark.track, &n_open);
		if (ret == 0)
			ret = match_mark(r, mark, &n_open);
	}
	return ret < 0 ? ret : close_marks(r, SESSION_NONE, &n_open);
}

/* ---- the whole ---- */

/* "left out: instants: 151, values of counters: 2" */
static int note_left_out(struct reader *r)
{
	struct buf text;
	int ret = 0;

	buf_init(&text, 0);
	for (size_t i = LEFT_NOTHING + 1; i < LEFT_N; i++)
		if (r->n_left_out[i])
			buf_printf(&text, "%s%s: %llu",
				   text.len ? ", " : "left out: ", left_outs[i].what,
				   (unsigned long long)r->n_left_out[i]);
	if (text.len)
		ret = session_note(r->s, SESSION_NONE, NOTE_INFO, buf_str(&text));
	ret = text.error ? text.error : ret;
	buf_done(&text);
	return ret;
}

static int add_notes(struct session *s, const struct chrome_document *document)
{
	int r = 0;

	if (document->unfinished)
		r = session_note(s, SESSION_NONE, NOTE_WARNING,
				 "the trace was never closed: whoever wrote it was stopped");
	if (r == 0 && document->garbage_at)
		r = session_note(s, SESSION_NONE, NOTE_WARNING,
				 "what follows the end of the trace was not read");
	return r;
}

static int finish(struct reader *r, const struct chrome_document *document)
{
	int ret = match_marks(r);

	if (ret == 0)
		ret = trace_finish(r->trace, document->base_ns);
	/* Names may have come after what ran in them. */
	for (size_t i = 0; i < r->n_processes; i++)
		if (r->processes[i].session_id != SESSION_NONE)
			r->s->processes[r->processes[i].session_id].exe = r->processes[i].name;
	for (size_t i = 0; i < r->s->n_processes; i++)
		r->s->processes[i].rank = document->rank;
	if (ret == 0)
		ret = note_left_out(r);
	return ret < 0 ? ret : add_notes(r->s, document);
}

int chrome_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	struct reader r = {.s = s, .annotations = in->annotations, .trace = trace_new(s)};
	const struct chrome_sink sink = {on_event, on_device, &r};
	struct chrome_document document;
	int ret = 0;

	buf_init(&r.name, 0);
	if (!r.trace)
		ret = format_fail_code(error, -ENOMEM);
	else
		ret = chrome_parse(in, s, &sink, &document, error);
	if (ret == 0 && (ret = finish(&r, &document)) < 0)
		format_fail_code(error, ret);
	buf_done(&r.name);
	free(r.processes);
	free(r.tracks);
	free(r.marks);
	free(r.ranges);
	free(r.works);
	idindex_done(&r.by_pid);
	idindex_done(&r.by_track);
	trace_free(r.trace);
	return ret;
}

/* A key of the document, or of the first event in a bare list. */
static bool has_key(const char *head, size_t n, const char *key)
{
	size_t len = strlen(key);
	const char *p = memmem(head, n, key, len);

	for (; p; p = memmem(p + len, n - (size_t)(p + len - head), key, len)) {
		const char *q = p + len;

		q += text_blanks(q, n - (size_t)(q - head));
		if (q < head + n && *q == ':')
			return true;
	}
	return false;
}

bool chrome_detect(const char *head, size_t n)
{
	static const char *const keys[] = {"\"traceEvents\"", "\"schemaVersion\"",
					   "\"deviceProperties\"", "\"displayTimeUnit\"",
					   "\"baseTimeNanoseconds\""};
	size_t at = text_begin(head, n);

	if (at == n)
		return false;
	for (size_t i = 0; head[at] == '{' && i < ARRAY_SIZE(keys); i++)
		if (has_key(head, n, keys[i]))
			return true;
	return head[at] == '[' && has_key(head, n, "\"ph\"") && !has_key(head, n, "\"children\"");
}

const struct format format_chrome = {
	.name = "chrome",
	.suffix = ".chrome_trace",
	.names = NAME_DEMANGLED,
	.help = "every execution, as Chrome trace JSON (record --trace)",
	.detect = chrome_detect,
	.read = chrome_read,
	.write = chrome_write,
};
