/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connection commands as the kernel sees them, through replaced write() and open() (--wrap), and
 * the QP after the kernel's refusal.
 *
 * Covers: librdmacm/connect.c, librdmacm/cmd.c, librdmacm/event.c, librdmacm/qp.c,
 * librdmacm/query.c, librdmacm/resolve.c, librdmacm/device.c, librdmacm/cma.h
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <infiniband/ib.h>
#include "libibverbs/private.h"
#include "librdmacm/cma.h"
#include "util/threads.h"

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_rdmacm_device_must_exist(void);

/* ---- the kernel, and a provider ---- */

static struct {
	int fd, open_err, err;
	int events_left; /* read() fails after that many, unless 0 */
	uint32_t destroyed;
	bool has_no_memory;                /* creating an id fails with ENOMEM */
	bool has_no_file;                  /* the module is loaded and has no device file */
	int attached, attached_at_destroy; /* multicast groups of the QP */
	int domains, destroyed_cqs;
	int opens_left; /* number of opens that fail, if not all do */
	int netlink_err;
	int netlink_answer;
	int netlink_end;  /* kernel's end of the netlink socket */
	int questions;    /* netlink requests so far */
	uint32_t refused; /* command that fails with ERR; 0: each */
	size_t lacks;     /* number of bytes by which write() falls short */
	struct rdma_ucm_event_resp event;
	struct rdma_ucm_query_route_resp route;
	struct ibv_path_record path;
	uint32_t events_reported;
	struct cm_cmd cmd;
	int qp_state;         /* last state that the QP was moved to, */
	int state_at_command; /* and its state at the last command */
} kernel;

static int device_err;

int __wrap_rdmacm_device_must_exist(void)
{
	return device_err;
}

int __wrap_open(const char *path, int flags, ...)
{
	if (strcmp(path, "/dev/infiniband/rdma_cm") && strcmp(path, "/dev/rdma_cm"))
		return __real_open(path, flags);
	if (kernel.open_err && (!kernel.opens_left || --kernel.opens_left)) {
		errno = kernel.open_err;
		return -1;
	}
	kernel.open_err = 0;
	kernel.fd = __real_open("/dev/null", O_RDWR | O_CLOEXEC);
	return kernel.fd;
}

/* open() has this name where a 32-bit program has 64-bit file offsets, so both are wrapped */
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));

/* RDMA netlink answers at once, but the module's device file appears later. */
int __wrap_socket(int domain, int type, int protocol)
{
	struct {
		struct nlmsghdr head;
		int error;
	} answer = { { sizeof(answer), NLMSG_ERROR, 0, 0, 0 }, -kernel.netlink_answer };
	int ends[2];

	if (domain != AF_NETLINK || protocol != NETLINK_RDMA)
		return __real_socket(domain, type, protocol);
	if (kernel.netlink_err) {
		errno = kernel.netlink_err;
		return -1;
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	kernel.netlink_end = ends[1];
	kernel.questions++;
	assert_int_equal(__real_write(ends[1], &answer, sizeof(answer)), sizeof(answer));
	kernel.opens_left = kernel.netlink_answer || kernel.has_no_file ? 0 : 5;
	return ends[0];
}

static void put_path(struct rdma_ucm_query_path_resp *resp)
{
	resp->num_paths = 1;
	memcpy(resp->path_data[0].path_rec, &kernel.path, sizeof(kernel.path));
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (fd != kernel.fd)
		return __real_write(fd, data, size);
	memset(&kernel.cmd, 0, sizeof(kernel.cmd));
	memcpy(&kernel.cmd, data, size);
	kernel.state_at_command = kernel.qp_state;
	if (kernel.err && (!kernel.refused || kernel.refused == kernel.cmd.hdr.cmd)) {
		errno = kernel.err;
		return -1;
	}
	if (kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_DESTROY_ID)
		kernel.destroyed = kernel.cmd.destroy_id.id;
	if (kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_GET_EVENT && kernel.events_left &&
	    !--kernel.events_left) {
		errno = EAGAIN;
		return -1;
	}
	if (kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_GET_EVENT)
		memcpy((void *)(uintptr_t)kernel.cmd.get_event.response, &kernel.event,
		       sizeof(kernel.event));
	if (kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_QUERY_ROUTE)
		memcpy((void *)(uintptr_t)kernel.cmd.query.response, &kernel.route,
		       sizeof(kernel.route));
	if (kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_QUERY &&
	    kernel.cmd.query.option == RDMA_USER_CM_QUERY_PATH)
		put_path((struct rdma_ucm_query_path_resp *)(uintptr_t)kernel.cmd.query.response);
	if (kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_MIGRATE_ID)
		((struct rdma_ucm_migrate_resp *)(uintptr_t)kernel.cmd.migrate_id.response)
			->events_reported = kernel.events_reported;
	if (kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_DESTROY_ID ||
	    kernel.cmd.hdr.cmd == RDMA_USER_CM_CMD_LEAVE_MCAST)
		((struct rdma_ucm_destroy_id_resp *)(uintptr_t)kernel.cmd.destroy_id.response)
			->events_reported = kernel.events_reported;
	return (ssize_t)(size - kernel.lacks);
}

void *__wrap_calloc(size_t count, size_t size)
{
	if (kernel.has_no_memory && size == sizeof(struct cm_id))
		return NULL;
	return __real_calloc(count, size);
}

static int qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	(void)qp;
	(void)attr_mask;
	kernel.qp_state = attr->qp_state;
	return 0;
}

