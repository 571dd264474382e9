/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* What RocmProfileData (rpd) writes: the rocpd of before rocprofiler-sdk.
 *
 *   rocpd_api ─> calls, and what roctx says ("UserMarker", its text being the arguments)
 *   rocpd_op ─> work; rocpd_api_ops: which call started it; rocpd_copyapi: how much it moves */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/db.h"
#include "format/trace.h"

struct rpd {
	struct db *db;
	struct session *s;
	struct trace *trace;
	struct db_ids strings, processes;
	struct db_ids apis; /* id of a call: its number here, from 0 */
	struct db_ids ops;  /* id of an operation: number of its call */
	uint64_t *bytes;    /* by the number of a call */
	size_t n_apis, cap_apis;
};

static int out_of_memory(struct rpd *r)
{
	return db_fail(r->db, -ENOMEM, "out of memory");
}

static uint32_t string_of(struct rpd *r, int column)
{
	uint32_t id = db_ids_get(&r->strings, db_int(r->db, column));

	return db_null(r->db, column) || id == IDINDEX_NONE ? 0 : id;
}

static uint32_t process_of(struct rpd *r, int64_t pid)
{
	uint32_t process = db_ids_get(&r->processes, pid);

	if (process != IDINDEX_NONE)
		return process;
	process = session_process_add(r->s, hash_u64((uint64_t)pid) | 1);
	if (process == SESSION_NONE || db_ids_add(&r->processes, pid, process) < 0)
		return SESSION_NONE;
	r->s->processes[process].pid = (uint32_t)pid;
	r->s->processes[process].end = PROCESS_ENDED;
	return process;
}

/* ---- host ---- */

enum { API_ID, API_PID, API_TID, API_START, API_END, API_NAME, API_ARGUMENTS };

static enum frame_kind kind_of_call(const char *name)
{
	if (!strcmp(name, "UserMarker"))
		return FRAME_NVTX;
	return strstr(name, "Synchronize") ? FRAME_SYNC : FRAME_FUNCTION;
}

static int add_call(struct rpd *r)
{
	uint32_t name = string_of(r, API_NAME);
	enum frame_kind kind = kind_of_call(strtab_str(r->s->strings, name));
	struct session_lane lane = {.process = process_of(r, db_int(r->db, API_PID)),
				    .device = SESSION_NONE,
				    .thread = (uint64_t)db_int(r->db, API_TID)};
	struct trace_range range = {.start_ns = db_time(r->db, API_START),
				    .end_ns = db_time(r->db, API_END),
				    .base = SESSION_ROOT};

	if (lane.process == SESSION_NONE || ARRAY_ROOM(r->bytes, r->cap_apis, r->n_apis + 1) < 0 ||
	    db_ids_add(&r->apis, db_int(r->db, API_ID), (uint32_t)r->n_apis) < 0)
		return -ENOMEM;
	r->bytes[r->n_apis++] = 0;
	if (kind == FRAME_NVTX) {
		name = string_of(r, API_ARGUMENTS);
	} else {
		range.id = r->n_apis;
		range.id_is = TRACE_ID_LAUNCH;
	}
	range.lane = range.track = session_lane_intern(r->s, &lane);
	range.frame = session_frame_intern(r->s, kind, name, SESSION_NONE, 0);
	if (range.lane == SESSION_NONE || range.frame == SESSION_NONE)
		return -ENOMEM;
	return trace_add_range(r->trace, &range);
}

/* ---- devices ---- */

static int add_link(struct rpd *r)
{
	uint32_t api = db_ids_get(&r->apis, db_int(r->db, 0));

	return api == IDINDEX_NONE ? 0 : db_ids_add(&r->ops, db_int(r->db, 1), api);
}

static int add_size(struct rpd *r)
{
	uint32_t api = db_ids_get(&r->apis, db_int(r->db, 0));

	if (api != IDINDEX_NONE)
		r->bytes[api] = (uint64_t)MAX(db_int(r->db, 1), 0);
	return 0;
}

enum { OP_ID, OP_DEVICE, OP_QUEUE, OP_START, OP_END, OP_NAME, OP_TYPE };

/* "KernelExecution", "CopyHostToDevice", "FillBuffer" …; a kernel's name is its description. */
static int add_work(struct rpd *r)
{
	uint32_t api = db_ids_get(&r->ops, db_int(r->db, OP_ID)), type = string_of(r, OP_TYPE);
	int64_t device = db_int(r->db, OP_DEVICE);
	struct trace_work w = {
		.start_ns = db_time(r->db, OP_START),
		.end_ns = db_time(r->db, OP_END),
		.launch = api == IDINDEX_NONE ? 0 : (uint64_t)api + 1,
		.parent = SESSION_NONE,
		.process = SESSION_NONE,
		.stream = (uint64_t)db_int(r->db, OP_QUEUE),
		.device = device < 0 || device > INT32_MAX ? -1 : (int32_t)device,
		.kind = ACTIVITY_KERNEL,
		.name = string_of(r, OP_NAME),
	};

	if (!strtab_len(r->s->strings, w.name))
		w.name = type;
	if (strcmp(strtab_str(r->s->strings, type), "KernelExecution") != 0)
		trace_parse_transfer(strtab_str(r->s->strings, type), &w);
	if (w.kind != ACTIVITY_KERNEL)
		w.bytes = api == IDINDEX_NONE ? 0 : r->bytes[api];
	return trace_add_work(r->trace, &w);
}

/* ---- the whole ---- */

static const struct table {
	const char *name;
	const char *columns[DB_COLUMNS_MAX];
	int (*add)(struct rpd *r); /* one row; 0 or -ENOMEM */
} tables[] = {
	{"rocpd_api",
	 {"!id", "!pid", "!tid", "!start", "!end", "!apiName_id", "args_id"},
	 add_call},
	{"rocpd_api_ops", {"!api_id", "!op_id"}, add_link},
	{"rocpd_copyapi", {"!api_ptr_id", "!size"}, add_size},
	{"rocpd_op",
	 {"!id", "!gpuId", "!queueId", "!start", "!end", "!description_id", "!opType_id"},
	 add_work},
};

static int read_table(struct rpd *r, const struct table *t)
{
	int ret = db_select(r->db, t->name, t->columns);

	while (ret > 0 && (ret = db_next(r->db)) > 0)
		if (t->add(r) < 0)
			return out_of_memory(r);
	return ret;
}

static int read_all(struct rpd *r)
{
	int ret =
		db_ids_strings(&r->strings, r->db, "rocpd_string", "!id", "!string", r->s->strings);

	trace_set_device_type(r->trace, "HIP");
	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(tables); i++)
		ret = read_table(r, &tables[i]);
	if (ret >= 0 && trace_finish(r->trace, 0) < 0)
		ret = out_of_memory(r);
	return ret;
}

int rpd_read(struct db *db, struct session *s)
{
	struct rpd r = {.db = db, .s = s};
	int ret;

	if (!db_has(db, "rocpd_op") || !db_has(db, "rocpd_api"))
		return 0;
	r.trace = trace_new(s);
	ret = r.trace ? read_all(&r) : out_of_memory(&r);
	trace_free(r.trace);
	db_ids_done(&r.strings);
	db_ids_done(&r.processes);
	db_ids_done(&r.apis);
	db_ids_done(&r.ops);
	free(r.bytes);
	return ret < 0 ? ret : 1;
}
