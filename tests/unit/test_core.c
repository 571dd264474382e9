/* SPDX-License-Identifier: MIT */
/* Tests of base and core: strings, histograms, the session's tree, rows, snapshots. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/human.h"
#include "base/loaded.h"
#include "base/order.h"
#include "base/strtab.h"
#include "base/util.h"
#include "check_main.h"
#include "core/activity.h"
#include "core/coverage.h"
#include "core/hidden.h"
#include "core/row_tables.h"
#include "core/session.h"
#include "core/flat.h"
#include "core/metadata.h"
#include "core/snapshot.h"

START_TEST(strings_are_interned)
{
	struct strtab *t = strtab_new();
	char name[16];
	uint32_t i;

	ck_assert_uint_eq(strtab_adds(t, ""), 0);
	for (i = 1; i < 5000; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		ck_assert_uint_eq(strtab_adds(t, name), i);
	}
	ck_assert_uint_eq(strtab_adds(t, "s4321"), 4321);
	ck_assert_str_eq(strtab_str(t, 77), "s77");
	ck_assert_uint_eq(strtab_find(t, "no", 2), STRTAB_NONE);
	ck_assert_uint_ne(strtab_add(t, "a\0b", 3), strtab_add(t, "a\0c", 3));
	strtab_free(t);

	t = strtab_new();
	strtab_limit(t, 10);
	ck_assert_uint_eq(strtab_adds(t, "1234"), 1);
	ck_assert_uint_eq(strtab_adds(t, "56789"), STRTAB_NONE);
	ck_assert(strtab_is_full(t));
	ck_assert_uint_eq(strtab_adds(t, "1234"), 1); /* which costs nothing */
	strtab_limit(t, 0);
	ck_assert_uint_eq(strtab_adds(t, "56789"), 2);
	strtab_free(t);
}
END_TEST

/* Few are compared, many go by digits, and those whose ids do not grow are compared again. */
static void check_order(size_t n, uint32_t id_step, bool ascending)
{
	static const double values[] = {0,    -0.0, 1,    NAN,      -1,  1e300, -1e300, 5e-324,
					1e17, 2.5,  -2.5, INFINITY, NAN, 1,     0.1,    -INFINITY};
	struct order_entry *v = malloc(n * sizeof(*v));
	uint64_t seen = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = (struct order_entry){i % 3 ? values[i * 7 % ARRAY_SIZE(values)]
						  : (double)(i * 7919 % 1000),
					    (uint32_t)i * id_step};
	order_sort(v, n, ascending);
	for (size_t i = 1; i < n; i++)
		ck_assert_int_lt(order_compare(&v[i - 1], &v[i], ascending), 0);
	for (size_t i = 0; i < n; i++)
		seen += v[i].id;
	ck_assert(isnan(v[n - 1].value));
	ck_assert(v[0].value == (ascending ? -INFINITY : INFINITY));
	ck_assert_uint_eq(id_step == 1 ? seen : (uint64_t)n * (n - 1) / 2,
			  (uint64_t)n * (n - 1) / 2);
	free(v);
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Texts are told apart by their hashes alone where names are shortened and identities of traces read. */
START_TEST(hashes_of_short_texts_differ)
{
	static const char *const behind[] = {"", "1234567", "12345678"};
	enum { N_NUMBERS = 200000, N_REPEATED = 9, N = N_NUMBERS + N_REPEATED * 10 };
	static uint64_t hashes[N];
	char text[40];

	for (size_t k = 0; k < ARRAY_SIZE(behind); k++) {
		size_t n = 0;

		for (int i = 0; i < N_NUMBERS; i++) {
			snprintf(text, sizeof(text), "%d%s", i, behind[k]);
			hashes[n++] = hash_bytes(text, strlen(text));
		}
		for (int len = 1; len <= N_REPEATED; len++) /* as "01111" and "1111" */
			for (char c = '0'; c <= '9'; c++) {
				snprintf(text, sizeof(text), "0%.*s%s", len, "_________",
					 behind[k]);
				memset(text + 1, c, (size_t)len);
				hashes[n++] = hash_bytes(text, strlen(text));
			}
		qsort(hashes, n, sizeof(*hashes), compare_u64);
		for (size_t i = 1; i < n; i++)
			ck_assert_msg(hashes[i] != hashes[i - 1], "before '%s'", behind[k]);
	}
}
END_TEST

START_TEST(characters_are_utf8)
{
	static const struct {
		uint32_t c;
		const char *text;
	} cases[] = {
		{'a', "a"},
		{0x7f, "\x7f"},
		{0x80, "\xc2\x80"},
		{0x7ff, "\xdf\xbf"},
		{0x800, "\xe0\xa0\x80"},
		{0xffff, "\xef\xbf\xbf"},
		{0x10000, "\xf0\x90\x80\x80"},
		{0x10ffff, "\xf4\x8f\xbf\xbf"},
		{0xd800, "\xef\xbf\xbd"}, /* one half of a pair, and beyond the last */
		{0x110000, "\xef\xbf\xbd"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char out[4];

		ck_assert_uint_eq(utf8_put(out, cases[i].c), strlen(cases[i].text));
		ck_assert_mem_eq(out, cases[i].text, strlen(cases[i].text));
	}
}
END_TEST

START_TEST(values_are_put_in_order)
{
	static const size_t sizes[] = {100, 2048, 2049, 100003};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (unsigned ascending = 0; ascending < 2; ascending++) {
			check_order(sizes[i], 1, ascending);
			check_order(sizes[i], UINT32_MAX, ascending);
		}
	order_sort(NULL, 0, false);
}
END_TEST

/* Covered time of 4096 ns by a bit a ns. */
static uint64_t bits_covered(const uint8_t *bit)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < 4096; i++)
		n += bit[i];
	return n;
}

/* Several streams, each in order, one running ahead of the others: as a bit map says. */
static int libc_exports(const struct dl_phdr_info *info, const char *base, void *n)
{
	const char *(*version)(void) = gnu_get_libc_version;
	void *is = loaded_symbol(info, "gnu_get_libc_version");

	(void)base;
	ck_assert(loaded_has(info, is));
	ck_assert(!loaded_has(info, &is));
	ck_assert_mem_eq(&is, &version, sizeof(is));
	ck_assert_ptr_null(loaded_symbol(info, "no_such_function"));
	++*(int *)n;
	return 0;
}

/* It asks for it, and has none itself. */
static int others_do_not(const struct dl_phdr_info *info, const char *base, void *n)
{
	if (strncmp(base, "libc.so", 7) != 0)
		ck_assert_msg(!loaded_symbol(info, "gnu_get_libc_version"), "%s", base);
	++*(int *)n;
	return 0;
}

START_TEST(libraries_have_symbols)
{
	int n = 0, all = 0;

	loaded_each("libc.so", libc_exports, &n);
	ck_assert_int_eq(n, 1);
	loaded_each("", others_do_not, &all);
	ck_assert_int_gt(all, 1);
}
END_TEST

START_TEST(coverage_is_the_union)
{
	struct span room[2 * 512], run[40];
	struct coverage c;
	uint8_t bit[4096];
	uint64_t at[3];
	unsigned round, i, n, k;

	srand(7);
	for (round = 0; round < 300; round++) {
		coverage_init(&c, room, 512);
		memset(bit, 0, sizeof(bit));
		memset(at, 0, sizeof(at));
		for (k = 0; k < 30; k++) {
			uint64_t *t = &at[(unsigned)rand() % 3];

			for (n = 0; n < 1 + k % 40 && *t < 4000; n++) {
				run[n].start = *t + (unsigned)rand() % 6;
				run[n].end = run[n].start + (unsigned)rand() % 9;
				*t = run[n].end;
				for (i = (unsigned)run[n].start; i < run[n].end; i++)
					bit[i] = 1;
			}
			coverage_add(&c, run, n);
			ck_assert_uint_eq(c.covered_ns, bits_covered(bit));
		}
	}
}
END_TEST

