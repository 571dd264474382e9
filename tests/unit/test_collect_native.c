/* SPDX-License-Identifier: MIT */
/* Stacks of compiled code, held against those that glibc finds; and what is no stack. */
#include "config.h" // IWYU pragma: keep
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "backends/symbols.h"
#include "collect/internal.h"
#include "collect/native_cfi.h"
#include "collect/native_modules.h"
#include "collect/native_walk.h"
#include "test_collect.h"

#if defined(__x86_64__)
enum { N = NATIVE_FRAMES_MAX };

static struct native_walker *walker;

static void begin(void)
{
	rig_start();
	thread_state();
	symbols_init();
	walker = mmap(NULL, native_walker_size(), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(walker, MAP_FAILED);
}

/* From its caller on, the frames are those of backtrace(). How many. */
__attribute__((noinline)) static unsigned compare(void)
{
	const struct native_registers here = NATIVE_REGISTERS_HERE();
	struct native_frame frames[N];
	void *all[N + 4], **wanted = all;
	int n_wanted = backtrace(all, N + 4);
	bool ended;
	unsigned n = native_walk(walker, &here, N, frames, &ended);

	/* A sanitizer's runtime has a frame of its own in there. */
	for (; n_wanted && (uintptr_t)*wanted != here.pc; n_wanted--)
		wanted++;
	ck_assert_int_gt(n_wanted, 2);
	n_wanted = MIN(n_wanted, (int)N);
	for (unsigned i = 0; i < n && i < (unsigned)n_wanted; i++) {
		/* It is behind the call, but where a signal came. */
		uintptr_t at = (uintptr_t)wanted[i];

		ck_assert_msg(frames[i].at + 1 == at || frames[i].at == at,
			      "frame %u: %lx, not %lx", i, (unsigned long)frames[i].at,
			      (unsigned long)at);
	}
	ck_assert_uint_eq(n, (unsigned)n_wanted);
	ck_assert(ended == (n < N) || n == N);
	return n;
}

__attribute__((noinline)) static unsigned deeper(int levels)
{
	/* Of a size that only the running program knows: the frame is found by its frame pointer. */
	volatile char *room = __builtin_alloca((size_t)levels * 16 + 16);
	unsigned n;

	room[0] = 0;
	n = levels ? deeper(levels - 1) : compare();
	room[levels] = 0;
	return n;
}

__attribute__((noinline)) static int compare_elements(const void *a, const void *b)
{
	compare();
	__asm__ volatile("");
	return 0;
}

START_TEST(frames_are_those_of_glibc)
{
	int v[2] = {2, 1};
	unsigned n;

	begin();
	n = compare();
	ck_assert_uint_eq(deeper(10), n + 11);
	qsort(v, 2, sizeof(*v), compare_elements); /* libc calls back */
}
END_TEST

static void *compare_thread(void *unused)
{
	walker = calloc(1, native_walker_size());
	ck_assert_ptr_nonnull(walker);
	thread_state();
	for (int i = 0; i < 100; i++)
		deeper(i % 20);
	free(walker);
	return NULL;
}

START_TEST(of_other_threads_too)
{
	pthread_t t;

	begin();
	for (int i = 0; i < 4; i++) { /* one at a time: `walker` is the one that runs */
		ck_assert_int_eq(pthread_create(&t, NULL, compare_thread, NULL), 0);
		pthread_join(t, NULL);
	}
}
END_TEST

#if !defined(__SANITIZE_THREAD__) /* which complains of how tests speak */
static void on_signal(int signal)
{
	compare();
}

START_TEST(signals_are_passed_through)
{
	static char memory[1 << 17];
	stack_t other = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_handler = on_signal};

	begin();
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	raise(SIGUSR1);
	ck_assert_int_eq(sigaltstack(&other, NULL), 0);
	action.sa_flags = SA_ONSTACK;
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	raise(SIGUSR1);
}
END_TEST
#endif

/* ---- the same again ---- */

__attribute__((noinline)) static bool is_same(bool walk)
{
	const struct native_registers here = NATIVE_REGISTERS_HERE();
	struct native_frame frames[N];
	bool same = native_walk_is_same(walker, &here), ended;

	if (walk)
		native_walk(walker, &here, N, frames, &ended);
	return same;
}

__attribute__((noinline)) static bool from_one_place(bool walk)
{
	bool same = is_same(walk);

	__asm__ volatile("");
	return same;
}

/* Not known when this is compiled, so that a loop of so many has one call in it. */
static volatile int three = 3;

