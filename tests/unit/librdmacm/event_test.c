/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event_test.c - what the library does for each event of the kernel, before the program gets it,
 * and how acknowledgements are counted. The kernel is this test's write(), and the steps are the
 * test's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/event.c"
#include "tests/unit/heap.h"

enum { FD = 700, OTHER_FD = 701, NUMBER = 9, REQUEST = 12 };

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

/* The steps, in the order in which they were taken. */
enum step {
	NONE,
	ROUTE,
	PATH,
	ECE,
	RTR,
	RTS,
	CONFIRM,
	TO_ERROR,
	DESTROY,
	FREE,
	FETCH,
	ATTACH,
	REMOVE,
	SERVICES,
};

static struct {
	struct rdma_ucm_event_resp queue[4];
	int queued, read;
	int empty; /* errno of a queue without events */
	struct cm_cmd cmd;
	uint32_t refused; /* number of the request that the kernel was told to destroy */
	int refused_fd;
	bool was_shielded;
	enum step steps[8], failing;
	int taken, fails; /* errno of the step that fails */
	uint8_t responder_resources, initiator_depth;
	bool was_request;
	int explained, signalled;
	struct rdma_event_channel *request_channel;
	const void *request_context;
	enum rdma_port_space request_ps;
	enum ibv_qp_type request_type;
	struct cm_device *removed;
} it;

static struct rdma_event_channel channel = { .fd = FD };
static struct rdma_event_channel other_channel = { .fd = OTHER_FD };
static struct cm_id cm, request;
static struct cm_multicast group;
static struct cm_device device;
static struct ibv_qp qp;
static const char one = 1, several = 0;

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (fd != FD && fd != OTHER_FD)
		return __real_write(fd, data, size);
	memset(&it.cmd, 0, sizeof(it.cmd));
	memcpy(&it.cmd, data, size);
	if (it.cmd.hdr.cmd == RDMA_USER_CM_CMD_DESTROY_ID) {
		assert_int_equal(it.cmd.hdr.out, sizeof(struct rdma_ucm_destroy_id_resp));
		it.refused = it.cmd.destroy_id.id;
		it.refused_fd = fd;
		return (ssize_t)size;
	}
	assert_int_equal(it.cmd.hdr.cmd, RDMA_USER_CM_CMD_GET_EVENT);
	assert_int_equal(it.cmd.hdr.out, sizeof(struct rdma_ucm_event_resp));
	if (it.read == it.queued) {
		errno = it.empty;
		return -1;
	}
	memcpy((void *)(uintptr_t)it.cmd.get_event.response, &it.queue[it.read++],
	       sizeof(it.queue[0]));
	return (ssize_t)size;
}

int rdmacm_cmd_run_shielded(int fd, const struct cm_cmd *cmd, size_t size)
{
	it.was_shielded = true;
	return write(fd, cmd, size) == (ssize_t)size ? 0 : errno;
}

int rdmacm_cmd_failed(int fd, const struct cm_cmd *cmd, ssize_t done)
{
	(void)fd, (void)cmd, (void)done;
	return errno;
}

static int step(enum step which)
{
	it.steps[it.taken++ % 8] = which;
	return which == it.failing ? it.fails : 0;
}

int rdmacm_id_query_route(struct cm_id *id)
{
	assert_ptr_equal(id, id == &request ? &request : &cm);
	it.was_request = id->is_request;
	return step(ROUTE);
}

int rdmacm_id_query_path(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	return step(PATH);
}

int rdmacm_id_alloc(struct rdma_event_channel *of, void *context, enum rdma_port_space ps,
		    enum ibv_qp_type qp_type, struct cm_id **id)
{
	if (it.failing == NONE && it.fails)
		return it.fails;
	it.request_channel = of;
	it.request_context = context;
	it.request_ps = ps;
	it.request_type = qp_type;
	request.id.qp_type = qp_type;
	*id = &request;
	return 0;
}

void rdmacm_id_free(struct cm_id *id)
{
	assert_ptr_equal(id, &request);
	step(FREE);
}

int rdmacm_id_destroy_in_kernel(struct cm_id *id)
{
	assert_ptr_equal(id, &request);
	return step(DESTROY);
}

