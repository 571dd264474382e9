/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_ABI_H
#define PROTON_BACKENDS_CUPTI_ABI_H
/* The part of the CUPTI and CUDA driver ABI that the cupti backend uses, declared in our own words,
 * so that it builds where no CUDA toolkit is. tests/unit/test_cupti_abi.c asserts every number here
 * against NVIDIA's headers where they exist. x86-64 and aarch64 (LP64, little-endian).
 *
 * Records only ever grow at their end: an older or newer CUPTI writes its own newest layout and we
 * read the prefix that all of them share (kernels: CUDA 11.0 and later). Numbers of callbacks,
 * kinds and attributes are append-only; a library that does not know one says so
 * (ABI_BAD_ARGUMENT). */
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include "backends/cupti_pc_abi.h"

/* Results. Anything that is not 0 is a failure; these are told apart. */
enum abi_result {
	ABI_OK = 0,
	ABI_BAD_ARGUMENT = 1,
	ABI_BAD_OPERATION = 7,
	ABI_NO_MEMORY = 8,
	ABI_END_OF_BUFFER = 12,   /* also: one subscriber too many, before CUDA 11 */
	ABI_NOT_INITIALIZED = 15, /* also: the driver is older than this CUPTI */
	ABI_BUSY = 26,            /* another tool has the hardware counters */
	ABI_UNSUPPORTED = 27,
	ABI_NO_UNIFIED = 28,
	ABI_NO_UNIFIED_OF_DEVICE = 29,
	ABI_NO_UNIFIED_WITHOUT_PEERS = 30,
	ABI_NO_UNIFIED_WITH_MPS = 31,
	ABI_NO_PRIVILEGE = 35,
	ABI_OTHER_SUBSCRIBER = 39,
	ABI_NO_PRIVILEGE_VIRTUAL = 40,
	ABI_CONFIDENTIAL = 41, /* computing */
	ABI_PART = 43,         /* of a device (MIG) */
	ABI_NOT_UNDER_WSL = 45,
	ABI_UNKNOWN = 999, /* also: no driver at all */
};

/* cuptiGetVersion(). */
#define ABI_VERSION_11_0   13u
#define ABI_VERSION_11_1   14u /* copies and sets carry a graph id */
#define ABI_VERSION_11_6   17u /* channels of copies; with what is allocated: how full its pool is */
#define ABI_VERSION_11_8   18u     /* … and with the pool; clusters of kernels */
#define ABI_VERSION_12_3   21u     /* activity buffers for each thread */
#define ABI_VERSION_12_4   22u     /* samples of serialised kernels name their launch */
#define ABI_VERSION_12_9   27u     /* a buffer request may be refused */
#define ABI_VERSION_13_1_1 130101u /* ids of launched graphs are right in a later session, too */

enum abi_activity_kind {
	ABI_KIND_MEMCPY = 1,
	ABI_KIND_MEMSET = 2,
	ABI_KIND_KERNEL = 3, /* serialised kernels: never enabled, same record */
	ABI_KIND_CONCURRENT_KERNEL = 10,
	ABI_KIND_MEMCPY2 = 22, /* between two devices; comes with MEMCPY */
	ABI_KIND_UNIFIED = 25,
	ABI_KIND_SYNCHRONIZATION = 38,
	ABI_KIND_MEMORY2 = 49,
	ABI_KIND_MEMORY_POOL = 50,
	ABI_KIND_GRAPH_TRACE = 51,  /* whole graphs; their nodes have no records then */
	ABI_KIND_DEVICE_GRAPH = 53, /* those that kernels launch; comes with whole graphs */
	ABI_N_KINDS = 54
};

enum abi_sync_type {
	ABI_SYNC_EVENT = 1,
	ABI_SYNC_STREAM_WAIT_EVENT = 2, /* the stream waits, not the host */
	ABI_SYNC_STREAM = 3,
	ABI_SYNC_CONTEXT = 4,
	ABI_N_SYNC_TYPES = 5
};

enum abi_memory_operation { ABI_MEMORY_ALLOCATED = 1, ABI_MEMORY_RELEASED = 2 };

enum abi_pool_type { ABI_POOL_LOCAL = 1, ABI_POOL_IMPORTED = 2 };

enum abi_pool_operation { ABI_POOL_CREATED = 1, ABI_POOL_DESTROYED = 2, ABI_POOL_TRIMMED = 3 };

/* Of unified memory. */
enum abi_unified {
	ABI_UNIFIED_HTOD = 1,
	ABI_UNIFIED_DTOH = 2,
	ABI_UNIFIED_CPU_FAULT = 3,
	ABI_UNIFIED_GPU_FAULT = 4,
	ABI_UNIFIED_THRASHING = 5,
	ABI_UNIFIED_THROTTLING = 6,
	ABI_UNIFIED_REMOTE_MAP = 7,
	ABI_UNIFIED_DTOD = 8,
	ABI_N_UNIFIED = 9
};

