/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * link_test.c - the UD QP of a datagram socket: its sizes, buffers and sends, and cleanup after
 * each failed call. Verbs and rdma_cm are stand-ins that count their objects.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/dgram/link.c"

#include "tests/unit/librdmacm/rsocket/counted_objects.h"

enum { INLINE = 32, ROOM = 64 };

static struct {
	int woken;
	bool has_no_device;
	enum ibv_mtu mtu;
	int cqe;
	struct ibv_qp_init_attr attr;
	struct ibv_send_wr sent;
	struct ibv_sge sent_sge, received[ROOM][RECEIVE_SGES];
	int receives;
	int channel_flags;
	const struct cm_renewal *renewal;
} it;

static const struct cm_renewal *const outer = (void *)&it;
static struct rdma_cm_id id;
static struct dgram dgram;

struct ibv_cq *ibv_create_cq(struct ibv_context *verbs, int cqe, void *cq_context,
			     struct ibv_comp_channel *with, int vector)
{
	assert_ptr_equal(verbs, &context);
	assert_ptr_equal(cq_context, LIST_FIRST(&dgram.links));
	assert_ptr_equal(with, &completions);
	assert_int_equal(vector, 0);
	it.channel_flags = fcntl(completions.fd, F_GETFL);
	it.cqe = cqe;
	return object_made(&cq);
}

struct ibv_mr *(ibv_reg_mr)(struct ibv_pd *of, void *addr, size_t length, int access)
{
	struct dgram_link *link = LIST_FIRST(&dgram.links);

	assert_ptr_equal(of, &pd);
	assert_ptr_equal(addr, link->memory);
	assert_int_equal(length, link->memory_size);
	assert_int_equal(access, IBV_ACCESS_LOCAL_WRITE);
	return object_made(&mr);
}

int ibv_dereg_mr(struct ibv_mr *of)
{
	assert_ptr_equal(of, &mr);
	return object_gone();
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *verbs, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	assert_ptr_equal(verbs, &context);
	assert_int_equal(port, 2);
	((struct ibv_port_attr *)attr)->active_mtu = it.mtu;
	return call_fails() ? REFUSED : 0;
}

int rdma_create_qp(struct rdma_cm_id *of, struct ibv_pd *in, struct ibv_qp_init_attr *attr)
{
	assert_ptr_equal(of, &id);
	assert_null(in);
	it.attr = *attr;
	attr->cap.max_inline_data = INLINE; /* more than requested */
	id.qp = object_made(&qp);
	return id.qp ? 0 : -1;
}

void rdma_destroy_qp(struct rdma_cm_id *of)
{
	assert_ptr_equal(of, &id);
	object_gone();
}

int rdma_bind_addr(struct rdma_cm_id *of, struct sockaddr *addr)
{
	const struct dgram_link *link = LIST_FIRST(&dgram.links);

	assert_ptr_equal(of, &id);
	assert_ptr_equal(addr, &link->local);
	if (call_fails())
		return -1;
	id.verbs = it.has_no_device ? NULL : &context;
	return 0;
}

int rdmacm_dgram_new_id(struct dgram *of, void *of_events, struct rdma_cm_id **out)
{
	assert_ptr_equal(of, &dgram);
	assert_null(of_events);
	assert_ptr_not_equal(it.renewal, outer); /* commands use the socket's own */
	id = (struct rdma_cm_id){ .pd = &pd, .port_num = 2 };
	*out = object_made(&id);
	return *out ? 0 : REFUSED;
}

void rdmacm_rs_destroy_id(struct rdma_cm_id *of)
{
	assert_ptr_equal(of, &id);
	object_gone();
}

struct cm_renewal rdmacm_dgram_renewal(struct dgram *of)
{
	assert_ptr_equal(of, &dgram);
	return (struct cm_renewal){ .fd = 1 };
}

const struct cm_renewal *rdmacm_cmd_set_renewal(const struct cm_renewal *renewal)
{
	const struct cm_renewal *before = it.renewal;

	it.renewal = renewal;
	return before;
}

bool rdmacm_dgram_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	return !memcmp(a, b, sizeof(struct sockaddr_in));
}

void rdmacm_rs_wake(struct rs_waiters *waiters)
{
	assert_ptr_equal(waiters, &dgram.rs.waiters);
	it.woken++;
}

static int post_recv(struct ibv_qp *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	assert_ptr_equal(to, &qp);
	assert_null(wr->next);
	assert_int_equal(wr->num_sge, RECEIVE_SGES);
	memcpy(it.received[wr->wr_id], wr->sg_list, sizeof(it.received[0]));
	*bad = wr;
	it.receives++;
	return call_fails() ? REFUSED : 0;
}

