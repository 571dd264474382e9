/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_H
#define PROTON_BACKENDS_CUPTI_H
/* The cupti backend, inside: what its files share. Each calls only what stands below it.
 *
 *   cupti.c           the vtable: life cycle, flush; it owns struct cupti
 *   cupti_rival.c     another user of CUPTI inside the program, whose calls come through us
 *   cupti_turns.c     CUPTI is left to it, and had back
 *   cupti_api.c       callbacks of all calls, which it times, around those of cupti_calls.c
 *   cupti_calls.c     driver callbacks: launch ENTER -> ring[correlation] = launch context
 *   cupti_unified.c   records of unified memory: switched on when the driver is there
 *   cupti_graphs.c    callbacks of graphs as they are made; launches of those that have others in them
 *   cupti_activity.c  buffers requested and completed, record -> struct activity
 *   cupti_ranges.c    hardware metrics of each kernel;  cupti_range_profiler.c  … of those of a context
 *   cupti_launches.c  the ring; which launches are in flight
 *   cupti_loads.c     modules of the program, rewritten before the driver loads them
 *   cupti_load.c      find a libcupti that works here, subscribe; one sentence when none does
 *   cupti_device.c    what a device is, asked of libcuda
 *   cupti_pool.c      the memory of the buffers
 *   cupti_pc.c        samples of the code that runs
 *
 *   launching thread           CUPTI's worker or our flush          sender thread
 *     requested(): a buffer      completed(): records, zero,          flush(): devices, callbacks
 *     ENTER: ring store          back into the pool                   on, FlushAll, fault pages in
 *
 * There is one struct cupti, never freed, because CUPTI may call us (or own a buffer) after stop(). It has one
 * session, and one more each time that it has left CUPTI to another one (docs/adr/0038-cupti-changes-hands.md). No lock is held around a call of CUPTI or of the sink; there is
 * none in this backend. */
#include <stdatomic.h>
#include "backends/backend.h"
#include "backends/cupti_abi.h"
#include "backends/cupti_pool.h"
#include "base/clock.h"
#include "base/util.h"

enum cupti_unified {
	CUPTI_UNIFIED_OFF = 0, /* nobody wants it, or it is refused */
	CUPTI_UNIFIED_WANTED,
	CUPTI_UNIFIED_ON,
};

enum cupti_phase {
	CUPTI_OFF = 0,
	CUPTI_DEAD,  /* fork child, or CUPTI gave itself up: it is not called any more */
	CUPTI_ASIDE, /* another user has it */
	/* from here on records are ours */
	CUPTI_LEAVING, /* launches wait */
	CUPTI_RUNNING,
};

/* Correlation id -> launch context, one 8-byte store a launch: no lock, no free, no removal, so
 * that all records of a graph launch find it. An entry is overwritten N launches later. */
#define CUPTI_RING_BITS  20
#define CUPTI_RING_N     (1u << CUPTI_RING_BITS)
#define CUPTI_TIMES_BITS 16
#define CUPTI_TIMES_N    (1u << CUPTI_TIMES_BITS) /* of graph_ns and when */
#define CUPTI_WHEN_SHIFT 4                        /* times of `when` are in 16 ns … */
#define CUPTI_WHEN_BITS  48                       /* … their lower bits, which are 52 days */
#define CUPTI_WHEN_MASK  ((UINT64_C(1) << CUPTI_WHEN_BITS) - 1)
/* Of an entry: a launch context. The collector has fewer. */
#define CUPTI_CONTEXT_BITS 28
struct cupti_launches {
	/* correlation << 32 | pattern of a copy, or of a kernel among ranges << 28 | launch context; NULL: not attributed yet */
	_Atomic uint64_t *ring;
	_Atomic uint32_t *graph_seen; /* newest graph launch of which a record was seen */
	_Atomic uint64_t *graph_ns;   /* of the last graph launches: when, CLOCK_REALTIME … */
	_Atomic uint32_t *graph_of;   /* … and which; written before that */
	/* When the newest launches began, CLOCK_REALTIME, behind the upper half of their correlation ids; NULL: nobody
	 * asks. */
	_Atomic uint64_t *when;
	atomic_bool complete; /* all callbacks are on */
	atomic_bool has_first;
	_Atomic uint32_t first; /* correlation id: launches before it may lack a ring entry */
	/* Graph launches that count as in flight; only few a second, so one shared counter. */
	_Atomic uint64_t n_graphs, n_graphs_done;
	uint64_t n_graphs_quiet;  /* owner: flush() */
	int64_t clock_ns;         /* … from CLOCK_REALTIME to CLOCK_MONOTONIC, when it looked */
	atomic_bool is_clock_set; /* it was set: CUPTI's times may be of before that */
};

