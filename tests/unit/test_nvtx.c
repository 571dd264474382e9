/* SPDX-License-Identifier: MIT */
/* Our injection, called as NVTX's loader does, with tables made by hand. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "check_main.h"
#include "collect/nvtx_abi.h"
#include "mocks/test_api_stub.h"

#define N_CORE  16
#define N_CORE2 16

static int (*initialize)(nvtx_get_export_fn *get_export);
static nvtx_function core[N_CORE], core2[N_CORE2];
static nvtx_function *core_table[N_CORE + 1], *core2_table[N_CORE2 + 1];
static unsigned table_size;

static int get_table(int32_t module, nvtx_function ***ret_table, unsigned *ret_size)
{
	if (module != NVTX_MODULE_CORE && module != NVTX_MODULE_CORE2)
		return 0;
	*ret_table = module == NVTX_MODULE_CORE ? core_table : core2_table;
	*ret_size = table_size;
	return 1;
}

static struct nvtx_export_callbacks callbacks = {sizeof(callbacks), get_table};

static const void *get_export(uint32_t table)
{
	return table == NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

/* Only the entries that real loaders have point somewhere: 0 is invalid. */
static struct stub *inject(unsigned size)
{
	void *handle = dlopen(STUB_LIBRARY, RTLD_NOW);
	stub_get_fn *get;

	ck_assert_msg(handle != NULL, "%s", dlerror());
	*(void **)&get = dlsym(handle, "stub_get");
	*(void **)&initialize = dlsym(handle, "InitializeInjectionNvtx2");
	table_size = size;
	for (int i = 1; i < N_CORE; i++)
		core_table[i] = &core[i];
	for (int i = 1; i < N_CORE2; i++)
		core2_table[i] = &core2[i];
	ck_assert_int_eq(initialize(get_export), 1);
	return get();
}

#define CORE(index, type)  ((type *)core[index])
#define CORE2(index, type) ((type *)core2[index])

typedef int push_a(const char *);
typedef int push_w(const wchar_t *);
typedef int push_ex(const struct nvtx_attributes *);
typedef int pop(void);
typedef int domain_push(const void *, const struct nvtx_attributes *);
typedef int domain_pop(const void *);
typedef const void *domain_create(const char *);
typedef const void *register_a(const void *, const char *);
typedef uint64_t start_a(const char *);
typedef uint64_t start_w(const wchar_t *);
typedef uint64_t domain_start(const void *, const struct nvtx_attributes *);
typedef void end(uint64_t);
typedef void domain_end(const void *, uint64_t);
typedef void mark_a(const char *);
typedef void mark_ex(const struct nvtx_attributes *);

static struct nvtx_attributes attributes(enum nvtx_message type, const void *message)
{
	struct nvtx_attributes a = {.version = 3, .size = sizeof(a), .message_type = type};

	a.message.registered = message;
	return a;
}

START_TEST(test_tables)
{
	/* A loader of another age: a short table, no such module, no table at all. */
	inject(NVTX_CORE_RANGE_PUSH_EX);
	ck_assert(core[NVTX_CORE_MARK_A] != NULL);
	ck_assert(core[NVTX_CORE_RANGE_PUSH_A] == NULL);
	ck_assert(core2[NVTX_CORE2_CREATE_A] == NULL);
	ck_assert_int_eq(initialize(NULL), 0);
	callbacks.struct_size = 8;
	ck_assert_int_eq(initialize(get_export), 0);
	callbacks.struct_size = sizeof(callbacks);
}
END_TEST

START_TEST(test_refused)
{
	setenv("PROTON_STUB_REFUSE", "1", 1);
	inject(N_CORE);
	for (int i = 0; i < N_CORE; i++)
		ck_assert(core[i] == NULL && core2[i] == NULL);
}
END_TEST

/* Nobody profiles, but the program may itself, later: NVTX asks once. */
START_TEST(test_nobody_yet)
{
	struct stub *stub;

	setenv("PROTON_STUB_REFUSE", "yet", 1);
	stub = inject(N_CORE);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_PUSH_A, push_a)("a"), -1);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_POP, pop)(), -1);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_POP, pop)(), -1);
	ck_assert_str_eq(stub->log, "missed enter\nmissed leave\nmissed leave\n");
}
END_TEST

START_TEST(test_push_pop)
{
	struct stub *stub = inject(N_CORE);
	struct nvtx_attributes a = attributes(NVTX_MESSAGE_A, "ex");
	struct nvtx_attributes w = attributes(NVTX_MESSAGE_W, L"\u00e9\u20ac\U0001f600");
	struct nvtx_attributes none = {0};

	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_PUSH_A, push_a)("a"), 0);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_PUSH_W, push_w)(L"w"), 1);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_PUSH_EX, push_ex)(&a), 2);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_PUSH_EX, push_ex)(&w), 3);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_PUSH_EX, push_ex)(&none), 4);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_PUSH_EX, push_ex)(NULL), -1);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_PUSH_A, push_a)(NULL), 5);
	for (int i = 5; i >= 0; i--)
		ck_assert_int_eq(CORE(NVTX_CORE_RANGE_POP, pop)(), i);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_POP, pop)(), -1);
	ck_assert_str_eq(stub->log, "start NVTX\npush 4 a\npush 4 w\npush 4 ex\n"
				    "push 4 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n"
				    "push 4 <nvtx>\npush 4 <nvtx>\n"
				    "pop 5\npop 4\npop 3\npop 2\npop 1\npop 0\npop -1\n");
}
END_TEST

