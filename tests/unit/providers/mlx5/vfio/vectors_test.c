/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vectors_test.c - interrupts as eventfds, of a host that has all vectors, fewer, or none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <string.h>

#include "providers/mlx5/vfio/vectors.h"

enum { VECTORS = 5 };

static struct {
	uint32_t has; /* vectors, of which it enables no part */
	uint32_t enabled;
	int fd[VECTORS];
	int err;
	unsigned int calls;
	uint32_t requests; /* interrupts by which it asks for the device back */
	int request_fd, request_err;
} host;

int __wrap_ioctl(int fd, unsigned long request, const struct vfio_irq_set *set);
int __wrap___ioctl_time64(int fd, unsigned long request, const struct vfio_irq_set *set);

static int irq_info(struct vfio_irq_info *info)
{
	assert_int_equal(info->index, VFIO_PCI_REQ_IRQ_INDEX);
	info->count = host.requests;
	return 0;
}

static int request_set(const struct vfio_irq_set *set)
{
	assert_int_equal(set->argsz, sizeof(*set) + sizeof(int));
	assert_true(set->start == 0 && set->count == 1 && host.requests);
	memcpy(&host.request_fd, set->data, sizeof(int));
	errno = host.request_err;
	return host.request_err ? -1 : 0;
}

int __wrap_ioctl(int fd, unsigned long request, const struct vfio_irq_set *set)
{
	(void)fd;
	if (request == VFIO_DEVICE_GET_IRQ_INFO)
		return irq_info((struct vfio_irq_info *)(uintptr_t)set);
	if (set->index == VFIO_PCI_REQ_IRQ_INDEX)
		return request_set(set);
	host.calls++;
	assert_true(request == VFIO_DEVICE_SET_IRQS);
	assert_int_equal(set->argsz, sizeof(*set) + set->count * sizeof(int));
	assert_int_equal(set->index, VFIO_PCI_MSIX_IRQ_INDEX);
	assert_in_range(set->start + set->count, 1, VECTORS);
	if (host.err) {
		errno = host.err;
		return -1;
	}
	if (set->start + set->count > host.has)
		return (int)host.has; /* errno stays */
	if (!host.enabled)
		host.enabled = set->start + set->count;
	assert_true(set->start + set->count <= host.enabled);
	memcpy(host.fd + set->start, set->data, set->count * sizeof(int));
	return 0;
}

int __wrap___ioctl_time64(int fd, unsigned long request, const struct vfio_irq_set *set)
{
	return __wrap_ioctl(fd, request, set);
}

static struct vfio_vectors vectors;

static int host_up(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	host.has = VECTORS;
	errno = 0;
	return 0;
}

static void take_all(uint32_t count)
{
	uint32_t vector;

	assert_int_equal(vectors.count, count);
	assert_int_equal(host.enabled, count);
	for (uint32_t i = 1; i < count; i++) {
		assert_int_equal(mlx5_vfio_vectors_take(&vectors, &vector), 0);
		assert_int_equal(vector, i);
		assert_int_equal(host.fd[i], vectors.fd[i]);
	}
	assert_int_equal(mlx5_vfio_vectors_take(&vectors, &vector), ENOSPC);
}

static void each_vector_has_an_eventfd(void **state)
{
	uint32_t vector;

	(void)state;
	assert_int_equal(mlx5_vfio_vectors_init(&vectors, -1, VECTORS), 0);
	assert_int_equal(host.fd[0], vectors.fd[0]);
	assert_int_equal(host.fd[1], -1);
	take_all(VECTORS);
	assert_int_equal(mlx5_vfio_vectors_give(&vectors, 2), 0);
	assert_int_equal(host.fd[2], -1);
	assert_int_equal(mlx5_vfio_vectors_take(&vectors, &vector), 0);
	assert_int_equal(vector, 2);
	mlx5_vfio_vectors_destroy(&vectors);
}

static void a_host_may_ask_for_the_device(void **state)
{
	(void)state;
	host.request_fd = -1;
	assert_int_equal(mlx5_vfio_vectors_init(&vectors, -1, VECTORS), 0);
	assert_true(host.request_fd == -1 && vectors.request_fd == -1);
	mlx5_vfio_vectors_destroy(&vectors);
	host.requests = 1;
	assert_int_equal(mlx5_vfio_vectors_init(&vectors, -1, VECTORS), 0);
	assert_true(host.request_fd >= 0 && host.request_fd == vectors.request_fd);
	assert_int_not_equal(host.request_fd, vectors.fd[0]); /* events do not hide it */
	mlx5_vfio_vectors_destroy(&vectors);
	assert_int_equal(fcntl(host.request_fd, F_GETFD), -1);
	host.request_err = EINVAL;
	assert_int_equal(mlx5_vfio_vectors_init(&vectors, -1, VECTORS), 0);
	assert_int_equal(vectors.request_fd, -1);
	mlx5_vfio_vectors_destroy(&vectors);
}

static void a_host_may_have_fewer(void **state)
{
	(void)state;
	for (host.has = 1; host.has < VECTORS; host.has++) {
		host.enabled = 0;
		assert_int_equal(mlx5_vfio_vectors_init(&vectors, -1, VECTORS), 0);
		take_all(host.has);
		mlx5_vfio_vectors_destroy(&vectors);
	}
	assert_int_equal(host.calls, 2 * 4 + 1 + 2 + 3); /* of enabling, and of taking */
}

static void an_error_is_that_of_the_host(void **state)
{
	uint32_t vector;

	(void)state;
	host.err = EBUSY;
	assert_int_equal(mlx5_vfio_vectors_init(&vectors, -1, VECTORS), EBUSY);
	assert_int_equal(host.calls, 1);
	host.err = 0;
	assert_int_equal(mlx5_vfio_vectors_init(&vectors, -1, VECTORS), 0);
	host.err = EIO;
	assert_int_equal(mlx5_vfio_vectors_take(&vectors, &vector), EIO);
	assert_int_equal(vectors.fd[1], -1);
	host.err = 0;
	host.has = 1; /* another device took them */
	assert_int_equal(mlx5_vfio_vectors_take(&vectors, &vector), ENOSPC);
	assert_int_equal(vectors.fd[1], -1);
	mlx5_vfio_vectors_destroy(&vectors);
	assert_int_equal(mlx5_vfio_vectors_init(&vectors, -1, 0), EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_vector_has_an_eventfd, host_up),
		cmocka_unit_test_setup(a_host_may_have_fewer, host_up),
		cmocka_unit_test_setup(a_host_may_ask_for_the_device, host_up),
		cmocka_unit_test_setup(an_error_is_that_of_the_host, host_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
