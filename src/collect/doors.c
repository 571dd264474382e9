/* SPDX-License-Identifier: MIT */
/* Ways into the process, one start behind all of them, and fork. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backends/opencl.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rank.h"
#include "base/util.h"
#include "collect/allocations.h"
#include "collect/context_sources.h"
#include "collect/futex.h"
#include "collect/graph_runs.h"
#include "collect/internal.h"
#include "collect/kernel_scopes.h"
#include "collect/kernel_slices.h"
#include "collect/kept_warps.h"
#include "collect/rewriting.h"
#include "collect/sampled_code.h"
#include "collect/own_stack.h"
#include "collect/patience.h"
#include "collect/sessions.h"
#include "collect/triton_seam.h"

/* ---- the environment ---- */

/* What the environment said when we were loaded: a program may empty it. */
static char loaded_dir[sizeof(collector->dir)], loaded_only[16];
/* … of a receiver that this process started itself; "": there is none. */
static char alone_dir[sizeof(collector->dir)];

static const char *session_path(void)
{
	const char *dir = getenv(CONTROL_ENV);

	return dir && *dir ? dir : *loaded_dir ? loaded_dir : alone_dir;
}

const char *collect_alone_dir(void)
{
	return *alone_dir ? alone_dir : NULL;
}

/* With --no-follow: the one process that is looked at. NULL: all are. */
static const char *only_pid(void)
{
	const char *only = getenv("PROTON_ONLY_PID");

	return only ? only : *loaded_only ? loaded_only : NULL;
}

/* ---- how far the start has come ---- */

/* A phase and, while it is under way, the pid of who is at it. */
enum {
	START_NOT,
	START_UNDER_WAY,
	START_ON,
	START_OFF,
	START_NOBODY, /* no session is named: the program may start one itself */
	START_ALONE,  /* … which is under way */
	START_PHASE = 7,
	START_PID = 3, /* bits below it */
};
static _Atomic uint32_t start_state;

/* ---- fork ---- */

/* Of a program that profiles itself: the receiver is the parent's, and goes when that has ended. Whoever
 * starts a session here has one of its own. */
static void forked_alone(void)
{
	collect_on = false;
	alone_dir[0] = '\0';
	scopes_miss(thread_state());
	atomic_store(&start_state, START_NOBODY);
}

/* Threads that are there before a program forbids itself system calls are not bound by it: they stay. */
static bool early;

/* Not a child of vfork() in our memory, nor one that nobody told us of. */
static void fork_begins(void)
{
	if (!collector_is_ours())
		return;
	if (!early)
		sender_withdraw();
	contexts_fork_begins();
}

void collect_forked(void)
{
	struct collector *c = collector;

	fork_seen();
	if (!c || !collect_on)
		return;
	if (only_pid()) {
		collect_on = false; /* --no-follow: children are not looked at */
		backends_forked();
		kernel_scopes_forked();
		kernel_slices_forked();
		kept_warps_forked();
		return;
	}
	threads_forked();
	scopes_forked(thread_state());
	sessions_forked();
	tables_forget_values(c, true);
	tables_forget_claims(c);
	memset((void *)c->dirty, 0, (table_n(&c->slots) + 63) / 64 * 8);
	memset((void *)c->hist_dirty, 0, (table_n(&c->hists) + 63) / 64 * 8);
	memset((void *)c->config_dirty, 0, (table_n(&c->configs) + 63) / 64 * 8);
	backends_forked();
	kernel_scopes_forked();
	kernel_slices_forked();
	kept_warps_forked();
	allocations_forked();
	sampled_code_forked();
	contexts_forked();
	rewriting_forked();
	sender_forked();
	getrandom(&c->instance, sizeof(c->instance), GRND_NONBLOCK);
	c->instance ^= (uint64_t)getpid();
	c->start_ns = clock_realtime_ns();
	atomic_store(&c->pid, getpid());
	if (*alone_dir)
		forked_alone();
}

static void thread_ended(struct thread_state *t)
{
	graph_captures_end(t);
	scopes_close(t);
}

/* ---- who we are ---- */

static int32_t rank_find(void)
{
	const char *text = rank_text();
	char *end;
	long rank;

	if (!text)
		return -1;
	rank = strtol(text, &end, 10);
	return *end || rank < 0 || rank >= INT32_MAX ? -1 : (int32_t)rank;
}

static uint32_t read_string(const char *path, bool basename)
{
	char text[4096];
	ssize_t n, i;
	int fd;

	if (basename) {
		n = readlink(path, text, sizeof(text));
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, text, sizeof(text));
		if (fd >= 0)
			close(fd);
	}
	if (n <= 0)
		return 0;
	while (!basename && n && !text[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	for (i = n; basename && i && text[i - 1] != '/'; i--)
		;
	return string_intern(text + (basename ? i : 0), (size_t)(basename ? n - i : n));
}

static void identify(struct collector *c)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	c->exe = read_string("/proc/self/exe", true);
	c->cmdline = read_string("/proc/self/cmdline", false);
	c->host = string_intern(host, strlen(host));
	c->rank = rank_find();
	c->start_ns = clock_realtime_ns();
	if (getrandom(&c->instance, sizeof(c->instance), GRND_NONBLOCK) != sizeof(c->instance))
		c->instance = c->start_ns;
	c->instance ^= (uint64_t)getpid() << 32;
}

