/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stream_test.c - the parts of a stream: sizes of its queues, the layout of its memory, its hello,
 * and cleanup after each failed call. Verbs and rdma_cm are stand-ins that count their objects.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/stream/stream.c"

#include "tests/unit/librdmacm/rsocket/counted_objects.h"

enum { INLINE = 200, MOST_WR = 8192, CALLS = 7 };

static struct {
	int receives, mappings_freed, ids_freed, ids_destroyed, retired;
	int queries, query_error, cqe;
	struct ibv_qp_init_attr attr;
	void *registered;
	size_t registered_size;
} it;

static struct cm_id id;
static struct rdma_event_channel channel;
static struct stream stream;

const struct rs_kind rdmacm_stream_kind;

struct ibv_cq *ibv_create_cq(struct ibv_context *verbs, int cqe, void *cq_context,
			     struct ibv_comp_channel *with, int vector)
{
	assert_ptr_equal(verbs, &context);
	assert_ptr_equal(cq_context, &stream);
	assert_ptr_equal(with, &completions);
	assert_int_equal(vector, 0);
	it.cqe = cqe;
	return object_made(&cq);
}

int ibv_query_device(struct ibv_context *verbs, struct ibv_device_attr *attr)
{
	assert_ptr_equal(verbs, &context);
	it.queries++;
	attr->max_qp_wr = MOST_WR;
	return it.query_error;
}

struct ibv_mr *(ibv_reg_mr)(struct ibv_pd *of, void *addr, size_t length, int access)
{
	assert_ptr_equal(of, &pd);
	assert_int_equal(access, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	it.registered = addr;
	it.registered_size = length;
	return object_made(&mr);
}

int ibv_dereg_mr(struct ibv_mr *of)
{
	assert_ptr_equal(of, &mr);
	assert_non_null(stream.memory); /* still mapped */
	return object_gone();
}

static int post_recv(struct ibv_qp *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	assert_ptr_equal(to, &qp);
	assert_null(wr->next);
	assert_int_equal(wr->num_sge, 0); /* an RDMA WRITE needs no memory */
	*bad = wr;
	it.receives++;
	return call_fails() ? REFUSED : 0;
}

int rdma_create_qp(struct rdma_cm_id *of, struct ibv_pd *of_pd, struct ibv_qp_init_attr *attr)
{
	assert_ptr_equal(of, &id.id);
	assert_null(of_pd);
	it.attr = *attr;
	if (!object_made(&qp))
		return -1;
	of->qp = &qp;
	attr->cap.max_inline_data = 2 * MAX_INLINE;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *of)
{
	assert_ptr_equal(of->qp, &qp);
	of->qp = NULL;
	object_gone();
}

int rdmacm_rs_open_channel(struct rdma_event_channel **out)
{
	*out = object_made(&channel);
	return *out ? 0 : REFUSED;
}

void rdma_destroy_event_channel(struct rdma_event_channel *of)
{
	assert_ptr_equal(of, &channel);
	object_gone();
}

void rdmacm_rs_init(struct rs *rs, const struct rs_kind *kind, int domain, int type)
{
	assert_int_equal(type, SOCK_STREAM);
	rs->kind = kind;
	rs->domain = domain;
	rs->fd = -1;
}

int rdmacm_rs_table_add(struct rs *rs)
{
	assert_int_equal(rs->fd, channel.fd);
	return call_fails() ? REFUSED : 0;
}

void rdmacm_rs_retire(struct rs *rs)
{
	(void)rs;
	it.retired++;
}

void rdmacm_rs_fini(struct rs *rs)
{
	(void)rs;
}

void rdmacm_service_drop(const struct rs *rs)
{
	(void)rs;
}

void rdmacm_accept_close(struct stream *of)
{
	(void)of;
}

void rdmacm_id_free(struct cm_id *of)
{
	assert_ptr_equal(of, &id);
	it.ids_freed++;
}

void rdmacm_rs_destroy_id(struct rdma_cm_id *of)
{
	assert_ptr_equal(of, &id.id);
	it.ids_destroyed++;
}

void rdmacm_share_close(struct rs_share *share)
{
	(void)share;
}

void rdmacm_stream_free_mappings(struct stream *of)
{
	(void)of;
	it.mappings_freed++;
}

static int stream_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&counted, 0, sizeof(counted));
	memset(&stream, 0, sizeof(stream));
	memset(&id, 0, sizeof(id));
	context.ops.post_recv = post_recv;
	completions.fd = dup(0);
	channel.fd = 55;
	id.id.verbs = &context;
	id.id.pd = &pd;
	stream.id = &id.id;
	stream.rs.flags.rx_size = 10000;
	stream.rs.flags.tx_size = 5000;
	stream.rs.options = (struct rs_options){
		.sq_size = 30, .rq_size = 20, .inline_size = INLINE, .mappings = 3
	};
	return completions.fd < 0;
}

