/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "images/images.h"
#include <errno.h>
#include <string.h>
#include "base/util.h"
#include "images/cubin.h"
#include "images/fatbin.h"
#include "images/ptx_text.h"

/* ---- finding ---- */

static int take_one(struct images *ret, enum image_kind kind, struct elf_part all)
{
	struct image image = {.kind = kind, .stored = all, .size = all.size};

	if (kind == IMAGE_PTX)
		ptx_text_arch(all, image.arch);
	else
		cubin_arch(all, image.arch);
	return images_add(ret, &image);
}

/* A program may have its fatbins in both sections: those to be linked, and those that were. */
static int take_sections(const struct elf_bytes *elf, struct images *ret)
{
	static const char *const names[] = {".nv_fatbin", "__nv_relfatbin"};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++)
		r = fatbin_find(elf_section(elf, elf_find_section(elf, names[i])), ret);
	return r < 0 ? r : ret->n ? 0 : -ENODATA;
}

static int take_elf(struct elf_part all, struct images *ret)
{
	struct elf_bytes elf;
	Elf64_Ehdr h;

	if (!elf_entry(all, 0, &h, sizeof(h)) ||
	    !elf_bytes_open(&elf, all.at, all.size, h.e_machine))
		return -EBADMSG;
	return h.e_machine == EM_CUDA ? take_one(ret, IMAGE_CUBIN, all) : take_sections(&elf, ret);
}

static bool begins(struct elf_part all, const void *magic, size_t n)
{
	return all.size >= n && !memcmp(all.at, magic, n);
}

static int find(struct elf_part all, struct images *ret)
{
	static const uint32_t fatbin = FATBIN_MAGIC;

	if (begins(all, ELFMAG, SELFMAG))
		return take_elf(all, ret);
	if (begins(all, &fatbin, sizeof(fatbin)))
		return fatbin_find(all, ret);
	return is_ptx_text(all) ? take_one(ret, IMAGE_PTX, all) : -EBADMSG;
}

int images_find(const void *bytes, size_t n, struct images *ret)
{
	struct images images = {0};
	int r = find((struct elf_part){bytes, n}, &images);

	if (r < 0) {
		images_done(&images);
		return r;
	}
	*ret = images;
	return 0;
}

int image_kernels(const struct image *image, struct elf_part content, struct image_kernels *ret)
{
	struct image_kernels kernels = {0};
	int r = 0;

	if (image->kind == IMAGE_CUBIN)
		r = cubin_kernels(content, &kernels);
	else if (image->kind == IMAGE_PTX)
		r = ptx_text_kernels(content, &kernels);
	if (r < 0) {
		image_kernels_done(&kernels);
		return r;
	}
	*ret = kernels;
	return 0;
}

/* ---- in memory ---- */

/* An ELF file ends where its tables of headers do, or what the sections are of. */
static size_t elf_size(const uint8_t *at)
{
	Elf64_Ehdr h;
	Elf64_Shdr s;
	size_t end;

	memcpy(&h, at, sizeof(h));
	end = MAX(h.e_shoff + (size_t)h.e_shnum * sizeof(s),
		  h.e_phoff + (size_t)h.e_phnum * sizeof(Elf64_Phdr));
	for (unsigned i = 0; i < h.e_shnum; i++) {
		memcpy(&s, at + h.e_shoff + i * sizeof(s), sizeof(s));
		if (s.sh_type != SHT_NOBITS)
			end = MAX(end, s.sh_offset + s.sh_size);
	}
	return end;
}

bool image_in_memory(const void *at, struct elf_part *ret)
{
	struct {
		uint32_t magic, version;
		const void *data;
	} wrapper;
	uint32_t magic;

	memcpy(&magic, at, sizeof(magic));
	if (magic == FATBIN_WRAPPER_MAGIC) {
		memcpy(&wrapper, at, sizeof(wrapper));
		at = wrapper.data;
		memcpy(&magic, at, sizeof(magic));
	}
	if (magic == FATBIN_MAGIC)
		*ret = (struct elf_part){at, fatbin_size(at)};
	else if (!memcmp(&magic, ELFMAG, SELFMAG))
		*ret = (struct elf_part){at, elf_size(at)};
	else
		*ret = (struct elf_part){at, strlen(at)};
	return ret->size &&
	       (magic == FATBIN_MAGIC || !memcmp(&magic, ELFMAG, SELFMAG) || is_ptx_text(*ret));
}
