/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_BACKENDS_H
#define PROTON_CORE_BACKENDS_H
/* The backends, as both halves of proton know them: a row here, and a file in src/backends/ (its
 * backend.h says how one is added). From the row come the enum of sources, the bit that switches it
 * off, --no-WORD, what `proton version` says, the door through which the collector starts it and
 * the variable that opens that door.
 *
 * A backend's number is the place of its row. Some variables can name one library only. If another
 * tool has set one, we leave it, and `unseen` is what users are told. Without `unseen` the variable is a
 * list: ours is appended.
 *
 * collect/libproton.map.in includes this, too: what only C understands is hidden from it by
 * __ASSEMBLER__. */
#ifndef __ASSEMBLER__
#include <stdint.h>
#endif

/*    id, name, door, word, title, variable, unseen, about */
#define BACKENDS_OF_USERS(_)                                                                       \
	_(CUPTI, cupti, CUDA, "cuda", "CUDA", "CUDA_INJECTION64_PATH",                             \
	  "CUDA work may not be seen", "libcupti 11 to 13, looked for at run time")                \
	_(OPENCL, opencl, OPENCL, "opencl", "OpenCL", "OPENCL_LAYERS", NULL, "layer")              \
	_(OPENMP, openmp, OPENMP, "openmp", "OpenMP offloading", "OMP_TOOL_LIBRARIES",             \
	  "OpenMP's constructs are not seen", "tool of runtimes with OMPT 5.1")
#define BACKENDS(_)                                                                                \
	BACKENDS_OF_USERS(_)                                                                       \
	_(FAKE, fake, PRELOAD, NULL, NULL, NULL, NULL, NULL)

/* The doors: how somebody else's code gets into libproton.so, and the functions that it finds
 * there. These and no others are exported, so they are written as the linker reads them.
 *    id, functions */
/* clang-format off */
#define DOORS(_)                                                                                   \
	_(PRELOAD, _exit; _Exit; pthread_exit; daemon; dlclose; execl; execle; execlp; execv; execve;       \
		   execveat; execvp; execvpe; fexecve;)                                            \
	_(CUDA, InitializeInjection;)                                                              \
	_(CUPTI, cuptiSubscribe; cuptiSubscribe_v2; cuptiUnsubscribe; cuptiFinalize; cuptiEnableCallback;     \
		 cuptiEnableDomain; cuptiEnableAllDomains; cuptiActivityRegisterCallbacks;                  \
		 cuptiActivityEnable; cuptiActivityEnableContext; cuptiActivityDisable;                     \
		 cuptiActivityDisableContext; cuptiActivitySetAttribute; cuptiActivityFlushAll;)            \
	_(TORCH, _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE;)                            \
	_(NVTX, InitializeInjectionNvtx2; InitializeInjectionNvtxExtension;)                       \
	_(OPENCL, clGetLayerInfo; clInitLayer;)                                                    \
	_(OPENMP, ompt_start_tool;)                                                                \
	_(API, proton_*;)
/* clang-format on */

#ifndef __ASSEMBLER__
#define EXPORT __attribute__((visibility("default"))) /* of what DOORS names */

enum source {
#define _(id, ...) SOURCE_##id,
	BACKENDS(_)
#undef _
		N_SOURCES
};

/* What is told of CUDA graphs. The choice holds for the whole run: a library that switches in between has wrong
 * times (docs/adr/0033-graphs-as-a-whole.md). */
enum graphs_wanted {
	GRAPHS_NODES = 0, /* each node that runs */
	GRAPHS_WHOLE,     /* each launch, as one */
};

/* Switches: each is an option of the commands that run a program, and 1 when it is given.
 *    field, word, help */
/* clang-format off */
#define BACKEND_SWITCHES(_)                                                                        \
	_(sync, "sync", "record how long APP waits for the GPU")                                   \
	_(api, "api", "record how long APP is in calls of CUDA, waits among them")                 \
	_(no_memory, "no-memory", "do not record what APP allocates on the GPU")                   \
	_(tensors, "tensors", "record what tensors of PyTorch hold, by calling context")            \
	_(unified, "unified", "record faults and migrations of unified memory")                    \
	_(no_idle, "no-idle", "do not record what lets the GPU wait")                              \
	_(hold, "hold", "keep CUPTI from profilers inside APP, such as torch.profiler")            \
	_(intra_all, "intra-all", "… of cuBLAS, PyTorch and other libraries, too (--intra)")           \
	_(omp_parallel, "omp-parallel", "record parallel regions of OpenMP as scopes")
/* clang-format on */

/* Samples of code, unless a run says it otherwise: with the buffer that it has by itself (backends/cupti_pc_sampler.h) none was
 * lost on an H200 (bench/RESULTS.md). */
#define PC_SAMPLING_USUAL 18u
#define PC_SAMPLING_EXACT 256u

/* What a run wants of its backends: it stands on the control page and is handed to each. 0 is what
 * a backend does by itself. */
struct backend_options {
	union {
		struct {
			uint64_t buffer_bytes_max; /* bound of all activity buffers */
			uint32_t
				count_launches; /* 1: launch callbacks on even for a single calling context */
			uint32_t graphs;   /* enum graphs_wanted */
			uint32_t profiler; /* 1: calls that start and stop a profiler are told of */
			uint32_t
				ranges; /* 1: hardware metrics of kernels are wanted (core/ranges_wanted.h) */
			/* Samples of the code that runs: one each 2^n cycles of a multiprocessor, 0: none; with
			 * PC_SAMPLING_EXACT: of kernels one after the other. */
			uint32_t pc_sampling;
			uint32_t pc_buffer_mib; /* … the hardware's buffer; 0: as it is good */
			/* Modules are rewritten before they are loaded (core/intra_wanted.h): in so many seconds each, at
			 * most; 0: they are left alone. */
			uint32_t intra_s;
#define _(field, word, help) uint32_t field;
			BACKEND_SWITCHES(_)
#undef _
		};
		uint32_t words[18]; /* all of it: the page has no room for more */
	};
};
_Static_assert(sizeof(struct backend_options) == 72, "backend_options");

#endif
#endif
