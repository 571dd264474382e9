/* SPDX-License-Identifier: MIT */
/* The keeper of `top`: the pty, its log, and the death of the screen. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include "check_main.h"
#include "launch/keeper.h"
#include "launch_help.h"

extern char **environ;

static struct session_dir *dir;
static int user_fd = -1; /* the far side of the user's terminal */

/* ---- the user's terminal ---- */

/* A pty as our descriptors 0, 1 and 2. Check reports over files of its own. */
static void open_terminal(void)
{
	int slave;

	user_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	ck_assert_int_ge(user_fd, 0);
	ck_assert(grantpt(user_fd) == 0 && unlockpt(user_fd) == 0);
	slave = open(ptsname(user_fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(slave, 0);
	for (int fd = 0; fd < 3; fd++)
		ck_assert_int_eq(dup2(slave, fd), fd);
	close(slave);
}

static void set_up(void)
{
	sigset_t none;

	/* The test program itself may have been started by anything. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < 32; sig++)
		set_signal(sig, SIG_DFL);
	for (int fd = 3; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	scratch_make();
	open_terminal();
	ck_assert_int_eq(session_dir_new(&dir), 0);
}

static void tear_down(void)
{
	dir = session_dir_free(dir);
	scratch_remove();
}

/* ---- running a target ---- */

static int try_start(struct keeper_options *o, const char *word, const char *a, const char *b,
		     struct keeper **ret_keeper, const char **ret_what)
{
	char *argv[] = {(char *)test_program("launch_child"), (char *)word, (char *)a, (char *)b,
			NULL};

	o->dir = dir;
	if (!o->target.path)
		o->target.path = argv[0];
	o->target.argv = argv;
	o->target.envp = environ;
	return keeper_start(o, ret_keeper, ret_what);
}

static struct keeper *start_with(struct keeper_options *o, const char *word, const char *a,
				 const char *b)
{
	struct keeper *k = NULL;
	const char *what = "";
	int r = try_start(o, word, a, b, &k, &what);

	ck_assert_msg(r == 0, "%s: %s", what, strerror(-r));
	ck_assert_int_gt(keeper_target_pid(k), 1);
	return k;
}

static struct keeper *start(const char *word, const char *a, const char *b)
{
	struct keeper_options o = {0};

	return start_with(&o, word, a, b);
}

/* The next event but the log's growth. */
static struct keeper_event next_event(struct keeper *k)
{
	uint64_t deadline_ms = now_ms() + PATIENCE_MS;
	struct keeper_event event = {0};

	for (;;) {
		struct pollfd p = {.fd = keeper_fd(k), .events = POLLIN};

		ck_assert_uint_lt(now_ms(), deadline_ms);
		poll(&p, 1, 100);
		if (keeper_next(k, &event) == 1 && event.kind != KEEPER_LOG_GREW)
			return event;
	}
}

static void expect(struct keeper *k, enum keeper_event_kind kind, uint64_t value)
{
	struct keeper_event event = next_event(k);

	ck_assert_int_eq(event.kind, kind);
	ck_assert_uint_eq(event.value, value);
}

static int wait_end(struct keeper *k)
{
	struct keeper_event event = next_event(k);
	int status = -1;

	ck_assert_int_eq(event.kind, KEEPER_ENDED);
	ck_assert(keeper_ended(k, &status));
	ck_assert_int_eq(status, (int)event.value);
	expect(k, KEEPER_DRAINED, 0);
	return launch_exit_status(status);
}

/* The screen leaves in good order. */
static void finish(struct keeper *k)
{
	pid_t pid = keeper_pid(k);

	ck_assert_int_eq(keeper_finish(k), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(access(dir->path, F_OK), 0); /* that is still ours */
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
	keeper_free(k);
}

/* The log so far, as a string. Static storage. */
static const char *log_text(struct keeper *k)
{
	static char text[1 << 20];
	uint64_t at = log_ring_start(keeper_log(k));
	size_t len = 0;
	ssize_t n;

	while ((n = log_ring_read(keeper_log(k), at, text + len, sizeof(text) - 1 - len)) > 0) {
		len += (size_t)n;
		at += (uint64_t)n;
	}
	text[len] = '\0';
	return text;
}

/* ---- status and output ---- */

static const struct {
	const char *word, *arg;
	int shell;
} ends[] = {
	{"exit", "0", 0},  {"exit", "7", 7},   {"die", "15", 143},
	{"die", "9", 137}, {"die", "11", 139},
};

START_TEST(test_status)
{
	struct keeper *k = start(ends[_i].word, ends[_i].arg, NULL);

	ck_assert_int_eq(keeper_finish(k), -EBUSY); /* as far as we know */
	ck_assert_int_eq(wait_end(k), ends[_i].shell);
	finish(k);
}
END_TEST

START_TEST(test_start_fails)
{
	struct keeper_options o = {0};
	struct keeper *k = NULL;
	const char *what = "";

	o.target.path = in_scratch("absent");
	ck_assert_int_eq(try_start(&o, "", NULL, NULL, &k, &what), -ENOENT);
	ck_assert_str_eq(what, "exec");
	o.target.path = in_scratch("plain");
	write_file(o.target.path, "", 0, 0600);
	ck_assert_int_eq(try_start(&o, "", NULL, NULL, &k, &what), -EACCES);
	ck_assert_str_eq(what, "exec");
	o.target.path = NULL;
	o.app_log = "/absent/log";
	ck_assert_int_eq(try_start(&o, "", NULL, NULL, &k, &what), -ENOENT);
	ck_assert_str_eq(what, "app log");
	ck_assert_ptr_null(k);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* nobody left behind */
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
}
END_TEST

#define FILL "400000"

static void check_fill(const char *text)
{
	char line[32];

	ck_assert_uint_eq(strlen(text), 400000);
	for (int i = 0; i < 400000; i += 16) {
		snprintf(line, sizeof(line), "%015x\n", (unsigned)i);
		ck_assert_int_eq(strncmp(text + i, line, 16), 0);
	}
}

START_TEST(test_output_is_complete)
{
	struct keeper_options o = {.app_log = in_scratch("app.log")};
	struct keeper *k = start_with(&o, "fill", FILL, NULL);

	ck_assert_int_eq(wait_end(k), 0);
	check_fill(log_text(k));
	check_fill(file_text(in_scratch("app.log")));
	finish(k);
}
END_TEST

/* A screen that does not look (stopped by ^Z) does not stop the target. */
START_TEST(test_slow_screen)
{
	struct keeper *k = start("fill", FILL, NULL);

	wait_until(is_dead(keeper_target_pid(k)));
	ck_assert_int_eq(wait_end(k), 0);
	check_fill(log_text(k));
	finish(k);
}
END_TEST

START_TEST(test_log_wakes_once)
{
	struct keeper *k = start("print", in_scratch("go"), in_scratch("out"));
	struct keeper_event event = {0};

	wait_until(keeper_next(k, &event) == 1);
	ck_assert_int_eq(event.kind, KEEPER_LOG_GREW);
	ck_assert_uint_gt(event.value, 0);
	wait_until(log_ring_end(keeper_log(k)) > event.value + 100000);
	ck_assert_int_eq(keeper_next(k, &event), 0);
	log_ring_want(keeper_log(k));
	wait_until(keeper_next(k, &event) == 1);
	ck_assert_int_eq(event.kind, KEEPER_LOG_GREW);
	write_file(in_scratch("go"), "", 0, 0600);
	ck_assert_int_eq(wait_end(k), 5);
	finish(k);
}
END_TEST

/* ---- descriptors and the terminal ---- */

static void redirect(int fd, const char *path, int flags)
{
	int file = open(path, flags | O_CLOEXEC, 0600);

	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(dup2(file, fd), fd);
	close(file);
}

START_TEST(test_redirected)
{
	struct keeper *k;

	write_file(in_scratch("in"), "from file\n", 10, 0600);
	redirect(0, in_scratch("in"), O_RDONLY);
	redirect(1, in_scratch("out"), O_WRONLY | O_CREAT);
	k = start("read", NULL, NULL);
	ck_assert_int_eq(wait_end(k), 6);
	ck_assert_str_eq(file_text(in_scratch("out")), "tty 0 0 1\nfront 1\ngot from file\n");
	ck_assert_str_eq(log_text(k), "");
	finish(k);
}
END_TEST

START_TEST(test_nothing_leaks)
{
	struct keeper *k;

	redirect(1, in_scratch("out"), O_WRONLY | O_CREAT);
	k = start("state", NULL, NULL);
	ck_assert_int_eq(wait_end(k), 0);
	ck_assert_str_eq(file_text(in_scratch("out")), "fd 0\nfd 1\nfd 2\n");
	finish(k);
}
END_TEST

/* A reader of an inherited pipe waits for its writers: for the target, not for the keeper. */
START_TEST(test_keeper_holds_no_pipe)
{
	struct keeper *k;
	int ends_of[2];
	char byte;

	ck_assert_int_eq(pipe(ends_of), 0);
	fcntl(ends_of[0], F_SETFD, FD_CLOEXEC);
	k = start("exit", "0", NULL);
	close(ends_of[1]);
	ck_assert_int_eq(wait_end(k), 0);
	ck_assert_int_eq(read(ends_of[0], &byte, 1), 0);
	finish(k);
}
END_TEST

START_TEST(test_window_size)
{
	struct keeper_options o = {.size = {.ws_row = 40, .ws_col = 100}};
	struct keeper *k = start_with(&o, "size", NULL, NULL);

	wait_until(strstr(log_text(k), "size 40 100\n"));
	ck_assert_int_eq(keeper_resize(k, 50, 120), 0);
	ck_assert_int_eq(wait_end(k), 0);
	ck_assert_ptr_nonnull(strstr(log_text(k), "size 50 120\n"));
	finish(k);
}
END_TEST

START_TEST(test_typed_text)
{
	struct keeper *k = start("read", NULL, NULL);

	ck_assert_int_eq(keeper_input(k, "hello\n", 6), 0);
	ck_assert_int_eq(wait_end(k), 6);
	ck_assert_ptr_nonnull(strstr(log_text(k), "tty 1 1 1\n"));
	ck_assert_ptr_nonnull(strstr(log_text(k), "front 1\n"));
	ck_assert_ptr_nonnull(strstr(log_text(k), "got hello\n"));
	finish(k);
}
END_TEST

START_TEST(test_typed_interrupt)
{
	struct keeper *k = start("read", NULL, NULL);

	wait_until(strstr(log_text(k), "front 1\n"));
	ck_assert_int_eq(keeper_input(k, "\3", 1), 0);
	ck_assert_int_eq(wait_end(k), 130);
	finish(k);
}
END_TEST

START_TEST(test_typed_stop)
{
	struct keeper *k = start("read", NULL, NULL);

	wait_until(strstr(log_text(k), "front 1\n"));
	ck_assert_int_eq(keeper_input(k, "\32", 1), 0);
	expect(k, KEEPER_STOPPED, SIGTSTP);
	ck_assert_int_eq(keeper_signal(k, SIGCONT, true), 0);
	expect(k, KEEPER_CONTINUED, 0);
	ck_assert_int_eq(keeper_input(k, "on\n", 3), 0);
	ck_assert_int_eq(wait_end(k), 6);
	finish(k);
}
END_TEST

START_TEST(test_signals)
{
	const char *path = in_scratch("signals");
	struct keeper *k = start("signals", path, NULL);

	wait_until(strstr(file_text(path), "ready\n"));
	ck_assert_int_eq(keeper_signal(k, SIGTERM, false), 0);
	wait_until(strstr(file_text(path), "15\n"));
	ck_assert_int_eq(keeper_signal(k, SIGUSR1, true), 0);
	wait_until(strstr(file_text(path), "10\n"));
	kill(keeper_pid(k), SIGUSR2); /* who signals the keeper means the target */
	ck_assert_int_eq(wait_end(k), 9);
	ck_assert_str_eq(file_text(path), "ready\n15\n10\n12\n");
	finish(k);
}
END_TEST

START_TEST(test_closes_all)
{
	struct keeper *k = start("close", in_scratch("go"), in_scratch("out"));

	write_file(in_scratch("go"), "", 0, 0600);
	ck_assert_int_eq(wait_end(k), 4);
	ck_assert_str_eq(file_text(in_scratch("out")), "closed\n");
	finish(k);
}
END_TEST

/* ---- what stays behind ---- */

START_TEST(test_left_behind)
{
	struct keeper_options o = {.app_log = in_scratch("app.log")};
	struct keeper *k = start_with(&o, "leave", in_scratch("go"), NULL);

	expect(k, KEEPER_ENDED, 3 << 8);
	expect(k, KEEPER_DRAINED, 1); /* after 2 s */
	write_file(in_scratch("go"), "", 0, 0600);
	expect(k, KEEPER_DRAINED, 0);
	ck_assert_ptr_nonnull(strstr(log_text(k), "late\n"));
	finish(k);
}
END_TEST

/* The screen does not wait; the keeper stays for those who have the pty open. */
START_TEST(test_left_behind_after_finish)
{
	struct keeper_options o = {.app_log = in_scratch("app.log")};
	struct keeper *k = start_with(&o, "leave", in_scratch("go"), NULL);

	expect(k, KEEPER_ENDED, 3 << 8);
	ck_assert_int_eq(keeper_finish(k), 0);
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
	ck_assert_int_eq(waitpid(keeper_pid(k), NULL, WNOHANG), 0);
	write_file(in_scratch("go"), "", 0, 0600);
	ck_assert_int_eq(waitpid(keeper_pid(k), NULL, 0), keeper_pid(k));
	ck_assert_ptr_nonnull(strstr(file_text(in_scratch("app.log")), "late\n"));
	keeper_free(k);
}
END_TEST

/* ---- the death of the screen ---- */

/* What the screen process tells the test. */
struct screen {
	pid_t pid, keeper, target;
};

#define RESTORE "<restored>"

/* A session of its own with the user's terminal, in raw mode, as curses would have it. */
static _Noreturn void screen_main(int report_fd, bool leave, bool keep_alive)
{
	struct keeper_options o = {.restore = RESTORE, .restore_len = strlen(RESTORE)};
	struct screen screen = {.pid = getpid()};
	struct termios saved, raw;
	struct keeper *k;

	close(user_fd);
	setsid();
	ioctl(0, TIOCSCTTY, 0);
	tcgetattr(0, &saved);
	raw = saved;
	cfmakeraw(&raw);
	tcsetattr(0, TCSANOW, &raw);
	o.termios = &saved;
	k = start_with(&o, "print", in_scratch("go"), in_scratch("out"));
	screen.keeper = keeper_pid(k);
	screen.target = keeper_target_pid(k);
	if (leave) {
		ck_assert_int_eq(keeper_detach(k, keep_alive), 0);
		tcsetattr(0, TCSANOW, &saved);
	}
	(void)!write(report_fd, &screen, sizeof(screen));
	for (;;)
		pause();
}

static struct screen start_screen(bool leave, bool keep_alive)
{
	struct screen screen = {0};
	int report[2];
	pid_t pid;

	ck_assert_int_eq(pipe2(report, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		screen_main(report[1], leave, keep_alive);
	close(report[1]);
	ck_assert_int_eq(read(report[0], &screen, sizeof(screen)), sizeof(screen));
	close(report[0]);
	wait_until(strstr(file_text(in_scratch("out")), "ready\n"));
	return screen;
}

static void kill_screen(const struct screen *screen)
{
	kill(screen->pid, SIGKILL);
	ck_assert_int_eq(waitpid(screen->pid, NULL, 0), screen->pid);
	/* Our hold on the session directory goes too. */
	closep(&dir->owner_fd);
	dir->owner_fd = -1;
}

/* What came to the user's terminal. */
static bool terminal_shows(const char *text)
{
	static char shown[4096];
	static size_t len;
	ssize_t n = read(user_fd, shown + len, sizeof(shown) - 1 - len);

	if (n > 0)
		len += (size_t)n;
	shown[len] = '\0';
	return strstr(shown, text) != NULL;
}

static bool is_raw(void)
{
	struct termios now;

	ck_assert_int_eq(tcgetattr(0, &now), 0);
	return !(now.c_lflag & ICANON);
}

/* The target is told to end, and all ends: its file is written, nothing is left. */
static void let_end(const struct screen *screen)
{
	ck_assert(!is_dead(screen->target));
	write_file(in_scratch("go"), "", 0, 0600);
	wait_until(strstr(file_text(in_scratch("out")), "end\n"));
	wait_until(is_dead(screen->target));
	wait_until(is_dead(screen->keeper));
	ck_assert_int_eq(count_sessions(), 0);
}

START_TEST(test_screen_killed)
{
	struct screen screen = start_screen(false, false);

	ck_assert(is_raw());
	ck_assert_uint_eq(dir->control->alive, 1);
	ck_assert_int_eq(session_dir_sweep_in(in_scratch("proton"), 0), 0);
	kill_screen(&screen);
	wait_until(terminal_shows(RESTORE));
	ck_assert(!is_raw());
	wait_until(dir->control->alive == 0);
	ck_assert_int_eq(count_sessions(), 1);
	ck_assert_int_eq(session_dir_sweep_in(in_scratch("proton"), 0), 0); /* the keeper's lock */
	let_end(&screen);
}
END_TEST

/* The line is lost: the kernel hangs up. */
START_TEST(test_line_lost)
{
	struct screen screen = start_screen(false, false);

	close(user_fd);
	ck_assert_int_eq(waitpid(screen.pid, NULL, 0), screen.pid);
	wait_until(dir->control->alive == 0);
	let_end(&screen);
}
END_TEST

START_TEST(test_detached)
{
	struct screen screen = start_screen(true, _i);

	wait_until(dir->control->alive == (unsigned)_i);
	kill_screen(&screen);
	ck_assert(!is_raw());
	let_end(&screen);
	ck_assert(!terminal_shows(RESTORE)); /* all who could write it are dead */
}
END_TEST

/* It died after the target did, before it took its leave. */
START_TEST(test_screen_dies_after_end)
{
	struct keeper_options o = {.restore = RESTORE, .restore_len = strlen(RESTORE)};
	struct keeper *k = start_with(&o, "exit", "0", NULL);
	pid_t pid = keeper_pid(k);

	ck_assert_int_eq(wait_end(k), 0);
	keeper_free(k);
	wait_until(terminal_shows(RESTORE));
	wait_until(is_dead(pid));
	ck_assert_int_eq(count_sessions(), 0);
}
END_TEST

/* A target under nohup outlives even the keeper. */
START_TEST(test_keeper_killed)
{
	struct keeper *k;
	pid_t target;

	set_signal(SIGHUP, SIG_IGN);
	k = start("close", in_scratch("go"), in_scratch("out"));
	target = keeper_target_pid(k);
	kill(keeper_pid(k), SIGKILL);
	ck_assert_int_eq(next_event(k).kind, KEEPER_GONE);
	ck_assert_int_eq(keeper_fd(k), -1);
	ck_assert_int_eq(keeper_signal(k, SIGTERM, false), -EPIPE);
	ck_assert_int_eq(keeper_finish(k), -EBUSY);
	write_file(in_scratch("go"), "", 0, 0600);
	wait_until(is_dead(target));
	ck_assert_str_eq(file_text(in_scratch("out")), "closed\n");
	keeper_free(k);
	ck_assert_int_eq(session_dir_remove(dir->path), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("launch_keeper");
	TCase *t = tcase_create("keeper");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, test_status, 0, (int)ARRAY_SIZE(ends));
	tcase_add_test(t, test_start_fails);
	tcase_add_test(t, test_output_is_complete);
	tcase_add_test(t, test_slow_screen);
	tcase_add_test(t, test_log_wakes_once);
	tcase_add_test(t, test_redirected);
	tcase_add_test(t, test_nothing_leaks);
	tcase_add_test(t, test_keeper_holds_no_pipe);
	tcase_add_test(t, test_window_size);
	tcase_add_test(t, test_typed_text);
	tcase_add_test(t, test_typed_interrupt);
	tcase_add_test(t, test_typed_stop);
	tcase_add_test(t, test_signals);
	tcase_add_test(t, test_closes_all);
	tcase_add_test(t, test_left_behind);
	tcase_add_test(t, test_left_behind_after_finish);
	tcase_add_test(t, test_screen_killed);
	tcase_add_test(t, test_line_lost);
	tcase_add_loop_test(t, test_detached, 0, 2);
	tcase_add_test(t, test_screen_dies_after_end);
	tcase_add_test(t, test_keeper_killed);
	suite_add_tcase(suite, t);
	return check_run(suite);
}
