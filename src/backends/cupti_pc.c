/* SPDX-License-Identifier: MIT */
/* PC sampling: in which instruction of which function the multiprocessors are, at an interval, and why a warp waits there.
 *
 *     context made      settings, buffers; sampling begins        the thread that makes it
 *     a launch          the same, in a context older than we are  the thread that launches
 *     a flush           GetData of each context                   the flusher
 *     module unloads    GetData: what is in it has no name after  the thread that unloads it
 *     context ends      GetData, Disable                          the thread that destroys it
 *     program ends      the same, of all                          the flusher
 *
 * A buffer of the hardware's that was full stays full, whatever is read: its context is read no more.
 *
 * CUPTI is called for one context by one thread at a time, who has the turn. Who comes from a callback may hold a lock of
 * the driver's: it does not wait for long, and what it then leaves is a loss. A context that is refused is told once, and
 * all that is not samples goes on. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "backends/cupti.h"
#include "backends/cupti_pc_sampler.h"
#include "backends/cupti_refusals.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"

enum {
	CONTEXTS_MAX = 64,
	READS_MAX = 256,  /* of one context in one flush */
	WAIT_MS = 500,    /* in a callback, for the flusher */
	LINGER_MS = 2000, /* at the end, for samples that are still decoded */
};

struct sampled_context {
	_Atomic(void *) context; /* NULL: this place is free */
	/* It was destroyed while somebody had the turn: who has it next frees the place. */
	atomic_bool is_gone;
	bool is_on, was_full;
	int32_t device;
	struct pc_sampler sampler;
};

static struct {
	atomic_bool busy; /* somebody has the turn */
	atomic_bool is_over;
	struct sampled_context contexts[CONTEXTS_MAX];
	_Atomic uint32_t n_ended; /* contexts: another one may have the address of one */
	uint32_t told;            /* bits: what was said */
	int cancel;               /* whether who has the turn could be cancelled before */
} pc;

enum told { TOLD_REFUSED, TOLD_ABSENT, TOLD_MANY, TOLD_READING, TOLD_FULL, TOLD_BESIDE, TOLD_LATE };

static void nap_ms(unsigned ms)
{
	const struct timespec nap = {0, (long)ms * (long)NSEC_PER_MSEC};

	nanosleep(&nap, NULL);
}

/* CUPTI must not be asked for what is gone. */
static void free_gone(void)
{
	for (size_t i = 0; i < CONTEXTS_MAX; i++) {
		if (!atomic_load(&pc.contexts[i].is_gone))
			continue;
		pc.contexts[i].is_on = false;
		atomic_store(&pc.contexts[i].context, NULL);
		atomic_store(&pc.contexts[i].is_gone, false);
	}
}

/* Who has it is not cancelled: nobody would ever give it back. */
static bool turn_take(unsigned ms)
{
	uint64_t until_ns = clock_monotonic_ns() + ms * NSEC_PER_MSEC;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (atomic_exchange(&pc.busy, true)) {
		if (clock_monotonic_ns() >= until_ns) {
			pthread_setcancelstate(cancel, NULL);
			return false;
		}
		nap_ms(1);
	}
	pc.cancel = cancel;
	free_gone();
	return true;
}

static void turn_give(void)
{
	int cancel = pc.cancel;

	atomic_store(&pc.busy, false);
	pthread_setcancelstate(cancel, NULL);
}

static void tell(struct cupti *c, enum told what, const char *sentence)
{
	if (pc.told >> what & 1)
		return;
	pc.told |= 1u << what;
	c->sink->ops->note(c->sink, sentence);
}

static bool is_wanted(const struct cupti *c)
{
	return c->pc_sampling && c->sink->ops->sampled;
}

/* ---- refusals ---- */

static void refuse(struct cupti *c, const char *call, uint32_t result)
{
	const char *why = cupti_refusal(CUPTI_SAMPLES_CODE, result);
	char text[400];

	snprintf(text, sizeof(text), "the code of kernels is not sampled: %s (%s: error %u)",
		 why ? why : "CUPTI refuses it", call, result);
	tell(c, TOLD_REFUSED, text);
}

/* ---- beginning ---- */

static void begin(struct cupti *c, struct sampled_context *x)
{
	const struct pc_sampler_settings settings = {
		.period = c->pc_sampling & ~PC_SAMPLING_EXACT,
		.buffer_mib =
			c->wanted.pc_buffer_mib ? c->wanted.pc_buffer_mib : PC_SAMPLER_BUFFER_MIB,
		.is_exact = c->pc_sampling & PC_SAMPLING_EXACT};
	uint32_t device = 0,
		 result = pc_sampler_open(&x->sampler, &c->api, c->version, x->context, &settings);

	if (result != ABI_OK) {
		refuse(c, x->sampler.at, result);
		return;
	}
	if (c->api.cuptiGetDeviceId && c->api.cuptiGetDeviceId(x->context, &device) == ABI_OK)
		x->device = (int32_t)device;
	x->is_on = true;
	log_debug(1, "cupti", "samples of context %p, device %d", (void *)x->context,
		  (int)x->device);
}