enum { CUPTI_CAPTURES = 64 };

struct cupti {
	struct activity_sink *sink;
	struct cupti_api api;
	void *subscriber;
	uint32_t version;
	uint32_t session;  /* 1, 2 … */
	_Atomic int phase; /* enum cupti_phase */
	atomic_bool taken; /* from start() to stop() */
	atomic_uint connected;
	bool is_renumbered;    /* ids of launches begin anew with the next session … */
	bool has_wrong_graphs; /* … and those of graphs are not to be believed from then on */
	uint64_t aside_ns;     /* up to when it has been counted that another one has it */
	struct backend_options wanted; /* what follows is of it, as far as CUPTI has it: */
	bool sync;                     /* waits are recorded, by CUPTI … */
	bool calls;                    /* … or they and all other calls are timed, by us */
	bool ranges;                   /* hardware metrics are measured around kernels */
	bool memory;                   /* … and what is allocated */
	_Atomic int unified; /* enum cupti_unified; only flush() leaves CUPTI_UNIFIED_WANTED */
	bool idle;           /* … and what lets a device wait */
	bool device_graphs;  /* … those that kernels launch, too */
	bool whole_graphs;   /* graphs are recorded whole, their nodes are not */
	_Atomic uint32_t pc_sampling; /* cupti_pc_start() may begin it later */
	atomic_bool pc_listens;       /* callbacks that samples need are on */
	_Atomic int n_capturing; /* streams that are captured, of those that were seen to begin … */
	_Atomic(void *) capturing[CUPTI_CAPTURES]; /* … and which, of as many */

	/* Attribution: callbacks on launches. */
	atomic_bool want_attribution;
	atomic_bool settling; /* one thread at a time talks to CUPTI about callbacks */
	struct cupti_launches launches;
	_Atomic uint32_t n_threads; /* that asked for a buffer */
	_Atomic uint32_t n_reading; /* that hand over one */

	struct cupti_pool pool;

	_Atomic uint64_t devices_seen; /* bit i: device i had a record */
	uint64_t devices_told;         /* owner: flush() */
};

struct cupti_making;

enum { CUPTI_OUTER_MAX = 6 };
struct cupti_node_type {
	const void *node;
	uint32_t type; /* enum abi_node_type */
};

/* The call of the program's that this thread is in; what the library calls in it is not its own. */
struct cupti_outer {
	uint32_t session; /* that it began in; another one than that which is: none */
	uint32_t domain, id, correlation;
	uintptr_t params; /* where they are on the thread's stack; 0: not there, or not told */
	uint32_t launch;  /* context of what it launched; 0: nothing */
	bool waits;
	uint64_t start_ns, ours_ns; /* ours: that we took within it */
};

/* Per launching thread, in static TLS so that the launch path calls nothing to reach it. */
struct cupti_thread {
	uint32_t launching; /* correlation id of the counted launch in progress, or 0 */
	uint32_t launched;  /* … of the last one of a kernel */
	bool launching_graph;
	/* … of a kernel: which, and the call with its parameters, which last as long. */
	const char *launching_symbol;
	const void *launching_params;
	uint32_t launching_call;
	uint64_t
		adding_what; /* the kernel of the node that it adds by itself; 0: none, or not known */
	uint32_t known;      /* the last session in which it asked for a buffer */
	struct cupti_lease lease;
	uint32_t n_updated; /* nodes of which CUPTI has told in the call that changes a graph */
	struct cupti_making *making; /* an executable graph; NULL: none, or no memory */
	struct cupti_node_type making_node, making_outer[CUPTI_OUTER_MAX]; /* of graphs */
	const void *sampled; /* the context that it launched in last, where samples are wanted … */
	uint32_t sampled_n_ended; /* … when so many had ended */
	struct cupti_outer outer; /* cupti_api.c */
};
extern __thread struct cupti_thread cupti_thread __attribute__((tls_model("initial-exec")));

static inline bool cupti_running(const struct cupti *c)
{
	return atomic_load_explicit(&c->phase, memory_order_relaxed) >= CUPTI_LEAVING;
}

/* There is something to deliver. Said twice: when the driver is ready and at the first buffer, for
 * exit handlers that are registered later run earlier, before CUDA's own. */
enum { CUPTI_DRIVER_READY = 1, CUPTI_FIRST_BUFFER = 2 };
static inline void cupti_connect(struct cupti *c, unsigned why)
{
	if (atomic_load_explicit(&c->connected, memory_order_relaxed) & why)
		return;
	if (!(atomic_fetch_or(&c->connected, why) & why))
		c->sink->ops->connect(c->sink);
}

