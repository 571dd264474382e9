/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cuda_arena.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include "backends/cuda_driver.h"
#include "backends/pages.h"
#include "backends/ptrmap.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/util.h"

enum {
	CONTEXTS_MAX = 16,
	SYMBOLS_MAX = 64,     /* names that modules have for it */
	SYMBOL_SIZE = 256,    /* of one, with its end */
	CAPTURES_ANYHOW = 2,  /* mode of a capture: calls that allocate do not end it */
	BESIDE_OTHERS = 1,    /* flag of cuStreamCreate(): does not wait for the legacy stream */
	MULTIPROCESSORS = 16, /* attribute of a device */
	USUAL_SLICE = 80 + 32 * 16,
	DUE_PART = 4, /* of a ring, that may be filled */
};
#define RING_MIN  ((size_t)64 << 20)
#define RING_MAX  ((size_t)256 << 20)
#define RING_PART 128 /* of the device's memory */
/* Behind the place where none begins any more is room for those who are about to: all warps that a device has at a time, whose
 * rings fit into shared memory: of at most 228 KiB a multiprocessor, beside 64 heads of 80 bytes. */
#define ROOM_OF_MULTIPROCESSOR ((size_t)256 << 10)

/* As kernels have it (include/proton/kernel.cuh). */
struct arena {
	uint64_t cursor, soft, dropped, ring, mask;
};
_Static_assert(sizeof(struct arena) == 40, "as kernels have it");

#define FUNCTIONS(_)                                                                               \
	_(cuCtxGetDevice, (int *ret))                                                              \
	_(cuDeviceGetAttribute, (int *ret, uint32_t attribute, int device))                        \
	_(cuDeviceTotalMem_v2, (size_t * ret, int device))                                         \
	_(cuCtxPushCurrent_v2, (void *context))                                                    \
	_(cuCtxPopCurrent_v2, (void **ret))                                                        \
	_(cuThreadExchangeStreamCaptureMode, (int *mode))                                          \
	_(cuStreamCreate, (void **ret, unsigned flags))                                            \
	_(cuStreamSynchronize, (void *stream))                                                     \
	_(cuMemAlloc_v2, (uint64_t * ret, size_t size))                                            \
	_(cuStreamWriteValue64_v2, (void *stream, uint64_t at, uint64_t value, unsigned flags))    \
	_(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t size, void *stream))              \
	_(cuModuleGetGlobal_v2,                                                                    \
	  (uint64_t * ret, size_t * ret_size, void *module, const char *name))                     \
	_(cuFuncGetModule, (void **ret, void *function))

/* Of drivers of 12.0 and later. */
#define FUNCTIONS_OF_LIBRARIES(_)                                                                  \
	_(cuKernelGetFunction, (void **ret, void *kernel))                                         \
	_(cuKernelGetLibrary, (void **ret, void *kernel))                                          \
	_(cuLibraryGetGlobal, (uint64_t * ret, size_t * ret_size, void *library, const char *name))

static struct driver {
#define _(name, parameters) uint32_t(*name) parameters;
	FUNCTIONS(_)
	FUNCTIONS_OF_LIBRARIES(_)
#undef _
} cuda;

struct context {
	_Atomic(void *) handle; /* NULL: it is gone */
	uint32_t number;
	int device;
	void *stream;
	size_t size, room;      /* of the ring; and of it, for those who are about to */
	uint64_t arena, ring;   /* device addresses */
	uint64_t read, dropped; /* position up to which slices were taken; and told */
	char *copy;             /* of the ring, as far as it is read */
};

/* What is known of a function in a context. */
enum { NOT_SCOPED = 1, RECORDED, FAILED };

/* Taken in this order. With the first two the driver is called, which may call us; with the last one it is not. */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t giving = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;
static struct context contexts[CONTEXTS_MAX];
static _Atomic uint32_t n_contexts;
static char symbols[SYMBOLS_MAX][SYMBOL_SIZE];
static _Atomic uint32_t n_symbols;
static atomic_bool is_wanted, is_followed;
static struct ptrmap seen; /* function and context -> what is known */
static atomic_bool has_seen;
static uint32_t n_held;             /* under `reading` */
static _Atomic uint64_t n_expected; /* bytes that launches since the last read may leave */
static _Atomic uint64_t slice_bytes = USUAL_SLICE;
static atomic_bool is_due;
static _Atomic uint64_t owned[2 * CONTEXTS_MAX]; /* addresses of all that was ever allocated */
static __thread bool is_giving __attribute__((tls_model("initial-exec")));

