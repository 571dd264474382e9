/* SPDX-License-Identifier: MIT */
/* Activity buffers, and what is in them. */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <string.h>

#include "backends/cuda_arena.h"
#include "backends/cuda_copies.h"
#include "backends/cuda_values.h"
#include "backends/cupti.h"
#include "backends/cupti_range_joins.h"
#include "backends/cupti_range_own.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"

/* CUPTI's buffer callbacks have no user argument. */
static struct cupti *the_cupti;

/* Before 12.9 CUPTI must not be refused a buffer: what is over the bound goes here, unread. */
static _Alignas(8) uint8_t discard[POOL_BYTES_MAX];

static const uint32_t enabled_kinds[] = {ABI_KIND_CONCURRENT_KERNEL, ABI_KIND_MEMCPY,
					 ABI_KIND_MEMSET};

/* ---- records ---------------------------------------------------------------------------- */

static const uint8_t copy_directions[ABI_N_COPY_KINDS] = {
	[ABI_COPY_HTOD] = COPY_HOST_TO_DEVICE,   [ABI_COPY_DTOH] = COPY_DEVICE_TO_HOST,
	[ABI_COPY_HTOA] = COPY_HOST_TO_DEVICE,   [ABI_COPY_ATOH] = COPY_DEVICE_TO_HOST,
	[ABI_COPY_ATOA] = COPY_DEVICE_TO_DEVICE, [ABI_COPY_ATOD] = COPY_DEVICE_TO_DEVICE,
	[ABI_COPY_DTOA] = COPY_DEVICE_TO_DEVICE, [ABI_COPY_DTOD] = COPY_DEVICE_TO_DEVICE,
	[ABI_COPY_HTOH] = COPY_HOST_TO_HOST,     [ABI_COPY_PTOP] = COPY_PEER_TO_PEER,
};

static uint8_t memory_kind(unsigned theirs)
{
	static const uint8_t kinds[ABI_N_MEMORY_KINDS] = {
		[ABI_MEMORY_PAGEABLE] = MEMORY_PAGEABLE,
		[ABI_MEMORY_PINNED] = MEMORY_PINNED,
		[ABI_MEMORY_DEVICE] = MEMORY_DEVICE,
		[ABI_MEMORY_ARRAY] = MEMORY_ARRAY,
		[ABI_MEMORY_MANAGED] = MEMORY_MANAGED,
		[ABI_MEMORY_DEVICE_STATIC] = MEMORY_DEVICE,
		[ABI_MEMORY_MANAGED_STATIC] = MEMORY_MANAGED,
	};

	return theirs < ABI_N_MEMORY_KINDS ? kinds[theirs] : MEMORY_UNKNOWN;
}

/* Of kernels, copies and sets: where and when. */
#define PLACE_AND_TIME(kind_, record)                                                              \
	.kind = (kind_), .device = (int32_t)(record)->device, .context = (record)->context,        \
	.stream = (record)->stream, .start_ns = (record)->start_ns, .end_ns = (record)->end_ns
/* Of copies and sets. */
#define MOVED(c, record)                                                                           \
	.bytes = (record)->bytes, .async = (record)->flags & ABI_FLAG_ASYNC,                       \
	.graph = (c)->version >= ABI_VERSION_11_1 ? (record)->graph : 0,                           \
	.graph_node =                                                                              \
		(c)->version >= ABI_VERSION_11_1 && (record)->graph ? (record)->graph_node : 0

/* CUPTI 13.0 has 0 for each kernel, also for one of 512 bytes a thread (measured on an H200), beside what is held of the device's
 * memory for all threads: that is no 0. */
static uint32_t launch_local(const struct abi_kernel *k)
{
	return k->local_per_thread || !k->local_total ? k->local_per_thread : LAUNCH_LOCAL_UNKNOWN;
}

static struct launch_config launch_config(const struct cupti *c, const struct abi_kernel *k)
{
	struct launch_config of = {.registers = k->registers,
				   .static_shared = (uint32_t)k->static_shared,
				   .dynamic_shared = (uint32_t)k->dynamic_shared,
				   .local = launch_local(k)};

	for (unsigned i = 0; i < 3; i++) {
		of.shape.grid[i] = (uint32_t)k->grid[i];
		of.shape.block[i] = (uint32_t)k->block[i];
	}
	/* One block of its own is no cluster. */
	if (c->version >= ABI_VERSION_11_8 && launch_extent(k->cluster) > 1)
		memcpy(of.cluster, k->cluster, sizeof(of.cluster));
	return of;
}

