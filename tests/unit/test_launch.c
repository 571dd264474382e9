/* SPDX-License-Identifier: MIT */
/* The launcher of `record`: status, signals, descriptors. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include "check_main.h"
#include "launch/launch.h"
#include "launch/session_dir.h"
#include "launch/target_env.h"
#include "launch/witness.h"
#include "launch_help.h"

extern char **environ;

/* ---- running a target ---- */

static struct launch *start(char *const *argv)
{
	struct launch_options o = {.path = argv[0], .argv = argv, .envp = environ};
	struct launch *l = NULL;

	ck_assert_int_eq(launch_start(&o, &l), 0);
	return l;
}

/* As a command would wait. */
static int wait_end(struct launch *l)
{
	uint64_t deadline_ms = now_ms() + PATIENCE_MS;
	int status = -1;

	while (!launch_ended(l, &status)) {
		struct pollfd p = {.fd = launch_fd(l), .events = POLLIN};

		ck_assert_uint_lt(now_ms(), deadline_ms);
		ck_assert_int_ge(poll(&p, 1, 1000), 0);
		ck_assert_int_eq(launch_handle(l), 0);
	}
	return status;
}

static int run(char *const *argv)
{
	struct launch *l = start(argv);
	int status = wait_end(l);

	launch_free(l);
	return status;
}

static int run_child(const char *word, const char *arg)
{
	char *argv[] = {(char *)test_program("launch_child"), (char *)word, (char *)arg, NULL};

	return run(argv);
}

/* ---- status ---- */

static const struct {
	const char *word, *arg;
	int shell; /* $? */
} ends[] = {
	{"exit", "0", 0},  {"exit", "7", 7},   {"exit", "255", 255}, {"die", "15", 143},
	{"die", "9", 137}, {"die", "11", 139}, {"die", "2", 130},    {"die", "6", 134},
	{"die", "3", 131}, {"die", "1", 129},
};

START_TEST(test_status)
{
	int status = run_child(ends[_i].word, ends[_i].arg);

	ck_assert_int_eq(launch_exit_status(status), ends[_i].shell);
	ck_assert(WIFSIGNALED(status) == (ends[_i].shell > 128 && ends[_i].shell < 255));
}
END_TEST

/* Our own end is the target's, as the kernel tells it to our parent. */
START_TEST(test_die_like)
{
	int wanted = run_child(ends[_i].word, ends[_i].arg), status;
	pid_t pid = fork();

	if (pid == 0) {
		sigset_t all;

		sigfillset(&all); /* launch.c leaves signals blocked, others ignored */
		sigprocmask(SIG_SETMASK, &all, NULL);
		set_signal(SIGINT, SIG_IGN);
		launch_die_like(wanted);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status & ~0x80, wanted & ~0x80); /* 0x80: core dumped */
	ck_assert(!WIFSIGNALED(status) || !WCOREDUMP(status));
}
END_TEST

START_TEST(test_exec_fails)
{
	char *argv[] = {(char *)"x", NULL};
	struct launch_options o = {.argv = argv, .envp = environ};
	struct launch *l = NULL;

	o.path = in_scratch("absent");
	ck_assert_int_eq(launch_start(&o, &l), -ENOENT);
	ck_assert_int_eq(target_exit_status(-ENOENT), 127);
	o.path = in_scratch("plain");
	write_file(o.path, "x", 1, 0600);
	ck_assert_int_eq(launch_start(&o, &l), -EACCES);
	ck_assert_int_eq(target_exit_status(-EACCES), 126);
	o.path = scratch;
	ck_assert_int_eq(launch_start(&o, &l), -EACCES);
	o.path = in_scratch("no-interpreter");
	write_file(o.path, "#!/absent/x\n", 12, 0700);
	ck_assert_int_eq(launch_start(&o, &l), -ENOENT);
	o.path = in_scratch("junk");
	write_file(o.path, "\177ELF\0\0\0\0junk", 12, 0700);
	ck_assert_int_eq(launch_start(&o, &l), -ENOEXEC);
	ck_assert_int_eq(target_exit_status(-ENOEXEC), 126);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* nobody left behind */
}
END_TEST