static int post_send(struct ibv_qp *to, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	assert_ptr_equal(to, &qp);
	it.sent = *wr;
	it.sent_sge = *wr->sg_list;
	*bad = wr;
	return call_fails() ? REFUSED : 0;
}

static struct sockaddr_storage address(uint32_t host)
{
	struct sockaddr_storage addr = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(0x0a000000 + host);
	return addr;
}

static int dgram_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&counted, 0, sizeof(counted));
	it.mtu = IBV_MTU_4096;
	it.renewal = outer;
	context.ops.post_recv = post_recv;
	context.ops.post_send = post_send;
	completions.fd = dup(0);
	memset(&dgram, 0, sizeof(dgram));
	dgram.rs.flags.rx_size = 6 * DGRAM_MAX_MESSAGE;
	dgram.rs.flags.tx_size = 5 * DGRAM_MAX_MESSAGE;
	dgram.rs.options = (struct rs_options){ .rq_size = 20, .sq_size = 20, .inline_size = 16 };
	return completions.fd < 0;
}

static int dgram_end(void **state)
{
	struct dgram_link *link;

	(void)state;
	while ((link = LIST_FIRST(&dgram.links))) {
		LIST_REMOVE(link, entry);
		rdmacm_dgram_link_free(link);
	}
	assert_int_equal(counted.objects, 0);
	assert_ptr_equal(it.renewal, outer);
	return close(completions.fd);
}

static struct dgram_link *link_get(uint32_t host)
{
	const struct sockaddr_storage local = address(host);
	struct dgram_link *link;

	return rdmacm_dgram_link_get(&dgram, &local, &link) ? NULL : link;
}

static void a_link_is_made_once_for_an_address(void **state)
{
	struct dgram_link *link = link_get(1);

	(void)state;
	assert_non_null(link);
	assert_int_equal(dgram.link_count, 1);
	assert_int_equal(it.woken, 1);
	assert_ptr_equal(link_get(1), link);
	assert_int_equal(dgram.link_count, 1);
	link->events = 3;
	dgram_end(state);
	assert_int_equal(counted.acked, 3);
	completions.fd = dup(0);
}

static void a_socket_has_so_many_links(void **state)
{
	const struct sockaddr_storage one_more = address(DGRAM_LINKS);
	struct dgram_link *link;

	(void)state;
	for (uint32_t host = 0; host < DGRAM_LINKS; host++)
		assert_non_null(link_get(host));
	assert_int_equal(rdmacm_dgram_link_get(&dgram, &one_more, &link), EMFILE);
}

static void queues_have_the_sizes_of_the_options(void **state)
{
	static const struct {
		int bytes;
		unsigned int queue, count;
	} rows[] = { { 6 * DGRAM_MAX_MESSAGE, 20, 6 }, { 7 * DGRAM_MAX_MESSAGE - 1, 20, 6 },
		     { 6 * DGRAM_MAX_MESSAGE, 6, 6 },  { 6 * DGRAM_MAX_MESSAGE, 5, 5 },
		     { 6 * DGRAM_MAX_MESSAGE, 3, 4 },  { 0, 20, 4 },
		     { 4 * DGRAM_MAX_MESSAGE, 4, 4 },  { 5 * DGRAM_MAX_MESSAGE, 100, 5 } };
	struct dgram_link *link = link_get(1);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(buffer_count(rows[i].bytes, rows[i].queue), rows[i].count);
	assert_int_equal(link->receives, 6);
	assert_int_equal(link->sends, 5);
	assert_int_equal(it.attr.qp_type, IBV_QPT_UD);
	assert_int_equal(it.attr.cap.max_recv_wr, 6);
	assert_int_equal(it.attr.cap.max_send_wr, 5);
	assert_int_equal(it.attr.cap.max_send_sge, 1);
	assert_int_equal(it.attr.cap.max_recv_sge, 2);
	assert_int_equal(it.attr.cap.max_inline_data, 16);
	assert_ptr_equal(it.attr.send_cq, &cq);
	assert_ptr_equal(it.attr.recv_cq, &cq);
	assert_int_equal(it.cqe, 11);
	assert_true(it.channel_flags & O_NONBLOCK);
}

static void packets_are_as_long_as_the_port_allows(void **state)
{
	static const enum ibv_mtu mtus[] = { IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048,
					     IBV_MTU_4096 };

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(mtus); i++) {
		const uint32_t size = 256U << i;

		it.mtu = mtus[i];
		assert_int_equal(link_get(i)->max_message,
				 size < DGRAM_MAX_MESSAGE ? size : DGRAM_MAX_MESSAGE);
	}
}