/* One function a kind: fills the activity, returns the correlation id. */
static uint32_t translate_kernel(const struct cupti *c, const void *record, struct activity *a)
{
	const struct abi_kernel *k = record;

	*a = (struct activity){PLACE_AND_TIME(ACTIVITY_KERNEL, k),
			       .name = k->name ? k->name : "<unnamed kernel>",
			       .async = true,
			       .graph = k->graph,
			       .graph_node = k->graph ? k->graph_node : 0,
			       .number = (uint64_t)k->grid_id,
			       .correlation = k->graph ? 0 : k->correlation,
			       .config = launch_config(c, k)};
	return k->correlation;
}

/* Through which channel of the hardware. */
static void add_channel(const struct cupti *c, uint32_t channel, uint32_t type, struct activity *a)
{
	static const uint8_t kinds[] = {[ABI_CHANNEL_COMPUTE] = CHANNEL_COMPUTE,
					[ABI_CHANNEL_ASYNC_MEMCPY] = CHANNEL_COPY,
					[ABI_CHANNEL_DECOMP] = CHANNEL_DECOMPRESS};

	if (c->version < ABI_VERSION_11_6 || type >= ARRAY_SIZE(kinds) || !kinds[type])
		return;
	a->channel_kind = kinds[type];
	a->channel = channel;
}

static uint32_t translate_copy(const struct cupti *c, const void *record, struct activity *a)
{
	const struct abi_copy *m = record;

	*a = (struct activity){PLACE_AND_TIME(ACTIVITY_COPY, m), MOVED(c, m),
			       .src_kind = memory_kind(m->src_kind),
			       .dst_kind = memory_kind(m->dst_kind)};
	if (m->copy_kind < ABI_N_COPY_KINDS)
		a->direction = copy_directions[m->copy_kind];
	if (c->version >= ABI_VERSION_12_9 && m->n_copies > 1)
		a->n_besides = m->n_copies - 1;
	add_channel(c, m->channel, m->channel_type, a);
	return m->correlation;
}

static uint32_t translate_peer_copy(const struct cupti *c, const void *record, struct activity *a)
{
	const struct abi_peer_copy *m = record;

	*a = (struct activity){
		PLACE_AND_TIME(ACTIVITY_COPY, m),    MOVED(c, m),
		.direction = COPY_PEER_TO_PEER,      .src_device = m->src_device,
		.dst_device = m->dst_device,         .src_kind = memory_kind(m->src_kind),
		.dst_kind = memory_kind(m->dst_kind)};
	add_channel(c, m->channel, m->channel_type, a);
	return m->correlation;
}

static uint32_t translate_set(const struct cupti *c, const void *record, struct activity *a)
{
	const struct abi_set *m = record;

	*a = (struct activity){PLACE_AND_TIME(ACTIVITY_SET, m), MOVED(c, m),
			       .src_kind = memory_kind(m->memory_kind),
			       .dst_kind = memory_kind(m->memory_kind)};
	return m->correlation;
}

static uint32_t translate_sync(const struct cupti *c, const void *record, struct activity *a)
{
	static const char *const names[ABI_N_SYNC_TYPES] = {
		[ABI_SYNC_EVENT] = "cuEventSynchronize",
		[ABI_SYNC_STREAM] = "cuStreamSynchronize",
		[ABI_SYNC_CONTEXT] = "cuCtxSynchronize",
	};
	const struct abi_sync *s = record;

	*a = (struct activity){.kind = ACTIVITY_SYNC,
			       .name = s->type < ABI_N_SYNC_TYPES ? names[s->type] : NULL,
			       .start_ns = s->start_ns,
			       .end_ns = s->end_ns,
			       .uncounted = true};
	return s->correlation;
}

/* A graph that begins with a node on the host is shown on the device that it ends on. */
static uint32_t translate_graph(const struct cupti *c, const void *record, struct activity *a)
{
	const struct abi_graph *g = record;

	*a = (struct activity){PLACE_AND_TIME(ACTIVITY_GRAPH, g), .async = true, .graph = g->graph};
	if (g->device != ABI_ON_HOST)
		return g->correlation;
	a->device = c->version >= ABI_VERSION_12_9 ? (int32_t)g->end_device : 0;
	a->context = c->version >= ABI_VERSION_12_9 ? g->end_context : 0;
	if (a->device == ABI_ON_HOST)
		a->device = 0;
	return g->correlation;
}

