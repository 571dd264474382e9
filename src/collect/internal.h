/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_INTERNAL_H
#define PROTON_COLLECT_INTERNAL_H
/* What the files of the collector share.
 *
 *   application threads           backend threads              sender thread
 *   push/pop, launch()            record()                     every period
 *        │ intern, CAS                 │ atomic add                 │ read
 *        ▼                             ▼                            ▼
 *   strings frames nodes contexts   slots + dirty bits  ──────>  frames ──> FIFO
 *
 * Tables are bounded arrays in one NORESERVE mapping: only touched pages cost memory. An entry is
 * filled, then published: `state` by a release store, its place in the index by CAS. A thread that
 * loses the race to insert an equal entry marks its own as dead; ids stay dense but for those. */
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "backends/backend.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/collect.h"
#include "core/session.h"
#include "core/step_values.h"
#include "wire/control.h"
#include "wire/wire.h"

/* bounds; powers of two */
enum {
	MAX_STRINGS = 1 << 18,
	MAX_FRAMES = 1 << 18,
	MAX_NODES = 1 << 18,
	MAX_CONTEXTS = 1 << 19,
	MAX_LANES = 1 << 13,
	MAX_SLOTS = 1 << 19,
	MAX_VALUES =
		1
		<< 22, /* as many contexts as there may be, each with a kernel and what was idle: 17 */
	MAX_CROWDS = 1 << 17, /* of names that differ in numbers alone, below one parent */
	MAX_FOLDED = 1 << 23, /* bits for those of them that have no row of their own */
	MAX_ID = 1 << 19,     /* of all these */
	MAX_MODULES = 1 << 12,
	MAX_SETS = 288,
	SET_MAX = 64, /* metrics in a set */
	MAX_METRICS = 320,
	MAX_DEVICES = 64,
	MAX_STREAMS = 64,      /* a device */
	MAX_HISTS = 1 << 16,   /* octaves of histograms */
	MAX_CONFIGS = 1 << 16, /* ways in which kernels are launched, over all contexts … */
	MAX_SLOT_CONFIGS = 32, /* … and of one of them, in one stream */
	MAX_THREADS = 1 << 12,
	MAX_THREAD_LANES = 512, /* threads with lanes of their own; the rest share thread 0 */
	RESERVED_LANES = 256,   /* of MAX_LANES: kept for shared ones */
	MAX_NOTES = 64,
	MAX_LIVE_SESSIONS = 128, /* that the program has not finalized */
	MAX_SESSIONS = 256,      /* … and whose files are not written yet */
	MAX_EPOCHS = 1 << 12,
	MAX_ASKS = 64, /* that wait for an answer */
	MAX_DEPTH = 256,
	MAX_INTERVALS = 1 << 16, /* waiting for the sender */
	MAX_BESIDE =
		MAX_INTERVALS / 4 * 3, /* of that, scopes and pages: the rest is for operations */
	RESERVED_NODES = 1 << 11,      /* of MAX_NODES: kept for "<other>" */
	RESERVED_AT_ROOT = 2,          /* of these: for that below the root, and that below it */
};
#define MAX_TEXT (64u << 20) /* bytes of all strings */

enum entry_state { ENTRY_EMPTY = 0, ENTRY_READY = 1, ENTRY_DEAD = 2 };

struct table {
	_Atomic uint32_t n; /* may run past max when full */
	uint32_t max, mask;
	_Atomic uint32_t *index; /* see tables.c */
};

struct string_entry {
	uint64_t hash;
	uint64_t full_len; /* before it was cut */
	const char *s;
	uint32_t len;
	_Atomic uint8_t state;
};

/* Those of tables whose key is made of numbers begin with it. */
struct frame_entry {
	uint32_t kind, string; /* enum frame_kind */
	uint32_t module,
		offset; /* of (module, offset); string is its upper half then. WIRE_NONE: none */
	_Atomic uint8_t state;
};

struct module_entry {            /* what was loaded from a file */
	uint32_t path, build_id; /* strings */
	_Atomic uint8_t state;
};

struct node_entry {
	uint32_t parent, frame;
	_Atomic uint8_t state;
	_Atomic uint8_t loop; /* that it is a step of (steps.h); 0: none */
};

enum context_flag {
	CONTEXT_GUESSED = 1, /* of a launch before, from the same place */
	CONTEXT_ADOPTED = 2, /* of what allocates: the main thread's, while this one has none */
};

struct context_entry { /* launch context */
	uint32_t node, thread;
	uint32_t flags;
	uint32_t epoch;
	uint32_t name; /* string that its kernels have for a name; 0: their own */
	_Atomic uint8_t state;
};

