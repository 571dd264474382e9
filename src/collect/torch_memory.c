/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/torch_memory.h"
#include <stdatomic.h>
#include <string.h>
#include "base/clock.h"
#include "base/loaded.h"
#include "base/util.h"
#include "collect/allocations.h"
#include "collect/internal.h"
#include "collect/torch_totals.h"
#include "wire/wire.h"

enum { OF_CUDA = 1 /* c10::DeviceType */ };

/* c10::Device, which is handed over by value. */
struct torch_device {
	int8_t type, index;
};
_Static_assert(sizeof(struct torch_device) == 2, "c10::Device");

/* In C++ its name says what its parameters are: one that has others has another name, and is not ours. */
#define REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"

typedef void report_fn(void *p, int64_t more, size_t allocated, size_t reserved,
		       struct torch_device device);
EXPORT report_fn torch_memory_report __asm__(REPORT);

/* ---- PyTorch's own ---- */

/* PyTorch may be in one file with its c10, or that may have another name. */
enum found_in { IN_ANY = 1, IN_C10, IN_CALLERS };

struct search {
	const void *caller;
	report_fn *found;
	enum found_in in;
};

static int see(const struct dl_phdr_info *info, const char *base, void *arg)
{
	void *symbol = loaded_symbol(info, REPORT);
	struct search *s = arg;
	report_fn *f = NULL;
	enum found_in in = !strncmp(base, "libc10.so", 9) ? IN_C10 : IN_ANY;

	if (symbol)
		memcpy(&f, &symbol, sizeof(f));
	if (!f || f == torch_memory_report)
		return 0;
	if (loaded_has(info, s->caller))
		in = IN_CALLERS;
	if (in > s->in) {
		s->found = f;
		s->in = in;
	}
	return 0;
}

/* The one that a file would have called without us. PyTorch holds its allocator's lock: whoever holds the loader's, while
 * dlopen() runs a constructor, may be waiting for that one. So neither dlopen() nor dlsym() is asked. */
static report_fn *find_next(const void *caller)
{
	struct search s = {.caller = caller};

	loaded_each("", see, &s);
	return s.found;
}

static void nobody(void *p, int64_t more, size_t allocated, size_t reserved,
		   struct torch_device device)
{
	(void)p;
	(void)more;
	(void)allocated;
	(void)reserved;
	(void)device;
}

/* Looked up once. */
static void pass_on(const void *caller, void *p, int64_t more, size_t allocated, size_t reserved,
		    struct torch_device device)
{
	static _Atomic(report_fn *) next;
	report_fn *f = atomic_load_explicit(&next, memory_order_relaxed);

	if (_unlikely_(!f)) {
		f = find_next(caller);
		f = f ? f : nobody;
		atomic_store(&next, f);
	}
	f(p, more, allocated, reserved, device);
}

/* ---- what it says ---- */

/* Its launch, of one that is released, is not wanted: that counts where it was made. */
static void tell_tensor(const void *p, int64_t more, int32_t device)
{
	struct memory_event e = {.operation = more < 0 ? MEMORY_RELEASED : MEMORY_ALLOCATED,
				 .kind = MEMORY_TENSORS,
				 .device = device,
				 .at_ns = clock_realtime_ns(),
				 .address = (uintptr_t)p,
				 .bytes = more < 0 ? -(uint64_t)more : (uint64_t)more};

	if (more > 0)
		e.launch = thread_allocates(thread_state());
	allocations_add(SOURCE_CUPTI, &e);
}

/* Seldom: it waited for the driver. */
static void tell_growth(struct pool_growth growth, int32_t device)
{
	const struct memory_event e = {.operation = MEMORY_GROWN,
				       .kind = MEMORY_TENSORS,
				       .launch = thread_allocates(thread_state()),
				       .device = device,
				       .at_ns = clock_realtime_ns(),
				       .bytes = growth.bytes,
				       .n = growth.was_enough};

	allocations_add(SOURCE_CUPTI, &e);
}

static void tell(const void *p, int64_t more, size_t allocated, size_t reserved, int32_t device)
{
	struct pool_growth growth = torch_totals_keep(
		(unsigned)device, more > 0 ? (uint64_t)more : 0, allocated, reserved);

	if (growth.bytes)
		tell_growth(growth, device);
	if (collector->control->wanted.backends.tensors && more)
		tell_tensor(p, more, device);
}

static bool is_wanted(void)
{
	return !collector->control->wanted.backends.no_memory &&
	       !(collector->control->wanted.backends_off >> SOURCE_CUPTI & 1);
}

void torch_memory_report(void *p, int64_t more, size_t allocated, size_t reserved,
			 struct torch_device device)
{
	if (collect_on && device.type == OF_CUDA && device.index >= 0 &&
	    device.index < TORCH_DEVICES_MAX && is_wanted())
		tell(p, more, allocated, reserved, device.index);
	pass_on(__builtin_return_address(0), p, more, allocated, reserved, device);
}

void torch_memory_end(void)
{
	if (torch_totals_any() || !is_wanted() || !launches_of_all() ||
	    !loaded_path("libc10_cuda.so"))
		return;
	collect_note(
		NOTE_INFO,
		"PyTorch's allocator has told nothing: if it has memory of a GPU, what tensors use of "
		"it is not known (libproton is not preloaded, backend:cudaMallocAsync, or "
		"another version)");
}
