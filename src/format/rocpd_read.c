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
};

struct rocpd {
	struct db *db;
	struct session *s;
	struct trace *trace;
	const char *run; /* what follows the names of its tables */
	struct db_ids strings, kernels, agents, processes, threads, events, tracks, times;
	struct event *event; /* by the value in events */
	size_t n_events, cap_events;
	struct place *place; /* by the value in tracks */
	size_t n_places, cap_places;
	int64_t *time; /* by the value in times */
	size_t n_times, cap_times;
	char table[256];
};

static int out_of_memory(struct rocpd *r)
{
	return db_fail(r->db, -ENOMEM, "out of memory");
}

static const char *table(struct rocpd *r, const char *name)
{
	snprintf(r->table, sizeof(r->table), "%s%s", name, r->run);
	return r->table;
}

/* ---- what events refer to ---- */

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
static int read_agents(struct rocpd *r)
{
	static const char *const columns[] = {
		"!id",          "!type",      "type_index",   "absolute_index", "name",
		"product_name", "model_name", "generic_name", "extdata",        NULL};
	int ret = db_select(r->db, table(r, "rocpd_info_agent"), columns);
	struct session_device d;
	uint32_t type;

	while (ret > 0 && (ret = db_next(r->db)) > 0) {
		type = db_text(r->db, 1, r->s->strings);
		if (strcmp(strtab_str(r->s->strings, type), "GPU") != 0)
			continue;
		d = (struct session_device){
			.index = (int32_t)(db_int(r->db, db_null(r->db, 2) ? 3 : 2) & INT32_MAX),
			.arch = db_text(r->db, db_null(r->db, 7) ? 4 : 7, r->s->strings),
			.name = db_text(r->db, db_null(r->db, 5) ? 6 : 5, r->s->strings),
		};
		read_size(r, 8, &d);
		if (d.arch == STRTAB_NONE || d.name == STRTAB_NONE ||
		    trace_add_device(r->trace, &d) == -ENOMEM ||
		    db_ids_add(&r->agents, db_int(r->db, 0), (uint32_t)d.index) < 0)
			return out_of_memory(r);
	}
	return ret;
}

static int read_processes(struct rocpd *r)
{
	static const char *const columns[] = {"!id", "!pid", "ppid", "command", "start", NULL};
	int ret = db_select(r->db, table(r, "rocpd_info_process"), columns);
	struct session_process *p;
	uint32_t id, command;

	while (ret > 0 && (ret = db_next(r->db)) > 0) {
		id = session_process_add(r->s, hash_u64(hash_bytes(r->run, strlen(r->run)) ^
							(uint64_t)db_int(r->db, 0)) |
						       1);
		command = db_text(r->db, 3, r->s->strings);
		if (id == SESSION_NONE || command == STRTAB_NONE ||
		    db_ids_add(&r->processes, db_int(r->db, 0), id) < 0)
			return out_of_memory(r);
		p = &r->s->processes[id];
		p->pid = (uint32_t)db_int(r->db, 1);
		p->ppid = (uint32_t)db_int(r->db, 2);
		p->cmdline = p->exe = command;
		p->end = PROCESS_ENDED;
	}
	return ret;
}

static int read_threads(struct rocpd *r)
{
	static const char *const columns[] = {"!id", "!tid", NULL};
	int ret = db_select(r->db, table(r, "rocpd_info_thread"), columns);

	while (ret > 0 && (ret = db_next(r->db)) > 0)
		if (db_ids_add(&r->threads, db_int(r->db, 0), (uint32_t)db_int(r->db, 1)) < 0)
			return out_of_memory(r);
	return ret;
}

