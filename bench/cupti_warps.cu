// SPDX-License-Identifier: MIT
// What profiling within kernels can build on, measured: what a record costs on a warp's clock, what it costs to have
// room given, whether records of CUPTI and kernels have the same number for a launch, and what a callback may change
// before a launch or a load. Nothing of proton is in it; it is for whoever changes src/intra or what hands buffers to
// kernels.
//   cupti_warps [records|room|timer|numbers|handles|changes]...
#include <cuda.h>
#include <cupti.h>
#include <stdint.h>
#include <string.h>

#include "cuda_common.cuh"

#define DRIVER(call)                                                       \
	do {                                                               \
		CUresult r_ = (call);                                      \
		if (r_ != CUDA_SUCCESS)                                    \
			printf("refused: %s: error %d\n", #call, (int)r_); \
	} while (0)
#define CUPTI(call)                                                         \
	do {                                                                \
		CUptiResult r_ = (call);                                    \
		if (r_ != CUPTI_SUCCESS)                                    \
			printf("refused: %s: error %d\n", #call, (int)r_);  \
	} while (0)

// ---- what a record costs

enum form { SHARED_32, SHARED_64, GLOBAL_32, GLOBAL_64, SHARED_FIRST, GLOBAL_FIRST };
enum { RING = 1024, ROUNDS = 8, RECORDS = 8 }; // bytes of a warp; records of a round

__device__ __forceinline__ uint32_t clock_32()
{
	uint32_t c;

	asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
	return c;
}

__device__ __forceinline__ uint64_t clock_64()
{
	uint64_t c;

	asm volatile("mov.u64 %0, %%clock64;" : "=l"(c)::"memory");
	return c;
}

__device__ __forceinline__ uint64_t time_ns()
{
	uint64_t t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
	return t;
}

// All threads of the warp store to the same place, or its first one alone.
template <form F> __device__ __forceinline__ void record(char *shared, char *global, uint32_t *at, uint32_t tag)
{
	constexpr bool is_shared = F == SHARED_32 || F == SHARED_64 || F == SHARED_FIRST;
	constexpr bool is_long = F == SHARED_64 || F == GLOBAL_64;
	constexpr bool is_first = F == SHARED_FIRST || F == GLOBAL_FIRST;
	uint64_t c = is_long ? clock_64() : clock_32();
	uint32_t word = is_long ? tag | ((uint32_t)(c >> 32) & 0x7ff) : tag;

	if (!is_first || threadIdx.x % 32 == 0) {
		if constexpr (is_shared)
			asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(
					     (uint32_t)__cvta_generic_to_shared(shared) + *at),
				     "r"(word), "r"((uint32_t)c)
				     : "memory");
		else
			asm volatile("st.global.cg.v2.u32 [%0], {%1, %2};" ::"l"(global + *at), "r"(word),
				     "r"((uint32_t)c)
				     : "memory");
	}
	*at = (*at + 8) & (RING - 1);
}

template <form F> __global__ void records_kernel(char *out)
{
	extern __shared__ char rings[];
	uint32_t warp = threadIdx.x / 32, at = 0;
	char *shared = rings + warp * RING;
	char *global = out + ((size_t)blockIdx.x * (blockDim.x / 32) + warp) * RING;

#pragma unroll 1
	for (int i = 0; i < ROUNDS; i++) {
#pragma unroll
		for (int k = 0; k < RECORDS; k++)
			record<F>(shared, global, &at, k << 23);
	}
	__syncthreads();
	if (F == SHARED_32 || F == SHARED_64 || F == SHARED_FIRST)
		for (int i = threadIdx.x % 32; i < RING / 4; i += 32)
			((uint32_t *)global)[i] = ((uint32_t *)shared)[i];
}

template <form F> static void records_of(const char *name, int warps, int blocks)
{
	size_t size = (size_t)blocks * warps * RING;
	std::vector<uint32_t> words(size / 4), cycles;
	char *device;

	CHECK(cudaMalloc(&device, size));
	for (int i = 0; i < 3; i++)
		records_kernel<F><<<blocks, warps * 32, warps * RING>>>(device);
	CHECK(cudaMemcpy(words.data(), device, size, cudaMemcpyDeviceToHost));
	for (size_t w = 0; w < (size_t)blocks * warps; w++)
		for (int i = 1; i < ROUNDS * RECORDS; i++)
			if (i % RECORDS) // within a round
				cycles.push_back(words[w * RING / 4 + i * 2 + 1] -
						 words[w * RING / 4 + i * 2 - 1]);
	std::sort(cycles.begin(), cycles.end());
	printf("record %-14s %2d warps %3d blocks: %u cycles at least, median %u, p90 %u\n", name, warps, blocks,
	       cycles[0], cycles[cycles.size() / 2], cycles[cycles.size() * 9 / 10]);
	CHECK(cudaFree(device));
}

static void records()
{
	static const int shapes[][2] = {{1, 1}, {4, 264}, {16, 264}};

	for (const auto &s : shapes) {
		records_of<SHARED_32>("shared 32", s[0], s[1]);
		records_of<SHARED_64>("shared 64", s[0], s[1]);
		records_of<GLOBAL_32>("global 32", s[0], s[1]);
		records_of<GLOBAL_64>("global 64", s[0], s[1]);
		records_of<SHARED_FIRST>("shared 32 one", s[0], s[1]);
		records_of<GLOBAL_FIRST>("global 32 one", s[0], s[1]);
	}
}

// ---- what room costs: an atomic addition of each warp, and 128 bytes that it writes

enum { ROOM_BLOCKS = 100000, ROOM_WARPS = 8, ROOM_BYTES = 128 };

__global__ void room_kernel(unsigned long long *cursor, char *to, bool is_asked)
{
	unsigned long long at = 0;

	if (is_asked && threadIdx.x % 32 == 0)
		at = atomicAdd(cursor, ROOM_BYTES);
	at = __shfl_sync(~0u, at, 0);
	if (to)
		*(uint32_t *)(to + at + threadIdx.x % 32 * 4) = threadIdx.x;
	if (at == ~0ull)
		*cursor = 0;
}

static float room_ms(unsigned long long *cursor, char *to, bool is_asked)
{
	cudaEvent_t begin, end;
	float ms;

	CHECK(cudaMemset(cursor, 0, sizeof(*cursor)));
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaEventRecord(begin));
	room_kernel<<<ROOM_BLOCKS, ROOM_WARPS * 32>>>(cursor, to, is_asked);
	CHECK(cudaEventRecord(end));
	CHECK(cudaEventSynchronize(end));
	CHECK(cudaEventElapsedTime(&ms, begin, end));
	CHECK(cudaEventDestroy(begin));
	CHECK(cudaEventDestroy(end));
	return ms;
}