/* More pieces than are kept: exact while they come in order; what comes too late adds nothing. */
START_TEST(coverage_is_bounded)
{
	struct span room[2 * 16], late = {5, 900}, one;
	struct coverage c;
	uint64_t i;

	coverage_init(&c, room, 16);
	for (i = 0; i < 1000; i++) {
		one = (struct span){1000 + 10 * i, 1004 + 10 * i};
		coverage_add(&c, &one, 1);
		ck_assert_uint_le(c.n, 16);
	}
	ck_assert_uint_eq(c.covered_ns, 4000);
	coverage_add(&c, &late, 1);
	ck_assert_uint_eq(c.covered_ns, 4000);
	one = (struct span){900, 20000}; /* the rest of time is covered by it */
	coverage_add(&c, &one, 1);
	ck_assert_uint_eq(c.n, 1);
	ck_assert_uint_gt(c.covered_ns, 4000 + 9000);
}
END_TEST

/* Bits of two kinds, 4096 ns of each. */
struct bits {
	uint8_t of[2][4096];
};

static void bits_check(const struct bits *b, const struct overlap *o)
{
	uint64_t n[2] = {0}, either = 0, both = 0;

	for (unsigned i = 0; i < 4096; i++) {
		n[0] += b->of[0][i];
		n[1] += b->of[1][i];
		either += b->of[0][i] | b->of[1][i];
		both += b->of[0][i] & b->of[1][i];
	}
	ck_assert_uint_eq(o->either.covered_ns, either);
	ck_assert_uint_eq(overlap_both_ns(o), both);
	if (!o->is_told_apart)
		return;
	ck_assert_uint_eq(o->first.covered_ns, n[0]);
	ck_assert_uint_eq(o->second.covered_ns, n[1]);
}

/* Streams of both kinds, of which one runs ahead, as bit maps say: also where there is no room for all pieces,
 * and what lies before those that were given up counts in none. */
START_TEST(overlap_is_what_both_cover)
{
	static struct bits b;
	struct span room[OVERLAP_SPANS * 512], split[40], run[40];
	uint32_t max = _i ? 80 : 512;
	bool is_second[40];
	struct overlap o;
	uint64_t at[3];
	unsigned round, n, k, n_forgot = 0;

	srand(7);
	for (round = 0; round < 300; round++) {
		overlap_init(&o, room, max);
		memset(&b, 0, sizeof(b));
		memset(at, 0, sizeof(at));
		for (k = 0; k < 30; k++) {
			unsigned stream = (unsigned)rand() % 3;
			uint64_t *t = &at[stream];

			for (n = 0; n < 1 + k % 40 && *t < 4000; n++) {
				run[n].start = *t + (unsigned)rand() % 6;
				run[n].end = run[n].start + (unsigned)rand() % 9;
				*t = run[n].end;
				/* The first come alone; one stream has both kinds. */
				is_second[n] = k > round % 30 && (stream == 1 || rand() % 8 == 0);
			}
			overlap_add(&o, run, is_second, n, split);
			for (unsigned i = 0; i < n; i++)
				for (uint64_t ns = MAX(run[i].start, o.either.floor);
				     ns < run[i].end; ns++)
					b.of[is_second[i]][ns] = 1;
			if (o.is_told_apart || !o.either.floor)
				bits_check(&b, &o);
			n_forgot += o.either.floor > 0;
		}
	}
	ck_assert(_i ? n_forgot > 0 : n_forgot == 0);
}
END_TEST

/* Time that was covered before counts in none: no part is more than the whole. */
START_TEST(overlap_begins_anew)
{
	struct span room[OVERLAP_SPANS * 16], split[1];
	const struct span first = {1000, 2000}, second = {1500, 2500}, again = {1800, 2700},
			  last = {2600, 2800};
	const bool no = false, yes = true;
	struct overlap o;

	overlap_init(&o, room, 16);
	overlap_add(&o, &first, &no, 1, split);
	overlap_reset(&o);
	overlap_add(&o, &second, &yes, 1, split);
	ck_assert_uint_eq(o.either.covered_ns, 500);
	ck_assert_uint_eq(o.second.covered_ns, 500);
	ck_assert_uint_eq(overlap_both_ns(&o), 0);
	overlap_reset(&o);
	overlap_add(&o, &again, &no, 1, split);
	ck_assert_uint_eq(o.either.covered_ns, 200);
	ck_assert_uint_eq(overlap_both_ns(&o), 0);
	overlap_add(&o, &last, &yes, 1, split);
	ck_assert_uint_eq(o.either.covered_ns, 300);
	ck_assert_uint_eq(o.first.covered_ns, 200);
	ck_assert_uint_eq(o.second.covered_ns, 200);
	ck_assert_uint_eq(overlap_both_ns(&o), 100);
}
END_TEST

/* Copies of three lanes and what else runs, in any order, as bit maps say: what others have forgotten counts for no lane any
 * more; where a lane forgets, no more is missing than it says. */
START_TEST(hidden_is_what_lanes_and_others_cover)
{
	enum { N_LANES = 3, END = 4000, RUN = 20 };
	static uint8_t others[4096], lane[N_LANES][4096];
	struct span room[OVERLAP_SPANS * 2048], own[N_LANES][512], scratch[512], run[RUN],
		split[RUN], picked[RUN];
	uint32_t max = _i == 1 ? 64 : 2048, max_lane = _i == 2 ? 48 : 512;
	unsigned n_forgot = 0, n_late = 0;

	srand(11 + (unsigned)_i);
	for (unsigned round = 0; round < 200; round++) {
		struct hidden h[N_LANES];
		struct overlap o;
		uint64_t at[5] = {0};

		overlap_init(&o, room, max);
		memset(others, 0, sizeof(others));
		memset(lane, 0, sizeof(lane));
		for (unsigned l = 0; l < N_LANES; l++)
			hidden_init(&h[l], own[l], scratch, max_lane);
		for (unsigned k = 0; k < 120; k++) {
			unsigned stream = (unsigned)rand() % 5, n = 0, of[RUN];
			bool is_copy[RUN];
			uint64_t from, to = 0;

			for (; n < 1 + k % RUN && at[stream] < END; n++) {
				run[n].start = at[stream] + (unsigned)rand() % 6;
				run[n].end = run[n].start + (unsigned)rand() % 9;
				at[stream] = run[n].end;
				is_copy[n] = stream && k > round % 20 && rand() % 3;
				of[n] = (stream + (rand() % 4 == 0)) % N_LANES;
				to = MAX(to, run[n].end);
			}
			if (!n)
				continue;
			from = run[0].start;
			overlap_make_room(&o, n);
			for (unsigned l = 0; l < N_LANES; l++)
				hidden_before(&h[l], overlap_first(&o), from, to);
			overlap_add(&o, run, is_copy, n, split);
			for (unsigned l = 0; l < N_LANES; l++)
				hidden_after(&h[l], overlap_first(&o), from, to);
			for (unsigned i = 0; i < n; i++)
				for (uint64_t ns = MAX(run[i].start, overlap_first(&o)->floor);
				     !is_copy[i] && ns < run[i].end; ns++)
					others[ns] = 1;
			for (unsigned l = 0; l < N_LANES; l++) {
				unsigned n_picked = 0;

				for (unsigned i = 0; i < n; i++)
					if (is_copy[i] && of[i] == l)
						picked[n_picked++] = run[i];
				if (!n_picked)
					continue;
				hidden_add(&h[l], overlap_first(&o), picked, n_picked);
				for (unsigned i = 0; i < n_picked; i++)
					for (uint64_t ns = MAX(picked[i].start, h[l].lane.floor);
					     ns < picked[i].end; ns++)
						lane[l][ns] = 1;
			}
			n_forgot += o.either.floor > 0;
			for (unsigned l = 0; l < N_LANES; l++) {
				uint64_t copies = 0, both = 0;

				for (unsigned ns = 0; ns < sizeof(others); ns++) {
					copies += lane[l][ns];
					both += lane[l][ns] & others[ns];
				}
				ck_assert_uint_eq(hidden_copies_ns(&h[l]), copies);
				ck_assert_uint_le(h[l].hidden_ns, both);
				ck_assert_uint_ge(h[l].hidden_ns + h[l].late_ns, both);
				n_late += h[l].hidden_ns != both;
				ck_assert(_i == 2 || h[l].hidden_ns == both);
			}
		}
	}
	ck_assert((_i == 1) == (n_forgot > 0));
	ck_assert((_i == 2) == (n_late > 0));
}
END_TEST

