/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/measured_work.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/derive.h"
#include "core/ranges_wanted.h"

#define SECTOR           32 /* bytes */
#define INSTRUCTIONS(op) "sass_thread_inst_executed_op_" op "_pred_on.sum"

/* What is put together, by the name of its counter, without "sm__" or "smsp__" before it, which count the same. */
/* clang-format off */
#define PARTS(_)                                                 \
	_(TIME,       RANGES_TIME)                               \
	_(DRAM,       "dram__bytes.sum")                         \
	_(READ,       "dram__bytes_read.sum")                    \
	_(OP_READ,    "dram__bytes_op_read.sum")                 \
	_(WRITE,      "dram__bytes_write.sum")                   \
	_(OP_WRITE,   "dram__bytes_op_write.sum")                \
	_(SECTORS_READ,     "dram__sectors_read.sum")            \
	_(SECTORS_OP_READ,  "dram__sectors_op_read.sum")         \
	_(SECTORS_WRITE,    "dram__sectors_write.sum")           \
	_(SECTORS_OP_WRITE, "dram__sectors_op_write.sum")        \
	_(FADD,       INSTRUCTIONS("fadd"))                      \
	_(FMUL,       INSTRUCTIONS("fmul"))                      \
	_(FFMA,       INSTRUCTIONS("ffma"))                      \
	_(FADD2,      INSTRUCTIONS("fadd2"))                     \
	_(FMUL2,      INSTRUCTIONS("fmul2"))                     \
	_(FFMA2,      INSTRUCTIONS("ffma2"))                     \
	_(HADD,       INSTRUCTIONS("hadd"))                      \
	_(HMUL,       INSTRUCTIONS("hmul"))                      \
	_(HFMA,       INSTRUCTIONS("hfma"))                      \
	_(DADD,       INSTRUCTIONS("dadd"))                      \
	_(DMUL,       INSTRUCTIONS("dmul"))                      \
	_(DFMA,       INSTRUCTIONS("dfma"))                      \
	_(TENSOR,     "inst_executed_pipe_tensor.sum")           \
	_(TENSOR_HFMA2, "inst_executed_pipe_tensor_op_hmma_type_hfma2.sum") \
	_(TENSOR_FP8,  "ops_path_tensor_src_fp8.sum")            \
	_(TENSOR_FP8_FP16, "ops_path_tensor_src_fp8_dst_fp16.sum") \
	_(TENSOR_FP8_FP32, "ops_path_tensor_src_fp8_dst_fp32.sum") \
	_(TENSOR_FP16, "ops_path_tensor_src_fp16.sum")           \
	_(TENSOR_FP16_FP16, "ops_path_tensor_src_fp16_dst_fp16.sum") \
	_(TENSOR_FP16_FP32, "ops_path_tensor_src_fp16_dst_fp32.sum") \
	_(TENSOR_BF16, "ops_path_tensor_src_bf16_dst_fp32.sum")  \
	_(TENSOR_TF32, "ops_path_tensor_src_tf32_dst_fp32.sum")  \
	_(TENSOR_FP64, "ops_path_tensor_src_fp64.sum")
/* clang-format on */

enum part {
	NO_PART,
#define _(id, name) id,
	PARTS(_)
#undef _
		N_PARTS
};

static const char *const names[N_PARTS] = {
#define _(id, name) [id] = name,
	PARTS(_)
#undef _
};

static uint8_t part_of(const char *name)
{
	static const char *const units[] = {"smsp__", "sm__"};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strncmp(name, units[i], strlen(units[i]))) {
			name += strlen(units[i]);
			break;
		}
	for (uint8_t i = NO_PART + 1; i < N_PARTS; i++)
		if (!strcmp(name, names[i]))
			return i;
	return NO_PART;
}

int measured_metrics_update(struct measured_metrics *m, const struct session *s)
{
	uint32_t n = metric_table_count(s->metrics);

	if (!m->n)
		m->time = METRIC_NONE;
	if (ARRAY_ROOM(m->parts, m->cap, n) < 0)
		return -ENOMEM;
	for (; m->n < n; m->n++) {
		m->parts[m->n] = part_of(metric_table_get(s->metrics, m->n)->name);
		if (m->parts[m->n] == TIME)
			m->time = m->n;
	}
	return 0;
}

void measured_metrics_done(struct measured_metrics *m)
{
	free(m->parts);
}

/* The first that is known; what it is called differs between chips. */
static double either(double a, double b)
{
	return isnan(a) ? b : a;
}

static double bytes_of(const double *of)
{
	double read = either(of[READ], of[OP_READ]), write = either(of[WRITE], of[OP_WRITE]);
	double sectors = either(of[SECTORS_READ], of[SECTORS_OP_READ]) +
			 either(of[SECTORS_WRITE], of[SECTORS_OP_WRITE]);

	return either(of[DRAM], either(read + write, SECTOR * sectors));
}

