/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connections.c - pages on ids and connections of librdmacm.
 *
 * Covers: librdmacm/id.c, librdmacm/resolve.c, librdmacm/connect.c, librdmacm/event.c,
 * librdmacm/mcast.c, librdmacm/addrinfo.c, librdmacm/ep.c,
 * librdmacm/device.c
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "errors.h"

NEWER(rdma_resolve_addrinfo);
NEWER(rdma_query_addrinfo);
NEWER(rdma_write_cm_event);

enum { WAIT_MS = 2000 };

static struct sockaddr_in address(const char *host, int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	MUST(inet_pton(AF_INET, host, &in.sin_addr) == 1);
	return in;
}

/* An id without a channel, so that its calls wait. */
static struct rdma_cm_id *waiting_id(enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(NULL, &id, NULL, ps));
	return id;
}

static struct rdma_cm_id *channel_id(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	MUST(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	return id;
}

static int bind_to(struct rdma_cm_id *id, const char *host, int port)
{
	struct sockaddr_in in = address(host, port);

	return RET(rdma_bind_addr(id, (struct sockaddr *)&in));
}

static int id_resolve(struct rdma_cm_id *id, const char *host, int port)
{
	struct sockaddr_in in = address(host, port);

	return RET(rdma_resolve_addr(id, NULL, (struct sockaddr *)&in, WAIT_MS));
}

static const char first_port[] = "198.18.0.1"; /* not the loopback, as that has no device */

static struct rdma_cm_id *bound_id(void)
{
	struct rdma_cm_id *id = waiting_id(RDMA_PS_TCP);

	MUST(!bind_to(id, first_port, 0));
	return id;
}

/* The address is resolved, the route is not. */
static struct rdma_cm_id *resolved_id(int port)
{
	struct rdma_cm_id *id = waiting_id(RDMA_PS_TCP);

	MUST(!id_resolve(id, "127.0.0.1", port));
	return id;
}

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 }
	};
}

static struct rdma_cm_id *routed_id(void)
{
	struct rdma_cm_id *id = resolved_id(9);

	MUST(!rdma_resolve_route(id, WAIT_MS));
	return id;
}

static struct rdma_cm_id *with_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = qp_attr();

	MUST(!rdma_create_qp(id, NULL, &attr));
	return id;
}

/* ---- ids and addresses ---- */

CASE(rdma_create_id, EINVAL, "ps is not a port space")
{
	struct rdma_cm_id *id;

	return RET(rdma_create_id(NULL, &id, NULL, 7));
}

CASE(rdma_create_id, ENOMEM, "There is no memory")
{
	struct rdma_cm_id *id;

	return NO_MEMORY(RET(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP)));
}

CASE_ON(ON_BARE, rdma_create_id, ENODEV, "The machine has no adapter")
{
	struct rdma_cm_id *id;

	return RET(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
}

CASE_ON(ON_BARE, rdma_create_event_channel, ENODEV, "The machine has no adapter")
{
	return OBJ(rdma_create_event_channel());
}

CASE(rdma_create_event_channel, ENOMEM, "There is no memory")
{
	return NO_MEMORY(OBJ(rdma_create_event_channel()));
}

CASE(rdma_bind_addr, EADDRNOTAVAIL, "The address does not belong to this machine")
{
	return bind_to(waiting_id(RDMA_PS_TCP), "203.0.113.1", 0);
}

CASE(rdma_bind_addr, EADDRINUSE, "The address and port are in use")
{
	struct rdma_cm_id *id = bound_id();

	return bind_to(waiting_id(RDMA_PS_TCP), first_port, ntohs(rdma_get_src_port(id)));
}

CASE(rdma_bind_addr, EADDRNOTAVAIL,
     "the port is in use and one of the two addresses is the wildcard")
{
	struct rdma_cm_id *id = bound_id();

	return bind_to(waiting_id(RDMA_PS_TCP), "0.0.0.0", ntohs(rdma_get_src_port(id)));
}

CASE(rdma_bind_addr, EINVAL, "The address family is another one")
{
	struct sockaddr_in in = { .sin_family = 99 };

	return RET(rdma_bind_addr(waiting_id(RDMA_PS_TCP), (struct sockaddr *)&in));
}

CASE(rdma_bind_addr, EINVAL, "a link-local IPv6 address has no scope")
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	MUST(inet_pton(AF_INET6, "fe80::1", &in6.sin6_addr) == 1);
	return RET(rdma_bind_addr(waiting_id(RDMA_PS_TCP), (struct sockaddr *)&in6));
}

