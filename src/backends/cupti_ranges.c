/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_ranges.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "backends/cuda_driver.h"
#include "backends/cupti.h"
#include "backends/cupti_range_gate.h"
#include "backends/cupti_range_joins.h"
#include "backends/cupti_range_own.h"
#include "backends/cupti_range_profiler.h"
#include "backends/cupti_refusals.h"
#include "base/log.h"
#include "base/util.h"
#include "core/ranges_wanted.h"

enum {
	LOCK_S = 10, /* for a launch of another thread, which may wait for the device */
	NAME_MAX_RANGE = 12,
	PAUSES = 20, /* periodic flushes take no more than this part of the time */
};

struct range {
	uint32_t correlation;     /* of the launch, or of the first one; 0: nothing ran */
	struct range_place place; /* a kernel's: where its record is */
	uint64_t at_ns;           /* CLOCK_REALTIME */
	uint64_t begin_ns, ns;    /* on a steady clock; how long, of those with a place */
};

struct ranged_context {
	struct ranged_context *next;
	_Atomic(void *) context; /* &nobody: it is free for another one */
	atomic_bool
		is_gone; /* destroyed while the lock was another thread's, who waited for the device */
	pthread_mutex_t lock; /* of all that follows */
	bool is_open, is_off;
	bool is_within;          /* the newest range goes on */
	atomic_bool is_used;     /* something may run in it: nobody has waited for that */
	_Atomic uint32_t thread; /* … whose place it is (struct range_place); 0: nobody's */
	struct range_profiler profiler;
	uint32_t n;
	struct range *ranges; /* RANGES_MAX, from when it is opened */
};
static char nobody;

static struct {
	const struct ranges_wanted *wanted;
	const char *names[RANGES_METRICS_MAX];
	struct range_profiler_api api;
	uint32_t (*synchronize)(void); /* NULL: this driver has no such function */
	pthread_mutex_t
		lock; /* of new contexts, of what is told by place, and of what is counted here */
	_Atomic(struct ranged_context *) contexts;
	uint64_t n_placed, n_refused, n_dropped, n_unread;
	_Atomic uint64_t n_captured_besides, n_others, n_gone, n_interrupted;
	atomic_bool is_owed; /* records of kernels that CUPTI ran again have not been asked for */
	/* The last flush that did: when, and what it cost with beginning anew after that. */
	uint64_t closed_ns, opened_ns; /* owner: flush(); 0: it is not closed */
	_Atomic uint64_t paused_ns;
} ranges = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The call of this thread that is under way. */
struct ranged_call {
	uint32_t correlation; /* 0: there is none */
	bool is_busy;         /* between calls, too: locks may be this thread's */
	bool is_placed;
	bool is_interrupted; /* a handler of a signal launched in it */
	enum ranged_work what;
	int cancel; /* whether it could be cancelled before */
	struct ranged_context *held;
};
static __thread struct ranged_call under_way __attribute__((tls_model("initial-exec")));

/* What has a range, or is within one. */
static const bool is_measured[RANGES_N_OF][RANGED_N_WORK] = {
	[RANGES_OF_KERNELS] = {[RANGED_KERNEL] = true},
	[RANGES_OF_SCOPES] = {[RANGED_KERNEL] = true, [RANGED_GRAPH] = true, [RANGED_COPY] = true},
	[RANGES_OF_NVTX] = {[RANGED_KERNEL] = true, [RANGED_GRAPH] = true, [RANGED_COPY] = true},
	[RANGES_OF_GRAPHS] = {[RANGED_GRAPH] = true},
};

/* CUPTI runs each kernel once a pass. */
static bool is_replayed(void)
{
	return ranges.wanted->replay == RANGES_KERNELS;
}

/* A range that many launches may be in. */
static bool is_lasting(void)
{
	return ranges.wanted->of == RANGES_OF_SCOPES || ranges.wanted->of == RANGES_OF_NVTX;
}