/* Flags of what has moved: why. */
enum abi_unified_cause {
	ABI_MOVED_BY_USER = 1,
	ABI_MOVED_BY_EVICTION = 4,
};

#define ABI_THROTTLED_IN_CPU  1u /* flags of ABI_UNIFIED_THROTTLING */

#define ABI_DEVICES_MAX       1024u /* what is above is the host */

#define ABI_UNIFIED_OF_DEVICE 1u /* scope; without meaning since CUDA 7 */

enum abi_attribute {
	ABI_ATTRIBUTE_ZEROED_BUFFER = 5,
	ABI_ATTRIBUTE_HOST_PINNED = 8, /* where devices write when their work ran */
	ABI_ATTRIBUTE_PER_THREAD_BUFFER = 9,
};

#define ABI_FLUSH_FORCED 1u
#define ABI_FLAG_ASYNC   1u /* of copies and sets */

enum abi_copy_kind {
	ABI_COPY_HTOD = 1,
	ABI_COPY_DTOH = 2,
	ABI_COPY_HTOA = 3, /* A: array in device memory */
	ABI_COPY_ATOH = 4,
	ABI_COPY_ATOA = 5,
	ABI_COPY_ATOD = 6,
	ABI_COPY_DTOA = 7,
	ABI_COPY_DTOD = 8,
	ABI_COPY_HTOH = 9,
	ABI_COPY_PTOP = 10,
	ABI_N_COPY_KINDS = 11
};

enum abi_memory_kind {
	ABI_MEMORY_PAGEABLE = 1,
	ABI_MEMORY_PINNED = 2,
	ABI_MEMORY_DEVICE = 3,
	ABI_MEMORY_ARRAY = 4,
	ABI_MEMORY_MANAGED = 5,
	ABI_MEMORY_DEVICE_STATIC = 6,
	ABI_MEMORY_MANAGED_STATIC = 7,
	ABI_N_MEMORY_KINDS = 8
};

enum abi_domain {
	ABI_DOMAIN_DRIVER = 1,
	ABI_DOMAIN_RUNTIME = 2,
	ABI_DOMAIN_RESOURCE = 3,
	ABI_DOMAIN_STATE = 6,
};

enum abi_resource {
	ABI_RESOURCE_CONTEXT_CREATED = 1,
	ABI_RESOURCE_CONTEXT_DESTROYED = 2, /* from here on it is being destroyed */
	ABI_RESOURCE_STREAM_DESTROYED = 4,  /* as that of a context */
	ABI_RESOURCE_INIT_FINISHED = 5,
	ABI_RESOURCE_MODULE_LOADED = 6,
	ABI_RESOURCE_MODULE_UNLOADING = 7, /* it still is there */
	ABI_RESOURCE_GRAPH_NODE_CREATING = 12,
	ABI_RESOURCE_GRAPH_NODE_CREATED = 13,
	ABI_RESOURCE_GRAPH_NODE_DESTROYED = 14, /* it still is there */
	ABI_RESOURCE_GRAPH_EXEC_CREATED = 18,
	ABI_RESOURCE_GRAPH_EXEC_DESTROYED = 19, /* it still is there */
	ABI_RESOURCE_GRAPH_NODE_CLONED = 20,
	/* A node of an executable graph (original_node) runs what another one is (node); CUDA 13.0. */
	ABI_RESOURCE_GRAPH_NODE_UPDATED = 22,
	ABI_N_RESOURCES,
};

/* Of nodes of graphs: those that have records are the first ones. */
enum abi_node_type {
	ABI_NODE_KERNEL = 0,
	ABI_NODE_MEMCPY = 1,
	ABI_NODE_MEMSET = 2,
	ABI_NODE_HOST = 3,
	ABI_NODE_GRAPH = 4,
	ABI_NODE_CONDITIONAL = 13,
};
#define ABI_NODE_UNKNOWN UINT32_MAX

enum abi_state { ABI_STATE_FATAL_ERROR = 1 };

/* Results of driver calls. */
enum abi_call_result { ABI_CALL_OK = 0, ABI_CALL_WRONG_THREAD = 908 };

enum abi_site { ABI_ENTER = 0, ABI_EXIT = 1 };

/* Driver calls that we listen to: name, number, class.
 *   KERNEL   launches one kernel: has one record
 *   GRAPH    launches a graph: a record a node, all with this call's correlation id
 *   COPY     copies and sets: no, one or several records
 *   FLAT     of these: a copy whose first parameters are destination, source, bytes; FLAT_DOWN: from the host
 *   SYNC     waits; has one record when those are wanted
 *   ALLOC    allocates memory: has one record when those are wanted
 *   BEGIN    begins to capture a stream, END ends it: the first parameter
 *   MAKE     makes an executable graph; MAKE_FLAGS: the third parameter is flags, MAKE_PARAMS: points to them
 *   NODE     changes a node of a graph: the first parameter; KERNELS: what an executable graph runs, NODES: how much of
 *            it; UPDATE: makes it like a graph, the second parameter
 *   ADD_*    adds a node to a graph: one of a kernel, as it was once (KERNEL_V1) and is (KERNEL); of any kind (NODE,
 *            with data of edges NODE_V2)
 *   LOAD     loads a module or a library: where its handle goes, and its image; LOAD_FILE: the name of its file
 *   NAMED    gives the kernel of a name, SAME another handle of one; UNLOAD: kernels go
 *   PROFILER_ON, PROFILER_OFF  the program wants to be profiled, or no longer
 *   DESTROY  takes a context and its records away */
