/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain_cmd.c - log texts for commands that the kernel refuses: the rule of the command, with the
 * values that the command has. The kernel returns only an errno.
 */
#include "cma.h"

#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <stdio.h>
#include <string.h>

/* Linux compares the caller's credentials with those at open(). Threads share them; a child has a
 * copy, and so does a process after setuid(). */
#define FOREIGN_CHANNEL                                                                          \
	" (only the process that has opened a channel, and has not changed its user since, may " \
	"use it"

/* Rules that EINVAL says were broken, most of them about the order of calls. */
static const char *const rules[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = ": the port space must be RDMA_PS_TCP, _UDP, _IB or _IPOIB",
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] =
		": the id must be new or bound: an id that has resolved, listens or is connected "
		"takes no other address",
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] =
		": the id needs its address first: call rdma_resolve_addr(), and take its event "
		"RDMA_CM_EVENT_ADDR_RESOLVED",
	[RDMA_USER_CM_CMD_BIND] =
		": the id has an address already, from rdma_bind_addr(), rdma_resolve_addr() or "
		"rdma_listen()",
	[RDMA_USER_CM_CMD_LISTEN] =
		": the id must be new or bound: an id that has resolved an address or is connected "
		"cannot listen",
	[RDMA_USER_CM_CMD_ACCEPT] =
		": the id must be of an event RDMA_CM_EVENT_CONNECT_REQUEST, or of a response to "
		"rdma_connect() without a QP",
	[RDMA_USER_CM_CMD_REJECT] =
		": the id must be of an event RDMA_CM_EVENT_CONNECT_REQUEST that is not answered "
		"yet",
	[RDMA_USER_CM_CMD_DISCONNECT] =
		": the id is not connected: rdma_connect() or rdma_accept() comes before",
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] =
		": the id must have its route, or be of a connection request: rdma_accept() takes "
		"the id of the event RDMA_CM_EVENT_CONNECT_REQUEST",
	[RDMA_USER_CM_CMD_NOTIFY] = ": the id must be of a connection that waits for its "
				    "establishment",
	[RDMA_USER_CM_CMD_JOIN_MCAST] =
		": the id must be bound or have its address: call rdma_bind_addr() or "
		"rdma_resolve_addr() first",
};

static void explain_connect(const struct rdma_ucm_conn_param *param, char *why, size_t size)
{
	/* A request of the IB CM has 92 bytes, one for a datagram 216; 36 are the RDMA CM's. */
	const unsigned int stream = 56, datagram = 180;

	if (param->private_data_len > stream)
		snprintf(
			why, size,
			": private_data_len %u: a request takes at most %u bytes over RDMA_PS_TCP, "
			"%u over RDMA_PS_UDP",
			param->private_data_len, stream, datagram);
	else
		snprintf(
			why, size,
			": the id needs its route first: call rdma_resolve_route(), take its event "
			"RDMA_CM_EVENT_ROUTE_RESOLVED, and connect once");
}

/* Writes the address as a numerical one with its port. */
static void name_address(const struct __kernel_sockaddr_storage *addr, char *text, size_t size)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_ib *ib = (const struct sockaddr_ib *)addr;
	char name[INET6_ADDRSTRLEN] = "?";

	if (in->sin_family == AF_INET)
		inet_ntop(AF_INET, &in->sin_addr, name, sizeof(name));
	else if (in->sin_family == AF_INET6)
		inet_ntop(AF_INET6, &in6->sin6_addr, name, sizeof(name));
	else
		inet_ntop(AF_INET6, &ib->sib_addr, name, sizeof(name));
	if (in->sin_family == AF_IB)
		snprintf(text, size, "GID %s", name);
	else
		snprintf(text, size, "%s port %u", name, ntohs(in->sin_port));
}

static void explain_bind(const struct rdma_ucm_bind *bind, int err, char *why, size_t size)
{
	char address[80];

	name_address(&bind->addr, address, sizeof(address));
	if (err == EADDRINUSE)
		snprintf(why, size, ": %s: another id has the port: choose one, or 0", address);
	else if (err == EADDRNOTAVAIL || err == ENODEV)
		snprintf(why, size,
			 ": %s: the address must be one of an RDMA port's network interface "
			 "(ibv_doctor lists them), and the port free",
			 address);
	else if (err == EACCES)
		snprintf(why, size,
			 FOREIGN_CHANNEL "; a port below 1024 takes CAP_NET_BIND_SERVICE)");
	else if (err == EINVAL)
		snprintf(why, size, "%s", rules[RDMA_USER_CM_CMD_BIND]);
}

void rdmacm_cmd_explain(const struct cm_cmd *cmd, int err, char *why, size_t size)
{
	const uint32_t number = cmd->hdr.cmd;

	*why = '\0';
	if (number == RDMA_USER_CM_CMD_BIND)
		explain_bind(&cmd->bind, err, why, size);
	else if (err == EACCES)
		snprintf(why, size, FOREIGN_CHANNEL ")");
	else if (err == EINVAL && number == RDMA_USER_CM_CMD_CONNECT)
		explain_connect(&cmd->connect.conn_param, why, size);
	else if (err == EINVAL && number < ARRAY_SIZE(rules) && rules[number])
		snprintf(why, size, "%s", rules[number]);
}
