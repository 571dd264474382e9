/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* What rocprofiler-sdk (rocprofv3, rocprof-sys) writes as rocpd. A file may hold several runs: each
 * has its tables, told apart by what follows their names. Times and places are columns of the
 * events, or, since version 3 of the schema, of tables that they refer to.
 *
 *   rocpd_string, rocpd_info_kernel_symbol ─> names    rocpd_region ─> ranges
 *   rocpd_info_thread ─> thread ids
 *   rocpd_event ─> stack ids: work was launched by the region with its id
 *   rocpd_kernel_dispatch, rocpd_memory_copy ─> work */
#include <errno.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#include "base/hash.h"
#include "format/db.h"
#include "format/trace.h"

struct event {
	int64_t stack;
	uint32_t message; /* string id of what a marker says, or 0 */
};

struct place { /* of a track */
	int64_t pid, tid, agent, stream;
	bool no_stream;
};

struct rocpd {
	struct db *db;
	struct session *s;
	struct trace *trace;
	const char *run; /* what follows the names of its tables */
	struct db_ids strings, kernels, agents, threads, events, tracks, times;
	struct event *event; /* by the value in events */
	size_t n_events, cap_events;
	struct place *place; /* by the value in tracks */
	size_t n_places, cap_places;
	int64_t *time; /* by the value in times */
	size_t n_times, cap_times;
};

/* The process of an id, which need not be listed. */
static uint32_t process_of(struct rocpd *r, int64_t id)
{
	return trace_process(r->trace, hash_bytes(r->run, strlen(r->run)) ^ (uint64_t)id,
			     (uint32_t)id);
}

/* ---- what events refer to ---- */

static int add_string(void *ctx)
{
	struct rocpd *r = ctx;

	return db_ids_add_string(&r->strings, r->db, r->s->strings);
}

/* A whole number of a JSON object, or 0. */
static uint32_t number_of(yajl_val object, const char *key)
{
	const char *path[] = {key, NULL};
	yajl_val v = yajl_tree_get(object, path, yajl_t_number);

	return v && YAJL_IS_INTEGER(v) && YAJL_GET_INTEGER(v) > 0 &&
			       YAJL_GET_INTEGER(v) < UINT32_MAX / 1000
		       ? (uint32_t)YAJL_GET_INTEGER(v)
		       : 0;
}

/* What the agent's own record says. HIP counts pairs of CUs from gfx10 on, and so do we. */
static void read_size(struct rocpd *r, int column, struct session_device *d)
{
	uint32_t text = db_text(r->db, column, r->s->strings);
	yajl_val v;

	if (!text || text == STRTAB_NONE)
		return;
	v = yajl_tree_parse(strtab_str(r->s->strings, text), NULL, 0);
	if (v && YAJL_IS_OBJECT(v)) {
		d->num_sms = number_of(v, "cu_count") /
			     (strtab_len(r->s->strings, d->arch) > strlen("gfx90a") ? 2 : 1);
		d->clock_khz = number_of(v, "max_engine_clk_fcompute") * 1000;
	}
	yajl_tree_free(v);
}

/* Marketing name and gfx target; the index counts GPUs alone. */
static int add_agent(void *ctx)
{
	struct rocpd *r = ctx;
	uint32_t type = db_text(r->db, 1, r->s->strings);
	struct session_device d;

	if (strcmp(strtab_str(r->s->strings, type), "GPU") != 0)
		return 0;
	d = (struct session_device){
		.index = (int32_t)(db_int(r->db, db_null(r->db, 2) ? 3 : 2) & INT32_MAX),
		.arch = db_text(r->db, db_null(r->db, 7) ? 4 : 7, r->s->strings),
		.name = db_text(r->db, db_null(r->db, 5) ? 6 : 5, r->s->strings),
	};
	read_size(r, 8, &d);
	if (d.arch == STRTAB_NONE || d.name == STRTAB_NONE ||
	    trace_add_device(r->trace, &d) == -ENOMEM)
		return -ENOMEM;
	return db_ids_add(&r->agents, db_int(r->db, 0), (uint32_t)d.index);
}

