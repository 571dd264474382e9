/* SPDX-License-Identifier: MIT */
/* Our NVTX injection: push and pop are frames of the calling context; ranges and marks, which may
 * overlap and cross threads, belong to the process.
 *
 * A push costs one walk over its text and collect_push(): no allocation, no lock. Texts that are
 * registered are measured once. When another tool is the injection, nothing here is ever called. */
#include "config.h" // IWYU pragma: keep
#include "collect/nvtx.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "backends/names.h"
#include "base/clock.h"
#include "base/util.h"
#include "collect/collect.h"
#include "collect/trace_windows.h"

#define NVTX_FAILED      (-1)
#define NVTX_NAME_BYTES  240 /* of a wide or an open range's text; longer ones keep a prefix */
#define NVTX_OPEN_RANGES 1024

struct text {
	const char *s;
	size_t len;
};

/* An open range, from start to end, on whatever threads. id changes with each use. */
struct open_range {
	uint64_t id; /* 0: free, RANGE_BUSY: being written */
	uint64_t start_ns;
	uint32_t window; /* of the trace; 0: it is none */
	uint32_t len;
	char text[NVTX_NAME_BYTES];
};

#define RANGE_BUSY UINT64_MAX

static struct names registered; /* texts */
static struct names domains;    /* names of domains; an entry's address is the handle and the tag */
static struct open_range ranges[NVTX_OPEN_RANGES];
static uint64_t n_ranges_started;
static const struct name default_domain; /* its address is the tag of calls without a domain */
static const struct name other_domain;   /* shared by the domains beyond the bound */

static const struct text no_text = {"<nvtx>", 6};

