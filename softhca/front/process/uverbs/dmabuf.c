/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmabuf.c - memory of dma-bufs.
 *
 * The file is mapped here, and the device moves data there. Few test machines have a driver that
 * exports dma-bufs, so a memfd counts as one; all other files are refused as Linux does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/uverbs/dmabuf.h"
#include "softhca/front/process/uverbs/uverbs.h"

enum { PAGE = 4096 };

/* Pages of an adapter that are exported as a dma-buf. The program's descriptor is a memfd of that
 * size without content. */
#define EXPORT_NAME "uverbs-dmabuf"

struct export
{
	LIST_ENTRY(export) in_all;
	const struct uverbs_file *file;
	uint32_t first_page, pages;
	int fd;
	dev_t dev;
	ino_t ino;
	LIST_HEAD(, dmabuf) maps;
};

static LIST_HEAD(, export) exports = LIST_HEAD_INITIALIZER(exports);

/* Returns the bus address of this process's own memory, as a client of itself. */
static int own_client(uint64_t *bus)
{
	static struct client *client;
	int ret = client ? 0 : client_get(getpid(), &client);

	if (!ret)
		*bus = client_bus_addr(client, 0);
	return ret;
}

/* Returns the size of the dma-buf, or 0 if the file is none. Only lseek() tells a dma-buf's size,
 * and it has no side effect there, so it is used. */
static uint64_t size_of(int fd)
{
	char path[32], target[32] = "";
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return 0;
	if (!strncmp(target, "/dmabuf:", strlen("/dmabuf:")))
		return lseek(fd, 0, SEEK_END);
	if (!strncmp(target, "/memfd:", strlen("/memfd:")) && !fstat(fd, &st))
		return st.st_size;
	return 0;
}

static struct export *export_at(const struct uverbs_file *file, uint32_t first_page)
{
	struct export *export;

	LIST_FOREACH(export, &exports, in_all)
		if (export->file == file && export->first_page == first_page)
			return export;
	return NULL;
}

static struct export *export_of(int fd)
{
	struct export *export;
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	LIST_FOREACH(export, &exports, in_all)
		if (export->ino == st.st_ino && export->dev == st.st_dev)
			return export;
	return NULL;
}

static bool was_exported(int fd)
{
	char path[32], target[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 &&
	       !strncmp(target, "/memfd:" EXPORT_NAME, strlen("/memfd:" EXPORT_NAME));
}

/* Makes the program's descriptor, which can neither read nor write the memory, as with a
 * dma-buf. */
static int export_open(struct export *export)
{
	int memfd = memfd_create(EXPORT_NAME, MFD_CLOEXEC);
	char path[32];
	struct stat st;

	if (memfd < 0)
		return errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd);
	export->fd = ftruncate(memfd, (off_t) export->pages * PAGE) || fstat(memfd, &st)
			     ? -1
			     : open(path, O_RDONLY | O_CLOEXEC);
	close(memfd);
	if (export->fd < 0)
		return errno;
	export->dev = st.st_dev;
	export->ino = st.st_ino;
	return 0;
}

int dmabuf_export(const struct uverbs_file *file, uint32_t first_page, uint32_t pages, int *fd)
{
	struct export *export = export_at(file, first_page);
	int ret;

	if (!export) {
		export = calloc(1, sizeof(*export));
		if (!export)
			return ENOMEM;
		*export = (struct export){ .file = file, .first_page = first_page, .pages = pages };
		ret = export_open(export);
		if (ret) {
			free(export);
			return ret;
		}
		LIST_INSERT_HEAD(&exports, export, in_all);
	}
	*fd = export->fd;
	return 0;
}

/* Revokes a mapping but keeps its addresses: maps them behind the end of the file, so that each
 * access fails whatever its rights. Needs no new descriptor, as none may be left. */
static void map_revoke(const struct export *export, struct dmabuf *dmabuf)
{
	LIST_REMOVE(dmabuf, in_export);
	dmabuf->is_exported = false;
	if (mmap(dmabuf->map, dmabuf->map_len, PROT_NONE, MAP_SHARED | MAP_FIXED, export->fd,
		 (off_t) export->pages * PAGE) == MAP_FAILED)
		abort(); /* else the device would reach the next owner's memory */
}

void dmabuf_revoke(const struct uverbs_file *file, uint32_t first_page)
{
	struct export *export = export_at(file, first_page);

	if (!export)
		return;
	while (!LIST_EMPTY(&export->maps))
		map_revoke(export, LIST_FIRST(&export->maps));
	LIST_REMOVE(export, in_all);
	close(export->fd);
	free(export);
}

static int map_export(struct export *export, uint64_t offset, uint64_t length, bool writable,
		      struct dmabuf *dmabuf)
{
	const uint64_t size = (uint64_t) export->pages * PAGE, skip = offset % PAGE;
	const uint64_t start = (uint64_t) export->first_page * PAGE + offset - skip;

	if (!length || offset > size || length > size - offset)
		return EINVAL;
	dmabuf->map_len = skip + length;
	dmabuf->map = mmap(NULL, dmabuf->map_len, PROT_READ | (writable ? PROT_WRITE : 0),
			   MAP_SHARED, export->file->memfd, (off_t)start);
	if (dmabuf->map == MAP_FAILED) {
		dmabuf->map = NULL;
		return errno;
	}
	dmabuf->start = (uintptr_t)dmabuf->map + skip;
	dmabuf->is_exported = true;
	LIST_INSERT_HEAD(&export->maps, dmabuf, in_export);
	return 0;
}

static int map_range(int fd, uint64_t offset, uint64_t length, bool writable, struct dmabuf *dmabuf)
{
	uint64_t size = size_of(fd), skip = offset % PAGE;
	int rights = PROT_READ | (writable ? PROT_WRITE : 0);

	if (!size || !length || offset > size || length > size - offset)
		return EINVAL;
	dmabuf->map_len = skip + length;
	dmabuf->map = mmap(NULL, dmabuf->map_len, rights, MAP_SHARED, fd, (off_t)(offset - skip));
	if (dmabuf->map == MAP_FAILED) {
		dmabuf->map = NULL;
		return errno;
	}
	dmabuf->start = (uintptr_t)dmabuf->map + skip;
	return 0;
}

int dmabuf_map(const struct call *call, int fd, uint64_t offset, uint64_t length, bool writable,
	       bool pinned, struct dmabuf *dmabuf)
{
	int copy = caller_fd_copy(call, fd), ret;
	struct export *export;

	if (copy < 0)
		return EBADF;
	export = export_of(copy);
	if (export)
		ret = pinned ? EOPNOTSUPP : map_export(export, offset, length, writable, dmabuf);
	else if (was_exported(copy))
		ret = ENODEV;
	else
		ret = map_range(copy, offset, length, writable, dmabuf);
	close(copy);
	return ret ? ret : own_client(&dmabuf->bus);
}

void dmabuf_unmap(struct dmabuf *dmabuf)
{
	if (dmabuf->is_exported)
		LIST_REMOVE(dmabuf, in_export);
	dmabuf->is_exported = false;
	if (dmabuf->map)
		munmap(dmabuf->map, dmabuf->map_len);
	dmabuf->map = NULL;
}
