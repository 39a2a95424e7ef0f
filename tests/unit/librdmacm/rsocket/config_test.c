/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config_test.c - the defaults of sockets: of the files, within their limits, and without files;
 * and how long a sleep lasts at most. The files are the test's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librdmacm/rsocket/config.c"

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

static const char *file_name, *file_text; /* the only file there is */

FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (strncmp(path, CONFIG_DIR, strlen(CONFIG_DIR)) != 0)
		return __real_fopen(path, mode);
	if (!file_name || strcmp(path + strlen(CONFIG_DIR), file_name) != 0)
		return NULL;
	return fmemopen((char *)(uintptr_t)file_text, strlen(file_text), "r");
}

/* fopen() has this name where a 32-bit program has 64-bit file offsets, so both are wrapped */
FILE *__wrap_fopen64(const char *path, const char *mode) __attribute__((alias("__wrap_fopen")));

static const struct rs_defaults *defaults_with(const char *name, const char *text)
{
	static struct rs_defaults built_in;
	static bool is_kept;

	if (!is_kept)
		built_in = defaults;
	is_kept = true;
	defaults = built_in;
	file_name = name;
	file_text = text;
	read_all();
	return &defaults;
}

static void without_files_there_are_defaults(void **state)
{
	const struct rs_defaults *now = defaults_with(NULL, NULL);

	(void)state;
	assert_int_equal(now->options.sq_size, 384);
	assert_int_equal(now->options.rq_size, 384);
	assert_int_equal(now->options.inline_size, 64);
	assert_int_equal(now->options.mappings, 0);
	assert_int_equal(now->flags.rx_size, 131072);
	assert_int_equal(now->flags.tx_size, 131072);
	assert_int_equal(now->polling_us, 10);
	assert_int_equal(now->wake_ms, 5000);
	assert_ptr_equal(rdmacm_rs_defaults(), now);
}

#define OF(member) offsetof(struct rs_defaults, member)

/* Each file is of one number, which has to be within its limits. */
static void a_file_sets_its_number_within_limits(void **state)
{
	static const struct {
		const char *name, *least, *most, *below, *above;
		size_t place;
	} files[] = {
		{ "mem_default", "1", "1073741824", "0", "1073741825", OF(flags.rx_size) },
		{ "wmem_default", "1", "1073741824", "0", "1073741825", OF(flags.tx_size) },
		{ "sqsize_default", "1", "65534", "0", "65535", OF(options.sq_size) },
		{ "rqsize_default", "1", "65534", "0", "65535", OF(options.rq_size) },
		{ "inline_default", "0", "1024", "-1", "1025", OF(options.inline_size) },
		{ "iomap_size", "0", "128", "-1", "1000000", OF(options.mappings) },
		{ "polling_time", "0", "1000000", "-1", "1000001", OF(polling_us) },
		{ "wake_up_interval", "1", "1073741824", "0", "1073741825", OF(wake_ms) },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const char *name = files[i].name;
		const char *bytes = (const char *)defaults_with(NULL, NULL) + files[i].place;
		const int built_in = *(const int *)(const void *)bytes;
		const int *value = (const int *)(const void *)bytes;

		defaults_with(name, files[i].least);
		assert_int_equal(*value, strtol(files[i].least, NULL, 10));
		defaults_with(name, files[i].most);
		assert_int_equal(*value, strtol(files[i].most, NULL, 10));
		defaults_with(name, files[i].below);
		assert_int_equal(*value, built_in);
		defaults_with(name, files[i].above);
		assert_int_equal(*value, built_in);
		defaults_with(name, "many");
		assert_int_equal(*value, built_in);
	}
}

/* Only counts that fit the hello message are used: it has them in one byte. */
static void mappings_are_as_many_as_the_peer_is_told(void **state)
{
	(void)state;
	for (unsigned int count = 0; count <= WIRE_MAX_MAPPINGS; count++) {
		char text[16];
		unsigned int got;

		snprintf(text, sizeof(text), "%u", count);
		got = defaults_with("iomap_size", text)->options.mappings;
		assert_in_range(got, 0, count);
		assert_int_equal(rdmacm_wire_count_unscale(rdmacm_wire_count_scale(got)), got);
	}
}

static void a_sleep_ends_at_its_deadline_or_before(void **state)
{
	const int64_t now_us = rdmacm_rs_now_us();

	(void)state;
	defaults_with("wake_up_interval", "50");
	assert_int_equal(rdmacm_rs_sleep_limit(-1), 50);
	assert_int_equal(rdmacm_rs_sleep_limit(now_us + 1000000000), 50);
	assert_int_equal(rdmacm_rs_sleep_limit(now_us - 5000), 0);
	defaults_with("wake_up_interval", "1000000000");
	assert_in_range(rdmacm_rs_sleep_limit(now_us + 500000000), 400000, 500000);
}

static void a_limit_is_of_milliseconds_or_microseconds(void **state)
{
	const int64_t now_us = rdmacm_rs_now_us();

	(void)state;
	assert_int_equal(rdmacm_rs_deadline(-1), -1);
	assert_in_range(rdmacm_rs_deadline(1000000) - now_us, 1000000000, 1100000000);
	assert_int_equal(rdmacm_rs_limit_over(0), -1);
	assert_int_equal(rdmacm_rs_limit_over(-1), 0);
	assert_in_range(rdmacm_rs_limit_over(1000000000) - now_us, 1000000000, 1100000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_files_there_are_defaults),
		cmocka_unit_test(a_file_sets_its_number_within_limits),
		cmocka_unit_test(mappings_are_as_many_as_the_peer_is_told),
		cmocka_unit_test(a_sleep_ends_at_its_deadline_or_before),
		cmocka_unit_test(a_limit_is_of_milliseconds_or_microseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
