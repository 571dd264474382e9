/* SPDX-License-Identifier: MIT */
/* OpenCL, as a layer of its loader: every command gets an event, whose callback brings the times.
 *
 *	clEnqueueX ── hook: take a command record, launch context ──> driver
 *	                         │ clSetEventCallback(CL_COMPLETE)      │
 *	                         ▼                                      ▼
 *	sink->record() <── command_complete(): profiling START, END  <── driver's thread
 *
 * Nothing is flushed and nothing waits: a command whose queue the program never flushes stays in
 * flight. What the program can see stays as it was: opencl_queue.c hides that profiling is on, and
 * the reference that we hold on its events is not counted to it.
 *
 * What is recorded as what:
 *	NDRangeKernel, Task, NativeKernel   kernel, by its function's name
 *	Read*, Write*                       copy, device to host and host to device
 *	Copy*                               copy, device to device
 *	Fill*, SVMMemFill                   set
 *	SVMMemcpy                           copy of unknown direction: both ends may be either
 *	Map*                                copy, device to host: the bytes that become visible
 *	Unmap*                              copy, host to device: the bytes that were mapped
 *	MigrateMemObjects, SVMMigrateMem    copy, towards the host or the device
 *	Finish, WaitForEvents               the host waits, where that is wanted
 *	CreateBuffer …, SVMAlloc            memory is allocated (opencl_memory.c)
 * What moves nothing is not recorded: the map of a region whose old content is void, the unmap of
 * one that was only read. On devices that share memory with the host no map moves anything; the
 * bytes are those that would move elsewhere. Times are the device's, by the host's clock
 * (opencl_clock.h). */
#include "config.h" // IWYU pragma: keep
#include "backends/opencl.h"
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include "backends/backend.h"
#include "backends/names.h"
#include "backends/opencl_command.h"
#include "backends/opencl_memory.h"
#include "backends/opencl_queue.h"
#include "backends/ptrmap.h"
#include "base/clock.h"
#include "base/loaded.h"
#include "base/util.h"

#define MAX_KERNEL_NAME 4096 /* on the stack; longer ones are measured first */

static struct names names;
static struct ptrmap kernels; /* cl_kernel -> struct name */
static struct ptrmap maps;    /* mapped address -> bytes that go back at unmap */
static void *dispatch[OPENCL_N_PLACES];

/* --- what commands are ------------------------------------------------------------------------ */

/* The name of a kernel's function, kept for ever; asked once a kernel. */
static const char *kernel_name(cl_kernel kernel)
{
	opencl_clGetKernelInfo *get = OPENCL_NEXT(clGetKernelInfo);
	char buf[MAX_KERNEL_NAME], *text = buf;
	const struct name *name = NULL;
	uint64_t known;
	size_t size = 0;

	if (_likely_(ptrmap_get(&kernels, kernel, &known)))
		return ((const struct name *)(uintptr_t)known)->text;
	if (!kernel || get(kernel, OPENCL_KERNEL_FUNCTION_NAME, 0, NULL, &size) != OPENCL_SUCCESS)
		return NULL;
	if (size > sizeof(buf))
		text = malloc(size);
	if (size && text &&
	    get(kernel, OPENCL_KERNEL_FUNCTION_NAME, size, text, NULL) == OPENCL_SUCCESS)
		name = names_add(&names, text, strnlen(text, size));
	if (text != buf)
		free(text);
	if (!name)
		return "<kernel>";
	ptrmap_add(&kernels, kernel, (uint64_t)(uintptr_t)name);
	return name->text;
}

static struct activity kernel(const char *name)
{
	return (struct activity){.kind = ACTIVITY_KERNEL, .name = name, .async = true};
}

/* Where the program leaves the work-groups to the driver, only the work-items are known. */
static struct activity kernel_over(const char *name, uint32_t dimensions, const size_t *global,
				   const size_t *local)
{
	struct activity a = kernel(name);

	if (!global || dimensions > 3) /* the driver will refuse it */
		return a;
	for (unsigned i = 0; i < 3; i++) {
		size_t items = i < dimensions ? global[i] : 1;
		size_t block = !local ? 0 : i < dimensions ? local[i] : 1;

		a.config.shape.block[i] = (uint32_t)block;
		a.config.shape.grid[i] = (uint32_t)MIN(block ? (items + block - 1) / block : items,
						       (size_t)UINT32_MAX);
	}
	return a;
}

