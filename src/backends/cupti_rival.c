/* SPDX-License-Identifier: MIT */
/* Another user of CUPTI inside the program, as torch.profiler is one: seen as it calls.
 *
 *   the program ──> cuptiSubscribe() … of libproton.so, preloaded ──> of the libcupti that the caller would have had
 *
 * It gets what it asks for: we step aside first. When it has switched off all that it had on, or has left, we come back
 * with the next flush. PyTorch keeps its subscription for ever: that is taken from it then, and made anew when it
 * switches something on again; it goes on to use the handle that it knows. What it calls meanwhile does not touch what
 * is ours.
 *
 * A driver belongs to the first libcupti that subscribed, for as long as the process lives (error 39 from any other,
 * CUPTI 12.8 and 13.0): we take turns with users of the same file alone. Who finds CUPTI by dlsym() is not seen. */
#include "config.h" // IWYU pragma: keep

#include <dlfcn.h>
#include <link.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backends/cupti.h"
#include "base/clock.h"
#include "base/loaded.h"
#include "base/log.h"
#include "base/util.h"

enum {
	KINDS_MAX = 128,
	DOMAINS_MAX = 16,
	IDS_MAX = 1024, /* of callbacks of a domain; those from there on share the last one */
	QUIET_MS = 200, /* it has nothing on, and calls nothing */
};

/* owner: whoever has the turn, but for `c` and `is_coming` */
static struct {
	_Atomic(struct cupti *) c;
	atomic_bool is_coming; /* it subscribes just now */
	void *given;           /* its handle; NULL: it has none */
	void *current;         /* what CUPTI calls it now; NULL: taken from it */
	abi_callback_fn callback;
	void *user;
	abi_requested_fn requested;
	abi_completed_fn completed;
	/* What it has on: of records, of callbacks. */
	bool kinds[KINDS_MAX], callbacks[DOMAINS_MAX][IDS_MAX];
	bool had_kinds;   /* since it subscribed */
	uint64_t last_ns; /* its newest call */
} rival;

/* ---- whose function it would have been ---- */

static const void *base_of(const void *symbol)
{
	Dl_info info;

	return symbol && dladdr(symbol, &info) ? info.dli_fbase : NULL;
}

static bool is_ours(const void *symbol)
{
	return base_of(symbol) == base_of(&rival);
}

static void *find_in(const char *path, const char *name)
{
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
	void *symbol = library ? dlsym(library, name) : NULL;

	if (library)
		dlclose(library); /* it is loaded, and stays */
	return symbol && !is_ours(symbol) ? symbol : NULL;
}

/* Calls that were answered before. To look a function up takes the loader's lock, which in a child is held for ever
 * where a thread of the parent was at it: so that is done once for each place in the program. */
enum { CALLS_MAX = 128 };
static struct known_call {
	_Atomic(const void *) caller; /* written last */
	const char *name;
	void *function;
} known[CALLS_MAX];
static atomic_uint n_known;

static void *recall(const char *name, const void *caller)
{
	unsigned n = MIN(atomic_load_explicit(&n_known, memory_order_relaxed), (unsigned)CALLS_MAX);

	for (unsigned i = 0; i < n; i++)
		if (atomic_load_explicit(&known[i].caller, memory_order_acquire) == caller &&
		    known[i].name == name)
			return known[i].function;
	return NULL;
}

/* What is remembered must not be unloaded. */
static void pin(const void *function)
{
	Dl_info info;

	if (dladdr(function, &info))
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
}

static void remember(const char *name, const void *caller, void *function)
{
	unsigned at = atomic_load(&n_known);

	pin(function);
	/* Two threads at the same place may each remember it. */
	while (at < CALLS_MAX && !atomic_compare_exchange_weak(&n_known, &at, at + 1))
		;
	if (at >= CALLS_MAX)
		return;
	known[at].name = name;
	known[at].function = function;
	atomic_store_explicit(&known[at].caller, caller, memory_order_release);
}

/* In the libraries that the caller is linked to; else in those of the program; else in any. */
static void *look_up(const char *name, const void *caller)
{
	struct link_map *map = NULL;
	Dl_info info;
	void *symbol = NULL;

	if (dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0])
		symbol = find_in(map->l_name, name);
	if (!symbol)
		symbol = dlsym(RTLD_NEXT, name);
	return symbol ? symbol : find_in(loaded_path("libcupti.so"), name);
}

static void *next(const char *name, const void *caller)
{
	void *function = recall(name, caller);

	if (function)
		return function;
	function = look_up(name, caller);
	if (function)
		remember(name, caller, function);
	return function;
}

/* ---- what it has on ---- */