/* The mangled name, without what marks its descriptor, else the one that was made for people. */
static int read_kernels(struct rocpd *r)
{
	static const char *const columns[] = {"!id", "kernel_name", "display_name", NULL};
	int ret = db_select(r->db, table(r, "rocpd_info_kernel_symbol"), columns);
	uint32_t name;
	size_t len;

	while (ret > 0 && (ret = db_next(r->db)) > 0) {
		name = db_text(r->db, 1, r->s->strings);
		name = name ? name : db_text(r->db, 2, r->s->strings);
		len = strtab_len(r->s->strings, name);
		if (len > 3 && !strcmp(strtab_str(r->s->strings, name) + len - 3, ".kd"))
			name = strtab_add(r->s->strings, strtab_str(r->s->strings, name), len - 3);
		if (name == STRTAB_NONE || db_ids_add(&r->kernels, db_int(r->db, 0), name) < 0)
			return out_of_memory(r);
	}
	return ret;
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

static int read_events(struct rocpd *r)
{
	static const char *const columns[] = {"!id", "stack_id", "extdata", NULL};
	int ret = db_select(r->db, table(r, "rocpd_event"), columns);

	while (ret > 0 && (ret = db_next(r->db)) > 0) {
		if (ARRAY_ROOM(r->event, r->cap_events, r->n_events + 1) < 0 ||
		    db_ids_add(&r->events, db_int(r->db, 0), (uint32_t)r->n_events) < 0)
			return out_of_memory(r);
		r->event[r->n_events++] = (struct event){db_int(r->db, 1), message_of(r, 2)};
	}
	return ret;
}

static int read_tracks(struct rocpd *r)
{
	static const char *const columns[] = {"!id", "pid", "tid", "agent_id", "stream_id", NULL};
	int ret = db_select(r->db, table(r, "rocpd_track"), columns);

	while (ret > 0 && (ret = db_next(r->db)) > 0) {
		if (ARRAY_ROOM(r->place, r->cap_places, r->n_places + 1) < 0 ||
		    db_ids_add(&r->tracks, db_int(r->db, 0), (uint32_t)r->n_places) < 0)
			return out_of_memory(r);
		r->place[r->n_places++] =
			(struct place){db_int(r->db, 1), db_int(r->db, 2),
				       db_null(r->db, 3) ? -1 : db_int(r->db, 3), db_int(r->db, 4)};
	}
	return ret;
}

static int read_times(struct rocpd *r)
{
	static const char *const columns[] = {"!id", "!value", NULL};
	int ret = db_select(r->db, table(r, "rocpd_timestamp"), columns);

	while (ret > 0 && (ret = db_next(r->db)) > 0) {
		if (ARRAY_ROOM(r->time, r->cap_times, r->n_times + 1) < 0 ||
		    db_ids_add(&r->times, db_int(r->db, 0), (uint32_t)r->n_times) < 0)
			return out_of_memory(r);
		r->time[r->n_times++] = db_time(r->db, 1);
	}
	return ret;
}

static int read_strings(struct rocpd *r)
{
	return db_ids_strings(&r->strings, r->db, table(r, "rocpd_string"), "!id", "!string",
			      r->s->strings);
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
	i = db_null(r->db, id_column) ? IDINDEX_NONE
				      : db_ids_get(&r->times, db_int(r->db, id_column));
	return i == IDINDEX_NONE ? TRACE_NO_TIME : r->time[i];
}

static struct place place_of(struct rocpd *r)
{
	struct place p = {db_int(r->db, PID), db_int(r->db, TID),
			  db_null(r->db, AGENT) ? -1 : db_int(r->db, AGENT), db_int(r->db, STREAM)};
	uint32_t i =
		db_null(r->db, TRACK) ? IDINDEX_NONE : db_ids_get(&r->tracks, db_int(r->db, TRACK));

	return db_null(r->db, PID) && i != IDINDEX_NONE ? r->place[i] : p;
}

static struct event event_of(struct rocpd *r)
{
	uint32_t i = db_ids_get(&r->events, db_int(r->db, EVENT));

	return i == IDINDEX_NONE || db_null(r->db, EVENT) ? (struct event){0} : r->event[i];
}

static uint32_t thread_of(const struct rocpd *r, int64_t id)
{
	uint32_t tid = db_ids_get(&r->threads, id);

	return tid == IDINDEX_NONE ? (uint32_t)id : tid;
}

/* The process of an id, which need not be listed. */
static uint32_t process_of(struct rocpd *r, int64_t id)
{
	uint32_t process = db_ids_get(&r->processes, id);

	if (process != IDINDEX_NONE)
		return process;
	process = session_process_add(
		r->s, hash_u64(hash_bytes(r->run, strlen(r->run)) ^ (uint64_t)id) | 1);
	if (process == SESSION_NONE || db_ids_add(&r->processes, id, process) < 0)
		return SESSION_NONE;
	r->s->processes[process].pid = (uint32_t)id;
	r->s->processes[process].end = PROCESS_ENDED;
	return process;
}

static uint32_t name_of(struct rocpd *r, const struct db_ids *ids)
{
	uint32_t id = db_ids_get(ids, db_int(r->db, NAME));

	return db_null(r->db, NAME) || id == IDINDEX_NONE ? 0 : id;
}

static int add_region(struct rocpd *r)
{
	struct place place = place_of(r);
	struct event event = event_of(r);
	uint32_t name = event.message ? event.message : name_of(r, &r->strings);
	struct session_lane lane = {.process = process_of(r, place.pid),
				    .device = SESSION_NONE,
				    .thread = thread_of(r, place.tid)};
	enum frame_kind kind = event.message ? FRAME_NVTX : FRAME_FUNCTION;
	struct trace_range range = {.start_ns = time_of(r, START, START_ID),
				    .end_ns = time_of(r, END, END_ID),
				    .id = (uint64_t)event.stack,
				    .base = SESSION_ROOT};

	if (lane.process == SESSION_NONE)
		return -ENOMEM;
	if (strstr(strtab_str(r->s->strings, name), "Synchronize"))
		kind = FRAME_SYNC;
	range.lane = range.track = session_lane_intern(r->s, &lane);
	range.id_is = range.id && !event.message ? TRACE_ID_LAUNCH : TRACE_ID_NONE;
	range.frame = session_frame_intern(r->s, kind, name, SESSION_NONE, 0);
	if (range.lane == SESSION_NONE || range.frame == SESSION_NONE)
		return -ENOMEM;
	return trace_add_range(r->trace, &range);
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
		.device = device_of(r, place.agent),
		.kind = (uint8_t)kind,
	};
	return w->process == SESSION_NONE ? -ENOMEM : 0;
}

