/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_WIRE_H
#define PROTON_WIRE_WIRE_H
/* The frame stream between collector and proton: the same bytes in the FIFO, on a socket and on
 * disk (a tape). This header is the format document.
 *
 *   stream = frame*            tape = struct wire_tape_header, frame*
 *   frame  = struct wire_header, payload (length - sizeof header bytes), padded to 8
 *
 * Little-endian, fixed width, natural alignment. Numbers are never reused. A reader skips kinds
 * that it does not know by their length. A frame is at most WIRE_FRAME_MAX bytes (PIPE_BUF), so
 * that a write into a FIFO is atomic and any number of processes can share it.
 *
 * Values are cumulative: a lost frame heals with the next. Ids are dense per instance; id 0 of
 * strings is "", of nodes the root, of sets the kernel set, of epochs the whole run, of lanes "none".
 * A definition may be sent again (resync); the newest wins. A reference to an id that was not yet
 * defined is kept as an error (LOSS_WIRE_ERROR) and skipped: resync heals it.
 * Texts longer than a frame travel in parts. */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WIRE_VERSION    1
#define WIRE_FRAME_MAX  4096
#define WIRE_MAGIC      UINT16_C(0x5057) /* "WP": resynchronisation point in a torn tape */
#define WIRE_TEXT_MAX   (1u << 20)       /* longer texts keep a prefix and a hash */
#define WIRE_TAPE_MAGIC "PROTONTP"

/* Number 23 was reserved once and never sent; it stays unused.
 *      kind          number  payload                                    */
/* clang-format off */
#define WIRE_KINDS(_)                                                                              \
	_(HELLO,      1)  /* struct wire_hello; first of an instance                        */     \
	_(TEXT,       2)  /* struct wire_text, bytes: (part of) a string                    */     \
	_(FRAMES,     3)  /* struct wire_frame_def[]                                        */     \
	_(NODES,      4)  /* struct wire_node_def[]                                         */     \
	_(LANES,      5)  /* struct wire_lane_def[]                                         */     \
	_(METRICS,    6)  /* struct wire_metric_def[]                                       */     \
	_(SET,        7)  /* struct wire_set_def, u32 metric[n]                             */     \
	_(EPOCHS,     8)  /* struct wire_epoch_def[]                                        */     \
	_(SLOTS,      9)  /* struct wire_slot_def[]                                         */     \
	_(VALUES,    10)  /* { struct wire_values, u64 value[n] }*                          */     \
	_(KERNELS,   11)  /* struct wire_kernel_values[]: values of slots of set 0          */     \
	_(HISTS,     12)  /* { struct wire_hist, struct wire_bucket[n] }*: of older tapes   */     \
	_(DEVICE,    13)  /* struct wire_device                                             */     \
	_(MODULES,   14)  /* struct wire_module_def[]                                       */     \
	_(SYMBOLS,   15)  /* struct wire_symbol[]: names for (module, offset) frames        */     \
	_(CLOCK,     16)  /* struct wire_clock                                              */     \
	_(TICK,      17)  /* struct wire_tick, u64 loss[n]                                  */     \
	_(NOTE,      18)  /* struct wire_note: a sentence for the user                      */     \
	_(SEGMENT,   19)  /* struct wire_segment: a bulk file in the session directory      */     \
	_(BULK,      20)  /* struct wire_bulk, bytes: a piece of a segment over a socket    */     \
	_(SAMPLES,   21)  /* struct wire_sample[]                                           */     \
	_(INTERVALS, 22)  /* struct wire_interval[]                                         */     \
	_(KEY,       24)  /* struct wire_key: all that follows up to the next TICK is whole */     \
	_(BYE,       25)  /* struct wire_bye: the instance ends                             */     \
	_(USES,      26)  /* struct wire_use[]: how long devices were busy; of older tapes   */     \
	_(RUN,       27)  /* struct wire_run_piece, bytes: what was started; of instance 0  */     \
	_(SENSORS,   28)  /* struct wire_sensors, f64[n]: of a device; of instance 0        */     \
	_(OCTAVES,   29)  /* { struct wire_octave, u32[n] }*: durations                     */     \
	_(SESSIONS,  30)  /* struct wire_session[]: that the program started itself         */     \
	_(MEMBERS,   31)  /* struct wire_member[]: which of them an epoch is in: older tapes */     \
	_(PHASES,    32)  /* struct wire_phase[]: which of their phases an epoch is in      */     \
	_(MERGE,     33)  /* struct wire_merge[]: a slot's values are another one's now     */     \
	_(ASK,       34)  /* struct wire_ask: the program wants a part of its profile       */     \
	_(OVERLAPS,  35)  /* struct wire_overlap[]: how long copies ran; of older tapes     */     \
	_(WORKED,    36)  /* struct wire_worked[]: from when to when; of older tapes        */     \
	_(USAGE,     37)  /* { struct wire_usage, u64[n] }*: how devices were used          */     \
	_(COPY_LANES,38)  /* { struct wire_copy_lane, u64[n] }*: the same of their copies   */     \
	_(UNRECORDED,39)  /* struct wire_unrecorded[]: when nothing was recorded            */     \
	_(CONFIGS,   40)  /* struct wire_config[]: how kernels were launched                */     \
	_(COUNTERS,  41)  /* struct wire_counters, { struct wire_counted, f64[n] }*: of instance 0 */
