/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/sensor_meters.h"
#include "base/util.h"
#include "tui/counter_past.h"
#include "tui/sensor_texts.h"
#include "tui/tui_impl.h"

enum {
	GAP = 2,         /* between two of them */
	SPARK_LEAST = 7, /* columns, a blank before it and one behind among them */
	SPARK_MOST = 24
};

static bool has_past(const struct tui *t, uint32_t device, const struct sensor_text *text)
{
	return usage_sensor_past(&t->usage, device, text->past) != NULL;
}

/* The columns of each past; 0: there is no room for one. The first n of them have it. */
static int fit(const struct tui *t, uint32_t device, const struct sensor_text *texts,
	       unsigned n_texts, int room, unsigned *ret_n)
{
	int left = room + GAP;
	unsigned n = 0;

	for (unsigned i = 0; i < n_texts; i++) {
		left -= texts[i].columns + GAP;
		n += has_past(t, device, &texts[i]);
	}
	*ret_n = (unsigned)CLAMP(left / SPARK_LEAST, 0, (int)n);
	return *ret_n ? MIN(left / (int)*ret_n, SPARK_MOST) : 0;
}

bool sensor_meters_draw(const struct tui *t, struct pen *pen, uint32_t device)
{
	struct sensor_text texts[SENSOR_TEXTS];
	unsigned n = sensor_texts(t, device, texts), n_sparks;
	int spark = fit(t, device, texts, n, pen_left(pen), &n_sparks);

	if (!spark)
		return false;
	for (unsigned i = 0; i < n; i++) {
		const struct sensor_text *text = &texts[i];
		int end;

		pen_skip(pen, ROLE_NORMAL, i ? GAP : 0);
		end = pen->x + text->columns;
		pen_put(pen, text->role, text->text);
		pen_skip(pen, ROLE_NORMAL, MAX(end - pen->x, 0));
		if (!n_sparks || !has_past(t, device, text))
			continue;
		n_sparks--;
		pen_skip(pen, ROLE_NORMAL, 1);
		sensor_past_draw(t, pen, device, text->past, text->limit, spark - 1);
	}
	return true;
}
