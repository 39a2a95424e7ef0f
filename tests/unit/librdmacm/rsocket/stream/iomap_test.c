/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * iomap_test.c - riomap(), riounmap() and riowrite() on a stream without a connection: posted
 * requests, refusals and their errno, and locks. Functions of the test replace the queues, waiting
 * and ibv_reg_mr().
 *
 * Covers: librdmacm/rsocket/stream/iomap.c, librdmacm/rsocket/stream/mapping.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/rsocket/stream/stream.h"

#include <stdlib.h>

/* Counts the allocations of the code under test. */
static int blocks;
static bool no_memory;

static void *take_block(size_t count, size_t size)
{
	blocks += !no_memory;
	return no_memory ? NULL : calloc(count, size);
}

static void give_block(void *block)
{
	blocks -= block != NULL;
	free(block);
}

#define calloc take_block
#define free   give_block
#include "librdmacm/rsocket/stream/iomap.c"
#include "librdmacm/rsocket/stream/mapping.c"
#undef calloc
#undef free

enum {
	SOCKET = 5,
	INLINE = 16,
	RING = 64,
	SQ_SIZE = 8,
	ROOM = 3,
	MOST_POSTS = 32,
	LKEY = 0x700,
	RING_LKEY = 0x70,
	RKEY = 0x900
};

struct post {
	uint64_t addr;
	uint32_t lkey, bytes;
	bool is_inline;
	struct wire_segment to;
};

static struct {
	struct stream stream;
	struct ibv_mr ring_mr;
	struct rdma_cm_id id;
	struct wire_mapping peer[ROOM + 1]; /* the last one ends the list */
	uint8_t ring[RING];
	struct post posts[MOST_POSTS];
	unsigned int count;
	struct wire_mapping told[4]; /* messages to the peer, by index */
	unsigned int told_count;
	int last_index;
	unsigned int mrs; /* registered MRs */
	int reg_errno, post_errno, wait_ret;
	int last_access;
	bool nonblocking, was_ready; /* arguments of the last wait */
	unsigned int waits, keepalives, shields;
	void (*meanwhile)(struct stream *stream); /* runs during a wait */
} it;

const struct rs_kind rdmacm_stream_kind, rdmacm_dgram_kind;

static bool is_locked(struct cm_lock *lock)
{
	if (!cm_lock_try(lock))
		return true;
	cm_lock_drop(lock);
	return false;
}

static void check_both_locked(void)
{
	assert_true(is_locked(&it.stream.rs.lock));
	assert_true(is_locked(&it.stream.tx_lock));
}

static struct rs_page page;
struct rs_page *rdmacm_rs_pages[RS_PAGES] = { &page };

void rdmacm_rs_shield_sleep(void)
{
	it.shields++;
}

void rdmacm_rs_unshield_sleep(void)
{
	it.shields--;
}

int rdmacm_stream_wait(struct stream *stream, bool (*ready)(struct stream *), bool nonblocking,
		       int64_t deadline_us)
{
	check_both_locked();
	assert_true(it.shields);
	assert_int_equal(deadline_us, -1);
	it.waits++;
	it.nonblocking = nonblocking;
	if (it.meanwhile && !ready(stream))
		it.meanwhile(stream);
	it.was_ready = ready(stream);
	if (it.wait_ret)
		return it.wait_ret;
	return it.was_ready ? 0 : EAGAIN;
}

int rdmacm_stream_post_write(struct stream *stream, uint64_t addr, uint32_t lkey, uint32_t bytes,
			     bool is_inline, const struct wire_segment *to)
{
	check_both_locked();
	assert_true(it.count < MOST_POSTS);
	if (it.post_errno)
		return it.post_errno;
	it.posts[it.count++] = (struct post){ addr, lkey, bytes, is_inline, *to };
	stream->sq_put++;
	return 0;
}

int rdmacm_stream_post_mapping(struct stream *stream, unsigned int index,
			       const struct wire_mapping *mapping)
{
	(void)stream;
	check_both_locked();
	assert_true(index < ROOM);
	it.told[index] = *mapping;
	it.told_count++;
	it.last_index = (int)index;
	return it.post_errno;
}

void rdmacm_stream_send_controls(struct stream *stream)
{
	check_both_locked();
	it.keepalives += stream->keepalive_due;
	stream->keepalive_due = false;
}