/* It belongs to the newest launch of the graph that launched it. */
static uint32_t translate_device_graph(const struct cupti *c, const void *record,
				       struct activity *a)
{
	const struct abi_device_graph *g = record;

	(void)c;
	cupti_graphs_pass(g->launcher, g->graph);
	*a = (struct activity){.kind = ACTIVITY_GRAPH,
			       .start_ns = g->start_ns,
			       .end_ns = g->end_ns,
			       .device = (int32_t)g->device,
			       .context = g->context,
			       .stream = (uint32_t)(g->stream ^ g->stream >> 32),
			       .async = true,
			       .graph = g->graph};
	return 0;
}

static uint32_t (*const translate[ABI_N_KINDS])(const struct cupti *, const void *,
						struct activity *) = {
	[ABI_KIND_KERNEL] = translate_kernel,     [ABI_KIND_CONCURRENT_KERNEL] = translate_kernel,
	[ABI_KIND_MEMCPY] = translate_copy,       [ABI_KIND_MEMCPY2] = translate_peer_copy,
	[ABI_KIND_MEMSET] = translate_set,        [ABI_KIND_SYNCHRONIZATION] = translate_sync,
	[ABI_KIND_GRAPH_TRACE] = translate_graph, [ABI_KIND_DEVICE_GRAPH] = translate_device_graph,
};

/* ---- memory ---- */

/* A library that does not tell of pools has none of this. */
static void add_pool(const struct cupti *c, const struct abi_memory *m, struct memory_event *e)
{
	if (m->pool_type != ABI_POOL_LOCAL && m->pool_type != ABI_POOL_IMPORTED)
		return;
	e->pool = m->pool;
	if (m->pool_type == ABI_POOL_IMPORTED || c->version < ABI_VERSION_11_6)
		return;
	e->pool_bytes = m->pool_bytes;
	e->pool_used = m->pool_used;
}

static bool is_static(uint32_t kind)
{
	return kind == ABI_MEMORY_DEVICE_STATIC || kind == ABI_MEMORY_MANAGED_STATIC;
}

static void translate_memory(const struct cupti *c, const void *record, struct memory_event *e)
{
	const struct abi_memory *m = record;

	*e = (struct memory_event){
		.operation =
			m->operation == ABI_MEMORY_ALLOCATED ? MEMORY_ALLOCATED : MEMORY_RELEASED,
		.kind = memory_kind(m->memory_kind),
		.launch = cupti_launches_find(&c->launches, m->correlation),
		.device = (int32_t)m->device,
		.context = m->context,
		.stream = m->async ? m->stream : 0,
		.correlation = m->correlation,
		.async = m->async,
		.is_static = is_static(m->memory_kind),
		.at_ns = m->at_ns,
		.address = m->address,
		.bytes = m->bytes,
	};
	add_pool(c, m, e);
}

static void translate_pool(const struct cupti *c, const void *record, struct memory_event *e)
{
	const struct abi_memory_pool *p = record;
	bool is_known = p->pool_type == ABI_POOL_LOCAL && c->version >= ABI_VERSION_11_8;

	*e = (struct memory_event){.operation = MEMORY_POOL,
				   .kind = MEMORY_DEVICE,
				   .device = (int32_t)p->device,
				   .at_ns = p->at_ns,
				   .pool = is_known ? p->pool : 0};
	if (p->operation == ABI_POOL_DESTROYED || !is_known)
		return;
	e->pool_bytes = p->bytes;
	e->pool_used = p->used;
}

static void see_device(struct cupti *c, int32_t device)
{
	uint64_t bit = UINT64_C(1) << (device & 63);

	if (!(atomic_load_explicit(&c->devices_seen, memory_order_relaxed) & bit))
		atomic_fetch_or_explicit(&c->devices_seen, bit, memory_order_relaxed);
}