/* Those of tensor cores, by width; NaN: not known. Constants are made by an instruction of their pipe, too. */
static void tensor_flops(const double *of, double flops[PEAK_WIDTHS])
{
	double ran = of[TENSOR] - either(of[TENSOR_HFMA2], 0);
	double fp16 = either(of[TENSOR_FP16], of[TENSOR_FP16_FP16] + of[TENSOR_FP16_FP32]), all;

	flops[0] = either(either(of[TENSOR_FP8], of[TENSOR_FP8_FP16] + of[TENSOR_FP8_FP32]), 0);
	flops[1] = fp16 + of[TENSOR_BF16];
	flops[2] = of[TENSOR_TF32];
	flops[3] = of[TENSOR_FP64];
	all = flops[0] + flops[1] + flops[2] + flops[3];
	if (ran == 0)
		memset(flops, 0, PEAK_WIDTHS * sizeof(*flops));
	else if (ran > 0 && all == 0) /* of integers, or of a precision that was not counted */
		flops[0] = NAN;
}

static double sum_of(const double flops[PEAK_WIDTHS])
{
	double sum = 0;

	for (unsigned i = 0; i < PEAK_WIDTHS; i++)
		sum += flops[i];
	return sum;
}

static void flops_of(const double *of, struct measured_work *ret)
{
	double *flops = ret->flops;
	double packed = either(of[FADD2], 0) + either(of[FMUL2], 0) + 2 * either(of[FFMA2], 0);
	double all;

	tensor_flops(of, flops);
	memcpy(ret->tensor_flops, flops, sizeof(ret->tensor_flops));
	flops[1] += 2 * (of[HADD] + of[HMUL] + 2 * of[HFMA]);
	flops[2] += of[FADD] + of[FMUL] + 2 * of[FFMA] + 2 * packed;
	flops[3] += of[DADD] + of[DMUL] + 2 * of[DFMA];
	all = sum_of(flops);
	for (unsigned i = 0; i < PEAK_WIDTHS; i++)
		flops[i] = isnan(all) ? NAN : flops[i];
}

static void read_row(const struct measured_metrics *m, const struct session *s,
		     const struct session_row *row, double of[N_PARTS])
{
	const struct session_set *set = &s->sets[row->set];

	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t metric = set->metrics[i];

		if (metric < m->n && m->parts[metric] && s->present[row->values + i])
			of[m->parts[metric]] = metric_number(metric_table_get(s->metrics, metric),
							     s->values[row->values + i]);
	}
}

/* What comes a value at a time has a row for each: those of the same kernels. */
static void read_single_values(const struct measured_metrics *m, const struct session *s,
			       const struct session_row *time, double of[N_PARTS])
{
	for (uint32_t i = session_first_row(s, time->node); i != SESSION_NONE;
	     i = session_next_row(s, i)) {
		const struct session_row *row = &s->rows[i];

		if (row->lane == time->lane && row->epoch == time->epoch &&
		    s->sets[row->set].n == 1)
			read_row(m, s, row, of);
	}
}

bool measured_work_of(const struct measured_metrics *m, const struct session *s,
		      const struct session_row *row, struct measured_work *ret)
{
	double of[N_PARTS];

	if (session_lane_at(s, row->lane)->device == SESSION_NONE ||
	    !(session_row_number(s, row, m->time) > 0))
		return false;
	for (unsigned i = 0; i < N_PARTS; i++)
		of[i] = NAN;
	read_row(m, s, row, of);
	if (s->sets[row->set].n == 1)
		read_single_values(m, s, row, of);
	ret->time_ns = of[TIME];
	ret->bytes = bytes_of(of);
	flops_of(of, ret);
	return true;
}

double measured_tensor_flops(const struct measured_work *w)
{
	return sum_of(w->tensor_flops);
}

double measured_compute_time(const struct measured_work *w, const struct peaks *peaks,
			     const struct session *s, uint32_t device)
{
	double sum = 0;

	for (unsigned i = 0; i < PEAK_WIDTHS; i++) {
		double others = w->flops[i] - w->tensor_flops[i];

		if (w->tensor_flops[i] != 0)
			sum += w->tensor_flops[i] / peaks_flops(peaks, s, device, i);
		if (others != 0)
			sum += others / peaks_core_flops(peaks, s, device, i);
	}
	return sum;
}

double measured_amount(const struct measured_work *w, uint32_t metric)
{
	double sum = 0;

	if (metric == METRIC_BYTES)
		sum = w->bytes;
	else if (metric == METRIC_ANY_FLOPS || metric == METRIC_FLOPS)
		sum = sum_of(w->flops);
	else if (metric >= METRIC_FLOPS8 && metric <= METRIC_FLOPS64)
		sum = w->flops[metric - METRIC_FLOPS8];
	return sum > 0 ? sum : NAN;
}