struct lane_entry {
	uint32_t device, context, stream, thread;
	_Atomic uint8_t state;
};

struct slot_entry {
	uint32_t node, lane, set, epoch;
	uint32_t values;         /* index of the first */
	_Atomic uint32_t hist;   /* id + 1 of the last one */
	_Atomic uint32_t config; /* … likewise */
	_Atomic uint8_t state;
	_Atomic uint8_t n_configs; /* that were new with it */
};

/* One octave of a histogram (core/hist.h): few have any more than two of them. */
struct hist_entry {
	uint32_t node, device, octave;
	_Atomic uint8_t state;
	_Atomic uint32_t n[HIST_WIDTH];
};

/* How a kernel was launched in a context on a device (launch_configs.c). */
struct config_entry {
	uint32_t node, device;
	struct launch_config of; /* as records say it */
	_Atomic uint8_t state;
	_Atomic uint64_t count, time_ns;
	uint32_t
		local; /* launch_configs.c: its local memory as it is told; 0: not looked for yet. Of the sender */
};

/* Names below one parent that differ in numbers alone (scope_names.c). */
struct crowd_entry {
	uint32_t parent, pattern[2]; /* node; hash of the kind and "step #" */
	_Atomic uint8_t state;
	_Atomic uint32_t n_kept;          /* that have a row of their own */
	_Atomic uint32_t n_folded;        /* others so far */
	_Atomic uint64_t highest, lowest; /* numbers of these: + 1, and ~; 0: none */
};

struct set_entry {
	_Atomic uint64_t key; /* 0: free */
	uint8_t n;
	_Atomic uint8_t state;
	uint16_t metrics[SET_MAX];
};

struct metric_entry {
	_Atomic uint64_t key; /* 0: free */
	uint32_t name, unit;  /* strings */
	uint8_t type, scope, add;
	uint16_t
		weight; /* of METRIC_WMEAN: id + 1 of the metric that weighs it, first in its set; 0: none */
	_Atomic uint8_t state;
	_Atomic bool named; /* a note says that it cannot have all that the program gave it */
};

struct device_entry {
	_Atomic uint64_t key; /* 0: free */
	int32_t index;
	uint8_t source;
	_Atomic uint8_t state;
	_Atomic uint32_t version; /* grows with each news */
	uint32_t sent;            /* version that was sent; owner: sender */
	/* By a backend's thread, before the version; the sender may read them meanwhile. */
	_Atomic uint32_t type, name, arch, uuid, driver; /* strings */
	_Atomic uint32_t num_sms, clock_khz, memory_clock_khz, bus_width_bits;
	_Atomic uint64_t memory_bytes;
	struct {
		_Atomic uint64_t key; /* context << 32 | stream, + 1 */
	} streams[MAX_STREAMS];
};

struct note_entry {
	_Atomic uint64_t key; /* 0: free */
	uint32_t text;
	uint8_t level;
	_Atomic uint8_t state;
};

/* A session of the program (sessions.h). Filled, then published by n_sessions; its name stays. */
#define SESSION_NOBODY UINT32_MAX /* the number of a place between two sessions */
struct session_entry {
	char name[PATH_MAX];     /* of its file, without the suffix */
	_Atomic uint32_t number; /* as the program knows it: no other one has it, ever */
	bool is_done; /* nobody has anything to do with it any more: another may be here */
	bool is_left; /* its program does not wait for its file any longer */
	uint32_t context, device_type; /* strings */
	_Atomic uint32_t format;       /* string: of its file */
	_Atomic uint32_t state;        /* WIRE_SESSION_* */
	_Atomic bool finalizing;       /* a thread is at it: it is nobody else's */
	_Atomic bool is_held; /* the sender reads what it tells of it: its place is not to be had */
	uint32_t
		flush_format; /* string: phases that are over are written so (flushing.h); 0: they stay */
	uint32_t phase;       /* of what is launched now; under the sessions' lock, as is */
	bool traced;          /* when its operations ran is its profile */
	bool events;          /* … these alone, without names of who ran them */
	bool warps;           /* single scopes within its kernels are its profile */
	uint32_t next_flush; /* … the first one that was not asked for */
};

/* What a thread asks proton for (asks.h). */
struct ask_entry {
	_Atomic uint32_t state; /* enum ask_state */
	uint32_t id, what, session, phase, format;
};

struct epoch_member {
	uint32_t session, phase;
};

/* Phases of sessions that were active at the same time: values of slots of this epoch are in the profile
 * of each. Epoch 0: none was. See epochs.h; what is not atomic is under the sessions' lock. */