#define ABI_CALLS(_)                                                                               \
	_(cuLaunch, 115, KERNEL)                                                                   \
	_(cuLaunchGrid, 116, KERNEL)                                                               \
	_(cuLaunchGridAsync, 117, KERNEL)                                                          \
	_(cuLaunchKernel, 307, KERNEL)                                                             \
	_(cuLaunchKernel_ptsz, 442, KERNEL)                                                        \
	_(cuLaunchCooperativeKernel, 477, KERNEL)                                                  \
	_(cuLaunchCooperativeKernel_ptsz, 478, KERNEL)                                             \
	_(cuLaunchCooperativeKernelMultiDevice, 480, KERNEL)                                       \
	_(cuLaunchKernelEx, 652, KERNEL)                                                           \
	_(cuLaunchKernelEx_ptsz, 653, KERNEL)                                                      \
	_(cuGraphLaunch, 514, GRAPH)                                                               \
	_(cuGraphLaunch_ptsz, 515, GRAPH)                                                          \
	_(cuStreamBeginCapture, 495, BEGIN)                                                        \
	_(cuStreamBeginCapture_ptsz, 496, BEGIN)                                                   \
	_(cuStreamEndCapture, 497, END)                                                            \
	_(cuStreamEndCapture_ptsz, 498, END)                                                       \
	_(cuStreamBeginCapture_v2, 539, BEGIN)                                                     \
	_(cuStreamBeginCapture_v2_ptsz, 540, BEGIN)                                                \
	_(cuStreamBeginCaptureToGraph, 720, BEGIN)                                                 \
	_(cuStreamBeginCaptureToGraph_ptsz, 721, BEGIN)                                            \
	_(cuGraphInstantiate, 513, MAKE)                                                           \
	_(cuGraphInstantiate_v2, 578, MAKE)                                                        \
	_(cuGraphInstantiateWithFlags, 643, MAKE_FLAGS)                                            \
	_(cuGraphInstantiateWithParams, 656, MAKE_PARAMS)                                          \
	_(cuGraphInstantiateWithParams_ptsz, 657, MAKE_PARAMS)                                     \
	_(cuGraphKernelNodeSetParams, 521, NODE)                                                   \
	_(cuGraphKernelNodeSetParams_v2, 691, NODE)                                                \
	_(cuGraphNodeSetParams, 713, NODE)                                                         \
	_(cuGraphExecKernelNodeSetParams, 538, KERNELS)                                            \
	_(cuGraphExecKernelNodeSetParams_v2, 692, KERNELS)                                         \
	_(cuGraphExecChildGraphNodeSetParams, 586, KERNELS)                                        \
	_(cuGraphExecNodeSetParams, 714, KERNELS)                                                  \
	_(cuGraphNodeSetEnabled, 650, NODES)                                                       \
	_(cuGraphExecUpdate, 561, UPDATE)                                                          \
	_(cuGraphExecUpdate_v2, 696, UPDATE)                                                       \
	_(cuGraphAddKernelNode, 502, ADD_KERNEL_V1)                                                \
	_(cuGraphAddKernelNode_v2, 689, ADD_KERNEL)                                                \
	_(cuGraphAddNode, 712, ADD_NODE)                                                           \
	_(cuGraphAddNode_v2, 723, ADD_NODE_V2)                                                     \
	_(cuModuleLoad, 18, LOAD_FILE)                                                             \
	_(cuModuleLoadData, 19, LOAD)                                                              \
	_(cuModuleLoadDataEx, 20, LOAD)                                                            \
	_(cuModuleLoadFatBinary, 21, LOAD)                                                         \
	_(cuLibraryLoadData, 678, LOAD)                                                            \
	_(cuLibraryLoadFromFile, 679, LOAD_FILE)                                                   \
	_(cuModuleGetFunction, 23, NAMED)                                                          \
	_(cuLibraryGetKernel, 681, NAMED)                                                          \
	_(cuKernelGetFunction, 683, SAME)                                                          \
	_(cuModuleUnload, 22, UNLOAD)                                                              \
	_(cuLibraryUnload, 680, UNLOAD)                                                            \
	_(cuCtxSynchronize, 17, SYNC)                                                              \
	_(cuCtxSynchronize_v2, 800, SYNC)                                                          \
	_(cuEventSynchronize, 121, SYNC)                                                           \
	_(cuStreamSynchronize, 126, SYNC)                                                          \
	_(cuStreamSynchronize_ptsz, 440, SYNC)                                                     \
	_(cuMemAlloc, 29, ALLOC)                                                                   \
	_(cuMemAllocPitch, 31, ALLOC)                                                              \
	_(cuMemAllocHost, 37, ALLOC)                                                               \
	_(cuMemHostAlloc, 39, ALLOC)                                                               \
	_(cuArrayCreate, 87, ALLOC)                                                                \
	_(cuArray3DCreate, 90, ALLOC)                                                              \
	_(cuMemAlloc_v2, 243, ALLOC)                                                               \
	_(cuMemAllocPitch_v2, 244, ALLOC)                                                          \
	_(cuMemHostAlloc_v2, 271, ALLOC)                                                           \
	_(cuArrayCreate_v2, 272, ALLOC)                                                            \
	_(cuArray3DCreate_v2, 274, ALLOC)                                                          \
	_(cuMemAllocHost_v2, 294, ALLOC)                                                           \
	_(cuMemHostRegister, 301, ALLOC)                                                           \
	_(cuMipmappedArrayCreate, 347, ALLOC)                                                      \
	_(cuMemAllocManaged, 371, ALLOC)                                                           \
	_(cuMemHostRegister_v2, 379, ALLOC)                                                        \
	_(cuMemCreate, 549, ALLOC)                                                                 \
	_(cuMemAllocAsync, 598, ALLOC)                                                             \
	_(cuMemAllocAsync_ptsz, 599, ALLOC)                                                        \
	_(cuMemAllocFromPoolAsync, 611, ALLOC)                                                     \
	_(cuMemAllocFromPoolAsync_ptsz, 612, ALLOC)                                                \
	_(cuMemcpyHtoD, 43, COPY)                                                                  \
	_(cuMemcpyDtoH, 45, COPY)                                                                  \
	_(cuMemcpyDtoD, 47, COPY)                                                                  \
	_(cuMemcpyDtoA, 49, COPY)                                                                  \
	_(cuMemcpyAtoD, 51, COPY)                                                                  \
	_(cuMemcpyHtoA, 53, COPY)                                                                  \
	_(cuMemcpyAtoH, 54, COPY)                                                                  \
	_(cuMemcpyAtoA, 55, COPY)                                                                  \
	_(cuMemcpy2D, 56, COPY)                                                                    \
	_(cuMemcpy2DUnaligned, 57, COPY)                                                           \
	_(cuMemcpy3D, 58, COPY)                                                                    \
	_(cuMemcpyHtoDAsync, 60, COPY)                                                             \
	_(cuMemcpyDtoHAsync, 62, COPY)                                                             \
	_(cuMemcpyDtoDAsync, 64, COPY)                                                             \
	_(cuMemcpyHtoAAsync, 66, COPY)                                                             \
	_(cuMemcpyAtoHAsync, 67, COPY)                                                             \
	_(cuMemcpy2DAsync, 68, COPY)                                                               \
	_(cuMemcpy3DAsync, 69, COPY)                                                               \
	_(cuMemsetD8, 71, COPY)                                                                    \
	_(cuMemsetD16, 73, COPY)                                                                   \
	_(cuMemsetD32, 75, COPY)                                                                   \
	_(cuMemsetD2D8, 77, COPY)                                                                  \
	_(cuMemsetD2D16, 79, COPY)                                                                 \
	_(cuMemsetD2D32, 81, COPY)                                                                 \
	_(cuMemsetD8Async, 216, COPY)                                                              \
	_(cuMemsetD16Async, 218, COPY)                                                             \
	_(cuMemsetD32Async, 220, COPY)                                                             \
	_(cuMemsetD2D8Async, 222, COPY)                                                            \
	_(cuMemsetD2D16Async, 224, COPY)                                                           \
	_(cuMemsetD2D32Async, 226, COPY)                                                           \
	_(cuMemcpy_v2, 248, COPY)                                                                  \
	_(cuMemsetD8_v2, 249, COPY)                                                                \
	_(cuMemsetD16_v2, 250, COPY)                                                               \
	_(cuMemsetD32_v2, 251, COPY)                                                               \
	_(cuMemsetD2D8_v2, 252, COPY)                                                              \
	_(cuMemsetD2D16_v2, 253, COPY)                                                             \
	_(cuMemsetD2D32_v2, 254, COPY)                                                             \
	_(cuMemcpyHtoD_v2, 276, FLAT_DOWN)                                                         \
	_(cuMemcpyHtoDAsync_v2, 277, FLAT_DOWN)                                                    \
	_(cuMemcpyDtoH_v2, 278, FLAT)                                                              \
	_(cuMemcpyDtoHAsync_v2, 279, FLAT)                                                         \
	_(cuMemcpyDtoD_v2, 280, FLAT)                                                              \
	_(cuMemcpyDtoDAsync_v2, 281, FLAT)                                                         \
	_(cuMemcpyAtoH_v2, 282, COPY)                                                              \
	_(cuMemcpyAtoHAsync_v2, 283, COPY)                                                         \
	_(cuMemcpyAtoD_v2, 284, COPY)                                                              \
	_(cuMemcpyDtoA_v2, 285, COPY)                                                              \
	_(cuMemcpyAtoA_v2, 286, COPY)                                                              \
	_(cuMemcpy2D_v2, 287, COPY)                                                                \
	_(cuMemcpy2DUnaligned_v2, 288, COPY)                                                       \
	_(cuMemcpy2DAsync_v2, 289, COPY)                                                           \
	_(cuMemcpy3D_v2, 290, COPY)                                                                \
	_(cuMemcpy3DAsync_v2, 291, COPY)                                                           \
	_(cuMemcpyHtoA_v2, 292, COPY)                                                              \
	_(cuMemcpyHtoAAsync_v2, 293, COPY)                                                         \
	_(cuMemcpy, 305, FLAT)                                                                     \
	_(cuMemcpyAsync, 306, FLAT)                                                                \
	_(cuMemcpyPeer, 318, COPY)                                                                 \
	_(cuMemcpyPeerAsync, 319, COPY)                                                            \
	_(cuMemcpy3DPeer, 320, COPY)                                                               \
	_(cuMemcpy3DPeerAsync, 321, COPY)                                                          \
	_(cuMemcpyHtoD_v2_ptds, 397, FLAT_DOWN)                                                    \
	_(cuMemcpyDtoH_v2_ptds, 398, FLAT)                                                         \
	_(cuMemcpyDtoD_v2_ptds, 399, FLAT)                                                         \
	_(cuMemcpyDtoA_v2_ptds, 400, COPY)                                                         \
	_(cuMemcpyAtoD_v2_ptds, 401, COPY)                                                         \
	_(cuMemcpyHtoA_v2_ptds, 402, COPY)                                                         \
	_(cuMemcpyAtoH_v2_ptds, 403, COPY)                                                         \
	_(cuMemcpyAtoA_v2_ptds, 404, COPY)                                                         \
	_(cuMemcpy2D_v2_ptds, 405, COPY)                                                           \
	_(cuMemcpy2DUnaligned_v2_ptds, 406, COPY)                                                  \
	_(cuMemcpy3D_v2_ptds, 407, COPY)                                                           \
	_(cuMemcpy_ptds, 408, FLAT)                                                                \
	_(cuMemcpyPeer_ptds, 409, COPY)                                                            \
	_(cuMemcpy3DPeer_ptds, 410, COPY)                                                          \
	_(cuMemsetD8_v2_ptds, 411, COPY)                                                           \
	_(cuMemsetD16_v2_ptds, 412, COPY)                                                          \
	_(cuMemsetD32_v2_ptds, 413, COPY)                                                          \
	_(cuMemsetD2D8_v2_ptds, 414, COPY)                                                         \
	_(cuMemsetD2D16_v2_ptds, 415, COPY)                                                        \
	_(cuMemsetD2D32_v2_ptds, 416, COPY)                                                        \
	_(cuMemcpyAsync_ptsz, 418, FLAT)                                                           \
	_(cuMemcpyHtoAAsync_v2_ptsz, 419, COPY)                                                    \
	_(cuMemcpyAtoHAsync_v2_ptsz, 420, COPY)                                                    \
	_(cuMemcpyHtoDAsync_v2_ptsz, 421, FLAT_DOWN)                                               \
	_(cuMemcpyDtoHAsync_v2_ptsz, 422, FLAT)                                                    \
	_(cuMemcpyDtoDAsync_v2_ptsz, 423, FLAT)                                                    \
	_(cuMemcpy2DAsync_v2_ptsz, 424, COPY)                                                      \
	_(cuMemcpy3DAsync_v2_ptsz, 425, COPY)                                                      \
	_(cuMemcpyPeerAsync_ptsz, 426, COPY)                                                       \
	_(cuMemcpy3DPeerAsync_ptsz, 427, COPY)                                                     \
	_(cuMemsetD8Async_ptsz, 428, COPY)                                                         \
	_(cuMemsetD16Async_ptsz, 429, COPY)                                                        \
	_(cuMemsetD32Async_ptsz, 430, COPY)                                                        \
	_(cuMemsetD2D8Async_ptsz, 431, COPY)                                                       \
	_(cuMemsetD2D16Async_ptsz, 432, COPY)                                                      \
	_(cuMemsetD2D32Async_ptsz, 433, COPY)                                                      \
	_(cuMemcpyBatchAsync, 776, COPY)                                                           \
	_(cuMemcpyBatchAsync_ptsz, 777, COPY)                                                      \
	_(cuMemcpy3DBatchAsync, 778, COPY)                                                         \
	_(cuMemcpy3DBatchAsync_ptsz, 779, COPY)                                                    \
	_(cuMemcpyBatchAsync_v2, 796, COPY)                                                        \
	_(cuMemcpyBatchAsync_v2_ptsz, 797, COPY)                                                   \
	_(cuMemcpy3DBatchAsync_v2, 798, COPY)                                                      \
	_(cuMemcpy3DBatchAsync_v2_ptsz, 799, COPY)                                                 \
	_(cuCtxDestroy, 11, DESTROY)                                                               \
	_(cuCtxDestroy_v2, 322, DESTROY)                                                           \
	_(cuProfilerStart, 308, PROFILER_ON)                                                       \
	_(cuProfilerStop, 309, PROFILER_OFF)                                                       \
	_(cuDevicePrimaryCtxRelease, 387, DESTROY)                                                 \
	_(cuDevicePrimaryCtxReset, 389, DESTROY)                                                   \
	_(cuDevicePrimaryCtxRelease_v2, 544, DESTROY)                                              \
	_(cuDevicePrimaryCtxReset_v2, 545, DESTROY)