static int qp_destroy(struct ibv_qp *qp)
{
	(void)qp;
	kernel.attached_at_destroy = kernel.attached;
	return 0;
}

static int mcast_attach(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp, (void)gid, (void)lid;
	kernel.attached++;
	return 0;
}

static int mcast_detach(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp, (void)gid, (void)lid;
	kernel.attached--;
	return 0;
}

static struct ibv_xrcd *xrcd_open(struct ibv_context *ctx, struct ibv_xrcd_init_attr *attr)
{
	static struct verbs_xrcd domain;

	(void)attr;
	kernel.domains++;
	domain.xrcd.context = ctx;
	return &domain.xrcd;
}

static int xrcd_close(struct ibv_xrcd *xrcd)
{
	(void)xrcd;
	kernel.domains--;
	return 0;
}

static int cq_destroy(struct ibv_cq *cq)
{
	(void)cq;
	kernel.destroyed_cqs++;
	return 0;
}

static int qp_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	*ece = (struct ibv_ece){ .vendor_id = 0x15b3, .options = 0x77 };
	return 0;
}

struct rig {
	struct verbs_device vdev;
	struct verbs_context vctx;
	struct cm_device device;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_srq srq;
	struct ibv_qp qp;
};

static int rig_open(void **state)
{
	const struct verbs_ops ops = { .modify_qp = qp_modify,
				       .query_ece = qp_query_ece,
				       .destroy_qp = qp_destroy,
				       .attach_mcast = mcast_attach,
				       .detach_mcast = mcast_detach,
				       .open_xrcd = xrcd_open,
				       .close_xrcd = xrcd_close,
				       .destroy_cq = cq_destroy };
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	memset(&kernel, 0, sizeof(kernel));
	assert_int_equal(verbs_context_init(&rig->vctx, &rig->vdev, -1), 0);
	verbs_set_ops(&rig->vctx, &ops);
	rig->channel = rdma_create_event_channel();
	assert_non_null(rig->channel);
	assert_int_equal(rdma_create_id(rig->channel, &rig->id, NULL, RDMA_PS_TCP), 0);
	rig->device = (struct cm_device){ .verbs = &rig->vctx.context,
					  .max_initiator_depth = 16,
					  .max_responder_resources = 8 };
	to_cm_id(rig->id)->device = &rig->device;
	rig->qp = (struct ibv_qp){ .context = &rig->vctx.context, .qp_num = 0x123 };
	*state = rig;
	return 0;
}

static int rig_close(void **state)
{
	struct rig *rig = *state;

	kernel.err = 0;
	kernel.lacks = 0;
	rig->id->qp = NULL;
	assert_int_equal(rdma_destroy_id(rig->id), 0);
	rdma_destroy_event_channel(rig->channel);
	verbs_context_cleanup(&rig->vctx);
	free(rig);
	return 0;
}

static const struct rdma_ucm_conn_param *param_sent(void)
{
	assert_int_equal(kernel.cmd.hdr.cmd, RDMA_USER_CM_CMD_CONNECT);
	return &kernel.cmd.connect.conn_param;
}

/* ---- connecting ---- */

static void a_request_says_what_the_program_says(void **state)
{
	struct rig *rig = *state;
	struct rdma_conn_param param = {
		.private_data = "data",
		.private_data_len = 4,
		.responder_resources = 3,
		.initiator_depth = 4,
		.flow_control = 1,
		.retry_count = 5,
		.rnr_retry_count = 6,
		.srq = 1,
		.qp_num = 0x456,
	};
	const struct rdma_ucm_conn_param *sent;

	assert_int_equal(rdma_connect(rig->id, &param), 0);
	sent = param_sent();
	assert_int_equal(sent->valid, 1);
	assert_int_equal(sent->qp_num, 0x456);
	assert_int_equal(sent->srq, 1);
	assert_int_equal(sent->responder_resources, 3);
	assert_int_equal(sent->initiator_depth, 4);
	assert_int_equal(sent->flow_control, 1);
	assert_int_equal(sent->retry_count, 5);
	assert_int_equal(sent->rnr_retry_count, 6);
	assert_int_equal(sent->private_data_len, 4);
	assert_memory_equal(sent->private_data, "data", 4);
}