struct epoch_entry {
	_Atomic uint32_t state; /* enum epoch_state */
	_Atomic uint32_t use;   /* how often it was taken: another set of phases each time */
	uint32_t version;       /* grows when its members change */
	_Atomic bool traced;    /* … one of which is, or was */
	_Atomic bool warps;     /* … as is of scopes within kernels (traced_warps.h) */
	uint32_t warps_without; /* … what contexts of these have not (session_kinds_without()) */
	_Atomic bool kept;      /* … and the run keeps launches of it (kept_warps.h) */
	_Atomic uint64_t n_launched,
		n_ended; /* never taken back: as many when nothing is in flight */
	uint32_t n;
	struct epoch_member members[MAX_LIVE_SESSIONS]; /* ascending by session */
};

struct scope_entry {
	uint64_t tag, enter_ns; /* of the host clock; 0: it is timed already */
	uint64_t began_ns;      /* on CLOCK_MONOTONIC, for the trace; 0: there is none */
	uint32_t frame, node;
	uint32_t base;          /* node that the first of the stack hangs below */
	bool is_inherited;      /* a process that forked this one entered it, and counts that */
	uint8_t loop;           /* of which it is a step; 0: of none (steps.h) */
	uint32_t window;        /* of the trace; 0: it is none (trace_windows.h) */
	uint32_t n_allocations; /* that could be in it, when it was entered */
};

/* When a thread's time on a processor was charged last (--cpu-time). The thread's own, and its signal
 * handlers'; all 0 for a new thread. A fork child's clock begins anew. */
struct cpu_mark {
	_Atomic uint64_t ran_ns; /* what its clock showed */
	uint64_t host_ns, pause; /* host clock, and collector->pause, then */
};

/* A value that the program gave to a launch which is yet to come. */
struct launch_value {
	union metric_value v;
	uint16_t metric;
	bool replace, taken_back; /* taken_back: added before, and not any more */
	uint16_t computed;        /* by a graph, each time it runs (cuda_values.h); 0: it is v */
	bool is_whole;            /* … as an integer */
};

/* … and where it belongs. */
struct node_value {
	struct launch_value value;
	uint32_t node; /* WIRE_NONE: where the launch is */
};

/* What proton_launch_begin() began (launch_info.c). */
struct launch_info {
	bool on, placed; /* placed: the first launch has come, and where its values go is known */
	uint32_t name;   /* string; 0: kernels keep theirs */
	uint32_t node;
	uint32_t n;
	uint32_t
		n_placed; /* that were given before the first launch, and went where that comes from */
	struct launch_value values[16];
};

/* Of a thread that captures streams into graphs (graph_runs.c). Another thread may end what it began. */
struct capture_info {
	_Atomic uint32_t n;          /* that it captures now */
	_Atomic uint64_t streams[8]; /* … which; 0: none */
	uint64_t node;               /* the newest that it made */
	uint32_t n_values;
	struct node_value values[64]; /* that came before the first node */
};

struct record_cache;   /* of sink.c */
struct python_stack;   /* of python.c */
struct torch_stack;    /* of torch.c */
struct native_stack;   /* of native.c */
struct context_budget; /* of context_budget.c */
struct kept_contexts;  /* of scope.c */

/* One a thread. The counters are written by their thread alone and read by the sender. */
struct thread_state {
	_Atomic uint32_t used;
	uint32_t tid;
	uint32_t lane;          /* tid, or 0: it shares the lanes of thread 0 */
	uint32_t host;          /* see thread_lane() */
	uint32_t node;          /* current calling context */
	uint32_t adopted;       /* the main thread's, while this one has none of its own */
	uint32_t n_allocations; /* calls that allocate, ever */
	bool is_main;
	uint32_t context;        /* launch context of it; 0 = not made yet */
	uint32_t context_node;   /* the node that it is of */
	bool context_guessed;    /* … and whether it is guessed */
	bool reads_exactly;      /* nothing of its context is to be taken over */
	bool context_taken_over; /* by a source of contexts, of a launch before */
	const void *launching;   /* what: one value for one kernel; NULL: not known */
	_Atomic uint32_t context_epoch;
	_Atomic uint64_t
		epoch_base; /* launches, less those without a record, when that epoch began here */
	uint32_t depth, overflow;
	uint32_t state; /* frame of its state; 0: none */
	uint32_t
		state_kernel; /* … of launch metadata: frame of whose they are, below it; 0: nobody's */
	bool in_metadata; /* … it is that of launch metadata: what is launched is not what was begun */
	uint32_t before_hiding[3]; /* collect_hide(): the three before it */
	struct launch_info launch;
	uint32_t
		launched; /* kernel_scopes.c: before the one that it looks into (backends_launched()) */
	struct capture_info capture;
	_Atomic uint64_t n_launches, n_unlaunched, n_records;
	_Atomic uint64_t losses[LOSS_N];
	struct record_cache *cache;
	struct join *joins; /* graph_nodes.c */
	struct {
		uint32_t graph, changes, frame; /* string */
	} form;                                 /* sink.c: of what ran last in a graph */
	struct python_stack *python;            /* python.c */
	struct torch_stack *torch;              /* torch.c */
	struct native_stack *native;            /* native.c */
	struct allocator_stack *allocator;      /* allocators.c */
	struct context_budget *budget;
	struct kept_contexts *kept;  /* scope.c */
	struct cpu_mark cpu;         /* cpu_time.c */
	_Atomic uint32_t scopes[64]; /* nodes of some that were entered (scope_names.c) */
	char error[160];             /* why its last call of a session function failed */
	bool wait_is_over;           /* … and that call waits no longer (session_wait.h) */
	uint64_t wait_checked_ns;
	struct scope_entry stack[MAX_DEPTH];
};

