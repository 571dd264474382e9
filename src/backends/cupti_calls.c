/* SPDX-License-Identifier: MIT */
/* Driver callbacks: to which calling context a launch belongs, and which launches are in flight.
 *
 * At ENTER of a launch the sink gives the launch context of this thread and one relaxed 8-byte
 * store puts it beside the correlation id; the record that arrives later carries that id.
 *
 * In flight are launches that will certainly have a record and have none yet:
 *   kernel       counted at ENTER; its record ends it
 *   graph        counted at ENTER; its first record ends it, further ones are `uncounted`
 *   copy, set    not counted (a copy may have no record, or several): records are `uncounted`
 *   wait         not counted; listened to where waits are recorded
 *   allocation   not counted; listened to where allocations are recorded
 *   captured     a launch into a capturing stream makes a graph node instead of work. CUPTI reports
 *                the node (GRAPHNODE_CREATED) on this thread between ENTER and EXIT, whatever the
 *                capture mode and however the stream came to be captured: the launch is taken back
 *   failed       taken back at EXIT
 *
 * Callbacks cost something at each launch (EXIT comes with ENTER and cannot be left out), so they
 * are off until there is a second calling context. Launches before that have no entry in the ring,
 * which is no loss: they belong to the root. */
#include "config.h" // IWYU pragma: keep

#include <stdio.h>

#include "backends/copy_pairs.h"
#include "backends/cuda_arena.h"
#include "backends/cuda_copies.h"
#include "backends/cuda_values.h"
#include "backends/cupti.h"
#include "backends/cupti_loads.h"
#include "backends/cupti_range_own.h"
#include "backends/cupti_ranges.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"

enum call_class {
	CALL_OTHER = 0,
	CALL_KERNEL,
	CALL_GRAPH,
	CALL_COPY,
	CALL_FLAT,
	CALL_FLAT_DOWN,
	CALL_SYNC,
	/* from here on: they launch nothing */
	CALL_ALLOC,
	CALL_BEGIN,
	CALL_END,
	CALL_MAKE,
	CALL_MAKE_FLAGS,
	CALL_MAKE_PARAMS,
	CALL_NODE,
	CALL_KERNELS,
	CALL_NODES,
	CALL_UPDATE,
	CALL_ADD_KERNEL_V1,
	CALL_ADD_KERNEL,
	CALL_ADD_NODE,
	CALL_ADD_NODE_V2,
	CALL_LOAD,
	CALL_LOAD_FILE,
	CALL_NAMED,
	CALL_SAME,
	CALL_UNLOAD,
	CALL_PROFILER_ON,
	CALL_PROFILER_OFF,
	CALL_DESTROY,
};

static const uint8_t call_classes[ABI_N_CALLS] = {
#define _(name, number, class) [number] = CALL_##class,
	ABI_CALLS(_)
#undef _
};

/* ---- launches --------------------------------------------------------------------------- */

static inline unsigned pattern(const struct cupti *c, const struct abi_call *call,
			       enum call_class class)
{
	const struct abi_flat_copy *copy = call->params;

	if (_unlikely_(c->ranges) && class == CALL_KERNEL)
		return range_own_pattern(call);
	if ((class != CALL_FLAT && class != CALL_FLAT_DOWN) || !copy)
		return 0;
	return copy_pairs_see(copy->dst, copy->src, copy->bytes, class == CALL_FLAT_DOWN);
}

static uint64_t n_warps(const struct abi_launch_shape *s)
{
	uint64_t n_threads = s ? (uint64_t)s->block[0] * s->block[1] * s->block[2] : 0;

	return s ? (n_threads + 31) / 32 * s->grid[0] * s->grid[1] * s->grid[2] : 0;
}

