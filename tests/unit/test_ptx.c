/* SPDX-License-Identifier: MIT */
/* PTX (src/ptx): rules and what they say of mistakes, statements, loops, and what is inserted where: nothing of the text is lost, and
 * what cannot record stays as it was. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "check_main.h"
#include "intra/warp_arena.h"
#include "ptx/flow.h"
#include "ptx/probe.h"

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
#define ENTRY(name, body)                                                                          \
	".visible .entry " name                                                                    \
	"(\n\t.param .u64 p,\n\t.param .u32 n\n)\n.reqntid 128, 1, 1\n{\n" body "}\n"

/* A loop with a barrier, which a thread may leave the kernel from; another one within braces, by a label that is there twice. */
static const char loops[] = HEAD ".file 1 \"src/kernels.py\"\n.file 2 \"lib/standard.py\"\n" ENTRY(
	"loops", "\t.reg .pred %p<4>;\n\t.reg .b32 %r<4>;\n"
		 "\t.loc 1 10 3\n\t// not a label: {\n\tmov.u32 %r1, 0;\n"
		 "$L_head:\n"
		 "\t.loc 2 99 1, function_name $info, inlined_at 1 12 5\n"
		 "\t/* } */\n\tbar.sync 0;\n"
		 "\tadd.u32 %r1, %r1, 1;\n"
		 "\tsetp.gt.u32 %p2, %r1, 7;\n"
		 "\t@%p2 ret;\n"
		 "\t.loc 1 13 1\n\tsetp.lt.u32 %p1, %r1, 5;\n"
		 "\t@%p1 bra $L_head;\n"
		 "\t{\n\t.reg .pred done;\n"
		 "wait:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2;\n"
		 "\t@!done bra wait;\n\t}\n"
		 "\t{\n\t.reg .pred done;\n"
		 "wait:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2;\n"
		 "\t@!done bra wait;\n\t}\n"
		 "\tret;\n");

static struct ptx_rules *rules;
static struct ptx_probed got;
static struct buf why;

static void forget(void)
{
	rules = ptx_rules_free(rules);
	ptx_probed_done(&got);
	buf_done(&why);
}

static void ask(const char *said)
{
	forget();
	ck_assert_msg(ptx_rules_said(said, &rules, &why) == 0, "%s: %s", said, buf_str(&why));
}

