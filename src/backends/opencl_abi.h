/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_OPENCL_ABI_H
#define PROTON_BACKENDS_OPENCL_ABI_H
/* What we use of OpenCL's loader, in our own words: the places of functions in its dispatch table,
 * their types, and some values. tests/unit/test_opencl_abi.c compares all of it with Khronos' headers
 * where they are installed.
 *
 * A layer is a shared library named in OPENCL_LAYERS. The loader calls its clInitLayer() with the
 * table of functions below it and puts the layer's table on top; an entry that is NULL, or beyond
 * the layer's table, means the function below. */
#include <stddef.h>
#include <stdint.h>

typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

/* What an image is like is between the program and the driver. */
typedef struct _cl_image_format cl_image_format;
typedef struct _cl_image_desc cl_image_desc;

typedef void opencl_event_callback(cl_event event, int32_t status, void *arg);
typedef void opencl_native_kernel(void *arg);
typedef void opencl_mem_callback(cl_mem mem, void *arg);
typedef void opencl_free_callback(cl_command_queue queue, uint32_t n, void **pointers, void *arg);

/* What every enqueue function ends with. */
#define OPENCL_WAIT uint32_t n, const cl_event *wait, cl_event *event

/* clang-format off */
/*        function, place in the table, result,
 *                parameters */