static struct ibv_mr *register_memory(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	assert_non_null(mr);
	assert_true(it.shields); /* it may read files */
	if (it.reg_errno) {
		free(mr);
		errno = it.reg_errno;
		return NULL;
	}
	*mr = (struct ibv_mr){
		.pd = pd, .addr = addr, .length = length, .lkey = LKEY, .rkey = RKEY
	};
	it.last_access = access;
	it.mrs++;
	return mr;
}

/* ibv_reg_mr() is both a macro and a function, and the compiler decides which one a call uses, so
 * both are replaced. */
#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return register_memory(pd, addr, length, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	assert_int_equal(iova, (uintptr_t)addr);
	return register_memory(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	it.mrs--;
	free(mr);
	return 0;
}

static int open_stream(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.stream.rs.kind = &rdmacm_stream_kind;
	it.ring_mr.lkey = RING_LKEY;
	it.peer[1] = (struct wire_mapping){ 1000, { 0x5000, RKEY, 100 } };
	page.sockets[SOCKET] = &it.stream.rs;
	it.stream.state = STREAM_CONNECTED;
	it.stream.id = &it.id;
	it.stream.mr = &it.ring_mr;
	it.stream.tx.size = RING;
	it.stream.tx_bytes = it.ring;
	it.stream.inline_size = INLINE;
	it.stream.rs.options.sq_size = SQ_SIZE;
	it.stream.tx_limit = 10;
	it.stream.peer_mappings = it.peer;
	it.stream.peer_mappings_room = ROOM;
	it.stream.remote.mappings = ROOM;
	cm_lock_init(&it.stream.rs.lock);
	cm_lock_init(&it.stream.tx_lock);
	return 0;
}

static int close_stream(void **state)
{
	(void)state;
	assert_false(is_locked(&it.stream.rs.lock));
	assert_false(is_locked(&it.stream.tx_lock));
	assert_int_equal(it.shields, 0);
	rdmacm_stream_free_mappings(&it.stream);
	assert_null(it.stream.mappings);
	assert_int_equal(it.mrs, 0);
	assert_int_equal(blocks, 0);
	return 0;
}

static uint8_t memory[256];

static void fails(ssize_t ret, int want)
{
	assert_int_equal(ret, -1);
	assert_int_equal(errno, want);
}

static void check_post(unsigned int i, const void *addr, uint32_t lkey, uint32_t bytes,
		       bool is_inline, uint64_t to)
{
	const struct post *post = &it.posts[i];

	assert_true(i < it.count);
	assert_int_equal(post->addr, (uintptr_t)addr);
	assert_int_equal(post->lkey, lkey);
	assert_int_equal(post->bytes, bytes);
	assert_int_equal(post->is_inline, is_inline);
	assert_int_equal(post->to.addr, to);
	assert_int_equal(post->to.key, RKEY);
}

static void few_bytes_go_in_the_request(void **state)
{
	(void)state;
	assert_int_equal(riowrite(SOCKET, memory, INLINE, 1010, 0), INLINE);
	assert_int_equal(it.count, 1);
	check_post(0, memory, 0, INLINE, true, 0x500a);
	assert_int_equal(it.stream.tx.put, 0);
	assert_int_equal(it.keepalives, 0);
}

static void more_are_copied_when_their_memory_is_not_mapped(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)i;
	assert_int_equal(riowrite(SOCKET, memory + 3, INLINE + 1, 1000, 0), INLINE + 1);
	check_post(0, it.ring, RING_LKEY, INLINE + 1, false, 0x5000);
	assert_memory_equal(it.ring, memory + 3, INLINE + 1);
	assert_int_equal(it.ring[0], 3);
	assert_int_equal(it.stream.tx.put, INLINE + 1);
	assert_int_equal(it.keepalives, 0);
}

/* The send ring has 64 bytes, so the rest goes into another request, from the ring's start. */
static void what_is_copied_goes_by_as_much_as_the_ring_has(void **state)
{
	(void)state;
	it.stream.tx.head = it.stream.tx.put = it.stream.tx.done = 40;
	assert_int_equal(riowrite(SOCKET, memory, 60, 1020, 0), 60);
	assert_int_equal(it.count, 2);
	check_post(0, it.ring + 40, RING_LKEY, 24, false, 0x5014);
	check_post(1, it.ring, RING_LKEY, 36, false, 0x5014 + 24);
	assert_memory_equal(it.ring, memory + 24, 36);
}

