/* SPDX-License-Identifier: MIT */
/* A program of the driver API alone, libcuda dlopened: cuda_driver [-n launches] [-f] [-d] [-x] [-c].
 *   -c  copies and sets of two and three dimensions, and memory that is mapped (cuMemCreate)
 *   -f  three launches that fail (a block of 4096 threads)
 *   -d  destroys its context without waiting for its work
 *   -x  ends by _exit() */
#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n"
			  ".target sm_70\n"
			  ".address_size 64\n"
			  ".visible .entry driver_kernel(.param .u64 p)\n"
			  "{\n"
			  "	.reg .b64 %rd<2>;\n"
			  "	.reg .b32 %r<2>;\n"
			  "	ld.param.u64 %rd1, [p];\n"
			  "	cvta.to.global.u64 %rd1, %rd1;\n"
			  "	mov.u32 %r1, 7;\n"
			  "	st.global.u32 [%rd1], %r1;\n"
			  "	ret;\n"
			  "}\n";

/* name, symbol, parameters */
#define DRIVER(_)                                                                                  \
	_(Init, "cuInit", (unsigned))                                                              \
	_(DeviceGet, "cuDeviceGet", (CUdevice *, int))                                             \
	_(Retain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                             \
	_(Reset, "cuDevicePrimaryCtxReset_v2", (CUdevice))                                         \
	_(SetCurrent, "cuCtxSetCurrent", (CUcontext))                                              \
	_(Synchronize, "cuCtxSynchronize", (void))                                                 \
	_(LoadData, "cuModuleLoadData", (CUmodule *, const void *))                                \
	_(GetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))              \
	_(Alloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                         \
	_(HtoD, "cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t))                            \
	_(DtoH, "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t))                                  \
	_(SetD8, "cuMemsetD8_v2", (CUdeviceptr, unsigned char, size_t))                            \
	_(SetD16, "cuMemsetD16_v2", (CUdeviceptr, unsigned short, size_t))                         \
	_(SetD32, "cuMemsetD32_v2", (CUdeviceptr, unsigned, size_t))                               \
	_(Set2D, "cuMemsetD2D32_v2", (CUdeviceptr, size_t, unsigned, size_t, size_t))              \
	_(Copy2D, "cuMemcpy2D_v2", (const CUDA_MEMCPY2D *))                                        \
	_(Copy3D, "cuMemcpy3D_v2", (const CUDA_MEMCPY3D *))                                        \
	_(Copy, "cuMemcpy", (CUdeviceptr, CUdeviceptr, size_t))                                    \
	_(Granularity, "cuMemGetAllocationGranularity",                                            \
	  (size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags))               \
	_(Create, "cuMemCreate",                                                                   \
	  (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,                    \
	   unsigned long long))                                                                    \
	_(Reserve, "cuMemAddressReserve",                                                          \
	  (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long))                        \
	_(Map, "cuMemMap",                                                                         \
	  (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long))         \
	_(SetAccess, "cuMemSetAccess", (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t))     \
	_(Launch, "cuLaunchKernel",                                                                \
	  (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
	   CUstream, void **, void **))

#include "driver.h"

static void launch_failing(CUfunction function, void **parameters)
{
	for (int i = 0; i < 3; i++)
		if (driver.Launch(function, 1, 1, 1, 4096, 1, 1, 0, NULL, parameters, NULL) ==
		    CUDA_SUCCESS)
			fprintf(stderr, "a block of 4096 threads was launched?\n");
}

/* Lines of 200 bytes, 512 apart on the device. */
static void copy_lines(CUdeviceptr memory, char *host)
{
	const CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_HOST,
				    .srcHost = host,
				    .srcPitch = 256,
				    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
				    .dstDevice = memory,
				    .dstPitch = 512,
				    .WidthInBytes = 200,
				    .Height = 50};
	const CUDA_MEMCPY3D deep = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
				    .srcDevice = memory,
				    .srcPitch = 512,
				    .srcHeight = 8,
				    .dstMemoryType = CU_MEMORYTYPE_HOST,
				    .dstHost = host,
				    .dstPitch = 256,
				    .dstHeight = 8,
				    .WidthInBytes = 200,
				    .Height = 8,
				    .Depth = 4};

	CHECK(driver.Copy2D(&flat));
	CHECK(driver.Copy3D(&deep));
	CHECK(driver.SetD16(memory, 3, 1000));
	CHECK(driver.SetD32(memory, 4, 1000));
	CHECK(driver.Set2D(memory, 512, 5, 50, 20));
}

