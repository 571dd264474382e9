/* SPDX-License-Identifier: MIT */
/* Tests of selectors: which form a text has, what it selects, what is said of one that is wrong. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/util.h"
#include "check_main.h"
#include "core/column.h"
#include "core/filter.h"
#include "core/name_pattern.h"
#include "core/path_glob.h"
#include "core/reduce.h"
#include "core/selector.h"

/* ---- forms ---- */

/* What was an expression of names is one, unless it begins as no expression does. */
static const char *const names[] = {
	"gemm",
	"foo<int>",
	"foo<3>",
	"gemm<128",
	"a->b",
	"a ->b",
	"operator<",
	"operator< <int>",
	"operator>= <int>",
	"time>1ms",
	"x=3",
	"x = 3",
	"[ > ]",
	"loss [>] 1",
	"loss '> 1'",
	"a && b",
	"(a|b)",
	"!x",
	"a~b",
	"/usr/lib/.*",
	"torch/nn/modules/.*",
	"a/*b",
	".*",
	"ROOT",
	"",
};

static const char *const conditions[] = {
	"time > 1ms",      "time > ",     "time >= 1ms && count > 100",
	"!(avg < 5us)",    "name ~ gemm", "name !~ gemm",
	"path ~ **/gemm*", "% > 5",       "count == 1",
	"count != 1",      "a > b",       " > 1",
};

static const char *const paths[] = {
	"**/conv*/*gemm*", "*", "*/step", "ROOT/train", "train/**", "train/**/gemm*", "**",
};

static void check_forms(const char *const *texts, size_t n, enum selector_form form)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(selector_form_of(texts[i]) == form, "'%s'", texts[i]);
}

START_TEST(tells_forms_apart)
{
	check_forms(names, ARRAY_SIZE(names), SELECTOR_NAMES);
	check_forms(conditions, ARRAY_SIZE(conditions), SELECTOR_CONDITION);
	check_forms(paths, ARRAY_SIZE(paths), SELECTOR_PATH);
}
END_TEST

START_TEST(puts_names_as_names)
{
	static const char *const odd[] = {"ROOT/x", "a > b",   "a != b", "x ~ y",
					  "**/y",   "a/**/b",  "*",      "f(int*)[2]",
					  " < ",    "a\\b$^|", "<= 1",   "a  == "};
	struct selector_error error;
	struct selector *x;

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		_cleanup_(buf_done) struct buf text = {0};

		selector_put_name(odd[i], &text);
		ck_assert_msg(selector_form_of(buf_str(&text)) == SELECTOR_NAMES, "'%s'",
			      buf_str(&text));
		ck_assert_int_eq(selector_new(buf_str(&text), &x, &error), 0);
		ck_assert_msg(!regexec(&selector_names(x)->re, odd[i], 0, NULL, 0), "'%s'",
			      buf_str(&text));
		selector_free(x);
	}
}
END_TEST

/* ---- what is wrong, and where ---- */

/* clang-format off */
static const struct {
	const char *text;
	size_t at;
	const char *why;
} wrong[] = {
	{"(", SELECTOR_NOWHERE, "Unmatched"},
	{"time > ", 7, "a number is wanted"},
	{"time > 1x", 7, "'1x' is no number"},
	{"time > 1ms && ", 14, "a comparison is wanted"},
	{"time > 1ms && count", 14, "a comparison is wanted"},
	{"time > 1ms count > 3", 7, "'1ms count > 3' is no number"},
	{"time && count > 3", 0, "a comparison is wanted"},
	{"(time > 1ms", 11, "')' is wanted"},
	{"time > 1ms)", 10, "'&&' or '||' is wanted"},
	{" > 1", 1, "the name of a column"},
	{"time ~ x", 0, "~ is for 'name' and 'path'"},
	{"name ~ ", 7, "an expression is wanted"},
	{"path ~  && time > 1", 8, "a path is wanted"},
	{"name ~ [a", 7, "no regular expression"},
	{"name ~ 'a", 7, "the quote is not closed"},
	{"**//a", 3, "a name is missing"},
	{"*/", 2, "a name is missing"},
	{"path ~ a//b", 9, "a name is missing"},
	{"'a > b'", 5, "'b'' is no number"},
	{"\"a > b\" x > 1", 5, "is no number"},
	{"'' > 1", 1, "the name of a column"},
};
/* clang-format on */

