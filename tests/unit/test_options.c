/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/options.h"
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "base/util.h"
#include "check_main.h"

enum { OPT_OUTPUT = 1, OPT_DEPTH, OPT_QUIET, OPT_VERBOSE, OPT_FORMAT, OPT_SECRET };

static const struct option_def options[] = {
	{.name = "output", .letter = 'o', .arg = "FILE", .help = "write to FILE", .id = OPT_OUTPUT},
	{.letter = 'd', .arg = "N", .help = "only N levels", .id = OPT_DEPTH},
	OPTION_HEADING("Words:"),
	{.name = "quiet", .letter = 'q', .help = "say nothing", .id = OPT_QUIET},
	{.name = "verbose",
	 .letter = 'v',
	 .help = "say more than anybody wants to read, one sentence after the other, until the "
		 "end of the line is reached and the next one begins",
	 .id = OPT_VERBOSE},
	{.name = "format", .arg = "json|hatchet", .help = "form", .id = OPT_FORMAT},
	{.name = "secret", .id = OPT_SECRET},
};

static const struct command_def runs = {
	.name = "record",
	.usage = "[options] [--] APP [ARGS]",
	.summary = "run it",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};
static const struct command_def reads = {
	.name = "report",
	.usage = "[options] FILE",
	.summary = "read it",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

/* What the handler saw: "1=FILE 3 ". */
static char seen[256];
static char said[1024]; /* what was printed */

static int handler(const struct option_def *o, const char *value, void *arg)
{
	size_t n = strlen(seen);

	ck_assert_ptr_eq(arg, seen);
	if (o->id == OPT_DEPTH && strcmp(value, "0") < 0)
		return -EINVAL;
	snprintf(seen + n, sizeof(seen) - n, "%d%s%s ", o->id, value ? "=" : "",
		 value ? value : "");
	return 0;
}

/* Send a stream to a file, and read it back. */
static int capture_begin(FILE *stream, FILE **ret_file)
{
	int saved;

	fflush(stream);
	*ret_file = tmpfile();
	ck_assert_ptr_nonnull(*ret_file);
	saved = dup(fileno(stream));
	ck_assert_int_ge(dup2(fileno(*ret_file), fileno(stream)), 0);
	return saved;
}

static void capture_end(FILE *stream, FILE *file, int saved)
{
	size_t n;

	fflush(stream);
	dup2(saved, fileno(stream));
	close(saved);
	rewind(file);
	n = fread(said, 1, sizeof(said) - 1, file);
	said[n] = 0;
	fclose(file);
}

struct parse_case {
	const struct command_def *command;
	const char *words[8];
	int index;
	const char *seen, *rest, *said;
};

/* clang-format off */
static const struct parse_case cases[] = {
	{ &runs, { "record" }, 1, "", "", "" },
	{ &runs, { "record", "app", "-q" }, 1, "", "app -q ", "" },
	{ &runs, { "record", "--", "-q" }, 2, "", "-q ", "" },
	{ &runs, { "record", "-q", "-", "-v" }, 2, "3 ", "- -v ", "" },
	{ &runs, { "record", "-qv", "app" }, 2, "3 4 ", "app ", "" },
	{ &runs, { "record", "-qoX", "app" }, 2, "3 1=X ", "app ", "" },
	{ &runs, { "record", "-qo", "X", "app" }, 3, "3 1=X ", "app ", "" },
	{ &runs, { "record", "--output=X", "app" }, 2, "1=X ", "app ", "" },
	{ &runs, { "record", "--output=", "app" }, 2, "1= ", "app ", "" },
	{ &runs, { "record", "--output", "--", "app" }, 3, "1=-- ", "app ", "" },
	{ &runs, { "record", "-o", "-q", "app" }, 3, "1=-q ", "app ", "" },
	{ &runs, { "record", "--secret", "app" }, 2, "6 ", "app ", "" },
	{ &runs, { "record", "--format", "json" }, 3, "5=json ", "", "" },
	{ &runs, { "record", "--format", "hatchet", "a" }, 3, "5=hatchet ", "a ", "" },
	{ &reads, { "report", "a", "-q", "b", "-o", "X", "c" }, 4, "3 1=X ", "a b c ", "" },
	{ &reads, { "report", "a", "-q", "--", "-v" }, 3, "3 ", "a -v ", "" },
	{ &reads, { "report", "a" }, 1, "", "a ", "" },
	{ &runs, { "record", "--outp", "X" }, -EINVAL, "", NULL,
	  "proton: unknown option '--outp', did you mean '--output'? (see 'proton record --help')\n" },
	{ &runs, { "record", "--ouptut=X" }, -EINVAL, "", NULL,
	  "proton: unknown option '--ouptut', did you mean '--output'? (see 'proton record --help')\n" },
	{ &runs, { "record", "--foo" }, -EINVAL, "", NULL,
	  "proton: unknown option '--foo' (see 'proton record --help')\n" },
	{ &runs, { "record", "-qx" }, -EINVAL, "3 ", NULL,
	  "proton: unknown option '-x' (see 'proton record --help')\n" },
	{ &runs, { "record", "--output" }, -EINVAL, "", NULL,
	  "proton: option '--output' needs FILE (see 'proton record --help')\n" },
	{ &runs, { "record", "-qo" }, -EINVAL, "3 ", NULL,
	  "proton: option '-o' needs FILE (see 'proton record --help')\n" },
	{ &runs, { "record", "--quiet=1" }, -EINVAL, "", NULL,
	  "proton: option '--quiet' takes no value (see 'proton record --help')\n" },
	{ &runs, { "record", "--format=xml" }, -EINVAL, "", NULL,
	  "proton: option '--format' takes json|hatchet, not 'xml' (see 'proton record --help')\n" },
	{ &runs, { "record", "--format", "json|hatchet" }, -EINVAL, "", NULL,
	  "proton: option '--format' takes json|hatchet, not 'json|hatchet' "
	  "(see 'proton record --help')\n" },
	{ &runs, { "record", "-d", "-1" }, -EINVAL, "", NULL,
	  "proton: option '-d' cannot take '-1' (see 'proton record --help')\n" },
};
/* clang-format on */

START_TEST(parses)
{
	const struct parse_case *c = &cases[_i];
	char *argv[ARRAY_SIZE(c->words) + 1] = {NULL};
	char rest[128] = "";
	int argc = 0, saved, index;
	FILE *file;

	for (; argc < (int)ARRAY_SIZE(c->words) && c->words[argc]; argc++)
		argv[argc] = (char *)c->words[argc];
	seen[0] = 0;
	saved = capture_begin(stderr, &file);
	index = options_parse(c->command, argc, argv, handler, seen);
	capture_end(stderr, file, saved);
	ck_assert_str_eq(said, c->said);
	ck_assert_int_eq(index, c->index);
	ck_assert_str_eq(seen, c->seen);
	if (!c->rest)
		return;
	for (int i = index; i < argc; i++) {
		size_t n = strlen(rest);

		snprintf(rest + n, sizeof(rest) - n, "%s ", argv[i]);
	}
	ck_assert_str_eq(rest, c->rest);
}
END_TEST

START_TEST(help_fits_a_screen)
{
	char *argv[] = {(char *)"record", (char *)"-q", (char *)"-h", (char *)"--nonsense", NULL};
	FILE *file;
	int saved, index;

	seen[0] = 0;
	saved = capture_begin(stdout, &file);
	index = options_parse(&runs, 4, argv, handler, seen);
	capture_end(stdout, file, saved);
	ck_assert_int_eq(index, 0);
	ck_assert_str_eq(
		said,
		"Usage: proton record [options] [--] APP [ARGS]\n"
		"\n"
		"run it\n"
		"\n"
		"Options:\n"
		"  -o, --output FILE       write to FILE\n"
		"  -d N                    only N levels\n"
		"\n"
		"Words:\n"
		"  -q, --quiet             say nothing\n"
		"  -v, --verbose           say more than anybody wants to read, one sentence\n"
		"                          after the other, until the end of the line is reached\n"
		"                          and the next one begins\n"
		"      --format json|hatchet\n"
		"                          form\n"
		"  -h, --help              show this help\n");
}
END_TEST

static const char *rare_value(unsigned i)
{
	return i < 2 ? i ? "two" : "one" : NULL;
}

/* More options than a screen has lines. */
START_TEST(help_without_rare_options)
{
	struct option_def many[31] = {OPTION_HEADING("Often:")};
	struct command_def command = {.name = "record",
				      .usage = "APP",
				      .summary = "run it",
				      .options = many,
				      .n_options = ARRAY_SIZE(many)};
	char *all[] = {(char *)"record", (char *)"--help=all", NULL};
	char *wrong[] = {(char *)"record", (char *)"--help=some", NULL};
	FILE *file;
	int saved;

	for (size_t i = 1; i < ARRAY_SIZE(many); i++)
		many[i] = (struct option_def){
			.letter = (char)('A' + i), .help = "once", .rare = i > 2};
	many[2] = (struct option_def)OPTION_HEADING("Seldom:");
	many[3].name = "rare";
	many[3].arg = "WHICH";
	many[3].values = rare_value;
	saved = capture_begin(stdout, &file);
	options_help(stdout, &command, false);
	capture_end(stdout, file, saved);
	ck_assert_str_eq(said, "Usage: proton record APP\n\nrun it\n\nOften:\n"
			       "  -B                      once\n"
			       "  -h, --help[=all]        show this help, or all options\n");
	saved = capture_begin(stdout, &file);
	ck_assert_int_eq(options_parse(&command, 2, all, handler, seen), 0);
	capture_end(stdout, file, saved);
	ck_assert_ptr_nonnull(strstr(said, "\n\nSeldom:\n  -D, --rare WHICH        once\n"));
	saved = capture_begin(stderr, &file);
	ck_assert_int_eq(options_parse(&command, 2, wrong, handler, seen), -EINVAL);
	capture_end(stderr, file, saved);
	ck_assert_str_eq(said, "proton: option '--help' takes all, not 'some' "
			       "(see 'proton record --help')\n");
	saved = capture_begin(stdout, &file);
	options_list_values(stdout, &command, "rare");
	capture_end(stdout, file, saved);
	ck_assert_str_eq(said, "one\ntwo\n");
}
END_TEST

START_TEST(lists_for_scripts)
{
	FILE *file = tmpfile();

	options_list(file, &runs);
	options_list_values(file, &runs, "format");
	options_list_values(file, &runs, "output");
	options_list_values(file, &runs, "nothing");
	rewind(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = 0;
	fclose(file);
	ck_assert_str_eq(said,
			 "-o\n--output\n-d\n-q\n--quiet\n-v\n--verbose\n--format\n-h\n--help\n"
			 "json\nhatchet\n");
}
END_TEST

START_TEST(nearest_word)
{
	static const char *const words[] = {"record", "report", "top", "view", "version"};
	char big[200];

	ck_assert_str_eq(options_nearest("recrod", words, 5), "record");
	ck_assert_str_eq(options_nearest("repot", words, 5), "report");
	ck_assert_str_eq(options_nearest("tpo", words, 5), "top");
	ck_assert_ptr_null(options_nearest("python", words, 5));
	ck_assert_ptr_null(options_nearest("", words, 5));
	ck_assert_ptr_null(options_nearest("top", words, 0));
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	ck_assert_ptr_null(options_nearest(big, words, 5));
}
END_TEST

/* clang-format off */
static const struct {
	const char *text;
	double value;
	enum amount_unit unit;
} amounts[] = {
	{"1ms", 1e6, AMOUNT_TIME},        {"2.5 us", 2500, AMOUNT_TIME},  {"3s", 3e9, AMOUNT_TIME},
	{"1min", 60e9, AMOUNT_TIME},      {"-7ns", -7, AMOUNT_TIME},      {"0.1h", 360e9, AMOUNT_TIME},
	{"4MiB", 4 << 20, AMOUNT_BYTES},  {"2KB", 2000, AMOUNT_BYTES},    {"9B", 9, AMOUNT_BYTES},
	{"1.5GB", 1.5e9, AMOUNT_BYTES},   {"1kB", 1e3, AMOUNT_BYTES},     {"4Ki", 4096, AMOUNT_SCALED},
	{"20K", 2e4, AMOUNT_SCALED},      {"20k", 2e4, AMOUNT_SCALED},    {"1E", 1e18, AMOUNT_SCALED},
	{"5%", 5, AMOUNT_PERCENT},        {" 12 ", 12, AMOUNT_PLAIN},     {"1e3", 1000, AMOUNT_PLAIN},
	{".5", 0.5, AMOUNT_PLAIN},        {"+1", 1, AMOUNT_PLAIN},        {"1e3ms", 1e9, AMOUNT_TIME},
	{"\t1\tms\t", 1e6, AMOUNT_TIME},
};
/* clang-format on */

START_TEST(reads_amounts)
{
	static const char *const wrong[] = {"",     " ",   "ms",   "1m",  "1MS",   "1mb",  "1 m s",
					    "0x1f", "inf", "+inf", "nan", "1e999", "1%%",  "%",
					    "1ms2", "1KK", "1,5",  "--1", "1 %x",  "1Mib", "1KiBB"};
	struct amount a;

	for (size_t i = 0; i < ARRAY_SIZE(amounts); i++) {
		ck_assert_msg(amount_parse(amounts[i].text, strlen(amounts[i].text), &a) == 0, "%s",
			      amounts[i].text);
		ck_assert_double_eq_tol(a.value, amounts[i].value, fabs(amounts[i].value) * 1e-12);
		ck_assert_int_eq(a.unit, amounts[i].unit);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		ck_assert_msg(amount_parse(wrong[i], strlen(wrong[i]), &a) == -EINVAL, "%s",
			      wrong[i]);
	ck_assert_int_eq(amount_parse("1ms && more", 3, &a), 0);
}
END_TEST

START_TEST(values)
{
	static const char *const no_counts[] = {
		"",   "-1", "+1", " 1", "1 ", "1.5", "1e3", "0x10", "11", "99999999999999999999999",
		"ten"};
	static const char *const no_numbers[] = {"", "-1", "11", "nan", "inf", "1x", "%"};
	static const char *const words[] = {"text", "json"};
	uint32_t count = 7;
	uint64_t ns = 7;
	double v = 7;

	for (size_t i = 0; i < ARRAY_SIZE(no_counts); i++)
		ck_assert_int_eq(parse_count(no_counts[i], 10, &count), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(no_numbers); i++)
		ck_assert_int_eq(parse_number(no_numbers[i], 10, &v), -EINVAL);
	ck_assert_uint_eq(count, 7); /* written on success only */
	ck_assert(v == 7);
	ck_assert_int_eq(parse_count("010", 10, &count), 0);
	ck_assert_uint_eq(count, 10);
	ck_assert_int_eq(parse_count("4294967295", UINT32_MAX, &count), 0);
	ck_assert_int_eq(parse_number("2.5e0", 10, &v), 0);
	ck_assert(v == 2.5);
	ck_assert_int_eq(parse_percent("-1.5%", &v), 0);
	ck_assert(v == -1.5);
	ck_assert_int_eq(parse_percent("1000", &v), 0);
	ck_assert(v == 1000);
	ck_assert_int_eq(parse_percent("%", &v), -EINVAL);
	ck_assert_int_eq(parse_percent("1%%", &v), -EINVAL);
	ck_assert_int_eq(parse_percent("1ms", &v), -EINVAL);
	ck_assert_int_eq(parse_seconds("0.25", &ns), 0);
	ck_assert_uint_eq(ns, 250000000);
	ck_assert_int_eq(parse_seconds("0.001", &ns), -EINVAL);
	ck_assert_int_eq(parse_seconds("1e9", &ns), -EINVAL);
	ck_assert_int_eq(parse_word("json", words, 2), 1);
	ck_assert_int_eq(parse_word("jso", words, 2), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("options");
	TCase *tc = tcase_create("options");

	tcase_add_loop_test(tc, parses, 0, ARRAY_SIZE(cases));
	tcase_add_test(tc, reads_amounts);
	tcase_add_test(tc, help_fits_a_screen);
	tcase_add_test(tc, help_without_rare_options);
	tcase_add_test(tc, lists_for_scripts);
	tcase_add_test(tc, nearest_word);
	tcase_add_test(tc, values);
	suite_add_tcase(s, tc);
	return check_run(s);
}
