/* SPDX-License-Identifier: MIT */
/* Readable names: what tells kernels apart stays, and no two kernels of a profile have one name.
 *
 * tests/names/kernels.tsv holds names of real kernels (PyTorch, cuBLAS, cuDNN, JAX, CuPy and Triton as
 * run on an H200; vLLM, FlashAttention, CUTLASS, CUB and Thrust as in libraries) with the expected short ones,
 * traces.tsv those of public traces of PyTorch's profiler, NVIDIA's and AMD's. PROTON_GOLDEN=update writes
 * the short ones anew. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "check_main.h"
#include "core/frame_names.h"
#include "naming/apart.h"
#include "naming/brief.h"
#include "naming/demangle.h"
#include "naming/fit.h"
#include "naming/metric_heads.h"
#include "naming/readable.h"
#include "naming/rules.h"
#include "naming/signature.h"
#include "naming/table.h"

#define LIST_MAX 4096

struct list {
	char *text;
	struct {
		char *brief, *raw;
	} v[LIST_MAX];
	unsigned n;
};

static void list_done(struct list *l)
{
	free(l->text);
	l->text = NULL;
}

static const char *const lists[] = {NAMES "/kernels.tsv", NAMES "/traces.tsv"};

static void list_read(struct list *l, const char *path)
{
	FILE *in = fopen(path, "r");
	struct buf text = {0};
	char *line, *rest;
	int c;

	ck_assert_ptr_nonnull(in);
	while ((c = getc(in)) != EOF)
		buf_putc(&text, (char)c);
	fclose(in);
	l->text = strdup(buf_str(&text));
	buf_done(&text);
	rest = l->text;
	while ((line = strsep(&rest, "\n")) && *line) {
		ck_assert_uint_lt(l->n, LIST_MAX);
		l->v[l->n].raw = strchr(line, '\t');
		ck_assert_ptr_nonnull(l->v[l->n].raw);
		*l->v[l->n].raw++ = '\0';
		l->v[l->n++].brief = line;
	}
	ck_assert_uint_gt(l->n, 500);
}

static char *name_at(const char *raw, unsigned level)
{
	char *name = readable_name(raw, FRAME_KERNEL, level);

	return name ? name : strdup(raw);
}

static void list_write(struct list *l, const char *path)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	for (unsigned i = 0; i < l->n; i++) {
		char *name = name_at(l->v[i].raw, 0);

		fprintf(out, "%s\t%s\n", name, l->v[i].raw);
		free(name);
	}
	fclose(out);
}

START_TEST(short_names_of_real_kernels)
{
	const char *mode = getenv("PROTON_GOLDEN");
	struct list l = {0};

	list_read(&l, lists[_i]);
	if (mode && !strcmp(mode, "update"))
		list_write(&l, lists[_i]);
	else
		for (unsigned i = 0; i < l.n; i++) {
			char *name = name_at(l.v[i].raw, 0);

			ck_assert_msg(!strcmp(name, l.v[i].brief), "%s\nis  %s\nnot %s", l.v[i].raw,
				      name, l.v[i].brief);
			free(name);
		}
	list_done(&l);
}
END_TEST

/* ---- names of a profile ---- */

