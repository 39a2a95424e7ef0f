/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * checks.h - what the doctor looks at, a file each.
 */
#ifndef LIBIBVERBS_DOCTOR_CHECKS_H
#define LIBIBVERBS_DOCTOR_CHECKS_H

#include <infiniband/verbs.h>
#include <stdbool.h>

/* Whether there is an adapter: of any kind in sysfs, or one on the PCI bus that has no driver yet.
 * Without one, the other checks would only say so again. */
bool check_kernel(void);
void check_files(void);
void check_memlock(void);
void check_libraries(void);
void check_adapters(void);
/* What a report of a defect needs beside the findings. */
void report_machine(void);
/* One port of an open device. */
void check_port(struct ibv_context *ctx, uint8_t number);

#endif