static void room()
{
	size_t size = (size_t)ROOM_BLOCKS * ROOM_WARPS * ROOM_BYTES;
	unsigned long long *cursor;
	char *device, *host;

	CHECK(cudaMalloc(&cursor, sizeof(*cursor)));
	CHECK(cudaMalloc(&device, size));
	CHECK(cudaHostAlloc(&host, size, cudaHostAllocMapped));
	for (int i = 0; i < 4; i++)
		printf("room for %d warps: none %.3f ms, an atomic each %.3f, and 128 bytes of the device %.3f, "
		       "of the host %.3f\n",
		       ROOM_BLOCKS * ROOM_WARPS, room_ms(cursor, NULL, false), room_ms(cursor, NULL, true),
		       room_ms(cursor, device, true), room_ms(cursor, host, true));
	CHECK(cudaFree(cursor));
	CHECK(cudaFree(device));
	CHECK(cudaFreeHost(host));
}

// ---- the device's clock

__global__ void timer_kernel(unsigned long long *ret)
{
	uint64_t first = time_ns(), was = first, now = first, least = ~0ull, n = 0, begin = clock_64();

	for (int i = 0; i < 200000; i++, was = now) {
		now = time_ns();
		n += now != was;
		if (now != was && now - was < least)
			least = now - was;
	}
	ret[0] = least;
	ret[1] = n;
	ret[2] = now - first;
	ret[3] = clock_64() - begin;
}

static void timer()
{
	unsigned long long *device, h[4];

	CHECK(cudaMalloc(&device, sizeof(h)));
	timer_kernel<<<1, 1>>>(device);
	CHECK(cudaMemcpy(h, device, sizeof(h), cudaMemcpyDeviceToHost));
	printf("%%globaltimer goes on by %llu ns at least, %llu times in %llu ns of %llu cycles\n", h[0], h[1], h[2],
	       h[3]);
	CHECK(cudaFree(device));
}

