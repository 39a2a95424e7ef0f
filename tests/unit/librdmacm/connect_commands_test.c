/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connect_commands_test.c - each command of a connection: what it carries, which steps of the QP
 * are around it, and which errno a failure has. The kernel is this test's write(), and the QP's
 * steps are the test's own.
 *
 * Covers: librdmacm/connect.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/connect.c"

enum { FD = 700, NUMBER = 9, VENDOR = 0x15b3, DEPTH = 16, RESOURCES = 8 };

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

enum step { NONE, SET_ECE, RTR, RTS, TO_ERROR, COMMAND, AWAIT, ROUTE };

static struct {
	struct cm_cmd cmd; /* the last command */
	int commands;
	enum step steps[8], failing;
	int taken, fails;
	uint8_t responder_resources, initiator_depth;
	struct ibv_ece set, own; /* set by the library; of the QP */
	int query_fails;
	__be16 port;
} it;

static struct rdma_event_channel channel = { .fd = FD };
static struct cm_device device;
static struct cm_id cm;
static struct ibv_qp qp;
static struct ibv_srq srq;

static int step(enum step which)
{
	assert_in_range(it.taken, 0, 7);
	it.steps[it.taken++] = which;
	return which == it.failing ? it.fails : 0;
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (fd != FD)
		return __real_write(fd, data, size);
	memset(&it.cmd, 0, sizeof(it.cmd));
	memcpy(&it.cmd, data, size);
	assert_int_equal(it.cmd.hdr.out, 0);
	it.commands++;
	errno = step(COMMAND);
	return errno ? -1 : (ssize_t)size;
}

int rdmacm_cmd_run_shielded(int fd, const struct cm_cmd *cmd, size_t size)
{
	return write(fd, cmd, size) == (ssize_t)size ? 0 : errno;
}

int rdmacm_cmd_failed(int fd, const struct cm_cmd *cmd, ssize_t done)
{
	(void)fd, (void)cmd, (void)done;
	return errno;
}

int rdmacm_qp_to_rtr(struct cm_id *id, uint8_t responder_resources)
{
	assert_ptr_equal(id, &cm);
	it.responder_resources = responder_resources;
	return step(RTR);
}

int rdmacm_qp_to_rts(struct cm_id *id, uint8_t initiator_depth)
{
	assert_ptr_equal(id, &cm);
	it.initiator_depth = initiator_depth;
	return step(RTS);
}

int rdmacm_qp_to_error(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	return step(TO_ERROR);
}

int rdmacm_event_await(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	return step(AWAIT);
}

int rdmacm_id_query_route(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	return step(ROUTE);
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	assert_ptr_equal(id, &cm.id);
	return it.port;
}

int ibv_query_ece(struct ibv_qp *of, struct ibv_ece *ece)
{
	assert_ptr_equal(of, &qp);
	*ece = it.own; /* of a failed query, too */
	return it.query_fails;
}

int ibv_set_ece(struct ibv_qp *of, struct ibv_ece *ece)
{
	assert_ptr_equal(of, &qp);
	it.set = *ece;
	return step(SET_ECE);
}

static int id_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&cm, 0, sizeof(cm));
	it.own = (struct ibv_ece){ .vendor_id = VENDOR, .options = 0x77 };
	device = (struct cm_device){ .max_initiator_depth = DEPTH,
				     .max_responder_resources = RESOURCES };
	qp = (struct ibv_qp){ .qp_num = 0x123 };
	cm.id.channel = &channel;
	cm.id.qp_type = IBV_QPT_RC;
	cm.number = NUMBER;
	cm.device = &device;
	return 0;
}

static void fails_with(int result, int err)
{
	assert_int_equal(result, -1);
	assert_int_equal(errno, err);
}

static void check_steps(const enum step *want, int count)
{
	assert_int_equal(it.taken, count);
	for (int i = 0; i < count; i++)
		assert_int_equal(it.steps[i], want[i]);
	it.taken = 0;
}