static void what_was_written_before_an_error_counts(void **state)
{
	(void)state;
	it.stream.tx.head = it.stream.tx.put = it.stream.tx.done = 40;
	it.stream.sq_put = SQ_SIZE - 1;
	assert_int_equal(riowrite(SOCKET, memory, 60, 1020, MSG_DONTWAIT), 24);
	assert_int_equal(it.count, 1);
}

static void all_is_done(struct stream *stream)
{
	stream->sq_done = stream->sq_put;
}

static off_t map_own(size_t len)
{
	return riomap(SOCKET, memory + 100, len, PROT_NONE, 0, -1);
}

static void mapped_memory_is_sent_from_where_it_is_and_waited_for(void **state)
{
	(void)state;
	assert_true(map_own(50) > 0);
	it.meanwhile = all_is_done;
	assert_int_equal(riowrite(SOCKET, memory + 100, 50, 1000, 0), 50);
	assert_int_equal(it.count, 1);
	check_post(0, memory + 100, LKEY, 50, false, 0x5000);
	assert_int_equal(it.stream.tx.put, 0);
	assert_int_equal(it.keepalives, 1);
	assert_int_equal(it.stream.sq_done, it.stream.sq_put);
	assert_true(it.was_ready);
	assert_false(it.nonblocking);
	assert_int_equal(riowrite(SOCKET, memory + 100, INLINE, 1000, 0), INLINE);
	assert_int_equal(it.keepalives, 1);
}

static void connection_ends(struct stream *stream)
{
	stream->state = STREAM_OVER;
}

static void peer_goes(struct stream *stream)
{
	stream->peer_gone = true;
}

static void what_is_waited_for_ends_with_the_connection(void **state)
{
	(void)state;
	assert_true(map_own(50) > 0);
	it.meanwhile = connection_ends;
	assert_int_equal(riowrite(SOCKET, memory + 100, 50, 1000, 0), 50);
	assert_true(it.was_ready);
}

/* If one byte is outside the mapping, all bytes are copied. */
static void memory_that_is_mapped_in_part_is_copied(void **state)
{
	static const struct {
		unsigned int first, len;
	} part[] = { { 99, 40 }, { 99, 52 }, { 111, 40 }, { 150, 40 }, { 40, 40 } };

	(void)state;
	assert_true(map_own(50) > 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(part); i++) {
		it.count = 0;
		it.stream.tx = (struct tx_ring){ .size = RING };
		assert_int_equal(riowrite(SOCKET, memory + part[i].first, part[i].len, 1000, 0),
				 part[i].len);
		check_post(0, it.ring, RING_LKEY, part[i].len, false, 0x5000);
		assert_int_equal(it.keepalives, 0);
	}
	it.count = 0;
	it.meanwhile = all_is_done;
	assert_int_equal(riowrite(SOCKET, memory + 110, 40, 1000, 0), 40);
	check_post(0, memory + 110, LKEY, 40, false, 0x5000);
}

static void writes_end_where_the_other_sides_memory_does(void **state)
{
	(void)state;
	assert_int_equal(riowrite(SOCKET, memory, 10, 1095, 0), 5);
	check_post(0, memory, 0, 5, true, 0x5000 + 95);
	assert_int_equal(riowrite(SOCKET, memory, 10, 1100, 0), 0);
	assert_int_equal(riowrite(SOCKET, memory, 10, 999, 0), 0);
	assert_int_equal(it.count, 1);
	it.peer[ROOM] = (struct wire_mapping){ 1100, { 0x9000, RKEY, 10 } };
	assert_int_equal(riowrite(SOCKET, memory, 10, 1100, 0), 0);
	it.peer[0] = it.peer[ROOM];
	assert_int_equal(riowrite(SOCKET, memory, 10, 1095, 0), 10);
	assert_int_equal(it.count, 3);
	check_post(2, memory + 5, 0, 5, true, 0x9000);
}

static void mapping_comes(struct stream *stream)
{
	it.peer[0] = (struct wire_mapping){ 5000, { 0x9000, RKEY, 10 } };
	stream->sq_put = stream->sq_done + SQ_SIZE; /* by messages of the wait */
	it.meanwhile = all_is_done;
}

static void sending_ends(struct stream *stream)
{
	stream->write_shut = true;
}

