/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "mock_cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backends/cupti_abi.h"
#include "base/clock.h"
#include "base/util.h"

#define EXPORT    __attribute__((visibility("default")))
#define N_DOMAINS 8

#ifdef MOCK_CUPTI_OLD
#define VERSION_DEFAULT ABI_VERSION_11_0
#else
#define VERSION_DEFAULT 130001
#endif

struct buffer {
	struct buffer *next;
	uint8_t *bytes;
	size_t size, used;
	size_t n_incomplete;
	bool full;
	struct buffer **current; /* the thread's pointer to it, or NULL */
};

struct pending {
	struct buffer *buffer;
	size_t at;
	uint64_t start_ns, end_ns;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	pthread_t worker;
	bool has_worker, stop_worker;
	unsigned delivering;
	uint32_t version, subscribe_result, enable_result;
	uint64_t drop_every;
	bool in_order;
	struct timespec slow;
	abi_callback_fn callback;
	void *user;
	bool enabled[N_DOMAINS][ABI_N_CALLS];
	bool kinds[ABI_N_KINDS];
	bool is_device_graph_asked;
	abi_requested_fn requested;
	abi_completed_fn completed;
	uint8_t zeroed, per_thread;
	bool is_unified_configured;
	uint64_t n_unready;
	bool manual;
	void (*waiting)(void);
	struct buffer *buffers;
	struct buffer *shared; /* current buffer when buffers are not per thread */
	struct pending *pending;
	size_t n_pending, pending_cap;
	struct mock_counters counters;
	size_t n_dropped;
	uint32_t (*real_next)(uint8_t *, size_t, struct abi_record **);
} mock = {.lock = PTHREAD_MUTEX_INITIALIZER,
	  .work = PTHREAD_COND_INITIALIZER,
	  .idle = PTHREAD_COND_INITIALIZER};

static void lock_mock(void)
{
	pthread_mutex_lock(&mock.lock);
}

static void unlock_mock(void)
{
	pthread_mutex_unlock(&mock.lock);
}

static atomic_int inside_enable; /* threads in cuptiEnableCallback() */

/* Threads that were in a call stayed in the parent. */
static void begin_child(void)
{
	atomic_store(&inside_enable, 0);
	unlock_mock();
}

/* A child that is forked while the worker holds the lock could never look at the counters. */
__attribute__((constructor)) static void survive_forks(void)
{
	pthread_atfork(lock_mock, unlock_mock, begin_child);
}

static _Atomic uint32_t correlation;
/* Outlives its thread, because a flush may look at it later; all are in one list. */
struct owner {
	struct owner *next;
	struct buffer *current;
};
static struct owner *owners;
static __thread struct owner *owner STATIC_TLS;
static __thread int in_buffer_callback STATIC_TLS, in_driver_callback STATIC_TLS;

static void die(const char *what)
{
	fprintf(stderr, "mock_cupti: %s\n", what);
	abort();
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && s[0] ? strtoull(s, NULL, 10) : otherwise;
}

static void read_environment(void)
{
	mock.version = (uint32_t)env_number("MOCK_CUPTI_VERSION", VERSION_DEFAULT);
	mock.subscribe_result = (uint32_t)env_number("MOCK_CUPTI_SUBSCRIBE", 0);
	mock.enable_result = (uint32_t)env_number("MOCK_CUPTI_ENABLE", 0);
	mock.drop_every = env_number("MOCK_CUPTI_DROP_EVERY", 0);
	mock.in_order = env_number("MOCK_CUPTI_IN_ORDER", 0);
	mock.slow.tv_nsec = (long)(env_number("MOCK_CUPTI_SLOW", 0) * NSEC_PER_MSEC);
}

__attribute__((constructor)) static void load(void)
{
	const char *real = getenv("MOCK_CUPTI_REAL");
	void *library = real ? dlopen(real, RTLD_LAZY | RTLD_LOCAL) : NULL;

	read_environment();
	if (library)
		*(void **)&mock.real_next = dlsym(library, "cuptiActivityGetNextRecord");
}

/* ---- records ---------------------------------------------------------------------------- */

static size_t record_size(uint32_t kind)
{
	bool old = mock.version < ABI_VERSION_11_1;

	switch (kind) {
	case ABI_KIND_CONCURRENT_KERNEL:
		return old ? offsetof(struct abi_kernel, policy) : ABI_KERNEL_BYTES;
	case ABI_KIND_MEMCPY:
		return old ? offsetof(struct abi_copy, graph) : 96;
	case ABI_KIND_MEMCPY2:
		return old ? offsetof(struct abi_peer_copy, graph) : 96;
	case ABI_KIND_MEMSET:
		return old ? offsetof(struct abi_set, graph) : 88;
	case ABI_KIND_SYNCHRONIZATION:
	case ABI_KIND_GRAPH_TRACE:
	case ABI_KIND_DEVICE_GRAPH:
		return 56;
	case ABI_KIND_MEMORY2:
		return 128;
	case ABI_KIND_MEMORY_POOL:
		return 80;
	case ABI_KIND_UNIFIED:
		return 104;
	default:
		die("a record of an unknown kind");
		return 0;
	}
}

