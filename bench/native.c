/* SPDX-License-Identifier: MIT */
/* What the calling context of compiled code costs a launch, 30 functions deep: bench/native [ROUNDS].
 *
 *   same     the stack of the last launch
 *   leaf     another innermost function
 *   root     another outermost function: all is walked and put into the tree anew
 *   place    what --budget asks of each launch */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "backends/symbols.h"
#include "base/clock.h"
#include "collect/contexts.h"
#include "collect/internal.h"

extern const struct context_source context_native;

static volatile uint32_t node;
static volatile uint64_t hash;
static bool is_place;

#define FUNCTION __attribute__((noinline))
/* Functions are left as they were entered: no jump to the next. */
#define END __asm__ volatile("")

FUNCTION static void ask(void)
{
	if (is_place)
		hash = context_native.innermost(thread_self);
	else
		node = context_native.node(thread_self, 0);
	END;
}

FUNCTION static void leaf_0(unsigned n)
{
	while (n--)
		ask();
	END;
}

FUNCTION static void leaf_1(unsigned n)
{
	while (n--)
		ask();
	END;
}

static void (*volatile leaf)(unsigned n) = leaf_0;

#define LEVEL(n, below)                                                                            \
	FUNCTION static void level_##n(unsigned times)                                             \
	{                                                                                          \
		below(times);                                                                      \
		END;                                                                               \
	}
LEVEL(2, leaf)
LEVEL(3, level_2)
LEVEL(4, level_3)
LEVEL(5, level_4)
LEVEL(6, level_5)
LEVEL(7, level_6)
LEVEL(8, level_7)
LEVEL(9, level_8)
LEVEL(10, level_9)
LEVEL(11, level_10)
LEVEL(12, level_11)
LEVEL(13, level_12)
LEVEL(14, level_13)
LEVEL(15, level_14)
LEVEL(16, level_15)
LEVEL(17, level_16)
LEVEL(18, level_17)
LEVEL(19, level_18)
LEVEL(20, level_19)
LEVEL(21, level_20)
LEVEL(22, level_21)
LEVEL(23, level_22)
LEVEL(24, level_23)
LEVEL(25, level_24)
LEVEL(26, level_25)
LEVEL(27, level_26)
LEVEL(28, level_27)

FUNCTION static void root_0(unsigned n)
{
	level_28(n);
	END;
}

FUNCTION static void root_1(unsigned n)
{
	level_28(n);
	END;
}

static void same(unsigned n)
{
	root_0(n);
}

static void leaves(unsigned n)
{
	for (; n; n--) {
		leaf = n % 2 ? leaf_0 : leaf_1;
		root_0(1);
	}
}

static void roots(unsigned n)
{
	for (; n; n--)
		n % 2 ? root_0(1) : root_1(1);
}

static void place(unsigned n)
{
	is_place = true;
	root_0(n);
	is_place = false;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void measure(const char *name, void (*run)(unsigned n), unsigned rounds)
{
	enum { TIMES = 2000 };
	double *ns = calloc(rounds, sizeof(*ns));

	run(100);
	for (unsigned i = 0; ns && i < rounds; i++) {
		uint64_t began = clock_monotonic_ns();

		run(TIMES);
		ns[i] = (double)(clock_monotonic_ns() - began) / TIMES;
	}
	if (ns) {
		qsort(ns, rounds, sizeof(*ns), by_value);
		printf("%-6s min %6.0f ns  median %6.0f ns a launch\n", name, ns[0],
		       ns[rounds / 2]);
	}
	free(ns);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 200;

	collector = tables_new();
	if (!collector)
		return 1;
	symbols_init();
	thread_self = &collector->thread[0];
	thread_self->tid = (uint32_t)syscall(SYS_gettid);
	measure("same", same, rounds);
	measure("leaf", leaves, rounds);
	measure("root", roots, rounds);
	measure("place", place, rounds);
	return 0;
}