static uint32_t add(struct session *s, const char *raw, enum frame_kind kind)
{
	uint32_t frame =
		session_frame_intern(s, kind, strtab_adds(s->strings, raw), SESSION_NONE, 0);

	return session_node_intern(s, SESSION_ROOT, frame);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static unsigned ambiguous(char **names, unsigned n)
{
	unsigned found = 0;

	qsort(names, n, sizeof(*names), compare);
	for (unsigned i = 0; i < n; i++)
		found += (i > 0 && !strcmp(names[i], names[i - 1])) ||
			 (i + 1 < n && !strcmp(names[i], names[i + 1]));
	return found;
}

/* Leave out names whose signature another one is: that is the same kernel. Returns how many are left. */
static unsigned drop_symbols(const struct list *l, char *const names[], char *ret[])
{
	unsigned n = 0;

	for (unsigned i = 0; i < l->n; i++) {
		char *whole = readable_name(l->v[i].raw, FRAME_KERNEL, NAMING_LEVELS - 1);
		unsigned same = whole ? 0 : l->n;

		while (same < l->n && strcmp(l->v[same].raw, whole) != 0)
			same++;
		free(whole);
		if (same == l->n)
			ret[n++] = names[i];
		else
			ck_assert_str_eq(names[i], names[same]);
	}
	return n;
}

START_TEST(no_two_kernels_have_one_name)
{
	static char *alone[LIST_MAX], *together[LIST_MAX], *kernels[LIST_MAX];
	struct session *s = session_new();
	struct frame_names *names = frame_names_new(s, &readable_naming, true);
	struct list l = {0};
	uint32_t nodes[LIST_MAX];
	unsigned before, n;

	list_read(&l, lists[_i]);
	for (unsigned i = 0; i < l.n; i++) {
		nodes[i] = add(s, l.v[i].raw, FRAME_KERNEL);
		alone[i] = l.v[i].brief;
	}
	for (unsigned i = 0; i < l.n; i++)
		together[i] = (char *)frame_names_get(names, nodes[i], NAME_SHORT);
	before = ambiguous(alone, l.n);
	n = drop_symbols(&l, together, kernels);
	printf("%u names of %u kernels: %u alike at their shortest\n", l.n, n, before);
	ck_assert_uint_gt(before, 10); /* or the next line shows nothing */
	ck_assert_uint_eq(ambiguous(kernels, n), 0);
	for (unsigned i = 0; i < n; i++)
		ck_assert_msg(strlen(kernels[i]) < 220, "%s", kernels[i]);
	frame_names_free(names);
	session_free(s);
	list_done(&l);
}
END_TEST

/* Names that come later change those that they are like, in any order, and no others. */
START_TEST(names_that_come_later)
{
	static const char *const raw[] = {
		"void neg<at::f(int)::{lambda(float)#1}>(int)",
		"void neg<at::f(int)::{lambda(double)#1}>(int)",
		"void neg<at::f(int)::{lambda(double)#2}>(int)",
		"void other<4>(int)",
		"neg<f>",
		"void neg<at::f(int)::{lambda(double)#2}>(long)",
	};
	static const char *const wanted[] = {
		"neg<f(float)>", "neg<f#1(double)>", "neg<f#2(double)>(int)",
		"other<4>",      "neg<f>",           "neg<f#2(double)>(long)"};

	for (unsigned first = 0; first < ARRAY_SIZE(raw); first++) {
		struct session *s = session_new();
		struct frame_names *names = frame_names_new(s, &readable_naming, true);
		uint32_t nodes[ARRAY_SIZE(raw)];

		for (unsigned i = 0; i < ARRAY_SIZE(raw); i++) {
			unsigned k = (first + i) % ARRAY_SIZE(raw);

			nodes[k] = add(s, raw[k], FRAME_KERNEL);
			if (i == 0 && k != 3)
				ck_assert_str_eq(frame_names_get(names, nodes[k], NAME_SHORT),
						 "neg<f>");
			frame_names_get(names, nodes[k], NAME_SHORT);
		}
		for (unsigned i = 0; i < ARRAY_SIZE(raw); i++)
			ck_assert_str_eq(strstr(frame_names_get(names, nodes[i], NAME_SHORT),
						wanted[i][0] == 'o' ? "other" : "neg"),
					 wanted[i]);
		frame_names_free(names);
		session_free(s);
	}
}
END_TEST

/* Of two kinds, or the same name in two modules: no name can tell these apart, and none gets longer. */
START_TEST(names_that_nothing_tells_apart)
{
	struct session *s = session_new();
	struct frame_names *names = frame_names_new(s, &readable_naming, true);
	uint32_t kernel = add(s, "void f<std::array<int, 2>, 1>(int)", FRAME_KERNEL);
	uint32_t function = add(s, "void f<std::array<int, 3>, 1>(int)", FRAME_FUNCTION);
	uint32_t scope = add(s, "f(x)", FRAME_SCOPE);
	uint32_t plain = add(s, "g", FRAME_KERNEL), same = add(s, "g", FRAME_FUNCTION);
	uint32_t short_one, another;

	ck_assert_str_eq(frame_names_get(names, kernel, NAME_SHORT), "f<1>");
	ck_assert_str_eq(frame_names_get(names, function, NAME_SHORT), "f<1>");
	ck_assert_str_eq(frame_names_get(names, scope, NAME_SHORT), "f(x)");
	ck_assert_ptr_eq(frame_names_get(names, scope, NAME_RAW), session_node_name(s, scope));
	ck_assert_str_eq(frame_names_get(names, same, NAME_SHORT), "g");
	/* What cannot get longer makes others longer, whoever comes first. */
	short_one = add(s, "void g(int)", FRAME_KERNEL);
	another = add(s, "void h(int)", FRAME_KERNEL);
	ck_assert_str_eq(frame_names_get(names, short_one, NAME_SHORT), "g(int)");
	ck_assert_str_eq(frame_names_get(names, plain, NAME_SHORT), "g");
	ck_assert_str_eq(frame_names_get(names, another, NAME_SHORT), "h");
	plain = add(s, "h", FRAME_KERNEL);
	ck_assert_str_eq(frame_names_get(names, plain, NAME_SHORT), "h");
	ck_assert_str_eq(frame_names_get(names, another, NAME_SHORT), "h(int)");
	frame_names_free(names);
	session_free(s);
}
END_TEST

/* A naming of words: "a:b:c" is "a", then "a:b"; and "c" beside others that are "a". */
static char *word_name(const char *raw, enum frame_kind kind, unsigned level)
{
	const char *end = raw;

	(void)kind;
	for (unsigned i = 0; end && i <= level; i++)
		end = strchr(end + (i > 0), ':');
	return end ? strndup(raw, (size_t)(end - raw)) : NULL;
}

static int words_apart_error;

static int words_apart(const char *const raw[], size_t n, char *ret[], size_t ret_of[])
{
	(void)ret_of;
	for (size_t i = 0; i < n && words_apart_error == 0; i++)
		ret[i] = strchr(raw[i], ':') ? strdup(strrchr(raw[i], ':') + 1) : NULL;
	return words_apart_error;
}

static const struct naming words_naming = {.name = word_name, .apart = words_apart};

/* What tells apart gives way to shortest names and to those that are as they are, whoever comes first and
 * whenever; then a name gets longer. */
START_TEST(names_that_give_way)
{
	static const struct {
		const char *raw, *wanted;
	} names[] = {
		{"a:x:1", "a:x"}, {"a:y:2", "a:y"}, {"a:z:3", "3"}, {"1:q:9", "1"},
		{"2", "2"},       {"b:s:6", "b:s"}, {"b:s:7", "7"}, {"a:w:6", "a:w"},
	};

	for (unsigned first = 0; first < 2 * ARRAY_SIZE(names); first++) {
		struct session *s = session_new();
		struct frame_names *shown = frame_names_new(s, &words_naming, true);
		uint32_t nodes[ARRAY_SIZE(names)];

		for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
			unsigned k = (first + i) % ARRAY_SIZE(names);

			nodes[k] = add(s, names[k].raw, FRAME_KERNEL);
			if (first >= ARRAY_SIZE(names)) /* one after the other */
				frame_names_get(shown, nodes[k], NAME_SHORT);
		}
		for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
			ck_assert_str_eq(frame_names_get(shown, nodes[i], NAME_SHORT),
					 names[i].wanted);
		frame_names_free(shown);
		session_free(s);
	}
}
END_TEST

/* Names that are too long to be compared get longer level by level; without memory they are raw. */
START_TEST(names_that_are_not_compared)
{
	static const struct {
		int error;
		const char *wanted[2];
	} cases[] = {{-E2BIG, {"a:x", "a:y"}}, {-ENOMEM, {"a:x:1", "a:y:2"}}};
	struct session *s = session_new();
	struct frame_names *names = frame_names_new(s, &words_naming, true);
	uint32_t x = add(s, "a:x:1", FRAME_KERNEL), y = add(s, "a:y:2", FRAME_KERNEL);

	words_apart_error = cases[_i].error;
	ck_assert_str_eq(frame_names_get(names, x, NAME_SHORT), cases[_i].wanted[0]);
	if (cases[_i].error == -E2BIG)
		ck_assert_str_eq(frame_names_get(names, y, NAME_SHORT), cases[_i].wanted[1]);
	words_apart_error = 0;
	frame_names_free(names);
	session_free(s);
}
END_TEST

/* ---- one kernel in several forms ---- */

/* A symbol and the signatures that stand for it have the name that each would have alone, and others of
 * that name are told apart from them: whoever comes first, and whether all come at once. */
START_TEST(forms_of_one_kernel)
{
	static const struct {
		const char *raw, *wanted;
	} names[] = {
		{"_ZN2at3negILi4EEEvPf", "at::neg<4>"},
		{"void at::neg<4>(float*)", "at::neg<4>"},
		{"void at::neg<(int)4>(float *)", "at::neg<4>"},
		{"void at::copy<2, S<int, 3> >(int)", "at::copy<2, S<int, 3>>"},
		{"void at::copy<2, S<int, 3>>(int)", "at::copy<2, S<int, 3>>"},
		{"void at::copy<2, S<int, 5> >(int)", "at::copy<2, S<int, 5>>"},
		{"_ZN2at4copyILi2E1SIiLi5EEEEvi", "at::copy<2, S<int, 5>>"},
		{"void at::add<4ul>(float*)<<<1,32>>>", "at::add<4><<<1,32>>>"},
		{"void at::add<(unsigned long)4>(float*)<<<1,32>>>", "at::add<4><<<1,32>>>"},
		{"void at::add<4ul>(float*)<<<2,32>>>", "at::add<4><<<2,32>>>"},
	};

	for (unsigned first = 0; first < 2 * ARRAY_SIZE(names); first++) {
		struct session *s = session_new();
		struct frame_names *shown = frame_names_new(s, &readable_naming, true);
		uint32_t nodes[ARRAY_SIZE(names)];

		for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
			unsigned k = (first + i) % ARRAY_SIZE(names);

			nodes[k] = add(s, names[k].raw, FRAME_KERNEL);
			if (first >= ARRAY_SIZE(names)) /* one after the other */
				frame_names_get(shown, nodes[k], NAME_SHORT);
		}
		for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
			ck_assert_str_eq(frame_names_get(shown, nodes[i], NAME_SHORT),
					 names[i].wanted);
		frame_names_free(shown);
		session_free(s);
	}
}
END_TEST