/* clang-format on */

enum wire_kind {
#define _(name, number) WIRE_##name = number,
	WIRE_KINDS(_)
#undef _
		WIRE_N_KINDS = 42
};

struct wire_header {
	uint16_t magic; /* WIRE_MAGIC */
	uint16_t kind;
	uint16_t length; /* header and payload, without the padding */
	uint16_t n;      /* entries in the payload, where it is an array */
	uint64_t instance;
	uint64_t seq;     /* 0, 1, 2 … per instance; a jump is a WIRE_GAP. WIRE_NO_SEQ: made by a
			  * reader, not counted */
	uint64_t time_ns; /* CLOCK_MONOTONIC when sent */
};

struct wire_tape_header {
	char magic[8];         /* WIRE_TAPE_MAGIC */
	uint32_t version;      /* WIRE_VERSION */
	uint32_t header_size;  /* of this struct, so that it can grow */
	uint64_t feature_mask; /* 0 */
	uint64_t start_ns;     /* CLOCK_REALTIME */
};

/* Behind it, of a stream that is forwarded: the same for all connections of a run, so that who is connected to
 * anew knows whose instances these are. */
struct wire_tape_origin {
	uint64_t origin; /* random, not 0 */
};

#define WIRE_NONE   UINT32_MAX
#define WIRE_NO_SEQ UINT64_MAX

struct wire_hello {
	uint32_t version;
	uint32_t pid, ppid;
	int32_t rank;                /* -1 none */
	uint32_t exe, cmdline, host; /* string ids, sent right after it */
	uint32_t flags;              /* WIRE_HELLO_* */
	uint64_t start_ns;           /* CLOCK_REALTIME */
};

/* Told by somebody else, with ids of their own: what it has said itself counts no more. Of forwarded streams. */
#define WIRE_HELLO_RETOLD 1u

struct wire_text {
	uint32_t id;
	uint32_t total;  /* bytes of the whole string */
	uint32_t offset; /* of this part; parts come in order */
	uint32_t length; /* of this part; bytes follow */
};

struct wire_frame_def {
	uint32_t id;
	uint8_t kind, pad[3]; /* enum frame_kind */
	uint32_t string;
	uint32_t module; /* WIRE_NONE: (kind, string); else (kind, module, offset) */
	uint64_t offset;
};

struct wire_node_def {
	uint32_t id, parent, frame;
};

struct wire_lane_def {
	uint32_t id;
	uint32_t device; /* WIRE_NONE: host */
	uint32_t context, stream;
	uint64_t thread; /* 0: not told apart */
};