static void without_parameters_the_qp_and_the_device_say_them(void **state)
{
	struct rig *rig = *state;
	const struct rdma_ucm_conn_param *sent;

	assert_int_equal(rdma_connect(rig->id, NULL), -1);
	assert_int_equal(errno, EINVAL);
	rig->id->qp = &rig->qp;
	rig->qp.srq = &rig->srq;
	assert_int_equal(rdma_connect(rig->id, NULL), 0);
	sent = param_sent();
	assert_int_equal(sent->qp_num, 0x123);
	assert_int_equal(sent->srq, 1);
	assert_int_equal(sent->responder_resources, 8);
	assert_int_equal(sent->initiator_depth, 16);
	assert_int_equal(sent->retry_count, 7);
	assert_int_equal(sent->rnr_retry_count, 7);
}

static void depths_are_within_the_device(void **state)
{
	struct rig *rig = *state;
	struct rdma_conn_param param = { .responder_resources = 8, .initiator_depth = 16 };

	assert_int_equal(rdma_connect(rig->id, &param), 0);
	param.responder_resources = 9;
	assert_int_equal(rdma_connect(rig->id, &param), -1);
	assert_int_equal(errno, EINVAL);
	param.responder_resources = RDMA_MAX_RESP_RES;
	assert_int_equal(rdma_connect(rig->id, &param), 0);
	assert_int_equal(param_sent()->responder_resources, 8);
	param.initiator_depth = 17;
	assert_int_equal(rdma_connect(rig->id, &param), -1);
}

/* Private data of rdma_getaddrinfo() precede the program's. Together they have 255 bytes at most,
 * as the command counts them in one byte. */
static void private_data_of_two_is_255_bytes(void **state)
{
	struct rig *rig = *state;
	struct cm_id *cm = to_cm_id(rig->id);
	uint8_t own[255] = { [0] = 'o', [253] = 'n' };
	struct rdma_conn_param param = { .private_data = own, .private_data_len = 254 };

	cm->connect_data = strdup("c");
	cm->connect_len = 1;
	assert_int_equal(rdma_connect(rig->id, &param), 0);
	assert_int_equal(param_sent()->private_data_len, 255);
	assert_int_equal(param_sent()->private_data[0], 'c');
	assert_int_equal(param_sent()->private_data[1], 'o');
	assert_int_equal(param_sent()->private_data[254], 'n');
	param.private_data_len = 255;
	assert_int_equal(rdma_connect(rig->id, &param), -1);
	assert_int_equal(errno, EINVAL);
}

static void an_ece_of_the_program_goes_before_the_qps(void **state)
{
	struct rig *rig = *state;
	struct ibv_ece ece = { .vendor_id = 1, .options = 2 };

	rig->id->qp = &rig->qp;
	assert_int_equal(rdma_connect(rig->id, NULL), 0);
	assert_int_equal(kernel.cmd.connect.ece.vendor_id, 0x15b3);
	assert_int_equal(kernel.cmd.connect.ece.attr_mod, 0x77);
	to_cm_id(rig->id)->local_ece = (struct ibv_ece){ 0 };
	to_cm_id(rig->id)->init_qp = &rig->qp; /* as rdma_create_qp() leaves it */
	to_cm_id(rig->id)->init_ece = (struct ibv_ece){ .vendor_id = 0x15b3, .options = 0x66 };
	assert_int_equal(rdma_connect(rig->id, NULL), 0);
	assert_int_equal(kernel.cmd.connect.ece.vendor_id, 0x15b3);
	assert_int_equal(kernel.cmd.connect.ece.attr_mod, 0x66);
	rig->id->qp = NULL;
	assert_int_equal(rdma_set_local_ece(rig->id, &ece), 0);
	rig->id->qp = &rig->qp;
	assert_int_equal(rdma_connect(rig->id, NULL), 0);
	assert_int_equal(kernel.cmd.connect.ece.vendor_id, 1);
	assert_int_equal(kernel.cmd.connect.ece.attr_mod, 2);
}

static void as_many_as_possible_are_those_of_the_request(void **state)
{
	struct rig *rig = *state;
	struct rdma_conn_param param = { .responder_resources = RDMA_MAX_RESP_RES,
					 .initiator_depth = RDMA_MAX_INIT_DEPTH };

	to_cm_id(rig->id)->responder_resources = 2;
	to_cm_id(rig->id)->initiator_depth = 3;
	assert_int_equal(rdma_accept(rig->id, &param), 0);
	assert_int_equal(kernel.cmd.hdr.cmd, RDMA_USER_CM_CMD_ACCEPT);
	assert_int_equal(kernel.cmd.accept.conn_param.responder_resources, 2);
	assert_int_equal(kernel.cmd.accept.conn_param.initiator_depth, 3);
}

