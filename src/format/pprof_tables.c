/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The tables of a profile of pprof: functions, mappings, locations, sample types. */
#include "format/pprof_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/stacks.h"

int pprof_no_memory(struct pprof *x)
{
	return format_fail_code(x->error, -ENOMEM);
}

int pprof_broken(struct pprof *x, const char *what)
{
	return format_fail(x->error, -EBADMSG, FORMAT_NO_OFFSET, "not a profile of pprof: %s",
			   what);
}

/* A string of the file as one of the session. */
int pprof_text(struct pprof *x, uint64_t i, uint32_t *ret)
{
	if (i >= x->file.n_strings)
		return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET,
				   "wrong shape: string %" PRIu64 " of %zu is not there", i,
				   x->file.n_strings);
	*ret = x->file.strings[i];
	return 0;
}

/* The numbers of a message by their field, up to n; a field that is not there is 0. */
int pprof_numbers(struct pprof *x, struct pb_span message, const char *what, uint64_t *v,
		  unsigned n)
{
	struct pb_field f;
	int r;

	memset(v, 0, n * sizeof(*v));
	while ((r = pb_take(&message, &f)) > 0)
		if (f.number < n && f.wire == PB_VARINT)
			v[f.number] = f.v;
	return r < 0 ? pprof_broken(x, what) : 0;
}

/* ---- tables ---- */

static uint64_t row_id(const struct pprof_table *t, uint32_t i)
{
	uint64_t id;

	memcpy(&id, (const char *)t->rows + i * t->size, sizeof(id));
	return id;
}

static bool id_equal(const void *ctx, uint32_t i, const void *key)
{
	return row_id(ctx, i) == *(const uint64_t *)key;
}

uint32_t pprof_find(const struct pprof_table *t, uint64_t id)
{
	return idindex_find(&t->by_id, hash_u64(id), id_equal, t, &id);
}

static int pprof_add(struct pprof *x, struct pprof_table *t, const void *row)
{
	uint64_t id;

	memcpy(&id, row, sizeof(id));
	if (pprof_find(t, id) != IDINDEX_NONE)
		return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET,
				   "wrong shape: two %s have the id %" PRIu64, t->what, id);
	if (t->n >= IDINDEX_NONE || array_reserve(&t->rows, &t->cap, t->n + 1, t->size) < 0 ||
	    idindex_add(&t->by_id, hash_u64(id), (uint32_t)t->n) < 0)
		return pprof_no_memory(x);
	memcpy((char *)t->rows + t->n++ * t->size, row, t->size);
	return 0;
}

void pprof_table_done(struct pprof_table *t)
{
	free(t->rows);
	idindex_done(&t->by_id);
}

/* ---- what locations are made of ---- */

/* The symbol is what other files call the function, too; its readable form is made by whoever shows it. */
int pprof_read_function(struct pprof *x, struct pb_span message)
{
	uint64_t v[FUNCTION_START_LINE + 1];
	struct stack_function f = {.ours = x->ours};
	struct pprof_function function;
	uint32_t symbol = 0;
	int r = pprof_numbers(x, message, "a function", v, ARRAY_SIZE(v));

	if (r == 0)
		r = pprof_text(x, v[FUNCTION_NAME], &f.name);
	if (r == 0)
		r = pprof_text(x, v[FUNCTION_SYSTEM_NAME], &symbol);
	if (r == 0)
		r = pprof_text(x, v[FUNCTION_FILE], &f.file);
	if (r < 0)
		return r;
	f.name = symbol ? symbol : f.name;
	f.line = v[FUNCTION_START_LINE] <= UINT32_MAX ? (uint32_t)v[FUNCTION_START_LINE] : 0;
	function = (struct pprof_function){v[FUNCTION_ID], stack_frame(x->s, &f, &x->scratch)};
	return function.frame == SESSION_NONE ? pprof_no_memory(x)
					      : pprof_add(x, &x->functions, &function);
}

int pprof_read_mapping(struct pprof *x, struct pb_span message)
{
	uint64_t v[MAPPING_BUILD_ID + 1];
	struct session_module module;
	struct pprof_mapping mapping;
	int r = pprof_numbers(x, message, "a mapping", v, ARRAY_SIZE(v));

	module = (struct session_module){.base = v[MAPPING_START],
					 .size = v[MAPPING_LIMIT] - v[MAPPING_START]};
	if (r == 0)
		r = pprof_text(x, v[MAPPING_FILE], &module.path);
	if (r == 0)
		r = pprof_text(x, v[MAPPING_BUILD_ID], &module.build_id);
	if (r < 0)
		return r;
	mapping = (struct pprof_mapping){v[MAPPING_ID], v[MAPPING_START], v[MAPPING_OFFSET],
					 session_module_intern(x->s, &module)};
	return mapping.module == SESSION_NONE ? pprof_no_memory(x)
					      : pprof_add(x, &x->mappings, &mapping);
}