static void nvtx_lose(enum loss loss)
{
	struct activity_sink *sink = collect_sink(0);

	if (sink)
		sink->ops->lose(sink, loss, 1);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Wide text to UTF-8, as much of it as fits, whole characters only. */
static struct text text_wide(const wchar_t *w, char buf[static NVTX_NAME_BYTES])
{
	size_t len = 0;

	if (!w)
		return no_text;
	while (*w && len + 4 <= NVTX_NAME_BYTES)
		len += utf8_put(buf + len, (uint32_t)*w++);
	return (struct text){buf, len};
}

static struct text text_ascii(const char *s)
{
	return s ? (struct text){s, strlen(s)} : no_text;
}

static struct text text_registered(const void *handle)
{
	const struct name *name = handle;

	return name ? (struct text){name->text, name->len} : no_text;
}

static struct text text_of(const struct nvtx_attributes *a, char buf[static NVTX_NAME_BYTES])
{
	if (!a || a->size < sizeof(*a))
		return no_text;
	switch (a->message_type) {
	case NVTX_MESSAGE_A:
		return text_ascii(a->message.ascii);
	case NVTX_MESSAGE_W:
		return text_wide(a->message.wide, buf);
	case NVTX_MESSAGE_REGISTERED:
		return text_registered(a->message.registered);
	default:
		return no_text;
	}
}

/* --- what the calls do ------------------------------------------------------------------------ */

static uint64_t tag_of(const void *domain)
{
	return (uint64_t)(uintptr_t)(domain ? domain : &default_domain);
}

/* NVTX wants the level within the domain; the stack holds the frames of all. */
static int do_push(const void *domain, struct text text)
{
	uint64_t tag = tag_of(domain);
	int level;

	if (!collect_on) {
		collect_scope_missed(true);
		return NVTX_FAILED;
	}
	level = collect_depth(tag);
	return collect_push(FRAME_NVTX, tag, text.s, text.len) < 0 ? NVTX_FAILED : level;
}

static int do_pop(const void *domain)
{
	uint64_t tag = tag_of(domain);

	if (!collect_on) {
		collect_scope_missed(false);
		return NVTX_FAILED;
	}
	return collect_pop(tag) < 0 ? NVTX_FAILED : collect_depth(tag);
}

static void do_mark(struct text text)
{
	collect_range(FRAME_MARK, text.s, text.len, 0);
}

/* A free place for a range, or NULL when so many are open. Ids count up, so that the place is found
 * at the first try and a range that ended twice is noticed. */
static struct open_range *range_claim(uint64_t *ret_id)
{
	for (int i = 0; i < 64; i++) {
		uint64_t id = __atomic_add_fetch(&n_ranges_started, 1, __ATOMIC_RELAXED);
		struct open_range *r = &ranges[id % NVTX_OPEN_RANGES];
		uint64_t expected = 0;

		if (__atomic_compare_exchange_n(&r->id, &expected, RANGE_BUSY, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			*ret_id = id;
			return r;
		}
	}
	return NULL;
}

static uint64_t do_start(struct text text)
{
	struct open_range *r;
	uint64_t id;

	if (!collect_on)
		return 0;
	r = range_claim(&id);
	if (!r) {
		nvtx_lose(LOSS_SLOTS_FULL);
		return 0;
	}
	r->len = (uint32_t)MIN(text.len, sizeof(r->text));
	memcpy(r->text, text.s, r->len);
	r->start_ns = clock_monotonic_ns();
	r->window = trace_window_enter(text.s, text.len);
	__atomic_store_n(&r->id, id, __ATOMIC_RELEASE);
	return id;
}

static void do_end(uint64_t id)
{
	struct open_range *r = &ranges[id % NVTX_OPEN_RANGES];
	uint64_t expected = id;

	if (!id || id == RANGE_BUSY)
		return;
	if (!__atomic_compare_exchange_n(&r->id, &expected, RANGE_BUSY, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED)) {
		nvtx_lose(LOSS_SCOPE_MISMATCH);
		return;
	}
	trace_window_leave(r->window);
	collect_range(FRAME_RANGE, r->text, r->len, clock_monotonic_ns() - r->start_ns);
	__atomic_store_n(&r->id, 0, __ATOMIC_RELEASE);
}

static const void *do_register(struct text text)
{
	const struct name *name = names_add(&registered, text.s, text.len);

	if (!name)
		nvtx_lose(LOSS_STRINGS_FULL);
	return name;
}

/* Domains of one name are one domain: programs that create and destroy them stay bounded. */
static const void *do_create(struct text text)
{
	const struct name *name = names_add(&domains, text.s, text.len);

	if (!name)
		nvtx_lose(LOSS_STRINGS_FULL);
	return name ? name : &other_domain;
}

/* --- the callbacks, in the shapes NVTX wants -------------------------------------------------- */

static void core_mark_ex(const struct nvtx_attributes *a)
{
	char buf[NVTX_NAME_BYTES];

	do_mark(text_of(a, buf));
}

static void core_mark_a(const char *message)
{
	do_mark(text_ascii(message));
}

static void core_mark_w(const wchar_t *message)
{
	char buf[NVTX_NAME_BYTES];

	do_mark(text_wide(message, buf));
}

static uint64_t core_range_start_ex(const struct nvtx_attributes *a)
{
	char buf[NVTX_NAME_BYTES];

	return do_start(text_of(a, buf));
}

static uint64_t core_range_start_a(const char *message)
{
	return do_start(text_ascii(message));
}

static uint64_t core_range_start_w(const wchar_t *message)
{
	char buf[NVTX_NAME_BYTES];

	return do_start(text_wide(message, buf));
}

static void core_range_end(uint64_t id)
{
	do_end(id);
}

static int core_range_push_ex(const struct nvtx_attributes *a)
{
	char buf[NVTX_NAME_BYTES];

	return a ? do_push(NULL, text_of(a, buf)) : NVTX_FAILED;
}

static int core_range_push_a(const char *message)
{
	return do_push(NULL, text_ascii(message));
}

static int core_range_push_w(const wchar_t *message)
{
	char buf[NVTX_NAME_BYTES];

	return do_push(NULL, text_wide(message, buf));
}

static int core_range_pop(void)
{
	return do_pop(NULL);
}

static void core2_mark_ex(const void *domain, const struct nvtx_attributes *a)
{
	core_mark_ex(a);
}

static uint64_t core2_range_start_ex(const void *domain, const struct nvtx_attributes *a)
{
	return core_range_start_ex(a);
}

static void core2_range_end(const void *domain, uint64_t id)
{
	do_end(id);
}

static int core2_range_push_ex(const void *domain, const struct nvtx_attributes *a)
{
	char buf[NVTX_NAME_BYTES];

	return a ? do_push(domain, text_of(a, buf)) : NVTX_FAILED;
}

static int core2_range_pop(const void *domain)
{
	return do_pop(domain);
}

static const void *core2_register_string_a(const void *domain, const char *s)
{
	return do_register(text_ascii(s));
}

static const void *core2_register_string_w(const void *domain, const wchar_t *s)
{
	char buf[NVTX_NAME_BYTES];

	return do_register(text_wide(s, buf));
}

static const void *core2_create_a(const char *name)
{
	return do_create(text_ascii(name));
}

static const void *core2_create_w(const wchar_t *name)
{
	char buf[NVTX_NAME_BYTES];

	return do_create(text_wide(name, buf));
}

/* The name stays: ranges of the domain may still be open on other threads. */
static void core2_destroy(const void *domain)
{
}

/* --- the door --------------------------------------------------------------------------------- */

struct nvtx_hook {
	uint32_t index;
	nvtx_function function;
};

#define HOOK(index, function)                                                                      \
	{                                                                                          \
		index, (nvtx_function)(function)                                                   \
	}

static const struct nvtx_hook core_hooks[] = {
	HOOK(NVTX_CORE_MARK_EX, core_mark_ex),
	HOOK(NVTX_CORE_MARK_A, core_mark_a),
	HOOK(NVTX_CORE_MARK_W, core_mark_w),
	HOOK(NVTX_CORE_RANGE_START_EX, core_range_start_ex),
	HOOK(NVTX_CORE_RANGE_START_A, core_range_start_a),
	HOOK(NVTX_CORE_RANGE_START_W, core_range_start_w),
	HOOK(NVTX_CORE_RANGE_END, core_range_end),
	HOOK(NVTX_CORE_RANGE_PUSH_EX, core_range_push_ex),
	HOOK(NVTX_CORE_RANGE_PUSH_A, core_range_push_a),
	HOOK(NVTX_CORE_RANGE_PUSH_W, core_range_push_w),
	HOOK(NVTX_CORE_RANGE_POP, core_range_pop),
};

static const struct nvtx_hook core2_hooks[] = {
	HOOK(NVTX_CORE2_MARK_EX, core2_mark_ex),
	HOOK(NVTX_CORE2_RANGE_START_EX, core2_range_start_ex),
	HOOK(NVTX_CORE2_RANGE_END, core2_range_end),
	HOOK(NVTX_CORE2_RANGE_PUSH_EX, core2_range_push_ex),
	HOOK(NVTX_CORE2_RANGE_POP, core2_range_pop),
	HOOK(NVTX_CORE2_REGISTER_STRING_A, core2_register_string_a),
	HOOK(NVTX_CORE2_REGISTER_STRING_W, core2_register_string_w),
	HOOK(NVTX_CORE2_CREATE_A, core2_create_a),
	HOOK(NVTX_CORE2_CREATE_W, core2_create_w),
	HOOK(NVTX_CORE2_DESTROY, core2_destroy),
};

/* Older programs have shorter tables; entries may be absent. */
static bool hook_module(const struct nvtx_export_callbacks *callbacks, int32_t module,
			const struct nvtx_hook *hooks, size_t n)
{
	nvtx_function **table = NULL;
	unsigned size = 0;

	if (!callbacks->get_table(module, &table, &size) || !table)
		return false;
	for (size_t i = 0; i < n; i++)
		if (hooks[i].index < size && table[hooks[i].index])
			*table[hooks[i].index] = hooks[i].function;
	return true;
}

/* Ranges are of use now, or to a program that profiles itself later: NVTX asks once. */
static bool is_of_use(void)
{
	int r = collect_start(DOOR_NVTX);

	return r == -ENXIO || (r == 0 && collect_on);
}

int InitializeInjectionNvtx2(nvtx_get_export_fn *get_export)
{
	const struct nvtx_export_callbacks *callbacks = NULL;

	if (get_export)
		callbacks = get_export(NVTX_EXPORT_CALLBACKS);
	if (!callbacks || callbacks->struct_size < sizeof(*callbacks))
		return 0;
	/* With 0 the program would unload us, who may be here by other doors. With 1 and no hooks
	 * its NVTX calls become a load and a branch, as without any tool. */
	if (!is_of_use())
		return 1;
	hook_module(callbacks, NVTX_MODULE_CORE, core_hooks, ARRAY_SIZE(core_hooks));
	hook_module(callbacks, NVTX_MODULE_CORE2, core2_hooks, ARRAY_SIZE(core2_hooks));
	return 1;
}

/* --- the payload extension ----------------------------------------------------------------------
 * What a payload holds is of no interest here, but its calls open and close ranges like any other:
 * without them a thread that mixes both (NCCL's does) would stay in a range for ever. */

static const struct text payload_text = {"<payload>", 9};

static void payload_mark(const void *domain, const void *data, size_t n)
{
	do_mark(payload_text);
}

static int payload_push(const void *domain, const void *data, size_t n)
{
	return do_push(domain, payload_text);
}

static int payload_pop(const void *domain, const void *data, size_t n)
{
	return do_pop(domain);
}

static uint64_t payload_start(const void *domain, const void *data, size_t n)
{
	return do_start(payload_text);
}

static void payload_end(const void *domain, uint64_t id, const void *data, size_t n)
{
	do_end(id);
}

static uint8_t payload_is_enabled(const void *domain)
{
	return 1;
}

int InitializeInjectionNvtxExtension(struct nvtx_extension_info *info)
{
	static const struct {
		size_t index;
		nvtx_function function;
	} hooks[] = {
		{NVTX_PAYLOAD_MARK, (nvtx_function)payload_mark},
		{NVTX_PAYLOAD_RANGE_PUSH, (nvtx_function)payload_push},
		{NVTX_PAYLOAD_RANGE_POP, (nvtx_function)payload_pop},
		{NVTX_PAYLOAD_RANGE_START, (nvtx_function)payload_start},
		{NVTX_PAYLOAD_RANGE_END, (nvtx_function)payload_end},
		{NVTX_PAYLOAD_IS_ENABLED, (nvtx_function)payload_is_enabled},
	};

	if (!info || info->module != NVTX_EXTENSION_PAYLOAD || info->n_segments < 1 || !is_of_use())
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i].index < info->segments[0].n_slots)
			info->segments[0].slots[hooks[i].index] = (intptr_t)hooks[i].function;
	return 1;
}
