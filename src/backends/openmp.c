/* SPDX-License-Identifier: MIT */
/* OpenMP, by OMPT: the runtime calls us at its constructs.
 *
 *   target construct ──> a scope of the thread ──> what another backend records of the device
 *                             │                    hangs below it
 *                             └─> on a device that nobody else sees, and where an operation has ended
 *                                 when its call returns: a record of each kernel and copy
 *
 * The host as a device (libomptarget's plugin for the processor) is of the second kind. Of a GPU the
 * runtime tells when it has handed an operation over, not when it ran: those times are no device times,
 * and the vendor's library has the true ones. So no operation is counted twice.
 *
 * A runtime with a tool is slower, if only a little, in every parallel region. So we are none where
 * nothing could be told: without the library that offloads, and without the option for parallel
 * regions. */
#include "config.h" // IWYU pragma: keep
#include "backends/openmp.h"
#include <errno.h>
#include <string.h>
#include "backends/backend.h"
#include "backends/ompt_abi.h"
#include "backends/openmp_places.h"
#include "backends/symbols.h"
#include "base/clock.h"
#include "base/loaded.h"
#include "base/util.h"

enum { DEVICES = 64 };

enum device_state {
	DEVICE_UNTIMED, /* others see it, or nobody can */
	DEVICE_TIMED,   /* ours; not met yet */
	DEVICE_TOLD,    /* … the sink knows it */
};

/* OMPT has no word for the tool in its callbacks: one a process. */
static struct openmp {
	struct activity_sink *sink;       /* NULL: off */
	bool parallel;                    /* parallel regions are wanted */
	struct module runtime;            /* whose own regions are not the program's */
	_Atomic uint8_t devices[DEVICES]; /* enum device_state */
} openmp;

/* ---- scopes ---- */

/* What is in the word of a target construct: its place, and its device where we time that; + 1. */
static uint64_t word_make(uint32_t place, int device)
{
	return (uint64_t)place << 32 | (uint32_t)(device + 1);
}

static int word_device(uint64_t word)
{
	return (int)(uint32_t)word - 1;
}

static uint32_t scope_enter(const char *construct, const void *code)
{
	uint32_t place = openmp_place(construct, code);
	const struct name *name = openmp_place_name(place);

	if (name)
		openmp.sink->ops->enter(openmp.sink, name->text, name->len);
	else
		openmp.sink->ops->enter(openmp.sink, construct, strlen(construct));
	return place;
}

/* ---- devices ---- */

static bool is_timed(int device)
{
	return device >= 0 && device < DEVICES && openmp.devices[device] != DEVICE_UNTIMED;
}

