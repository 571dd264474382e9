/* SPDX-License-Identifier: MIT */
/* Files of single scopes of single warps (intra/warp_file.h): what is written is read, whole pieces of files that end early or are
 * damaged too, and no bytes are believed. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "check_main.h"
#include "intra/warp_file.h"

#define NONE WARP_TRACE_NO_PARENT

static struct warp_trace t, back;
static struct buf file;
static struct warp_file_end end;

static void setup(void)
{
	ck_assert_int_eq(warp_trace_init(&t), 0);
	ck_assert_int_eq(warp_trace_init(&back), 0);
	buf_init(&file, 0);
}

static void teardown(void)
{
	warp_trace_done(&t);
	warp_trace_done(&back);
	buf_done(&file);
}

static int put(void *ctx, const void *bytes, size_t n)
{
	buf_put(ctx, bytes, n);
	return file.error;
}

struct source {
	const char *data;
	size_t size, at, step;
};

static ssize_t give(void *ctx, void *data, size_t n)
{
	struct source *s = ctx;

	n = MIN(n, s->size - s->at);
	n = MIN(n, s->step);
	memcpy(data, s->data + s->at, n);
	s->at += n;
	return (ssize_t)n;
}

static int read_back(size_t size, size_t step)
{
	struct source s = {.data = file.data, .size = size, .step = step};

	warp_trace_done(&back);
	ck_assert_int_eq(warp_trace_init(&back), 0);
	return warp_file_read(give, &s, &back, &end);
}

static ssize_t broken(void *ctx, void *data, size_t n)
{
	(void)ctx, (void)data, (void)n;
	return -EIO;
}

/* What the first `size` bytes begin with. */
static int read_head(size_t size, uint64_t *ret_n_warps)
{
	struct source s = {.data = file.data, .size = size, .step = SIZE_MAX};

	warp_trace_done(&back);
	ck_assert_int_eq(warp_trace_init(&back), 0);
	return warp_file_head(give, &s, &back, ret_n_warps);
}

static uint32_t process_of(uint32_t i)
{
	const struct warp_trace_process p = {
		.instance = 70 + i % 2, .pid = 7, .rank = i % 2 ? -1 : 3};
	uint32_t process;

	ck_assert_int_eq(warp_trace_process(&t, &p, &process), 0);
	return process;
}

/* n launches of `n_warps` warps with scopes of each kind. Of the first one it is not known whose it is. */
static void sample(uint32_t n, uint32_t n_warps)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t kernel = strtab_adds(t.names, i % 2 ? "gemm" : "softmax");
		const uint32_t load = strtab_adds(t.names, "load");
		const struct warp_trace_scope scopes[] = {
			{.enter = UINT64_MAX - 5,
			 .leave = UINT64_MAX,
			 .parent = NONE,
			 .name = load},
			{.enter = 7, .leave = 7, .parent = 0, .name = load, .is_open = true},
			{.enter = 9, .leave = 3, .parent = NONE, .event = WARP_EVENT_ASYNC},
			{.enter = 8, .leave = 8, .parent = NONE, .event = WARP_EVENT_MARK},
			{.enter = 8,
			 .leave = 8,
			 .parent = 3,
			 .event = WARP_EVENT_VALUE,
			 .value = -.5},
		};

		warp_trace_add_launch(&t,
				      &(struct warp_trace_launch){
					      .kernel = kernel,
					      .symbol = i % 2 ? strtab_add(t.names, "mm_", 3) : 0,
					      .path = strtab_add(t.names, "main\nstep", 9),
					      .launch = UINT64_C(1) << 40 | i,
					      .device = i % 2 ? -1 : 3,
					      .process = i ? process_of(i) : 0,
					      .start_ns = 5,
					      .end_ns = 6,
					      .n_blocks = 1000,
					      .n_block_warps = 4,
					      .n_dropped = i,
				      });
		for (uint32_t w = 0; w < n_warps; w++)
			ck_assert_int_eq(warp_trace_add_warp(&t,
							     &(struct warp_trace_warp){
								     .warp = w,
								     .multiprocessor = 131,
								     .block = UINT64_C(1) << 33,
								     .entered_ns = 1,
								     .left_ns = 2,
								     .copied_ns = 3,
								     .entered_clock = 4,
								     .left_clock = 5,
								     .n_lost = w},
							     scopes, w % 6),
					 0);
	}
}

