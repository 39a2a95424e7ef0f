/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_test.c - a send during which the peer closes: what it returns, and where the error is found.
 *
 * Covers: librdmacm/rsocket/stream/io.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/uio.h>

#include <cmocka.h>

#include "librdmacm/rsocket/stream/stream.h"

enum { ALL = 100, PIECE = 10 };

static unsigned int pieces_of_room;

bool __wrap_rdmacm_stream_can_send(struct stream *stream) __attribute__((visibility("default")));
int __wrap_rdmacm_stream_post_data(struct stream *stream, uint64_t addr, uint32_t lkey,
				   uint32_t bytes, bool is_inline)
	__attribute__((visibility("default")));
int __wrap_rdmacm_stream_wait(struct stream *stream, bool (*ready)(struct stream *),
			      bool nonblocking, int64_t deadline_us)
	__attribute__((visibility("default")));

bool __wrap_rdmacm_stream_can_send(struct stream *stream)
{
	(void)stream;
	return pieces_of_room > 0;
}

int __wrap_rdmacm_stream_post_data(struct stream *stream, uint64_t addr, uint32_t lkey,
				   uint32_t bytes, bool is_inline)
{
	(void)stream;
	(void)addr;
	(void)lkey;
	(void)is_inline;
	assert_int_equal(bytes, PIECE);
	pieces_of_room--;
	return 0;
}

/* While the call waits for room, the peer says that it closes. */
int __wrap_rdmacm_stream_wait(struct stream *stream, bool (*ready)(struct stream *),
			      bool nonblocking, int64_t deadline_us)
{
	(void)nonblocking;
	(void)deadline_us;
	assert_false(ready(stream));
	stream->peer_gone = true;
	assert_true(ready(stream));
	return 0;
}

static struct stream *stream_make(unsigned int pieces)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	assert_non_null(stream);
	stream->state = STREAM_CONNECTED;
	stream->rs.is_sound = true;
	stream->inline_size = ALL;
	stream->target.length = PIECE;
	pieces_of_room = pieces;
	return stream;
}

static int bytes_send(struct stream *stream, size_t *done)
{
	static uint8_t bytes[ALL];
	struct iovec iov = { bytes, sizeof(bytes) };
	struct span span;

	assert_int_equal(span_of_buffer(&span, &iov), 0);
	return rdmacm_stream_send(&stream->rs, &span, MSG_DONTWAIT, NULL, 0, done);
}

static void a_reset_after_some_bytes_is_found_by_so_error(void **state)
{
	struct stream *stream = stream_make(1);
	size_t done = 0;

	(void)state;
	assert_int_equal(bytes_send(stream, &done), EPIPE);
	assert_int_equal(done, PIECE);
	assert_int_equal(stream->error, ECONNRESET);
	assert_false(stream->rs.is_sound); /* else SO_ERROR would not look at the error */
	assert_int_equal(bytes_send(stream, &done), ECONNRESET);
	assert_int_equal(stream->error, 0);
	free(stream);
}

static void a_reset_before_the_first_byte_is_returned_once(void **state)
{
	struct stream *stream = stream_make(0);
	size_t done = ALL;

	(void)state;
	assert_int_equal(bytes_send(stream, &done), ECONNRESET);
	assert_int_equal(done, 0);
	assert_int_equal(stream->error, 0);
	assert_int_equal(bytes_send(stream, &done), EPIPE);
	free(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reset_after_some_bytes_is_found_by_so_error),
		cmocka_unit_test(a_reset_before_the_first_byte_is_returned_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
