/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clang-format off */
/* Facts of the public ABI of librdmacm, release 65.0, x86_64: enumerators and integer macros.
 * Every line must compile against this project's own headers. */
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>

/* rdma/rdma_cma.h */
_Static_assert((long long)(RDMA_CM_EVENT_ADDR_RESOLVED) == 0LL, "RDMA_CM_EVENT_ADDR_RESOLVED");
_Static_assert((long long)(RDMA_CM_EVENT_ADDR_ERROR) == 1LL, "RDMA_CM_EVENT_ADDR_ERROR");
_Static_assert((long long)(RDMA_CM_EVENT_ROUTE_RESOLVED) == 2LL, "RDMA_CM_EVENT_ROUTE_RESOLVED");
_Static_assert((long long)(RDMA_CM_EVENT_ROUTE_ERROR) == 3LL, "RDMA_CM_EVENT_ROUTE_ERROR");
_Static_assert((long long)(RDMA_CM_EVENT_CONNECT_REQUEST) == 4LL, "RDMA_CM_EVENT_CONNECT_REQUEST");
_Static_assert((long long)(RDMA_CM_EVENT_CONNECT_RESPONSE) == 5LL, "RDMA_CM_EVENT_CONNECT_RESPONSE");
_Static_assert((long long)(RDMA_CM_EVENT_CONNECT_ERROR) == 6LL, "RDMA_CM_EVENT_CONNECT_ERROR");
_Static_assert((long long)(RDMA_CM_EVENT_UNREACHABLE) == 7LL, "RDMA_CM_EVENT_UNREACHABLE");
_Static_assert((long long)(RDMA_CM_EVENT_REJECTED) == 8LL, "RDMA_CM_EVENT_REJECTED");
_Static_assert((long long)(RDMA_CM_EVENT_ESTABLISHED) == 9LL, "RDMA_CM_EVENT_ESTABLISHED");
_Static_assert((long long)(RDMA_CM_EVENT_DISCONNECTED) == 10LL, "RDMA_CM_EVENT_DISCONNECTED");
_Static_assert((long long)(RDMA_CM_EVENT_DEVICE_REMOVAL) == 11LL, "RDMA_CM_EVENT_DEVICE_REMOVAL");
_Static_assert((long long)(RDMA_CM_EVENT_MULTICAST_JOIN) == 12LL, "RDMA_CM_EVENT_MULTICAST_JOIN");
_Static_assert((long long)(RDMA_CM_EVENT_MULTICAST_ERROR) == 13LL, "RDMA_CM_EVENT_MULTICAST_ERROR");
_Static_assert((long long)(RDMA_CM_EVENT_ADDR_CHANGE) == 14LL, "RDMA_CM_EVENT_ADDR_CHANGE");
_Static_assert((long long)(RDMA_CM_EVENT_TIMEWAIT_EXIT) == 15LL, "RDMA_CM_EVENT_TIMEWAIT_EXIT");
_Static_assert((long long)(RDMA_CM_EVENT_ADDRINFO_RESOLVED) == 16LL, "RDMA_CM_EVENT_ADDRINFO_RESOLVED");
_Static_assert((long long)(RDMA_CM_EVENT_ADDRINFO_ERROR) == 17LL, "RDMA_CM_EVENT_ADDRINFO_ERROR");
_Static_assert((long long)(RDMA_CM_EVENT_USER) == 18LL, "RDMA_CM_EVENT_USER");
_Static_assert((long long)(RDMA_CM_EVENT_INTERNAL) == 19LL, "RDMA_CM_EVENT_INTERNAL");
_Static_assert((long long)(RDMA_PS_IPOIB) == 2LL, "RDMA_PS_IPOIB");
_Static_assert((long long)(RDMA_PS_TCP) == 262LL, "RDMA_PS_TCP");
_Static_assert((long long)(RDMA_PS_UDP) == 273LL, "RDMA_PS_UDP");
_Static_assert((long long)(RDMA_PS_IB) == 319LL, "RDMA_PS_IB");
_Static_assert((long long)(RDMA_MAX_RESP_RES) == 255LL, "RDMA_MAX_RESP_RES");
_Static_assert((long long)(RDMA_MAX_INIT_DEPTH) == 255LL, "RDMA_MAX_INIT_DEPTH");
_Static_assert((long long)(RDMA_CM_JOIN_MC_ATTR_ADDRESS) == 1LL, "RDMA_CM_JOIN_MC_ATTR_ADDRESS");
_Static_assert((long long)(RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS) == 2LL, "RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS");
_Static_assert((long long)(RDMA_CM_JOIN_MC_ATTR_RESERVED) == 4LL, "RDMA_CM_JOIN_MC_ATTR_RESERVED");
_Static_assert((long long)(RDMA_MC_JOIN_FLAG_FULLMEMBER) == 0LL, "RDMA_MC_JOIN_FLAG_FULLMEMBER");
_Static_assert((long long)(RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER) == 1LL, "RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER");
_Static_assert((long long)(RDMA_MC_JOIN_FLAG_RESERVED) == 2LL, "RDMA_MC_JOIN_FLAG_RESERVED");
_Static_assert((long long)(RDMA_OPTION_ID) == 0LL, "RDMA_OPTION_ID");
_Static_assert((long long)(RDMA_OPTION_IB) == 1LL, "RDMA_OPTION_IB");
_Static_assert((long long)(RDMA_OPTION_ID_TOS) == 0LL, "RDMA_OPTION_ID_TOS");
_Static_assert((long long)(RDMA_OPTION_ID_REUSEADDR) == 1LL, "RDMA_OPTION_ID_REUSEADDR");
_Static_assert((long long)(RDMA_OPTION_ID_AFONLY) == 2LL, "RDMA_OPTION_ID_AFONLY");
_Static_assert((long long)(RDMA_OPTION_ID_ACK_TIMEOUT) == 3LL, "RDMA_OPTION_ID_ACK_TIMEOUT");
_Static_assert((long long)(RDMA_OPTION_IB_PATH) == 1LL, "RDMA_OPTION_IB_PATH");
_Static_assert((long)(RDMA_IB_IP_PS_MASK) == -65536L, "RDMA_IB_IP_PS_MASK");
_Static_assert((long)(RDMA_IB_IP_PORT_MASK) == 65535L, "RDMA_IB_IP_PORT_MASK");
_Static_assert((long)(RDMA_IB_IP_PS_TCP) == 17170432L, "RDMA_IB_IP_PS_TCP");
_Static_assert((long)(RDMA_IB_IP_PS_UDP) == 17891328L, "RDMA_IB_IP_PS_UDP");
_Static_assert((long)(RDMA_IB_PS_IB) == 20905984L, "RDMA_IB_PS_IB");
_Static_assert((long)(RDMA_UDP_QKEY) == 19088743L, "RDMA_UDP_QKEY");
_Static_assert((long)(RAI_PASSIVE) == 1L, "RAI_PASSIVE");
_Static_assert((long)(RAI_NUMERICHOST) == 2L, "RAI_NUMERICHOST");
_Static_assert((long)(RAI_NOROUTE) == 4L, "RAI_NOROUTE");
_Static_assert((long)(RAI_FAMILY) == 8L, "RAI_FAMILY");
_Static_assert((long)(RAI_SA) == 16L, "RAI_SA");
_Static_assert((long)(RAI_DNS) == 32L, "RAI_DNS");

/* rdma/rdma_verbs.h */

/* rdma/rsocket.h */
_Static_assert((long long)(RDMA_SQSIZE) == 0LL, "RDMA_SQSIZE");
_Static_assert((long long)(RDMA_RQSIZE) == 1LL, "RDMA_RQSIZE");
_Static_assert((long long)(RDMA_INLINE) == 2LL, "RDMA_INLINE");
_Static_assert((long long)(RDMA_IOMAPSIZE) == 3LL, "RDMA_IOMAPSIZE");
_Static_assert((long long)(RDMA_ROUTE) == 4LL, "RDMA_ROUTE");
_Static_assert((long)(SOL_RDMA) == 65536L, "SOL_RDMA");