static int add_process(void *ctx)
{
	struct rocpd *r = ctx;
	uint32_t id = process_of(r, db_int(r->db, 0)), command = db_text(r->db, 3, r->s->strings);
	struct session_process *p;

	if (id == SESSION_NONE || command == STRTAB_NONE)
		return -ENOMEM;
	p = &r->s->processes[id];
	p->pid = (uint32_t)db_int(r->db, 1);
	p->ppid = (uint32_t)db_int(r->db, 2);
	p->cmdline = p->exe = command;
	return 0;
}

static int add_thread(void *ctx)
{
	struct rocpd *r = ctx;

	return db_ids_add(&r->threads, db_int(r->db, 0), (uint32_t)db_int(r->db, 1));
}

/* The mangled name, without what marks its descriptor, else the one that was made for people. */
static int add_symbol(void *ctx)
{
	struct rocpd *r = ctx;
	uint32_t name = db_text(r->db, 1, r->s->strings);
	size_t len;

	name = name ? name : db_text(r->db, 2, r->s->strings);
	len = strtab_len(r->s->strings, name);
	if (len > 3 && !strcmp(strtab_str(r->s->strings, name) + len - 3, ".kd"))
		name = strtab_add(r->s->strings, strtab_str(r->s->strings, name), len - 3);
	return name == STRTAB_NONE ? -ENOMEM : db_ids_add(&r->kernels, db_int(r->db, 0), name);
}

/* {"message": "what the program said"}, or 0. */
static uint32_t message_of(struct rocpd *r, int column)
{
	static const char *path[] = {"message", NULL};
	uint32_t text = db_text(r->db, column, r->s->strings), id = 0;
	yajl_val v = NULL, message;

	if (!text || text == STRTAB_NONE || strtab_len(r->s->strings, text) > 65536 ||
	    !strstr(strtab_str(r->s->strings, text), "message"))
		return 0;
	v = yajl_tree_parse(strtab_str(r->s->strings, text), NULL, 0);
	message = v ? yajl_tree_get(v, path, yajl_t_string) : NULL;
	if (message)
		id = strtab_adds(r->s->strings, YAJL_GET_STRING(message));
	yajl_tree_free(v);
	return id == STRTAB_NONE ? 0 : id;
}

static int add_event(void *ctx)
{
	struct rocpd *r = ctx;

	if (ARRAY_ROOM(r->event, r->cap_events, r->n_events + 1) < 0)
		return -ENOMEM;
	r->event[r->n_events] = (struct event){db_int(r->db, 1), message_of(r, 2)};
	return db_ids_add(&r->events, db_int(r->db, 0), (uint32_t)r->n_events++);
}

static int add_track(void *ctx)
{
	struct rocpd *r = ctx;

	if (ARRAY_ROOM(r->place, r->cap_places, r->n_places + 1) < 0)
		return -ENOMEM;
	r->place[r->n_places] = (struct place){db_int(r->db, 1), db_int(r->db, 2),
					       db_null(r->db, 3) ? -1 : db_int(r->db, 3),
					       db_int(r->db, 4), db_null(r->db, 4)};
	return db_ids_add(&r->tracks, db_int(r->db, 0), (uint32_t)r->n_places++);
}

static int add_time(void *ctx)
{
	struct rocpd *r = ctx;

	if (ARRAY_ROOM(r->time, r->cap_times, r->n_times + 1) < 0)
		return -ENOMEM;
	r->time[r->n_times] = db_time(r->db, 1);
	return db_ids_add(&r->times, db_int(r->db, 0), (uint32_t)r->n_times++);
}

/* ---- events ---- */