int rdmacm_id_fetch(uint32_t number, int from, const struct rdma_event_channel *to,
		    uint32_t *reported)
{
	assert_int_equal(number, REQUEST);
	assert_int_equal(from, FD);
	assert_ptr_equal(to, &other_channel);
	*reported = 0;
	return step(FETCH);
}

int rdmacm_qp_take_ece(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	return step(ECE);
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

int rdmacm_connect_confirm(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	return step(CONFIRM);
}

int rdmacm_multicast_attach(struct cm_multicast *multicast, const struct rdma_ud_param *param)
{
	assert_ptr_equal(multicast, &group);
	assert_int_equal(param->qkey, 0x5678);
	return step(ATTACH);
}

void rdmacm_device_remove(struct cm_device *of)
{
	it.removed = of;
	step(REMOVE);
}

int rdmacm_addrinfo_take_services(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	return step(SERVICES);
}

void rdmacm_event_explain(const struct rdma_cm_event *event)
{
	assert_non_null(event->id);
	it.explained++;
}

void rdmacm_attr_take_ah(struct ibv_ah_attr *to, const struct ib_uverbs_ah_attr *from)
{
	to->dlid = from->dlid;
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond);

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	(void)cond;
	assert_int_equal(pthread_mutex_trylock(&cm.lock), EBUSY);
	it.signalled++;
	return 0;
}

static int id_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&cm, 0, sizeof(cm));
	memset(&request, 0, sizeof(request));
	pthread_mutex_init(&cm.lock, NULL);
	it.empty = EAGAIN;
	cm.id.channel = &channel;
	cm.id.context = &it;
	cm.id.ps = RDMA_PS_TCP;
	cm.id.qp_type = IBV_QPT_RC;
	cm.number = NUMBER;
	cm.device = &device;
	group = (struct cm_multicast){ .id = &cm, .context = &qp };
	verbs_one_thread = &one;
	heap_begin();
	return 0;
}

static int id_end(void **state)
{
	(void)state;
	assert_int_equal(heap.blocks, 0);
	assert_int_equal(pthread_mutex_trylock(&cm.lock), 0);
	pthread_mutex_unlock(&cm.lock);
	return 0;
}

static void fails_with(int result, int err)
{
	assert_int_equal(result, -1);
	assert_int_equal(errno, err);
}

/* Lets the kernel report an event, whose parameters the test sets. */
static struct rdma_ucm_event_resp *kernel_reports(uint32_t type)
{
	struct rdma_ucm_event_resp *resp = &it.queue[it.queued++];

	resp->uid = type == RDMA_CM_EVENT_MULTICAST_JOIN || type == RDMA_CM_EVENT_MULTICAST_ERROR
			    ? (uintptr_t)&group
			    : (uintptr_t)&cm;
	resp->id = REQUEST;
	resp->event = type;
	return resp;
}

static struct rdma_cm_event *event_read(void)
{
	struct rdma_cm_event *event;

	assert_int_equal(rdma_get_cm_event(&channel, &event), 0);
	return event;
}

static void check_steps(const enum step *want, int count)
{
	assert_int_equal(it.taken, count);
	for (int i = 0; i < count; i++)
		assert_int_equal(it.steps[i], want[i]);
}

#define CHECK_STEPS(...)                                \
	check_steps((const enum step[]){ __VA_ARGS__ }, \
		    sizeof((const enum step[]){ __VA_ARGS__ }) / sizeof(enum step))

/* ---- parameters ---- */

