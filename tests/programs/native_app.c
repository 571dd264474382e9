/* SPDX-License-Identifier: MIT */
/* A CUDA program without a GPU whose stacks are known: native_app LIBCUDA|- MODE [ARGUMENT...]. Each mode
 * launches kernels from functions whose names are in the profile then. Nothing of it may be changed by an
 * optimiser: no function is inlined but those that say so, none is left by a jump. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION       __attribute__((noinline))
#define INLINED        static inline __attribute__((always_inline))
#define NOT_AT_THE_END __asm__ volatile("")

typedef uint32_t launch_fn(const char *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
			   uint32_t by, uint32_t bz, uint32_t shared, void *stream,
			   void **parameters, void **extra);
static launch_fn *launch;
static void (*_Atomic execute_one)(
	void); /* instead, with the fake backend, which works in fork children */

void native_take(void (*execute)(void));
void run_kernel(const char *name);
void known_inner(void);
void known_outer(void);
void recurse(volatile int *n);
void handler(int signal);
void in_handler(void);
void trash(void);
void in_trash(void);
void in_plugin(void);
void in_child(void);
void in_switched(void);
void in_made(void);

void native_take(void (*execute)(void))
{
	execute_one = execute;
}

FUNCTION void run_kernel(const char *name)
{
	if (!launch)
		execute_one();
	else
		launch(name, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	NOT_AT_THE_END;
}

/* ---- inlined functions, one function from two places ---- */

FUNCTION void known_inner(void)
{
	run_kernel("inner");
	NOT_AT_THE_END;
}

INLINED void known_inlined(void)
{
	run_kernel("inlined");
	NOT_AT_THE_END;
}

FUNCTION void known_outer(void)
{
	known_inner();
	known_inlined();
	NOT_AT_THE_END;
	known_inner();
	NOT_AT_THE_END;
}

static int known(char **arguments)
{
	for (volatile int i = 0; i < 10; i++)
		known_outer();
	return 0;
}

/* ---- recursion ---- */

FUNCTION void recurse(volatile int *n)
{
	if ((*n)-- > 0)
		recurse(n);
	else
		run_kernel("deep");
	NOT_AT_THE_END;
}

static int recursion(char **arguments)
{
	volatile int n = atoi(arguments[0]) - 1;

	recurse(&n);
	return 0;
}

/* ---- threads ---- */

FUNCTION static void *work(void *kernel)
{
	for (volatile int i = 0; i < 100; i++)
		run_kernel(kernel);
	return NULL;
}

static int threads(char **arguments)
{
	pthread_t thread[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, work, "threaded");
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* ---- signals, on the thread's stack and on another ---- */

FUNCTION void in_handler(void)
{
	run_kernel("handled");
	NOT_AT_THE_END;
}

FUNCTION void handler(int signal)
{
	in_handler();
	NOT_AT_THE_END;
}

FUNCTION static void be_signalled(void)
{
	raise(SIGUSR1);
	NOT_AT_THE_END;
}

static int on_signal(char **arguments)
{
	static char memory[1 << 16] __attribute__((aligned(16)));
	stack_t other = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_handler = handler};

	if (!strcmp(arguments[0], "other"))
		action.sa_flags = SA_ONSTACK;
	if (sigaltstack(&other, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
		return 1;
	for (volatile int i = 0; i < 10; i++)
		be_signalled();
	return 0;
}

/* ---- code that keeps no frame pointer, and says nothing of it ---- */

FUNCTION void in_trash(void)
{
	run_kernel("trashed");
	NOT_AT_THE_END;
}

FUNCTION void trash(void)
{
#if defined(__x86_64__)
	/* What rbp holds is no address, or one that is no frame's. */
	static const uint64_t values[] = {0,         1,          8,
					  0x1234567, UINT64_MAX, UINT64_C(0x8000000000000000)};

	for (volatile size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		__asm__ volatile("mov %%rsp, %%rbx; lea -128(%%rsp), %%rsp; and $-16, %%rsp;"
				 "push %%rbp; push %%rbp; mov %0, %%rbp; call in_trash@PLT;"
				 "pop %%rbp; pop %%rbp; mov %%rbx, %%rsp"
				 :
				 : "r"(values[i])
				 : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
				   "r11", "memory", "cc");
#else
	in_trash();
#endif
	NOT_AT_THE_END;
}

static int trashed(char **arguments)
{
	trash();
	return 0;
}

/* ---- libraries that come and go: what one had at an address another one has ---- */

FUNCTION void in_plugin(void)
{
	run_kernel("plugged");
	NOT_AT_THE_END;
}

static int plugins(char **arguments)
{
	void (*call)(void (*back)(void)) = NULL;

	for (int i = 0; i < 20; i++) {
		void *plugin = dlopen(arguments[i % 2], RTLD_NOW | RTLD_LOCAL);

		if (plugin)
			*(void **)&call = dlsym(plugin, i % 2 ? "plugin_second" : "plugin_first");
		if (!plugin || !call) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		call(in_plugin);
		dlclose(plugin);
	}
	return 0;
}

/* ---- fork ---- */

FUNCTION void in_child(void)
{
	run_kernel("forked");
	NOT_AT_THE_END;
}

static int forked(char **arguments)
{
	int status;
	pid_t pid;

	known_outer();
	pid = fork();
	if (pid == 0) {
		in_child();
		exit(0);
	}
	return waitpid(pid, &status, 0) == pid ? status : 1;
}

/* ---- a stack that nobody knows of, with nothing around it ---- */

FUNCTION void in_switched(void)
{
	run_kernel("switched");
	NOT_AT_THE_END;
}

static int switched(char **arguments)
{
#if defined(__x86_64__)
	static char memory[1 << 17] __attribute__((aligned(4096)));
	char *top = memory + sizeof(memory);

	/* At its very end: what lies above is not the stack's. */
	__asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; call in_switched@PLT; mov %%rbx, %%rsp"
			 :
			 : "r"(top)
			 : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
			   "memory", "cc");
#else
	in_switched();
#endif
	return 0;
}

/* ---- code that is made at run time, and says in /tmp/perf-PID.map what it is ---- */

FUNCTION void in_made(void)
{
	run_kernel("made");
	NOT_AT_THE_END;
}

static int made(char **arguments)
{
#if defined(__x86_64__)
	/* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	void (*call)(void (*function)(void));
	char path[64];
	void *page;
	FILE *map;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return 1;
	memcpy(page, code, sizeof(code));
	*(void **)&call = page;
	call(in_made); /* before it is said */
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	fprintf(map, "%lx %lx %s\n", (unsigned long)page, (unsigned long)sizeof(code),
		arguments[0]);
	fclose(map);
	puts(path);
#else
	in_made();
#endif
	return 0;
}

static const struct {
	const char *name;
	int n_arguments;
	int (*run)(char **arguments);
} modes[] = {
	{"known", 0, known},      {"recursion", 1, recursion}, {"threads", 0, threads},
	{"signal", 1, on_signal}, {"trashed", 0, trashed},     {"plugins", 2, plugins},
	{"forked", 0, forked},    {"switched", 0, switched},   {"made", 1, made},
};

int main(int argc, char **argv)
{
	void *driver = argc > 2 && *argv[1] != '-' ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	uint32_t (*init)(uint32_t) = NULL;
	int status;

	if (driver) {
		*(void **)&init = dlsym(driver, "cuInit");
		*(void **)&launch = dlsym(driver, "cuLaunchKernel");
	}
	while (argc > 2 && *argv[1] == '-' && !execute_one)
		sched_yield();
	for (size_t i = 0; ((init && launch) || execute_one) && i < sizeof(modes) / sizeof(*modes);
	     i++)
		if (!strcmp(argv[2], modes[i].name) && argc - 3 >= modes[i].n_arguments) {
			if (init)
				init(0);
			status = modes[i].run(argv + 3);
			NOT_AT_THE_END;
			return status;
		}
	fprintf(stderr, "usage: native_app LIBCUDA|- MODE [ARGUMENT...]\n");
	return 2;
}
