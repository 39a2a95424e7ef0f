/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain.c - names of events, and log texts for their status. A status is a reason of the
 * communication manager (IBTA vol 1, 12.6.7.2 for connections, 12.11.2.1 for datagrams), or a
 * negative errno of the kernel.
 */
#include "cma.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY_LISTENS = 8 };

static const char *const reject_reasons[] = {
	[1] = "no QP to be had",
	[2] = "no EEC to be had",
	[3] = "no resources",
	[4] = "timeout",
	[5] = "request not supported",
	[6] = "unknown communication ID",
	[7] = "communication ID of another connection",
	[NOBODY_LISTENS] = "no such service: no program listens there",
	[9] = "transport service not offered",
	[10] = "stale connection",
	[11] = "no such RDC",
	[12] = "primary path: GID refused",
	[13] = "primary path: LID refused",
	[14] = "primary path: SL refused",
	[15] = "primary path: traffic class refused",
	[16] = "primary path: hop limit refused",
	[17] = "primary path: packet rate refused",
	[18] = "alternate path: GID refused",
	[19] = "alternate path: LID refused",
	[20] = "alternate path: SL refused",
	[21] = "alternate path: traffic class refused",
	[22] = "alternate path: hop limit refused",
	[23] = "alternate path: packet rate refused",
	[24] = "redirected to another port and manager",
	[25] = "redirected to another port",
	[26] = "path MTU refused",
	[27] = "too few responder resources",
	[28] = "the other program says no",
	[29] = "RNR retry count refused",
	[30] = "local communication ID in use",
	[31] = "version of the protocol refused",
	[32] = "primary path: flow label refused",
	[33] = "alternate path: flow label refused",
	[35] = "vendor option (ECE) not supported",
};

static const char *const datagram_reasons[] = {
	[1] = "no such service: no program listens there",
	[2] = "the other program says no",
	[3] = "no QP to be had",
	[4] = "redirected",
	[5] = "version of the protocol refused",
};

#define REASON(table, status)                                                      \
	((size_t)(status) < ARRAY_SIZE(table) && (table)[status] ? (table)[status] \
								 : "reason unknown")

static const char *reason_of(const struct rdma_cm_event *event)
{
	bool datagram = event->id->ps == RDMA_PS_UDP || event->id->ps == RDMA_PS_IPOIB;

	if (event->status < 0)
		return strerror(-event->status);
	if (datagram)
		return REASON(datagram_reasons, event->status);
	if (event->event == RDMA_CM_EVENT_REJECTED)
		return REASON(reject_reasons, event->status);
	return strerror(event->status);
}

static const char *cure_of(const struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_ADDR_ERROR)
		return ": no network interface of an RDMA port leads to the address (ibv_doctor "
		       "lists the interfaces), or no host there answers";
	if (event->event == RDMA_CM_EVENT_ROUTE_ERROR)
		return ": the subnet has no path to the address: is the peer's port active?";
	if (event->event == RDMA_CM_EVENT_REJECTED && event->status == NOBODY_LISTENS)
		return ": start the server first, with the same port space and port";
	return "";
}

void rdmacm_event_explain(const struct rdma_cm_event *event)
{
	if (event->status && event->event != RDMA_CM_EVENT_USER)
		verbs_warn("rdma_cm: %s: %s (status %d)%s", rdma_event_str(event->event),
			   reason_of(event), event->status, cure_of(event));
}

#define NAME(type) [RDMA_CM_EVENT_##type] = "RDMA_CM_EVENT_" #type

CMA_EXPORT const char *rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		NAME(ADDR_RESOLVED),  NAME(ADDR_ERROR),        NAME(ROUTE_RESOLVED),
		NAME(ROUTE_ERROR),    NAME(CONNECT_REQUEST),   NAME(CONNECT_RESPONSE),
		NAME(CONNECT_ERROR),  NAME(UNREACHABLE),       NAME(REJECTED),
		NAME(ESTABLISHED),    NAME(DISCONNECTED),      NAME(DEVICE_REMOVAL),
		NAME(MULTICAST_JOIN), NAME(MULTICAST_ERROR),   NAME(ADDR_CHANGE),
		NAME(TIMEWAIT_EXIT),  NAME(ADDRINFO_RESOLVED), NAME(ADDRINFO_ERROR),
		NAME(USER),           NAME(INTERNAL),
	};

	if ((unsigned int)event >= ARRAY_SIZE(names))
		return "UNKNOWN EVENT";
	return names[event];
}