CASE(rdma_bind_addr, EINVAL, "id is already bound")
{
	return bind_to(bound_id(), "127.0.0.1", 0);
}

static struct sockaddr_ib ib_address(const union ibv_gid *gid, uint64_t sid)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB,
				  .sib_pkey = 0xffff,
				  .sib_sid = htobe64(sid),
				  .sib_sid_mask = htobe64(~0ull) };

	memcpy(&ib.sib_addr, gid, sizeof(*gid));
	return ib;
}

CASE(rdma_bind_addr, ENODEV, "no RDMA device has the GID")
{
	union ibv_gid gid = { .raw = { 0xfe, 0x80, [15] = 0x77 } };
	struct sockaddr_ib ib = ib_address(&gid, (RDMA_PS_IB << 16) + 5);

	return RET(rdma_bind_addr(waiting_id(RDMA_PS_IB), (struct sockaddr *)&ib));
}

CASE(rdma_bind_addr, EPROTONOSUPPORT, "the service id does not belong to the id's port space")
{
	struct sockaddr_ib ib = ib_address(&bed->rig.gid, (RDMA_PS_UDP << 16) + 5);

	return RET(rdma_bind_addr(waiting_id(RDMA_PS_TCP), (struct sockaddr *)&ib));
}

CASE(rdma_bind_addr, EACCES, "or by this process before it changed its user")
{
	struct rdma_cm_id *id = waiting_id(RDMA_PS_TCP);

	int ret, left;

	MUST(geteuid() || !seteuid(65534));
	ret = bind_to(id, first_port, 0);
	left = errno;
	MUST(!seteuid(0));
	errno = left;
	return ret;
}

CASE(rdma_bind_addr, EACCES, "The port is below 1024, and the program lacks CAP_NET_BIND_SERVICE")
{
	struct rdma_cm_id *id = waiting_id(RDMA_PS_TCP);

	capabilities_drop();
	return bind_to(id, "127.0.0.1", 80);
}

/* The errno of a call that a child makes on its parent's id. */
static int bind_by_child(struct rdma_cm_id *id)
{
	pid_t child = fork();
	int status;

	MUST(child >= 0);
	if (!child)
		_exit(bind_to(id, first_port, 0));
	MUST(waitpid(child, &status, 0) == child && WIFEXITED(status));
	errno = WEXITSTATUS(status);
	return errno;
}

CASE(rdma_bind_addr, EACCES, "or the id's channel was opened by another process")
{
	return bind_by_child(waiting_id(RDMA_PS_TCP));
}

CASE(rdma_listen, EINVAL, "id already listens")
{
	struct rdma_cm_id *id = bound_id();

	MUST(!rdma_listen(id, 1));
	return RET(rdma_listen(id, 1));
}

CASE(rdma_listen, EINVAL, "or is used to connect")
{
	return RET(rdma_listen(resolved_id(9), 1));
}

CASE(rdma_migrate_id, EINVAL, "The descriptor of the id's present channel is not one of rdma_cm")
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = channel_id();

	MUST(channel && dup2(open("/dev/null", O_RDWR), id->channel->fd) >= 0);
	return RET(rdma_migrate_id(id, channel));
}

CASE(rdma_resolve_addr, EINVAL, "An address family is unknown")
{
	struct sockaddr_in in = { .sin_family = 99 };

	return RET(
		rdma_resolve_addr(waiting_id(RDMA_PS_TCP), NULL, (struct sockaddr *)&in, WAIT_MS));
}