static void forget_all(void)
{
	rival.given = rival.current = NULL;
	rival.had_kinds = false;
	memset(rival.kinds, 0, sizeof(rival.kinds));
	memset(rival.callbacks, 0, sizeof(rival.callbacks));
}

static bool has_callbacks(uint32_t domain)
{
	return memchr(rival.callbacks[domain], true, IDS_MAX);
}

/* Who has had records on is done when they are off and calls are not told of, whatever else is: PyTorch is told of
 * contexts for ever. */
static bool has_something_on(void)
{
	if (memchr(rival.kinds, true, sizeof(rival.kinds)) || has_callbacks(ABI_DOMAIN_DRIVER) ||
	    has_callbacks(ABI_DOMAIN_RUNTIME))
		return true;
	return !rival.had_kinds && memchr(rival.callbacks, true, sizeof(rival.callbacks));
}

static void keep_kind(uint32_t kind, bool on)
{
	log_debug(2, "cupti", "another user: records of kind %u %s", kind, on ? "on" : "off");
	rival.kinds[MIN(kind, KINDS_MAX - 1u)] = on;
	rival.had_kinds |= on;
}

static void keep_callback(uint32_t domain, uint32_t id, bool on)
{
	log_debug(2, "cupti", "another user: callback %u of domain %u %s", id, domain,
		  on ? "on" : "off");
	rival.callbacks[MIN(domain, DOMAINS_MAX - 1u)][MIN(id, IDS_MAX - 1u)] = on;
}

static void keep_domain(uint32_t domain, bool on)
{
	log_debug(2, "cupti", "another user: domain %u %s", domain, on ? "on" : "off");
	memset(rival.callbacks[MIN(domain, DOMAINS_MAX - 1u)], on, IDS_MAX);
}

static void *as_cupti_knows_it(void *subscriber)
{
	return subscriber && subscriber == rival.given ? rival.current : subscriber;
}

/* ---- turns ---- */

static bool turn_take(void)
{
	if (!cupti_turn_take(true))
		return false;
	rival.last_ns = clock_monotonic_ns();
	return true;
}

static bool is_same_library(const struct cupti *c, const void *symbol)
{
	const void *ours = NULL;

	memcpy(&ours, &c->api.cuptiSubscribe, sizeof(ours));
	return ours && base_of(ours) == base_of(symbol);
}

static void tell(struct cupti *c, const void *caller)
{
	char text[PATH_MAX + 256];
	Dl_info info;

	snprintf(
		text, sizeof(text),
		"a profiler inside the program ('%s') had CUPTI for a time: what ran on the GPU meanwhile "
		"is not recorded (--hold keeps CUPTI for proton)",
		dladdr(caller, &info) ? info.dli_fname : "?");
	c->sink->ops->note(c->sink, text);
}

/* Who gave buffers once does not again, whether it has subscribed or not: records do not need that. */
static void register_anew(struct cupti *c)
{
	if (rival.requested)
		c->api.cuptiActivityRegisterCallbacks(rival.requested, rival.completed);
}

/* Its subscription, with all that it had on. */
static void subscribe_anew(struct cupti *c)
{
	if (!rival.given || rival.current)
		return;
	if (c->api.cuptiSubscribe(&rival.current, rival.callback, rival.user) != ABI_OK) {
		rival.current = NULL;
		return;
	}
	for (uint32_t domain = 0; domain < DOMAINS_MAX; domain++)
		for (uint32_t id = 0; has_callbacks(domain) && id < IDS_MAX; id++)
			if (rival.callbacks[domain][id])
				c->api.cuptiEnableCallback(1, rival.current, domain, id);
}

/* It wants something that is CUPTI's: symbol is the function that it calls. */
static void let_in(struct cupti *c, const void *symbol, const void *caller)
{
	/* Whole graphs are recorded from the first record on or not at all: a switch in between has wrong times. */
	if (!is_same_library(c, symbol) || c->wanted.hold || c->whole_graphs)
		return;
	if (atomic_load(&c->phase) == CUPTI_RUNNING && cupti_step_aside(c)) {
		register_anew(c);
		tell(c, caller);
	}
	if (atomic_load(&c->phase) == CUPTI_ASIDE)
		subscribe_anew(c);
}

static bool is_held_by_us(const struct cupti *c, const void *symbol)
{
	return cupti_running(c) && is_same_library(c, symbol);
}

/* ---- its calls ---- */

/* The function that a call of this name would have been. What has not the turn is passed on as it is. */
struct its_call {
	bool has_turn;
	struct cupti *c; /* NULL: we are not there yet */
	void *function;  /* NULL: there is none */
};

static struct its_call its_call(const char *name, const void *caller, bool wants_cupti)
{
	struct its_call call = {.function = next(name, caller)};