/* A file of all launches, one after the other as the collector does it. */
static void write_all(void)
{
	struct warp_writer w = {.put = put, .ctx = &file};

	ck_assert_int_eq(warp_writer_begin(&w), 0);
	for (size_t i = 0; i < t.n_launches; i++)
		ck_assert_int_eq(warp_writer_launch(&w, &t, i), 0);
	warp_writer_done(&w);
}

static const char *name_of(const struct warp_trace *trace, uint32_t name)
{
	return strtab_str(trace->names, name);
}

static void same_scope(const struct warp_trace_scope *a, const struct warp_trace_scope *b)
{
	ck_assert_uint_eq(a->enter, b->enter);
	ck_assert_uint_eq(a->leave, b->leave);
	ck_assert_uint_eq(a->parent, b->parent);
	ck_assert_str_eq(name_of(&t, a->name), name_of(&back, b->name));
	ck_assert_int_eq(a->event, b->event);
	ck_assert_int_eq(a->is_open, b->is_open);
	ck_assert_double_eq(a->value, b->value);
}

static void same_warp(size_t i, size_t k)
{
	const struct warp_trace_warp *a = &t.warps[i], *b = &back.warps[k];

	ck_assert_uint_eq(a->warp, b->warp);
	ck_assert_uint_eq(a->multiprocessor, b->multiprocessor);
	ck_assert_uint_eq(a->block, b->block);
	ck_assert_uint_eq(a->entered_ns, b->entered_ns);
	ck_assert_uint_eq(a->left_ns, b->left_ns);
	ck_assert_uint_eq(a->copied_ns, b->copied_ns);
	ck_assert_uint_eq(a->entered_clock, b->entered_clock);
	ck_assert_uint_eq(a->left_clock, b->left_clock);
	ck_assert_uint_eq(a->n_lost, b->n_lost);
	ck_assert_uint_eq(a->n_scopes, b->n_scopes);
	for (size_t s = 0; s < a->n_scopes; s++)
		same_scope(&t.scopes[t.warps[i].scopes + s],
			   &back.scopes[back.warps[k].scopes + s]);
}

/* The first n_warps of a launch are there, and the others count as dropped. */
static void same_launch(size_t i, size_t k, size_t n_warps)
{
	struct warp_trace_launch a = t.launches[i], b = back.launches[k];

	ck_assert_int_eq(!a.process, !b.process);
	if (a.process) {
		const struct warp_trace_process *p = &t.processes[a.process - 1],
						*q = &back.processes[b.process - 1];

		ck_assert_uint_eq(p->instance, q->instance);
		ck_assert_uint_eq(p->pid, q->pid);
		ck_assert_int_eq(p->rank, q->rank);
	}

	ck_assert_str_eq(name_of(&t, a.kernel), name_of(&back, b.kernel));
	ck_assert_str_eq(name_of(&t, a.symbol), name_of(&back, b.symbol));
	ck_assert_str_eq(name_of(&t, a.path), name_of(&back, b.path));
	ck_assert_uint_eq(b.n_warps, n_warps);
	ck_assert_uint_eq(b.n_dropped, a.n_dropped + a.n_warps - n_warps);
	ck_assert_uint_eq(a.launch, b.launch);
	ck_assert_int_eq(a.device, b.device);
	ck_assert_uint_eq(a.start_ns, b.start_ns);
	ck_assert_uint_eq(a.end_ns, b.end_ns);
	ck_assert_uint_eq(a.n_blocks, b.n_blocks);
	ck_assert_uint_eq(a.n_block_warps, b.n_block_warps);
	for (size_t w = 0; w < n_warps; w++)
		same_warp(a.warps + w, b.warps + w);
}

START_TEST(what_is_written_is_read)
{
	sample(5, 12);
	write_all();
	ck_assert(warp_file_detect(file.data, 8));
	ck_assert(!warp_file_detect("WRP", 3));
	for (size_t step = 1; step < 100000; step *= 7) {
		ck_assert_int_eq(read_back(file.len, step), 0);
		ck_assert_uint_eq(end.n_whole, file.len);
		ck_assert_uint_eq(end.n_bytes, file.len);
		ck_assert_uint_eq(back.n_launches, 5);
		for (size_t i = 0; i < 5; i++)
			same_launch(i, i, 12);
	}
}
END_TEST