/* What is over by then is in no number any more, whenever it is told. */
START_TEST(hidden_begins_anew)
{
	struct span room[OVERLAP_SPANS * 16], own[16], scratch[16], split[1];
	const struct span copy = {1000, 2000}, other = {1500, 2500}, late = {1000, 2600};
	const bool no = false;
	struct overlap o;
	struct hidden h;

	overlap_init(&o, room, 16);
	hidden_init(&h, own, scratch, 16);
	overlap_add(&o, &other, &no, 1, split);
	hidden_add(&h, overlap_first(&o), &copy, 1);
	ck_assert_uint_eq(h.hidden_ns, 500);
	hidden_reset(&h, 2500);
	overlap_reset(&o);
	ck_assert_uint_eq(hidden_copies_ns(&h) + h.hidden_ns + h.late_ns, 0);
	hidden_before(&h, overlap_first(&o), 1000, 2600);
	overlap_add(&o, &late, &no, 1, split);
	hidden_after(&h, overlap_first(&o), 1000, 2600);
	hidden_add(&h, overlap_first(&o), &late, 1);
	ck_assert_uint_eq(hidden_copies_ns(&h), 100);
	ck_assert_uint_eq(h.hidden_ns, 100);
	ck_assert_uint_eq(h.late_ns, 0);
}
END_TEST

START_TEST(numbers_for_people)
{
	static const struct {
		double ns;
		const char *text;
	} times[] = {{-1e308, "-1e+294d"}, {0, "0ns"},           {804e3, "804us"},
		     {42.6e9, "42.60s"},   {999.6, "1.00us"},    {1.55e6, "1.55ms"},
		     {3725e9, "62m05s"},   {36000e9, "10h00m"},  {-999e9, "-999s"},
		     {999.7e9, "16m40s"},  {5999.4e9, "99m59s"}, {-359999e9, "-99h59m"},
		     {440000e9, "5d02h"},  {8640000e9, "100d"},  {NAN, "-"}};
	static const struct {
		double n;
		const char *text;
	} counts[] = {{0, "0"},   {7488, "7488"},      {233100, "233K"}, {1.5e6, "1.50M"},
		      {NAN, "-"}, {-1e308, "-1e+308"}, {998e18, "998E"}, {1e21, "1e+21"}};
	char out[HUMAN_MAX], things[HUMAN_THINGS_MAX];
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		human_time_ns(out, times[i].ns);
		ck_assert_str_eq(out, times[i].text);
	}
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		human_count(out, counts[i].n);
		ck_assert_str_eq(out, counts[i].text);
	}
	human_things(things, 1, "kernel");
	ck_assert_str_eq(things, "1 kernel");
	human_things(things, 0, "kernel");
	ck_assert_str_eq(things, "0 kernels");
	human_things(things, -1e308, "sixteen letters!");
	ck_assert_str_eq(things, "-1e+308 sixteen letters!s");
}
END_TEST

START_TEST(bins_tile_the_line)
{
	for (unsigned b = 0; b + 1 < HIST_BINS; b++) {
		double start = (double)hist_bin_start(b), end = (double)hist_bin_start(b + 1);

		ck_assert_uint_eq(hist_bin(hist_bin_start(b)), b);
		ck_assert_uint_eq(hist_bin(hist_bin_start(b + 1) - 1), b);
		ck_assert(end - start <= 1 || (end - start) / start <= 1.0 / 32);
	}
	ck_assert_uint_eq(hist_bin(UINT64_MAX), HIST_BINS - 1);
}
END_TEST

/* Wherever in its bin each execution is, and however many there are. */
START_TEST(percentiles_are_near)
{
	struct hist_sums sums = {0};

	for (uint64_t start = 20; start < UINT64_C(1) << 39; start = start * 9 / 8) {
		uint64_t end = hist_bin_start(hist_bin(start) + 1) - 1;

		for (unsigned n = 1; n <= 1000; n *= 10) {
			hist_sums_clear(&sums);
			hist_sums_count(&sums, hist_bin(start), n);
			for (double share = 0; share <= 1; share += 0.1) {
				double ns = hist_quantile(&sums, share, NAN, NAN);

				ck_assert_double_le(
					fabs(ns / (double)hist_bin_start(hist_bin(start)) - 1),
					0.03);
				ck_assert_double_le(fabs(ns / (double)end - 1), 0.03);
			}
		}
	}
	hist_sums_clear(&sums);
	ck_assert_double_eq(hist_quantile(&sums, 0.5, NAN, NAN), 0);
}
END_TEST

/* A histogram keeps what fell in it, in whatever order it came. */
START_TEST(histograms_add_up)
{
	static const uint64_t took[] = {UINT64_MAX, 5, 1000, 3, 1001, 999999, 1000};
	struct hist h = {0}, twice = {0};
	struct hist_sums sums = {0};

	for (size_t i = 0; i < ARRAY_SIZE(took); i++)
		ck_assert_int_eq(hist_count(&h, hist_bin(took[i]), 1), 0);
	for (size_t i = 1; i < h.n; i++)
		ck_assert_uint_lt(h.v[i - 1].octave, h.v[i].octave);
	ck_assert_uint_eq(hist_total(&h), ARRAY_SIZE(took));
	ck_assert_int_eq(hist_merge(&twice, &h), 0);
	ck_assert_int_eq(hist_merge(&twice, &h), 0);
	hist_sums_add(&sums, &twice);
	ck_assert_uint_eq(hist_sums_total(&sums), 2 * ARRAY_SIZE(took));
	ck_assert_uint_eq(sums.n[hist_bin(1000)], 6); /* with 1001: of one bin */
	ck_assert_int_eq(hist_count(&twice, hist_bin(5), UINT32_MAX), 0);
	hist_sums_add(&sums, &twice);
	ck_assert_uint_eq(sums.n[5], UINT32_MAX);
	hist_done(&h);
	hist_done(&twice);
}
END_TEST

/* Of older files: all are there, within their bucket, and half of them in its first half. */
START_TEST(old_buckets_are_spread)
{
	static const struct {
		unsigned bucket;
		uint64_t start, end;
	} old[] = {{3, 3, 4}, {16, 16, 20}, {20, 32, 40}, {39, 896, 1024}, {40, 1024, 1280}};

	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		struct hist_sums sums = {0};
		struct hist h = {0};
		double p50;

		ck_assert_int_eq(hist_count_old(&h, old[i].bucket, 1001), 0);
		hist_sums_add(&sums, &h);
		ck_assert_uint_eq(hist_sums_total(&sums), 1001);
		for (unsigned b = 0; b < HIST_BINS; b++)
			ck_assert(!sums.n[b] || (hist_bin_start(b) >= old[i].start &&
						 hist_bin_start(b) < old[i].end));
		p50 = hist_quantile(&sums, 0.5, NAN, NAN);
		ck_assert_double_eq_tol(p50, (double)(old[i].start + old[i].end) / 2,
					1 + (double)(old[i].end - old[i].start) / 50);
		hist_done(&h);
	}
}
END_TEST

START_TEST(texts_do_not_add_up)
{
	struct metric_table *t = metric_table_new();
	const struct metric *m =
		metric_table_get(t, metric_table_add(t, &(struct metric){.name = "note",
									 .type = METRIC_TEXT,
									 .scope = METRIC_INCLUSIVE,
									 .add = METRIC_SUM,
									 .weight = METRIC_NONE}));

	ck_assert_uint_eq(m->scope, METRIC_PROPERTY);
	ck_assert_uint_eq(m->add, METRIC_LAST);
	metric_table_free(t);
}
END_TEST

