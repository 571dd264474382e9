/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/options.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/near.h"
#include "base/shown.h"
#include "base/units.h"
#include "base/util.h"
#include "report/print_line.h"

#define HELP_WIDTH  80
#define HELP_LINES  23 /* of a terminal with 24 lines; the last is for the prompt */
#define HELP_COLUMN 26 /* where the sentences of --help begin */

enum { OPTION_ID_HELP = -1 };

static const struct option_def help_option = {
	.name = "help",
	.letter = 'h',
	.help = "show this help",
	.id = OPTION_ID_HELP,
};

struct parser {
	const struct command_def *command;
	option_handler handler;
	void *arg;
	int argc;
	char **argv;
	int next; /* index of the next word to look at */
};

/* The line for --help when rare options are left out. */
static const struct option_def help_all_option = {
	.name = "help[=all]",
	.letter = 'h',
	.help = "show this help, or all options",
};

static bool is_heading(const struct option_def *o)
{
	return !o->name && !o->letter;
}

/* Tables hold a few dozen entries: a walk is quick enough. The last entry is always --help. */
static const struct option_def *nth_option(const struct command_def *c, size_t i)
{
	return i < c->n_options ? &c->options[i] : i == c->n_options ? &help_option : NULL;
}

static const struct option_def *find_name(const struct command_def *c, const char *name, size_t len)
{
	const struct option_def *o;

	for (size_t i = 0; (o = nth_option(c, i)); i++)
		if (o->name && !strncmp(o->name, name, len) && !o->name[len])
			return o;
	return NULL;
}

static const struct option_def *find_letter(const struct command_def *c, char letter)
{
	const struct option_def *o;

	for (size_t i = 0; (o = nth_option(c, i)); i++)
		if (o->letter && o->letter == letter)
			return o;
	return NULL;
}

/* "proton: <what> (see 'proton top --help')"; always -EINVAL. */
static int _printf_(2, 3) usage_error(const struct command_def *c, const char *format, ...)
{
	char see[64];
	va_list ap;

	snprintf(see, sizeof(see), " (see 'proton%s%s --help')", c->name ? " " : "",
		 c->name ? c->name : "");
	va_start(ap, format);
	print_line_within(stderr, "proton: ", format, ap, see);
	va_end(ap);
	return -EINVAL;
}

/* Is value one of the alternatives in "a|b|c"? */
static bool is_choice(const char *choices, const char *value)
{
	size_t len = strlen(value);

	for (const char *p = choices; *p; p += *p == '|') {
		size_t n = strcspn(p, "|");

		if (n == len && !strncmp(p, value, n))
			return true;
		p += n;
	}
	return false;
}

/* "tree, kernels, memory", as many as there is room for. */
static const char *join_values(const struct option_def *o, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (unsigned i = 0; o->values(i) && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "", o->values(i));
	return out;
}

/* Hand one option over; shown is how the user wrote it, for messages. */
static int deliver(struct parser *p, const struct option_def *o, const char *shown,
		   size_t shown_len, const char *value)
{
	char values[256];
	int r;

	if (o->id == OPTION_ID_HELP && value && strcmp(value, "all") != 0)
		return usage_error(p->command, "option '%.*s' takes all, not '%s'", (int)shown_len,
				   shown, value);
	if (o->id == OPTION_ID_HELP) {
		options_help(stdout, p->command, value);
		return -ECANCELED;
	}
	if (value && strchr(o->arg, '|') && !is_choice(o->arg, value))
		return usage_error(p->command, "option '%.*s' takes %s, not '%s'", (int)shown_len,
				   shown, o->arg, value);
	r = p->handler(o, value, p->arg);
	if (r == -EINVAL && o->values)
		return usage_error(p->command, "option '%.*s' takes %s, not '%s'", (int)shown_len,
				   shown, join_values(o, values, sizeof(values)), value);
	if (r == -EINVAL)
		return usage_error(p->command, "option '%.*s' cannot take '%s'", (int)shown_len,
				   shown, value ? value : "");
	return r < 0 ? r : 0;
}

/* The candidate that somebody may have meant; NULL: none is like it. */
static const char *nearest(const char *word, size_t len, const char *const *candidates, size_t n)
{
	/* A third of the letters may differ: enough for a slip, too few for another word. */
	unsigned limit = (unsigned)(len + 2) / 3, best = UINT_MAX;
	const char *near = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned d = edit_distance(word, len, candidates[i], strlen(candidates[i]), false);

		if (d > limit || d >= best)
			continue;
		near = candidates[i];
		best = d;
	}
	return near;
}

