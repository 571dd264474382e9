// SPDX-License-Identifier: MIT
// What goes wrong in programs that go on: cuda_trouble MODE [-n N]. Prints how many kernels were launched.
//   contexts  N contexts, each destroyed while its work is under way
//   reset     the device is reset while work is under way, N times
//   sticky    an illegal address: all that comes after it fails
//   memory    there is not as much memory as N allocations want
//   streams   N streams, each destroyed while its work is under way
//   unload    N modules are loaded, launched once and unloaded
//   library   … and libraries
#include <cuda.h>
#include <dlfcn.h>
#include <string.h>

#include "cuda_common.cuh"

static const char ptx[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry trouble_driver() { ret; }
)";

__global__ void trouble_short()
{
}

__global__ void trouble_long(long long cycles)
{
	long long until = clock64() + cycles;

	while (clock64() < until)
		;
}

__global__ void trouble_illegal(int *p)
{
	*p = 1;
}

// Of libcuda: the runtime does not have them.
static void *driver(const char *symbol)
{
	static void *library = dlopen("libcuda.so.1", RTLD_NOW);
	void *p = library ? dlsym(library, symbol) : NULL;

	if (!p) {
		fprintf(stderr, "libcuda has no %s\n", symbol);
		exit(1);
	}
	return p;
}
#define DRIVER(name, symbol) static auto *name = (decltype(&symbol))driver(#symbol)

static unsigned long long n_launched;

static void must(CUresult r, const char *what)
{
	if (r == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s: error %d\n", what, r);
	exit(1);
}

static void launch_short(cudaStream_t stream, int n)
{
	for (int i = 0; i < n; i++)
		trouble_short<<<1, 1, 0, stream>>>();
	CHECK(cudaGetLastError());
	n_launched += n;
}

static void launch_long(cudaStream_t stream)
{
	trouble_long<<<1, 1, 0, stream>>>(2000000); // about a millisecond
	CHECK(cudaGetLastError());
	n_launched++;
}

static void launch_driver(CUfunction f, int n)
{
	DRIVER(launch, cuLaunchKernel);

	for (int i = 0; i < n; i++)
		must(launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), "launch");
	n_launched += n;
}

static void contexts(int n)
{
	auto *create = (CUresult(*)(CUcontext *, unsigned, CUdevice))driver("cuCtxCreate_v2");
	auto *destroy = (CUresult(*)(CUcontext))driver("cuCtxDestroy_v2");
	DRIVER(init, cuInit);
	DRIVER(load, cuModuleLoadData);
	DRIVER(get, cuModuleGetFunction);

	must(init(0), "init");
	for (int i = 0; i < n; i++) {
		CUcontext context;
		CUmodule module;
		CUfunction f;

		must(create(&context, 0, 0), "context");
		must(load(&module, ptx), "module");
		must(get(&f, module, "trouble_driver"), "function");
		launch_driver(f, 100);
		must(destroy(context), "destroy");
	}
}

static void reset(int n)
{
	for (int i = 0; i < n; i++) {
		launch_short(0, 50);
		launch_long(0);
		launch_short(0, 50);
		CHECK(cudaDeviceReset());
	}
	launch_short(0, 10);
	CHECK(cudaDeviceSynchronize());
}

// The error stays: the program sees it, and ends as it wants to.
static void sticky(int n)
{
	int n_failed = 0;

	launch_short(0, 1000);
	CHECK(cudaDeviceSynchronize());
	trouble_illegal<<<1, 1>>>((int *)8);
	n_launched++;
	printf("error %d\n", cudaDeviceSynchronize());
	for (int i = 0; i < n; i++) {
		trouble_short<<<1, 1>>>();
		n_failed += cudaGetLastError() != cudaSuccess;
	}
	printf("failed %d\n", n_failed);
}

static void memory(int n)
{
	size_t free_bytes, total;
	void *p;
	int n_failed = 0;

	CHECK(cudaMemGetInfo(&free_bytes, &total));
	for (int i = 0; i < n; i++) {
		n_failed += cudaMalloc(&p, total + ((size_t)i << 20)) == cudaErrorMemoryAllocation;
		cudaGetLastError();
		launch_short(0, 10);
	}
	CHECK(cudaMalloc(&p, 1 << 20));
	CHECK(cudaFree(p));
	CHECK(cudaDeviceSynchronize());
	printf("failed %d\n", n_failed);
}

static void streams(int n)
{
	for (int i = 0; i < n; i++) {
		cudaStream_t s;

		CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
		launch_short(s, 5);
		CHECK(cudaStreamDestroy(s));
	}
	CHECK(cudaDeviceSynchronize());
}

static void unload(int n)
{
	DRIVER(load, cuModuleLoadData);
	DRIVER(get, cuModuleGetFunction);
	DRIVER(end, cuModuleUnload);

	CHECK(cudaFree(0));
	for (int i = 0; i < n; i++) {
		CUmodule module;
		CUfunction f;

		must(load(&module, ptx), "module");
		must(get(&f, module, "trouble_driver"), "function");
		launch_driver(f, 3);
		must(end(module), "unload");
	}
}

static void library(int n)
{
	auto *load = (CUresult(*)(CUlibrary *, const void *, CUjit_option *, void **, unsigned, CUlibraryOption *,
				  void **, unsigned))driver("cuLibraryLoadData");
	DRIVER(get, cuLibraryGetKernel);
	DRIVER(end, cuLibraryUnload);

	CHECK(cudaFree(0));
	for (int i = 0; i < n; i++) {
		CUlibrary l;
		CUkernel k;

		must(load(&l, ptx, NULL, NULL, 0, NULL, NULL, 0), "library");
		must(get(&k, l, "trouble_driver"), "kernel");
		launch_driver((CUfunction)k, 3);
		must(end(l), "unload");
	}
}

static const struct {
	const char *word;
	void (*run)(int n);
	int n;
} modes[] = {{"contexts", contexts, 20}, {"reset", reset, 5},     {"sticky", sticky, 100},   {"memory", memory, 100},
	     {"streams", streams, 2000}, {"unload", unload, 500}, {"library", library, 500}};

int main(int argc, char **argv)
{
	int n = argc > 3 && !strcmp(argv[2], "-n") ? atoi(argv[3]) : 0;

	for (auto &mode : modes)
		if (argc > 1 && !strcmp(argv[1], mode.word)) {
			mode.run(n ? n : mode.n);
			printf("launched %llu\n", n_launched);
			return 0;
		}
	fprintf(stderr, "usage: cuda_trouble contexts|reset|sticky|memory|streams|unload|library [-n N]\n");
	return 2;
}
