/* SPDX-License-Identifier: MIT */
/* Samples of code that are known, of kernels of which it is known who launched them and how long they ran:
 * collect_pc LIBCUDA [WHAT], with the mock libcupti. See tests/scripts/collect_pc.sh. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "programs/mock_graphs.h"

#define CUBIN cubin[0] /* the mock's checksum of it */
static uint64_t cubin[1 << 14] = {UINT64_C(0x1122334455667788)};
static size_t cubin_bytes = 16;
enum { WAIT, WAIT_NOT, SELECTED, SELECTED_NOT, NOT_SELECTED, NOT_SELECTED_NOT, BARRIER };
enum { GMMA = 8, UNKNOWN = 10 };

static mock_pc_plant_fn *plant;
static mock_pc_reads_fn *n_reads;
static mock_pc_hold_fn *hold;
static mock_context_fn *begin_context, *end_context;
static mock_module_fn *module_event;

static void sample(uint32_t context, const char *function, uint64_t offset, uint32_t reason,
		   uint32_t n)
{
	plant(&(struct mock_pc_sample){context, 0, function, CUBIN, offset, reason, n});
}

static uint32_t launch(const char *scope, const char *name, uint64_t lasts_ns)
{
	const struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
				   .name = name,
				   .context = 1,
				   .stream = 7,
				   .lasts_ns = lasts_ns};
	uint32_t correlation;

	proton_enter_scope(scope);
	correlation = call(KERNEL_CALL, &op);
	proton_exit_scope();
	return correlation;
}

static void load(uint32_t context, bool is_loaded)
{
	const struct abi_module_data module = {1, cubin_bytes, (const char *)cubin};

	module_event(context, &module, is_loaded);
}

/* Three parts of "k" ran in "a", one in "b", and no read was between them. */
static void split(void)
{
	hold(true);
	launch("a", "k", 3000);
	launch("b", "k", 1000);
	sample(1, "k", 0x20, WAIT, 41);
	sample(1, "k", 0x20, WAIT_NOT, 10);
	sample(1, "k", 0x20, SELECTED, 7);
	sample(1, "k", 0x30, BARRIER, 8);
	sample(1, "k", 0x30, GMMA, 4);
	sample(1, "k", 0x30, UNKNOWN, 2);
	sample(1, "k", 0x1000, NOT_SELECTED, 1);
	sample(1, "graphed", 0x10, WAIT, 5);
	hold(false);
}

/* Its launch is named, though it ran as long elsewhere. */
static void exact(void)
{
	uint32_t in_a = launch("a", "k", 1000);

	launch("b", "k", 1000);
	plant(&(struct mock_pc_sample){1, in_a, "k", CUBIN, 0x20, WAIT, 40});
}

/* It is cancelled while CUPTI begins to sample its context. */
static void *be_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	begin_context(2);
	pthread_testcancel();
	return arg;
}

/* A stream is destroyed while it is captured: who launches next, in a context that was made before, is sampled. */
static void capturing(const char *cuda)
{
	uint32_t (*begin_capture)(void *, int);
	mock_stream_fn *end_stream;

	*(void **)&begin_capture = find(cuda, "cuStreamBeginCapture_v2");
	*(void **)&end_stream = find(getenv("PROTON_CUPTI_PATH"), "mock_stream_end");
	launch("a", "first", 1000); /* from here on launches are looked at */
	end_context(1);
	begin_capture(handle(6), 0);
	end_stream(handle(6));
}

/* A context ends, and another one, of which nobody saw the beginning, has its address. */
static void again(void)
{
	launch("a", "k", 1000);
	sample(1, "k", 0x20, WAIT, 30);
	end_context(1);
	launch("a", "k", 1000);
	sample(1, "k", 0x20, WAIT, 12);
}

/* The program asks by itself, with a context that is there already. */
static int session(void)
{
	const struct proton_session_options options = {.size = sizeof(options),
						       .mode = "pcsampling:interval=1000"};
	int s;

	launch("before", "k", 1000);
	s = proton_session_start("own", &options);
	launch("after", "k", 1000);
	sample(1, "k", 0x20, WAIT, 30);
	load(1, true);
	return s < 0 || proton_session_finalize(s, NULL) != PROTON_OK;
}

/* One more at each instruction than at the one before. */
static void lines(const char *function)
{
	launch("a", function, 1000);
	for (uint64_t at = 0; at < 0x100; at += 16)
		sample(1, function, at, WAIT, 1 + (uint32_t)at / 16);
}