/* The first parameters of calls that launch one kernel: of cuLaunchKernel and cuLaunchCooperativeKernel, and of
 * cuLaunchKernelEx. */
enum abi_launch_call {
	ABI_CALL_LAUNCH = 307,
	ABI_CALL_LAUNCH_PTSZ = 442,
	ABI_CALL_COOPERATIVE = 477,
	ABI_CALL_COOPERATIVE_PTSZ = 478,
	ABI_CALL_LAUNCH_EX = 652,
	ABI_CALL_LAUNCH_EX_PTSZ = 653,
};
struct abi_launch_shape {
	uint32_t grid[3], block[3];
};
struct abi_launch {
	const void *function;
	struct abi_launch_shape shape;
};
struct abi_launch_ex {
	const struct abi_launch_shape *shape; /* and more */
	const void *function;
};

/* Of calls that load code: by which of them, and the parameters, of which the later ones are of those that have them. */
enum abi_load_call {
	ABI_CALL_MODULE_LOAD = 18,
	ABI_CALL_MODULE_LOAD_DATA = 19,
	ABI_CALL_MODULE_LOAD_DATA_EX = 20,
	ABI_CALL_MODULE_LOAD_FATBIN = 21,
	ABI_CALL_LIBRARY_LOAD_DATA = 678,
	ABI_CALL_LIBRARY_LOAD_FILE = 679,
};
struct abi_load {
	void **ret;
	const void *image; /* or the name of a file */
	union {
		struct {
			uint32_t n;
			void *options, *values;
		} module;
		struct {
			void *jit_options, *jit_values;
			uint32_t n_jit;
			void *options, *values;
			uint32_t n;
		} library;
	};
};

