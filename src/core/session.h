/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SESSION_H
#define PROTON_CORE_SESSION_H
/* One profile in memory: filled by the wire decoder (live, tape) or by a file reader.
 *
 *   frames  (kind, string | module+offset) ── interned, symbolised late
 *   nodes   (parent, frame)                ── the calling context tree, merged over processes
 *   rows    (node, lane, epoch, set) ── values, cumulative; a node's rows are a chain
 *   lanes   (process, device, context, stream, thread)
 *   sets    lists of metric ids; the values of a row follow its set
 *
 * All ids are dense, start at 0 and never change or go away. The arrays are readable by all;
 * only the functions below write. Nothing here does I/O.
 *   thread  one (the proton process is single threaded)
 *   errors  functions that return an id return SESSION_NONE when out of memory */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/strtab.h"
#include "core/counted.h"
#include "core/frame.h"
#include "core/hist.h"
#include "core/launch_config.h"
#include "core/loss.h"
#include "core/metric.h"
#include "core/sensors.h"

#define SESSION_NONE UINT32_MAX
#define SESSION_ROOT 0 /* node 0 */
#define SET_KERNEL   0 /* set 0: TIME, COUNT, TIME_MIN, TIME_MAX: the fast path */

struct session_frame {
	uint32_t name;   /* raw string id; "" for a (module, offset) frame */
	uint32_t module; /* SESSION_NONE: not a (module, offset) frame */
	uint64_t offset;
	uint32_t symbol; /* string id, when symbolised, else 0 */
	uint32_t file;   /* string id, else 0 */
	uint32_t line;
	uint8_t kind; /* enum frame_kind */
};

struct session_node {
	uint32_t parent;                                /* SESSION_NONE for the root */
	uint32_t first_child, last_child, next_sibling; /* in order of arrival; SESSION_NONE ends */
	uint32_t frame;
	uint32_t last_row; /* SESSION_NONE: the node has no values of its own */
};

struct session_row {
	uint32_t node, lane, epoch, set;
	uint32_t next;   /* of the same node; behind the last one comes the first */
	uint32_t values; /* index of the first value in session->values */
};

struct session_lane {
	uint32_t process;         /* index, or SESSION_NONE (a file that does not say) */
	uint32_t device;          /* index, or SESSION_NONE (host) */
	uint32_t context, stream; /* stream: SESSION_NONE: in none */
	uint64_t thread;          /* system thread id; 0 = not told apart */
};

struct session_set {
	uint32_t n;
	uint32_t *metrics; /* ids */
};

struct session_epoch {
	uint32_t name;  /* string id: the session's name; "" for the whole run */
	uint32_t index; /* number of the profiling session within its process */
	uint32_t phase;
};

enum process_end { PROCESS_RUNS = 0, PROCESS_ENDED = 1, PROCESS_VANISHED = 2 };

struct session_process {
	uint64_t instance; /* random, drawn anew after exec and in a fork child */
	uint32_t pid, ppid;
	uint32_t exe, cmdline, host;    /* string ids */
	int32_t rank;                   /* -1: none */
	uint64_t start_ns;              /* CLOCK_REALTIME */
	uint8_t end;                    /* enum process_end */
	uint64_t losses[LOSS_N];        /* cumulative */
	uint64_t n_launches, n_records; /* counted launches; records that belong to them */
	bool launches_counted; /* false: launch callbacks are off, n_launches means nothing */
	uint64_t oldest_ns;    /* age of the oldest unfinished launch at the last tick; 0 none */
	uint64_t last_ns;      /* CLOCK_MONOTONIC of the last frame */
	uint64_t own_cpu_ns;   /* CPU time of the collector's own threads */
	uint64_t own_bytes;    /* memory of the collector, activity buffers not counted */
	uint64_t buffer_bytes; /* activity buffers */
	bool paused;
};

/* Was there a collector of ours? Not in a profile that another program made. */
static inline bool session_process_collected(const struct session_process *p)
{
	return p->own_bytes || p->own_cpu_ns || p->n_records;
}

/* What is told of a run in words. Numbers of the stream (wire/run.c), never used anew. */
enum run_string {
	RUN_COMMAND = 0,     /* words: a string in which each ends with a NUL */
	RUN_ENVIRONMENT = 1, /* words: NAME=VALUE, of variables that were asked for */
	RUN_FOLDER = 2,
	RUN_HOST = 3,
	RUN_LABEL = 4,
	RUN_VERSION = 5, /* of proton */
	RUN_STRING_N
};