static struct activity copy(enum copy_direction direction, uint64_t bytes, bool async)
{
	/* Whether the host's memory is pinned is the driver's secret. */
	static const uint8_t ends[COPY_N_DIRECTIONS][2] = {
		[COPY_UNKNOWN] = {MEMORY_MANAGED, MEMORY_MANAGED},
		[COPY_HOST_TO_DEVICE] = {MEMORY_UNKNOWN, MEMORY_DEVICE},
		[COPY_DEVICE_TO_HOST] = {MEMORY_DEVICE, MEMORY_UNKNOWN},
		[COPY_DEVICE_TO_DEVICE] = {MEMORY_DEVICE, MEMORY_DEVICE},
	};

	return (struct activity){
		.kind = ACTIVITY_COPY,
		.direction = (uint8_t)direction,
		.src_kind = ends[direction][0],
		.dst_kind = ends[direction][1],
		.bytes = bytes,
		.async = async,
	};
}

static struct activity set(enum memory_kind memory, uint64_t bytes)
{
	return (struct activity){.kind = ACTIVITY_SET,
				 .src_kind = (uint8_t)memory,
				 .dst_kind = (uint8_t)memory,
				 .bytes = bytes,
				 .async = true};
}

/* Whatever the program passes: the driver is the one to say that it is wrong. */
static uint64_t region_bytes(const size_t *region, uint64_t element)
{
	return region ? (uint64_t)region[0] * region[1] * region[2] * element : 0;
}

static uint64_t image_bytes(cl_mem image, const size_t *region)
{
	opencl_clGetImageInfo *get = OPENCL_NEXT(clGetImageInfo);
	size_t element = 0;

	get(image, OPENCL_IMAGE_ELEMENT_SIZE, sizeof(element), &element, NULL);
	return region_bytes(region, element);
}

static struct activity map(uint64_t flags, uint64_t bytes, bool async)
{
	return copy(COPY_DEVICE_TO_HOST, flags & OPENCL_MAP_WRITE_INVALIDATE_REGION ? 0 : bytes,
		    async);
}

static void map_remember(const void *p, uint64_t flags, uint64_t bytes)
{
	bool writes = flags & (OPENCL_MAP_WRITE | OPENCL_MAP_WRITE_INVALIDATE_REGION);

	if (p)
		ptrmap_add(&maps, p, writes ? bytes : 0);
}

static struct activity unmap(const void *p)
{
	uint64_t bytes = 0;

	if (p)
		ptrmap_take(&maps, p, &bytes);
	return copy(COPY_HOST_TO_DEVICE, bytes, true);
}

static struct activity migrate(uint64_t flags, uint64_t bytes)
{
	return copy(flags & OPENCL_MIGRATE_HOST ? COPY_DEVICE_TO_HOST : COPY_HOST_TO_DEVICE,
		    flags & OPENCL_MIGRATE_CONTENT_UNDEFINED ? 0 : bytes, true);
}

static uint64_t mems_bytes(uint32_t n_mems, const cl_mem *mems)
{
	opencl_clGetMemObjectInfo *get = OPENCL_NEXT(clGetMemObjectInfo);
	uint64_t bytes = 0;

	for (uint32_t i = 0; mems && i < n_mems; i++) {
		size_t size = 0;

		get(mems[i], OPENCL_MEM_SIZE, sizeof(size), &size, NULL);
		bytes += size;
	}
	return bytes;
}

static uint64_t sum(uint32_t n, const size_t *sizes)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; sizes && i < n; i++)
		bytes += sizes[i];
	return bytes;
}

/* --- hooks ------------------------------------------------------------------------------------ */

/* clang-format off */
/*        function,
 *            its parameters,
 *            its arguments,
 *            what it is */