#define CHECK_STEPS(...)                                \
	check_steps((const enum step[]){ __VA_ARGS__ }, \
		    sizeof((const enum step[]){ __VA_ARGS__ }) / sizeof(enum step))

static void fail_step(enum step which, int err)
{
	it.failing = which;
	it.fails = err;
	it.taken = 0;
}

/* ---- both sides ---- */

typedef int connecting(struct rdma_cm_id *id, struct rdma_conn_param *param);

static connecting *const sides[] = { rdma_connect, rdma_accept };

static const struct rdma_ucm_conn_param *sent_by(connecting *side)
{
	return side == rdma_connect ? &it.cmd.connect.conn_param : &it.cmd.accept.conn_param;
}

static void both_sides_send_the_programs_parameters(void **state)
{
	struct rdma_conn_param param = { .private_data = "data",
					 .private_data_len = 4,
					 .responder_resources = 3,
					 .initiator_depth = 4,
					 .flow_control = 1,
					 .retry_count = 5,
					 .rnr_retry_count = 6,
					 .srq = 1,
					 .qp_num = 0x456 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct rdma_ucm_conn_param *sent = sent_by(sides[i]);

		assert_int_equal(sides[i](&cm.id, &param), 0);
		assert_int_equal(it.cmd.hdr.cmd,
				 i ? RDMA_USER_CM_CMD_ACCEPT : RDMA_USER_CM_CMD_CONNECT);
		assert_int_equal(i ? it.cmd.accept.id : it.cmd.connect.id, NUMBER);
		assert_int_equal(sent->valid, 1);
		assert_int_equal(sent->qp_num, 0x456);
		assert_int_equal(sent->srq, 1);
		assert_int_equal(sent->responder_resources, 3);
		assert_int_equal(sent->initiator_depth, 4);
		assert_int_equal(sent->flow_control, 1);
		assert_int_equal(sent->retry_count, 5);
		assert_int_equal(sent->rnr_retry_count, 6);
		assert_int_equal(sent->private_data_len, 4);
		assert_memory_equal(sent->private_data, "data\0", 5);
		CHECK_STEPS(COMMAND);
	}
	assert_int_equal(it.cmd.accept.uid, (uintptr_t)&cm);
}

/* Leaves no zeros where a call will have its variables. */
static void __attribute__((noinline)) stack_dirty(void)
{
	char bytes[4096];

	memset(bytes, 0xa5, sizeof(bytes));
	__asm__ volatile("" ::"r"(bytes) : "memory");
}

static void check_zeros(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		assert_int_equal(((const uint8_t *)bytes)[i], 0);
}

/* The kernel may refuse what later versions give a meaning. */
static void what_is_not_set_is_zero(void **state)
{
	struct rdma_conn_param param = { .qp_num = 1 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct rdma_ucm_conn_param *sent = sent_by(sides[i]);

		stack_dirty();
		assert_int_equal(sides[i](&cm.id, &param), 0);
		assert_int_equal(sent->qkey, 0);
		check_zeros(sent->private_data, sizeof(sent->private_data));
		assert_int_equal(i ? it.cmd.accept.reserved : it.cmd.connect.reserved, 0);
	}
	stack_dirty();
	assert_int_equal(rdma_establish(&cm.id), 0);
	check_zeros(&it.cmd.accept.conn_param, sizeof(it.cmd.accept.conn_param));
	check_zeros(&it.cmd.accept.ece, sizeof(it.cmd.accept.ece));
	stack_dirty();
	assert_int_equal(rdma_reject(&cm.id, "no", 2), 0);
	check_zeros(it.cmd.reject.private_data + 2, sizeof(it.cmd.reject.private_data) - 2);
}