/* Before anything was measured, and after. */
static const char *words_of_none(void)
{
	return range_joins_n() || ranges.n_placed ? "no hardware metrics from here on"
						  : "no hardware metrics";
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

/* ---- what was counted ---- */

struct drained {
	struct cupti *c;
	const struct ranged_context *of;
	size_t n_taken;
};

static void tell_placed(struct cupti *c, const struct range *range, const double *values)
{
	pthread_mutex_lock(&ranges.lock);
	ranges.n_placed++;
	c->sink->ops->measured(c->sink, &range->place, range->ns, values);
	pthread_mutex_unlock(&ranges.lock);
}

/* A range that was pushed is named by its number; CUPTI's own are in order, if there is one of each launch. */
static void take_range(void *ctx, size_t i, size_t n, const char *name, const double *values)
{
	struct drained *d = ctx;
	size_t k = d->of->profiler.by_kernel ? (n == d->of->n ? i : SIZE_MAX)
					     : strtoul(name, NULL, 10);
	const struct range *range = k < d->of->n ? &d->of->ranges[k] : NULL;

	d->n_taken++;
	if (!range || !range->correlation)
		return;
	if (ranges.wanted->of == RANGES_OF_KERNELS)
		range_join(d->c, range->correlation, range->at_ns, values);
	else
		tell_placed(d->c, range, values);
}

/* Ends the newest range, after what was launched in it. Its lock is ours. */
static int pop(struct ranged_context *rc)
{
	struct range *range = &rc->ranges[rc->n - 1];
	int r;

	range_own_begin();
	if (ranges.wanted->of != RANGES_OF_KERNELS && ranges.synchronize)
		(void)ranges.synchronize();
	range->ns = clock_monotonic_ns() - range->begin_ns;
	r = range_profiler_pop(&rc->profiler);
	range_own_end();
	rc->is_within = false;
	atomic_store(&rc->thread, 0);
	return r;
}

/* Its lock is ours, and no range is open. */
static int read_ranges(struct cupti *c, struct ranged_context *rc)
{
	struct drained d = {c, rc, 0};
	size_t n = 0, dropped = 0;
	int r;

	range_own_begin();
	r = range_profiler_drain(&rc->profiler, take_range, &d, &n, &dropped);
	range_own_end();
	pthread_mutex_lock(&ranges.lock);
	ranges.n_dropped += dropped;
	ranges.n_refused += r == 0 && rc->profiler.by_kernel && n != rc->n ? rc->n : 0;
	ranges.n_unread += r && d.n_taken < rc->n ? rc->n - d.n_taken : 0;
	pthread_mutex_unlock(&ranges.lock);
	rc->n = 0;
	return r;
}

/* Time profiling goes on, and what was counted before is told. */
static void give_up(struct cupti *c, struct ranged_context *rc, int r)
{
	const char *why = cupti_refusal(CUPTI_COUNTS_RANGES, (uint32_t)r);
	const char *at = rc->profiler.at ? rc->profiler.at : "memory"; /* reading has others */
	char text[400];

	rc->is_off = true;
	rc->is_within = false;
	atomic_store(&rc->thread, 0);
	if (rc->profiler.is_running)
		(void)read_ranges(c, rc);
	if (why)
		snprintf(text, sizeof(text), "%s: %s", words_of_none(), why);
	else
		snprintf(text, sizeof(text), "%s: %s fails (error %d)", words_of_none(), at, r);
	note(c, text);
	range_own_begin();
	range_profiler_close(&rc->profiler);
	range_own_end();
}

/* Its lock is ours. */
static void drain(struct cupti *c, struct ranged_context *rc)
{
	int r;

	if (!rc->profiler.is_running)
		return;
	r = rc->is_within ? pop(rc) : 0;
	r = r ? r : read_ranges(c, rc);
	if (r)
		give_up(c, rc, r);
}

/* ---- contexts ---- */

static struct ranged_context *find(const void *context)
{
	struct ranged_context *rc = atomic_load(&ranges.contexts);

	while (rc && atomic_load(&rc->context) != context)
		rc = rc->next;
	return rc;
}

/* NULL: no memory. The lock of all contexts is ours. */
static struct ranged_context *make(void *context)
{
	struct ranged_context *rc = find(&nobody);

	if (rc) {
		atomic_store(&rc->context, context);
		return rc;
	}
	rc = calloc(1, sizeof(*rc));
	if (!rc)
		return NULL;
	atomic_store(&rc->context, context);
	rc->next = atomic_load(&ranges.contexts);
	pthread_mutex_init(&rc->lock, NULL);
	atomic_store(&ranges.contexts, rc);
	return rc;
}

/* It is never freed, for others may look at it, but another context has it when this one is gone. */
static struct ranged_context *find_or_make(struct cupti *c, void *context)
{
	struct ranged_context *rc = find(context);

	if (rc)
		return rc;
	pthread_mutex_lock(&ranges.lock);
	rc = find(context);
	rc = rc ? rc : make(context);
	pthread_mutex_unlock(&ranges.lock);
	if (!rc)
		c->sink->ops->lose(c->sink, LOSS_NO_MEMORY, 1);
	return rc;
}

/* A context that is gone took along what CUPTI had of it, and must not be named to it. Another one may have this from here
 * on. Its lock is ours. */
static void forget(struct ranged_context *rc)
{
	atomic_fetch_add(&ranges.n_gone, rc->n);
	rc->n = 0;
	rc->is_open = rc->is_off = rc->is_within = false;
	atomic_store(&rc->is_used, false);
	atomic_store(&rc->thread, 0);
	rc->profiler.object = NULL;
	range_profiler_close(&rc->profiler);
	free(rc->ranges);
	rc->ranges = NULL;
	atomic_store(&rc->context, &nobody);
}

/* From here to the end of it this thread may have locks. It is not cancelled, within the launch or CUPTI: nobody would ever
 * unlock them, and each launch of the others would wait for that. False: it has begun before, and is in the handler of a
 * signal now. */
static bool begin_call(void)
{
	if (under_way.is_busy)
		return false;
	under_way.is_busy = true;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &under_way.cancel);
	return true;
}

