/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_ranges.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "backends/cuda_driver.h"
#include "backends/cupti.h"
#include "backends/cupti_range_joins.h"
#include "backends/cupti_range_profiler.h"
#include "base/util.h"
#include "core/ranges_wanted.h"

enum {
	CONTEXTS_MAX = 64,
	LOCK_S = 10,     /* for a launch of another thread, which may wait for the device */
	NAME_MAX_RANGE = 12,
};

struct ranged_context {
	void *context;
	pthread_mutex_t lock; /* of all that follows */
	bool is_open, is_off;
	struct range_profiler profiler;
	uint32_t n;
	struct {
		uint32_t correlation; /* of the launch; 0: nothing ran */
		uint64_t at_ns;       /* CLOCK_REALTIME */
	} launches[RANGES_MAX];       /* its ranges */
};

static struct {
	const struct ranges_wanted *wanted;
	const char *names[RANGES_METRICS_MAX];
	struct range_profiler_api api;
	pthread_mutex_t lock; /* of the number of contexts, and of what is counted here */
	struct ranged_context *contexts[CONTEXTS_MAX];
	_Atomic size_t n_contexts;
	uint64_t n_refused, n_dropped;
	_Atomic uint64_t n_captured_besides, n_others;
	_Atomic int n_capturing;
} ranges = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct ranged_context *held __attribute__((tls_model("initial-exec")));

/* Before anything was measured, and after. */
static const char *words_of_none(void)
{
	return range_joins_n() ? "no hardware metrics from here on" : "no hardware metrics";
}

static void note(struct cupti *c, const char *text)
{
	c->sink->ops->note(c->sink, text);
}

/* ---- on ---- */

static bool bind(struct cupti *c)
{
	Dl_info info;
	void *symbol, *library;

	memcpy(&symbol, &c->api.cuptiActivityEnable, sizeof(symbol));
	if (!symbol || !dladdr(symbol, &info))
		return false;
	library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	return library && range_profiler_bind(library, &ranges.api);
}

bool cupti_ranges_begin(struct cupti *c)
{
	const struct ranges_wanted *w = c->sink->ops->ranges ? c->sink->ops->ranges(c->sink) : NULL;

	if (ranges.wanted)
		return true;
	if (!w)
		return false;
	if (!bind(c)) {
		note(c,
		     "no hardware metrics: the program's libcupti is older than CUDA 12.6, and cannot count them; "
		     "name a newer one in PROTON_CUPTI_PATH");
		return false;
	}
	if (!range_joins_begin(w)) {
		c->sink->ops->lose(c->sink, LOSS_NO_MEMORY, 1);
		return false;
	}
	for (size_t i = 0; i < w->n; i++)
		ranges.names[i] = w->metrics[i].name;
	ranges.wanted = w;
	return true;
}

/* ---- trouble ---- */

static const struct {
	int result;
	const char *text;
} troubles[] = {
	{ABI_NO_PRIVILEGE, "the driver does not permit counters here; ask for CAP_PERFMON or "
			   "NVreg_RestrictProfilingToAdminUsers=0"},
	{ABI_NO_PRIVILEGE_VIRTUAL, "the virtual GPU does not permit counters"},
	{ABI_PM_BUSY, "another tool has the counters of this GPU (DCGM, Nsight Compute, proton)"},
	{ABI_PM_PART, "a part of a GPU (MIG) has none that can be read"},
	{ABI_HOST_BAD_NAME, "this GPU has not all of these metrics"},
};

/* Time profiling goes on. */
static void give_up(struct cupti *c, struct ranged_context *rc, int r)
{
	const char *why = NULL;
	char text[320];

	rc->is_off = true;
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		if (troubles[i].result == r)
			why = troubles[i].text;
	if (why)
		snprintf(text, sizeof(text), "%s: %s", words_of_none(), why);
	else
		snprintf(text, sizeof(text), "%s: %s fails (error %d)", words_of_none(),
			 rc->profiler.at ? rc->profiler.at : "memory", r);
	note(c, text);
	cuda_driver_ours++;
	range_profiler_close(&rc->profiler);
	cuda_driver_ours--;
}

/* ---- what was counted ---- */

struct drained {
	struct cupti *c;
	const struct ranged_context *of;
};

/* A range that was pushed is named by its number; CUPTI's own are in order, if there is one of each launch. */
static void take_range(void *ctx, size_t i, size_t n, const char *name, const double *values)
{
	const struct drained *d = ctx;
	size_t k = d->of->profiler.by_kernel ? (n == d->of->n ? i : SIZE_MAX)
					     : strtoul(name, NULL, 10);

	if (k < d->of->n && d->of->launches[k].correlation)
		range_join(d->c, d->of->launches[k].correlation, d->of->launches[k].at_ns, values);
}

