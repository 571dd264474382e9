/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cuda_arena.h"
#include <ctype.h>
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
#include "intra/warp_arena.h"

enum {
	CONTEXTS_MAX = 16,
	SYMBOLS_MAX = 64,     /* names that modules have for it */
	SYMBOL_SIZE = 256,    /* of one, with its end */
	CAPTURES_ANYHOW = 2,  /* mode of a capture: calls that allocate do not end it */
	BESIDE_OTHERS = 1,    /* flag of cuStreamCreate(): does not wait for the legacy stream */
	MULTIPROCESSORS = 16, /* attributes of a device */
	CAPABILITY_MAJOR = 75,
	CAPABILITY_MINOR = 76,
	USUAL_SLICE = 80 + 32 * 16,
	DUE_PART = 4,   /* of all rings, that may be filled */
	RINGS_EACH = 2, /* of a multiprocessor, at least */
	LAP_BITS = 64 - WARP_OFFSET_BITS,
	GAP_MOST = 64 << 10, /* between parts that are copied at once */
};
#define RINGS_MIN  ((size_t)64 << 20)
#define RINGS_MAX  ((size_t)256 << 20)
#define RINGS_PART 128 /* of the device's memory */

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
	uint32_t n_rings, n_multiprocessors;
	uint64_t arena, rings;    /* device addresses; 0: there are none */
	uint64_t dropped, beyond; /* warps, that were told */
	uint32_t chosen;          /* n_choices that it was told of */
	uint32_t capability;      /* of the device */
	char *copy;               /* of rings, as far as they are read */
	uint64_t *read;           /* of each ring: position up to which slices were taken */
	struct warp_arena *seen;  /* as it was at the last look */
};

/* What is known of a function in a context. */
enum { NOT_SCOPED = 1, RECORDED, FAILED };

/* Taken in this order. With the first two the driver is called, which may call us; with the last one it is not. */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t giving = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t choosing = PTHREAD_MUTEX_INITIALIZER;
static struct context contexts[CONTEXTS_MAX];
static _Atomic uint32_t n_contexts;
static char symbols[SYMBOLS_MAX][SYMBOL_SIZE];
static _Atomic uint32_t n_symbols;
static atomic_bool is_wanted, is_followed;
static struct ptrmap seen; /* function and context -> what is known */
static atomic_bool has_seen;
static uint32_t n_held;                                                      /* under `reading` */
static struct warp_choice choice = {WARP_ARENA_ALL, UINT32_MAX, 1, 0, 1, 0}; /* under `choosing` */
static _Atomic uint32_t n_choices;
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

static struct every_nth every_nth(struct every_nth of)
{
	return of.modulus ? of : (struct every_nth){1, 0};
}

static bool is_all(const struct warp_choice *c)
{
	return c->warps == UINT32_MAX && c->block_modulus == 1 && c->multiprocessor_modulus == 1;
}

void cuda_arena_choose(const struct scopes_wanted *wanted, bool is_on)
{
	const struct every_nth blocks = every_nth(wanted->blocks),
			       multiprocessors = every_nth(wanted->multiprocessors);
	struct warp_choice next = {.warps = wanted->warps ? wanted->warps : UINT32_MAX,
				   .block_modulus = blocks.modulus,
				   .block_remainder = blocks.remainder,
				   .multiprocessor_modulus = multiprocessors.modulus,
				   .multiprocessor_remainder = multiprocessors.remainder};

	if (is_on && !wanted->off)
		next.is_on = is_all(&next) ? WARP_ARENA_ALL : WARP_ARENA_CHOSEN;
	pthread_mutex_lock(&choosing);
	if (memcmp(&next, &choice, sizeof(next)) != 0) {
		choice = next;
		atomic_fetch_add(&n_choices, 1);
	}
	pthread_mutex_unlock(&choosing);
}

static struct warp_choice choice_now(uint32_t *ret_n)
{
	struct warp_choice now;

