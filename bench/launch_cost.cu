// SPDX-License-Identifier: MIT
// Our own cost of a launch, in one process: blocks of launches alternate between our callback and
// an immediate return. launch_cost [-p pairs] [-b launches]; run it as
//   PROTON_CUPTI_PATH=cupti_switch.so proton record ./launch_cost
#include <dlfcn.h>
#include <getopt.h>

#include <cmath>

#include "cuda_common.cuh"

__global__ void empty_kernel()
{
}

static double block(long n)
{
	double start = now_ns(), end;

	for (long i = 0; i < n; i++)
		empty_kernel<<<1, 1>>>();
	end = now_ns();
	CHECK(cudaDeviceSynchronize());
	return (end - start) / n;
}

int main(int argc, char **argv)
{
	const char *path = getenv("PROTON_CUPTI_PATH");
	int pairs = 60, c;
	long n = 10000;

	while ((c = getopt(argc, argv, "p:b:")) != -1) {
		if (c == 'p')
			pairs = atoi(optarg);
		else if (c == 'b')
			n = atol(optarg);
		else
			return 2;
	}
	for (int i = 0; i < 3; i++)
		block(n);
	void *lib = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void (*set)(int) = lib ? (void (*)(int))dlsym(lib, "cupti_switch") : NULL;
	if (!set) {
		fprintf(stderr, "launch_cost: cupti_switch.so is not loaded\n");
		return 1;
	}
	std::vector<double> on, off, difference;
	for (int i = 0; i < pairs; i++) {
		double a, b;

		// Which comes first alternates, so that a drift cancels out.
		set(i % 2);
		a = block(n);
		set(!(i % 2));
		b = block(n);
		on.push_back(i % 2 ? a : b);
		off.push_back(i % 2 ? b : a);
		difference.push_back(on.back() - off.back());
	}
	set(1);
	std::sort(difference.begin(), difference.end());
	std::sort(on.begin(), on.end());
	std::sort(off.begin(), off.end());
	// 95 % interval of the median by order statistics.
	int half = (int)std::ceil(0.98 * std::sqrt((double)pairs));
	printf("launch_cost: ours %.0f ns a launch (95%% %.0f to %.0f); with %.0f, without %.0f "
	       "(medians of %d blocks of %ld)\n",
	       difference[pairs / 2], difference[std::max(0, pairs / 2 - half)],
	       difference[std::min(pairs - 1, pairs / 2 + half)], on[pairs / 2], off[pairs / 2], pairs, n);
	return 0;
}