static void a_connection_has_the_peers_parameters(void **state)
{
	static const uint32_t types[] = { RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_UNREACHABLE,
					  RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_DISCONNECTED };

	(void)state;
	for (unsigned int i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct rdma_ucm_event_resp *resp = kernel_reports(types[i]);
		struct rdma_cm_event *event;

		resp->status = (uint32_t)-7;
		resp->param.conn = (struct rdma_ucm_conn_param){
			.private_data_len = 3,
			.responder_resources = 4,
			.initiator_depth = 5,
			.flow_control = 1,
			.retry_count = 6,
			.rnr_retry_count = 7,
			.srq = 1,
			.qp_num = 0x123,
		};
		memset(resp->param.conn.private_data, 'p', RDMA_MAX_PRIVATE_DATA);
		event = event_read();
		assert_int_equal(event->event, types[i]);
		assert_int_equal(event->status, -7);
		assert_ptr_equal(event->id, &cm);
		assert_int_equal(event->param.conn.private_data_len, 3);
		assert_int_equal(event->param.conn.responder_resources, 4);
		assert_int_equal(event->param.conn.initiator_depth, 5);
		assert_int_equal(event->param.conn.flow_control, 1);
		assert_int_equal(event->param.conn.retry_count, 6);
		assert_int_equal(event->param.conn.rnr_retry_count, 7);
		assert_int_equal(event->param.conn.srq, 1);
		assert_int_equal(event->param.conn.qp_num, 0x123);
		assert_memory_equal(event->param.conn.private_data, resp->param.conn.private_data,
				    RDMA_MAX_PRIVATE_DATA);
		assert_int_equal(rdma_ack_cm_event(event), 0);
		assert_int_equal(it.explained, i + 1);
		it.queued = it.read = 0;
	}
	assert_int_equal(it.taken, 0);
}

static void a_datagram_has_an_address_and_a_qkey(void **state)
{
	struct rdma_ucm_event_resp *resp = kernel_reports(RDMA_CM_EVENT_ESTABLISHED);
	struct rdma_cm_event *event;

	(void)state;
	cm.id.qp_type = IBV_QPT_UD;
	resp->param.ud = (struct rdma_ucm_ud_param){
		.private_data_len = 2, .qp_num = 0x1234, .qkey = 0x5678, .ah_attr.dlid = 11
	};
	memset(resp->param.ud.private_data, 'u', RDMA_MAX_PRIVATE_DATA);
	event = event_read();
	assert_int_equal(event->param.ud.private_data_len, 2);
	assert_int_equal(event->param.ud.qp_num, 0x1234);
	assert_int_equal(event->param.ud.qkey, 0x5678);
	assert_int_equal(event->param.ud.ah_attr.dlid, 11);
	assert_memory_equal(event->param.ud.private_data, resp->param.ud.private_data,
			    RDMA_MAX_PRIVATE_DATA);
	rdma_ack_cm_event(event);
}

static void without_private_data_there_is_no_pointer(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	for (int i = 0; i < 2; i++) {
		cm.id.qp_type = i ? IBV_QPT_UD : IBV_QPT_RC;
		kernel_reports(RDMA_CM_EVENT_ESTABLISHED);
		event = event_read();
		assert_null(i ? event->param.ud.private_data : event->param.conn.private_data);
		rdma_ack_cm_event(event);
	}
}

static void an_event_without_parameters_is_as_the_kernel_says(void **state)
{
	static const uint32_t types[] = { RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR,
					  RDMA_CM_EVENT_ADDR_CHANGE, RDMA_CM_EVENT_TIMEWAIT_EXIT };

	(void)state;
	for (unsigned int i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct rdma_cm_event *event;

		kernel_reports(types[i])->status = 5;
		event = event_read();
		assert_int_equal(event->event, types[i]);
		assert_int_equal(event->status, 5);
		assert_ptr_equal(event->id, &cm);
		assert_null(event->listen_id);
		rdma_ack_cm_event(event);
	}
	it.queued = it.read = 0;
	kernel_reports(1000); /* of a newer kernel */
	rdma_ack_cm_event(event_read());
	it.queued = it.read = 0;
	kernel_reports(ARRAY_SIZE(on_event));
	rdma_ack_cm_event(event_read());
	assert_int_equal(it.taken, 0);
}

/* ---- the library's steps ---- */