/* Half of two executions is the shorter one; the ends are known to the nanosecond. */
START_TEST(percentiles_of_few)
{
	struct hist_sums sums = {0};

	hist_sums_count(&sums, hist_bin(1000), 1);
	hist_sums_count(&sums, hist_bin(9000), 1);
	ck_assert_double_eq(hist_quantile(&sums, 0.5, 1000, 9000), 1000);
	ck_assert_double_eq(hist_quantile(&sums, 0.51, 1000, 9000), 9000);
	ck_assert_double_eq(hist_quantile(&sums, 0, 1000, 9000), 1000);
	ck_assert_double_eq(hist_quantile(&sums, 1, 1000, 9000), 9000);
	ck_assert_uint_eq(hist_bin((uint64_t)hist_quantile(&sums, 0.5, NAN, NAN)), hist_bin(1000));
	hist_sums_count(&sums, hist_bin(4000), 98);
	ck_assert_uint_eq(hist_bin((uint64_t)hist_quantile(&sums, 0.01, NAN, NAN)), hist_bin(1000));
	ck_assert_uint_eq(hist_bin((uint64_t)hist_quantile(&sums, 0.07, NAN, NAN)), hist_bin(4000));
	ck_assert_uint_eq(hist_bin((uint64_t)hist_quantile(&sums, 0.99, NAN, NAN)), hist_bin(4000));
	/* the shortest and the longest of more than these */
	ck_assert_uint_eq(hist_bin((uint64_t)hist_quantile(&sums, 1, 10, 90000)), hist_bin(9000));
}
END_TEST

START_TEST(transfers_have_one_name_a_direction_and_kind)
{
	struct activity a = {.kind = ACTIVITY_COPY,
			     .direction = COPY_HOST_TO_DEVICE,
			     .src_kind = MEMORY_PINNED,
			     .dst_kind = MEMORY_DEVICE};
	char name[48], tiny[8];

	activity_transfer_name(&a, name, sizeof(name));
	ck_assert_str_eq(name, "memcpy HtoD pinned");
	a.direction = COPY_DEVICE_TO_DEVICE;
	activity_transfer_name(&a, name, sizeof(name));
	ck_assert_str_eq(name, "memcpy DtoD");
	a.kind = ACTIVITY_SET;
	a.src_kind = MEMORY_DEVICE;
	activity_transfer_name(&a, name, sizeof(name));
	ck_assert_str_eq(name, "memset device");
	activity_transfer_name(&a, tiny, sizeof(tiny));
	ck_assert_str_eq(tiny, "memset ");
	a = (struct activity){.kind = ACTIVITY_COPY,
			      .direction = COPY_PEER_TO_PEER,
			      .src_device = 12,
			      .src_kind = MEMORY_DEVICE};
	activity_transfer_name(&a, name, sizeof(name));
	ck_assert_str_eq(name, "memcpy PtoP 12 to 0");
	ck_assert_uint_eq(copy_direction_of(name), COPY_PEER_TO_PEER);
	ck_assert_uint_eq(copy_direction_of("Memcpy HtoD (Pinned -> Device)"), COPY_HOST_TO_DEVICE);
	ck_assert_uint_eq(copy_direction_of("CopyDeviceToHost"), COPY_DEVICE_TO_HOST);
	ck_assert_uint_eq(copy_direction_of("memset device"), COPY_UNKNOWN);
}
END_TEST

/* From one power of two on to the next. */
START_TEST(copies_have_one_size)
{
	static const struct {
		uint64_t bytes;
		const char *name;
	} cases[] = {{0, "copies_below_1KiB"},      {1023, "copies_below_1KiB"},
		     {1024, "copies_of_1KiB"},      {2047, "copies_of_1KiB"},
		     {2048, "copies_of_2KiB"},      {(1 << 20) - 1, "copies_of_512KiB"},
		     {1 << 20, "copies_of_1MiB"},   {(1 << 30) - 1, "copies_of_512MiB"},
		     {1 << 30, "copies_from_1GiB"}, {UINT64_MAX, "copies_from_1GiB"}};
	struct metric_table *t = metric_table_new();
	char bytes[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned size = copy_size(cases[i].bytes);

		ck_assert_str_eq(metric_table_get(t, metric_of_copies(size))->name, cases[i].name);
		snprintf(bytes, sizeof(bytes), "%s_bytes", cases[i].name);
		ck_assert_str_eq(metric_table_get(t, metric_of_copied_bytes(size))->name, bytes);
		ck_assert(metric_is_of_sizes(metric_of_copied_bytes(size)));
	}
	ck_assert(!metric_is_of_sizes(METRIC_REMOTE));
	metric_table_free(t);
}
END_TEST

static const struct {
	struct launch_shape shape;
	const char *text;
} shapes[] = {
	{{{0}, {0}}, ""},
	{{{1, 1, 1}, {1, 1, 1}}, "<<<1,1>>>"},
	{{{128, 4, 1}, {256, 1, 1}}, "<<<128x4,256>>>"},
	{{{1, 1, 7}, {32, 8, 1}}, "<<<1x1x7,32x8>>>"},
	{{{65536, 1, 1}, {0, 0, 0}}, "<<<65536,?>>>"},
	{{{UINT32_MAX, UINT32_MAX, UINT32_MAX}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}},
	 "<<<4294967295x4294967295x4294967295,4294967295x4294967295x4294967295>>>"},
};

START_TEST(shape_of_a_launch)
{
	char text[ACTIVITY_SHAPE_MAX], name[ACTIVITY_SHAPE_MAX + 16];

	activity_shape(&shapes[_i].shape, text);
	ck_assert_str_eq(text, shapes[_i].text);
	snprintf(name, sizeof(name), "gemm<float>%s", text);
	ck_assert_uint_eq(activity_bare_len(name, strlen(name)), strlen("gemm<float>"));
}
END_TEST

/* Names that have no shape at their end stay whole. */
START_TEST(names_without_a_shape)
{
	static const char *const names[] = {"",     ">>>",        "<<<>>",      "a<b<c<int>>>",
					    "<<<x", "k<<<f,2>>>", "k<<<1,2>>> "};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_uint_eq(activity_bare_len(names[i], strlen(names[i])), strlen(names[i]));
}
END_TEST

/* One kernel row: time, count, min, max. */
static void add_kernel(struct session *s, uint32_t node, uint32_t lane, uint64_t time,
		       uint64_t count, uint64_t min, uint64_t max)
{
	uint32_t row = session_row_intern(s, node, lane, 0, SET_KERNEL);
	const uint64_t v[] = {time, count, min, max};
	unsigned i;

	for (i = 0; i < 4; i++)
		session_row_set(s, row, i, (union metric_value){.u64 = v[i]});
}

/* ROOT > forward > k1 (two lanes), k2; ROOT > k1. forward has flops. */
static struct session *make_session(void)
{
	struct session *s = session_new();
	struct session_lane lane = {session_process_add(s, 7), SESSION_NONE, 1, 7, 100};
	struct session_device device = {.type = strtab_adds(s->strings, "CUDA"), .index = 0};
	uint32_t forward, l0, l1;

	lane.device = session_device_intern(s, &device);
	l0 = session_lane_intern(s, &lane);
	lane.stream = 8;
	l1 = session_lane_intern(s, &lane);
	forward = session_node(s, SESSION_ROOT, FRAME_SCOPE, "forward");
	add_kernel(s, session_node(s, forward, FRAME_KERNEL, "k1"), l0, 100, 2, 40, 60);
	add_kernel(s, session_node(s, forward, FRAME_KERNEL, "k1"), l1, 50, 1, 50, 50);
	add_kernel(s, session_node(s, forward, FRAME_KERNEL, "k2"), l0, 10, 1, 10, 10);
	add_kernel(s, session_node(s, SESSION_ROOT, FRAME_KERNEL, "k1"), l0, 5, 1, 5, 5);
	session_add(s, forward, l0, 0, METRIC_FLOPS16, (union metric_value){.f64 = 2000});
	return s;
}

static double value(struct snapshot *snap, uint32_t metric, bool inclusive, const char *path_end)
{
	uint32_t i;

	for (i = 0; i < snapshot_n(snap); i++)
		if (!strcmp(snapshot_name(snap, i, NAME_RAW), path_end))
			return snapshot_column(snap, metric, inclusive)->v[i];
	return -1;
}

