/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vectors.c - see vectors.h. Linux: <linux/vfio.h>
 *
 * Kernels before Linux 6.5 fix the number of vectors when the first is enabled, so all are enabled
 * at once, most of them without an eventfd.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "providers/mlx5/vfio/vectors.h"
#include "util/alloc.h"

/* Assigns the COUNT eventfds of FDS to the vectors from START on of interrupt INDEX. Returns 0 or a
 * negative errno. If the host has fewer vectors, returns their number, and assigns nothing. */
static int try_irqs(int device, uint32_t index, uint32_t start, uint32_t count, const int *fds)
{
	const size_t size = sizeof(struct vfio_irq_set) + count * sizeof(*fds);
	struct vfio_irq_set *set = calloc_for("VFIO: vectors", 1, size);
	int ret;

	if (!set)
		return -ENOMEM;
	set->argsz = (uint32_t)size;
	set->flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
	set->index = index;
	set->start = start;
	set->count = count;
	memcpy(set->data, fds, count * sizeof(*fds));
	ret = ioctl(device, VFIO_DEVICE_SET_IRQS, set);
	ret = ret < 0 ? -errno : ret;
	free(set);
	if (ret < 0)
		verbs_warn("VFIO: vectors %u to %u: %s", start, start + count - 1, strerror(-ret));
	return ret;
}

/* Lets the host signal an eventfd when it wants the device back, for instance because it was
 * unplugged. Without that interrupt, commands and mlx5dv_vfio_process_events() notice a loss. */
static void take_request(struct vfio_vectors *vectors)
{
	struct vfio_irq_info info = { .argsz = sizeof(info), .index = VFIO_PCI_REQ_IRQ_INDEX };
	int fd;

	if (ioctl(vectors->device, VFIO_DEVICE_GET_IRQ_INFO, &info) || !info.count)
		return;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd >= 0 && !try_irqs(vectors->device, VFIO_PCI_REQ_IRQ_INDEX, 0, 1, &fd)) {
		vectors->request_fd = fd;
		return;
	}
	verbs_info("VFIO: nothing will say when the host wants the device back");
	if (fd >= 0)
		close(fd);
}

static int set_irq(int device, uint32_t vector, int fd)
{
	const int ret = try_irqs(device, VFIO_PCI_MSIX_IRQ_INDEX, vector, 1, &fd);

	return ret > 0 ? ENOSPC : -ret;
}

static int try_msix(const struct vfio_vectors *vectors)
{
	return try_irqs(vectors->device, VFIO_PCI_MSIX_IRQ_INDEX, 0, vectors->count, vectors->fd);
}

/* Enables all vectors, or as many as the host has. */
static int enable_all(struct vfio_vectors *vectors)
{
	int ret = try_msix(vectors);

	while (ret > 0 && (uint32_t)ret < vectors->count) {
		verbs_info("VFIO: the host has %d MSI-X vectors, the device %u", ret,
			   vectors->count);
		vectors->count = (uint32_t)ret;
		ret = try_msix(vectors);
	}
	return ret > 0 ? ENOSPC : -ret;
}

int mlx5_vfio_vectors_init(struct vfio_vectors *vectors, int device, uint32_t count)
{
	int ret;

	if (!count) {
		verbs_warn("ibv_open_device: the device has no MSI-X vectors");
		return EOPNOTSUPP;
	}
	*vectors = (struct vfio_vectors){ .device = device, .count = count, .request_fd = -1 };
	vectors->fd = calloc_for("ibv_open_device", count, sizeof(*vectors->fd));
	if (!vectors->fd)
		return ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		vectors->fd[i] = -1;
	pthread_mutex_init(&vectors->lock, NULL);
	vectors->fd[0] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = vectors->fd[0] < 0 ? errno : enable_all(vectors);
	if (ret)
		mlx5_vfio_vectors_destroy(vectors);
	else
		take_request(vectors);
	return ret;
}

void mlx5_vfio_vectors_destroy(struct vfio_vectors *vectors)
{
	for (uint32_t i = 0; i < vectors->count; i++)
		if (vectors->fd[i] >= 0)
			close(vectors->fd[i]);
	if (vectors->request_fd >= 0)
		close(vectors->request_fd);
	free(vectors->fd);
	pthread_mutex_destroy(&vectors->lock);
}

static int take_locked(struct vfio_vectors *vectors, uint32_t *vector)
{
	uint32_t free_one = 1;
	int fd, ret;

	while (free_one < vectors->count && vectors->fd[free_one] >= 0)
		free_one++;
	if (free_one >= vectors->count)
		return ENOSPC;
	fd = eventfd(0, EFD_CLOEXEC);
	if (fd < 0)
		return errno;
	ret = set_irq(vectors->device, free_one, fd);
	if (ret) {
		close(fd);
		return ret;
	}
	vectors->fd[free_one] = fd;
	*vector = free_one;
	return 0;
}

int mlx5_vfio_vectors_take(struct vfio_vectors *vectors, uint32_t *vector)
{
	int ret;

	pthread_mutex_lock(&vectors->lock);
	ret = take_locked(vectors, vector);
	pthread_mutex_unlock(&vectors->lock);
	return ret;
}

int mlx5_vfio_vectors_give(struct vfio_vectors *vectors, uint32_t vector)
{
	int ret, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* the close would keep the lock */
	pthread_mutex_lock(&vectors->lock);
	ret = set_irq(vectors->device, vector, -1);
	if (!ret) {
		close(vectors->fd[vector]);
		vectors->fd[vector] = -1;
	}
	pthread_mutex_unlock(&vectors->lock);
	pthread_setcancelstate(cancel, NULL);
	return ret;
}