/* sets that are always there */
enum {
	SET_ID_KERNEL = 0,
	SET_ID_TRANSFER = 1,
	SET_ID_HOST = 2,
	SET_ID_ALLOC = 3,  /* what was allocated and released: sums */
	SET_ID_MEMORY = 4, /* what there is of it now */
	SET_ID_PEAK = 5,   /* of all of a kind on a device */
	SET_ID_POOL = 6,
	SET_ID_GRAPH_KERNEL = 7, /* SET_ID_KERNEL and … of what runs in a graph */
	SET_ID_GRAPH_TRANSFER = 8,
	SET_ID_GRAPH = 9,   /* of graphs that are recorded whole */
	SET_ID_MOVED = 10,  /* of unified memory */
	SET_ID_MISSED = 11, /* … faults, and what came of them */
	SET_ID_IDLE = 12,   /* how long a device waited for it */
	SET_ID_LATENCY = 13,
	SET_ID_STEPS = 14, /* of a loop, and those behind it (core/step_values.h) */
	SET_ID_CALL = SET_ID_STEPS + STEP_N_SETS, /* time in calls of the vendor's library */
	SET_ID_WAIT,                              /* … and that as SET_ID_HOST has it */
	SET_ID_LEFT,                              /* what a scope leaves behind */
	SET_ID_LEFT_HELD,  /* … and was not released since, now and at most */
	SET_ID_GROWTH,     /* how pools grew by what was allocated */
	SET_ID_SCOPES,     /* within kernels */
	SET_ID_SCOPE_SUMS, /* … of which the single times are not known */
	SET_ID_MARKS,      /* … moments */
	SET_ID_VALUES,     /* … and numbers of theirs */
	SET_ID_PC,         /* samples of code, in the order of their metrics */
};
/* Behind them one for each size of copies: how many, bytes. */
/* Places of values in SET_ID_PC. */
enum { PC_SAMPLES, PC_STALLED, PC_REASON, PC_VALUES = PC_REASON + PC_N_REASONS };
_Static_assert((int)PC_VALUES <= (int)SET_MAX, "one set has the samples of code");
enum { SET_ID_SIZES = SET_ID_PC + 1, N_SETS_SEEDED = SET_ID_SIZES + N_COPY_SIZES };
/* Places of values in SET_ID_TRANSFER, behind time, count, min and max. */
enum { TRANSFER_BYTES = 4, TRANSFER_ASYNC, TRANSFER_DIRECTION, TRANSFER_GRAPH_NODES };
/* … in SET_ID_GRAPH_KERNEL and SET_ID_GRAPH. */
enum { KERNEL_GRAPH_NODES = 4, GRAPH_KERNELS };
/* … in those of memory. */
enum { ALLOC_ALLOCS, ALLOC_BYTES, ALLOC_FREES, ALLOC_FREED, ALLOC_LEFT };
enum { MEMORY_LIVE, MEMORY_PEAK, MEMORY_AT_PEAK };
enum { PEAK_BYTES, PEAK_AT };
enum { LEFT_BYTES, LEFT_BLOCKS, LEFT_TIMES };
enum { LEFT_HELD, LEFT_MOST };
enum { POOL_RESERVED, POOL_USED, POOL_PEAK, POOL_USED_PEAK, POOL_UNUSED };
enum { GROWTH_BYTES, GROWTH_FRAGMENTED, GROWTH_TIMES };
enum {
	MOVED_N,
	MOVED_TIME,
	MOVED_TO_DEVICE,
	MOVED_TO_HOST,
	MOVED_TO_PEER,
	MOVED_ASKED,
	MOVED_EVICTED
};
enum { MISSED_CPU, MISSED_GPU, MISSED_THRASHES, MISSED_THROTTLED, MISSED_REMOTE };
/* … in SET_ID_IDLE, behind these the parts of a gap (core/gaps.h), and in SET_ID_LATENCY. */
enum { IDLE_GAPS, IDLE_NS, IDLE_PARTS };
enum { LATENCY_NS, LATENCY_N, LATENCY_MAX };
enum { SCOPES_CYCLES, SCOPES_NORMALIZED, SCOPES_ENTRIES, SCOPES_MIN, SCOPES_MAX };
enum { VALUES_ENTRIES, VALUES_SUM, VALUES_MIN, VALUES_MAX };
/* … in SET_ID_WAIT, behind time, count, min and max. */
enum { WAIT_HOST_NS = 4, WAIT_HOST_N };

