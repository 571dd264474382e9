/* SPDX-License-Identifier: MIT */
/* proton kernel dump: the images of kernels in files, listed and written. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/named_file.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/kernel_files.h"
#include "cmd/kernel_rows.h"
#include "cmd/kernel_ttgir.h"
#include "images/images.h"
#include "override/ptx_lines.h"

enum { OPT_OUTPUT = 1, OPT_STAGE, OPT_JSON, OPT_ALL };

/* clang-format off */
static const struct option_def options[] = {
	{.name = "output", .letter = 'o', .arg = "FOLDER", .help = "write each of them to a file in FOLDER",
	 .id = OPT_OUTPUT},
	{.name = "stage", .arg = "ptx|cubin|all|ttgir",
	 .help = "only images of this kind (all); ttgir: run APP, and keep what Triton makes", .id = OPT_STAGE},
	{.name = "all", .letter = 'a', .help = "in folders, NVIDIA's libraries, too", .id = OPT_ALL},
	{.name = "json", .help = "print what was found as JSON", .id = OPT_JSON},
};
/* clang-format on */

const struct command_def command_kernel_dump = {
	.name = "kernel dump",
	.usage = "[options] [FILE|FOLDER]…|-- APP [ARGS]",
	.summary = "list the kernels in files, and write their code",
	.details =
		"FILE is a program, a library or an object of nvcc, a fatbin, a cubin, or PTX;\n"
		"in a FOLDER all that are below it. Without, Triton's cache. With --stage ttgir\n"
		"APP is run, and what Triton compiles for it is kept.\n",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	const char *folder; /* NULL: write none */
	bool json, all, is_ttgir;
	bool stages[N_IMAGE_KINDS];
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	switch (option->id) {
	case OPT_OUTPUT:
		a->folder = value;
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case OPT_ALL:
		a->all = true;
		break;
	default:
		a->is_ttgir = !strcmp(value, "ttgir");
		for (int i = 0; i < N_IMAGE_KINDS; i++)
			a->stages[i] = !strcmp(value, "all") ||
				       !strcmp(value, image_kind_name((enum image_kind)i));
	}
	return 0;
}

struct dump {
	const struct arguments *arguments;
	struct kernel_rows *rows;
	size_t n_files; /* with images */
	int status;
};

/* ---- writing ---- */

/* The folders that its name has, which are no links to elsewhere. */
static int make_folders(char *path, size_t from)
{
	struct stat st;

	for (char *slash = path + from; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST)
			return -errno;
		if (lstat(path, &st) < 0)
			return -errno;
		if (!S_ISDIR(st.st_mode))
			return -ENOTDIR;
		*slash = '/';
	}
	return 0;
}

/* A new one, whatever lies there: a link leads elsewhere, and others may read what is overwritten. */
static int write_file(const char *path, struct elf_part content)
{
	_cleanup_(closep) int fd = -1;

	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd_write_all(fd, content.at, content.size);
}

/* "app.1.sm_90.ptx": no two images of a file are written to one. -ECANCELED: it could not be, which is said. */
static int write_image(const char *folder, const char *name, const struct kernel_row *row,
		       char **ret_path)
{
	char *path;
	int r;

	if (asprintf(&path, "%s/%s.%zu.%s.%s", folder, name, row->number, row->image->arch,
		     image_kind_name(row->image->kind)) < 0)
		return -ENOMEM;
	r = make_folders(path, strlen(folder) + 1);
	r = r < 0 ? r : write_file(path, row->content);
	*ret_path = path;
	if (r == 0)
		return 0;
	complain("cannot write '%s': %s", path, strerror(-r));
	return -ECANCELED;
}

/* ---- one image ---- */

static int take_row(const struct dump *d, const struct kernel_file *file, struct kernel_row *row)
{
	bool is_wanted = d->arguments->stages[row->image->kind];
	_cleanup_(freep) char *path = NULL;
	int r = 0;

	if (is_wanted && d->arguments->folder)
		r = write_image(d->arguments->folder, file->name, row, &path);
	row->written = path;
	return r < 0 ? r : kernel_rows_add(d->rows, row, is_wanted);
}

/* The PTX that a cubin holds has its number. */
static int take_ptx_within(const struct dump *d, const struct kernel_file *file,
			   const struct kernel_row *cubin)
{
	_cleanup_(buf_done) struct buf text = {0};
	struct image image = *cubin->image;
	struct kernel_row row = *cubin;
	int r = cubin_ptx(cubin->content, &text);

	if (r == 0)
		r = ptx_lines_put(cubin->content, &text);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	image.kind = IMAGE_PTX;
	row.image = &image;
	row.content = (struct elf_part){(const uint8_t *)text.data, text.len};
	row.is_within = true;
	return take_row(d, file, &row);
}