/* A kernel that is launched, or will be as a node of a graph, may have scopes within. */
static void give_arena(struct cupti *c, const struct abi_call *call, const void *function,
		       uint64_t warps)
{
	const struct cuda_arena_launch launch = {.context = call->context,
						 .context_id = call->context_id,
						 .function = function,
						 .n_warps = warps};
	const char *why;
	bool is_due;

	if (!cuda_arena_launch(&launch, &why, &is_due))
		cupti_modules_missed(c, why);
	if (is_due)
		c->sink->ops->slices_due(c->sink, false);
}

static void give_launched(struct cupti *c, const struct abi_call *call)
{
	const struct cupti_launched l = cupti_launched(&cupti_thread);

	give_arena(c, call, l.function, n_warps(l.shape));
}

static inline void enter(struct cupti *c, uint32_t id, const struct abi_call *call,
			 enum call_class class)
{
	const struct activity_sink_ops *ops = c->sink->ops;
	uint32_t correlation = call->correlation, launch = ops->launch(c->sink, call->symbol);

	if (class == CALL_GRAPH && ops->graph_launch)
		launch = ops->graph_launch(c->sink);
	cupti_launches_time(&c->launches, correlation);
	cupti_launches_put(&c->launches, correlation, launch, pattern(c, call, class));
	if (class >= CALL_COPY) {
		ops->unlaunch(c->sink, 1);
		if (_unlikely_(c->ranges) && class != CALL_SYNC)
			cupti_ranges_enter(c, call, RANGED_COPY, launch);
		return;
	}
	cupti_thread.launching_symbol = call->symbol;
	cupti_thread.launching_params = call->params;
	cupti_thread.launching_call = id;
	cupti_thread.launching = correlation;
	cupti_thread.launching_graph = class == CALL_GRAPH;
	cupti_thread.launched = correlation;
	if (_unlikely_(atomic_load_explicit(&c->pc_sampling, memory_order_relaxed)) &&
	    !cupti_pc_is_known(call->context))
		cupti_pc_launch(c, call->context);
	if (class == CALL_GRAPH) {
		cupti_launches_graph(&c->launches, correlation);
		if (call->params)
			cupti_graphs_launch(*(void *const *)call->params, launch);
	}
	if (_unlikely_(cuda_arena_is_wanted()) && class == CALL_KERNEL)
		give_launched(c, call);
	if (_unlikely_(c->ranges))
		cupti_ranges_enter(c, call, class == CALL_KERNEL ? RANGED_KERNEL : RANGED_GRAPH,
				   launch);
}

/* What it costs does not matter so much: these are rare. */
static void allocate(struct cupti *c, const struct abi_call *call)
{
	if (call->site == ABI_ENTER && c->sink->ops->allocating)
		cupti_launches_put(&c->launches, call->correlation,
				   c->sink->ops->allocating(c->sink), 0);
}

static inline void leave(struct cupti *c, const struct abi_call *call)
{
	struct cupti_thread *t = &cupti_thread;
	bool failed = call->result && *(const uint32_t *)call->result != 0;

	if (_unlikely_(c->ranges))
		cupti_ranges_leave(c, call, failed, t->launching == call->correlation);
	if (_unlikely_(failed) && t->launching && t->launching == call->correlation)
		cupti_launches_take_back(c);
	t->launching = 0;
}

/* The context takes its records away with it. Not forced: a context may have other users. */
static void destroy(struct cupti *c, const struct abi_call *call)
{
	bool begins = call->site == ABI_ENTER;

	if (begins && cuda_arena_is_used())
		c->sink->ops->slices_due(c->sink, true);
	if (cuda_arena_is_wanted())
		cuda_arena_hold(begins);
	if (!begins)
		return;
	cuda_values_forget();
	cuda_copies_forget();
	cupti_functions_unload(call);
	cupti_activity_flush(c, false);
}

static void count_capture_end(struct cupti *c)
{
	int n = atomic_load(&c->n_capturing);

	while (n > 0 && !atomic_compare_exchange_weak(&c->n_capturing, &n, n - 1))
		;
}