static int add_kernel(struct rocpd *r)
{
	struct trace_work w;

	if (begin_work(r, ACTIVITY_KERNEL, &w) < 0)
		return -ENOMEM;
	w.name = name_of(r, &r->kernels);
	return trace_add_work(r->trace, &w);
}

/* A copy belongs to the GPU at its end, else to the one at its start. */
static int add_copy(struct rocpd *r)
{
	struct trace_work w;

	if (begin_work(r, ACTIVITY_COPY, &w) < 0)
		return -ENOMEM;
	w.name = name_of(r, &r->strings);
	trace_parse_transfer(strtab_str(r->s->strings, w.name), &w);
	w.bytes = (uint64_t)MAX(db_int(r->db, FIRST_OWN), 0);
	w.device = device_of(r, db_int(r->db, FIRST_OWN + 1));
	if (w.device < 0)
		w.device = device_of(r, db_int(r->db, FIRST_OWN + 2));
	return trace_add_work(r->trace, &w);
}

/* ---- the whole ---- */

static const struct events {
	const char *name;
	const char *columns[DB_COLUMNS_MAX];
	int (*add)(struct rocpd *r); /* one row; 0 or -ENOMEM */
} event_tables[] = {
	{"rocpd_region", {COLUMNS, "!name_id"}, add_region},
	{"rocpd_kernel_dispatch", {COLUMNS, "!kernel_id"}, add_kernel},
	{"rocpd_memory_copy",
	 {COLUMNS, "!name_id", "size", "dst_agent_id", "src_agent_id"},
	 add_copy},
};

static int read_event_table(struct rocpd *r, const struct events *t)
{
	int ret = db_select(r->db, table(r, t->name), t->columns);

	while (ret > 0 && (ret = db_next(r->db)) > 0)
		if (t->add(r) < 0)
			return out_of_memory(r);
	return ret;
}

static int read_run(struct rocpd *r)
{
	static int (*const steps[])(struct rocpd * r) = {read_strings, read_agents,  read_processes,
							 read_threads, read_kernels, read_events,
							 read_tracks,  read_times};
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(steps); i++)
		ret = steps[i](r);
	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(event_tables); i++)
		ret = read_event_table(r, &event_tables[i]);
	return ret;
}

static bool has_events(struct rocpd *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(event_tables); i++)
		if (db_has(r->db, table(r, event_tables[i].name)))
			return true;
	return false;
}

static void run_done(struct rocpd *r)
{
	struct db_ids *ids[] = {&r->strings, &r->kernels, &r->agents, &r->processes,
				&r->threads, &r->events,  &r->tracks, &r->times};

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
		if (!has_events(&r))
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