static void a_qp_of_a_refused_accept_is_in_error(void **state)
{
	struct rig *rig = *state;

	rig->id->qp = &rig->qp;
	kernel.err = EPERM;
	kernel.refused = RDMA_USER_CM_CMD_ACCEPT;
	assert_int_equal(rdma_accept(rig->id, NULL), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(kernel.qp_state, IBV_QPS_ERR);
}

static void with_a_qp_the_library_establishes(void **state)
{
	struct rig *rig = *state;

	rig->id->qp = &rig->qp;
	assert_int_equal(rdma_establish(rig->id), -1);
	assert_int_equal(errno, EINVAL);
	rig->id->qp = NULL;
	assert_int_equal(rdma_establish(rig->id), 0);
	assert_int_equal(kernel.cmd.accept.conn_param.valid, 0);
}

static void a_qp_is_in_error_before_it_is_disconnected(void **state)
{
	struct rig *rig = *state;

	rig->id->qp = &rig->qp;
	assert_int_equal(rdma_disconnect(rig->id), 0);
	assert_int_equal(kernel.cmd.hdr.cmd, RDMA_USER_CM_CMD_DISCONNECT);
	assert_int_equal(kernel.state_at_command, IBV_QPS_ERR);
}

/* ---- events ---- */

static struct rdma_cm_event *event_of(struct rig *rig, uint32_t type, int status)
{
	struct rdma_cm_event *event;

	kernel.event.uid = (uintptr_t)rig->id;
	kernel.event.event = type;
	kernel.event.status = (uint32_t)status;
	assert_int_equal(rdma_get_cm_event(rig->channel, &event), 0);
	return event;
}

static void a_request_has_the_depths_of_its_sender(void **state)
{
	struct rig *rig = *state;
	struct rdma_cm_event *event;
	struct rdma_cm_id *request;

	kernel.event.id = 9;
	kernel.event.param.conn.initiator_depth = 3;
	kernel.event.param.conn.responder_resources = 4;
	event = event_of(rig, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	request = event->id;
	assert_ptr_equal(event->listen_id, rig->id);
	assert_ptr_not_equal(request, rig->id);
	assert_int_equal(to_cm_id(request)->number, 9);
	assert_int_equal(to_cm_id(request)->initiator_depth, 3);
	assert_int_equal(to_cm_id(request)->responder_resources, 4);
	rdma_ack_cm_event(event);
	assert_int_equal(rdma_destroy_id(request), 0);
}

/* A datagram endpoint may have the port space RDMA_PS_IB as well, so the QP type decides. */
static void parameters_are_of_the_qps_kind(void **state)
{
	struct rig *rig = *state;
	struct rdma_cm_event *event;
	struct rdma_cm_id *request;

	kernel.event.param.ud.qp_num = 0x1234;
	kernel.event.param.ud.qkey = 0x5678;
	rig->id->ps = RDMA_PS_IB;
	rig->id->qp_type = IBV_QPT_UD;
	event = event_of(rig, RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(event->param.ud.qp_num, 0x1234);
	assert_int_equal(event->param.ud.qkey, 0x5678);
	rdma_ack_cm_event(event);
	event = event_of(rig, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	request = event->id;
	assert_int_equal(event->param.ud.qkey, 0x5678);
	rdma_ack_cm_event(event);
	assert_int_equal(rdma_destroy_id(request), 0);
}

static void a_request_without_memory_is_refused(void **state)
{
	struct rig *rig = *state;
	struct rdma_cm_event *event;

	kernel.event.id = 9;
	kernel.event.uid = (uintptr_t)rig->id;
	kernel.event.event = RDMA_CM_EVENT_CONNECT_REQUEST;
	kernel.events_left = 2;
	rdmacm_id_free_spare();
	kernel.has_no_memory = true;
	assert_int_equal(rdma_get_cm_event(rig->channel, &event), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(kernel.destroyed, 9);
	kernel.has_no_memory = false;
}

static void an_address_of_a_port_without_a_guid_is_enodev(void **state)
{
	struct rig *rig = *state;
	struct rdma_cm_event *event;

	to_cm_id(rig->id)->device = NULL;
	kernel.route.src_addr[0] = kernel.route.dst_addr[0] = AF_INET;
	event = event_of(rig, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDR_ERROR);
	assert_int_equal(event->status, -ENODEV);
	rdma_ack_cm_event(event);
}

static void a_step_that_fails_has_its_error(void **state)
{
	struct rig *rig = *state;
	struct rdma_cm_event *event;

	kernel.err = EPERM;
	kernel.refused = RDMA_USER_CM_CMD_QUERY_ROUTE;
	event = event_of(rig, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDR_ERROR);
	assert_int_equal(event->status, -EPERM);
	rdma_ack_cm_event(event);
}

static void a_qp_that_is_rejected_is_in_error(void **state)
{
	struct rig *rig = *state;

	rig->id->qp = &rig->qp;
	rdma_ack_cm_event(event_of(rig, RDMA_CM_EVENT_REJECTED, 28));
	assert_int_equal(kernel.qp_state, IBV_QPS_ERR);
}

static void *ack_late(void *event)
{
	usleep(20000);
	rdma_ack_cm_event(event);
	return NULL;
}

/* rdma_destroy_id() must wait, as the acknowledgement of an event writes to the id. */
static void an_id_waits_for_its_events(void **state)
{
	struct rig *rig = *state;
	struct rdma_cm_event *event = event_of(rig, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	struct cm_id *cm = to_cm_id(rig->id);
	pthread_t acker;

	kernel.events_reported = 1;
	assert_int_equal(pthread_create(&acker, NULL, ack_late, event), 0);
	assert_int_equal(rdmacm_id_destroy_in_kernel(cm), 0);
	assert_int_equal(cm->events_acked, 1);
	assert_int_equal(pthread_join(acker, NULL), 0);
	kernel.events_reported = 0;
}

static void an_id_that_moves_waits_for_them_too(void **state)
{
	struct rig *rig = *state;
	struct rdma_cm_event *event = event_of(rig, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	struct rdma_event_channel *other = rdma_create_event_channel();
	pthread_t acker;

	assert_non_null(other);
	kernel.events_reported = 1;
	assert_int_equal(pthread_create(&acker, NULL, ack_late, event), 0);
	assert_int_equal(rdma_migrate_id(rig->id, other), 0);
	assert_int_equal(to_cm_id(rig->id)->events_acked, 1);
	assert_ptr_equal(rig->id->channel, other);
	assert_int_equal(pthread_join(acker, NULL), 0);
	kernel.events_reported = 0;
	rdma_destroy_event_channel(rig->channel);
	rig->channel = other;
}

/* rdma_leave_multicast() waits, since it frees the group; the id counts the group's event as
 * well. */
static void a_group_waits_for_its_events(void **state)
{
	struct rig *rig = *state;
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = 7 };
	struct sockaddr *group = (struct sockaddr *)&addr;
	struct rdma_cm_event *event;
	pthread_t acker;

	assert_int_equal(rdma_join_multicast(rig->id, group, &addr), 0);
	kernel.event.uid = (uintptr_t)LIST_FIRST(&to_cm_id(rig->id)->multicasts);
	kernel.event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
	assert_int_equal(rdma_get_cm_event(rig->channel, &event), 0);
	assert_ptr_equal(event->param.ud.private_data, &addr);
	kernel.events_reported = 1;
	assert_int_equal(pthread_create(&acker, NULL, ack_late, event), 0);
	assert_int_equal(rdma_leave_multicast(rig->id, group), 0);
	assert_int_equal(to_cm_id(rig->id)->events_acked, 1);
	assert_int_equal(pthread_join(acker, NULL), 0);
	kernel.events_reported = 0;
}

static void a_qp_leaves_its_groups_before_it_goes(void **state)
{
	struct rig *rig = *state;
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = 7 };
	struct cm_multicast *group;
	struct rdma_cm_event *event;

	rig->id->qp = &rig->qp;
	assert_int_equal(rdma_join_multicast(rig->id, (struct sockaddr *)&addr, NULL), 0);
	group = LIST_FIRST(&to_cm_id(rig->id)->multicasts);
	kernel.event = (struct rdma_ucm_event_resp){ .uid = (uintptr_t)group,
						     .event = RDMA_CM_EVENT_MULTICAST_JOIN };
	assert_int_equal(rdma_get_cm_event(rig->channel, &event), 0);
	rdma_ack_cm_event(event);
	assert_int_equal(kernel.attached, 1);
	rdma_destroy_qp(rig->id);
	assert_null(rig->id->qp);
	assert_int_equal(kernel.attached_at_destroy, 0);
}

static void the_default_domain_goes_with_its_last_user(void **state)
{
	struct rig *rig = *state;
	struct cm_id *cm = to_cm_id(rig->id);
	struct ibv_xrcd *first, *second;

	assert_int_equal(rdmacm_device_get_xrcd(&rig->device, &first), 0);
	assert_int_equal(rdmacm_device_get_xrcd(&rig->device, &second), 0);
	assert_ptr_equal(first, second);
	assert_int_equal(kernel.domains, 1);
	rdmacm_device_put_xrcd(&rig->device);
	assert_int_equal(kernel.domains, 1);
	rig->id->qp = &rig->qp;
	cm->uses_default_xrcd = true;
	cm->id.verbs = NULL; /* the id of a lost context */
	rdma_destroy_qp(rig->id);
	assert_int_equal(kernel.domains, 1);
	rig->id->qp = &rig->qp;
	cm->uses_default_xrcd = true;
	cm->id.verbs = rig->device.verbs;
	rdma_destroy_qp(rig->id);
	assert_int_equal(kernel.domains, 0);
}

static void cqs_of_the_program_stay(void **state)
{
	struct rig *rig = *state;
	struct ibv_cq cq = { .context = &rig->vctx.context };

	rig->id->qp = &rig->qp;
	rig->id->send_cq = rig->id->recv_cq = &cq;
	rdma_destroy_qp(rig->id);
	assert_int_equal(kernel.destroyed_cqs, 0);
	assert_ptr_equal(rig->id->send_cq, &cq);
	rig->id->send_cq = rig->id->recv_cq = NULL;
}

static void only_events_have_names(void **state)
{
	(void)state;
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_ADDR_RESOLVED),
			    "RDMA_CM_EVENT_ADDR_RESOLVED");
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_INTERNAL), "RDMA_CM_EVENT_INTERNAL");
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_INTERNAL + 1), "UNKNOWN EVENT");
	assert_string_equal(rdma_event_str(-1), "UNKNOWN EVENT");
}

