/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netlink.c - RDMA netlink.
 *
 * The program gets a real netlink socket of the protocol reserved for user space
 * (NETLINK_USERSOCK). The kernel handles binding, options and receiving; only sends are trapped,
 * and answered by a message to the program's port. No state is kept: the protocol tells that a
 * socket is ours.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rdma/rdma_netlink.h>

#include "softhca/front/process/driver/hw_counters.h"
#include "softhca/front/process/driver/netdev.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/discovery/dump.h"
#include "softhca/front/process/discovery/netlink.h"
#include "softhca/front/process/discovery/netlink_reply.h"
#include "softhca/front/process/discovery/resources.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/log.h"
#include "util/bits.h"

enum { MAX_REQUEST = 4096, MAX_SEGMENTS = 8, MAX_ATTRS = 128 };

struct request {
	struct daemon *daemon;
	pid_t tid; /* of the caller */
	const struct nlmsghdr *header;
	const struct nlattr *attr[MAX_ATTRS];
	struct reply *reply;
	bool is_answered; /* without REPLY, unless there is an error */
};

void netlink_socket(struct call *call)
{
	int type = call_arg_int(call, 1), number;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | (type & SOCK_NONBLOCK),
			NETLINK_USERSOCK);

	if (fd < 0) {
		/* an errno with which libraries use sysfs instead */
		call_fail(call, EPROTONOSUPPORT);
		return;
	}
	if (fd_number_pick(call->tid, &number))
		call_fail(call, EMFILE);
	else
		fd_number_return(call, fd, type & SOCK_CLOEXEC, number);
	close(fd);
}

static bool is_ours(int fd)
{
	socklen_t len = sizeof(int);
	int domain, protocol;

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) && domain == AF_NETLINK &&
	       !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) &&
	       protocol == NETLINK_USERSOCK;
}

/* Returns the program's port. Binds an unbound socket first, as sending does in Linux. */
static int port_of(int fd, uint32_t *port)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(addr);

	if (getsockname(fd, (struct sockaddr *)&addr, &len))
		return errno;
	if (!addr.nl_pid) {
		addr = (struct sockaddr_nl){ .nl_family = AF_NETLINK };
		if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
		    getsockname(fd, (struct sockaddr *)&addr, &len))
			return errno;
	}
	*port = addr.nl_pid;
	return 0;
}

static void put_identity(struct reply *reply, const struct adapter *adapter)
{
	reply_u32(reply, RDMA_NLDEV_ATTR_DEV_INDEX, adapter->index);
	reply_string(reply, RDMA_NLDEV_ATTR_DEV_NAME, adapter->name);
}

static void put_device(struct request *req, struct adapter *adapter)
{
	struct reply *reply = req->reply;

	reply_make_room(reply);
	reply_begin(reply, req->header->nlmsg_type);
	put_identity(reply, adapter);
	reply_u32(reply, RDMA_NLDEV_ATTR_PORT_INDEX, adapter->num_ports);
	reply_u64(reply, RDMA_NLDEV_ATTR_CAP_FLAGS, 0);
	reply_string(reply, RDMA_NLDEV_ATTR_FW_VERSION, adapter->identity->fw_version);
	reply_u64(reply, RDMA_NLDEV_ATTR_NODE_GUID, adapter->node_guid);
	reply_u64(reply, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, adapter->node_guid);
	reply_u8(reply, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 1); /* channel adapter: enum ibv_node_type */
	reply_string(reply, RDMA_NLDEV_ATTR_DEV_PROTOCOL, adapter_is_roce(adapter) ? "roce" : "ib");
	reply_end(reply);
}