	if (!call.function)
		return call;
	call.c = atomic_load(&rival.c);
	call.has_turn = turn_take();
	if (call.has_turn && call.c && wants_cupti)
		let_in(call.c, call.function, caller);
	return call;
}

static uint32_t done(const struct its_call *call, uint32_t result)
{
	if (call->has_turn)
		cupti_turn_give();
	return result;
}

/* What it switches while we hold CUPTI it has not on any more; and it is ours that would be switched. */
static bool is_not_its(const struct its_call *call)
{
	return call->has_turn && call->c && is_held_by_us(call->c, call->function);
}

#define CALL(name, parameters, wants_cupti)                                                        \
	struct its_call call = its_call(#name, __builtin_return_address(0), wants_cupti);          \
	uint32_t(*function) parameters;                                                            \
                                                                                                   \
	if (!call.function)                                                                        \
		return ABI_NOT_INITIALIZED;                                                        \
	memcpy(&function, &call.function, sizeof(function))

static void keep_subscription(const struct its_call *call, uint32_t result, void **subscriber,
			      abi_callback_fn callback, void *user)
{
	if (!call->has_turn || result != ABI_OK)
		return;
	forget_all();
	rival.given = rival.current = *subscriber;
	rival.callback = callback;
	rival.user = user;
}

EXPORT uint32_t cuptiSubscribe(void **subscriber, abi_callback_fn callback, void *user);
uint32_t cuptiSubscribe(void **subscriber, abi_callback_fn callback, void *user)
{
	uint32_t result;
	CALL(cuptiSubscribe, (void **, abi_callback_fn, void *), true);

	atomic_store(&rival.is_coming, true);
	result = function(subscriber, callback, user);
	keep_subscription(&call, result, subscriber, callback, user);
	atomic_store(&rival.is_coming, false);
	return done(&call, result);
}

EXPORT uint32_t cuptiSubscribe_v2(void **subscriber, abi_callback_fn callback, void *user,
				  struct abi_subscriber_params *params);
uint32_t cuptiSubscribe_v2(void **subscriber, abi_callback_fn callback, void *user,
			   struct abi_subscriber_params *params)
{
	uint32_t result;
	CALL(cuptiSubscribe_v2, (void **, abi_callback_fn, void *, struct abi_subscriber_params *),
	     true);

	atomic_store(&rival.is_coming, true);
	result = function(subscriber, callback, user, params);
	keep_subscription(&call, result, subscriber, callback, user);
	atomic_store(&rival.is_coming, false);
	return done(&call, result);
}

EXPORT uint32_t cuptiUnsubscribe(void *subscriber);
uint32_t cuptiUnsubscribe(void *subscriber)
{
	void *its;
	CALL(cuptiUnsubscribe, (void *), false);

	/* One that it had before: CUPTI may have given us the same. */
	if (is_not_its(&call) && subscriber != rival.given)
		return done(&call, ABI_BAD_ARGUMENT);
	its = as_cupti_knows_it(subscriber);
	if (call.has_turn && subscriber == rival.given)
		forget_all();
	return done(&call, its || !subscriber ? function(its) : ABI_OK);
}

EXPORT uint32_t cuptiFinalize(void);
uint32_t cuptiFinalize(void)
{
	CALL(cuptiFinalize, (void), false);

	if (is_not_its(&call))
		return done(&call, ABI_OK);
	if (call.has_turn) {
		forget_all();
		rival.requested = NULL;
		rival.completed = NULL;
	}
	if (call.has_turn && call.c && is_same_library(call.c, call.function))
		call.c->is_renumbered = true;
	return done(&call, function());
}

EXPORT uint32_t cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain,
				    uint32_t id);
uint32_t cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t id)
{
	CALL(cuptiEnableCallback, (uint32_t, void *, uint32_t, uint32_t), enable);

	if (call.has_turn && subscriber == rival.given)
		keep_callback(domain, id, enable);
	return done(&call, is_not_its(&call)
				   ? ABI_OK
				   : function(enable, as_cupti_knows_it(subscriber), domain, id));
}

EXPORT uint32_t cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain);
uint32_t cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain)
{
	CALL(cuptiEnableDomain, (uint32_t, void *, uint32_t), enable);

	if (call.has_turn && subscriber == rival.given)
		keep_domain(domain, enable);
	return done(&call, is_not_its(&call)
				   ? ABI_OK
				   : function(enable, as_cupti_knows_it(subscriber), domain));
}

