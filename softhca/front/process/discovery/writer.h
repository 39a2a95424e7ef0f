/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * writer.h - creates directories, links and files of the tree that replaces sysfs. Paths are
 * relative to its root.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_WRITER_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_WRITER_H

#include <stddef.h>

#include "softhca/front/process/discovery/sysfs_text.h"

struct writer {
	int root;
	int error; /* first error */
};

void writer_make_dirs(struct writer *writer, const char *path);
void writer_make_link(struct writer *writer, const char *path, const char *target);
void writer_make_file(struct writer *writer, const char *path, const char *text);
void writer_make_bytes(struct writer *writer, const char *path, const void *bytes, size_t len);
void writer_make_files(struct writer *writer, const char *dir, const struct sysfs_file *files,
		       const struct sysfs_subject *of);

#endif
