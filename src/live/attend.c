/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/attend.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "launch/descriptors.h"
#include "launch/launch.h"
#include "live/recording.h"
#include "live/run_facts.h"
#include "report/print_line.h"
#include "wire/decode.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* on every architecture */
#endif

enum {
	TICK_MS = 1000, /* between two looks whether it runs another program */
	REAP_MS = 10,   /* … whether the child that writes a file has ended */
	BLIND_MS = 100, /* … whether it lives, where the kernel does not tell */
};

/* What tells a process from a later one of its number, and a program from one that took its place. */
struct image {
	unsigned long long start; /* of the process, in ticks */
	unsigned long long stack; /* where its first thread's begins; 0: not to be seen */
};

struct attendant {
	struct recording_options options;
	struct recording rec;
	pid_t pid;
	int pidfd; /* -1: the kernel has none */
	struct image image;
	uint64_t next_ns;
};

/* ---- the program ---- */

/* -ESRCH: there is no such process. Of one whose first thread has ended, no stack is known. */
static int image_read(pid_t pid, struct image *ret)
{
	_cleanup_(fclosep) FILE *f = NULL;
	char path[64], text[1024];
	const char *p;
	int r = process_start_time(pid, &ret->start);

	ret->stack = 0;
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	p = f && fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	if (!p || sscanf(p + 1,
			 " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			 "%*d %*u %*u %*d %*u %*u %*u %llu",
			 &ret->stack) != 1)
		ret->stack = 0;
	return 0;
}

/* exec() keeps the process, and what was counted is over. */
static bool runs_another(const struct attendant *a)
{
	struct image now;
	int r = image_read(a->pid, &now);

	if (r < 0)
		return r == -ESRCH;
	return now.start != a->image.start ||
	       (now.stack && a->image.stack && now.stack != a->image.stack);
}

static bool has_ended(struct attendant *a)
{
	struct pollfd p = {.fd = a->pidfd, .events = POLLIN};
	uint64_t now = clock_monotonic_ns();

	if (a->pidfd >= 0 && poll(&p, 1, 0) > 0)
		return true;
	if (now < a->next_ns)
		return false;
	a->next_ns = now + (a->pidfd >= 0 ? TICK_MS : BLIND_MS) * NSEC_PER_MSEC;
	receiver_tick(a->rec.receiver);
	return runs_another(a);
}

/* ---- ourselves ---- */

/* We have what the thread of the program had that started a session. Ctrl-C, and whatever is sent to
 * all that the program started, as batch systems do, is for the program: we end after it. */
static void settle(void)
{
	static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,   SIGXFSZ,
				      SIGUSR1, SIGUSR2, SIGALRM, SIGPROF, SIGVTALRM, SIGIO};
	const int kept[] = {STDOUT_FILENO, STDERR_FILENO};
	const struct sched_param usual = {0};
	cpu_set_t all;
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL); /* KILL, STOP and libc's own refuse */
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	descriptors_keep(kept, ARRAY_SIZE(kept));
	(void)setsid();
	(void)sched_setscheduler(0, SCHED_OTHER, &usual);
	memset(&all, 0xff, sizeof(all));
	(void)sched_setaffinity(0, sizeof(all), &all);
}

