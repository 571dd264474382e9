/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_MOCK_CUPTI_H
#define PROTON_TESTS_MOCK_CUPTI_H
/* A libcupti without a GPU, for tests: PROTON_CUPTI_PATH=…/mock_cupti.so.
 *
 * It keeps CUPTI's promises as its headers give them: driver callbacks at ENTER and EXIT with one
 * correlation id a call; a record is put into the launching thread's buffer at launch and has no
 * times until it is complete; a flush returns buffers without incomplete records, a forced flush
 * returns all; full buffers come from a worker. It aborts, with a sentence, when it is called in a
 * way that could deadlock the real one.
 *
 * Environment: MOCK_CUPTI_VERSION (130001), MOCK_CUPTI_SUBSCRIBE (result), MOCK_CUPTI_HOLDER (name
 * of the old subscriber), MOCK_CUPTI_ENABLE (result of cuptiActivityEnable), MOCK_CUPTI_SYNC (the same
 * of waits alone), MOCK_CUPTI_GRAPHS (of whole graphs), MOCK_CUPTI_MEMORY and
 * MOCK_CUPTI_POOLS (of what is allocated, and of pools of it), MOCK_CUPTI_UNIFIED (of unified memory),
 * MOCK_CUPTI_UNREADY (n: the driver is not ready for unified memory, n times), MOCK_CUPTI_DROP_EVERY
 * (n: every n-th record is dropped), MOCK_CUPTI_DOMAIN (result of cuptiEnableDomain), MOCK_CUPTI_IN_ORDER (one
 * buffer at a time is handed over), MOCK_CUPTI_SLOW (milliseconds before each call that a test makes, in which its
 * thread does not run), MOCK_CUPTI_REAL (a real libcupti, to read buffers with). The
 * functions below are found by dlsym. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a kernel is launched; dimensions that are 0 count as 1, but those of the cluster. */
struct mock_config {
	uint32_t grid[3], block[3], cluster[3];
	uint32_t registers, static_shared, dynamic_shared, local, local_total;
};

struct mock_op {
	uint32_t kind;      /* enum abi_activity_kind; 0: the call makes no record */
	uint32_t n_records; /* 0 counts as 1 */
	const char *name;
	uint64_t bytes, n_copies; /* of so many copies as one; 0 counts as 1 */
	uint8_t copy_kind, src_kind, dst_kind, sync_type;
	uint8_t channel_type; /* of a copy, and … */
	bool async;
	uint32_t channel; /* 0 and 0: none is told */
	uint32_t device, context, stream, graph;
	uint64_t start_ns, end_ns; /* both 0: now; start UINT64_MAX: never gets times */
	uint64_t lasts_ns;         /* from now on, where both are 0; 0 counts as 1000 */
	uint32_t result;           /* of the driver call; no record when not 0 */
	bool captured;             /* a graph node is made instead of records */
	uint64_t graph_node;       /* its id, or that of records */
	uint32_t grid;             /* of a launch, or of one that is captured */
	uint64_t number;           /* of a launch in its context */
	const struct mock_config
		*config; /* … all of it, as its records say it; NULL: one that the mock has */
	bool by_kernel;  /* records have no correlation id */
	bool unseen;     /* no callback is told of the call … */
	bool as_newest; /* … which has the number of the newest one that one was told of on this thread */
	const void *executable; /* the first parameter, in place of the stream */
	const void *dst, *src;  /* of a copy: its first parameters */
	const void *third;      /* of another call: its third parameter */
	const void *params;     /* in place of all of these */
	void (*inside)(void);   /* called between ENTER and EXIT */
	uint32_t operation;     /* on memory, or on a pool of it: bytes of dst_kind */
	uint64_t address, pool, pool_bytes, pool_used; /* pool: 0: none */
	uint32_t dst_device, flags; /* of ABI_KIND_UNIFIED; operation: which; bytes: its value */
};

/* A driver call on this thread; returns its correlation id. */
typedef uint32_t mock_call_fn(uint32_t cbid, const struct mock_op *op);
/* A call of the runtime on this thread, which calls inside() */
typedef void mock_runtime_fn(uint32_t cbid, const char *name, void (*inside)(void));
/* Records complete at once (default), or when mock_complete() is called. */
typedef void mock_auto_fn(bool on);
/* Completes n pending records, the oldest or the newest first. */
typedef void mock_complete_fn(size_t n, bool newest_first);
/* The device is waited for: all that will ever have times is complete. */
typedef void mock_wait_fn(void);
/* … what is called before that is so. */
typedef void mock_waiting_fn(void (*fn)(void));
typedef void mock_resource_fn(uint32_t id);
/* A node of a graph is made after another one. */
typedef void mock_clone_fn(uint64_t from, uint64_t to);
/* Of the mock of CUDA: what functions are of; memory is real, and calls of the driver from within a launch have its number. */
struct mock_functions {
	void *(*library)(void *function); /* NULL: it is a module's */
	void (*load)(void *function);     /* in which its module is loaded, where it is not */
	uint64_t *(*global)(void *of, const char *name);
};
typedef void mock_functions_fn(const struct mock_functions *of);
/* What CUPTI tells of graphs; nodes and executable graphs are their ids. A graph that is recorded whole
 * (ABI_KIND_GRAPH_TRACE) has one record a launch, whatever the call says of its nodes. */
struct mock_node {
	uintptr_t graph, executable;
	uint64_t node, from;
	uint32_t type; /* enum abi_node_type */
};
typedef void mock_graph_fn(uint32_t id, const struct mock_node *node);
/* A node, or an executable graph, has another id from now on. */
typedef void mock_move_fn(uint64_t node, uint64_t id);
/* A context is destroyed. */
typedef void mock_context_fn(uint32_t context);
/* A stream is destroyed. */
typedef void mock_stream_fn(const void *stream);
/* A module of it was loaded, or is unloaded. */
struct abi_module_data;
typedef void mock_module_fn(uint32_t context, const struct abi_module_data *module, bool is_loaded);
/* A sample that the next read of a context has, and the function's cubin: which is its own checksum (mock_cupti_pc.c). */
struct mock_pc_sample {
	uint32_t context, correlation;
	const char *function;
	uint64_t cubin, offset;
	uint32_t reason, n; /* reason: a place in the mock's list; odd: not issued */
};
typedef unsigned mock_pc_reads_fn(void);
/* No read ends until it is let go, and one has begun: what the last one had is told, so that all that comes now is of one. */
typedef void mock_pc_hold_fn(bool held);
typedef void mock_pc_plant_fn(const struct mock_pc_sample *sample);
typedef void mock_fatal_fn(const char *message);
/* Numbers for tests. */
struct mock_counters {
	uint64_t n_callbacks_enabled, n_enable_calls, n_flushes, n_forced, n_requests, n_refused;
	uint64_t n_buffers_out, n_records, n_dropped, n_kinds_enabled, n_dirty_buffers;
	uint64_t buffer_size_last, buffer_size_max;
	bool subscribed, host_pinned;
};
typedef void mock_counters_fn(struct mock_counters *ret);
/* The next correlation id. */
typedef void mock_seek_fn(uint32_t next);

/* Of the range profiler, for the other files of the mock: a kernel is launched; are these values of one of its images? */
struct abi_host_evaluate;
/* … its record will have no times. Mocks of older libraries have none of it. */
bool mock_ranges_launched(const char *name, bool in_graph) __attribute__((weak));
bool mock_ranges_evaluate(const struct abi_host_evaluate *p);

#define STATIC_TLS                                                                                 \
	__attribute__((tls_model("initial-exec"))) /* leak checkers cannot read the other */

#endif
