/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_PYTHON_CHECK_H
#define PROTON_COLLECT_PYTHON_CHECK_H
/* Is there an interpreter, and are its frames where they are known to be? */
#include <stdbool.h>

enum { PY_UNKNOWN, PY_ASKED, PY_SOUND, PY_UNSOUND }; /* py.state */

/* Find an interpreter in this process, its functions and its layout (NULL: not known). */
bool python_find(void);
/* Does it take pending calls, now? */
bool python_takes_calls(void);
/* A pending call of the interpreter's: hold what is read against what it says. For py.state PY_ASKED. */
int python_calibrate(void *arg);
/* Read nothing, and say why. */
void python_refuse(const char *why);

#endif