/* Without a pointer, a length of private data has no meaning. */
static void no_private_data_has_no_length(void **state)
{
	struct rdma_conn_param param = { .private_data_len = 255 };

	(void)state;
	assert_int_equal(rdma_connect(&cm.id, &param), 0);
	assert_int_equal(it.cmd.connect.conn_param.private_data_len, 0);
}

static void private_data_of_two_is_255_bytes(void **state)
{
	char found[100], own[156];
	struct rdma_conn_param param = { .private_data = own, .private_data_len = 155 };

	(void)state;
	memset(found, 'f', sizeof(found));
	memset(own, 'o', sizeof(own));
	cm.connect_data = found;
	cm.connect_len = sizeof(found);
	for (int i = 0; i < 2; i++) {
		const struct rdma_ucm_conn_param *sent = sent_by(sides[i]);

		param.private_data_len = 155;
		assert_int_equal(sides[i](&cm.id, &param), 0);
		assert_int_equal(sent->private_data_len, 255);
		assert_memory_equal(sent->private_data, found, sizeof(found));
		assert_int_equal(found[0], 'f');
		assert_memory_equal(sent->private_data + 100, own, 155);
		param.private_data_len = 156;
		fails_with(sides[i](&cm.id, &param), EINVAL);
	}
	assert_int_equal(it.commands, 2);
}

static void a_side_needs_a_device_and_a_qp_number(void **state)
{
	struct rdma_conn_param param = { .qp_num = 1 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		fails_with(sides[i](&cm.id, NULL), EINVAL);
		cm.device = NULL;
		fails_with(sides[i](&cm.id, &param), EINVAL);
		cm.device = &device;
	}
	assert_int_equal(it.commands, 0);
	assert_int_equal(it.taken, 0);
}

static void a_qp_has_its_number_and_its_srq(void **state)
{
	struct rdma_conn_param param = { .qp_num = 0x456, .srq = 1 };

	(void)state;
	cm.id.qp = &qp;
	assert_int_equal(rdma_connect(&cm.id, &param), 0);
	assert_int_equal(it.cmd.connect.conn_param.qp_num, 0x123);
	assert_int_equal(it.cmd.connect.conn_param.srq, 0);
	qp.srq = &srq;
	assert_int_equal(rdma_connect(&cm.id, NULL), 0);
	assert_int_equal(it.cmd.connect.conn_param.srq, 1);
	assert_int_equal(it.cmd.connect.conn_param.retry_count, 7);
	assert_int_equal(it.cmd.connect.conn_param.rnr_retry_count, 7);
	assert_int_equal(it.cmd.connect.conn_param.responder_resources, RESOURCES);
	assert_int_equal(it.cmd.connect.conn_param.initiator_depth, DEPTH);
}

static void depths_are_within_the_device(void **state)
{
	static const struct {
		uint8_t responder, initiator;
		int err;
	} cases[] = { { RESOURCES, DEPTH, 0 },
		      { RESOURCES + 1, DEPTH, EINVAL },
		      { RESOURCES, DEPTH + 1, EINVAL },
		      { 0xfe, 0, EINVAL },
		      { 0, 0xfe, EINVAL },
		      { 0, 0, 0 },
		      { 0xff, 0xff, 0 } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rdma_conn_param param = { .responder_resources = cases[i].responder,
						 .initiator_depth = cases[i].initiator };
		const bool max = cases[i].responder == 0xff;

		if (cases[i].err) {
			fails_with(rdma_connect(&cm.id, &param), cases[i].err);
			continue;
		}
		assert_int_equal(rdma_connect(&cm.id, &param), 0);
		assert_int_equal(it.cmd.connect.conn_param.responder_resources,
				 max ? RESOURCES : cases[i].responder);
		assert_int_equal(it.cmd.connect.conn_param.initiator_depth,
				 max ? DEPTH : cases[i].initiator);
	}
	it.taken = 0;
}

