/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocators_test.c - custom allocators of parent domains: the requests that reach them, the
 * return of each allocation with its own data, and the queues that use them.
 *
 * Covers: providers/common/memory/allocators.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "providers/common/memory/allocators.h"
#include "providers/common/memory/dbrec.h"
#include "providers/common/pd.h"

enum { MOST = 8 };

struct program {
	void *given[MOST];
	size_t bytes[MOST];
	unsigned int count;
	bool is_empty;
};

static void *program_alloc(size_t size, void *data)
{
	struct program *program = data;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *addr =
		program->is_empty ? NULL : aligned_alloc(page, (size + page - 1) / page * page);

	if (!addr)
		return NULL;
	assert_true(program->count < MOST);
	memset(addr, 0xee, size);
	program->bytes[program->count] = size;
	program->given[program->count++] = addr;
	return addr;
}

/* Frees memory; fails for memory that the program did not allocate. */
static void program_free(void *ptr, void *data)
{
	struct program *program = data;

	assert_true(program->count > 0);
	program->count--;
	for (unsigned int i = 0; i <= program->count; i++) {
		if (program->given[i] != ptr)
			continue;
		program->given[i] = program->given[program->count];
		program->bytes[i] = program->bytes[program->count];
		free(ptr);
		return;
	}
	fail_msg("the program has not given %p", ptr);
}

static struct rig {
	struct ibv_device device;
	struct ibv_context context;
	struct dbrec_pool dbrecs;
	struct queue_allocators *allocators;
	struct program program;
} rig;

static int allocators_set(struct program *program, bool has_alloc, bool has_free)
{
	const struct program_allocator of_program = { has_alloc ? program_alloc : NULL,
						      has_free ? program_free : NULL, program };

	return provider_allocators_set("test", &rig.context, &rig.dbrecs, &of_program,
				       &rig.allocators);
}

static int open_rig(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	rig.context.device = &rig.device;
	provider_dbrec_pool_init(&rig.dbrecs);
	return 0;
}

static int close_rig(void **state)
{
	(void)state;
	provider_dbrec_pool_destroy(&rig.dbrecs);
	provider_allocators_free(&rig.allocators);
	assert_null(rig.allocators);
	assert_int_equal(rig.program.count, 0);
	return 0;
}

static void *ring_alloc(struct ibv_pd *pd, size_t size)
{
	return to_ppd(pd)->alloc(pd, to_ppd(pd)->pd_context, size, 64, 7);
}

static void ring_free(struct ibv_pd *pd, void *addr)
{
	to_ppd(pd)->free(pd, to_ppd(pd)->pd_context, addr, 7);
}

static void rings_are_whole_pages_of_zeros(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ibv_pd *domain;
	uint8_t *one, *two;

	(void)state;
	assert_int_equal(allocators_set(&rig.program, true, true), 0);
	domain = provider_allocators_domain(rig.allocators, NULL);
	assert_non_null(domain);
	assert_ptr_equal(domain->context, &rig.context);
	one = ring_alloc(domain, page + 1);
	two = ring_alloc(domain, 64);
	assert_int_equal(rig.program.bytes[0], 2 * page);
	assert_int_equal(rig.program.bytes[1], page);
	assert_int_equal(one[0] | one[2 * page - 1] | two[0] | two[page - 1], 0);
	ring_free(domain, one);
	assert_int_equal(rig.program.count, 1);
	assert_ptr_equal(rig.program.given[0], two);
	ring_free(domain, two);
	assert_int_equal(rig.program.count, 0);
	rig.program.is_empty = true;
	assert_null(ring_alloc(domain, 64));
}

static void records_come_from_pages_of_the_program(void **state)
{
	struct dbrec_page *page;
	__be32 *record;

	(void)state;
	assert_int_equal(allocators_set(&rig.program, true, true), 0);
	assert_int_equal(provider_dbrec_alloc(&rig.dbrecs, &record, &page), 0);
	assert_int_equal(rig.program.count, 1);
	assert_true((uint8_t *)record >= (uint8_t *)rig.program.given[0]);
	assert_true((uint8_t *)record < (uint8_t *)rig.program.given[0] + rig.program.bytes[0]);
	assert_int_equal(*record, 0);
	provider_dbrec_free(&rig.dbrecs, page, record);
}

/* Existing queues return their memory to the allocator that it came from, as only that one can free
 * it. */
