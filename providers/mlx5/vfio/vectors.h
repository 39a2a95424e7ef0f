/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vectors.h - the device's interrupts (MSI-X), each an eventfd. Vector 0 is the library's.
 */
#ifndef PROVIDERS_MLX5_VFIO_VECTORS_H
#define PROVIDERS_MLX5_VFIO_VECTORS_H

#include <pthread.h>
#include <stdint.h>

struct vfio_vectors {
	int device;
	uint32_t count;
	pthread_mutex_t lock;
	int *fd;        /* eventfd of each vector; -1: none */
	int request_fd; /* eventfd that the host signals when it wants the device back; -1: none */
};

/* Enables all vectors, or as many as the host has, and creates the eventfd of vector 0, and
 * the one of the host's requests if it has such an interrupt. */
int mlx5_vfio_vectors_init(struct vfio_vectors *vectors, int device, uint32_t count);
/* Closes all eventfds. Makes no call to the device, so the device may already be closed. */
void mlx5_vfio_vectors_destroy(struct vfio_vectors *vectors);
int mlx5_vfio_vectors_take(struct vfio_vectors *vectors, uint32_t *vector);
int mlx5_vfio_vectors_give(struct vfio_vectors *vectors, uint32_t vector);

#endif