/* A program retries until the mapping comes, and calls nothing else. */
static void a_retry_handles_what_has_arrived(void **state)
{
	(void)state;
	assert_int_equal(riowrite(SOCKET, memory, 10, 5000, 0), 0);
	assert_int_equal(it.waits, 1);
	assert_true(it.nonblocking);
	it.meanwhile = mapping_comes;
	assert_int_equal(riowrite(SOCKET, memory, 10, 5000, 0), 10);
	assert_int_equal(it.count, 1);
	check_post(0, memory, 0, 10, true, 0x9000);
}

static void a_retry_ends_with_the_connection(void **state)
{
	void (*const ends[])(struct stream *) = { connection_ends, peer_goes, sending_ends };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		it.stream.state = STREAM_CONNECTED;
		it.stream.peer_gone = it.stream.write_shut = false;
		it.meanwhile = ends[i];
		fails((ssize_t)riowrite(SOCKET, memory, 10, 5000, 0), EPIPE);
	}
	assert_int_equal(it.count, 0);
}

static void mappings_of_the_other_byte_order_are_turned(void **state)
{
	(void)state;
	it.stream.remote.swapped = true;
	rdmacm_wire_mapping_swap(&it.peer[1]);
	assert_int_equal(riowrite(SOCKET, memory, 4, 1001, 0), 4);
	check_post(0, memory, 0, 4, true, 0x5001);
}

static void a_write_without_a_connection_is_refused(void **state)
{
	(void)state;
	fails((ssize_t)riowrite(SOCKET + 1, memory, 4, 1000, 0), EBADF);
	it.stream.rs.kind = &rdmacm_dgram_kind;
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), EOPNOTSUPP);
	it.stream.rs.kind = &rdmacm_stream_kind;
	it.stream.state = STREAM_ACCEPTED;
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), ENOTCONN);
	it.stream.state = STREAM_OVER; /* refused */
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), ENOTCONN);
	it.stream.remote.slots_addr = 1; /* it was established before */
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), EPIPE);
	it.stream.state = STREAM_CONNECTED;
	it.stream.peer_gone = true;
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), EPIPE);
	it.stream.peer_gone = false;
	it.stream.write_shut = true;
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), EPIPE);
	assert_int_equal(it.count, 0);
}

static void a_write_waits_for_room(void **state)
{
	(void)state;
	it.stream.sq_put = SQ_SIZE;
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, MSG_DONTWAIT), EAGAIN);
	assert_true(it.nonblocking);
	it.stream.sq_done = 1;
	assert_int_equal(riowrite(SOCKET, memory, 4, 1000, 0), 4);
	assert_int_equal(it.waits, 1);
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), EAGAIN);
	assert_false(it.nonblocking);
	it.stream.sq_done = it.stream.sq_put;
	it.stream.tx.put = it.stream.tx.done + RING;
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, MSG_DONTWAIT), EAGAIN);
	it.meanwhile = peer_goes;
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), EPIPE);
	it.stream.peer_gone = false;
	it.meanwhile = connection_ends;
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), EPIPE);
}

static void a_write_that_cannot_be_posted_says_why(void **state)
{
	(void)state;
	it.post_errno = ENOMEM;
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), ENOMEM);
	it.post_errno = 0;
	it.stream.sq_put = SQ_SIZE;
	it.wait_ret = EINTR;
	fails((ssize_t)riowrite(SOCKET, memory, 4, 1000, 0), EINTR);
}