START_TEST(says_what_is_wrong_and_where)
{
	struct selector_error error = {0};
	struct selector *x;

	ck_assert_msg(selector_new(wrong[_i].text, &x, &error) == -EINVAL, "'%s'", wrong[_i].text);
	ck_assert_msg(error.at == wrong[_i].at, "'%s': %zu", wrong[_i].text, error.at);
	ck_assert_msg(strstr(error.why, wrong[_i].why) != NULL, "'%s': %s", wrong[_i].text,
		      error.why);
}
END_TEST

START_TEST(refuses_what_is_nested_too_deep)
{
	_cleanup_(buf_done) struct buf text = {0};
	struct selector_error error;
	struct selector *x;

	for (unsigned i = 0; i < 10000; i++)
		buf_putc(&text, i % 2 ? '(' : '!');
	buf_puts(&text, "time > 1");
	ck_assert_int_eq(selector_new(buf_str(&text), &x, &error), -EINVAL);
	ck_assert_str_eq(error.why, "nested too deep");
	buf_clear(&text);
	for (unsigned i = 1; i < 1000; i++) /* side by side there may be a thousand */
		buf_puts(&text, "time > 1 || ");
	buf_puts(&text, "time > 1");
	ck_assert_int_eq(selector_new(buf_str(&text), &x, &error), 0);
	selector_free(x);
	buf_puts(&text, " || time > 1");
	ck_assert_int_eq(selector_new(buf_str(&text), &x, &error), -EINVAL);
	ck_assert_str_eq(error.why, "there are more than 1000 comparisons");
	buf_clear(&text);
	for (unsigned i = 0; i < 64; i++)
		buf_puts(&text, "**/");
	buf_putc(&text, 'x');
	ck_assert_int_eq(selector_new(buf_str(&text), &x, &error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.why, "63"));
}
END_TEST

START_TEST(explains_for_people)
{
	const struct selector_error names_alone = {SELECTOR_NOWHERE, "Unmatched ("};
	const struct selector_error there = {10, "no"};
	_cleanup_(buf_done) struct buf text = {0};

	selector_explain("(", &names_alone, &text);
	ck_assert_str_eq(buf_str(&text), "'(' is no regular expression: Unmatched (");
	buf_clear(&text);
	selector_explain("h\xc3\xb6he > 1 x", &there, &text); /* a character, not a byte */
	ck_assert_str_eq(buf_str(&text), "'h\xc3\xb6he > 1 x': at character 10: no");
}
END_TEST

/* What the C library would need too much for, and what it may do. */
START_TEST(refuses_what_is_too_large)
{
	/* clang-format off */
	static const struct {
		const char *part; /* this often, side by side */
		unsigned times;
		const char *behind;
		bool is_bearable;
	} sizes[] = {
		{"k|", 1400, "k", true},    {"k|", 1600, "k", false},
		{"a?", 1400, "", true},     {"a*", 1600, "", false},
		{"(k|l)", 1, "{1200}", true}, {"(k|l)", 1, "{1600}", false},
		{"a", 1, "{1,250}{1,5}", true}, {"a", 1, "{1,250}{1,250}", false},
		{"a", 15000, "", true},     {"a", 25000, "", false},
		{"a", 1, "{17000}", true},  {"(a?b)", 1, "{2,2000}", false},
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_(buf_done) struct buf text = {0}, said = {0};
		struct selector_error error = {0};
		struct selector *x = NULL;
		int r;

		for (unsigned k = 0; k < sizes[i].times; k++)
			buf_puts(&text, sizes[i].part);
		buf_puts(&text, sizes[i].behind);
		r = selector_new(buf_str(&text), &x, &error);
		ck_assert_msg(r == (sizes[i].is_bearable ? 0 : -EINVAL), "%zu: %d", i, r);
		if (r == 0) {
			selector_free(x);
			continue;
		}
		ck_assert_str_eq(error.why, "it is too large, or repeats too much");
		selector_explain(buf_str(&text), &error, &said);
		ck_assert_uint_lt(said.len, 500);
	}
}
END_TEST