/* What only looks like another form is none: other types of a number, two symbols of one text. */
START_TEST(forms_of_two_kernels)
{
	static const char *const raw[][2] = {
		{"void k<4>(int)", "void k<4u>(int)"},
		{"void k<(int)4>(int)", "void k<(long)4>(int)"},
		{"void k<true>(int)", "void k<(bool)0>(int)"},
		{"void k<4>(unsigned x)", "void k<4>(unsignedx)"},
		{"_ZN1kC1ILi4EEEv", "_ZN1kC2ILi4EEEv"},
		{"void k<4>(int)<<<1,2>>>", "void k<4>(int)<<<1,3>>>"},
	};
	struct session *s = session_new();
	struct frame_names *names = frame_names_new(s, &readable_naming, true);
	uint32_t a = add(s, raw[_i][0], FRAME_KERNEL), b = add(s, raw[_i][1], FRAME_KERNEL);

	ck_assert_str_ne(frame_names_get(names, a, NAME_SHORT),
			 frame_names_get(names, b, NAME_SHORT));
	frame_names_free(names);
	session_free(s);
}
END_TEST

/* ---- what tells apart ---- */

#define KERNEL  "cutlass::Kernel2<tensorop_align8, "
#define TENSILE "Cijk_Ailk_Bljk_HB_MT64x64x64_MI16x16x1"

static const struct {
	const char *whole[4], *name[4];
} groups[] = {
	/* what differs, and not all that has the same */
	{{KERNEL "cutlass::Layout<3, 1>, cutlass::Layout<3> >",
	  KERNEL "cutlass::Layout<4, 1>, cutlass::Layout<4> >"},
	 {"cutlass::Kernel2<tensorop_align8, Layout<3>>",
	  "cutlass::Kernel2<tensorop_align8, Layout<4>>"}},
	/* types of elements say more than numbers */
	{{"k<F<float, float, std::array<int, 32> > >",
	  "k<F<c10::Half, float, std::array<int, 16> > >"},
	 {"k<F<float>>", "k<F<Half>>"}},
	/* who is alone is asked nothing more */
	{{"k<F<float, int>, std::array<int, 2> >", "k<F<float, int>, std::array<int, 3> >",
	  "k<F<double, int>, std::array<int, 3> >"},
	 {"k<F<float>, array<2>>", "k<F<float>, array<3>>", "k<F<double>>"}},
	/* what a wrapper holds beside its functor, and the wrapper itself */
	{{"k<at::ReduceOp<float, Max, 4> >", "k<at::ReduceOp<float, Max, 8> >",
	  "k<at::transform_iterator<Max> >", "k<Max>"},
	 {"k<ReduceOp<Max, 4>>", "k<ReduceOp<Max, 8>>", "k<transform_iterator<Max>>", "k<Max>"}},
	/* of truths all, for none says which one it is */
	{{"k<A<std::array<int, 1> >, std::array<true, false, true> >",
	  "k<A<std::array<int, 1> >, std::array<true, true, true> >"},
	 {"k<A, array<true, false, true>>", "k<A, array<true, true, true>>"}},
	/* numbers of lambdas when there is nothing else */
	{{"k<f(int)::{lambda(int)#1}>", "k<f(int)::{lambda(int)#2}>"}, {"k<f#1>", "k<f#2>"}},
	/* namespaces, parameters, what stands around */
	{{"k<a::X>", "k<b::X>"}, {"k<a::X>", "k<b::X>"}},
	{{"void k(int, a::X*)", "void k(int, a::Y*)", "void k(long)"}, {"k(X*)", "k(Y*)", "k"}},
	{{"f(int)", "f(int) [clone .1]", "typeinfo for f(int)"},
	 {"f", "f [clone .1]", "typeinfo for f"}},
	/* with the shape of their launch */
	{{"void k<F<float, float> >()<<<4,128>>>", "void k<F<int, int> >()<<<4,128>>>"},
	 {"k<F<float>><<<4,128>>>", "k<F<int>><<<4,128>>>"}},
	/* names made of words: by what the words begin with */
	{{TENSILE "_SN_CLR0_LBSPPA512_MIWT4_8", TENSILE "_SN_CLR0_LBSPPA512_MIWT4_2",
	  TENSILE "_SN_CLR1_LBSPPA512_MIWT4_2"},
	 {TENSILE "_CLR0_MIWT4_8", TENSILE "_CLR0_MIWT4_2", TENSILE "_CLR1_MIWT4_2"}},
	{{TENSILE "_SN", TENSILE "_SN_AG0"}, {TENSILE, TENSILE "_AG0"}},
	/* no name */
	{{"k<1>", "k<<<"}, {"k<1>", NULL}},
};

/* In whatever order they come. */
START_TEST(what_tells_apart)
{
	unsigned n = 0;

	while (n < 4 && groups[_i].whole[n])
		n++;
	for (unsigned first = 0; first < n; first++) {
		const char *raw[4];
		char *names[4] = {NULL};
		size_t of[4] = {0, 1, 2, 3};

		for (unsigned i = 0; i < n; i++)
			raw[i] = groups[_i].whole[(first + i) % n];
		ck_assert_int_eq(readable_naming.apart(raw, n, names, of), 0);
		for (unsigned i = 0; i < n; i++) {
			ck_assert_pstr_eq(names[i], groups[_i].name[(first + i) % n]);
			free(names[i]);
		}
	}
}
END_TEST