static void end_call(void)
{
	int cancel = under_way.cancel;

	under_way = (struct ranged_call){.is_busy = false};
	pthread_setcancelstate(cancel, NULL);
}

/* A clock that is set meanwhile neither ends the wait nor makes it longer, but with older libraries. */
static bool lock_in_time(pthread_mutex_t *lock)
{
	struct timespec until;

#if __GLIBC_PREREQ(2, 30)
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LOCK_S;
	return pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until) == 0;
#else
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LOCK_S;
	return pthread_mutex_timedlock(lock, &until) == 0;
#endif
}

static bool lock(struct ranged_context *rc)
{
	if (!lock_in_time(&rc->lock))
		return false;
	if (atomic_exchange(&rc->is_gone, false))
		forget(rc);
	return true;
}

static void unlock(struct ranged_context *rc)
{
	pthread_mutex_unlock(&rc->lock);
}

/* ---- launches ---- */

static void tell_passes(struct cupti *c, const struct ranged_context *rc)
{
	char text[200];

	if (is_lasting())
		snprintf(
			text, sizeof(text),
			"hardware metrics of scopes: the device is waited for where one begins or ends");
	else if (ranges.wanted->of == RANGES_OF_GRAPHS)
		snprintf(text, sizeof(text),
			 "hardware metrics of graphs: each runs alone, and is waited for");
	else if (rc->profiler.by_kernel && rc->profiler.n_passes > 1)
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
	static const struct cuda_function functions[] = {{"cuCtxSynchronize", 0, false}};
	bool by_kernel = ranges.wanted->replay == RANGES_KERNELS;
	int r = 0;

	rc->ranges = calloc(RANGES_MAX, sizeof(*rc->ranges));
	r = rc->ranges ? range_profiler_open(&rc->profiler, &ranges.api, rc->context, ranges.names,
					     ranges.wanted->n, by_kernel)
		       : -ENOMEM;
	(void)cuda_driver_bind(&ranges.synchronize, functions, ARRAY_SIZE(functions));
	rc->is_open = true;
	if (r == 0 && !by_kernel && rc->profiler.n_passes > 1) {
		rc->profiler.at = "a single pass";
		r = ABI_HOST_NOT_SUPPORTED;
	}
	if (r == 0)
		tell_passes(c, rc);
	return r;
}

/* What was launched before, and is not measured by itself, is not to be within. */
static int push(struct ranged_context *rc)
{
	char name[NAME_MAX_RANGE];

	if (rc->profiler.by_kernel)
		return 0;
	if (ranges.wanted->of != RANGES_OF_KERNELS && ranges.synchronize)
		(void)ranges.synchronize();
	snprintf(name, sizeof(name), "%u", rc->n);
	return range_profiler_push(&rc->profiler, name);
}