/* … seen by a session that ends before the program does. */
static int session_lines(const char *function)
{
	const struct proton_session_options options = {.size = sizeof(options),
						       .mode = "pcsampling:interval=1000"};
	int s = proton_session_start("own", &options);

	lines(function);
	load(1, true);
	return s < 0 || proton_session_finalize(s, NULL) != PROTON_OK;
}

static void await_reads(unsigned n)
{
	unsigned until = n_reads() + n;

	while (n_reads() < until)
		usleep(1000);
}

/* The record of a kernel is told when its samples come, and the program goes on after that. */
static void lag(void)
{
	launch("a", "k", 1000);
	await_reads(3);
	sample(1, "k", 0x20, WAIT, 30);
	await_reads(5);
}

/* Samples of what ran in a phase come when that is over and forgotten, and the next one has its epoch. */
static int reused(void)
{
	const struct proton_session_options options = {.size = sizeof(options)};
	int s = proton_session_start("phases", &options);

	launch("a", "k", 1000);
	proton_phase_advance(s);
	while (proton_phase_is_complete(s, 0) == 0)
		await_reads(1);
	proton_phase_clear(s, 0, 0);
	await_reads(2); /* with each of these it is looked for */
	proton_phase_advance(s);
	sample(1, "k", 0x20, WAIT, 30);
	await_reads(2);
	return s < 0 || proton_session_finalize(s, NULL) != PROTON_OK;
}

static void late(const char *what)
{
	pthread_t thread;

	if (!strcmp(what, "exec")) {
		launch("a", "k", 1000);
		execl("/nowhere", "nothing", (char *)NULL);
	} else if (!strcmp(what, "cancel") &&
		   pthread_create(&thread, NULL, be_cancelled, NULL) == 0) {
		pthread_join(thread, NULL);
		end_context(2);
	}
	launch("a", "k", 1000);
	sample(1, "k", 0x20, WAIT, 30);
}

int main(int argc, char **argv)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH"), *what = argc > 2 ? argv[2] : "split";

	if (argc < 2)
		return 2;
	start(argv[1]);
	*(void **)&plant = find(cupti, "mock_pc_plant");
	*(void **)&n_reads = find(cupti, "mock_pc_reads");
	*(void **)&hold = find(cupti, "mock_pc_hold");
	*(void **)&begin_context = find(cupti, "mock_context_begin");
	*(void **)&end_context = find(cupti, "mock_context_end");
	*(void **)&module_event = find(cupti, "mock_module");
	if (argc > 4) { /* CUBIN FUNCTION */
		FILE *f = fopen(argv[3], "re");

		cubin_bytes = f ? fread(cubin, 1, sizeof(cubin), f) : 0;
		if (f)
			fclose(f);
	}
	if (!strcmp(what, "session"))
		return session();
	if (strcmp(what, "older") != 0)
		begin_context(1);
	load(1, true);
	if (!strcmp(what, "capturing"))
		capturing(argv[1]);
	if (!strcmp(what, "capturing") || !strcmp(what, "older") || !strcmp(what, "exec") ||
	    !strcmp(what, "cancel")) {
		late(what);
		return 0;
	}
	if (!strcmp(what, "lines")) {
		lines(argv[4]);
		return 0;
	}
	if (!strcmp(what, "lines, and goes on")) {
		lines(argv[4]);
		getchar();
		return 0;
	}
	if (!strcmp(what, "session lines"))
		return session_lines(argv[4]);
	if (!strcmp(what, "again")) {
		again();
		return 0;
	}
	if (!strcmp(what, "reused"))
		return reused();
	if (!strcmp(what, "lag")) {
		lag();
		return 0;
	}
	if (!strcmp(what, "exact")) {
		exact();
		return 0;
	}
	if (!strcmp(what,
		    "full")) { /* each reads what there is: nothing, and a buffer that is full */
		load(1, false);
		load(1, false);
	}
	split();
	if (!strcmp(what, "contexts")) { /* one more, which ends before the program does */
		begin_context(2);
		sample(2, "k", 0x20, WAIT, 100);
		end_context(2);
	} else if (!strcmp(what, "unload")) {
		load(1, false);
		sample(1, "k", 0x20, WAIT, 4);
	} else if (!strcmp(what, "fork")) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	} else if (!strcmp(what, "killed")) {
		getchar(); /* until they have arrived */
		raise(SIGKILL);
	}
	return 0;
}
