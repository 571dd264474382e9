/* SPDX-License-Identifier: MIT */
/* How long the program is in calls of CUDA (--api).
 *
 *     cudaLaunchKernel ENTER   cuLaunchKernel ENTER, EXIT   EXIT
 *          ├── outer ──────────────┼─ launch, a wait ─┼──────┤ one call, to the context of the launch
 *
 * The runtime calls the driver, and one driver call another: what counts is the outermost, which the program made, and
 * that by whose name it made it. CUPTI's own records of calls would be two for each of these, need the callbacks all
 * the same to know the calling context, and go through buffers: callbacks alone are less. A thread that was in a call
 * as they came on has that of the driver. What we take in a launch is not the call's time. */
#include "config.h" // IWYU pragma: keep

#include "backends/cuda_driver.h"
#include "backends/cupti.h"
#include "base/clock.h"
#include "base/util.h"

static bool is_open(const struct cupti *c, const struct cupti_outer *o)
{
	return o->session == c->session;
}

static void open_call(struct cupti *c, uint32_t domain, uint32_t id)
{
	cupti_thread.outer = (struct cupti_outer){
		.session = c->session,
		.domain = domain,
		.id = id,
	};
}

/* A driver call has begun, as the outermost or within it; cupti_callback() saw it, from a time on. */
static void look_inside(struct cupti *c, uint32_t id, const struct abi_call *call, uint64_t from_ns)
{
	struct cupti_outer *o = &cupti_thread.outer;

	o->launch = cupti_launches_find(&c->launches, call->correlation);
	o->waits |= cupti_call_waits(id);
	if (o->start_ns)
		o->ours_ns += clock_realtime_ns() - from_ns;
}

static void enter(struct cupti *c, uint32_t domain, uint32_t id, const struct abi_call *call)
{
	struct cupti_outer *o = &cupti_thread.outer;
	bool is_outer = !is_open(c, o), launches;
	uint64_t from_ns;

	if (is_outer)
		open_call(c, domain, id);
	launches = domain == ABI_DOMAIN_DRIVER && cupti_call_launches(id);
	from_ns = launches && !is_outer ? clock_realtime_ns() : 0;
	if (domain == ABI_DOMAIN_DRIVER)
		cupti_callback(c, domain, id, call);
	if (launches)
		look_inside(c, id, call, from_ns);
	if (is_outer)
		o->start_ns = clock_realtime_ns();
}

/* Where it launched nothing it is as if it did now: the thread is where it was. */
static uint32_t context_of(struct cupti *c, const struct cupti_outer *o)
{
	uint32_t launch = o->launch;

	if (launch)
		return launch;
	launch = c->sink->ops->launch(c->sink, NULL);
	c->sink->ops->unlaunch(c->sink, 1);
	return launch;
}

static void leave(struct cupti *c, uint32_t domain, uint32_t id, const struct abi_call *call)
{
	struct cupti_outer *o = &cupti_thread.outer;
	struct activity a;
	bool is_outer = is_open(c, o) && o->domain == domain && o->id == id;
	uint64_t end_ns = is_outer ? clock_realtime_ns() : 0;

	if (domain == ABI_DOMAIN_DRIVER)
		cupti_callback(c, domain, id, call);
	if (!is_outer)
		return;
	o->session = 0;
	if (cuda_driver_ours)
		return;
	a = (struct activity){.kind = o->waits ? ACTIVITY_SYNC : ACTIVITY_CALL,
			      .name = call->function ? call->function : "<unnamed call>",
			      .start_ns = o->start_ns,
			      .end_ns = end_ns,
			      .uncounted = true};
	if (!o->waits) /* when a wait began has to be right; it launches nothing */
		a.start_ns += o->ours_ns;
	if (a.end_ns < a.start_ns) { /* the clock was set */
		c->sink->ops->lose(c->sink, LOSS_REVERSED_TIME, 1);
		return;
	}
	a.launch = context_of(c, o);
	c->sink->ops->record(c->sink, &a);
}

/* While CUPTI is another one's, nothing of it is ours but what has begun. */
static void callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
	struct cupti *c = user;
	const struct abi_call *call = data;

	if (domain != ABI_DOMAIN_DRIVER && domain != ABI_DOMAIN_RUNTIME)
		cupti_callback(c, domain, id, data);
	else if (!cupti_running(c))
		return;
	else if (call->site == ABI_ENTER)
		enter(c, domain, id, call);
	else
		leave(c, domain, id, call);
}

abi_callback_fn cupti_callback_for(const struct cupti *c)
{
	return c->calls ? callback : cupti_callback;
}
