/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cuda_values.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include "backends/cuda_driver.h"
#include "backends/cuda_values_ptx.h" /* kernel_text[], of cuda_values.ptx */
#include "backends/pages.h"
#include "base/util.h"
#include "core/metric.h"

enum {
	VALUES_MAX = 16384,   /* of all contexts; the kernel has counters for as many */
	RING = 1 << 17,       /* entries of a context: 4 MiB */
	QUEUED_MAX = 1 << 18, /* numbers of all values that wait for their records */
	CONTEXTS_MAX = 64,
	ALL_CONTEXTS = 1, /* flags of cuMemHostRegister(): of all contexts, mapped for devices */
	MAPPED = 2,
	CAPTURES_ANYHOW = 2, /* mode of a capture: calls that allocate do not end it */
};

/* As the kernel writes it. */
struct entry {
	_Atomic uint64_t stamp; /* position + 1; 0: it is being written */
	_Atomic uint32_t value, run;
	_Atomic uint64_t number, sum;
};
_Static_assert(sizeof(struct entry) == 32, "as the kernel has it");

static const uint32_t sizes[CUDA_VALUE_N_KINDS] = {
	[CUDA_VALUE_F64] = 8,  [CUDA_VALUE_F32] = 4, [CUDA_VALUE_F16] = 2,
	[CUDA_VALUE_BF16] = 2, [CUDA_VALUE_I64] = 8, [CUDA_VALUE_I32] = 4,
	[CUDA_VALUE_I16] = 2,  [CUDA_VALUE_I8] = 1,  [CUDA_VALUE_U8] = 1,
};

/* Of a run whose record has not come. */
struct queued {
	uint32_t next; /* 0: the last one */
	uint32_t run;
	union cuda_number number, sum;
};

/* A number that graphs compute. */
struct value {
	uint32_t head, tail, n_waiting; /* of its queue */
	bool is_whole;
	uint32_t n_records;
	uint32_t upto; /* the newest run whose number was handed on, and the sum until then */
	union cuda_number given;
};

#define FUNCTIONS(_)                                                                               \
	_(cuStreamIsCapturing, (void *stream, int *status))                                        \
	_(cuThreadExchangeStreamCaptureMode, (int *mode))                                          \
	_(cuStreamGetCtx, (void *stream, void **ret))                                              \
	_(cuCtxPushCurrent_v2, (void *context))                                                    \
	_(cuCtxPopCurrent_v2, (void **ret))                                                        \
	_(cuModuleLoadData, (void **ret, const void *text))                                        \
	_(cuModuleGetFunction, (void **ret, void *module, const char *name))                       \
	_(cuMemHostRegister_v2, (void *p, size_t size, unsigned flags))                            \
	_(cuMemHostGetDevicePointer_v2, (uint64_t * ret, void *p, unsigned flags))                 \
	_(cuLaunchKernel,                                                                          \
	  (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,        \
	   unsigned bz, unsigned shared, void *stream, void **params, void **extra))

struct context {
	void *handle; /* NULL: it may be gone, and its ring is read to the end */
	void *kernel; /* NULL: the driver does not load it there */
	struct entry *ring;
	uint64_t ring_in_device;
	uint64_t position; /* of the entry that is read next */
};

static struct driver {
#define _(name, parameters) uint32_t(*name) parameters;
	FUNCTIONS(_)
#undef _
} cuda;

/* Of what is made: the contexts and values that there are stay. What rings bring is under `taking`. The driver may
 * deliver records while it is called with the former. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
static struct context contexts[CONTEXTS_MAX];
static _Atomic uint32_t n_contexts;
static _Atomic uintptr_t newest_ring;
static struct value values[VALUES_MAX];
static _Atomic uint32_t n_values;
static struct queued *queued;     /* QUEUED_MAX of them, of which the first stays free */
static uint32_t n_queued, unused; /* so many were ever used; the first of those that are not now */

static bool bind(void)
{
	static const struct cuda_function functions[] = {
#define _(name, parameters) {#name, offsetof(struct driver, name), true},
		FUNCTIONS(_)
#undef _
	};

	return cuda_driver_bind(&cuda, functions, ARRAY_SIZE(functions));
}

/* ---- what a context has of ours; it is the current one ---- */

static void *load(void)
{
	void *module = NULL, *kernel = NULL;

	return cuda.cuModuleLoadData(&module, kernel_text) == 0 &&
			       cuda.cuModuleGetFunction(&kernel, module, "proton_metric") == 0
		       ? kernel
		       : NULL;
}

/* The memory is ours, so that it outlives the context. */
static bool ring_make(struct context *c)
{
	size_t size = RING * sizeof(struct entry);
	void *p = pages_reserve(size);

	if (!p)
		return false;
	atomic_store(&newest_ring, (uintptr_t)p); /* the record of it may come before we are back */
	if (cuda.cuMemHostRegister_v2(p, size, ALL_CONTEXTS | MAPPED) ||
	    cuda.cuMemHostGetDevicePointer_v2(&c->ring_in_device, p, 0)) {
		munmap(p, size);
		return false;
	}
	madvise(p, size, MADV_DONTFORK);
	c->ring = p;
	return true;
}

