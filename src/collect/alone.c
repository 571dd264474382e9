/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/alone.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/loaded.h"
#include "base/log.h"
#include "base/util.h"
#include "collect/alone_command.h"
#include "collect/alone_spawn.h"
#include "collect/contexts.h"
#include "collect/futex.h"
#include "collect/internal.h"
#include "collect/measured.h"
#include "collect/opencl_layer.h"
#include "collect/patience.h"
#include "collect/session_wait.h"
#include "core/session_words.h"
#include "proton/proton.h"
#include "wire/wire.h"

enum {
	RECEIVER_MS = 10000, /* how long proton may take to say where its directory is */
	METRICS_MS = 60000,  /* … where it looks up hardware metrics before */
	BEGIN_MS = 10000,    /* … and another thread to open what sees launches */
	ANSWER_MAX = 4096,
	CUDA_NOT_INITIALIZED = 3,
};

/* Why it failed; owner: the thread that tried. */
static char error[COMMAND_WHY_MAX + 64];
static _Atomic bool has_failed;

/* What this thread's session asks for. */
static __thread const char *metrics __attribute__((tls_model("initial-exec")));

static int _printf_(2, 3) fail(int r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error, sizeof(error), format, ap);
	va_end(ap);
	return r;
}

/* ---- the one line that is ever printed ---- */

/* A program without a standard error may have another file under its number: what it closes at exec, or reads
 * as well. Nobody redirects into such. */
static bool has_stderr;

__attribute__((constructor)) static void look_at_stderr(void)
{
	has_stderr = !getenv(CONTROL_ENV) && fcntl(STDERR_FILENO, F_GETFD) == 0;
}

