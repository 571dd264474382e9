/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/torch_shapes.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/util.h"

enum {
	VALUE_SIZE = 16, /* of an input (c10::IValue): a word, and at 8 what it is … */
	VALUE_TENSOR = 1,
	INPUTS_MAX = 64,
	SIZES_INLINE = 5, /* of a tensor; more are elsewhere */
	SIZES_MAX = 64,
	TENSOR_FROM =
		16, /* bytes of a tensor (c10::TensorImpl) in which its sizes are looked for */
	TENSOR_END = 128,
	FLOAT = 6, /* a type of elements */
};

/* PyTorch's functions for C: a tensor that is handed over is the address of a pointer to it. */
typedef int make_fn(void *data, int64_t n, const int64_t *sizes, const int64_t *strides,
		    int64_t offset, int32_t type, int32_t device_type, int32_t device, void **ret);
typedef int drop_fn(void *tensor);

static struct {
	size_t (*n_inputs)(const char *record);
	make_fn *make;
	drop_fn *drop;
	const char *plain; /* what tensors that are nothing else begin with */
	unsigned inputs;   /* in a record: the first input, how many */
	unsigned sizes;    /* in a tensor: how many, and the sizes or where they are */
} torch;

static uint64_t word(const char *p, unsigned at)
{
	uint64_t v;

	memcpy(&v, p + at, sizeof(v));
	return v;
}

static const char *pointer(const char *p, unsigned at)
{
	return (const char *)(uintptr_t)word(p, at);
}

/* ---- is it there? ---- */

static bool find_functions(void *library)
{
	const char *table = dlsym(library, "_ZTVN3c1010TensorImplE");

	*(void **)&torch.n_inputs = dlsym(library, "_ZNK2at14RecordFunction10num_inputsEv");
	*(void **)&torch.make = dlsym(library, "aoti_torch_create_tensor_from_blob");
	*(void **)&torch.drop = dlsym(library, "aoti_torch_delete_tensor_object");
	torch.plain = table ? table + 2 * sizeof(void *) : NULL;
	return torch.n_inputs && torch.make && torch.drop && torch.plain;
}

static const int64_t *sizes_at(const char *tensor, unsigned at)
{
	return word(tensor, at) <= SIZES_INLINE
		       ? (const int64_t *)(tensor + at + sizeof(uint64_t))
		       : (const int64_t *)pointer(tensor, at + sizeof(uint64_t));
}

static bool has_sizes(const char *tensor, unsigned at, const int64_t *sizes, size_t n)
{
	return word(tensor, at) == n && !memcmp(sizes_at(tensor, at), sizes, n * sizeof(*sizes));
}

/* Where a tensor of these sizes has them, from a place on; TENSOR_END: nowhere. Only where there is room inside. */
static unsigned find_sizes(const char *tensor, const int64_t *sizes, size_t n, unsigned from)
{
	while (from < TENSOR_END && !has_sizes(tensor, from, sizes, n))
		from += sizeof(uint64_t);
	return from;
}

/* Of a tensor that is made for it. It has no elements that anybody looks at. */
static const char *make_tensor(void **ret_tensor, size_t n, const int64_t *sizes)
{
	static char data[8];
	static const int64_t strides[SIZES_MAX];

	*ret_tensor = NULL;
	if (torch.make(data, (int64_t)n, sizes, strides, 0, FLOAT, 0, 0, ret_tensor) ||
	    !*ret_tensor)
		return NULL;
	return pointer(*ret_tensor, 0);
}

static bool find_tensor_sizes(void)
{
	static const int64_t few[] = {1013, 1019, 1021}, many[] = {1, 2, 1031, 3, 1033, 4, 1039};
	void *with_few, *with_many;
	const char *a = make_tensor(&with_few, ARRAY_SIZE(few), few),
		   *b = make_tensor(&with_many, ARRAY_SIZE(many), many);
	unsigned at = a ? find_sizes(a, few, ARRAY_SIZE(few), TENSOR_FROM) : TENSOR_END;
	bool found = a && b && at < TENSOR_END &&
		     find_sizes(a, few, ARRAY_SIZE(few), at + 8) == TENSOR_END &&
		     has_sizes(b, at, many, ARRAY_SIZE(many)) && pointer(a, 0) == torch.plain &&
		     pointer(b, 0) == torch.plain;

	torch.sizes = at;
	if (with_few)
		torch.drop(with_few);
	if (with_many)
		torch.drop(with_many);
	return found;
}

bool torch_shapes_find(void *library, unsigned record_sequence)
{
	/* Behind the sequence number, in all versions; each record is asked how many they are. */
	torch.inputs = record_sequence + sizeof(uint64_t);
	return record_sequence && find_functions(library) && find_tensor_sizes();
}

/* ---- of a record ---- */

/* A tensor of another kind (sparse, nested) may keep its sizes elsewhere. */
static char *put_shape(char *p, const char *end, const char *tensor)
{
	uint64_t n = word(tensor, torch.sizes);
	const int64_t *sizes;

	if (pointer(tensor, 0) != torch.plain || n > SIZES_MAX) {
		*p++ = '?';
		return p;
	}
	sizes = sizes_at(tensor, torch.sizes);
	*p++ = '[';
	for (uint64_t i = 0; i < n && end - p > 24; i++)
		p += snprintf(p, (size_t)(end - p), i ? ",%lld" : "%lld", (long long)sizes[i]);
	*p++ = ']';
	return p;
}

static bool is_tensor(const char *value)
{
	return (uint32_t)word(value, 8) == VALUE_TENSOR && pointer(value, 0);
}

size_t torch_shapes_put(const char *record, char *text, size_t room)
{
	static const char cut[] = "…";
	const char *values = pointer(record, torch.inputs), *end = text + room - sizeof(cut) - 2;
	uint64_t n = word(record, torch.inputs + 8);
	char *p = text;

	if (!n || n > INPUTS_MAX || !values || room < 64 || torch.n_inputs(record) != n)
		return 0;
	*p++ = '[';
	for (uint64_t i = 0; i < n; i++) {
		const char *value = values + i * VALUE_SIZE;

		if (!is_tensor(value))
			continue;
		if (p > text + 1)
			*p++ = ',';
		if (end - p < 32) {
			memcpy(p, cut, sizeof(cut) - 1);
			p += sizeof(cut) - 1;
			break;
		}
		p = put_shape(p, end, pointer(value, 0));
	}
	if (p == text + 1)
		return 0;
	*p++ = ']';
	return (size_t)(p - text);
}