/* Each of these is found by the name that it has beside the others, and others are not. */
START_TEST(names_that_could_be)
{
	static const char raw[] =
		"void k<gpu_kernel_impl<F<float, 4> >, std::array<char, 2> >(int)";
	static const char *const yes[] = {"k<F<float, 4>>", "k<F<float, 4>, array<2>>",
					  "k<gpu_kernel_impl<F<float, 4>>>",
					  "k<F<float, 4>, array<char, 2>>(int)"};
	static const char *const no[] = {
		"", "k", "k<F>", "k<F<float, 4>", "k<F<double, 4>>", "k<F<float, 4>, array<3>>"};

	for (unsigned n = 0; n < 4 && groups[_i].whole[n]; n++)
		ck_assert(!groups[_i].name[n] ||
			  readable_naming.could_be(groups[_i].whole[n], groups[_i].name[n]));
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		ck_assert_msg(readable_naming.could_be(raw, yes[i]), "%s", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		ck_assert_msg(!readable_naming.could_be(raw, no[i]), "%s", no[i]);
}
END_TEST

/* So many words of generated names that all of them are not compared: then they are raw. */
START_TEST(too_many_words)
{
	enum { MANY = 40, WORDS = 4000 };
	struct session *s = session_new();
	struct frame_names *names = frame_names_new(s, &readable_naming, true);
	uint32_t nodes[MANY];

	for (unsigned i = 0; i < MANY; i++) {
		struct buf text = {0};

		buf_puts(&text, TENSILE "_SN");
		for (unsigned k = 0; k < WORDS;
		     k++) /* words of letters: each is another question */
			buf_printf(&text, "_%c%c%c%c", 'a' + k % 26, 'a' + k / 26 % 26,
				   'a' + k / 676, 'a' + i % 26);
		buf_printf(&text, "_%u", i);
		nodes[i] = add(s, buf_str(&text), FRAME_KERNEL);
		buf_done(&text);
	}
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_str_eq(frame_names_get(names, nodes[i], NAME_SHORT),
				 session_node_name(s, nodes[i]));
	frame_names_free(names);
	session_free(s);
}
END_TEST

/* Thousands of names that are alike at their shortest take no time to speak of, and one that comes later
 * changes only its own group. */
START_TEST(many_that_are_alike)
{
	enum { MANY = 20 * 20 * 20 };
	struct session *s = session_new();
	struct frame_names *names = frame_names_new(s, &readable_naming, true);
	static char *shown[MANY];
	char text[160];
	uint32_t alone;

	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text),
			 "void k<F, cutlass::Layout<%u, 7, cutlass::Swizzle<%u> >, std::array<int, "
			 "%u> >()",
			 i % 20, i / 20 % 20, i / 400);
		shown[i] = (char *)(uintptr_t)add(s, text, FRAME_KERNEL);
	}
	alone = add(s, "void other<cutlass::Layout<3> >()", FRAME_KERNEL);
	for (unsigned i = 0; i < MANY; i++)
		shown[i] =
			(char *)frame_names_get(names, (uint32_t)(uintptr_t)shown[i], NAME_SHORT);
	ck_assert_uint_eq(ambiguous(shown, MANY), 0);
	ck_assert_str_eq(frame_names_get(names, alone, NAME_SHORT), "other");
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_msg(strlen(shown[i]) < 45, "%s", shown[i]);
	frame_names_free(names);
	session_free(s);
}
END_TEST

/* ---- levels ---- */

static const struct {
	enum brief_level level;
	const char *whole, *brief;
} levels[] = {
	{BRIEF_LEAST,
	 "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
	 "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
	 "at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>"},
	{BRIEF_ALL,
	 "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
	 "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
	 "at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3>>"},
	{BRIEF_WHOLE, "void n::f<1ul, (n::E)2>(int) [clone .x]", "n::f<1ul, (n::E)2>"},
	{BRIEF_LEAST, "void n::f<1ul, (n::E)2>(int)", "n::f<1, 2>"},
	{BRIEF_LEAST,
	 "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
	 "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >(int)",
	 "at::native::reduce_kernel<512, 1, MeanOps>"},
	{BRIEF_TYPED,
	 "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
	 "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >(int)",
	 "at::native::reduce_kernel<512, 1, MeanOps<float, float, float, float>>"},
	{BRIEF_LEAST,
	 "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>("
	 "cutlass_80_simt_sgemm_128x64_8x5_nt_align1::Params)",
	 "cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>"},
	{BRIEF_TYPED,
	 "void elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::"
	 "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::"
	 "{lambda(float)#1}>(at::TensorIteratorBase&, int const&)::{lambda(int)#1}>(int)",
	 "elementwise_kernel<128, 2, direct_copy(float)>"},
	{BRIEF_LEAST,
	 "void cub::CUB_300102_SM_500::detail::reduce::DeviceReduceKernel<cub::CUB_300102_SM_500::"
	 "detail::reduce::policy_hub<double, int>::Policy1000, thrust::device_ptr<double>, "
	 "thrust::transform_iterator<Square, double*>, int, cuda::std::plus<double>, double>(int)",
	 "cub::DeviceReduceKernel<double*, Square, int, plus<double>>"},
	{BRIEF_LEAST, "void cub::detail::for_each::static_kernel<policy_350_t, F>()",
	 "cub::for_each::static_kernel<F>"},
	{BRIEF_ALL, "void thrust::cuda_cub::core::agent<thrust::pointer<int, tag> >()",
	 "thrust::cuda_cub::core::agent<pointer<int, tag>>"},
	{BRIEF_LEAST, "void k<Template<n::Config{(n::Mode)1, 64u, -2l, true}> >()",
	 "k<Template<Config{1, 64, -2, true}>>"},
	{BRIEF_LEAST, "f", "f"},
	{BRIEF_LEAST, "unsigned int f(int)", "f"},
	{BRIEF_LEAST, "void (anonymous namespace)::f<(anonymous namespace)::X>(int)", "f<X>"},
	{BRIEF_LEAST, "bool a::operator< <int>(a::X const&)", "a::operator<<int>"},
	{BRIEF_LEAST, "void k<&(int a::g<int>(int))>()", "k<g<int>>"},
	{BRIEF_LEAST, "void k<(a<b>::c)1, -3, true, 'x'>()", "k<1, -3, true, 'x'>"},
	{BRIEF_LEAST, "void k<unsigned long long, int const*, float&>(int)",
	 "k<unsigned long long, int*, float>"},
	{BRIEF_TYPED, "void k<a::b const*, void (*)(a::c, int)>(int)",
	 "k<b const*, void (*)(c, int)>"},
	{BRIEF_LEAST, "a::b(int)::{lambda()#1}::operator()() const", "b"},
	{BRIEF_NUMBERED, "a::b(int)::{lambda(a::x)#1}::operator()(a::x) const", "b#1(x)"},
};

START_TEST(levels_of_a_name)
{
	char *brief = brief_make(levels[_i].whole, levels[_i].level);

	ck_assert_ptr_nonnull(brief);
	ck_assert_str_eq(brief, levels[_i].brief);
	free(brief);
}
END_TEST

START_TEST(what_is_no_name)
{
	static const char *const texts[] = {"",  "(",       "f<", "f<(>", "f<,,>)",
					    ")", "a b (c)", "::", "f<)>"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *brief = brief_make(texts[i], BRIEF_LEAST);

		ck_assert_msg(!brief || *brief, "%s", texts[i]);
		free(brief);
	}
	/* What people call their scopes stays. */
	ck_assert_ptr_null(readable_name("forward (step 3)", FRAME_SCOPE, 0));
	ck_assert_ptr_null(readable_name("Linear(in=3, out=4)", FRAME_NVTX, 0));
	ck_assert_ptr_null(readable_name("triton_poi_fused_0", FRAME_KERNEL, 0));
	ck_assert(rules_are_sorted());
}
END_TEST