/* execvp() gives a file without a magic number to the shell. */
START_TEST(test_shell_script)
{
	char *argv[] = {(char *)in_scratch("script"), (char *)"12", NULL};

	write_file(argv[0], "exit $1\n", 8, 0700);
	ck_assert_int_eq(launch_exit_status(run(argv)), 12);
}
END_TEST

/* With --no-follow a collector must know whether it is in the target itself, from the start on. */
START_TEST(test_only_pid)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)"test \"$PROTON_ONLY_PID\" = $$",
			NULL};
	struct target_env_options eo = {
		.library = "/l.so", .session = "/s", .no_follow = true, .no_preload = true};
	struct launch_options o = {.path = argv[0], .argv = argv};
	struct launch *l = NULL;
	struct target_env env;

	ck_assert_int_eq(target_env_build(&eo, environ, &env), 0);
	o.envp = env.vars;
	o.only_pid = env.only_pid;
	ck_assert_int_eq(launch_start(&o, &l), 0);
	ck_assert_int_eq(wait_end(l), 0);
	launch_free(l);
	target_env_done(&env);
}
END_TEST

/* ---- what the target finds ---- */

static int open_output(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	return fd;
}

/* Run "state" with stdout in a file; with an inherited descriptor 9. */
static void print_state(const char *path)
{
	int out = open_output(path), saved = fcntl(1, F_DUPFD_CLOEXEC, 10);

	ck_assert_int_eq(dup2(out, 1), 1);
	ck_assert_int_eq(dup2(out, 9), 9);
	ck_assert_int_eq(run_child("state", ""), 0);
	ck_assert_int_eq(dup2(saved, 1), 1);
	close(9);
	close(saved);
	close(out);
}

/* The test program itself may have been started by anything. */
static void normal_state(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < 32; sig++)
		set_signal(sig, SIG_DFL);
	for (int fd = 3; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
}

START_TEST(test_nothing_leaks)
{
	struct session_dir *dir = NULL;

	normal_state();
	ck_assert_int_eq(session_dir_new(&dir), 0);
	print_state(in_scratch("state"));
	ck_assert_str_eq(file_text(in_scratch("state")), "fd 0\nfd 1\nfd 2\nfd 9\n");
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
	session_dir_free(dir);
}
END_TEST

static void on_signal(int sig)
{
}

/* What nohup and friends ignored stays ignored; our handlers and blocks do not reach the target;
 * and afterwards we are as before. */
START_TEST(test_signals_inherited)
{
	struct sigaction action;
	sigset_t set, after;

	normal_state();
	set_signal(SIGHUP, SIG_IGN);
	set_signal(SIGCHLD, SIG_IGN);
	set_signal(SIGUSR1, on_signal);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	print_state(in_scratch("state"));
	ck_assert_str_eq(file_text(in_scratch("state")),
			 "ignored 1\nblocked 14\nignored 17\nfd 0\nfd 1\nfd 2\nfd 9\n");
	sigaction(SIGCHLD, NULL, &action);
	ck_assert_ptr_eq(action.sa_handler, SIG_IGN);
	sigaction(SIGINT, NULL, &action);
	ck_assert_ptr_eq(action.sa_handler, SIG_DFL);
	sigprocmask(SIG_BLOCK, NULL, &after);
	ck_assert(sigismember(&after, SIGALRM) && !sigismember(&after, SIGTERM));
}
END_TEST

/* What was saved early in main() counts, not what proton did to itself since. */
START_TEST(test_origin)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)"ulimit -Sn >\"$0\"",
			(char *)in_scratch("out"), NULL};
	struct launch_options o = {.path = argv[0], .argv = argv, .envp = environ};
	struct launch_origin origin;
	struct launch *l = NULL;
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 77;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	launch_origin_save(&origin);
	limit.rlim_cur = 99;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	o.origin = &origin;
	ck_assert_int_eq(launch_start(&o, &l), 0);
	wait_end(l);
	launch_free(l);
	ck_assert_str_eq(file_text(in_scratch("out")), "77\n");
}
END_TEST