union record {
	uint8_t bytes[ABI_KERNEL_BYTES];
	uint32_t kind;
	struct abi_kernel kernel;
	struct abi_copy copy;
	struct abi_peer_copy peer;
	struct abi_set set;
	struct abi_sync sync;
	struct abi_memory memory;
	struct abi_memory_pool pool;
	struct abi_graph graph;
	struct abi_device_graph device_graph;
	struct abi_unified_record unified;
};

static void fill_config(struct abi_kernel *k, const struct mock_config *c)
{
	for (unsigned i = 0; i < 3; i++) {
		k->grid[i] = (int32_t)MAX(c->grid[i], 1);
		k->block[i] = (int32_t)MAX(c->block[i], 1);
		if (mock.version >= ABI_VERSION_11_8)
			k->cluster[i] = c->cluster[i];
	}
	k->registers = (uint16_t)c->registers;
	k->static_shared = (int32_t)c->static_shared;
	k->dynamic_shared = (int32_t)c->dynamic_shared;
	k->local_per_thread = c->local;
	k->local_total = c->local_total;
}

static void fill_kernel(union record *r, const struct mock_op *op, uint32_t id)
{
	r->kernel.device = op->device;
	r->kernel.context = op->context;
	r->kernel.stream = op->stream;
	r->kernel.correlation = id;
	r->kernel.name = op->name;
	r->kernel.graph = op->graph;
	r->kernel.graph_node = op->graph_node;
	r->kernel.grid_id = (int64_t)op->number;
	r->kernel.grid[0] = 128;
	r->kernel.grid[1] = (int32_t)(1 + id % 2); /* every other launch has another grid */
	r->kernel.grid[2] = r->kernel.block[1] = r->kernel.block[2] = 1;
	r->kernel.block[0] = 256;
	if (op->config)
		fill_config(&r->kernel, op->config);
}

static void fill_copy(union record *r, const struct mock_op *op, uint32_t id)
{
	r->copy.copy_kind = op->copy_kind;
	r->copy.src_kind = op->src_kind;
	r->copy.dst_kind = op->dst_kind;
	r->copy.flags = op->async;
	r->copy.bytes = op->bytes;
	r->copy.device = op->device;
	r->copy.context = op->context;
	r->copy.stream = op->stream;
	r->copy.correlation = id;
	r->copy.graph = op->graph;
	r->copy.graph_node = op->graph_node;
	if (mock.version >= ABI_VERSION_11_6) {
		r->copy.channel = op->channel;
		r->copy.channel_type = op->channel_type;
	}
	if (mock.version >= ABI_VERSION_12_9)
		r->copy.n_copies = MAX(op->n_copies, 1);
}

static void fill_peer_copy(union record *r, const struct mock_op *op, uint32_t id)
{
	fill_copy(r, op, 0);
	r->peer.src_device = op->device;
	r->peer.dst_device = op->device + 1;
	r->peer.correlation = id;
	r->peer.graph_node = op->graph_node;
	r->peer.graph = op->graph;
	if (mock.version >= ABI_VERSION_11_6) {
		r->peer.channel = op->channel;
		r->peer.channel_type = op->channel_type;
	}
}

static void fill_set(union record *r, const struct mock_op *op, uint32_t id)
{
	r->set.bytes = op->bytes;
	r->set.device = op->device;
	r->set.context = op->context;
	r->set.stream = op->stream;
	r->set.correlation = id;
	r->set.flags = op->async;
	r->set.memory_kind = op->dst_kind;
	r->set.graph = op->graph;
	r->set.graph_node = op->graph_node;
}

static void fill_sync(union record *r, const struct mock_op *op, uint32_t id)
{
	r->sync.type = op->sync_type;
	r->sync.context = op->context;
	r->sync.stream = op->stream;
	r->sync.correlation = id;
}

static void fill_memory(union record *r, const struct mock_op *op, uint32_t id)
{
	r->memory.operation = op->operation;
	r->memory.memory_kind = op->dst_kind;
	r->memory.correlation = id;
	r->memory.address = op->address;
	r->memory.bytes = op->bytes;
	r->memory.device = op->device;
	r->memory.context = op->context;
	r->memory.stream = op->stream;
	r->memory.async = op->async;
	r->memory.pool_type = op->pool ? ABI_POOL_LOCAL : 0;
	r->memory.pool = op->pool;
	r->memory.pool_bytes = op->pool_bytes;
	r->memory.pool_used = op->pool_used;
}

static void fill_pool(union record *r, const struct mock_op *op, uint32_t id)
{
	r->pool.operation = op->operation;
	r->pool.pool_type = ABI_POOL_LOCAL;
	r->pool.correlation = id;
	r->pool.device = op->device;
	r->pool.pool = op->pool;
	r->pool.bytes = op->pool_bytes;
	r->pool.used = op->pool_used;
}

static void fill_graph(union record *r, const struct mock_op *op, uint32_t id)
{
	r->graph.device = r->graph.end_device = op->device;
	r->graph.context = r->graph.end_context = op->context;
	r->graph.stream = op->stream;
	r->graph.correlation = id;
	r->graph.graph = op->graph;
}

/* Told only of where it was asked for; mock_op.flags: the graph that launched it. */
static void fill_device_graph(union record *r, const struct mock_op *op, uint32_t id)
{
	(void)id;
	r->device_graph.device = op->device;
	r->device_graph.context = op->context;
	r->device_graph.stream = op->stream;
	r->device_graph.graph = op->graph;
	r->device_graph.launcher = op->flags;
}