/* Each event whose step is one call, and what the program gets when it fails. */
static void a_step_that_fails_changes_the_event(void **state)
{
	static const struct {
		uint32_t type, becomes;
		enum step step;
	} cases[] = {
		{ RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ADDR_ERROR, ROUTE },
		{ RDMA_CM_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_ROUTE_ERROR, PATH },
		{ RDMA_CM_EVENT_MULTICAST_JOIN, RDMA_CM_EVENT_MULTICAST_ERROR, ATTACH },
		{ RDMA_CM_EVENT_ADDRINFO_RESOLVED, RDMA_CM_EVENT_ADDRINFO_ERROR, SERVICES },
	};

	(void)state;
	for (unsigned int i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const bool fails = i % 2;
		struct rdma_cm_event *event;

		it.queued = it.read = it.taken = 0;
		it.failing = fails ? cases[i / 2].step : NONE;
		it.fails = fails ? EPERM : 0;
		kernel_reports(cases[i / 2].type)->param.ud.qkey = 0x5678;
		event = event_read();
		assert_int_equal(event->event, fails ? cases[i / 2].becomes : cases[i / 2].type);
		assert_int_equal(event->status, fails ? -EPERM : 0);
		rdma_ack_cm_event(event);
		CHECK_STEPS(cases[i / 2].step);
	}
}

static void an_address_without_a_device_is_an_error(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	cm.device = NULL;
	kernel_reports(RDMA_CM_EVENT_ADDR_RESOLVED);
	event = event_read();
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDR_ERROR);
	assert_int_equal(event->status, -ENODEV);
	rdma_ack_cm_event(event);
}

static void a_response_moves_the_qp_and_is_confirmed(void **state)
{
	struct rdma_ucm_event_resp *resp = kernel_reports(RDMA_CM_EVENT_CONNECT_RESPONSE);
	struct rdma_cm_event *event;

	(void)state;
	cm.id.qp = &qp;
	resp->param.conn.responder_resources = 3;
	resp->ece = (struct rdma_ucm_ece){ .vendor_id = 0x15b3, .attr_mod = 0x77 };
	event = event_read();
	assert_int_equal(event->event, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(event->status, 0);
	assert_int_equal(event->param.conn.responder_resources, 3);
	CHECK_STEPS(ECE, RTR, RTS, CONFIRM);
	assert_int_equal(it.responder_resources, RDMA_MAX_RESP_RES);
	assert_int_equal(it.initiator_depth, RDMA_MAX_INIT_DEPTH);
	assert_int_equal(cm.remote_ece.vendor_id, 0x15b3);
	assert_int_equal(cm.remote_ece.options, 0x77);
	rdma_ack_cm_event(event);
}

static void without_a_qp_the_program_confirms(void **state)
{
	struct rdma_ucm_event_resp *resp = kernel_reports(RDMA_CM_EVENT_CONNECT_RESPONSE);
	struct rdma_cm_event *event;

	(void)state;
	resp->ece.vendor_id = 0x15b3;
	event = event_read();
	assert_int_equal(event->event, RDMA_CM_EVENT_CONNECT_RESPONSE);
	assert_int_equal(it.taken, 0);
	assert_int_equal(cm.remote_ece.vendor_id, 0x15b3);
	rdma_ack_cm_event(event);
}

static void a_response_that_fails_ends_in_an_error(void **state)
{
	static const enum step steps[] = { ECE, RTR, RTS, CONFIRM };

	(void)state;
	cm.id.qp = &qp;
	for (int i = 0; i < 4; i++) {
		struct rdma_cm_event *event;

		it.queued = it.read = it.taken = 0;
		it.failing = steps[i];
		it.fails = ENOMEM;
		kernel_reports(RDMA_CM_EVENT_CONNECT_RESPONSE);
		event = event_read();
		assert_int_equal(event->event, RDMA_CM_EVENT_CONNECT_ERROR);
		assert_int_equal(event->status, -ENOMEM);
		assert_int_equal(it.taken, i + 2);
		assert_int_equal(it.steps[i], steps[i]);
		assert_int_equal(it.steps[i + 1], TO_ERROR);
		rdma_ack_cm_event(event);
	}
}

static void a_rejection_moves_the_qp_and_has_parameters(void **state)
{
	struct rdma_ucm_event_resp *resp = kernel_reports(RDMA_CM_EVENT_REJECTED);
	struct rdma_cm_event *event;

	(void)state;
	resp->status = 28;
	resp->param.conn.private_data_len = 1;
	event = event_read();
	assert_int_equal(event->event, RDMA_CM_EVENT_REJECTED);
	assert_int_equal(event->status, 28);
	assert_int_equal(event->param.conn.private_data_len, 1);
	CHECK_STEPS(TO_ERROR);
	rdma_ack_cm_event(event);
}

static void a_groups_event_has_the_programs_context(void **state)
{
	static const uint32_t types[] = { RDMA_CM_EVENT_MULTICAST_JOIN,
					  RDMA_CM_EVENT_MULTICAST_ERROR };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct rdma_ucm_event_resp *resp = kernel_reports(types[i]);
		struct rdma_cm_event *event;

		resp->param.ud.qkey = 0x5678;
		resp->param.ud.qp_num = 0xffffff;
		event = event_read();
		assert_int_equal(event->event, types[i]);
		assert_ptr_equal(event->id, &cm);
		assert_ptr_equal(event->param.ud.private_data, &qp);
		assert_int_equal(event->param.ud.qp_num, i ? 0 : 0xffffff);
		rdma_ack_cm_event(event);
		assert_int_equal(cm.events_acked, i + 1);
		assert_int_equal(group.events_acked, i + 1);
	}
	CHECK_STEPS(ATTACH);
}

