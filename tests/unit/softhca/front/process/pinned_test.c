/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pinned_test.c - pinned memory counts against the limit of its process: whole pages, records of a
 * page once, and who has the pages until they are dropped. The process is the test itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "softhca/front/process/pinned.c"

enum { TID = 77, PAGE = 4096 };

static struct {
	struct client client;
	bool may; /* the program has CAP_IPC_LOCK */
	unsigned int errors;
	struct rlimit limit;
} it;

bool client_may(pid_t tid, unsigned int capability)
{
	assert_int_equal(tid, TID);
	assert_int_equal(capability, CLIENT_CAP_IPC_LOCK);
	return it.may;
}

void log_print(enum log_level level, const char *format, ...)
{
	(void)format;
	it.errors += level == LOG_ERROR;
}

static void limit_set(rlim_t bytes)
{
	struct rlimit limit = it.limit;

	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

static int pinned_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &it.limit), 0);
	it.client.pid = getpid();
	it.client.pinning.client = &it.client;
	LIST_INIT(&it.client.records);
	limit_set(8 * PAGE);
	return 0;
}

static int pinned_end(void **state)
{
	(void)state;
	pinned_drop(&it.client.pinning);
	assert_int_equal(it.client.pinned_pages, 0);
	assert_true(LIST_EMPTY(&it.client.records));
	limit_set(it.limit.rlim_cur);
	return 0;
}