/* What was started, where and how it ended: what only the one knows who started it. A profile that
 * was merged has one for each of its runs. */
struct session_run {
	uint32_t strings[RUN_STRING_N]; /* ids; "" where it is not known */
	uint64_t start_ns;              /* CLOCK_REALTIME */
	uint64_t wall_ns;               /* to its end, or so far; 0: not known */
	uint64_t paused_ns; /* of these, while what ran was not counted (a key of top) */
	/* Since its start, to the first and the last work on any device, to some tenths of a second; 0:
	 * not known. */
	uint64_t first_work_ns, last_work_ns;
	uint32_t exit_status, signal; /* of one that has ended; signal 0: by none */
	uint8_t end;                  /* enum process_end */
};

struct session_device {
	uint32_t type, name, arch, uuid, driver; /* string ids */
	uint32_t host;                           /* string id */
	int32_t index;
	uint32_t num_sms, clock_khz, memory_clock_khz, bus_width_bits;
	uint64_t memory_bytes;
};

struct session_module {
	uint32_t build_id, path; /* string ids */
	uint64_t base, size;
};

enum note_level { NOTE_INFO = 0, NOTE_WARNING = 1, NOTE_ERROR = 2 };

struct session_note {
	uint32_t process; /* or SESSION_NONE */
	uint32_t text;    /* string id */
	uint8_t level;
};

/* How long executions of a node took on a device. */
struct session_hist {
	uint32_t node, device, process; /* device and process may be SESSION_NONE */
	uint32_t part;                  /* of one that comes in parts; readers add them up */
	struct hist hist;
};

/* How kernels of a node were launched on a device: in one way each. */
struct session_config {
	uint32_t node, device, process; /* process may be SESSION_NONE */
	uint32_t part;                  /* as that of a session_hist */
	struct launch_config
		of; /* all 0: in ways that are not told apart, for there were too many */
	uint64_t count, time_ns;
};

/* A timestamped sample of a device (power, clocks, throughput …). */
struct session_sample {
	uint64_t time_ns;
	uint32_t device, metric;
	double value;
	uint32_t process; /* of whose doing it is; SESSION_NONE: of all */
};

/* One execution on the device, kept only where a trace was asked for; or, of a trace that another tool
 * recorded, a range of the host, whose lane has no device. */
struct session_interval {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC of the host */
	uint32_t node, lane;
	uint32_t epoch; /* 0 where nobody tells them apart */
	union {         /* which one it is says its node */
		uint32_t
			latency_ns; /* from the call that launched it to its start; 0: not known, or too long */
		uint32_t amount; /* of pages (core/pages.h): bytes, or how many */
	};
};

/* Of an operation that was launched so long before its start. A call that seems to come later, by clocks that differ,
 * came at once. */
static inline uint32_t interval_latency(int64_t ns)
{
	return ns <= 0 ? 1 : ns <= UINT32_MAX ? (uint32_t)ns : 0;
}

struct session_clock {
	uint32_t process;
	uint32_t name;         /* string id: "realtime", "opencl:0" … */
	uint64_t monotonic_ns; /* the pair: both at the same moment */
	uint64_t clock_ns;
};

/* What is known of how a process uses a device, each a number that may grow; 0: not known, or nothing. The stream,
 * files and merges take them from this list: the next one is one more row at its end.
 *    number     at most   meaning */
/* clang-format off */
#define USE_NUMBERS(_)                                                                             \
	_(busy_ns,   busy_ns)   /* time in which it had work there: what overlaps counts once */   \
	_(copies_ns, busy_ns)   /* … of that in which copies ran */                                \
	_(hidden_ns, copies_ns) /* … of that in which something else ran, too */                   \
	_(first_ns,  last_ns)   /* its first work began (CLOCK_REALTIME) */                        \
	_(last_ns,   last_ns)   /* its last ended */
/* clang-format on */
enum use_number {
#define _(number, most) USE_##number,
	USE_NUMBERS(_)
#undef _
		USE_N
};

struct session_use {
	uint32_t process, device;
	union {
		struct {
#define _(number, most) uint64_t number;
			USE_NUMBERS(_)
#undef _
		};
		uint64_t v[USE_N];
	};
};

/* The number that one cannot be larger than; itself: there is none. */
extern const uint8_t use_at_most[USE_N];

/* The same of copies of one direction, in a stream, through a channel of the hardware, and what else is known of them.
 *    number      meaning */
