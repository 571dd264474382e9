/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/run.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/rank.h"
#include "base/shown.h"
#include "base/util.h"
#include "core/crowd.h"
#include "core/snapshot.h"
#include "format/out.h"
#include "launch/descriptors.h"
#include "launch/launch.h"
#include "report/demangle.h"
#include "report/print_line.h"

extern char **environ;

#define DRAIN_NS (2 * NSEC_PER_SEC)
#define HURRY_NS NSEC_PER_SEC /* what a wait has left after a signal: others had it, too */

enum { TRACE_MAX_DEFAULT = 1000000 };

/* ---- names ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "%q{NAME}": the value of an environment variable. Returns the end of the directive. */
static const char *expand_variable(struct buf *out, const char *p)
{
	const char *end = p[1] == '{' ? strchr(p, '}') : NULL;
	char name[128];

	if (!end || (size_t)(end - p) - 2 >= sizeof(name)) {
		buf_puts(out, "%q");
		return p;
	}
	memcpy(name, p + 2, (size_t)(end - p) - 2);
	name[end - p - 2] = '\0';
	buf_puts(out, getenv(name) ? getenv(name) : "");
	return end;
}

static char *expand_name(const struct run *run, const char *pattern)
{
	char host[256] = "", stamp[32], *name;
	time_t now = time(NULL);
	struct buf out;
	const char *p;

	gethostname(host, sizeof(host) - 1);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime(&now));
	buf_init(&out, 0);
	for (p = pattern; *p; p++) {
		if (*p != '%' || !p[1]) {
			buf_putc(&out, *p);
			continue;
		}
		switch (*++p) {
		case 'p':
			buf_printf(&out, "%d", (int)run->pid);
			break;
		case 'e':
			buf_puts(&out, base_name(run->argv[0]));
			break;
		case 'h':
			buf_puts(&out, host);
			break;
		case 'r':
			buf_puts(&out, rank_text() ? rank_text() : "0");
			break;
		case 't':
			buf_puts(&out, stamp);
			break;
		case 'q':
			p = expand_variable(&out, p);
			break;
		case '%':
			buf_putc(&out, '%');
			break;
		default:
			buf_putc(&out, '%');
			buf_putc(&out, *p);
			break;
		}
	}
	name = strdup(buf_str(&out));
	buf_done(&out);
	return name;
}

/* ---- start ---- */

static int find_target(struct run *run)
{
	int r = target_find(run->argv[0], getenv("PATH"), &run->path);

	if (r < 0) {
		complain("cannot run '%s': %s", run->argv[0], target_strerror(r));
		return target_exit_status(r);
	}
	target_inspect(run->path, getenv("PATH"), &run->image);
	return 0;
}

static int build_env(struct run *run)
{
	struct target_env_options o = {.session = run->dir->path,
				       .image = &run->image,
				       .no_preload = run->options.no_preload,
				       .no_follow = run->options.no_follow,
				       .early = run->options.early,
				       .no_cuda = run->options.no_cuda,
				       .no_opencl = run->options.no_opencl};
	_cleanup_(freep) char *library = NULL, *why = NULL;
	size_t i;
	int r = target_library(&library, &why);

	if (r < 0) {
		complain("cannot find libproton.so: %s", why ? why : strerror(-r));
		return STATUS_OURS;
	}
	o.library = library;
	r = target_env_build(&o, environ, &run->env);
	if (r < 0) {
		complain("cannot make the environment of '%s': %s", run->argv[0], strerror(-r));
		return STATUS_OURS;
	}
	if (run->options.verbose) {
		complain("program '%s'", run->path);
		complain("collector '%s'", library);
		complain("session directory '%s', pipe of %zu bytes", run->dir->path,
			 run->dir->stream_bytes);
	}
	for (i = 0; i < run->env.n_notes; i++)
		session_note(receiver_session(run->receiver), SESSION_NONE, NOTE_INFO,
			     run->env.notes[i]);
	return 0;
}

