/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/pager.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGER_DEFAULT "less"

static bool is_installed(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	while (path && *path) {
		size_t len = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, name);
		if (access(file, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

/* A command for the shell, or NULL. */
static const char *pager_command(void)
{
	const char *command = getenv("PROTON_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = is_installed(PAGER_DEFAULT) ? PAGER_DEFAULT : NULL;
	return command && *command && strcmp(command, "cat") ? command : NULL;
}

static _Noreturn void pager_run(const char *command, int from)
{
	dup2(from, STDIN_FILENO);
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* Is it a terminal that cannot move its cursor? There less would ask whether to go on. */
static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

void pager_start(struct pager *p, bool wanted)
{
	const char *command =
		wanted && isatty(STDOUT_FILENO) && !is_dumb() ? pager_command() : NULL;
	int ends[2];

	p->pid = 0;
	if (!command || pipe(ends) < 0)
		return;
	fflush(stdout);
	p->pid = fork();
	if (p->pid == 0) {
		close(ends[1]);
		pager_run(command, ends[0]);
	}
	if (p->pid > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* Ctrl-C is for the pager; it must not end us before the pager has been left. */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	} else {
		p->pid = 0;
	}
	close(ends[0]);
	close(ends[1]);
}

void pager_finish(struct pager *p)
{
	if (!p->pid)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
}