/* Memory by handle: no allocation that CUPTI tells of, but what is copied to it counts. */
static void map_memory(CUdevice device, CUdeviceptr from)
{
	const CUmemAllocationProp kind = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
	const CUmemAccessDesc access = {.location = kind.location,
					.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr mapped;
	size_t size;

	CHECK(driver.Granularity(&size, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	CHECK(driver.Create(&handle, size, &kind, 0));
	CHECK(driver.Reserve(&mapped, size, 0, 0, 0));
	CHECK(driver.Map(mapped, size, 0, handle, 0));
	CHECK(driver.SetAccess(mapped, size, &access, 1));
	CHECK(driver.Copy(mapped, from, 4096));
	printf("result created_bytes=%zu\n", size);
}

static int copies(CUdevice device)
{
	static char host[1 << 15];
	CUdeviceptr memory;

	CHECK(driver.Alloc(&memory, 1 << 15));
	copy_lines(memory, host);
	map_memory(device, memory);
	CHECK(driver.Synchronize());
	printf("expect kernels=0\nexpect HostToDevice_count=1\nexpect HostToDevice_bytes=10000\n");
	printf("expect DeviceToHost_count=1\nexpect DeviceToHost_bytes=6400\n");
	printf("expect DeviceToDevice_count=1\nexpect DeviceToDevice_bytes=4096\n");
	printf("expect memset_count=3\nexpect memset_bytes=10000\n");
	return 0;
}

int main(int argc, char **argv)
{
	bool copy = false, fail = false, destroy = false, quick = false;
	long n_launches = 1000;
	unsigned value = 1;
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction function;
	CUdeviceptr memory;
	void *parameters[] = {&memory};
	int c;

	while ((c = getopt(argc, argv, "n:fdxc")) != -1) {
		n_launches = c == 'n' ? atol(optarg) : n_launches;
		fail |= c == 'f';
		copy |= c == 'c';
		destroy |= c == 'd';
		quick |= c == 'x';
	}
	load_driver();
	CHECK(driver.Init(0));
	CHECK(driver.DeviceGet(&device, 0));
	CHECK(driver.Retain(&context, device));
	CHECK(driver.SetCurrent(context));
	if (copy)
		return copies(device);
	CHECK(driver.LoadData(&module, ptx));
	CHECK(driver.GetFunction(&function, module, "driver_kernel"));
	CHECK(driver.Alloc(&memory, 4096));
	CHECK(driver.SetD8(memory, 0, 4096));
	CHECK(driver.HtoD(memory, &value, sizeof(value)));
	if (fail)
		launch_failing(function, parameters);
	for (long i = 0; i < n_launches; i++)
		CHECK(driver.Launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
	CHECK(driver.DtoH(&value, memory, sizeof(value)));
	if (destroy) {
		CHECK(driver.Launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
		CHECK(driver.Reset(device));
	} else {
		CHECK(driver.Synchronize());
	}
	printf("expect kernels=%ld\n%s kernels_before_reset=%d\n", n_launches,
	       destroy ? "maybe" : "expect", destroy);
	printf("expect HostToDevice_count=1\nexpect HostToDevice_bytes=4\n");
	printf("expect DeviceToHost_count=1\nexpect DeviceToHost_bytes=4\n");
	printf("expect memset_count=1\nexpect memset_bytes=4096\nexpect in_flight=0\n");
	fflush(stdout);
	if (quick)
		_exit(value == 7 ? 0 : 1);
	return value == 7 ? 0 : 1;
}
