/* SPDX-License-Identifier: MIT */
/* Memory of OpenCL, told of as it is allocated and released.
 *
 *	clCreateBuffer … ── hook: the object is there ──> ask the driver to call us when it ends
 *	                                                     │
 *	         released ── by the program, by a kernel's argument, by a sub-buffer ──> it ends
 *
 * Objects count references, and not only the program's: the memory is there until the last one goes. So the driver
 * says when that is (clSetMemObjectDestructorCallback; ours is asked for first, and called last). Where it refuses to,
 * the release that finds one reference is taken for the last.
 *
 * What has its memory from another object (a sub-buffer, an image of a buffer) has none of its own. Memory is of the
 * first device of its context: where there are several, drivers do not say which of them has it. */
#include "config.h" // IWYU pragma: keep
#include "backends/opencl_memory.h"
#include <string.h>
#include "backends/opencl_queue.h"
#include "backends/ptrmap.h"
#include "base/clock.h"
#include "base/util.h"

enum { MAX_DEVICES_ASKED = 64 };

/* Objects whose end the driver does not tell: handle -> bytes. */
static struct ptrmap untold;
static uint32_t n_untold;

void opencl_memory_forked(void)
{
	memset(&untold, 0, sizeof(untold));
	n_untold = 0;
}

/* 0: of nobody's memory. */
static int32_t first_device(cl_context context)
{
	opencl_clGetContextInfo *get = OPENCL_NEXT(clGetContextInfo);
	cl_device_id devices[MAX_DEVICES_ASKED] = {NULL};
	size_t size = 0;

	if (get(context, OPENCL_CONTEXT_DEVICES, 0, NULL, &size) != OPENCL_SUCCESS ||
	    size > sizeof(devices) ||
	    get(context, OPENCL_CONTEXT_DEVICES, size, devices, NULL) != OPENCL_SUCCESS ||
	    !devices[0])
		return 0;
	return opencl_device_index(devices[0]);
}

static void tell(struct activity_sink *sink, const struct memory_event *e)
{
	opencl_connect(sink);
	sink->ops->memory(sink, e);
}

static void tell_allocated(struct activity_sink *sink, cl_context context, enum memory_kind kind,
			   const void *p, uint64_t bytes)
{
	struct memory_event e = {.operation = MEMORY_ALLOCATED,
				 .kind = (uint8_t)kind,
				 .device = first_device(context),
				 .context = opencl_context_id(context),
				 .at_ns = clock_realtime_ns(),
				 .address = (uintptr_t)p,
				 .bytes = bytes};

	if (sink->ops->allocating)
		e.launch = sink->ops->allocating(sink);
	tell(sink, &e);
}

static void tell_released(struct activity_sink *sink, enum memory_kind kind, const void *p,
			  uint64_t bytes)
{
	tell(sink, &(struct memory_event){.operation = MEMORY_RELEASED,
					  .kind = (uint8_t)kind,
					  .at_ns = clock_realtime_ns(),
					  .address = (uintptr_t)p,
					  .bytes = bytes});
}

/* ---- objects ---- */

static void object_ended(cl_mem mem, void *bytes)
{
	struct activity_sink *sink = opencl_sink();

	if (sink)
		tell_released(sink, MEMORY_DEVICE, mem, (uintptr_t)bytes);
}

