/* SPDX-License-Identifier: MIT */
/* Offloads to the processor: 3 regions of saxpy() in a region of data, an update, and a copy by itself.
 * Before it, 5 parallel regions of the host.
 * Tests compile it with clang, -fopenmp and a target for devices. */
#include <stddef.h>
#include <stdio.h>

/* Of <omp.h>, which may be that of another compiler. */
int omp_get_initial_device(void);
int omp_get_default_device(void);
void *omp_target_alloc(size_t size, int device);
void omp_target_free(void *p, int device);
int omp_target_memcpy(void *dst, const void *src, size_t n, size_t dst_offset, size_t src_offset,
		      int dst_device, int src_device);

enum { N = 1000 };
static float x[N], y[N];

__attribute__((noinline)) static void saxpy(float a)
{
#pragma omp target teams distribute parallel for map(tofrom : y)
	for (int i = 0; i < N; i++)
		y[i] += a * x[i];
}

__attribute__((noinline)) static void prepare(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] = (float)i;
}

int main(void)
{
	int host = omp_get_initial_device(), device = omp_get_default_device();
	void *p = omp_target_alloc(sizeof(x), device);

	for (int i = 0; i < 5; i++)
		prepare();
#pragma omp target data map(to : x)
	{
		for (int i = 0; i < 3; i++)
			saxpy(2);
#pragma omp target update to(x)
	}
	omp_target_memcpy(p, x, 123, 0, 0, device, host);
	omp_target_free(p, device);
	printf("%g\n", (double)y[N - 1]);
	return 0;
}