static void whole_pages_count(void **state)
{
	static const struct {
		uint64_t addr, len, pages;
	} rows[] = {
		{ 0x10000, 1, 1 },    { 0x10000, 4096, 1 }, { 0x10000, 4097, 2 },
		{ 0x10fff, 1, 1 },    { 0x10fff, 2, 2 },    { 0x10001, 4095, 1 },
		{ 0x10001, 4096, 2 }, { 0x10000, 8192, 2 }, { 0x10800, 8192, 3 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(pinned_add(&it.client, TID, rows[i].addr, rows[i].len), 0);
		assert_int_equal(it.client.pinned_pages, rows[i].pages);
		assert_int_equal(it.client.pinning.pages, rows[i].pages);
		pinned_drop(&it.client.pinning);
		assert_int_equal(it.client.pinned_pages, 0);
	}
}

static void the_limit_can_be_used_up(void **state)
{
	(void)state;
	assert_int_equal(pinned_add(&it.client, TID, 0, 8 * PAGE), 0);
	assert_int_equal(pinned_add(&it.client, TID, 0, 1), ENOMEM);
	assert_int_equal(it.client.pinned_pages, 8);
	assert_int_equal(it.client.pinning.pages, 8);
	pinned_drop(&it.client.pinning);
	assert_int_equal(pinned_add(&it.client, TID, 0, 8 * PAGE + 1), ENOMEM);
	limit_set(9 * PAGE - 1); /* a part of a page is none */
	assert_int_equal(pinned_add(&it.client, TID, 0, 9 * PAGE), ENOMEM);
	assert_int_equal(it.client.pinned_pages, 0);
}

static void without_any_limit_nothing_may_be_pinned(void **state)
{
	(void)state;
	limit_set(0);
	assert_int_equal(pinned_add(&it.client, TID, 0, 1), EPERM);
	assert_int_equal(pinned_add_record(&it.client, TID, 0), EPERM);
	assert_true(LIST_EMPTY(&it.client.records));
}

static void a_privileged_program_has_no_limit(void **state)
{
	(void)state;
	it.may = true;
	assert_int_equal(pinned_add(&it.client, TID, 0, 9 * PAGE), 0);
	assert_int_equal(it.client.pinned_pages, 9);
	assert_int_equal(it.errors, 0);
}

static void an_unknown_limit_is_none(void **state)
{
	(void)state;
	it.client.pid = -5;
	assert_int_equal(pinned_add(&it.client, TID, 0, 1000000ull * PAGE), 0);
}

static void records_of_a_page_count_once(void **state)
{
	struct pinned first = { 0 }, second = { 0 };

	(void)state;
	assert_int_equal(pinned_add_record(&it.client, TID, 0x10000), 0);
	pinned_take(&it.client, &first);
	assert_int_equal(pinned_add_record(&it.client, TID, 0x10fff), 0);
	pinned_take(&it.client, &second);
	assert_ptr_equal(first.record, second.record);
	assert_int_equal(it.client.pinned_pages, 1);
	pinned_drop(&first);
	assert_int_equal(it.client.pinned_pages, 1);
	assert_int_equal(pinned_add_record(&it.client, TID, 0x11000), 0);
	pinned_take(&it.client, &first);
	assert_ptr_not_equal(first.record, second.record);
	assert_int_equal(it.client.pinned_pages, 2);
	pinned_drop(&second);
	assert_null(second.record);
	assert_int_equal(it.client.pinned_pages, 1);
	pinned_drop(&first);
	assert_int_equal(it.client.pinned_pages, 0);
	pinned_drop(&first); /* has nothing any more */
}

static void a_record_beyond_the_limit_is_refused(void **state)
{
	(void)state;
	assert_int_equal(pinned_add(&it.client, TID, 0, 8 * PAGE), 0);
	assert_int_equal(pinned_add_record(&it.client, TID, 0x10000), ENOMEM);
	assert_null(it.client.pinning.record);
	assert_true(LIST_EMPTY(&it.client.records));
}

static void an_object_takes_what_its_call_has_pinned(void **state)
{
	struct pinned object = { 0 };
	struct pinned_record *record;

	(void)state;
	assert_int_equal(pinned_add(&it.client, TID, 0, PAGE), 0);
	assert_int_equal(pinned_add(&it.client, TID, 0x10000, PAGE), 0);
	assert_int_equal(pinned_add_record(&it.client, TID, 0x20000), 0);
	pinned_take(&it.client, &object);
	assert_ptr_equal(object.client, &it.client);
	assert_int_equal(object.pages, 2);
	record = object.record;
	assert_non_null(record);
	assert_int_equal(it.client.pinning.pages, 0);
	assert_null(it.client.pinning.record);
	assert_ptr_equal(it.client.pinning.client, &it.client);
	assert_int_equal(it.client.pinned_pages, 3);
	assert_int_equal(pinned_add(&it.client, TID, 0, 4 * PAGE), 0);
	pinned_take(&it.client, &object); /* of a resize, for instance */
	assert_int_equal(object.pages, 4);
	assert_ptr_equal(object.record, record);
	assert_int_equal(it.client.pinned_pages, 5);
	pinned_drop(&object);
	assert_int_equal(object.pages, 0);
	assert_int_equal(it.client.pinned_pages, 0);
}

/* The last one, as it holds from then on. */
static void the_limit_can_be_lifted(void **state)
{
	(void)state;
	it.errors = 0;
	pinned_lift_limit();
	assert_int_equal(pinned_add(&it.client, TID, 0, 9 * PAGE), 0);
	assert_int_equal(it.errors, 0);
}

/* The first one, as a refusal is explained once. */
static void a_refusal_is_explained_once(void **state)
{
	(void)state;
	assert_int_equal(pinned_add(&it.client, TID, 0, 9 * PAGE), ENOMEM);
	assert_int_equal(it.errors, 1);
	assert_int_equal(pinned_add(&it.client, TID, 0, 9 * PAGE), ENOMEM);
	assert_int_equal(it.errors, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, pinned_begin, pinned_end)
	const struct CMUnitTest tests[] = {
		CASE(a_refusal_is_explained_once),
		CASE(whole_pages_count),
		CASE(the_limit_can_be_used_up),
		CASE(without_any_limit_nothing_may_be_pinned),
		CASE(a_privileged_program_has_no_limit),
		CASE(an_unknown_limit_is_none),
		CASE(records_of_a_page_count_once),
		CASE(a_record_beyond_the_limit_is_refused),
		CASE(an_object_takes_what_its_call_has_pinned),
		CASE(the_limit_can_be_lifted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