/* Built-in metrics (core/metric.h) that an instance need not define: those that were there when the
 * first tapes were written. One that is added since is defined like any other, so that tapes of before
 * and of after are read alike. */
#define WIRE_N_METRICS 14

/* Metrics of one name are one metric in all instances; the values that an instance sends are of the
 * type that it declared itself. */
struct wire_metric_def {
	uint32_t id, name, unit; /* strings */
	uint8_t type, scope;     /* enums of core/metric.h */
	uint8_t add; /* … as a reader of version 0.1.0 knows it: METRIC_SUM to METRIC_WMEAN */
	uint8_t rule; /* … as it is, 0: as `add` says, and so does one that a reader does not know */
	uint32_t weight; /* WIRE_NONE */
};

struct wire_set_def {
	uint32_t id, n;
};

struct wire_epoch_def {
	uint32_t id, name, index, phase;
};

/* A session that the program started by proton.h, with a profile of its own: the values of the epochs that
 * it is in. An epoch that is defined again is in none until that is told again. */
struct wire_session {
	uint32_t id, state; /* WIRE_SESSION_* */
	uint32_t name;      /* strings, or one of its own: path of its file, without the suffix */
	uint32_t context;   /* "" (all), "shadow", "scopes" or "python" */
	uint32_t
		device_type; /* "" (all), of the devices whose work it has, or WIRE_INSIDE_KERNELS */
	uint32_t format;     /* of a finalized one */
};
/* The name of a session that is told with it: a text (TEXT) of this number and its id, which the next one of the id
 * has again. After FINALIZED an id may be another session's. */
#define WIRE_STRING_SESSION    UINT32_C(0x80000000)
#define WIRE_INSIDE_KERNELS    "instrumentation" /* kernels with scopes within them, and these */
#define WIRE_SESSION_INACTIVE  0u
#define WIRE_SESSION_ACTIVE    1u
#define WIRE_SESSION_FINALIZED 2u /* all that it is made of was sent before */
#define WIRE_SESSION_GONE      3u /* never sent: it is of the process that this one was forked from */
/* A file in the session directory that says that a session of this name may write a file: only who may
 * write to the directory can make it. proton answers in it: how writing went, as a positive errno or 0, in
 * decimal digits and a line feed. */
/* The format of a session's file: operations without the names of processes and threads. */
#define WIRE_FORMAT_EVENTS "chrome_events"
/* … single scopes of warps, of which there is a file for each epoch (intra/warp_file.h) */
#define WIRE_FORMAT_WARPS   "chrome_warps"
#define WIRE_WARPS_FILE     "%016" PRIx64 "-%" PRIu32 ".scopes"
#define WIRE_WARPS_FILE_MAX 48
/* … and of launches that the run keeps (collect/kept_warps.h): the numbers of their files, 64 bits each, in the order of this
 * machine. Its name is not longer. */
#define WIRE_KEPT_FILE "%016" PRIx64 "-%" PRIu32 ".kept"
/* … the file of one. */
#define WIRE_LAUNCH_FILE      "%016" PRIx64 "-%" PRIu64 ".warps"

#define WIRE_SESSION_FILE     "%016" PRIx64 "-%" PRIu32 ".session"
#define WIRE_SESSION_FILE_MAX 48

struct wire_member { /* of phase 0 */
	uint32_t epoch, session;
};

struct wire_phase {
	uint32_t epoch, session, phase, pad;
};

/* What `from` has said is a part of `into` from now on, as if that had said it, and `from` says nothing: so
 * an epoch that no session needs any more is used anew, and the run keeps what it had. Both are of one node,
 * lane and set. into WIRE_NONE: there is no room for it, which is counted. */
struct wire_merge {
	uint32_t from, into;
};

