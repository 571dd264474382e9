/* SPDX-License-Identifier: MIT */
/* proton help, proton version. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/util.h"
#include "cmd/commands.h"
#include "core/backends.h"

enum {
	OPT_LIST_OPTIONS = 1,
	OPT_LIST_VALUES,
	OPT_LIST_COMMANDS,
	OPT_DESCRIBE,
	OPT_DESCRIBE_COMMANDS,
	OPT_ALL
};

/* clang-format off */
static const struct option_def options[] = {
	{.name = "all", .letter = 'a', .help = "with the rare options", .id = OPT_ALL},
	{.name = "list-commands", .arg = "COMMAND", .optional = true,
	 .help = "print the commands, or those below one, one a line", .id = OPT_LIST_COMMANDS},
	{.name = "list-options", .arg = "COMMAND", .help = "print its options, one a line",
	 .id = OPT_LIST_OPTIONS},
	{.name = "list-values", .arg = "COMMAND:OPTION", .help = "print an option's values, one a line",
	 .id = OPT_LIST_VALUES},
	{.name = "describe", .arg = "COMMAND",
	 .help = "print its options, what they take and do, with tabs between", .id = OPT_DESCRIBE},
	{.name = "describe-commands", .arg = "COMMAND", .optional = true,
	 .help = "print the commands, or those below one, and what they do, with a tab between",
	 .id = OPT_DESCRIBE_COMMANDS},
};
/* clang-format on */

const struct command_def command_help = {
	.name = "help",
	.usage = "[options] [COMMAND [SUBCOMMAND]]",
	.summary = "say how a command is used",
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

const struct command_def command_version = {
	.name = "version",
	.usage = "",
	.summary = "print the version and what is built in",
};

/* What it is called within its table. */
static const char *last_word(const char *name)
{
	const char *blank = strrchr(name, ' ');

	return blank ? blank + 1 : name;
}

const struct command *command_find(const struct command_table *all, const char *name)
{
	for (unsigned i = 0; i < all->n; i++)
		if (!strcmp(last_word(all->v[i].def->name), name) ||
		    (all->v[i].alias && !strcmp(all->v[i].alias, name)))
			return &all->v[i];
	return NULL;
}

/* Of "kernel dump" the second word is looked for below the first. */
static const struct command_def *find(const struct command_table *all, const char *name)
{
	const char *blank = strchr(name, ' ');
	_cleanup_(freep) char *first = strndup(name, strcspn(name, " "));
	const struct command *c = first ? command_find(all, first) : NULL;

	if (c && blank)
		c = c->def->below ? command_find(c->def->below, blank + 1) : NULL;
	return c ? c->def : strcmp(name, "proton") ? NULL : all->program;
}

static int overview(const struct command_table *all, FILE *out)
{
	unsigned i;

	fprintf(out, "Usage: proton [--version] [--help] COMMAND [options] …\n\n"
		     "Profile GPU programs from the terminal.\n\n");
	for (i = 0; i < all->n; i++)
		if (!all->v[i].hidden)
			fprintf(out, "  %-9s %s\n", all->v[i].def->name, all->v[i].def->summary);
	fprintf(out, "\nStart with:\n"
		     "  proton top ./app                 watch its GPU call tree while it runs\n"
		     "  proton record -o run.hatchet ./app\n"
		     "  proton view run.hatchet\n\n"
		     "'proton COMMAND --help[=all]' and 'man proton-COMMAND' say more.\n");
	return STATUS_OK;
}

static int unknown(const char *name)
{
	complain("'%s' is not a command (see 'proton help')", name);
	return STATUS_USAGE;
}

static int list_values(const struct command_table *all, const char *spec)
{
	const char *colon = strchr(spec, ':');
	const struct command_def *def;
	char name[64];

	if (!colon || (size_t)(colon - spec) >= sizeof(name))
		return unknown(spec);
	memcpy(name, spec, (size_t)(colon - spec));
	name[colon - spec] = '\0';
	def = find(all, name);
	if (!def)
		return unknown(name);
	options_list_values(stdout, def, colon + 1);
	return STATUS_OK;
}

struct request {
	int id;
	const char *value;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	*(struct request *)arg = (struct request){option->id, value};
	return 0;
}

/* All, or those below a command: it may have none. */
static int list_commands(const struct command_table *all, const struct request *r)
{
	const struct command_def *def = r->value ? find(all, r->value) : NULL;
	const struct command_table *table = def ? def->below : all;

	if (r->value && !def)
		return unknown(r->value);
	for (unsigned i = 0; table && i < table->n; i++)
		if (!table->v[i].hidden)
			printf(r->id == OPT_LIST_COMMANDS ? "%s\n" : "%s\t%s\n",
			       last_word(table->v[i].def->name), table->v[i].def->summary);
	return STATUS_OK;
}

static int list(const struct command_table *all, const struct request *r)
{
	const struct command_def *def;

	if (r->id == OPT_LIST_VALUES)
		return list_values(all, r->value);
	if (r->id == OPT_LIST_COMMANDS || r->id == OPT_DESCRIBE_COMMANDS)
		return list_commands(all, r);
	def = find(all, r->value);
	if (!def)
		return unknown(r->value);
	if (r->id == OPT_DESCRIBE)
		options_describe(stdout, def);
	else
		options_list(stdout, def);
	return STATUS_OK;
}

int cmd_help(const struct command_table *all, int argc, char **argv)
{
	struct request request = {0};
	const struct command_def *def;
	char name[64];
	int first = options_parse(&command_help, argc, argv, on_option, &request);

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (request.id && request.id != OPT_ALL)
		return list(all, &request);
	if (first >= argc)
		return overview(all, stdout);
	snprintf(name, sizeof(name), "%s%s%s", argv[first], first + 1 < argc ? " " : "",
		 first + 1 < argc ? argv[first + 1] : "");
	def = find(all, name);
	if (!def)
		return unknown(name);
	options_help(stdout, def, request.id == OPT_ALL);
	return STATUS_OK;
}

/* It has no options but those of all commands. */
static int no_option(const struct option_def *option, const char *value, void *arg)
{
	return -EINVAL;
}

int cmd_version(int argc, char **argv)
{
	int first = options_parse(&command_version, argc, argv, no_option, NULL);

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first < argc) {
		complain("'version' takes nothing more (see 'proton version --help')");
		return STATUS_USAGE;
	}
	printf("proton " PACKAGE_VERSION "\n");
	printf("backends: "
#define _(id, name, door, word, title, variable, unseen, about) #name " (" about "), "
	       BACKENDS_OF_USERS(_)
#undef _
		       "host\n");
#ifdef HAVE_DEMANGLER
	printf("names: demangled by libiberty\n");
#else
	printf("names: not demangled (built without libiberty)\n");
#endif
#ifdef HAVE_LIBDW
	printf("compiled functions: named by libdw\n");
#else
	printf("compiled functions: without names (built without libdw)\n");
#endif
	return STATUS_OK;
}