static bool bind(void)
{
	static const struct cuda_function functions[] = {
#define _(name, parameters) {#name, offsetof(struct driver, name), true},
		FUNCTIONS(_)
#undef _
#define _(name, parameters) {#name, offsetof(struct driver, name), false},
			FUNCTIONS_OF_LIBRARIES(_)
#undef _
	};

	return cuda_driver_bind(&cuda, functions, ARRAY_SIZE(functions));
}

void cuda_arena_follow(void)
{
	atomic_store(&is_followed, true);
	atomic_store(&is_wanted, true);
}

void cuda_arena_symbol(const char *name)
{
	size_t size = strlen(name) + 1;
	bool is_known = size > SYMBOL_SIZE;
	uint32_t n;

	pthread_mutex_lock(&naming);
	n = atomic_load(&n_symbols);
	for (uint32_t i = 0; i < n && !is_known; i++)
		is_known = !strcmp(symbols[i], name);
	if (!is_known && n < SYMBOLS_MAX) {
		memcpy(symbols[n], name, size);
		atomic_store(&n_symbols, n + 1);
	}
	pthread_mutex_unlock(&naming);
	cuda_arena_unload(); /* functions that were seen before may have it */
	atomic_store(&is_wanted, true);
}

bool cuda_arena_is_wanted(void)
{
	return atomic_load_explicit(&is_wanted, memory_order_relaxed);
}

bool cuda_arena_is_used(void)
{
	return atomic_load_explicit(&n_contexts, memory_order_relaxed) > 0;
}

/* ---- what a context has of ours; it is the current one ---- */

static bool allocate(size_t size, uint64_t *ret)
{
	static _Atomic size_t n;

	if (cuda.cuMemAlloc_v2(ret, size))
		return false;
	atomic_store(&owned[atomic_fetch_add(&n, 1) % ARRAY_SIZE(owned)], *ret);
	return true;
}

/* Words, by the stream itself: copies have records, and these are not the program's. */
static bool put(const struct context *c, uint64_t to, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (cuda.cuStreamWriteValue64_v2(c->stream, to + i * sizeof(*words), words[i], 0))
			return false;
	return !cuda.cuStreamSynchronize(c->stream);
}

/* A part of the device's memory, and room in it that warps cannot fill before they see that none is left. */
static bool measure(struct context *c)
{
	size_t memory;
	int n;

	if (cuda.cuCtxGetDevice(&c->device) || cuda.cuDeviceTotalMem_v2(&memory, c->device) ||
	    cuda.cuDeviceGetAttribute(&n, MULTIPROCESSORS, c->device))
		return false;
	c->room = (size_t)n * ROOM_OF_MULTIPROCESSOR;
	for (c->size = RING_MIN; c->size < RING_MAX && 2 * c->size <= memory / RING_PART;)
		c->size *= 2;
	while (c->room > c->size / 2)
		c->size *= 2;
	return true;
}

/* Positions begin at one that no memory has by chance, which need not be cleared, then. */
static bool make(struct context *c)
{
	union {
		struct arena arena;
		uint64_t words[sizeof(struct arena) / sizeof(uint64_t)];
	} of = {0};

	if (!measure(c) || !(c->copy = pages_reserve_sparse(c->size)))
		return false;
	madvise(c->copy, c->size, MADV_DONTFORK);
	if (cuda.cuStreamCreate(&c->stream, BESIDE_OTHERS) || !allocate(sizeof(of), &c->arena) ||
	    !allocate(c->size, &c->ring))
		return false;
	c->read = hash_u64(clock_realtime_ns() ^ c->ring) >> 2 & ~(uint64_t)(c->size - 1);
	of.arena = (struct arena){.cursor = c->read,
				  .soft = c->read + c->size - c->room,
				  .ring = c->ring,
				  .mask = c->size - 1};
	return put(c, c->arena, of.words, ARRAY_SIZE(of.words));
}

static void forget_copy(struct context *c)
{
	if (c->copy)
		munmap(c->copy, c->size);
	c->copy = NULL;
}

/* NULL: there is no memory, or there are too many. */
static struct context *context_of(const struct cuda_arena_launch *l)
{
	uint32_t n = atomic_load(&n_contexts), at = n;
	struct context c = {.number = l->context_id};

