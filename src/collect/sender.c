/* SPDX-License-Identifier: MIT */
/* When the collector speaks. Two threads of ours, made at the first thing to say:
 *
 *   sender    descriptors of its own (own_fd.h). Every period: burst to the pipe, trace files.
 *   flusher   descriptors of the program, which the vendor's library works with. Flushes the backends
 *             before each burst; is the process's last thread where main() has left.
 *
 * Others ask by a counter and wait for its answer, never for long: at the end of the program, before
 * exec, and where the ring of intervals is full.
 *
 * Waits are for work, not for a clock: on a busy machine our threads may hardly run, and what they were not let do takes
 * longer (answer_ms(), ADR 73).
 *
 * A program that has no thread of its own beside its first one has none when it forks: ours withdraw before,
 * and the next value makes them anew (ADR 30). */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "backends/cuda_arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "collect/burst.h"
#include "collect/contexts.h"
#include "collect/epochs.h"
#include "collect/flushing.h"
#include "collect/futex.h"
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "collect/outlet.h"
#include "collect/own_fd.h"
#include "collect/own_stack.h"
#include "collect/own_thread.h"
#include "collect/patience.h"
#include "collect/session_wait.h"
#include "wire/wire.h"

enum {
	FINAL_MS = 1800, /* at exit: how long to wait for the vendor's library */
	PIPE_MS = 300,   /* … for a full pipe, before what is left goes to a file */
	ASK_MS = 2000,   /* … and how long the program waits for us to do all that */
	FLUSH_MS = 100,  /* how long a burst waits for the vendor's library */
	TAKE_MS = 10,    /* how long a thread that delivers records waits for room in the ring */
	EXEC_MS = 500,   /* if we still run after this, exec must have failed */
	AGAIN_MS = 100,  /* between two tries to make a thread */
	YOUNG_PART = 8,  /* of a process's age, until it speaks again */
	ALONE_EVERY = 5, /* periods */
	ALONE_NAP_MS = 50,
	WITHDRAW_MS = 100, /* how long a fork waits for our threads to be gone */
	WITHDRAW_LOOK_NS = 20000,
	N_OURS = 2, /* threads */
};

/* owner: the sender thread, but for what is atomic */
static struct {
	bool gone;                     /* nobody reads any more */
	uint64_t began_ns;             /* the thread */
	_Atomic uint64_t failed_ns;    /* when no thread could be made; 0: never */
	_Atomic uint64_t main_left_ns; /* when main() called pthread_exit(); 0: it did not */
	_Atomic bool take_wanted, take_slow;
	_Atomic uint32_t taken;
	_Atomic bool connected; /* after what was delivered last: somebody can read it */
	_Atomic int withdrawal; /* enum withdrawal */
	uint32_t n_waiting;     /* allocations that were told to be late */
	uint64_t delayed_ns, flusher_delayed_ns; /* our threads, as an answer began */
	_Atomic uint64_t excused_ns; /* … that did not count where somebody waited, ever */
} sender;

/* Asked by the sender, done by the flusher; equal: it rests. */
static struct {
	_Atomic uint32_t asked, done;
	_Atomic int how; /* enum flush */
	_Atomic int order;
	_Atomic bool left;
	_Atomic int tid;
} flusher;

enum withdrawal { WITHDRAWAL_NONE, WITHDRAWAL_ASKED, WITHDRAWAL_UNDER_WAY };
enum { FLUSHER_WORK, FLUSHER_BE_LAST, FLUSHER_LEAVE };

/* ---- the sender asks the flusher ---- */

static void take_look(void)
{
	if (!atomic_exchange(&sender.take_wanted, false))
		return;
	intervals_take();
	atomic_store(&sender.take_slow, false);
	futex_ring(&sender.taken);
}

/* How long a thread was ready to run and was not let, ever; 0: the kernel does not say. */
static uint64_t delay_ns(int tid)
{
	char path[sizeof("/proc/self/task//schedstat") + 11], text[96];
	unsigned long long ns = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	if (own_fd_read_file(path, text, sizeof(text)) < 0 || sscanf(text, "%*u %llu", &ns) != 1)
		return 0;
	return ns;
}

/* Somebody waits for what is done now. */
static struct patience answer_begin(void)
{
	struct patience p = patience(FINAL_MS);

