/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "images/fatbin.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/util.h"

/* The largest cubins unpacked are those of NVIDIA's own libraries, of some 100 MiB. */
#define UNPACKED_MAX (UINT64_C(1) << 30)

enum {
	FLAG_LZ4 = 0x2000,
	FLAG_ZSTD = 0x8000,
	FLAG_ONLY_CHIP = 0x100000, /* sm_90a */
	FLAG_FAMILY = 0x200000,    /* sm_100f */
	KIND_PTX = 1,
	KIND_ELF = 2,
	KIND_LTO = 8,
};

struct header {
	uint32_t magic;
	uint16_t version, size;
	uint64_t n_bytes;
};

struct entry {
	uint16_t kind, unknown;
	uint32_t header_size;
	uint64_t stored;
	uint32_t packed, options;
	uint16_t minor, major;
	uint32_t sm, name, name_size;
	uint64_t flags, zero, unpacked;
};

_Static_assert(sizeof(struct header) == 16 && sizeof(struct entry) == 64, "as it lies in files");

size_t fatbin_size(const void *at)
{
	struct header h;

	memcpy(&h, at, sizeof(h));
	if (h.magic != FATBIN_MAGIC || h.size < sizeof(h) || h.n_bytes > SIZE_MAX - h.size)
		return 0;
	return h.size + (size_t)h.n_bytes;
}

/* What is neither is passed over: NVIDIA adds kinds. */
static bool kind_of(uint16_t number, enum image_kind *ret)
{
	static const struct {
		uint16_t number;
		enum image_kind kind;
	} kinds[] = {{KIND_PTX, IMAGE_PTX}, {KIND_ELF, IMAGE_CUBIN}, {KIND_LTO, IMAGE_LTO}};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].number != number)
			continue;
		*ret = kinds[i].kind;
		return true;
	}
	return false;
}

/* Code for linking is encrypted as well: it is left as it lies. */
static enum image_packing packing_of(const struct entry *e)
{
	if (e->kind == KIND_LTO)
		return IMAGE_RAW;
	return e->flags & FLAG_ZSTD ? IMAGE_ZSTD : e->flags & FLAG_LZ4 ? IMAGE_LZ4 : IMAGE_RAW;
}

/* 0, or -EBADMSG where the numbers of an entry do not fit together. */
static int image_of(const struct entry *e, const uint8_t *payload, struct image *ret)
{
	const char *suffix = e->flags & FLAG_ONLY_CHIP ? "a" : e->flags & FLAG_FAMILY ? "f" : "";
	enum image_packing packing = packing_of(e);
	bool is_packed = packing != IMAGE_RAW;
	uint64_t stored = is_packed ? e->packed : e->stored;
	uint64_t size = is_packed ? e->unpacked : e->stored;

	if (stored > e->stored || size > UNPACKED_MAX || e->sm > 9999)
		return -EBADMSG;
	*ret = (struct image){.kind = ret->kind,
			      .packing = packing,
			      .stored = {payload, (size_t)stored},
			      .size = (size_t)size};
	snprintf(ret->arch, sizeof(ret->arch), "sm_%u%s", e->sm, suffix);
	return 0;
}

/* The entries of a container, whose header is behind us. */
static int take_entries(struct elf_part all, struct images *ret)
{
	struct image image;
	struct entry e;
	int r;

	while (elf_entry(all, 0, &e, sizeof(e))) {
		if (e.header_size < sizeof(e) || e.header_size > all.size ||
		    e.stored > all.size - e.header_size)
			return -EBADMSG;
		if (kind_of(e.kind, &image.kind)) {
			r = image_of(&e, all.at + e.header_size, &image);
			r = r < 0 ? r : images_add(ret, &image);
			if (r < 0)
				return r;
		}
		all.at += e.header_size + e.stored;
		all.size -= e.header_size + (size_t)e.stored;
	}
	return all.size ? -EBADMSG : 0;
}

/* Linkers fill up between the containers of several files. */
static void skip_zeros(struct elf_part *all)
{
	while (all->size && !*all->at) {
		all->at++;
		all->size--;
	}
}

int fatbin_find(struct elf_part all, struct images *ret)
{
	struct header h;
	size_t size;
	int r;

	for (skip_zeros(&all); all.size; skip_zeros(&all)) {
		size = elf_entry(all, 0, &h, sizeof(h)) ? fatbin_size(all.at) : 0;
		if (!size || size > all.size)
			return -EBADMSG;
		r = take_entries((struct elf_part){all.at + h.size, size - h.size}, ret);
		if (r < 0)
			return r;
		all.at += size;
		all.size -= size;
	}
	return 0;
}
