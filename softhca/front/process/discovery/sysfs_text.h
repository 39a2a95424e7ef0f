/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs_text.h - contents of the tree's files: tables of the files of an RDMA device, of a port and
 * of its counters, each with the function that writes its text.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_SYSFS_TEXT_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_SYSFS_TEXT_H

#include <stdint.h>

#include "softhca/front/process/driver/adapter.h"

enum { SYSFS_TEXT_SIZE = 1024 };

/* The adapter, port or entry that a file describes. */
struct sysfs_subject {
	struct adapter *adapter;
	unsigned int port;  /* from 1 on */
	unsigned int index; /* index of a GID or P_Key */
	const struct port_info *info;
	const struct port_counters *counters;
	struct gid_entry gid;
};

struct sysfs_file {
	const char *name;
	void (*text)(const struct sysfs_subject *of, char *text);
	const char *constant; /* fixed text; NULL: the function writes the text */
};

/* Tables of files. A file without a name ends each table. */
extern const struct sysfs_file sysfs_ib_files[], sysfs_port_files[], sysfs_counter_files[];

void sysfs_put_text(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sysfs_put_count(char *text, uint64_t count);
void sysfs_gid_value(const struct sysfs_subject *of, char *text);
void sysfs_gid_type(const struct sysfs_subject *of, char *text);

#endif