/* clang-format off */
#define COPY_LANE_NUMBERS(_)                                                                       \
	_(count)      /* how many */                                                               \
	_(time_ns)    /* time in which they ran: what overlaps counts once */                      \
	_(hidden_ns)  /* … of that in which something else than copies ran on the device, too */   \
	_(unsure_ns)  /* more of it may have, so long at the most: it was told too late */
/* clang-format on */
enum copy_lane_number {
#define _(number) COPY_LANE_##number,
	COPY_LANE_NUMBERS(_)
#undef _
		COPY_LANE_N
};

struct session_copy_lane {
	uint32_t process, device;
	uint32_t context, stream; /* SESSION_NONE: of all that had no place of their own */
	uint32_t channel;
	uint8_t direction, channel_kind; /* enums of core/activity.h */
	union {
		struct {
#define _(number) uint64_t number;
			COPY_LANE_NUMBERS(_)
#undef _
		};
		uint64_t v[COPY_LANE_N];
	};
};

/* A time in which what a process did on devices was not recorded, or not all of it. What is known of it nevertheless
 * holds: of the rest nobody knows whether anything ran (core/unrecorded.h). */
enum unrecorded_reason {
	UNRECORDED_UNKNOWN, /* one that only a newer version knows */
	UNRECORDED_PAUSED,  /* collecting was paused */
	UNRECORDED_WINDOW,  /* it was in no window of the trace */
	UNRECORDED_ASIDE,   /* another profiler had CUPTI */
	UNRECORDED_FULL,    /* the trace took no more */
	UNRECORDED_N
};

struct session_unrecorded {
	uint32_t process; /* SESSION_NONE: it is not known which, it may be any */
	uint32_t number;  /* of the process's: what is told of it again replaces it */
	uint8_t reason;   /* enum unrecorded_reason */
	/* CLOCK_MONOTONIC of its host; start 0: since the process began, end 0: until it ends */
	uint64_t start_ns, end_ns;
};

/* What a device's sensors said while the run lasted. */
struct session_sensors {
	uint32_t device;
	struct sensors of;
};

/* What its hardware counters said over a part of it (core/counted.h). */
struct session_counters {
	uint32_t device;
	struct counted of;
};

/* Rows that a session has beside its tree, table by table, in the order of their keys in files: an array and how
 * many there are, `devices` and `n_devices`. What is in a row, what makes it one and how two become one says
 * core/row_tables.h.
 *    id           array       struct */
/* clang-format off */
#define ROW_TABLES(_)                                                                              \
	_(CLOCKS,      clocks,     session_clock)                                                  \
	_(COPY_LANES,  copy_lanes, session_copy_lane)                                              \
	_(COUNTERS,    counters,   session_counters) /* of a device in the order in which they came */ \
	_(DEVICES,     devices,    session_device)                                                 \
	_(EPOCHS,      epochs,     session_epoch)                                                  \
	_(INTERVALS,   intervals,  session_interval)                                               \
	_(LANES,       lanes,      session_lane)                                                   \
	_(CONFIGS,     configs,    session_config)                                                 \
	_(MODULES,     modules,    session_module)                                                 \
	_(NOTES,       notes,      session_note)                                                   \
	_(PROCESSES,   processes,  session_process)                                                \
	_(RUNS,        runs,       session_run)                                                    \
	_(SAMPLES,     samples,    session_sample)                                                 \
	_(SENSORS,     sensors,    session_sensors)                                                \
	_(UNRECORDED,  unrecorded, session_unrecorded)                                             \
	_(USES,        uses,       session_use)
/* clang-format on */

enum table_id {
#define _(id, ...) TABLE_##id,
	ROW_TABLES(_)
#undef _
		TABLE_N
};

struct table_rows {
	void *v;
	size_t n;
};

struct session {
	struct strtab *strings;
	struct metric_table *metrics;
	struct session_frame *frames;
	struct session_node *nodes;
	struct session_row *rows;
	union metric_value *values;
	uint8_t *present; /* one a value: 0 = absent (not zero) */
	struct session_set *sets;
	struct session_hist *hists;
	size_t n_frames, n_nodes, n_rows, n_values, n_sets, n_hists;
	union {
		struct {
#define _(id, array, type)                                                                         \
	struct type *array;                                                                        \
	size_t n_##array;
			ROW_TABLES(_)
#undef _
		};
		struct table_rows tables[TABLE_N];
	};
	uint64_t losses[LOSS_N];   /* that belong to no process (torn tape, unknown frames) */
	uint64_t generation;       /* grows with every change */
	uint32_t lanes_moved;      /* grows when lanes turn out to be on another device */
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME of the run; 0 unknown */
	uint32_t source;           /* string id: what was profiled or the file's name */
	size_t join_counters_at;   /* of session_counters_add() */
	bool counters_asked;       /* this run was asked for hardware counters, */
	bool counting;             /* which are told of just now */
	bool ended;                /* all that will come has come */
	bool copy_lanes_of_all; /* the rest is a part of a session (core/reduce.h), copy_lanes of the whole */
	struct session_private *p;
};

