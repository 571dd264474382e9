/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* What `nsys export --type sqlite` writes. Tables are there only where they have rows, and columns
 * come and go with versions, so that all but the times are optional.
 *
 *   StringIds ─> names    CUPTI_ACTIVITY_KIND_RUNTIME, NVTX_EVENTS ─> ranges
 *                         CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET, _GRAPH_TRACE ─> work */
#include <errno.h>
#include <string.h>

#include "format/db.h"
#include "format/trace.h"

struct nsys {
	struct db *db;
	struct session *s;
	struct trace *trace;
	struct db_ids strings;
	struct db_ids memory_kinds; /* enum value: enum memory_kind */
	int64_t base_ns; /* CLOCK_REALTIME of time 0; tells processes of different reports apart */
};

/* A global thread id holds the pid and the thread id in its lower half: 24 bits each. */
static uint32_t pid_of(int64_t global)
{
	return (uint32_t)((uint64_t)global >> 24 & 0xffffff);
}

static uint64_t process_key(const struct nsys *n, int64_t global)
{
	return ((uint64_t)global & ~UINT64_C(0xffffff)) ^ (uint64_t)n->base_ns;
}

static uint32_t process_of(struct nsys *n, int64_t global)
{
	return trace_process(n->trace, process_key(n, global), pid_of(global));
}

static uint32_t lane_of(struct nsys *n, int64_t global)
{
	return trace_host_lane(n->trace, process_of(n, global), (uint64_t)global & 0xffffff);
}

/* "cudaLaunchKernel_v7000" is cudaLaunchKernel of version 7.0; a name may have a "_v2" of its own.
 */
static uint32_t without_version(struct nsys *n, uint32_t name)
{
	const char *text = strtab_str(n->s->strings, name);
	size_t all = strlen(text), len = all;

	while (len && text[len - 1] >= '0' && text[len - 1] <= '9')
		len--;
	if (len == all || len < 2 || memcmp(text + len - 2, "_v", 2) != 0)
		return name;
	return strtab_add(n->s->strings, text, len - 2);
}

/* ---- what stands for itself ---- */

static int add_start(void *ctx)
{
	struct nsys *n = ctx;

	if (!n->base_ns)
		n->base_ns = MAX(db_int(n->db, 0), 0);
	return 0;
}

static int add_string(void *ctx)
{
	struct nsys *n = ctx;

	return db_ids_add_string(&n->strings, n->db, n->s->strings);
}

/* Labels, because their numbers are nsys' own: "Pageable", "Pinned" … */
static int add_memory_kind(void *ctx)
{
	struct nsys *n = ctx;
	uint32_t label = db_text(n->db, 1, n->s->strings);
	struct trace_work words = {.kind = ACTIVITY_SET};
	char text[64];

	snprintf(text, sizeof(text), "(%s", strtab_str(n->s->strings, label));
	trace_parse_transfer(text, &words);
	return db_ids_add(&n->memory_kinds, db_int(n->db, 0), words.src_kind);
}

static uint32_t arch_of(struct nsys *n, int column)
{
	char arch[48];

	if (db_null(n->db, column))
		return 0;
	snprintf(arch, sizeof(arch), "%lld%lld", (long long)db_int(n->db, column),
		 (long long)db_int(n->db, column + 1));
	return strtab_adds(n->s->strings, arch);
}

static int add_device(void *ctx)
{
	struct nsys *n = ctx;
	int64_t index = db_int(n->db, db_null(n->db, 0) ? 1 : 0);
	const struct session_device d = {
		.index = (int32_t)index,
		.name = db_text(n->db, 2, n->s->strings),
		.uuid = db_text(n->db, 3, n->s->strings),
		.arch = arch_of(n, 6),
		.memory_bytes = (uint64_t)MAX(db_int(n->db, 4), 0),
		.num_sms = (uint32_t)db_int(n->db, 5),
		.clock_khz = (uint32_t)(db_int(n->db, 8) / 1000),
	};

	if (index < 0 || index > INT32_MAX)
		return 0;
	if (d.name == STRTAB_NONE || d.uuid == STRTAB_NONE || d.arch == STRTAB_NONE)
		return -ENOMEM;
	return trace_add_device(n->trace, &d) == -ENOMEM ? -ENOMEM : 0;
}

/* ---- host ---- */

static int add_call(void *ctx)
{
	struct nsys *n = ctx;
	uint32_t name = without_version(n, db_ids_string(&n->strings, n->db, 4));
	uint32_t lane = lane_of(n, db_int(n->db, 2));
	struct trace_range range = {.start_ns = db_time(n->db, 0),
				    .end_ns = db_time(n->db, 1),
				    .id = (uint64_t)db_int(n->db, 3),
				    .lane = lane,
				    .track = lane,
				    .base = SESSION_ROOT};

	range.id_is = range.id ? TRACE_ID_LAUNCH : TRACE_ID_NONE;
	return trace_add_named_range(n->trace, &range,
				     trace_call_kind(strtab_str(n->s->strings, name)), name);
}

enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60 };

