/* SPDX-License-Identifier: MIT */
/* Assembling by ptxas. */
#include "config.h" // IWYU pragma: keep
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assemble/assembler.h"
#include "base/util.h"
#include "launch/toolkit.h"

enum { WORDS = 8 };

static char *find(const struct assemble_options *options, size_t n)
{
	if (n)
		return NULL;
	return options->ptxas ? strdup(options->ptxas) : toolkit_find("ptxas");
}

/* In the child. It has no streams but those that it gets here. */
static void run(const void *ctx, int fd)
{
	const struct assembly *a = ctx;
	const char *words[ASSEMBLER_OPTIONS_MAX + WORDS] = {a->tool, "-v", a->in, "-o", a->out};
	int null;

	for (size_t i = 0, n = 5; a->options[i]; i++)
		words[n++] = a->options[i];
	fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
	    dup2(fd, STDERR_FILENO) < 0)
		_exit(ASSEMBLER_NOT_HERE);
	execv(a->tool, (char *const *)words);
	_exit(ASSEMBLER_NOT_HERE);
}

const struct assembler assembler_ptxas = {.name = "ptxas", .find = find, .run = run};