static void fill_unified(union record *r, const struct mock_op *op, uint32_t id)
{
	(void)id;
	r->unified.what = op->operation;
	r->unified.value = op->bytes;
	r->unified.address = op->address;
	r->unified.src = op->device;
	r->unified.dst = op->dst_device;
	r->unified.flags = op->flags;
}

static void fill(union record *r, const struct mock_op *op, uint32_t id)
{
	static void (*const fills[ABI_N_KINDS])(union record *, const struct mock_op *,
						uint32_t) = {
		[ABI_KIND_CONCURRENT_KERNEL] = fill_kernel,
		[ABI_KIND_MEMCPY] = fill_copy,
		[ABI_KIND_MEMCPY2] = fill_peer_copy,
		[ABI_KIND_MEMSET] = fill_set,
		[ABI_KIND_SYNCHRONIZATION] = fill_sync,
		[ABI_KIND_MEMORY2] = fill_memory,
		[ABI_KIND_MEMORY_POOL] = fill_pool,
		[ABI_KIND_GRAPH_TRACE] = fill_graph,
		[ABI_KIND_UNIFIED] = fill_unified,
		[ABI_KIND_DEVICE_GRAPH] = fill_device_graph,
	};

	memset(r, 0, sizeof(*r));
	r->kind = op->kind;
	fills[op->kind](r, op, id);
}

static void set_times(uint8_t *record, uint64_t start_ns, uint64_t end_ns)
{
	union record *r = (union record *)(void *)record;

	switch (r->kind) {
	case ABI_KIND_CONCURRENT_KERNEL:
		r->kernel.start_ns = start_ns;
		r->kernel.end_ns = end_ns;
		break;
	case ABI_KIND_MEMSET:
		r->set.start_ns = start_ns;
		r->set.end_ns = end_ns;
		break;
	case ABI_KIND_MEMORY2:
		r->memory.at_ns = start_ns;
		break;
	case ABI_KIND_MEMORY_POOL:
		r->pool.at_ns = start_ns;
		break;
	case ABI_KIND_UNIFIED:
		r->unified.start_ns = start_ns;
		r->unified.end_ns = end_ns;
		break;
	case ABI_KIND_DEVICE_GRAPH:
		r->device_graph.start_ns = start_ns;
		r->device_graph.end_ns = end_ns;
		break;
	case ABI_KIND_GRAPH_TRACE:
		r->graph.start_ns = start_ns;
		r->graph.end_ns = end_ns;
		break;
	case ABI_KIND_SYNCHRONIZATION:
		r->sync.start_ns = start_ns;
		r->sync.end_ns = end_ns;
		break;
	default: /* both kinds of copies begin alike */
		r->copy.start_ns = start_ns;
		r->copy.end_ns = end_ns;
	}
}

/* ---- buffers ---------------------------------------------------------------------------- */

static struct buffer **unlink_at(struct buffer *b)
{
	for (struct buffer **p = &mock.buffers; *p; p = &(*p)->next)
		if (*p == b)
			return p;
	die("a buffer that is not out");
	return NULL;
}

/* Hands it to the tool; the lock is not held meanwhile. */
static void deliver(struct buffer *b)
{
	struct buffer **at = unlink_at(b);

	*at = b->next;
	if (b->current)
		*b->current = NULL;
	mock.counters.n_buffers_out--;
	mock.delivering++;
	pthread_mutex_unlock(&mock.lock);
	in_buffer_callback++;
	mock.completed(NULL, 0, b->bytes, b->size, b->used);
	in_buffer_callback--;
	free(b);
	pthread_mutex_lock(&mock.lock);
	mock.delivering--;
	pthread_cond_broadcast(&mock.idle);
	if (mock.in_order) /* another may be full */
		pthread_cond_signal(&mock.work);
}

/* The oldest of them; the newest stands first in the list. */
static struct buffer *next_complete(bool only_full, bool force)
{
	struct buffer *oldest = NULL;

	if (mock.in_order && mock.delivering)
		return NULL;
	for (struct buffer *b = mock.buffers; b; b = b->next)
		if ((b->n_incomplete == 0 || force) && (b->full || !only_full) && b->used > 0)
			oldest = b;
	return oldest;
}

static void *work(void *unused)
{
	struct buffer *b;

	pthread_mutex_lock(&mock.lock);
	while (!mock.stop_worker) {
		b = next_complete(true, false);
		if (b)
			deliver(b);
		else
			pthread_cond_wait(&mock.work, &mock.lock);
	}
	pthread_mutex_unlock(&mock.lock);
	return NULL;
}

static void check_zeroed(const uint8_t *bytes, size_t size)
{
	size_t i = 0;

	while (i < size && !bytes[i])
		i++;
	mock.counters.n_dirty_buffers += mock.zeroed && i < size;
}

/* Lock held on entry and exit; NULL: the tool refused. */
static struct buffer *request(struct buffer **at)
{
	struct buffer *b = calloc(1, sizeof(*b));
	size_t n_records_max = 0;

