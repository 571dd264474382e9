/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/peaks.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/util.h"

#define NAME_MAX_LEN 23

struct rate {
	double value;  /* NaN: not known */
	bool absolute; /* of the device, in a second; else of an SM, in a clock */
};

struct peak {
	char type[NAME_MAX_LEN + 1], arch[NAME_MAX_LEN + 1];
	struct rate flops[PEAK_WIDTHS];
	struct rate memory;             /* not absolute: from the bus */
	struct rate cores[PEAK_WIDTHS]; /* of what does no matrix products */
};

struct peaks {
	struct peak *entries;
	size_t n, cap;
	struct measured *measured;
	size_t n_measured, cap_measured;
};

static const char builtin[] =
#include "core/peaks_text.h" // data/peaks.txt, by the build
	;

static int parse_rate(const char *word, struct rate *ret)
{
	static const char suffixes[] = "kMGTP";
	const char *suffix;
	double factor = 1;
	char *end;

	if (!strcmp(word, "-") || !strcmp(word, "bus")) {
		*ret = (struct rate){NAN, *word == '-'}; /* "-": unknown, and no formula helps */
		return 0;
	}
	ret->value = strtod(word, &end);
	ret->absolute = *end != '\0';
	if (end == word || !(ret->value > 0) || !isfinite(ret->value))
		return -EINVAL;
	if (!*end)
		return 0;
	for (suffix = suffixes; *suffix && *suffix != *end; suffix++)
		factor *= 1000;
	if (!*suffix || end[1])
		return -EINVAL;
	ret->value *= factor * 1000;
	return 0;
}

static int parse_line(const char *line, struct peak *ret)
{
	char words[8][24] = {[5] = "-", [6] = "-", [7] = "-"}, more[2];
	int n = sscanf(line, "%23s %23s %23s %23s %23s %23s %23s %23s %23s %23s %1s", ret->type,
		       ret->arch, words[0], words[1], words[2], words[3], words[4], words[5],
		       words[6], words[7], more);

	if (n != 7 && n != 10)
		return -EINVAL;
	ret->cores[0] = (struct rate){NAN, true};
	for (unsigned i = 1; i < PEAK_WIDTHS; i++)
		if (parse_rate(words[4 + i], &ret->cores[i]) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < PEAK_WIDTHS; i++)
		if (parse_rate(words[i], &ret->flops[i]) < 0)
			return -EINVAL;
	if (parse_rate(words[4], &ret->memory) < 0 ||
	    (!isnan(ret->memory.value) && !ret->memory.absolute))
		return -EINVAL;
	return 0;
}

/* From the end: later lines replace earlier ones. */
static const struct peak *peak_find(const struct peaks *p, const char *type, const char *arch)
{
	for (size_t i = p->n; i-- > 0;)
		if (!strcasecmp(p->entries[i].type, type) && !strcasecmp(p->entries[i].arch, arch))
			return &p->entries[i];
	return NULL;
}

int peaks_parse(struct peaks *p, const char *text, unsigned *ret_line)
{
	char line[256];

	for (*ret_line = 1; *text; (*ret_line)++) {
		size_t len = strcspn(text, "\n"),
		       used = MIN(strcspn(text, "#\n"), sizeof(line) - 1);

		memcpy(line, text, used);
		line[used] = '\0';
		text += len + (text[len] == '\n');
		if (line[strspn(line, " \t\r")] == '\0')
			continue;
		if (ARRAY_ROOM(p->entries, p->cap, p->n + 1) < 0)
			return -ENOMEM;
		if (parse_line(line, &p->entries[p->n]) < 0)
			return -EINVAL;
		p->n++;
	}
	return 0;
}

struct peaks *peaks_new(void)
{
	struct peaks *p = calloc(1, sizeof(*p));
	unsigned line;

	if (p && peaks_parse(p, builtin, &line) < 0)
		return peaks_free(p);
	return p;
}

struct peaks *peaks_free(struct peaks *p)
{
	if (p) {
		free(p->entries);
		free(p->measured);
	}
	free(p);
	return NULL;
}

/* ---- what was measured ---- */

static const struct {
	const char *key, *what;
} measured_rates[N_MEASURED] = {
#define _(id, key, what) [MEASURED_##id] = {key, what},
	MEASURED_RATES(_)
#undef _
};

const char *measured_word(enum peak_measured what)
{
	return measured_rates[what].what;
}

