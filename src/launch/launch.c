/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "launch/launch.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include "launch/spawn.h"
#include "launch/witness.h"

/* SIGCHLD through a signalfd, and no pidfd: there are kernels without (4.18 of RHEL 8). */

static const int ignored_signals[] = {SIGINT, SIGQUIT};
/* We stand still when the target does, not when it might: it may take its time, or refuse. */
static const int awaited_signals[] = {SIGCHLD, SIGTTIN, SIGTTOU};

/* All signals that a program may handle. Not those that cannot be handled (SIGKILL), those that
 * tell of a fault of our own (SIGSEGV), those ignored or awaited above, and those that end no
 * process. */
static bool is_passed_on(int sig)
{
	static const int others[] = {SIGTERM, SIGHUP,  SIGUSR1,   SIGUSR2, SIGTSTP,
				     SIGCONT, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU,
				     SIGIO,   SIGPWR,  SIGSTKFLT};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i] == sig)
			return true;
	return sig >= SIGRTMIN && sig <= SIGRTMAX;
}

/* How long a signal that one sender sends to each process of a job, one after the other (systemd,
 * Slurm), may come later to another process than to us. */
#define NEAR_MS 10

/* Sets of signals: bit n - 1 stands for signal n. */
static uint64_t signal_bit(int sig)
{
	return UINT64_C(1) << (sig - 1);
}

/* Who sends one of these wants an end. */
static uint64_t ends(uint64_t signals)
{
	return signals & (signal_bit(SIGTERM) | signal_bit(SIGHUP) | signal_bit(SIGINT) |
			  signal_bit(SIGQUIT));
}

struct launch {
	pid_t pid;
	int signal_fd;
	int wait_status;
	bool ended;
	unsigned n_interrupts;
	uint64_t told; /* … us or the target, but by the target or a descendant */
	struct witness *witness;
	sigset_t taken; /* what signal_fd tells */
	sigset_t old_mask;
	struct sigaction old_ignored[ARRAY_SIZE(ignored_signals)], old_child;
};

/* ---- signals ---- */

static bool is_ignored(int sig)
{
	struct sigaction action;

	return sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static int take_signals(struct launch *l)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t start;

	sigemptyset(&l->taken);
	for (size_t i = 0; i < ARRAY_SIZE(awaited_signals); i++)
		sigaddset(&l->taken, awaited_signals[i]);
	/* What is ignored (nohup) is not for us to pass on, though a blocked signal would come. */
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (is_passed_on(sig) && !is_ignored(sig))
			sigaddset(&l->taken, sig);
	start = l->taken;
	for (size_t i = 0; i < ARRAY_SIZE(ignored_signals); i++) {
		sigaction(ignored_signals[i], NULL, &l->old_ignored[i]);
		sigaddset(&start, ignored_signals[i]);
	}
	sigprocmask(SIG_BLOCK, &start, &l->old_mask);
	for (size_t i = 0; i < ARRAY_SIZE(ignored_signals); i++)
		if (l->old_ignored[i].sa_handler != SIG_IGN)
			sigaddset(&l->taken, ignored_signals[i]);
	sigaction(SIGCHLD, &standard, &l->old_child); /* ignored, there would be no status */
	l->signal_fd = signalfd(-1, &l->taken, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signal_fd < 0 ? -errno : 0;
}

/* From now on the target decides about these. To ignore a signal forgets one that is pending; those that come later are blocked,
 * too, so that signal_fd tells of them. */
static void ignore_signals(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	for (size_t i = 0; i < ARRAY_SIZE(ignored_signals); i++)
		sigaction(ignored_signals[i], &ignore, NULL);
}

static void give_signals_back(struct launch *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(ignored_signals); i++)
		sigaction(ignored_signals[i], &l->old_ignored[i], NULL);
	sigaction(SIGCHLD, &l->old_child, NULL);
	sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
}

