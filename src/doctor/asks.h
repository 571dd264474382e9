/* SPDX-License-Identifier: MIT */
#ifndef PROTON_DOCTOR_ASKS_H
#define PROTON_DOCTOR_ASKS_H
/* The children's side of each question (questions.h): they run in the child, and tell lines to a
 * descriptor. ctx is the struct doctor_host. */
#include "launch/probe.h"

probe_fn ask_driver, ask_collector, ask_run, ask_cupti, ask_nvml; /* ask_cuda.c */
probe_fn ask_counters;                                            /* ask_counters.c */
probe_fn ask_measure;                                             /* ask_measure.c */
probe_fn ask_amdsmi;                                              /* ask_amdsmi.c */
probe_fn ask_opencl;                                              /* ask_opencl.c */
probe_fn ask_holders, ask_folders;                                /* ask_system.c */

#endif