struct session *
session_new(void); /* root node, set 0, epoch 0, built-in metrics; NULL: no memory */
struct session *session_free(struct session *s);
static inline void session_freep(struct session **s)
{
	*s = session_free(*s);
}

/* Frames and nodes. */
uint32_t session_frame_intern(struct session *s, enum frame_kind kind, uint32_t name,
			      uint32_t module, uint64_t offset);
void session_frame_symbol(struct session *s, uint32_t frame, uint32_t symbol, uint32_t file,
			  uint32_t line);
/* The child of parent with this frame, made when absent. */
uint32_t session_node_intern(struct session *s, uint32_t parent, uint32_t frame);
/* Always a new child: for file readers, which keep duplicate siblings apart. */
uint32_t session_node_append(struct session *s, uint32_t parent, uint32_t frame);
/* Shorthand: intern the frame (kind, string), then the node. */
uint32_t session_node(struct session *s, uint32_t parent, enum frame_kind kind, const char *name);
/* A string to show, to its end: a NUL byte in it reads "^@". Valid as long as the session. */
const char *session_text(const struct session *s, uint32_t string);
/* A device in a word, the same wherever people read of it: "GPU0", "OpenCL1" (which need be no GPU). */
#define DEVICE_WORD 32
/* … as its program numbers it: of two programs that see one device each, or a part of one (MIG), both may have a
 * "GPU0". */
void session_device_number(const struct session *s, uint32_t device, char out[DEVICE_WORD]);
/* … with the beginning of its uuid where another one of its host reads the same: "GPU0.3f1c". */
void session_device_word(const struct session *s, uint32_t device, char out[DEVICE_WORD]);
#define STREAM_WORD    24
#define STREAM_NO_WORD "no stream"
/* "stream 7", "no stream". Returns out. */
const char *session_stream_word(uint32_t stream, char out[STREAM_WORD]);
/* Raw name of a node's frame: symbol if symbolised, the string, or "build-id+0x1f" for an address.
 * An address is valid until the next call only; the others as long as the session. */
const char *session_node_name(const struct session *s, uint32_t node);
enum frame_kind session_node_kind(const struct session *s, uint32_t node);

/* The id of the metric of this name, added when new. A metric of whole numbers that is added again
 * with fractions becomes one of fractions, with all its values, unless it is built in. Afterwards
 * callers must convert their values (metric_convert()) to the type that the metric has now. */
uint32_t session_metric_add(struct session *s, const struct metric *m);
/* Would session_metric_add() have to convert all values of a metric? That may take long. */
bool session_metric_widens(const struct session *s, const struct metric *m);

/* Dimensions: each returns the index of an equal entry or a new one. */
uint32_t session_lane_intern(struct session *s, const struct session_lane *lane);
/* Also SESSION_NONE when a metric is in the set twice: readers decide what that means. */
uint32_t session_set_intern(struct session *s, const uint32_t *metrics, uint32_t n);
uint32_t session_epoch_intern(struct session *s, const struct session_epoch *epoch);
uint32_t session_device_intern(struct session *s, const struct session_device *device);
/* A process learned late which device it uses: its lanes on `from` are lanes on `to`. */
void session_lanes_move(struct session *s, uint32_t process, uint32_t from, uint32_t to);
uint32_t session_module_intern(struct session *s, const struct session_module *module);
uint32_t session_process_add(struct session *s, uint64_t instance);
uint32_t session_process_find(const struct session *s, uint64_t instance);

/* The lane of what has none: no process, no device. */
extern const struct session_lane session_nowhere;
/* The lane with this id, as rows have it; session_nowhere: there is no such lane. */
static inline const struct session_lane *session_lane_at(const struct session *s, uint32_t id)
{
	return id < s->n_lanes ? &s->lanes[id] : &session_nowhere;
}