	pthread_mutex_lock(&choosing);
	now = choice;
	*ret_n = atomic_load(&n_choices);
	pthread_mutex_unlock(&choosing);
	return now;
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

/* Words, by the stream itself: copies have records, and these are not the program's. They are there once the stream is. */
static bool put(const struct context *c, uint64_t to, const void *from, size_t bytes)
{
	uint64_t word;

	for (size_t at = 0; at < bytes; at += sizeof(word)) {
		memcpy(&word, (const char *)from + at, sizeof(word));
		if (cuda.cuStreamWriteValue64_v2(c->stream, to + at, word, 0))
			return false;
	}
	return true;
}

static bool is_done(const struct context *c)
{
	return !cuda.cuStreamSynchronize(c->stream);
}

static size_t rings_bytes(const struct context *c)
{
	return (size_t)c->n_rings * WARP_ROOM;
}

static size_t arena_bytes(const struct context *c)
{
	return sizeof(struct warp_arena) + c->n_rings * sizeof(struct warp_room);
}

/* A part of the device's memory, in rings of which each multiprocessor has some. */
static bool measure(struct context *c)
{
	size_t memory, size = RINGS_MIN;
	int n, major, minor;

	if (cuda.cuCtxGetDevice(&c->device) || cuda.cuDeviceTotalMem_v2(&memory, c->device) ||
	    cuda.cuDeviceGetAttribute(&n, MULTIPROCESSORS, c->device) ||
	    cuda.cuDeviceGetAttribute(&major, CAPABILITY_MAJOR, c->device) ||
	    cuda.cuDeviceGetAttribute(&minor, CAPABILITY_MINOR, c->device) || n <= 0)
		return false;
	c->capability = (uint32_t)(10 * major + minor);
	c->n_multiprocessors = (uint32_t)n;
	while (size < RINGS_MAX && 2 * size <= memory / RINGS_PART)
		size *= 2;
	for (c->n_rings = (uint32_t)(size / WARP_ROOM);
	     c->n_rings < RINGS_EACH * c->n_multiprocessors;)
		c->n_rings *= 2;
	return true;
}

static uint64_t room_at(const struct context *c, uint32_t ring)
{
	return c->arena + offsetof(struct warp_arena, rooms) + ring * sizeof(struct warp_room);
}

static bool put_head(struct context *c)
{
	struct warp_arena_head head = {.choice = choice_now(&c->chosen), .rings = c->rings};

	return put(c, c->arena, &head, offsetof(struct warp_arena_head, reserved));
}

static bool put_seats(const struct context *c)
{
	bool is = true;

	for (uint32_t i = 0; i < WARP_SEATS && is; i++) {
		struct warp_seat seat = warp_seat_of(i, c->n_multiprocessors, c->n_rings);

		is = put(c,
			 c->arena + offsetof(struct warp_arena, seats) +
				 i * sizeof(struct warp_seat),
			 &seat, offsetof(struct warp_seat, reserved));
	}
	return is;
}

/* Positions begin at one that no memory has by chance, which need not be cleared, then. */
static bool put_rooms(const struct context *c)
{
	uint64_t lap = hash_u64(clock_realtime_ns() ^ c->rings) << WARP_OFFSET_BITS;
	bool is = true;

	for (uint32_t i = 0; i < c->n_rings && is; i++) {
		c->read[i] = lap;
		is = put(c, room_at(c, i), &lap, sizeof(lap));
	}
	return is;
}

static bool make(struct context *c)
{
	if (!measure(c) || !(c->copy = pages_reserve_sparse(rings_bytes(c))) ||
	    !(c->read = pages_reserve_sparse(c->n_rings * sizeof(*c->read))) ||
	    !(c->seen = pages_reserve_sparse(arena_bytes(c))))
		return false;
	madvise(c->copy, rings_bytes(c), MADV_DONTFORK);
	return !cuda.cuStreamCreate(&c->stream, BESIDE_OTHERS) &&
	       allocate(arena_bytes(c), &c->arena) && allocate(rings_bytes(c), &c->rings) &&
	       put_head(c) && put_seats(c) && put_rooms(c) && is_done(c);
}

static void forget_copy(struct context *c)
{
	if (c->copy)
		munmap(c->copy, rings_bytes(c));
	if (c->read)
		munmap(c->read, c->n_rings * sizeof(*c->read));
	if (c->seen)
		munmap(c->seen, arena_bytes(c));
	c->copy = NULL;
	c->read = NULL;
	c->seen = NULL;
}

/* NULL: there is no memory, or there are too many. */
static struct context *context_of(const struct cuda_arena_launch *l)
{
	uint32_t n = atomic_load(&n_contexts), at = n;
	struct context c = {.number = l->context_id};