static struct sampled_context *find(const void *context)
{
	for (size_t i = 0; i < CONTEXTS_MAX; i++)
		if (pc.contexts[i].context == context && !atomic_load(&pc.contexts[i].is_gone))
			return &pc.contexts[i];
	return NULL;
}

/* With the turn; is it sampled? */
static bool add_context(struct cupti *c, void *context)
{
	struct sampled_context *x = find(context);

	if (!x && (x = find(NULL))) {
		x->is_on = x->was_full = false;
		x->context = context;
		begin(c, x);
	} else if (!x) {
		tell(c, TOLD_MANY,
		     "the code of kernels is not sampled in all contexts: there are more than 64");
	}
	return x && x->is_on;
}

static bool can_begin(struct cupti *c, const void *context)
{
	if (!is_wanted(c) || !context || atomic_load(&pc.is_over))
		return false;
	if (!pc_sampler_has(&c->api))
		tell(c, TOLD_ABSENT,
		     "the code of kernels is not sampled: this libcupti is older than CUDA 11.3");
	return pc_sampler_has(&c->api);
}

void cupti_pc_context(struct cupti *c, void *context)
{
	if (!can_begin(c, context))
		return;
	if (!turn_take(WAIT_MS)) { /* its first launch tries again */
		c->sink->ops->lose(c->sink, LOSS_PC_UNREAD, 1);
		return;
	}
	add_context(c, context);
	turn_give();
}

/* While a stream is captured the driver permits little, and what it refuses ends the capture: the launch after it is soon
 * enough. */
void cupti_pc_launch(struct cupti *c, void *context)
{
	uint32_t n_ended = atomic_load(&pc.n_ended);

	if (!can_begin(c, context))
		return;
	if (!find(context)) {
		if (atomic_load(&c->n_capturing) || !turn_take(0))
			return;
		if (add_context(c, context))
			tell(c, TOLD_LATE,
			     "sampling of code began when there were contexts already: of modules "
			     "that were loaded before, no lines are known");
		turn_give();
	}
	cupti_thread.sampled = context;
	cupti_thread.sampled_n_ended = n_ended;
}

bool cupti_pc_is_known(const void *context)
{
	return cupti_thread.sampled == context &&
	       cupti_thread.sampled_n_ended ==
		       atomic_load_explicit(&pc.n_ended, memory_order_relaxed);
}

void cupti_pc_start(struct cupti *c)
{
	uint32_t none = 0;

	if (c->ranges) {
		tell(c, TOLD_BESIDE,
		     "the code of kernels is not sampled: --metrics has the hardware counters");
		return;
	}
	if (!c->sink->ops->sampled ||
	    !atomic_compare_exchange_strong(&c->pc_sampling, &none, PC_SAMPLING_USUAL))
		return;
	atomic_store(&c->want_attribution, true);
}

/* ---- reading ---- */

static void deliver(struct cupti *c, const struct sampled_context *x, const struct abi_pc_record *r)
{
	const struct pc_sampler *p = &x->sampler;
	struct pc_sampled s = {.cubin = r->cubin,
			       .offset = r->offset,
			       .function = r->function ? r->function : "<unnamed kernel>",
			       .device = x->device};

	if (c->pc_sampling & PC_SAMPLING_EXACT && c->version >= ABI_VERSION_12_4)
		s.launch = cupti_launches_find(&c->launches, r->correlation);
	for (size_t i = 0; i < r->n_reasons && i < p->n_reasons; i++) {
		uint32_t index = r->reasons[i].index;

		if (index >= ARRAY_SIZE(p->reason) || !p->reason[index].is_known)
			s.n[PC_OTHER] += r->reasons[i].n;
		else if (p->reason[index].is_not_issued)
			s.n_not_issued += r->reasons[i].n;
		else
			s.n[p->reason[index].reason] += r->reasons[i].n;
	}
	c->sink->ops->sampled(c->sink, &s);
}

static void take(struct cupti *c, struct sampled_context *x, struct abi_pc_data *data)
{
	for (size_t i = 0; i < data->n && i < PC_SAMPLER_RECORDS; i++)
		deliver(c, x, &data->records[i]);
	if (data->n_dropped)
		c->sink->ops->lose(c->sink, LOSS_PC_DROPPED, data->n_dropped);
	if (data->is_full) {
		c->sink->ops->lose(c->sink, LOSS_PC_BUFFER, 1);
		tell(c, TOLD_FULL,
		     "the GPU's buffer of samples of code was full, and those that followed are lost; "
		     "ask for fewer, such as --pc-sampling=2^20, or for a larger one (buffer=SIZE)");
		x->was_full = true;
	}
	data->n = data->n_remaining = 0;
	data->n_dropped = 0;
	data->is_full = 0;
}