enum sender_state {
	SENDER_NONE, /* nothing to send yet, or no thread could be made */
	SENDER_MADE,
	SENDER_ON,
	SENDER_EXEC,     /* it has said what there is, and exec may be under way */
	SENDER_REPORTED, /* it has said the last word, and waits */
	SENDER_GONE,     /* no thread of ours is there any more */
};

/* What another thread wants of the sender: counters, equal when there is nothing to do. */
struct question {
	_Atomic uint32_t asked, answered;
};

/* Operations on their way to the sender. A cell is free, or being written, while its end is 0. */
struct interval_cell {
	_Atomic uint64_t end_ns;
	uint64_t start_ns, launched_ns;
	uint64_t bytes; /* of a copy, with the next three; of pages their amount (core/pages.h) */
	uint32_t node, lane, epoch, graph;
	uint32_t channel; /* of pages: the backend whose clock they are on */
	uint8_t direction, channel_kind;
	bool is_copy : 1, is_wait : 1, blocks : 1;
	bool is_host : 1;  /* a scope: on CLOCK_MONOTONIC */
	bool is_pages : 1; /* of unified memory */
};

struct interval_ring {
	struct interval_cell *cell;         /* MAX_INTERVALS */
	_Alignas(64) _Atomic uint32_t head; /* producers */
	_Alignas(64) _Atomic uint32_t tail; /* the sender */
};

struct collector {
	_Atomic int pid; /* owner of all this; 0 = never started */
	uint64_t instance;
	uint64_t start_ns;
	struct control_page *control; /* NULL: none */
	char dir[256];
	_Atomic uint32_t text_used;
	char *text;
	struct table strings, modules, frames, nodes, contexts, lanes, slots, hists, configs,
		crowds;
	struct string_entry *string;
	struct module_entry *module;
	struct frame_entry *frame;
	struct node_entry *node;
	struct context_entry *context;
	struct lane_entry *lane;
	struct slot_entry *slot;
	struct hist_entry *hist;
	struct config_entry *config;
	struct crowd_entry *crowd;
	struct session_entry *session;
	struct epoch_entry *epochs;
	_Atomic uint64_t *folded; /* bit map over hashes of names without a row of their own */
	_Atomic uint64_t *value;
	_Atomic uint32_t n_values;
	_Atomic uint64_t *dirty, *hist_dirty,
		*config_dirty; /* bit maps over slots, histograms, … */
	struct interval_ring intervals;
	struct set_entry set[MAX_SETS];
	struct metric_entry metric[MAX_METRICS];
	struct device_entry device[MAX_DEVICES];
	struct note_entry note[MAX_NOTES];
	struct thread_state *thread;
	_Atomic uint32_t n_threads; /* highest ever used */
	_Atomic uint32_t n_thread_lanes;
	_Atomic uint32_t epoch;      /* of what is launched from now on */
	_Atomic uint32_t n_sessions; /* places that any of them had */
	_Atomic uint32_t n_epochs, sessions_lock;
	uint32_t n_started;             /* sessions, ever; under their lock */
	_Atomic bool traced;            /* by a session: as --trace of the run */
	struct ask_entry ask[MAX_ASKS]; /* asks.h */
	_Atomic uint32_t n_asked;
	_Atomic uint32_t main_node;            /* calling context of the main thread */
	_Atomic uint32_t folded_set;           /* set_folded() + 1; 0: not made yet */
	_Atomic bool many_contexts;            /* backends were told to attribute */
	_Atomic bool sampling;                 /* … or the run asked, to sample code */
	_Atomic uint64_t pause;                /* see is_paused() */
	_Atomic uint64_t tick_rate, tick_base; /* see steady_ns() */
	_Atomic uint32_t sender;               /* enum sender_state */
	_Atomic bool has_news;                 /* there was something to send */
	_Atomic uint32_t n_late; /* values that came after the last word, not sent yet */
	_Atomic uint32_t
		n_waiting; /* what is allocated and released and waits for its turn (allocations.h) */
	_Atomic uint32_t wake;                /* futex: the sender has something to look at */
	struct question finish, exec, resume; /* resume: exec has failed */
	struct question deliver;
	_Atomic uint32_t done;       /* futex: something was answered */
	uint32_t exe, cmdline, host; /* strings */
	int32_t rank;
};