static void put_port(struct request *req, struct adapter *adapter, unsigned int port)
{
	struct reply *reply = req->reply;
	struct port_info info;

	if (adapter_query_port(adapter, port, &info))
		return;
	reply_begin(reply, req->header->nlmsg_type);
	put_identity(reply, adapter);
	reply_u32(reply, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	if (!adapter_is_roce(adapter)) {
		reply_u64(reply, RDMA_NLDEV_ATTR_CAP_FLAGS, info.cap_mask);
		reply_u64(reply, RDMA_NLDEV_ATTR_SUBNET_PREFIX, 0xfe80000000000000ull);
		reply_u32(reply, RDMA_NLDEV_ATTR_LID, info.lid);
		reply_u32(reply, RDMA_NLDEV_ATTR_SM_LID, info.sm_lid);
		reply_u8(reply, RDMA_NLDEV_ATTR_LMC, info.lmc);
	}
	reply_u8(reply, RDMA_NLDEV_ATTR_PORT_STATE, info.state);
	reply_u8(reply, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, info.phys_state);
	if (adapter_is_roce(adapter) && netdev_index(adapter, port)) {
		reply_u32(reply, RDMA_NLDEV_ATTR_NDEV_INDEX, netdev_index(adapter, port));
		reply_string(reply, RDMA_NLDEV_ATTR_NDEV_NAME, netdev_of(adapter, port));
	}
	reply_end(reply);
}

static uint32_t attr_u32(const struct request *req, unsigned int type)
{
	uint32_t value = UINT32_MAX;

	if (req->attr[type] && req->attr[type]->nla_len >= NLA_HDRLEN + sizeof(value))
		memcpy(&value, req->attr[type] + 1, sizeof(value));
	return value;
}

static bool attr_is(const struct request *req, unsigned int type, const char *text)
{
	const struct nlattr *attr = req->attr[type];
	size_t len = strlen(text) + 1;

	return attr && attr->nla_len == NLA_HDRLEN + len && !memcmp(attr + 1, text, len);
}

static struct adapter *attr_adapter(const struct request *req)
{
	uint32_t index = attr_u32(req, RDMA_NLDEV_ATTR_DEV_INDEX);

	return index < req->daemon->num_adapters ? req->daemon->adapters[index] : NULL;
}

static bool is_dump(const struct request *req)
{
	return (req->header->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

static int get_device(struct request *req)
{
	struct adapter *adapter = attr_adapter(req);

	if (!is_dump(req)) {
		if (!adapter)
			return EINVAL;
		put_device(req, adapter);
		return 0;
	}
	for (unsigned int i = 0; i < req->daemon->num_adapters; i++)
		put_device(req, req->daemon->adapters[i]);
	return 0;
}

static int get_port(struct request *req)
{
	struct adapter *adapter = attr_adapter(req);
	uint32_t port = attr_u32(req, RDMA_NLDEV_ATTR_PORT_INDEX);

	if (!adapter)
		return EINVAL;
	if (!is_dump(req)) {
		if (port < 1 || port > adapter->num_ports)
			return EINVAL;
		put_port(req, adapter, port);
		return 0;
	}
	for (port = 1; port <= adapter->num_ports; port++)
		put_port(req, adapter, port);
	return 0;
}

static int get_system(struct request *req)
{
	reply_begin(req->reply, req->header->nlmsg_type);
	reply_u8(req->reply, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1); /* shared */
	/* DMA uses virtual addresses, so fork() does not separate memory from its process. */
	reply_u8(req->reply, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	reply_end(req->reply);
	return 0;
}

/* Counts the objects of each kind: of one adapter, or for a dump of each adapter in turn. */
static int get_summary(struct request *req)
{
	struct adapter *adapter = attr_adapter(req);

	if (!is_dump(req) && !adapter)
		return EINVAL;
	for (unsigned int i = 0; i < req->daemon->num_adapters; i++)
		if (is_dump(req) || req->daemon->adapters[i] == adapter) {
			reply_make_room(req->reply);
			resources_put_summary(req->reply, req->header->nlmsg_type,
					      req->daemon->adapters[i]);
		}
	return 0;
}

static int get_resources(struct request *req)
{
	struct adapter *adapter = attr_adapter(req);

	if (!is_dump(req) || !resources_can_list(req->header->nlmsg_type))
		return EOPNOTSUPP;
	if (!adapter)
		return EINVAL;
	req->is_answered = true;
	return dump_begin(adapter, req->header->nlmsg_type, client_thread_uid(req->tid),
			  req->reply->port, req->header->nlmsg_seq);
}

/* Encodes a device number as the kernel does: minor 7:0, major 19:8, minor 31:20. */
static uint64_t encode_device(unsigned int major, unsigned int minor)
{
	return (minor & 0xff) | major << 8 | (uint64_t)(minor & ~0xffu) << 12;
}

/* Describes the rdma_cm device. It belongs to no adapter, so it has no index. */
static int get_rdma_cm(struct request *req)
{
	struct reply *reply = req->reply;

	reply_begin(reply, req->header->nlmsg_type);
	reply_u64(reply, RDMA_NLDEV_ATTR_CHARDEV, encode_device(UCMA_MISC_MAJOR, UCMA_MISC_MINOR));
	reply_u64(reply, RDMA_NLDEV_ATTR_CHARDEV_ABI, RDMA_USER_CM_ABI_VERSION);
	reply_string(reply, RDMA_NLDEV_ATTR_CHARDEV_NAME, "rdma_cm");
	reply_end(reply);
	return 0;
}

static int get_chardev(struct request *req)
{
	struct adapter *adapter = attr_adapter(req);
	struct reply *reply = req->reply;
	char name[16];

	if (!req->attr[RDMA_NLDEV_ATTR_CHARDEV_TYPE])
		return EINVAL;
	if (attr_is(req, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "rdma_cm"))
		return get_rdma_cm(req);
	if (!attr_is(req, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs"))
		return EOPNOTSUPP;
	if (!adapter)
		return EINVAL;
	snprintf(name, sizeof(name), "uverbs%u", adapter->index);
	reply_begin(reply, req->header->nlmsg_type);
	put_identity(reply, adapter);
	reply_u32(reply, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, adapter->identity->driver_id);
	reply_u64(reply, RDMA_NLDEV_ATTR_CHARDEV,
		  encode_device(UVERBS_MAJOR, UVERBS_FIRST_MINOR + adapter->index));
	reply_u64(reply, RDMA_NLDEV_ATTR_CHARDEV_ABI, adapter->identity->abi);
	reply_string(reply, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
	reply_end(reply);
	return 0;
}

/* Answers that no counter is bound to a QP, manually or automatically. Source:
 * stat_get_doit_qp() */
static int get_counters_of_qps(struct request *req)
{
	struct adapter *adapter = attr_adapter(req);
	uint32_t port = attr_u32(req, RDMA_NLDEV_ATTR_PORT_INDEX);
	struct reply *reply = req->reply;

	if (attr_u32(req, RDMA_NLDEV_ATTR_STAT_RES) != RDMA_NLDEV_ATTR_RES_QP)
		return EOPNOTSUPP;
	if (!adapter || (!is_dump(req) && (!req->attr[RDMA_NLDEV_ATTR_STAT_MODE] || port < 1 ||
					   port > adapter->num_ports)))
		return EINVAL;
	reply_begin(reply, req->header->nlmsg_type);
	put_identity(reply, adapter);
	if (is_dump(req)) {
		reply_nest_end(reply, reply_nest(reply, RDMA_NLDEV_ATTR_STAT_COUNTER));
	} else {
		reply_u32(reply, RDMA_NLDEV_ATTR_PORT_INDEX, port);
		reply_u32(reply, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_NONE);
	}
	reply_end(reply);
	return 0;
}

static int get_counters(struct request *req)
{
	struct adapter *adapter = attr_adapter(req);
	uint32_t port = attr_u32(req, RDMA_NLDEV_ATTR_PORT_INDEX);
	uint64_t value[HW_COUNTERS];
	struct reply *reply = req->reply;
	struct nlattr *table, *entry;

	if (req->attr[RDMA_NLDEV_ATTR_STAT_RES])
		return get_counters_of_qps(req);
	if (is_dump(req))
		return EINVAL;
	if (!adapter || port < 1 || port > adapter->num_ports ||
	    hw_counters_read(adapter, port, value))
		return EINVAL;
	reply_begin(reply, req->header->nlmsg_type);
	put_identity(reply, adapter);
	reply_u32(reply, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	table = reply_nest(reply, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (unsigned int i = 0; i < HW_COUNTERS; i++) {
		entry = reply_nest(reply, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		reply_string(reply, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, hw_counter_name[i]);
		reply_u64(reply, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value[i]);
		reply_nest_end(reply, entry);
	}
	reply_nest_end(reply, table);
	reply_end(reply);
	return 0;
}

static const struct {
	uint16_t command;
	int (*run)(struct request *req);
} command_table[] = {
	{ RDMA_NLDEV_CMD_GET, get_device },
	{ RDMA_NLDEV_CMD_PORT_GET, get_port },
	{ RDMA_NLDEV_CMD_SYS_GET, get_system },
	{ RDMA_NLDEV_CMD_GET_CHARDEV, get_chardev },
	{ RDMA_NLDEV_CMD_STAT_GET, get_counters },
	{ RDMA_NLDEV_CMD_RES_GET, get_summary },
	{ RDMA_NLDEV_CMD_RES_QP_GET, get_resources },
	{ RDMA_NLDEV_CMD_RES_CQ_GET, get_resources },
	{ RDMA_NLDEV_CMD_RES_MR_GET, get_resources },
	{ RDMA_NLDEV_CMD_RES_PD_GET, get_resources },
	{ RDMA_NLDEV_CMD_RES_CTX_GET, get_resources },
};

static void parse_attrs(struct request *req)
{
	const uint8_t *at = (const uint8_t *)req->header + NLMSG_HDRLEN;
	const uint8_t *end = (const uint8_t *)req->header + req->header->nlmsg_len;

	while (end - at >= NLA_HDRLEN) {
		const struct nlattr *attr = (const void *)at;
		unsigned int type = attr->nla_type & NLA_TYPE_MASK;

		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > end - at)
			return;
		if (type < MAX_ATTRS)
			req->attr[type] = attr;
		at += NLA_ALIGN(attr->nla_len) > end - at ? end - at : NLA_ALIGN(attr->nla_len);
	}
}

static int run_request(struct request *req)
{
	uint16_t type = req->header->nlmsg_type;

	if (RDMA_NL_GET_CLIENT(type) != RDMA_NL_NLDEV)
		return EINVAL;
	parse_attrs(req);
	for (unsigned int i = 0; i < ARRAY_SIZE(command_table); i++)
		if (command_table[i].command == RDMA_NL_GET_OP(type))
			return command_table[i].run(req);
	log_note("netlink: command %u is not supported", RDMA_NL_GET_OP(type));
	return EOPNOTSUPP;
}

static void answer_message(const struct call *call, uint32_t port, const void *message, size_t len)
{
	const struct nlmsghdr *header = message;
	struct request req = { .daemon = call->daemon, .tid = call->tid, .header = header };
	struct reply reply;
	int ret;

	if (len < NLMSG_HDRLEN || header->nlmsg_len < NLMSG_HDRLEN || header->nlmsg_len > len)
		return;
	req.reply = &reply;
	reply_init(&reply, port, header->nlmsg_seq, is_dump(&req));
	ret = run_request(&req);
	if (!ret && req.is_answered)
		return;
	reply_make_room(&reply);
	if (ret || (header->nlmsg_flags & NLM_F_ACK && !is_dump(&req)))
		reply_error(&reply, header, ret);
	else if (is_dump(&req))
		reply_done(&reply);
	reply_send(&reply);
}

/* Copies the program's message. Returns its length, or 0 if it cannot be read. */
static size_t request_gather(const struct call *call, const struct iovec *iov, size_t iovlen,
			     uint8_t *message)
{
	size_t len = 0;

	for (size_t i = 0; i < iovlen; i++) {
		size_t piece =
			iov[i].iov_len < MAX_REQUEST - len ? iov[i].iov_len : MAX_REQUEST - len;

		if (caller_read(call, (uintptr_t)iov[i].iov_base, message + len, piece))
			return 0;
		len += piece;
	}
	return len;
}

static void serve_message(struct call *call, const struct iovec *iov, size_t iovlen)
{
	_Alignas(8) uint8_t message[MAX_REQUEST];
	int fd = caller_fd_copy(call, call_arg_int(call, 0));
	uint32_t port = 0;
	size_t len;

	if (fd < 0)
		return;
	if (is_ours(fd) && !port_of(fd, &port)) {
		len = request_gather(call, iov, iovlen, message);
		answer_message(call, port, message, len);
		if (len)
			call_return(call, len);
		else
			call_fail(call, EFAULT);
	}
	close(fd);
}

void netlink_sendmsg(struct call *call)
{
	struct iovec iov[MAX_SEGMENTS];
	struct msghdr msg;

	if (caller_read(call, call_arg(call, 1), &msg, sizeof(msg)) ||
	    msg.msg_iovlen > MAX_SEGMENTS ||
	    caller_read(call, (uintptr_t)msg.msg_iov, iov, msg.msg_iovlen * sizeof(iov[0])))
		return;
	serve_message(call, iov, msg.msg_iovlen);
}

void netlink_sendto(struct call *call)
{
	struct iovec iov = { (void *)(uintptr_t)call_arg(call, 1), call_arg(call, 2) };

	serve_message(call, &iov, 1);
}
