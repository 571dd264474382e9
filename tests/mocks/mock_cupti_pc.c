/* SPDX-License-Identifier: MIT */
/* PC sampling of the mock CUPTI: samples are those that the program plants (mock_pc_plant()), and each is read once. The
 * checksum of a cubin is its first 8 bytes; instruction 16 n of any function is of line 10 + n of /mock/FUNCTION.cu, from
 * 0x1000 on of none.
 *
 * Environment: MOCK_CUPTI_PC, words with blanks between them:
 *   N          what Enable fails with: 35, 26, 43 …; config-N: what the settings fail with
 *   dropped    5 samples are dropped with each read of some
 *   full       the hardware's buffer is full, from the second read on
 *   few        one record a read: the others remain
 * MOCK_CUPTI_PC_LOG: a file for the settings. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "base/util.h"
#include "mock_cupti.h"

#define EXPORT __attribute__((visibility("default")))

enum { CONTEXTS = 8, PLANTED = 256 };

#define PREFIX "smsp__pcsamp_warps_issue_stalled_"
static const char *const reasons[] = {
	PREFIX "wait",           PREFIX "wait_not_issued",
	PREFIX "selected",       PREFIX "selected_not_issued",
	PREFIX "not_selected",   PREFIX "not_selected_not_issued",
	PREFIX "barrier",        PREFIX "barrier_not_issued",
	PREFIX "gmma",           PREFIX "gmma_not_issued",
	PREFIX "invented_later", PREFIX "invented_later_not_issued",
};
enum { FIRST_INDEX = 3 }; /* numbers of reasons do not begin with 0 */

static struct {
	pthread_mutex_t lock;
	struct {
		bool on, configured, is_full;
		unsigned n_reads;
	} context[CONTEXTS];
	struct mock_pc_sample planted[PLANTED];
	size_t n;
	atomic_uint n_reads;  /* of all contexts */
	pthread_mutex_t read; /* by whoever reads, or holds reads up */
	atomic_uint n_reading;
} pc = {.lock = PTHREAD_MUTEX_INITIALIZER, .read = PTHREAD_MUTEX_INITIALIZER};

