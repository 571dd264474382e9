/* SPDX-License-Identifier: MIT */
/* Scripted records: the smallest complete backend, and the skeleton to copy.
 *
 * PROTON_FAKE names a file (or holds the script itself, lines parted by ';'):
 *   kernel NAME NS [COUNT [GRID BLOCK]]  COUNT executions of NS nanoseconds each, launched as 128x4 256
 *   many N PREFIX NS                N kernels "PREFIX0", "PREFIX1" …, one execution each
 *   copy DIRECTION KIND BYTES NS    "copy HtoD pinned 4096 1000"
 *   set KIND BYTES NS
 *   after NS LATENCY [GRAPH]        the next one starts NS after the last one ended (below 0: before), LATENCY after it was
 *                                   launched, as a node of that graph; others from then on not before the
 *                                   last one ended, and launched as they start
 *   sync NAME NS                    the host waits; nothing where that is not wanted
 *   stream N | device N [NAME [UUID]]    for what follows
 *   launch NAME                     a launch that never finishes
 *   pause MS                        wait, so that something changes while one looks; a program
 *                                   that ends does not: the script ends there
 *   touch FILE                      what stands before was executed; of a FIFO a program may wait for that
 *   called FUNCTION                 hands a function of the program what executes a kernel on the
 *                                   thread that calls it (tests/mocks/passed.c)
 *   repeat N                        run all lines before this one N times more */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "backends/backend.h"
#include "base/clock.h"
#include "base/named_file.h"
#include "base/util.h"

enum {
	SCRIPT_MAX = 65536,
	FLUSH_MS =
		10000, /* a machine that is busy takes long for 40,000 records, with a sanitizer */
};

struct fake {
	struct activity_sink *sink;
	char script[SCRIPT_MAX];
	pthread_t thread;
	_Atomic bool done, stop;
	_Atomic bool ending; /* the program is: no more pauses */
	uint32_t stream;
	int32_t device;
	unsigned repeats;
	bool sync, idle;
	struct {
		bool on;
		bool was_on;
		bool is_said; /* somewhere in the script: what is all there is told */
		uint64_t gap_ns, latency_ns;
		uint32_t graph;
	} after;
	uint64_t last_end_ns;
	_Atomic uint64_t last_start_ns; /* nothing that comes begins before it */
};

static int fake_load(struct fake *f, const char *spec)
{
	ssize_t n;
	int fd = regular_open(spec, O_RDONLY, NULL);

	if (fd < 0) {
		snprintf(f->script, sizeof(f->script), "%s", spec);
		return 0;
	}
	n = read(fd, f->script, sizeof(f->script) - 1);
	close(fd);
	return n < 0 ? -errno : 0;
}

static void fake_device(struct fake *f, int32_t index, const char *name, const char *id)
{
	char uuid[40];
	struct device_info info = {.type = "CUDA",
				   .index = index,
				   .uuid = uuid,
				   .name = name ? name : "Fake GPU",
				   .arch = "90",
				   .num_sms = 132,
				   .clock_khz = 1980000,
				   .memory_clock_khz = 3201000,
				   .bus_width_bits = 6144};

	if (id)
		snprintf(uuid, sizeof(uuid), "%s", id);
	else
		snprintf(uuid, sizeof(uuid), "fake-%d", (int)index);
	f->device = index;
	f->sink->ops->device(f->sink, &info);
}

/* Launched by this thread, and over. */
static void execute(struct activity_sink *sink, struct activity *a, uint64_t ns)
{
	a->launch = sink->ops->launch(sink, NULL);
	a->end_ns = clock_realtime_ns();
	a->start_ns = a->end_ns - ns;
	sink->ops->record(sink, a);
}

/* Launched at a time that the script says. */
static void execute_after(struct fake *f, struct activity *a, uint64_t ns)
{
	a->launch = f->sink->ops->launch(f->sink, NULL);
	a->start_ns = f->after.on ? f->last_end_ns + f->after.gap_ns
				  : MAX(f->last_end_ns, clock_realtime_ns() - ns);
	a->end_ns = a->start_ns + ns;
	a->launched_ns = a->start_ns - (f->after.on ? f->after.latency_ns : 0);
	a->graph = f->after.on ? f->after.graph : 0;
	f->sink->ops->record(f->sink, a);
	f->after.on = false;
}