static void a_removed_device_is_marked(void **state)
{
	(void)state;
	kernel_reports(RDMA_CM_EVENT_DEVICE_REMOVAL);
	rdma_ack_cm_event(event_read());
	assert_ptr_equal(it.removed, &device);
	cm.device = NULL;
	kernel_reports(RDMA_CM_EVENT_DEVICE_REMOVAL);
	rdma_ack_cm_event(event_read());
	CHECK_STEPS(REMOVE);
}

static void an_event_of_the_program_has_its_argument(void **state)
{
	struct rdma_ucm_event_resp *resp = kernel_reports(RDMA_CM_EVENT_USER);
	const uint64_t arg = 0x1122334455667788;
	struct rdma_cm_event *event;

	(void)state;
	memcpy(&resp->param, &arg, sizeof(arg));
	event = event_read();
	assert_int_equal(event->param.arg, arg);
	rdma_ack_cm_event(event);
}

static void an_internal_event_is_of_resolved_names(void **state)
{
	static const struct {
		int status;
		uint32_t becomes;
	} cases[] = { { 0, RDMA_CM_EVENT_ADDRINFO_RESOLVED },
		      { -ENODATA, RDMA_CM_EVENT_ADDRINFO_ERROR } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_event *event;

		kernel_reports(RDMA_CM_EVENT_INTERNAL)->status = (uint32_t)cases[i].status;
		event = event_read();
		assert_int_equal(event->event, cases[i].becomes);
		assert_int_equal(event->status, cases[i].status);
		rdma_ack_cm_event(event);
	}
	assert_int_equal(it.taken, 0);
}

/* ---- requests ---- */

static void put_request(struct rdma_ucm_event_resp *resp)
{
	resp->param.conn.initiator_depth = 3;
	resp->param.conn.responder_resources = 4;
	resp->param.conn.private_data_len = 5;
	resp->ece = (struct rdma_ucm_ece){ .vendor_id = 0x15b3, .attr_mod = 0x77 };
}

static void check_request(const struct rdma_event_channel *of)
{
	assert_ptr_equal(it.request_channel, of);
	assert_ptr_equal(it.request_context, &it);
	assert_int_equal(it.request_ps, cm.id.ps);
	assert_int_equal(it.request_type, cm.id.qp_type);
	assert_int_equal(request.number, REQUEST);
	assert_int_equal(request.remote_ece.vendor_id, 0x15b3);
	assert_int_equal(request.remote_ece.options, 0x77);
	assert_true(it.was_request);
}