/* All that the answer is made of was sent before. */
struct wire_ask {
	uint32_t id; /* no other one of the instance has it */
	uint32_t what, session, phase;
	uint32_t format, pad; /* string */
};
#define WIRE_ASK_DATA 0u /* the phase in this format, into the answer */
#define WIRE_ASK_FILE 1u /* … into the session's file of the phase, NAME.part_PHASE.SUFFIX */
/* The file in the session directory where it is answered, which says that the program may ask: it is empty, or
 * has the session's name, if that is to be written to. Its first
 * bytes say when it is done, and how: a positive errno or 0, in decimal digits behind blanks, and a line
 * feed. Data is behind them. */
#define WIRE_ANSWER_FILE     "%016" PRIx64 "-%" PRIu32 ".answer"
#define WIRE_ANSWER_FILE_MAX 48
#define WIRE_ANSWER_HEAD     16

struct wire_slot_def {
	uint32_t id, node, lane, epoch, set;
};

struct wire_values {
	uint32_t slot, n; /* n values of 64 bits follow; f64 by bits, text as string id */
	uint64_t present; /* bit i: value i is there (not zero: there); n ≤ 64 */
};

struct wire_kernel_values {
	uint32_t slot, pad;
	uint64_t time_ns, count, min_ns, max_ns;
};

struct wire_hist {
	uint32_t node, device, n, pad; /* n buckets follow */
};

struct wire_bucket {
	uint32_t bucket, count;
};

/* An octave of the histogram of a node on a device (core/hist.h): executions in the bins from `first` on.
 * The other bins of the octave have none. */
struct wire_octave {
	uint32_t node, device;
	uint16_t octave, first;
	uint32_t n;
};

struct wire_device {
	uint32_t id;                             /* as lanes name it */
	uint32_t type, name, arch, uuid, driver; /* strings */
	int32_t index;
	uint32_t num_sms, clock_khz, memory_clock_khz, bus_width_bits, pad;
	uint64_t memory_bytes;
};

struct wire_module_def {
	uint32_t id, build_id, path, pad;
	uint64_t base, size;
};

struct wire_symbol {
	uint32_t frame, name, file, line;
};

struct wire_clock {
	uint32_t name, pad;
	uint64_t monotonic_ns, clock_ns;
};

struct wire_tick {
	uint64_t n_launches, n_records;
	uint64_t oldest_ns; /* age of the oldest unfinished launch, 0 = none */
	uint64_t own_cpu_ns, own_bytes, buffer_bytes;
	uint32_t flags;    /* WIRE_TICK_* */
	uint32_t n_losses; /* u64 loss[n] follow, indexed by enum loss */
};
#define WIRE_TICK_COUNTED 1u /* n_launches is meaningful */
#define WIRE_TICK_PAUSED  2u

struct wire_note {
	uint32_t text, level;
};

/* Bulk data never crosses a FIFO: it lies in append-only files beside it. The frame is sent again
 * whenever the file has grown; all ids in its first `size` bytes were defined before. The reader
 * turns them into BULK frames, for a tape and for its own decoder. */
struct wire_segment {
	uint32_t id, kind;    /* WIRE_SEGMENT_* */
	uint32_t path, clock; /* strings: file name in the session directory; name of a CLOCK */
	uint64_t size;
};
#define WIRE_SEGMENT_INTERVALS                                                                     \
	1u /* struct wire_interval[], in the order of their records; not written any more */
/* 2, 3 and 4 were reserved once and never written; they stay unused. */
#define WIRE_SEGMENT_EPOCHS                                                                        \
	5u /* struct wire_epoch_interval[], likewise; clock 0: CLOCK_MONOTONIC */
/* Name of its file, from the instance and the id: a reader opens no other. */
#define WIRE_SEGMENT_NAME     "%016" PRIx64 "-%" PRIu32 ".segment"
#define WIRE_SEGMENT_NAME_MAX 48

/* A file beside the FIFO that goes on with the frames of an instance where the FIFO was full. Whole
 * frames, to be read after all that the FIFO holds, when the process is gone. */
#define WIRE_REST_SUFFIX   ".rest"
#define WIRE_REST_NAME     "%016" PRIx64 WIRE_REST_SUFFIX
#define WIRE_REST_NAME_MAX 32