#define COMMANDS(_)                                                                                \
	_(clEnqueueNDRangeKernel,                                                                  \
	  (cl_command_queue queue, cl_kernel k, uint32_t dimensions, const size_t *offset,         \
	   const size_t *global, const size_t *local, OPENCL_WAIT),                                \
	  (queue, k, dimensions, offset, global, local, n, wait, e.event),                         \
	  kernel_over(kernel_name(k), dimensions, global, local))                                  \
	_(clEnqueueTask,                                                                           \
	  (cl_command_queue queue, cl_kernel k, OPENCL_WAIT),                                      \
	  (queue, k, n, wait, e.event),                                                            \
	  kernel(kernel_name(k)))                                                                  \
	_(clEnqueueNativeKernel,                                                                   \
	  (cl_command_queue queue, opencl_native_kernel *function, void *args, size_t args_size,   \
	   uint32_t n_mems, const cl_mem *mems, const void **places, OPENCL_WAIT),                 \
	  (queue, function, args, args_size, n_mems, mems, places, n, wait, e.event),              \
	  kernel("<native kernel>"))                                                               \
	_(clEnqueueReadBuffer,                                                                     \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, size_t offset, size_t size,      \
	   void *p, OPENCL_WAIT),                                                                  \
	  (queue, mem, blocking, offset, size, p, n, wait, e.event),                               \
	  copy(COPY_DEVICE_TO_HOST, size, !blocking))                                              \
	_(clEnqueueWriteBuffer,                                                                    \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, size_t offset, size_t size,      \
	   const void *p, OPENCL_WAIT),                                                            \
	  (queue, mem, blocking, offset, size, p, n, wait, e.event),                               \
	  copy(COPY_HOST_TO_DEVICE, size, !blocking))                                              \
	_(clEnqueueCopyBuffer,                                                                     \
	  (cl_command_queue queue, cl_mem src, cl_mem dst, size_t src_offset, size_t dst_offset,   \
	   size_t size, OPENCL_WAIT),                                                              \
	  (queue, src, dst, src_offset, dst_offset, size, n, wait, e.event),                       \
	  copy(COPY_DEVICE_TO_DEVICE, size, true))                                                 \
	_(clEnqueueReadBufferRect,                                                                 \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, const size_t *origin,            \
	   const size_t *host_origin, const size_t *region, size_t row_pitch, size_t slice_pitch,  \
	   size_t host_row_pitch, size_t host_slice_pitch, void *p, OPENCL_WAIT),                  \
	  (queue, mem, blocking, origin, host_origin, region, row_pitch, slice_pitch,              \
	   host_row_pitch, host_slice_pitch, p, n, wait, e.event),                                 \
	  copy(COPY_DEVICE_TO_HOST, region_bytes(region, 1), !blocking))                           \
	_(clEnqueueWriteBufferRect,                                                                \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, const size_t *origin,            \
	   const size_t *host_origin, const size_t *region, size_t row_pitch, size_t slice_pitch,  \
	   size_t host_row_pitch, size_t host_slice_pitch, const void *p, OPENCL_WAIT),            \
	  (queue, mem, blocking, origin, host_origin, region, row_pitch, slice_pitch,              \
	   host_row_pitch, host_slice_pitch, p, n, wait, e.event),                                 \
	  copy(COPY_HOST_TO_DEVICE, region_bytes(region, 1), !blocking))                           \
	_(clEnqueueCopyBufferRect,                                                                 \
	  (cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *src_origin,               \
	   const size_t *dst_origin, const size_t *region, size_t src_row_pitch,                   \
	   size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch, OPENCL_WAIT),     \
	  (queue, src, dst, src_origin, dst_origin, region, src_row_pitch, src_slice_pitch,        \
	   dst_row_pitch, dst_slice_pitch, n, wait, e.event),                                      \
	  copy(COPY_DEVICE_TO_DEVICE, region_bytes(region, 1), true))                              \
	_(clEnqueueReadImage,                                                                      \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, const size_t *origin,            \
	   const size_t *region, size_t row_pitch, size_t slice_pitch, void *p, OPENCL_WAIT),      \
	  (queue, mem, blocking, origin, region, row_pitch, slice_pitch, p, n, wait, e.event),     \
	  copy(COPY_DEVICE_TO_HOST, image_bytes(mem, region), !blocking))                          \
	_(clEnqueueWriteImage,                                                                     \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, const size_t *origin,            \
	   const size_t *region, size_t row_pitch, size_t slice_pitch, const void *p,              \
	   OPENCL_WAIT),                                                                           \
	  (queue, mem, blocking, origin, region, row_pitch, slice_pitch, p, n, wait, e.event),     \
	  copy(COPY_HOST_TO_DEVICE, image_bytes(mem, region), !blocking))                          \
	_(clEnqueueCopyImage,                                                                      \
	  (cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *src_origin,               \
	   const size_t *dst_origin, const size_t *region, OPENCL_WAIT),                           \
	  (queue, src, dst, src_origin, dst_origin, region, n, wait, e.event),                     \
	  copy(COPY_DEVICE_TO_DEVICE, image_bytes(src, region), true))                             \
	_(clEnqueueCopyImageToBuffer,                                                              \
	  (cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *src_origin,               \
	   const size_t *region, size_t dst_offset, OPENCL_WAIT),                                  \
	  (queue, src, dst, src_origin, region, dst_offset, n, wait, e.event),                     \
	  copy(COPY_DEVICE_TO_DEVICE, image_bytes(src, region), true))                             \
	_(clEnqueueCopyBufferToImage,                                                              \
	  (cl_command_queue queue, cl_mem src, cl_mem dst, size_t src_offset,                      \
	   const size_t *dst_origin, const size_t *region, OPENCL_WAIT),                           \
	  (queue, src, dst, src_offset, dst_origin, region, n, wait, e.event),                     \
	  copy(COPY_DEVICE_TO_DEVICE, image_bytes(dst, region), true))                             \
	_(clEnqueueFillBuffer,                                                                     \
	  (cl_command_queue queue, cl_mem mem, const void *pattern, size_t pattern_size,           \
	   size_t offset, size_t size, OPENCL_WAIT),                                               \
	  (queue, mem, pattern, pattern_size, offset, size, n, wait, e.event),                     \
	  set(MEMORY_DEVICE, size))                                                                \
	_(clEnqueueFillImage,                                                                      \
	  (cl_command_queue queue, cl_mem mem, const void *color, const size_t *origin,            \
	   const size_t *region, OPENCL_WAIT),                                                     \
	  (queue, mem, color, origin, region, n, wait, e.event),                                   \
	  set(MEMORY_ARRAY, image_bytes(mem, region)))                                             \
	_(clEnqueueUnmapMemObject,                                                                 \
	  (cl_command_queue queue, cl_mem mem, void *p, OPENCL_WAIT),                              \
	  (queue, mem, p, n, wait, e.event),                                                       \
	  unmap(p))                                                                                \
	_(clEnqueueMigrateMemObjects,                                                              \
	  (cl_command_queue queue, uint32_t n_mems, const cl_mem *mems, uint64_t flags,            \
	   OPENCL_WAIT),                                                                           \
	  (queue, n_mems, mems, flags, n, wait, e.event),                                          \
	  migrate(flags, mems_bytes(n_mems, mems)))                                                \
	_(clEnqueueSVMMemcpy,                                                                      \
	  (cl_command_queue queue, uint32_t blocking, void *dst, const void *src, size_t size,     \
	   OPENCL_WAIT),                                                                           \
	  (queue, blocking, dst, src, size, n, wait, e.event),                                     \
	  copy(COPY_UNKNOWN, size, !blocking))                                                     \
	_(clEnqueueSVMMemFill,                                                                     \
	  (cl_command_queue queue, void *p, const void *pattern, size_t pattern_size, size_t size, \
	   OPENCL_WAIT),                                                                           \
	  (queue, p, pattern, pattern_size, size, n, wait, e.event),                               \
	  set(MEMORY_MANAGED, size))                                                               \
	_(clEnqueueSVMUnmap,                                                                       \
	  (cl_command_queue queue, void *p, OPENCL_WAIT),                                          \
	  (queue, p, n, wait, e.event),                                                            \
	  unmap(p))                                                                                \
	_(clEnqueueSVMMigrateMem,                                                                  \
	  (cl_command_queue queue, uint32_t n_pointers, const void **pointers,                     \
	   const size_t *sizes, uint64_t flags, OPENCL_WAIT),                                      \
	  (queue, n_pointers, pointers, sizes, flags, n, wait, e.event),                           \
	  migrate(flags, sum(n_pointers, sizes)))