/* A datagram has neither READs nor atomics. */
static void depths_of_datagrams_are_not_checked(void **state)
{
	struct rdma_conn_param param = { .responder_resources = 0xfe, .initiator_depth = 0xfe };

	(void)state;
	cm.id.qp_type = IBV_QPT_UD;
	assert_int_equal(rdma_connect(&cm.id, &param), 0);
	assert_int_equal(rdma_accept(&cm.id, &param), 0);
}

/* On the side that accepts, "the maximum" is the depth in the request, limited by the device. */
static void the_maximum_is_that_of_the_request(void **state)
{
	struct rdma_conn_param param = { .responder_resources = 0xff, .initiator_depth = 0xff };

	(void)state;
	cm.responder_resources = 2;
	cm.initiator_depth = 3;
	assert_int_equal(rdma_accept(&cm.id, &param), 0);
	assert_int_equal(it.cmd.accept.conn_param.responder_resources, 2);
	assert_int_equal(it.cmd.accept.conn_param.initiator_depth, 3);
	cm.responder_resources = cm.initiator_depth = 100;
	assert_int_equal(rdma_accept(&cm.id, &param), 0);
	assert_int_equal(it.cmd.accept.conn_param.responder_resources, RESOURCES);
	assert_int_equal(it.cmd.accept.conn_param.initiator_depth, DEPTH);
	assert_int_equal(cm.responder_resources, RESOURCES);
	assert_int_equal(cm.initiator_depth, DEPTH);
	cm.responder_resources = cm.initiator_depth = 1;
	assert_int_equal(rdma_connect(&cm.id, &param), 0); /* that side has no request */
	assert_int_equal(it.cmd.connect.conn_param.responder_resources, RESOURCES);
	assert_int_equal(it.cmd.connect.conn_param.initiator_depth, DEPTH);
}

/* ---- one side ---- */

static void a_connect_waits_after_its_command(void **state)
{
	struct rdma_conn_param param = { 0 };

	(void)state;
	cm.waits = true;
	assert_int_equal(rdma_connect(&cm.id, &param), 0);
	CHECK_STEPS(COMMAND, AWAIT);
	fail_step(AWAIT, ECONNREFUSED);
	fails_with(rdma_connect(&cm.id, &param), ECONNREFUSED);
	fail_step(COMMAND, EPERM);
	fails_with(rdma_connect(&cm.id, &param), EPERM);
	CHECK_STEPS(COMMAND);
}

static void an_accept_moves_the_qp_before_its_command(void **state)
{
	static const enum step steps[] = { RTR, RTS };
	struct rdma_conn_param param = { .responder_resources = 3, .initiator_depth = 4 };

	(void)state;
	cm.id.qp = &qp;
	cm.waits = true;
	assert_int_equal(rdma_accept(&cm.id, &param), 0);
	CHECK_STEPS(RTR, RTS, COMMAND, AWAIT);
	assert_int_equal(it.responder_resources, 3);
	assert_int_equal(it.initiator_depth, 4);
	for (int i = 0; i < 2; i++) {
		fail_step(steps[i], ENOMEM);
		fails_with(rdma_accept(&cm.id, &param), ENOMEM);
		assert_int_equal(it.taken, i + 1);
	}
	fail_step(COMMAND, EPERM);
	fails_with(rdma_accept(&cm.id, &param), EPERM);
	CHECK_STEPS(RTR, RTS, COMMAND, TO_ERROR);
	fail_step(AWAIT, ECONNREFUSED);
	fails_with(rdma_accept(&cm.id, &param), ECONNREFUSED);
}

/* A datagram's QP is ready already, and no event comes. */
static void an_accept_of_a_datagram_is_its_command(void **state)
{
	(void)state;
	cm.id.qp = &qp;
	cm.id.qp_type = IBV_QPT_UD;
	cm.waits = true;
	assert_int_equal(rdma_accept(&cm.id, NULL), 0);
	CHECK_STEPS(COMMAND);
	fail_step(COMMAND, EPERM);
	fails_with(rdma_accept(&cm.id, NULL), EPERM);
}