/* One portion; false: there is no other one now. */
static bool read_once(struct cupti *c, struct sampled_context *x)
{
	struct abi_pc_data *data = &x->sampler.ours->data;
	uint32_t result = pc_sampler_read(&x->sampler);
	size_t n_left;
	char text[160];

	if (result == ABI_NO_MEMORY)
		data->is_full = 1;
	else if (result != ABI_OK) {
		snprintf(text, sizeof(text),
			 "samples of the code of kernels are not read: error %u", result);
		tell(c, TOLD_READING, text);
		return false;
	}
	n_left = data->n_remaining;
	take(c, x, data);
	return result == ABI_OK && n_left > 0;
}

/* A buffer that was full is full at each later read (CUDA 13.0 on an H200), and to end sampling and begin anew while kernels run
 * did not return there. */
static void read_context(struct cupti *c, struct sampled_context *x)
{
	for (unsigned i = 0; x->context && !atomic_load(&x->is_gone) && x->is_on && !x->was_full &&
			     i < READS_MAX && read_once(c, x);
	     i++)
		;
}

/* The rest comes into the buffer that the settings name. */
static void end(struct cupti *c, struct sampled_context *x)
{
	if (x->is_on) {
		read_context(c, x);
		pc_sampler_close(&x->sampler);
		x->is_on = false;
		take(c, x, &x->sampler.theirs->data);
	}
	atomic_store(&x->context, NULL);
}

void cupti_pc_context_ends(struct cupti *c, const void *context)
{
	struct sampled_context *x;

	if (!is_wanted(c) || !context)
		return;
	atomic_fetch_add(&pc.n_ended, 1);
	if (!find(context))
		return;
	if (turn_take(WAIT_MS)) {
		x = find(context);
		if (x)
			end(c, x);
		turn_give();
	} else {
		x = find(context);
		if (x)
			atomic_store(&x->is_gone, true);
		c->sink->ops->lose(c->sink, LOSS_PC_UNREAD, 1);
	}
}

/* Of its own context alone: another one may be busy with what waits for this thread. */
static void module_ends(struct cupti *c, const void *context)
{
	struct sampled_context *x;

	if (!context || !find(context))
		return;
	if (!turn_take(WAIT_MS)) {
		c->sink->ops->lose(c->sink, LOSS_PC_UNREAD, 1);
		return;
	}
	x = find(context);
	if (x)
		read_context(c, x);
	turn_give();
}

void cupti_pc_module(struct cupti *c, const struct abi_resource_data *data, bool is_loaded)
{
	struct abi_pc_crc crc = {ABI_PC_SIZE(abi_pc_crc, ret_crc), 0, NULL, 0};
	const struct abi_module_data *module = data->descriptor;

	if (!is_wanted(c) || !pc_sampler_has(&c->api) || atomic_load(&pc.is_over))
		return;
	if (!is_loaded) {
		module_ends(c, data->context);
		return;
	}
	if (!module)
		return;
	crc.cubin = module->cubin;
	crc.cubin_bytes = module->cubin_bytes;
	if (crc.cubin && c->sink->ops->cubin && c->api.cuptiGetCubinCrc(&crc) == ABI_OK)
		c->sink->ops->cubin(c->sink, crc.ret_crc, module->cubin, module->cubin_bytes);
}

static bool turn_of_flusher(struct cupti *c, bool force)
{
	if (!is_wanted(c) || atomic_load(&pc.is_over))
		return false;
	if (turn_take(force ? LINGER_MS : 0))
		return true;
	if (force)
		c->sink->ops->lose(c->sink, LOSS_PC_UNREAD, 1);
	return false;
}

/* Forced, the program may be over next, or go on: sampling is not ended. */
void cupti_pc_flush(struct cupti *c, bool force)
{
	if (!turn_of_flusher(c, force))
		return;
	for (size_t i = 0; i < CONTEXTS_MAX; i++)
		read_context(c, &pc.contexts[i]);
	c->sink->ops->sampled_all(c->sink, force);
	turn_give();
}

void cupti_pc_end(struct cupti *c)
{
	if (!turn_of_flusher(c, true))
		return;
	for (size_t i = 0; i < CONTEXTS_MAX; i++)
		if (pc.contexts[i].context)
			end(c, &pc.contexts[i]);
	atomic_store(&pc.is_over, true);
	c->sink->ops->sampled_all(c->sink, true);
	turn_give();
}

void cupti_pc_forked(void)
{
	memset(&pc, 0, sizeof(pc));
}