	p.is_answer = true;
	sender.delayed_ns = delay_ns((int)syscall(SYS_gettid));
	sender.flusher_delayed_ns = delay_ns(atomic_load(&flusher.tid));
	return p;
}

/* Since then, of the thread that had to wait longer: both may at the same time. */
static uint64_t delayed_ns(void)
{
	uint64_t ns = delay_ns((int)syscall(SYS_gettid));
	uint64_t flusher_ns = delay_ns(atomic_load(&flusher.tid));

	ns -= MIN(sender.delayed_ns, ns);
	flusher_ns -= MIN(sender.flusher_delayed_ns, flusher_ns);
	return MAX(ns, flusher_ns);
}

/* How much longer it may take. Delays are given back before it is nearly over, so that who waits knows of them in time. */
static uint32_t answer_ms(struct patience *p)
{
	uint32_t ms = patience_ms(p);
	uint64_t ns;

	if (!p->is_answer)
		return ms;
	patience_delayed(p, delayed_ns());
	if (p->left_ns > FINAL_MS * NSEC_PER_MSEC / 2)
		return ms;
	ns = patience_excuse(p);
	atomic_fetch_add(&sender.excused_ns, ns);
	return patience_ms(p);
}

static bool flusher_rests(void)
{
	return atomic_load(&flusher.done) == atomic_load(&flusher.asked);
}

/* What the flusher delivers may fill the ring meanwhile. */
static bool flusher_await(struct patience *p)
{
	uint32_t wake, ms;

	for (;;) {
		wake = atomic_load(&collector->wake);
		take_look();
		if (flusher_rests())
			return true;
		ms = answer_ms(p);
		if (!ms)
			return false;
		futex_wait(&collector->wake, wake, ms);
	}
}

/* A flush that hangs in the vendor's library is not asked for again, and holds nothing up. */
static void flush(enum flush how, struct patience *p)
{
	if (!backends_flushable() || (how == FLUSH_COMPLETE ? !flusher_rests() : !flusher_await(p)))
		return;
	atomic_store(&flusher.how, how);
	futex_ring(&flusher.asked);
	flusher_await(p);
}

/* ---- what the sender does ---- */

/* Threads that were made early may have nothing to say for ever. */
static bool has_anything(void)
{
	return atomic_load(&collector->has_news) || table_n(&collector->slots);
}

static int send_burst(bool final)
{
	int r;

	if (sender.gone || !atomic_load(&collector->control->alive) || !has_anything())
		return 0;
	r = burst_send(final);
	if (r == -EPIPE || r == -EBADF || r == -ENXIO) {
		/* proton is gone: the program goes on alone. */
		log_debug(1, "sender", "stream closed: %s", strerror(-r));
		outlet_close();
		sender.gone = r == -EPIPE && !atomic_load(&collector->control->alive);
	}
	return r;
}

/* All that there is. False: some of it had no way out. */
static bool send_all(struct patience *p)
{
	struct patience pipe = patience(PIPE_MS);
	uint32_t ms;
	int r = send_burst(true);

	while (burst_is_due_again() && (ms = answer_ms(p))) {
		if (!burst_was_blocked() || patience_ms(&pipe))
			burst_wait((int)MIN(ms, (uint32_t)PIPE_MS / 2));
		else if (outlet_overflow() < 0)
			break;
		r = burst_send(true);
	}
	return r == 0;
}

/* … and goodbye. Also one that could not say all has ended, and was not cut off. */
static void send_final(uint32_t reason, struct patience *p)
{
	uint32_t ms;

	if (sender.gone || !has_anything())
		return;
	if (!send_all(p) && !sender.gone)
		atomic_fetch_add(&collector->control->n_unsent, 1);
	/* A full pipe: many processes end at once. */
	while (!sender.gone && burst_bye(reason) == -EAGAIN && (ms = answer_ms(p)))
		burst_wait((int)ms);
}

static bool is_asked(const struct question *q)
{
	return atomic_load(&q->asked) != atomic_load(&q->answered);
}

static void answered(struct question *q, uint32_t asked)
{
	atomic_store(&q->answered, asked);
	futex_ring(&collector->done);
}

/* What is allocated and released after the last word, as far as it was waiting then: late, unless a word more says
 * it. */
static void tell_waiting(uint32_t n)
{
	atomic_fetch_add(&collector->control->n_late, n - sender.n_waiting);
	sender.n_waiting = n;
}