bool cuda_values_owns(uint64_t address)
{
	uint32_t n = atomic_load(&n_contexts);
	bool owns = address && atomic_load(&newest_ring) == address;

	for (uint32_t i = 0; i < n && !owns; i++)
		owns = contexts[i].ring && (uintptr_t)contexts[i].ring == address;
	return owns;
}

/* One more. NULL: there are too many, or there is no memory. That the kernel is not loaded is no reason to ask
 * for it again. */
static struct context *context_make(void *handle)
{
	uint32_t n = atomic_load(&n_contexts);
	struct context c = {.handle = handle};

	if (n == CONTEXTS_MAX)
		return NULL;
	if (!queued)
		queued = pages_reserve_sparse(QUEUED_MAX * sizeof(*queued));
	if (!queued)
		return NULL;
	c.kernel = load();
	if (c.kernel && !ring_make(&c))
		return NULL;
	contexts[n] = c;
	atomic_store(&n_contexts, n + 1);
	return &contexts[n];
}

/* NULL, with a sentence: it has no place, no kernel or no memory. */
static struct context *context_of(void *handle, const char **ret_why)
{
	uint32_t n = atomic_load(&n_contexts);
	struct context *c = NULL;

	for (uint32_t i = 0; i < n && !c; i++)
		if (contexts[i].handle == handle)
			c = &contexts[i];
	if (!c)
		c = context_make(handle);
	*ret_why = c ? "the driver does not load the kernel that reads them"
		     : "there are too many contexts, or there is no memory";
	return c && c->kernel ? c : NULL;
}

/* The first of n; 0: there are too many. */
static uint32_t values_make(size_t n, bool is_whole)
{
	uint32_t first = atomic_load(&n_values);

	if (n > VALUES_MAX - first)
		return 0;
	for (size_t i = 0; i < n; i++)
		values[first + i] = (struct value){.is_whole = is_whole};
	atomic_store(&n_values, first + (uint32_t)n);
	return first + 1;
}

/* ---- capturing ---- */

/* What a launch needs. */
struct made {
	void *kernel;
	uint64_t ring;
	uint32_t first;
};

static bool make(void *handle, enum cuda_value_kind kind, size_t n, struct made *ret,
		 const char **ret_why)
{
	struct context *c;

	pthread_mutex_lock(&making);
	c = context_of(handle, ret_why);
	if (c) {
		*ret_why = "there are too many";
		ret->kernel = c->kernel;
		ret->ring = c->ring_in_device;
		ret->first = values_make(n, kind >= CUDA_VALUE_I64);
	}
	pthread_mutex_unlock(&making);
	return c && ret->first;
}

/* The context is the current one. */
static uint32_t put_node(void *handle, void *stream, uint64_t source, enum cuda_value_kind kind,
			 size_t n, const char **ret_why)
{
	uint32_t size = sizes[kind], code = kind, entries = RING, index;
	struct made made = {0};
	void *params[] = {&source, &size, &code, &made.ring, &entries, &index};

	if (!make(handle, kind, n, &made, ret_why))
		return 0;
	index = made.first - 1;
	*ret_why = "the kernel that reads them cannot be launched";
	return cuda.cuLaunchKernel(made.kernel, 1, 1, 1, (unsigned)n, 1, 1, 0, stream, params, NULL)
		       ? 0
		       : made.first;
}

static uint32_t capture(void *stream, uint64_t device_memory, enum cuda_value_kind kind, size_t n,
			const char **ret_why)
{
	int status = 0, mode = CAPTURES_ANYHOW;
	void *handle = NULL;
	uint32_t first = 0;

	*ret_why = "the driver is too old";
	if (!bind())
		return 0;
	_Static_assert(METRIC_VECTOR_MAX == 64, "as the sentence says");
	*ret_why = "1 to 64 numbers are read at once";
	if (kind >= CUDA_VALUE_N_KINDS || !n || n > METRIC_VECTOR_MAX)
		return 0;
	*ret_why = "there is no memory";
	if (!device_memory)
		return 0;
	*ret_why = "the stream is not being captured";
	if (cuda.cuStreamIsCapturing(stream, &status) || status != 1)
		return 0;
	if (cuda.cuThreadExchangeStreamCaptureMode(&mode))
		return 0;
	*ret_why = "the stream has no context";
	if (!cuda.cuStreamGetCtx(stream, &handle) && !cuda.cuCtxPushCurrent_v2(handle)) {
		first = put_node(handle, stream, device_memory, kind, n, ret_why);
		cuda.cuCtxPopCurrent_v2(&handle);
	}
	cuda.cuThreadExchangeStreamCaptureMode(&mode);
	return first;
}

