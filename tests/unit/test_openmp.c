/* SPDX-License-Identifier: MIT */
/* The OpenMP backend under the real collector, told by a runtime that is none. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"
#include "check_main.h"
#include "collect/internal.h"
#include "collect/ompt.h"
#include "collect_rig.h"
#include "mocks/mock_omp.h"

enum { CPU = 0, GPU = 1, CPU2 = 2, HOST = 4 };

static struct mock_omp *omp;

/* Where constructs stand: a call that returns behind the first byte of these. */
static void saxpy(void)
{
	ck_abort();
}

static void solve(void)
{
	ck_abort();
}

void outlined(void) __asm__("sgemm.omp_outlined");
void outlined(void)
{
	ck_abort();
}

void task_entry(void) __asm__(".omp_task_entry.");
void task_entry(void)
{
	ck_abort();
}

static const void *in(void (*function)(void))
{
	return (const char *)(uintptr_t)function + 1;
}

static void load(void)
{
	void *handle = dlopen(MOCK_OMP_PATH, RTLD_NOW);
	mock_omp_fn *get;

	ck_assert_msg(handle != NULL, "%s", dlerror());
	*(void **)&get = dlsym(handle, "mock_omp");
	omp = get();
}

static void name_us(void)
{
	setenv("PROTON_LIBRARY", "/proton.so", 1);
	setenv("OMP_TOOL_LIBRARIES", "/proton.so", 1);
}

/* A collector with a runtime that has a tool: three devices, of which the vendor's library sees one. */
static void begin_with(bool parallel)
{
	rig_open();
	rig_dir->control->wanted.backends.omp_parallel = parallel;
	name_us();
	load();
	ck_assert(omp->start_with(ompt_start_tool));
	ck_assert(collect_on);
	omp->device(CPU, "generic-64bit");
	omp->device(GPU, "sm_90");
	omp->device(CPU2, "generic-64bit");
}

static void begin(void)
{
	begin_with(false);
}

static bool is_below(const char *name, const char *parent)
{
	uint32_t node = rig_node(name);

	return node != SESSION_NONE &&
	       !strcmp(session_node_name(rig_session, rig_session->nodes[node].parent), parent);
}

static void region(int device, void (*function)(void))
{
	omp->target(ABI_TARGET_REGION, ABI_BEGIN, device, in(function));
	omp->copy(ABI_TO_DEVICE, HOST, device, 100);
	omp->kernel();
	omp->copy(ABI_FROM_DEVICE | ABI_ASYNC, device, HOST, 10);
	omp->target(ABI_TARGET_REGION, ABI_END, device, in(function));
}

START_TEST(test_target)
{
	begin();
	for (int i = 0; i < 3; i++)
		region(CPU, saxpy);
	rig_until_sum("omp target saxpy", METRIC_CPU_COUNT, 3);
	rig_until_sum("saxpy", METRIC_COUNT, 3);
	ck_assert_int_eq(rig_sum("memcpy HtoD", METRIC_COUNT), 3);
	ck_assert_int_eq(rig_sum("memcpy HtoD", METRIC_BYTES), 300);
	ck_assert_int_eq(rig_sum("memcpy DtoH", METRIC_BYTES), 30);
	ck_assert(is_below("saxpy", "omp target saxpy"));
	ck_assert(is_below("memcpy HtoD", "omp target saxpy"));
	ck_assert(is_below("memcpy DtoH", "omp target saxpy"));
	ck_assert(is_below("omp target saxpy", "ROOT"));
	ck_assert_uint_eq(rig_session->n_devices, 1);
	ck_assert_str_eq(session_text(rig_session, rig_session->devices[0].type), "OpenMP");
	ck_assert_int_eq(collect_depth((uintptr_t)collect_sink(SOURCE_OPENMP)), 0);
}

/* What its vendor's library records is not recorded again. */
START_TEST(test_gpu)
{
	begin();
	region(GPU, saxpy);
	omp->copy(ABI_TO_DEVICE, HOST, GPU, 100);
	rig_until_sum("omp target saxpy", METRIC_CPU_COUNT, 1);
	region(CPU, outlined);
	rig_until_sum("sgemm", METRIC_COUNT, 1);
	ck_assert_uint_eq(rig_node("saxpy"), SESSION_NONE);
	ck_assert_int_eq(rig_sum("memcpy HtoD", METRIC_COUNT), 1);
	ck_assert_uint_eq(rig_session->n_devices, 1);
}