/* Rows. Those of a node are a ring, in the order in which they came. */

/* SESSION_NONE: the node has none. */
static inline uint32_t session_first_row(const struct session *s, uint32_t node)
{
	uint32_t last = s->nodes[node].last_row;

	return last == SESSION_NONE ? SESSION_NONE : s->rows[last].next;
}

/* The row of the same node that came next, or SESSION_NONE. */
static inline uint32_t session_next_row(const struct session *s, uint32_t row)
{
	return s->nodes[s->rows[row].node].last_row == row ? SESSION_NONE : s->rows[row].next;
}

uint32_t session_row_intern(struct session *s, uint32_t node, uint32_t lane, uint32_t epoch,
			    uint32_t set);
/* Replace one value (values are cumulative: what arrives is the whole). i = position in the set. */
void session_row_set(struct session *s, uint32_t row, uint32_t i, union metric_value v);
/* A row comes to have another set, of which the first metrics are those that it has; the others are absent. 0, -ENOMEM, or
 * -EINVAL: it is no such set. */
int session_row_widen(struct session *s, uint32_t row, uint32_t set);
/* The same value is absent again. */
void session_row_unset(struct session *s, uint32_t row, uint32_t i);
/* Take back the rows that came last, until n_rows are left: for readers, which learn late that a file
 * says something else. */
void session_rows_cut(struct session *s, size_t n_rows);
/* Add a value under METRIC's own rule to the row of the set {metric}; for file readers and
 * tests. */
int session_add(struct session *s, uint32_t node, uint32_t lane, uint32_t epoch, uint32_t metric,
		union metric_value v);

/* Rows of tables (core/row_tables.h). */
/* The one with the key of `key`, to be changed, made with nothing but the key when absent; valid until the next one is
 * made. NULL: no memory. */
void *session_table_row(struct session *s, enum table_id id, const void *key);
/* One more, or what there is of its key becomes what its table's rule makes of both. 0, -ENOMEM, or -EINVAL: its
 * table has no such rows. */
int session_table_add(struct session *s, enum table_id id, const void *row);

/* The rest. */
/* An equal run is not added again. */
static inline int session_run_add(struct session *s, const struct session_run *run)
{
	return session_table_add(s, TABLE_RUNS, run);
}
int session_note(struct session *s, uint32_t process, enum note_level level, const char *text);
/* What is to be added to CLOCK_MONOTONIC of a process for the time of day, CLOCK_REALTIME. False: it did not tell. */
bool session_clock_offset(const struct session *s, uint32_t process, int64_t *ret_ns);
/* The first note that begins so, or NULL. Lives as long as the session. */
const char *session_note_about(const struct session *s, const char *begin);
/* The histogram of a node on a device, to be changed; made empty when absent, valid until the next call.
 * NULL: no memory. */
struct hist *session_hist_of(struct session *s, uint32_t node, uint32_t device, uint32_t process);
/* A part of it that has a number: for what is told in parts, each whole. */
struct hist *session_hist_part(struct session *s, uint32_t node, uint32_t device, uint32_t process,
			       uint32_t part);
static inline int session_sample_add(struct session *s, const struct session_sample *sample)
{
	return session_table_add(s, TABLE_SAMPLES, sample);
}
int session_interval_add(struct session *s, const struct session_interval *interval);
static inline int session_clock_add(struct session *s, const struct session_clock *clock)
{
	return session_table_add(s, TABLE_CLOCKS, clock);
}
/* Replaces what was known of this process and device. */
static inline int session_use_set(struct session *s, const struct session_use *use)
{
	return session_table_add(s, TABLE_USES, use);
}
/* The same, to be changed, as session_table_row() says. */
static inline struct session_use *session_use_of(struct session *s, uint32_t process,
						 uint32_t device)
{
	const struct session_use key = {.process = process, .device = device};

	return session_table_row(s, TABLE_USES, &key);
}
/* The one of the same place as `of`, likewise. */
static inline struct session_copy_lane *session_copy_lane_of(struct session *s,
							     const struct session_copy_lane *of)
{
	return session_table_row(s, TABLE_COPY_LANES, of);
}
/* The one of this node, device, process, part and configuration, likewise. */
static inline struct session_config *session_config_of(struct session *s,
						       const struct session_config *of)
{
	return session_table_row(s, TABLE_CONFIGS, of);
}
/* Replaces what was known of this number of the process. One that ends before it starts is refused (-EINVAL). */
static inline int session_unrecorded_set(struct session *s, const struct session_unrecorded *span)
{
	return session_table_add(s, TABLE_UNRECORDED, span);
}
/* The same as one more, under a number that the process has not. */
int session_unrecorded_add(struct session *s, const struct session_unrecorded *span);
/* What is known of a device's sensors, made empty when absent; valid until the next call. NULL: no memory. */
static inline struct sensors *session_sensors_of(struct session *s, uint32_t device)
{
	const struct session_sensors key = {.device = device};
	struct session_sensors *row = session_table_row(s, TABLE_SENSORS, &key);

	return row ? &row->of : NULL;
}
/* The same, NULL where nothing is known. */
const struct sensors *session_sensors_find(const struct session *s, uint32_t device);
/* What its counters said over the run: the means of its times, and the lowest and highest of these, which of a
 * long run are long. */
