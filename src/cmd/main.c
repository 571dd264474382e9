/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/log.h"
#include "base/shown.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/run_options.h"

enum { OPT_VERSION = 1 };
static const struct option_def proton_options[] = {
	{.name = "version",
	 .letter = 'V',
	 .help = "print the version and what is built in",
	 .id = OPT_VERSION},
};
static const struct command_def command_proton = {
	.name = NULL,
	.usage = "[--version] [--help] COMMAND [options] …",
	.summary = "profile GPU programs from the terminal",
	.options = proton_options,
	.n_options = ARRAY_SIZE(proton_options),
};

static int help(int argc, char **argv);

static const struct command commands[] = {
	{&command_top, cmd_top, NULL, false},         {&command_record, cmd_record, "run", false},
	{&command_view, cmd_view, NULL, false},       {&command_report, cmd_report, NULL, false},
	{&command_export, cmd_export, NULL, false},   {&command_list, cmd_list, NULL, false},
	{&command_diff, cmd_diff, NULL, false},       {&command_advise, cmd_advise, NULL, false},
	{&command_merge, cmd_merge, NULL, false},     {&command_doctor, cmd_doctor, NULL, false},
	{&command_metrics, cmd_metrics, NULL, false}, {&command_kernel, cmd_kernel, NULL, false},
	{&command_viewer, cmd_viewer, NULL, false},   {&command_script, cmd_script, NULL, false},
	{&command_receive, cmd_receive, NULL, true},  {&command_rewrite, cmd_rewrite, NULL, true},
	{&command_help, help, NULL, false},           {&command_version, cmd_version, NULL, false},
};

static const struct command_table all = {commands, ARRAY_SIZE(commands), &command_proton};

static int help(int argc, char **argv)
{
	return cmd_help(&all, argc, argv);
}

/* A file that nobody can run: more likely a profile than a program. */
static bool is_data(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !(st.st_mode & 0111);
}

static int command_unknown(const char *name)
{
	const char *names[ARRAY_SIZE(commands)], *nearest;
	unsigned i, n = 0;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!commands[i].hidden)
			names[n++] = commands[i].def->name;
	nearest = options_nearest(name, names, n);
	if (nearest)
		complain("'%s' is not a command; did you mean '%s'? (see 'proton help')", name,
			 nearest);
	else if (is_data(name))
		complain(
			"'%s' is not a command (to look at a profile: 'proton view %s'; see 'proton help')",
			name, name);
	else
		complain(
			"'%s' is not a command (to profile a program: 'proton top %s'; see 'proton help')",
			name, name);
	return STATUS_USAGE;
}

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	(void)value;
	*(bool *)arg |= option->id == OPT_VERSION;
	return 0;
}

/* With a standard descriptor closed, the next file opened would be it, and take in what is printed.
 * Opened the wrong way round: to use it is the error that it would be without us. The target does not
 * inherit these. */
static void keep_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
			return;
}

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What was printed must have arrived: a full disk is no success. A reader who leaves had enough:
 * where the pipe does not end us, the status is the program's. */
static int check_output(int status)
{
	if ((fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE)
		return status;
	if (status == STATUS_OK)
		complain("cannot print: %s", strerror(errno));
	return status == STATUS_OK ? STATUS_FAILED : status;
}

static int run(int argc, char **argv)
{
	const struct command *command;
	bool version = false;
	int first;

	if (argc > 0 && !strcmp(basename_of(argv[0]), "proton-viewer"))
		return cmd_viewer(argc, argv);
	/* --help says more than the options: the commands. */
	if (argc > 1 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return help(1, argv);
	if (argc > 1 && !command_find(&all, argv[1]) && is_script(argv[1]))
		return cmd_script(argc, argv);
	if (argc > 1 && argv[1][0] == '-') {
		first = options_parse(&command_proton, argc, argv, on_option, &version);
		if (first <= 0)
			return first ? STATUS_USAGE : STATUS_OK;
		if (version)
			return cmd_version(1, argv);
		argc -= first - 1;
		argv += first - 1;
	}
	if (argc < 2) {
		help(1, argv);
		return STATUS_USAGE;
	}
	command = command_find(&all, argv[1]);
	if (!command)
		return command_unknown(argv[1]);
	return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	launch_origin_save(&arg_origin);
	keep_standard_descriptors();
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like others */
	/* `| head` closes the pipe early: quiet, whatever we were started from. A run ignores it. */
	signal(SIGPIPE, SIG_DFL);
	setlocale(LC_ALL, "");
	log_init(getenv("PROTON_LOG"));
	return check_output(run(argc, argv));
}