static int open_stream(struct run *run)
{
	int r = session_dir_new(&run->dir);

	if (r < 0) {
		complain("cannot make a session directory in $XDG_RUNTIME_DIR, $TMPDIR or /tmp: %s",
			 strerror(-r));
		return STATUS_OURS;
	}
	atomic_store(&run->dir->control->count_launches, !run->options.no_count_launches);
	run->dir->control->features = (run->options.no_cuda ? CONTROL_NO_CUDA : 0) |
				      (run->options.no_opencl ? CONTROL_NO_OPENCL : 0) |
				      (run->options.trace ? CONTROL_TRACE : 0);
	run->dir->control->trace_max =
		run->options.trace_max ? run->options.trace_max : TRACE_MAX_DEFAULT;
	r = receiver_new(run->dir, run->options.tape, &run->receiver);
	if (r < 0) {
		complain("cannot %s '%s': %s", run->options.tape ? "open" : "start",
			 run->options.tape ? run->options.tape : "receiver", strerror(-r));
		return STATUS_OURS;
	}
	return 0;
}

/* A place where the profile cannot be written is said before the run, not after it: by doing all but
 * writing it. Of a name that is made when the program has a pid, the folder is tried. */
static int check_output(const struct run *run)
{
	const char *path = run->options.output ? run->options.output : "./", *slash = strrchr(path, '/');
	_cleanup_(freep) char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
	_cleanup_(freep) char *some = NULL;
	int r;

	if (!folder || strchr(folder, '%') || asprintf(&some, "%s.proton-check", folder) < 0)
		return 0;
	if (run->options.output && !strchr(path, '%'))
		r = write_file_check(path);
	else
		r = write_file_check(some);
	if (r == 0)
		return 0;
	if (run->options.output)
		complain("cannot write '%s': %s", path, strerror(-r));
	else
		complain("cannot write a profile in this folder: %s (choose a file with -o)",
			 strerror(-r));
	return STATUS_OURS;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* One would be written over the other. */
static int check_tape(const struct run_options *o)
{
	struct stat a, b;

	if (!o->tape || !o->output ||
	    (strcmp(o->tape, o->output) != 0 &&
	     (stat(o->tape, &a) < 0 || stat(o->output, &b) < 0 || !same_file(&a, &b) ||
	      !S_ISREG(a.st_mode))))
		return 0;
	complain("the tape and the profile cannot both be written to '%s'", o->output);
	return STATUS_USAGE;
}

int run_prepare(struct run *run, const struct run_options *options, char *const *argv)
{
	int r;

	*run = (struct run){.options = *options, .argv = argv};
	/* A reader who leaves ends what we print; not the run, the profile or the status. */
	signal(SIGPIPE, SIG_IGN);
	r = find_target(run);
	if (r == 0)
		r = check_tape(options);
	if (r == 0)
		r = check_output(run);
	if (r)
		return r;
	session_dir_sweep();
	r = open_stream(run);
	return r ? r : build_env(run);
}

int run_started(struct run *run, pid_t pid)
{
	struct session *s = receiver_session(run->receiver);
	int r;

	run->pid = pid;
	run->sid = getsid(pid);
	run->start_ns = clock_monotonic_ns();
	session_dir_set_target(run->dir, pid);
	s->source = strtab_adds(s->strings, base_name(run->argv[0]));
	if (run->options.verbose)
		complain("pid %d", (int)pid);
	run->file = expand_name(run, run->options.output ? run->options.output
							 : "proton.%e.%p.hatchet");
	r = run->file ? saver_init(&run->saver, run->file, run->options.save_ns) : -ENOMEM;
	if (r < 0)
		complain("out of memory");
	return r;
}

/* Messages go to standard error, and the profile may go to any of them (/dev/stdout, or what a
 * shell's ">(gzip)" is). A terminal is open in the user's shell anyway. */
static bool needs_descriptor(int fd, const void *ctx)
{
	const struct run *run = ctx;
	struct stat here, output;

	if (fd == STDERR_FILENO || (fd == STDOUT_FILENO && run->prints) ||
	    (fd < STDERR_FILENO && isatty(fd)))
		return true;
	return stat(run->file, &output) == 0 && fstat(fd, &here) == 0 && same_file(&output, &here);
}

void run_release_descriptors(const struct run *run)
{
	descriptors_release(needs_descriptor, run);
}

/* ---- end ---- */

/* A daemon has left the session of the program to stay, and nobody waits for it: only what connected
 * is, or is about to, or what --wait asks for. */
static bool is_awaited(const struct run *run, const struct survivor *s)
{
	return run->options.wait || s->sid == run->sid || s->sid == run->pid ||
	       receiver_unheard(run->receiver);
}

/* Descendants are known by their environment: those that have not connected yet, too. */
static bool has_survivors(struct run *run)
{
	struct survivor *list = NULL;
	uint64_t now = clock_monotonic_ns();
	size_t n = 0, i;

	if (now < run->look_ns)
		return run->survivors;
	run->look_ns = now + NSEC_PER_SEC / 4; /* all of /proc is read for it */
	run->survivors = false;
	if (launch_survivors(run->dir->path, run->pid, &list, &n) < 0)
		return false;
	for (i = 0; i < n; i++)
		run->survivors = run->survivors || is_awaited(run, &list[i]);
	run->daemons = n && !run->survivors;
	free(list);
	return run->survivors;
}

bool run_lives_on(struct run *run)
{
	return receiver_alive(run->receiver) || has_survivors(run);
}

void run_name_survivors(const struct run *run)
{
	struct survivor *list = NULL;
	size_t n = 0, i;
	struct buf text;

	if (launch_survivors(run->dir->path, run->pid, &list, &n) < 0 || !n)
		return;
	buf_init(&text, 0);
	for (i = 0; i < n && i < 8; i++)
		buf_printf(&text, "%s%s (%d)", i ? ", " : "", list[i].name, (int)list[i].pid);
	complain("%zu %s still running: %s%s; %s", n, n == 1 ? "process is" : "processes are",
		 buf_str(&text), n > 8 ? ", …" : "",
		 run->options.wait ? "no longer waited for" : "not waited for (see --wait)");
	buf_done(&text);
	free(list);
}

/* Does a wait that began then end because of a signal? */
static bool is_interrupted(struct run *run, uint64_t start_ns)
{
	unsigned n = run->interrupts.count ? run->interrupts.count(run->interrupts.ctx) : 0;
	uint64_t now = clock_monotonic_ns();

	if (n && !run->interrupted_ns)
		run->interrupted_ns = now;
	return n > 1 || (n && now >= MAX(run->interrupted_ns, start_ns) + HURRY_NS);
}

/* Until there is something to read, to see, or 50 ms have passed. */
static void wait_a_little(const struct run *run, int fd)
{
	struct pollfd p[2] = {{.fd = run->interrupts.count ? run->interrupts.fd : -1, .events = POLLIN},
			      {.fd = fd, .events = POLLIN}};

	poll(p, 2, 50);
}

void run_drain(struct run *run)
{
	uint64_t start = clock_monotonic_ns();

	for (;;) {
		while (receiver_read(run->receiver) > 0)
			;
		if (!run_lives_on(run)) {
			if (run->daemons)
				run_name_survivors(run);
			break;
		}
		if ((!run->options.wait && clock_monotonic_ns() >= start + DRAIN_NS) ||
		    is_interrupted(run, start)) {
			run_name_survivors(run);
			break;
		}
		wait_a_little(run, run->dir->stream_fd);
		saver_poll(&run->saver, receiver_session(run->receiver));
	}
}

bool run_output_waits(const struct run *run)
{
	struct stat st;

	return stat(run->file, &st) == 0 && !S_ISREG(st.st_mode);
}

/* The last word in a child: nobody knows when a reader comes, and whether it reads. */
static int save_in_child(struct run *run)
{
	uint64_t start = clock_monotonic_ns();
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(-saver_finish(&run->saver, receiver_session(run->receiver)) & 0xff);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (is_interrupted(run, start)) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -EINTR;
		}
		wait_a_little(run, -1);
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

int run_save(struct run *run)
{
	if (!run_output_waits(run))
		return saver_finish(&run->saver, receiver_session(run->receiver));
	run->saver.error = save_in_child(run);
	return run->saver.error;
}

/* A signal ends the wait for the reader of a FIFO. */
static const char *save_strerror(int r)
{
	return r == -EINTR ? "nobody read it" : strerror(-r);
}

int run_finish(struct run *run)
{
	int r = receiver_finish(run->receiver), e;

	if ((r == -EPIPE || r == -ETIMEDOUT) && run->options.tape)
		complain("the reader of the tape %s: the tape is not complete",
			 r == -EPIPE ? "has left" : "stands still");
	else if (r < 0 && run->options.tape)
		complain("cannot write '%s': %s", run->options.tape, strerror(-r));
	e = run_save(run);
	if (run->options.verbose)
		complain("saved %u times while it ran, once at the end; %u failed", run->saver.n_saves,
			 run->saver.n_failed);
	if (e < 0 && run->options.quiet) /* else it is the last line of the summary */
		complain("cannot write '%s': %s", run->file, save_strerror(e));
	return e < 0 ? e : r == -EPIPE ? 0 : r;
}

void run_done(struct run *run)
{
	_cleanup_(freep) char *path = NULL;

	saver_done(&run->saver);
	run->receiver = receiver_free(run->receiver);
	if (run->dir) {
		atomic_store(&run->dir->control->alive, 0);
		path = strdup(run->dir->path);
		run->dir = session_dir_free(run->dir);
		if (path)
			session_dir_remove(path);
	}
	target_env_done(&run->env);
	target_image_done(&run->image);
	free(run->path);
	free(run->file);
}

int run_status(const struct run *run, int wait_status, int save_error)
{
	if (save_error < 0 && run->options.strict)
		return STATUS_OURS;
	fflush(NULL);
	if (WIFSIGNALED(wait_status))
		launch_die_like(wait_status);
	return launch_exit_status(wait_status);
}

/* ---- summary ---- */

enum { SUMMARY_ROWS = 8, SUMMARY_NAME = 60 };

/* Why a profile is empty, as far as is known: nothing connected, no GPU work, or work but no records.
 * Who could not report at all is named with the losses. */
static void summary_empty(const struct run *run, FILE *out)
{
	const struct session *s = receiver_session(run->receiver);
	uint32_t connected = atomic_load(&run->dir->control->connected);
	uint64_t launches = 0;
	size_t i;

	for (i = 0; i < s->n_processes; i++)
		launches += s->processes[i].n_launches;
	if (launches)
		fprintf(out, "proton: GPU work was launched, but no record of it came\n");
	else if (!s->n_processes && !connected && !session_loss(s, LOSS_REFUSED))
		fprintf(out, "proton: nothing connected: no process used CUDA, OpenCL, NVTX or proton.h\n"
			     "proton: (not seen: static, set-id, 32-bit programs, other users, chroot, "
			     "env -i)\n");
	else if (!session_loss(s, LOSS_UNHEARD) && !session_loss(s, LOSS_REFUSED) &&
		 !session_loss(s, LOSS_VANISHED))
		fprintf(out, "proton: no GPU work: %u process%s connected, and launched nothing\n",
			connected, connected == 1 ? "" : "es");
	else
		fprintf(out, "proton: no GPU work was reported\n");
}

/* How many bytes of a name have room in the summary. */
static int name_fit(const char *name)
{
	return (int)shown_fit(name, strlen(name), SUMMARY_NAME);
}

/* A program without GPU work has the host time of its scopes to show. */
static void summary_scopes(struct snapshot *snap, FILE *out)
{
	const struct snap_column *cpu = snapshot_column(snap, METRIC_CPU_TIME, false);
	const struct snap_column *entered = snapshot_column(snap, METRIC_CPU_COUNT, false);
	char time[HUMAN_MAX], calls[HUMAN_MAX];
	uint32_t i, best, shown, last = SNAP_NONE;
	const char *name;

	for (shown = 0; cpu && entered && shown < SUMMARY_ROWS; shown++, last = best) {
		best = SNAP_NONE;
		for (i = 0; i < snapshot_n(snap); i++) {
			if (isnan(cpu->v[i]) || (last != SNAP_NONE && !(cpu->v[i] < cpu->v[last])))
				continue;
			if (best == SNAP_NONE || cpu->v[i] > cpu->v[best])
				best = i;
		}
		if (best == SNAP_NONE)
			return;
		if (!shown)
			fprintf(out, "     HOST  ENTERED  SCOPE\n");
		human_time_ns(time, cpu->v[best]);
		human_count(calls, entered->v[best]);
		name = snapshot_name(snap, best, NAME_SHORT);
		print_line(out, "%9s %8s  %.*s", time, calls, name_fit(name), name);
	}
}

static void summary_head(const struct run *run, struct snapshot *snap, FILE *out)
{
	const struct session *s = receiver_session(run->receiver);
	const struct snap_column *time = snapshot_column(snap, METRIC_TIME, true);
	const struct snap_column *count = snapshot_column(snap, METRIC_COUNT, true);
	char wall[HUMAN_MAX], gpu[HUMAN_MAX], ops[HUMAN_MAX];

	human_time_ns(wall, (double)((run->end_ns ? run->end_ns : clock_monotonic_ns()) - run->start_ns));
	human_time_ns(gpu, time->v[0]);
	human_count(ops, count->v[0]);
	if (isnan(time->v[0])) {
		print_line(out, "proton: %s: no GPU work, %s wall, %zu process%s",
			   base_name(run->argv[0]), wall, s->n_processes,
			   s->n_processes == 1 ? "" : "es");
		summary_scopes(snap, out);
		return;
	}
	print_line(out, "proton: %s: %s GPU time in %s operations, %s wall, %zu process%s",
		   base_name(run->argv[0]), gpu, ops, wall, s->n_processes,
		   s->n_processes == 1 ? "" : "es");
}

/* How much of the run a device worked: the first thing to know of a slow program. */
static void summary_busy(const struct run *run, FILE *out)
{
	const struct session *s = receiver_session(run->receiver);
	double wall = (double)((run->end_ns ? run->end_ns : clock_monotonic_ns()) - run->start_ns);
	char busy[HUMAN_MAX], share[HUMAN_MAX];
	size_t i, n = MIN(s->n_devices, (size_t)SUMMARY_ROWS);

	for (i = 0; i < n; i++) {
		const struct session_device *d = &s->devices[i];
		double ns = session_busy_ns(s, (uint32_t)i);

		if (!(ns > 0))
			continue;
		human_time_ns(busy, ns);
		human_percent(share, MIN(ns / wall, 1));
		print_line(out, "proton: %s %d %s: busy %s, %s %% of the run",
			   strtab_str(s->strings, d->type), d->index,
			   strtab_str(s->strings, d->name), busy, share);
	}
}

static void summary_kernels(struct snapshot *snap, FILE *out)
{
	double total = snapshot_column(snap, METRIC_TIME, true)->v[0];
	char time[HUMAN_MAX], share[HUMAN_MAX], calls[HUMAN_MAX], avg[HUMAN_MAX];
	size_t n, i, shown = 0;
	const struct snap_flat *flat = snapshot_flat(snap, &n);
	const char *name;

	for (i = 0; i < n && shown < SUMMARY_ROWS; i++) {
		if (flat[i].kind == FRAME_COPY || flat[i].kind == FRAME_SET)
			continue;
		if (!shown++)
			fprintf(out, "     TIME      %%    CALLS       AVG  KERNEL\n");
		human_time_ns(time, flat[i].time_ns);
		human_percent(share, flat[i].time_ns / total);
		human_count(calls, flat[i].count);
		human_time_ns(avg, flat[i].time_ns / flat[i].count);
		name = snapshot_name(snap, flat[i].node, NAME_SHORT);
		print_line(out, "%9s  %5s %8s %9s  %.*s", time, share, calls, avg, name_fit(name),
			   name);
	}
}

static void summary_transfers(struct snapshot *snap, FILE *out)
{
	char bytes[HUMAN_MAX], ops[HUMAN_MAX], time[HUMAN_MAX], rate[HUMAN_MAX];
	size_t n, i;
	const struct snap_transfer *t = snapshot_transfers(snap, &n);

	for (i = 0; i < n; i++) {
		if (!i)
			fprintf(out, "    BYTES    OPS      TIME    GB/s  TRANSFER\n");
		human_bytes(bytes, t[i].bytes);
		human_count(ops, t[i].ops);
		human_time_ns(time, t[i].time_ns);
		human_rate(rate, t[i].time_ns > 0 ? t[i].bytes / t[i].time_ns : NAN);
		print_line(out, "%9s %6s %9s %7s  %s", bytes, ops, time, rate, t[i].name);
	}
}

static void summary_losses(const struct session *s, FILE *out)
{
	char text[LOSS_TEXT_MAX];
	size_t j;
	unsigned i;

	for (i = 0; i < LOSS_N; i++) {
		uint64_t n = session_loss(s, (enum loss)i);

		if (n && i != LOSS_PIPE_FULL && i != LOSS_WIRE_GAP)
			print_line(out, "proton: %s: %llu %s",
				   loss_is_loss((enum loss)i) ? "lost" : "note",
				   (unsigned long long)n, crowd_loss_text(s, (enum loss)i, n, text));
	}
	for (j = 0; j < s->n_notes; j++)
		print_line(out, "proton: note: %s", strtab_str(s->strings, s->notes[j].text));
}

static void summary_overhead(const struct run *run, FILE *out)
{
	const struct session *s = receiver_session(run->receiver);
	uint64_t cpu = 0, memory = 0, buffers = 0;
	char t[HUMAN_MAX], m[HUMAN_MAX], b[HUMAN_MAX];
	size_t i;

	for (i = 0; i < s->n_processes; i++) {
		cpu += s->processes[i].own_cpu_ns;
		memory += s->processes[i].own_bytes;
		buffers += s->processes[i].buffer_bytes;
	}
	human_time_ns(t, (double)cpu);
	human_bytes(m, (double)memory);
	human_bytes(b, (double)buffers);
	fprintf(out, "proton: %zu contexts; own cost: %s CPU in the sender, %s memory, %s buffers\n",
		s->n_nodes - 1, t, m, b);
}

/* Where our calls are what its own filter of system calls forbids, it would live without us. */
static void summary_filter(const struct run *run, FILE *out)
{
	if (WIFSIGNALED(run->wait_status) && WTERMSIG(run->wait_status) == SIGSYS)
		fprintf(out, "proton: note: the program was killed by SIGSYS: its seccomp filter may "
			     "forbid what the collector does when it starts (see --early)\n");
}

void run_summary(const struct run *run, FILE *out)
{
	const struct session *s = receiver_session(run->receiver);
	struct snapshot_spec spec = {.demangle = demangle_name};
	struct snapshot *snap = snapshot_new(s, &spec);

	if (snap && snapshot_update(snap, clock_monotonic_ns()) == 0 && s->n_rows) {
		summary_head(run, snap, out);
		summary_busy(run, out);
		summary_kernels(snap, out);
		summary_transfers(snap, out);
		summary_overhead(run, out);
	} else {
		summary_empty(run, out);
	}
	snapshot_free(snap);
	summary_losses(s, out);
	summary_filter(run, out);
	if (run->saver.error == 0)
		print_line(out, "proton: wrote '%s'", run->file);
	else
		print_line(out, "proton: cannot write '%s': %s", run->file,
			   save_strerror(run->saver.error));
}