static int stream_end(void **state)
{
	(void)state;
	close(completions.fd);
	return 0;
}

static void memory_has_its_parts_behind_each_other(void **state)
{
	/* two slots of 16 bytes, three mappings of 24, in whole lines of 64 */
	const uint32_t head = 128, rx = 10112, tx = 5120;

	(void)state;
	assert_int_equal(rdmacm_stream_equip(&stream), 0);
	assert_ptr_equal(stream.slots, stream.memory);
	assert_ptr_equal(stream.peer_mappings, stream.memory + 32);
	assert_int_equal(stream.peer_mappings_room, 3);
	assert_ptr_equal(stream.rx_bytes, stream.memory + head);
	assert_int_equal(stream.rx.size, rx);
	assert_ptr_equal(stream.tx_bytes, stream.memory + head + rx);
	assert_int_equal(stream.tx.size, tx);
	assert_int_equal(stream.memory_size, head + rx + tx);
	assert_ptr_equal(it.registered, stream.memory);
	assert_int_equal(it.registered_size, stream.memory_size);
	rdmacm_stream_unequip(&stream);
	assert_int_equal(counted.objects, 0);
	assert_int_equal(it.mappings_freed, 1);
}

static void rings_have_a_least_size_and_even_halves(void **state)
{
	static const int asked[] = { 0, 1, 4095, 4096, 4097, 8191, 8192 };
	static const uint32_t sizes[] = { 4096, 4096, 4096, 4096, 4224, 8192, 8192 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(asked); i++)
		assert_int_equal(ring_size(asked[i]), sizes[i]);
}

static void queues_have_room_for_controls(void **state)
{
	(void)state;
	assert_int_equal(rdmacm_stream_equip(&stream), 0);
	assert_int_equal(it.cqe, 30 + 20 + CONTROL_SQ + CONTROL_RQ);
	assert_int_equal(it.attr.cap.max_send_wr, 30 + CONTROL_SQ);
	assert_int_equal(it.attr.cap.max_recv_wr, 20 + CONTROL_RQ);
	assert_int_equal(it.attr.cap.max_send_sge, 1);
	assert_int_equal(it.attr.cap.max_inline_data, INLINE);
	assert_int_equal(it.attr.qp_type, IBV_QPT_RC);
	assert_ptr_equal(it.attr.send_cq, &cq);
	assert_ptr_equal(it.attr.recv_cq, &cq);
	assert_int_equal(it.receives, 20 + CONTROL_RQ);
	assert_int_equal(stream.rx_granted, 20);
	assert_int_equal(stream.inline_size, MAX_INLINE); /* of the device's two times as many */
	assert_int_equal(stream.rs.options.inline_size, 2 * MAX_INLINE);
	assert_int_equal(stream.tx_want, WORTH_SENDING);
	assert_true(fcntl(completions.fd, F_GETFL) & O_NONBLOCK);
	rdmacm_stream_unequip(&stream);
}

static void announcements_fit_inline(void **state)
{
	(void)state;
	stream.rs.options.inline_size = 0;
	assert_int_equal(rdmacm_stream_equip(&stream), 0);
	assert_int_equal(it.attr.cap.max_inline_data, sizeof(struct wire_mapping));
	rdmacm_stream_unequip(&stream);
}