/* Puts a stream where another one is, which is the first such place; false: there is none. */
static bool capturing_put(struct cupti *c, void *old, void *stream)
{
	for (size_t i = 0; i < CUPTI_CAPTURES; i++) {
		void *is = old;

		if (atomic_compare_exchange_strong(&c->capturing[i], &is, stream))
			return true;
	}
	return false;
}

/* From before a stream is captured until it is no longer: what fails to begin has not begun. Of those that were seen to
 * begin. */
static void count_capture(struct cupti *c, const struct abi_call *call, bool on, uint32_t result)
{
	void *stream = call->params ? *(void *const *)call->params : NULL;

	if (on && call->site == ABI_ENTER) {
		atomic_fetch_add(&c->n_capturing, 1);
		if (_unlikely_(c->ranges))
			cupti_ranges_capture(c);
	} else if (call->site == ABI_EXIT && on && result == ABI_CALL_OK) {
		if (stream)
			capturing_put(c, NULL, stream);
	} else if (call->site == ABI_EXIT && (on || result != ABI_CALL_WRONG_THREAD)) {
		if (!on && stream)
			capturing_put(c, stream, NULL);
		count_capture_end(c);
	}
}

/* Its capture ends with it, and nobody calls for that. */
static void on_stream_destroyed(struct cupti *c, const struct abi_resource_data *data)
{
	if (data->handle && capturing_put(c, data->handle, NULL))
		count_capture_end(c);
}

/* A stream is captured by this thread from now on, or no longer: an end that fails ends it, but where the thread may
 * not. The stream is the first of the parameters of all these calls. */
static void capture(struct cupti *c, const struct abi_call *call, bool on)
{
	uint32_t result = call->result ? *(const uint32_t *)call->result : ABI_CALL_OK;
	void *const *stream = call->params;

	count_capture(c, call, on, result);
	if (call->site != ABI_EXIT || !stream || !c->sink->ops->capturing)
		return;
	if (on ? result == ABI_CALL_OK : result != ABI_CALL_WRONG_THREAD)
		c->sink->ops->capturing(c->sink, *stream, on);
}

/* What lies between the calls, and not the calls. */
static void profiler(struct cupti *c, const struct abi_call *call, bool on)
{
	if (call->site == (on ? ABI_EXIT : ABI_ENTER) && c->sink->ops->profiler)
		c->sink->ops->profiler(c->sink, on);
}

static uint64_t make_flags(const struct abi_call *call, enum call_class class)
{
	const void *const *params = call->params;

	if (!params || class == CALL_MAKE)
		return 0;
	if (class == CALL_MAKE_FLAGS)
		return (uintptr_t)params[2];
	return params[2] ? *(const uint64_t *)params[2] : 0;
}

static void make_graph(struct cupti *c, const struct abi_call *call, enum call_class class)
{
	bool is_begin = call->site == ABI_ENTER;

	cupti_graphs_making(&cupti_thread, is_begin);
	if (is_begin && !c->device_graphs && make_flags(call, class) & ABI_GRAPH_BY_DEVICE)
		c->sink->ops->note(
			c->sink,
			"the program makes CUDA graphs for kernels to launch: CUPTI has no "
			"records by node of what runs in them then; --graphs whole has how often and how "
			"long they run");
}

/* The parameters of a node of any kind. */
static const struct abi_kernel_node *kernel_of(const struct abi_any_node *node)
{
	return node && node->type == ABI_NODE_KERNEL ? &node->kernel : NULL;
}

/* The program adds a node to a graph by itself. */
static void add_node(struct cupti *c, const struct abi_call *call, enum call_class class)
{
	const struct abi_add_node *add = call->params;
	const struct abi_add_node_v2 *add_v2 = call->params;
	const struct abi_kernel_node *node = NULL;

	if (call->site == ABI_EXIT || !call->params)
		node = NULL;
	else if (class == CALL_ADD_NODE_V2)
		node = kernel_of(add_v2->params);
	else if (class == CALL_ADD_NODE)
		node = kernel_of(add->params);
	else
		node = add->params;
	cupti_graphs_add(&cupti_thread, node, class != CALL_ADD_KERNEL_V1);
	if (_unlikely_(cuda_arena_is_wanted()) && node)
		give_arena(c, call, abi_node_function(node, class != CALL_ADD_KERNEL_V1), 0);
}