	for (uint32_t i = 0; i < n; i++) {
		void *handle = atomic_load(&contexts[i].handle);

		if (handle == l->context && contexts[i].number == l->context_id)
			return contexts[i].ring ? &contexts[i] : NULL;
		if (!handle)
			at = i;
	}
	if (at == CONTEXTS_MAX)
		return NULL;
	if (!make(&c)) {
		c.ring = 0; /* it is not asked for again */
		forget_copy(&c);
	}
	forget_copy(&contexts[at]); /* of one that is gone */
	contexts[at] = c;
	atomic_store(&contexts[at].handle, l->context);
	if (at == n)
		atomic_store(&n_contexts, n + 1);
	return c.ring ? &contexts[at] : NULL;
}

/* ---- launches ---- */

/* 0: its module has no such variable. */
static uint64_t variable_of(void *function, void *library, const char *symbol)
{
	void *module = NULL;
	uint64_t at = 0;
	size_t size = 0;

	if (library)
		return cuda.cuLibraryGetGlobal(&at, &size, library, symbol) || size != sizeof(at)
			       ? 0
			       : at;
	if (cuda.cuFuncGetModule(&module, function) ||
	    cuda.cuModuleGetGlobal_v2(&at, &size, module, symbol) || size != sizeof(at))
		return 0;
	return at;
}

/* NULL: the function is a module's. Loaded now, it has told its names when this returns. */
static void *library_of(void *function)
{
	void *library = NULL, *loaded;

	if (!cuda.cuKernelGetFunction || !cuda.cuKernelGetLibrary || !cuda.cuLibraryGetGlobal ||
	    cuda.cuKernelGetLibrary(&library, function))
		return NULL;
	cuda.cuKernelGetFunction(&loaded, function);
	return library;
}

/* Into each variable that its module has. */
static int give(const struct cuda_arena_launch *l, const char **ret_why)
{
	void *function = (void *)(uintptr_t)l->function, *library = library_of(function);
	uint32_t n = atomic_load(&n_symbols);
	int known = NOT_SCOPED;
	const struct context *c;
	uint64_t at;

	for (uint32_t i = 0; i < n; i++) {
		at = variable_of(function, library, symbols[i]);
		if (!at)
			continue;
		c = context_of(l);
		*ret_why = c ? "the driver does not write into their module"
			     : "there is no memory for their records";
		if (!c || !put(c, at, &c->arena, 1))
			return FAILED;
		known = RECORDED;
	}
	return known;
}

/* A library's function is one for all contexts, whose modules have a variable each. */
static const void *key_of(const struct cuda_arena_launch *l)
{
	return (const void *)(uintptr_t)(hash_u64(l->context_id + UINT64_C(1)) ^
					 (uintptr_t)l->function);
}

static uint64_t give_once(const struct cuda_arena_launch *l, const char **ret_why)
{
	uint64_t known;

	pthread_mutex_lock(&giving);
	if (!ptrmap_get(&seen, key_of(l), &known)) {
		atomic_store(&has_seen, true);
		known = (uint64_t)give(l, ret_why);
		if (!ptrmap_add(&seen, key_of(l), known)) { /* they are found anew */
			ptrmap_clear(&seen);
			ptrmap_add(&seen, key_of(l), known);
		}
	}
	pthread_mutex_unlock(&giving);
	return known;
}

/* The driver's calls are ours, also where a stream is being captured. */
static uint64_t ask(const struct cuda_arena_launch *l, const char **ret_why)
{
	int mode = CAPTURES_ANYHOW;
	uint64_t known = FAILED;

	*ret_why = "the driver is too old";
	if (!bind())
		return FAILED;
	cuda_driver_ours++;
	is_giving = true;
	if (!cuda.cuThreadExchangeStreamCaptureMode(&mode)) {
		known = give_once(l, ret_why);
		cuda.cuThreadExchangeStreamCaptureMode(&mode);
	}
	is_giving = false;
	cuda_driver_ours--;
	return known;
}

bool cuda_arena_launch(const struct cuda_arena_launch *l, const char **ret_why, bool *ret_is_due)
{
	uint64_t known, bytes;

	*ret_is_due = false;
	if (!l->function || (!atomic_load(&is_followed) && !atomic_load(&n_symbols)))
		return true;
	*ret_why = "their module could not be written into before";
	if (!ptrmap_get(&seen, key_of(l), &known))
		known = ask(l, ret_why);
	if (known == RECORDED) {
		bytes = l->n_warps * atomic_load(&slice_bytes);
		bytes += atomic_fetch_add(&n_expected, bytes);
		*ret_is_due = bytes > RING_MIN / DUE_PART && !atomic_exchange(&is_due, true);
	}
	return known != FAILED;
}