	if (!b)
		return NULL;
	pthread_mutex_unlock(&mock.lock);
	in_buffer_callback++;
	mock.requested(&b->bytes, &b->size, &n_records_max);
	in_buffer_callback--;
	pthread_mutex_lock(&mock.lock);
	mock.counters.n_requests++;
	if (!b->bytes) {
		if (mock.version < ABI_VERSION_12_9)
			die("a buffer request was refused, which CUPTI before 12.9 does not "
			    "survive");
		mock.counters.n_refused++;
		free(b);
		return NULL;
	}
	if ((uintptr_t)b->bytes % 8 || b->size < ABI_KERNEL_BYTES)
		die("a buffer that is misaligned or too small for a record");
	check_zeroed(b->bytes, b->size);
	mock.counters.buffer_size_last = b->size;
	mock.counters.buffer_size_max = MAX(mock.counters.buffer_size_max, b->size);
	mock.counters.n_buffers_out++;
	b->next = mock.buffers;
	mock.buffers = b;
	b->current = at;
	*at = b;
	return b;
}

static struct buffer **current_buffer(void)
{
	if (!mock.per_thread)
		return &mock.shared;
	if (!owner) {
		owner = calloc(1, sizeof(*owner));
		if (!owner)
			die("out of memory");
		owner->next = owners;
		owners = owner;
	}
	return &owner->current;
}

static struct buffer *room_for(size_t size)
{
	struct buffer **at = current_buffer();
	struct buffer *b = *at;

	if (b && b->size - b->used >= size)
		return b;
	if (b) {
		b->full = true;
		b->current = NULL;
		*at = NULL;
		pthread_cond_signal(&mock.work);
	}
	b = request(at);
	return b && b->size - b->used >= size ? b : NULL;
}

static void drop(void)
{
	mock.n_dropped++;
	mock.counters.n_dropped++;
}

static bool must_drop(void)
{
	return mock.drop_every && mock.counters.n_records % mock.drop_every == 0;
}

static void add_pending(struct buffer *b, size_t at, uint64_t start_ns, uint64_t end_ns)
{
	if (array_reserve((void **)&mock.pending, &mock.pending_cap, mock.n_pending + 1,
			  sizeof(*mock.pending)) < 0)
		die("out of memory");
	mock.pending[mock.n_pending++] = (struct pending){b, at, start_ns, end_ns};
	b->n_incomplete++;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

/* Such a record is complete at once. */
static bool is_of_memory(uint32_t kind)
{
	return kind == ABI_KIND_MEMORY2 || kind == ABI_KIND_MEMORY_POOL || kind == ABI_KIND_UNIFIED;
}

static void put_record(const struct mock_op *op, uint32_t id)
{
	size_t size = record_size(op->kind);
	uint64_t start_ns = op->start_ns, end_ns = op->end_ns;
	bool is_untimed = start_ns == UINT64_MAX; /* it is incomplete until a forced flush */
	union record record;
	struct buffer *b;

	mock.counters.n_records++;
	b = must_drop() ? NULL : room_for(size);
	if (!b) {
		drop();
		return;
	}
	if (!start_ns && !end_ns) {
		start_ns = now_ns();
		end_ns = start_ns + (op->lasts_ns ? op->lasts_ns : 1000);
	}
	if (is_untimed)
		start_ns = end_ns = 0;
	fill(&record, op, id);
	memcpy(b->bytes + b->used, &record, size);
	if ((mock.manual || is_untimed) && !is_of_memory(op->kind))
		add_pending(b, b->used, start_ns, end_ns);
	else
		set_times(b->bytes + b->used, start_ns, end_ns);
	b->used += size;
}

/* ---- CUPTI ------------------------------------------------------------------------------ */

EXPORT uint32_t cuptiGetVersion(uint32_t *version);
uint32_t cuptiGetVersion(uint32_t *version)
{
	*version = mock.version;
	return ABI_OK;
}

EXPORT uint32_t cuptiGetResultString(uint32_t result, const char **text);
uint32_t cuptiGetResultString(uint32_t result, const char **text)
{
	*text = result == ABI_NOT_INITIALIZED ? "CUPTI_ERROR_NOT_INITIALIZED" : "CUPTI_ERROR";
	return ABI_OK;
}

EXPORT uint32_t cuptiSubscribe(void **subscriber, abi_callback_fn callback, void *user);
uint32_t cuptiSubscribe(void **subscriber, abi_callback_fn callback, void *user)
{
	if (mock.subscribe_result)
		return mock.subscribe_result;
	if (mock.callback)
		return ABI_OTHER_SUBSCRIBER;
	mock.user = user;
	mock.callback = callback;
	mock.counters.subscribed = true;
	*subscriber = &mock;
	return ABI_OK;
}

#ifndef MOCK_CUPTI_OLD
EXPORT uint32_t cuptiSubscribe_v2(void **subscriber, abi_callback_fn callback, void *user,
				  struct abi_subscriber_params *params);
uint32_t cuptiSubscribe_v2(void **subscriber, abi_callback_fn callback, void *user,
			   struct abi_subscriber_params *params)
{
	uint32_t result = cuptiSubscribe(subscriber, callback, user);
	const char *holder = getenv("MOCK_CUPTI_HOLDER");

	if (params->size != sizeof(*params))
		return ABI_BAD_ARGUMENT;
	if (result == ABI_OTHER_SUBSCRIBER && holder && params->old_name)
		snprintf(params->old_name, params->old_name_size, "%s", holder);
	return result;
}
#endif

EXPORT uint32_t cuptiUnsubscribe(void *subscriber);
uint32_t cuptiUnsubscribe(void *subscriber)
{
	if (subscriber != &mock)
		return ABI_BAD_ARGUMENT;
	mock.callback = NULL;
	mock.counters.subscribed = false;
	memset(mock.enabled, 0, sizeof(mock.enabled));
	mock.counters.n_callbacks_enabled = 0;
	return ABI_OK;
}

/* Detaches whoever is there, and counts launches anew. */
EXPORT uint32_t cuptiFinalize(void);
uint32_t cuptiFinalize(void)
{
	cuptiUnsubscribe(&mock);
	memset(mock.kinds, 0, sizeof(mock.kinds));
	mock.counters.n_kinds_enabled = 0;
	atomic_store(&correlation, 0);
	return ABI_OK;
}

EXPORT uint32_t cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain,
				    uint32_t id);
