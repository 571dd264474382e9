/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/disassembler.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "launch/toolkit.h"

enum { NOT_STARTED = 127 }; /* as of a shell */

char *disassembler_find(void)
{
	return toolkit_find("nvdisasm");
}

struct question {
	const char *tool, *cubin;
	uint32_t symbol;
};

/* In the child. It has no streams but those that it gets here. */
static void run(const void *ctx, int fd)
{
	const struct question *q = ctx;
	char symbol[16];
	int null;

	snprintf(symbol, sizeof(symbol), "%u", q->symbol);
	/* The answer's descriptor may be one of those that are standard streams. */
	fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		_exit(NOT_STARTED);
	execl(q->tool, q->tool, "-c", "-fun", symbol, q->cubin, NULL);
	_exit(NOT_STARTED);
}

void disassemble(const char *tool, const char *cubin, uint32_t symbol, unsigned deadline_ms,
		 struct probe *ret)
{
	const struct question q = {tool, cubin, symbol};

	probe_run(run, &q, deadline_ms, ret);
}