/* Has it usable times? */
static bool is_timed(const struct cupti *c, const struct activity *a, uint32_t correlation,
		     enum loss *ret_loss)
{
	if (!a->start_ns || !a->end_ns)
		*ret_loss = LOSS_ZERO_TIME;
	else if (a->end_ns < a->start_ns)
		*ret_loss = LOSS_REVERSED_TIME;
	else if (cupti_launches_is_early(&c->launches, a, correlation))
		*ret_loss = LOSS_EARLY;
	else
		return true;
	return false;
}

/* What is launched by a kernel has no number: it belongs to the newest launch of its graph. */
static void find_launch(struct cupti *c, struct activity *a, uint32_t correlation)
{
	if (_likely_(correlation || !a->graph)) {
		cupti_launches_resolve(c, a, correlation);
		return;
	}
	a->uncounted = a->by_kernel = true;
	if (c->launches.ring)
		a->launch = cupti_graphs_newest(a->graph);
}

/* Its graph was launched, but not by the launch that it names. */
static void disown(struct cupti *c, struct activity *a)
{
	c->sink->ops->lose(c->sink, LOSS_UNMATCHED, 1);
	a->uncounted = true;
}

/* A record without usable times is a loss, and the end of its launch. */
static void deliver(struct cupti *c, struct activity *a, uint32_t correlation)
{
	const struct activity_sink_ops *ops = c->sink->ops;
	enum loss loss;
	bool is_whole;

	if (_unlikely_(c->ranges) && a->kind == ACTIVITY_KERNEL &&
	    range_own_record(c, a, correlation))
		return;
	if (a->kind == ACTIVITY_SYNC) {
		/* Only what the host waited in: not a query, and not what waits inside another call. */
		a->launch = cupti_launches_find(&c->launches, correlation);
		if (!a->launch)
			return;
	} else {
		if (_unlikely_(c->has_wrong_graphs && a->graph))
			disown(c, a);
		else
			find_launch(c, a, correlation);
		see_device(c, a->device);
	}
	is_whole = is_timed(c, a, correlation, &loss);
	if (_unlikely_(c->ranges) && a->kind == ACTIVITY_KERNEL && !a->graph &&
	    range_join_record(c, a, correlation, is_whole))
		return;
	if (_likely_(is_whole)) {
		ops->record(c->sink, a);
		return;
	}
	ops->lose(c->sink, loss, 1);
	if (!a->uncounted)
		ops->unlaunch(c->sink, 1);
}

static void deliver_memory(struct cupti *c, const struct abi_record *record)
{
	struct memory_event e;

	if (record->kind == ABI_KIND_MEMORY2)
		translate_memory(c, record, &e);
	else if (record->kind == ABI_KIND_MEMORY_POOL)
		translate_pool(c, record, &e);
	else if (!cupti_unified_translate(record, &e))
		return;
	if (!e.at_ns) { /* in the order in which they come */
		c->sink->ops->lose(c->sink, LOSS_ZERO_TIME, 1);
		e.at_ns = clock_realtime_ns();
	}
	if (e.device >= 0) /* what is the host's may be of none */
		see_device(c, e.device);
	if (c->sink->ops->memory && !cuda_values_owns(e.address) && !cuda_copies_owns(e.address) &&
	    !cuda_arena_owns(e.address))
		c->sink->ops->memory(c->sink, &e);
}

static void read_records(struct cupti *c, uint8_t *buffer, size_t valid)
{
	struct abi_record *record = NULL;

	while (c->api.cuptiActivityGetNextRecord(buffer, valid, &record) == ABI_OK) {
		struct activity a;
		uint32_t correlation;

		if (record->kind == ABI_KIND_MEMORY2 || record->kind == ABI_KIND_MEMORY_POOL ||
		    record->kind == ABI_KIND_UNIFIED)
			deliver_memory(c, record);
		if (record->kind >= ABI_N_KINDS || !translate[record->kind])
			continue;
		correlation = translate[record->kind](c, record, &a);
		deliver(c, &a, correlation);
	}
}

/* The count is CUPTI's and restarts with each question. What was dropped will not come: it is not
 * in flight either (some of it may be copies, which are not counted there: the reader clamps). */
static void lose_dropped(struct cupti *c, size_t n)
{
	if (!n)
		return;
	c->sink->ops->lose(c->sink, LOSS_DROPPED, n);
	if (atomic_load_explicit(&c->launches.complete, memory_order_relaxed))
		c->sink->ops->unlaunch(c->sink, n);
}