/* ---- the start ---- */

static struct control_page *control_open(const char *dir)
{
	char path[300];
	struct stat st;
	void *p;
	int fd;

	snprintf(path, sizeof(path), "%s/control", dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	/* A file that is too short would be a SIGBUS in the program. */
	if (fstat(fd, &st) < 0 || st.st_size < (off_t)sizeof(struct control_page)) {
		close(fd);
		return NULL;
	}
	p = mmap(NULL, sizeof(struct control_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static bool control_fits(const struct control_page *c)
{
	const char *only = only_pid();

	if (c->magic != CONTROL_MAGIC || c->version != CONTROL_VERSION || atomic_load(&c->stop))
		return false;
	return !only || strtol(only, NULL, 10) == getpid();
}

int collect_options(struct backend_options *ret_options)
{
	const char *dir = session_path();
	struct control_page *control = *dir ? control_open(dir) : NULL;
	bool fits = control && control_fits(control);

	if (fits)
		*ret_options = control->wanted.backends;
	if (control)
		munmap(control, sizeof(*control));
	return fits ? 0 : -ENOENT;
}

/* A static program that opens us has a libc of its own; ours, the second, cannot make threads. */
static bool program_is_static(void)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t i, n = p ? getauxval(AT_PHNUM) : 0;

	for (i = 0; i < n; i++)
		if (p[i].p_type == PT_INTERP)
			return false;
	return n > 0;
}

/* Calls that did not wait for the start any longer. */
static _Atomic uint32_t n_unstarted;

static int start_once(void)
{
	const char *dir = session_path();
	struct control_page *control;
	struct collector *c;
	uint32_t n;

	if (!*dir)
		return -ENXIO;
	if (strlen(dir) >= sizeof(c->dir))
		return -ENOENT;
	if (program_is_static())
		return -ENOTSUP;
	log_init(getenv("PROTON_LOG"));
	control = control_open(dir);
	if (!control)
		return -ENOENT;
	if (!control_fits(control)) {
		munmap(control, sizeof(*control));
		return -ENOTSUP;
	}
	c = tables_new();
	if (!c) {
		atomic_fetch_add(&control->n_refused, 1);
		munmap(control, sizeof(*control));
		return -ENOMEM;
	}
	memcpy(c->dir, dir, strlen(dir) + 1);
	c->control = control;
	identify(c);
	pthread_atfork(fork_begins, NULL, collect_forked);
	threads_watch(collect_forked, thread_ended);
	atomic_fetch_add(&control->connected, 1);
	atomic_store(&c->pid, getpid());
	rewriting_begin();
	kernel_slices_begin();
	collect_on = true;
	exit_watch();
	contexts_look();
	n = atomic_load(&n_unstarted);
	if (n)
		lose(LOSS_UNSTARTED, n);
	return 0;
}

static __thread bool starting __attribute__((tls_model("initial-exec")));

static void start_here(void *ret)
{
	*(int *)ret = start_once();
}

static void start_ended(uint32_t phase)
{
	atomic_store(&start_state, phase);
	futex_wake(&start_state);
}

static int start_now(void)
{
	int r;

	starting = true;
	own_stack_run(start_here, &r);
	starting = false;
	start_ended(r == 0 ? START_ON : r == -ENXIO ? START_NOBODY : START_OFF);
	return r;
}

enum { START_MS = 2000, ALONE_MS = 15000 };

/* Who comes second waits for the first, or its scope would be lost. Not for ever, and not for itself
 * (a signal handler that enters a scope in the middle of it): then the scope is counted. */
static int start_await(uint32_t seen, uint32_t at_most_ms)
{
	struct patience p = patience(at_most_ms);
	uint32_t ms;

	while (!starting && (ms = patience_ms(&p))) {
		futex_wait(&start_state, seen, MIN(ms, 10u));
		if (atomic_load(&start_state) != seen)
			return 0;
	}
	return -EBUSY;
}

static uint32_t under_way(uint32_t phase)
{
	return (uint32_t)getpid() << START_PID | phase;
}

/* Started once a process, by whoever comes first. What comes before a program's own session is not waited
 * for. */
static int start(void)
{
	uint32_t seen = atomic_load(&start_state), mine;

	for (;; seen = atomic_load(&start_state)) {
		switch (seen & START_PHASE) {
		case START_ON:
			return 0;
		case START_OFF:
			return -ENOTSUP;
		case START_NOBODY:
		case START_ALONE:
			return -ENXIO;
		default:
			break;
		}
		mine = under_way(START_UNDER_WAY);
		if (seen == mine) {
			if (start_await(seen, START_MS) == 0)
				continue;
			atomic_fetch_add(&n_unstarted, 1);
			return -EBUSY;
		} else if (atomic_compare_exchange_strong(&start_state, &seen, mine)) {
			/* Nobody was at it, or a thread of the process that this was forked from. */
			return start_now();
		}
	}
}

/* In a fork child of a program that profiled itself all tables are there, with ids that are known to who has
 * them: only whom it speaks to is new. */
static int start_again(void)
{
	struct control_page *control = control_open(alone_dir);
	struct collector *c = collector;

	if (!control || !control_fits(control))
		return -ENOTSUP;
	memcpy(c->dir, alone_dir, sizeof(c->dir));
	c->control = control;
	c->start_ns = clock_realtime_ns();
	atomic_fetch_add(&control->connected, 1);
	collect_on = true;
	contexts_look();
	return 0;
}

struct alone {
	const struct collect_receiver *receiver;
	int fd, r;
};

static void begin_alone(void *arg)
{
	struct alone *a = arg;

	a->r = program_is_static() ? -ENOTSUP : a->receiver->begin(&a->fd);
}

static void start_alone_here(void *arg)
{
	struct alone *a = arg;

	a->r = a->receiver->take(alone_dir, sizeof(alone_dir));
	if (a->r == 0)
		a->r = collector ? start_again() : start_once();
}

/* Nobody would say that the start has ended, were the thread cancelled meanwhile. */
static int wait_alone(const struct alone *a)
{
	int state, r;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	r = a->receiver->wait(a->fd);
	pthread_setcancelstate(state, NULL);
	return r;
}

static int start_alone_now(const struct collect_receiver *receiver)
{
	struct alone a = {.receiver = receiver};

	starting = true;
	own_stack_run(begin_alone, &a);
	if (a.r == 0)
		a.r = wait_alone(&a);
	if (a.r == 0)
		own_stack_run(start_alone_here, &a);
	starting = false;
	start_ended(a.r == 0 ? START_ON : a.r == -EINTR ? START_NOBODY : START_OFF);
	return a.r;
}

int collect_start_alone(const struct collect_receiver *receiver)
{
	int r = start();
	uint32_t seen = atomic_load(&start_state), mine = under_way(START_ALONE);

	for (; r == -ENXIO; seen = atomic_load(&start_state)) {
		if ((seen & START_PHASE) == START_ON)
			return 0;
		if ((seen & START_PHASE) == START_OFF)
			return -ENOTSUP;
		if (seen == mine)
			r = start_await(seen, ALONE_MS) < 0 ? -EBUSY : -ENXIO;
		else if (atomic_compare_exchange_strong(&start_state, &seen, mine))
			return start_alone_now(receiver);
	}
	return r;
}

int collect_start(enum collect_door door)
{
	int r = start();

	if (r < 0)
		return r;
	backends_open(door, sinks);
	return 0;
}

/* ---- the doors ---- */

/* libcuda calls this while it initialises, in each process whose environment names us. */
EXPORT int InitializeInjection(void);
int InitializeInjection(void)
{
	int saved = errno;

	collect_start(DOOR_CUDA);
	errno = saved;
	return 1;
}

__attribute__((constructor)) static void loaded(void)
{
	const char *dir = getenv(CONTROL_ENV);

	/* Next to nothing is done here for programs that will never use a GPU or a scope. */
	if (!dir || strlen(dir) >= sizeof(loaded_dir))
		return;
	memcpy(loaded_dir, dir, strlen(dir) + 1);
	if (getenv("PROTON_ONLY_PID"))
		snprintf(loaded_only, sizeof(loaded_only), "%s", getenv("PROTON_ONLY_PID"));
	triton_seam_prepare();
	if (getenv("PROTON_FAKE"))
		collect_start(DOOR_PRELOAD);
	early = getenv("PROTON_EARLY");
	if (early && collect_start(DOOR_API) == 0)
		sender_prepare();
}

/* The loader check has something to say: only then is the collector started for it. */
static void loader_note(struct activity_sink *sink, const char *text)
{
	(void)sink;
	if (collect_start(DOOR_API) == 0)
		collect_note(NOTE_WARNING, text);
}

/* After all exit handlers, also those that were registered before ours: what they did is sent now.
 * An OpenCL loader that knows no layers never called us: named here, or the user would look for a
 * fault in the program. */
__attribute__((destructor)) static void unloading(void)
{
	static const struct activity_sink_ops ops = {.note = loader_note};
	struct activity_sink sink = {.ops = &ops};

	if (getenv("OPENCL_LAYERS") && getenv(CONTROL_ENV))
		opencl_check_loader(&sink);
	sessions_end();
	collect_end();
}
