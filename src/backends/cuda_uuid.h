/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUDA_UUID_H
#define PROTON_BACKENDS_CUDA_UUID_H
#include <stdint.h>
#include <stdio.h>

/* A device's uuid as NVIDIA's tools write it. */
#define CUDA_UUID_TEXT 48
static inline void cuda_uuid_text(const uint8_t u[16], char out[CUDA_UUID_TEXT])
{
	snprintf(out, CUDA_UUID_TEXT,
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
		 u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
		 u[14], u[15]);
}

#endif
