/* SPDX-License-Identifier: MIT */
/* Known traffic of memory: collect_memory LIBCUDA [WHAT], with the mock libcupti. See
 * tests/scripts/collect_memory.sh. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "programs/symbols.h"
#include "proton/proton.h"

#define MIB ((size_t)1 << 20)

enum {
	N_THREADS = 64,
	N_HANDED = 1000,
	N_ALIVE = 1000000,
	N_AT_ONCE =
		100000, /* records, before they are handed over: a mock is faster than any driver */
};

static struct {
	uint32_t (*init)(uint32_t flags);
	uint32_t (*alloc)(uint64_t *ret, size_t bytes);
	uint32_t (*release)(uint64_t address);
	uint32_t (*alloc_async)(uint64_t *ret, size_t bytes, void *stream);
	uint32_t (*release_async)(uint64_t address, void *stream);
	uint32_t (*alloc_managed)(uint64_t *ret, size_t bytes, uint32_t flags);
	uint32_t (*alloc_host)(uint64_t *ret, size_t bytes);
	uint32_t (*release_host)(uint64_t address);
	uint32_t (*enroll)(void *p, size_t bytes, uint32_t flags);
	uint32_t (*disenroll)(void *p);
	uint32_t (*trim)(void *pool, size_t bytes);
	uint32_t (*destroy)(void *context);
	uint32_t (*launch)(const char *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
			   uint32_t, void *, void **, void **);
} cuda;