/* ---- signals ---- */

static struct launch *start_signals(const char *word, const char *path)
{
	char *argv[] = {(char *)test_program("launch_child"), (char *)word, (char *)path, NULL};
	struct launch *l = start(argv);

	wait_until(strstr(file_text(path), "ready\n"));
	return l;
}

static void send_and_pass(struct launch *l, int sig)
{
	kill(getpid(), sig);
	ck_assert_int_eq(launch_handle(l), 0);
}

START_TEST(test_forwarded_once)
{
	const char *path = in_scratch("signals");
	struct launch *l = start_signals("signals", path);

	send_and_pass(l, SIGTERM);
	wait_until(strstr(file_text(path), "15\n"));
	send_and_pass(l, SIGHUP);
	wait_until(strstr(file_text(path), "1\n"));
	send_and_pass(l, SIGUSR1);
	wait_until(strstr(file_text(path), "10\n"));
	kill(getpid(), SIGINT); /* ignored */
	kill(getpid(), SIGQUIT);
	send_and_pass(l, SIGUSR2);
	ck_assert_int_eq(launch_exit_status(wait_end(l)), 9);
	launch_free(l);
	ck_assert_str_eq(file_text(path), "ready\n15\n1\n10\n12\n");
}
END_TEST

/* `kill 0` in the target reaches us too; it is not sent back. */
START_TEST(test_group_signal_not_returned)
{
	const char *path = in_scratch("signals");
	struct launch *l;

	ck_assert(setpgid(0, 0) == 0 || errno == EPERM);
	l = start_signals("signal-all", path);
	wait_until(strstr(file_text(path), "15\n"));
	ck_assert_int_eq(launch_handle(l), 0);
	send_and_pass(l, SIGUSR2);
	ck_assert_int_eq(launch_exit_status(wait_end(l)), 9);
	launch_free(l);
	ck_assert_str_eq(file_text(path), "ready\n15\n12\n");
}
END_TEST

/* How often a line is in a text. */
static unsigned count_lines(const char *text, const char *line)
{
	unsigned n = 0;

	for (; (text = strstr(text, line)); text++)
		n++;
	return n;
}

/* A signal to the group, as a shell's `kill %1` sends it, reaches the target by the kernel alone, and
 * one to us by us. Again and again, for who is first is chance. */
START_TEST(test_each_once)
{
	static const int signals[] = {SIGTERM, SIGHUP, SIGUSR1};
	static const char *const lines[] = {"\n15\n", "\n1\n", "\n10\n"};
	const char *path = in_scratch("signals");
	unsigned n[ARRAY_SIZE(signals)] = {0};
	struct launch *l;

	ck_assert(setpgid(0, 0) == 0 || errno == EPERM);
	l = start_signals("signals", path);
	for (unsigned i = 0; i < 300; i++) {
		unsigned s = i % 3, to_group = i / 3 % 2;

		kill(to_group ? 0 : getpid(), signals[s]);
		ck_assert_int_eq(launch_handle(l), 0);
		n[s]++;
		wait_until(count_lines(file_text(path), lines[s]) >= n[s]);
	}
	send_and_pass(l, SIGUSR2);
	ck_assert_int_eq(launch_exit_status(wait_end(l)), 9);
	launch_free(l);
	for (unsigned s = 0; s < ARRAY_SIZE(signals); s++)
		ck_assert_uint_eq(count_lines(file_text(path), lines[s]), n[s]);
}
END_TEST

/* Nobody who looks for us, or for the target, by name finds the witness. */
START_TEST(test_witness_name)
{
	struct witness *w = NULL;
	char path[64];

	ck_assert_int_eq(witness_new(&w), 0);
	ck_assert_uint_eq(witness_ask(w), 0); /* it has begun */
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)witness_pid(w));
	ck_assert_str_eq(file_text(path), "signal-witness\n");
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)witness_pid(w));
	ck_assert_int_eq(strncmp(file_text(path), "signal-witness", strlen(file_text(path))), 0);
	kill(witness_pid(w), SIGUSR1);
	ck_assert_uint_eq(witness_ask(w), 1u << (SIGUSR1 - 1));
	ck_assert_uint_eq(witness_ask(w), 0);
	kill(witness_pid(w), SIGKILL);
	ck_assert_uint_eq(witness_ask(w), 0);
	witness_free(w);
}
END_TEST

