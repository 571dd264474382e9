// SPDX-License-Identifier: MIT
// Copies and sets whose counts and bytes are known: cuda_copies [VARIANT…]; without one, `seed`:
// two copies to the device, one to the host, one within the device. Prints one JSON line of what
// a profiler must have counted.
#include <string.h>

#include <map>
#include <string>

#include "cuda_common.cuh"

struct tally {
	unsigned long long count, bytes;
};
static std::map<std::string, tally> tallies;

static void add(const char *what, size_t bytes)
{
	tallies[what].count++;
	tallies[what].bytes += bytes;
}

static const size_t size_max = 4 << 20;
static char *device_a, *device_b, *pageable, *pinned;
static cudaStream_t stream;

static void set_up(void)
{
	CHECK(cudaMalloc(&device_a, size_max));
	CHECK(cudaMalloc(&device_b, size_max));
	CHECK(cudaMallocHost(&pinned, size_max));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	pageable = (char *)calloc(1, size_max);
}

static void to_device(const void *host, size_t bytes)
{
	CHECK(cudaMemcpy(device_a, host, bytes, cudaMemcpyHostToDevice));
	add("HostToDevice", bytes);
}

static void to_host(void *host, size_t bytes)
{
	CHECK(cudaMemcpy(host, device_a, bytes, cudaMemcpyDeviceToHost));
	add("DeviceToHost", bytes);
}

static void within_device(size_t bytes)
{
	CHECK(cudaMemcpy(device_b, device_a, bytes, cudaMemcpyDeviceToDevice));
	add("DeviceToDevice", bytes);
}

static void seed(void)
{
	to_device(pageable, 1 << 20);
	to_device(pageable, 4096);
	to_host(pageable, 1 << 19);
	within_device(1 << 18);
}

static void pinned_memory(void)
{
	to_device(pinned, 1 << 20);
	to_host(pinned, 12345);
}

static void async(void)
{
	for (int i = 0; i < 10; i++) {
		CHECK(cudaMemcpyAsync(device_a, pinned, 1000 + i, cudaMemcpyHostToDevice, stream));
		add("HostToDevice", 1000 + i);
		CHECK(cudaMemcpyAsync(pinned, device_a, 2000 + i, cudaMemcpyDeviceToHost, stream));
		add("DeviceToHost", 2000 + i);
		CHECK(cudaMemcpyAsync(device_b, device_a, 3000 + i, cudaMemcpyDeviceToDevice,
				      stream));
		add("DeviceToDevice", 3000 + i);
	}
	CHECK(cudaStreamSynchronize(stream));
}

static void two_dimensions(void)
{
	CHECK(cudaMemcpy2D(device_a, 512, pageable, 256, 200, 50, cudaMemcpyHostToDevice));
	add("HostToDevice", 200 * 50);
	CHECK(cudaMemcpy2DAsync(device_b, 512, device_a, 512, 200, 50, cudaMemcpyDeviceToDevice,
				stream));
	add("DeviceToDevice", 200 * 50);
	CHECK(cudaStreamSynchronize(stream));
}

static void sets(void)
{
	CHECK(cudaMemset(device_a, 0, 777));
	add("memset", 777);
	CHECK(cudaMemsetAsync(device_b, 1, 1 << 20, stream));
	add("memset", 1 << 20);
	CHECK(cudaStreamSynchronize(stream));
}

static void managed(void)
{
	char *p;

	CHECK(cudaMallocManaged(&p, 4096));
	memset(p, 0, 4096);
	CHECK(cudaMemcpy(device_a, p, 4096, cudaMemcpyDefault));
	CHECK(cudaFree(p));
	maybe("managed_copies", 1);
}

static void host_to_host(void)
{
	CHECK(cudaMemcpy(pinned, pageable, 5000, cudaMemcpyHostToHost));
	maybe("HostToHost_copies", 1);
	maybe("HostToHost_bytes", 5000);
}

