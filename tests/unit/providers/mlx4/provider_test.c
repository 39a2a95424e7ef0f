/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * provider_test.c - what the provider tells the library of itself, and devices from first to last.
 */
#include "rig.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>

static bool no_memory;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size) __attribute__((visibility("default")));

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

static void a_device_is_made_and_freed(void **state)
{
	const struct verbs_device_info info = { .driver_id = RDMA_DRIVER_MLX4 };
	struct verbs_device *vdev = NULL;

	(void)state;
	assert_int_equal(verbs_provider_mlx4.alloc_device(&info, &vdev), 0);
	assert_non_null(vdev);
	assert_null(vdev->driver); /* the library's to fill in, like all of it */
	verbs_provider_mlx4.free_device(vdev);
	no_memory = true;
	assert_int_equal(verbs_provider_mlx4.alloc_device(&info, &vdev), ENOMEM);
	no_memory = false;
}

static void the_driver_is_known_by_id_pci_and_abi(void **state)
{
	const struct verbs_pci_id *id = verbs_provider_mlx4.pci_ids;
	bool has_connectx3 = false;

	(void)state;
	assert_string_equal(verbs_provider_mlx4.name, "mlx4");
	assert_int_equal(verbs_provider_mlx4.driver_id, RDMA_DRIVER_MLX4);
	assert_int_equal(verbs_provider_mlx4.min_abi, 3);
	assert_int_equal(verbs_provider_mlx4.max_abi, 4);
	for (; id->vendor; id++) {
		assert_int_equal(id->vendor, 0x15b3);
		has_connectx3 |= id->device == 0x1003;
	}
	assert_true(has_connectx3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_made_and_freed),
		cmocka_unit_test(the_driver_is_known_by_id_pci_and_abi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