START_TEST(snapshot_rolls_up)
{
	struct session *s = make_session();
	struct snapshot_spec spec = {0};
	struct snapshot *snap = snapshot_new(s, &spec);
	struct numbers *numbers = numbers_new(snap, NULL);
	struct flat *flat = flat_new(numbers, true);

	ck_assert_int_eq(snapshot_update(snap, 1000), 0);
	numbers_update(numbers, NULL);
	ck_assert(value(snap, METRIC_TIME, true, "ROOT") == 165);
	ck_assert(value(snap, METRIC_TIME, true, "forward") == 160);
	ck_assert(isnan(value(snap, METRIC_TIME, false, "forward")));
	ck_assert(value(snap, METRIC_COUNT, true, "ROOT") == 5);
	ck_assert(value(snap, METRIC_TIME_MIN, true, "ROOT") == 5);
	ck_assert(value(snap, METRIC_TIME_MAX, true, "forward") == 60);
	ck_assert(isnan(value(snap, METRIC_BYTES, true, "ROOT")));
	ck_assert(derive_raw(numbers_derive(numbers), METRIC_ANY_FLOPS, true)[0] == 2000);
	ck_assert_int_eq(flat_update(flat), 0);
	ck_assert_uint_eq(flat_n(flat), 2);
	ck_assert_str_eq(snapshot_name(snap, flat_row(flat, 0)->node, NAME_SHORT), "k1");
	ck_assert(flat_usual(flat, 0, USUAL_SELF) == 155 && flat_usual(flat, 0, USUAL_CALLS) == 4);
	ck_assert(flat_usual(flat, 0, USUAL_MIN) == 5 && flat_usual(flat, 0, USUAL_MAX) == 60);
	flat_free(flat);
	numbers_free(numbers);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

/* Captured, launched never: no row, but where the other side of a pair may have run it. What has no time, but was counted,
 * or said something, is one. */
START_TEST(what_never_ran_is_no_kernel)
{
	struct session *s = make_session();
	struct snapshot_spec spec = {0};
	struct snapshot *snap = snapshot_new(s, &spec);
	struct numbers *numbers = numbers_new(snap, NULL);
	uint32_t captured = session_node(s, SESSION_ROOT, FRAME_SCOPE, "capture"),
		 said = session_node(s, captured, FRAME_KERNEL, "k4");

	session_node(s, captured, FRAME_KERNEL, "k3");
	session_node(s, captured, FRAME_KERNEL, "k2");
	session_add(s, said, 0, 0, METRIC_FLOPS16, (union metric_value){.f64 = _i == 2 ? 7 : 0});
	ck_assert_int_eq(snapshot_update(snap, 1000), 0);
	numbers_update(numbers, NULL);
	for (unsigned alone = 0; alone < 2; alone++) {
		struct flat *flat = flat_new(numbers, alone);

		ck_assert_int_eq(flat_update(flat), 0);
		ck_assert_uint_eq(flat_n(flat), !alone ? 4 : _i == 2 ? 3 : 2);
		flat_free(flat);
	}
	numbers_free(numbers);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

START_TEST(snapshot_stands_still_and_has_windows)
{
	struct session *s = make_session();
	struct snapshot_spec spec = {0};
	struct snapshot *snap = snapshot_new(s, &spec);
	uint32_t forward = session_node(s, SESSION_ROOT, FRAME_SCOPE, "forward");
	uint32_t k1 = session_node(s, forward, FRAME_KERNEL, "k1");

	snapshot_update(snap, NSEC_PER_SEC);
	ck_assert(isnan(snapshot_rate(snap, METRIC_TIME)->v[0]));
	add_kernel(s, k1, 0, 300, 4, 40, 60);
	session_node(s, k1, FRAME_LINE, "later");
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 165);
	ck_assert(snapshot_column(snap, METRIC_TIME_MAX, true)->v[0] == 60);
	snapshot_update(snap, 3 * NSEC_PER_SEC);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 365);
	ck_assert(snapshot_rate(snap, METRIC_TIME)->v[0] == 100);
	snapshot_reset(snap, false);
	ck_assert(isnan(snapshot_column(snap, METRIC_TIME, true)->v[0]));
	add_kernel(s, k1, 0, 310, 5, 40, 60);
	snapshot_update(snap, 4 * NSEC_PER_SEC);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 10);
	ck_assert(snapshot_rate(snap, METRIC_TIME)->v[0] == 10);
	ck_assert(isnan(snapshot_column(snap, METRIC_TIME_MAX, true)->v[0]));
	/* Another grouping counts from the same moment. */
	ck_assert_int_eq(snapshot_regroup(snap, GROUP_DEVICE), 0);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 10);
	ck_assert_int_eq(snapshot_regroup(snap, GROUP_NONE), 0);
	snapshot_reset(snap, true);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 375);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

START_TEST(snapshot_groups)
{
	struct session *s = make_session();
	struct snapshot_spec spec = {.group = GROUP_STREAM};
	struct snapshot *snap = snapshot_new(s, &spec);
	const struct snap_column *time;
	uint32_t first;

	snapshot_update(snap, 1);
	first = snapshot_node(snap, 0)->first_child;
	time = snapshot_column(snap, METRIC_TIME, true);
	ck_assert(time->v[0] == 165);
	ck_assert(time->v[first] == 115);
	ck_assert_str_eq(snapshot_name(snap, first, NAME_SHORT), "GPU0 stream 7");
	ck_assert(time->v[snapshot_node(snap, first)->next_sibling] == 50);
	ck_assert_int_eq(snapshot_regroup(snap, GROUP_NONE), 0);
	snapshot_update(snap, 2);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 165);
	ck_assert_uint_eq(snapshot_n(snap), s->n_nodes);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

static uint32_t group_named(struct snapshot *snap, const char *group)
{
	uint32_t id = snapshot_node(snap, 0)->first_child;

	while (id != SNAP_NONE && strcmp(snapshot_name(snap, id, NAME_SHORT), group) != 0)
		id = snapshot_node(snap, id)->next_sibling;
	ck_assert_msg(id != SNAP_NONE, "no group '%s'", group);
	return id;
}

static double flops_in(struct snapshot *snap, const char *group)
{
	return snapshot_column(snap, METRIC_FLOPS, true)->v[group_named(snap, group)];
}

static uint32_t lane_on(struct session *s, uint32_t process, uint32_t device)
{
	struct session_lane lane = {process, device, 0, 7, 1};

	return session_lane_intern(s, &lane);
}

