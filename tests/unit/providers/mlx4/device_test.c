/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_test.c - where the driver's part of the kernel's answer goes in the extended query.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "providers/common/device.h"
#include "providers/mlx4/device.h"

static void each_field_has_its_place(void **state)
{
	const struct mlx4_uverbs_ex_query_device_resp resp = {
		.rss_caps = { .rx_hash_fields_mask = 0x1122334455667788, .rx_hash_function = 0x99 },
		.tso_caps = { .max_tso = 0x10000, .supported_qpts = 0x105 },
	};
	struct ibv_device_attr_ex attr, expected;

	(void)state;
	memset(&attr, 0xee, sizeof(attr));
	memcpy(&expected, &attr, sizeof(expected));
	expected.tso_caps.max_tso = 0x10000;
	expected.tso_caps.supported_qpts = 0x105;
	expected.rss_caps.rx_hash_fields_mask = 0x1122334455667788;
	expected.rss_caps.rx_hash_function = 0x99;
	mlx4_device_kind.add_caps(&resp, &attr);
	assert_memory_equal(&attr, &expected, sizeof(attr));
	assert_int_equal(mlx4_device_kind.resp_size, sizeof(resp));
	assert_int_equal(mlx4_device_kind.fw_digits, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_field_has_its_place) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