#define _(function, parameters, arguments, what)                                                   \
	static opencl_##function hook_##function;                                                  \
	static int32_t hook_##function parameters                                                  \
	{                                                                                          \
		struct activity a = what;                                                          \
		struct opencl_enqueue e;                                                                  \
											           \
		opencl_enqueue_begin(&e, queue, event, &a);                                               \
		return opencl_enqueue_end(&e, OPENCL_NEXT(function) arguments);                           \
	}
COMMANDS(_)
#undef _
/* clang-format on */

/* Those that give back an address: their error goes through a pointer. */

static opencl_clEnqueueMapBuffer hook_clEnqueueMapBuffer;
static void *hook_clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, uint32_t blocking,
				     uint64_t flags, size_t offset, size_t size, OPENCL_WAIT,
				     int32_t *ret_error)
{
	struct activity a = map(flags, size, !blocking);
	int32_t error = OPENCL_SUCCESS;
	struct opencl_enqueue e;
	void *p;

	opencl_enqueue_begin(&e, queue, event, &a);
	p = OPENCL_NEXT(clEnqueueMapBuffer)(queue, mem, blocking, flags, offset, size, n, wait,
					    e.event, &error);
	map_remember(p, flags, size);
	opencl_enqueue_end(&e, error);
	if (ret_error)
		*ret_error = error;
	return p;
}