/* Those where an operation is over when its call returns. */
static bool type_is_timed(const char *type)
{
	static const char *const types[] = {
		"generic-64bit", /* the processor, since LLVM 17 */
	};

	for (size_t i = 0; type && i < ARRAY_SIZE(types); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static void on_device(int device, const char *type, void *handle, ompt_lookup_fn *lookup,
		      const char *documentation)
{
	if (device >= 0 && device < DEVICES)
		openmp.devices[device] = type_is_timed(type) ? DEVICE_TIMED : DEVICE_UNTIMED;
}

/* A runtime has a device for each that it could have: only those that do something are told. */
static void device_tell(int device)
{
	const struct device_info info = {.type = "OpenMP", .index = device, .name = "host"};

	if (openmp.devices[device] == DEVICE_TOLD)
		return;
	openmp.sink->ops->device(openmp.sink, &info);
	openmp.devices[device] = DEVICE_TOLD;
}

/* ---- records ---- */

/* At its begin an operation's word gets the time, of a clock that nobody sets: it took as long as it took. What was never begun,
 * or in a word that the runtime does not keep, is none. */
static void operation(int endpoint, uint64_t *word, struct activity *a)
{
	uint64_t now = clock_monotonic_ns();

	if (endpoint == ABI_BEGIN) {
		*word = now;
		return;
	}
	if (endpoint != ABI_END || !*word || *word > now)
		return;
	device_tell(a->device);
	a->end_ns = clock_realtime_ns();
	a->start_ns = a->end_ns - (now - *word);
	a->launch = openmp.sink->ops->launch(openmp.sink, NULL);
	openmp.sink->ops->record(openmp.sink, a);
	*word = 0;
}

/* The function that a region is in; the runtime does not know what the kernel is called. */
static const char *kernel_name(uint64_t word)
{
	const struct name *name = openmp_place_name((uint32_t)(word >> 32));
	const char *last = name ? strrchr(name->text, ' ') : NULL;

	return last ? last + 1 : "target";
}

static void on_submit(int endpoint, union ompt_word *target, uint64_t *word, unsigned n_teams)
{
	struct activity a = {.kind = ACTIVITY_KERNEL};

	if (!openmp.sink || !target || !word || word_device(target->value) < 0)
		return;
	a.device = word_device(target->value);
	a.name = kernel_name(target->value);
	operation(endpoint, word, &a);
}

static void on_data_op(int endpoint, union ompt_word *task, union ompt_word *target, uint64_t *word,
		       int kind, void *src, int src_device, void *dst, int dst_device, size_t bytes,
		       const void *code)
{
	bool to = (kind & ~ABI_ASYNC) == ABI_TO_DEVICE,
	     from = (kind & ~ABI_ASYNC) == ABI_FROM_DEVICE;
	struct activity a = {.kind = ACTIVITY_COPY, .bytes = bytes};

	a.device = to ? dst_device : src_device;
	if (!openmp.sink || !word || !(to || from) || !is_timed(a.device))
		return;
	a.direction = to ? COPY_HOST_TO_DEVICE : COPY_DEVICE_TO_HOST;
	if (is_timed(src_device) && is_timed(dst_device))
		a.direction = COPY_DEVICE_TO_DEVICE;
	operation(endpoint, word, &a);
}

/* ---- constructs ---- */

static const char *target_text(int kind)
{
	static const char *const texts[] = {
		[ABI_TARGET_REGION] = "omp target",
		[ABI_TARGET_ENTER_DATA] = "omp target enter data",
		[ABI_TARGET_EXIT_DATA] = "omp target exit data",
		[ABI_TARGET_UPDATE] = "omp target update",
	};
	unsigned i = (unsigned)kind & ~(unsigned)ABI_TARGET_NOWAIT;

	return i < ARRAY_SIZE(texts) && texts[i] ? texts[i] : "omp target construct";
}

static void on_target(int kind, int endpoint, int device, union ompt_word *task,
		      union ompt_word *target_task, union ompt_word *target, const void *code)
{
	int saved = errno;
	uint32_t place;

	if (!openmp.sink)
		return;
	if (endpoint == ABI_BEGIN) {
		place = scope_enter(target_text(kind), code);
		if (target)
			target->value = word_make(place, is_timed(device) ? device : -1);
	} else if (endpoint == ABI_END) {
		openmp.sink->ops->leave(openmp.sink);
	}
	errno = saved;
}

/* Not those of the runtime itself: LLVM's has its helper threads in one that lasts to the end. */
static void on_parallel_begin(union ompt_word *task, const void *frame, union ompt_word *region,
			      unsigned n_threads, int flags, const void *code)
{
	int saved = errno;

	if (!openmp.sink || !region)
		return;
	region->value = code && !module_has(&openmp.runtime, code);
	if (region->value)
		scope_enter((unsigned)flags & ABI_LEAGUE ? "omp teams" : "omp parallel", code);
	errno = saved;
}

static void on_parallel_end(union ompt_word *region, union ompt_word *task, int flags,
			    const void *code)
{
	if (openmp.sink && region && region->value)
		openmp.sink->ops->leave(openmp.sink);
}

/* ---- the tool ---- */

struct callback {
	int event;
	ompt_function function;
};

static bool callbacks_set(ompt_lookup_fn *lookup, const struct callback *callbacks, size_t n)
{
	ompt_set_callback_fn *set;
	bool any = false;

	*(ompt_function *)(void *)&set = lookup("ompt_set_callback");
	for (size_t i = 0; set && i < n; i++)
		any |= set(callbacks[i].event, callbacks[i].function) >= ABI_SET_SOMETIMES;
	return any;
}

/* 0: older runtimes tell nothing of target constructs, and run on as without a tool. */
static int initialize(ompt_lookup_fn *lookup, int initial_device, union ompt_word *word)
{
	static const struct callback targets[] = {
		{ABI_TARGET, (ompt_function)on_target},
		{ABI_TARGET_DATA_OP, (ompt_function)on_data_op},
		{ABI_TARGET_SUBMIT, (ompt_function)on_submit},
		{ABI_DEVICE_INITIALIZE, (ompt_function)on_device},
	};

	static const struct callback regions[] = {
		{ABI_PARALLEL_BEGIN, (ompt_function)on_parallel_begin},
		{ABI_PARALLEL_END, (ompt_function)on_parallel_end},
	};
	bool any;

	if (!openmp.sink)
		return 0;
	openmp.runtime = module_of((const void *)(uintptr_t)lookup);
	any = callbacks_set(lookup, targets, ARRAY_SIZE(targets));
	if (openmp.parallel)
		any |= callbacks_set(lookup, regions, ARRAY_SIZE(regions));
	return any;
}

/* Regions that are open stay so: what runs in them is not over. */
static void finalize(union ompt_word *word)
{
}

struct ompt_tool *openmp_tool(void)
{
	static struct ompt_tool tool = {initialize, finalize, {0}};

	return openmp.sink ? &tool : NULL;
}

/* ---- the backend ---- */

static int openmp_probe(const struct backend_options *options, const char **ret_why)
{
	if (options->omp_parallel || loaded_path("libomptarget."))
		return 0;
	*ret_why = "libomptarget is not loaded";
	return -ENODEV;
}

static int openmp_start(const struct backend_options *options, struct activity_sink *sink,
			void **ret_state)
{
	symbols_init();
	openmp.parallel = options->omp_parallel;
	openmp.sink = sink;
	*ret_state = &openmp;
	return 0;
}

static void openmp_stop(void *state)
{
	openmp.sink = NULL;
}

/* The runtime goes on calling in a fork child, and its devices are what they were. */
const struct backend backend_openmp = {
	.name = "openmp",
	.device_type = "OpenMP",
	.probe = openmp_probe,
	.start = openmp_start,
	.stop = openmp_stop,
};
