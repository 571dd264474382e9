/* SPDX-License-Identifier: MIT */
/* Preloaded: CLOCK_REALTIME is set by CLOCK_STEP_US when the process has asked for it for CLOCK_STEP_AT_MS, as a daemon
 * that keeps time does; and by CLOCK_STEP_EACH_US more each time that it is asked for. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t to_ns(const struct timespec *t)
{
	return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

static int64_t number(const char *name)
{
	const char *value = getenv(name);

	return value ? atoll(value) : 0;
}

static int64_t steady_ns(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return to_ns(&t);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ret)
{
	static _Atomic int64_t began_ns, n_looks;
	int64_t none = 0, ns;
	int r = (int)syscall(SYS_clock_gettime, id, ret);

	if (r < 0 || id != CLOCK_REALTIME)
		return r;
	ns = to_ns(ret) + n_looks++ * number("CLOCK_STEP_EACH_US") * 1000;
	*ret = (struct timespec){ns / 1000000000, ns % 1000000000};
	ns = steady_ns();
	__atomic_compare_exchange_n((int64_t *)&began_ns, &none, ns, 0, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	if (ns - began_ns > number("CLOCK_STEP_AT_MS") * 1000000) {
		ns = to_ns(ret) + number("CLOCK_STEP_US") * 1000;
		*ret = (struct timespec){ns / 1000000000, ns % 1000000000};
	}
	return r;
}
