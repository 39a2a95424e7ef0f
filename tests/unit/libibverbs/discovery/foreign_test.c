/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * foreign_test.c - names of the distribution's providers: one for each kernel driver, and none for
 * drivers that are ours or unknown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libibverbs/discovery/foreign.c"

static const struct {
	uint32_t driver;
	const char *name;
} rows[] = {
	{ RDMA_DRIVER_CXGB4, "cxgb4" },     { RDMA_DRIVER_MTHCA, "mthca" },
	{ RDMA_DRIVER_BNXT_RE, "bnxt_re" }, { RDMA_DRIVER_OCRDMA, "ocrdma" },
	{ RDMA_DRIVER_IRDMA, "irdma" },     { RDMA_DRIVER_VMW_PVRDMA, "vmw_pvrdma" },
	{ RDMA_DRIVER_QEDR, "qedr" },       { RDMA_DRIVER_HNS, "hns" },
	{ RDMA_DRIVER_RXE, "rxe" },         { RDMA_DRIVER_HFI1, "hfi1verbs" },
	{ RDMA_DRIVER_QIB, "ipathverbs" },  { RDMA_DRIVER_EFA, "efa" },
	{ RDMA_DRIVER_SIW, "siw" },         { RDMA_DRIVER_ERDMA, "erdma" },
	{ RDMA_DRIVER_MANA, "mana" },       { RDMA_DRIVER_IONIC, "ionic" },
};

/* Returns the row's name, or NULL. */
static const char *name_of(uint32_t driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].driver == driver)
			return rows[i].name;
	return NULL;
}

static void each_driver_has_its_providers_name(void **state)
{
	(void)state;
	for (uint32_t driver = 0; driver < 64; driver++) {
		const char *expected = name_of(driver), *name = verbs_foreign_provider(driver);

		if (expected)
			assert_string_equal(name, expected);
		else
			assert_null(name);
	}
	assert_null(verbs_foreign_provider(UINT32_MAX));
	assert_null(verbs_foreign_provider(RDMA_DRIVER_MLX5));
	assert_null(verbs_foreign_provider(RDMA_DRIVER_MLX4));
}

static void a_plugins_name_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_true(verbs_foreign_has(rows[i].name));
	assert_false(verbs_foreign_has("mlx5"));
	assert_false(verbs_foreign_has("mlx4"));
	assert_true(verbs_foreign_names("mlx5"));
	assert_true(verbs_foreign_names("mlx4"));
	assert_true(verbs_foreign_names("rxe"));
	assert_false(verbs_foreign_names("new"));
	assert_false(verbs_foreign_has("rx"));
	assert_false(verbs_foreign_has("rxe2"));
	assert_false(verbs_foreign_has(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_driver_has_its_providers_name),
		cmocka_unit_test(a_plugins_name_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