static opencl_clEnqueueMapImage hook_clEnqueueMapImage;
static void *hook_clEnqueueMapImage(cl_command_queue queue, cl_mem mem, uint32_t blocking,
				    uint64_t flags, const size_t *origin, const size_t *region,
				    size_t *ret_row_pitch, size_t *ret_slice_pitch, OPENCL_WAIT,
				    int32_t *ret_error)
{
	uint64_t bytes = image_bytes(mem, region);
	struct activity a = map(flags, bytes, !blocking);
	int32_t error = OPENCL_SUCCESS;
	struct opencl_enqueue e;
	void *p;

	opencl_enqueue_begin(&e, queue, event, &a);
	p = OPENCL_NEXT(clEnqueueMapImage)(queue, mem, blocking, flags, origin, region,
					   ret_row_pitch, ret_slice_pitch, n, wait, e.event,
					   &error);
	map_remember(p, flags, bytes);
	opencl_enqueue_end(&e, error);
	if (ret_error)
		*ret_error = error;
	return p;
}

static opencl_clEnqueueSVMMap hook_clEnqueueSVMMap;
static int32_t hook_clEnqueueSVMMap(cl_command_queue queue, uint32_t blocking, uint64_t flags,
				    void *p, size_t size, OPENCL_WAIT)
{
	struct activity a = map(flags, size, !blocking);
	struct opencl_enqueue e;
	int32_t error;

	opencl_enqueue_begin(&e, queue, event, &a);
	error = OPENCL_NEXT(clEnqueueSVMMap)(queue, blocking, flags, p, size, n, wait, e.event);
	if (error == OPENCL_SUCCESS)
		map_remember(p, flags, size);
	return opencl_enqueue_end(&e, error);
}

/* The address may be another kernel's next: forget the name at any release, learn it again. */
static opencl_clReleaseKernel hook_clReleaseKernel;
static int32_t hook_clReleaseKernel(cl_kernel k)
{
	uint64_t name;

	while (k && ptrmap_take(&kernels, k, &name))
		;
	return OPENCL_NEXT(clReleaseKernel)(k);
}

static opencl_clGetEventInfo hook_clGetEventInfo;
static int32_t hook_clGetEventInfo(cl_event event, uint32_t what, size_t size, void *value,
				   size_t *ret_size)
{
	/* Counted first: what finishes in between then makes the answer too high by one, as if the
	 * driver had held it, and never 0. */
	uint32_t ours = what == OPENCL_EVENT_REFERENCE_COUNT ? opencl_command_references(event) : 0;
	int32_t r = OPENCL_NEXT(clGetEventInfo)(event, what, size, value, ret_size);
	uint32_t n;

	if (ours && r == OPENCL_SUCCESS && value) {
		memcpy(&n, value, sizeof(n));
		n -= MIN(ours, n - 1);
		memcpy(value, &n, sizeof(n));
	}
	return r;
}