/* A scope's flops go where all of the work below it ran, once that is known. */
START_TEST(snapshot_groups_scope_metrics_with_their_work)
{
	struct session *s = session_new();
	struct session_device gpu = {.type = strtab_adds(s->strings, "CUDA"), .host = SESSION_NONE};
	struct snapshot_spec spec = {.group = GROUP_DEVICE};
	uint32_t one = session_process_add(s, 1), two = session_process_add(s, 2);
	uint32_t gpu0 = session_device_intern(s, &gpu),
		 gpu1 = (gpu.index = 1, session_device_intern(s, &gpu));
	uint32_t step = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
	uint32_t matmul = session_node(s, step, FRAME_SCOPE, "matmul");
	uint32_t kernel = session_node(s, matmul, FRAME_KERNEL, "gemm");
	uint32_t other = session_node(s, step, FRAME_KERNEL, "other");
	uint32_t host = lane_on(s, one, SESSION_NONE), id;
	struct snapshot *snap;

	session_add(s, matmul, host, 0, METRIC_FLOPS, (union metric_value){.f64 = 100});
	session_add(s, step, host, 0, METRIC_FLOPS, (union metric_value){.f64 = 10});
	session_add(s, step, host, 0, METRIC_CPU_TIME, (union metric_value){.u64 = 5});
	session_add(s, step, lane_on(s, two, SESSION_NONE), 0, METRIC_FLOPS,
		    (union metric_value){.f64 = 7});
	snap = snapshot_new(s, &spec);
	snapshot_update(snap, 1);
	ck_assert(flops_in(snap, "host") == 117); /* no work yet */

	add_kernel(s, kernel, lane_on(s, one, gpu0), 50, 1, 50, 50);
	snapshot_update(snap, 2);
	ck_assert(flops_in(snap, "GPU0") == 110);
	ck_assert(flops_in(snap, "host") == 7);                   /* the other process has none */
	ck_assert(isnan(snapshot_rate(snap, METRIC_TIME)->v[0])); /* rows have moved */

	add_kernel(s, other, lane_on(s, one, gpu1), 50, 1, 50, 50);
	add_kernel(s, other, lane_on(s, two, gpu1), 50, 1, 50, 50);
	snapshot_update(snap, 3);
	ck_assert(flops_in(snap, "GPU0") == 100); /* matmul's; step now runs on two */
	ck_assert(flops_in(snap, "GPU1") == 7);
	ck_assert(flops_in(snap, "host or several devices") == 10);
	ck_assert(snapshot_column(snap, METRIC_FLOPS, true)->v[0] == 117);
	id = snapshot_node(snap, group_named(snap, "host or several devices"))->first_child;
	ck_assert(snapshot_column(snap, METRIC_CPU_TIME, true)->v[id] == 5); /* is the host's */

	ck_assert_int_eq(snapshot_regroup(snap, GROUP_STREAM), 0);
	ck_assert(flops_in(snap, "GPU0 stream 7") == 100);
	ck_assert_int_eq(snapshot_regroup(snap, GROUP_THREAD), 0);
	ck_assert(flops_in(snap, "thread 1") == 110);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

/* Work came before its process could say which device it uses. */
START_TEST(snapshot_follows_lanes_that_move)
{
	struct session *s = make_session();
	struct snapshot_spec spec = {.group = GROUP_DEVICE};
	struct session_device other = {.type = strtab_adds(s->strings, "CUDA"), .index = 1};
	struct snapshot *snap = snapshot_new(s, &spec);
	uint32_t to = session_device_intern(s, &other);

	snapshot_update(snap, 1);
	ck_assert(!snapshot_is_outdated(snap));
	ck_assert(value(snap, METRIC_TIME, true, "GPU0") == 165);
	session_lanes_move(s, 0, 0, to);
	snapshot_update(snap, 2);
	ck_assert(snapshot_is_outdated(snap));
	ck_assert_int_eq(snapshot_regroup(snap, GROUP_DEVICE), 0);
	ck_assert(!snapshot_is_outdated(snap));
	ck_assert(value(snap, METRIC_TIME, true, "GPU1") == 165);
	ck_assert(value(snap, METRIC_TIME, true, "GPU0") == -1);
	ck_assert_int_eq(snapshot_regroup(snap, GROUP_PROCESS), 0);
	session_lanes_move(s, 0, to, 0);
	ck_assert(!snapshot_is_outdated(snap)); /* it does not matter there */
	snapshot_free(snap);
	session_free(s);
}
END_TEST

START_TEST(snapshot_regroups_the_same_picture)
{
	struct session *s = make_session();
	struct snapshot_spec spec = {0};
	struct snapshot *snap = snapshot_new(s, &spec);
	uint32_t i, n = (uint32_t)s->n_nodes,
		    frozen = session_node(s, SESSION_ROOT, FRAME_SCOPE, "new");
	char name[16];

	snapshot_update(snap, 1);
	/* Far more than fits beside the copied values. */
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "k%u", 100 + i);
		add_kernel(s, session_node(s, frozen, FRAME_KERNEL, name), 0, 1000, 1, 1000, 1000);
	}
	ck_assert_int_eq(snapshot_regroup(snap, GROUP_STREAM), 0);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 165);
	ck_assert_int_eq(snapshot_regroup(snap, GROUP_NONE), 0);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 165);
	ck_assert_uint_eq(snapshot_n(snap), n + 1);
	snapshot_update(snap, 2);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 5000165);
	ck_assert_uint_eq(snapshot_n(snap), n + 5001);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

START_TEST(metrics_that_are_nowhere_cost_nothing)
{
	struct session *s = make_session();
	struct snapshot_spec spec = {0};
	struct snapshot *snap = snapshot_new(s, &spec);
	const struct snap_column *bytes, *flops8;
	uint32_t k1 = session_node(s, SESSION_ROOT, FRAME_KERNEL, "k1"), i;

	snapshot_update(snap, NSEC_PER_SEC);
	bytes = snapshot_column(snap, METRIC_BYTES, true);
	flops8 = snapshot_column(snap, METRIC_FLOPS8, false);
	ck_assert_ptr_eq(bytes->v, flops8->v);
	for (i = 0; i < snapshot_n(snap); i++)
		ck_assert(isnan(bytes->v[i]));
	ck_assert(isnan(snapshot_rate(snap, METRIC_BYTES)->v[0]));
	ck_assert_ptr_null(snapshot_column(snap, 1u << 30, true));
	snapshot_reset(snap, false);

	/* Then it comes: from nothing in the last picture. */
	session_add(s, k1, 0, 0, METRIC_BYTES, (union metric_value){.u64 = 4096});
	ck_assert(isnan(snapshot_column(snap, METRIC_BYTES, true)->v[0]));
	snapshot_update(snap, 3 * NSEC_PER_SEC);
	ck_assert(snapshot_column(snap, METRIC_BYTES, true)->v[0] == 4096);
	ck_assert(snapshot_rate(snap, METRIC_BYTES)->v[0] == 2048);
	ck_assert(isnan(snapshot_column(snap, METRIC_FLOPS8, true)->v[0]));
	ck_assert(isnan(snapshot_column(snap, METRIC_TIME, true)->v[0]));
	snapshot_reset(snap, true);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 165);
	snapshot_free(snap);
	session_free(s);
}
END_TEST

static void put_children(const struct session *s, uint32_t node, char out[64])
{
	size_t n = 0;

	out[0] = '\0';
	for (uint32_t c = s->nodes[node].first_child; c != SESSION_NONE;
	     c = s->nodes[c].next_sibling)
		n += (size_t)snprintf(out + n, 64 - n, "%" PRIu32 " ", c);
}

START_TEST(launch_metadata_is_put_last)
{
	/* By id, from 1 on. */
	static const struct {
		const char *kinds, *expected;
	} cases[] = {{"", ""},
		     {"k", "1 "},
		     {"m", "1 "},
		     {"kk", "1 2 "},
		     {"mk", "2 1 "},
		     {"km", "1 2 "},
		     {"mmkmk", "3 5 1 2 4 "}};
	char name[64], found[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct session *s = session_new();

		for (size_t k = 0; cases[i].kinds[k]; k++) {
			snprintf(name, sizeof(name), "%s:%zu",
				 cases[i].kinds[k] == 'm' ? "__proton_launch_metadata" : "k", k);
			session_node(s, SESSION_ROOT, FRAME_STATE, name);
		}
		metadata_put_last(s);
		put_children(s, SESSION_ROOT, found);
		ck_assert_str_eq(found, cases[i].expected);
		session_node(s, SESSION_ROOT, FRAME_KERNEL, "later");
		put_children(s, SESSION_ROOT, found);
		ck_assert_uint_eq(strlen(found), strlen(cases[i].expected) + 2);
		session_free(s);
	}
}
END_TEST

START_TEST(launch_metadata_is_hidden)
{
	struct session *s = make_session();
	struct snapshot_spec spec = {0};
	struct snapshot *snap;
	uint32_t meta = session_node(s, SESSION_ROOT, FRAME_STATE, "__proton_launch_metadata:k1");
	char text[METADATA_TEXT_MAX];

	ck_assert_ptr_null(metadata_text(s, text)); /* a frame, below which nothing ran */
	add_kernel(s, session_node(s, meta, FRAME_KERNEL, "helper"), 0, 1000, 1, 1000, 1000);
	snap = snapshot_new(s, &spec);
	snapshot_update(snap, 1);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 165);
	snapshot_free(snap);
	spec.keep_metadata = true;
	snap = snapshot_new(s, &spec);
	snapshot_update(snap, 1);
	ck_assert(snapshot_column(snap, METRIC_TIME, true)->v[0] == 1165);
	snapshot_free(snap);
	ck_assert_ptr_nonnull(metadata_text(s, text));
	ck_assert_str_eq(
		text, "hidden as launch metadata: 1 operation, 1.00us; devices were busy with it, "
		      "no time has it");
	session_free(s);
}
END_TEST