/* Each may be borne, all of them may not. */
START_TEST(refuses_what_is_too_large_together)
{
	_cleanup_(buf_done) struct buf text = {0};
	struct selector_error error = {0};
	struct selector *x;

	for (unsigned i = 0; i < 50; i++)
		buf_puts(&text, "name ~ (k|l){1000} || ");
	buf_puts(&text, "time > 1");
	ck_assert_int_eq(selector_new(buf_str(&text), &x, &error), -EINVAL);
	ck_assert_str_eq(error.why, "its expressions are too large together");
}
END_TEST

/* ---- what is selected ---- */

/* Time, inclusive: ROOT 111, train 110, step 110, conv 100, gemm 90, relu 10, loss 10 (no bytes),
 * eval 1, gemm 1; "note" has nothing. */
static struct session *profile(void)
{
	struct session *s = session_new();
	uint32_t lane = session_lane_intern(
		s, &(struct session_lane){.process = SESSION_NONE, .device = SESSION_NONE});
	uint32_t train = session_node(s, SESSION_ROOT, FRAME_SCOPE, "train");
	uint32_t step = session_node(s, train, FRAME_SCOPE, "step a/b");
	uint32_t conv = session_node(s, step, FRAME_SCOPE, "conv2d");
	uint32_t eval, own;
	const uint32_t work[] = {session_node(s, conv, FRAME_KERNEL, "sm90_gemm<128>"),
				 session_node(s, conv, FRAME_KERNEL, "relu"),
				 session_node(s, step, FRAME_KERNEL, "loss"),
				 (eval = session_node(s, SESSION_ROOT, FRAME_SCOPE, "eval"),
				  session_node(s, eval, FRAME_KERNEL, "sm90_gemm<128>"))};
	static const uint64_t times[] = {90000, 10000, 10000, 1000}, counts[] = {3, 100, 5, 1},
			      bytes[] = {4096, 8192, 0, 64};

	session_node(s, SESSION_ROOT, FRAME_SCOPE, "note");
	own = session_metric_add(s, &(struct metric){"cycles (x), y", "", METRIC_F64,
						     METRIC_INCLUSIVE, METRIC_SUM, METRIC_NONE});
	for (size_t i = 0; i < ARRAY_SIZE(work); i++) {
		session_add(s, work[i], lane, 0, METRIC_TIME,
			    (union metric_value){.u64 = times[i]});
		session_add(s, work[i], lane, 0, METRIC_COUNT,
			    (union metric_value){.u64 = counts[i]});
		if (bytes[i])
			session_add(s, work[i], lane, 0, METRIC_BYTES,
				    (union metric_value){.u64 = bytes[i]});
	}
	session_add(s, work[1], lane, 0, own, (union metric_value){.f64 = 7});
	own = session_metric_add(s, &(struct metric){"my > own && \"x\" )", "", METRIC_F64,
						     METRIC_INCLUSIVE, METRIC_SUM, METRIC_NONE});
	session_add(s, work[2], lane, 0, own, (union metric_value){.f64 = 3});
	own = session_metric_add(s, &(struct metric){"'tis", "", METRIC_F64, METRIC_INCLUSIVE,
						     METRIC_SUM, METRIC_NONE});
	session_add(s, work[3], lane, 0, own, (union metric_value){.f64 = 3});
	s->ended = true;
	return s;
}

