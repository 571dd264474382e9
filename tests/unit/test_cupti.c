/* SPDX-License-Identifier: MIT */
/* The cupti backend over a mock libcupti. Each test runs in a fork, so that backend and mock are
 * as freshly loaded. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/cupti_abi.h"
#include "backends/cupti_pool.h"
#include "base/clock.h"
#include "base/util.h"
#include "check_main.h"
#include "mocks/mock_cupti.h"

#define KERNEL_CALL         307u
#define GRAPH_CALL          514u
#define MAKE_CALL           643u /* of an executable graph */
#define MAKE_BY_PARAMS_CALL 656u
#define DOWN_CALL           277u /* a copy from the host */
#define COPY_CALL           306u
#define SET_CALL            249u
#define RING_N              (1u << 20)

/* ---- failing memory --------------------------------------------------------------------- */

static int mmap_fails_after = -1;
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (mmap_fails_after == 0) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	if (mmap_fails_after > 0)
		mmap_fails_after--;
	return __real_mmap(at, size, protection, flags, fd, offset);
}

/* ---- a sink that remembers -------------------------------------------------------------- */

#define N_LAUNCHES 128

static struct {
	_Atomic uint64_t n_launches, n_records, n_all;
	_Atomic uint64_t loss[LOSS_N];
	_Atomic uint64_t n_kind[ACTIVITY_N_KINDS];
	_Atomic uint64_t n_direction[COPY_N_DIRECTIONS], bytes_direction[COPY_N_DIRECTIONS];
	_Atomic uint64_t set_bytes;
	_Atomic uint64_t n_of_launch[N_LAUNCHES];
	_Atomic uint64_t
		n_wrong_name; /* records whose launch context is none, or of another name */
	uint64_t cloned[16];  /* of which node: by the low half of its id */
	unsigned built[16];   /* 1 + enum graph_part, by the same */
	atomic_int n_connects, n_notes, n_devices;
	char note[1024];
	_Atomic uint64_t n_memory;
	struct memory_event memory; /* the last */
	struct device_info device;
	char device_name[64], device_uuid[64], device_driver[16], device_arch[16];
	pthread_mutex_t lock;
	struct activity last;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread uint32_t my_launch = 1;

static uint32_t sink_launch(struct activity_sink *sink, const void *what)
{
	seen.n_launches++;
	return my_launch;
}

static void sink_record(struct activity_sink *sink, const struct activity *a)
{
	seen.n_all++;
	if (!a->uncounted)
		seen.n_records++;
	seen.n_kind[a->kind]++;
	if (a->kind == ACTIVITY_COPY) {
		seen.n_direction[a->direction]++;
		seen.bytes_direction[a->direction] += a->bytes;
	} else if (a->kind == ACTIVITY_SET) {
		seen.set_bytes += a->bytes;
	}
	/* On any thread: Check's assertions write to one file and are for the test's own. */
	if (a->launch >= N_LAUNCHES) {
		seen.n_wrong_name++;
		return;
	}
	seen.n_of_launch[a->launch]++;
	if (a->kind == ACTIVITY_KERNEL && a->launch && (uint32_t)atoi(a->name + 1) != a->launch)
		seen.n_wrong_name++;
	pthread_mutex_lock(&seen.lock);
	seen.last = *a;
	pthread_mutex_unlock(&seen.lock);
}

static void sink_unlaunch(struct activity_sink *sink, uint64_t n)
{
	seen.n_launches -= n;
}

static void sink_cloned(struct activity_sink *sink, uint64_t from, const struct graph_member *m)
{
	seen.cloned[m->node % ARRAY_SIZE(seen.cloned)] = from;
	seen.built[m->node % ARRAY_SIZE(seen.built)] = m->part + 1;
}

static void sink_built(struct activity_sink *sink, const struct graph_member *m)
{
	seen.built[m->node % ARRAY_SIZE(seen.built)] = m->part + 1;
}

static void sink_lose(struct activity_sink *sink, enum loss loss, uint64_t n)
{
	seen.loss[loss] += n;
}

static void sink_device(struct activity_sink *sink, const struct device_info *info)
{
	seen.n_devices++;
	seen.device = *info;
	snprintf(seen.device_name, sizeof(seen.device_name), "%s", info->name ? info->name : "");
	snprintf(seen.device_uuid, sizeof(seen.device_uuid), "%s", info->uuid ? info->uuid : "");
	snprintf(seen.device_driver, sizeof(seen.device_driver), "%s",
		 info->driver ? info->driver : "");
	snprintf(seen.device_arch, sizeof(seen.device_arch), "%s", info->arch ? info->arch : "");
}

static void sink_memory(struct activity_sink *sink, const struct memory_event *e)
{
	seen.n_memory++;
	seen.memory = *e;
}

static void sink_note(struct activity_sink *sink, const char *text)
{
	seen.n_notes++;
	snprintf(seen.note, sizeof(seen.note), "%s", text);
}

static void sink_connect(struct activity_sink *sink)
{
	seen.n_connects++;
}

static const struct activity_sink_ops sink_ops = {
	.launch = sink_launch,
	.record = sink_record,
	.unlaunch = sink_unlaunch,
	.cloned = sink_cloned,
	.built = sink_built,
	.lose = sink_lose,
	.device = sink_device,
	.note = sink_note,
	.memory = sink_memory,
	.connect = sink_connect,
};
static struct activity_sink sink = {.ops = &sink_ops};

static int64_t in_flight(void)
{
	return (int64_t)(seen.n_launches - seen.n_records);
}

/* ---- the mock --------------------------------------------------------------------------- */

static struct {
	mock_call_fn *call;
	mock_auto_fn *automatic;
	mock_complete_fn *complete;
	mock_resource_fn *resource;
	mock_fatal_fn *fatal;
	mock_counters_fn *counters;
	mock_seek_fn *seek;
	mock_graph_fn *graph;
	mock_move_fn *move;
} mock;

static void mock_open(void)
{
	void *library = dlopen(MOCK_CUPTI_PATH, RTLD_NOW | RTLD_LOCAL);

	ck_assert_msg(library != NULL, "%s", dlerror());
	*(void **)&mock.call = dlsym(library, "mock_call");
	*(void **)&mock.automatic = dlsym(library, "mock_auto");
	*(void **)&mock.complete = dlsym(library, "mock_complete");
	*(void **)&mock.resource = dlsym(library, "mock_resource");
	*(void **)&mock.fatal = dlsym(library, "mock_fatal");
	*(void **)&mock.counters = dlsym(library, "mock_counters");
	*(void **)&mock.seek = dlsym(library, "mock_seek");
	*(void **)&mock.graph = dlsym(library, "mock_graph");
	*(void **)&mock.move = dlsym(library, "mock_move");
	setenv("PROTON_CUPTI_PATH", MOCK_CUPTI_PATH, 1);
}

static struct mock_counters counters(void)
{
	struct mock_counters c;

	mock.counters(&c);
	return c;
}

static void *state;

static void begin(bool count_launches)
{
	struct backend_options options = {.count_launches = count_launches};

	mock_open();
	ck_assert_int_eq(backend_cupti.start(&options, &sink, &state), 0);
}

static void flush(void)
{
	ck_assert_int_eq(backend_cupti.flush(state, FLUSH_COMPLETE), 0);
}

static void kernels(uint32_t n)
{
	/* The mock keeps the pointer, as CUPTI does. */
	static const char *const names[] = {"k0", "k1", "k2", "k3", "k4",
					    "k5", "k6", "k7", "k8", "k9"};

	for (uint32_t i = 0; i < n; i++)
		mock.call(KERNEL_CALL, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL,
							 .name = names[my_launch]});
}