/* Columns of both schemas, in this order. */
enum { START, END, START_ID, END_ID, PID, TID, AGENT, STREAM, TRACK, EVENT, NAME, FIRST_OWN };
#define COLUMNS                                                                                    \
	"start", "end", "start_id", "end_id", "pid", "tid", "agent_id", "stream_id", "track_id",   \
		"event_id"

static int64_t time_of(struct rocpd *r, int column, int id_column)
{
	uint32_t i;

	if (!db_null(r->db, column))
		return db_int(r->db, column);
	i = db_ids_at(&r->times, r->db, id_column);
	return i == IDINDEX_NONE ? TRACE_NO_TIME : r->time[i];
}

static struct place place_of(struct rocpd *r)
{
	struct place p = {db_int(r->db, PID), db_int(r->db, TID),
			  db_null(r->db, AGENT) ? -1 : db_int(r->db, AGENT), db_int(r->db, STREAM),
			  db_null(r->db, STREAM)};
	uint32_t i = db_ids_at(&r->tracks, r->db, TRACK);

	return db_null(r->db, PID) && i != IDINDEX_NONE ? r->place[i] : p;
}

static struct event event_of(struct rocpd *r)
{
	uint32_t i = db_ids_at(&r->events, r->db, EVENT);

	return i == IDINDEX_NONE ? (struct event){0} : r->event[i];
}

static uint32_t thread_of(const struct rocpd *r, int64_t id)
{
	uint32_t tid = db_ids_get(&r->threads, id);

	return tid == IDINDEX_NONE ? (uint32_t)id : tid;
}

static int add_region(void *ctx)
{
	struct rocpd *r = ctx;
	struct place place = place_of(r);
	struct event event = event_of(r);
	uint32_t name = event.message ? event.message : db_ids_string(&r->strings, r->db, NAME);
	uint32_t lane =
		trace_host_lane(r->trace, process_of(r, place.pid), thread_of(r, place.tid));
	struct trace_range range = {.start_ns = time_of(r, START, START_ID),
				    .end_ns = time_of(r, END, END_ID),
				    .id = (uint64_t)event.stack,
				    .lane = lane,
				    .track = lane,
				    .base = SESSION_ROOT};
	enum frame_kind kind = trace_call_kind(strtab_str(r->s->strings, name));

	if (kind == FRAME_FUNCTION && event.message)
		kind = FRAME_NVTX;
	range.id_is = range.id && !event.message ? TRACE_ID_LAUNCH : TRACE_ID_NONE;
	return trace_add_named_range(r->trace, &range, kind, name);
}

static int32_t device_of(const struct rocpd *r, int64_t agent)
{
	uint32_t index = db_ids_get(&r->agents, agent);

	return index == IDINDEX_NONE ? -1 : (int32_t)index;
}

static int begin_work(struct rocpd *r, enum activity_kind kind, struct trace_work *w)
{
	struct place place = place_of(r);

	*w = (struct trace_work){
		.start_ns = time_of(r, START, START_ID),
		.end_ns = time_of(r, END, END_ID),
		.launch = (uint64_t)event_of(r).stack,
		.parent = SESSION_NONE,
		.process = process_of(r, place.pid),
		.stream = (uint64_t)place.stream,
		.no_stream = place.no_stream,
		.device = device_of(r, place.agent),
		.kind = (uint8_t)kind,
	};
	return w->process == SESSION_NONE ? -ENOMEM : 0;
}

static int add_kernel(void *ctx)
{
	struct rocpd *r = ctx;
	struct trace_work w;

	if (begin_work(r, ACTIVITY_KERNEL, &w) < 0)
		return -ENOMEM;
	w.name = db_ids_string(&r->kernels, r->db, NAME);
	return trace_add_work(r->trace, &w);
}