/* A digit a node: ROOT train step conv gemm relu loss eval gemm note. */
/* clang-format off */
static const struct {
	const char *text, *marks;
} selected[] = {
	{"time > 100us",                   "0110000000"},
	{"time >= 100us",                  "0111000000"},
	{"time > 10us && time < 100us",    "0000100000"},
	{"time == 10us",                   "0000011000"},
	{"time != 10us",                   "0111100110"}, /* what has none is not unequal either */
	{"time (exc) > 1us",               "0000111000"},
	{"(time (exc) > 1us)",             "0000111000"},
	{"TOTAL > 10000",                  "0111100000"},
	{"time/us > 10us",                 "0111100000"},
	{"time/us > 10",                   "0111100000"},
	{"time > 50%",                     "0111100000"},
	{"% > 50",                         "0111100000"},
	{"time/% > 50 %",                  "0111100000"},
	{"calls > 0.1K",                   "0111000000"},
	{"count >= 100 && !(count > 100)", "0000010000"},
	{"!(time > 0)",                    "0000000001"},
	{"bytes >= 4KiB",                  "0111110000"},
	{"bytes/KiB > 4",                  "0111010000"},
	{"bytes < 1K",                     "0000000110"},
	{"avg < 2us",                      "0111010110"},
	{"cycles (x), y > 1",              "0111010000"},
	{"'cycles (x), y' > 1",            "0111010000"},
	{"\"time\" > 100us",               "0110000000"},
	{"'my > own && \"x\" )' > 1",      "0110001000"},
	{"!('my > own && \"x\" )'  <= 1) && time > 1ns && 'calls' == 5", "0000001000"},
	{"'tis > 1",                       "0000000110"},
	{"'tis > 1 && name ~ 'sm90.*'",    "0000000010"},
	{"name ~ .*gemm",                  "0000100010"},
	{"name !~ .*gemm && time > 1ns",   "0111011100"},
	{"name ~ (relu|loss)",             "0000011000"},
	{"(name ~ relu) || (name ~ loss)", "0000011000"},
	{"name ~ 'step a/b' || time < 2us","0010000110"},
	{"time < 2us || name ~ relu || name ~ e[v)]al", "0000010110"},
	{"path ~ train/** && time < 50us", "0000011000"},
	{"path ~ ROOT/*/*gemm*",           "0000000010"},
	{"path !~ **/*gemm* && calls > 0", "0111011100"},
	{"time > 1ns && (calls == 1 || calls == 5)", "0000001110"},
	{"calls == 3 || calls == 5 && time > 1s", "0000100000"},
	{"**/*gemm*",                      "0000100010"},
	{"*/*gemm*",                       "0000000010"},
	{"ROOT/train",                     "0100000000"},
	{"train/**",                       "0111111000"},
	{"**",                             "0111111111"},
	{"*",                              "0100000101"},
	{"*/**/gemm",                      "0000000000"}, /* to the end of a name */
	{"**/conv?d/*",                    "0000110000"},
	{"**/step a\\/b",                  "0010000000"},
	{"**/step*/relu",                  "0000000000"},
	{"**/step*/**/relu",               "0000010000"},
	{"**/**/loss",                     "0000001000"},
	{"ROOT/train/*b/loss",                  "0000001000"},
};
/* clang-format on */