EXPORT uint32_t cuptiEnableAllDomains(uint32_t enable, void *subscriber);
uint32_t cuptiEnableAllDomains(uint32_t enable, void *subscriber)
{
	CALL(cuptiEnableAllDomains, (uint32_t, void *), enable);

	for (uint32_t i = 0; call.has_turn && subscriber == rival.given && i < DOMAINS_MAX; i++)
		keep_domain(i, enable);
	return done(&call,
		    is_not_its(&call) ? ABI_OK : function(enable, as_cupti_knows_it(subscriber)));
}

EXPORT uint32_t cuptiActivityRegisterCallbacks(abi_requested_fn requested,
					       abi_completed_fn completed);
uint32_t cuptiActivityRegisterCallbacks(abi_requested_fn requested, abi_completed_fn completed)
{
	uint32_t result;
	CALL(cuptiActivityRegisterCallbacks, (abi_requested_fn, abi_completed_fn), true);

	if (is_not_its(&call)) /* it did not get CUPTI */
		return done(&call, ABI_OTHER_SUBSCRIBER);
	result = function(requested, completed);
	if (call.has_turn && result == ABI_OK) {
		rival.requested = requested;
		rival.completed = completed;
	}
	return done(&call, result);
}

/* Of kinds of records, of all contexts or of one. */
static uint32_t switched(const struct its_call *call, uint32_t result, uint32_t kind, bool on)
{
	if (call->has_turn && result == ABI_OK)
		keep_kind(kind, on);
	return done(call, result);
}

EXPORT uint32_t cuptiActivityEnable(uint32_t kind);
uint32_t cuptiActivityEnable(uint32_t kind)
{
	CALL(cuptiActivityEnable, (uint32_t), true);

	return is_not_its(&call) ? done(&call, ABI_OTHER_SUBSCRIBER)
				 : switched(&call, function(kind), kind, true);
}

EXPORT uint32_t cuptiActivityDisable(uint32_t kind);
uint32_t cuptiActivityDisable(uint32_t kind)
{
	CALL(cuptiActivityDisable, (uint32_t), false);

	return is_not_its(&call) ? done(&call, ABI_OK)
				 : switched(&call, function(kind), kind, false);
}

EXPORT uint32_t cuptiActivityEnableContext(void *context, uint32_t kind);
uint32_t cuptiActivityEnableContext(void *context, uint32_t kind)
{
	CALL(cuptiActivityEnableContext, (void *, uint32_t), true);

	return is_not_its(&call) ? done(&call, ABI_OTHER_SUBSCRIBER)
				 : switched(&call, function(context, kind), kind, true);
}

EXPORT uint32_t cuptiActivityDisableContext(void *context, uint32_t kind);
uint32_t cuptiActivityDisableContext(void *context, uint32_t kind)
{
	CALL(cuptiActivityDisableContext, (void *, uint32_t), false);

	return is_not_its(&call) ? done(&call, ABI_OK)
				 : switched(&call, function(context, kind), kind, false);
}

/* How buffers are used is how we said. */
EXPORT uint32_t cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value);
uint32_t cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
	CALL(cuptiActivitySetAttribute, (uint32_t, size_t *, void *), false);

	if (is_not_its(&call) && (attribute == ABI_ATTRIBUTE_ZEROED_BUFFER ||
				  attribute == ABI_ATTRIBUTE_PER_THREAD_BUFFER))
		return done(&call, ABI_OK);
	return done(&call, function(attribute, size, value));
}

/* A flush of ours that is forced would make records without times of what still runs. */
EXPORT uint32_t cuptiActivityFlushAll(uint32_t flags);
uint32_t cuptiActivityFlushAll(uint32_t flags)
{
	CALL(cuptiActivityFlushAll, (uint32_t), false);

	return done(&call, is_not_its(&call) ? ABI_OK : function(flags));
}

/* ---- for us ---- */

void cupti_rival_watch(struct cupti *c)
{
	atomic_store(&rival.c, c);
}

void cupti_rival_forked(void)
{
	atomic_store(&rival.c, NULL);
	forget_all();
}

bool cupti_rival_has_cupti(void)
{
	return atomic_load(&rival.is_coming) || rival.current || has_something_on();
}

static bool has_left(void)
{
	return !has_something_on() &&
	       (!rival.given || clock_monotonic_ns() - rival.last_ns > QUIET_MS * NSEC_PER_MSEC);
}

void cupti_rival_look(struct cupti *c, bool last)
{
	cupti_count_aside(c);
	if (last || !has_left())
		return;
	if (rival.current) {
		/* Its last buffers are its own. */
		c->api.cuptiActivityFlushAll(ABI_FLUSH_FORCED);
		c->api.cuptiUnsubscribe(rival.current);
		rival.current = NULL;
	}
	cupti_come_back(c);
}
