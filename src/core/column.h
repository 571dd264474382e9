/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_COLUMN_H
#define PROTON_CORE_COLUMN_H
/* Columns of tables: a metric made of others (core/derive.h) with a title and a form. Those that
 * any profile may have are one list, here; a view says which of them it shows. What a column is
 * called in a table is its name everywhere: in options, in the configuration, in messages.
 *
 *   word ── column_parse() ──> struct column_spec ── the view's value() ──> column_print()
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/human.h"
#include "base/units.h"
#include "core/derive.h"

enum column_form {
	FORM_TIME, /* nanoseconds, in a unit that fits */
	FORM_BYTES,
	FORM_COUNT,
	FORM_RATE,
	FORM_PERCENT, /* 0..100 */
	FORM_NUMBER,  /* a metric without a unit; whole or not */
	FORM_PLAIN,   /* the unit is in the title */
	FORM_WORD,    /* a string of the session, or a bound */
	FORM_TREND,   /* time; the screen draws what it was before, too */
	FORM_BAR,     /* 0..100; the screen draws it */
};

/*        id       title     form   width rank  metric     what is made of it
 * In the order of a table. Where there is no room, the highest rank is left out first. */
/* clang-format off */
#define USUAL_COLUMNS(_)                                                                           \
	_(TOTAL,     "TOTAL",   TIME,    7,  0, TIME,      VALUE_INC, \
	  "time on the device, with everything below") \
	_(SHARE,     "%",       PERCENT, 5,  1, TIME,      SHARE, \
	  "share of the total, or of the parent") \
	_(NOW,       "NOW/s",   TIME,    7,  2, TIME,      NOW, \
	  "time on the device in the last window, per second") \
	_(SELF,      "SELF",    TIME,    7,  9, TIME,      VALUE_EXC, \
	  "time on the device, without what is below") \
	_(CALLS,     "CALLS",   COUNT,   6,  3, COUNT,     VALUE, \
	  "executions") \
	_(AVG,       "AVG",     TIME,    6,  6, TIME,      AVG, \
	  "time of one execution") \
	_(MIN,       "MIN",     TIME,    6, 11, TIME_MIN,  VALUE, \
	  "shortest execution") \
	_(MAX,       "MAX",     TIME,    6, 10, TIME_MAX,  VALUE, \
	  "longest execution") \
	_(P50,       "P50",     TIME,    6, 14, NONE,      P50, \
	  "half of the executions were no longer") \
	_(P90,       "P90",     TIME,    6, 13, NONE,      P90, \
	  "90 % of the executions were no longer") \
	_(P99,       "P99",     TIME,    6, 12, NONE,      P99, \
	  "99 % of the executions were no longer") \
	_(STDDEV,   "STDDEV",  TIME,    6, 15, NONE,      STDDEV, \
	  "standard deviation of the executions") \
	_(BYTES,     "BYTES",   BYTES,   6,  7, BYTES,     VALUE, \
	  "bytes moved") \
	_(GBPS,      "GB/s",    RATE,    5,  4, BYTES,     GIGA_RATE, \
	  "bytes moved per time of what moved them") \
	_(FLOPS,     "FLOPS",   COUNT,   6,  8, ANY_FLOPS, VALUE, \
	  "floating-point operations") \
	_(TFPS,      "TF/s",    RATE,    5,  5, ANY_FLOPS, TERA_RATE, \
	  "floating-point operations per time of what did them") \
	_(ASYNC,     "ASYNC",   COUNT,   6, 15, ASYNC,     VALUE, \
	  "operations that did not block the caller") \
	_(CPU,       "HOST",    TIME,    7,  2, CPU_TIME,  VALUE, \
	  "elapsed time on the host") \
	_(CPU_SHARE, "HOST%",   PERCENT, 5,  2, CPU_TIME,  SHARE, \
	  "share of all time on the host") \
	_(ON_CPU,    "ON-CPU",  TIME,    7,  3, ON_CPU,    VALUE, \
	  "time on a processor, of the threads that entered scopes (--cpu-time)") \
	_(ENTERED,   "ENTERED", COUNT,   7, 15, CPU_COUNT, VALUE_EXC, \
	  "times that a scope was entered") \
	_(SAMPLES,   "SAMPLES", COUNT,   7, 15, SAMPLES,   VALUE, \
	  "samples of hardware counters that fell wholly within, with nothing else on the device (--counters)") \
	_(SM,        "SM%",     PERCENT, 5, 15, SM_ACTIVE, SAMPLED, \
	  "multiprocessors with work, in these samples") \
	_(ISSUE,     "ISSUE%",  PERCENT, 6, 15, SM_ISSUE,  SAMPLED, \
	  "instructions issued, of what could be, in these samples") \
	_(TENSOR,    "TENSOR%", PERCENT, 7, 12, TENSOR_ACTIVE, SAMPLED, \
	  "tensor pipes busy, in these samples") \
	_(DRAM,      "DRAM%",   PERCENT, 5, 12, DRAM,      SAMPLED, \
	  "memory of the device read and written, of what it can, in these samples") \
	_(L2,        "L2%",     PERCENT, 5, 15, L2_HIT,    SAMPLED, \
	  "accesses that the level-2 cache could serve, in these samples") \
	_(TREND,     "TREND",   TREND,   8,  6, TIME,      NOW, \
	  "NOW/s in the last 16 windows, of each row's own highest") \
	_(BAR,       "SHARE",   BAR,     6,  2, TIME,      SHARE, \
	  "share of the total, or of the parent, as a bar")

