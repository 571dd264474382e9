/* SPDX-License-Identifier: MIT */
/* A library that ends or holds up whoever loads it, as SICK says: "crash", "hang" or "exit". It goes
 * by the name of a vendor's. */
#include "config.h" // IWYU pragma: keep
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void load(void)
{
	const char *sick = getenv("SICK");

	if (sick && !strcmp(sick, "crash"))
		raise(SIGSEGV);
	if (sick && !strcmp(sick, "exit"))
		_exit(9);
	while (sick && !strcmp(sick, "hang"))
		pause();
}