uint32_t cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t id)
{
	if (in_buffer_callback || in_driver_callback)
		die("cuptiEnableCallback called within a callback");
	if (subscriber != &mock || domain >= N_DOMAINS || id >= 807) /* CUDA 13.0 */
		return ABI_BAD_ARGUMENT;
	if (atomic_fetch_add(&inside_enable, 1))
		die("cuptiEnableCallback called by two threads at once");
	mock.counters.n_enable_calls++;
	mock.counters.n_callbacks_enabled += (enable != 0) - mock.enabled[domain][id];
	mock.enabled[domain][id] = enable;
	atomic_fetch_sub(&inside_enable, 1);
	return ABI_OK;
}

#ifndef MOCK_CUPTI_OLD
EXPORT uint32_t cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain);
uint32_t cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain)
{
	uint32_t n = domain == ABI_DOMAIN_DRIVER ? 807 : 523; /* CUDA 13.0 */

	if (env_number("MOCK_CUPTI_DOMAIN", 0))
		return (uint32_t)env_number("MOCK_CUPTI_DOMAIN", 0);
	for (uint32_t id = 1; id < n; id++)
		if (cuptiEnableCallback(enable, subscriber, domain, id) != ABI_OK)
			return ABI_BAD_ARGUMENT;
	return ABI_OK;
}
#endif

EXPORT uint32_t cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value);
uint32_t cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
	if (*size != 1)
		return ABI_BAD_ARGUMENT;
	if (attribute == ABI_ATTRIBUTE_ZEROED_BUFFER)
		mock.zeroed = *(uint8_t *)value;
	else if (attribute == ABI_ATTRIBUTE_HOST_PINNED)
		mock.counters.host_pinned = *(uint8_t *)value;
	else if (attribute == ABI_ATTRIBUTE_PER_THREAD_BUFFER && mock.version >= ABI_VERSION_12_3)
		mock.per_thread = *(uint8_t *)value;
	else
		return ABI_BAD_ARGUMENT;
	return ABI_OK;
}

EXPORT uint32_t cuptiActivityRegisterCallbacks(abi_requested_fn requested,
					       abi_completed_fn completed);
uint32_t cuptiActivityRegisterCallbacks(abi_requested_fn requested, abi_completed_fn completed)
{
	mock.requested = requested;
	mock.completed = completed;
	if (!mock.has_worker)
		mock.has_worker = !pthread_create(&mock.worker, NULL, work, NULL);
	return ABI_OK;
}

static uint32_t set_kind(uint32_t kind, bool on)
{
	if (in_buffer_callback || in_driver_callback)
		die("an activity kind was switched within a callback");
	if (kind >= ABI_N_KINDS)
		return ABI_BAD_ARGUMENT;
	if (kind == ABI_KIND_GRAPH_TRACE && on && mock.counters.n_records)
		die("whole graphs were switched on after the first record");
	if (kind == ABI_KIND_UNIFIED && on && !mock.is_unified_configured)
		die("unified memory was switched on before it was configured");
	mock.counters.n_kinds_enabled += on - mock.kinds[kind];
	mock.kinds[kind] = on;
	if (kind == ABI_KIND_MEMCPY)
		mock.kinds[ABI_KIND_MEMCPY2] = on;
	if (kind == ABI_KIND_GRAPH_TRACE)
		mock.kinds[ABI_KIND_DEVICE_GRAPH] = on && mock.is_device_graph_asked;
	return ABI_OK;
}

EXPORT uint32_t cuptiActivityEnable(uint32_t kind);
uint32_t cuptiActivityEnable(uint32_t kind)
{
	if (kind == ABI_KIND_SYNCHRONIZATION && env_number("MOCK_CUPTI_SYNC", 0))
		return (uint32_t)env_number("MOCK_CUPTI_SYNC", 0);
	if (kind == ABI_KIND_MEMORY2 && env_number("MOCK_CUPTI_MEMORY", 0))
		return (uint32_t)env_number("MOCK_CUPTI_MEMORY", 0);
	if (kind == ABI_KIND_MEMORY_POOL && env_number("MOCK_CUPTI_POOLS", 0))
		return (uint32_t)env_number("MOCK_CUPTI_POOLS", 0);
	if (kind == ABI_KIND_GRAPH_TRACE && env_number("MOCK_CUPTI_GRAPHS", 0))
		return (uint32_t)env_number("MOCK_CUPTI_GRAPHS", 0);
	return mock.enable_result ? mock.enable_result : set_kind(kind, true);
}

