/* SPDX-License-Identifier: MIT */
/* How long the program is in calls of CUDA (--api).
 *
 *     cudaLaunchKernel ENTER   cuLaunchKernel ENTER, EXIT   EXIT
 *          ├── outer ──────────────┼─ launch, a wait ─┼──────┤ one call, to the context of the launch
 *
 * The runtime calls the driver, and one driver call another: what counts is the outermost, which the program made, and
 * that by whose name it made it. CUPTI's own records of calls would be two for each of these, need the callbacks all
 * the same to know the calling context, and go through buffers: callbacks alone are less. A thread that was in a call
 * as they came on has that of the driver. What we take in a launch is not the call's time.
 *
 * Who jumps out of a call (siglongjmp() in a handler) leaves it open, and what follows would be within it:
 *
 *     cudaMalloc ENTER   <jump>   cudaFree ENTER, EXIT
 *          ├── outer ───  ···      is none of that: its parameters do not lie deeper in the stack
 *
 * Parameters lie in the frame of the function that was called, above all that it calls. And the driver does not call the
 * runtime. What is called deeper than the call that was left is taken for a part of it, until something is not. */
#include "config.h" // IWYU pragma: keep

#include "backends/cuda_driver.h"
#include "backends/cupti.h"
#include "base/clock.h"
#include "base/util.h"

static bool is_open(const struct cupti *c, const struct cupti_outer *o)
{
	return o->session == c->session;
}

enum { STACK_NEAR = 1 << 16 }; /* so far is it to the frames of those that called us, at most */

/* Not where a library keeps them elsewhere. */
static uintptr_t params_on_stack(const struct abi_call *call)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), params = (uintptr_t)call->params;

	return params > here && params - here < STACK_NEAR ? params : 0;
}

static void open_call(struct cupti *c, uint32_t domain, uint32_t id, const struct abi_call *call)
{
	cupti_thread.outer = (struct cupti_outer){
		.session = c->session,
		.domain = domain,
		.id = id,
		.correlation = call->correlation,
		.params = params_on_stack(call),
	};
}

/* One that is open while another begins: is that not within it? */
static bool was_left(const struct cupti_outer *o, uint32_t domain, const struct abi_call *call)
{
	uintptr_t params = params_on_stack(call);

	return (o->domain == ABI_DOMAIN_DRIVER && domain == ABI_DOMAIN_RUNTIME) ||
	       (params && o->params && params >= o->params);
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

	if (!is_outer && was_left(o, domain, call)) {
		c->sink->ops->lose(c->sink, LOSS_CALLS_LEFT, 1);
		is_outer = true;
	}
	if (is_outer)
		open_call(c, domain, id, call);
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
	bool is_outer = is_open(c, o) && o->domain == domain && o->id == id &&
			o->correlation == call->correlation;
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