static void an_establish_has_no_parameters(void **state)
{
	(void)state;
	cm.waits = true; /* it has no event */
	assert_int_equal(rdma_establish(&cm.id), 0);
	CHECK_STEPS(COMMAND);
	assert_int_equal(it.cmd.hdr.cmd, RDMA_USER_CM_CMD_ACCEPT);
	assert_int_equal(it.cmd.accept.uid, (uintptr_t)&cm);
	assert_int_equal(it.cmd.accept.id, NUMBER);
	assert_int_equal(it.cmd.accept.conn_param.valid, 0);
	fail_step(COMMAND, EPERM);
	fails_with(rdma_establish(&cm.id), EPERM);
	cm.id.qp = &qp;
	fails_with(rdma_establish(&cm.id), EINVAL);
	CHECK_STEPS(COMMAND);
}

static void a_listener_learns_its_port(void **state)
{
	(void)state;
	cm.waits = true;
	assert_int_equal(rdma_listen(&cm.id, 5), 0);
	assert_int_equal(it.cmd.hdr.cmd, RDMA_USER_CM_CMD_LISTEN);
	assert_int_equal(it.cmd.listen.id, NUMBER);
	assert_int_equal(it.cmd.listen.backlog, 5);
	CHECK_STEPS(COMMAND, ROUTE);
	it.port = 1;
	assert_int_equal(rdma_listen(&cm.id, 5), 0);
	CHECK_STEPS(COMMAND);
	it.port = 0;
	fail_step(ROUTE, ENODEV);
	fails_with(rdma_listen(&cm.id, 5), ENODEV);
	fail_step(COMMAND, EADDRINUSE);
	fails_with(rdma_listen(&cm.id, 5), EADDRINUSE);
	CHECK_STEPS(COMMAND);
}

static void a_rejection_has_a_reason_and_data(void **state)
{
	static int (*const calls[])(struct rdma_cm_id *, const void *,
				    uint8_t) = { rdma_reject, rdma_reject_ece };
	static const uint8_t reasons[] = { 28, 35 }; /* IBTA vol 1, 12.6.7.2 */

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(calls[i](&cm.id, "no", 2), 0);
		assert_int_equal(it.cmd.hdr.cmd, RDMA_USER_CM_CMD_REJECT);
		assert_int_equal(it.cmd.reject.id, NUMBER);
		assert_int_equal(it.cmd.reject.reason, reasons[i]);
		assert_int_equal(it.cmd.reject.private_data_len, 2);
		assert_memory_equal(it.cmd.reject.private_data, "no\0", 3);
		assert_int_equal(calls[i](&cm.id, NULL, 0), 0);
		assert_int_equal(it.cmd.reject.private_data_len, 0);
		assert_int_equal(it.cmd.reject.private_data[0], 0);
		assert_int_equal(calls[i](&cm.id, "no", 0), 0);
		it.commands = 0;
		fails_with(calls[i](&cm.id, NULL, 1), EINVAL);
		assert_int_equal(it.commands, 0);
		it.taken = 0;
	}
	fail_step(COMMAND, EPERM);
	fails_with(rdma_reject(&cm.id, NULL, 0), EPERM);
}

static void a_notice_has_its_event(void **state)
{
	(void)state;
	assert_int_equal(rdma_notify(&cm.id, IBV_EVENT_COMM_EST), 0);
	assert_int_equal(it.cmd.hdr.cmd, RDMA_USER_CM_CMD_NOTIFY);
	assert_int_equal(it.cmd.notify.id, NUMBER);
	assert_int_equal(it.cmd.notify.event, IBV_EVENT_COMM_EST);
	fail_step(COMMAND, EINVAL);
	fails_with(rdma_notify(&cm.id, IBV_EVENT_COMM_EST), EINVAL);
}