/* cupti_load.c: fills api, version and subscriber. 0, or -errno after a note to the sink. callback NULL: does not
 * subscribe. */
int cupti_load(struct cupti *c, abi_callback_fn callback);
/* Of what is loaded; false, after a note: somebody else has. */
bool cupti_subscribe(struct cupti *c, abi_callback_fn callback);
/* Is there a CUDA driver in this process? */
bool cupti_driver_is_loaded(void);
/* At the end: a second libcupti in the process belongs to a profiler of the program's own, which
 * found CUPTI taken. One note. */
void cupti_name_rival(struct cupti *c);

/* cupti_rival.c */
void cupti_rival_watch(struct cupti *c); /* from now on its calls are ours to answer */
void cupti_rival_forked(void);
bool cupti_rival_has_cupti(void);
/* While it has CUPTI, at a flush and with the turn: has it left? last: the last flush of all. */
void cupti_rival_look(struct cupti *c, bool last);

/* cupti_turns.c. One thread at a time has the turn to call what begins or ends a session; none waits for it for long:
 * false, then or at once; at once where this thread has it: CUPTI called somebody back. */
bool cupti_turn_take(bool wait);
void cupti_turn_give(void);
void cupti_session_begin(struct cupti *c);
/* Leaves CUPTI to another one, with the turn; false: what runs does not end, and it is kept. */
bool cupti_step_aside(struct cupti *c);
void cupti_begin_aside(struct cupti *c); /* another one was first */
/* How long it has been aside is a loss. */
void cupti_count_aside(struct cupti *c);
bool cupti_come_back(struct cupti *c);

/* cupti_activity.c */
int cupti_activity_start(struct cupti *c); /* -EIO after a note */
void cupti_activity_restore(
	struct cupti *c); /* buffers are used as a library uses them by itself */
void cupti_activity_stop(struct cupti *c);
int cupti_activity_flush(struct cupti *c, bool force);

/* cupti_unified.c */
bool cupti_unified_translate(const void *record, struct memory_event *e); /* false: not known */
void cupti_unified_settle(struct cupti *c); /* on, as soon as it can be; within a flush */
void cupti_unified_stop(struct cupti *c);
void cupti_unified_again(struct cupti *c); /* after a stop: on at the next flush, if it was on */
void cupti_unified_end(struct cupti *c);   /* no flush switches it on any more */

/* cupti_modules.c. In the callback of its loading; module: NULL, or without its code where that is not told. True: its
 * kernels have scopes. */
bool cupti_modules_loaded(struct cupti *c, const struct abi_module_data *module);
/* Scopes of a launch are lost. */
void cupti_modules_missed(struct cupti *c, const char *why);

/* cupti_pc.c. All of it does nothing where samples are not wanted. */
void cupti_pc_start(struct cupti *c);                  /* they are wanted from now on; any thread */
void cupti_pc_context(struct cupti *c, void *context); /* was made; in its callback */
/* Something is launched in it: it may be older than we are. */
void cupti_pc_launch(struct cupti *c, void *context);
bool cupti_pc_is_known(
	const void *context); /* … this thread did so last, and none has ended since */
void cupti_pc_context_ends(struct cupti *c, const void *context);
void cupti_pc_module(struct cupti *c, const struct abi_resource_data *data, bool is_loaded);
void cupti_pc_flush(struct cupti *c, bool force); /* after the records of a flush */
void cupti_pc_end(struct cupti *c);               /* … of the last one */
void cupti_pc_forked(void);

/* cupti_api.c */
abi_callback_fn cupti_callback_for(const struct cupti *c); /* that CUPTI calls */

/* cupti_calls.c */
void cupti_callback(void *user, uint32_t domain, uint32_t id, const void *data);
/* Of a driver call: is it one whose correlation id is given a launch context? Does the host wait in it? */
bool cupti_call_launches(uint32_t id);
bool cupti_call_waits(uint32_t id);
void cupti_calls_start(struct cupti *c); /* the few that are always on */
void cupti_calls_settle(
	struct cupti *c); /* those of launches and samples on when they are wanted */

/* cupti_functions.c: calls that the program makes, at their ENTER and EXIT */
void cupti_functions_named(const struct abi_call *call);
void cupti_functions_same(const struct abi_call *call);
void cupti_functions_unload(const struct abi_call *call);
/* stable_hash() of the name of a kernel and what begins it; 0: not known. */
uint64_t cupti_functions_name(const void *handle);

