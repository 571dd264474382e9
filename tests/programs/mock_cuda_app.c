/* SPDX-License-Identifier: MIT */
/* A CUDA program for tests without a GPU: mock_cuda_app LIBCUDA [threads [launches [NAME]]]. Each thread
 * launches `add` and `mul`, or NAME, in turn; the first also copies 4096 bytes each way and sets 512. */
#include "config.h" // IWYU pragma: keep

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t (*launch_kernel)(const char *function, uint32_t gx, uint32_t gy, uint32_t gz,
				 uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
				 void *stream, void **parameters, void **extra);
static long n_launches = 1000;
static const char *names[] = {"add", "mul"};

static void *launch_all(void *unused)
{
	for (long i = 0; i < n_launches; i++)
		launch_kernel(names[i % 2], 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	return NULL;
}

static void transfer(void *driver)
{
	uint32_t (*to_device)(uint64_t, const void *, size_t);
	uint32_t (*to_host)(void *, uint64_t, size_t);
	uint32_t (*set)(uint64_t, uint8_t, size_t);
	static char host[4096];

	*(void **)&to_device = dlsym(driver, "cuMemcpyHtoD_v2");
	*(void **)&to_host = dlsym(driver, "cuMemcpyDtoH_v2");
	*(void **)&set = dlsym(driver, "cuMemsetD8_v2");
	to_device(4096, host, sizeof(host));
	to_host(host, 4096, sizeof(host));
	set(4096, 0, 512);
}

int main(int argc, char **argv)
{
	void *driver = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	int n_threads = argc > 2 ? atoi(argv[2]) : 1;
	uint32_t (*init)(uint32_t) = NULL;
	pthread_t threads[64];

	if (!driver || n_threads < 1 || n_threads > 64) {
		fprintf(stderr, "usage: mock_cuda_app LIBCUDA [threads [launches [NAME]]]\n");
		return 2;
	}
	if (argc > 3)
		n_launches = atol(argv[3]);
	if (argc > 4)
		names[1] = argv[4];
	*(void **)&init = dlsym(driver, "cuInit");
	*(void **)&launch_kernel = dlsym(driver, "cuLaunchKernel");
	init(0);
	transfer(driver);
	for (int i = 1; i < n_threads; i++)
		pthread_create(&threads[i], NULL, launch_all, NULL);
	launch_all(NULL);
	for (int i = 1; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	printf("expect kernels=%ld\nexpect copies=2\nexpect sets=1\n", n_launches * n_threads);
	return 0;
}