/* CUPTI counts from here on, if it does not yet: not after a flush, whose cost this is. */
static int resume(struct ranged_context *rc)
{
	uint64_t begin_ns = clock_monotonic_ns();
	int r;

	if (rc->profiler.is_running)
		return 0;
	r = range_profiler_begin(&rc->profiler);
	atomic_fetch_add(&ranges.paused_ns, clock_monotonic_ns() - begin_ns);
	return r;
}

/* Its lock is ours. */
static void begin_range(struct cupti *c, struct ranged_context *rc, const struct range_place *place)
{
	int r = 0;

	if (rc->n == RANGES_MAX)
		drain(c, rc);
	if (rc->is_off)
		return;
	range_own_begin();
	if (!rc->is_open)
		r = open_context(c, rc);
	r = r ? r : resume(rc);
	r = r ? r : push(rc);
	range_own_end();
	if (r) {
		give_up(c, rc, r);
		return;
	}
	rc->ranges[rc->n++] = (struct range){
		.place = *place, .at_ns = clock_realtime_ns(), .begin_ns = clock_monotonic_ns()};
	if (is_replayed())
		atomic_store(&ranges.is_owed, true);
	rc->is_within = !rc->profiler.by_kernel;
	atomic_store(&rc->thread, place->thread);
}

/* The newest range is over. Its lock is ours. */
static void end_range(struct cupti *c, struct ranged_context *rc)
{
	int r = rc->is_within ? pop(rc) : 0;

	if (r)
		give_up(c, rc, r);
}

static bool is_at(const struct range *range, const struct range_place *place)
{
	return range->place.slot == place->slot && range->place.use == place->use;
}

/* The range that goes on, if it is of this place, or a new one. */
static void begin_or_go_on(struct cupti *c, struct ranged_context *rc,
			   const struct range_place *place)
{
	if (rc->is_within && is_at(&rc->ranges[rc->n - 1], place))
		return;
	end_range(c, rc);
	if (!rc->is_off)
		begin_range(c, rc, place);
}

/* What is not measured is in no range; CUPTI's own end before it. */
static void keep_out(struct cupti *c, struct ranged_context *rc)
{
	if (rc->profiler.by_kernel)
		drain(c, rc);
	else
		end_range(c, rc);
}

static bool find_place(struct cupti *c, enum ranged_work what, uint32_t launch,
		       struct range_place *ret)
{
	if (!is_measured[ranges.wanted->of][what])
		return false;
	if (ranges.wanted->of == RANGES_OF_KERNELS)
		return true;
	return c->sink->ops->range_at(c->sink, launch, ret);
}

static bool is_captured_besides(const struct cupti *c, enum ranged_work what)
{
	if (!atomic_load(&c->n_capturing))
		return false;
	if (what != RANGED_COPY)
		atomic_fetch_add(&ranges.n_captured_besides, 1);
	return true;
}

/* A handler of a signal launches while its thread does, or has a lock: it neither waits nor is measured. */
static void count_interrupting(enum ranged_work what)
{
	if (what != RANGED_COPY)
		atomic_fetch_add(&ranges.n_interrupted, 1);
	under_way.is_interrupted = true;
	if (is_replayed())
		range_gate_break();
}

/* Another context may have what was found by the time that it is locked. NULL: there is none, or nothing is measured. */
static struct ranged_context *lock_of(struct cupti *c, void *context, bool is_made)
{
	struct ranged_context *rc;

	for (;;) {
		rc = is_made ? find_or_make(c, context) : find(context);
		if (!rc || rc->is_off || !lock(rc))
			return NULL;
		if (atomic_load(&rc->context) == context)
			return rc;
		unlock(rc);
	}
}

/* Nobody else begins in the context before it is launched. NULL: it is not measured, and in no range. */
static struct ranged_context *hold(struct cupti *c, void *context, enum ranged_work what,
				   bool is_placed)
{
	struct ranged_context *rc;

	if (is_captured_besides(c, what))
		return NULL;
	if (!is_placed && ranges.wanted->of == RANGES_OF_KERNELS && what == RANGED_GRAPH)
		atomic_fetch_add(&ranges.n_others, 1);
	if (what == RANGED_COPY && !is_lasting())
		return NULL;
	rc = lock_of(c, context, is_placed);
	if (!rc)
		return NULL;
	if (!is_captured_besides(c, what))
		return rc;
	unlock(rc); /* since then: nobody waits for the device any more */
	return NULL;
}