/* Of calls that give a kernel: where to, of what, and the name. */
struct abi_get_function {
	const void *const *ret;
	const void *of;
	const char *name; /* where it is asked for by that */
};

/* Of calls that add a node to a graph; before the parameters of the node there may be one more. */
struct abi_add_node {
	const void *node, *graph, *after;
	uint64_t n_after;
	const void *params;
};
struct abi_add_node_v2 {
	const void *node, *graph, *after, *edges;
	uint64_t n_after;
	const void *params;
};
/* A node of a kernel. */
struct abi_kernel_node {
	const void *function;
	struct abi_launch_shape shape;
	uint32_t shared_bytes;
	const void *arguments, *extra;
	const void *kernel; /* where function is NULL; in KERNEL_V1 there is none, nor a context */
	const void *context;
};
/* Which kernel; with_kernel: it is no KERNEL_V1. */
static inline const void *abi_node_function(const struct abi_kernel_node *node, bool with_kernel)
{
	return node->function || !with_kernel ? node->function : node->kernel;
}
/* One of any kind. */
struct abi_any_node {
	uint32_t type, reserved[3]; /* enum abi_node_type */
	struct abi_kernel_node kernel;
};

/* Calls that say what the library knows already, in less time than it takes to time them. */
#define ABI_QUIET_CALLS(_)                                                                         \
	_(RUNTIME, cudaGetLastError_v3020, 10)                                                     \
	_(RUNTIME, cudaPeekAtLastError_v3020, 11)                                                  \
	_(RUNTIME, cudaGetErrorString_v3020, 12)                                                   \
	_(RUNTIME, cudaGetDevice_v3020, 17)                                                        \
	_(RUNTIME, cudaGetErrorName_v6050, 209)                                                    \
	_(DRIVER, cuCtxGetDevice, 16)                                                              \
	_(DRIVER, cuCtxGetCurrent, 304)                                                            \
	_(DRIVER, cuGetErrorString, 372)                                                           \
	_(DRIVER, cuGetErrorName, 373)