static void a_later_allocator_is_for_later_queues(void **state)
{
	struct program later = { .count = 0 };
	struct ibv_pd *first, *second;
	void *ring, *other;

	(void)state;
	assert_int_equal(allocators_set(&rig.program, true, true), 0);
	first = provider_allocators_domain(rig.allocators, NULL);
	ring = ring_alloc(first, 100);
	assert_int_equal(allocators_set(&later, true, true), 0);
	second = provider_allocators_domain(rig.allocators, NULL);
	other = ring_alloc(second, 100);
	assert_int_equal(rig.program.count, 1);
	assert_int_equal(later.count, 1);
	ring_free(first, ring);
	assert_int_equal(rig.program.count, 0);
	ring_free(second, other);
	assert_int_equal(later.count, 0);
}

static bool is_of_program(const __be32 *record)
{
	const uint8_t *at = (const uint8_t *)record, *page = rig.program.given[0];

	return rig.program.count && at >= page && at < page + rig.program.bytes[0];
}

/* A page with records in use is freed with the last one only, as the adapter still reads them. */
static void an_allocator_that_is_taken_away_gives_no_more_records(void **state)
{
	struct dbrec_page *page, *page_after;
	__be32 *before, *after;

	(void)state;
	assert_int_equal(allocators_set(&rig.program, true, true), 0);
	assert_int_equal(provider_dbrec_alloc(&rig.dbrecs, &before, &page), 0);
	assert_true(is_of_program(before));
	assert_int_equal(allocators_set(NULL, false, false), 0);
	assert_int_equal(provider_dbrec_alloc(&rig.dbrecs, &after, &page_after), 0);
	assert_false(is_of_program(after));
	provider_dbrec_free(&rig.dbrecs, page, before);
	assert_int_equal(rig.program.count, 0);
	provider_dbrec_free(&rig.dbrecs, page_after, after);
}

static void an_empty_page_goes_with_its_allocator(void **state)
{
	struct dbrec_page *page;
	__be32 *record;

	(void)state;
	assert_int_equal(allocators_set(&rig.program, true, true), 0);
	assert_int_equal(provider_dbrec_alloc(&rig.dbrecs, &record, &page), 0);
	provider_dbrec_free(&rig.dbrecs, page, record);
	assert_int_equal(rig.program.count, 1);
	assert_int_equal(allocators_set(NULL, false, false), 0);
	assert_int_equal(rig.program.count, 0);
	assert_int_equal(provider_dbrec_alloc(&rig.dbrecs, &record, &page), 0);
	provider_dbrec_free(&rig.dbrecs, page, record);
}

static void a_former_domain_is_known(void **state)
{
	const struct provider_pd own = { .pdn = 2 };
	struct ibv_pd *former;

	(void)state;
	assert_int_equal(allocators_set(&rig.program, true, true), 0);
	former = provider_allocators_domain(rig.allocators, NULL);
	assert_int_equal(allocators_set(NULL, false, false), 0);
	assert_true(provider_allocators_have(to_ppd(former)));
	assert_false(provider_allocators_have(&own));
}

static void both_functions_are_needed(void **state)
{
	(void)state;
	assert_int_equal(allocators_set(&rig.program, false, true), EINVAL);
	assert_int_equal(allocators_set(&rig.program, true, false), EINVAL);
	assert_null(rig.allocators);
	assert_null(rig.dbrecs.source);
}

static void a_parent_domains_allocator_comes_first(void **state)
{
	struct provider_pd plain = { .pdn = 1 }, own = { .pdn = 2 };

	(void)state;
	assert_ptr_equal(provider_allocators_domain(NULL, &plain.pd), &plain.pd);
	assert_null(provider_allocators_domain(NULL, NULL));
	assert_int_equal(allocators_set(&rig.program, true, true), 0);
	own.alloc = to_ppd(provider_allocators_domain(rig.allocators, NULL))->alloc;
	assert_ptr_equal(provider_allocators_domain(rig.allocators, &own.pd), &own.pd);
	assert_ptr_not_equal(provider_allocators_domain(rig.allocators, &plain.pd), &plain.pd);
}

#define RIG_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rings_are_whole_pages_of_zeros),
		RIG_TEST(records_come_from_pages_of_the_program),
		RIG_TEST(a_later_allocator_is_for_later_queues),
		RIG_TEST(an_allocator_that_is_taken_away_gives_no_more_records),
		RIG_TEST(an_empty_page_goes_with_its_allocator),
		RIG_TEST(a_former_domain_is_known),
		RIG_TEST(both_functions_are_needed),
		RIG_TEST(a_parent_domains_allocator_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