/* Nothing of it is handed over before it is complete. */
static void enter_gate(struct cupti *c, void *context)
{
	struct ranged_context *rc = find_or_make(c, context);

	range_gate_enter();
	if (rc)
		atomic_store(&rc->is_used, true);
}

void cupti_ranges_enter(struct cupti *c, const struct abi_call *call, enum ranged_work what,
			uint32_t launch)
{
	struct range_place place = {.slot = 0};
	struct ranged_call *u = &under_way;

	if (!ranges.wanted || cuda_driver_ours)
		return;
	if (!begin_call()) {
		count_interrupting(what);
		return;
	}
	if (is_replayed())
		enter_gate(c, call->context);
	u->is_placed = find_place(c, what, launch, &place);
	u->what = what;
	u->held = hold(c, call->context, what, u->is_placed);
	if (u->held && u->is_placed)
		begin_or_go_on(c, u->held, &place);
	else if (u->held)
		keep_out(c, u->held);
	if (u->held || is_replayed())
		u->correlation = call->correlation;
	else
		end_call();
}

/* A launch is over. What has failed, or is a node of a graph, has no range of CUPTI's, and one of ours that nobody
 * awaits. */
static void leave_range(struct cupti *c, struct ranged_context *rc, uint32_t correlation, bool ran)
{
	if (!rc->n)
		return;
	if (ran && !rc->ranges[rc->n - 1].correlation)
		rc->ranges[rc->n - 1].correlation = correlation;
	else if (!ran && rc->profiler.by_kernel)
		rc->n--;
	if (!is_lasting())
		end_range(c, rc);
}

void cupti_ranges_leave(struct cupti *c, const struct abi_call *call, bool failed, bool is_launch)
{
	struct ranged_call *u = &under_way;
	bool ran = !failed && !u->is_interrupted && (is_launch || u->what == RANGED_COPY);

	if (!u->correlation || u->correlation != call->correlation)
		return;
	if (u->is_interrupted && u->what != RANGED_COPY)
		atomic_fetch_add(&ranges.n_interrupted, 1);
	if (u->held && !u->held->is_off && u->is_placed)
		leave_range(c, u->held, call->correlation, ran);
	if (u->held)
		unlock(u->held);
	if (is_replayed())
		range_gate_leave();
	end_call();
}

/* ---- ends ---- */

typedef void end_fn(struct cupti *c, struct ranged_context *rc);

/* What runs in a context is waited for where that ends no capture; what runs in it besides is not counted. Its lock is ours. */
static void settle(struct cupti *c, struct ranged_context *rc)
{
	if (is_replayed() && ranges.synchronize &&
	    (rc->profiler.is_running || !atomic_load(&c->n_capturing))) {
		atomic_store(&rc->is_used, false);
		(void)ranges.synchronize();
	}
	drain(c, rc);
}

/* The context is made current for as long as it takes. False: another thread waits for it. */
static bool end_from_elsewhere(struct cupti *c, struct ranged_context *rc, end_fn *end)
{
	static const struct cuda_function functions[] = {
		{"cuCtxPushCurrent_v2", 0, true}, {"cuCtxPopCurrent_v2", sizeof(void *), true}};
	struct {
		uint32_t (*push)(void *context);
		uint32_t (*pop)(void **ret);
	} driver = {NULL, NULL};
	bool is_current;
	void *was;

	if (!lock(rc))
		return false;
	if (rc->profiler.is_running || atomic_load(&rc->is_used)) {
		range_own_begin();
		is_current = cuda_driver_bind(&driver, functions, ARRAY_SIZE(functions)) &&
			     driver.push(rc->context) == 0;
		end(c, rc);
		if (is_current)
			driver.pop(&was);
		range_own_end();
	}
	unlock(rc);
	return true;
}