#define OPENCL_FUNCTIONS(_)                                                                        \
	_(clGetDeviceInfo, 3, int32_t,                                                             \
	  (cl_device_id device, uint32_t what, size_t size, void *value, size_t *ret_size))        \
	_(clGetContextInfo, 8, int32_t,                                                            \
	  (cl_context context, uint32_t what, size_t size, void *value, size_t *ret_size))         \
	_(clCreateCommandQueue, 9, cl_command_queue,                                               \
	  (cl_context context, cl_device_id device, uint64_t properties, int32_t *ret_error))      \
	_(clRetainCommandQueue, 10, int32_t, (cl_command_queue queue))                             \
	_(clReleaseCommandQueue, 11, int32_t, (cl_command_queue queue))                            \
	_(clGetCommandQueueInfo, 12, int32_t,                                                      \
	  (cl_command_queue queue, uint32_t what, size_t size, void *value, size_t *ret_size))     \
	_(clCreateBuffer, 14, cl_mem,                                                              \
	  (cl_context context, uint64_t flags, size_t size, void *host, int32_t *ret_error))       \
	_(clCreateImage2D, 15, cl_mem,                                                             \
	  (cl_context context, uint64_t flags, const cl_image_format *format, size_t width,        \
	   size_t height, size_t row_pitch, void *host, int32_t *ret_error))                       \
	_(clCreateImage3D, 16, cl_mem,                                                             \
	  (cl_context context, uint64_t flags, const cl_image_format *format, size_t width,        \
	   size_t height, size_t depth, size_t row_pitch, size_t slice_pitch, void *host,          \
	   int32_t *ret_error))                                                                    \
	_(clReleaseMemObject, 18, int32_t, (cl_mem mem))                                           \
	_(clGetMemObjectInfo, 20, int32_t,                                                         \
	  (cl_mem mem, uint32_t what, size_t size, void *value, size_t *ret_size))                 \
	_(clGetImageInfo, 21, int32_t,                                                             \
	  (cl_mem image, uint32_t what, size_t size, void *value, size_t *ret_size))               \
	_(clReleaseKernel, 37, int32_t, (cl_kernel kernel))                                        \
	_(clGetKernelInfo, 39, int32_t,                                                            \
	  (cl_kernel kernel, uint32_t what, size_t size, void *value, size_t *ret_size))           \
	_(clWaitForEvents, 41, int32_t, (uint32_t n, const cl_event *events))                      \
	_(clGetEventInfo, 42, int32_t,                                                             \
	  (cl_event event, uint32_t what, size_t size, void *value, size_t *ret_size))             \
	_(clRetainEvent, 43, int32_t, (cl_event event))                                            \
	_(clReleaseEvent, 44, int32_t, (cl_event event))                                           \
	_(clGetEventProfilingInfo, 45, int32_t,                                                    \
	  (cl_event event, uint32_t what, size_t size, void *value, size_t *ret_size))             \
	_(clFinish, 47, int32_t, (cl_command_queue queue))                                         \
	_(clEnqueueReadBuffer, 48, int32_t,                                                        \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, size_t offset, size_t size,      \
	   void *p, OPENCL_WAIT))                                                                  \
	_(clEnqueueWriteBuffer, 49, int32_t,                                                       \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, size_t offset, size_t size,      \
	   const void *p, OPENCL_WAIT))                                                            \
	_(clEnqueueCopyBuffer, 50, int32_t,                                                        \
	  (cl_command_queue queue, cl_mem src, cl_mem dst, size_t src_offset, size_t dst_offset,   \
	   size_t size, OPENCL_WAIT))                                                              \
	_(clEnqueueReadImage, 51, int32_t,                                                         \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, const size_t *origin,            \
	   const size_t *region, size_t row_pitch, size_t slice_pitch, void *p, OPENCL_WAIT))      \
	_(clEnqueueWriteImage, 52, int32_t,                                                        \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, const size_t *origin,            \
	   const size_t *region, size_t row_pitch, size_t slice_pitch, const void *p,              \
	   OPENCL_WAIT))                                                                           \
	_(clEnqueueCopyImage, 53, int32_t,                                                         \
	  (cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *src_origin,               \
	   const size_t *dst_origin, const size_t *region, OPENCL_WAIT))                           \
	_(clEnqueueCopyImageToBuffer, 54, int32_t,                                                 \
	  (cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *src_origin,               \
	   const size_t *region, size_t dst_offset, OPENCL_WAIT))                                  \
	_(clEnqueueCopyBufferToImage, 55, int32_t,                                                 \
	  (cl_command_queue queue, cl_mem src, cl_mem dst, size_t src_offset,                      \
	   const size_t *dst_origin, const size_t *region, OPENCL_WAIT))                           \
	_(clEnqueueMapBuffer, 56, void *,                                                          \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, uint64_t flags, size_t offset,   \
	   size_t size, OPENCL_WAIT, int32_t *ret_error))                                          \
	_(clEnqueueMapImage, 57, void *,                                                           \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, uint64_t flags,                  \
	   const size_t *origin, const size_t *region, size_t *ret_row_pitch,                      \
	   size_t *ret_slice_pitch, OPENCL_WAIT, int32_t *ret_error))                              \
	_(clEnqueueUnmapMemObject, 58, int32_t,                                                    \
	  (cl_command_queue queue, cl_mem mem, void *p, OPENCL_WAIT))                              \
	_(clEnqueueNDRangeKernel, 59, int32_t,                                                     \
	  (cl_command_queue queue, cl_kernel kernel, uint32_t dimensions, const size_t *offset,    \
	   const size_t *global, const size_t *local, OPENCL_WAIT))                                \
	_(clEnqueueTask, 60, int32_t,                                                              \
	  (cl_command_queue queue, cl_kernel kernel, OPENCL_WAIT))                                 \
	_(clEnqueueNativeKernel, 61, int32_t,                                                      \
	  (cl_command_queue queue, opencl_native_kernel *function, void *args, size_t args_size,   \
	   uint32_t n_mems, const cl_mem *mems, const void **places, OPENCL_WAIT))                 \
	_(clSetEventCallback, 81, int32_t,                                                         \
	  (cl_event event, int32_t status, opencl_event_callback *callback, void *arg))            \
	_(clSetMemObjectDestructorCallback, 83, int32_t,                                           \
	  (cl_mem mem, opencl_mem_callback *callback, void *arg))                                  \
	_(clEnqueueReadBufferRect, 86, int32_t,                                                    \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, const size_t *origin,            \
	   const size_t *host_origin, const size_t *region, size_t row_pitch, size_t slice_pitch,  \
	   size_t host_row_pitch, size_t host_slice_pitch, void *p, OPENCL_WAIT))                  \
	_(clEnqueueWriteBufferRect, 87, int32_t,                                                   \
	  (cl_command_queue queue, cl_mem mem, uint32_t blocking, const size_t *origin,            \
	   const size_t *host_origin, const size_t *region, size_t row_pitch, size_t slice_pitch,  \
	   size_t host_row_pitch, size_t host_slice_pitch, const void *p, OPENCL_WAIT))            \
	_(clEnqueueCopyBufferRect, 88, int32_t,                                                    \
	  (cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *src_origin,               \
	   const size_t *dst_origin, const size_t *region, size_t src_row_pitch,                   \
	   size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch, OPENCL_WAIT))     \
	_(clCreateImage, 96, cl_mem,                                                               \
	  (cl_context context, uint64_t flags, const cl_image_format *format,                      \
	   const cl_image_desc *desc, void *host, int32_t *ret_error))                             \
	_(clEnqueueFillBuffer, 102, int32_t,                                                       \
	  (cl_command_queue queue, cl_mem mem, const void *pattern, size_t pattern_size,           \
	   size_t offset, size_t size, OPENCL_WAIT))                                               \
	_(clEnqueueFillImage, 103, int32_t,                                                        \
	  (cl_command_queue queue, cl_mem mem, const void *color, const size_t *origin,            \
	   const size_t *region, OPENCL_WAIT))                                                     \
	_(clEnqueueMigrateMemObjects, 104, int32_t,                                                \
	  (cl_command_queue queue, uint32_t n_mems, const cl_mem *mems, uint64_t flags,            \
	   OPENCL_WAIT))                                                                           \
	_(clCreateCommandQueueWithProperties, 123, cl_command_queue,                               \
	  (cl_context context, cl_device_id device, const uint64_t *properties,                    \
	   int32_t *ret_error))                                                                    \
	_(clCreatePipe, 124, cl_mem,                                                               \
	  (cl_context context, uint64_t flags, uint32_t packet_size, uint32_t n_packets,           \
	   const intptr_t *properties, int32_t *ret_error))                                        \
	_(clSVMAlloc, 126, void *,                                                                 \
	  (cl_context context, uint64_t flags, size_t size, unsigned alignment))                   \
	_(clSVMFree, 127, void, (cl_context context, void *p))                                     \
	_(clEnqueueSVMFree, 128, int32_t,                                                          \
	  (cl_command_queue queue, uint32_t n_pointers, void **pointers,                           \
	   opencl_free_callback *callback, void *arg, OPENCL_WAIT))                                \
	_(clEnqueueSVMMemcpy, 129, int32_t,                                                        \
	  (cl_command_queue queue, uint32_t blocking, void *dst, const void *src, size_t size,     \
	   OPENCL_WAIT))                                                                           \
	_(clEnqueueSVMMemFill, 130, int32_t,                                                       \
	  (cl_command_queue queue, void *p, const void *pattern, size_t pattern_size, size_t size, \
	   OPENCL_WAIT))                                                                           \
	_(clEnqueueSVMMap, 131, int32_t,                                                           \
	  (cl_command_queue queue, uint32_t blocking, uint64_t flags, void *p, size_t size,        \
	   OPENCL_WAIT))                                                                           \
	_(clEnqueueSVMUnmap, 132, int32_t, (cl_command_queue queue, void *p, OPENCL_WAIT))         \
	_(clEnqueueSVMMigrateMem, 139, int32_t,                                                    \
	  (cl_command_queue queue, uint32_t n_pointers, const void **pointers,                     \
	   const size_t *sizes, uint64_t flags, OPENCL_WAIT))                                      \
	_(clCreateBufferWithProperties, 146, cl_mem,                                               \
	  (cl_context context, const uint64_t *properties, uint64_t flags, size_t size,            \
	   void *host, int32_t *ret_error))                                                        \
	_(clCreateImageWithProperties, 147, cl_mem,                                                \
	  (cl_context context, const uint64_t *properties, uint64_t flags,                         \
	   const cl_image_format *format, const cl_image_desc *desc, void *host,                   \
	   int32_t *ret_error))
