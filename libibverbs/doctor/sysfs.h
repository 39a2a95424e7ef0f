/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs.h - looking around in sysfs, wherever SYSFS_PATH has it.
 */
#ifndef LIBIBVERBS_DOCTOR_SYSFS_H
#define LIBIBVERBS_DOCTOR_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

enum { SYSFS_TEXT = 64 };

/* Whether the path is there; the last arguments are as for printf(). */
bool sysfs_has(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The first word of a file; empty if it cannot be read. */
void sysfs_read(char text[SYSFS_TEXT], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The last part of what a link leads to; empty if there is none. */
void sysfs_link(char text[SYSFS_TEXT], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Calls visit() for each entry of a directory that is a name, in their order. It returns how many
 * there are. */
int sysfs_each(const char *dir, void (*visit)(const char *name));

#endif