static void queues_fit_the_device(void **state)
{
	static const struct {
		unsigned int sq, rq, want_sq, want_rq;
		int queries;
	} rows[] = {
		{ 0, 0, 1, 2, 0 },
		{ 1, 2, 1, 2, 0 },
		{ ASSUMED_MAX_WR, ASSUMED_MAX_WR, ASSUMED_MAX_WR, ASSUMED_MAX_WR, 0 },
		{ ASSUMED_MAX_WR + 1, 2, ASSUMED_MAX_WR + 1, 2, 1 },
		{ 1, ASSUMED_MAX_WR + 1, 1, ASSUMED_MAX_WR + 1, 1 },
		{ MOST_WR, MOST_WR, MOST_WR - CONTROL_RQ, MOST_WR - CONTROL_RQ, 1 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		it.queries = 0;
		stream.rs.options.sq_size = rows[i].sq;
		stream.rs.options.rq_size = rows[i].rq;
		fit_queues(&stream);
		assert_int_equal(stream.rs.options.sq_size, rows[i].want_sq);
		assert_int_equal(stream.rs.options.rq_size, rows[i].want_rq);
		assert_int_equal(it.queries, rows[i].queries);
	}
	it.query_error = REFUSED;
	stream.rs.options.sq_size = MOST_WR;
	fit_queues(&stream);
	assert_int_equal(stream.rs.options.sq_size, MOST_WR);
}

static void nothing_is_left_of_a_stream_that_fails(void **state)
{
	(void)state;
	for (counted.fails_at = 1; counted.fails_at <= CALLS; counted.fails_at++) {
		counted.calls = 0;
		assert_int_equal(rdmacm_stream_equip(&stream), REFUSED);
		assert_int_equal(counted.objects, 0);
		assert_null(stream.completions);
		assert_null(stream.cq);
		assert_null(stream.mr);
		assert_null(stream.memory);
		assert_null(id.id.qp);
	}
	counted.fails_at = 0;
	close(completions.fd);
	assert_int_equal(rdmacm_stream_equip(&stream), EBADF);
	assert_int_equal(counted.objects, 0);
	completions.fd = dup(0);
}

static void events_are_acknowledged_before_the_end(void **state)
{
	(void)state;
	assert_int_equal(rdmacm_stream_equip(&stream), 0);
	stream.events = 4;
	stream.has_event = stream.is_armed = true;
	rdmacm_stream_unequip(&stream);
	assert_int_equal(counted.acked, 4);
	assert_int_equal(stream.events, 0);
	assert_false(stream.has_event || stream.is_armed);
	rdmacm_stream_unequip(&stream);
	assert_int_equal(counted.objects, 0);
}

/* What one side says is what the other hears. */
static void a_hello_tells_where_to_write(void **state)
{
	struct wire_hello hello;
	const struct rdma_conn_param param = { .private_data = &hello,
					       .private_data_len = sizeof(hello) };
	const struct rdma_conn_param cut = { .private_data = &hello,
					     .private_data_len = sizeof(hello) - 1 };

	(void)state;
	assert_int_equal(rdmacm_stream_equip(&stream), 0);
	rdmacm_stream_hello(&stream, &hello);
	assert_int_equal(rdmacm_stream_meet(&stream, &cut), EPROTO);
	assert_int_equal(stream.slot, 0);
	assert_int_equal(rdmacm_stream_meet(&stream, &param), 0);
	assert_true(stream.remote.slots_addr == (uintptr_t)stream.slots);
	assert_int_equal(stream.remote.slots_key, KEY);
	assert_true(stream.target.addr == (uintptr_t)stream.rx_bytes);
	assert_int_equal(stream.target.key, KEY);
	assert_int_equal(stream.target.length, stream.rx.size / 2);
	assert_int_equal(stream.tx_limit, 20);
	assert_int_equal(stream.remote.mappings, 3);
	assert_int_equal(stream.slot, 1);
	assert_int_equal(stream.remote_slot, 1);
	rdmacm_stream_unequip(&stream);
}

static void a_new_stream_has_its_channels_number(void **state)
{
	struct stream *made = NULL;

	(void)state;
	assert_int_equal(rdmacm_stream_alloc(AF_INET6, &made), 0);
	assert_int_equal(made->rs.fd, 55);
	assert_int_equal(made->rs.domain, AF_INET6);
	assert_ptr_equal(made->rs.kind, &rdmacm_stream_kind);
	assert_true(STAILQ_EMPTY(&made->accepted));
	rdmacm_stream_free(made);
	for (int i = 1; i <= 2; i++) {
		made = NULL;
		counted.calls = 0;
		counted.fails_at = i;
		assert_int_equal(rdmacm_stream_alloc(AF_INET, &made), REFUSED);
		assert_null(made);
	}
	assert_int_equal(counted.objects, 0);
	assert_int_equal(it.retired, 3);
}

/* The kernel's id of a socket that fork() shared stays for the other process, as destroying it
 * would end the connection, unless it belongs to this one's connection. */
static void an_id_goes_with_its_last_process(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		bool is_shared = i & 1, has_connection = i & 2;
		struct stream *made = NULL;

		it.ids_freed = it.ids_destroyed = 0;
		assert_int_equal(rdmacm_stream_alloc(AF_INET, &made), 0);
		made->id = &id.id;
		made->rs.is_shared = is_shared;
		made->state = has_connection ? STREAM_LISTENING + 1 : STREAM_LISTENING;
		rdmacm_stream_free(made);
		assert_int_equal(it.ids_freed, is_shared && !has_connection);
		assert_int_equal(it.ids_destroyed, !is_shared || has_connection);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, stream_begin, stream_end)
	const struct CMUnitTest tests[] = {
		CASE(memory_has_its_parts_behind_each_other),
		CASE(rings_have_a_least_size_and_even_halves),
		CASE(queues_have_room_for_controls),
		CASE(announcements_fit_inline),
		CASE(queues_fit_the_device),
		CASE(nothing_is_left_of_a_stream_that_fails),
		CASE(events_are_acknowledged_before_the_end),
		CASE(a_hello_tells_where_to_write),
		CASE(a_new_stream_has_its_channels_number),
		CASE(an_id_goes_with_its_last_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