struct wire_bulk {
	uint32_t segment, length; /* length bytes follow: whole entries */
	uint64_t offset;          /* pieces come in order; one that was there before is skipped */
};

struct wire_sample {
	uint64_t time_ns;
	uint32_t device, metric;
	double value;
};

struct wire_interval {
	uint64_t start_ns, end_ns; /* in INTERVALS frames CLOCK_MONOTONIC, in a segment its clock */
	uint32_t node, lane;
};

struct wire_epoch_interval {
	struct wire_interval of;
	uint32_t epoch; /* 0: nobody asks */
	uint32_t
		latency_ns; /* from the call that launched it to its start; 0: not known; of pages their amount (core/pages.h) */
};

/* How this process has used a device so far: the first n of USE_NUMBERS (core/session.h) follow. */
struct wire_usage {
	uint32_t device, n;
};

/* Copies of one direction in a stream, through a channel: the first n of COPY_LANE_NUMBERS follow. Context and stream
 * WIRE_NONE: of all that had no place of their own. */
struct wire_copy_lane {
	uint32_t device, n;
	uint32_t context, stream, channel;
	uint8_t direction, channel_kind, pad[2]; /* enums of core/activity.h */
};

/* How often a kernel was launched so in a context on a device, and how long it ran. All 0 but the numbers: in ways that
 * are not told apart, for there were too many. */
struct wire_config {
	uint32_t node, device;
	uint32_t grid[3], block[3],
		cluster[3]; /* as struct launch_config (core/launch_config.h), like the rest */
	uint32_t registers, static_shared, dynamic_shared, local, pad;
	uint64_t count, time_ns;
};

/* A time in which not all that ran on devices was recorded. The number is the instance's: one that is told again is
 * what it is now. */
struct wire_unrecorded {
	uint64_t start_ns,
		end_ns; /* CLOCK_MONOTONIC; start 0: since the process began, end 0: it goes on */
	uint32_t number, reason; /* enum unrecorded_reason (core/session.h) */
};

/* Some of the numbers of USAGE, as they were told one after the other. */
struct wire_use {
	uint32_t device, pad;
	uint64_t busy_ns;
};

struct wire_overlap {
	uint32_t device, pad;
	uint64_t copies_ns, hidden_ns;
};

struct wire_worked {
	uint32_t device, pad;
	uint64_t first_ns, last_ns;
};

struct wire_key {
	uint64_t start_ns; /* CLOCK_REALTIME */
};

/* What proton says of the run, on tapes alone: struct wire_run, then n_strings times { u32 length,
 * bytes } (in the order of enum run_string), cut into pieces. It is said again when it is known
 * better; the newest counts. */
struct wire_run_piece {
	uint32_t total, offset, length, pad; /* of all bytes; of these, which come in order */
};

struct wire_run {
	uint64_t start_ns, wall_ns;           /* CLOCK_REALTIME; how long it took so far */
	uint64_t first_work_ns, last_work_ns; /* since the start */
	uint32_t exit_status, signal;
	uint32_t end; /* enum process_end */
	uint32_t n_strings;
};

/* What proton says of a device's sensors so far (core/sensors.h, numbers in its order), on tapes alone:
 * the newest counts. */
struct wire_sensors {
	char uuid[56]; /* of the device, with zeros behind it */
	uint32_t n, pad;
};

/* What hardware counters of a device said since the frame before (core/counted.h, numbers in its order), on tapes
 * alone. */
struct wire_counters {
	char uuid[56]; /* of the device, with zeros behind it */
	uint32_t n;    /* numbers of each time */
	uint32_t n_times;
	uint64_t lost; /* samples so far, of all devices */
};

struct wire_counted {
	uint64_t start_ns, end_ns, counted_ns; /* CLOCK_REALTIME */
	uint32_t n_samples, pad;
};