// ---- numbers of launches

static std::vector<long long> numbers_of_records;

extern "C" __global__ void numbers_kernel(unsigned long long *ret)
{
	unsigned long long n;

	asm volatile("mov.u64 %0, %%gridid;" : "=l"(n));
	if (blockIdx.x == 0 && threadIdx.x == 0)
		*ret = n;
}

static void CUPTIAPI give_buffer(uint8_t **ret, size_t *ret_size, size_t *ret_records)
{
	*ret_size = 1 << 20;
	*ret = (uint8_t *)aligned_alloc(8, *ret_size);
	*ret_records = 0;
}

static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
	CUpti_Activity *r = NULL;

	while (cuptiActivityGetNextRecord(buffer, valid, &r) == CUPTI_SUCCESS)
		if (r->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			numbers_of_records.push_back(((CUpti_ActivityKernel9 *)r)->gridId);
	free(buffer);
}

static unsigned long long read_number(unsigned long long *device)
{
	unsigned long long n;

	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(&n, device, sizeof(n), cudaMemcpyDeviceToHost));
	return n;
}

static void numbers()
{
	std::vector<unsigned long long> of_kernels;
	unsigned long long *device;
	cudaStream_t streams[3];
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaMalloc(&device, sizeof(*device)));
	CUPTI(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	for (auto &s : streams)
		CHECK(cudaStreamCreate(&s));
	for (int i = 0; i < 6; i++) {
		numbers_kernel<<<2, 32, 0, streams[i % 3]>>>(device);
		of_kernels.push_back(read_number(device));
	}
	CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeRelaxed));
	numbers_kernel<<<2, 32, 0, streams[0]>>>(device);
	CHECK(cudaStreamEndCapture(streams[0], &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++) {
		CHECK(cudaGraphLaunch(exec, streams[0]));
		of_kernels.push_back(read_number(device));
	}
	CUPTI(cuptiActivityFlushAll(1));
	CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	for (size_t i = 0; i < of_kernels.size(); i++)
		printf("number of a launch %s: %%gridid %llu, in the record %lld\n",
		       i < 6 ? "of a stream" : "of a graph", of_kernels[i],
		       i < numbers_of_records.size() ? numbers_of_records[i] : -1);
	CHECK(cudaFree(device));
}

// ---- what a callback finds and may change

static __device__ unsigned long long warps_control; // of this file alone

extern "C" __global__ void control_kernel(unsigned long long *ret)
{
	*ret = *(volatile unsigned long long *)&warps_control;
}

extern "C" __global__ void parameter_kernel(unsigned long long value, unsigned long long *ret)
{
	*ret = value;
}

#define STORES(value)                                                               \
	".version 8.0\n.target sm_80\n.address_size 64\n"                           \
	".visible .entry stores(.param .u64 p) {\n.reg .u64 a;\n.reg .u32 b;\n"     \
	"ld.param.u64 a, [p];\nmov.u32 b, " #value ";\nst.global.u32 [a], b;\nret;\n}\n"

static bool is_looked_at, is_parameter_changed;
static const char *image_instead;
static const char *control_name;

// Writes into a variable of the module that the kernel is of, while the program is about to launch it.
static void look_at(CUfunction function)
{
	unsigned long long value = 4242;
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUdeviceptr at = 0;
	CUlibrary library;
	CUmodule module;
	CUstream stream;
	size_t size = 0;
	CUresult r;

	r = cuFuncGetModule(&module, function);
	printf("handle of a launch: its module %d", (int)r);
	if (r == CUDA_SUCCESS)
		printf(", the variable there %d", (int)cuModuleGetGlobal(&at, &size, module, control_name));
	r = cuKernelGetLibrary(&library, (CUkernel)function);
	printf(", its library %d", (int)r);
	if (r == CUDA_SUCCESS)
		printf(", the variable there %d", (int)cuLibraryGetGlobal(&at, &size, library, control_name));
	printf(" (0: found), %zu bytes\n", size);
	if (!at)
		return;
	DRIVER(cuThreadExchangeStreamCaptureMode(&mode));
	DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	DRIVER(cuMemcpyHtoDAsync(at, &value, sizeof(value), stream));
	DRIVER(cuStreamSynchronize(stream));
	DRIVER(cuStreamDestroy(stream));
	DRIVER(cuThreadExchangeStreamCaptureMode(&mode));
}