/* ---- routes ---- */

static void a_path_record_is_taken_apart(void **state)
{
	struct rig *rig = *state;
	const struct ibv_sa_path_rec *path;

	kernel.path = (struct ibv_path_record){
		.dlid = htobe16(1),
		.slid = htobe16(2),
		.flowlabel_hoplimit = htobe32(0x12345u << 8 | 0x67),
		.tclass = 8,
		.reversible_numpath = 0x80 | 2,
		.pkey = htobe16(0x8001),
		.qosclass_sl = htobe16(0x1234),
		.mtu = 0x80 | IBV_MTU_2048,
		.rate = 0x80 | 7,
		.packetlifetime = 0x80 | 9,
		.preference = 10,
	};
	rdma_ack_cm_event(event_of(rig, RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
	assert_int_equal(rig->id->route.num_paths, 1);
	path = rig->id->route.path_rec;
	assert_int_equal(path->dlid, htobe16(1));
	assert_int_equal(path->slid, htobe16(2));
	assert_int_equal(path->flow_label, htobe32(0x12345));
	assert_int_equal(path->hop_limit, 0x67);
	assert_int_equal(path->traffic_class, 8);
	assert_int_equal(path->reversible, 1);
	assert_int_equal(path->pkey, htobe16(0x8001));
	assert_int_equal(path->sl, 4);
	assert_int_equal(path->mtu, IBV_MTU_2048);
	assert_int_equal(path->rate, 7);
	assert_int_equal(path->packet_life_time, 9);
	assert_int_equal(path->preference, 10);
}

static void a_route_has_gids_and_a_pkey(void **state)
{
	struct rig *rig = *state;
	struct sockaddr_in addr = { .sin_family = AF_INET };
	const struct rdma_ib_addr *ib = &rig->id->route.addr.addr.ibaddr;

	memcpy(kernel.route.src_addr, &addr, sizeof(addr));
	kernel.route.ib_route[0].pkey = htobe16(0x8001);
	kernel.route.ib_route[0].sgid[0] = 1;
	kernel.route.ib_route[0].dgid[0] = 2;
	rdma_ack_cm_event(event_of(rig, RDMA_CM_EVENT_ADDR_RESOLVED, 0));
	assert_int_equal(ib->pkey, htobe16(0x8001));
	assert_int_equal(ib->sgid.raw[0], 1);
	assert_int_equal(ib->dgid.raw[0], 2);
}

static void an_address_that_is_refused_is_not_taken(void **state)
{
	struct rig *rig = *state;
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = 7 };
	struct sockaddr *to = (struct sockaddr *)&addr;

	assert_int_equal(rdma_resolve_addr(rig->id, NULL, to, 1), 0);
	assert_int_equal(rdma_get_dst_port(rig->id), 7);
	kernel.err = EPERM;
	addr.sin_port = 8;
	assert_int_equal(rdma_resolve_addr(rig->id, NULL, to, 1), -1);
	assert_int_equal(rdma_get_dst_port(rig->id), 7);
}

/* Programs compare whole structures, so the bytes behind a short address must be 0. */
static void nothing_of_a_longer_address_is_behind_a_shorter(void **state)
{
	struct rig *rig = *state;
	struct sockaddr_ib ib = { .sib_family = AF_IB };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = 7 };
	struct sockaddr *const longer[] = { (struct sockaddr *)&ib, (struct sockaddr *)&in6 };
	struct sockaddr_storage want = { 0 };

	memset(&ib.sib_addr, 0xee, sizeof(ib.sib_addr));
	memset(&in6.sin6_addr, 0xee, sizeof(in6.sin6_addr));
	memcpy(&want, &in, sizeof(in));
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(rdma_resolve_addr(rig->id, NULL, longer[i], 1), 0);
		assert_int_equal(rdma_resolve_addr(rig->id, NULL, (struct sockaddr *)&in, 1), 0);
		assert_memory_equal(&rig->id->route.addr.dst_storage, &want, sizeof(want));
	}
}