static void a_qp_is_in_error_before_its_peer_knows(void **state)
{
	(void)state;
	cm.waits = true;
	assert_int_equal(rdma_disconnect(&cm.id), 0);
	CHECK_STEPS(TO_ERROR, COMMAND, AWAIT);
	assert_int_equal(it.cmd.hdr.cmd, RDMA_USER_CM_CMD_DISCONNECT);
	assert_int_equal(it.cmd.disconnect.id, NUMBER);
	fail_step(TO_ERROR, EIO);
	fails_with(rdma_disconnect(&cm.id), EIO);
	CHECK_STEPS(TO_ERROR);
	fail_step(COMMAND, ENOTCONN);
	fails_with(rdma_disconnect(&cm.id), ENOTCONN);
	CHECK_STEPS(TO_ERROR, COMMAND);
}

/* ---- ECE ---- */

static void check_offered(uint32_t vendor, uint32_t options)
{
	assert_int_equal(it.cmd.connect.ece.vendor_id, vendor);
	assert_int_equal(it.cmd.connect.ece.attr_mod, options);
	memset(&cm.local_ece, 0, sizeof(cm.local_ece));
}

static void a_request_offers_an_ece(void **state)
{
	struct rdma_conn_param param = { 0 };

	(void)state;
	assert_int_equal(rdma_connect(&cm.id, &param), 0);
	check_offered(0, 0);
	cm.id.qp = &qp;
	assert_int_equal(rdma_connect(&cm.id, &param), 0);
	check_offered(VENDOR, 0x77);
	cm.init_qp = &qp; /* the library has moved it to INIT */
	cm.init_ece = (struct ibv_ece){ .vendor_id = VENDOR, .options = 0x66 };
	assert_int_equal(rdma_connect(&cm.id, &param), 0);
	check_offered(VENDOR, 0x66);
	cm.local_ece = (struct ibv_ece){ .vendor_id = 1, .options = 2 };
	assert_int_equal(rdma_connect(&cm.id, &param), 0);
	check_offered(1, 2);
	cm.init_qp = NULL;
	it.query_fails = EOPNOTSUPP; /* and has written something */
	assert_int_equal(rdma_connect(&cm.id, &param), 0);
	check_offered(0, 0);
}

static void check_answered(uint32_t vendor, uint32_t options)
{
	assert_int_equal(it.cmd.accept.ece.vendor_id, vendor);
	assert_int_equal(it.cmd.accept.ece.attr_mod, options);
	memset(&cm.local_ece, 0, sizeof(cm.local_ece));
}

static void an_accept_takes_the_peers_ece_and_answers(void **state)
{
	(void)state;
	cm.id.qp = &qp;
	cm.remote_ece = (struct ibv_ece){ .vendor_id = VENDOR, .options = 0x55 };
	assert_int_equal(rdma_accept(&cm.id, NULL), 0);
	CHECK_STEPS(SET_ECE, RTR, RTS, COMMAND);
	assert_int_equal(it.set.options, 0x55);
	check_answered(VENDOR, 0x77);
	cm.local_ece = (struct ibv_ece){ .vendor_id = 1, .options = 2 };
	assert_int_equal(rdma_accept(&cm.id, NULL), 0);
	CHECK_STEPS(RTR, RTS, COMMAND);
	check_answered(1, 2);
	fail_step(SET_ECE, EINVAL);
	fails_with(rdma_accept(&cm.id, NULL), EINVAL);
	CHECK_STEPS(SET_ECE);
}

static void an_ece_of_another_vendor_is_not_taken(void **state)
{
	(void)state;
	cm.id.qp = &qp;
	assert_int_equal(rdma_accept(&cm.id, NULL), 0); /* the peer has none */
	CHECK_STEPS(RTR, RTS, COMMAND);
	check_answered(0, 0);
	cm.remote_ece.vendor_id = VENDOR + 1;
	assert_int_equal(rdma_accept(&cm.id, NULL), 0);
	CHECK_STEPS(RTR, RTS, COMMAND);
	check_answered(0, 0);
	cm.remote_ece.vendor_id = VENDOR;
	it.query_fails = EOPNOTSUPP;
	assert_int_equal(rdma_accept(&cm.id, NULL), 0);
	CHECK_STEPS(RTR, RTS, COMMAND);
}

