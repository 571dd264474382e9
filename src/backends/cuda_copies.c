/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cuda_copies.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "backends/cuda_driver.h"
#include "backends/pages.h"
#include "base/clock.h"
#include "base/util.h"

enum {
	COPIES_MAX = 4096, /* at a time */
	RINGS_MAX = 16,    /* ever */
	ALIGNMENT = 256,
	ALL_CONTEXTS = 1,    /* flag of cuMemHostRegister() */
	WITHOUT_TIME = 2,    /* … of cuEventCreate() */
	CAPTURES_ANYHOW = 2, /* mode of a capture: calls that allocate do not end it */
	NOT_READY = 600,     /* of cuEventQuery() */
	CAPTURED_BESIDE =
		906, /* of cuStreamIsCapturing(): another one is, which the legacy stream waits for */
	LOOK_NS = 50000,
};
#define RING_FIRST ((size_t)64 << 20)
#define RING_LAST  ((size_t)1 << 30)

#define FUNCTIONS(_)                                                                               \
	_(cuStreamIsCapturing, (void *stream, int *status))                                        \
	_(cuThreadExchangeStreamCaptureMode, (int *mode))                                          \
	_(cuStreamGetCtx, (void *stream, void **ret))                                              \
	_(cuCtxPushCurrent_v2, (void *context))                                                    \
	_(cuCtxPopCurrent_v2, (void **ret))                                                        \
	_(cuCtxGetDevice, (int *ret))                                                              \
	_(cuMemHostRegister_v2, (void *p, size_t size, unsigned flags))                            \
	_(cuMemHostUnregister, (void *p))                                                          \
	_(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t size, void *stream))              \
	_(cuEventCreate, (void **ret, unsigned flags))                                             \
	_(cuEventRecord, (void *event, void *stream))                                              \
	_(cuEventQuery, (void *event))                                                             \
	_(cuEventDestroy_v2, (void *event))

enum copy_state { COPY_FREE, COPY_BEGUN, COPY_DONE, COPY_FAILED };

struct copy {
	enum copy_state state;
	int32_t device;
	void *context, *event; /* they stay when it is taken, for the next one here */
	size_t at, size;       /* in the ring */
	struct cuda_copy_tag tag;
};

static struct driver {
#define _(name, parameters) uint32_t(*name) parameters;
	FUNCTIONS(_)
#undef _
} cuda;

/* Of what is begun, and its order; `taking`: who takes, one at a time, and takes it first. The driver is called with
 * either. */
static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
static struct copy copies[COPIES_MAX];
static uint32_t first;           /* the oldest */
static _Atomic uint32_t n_begun; /* from there on */
static struct ring {
	char *at;
	size_t size, head; /* where the next copy goes */
	bool is_spoiled; /* a copy into it may be under way that is not waited for, or it is no context's any more */
} ring;
static _Atomic uintptr_t rings[RINGS_MAX]; /* all that there ever were: the last one is `ring` */
static unsigned n_rings;

/* Once: the driver stays. */
static bool bind(void)
{
	static const struct cuda_function functions[] = {
#define _(name, parameters) {#name, offsetof(struct driver, name), true},
		FUNCTIONS(_)
#undef _
	};
	static bool has_all;

	pthread_mutex_lock(&beginning);
	if (!has_all)
		has_all = cuda_driver_bind(&cuda, functions, ARRAY_SIZE(functions));
	pthread_mutex_unlock(&beginning);
	return has_all;
}

static struct copy *copy_at(uint32_t i)
{
	return &copies[(first + i) % COPIES_MAX];
}

/* ---- the ring ---- */

bool cuda_copies_owns(uint64_t address)
{
	bool owns = false;

	for (size_t i = 0; i < RINGS_MAX && address; i++)
		owns = owns || atomic_load(&rings[i]) == address;
	return owns;
}

/* Its address stays taken, so that nobody else's memory is taken for ours. */
static void ring_drop(void)
{
	if (ring.at && cuda.cuMemHostUnregister(ring.at) == 0)
		madvise(ring.at, ring.size, MADV_DONTNEED);
	ring = (struct ring){NULL, 0, 0, false};
}