/* clang-format on */

#define _(function, place, result, parameters) typedef result opencl_##function parameters;
OPENCL_FUNCTIONS(_)
#undef _

enum opencl_place {
#define _(function, place, result, parameters) OPENCL_##function = place,
	OPENCL_FUNCTIONS(_)
#undef _
};

#define OPENCL_N_PLACES 149 /* of OpenCL 3.0; loaders may have more or fewer */

enum {
	OPENCL_SUCCESS = 0,
	OPENCL_COMPLETE = 0, /* execution status; negative: the command failed */
	OPENCL_PROFILING_INFO_NOT_AVAILABLE = -7,
	OPENCL_INVALID_VALUE = -30,

	OPENCL_LAYER_API_VERSION = 0x4240,
	OPENCL_LAYER_NAME = 0x4241,
	OPENCL_LAYER_API_VERSION_100 = 100,

	OPENCL_DEVICE_VENDOR_ID = 0x1001, /* on the PCI bus */
	OPENCL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
	OPENCL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100c, /* MHz */
	OPENCL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
	OPENCL_DEVICE_NAME = 0x102b,
	OPENCL_DRIVER_VERSION = 0x102d,
	OPENCL_DEVICE_UUID = 0x106a,         /* 16 bytes; an extension */
	OPENCL_DEVICE_TOPOLOGY_AMD = 0x4037, /* 24 bytes; an extension */
	OPENCL_DEVICE_PCI_BUS_INFO = 0x410f, /* 4 numbers; an extension */
	OPENCL_VENDOR_AMD = 0x1002,