START_TEST(processes_are_called_so)
{
	static const struct warp_trace_process of[] = {{1, 7, 3}, {2, 8, -1}, {3, 0, -1}};
	static const char *const wanted[] = {"rank 3", "pid 8", ""};
	struct warp_trace_launch l = {.process = 0};
	char text[WARP_PROCESS_TEXT];
	int r = 0;

	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_int_eq(warp_trace_process(&t, &of[i], &l.process), 0);
		ck_assert_uint_eq(l.process, i + 1);
		warp_trace_process_text(&t, &l, text);
		ck_assert_str_eq(text, i ? wanted[i] : ""); /* it is the only one */
	}
	ck_assert_int_eq(warp_trace_process(&t, &of[0], &l.process), 0);
	ck_assert_uint_eq(l.process, 1);
	warp_trace_process_text(&t, &l, text);
	ck_assert_str_eq(text, wanted[0]);
	l.process = 0;
	warp_trace_process_text(&t, &l, text);
	ck_assert_str_eq(text, "");
	for (uint32_t i = 3; r == 0 && i < WARP_PROCESSES_MOST + 5; i++)
		r = warp_trace_process(&t, &(struct warp_trace_process){.pid = i}, &l.process);
	ck_assert_int_eq(r, 0);
	ck_assert_uint_eq(t.n_processes, WARP_PROCESSES_MOST);
	ck_assert_uint_eq(l.process, 0);
}
END_TEST

START_TEST(warps_of_a_launch_fill_many_pieces)
{
	sample(1, 60000);
	write_all();
	ck_assert_uint_gt(file.len, 4 << 20);
	ck_assert_int_eq(read_back(file.len, SIZE_MAX), 0);
	same_launch(0, 0, 60000);
	/* Cut in the middle: the warps of whole pieces. */
	ck_assert_int_eq(read_back(file.len / 2, SIZE_MAX), 0);
	ck_assert_uint_lt(end.n_whole, file.len / 2);
	ck_assert_uint_gt(end.n_whole, file.len / 2 - (2 << 20));
	ck_assert_uint_gt(back.launches[0].n_warps, 10000);
	same_launch(0, 0, back.launches[0].n_warps);
}
END_TEST

START_TEST(files_on_end_are_one)
{
	sample(3, 4);
	write_all();
	write_all();
	ck_assert_int_eq(read_back(file.len, SIZE_MAX), 0);
	ck_assert_uint_eq(back.n_launches, 6);
	for (size_t i = 0; i < 6; i++)
		same_launch(i % 3, i, 4);
}
END_TEST

/* Cut anywhere: whatever comes is as it was. */
START_TEST(a_file_that_ends_early_reads_up_to_there)
{
	size_t last = 0;

	sample(3, 9);
	write_all();
	for (size_t n = 0; n < file.len; n++) {
		int r = read_back(n, SIZE_MAX);

		ck_assert_int_eq(r, n < sizeof(struct warp_file_piece) + 8 ? -EBADMSG : 0);
		if (r < 0)
			continue;
		ck_assert_uint_le(end.n_whole, n);
		ck_assert_uint_eq(end.n_bytes, n);
		ck_assert_uint_ge(back.n_launches, last);
		last = back.n_launches;
		for (size_t i = 0; i < back.n_launches; i++)
			same_launch(i, i, back.launches[i].n_warps);
	}
	ck_assert_uint_eq(last, 3);
}
END_TEST

/* Its launch without its warps, and nothing of what comes behind. */
START_TEST(a_file_says_first_what_it_is_of)
{
	uint64_t n_warps = 0;
	size_t least = 0;

	sample(2, 40);
	write_all();
	while (read_head(least, &n_warps) == -EBADMSG) /* it does not begin as one */
		least++;
	while (read_head(least, &n_warps) == -ENODATA) /* its launch is not whole */
		least++;
	ck_assert_uint_lt(least, file.len / 4);
	for (int i = 0; i < 2; i++, least = file.len) {
		ck_assert_int_eq(read_head(least, &n_warps), 0);
		ck_assert_uint_eq(n_warps, 40);
		ck_assert_uint_eq(back.n_launches, 1);
		ck_assert_uint_eq(back.n_warps, 0);
		ck_assert_str_eq(name_of(&back, back.launches[0].kernel), "softmax");
		ck_assert_uint_eq(back.launches[0].n_dropped, t.launches[0].n_dropped);
	}
	ck_assert_int_eq(warp_file_head(broken, NULL, &back, &n_warps), -EIO);
}
END_TEST

