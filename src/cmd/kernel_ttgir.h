/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_KERNEL_TTGIR_H
#define PROTON_CMD_KERNEL_TTGIR_H
/* Kernels of Triton in its GPU dialect, in files FOLDER/KEY/KERNEL.ttgir, as its compiler writes and reads them. */

/* Runs a program whose kernels Triton compiles, and keeps that of them in a folder. The exit status. */
int kernel_dump_ttgir(const char *folder, char **argv);

/* Each file of that sort below a path, or the path itself; fn returns 0, or an exit status that ends the walk, which is
 * returned then. What cannot be looked at is complained about. */
typedef int ttgir_file_fn(void *ctx, const char *path);
int kernel_each_ttgir(const char *path, ttgir_file_fn *fn, void *ctx);

#endif