START_TEST(weighted_means_are_weighted)
{
	struct session *s = session_new();
	struct metric mean = {"occupancy",      "",           METRIC_F64,
			      METRIC_INCLUSIVE, METRIC_WMEAN, METRIC_COUNT};
	uint32_t ids[2] = {METRIC_COUNT, metric_table_add(s->metrics, &mean)};
	uint32_t set = session_set_intern(s, ids, 2), row, node, lane;
	union metric_value v;

	node = session_node(s, SESSION_ROOT, FRAME_KERNEL, "k");
	for (lane = 0; lane < 2; lane++) {
		row = session_row_intern(s, node, lane, 0, set);
		session_row_set(s, row, 0, (union metric_value){.u64 = lane ? 3 : 1});
		session_row_set(s, row, 1, (union metric_value){.f64 = lane ? 0.8 : 0.4});
	}
	ck_assert(session_value(s, node, ids[1], &v));
	ck_assert(fabs(v.f64 - 0.7) < 1e-12);
	ck_assert(session_value(s, node, METRIC_COUNT, &v) && v.u64 == 4);
	session_free(s);
}
END_TEST

/* What there is now adds up and outlives a reset; the most that there was does not add up. */
START_TEST(gauges_and_peaks)
{
	static const struct metric live = {"live",           "B",          METRIC_U64,
					   METRIC_INCLUSIVE, METRIC_GAUGE, METRIC_NONE},
				   peak = {"peak",           "B",         METRIC_U64,
					   METRIC_INCLUSIVE, METRIC_PEAK, METRIC_NONE};
	struct session *s = session_new();
	uint32_t ids[2] = {metric_table_add(s->metrics, &live),
			   metric_table_add(s->metrics, &peak)};
	uint32_t set = session_set_intern(s, ids, 2), row[2], node;
	struct snapshot_spec spec = {0};
	struct snapshot *snap;
	union metric_value v;

	node = session_node(s, SESSION_ROOT, FRAME_ALLOC, "malloc");
	for (uint32_t lane = 0; lane < 2; lane++) {
		struct session_lane l = {
			.process = SESSION_NONE, .device = SESSION_NONE, .thread = lane};

		row[lane] = session_row_intern(s, node, session_lane_intern(s, &l), 0, set);
		session_row_set(s, row[lane], 0, (union metric_value){.u64 = lane ? 30 : 100});
		session_row_set(s, row[lane], 1, (union metric_value){.u64 = lane ? 70 : 500});
	}
	ck_assert(session_value(s, node, ids[0], &v) && v.u64 == 130);
	ck_assert(session_value(s, node, ids[1], &v) && v.u64 == 500);
	snap = snapshot_new(s, &spec);
	snapshot_update(snap, NSEC_PER_SEC);
	snapshot_column(snap, ids[0], true);
	ck_assert(isnan(snapshot_rate(snap, ids[0])->v[0]));
	snapshot_reset(snap, false);
	session_row_set(s, row[0], 0, (union metric_value){.u64 = 90});
	snapshot_update(snap, 2 * NSEC_PER_SEC);
	ck_assert(snapshot_column(snap, ids[0], true)->v[0] == 120);
	ck_assert(snapshot_column(snap, ids[1], true)->v[0] == 500);
	ck_assert(isnan(snapshot_rate(snap, ids[0])->v[0]));
	snapshot_free(snap);
	session_free(s);
}
END_TEST

START_TEST(a_set_has_a_metric_once)
{
	static const uint32_t twice[] = {METRIC_BYTES, METRIC_COUNT, METRIC_BYTES};
	struct session *s = session_new();
	size_t n = s->n_sets;

	ck_assert_uint_eq(session_set_intern(s, twice, 3), SESSION_NONE);
	ck_assert_uint_eq(s->n_sets, n);
	ck_assert_uint_eq(session_set_intern(s, twice, 2), n);
	ck_assert_uint_eq(session_set_intern(s, twice + 1, 2), n + 1);
	session_free(s);
}
END_TEST

/* What a hostile file has very many of is found again, in a time that grows with its number. */
START_TEST(many_of_everything)
{
	enum { N = 100000 };
	struct session *s = session_new();
	uint32_t node = session_node(s, SESSION_ROOT, FRAME_SCOPE, "all");
	size_t bad = 0;
	char name[32];

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < N; i++) {
			const struct session_lane lane = {SESSION_NONE, SESSION_NONE, 0, i, 0};
			const struct session_epoch epoch = {0, i + 1, 0};
			const struct session_device device = {.index = (int32_t)i};
			const struct session_module module = {.base = i};
			struct metric metric;
			uint32_t id, set;

			id = session_lane_intern(s, &lane);
			bad += id != i;
			bad += session_row_intern(s, node, id, 0, SET_KERNEL) != i;
			bad += session_epoch_intern(s, &epoch) != i + 1;
			bad += session_device_intern(s, &device) != i;
			bad += session_module_intern(s, &module) != i;
			bad += session_process_add(s, i + 7) != i;
			snprintf(name, sizeof(name), "m%u", i);
			metric_guess(name, METRIC_U64, &metric);
			id = metric_table_add(s->metrics, &metric);
			bad += id != METRIC_N_BUILTIN + i;
			set = session_set_intern(s, &id, 1);
			bad += set != 1 + i;
			bad += session_note(s, i, NOTE_INFO, "again") != 0;
		}
		ck_assert_uint_eq(bad, 0);
		ck_assert_uint_eq(s->n_rows, N);
		ck_assert_uint_eq(s->n_notes, N);
	}
	session_free(s);
}
END_TEST

/* The first of a node's rows keep their order; all are on its chain once. */
START_TEST(a_long_chain_of_rows_is_whole)
{
	enum { N = 1000 };
	struct session *s = session_new();
	uint32_t node = session_node(s, SESSION_ROOT, FRAME_SCOPE, "all"), id, n = 0;
	bool seen[N] = {false};

	for (uint32_t i = 0; i < N; i++)
		session_row_intern(s, node, i % 3 ? i : N - i, 0, SET_KERNEL);
	for (id = session_first_row(s, node); id != SESSION_NONE;
	     id = session_next_row(s, id), n++) {
		ck_assert(!seen[id]);
		seen[id] = true;
		if (n < 16)
			ck_assert_uint_eq(id, n);
	}
	ck_assert_uint_eq(n, s->n_rows);
	session_free(s);
}
END_TEST

/* A device that says its uuid late is found by it, and by its index as long as one has none. */
START_TEST(devices_are_found_by_what_is_known)
{
	struct session *s = session_new();
	uint32_t a = strtab_adds(s->strings, "GPU-a"), b = strtab_adds(s->strings, "GPU-b");
	uint32_t name = strtab_adds(s->strings, "H200");
	struct session_device d = {.index = 0};

	ck_assert_uint_eq(session_device_intern(s, &d), 0);
	d.uuid = a;
	d.name = name;
	ck_assert_uint_eq(session_device_intern(s, &d), 0);
	d.index = 5;
	ck_assert_uint_eq(session_device_intern(s, &d), 0);
	d = (struct session_device){.index = 5, .uuid = b, .name = name};
	ck_assert_uint_eq(session_device_intern(s, &d), 1);
	d = (struct session_device){.index = 5};
	ck_assert_uint_eq(session_device_intern(s, &d), 0);
	d = (struct session_device){.index = 7, .uuid = b};
	ck_assert_uint_eq(session_device_intern(s, &d), 1);
	session_free(s);
}
END_TEST

/* Parts of a device (MIG), or devices that programs see one of each: all have number 0. */
START_TEST(devices_of_one_number_are_told_apart)
{
	static const struct {
		const char *host, *uuid, *word;
	} all[] = {
		{"a", "MIG-3f1c-77", "GPU0.3f1c-7"}, /* as many digits as it takes */
		{"a", "MIG-3f1c-88", "GPU0.3f1c-8"},
		{"a", "GPU-0000-00", "GPU0.0000"},
		{"b", "GPU-0000-01", "GPU0"}, /* alone on its host */
	};
	struct session *s = session_new();
	struct session_device d = {.type = strtab_adds(s->strings, "CUDA")};
	char word[DEVICE_WORD];

	for (uint32_t i = 0; i < ARRAY_SIZE(all); i++) {
		d.host = strtab_adds(s->strings, all[i].host);
		d.uuid = strtab_adds(s->strings, all[i].uuid);
		ck_assert_uint_eq(session_device_intern(s, &d), i);
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(all); i++) {
		session_device_word(s, i, word);
		ck_assert_str_eq(word, all[i].word);
		session_device_number(s, i, word);
		ck_assert_str_eq(word, "GPU0");
	}
	session_free(s);
}
END_TEST