	for (uint32_t i = 0; i < n; i++) {
		void *handle = atomic_load(&contexts[i].handle);

		if (handle == l->context && contexts[i].number == l->context_id)
			return contexts[i].rings ? &contexts[i] : NULL;
		if (!handle)
			at = i;
	}
	if (at == CONTEXTS_MAX)
		return NULL;
	if (!make(&c)) {
		forget_copy(&c);
		c.rings = 0; /* it is not asked for again */
	}
	forget_copy(&contexts[at]); /* of one that is gone */
	contexts[at] = c;
	atomic_store(&contexts[at].handle, l->context);
	if (at == n)
		atomic_store(&n_contexts, n + 1);
	return c.rings ? &contexts[at] : NULL;
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

/* Of a header, or an inserted piece, that says where things are as we do. */
static bool is_ours(const char *symbol)
{
	const char *at = strstr(symbol, WARP_ARENA_SYMBOL);

	return at && !isdigit((unsigned char)at[strlen(WARP_ARENA_SYMBOL)]);
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
		*ret_why = "they were compiled with <proton/kernel.cuh> of another version";
		if (!is_ours(symbols[i]))
			return FAILED;
		c = context_of(l);
		*ret_why = c ? "the driver does not write into their module"
			     : "there is no memory for their records";
		if (!c || !put(c, at, &c->arena, sizeof(c->arena)) || !is_done(c))
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
		*ret_is_due = bytes > RINGS_MIN / DUE_PART && !atomic_exchange(&is_due, true);
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

/* Who is handed slices. */
struct reader {
	cuda_slices_fn *fn;
	void *ctx;
};

/* Who records is another now. */
static bool tell_choice(struct context *c)
{
	struct warp_choice next;

	if (c->chosen == atomic_load(&n_choices))
		return true;
	next = choice_now(&c->chosen);
	return put(c, c->arena + offsetof(struct warp_arena, head.choice), &next, sizeof(next));
}

/* All cursors at once. */
static bool look(const struct context *c)
{
	return !cuda.cuMemcpyDtoHAsync_v2(c->seen, c->arena, arena_bytes(c), c->stream) &&
	       is_done(c);
}

/* Of the device's rings: bytes that are copied into the same place of ours. */
struct part {
	size_t from, to;
};

static bool copy_part(const struct context *c, const struct part *p)
{
	return p->from == p->to || !cuda.cuMemcpyDtoHAsync_v2(c->copy + p->from, c->rings + p->from,
							      p->to - p->from, c->stream);
}

/* Parts that are next to one another are one. */
static bool copy_all(const struct context *c)
{
	struct part now = {0, 0};
	bool is = true;

	for (uint32_t i = 0; i < c->n_rings && is; i++) {
		uint64_t end = warp_room_state(&c->seen->rooms[i], c->read[i]).end;
		size_t at = (size_t)i * WARP_ROOM;
		struct part next = {at + (c->read[i] & WARP_OFFSET_MASK),
				    at + (end & WARP_OFFSET_MASK)};

		if (end == c->read[i])
			continue;
		if (now.to && next.from - now.to <= GAP_MOST) {
			now.to = next.to;
			continue;
		}
		is = copy_part(c, &now);
		now = next;
	}
	return is && copy_part(c, &now) && is_done(c);
}

/* What was taken in this look. */
struct taken {
	uint64_t bytes;
	bool opens; /* rings */
};

/* A ring that is closed, and was read, is open again. */
static void read_ring(struct context *c, uint32_t ring, struct cuda_slices *s, struct taken *taken,
		      const struct reader *to)
{
	struct warp_room_state state = warp_room_state(&c->seen->rooms[ring], c->read[ring]);

	s->ring = c->copy + (size_t)ring * WARP_ROOM;
	s->at = c->read[ring];
	s->end = state.end;
	if (s->at != s->end)
		c->read[ring] = to->fn(to->ctx, s);
	taken->bytes += c->read[ring] - s->at;
	if (!state.is_closed || c->read[ring] != state.end)
		return;
	c->read[ring] = warp_room_next(state.end);
	put(c, room_at(c, ring), &c->read[ring], sizeof(c->read[ring]));
	taken->opens = true;
}

static uint64_t n_dropped(const struct warp_arena *a)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < WARP_SEATS; i++)
		n += a->seats[i].dropped;
	return n;
}

static void tell_losses(struct context *c, struct cuda_slices *s, const struct reader *to)
{
	uint64_t dropped = n_dropped(c->seen), beyond = c->seen->head.beyond;

	s->n_dropped = dropped - c->dropped;
	s->n_beyond = beyond - c->beyond;
	if (s->n_dropped || s->n_beyond)
		to->fn(to->ctx, s);
	s->n_dropped = s->n_beyond = 0;
	c->dropped = dropped;
	c->beyond = beyond;
}

/* Who found no room looks for some again, also those who are about to say that there is none. */
static void look_again(const struct context *c)
{
	const uint32_t words[] = {0, c->n_rings - 1}; /* is_full, ring_mask */

	for (uint32_t i = 0; i < WARP_SEATS; i++)
		put(c, c->arena + offsetof(struct warp_arena, seats[i].is_full), words,
		    sizeof(words));
}

/* The context is the current one. */
static void read_context(struct context *c, const struct reader *to)
{
	struct cuda_slices s = {.context = c->number,
				.device = c->device,
				.capability = c->capability,
				.ring_size = WARP_ROOM};
	struct taken taken = {0};

	if (!tell_choice(c) || !look(c) || !copy_all(c))
		return;
	tell_losses(c, &s, to);
	for (uint32_t i = 0; i < c->n_rings; i++)
		read_ring(c, i, &s, &taken, to);
	if (taken.opens)
		look_again(c);
	is_done(c);
	if (taken.bytes >
	    rings_bytes(c) / DUE_PART) /* graphs run without a launch of each kernel */
		atomic_store(&is_due, true);
}

static void read_all(const struct reader *to)
{
	uint32_t n = atomic_load(&n_contexts);
	int mode = CAPTURES_ANYHOW;
	void *handle, *was;

	for (uint32_t i = 0; i < n; i++) {
		handle = atomic_load(&contexts[i].handle);
		if (!handle || !contexts[i].rings || cuda.cuCtxPushCurrent_v2(handle))
			continue;
		if (!cuda.cuThreadExchangeStreamCaptureMode(&mode)) {
			read_context(&contexts[i], to);
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
		read_all(&(struct reader){fn, ctx});
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
	pthread_mutex_init(&choosing, NULL);
	atomic_store(&n_contexts, 0);
	atomic_store(&n_symbols, 0);
	atomic_store(&is_wanted, atomic_load(&is_followed));
	memset(contexts, 0, sizeof(contexts));
	n_held = 0;
	is_giving = false;
	ptrmap_clear(&seen);
}