START_TEST(selects_what_it_should)
{
	static const struct snapshot_spec spec;
	struct session *s = profile();
	struct snapshot *snap = snapshot_new(s, &spec);
	struct selector_error error;
	char got[16] = "";
	struct selector *x;
	uint8_t *marks;

	ck_assert_msg(selector_new(selected[_i].text, &x, &error) == 0, "%s: %s", selected[_i].text,
		      error.why);
	ck_assert_msg(selector_check(x, s, &error) == 0, "%s: %s", selected[_i].text, error.why);
	ck_assert_int_eq(selector_marks(x, snap, NULL, &marks), 0);
	for (uint32_t i = 0; i < snapshot_n(snap); i++)
		got[i] = (char)('0' + marks[i]);
	ck_assert_msg(!strcmp(got, selected[_i].marks), "%s: %s", selected[_i].text, got);
	free(marks);
	selector_free(x);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

/* clang-format off */
static const struct {
	const char *text;
	int r;
	const char *why;
} unknown[] = {
	{"tme > 1", -ENOENT, "no column 'tme'; near it: time"},
	{"time > 1 && cyclops > 1", -ENOENT, "no column 'cyclops'"},
	{"time/parsec > 1", -EINVAL, "no such unit in 'time/parsec'"},
	{"bytes > 1ms", -EINVAL, "a unit that 'bytes' has not"},
	{"time > 4MiB", -EINVAL, "a unit that 'time' has not"},
	{"time > 4K", -EINVAL, "a unit that 'time' has not"},
	{"avg > 5%", -EINVAL, "a unit that 'avg' has not"},
	{"calls > 4B", -EINVAL, "a unit that 'calls' has not"},
	{"bound > 4", -EINVAL, "'bound' is a word"},
	{"p101 > 4", -EINVAL, "no column 'p101'"},
};
/* clang-format on */

START_TEST(knows_the_columns_of_a_profile)
{
	static const struct snapshot_spec spec;
	struct session *s = profile();
	struct snapshot *snap = snapshot_new(s, &spec);
	struct selector_error error;
	struct selector *x;
	uint8_t *marks;

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		ck_assert_int_eq(selector_new(unknown[i].text, &x, &error), 0);
		ck_assert_msg(selector_check(x, s, &error) == unknown[i].r, "%s", unknown[i].text);
		ck_assert_msg(strstr(error.why, unknown[i].why) != NULL, "%s: %s", unknown[i].text,
			      error.why);
		ck_assert_int_eq(selector_marks(x, snap, NULL, &marks), 0);
		for (uint32_t k = 0; k < snapshot_n(snap); k++)
			ck_assert_int_eq(marks[k], 0);
		free(marks);
		selector_free(x);
	}
	snapshot_free(snap);
	session_free(s);
}
END_TEST

/* clang-format off */
static const struct {
	const char *include, *exclude, *shown;
} filtered[] = {
	{"time > 100us", NULL,       "1111111000"}, /* the last one on the path, with what is below */
	{"time > 50us", NULL,        "1111100000"},
	{"time > 1s", NULL,          "0000000000"},
	{"avg < 2us", NULL,          "1111010110"},
	{"name ~ train", NULL,       "1111111000"},
	{"**/conv*", NULL,           "1111110000"},
	{"**/step*/**/relu", NULL,   "1111010000"},
	{NULL, "time < 20us",        "1111100001"},
	{NULL, "time > 1ns",         "1000000001"}, /* the root is the whole */
	{NULL, "**/*gemm*",          "1111011101"},
	{"time > 50us", "**/*gemm*", "1111000000"},
};
/* clang-format on */

START_TEST(filters)
{
	static const struct snapshot_spec spec;
	struct session *s = profile();
	struct snapshot *snap = snapshot_new(s, &spec);
	struct selector *include = NULL, *exclude = NULL;
	struct selector_error error;
	char got[16] = "";
	uint8_t *mask;

	if (filtered[_i].include)
		ck_assert_int_eq(selector_new(filtered[_i].include, &include, &error), 0);
	if (filtered[_i].exclude)
		ck_assert_int_eq(selector_new(filtered[_i].exclude, &exclude, &error), 0);
	ck_assert_int_eq(filter_make(&(struct filter){include, exclude, NULL}, snap, &mask), 0);
	for (uint32_t i = 0; i < snapshot_n(snap); i++)
		got[i] = (char)('0' + mask[i]);
	ck_assert_msg(!strcmp(got, filtered[_i].shown), "case %d: %s", _i, got);
	free(mask);
	selector_free(include);
	selector_free(exclude);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

static bool stop(void *data, size_t done, size_t total)
{
	(void)data;
	(void)done;
	(void)total;
	return false;
}

START_TEST(can_be_stopped)
{
	static const char *const texts[] = {"gemm", "name ~ gemm", "**/gemm"};
	static const struct snapshot_spec spec;
	const struct tick tick = {stop, NULL};
	struct session *s = profile();
	struct snapshot *snap = snapshot_new(s, &spec);
	struct selector_error error;
	struct selector *x;
	uint8_t *mask;

	snapshot_set_tick(snap, &tick);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		ck_assert_int_eq(selector_new(texts[i], &x, &error), 0);
		ck_assert_int_eq(filter_make(&(struct filter){x, NULL, NULL}, snap, &mask),
				 -ECANCELED);
		ck_assert_int_eq(filter_make(&(struct filter){NULL, x, NULL}, snap, &mask),
				 -ECANCELED);
		selector_free(x);
	}
	snapshot_free(snap);
	session_free(s);
}
END_TEST

