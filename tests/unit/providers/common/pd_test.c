/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd_test.c - protection domains, thread domains and parent domains: what a parent takes from its
 * attributes, what is refused while it has users, and failures. Functions of the test stand for the
 * kernel.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/common/memory/cells.h"
#include "providers/common/pd.h"
#include "tests/unit/log_text.h"
#include "tests/unit/heap.h"

static struct {
	struct ibv_context context;
	struct cells cells;
	int kernel_err, pds;
} it;

int verbs_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		       const struct verbs_udata *udata)
{
	assert_null(udata);
	if (it.kernel_err)
		return it.kernel_err;
	pd->context = context;
	pd->handle = 0x42;
	it.pds++;
	return 0;
}

int verbs_cmd_dealloc_pd(struct ibv_pd *pd)
{
	assert_int_equal(pd->handle, 0x42);
	if (it.kernel_err)
		return it.kernel_err;
	it.pds--;
	return 0;
}

static int pd_begin(void **state)
{
	(void)state;
	verbs_warn("the log keeps memory from its first line on");
	heap_begin();
	memset(&it, 0, sizeof(it));
	log_text();
	return 0;
}

static int pd_end(void **state)
{
	(void)state;
	provider_cells_destroy(&it.cells);
	assert_int_equal(it.pds, 0);
	assert_int_equal(heap.blocks, 0);
	return 0;
}

static struct ibv_pd *pd_new(void)
{
	struct ibv_pd *pd = NULL;

	assert_int_equal(provider_pd_alloc(&it.context, &it.cells, NULL, &pd), 0);
	assert_ptr_equal(pd->context, &it.context);
	return pd;
}

static struct ibv_pd *parent_of(struct ibv_pd *pd, struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = { .pd = pd, .td = td };

	return provider_parent_domain_alloc(&it.context, &attr);
}

/* ---- protection domains ---- */

static void a_domain_comes_and_goes(void **state)
{
	struct ibv_pd *pd = pd_new();

	(void)state;
	assert_null(to_ppd(pd)->base);
	assert_int_equal(it.pds, 1);
	assert_null(provider_pd_use(pd)); /* only parents count their queues */
	assert_null(provider_pd_use(NULL));
	provider_pd_leave(NULL);
	it.kernel_err = EBUSY;
	assert_int_equal(provider_pd_dealloc(pd), EBUSY);
	it.kernel_err = 0;
	assert_int_equal(provider_pd_dealloc(pd), 0);
	assert_int_equal(it.pds, 0);
}

static void a_domain_that_fails_leaves_nothing(void **state)
{
	struct ibv_pd *pd;

	(void)state;
	heap_fail_at(1);
	assert_int_equal(provider_pd_alloc(&it.context, &it.cells, NULL, &pd), ENOMEM);
	it.kernel_err = EPERM;
	assert_int_equal(provider_pd_alloc(&it.context, &it.cells, NULL, &pd), EPERM);
	it.kernel_err = 0;
	pd = pd_new(); /* takes the cell that was given back */
	assert_int_equal(provider_pd_dealloc(pd), 0);
}

static void an_imported_domain_is_of_the_program(void **state)
{
	struct ibv_pd *pd, *parent;

	(void)state;
	heap_fail_at(1);
	assert_int_equal(provider_pd_import(&it.context, 7, 8, &pd), ENOMEM);
	assert_int_equal(provider_pd_import(&it.context, 7, 8, &pd), 0);
	assert_ptr_equal(pd->context, &it.context);
	assert_int_equal(pd->handle, 7);
	assert_int_equal(to_ppd(pd)->pdn, 8);
	parent = parent_of(pd, NULL);
	provider_pd_unimport(pd);
	check_logged("unimport_pd: PD 7 has parent domains, and stays");
	assert_ptr_equal(provider_pd_use(parent), to_ppd(parent));
	provider_pd_unimport(parent);
	check_logged("unimport_pd: PD 7 has queues, and stays");
	provider_pd_leave(to_ppd(parent));
	provider_pd_unimport(parent);
	provider_pd_unimport(pd);
	assert_int_equal(heap.blocks, 0);
}

/* ---- parent domains ---- */

static void *alloc_nothing(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
			   uint64_t resource_type)
{
	(void)pd;
	(void)pd_context;
	(void)size;
	(void)alignment;
	(void)resource_type;
	return NULL;
}

static void free_nothing(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type)
{
	(void)pd;
	(void)pd_context;
	(void)ptr;
	(void)resource_type;
}

