/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs.h - reads sysfs, at SYSFS_PATH if set.
 */
#ifndef LIBIBVERBS_DOCTOR_SYSFS_H
#define LIBIBVERBS_DOCTOR_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

enum { SYSFS_TEXT = 64 };

bool sysfs_has(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reads the first word of a file; empty if the file cannot be read. */
void sysfs_read(char text[SYSFS_TEXT], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Reads the last component of a link's target; empty if there is no link. */
void sysfs_link(char text[SYSFS_TEXT], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Calls visit() for each entry of a directory except hidden ones, sorted by name. Returns the
 * number of entries. */
int sysfs_each(const char *dir, void (*visit)(const char *name));

#endif