static void parse_measured_rate(const char *word, size_t len, struct measured *ret)
{
	for (unsigned i = 0; i < N_MEASURED; i++) {
		size_t n = strlen(measured_rates[i].key);
		char *end;
		double v;

		if (n >= len || strncmp(word, measured_rates[i].key, n) != 0 || word[n] != '=')
			continue;
		v = strtod(word + n + 1, &end);
		if (end == word + len && v > 0 && isfinite(v))
			ret->rates[i] = v;
	}
}

bool measured_parse(const char *line, struct measured *ret)
{
	size_t len = strcspn(line, " \t\n");
	bool is_any = false;

	if (!len || len >= sizeof(ret->uuid) || *line == '#')
		return false;
	memcpy(ret->uuid, line, len);
	ret->uuid[len] = '\0';
	for (unsigned i = 0; i < N_MEASURED; i++)
		ret->rates[i] = NAN;
	for (line += len; *line && *line != '\n'; line += len) {
		line += strspn(line, " \t");
		len = strcspn(line, " \t\n");
		parse_measured_rate(line, len, ret);
	}
	for (unsigned i = 0; i < N_MEASURED; i++)
		is_any |= !isnan(ret->rates[i]);
	return is_any;
}

void measured_put(const struct measured *m, struct buf *out)
{
	buf_puts(out, m->uuid);
	for (unsigned i = 0; i < N_MEASURED; i++)
		if (m->rates[i] > 0)
			buf_printf(out, " %s=%.4g", measured_rates[i].key, m->rates[i]);
	buf_putc(out, '\n');
}

int peaks_take_measured(struct peaks *p, const char *text)
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		if (ARRAY_ROOM(p->measured, p->cap_measured, p->n_measured + 1) < 0)
			return -ENOMEM;
		p->n_measured += measured_parse(text, &p->measured[p->n_measured]);
	}
	return 0;
}

/* The newest line of a device is the last. */
double peaks_measured(const struct peaks *p, const struct session *s, uint32_t device,
		      enum peak_measured what)
{
	const char *uuid;

	if (!p || device >= s->n_devices)
		return NAN;
	uuid = strtab_str(s->strings, s->devices[device].uuid);
	for (size_t i = p->n_measured; *uuid && i-- > 0;)
		if (!strcmp(p->measured[i].uuid, uuid))
			return p->measured[i].rates[what];
	return NAN;
}

/* ---- of a device ---- */

static const struct peak *peak_of(const struct peaks *p, const struct session *s, uint32_t device)
{
	const struct session_device *d;

	if (!p || device >= s->n_devices)
		return NULL;
	d = &s->devices[device];
	return peak_find(p, strtab_str(s->strings, d->type), strtab_str(s->strings, d->arch));
}

/* In a second. */
static double rate_of(const struct rate *rate, const struct session_device *d)
{
	if (rate->absolute)
		return rate->value;
	if (!d->num_sms || !d->clock_khz)
		return NAN;
	return rate->value * d->num_sms * (d->clock_khz * 1e3);
}

double peaks_flops(const struct peaks *p, const struct session *s, uint32_t device, unsigned i)
{
	const struct peak *peak = peak_of(p, s, device);

	return peak && i < PEAK_WIDTHS ? rate_of(&peak->flops[i], &s->devices[device]) : NAN;
}

double peaks_core_flops(const struct peaks *p, const struct session *s, uint32_t device, unsigned i)
{
	const struct peak *peak = peak_of(p, s, device);
	double known =
		peak && i < PEAK_WIDTHS ? rate_of(&peak->cores[i], &s->devices[device]) : NAN;

	return isnan(known) ? peaks_flops(p, s, device, i) : known;
}

double peaks_bandwidth(const struct peaks *p, const struct session *s, uint32_t device)
{
	const struct peak *peak = peak_of(p, s, device);
	double measured = peaks_measured(p, s, device, MEASURED_MEMORY);
	const struct session_device *d;

	if (!isnan(measured))
		return measured;
	if (peak && peak->memory.absolute)
		return peak->memory.value;
	if (device >= s->n_devices)
		return NAN;
	/* The formula of the bus needs no table: it holds for CUDA devices not listed too. */
	d = &s->devices[device];
	if (!d->bus_width_bits || !d->memory_clock_khz ||
	    (!peak && strcmp(strtab_str(s->strings, d->type), "CUDA")))
		return NAN;
	return 2.0 * d->bus_width_bits * (d->memory_clock_khz * 1e3) / 8;
}