/* ---- locations ---- */

static int add_frame(struct pprof *x, struct pprof_location *l, uint32_t frame)
{
	if (frame == SESSION_NONE || ARRAY_ROOM(x->frames, x->cap_frames, x->n_frames + 1) < 0)
		return pprof_no_memory(x);
	x->frames[x->n_frames++] = frame;
	l->n++;
	return 0;
}

static int read_line(struct pprof *x, struct pprof_location *l, struct pb_span message)
{
	uint64_t v[LINE_LINE + 1];
	struct session_frame *frame;
	struct pprof_function *f;
	uint32_t i;
	int r = pprof_numbers(x, message, "a line", v, ARRAY_SIZE(v));

	if (r < 0)
		return r;
	i = pprof_find(&x->functions, v[LINE_FUNCTION]);
	if (i == IDINDEX_NONE)
		return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET,
				   "wrong shape: location %" PRIu64 " refers to function %" PRIu64
				   ", which is not there",
				   l->id, v[LINE_FUNCTION]);
	f = (struct pprof_function *)x->functions.rows + i;
	frame = &x->s->frames[f->frame];
	if (x->ours && v[LINE_LINE] <= UINT32_MAX)
		session_frame_symbol(x->s, f->frame, frame->symbol, frame->file,
				     (uint32_t)v[LINE_LINE]);
	return add_frame(x, l, f->frame);
}

/* A location that nobody symbolised. */
static uint32_t address_frame(struct pprof *x, uint64_t mapping, uint64_t address)
{
	uint32_t i = mapping ? pprof_find(&x->mappings, mapping) : IDINDEX_NONE;
	const struct pprof_mapping *m;
	char name[24];
	uint32_t id;

	if (i != IDINDEX_NONE) {
		m = (const struct pprof_mapping *)x->mappings.rows + i;
		return session_frame_intern(x->s, FRAME_NATIVE, 0, m->module,
					    address - m->start + m->offset);
	}
	snprintf(name, sizeof(name), "0x%" PRIx64, address);
	id = strtab_adds(x->s->strings, name);
	return id == STRTAB_NONE ? SESSION_NONE
				 : session_frame_intern(x->s, FRAME_FUNCTION, id, SESSION_NONE, 0);
}

int pprof_read_location(struct pprof *x, struct pb_span message)
{
	uint64_t v[LOCATION_ADDRESS + 1];
	struct pprof_location l = {.first = x->n_frames};
	struct pb_field f;
	int r = pprof_numbers(x, message, "a location", v, ARRAY_SIZE(v));

	l.id = v[LOCATION_ID];
	if (r == 0 && !l.id)
		return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET,
				   "wrong shape: a location has no id");
	while (r == 0 && pb_take(&message, &f) > 0)
		if (f.number == LOCATION_LINE && f.wire == PB_BYTES)
			r = read_line(x, &l, f.bytes);
	if (r == 0 && !l.n)
		r = add_frame(x, &l, address_frame(x, v[LOCATION_MAPPING], v[LOCATION_ADDRESS]));
	return r < 0 ? r : pprof_add(x, &x->locations, &l);
}

/* ---- sample types ---- */

int pprof_read_type(struct pprof *x, struct pb_span message)
{
	struct pprof_type *t = &x->types[x->n_types];
	uint64_t v[TYPE_UNIT + 1];
	int r = pprof_numbers(x, message, "a sample type", v, ARRAY_SIZE(v));

	if (r == 0 && x->n_types == PPROF_TYPES_MAX)
		return format_fail(x->error, -EFBIG, FORMAT_NO_OFFSET, "more than %u sample types",
				   PPROF_TYPES_MAX);
	if (r == 0)
		r = pprof_text(x, v[TYPE_TYPE], &t->name);
	if (r == 0)
		r = pprof_text(x, v[TYPE_UNIT], &t->unit);
	x->n_types += r == 0;
	return r;
}