static uint64_t object_bytes(cl_mem mem)
{
	opencl_clGetMemObjectInfo *get = OPENCL_NEXT(clGetMemObjectInfo);
	size_t bytes = 0;

	get(mem, OPENCL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
	return bytes;
}

static bool has_memory_of_another(cl_mem mem)
{
	opencl_clGetMemObjectInfo *get = OPENCL_NEXT(clGetMemObjectInfo);
	cl_mem parent = NULL;

	return get(mem, OPENCL_MEM_PARENT, sizeof(parent), &parent, NULL) == OPENCL_SUCCESS &&
	       parent;
}

/* The host's memory is lent to the device, or there is some that both reach. */
static enum memory_kind kind_of(uint64_t flags, enum memory_kind kind)
{
	return flags & (OPENCL_MEM_USE_HOST_PTR | OPENCL_MEM_ALLOC_HOST_PTR) ? MEMORY_PINNED : kind;
}

/* False: nobody will say when it ends. */
static bool watch(cl_mem mem, uint64_t bytes)
{
	opencl_clSetMemObjectDestructorCallback *set =
		OPENCL_NEXT(clSetMemObjectDestructorCallback);

	if (set && set(mem, object_ended, (void *)(uintptr_t)bytes) == OPENCL_SUCCESS)
		return true;
	if (!OPENCL_NEXT(clReleaseMemObject) || !ptrmap_add(&untold, mem, bytes))
		return false;
	__atomic_fetch_add(&n_untold, 1, __ATOMIC_RELAXED);
	return true;
}

static cl_mem created(cl_mem mem, cl_context context, uint64_t flags, enum memory_kind kind)
{
	struct activity_sink *sink = mem ? opencl_sink() : NULL;
	uint64_t bytes;

	if (!sink || has_memory_of_another(mem))
		return mem;
	bytes = object_bytes(mem);
	if (watch(mem, bytes))
		tell_allocated(sink, context, kind_of(flags, kind), mem, bytes);
	else
		sink->ops->lose(sink, LOSS_NO_MEMORY, 1);
	return mem;
}

/* Before it happens: afterwards the address may be another thread's new object. */
static void look_for_the_last(cl_mem mem)
{
	struct activity_sink *sink = opencl_sink();
	uint32_t references = 0;
	uint64_t bytes;

	OPENCL_NEXT(clGetMemObjectInfo)
	(mem, OPENCL_MEM_REFERENCE_COUNT, sizeof(references), &references, NULL);
	if (sink && references == 1 && ptrmap_take(&untold, mem, &bytes)) {
		__atomic_fetch_sub(&n_untold, 1, __ATOMIC_RELAXED);
		tell_released(sink, MEMORY_DEVICE, mem, bytes);
	}
}

int32_t opencl_hook_clReleaseMemObject(cl_mem mem)
{
	if (_unlikely_(__atomic_load_n(&n_untold, __ATOMIC_RELAXED)) && mem)
		look_for_the_last(mem);
	return OPENCL_NEXT(clReleaseMemObject)(mem);
}

/* clang-format off */
/*        function,
 *            its parameters,
 *            its arguments,
 *            kind of memory */
#define CREATORS(_)                                                                                \
	_(clCreateBuffer,                                                                          \
	  (cl_context context, uint64_t flags, size_t size, void *host, int32_t *ret_error),       \
	  (context, flags, size, host, ret_error),                                                 \
	  MEMORY_DEVICE)                                                                           \
	_(clCreateBufferWithProperties,                                                            \
	  (cl_context context, const uint64_t *properties, uint64_t flags, size_t size,            \
	   void *host, int32_t *ret_error),                                                        \
	  (context, properties, flags, size, host, ret_error),                                     \
	  MEMORY_DEVICE)                                                                           \
	_(clCreateImage,                                                                           \
	  (cl_context context, uint64_t flags, const cl_image_format *format,                      \
	   const cl_image_desc *desc, void *host, int32_t *ret_error),                             \
	  (context, flags, format, desc, host, ret_error),                                         \
	  MEMORY_ARRAY)                                                                            \
	_(clCreateImageWithProperties,                                                             \
	  (cl_context context, const uint64_t *properties, uint64_t flags,                         \
	   const cl_image_format *format, const cl_image_desc *desc, void *host,                   \
	   int32_t *ret_error),                                                                    \
	  (context, properties, flags, format, desc, host, ret_error),                             \
	  MEMORY_ARRAY)                                                                            \
	_(clCreateImage2D,                                                                         \
	  (cl_context context, uint64_t flags, const cl_image_format *format, size_t width,        \
	   size_t height, size_t row_pitch, void *host, int32_t *ret_error),                       \
	  (context, flags, format, width, height, row_pitch, host, ret_error),                     \
	  MEMORY_ARRAY)                                                                            \
	_(clCreateImage3D,                                                                         \
	  (cl_context context, uint64_t flags, const cl_image_format *format, size_t width,        \
	   size_t height, size_t depth, size_t row_pitch, size_t slice_pitch, void *host,          \
	   int32_t *ret_error),                                                                    \
	  (context, flags, format, width, height, depth, row_pitch, slice_pitch, host, ret_error), \
	  MEMORY_ARRAY)                                                                            \
	_(clCreatePipe,                                                                            \
	  (cl_context context, uint64_t flags, uint32_t packet_size, uint32_t n_packets,           \
	   const intptr_t *properties, int32_t *ret_error),                                        \
	  (context, flags, packet_size, n_packets, properties, ret_error),                         \
	  MEMORY_DEVICE)

#define _(function, parameters, arguments, kind)                                                   \
	cl_mem opencl_hook_##function parameters                                                   \
	{                                                                                          \
		return created(OPENCL_NEXT(function) arguments, context, flags, kind);             \
	}
CREATORS(_)
#undef _
/* clang-format on */

/* ---- memory that the host and devices share ---- */

void *opencl_hook_clSVMAlloc(cl_context context, uint64_t flags, size_t size, unsigned alignment)
{
	void *p = OPENCL_NEXT(clSVMAlloc)(context, flags, size, alignment);
	struct activity_sink *sink = p ? opencl_sink() : NULL;

	if (sink)
		tell_allocated(sink, context, MEMORY_SVM, p, size);
	return p;
}

/* Its size is known where it was allocated. */
static void release_shared(const void *p)
{
	struct activity_sink *sink = p ? opencl_sink() : NULL;

	if (sink)
		tell_released(sink, MEMORY_SVM, p, 0);
}

/* Before it happens, again. */
void opencl_hook_clSVMFree(cl_context context, void *p)
{
	release_shared(p);
	OPENCL_NEXT(clSVMFree)(context, p);
}

/* With a function of its own the program releases it itself, by clSVMFree(). */
int32_t opencl_hook_clEnqueueSVMFree(cl_command_queue queue, uint32_t n_pointers, void **pointers,
				     opencl_free_callback *callback, void *arg, OPENCL_WAIT)
{
	int32_t r = OPENCL_NEXT(clEnqueueSVMFree)(queue, n_pointers, pointers, callback, arg, n,
						  wait, event);

	for (uint32_t i = 0; r == OPENCL_SUCCESS && !callback && pointers && i < n_pointers; i++)
		release_shared(pointers[i]);
	return r;
}

void opencl_memory_settle(bool force)
{
	struct activity_sink *sink = opencl_sink();

	if (sink && sink->ops->memory_until)
		sink->ops->memory_until(sink, force ? UINT64_MAX : clock_realtime_ns());
}
