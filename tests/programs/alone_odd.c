/* SPDX-License-Identifier: MIT */
/* A program that profiles itself and does what few programs do: alone_odd WHAT. See tests/scripts/collect_alone.sh
 * for what each WHAT is there for. What it has to say is in the file "said". */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../unit/refuse.h"
#include "base/util.h"
#include "mocks/mock_omp.h"
#include "proton/proton.h"

static void _printf_(1, 2) say(const char *format, ...)
{
	FILE *f = fopen("said", "ae");
	va_list ap;

	if (!f)
		return;
	va_start(ap, format);
	vfprintf(f, format, ap);
	va_end(ap);
	fclose(f);
}

/* How it went, or why it did not. */
static const char *words(int status)
{
	return status < 0 ? proton_session_error() : "done";
}

static int profile(const char *name)
{
	int session = proton_session_start(name, NULL);

	proton_enter_scope("work");
	proton_exit_scope();
	return session < 0 ? session : proton_session_finalize(session, NULL);
}

/* ---- children ---- */

static volatile sig_atomic_t n_ended;

static void on_child(int sig)
{
	(void)sig;
	n_ended++;
}

/* Waits for all its children, where it has none. */
static void children(void)
{
	int session, status;

	signal(SIGCHLD, on_child);
	session = proton_session_start("o", NULL);
	status = wait(NULL) < 0 ? errno : 0;
	say("wait %s, %d ended, ", status == ECHILD ? "none" : "some", (int)n_ended);
	status = proton_session_finalize(session, NULL);
	say("%s\n", words(status));
}

/* Orphans come back to it. */
static void reaper(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	children();
}

/* Children of children that begin in the middle of anything. */
static void tree_of(int depth)
{
	char name[32];
	int session, status;

	snprintf(name, sizeof(name), "f%d-%d", depth, (int)getpid());
	session = proton_session_start(name, NULL);
	proton_enter_scope("open");
	for (int i = 0; i < 3 && depth < 2; i++)
		if (fork() == 0) {
			if (i == 1)
				proton_exit_scope();
			tree_of(depth + 1);
			exit(0);
		}
	proton_exit_scope();
	status = session < 0 ? session : proton_session_finalize(session, NULL);
	say("%s\n", words(status));
	while (wait(NULL) > 0)
		;
}

static void tree(void)
{
	tree_of(0);
}

/* ---- descriptors ---- */

/* Its files have the numbers of standard streams. */
static void closed(void)
{
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (int fd = 0; fd < 3; fd++)
		if (open("data", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600) != fd)
			exit(2);
	say("%s\n", words(profile("o")));
}

/* All are in use but one, and a pipe has two. */
static void full(void)
{
	struct rlimit limit = {64, 64};
	int fd = -1, last = -1;

	proton_active(); /* the library is there */
	setrlimit(RLIMIT_NOFILE, &limit);
	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	close(last);
	fd = proton_session_start("o", NULL);
	close(last - 1);
	close(last - 2);
	say("%s\n", words(fd));
}

/* ---- the receiver ---- */

static pid_t receiver(void)
{
	char line[256] = "", command[128];
	FILE *f;

	snprintf(command, sizeof(command),
		 "grep -lzsxF -- receive /proc/[0-9]*/cmdline | xargs grep -lzsxF -- %d",
		 (int)getpid());
	f = popen(command, "re");
	if (!f || !fgets(line, sizeof(line), f))
		strcpy(line, "/proc/0");
	if (f)
		pclose(f);
	return (pid_t)strtol(line + strlen("/proc/"), NULL, 10);
}

/* It is killed: the program goes on. */
static void orphan(void)
{
	int session = proton_session_start("o", NULL);
	pid_t pid = receiver();

	if (pid <= 0 || kill(pid, SIGKILL) < 0) {
		say("no receiver\n");
		return;
	}
	say("killed, ");
	while (kill(pid, 0) == 0)
		;
	proton_enter_scope("work");
	proton_exit_scope();
	say("finalize %d %s, ", proton_session_finalize(session, NULL), proton_session_error());
	say("start %d %s\n", proton_session_start("p", NULL), proton_session_error());
}