/* False: something may run in one of the contexts. */
static bool settle_all(struct cupti *c)
{
	struct ranged_context *rc;
	bool is_settled = true;

	for (rc = atomic_load(&ranges.contexts); rc; rc = rc->next)
		is_settled &= end_from_elsewhere(c, rc, settle) && !atomic_load(&rc->is_used);
	return is_settled;
}

void cupti_ranges_moved(struct cupti *c, uint32_t thread)
{
	struct ranged_context *rc;

	if (!ranges.wanted || !thread || cuda_driver_ours || atomic_load(&c->n_capturing) ||
	    !begin_call())
		return;
	for (rc = atomic_load(&ranges.contexts); rc; rc = rc->next)
		if (atomic_load_explicit(&rc->thread, memory_order_relaxed) == thread)
			end_from_elsewhere(c, rc, end_range);
	end_call();
}

void cupti_ranges_capture(struct cupti *c)
{
	if (!ranges.wanted || !begin_call())
		return;
	settle_all(c);
	end_call();
}

static void end_context(struct cupti *c, struct ranged_context *rc, const void *context)
{
	/* Another one may be current. */
	if (!end_from_elsewhere(c, rc, settle) || !lock(rc)) {
		atomic_store(&rc->is_gone, true);
		return;
	}
	if (atomic_load(&rc->context) == context) {
		range_own_begin();
		range_profiler_close(&rc->profiler);
		range_own_end();
		forget(rc);
	}
	unlock(rc);
}

void cupti_ranges_end(struct cupti *c, void *context)
{
	struct ranged_context *rc = ranges.wanted ? find(context) : NULL;

	if (!rc || !begin_call())
		return;
	end_context(c, rc, context);
	end_call();
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
		{ranges.n_dropped, is_lasting() ? "ranges for which CUPTI had no room"
						: "kernels for which CUPTI had no room"},
		{ranges.n_unread, is_lasting() ? "ranges that CUPTI failed to give back"
					       : "kernels whose ranges CUPTI failed to give back"},
		{atomic_load(&ranges.n_captured_besides), "launches while a stream was captured"},
		{atomic_load(&ranges.n_others), "launches of CUDA graphs"},
		{atomic_load(&ranges.n_interrupted),
		 "launches by handlers of signals within others, and these"},
		{atomic_load(&ranges.n_gone),
		 "ranges of a context that ended while another thread waited for it"},
	};
	char text[500];
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

/* ---- flushes ---- */

/* Kernels that are seen a little later are nobody's loss; a program that stands still is. */
static bool is_due(void)
{
	return clock_monotonic_ns() - ranges.opened_ns >= PAUSES * atomic_load(&ranges.paused_ns);
}

/* Everything that is owed has run, and nobody launches more. */
static bool settle_behind_gate(struct cupti *c)
{
	bool is_settled;

	ranges.closed_ns = clock_monotonic_ns();
	is_settled = range_gate_close() && settle_all(c) && range_gate_is_closed();
	if (is_settled)
		atomic_store(&ranges.is_owed, false);
	return is_settled;
}

/* What is not settled in time is not before the flush after this one. */
static bool settle_for(struct cupti *c, enum flush how)
{
	if (!is_replayed() || how >= FLUSH_ALL) {
		if (how >= FLUSH_MEASURED)
			settle_all(c);
		return how >= FLUSH_ALL;
	}
	if (!atomic_load(&ranges.is_owed) || (how == FLUSH_COMPLETE && !is_due()))
		return false;
	return settle_behind_gate(c);
}

bool cupti_ranges_settle(struct cupti *c, enum flush how)
{
	bool is_settled;

	if (!ranges.wanted || !begin_call())
		return false;
	is_settled = settle_for(c, how);
	end_call();
	return is_settled;
}

void cupti_ranges_resume(void)
{
	if (!ranges.closed_ns)
		return;
	range_gate_open();
	ranges.opened_ns = clock_monotonic_ns();
	atomic_store(&ranges.paused_ns, ranges.opened_ns - ranges.closed_ns);
	log_debug(2, "cupti", "launches paused for %llu us by a flush",
		  (unsigned long long)(ranges.opened_ns - ranges.closed_ns) / 1000);
	ranges.closed_ns = 0;
}

void cupti_ranges_last(struct cupti *c)
{
	if (!ranges.wanted)
		return;
	range_joins_end(c);
	tell_missing(c);
	range_own_tell(c);
}