static size_t field_size(enum field_type type)
{
	static const size_t sizes[FIELD_N] = {
		[FIELD_U64] = 8,     [FIELD_F64] = 8,       [FIELD_TOLD] = 8,
		[FIELD_COUNTED] = 8, [FIELD_HEX64] = 8,     [FIELD_BOOL] = 1,
		[FIELD_END] = 1,     [FIELD_LEVEL] = 1,     [FIELD_REASON] = 1,
		[FIELD_CHANNEL] = 1, [FIELD_DIRECTION] = 1, [FIELD_LOSSES] = 8 * LOSS_N};

	return sizes[type] ? sizes[type] : 4;
}

/* Files have tables in the order of their keys. The key of a row is compared as bytes: each is some field's. What is no
 * key of rows that add up does so. */
START_TEST(rows_are_described)
{
	const struct row_table *t = &row_tables[_i];
	uint8_t known[sizeof(union any_row)] = {0};
	struct row_ids ids;

	ck_assert(!_i || strcmp(t[-1].key, t->key) < 0);
	ck_assert_uint_le(t->row_size, sizeof(union any_row));
	for (size_t i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];

		ck_assert(f->key || f->type == FIELD_PART || f->type == FIELD_EPOCH);
		ck_assert_uint_le(f->offset + field_size(f->type), t->row_size);
		memset(known + f->offset, 1, field_size(f->type));
		if (t->rule == ROW_SUMS)
			ck_assert(f->offset < t->key_size || f->flags & FIELD_SUMS);
	}
	ck_assert_ptr_eq(memchr(known, 0, t->key_size), NULL);
	row_ids((enum table_id)_i, &ids);
	ck_assert_uint_lt(ids.n, ROW_IDS_MAX); /* all of them: there is room for more */
	if (row_field((enum table_id)_i, FIELD_PART))
		ck_assert_ptr_nonnull(row_field((enum table_id)_i, FIELD_NODE));
}
END_TEST

/* A process learns late which device it uses: what is told of it later is of the rows that are there. */
START_TEST(rows_follow_their_device)
{
	static const enum table_id ids[] = {TABLE_CONFIGS, TABLE_COPY_LANES, TABLE_USES};
	enum table_id id = ids[_i];
	const struct field *device = row_field(id, FIELD_DEVICE);
	const struct field *process = row_field(id, FIELD_PROCESS);
	struct session *s = session_new();
	union any_row row = {0};

	ck_assert_ptr_nonnull(session_table_row(s, id, &row));
	*row_id(&row, process) = 1;
	ck_assert_ptr_nonnull(session_table_row(s, id, &row));
	session_lanes_move(s, 0, 0, 7);
	ck_assert_uint_eq(row_names(row_at(s, id, 0), device), 7);
	ck_assert_uint_eq(row_names(row_at(s, id, 1), device), 0);
	*row_id(&row, process) = 0;
	*row_id(&row, device) = 7;
	ck_assert_ptr_eq(session_table_row(s, id, &row), row_at(s, id, 0));
	ck_assert_uint_eq(s->tables[id].n, 2);
	session_free(s);
}
END_TEST

/* What becomes of a second row of a key: it adds up, replaces, or is none; without a key it is one more. */
START_TEST(rows_of_one_key_are_one)
{
	struct session *s = session_new();
	const struct session_config config = {.node = 1, .count = 2, .time_ns = 3};
	struct session_use use = {.device = 1, .busy_ns = 5};
	struct session_unrecorded span = {.start_ns = 2, .end_ns = 1};

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(session_table_add(s, TABLE_CONFIGS, &config), 0);
	ck_assert_uint_eq(s->n_configs, 1);
	ck_assert_uint_eq(s->configs[0].count, 4);
	ck_assert_uint_eq(s->configs[0].time_ns, 6);
	ck_assert_int_eq(session_use_set(s, &use), 0);
	use.busy_ns = 4;
	ck_assert_int_eq(session_use_set(s, &use), 0);
	ck_assert_uint_eq(s->n_uses, 1);
	ck_assert_uint_eq(s->uses[0].busy_ns, 4);
	ck_assert_int_eq(session_note(s, SESSION_NONE, NOTE_WARNING, "a"), 0);
	ck_assert_int_eq(session_note(s, SESSION_NONE, NOTE_INFO, "a"), 0);
	ck_assert_uint_eq(s->n_notes, 1);
	ck_assert_uint_eq(s->notes[0].level, NOTE_WARNING);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(session_clock_add(s, &(struct session_clock){.process = 0}), 0);
	ck_assert_uint_eq(s->n_clocks, 2);
	ck_assert_int_eq(session_unrecorded_set(s, &span), -EINVAL);
	ck_assert_uint_eq(s->n_unrecorded, 0);
	session_free(s);
}
END_TEST

/* On the wire a built-in metric is its number: tapes that are there must go on reading right. */
START_TEST(test_metric_numbers)
{
	static const char *const names[] = {"time (ns)", "count",  "time_min (ns)", "time_max (ns)",
					    "bytes",     "async",  "direction",     "cpu_time (ns)",
					    "cpu_count", "flops",  "flops8",        "flops16",
					    "flops32",   "flops64"};
	struct metric_table *t = metric_table_new();

	ck_assert_uint_ge(metric_table_count(t), ARRAY_SIZE(names));
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_str_eq(metric_table_get(t, i)->name, names[i]);
	metric_table_free(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("core");
	TCase *tc = tcase_create("core");

	tcase_add_test(tc, libraries_have_symbols);
	tcase_add_test(tc, coverage_is_the_union);
	tcase_add_test(tc, test_metric_numbers);
	tcase_add_test(tc, coverage_is_bounded);
	tcase_add_loop_test(tc, overlap_is_what_both_cover, 0, 2);
	tcase_add_test(tc, overlap_begins_anew);
	tcase_add_loop_test(tc, hidden_is_what_lanes_and_others_cover, 0, 3);
	tcase_add_test(tc, hidden_begins_anew);
	tcase_add_test(tc, strings_are_interned);
	tcase_add_test(tc, hashes_of_short_texts_differ);
	tcase_add_test(tc, characters_are_utf8);
	tcase_add_test(tc, values_are_put_in_order);
	tcase_add_test(tc, numbers_for_people);
	tcase_add_test(tc, bins_tile_the_line);
	tcase_add_test(tc, percentiles_are_near);
	tcase_add_test(tc, histograms_add_up);
	tcase_add_test(tc, old_buckets_are_spread);
	tcase_add_test(tc, percentiles_of_few);
	tcase_add_test(tc, texts_do_not_add_up);
	tcase_add_test(tc, transfers_have_one_name_a_direction_and_kind);
	tcase_add_test(tc, copies_have_one_size);
	tcase_add_loop_test(tc, shape_of_a_launch, 0, (int)ARRAY_SIZE(shapes));
	tcase_add_test(tc, names_without_a_shape);
	tcase_add_test(tc, snapshot_rolls_up);
	tcase_add_loop_test(tc, what_never_ran_is_no_kernel, 0, 3);
	tcase_add_test(tc, snapshot_stands_still_and_has_windows);
	tcase_add_test(tc, snapshot_groups);
	tcase_add_test(tc, snapshot_groups_scope_metrics_with_their_work);
	tcase_add_test(tc, snapshot_follows_lanes_that_move);
	tcase_add_test(tc, snapshot_regroups_the_same_picture);
	tcase_add_test(tc, metrics_that_are_nowhere_cost_nothing);
	tcase_add_test(tc, launch_metadata_is_put_last);
	tcase_add_test(tc, launch_metadata_is_hidden);
	tcase_add_test(tc, weighted_means_are_weighted);
	tcase_add_test(tc, gauges_and_peaks);
	tcase_add_test(tc, a_set_has_a_metric_once);
	tcase_add_test(tc, many_of_everything);
	tcase_add_test(tc, a_long_chain_of_rows_is_whole);
	tcase_add_test(tc, devices_are_found_by_what_is_known);
	tcase_add_test(tc, devices_of_one_number_are_told_apart);
	tcase_add_loop_test(tc, rows_are_described, 0, TABLE_N);
	tcase_add_loop_test(tc, rows_follow_their_device, 0, 3);
	tcase_add_test(tc, rows_of_one_key_are_one);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