struct wire_bye {
	uint32_t reason; /* WIRE_BYE_* */
	int32_t status;
};
#define WIRE_BYE_EXIT 1u
#define WIRE_BYE_EXEC 2u /* about to; any later frame says that it failed */
#define WIRE_BYE_RUNS 3u /* by a proton that reads no more (WIRE_NO_SEQ): the process went on */

_Static_assert(sizeof(struct wire_header) == 32, "wire_header");
_Static_assert(sizeof(struct wire_tape_header) == 32, "wire_tape_header");
_Static_assert(sizeof(struct wire_hello) == 40, "wire_hello");
_Static_assert(sizeof(struct wire_frame_def) == 24, "wire_frame_def");
_Static_assert(sizeof(struct wire_node_def) == 12, "wire_node_def");
_Static_assert(sizeof(struct wire_lane_def) == 24, "wire_lane_def");
_Static_assert(sizeof(struct wire_metric_def) == 20, "wire_metric_def");
_Static_assert(sizeof(struct wire_session) == 24, "wire_session");
_Static_assert(sizeof(struct wire_member) == 8, "wire_member");
_Static_assert(sizeof(struct wire_phase) == 16, "wire_phase");
_Static_assert(sizeof(struct wire_merge) == 8, "wire_merge");
_Static_assert(sizeof(struct wire_ask) == 24, "wire_ask");
_Static_assert(sizeof(struct wire_slot_def) == 20, "wire_slot_def");
_Static_assert(sizeof(struct wire_values) == 16, "wire_values");
_Static_assert(sizeof(struct wire_kernel_values) == 40, "wire_kernel_values");
_Static_assert(sizeof(struct wire_device) == 56, "wire_device");
_Static_assert(sizeof(struct wire_module_def) == 32, "wire_module_def");
_Static_assert(sizeof(struct wire_tick) == 56, "wire_tick");
_Static_assert(sizeof(struct wire_segment) == 24, "wire_segment");
_Static_assert(sizeof(struct wire_bulk) == 16, "wire_bulk");
_Static_assert(sizeof(struct wire_interval) == 24, "wire_interval");
_Static_assert(sizeof(struct wire_epoch_interval) == 32, "wire_epoch_interval");
_Static_assert(sizeof(struct wire_usage) == 8, "wire_usage");
_Static_assert(sizeof(struct wire_copy_lane) == 24, "wire_copy_lane");
_Static_assert(sizeof(struct wire_config) == 80, "wire_config");
_Static_assert(sizeof(struct wire_unrecorded) == 24, "wire_unrecorded");
_Static_assert(sizeof(struct wire_use) == 16, "wire_use");
_Static_assert(sizeof(struct wire_overlap) == 24, "wire_overlap");
_Static_assert(sizeof(struct wire_worked) == 24, "wire_worked");
_Static_assert(sizeof(struct wire_run_piece) == 16, "wire_run_piece");
_Static_assert(sizeof(struct wire_run) == 48, "wire_run");
_Static_assert(sizeof(struct wire_sensors) == 64, "wire_sensors");
_Static_assert(sizeof(struct wire_counters) == 72, "wire_counters");
_Static_assert(sizeof(struct wire_counted) == 32, "wire_counted");

#define WIRE_PAYLOAD_MAX (WIRE_FRAME_MAX - sizeof(struct wire_header))
static inline size_t wire_padded(size_t length)
{
	return (length + 7) & ~(size_t)7;
}
/* Bytes of the frame that begins at `at`, of n that are there: 0 = not all there yet, SIZE_MAX = not a frame. */
static inline size_t wire_frame_size(const unsigned char *at, size_t n)
{
	struct wire_header h;

	if (n < sizeof(h))
		return 0;
	memcpy(&h, at, sizeof(h));
	if (h.magic != WIRE_MAGIC || h.length < sizeof(h) || h.length > WIRE_FRAME_MAX)
		return SIZE_MAX;
	return wire_padded(h.length) <= n ? wire_padded(h.length) : 0;
}

#endif