/* One for copies of this size, in place of the one that there is, which is empty. */
static bool ring_make(size_t least)
{
	size_t size = RING_FIRST;
	void *p;

	while (size < least)
		size *= 2;
	if (n_rings == RINGS_MAX || !(p = pages_reserve(size)))
		return false;
	ring_drop();
	atomic_store(&rings[n_rings],
		     (uintptr_t)p); /* the record of it may come before we are back */
	if (cuda.cuMemHostRegister_v2(p, size, ALL_CONTEXTS)) {
		atomic_store(&rings[n_rings], 0);
		munmap(p, size);
		return false;
	}
	n_rings++;
	madvise(p, size, MADV_DONTFORK);
	ring = (struct ring){p, size, 0, false};
	return true;
}

/* Behind the newest copy, or from the start again; false: not now. A head at the tail would be one of an empty ring. */
static bool ring_room(size_t size, size_t *ret_at)
{
	size_t tail = n_begun ? copy_at(0)->at : 0;
	size_t head = n_begun ? (ring.head + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
	bool has_wrapped = n_begun && head <= tail;

	if (n_begun == COPIES_MAX || (n_begun && ring.is_spoiled))
		return false;
	if (!has_wrapped && (head > ring.size || size > ring.size - head)) {
		has_wrapped = true;
		head = 0;
	}
	*ret_at = head;
	return !has_wrapped || (n_begun && head < tail && size < tail - head);
}

/* ---- beginning ---- */

static bool event_for(struct copy *c, void *context)
{
	if (c->event && c->context == context)
		return true;
	if (c->event)
		cuda.cuEventDestroy_v2(c->event);
	c->event = NULL;
	c->context = context;
	return cuda.cuEventCreate(&c->event, WITHOUT_TIME) == 0;
}

/* The stream's context is the current one. */
static int begin(void *context, void *stream, uint64_t from, size_t size,
		 const struct cuda_copy_tag *tag, const char **ret_why)
{
	struct copy *c;
	size_t at;
	int device;

	*ret_why = "there is no memory that copies run into by themselves";
	if (size > RING_LAST)
		*ret_why = "they are more than 1 GiB";
	if (size > RING_LAST ||
	    (!n_begun && (size > ring.size || ring.is_spoiled) && !ring_make(size)))
		return -EINVAL;
	if (!ring_room(size, &at))
		return -EAGAIN;
	c = copy_at(n_begun);
	*ret_why = "the driver does not copy them";
	if (!event_for(c, context) || cuda.cuCtxGetDevice(&device) ||
	    cuda.cuMemcpyDtoHAsync_v2(ring.at + at, from, size, stream))
		return -EINVAL;
	c->device = device;
	c->at = at;
	c->size = size;
	c->tag = *tag;
	c->state = cuda.cuEventRecord(c->event, stream) ? COPY_FAILED : COPY_BEGUN;
	ring.is_spoiled = c->state == COPY_FAILED;
	ring.head = at + size;
	n_begun++;
	return 0;
}

static int begin_in_context(void *stream, uint64_t from, size_t size,
			    const struct cuda_copy_tag *tag, const char **ret_why)
{
	void *context = NULL;
	int r;

	*ret_why = "the stream has no context";
	if (cuda.cuStreamGetCtx(stream, &context) || cuda.cuCtxPushCurrent_v2(context))
		return -EINVAL;
	pthread_mutex_lock(&beginning);
	r = begin(context, stream, from, size, tag, ret_why);
	pthread_mutex_unlock(&beginning);
	cuda.cuCtxPopCurrent_v2(&context);
	return r;
}

int cuda_copy_begin(void *stream, uint64_t from, size_t size, const struct cuda_copy_tag *tag,
		    const char **ret_why)
{
	int status = 0, mode = CAPTURES_ANYHOW, r = -EINVAL;
	uint32_t answer;

	cuda_driver_ours++;
	*ret_why = "the driver is too old, or is not there";
	if (bind()) {
		answer = cuda.cuStreamIsCapturing(stream, &status);
		*ret_why = "the stream is not known";
		if (answer == CAPTURED_BESIDE || status) {
			*ret_why = "they were captured into a graph";
			r = -EBUSY;
		} else if (!answer && !cuda.cuThreadExchangeStreamCaptureMode(&mode)) {
			r = begin_in_context(stream, from, size, tag, ret_why);
			cuda.cuThreadExchangeStreamCaptureMode(&mode);
		}
	}
	cuda_driver_ours--;
	return r;
}

/* ---- taking ---- */

static void look(struct copy *c)
{
	uint32_t answer;

	if (c->state != COPY_BEGUN)
		return;
	answer = cuda.cuEventQuery(c->event);
	if (answer != NOT_READY)
		c->state = answer ? COPY_FAILED : COPY_DONE;
}

/* The oldest, as soon as it is over. */
static bool wait_for_oldest(struct cuda_copied *ret, uint64_t until_ns)
{
	const struct timespec nap = {0, LOOK_NS};
	int mode = CAPTURES_ANYHOW;
	bool is_over = false;

	do {
		pthread_mutex_lock(&beginning);
		if (n_begun) {
			struct copy *c = copy_at(0);

			cuda.cuThreadExchangeStreamCaptureMode(&mode);
			look(c);
			cuda.cuThreadExchangeStreamCaptureMode(&mode);
			is_over = c->state != COPY_BEGUN;
			*ret = (struct cuda_copied){c->state == COPY_DONE ? ring.at + c->at : NULL,
						    c->size, c->device, c->tag};
		}
		pthread_mutex_unlock(&beginning);
		if (is_over || !cuda_copies_pending() || clock_monotonic_ns() >= until_ns)
			break;
		nanosleep(&nap, NULL);
	} while (true);
	return is_over;
}

static void retire_oldest(void)
{
	pthread_mutex_lock(&beginning);
	if (n_begun) {
		copies[first].state = COPY_FREE;
		first = (first + 1) % COPIES_MAX;
		n_begun--;
	}
	pthread_mutex_unlock(&beginning);
}

bool cuda_copies_take(cuda_copied_fn *fn, uint32_t wait_ms)
{
	uint64_t until_ns = clock_monotonic_ns() + wait_ms * NSEC_PER_MSEC;
	size_t n = cuda_copies_pending();
	struct cuda_copied copied;

	if (!n)
		return true;
	cuda_driver_ours++;
	pthread_mutex_lock(&taking);
	for (; n && wait_for_oldest(&copied, until_ns); n--) {
		fn(&copied);
		retire_oldest();
	}
	pthread_mutex_unlock(&taking);
	cuda_driver_ours--;
	return !cuda_copies_pending();
}

size_t cuda_copies_pending(void)
{
	return atomic_load(&n_begun);
}

/* Which one goes is not known: they all do, with their events. */
void cuda_copies_forget(void)
{
	if (!cuda_copies_pending() && !ring.at)
		return;
	cuda_driver_ours++;
	pthread_mutex_lock(&beginning);
	for (uint32_t i = 0; i < n_begun; i++) {
		struct copy *c = copy_at(i);

		look(c);
		if (c->state == COPY_BEGUN)
			c->state = COPY_FAILED;
	}
	for (size_t i = 0; i < COPIES_MAX; i++)
		copies[i].event = NULL;
	ring.is_spoiled = true;
	pthread_mutex_unlock(&beginning);
	cuda_driver_ours--;
}

void cuda_copies_forked(void)
{
	pthread_mutex_init(&beginning, NULL);
	pthread_mutex_init(&taking, NULL);
	memset(copies, 0, sizeof(copies));
	first = 0;
	atomic_store(&n_begun, 0);
	ring = (struct ring){NULL, 0, 0, false};
	n_rings = 0;
	for (size_t i = 0; i < RINGS_MAX; i++)
		atomic_store(&rings[i], 0);
}