CASE(rdma_resolve_addr, EINVAL, "id is not in a state to resolve an address")
{
	struct rdma_cm_id *id = bound_id();

	MUST(!rdma_listen(id, 1));
	return id_resolve(id, "127.0.0.1", 9);
}

CASE(rdma_resolve_addr, ENODEV, "No RDMA device leads to dst_addr")
{
	return id_resolve(waiting_id(RDMA_PS_TCP), "203.0.113.1", 9);
}

CASE(rdma_resolve_addr, EADDRNOTAVAIL, "src_addr does not belong to an RDMA device")
{
	struct sockaddr_in from = address("203.0.113.1", 0), to = address("127.0.0.1", 9);

	return RET(rdma_resolve_addr(waiting_id(RDMA_PS_TCP), (struct sockaddr *)&from,
				     (struct sockaddr *)&to, WAIT_MS));
}

CASE(rdma_resolve_route, EINVAL, "The address of id is not resolved")
{
	return RET(rdma_resolve_route(bound_id(), WAIT_MS));
}

static int create_qp(struct rdma_cm_id *id, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr attr = qp_attr();

	return RET(rdma_create_qp(id, pd, &attr));
}

CASE(rdma_create_qp, EINVAL, "id is not bound to a device")
{
	return create_qp(waiting_id(RDMA_PS_TCP), NULL);
}

CASE(rdma_create_qp, EINVAL, "has a queue pair")
{
	return create_qp(with_qp(routed_id()), NULL);
}

CASE(rdma_create_qp, EINVAL, "qp_type is not a type of the port space of id")
{
	struct ibv_qp_init_attr attr = qp_attr();

	attr.qp_type = IBV_QPT_UD;
	return RET(rdma_create_qp(routed_id(), NULL, &attr));
}

CASE(rdma_create_qp, EINVAL, "pd belongs to another device")
{
	return create_qp(routed_id(), bed->pd);
}

CASE(rdma_create_qp, ENOMEM, "As for ibv_create_qp(3)")
{
	struct rdma_cm_id *id = routed_id();

	return NO_MEMORY(create_qp(id, NULL));
}

static int create_srq(struct rdma_cm_id *id, struct ibv_pd *pd)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };

	return RET(rdma_create_srq(id, pd, &attr));
}

CASE(rdma_create_srq, EINVAL, "id is not bound to a device")
{
	return create_srq(waiting_id(RDMA_PS_TCP), NULL);
}

CASE(rdma_create_srq, EINVAL, "already has a shared receive queue")
{
	struct rdma_cm_id *id = routed_id();

	MUST(!create_srq(id, NULL));
	return create_srq(id, NULL);
}

CASE(rdma_create_srq, EINVAL, "pd belongs to another device")
{
	return create_srq(routed_id(), bed->pd);
}

CASE(rdma_init_qp_attr, EINVAL, "qp_state is another state")
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	int mask;

	return RET(rdma_init_qp_attr(routed_id(), &attr, &mask));
}

CASE(rdma_init_qp_attr, EINVAL, "id has not reached the point for it")
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask;

	return RET(rdma_init_qp_attr(waiting_id(RDMA_PS_TCP), &attr, &mask));
}

/* ---- connections ---- */

CASE(rdma_connect, EINVAL, "The route is not resolved")
{
	return RET(rdma_connect(with_qp(resolved_id(9)), NULL));
}

CASE(rdma_connect, EINVAL, "conn_param asks for more READs and atomics than the device supports")
{
	struct rdma_conn_param param = { .initiator_depth = 200, .responder_resources = 200 };

	return RET(rdma_connect(with_qp(routed_id()), &param));
}

CASE(rdma_connect, EINVAL, "the private data are too long")
{
	struct rdma_conn_param param = { .private_data = bed->buf, .private_data_len = 250 };

	return RET(rdma_connect(with_qp(routed_id()), &param));
}