/* Records of launches before this are of what the graph was. */
static void update(struct cupti *c, const struct abi_call *call)
{
	if (cupti_graphs_update(c, call))
		cupti_activity_flush(c, false);
}

static void on_other(struct cupti *c, uint32_t id, const struct abi_call *call,
		     enum call_class class)
{
	switch (class) {
	case CALL_ALLOC:
		return allocate(c, call);
	case CALL_BEGIN:
	case CALL_END:
		return capture(c, call, class == CALL_BEGIN);
	case CALL_MAKE:
	case CALL_MAKE_FLAGS:
	case CALL_MAKE_PARAMS:
		return make_graph(c, call, class);
	case CALL_NODE:
		return cupti_graphs_change(c, call, GRAPH_NODE_CHANGED);
	case CALL_KERNELS:
		return cupti_graphs_change(c, call, GRAPH_KERNELS_CHANGED);
	case CALL_NODES:
		return cupti_graphs_change(c, call, GRAPH_NODES_CHANGED);
	case CALL_UPDATE:
		return update(c, call);
	case CALL_ADD_KERNEL_V1:
	case CALL_ADD_KERNEL:
	case CALL_ADD_NODE:
	case CALL_ADD_NODE_V2:
		return add_node(c, call, class);
	case CALL_LOAD:
	case CALL_LOAD_FILE:
		return cupti_loads_call(c, id, call, class == CALL_LOAD_FILE);
	case CALL_NAMED:
		return cupti_functions_named(call);
	case CALL_SAME:
		return cupti_functions_same(call);
	case CALL_UNLOAD:
		cuda_arena_unload();
		cupti_loads_unload(call);
		return cupti_functions_unload(call);
	case CALL_PROFILER_ON:
	case CALL_PROFILER_OFF:
		return profiler(c, call, class == CALL_PROFILER_ON);
	case CALL_DESTROY:
		return destroy(c, call);
	default: /* launches, and what nobody listens to */
		return;
	}
}

static inline void on_driver(struct cupti *c, uint32_t id, const struct abi_call *call)
{
	enum call_class class = id < ABI_N_CALLS ? call_classes[id] : CALL_OTHER;

	if (_unlikely_(cuda_arena_is_wanted()) && cuda_arena_is_giving())
		return;
	if (_unlikely_(class == CALL_OTHER || class >= CALL_ALLOC)) {
		on_other(c, id, call, class);
	} else if (_unlikely_(c->ranges) && range_own_is_within()) {
		return;
	} else if (call->site == ABI_ENTER) {
		enter(c, id, call, class);
	} else {
		leave(c, call);
	}
}

/* What was allocated in it goes with it. */
static void on_context_destroyed(struct cupti *c, const struct abi_resource_data *data)
{
	struct memory_event e = {.operation = MEMORY_GONE, .at_ns = clock_realtime_ns()};

	if (c->ranges && data)
		cupti_ranges_end(c, data->context);
	if (data) {
		cupti_pc_context_ends(c, data->context);
		cuda_arena_gone(data->context);
	}
	if (c->memory && data && c->sink->ops->memory && c->api.cuptiGetContextId &&
	    c->api.cuptiGetContextId(data->context, &e.context) == ABI_OK)
		c->sink->ops->memory(c->sink, &e);
}

static void on_module(struct cupti *c, const struct abi_resource_data *data, bool is_loaded)
{
	/* By a launch that is under way: it is too late to write into it. */
	if (is_loaded && cupti_modules_loaded(c, data->descriptor) && cupti_thread.launching &&
	    !cuda_arena_is_giving())
		cupti_modules_missed(
			c,
			"they were loaded by the launch itself (--kernel-scopes all has them loaded before)");
	cupti_pc_module(c, data, is_loaded);
}