/* What comes from here on is late. Values that a running thread adds while the last word is said are
 * counted, and sent by a word more, a few times. */
static void report(struct patience p)
{
	uint32_t late, tries = 3;

	do {
		late = atomic_exchange(&collector->n_late, 0);
		send_final(WIRE_BYE_EXIT, &p);
		atomic_fetch_sub(&collector->control->n_late, late);
	} while (--tries && atomic_load(&collector->n_late));
	tell_waiting(atomic_load(&collector->n_waiting));
}

/* Samples of code pass threads of CUPTI's that look each 100 ms (CUPTI 13.0), one after another. */
enum { SAMPLES_LAG_MS = 250 };

static void flush_samples(struct patience *p)
{
	const struct timespec lag = {0, SAMPLES_LAG_MS * NSEC_PER_MSEC};

	if (!atomic_load(&collector->sampling))
		return;
	nanosleep(&lag, NULL);
	if (flusher_await(p))
		flush(FLUSH_COMPLETE, p);
}

/* What was launched and is done, and all that there is, now. The program goes on: what still runs keeps its
 * record, which a forced flush would take without its times. */
static void answer_deliver(bool send)
{
	uint32_t asked = atomic_load(&collector->deliver.asked), ms;
	struct patience p = answer_begin();

	if (send) {
		if (flusher_await(&p))
			flush(FLUSH_MEASURED, &p);
		flush_samples(&p);
		send_burst(true);
		while (burst_is_due_again() && (ms = answer_ms(&p))) {
			burst_wait((int)ms);
			send_burst(true);
		}
	}
	atomic_store(&sender.connected, send && outlet_is_open());
	answered(&collector->deliver, asked);
}

/* Somebody waits for it. If exec succeeds, what other threads add meanwhile is never sent: it is late
 * until we know better. */
static void answer_exec(void)
{
	uint32_t asked = atomic_load(&collector->exec.asked);
	struct patience p = answer_begin();

	flush(FLUSH_ALL, &p);
	atomic_store(&collector->sender, SENDER_EXEC);
	send_final(WIRE_BYE_EXEC, &p);
	tell_waiting(atomic_load(&collector->n_waiting));
	answered(&collector->exec, asked);
}

/* It has failed, or takes so long that it must have: the next burst has all that was late. */
static void resume(void)
{
	uint32_t exec = SENDER_EXEC;

	if (!atomic_compare_exchange_strong(&collector->sender, &exec, SENDER_ON))
		return;
	burst_resume();
	tell_waiting(0);
	atomic_fetch_sub(&collector->control->n_late, atomic_exchange(&collector->n_late, 0));
}

/* The vendor's library is flushed the first time: it may take itself down after that. */
static void answer_finish(bool first)
{
	uint32_t asked = atomic_load(&collector->finish.asked);
	struct patience p = answer_begin();

	if (first)
		flush(FLUSH_LAST, &p);
	atomic_store(&collector->sender, SENDER_REPORTED);
	report(p);
	atomic_store(&sender.connected, outlet_is_open());
	answered(&collector->finish, asked);
}

static void close_all(void)
{
	outlet_close();
	intervals_close();
}

/* ---- main() has left ---- */

static uint32_t n_threads(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) < 0 ? UINT32_MAX : (uint32_t)st.st_nlink - 2;
}

/* Has main() left by pthread_exit(), and is no thread of the program there any more? The process
 * would be over without us. Its first thread is then a zombie that is still counted. */
static bool alone(void)
{
	char text[512], *name_end;

	if (n_threads() != 1 + N_OURS ||
	    own_fd_read_file("/proc/self/stat", text, sizeof(text)) < 0)
		return false;
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' && name_end[2] == 'Z';
}

void sender_main_left(void)
{
	atomic_store(&sender.main_left_ns, clock_monotonic_ns());
	if (collector)
		futex_ring(&collector->wake);
}

/* How long until the next look whether we are alone: a small part of the time since main() left. */
static uint32_t alone_nap_ms(void)
{
	uint64_t left_ns = atomic_load(&sender.main_left_ns);

	if (!left_ns)
		return UINT32_MAX;
	return (uint32_t)CLAMP((clock_monotonic_ns() - left_ns) / NSEC_PER_MSEC / 16, UINT64_C(1),
			       (uint64_t)ALONE_NAP_MS);
}

/* libc ends a process with its last thread: exit handlers run on the flusher, as they would have run
 * on the program's last. */