static void fake_record(struct fake *f, struct activity *a, uint64_t ns)
{
	a->device = f->device;
	a->stream = f->stream;
	if (f->after.was_on)
		execute_after(f, a, ns);
	else
		execute(f->sink, a, ns);
	f->last_end_ns = a->end_ns;
	f->last_start_ns = a->start_ns;
}

/* "128x4": dimensions that are not named are 1. */
static void read_extent(const char *word, uint32_t v[3])
{
	v[0] = v[1] = v[2] = 1;
	sscanf(word, "%" SCNu32 "x%" SCNu32 "x%" SCNu32, &v[0], &v[1], &v[2]);
}

static void run_kernel(struct fake *f, char *const words[])
{
	struct activity a = {.kind = ACTIVITY_KERNEL, .name = words[1]};
	unsigned long i, n = words[3] ? strtoul(words[3], NULL, 10) : 1;

	if (words[3] && words[4] && words[5]) {
		read_extent(words[4], a.config.shape.grid);
		read_extent(words[5], a.config.shape.block);
	}
	for (i = 0; i < n; i++)
		fake_record(f, &a, strtoull(words[2], NULL, 10));
}

static void run_many(struct fake *f, char *const words[])
{
	unsigned long i, n = strtoul(words[1], NULL, 10);
	uint64_t ns = strtoull(words[3], NULL, 10);
	char name[128];
	struct activity a = {.kind = ACTIVITY_KERNEL, .name = name};

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%.100s%lu", words[2], i);
		fake_record(f, &a, ns);
	}
}

/* The number of a word in a list made by `word_of`. */
static uint8_t word_number(const char *word, const char *(*word_of)(unsigned), unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (!strcmp(word, word_of(i)))
			return (uint8_t)i;
	return 0;
}

static void run_copy(struct fake *f, char *const words[])
{
	struct activity a = {.kind = ACTIVITY_COPY};

	a.direction = word_number(words[1], copy_direction_short, COPY_N_DIRECTIONS);
	a.src_kind = a.dst_kind = word_number(words[2], memory_kind_word, MEMORY_N_KINDS);
	a.bytes = strtoull(words[3], NULL, 10);
	fake_record(f, &a, strtoull(words[4], NULL, 10));
}

static void run_set(struct fake *f, char *const words[])
{
	struct activity a = {.kind = ACTIVITY_SET};

	a.src_kind = word_number(words[1], memory_kind_word, MEMORY_N_KINDS);
	a.bytes = strtoull(words[2], NULL, 10);
	fake_record(f, &a, strtoull(words[3], NULL, 10));
}

static void run_sync(struct fake *f, char *const words[])
{
	struct activity a = {.kind = ACTIVITY_SYNC, .name = words[1], .uncounted = true};

	if (!f->sync)
		return;
	fake_record(f, &a, strtoull(words[2], NULL, 10));
	f->sink->ops->unlaunch(f->sink, 1);
}

static void run_after(struct fake *f, char *const words[])
{
	f->after.on = true;
	f->after.gap_ns = (uint64_t)strtoll(words[1], NULL, 10);
	f->after.latency_ns = strtoull(words[2], NULL, 10);
	f->after.graph = words[3] ? (uint32_t)strtoul(words[3], NULL, 10) : 0;
	f->after.was_on = true;
}

static void run_stream(struct fake *f, char *const words[])
{
	f->stream = (uint32_t)strtoul(words[1], NULL, 10);
}

static void run_device(struct fake *f, char *const words[])
{
	fake_device(f, (int32_t)strtol(words[1], NULL, 10), words[2], words[2] ? words[3] : NULL);
}

static void run_launch(struct fake *f, char *const words[])
{
	f->sink->ops->launch(f->sink, NULL);
}

static struct activity_sink *called_sink;

static void execute_called(void)
{
	struct activity a = {.kind = ACTIVITY_KERNEL, .name = "called"};

	execute(called_sink, &a, NSEC_PER_USEC);
}

static void run_called(struct fake *f, char *const words[])
{
	void (*take)(void (*execute_one)(void));

	*(void **)&take = dlsym(RTLD_DEFAULT, words[1]);
	called_sink = f->sink;
	if (take)
		take(execute_called);
}