static void a_request_is_an_id_like_its_listener(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	put_request(kernel_reports(RDMA_CM_EVENT_CONNECT_REQUEST));
	event = event_read();
	assert_ptr_equal(event->listen_id, &cm);
	assert_ptr_equal(event->id, &request);
	assert_int_equal(event->param.conn.private_data_len, 5);
	check_request(&channel);
	assert_int_equal(request.initiator_depth, 3);
	assert_int_equal(request.responder_resources, 4);
	CHECK_STEPS(ROUTE);
	rdma_ack_cm_event(event);
	assert_int_equal(cm.events_acked, 1); /* the listener's */
	assert_int_equal(request.events_acked, 0);
	assert_int_equal(it.refused, 0);
}

static void a_request_for_datagrams_has_no_depths(void **state)
{
	(void)state;
	cm.id.qp_type = IBV_QPT_UD;
	cm.id.ps = RDMA_PS_UDP;
	put_request(kernel_reports(RDMA_CM_EVENT_CONNECT_REQUEST));
	rdma_ack_cm_event(event_read());
	check_request(&channel);
	assert_int_equal(request.initiator_depth, 0);
	assert_int_equal(request.responder_resources, 0);
}

/* The program does not see a request that cannot be had, and reads the next event. */
static void a_request_that_cannot_be_had_is_swallowed(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	it.fails = ENOMEM;
	put_request(kernel_reports(RDMA_CM_EVENT_CONNECT_REQUEST));
	kernel_reports(RDMA_CM_EVENT_TIMEWAIT_EXIT);
	event = event_read();
	assert_int_equal(event->event, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	assert_int_equal(it.refused, REQUEST);
	assert_int_equal(it.refused_fd, FD);
	assert_int_equal(cm.events_acked, 1);
	assert_int_equal(it.explained, 1);
	assert_int_equal(it.taken, 0);
	rdma_ack_cm_event(event);
	assert_int_equal(cm.events_acked, 2);
}

static void a_request_of_which_nothing_is_known_is_destroyed(void **state)
{
	struct rdma_cm_event *event = NULL;

	(void)state;
	it.failing = ROUTE;
	it.fails = ENODEV;
	put_request(kernel_reports(RDMA_CM_EVENT_CONNECT_REQUEST));
	fails_with(rdma_get_cm_event(&channel, &event), EAGAIN);
	assert_null(event);
	CHECK_STEPS(ROUTE, DESTROY, FREE);
	assert_int_equal(request.remote_ece.vendor_id, 0);
	assert_int_equal(it.refused, 0);
	assert_int_equal(it.explained, 0);
	assert_int_equal(cm.events_acked, 1);
}

static void a_request_is_fetched_from_another_channel(void **state)
{
	struct rdma_ucm_event_resp *resp = kernel_reports(RDMA_CM_EVENT_CONNECT_REQUEST);
	struct cm_id *out = NULL;

	(void)state;
	put_request(resp);
	assert_int_equal(rdmacm_request_fetch(&cm, resp, FD, &other_channel, &out), 0);
	assert_ptr_equal(out, &request);
	check_request(&other_channel);
	CHECK_STEPS(FETCH, ROUTE);
}

static void a_request_that_is_not_fetched_has_an_errno(void **state)
{
	struct rdma_ucm_event_resp *resp = kernel_reports(RDMA_CM_EVENT_CONNECT_REQUEST);
	struct cm_id *out = NULL;

	(void)state;
	it.failing = FETCH;
	it.fails = EPERM;
	assert_int_equal(rdmacm_request_fetch(&cm, resp, FD, &other_channel, &out), EPERM);
	CHECK_STEPS(FETCH);
	assert_null(it.request_channel);
	it.taken = 0;
	it.failing = ROUTE;
	it.fails = ENODEV;
	assert_int_equal(rdmacm_request_fetch(&cm, resp, FD, &other_channel, &out), ENODEV);
	CHECK_STEPS(FETCH, ROUTE, DESTROY, FREE);
	it.taken = 0;
	it.failing = NONE;
	it.fails = ENOMEM;
	assert_int_equal(rdmacm_request_fetch(&cm, resp, FD, &other_channel, &out), ENOMEM);
	CHECK_STEPS(FETCH);
	assert_int_equal(it.refused, REQUEST);
	assert_int_equal(it.refused_fd, OTHER_FD);
	assert_null(out);
}

/* ---- reading and acknowledging ---- */

static void nothing_to_read_from_is_an_error(void **state)
{
	struct rdma_cm_event *event = NULL;

	(void)state;
	fails_with(rdma_get_cm_event(NULL, &event), EINVAL);
	fails_with(rdma_get_cm_event(&channel, NULL), EINVAL);
	fails_with(rdma_ack_cm_event(NULL), EINVAL);
	fails_with(rdma_get_cm_event(&channel, &event), EAGAIN);
	kernel_reports(RDMA_CM_EVENT_TIMEWAIT_EXIT);
	heap_fail_at(1);
	fails_with(rdma_get_cm_event(&channel, &event), ENOMEM);
	assert_null(event);
	assert_int_equal(it.read, 0);
	assert_int_equal(it.explained, 0);
}

static void an_event_is_read_for_another_process(void **state)
{
	struct rdma_ucm_event_resp resp;

	(void)state;
	memset(&resp, 0xff, sizeof(resp));
	assert_int_equal(rdmacm_event_read(&cm, &resp), EAGAIN);
	assert_int_equal(resp.uid, 0);
	assert_int_equal(cm.events_acked, 0);
	kernel_reports(RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_int_equal(rdmacm_event_read(&cm, &resp), 0);
	assert_int_equal(resp.id, REQUEST);
	assert_int_equal(cm.events_acked, 1);
	assert_int_equal(it.taken, 0);
}

static void an_event_counts_once(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	kernel_reports(RDMA_CM_EVENT_TIMEWAIT_EXIT);
	kernel_reports(RDMA_CM_EVENT_TIMEWAIT_EXIT);
	for (int i = 1; i <= 2; i++) {
		verbs_one_thread = i == 1 ? &one : &several;
		event = event_read();
		assert_int_equal(cm.events_acked, i - 1);
		rdmacm_event_settle(event);
		assert_int_equal(cm.events_acked, i);
		assert_ptr_equal(event->id, &cm); /* it stays readable */
		rdma_ack_cm_event(event);
		assert_int_equal(cm.events_acked, i);
	}
}

static void all_threads_that_wait_are_woken_under_the_lock(void **state)
{
	struct cm_ack_wait waits[2];

	(void)state;
	verbs_one_thread = &several;
	LIST_INSERT_HEAD(&cm.ack_waits, &waits[0], entry);
	LIST_INSERT_HEAD(&cm.ack_waits, &waits[1], entry);
	kernel_reports(RDMA_CM_EVENT_MULTICAST_ERROR);
	rdma_ack_cm_event(event_read());
	assert_int_equal(it.signalled, 2);
	assert_int_equal(cm.events_acked, 1);
	assert_int_equal(group.events_acked, 1);
	kernel_reports(RDMA_CM_EVENT_TIMEWAIT_EXIT);
	rdma_ack_cm_event(event_read());
	assert_int_equal(cm.events_acked, 2);
	assert_int_equal(group.events_acked, 1);
}

/* Alone, the thread has none to shield from: that costs instructions. */
static void a_lone_thread_takes_no_lock(void **state)
{
	struct rdma_cm_event *event;

	(void)state;
	kernel_reports(RDMA_CM_EVENT_TIMEWAIT_EXIT);
	event = event_read();
	pthread_mutex_lock(&cm.lock);
	rdma_ack_cm_event(event);
	pthread_mutex_unlock(&cm.lock);
	assert_int_equal(cm.events_acked, 1);
}

/* ---- cancellation ---- */

static void a_read_leaves_the_programs_setting(void **state)
{
	struct rdma_cm_event *event = NULL;
	int before;

	(void)state;
	verbs_one_thread = &several;
	for (int i = 0; i < 2; i++) {
		const int want = i ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;

		pthread_setcancelstate(want, NULL);
		kernel_reports(RDMA_CM_EVENT_TIMEWAIT_EXIT);
		rdma_ack_cm_event(event_read());
		pthread_setcancelstate(want, &before);
		assert_int_equal(before, want);
		it.queued = it.read = 0;
		fails_with(rdma_get_cm_event(&channel, &event), EAGAIN);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
		assert_int_equal(before, want);
	}
	assert_false(it.was_shielded); /* the wait for an event may be cancelled */
}

static void abandon(struct rdma_ucm_event_resp *resp)
{
	struct wait wait = { .fd = OTHER_FD, .event = event_alloc() };

	assert_non_null(wait.event);
	if (resp)
		wait.resp = *resp;
	wait_abandon(&wait);
	assert_int_equal(heap.blocks, 0);
}

static void a_cancelled_wait_acknowledges_what_it_has(void **state)
{
	(void)state;
	abandon(NULL);
	assert_int_equal(cm.events_acked, 0);
	abandon(kernel_reports(RDMA_CM_EVENT_ESTABLISHED));
	assert_int_equal(cm.events_acked, 1);
	assert_int_equal(it.refused, 0);
	abandon(kernel_reports(RDMA_CM_EVENT_CONNECT_REQUEST));
	assert_int_equal(cm.events_acked, 2);
	assert_int_equal(it.refused, REQUEST);
	assert_int_equal(it.refused_fd, OTHER_FD);
}

/* ---- ids whose calls wait ---- */

static void a_call_that_waits_has_the_errno_of_its_event(void **state)
{
	static const struct {
		uint32_t type;
		int status, err;
	} cases[] = {
		{ RDMA_CM_EVENT_ESTABLISHED, 0, 0 },
		{ RDMA_CM_EVENT_REJECTED, 28, ECONNREFUSED },
		{ RDMA_CM_EVENT_REJECTED, -ETIMEDOUT, ECONNREFUSED },
		{ RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, ETIMEDOUT },
		{ RDMA_CM_EVENT_ADDR_ERROR, ENODEV, ENODEV },
		{ RDMA_CM_EVENT_REJECTED, 0, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		it.queued = it.read = 0;
		kernel_reports(cases[i].type)->status = (uint32_t)cases[i].status;
		assert_int_equal(rdmacm_event_await(&cm), cases[i].err);
		assert_non_null(cm.id.event);
		assert_int_equal(cm.id.event->event, cases[i].type);
		assert_int_equal(cm.events_acked, i); /* those of the calls before */
		assert_int_equal(heap.blocks, 1);
	}
	assert_int_equal(rdmacm_event_await(&cm), EAGAIN);
	assert_null(cm.id.event);
	rdmacm_event_release(&cm);
	assert_int_equal(cm.events_acked, sizeof(cases) / sizeof(*cases));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, id_begin, id_end)
	const struct CMUnitTest tests[] = {
		TEST(a_connection_has_the_peers_parameters),
		TEST(a_datagram_has_an_address_and_a_qkey),
		TEST(without_private_data_there_is_no_pointer),
		TEST(an_event_without_parameters_is_as_the_kernel_says),
		TEST(a_step_that_fails_changes_the_event),
		TEST(an_address_without_a_device_is_an_error),
		TEST(a_response_moves_the_qp_and_is_confirmed),
		TEST(without_a_qp_the_program_confirms),
		TEST(a_response_that_fails_ends_in_an_error),
		TEST(a_rejection_moves_the_qp_and_has_parameters),
		TEST(a_groups_event_has_the_programs_context),
		TEST(a_removed_device_is_marked),
		TEST(an_event_of_the_program_has_its_argument),
		TEST(an_internal_event_is_of_resolved_names),
		TEST(a_request_is_an_id_like_its_listener),
		TEST(a_request_for_datagrams_has_no_depths),
		TEST(a_request_that_cannot_be_had_is_swallowed),
		TEST(a_request_of_which_nothing_is_known_is_destroyed),
		TEST(a_request_is_fetched_from_another_channel),
		TEST(a_request_that_is_not_fetched_has_an_errno),
		TEST(nothing_to_read_from_is_an_error),
		TEST(an_event_is_read_for_another_process),
		TEST(an_event_counts_once),
		TEST(all_threads_that_wait_are_woken_under_the_lock),
		TEST(a_lone_thread_takes_no_lock),
		TEST(a_read_leaves_the_programs_setting),
		TEST(a_cancelled_wait_acknowledges_what_it_has),
		TEST(a_call_that_waits_has_the_errno_of_its_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
