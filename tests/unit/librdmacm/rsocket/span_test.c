/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Buffers of an iovec as one run of bytes.
 *
 * Covers: librdmacm/rsocket/span.c
 */
#include "tests/unit/libibverbs/unit.h"
#include "librdmacm/rsocket/span.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static void parts_are_read_in_order(void **state)
{
	struct iovec iov[] = { { "ab", 2 }, { NULL, 0 }, { "cde", 3 }, { "f", 1 } };
	struct span span;
	char out[8] = "";

	(void)state;
	assert_int_equal(rdmacm_span_init(&span, iov, 4), 0);
	assert_int_equal(span.left, 6);
	rdmacm_span_read(&span, out, 1);
	rdmacm_span_read(&span, out + 1, 4);
	assert_int_equal(span.left, 1);
	rdmacm_span_read(&span, out + 5, 1);
	assert_string_equal(out, "abcdef");
	assert_int_equal(span.left, 0);
}

static void bytes_are_written_across_parts(void **state)
{
	char a[3] = "", b[3] = "";
	struct iovec iov[] = { { a, 2 }, { b, 2 } };
	struct span span;

	(void)state;
	assert_int_equal(rdmacm_span_init(&span, iov, 2), 0);
	rdmacm_span_write(&span, "123", 3);
	assert_string_equal(a, "12");
	assert_string_equal(b, "3");
	assert_int_equal(span.left, 1);
}

static void front_passes_over_empty_parts(void **state)
{
	char byte = 'x';
	struct iovec iov[] = { { NULL, 0 }, { NULL, 0 }, { &byte, 1 } };
	struct span span;
	size_t size = 10;

	(void)state;
	assert_int_equal(rdmacm_span_init(&span, iov, 3), 0);
	assert_ptr_equal(rdmacm_span_front(&span, &size), &byte);
	assert_int_equal(size, 1);
	rdmacm_span_skip(&span, 1);
	size = 10;
	assert_null(rdmacm_span_front(&span, &size));
	assert_int_equal(size, 0);
}

static void lengths_that_do_not_fit_are_refused(void **state)
{
	struct iovec iov[] = { { NULL, SSIZE_MAX }, { NULL, 1 } };
	struct span span;

	(void)state;
	assert_int_equal(rdmacm_span_init(&span, iov, 2), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_read_in_order),
		cmocka_unit_test(bytes_are_written_across_parts),
		cmocka_unit_test(front_passes_over_empty_parts),
		cmocka_unit_test(lengths_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