static void a_parent_takes_what_its_mask_names(void **state)
{
	struct ibv_pd *pd = pd_new(), *parent;
	struct provider_td td = { 0 };
	int mark;
	struct ibv_parent_domain_init_attr attr = { .pd = pd,
						    .td = &td.td,
						    .alloc = alloc_nothing,
						    .free = free_nothing,
						    .pd_context = &mark };

	(void)state;
	to_ppd(pd)->pdn = 0x99;
	for (uint32_t mask = 0; mask < 4; mask++) {
		const bool allocs = mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
		const bool has_context = mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;

		attr.comp_mask = mask;
		parent = provider_parent_domain_alloc(&it.context, &attr);
		assert_non_null(parent);
		assert_ptr_equal(parent->context, &it.context);
		assert_int_equal(parent->handle, 0x42);
		assert_int_equal(to_ppd(parent)->pdn, 0x99);
		assert_ptr_equal(to_ppd(parent)->base, to_ppd(pd));
		assert_ptr_equal(to_ppd(parent)->td, &td);
		assert_true(to_ppd(parent)->alloc == (allocs ? alloc_nothing : NULL));
		assert_true(to_ppd(parent)->free == (allocs ? free_nothing : NULL));
		assert_ptr_equal(to_ppd(parent)->pd_context, has_context ? &mark : NULL);
		assert_int_equal(provider_pd_dealloc(parent), 0);
	}
	parent = parent_of(pd, NULL);
	assert_null(to_ppd(parent)->td);
	assert_int_equal(provider_pd_dealloc(parent), 0);
	assert_int_equal(provider_pd_dealloc(pd), 0);
}

static void nothing_goes_before_its_users(void **state)
{
	struct ibv_pd *pd = pd_new(), *parent;
	struct provider_td td = { 0 };

	(void)state;
	assert_int_equal(provider_td_check_unused(&td), 0);
	parent = parent_of(pd, &td.td);
	assert_int_equal(provider_pd_dealloc(pd), EBUSY);
	check_logged("dealloc_pd: PD 66 has parent domains: end them first");
	assert_int_equal(provider_td_check_unused(&td), EBUSY);
	check_logged("dealloc_td: the thread domain has parent domains");
	assert_ptr_equal(provider_pd_use(parent), to_ppd(parent));
	assert_int_equal(provider_pd_dealloc(parent), EBUSY);
	check_logged("dealloc_pd: the parent domain of PD 66 has queues: end them first");
	provider_pd_leave(to_ppd(parent));
	assert_int_equal(provider_pd_dealloc(parent), 0);
	assert_int_equal(provider_td_check_unused(&td), 0);
	assert_int_equal(it.pds, 1);
	assert_int_equal(provider_pd_dealloc(pd), 0);
}

static void check_no_parent(struct ibv_parent_domain_init_attr *attr, int err, const char *text)
{
	assert_null(provider_parent_domain_alloc(&it.context, attr));
	assert_int_equal(errno, err);
	check_logged(text);
}

static void a_parent_that_cannot_be_is_refused(void **state)
{
	struct ibv_pd *pd = pd_new();
	struct ibv_parent_domain_init_attr attr = { .pd = pd, .comp_mask = 1u << 3 };

	(void)state;
	check_no_parent(NULL, EINVAL, "alloc_parent_domain: attr is NULL");
	check_no_parent(&attr, EINVAL, "alloc_parent_domain: comp_mask is 0x8, supported are 0x");
	attr = (struct ibv_parent_domain_init_attr){ 0 };
	check_no_parent(&attr, EINVAL, "alloc_parent_domain: pd is missing");
	attr.pd = pd;
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	attr.alloc = alloc_nothing;
	check_no_parent(&attr, EINVAL, "alloc_parent_domain: free is NULL: set both");
	attr.alloc = NULL;
	attr.free = free_nothing;
	check_no_parent(&attr, EINVAL, "alloc_parent_domain: alloc is NULL: set both");
	attr.comp_mask = 0; /* then both count for nothing */
	assert_int_equal(provider_pd_dealloc(provider_parent_domain_alloc(&it.context, &attr)), 0);
	attr = (struct ibv_parent_domain_init_attr){ .pd = pd };
	heap_fail_at(1);
	check_no_parent(&attr, ENOMEM, "");
	assert_int_equal(to_ppd(pd)->users, 0);
	assert_int_equal(provider_pd_dealloc(pd), 0);
}

static void a_thread_domain_has_no_attributes(void **state)
{
	struct ibv_td_init_attr attr = { 0 };

	(void)state;
	assert_int_equal(provider_td_check_attr(&attr), 0);
	assert_int_equal(provider_td_check_attr(NULL), EINVAL);
	check_logged("alloc_td: attr is NULL");
	attr.comp_mask = 4;
	assert_int_equal(provider_td_check_attr(&attr), EINVAL);
	check_logged("alloc_td: comp_mask is 0x4, must be 0");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, pd_begin, pd_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_domain_comes_and_goes),
		TEST(a_domain_that_fails_leaves_nothing),
		TEST(an_imported_domain_is_of_the_program),
		TEST(a_parent_takes_what_its_mask_names),
		TEST(nothing_goes_before_its_users),
		TEST(a_parent_that_cannot_be_is_refused),
		TEST(a_thread_domain_has_no_attributes),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
