/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_COMMANDS_H
#define PROTON_CMD_COMMANDS_H
/* The commands: each file NAME.c has one table of options and one function, which returns the exit
 * status (STATUS_*). Nothing outside this folder ends the process. */
#include <stdbool.h>
#include "cmd/options.h"
#include "launch/launch.h"
#include "report/print_line.h"

struct command {
	const struct command_def *def;
	int (*run)(int argc, char **argv); /* argv[0] is the command's name */
	const char *alias;
	bool hidden; /* not for people: no list of commands has it */
};

/* All of them, as help is told: main.c has the list, which help is in. */
struct command_table {
	const struct command *v;
	unsigned n;
	const struct command_def *program; /* proton itself */
};

extern const struct command_def command_record, command_top, command_view, command_report,
	command_export, command_list, command_diff, command_merge, command_advise, command_doctor,
	command_kernel, command_metrics, command_viewer, command_receive, command_rewrite,
	command_script, command_help, command_version;
int cmd_record(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_advise(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_kernel(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_viewer(int argc, char **argv); /* also as the program "proton-viewer" */
int cmd_receive(int argc, char **argv);
int cmd_rewrite(int argc, char **argv);
/* Triton's words: is_script(): they begin with this one, and need no command's name. */
int cmd_script(int argc, char **argv);
bool is_script(const char *word);
/* Subcommands of "kernel", whose table is in kernel.c. */
extern const struct command_def command_kernel_assemble, command_kernel_dump, command_kernel_insert,
	command_kernel_probe, command_kernel_ptxas, command_kernel_run;
int cmd_kernel_assemble(int argc, char **argv);
int cmd_kernel_dump(int argc, char **argv);
int cmd_kernel_insert(int argc, char **argv);
int cmd_kernel_probe(int argc, char **argv);
int cmd_kernel_ptxas(int argc, char **argv);
int cmd_kernel_run(int argc, char **argv);
int cmd_help(const struct command_table *all, int argc, char **argv);
int cmd_version(int argc, char **argv);
/* By its name, of a subcommand the last word of that, or alias; NULL: there is none. */
const struct command *command_find(const struct command_table *all, const char *name);

#endif