/* Push and pop nest; a start and its end may be anywhere. */
static int add_nvtx(void *ctx)
{
	struct nsys *n = ctx;
	int64_t type = db_null(n->db, 3) ? NVTX_PUSH_POP : db_int(n->db, 3);
	uint32_t lane = lane_of(n, db_int(n->db, 2)), name = db_ids_string(&n->strings, n->db, 5);
	struct trace_range range = {.start_ns = db_time(n->db, 0),
				    .end_ns = db_time(n->db, 1),
				    .lane = lane,
				    .track = lane,
				    .base = SESSION_ROOT};
	enum frame_kind kind = FRAME_NVTX;

	if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END)
		return 0;
	if (!name)
		name = db_text(n->db, 4, n->s->strings);
	if (type != NVTX_PUSH_POP) {
		kind = type == NVTX_MARK ? FRAME_MARK : FRAME_RANGE;
		range.placed = true;
		range.track = UINT32_MAX;
	}
	if (type == NVTX_MARK)
		range.end_ns = range.start_ns;
	else if (db_null(n->db, 1))
		range.end_ns = TRACE_NO_END;
	return trace_add_named_range(n->trace, &range, kind, name);
}

/* ---- devices ---- */

enum { START, END, DEVICE, CONTEXT, STREAM, CORRELATION, PID, FIRST_OWN };
#define WORK_COLUMNS                                                                               \
	"!start", "!end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"

static int begin_work(struct nsys *n, enum activity_kind kind, struct trace_work *w)
{
	int64_t device = db_int(n->db, DEVICE);

	*w = (struct trace_work){
		.start_ns = db_time(n->db, START),
		.end_ns = db_time(n->db, END),
		.device = db_null(n->db, DEVICE) || device < 0 || device > INT32_MAX
				  ? -1
				  : (int32_t)device,
		.context = (uint64_t)db_int(n->db, CONTEXT),
		.stream = (uint64_t)db_int(n->db, STREAM),
		.launch = (uint64_t)db_int(n->db, CORRELATION),
		.parent = SESSION_NONE,
		.process = SESSION_NONE,
		.kind = (uint8_t)kind,
		.no_stream = db_null(n->db, STREAM),
	};
	if (db_null(n->db, PID))
		return 0;
	w->process = process_of(n, db_int(n->db, PID));
	return w->process == SESSION_NONE ? -ENOMEM : 0;
}

/* Mangled, as all names are kept, where the report has it. */
static int add_kernel(void *ctx)
{
	struct nsys *n = ctx;
	struct trace_work w;

	if (begin_work(n, ACTIVITY_KERNEL, &w) < 0)
		return -ENOMEM;
	for (int i = FIRST_OWN; i < FIRST_OWN + 3 && !w.name; i++)
		w.name = db_ids_string(&n->strings, n->db, i);
	return trace_add_work(n->trace, &w);
}

static uint8_t memory_kind(struct nsys *n, int column)
{
	uint32_t kind = db_ids_at(&n->memory_kinds, n->db, column);

	return kind == IDINDEX_NONE ? MEMORY_UNKNOWN : (uint8_t)kind;
}

enum { MIGRATION_FIRST = 11, MIGRATION_LAST = 13 };

static int add_copy(void *ctx)
{
	/* CUPTI's numbers; beyond them nsys' own for migrations of managed memory. */
	static const uint8_t directions[] = {
		[1] = COPY_HOST_TO_DEVICE,
		[2] = COPY_DEVICE_TO_HOST,
		[3] = COPY_HOST_TO_DEVICE,
		[4] = COPY_DEVICE_TO_HOST,
		[5] = COPY_DEVICE_TO_DEVICE,
		[6] = COPY_DEVICE_TO_DEVICE,
		[7] = COPY_DEVICE_TO_DEVICE,
		[8] = COPY_DEVICE_TO_DEVICE,
		[9] = COPY_HOST_TO_HOST,
		[10] = COPY_PEER_TO_PEER,
		[MIGRATION_FIRST] = COPY_HOST_TO_DEVICE,
		[12] = COPY_DEVICE_TO_HOST,
		[MIGRATION_LAST] = COPY_DEVICE_TO_DEVICE,
	};
	struct nsys *n = ctx;
	int64_t kind = db_int(n->db, FIRST_OWN + 1);
	struct trace_work w;

	if (begin_work(n, ACTIVITY_COPY, &w) < 0)
		return -ENOMEM;
	w.name = strtab_adds(n->s->strings, "memcpy");
	if (w.name == STRTAB_NONE)
		return -ENOMEM;
	w.bytes = (uint64_t)MAX(db_int(n->db, FIRST_OWN), 0);
	w.direction = kind > 0 && kind < (int64_t)ARRAY_SIZE(directions) ? directions[kind] : 0;
	w.src_kind = memory_kind(n, FIRST_OWN + 2);
	w.dst_kind = memory_kind(n, FIRST_OWN + 3);
	if (kind >= MIGRATION_FIRST && kind <= MIGRATION_LAST) {
		w.src_kind = w.dst_kind = MEMORY_MANAGED; /* pages, which nobody copied */
		w.no_stream = true;                       /* whatever number stands there */
	}
	return trace_add_work(n->trace, &w);
}