/* What was sent since the last look must not end us when the mask is lifted: `timeout` sends twice,
 * to us and to our group, and the second may come when the target is gone. */
static void forget_pending(const struct launch *l)
{
	struct signalfd_siginfo info;

	while (l->signal_fd >= 0 && read(l->signal_fd, &info, sizeof(info)) == sizeof(info))
		;
}

/* 0: no such process. */
static pid_t parent_of(pid_t pid)
{
	char path[64], text[512];
	const char *p;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	p = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	if (!p || sscanf(p + 1, " %*c %d", &parent) != 1)
		parent = 0;
	fclose(f);
	return parent;
}

static bool is_descendant(pid_t pid, pid_t ancestor)
{
	for (int i = 0; i < 100 && pid > 1; i++) {
		if (pid == ancestor)
			return true;
		pid = parent_of(pid);
	}
	return false;
}

/* Was it sent to us by somebody who means the target? What the kernel sends (a hang-up of the
 * terminal, ^Z) goes to the whole group anyway, and the target and its descendants do not mean
 * themselves. */
static bool is_for_target(const struct launch *l, const struct signalfd_siginfo *info)
{
	pid_t sender = (pid_t)info->ssi_pid;

	return info->ssi_code <= 0 && sender != witness_pid(l->witness) &&
	       !is_descendant(sender, l->pid);
}

/* The signals that came since the last look, and those of them that may have to be passed on.
 * The same signal sent twice before we look counts once, as for any process. */
struct arrivals {
	uint64_t all, for_target;
};

static struct arrivals read_signals(struct launch *l)
{
	struct arrivals a = {0};
	struct signalfd_siginfo info;

