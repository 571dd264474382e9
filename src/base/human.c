/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/human.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/util.h"

static bool human_absent(char out[HUMAN_MAX], double v)
{
	if (!isnan(v))
		return false;
	snprintf(out, HUMAN_MAX, "-");
	return true;
}

/* Numbers too large for the usual form are printed as "-1e+308". */
static bool human_huge(char out[HUMAN_MAX], double v, double limit)
{
	if (fabs(v) < limit)
		return false;
	snprintf(out, HUMAN_MAX, "%.0e", v);
	return true;
}

/* Three or four significant digits: "6.17", "61.3", "613". */
static void human_digits(char out[HUMAN_MAX], double v, const char *suffix)
{
	int decimals = fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0;

	snprintf(out, HUMAN_MAX, "%.*f%s", decimals, v, suffix);
}

/* Two units, the larger one below a hundred: "16m40s", "33h53m", "5d02h". */
static void human_long(char out[HUMAN_MAX], int s)
{
	static const struct {
		int below, large, small;
		char units[3];
	} steps[] = {{6000, 60, 1, "ms"}, {360000, 3600, 60, "hm"}, {INT_MAX, 86400, 3600, "dh"}};
	size_t i = 0;

	while (abs(s) >= steps[i].below)
		i++;
	snprintf(out, HUMAN_MAX, "%s%d%c%02d%c", s < 0 ? "-" : "", abs(s) / steps[i].large % 1000,
		 steps[i].units[0], abs(s) % steps[i].large / steps[i].small % 100,
		 steps[i].units[1]);
}

void human_time_ns(char out[HUMAN_MAX], double ns)
{
	double a = fabs(ns);

	if (human_absent(out, ns))
		return;
	if (a < 999.5)
		snprintf(out, HUMAN_MAX, "%.0fns", ns);
	else if (a < 999.5e3)
		human_digits(out, ns / 1e3, "us");
	else if (a < 999.5e6)
		human_digits(out, ns / 1e6, "ms");
	else if (a < 99.995e9)
		snprintf(out, HUMAN_MAX, "%.2fs", ns / 1e9);
	else if (a < 999.5e9)
		snprintf(out, HUMAN_MAX, "%.0fs", ns / 1e9);
	else if (a < 8640000e9)
		human_long(out, (int)(ns / 1e9 + copysign(0.5, ns)));
	else if (a < 86400e9 * 99999)
		snprintf(out, HUMAN_MAX, "%.0fd", ns / 86400e9);
	else
		snprintf(out, HUMAN_MAX, "%.0ed", ns / 86400e9);
}

/* Powers of 1000 with one letter; whole below `plain`. */
static void human_scaled(char out[HUMAN_MAX], double v, double plain)
{
	static const char suffixes[][2] = {"", "K", "M", "G", "T", "P", "E"};
	size_t i = 0;

	if (human_absent(out, v) || human_huge(out, v, 999.5e18))
		return;
	if (fabs(v) < plain) {
		snprintf(out, HUMAN_MAX, "%.0f", v);
		return;
	}
	while (fabs(v) >= 999.5 && i + 1 < ARRAY_SIZE(suffixes)) {
		v /= 1000;
		i++;
	}
	human_digits(out, v, suffixes[i]);
}

void human_bytes(char out[HUMAN_MAX], double bytes)
{
	human_scaled(out, bytes, 9999.5);
}

void human_count(char out[HUMAN_MAX], double n)
{
	human_scaled(out, n, 9999.5);
}

void human_things(char out[HUMAN_THINGS_MAX], double n, const char *noun)
{
	char count[HUMAN_MAX];

	human_count(count, n);
	snprintf(out, HUMAN_THINGS_MAX, "%s %.16s%s", count, noun, n == 1 ? "" : "s");
}

void human_rate(char out[HUMAN_MAX], double per_second)
{
	if (human_absent(out, per_second))
		return;
	if (fabs(per_second) >= 9999.5)
		human_scaled(out, per_second, 0);
	else if (per_second > 0 && per_second < 0.0005)
		snprintf(out, HUMAN_MAX, "<.001");
	else if (per_second > 0 && per_second < 0.00995)
		snprintf(out, HUMAN_MAX, "%.3f", per_second);
	else
		human_digits(out, per_second, "");
}

void human_percent(char out[HUMAN_MAX], double ratio)
{
	if (!human_absent(out, ratio) && !human_huge(out, ratio * 100, 99999.5))
		snprintf(out, HUMAN_MAX, "%.1f", ratio * 100);
}

void human_clock(char out[HUMAN_MAX], uint64_t ns)
{
	uint64_t s = ns / NSEC_PER_SEC;

	if (s >= 360000)
		snprintf(out, HUMAN_MAX, "%ud%02uh", (unsigned)(s / 86400),
			 (unsigned)(s / 3600 % 24));
	else
		snprintf(out, HUMAN_MAX, "%02u:%02u:%02u", (unsigned)(s / 3600),
			 (unsigned)(s / 60 % 60), (unsigned)(s % 60));
}
