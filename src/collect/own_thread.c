/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/own_thread.h"
#include <sys/prctl.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

enum { STACK_SIZE = 256 * 1024 };

int own_thread_make(pthread_t *ret, void *(*run)(void *arg), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	if (!ret)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	r = pthread_create(ret ? ret : &thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return r;
}

/* In the child of a fork the stack may be the one that a thread of the parent had, on which
 * AddressSanitizer still sees its frames: it was not asked when this thread was made. */
static void forget_frames(void)
{
#ifdef __SANITIZE_ADDRESS__
	pthread_attr_t attr;
	size_t size;
	void *base;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	pthread_attr_getstack(&attr, &base, &size);
	pthread_attr_destroy(&attr);
	ASAN_UNPOISON_MEMORY_REGION(base, (char *)__builtin_frame_address(0) - (char *)base);
#endif
}

void own_thread_begin(const char *name)
{
	forget_frames();
	prctl(PR_SET_NAME, name);
}