static void zero(void)
{
	CHECK(cudaMemcpy(device_a, pageable, 0, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyAsync(device_a, pinned, 0, cudaMemcpyHostToDevice, stream));
	CHECK(cudaMemset(device_a, 0, 0));
	maybe("zero_byte_copies", 2);
	maybe("zero_byte_sets", 1);
}

static void peer(void)
{
	int n = 0, can = 0;
	char *other;

	CHECK(cudaGetDeviceCount(&n));
	if (n < 2) {
		fprintf(stderr, "peer: only one device\n");
		return;
	}
	CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
	CHECK(cudaSetDevice(1));
	CHECK(cudaMalloc(&other, size_max));
	CHECK(cudaSetDevice(0));
	if (can)
		CHECK(cudaDeviceEnablePeerAccess(1, 0));
	CHECK(cudaMemcpyPeer(other, 1, device_a, 0, 6000));
	CHECK(cudaMemcpyPeerAsync(device_b, 0, other, 1, 7000, stream));
	CHECK(cudaDeviceSynchronize());
	tallies["PeerToPeer"].count += 2;
	tallies["PeerToPeer"].bytes += 13000;
}

static __device__ char symbol[4096];

// To a variable, of three dimensions, and where the driver finds out which way it goes.
static void others(void)
{
	cudaMemcpy3DParms p = {};

	CHECK(cudaMemcpyToSymbol(symbol, pageable, 3000));
	add("HostToDevice", 3000);
	CHECK(cudaMemcpyToSymbolAsync(symbol, pinned, 2000, 16, cudaMemcpyHostToDevice, stream));
	add("HostToDevice", 2000);
	CHECK(cudaMemcpyFromSymbol(pageable, symbol, 1000));
	add("DeviceToHost", 1000);
	p.srcPtr = make_cudaPitchedPtr(pinned, 256, 256, 16);
	p.dstPtr = make_cudaPitchedPtr(device_a, 512, 512, 16);
	p.extent = make_cudaExtent(200, 10, 4);
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3DAsync(&p, stream));
	add("HostToDevice", 200 * 10 * 4);
	CHECK(cudaMemcpyAsync(device_b, device_a, 5555, cudaMemcpyDefault, stream));
	add("DeviceToDevice", 5555);
	CHECK(cudaMemcpyAsync(pinned, device_b, 4444, cudaMemcpyDefault, stream));
	add("DeviceToHost", 4444);
	CHECK(cudaStreamSynchronize(stream));
}

// Many copies of one call.
static void batch(void)
{
#if CUDART_VERSION >= 13000
	const size_t n = 20;
	const void *from[n];
	void *to[n];
	size_t sizes[n], first = 0;
	cudaMemcpyAttributes attributes = {};

	attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
	for (size_t i = 0; i < n; i++) {
		from[i] = pinned + 10000 * i;
		to[i] = device_a + 10000 * i;
		sizes[i] = 1000 + i;
		add("HostToDevice", sizes[i]);
	}
	CHECK(cudaMemcpyBatchAsync(to, from, sizes, n, &attributes, &first, 1, stream));
	CHECK(cudaStreamSynchronize(stream));
#else
	fprintf(stderr, "batch: of CUDA 13\n");
#endif
}

static const struct {
	const char *name;
	void (*run)(void);
} variants[] = {
	{"seed", seed},       {"pinned", pinned_memory}, {"async", async}, {"2d", two_dimensions},
	{"sets", sets},       {"managed", managed},      {"htoh", host_to_host},
	{"zero", zero},       {"peer", peer},
	{"others", others},   {"batch", batch},
};

static void run(const char *name)
{
	for (const auto &v : variants) {
		if (strcmp(v.name, name))
			continue;
		v.run();
		return;
	}
	fprintf(stderr, "cuda_copies: unknown variant '%s'\n", name);
	exit(2);
}

static void print_tallies(void)
{
	const char *separator = "";

	printf("{");
	for (const auto &t : tallies) {
		printf("%s\"%s\": {\"count\": %llu, \"bytes\": %llu}", separator, t.first.c_str(),
		       t.second.count, t.second.bytes);
		separator = ", ";
	}
	printf("}\n");
	for (const auto &t : tallies) {
		expect((t.first + "_count").c_str(), t.second.count);
		expect((t.first + "_bytes").c_str(), t.second.bytes);
	}
}

int main(int argc, char **argv)
{
	set_up();
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	if (argc == 1)
		seed();
	CHECK(cudaDeviceSynchronize());
	print_tallies();
	return 0;
}
