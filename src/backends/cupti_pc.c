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
#include "backends/cupti_refusals.h"
#include "backends/pages.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"

enum {
	CONTEXTS_MAX = 64,
	RECORDS = 2048, /* that CUPTI gives at a time */
	REASONS_MAX = 96,
	READS_MAX = 256,  /* of one context in one flush */
	WAIT_MS = 500,    /* in a callback, for the flusher */
	LINGER_MS = 2000, /* at the end, for samples that are still decoded */
	SCRATCH_BYTES = 8 << 20,
	BUFFER_MIB = 64,
};

struct buffer {
	struct abi_pc_data data;
	struct abi_pc_record record[RECORDS];
	struct abi_pc_reason reason[RECORDS][REASONS_MAX];
};

struct sampled_context {
	_Atomic(void *) context; /* NULL: this place is free */
	/* It was destroyed while somebody had the turn: who has it next frees the place. */
	atomic_bool is_gone;
	bool is_on, was_full;
	int32_t device;
	size_t n_reasons;
	struct {
		uint8_t reason; /* enum pc_reason */
		bool is_known, is_not_issued;
	} reason[2 * REASONS_MAX];    /* by CUPTI's index */
	struct buffer *ours, *theirs; /* of GetData; that CUPTI fills when it is disabled */
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

static bool is_complete(const struct cupti_api *api)
{
	return api->cuptiPCSamplingEnable && api->cuptiPCSamplingDisable &&
	       api->cuptiPCSamplingSetConfigurationAttribute && api->cuptiPCSamplingGetData &&
	       api->cuptiPCSamplingGetNumStallReasons && api->cuptiPCSamplingGetStallReasons &&
	       api->cuptiGetCubinCrc;
}

/* Empty, be it a new one or one that CUPTI has filled: the number of reasons in it is then that of what it held. */
static void buffer_ready(const struct cupti *c, struct buffer **b, size_t n_reasons)
{
	if (!*b)
		*b = pages_reserve(sizeof(**b));
	if (!*b)
		return;
	(*b)->data = (struct abi_pc_data){
		.size = sizeof((*b)->data), .n_max = RECORDS, .records = (*b)->record};
	for (size_t i = 0; i < RECORDS; i++)
		(*b)->record[i] = (struct abi_pc_record){.size = c->version >= ABI_VERSION_12_4
									 ? sizeof((*b)->record[i])
									 : ABI_PC_RECORD_BYTES_11,
							 .n_reasons = n_reasons,
							 .reasons = (*b)->reason[i]};
}

/* Which number is which reason, as the library names them on this device. */
static uint32_t learn_reasons(struct cupti *c, struct sampled_context *x)
{
	static char text[REASONS_MAX][ABI_PC_NAME_BYTES];
	static uint32_t indices[REASONS_MAX];
	char *names[REASONS_MAX];
	struct abi_pc_count count = {ABI_PC_SIZE(abi_pc_count, ret_n), NULL, x->context,
				     &x->n_reasons};
	struct abi_pc_reasons reasons = {
		ABI_PC_SIZE(abi_pc_reasons, ret_names), NULL, x->context, 0, indices, names};
	uint32_t result = c->api.cuptiPCSamplingGetNumStallReasons(&count);

	if (result != ABI_OK)
		return result;
	if (!x->n_reasons || x->n_reasons > REASONS_MAX)
		return ABI_UNSUPPORTED;
	for (size_t i = 0; i < x->n_reasons; i++)
		names[i] = text[i];
	reasons.n = x->n_reasons;
	result = c->api.cuptiPCSamplingGetStallReasons(&reasons);
	for (size_t i = 0; result == ABI_OK && i < x->n_reasons; i++) {
		bool not_issued;
		enum pc_reason reason = pc_reason_of(text[i], &not_issued);

		if (indices[i] >= ARRAY_SIZE(x->reason))
			return ABI_UNSUPPORTED;
		x->reason[indices[i]].reason = (uint8_t)reason;
		x->reason[indices[i]].is_not_issued = not_issued;
		x->reason[indices[i]].is_known = true;
	}
	return result;
}

static uint32_t configure(struct cupti *c, struct sampled_context *x)
{
	bool exact = c->pc_sampling & PC_SAMPLING_EXACT;
	struct abi_pc_setting settings[] = {
		{.attribute = ABI_PC_PERIOD, .number = c->pc_sampling & ~PC_SAMPLING_EXACT},
		{.attribute = ABI_PC_BUFFER_BYTES,
		 .bytes = (size_t)(c->wanted.pc_buffer_mib ? c->wanted.pc_buffer_mib : BUFFER_MIB)
			  << 20},
		{.attribute = ABI_PC_SCRATCH_BYTES, .bytes = SCRATCH_BYTES},
		{.attribute = ABI_PC_MODE, .number = exact ? ABI_PC_SERIALIZED : ABI_PC_CONTINUOUS},
		{.attribute = ABI_PC_DATA, .pointer = &x->theirs->data},
	};
	struct abi_pc_settings all = {ABI_PC_SIZE(abi_pc_settings, settings), NULL, x->context,
				      ARRAY_SIZE(settings), settings};

	return c->api.cuptiPCSamplingSetConfigurationAttribute(&all);
}

static void disable(struct cupti *c, struct sampled_context *x)
{
	struct abi_pc_context params = {ABI_PC_SIZE(abi_pc_context, context), NULL, x->context};

	c->api.cuptiPCSamplingDisable(&params);
	x->is_on = false;
}

static void begin(struct cupti *c, struct sampled_context *x)
{
	struct abi_pc_context params = {ABI_PC_SIZE(abi_pc_context, context), NULL, x->context};
	const char *call = "cuptiPCSamplingEnable";
	uint32_t device = 0, result = c->api.cuptiPCSamplingEnable(&params);

	if (result != ABI_OK) {
		refuse(c, call, result);
		return;
	}
	call = "cuptiPCSamplingGetStallReasons";
	result = learn_reasons(c, x);
	if (result == ABI_OK) {
		buffer_ready(c, &x->ours, x->n_reasons);
		buffer_ready(c, &x->theirs, x->n_reasons);
		call = "cuptiPCSamplingSetConfigurationAttribute";
		result = x->ours && x->theirs ? configure(c, x) : ABI_NO_MEMORY;
	}
	if (result != ABI_OK) {
		disable(c, x);
		refuse(c, call, result);
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
	if (!is_complete(&c->api))
		tell(c, TOLD_ABSENT,
		     "the code of kernels is not sampled: this libcupti is older than CUDA 11.3");
	return is_complete(&c->api);
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
	struct pc_sampled s = {.cubin = r->cubin,
			       .offset = r->offset,
			       .function = r->function ? r->function : "<unnamed kernel>",
			       .device = x->device};

	if (c->pc_sampling & PC_SAMPLING_EXACT && c->version >= ABI_VERSION_12_4)
		s.launch = cupti_launches_find(&c->launches, r->correlation);
	for (size_t i = 0; i < r->n_reasons && i < x->n_reasons; i++) {
		uint32_t index = r->reasons[i].index;

		if (index >= ARRAY_SIZE(x->reason) || !x->reason[index].is_known)
			s.n[PC_OTHER] += r->reasons[i].n;
		else if (x->reason[index].is_not_issued)
			s.n_not_issued += r->reasons[i].n;
		else
			s.n[x->reason[index].reason] += r->reasons[i].n;
	}
	c->sink->ops->sampled(c->sink, &s);
}

static void take(struct cupti *c, struct sampled_context *x, struct abi_pc_data *data)
{
	for (size_t i = 0; i < data->n && i < RECORDS; i++)
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
	struct abi_pc_data *data = &x->ours->data;
	struct abi_pc_get get = {ABI_PC_SIZE(abi_pc_get, data), NULL, x->context, data};
	uint32_t result;
	size_t n_left;
	char text[160];

	for (size_t i = 0; i < RECORDS;
	     i++) /* it says how many there are, and reads how many may be */
		data->records[i].n_reasons = x->n_reasons;
	result = c->api.cuptiPCSamplingGetData(&get);
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
		disable(c, x);
		take(c, x, &x->theirs->data);
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

	if (!is_wanted(c) || !is_complete(&c->api) || atomic_load(&pc.is_over))
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