static void copy(uint8_t kind, uint64_t bytes, uint32_t n_records)
{
	mock.call(COPY_CALL, &(struct mock_op){.kind = n_records ? ABI_KIND_MEMCPY : 0,
					       .n_records = n_records,
					       .copy_kind = kind,
					       .src_kind = ABI_MEMORY_PINNED,
					       .dst_kind = ABI_MEMORY_DEVICE,
					       .bytes = bytes});
}

/* ---- finding and subscribing ------------------------------------------------------------ */

static int start_fails(void)
{
	struct backend_options options = {0};
	int r = backend_cupti.start(&options, &sink, &state);

	ck_assert_int_lt(r, 0);
	ck_assert_int_eq(seen.n_notes, 1);
	return r;
}

START_TEST(says_when_no_library_is_found)
{
	setenv("PROTON_CUPTI_PATH", "/nonexistent", 1);
	ck_assert_int_eq(start_fails(), -ENOENT);
	ck_assert_ptr_nonnull(strstr(seen.note, "PROTON_CUPTI_PATH"));
}
END_TEST

START_TEST(says_what_an_incomplete_library_lacks)
{
	setenv("PROTON_CUPTI_PATH", MOCK_CUPTI_BROKEN_PATH, 1);
	ck_assert_int_eq(start_fails(), -ENOSYS);
	ck_assert_ptr_nonnull(strstr(seen.note, "lacks cuptiActivityFlushAll"));
}
END_TEST

START_TEST(goes_on_to_the_next_candidate)
{
	mock_open();
	setenv("PROTON_CUPTI_PATH", MOCK_CUPTI_BROKEN_PATH ":/nonexistent:" MOCK_CUPTI_PATH, 1);
	ck_assert_int_eq(backend_cupti.start(&(struct backend_options){0}, &sink, &state), 0);
	ck_assert_int_eq(seen.n_notes, 0);
	ck_assert(counters().subscribed);
}
END_TEST

/* A folder tree of links to the mocks, as an installation would have it. */
static char tree[] = "/tmp/test_cupti.XXXXXX";

static void tree_link(const char *target, const char *folder, const char *name)
{
	char path[512];
	size_t n = (size_t)snprintf(path, sizeof(path), "%s/", tree);

	for (const char *p = folder; *p; p += *p == '/') {
		size_t length = strcspn(p, "/");

		n += (size_t)snprintf(path + n, sizeof(path) - n, "%.*s/", (int)length, p);
		mkdir(path, 0700);
		p += length;
	}
	snprintf(path + n, sizeof(path) - n, "%s", name);
	ck_assert_int_eq(symlink(target, path), 0);
}

static void *tree_open(const char *below)
{
	char path[512];
	void *library;

	snprintf(path, sizeof(path), "%s/%s", tree, below);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ck_assert_msg(library != NULL, "%s", dlerror());
	return library;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	return remove(path);
}