	while (read(l->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		a.all |= signal_bit((int)info.ssi_signo);
		if (is_for_target(l, &info))
			a.for_target |= signal_bit((int)info.ssi_signo);
		if (info.ssi_code > 0 || is_for_target(l, &info))
			l->told |= signal_bit((int)info.ssi_signo);
	}
	return a;
}

/* Those that the target has from whoever sent them. It may have left our group. */
static uint64_t ask_witness(struct launch *l)
{
	uint64_t seen = witness_ask(l->witness);

	return getpgid(l->pid) == getpgrp() ? seen : 0;
}

static void forward(struct launch *l, uint64_t signals)
{
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (signals & signal_bit(sig) && is_passed_on(sig))
			(void)kill(l->pid, sig);
}

/* What came before there is a target, to whomever: the witness may have it, the target will not. */
static uint64_t take_early(struct launch *l)
{
	const struct timespec now = {0};
	sigset_t early = l->taken;
	uint64_t taken = 0;
	int sig;

	for (size_t i = 0; i < ARRAY_SIZE(awaited_signals); i++)
		sigdelset(&early, awaited_signals[i]);
	while ((sig = sigtimedwait(&early, NULL, &now)) > 0 || errno == EINTR)
		if (sig > 0)
			taken |= signal_bit(sig);
	if (taken) /* it is not to tell of these any more */
		(void)witness_ask(l->witness);
	return taken;
}

static void send_early(const struct launch *l, uint64_t early)
{
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (early & signal_bit(sig))
			(void)kill(l->pid, sig);
}

/* Here we stand still, until SIGCONT. */
static void stop_self(int sig)
{
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, sig);
	(void)kill(getpid(), sig);
	sigprocmask(SIG_UNBLOCK, &set, &old);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void take_for_us(struct launch *l, uint64_t signals)
{
	l->n_interrupts += ends(signals) != 0;
	if (signals & signal_bit(SIGTSTP))
		stop_self(SIGTSTP);
}

/* Pass on what was sent to us alone. What the witness has is taken from what came before the answer
 * and from what came with it: of two that were sent to the group at once we may read the first
 * before, and the second after the witness has told of both. */
static void pass_on(struct launch *l)
{
	struct arrivals now = read_signals(l), late;
	uint64_t seen;

	while (now.all) {
		seen = ask_witness(l);
		if (now.for_target & ~seen) {
			poll(NULL, 0, NEAR_MS);
			seen |= ask_witness(l);
		}
		late = read_signals(l);
		if (!l->ended)
			forward(l, now.for_target & ~seen);
		else
			take_for_us(l, now.all);
		now.all = late.all & ~seen;
		now.for_target = late.for_target & ~seen;
	}
}

/* ---- the target ---- */

/* As process 1 we inherit all orphans of the container. */
static void reap_orphans(const struct launch *l)
{
	siginfo_t info;

	while (memset(&info, 0, sizeof(info)),
	       waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0 &&
		       info.si_pid != l->pid)
		waitpid(info.si_pid, NULL, WNOHANG);
}

/* Whoever waits for us (a shell, for its prompt) learns that the target stands still by our doing
 * the same. Who continues the group continues us; should only the target be continued, or killed,
 * or have been continued before we stopped, the witness continues us. */
static void stop_with_target(struct launch *l, int sig)
{
	witness_watch(l->witness, l->pid);
	stop_self(sig);
	witness_watch(l->witness, 0);
}

/* With the target gone, the keys of the terminal are ours. What came before was not. */
static void target_ended(struct launch *l, int wait_status)
{
	l->wait_status = wait_status;
	l->ended = true;
	(void)read_signals(l);
	(void)witness_ask(l->witness);
	for (size_t i = 0; i < ARRAY_SIZE(ignored_signals); i++)
		sigaction(ignored_signals[i], &l->old_ignored[i], NULL);
}

static int look_at_target(struct launch *l)
{
	int status;
	pid_t pid;

	while (!l->ended) {
		pid = waitpid(l->pid, &status, WNOHANG | WUNTRACED | WCONTINUED);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return pid < 0 ? -errno : 0;
		if (WIFSTOPPED(status))
			stop_with_target(l, WSTOPSIG(status));
		else if (!WIFCONTINUED(status))
			target_ended(l, status);
	}
	return 0;
}

int launch_handle(struct launch *l)
{
	int r;

	/* Signals merge, so one SIGCHLD may stand for many and the wait comes last; and what was
	 * sent before the end is passed on before the end is seen. */
	pass_on(l);
	r = look_at_target(l);
	if (getpid() == 1 && !l->ended) /* then children are waited for one by one */
		reap_orphans(l);
	return r;
}

/* ---- the object ---- */

int launch_start(const struct launch_options *options, struct launch **ret_launch)
{
	struct launch_options o = *options;
	struct launch_origin now;
	struct launch *l = calloc(1, sizeof(*l));
	uint64_t early = 0;
	int r;

	if (!l)
		return -ENOMEM;
	if (!o.origin) { /* before we change anything */
		launch_origin_save(&now);
		o.origin = &now;
	}
	r = take_signals(l);
	if (r == 0)
		r = witness_new(&l->witness);
	if (r == 0) {
		early = take_early(l);
		r = spawn_target(&o, NULL, &l->pid);
	}
	if (r < 0) {
		launch_free(l);
		return r;
	}
	ignore_signals();
	send_early(l, early);
	*ret_launch = l;
	return 0;
}

struct launch *launch_free(struct launch *l)
{
	if (!l)
		return NULL;
	l->witness = witness_free(l->witness);
	forget_pending(l);
	closep(&l->signal_fd);
	give_signals_back(l);
	free(l);
	return NULL;
}

pid_t launch_pid(const struct launch *l)
{
	return l->pid;
}

int launch_fd(const struct launch *l)
{
	return l->signal_fd;
}

bool launch_ended(const struct launch *l, int *ret_wait_status)
{
	if (l->ended)
		*ret_wait_status = l->wait_status;
	return l->ended;
}

unsigned launch_interrupts(const struct launch *l)
{
	return l->n_interrupts;
}

bool launch_told_to_end(const struct launch *l)
{
	return ends(l->told) != 0;
}