static int unknown_name(const struct command_def *c, const char *name, size_t len)
{
	const char *names[128], *near;
	const struct option_def *o;
	size_t n = 0;

	for (size_t i = 0; (o = nth_option(c, i)) && n < ARRAY_SIZE(names); i++)
		if (o->name && o->help)
			names[n++] = o->name;
	near = nearest(name, len, names, n);
	if (near)
		return usage_error(c, "unknown option '--%.*s', did you mean '--%s'?", (int)len,
				   name, near);
	return usage_error(c, "unknown option '--%.*s'", (int)len, name);
}

/* --name, --name=value or --name value */
static int parse_long(struct parser *p, const char *word)
{
	const char *name = word + 2, *value = NULL;
	size_t len = strcspn(name, "="), shown_len = len + 2;
	const struct option_def *o = find_name(p->command, name, len);

	if (!o)
		return unknown_name(p->command, name, len);
	if (name[len] == '=')
		value = name + len + 1;
	if (!o->arg && value && o->id != OPTION_ID_HELP)
		return usage_error(p->command, "option '%.*s' takes no value", (int)shown_len,
				   word);
	if (o->arg && !value && !o->optional) {
		if (p->next >= p->argc)
			return usage_error(p->command, "option '%s' needs %s", word, o->arg);
		value = p->argv[p->next++];
	}
	return deliver(p, o, word, shown_len, value);
}

/* -x, -xyz, -xVALUE or -x VALUE */
static int parse_letters(struct parser *p, const char *word)
{
	for (const char *l = word + 1; *l; l++) {
		const struct option_def *o = find_letter(p->command, *l);
		char shown[] = {'-', *l, 0};
		const char *value = NULL;
		int r;

		if (!o)
			return usage_error(p->command, "unknown option '%s'", shown);
		if (o->arg) {
			if (l[1])
				value = l + 1;
			else if (p->next < p->argc)
				value = p->argv[p->next++];
			else
				return usage_error(p->command, "option '%s' needs %s", shown,
						   o->arg);
		}
		r = deliver(p, o, shown, 2, value);
		if (r < 0)
			return r;
		if (value)
			return 0;
	}
	return 0;
}

/* Move the words [from, p->next) in front of the operands that begin at first. */
static void move_before(struct parser *p, int first, int from)
{
	for (int i = from; i < p->next; i++) {
		char *word = p->argv[i];

		memmove(&p->argv[first + 1], &p->argv[first],
			(size_t)(i - first) * sizeof(*p->argv));
		p->argv[first++] = word;
	}
}

int option_switch(const struct option_def *option, const char *value, void *arg)
{
	(void)option;
	(void)value;
	*(bool *)arg = true;
	return 0;
}

int options_parse(const struct command_def *command, int argc, char **argv, option_handler handler,
		  void *arg)
{
	struct parser p = {command, handler, arg, argc, argv, 1};
	int first = 1; /* operands passed over so far lie in [first, p.next) */

	while (p.next < argc) {
		int from = p.next, r;
		const char *word = argv[p.next];

		if (word[0] != '-' || !word[1]) {
			if (!command->operands_first)
				break;
			p.next++;
			continue;
		}
		p.next++;
		if (!strcmp(word, "--")) {
			move_before(&p, first, from);
			return first + 1;
		}
		r = word[1] == '-' ? parse_long(&p, word) : parse_letters(&p, word);
		if (r == -ECANCELED)
			return 0;
		if (r < 0)
			return r;
		move_before(&p, first, from);
		first += p.next - from;
	}
	return first;
}

/* Print text from column to HELP_WIDTH, continuing lines at column; ends the line. */
static void print_wrapped(FILE *out, const char *text, size_t column)
{
	size_t at = column;

	for (const char *p = text; *p;) {
		size_t len = strcspn(p, " ");

		if (at > column && at + 1 + len >= HELP_WIDTH) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		if (at > column) {
			fputc(' ', out);
			at++;
		}
		fwrite(p, 1, len, out);
		at += len;
		p += len;
		p += strspn(p, " ");
	}
	fputc('\n', out);
}

static void print_option(FILE *out, const struct option_def *o)
{
	char left[HELP_WIDTH], arg[HELP_WIDTH] = "";
	int n;

	if (is_heading(o)) {
		fprintf(out, "\n%s\n", o->help);
		return;
	}
	if (o->letter && o->name)
		n = snprintf(left, sizeof(left), "  -%c, --%s", o->letter, o->name);
	else if (o->letter)
		n = snprintf(left, sizeof(left), "  -%c", o->letter);
	else
		n = snprintf(left, sizeof(left), "      --%s", o->name);
	if (o->arg)
		snprintf(arg, sizeof(arg), o->optional ? "[=%s]" : " %s", o->arg);
	n += (int)strlen(arg);
	fprintf(out, "%s%s", left, arg);
	if (n + 2 > HELP_COLUMN)
		fprintf(out, "\n%*s", HELP_COLUMN, "");
	else
		fprintf(out, "%*s", HELP_COLUMN - n, "");
	print_wrapped(out, o->help, HELP_COLUMN);
}