#ifndef MOCK_CUPTI_OLD
EXPORT uint32_t cuptiActivityEnableDeviceGraph(uint8_t on);
uint32_t cuptiActivityEnableDeviceGraph(uint8_t on)
{
	if (mock.kinds[ABI_KIND_GRAPH_TRACE])
		die("graphs that kernels launch were asked for too late");
	mock.is_device_graph_asked = on;
	return ABI_OK;
}

EXPORT uint32_t cuptiActivityConfigureUnifiedMemoryCounter(struct abi_unified_config *config,
							   uint32_t n);
uint32_t cuptiActivityConfigureUnifiedMemoryCounter(struct abi_unified_config *config, uint32_t n)
{
	if (in_buffer_callback || in_driver_callback)
		die("unified memory was configured within a callback");
	if (env_number("MOCK_CUPTI_UNIFIED", 0))
		return (uint32_t)env_number("MOCK_CUPTI_UNIFIED", 0);
	if (mock.n_unready++ < env_number("MOCK_CUPTI_UNREADY", 0))
		return ABI_NOT_INITIALIZED;
	for (uint32_t i = 0; i < n; i++)
		if (config[i].scope != ABI_UNIFIED_OF_DEVICE || !config[i].what ||
		    config[i].what >= ABI_N_UNIFIED || !config[i].on)
			return ABI_BAD_ARGUMENT;
	mock.is_unified_configured = true;
	return ABI_OK;
}
#endif

EXPORT uint32_t cuptiActivityDisable(uint32_t kind);
uint32_t cuptiActivityDisable(uint32_t kind)
{
	return set_kind(kind, false);
}

#ifndef MOCK_CUPTI_BROKEN
static void forget_pending(void)
{
	for (size_t i = 0; i < mock.n_pending; i++)
		mock.pending[i].buffer->n_incomplete--;
	mock.n_pending = 0;
}

static void wait_turn(void)
{
	while (mock.in_order && mock.delivering > 0)
		pthread_cond_wait(&mock.idle, &mock.lock);
}

EXPORT uint32_t cuptiActivityFlushAll(uint32_t flags);
uint32_t cuptiActivityFlushAll(uint32_t flags)
{
	struct buffer *b;

	if (in_buffer_callback)
		die("cuptiActivityFlushAll called within a buffer callback");
	pthread_mutex_lock(&mock.lock);
	mock.counters.n_flushes++;
	mock.counters.n_forced += flags & ABI_FLUSH_FORCED;
	if (flags & ABI_FLUSH_FORCED)
		forget_pending();
	wait_turn();
	while ((b = next_complete(false, flags & ABI_FLUSH_FORCED))) {
		deliver(b);
		wait_turn();
	}
	while (mock.delivering > 0)
		pthread_cond_wait(&mock.idle, &mock.lock);
	pthread_mutex_unlock(&mock.lock);
	return ABI_OK;
}
#endif

EXPORT uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
					   struct abi_record **record);
uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct abi_record **record)
{
	uint8_t *at;

	if (mock.real_next)
		return mock.real_next(buffer, valid, record);
	at = *record ? (uint8_t *)*record + record_size((*record)->kind) : buffer;
	if (at >= buffer + valid)
		return ABI_END_OF_BUFFER;
	*record = (struct abi_record *)(void *)at;
	return ABI_OK;
}

#ifndef MOCK_CUPTI_OLD
EXPORT uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	pthread_mutex_lock(&mock.lock);
	*n = mock.n_dropped;
	mock.n_dropped = 0;
	pthread_mutex_unlock(&mock.lock);
	return ABI_OK;
}
#endif

/* ---- control ---------------------------------------------------------------------------- */

static void raise_call(uint32_t domain, uint32_t cbid, struct abi_call *call)
{
	if (!mock.callback || cbid >= ABI_N_CALLS || !mock.enabled[domain][cbid])
		return;
	in_driver_callback++;
	mock.callback(mock.user, domain, cbid, call);
	in_driver_callback--;
}

static void raise_driver(uint32_t cbid, struct abi_call *call)
{
	raise_call(ABI_DOMAIN_DRIVER, cbid, call);
}

static const char *driver_name(uint32_t cbid)
{
	static const char *const names[ABI_N_CALLS] = {
#define _(name, number, class) [number] = #name,
		ABI_CALLS(_)
#undef _
	};

	return cbid < ABI_N_CALLS && names[cbid] ? names[cbid] : "mock";
}

EXPORT mock_resource_fn mock_resource;
void mock_resource(uint32_t id)
{
	if (!mock.callback || !mock.enabled[ABI_DOMAIN_RESOURCE][id])
		return;
	in_driver_callback++;
	mock.callback(mock.user, ABI_DOMAIN_RESOURCE, id, NULL);
	in_driver_callback--;
}

static void raise_graph(uint32_t id, const struct mock_node *node, uint32_t type)
{
	struct abi_graph_data graph = {.graph = (void *)node->graph,
				       .node = (void *)(uintptr_t)node->node,
				       .original_node = (void *)(uintptr_t)node->from,
				       .node_type = type,
				       .executable = (void *)node->executable};
	struct abi_resource_data data = {.descriptor = &graph};

	if (!mock.callback || !mock.enabled[ABI_DOMAIN_RESOURCE][id])
		return;
	in_driver_callback++;
	mock.callback(mock.user, ABI_DOMAIN_RESOURCE, id, &data);
	in_driver_callback--;
}

