/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain_cmd.c - log texts for commands that the kernel refuses: the rule that was broken, and the
 * values in the command. The kernel returns only an errno.
 */
#include "cma.h"

#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <stdio.h>
#include <string.h>

/* Linux compares the caller's credentials with those at open(), by address. The threads of a
 * process share them; fork() and setuid() make a copy. */
#define FOREIGN_CHANNEL                                                                          \
	" (only the process that has opened a channel, and has not changed its user since, may " \
	"use it"

/* The rule that a command breaks if the kernel answers EINVAL. Most rules order the calls. */
static const char *const rules[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = ": the port space must be RDMA_PS_TCP, _UDP, _IB or _IPOIB",
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] =
		": the id must be new or bound: an id that has resolved, listens or is connected "
		"takes no other address, and a bound one none of another family",
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] =
		": the id needs its address first: call rdma_resolve_addr(), and take its event "
		"RDMA_CM_EVENT_ADDR_RESOLVED, and resolve one route",
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
		": the id must be of RDMA_PS_UDP or _IPOIB and have an address of a device, no "
		"wildcard: call rdma_bind_addr() or rdma_resolve_addr() first",
	[RDMA_USER_CM_CMD_CONNECT] =
		": the id needs its route first: call rdma_resolve_route(), take its event "
		"RDMA_CM_EVENT_ROUTE_RESOLVED, and connect once",
};

/* Room for private data in a message, over RDMA_PS_TCP and over RDMA_PS_UDP. Messages of the IB CM
 * have fixed lengths. The RDMA CM takes 36 bytes of a request, or none with AF_IB. */
struct room {
	const char *message;
	unsigned int tcp, udp;
	unsigned int certain; /* a longer message fits over no port space */
};

static const struct room request_room = { "a request", 92 - 36, 216 - 36, 216 };
static const struct room answer_room = { "an answer", 196, 136, 196 };
static const struct room rejection_room = { "a rejection", 148, 136, 148 };

/* Names the length if it is too long for one of the port spaces. Adds the rule of the command
 * unless the length is certainly the cause, because EINVAL is the answer to both faults. */
static void explain_length(uint32_t number, const struct room *room, unsigned int len, char *why,
			   size_t size)
{
	if (len <= room->tcp && len <= room->udp)
		snprintf(why, size, "%s", rules[number]);
	else
		snprintf(why, size,
			 ": private_data_len %u: %s takes at most %u bytes over RDMA_PS_TCP, %u "
			 "over RDMA_PS_UDP%s%s",
			 len, room->message, room->tcp, room->udp,
			 len > room->certain ? "" : "; or",
			 len > room->certain ? "" : rules[number] + strlen(":"));
}

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

static bool lacks_scope(const struct __kernel_sockaddr_storage *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

	return in6->sin6_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) &&
	       !in6->sin6_scope_id;
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
	else if (err == EINVAL && lacks_scope(&bind->addr))
		snprintf(why, size,
			 ": %s: a link-local address needs its interface's index in sin6_scope_id",
			 address);
	else if (err == EINVAL)
		snprintf(why, size, "%s", rules[RDMA_USER_CM_CMD_BIND]);
}

static void explain_invalid(const struct cm_cmd *cmd, char *why, size_t size)
{
	const uint32_t number = cmd->hdr.cmd;

	if (number == RDMA_USER_CM_CMD_CONNECT)
		explain_length(number, &request_room, cmd->connect.conn_param.private_data_len, why,
			       size);
	else if (number == RDMA_USER_CM_CMD_ACCEPT)
		explain_length(number, &answer_room, cmd->accept.conn_param.private_data_len, why,
			       size);
	else if (number == RDMA_USER_CM_CMD_REJECT)
		explain_length(number, &rejection_room, cmd->reject.private_data_len, why, size);
	else if (number == RDMA_USER_CM_CMD_RESOLVE_ROUTE && !cmd->resolve_route.timeout_ms)
		snprintf(why, size, ": timeout_ms 0: must be 1 or more; and%s",
			 rules[number] + strlen(":"));
	else if (number < ARRAY_SIZE(rules) && rules[number])
		snprintf(why, size, "%s", rules[number]);
}

void rdmacm_cmd_explain(const struct cm_cmd *cmd, int err, char *why, size_t size)
{
	const uint32_t number = cmd->hdr.cmd;

	*why = '\0';
	if (number == RDMA_USER_CM_CMD_BIND)
		explain_bind(&cmd->bind, err, why, size);
	else if (err == EACCES)
		snprintf(why, size, FOREIGN_CHANNEL "%s)",
			 number == RDMA_USER_CM_CMD_RESOLVE_ADDR && cmd->resolve_addr.src_size
				 ? "; a source port below 1024 takes CAP_NET_BIND_SERVICE"
				 : "");
	else if (err == EINVAL)
		explain_invalid(cmd, why, size);
}