static bool is_stderr(void)
{
	struct stat st;

	if (!has_stderr || fcntl(STDERR_FILENO, F_GETFD) != 0 || fstat(STDERR_FILENO, &st) < 0)
		return false;
	return !S_ISREG(st.st_mode) || (fcntl(STDERR_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY;
}

/* Not where the program would wait for a reader, or be killed for want of one. */
static void warn(void)
{
	const struct timespec at_once = {0, 0};
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
	char line[sizeof(error) + 64];
	sigset_t pipe, old;
	int n = snprintf(line, sizeof(line), "proton: no profile is written: %s\n", error);

	if (!is_stderr() || poll(&p, 1, 0) <= 0 || !(p.revents & POLLOUT))
		return;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigaddset(&pipe, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &pipe, &old);
	(void)!write(STDERR_FILENO, line, (size_t)n);
	while (!sigismember(&old, SIGPIPE) && sigtimedwait(&pipe, NULL, &at_once) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- starting proton ---- */

/* Its first child in another namespace would be process 1 of it: that is not for us to be. */
static bool children_are_elsewhere(void)
{
	char own[64] = "", children[64] = "";

	return readlink("/proc/self/ns/pid", own, sizeof(own) - 1) > 0 &&
	       readlink("/proc/self/ns/pid_for_children", children, sizeof(children) - 1) > 0 &&
	       strcmp(own, children) != 0;
}

/* What it prints, up to a line about its session or to its end. -EINTR: whoever called has something else to do. */
static int read_answer(int fd, char text[ANSWER_MAX])
{
	struct patience p = patience(metrics ? METRICS_MS : RECEIVER_MS);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	size_t len = 0;
	ssize_t n;
	uint32_t ms;

	text[0] = '\0';
	while (len < ANSWER_MAX - 1 && (ms = patience_ms(&p))) {
		if (poll(&poll_fd, 1, (int)ms) <= 0) {
			if (session_wait_interrupted())
				return -EINTR;
			continue;
		}
		n = read(fd, text + len, ANSWER_MAX - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
		text[len] = '\0';
		if (text[len - 1] == '\n' && strstr(text, "session /"))
			break;
	}
	return 0;
}

/* What it complained of last. */
static int answer_fail(const char *command, char text[ANSWER_MAX])
{
	static const char prefix[] = "proton: ";
	size_t len = strlen(text);
	const char *line;
	int e;

	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (!strncmp(line, prefix, sizeof(prefix) - 1))
		line += sizeof(prefix) - 1;
	if (sscanf(line, "exec %d", &e) == 1)
		return fail(-e, "cannot start '%.150s': %s", command, strerror(e));
	if (!*line)
		return fail(-EIO, "'%.150s' ended without a word: is it of another version?",
			    command);
	return fail(-EIO, "%.200s", line);
}

/* The directory that it names. */
static int answer_take(const char *command, char text[ANSWER_MAX], char *dir, size_t size)
{
	static const char word[] = "session ";
	char *line = strstr(text, "session /"), *end = line ? strchr(line, '\n') : NULL;
	size_t len;

	if (!end)
		return answer_fail(command, text);
	line += sizeof(word) - 1;
	len = (size_t)(end - line);
	if (len >= size)
		return fail(-ENAMETOOLONG, "the path of the session directory is too long");
	memcpy(dir, line, len);
	dir[len] = '\0';
	return 0;
}

static int spawn_receiver(const char *command, int *ret_fd)
{
	char pid[16], *argv[] = {(char *)"proton",
				 (char *)"receive",
				 (char *)"--for",
				 pid,
				 metrics ? (char *)"--metrics" : NULL,
				 (char *)metrics,
				 NULL};
	char **envp = spawn_environment();
	int r;

	if (!envp)
		return fail(-ENOMEM, "out of memory");
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	measured_ask(metrics);
	r = spawn_detached(command, argv, envp, -1, ret_fd);
	free(envp);
	return r < 0 ? fail(r, "cannot start '%.150s': %s", command, strerror(-r)) : 0;
}

/* Of a receiver of our own, as collect_start_alone() wants it. */
static char command[PATH_MAX], answer[ANSWER_MAX];

static int begin_receiver(int *ret_fd)
{
	char why[COMMAND_WHY_MAX];
	int r = command_find(command, why);

	if (r < 0)
		return fail(r, "there is no command 'proton': %s", why);
	if (children_are_elsewhere())
		return fail(-ENOTSUP,
			    "processes that this one starts are in another PID namespace");
	return spawn_receiver(command, ret_fd);
}

/* One that has nobody to answer to any more ends. */
static int await_receiver(int fd)
{
	int r = read_answer(fd, answer);

	close(fd);
	return r;
}

static int take_receiver(char *dir, size_t size)
{
	int r = answer_take(command, answer, dir, size);

	log_debug(1, "alone", "'%s': %s", command, r < 0 ? error : dir);
	return r;
}

/* What the program says, as much of it as it knows of. */
static struct proton_session_options known(const struct proton_session_options *given)
{
	struct proton_session_options o = {0};

	if (given)
		memcpy(&o, given, MIN(given->size, sizeof(o)));
	return o;
}

static const char *metrics_of(const struct proton_session_options *given)
{
	struct proton_session_options o = known(given);
	struct session_mode mode;

	return o.mode && session_mode_read(o.mode, false, &mode) ? mode.metrics : NULL;
}

int alone_start(const struct proton_session_options *options)
{
	static const struct collect_receiver receiver = {begin_receiver, await_receiver,
							 take_receiver};
	int r;

	metrics = metrics_of(options);
	r = collect_start_alone(&receiver);
	metrics = NULL; /* it is the caller's */
	if (r == 0 || r == -EINTR)
		return r;
	/* The directory was there, and the collector did not like it. */
	if (alone_is_on() && !error[0])
		fail(r, "the collector did not start: %s",
		     r == -ENOMEM ? "out of memory" : "proton is of another version");
	if (error[0] && !atomic_exchange(&has_failed, true))
		warn();
	return r;
}

const char *alone_error(void)
{
	return atomic_load(&has_failed) ? error : NULL;
}

bool alone_is_on(void)
{
	return collect_alone_dir();
}

bool alone_is_attended(void)
{
	char path[sizeof(collector->dir) + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/stream", collector->dir);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != ENXIO && errno != ENOENT);
}

/* ---- what begins with a session ---- */

static bool is_word(const char *given, const char *word)
{
	return given && !strcasecmp(given, word);
}

/* The run asks for what its sessions ask for. Who names a context has it of each launch. */
static void begin_contexts(const char *context)
{
	if (is_word(context, "python"))
		contexts_want(CONTEXT_BIT(CONTEXT_PYTHON));
	else if (!context || !*context)
		contexts_want(CONTEXT_AUTO);
}

/* Was work launched that nobody saw? */
static bool cuda_is_initialised(void *driver)
{
	int (*count)(int *n), n;

	*(void **)&count = dlsym(driver, "cuDeviceGetCount");
	return count && count(&n) != CUDA_NOT_INITIALIZED;
}

/* Nothing tells us of a driver that is loaded later: one that this machine has is loaded now, which does not
 * initialise it. A fork child of a process that did so cannot have it. */
static void begin_cuda(void)
{
	static pid_t begun;
	pid_t before = begun;
	void *driver;

	if (before == getpid())
		return;
	driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	if (before)
		collect_note(NOTE_WARNING,
			     "CUDA work of this process is not recorded: the process that forked "
			     "it had begun to record its own");
	else if (driver && cuda_is_initialised(driver))
		collect_note(
			NOTE_WARNING,
			"CUDA was in use before the program's first session: what was launched "
			"before that is not in the profile, and CUDA graphs that were made "
			"before are without calling contexts");
	if (!driver)
		driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!driver)
		return;
	begun = getpid();
	if (before)
		return;
	backends_open(DOOR_CUDA, sinks);
	exit_watch();
}

/* Its loader asks for layers when it begins. That it is there does not say that it has, nor that it will. */
static void note_opencl(void)
{
	bool is_named = getenv("OPENCL_LAYERS");

	if (opencl_layer_came_early() || (!is_named && loaded_path("libOpenCL.so")))
		collect_note(is_named ? NOTE_WARNING : NOTE_INFO,
			     "work of OpenCL is not in the profile: OPENCL_LAYERS must name "
			     "libproton.so, and the first session be started before the first call "
			     "of OpenCL");
}

static void note_scopes(void)
{
	if (scopes_were_missed())
		collect_note(NOTE_WARNING,
			     "scopes that were entered before the program's first session are not "
			     "in the profile: what was launched in them stands without them");
}

/* What proton complained of, before it went on: metrics that are not measured. */
static void note_receiver(void)
{
	static const char prefix[] = "proton: ";
	char *end, *line = answer;

	while (!strncmp(line, prefix, sizeof(prefix) - 1) && (end = strchr(line, '\n'))) {
		*end = '\0';
		collect_note(NOTE_WARNING, line + sizeof(prefix) - 1);
		line = end + 1;
	}
}

static bool wants_cuda(const char *backend)
{
	return !backend || !*backend || is_word(backend, "cupti") ||
	       is_word(backend, WIRE_INSIDE_KERNELS);
}

static void begin(const struct proton_session_options *o)
{
	static pid_t noted;

	begin_contexts(o->context);
	if (noted != getpid()) {
		noted = getpid();
		note_receiver();
		note_scopes();
		note_opencl();
	}
	if (wants_cuda(o->backend))
		begin_cuda();
	if (getenv("PROTON_FAKE"))
		backends_open(DOOR_PRELOAD, sinks);
}

/* Whoever starts a session beside another thread that does so launches no earlier than what sees launches is
 * there. The word is the process that is at it: a fork child is not. */
void alone_begin(const struct proton_session_options *given)
{
	static _Atomic uint32_t at_it;
	struct proton_session_options o = known(given);
	struct patience p = patience(BEGIN_MS);
	uint32_t ms, seen, us = (uint32_t)getpid();

	while ((seen = atomic_load(&at_it)) == us ||
	       !atomic_compare_exchange_strong(&at_it, &seen, us)) {
		ms = patience_ms(&p);
		if (!ms)
			return;
		futex_wait(&at_it, us, MIN(ms, 10u));
	}
	begin(&o);
	atomic_store(&at_it, 0);
	futex_wake(&at_it);
}