enum usual_column {
#define _(id, title, form, width, rank, metric, op, help) USUAL_##id,
	USUAL_COLUMNS(_)
#undef _
	USUAL_N
};
/* clang-format on */

struct column_spec {
	const char *title, *help;
	struct derived derived;
	uint8_t form;  /* enum column_form */
	uint8_t width; /* of what is printed, as a rule */
	uint8_t priority;
};

extern const struct column_spec usual_columns[USUAL_N];

/* Make of a column one whose values can be compared with an amount: where that has a unit, in
 * nanoseconds, bytes or single things, not in the unit of the column's name. -EDOM: the amount's unit is
 * none of the column, which may be one of words. */
int column_in_unit(struct column_spec *c, const struct session *s, const struct amount *amount);
/* Does the screen draw it as a picture? Elsewhere its number is another column's. */
static inline bool column_is_picture(const struct column_spec *c)
{
	return c->form == FORM_TREND || c->form == FORM_BAR;
}

/* Rows that have numbers in columns about them alone, and none where no column asks for them: bits. */
enum {
	ROWS_OF_MEMORY = 1,
	ROWS_OF_CALLS = 2,
	ROWS_OF_FORMS = 4, /* of graphs */
	ROWS_OF_CODE = 8,  /* instructions of kernels, and their lines */
	ROWS_OF_THEIR_OWN = ROWS_OF_MEMORY | ROWS_OF_CALLS | ROWS_OF_FORMS | ROWS_OF_CODE
};

/* Which of these a column asks for. */
static inline unsigned column_rows(const struct column_spec *c)
{
	return metric_is_of_memory(c->derived.metric)   ? ROWS_OF_MEMORY
	       : metric_is_of_calls(c->derived.metric)  ? ROWS_OF_CALLS
	       : metric_is_of_graphs(c->derived.metric) ? ROWS_OF_FORMS
	       : metric_is_of_code(c->derived.metric)   ? ROWS_OF_CODE
							: 0;
}

/* Is the word this title? Case does not matter, and "_" may stand for a blank. */
bool column_is_titled(const char *title, const char *word, size_t len);
/* The column of a title, or of any name of core/derive.h. For such a name, title and help are NULL:
 * the word itself is the title. A metric of the profile with exactly this name goes before a title.
 * 0; -ENOENT: there is no such metric; -EINVAL: no such unit. */
int column_parse(const struct session *s, const char *word, size_t len, struct column_spec *ret);
/* The length of the first word of a list that is separated by commas. A metric may have a comma in its
 * name: the longest name that stands there is one word, with what is made of it ("a,b/ms"). */
size_t column_word_len(const struct session *s, const char *words);
/* Of a word that is no column of a running program: will it never be one? So it is with a percentile
 * beyond 100, the title of a usual column with a unit, and one that is no metric. */
bool column_is_hopeless(const char *word, size_t len);
/* The metric that a column shows unchanged, METRIC_ANY_FLOPS where the session has several widths;
 * METRIC_NONE: no such column, or derived. */
uint32_t column_metric(const struct session *s, const char *word);
/* The column of a metric that is not built in. The title is the first *ret_len characters of the
 * metric's name: those without the unit. */
void column_of_metric(const struct session *s, uint32_t metric, struct column_spec *ret,
		      size_t *ret_len);
/* The first word of a list that is not a column, with *ret_len its length and *ret_why the error of
 * column_parse(); NULL: all are columns. near gets similar names, separated by commas; "": none. */
const char *column_unknown(const struct session *s, const char *words, size_t *ret_len,
			   int *ret_why, char *near, size_t near_size);

/* Print a value in the form of its column. exact: numbers whose unit is in the title get as many
 * digits as a program may need, else few, for people. */
#define COLUMN_TEXT 512 /* longer words are cut and end in dots */
void column_print(const struct column_spec *c, const struct session *s, double v, bool exact,
		  char out[COLUMN_TEXT]);
/* A value of a column of words (FORM_WORD), whole. Lives as long as the session. */
const char *column_word(const struct column_spec *c, const struct session *s, double v);

/* The form of a raw metric, and a value of it printed with its unit. */
uint8_t metric_form(const struct metric *m); /* enum column_form */
void metric_print(char out[HUMAN_MAX], const struct metric *m, double v);

#endif