static void on_resource(struct cupti *c, uint32_t id, const struct abi_resource_data *data)
{
	if (id == ABI_RESOURCE_CONTEXT_CREATED && data)
		cupti_pc_context(c, data->context);
	else if ((id == ABI_RESOURCE_MODULE_LOADED || id == ABI_RESOURCE_MODULE_UNLOADING) && data)
		on_module(c, data, id == ABI_RESOURCE_MODULE_LOADED);
	else if (id == ABI_RESOURCE_STREAM_DESTROYED && data)
		on_stream_destroyed(c, data);
	else if (id == ABI_RESOURCE_CONTEXT_DESTROYED)
		on_context_destroyed(c, data);
	else if (id == ABI_RESOURCE_INIT_FINISHED)
		cupti_connect(c, CUPTI_DRIVER_READY);
	else
		cupti_graphs_on(c, id, data ? data->descriptor : NULL);
}

static void on_fatal(struct cupti *c, const struct abi_state_data *state)
{
	char text[256];

	if (atomic_exchange(&c->phase, CUPTI_DEAD) != CUPTI_RUNNING)
		return;
	snprintf(text, sizeof(text),
		 "CUPTI stopped after a fatal error (%u%s%.160s): CUDA work from "
		 "here on is not recorded",
		 state->result, state->message ? ": " : "", state->message ? state->message : "");
	c->sink->ops->note(c->sink, text);
}

/* While CUPTI is left to another one nothing is to be launched; what has begun ends as ours. */
static bool is_ours(const struct cupti *c, uint32_t domain, uint32_t id, const void *data)
{
	const struct abi_call *call = data;

	if (!cupti_running(c))
		return false;
	if (domain != ABI_DOMAIN_DRIVER || call->site != ABI_ENTER || id >= ABI_N_CALLS ||
	    call_classes[id] == CALL_OTHER || call_classes[id] >= CALL_BEGIN)
		return true;
	return cupti_launches_wait(c);
}

void cupti_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
	struct cupti *c = user;

	if (_unlikely_(atomic_load_explicit(&c->phase, memory_order_relaxed) != CUPTI_RUNNING) &&
	    !is_ours(c, domain, id, data))
		return;
	if (_likely_(domain == ABI_DOMAIN_DRIVER))
		on_driver(c, id, data);
	else if (domain == ABI_DOMAIN_RESOURCE)
		on_resource(c, id, data);
	else if (domain == ABI_DOMAIN_STATE && id == ABI_STATE_FATAL_ERROR)
		on_fatal(c, data);
}

bool cupti_call_launches(uint32_t id)
{
	return id < ABI_N_CALLS && call_classes[id] != CALL_OTHER && call_classes[id] < CALL_BEGIN;
}

bool cupti_call_waits(uint32_t id)
{
	return id < ABI_N_CALLS && call_classes[id] == CALL_SYNC;
}

/* ---- on and off ------------------------------------------------------------------------- */

static void enable(struct cupti *c, uint32_t domain, uint32_t id)
{
	uint32_t result = c->api.cuptiEnableCallback(1, c->subscriber, domain, id);

	if (result != ABI_OK) /* an older library does not know newer calls */
		log_debug(2, "cupti", "callback %u of domain %u: error %u", id, domain, result);
}

static bool is_wanted(const struct cupti *c, enum call_class class)
{
	if (class == CALL_SYNC)
		return c->sync;
	if (class == CALL_PROFILER_ON || class == CALL_PROFILER_OFF)
		return c->wanted.profiler;
	if (class == CALL_LOAD || class == CALL_LOAD_FILE)
		return c->wanted.intra_s;
	return class == CALL_ALLOC ? c->memory : class != CALL_OTHER;
}