CASE(rdma_connect, ECONNREFUSED, "the peer has rejected")
{
	return RET(rdma_connect(with_qp(routed_id()), NULL));
}

CASE(rdma_accept, EINVAL, "id is not the id of a request")
{
	return RET(rdma_accept(bound_id(), NULL));
}

static void *connect_other(void *id)
{
	rdma_connect(id, NULL); /* until the listener goes */
	return NULL;
}

CASE(rdma_accept, EINVAL, "or conn_param asks for more READs and atomics than the device supports")
{
	struct rdma_conn_param param = { .initiator_depth = 200, .responder_resources = 200 };
	struct rdma_cm_id *listener = bound_id(), *other = waiting_id(RDMA_PS_TCP), *request;
	pthread_t thread;

	MUST(!rdma_listen(listener, 1));
	MUST(!id_resolve(other, first_port, ntohs(rdma_get_src_port(listener))));
	MUST(!rdma_resolve_route(other, WAIT_MS));
	MUST(!pthread_create(&thread, NULL, connect_other, with_qp(other)));
	MUST(!rdma_get_request(listener, &request));
	return RET(rdma_accept(with_qp(request), &param));
}

CASE(rdma_disconnect, EINVAL, "id has no connection")
{
	return RET(rdma_disconnect(bound_id()));
}

CASE(rdma_establish, EINVAL, "id has a queue pair")
{
	return RET(rdma_establish(with_qp(routed_id())));
}

CASE(rdma_establish, EINVAL, "it has no accepted request")
{
	return RET(rdma_establish(routed_id()));
}

CASE(rdma_notify, EINVAL, "event is another event")
{
	return RET(rdma_notify(with_qp(routed_id()), IBV_EVENT_PORT_ERR));
}

CASE(rdma_notify, EINVAL, "id is not connecting")
{
	return RET(rdma_notify(with_qp(routed_id()), IBV_EVENT_COMM_EST));
}

CASE(rdma_reject, EINVAL, "id is not the id of a request")
{
	return RET(rdma_reject(bound_id(), NULL, 0));
}

CASE(rdma_reject, EINVAL, "private_data is NULL and private_data_len is not 0")
{
	return RET(rdma_reject(bound_id(), NULL, 10));
}

CASE(rdma_set_local_ece, EINVAL, "id has a queue pair")
{
	struct ibv_ece ece = { .vendor_id = 0x2c9, .options = 1 };

	return RET(rdma_set_local_ece(with_qp(routed_id()), &ece));
}

CASE(rdma_set_local_ece, EINVAL, "vendor_id is 0")
{
	struct ibv_ece ece = { 0 };

	return RET(rdma_set_local_ece(routed_id(), &ece));
}

CASE(rdma_set_local_ece, EINVAL, "comp_mask is not")
{
	struct ibv_ece ece = { .vendor_id = 0x2c9, .options = 1, .comp_mask = 1 };

	return RET(rdma_set_local_ece(routed_id(), &ece));
}

CASE(rdma_set_option, EINVAL, "optlen or the value is invalid")
{
	uint8_t tos = 0;

	return RET(rdma_set_option(bound_id(), RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 3));
}

CASE(rdma_set_option, EINVAL, "id is in a state in which the option cannot be set any more")
{
	int on = 1;

	return RET(rdma_set_option(resolved_id(9), RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on,
				   sizeof(on)));
}

CASE(rdma_set_option, ENOSYS, "There is no such option")
{
	int on = 1;

	return RET(rdma_set_option(bound_id(), RDMA_OPTION_ID, 99, &on, sizeof(on)));
}

CASE(rdma_set_option, ENOSYS, "There is no such option")
{
	int on = 1;

	return RET(rdma_set_option(bound_id(), 99, 0, &on, sizeof(on)));
}

CASE(rdma_get_cm_event, EAGAIN, "The descriptor is non-blocking, and there is no event")
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;

	MUST(channel && !fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	return RET(rdma_get_cm_event(channel, &event));
}

