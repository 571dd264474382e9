/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TORCH_MEMORY_H
#define PROTON_COLLECT_TORCH_MEMORY_H
/* What PyTorch's caching allocator has of a device, and what of it tensors use.
 *
 *   libc10_cuda.so ──> c10::reportMemoryUsageToProfiler() … of libproton.so, preloaded ──> of libc10.so
 *
 * It calls that for each tensor that it gives memory or takes it back from, whether a profiler of its own runs or not,
 * with what there is of all of them. The totals are kept always, and where a tensor made the allocator take more of the
 * device; where each was made, with --tensors. */
/* At the end of the process: what was not told is said. */
void torch_memory_end(void);

#endif