/* Constructs of OpenMP end in the symbol of the function that they are in. */
START_TEST(constructs)
{
	static const struct {
		const char *raw, *least, *whole;
	} names[] = {
		{"omp target _ZN3lib5saxpyEfPf", "omp target lib::saxpy",
		 "omp target lib::saxpy(float, float*)"},
		{"omp target enter data _Z4mainv", "omp target enter data main",
		 "omp target enter data main()"},
		{"omp teams __omp_offloading_10302_4c1d6a__ZN3lib5saxpyEfPf_l21",
		 "omp teams lib::saxpy_l21", NULL},
		{"omp teams __omp_offloading_10302_4c1d6a_saxpy_l21_debug__",
		 "omp teams saxpy_l21_debug__", NULL},
		{"omp teams __omp_offloading_10302_saxpy", NULL, NULL},
		{"omp parallel saxpy", NULL, NULL},
		{"omp parallel _not_mangled", NULL, NULL},
		{"omp ", NULL, NULL},
		{"my omp _Z4mainv", NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *least = readable_name(names[i].raw, FRAME_SCOPE, 0);
		char *whole = readable_name(names[i].raw, FRAME_SCOPE, NAMING_LEVELS - 1);

		ck_assert_pstr_eq(least, names[i].least);
		ck_assert_pstr_eq(whole, names[i].whole);
		free(least);
		free(whole);
	}
	ck_assert_ptr_null(readable_name(names[0].raw, FRAME_NVTX, 0));
}
END_TEST

/* Their kernels lose device and inode of the source file, unless those alone tell two of them apart. */
START_TEST(offloaded)
{
	static const struct {
		const char *raw, *wanted;
		enum frame_kind kind;
	} names[] = {
		{"__omp_offloading_10302_4c1d6a_saxpy_l21", "saxpy_l21", FRAME_KERNEL},
		{"__omp_offloading_10302_4c1d6a_saxpy_l42", "saxpy_l42", FRAME_KERNEL},
		{"__omp_offloading_fd02_1_add_l7", "__omp_offloading_fd02_1_add_l7", FRAME_KERNEL},
		{"__omp_offloading_fd02_2_add_l7", "__omp_offloading_fd02_2_add_l7", FRAME_KERNEL},
		{"omp teams __omp_offloading_fd02_1_mul_l9", "omp teams mul_l9", FRAME_SCOPE},
		{"omp teams __omp_offloading_fd02_1_add_l7",
		 "omp teams __omp_offloading_fd02_1_add_l7", FRAME_SCOPE},
		{"omp teams __omp_offloading_fd02_2_add_l7",
		 "omp teams __omp_offloading_fd02_2_add_l7", FRAME_SCOPE},
	};

	for (unsigned first = 0; first < ARRAY_SIZE(names); first++) {
		struct session *s = session_new();
		struct frame_names *shown = frame_names_new(s, &readable_naming, true);
		uint32_t nodes[ARRAY_SIZE(names)];

		for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
			unsigned k = (first + i) % ARRAY_SIZE(names);

			nodes[k] = add(s, names[k].raw, names[k].kind);
			frame_names_get(shown, nodes[k], NAME_SHORT);
		}
		for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
			ck_assert_str_eq(frame_names_get(shown, nodes[i], NAME_SHORT),
					 names[i].wanted);
		frame_names_free(shown);
		session_free(s);
	}
}
END_TEST

/* Any text comes to an end, and nothing reads beyond it: levels, what tells apart, columns. */
START_TEST(damaged_names)
{
	enum { DAMAGED = 8 };
	struct list l = {0};
	unsigned seed = 1;

	list_read(&l, lists[0]);
	for (unsigned i = 0; i < l.n; i++) {
		char *whole = name_at(l.v[i].raw, NAMING_LEVELS - 1);
		char *damaged[DAMAGED], *names[DAMAGED] = {NULL};
		struct name_table *t = name_table_new("~");
		size_t len = strlen(whole);

		for (unsigned k = 0; k < DAMAGED; k++) {
			seed = seed * 1103515245 + 12345;
			whole[(seed >> 8) % len] = "<>(){}:,& o'0"[(seed >> 20) % 13];
			for (unsigned level = 0; level < BRIEF_N; level++)
				free(brief_make(whole, (enum brief_level)level));
			damaged[k] = strdup(whole);
		}
		ck_assert_int_eq(apart_names((const char *const *)damaged, DAMAGED, names), 0);
		for (unsigned k = 0; k < DAMAGED; k++) {
			apart_could_be(damaged[k], names[k] ? names[k] : "");
			name_table_get(t, names[k] ? names[k] : damaged[k], 30);
			name_table_get(t, damaged[k], 20);
		}
		name_table_tell_apart(t);
		for (unsigned k = 0; k < DAMAGED; k++) {
			free(damaged[k]);
			free(names[k]);
		}
		name_table_free(t);
		free(whole);
	}
	list_done(&l);
}
END_TEST

/* Depth costs neither the stack nor time without end. */
START_TEST(deep_names)
{
	enum { DEEP = 15000 };
	char *text = malloc(4 * DEEP + 16), *at = text;

	for (int i = 0; i < DEEP / 8; i++)
		at = stpcpy(at, "a<");
	*at++ = 'x';
	for (int i = 0; i < DEEP / 8; i++)
		*at++ = '>';
	strcpy(at, "()");
	free(readable_name(text, FRAME_KERNEL, 0));
	memset(text, 'P', DEEP);
	memcpy(text, "_Z1f", 4);
	strcpy(text + DEEP, "i");
	free(readable_name(text, FRAME_KERNEL, 0));
	free(text);
}
END_TEST

/* ---- symbols that stand for more than can be written ---- */

/* "A<A<…, …>, A<…, …>>", twice what was before at every level. */
static void put_doubled(struct buf *out, int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	buf_puts(out, "_Z1fI1AIiiE");
	for (int i = 1; i < levels; i++)
		buf_printf(out, "S0_IS%c_S%c_E", digits[i], digits[i]);
	buf_puts(out, "Evv");
}

/* A function that is an argument of another one, which is given it twice. */
static void put_given(struct buf *out, int levels)
{
	buf_puts(out, "_Z1gI");
	for (int i = 0; i < levels; i++)
		buf_puts(out, "XadL_Z1fI");
	buf_puts(out, "i");
	for (int i = 0; i < levels; i++)
		buf_puts(out, "EvT_T_EE");
	buf_puts(out, "EvT_T_");
}

/* Packs within packs, each as often as the list is long. */
static void put_packed(struct buf *out, int levels)
{
	buf_puts(out, "_Z1fIJiiiiiiiiiiiiiiiiEEvDp");
	for (int i = 0; i < levels; i++)
		buf_puts(out, "1AIDp");
	buf_puts(out, "T_");
	for (int i = 0; i < levels; i++)
		buf_puts(out, "E");
}

/* Templates, and as many references: libiberty takes stack for each pair. */
static void put_paired(struct buf *out, int levels)
{
	buf_puts(out, "_Z1fI");
	for (int i = 0; i < levels; i++)
		buf_printf(out, "5x%04dIiE", i);
	buf_puts(out, "EvRT_");
	for (int i = 0; i < levels / 3; i++)
		buf_printf(out, "M5y%04dRT_", i);
}

/* Tuples of Rust, doubled. */
static void put_rust(struct buf *out, int levels)
{
	buf_puts(out, "_RINvC1a1fTllE");
	for (int i = 0; i < levels; i++) /* each refers to the one before */
		buf_printf(out, "T%s%sE", i ? "Bb_" : "B7_", i ? "Bb_" : "B7_");
	buf_puts(out, "E");
}

static const struct {
	void (*put)(struct buf *out, int levels);
	int few, many;
} hostile[] = {
	{put_doubled, 3, 34}, {put_given, 2, 20},    {put_packed, 1, 8},
	{put_packed, 1, 600}, {put_paired, 8, 1200}, {put_rust, 1, 60},
};