static void flags_of_a_group_are_known_ones(void **state)
{
	struct rig *rig = *state;
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_RESERVED,
		.addr = (struct sockaddr *)&addr,
	};

	assert_int_equal(rdma_join_multicast_ex(rig->id, &attr, NULL), -1);
	assert_int_equal(errno, EINVAL);
	attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED - 1;
	assert_int_equal(rdma_join_multicast_ex(rig->id, &attr, NULL), 0);
	assert_int_equal(kernel.cmd.join_mcast.join_flags, RDMA_MC_JOIN_FLAG_RESERVED - 1);
}

static void a_family_that_is_unknown_has_its_error(void **state)
{
	const struct rdma_addrinfo hints = { .ai_family = 99 };
	struct rdma_addrinfo *info;

	(void)state;
	errno = 0;
	assert_int_equal(rdma_getaddrinfo("192.0.2.1", "7", &hints, &info), EAI_FAMILY);
	assert_int_equal(errno, EAFNOSUPPORT);
}

static void a_qp_is_of_the_ids_kind_and_device(void **state)
{
	struct rig *rig = *state;
	struct ibv_context other = { 0 };
	struct ibv_pd pd = { .context = &other };
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_UC };

	rig->id->verbs = &rig->vctx.context;
	assert_int_equal(rdma_create_qp(rig->id, NULL, &attr), -1);
	assert_int_equal(errno, EINVAL);
	attr.qp_type = IBV_QPT_RC;
	assert_int_equal(rdma_create_qp(rig->id, &pd, &attr), -1);
	assert_int_equal(errno, EINVAL);
}