	OPENCL_QUEUE_CONTEXT = 0x1090,
	OPENCL_QUEUE_DEVICE = 0x1091,
	OPENCL_QUEUE_PROPERTIES = 0x1093,
	OPENCL_QUEUE_PROPERTIES_ARRAY = 0x1098,
	OPENCL_QUEUE_PROFILING_ENABLE = 1 << 1,
	OPENCL_QUEUE_ON_DEVICE = 1 << 2,

	OPENCL_CONTEXT_DEVICES = 0x1081,
	OPENCL_CONTEXT_N_DEVICES = 0x1083,
	OPENCL_MEM_USE_HOST_PTR = 1 << 3,
	OPENCL_MEM_ALLOC_HOST_PTR = 1 << 4,
	OPENCL_MEM_SIZE = 0x1102,
	OPENCL_MEM_REFERENCE_COUNT = 0x1105,
	OPENCL_MEM_PARENT = 0x1107,
	OPENCL_IMAGE_ELEMENT_SIZE = 0x1111,
	OPENCL_MAP_READ = 1 << 0,
	OPENCL_MAP_WRITE = 1 << 1,
	OPENCL_MAP_WRITE_INVALIDATE_REGION = 1 << 2,
	OPENCL_MIGRATE_HOST = 1 << 0,
	OPENCL_MIGRATE_CONTENT_UNDEFINED = 1 << 1,

	OPENCL_KERNEL_FUNCTION_NAME = 0x1190,
	OPENCL_EVENT_COMMAND_QUEUE = 0x11d0,
	OPENCL_EVENT_REFERENCE_COUNT = 0x11d2,
	OPENCL_PROFILING_COMMAND_QUEUED = 0x1280,
	OPENCL_PROFILING_COMMAND_START = 0x1282,
	OPENCL_PROFILING_COMMAND_END = 0x1283,
};

#endif