static void count_dropped(struct cupti *c)
{
	size_t n = 0;

	if (c->api.cuptiActivityGetNumDroppedRecords &&
	    c->api.cuptiActivityGetNumDroppedRecords(NULL, 0, &n) == ABI_OK)
		lose_dropped(c, n);
}

/* ---- buffers ---------------------------------------------------------------------------- */

/* On the launching thread. A second one is a second calling context; the callbacks are switched on
 * by the next flush, because CUPTI must not be called from here. */
static void see_thread(struct cupti *c)
{
	if (cupti_thread.known == c->session)
		return;
	cupti_thread.known = c->session;
	if (atomic_fetch_add_explicit(&c->n_threads, 1, memory_order_relaxed) == 1)
		atomic_store(&c->want_attribution, true);
}

static void refuse(struct cupti *c, uint8_t **buffer, size_t *size)
{
	bool may_refuse = c->version >= ABI_VERSION_12_9;

	*buffer = may_refuse ? NULL : discard;
	*size = may_refuse ? 0 : sizeof(discard);
}

static void requested(uint8_t **buffer, size_t *size, size_t *n_records_max)
{
	struct cupti *c = the_cupti;

	*n_records_max = 0;
	if (!cupti_running(c)) {
		refuse(c, buffer, size);
		return;
	}
	see_thread(c);
	cupti_connect(c, CUPTI_FIRST_BUFFER);
	*buffer = cupti_pool_take(&c->pool, &cupti_thread.lease, clock_monotonic_ns(), size);
	if (*buffer)
		return;
	refuse(c, buffer, size);
	c->sink->ops->lose(c->sink, LOSS_BUFFERS_FULL, 1);
}

/* On CUPTI's worker or within our FlushAll, several at a time. */
static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct cupti *c = the_cupti;
	bool running = cupti_running(c);

	if (buffer == discard) {
		if (running) /* several threads wrote over each other: how many, about */
			lose_dropped(c, valid / ABI_KERNEL_BYTES);
	} else if (buffer) {
		atomic_fetch_add(&c->n_reading, 1);
		if (running && valid > 0 && cupti_pool_owns(&c->pool, buffer))
			read_records(c, buffer, valid);
		atomic_fetch_sub(&c->n_reading, 1);
		cupti_pool_return(&c->pool, buffer, valid);
	}
	if (running)
		count_dropped(c);
}

/* ---- life ------------------------------------------------------------------------------- */

/* A library that does not know an attribute keeps its own way, which we can live with. */
static void set_attribute(struct cupti *c, uint32_t attribute, uint8_t on)
{
	size_t size = sizeof(on);
	uint32_t result;

	if (!c->api.cuptiActivitySetAttribute)
		return;
	result = c->api.cuptiActivitySetAttribute(attribute, &size, &on);
	if (result != ABI_OK)
		log_debug(1, "cupti", "attribute %u: error %u", attribute, result);
}

/* Graphs that kernels launch have records where graphs are recorded whole, if that is said before. It costs others nothing
 * (514 ns a node of a graph of 300 kernels that do nothing, 513 without, on an H200). */
static void enable_device_graphs(struct cupti *c)
{
	c->device_graphs = c->api.cuptiActivityEnableDeviceGraph &&
			   c->api.cuptiActivityEnableDeviceGraph(1) == ABI_OK;
}

/* First of all kinds, and for the whole run: with it on, nodes of graphs have no records. */
static void enable_whole_graphs(struct cupti *c)
{
	uint32_t result;
	char text[192];

	enable_device_graphs(c);
	result = c->api.cuptiActivityEnable(ABI_KIND_GRAPH_TRACE);
	c->whole_graphs = result == ABI_OK;
	if (c->whole_graphs)
		return;
	snprintf(text, sizeof(text),
		 "CUDA graphs are recorded by their nodes, not whole: this CUPTI (API %u) refuses "
		 "records of whole graphs (error %u); that of CUDA 12 or later has them",
		 c->version, result);
	c->sink->ops->note(c->sink, text);
}

static uint32_t enable(struct cupti *c)
{
	uint32_t result = c->api.cuptiActivityRegisterCallbacks(requested, completed);

	if (result == ABI_OK && c->whole_graphs)
		enable_whole_graphs(c);
	for (size_t i = 0; i < ARRAY_SIZE(enabled_kinds) && result == ABI_OK; i++)
		result = c->api.cuptiActivityEnable(enabled_kinds[i]);
	return result;
}