/* cupti_graphs.c */
bool cupti_graphs_wants(uint32_t id); /* enum abi_resource */
void cupti_graphs_on(struct cupti *c, uint32_t id, const struct abi_graph_data *g);
/* The program changes a graph, or one of its nodes, by this call. */
void cupti_graphs_change(struct cupti *c, const struct abi_call *call, enum graph_change what);
/* … adds a node that is a kernel; NULL: no longer. with_kernel: it may be named so instead of by its function. */
void cupti_graphs_add(struct cupti_thread *t, const struct abi_kernel_node *node, bool with_kernel);
/* … makes an executable graph like another one. true: it will be another one than it is. */
bool cupti_graphs_update(struct cupti *c, const struct abi_call *call);
/* This thread is inside a call that makes an executable graph. */
void cupti_graphs_making(struct cupti_thread *t, bool on);
/* executable: the driver's handle. */
void cupti_graphs_launch(const void *executable, uint32_t launch);
/* The launch context of the newest launch of a graph that has others in it; 0: not known. number: what its records
 * say. */
uint32_t cupti_graphs_newest(uint32_t number);
/* A kernel in one graph launched another one: its newest launch is that of the first. */
void cupti_graphs_pass(uint32_t from, uint32_t to);

/* cupti_launches.c */
int cupti_launches_init(struct cupti_launches *l, bool when); /* -ENOMEM; again: nothing to do */
void cupti_launches_reset(struct cupti_launches *l);  /* for a new session; the ring is kept */
void cupti_launches_forget(struct cupti_launches *l); /* … but for this */
/* A launch waits for the end of CUPTI_LEAVING, but not for long. Is it ours? */
bool cupti_launches_wait(const struct cupti *c);
/* All launches from this one on have a ring entry, if all callbacks are on. */
void cupti_launches_first(struct cupti_launches *l, uint32_t correlation);
static inline void cupti_launches_put(struct cupti_launches *l, uint32_t correlation,
				      uint32_t launch, unsigned pattern)
{
	atomic_store_explicit(&l->ring[correlation & (CUPTI_RING_N - 1)],
			      (uint64_t)correlation << 32 | pattern << CUPTI_CONTEXT_BITS | launch,
			      memory_order_relaxed);
	if (_unlikely_(!atomic_load_explicit(&l->has_first, memory_order_relaxed)))
		cupti_launches_first(l, correlation);
}
/* Before it is put. */
static inline void cupti_launches_time(struct cupti_launches *l, uint32_t correlation)
{
	uint64_t id = correlation >> CUPTI_TIMES_BITS;

	if (l->when)
		atomic_store_explicit(
			&l->when[correlation & (CUPTI_TIMES_N - 1)],
			id << CUPTI_WHEN_BITS |
				(clock_realtime_ns() >> CUPTI_WHEN_SHIFT & CUPTI_WHEN_MASK),
			memory_order_relaxed);
}
/* Sets the launch context and time of a record, the pattern of a copy, and whether it is `uncounted`: it does not end a counted
 * launch, but is a copy, a further node of a graph, or launched before the callbacks came on. */
void cupti_launches_resolve(struct cupti *c, struct activity *a, uint32_t correlation);
/* Had every launch a callback when this was launched, but none of the program's with this pattern this number? The first that
 * asks of one that has takes it. */
bool cupti_launches_lacks(struct cupti_launches *l, uint32_t correlation, unsigned pattern);
/* The launch in progress on this thread will have no record. */
void cupti_launches_take_back(struct cupti *c);
/* The kernel that a thread launches. NULL: not known, for calls of another age, or for several devices. */
struct cupti_launched {
	const void *function;
	const struct abi_launch_shape *shape;
};
struct cupti_launched cupti_launched(const struct cupti_thread *t);
/* A graph is launched. */
void cupti_launches_graph(struct cupti_launches *l, uint32_t correlation);
/* Does a record of a graph begin before that was launched, by more than clocks differ? */
bool cupti_launches_is_early(const struct cupti_launches *l, const struct activity *a,
			     uint32_t correlation);
/* Before a flush: that is not to be said any more where the clock was set. */
void cupti_launches_look(struct cupti_launches *l);
/* The launch context of a call that is no launch; 0: it has no entry. */
uint32_t cupti_launches_find(const struct cupti_launches *l, uint32_t correlation);
/* After a flush: graph launches without any record. last: of the program. */
void cupti_launches_quiet(struct cupti *c, bool last);

/* cupti_device.c: tells the sink about devices that had records. Not from a CUPTI callback. */
void cupti_device_tell(struct cupti *c);

#endif