/* They stay as they are, at once; smaller ones of the kind are written. */
START_TEST(hostile_symbols)
{
	struct buf text = {0};
	char *name;

	hostile[_i].put(&text, hostile[_i].few);
	name = readable_name(buf_str(&text), FRAME_KERNEL, NAMING_LEVELS - 1);
	ck_assert_msg(name != NULL, "%s", buf_str(&text));
	free(name);
	buf_clear(&text);
	hostile[_i].put(&text, hostile[_i].many);
	name = readable_name(buf_str(&text), FRAME_KERNEL, 0);
	ck_assert_msg(!name, "%s", name);
	buf_done(&text);
}
END_TEST

/* ---- narrow columns ---- */

#define REDUCE "r::reduce_kernel<128, 4, sum_functor<BFloat16, float, BFloat16>(float, float)>"

#define PLACE  "/home/me/src/train_loop.py:12@train_step"
static const struct {
	size_t columns;
	const char *name, *fitted;
} narrow[] = {
	{80, "a::b::k<4, F<float>>", "a::b::k<4, F<float>>"},
	{19, "a::b::k<4, F<float>>", "b::k<4, F<float>>"},
	{16, "a::b::k<4, F<float>>", "k<4, F<float>>"},
	{13, "a::b::k<4, F<float>>", "k<~F<float>>"},
	{26, "a::elementwise_kernel<128, 2, direct_copy>", "elementwise~<~direct_copy>"},
	{20, "a::elementwise_kernel<128, 2, direct_copy>", "eleme~<~direct_copy>"},
	/* what can be read of a box: the functor, or the one that it is made of */
	{12, "a::elementwise_kernel<128, 2, direct_copy>", "direct_copy"},
	{11, "a::elementwise_kernel<128, 2, direct_copy>", "direct_copy"},
	{9, "a::elementwise_kernel<128, 2, direct_copy>", "dire~copy"},
	{4, "a::elementwise_kernel<128, 2, direct_copy>", "dir~"},
	{12, "a::k<4, FillFunctor<float>, array<char*, 1>>", "FillFunctor~"},
	{12, "a::vectorized<4, BUnaryFunctor<float, maximum<float>>>", "maximum~"},
	{25, "n::a_kernel<8, _cuda_scatter_internal>", "a_k~<~scatter_internal>"},
	{22, "n::a_kernel<first_functor, 8, 16>", "a_ker~<first_functor~>"},
	{60, REDUCE, "reduce_kernel<128, 4, sum_functor<BFloat16, float~>~>"},
	{48, REDUCE, "reduce_kernel<~sum_functor<BFloat16, float~>~>"},
	{30, REDUCE, "red~<~sum_functor<BFloat16~>~>"},
	{22, REDUCE, "reduce~<~sum_functor~>"},
	{33, "m::apply_to_all<BinaryOpScalarFunctor<float, 1, 0>, multiplies<float>, float>",
	 "app~<Binary~unctor~, multiplies~>"},
	{40, "cutlass::Kernel2<cutlass_75_tensorop_s1688gemm_bf16_64x64_nn_align1>",
	 "Ker~<~75~s1688gemm_bf16_64x64_nn_align1>"},
	{30, "e<BinaryFunctor<float, float, bool, CompareFunctor<float>>>",
	 "e<BinaryFunctor<~Compa~ctor~>>"},
	/* as it was demangled */
	{32, "e<ns::Wrap<(anonymous namespace)::F<c10::Half> >, std::array<char*, 2ul> >",
	 "e<Wrap<F<Half>>, array~>"},
	{60, "void at::native::f<ns::Add<float>, 4>(int, ns::Add<float>) [clone .x]",
	 "at::native::f<ns::Add<float>, 4>"},
	{30, "void at::native::f<ns::Add<float>, 4>(int, ns::Add<float>)",
	 "native::f<ns::Add<float>, 4>"},
	{20, "void at::native::(anonymous namespace)::elementwise<4, ns::Add<float> >(int)",
	 "elemen~<~Add<float>>"},
	{24, "at::Tensor at::native::add(at::Tensor const&)", "at::native::add"},
	{16, "forward (step number 3)", "forward (step number 3)"},
	{16, "Linear(in=3, out=4, bias)", "Linear(in=3, out=4, bias)"},
	/* no functor: types and numbers, each type once */
	{10, "n::softmax<float, 8, true>", "softmax~"},
	{18, "n::softmax<float, 8, true>", "softmax<float, 8~>"},
	{40, "i::gemvx::kernel<int, int, double, double, double, false, true, false, 7, false>",
	 "gemvx::kernel<int~double~false, true~7~>"},
	{30, "s<complex<float>, complex<double>, 4, true>", "s<complex<float>~4, true>"},
	{12, "flash_backward<64, 128>", "flash~kward~"},
	{8, "flash_bwd<64, 128>", "flash_~"},
	{4, "kernel<>", "ker~"},
	/* the shape of a launch stays, where there is room for it */
	{60, "a::elementwise_kernel<128, 2, direct_copy><<<64x2,256>>>",
	 "a::elementwise_kernel<128, 2, direct_copy><<<64x2,256>>>"},
	{40, "a::elementwise_kernel<128, 2, direct_copy><<<64x2,256>>>",
	 "elementwise~<~direct_copy><<<64x2,256>>>"},
	{28, "nvjet_sm90_tst_64x24_64x16_2x4_h_bz_bias_TNT<<<4,128>>>",
	 "nvjet~ts~bias_TNT<<<4,128>>>"},
	{20, "nvjet_sm90_tst_64x24_64x16_2x4_h_bz_bias_TNT<<<4,128>>>", "nvjet~tst~_bias_TNT~"},
	/* words alone: those that many names have, then the middle */
	{40, "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_f16_knob_26_64x64x64_kernel0_0",
	 "cudnn~sdpa~flash_bpr~_knob_26_64x64x64~0"},
	{40, "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_f16_knob_7_64x128x64_kernel0_0",
	 "cudnn~sdpa~flash_fpr~_knob_7_64x128x64~0"},
	{30, "nvjet_sm90_tst_64x24_64x16_2x4_h_bz_bias_TNT", "nvjet~tst_64x24~_h_bz_bias_TNT"},
	{30, "my_kernel_of_a_name_that_is_long", "my~of_a_name_that_is_long"},
	{4, "forward_pass", "for~"},
	{1, "forward_pass", "f"},
	{5, "_ZN2at6native3addE", "_ZN2at6native3addE"},
	{5, "aten::add", "add"},
	/* places: folders, the middle of the file, the file; then of the function's */
	{40, PLACE, PLACE},
	{39, PLACE, "home/me/src/train_loop.py:12@train_step"},
	{34, PLACE, "me/src/train_loop.py:12@train_step"},
	{28, PLACE, "train_loop.py:12@train_step"},
	{26, PLACE, "train_~op.py:12@train_step"},
	{18, PLACE, "tra~:12@train_step"},
	{17, PLACE, "~:12@train_step"},
	{14, PLACE, "~:12@trai~step"},
	{12, PLACE, "train_step"},
	{7, PLACE, "tra~tep"},
	{2, PLACE, "tr"},
	{1, PLACE, "t"},
	{20, "train.py:3@Outer.<locals>.step", "~:3@Outer.<l~s>.step"},
	{18, "a/b/\xc3\xa9t\xc3\xa9_\xc3\xa9t\xc3\xa9_\xc3\xa9t\xc3\xa9.py:3@pas",
	 "\xc3\xa9t\xc3\xa9_\xc3\xa9t~t\xc3\xa9.py:3@pas"},
	{30, "torch/nn/modules/module.py(1501): _call_impl", "module.py(1501): _call_impl"},
	{22, "torch/nn/modules/module.py(1501): _call_impl", "mod~(1501): _call_impl"},
	{5, "user@host", "user@host"},
	{5, "train.py:3@", "train.py:3@"},
	{5, "/:3@f/", "/:3@f/"},
	{5, "a b::c<d>", "a b::c<d>"},
	{5, "std::vector<int> x", "std::vector<int> x"},
};