START_TEST(the_same_stack_is_known_again)
{
	begin();
	for (int i = 0; i < three; i++)
		ck_assert(from_one_place(true) == (i > 0));
	for (int i = 0; i < three; i++) /* from another line */
		ck_assert(from_one_place(true) == (i > 0));
	ck_assert(!from_one_place(false));
}
END_TEST

/* ---- what is no stack ---- */

static uint64_t next_random(uint64_t *v)
{
	*v ^= *v << 13;
	*v ^= *v >> 7;
	*v ^= *v << 17;
	return *v;
}

/* Words that may lie on a stack: addresses of code and of the stack, of nothing, small numbers. */
static uint64_t any_word(uint64_t *v, const uint64_t *stack, size_t n)
{
	uint64_t r = next_random(v);

	switch (r % 6) {
	case 0:
		return (uintptr_t)malloc + r % 65536;
	case 1:
		return (uintptr_t)compare + r % 4096;
	case 2:
		return (uintptr_t)(stack + r % n);
	case 3:
		return r;
	case 4:
		return r % 4096;
	default:
		return (uintptr_t)&stack | 7;
	}
}

/* A stack pointer that is the thread's own: all words above it are read where they lie. */
START_TEST(rubbish_is_no_fault)
{
	struct native_frame frames[N];
	uint64_t random = UINT64_C(88172645463325252), stack[512];
	struct native_registers from;
	bool ended;

	begin();
	for (int round = 0; round < 3000; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(stack); i++)
			stack[i] = any_word(&random, stack, ARRAY_SIZE(stack));
		from.pc = any_word(&random, stack, ARRAY_SIZE(stack));
		from.sp = round % 4 ? (uintptr_t)&stack[round % 64]
				    : any_word(&random, stack, ARRAY_SIZE(stack));
		from.fp = any_word(&random, stack, ARRAY_SIZE(stack));
		ck_assert_uint_le(native_walk(walker, &from, N, frames, &ended), N);
		native_walk_is_same(walker, &from);
	}
}
END_TEST

/* ---- tables ---- */

/* Of each address of libc's code there is a rule, but where hand-written code has none. */
START_TEST(rules_of_libc_are_known)
{
	static struct native_cfi_scratch scratch;
	uintptr_t at = (uintptr_t)malloc & ~(uintptr_t)4095;
	struct module m;
	unsigned n = 0, n_known = 0;

	begin();
	m = module_of((const void *)at);
	ck_assert_ptr_nonnull(m.unwinding);
	for (uintptr_t end = at + 65536; at < end; at += 13, n++)
		n_known +=
			native_cfi_rule((uintptr_t)m.unwinding, at, &scratch).cfa_is != CFA_UNKNOWN;
	ck_assert_uint_gt(n_known, n * 8 / 10); /* the rest lies between functions */
}
END_TEST

START_TEST(broken_tables_are_no_rule_and_no_fault)
{
	static struct native_cfi_scratch scratch;
	static union {
		uint8_t bytes[4096];
		int32_t words[1024];
	} table;
	uint64_t random = UINT64_C(362436069362436069);
	struct native_rule rule;

	for (int round = 0; round < 20000; round++) {
		for (size_t i = 0; i < sizeof(table); i += 8) {
			uint64_t r = next_random(&random);

			memcpy(table.bytes + i, &r, 8);
		}
		memcpy(table.bytes, "\1\x1b\x03\x3b", 4);
		table.words[2] = round % 3 ? 1 : (int32_t)(random % 200);
		table.words[3] = -(int32_t)(random % 64);
		table.words[4] = 64;   /* the function's FDE lies there … */
		table.words[16] = 256; /* … is so long … */
		table.words[17] = round % 2 ? 68 - 1024 : 68 - 2048;
		table.words[256] = table.words[512] = 64;
		table.words[257] = table.words[513] = 0;
		if (round % 5)
			memcpy(&table.bytes[1032], "\1zR\0\1\x78\x10\1\x1b", 9);
		rule = native_cfi_rule((uintptr_t)&table, (uintptr_t)&table, &scratch);
		ck_assert_uint_le(rule.cfa_is, CFA_SIGNAL);
	}
}
END_TEST
#endif

TCase *collect_native_case(void)
{
	TCase *tc = tcase_create("native");

#if defined(__x86_64__)
	tcase_add_test(tc, frames_are_those_of_glibc);
	tcase_add_test(tc, of_other_threads_too);
#if !defined(__SANITIZE_THREAD__)
	tcase_add_test(tc, signals_are_passed_through);
#endif
	tcase_add_test(tc, the_same_stack_is_known_again);
	tcase_add_test(tc, rubbish_is_no_fault);
	tcase_add_test(tc, rules_of_libc_are_known);
	tcase_add_test(tc, broken_tables_are_no_rule_and_no_fault);
#endif
	return tc;
}