/* Types are told before a node is made, and at no other time. */
EXPORT mock_graph_fn mock_graph;
void mock_graph(uint32_t id, const struct mock_node *node)
{
	if (id == ABI_RESOURCE_GRAPH_NODE_CREATED)
		raise_graph(ABI_RESOURCE_GRAPH_NODE_CREATING, node, node->type);
	raise_graph(id, node, id == ABI_RESOURCE_GRAPH_NODE_CREATING ? node->type : 0);
}

/* The handle of a context is its id. */
EXPORT uint32_t cuptiGetContextId(void *context, uint32_t *ret_id);
uint32_t cuptiGetContextId(void *context, uint32_t *ret_id)
{
	*ret_id = (uint32_t)(uintptr_t)context;
	return ABI_OK;
}

EXPORT mock_context_fn mock_context_end;
void mock_context_end(uint32_t context)
{
	struct abi_resource_data data = {.context = (void *)(uintptr_t)context};

	if (!mock.callback || !mock.enabled[ABI_DOMAIN_RESOURCE][ABI_RESOURCE_CONTEXT_DESTROYED])
		return;
	in_driver_callback++;
	mock.callback(mock.user, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_CONTEXT_DESTROYED, &data);
	in_driver_callback--;
}

static void raise_resource(uint32_t id, uint32_t context, const void *descriptor)
{
	struct abi_resource_data data = {.context = (void *)(uintptr_t)context,
					 .descriptor = (void *)(uintptr_t)descriptor};

	if (!mock.callback || !mock.enabled[ABI_DOMAIN_RESOURCE][id])
		return;
	in_driver_callback++;
	mock.callback(mock.user, ABI_DOMAIN_RESOURCE, id, &data);
	in_driver_callback--;
}

EXPORT mock_context_fn mock_context_begin;
void mock_context_begin(uint32_t context)
{
	raise_resource(ABI_RESOURCE_CONTEXT_CREATED, context, NULL);
}

EXPORT mock_stream_fn mock_stream_end;
void mock_stream_end(const void *stream)
{
	struct abi_resource_data data = {.handle = (void *)(uintptr_t)stream};

	if (!mock.callback || !mock.enabled[ABI_DOMAIN_RESOURCE][ABI_RESOURCE_STREAM_DESTROYED])
		return;
	in_driver_callback++;
	mock.callback(mock.user, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_STREAM_DESTROYED, &data);
	in_driver_callback--;
}

EXPORT mock_module_fn mock_module;
void mock_module(uint32_t context, const struct abi_module_data *module, bool is_loaded)
{
	raise_resource(is_loaded ? ABI_RESOURCE_MODULE_LOADED : ABI_RESOURCE_MODULE_UNLOADING,
		       context, module);
}

EXPORT mock_clone_fn mock_clone;
void mock_clone(uint64_t from, uint64_t to)
{
	const struct mock_node node = {.node = to, .from = from};

	mock_graph(ABI_RESOURCE_GRAPH_NODE_CREATED, &node);
	mock_graph(ABI_RESOURCE_GRAPH_NODE_CLONED, &node);
}

static struct {
	uint64_t node, id;
} moved[16];
static size_t n_moved;

EXPORT mock_move_fn mock_move;
void mock_move(uint64_t node, uint64_t id)
{
	for (size_t i = 0; i < n_moved; i++)
		if (moved[i].node == node) {
			moved[i].id = id;
			return;
		}
	if (n_moved == sizeof(moved) / sizeof(*moved))
		die("too many nodes have moved");
	moved[n_moved].node = node;
	moved[n_moved++].id = id;
}

static uint64_t moved_to(uint64_t node)
{
	for (size_t i = 0; i < n_moved; i++)
		if (moved[i].node == node)
			return moved[i].id;
	return node;
}

EXPORT uint32_t cuptiGetGraphNodeId(void *node, uint64_t *ret_id);
uint32_t cuptiGetGraphNodeId(void *node, uint64_t *ret_id)
{
	*ret_id = moved_to((uintptr_t)node);
	return ABI_OK;
}

EXPORT uint32_t cuptiGetGraphExecId(void *executable, uint32_t *ret_id);
uint32_t cuptiGetGraphExecId(void *executable, uint32_t *ret_id)
{
	*ret_id = (uint32_t)moved_to((uintptr_t)executable);
	return ABI_OK;
}

/* The handle of a graph is its id. */
EXPORT uint32_t cuptiGetGraphId(void *graph, uint32_t *ret_id);
uint32_t cuptiGetGraphId(void *graph, uint32_t *ret_id)
{
	*ret_id = (uint32_t)(uintptr_t)graph;
	return ABI_OK;
}

EXPORT mock_fatal_fn mock_fatal;
void mock_fatal(const char *message)
{
	struct abi_state_data data = {ABI_UNKNOWN, message};

	if (mock.callback && mock.enabled[ABI_DOMAIN_STATE][ABI_STATE_FATAL_ERROR])
		mock.callback(mock.user, ABI_DOMAIN_STATE, ABI_STATE_FATAL_ERROR, &data);
}