#define ABI_N_CALLS 1024 /* numbers below this are looked up in a table */

/* What a driver-domain callback is told. */
struct abi_call {
	uint32_t site; /* enum abi_site */
	const char *function;
	const void *params;
	const void *result; /* EXIT only: points to a CUresult */
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *private_data;
	uint32_t correlation;
};

/* Of a graph that is made executable: kernels may launch it. */
#define ABI_GRAPH_BY_DEVICE 4u

/* First parameters of a FLAT copy. */
struct abi_flat_copy {
	uint64_t dst, src, bytes;
};

/* What a state-domain callback is told. */
struct abi_state_data {
	uint32_t result;
	const char *message;
};

struct abi_subscriber_params {
	size_t size;
	const char *name;
	char *old_name; /* who holds CUPTI when the result is ABI_OTHER_SUBSCRIBER */
	size_t old_name_size;
};
#define ABI_OLD_NAME_MIN 64

/* Activity records: prefixes. Every record begins with its kind and is 8-byte aligned. */
struct abi_record {
	uint32_t kind;
};

struct abi_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_memory_config;
	uint16_t registers;
	uint32_t partitioned_requested, partitioned_executed;
	uint64_t start_ns, end_ns, completed_ns;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued_ns, submitted_ns;
	uint8_t launch_type, carveout_requested, carveout, padding;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;
	void *policy; /* ABI_VERSION_11_1 */
	uint32_t channel, channel_type;
	uint32_t cluster[3]; /* ABI_VERSION_11_8 */
};