/* --- the layer -------------------------------------------------------------------------------- */

struct hook {
	uint32_t place;
	void (*function)(void);
};

/* The host waits: there is no command, and the time is its own. */
static void waited(const char *name, uint64_t start_ns)
{
	struct activity_sink *sink = opencl_sink();
	struct activity a = {.kind = ACTIVITY_SYNC,
			     .name = name,
			     .start_ns = start_ns,
			     .end_ns = clock_realtime_ns(),
			     .uncounted = true};

	if (!sink)
		return;
	a.launch = sink->ops->launch(sink, NULL);
	sink->ops->unlaunch(sink, 1);
	sink->ops->record(sink, &a);
}

static int32_t hook_clFinish(cl_command_queue queue)
{
	uint64_t start_ns = clock_realtime_ns();
	int32_t r = OPENCL_NEXT(clFinish)(queue);

	waited("clFinish", start_ns);
	return r;
}

static int32_t hook_clWaitForEvents(uint32_t n, const cl_event *events)
{
	uint64_t start_ns = clock_realtime_ns();
	int32_t r = OPENCL_NEXT(clWaitForEvents)(n, events);

	waited("clWaitForEvents", start_ns);
	return r;
}

#define HOOK(function, hook)                                                                       \
	{                                                                                          \
		OPENCL_##function, (void (*)(void))(hook)                                          \
	}

static const struct hook hooks[] = {HOOK(clEnqueueMapBuffer, hook_clEnqueueMapBuffer),
				    HOOK(clEnqueueMapImage, hook_clEnqueueMapImage),
				    HOOK(clEnqueueSVMMap, hook_clEnqueueSVMMap),
				    HOOK(clReleaseKernel, hook_clReleaseKernel),
				    HOOK(clGetEventInfo, hook_clGetEventInfo),
				    HOOK(clCreateCommandQueue, opencl_hook_clCreateCommandQueue),
				    HOOK(clCreateCommandQueueWithProperties,
					 opencl_hook_clCreateCommandQueueWithProperties),
				    HOOK(clRetainCommandQueue, opencl_hook_clRetainCommandQueue),
				    HOOK(clReleaseCommandQueue, opencl_hook_clReleaseCommandQueue),
				    HOOK(clGetCommandQueueInfo, opencl_hook_clGetCommandQueueInfo),
				    HOOK(clGetEventProfilingInfo,
					 opencl_hook_clGetEventProfilingInfo),
#define _(function, parameters, arguments, what) HOOK(function, hook_##function),
				    COMMANDS(_)
#undef _
},
			 sync_hooks[] =
				 {
					 HOOK(clFinish, hook_clFinish),
					 HOOK(clWaitForEvents, hook_clWaitForEvents),
},
			 memory_hooks[] = {
#define _(function) HOOK(function, opencl_hook_##function),
				 OPENCL_MEMORY_FUNCTIONS(_)
#undef _
};

/* Functions that the hooks call beside their own: without them there is no layer. */
static bool next_is_whole(void)
{
	static const uint8_t needed[] = {
		OPENCL_clGetDeviceInfo,         OPENCL_clGetCommandQueueInfo,
		OPENCL_clGetKernelInfo,         OPENCL_clGetEventInfo,
		OPENCL_clRetainEvent,           OPENCL_clReleaseEvent,
		OPENCL_clGetEventProfilingInfo, OPENCL_clSetEventCallback,
		OPENCL_clGetImageInfo,          OPENCL_clGetMemObjectInfo,
		OPENCL_clGetContextInfo,
	};

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!opencl.next[needed[i]])
			return false;
	return true;
}

static void hooks_put(const struct hook *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (opencl.next[list[i].place])
			memcpy(&dispatch[list[i].place], &list[i].function, sizeof(void *));
}

static bool initialised;