static int probe(const char *text, const char *said, const struct ptx_options *options)
{
	ask(said);
	return ptx_probe(text, strlen(text), rules, options, &got);
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

static const char *blanks(const char *s)
{
	return s + strspn(s, " \t");
}

/* Each line of a text is one of the other, in order; `but` of them are changed. */
static void is_all_there(const char *text, const char *in, unsigned but)
{
	unsigned n_missing = 0;

	for (size_t len; *text; text += len + (text[len] == '\n')) {
		const char *at = in;

		len = strcspn(text, "\n");
		text = blanks(text);
		len = strcspn(text, "\n");
		for (; *at; at = strchrnul(at, '\n') + (*strchrnul(at, '\n') == '\n'))
			if (strcspn(blanks(at), "\n") == len && !memcmp(blanks(at), text, len))
				break;
		if (*at)
			in = strchrnul(at, '\n');
		else if (len && ++n_missing > but)
			ck_abort_msg("not there: '%.*s'", (int)len, text);
	}
	ck_assert_uint_eq(n_missing, but);
}

/* ---- rules ---- */

START_TEST(says_what_is_wrong)
{
	static const struct {
		const char *said, *why;
	} wrong[] = {
		{"fnc", "'fnc' is no rule; did you mean 'func'?"},
		{"loop:iters", "'loop:iters' is no rule; did you mean 'loop:iter'?"},
		{"zzzzzz",
		 "'zzzzzz' is no rule; there are "
		 "func, loop, loop:iter, loc, bar, wait, mma, wgmma, tma, ld, st, label, match, kernel, skip, limit"},
		{"func 3", "'func 3': takes nothing"},
		{"loc a.py", "'loc a.py': takes FILE:LINE or FILE:LINE-LINE"},
		{"loc a.py:9-3", "'loc a.py:9-3': these are no lines"},
		{"loc a.py:0", "'loc a.py:0': takes FILE:LINE or FILE:LINE-LINE"},
		{"label", "'label': takes the name of a label"},
		{"match (", "'match (': Unmatched ( or \\("},
		{"match ((a{1,200}){1,200}){1,200}",
		 "'match ((a{1,200}){1,200}){1,200}': it is too large, or repeats too much"},
		{"limit x", "'limit x': takes a number"},
		{"kernel", "'kernel': takes a pattern of names"},
		{"/nowhere/x.rules",
		 "cannot read rules from '/nowhere/x.rules': No such file or directory"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		forget();
		ck_assert_int_lt(ptx_rules_said(wrong[i].said, &rules, &why), 0);
		ck_assert_str_eq(buf_str(&why), wrong[i].why);
	}
}
END_TEST

START_TEST(reads_rules)
{
	ask("# of the product\nfunc # all, of it\nloop=\n\tloc x/a.py:3-5\nmatch ^fma,|add # 1\nkernel a*, skip=ab*\nlimit 7");
	ck_assert_uint_eq(rules->n, 4);
	ck_assert_int_eq(rules->rule[2].anchor, PTX_LOC);
	ck_assert_str_eq(rules->rule[2].text, "x/a.py");
	ck_assert_uint_eq(rules->rule[2].first, 3);
	ck_assert_uint_eq(rules->rule[2].last, 5);
	ck_assert_str_eq(rules->rule[3].text, "^fma,|add # 1");
	ck_assert_uint_eq(rules->limit, 7);
	ck_assert(ptx_rules_want(rules, "ac") && !ptx_rules_want(rules, "abc"));
	ck_assert(!ptx_rules_want(rules, "b"));
	ask("kernel x"); /* what of it was not said */
	ck_assert_uint_eq(rules->n, 2);
}
END_TEST

/* ---- reading ---- */

START_TEST(reads_statements)
{
	static const char text[] =
		HEAD "// .entry no() {\n.extern .shared .align 16 .b8 all[];\n"
		     ".shared .align 4 .f32 some[4][8];\n"
		     ".global .align 1 .b8 x[3] = {1, 2, 3};\n"
		     ".section .debug { .b8 1 { } }\n"
		     ".func (.param .b32 r) called(.param .b32 a) { ret; }\n"
		     ".entry k() .maxntid 64, 2 .pragma \"x\"; {\n"
		     "\tcall (r), called, (a);\n\tld.v2.f32 {%f1, %f2}, [p+\"}\"];\n}\n";
	struct ptx_text t;

	ck_assert_int_eq(ptx_text_read(text, strlen(text), &t), 0);
	ck_assert_uint_eq(t.chip, 90);
	ck_assert_uint_eq(t.n_functions, 2);
	ck_assert(ptx_span_is(t.function[0].name, "called") && !t.function[0].is_entry);
	ck_assert(ptx_span_is(t.function[1].name, "k") && t.function[1].is_entry);
	ck_assert_uint_eq(t.function[1].n_threads, 128);
	ck_assert_uint_eq(t.function[1].n, 2);
	ck_assert_uint_eq(t.n_shared, 2);
	ck_assert(ptx_span_is(t.shared[0].name, "all") && !t.shared[0].bytes);
	ck_assert(ptx_span_is(t.shared[1].name, "some") && t.shared[1].bytes == 128);
	ptx_text_done(&t);
}
END_TEST

START_TEST(finds_loops)
{
	struct ptx_text t;
	struct ptx_flow f;

	ck_assert_int_eq(ptx_text_read(loops, strlen(loops), &t), 0);
	ck_assert_int_eq(ptx_flow_read(&t, &t.function[0], &f), 0);
	ck_assert_uint_eq(f.n_loops, 3);
	ck_assert_uint_eq(f.n_unclear, 0);
	ck_assert_uint_eq(f.loop[0].n_blocks, 2);
	ptx_flow_done(&f);
	ptx_text_done(&t);
}
END_TEST

START_TEST(finds_tables_and_knots)
{
	static const char text[] =
		HEAD ENTRY("k", "\tbrx.idx %r1, table;\ntable: .branchtargets A, B;\n"
				"A:\n\tmov.u32 %r1, 1;\nB:\n\t@%p1 bra A;\n\tbra nowhere;\n");
	struct ptx_text t;
	struct ptx_flow f;

	ck_assert_int_eq(ptx_text_read(text, strlen(text), &t), 0);
	ck_assert_int_eq(ptx_flow_read(&t, &t.function[0], &f), 0);
	ck_assert_uint_eq(f.block[0].n_out, 2);
	ck_assert_uint_eq(f.n_loops, 0); /* by two ways in */
	ck_assert_uint_eq(f.n_unclear, 2);
	ptx_flow_done(&f);
	ptx_text_done(&t);
}
END_TEST

enum { BLOCKS_MOST = 24 };

/* Is a block come to, without coming by another? */
static bool is_come_to(const struct ptx_flow *f, uint32_t block, uint32_t without)
{
	bool seen[BLOCKS_MOST] = {false};
	uint32_t stack[BLOCKS_MOST], depth = 0;

	if (without == 0)
		return false;
	seen[stack[depth++] = 0] = true;
	while (depth) {
		const struct ptx_block *b = &f->block[stack[--depth]];

		for (uint32_t i = b->out; i < b->out + b->n_out; i++) {
			uint32_t to = f->edge[i].to;

			if (to != without && !seen[to])
				seen[stack[depth++] = to] = true;
		}
	}
	return seen[block];
}

/* Whatever else all ways to a block come by, all ways to what is above it do, too. */
static void is_above(const struct ptx_flow *f, uint32_t block)
{
	uint32_t above = f->block[block].above;

	ck_assert((above == PTX_NONE) == !is_come_to(f, block, PTX_NONE));
	if (above == PTX_NONE || !block)
		return;
	ck_assert(above != block && !is_come_to(f, block, above));
	for (uint32_t i = 0; i < f->n_blocks; i++)
		if (i != block && i != above && !is_come_to(f, block, i))
			ck_assert(!is_come_to(f, above, i));
}

START_TEST(finds_what_is_above)
{
	uint64_t seed = 4711;
	struct ptx_text t;
	struct ptx_flow f;

	for (unsigned turn = 0; turn < 500; turn++) {
		_cleanup_(buf_done) struct buf text = {0};
		unsigned n = 1 + turn % BLOCKS_MOST;

		buf_puts(&text, HEAD ".visible .entry k()\n{\n");
		for (unsigned i = 0; i < n; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1;
			buf_printf(&text, "L%u:\n%sbra L%u;\n", i, seed >> 62 ? "@%p1 " : "",
				   (unsigned)(seed >> 33) % n);
		}
		buf_puts(&text, "}\n");
		ck_assert_int_eq(ptx_text_read(text.data, text.len, &t), 0);
		ck_assert_int_eq(ptx_flow_read(&t, &t.function[0], &f), 0);
		ck_assert_uint_eq(f.n_blocks, n);
		for (uint32_t i = 0; i < n; i++)
			is_above(&f, i);
		ptx_flow_done(&f);
		ptx_text_done(&t);
	}
}
END_TEST

/* The innermost braces around a branch have the label that it means, if they have one. */
START_TEST(finds_labels_by_braces)
{
	static const char text[] =
		HEAD ENTRY("k", "A:\n\tmov.u32 %r1, 1;\n\t{\nA:\n\t@%p1 bra A;\n\t}\n"
				"\t{\nB:\n\t@%p1 bra A;\n\t@%p1 bra B;\n\t}\n\t@%p1 bra B;\n");
	struct ptx_text t;
	struct ptx_flow f;

	ck_assert_int_eq(ptx_text_read(text, strlen(text), &t), 0);
	ck_assert_int_eq(ptx_flow_read(&t, &t.function[0], &f), 0);
	ck_assert_uint_eq(f.n_loops, 3); /* to each of them from within */
	ck_assert_uint_eq(f.n_unclear, 1);
	ptx_flow_done(&f);
	ptx_text_done(&t);
}
END_TEST

/* ---- inserting ---- */

static const char *name_of(size_t place)
{
	ck_assert_uint_lt(place, got.n_places);
	return got.place[place].scope;
}

START_TEST(probes_kernel_and_loops)
{
	ck_assert_int_eq(probe(loops, "func,loop", NULL), 0);
	ck_assert_uint_eq(got.n_probed, 1);
	ck_assert_uint_eq(got.n_places, 2); /* loops that wait are none */
	ck_assert_str_eq(name_of(0), "func");
	ck_assert_str_eq(name_of(1), "loop@kernels.py:12");
	ck_assert_str_eq(got.place[1].file, "kernels.py");
	/* Entered once; left where it ends, and before the thread does within it. */
	ck_assert_uint_eq(count(buf_str(&got.text), "mov.u32 %proton_c1, %clock"), 1);
	ck_assert_uint_eq(count(buf_str(&got.text), "%proton_c1, %proton_b"), 2);
	ck_assert_uint_eq(count(buf_str(&got.text), "atom.global.add"), 2);
	ck_assert_uint_eq(count(buf_str(&got.text), "fence."), 0); /* nothing is waited for */
	is_all_there(loops, buf_str(&got.text), 0);
}
END_TEST

/* As it begins, and one instruction of four threads at its end: what has neither loops nor calls, one end, and no scope but itself; where
 * somebody profiles it in any case. */
START_TEST(takes_room_as_short_kernels_begin)
{
	static const struct {
		const char *rules, *text;
		bool is_short;
	} kernels[] = {
		{"func,loop", HEAD ENTRY("k", "\t@%p2 bra A;\n\tmov.u32 %r1, 1;\nA:\n\tret;\n"),
		 true},
		{"func", HEAD ENTRY("k", "\tmov.u32 %r1, 1;\n"), true},
		{"func", HEAD ENTRY("k", "\t@%p1 ret;\n"), false},
		{"func", HEAD ENTRY("k", "\t@%p1 bra A;\n\texit;\nA:\n\tret;\n"), false},
		{"func", HEAD ENTRY("k", "A:\n\tadd.u32 %r1, %r1, 1;\n\t@%p1 bra A;\n\tret;\n"),
		 false},
		{"func",
		 HEAD ".func called()\n{\n\tret;\n}\n" ENTRY("k", "\tcall called;\n\tret;\n"),
		 false},
		{"func,bar", HEAD ENTRY("k", "\tbar.sync 0;\n\tret;\n"), false},
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(kernels); i++) {
		const struct ptx_options options = {.is_for_run = i % 2};
		const char *text = kernels[i / 2].text, *made;

		ck_assert_int_eq(probe(text, kernels[i / 2].rules, &options), 0);
		made = buf_str(&got.text);
		ck_assert_msg(count(made, "activemask") == (i % 2 && kernels[i / 2].is_short),
			      "%zu: %s", i, made);
		is_all_there(text, made, 0);
	}
}
END_TEST

START_TEST(probes_what_is_asked)
{
	static const struct {
		const char *said;
		unsigned n;
		const char *first;
	} asked[] = {
		{"bar", 1, "bar@kernels.py:12"},
		{"wait", 2, "wait@kernels.py:13"},
		{"loop:iter", 1, "iter@kernels.py:12"},
		{"loc kernels.py:12", 1, "kernels.py:12"},
		{"loc standard.py:90-100", 1, "standard.py:90-100"},
		{"label $L_head", 1, "$L_head"},
		{"match ^(add|setp\\.lt)", 2, "match@kernels.py:12"},
		{"func,loop,bar,limit=2", 2, "func"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		ck_assert_int_eq(probe(loops, asked[i].said, NULL), 0);
		ck_assert_msg(got.n_places == asked[i].n, "%s: %zu", asked[i].said, got.n_places);
		ck_assert_str_eq(name_of(0), asked[i].first);
		is_all_there(loops, buf_str(&got.text), 0);
	}
	ck_assert_uint_eq(got.kernel[0].n_over, 1);
	ck_assert_str_eq(got.kernel[0].note, "1 places more than the limit are not probed");
}
END_TEST

/* There are 2^18 things that scopes are known by. */
START_TEST(more_scopes_than_can_be_told_apart)
{
	_cleanup_(buf_done) struct buf text = {0};

	buf_puts(&text, HEAD ".visible .entry many()\n{\n.reg .b32 %r<2>;\n");
	for (unsigned i = 0; i < 140000; i++)
		buf_puts(&text, "add.u32 %r1, %r1, 1;\nmul.lo.u32 %r1, %r1, 3;\n");
	buf_puts(&text, "ret;\n}\n.visible .entry few()\n{\n.reg .b32 %r<2>;\n");
	buf_puts(&text, "add.u32 %r1, %r1, 1;\nret;\n}\n");
	ck_assert_int_eq(probe(buf_str(&text), "limit=1000000,match ^add", NULL), 0);
	ck_assert_uint_eq(got.n_kernels, 2);
	ck_assert_str_eq(got.kernel[0].why, "its module has more scopes than can be told apart");
	ck_assert_ptr_null(got.kernel[1].why);
	ck_assert_uint_eq(got.n_places, 1);
	is_all_there(buf_str(&text), buf_str(&got.text), 0);
}
END_TEST

START_TEST(names_what_is_called)
{
	static const char text[] =
		HEAD ".func (.param .b32 r) twice(.param .b32 x)\n{\n\tret;\n}\n"
		     ".func once()\n{\n\tret;\n}\n.func unused()\n{\n\tret;\n}\n"
		     ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n" ENTRY(
			     "k", "\t.reg .b64 %rd<2>;\n\t{\n\t.param .b32 r;\n"
				  "\tcall.uni (r), twice, (r);\n\tcall (r),\n\ttwice,\n(r);\n"
				  "\tcall once;\n\tcall.uni (r), vprintf, (r, r);\n"
				  "\tcall (r), %rd1, (r), prototype;\n\t}\n\tret;\n")
			     ENTRY("none", "\tret;\n");

	ck_assert_int_eq(probe(text, "func", NULL), 0);
	ck_assert_uint_eq(got.n_probed, 2);
	ck_assert_str_eq(
		got.kernel[0].note,
		"functions that it calls are not probed, as they have not its registers: twice, once");
	ck_assert_ptr_null(got.kernel[1].note);
}
END_TEST

START_TEST(leads_branches_round)
{
	static const char text[] =
		HEAD ENTRY("k", "\t@%p1 bra OUT;\nA:\n\tadd.u32 %r1, %r1, 1;\n\t@%p2 bra OUT;\n"
				"\t@%p1 bra A;\nOUT:\n\tret;\n");

	ck_assert_int_eq(probe(text, "loop", NULL), 0);
	is_all_there(text, buf_str(&got.text), 1); /* one of the branches to OUT leaves the loop */
	ck_assert_uint_eq(count(buf_str(&got.text), "@%p2 bra $proton_to_0_0;"), 1);
	ck_assert_uint_eq(count(buf_str(&got.text), "\tbra OUT;\n"), 1);
	ck_assert_uint_eq(count(buf_str(&got.text), "@%p1 bra OUT;"), 1);
}
END_TEST

START_TEST(keeps_groups_of_wgmma_whole)
{
	static const char text[] = HEAD ENTRY(
		"k",
		"\tmov.u32 %r1, 1;\n\twgmma.fence.sync.aligned;\n\tadd.u32 %r1, %r1, 1;\n"
		"\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %d1, %d2, p, 1, 1, 0, 0;\n"
		"\twgmma.commit_group.sync.aligned;\n\tret;\n");
	const char *fence, *commit, *clock;

	ck_assert_int_eq(probe(text, "match ^add", NULL), 0);
	ck_assert_uint_eq(got.n_places, 1);
	fence = strstr(buf_str(&got.text), "wgmma.fence");
	commit = strstr(fence, "wgmma.commit_group");
	clock = strstr(buf_str(&got.text), "mov.u32 %proton_c0, %clock");
	ck_assert(clock < fence && !memmem(fence, (size_t)(commit - fence), "proton_", 7));
	ck_assert_int_eq(probe(text, "wgmma", NULL), 0);
	ck_assert_uint_eq(got.n_places, 1);
}
END_TEST

START_TEST(takes_memory_as_told)
{
	static const char open[] = HEAD ".extern .shared .align 16 .b8 all[];\n" ENTRY(
		"k", "\tmov.u32 %r1, all;\n\tret;\n");
	const struct ptx_options shared = {.buffer = PTX_BUFFER_SHARED, .records = 16},
				 few = {.bytes = 1024, .warps = 0x3, .ctas = 8, .cta = 3},
				 odd = {.records = 12};

	ck_assert_int_eq(probe(loops, "func,loop", NULL), 0);
	ck_assert_int_eq(got.kernel[0].buffer, PTX_BUFFER_SHARED);
	ck_assert_uint_eq(got.kernel[0].shared_bytes, 5 * (16 + 512));
	ck_assert_int_eq(probe(open, "match ^mov", NULL), 0);
	ck_assert_int_eq(got.kernel[0].buffer, PTX_BUFFER_GLOBAL);
	ck_assert_ptr_nonnull(strstr(buf_str(&got.text), "proton_rings["));
	ck_assert_int_eq(probe(open, "match ^mov", &shared),
			 0); /* what follows stays where it was */
	ck_assert_uint_eq(got.kernel[0].shared_bytes % 1024, 0);
	ck_assert_int_eq(probe(loops, "func,loop", &few), 0);
	ck_assert_uint_eq(got.kernel[0].shared_bytes, 5 * (16 + 512));
	ck_assert_ptr_nonnull(strstr(buf_str(&got.text), "rem.u32 %proton_a, %proton_a, 8;"));
	ck_assert_int_eq(probe(loops, "func", &odd), -EINVAL);
	ck_assert_int_eq(probe(open, "func", &shared),
			 0); /* with nothing within, nothing is kept */
	ck_assert_int_eq(got.kernel[0].buffer, PTX_BUFFER_NONE);
	ck_assert_uint_eq(got.kernel[0].shared_bytes, 0);
	ck_assert(!strstr(buf_str(&got.text), "proton_rings") &&
		  !strstr(buf_str(&got.text), "proton_block"));
}
END_TEST

START_TEST(leaves_what_cannot_record)
{
	static const struct {
		const char *text, *said, *why;
	} not [] = {
		{HEAD ENTRY("k", "\tret;\n"), "loop", "it has nothing of what the rules name"},
		{HEAD ENTRY("k", "\tret;\n"), "skip k", "the rules leave it out"},
		{".version 8.0\n.target sm_90\n.address_size 32\n" ENTRY("k", "\tret;\n"), "func",
		 "its addresses do not have 64 bits"},
		{".version 6.0\n.target sm_61\n.address_size 64\n" ENTRY("k", "\tret;\n"), "func",
		 "it is for chips older than sm_70"},
		{".version 6.1\n.target sm_70\n.address_size 64\n" ENTRY("k", "\tret;\n"), "func",
		 "its PTX is older than 6.2"},
		{HEAD ENTRY("k", "\tld.global.u64 %rd1, [x_proton_kernel_arena_1E];\n\tret;\n"),
		 "func", "it records by <proton/kernel.cuh>"},
	};
	const struct ptx_options shared = {.buffer = PTX_BUFFER_SHARED};

	for (size_t i = 0; i < ARRAY_SIZE(not ); i++) {
		ck_assert_int_eq(probe(not [i].text, not [i].said, NULL), 0);
		ck_assert_str_eq(got.kernel[0].why, not [i].why);
		ck_assert_str_eq(buf_str(&got.text), not [i].text);
	}
	ck_assert_int_eq(
		probe(HEAD ENTRY("k", "\t.shared .b8 x[48000];\n\tmov.u32 %r1, 0;\n\tret;\n"),
		      "match ^mov", &shared),
		0);
	ck_assert_str_eq(got.kernel[0].why, "there is no room in its shared memory for records");
	ck_assert_int_eq(probe("int main() {}", "func", NULL), -EBADMSG);
	ck_assert_int_eq(probe(HEAD ".entry k() {\n", "func", NULL), -EBADMSG);
}
END_TEST

START_TEST(probes_once)
{
	char *text;

	ck_assert_int_eq(probe(loops, "func", NULL), 0);
	text = strdup(buf_str(&got.text));
	ck_assert_int_eq(probe(text, "func", NULL), -EALREADY);
	ck_assert_str_eq(ptx_probe_error(-EALREADY), "it records already");
	free(text);
}
END_TEST

/* As the header has them: "func" is known by the same number. */
START_TEST(names_scopes)
{
	ck_assert_int_eq(probe(loops, "func", NULL), 0);
	ck_assert_ptr_nonnull(
		strstr(buf_str(&got.text), "[21] = {80, 82, 84, 78, 83, 67, 80, 49, "));
	ck_assert_ptr_nonnull(strstr(buf_str(&got.text), ", 0, 0, 0, 0, 102, 117, 110, 99, 0};"));
	ck_assert_uint_eq(count(buf_str(&got.text), ".global .align 8 .u64 " WARP_ARENA_SYMBOL ";"),
			  1);
}
END_TEST

static Suite *ptx_suite(void)
{
	Suite *s = suite_create("ptx");
	TCase *c = tcase_create("ptx");

	tcase_add_test(c, says_what_is_wrong);
	tcase_add_test(c, reads_rules);
	tcase_add_test(c, reads_statements);
	tcase_add_test(c, finds_loops);
	tcase_add_test(c, finds_tables_and_knots);
	tcase_add_test(c, finds_what_is_above);
	tcase_add_test(c, finds_labels_by_braces);
	tcase_add_test(c, probes_kernel_and_loops);
	tcase_add_test(c, takes_room_as_short_kernels_begin);
	tcase_add_test(c, probes_what_is_asked);
	tcase_add_test(c, more_scopes_than_can_be_told_apart);
	tcase_add_test(c, names_what_is_called);
	tcase_add_test(c, leads_branches_round);
	tcase_add_test(c, keeps_groups_of_wgmma_whole);
	tcase_add_test(c, takes_memory_as_told);
	tcase_add_test(c, leaves_what_cannot_record);
	tcase_add_test(c, probes_once);
	tcase_add_test(c, names_scopes);
	tcase_add_unchecked_fixture(c, NULL, forget);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return check_run(ptx_suite());
}
