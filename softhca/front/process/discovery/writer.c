/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * writer.c - creates directories, links and files of the tree that replaces sysfs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softhca/front/process/discovery/writer.h"
#include "softhca/log.h"

static void note_error(struct writer *writer, const char *path)
{
	if (writer->error)
		return;
	writer->error = errno;
	log_error("cannot create %s of the device tree: %s", path, strerror(errno));
}

void writer_make_dirs(struct writer *writer, const char *path)
{
	char part[256];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (mkdirat(writer->root, part, 0755) && errno != EEXIST)
			note_error(writer, part);
	}
	if (mkdirat(writer->root, path, 0755) && errno != EEXIST)
		note_error(writer, path);
}

void writer_make_link(struct writer *writer, const char *path, const char *target)
{
	if (symlinkat(target, writer->root, path))
		note_error(writer, path);
}

void writer_make_bytes(struct writer *writer, const char *path, const void *bytes, size_t len)
{
	int fd = openat(writer->root, path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, bytes, len) < 0)
		note_error(writer, path);
	if (fd >= 0)
		close(fd);
}

void writer_make_file(struct writer *writer, const char *path, const char *text)
{
	writer_make_bytes(writer, path, text, strlen(text));
}

static void make_subject_file(struct writer *writer, const char *dir, const struct sysfs_file *file,
			      const struct sysfs_subject *of)
{
	char path[256], text[SYSFS_TEXT_SIZE];

	snprintf(path, sizeof(path), "%s/%s", dir, file->name);
	if (file->text)
		file->text(of, text);
	else
		snprintf(text, sizeof(text), "%s", file->constant);
	writer_make_file(writer, path, text);
}

void writer_make_files(struct writer *writer, const char *dir, const struct sysfs_file *files,
		       const struct sysfs_subject *of)
{
	for (; files->name; files++)
		make_subject_file(writer, dir, files, of);
}
