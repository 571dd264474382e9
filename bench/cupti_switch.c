/* SPDX-License-Identifier: MIT */
/* A libcupti for bench/launch_cost: the real one, which this library needs, but for cuptiSubscribe,
 * whose callback can be switched off. So the cost of our callback is the difference between blocks
 * of launches of one process that call it and blocks that return at once. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef void callback_fn(void *user, int domain, uint32_t id, const void *data);

static callback_fn *real;
static volatile int on = 1;

void cupti_switch(int wanted);
void cupti_switch(int wanted)
{
	on = wanted;
}

static void callback(void *user, int domain, uint32_t id, const void *data)
{
	if (on || domain != 1)
		real(user, domain, id, data);
}

int cuptiSubscribe(void **subscriber, callback_fn *function, void *user);
int cuptiSubscribe(void **subscriber, callback_fn *function, void *user)
{
	int (*next)(void **, callback_fn *, void *) =
		(int (*)(void **, callback_fn *, void *))dlsym(RTLD_NEXT, "cuptiSubscribe");

	real = function;
	return next(subscriber, callback, user);
}

int cuptiSubscribe_v2(void **subscriber, callback_fn *function, void *user, void *params);
int cuptiSubscribe_v2(void **subscriber, callback_fn *function, void *user, void *params)
{
	int (*next)(void **, callback_fn *, void *, void *) =
		(int (*)(void **, callback_fn *, void *, void *))dlsym(RTLD_NEXT,
								       "cuptiSubscribe_v2");

	real = function;
	return next(subscriber, callback, user, params);
}