/* Without it there is all the rest. */
static void enable_sync(struct cupti *c)
{
	uint32_t result = c->api.cuptiActivityEnable(ABI_KIND_SYNCHRONIZATION);
	char text[160];

	if (result == ABI_OK) {
		/* Queries that find work unfinished have a record each, unless told otherwise. */
		if (c->api.cuptiActivityEnableAllSyncRecords)
			c->api.cuptiActivityEnableAllSyncRecords(0);
		return;
	}
	c->sync = false;
	snprintf(text, sizeof(text),
		 "waits for CUDA are not recorded: CUPTI refuses them (error %u)", result);
	c->sink->ops->note(c->sink, text);
}

/* … and without this: a library from before CUDA 11.2 does not know of it, and none from before CUDA 11.3 of pools. */
static void enable_memory(struct cupti *c)
{
	uint32_t result = c->api.cuptiActivityEnable(ABI_KIND_MEMORY2);
	char text[160];

	c->memory = result == ABI_OK;
	if (c->memory) {
		result = c->api.cuptiActivityEnable(ABI_KIND_MEMORY_POOL);
		if (result == ABI_OK)
			return;
	}
	snprintf(text, sizeof(text), "%s: this CUPTI (API %u) refuses records of them (error %u)",
		 c->memory ? "sizes of memory pools are not recorded" : NO_MEMORY_EVENTS,
		 c->version, result);
	c->sink->ops->note(c->sink, text);
}

static void set_buffers(struct cupti *c, uint8_t ours)
{
	set_attribute(c, ABI_ATTRIBUTE_ZEROED_BUFFER, ours);
	if (c->version >= ABI_VERSION_12_3)
		set_attribute(c, ABI_ATTRIBUTE_PER_THREAD_BUFFER, ours);
	/* Each node of a graph that is recorded whole costs its device 0.1 us; into memory of the host, 0.05 us.
	 * Nothing is gained where each node is recorded (bench/RESULTS.md). */
	if (c->whole_graphs)
		set_attribute(c, ABI_ATTRIBUTE_HOST_PINNED, ours);
}

void cupti_activity_restore(struct cupti *c)
{
	set_buffers(c, 0);
}

int cupti_activity_start(struct cupti *c)
{
	uint32_t result;
	char text[160];

	the_cupti = c;
	set_buffers(c, 1);
	cupti_pool_fault_in(&c->pool);
	result = enable(c);
	if (result == ABI_OK) {
		if (c->sync)
			enable_sync(c);
		if (c->memory)
			enable_memory(c);
		cupti_unified_again(c);
		return 0;
	}
	cupti_activity_stop(c);
	snprintf(text, sizeof(text),
		 "no CUDA work is recorded: CUPTI refuses activity records (error %u)", result);
	c->sink->ops->note(c->sink, text);
	return -EIO;
}

void cupti_activity_stop(struct cupti *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(enabled_kinds); i++)
		c->api.cuptiActivityDisable(enabled_kinds[i]);
	if (c->sync)
		c->api.cuptiActivityDisable(ABI_KIND_SYNCHRONIZATION);
	if (c->memory) {
		c->api.cuptiActivityDisable(ABI_KIND_MEMORY2);
		c->api.cuptiActivityDisable(ABI_KIND_MEMORY_POOL);
	}
	if (c->whole_graphs)
		c->api.cuptiActivityDisable(ABI_KIND_GRAPH_TRACE);
	cupti_unified_stop(c);
}

/* Buffers whose records are all complete come back; with force also the others, whose unfinished
 * records have no times: first without, so that they are as few as possible. */
int cupti_activity_flush(struct cupti *c, bool force)
{
	uint32_t result;

	/* What the driver keeps of unified memory has no buffer before it is asked for. */
	if (atomic_load_explicit(&c->pool.n_out, memory_order_acquire) == 0 &&
	    atomic_load(&c->unified) != CUPTI_UNIFIED_ON)
		return 0;
	result = c->api.cuptiActivityFlushAll(0);
	if (force && atomic_load_explicit(&c->pool.n_out, memory_order_acquire) > 0)
		result = c->api.cuptiActivityFlushAll(ABI_FLUSH_FORCED);
	return result == ABI_OK ? 0 : -EIO;
}