struct counters_range {
	struct counted mean;
	double min[COUNTED_N], max[COUNTED_N]; /* NaN: not counted */
};
/* False: there is none. */
bool session_counters_range(const struct session *s, uint32_t device, struct counters_range *ret);
/* One more time of its counters. Of a device that has many, the older ones become coarser, the last
 * COUNTERS_FINE stay as they came. -EINVAL: they are no times, or no numbers. */
enum { COUNTERS_FINE = 1024, COUNTERS_MOST = 2 * COUNTERS_FINE };
int session_counters_add(struct session *s, const struct session_counters *counters);
/* Its last time that was counted ended then; 0: there is none. */
uint64_t session_counters_end(const struct session *s, uint32_t device);
/* The means of its last second, while they are told of. False: they are not. */
bool session_counters_now(const struct session *s, uint32_t device, struct counted *ret);
/* Times side by side, each of step_ns. */
struct counters_steps {
	uint64_t from_ns, step_ns; /* CLOCK_REALTIME */
	size_t n;                  /* at most … */
};
enum { COUNTERS_STEPS_MOST = 256 };
/* The means of one of its counters over each of them; NaN: not counted then. */
void session_counters_past(const struct session *s, uint32_t device, enum counter_id id,
			   const struct counters_steps *steps, float ret[]);
/* Bytes of memory that a device has; NaN: not known. What sensors say is used is of what they say there is,
 * which is some hundreds of MB more than what programs are told they may have. */
double session_device_memory(const struct session *s, uint32_t device);
/* How long a device was busy, ns; processes that share it add up. NaN: nobody said. */
double session_busy_ns(const struct session *s, uint32_t device);
/* How long copies ran there, ns, and for how much of that something else ran, too; SESSION_NONE: on all
 * devices. False: there were no copies, or nobody said. */
bool session_overlap(const struct session *s, uint32_t device, double *ret_copies_ns,
		     double *ret_hidden_ns);
/* Of the time in which something else than copies had the device busy, the share in which copies ran, too.
 * NaN: not known, as above. */
double session_overlap_share(const struct session *s, uint32_t device);

/* The sum over all processes plus the session's own. LOSS_UNACCOUNTED includes launches minus
 * records of processes that have ended. */
uint64_t session_loss(const struct session *s, enum loss loss);
uint64_t session_loss_total(const struct session *s);
/* Would losses have been counted? Not where another program made the profile: none is no news then. */
bool session_losses_known(const struct session *s);
/* The part of it that is one process's. */
uint64_t session_process_lost(const struct session_process *p);
/* Launches that were counted and have no record yet, over processes that count them. */
uint64_t session_in_flight(const struct session *s, uint64_t *ret_oldest_ns);
size_t session_memory(const struct session *s); /* bytes */

/* Where `values` and `present` have a metric of a row; SESSION_NONE: nowhere. */
uint32_t session_row_place(const struct session *s, const struct session_row *row, uint32_t metric);
/* A row's value of a metric that is no text. NaN: absent. */
double session_row_number(const struct session *s, const struct session_row *row, uint32_t metric);
/* What weighs a mean in a row: the row's value of the metric `weight`, else 1. values and present
 * are those of the session, or a copy of them. */
double session_row_weight(const struct session *s, const struct session_row *row, uint32_t weight,
			  const union metric_value *values, const uint8_t *present);
/* Has any row a value of a metric? */
bool session_has_values(const struct session *s, uint32_t metric);
/* Own value of a metric at a node, combined over its rows. False: absent. */
bool session_value(const struct session *s, uint32_t node, uint32_t metric,
		   union metric_value *ret);

#endif