/* Whoever reads what we print waits until we are no writer of it. */
static void fall_silent(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	fflush(NULL);
	if (fd < 0)
		return;
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

/* The program's folder is not held, either. */
static void leave_folder(void)
{
	if (chdir("/") < 0)
		complain("cannot leave the folder: %s", strerror(errno));
}

/* ---- what profiles say of the run ---- */

/* The words of the program's command, an array in one block; NULL: not known. */
static char **read_command(pid_t pid)
{
	_cleanup_(buf_done) struct buf text = {0};
	_cleanup_(fclosep) FILE *f = NULL;
	char path[64], piece[4096], **words, *p;
	size_t n, n_words = 0;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	while (f && (n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_put(&text, piece, n);
	if (text.error || !text.len || text.data[text.len - 1] != '\0')
		return NULL;
	for (size_t i = 0; i < text.len; i++)
		n_words += text.data[i] == '\0';
	words = malloc((n_words + 1) * sizeof(*words) + text.len);
	if (!words)
		return NULL;
	p = memcpy(words + n_words + 1, text.data, text.len);
	for (size_t i = 0; i < n_words; p += strlen(p) + 1)
		words[i++] = p;
	words[n_words] = NULL;
	return words;
}

static void tell_run(struct attendant *a)
{
	struct session *s = receiver_session(a->rec.receiver);
	_cleanup_(freep) char **words = read_command(a->pid);

	a->rec.start_ns = clock_monotonic_ns();
	a->rec.run = s->n_runs;
	if (!words)
		return;
	s->source = strtab_adds(s->strings, path_name(words[0]));
	(void)run_facts_begin(s, &a->options, words, a->rec.start_ns);
}

static void update_run(struct attendant *a)
{
	struct session *s = receiver_session(a->rec.receiver);

	if (a->rec.run < s->n_runs)
		run_facts_update(&s->runs[a->rec.run], &a->rec);
}

/* ---- to the end ---- */

static int wait_ms(const struct attendant *a)
{
	if (wire_decoder_stalled(receiver_decoder(a->rec.receiver)))
		return 0;
	if (session_files_busy(&a->rec.sessions))
		return REAP_MS;
	return a->pidfd >= 0 ? TICK_MS : BLIND_MS;
}

static void serve(struct attendant *a)
{
	struct pollfd fds[2] = {{.fd = a->rec.dir->stream_fd, .events = POLLIN},
				{.fd = a->pidfd, .events = POLLIN}};

	while (!has_ended(a)) {
		poll(fds, 2, wait_ms(a));
		/* Out of memory: what is there is written all the same. */
		(void)receiver_read(a->rec.receiver);
		update_run(a);
		session_files_poll(&a->rec.sessions, a->rec.receiver);
	}
}

/* Whoever said no goodbye was cut off, however shortly ago it spoke. */
static void finish(struct attendant *a)
{
	struct session *s = receiver_session(a->rec.receiver);

	a->rec.end_ns = clock_monotonic_ns();
	a->rec.wait_status = -1;
	update_run(a);
	(void)receiver_finish(a->rec.receiver);
	for (size_t i = 0; i < s->n_processes; i++)
		if (s->processes[i].end == PROCESS_RUNS)
			s->processes[i].end = PROCESS_VANISHED;
	session_files_finish(&a->rec.sessions, a->rec.receiver);
}

static int begin(struct attendant *a, attend_wants_fn *wants, void *ctx)
{
	int r = image_read(a->pid, &a->image);

	if (r < 0) {
		complain("there is no process %d: %s", (int)a->pid, strerror(-r));
		return STATUS_FAILED;
	}
	a->pidfd = (int)syscall(SYS_pidfd_open, a->pid, 0);
	if (a->pidfd >= 0)
		(void)fcntl(a->pidfd, F_SETFD, FD_CLOEXEC);
	wants(&a->options, ctx);
	r = recording_open(&a->rec, &a->options);
	if (r)
		return r;
	receiver_expect(a->rec.receiver, a->pid);
	session_dir_set_target(a->rec.dir, a->pid);
	tell_run(a);
	leave_folder();
	printf("session %s\n", a->rec.dir->path);
	/* A program that is gone by now reads nothing: it is not another one of its number. */
	if (fflush(stdout)) {
		complain("nobody reads where the session is: %s", strerror(errno));
		return STATUS_FAILED;
	}
	return 0;
}

int attend(pid_t pid, attend_wants_fn *wants, void *ctx)
{
	struct attendant a = {.options = {.no_sweep = true,
					  .no_sensors = true,
					  .quiet = true,
					  .has_contexts = true},
			      .pid = pid,
			      .pidfd = -1};
	int r;

	settle();
	r = begin(&a, wants, ctx);
	fall_silent();
	if (r == 0) {
		session_dir_sweep(); /* the program does not wait for that */
		serve(&a);
		finish(&a);
	}
	recording_done(&a.rec);
	closep(&a.pidfd);
	return r;
}