bool cuda_arena_is_giving(void)
{
	return is_giving;
}

bool cuda_arena_owns(uint64_t address)
{
	bool owns = false;

	for (size_t i = 0; i < ARRAY_SIZE(owned) && address && !owns; i++)
		owns = atomic_load(&owned[i]) == address;
	return owns;
}

void cuda_arena_unload(void)
{
	if (atomic_exchange(&has_seen, false))
		ptrmap_clear(&seen);
}

/* ---- reading ---- */

/* From the device's ring into the same place of ours. */
static bool copy_part(const struct context *c, uint64_t at, size_t size)
{
	size_t from = at & (c->size - 1), first = MIN(size, c->size - from);

	return !cuda.cuMemcpyDtoHAsync_v2(c->copy + from, c->ring + from, first, c->stream) &&
	       (first == size ||
		!cuda.cuMemcpyDtoHAsync_v2(c->copy, c->ring, size - first, c->stream)) &&
	       !cuda.cuStreamSynchronize(c->stream);
}

/* The context is the current one. */
static void read_context(struct context *c, cuda_slices_fn *fn, void *ctx)
{
	struct cuda_slices s = {.context = c->number,
				.device = c->device,
				.ring = c->copy,
				.ring_size = c->size,
				.at = c->read};
	struct arena arena;
	uint64_t soft;

	if (cuda.cuMemcpyDtoHAsync_v2(&arena, c->arena, sizeof(arena), c->stream) ||
	    cuda.cuStreamSynchronize(c->stream) || arena.cursor - c->read > c->size)
		return;
	s.end = arena.cursor;
	s.n_dropped = arena.dropped - c->dropped;
	if ((s.at == s.end && !s.n_dropped) || !copy_part(c, s.at, s.end - s.at))
		return;
	c->read = fn(ctx, &s);
	c->dropped = arena.dropped;
	if (c->read - s.at > c->size / DUE_PART) /* graphs run without a launch of each kernel */
		atomic_store(&is_due, true);
	soft = c->read + c->size - c->room;
	put(c, c->arena + offsetof(struct arena, soft), &soft, 1);
}

static void read_all(cuda_slices_fn *fn, void *ctx)
{
	uint32_t n = atomic_load(&n_contexts);
	int mode = CAPTURES_ANYHOW;
	void *handle, *was;

	for (uint32_t i = 0; i < n; i++) {
		handle = atomic_load(&contexts[i].handle);
		if (!handle || !contexts[i].ring || cuda.cuCtxPushCurrent_v2(handle))
			continue;
		if (!cuda.cuThreadExchangeStreamCaptureMode(&mode)) {
			read_context(&contexts[i], fn, ctx);
			cuda.cuThreadExchangeStreamCaptureMode(&mode);
		}
		cuda.cuCtxPopCurrent_v2(&was);
	}
}

void cuda_arena_read(cuda_slices_fn *fn, void *ctx)
{
	if (!cuda_arena_is_used())
		return;
	cuda_driver_ours++;
	pthread_mutex_lock(&reading);
	atomic_store(&is_due, false);
	atomic_store(&n_expected, 0);
	if (!n_held)
		read_all(fn, ctx);
	pthread_mutex_unlock(&reading);
	cuda_driver_ours--;
}

bool cuda_arena_is_due(void)
{
	return atomic_load_explicit(&is_due, memory_order_relaxed);
}

void cuda_arena_hold(bool begins)
{
	pthread_mutex_lock(&reading);
	if (begins)
		n_held++;
	else if (n_held)
		n_held--;
	pthread_mutex_unlock(&reading);
}

void cuda_arena_gone(const void *context)
{
	uint32_t n = atomic_load(&n_contexts);

	for (uint32_t i = 0; i < n; i++) {
		void *handle = (void *)(uintptr_t)context;

		atomic_compare_exchange_strong(&contexts[i].handle, &handle, NULL);
	}
	cuda_arena_unload();
}

void cuda_arena_forked(void)
{
	pthread_mutex_init(&reading, NULL);
	pthread_mutex_init(&giving, NULL);
	pthread_mutex_init(&naming, NULL);
	atomic_store(&n_contexts, 0);
	atomic_store(&n_symbols, 0);
	atomic_store(&is_wanted, atomic_load(&is_followed));
	memset(contexts, 0, sizeof(contexts));
	n_held = 0;
	is_giving = false;
	ptrmap_clear(&seen);
}