/* A byte that is another: what comes is what was before it. */
START_TEST(no_damaged_byte_is_believed)
{
	sample(2, 5);
	write_all();
	for (size_t i = 0; i < file.len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			int r;

			file.data[i] ^= (char)(1 << bit);
			r = read_back(file.len, SIZE_MAX);
			file.data[i] ^= (char)(1 << bit);
			if (i < sizeof(struct warp_file_piece) + 8) {
				ck_assert_int_eq(r, -EBADMSG);
				continue;
			}
			ck_assert_int_eq(r, 0);
			ck_assert_uint_le(end.n_whole, i);
			for (size_t k = 0; k < back.n_launches; k++)
				same_launch(k, k, back.launches[k].n_warps);
		}
}
END_TEST

START_TEST(another_version_is_refused)
{
	struct warp_writer w = {.put = put, .ctx = &file};
	struct warp_file_piece head;
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	const uint64_t words[] = {WARP_FILE_BEGIN | UINT64_C(8) << 32, WARP_FILE_VERSION + 1};

	warp_writer_begin(&w);
	warp_writer_done(&w);
	/* The checksum as the header has it. */
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		h = (h ^ words[i]) * UINT64_C(0x100000001b3);
		h ^= h >> 32;
	}
	memcpy(&head, file.data, sizeof(head));
	head.checksum = h;
	memcpy(file.data, &head, sizeof(head));
	memcpy(file.data + sizeof(head), &words[1], sizeof(words[1]));
	ck_assert_int_eq(read_back(file.len, SIZE_MAX), -EPROTONOSUPPORT);
}
END_TEST

START_TEST(launches_that_were_not_kept_are_counted)
{
	struct warp_writer w = {.put = put, .ctx = &file};

	warp_writer_begin(&w);
	ck_assert_int_eq(warp_writer_lost(&w, 40), 0);
	ck_assert_int_eq(warp_writer_lost(&w, 2), 0);
	warp_writer_done(&w);
	ck_assert_int_eq(read_back(file.len, SIZE_MAX), 0);
	ck_assert_uint_eq(back.n_left_out, 42);
}
END_TEST

static int full(void *ctx, const void *bytes, size_t n)
{
	(void)ctx, (void)bytes, (void)n;
	return -ENOSPC;
}

START_TEST(errors_come_through)
{
	struct warp_writer w = {.put = full};

	ck_assert_int_eq(warp_file_read(broken, NULL, &back, &end), -EIO);
	ck_assert_int_eq(warp_writer_begin(&w), -ENOSPC);
	warp_writer_done(&w);
}
END_TEST

START_TEST(a_profile_has_one_beside_it)
{
	static const char *const names[][2] = {
		{"run.hatchet", "run.warps"},
		{"run.warps", "run.warps"},
		{"run", "run.warps"},
		{"a.b/run", "a.b/run.warps"},
		{"a.b/run.3.hatchet", "a.b/run.3.warps"},
		{"/tmp/.hidden", "/tmp/.hidden.warps"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *beside = warp_file_beside(names[i][0]);

		ck_assert_str_eq(beside, names[i][1]);
		free(beside);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("warp_file");
	TCase *tc = tcase_create("warp_file");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_is_written_is_read);
	tcase_add_test(tc, processes_are_called_so);
	tcase_add_test(tc, warps_of_a_launch_fill_many_pieces);
	tcase_add_test(tc, files_on_end_are_one);
	tcase_add_test(tc, a_file_that_ends_early_reads_up_to_there);
	tcase_add_test(tc, a_file_says_first_what_it_is_of);
	tcase_add_test(tc, no_damaged_byte_is_believed);
	tcase_add_test(tc, another_version_is_refused);
	tcase_add_test(tc, launches_that_were_not_kept_are_counted);
	tcase_add_test(tc, errors_come_through);
	tcase_add_test(tc, a_profile_has_one_beside_it);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