CASE(rdma_get_cm_event, EINVAL, "channel or event is NULL")
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	MUST(channel);
	return RET(rdma_get_cm_event(channel, NULL));
}

CASE(rdma_get_cm_event, EINVAL, "channel or event is NULL")
{
	struct rdma_cm_event *event;

	return RET(rdma_get_cm_event(NULL, &event));
}

CASE(rdma_get_cm_event, ENOMEM, "There is no memory for the event")
{
	struct rdma_cm_id *id = channel_id();
	struct rdma_cm_event *event;

	MUST(!fcntl(id->channel->fd, F_SETFL, O_NONBLOCK));
	MUST(!id_resolve(id, "127.0.0.1", 9));
	rig_settle();
	return NO_MEMORY(RET(rdma_get_cm_event(id->channel, &event)));
}

CASE(rdma_write_cm_event, EINVAL, "event is another event")
{
	return rdma_write_cm_event
		       ? RET(rdma_write_cm_event(channel_id(), RDMA_CM_EVENT_ESTABLISHED, 0, 0))
		       : NO_SUCH_CALL;
}

CASE(rdma_write_cm_event, ENOSYS, "The kernel does not support the call")
{
	struct rdma_cm_id *id = channel_id();

	if (!rdma_write_cm_event)
		return NO_SUCH_CALL;
	adapter_fault("cmd:1=ENOSYS");
	return RET(rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 0));
}

/* ---- devices, names, endpoints ---- */

static int get_devices(void)
{
	struct ibv_context **list;
	int num;

	return OBJ(list = rdma_get_devices(&num));
}

CASE_ON(ON_BARE, rdma_get_devices, ENODEV, "There is no RDMA device")
{
	return get_devices();
}

CASE(rdma_get_devices, ENOMEM, "There is no memory")
{
	return NO_MEMORY(get_devices());
}

static int getaddrinfo_of(const char *node, const char *service, struct rdma_addrinfo hints)
{
	struct rdma_addrinfo *res;

	return RET(rdma_getaddrinfo(node, service, &hints, &res));
}

CASE(rdma_getaddrinfo, EINVAL, "or node, service and hints are all NULL")
{
	struct rdma_addrinfo *res;

	return RET(rdma_getaddrinfo(NULL, NULL, NULL, &res));
}

CASE(rdma_getaddrinfo, EINVAL, "res is NULL")
{
	return RET(rdma_getaddrinfo("127.0.0.1", "9", NULL, NULL));
}

CASE(rdma_getaddrinfo, ENODATA, "The name has no address")
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_NUMERICHOST };

	return getaddrinfo_of("no-address", "9", hints);
}

CASE(rdma_getaddrinfo, EAFNOSUPPORT, "The address family of hints is unknown")
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_family = 99 };

	return getaddrinfo_of("127.0.0.1", "9", hints);
}

CASE(rdma_getaddrinfo, ENOMEM, "There is no memory")
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_NUMERICHOST };

	return NO_MEMORY(getaddrinfo_of("127.0.0.1", "9", hints));
}

CASE(rdma_getaddrinfo, EOPNOTSUPP, "RAI_SA is combined with node or with RAI_DNS")
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_SA };

	return getaddrinfo_of("127.0.0.1", "9", hints);
}

CASE(rdma_getaddrinfo, EINVAL, "With RAI_SA, service is NULL")
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_SA };

	return getaddrinfo_of(NULL, NULL, hints);
}

CASE(rdma_getaddrinfo, ENOENT, "With RAI_SA, no port knows the service")
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_SA };

	return getaddrinfo_of(NULL, "no-such-service", hints);
}

static int resolve_addrinfo(struct rdma_cm_id *id, int flags, const char *service)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = flags };

	return rdma_resolve_addrinfo ? RET(rdma_resolve_addrinfo(id, NULL, service, &hints))
				     : NO_SUCH_CALL;
}

CASE(rdma_resolve_addrinfo, EINVAL, "hints has neither or both of the flags")
{
	return resolve_addrinfo(channel_id(), 0, "a-service");
}