START_TEST(tells_what_is_left)
{
	static const struct snapshot_spec spec;
	struct session *s = profile();
	struct snapshot *snap = snapshot_new(s, &spec);
	struct selector_error error;
	struct selector *x;
	struct filter_left left;
	char text[FILTER_LEFT_MAX];
	uint8_t *mask;

	ck_assert_int_eq(selector_new("time > 50us", &x, &error), 0);
	ck_assert_int_eq(filter_make(&(struct filter){x, NULL, NULL}, snap, &mask), 0);
	for (unsigned i = 0; i < 3;
	     i++) { /* whether the whole is known from before the mask or not */
		snapshot_mask(snap, mask);
		filter_left(snap, NULL, &left);
		filter_left_text(&left, text);
		ck_assert_str_eq(text, "4 of 9 rows, 90.0us of 111us (81.1 %)");
		snapshot_mask(snap, i ? mask : NULL);
		ck_assert_double_eq(snapshot_column(snap, METRIC_TIME, true)->v[0],
				    i ? 90000 : 111000);
		if (i == 1)
			snapshot_update(snap, 1);
	}
	snapshot_mask(snap, NULL);
	filter_left(snap, NULL, &left);
	filter_left_text(&left, text);
	ck_assert_str_eq(text, "9 of 9 rows, 111us of 111us (100.0 %)");
	free(mask);
	selector_free(x);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

START_TEST(hints_at_why_nothing_is_left)
{
	static const struct {
		const char *text;
		enum filter_hint hint;
	} hints[] = {{"gemm", FILTER_ANCHORED},      {"zebra", FILTER_NO_HINT},
		     {"time>1ms", FILTER_NO_BLANKS}, {"time > 1s", FILTER_NO_HINT},
		     {"**/x", FILTER_NO_HINT},       {"a<b", FILTER_NO_HINT},
		     {"no/path", FILTER_NO_STARS},   {"no/.*", FILTER_NO_HINT}};
	static const struct snapshot_spec spec;
	struct session *s = profile();
	struct snapshot *snap = snapshot_new(s, &spec);
	struct selector_error error;
	struct selector *x;

	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		ck_assert_int_eq(selector_new(hints[i].text, &x, &error), 0);
		ck_assert_msg(filter_hint(x, snap) == hints[i].hint, "%s", hints[i].text);
		selector_free(x);
	}
	ck_assert_int_eq(filter_hint(NULL, snap), FILTER_NO_HINT);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

/* ---- a part of a session ---- */

static struct session *reduced(const struct session *s, const char *exclude, double least_ns,
			       uint32_t depth)
{
	struct reduce_options o = {.least.at = {least_ns, AMOUNT_TIME}, .depth = depth};
	struct selector *x = NULL;
	struct selector_error error;
	struct filter_left left;
	enum filter_hint hint;
	struct session *part = NULL;

	if (exclude)
		ck_assert_int_eq(selector_new(exclude, &x, &error), 0);
	o.filter.exclude = x;
	ck_assert_int_eq(session_reduce(s, &o, &part, &left, &hint), 0);
	selector_free(x);
	return part;
}

static double sum_of(const struct session *s, uint32_t metric)
{
	double sum = 0;

	for (size_t i = 0; i < s->n_rows; i++)
		add_present(&sum, session_row_number(s, &s->rows[i], metric));
	return sum;
}

static uint64_t n_in_hists(const struct session *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_hists; i++)
		n += hist_total(&s->hists[i].hist);
	return n;
}

/* Executions of each kernel, of siblings with one name, on no process. */
static struct session *with_executions(void)
{
	struct session *s = profile();
	uint32_t frame = s->nodes[4].frame,
		 twin = session_node_append(s, s->nodes[4].parent, frame);