/* state.c: one owner of what every file reads */
extern struct collector *collector; /* NULL until started */

/* In the child of a vfork() the pid differs: nothing of the parent's memory is touched then. */
static inline bool collector_is_ours(void)
{
	return collect_on && collector && atomic_load(&collector->pid) == getpid();
}
/* One word of static TLS: it needs no allocation in a thread that the library did not make. */
extern __thread struct thread_state *thread_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
/* False in a child of any kind of fork that nobody told us of (_Fork(), clone()): the kernel wipes
 * the page there, and leaves it alone in the child of a vfork(), which runs in our memory. */
extern _Atomic bool *same_process __attribute__((visibility("hidden")));
struct thread_state *thread_first(void); /* its slow path: the first time, and after such a fork */
/* Of this thread; never NULL: the shared last one when all are used. */
static inline struct thread_state *thread_state(void)
{
	return _likely_(thread_self != NULL &&
			atomic_load_explicit(same_process, memory_order_relaxed))
		       ? thread_self
		       : thread_first();
}
/* At the start: whom to call in a fork child that nobody tells of, before anything else there, and
 * for a thread that ends while the collector is on. */
void threads_watch(void (*forked)(void), void (*ended)(struct thread_state *t));
void captures_forget(struct thread_state *t);
void fork_seen(void); /* this fork child was told of */
void threads_forked(
	void); /* in a fork child: its thread is the main one, and nothing was counted */
/* At the end of the process another thread looks how many scopes are open. */
static inline void thread_set_depth(struct thread_state *t, uint32_t depth)
{
	__atomic_store_n(&t->depth, depth, __ATOMIC_RELAXED);
}
static inline void count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}
void lose(enum loss loss, uint64_t n);
uint64_t launches_of_all(void); /* threads, so far */

/* tables.c */
struct collector *tables_new(void);
/* Zero all slots and histograms; what there is now stays (METRIC_GAUGE) unless `now` too. */
void tables_forget_values(struct collector *c, bool now);
/* In a fork child: entries of small tables that threads of the parent were filling are free, and so are all notes. */
void tables_forget_claims(struct collector *c);
/* A text that may be one of the strings. */
struct string_key {
	uint64_t hash;
	const char *s;
	size_t len;
};

static inline struct string_key string_key(const char *s, size_t len)
{
	return (struct string_key){hash_bytes(s, len), s, len};
}

/* Is it the one with this id? A name that was cut is told apart by its length and 64-bit hash. */
static inline bool string_is(uint32_t id, const struct string_key *k)
{
	const struct string_entry *e = &collector->string[id];

	if (e->hash != k->hash || e->full_len != k->len)
		return false;
	return k->len > WIRE_TEXT_MAX || !memcmp(e->s, k->s, k->len);
}

/* The ids of what is there already; WIRE_NONE: it is not. */
uint32_t string_find(const struct string_key *k);
uint32_t frame_find(enum frame_kind kind, uint32_t string);
uint32_t node_find(uint32_t parent, uint32_t frame);
/* … made where it is not. */
uint32_t string_intern(const char *s, size_t len);
uint32_t frame_intern(enum frame_kind kind, uint32_t string);
uint32_t module_intern(uint32_t path, uint32_t build_id); /* WIRE_NONE: full */
uint32_t frame_intern_place(enum frame_kind kind, uint32_t module, uint64_t offset);
uint32_t node_intern(uint32_t parent, uint32_t frame);
uint32_t node_intern_made(uint32_t parent, uint32_t frame, bool *ret_made); /* now, and by us? */
uint32_t context_intern(uint32_t node, uint32_t thread, uint32_t flags, uint32_t epoch,
			uint32_t name); /* flags: of enum context_flag */
uint32_t lane_intern(uint32_t device, uint32_t context, uint32_t stream, uint32_t thread);
/* … of what a device, or the host (WIRE_NONE), has in no stream. */
uint32_t lane_of_no_stream(uint32_t device);
uint32_t slot_intern(uint32_t node, uint32_t lane, uint32_t set,
		     uint32_t epoch); /* WIRE_NONE is counted */