/* All receives share the last bytes of the memory as their second part. */
static void a_receive_has_room_for_the_longest_packet(void **state)
{
	const struct dgram_link *link = link_get(1);
	const uint64_t spill = (uintptr_t)link->memory + link->memory_size - SPILL;

	(void)state;
	assert_int_equal(it.receives, 6);
	assert_int_equal(link->memory_size, 11 * DGRAM_BUFFER + SPILL);
	for (unsigned int i = 0; i < link->receives; i++) {
		const struct ibv_sge *sges = it.received[i];
		const struct dgram_message *message = &link->received[i];

		assert_ptr_equal(message->link, link);
		assert_int_equal(rdmacm_dgram_link_index(link, message), i);
		assert_ptr_equal(message->data, link->memory + i * DGRAM_BUFFER + HEADROOM);
		assert_int_equal(sges[0].addr, (uintptr_t)message->data - GRH);
		assert_int_equal(sges[0].length, DGRAM_MAX_MESSAGE + GRH);
		assert_int_equal(sges[1].addr, spill);
		assert_int_equal(sges[0].length + sges[1].length, LONGEST_PACKET + GRH);
		assert_int_equal(sges[0].lkey, KEY);
		assert_int_equal(sges[1].lkey, KEY);
	}
}

static void short_sends_are_inline_and_buffers_take_turns(void **state)
{
	static const size_t sizes[] = { 1, INLINE, INLINE + 1, DGRAM_MAX_MESSAGE, 1, 1, 1 };
	struct dgram_link *link = link_get(1);
	struct ibv_ah ah;
	struct dgram_peer peer = { .ah = &ah, .qpn = 0x123 };

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint8_t *at = link->memory + (6 + i % 5) * DGRAM_BUFFER + HEADROOM;
		const unsigned int is_inline = sizes[i] <= INLINE ? IBV_SEND_INLINE : 0;

		assert_ptr_equal(rdmacm_dgram_link_send_buffer(link), at);
		assert_int_equal(rdmacm_dgram_link_post_send(link, &peer, sizes[i]), 0);
		assert_int_equal(it.sent_sge.addr, (uintptr_t)at);
		assert_int_equal(it.sent_sge.length, sizes[i]);
		assert_int_equal(it.sent_sge.lkey, KEY);
		assert_int_equal(it.sent.send_flags, IBV_SEND_SIGNALED | is_inline);
		assert_int_equal(it.sent.opcode, IBV_WR_SEND);
		assert_int_equal(it.sent.num_sge, 1);
		assert_int_equal(it.sent.wr_id, SEND_ID);
		assert_ptr_equal(it.sent.wr.ud.ah, &ah);
		assert_int_equal(it.sent.wr.ud.remote_qpn, 0x123);
		assert_int_equal(it.sent.wr.ud.remote_qkey, RDMA_UDP_QKEY);
		assert_int_equal(peer.sent_until, i + 1);
	}
	counted.fails_at = counted.calls + 1;
	assert_int_equal(rdmacm_dgram_link_post_send(link, &peer, 1), REFUSED);
	assert_int_equal(link->sq_put, ARRAY_SIZE(sizes));
	assert_int_equal(peer.sent_until, ARRAY_SIZE(sizes));
}

/* Fails each call in turn until all succeed. */
static void a_refused_call_leaves_no_link(void **state)
{
	const struct sockaddr_storage local = address(1);
	struct dgram_link *link = NULL;
	int steps = 0, ret;

	(void)state;
	for (;;) {
		counted.calls = 0;
		counted.fails_at = ++steps;
		ret = rdmacm_dgram_link_get(&dgram, &local, &link);
		if (!ret)
			break;
		assert_int_equal(ret, REFUSED);
		assert_null(link);
		assert_int_equal(counted.objects, 0);
		assert_int_equal(dgram.link_count, 0);
		assert_true(LIST_EMPTY(&dgram.links));
		assert_int_equal(it.woken, 0);
		assert_ptr_equal(it.renewal, outer);
	}
	assert_int_equal(steps, 14); /* 7 objects and answers, 6 receives */
}

static void an_address_of_no_device_is_refused(void **state)
{
	const struct sockaddr_storage local = address(1);
	struct dgram_link *link;

	(void)state;
	it.has_no_device = true;
	assert_int_equal(rdmacm_dgram_link_get(&dgram, &local, &link), ENODEV);
	assert_int_equal(counted.objects, 0);
}

#define LINK_TEST(name) cmocka_unit_test_setup_teardown(name, dgram_begin, dgram_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LINK_TEST(a_link_is_made_once_for_an_address),
		LINK_TEST(a_socket_has_so_many_links),
		LINK_TEST(queues_have_the_sizes_of_the_options),
		LINK_TEST(packets_are_as_long_as_the_port_allows),
		LINK_TEST(a_receive_has_room_for_the_longest_packet),
		LINK_TEST(short_sends_are_inline_and_buffers_take_turns),
		LINK_TEST(a_refused_call_leaves_no_link),
		LINK_TEST(an_address_of_no_device_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