	session_add(s, twin, 0, 0, METRIC_TIME, (union metric_value){.u64 = 5});
	session_add(s, 5, 0, 0, METRIC_DIRECTION,
		    (union metric_value){.text = strtab_adds(s->strings, "HtoD")});
	for (uint32_t node = 4; node < s->n_nodes; node++)
		if (s->nodes[node].first_child == SESSION_NONE) {
			struct hist *h = session_hist_of(s, node, SESSION_NONE, SESSION_NONE);

			ck_assert_int_eq(hist_count(h, hist_bin(1000 * node), 1), 0);
			session_interval_add(s, &(struct session_interval){1, 2, node, 0});
		}
	return s;
}

START_TEST(parts_have_their_executions)
{
	struct session *s = with_executions(), *part;
	uint64_t all = n_in_hists(s);

	part = reduced(s, NULL, 0, 100); /* nothing is gone, nothing became one */
	ck_assert_uint_eq(part->n_nodes, s->n_nodes);
	ck_assert_uint_eq(part->n_rows, s->n_rows);
	ck_assert_uint_eq(part->n_processes, s->n_processes);
	ck_assert_uint_eq(n_in_hists(part), all);
	session_free(part);
	part = reduced(s, ".*gemm", 0, 0);
	ck_assert_double_eq(sum_of(part, METRIC_TIME), 20000);
	ck_assert_uint_eq(n_in_hists(part), all - 3);
	ck_assert_uint_eq(part->n_intervals, s->n_intervals - 3);
	ck_assert(session_has_values(part, METRIC_DIRECTION));
	session_free(part);
	part = reduced(s, NULL, 20000, 0);
	ck_assert_double_eq(sum_of(part, METRIC_TIME), sum_of(s, METRIC_TIME));
	ck_assert_double_eq(sum_of(part, METRIC_COUNT), sum_of(s, METRIC_COUNT));
	ck_assert_uint_eq(n_in_hists(part), all);
	ck_assert_uint_eq(part->n_intervals, s->n_intervals);
	ck_assert_uint_eq(part->n_nodes, 5);
	ck_assert(!session_has_values(part, METRIC_DIRECTION)); /* it described what is gone */
	session_free(part);
	session_free(s);
}
END_TEST

START_TEST(globs)
{
	static const char *const yes[][2] = {{"*", ""},      {"a*", "a"},       {"*a*b*", "xaxxbx"},
					     {"a?c", "abc"}, {"?", "\xc3\xb6"}, {"\\*", "*"},
					     {"a\\?", "a?"}, {"**", "x"},       {"*ab", "aab"}};
	static const char *const no[][2] = {{"", "a"},         {"a", ""},    {"a", "ab"},
					    {"?", ""},         {"*a", "ab"}, {"\\*", "x"},
					    {"??", "\xc3\xb6"}};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		ck_assert_msg(glob_match(yes[i][0], yes[i][1]), "%s", yes[i][0]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		ck_assert_msg(!glob_match(no[i][0], no[i][1]), "%s", no[i][0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("select");
	TCase *tc = tcase_create("select");

	tcase_add_test(tc, tells_forms_apart);
	tcase_add_test(tc, puts_names_as_names);
	tcase_add_loop_test(tc, says_what_is_wrong_and_where, 0, ARRAY_SIZE(wrong));
	tcase_add_test(tc, refuses_what_is_nested_too_deep);
	tcase_add_test(tc, refuses_what_is_too_large);
	tcase_add_test(tc, refuses_what_is_too_large_together);
	tcase_add_test(tc, explains_for_people);
	tcase_add_loop_test(tc, selects_what_it_should, 0, ARRAY_SIZE(selected));
	tcase_add_test(tc, knows_the_columns_of_a_profile);
	tcase_add_loop_test(tc, filters, 0, ARRAY_SIZE(filtered));
	tcase_add_test(tc, can_be_stopped);
	tcase_add_test(tc, tells_what_is_left);
	tcase_add_test(tc, hints_at_why_nothing_is_left);
	tcase_add_test(tc, parts_have_their_executions);
	tcase_add_test(tc, globs);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
