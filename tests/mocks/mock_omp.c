/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "mock_omp.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

#define VISIBLE __attribute__((visibility("default")))

enum { N_EVENTS = 64, HOST = 4 };

static ompt_function callbacks[N_EVENTS];
static struct ompt_tool *tool;
static void *tool_library;
static __thread union ompt_word target_word;
static __thread uint64_t operation_word; /* keeps what it has, as LLVM's does */
static __thread union ompt_word regions[8];
static __thread unsigned n_regions;

VISIBLE mock_omp_fn mock_omp;
static struct mock_omp mock;

/* ---- the tool ---- */

static int set_callback(int event, ompt_function callback)
{
	mock.n_events++;
	if (mock.never)
		return 1;
	callbacks[event] = callback;
	return 5;
}

static ompt_function lookup(const char *name)
{
	return strcmp(name, "ompt_set_callback") == 0 ? (ompt_function)set_callback : NULL;
}

static bool start_with(mock_omp_start_fn *start)
{
	tool = start(201611, "mock");
	if (tool && !tool->initialize(lookup, HOST, &tool->word)) {
		memset(callbacks, 0, sizeof(callbacks));
		tool = NULL;
	}
	return tool != NULL;
}

static int own_initialize(ompt_lookup_fn *look, int device, union ompt_word *word)
{
	printf("own tool\n");
	return 1;
}

static void own_finalize(union ompt_word *word)
{
}

/* A runtime has one that asks whoever comes next; with MOCK_OMP_TOOL it is a tool of the program's. */
VISIBLE mock_omp_start_fn ompt_start_tool;
struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_tool own = {own_initialize, own_finalize, {0}};

	return getenv("MOCK_OMP_TOOL") ? &own : NULL;
}

static bool start_of_library(const char *path)
{
	mock_omp_start_fn *start;

	tool_library = dlopen(path, RTLD_LAZY);
	if (!tool_library)
		return false;
	*(void **)&start = dlsym(tool_library, "ompt_start_tool");
	return start && start_with(start);
}

static bool start(void)
{
	const char *list = getenv("OMP_TOOL_LIBRARIES");
	mock_omp_start_fn *first;
	char path[4096];

	*(void **)&first = dlsym(RTLD_DEFAULT, "ompt_start_tool");
	if (start_with(first ? first : ompt_start_tool))
		return true;
	for (size_t n; list && *list; list += n + (list[n] == ':')) {
		n = strcspn(list, ":");
		snprintf(path, sizeof(path), "%.*s", (int)n, list);
		if (start_of_library(path))
			return true;
	}
	return false;
}

static void finish(void)
{
	if (tool)
		tool->finalize(&tool->word);
	tool = NULL;
	memset(callbacks, 0, sizeof(callbacks));
	if (tool_library)
		dlclose(tool_library);
	tool_library = NULL;
}

/* ---- events ---- */

#define CALL(event, type, ...)                                                                     \
	do {                                                                                       \
		type *callback_ = (type *)callbacks[event];                                        \
		if (callback_)                                                                     \
			callback_(__VA_ARGS__);                                                    \
	} while (0)

static void device(int number, const char *type)
{
	CALL(ABI_DEVICE_INITIALIZE, ompt_device_initialize_fn, number, type, NULL, NULL, NULL);
}

static void target(int kind, int endpoint, int number, const void *code)
{
	if (endpoint == ABI_BEGIN)
		target_word.value = 0;
	CALL(ABI_TARGET, ompt_target_fn, kind, endpoint, number, NULL, NULL, &target_word, code);
}

static void parallel(int endpoint, int flags, const void *code)
{
	if (endpoint == ABI_BEGIN)
		CALL(ABI_PARALLEL_BEGIN, ompt_parallel_begin_fn, NULL, NULL, &regions[n_regions++],
		     2, flags, code);
	else
		CALL(ABI_PARALLEL_END, ompt_parallel_end_fn, &regions[--n_regions], NULL, flags,
		     code);
}

static void copy(int kind, int src_device, int dst_device, size_t bytes)
{
	for (int end = ABI_BEGIN; end <= ABI_END; end++)
		CALL(ABI_TARGET_DATA_OP, ompt_target_data_op_fn, end, NULL, &target_word,
		     &operation_word, kind, NULL, src_device, NULL, dst_device, bytes, NULL);
}

static void kernel(void)
{
	for (int end = ABI_BEGIN; end <= ABI_END; end++)
		CALL(ABI_TARGET_SUBMIT, ompt_target_submit_fn, end, &target_word, &operation_word,
		     1);
}

static void wordless(int number)
{
	uint64_t word = 0;

	CALL(ABI_TARGET, ompt_target_fn, ABI_TARGET_REGION, ABI_BEGIN, number, NULL, NULL, NULL,
	     NULL);
	CALL(ABI_TARGET_SUBMIT, ompt_target_submit_fn, ABI_END, NULL, &word, 1);
	CALL(ABI_TARGET_SUBMIT, ompt_target_submit_fn, ABI_END, &target_word, NULL, 1);
	CALL(ABI_TARGET_DATA_OP, ompt_target_data_op_fn, ABI_END, NULL, NULL, NULL, ABI_TO_DEVICE,
	     NULL, HOST, NULL, number, 1, NULL);
	CALL(ABI_TARGET_DATA_OP, ompt_target_data_op_fn, ABI_END, NULL, NULL, &word, ABI_TO_DEVICE,
	     NULL, HOST, NULL, number, 1, NULL);
	CALL(ABI_TARGET, ompt_target_fn, ABI_TARGET_REGION, ABI_END, number, NULL, NULL, NULL,
	     NULL);
}

static struct mock_omp mock = {
	.start = start,
	.start_with = start_with,
	.finish = finish,
	.device = device,
	.target = target,
	.parallel = parallel,
	.copy = copy,
	.kernel = kernel,
	.wordless = wordless,
};

struct mock_omp *mock_omp(void)
{
	return &mock;
}