static const struct {
	int kind;
	void (*function)(void);
	const char *name;
} constructs[] = {
	{ABI_TARGET_ENTER_DATA, saxpy, "omp target enter data saxpy"},
	{ABI_TARGET_EXIT_DATA, outlined, "omp target exit data sgemm"},
	{ABI_TARGET_UPDATE | ABI_TARGET_NOWAIT, task_entry, "omp target update"},
	{ABI_TARGET_REGION | ABI_TARGET_NOWAIT, NULL, "omp target"},
	{99, NULL, "omp target construct"},
};

START_TEST(test_constructs)
{
	const void *code = constructs[_i].function ? in(constructs[_i].function) : NULL;

	begin();
	for (int i = 0; i < 2; i++) {
		omp->target(constructs[_i].kind, ABI_BEGIN, GPU, code);
		omp->target(constructs[_i].kind, ABI_END, GPU, code);
	}
	rig_until_sum(constructs[_i].name, METRIC_CPU_COUNT, 2);
}

START_TEST(test_copies)
{
	begin();
	omp->copy(ABI_TO_DEVICE, CPU, CPU2, 1);
	omp->copy(ABI_FROM_DEVICE, CPU2, CPU, 2);
	omp->copy(ABI_TO_DEVICE, GPU, CPU, 4); /* from where nobody can tell */
	omp->copy(1, HOST, CPU, 8);            /* memory is reserved and given back */
	omp->copy(4, CPU, -1, 16);
	omp->copy(ABI_TO_DEVICE, HOST, 4711, 32);
	rig_until_sum("memcpy HtoD", METRIC_BYTES, 4);
	rig_until_sum("memcpy DtoD", METRIC_BYTES, 3);
	ck_assert(is_below("memcpy DtoD", "ROOT"));
	ck_assert_uint_eq(rig_session->n_devices, 2);
}

/* Runtimes that keep no words get scopes all the same. */
START_TEST(test_wordless)
{
	begin();
	omp->wordless(CPU);
	rig_until_sum("omp target", METRIC_CPU_COUNT, 1);
	ck_assert_int_eq(rig_sum("ROOT", METRIC_COUNT), -1);
	ck_assert_uint_eq(rig_session->n_devices, 0);
}

/* A thread of the runtime's works for the main thread, and may end in a construct. */
static void *worker(void *arg)
{
	region(CPU, outlined);
	omp->target(ABI_TARGET_REGION, ABI_BEGIN, CPU, in(saxpy));
	return arg;
}

START_TEST(test_threads)
{
	pthread_t threads[4];

	begin();
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "step", 4);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, worker, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	collect_pop(COLLECT_TAG_SCOPE);
	rig_until_sum("omp target sgemm", METRIC_CPU_COUNT, 4);
	rig_until_sum("sgemm", METRIC_COUNT, 4);
	rig_until_sum("omp target saxpy", METRIC_CPU_COUNT, 4);
	ck_assert(is_below("omp target sgemm", "step"));
	ck_assert(is_below("omp target saxpy", "step"));
}

static void parallel(int endpoint, const void *code)
{
	omp->parallel(endpoint, 0, code);
}

/* What the runtime does for itself, or nobody knows where, is nobody's region. */
START_TEST(test_parallel)
{
	const void *own, *nowhere = NULL;
	pthread_t thread;

	begin_with(true);
	own = (const void *)(uintptr_t)omp->start;
	parallel(ABI_BEGIN, in(saxpy));
	parallel(ABI_BEGIN, own);
	omp->parallel(ABI_BEGIN, (int)ABI_LEAGUE, in(solve));
	parallel(ABI_BEGIN, nowhere);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_join(thread, NULL);
	parallel(ABI_END, nowhere);
	omp->parallel(ABI_END, (int)ABI_LEAGUE, in(solve));
	parallel(ABI_END, own);
	ck_assert_int_eq(collect_depth((uintptr_t)collect_sink(SOURCE_OPENMP)), 1);
	parallel(ABI_END, in(saxpy));
	rig_until_sum("omp parallel saxpy", METRIC_CPU_COUNT, 1);
	rig_until_sum("omp teams solve", METRIC_CPU_COUNT, 1);
	rig_until_sum("sgemm", METRIC_COUNT, 1);
	ck_assert(is_below("omp teams solve", "omp parallel saxpy"));
	ck_assert(is_below("omp target sgemm", "omp teams solve"));
	ck_assert_uint_eq(rig_node("omp parallel"), SESSION_NONE);
	ck_assert_uint_eq(rig_losses(LOSS_SCOPE_MISMATCH), 0);
}

