/* SPDX-License-Identifier: MIT */
/* cupti_abi.h, cupti_host_abi.h, cupti_pm_abi.h and cupti_range_abi.h against NVIDIA's own headers: every offset, size and number that we use. */
#include "config.h" // IWYU pragma: keep

#include <stdio.h>

#include "backends/cupti_abi.h"
#include "backends/cupti_host_abi.h"
#include "backends/cupti_pm_abi.h"
#include "backends/cupti_range_abi.h"

#ifdef PROTON_TEST_CUDA_HEADERS
#include <cuda.h>
#include <cupti.h>
#if __has_include(<cupti_profiler_host.h>) /* CUDA 12.6 */
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#define HAS_HOST_API
#endif

#define SAME(ours, theirs) _Static_assert((uint64_t)(ours) == (uint64_t)(theirs), #ours)
#define FIELD(ours, our_field, theirs, their_field)                                                \
	SAME(offsetof(struct ours, our_field), offsetof(theirs, their_field));                     \
	SAME(sizeof(((struct ours *)0)->our_field), sizeof(((theirs *)0)->their_field))

/* Results, kinds, attributes, flags. */
SAME(ABI_OK, CUPTI_SUCCESS);
SAME(ABI_BAD_ARGUMENT, CUPTI_ERROR_INVALID_PARAMETER);
SAME(ABI_END_OF_BUFFER, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME(ABI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME(ABI_BAD_OPERATION, CUPTI_ERROR_INVALID_OPERATION);
SAME(ABI_NO_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
SAME(ABI_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
SAME(ABI_UNSUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME(ABI_NO_PRIVILEGE, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME(ABI_OTHER_SUBSCRIBER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(ABI_NO_PRIVILEGE_VIRTUAL, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME(ABI_UNKNOWN, CUPTI_ERROR_UNKNOWN);
SAME(ABI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(ABI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(ABI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
SAME(ABI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(ABI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(ABI_ATTRIBUTE_ZEROED_BUFFER, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME(ABI_ATTRIBUTE_HOST_PINNED, CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED);
SAME(ABI_ATTRIBUTE_PER_THREAD_BUFFER, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
SAME(ABI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(ABI_FLAG_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
SAME(ABI_FLAG_ASYNC, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
SAME(ABI_COPY_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
SAME(ABI_COPY_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
SAME(ABI_COPY_HTOA, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
SAME(ABI_COPY_ATOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
SAME(ABI_COPY_ATOA, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA);
SAME(ABI_COPY_ATOD, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD);
SAME(ABI_COPY_DTOA, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA);
SAME(ABI_COPY_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
SAME(ABI_COPY_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
SAME(ABI_COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
SAME(ABI_MEMORY_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
SAME(ABI_MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
SAME(ABI_MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
SAME(ABI_MEMORY_ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
SAME(ABI_MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
SAME(ABI_MEMORY_DEVICE_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC);
SAME(ABI_MEMORY_MANAGED_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);

/* Callbacks. */
SAME(ABI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(ABI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
SAME(ABI_DOMAIN_STATE, CUPTI_CB_DOMAIN_STATE);
SAME(ABI_RESOURCE_CONTEXT_DESTROYED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME(ABI_RESOURCE_INIT_FINISHED, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
SAME(ABI_RESOURCE_GRAPH_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME(ABI_RESOURCE_GRAPH_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
#if CUPTI_API_VERSION >= 130000
SAME(ABI_RESOURCE_GRAPH_NODE_UPDATED, CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
#endif
SAME(ABI_RESOURCE_GRAPH_NODE_DESTROYED, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
SAME(ABI_RESOURCE_GRAPH_NODE_CREATING, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
SAME(ABI_RESOURCE_GRAPH_EXEC_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
SAME(ABI_RESOURCE_GRAPH_EXEC_DESTROYED, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
SAME(ABI_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL);
SAME(ABI_NODE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMCPY);
SAME(ABI_NODE_MEMSET, CU_GRAPH_NODE_TYPE_MEMSET);
SAME(ABI_NODE_HOST, CU_GRAPH_NODE_TYPE_HOST);
SAME(ABI_NODE_GRAPH, CU_GRAPH_NODE_TYPE_GRAPH);
FIELD(abi_graph_data, graph, CUpti_GraphData, graph);
FIELD(abi_graph_data, node_type, CUpti_GraphData, nodeType);
FIELD(abi_graph_data, executable, CUpti_GraphData, graphExec);
FIELD(abi_resource_data, descriptor, CUpti_ResourceData, resourceDescriptor);
FIELD(abi_graph_data, node, CUpti_GraphData, node);
FIELD(abi_graph_data, original_node, CUpti_GraphData, originalNode);
SAME(ABI_STATE_FATAL_ERROR, CUPTI_CBID_STATE_FATAL_ERROR);
SAME(ABI_ENTER, CUPTI_API_ENTER);
SAME(ABI_EXIT, CUPTI_API_EXIT);
#define _(name, number, class)                                                                     \
	SAME(number, CUPTI_DRIVER_TRACE_CBID_##name);                                              \
	_Static_assert(number < ABI_N_CALLS, #name);
ABI_CALLS(_)
#undef _
#define _(domain, name, number) SAME(number, CUPTI_##domain##_TRACE_CBID_##name);
ABI_QUIET_CALLS(_)
#undef _
SAME(ABI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
#define LAUNCH(theirs)                                                                             \
	FIELD(abi_launch, function, theirs, f);                                                    \
	FIELD(abi_launch, shape.grid[0], theirs, gridDimX);                                        \
	FIELD(abi_launch, shape.block[0], theirs, blockDimX)
LAUNCH(cuLaunchKernel_params);
LAUNCH(cuLaunchKernel_ptsz_params);
LAUNCH(cuLaunchCooperativeKernel_params);
FIELD(abi_launch_ex, shape, cuLaunchKernelEx_params, config);
FIELD(abi_launch_ex, function, cuLaunchKernelEx_params, f);
FIELD(abi_launch_shape, grid[0], CUlaunchConfig, gridDimX);
FIELD(abi_launch_shape, block[0], CUlaunchConfig, blockDimX);
#define GIVES(theirs, theirs_ret, theirs_of)                                                       \
	FIELD(abi_get_function, ret, theirs, theirs_ret);                                          \
	FIELD(abi_get_function, of, theirs, theirs_of)
GIVES(cuModuleGetFunction_params, hfunc, hmod);
GIVES(cuLibraryGetKernel_params, pKernel, library);
GIVES(cuKernelGetFunction_params, pFunc, kernel);
FIELD(abi_load, ret, cuModuleLoadData_params, module);
FIELD(abi_load, image, cuModuleLoad_params, fname);
FIELD(abi_load, image, cuModuleLoadData_params, image);
FIELD(abi_load, image, cuModuleLoadFatBinary_params, fatCubin);
FIELD(abi_load, module.values, cuModuleLoadDataEx_params, optionValues);
FIELD(abi_load, image, cuLibraryLoadFromFile_params, fileName);
FIELD(abi_load, library.n, cuLibraryLoadData_params, numLibraryOptions);
FIELD(abi_get_function, name, cuModuleGetFunction_params, name);
FIELD(abi_get_function, name, cuLibraryGetKernel_params, name);
FIELD(abi_add_node, params, cuGraphAddKernelNode_params, nodeParams);
FIELD(abi_add_node, params, cuGraphAddKernelNode_v2_params, nodeParams);
FIELD(abi_add_node, params, cuGraphAddNode_params, nodeParams);
FIELD(abi_add_node_v2, params, cuGraphAddNode_v2_params, nodeParams);
FIELD(abi_kernel_node, function, CUDA_KERNEL_NODE_PARAMS_v1, func);
FIELD(abi_kernel_node, shape.grid[0], CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
FIELD(abi_kernel_node, shape.block[0], CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
FIELD(abi_kernel_node, function, CUDA_KERNEL_NODE_PARAMS_v2, func);
FIELD(abi_kernel_node, shape.block[0], CUDA_KERNEL_NODE_PARAMS_v2, blockDimX);
FIELD(abi_kernel_node, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
FIELD(abi_kernel_node, kernel, CUDA_KERNEL_NODE_PARAMS_v3, kern);
FIELD(abi_any_node, type, CUgraphNodeParams, type);
FIELD(abi_any_node, kernel, CUgraphNodeParams, kernel);
SAME(ABI_CALL_LAUNCH, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
SAME(ABI_CALL_LAUNCH_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
SAME(ABI_CALL_COOPERATIVE, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
SAME(ABI_CALL_COOPERATIVE_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
SAME(ABI_CALL_LAUNCH_EX, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
SAME(ABI_CALL_LAUNCH_EX_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);
FIELD(abi_call, site, CUpti_CallbackData, callbackSite);
FIELD(abi_call, function, CUpti_CallbackData, functionName);
FIELD(abi_call, params, CUpti_CallbackData, functionParams);
FIELD(abi_call, result, CUpti_CallbackData, functionReturnValue);
FIELD(abi_call, symbol, CUpti_CallbackData, symbolName);
FIELD(abi_call, context, CUpti_CallbackData, context);
FIELD(abi_call, context_id, CUpti_CallbackData, contextUid);
FIELD(abi_call, private_data, CUpti_CallbackData, correlationData);
FIELD(abi_call, correlation, CUpti_CallbackData, correlationId);
SAME(sizeof(struct abi_call), sizeof(CUpti_CallbackData));
FIELD(abi_state_data, result, CUpti_StateData, notification.result);
FIELD(abi_state_data, message, CUpti_StateData, notification.message);
FIELD(abi_subscriber_params, size, CUpti_SubscriberParams, structSize);
FIELD(abi_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
FIELD(abi_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName);
FIELD(abi_subscriber_params, old_name_size, CUpti_SubscriberParams, oldSubscriberSize);
SAME(sizeof(struct abi_subscriber_params), CUpti_SubscriberParams_STRUCT_SIZE);
SAME(ABI_OLD_NAME_MIN, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);

/* Records: the oldest layout that we read and the newest of this toolkit. */
#define KERNEL(theirs)                                                                             \
	FIELD(abi_kernel, kind, theirs, kind);                                                     \
	FIELD(abi_kernel, start_ns, theirs, start);                                                \
	FIELD(abi_kernel, end_ns, theirs, end);                                                    \
	FIELD(abi_kernel, completed_ns, theirs, completed);                                        \
	FIELD(abi_kernel, device, theirs, deviceId);                                               \
	FIELD(abi_kernel, context, theirs, contextId);                                             \
	FIELD(abi_kernel, stream, theirs, streamId);                                               \
	SAME(offsetof(struct abi_kernel, grid), offsetof(theirs, gridX));                          \
	SAME(offsetof(struct abi_kernel, block), offsetof(theirs, blockX));                        \
	FIELD(abi_kernel, correlation, theirs, correlationId);                                     \
	FIELD(abi_kernel, grid_id, theirs, gridId);                                                \
	FIELD(abi_kernel, name, theirs, name);                                                     \
	FIELD(abi_kernel, graph_node, theirs, graphNodeId);                                        \
	FIELD(abi_kernel, graph, theirs, graphId);                                                 \
	FIELD(abi_kernel, registers, theirs, registersPerThread);                                  \
	FIELD(abi_kernel, static_shared, theirs, staticSharedMemory);                              \
	FIELD(abi_kernel, dynamic_shared, theirs, dynamicSharedMemory);                            \
	FIELD(abi_kernel, local_per_thread, theirs, localMemoryPerThread);                         \
	_Static_assert(offsetof(struct abi_kernel, policy) <= sizeof(theirs), #theirs)
KERNEL(CUpti_ActivityKernel5);
KERNEL(CUpti_ActivityKernel7);
SAME(offsetof(struct abi_kernel, cluster), offsetof(CUpti_ActivityKernel8, clusterX));
KERNEL(CUpti_ActivityKernel9);
SAME(offsetof(struct abi_kernel, cluster), offsetof(CUpti_ActivityKernel9, clusterX));
#if CUPTI_API_VERSION >= 130000
KERNEL(CUpti_ActivityKernel10);
SAME(ABI_KERNEL_BYTES, sizeof(CUpti_ActivityKernel10));
#endif
#define TRANSFER(ours, theirs)                                                                     \
	FIELD(ours, kind, theirs, kind);                                                           \
	FIELD(ours, bytes, theirs, bytes);                                                         \
	FIELD(ours, start_ns, theirs, start);                                                      \
	FIELD(ours, end_ns, theirs, end);                                                          \
	FIELD(ours, device, theirs, deviceId);                                                     \
	FIELD(ours, context, theirs, contextId);                                                   \
	FIELD(ours, stream, theirs, streamId);                                                     \
	FIELD(ours, correlation, theirs, correlationId);                                           \
	FIELD(ours, flags, theirs, flags);                                                         \
	FIELD(ours, graph_node, theirs, graphNodeId)
#define COPY(ours, theirs)                                                                         \
	TRANSFER(ours, theirs);                                                                    \
	FIELD(ours, copy_kind, theirs, copyKind);                                                  \
	FIELD(ours, src_kind, theirs, srcKind);                                                    \
	FIELD(ours, dst_kind, theirs, dstKind)
SAME(ABI_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(ABI_SYNC_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
SAME(ABI_SYNC_STREAM_WAIT_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
SAME(ABI_SYNC_STREAM, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
SAME(ABI_SYNC_CONTEXT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
#if CUPTI_API_VERSION >= 130000
#define SYNC(theirs)                                                                               \
	FIELD(abi_sync, kind, theirs, kind);                                                       \
	FIELD(abi_sync, type, theirs, type);                                                       \
	FIELD(abi_sync, start_ns, theirs, start);                                                  \
	FIELD(abi_sync, end_ns, theirs, end);                                                      \
	FIELD(abi_sync, correlation, theirs, correlationId);                                       \
	FIELD(abi_sync, context, theirs, contextId);                                               \
	FIELD(abi_sync, stream, theirs, streamId);                                                 \
	FIELD(abi_sync, event, theirs, cudaEventId)
SYNC(CUpti_ActivitySynchronization2);
#endif
SAME(ABI_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME(ABI_KIND_MEMORY_POOL, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
SAME(ABI_MEMORY_ALLOCATED, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
SAME(ABI_MEMORY_RELEASED, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
SAME(ABI_POOL_LOCAL, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
SAME(ABI_POOL_IMPORTED, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED);
SAME(ABI_POOL_CREATED, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED);
SAME(ABI_POOL_DESTROYED, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED);
SAME(ABI_POOL_TRIMMED, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED);
#define MEMORY(theirs)                                                                             \
	FIELD(abi_memory, operation, theirs, memoryOperationType);                                 \
	FIELD(abi_memory, memory_kind, theirs, memoryKind);                                        \
	FIELD(abi_memory, correlation, theirs, correlationId);                                     \
	FIELD(abi_memory, address, theirs, address);                                               \
	FIELD(abi_memory, bytes, theirs, bytes);                                                   \
	FIELD(abi_memory, at_ns, theirs, timestamp);                                               \
	FIELD(abi_memory, device, theirs, deviceId);                                               \
	FIELD(abi_memory, context, theirs, contextId);                                             \
	FIELD(abi_memory, stream, theirs, streamId);                                               \
	FIELD(abi_memory, async, theirs, isAsync);                                                 \
	FIELD(abi_memory, pool_type, theirs, memoryPoolConfig.memoryPoolType);                     \
	FIELD(abi_memory, pool, theirs, memoryPoolConfig.address);                                 \
	FIELD(abi_memory, pool_bytes, theirs, memoryPoolConfig.pool.size)
#define MEMORY_POOL(theirs)                                                                        \
	FIELD(abi_memory_pool, operation, theirs, memoryPoolOperationType);                        \
	FIELD(abi_memory_pool, pool_type, theirs, memoryPoolType);                                 \
	FIELD(abi_memory_pool, device, theirs, deviceId);                                          \
	FIELD(abi_memory_pool, pool, theirs, address);                                             \
	FIELD(abi_memory_pool, bytes, theirs, size);                                               \
	FIELD(abi_memory_pool, at_ns, theirs, timestamp)
#if CUPTI_API_VERSION >= 130000
MEMORY(CUpti_ActivityMemory2);
MEMORY(CUpti_ActivityMemory4);
FIELD(abi_memory, pool_used, CUpti_ActivityMemory4, memoryPoolConfig.utilizedSize);
MEMORY_POOL(CUpti_ActivityMemoryPool);
MEMORY_POOL(CUpti_ActivityMemoryPool3);
FIELD(abi_memory_pool, used, CUpti_ActivityMemoryPool3, utilizedSize);
#endif
SAME(ABI_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

/* Unified memory. */
SAME(ABI_NO_UNIFIED, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED);
SAME(ABI_NO_UNIFIED_OF_DEVICE, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE);
SAME(ABI_NO_UNIFIED_WITHOUT_PEERS, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES);
SAME(ABI_NO_UNIFIED_WITH_MPS, CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS);
SAME(ABI_KIND_UNIFIED, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
SAME(ABI_UNIFIED_HTOD, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
SAME(ABI_UNIFIED_DTOH, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
SAME(ABI_UNIFIED_CPU_FAULT, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT);
SAME(ABI_UNIFIED_GPU_FAULT, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT);
SAME(ABI_UNIFIED_THRASHING, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING);
SAME(ABI_UNIFIED_THROTTLING, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING);
SAME(ABI_UNIFIED_REMOTE_MAP, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP);
SAME(ABI_UNIFIED_DTOD, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
SAME(ABI_MOVED_BY_USER, CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER);
SAME(ABI_MOVED_BY_EVICTION, CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION);
SAME(ABI_THROTTLED_IN_CPU, CUPTI_ACTIVITY_FLAG_THROTTLING_IN_CPU);
SAME(ABI_UNIFIED_OF_DEVICE, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE);
SAME(sizeof(struct abi_unified_config), sizeof(CUpti_ActivityUnifiedMemoryCounterConfig));
FIELD(abi_unified_config, what, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
FIELD(abi_unified_config, on, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
FIELD(abi_unified_record, what, CUpti_ActivityUnifiedMemoryCounter3, counterKind);
FIELD(abi_unified_record, value, CUpti_ActivityUnifiedMemoryCounter3, value);
FIELD(abi_unified_record, start_ns, CUpti_ActivityUnifiedMemoryCounter3, start);
FIELD(abi_unified_record, end_ns, CUpti_ActivityUnifiedMemoryCounter3, end);
FIELD(abi_unified_record, address, CUpti_ActivityUnifiedMemoryCounter3, address);
FIELD(abi_unified_record, src, CUpti_ActivityUnifiedMemoryCounter3, srcId);
FIELD(abi_unified_record, dst, CUpti_ActivityUnifiedMemoryCounter3, dstId);
FIELD(abi_unified_record, flags, CUpti_ActivityUnifiedMemoryCounter3, flags);
#if CUPTI_API_VERSION >= 130000
#if CUPTI_API_VERSION >= 130000
SAME(ABI_KIND_DEVICE_GRAPH, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE);
FIELD(abi_device_graph, kind, CUpti_ActivityDeviceGraphTrace, kind);
FIELD(abi_device_graph, device, CUpti_ActivityDeviceGraphTrace, deviceId);
FIELD(abi_device_graph, start_ns, CUpti_ActivityDeviceGraphTrace, start);
FIELD(abi_device_graph, end_ns, CUpti_ActivityDeviceGraphTrace, end);
FIELD(abi_device_graph, graph, CUpti_ActivityDeviceGraphTrace, graphId);
FIELD(abi_device_graph, launcher, CUpti_ActivityDeviceGraphTrace, launcherGraphId);
FIELD(abi_device_graph, context, CUpti_ActivityDeviceGraphTrace, contextId);
FIELD(abi_device_graph, stream, CUpti_ActivityDeviceGraphTrace, streamId);
#endif
FIELD(abi_graph, kind, CUpti_ActivityGraphTrace2, kind);
FIELD(abi_graph, correlation, CUpti_ActivityGraphTrace2, correlationId);
FIELD(abi_graph, start_ns, CUpti_ActivityGraphTrace2, start);
FIELD(abi_graph, end_ns, CUpti_ActivityGraphTrace2, end);
FIELD(abi_graph, device, CUpti_ActivityGraphTrace2, deviceId);
FIELD(abi_graph, graph, CUpti_ActivityGraphTrace2, graphId);
FIELD(abi_graph, context, CUpti_ActivityGraphTrace2, contextId);
FIELD(abi_graph, stream, CUpti_ActivityGraphTrace2, streamId);
FIELD(abi_graph, end_device, CUpti_ActivityGraphTrace2, endDeviceId);
FIELD(abi_graph, end_context, CUpti_ActivityGraphTrace2, endContextId);
#endif
COPY(abi_copy, CUpti_ActivityMemcpy3); /* 11.0: no graph id */
COPY(abi_copy, CUpti_ActivityMemcpy4);
FIELD(abi_copy, graph, CUpti_ActivityMemcpy4, graphId);
COPY(abi_copy, CUpti_ActivityMemcpy5);
FIELD(abi_copy, channel, CUpti_ActivityMemcpy5, channelID);
FIELD(abi_copy, channel_type, CUpti_ActivityMemcpy5, channelType);
COPY(abi_peer_copy, CUpti_ActivityMemcpyPtoP2);
COPY(abi_peer_copy, CUpti_ActivityMemcpyPtoP3);
FIELD(abi_peer_copy, graph, CUpti_ActivityMemcpyPtoP3, graphId);
COPY(abi_peer_copy, CUpti_ActivityMemcpyPtoP4);
FIELD(abi_peer_copy, channel, CUpti_ActivityMemcpyPtoP4, channelID);
FIELD(abi_peer_copy, channel_type, CUpti_ActivityMemcpyPtoP4, channelType);
FIELD(abi_peer_copy, src_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
FIELD(abi_peer_copy, dst_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
TRANSFER(abi_set, CUpti_ActivityMemset2);
TRANSFER(abi_set, CUpti_ActivityMemset3);
FIELD(abi_set, graph, CUpti_ActivityMemset3, graphId);
TRANSFER(abi_set, CUpti_ActivityMemset4);
FIELD(abi_set, memory_kind, CUpti_ActivityMemset4, memoryKind);
FIELD(abi_set, value, CUpti_ActivityMemset4, value);
#if CUPTI_API_VERSION >= 130000
COPY(abi_copy, CUpti_ActivityMemcpy6);
FIELD(abi_copy, graph, CUpti_ActivityMemcpy6, graphId);
FIELD(abi_copy, n_copies, CUpti_ActivityMemcpy6, copyCount);
#endif

SAME(ABI_CHANNEL_COMPUTE, CUPTI_CHANNEL_TYPE_COMPUTE);
SAME(ABI_CHANNEL_ASYNC_MEMCPY, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY);

/* The driver. */
SAME(ABI_DEVICE_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(ABI_DEVICE_NUM_SMS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(ABI_DEVICE_MEMORY_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(ABI_DEVICE_BUS_WIDTH_BITS, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(ABI_DEVICE_COMPUTE_MODE, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
SAME(ABI_DEVICE_CC_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(ABI_DEVICE_CC_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(sizeof(CUdevice), sizeof(int));
SAME(sizeof(CUuuid), 16);
SAME(sizeof(CUresult), sizeof(uint32_t));
SAME(sizeof(CUptiResult), sizeof(uint32_t));

/* The profiler host API: each structure with the size that CUPTI wants to be told. */
#ifdef HAS_HOST_API
SAME(ABI_RANGE_AUTO, CUPTI_AutoRange);
SAME(ABI_RANGE_USER, CUPTI_UserRange);
SAME(ABI_REPLAY_APPLICATION, CUPTI_ApplicationReplay);
SAME(ABI_REPLAY_KERNEL, CUPTI_KernelReplay);
SAME(ABI_REPLAY_USER, CUPTI_UserReplay);
FIELD(abi_range_availability, image, CUpti_Profiler_GetCounterAvailability_Params,
      pCounterAvailabilityImage);
FIELD(abi_range_enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
FIELD(abi_range_enable, ret_profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
FIELD(abi_range_object, profiler, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
FIELD(abi_range_object, profiler, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
FIELD(abi_range_object, profiler, CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject);
FIELD(abi_range_stop, ret_pass, CUpti_RangeProfiler_Stop_Params, passIndex);
FIELD(abi_range_stop, ret_all_passes, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
FIELD(abi_range_push, name, CUpti_RangeProfiler_PushRange_Params, pRangeName);
FIELD(abi_range_config, image, CUpti_RangeProfiler_SetConfig_Params, pConfig);
FIELD(abi_range_config, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
FIELD(abi_range_config, range, CUpti_RangeProfiler_SetConfig_Params, range);
FIELD(abi_range_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
FIELD(abi_range_config, ranges_max, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
FIELD(abi_range_config, n_levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
FIELD(abi_range_config, least_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
FIELD(abi_range_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
FIELD(abi_range_config, level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
FIELD(abi_range_data_size, names, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
FIELD(abi_range_data_size, ranges_max, CUpti_RangeProfiler_GetCounterDataSize_Params,
      maxNumOfRanges);
FIELD(abi_range_data_size, nodes_max, CUpti_RangeProfiler_GetCounterDataSize_Params,
      maxNumRangeTreeNodes);
FIELD(abi_range_data_size, ret_bytes, CUpti_RangeProfiler_GetCounterDataSize_Params,
      counterDataSize);
FIELD(abi_range_data_init, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
      pCounterData);
FIELD(abi_range_decode, ret_dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
FIELD(abi_range_data_info, ret_n, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
FIELD(abi_range_info, i, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeIndex);
FIELD(abi_range_info, ret_name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeName);
SAME(ABI_HOST_SIZE(abi_range_config, level), CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
SAME(ABI_HOST_SIZE(abi_range_stop, ret_all_passes), CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
SAME(ABI_HOST_SIZE(abi_range_decode, ret_dropped),
     CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
SAME(ABI_HOST_BAD_NAME, CUPTI_ERROR_INVALID_METRIC_NAME);
SAME(ABI_HOST_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME(ABI_HOST_BAD_CHIP, CUPTI_ERROR_INVALID_CHIP_NAME);
SAME(ABI_METRIC_COUNTER, CUPTI_METRIC_TYPE_COUNTER);
SAME(ABI_METRIC_RATIO, CUPTI_METRIC_TYPE_RATIO);
SAME(ABI_METRIC_THROUGHPUT, CUPTI_METRIC_TYPE_THROUGHPUT);
SAME(ABI_PROFILER_RANGE, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
SAME(ABI_PROFILER_PM_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING);
FIELD(abi_host_init, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
FIELD(abi_host_init, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
FIELD(abi_host_init, availability, CUpti_Profiler_Host_Initialize_Params,
      pCounterAvailabilityImage);
FIELD(abi_host_init, ret_host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME(ABI_HOST_SIZE(abi_host_init, ret_host), CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
FIELD(abi_host_free, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME(ABI_HOST_SIZE(abi_host_free, host), CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
FIELD(abi_host_chips, ret_n, CUpti_Profiler_Host_GetSupportedChips_Params, numChips);
FIELD(abi_host_chips, ret_names, CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames);
SAME(ABI_HOST_SIZE(abi_host_chips, ret_names),
     CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
FIELD(abi_host_metrics, host, CUpti_Profiler_Host_GetBaseMetrics_Params, pHostObject);
FIELD(abi_host_metrics, type, CUpti_Profiler_Host_GetBaseMetrics_Params, metricType);
FIELD(abi_host_metrics, ret_names, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames);
FIELD(abi_host_metrics, ret_n, CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics);
SAME(ABI_HOST_SIZE(abi_host_metrics, ret_n), CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE);
FIELD(abi_host_submetrics, host, CUpti_Profiler_Host_GetSubMetrics_Params, pHostObject);
FIELD(abi_host_submetrics, type, CUpti_Profiler_Host_GetSubMetrics_Params, metricType);
FIELD(abi_host_submetrics, name, CUpti_Profiler_Host_GetSubMetrics_Params, pMetricName);
FIELD(abi_host_submetrics, ret_n, CUpti_Profiler_Host_GetSubMetrics_Params, numOfSubmetrics);
FIELD(abi_host_submetrics, ret_names, CUpti_Profiler_Host_GetSubMetrics_Params, ppSubMetrics);
SAME(ABI_HOST_SIZE(abi_host_submetrics, ret_names),
     CUpti_Profiler_Host_GetSubMetrics_Params_STRUCT_SIZE);
FIELD(abi_host_properties, host, CUpti_Profiler_Host_GetMetricProperties_Params, pHostObject);
FIELD(abi_host_properties, name, CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName);
FIELD(abi_host_properties, ret_description, CUpti_Profiler_Host_GetMetricProperties_Params,
      pDescription);
FIELD(abi_host_properties, ret_hardware, CUpti_Profiler_Host_GetMetricProperties_Params, pHwUnit);
FIELD(abi_host_properties, ret_unit, CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit);
FIELD(abi_host_properties, ret_type, CUpti_Profiler_Host_GetMetricProperties_Params, metricType);
SAME(ABI_HOST_SIZE(abi_host_properties, ret_type),
     CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE);
FIELD(abi_host_add, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
FIELD(abi_host_add, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
FIELD(abi_host_add, n, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME(ABI_HOST_SIZE(abi_host_add, n), CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
FIELD(abi_host_image_size, host, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject);
FIELD(abi_host_image_size, ret_bytes, CUpti_Profiler_Host_GetConfigImageSize_Params,
      configImageSize);
SAME(ABI_HOST_SIZE(abi_host_image_size, ret_bytes),
     CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
FIELD(abi_host_image, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject);
FIELD(abi_host_image, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
FIELD(abi_host_image, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME(ABI_HOST_SIZE(abi_host_image, image), CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
FIELD(abi_host_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
FIELD(abi_host_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
FIELD(abi_host_passes, ret_n, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME(ABI_HOST_SIZE(abi_host_passes, ret_n), CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
FIELD(abi_profiler_init, reserved, CUpti_Profiler_Initialize_Params, pPriv);
SAME(ABI_HOST_SIZE(abi_profiler_init, reserved), CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
FIELD(abi_chip_of_device, device, CUpti_Device_GetChipName_Params, deviceIndex);
FIELD(abi_chip_of_device, ret_name, CUpti_Device_GetChipName_Params, pChipName);
SAME(ABI_HOST_SIZE(abi_chip_of_device, ret_name), CUpti_Device_GetChipName_Params_STRUCT_SIZE);

/* PM sampling. */
SAME(ABI_PM_OVERFLOW, CUPTI_ERROR_OUT_OF_MEMORY);
SAME(ABI_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME(ABI_PART, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
SAME(ABI_NOT_UNDER_WSL, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
SAME(ABI_PM_CYCLES, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
SAME(ABI_PM_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME(ABI_PM_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
SAME(ABI_PM_KEEP_LATEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST);
SAME(ABI_PM_STOP_OTHER, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER);
SAME(ABI_PM_STOP_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
SAME(ABI_PM_STOP_END, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);
FIELD(abi_pm_availability, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex);
FIELD(abi_pm_availability, bytes, CUpti_PmSampling_GetCounterAvailability_Params,
      counterAvailabilityImageSize);
FIELD(abi_pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params,
      pCounterAvailabilityImage);
SAME(ABI_HOST_SIZE(abi_pm_availability, image),
     CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE);
FIELD(abi_pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
FIELD(abi_pm_enable, ret_sampling, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
SAME(ABI_HOST_SIZE(abi_pm_enable, ret_sampling), CUpti_PmSampling_Enable_Params_STRUCT_SIZE);
FIELD(abi_pm_object, sampling, CUpti_PmSampling_Disable_Params, pPmSamplingObject);
SAME(ABI_HOST_SIZE(abi_pm_object, sampling), CUpti_PmSampling_Disable_Params_STRUCT_SIZE);
FIELD(abi_pm_object, sampling, CUpti_PmSampling_Start_Params, pPmSamplingObject);
SAME(ABI_HOST_SIZE(abi_pm_object, sampling), CUpti_PmSampling_Start_Params_STRUCT_SIZE);
FIELD(abi_pm_object, sampling, CUpti_PmSampling_Stop_Params, pPmSamplingObject);
SAME(ABI_HOST_SIZE(abi_pm_object, sampling), CUpti_PmSampling_Stop_Params_STRUCT_SIZE);
FIELD(abi_pm_config, sampling, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject);
FIELD(abi_pm_config, image_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
FIELD(abi_pm_config, image, CUpti_PmSampling_SetConfig_Params, pConfig);
FIELD(abi_pm_config, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
FIELD(abi_pm_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
FIELD(abi_pm_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
FIELD(abi_pm_config, append, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
SAME(ABI_HOST_SIZE(abi_pm_config, append), CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE);
FIELD(abi_pm_data_size, sampling, CUpti_PmSampling_GetCounterDataSize_Params, pPmSamplingObject);
FIELD(abi_pm_data_size, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
FIELD(abi_pm_data_size, n, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
FIELD(abi_pm_data_size, max_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
FIELD(abi_pm_data_size, ret_bytes, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize);
SAME(ABI_HOST_SIZE(abi_pm_data_size, ret_bytes),
     CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE);
FIELD(abi_pm_data_init, sampling, CUpti_PmSampling_CounterDataImage_Initialize_Params,
      pPmSamplingObject);
FIELD(abi_pm_data_init, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params,
      counterDataSize);
FIELD(abi_pm_data_init, data, CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData);
SAME(ABI_HOST_SIZE(abi_pm_data_init, data),
     CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE);
FIELD(abi_pm_decode, sampling, CUpti_PmSampling_DecodeData_Params, pPmSamplingObject);
FIELD(abi_pm_decode, data, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
FIELD(abi_pm_decode, bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
FIELD(abi_pm_decode, ret_stop, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
FIELD(abi_pm_decode, ret_overflow, CUpti_PmSampling_DecodeData_Params, overflow);
SAME(ABI_HOST_SIZE(abi_pm_decode, ret_overflow), CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE);
FIELD(abi_pm_data_info, data, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
FIELD(abi_pm_data_info, bytes, CUpti_PmSampling_GetCounterDataInfo_Params, counterDataImageSize);
FIELD(abi_pm_data_info, ret_total, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples);
FIELD(abi_pm_data_info, ret_populated, CUpti_PmSampling_GetCounterDataInfo_Params,
      numPopulatedSamples);
FIELD(abi_pm_data_info, ret_completed, CUpti_PmSampling_GetCounterDataInfo_Params,
      numCompletedSamples);
SAME(ABI_HOST_SIZE(abi_pm_data_info, ret_completed),
     CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE);
FIELD(abi_pm_sample, sampling, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
      pPmSamplingObject);
FIELD(abi_pm_sample, data, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pCounterDataImage);
FIELD(abi_pm_sample, bytes, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
      counterDataImageSize);
FIELD(abi_pm_sample, i, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
FIELD(abi_pm_sample, ret_start_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
      startTimestamp);
FIELD(abi_pm_sample, ret_end_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);
SAME(ABI_HOST_SIZE(abi_pm_sample, ret_end_ns),
     CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE);
FIELD(abi_host_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject);
FIELD(abi_host_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
FIELD(abi_host_evaluate, bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
      counterDataImageSize);
FIELD(abi_host_evaluate, i, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
FIELD(abi_host_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
FIELD(abi_host_evaluate, n, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
FIELD(abi_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
SAME(ABI_HOST_SIZE(abi_host_evaluate, values),
     CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
#endif

int main(void)
{
	printf("cupti_abi.h agrees with CUPTI %d\n", CUPTI_API_VERSION);
	return 0;
}

#else

int main(void)
{
	printf("skipped: configure found no CUDA toolkit to compare with\n");
	return 77;
}

#endif