static bool is_shown(const struct option_def *o, bool all)
{
	return !is_heading(o) && o->help && (all || !o->rare);
}

/* Is any option below this heading shown? */
static bool heads_something(const struct command_def *c, size_t heading, bool all)
{
	const struct option_def *o;

	for (size_t i = heading + 1; i < c->n_options && !is_heading(o = &c->options[i]); i++)
		if (is_shown(o, all))
			return true;
	return false;
}

static void print_help(FILE *out, const struct command_def *c, bool all)
{
	fprintf(out, "Usage: proton%s%s %s\n\n", c->name ? " " : "", c->name ? c->name : "",
		c->usage);
	print_wrapped(out, c->summary, 0);
	if (!c->n_options || !is_heading(&c->options[0]))
		fputs("\nOptions:\n", out);
	for (size_t i = 0; i < c->n_options; i++)
		if (is_shown(&c->options[i], all) ||
		    (is_heading(&c->options[i]) && heads_something(c, i, all)))
			print_option(out, &c->options[i]);
	print_option(out, all ? &help_option : &help_all_option);
	if (c->details)
		fprintf(out, "\n%s", c->details);
	if (c->print_more)
		c->print_more(out);
}

/* Does the whole help fit on a screen? "No" when there is no memory to find out. */
static bool fits_screen(const struct command_def *c)
{
	_cleanup_(freep) char *text = NULL;
	size_t size, lines = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return false;
	print_help(out, c, true);
	if (fclose(out) != 0)
		return false;
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	return lines <= HELP_LINES;
}

void options_help(FILE *out, const struct command_def *command, bool all)
{
	print_help(out, command, all || fits_screen(command));
}

void options_list(FILE *out, const struct command_def *command)
{
	const struct option_def *o;

	for (size_t i = 0; (o = nth_option(command, i)); i++) {
		if (is_heading(o) || !o->help)
			continue;
		if (o->letter)
			fprintf(out, "-%c\n", o->letter);
		if (o->name)
			fprintf(out, "--%s\n", o->name);
	}
}

void options_describe(FILE *out, const struct command_def *command)
{
	const struct option_def *o;

	for (size_t i = 0; (o = nth_option(command, i)); i++) {
		if (is_heading(o) || !o->help)
			continue;
		fprintf(out, "%s\t%c\t%s\t%s\n", o->name ? o->name : "-",
			o->letter ? o->letter : '-', o->arg && !o->optional ? o->arg : "-",
			o->help);
	}
}

void options_list_values(FILE *out, const struct command_def *command, const char *name)
{
	const struct option_def *o = find_name(command, name, strlen(name));

	if (o && o->values)
		for (unsigned i = 0; o->values(i); i++)
			fprintf(out, "%s\n", o->values(i));
	if (o && o->list_values)
		o->list_values(out);
	if (!o || !o->arg || !strchr(o->arg, '|'))
		return;
	for (const char *p = o->arg; *p; p++)
		fputc(*p == '|' ? '\n' : *p, out);
	fputc('\n', out);
}

const char *options_nearest(const char *word, const char *const *candidates, size_t n)
{
	return nearest(word, strlen(word), candidates, n);
}

/* ---- values ---- */

int parse_count(const char *text, uint32_t max, uint32_t *ret)
{
	uint64_t v = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		v = v * 10 + (uint64_t)(*text - '0');
		if (v > max)
			return -EINVAL;
	}
	*ret = (uint32_t)v;
	return 0;
}

int parse_number(const char *text, double max, double *ret)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0 && v <= max))
		return -EINVAL;
	*ret = v;
	return 0;
}

int parse_percent(const char *text, double *ret)
{
	struct amount amount;

	if (amount_parse(text, strlen(text), &amount) < 0 ||
	    (amount.unit != AMOUNT_PLAIN && amount.unit != AMOUNT_PERCENT))
		return -EINVAL;
	*ret = amount.value;
	return 0;
}

int parse_seconds(const char *text, uint64_t *ret_ns)
{
	double seconds;
	int r = parse_number(text, 1e6, &seconds);

	if (r < 0 || seconds < 0.01)
		return -EINVAL;
	*ret_ns = (uint64_t)(seconds * 1e9);
	return 0;
}

int parse_word(const char *word, const char *const *words, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(word, words[i]))
			return (int)i;
	return -EINVAL;
}

const char *output_path(const char *value)
{
	return strcmp(value, "-") ? value : "/dev/stdout";
}
