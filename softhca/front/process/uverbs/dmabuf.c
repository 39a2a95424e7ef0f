/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmabuf.c - memory of dma-bufs.
 *
 * The file is mapped here, and the device moves data there. Few machines that run tests have a
 * driver that makes dma-bufs, so a memfd is taken for one; every other file is refused as Linux
 * does it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/uverbs/dmabuf.h"

enum { PAGE = 4096 };

/* The client that is this process, as owner of memory. */
static int self(uint64_t *bus)
{
	static struct client *client;
	int ret = client ? 0 : client_get(getpid(), &client);

	if (!ret)
		*bus = client_bus_addr(client, 0);
	return ret;
}

/* The function returns the bytes of the dma-buf, or 0 if it is none. A dma-buf says its size by
 * lseek() only, which has no other effect on it. */
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

int dmabuf_map(pid_t tid, int fd, uint64_t offset, uint64_t length, bool writable,
	       struct dmabuf *dmabuf)
{
	int copy = client_fd_copy(tid, fd), ret;

	if (copy < 0)
		return EBADF;
	ret = map_range(copy, offset, length, writable, dmabuf);
	close(copy);
	return ret ? ret : self(&dmabuf->bus);
}

void dmabuf_unmap(struct dmabuf *dmabuf)
{
	if (dmabuf->map)
		munmap(dmabuf->map, dmabuf->map_len);
	dmabuf->map = NULL;
}
