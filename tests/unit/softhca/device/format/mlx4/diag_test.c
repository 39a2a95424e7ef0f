/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diag_test.c - mlx4's error counters: their set while the adapter is initialized, and the report.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/diag.c"

static struct q_counter set;
static struct mlx4_firmware firmware;
static int sets;

int q_counter_add(struct hca *hca, struct q_counter **counter)
{
	(void)hca;
	sets++;
	*counter = &set;
	return 0;
}

void q_counter_remove(struct hca *hca, struct q_counter *counter)
{
	(void)hca;
	assert_ptr_equal(counter, &set);
	sets--;
}

static void there_is_a_set_from_begin_to_end(void **state)
{
	struct hca *hca = calloc(1, sizeof(*hca));

	(void)state;
	assert_non_null(hca);
	hca->mlx4 = &firmware;
	m4_diag_end(hca); /* none yet */
	assert_int_equal(m4_diag_begin(hca), 0);
	assert_ptr_equal(firmware.counters, &set);
	assert_int_equal(sets, 1);
	m4_diag_end(hca);
	assert_null(firmware.counters);
	assert_int_equal(sets, 0);
	m4_diag_end(hca);
	free(hca);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(there_is_a_set_from_begin_to_end) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