static void tree_remove(void)
{
	ck_assert_int_eq(nftw(tree, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* What is mapped, and then links beside it, come before what is installed. */
START_TEST(finds_the_application_s_own_library)
{
	unsetenv("PROTON_CUPTI_PATH");
	ck_assert_ptr_nonnull(mkdtemp(tree));
	if (_i == 0) {
		tree_link(MOCK_CUPTI_PATH, "lib", "libcupti.so.12");
		tree_open("lib/libcupti.so.12");
	} else if (_i == 1) { /* pip, CUDA 12 */
		tree_link(MOCK_CUDA_PATH, "nvidia/cuda_runtime/lib", "libcudart.so.12");
		tree_link(MOCK_CUPTI_PATH, "nvidia/cuda_cupti/lib", "libcupti.so.12");
		tree_open("nvidia/cuda_runtime/lib/libcudart.so.12");
	} else if (_i == 2) { /* pip, CUDA 13, PyTorch */
		tree_link(MOCK_CUDA_PATH, "torch/lib", "libtorch_cuda.so");
		tree_link(MOCK_CUPTI_PATH, "nvidia/cu13/lib", "libcupti.so.13");
		tree_open("torch/lib/libtorch_cuda.so");
	} else { /* a toolkit elsewhere */
		tree_link(MOCK_CUDA_PATH, "toolkit/lib64", "libcudart.so.11.0");
		tree_link(MOCK_CUPTI_PATH, "toolkit/extras/CUPTI/lib64", "libcupti.so.11.8");
		tree_open("toolkit/lib64/libcudart.so.11.0");
	}
	ck_assert_int_eq(backend_cupti.start(&(struct backend_options){0}, &sink, &state), 0);
	tree_remove();
	mock_open();
	ck_assert(counters().subscribed);
	ck_assert_int_eq(seen.n_notes, 0);
}
END_TEST

static const struct {
	const char *variable, *value;
	int error;
	const char *says;
} refusals[] = {
	{"MOCK_CUPTI_VERSION", "12", -ENOSYS, "CUDA 11.0"},
	{"MOCK_CUPTI_SUBSCRIBE", "15", -EIO, "CUPTI 13.0"},
	{"MOCK_CUPTI_SUBSCRIBE", "999", -EIO, "does not work with this driver"},
	{"MOCK_CUPTI_SUBSCRIBE", "35", -EPERM, "does not permit profiling"},
	{"MOCK_CUPTI_SUBSCRIBE", "40", -EPERM, "does not permit profiling"},
	{"MOCK_CUPTI_SUBSCRIBE", "39", -EBUSY, "held by 'CUPTI for Nsight'"},
	{"MOCK_CUPTI_SUBSCRIBE", "12", -EBUSY, "held by another profiler"},
	{"MOCK_CUPTI_ENABLE", "13", -EIO, "error 13"},
};

START_TEST(refusals_are_explained_and_leave_nothing_on)
{
	setenv("MOCK_CUPTI_HOLDER", "CUPTI for Nsight", 1);
	setenv(refusals[_i].variable, refusals[_i].value, 1);
	mock_open();
	ck_assert_int_eq(start_fails(), refusals[_i].error);
	ck_assert_msg(strstr(seen.note, refusals[_i].says) != NULL, "%s", seen.note);
	ck_assert(!counters().subscribed);
	ck_assert_uint_eq(counters().n_kinds_enabled, 0);
	ck_assert_uint_eq(counters().n_callbacks_enabled, 0);
	/* The program runs on, unharmed. */
	kernels(10);
	ck_assert_uint_eq(counters().n_requests, 0);
}
END_TEST

START_TEST(cuda_11_works)
{
	setenv("PROTON_CUPTI_PATH", MOCK_CUPTI_OLD_PATH, 1);
	void *library = dlopen(MOCK_CUPTI_OLD_PATH, RTLD_NOW | RTLD_LOCAL);
	struct backend_options options = {.count_launches = true};

	ck_assert_ptr_nonnull(library);
	*(void **)&mock.call = dlsym(library, "mock_call");
	*(void **)&mock.counters = dlsym(library, "mock_counters");
	ck_assert_int_eq(backend_cupti.start(&options, &sink, &state), 0);
	kernels(100);
	copy(ABI_COPY_HTOD, 100, 1);
	flush();
	ck_assert_uint_eq(seen.n_kind[ACTIVITY_KERNEL], 100);
	ck_assert_uint_eq(seen.bytes_direction[COPY_HOST_TO_DEVICE], 100);
	ck_assert_uint_eq(seen.last.graph, 0);
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

START_TEST(probe_wants_a_driver)
{
	const char *why = NULL;

	ck_assert_int_eq(backend_cupti.probe(&(struct backend_options){0}, &why), -ENODEV);
	ck_assert_ptr_nonnull(strstr(why, "libcuda.so.1"));
	ck_assert_ptr_nonnull(dlopen(MOCK_CUDA_PATH, RTLD_NOW | RTLD_LOCAL));
	ck_assert_int_eq(backend_cupti.probe(&(struct backend_options){0}, &why), 0);
}
END_TEST

/* ---- records ---------------------------------------------------------------------------- */

static void all_kinds(void)
{
	copy(ABI_COPY_HTOD, 1000, 1);
	copy(ABI_COPY_HTOA, 24, 1);
	copy(ABI_COPY_DTOH, 300, 1);
	copy(ABI_COPY_ATOH, 5, 1);
	copy(ABI_COPY_DTOD, 70, 1);
	copy(ABI_COPY_ATOA, 1, 1);
	copy(ABI_COPY_HTOH, 9, 1);
	mock.call(COPY_CALL, &(struct mock_op){.kind = ABI_KIND_MEMCPY2,
					       .copy_kind = ABI_COPY_PTOP,
					       .bytes = 8,
					       .device = 1});
	mock.call(SET_CALL, &(struct mock_op){.kind = ABI_KIND_MEMSET, .bytes = 64});
	kernels(3);
}

static void check_all_kinds(void)
{
	ck_assert_uint_eq(seen.n_kind[ACTIVITY_KERNEL], 3);
	ck_assert_uint_eq(seen.n_kind[ACTIVITY_COPY], 8);
	ck_assert_uint_eq(seen.n_kind[ACTIVITY_SET], 1);
	ck_assert_uint_eq(seen.n_direction[COPY_HOST_TO_DEVICE], 2);
	ck_assert_uint_eq(seen.bytes_direction[COPY_HOST_TO_DEVICE], 1024);
	ck_assert_uint_eq(seen.bytes_direction[COPY_DEVICE_TO_HOST], 305);
	ck_assert_uint_eq(seen.bytes_direction[COPY_DEVICE_TO_DEVICE], 71);
	ck_assert_uint_eq(seen.bytes_direction[COPY_HOST_TO_HOST], 9);
	ck_assert_uint_eq(seen.bytes_direction[COPY_PEER_TO_PEER], 8);
	ck_assert_uint_eq(seen.set_bytes, 64);
}

START_TEST(counts_and_bytes_are_exact)
{
	begin(false);
	all_kinds();
	flush();
	check_all_kinds();
	ck_assert_uint_eq(seen.n_of_launch[0], 12); /* one context: the root */
	ck_assert_uint_eq(seen.loss[LOSS_UNMATCHED], 0);
	ck_assert_int_eq(seen.n_connects, 1);
	ck_assert_uint_eq(seen.n_launches, 0);
}
END_TEST

START_TEST(the_real_library_reads_the_same)
{
	if (access(REAL_CUPTI_PATH, R_OK))
		return; /* no CUDA toolkit here */
	setenv("MOCK_CUPTI_REAL", REAL_CUPTI_PATH, 1);
	counts_and_bytes_are_exact_fn(0);
}
END_TEST

START_TEST(fields_are_translated)
{
	struct mock_op op = {.kind = ABI_KIND_MEMCPY,
			     .copy_kind = ABI_COPY_DTOH,
			     .src_kind = ABI_MEMORY_DEVICE_STATIC,
			     .dst_kind = ABI_MEMORY_PAGEABLE,
			     .bytes = UINT64_C(5) << 32,
			     .async = true,
			     .device = 1,
			     .context = 3,
			     .stream = 14,
			     .graph = 0,
			     .start_ns = 100,
			     .end_ns = 250};

	begin(false);
	mock.call(COPY_CALL, &op);
	flush();
	ck_assert_int_eq(seen.last.kind, ACTIVITY_COPY);
	ck_assert_int_eq(seen.last.direction, COPY_DEVICE_TO_HOST);
	ck_assert_int_eq(seen.last.src_kind, MEMORY_DEVICE);
	ck_assert_int_eq(seen.last.dst_kind, MEMORY_PAGEABLE);
	ck_assert_uint_eq(seen.last.bytes, UINT64_C(5) << 32);
	ck_assert(seen.last.async);
	ck_assert_int_eq(seen.last.device, 1);
	ck_assert_uint_eq(seen.last.context, 3);
	ck_assert_uint_eq(seen.last.stream, 14);
	ck_assert_uint_eq(seen.last.start_ns, 100);
	ck_assert_uint_eq(seen.last.end_ns, 250);
}
END_TEST

static uint32_t wait_for_device(uint32_t cbid, uint8_t type)
{
	return mock.call(cbid, &(struct mock_op){.kind = ABI_KIND_SYNCHRONIZATION,
						 .sync_type = type,
						 .context = 1,
						 .start_ns = 1000,
						 .end_ns = 1250});
}

/* Not before, nor when it has been stopped before that. */
START_TEST(unified_memory_is_recorded_from_when_the_driver_is_ready)
{
	struct backend_options options = {.unified = 1, .no_memory = 1};
	uint64_t n_before;

	mock_open();
	for (int ready = 0; ready < 2; ready++) {
		ck_assert_int_eq(backend_cupti.start(&options, &sink, &state), 0);
		n_before = counters().n_kinds_enabled;
		flush();
		ck_assert_uint_eq(counters().n_kinds_enabled, n_before);
		if (ready) {
			mock.resource(ABI_RESOURCE_INIT_FINISHED);
			ck_assert_uint_eq(counters().n_kinds_enabled, n_before);
			flush();
			ck_assert_uint_eq(counters().n_kinds_enabled, n_before + 1);
		}
		backend_cupti.stop(state);
		ck_assert_uint_eq(counters().n_kinds_enabled, 0);
	}
}
END_TEST

/* Waits are recorded when they are wanted, and no launches; what is no wait of the host is none. */
START_TEST(waits_are_recorded_when_wanted)
{
	struct backend_options options = {.sync = 1};

	mock_open();
	ck_assert_int_eq(backend_cupti.start(&options, &sink, &state), 0);
	my_launch = 5;
	wait_for_device(126, ABI_SYNC_STREAM);
	wait_for_device(121, ABI_SYNC_EVENT);
	wait_for_device(17, ABI_SYNC_CONTEXT);
	wait_for_device(120, ABI_SYNC_EVENT);             /* a query: nobody waits */
	wait_for_device(295, ABI_SYNC_STREAM_WAIT_EVENT); /* the stream does */
	kernels(1);
	flush();
	ck_assert_uint_eq(seen.n_kind[ACTIVITY_SYNC], 3);
	ck_assert_uint_eq(seen.n_of_launch[5], 4);
	ck_assert_uint_eq(seen.n_kind[ACTIVITY_KERNEL], 1);
	ck_assert_uint_eq(seen.n_records, 1);
	ck_assert_int_eq(in_flight(), 0);
	ck_assert_uint_eq(seen.loss[LOSS_UNMATCHED], 0);
	wait_for_device(800, ABI_SYNC_CONTEXT);
	flush();
	ck_assert_uint_eq(seen.n_kind[ACTIVITY_SYNC], 4);
	ck_assert_str_eq(seen.last.name, "cuCtxSynchronize");
	ck_assert_uint_eq(seen.last.end_ns - seen.last.start_ns, 250);
	ck_assert(seen.last.uncounted);
	backend_cupti.stop(state);
	ck_assert_uint_eq(counters().n_kinds_enabled, 0);
}
END_TEST

START_TEST(waits_are_left_alone_otherwise)
{
	struct mock_counters before, after;

	begin(true);
	before = counters();
	wait_for_device(126, ABI_SYNC_STREAM);
	flush();
	after = counters();
	ck_assert_uint_eq(seen.n_all, 0);
	ck_assert_uint_eq(after.n_records, before.n_records);
	ck_assert_uint_eq(seen.n_launches, 0);
}
END_TEST

START_TEST(records_without_times_are_losses)
{
	struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL, .name = "k1"};

	begin(true);
	op.start_ns = UINT64_MAX; /* none */
	mock.call(KERNEL_CALL, &op);
	op.start_ns = 200;
	op.end_ns = 100;
	mock.call(KERNEL_CALL, &op);
	op.end_ns = 200; /* shorter than the clock's tick: fine */
	mock.call(KERNEL_CALL, &op);
	flush();
	ck_assert_uint_eq(seen.loss[LOSS_ZERO_TIME], 0); /* it may still run */
	ck_assert_int_eq(backend_cupti.flush(state, FLUSH_ALL), 0);
	ck_assert_uint_eq(seen.loss[LOSS_ZERO_TIME], 1);
	ck_assert_uint_eq(seen.loss[LOSS_REVERSED_TIME], 1);
	ck_assert_uint_eq(seen.n_all, 1);
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

#define ALLOC_CALL 243u

static void allocated(uint32_t device, uint64_t address, bool timed)
{
	mock.call(ALLOC_CALL, &(struct mock_op){.kind = ABI_KIND_MEMORY2,
						.operation = ABI_MEMORY_ALLOCATED,
						.dst_kind = ABI_MEMORY_PINNED,
						.device = device,
						.address = address,
						.bytes = 4096,
						.start_ns = timed ? 0 : UINT64_MAX});
	flush();
}

/* That there is more memory is true all the same: in the order in which records come. */
START_TEST(allocations_without_times_come_when_they_come)
{
	uint64_t before;

	begin(true);
	allocated(0, 1, true);
	before = seen.memory.at_ns;
	ck_assert_uint_gt(before, 0);
	allocated(0, 2, false);
	ck_assert_uint_eq(seen.n_memory, 2);
	ck_assert_uint_eq(seen.loss[LOSS_ZERO_TIME], 1);
	ck_assert_uint_eq(seen.memory.address, 2);
	ck_assert_uint_ge(seen.memory.at_ns, before);
}
END_TEST

START_TEST(memory_of_no_device_makes_none)
{
	begin(true);
	allocated(UINT32_MAX, 1, true);
	ck_assert_uint_eq(seen.n_memory, 1);
	ck_assert_int_eq(seen.n_devices, 0);
	allocated(1, 2, true);
	ck_assert_int_eq(seen.n_devices, 1);
}
END_TEST

static const struct {
	const char *variable, *says;
	uint64_t n;
} memory_refusals[] = {
	{"MOCK_CUPTI_MEMORY",
	 "allocations of memory are not recorded: this CUPTI (API 130001) "
	 "refuses records of them (error 1)",
	 0},
	{"MOCK_CUPTI_POOLS",
	 "sizes of memory pools are not recorded: this CUPTI (API 130001) "
	 "refuses records of them (error 1)",
	 1},
};

START_TEST(why_there_is_no_memory_is_said)
{
	setenv(memory_refusals[_i].variable, "1", 1);
	begin(true);
	ck_assert_int_eq(seen.n_notes, 1);
	ck_assert_str_eq(seen.note, memory_refusals[_i].says);
	kernels(1);
	allocated(0, 1, true);
	ck_assert_uint_eq(seen.n_memory, memory_refusals[_i].n);
	ck_assert_int_eq(in_flight(), 0);
	backend_cupti.stop(state);
	ck_assert_uint_eq(counters().n_kinds_enabled, 0);
}
END_TEST

static void early_graph(void)
{
	mock.call(GRAPH_CALL, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL,
						.name = "k1",
						.graph = 1,
						.start_ns = 1000,
						.end_ns = 2000});
	flush();
}

/* Where the clock was set, CUPTI may go on by the old one. */
START_TEST(records_before_their_launch_are_losses_unless_the_clock_was_set)
{
	begin(true);
	kernels(1);
	flush();
	early_graph();
	ck_assert_uint_eq(seen.loss[LOSS_EARLY], 1);
	ck_assert_uint_eq(seen.n_all, 1);
	clock_fake(5);
	flush();
	clock_fake(0);
	early_graph();
	ck_assert_uint_eq(seen.loss[LOSS_EARLY], 1);
	ck_assert_uint_eq(seen.n_all, 2);
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

START_TEST(drops_are_counted)
{
	setenv("MOCK_CUPTI_DROP_EVERY", "10", 1);
	begin(true);
	kernels(100);
	flush();
	ck_assert_uint_eq(seen.n_all, 90);
	ck_assert_uint_eq(seen.loss[LOSS_DROPPED], 10);
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

START_TEST(devices_are_described)
{
	ck_assert_ptr_nonnull(dlopen(MOCK_CUDA_PATH, RTLD_NOW | RTLD_LOCAL));
	begin(false);
	mock.call(SET_CALL, &(struct mock_op){.kind = ABI_KIND_MEMSET, .device = 1});
	flush();
	flush();
	ck_assert_int_eq(seen.n_devices, 1);
	ck_assert_int_eq(seen.device.index, 1);
	ck_assert_str_eq(seen.device.type, "CUDA");
	ck_assert_str_eq(seen.device_name, "Mock GPU 1");
	ck_assert_str_eq(seen.device_arch, "90");
	ck_assert_str_eq(seen.device_driver, "13.0");
	ck_assert_str_eq(seen.device_uuid, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f");
	ck_assert_uint_eq(seen.device.num_sms, 132);
	ck_assert_uint_eq(seen.device.bus_width_bits, 6144);
	ck_assert_uint_eq(seen.device.memory_bytes, (uint64_t)141 << 30);
}
END_TEST

/* ---- attribution ------------------------------------------------------------------------ */

static void *launch_thread(void *arg)
{
	my_launch = (uint32_t)(uintptr_t)arg;
	kernels(20000);
	copy(ABI_COPY_HTOD, 10, 1);
	return NULL;
}

static void run_threads(uint32_t n)
{
	pthread_t threads[16];

	for (uint32_t i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, launch_thread, (void *)(uintptr_t)(i + 2));
	for (uint32_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

START_TEST(each_record_finds_its_thread)
{
	begin(true);
	run_threads(8);
	flush();
	for (uint32_t i = 2; i < 10; i++)
		ck_assert_uint_eq(seen.n_of_launch[i], 20001);
	ck_assert_uint_eq(seen.n_wrong_name, 0);
	ck_assert_uint_eq(seen.n_of_launch[0], 0);
	ck_assert_uint_eq(seen.loss[LOSS_UNMATCHED], 0);
	ck_assert_uint_eq(counters().n_dirty_buffers, 0);
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

static void *flush_often(void *stop)
{
	while (!*(atomic_bool *)stop)
		backend_cupti.flush(state, FLUSH_COMPLETE);
	return NULL;
}

/* Where devices write times: into memory of the host where graphs are recorded whole, where it costs the least. */
START_TEST(times_of_whole_graphs_are_written_to_the_host)
{
	struct backend_options options = {.graphs = GRAPHS_WHOLE};

	mock_open();
	ck_assert_int_eq(backend_cupti.start(&options, &sink, &state), 0);
	ck_assert(counters().host_pinned);
}
END_TEST

START_TEST(times_of_nodes_are_written_to_the_device)
{
	begin(true);
	ck_assert(!counters().host_pinned);
}
END_TEST

START_TEST(flushing_beside_launches_loses_nothing)
{
	atomic_bool stop = false;
	pthread_t flusher;

	begin(true);
	pthread_create(&flusher, NULL, flush_often, &stop);
	run_threads(4);
	stop = true;
	pthread_join(flusher, NULL);
	flush();
	ck_assert_uint_eq(seen.n_all, 4 * 20001);
	ck_assert_uint_eq(seen.n_wrong_name, 0);
	ck_assert_uint_eq(counters().n_dirty_buffers, 0);
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

START_TEST(launches_before_attribution_belong_to_the_root)
{
	begin(false);
	mock.automatic(false);
	kernels(50);
	my_launch = 5;
	backend_cupti.attribute(state);
	kernels(20);
	mock.complete(SIZE_MAX, false);
	flush();
	ck_assert_uint_eq(seen.n_of_launch[0], 50);
	ck_assert_uint_eq(seen.n_of_launch[5], 20);
	ck_assert_uint_eq(seen.loss[LOSS_UNMATCHED], 0);
	ck_assert_uint_eq(seen.n_launches, 20);
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

static void *one_kernel(void *unused)
{
	my_launch = 7;
	kernels(1);
	return NULL;
}

START_TEST(a_second_thread_brings_attribution)
{
	uint64_t before;
	pthread_t thread;

	begin(false);
	before = counters().n_callbacks_enabled;
	kernels(5);
	flush();
	kernels(5);
	flush();
	ck_assert_uint_eq(counters().n_callbacks_enabled, before);
	pthread_create(&thread, NULL, one_kernel, NULL);
	pthread_join(thread, NULL);
	flush();
	ck_assert_uint_gt(counters().n_callbacks_enabled, before + 50);
	kernels(5);
	flush();
	ck_assert_uint_eq(seen.n_of_launch[1], 5);
	ck_assert_uint_eq(seen.n_of_launch[0], 11);
	ck_assert_uint_eq(seen.loss[LOSS_UNMATCHED], 0);
}
END_TEST

START_TEST(an_overwritten_ring_entry_is_a_loss)
{
	begin(true);
	mock.automatic(false);
	my_launch = 3;
	kernels(2);
	/* Copies without a record use up correlation ids. */
	for (uint32_t i = 0; i < RING_N - 1; i++)
		copy(0, 0, 0);
	mock.complete(SIZE_MAX, false);
	flush();
	ck_assert_uint_eq(seen.n_of_launch[3], 1);
	ck_assert_uint_eq(seen.n_of_launch[0], 1);
	ck_assert_uint_eq(seen.loss[LOSS_UNMATCHED], 1);
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

START_TEST(correlation_ids_wrap_around)
{
	begin(true);
	mock.seek(UINT32_MAX - 99);
	my_launch = 4;
	kernels(300); /* correlation id 0 is as good as any */
	flush();
	mock.seek(0x60000000); /* far ahead of the first */
	kernels(10);
	flush();
	mock.seek(0xb0000000);
	kernels(10);
	flush();
	ck_assert_uint_eq(seen.n_of_launch[4], 320);
	ck_assert_uint_eq(seen.loss[LOSS_UNMATCHED], 0);
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

/* ---- in flight -------------------------------------------------------------------------- */

START_TEST(in_flight_ends_at_zero)
{
	struct mock_op kernel = {.kind = ABI_KIND_CONCURRENT_KERNEL, .name = "k1"};
	struct mock_op graph = {
		.kind = ABI_KIND_CONCURRENT_KERNEL, .name = "k1", .n_records = 100, .graph = 9};

	begin(true);
	mock.automatic(false);
	kernels(10);
	ck_assert_int_eq(in_flight(), 10);
	copy(ABI_COPY_HTOD, 0, 0);  /* no record */
	copy(ABI_COPY_HTOD, 64, 3); /* a batch */
	ck_assert_int_eq(in_flight(), 10);
	kernel.result = 1; /* the launch fails */
	mock.call(KERNEL_CALL, &kernel);
	ck_assert_int_eq(in_flight(), 10);
	kernel.result = 0;
	kernel.captured = true;
	mock.call(KERNEL_CALL, &kernel);
	ck_assert_int_eq(in_flight(), 10);
	mock.resource(ABI_RESOURCE_GRAPH_NODE_CREATED); /* built by hand: no launch */
	ck_assert_int_eq(in_flight(), 10);
	mock.call(GRAPH_CALL, &graph);
	mock.call(GRAPH_CALL, &graph);
	ck_assert_int_eq(in_flight(), 12);
	mock.complete(SIZE_MAX, true);
	flush();
	ck_assert_int_eq(in_flight(), 0);
	ck_assert_uint_eq(seen.n_kind[ACTIVITY_KERNEL], 210);
	ck_assert_uint_eq(seen.n_kind[ACTIVITY_COPY], 3);
	ck_assert_uint_eq(seen.loss[LOSS_UNMATCHED], 0);
	ck_assert_uint_eq(seen.n_of_launch[1], 213);
}
END_TEST

/* ---- patterns of copies ----------------------------------------------------------------- */

static unsigned copied(const void *dst, const void *src, uint64_t bytes)
{
	bool is_down = (uintptr_t)dst < 0x100000;

	mock.call(is_down ? DOWN_CALL : COPY_CALL, &(struct mock_op){.kind = ABI_KIND_MEMCPY,
								     .copy_kind = ABI_COPY_HTOD,
								     .dst = dst,
								     .src = src,
								     .bytes = bytes});
	flush();
	return seen.last.pattern;
}

START_TEST(copies_are_known_again)
{
	void *device = (void *)(uintptr_t)0x7000, *other = (void *)(uintptr_t)0x9000;
	char host[4096] = "a batch";

	begin(true);
	ck_assert_uint_eq(copied(device, host, sizeof(host)), 0);
	ck_assert_uint_eq(copied(device, host, sizeof(host)), COPY_AGAIN); /* looked at first */
	ck_assert_uint_eq(copied(device, host, sizeof(host)),
			  COPY_AGAIN | COPY_COMPARED | COPY_SAME);
	host[4090] = 1; /* in the last word */
	ck_assert_uint_eq(copied(device, host, sizeof(host)), COPY_AGAIN | COPY_COMPARED);
	ck_assert_uint_eq(copied(device, host, sizeof(host)),
			  COPY_AGAIN | COPY_COMPARED | COPY_SAME);
	ck_assert_uint_eq(copied(device, host, 64), 0);
	ck_assert_uint_eq(copied(other, host, sizeof(host)), 0);
	/* Back, and down again: what is there then is not known. */
	ck_assert_uint_eq(copied(host, device, sizeof(host)), COPY_BACK);
	ck_assert_uint_eq(copied(device, host, sizeof(host)), COPY_BACK);
	ck_assert_uint_eq(copied(device, host, sizeof(host)), COPY_AGAIN);
	ck_assert_uint_eq(seen.n_of_launch[1], 10);
}
END_TEST

START_TEST(often_repeated_copies_are_compared_seldom)
{
	void *device = (void *)(uintptr_t)0x7000;
	static char host[64];
	unsigned n = 0, last = 0;

	begin(true);
	for (unsigned i = 0; i < 1000; i++) {
		last = copied(device, host, sizeof(host));
		n += last & COPY_COMPARED ? 1 : 0;
	}
	ck_assert_uint_ge(n, 7 + 900 / 64);
	ck_assert_uint_le(n, 8 + 1000 / 64);
	ck_assert_uint_eq(last, COPY_AGAIN);
}
END_TEST

/* What cannot be read is the program's affair; a few bytes can. */
START_TEST(what_cannot_be_read_is_not_compared)
{
	void *device = (void *)(uintptr_t)0x7000, *nowhere = (void *)(uintptr_t)0x8000;
	static char host[4];

	begin(true);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(copied(device, nowhere, 4096), i ? COPY_AGAIN : 0);
		ck_assert_uint_eq(copied(device, host, sizeof(host)),
				  (i ? COPY_AGAIN : 0) | (i > 1 ? COPY_COMPARED | COPY_SAME : 0));
	}
	ck_assert_uint_eq(copied(device, NULL, 0), 0);
	ck_assert_uint_eq(copied(device, NULL, 0), 0);
	/* More than there can be, and beyond the end of addresses. */
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(copied(device, host, UINT64_MAX), i ? COPY_AGAIN : 0);
		ck_assert_uint_eq(copied(device, host, UINT64_C(1) << 63), i ? COPY_AGAIN : 0);
		ck_assert_uint_eq(copied(device, device, 8), i ? COPY_AGAIN : 0);
	}
}
END_TEST

/* ---- graphs in graphs ------------------------------------------------------------------- */

#define NODE(graph, n) ((uint64_t)(graph) << 32 | (n))

static uint32_t inner; /* graphs of which a copy is made, each of one node */

static void copy_node(uint64_t node, uint64_t from)
{
	const struct mock_node copy = {.graph = node >> 32, .node = node, .from = from};

	mock.graph(ABI_RESOURCE_GRAPH_NODE_CREATED, &copy);
	mock.graph(ABI_RESOURCE_GRAPH_NODE_CLONED, &copy);
}

/* Graph 3, with a node of its own, is made of graph 1; nodes of others, 4 and up, move into it. */
static void make_executable(void)
{
	for (uint32_t i = 0; i < inner; i++)
		copy_node(NODE(4 + i, 0), NODE(2, i));
	copy_node(NODE(3, 1), NODE(1, 1));
	for (uint32_t i = 0; i < inner; i++)
		mock.move(NODE(4 + i, 0), NODE(3, 5 + i));
	if (inner > 1) { /* this one goes, and nothing may be asked about it */
		mock.graph(ABI_RESOURCE_GRAPH_NODE_DESTROYED,
			   &(struct mock_node){.graph = 3, .node = NODE(5, 0)});
	}
	mock.graph(ABI_RESOURCE_GRAPH_NODE_CREATED, /* the driver's own: no copy */
		   &(struct mock_node){.graph = 3, .node = NODE(3, 12)});
	mock.graph(ABI_RESOURCE_GRAPH_EXEC_CREATED, &(struct mock_node){.executable = 0xe0});
}

static void make_graph(uint32_t n_inner)
{
	inner = n_inner;
	mock.call(MAKE_CALL, &(struct mock_op){.inside = make_executable});
}

START_TEST(nodes_of_inner_graphs_are_asked_again)
{
	begin(true);
	make_graph(2);
	ck_assert_uint_eq(seen.cloned[0], NODE(2, 1));
	ck_assert_uint_eq(seen.cloned[1], NODE(1, 1));
	ck_assert_uint_eq(seen.cloned[5], NODE(4, 0));
	ck_assert_uint_eq(seen.cloned[6], 0);
	/* What a program copies by itself stays what it is, whatever is made next. */
	copy_node(NODE(7, 9), NODE(2, 0));
	mock.move(NODE(7, 9), NODE(3, 8));
	make_graph(0);
	ck_assert_uint_eq(seen.cloned[8], 0);
}
END_TEST

START_TEST(graphs_that_kernels_launch_have_a_note)
{
	static const uint64_t by_device = ABI_GRAPH_BY_DEVICE;
	const void *flags = (const void *)(uintptr_t)by_device;

	begin(true);
	mock.call(MAKE_CALL, &(struct mock_op){.third = (const void *)(uintptr_t)1});
	mock.call(MAKE_BY_PARAMS_CALL, &(struct mock_op){.third = NULL});
	ck_assert_int_eq(seen.n_notes, 0);
	mock.call(_i ? MAKE_BY_PARAMS_CALL : MAKE_CALL,
		  &(struct mock_op){.third = _i ? (const void *)&by_device : flags});
	ck_assert_int_eq(seen.n_notes, 1);
	ck_assert_ptr_nonnull(strstr(seen.note, "for kernels to launch"));
}
END_TEST

/* Types are told before a node is made: those of graphs come round what is in them. */
START_TEST(types_of_nodes_are_those_that_were_told_first)
{
	static const uint32_t types[] = {ABI_NODE_KERNEL, ABI_NODE_MEMCPY, ABI_NODE_MEMSET, 7,
					 ABI_NODE_KERNEL};
	static const enum graph_part parts[] = {GRAPH_KERNEL, GRAPH_COPY, GRAPH_SET, GRAPH_OTHER,
						GRAPH_KERNEL};
	struct mock_node outer = {.node = NODE(1, 15), .type = ABI_NODE_GRAPH};

	begin(true);
	mock.graph(ABI_RESOURCE_GRAPH_NODE_CREATING, &outer);
	for (uint32_t i = 0; i < ARRAY_SIZE(types); i++) {
		mock.graph(ABI_RESOURCE_GRAPH_NODE_CREATED,
			   &(struct mock_node){.node = NODE(2, i), .type = types[i]});
		ck_assert_uint_eq(seen.built[i], parts[i] + 1);
	}
	mock.graph(ABI_RESOURCE_GRAPH_NODE_CLONED, &outer);
	ck_assert_uint_eq(seen.built[15], GRAPH_GRAPH + 1);
	make_graph(0);
	ck_assert_uint_eq(seen.built[12], 0); /* the driver's own */
}
END_TEST

START_TEST(what_a_kernel_launches_belongs_to_the_newest_launch_of_its_graph)
{
	const void *executable = (void *)(uintptr_t)0xe0;
	struct mock_op body = {.kind = ABI_KIND_CONCURRENT_KERNEL,
			       .n_records = 3,
			       .name = "k2",
			       .graph = 3,
			       .by_kernel = true,
			       .executable = executable};

	begin(true);
	kernels(1);
	make_graph(1);
	my_launch = 2;
	mock.call(GRAPH_CALL, &body);
	flush();
	ck_assert_uint_eq(seen.n_of_launch[2], 3);
	my_launch = 4;
	body.name = "k4";
	mock.call(GRAPH_CALL, &body);
	flush();
	flush();
	flush();
	ck_assert_uint_eq(seen.n_of_launch[4], 3);
	ck_assert_int_eq(in_flight(), 0);
	/* Of a graph that is not known: nobody's. */
	body.graph = 3 + 4096;
	mock.call(GRAPH_CALL, &body);
	flush();
	ck_assert_uint_eq(seen.n_of_launch[0], 3);
	mock.graph(ABI_RESOURCE_GRAPH_EXEC_DESTROYED, &(struct mock_node){.executable = 0xe0});
	ck_assert_uint_eq(seen.n_wrong_name, 0);
}
END_TEST

START_TEST(a_graph_without_records_does_not_stay_in_flight)
{
	begin(true);
	kernels(1);
	mock.call(GRAPH_CALL, &(struct mock_op){.kind = 0});
	ck_assert_int_eq(in_flight(), 2);
	flush();
	flush();
	flush();
	ck_assert_int_eq(in_flight(), 0);
	mock.call(GRAPH_CALL, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL,
						.name = "k1",
						.n_records = 2,
						.graph = 3});
	flush();
	flush();
	flush();
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

/* The program ends right after the launch: one flush must do, and must not take a graph that still
 * runs for one that had nothing to record. */
START_TEST(the_last_flush_knows_graphs_without_records)
{
	struct mock_op runs = {
		.kind = ABI_KIND_CONCURRENT_KERNEL, .name = "k1", .n_records = 2, .graph = 3};

	begin(true);
	mock.automatic(false);
	mock.call(GRAPH_CALL, &(struct mock_op){.kind = 0});
	mock.call(GRAPH_CALL, &runs);
	flush();
	ck_assert_int_eq(in_flight(), 2);
	backend_cupti.flush(state, FLUSH_ALL);
	ck_assert_int_eq(in_flight(), 0);
	ck_assert_uint_eq(seen.loss[LOSS_ZERO_TIME], 2); /* its records had no times yet */
}
END_TEST

/* ---- buffers ---------------------------------------------------------------------------- */

START_TEST(a_flush_leaves_incomplete_buffers)
{
	begin(true);
	mock.automatic(false);
	kernels(3);
	flush();
	ck_assert_uint_eq(seen.n_all, 0);
	ck_assert_int_eq(in_flight(), 3);
	mock.complete(2, true);
	flush();
	ck_assert_uint_eq(seen.n_all, 0);
	mock.complete(1, true);
	flush();
	ck_assert_uint_eq(seen.n_all, 3);
	ck_assert_int_eq(in_flight(), 0);
}
END_TEST

START_TEST(an_idle_program_is_not_flushed)
{
	uint64_t before;

	begin(false);
	flush();
	kernels(1);
	flush();
	before = counters().n_flushes;
	flush();
	flush();
	ck_assert_uint_eq(counters().n_flushes, before);
	ck_assert_uint_eq(before, 1);
}
END_TEST

START_TEST(exit_takes_what_is_incomplete)
{
	begin(true);
	mock.automatic(false);
	kernels(3);
	mock.complete(1, false);
	ck_assert_int_eq(backend_cupti.flush(state, FLUSH_ALL), 0);
	ck_assert_uint_eq(seen.n_all, 1);
	ck_assert_uint_eq(seen.loss[LOSS_ZERO_TIME], 2);
	ck_assert_int_eq(in_flight(), 0);
	ck_assert_uint_eq(counters().n_forced, 1);
}
END_TEST

START_TEST(memory_is_bounded)
{
	struct backend_options options = {.count_launches = true, .buffer_bytes_max = 64 << 10};

	mock_open();
	if (_i == 1) /* where a refusal would crash CUPTI, records go nowhere */
		setenv("MOCK_CUPTI_VERSION", "21", 1);
	ck_assert_int_eq(backend_cupti.start(&options, &sink, &state), 0);
	mock.automatic(false);
	kernels(1000);
	ck_assert_uint_gt(seen.loss[LOSS_BUFFERS_FULL], 0);
	ck_assert_uint_le(backend_cupti.buffer_bytes(state), 64 << 10);
	mock.complete(SIZE_MAX, false);
	flush();
	if (_i == 0) {
		ck_assert_uint_eq(seen.n_all + seen.loss[LOSS_DROPPED], 1000);
		ck_assert_int_eq(in_flight(), 0);
	}
	ck_assert_uint_gt(seen.n_all, 200);
	kernels(100); /* and on it goes */
	mock.complete(SIZE_MAX, false);
	flush();
	ck_assert_uint_gt(seen.n_all, 300);
}
END_TEST

START_TEST(buffers_grow_with_the_rate)
{
	struct cupti_pool pool = {0};
	struct cupti_lease lease = {0};
	uint64_t now_ns = 1000;
	uint8_t *buffer;
	size_t size;

	ck_assert_int_eq(cupti_pool_init(&pool, 8 << 20), 0);
	buffer = cupti_pool_take(&pool, &lease, now_ns, &size);
	ck_assert_uint_eq(size, POOL_BYTES_MIN);
	/* Full after 1 ms: 100 ms need a hundred times as much. */
	now_ns += NSEC_PER_MSEC;
	buffer = cupti_pool_take(&pool, &lease, now_ns, &size);
	ck_assert_uint_eq(size, 128 << 10);
	now_ns += NSEC_PER_MSEC;
	buffer = cupti_pool_take(&pool, &lease, now_ns, &size);
	ck_assert_uint_eq(size, POOL_BYTES_MAX);
	/* Came back with 1,000 bytes; half a second later one KiB is plenty. */
	memset(buffer, 1, 1000);
	ck_assert(cupti_pool_return(&pool, buffer, 1000));
	ck_assert_uint_eq(buffer[0] | buffer[999], 0);
	now_ns += NSEC_PER_SEC / 2;
	buffer = cupti_pool_take(&pool, &lease, now_ns, &size);
	ck_assert_uint_eq(size, POOL_BYTES_MIN);
	ck_assert(!cupti_pool_return(&pool, (uint8_t *)&pool, 0));
	ck_assert(cupti_pool_return(&pool, buffer, 0));
	ck_assert_msg(!cupti_pool_return(&pool, buffer, 0), "returned twice");
	cupti_pool_fault_in(&pool);
	cupti_pool_fault_in(&pool);
}
END_TEST

START_TEST(a_slow_thread_gets_small_buffers)
{
	begin(false);
	kernels(1);
	ck_assert_uint_eq(counters().buffer_size_max, POOL_BYTES_MIN);
	kernels(20000);
	ck_assert_uint_eq(counters().buffer_size_max, POOL_BYTES_MAX);
}
END_TEST

/* ---- life ------------------------------------------------------------------------------- */

START_TEST(stop_in_any_order)
{
	backend_cupti.stop(NULL);
	begin(true);
	ck_assert_int_eq(backend_cupti.start(&(struct backend_options){0}, &sink, &state), -EBUSY);
	mock.automatic(false);
	kernels(3);
	backend_cupti.stop(state);
	ck_assert(!counters().subscribed);
	ck_assert_uint_eq(counters().n_kinds_enabled, 0);
	ck_assert_uint_eq(seen.loss[LOSS_ZERO_TIME], 3);
	backend_cupti.stop(state);
	kernels(3);
	ck_assert_int_eq(backend_cupti.flush(state, FLUSH_ALL), 0);
	ck_assert_uint_eq(seen.n_all, 0);
	/* Once more. */
	begin(true);
	kernels(4);
	mock.complete(SIZE_MAX, false);
	flush();
	ck_assert_uint_eq(seen.n_all, 4);
	backend_cupti.stop(state);
}
END_TEST

START_TEST(stop_with_buffers_out)
{
	begin(false);
	mock.automatic(false);
	kernels(2);
	mock.fatal("the GPU is gone"); /* from here on CUPTI is not called */
	ck_assert_int_eq(seen.n_notes, 1);
	ck_assert_ptr_nonnull(strstr(seen.note, "the GPU is gone"));
	backend_cupti.stop(state);
	ck_assert_uint_eq(counters().n_flushes, 0);
	/* The mock still writes there: nothing was unmapped. */
	mock.complete(SIZE_MAX, false);
	kernels(100);
	ck_assert_uint_eq(seen.n_all, 0);
}
END_TEST

START_TEST(a_fork_child_touches_nothing)
{
	struct mock_counters before, after;
	int status;
	pid_t child;

	begin(true);
	mock.automatic(false);
	kernels(3);
	before = counters();
	child = fork();
	if (child == 0) {
		backend_cupti.forked(state);
		backend_cupti.flush(state, FLUSH_ALL);
		backend_cupti.attribute(state);
		backend_cupti.stop(state);
		after = counters();
		_exit(after.n_flushes != before.n_flushes ||
		      after.n_enable_calls != before.n_enable_calls || !after.subscribed ||
		      after.n_kinds_enabled != before.n_kinds_enabled ||
		      backend_cupti.start(&(struct backend_options){0}, &sink, &state) != -EBUSY);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	mock.complete(SIZE_MAX, false);
	flush();
	ck_assert_uint_eq(seen.n_all, 3);
}
END_TEST

START_TEST(out_of_memory_is_a_loss)
{
	mmap_fails_after = _i; /* 0: cells, 1: buffers, 2: the ring */
	mock_open();
	if (_i < 2) {
		ck_assert_int_eq(backend_cupti.start(&(struct backend_options){0}, &sink, &state),
				 -ENOMEM);
		ck_assert_uint_eq(seen.loss[LOSS_NO_MEMORY], 1);
		ck_assert(!counters().subscribed);
		return;
	}
	begin(true);
	ck_assert_uint_eq(seen.loss[LOSS_NO_MEMORY], 1);
	kernels(5); /* without attribution, but recorded */
	flush();
	ck_assert_uint_eq(seen.n_of_launch[0], 5);
	ck_assert_uint_eq(seen.n_launches, 0);
}
END_TEST

/* Of a program that locks its memory: not all that is reserved, which is more than 64 MiB. */
START_TEST(locked_is_what_is_used)
{
	char line[256];
	long kb = -1;
	FILE *f;

	mock_open();
	if (mlockall(MCL_FUTURE) < 0 ||
	    backend_cupti.start(&(struct backend_options){.count_launches = 1}, &sink, &state) < 0)
		return; /* the machine's limit */
	f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmLck: %ld kB", &kb);
	ck_assert_int_ge(kb, 0);
	ck_assert_int_lt(kb, 16 << 10);
}
END_TEST

START_TEST(a_context_is_flushed_before_it_goes)
{
	begin(false);
	kernels(3);
	mock.call(389, &(struct mock_op){.kind = 0}); /* cuDevicePrimaryCtxReset */
	ck_assert_uint_eq(seen.n_all, 3);
}
END_TEST

START_TEST(the_sender_starts_when_the_driver_is_ready)
{
	begin(false);
	ck_assert_int_eq(seen.n_connects, 0);
	mock.resource(ABI_RESOURCE_INIT_FINISHED);
	ck_assert_int_eq(seen.n_connects, 1);
	kernels(2); /* once more, for a later exit handler */
	ck_assert_int_eq(seen.n_connects, 2);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("cupti");
	TCase *load = tcase_create("load"), *records = tcase_create("records"),
	      *attribution = tcase_create("attribution"), *buffers = tcase_create("buffers"),
	      *life = tcase_create("life");

	tcase_add_test(load, says_when_no_library_is_found);
	tcase_add_test(load, says_what_an_incomplete_library_lacks);
	tcase_add_test(load, goes_on_to_the_next_candidate);
	tcase_add_loop_test(load, finds_the_application_s_own_library, 0, 4);
	tcase_add_loop_test(load, refusals_are_explained_and_leave_nothing_on, 0,
			    ARRAY_SIZE(refusals));
	tcase_add_test(load, cuda_11_works);
	tcase_add_test(load, probe_wants_a_driver);
	tcase_add_test(records, counts_and_bytes_are_exact);
	tcase_add_test(records, the_real_library_reads_the_same);
	tcase_add_test(records, fields_are_translated);
	tcase_add_test(records, unified_memory_is_recorded_from_when_the_driver_is_ready);
	tcase_add_test(records, waits_are_recorded_when_wanted);
	tcase_add_test(records, waits_are_left_alone_otherwise);
	tcase_add_test(records, records_without_times_are_losses);
	tcase_add_test(records, allocations_without_times_come_when_they_come);
	tcase_add_test(records, memory_of_no_device_makes_none);
	tcase_add_loop_test(records, why_there_is_no_memory_is_said, 0,
			    ARRAY_SIZE(memory_refusals));
	tcase_add_test(records, records_before_their_launch_are_losses_unless_the_clock_was_set);
	tcase_add_test(records, drops_are_counted);
	tcase_add_test(records, devices_are_described);
	tcase_add_test(attribution, each_record_finds_its_thread);
	tcase_add_test(attribution, flushing_beside_launches_loses_nothing);
	tcase_add_test(attribution, times_of_whole_graphs_are_written_to_the_host);
	tcase_add_test(attribution, times_of_nodes_are_written_to_the_device);
	tcase_add_test(attribution, launches_before_attribution_belong_to_the_root);
	tcase_add_test(attribution, a_second_thread_brings_attribution);
	tcase_add_test(attribution, an_overwritten_ring_entry_is_a_loss);
	tcase_add_test(attribution, correlation_ids_wrap_around);
	tcase_add_test(attribution, in_flight_ends_at_zero);
	tcase_add_test(attribution, copies_are_known_again);
	tcase_add_test(attribution, often_repeated_copies_are_compared_seldom);
	tcase_add_test(attribution, what_cannot_be_read_is_not_compared);
	tcase_add_test(attribution, nodes_of_inner_graphs_are_asked_again);
	tcase_add_test(attribution, types_of_nodes_are_those_that_were_told_first);
	tcase_add_loop_test(attribution, graphs_that_kernels_launch_have_a_note, 0, 2);
	tcase_add_test(attribution,
		       what_a_kernel_launches_belongs_to_the_newest_launch_of_its_graph);
	tcase_add_test(attribution, a_graph_without_records_does_not_stay_in_flight);
	tcase_add_test(attribution, the_last_flush_knows_graphs_without_records);
	tcase_add_test(buffers, a_flush_leaves_incomplete_buffers);
	tcase_add_test(buffers, an_idle_program_is_not_flushed);
	tcase_add_test(buffers, exit_takes_what_is_incomplete);
	tcase_add_loop_test(buffers, memory_is_bounded, 0, 2);
	tcase_add_test(buffers, buffers_grow_with_the_rate);
	tcase_add_test(buffers, a_slow_thread_gets_small_buffers);
	tcase_add_test(life, stop_in_any_order);
	tcase_add_test(life, stop_with_buffers_out);
	tcase_add_test(life, a_fork_child_touches_nothing);
	tcase_add_loop_test(life, out_of_memory_is_a_loss, 0, 3);
	tcase_add_test(life, locked_is_what_is_used);
	tcase_add_test(life, a_context_is_flushed_before_it_goes);
	tcase_add_test(life, the_sender_starts_when_the_driver_is_ready);
	tcase_set_timeout(attribution, 60);
	suite_add_tcase(s, load);
	suite_add_tcase(s, records);
	suite_add_tcase(s, attribution);
	suite_add_tcase(s, buffers);
	suite_add_tcase(s, life);
	return s;
}

int main(void)
{
	return check_run(suite());
}