/* Domains have levels of their own on the one stack of the thread. */
START_TEST(test_domains)
{
	struct stub *stub = inject(N_CORE);
	const void *nccl = CORE2(NVTX_CORE2_CREATE_A, domain_create)("NCCL");
	const void *torch = CORE2(NVTX_CORE2_CREATE_A, domain_create)("torch");
	const void *s = CORE2(NVTX_CORE2_REGISTER_STRING_A, register_a)(nccl, "allreduce");
	struct nvtx_attributes a = attributes(NVTX_MESSAGE_REGISTERED, s);

	ck_assert(nccl && torch && nccl != torch);
	ck_assert(CORE2(NVTX_CORE2_CREATE_A, domain_create)("NCCL") == nccl);
	ck_assert(CORE2(NVTX_CORE2_REGISTER_STRING_A, register_a)(torch, "allreduce") == s);
	ck_assert_int_eq(CORE2(NVTX_CORE2_RANGE_PUSH_EX, domain_push)(nccl, &a), 0);
	ck_assert_int_eq(CORE2(NVTX_CORE2_RANGE_PUSH_EX, domain_push)(torch, &a), 0);
	ck_assert_int_eq(CORE2(NVTX_CORE2_RANGE_PUSH_EX, domain_push)(nccl, &a), 1);
	ck_assert_int_eq(CORE2(NVTX_CORE2_RANGE_PUSH_EX, domain_push)(NULL, &a), 0);
	ck_assert_int_eq(CORE2(NVTX_CORE2_RANGE_POP, domain_pop)(torch), 0);
	ck_assert_int_eq(CORE2(NVTX_CORE2_RANGE_POP, domain_pop)(nccl), 1);
	ck_assert_int_eq(CORE2(NVTX_CORE2_RANGE_POP, domain_pop)(nccl), 0);
	ck_assert_int_eq(CORE(NVTX_CORE_RANGE_POP, pop)(), 0);
	ck_assert(strstr(stub->log, "push 4 allreduce\npush 4 allreduce\n") != NULL);
}
END_TEST

START_TEST(test_ranges)
{
	struct stub *stub = inject(N_CORE);
	struct nvtx_attributes a = attributes(NVTX_MESSAGE_A, "ex");
	uint64_t one = CORE(NVTX_CORE_RANGE_START_A, start_a)("one");
	uint64_t two = CORE(NVTX_CORE_RANGE_START_W, start_w)(L"two");
	uint64_t three = CORE2(NVTX_CORE2_RANGE_START_EX, domain_start)(NULL, &a);

	ck_assert(one && two && three && one != two && two != three);
	CORE(NVTX_CORE_RANGE_END, end)(one);
	CORE2(NVTX_CORE2_RANGE_END, domain_end)(NULL, three);
	CORE(NVTX_CORE_RANGE_END, end)(two);
	CORE(NVTX_CORE_RANGE_END, end)(two);
	CORE(NVTX_CORE_RANGE_END, end)(0);
	CORE(NVTX_CORE_RANGE_END, end)(UINT64_MAX);
	CORE(NVTX_CORE_MARK_A, mark_a)("m");
	CORE(NVTX_CORE_MARK_EX, mark_ex)(&a);
	ck_assert_str_eq(stub->log, "start NVTX\nrange 16 one timed\nrange 16 ex timed\n"
				    "range 16 two timed\nrange 17 m 0\nrange 17 ex 0\n");
	ck_assert_uint_eq(stub->n_losses[LOSS_SCOPE_MISMATCH], 1);
}
END_TEST

/* Ranges that nobody ends, and texts without end, are bounded and counted. */
START_TEST(test_bounds)
{
	struct stub *stub = inject(N_CORE);
	char text[32];
	int n_open = 0;

	for (int i = 0; i < 5000; i++)
		n_open += CORE(NVTX_CORE_RANGE_START_A, start_a)("open") != 0;
	ck_assert_int_eq(n_open, 1024);
	ck_assert_uint_eq(stub->n_losses[LOSS_SLOTS_FULL], 5000 - 1024);
	for (int i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		CORE2(NVTX_CORE2_REGISTER_STRING_A, register_a)(NULL, text);
		ck_assert(CORE2(NVTX_CORE2_CREATE_A, domain_create)(text) != NULL);
	}
	ck_assert_uint_ge(stub->n_losses[LOSS_STRINGS_FULL], 2 * (10000 - 8192));
}
END_TEST

/* Not a test of time: a line for people who look. */
START_TEST(test_cost)
{
	struct stub *stub = inject(N_CORE);
	push_a *push = CORE(NVTX_CORE_RANGE_PUSH_A, push_a);
	pop *p = CORE(NVTX_CORE_RANGE_POP, pop);
	uint64_t start;

	stub->quiet = true;
	start = clock_monotonic_ns();
	for (int i = 0; i < 100000; i++) {
		push("forward");
		p();
	}
	printf("push and pop with the stub: %g ns\n",
	       (double)(clock_monotonic_ns() - start) / 100000);
	ck_assert_uint_eq(stub->n_pops, 100000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("nvtx");
	TCase *tc = tcase_create("nvtx");

	tcase_add_test(tc, test_tables);
	tcase_add_test(tc, test_refused);
	tcase_add_test(tc, test_nobody_yet);
	tcase_add_test(tc, test_push_pop);
	tcase_add_test(tc, test_domains);
	tcase_add_test(tc, test_ranges);
	tcase_add_test(tc, test_bounds);
	tcase_add_test(tc, test_cost);
	suite_add_tcase(s, tc);
	return check_run(s);
}