START_TEST(narrow_columns)
{
	struct buf scratch = {0};
	const char *name = fit_name(narrow[_i].name, narrow[_i].columns, "~", &scratch);

	ck_assert_str_eq(name, narrow[_i].fitted);
	buf_done(&scratch);
}
END_TEST

/* ---- a column of names ---- */

static const struct {
	size_t columns;
	const char *name[4], *cut[4];
} columns[] = {
	/* the argument in which they differ */
	{24,
	 {"n::reduce_kernel<128, 4, sum_functor<float, float>>",
	  "n::reduce_kernel<128, 4, sum_functor<Half, float>>"},
	 {"red~<~sum_~ctor<float~>>", "red~<~sum_f~ctor<Half~>>"}},
	/* a number, and what stands behind a functor */
	{22,
	 {"a_long_kernel<f, 1, 256>", "a_long_kernel<f, 2, 256>"},
	 {"a_long_kernel<f, 1~>", "a_long_kernel<f, 2~>"}},
	{30,
	 {"elementwise_kernel<128, 2, direct_copy(float)>",
	  "elementwise_kernel<128, 2, direct_copy(double)>"},
	 {"elementw~<~direct_copy(float)>", "element~<~direct_copy(double)>"}},
	/* functions, and words */
	{24,
	 {"sm90_gemm_f16_128x128x64_stage3_nt_align8_aaaaaaa",
	  "sm90_gemm_f16_128x128x64_stage4_nt_align8_aaaaaaa"},
	 {"sm90_gem~stage3_nt_alig~", "sm90_gem~stage4_nt_alig~"}},
	/* before the shape of a launch */
	{34,
	 {"n::reduce_kernel<128, 4, sum_functor<float, float>><<<4,128>>>",
	  "n::reduce_kernel<128, 4, sum_functor<Half, float>><<<4,128>>>",
	  "sm90_gemm_f16_128x128x64_stage3_nt_align8<<<4,128>>>",
	  "sm90_gemm_f16_128x128x64_stage4_nt_align8<<<4,128>>>"},
	 {"red~<~sum_~tor<float~>><<<4,128>>>", "red~<~sum_~ctor<Half~>><<<4,128>>>",
	  "~gemm_f16_1~3_nt_align8<<<4,128>>>", "~gemm_f16_1~4_nt_align8<<<4,128>>>"}},
	/* the folder in which places differ, and one that is all in the column */
	{30,
	 {"/home/me/src/encoder/model.py:12@forward", "/home/me/src/decoder/model.py:12@forward"},
	 {"encoder/model.py:12@forward", "decoder/model.py:12@forward"}},
	{28,
	 {"/srv/one/src/lib/model.py:12@forward", "/srv/two/src/lib/model.py:12@forward",
	  "model.py:12@forward", "/srv/one/src/lib/model.py:13@forward"},
	 {"one/~/model.py:12@forward", "two/~/model.py:12@forward", "model.py:12@forward",
	  "src/lib/model.py:13@forward"}},
	/* others stay as they are, and so do those of one name */
	{14,
	 {"one_kernel<4, F<float>>", "two_kernel<4, G<float>>", "one_kernel<4, F<float>>"},
	 {"one_kern~<~F~>", "two_kern~<~G~>", "one_kern~<~F~>"}},
	/* namespaces are there in all names or in none, but where they alone tell apart */
	{24,
	 {"at::native::add<float>", "at::native::multiply<float>", "cub::add<float>"},
	 {"add<float>", "multiply<float>", "cub::add<float>"}},
	{24,
	 {"at::native::add<float>", "at::multiply_and_add<float, 4>", "add<float>"},
	 {"at::native::add<float>", "multiply_and_add<float~>", "add<float>"}},
	/* few columns: what is left of them gets a number, and letters the one that differs */
	{5,
	 {"n::reduce_kernel<128, 4, sum_functor<float>>",
	  "n::reduce_kernel<128, 4, sum_functor<Half>>"},
	 {"sum#1", "sum#2"}},
	{3, {"encoder.layer.0", "encoder.layer.1", "mlp"}, {"en0", "en1", "mlp"}},
	{2, {"encoder.layer.0", "encoder.layer.1", "encoder.layer.0"}, {"e0", "e1", "e0"}},
};

START_TEST(names_of_a_column)
{
	struct name_table *t = name_table_new("~");

	for (unsigned i = 0; i < 4 && columns[_i].name[i]; i++)
		name_table_get(t, columns[_i].name[i], columns[_i].columns);
	name_table_tell_apart(t);
	for (unsigned i = 0; i < 4 && columns[_i].name[i]; i++)
		ck_assert_str_eq(name_table_get(t, columns[_i].name[i], columns[_i].columns),
				 columns[_i].cut[i]);
	name_table_free(t);
}
END_TEST

/* Of the kernels of the list in a table, few read alike. */
START_TEST(a_table_of_kernels)
{
	enum { COLUMNS = 38 };
	struct name_table *t = name_table_new("~");
	static char *names[LIST_MAX], *cut[LIST_MAX];
	struct list l = {0};
	unsigned n = 0, before = 0;

	list_read(&l, lists[0]);
	for (unsigned i = 0; i < l.n; i++)
		cut[i] = l.v[i].brief;
	qsort(cut, l.n, sizeof(*cut), compare);
	for (unsigned i = 0; i < l.n; i++)
		if (i == 0 || strcmp(cut[i], cut[i - 1]) != 0)
			names[n++] = cut[i];
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < n; i++)
			cut[i] = (char *)name_table_get(t, names[i], COLUMNS);
		if (pass == 0) {
			before = ambiguous(cut, n);
			ck_assert(name_table_tell_apart(t));
		}
	}
	printf("%u names in %d columns: %u alike, then %u\n", n, COLUMNS, before,
	       ambiguous(cut, n));
	ck_assert_uint_gt(before, 80);
	ck_assert_uint_lt(ambiguous(cut, n), 40);
	name_table_free(t);
	list_done(&l);
}
END_TEST