static void open_cuda(const char *path)
{
	const struct {
		void *at;
		const char *name;
	} functions[] = {
		{&cuda.init, "cuInit"},
		{&cuda.alloc, "cuMemAlloc_v2"},
		{&cuda.release, "cuMemFree_v2"},
		{&cuda.alloc_async, "cuMemAllocAsync"},
		{&cuda.release_async, "cuMemFreeAsync"},
		{&cuda.alloc_managed, "cuMemAllocManaged"},
		{&cuda.alloc_host, "cuMemAllocHost_v2"},
		{&cuda.release_host, "cuMemFreeHost"},
		{&cuda.enroll, "cuMemHostRegister_v2"},
		{&cuda.disenroll, "cuMemHostUnregister"},
		{&cuda.trim, "cuMemPoolTrimTo"},
		{&cuda.destroy, "cuCtxDestroy_v2"},
		{&cuda.launch, "cuLaunchKernel"},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		*(void **)functions[i].at = find(path, functions[i].name);
}

static uint64_t alloc(size_t bytes)
{
	uint64_t address = 0;

	if (cuda.alloc(&address, bytes))
		exit(3);
	return address;
}

static void launch(const char *kernel)
{
	cuda.launch(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

/* Of each kind, and who held what at the peak: 10 MiB of "kept" and 8 of "passing". */
static void kinds(void)
{
	static char registered[8192];
	uint64_t kept, passing, later, a[4];
	void *stream = (void *)2;

	proton_enter_scope("kept");
	kept = alloc(10 * MIB);
	proton_exit_scope();
	proton_enter_scope("passing");
	passing = alloc(8 * MIB);
	proton_exit_scope();
	cuda.release(passing);
	proton_enter_scope("later");
	later = alloc(3 * MIB);
	cuda.release(later);
	later = alloc(2 * MIB);
	proton_exit_scope();
	(void)later; /* 2 MiB are never released */
	proton_enter_scope("others");
	cuda.alloc_async(&a[0], 4 * MIB, stream);
	cuda.alloc_async(&a[1], 1 * MIB, stream);
	cuda.release_async(a[0], stream);
	cuda.alloc_managed(&a[2], 7 * MIB, 1);
	cuda.alloc_host(&a[3], 5 * MIB);
	cuda.release_host(a[3]);
	cuda.enroll(registered, sizeof(registered), 0);
	cuda.disenroll(registered);
	proton_exit_scope();
	cuda.trim(NULL, 0);
	cuda.release(12345);   /* no block: it fails */
	cuda.disenroll(&cuda); /* nobody saw that it was registered */
	cuda.release(kept);
	launch("kernel");
}

/* ---- threads ---- */

static uint64_t handed[N_THREADS][N_HANDED];
static pthread_barrier_t barrier;

/* Each releases what the next one has allocated, while that goes on, so that addresses come and go between them. */
static void *hand_on(void *arg)
{
	size_t own = (size_t)arg, next = (own + 1) % N_THREADS;

	proton_enter_scope("handed");
	for (int i = 0; i < N_HANDED; i++)
		__atomic_store_n(&handed[own][i], alloc(1000 + own), __ATOMIC_RELEASE);
	proton_exit_scope();
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < N_HANDED; i++)
		cuda.release(handed[next][i]);
	return arg;
}

/* Short blocks of all threads at once: an address is another thread's a moment later. */
static void *churn(void *arg)
{
	proton_enter_scope("churn");
	for (int i = 0; i < N_HANDED; i++)
		cuda.release(alloc(4096));
	proton_exit_scope();
	return arg;
}

static void in_threads(void *(*function)(void *))
{
	pthread_t threads[N_THREADS];

	for (size_t i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, function, (void *)i))
			exit(4);
	for (size_t i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void threads(void)
{
	pthread_barrier_init(&barrier, NULL, N_THREADS);
	in_threads(hand_on);
	in_threads(churn);
	launch("kernel");
}

/* ---- others ---- */

static long resident_kib(void)
{
	char line[128];
	FILE *f = fopen("/proc/self/status", "r");
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmRSS:", 6))
			kib = strtol(line + 6, NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

/* Now and then the records that there are. */
static void hand_over(int i)
{
	uint32_t (*flush)(uint32_t flags);

	if (i % N_AT_ONCE)
		return;
	*(void **)&flush = find(getenv("PROTON_CUPTI_PATH"), "cuptiActivityFlushAll");
	flush(0);
}

/* Until proton has caught up: on a busy machine it may not, within the time that it has at the end. */
static void wait_for_proton(void)
{
	int session = proton_session_start("wait", NULL);

	for (int i = 0; i < 5; i++)
		proton_session_deactivate(session, 1);
}

static void turns(int n)
{
	for (int i = 0; i < n; i++) {
		cuda.release(alloc(512));
		hand_over(i);
	}
}

/* 1,000,000 alive, and others that come and go, as many as MANY_TURNS says: no more memory at the end than after
 * half of them. */
static void many(void)
{
	static uint64_t alive[N_ALIVE];
	int n = atoi(getenv("MANY_TURNS"));
	long before;

	proton_enter_scope("alive");
	for (int i = 0; i < N_ALIVE; i++) {
		alive[i] = alloc(256);
		hand_over(i);
	}
	proton_exit_scope();
	proton_enter_scope("turns");
	turns(n / 2);
	wait_for_proton();
	before = resident_kib();
	turns(n / 2);
	wait_for_proton();
	proton_exit_scope();
	printf("grown %ld\n", resident_kib() - before);
	for (int i = 0; i < N_ALIVE; i++) {
		cuda.release(alive[i]);
		hand_over(i);
	}
	wait_for_proton();
	launch("kernel");
}

static void context_ends(void)
{
	proton_enter_scope("forgotten");
	alloc(3 * MIB);
	cuda.release(alloc(1 * MIB));
	proton_exit_scope();
	cuda.destroy((void *)1);
	proton_enter_scope("new");
	alloc(2 * MIB);
	proton_exit_scope();
	launch("kernel");
}

/* What the parent holds is not the child's, who has no CUDA. */
static void forks(void)
{
	int status = 1;
	pid_t child;

	proton_enter_scope("parent");
	alloc(4 * MIB);
	launch("kernel");
	child = fork();
	if (child == 0) {
		proton_enter_scope("child");
		proton_exit_scope();
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		exit(5);
	alloc(1 * MIB);
	proton_exit_scope();
}

/* Every second of 64 blocks is released: half of the pool is free, in holes of 1 MiB. */
static void fragments(void)
{
	enum { N = 64 };
	uint64_t block[N], other;
	void *stream = (void *)2;

	proton_enter_scope("fill");
	for (int i = 0; i < N; i++)
		cuda.alloc_async(&block[i], MIB, stream);
	for (int i = 0; i < N; i += 2)
		cuda.release_async(block[i], stream);
	proton_exit_scope();
	proton_enter_scope("larger");
	for (int i = 0; i < 3; i++)
		cuda.alloc_async(&other, 2 * MIB, stream); /* no hole is: it grows */
	proton_exit_scope();
	proton_enter_scope("as large");
	cuda.alloc_async(&other, MIB, stream); /* does not grow */
	proton_exit_scope();
	proton_enter_scope("too large");
	cuda.alloc_async(&other, 40 * MIB, stream); /* all holes together are not */
	cuda.release_async(other, stream);
	proton_exit_scope();
	cuda.trim(NULL, 0); /* what is used stays, 39 MiB */
	proton_enter_scope("again");
	cuda.alloc_async(&other, 4 * MIB, stream); /* there is nothing else */
	proton_exit_scope();
	launch("kernel");
}

static struct {
	uint64_t (*make)(uint32_t (*)(uint64_t *, size_t), size_t, int8_t), (*reported)(void);
	void (*report)(int64_t, size_t, size_t, int8_t);
	void (*drop)(uint64_t, size_t);
} torch;

static void open_torch(void)
{
	void *library = dlopen(getenv("C10_CUDA"), RTLD_NOW | RTLD_LOCAL);

	if (!library)
		exit(6);
	*(void **)&torch.make = dlsym(library, "tensor_new");
	*(void **)&torch.drop = dlsym(library, "tensor_delete");
	*(void **)&torch.reported = dlsym(library, "c10_reported");
	*(void **)&torch.report = dlsym(library, "tensor_report");
}

/* As PyTorch does: weights stay, activations come and go; a library of it hears what it did. */
static void tensors(void)
{
	uint64_t p[8];

	open_torch();
	proton_enter_scope("weights");
	p[0] = torch.make(cuda.alloc, 512 << 10, 1);
	proton_exit_scope();
	for (int step = 0; step < 400; step++) {
		proton_enter_scope("step");
		for (int i = 1; i < 4; i++)
			p[i] = torch.make(cuda.alloc, 256 << 10, 1);
		for (int i = 1; i < 4; i++)
			torch.drop(p[i], 256 << 10);
		proton_exit_scope();
	}
	torch.make(cuda.alloc, 1024, 0); /* of the host: not told of as a rule, and not ours */
	launch("kernel");
	printf("reported %llx\n", (unsigned long long)torch.reported());
}

/* What an allocator may say: MiB more or less, of all tensors, reserved, device. */
static void segments(void)
{
	static const struct {
		const char *scope;
		int64_t more;
		size_t allocated, reserved;
		int8_t device;
	} said[] = {
		{"first", 20, 20, 20, 0},    /* what was there before nobody knows */
		{"fill", 30, 50, 50, 0},     /* it has to grow */
		{"fill", -25, 25, 50, 0},    /* */
		{"other", 60, 60, 80, 1},    /* another device, whose first it is */
		{"larger", 20, 45, 70, 0},   /* 25 were free */
		{"larger", 20, 65, 90, 0},   /* … and so again */
		{"fits", 25, 90, 90, 0},     /* does not grow */
		{"fill", 10, 100, 110, 0},   /* it has to, and more than it needs */
		{"larger", 10, 110, 130, 0}, /* as much as was free */
		{"fill", -60, 50, 130, 0},   /* */
		{"fill", 5, 55, 60, 0},      /* some was given back to the device */
		{"larger", 5, 60, 62, 0},    /* and is taken again */
		{"other", 10, 70, 90, 1},    /* the other device had 20 */
	};

	open_torch();
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		proton_enter_scope(said[i].scope);
		torch.report(said[i].more * (int64_t)MIB, said[i].allocated * MIB,
			     said[i].reserved * MIB, said[i].device);
		proton_exit_scope();
	}
	launch("kernel");
}

/* A library allocates when it is loaded, while a thread that has the allocator's lock tells of a tensor, the first. */
static void *meanwhile(void *arg)
{
	void (*function)(void);

	*(void **)&function = arg;
	function();
	return arg;
}

static void constructor(void)
{
	void *library = dlopen(getenv("C10_CUDA"), RTLD_NOW | RTLD_LOCAL);
	void *function = library ? dlsym(library, "tensor_meanwhile") : NULL;
	pthread_t thread;

	if (!function || pthread_create(&thread, NULL, meanwhile, function))
		exit(6);
	if (!dlopen(getenv("C10_USER"), RTLD_NOW | RTLD_LOCAL))
		exit(7);
	pthread_join(thread, NULL);
	open_torch();
	launch("kernel");
	printf("reported %llx\n", (unsigned long long)torch.reported());
}

/* A list of tensors grows by one a request; an interpreter releases all when it ends, its allocator nothing. */
static void hoards(void)
{
	enum { N_REQUESTS = 20 };
	uint64_t kept[N_REQUESTS];

	open_torch();
	for (int i = 0; i < N_REQUESTS; i++) {
		proton_enter_scope("request");
		kept[i] = torch.make(cuda.alloc, 512 << 10, 1);
		torch.drop(torch.make(cuda.alloc, 512 << 10, 1), 512 << 10);
		proton_exit_scope();
	}
	launch("kernel");
	for (int i = 0; i < N_REQUESTS; i++)
		torch.drop(kept[i], 512 << 10);
}

/* A request leaves a block each time, and one that the next request releases; a helper without scopes allocates for it.
 * Another thread's requests leave nothing, and end while the first goes on. */
static void *help(void *arg)
{
	*(uint64_t *)arg = alloc(3 * MIB);
	return arg;
}

static void *tidy(void *arg)
{
	for (int i = 0; i < 50; i++) {
		proton_enter_scope("request");
		cuda.release(alloc(8 * MIB));
		proton_exit_scope();
	}
	return arg;
}

static uint64_t helped(void)
{
	pthread_t thread;
	uint64_t address = 0;

	if (pthread_create(&thread, NULL, help, &address) || pthread_join(thread, NULL))
		exit(4);
	return address;
}

static void leaves(void)
{
	uint64_t cached = 0, address;
	pthread_t thread;

	if (pthread_create(&thread, NULL, tidy, NULL))
		exit(4);
	proton_enter_scope("server");
	for (int i = 0; i < 20; i++) {
		proton_enter_scope("request");
		alloc(4 * MIB);
		if (cached)
			cuda.release(cached);
		cached = alloc(1 * MIB);
		address = helped();
		proton_exit_scope();
		cuda.release(address);
		hand_over(0);
	}
	cuda.release(cached);
	cuda.release(cached); /* twice: it fails */
	proton_exit_scope();
	pthread_join(thread, NULL);
	proton_enter_scope("empty");
	proton_exit_scope();
	launch("kernel");
}

/* The program and a library allocate in one scope, on two threads; the library is unloaded, and comes again. */
static void *use_library(void *arg)
{
	uint64_t (*get)(uint32_t(*)(uint64_t *, size_t), size_t), address[3];
	void *library;

	for (int turn = 0; turn < 2; turn++) {
		library = dlopen(getenv("ALLOCATOR"), RTLD_NOW);
		if (!library)
			exit(6);
		*(void **)&get = dlsym(library, "allocator_get");
		proton_enter_scope("who");
		address[0] = alloc(1 * MIB);
		for (int i = 1; i < 3; i++)
			address[i] = get(cuda.alloc, 2 * MIB);
		proton_exit_scope();
		for (int i = 0; i < 3; i++)
			cuda.release(address[i]);
		dlclose(library);
	}
	return arg;
}

static void who(void)
{
	pthread_t thread;

	use_library(NULL);
	if (pthread_create(&thread, NULL, use_library, NULL) || pthread_join(thread, NULL))
		exit(4);
	launch("kernel");
	/* Within a launch that has a name it is not the name of who allocates. */
	proton_launch_begin("named");
	launch("kernel");
	alloc(4096);
	proton_launch_end();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} what[] = {{"kinds", kinds},         {"threads", threads},   {"many", many},
		    {"ends", context_ends},   {"forks", forks},       {"who", who},
		    {"tensors", tensors},     {"leaves", leaves},     {"hoards", hoards},
		    {"fragments", fragments}, {"segments", segments}, {"constructor", constructor}};

	if (argc != 3)
		return 2;
	open_cuda(argv[1]);
	cuda.init(0);
	for (size_t i = 0; i < sizeof(what) / sizeof(*what); i++)
		if (!strcmp(argv[2], what[i].name)) {
			what[i].function();
			return 0;
		}
	return 2;
}