enum abi_channel_type { ABI_CHANNEL_COMPUTE = 1, ABI_CHANNEL_ASYNC_MEMCPY, ABI_CHANNEL_DECOMP };

struct abi_copy {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes;
	uint64_t start_ns, end_ns;
	uint32_t device, context, stream;
	uint32_t correlation;
	uint32_t runtime_correlation, padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;                 /* ABI_VERSION_11_1 */
	uint32_t channel, channel_type; /* ABI_VERSION_11_6 */
	uint8_t by_device, padding2[3];
	uint64_t n_copies; /* ABI_VERSION_12_9, and some before */
};

struct abi_peer_copy {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes;
	uint64_t start_ns, end_ns;
	uint32_t device, context, stream;
	uint32_t src_device, src_context, dst_device, dst_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;                 /* ABI_VERSION_11_1 */
	uint32_t channel, channel_type; /* ABI_VERSION_11_6 */
};

struct abi_set {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start_ns, end_ns;
	uint32_t device, context, stream;
	uint32_t correlation;
	uint16_t flags, memory_kind;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph; /* ABI_VERSION_11_1 */
};

struct abi_sync {
	uint32_t kind, type;
	uint64_t start_ns, end_ns;
	uint32_t correlation;
	uint32_t context, stream, event;
};

/* Allocated or released; the pool's part is of pools (pool_type, isAsync). */
struct abi_memory {
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, at_ns, pc;
	uint32_t process, device, context, stream;
	const char *name;
	uint32_t async, padding;
	uint32_t pool_type, pool_padding;
	uint64_t pool, pool_threshold, pool_bytes, pool_used; /* pool_bytes: of ABI_POOL_LOCAL */
};

struct abi_memory_pool {
	uint32_t kind, operation, pool_type, correlation;
	uint32_t process, device;
	uint64_t bytes_kept;
	uint64_t pool, bytes, threshold, at_ns;
	uint64_t used; /* CUDA 11.8 */
};

struct abi_unified_config {
	uint32_t scope, what, device, on;
};

struct abi_unified_record {
	uint32_t kind, what; /* enum abi_unified */
	uint64_t value;      /* bytes; of faults of a GPU: how many */
	uint64_t start_ns, end_ns;
	uint64_t address;
	uint32_t src, dst;
	uint32_t stream, process;
	uint32_t flags, padding;
};

struct abi_graph {
	uint32_t kind;
	uint32_t correlation;
	uint64_t start_ns, end_ns;
	uint32_t device; /* ABI_ON_HOST: it begins with a node that runs on none */
	uint32_t graph;
	uint32_t context, stream;
	void *reserved;
	uint32_t end_device, end_context; /* ABI_VERSION_12_9, and some before */
};
#define ABI_ON_HOST INT32_MAX

/* A graph that a kernel launched: no call has its correlation id. */
struct abi_device_graph {
	uint32_t kind;
	uint32_t device;
	uint64_t start_ns, end_ns;
	uint32_t graph, launcher; /* launcher: the graph in which that kernel ran */
	uint32_t mode;            /* fire and forget, as a tail, as a sibling */
	uint32_t context;
	uint64_t stream;
	void *reserved;
};

/* The largest record that we ask for (a kernel of CUDA 13.0), to turn a rate into bytes. */
#define ABI_KERNEL_BYTES 216

/* Of callbacks of ABI_DOMAIN_RESOURCE; descriptor: of those about nodes of graphs, abi_graph_data. */
struct abi_resource_data {
	void *context, *handle, *descriptor; /* handle: of a stream: it */
};
/* … of ABI_RESOURCE_MODULE_LOADED and its like: the descriptor. */
struct abi_module_data {
	uint32_t module;
	size_t cubin_bytes;
	const char *cubin;
};