static void enable_class(struct cupti *c, bool launches)
{
	for (uint32_t id = 0; id < ABI_N_CALLS; id++)
		if (is_wanted(c, call_classes[id]) && (call_classes[id] < CALL_BEGIN) == launches)
			enable(c, ABI_DOMAIN_DRIVER, id);
}

static void sample(struct cupti *c)
{
	enable(c, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_STREAM_DESTROYED);
	enable(c, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_CONTEXT_CREATED);
	enable(c, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_CONTEXT_DESTROYED);
	enable(c, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_MODULE_UNLOADING);
	atomic_store(&c->pc_listens, true);
}

void cupti_calls_start(struct cupti *c)
{
	enable(c, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_INIT_FINISHED);
	enable(c, ABI_DOMAIN_STATE, ABI_STATE_FATAL_ERROR);
	if (c->ranges)
		enable(c, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_STREAM_DESTROYED);
	if (c->memory || c->ranges)
		enable(c, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_CONTEXT_DESTROYED);
	enable(c, ABI_DOMAIN_RESOURCE, ABI_RESOURCE_MODULE_LOADED);
	atomic_store(&c->pc_listens, false);
	if (c->pc_sampling)
		sample(c);
	enable_class(c, false);
}

/* Of the runtime and of the driver, also those that we do not know. */
static void enable_all(struct cupti *c)
{
	static const struct {
		uint32_t domain, id;
	} quiet[] = {
#define _(domain, name, number) {ABI_DOMAIN_##domain, number},
		ABI_QUIET_CALLS(_)
#undef _
	};
	uint32_t result = ABI_UNKNOWN;
	char text[160];

	if (c->api.cuptiEnableDomain)
		result = c->api.cuptiEnableDomain(1, c->subscriber, ABI_DOMAIN_DRIVER);
	if (result == ABI_OK)
		result = c->api.cuptiEnableDomain(1, c->subscriber, ABI_DOMAIN_RUNTIME);
	for (size_t i = 0; i < ARRAY_SIZE(quiet) && result == ABI_OK; i++)
		c->api.cuptiEnableCallback(0, c->subscriber, quiet[i].domain, quiet[i].id);
	if (result == ABI_OK)
		return;
	snprintf(text, sizeof(text), "calls of CUDA are not timed: CUPTI refuses it (error %u)",
		 result);
	c->sink->ops->note(c->sink, text);
}

static void attribute(struct cupti *c)
{
	if (cupti_launches_init(&c->launches, c->idle) < 0) {
		c->sink->ops->lose(c->sink, LOSS_NO_MEMORY, 1);
		atomic_store(&c->want_attribution, false);
		return;
	}
	for (uint32_t id = 0; id < ABI_N_RESOURCES; id++)
		if (cupti_graphs_wants(id))
			enable(c, ABI_DOMAIN_RESOURCE, id);
	enable_class(c, true);
	if (c->calls)
		enable_all(c);
	atomic_store(&c->launches.complete, true);
}

static bool wants_launches(struct cupti *c)
{
	return atomic_load(&c->want_attribution) && !atomic_load(&c->launches.complete);
}

static bool wants_samples(struct cupti *c)
{
	return atomic_load(&c->pc_sampling) && !atomic_load(&c->pc_listens);
}

static bool wanted(struct cupti *c)
{
	return (wants_launches(c) || wants_samples(c)) && cupti_running(c);
}

/* CUPTI wants these calls one at a time. Whoever finds another thread at it leaves the wish to it:
 * no lock, so nobody can wait for a thread that waits inside CUPTI. */
void cupti_calls_settle(struct cupti *c)
{
	while (wanted(c)) {
		if (atomic_exchange(&c->settling, true))
			return;
		if (wanted(c) && wants_samples(c))
			sample(c);
		if (wanted(c) && wants_launches(c))
			attribute(c);
		atomic_store(&c->settling, false);
	}
}
