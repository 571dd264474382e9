/* SPDX-License-Identifier: MIT */
/* The one thread of the collector: every period it sends what changed. Only it writes to the pipe. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "collect/burst.h"
#include "collect/internal.h"
#include "wire/wire.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

enum {
	FINAL_MS = 1800, /* how long a full pipe is waited for at exit */
	EXEC_MS = 500,	 /* silence before exec must have failed */
	STACK_SIZE = 256 * 1024,
	ALONE_EVERY = 5, /* periods */
};

/* owner: the sender thread */
static struct {
	bool gone;     /* nobody reads any more */
	uint32_t exec; /* last seen of exec_wanted */
} sender;

/* ---- the thread ---- */

static void send_all(bool final)
{
	int r;

	backends_flush(final);
	if (sender.gone || !atomic_load(&collector->control->alive))
		return;
	r = burst_send(final);
	if (r == -EPIPE || r == -EBADF || r == -ENXIO) {
		/* proton is gone: the program goes on alone. */
		log_debug(1, "sender", "stream closed: %s", strerror(-r));
		burst_close();
		sender.gone = r == -EPIPE && !atomic_load(&collector->control->alive);
	}
}

static void send_final(uint32_t reason)
{
	uint64_t end = clock_monotonic_ns() + FINAL_MS * NSEC_PER_MSEC;

	send_all(true);
	while (burst_is_due_again() && clock_monotonic_ns() < end) {
		burst_wait(50);
		if (burst_send(true) == 0)
			break;
	}
	/* A full pipe: many processes end at once. */
	while (!sender.gone && burst_bye(reason) == -EAGAIN && clock_monotonic_ns() < end)
		burst_wait(50);
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t ms)
{
	struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &ts, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Has main() left by pthread_exit(), and is no thread of the program there any more? The process
 * would be over without us. Its first thread is then a zombie that is still counted. */
static bool alone(void)
{
	char text[512], *name_end;
	struct stat st;
	ssize_t n;
	int fd;

	if (stat("/proc/self/task", &st) < 0 || st.st_nlink != 4) /* ".", "..", that one, this one */
		return false;
	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' && name_end[2] == 'Z';
}

/* libc ends a process with its last thread: exit handlers run on this one, as they would have run
 * on the program's last. */
static void be_last(void)
{
	const struct timespec at_once = {0, 0};
	sigset_t none, ours;

	atomic_store(&collector->final, 1);
	/* What our own writes raised while it was blocked is not the program's. */
	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	while (sigtimedwait(&ours, NULL, &at_once) > 0)
		;
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* Who says goodbye and speaks again is still there: after this, a while of silence is for exec. */
static bool exec_look(void)
{
	uint32_t wanted = atomic_load(&collector->exec_wanted);

	if (wanted == sender.exec)
		return false;
	sender.exec = wanted;
	send_final(WIRE_BYE_EXEC);
	atomic_store(&collector->exec_sent, wanted);
	futex_wake(&collector->done);
	return true;
}

/* In the child of a fork the stack may be the one that the parent's sender had, on which
 * AddressSanitizer still sees its frames: it was not asked when this thread was made. */
static void forget_frames(void)
{
#ifdef __SANITIZE_ADDRESS__
	pthread_attr_t attr;
	size_t size;
	void *base;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	pthread_attr_getstack(&attr, &base, &size);
	pthread_attr_destroy(&attr);
	ASAN_UNPOISON_MEMORY_REGION(base, (char *)__builtin_frame_address(0) - (char *)base);
#endif
}

static void *sender_main(void *arg)
{
	uint32_t wake, period, n = 0;

	forget_frames();
	prctl(PR_SET_NAME, "proton-sender");
	atomic_store(&collector->sender, 2);
	while (!atomic_load(&collector->final)) {
		wake = atomic_load(&collector->wake);
		burst_control();
		send_all(false);
		period = atomic_load(&collector->control->period_ms);
		if (exec_look()) {
			wake = atomic_load(&collector->wake);
			period = EXEC_MS;
		}
		if (!atomic_load(&collector->final))
			futex_wait(&collector->wake, wake, CLAMP(period, 10u, 10000u));
		if (++n % ALONE_EVERY == 0 && alone())
			be_last();
	}
	send_final(WIRE_BYE_EXIT);
	atomic_store(&collector->sender, 3);
	futex_wake(&collector->done);
	return arg;
}

int sender_start(void)
{
	uint32_t none = 0;
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	if (!collector || !collector->control)
		return -ENODEV;
	if (!atomic_compare_exchange_strong(&collector->sender, &none, 1))
		return 0;
	burst_init();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	r = pthread_create(&thread, &attr, sender_main, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r) {
		atomic_store(&collector->sender, 0); /* tried again at the next occasion */
		lose(LOSS_NO_MEMORY, 1);
	}
	return -r;
}

static bool is_over(uint32_t nothing)
{
	return atomic_load(&collector->sender) == 3;
}

/* Another thread may have wanted it later, and have got it. */
static bool is_exec_sent(uint32_t wanted)
{
	return is_over(0) || (int32_t)(atomic_load(&collector->exec_sent) - wanted) >= 0;
}

static void await(bool (*condition)(uint32_t arg), uint32_t arg)
{
	uint64_t end = clock_monotonic_ns() + 2 * NSEC_PER_SEC;
	uint32_t done;

	futex_wake(&collector->wake);
	while (clock_monotonic_ns() < end) {
		done = atomic_load(&collector->done);
		if (condition(arg))
			return;
		futex_wait(&collector->done, done, 100);
	}
}

static bool is_running(void)
{
	uint32_t state = atomic_load(&collector->sender);

	return state == 1 || state == 2;
}

void sender_finish(void)
{
	if (!is_running())
		return;
	atomic_store(&collector->final, 1);
	await(is_over, 0);
}

void sender_exec(void)
{
	if (is_running())
		await(is_exec_sent, atomic_fetch_add(&collector->exec_wanted, 1) + 1);
}

void sender_forked(void)
{
	burst_forked();
	intervals_forked();
	sender.gone = false;
	sender.exec = atomic_load(&collector->exec_wanted);
	atomic_store(&collector->sender, 0);
	atomic_store(&collector->final, 0);
}