/* Its lock is ours. */
static void drain(struct cupti *c, struct ranged_context *rc)
{
	struct drained d = {c, rc};
	size_t n, dropped;
	int r;

	if (!rc->profiler.is_running)
		return;
	cuda_driver_ours++;
	r = range_profiler_drain(&rc->profiler, take_range, &d, &n, &dropped);
	cuda_driver_ours--;
	pthread_mutex_lock(&ranges.lock);
	ranges.n_dropped += dropped;
	ranges.n_refused += r == 0 && rc->profiler.by_kernel && n != rc->n ? rc->n : 0;
	pthread_mutex_unlock(&ranges.lock);
	rc->n = 0;
	if (r)
		give_up(c, rc, r);
}

/* ---- contexts ---- */

static struct ranged_context *find(const void *context)
{
	size_t n = atomic_load(&ranges.n_contexts);

	for (size_t i = 0; i < n; i++)
		if (ranges.contexts[i]->context == context)
			return ranges.contexts[i];
	return NULL;
}

static struct ranged_context *find_or_make(void *context)
{
	struct ranged_context *rc = find(context);
	size_t n;

	if (rc)
		return rc;
	pthread_mutex_lock(&ranges.lock);
	n = atomic_load(&ranges.n_contexts);
	rc = find(context);
	if (!rc && n < CONTEXTS_MAX && (rc = calloc(1, sizeof(*rc)))) {
		rc->context = context;
		pthread_mutex_init(&rc->lock, NULL);
		ranges.contexts[n] = rc;
		atomic_store(&ranges.n_contexts, n + 1);
	}
	pthread_mutex_unlock(&ranges.lock);
	return rc;
}

static bool lock(struct ranged_context *rc)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LOCK_S;
	return pthread_mutex_timedlock(&rc->lock, &until) == 0;
}

/* ---- launches ---- */

static void tell_passes(struct cupti *c, const struct ranged_context *rc)
{
	char text[200];

	if (rc->profiler.by_kernel && rc->profiler.n_passes > 1)
		snprintf(
			text, sizeof(text),
			"hardware metrics take %zu passes: each kernel runs %zu times, one after another",
			rc->profiler.n_passes, rc->profiler.n_passes);
	else
		snprintf(text, sizeof(text),
			 "hardware metrics: kernels run one after another, and each has a range");
	note(c, text);
}

static int open_context(struct cupti *c, struct ranged_context *rc)
{
	bool by_kernel = ranges.wanted->replay == RANGES_KERNELS;
	int r = range_profiler_open(&rc->profiler, &ranges.api, rc->context, ranges.names,
				    ranges.wanted->n, by_kernel);

	rc->is_open = true;
	if (r == 0 && !by_kernel && rc->profiler.n_passes > 1) {
		rc->profiler.at = "a single pass";
		r = ABI_HOST_NOT_SUPPORTED;
	}
	if (r == 0)
		tell_passes(c, rc);
	return r;
}

static int push(struct ranged_context *rc)
{
	char name[NAME_MAX_RANGE];

	if (rc->profiler.by_kernel)
		return 0;
	snprintf(name, sizeof(name), "%u", rc->n);
	return range_profiler_push(&rc->profiler, name);
}

/* Its lock is ours. */
static void begin_range(struct cupti *c, struct ranged_context *rc, uint32_t correlation)
{
	int r = 0;

	if (rc->n == RANGES_MAX)
		drain(c, rc);
	if (rc->is_off)
		return;
	cuda_driver_ours++;
	if (!rc->is_open)
		r = open_context(c, rc);
	if (r == 0 && !rc->profiler.is_running)
		r = range_profiler_begin(&rc->profiler);
	r = r ? r : push(rc);
	cuda_driver_ours--;
	if (r) {
		give_up(c, rc, r);
		return;
	}
	rc->launches[rc->n].correlation = correlation;
	rc->launches[rc->n++].at_ns = clock_realtime_ns();
}

/* What is no kernel is not measured; CUPTI's own ranges end before it. */
static void pass_other(struct cupti *c, const struct abi_call *call)
{
	struct ranged_context *rc = find(call->context);

	atomic_fetch_add(&ranges.n_others, 1);
	if (!rc || ranges.wanted->replay != RANGES_KERNELS || !lock(rc))
		return;
	drain(c, rc);
	held = rc; /* nobody begins before it is launched */
}

