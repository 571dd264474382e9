/* SPDX-License-Identifier: MIT */
/* A library whose _exit() decides on the exit status, as that of ThreadSanitizer does. */
#include "config.h" // IWYU pragma: keep
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) void _exit(int status)
{
	for (;;)
		syscall(SYS_exit_group, status ? status : 66);
}
