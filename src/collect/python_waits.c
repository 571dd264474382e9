/* SPDX-License-Identifier: MIT */
/* For the Python package: functions of sessions that wait let go of the interpreter's lock meanwhile, and look for
 * signals. A handler that raises, as that of Ctrl-C does, ends the wait: ctypes finds the exception (PyDLL). */
#include "config.h" // IWYU pragma: keep
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/api.h"
#include "collect/internal.h"
#include "collect/session_wait.h"

/* The interpreter's functions, as the package has them. */
static struct {
	void *(*save)(void);
	void (*restore)(void *state);
	int (*check_signals)(void);
} interpreter;

/* Of this thread, while its call of ours waits; NULL: it is not called so. */
static __thread void *saved __attribute__((tls_model("initial-exec")));

/* Handlers run on the main thread alone. */
static bool is_interrupted(void)
{
	bool raised;

	if (!saved || syscall(SYS_gettid) != getpid())
		return false;
	interpreter.restore(saved);
	raised = interpreter.check_signals() < 0;
	saved = interpreter.save();
	return raised;
}

EXPORT void proton_python_waits(void *(*save)(void), void (*restore)(void *state),
				int (*check_signals)(void));
void proton_python_waits(void *(*save)(void), void (*restore)(void *state),
			 int (*check_signals)(void))
{
	interpreter.save = save;
	interpreter.restore = restore;
	interpreter.check_signals = check_signals;
	session_wait_set_interrupt(is_interrupted);
}

static void call_begins(void)
{
	saved = interpreter.save();
}

static int call_ends(int r)
{
	void *state = saved;

	saved = NULL;
	interpreter.restore(state);
	return r;
}

EXPORT int proton_python_session_start(const char *name,
				       const struct proton_session_options *options);
int proton_python_session_start(const char *name, const struct proton_session_options *options)
{
	call_begins();
	return call_ends(proton_api_session_start(name, options));
}

EXPORT int proton_python_session_deactivate(int session, int flush);
int proton_python_session_deactivate(int session, int flush)
{
	call_begins();
	return call_ends(proton_api_session_deactivate(session, flush));
}

EXPORT int proton_python_session_flush(int session);
int proton_python_session_flush(int session)
{
	call_begins();
	return call_ends(proton_api_session_flush(session));
}

EXPORT int proton_python_session_finalize(int session, const char *format);
int proton_python_session_finalize(int session, const char *format)
{
	call_begins();
	return call_ends(proton_api_session_finalize(session, format));
}

EXPORT int proton_python_phase_advance(int session);
int proton_python_phase_advance(int session)
{
	call_begins();
	return call_ends(proton_api_phase_advance(session));
}

EXPORT int proton_python_session_data(int session, int phase, const char *format, char **ret_data,
				      size_t *ret_size);
int proton_python_session_data(int session, int phase, const char *format, char **ret_data,
			       size_t *ret_size)
{
	call_begins();
	return call_ends(proton_api_session_data(session, phase, format, ret_data, ret_size));
}