/* Above columns: words that most names have go first, so that what is left tells them apart. */
START_TEST(heads_of_hardware_metrics)
{
	static const char *const names[] = {
		"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
		"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
		"sm__throughput.avg.pct_of_peak_sustained_elapsed",
		"dram__bytes.sum",
		"l1tex__a\xc3\xa4\x1b[2Jword_that_is_longer_than_any.sum",
		"__..",
		"",
	};
	static const struct {
		size_t i, columns;
		const char *dots, *head;
	} heads[] = {
		{0, 16, "\xe2\x80\xa6",
		 "smsp__\xe2\x80\xa6"
		 "ffma_\xe2\x80\xa6"},
		{1, 16, "~", "smsp__~fadd_~"},
		{2, 16, "~", "sm__throughput.~"},
		{3, 16, "~", "dram__bytes.sum"},
		{3, 14, "~", "dram__bytes.~"},
		{3, 3, "~", "dr~"},
		{3, 1, "~", "~"},
		{3, 0, "~", "~"},
		{4, 8, "~", "l1tex__~"},
		{5, 3, "~", "__~"},
		{6, 3, "~", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		_cleanup_(buf_done) struct buf head = {0};

		metric_head_put(&head, names, ARRAY_SIZE(names), heads[i].i, heads[i].columns,
				heads[i].dots);
		ck_assert_str_eq(buf_str(&head), heads[i].head);
	}
}
END_TEST

/* In a few columns there is room for a number: of the kernels that a screen may have, none reads like another. */
START_TEST(few_columns)
{
	enum { N = 40, MOST = 11 };
	struct list l = {0};

	list_read(&l, lists[0]);
	for (unsigned columns = 4; columns <= MOST; columns++)
		for (unsigned first = 0; first + N <= l.n; first += N) {
			struct name_table *t = name_table_new("~");
			char *names[N], *cut[N];
			unsigned n = 0;

			for (unsigned i = 0; i < N; i++)
				cut[i] = l.v[first + i].brief;
			qsort(cut, N, sizeof(*cut), compare);
			for (unsigned i = 0; i < N; i++)
				if (i == 0 || strcmp(cut[i], cut[i - 1]) != 0)
					names[n++] = cut[i];
			for (unsigned i = 0; i < n; i++)
				name_table_get(t, names[i], columns);
			name_table_tell_apart(t);
			for (unsigned i = 0; i < n; i++) {
				cut[i] = (char *)name_table_get(t, names[i], columns);
				ck_assert_uint_le(strlen(cut[i]), strlen(names[i]));
			}
			ck_assert_uint_eq(ambiguous(cut, n), 0);
			name_table_free(t);
		}
	list_done(&l);
}
END_TEST

/* Was libiberty found? Most names of the list are symbols. */
/* As LLVM writes them that are no types, and what its own tool makes of them. */
static const struct {
	const char *symbol, *whole; /* NULL: it stays as it is */
} declared[] = {
	{"_Z1fITniLi4EEvv", "void f<4>()"},
	{"_Z1fITnDaLi4EEvv", "void f<4>()"},
	{"_Z1fITniLi4ETnjLj5EJTniLi1ETniLi2EEEvv", "void f<4, 5u, 1, 2>()"},
	/* one that nobody names, and what is behind it has the number that it has */
	{"_Z3fooIiTnNSt9enable_ifIXsr3std11is_integralIT_EE5valueEiE4typeELi0EfEvT_T1_",
	 "void foo<int, 0, float>(int, float)"},
	/* back references into the type */
	{"_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_"
	 "ES3_S5_EEEEvPS3_PS4_i",
	 "void sgl_hip::activation::act_and_mul_kernel<__hip_bfloat16, &(__hip_bfloat16 "
	 "silu<__hip_bfloat16>(__hip_bfloat16 const&))>(__hip_bfloat16*, __hip_bfloat16 const*, "
	 "int)"},
	/* words with these letters, and beside a type that begins with one */
	{"_Z5kTnXyI3kTnTniLi4EEvv", "void kTnXy<kTn, 4>()"},
	{"_ZN4TnDn4sTnDI3aDnTniLi4EEEvS1_", "void TnDn::sTnD<aDn, 4>(aDn)"},
	{"_Z1fI2xTnTniLi4EEvv", "void f<xT, __int128, 4>()"},
	{"_Z3kDnIDnTniLi4EEvv", NULL},
	{"_Z1fIDnTniLi4EEvv", NULL}, /* nullptr's type itself */
	{"_Z1fITn", NULL},
	{"_Z1fITniEvv", NULL},
};

START_TEST(declared_arguments)
{
	char *whole = demangle(declared[_i].symbol);

	if (declared[_i].whole)
		ck_assert_str_eq(whole ? whole : "", declared[_i].whole);
	else
		ck_assert_ptr_null(whole);
	free(whole);
}
END_TEST

static bool demangles(void)
{
	char *name = readable_name("_Z1fv", FRAME_KERNEL, 0);
	bool yes = name != NULL;

	free(name);
	return yes;
}

START_TEST(a_shape_stands_behind_every_name)
{
	static const char raw[] = "void n::add<float>(int)<<<4x2,128>>>", shape[] = "<<<4x2,128>>>";

	for (unsigned level = 0; level < NAMING_LEVELS; level++) {
		char *name = readable_name(raw, FRAME_KERNEL, level);
		const char *shown = name ? name : raw; /* the whole is as it is */

		ck_assert_ptr_nonnull(strstr(shown, "add<float>"));
		ck_assert_str_eq(shown + strlen(shown) - strlen(shape), shape);
		ck_assert(name || level == NAMING_LEVELS - 1);
		free(name);
	}
	ck_assert_ptr_null(readable_name("plain<<<4,128>>>", FRAME_KERNEL, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("naming");
	TCase *t = tcase_create("naming"), *soon = tcase_create("at once");

	tcase_set_timeout(t, 60);
	if (demangles()) {
		tcase_add_loop_test(t, declared_arguments, 0, ARRAY_SIZE(declared));
		tcase_add_loop_test(t, short_names_of_real_kernels, 0, ARRAY_SIZE(lists));
		tcase_add_loop_test(t, no_two_kernels_have_one_name, 0, ARRAY_SIZE(lists));
		tcase_add_test(t, forms_of_one_kernel);
		tcase_add_test(t, constructs);
		tcase_add_test(t, offloaded);
		tcase_set_timeout(soon, 10); /* years otherwise */
		tcase_add_loop_test(soon, hostile_symbols, 0, ARRAY_SIZE(hostile));
	}
	tcase_add_test(t, names_that_come_later);
	tcase_add_test(t, names_that_nothing_tells_apart);
	tcase_add_test(t, names_that_give_way);
	tcase_add_loop_test(t, names_that_are_not_compared, 0, 2);
	tcase_add_loop_test(t, forms_of_two_kernels, 0, 6);
	tcase_add_loop_test(t, what_tells_apart, 0, ARRAY_SIZE(groups));
	tcase_add_loop_test(t, names_that_could_be, 0, ARRAY_SIZE(groups));
	tcase_add_test(t, too_many_words);
	tcase_add_test(t, many_that_are_alike);
	tcase_add_loop_test(t, levels_of_a_name, 0, ARRAY_SIZE(levels));
	tcase_add_test(t, what_is_no_name);
	tcase_add_test(t, damaged_names);
	tcase_add_test(t, deep_names);
	tcase_add_loop_test(t, narrow_columns, 0, ARRAY_SIZE(narrow));
	tcase_add_test(t, a_table_of_kernels);
	tcase_add_loop_test(t, names_of_a_column, 0, ARRAY_SIZE(columns));
	tcase_add_test(t, few_columns);
	tcase_add_test(t, heads_of_hardware_metrics);
	suite_add_tcase(suite, t);
	suite_add_tcase(suite, soon);
	tcase_add_test(t, a_shape_stands_behind_every_name);
	return check_run(suite);
}
