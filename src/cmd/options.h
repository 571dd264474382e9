/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_OPTIONS_H
#define PROTON_CMD_OPTIONS_H
/* Each command has one table of options. The parser, --help, the check of the man pages and the
 * shell completions all use it.
 *
 *	enum { OPT_OUTPUT = 1, OPT_QUIET };
 *	static const struct option_def options[] = {
 *		{ .name = "output", .letter = 'o', .arg = "FILE", .help = "write the profile to FILE",
 *		  .id = OPT_OUTPUT },
 *		{ .name = "quiet", .letter = 'q', .help = "print no summary", .id = OPT_QUIET },
 *	};
 *	const struct command_def command_record = {
 *		.name = "record", .usage = "[options] [--] APP [ARGS]",
 *		.summary = "run APP and write its GPU profile",
 *		.options = options, .n_options = ARRAY_SIZE(options),
 *	};
 *
 * -h, --help and --help=all belong to every command and stand in no table.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct option_def {
	const char *name; /* long name without dashes; NULL: only a letter, or a heading */
	char letter;      /* 0: none */
	const char *arg;  /* name of the value; "a|b|c": one of these; NULL: takes no value */
	const char *help; /* one sentence, wrapped when printed; NULL: works, but is not shown */
	int id;           /* the handler's own, for a switch */
	bool optional;    /* --name=VALUE or --name alone: then value is NULL */
	bool rare;        /* left out of --help when the whole would not fit on a screen */
	/* For completions: the values that the option takes, when arg does not list them. Returns
	 * NULL after the last. May be NULL. */
	const char *(*values)(unsigned i);
	void (*list_values)(
		FILE *out); /* the same, printed one a line; for values read from files */
};
/* An entry with neither name nor letter is a heading in --help: OPTION_HEADING("Output:"). */
#define OPTION_HEADING(text)                                                                       \
	{                                                                                          \
		.help = (text)                                                                     \
	}

struct command_table; /* cmd/commands.h */

struct command_def {
	const char *name;              /* NULL: the program itself, before any command */
	const char *usage;             /* what follows the name: "[options] [--] APP [ARGS]" */
	const char *summary;           /* half a line, lower case, no full stop */
	const char *details;           /* printed after the options; NULL: nothing */
	void (*print_more)(FILE *out); /* behind the details, what tables say; may be NULL */
	const struct command_table
		*below;      /* "kernel dump" and its like; NULL: it has no subcommands */
	bool operands_first; /* options may follow operands too (commands that run no program) */
	const struct option_def *options;
	size_t n_options;
};

/* Called for each option in order; value is NULL for one that takes none and else lives in argv.
 * Returns 0; -EINVAL: the value is wrong, and options_parse() prints so; another negative errno:
 * the handler has printed why. */
typedef int (*option_handler)(const struct option_def *option, const char *value, void *arg);

/* The handler of a table whose only option is a switch: arg is the bool that it sets. */
int option_switch(const struct option_def *option, const char *value, void *arg);

/* Parse the options of argv[1..]; argv[0] is the command's name. Stops at "--" (skipped), and at
 * the first operand; with operands_first argv is reordered, operands last. "-" is an operand.
 * Takes --name=value, --name value, -xVALUE, -x VALUE, bundled letters; no shortened names.
 * Returns the index of the first operand (argc: none), always above 0;
 *   0       help was asked for and printed: leave with status 0
 *   -errno  wrong, and a line on stderr says what: leave with status 2 */
int options_parse(const struct command_def *command, int argc, char **argv, option_handler handler,
		  void *arg);

/* Print usage, summary and options in 80 columns. Rare options are left out when the help would not
 * fit on a screen, unless all is set. */
void options_help(FILE *out, const struct command_def *command, bool all);

/* Each shown option, one "--name" or "-x" a line, for scripts. */
void options_list(FILE *out, const struct command_def *command);

/* For completions, each shown option on a line: long name, letter, name of its value and help,
 * separated by tabs; "-" for what it does not have. */
void options_describe(FILE *out, const struct command_def *command);

/* The values of an option that takes one of several, one a line; nothing for any other. */
void options_list_values(FILE *out, const struct command_def *command, const char *name);

/* Parse values for handlers; -EINVAL: malformed or out of range. count: decimal digits only.
 * number: as strtod() reads it, not negative. percent: a number of any sign that may end in "%".
 * seconds: 0.01 or more. What has a unit: amount_parse() of base/units.h. */
int parse_count(const char *text, uint32_t max, uint32_t *ret);
int parse_number(const char *text, double max, double *ret);
int parse_percent(const char *text, double *ret);
int parse_seconds(const char *text, uint64_t *ret_ns);
/* The index of a word among words, or -EINVAL. */
int parse_word(const char *word, const char *const *words, unsigned n);

/* The path to write to: "-" means standard output. */
const char *output_path(const char *value);

/* The candidate that word most likely was meant to be, or NULL when none is near. */
const char *options_nearest(const char *word, const char *const *candidates, size_t n);

#endif