static void the_other_side_is_told_of_what_it_may_write(void **state)
{
	(void)state;
	assert_int_equal(riomap(SOCKET, memory, 20, PROT_WRITE, 0, 4096), 4096);
	assert_int_equal(it.last_access, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(it.told_count, 1);
	assert_int_equal(it.told[0].offset, 4096);
	assert_int_equal(it.told[0].memory.addr, (uintptr_t)memory);
	assert_int_equal(it.told[0].memory.key, RKEY);
	assert_int_equal(it.told[0].memory.length, 20);
	assert_int_equal(riomap(SOCKET, memory + 20, 20, PROT_WRITE, 0, 8192), 8192);
	assert_int_equal(it.last_index, 1);
	assert_int_equal(riounmap(SOCKET, memory, 20), 0);
	assert_int_equal(it.last_index, 0);
	assert_int_equal(it.told[0].memory.length, 0);
	assert_int_equal(it.told[0].memory.key, 0);
	assert_int_equal(it.told[0].offset, 0);
	assert_int_equal(it.mrs, 1);
	assert_int_equal(riomap(SOCKET, memory + 40, 20, PROT_WRITE, 0, 0), 0);
	assert_int_equal(it.last_index, 0);
}

static void what_only_this_side_uses_is_told_to_nobody(void **state)
{
	(void)state;
	assert_int_equal(riomap(SOCKET, memory, 20, PROT_NONE, 0, 4096), 4096);
	assert_int_equal(it.last_access, 0);
	assert_int_equal(riounmap(SOCKET, memory, 20), 0);
	assert_int_equal(it.told_count, 0);
	assert_int_equal(it.mrs, 0);
}

static void offsets_of_the_librarys_choice_do_not_overlap(void **state)
{
	off_t first = riomap(SOCKET, memory, 1, PROT_NONE, 0, -1);

	(void)state;
	assert_int_equal(first, (off_t)FIRST_OFFSET);
	assert_int_equal(riomap(SOCKET, memory, 4096, PROT_NONE, 0, -1), first + 4096);
	assert_int_equal(riomap(SOCKET, memory, 4097, PROT_NONE, 0, -1), first + 2 * 4096);
	assert_int_equal(riomap(SOCKET, memory, 1, PROT_NONE, 0, -1), first + 4 * 4096);
}

static void arguments_of_mappings_are_checked(void **state)
{
	(void)state;
	fails(riomap(SOCKET + 1, memory, 4, PROT_WRITE, 0, -1), EBADF);
	fails(riomap(SOCKET, memory, 0, PROT_WRITE, 0, -1), EINVAL);
	fails(riomap(SOCKET, memory, (size_t)UINT32_MAX + 1, PROT_WRITE, 0, -1), EINVAL);
	assert_int_equal(riomap(SOCKET, memory, UINT32_MAX, PROT_NONE, 0, 0), 0);
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 1, -1), EINVAL);
	fails(riomap(SOCKET, memory, 4, PROT_READ, 0, -1), EINVAL);
	fails(riounmap(SOCKET + 1, memory, 4), EBADF);
	fails(riounmap(SOCKET, memory, 4), EINVAL);
	it.stream.rs.kind = &rdmacm_dgram_kind;
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 0, -1), EOPNOTSUPP);
	fails(riounmap(SOCKET, memory, 4), EOPNOTSUPP);
}

static void a_mapping_is_found_by_address_and_length(void **state)
{
	(void)state;
	assert_int_equal(riomap(SOCKET, memory, 20, PROT_NONE, 0, 0), 0);
	assert_int_equal(riomap(SOCKET, memory, 30, PROT_NONE, 0, 0), 0);
	fails(riounmap(SOCKET, memory, 21), EINVAL);
	fails(riounmap(SOCKET, memory + 1, 20), EINVAL);
	assert_int_equal(riounmap(SOCKET, memory, 20), 0);
	fails(riounmap(SOCKET, memory, 20), EINVAL);
	assert_int_equal(riounmap(SOCKET, memory, 30), 0);
}

static void a_mapping_that_fails_leaves_nothing(void **state)
{
	(void)state;
	it.reg_errno = EFAULT;
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), EFAULT);
	it.reg_errno = 0;
	it.post_errno = EIO;
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), EIO);
	it.post_errno = 0;
	it.stream.remote.mappings = 0;
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), ENOMEM);
	it.stream.remote.mappings = ROOM;
	no_memory = true;
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), ENOMEM);
	no_memory = false;
	assert_int_equal(it.mrs, 0);
	assert_null(it.stream.mappings);
}

static void a_mapping_needs_a_connection(void **state)
{
	(void)state;
	it.stream.state = STREAM_OVER;
	fails(riomap(SOCKET, memory, 4, PROT_NONE, 0, 0), ENOTCONN);
	it.stream.state = STREAM_ACCEPTED;
	it.meanwhile = connection_ends;
	fails(riomap(SOCKET, memory, 4, PROT_NONE, 0, 0), ENOTCONN);
	it.stream.state = STREAM_CONNECTED;
	it.stream.peer_gone = true;
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), ENOTCONN);
	assert_int_equal(it.told_count, 0);
	assert_int_equal(it.mrs, 0);
}

/* A mapping waits for the peer's credits and for a free send queue entry, as telling the peer takes
 * one of each. */
