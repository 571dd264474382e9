/* SPDX-License-Identifier: MIT */
/* proton kernel: what can be done with the code of kernels, a subcommand each. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdio.h>
#include "base/util.h"
#include "cmd/commands.h"

/* One more: its row here, its file kernel_NAME.c, its part of proton-kernel(1). */
static const struct command subcommands[] = {
	{&command_kernel_dump, cmd_kernel_dump, NULL, false},
	{&command_kernel_assemble, cmd_kernel_assemble, NULL, false},
	{&command_kernel_insert, cmd_kernel_insert, NULL, false},
	{&command_kernel_probe, cmd_kernel_probe, NULL, false},
	{&command_kernel_run, cmd_kernel_run, NULL, false},
	{&command_kernel_ptxas, cmd_kernel_ptxas, NULL, true},
};

static const struct command_table all = {subcommands, ARRAY_SIZE(subcommands), &command_kernel};

/* Without the name of this command. */
static const char *subcommand_name(unsigned i)
{
	return all.v[i].def->name + sizeof("kernel");
}

static void print_subcommands(FILE *out)
{
	fprintf(out, "\nSubcommands:\n");
	for (unsigned i = 0; i < all.n; i++)
		if (!all.v[i].hidden)
			fprintf(out, "  %-10s %s\n", subcommand_name(i), all.v[i].def->summary);
	fprintf(out, "\n'proton kernel SUBCOMMAND --help' says more.\n");
}

const struct command_def command_kernel = {
	.name = "kernel",
	.usage = "SUBCOMMAND [options] …",
	.summary = "look at the code of kernels, where it comes from, and change it",
	.print_more = print_subcommands,
	.below = &all,
};

static int no_option(const struct option_def *option, const char *value, void *arg)
{
	(void)option;
	(void)value;
	(void)arg;
	return -EINVAL;
}

static int unknown(const char *name)
{
	const char *names[ARRAY_SIZE(subcommands)], *near;

	unsigned n = 0;

	for (unsigned i = 0; i < all.n; i++)
		if (!all.v[i].hidden)
			names[n++] = subcommand_name(i);
	near = options_nearest(name, names, n);
	if (near)
		complain("'%s' is not a subcommand of 'kernel', did you mean '%s'? "
			 "(see 'proton kernel --help')",
			 name, near);
	else
		complain("'%s' is not a subcommand of 'kernel' (see 'proton kernel --help')", name);
	return STATUS_USAGE;
}

int cmd_kernel(int argc, char **argv)
{
	int first = options_parse(&command_kernel, argc, argv, no_option, NULL);
	const struct command *c;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first >= argc) {
		complain("'kernel' needs a subcommand (see 'proton kernel --help')");
		return STATUS_USAGE;
	}
	c = command_find(&all, argv[first]);
	return c ? c->run(argc - first, argv + first) : unknown(argv[first]);
}