static void run_pause(struct fake *f, char *const words[])
{
	uint64_t end_ns = clock_monotonic_ns() + strtoull(words[1], NULL, 10) * NSEC_PER_MSEC;
	const struct timespec ms = {0, NSEC_PER_MSEC};

	while (!f->stop && !f->ending && clock_monotonic_ns() < end_ns)
		nanosleep(&ms, NULL);
	if (f->ending)
		f->stop = true;
}

static void run_touch(struct fake *f, char *const words[])
{
	int fd = open(words[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)f;
	if (fd >= 0)
		close(fd);
}

static void run_repeat(struct fake *f, char *const words[])
{
	f->repeats = (unsigned)strtoul(words[1], NULL, 10);
}

static const struct {
	const char *word;
	unsigned n_words; /* at least */
	void (*run)(struct fake *f, char *const words[]);
} commands[] = {
	{"kernel", 3, run_kernel}, {"copy", 5, run_copy},     {"set", 4, run_set},
	{"stream", 2, run_stream}, {"device", 2, run_device}, {"launch", 2, run_launch},
	{"pause", 2, run_pause},   {"repeat", 2, run_repeat}, {"many", 4, run_many},
	{"sync", 3, run_sync},     {"called", 2, run_called}, {"after", 3, run_after},
	{"touch", 2, run_touch},
};

static void fake_line(struct fake *f, char *line)
{
	char *words[8] = {NULL}, *save = NULL, *w;
	unsigned n = 0, i;

	for (w = strtok_r(line, " \t", &save); w && n < 7; w = strtok_r(NULL, " \t", &save))
		words[n++] = w;
	for (i = 0; n && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(words[0], commands[i].word) && n >= commands[i].n_words)
			commands[i].run(f, words);
}

static void fake_pass(struct fake *f)
{
	char text[SCRIPT_MAX], *save = NULL, *line;

	memcpy(text, f->script, sizeof(text));
	for (line = strtok_r(text, ";\n", &save); line && !f->stop;
	     line = strtok_r(NULL, ";\n", &save))
		fake_line(f, line);
}

static void *fake_main(void *arg)
{
	struct fake *f = arg;
	unsigned i;

	fake_device(f, 0, NULL, NULL);
	/* Before the first work: the next one may be after it. */
	if (f->after.is_said)
		f->sink->ops->settled(f->sink, 1);
	fake_pass(f);
	for (i = f->repeats; i && !f->stop; i--)
		fake_pass(f);
	f->done = true;
	return NULL;
}

static int fake_probe(const struct backend_options *options, const char **ret_why)
{
	const char *script = getenv("PROTON_FAKE");

	if (script && *script)
		return 0;
	*ret_why = "PROTON_FAKE is not set";
	return -ENODEV;
}

static int fake_start(const struct backend_options *options, struct activity_sink *sink,
		      void **ret_state)
{
	struct fake *f = calloc(1, sizeof(*f));
	sigset_t all, old;
	int r;

	if (!f)
		return -ENOMEM;
	f->sink = sink;
	f->sync = options->sync;
	f->idle = !options->no_idle;
	f->last_start_ns = 1;
	sink->ops->connect(sink);
	r = fake_load(f, getenv("PROTON_FAKE"));
	f->after.is_said = f->idle && strstr(f->script, "after ");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (r == 0)
		r = -pthread_create(&f->thread, NULL, fake_main, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r < 0) {
		free(f);
		return r;
	}
	*ret_state = f;
	return 0;
}

/* At the end the script is let run to its next pause, so that a short program has all until there. */
static int fake_flush(void *state, enum flush how)
{
	const bool force = how >= FLUSH_ALL;
	struct fake *f = state;
	struct timespec ts = {0, 1000000};
	int i;

	if (force)
		f->ending = true;
	for (i = 0; force && !f->done && i < FLUSH_MS; i++)
		nanosleep(&ts, NULL);
	if (f->after.is_said)
		f->sink->ops->settled(f->sink, force ? UINT64_MAX : f->last_start_ns);
	return 0;
}

static void fake_stop(void *state)
{
	struct fake *f = state;

	if (!f)
		return;
	f->stop = true;
	pthread_join(f->thread, NULL);
	free(f);
}

const struct backend backend_fake = {
	.name = "fake",
	.device_type = "CUDA",
	.probe = fake_probe,
	.start = fake_start,
	.flush = fake_flush,
	.stop = fake_stop,
};
