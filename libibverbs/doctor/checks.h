/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * checks.h - the checks of the doctor, one per file.
 */
#ifndef LIBIBVERBS_DOCTOR_CHECKS_H
#define LIBIBVERBS_DOCTOR_CHECKS_H

#include <infiniband/verbs.h>
#include <stdbool.h>

/* Returns whether there is an adapter: any in sysfs, or one on the PCI bus without a driver.
 * Without an adapter, the other checks would only repeat that. */
bool check_kernel(void);
void check_files(void);
void check_memlock(void);
void check_libraries(void);
void check_adapters(void);
/* Names adapters of other makers that have no RDMA device, as their RDMA driver is not loaded. */
void check_sleeping_adapters(void);
void report_machine(void);
void check_port(struct ibv_context *ctx, uint8_t number);

#endif
