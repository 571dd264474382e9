/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* What RocmProfileData (rpd) writes: the rocpd of before rocprofiler-sdk.
 *
 *   rocpd_api ─> calls, and what roctx says ("UserMarker", its text being the arguments)
 *   rocpd_op ─> work; rocpd_api_ops: which call started it; rocpd_copyapi: how much it moves */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/db.h"
#include "format/trace.h"

struct rpd {
	struct db *db;
	struct session *s;
	struct trace *trace;
	struct db_ids strings;
	struct db_ids apis; /* id of a call: its number here, from 0 */
	struct db_ids ops;  /* id of an operation: number of its call */
	uint64_t *bytes;    /* by the number of a call */
	size_t n_apis, cap_apis;
};

static int add_string(void *ctx)
{
	struct rpd *r = ctx;

	return db_ids_add_string(&r->strings, r->db, r->s->strings);
}

/* ---- host ---- */

enum { API_ID, API_PID, API_TID, API_START, API_END, API_NAME, API_ARGUMENTS };

static int add_call(void *ctx)
{
	struct rpd *r = ctx;
	uint32_t name = db_ids_string(&r->strings, r->db, API_NAME);
	enum frame_kind kind = trace_call_kind(strtab_str(r->s->strings, name));
	uint32_t pid = (uint32_t)db_int(r->db, API_PID);
	struct trace_range range = {.start_ns = db_time(r->db, API_START),
				    .end_ns = db_time(r->db, API_END),
				    .base = SESSION_ROOT};

	if (ARRAY_ROOM(r->bytes, r->cap_apis, r->n_apis + 1) < 0 ||
	    db_ids_add(&r->apis, db_int(r->db, API_ID), (uint32_t)r->n_apis) < 0)
		return -ENOMEM;
	r->bytes[r->n_apis++] = 0;
	if (!strcmp(strtab_str(r->s->strings, name), "UserMarker")) {
		kind = FRAME_NVTX;
		name = db_ids_string(&r->strings, r->db, API_ARGUMENTS);
	} else {
		range.id = r->n_apis;
		range.id_is = TRACE_ID_LAUNCH;
	}
	range.lane = range.track = trace_host_lane(
		r->trace, trace_process(r->trace, (uint64_t)db_int(r->db, API_PID), pid),
		(uint64_t)db_int(r->db, API_TID));
	return trace_add_named_range(r->trace, &range, kind, name);
}

/* ---- devices ---- */

static int add_link(void *ctx)
{
	struct rpd *r = ctx;
	uint32_t api = db_ids_get(&r->apis, db_int(r->db, 0));

	return api == IDINDEX_NONE ? 0 : db_ids_add(&r->ops, db_int(r->db, 1), api);
}

static int add_size(void *ctx)
{
	struct rpd *r = ctx;
	uint32_t api = db_ids_get(&r->apis, db_int(r->db, 0));

	if (api != IDINDEX_NONE)
		r->bytes[api] = (uint64_t)MAX(db_int(r->db, 1), 0);
	return 0;
}

enum { OP_ID, OP_DEVICE, OP_QUEUE, OP_START, OP_END, OP_NAME, OP_TYPE };

/* "KernelExecution", "CopyHostToDevice", "FillBuffer" …; a kernel's name is its description. */
static int add_work(void *ctx)
{
	struct rpd *r = ctx;
	uint32_t api = db_ids_get(&r->ops, db_int(r->db, OP_ID));
	uint32_t type = db_ids_string(&r->strings, r->db, OP_TYPE);
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
		.name = db_ids_string(&r->strings, r->db, OP_NAME),
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

static const struct db_table tables[] = {
	{"rocpd_string", {"!id", "!string"}, add_string},
	{"rocpd_api",
	 {"!id", "!pid", "!tid", "!start", "!end", "!apiName_id", "args_id"},
	 add_call},
	{"rocpd_api_ops", {"!api_id", "!op_id"}, add_link},
	{"rocpd_copyapi", {"!api_ptr_id", "!size"}, add_size},
	{"rocpd_op",
	 {"!id", "!gpuId", "!queueId", "!start", "!end", "!description_id", "!opType_id"},
	 add_work},
};

int rpd_read(struct db *db, struct session *s)
{
	struct rpd r = {.db = db, .s = s};
	int ret = -ENOMEM;

	if (!db_has(db, "rocpd_op") || !db_has(db, "rocpd_api"))
		return 0;
	r.trace = trace_new(s);
	if (r.trace) {
		trace_set_device_type(r.trace, "HIP");
		ret = db_read(db, tables, ARRAY_SIZE(tables), "", &r);
	}
	if (ret == 0)
		ret = trace_finish(r.trace, 0);
	trace_free(r.trace);
	db_ids_done(&r.strings);
	db_ids_done(&r.apis);
	db_ids_done(&r.ops);
	free(r.bytes);
	return ret < 0 ? db_fail(db, ret, "out of memory") : 1;
}