/* They are told of only where that is asked for. */
START_TEST(test_parallel_off)
{
	begin();
	ck_assert_int_eq(omp->n_events, 4);
	parallel(ABI_BEGIN, in(saxpy));
	region(CPU, outlined);
	parallel(ABI_END, in(saxpy));
	rig_until_sum("sgemm", METRIC_COUNT, 1);
	ck_assert(is_below("omp target sgemm", "ROOT"));
}

/* A child of a fork inherits the runtime, what is open in it and its devices. */
START_TEST(test_fork)
{
	pid_t pid;
	int status;

	if (!WITH_FORK)
		return;
	begin();
	omp->target(ABI_TARGET_REGION, ABI_BEGIN, CPU, in(saxpy));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		omp->kernel();
		omp->target(ABI_TARGET_REGION, ABI_END, CPU, in(saxpy));
		region(CPU, outlined);
		collect_end();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	omp->target(ABI_TARGET_REGION, ABI_END, CPU, in(saxpy));
	rig_until_sum("omp target sgemm", METRIC_CPU_COUNT, 1);
	rig_until_sum("saxpy", METRIC_COUNT, 1);
	rig_until_sum("omp target saxpy", METRIC_CPU_COUNT, 1);
	ck_assert_uint_eq(rig_session->n_processes, 2);
}

/* What comes behind the end of the runtime is nobody's, and a second one starts as the first. */
START_TEST(test_finish)
{
	begin();
	region(CPU, saxpy);
	omp->finish();
	region(CPU, saxpy);
	ck_assert(omp->start_with(ompt_start_tool));
	region(CPU, saxpy);
	rig_until_sum("saxpy", METRIC_COUNT, 2);
}

/* ---- whether there is a tool ---- */

START_TEST(test_none)
{
	rig_open();
	name_us();
	ck_assert_ptr_null(ompt_start_tool(201611, "no library that offloads"));
	load();
	setenv("OMP_TOOL_LIBRARIES", "/other.so", 1);
	ck_assert_ptr_null(ompt_start_tool(201611, "another tool"));
	unsetenv("OMP_TOOL_LIBRARIES");
	ck_assert_ptr_null(ompt_start_tool(201611, "OpenMP is left alone"));
	ck_assert(!collect_on);
	ck_assert_uint_eq(atomic_load(&rig_dir->control->connected), 0);
	name_us();
	ck_assert_ptr_nonnull(ompt_start_tool(201611, "ours"));
	ck_assert(collect_on);
}

/* Parallel regions are of use without a library that offloads. */
START_TEST(test_none_but_parallel)
{
	rig_open();
	rig_dir->control->wanted.backends.omp_parallel = 1;
	name_us();
	ck_assert_ptr_nonnull(ompt_start_tool(201611, "ours"));
}

START_TEST(test_off)
{
	rig_open();
	name_us();
	load();
	rig_dir->control->wanted.backends_off = 1u << SOURCE_OPENMP;
	ck_assert(!omp->start_with(ompt_start_tool));
	ck_assert_int_eq(omp->n_events, 0);
}

START_TEST(test_no_session)
{
	unsetenv(CONTROL_ENV);
	name_us();
	load();
	ck_assert_ptr_null(ompt_start_tool(201611, "nobody looks"));
}

/* LLVM's before 17 would never call: they go on as without a tool. */
START_TEST(test_old_runtime)
{
	rig_open();
	name_us();
	load();
	omp->never = true;
	ck_assert(!omp->start_with(ompt_start_tool));
	ck_assert_int_gt(omp->n_events, 0);
}

int main(void)
{
	TCase *c = tcase_create("openmp");
	Suite *suite = suite_create("openmp");

	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_add_test(c, test_target);
	tcase_add_test(c, test_gpu);
	tcase_add_loop_test(c, test_constructs, 0, ARRAY_SIZE(constructs));
	tcase_add_test(c, test_copies);
	tcase_add_test(c, test_wordless);
	tcase_add_test(c, test_threads);
	tcase_add_test(c, test_parallel);
	tcase_add_test(c, test_parallel_off);
	tcase_add_test(c, test_fork);
	tcase_add_test(c, test_finish);
	tcase_add_test(c, test_none);
	tcase_add_test(c, test_none_but_parallel);
	tcase_add_test(c, test_off);
	tcase_add_test(c, test_no_session);
	tcase_add_test(c, test_old_runtime);
	suite_add_tcase(suite, c);
	return check_run(suite);
}