const void *opencl_layer(uint32_t n, const void *target, uint32_t *ret_n)
{
	/* A second loader in one process would need a second table below. */
	if (__atomic_exchange_n(&initialised, true, __ATOMIC_ACQ_REL) || !opencl_sink())
		return target;
	*ret_n = MIN(n, OPENCL_N_PLACES);
	memcpy(opencl.next, target, *ret_n * sizeof(void *));
	if (!next_is_whole()) {
		*ret_n = n;
		return target;
	}
	memcpy(dispatch, opencl.next, sizeof(dispatch));
	hooks_put(hooks, ARRAY_SIZE(hooks));
	if (opencl.sync)
		hooks_put(sync_hooks, ARRAY_SIZE(sync_hooks));
	if (opencl.memory)
		hooks_put(memory_hooks, ARRAY_SIZE(memory_hooks));
	return dispatch;
}

/* --- a loader without layers ------------------------------------------------------------------ */

struct loader {
	char path[256];
	bool layers; /* it knows OPENCL_LAYERS */
};

/* Loaders that have layers read this variable, so its name is among their constants. */
static bool segment_knows_layers(const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
	static const char variable[] = "OPENCL_LAYERS";

	return segment->p_type == PT_LOAD && (segment->p_flags & (PF_R | PF_W)) == PF_R &&
	       memmem((const void *)(info->dlpi_addr + segment->p_vaddr), segment->p_filesz,
		      variable, sizeof(variable));
}

static int loader_find(const struct dl_phdr_info *info, const char *base, void *arg)
{
	struct loader *loader = arg;

	(void)base;
	snprintf(loader->path, sizeof(loader->path), "%s", info->dlpi_name);
	for (int i = 0; i < info->dlpi_phnum && !loader->layers; i++)
		loader->layers = segment_knows_layers(info, &info->dlpi_phdr[i]);
	return 1;
}

void opencl_check_loader(struct activity_sink *sink)
{
	struct loader loader = {.layers = false};
	char text[512];

	if (__atomic_load_n(&initialised, __ATOMIC_ACQUIRE))
		return;
	if (!loaded_each("libOpenCL.so", loader_find, &loader) || loader.layers)
		return;
	snprintf(text, sizeof(text),
		 "OpenCL loader '%s' does not support layers: nothing was recorded; use ocl-icd "
		 "2.3 or newer, or Khronos' loader",
		 loader.path);
	sink->ops->note(sink, text);
}

/* --- the backend ------------------------------------------------------------------------------ */

static int opencl_start(const struct backend_options *options, struct activity_sink *sink,
			void **ret_state)
{
	if (opencl_commands_start() < 0)
		return -ENOMEM;
	opencl.sync = options->sync || options->api;
	opencl.memory = !options->no_memory && sink->ops->memory;
	opencl.idle = !options->no_idle && sink->ops->settled;
	if (opencl.idle) /* from now on it says so */
		sink->ops->settled(sink, 1);
	__atomic_store_n(&opencl.sink, sink, __ATOMIC_RELEASE);
	*ret_state = &opencl;
	return 0;
}

static int opencl_flush(void *state, enum flush how)
{
	const bool force = how >= FLUSH_ALL;
	struct activity_sink *sink = opencl_sink();

	if (opencl.memory)
		opencl_memory_settle(force);
	if (force)
		opencl_commands_await();
	if (sink && opencl.idle)
		sink->ops->settled(sink, force ? UINT64_MAX : opencl_commands_settled());
	return 0;
}

static void opencl_stop(void *state)
{
	__atomic_store_n(&opencl.sink, NULL, __ATOMIC_RELEASE);
}

static void opencl_forked(void *state)
{
	opencl.connected = false;
	opencl_commands_forked();
	opencl_queue_forked();
	opencl_memory_forked();
}

static uint64_t opencl_buffer_bytes(void *state)
{
	return opencl_commands_bytes();
}

const struct backend backend_opencl = {
	.name = "opencl",
	.device_type = "OpenCL",
	.start = opencl_start,
	.flush = opencl_flush,
	.buffer_bytes = opencl_buffer_bytes,
	.stop = opencl_stop,
	.forked = opencl_forked,
};