uint32_t hist_intern(uint32_t node, uint32_t device, uint32_t octave);
/* *made: in: may it be made where it is not? out: was it, by us? WIRE_NONE: it is not there, or there is no room. */
uint32_t config_intern(uint32_t node, uint32_t device, const struct launch_config *of, bool *made);
uint32_t crowd_intern(uint32_t parent, uint64_t pattern);
uint32_t metric_intern(const char *name, const char *unit, uint8_t type, uint8_t scope,
		       uint8_t add);
uint32_t set_intern_one(uint32_t metric);
/* Of floating point, inclusive; weight: that weighs its mean. */
uint32_t metric_intern_weighed(const char *name, const char *unit, uint8_t add, uint32_t weight);
/* No other set of several begins with the same metric. */
uint32_t set_intern(const uint16_t *metrics, unsigned n);
/* The set of FOLD_METRIC alone (core/fold.h). It never waits: WIRE_NONE where another thread is making
 * it at this moment. */
uint32_t set_folded(void);
uint32_t device_intern(uint8_t source, int32_t index);
void note_add(int level, const char *text);
/* Entries that may be looked at: published or dead. */
static inline uint32_t table_n(struct table *t)
{
	uint32_t n = atomic_load_explicit(&t->n, memory_order_acquire);

	return n < t->max ? n : t->max;
}

static inline void bitmap_set(_Atomic uint64_t *map, uint32_t i)
{
	uint64_t bit = UINT64_C(1) << (i & 63);

	/* The sender clears the bit and then reads the values: they must be there before we look
	 * whether it is still set. x86 has locked instructions for them, which are a barrier. */
#if defined(__x86_64__)
	atomic_signal_fence(memory_order_seq_cst);
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
	/* The release orders the values before the bit. */
	if (!(atomic_load_explicit(&map[i >> 6], memory_order_relaxed) & bit))
		atomic_fetch_or_explicit(&map[i >> 6], bit, memory_order_release);
	else
		atomic_thread_fence(memory_order_release);
}

/* The sender, before it takes the values. */
static inline void bitmap_clear(_Atomic uint64_t *map, uint32_t i)
{
	atomic_fetch_and_explicit(&map[i >> 6], ~(UINT64_C(1) << (i & 63)), memory_order_acq_rel);
}

/* Is it kept when each operation of the run was? */
static inline bool is_run_traced(void)
{
	return collector->control->wanted.trace;
}

/* … or of a session? */
static inline bool is_traced(void)
{
	return is_run_traced() || atomic_load_explicit(&collector->traced, memory_order_relaxed);
}

/* The sessions that are active now. */
static inline uint32_t epoch_now(void)
{
	return atomic_load_explicit(&collector->epoch, memory_order_relaxed);
}

/* Is what the thread launches now what it has said something of? */
static inline bool launch_is_said(const struct thread_state *t)
{
	return t->launch.on && !t->in_metadata;
}

/* A calling context of the thread's as it is in the thread's state: that is a part of it. */
static inline uint32_t node_in_state(const struct thread_state *t, uint32_t node)
{
	if (!t->state)
		return node;
	node = node_intern(node, t->state);
	return t->state_kernel ? node_intern(node, t->state_kernel) : node;
}

/* scope.c */
/* The launch context of its calling context, of a launch of `what` (one value for one kernel, NULL: not known). */
uint32_t thread_context(struct thread_state *t, const void *what);
/* … of the launch for which that was asked last, which is more than one: it has become a node of a graph, which runs
 * again and again, or launches one. What was guessed is read now; what is captured is not held against the budget. */
uint32_t thread_exact_context(struct thread_state *t, bool is_captured);
/* … of a call that allocates. */
uint32_t thread_allocates(struct thread_state *t);
/* Scopes that were not left: their time until now, once. */
void scopes_close(struct thread_state *t);
void scopes_forked(struct thread_state *t);
bool scopes_were_missed(void);            /* collect_scope_missed() */
void scopes_miss(struct thread_state *t); /* those that are open count as such */
void scopes_end(void);                    /* of this thread, with the process */
void scopes_left_open(void);              /* of the others, at its very end */

/* launch_info.c */
/* The first launch of what was begun comes from this node: values go to it. */
void launch_place(struct thread_state *t, uint32_t node);
/* No launch may come any more: what was said of it is not lost. */
void launch_flush(struct thread_state *t);