/* Of several times the one that pprof shows unless it is asked for another: the host's time. */
static uint32_t host_time(const struct pprof *x)
{
	uint64_t wanted = x->file.numbers[PROFILE_DEFAULT_TYPE];
	uint32_t main = PPROF_TYPES_MAX;

	for (uint32_t i = 0; i < x->n_types; i++) {
		if (stack_time_unit(pprof_str(x, x->types[i].unit)) == 0)
			continue;
		main = i;
		if (wanted && wanted < x->file.n_strings &&
		    x->file.strings[wanted] == x->types[i].name)
			break;
	}
	return main;
}

static uint64_t byte_unit(const char *unit)
{
	static const struct {
		const char *word;
		uint64_t bytes;
	} units[] = {{"bytes", 1},
		     {"byte", 1},
		     {"B", 1},
		     {"kilobytes", UINT64_C(1) << 10},
		     {"megabytes", UINT64_C(1) << 20},
		     {"gigabytes", UINT64_C(1) << 30}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i].word))
			return units[i].bytes;
	return 0;
}

/* "x1e-5ns", as our writer has it: fractions in a power of ten. */
static bool own_fraction(const char *unit, double *ret_divisor, const char **ret_unit)
{
	unsigned decimals;
	int used = 0;

	if (sscanf(unit, "x1e-%3u%n", &decimals, &used) != 1 || decimals > 300)
		return false;
	*ret_divisor = 1;
	while (decimals--)
		*ret_divisor *= 10;
	*ret_unit = unit + used;
	return true;
}

/* We write numbers as they are, in the unit of the metric. */
static uint32_t own_metric_of(struct pprof *x, struct pprof_type *t)
{
	const char *name = pprof_str(x, t->name), *unit = pprof_str(x, t->unit);
	enum metric_type type = own_fraction(unit, &t->divisor, &unit) ? METRIC_F64 : METRIC_U64;

	if (!strcmp(unit, "nanoseconds"))
		unit = "ns";
	else if (!strcmp(unit, "bytes"))
		unit = "B";
	else if (!strcmp(unit, "count"))
		unit = "";
	return stack_metric(x->s, name, unit, type);
}

static uint32_t metric_of(struct pprof *x, struct pprof_type *t, bool is_host_time)
{
	const char *name = pprof_str(x, t->name), *unit = pprof_str(x, t->unit);

	t->divisor = 1;
	t->factor = 1;
	if (x->ours)
		return own_metric_of(x, t);
	if (stack_time_unit(unit) > 0) {
		t->factor = (uint64_t)stack_time_unit(unit);
		unit = "ns";
	} else if (byte_unit(unit)) {
		t->factor = byte_unit(unit);
		unit = "B";
	} else if (!strcmp(unit, "count")) {
		unit = "";
	}
	return is_host_time ? METRIC_CPU_TIME : stack_metric(x->s, name, unit, METRIC_U64);
}

/* Two types of one name: the second is "NAME #2". */
static uint32_t other_metric_of(struct pprof *x, struct pprof_type *t, uint32_t number)
{
	struct pprof_type other = *t;

	buf_clear(&x->scratch);
	buf_printf(&x->scratch, "%s #%u", pprof_str(x, t->name), number);
	other.name = strtab_adds(x->s->strings, buf_str(&x->scratch));
	return other.name == STRTAB_NONE ? METRIC_NONE : metric_of(x, &other, false);
}

/* Is a metric that of an earlier type, or what no other program has measured: a device's time? */
static bool is_taken(const struct pprof *x, uint32_t n, uint32_t metric)
{
	if (!x->ours && metric == METRIC_TIME)
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (x->types[i].metric == metric)
			return true;
	return false;
}

/* One row of a node and a lane has them all. */
int pprof_make_set(struct pprof *x)
{
	uint32_t metrics[PPROF_TYPES_MAX], host = x->ours ? PPROF_TYPES_MAX : host_time(x);

	for (uint32_t i = 0; i < x->n_types; i++) {
		metrics[i] = metric_of(x, &x->types[i], i == host);
		for (uint32_t n = 2; is_taken(x, i, metrics[i]); n++)
			metrics[i] = other_metric_of(x, &x->types[i], n);
		if (metrics[i] == METRIC_NONE)
			return pprof_no_memory(x);
		x->types[i].metric = metrics[i];
	}
	x->set = x->n_types ? session_set_intern(x->s, metrics, x->n_types) : SESSION_NONE;
	return x->n_types && x->set == SESSION_NONE ? pprof_no_memory(x) : 0;
}