/* One that came too late to be passed on does not end us. */
START_TEST(test_late_signal)
{
	char *argv[] = {(char *)test_program("launch_child"), (char *)"exit", (char *)"0", NULL};
	struct launch *l = start(argv);

	wait_end(l);
	kill(getpid(), SIGTERM);
	launch_free(l);
}
END_TEST

/* After the end, the keys of the terminal are ours: they end a wait. */
START_TEST(test_interrupts)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	char *argv[] = {(char *)test_program("launch_child"), (char *)"exit", (char *)"0", NULL};
	struct launch *l = start(argv);

	kill(getpid(), SIGINT); /* this one is the target's */
	wait_end(l);
	ck_assert_uint_eq(launch_interrupts(l), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(signals); i++) {
		send_and_pass(l, signals[i]);
		ck_assert_uint_eq(launch_interrupts(l), i + 1);
	}
	launch_free(l);
}
END_TEST

/* ---- signals that come while the target is started ---- */

static int early_signal;

/* At the first fork, which makes the witness. */
static void send_early(void)
{
	int sig = early_signal;

	early_signal = 0;
	if (sig)
		kill(0, sig);
}

/* A signal to the group, and no later one, ends the target, whether or not the witness has it. */
START_TEST(test_early_signal)
{
	static const int signals[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
	char *argv[] = {(char *)"/bin/sleep", (char *)"1000", NULL};
	int sig = signals[_i / 2], status;
	struct launch *l;

	ck_assert_int_eq(setpgid(0, 0), 0);
	early_signal = sig;
	ck_assert_int_eq(_i % 2 ? pthread_atfork(NULL, send_early, NULL)
				: pthread_atfork(send_early, NULL, NULL),
			 0);
	l = start(argv);
	status = wait_end(l);
	launch_free(l);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), sig);
}
END_TEST

/* ---- who stays ---- */

START_TEST(test_survivors)
{
	struct survivor *list = NULL;
	size_t n = 0;

	setenv("PROTON_SESSION", scratch, 1);
	ck_assert_int_eq(launch_exit_status(run_child("leave", in_scratch("go"))), 3);
	ck_assert_int_eq(launch_survivors(scratch, 0, &list, &n), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(list[0].name, "launch_child");
	write_file(in_scratch("go"), "", 0, 0600);
	wait_until(is_dead(list[0].pid));
	free(list);
	ck_assert_int_eq(launch_survivors(scratch, 0, &list, &n), 0);
	ck_assert_uint_eq(n, 0);
	free(list);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("launch");
	TCase *t = tcase_create("record");

	/* Whoever runs us may ignore some (nohup): the tests are about the defaults. */
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);

	tcase_add_checked_fixture(t, scratch_make, scratch_remove);
	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, test_status, 0, (int)ARRAY_SIZE(ends));
	tcase_add_loop_test(t, test_die_like, 0, (int)ARRAY_SIZE(ends));
	tcase_add_test(t, test_exec_fails);
	tcase_add_test(t, test_shell_script);
	tcase_add_test(t, test_only_pid);
	tcase_add_test(t, test_nothing_leaks);
	tcase_add_test(t, test_signals_inherited);
	tcase_add_test(t, test_origin);
	tcase_add_test(t, test_forwarded_once);
	tcase_add_test(t, test_group_signal_not_returned);
	tcase_add_test(t, test_each_once);
	tcase_add_test(t, test_witness_name);
	tcase_add_test(t, test_late_signal);
	tcase_add_test(t, test_interrupts);
	tcase_add_loop_test(t, test_early_signal, 0, 8);
	tcase_add_test(t, test_survivors);
	suite_add_tcase(suite, t);
	return check_run(suite);
}