/* metrics.c */
void metric_put_at(struct thread_state *t, uint32_t node, const struct launch_value *v);
/* On the lane of this slot and of its sessions, at a node. */
void metric_put_beside(uint32_t slot, uint32_t node, const struct launch_value *v);
/* What a graph computed is a value like others now. False: it is none of the metric's. */
bool metric_settle(struct launch_value *v, union metric_value given, enum metric_type sent);
/* As collect_metric_f64() and its like, at this node, whatever the thread's state is; WIRE_NONE: as they do. A
 * text is the number of a string. Where the first of a name was a whole number, a fraction is not rounded, but kept
 * as "NAME (float)". */
void collect_metric_at(uint32_t node, const char *name, enum metric_type type,
		       union metric_value v);

/* The same of a value that a graph computes each time it runs (cuda_values.h). */
void collect_metric_computed(uint32_t node, const char *name, bool is_whole, uint32_t computed);

/* As collect_scope_timed(), of the scope at this node. */
void scope_timed_at(uint32_t node);

/* cpu_time.c */
void cpu_time_charge(struct thread_state *t); /* the context of this thread is about to change */
void cpu_time_forked(struct thread_state *t); /* this thread is another, whose clock begins anew */

/* sink.c */
extern struct activity_sink sinks[N_SOURCES]; /* where the records of each backend go */

/* intervals.c */
struct wire_encoder;
struct wire_interval;
/* Any thread. How many were waiting: 0 also where there was no room, which is a loss. */
uint32_t interval_push(const struct activity *a, uint32_t slot);
/* The same of a scope of the host that was left, for the trace. */
uint32_t interval_push_scope(uint32_t node, uint32_t lane, uint64_t start_ns, uint64_t end_ns);
/* … of pages of unified memory that moved or were missed; on the clock of a backend. */
uint32_t interval_push_pages(uint8_t source, uint32_t amount, const struct wire_interval *v);
/* As intervals_take(), by any thread; nothing while another one does so. */
void intervals_help(void);
/* Sender thread: what ran until now is not all known. */
void intervals_break(void);
/* Sender thread: empty the ring. Before the limits of tables are read: a node or lane that is named
 * in a file was there by then. */
void intervals_take(void);
/* Busy times that changed, what copies had of them, and how far the files go. 0 or the encoder's error. */
int intervals_send(struct wire_encoder *e, uint32_t n_devices);
void intervals_resend(void);    /* all of it, next time */
void intervals_reset(void);     /* busy times from 0 */
uint64_t intervals_bytes(void); /* of memory, about */
void intervals_close(void);     /* files of this thread's own table, which goes away */
void intervals_forked(void);

/* deliver.c: by threads that deliver records, which may have to wait for who takes them */
void interval_deliver(const struct activity *a, uint32_t slot);
void interval_deliver_pages(uint8_t source, uint32_t amount, const struct wire_interval *v);

/* sender.c */
void sender_prepare(void); /* make the threads */
void sender_start(void);   /* there is something to say; idempotent, any thread */
/* Deliver everything; waits at most 2 s, and as long as our threads were not let run meanwhile (ADR 73). */
void sender_finish(void);
void sender_main_left(void); /* main() ends by pthread_exit() */
/* The ring of intervals fills, and who takes them out needs the sender's descriptors. */
void sender_take(bool wait);
/* Flush the backends and send what there is; waits as sender_finish() does. False: nobody is there to read it. */
bool sender_deliver(void);
void sender_exec(void);        /* the same before exec, after which the program may go on */
void sender_exec_failed(void); /* … as it does */
void sender_withdraw(void);    /* before a fork: a program of one thread has none of ours */
void sender_forked(void);      /* in a fork child: the thread is gone, nothing was sent */

/* leave.c */
void exit_watch(void);     /* be called at exit, before what was registered until now */
void collect_finish(void); /* this process ends: deliver everything that was not yet */
void collect_end(void);    /* … and nothing comes after this */

/* doors.c */
void collect_forked(void); /* this process is a fork child: all begins anew */

/* backends.c */
void backends_open(enum collect_door door, struct activity_sink sinks[static N_SOURCES]);
void backends_tell(unsigned source, const struct activity *a); /* those who listen beside us */
void backends_forked(void);
void backends_flush(enum flush how);
bool backends_flushable(void); /* is there any to flush? */
/* What is flushed as if it were a backend, behind these, from now on. */
struct flushed_beside {
	void (*flush)(enum flush how);
	bool (*is_due)(void);
};
void backends_flush_beside(const struct flushed_beside *what);
void backends_attribute(void);        /* more than one calling context from now on */
uint32_t backends_launched(void);     /* the last launch of this thread, as backend.h has it */
void backends_moved(uint32_t thread); /* it has entered or left a scope (struct range_place) */
void backends_sample(void);           /* samples of code are wanted from now on */
uint64_t backends_buffer_bytes(void);

#endif