struct abi_graph_data {
	void *graph, *original_graph, *node, *original_node;
	uint32_t node_type;            /* before the node is created alone */
	void *dependency, *executable; /* not set but of its own callbacks */
};

typedef void (*abi_callback_fn)(void *user, uint32_t domain, uint32_t id, const void *data);
typedef void (*abi_requested_fn)(uint8_t **buffer, size_t *size, size_t *n_records_max);
typedef void (*abi_completed_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				 size_t valid);

/*      need      name                               parameters; all return a CUptiResult */
#define ABI_CUPTI_FUNCTIONS(_)                                                                     \
	_(REQUIRED, cuptiGetVersion, (uint32_t * version))                                         \
	_(REQUIRED, cuptiSubscribe, (void **subscriber, abi_callback_fn, void *user))              \
	_(OPTIONAL, cuptiSubscribe_v2,                                                             \
	  (void **subscriber, abi_callback_fn, void *user, struct abi_subscriber_params *))        \
	_(REQUIRED, cuptiUnsubscribe, (void *subscriber))                                          \
	_(REQUIRED, cuptiEnableCallback,                                                           \
	  (uint32_t enable, void *subscriber, uint32_t domain, uint32_t id))                       \
	_(OPTIONAL, cuptiEnableDomain, (uint32_t enable, void *subscriber, uint32_t domain))       \
	_(REQUIRED, cuptiActivityRegisterCallbacks, (abi_requested_fn, abi_completed_fn))          \
	_(REQUIRED, cuptiActivityEnable, (uint32_t kind))                                          \
	_(REQUIRED, cuptiActivityDisable, (uint32_t kind))                                         \
	_(REQUIRED, cuptiActivityFlushAll, (uint32_t flags))                                       \
	_(REQUIRED, cuptiActivityGetNextRecord,                                                    \
	  (uint8_t * buffer, size_t valid, struct abi_record * *record))                           \
	_(OPTIONAL, cuptiActivityEnableDeviceGraph, (uint8_t enable))                              \
	_(OPTIONAL, cuptiActivityEnableAllSyncRecords, (uint8_t enable))                           \
	_(OPTIONAL, cuptiActivityConfigureUnifiedMemoryCounter,                                    \
	  (struct abi_unified_config * config, uint32_t n))                                        \
	_(OPTIONAL, cuptiActivitySetAttribute, (uint32_t attribute, size_t * size, void *value))   \
	_(OPTIONAL, cuptiActivityGetNumDroppedRecords,                                             \
	  (void *context, uint32_t stream, size_t *n))                                             \
	_(OPTIONAL, cuptiGetContextId, (void *context, uint32_t *ret_id))                          \
	_(OPTIONAL, cuptiGetDeviceId, (void *context, uint32_t *ret_id))                           \
	_(OPTIONAL, cuptiGetGraphNodeId, (void *node, uint64_t *ret_id))                           \
	_(OPTIONAL, cuptiGetGraphExecId, (void *executable, uint32_t *ret_id))                     \
	_(OPTIONAL, cuptiGetGraphId, (void *graph, uint32_t *ret_id))                              \
	_(OPTIONAL, cuptiGetResultString, (uint32_t result, const char **text))                    \
	ABI_PC_FUNCTIONS(_)

struct cupti_api {
#define _(need, name, parameters) uint32_t(*name) parameters;
	ABI_CUPTI_FUNCTIONS(_)
#undef _
};

/* The CUDA driver, for what a device is. */
enum abi_device_attribute {
	ABI_DEVICE_CLOCK_KHZ = 13,
	ABI_DEVICE_NUM_SMS = 16,
	ABI_DEVICE_COMPUTE_MODE = 20,
	ABI_DEVICE_MEMORY_CLOCK_KHZ = 36,
	ABI_DEVICE_BUS_WIDTH_BITS = 37,
	ABI_DEVICE_CC_MAJOR = 75,
	ABI_DEVICE_CC_MINOR = 76,
};

#define ABI_CUDA_FUNCTIONS(_)                                                                      \
	_(cuDriverGetVersion, (int *version))                                                      \
	_(cuDeviceGet, (int *device, int ordinal))                                                 \
	_(cuDeviceGetAttribute, (int *value, uint32_t attribute, int device))                      \
	_(cuDeviceGetName, (char *name, int size, int device))                                     \
	_(cuDeviceGetUuid_v2, (uint8_t uuid[16], int device))                                      \
	_(cuDeviceGetUuid, (uint8_t uuid[16], int device))                                         \
	_(cuDeviceTotalMem_v2, (size_t * bytes, int device))

struct cuda_api {
#define _(name, parameters) uint32_t(*name) parameters;
	ABI_CUDA_FUNCTIONS(_)
#undef _
};

#endif
