/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mappings.h - the mappings of a process, by a descriptor of its /proc/PID/maps.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_MAPPINGS_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether all bytes from ADDR up to END are mapped and readable, and writable if WRITABLE.
 * Costs one system call per mapping in the range; before Linux 6.11, one line of text per mapping
 * of the process. Any thread may call it. */
bool mappings_cover(int maps, uint64_t addr, uint64_t end, bool writable);

#endif