uint32_t cuda_values_capture(void *stream, uint64_t device_memory, enum cuda_value_kind kind,
			     size_t n, const char **ret_why)
{
	uint32_t first;

	cuda_driver_ours++;
	first = capture(stream, device_memory, kind, n, ret_why);
	cuda_driver_ours--;
	return first;
}

/* ---- what runs brought ---- */

/* Takes the first out of a queue that has some. */
static void queue_drop(struct value *v)
{
	uint32_t i = v->head;

	v->head = queued[i].next;
	v->n_waiting--;
	queued[i].next = unused;
	unused = i;
}

/* The longest queue is left its newest, which has the sum of all before: nobody takes what is of a node whose records
 * do not come, or are of a node that is not known, and others must not wait for that. */
static void thin_out(void)
{
	uint32_t n = atomic_load(&n_values);
	struct value *longest = &values[0];

	for (uint32_t i = 1; i < n; i++)
		if (values[i].n_waiting > longest->n_waiting)
			longest = &values[i];
	while (longest->n_waiting > 1)
		queue_drop(longest);
}

static uint32_t queued_new(void)
{
	uint32_t i;

	if (!unused && n_queued + 1 < QUEUED_MAX)
		return ++n_queued;
	if (!unused)
		thin_out(); /* there are fewer values than places */
	i = unused;
	unused = queued[i].next;
	return i;
}

static void queue(uint32_t value, const struct queued *entry)
{
	struct value *v = &values[value];
	uint32_t i;

	if (value >= atomic_load(&n_values))
		return; /* of nobody's */
	i = queued_new();
	queued[i] = *entry;
	queued[i].next = 0;
	if (v->n_waiting++)
		queued[v->tail].next = i;
	else
		v->head = i;
	v->tail = i;
}

/* The entry at the position that is read next. False: it is not there yet. Where the ring went round, what was
 * overwritten is skipped. */
static bool read_entry(struct context *c, uint32_t *ret_value, struct queued *ret)
{
	const struct entry *e = &c->ring[c->position % RING];
	uint64_t stamp;

	while ((stamp = atomic_load(&e->stamp)) > c->position + 1) {
		c->position = stamp - RING;
		e = &c->ring[c->position % RING];
	}
	*ret_value = atomic_load(&e->value);
	ret->run = atomic_load(&e->run);
	ret->number.whole = (int64_t)atomic_load(&e->number);
	ret->sum.whole = (int64_t)atomic_load(&e->sum);
	return stamp == c->position + 1 && atomic_load(&e->stamp) == stamp;
}

static void read_rings(void)
{
	uint32_t value, n = atomic_load(&n_contexts);
	struct queued entry;

	for (uint32_t i = 0; i < n; i++)
		while (contexts[i].ring && read_entry(&contexts[i], &value, &entry)) {
			queue(value, &entry);
			contexts[i].position++;
		}
}

static bool is_before(uint32_t run, uint32_t other)
{
	return (int32_t)(run - other) < 0;
}

/* Runs whose number was handed on with a later one. */
static void drop_taken(struct value *v)
{
	while (v->n_waiting && !is_before(v->upto, queued[v->head].run))
		queue_drop(v);
}

static bool take_next(struct value *v, struct cuda_run *ret)
{
	const struct queued *q;

	v->n_records++;
	if (!is_before(v->upto, v->n_records))
		return false; /* it came with one before */
	drop_taken(v);
	if (!v->n_waiting)
		read_rings();
	drop_taken(v);
	if (!v->n_waiting)
		return false;
	/* Runs whose records came when their numbers could not be read yet. */
	while (v->n_waiting > 1 && !is_before(v->n_records, queued[queued[v->head].next].run))
		queue_drop(v);
	q = &queued[v->head];
	*ret = (struct cuda_run){q->number, q->number};
	if (q->run != v->upto + 1) {
		if (v->is_whole)
			ret->all.whole = q->sum.whole - v->given.whole;
		else
			ret->all.real = q->sum.real - v->given.real;
	}
	v->upto = q->run;
	v->given = q->sum;
	queue_drop(v);
	return true;
}

bool cuda_value_next(uint32_t value, struct cuda_run *ret)
{
	bool taken;

	if (!value || value > atomic_load(&n_values))
		return false;
	pthread_mutex_lock(&taking);
	taken = take_next(&values[value - 1], ret);
	pthread_mutex_unlock(&taking);
	return taken;
}

void cuda_values_forget(void)
{
	uint32_t n = atomic_load(&n_contexts);

	if (!n)
		return;
	pthread_mutex_lock(&making);
	for (uint32_t i = 0; i < n; i++)
		contexts[i].handle = NULL;
	pthread_mutex_unlock(&making);
}

void cuda_values_forked(void)
{
	pthread_mutex_init(&making, NULL);
	pthread_mutex_init(&taking, NULL);
	atomic_store(&n_contexts, 0);
	atomic_store(&n_values, 0);
	memset(values, 0, sizeof(values));
	n_queued = unused = 0;
}
