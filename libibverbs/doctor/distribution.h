/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * distribution.h - how to return to the distribution's RDMA packages.
 */
#ifndef LIBIBVERBS_DOCTOR_DISTRIBUTION_H
#define LIBIBVERBS_DOCTOR_DISTRIBUTION_H

#include <stdio.h>

const char *way_to_distribution(void);
/* Returns the command that reinstalls the libraries of the distribution that OS_RELEASE describes.
 * If OS_RELEASE is NULL, the distribution is unknown. */
const char *way_to_distribution_of(FILE *os_release);

#endif