static void be_last(void)
{
	const struct timespec ms = {0, NSEC_PER_MSEC}; /* until it and main()'s are all */
	struct patience p = patience(FINAL_MS);
	sigset_t none;

	while (n_threads() > 2 && patience_ms(&p))
		nanosleep(&ms, NULL);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* ---- the threads ---- */

static uint32_t ms_until(uint64_t end_ns)
{
	uint64_t now = clock_monotonic_ns();

	return now >= end_ns ? 0 : (uint32_t)((end_ns - now) / NSEC_PER_MSEC + 1);
}

/* Until the next burst is due or somebody asks; true: nobody else is there any more. */
static bool rest(uint32_t period_ms)
{
	uint64_t end_ns = clock_monotonic_ns() + period_ms * NSEC_PER_MSEC;
	uint32_t wake, ms, poll_ms;

	for (;;) {
		wake = atomic_load(&collector->wake);
		take_look();
		host_clock_look();
		poll_ms = contexts_poll();
		ms = ms_until(end_ns);
		if (!ms || cuda_arena_is_due() || is_asked(&collector->exec) ||
		    is_asked(&collector->finish) || is_asked(&collector->resume) ||
		    is_asked(&collector->deliver) ||
		    atomic_load(&sender.withdrawal) == WITHDRAWAL_ASKED)
			return false;
		if (atomic_load(&sender.main_left_ns) && alone())
			return true;
		ms = MIN(ms, host_clock_nap_ms());
		ms = MIN(ms, poll_ms);
		futex_wait(&collector->wake, wake, MIN(ms, alone_nap_ms()));
	}
}

/* A process that has just begun may be killed before it has spoken a second time, as workers of a pool are
 * whose work is done: it speaks sooner, by a part of its age. Another period than the usual one is meant. */
static uint32_t next_period_ms(void)
{
	uint32_t period_ms = CLAMP(atomic_load(&collector->control->period_ms), 10u, 10000u);
	uint64_t age_ms = (clock_monotonic_ns() - sender.began_ns) / NSEC_PER_MSEC;

	if (period_ms != CONTROL_PERIOD_MS)
		return period_ms;
	return (uint32_t)CLAMP(age_ms / YOUNG_PART, UINT64_C(10), (uint64_t)period_ms);
}

/* After the last word of the process the sender is silent, so that nobody takes it for alive. */
static bool work(bool *reported)
{
	uint32_t period_ms = 10000;

	resume();
	if (!*reported) {
		uint32_t asked = atomic_load(&collector->resume.asked);
		struct patience p = patience(FLUSH_MS);

		burst_control();
		flush(flusher_rests() && epochs_changed() ? FLUSH_MEASURED : FLUSH_COMPLETE, &p);
		flushing_poll();
		send_burst(false);
		if (is_asked(&collector->resume))
			answered(&collector->resume, asked);
		period_ms = next_period_ms();
	}
	if (is_asked(&collector->deliver))
		answer_deliver(!*reported);
	/* Who says goodbye and speaks again is still there: a while of silence is for exec. */
	if (is_asked(&collector->exec)) {
		answer_exec();
		period_ms = EXEC_MS;
	}
	if (is_asked(&collector->finish)) {
		answer_finish(!*reported);
		*reported = true;
	}
	return rest(period_ms);
}

/* Must it leave before the program forks? What there is has been said. */
static bool withdrawal_is_due(void)
{
	int asked = WITHDRAWAL_ASKED;

	return atomic_load(&sender.withdrawal) == asked &&
	       atomic_compare_exchange_strong(&sender.withdrawal, &asked, WITHDRAWAL_UNDER_WAY);
}

/* The last thing that is looked at is the state: from then on others may be made. */
static void withdraw(void)
{
	const struct timespec look = {0, WITHDRAW_LOOK_NS};
	struct patience p = patience(FINAL_MS);

	send_burst(true);
	atomic_store(&flusher.order, FLUSHER_LEAVE);
	futex_ring(&flusher.asked);
	while (!atomic_load(&flusher.left) && patience_ms(&p))
		nanosleep(&look, NULL);
	close_all();
	atomic_store(&sender.withdrawal, WITHDRAWAL_NONE);
	atomic_store(&collector->sender, SENDER_NONE);
}

static void *sender_main(void *arg)
{
	uint32_t made = SENDER_MADE, n = 0;
	bool reported = false;
	struct patience p;

	own_thread_begin("proton-sender");
	own_fd_isolate();
	if (!sender.began_ns)
		sender.began_ns = clock_monotonic_ns();
	atomic_compare_exchange_strong(&collector->sender, &made, SENDER_ON);
	while (!work(&reported)) {
		n++;
		atomic_store_explicit(&contexts_due, true, memory_order_relaxed);
		if (!reported && withdrawal_is_due()) {
			withdraw();
			return arg;
		}
		if (n % ALONE_EVERY == 0 && alone())
			break;
	}
	p = answer_begin();
	flush(FLUSH_LAST, &p);
	report(answer_begin());
	close_all();
	atomic_store(&collector->sender, SENDER_GONE);
	atomic_store(&flusher.order, FLUSHER_BE_LAST);
	futex_ring(&flusher.asked);
	return arg;
}

static void *flusher_main(void *arg)
{
	uint32_t asked;

	own_thread_begin("proton-flush");
	atomic_store(&flusher.tid, (int)syscall(SYS_gettid));
	for (;;) {
		asked = atomic_load(&flusher.asked);
		if (atomic_load(&flusher.order) != FLUSHER_WORK)
			break;
		if (asked == atomic_load(&flusher.done)) {
			futex_wait(&flusher.asked, asked, 10000);
			continue;
		}
		backends_flush(atomic_load(&flusher.how));
		atomic_store(&flusher.done, asked);
		futex_ring(&collector->wake);
	}
	if (atomic_load(&flusher.order) == FLUSHER_BE_LAST)
		be_last();
	atomic_store(&flusher.left, true);
	return arg;
}

/* Both, or none: without them it is tried again later, and at the end done without. */
static bool threads_make(void)
{
	atomic_store(&flusher.order, FLUSHER_WORK);
	atomic_store(&flusher.left, false);
	atomic_store(&flusher.done, atomic_load(&flusher.asked));
	if (own_thread_make(NULL, flusher_main, NULL))
		return false;
	if (own_thread_make(NULL, sender_main, NULL) == 0)
		return true;
	atomic_store(&flusher.order, FLUSHER_LEAVE);
	futex_ring(&flusher.asked);
	return false;
}

/* ---- for the others ---- */

static bool is_running(void)
{
	uint32_t state = atomic_load(&collector->sender);

	return state == SENDER_MADE || state == SENDER_ON || state == SENDER_EXEC;
}

/* They inherit that no signal is delivered. */
static void make(void *ret_made)
{
	burst_init();
	*(bool *)ret_made = threads_make();
}

static void sender_make(void)
{
	bool made;

	own_stack_run(make, &made);
	if (made)
		return;
	atomic_store(&sender.failed_ns, clock_monotonic_ns());
	atomic_store(&collector->sender, SENDER_NONE);
}

void sender_prepare(void)
{
	uint64_t failed_ns = atomic_load(&sender.failed_ns);
	uint32_t none = SENDER_NONE;

	if (failed_ns && clock_monotonic_ns() - failed_ns < AGAIN_MS * NSEC_PER_MSEC)
		return;
	if (atomic_compare_exchange_strong(&collector->sender, &none, SENDER_MADE))
		sender_make();
}

void sender_start(void)
{
	if (!collector || !collector->control)
		return;
	if (!atomic_load(&collector->has_news) && !atomic_exchange(&collector->has_news, true))
		atomic_fetch_add(&collector->control->n_with_news, 1);
	if (atomic_load(&collector->sender) > SENDER_ON) {
		atomic_fetch_add(&collector->n_late, 1);
		atomic_fetch_add(&collector->control->n_late, 1);
		return;
	}
	sender_prepare();
}

void collect_note(int level, const char *sentence)
{
	if (!collect_on)
		return;
	note_add(level, sentence);
	sender_start();
}

/* Another thread may ask later, and be answered first. */
static bool is_answered(const struct question *q, uint32_t asked)
{
	return (int32_t)(atomic_load(&q->answered) - asked) >= 0;
}

/* How much longer, but for what those who answer were excused for. */
static uint32_t ask_ms(struct patience *p, uint64_t *excused_ns)
{
	uint64_t now_ns = atomic_load(&sender.excused_ns);

	p->left_ns += now_ns - *excused_ns;
	*excused_ns = now_ns;
	return patience_ms(p);
}

static void ask(struct question *q)
{
	uint64_t excused_ns = atomic_load(&sender.excused_ns);
	uint32_t asked = atomic_fetch_add(&q->asked, 1) + 1, done, ms;
	struct patience p = patience(ASK_MS);

	futex_ring(&collector->wake);
	while ((ms = ask_ms(&p, &excused_ns))) {
		done = atomic_load(&collector->done);
		if (is_answered(q, asked) || atomic_load(&collector->sender) == SENDER_GONE ||
		    (q == &collector->deliver && session_wait_is_over()))
			return;
		futex_wait(&collector->done, done, ms);
	}
}

/* Without threads of ours (none could be made, or they are gone), here and now. What the pipe raises
 * is not the program's to know. */
static void finish_here(void)
{
	const struct timespec at_once = {0, 0};
	sigset_t ours, old;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &ours, &old);
	if (atomic_load(&collector->sender) == SENDER_NONE)
		backends_flush(FLUSH_LAST);
	atomic_store(&collector->sender, SENDER_GONE);
	report(patience(FINAL_MS));
	close_all();
	while (!sigismember(&old, SIGPIPE) && sigtimedwait(&ours, NULL, &at_once) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void sender_finish(void)
{
	uint32_t state = atomic_load(&collector->sender);

	if ((state == SENDER_NONE && !atomic_load(&collector->has_news)) ||
	    (state >= SENDER_REPORTED && !atomic_load(&collector->n_late)))
		return;
	if (state == SENDER_NONE || state == SENDER_GONE)
		finish_here();
	else
		ask(&collector->finish);
}

bool sender_deliver(void)
{
	uint32_t state;

	sender_start();
	state = atomic_load(&collector->sender);
	if (state == SENDER_REPORTED)
		ask(&collector->finish); /* the last word, once more */
	else if (state == SENDER_MADE || state == SENDER_ON)
		ask(&collector->deliver);
	else
		return false;
	return atomic_load(&sender.connected);
}

void sender_exec(void)
{
	if (atomic_load(&collector->has_news)) /* they withdrew before a fork */
		sender_prepare();
	if (is_running())
		ask(&collector->exec);
}

void sender_exec_failed(void)
{
	if (is_running())
		ask(&collector->resume);
}

/* In a program with other threads, a vendor's library's among them, ours make no difference. What was launched must
 * be flushed by the flusher. */
void sender_withdraw(void)
{
	const struct timespec look = {0, WITHDRAW_LOOK_NS};
	struct patience p = patience(WITHDRAW_MS);
	int asked = WITHDRAWAL_ASKED, saved = errno;
	uint32_t state = atomic_load(&collector->sender);

	if ((state != SENDER_MADE && state != SENDER_ON) ||
	    (backends_flushable() && launches_of_all()) || n_threads() != 1 + N_OURS)
		return;
	atomic_store(&sender.withdrawal, asked);
	futex_ring(&collector->wake);
	while (n_threads() != 1 && patience_ms(&p))
		nanosleep(&look, NULL);
	atomic_compare_exchange_strong(&sender.withdrawal, &asked, WITHDRAWAL_NONE);
	errno = saved;
}

void sender_take(bool wait)
{
	uint32_t taken = atomic_load(&sender.taken);

	if (!is_running())
		return;
	if (!atomic_exchange(&sender.take_wanted, true))
		futex_ring(&collector->wake);
	if (!wait || atomic_load(&sender.take_slow))
		return;
	futex_wait(&sender.taken, taken, TAKE_MS);
	/* A sender that is held up holds nobody else up: not twice. */
	if (atomic_load(&sender.taken) == taken)
		atomic_store(&sender.take_slow, true);
}

void sender_forked(void)
{
	burst_forked();
	intervals_forked();
	atomic_store(&collector->finish.answered, atomic_load(&collector->finish.asked));
	atomic_store(&collector->exec.answered, atomic_load(&collector->exec.asked));
	atomic_store(&collector->resume.answered, atomic_load(&collector->resume.asked));
	atomic_store(&collector->deliver.answered, atomic_load(&collector->deliver.asked));
	memset(&sender, 0, sizeof(sender));
	memset(&flusher, 0, sizeof(flusher));
	atomic_store(&collector->sender, SENDER_NONE);
	atomic_store(&collector->has_news, false);
	atomic_store(&collector->n_late, 0);
}