static void an_id_that_waits_closes_its_channel(void **state)
{
	struct rdma_cm_id *id;
	int fd;

	(void)state;
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP), 0);
	assert_int_equal(id->qp_type, IBV_QPT_UD);
	fd = id->channel->fd;
	assert_int_equal(rdma_destroy_id(id), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void an_id_that_is_not_destroyed_stays(void **state)
{
	struct rig *rig = *state;

	kernel.err = EPERM;
	assert_int_equal(rdma_destroy_id(rig->id), -1);
	assert_int_equal(errno, EPERM);
	assert_ptr_equal(rig->id->channel, rig->channel);
	kernel.err = 0;
}

/* ---- the kernel's answers ---- */

static void a_command_that_is_taken_in_part_is_an_error(void **state)
{
	struct rig *rig = *state;
	struct rdma_conn_param param = { 0 };

	kernel.lacks = 1;
	assert_int_equal(rdma_connect(rig->id, &param), -1);
	assert_int_equal(errno, ENODATA);
}

static void the_kernel_is_asked_for_a_module_that_is_not_loaded(void **state)
{
	struct {
		struct nlmsghdr head;
		struct nlattr attr;
		char client[8];
	} question;
	struct rdma_event_channel *channel;
	int fd = kernel.fd;

	(void)state;
	kernel.open_err = ENOENT;
	channel = rdma_create_event_channel();
	assert_non_null(channel);
	assert_int_equal(read(kernel.netlink_end, &question, sizeof(question)), 28);
	assert_int_equal(question.head.nlmsg_len, 28);
	assert_int_equal(question.head.nlmsg_type, 5 << 10 | 15);
	assert_int_equal(question.attr.nla_len, 12);
	assert_int_equal(question.attr.nla_type, 69);
	assert_string_equal(question.client, "rdma_cm");
	close(kernel.netlink_end);
	rdma_destroy_event_channel(channel);
	kernel.fd = fd;
}

static void a_machine_without_an_adapter_has_no_channel(void **state)
{
	const int fd = kernel.fd;

	(void)state;
	device_err = ENODEV;
	errno = 0;
	assert_null(rdma_create_event_channel());
	assert_int_equal(errno, ENODEV);
	assert_int_equal(kernel.fd, fd); /* the same, so no descriptor leaks */
	device_err = 0;
}

static void a_kernel_without_rdma_cm_is_enodev(void **state)
{
	(void)state;
	kernel.open_err = ENOENT;
	kernel.netlink_err = EPROTONOSUPPORT;
	assert_null(rdma_create_event_channel());
	assert_int_equal(errno, ENODEV);
	kernel.netlink_err = 0;
	kernel.netlink_answer = ENOENT; /* no such module */
	assert_null(rdma_create_event_channel());
	assert_int_equal(errno, ENODEV);
	close(kernel.netlink_end);
	kernel.open_err = EACCES;
	assert_null(rdma_create_event_channel());
	assert_int_equal(errno, EACCES);
	kernel.open_err = 0;
}

static int64_t ms_of_channel_without_file(void)
{
	struct timespec before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_null(rdma_create_event_channel());
	assert_int_equal(errno, ENODEV);
	clock_gettime(CLOCK_MONOTONIC, &after);
	return (after.tv_sec - before.tv_sec) * 1000LL + (after.tv_nsec - before.tv_nsec) / 1000000;
}

/* A container may have the kernel's modules and no device files. The test must run last, since the
 * library remembers the failure. */
static void a_file_that_does_not_come_is_awaited_once(void **state)
{
	struct rdma_event_channel *channel;
	int fd = kernel.fd;

	(void)state;
	kernel.open_err = ENOENT;
	kernel.has_no_file = true;
	kernel.questions = 0;
	assert_true(ms_of_channel_without_file() >= 900);
	close(kernel.netlink_end);
	assert_true(ms_of_channel_without_file() < 500);
	assert_int_equal(kernel.questions, 1);
	kernel.open_err = 0; /* the file appears after all */
	channel = rdma_create_event_channel();
	assert_non_null(channel);
	rdma_destroy_event_channel(channel);
	kernel.has_no_file = false;
	kernel.fd = fd;
}

/* The library caches the result, so the test runs in a child, before any other: the environment is
 * read once. */
static void the_first_call_looks_for_threads(void **state)
{
	pid_t child;
	int status;

	(void)state;
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		setenv("SYSFS_PATH", "/nonexistent", 1);
		setenv("VERBS_KEEP_LOCKS", "1", 1);
		if (rdma_get_devices(NULL))
			_exit(2);
		_exit(process_has_one_thread());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

#define RIG_TEST(test) cmocka_unit_test_setup_teardown(test, rig_open, rig_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_call_looks_for_threads),
		RIG_TEST(a_request_says_what_the_program_says),
		RIG_TEST(without_parameters_the_qp_and_the_device_say_them),
		RIG_TEST(depths_are_within_the_device),
		RIG_TEST(private_data_of_two_is_255_bytes),
		RIG_TEST(an_ece_of_the_program_goes_before_the_qps),
		RIG_TEST(as_many_as_possible_are_those_of_the_request),
		RIG_TEST(a_qp_of_a_refused_accept_is_in_error),
		RIG_TEST(with_a_qp_the_library_establishes),
		RIG_TEST(a_qp_is_in_error_before_it_is_disconnected),
		RIG_TEST(a_request_has_the_depths_of_its_sender),
		RIG_TEST(parameters_are_of_the_qps_kind),
		RIG_TEST(a_request_without_memory_is_refused),
		RIG_TEST(an_address_of_a_port_without_a_guid_is_enodev),
		RIG_TEST(a_step_that_fails_has_its_error),
		RIG_TEST(a_qp_that_is_rejected_is_in_error),
		RIG_TEST(an_id_waits_for_its_events),
		RIG_TEST(an_id_that_moves_waits_for_them_too),
		RIG_TEST(a_group_waits_for_its_events),
		RIG_TEST(a_qp_leaves_its_groups_before_it_goes),
		RIG_TEST(the_default_domain_goes_with_its_last_user),
		RIG_TEST(cqs_of_the_program_stay),
		RIG_TEST(only_events_have_names),
		RIG_TEST(a_path_record_is_taken_apart),
		RIG_TEST(a_route_has_gids_and_a_pkey),
		RIG_TEST(an_address_that_is_refused_is_not_taken),
		RIG_TEST(nothing_of_a_longer_address_is_behind_a_shorter),
		RIG_TEST(flags_of_a_group_are_known_ones),
		RIG_TEST(a_family_that_is_unknown_has_its_error),
		RIG_TEST(a_qp_is_of_the_ids_kind_and_device),
		RIG_TEST(an_id_that_waits_closes_its_channel),
		RIG_TEST(an_id_that_is_not_destroyed_stays),
		RIG_TEST(a_command_that_is_taken_in_part_is_an_error),
		RIG_TEST(the_kernel_is_asked_for_a_module_that_is_not_loaded),
		RIG_TEST(a_machine_without_an_adapter_has_no_channel),
		RIG_TEST(a_kernel_without_rdma_cm_is_enodev),
		RIG_TEST(a_file_that_does_not_come_is_awaited_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