static int take_image(const struct dump *d, const struct kernel_file *file,
		      const struct image *image, size_t number)
{
	struct kernel_row row = {.number = number, .image = image};
	struct image_content content;
	int r = image_open(image, &content);

	if (r < 0)
		return r;
	row.content = content.part;
	r = take_row(d, file, &row);
	if (r == 0 && image->kind == IMAGE_CUBIN)
		r = take_ptx_within(d, file, &row);
	image_content_done(&content);
	return r;
}

/* ---- a file ---- */

static int take_bytes(const struct dump *d, const struct kernel_file *file, const void *bytes,
		      size_t n)
{
	struct images images;
	int r = images_find(bytes, n, &images);

	if (r < 0)
		return r;
	kernel_rows_file(d->rows, file->path, images.n);
	for (size_t i = 0; r == 0 && i < images.n; i++)
		r = take_image(d, file, &images.v[i], i + 1);
	kernel_rows_file_end(d->rows);
	images_done(&images);
	return r;
}

/* A build may cut a file short that is mapped: what was behind its new end cannot be read. */
static void on_cut_short(int signo)
{
	static const char said[] = "proton: a file was cut short while it was read\n";

	(void)signo;
	(void)!write(STDERR_FILENO, said, sizeof(said) - 1);
	_exit(STATUS_FAILED);
}

/* Mapped, and unpacked image by image: libraries have half a GiB. */
static int take_mapped(const struct dump *d, const struct kernel_file *file)
{
	struct stat st;
	_cleanup_(closep) int fd = regular_open(file->path, O_RDONLY, &st);
	void *bytes;
	int r;

	if (fd < 0)
		return fd;
	if (!st.st_size)
		return -EBADMSG;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	r = take_bytes(d, file, bytes, (size_t)st.st_size);
	munmap(bytes, (size_t)st.st_size);
	return r;
}

static const char *reason(int code)
{
	switch (code) {
	case -EBADMSG:
		return "it is no image of kernels, or a broken one";
	case -ENODATA:
		return "there is no code for NVIDIA's GPUs in it";
	case -ENOTSUP:
		return "it is packed by zstd, and libzstd.so.1 is not here";
	default:
		return regular_open_error(code);
	}
}

static void fail(struct dump *d, const char *path, int code)
{
	if (code != -ECANCELED)
		complain("cannot dump '%s': %s", path, reason(code));
	d->status = STATUS_FAILED;
}

/* In folders lie other files, too. */
static int take_file(const struct kernel_file *file, void *arg)
{
	struct dump *d = arg;
	int r = take_mapped(d, file);

	d->n_files += r == 0;
	if (r < 0 && (file->is_named || (r != -EBADMSG && r != -ENODATA)))
		fail(d, file->path, r);
	return 0;
}

static void take_path(struct dump *d, const char *path)
{
	size_t n_left = 0, n_before = d->n_files;
	int r = kernel_files_each(path, d->arguments->all, take_file, d, &n_left);

	if (n_left)
		complain("%zu of NVIDIA's libraries in '%s' are left out (--all)", n_left, path);
	else if (r == 0 && d->n_files == n_before && d->status == STATUS_OK)
		r = -ENODATA;
	if (r < 0)
		fail(d, path, r);
}

static void take_triton(struct dump *d)
{
	_cleanup_(freep) char *path = kernel_files_of_triton();

	if (path) {
		take_path(d, path);
		return;
	}
	complain("no file is named, and without a home there is no cache of Triton");
	d->status = STATUS_FAILED;
}

static int dump(const struct arguments *a, char **paths, int n)
{
	struct dump d = {a, kernel_rows_new(a->json), 0, STATUS_OK};
	struct sigaction act = {.sa_handler = on_cut_short};
	int r;

	if (!d.rows) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	sigaction(SIGBUS, &act, NULL);
	if (!n)
		take_triton(&d);
	for (int i = 0; i < n; i++)
		take_path(&d, paths[i]);
	r = kernel_rows_done(d.rows);
	if (r < 0)
		complain("cannot print: %s", strerror(-r));
	return r < 0 ? STATUS_FAILED : d.status;
}

int cmd_kernel_dump(int argc, char **argv)
{
	struct arguments a = {.stages = {true, true, true}};
	int first = options_parse(&command_kernel_dump, argc, argv, on_option, &a);

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (a.is_ttgir && first >= argc) {
		complain(
			"'kernel dump --stage ttgir' needs a program (see 'proton kernel dump --help')");
		return STATUS_USAGE;
	}
	if (a.is_ttgir && a.folder)
		return kernel_dump_ttgir(a.folder, argv + first);
	if (a.is_ttgir) {
		complain("option '--stage ttgir' keeps what it finds: choose a folder with -o");
		return STATUS_USAGE;
	}
	if (a.folder && mkdir(a.folder, 0777) < 0 && errno != EEXIST) {
		complain("cannot create '%s': %s", a.folder, strerror(errno));
		return STATUS_FAILED;
	}
	return dump(&a, argv + first, argc - first);
}