static void see_launch(CUfunction function, void **parameters)
{
	if (is_parameter_changed)
		*(unsigned long long *)parameters[0] = 4242;
	if (is_looked_at) {
		is_looked_at = false;
		look_at(function);
	}
}

static void see_module(const CUpti_ResourceData *resource)
{
	const auto *m = (const CUpti_ModuleResourceData *)resource->resourceDescriptor;

	printf("module loaded: %zu bytes, the variable's name %s in it, PTX %s\n", m->cubinSize,
	       memmem(m->pCubin, m->cubinSize, "warps_control", 13) ? "is" : "is not",
	       memmem(m->pCubin, m->cubinSize, ".nv_debug_ptx_txt", 17) ? "is" : "is not");
}

static void CUPTIAPI see(void *, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	const auto *call = (const CUpti_CallbackData *)data;

	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
			see_module((const CUpti_ResourceData *)data);
		return;
	}
	if (call->callbackSite != CUPTI_API_ENTER)
		return;
	if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
		const auto *p = (const cuLaunchKernel_params *)call->functionParams;

		see_launch(p->f, p->kernelParams);
	} else if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx) {
		const auto *p = (const cuLaunchKernelEx_params *)call->functionParams;

		see_launch(p->f, p->kernelParams);
	} else if (image_instead && id == CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData) {
		*(const void **)&((cuModuleLoadData_params *)call->functionParams)->image = image_instead;
	} else if (image_instead && id == CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData) {
		*(const void **)&((cuLibraryLoadData_params *)call->functionParams)->code = image_instead;
	}
}

static CUpti_SubscriberHandle subscribe()
{
	CUpti_SubscriberHandle subscriber;

	CUPTI(cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)see, NULL));
	CUPTI(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
	CUPTI(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED));
	return subscriber;
}

static void handles()
{
	CUpti_SubscriberHandle subscriber = subscribe();
	unsigned long long *device;

	CHECK(cudaMalloc(&device, sizeof(*device)));
	control_name = "warps_control";
	is_looked_at = true;
	control_kernel<<<1, 1>>>(device);
	printf("variable as the kernel saw it: %llu (4242: as it was written before the launch)\n",
	       read_number(device));
	CHECK(cudaFree(device));
	CUPTI(cuptiUnsubscribe(subscriber));
}

static void changes()
{
	CUpti_SubscriberHandle subscriber = subscribe();
	unsigned long long *device;
	void *parameters[] = {&device};
	CUfunction function;
	CUlibrary library;
	CUkernel kernel;
	CUmodule module;

	CHECK(cudaMalloc(&device, sizeof(*device)));
	is_parameter_changed = true;
	parameter_kernel<<<1, 1>>>(17, device);
	is_parameter_changed = false;
	printf("parameter 17, changed to 4242 on the way: %llu\n", read_number(device));
	image_instead = STORES(222);
	DRIVER(cuModuleLoadData(&module, STORES(111)));
	DRIVER(cuLibraryLoadData(&library, STORES(111), NULL, NULL, 0, NULL, NULL, 0));
	image_instead = NULL;
	DRIVER(cuModuleGetFunction(&function, module, "stores"));
	DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, NULL));
	printf("module of 111, 222 put in its place on the way: %u\n", (unsigned)read_number(device));
	DRIVER(cuLibraryGetKernel(&kernel, library, "stores"));
	DRIVER(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, 0, parameters, NULL));
	printf("library of 111, 222 put in its place on the way: %u\n", (unsigned)read_number(device));
	CHECK(cudaFree(device));
	CUPTI(cuptiUnsubscribe(subscriber));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} all[] = {{"records", records}, {"room", room},       {"timer", timer},
		   {"numbers", numbers}, {"handles", handles}, {"changes", changes}};

	for (const auto &what : all) {
		bool is_wanted = argc == 1;

		for (int i = 1; i < argc; i++)
			is_wanted = is_wanted || !strcmp(argv[i], what.name);
		if (is_wanted)
			what.run();
	}
	return 0;
}