/* It stands still, until a handler has run five times: the program waits for it. */
static volatile pid_t stopped_pid;
static volatile sig_atomic_t n_alarms;

static void on_alarm(int sig)
{
	(void)sig;
	if (++n_alarms == 5)
		kill(stopped_pid, SIGCONT);
}

static void stopped(void)
{
	const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
	int session = proton_session_start("o", NULL);

	stopped_pid = receiver();
	if (stopped_pid <= 0 || kill(stopped_pid, SIGSTOP) < 0) {
		say("no receiver\n");
		return;
	}
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	session = proton_session_finalize(session, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	say("%s, %s\n", n_alarms < 5 ? "too early" : "handled", words(session));
}

/* Ctrl-C is for the program, whose last words are kept. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void interrupt(void)
{
	int session;

	setpgid(0, 0);
	signal(SIGINT, on_interrupt);
	signal(SIGTERM, on_interrupt);
	session = proton_session_start("o", NULL);
	kill(0, SIGINT);
	kill(0, SIGTERM);
	while (!interrupted)
		;
	proton_enter_scope("work");
	proton_exit_scope();
	say("%s\n", words(proton_session_finalize(session, NULL)));
}

/* ---- what comes after the session ---- */

/* The driver is loaded and initialised later. */
static void early(void)
{
	uint32_t (*init)(uint32_t flags);
	uint32_t (*launch)(const char *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
			   uint32_t, void *, void **, void **);
	int session = proton_session_start("o", NULL);
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);

	if (!driver)
		exit(2);
	*(void **)&init = dlsym(driver, "cuInit");
	*(void **)&launch = dlsym(driver, "cuLaunchKernel");
	init(0);
	for (int i = 0; i < 3; i++)
		launch("add", 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	say("%s\n", words(proton_session_finalize(session, NULL)));
}

/* A runtime of OpenMP, which asks for a tool once. */
static void openmp(void)
{
	int session = proton_session_start("o", NULL);
	void *runtime = dlopen("libomptarget.so", RTLD_NOW | RTLD_GLOBAL);
	struct mock_omp *omp;
	mock_omp_fn *get;

	if (!runtime)
		exit(2);
	*(void **)&get = dlsym(runtime, "mock_omp");
	omp = get();
	say("%s, ", omp->start() ? "a tool" : "no tool");
	omp->device(0, "generic-64bit");
	omp->target(ABI_TARGET_REGION, ABI_BEGIN, 0, (const char *)openmp);
	omp->kernel();
	omp->target(ABI_TARGET_REGION, ABI_END, 0, (const char *)openmp);
	say("%s\n", words(proton_session_finalize(session, NULL)));
}

/* ---- refusals ---- */

/* A filter forbids to make processes. */
static void filter(void)
{
	proton_active();
	if (refuse(SYS_clone, SECCOMP_RET_ERRNO | EPERM) < 0) {
		say("no filters here\n");
		return;
	}
	say("%s\n", words(proton_session_start("o", NULL)));
}

static void plain(void)
{
	say("%s\n", words(profile("o")));
}

/* Many, one after the other. */
static void thousand(void)
{
	int failed = 0;

	for (int i = 0; i < 1000; i++)
		failed += profile("o") < 0;
	say("%d failed\n", failed);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*run)(void);
	} all[] = {
		{"children", children},   {"reaper", reaper},     {"tree", tree},
		{"closed", closed},       {"full", full},         {"orphan", orphan},
		{"interrupt", interrupt}, {"filter", filter},     {"plain", plain},
		{"stopped", stopped},     {"thousand", thousand}, {"early", early},
		{"openmp", openmp},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].word, argv[1])) {
			all[i].run();
			return 0;
		}
	return 2;
}