static bool is_said(const char *word)
{
	const char *all = getenv("MOCK_CUPTI_PC"), *at = all;
	size_t len = strlen(word);

	for (; at && (at = strstr(at, word)); at += len)
		if ((at == all || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

static size_t index_of(const void *context)
{
	size_t i = (size_t)(uintptr_t)context;

	return i < CONTEXTS ? i : 0;
}

EXPORT mock_pc_reads_fn mock_pc_reads;
unsigned mock_pc_reads(void)
{
	return atomic_load(&pc.n_reads);
}

static bool is_read(void)
{
	for (size_t i = 0; i < CONTEXTS; i++)
		if (pc.context[i].on && pc.context[i].configured && !pc.context[i].is_full)
			return true;
	return false;
}

EXPORT mock_pc_hold_fn mock_pc_hold;
void mock_pc_hold(bool held)
{
	if (!held) {
		pthread_mutex_unlock(&pc.read);
		return;
	}
	pthread_mutex_lock(&pc.read);
	while (is_read() && !atomic_load(&pc.n_reading))
		usleep(1000);
}

EXPORT mock_pc_plant_fn mock_pc_plant;
void mock_pc_plant(const struct mock_pc_sample *sample)
{
	pthread_mutex_lock(&pc.lock);
	if (pc.n < PLANTED)
		pc.planted[pc.n++] = *sample;
	pthread_mutex_unlock(&pc.lock);
}

#define CHECK(p, type, last)                                                                       \
	do {                                                                                       \
		if ((p)->size != ABI_PC_SIZE(type, last) || (p)->reserved)                         \
			return ABI_BAD_ARGUMENT;                                                   \
	} while (0)

EXPORT uint32_t cuptiPCSamplingEnable(struct abi_pc_context *p);
uint32_t cuptiPCSamplingEnable(struct abi_pc_context *p)
{
	const char *word = getenv("MOCK_CUPTI_PC");
	uint32_t result = word ? (uint32_t)strtoul(word, NULL, 10) : 0;

	CHECK(p, abi_pc_context, context);
	pthread_testcancel(); /* what the library waits for in it */
	if (result)
		return result;
	while (is_said("hang-open"))
		pause();
	if (pc.context[index_of(p->context)].on)
		return ABI_BAD_OPERATION;
	pc.context[index_of(p->context)].on = true;
	return ABI_OK;
}

EXPORT uint32_t cuptiPCSamplingDisable(struct abi_pc_context *p);
uint32_t cuptiPCSamplingDisable(struct abi_pc_context *p)
{
	CHECK(p, abi_pc_context, context);
	pc.context[index_of(p->context)].on = pc.context[index_of(p->context)].configured = false;
	pc.context[index_of(p->context)].is_full = false;
	return ABI_OK;
}

static void log_setting(const struct abi_pc_setting *s)
{
	const char *path = getenv("MOCK_CUPTI_PC_LOG");
	FILE *f = path && s->attribute != ABI_PC_DATA ? fopen(path, "ae") : NULL;

	if (!f)
		return;
	fprintf(f, "%u %zu\n", s->attribute, s->bytes);
	fclose(f);
}

EXPORT uint32_t cuptiPCSamplingSetConfigurationAttribute(struct abi_pc_settings *p);
uint32_t cuptiPCSamplingSetConfigurationAttribute(struct abi_pc_settings *p)
{
	const char *word = getenv("MOCK_CUPTI_PC");

	CHECK(p, abi_pc_settings, settings);
	if (word && !strncmp(word, "config-", 7))
		return (uint32_t)strtoul(word + 7, NULL, 10);
	if (!pc.context[index_of(p->context)].on)
		return ABI_BAD_OPERATION;
	for (size_t i = 0; i < p->n; i++)
		log_setting(&p->settings[i]);
	pc.context[index_of(p->context)].configured = true;
	return ABI_OK;
}

EXPORT uint32_t cuptiPCSamplingGetNumStallReasons(struct abi_pc_count *p);
uint32_t cuptiPCSamplingGetNumStallReasons(struct abi_pc_count *p)
{
	CHECK(p, abi_pc_count, ret_n);
	*p->ret_n = ARRAY_SIZE(reasons);
	return ABI_OK;
}

EXPORT uint32_t cuptiPCSamplingGetStallReasons(struct abi_pc_reasons *p);
uint32_t cuptiPCSamplingGetStallReasons(struct abi_pc_reasons *p)
{
	CHECK(p, abi_pc_reasons, ret_names);
	for (size_t i = 0; i < p->n && i < ARRAY_SIZE(reasons); i++) {
		p->ret_indices[i] = (uint32_t)i + FIRST_INDEX;
		snprintf(p->ret_names[i], ABI_PC_NAME_BYTES, "%s", reasons[i]);
	}
	return ABI_OK;
}

static void give(struct abi_pc_record *r, const struct mock_pc_sample *s)
{
	r->cubin = s->cubin;
	r->offset = s->offset;
	r->function = (char *)(uintptr_t)s->function;
	r->n_reasons = 1;
	r->reasons[0].index = s->reason + FIRST_INDEX;
	r->reasons[0].n = s->n;
	if (r->size == sizeof(*r))
		r->correlation = s->correlation;
}

EXPORT uint32_t cuptiPCSamplingGetData(struct abi_pc_get *p);
uint32_t cuptiPCSamplingGetData(struct abi_pc_get *p)
{
	size_t at = index_of(p->context), max = is_said("few") ? 1 : p->data->n_max, n_kept = 0;

	CHECK(p, abi_pc_get, data);
	if (!pc.context[at].configured)
		return ABI_BAD_OPERATION;
	p->data->n = p->data->n_remaining = 0;
	atomic_fetch_add(&pc.n_reading, 1);
	pthread_mutex_lock(&pc.read);
	atomic_fetch_sub(&pc.n_reading, 1);
	pthread_mutex_unlock(&pc.read);
	atomic_fetch_add(&pc.n_reads, 1);
	if (++pc.context[at].n_reads == 2 && is_said("full"))
		pc.context[at].is_full = true;
	if (pc.context[at].is_full) {
		p->data->is_full = 1;
		return ABI_NO_MEMORY;
	}
	pthread_mutex_lock(&pc.lock);
	for (size_t i = 0; i < pc.n; i++) {
		if (pc.planted[i].context == at && p->data->n < max) {
			give(&p->data->records[p->data->n++], &pc.planted[i]);
			continue;
		}
		p->data->n_remaining += pc.planted[i].context == at;
		pc.planted[n_kept++] = pc.planted[i];
	}
	pc.n = n_kept;
	pthread_mutex_unlock(&pc.lock);
	if (p->data->n && is_said("dropped"))
		p->data->n_dropped = 5;
	return ABI_OK;
}

EXPORT uint32_t cuptiGetCubinCrc(struct abi_pc_crc *p);
uint32_t cuptiGetCubinCrc(struct abi_pc_crc *p)
{
	if (p->size != ABI_PC_SIZE(abi_pc_crc, ret_crc) || p->cubin_bytes < sizeof(p->ret_crc))
		return ABI_BAD_ARGUMENT;
	memcpy(&p->ret_crc, p->cubin, sizeof(p->ret_crc));
	return ABI_OK;
}

EXPORT uint32_t cuptiGetSassToSourceCorrelation(struct abi_pc_source *p);
uint32_t cuptiGetSassToSourceCorrelation(struct abi_pc_source *p)
{
	char name[256];

	if (p->size != ABI_PC_SIZE(abi_pc_source, ret_folder) || !p->cubin)
		return ABI_BAD_ARGUMENT;
	if (p->offset >= 0x1000)
		return ABI_UNKNOWN;
	snprintf(name, sizeof(name), "%s.cu", p->function);
	p->ret_line = 10 + (uint32_t)p->offset / 16;
	p->ret_file = strdup(name);
	p->ret_folder = strdup("/mock");
	return ABI_OK;
}