static int add_set(void *ctx)
{
	struct nsys *n = ctx;
	struct trace_work w;

	if (begin_work(n, ACTIVITY_SET, &w) < 0)
		return -ENOMEM;
	w.bytes = (uint64_t)MAX(db_int(n->db, FIRST_OWN), 0);
	w.src_kind = memory_kind(n, FIRST_OWN + 1);
	return trace_add_work(n->trace, &w);
}

/* A graph that was traced as a whole (--cuda-graph-trace=graph). */
static int add_graph(void *ctx)
{
	struct nsys *n = ctx;
	struct trace_work w;
	char name[48];

	if (begin_work(n, ACTIVITY_KERNEL, &w) < 0)
		return -ENOMEM;
	snprintf(name, sizeof(name), "<graph %lld>", (long long)db_int(n->db, FIRST_OWN));
	w.name = strtab_adds(n->s->strings, name);
	return w.name == STRTAB_NONE ? -ENOMEM : trace_add_work(n->trace, &w);
}

/* ---- what is said of processes ---- */

/* All of the machine's may be listed: those count that did something. */
static int add_process(void *ctx)
{
	struct nsys *n = ctx;
	uint32_t id = trace_process_find(n->trace, process_key(n, db_int(n->db, 0))), name;

	if (id == SESSION_NONE)
		return 0;
	name = db_text(n->db, 2, n->s->strings);
	if (name == STRTAB_NONE)
		return -ENOMEM;
	n->s->processes[id].exe = name;
	if (!db_null(n->db, 1))
		n->s->processes[id].pid = (uint32_t)db_int(n->db, 1);
	return 0;
}

/* What nsys warns of itself: records that were dropped, a library that it could not load … */
static int add_diagnostic(void *ctx)
{
	enum { WARNING = 2, ERROR = 3 }; /* ENUM_DIAGNOSTIC_SEVERITY_LEVEL */
	struct nsys *n = ctx;
	int64_t severity = db_int(n->db, 0);
	uint32_t process = trace_process_find(n->trace, process_key(n, db_int(n->db, 2))), text;

	if (severity != WARNING && severity != ERROR)
		return 0;
	text = db_text(n->db, 1, n->s->strings);
	if (text == STRTAB_NONE)
		return -ENOMEM;
	return session_note(n->s, process, severity == ERROR ? NOTE_ERROR : NOTE_WARNING,
			    strtab_str(n->s->strings, text));
}

/* ---- the whole ---- */

/* What events refer to; events; what refers to the processes of these. */
static const struct db_table basics[] = {
	{"TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, add_start},
	{"StringIds", {"!id", "!value"}, add_string},
	{"ENUM_CUDA_MEM_KIND", {"!id", "!label"}, add_memory_kind},
	{"TARGET_INFO_GPU",
	 {"cuDevice", "id", "name", "uuid", "totalMemory", "smCount", "computeMajor",
	  "computeMinor", "clockRate"},
	 add_device},
};
static const struct db_table events[] = {
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
	 {"!start", "!end", "globalTid", "correlationId", "nameId"},
	 add_call},
	{"NVTX_EVENTS", {"!start", "!end", "globalTid", "eventType", "text", "textId"}, add_nvtx},
	{"CUPTI_ACTIVITY_KIND_KERNEL",
	 {WORK_COLUMNS, "mangledName", "demangledName", "shortName"},
	 add_kernel},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
	 {WORK_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind"},
	 add_copy},
	{"CUPTI_ACTIVITY_KIND_MEMSET", {WORK_COLUMNS, "bytes", "memKind"}, add_set},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {WORK_COLUMNS, "graphId"}, add_graph},
};
static const struct db_table remarks[] = {
	{"PROCESSES", {"!globalPid", "pid", "name"}, add_process},
	{"DIAGNOSTIC_EVENT", {"severity", "text", "globalPid"}, add_diagnostic},
};

/* A report of something else than CUDA and NVTX: an empty screen would not say so. */
static int look_for_events(struct nsys *n)
{
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (db_has(n->db, events[i].name))
			return 0;
	return db_fail(n->db, -EINVAL,
		       "a report of nsys without CUDA activity (nsys profile --trace cuda,nvtx)");
}

static int read_all(struct nsys *n)
{
	int r = look_for_events(n);

	if (r == 0)
		r = db_read(n->db, basics, ARRAY_SIZE(basics), "", n);
	if (r == 0)
		r = db_read(n->db, events, ARRAY_SIZE(events), "", n);
	if (r == 0)
		r = db_read(n->db, remarks, ARRAY_SIZE(remarks), "", n);
	return r < 0 ? r : trace_finish(n->trace, n->base_ns);
}

int nsys_read(struct db *db, struct session *s)
{
	struct nsys n = {.db = db, .s = s};
	int r;

	if (!db_has(db, "StringIds"))
		return 0;
	n.trace = trace_new(s);
	r = n.trace ? read_all(&n) : -ENOMEM;
	trace_free(n.trace);
	db_ids_done(&n.strings);
	db_ids_done(&n.memory_kinds);
	return r < 0 ? db_fail(db, r, "out of memory") : 1;
}