/* A copy belongs to the GPU at its end, else to the one at its start. */
static int add_copy(void *ctx)
{
	struct rocpd *r = ctx;
	struct trace_work w;

	if (begin_work(r, ACTIVITY_COPY, &w) < 0)
		return -ENOMEM;
	w.name = db_ids_string(&r->strings, r->db, NAME);
	trace_parse_transfer(strtab_str(r->s->strings, w.name), &w);
	w.bytes = (uint64_t)MAX(db_int(r->db, FIRST_OWN), 0);
	w.device = device_of(r, db_int(r->db, FIRST_OWN + 1));
	if (w.device < 0)
		w.device = device_of(r, db_int(r->db, FIRST_OWN + 2));
	return trace_add_work(r->trace, &w);
}

/* ---- the whole ---- */

static const struct db_table basics[] = {
	{"rocpd_string", {"!id", "!string"}, add_string},
	{"rocpd_info_agent",
	 {"!id", "!type", "type_index", "absolute_index", "name", "product_name", "model_name",
	  "generic_name", "extdata"},
	 add_agent},
	{"rocpd_info_process", {"!id", "!pid", "ppid", "command"}, add_process},
	{"rocpd_info_thread", {"!id", "!tid"}, add_thread},
	{"rocpd_info_kernel_symbol", {"!id", "kernel_name", "display_name"}, add_symbol},
	{"rocpd_event", {"!id", "stack_id", "extdata"}, add_event},
	{"rocpd_track", {"!id", "pid", "tid", "agent_id", "stream_id"}, add_track},
	{"rocpd_timestamp", {"!id", "!value"}, add_time},
};
static const struct db_table executions[] = {
	{"rocpd_region", {COLUMNS, "!name_id"}, add_region},
	{"rocpd_kernel_dispatch", {COLUMNS, "!kernel_id"}, add_kernel},
	{"rocpd_memory_copy",
	 {COLUMNS, "!name_id", "size", "dst_agent_id", "src_agent_id"},
	 add_copy},
};

static int read_run(struct rocpd *r)
{
	int ret = db_read(r->db, basics, ARRAY_SIZE(basics), r->run, r);

	return ret < 0 ? ret : db_read(r->db, executions, ARRAY_SIZE(executions), r->run, r);
}

static bool has_executions(const struct rocpd *r)
{
	char name[256];

	for (size_t i = 0; i < ARRAY_SIZE(executions); i++) {
		snprintf(name, sizeof(name), "%s%s", executions[i].name, r->run);
		if (db_has(r->db, name))
			return true;
	}
	return false;
}

static void run_done(struct rocpd *r)
{
	struct db_ids *ids[] = {&r->strings, &r->kernels, &r->agents, &r->threads,
				&r->events,  &r->tracks,  &r->times};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		db_ids_done(ids[i]);
	free(r->event);
	free(r->place);
	free(r->time);
}

static int read_runs(struct db *db, struct session *s, struct trace *trace)
{
	static const char prefix[] = "rocpd_string";
	const char *name;
	int ret = 0, n = 0, n_strings = 0;

	for (size_t i = 0; ret >= 0 && (name = db_table(db, i)) != NULL; i++) {
		struct rocpd r = {.db = db, .s = s, .trace = trace, .run = name + strlen(prefix)};

		if (strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		n_strings++;
		if (!has_executions(&r))
			continue;
		n++;
		ret = read_run(&r);
		run_done(&r);
	}
	if (n_strings && !n)
		return db_fail(db, -EINVAL, "a rocpd database without regions, kernels and copies");
	return ret < 0 ? ret : n;
}

int rocpd_read(struct db *db, struct session *s)
{
	struct trace *trace = trace_new(s);
	int r;

	if (!trace)
		return db_fail(db, -ENOMEM, "out of memory");
	trace_set_device_type(trace, "HIP");
	r = read_runs(db, s, trace);
	if (r > 0 && trace_finish(trace, 0) < 0)
		r = db_fail(db, -ENOMEM, "out of memory");
	trace_free(trace);
	return r;
}