static void an_ece_that_a_qp_lacks_is_no_error(void **state)
{
	(void)state;
	cm.id.qp = &qp;
	assert_int_equal(rdmacm_qp_take_ece(&cm), 0);
	assert_int_equal(it.taken, 0);
	cm.remote_ece.vendor_id = VENDOR;
	fail_step(SET_ECE, EOPNOTSUPP);
	assert_int_equal(rdmacm_qp_take_ece(&cm), 0);
	CHECK_STEPS(SET_ECE);
	fail_step(SET_ECE, EINVAL);
	assert_int_equal(rdmacm_qp_take_ece(&cm), EINVAL);
}

static void a_program_without_a_qp_negotiates_itself(void **state)
{
	struct ibv_ece ece = { .vendor_id = VENDOR, .options = 5 };

	(void)state;
	assert_int_equal(rdma_set_local_ece(&cm.id, &ece), 0);
	assert_int_equal(cm.local_ece.vendor_id, VENDOR);
	assert_int_equal(cm.local_ece.options, 5);
	fails_with(rdma_set_local_ece(NULL, &ece), EINVAL);
	fails_with(rdma_set_local_ece(&cm.id, NULL), EINVAL);
	ece.vendor_id = 0;
	fails_with(rdma_set_local_ece(&cm.id, &ece), EINVAL);
	ece = (struct ibv_ece){ .vendor_id = 1, .comp_mask = 1 };
	fails_with(rdma_set_local_ece(&cm.id, &ece), EINVAL);
	assert_int_equal(cm.local_ece.vendor_id, VENDOR);
	cm.remote_ece = (struct ibv_ece){ .vendor_id = 3, .options = 4, .comp_mask = 1 };
	assert_int_equal(rdma_get_remote_ece(&cm.id, &ece), 0);
	assert_int_equal(ece.vendor_id, 3);
	assert_int_equal(ece.options, 4);
	assert_int_equal(ece.comp_mask, 0);
	fails_with(rdma_get_remote_ece(NULL, &ece), EINVAL);
	fails_with(rdma_get_remote_ece(&cm.id, NULL), EINVAL);
	cm.id.qp = &qp;
	fails_with(rdma_get_remote_ece(&cm.id, &ece), EINVAL);
	fails_with(rdma_set_local_ece(&cm.id, &ece), EINVAL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, id_begin)
	const struct CMUnitTest tests[] = {
		TEST(both_sides_send_the_programs_parameters),
		TEST(what_is_not_set_is_zero),
		TEST(no_private_data_has_no_length),
		TEST(private_data_of_two_is_255_bytes),
		TEST(a_side_needs_a_device_and_a_qp_number),
		TEST(a_qp_has_its_number_and_its_srq),
		TEST(depths_are_within_the_device),
		TEST(depths_of_datagrams_are_not_checked),
		TEST(the_maximum_is_that_of_the_request),
		TEST(a_connect_waits_after_its_command),
		TEST(an_accept_moves_the_qp_before_its_command),
		TEST(an_accept_of_a_datagram_is_its_command),
		TEST(an_establish_has_no_parameters),
		TEST(a_listener_learns_its_port),
		TEST(a_rejection_has_a_reason_and_data),
		TEST(a_notice_has_its_event),
		TEST(a_qp_is_in_error_before_its_peer_knows),
		TEST(a_request_offers_an_ece),
		TEST(an_accept_takes_the_peers_ece_and_answers),
		TEST(an_ece_of_another_vendor_is_not_taken),
		TEST(an_ece_that_a_qp_lacks_is_no_error),
		TEST(a_program_without_a_qp_negotiates_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