CASE(rdma_resolve_addrinfo, EINVAL, "service is missing")
{
	return resolve_addrinfo(channel_id(), RAI_SA, NULL);
}

CASE(rdma_resolve_addrinfo, ENOENT, "id has no answer")
{
	struct rdma_addrinfo *info;

	return rdma_query_addrinfo ? RET(rdma_query_addrinfo(channel_id(), &info)) : NO_SUCH_CALL;
}

static struct rdma_addrinfo *endpoint_info(int flags)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = flags };
	struct rdma_addrinfo *res;

	MUST(!rdma_getaddrinfo("127.0.0.1", "7471", &hints, &res));
	return res;
}

CASE(rdma_create_ep, EINVAL, "ai_connect_len is too long")
{
	struct rdma_addrinfo *res = endpoint_info(0);
	struct rdma_cm_id *id;

	res->ai_connect = malloc(5000);
	res->ai_connect_len = 5000;
	return RET(rdma_create_ep(&id, res, NULL, NULL));
}

CASE(rdma_create_ep, EINVAL, "listen has a channel")
{
	struct rdma_cm_id *id = channel_id(), *request;

	MUST(!bind_to(id, "127.0.0.1", 0) && !rdma_listen(id, 1));
	return RET(rdma_get_request(id, &request));
}

CASE(rdma_create_ep, ENOMEM, "There is no memory")
{
	struct rdma_addrinfo *res = endpoint_info(0);
	struct rdma_cm_id *id;

	return NO_MEMORY(RET(rdma_create_ep(&id, res, NULL, NULL)));
}

static struct rdma_cm_id *datagram_id(void)
{
	struct rdma_cm_id *id = waiting_id(RDMA_PS_UDP);
	struct ibv_qp_init_attr attr = qp_attr();

	MUST(!bind_to(id, first_port, 0));
	attr.qp_type = IBV_QPT_UD;
	MUST(!id->verbs || !rdma_create_qp(id, NULL, &attr));
	return id;
}

CASE(rdma_join_multicast, EINVAL, "The address family of addr is unknown")
{
	struct sockaddr_in in = { .sin_family = 99 };

	return RET(rdma_join_multicast(datagram_id(), (struct sockaddr *)&in, NULL));
}

CASE(rdma_join_multicast, EINVAL, "id is not in a state to join")
{
	struct sockaddr_in in = address("239.1.1.1", 0);

	return RET(rdma_join_multicast(waiting_id(RDMA_PS_UDP), (struct sockaddr *)&in, NULL));
}

static int join_ex(struct rdma_cm_join_mc_attr_ex attr)
{
	struct sockaddr_in in = address("239.1.1.1", 0);

	attr.addr = (struct sockaddr *)&in;
	return RET(rdma_join_multicast_ex(datagram_id(), &attr, NULL));
}

CASE(rdma_join_multicast, EINVAL, "comp_mask lacks a member")
{
	return join_ex((struct rdma_cm_join_mc_attr_ex){ .comp_mask = 0 });
}

CASE(rdma_join_multicast, ENOTSUP, "comp_mask has an unknown bit")
{
	return join_ex((struct rdma_cm_join_mc_attr_ex){
		.comp_mask =
			RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS | 1 << 20 });
}

CASE(rdma_join_multicast, EINVAL, "join_flags has an unknown bit")
{
	return join_ex((struct rdma_cm_join_mc_attr_ex){
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = 77 });
}

CASE(rdma_join_multicast, EADDRNOTAVAIL, "id has not joined that group")
{
	struct sockaddr_in in = address("239.1.1.1", 0);

	return RET(rdma_leave_multicast(datagram_id(), (struct sockaddr *)&in));
}

CASE(rdma_join_multicast, ENOMEM, "There is no memory")
{
	struct sockaddr_in in = address("239.1.1.1", 0);
	struct rdma_cm_id *id = datagram_id();

	return NO_MEMORY(RET(rdma_join_multicast(id, (struct sockaddr *)&in, NULL)));
}