static void put_records(const struct mock_op *op, uint32_t id)
{
	struct mock_op whole = *op;

	if (op->kind != ABI_KIND_DEVICE_GRAPH && op->graph && mock.kinds[ABI_KIND_GRAPH_TRACE]) {
		whole.kind = ABI_KIND_GRAPH_TRACE;
		whole.n_records = 1;
		op = &whole;
	}
	pthread_mutex_lock(&mock.lock);
	for (uint32_t i = 0; i < MAX(op->n_records, 1u); i++)
		put_record(op, id);
	pthread_mutex_unlock(&mock.lock);
}

static uint32_t type_of(const struct mock_op *op)
{
	return op->kind == ABI_KIND_MEMCPY   ? ABI_NODE_MEMCPY
	       : op->kind == ABI_KIND_MEMSET ? ABI_NODE_MEMSET
					     : ABI_NODE_KERNEL;
}

static __thread uint32_t newest STATIC_TLS;

EXPORT mock_call_fn mock_call;
uint32_t mock_call(uint32_t cbid, const struct mock_op *op)
{
	const void *stream = (const void *)(uintptr_t)op->stream;
	const void *params[] = {op->kind == ABI_KIND_MEMCPY ? op->dst
				: op->executable            ? op->executable
							    : stream,
				op->src ? op->src : (const void *)(uintptr_t)op->grid,
				op->third ? op->third : (const void *)(uintptr_t)op->bytes, NULL,
				NULL};
	struct abi_call call = {.site = ABI_ENTER,
				.function = driver_name(cbid),
				.params = op->params ? op->params : params,
				.symbol = op->name,
				.context = (void *)(uintptr_t)op->context,
				.context_id = op->context};
	struct mock_op untimed = *op;

	if (mock.slow.tv_nsec)
		nanosleep(&mock.slow, NULL);
	call.correlation = op->as_newest ? newest : atomic_fetch_add(&correlation, 1) + 1;
	if (!op->unseen) {
		newest = call.correlation;
		raise_driver(cbid, &call);
	}
	if (op->inside)
		op->inside();
	if (op->captured)
		mock_graph(ABI_RESOURCE_GRAPH_NODE_CREATED,
			   &(struct mock_node){.node = op->graph_node, .type = type_of(op)});
	else if (op->kind && !op->result && mock.kinds[op->kind]) {
		for (unsigned i = 0; op->kind == ABI_KIND_CONCURRENT_KERNEL &&
				     mock_ranges_launched && i < (op->graph ? op->n_records : 1);
		     i++)
			if (mock_ranges_launched(op->name, op->graph))
				untimed.start_ns = UINT64_MAX;
		put_records(&untimed, op->by_kernel ? 0 : call.correlation);
	}
	call.site = ABI_EXIT;
	call.result = &op->result;
	if (!op->unseen)
		raise_driver(cbid, &call);
	return call.correlation;
}

EXPORT mock_runtime_fn mock_runtime;
void mock_runtime(uint32_t cbid, const char *name, void (*inside)(void))
{
	uint32_t result = 0;
	struct abi_call call = {.site = ABI_ENTER, .function = name};

	call.correlation = atomic_fetch_add(&correlation, 1) + 1;
	raise_call(ABI_DOMAIN_RUNTIME, cbid, &call);
	if (inside)
		inside();
	call.site = ABI_EXIT;
	call.result = &result;
	raise_call(ABI_DOMAIN_RUNTIME, cbid, &call);
}

EXPORT mock_seek_fn mock_seek;
void mock_seek(uint32_t next)
{
	atomic_store(&correlation, next - 1);
}

EXPORT mock_auto_fn mock_auto;
void mock_auto(bool on)
{
	mock.manual = !on;
}

static void complete(size_t i)
{
	struct pending *p = &mock.pending[i];

	set_times(p->buffer->bytes + p->at, p->start_ns, p->end_ns);
	p->buffer->n_incomplete--;
	mock.n_pending--;
	memmove(p, p + 1, (mock.n_pending - i) * sizeof(*p));
}

EXPORT mock_complete_fn mock_complete;
void mock_complete(size_t n, bool newest_first)
{
	pthread_mutex_lock(&mock.lock);
	for (; n > 0 && mock.n_pending > 0; n--)
		complete(newest_first ? mock.n_pending - 1 : 0);
	pthread_cond_signal(&mock.work);
	pthread_mutex_unlock(&mock.lock);
}

EXPORT mock_wait_fn mock_wait;
void mock_wait(void)
{
	if (mock.waiting)
		mock.waiting();
	pthread_mutex_lock(&mock.lock);
	for (size_t i = mock.n_pending; i-- > 0;)
		if (mock.pending[i].end_ns)
			complete(i);
	pthread_cond_signal(&mock.work);
	pthread_mutex_unlock(&mock.lock);
}

EXPORT mock_waiting_fn mock_waiting;
void mock_waiting(void (*fn)(void))
{
	mock.waiting = fn;
}

EXPORT mock_counters_fn mock_counters;
void mock_counters(struct mock_counters *ret)
{
	pthread_mutex_lock(&mock.lock);
	*ret = mock.counters;
	pthread_mutex_unlock(&mock.lock);
}