static void a_mapping_waits_until_it_can_be_told(void **state)
{
	(void)state;
	it.stream.tx_count = it.stream.tx_limit;
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), EAGAIN);
	it.stream.tx_count = 0;
	it.stream.sq_put = SQ_SIZE;
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), EAGAIN);
	it.meanwhile = peer_goes;
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), ENOTCONN);
	it.stream.peer_gone = false;
	it.meanwhile = connection_ends;
	fails(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), ENOTCONN);
	it.stream.state = STREAM_CONNECTED;
	it.stream.sq_done = 1;
	assert_int_equal(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), 0);
}

static void nobody_is_told_of_an_unmapping_after_the_end(void **state)
{
	(void)state;
	assert_int_equal(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), 0);
	it.stream.peer_gone = true;
	assert_int_equal(riounmap(SOCKET, memory, 4), 0);
	it.stream.peer_gone = false;
	assert_int_equal(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), 0);
	it.stream.state = STREAM_OVER;
	assert_int_equal(riounmap(SOCKET, memory, 4), 0);
	assert_int_equal(it.told_count, 2);
	assert_int_equal(it.mrs, 0);
}

/* All indexes of the peer's table are taken, the lowest first, and taken again. */
static void the_first_free_index_is_taken(void **state)
{
	(void)state;
	it.stream.remote.mappings = 255;
	for (int i = 0; i < 255; i++)
		assert_int_equal(rdmacm_mapping_take_index(&it.stream), i);
	assert_int_equal(rdmacm_mapping_take_index(&it.stream), -1);
	it.stream.remote.mappings = 256;
	assert_int_equal(rdmacm_mapping_take_index(&it.stream), 255);
	assert_int_equal(rdmacm_mapping_take_index(&it.stream), -1);
	for (size_t i = 0; i < ARRAY_SIZE(it.stream.mapping_indexes); i++)
		assert_true(it.stream.mapping_indexes[i] == UINT64_MAX);
	memset(it.stream.mapping_indexes, 0, sizeof(it.stream.mapping_indexes));
	it.stream.remote.mappings = ROOM;
	for (int i = 0; i < 2; i++)
		assert_int_equal(riomap(SOCKET, memory + i, 4, PROT_WRITE, 0, i), i);
	assert_int_equal(riounmap(SOCKET, memory, 4), 0);
	assert_int_equal(riomap(SOCKET, memory, 4, PROT_WRITE, 0, 0), 0);
	assert_int_equal(it.last_index, 0);
	assert_int_equal(riounmap(SOCKET, memory, 4), 0);
	assert_int_equal(riounmap(SOCKET, memory + 1, 4), 0);
	assert_int_equal(it.stream.mapping_indexes[0], 0);
}

#define STREAM_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_stream, close_stream)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STREAM_TEST(few_bytes_go_in_the_request),
		STREAM_TEST(more_are_copied_when_their_memory_is_not_mapped),
		STREAM_TEST(what_is_copied_goes_by_as_much_as_the_ring_has),
		STREAM_TEST(what_was_written_before_an_error_counts),
		STREAM_TEST(what_is_waited_for_ends_with_the_connection),
		STREAM_TEST(mapped_memory_is_sent_from_where_it_is_and_waited_for),
		STREAM_TEST(memory_that_is_mapped_in_part_is_copied),
		STREAM_TEST(writes_end_where_the_other_sides_memory_does),
		STREAM_TEST(a_retry_handles_what_has_arrived),
		STREAM_TEST(a_retry_ends_with_the_connection),
		STREAM_TEST(mappings_of_the_other_byte_order_are_turned),
		STREAM_TEST(a_write_without_a_connection_is_refused),
		STREAM_TEST(a_write_waits_for_room),
		STREAM_TEST(a_write_that_cannot_be_posted_says_why),
		STREAM_TEST(the_other_side_is_told_of_what_it_may_write),
		STREAM_TEST(what_only_this_side_uses_is_told_to_nobody),
		STREAM_TEST(offsets_of_the_librarys_choice_do_not_overlap),
		STREAM_TEST(arguments_of_mappings_are_checked),
		STREAM_TEST(a_mapping_is_found_by_address_and_length),
		STREAM_TEST(a_mapping_that_fails_leaves_nothing),
		STREAM_TEST(a_mapping_needs_a_connection),
		STREAM_TEST(a_mapping_waits_until_it_can_be_told),
		STREAM_TEST(nobody_is_told_of_an_unmapping_after_the_end),
		STREAM_TEST(the_first_free_index_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