void cupti_ranges_enter(struct cupti *c, const struct abi_call *call, bool is_kernel)
{
	struct ranged_context *rc;

	if (!ranges.wanted || held || cuda_driver_ours)
		return;
	if (atomic_load(&ranges.n_capturing)) {
		atomic_fetch_add(&ranges.n_captured_besides, 1);
		return;
	}
	if (!is_kernel) {
		pass_other(c, call);
		return;
	}
	rc = find_or_make(call->context);
	if (!rc || rc->is_off || !lock(rc))
		return;
	held = rc;
	begin_range(c, rc, call->correlation);
}

/* What has failed, or is a node of a graph, has no range of CUPTI's, and one of ours that nobody awaits. */
static void end_range(struct cupti *c, struct ranged_context *rc, bool ran)
{
	int r = 0;

	if (!rc->n)
		return;
	if (!rc->profiler.by_kernel) {
		cuda_driver_ours++;
		r = range_profiler_pop(&rc->profiler);
		cuda_driver_ours--;
		if (!ran)
			rc->launches[rc->n - 1].correlation = 0;
	} else if (!ran) {
		rc->n--;
	}
	if (r)
		give_up(c, rc, r);
}

void cupti_ranges_leave(struct cupti *c, bool ran)
{
	struct ranged_context *rc = held;

	if (!rc)
		return;
	if (!rc->is_off)
		end_range(c, rc, ran);
	held = NULL;
	pthread_mutex_unlock(&rc->lock);
}

/* ---- ends ---- */

/* The context is made current for as long as it takes. */
static void drain_from_elsewhere(struct cupti *c, struct ranged_context *rc)
{
	static const struct cuda_function functions[] = {{"cuCtxPushCurrent_v2", 0},
							 {"cuCtxPopCurrent_v2", sizeof(void *)}};
	struct {
		uint32_t (*push)(void *context);
		uint32_t (*pop)(void **ret);
	} driver = {NULL, NULL};
	bool is_current;
	void *was;

	if (!lock(rc))
		return;
	if (rc->profiler.is_running) {
		cuda_driver_ours++;
		is_current = cuda_driver_bind(&driver, functions, ARRAY_SIZE(functions)) &&
			     driver.push && driver.pop && driver.push(rc->context) == 0;
		drain(c, rc);
		if (is_current)
			driver.pop(&was);
		cuda_driver_ours--;
	}
	pthread_mutex_unlock(&rc->lock);
}

static void drain_all(struct cupti *c)
{
	size_t n = atomic_load(&ranges.n_contexts);

	for (size_t i = 0; i < n; i++)
		if (ranges.contexts[i] != held)
			drain_from_elsewhere(c, ranges.contexts[i]);
}

void cupti_ranges_capture(struct cupti *c, bool on)
{
	if (!ranges.wanted)
		return;
	atomic_fetch_add(&ranges.n_capturing, on ? 1 : -1);
	if (on)
		drain_all(c);
}

void cupti_ranges_end(struct cupti *c, void *context)
{
	struct ranged_context *rc = ranges.wanted ? find(context) : NULL;

	if (!rc || !lock(rc))
		return;
	drain(c, rc);
	if (rc->is_open && !rc->is_off) {
		cuda_driver_ours++;
		range_profiler_close(&rc->profiler);
		cuda_driver_ours--;
	}
	rc->is_open = rc->is_off = false; /* another may have its address */
	pthread_mutex_unlock(&rc->lock);
}

/* What has no values, and why. */
static void tell_missing(struct cupti *c)
{
	static bool is_told;
	const struct {
		uint64_t n;
		const char *why;
	} all[] = {
		{range_joins_n_given_up(), "kernels without a record"},
		{ranges.n_refused,
		 "kernels of which CUPTI counted another number than were launched"},
		{ranges.n_dropped, "kernels for which CUPTI had no room"},
		{atomic_load(&ranges.n_captured_besides), "launches while a stream was captured"},
		{atomic_load(&ranges.n_others), "launches of CUDA graphs"},
	};
	char text[400];
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all) && !is_told; i++)
		if (all[i].n)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%llu %s",
						len ? ", " : "not measured: ",
						(unsigned long long)all[i].n, all[i].why);
	if (!len)
		return;
	is_told = true;
	note(c, text);
}

void cupti_ranges_flush(struct cupti *c, bool last)
{
	if (!ranges.wanted)
		return;
	if (!last) {
		drain_all(c);
		return;
	}
	range_joins_end(c);
	tell_missing(c);
}
