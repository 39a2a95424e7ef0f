/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packet_test.c - compares the facts below ib/ with others' headers: those of the Internet's
 * protocols, which every system has, when this is compiled; those of InfiniBand with the kernel's,
 * by its layout macros and by the text of its headers, where they are installed. Golden bytes show
 * one datagram.
 *
 * Covers: ib/, util/bits.h
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>

#include "tests/unit/hex.h"
#include "ib/cm.h"
#include "ib/packet.h"
#include "ib/sa.h"
#include "util/bits.h"
#include "tests/unit/kernel_text.h"

#define SAME(field, layout, member)                                                    \
	static_assert(FLD_BIT(field) == 8 * offsetof(layout, member) &&                \
			      (FLD_WIDTH(field) == 0 ||                                \
			       FLD_WIDTH(field) == 8 * sizeof(((layout *)0)->member)), \
		      #field)

static_assert(ETHERNET_SIZE == ETH_HLEN && MAC_SIZE == ETH_ALEN && ETHERNET_MIN == ETH_ZLEN,
	      "frames");
static_assert(ETHERTYPE_V4 == ETH_P_IP && ETHERTYPE_V6 == ETH_P_IPV6 &&
		      ETHERTYPE_ARP == ETH_P_ARP && ETHERTYPE_VLAN == ETH_P_8021Q &&
		      ETHERTYPE_QINQ == ETH_P_8021AD && ETHERTYPE_ROCE == ETH_P_IBOE,
	      "types of frames");
SAME(ETHERNET_DESTINATION, struct ethhdr, h_dest);
SAME(ETHERNET_SOURCE, struct ethhdr, h_source);
SAME(ETHERNET_TYPE, struct ethhdr, h_proto);

#define NEXT(ours, theirs) static_assert((int)(ours) == (theirs), "what follows an IP header")
NEXT(PROTO_TCP, IPPROTO_TCP);
NEXT(PROTO_UDP, IPPROTO_UDP);
NEXT(PROTO_ICMP6, IPPROTO_ICMPV6);
NEXT(PROTO_HOP_BY_HOP, IPPROTO_HOPOPTS);
NEXT(PROTO_ROUTING, IPPROTO_ROUTING);
NEXT(PROTO_FRAGMENT, IPPROTO_FRAGMENT);
NEXT(PROTO_DESTINATION, IPPROTO_DSTOPTS);
NEXT(PROTO_GRE, IPPROTO_GRE);
NEXT(PROTO_ESP, IPPROTO_ESP);
NEXT(PROTO_AH, IPPROTO_AH);
static_assert(IP4_SIZE == sizeof(struct iphdr) && IP6_SIZE == sizeof(struct ip6_hdr), "sizes");
SAME(IP4_TOS, struct iphdr, tos);
static_assert(FLD_BITS(IP4_DSCP) >> FLD_SHIFT(IP4_TOS) == IPTOS_DSCP_MASK &&
		      FLD_BITS(IP4_ECN) >> FLD_SHIFT(IP4_TOS) == IPTOS_ECN_MASK &&
		      FLD_BITS(IP6_DSCP) >> FLD_SHIFT(IP6_TCLASS) == IPTOS_DSCP_MASK &&
		      FLD_BITS(IP6_ECN) >> FLD_SHIFT(IP6_TCLASS) == IPTOS_ECN_MASK,
	      "types of service");
static_assert(IP4_MTU_MIN == ETH_MIN_MTU, "the least MTU");
SAME(IP4_LENGTH, struct iphdr, tot_len);
SAME(IP4_ID, struct iphdr, id);
SAME(IP4_TTL, struct iphdr, ttl);
SAME(IP4_PROTOCOL, struct iphdr, protocol);
SAME(IP4_CHECKSUM, struct iphdr, check);
SAME(IP4_SOURCE, struct iphdr, saddr);
SAME(IP4_DESTINATION, struct iphdr, daddr);
static_assert(FLD_BYTE(IP4_DONT_FRAGMENT) == offsetof(struct iphdr, frag_off) &&
		      1u << (15 - FLD_BIT(IP4_DONT_FRAGMENT) % 16) == IP_DF,
	      "fragments");
SAME(IP6_PAYLOAD, struct ip6_hdr, ip6_plen);
SAME(IP6_NEXT, struct ip6_hdr, ip6_nxt);
SAME(IP6_HOP_LIMIT, struct ip6_hdr, ip6_hlim);
SAME(IP6_SOURCE, struct ip6_hdr, ip6_src);
SAME(IP6_DESTINATION, struct ip6_hdr, ip6_dst);
static_assert(IP6_EXTENSION_SIZE == sizeof(struct ip6_frag), "extension headers");
SAME(IP6_EXT_NEXT, struct ip6_ext, ip6e_nxt);
SAME(IP6_EXT_LENGTH, struct ip6_ext, ip6e_len);

static_assert(UDP_SIZE == sizeof(struct udphdr) && TCP_SIZE == sizeof(struct tcphdr), "sizes");
SAME(L4_SOURCE_PORT, struct udphdr, uh_sport);
SAME(L4_DESTINATION_PORT, struct udphdr, uh_dport);
SAME(UDP_LENGTH, struct udphdr, uh_ulen);
SAME(UDP_CHECKSUM, struct udphdr, uh_sum);
SAME(L4_SOURCE_PORT, struct tcphdr, th_sport);
SAME(L4_DESTINATION_PORT, struct tcphdr, th_dport);
SAME(TCP_SEQUENCE, struct tcphdr, th_seq);
SAME(TCP_CHECKSUM, struct tcphdr, th_sum);
static_assert(FLD_BYTE(TCP_HEADER_WORDS) == offsetof(struct tcphdr, th_flags) - 1 &&
		      FLD_BYTE(TCP_FLAGS) == offsetof(struct tcphdr, th_flags) - 1,
	      "behind the numbers");
static_assert(TCP_FIN == TH_FIN && TCP_PSH == TH_PUSH && TCP_ACK == TH_ACK, "flags");

static_assert(ARP_ETHERNET == ARPHRD_ETHER && ARP_INFINIBAND == ARPHRD_INFINIBAND &&
		      ARP_REQUEST == ARPOP_REQUEST && ARP_REPLY == ARPOP_REPLY,
	      "ARP");
SAME(ARP_HARDWARE, struct arphdr, ar_hrd);
SAME(ARP_PROTOCOL, struct arphdr, ar_pro);
SAME(ARP_HARDWARE_SIZE, struct arphdr, ar_hln);
SAME(ARP_PROTOCOL_SIZE, struct arphdr, ar_pln);
SAME(ARP_OPERATION, struct arphdr, ar_op);
static_assert(FLD_BYTE(ARP_SENDER_MAC) == sizeof(struct arphdr) &&
		      FLD_BYTE(IPOIB_ARP_SENDER) == sizeof(struct arphdr),
	      "addresses follow");

static_assert(ND_SOLICITATION == ND_NEIGHBOR_SOLICIT && ND_ADVERTISEMENT == ND_NEIGHBOR_ADVERT &&
		      ND_OPTION_SOURCE_MAC == ND_OPT_SOURCE_LINKADDR &&
		      ND_OPTION_TARGET_MAC == ND_OPT_TARGET_LINKADDR &&
		      ND_SIZE == sizeof(struct nd_neighbor_advert),
	      "neighbour discovery");
SAME(ICMP6_TYPE, struct icmp6_hdr, icmp6_type);
SAME(ICMP6_CODE, struct icmp6_hdr, icmp6_code);
SAME(ICMP6_CHECKSUM, struct icmp6_hdr, icmp6_cksum);
SAME(ND_TARGET, struct nd_neighbor_advert, nd_na_target);

#ifdef KERNEL_HEADERS

struct number {
	const char *file, *name;
	uint64_t ours;
};

/* clang-format off */
static const struct number numbers[] = {
	{ "ib_pack.h", "IB_OPCODE_SEND_FIRST", IB_SEND_FIRST },
	{ "ib_pack.h", "IB_OPCODE_SEND_MIDDLE", IB_SEND_MIDDLE },
	{ "ib_pack.h", "IB_OPCODE_SEND_LAST", IB_SEND_LAST },
	{ "ib_pack.h", "IB_OPCODE_SEND_LAST_WITH_IMMEDIATE", IB_SEND_LAST_IMM },
	{ "ib_pack.h", "IB_OPCODE_SEND_ONLY", IB_SEND_ONLY },
	{ "ib_pack.h", "IB_OPCODE_SEND_ONLY_WITH_IMMEDIATE", IB_SEND_ONLY_IMM },
	{ "ib_pack.h", "IB_OPCODE_RDMA_WRITE_FIRST", IB_WRITE_FIRST },
	{ "ib_pack.h", "IB_OPCODE_RDMA_WRITE_MIDDLE", IB_WRITE_MIDDLE },
	{ "ib_pack.h", "IB_OPCODE_RDMA_WRITE_LAST", IB_WRITE_LAST },
	{ "ib_pack.h", "IB_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE", IB_WRITE_LAST_IMM },
	{ "ib_pack.h", "IB_OPCODE_RDMA_WRITE_ONLY", IB_WRITE_ONLY },
	{ "ib_pack.h", "IB_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE", IB_WRITE_ONLY_IMM },
	{ "ib_pack.h", "IB_OPCODE_RDMA_READ_REQUEST", IB_READ_REQUEST },
	{ "ib_pack.h", "IB_OPCODE_RDMA_READ_RESPONSE_FIRST", IB_READ_RESPONSE_FIRST },
	{ "ib_pack.h", "IB_OPCODE_RDMA_READ_RESPONSE_MIDDLE", IB_READ_RESPONSE_MIDDLE },
	{ "ib_pack.h", "IB_OPCODE_RDMA_READ_RESPONSE_LAST", IB_READ_RESPONSE_LAST },
	{ "ib_pack.h", "IB_OPCODE_RDMA_READ_RESPONSE_ONLY", IB_READ_RESPONSE_ONLY },
	{ "ib_pack.h", "IB_OPCODE_ACKNOWLEDGE", IB_ACKNOWLEDGE },
	{ "ib_pack.h", "IB_OPCODE_ATOMIC_ACKNOWLEDGE", IB_ATOMIC_ACKNOWLEDGE },
	{ "ib_pack.h", "IB_OPCODE_COMPARE_SWAP", IB_COMPARE_SWAP },
	{ "ib_pack.h", "IB_OPCODE_FETCH_ADD", IB_FETCH_ADD },
	{ "ib_pack.h", "IB_OPCODE_SEND_LAST_WITH_INVALIDATE", IB_SEND_LAST_INVALIDATE },
	{ "ib_pack.h", "IB_OPCODE_SEND_ONLY_WITH_INVALIDATE", IB_SEND_ONLY_INVALIDATE },
	{ "ib_pack.h", "IB_OPCODE_RC", IB_SERVICE_RC << 5 },
	{ "ib_pack.h", "IB_OPCODE_UC", IB_SERVICE_UC << 5 },
	{ "ib_pack.h", "IB_OPCODE_UD", IB_SERVICE_UD << 5 },
	{ "ib_pack.h", "IB_LNH_IBA_LOCAL", LRH_NEXT_BTH },
	{ "ib_pack.h", "IB_LNH_IBA_GLOBAL", LRH_NEXT_GRH },
	{ "ib_pack.h", "IB_LRH_BYTES", LRH_SIZE },
	{ "ib_pack.h", "IB_VLAN_BYTES", VLAN_SIZE },
	{ "ib_pack.h", "IB_GRH_BYTES", GRH_SIZE },
	{ "ib_pack.h", "IB_BTH_BYTES", BTH_SIZE },
	{ "ib_pack.h", "IB_DETH_BYTES", DETH_SIZE },
	{ "ib_pack.h", "IB_EXT_ATOMICETH_BYTES", ATOMIC_ETH_SIZE },
	{ "ib_pack.h", "IB_EXT_XRC_BYTES", XRCETH_SIZE },
	{ "ib_pack.h", "IB_ICRC_BYTES", ICRC_SIZE },
	{ "ib_hdrs.h", "IB_GRH_NEXT_HDR", GRH_NEXT_IBA },
	{ "ib_verbs.h", "ROCE_V2_UDP_DPORT", ROCE_UDP_PORT },
	{ "ib_mad.h", "IB_MGMT_BASE_VERSION", MAD_BASE_VERSION_1 },
	{ "ib_mad.h", "IB_MGMT_CLASS_SUBN_ADM", MAD_CLASS_SA },
	{ "ib_mad.h", "IB_MGMT_CLASS_CM", MAD_CLASS_CM },
	{ "ib_mad.h", "IB_MGMT_METHOD_GET", MAD_GET },
	{ "ib_mad.h", "IB_MGMT_METHOD_SET", MAD_SET },
	{ "ib_mad.h", "IB_MGMT_METHOD_SEND", MAD_SEND },
	{ "ib_mad.h", "IB_MGMT_METHOD_RESP", MAD_RESPONSE },
	{ "ib_mad.h", "IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB",
	  MAD_UNSUPPORTED_METHOD_ATTRIBUTE },
	{ "ib_mad.h", "IB_MGMT_RMPP_VERSION", RMPP_VERSION_1 },
	{ "ib_mad.h", "IB_MGMT_RMPP_TYPE_DATA", RMPP_DATA },
	{ "ib_mad.h", "IB_MGMT_RMPP_FLAG_ACTIVE", RMPP_ACTIVE },
	{ "ib_mad.h", "IB_MGMT_RMPP_FLAG_FIRST", RMPP_FIRST },
	{ "ib_mad.h", "IB_MGMT_RMPP_FLAG_LAST", RMPP_LAST },
	{ "ib_mad.h", "IB_QP1_QKEY", GSI_QKEY },
	{ "ib_mad.h", "IB_MGMT_MAD_HDR", MAD_HEADER_SIZE },
	{ "ib_mad.h", "IB_MGMT_SA_HDR", SA_DATA },
	{ "ib_sa.h", "IB_SA_METHOD_GET_TABLE", SA_GET_TABLE },
	{ "ib_sa.h", "IB_SA_METHOD_DELETE", SA_DELETE },
	{ "ib_sa.h", "IB_SA_ATTR_CLASS_PORTINFO", MAD_CLASS_PORT_INFO },
	{ "ib_sa.h", "IB_SA_ATTR_SERVICE_REC", SA_SERVICE_RECORD },
	{ "ib_sa.h", "IB_SA_ATTR_PATH_REC", SA_PATH_RECORD },
	{ "ib_sa.h", "IB_SA_ATTR_MC_MEMBER_REC", SA_MC_MEMBER_RECORD },
	{ "ib_sa.h", "IB_SA_PATH_REC_DGID", PATH_HAS_DGID },
	{ "ib_sa.h", "IB_SA_PATH_REC_SGID", PATH_HAS_SGID },
	{ "ib_sa.h", "IB_SA_PATH_REC_REVERSIBLE", PATH_HAS_REVERSIBLE },
	{ "ib_sa.h", "IB_SA_PATH_REC_NUMB_PATH", PATH_HAS_NUMBER },
	{ "ib_sa.h", "IB_SA_PATH_REC_PKEY", PATH_HAS_PKEY },
	{ "ib_sa.h", "IB_SA_MCMEMBER_REC_MGID", MC_HAS_MGID },
	{ "ib_sa.h", "IB_SA_MCMEMBER_REC_PORT_GID", MC_HAS_PORT_GID },
	{ "ib_sa.h", "IB_SA_MCMEMBER_REC_QKEY", MC_HAS_QKEY },
	{ "ib_sa.h", "IB_SA_MCMEMBER_REC_MTU_SELECTOR", MC_HAS_MTU_SELECTOR },
	{ "ib_sa.h", "IB_SA_MCMEMBER_REC_MTU", MC_HAS_MTU },
	{ "ib_sa.h", "IB_SA_MCMEMBER_REC_TRAFFIC_CLASS", MC_HAS_TCLASS },
	{ "ib_sa.h", "IB_SA_MCMEMBER_REC_PKEY", MC_HAS_PKEY },
	{ "ib_sa.h", "IB_SA_MCMEMBER_REC_SL", MC_HAS_SL },
	{ "ib_sa.h", "IB_SA_MCMEMBER_REC_FLOW_LABEL", MC_HAS_FLOW_LABEL },
	{ "ib_sa.h", "IB_SA_MCMEMBER_REC_JOIN_STATE", MC_HAS_JOIN_STATE },
	{ "ib_cm.h", "CM_REQ_ATTR_ID", CM_REQ },
	{ "ib_cm.h", "CM_MRA_ATTR_ID", CM_MRA },
	{ "ib_cm.h", "CM_REJ_ATTR_ID", CM_REJ },
	{ "ib_cm.h", "CM_REP_ATTR_ID", CM_REP },
	{ "ib_cm.h", "CM_RTU_ATTR_ID", CM_RTU },
	{ "ib_cm.h", "CM_DREQ_ATTR_ID", CM_DREQ },
	{ "ib_cm.h", "CM_DREP_ATTR_ID", CM_DREP },
	{ "ib_cm.h", "CM_SIDR_REQ_ATTR_ID", CM_SIDR_REQ },
	{ "ib_cm.h", "CM_SIDR_REP_ATTR_ID", CM_SIDR_REP },
	{ "ib_cm.h", "IB_CM_REQ_PRIVATE_DATA_SIZE", REQ_PRIVATE },
	{ "ib_cm.h", "IB_CM_REJ_PRIVATE_DATA_SIZE", REJ_PRIVATE },
	{ "ib_cm.h", "IB_CM_REP_PRIVATE_DATA_SIZE", REP_PRIVATE },
	{ "ib_cm.h", "IB_CM_RTU_PRIVATE_DATA_SIZE", RTU_PRIVATE },
	{ "ib_cm.h", "IB_CM_DREQ_PRIVATE_DATA_SIZE", DREQ_PRIVATE },
	{ "ib_cm.h", "IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE", SIDR_REQ_PRIVATE },
	{ "ib_cm.h", "IB_CM_SIDR_REP_PRIVATE_DATA_SIZE", SIDR_REP_PRIVATE },
	{ "ib_cm.h", "IB_CM_REJ_TIMEOUT", REASON_TIMEOUT },
	{ "ib_cm.h", "IB_CM_REJ_INVALID_SERVICE_ID", REASON_INVALID_SERVICE_ID },
	{ "ib_cm.h", "IB_CM_REJ_STALE_CONN", REASON_STALE_CONNECTION },
	{ "ib_cm.h", "IB_CM_REJ_CONSUMER_DEFINED", REASON_CONSUMER },
	{ "ib_cm.h", "IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED", REASON_VENDOR_OPTION },
	{ "ib_hdrs.h", "IB_AETH_CREDIT_SHIFT", FLD_SHIFT(AETH_VALUE) },
	{ "ib_hdrs.h", "IB_AETH_CREDIT_MASK", FLD_MASK(AETH_VALUE) },
	{ "ib_hdrs.h", "IB_AETH_CREDIT_INVAL", AETH_NO_CREDITS },
	{ "ib_hdrs.h", "IB_AETH_NAK_SHIFT", FLD_SHIFT(AETH_KIND) },
	{ "ib_hdrs.h", "IB_MSN_MASK", FLD_MASK(AETH_MSN) },
	{ "ib_hdrs.h", "IB_RNR_NAK", AETH_RNR << 5 },
	{ "ib_hdrs.h", "IB_NAK_PSN_ERROR", AETH_NAK << 5 | NAK_PSN },
	{ "ib_hdrs.h", "IB_NAK_INVALID_REQUEST", AETH_NAK << 5 | NAK_INVALID_REQUEST },
	{ "ib_hdrs.h", "IB_NAK_REMOTE_ACCESS_ERROR", AETH_NAK << 5 | NAK_REMOTE_ACCESS },
	{ "ib_hdrs.h", "IB_NAK_REMOTE_OPERATIONAL_ERROR", AETH_NAK << 5 | NAK_REMOTE_OPERATION },
	{ "ib_hdrs.h", "IB_BTH_OPCODE_SHIFT", FLD_SHIFT(BTH_OPCODE) },
	{ "ib_hdrs.h", "IB_BTH_SE_SHIFT", FLD_SHIFT(BTH_SOLICITED) },
	{ "ib_hdrs.h", "IB_BTH_SE_MASK", FLD_MASK(BTH_SOLICITED) },
	{ "ib_hdrs.h", "IB_BTH_M_SHIFT", FLD_SHIFT(BTH_MIGRATED) },
	{ "ib_hdrs.h", "IB_BTH_M_MASK", FLD_MASK(BTH_MIGRATED) },
	{ "ib_hdrs.h", "IB_BTH_PAD_SHIFT", FLD_SHIFT(BTH_PAD) },
	{ "ib_hdrs.h", "IB_BTH_PAD_MASK", FLD_MASK(BTH_PAD) },
	{ "ib_hdrs.h", "IB_BTH_TVER_SHIFT", FLD_SHIFT(BTH_VERSION) },
	{ "ib_hdrs.h", "IB_BTH_TVER_MASK", FLD_MASK(BTH_VERSION) },
	{ "ib_hdrs.h", "IB_BTH_PKEY_MASK", FLD_MASK(BTH_PKEY) },
	{ "ib_hdrs.h", "IB_BTH_A_SHIFT", FLD_SHIFT(BTH_ACK_REQUEST) },
	{ "ib_hdrs.h", "IB_BTH_A_MASK", FLD_MASK(BTH_ACK_REQUEST) },
	{ "ib_hdrs.h", "IB_LNH_MASK", FLD_MASK(LRH_NEXT) },
	{ "ib_hdrs.h", "IB_SC_SHIFT", FLD_SHIFT(LRH_VL) - 16 },
	{ "ib_hdrs.h", "IB_SC_MASK", FLD_MASK(LRH_VL) },
	{ "ib_hdrs.h", "IB_LVER_SHIFT", FLD_SHIFT(LRH_VERSION) - 16 },
	{ "ib_hdrs.h", "IB_LVER_MASK", FLD_MASK(LRH_VERSION) },
	{ "ib_hdrs.h", "IB_SL_SHIFT", FLD_SHIFT(LRH_SL) - 16 },
	{ "ib_hdrs.h", "IB_SL_MASK", FLD_MASK(LRH_SL) },
	{ "ib_hdrs.h", "IB_GRH_FLOW_MASK", FLD_MASK(IP6_FLOW_LABEL) },
	{ "ib_hdrs.h", "IB_GRH_FLOW_SHIFT", FLD_SHIFT(IP6_FLOW_LABEL) },
	{ "ib_hdrs.h", "IB_GRH_TCLASS_SHIFT", FLD_SHIFT(IP6_TCLASS) },
	{ "ib_hdrs.h", "IB_GRH_VERSION_SHIFT", FLD_SHIFT(IP6_VERSION) },
	{ "ib_verbs.h", "IB_QPN_MASK", QPN_MASK },
	{ "ib_verbs.h", "IB_MULTICAST_QPN", QPN_MULTICAST },
	{ "ib_verbs.h", "IB_LID_PERMISSIVE", LID_PERMISSIVE },
	{ "ib_verbs.h", "IB_MULTICAST_LID_BASE", LID_MULTICAST },
};
/* clang-format on */

/* The header's fields are places: CM's own macros add the datagram's header, so it is taken off. */
#define _IBA_DEFS_H_
#define BUILD_BUG_ON_ZERO(condition) 0
/* clang-format off */
#define PLACE(byte, bit, width) \
	(((uint32_t)((byte) - MAD_HEADER_SIZE) * 8 + (bit)) << 8 | (width))
/* clang-format on */
#define IBA_FIELD_BLOC(s, byte, bit, w)  PLACE(byte, bit, w)
#define IBA_FIELD8_LOC(s, byte, w)       PLACE(byte, 0, w)
#define IBA_FIELD16_LOC(s, byte, w)      PLACE(byte, 0, w)
#define IBA_FIELD32_LOC(s, byte, w)      PLACE(byte, 0, w)
#define IBA_FIELD64_LOC(s, byte)         PLACE(byte, 0, 64)
#define IBA_FIELD_MLOC(s, byte, w, type) PLACE(byte, 0, 0)
typedef uint32_t u32;
struct ib_mad_hdr {
	uint8_t bytes[MAD_HEADER_SIZE];
};
#include <rdma/ibta_vol1_c12.h>

static const struct place {
	const char *name;
	uint32_t ours, theirs;
} places[] = {
#define PAIR(ours, theirs)          \
	{                           \
#ours, ours, theirs \
	}
	PAIR(CM_LOCAL_ID, CM_REQ_LOCAL_COMM_ID),
	PAIR(CM_REMOTE_ID, CM_REP_REMOTE_COMM_ID),
	PAIR(REQ_VENDOR_ID, CM_REQ_VENDOR_ID),
	PAIR(REQ_SERVICE_ID, CM_REQ_SERVICE_ID),
	PAIR(REQ_CA_GUID, CM_REQ_LOCAL_CA_GUID),
	PAIR(REQ_QKEY, CM_REQ_LOCAL_Q_KEY),
	PAIR(REQ_QPN, CM_REQ_LOCAL_QPN),
	PAIR(REQ_RESPONDER_RESOURCES, CM_REQ_RESPONDER_RESOURCES),
	PAIR(REQ_INITIATOR_DEPTH, CM_REQ_INITIATOR_DEPTH),
	PAIR(REQ_REMOTE_TIMEOUT, CM_REQ_REMOTE_CM_RESPONSE_TIMEOUT),
	PAIR(REQ_SERVICE_TYPE, CM_REQ_TRANSPORT_SERVICE_TYPE),
	PAIR(REQ_FLOW_CONTROL, CM_REQ_END_TO_END_FLOW_CONTROL),
	PAIR(REQ_PSN, CM_REQ_STARTING_PSN),
	PAIR(REQ_LOCAL_TIMEOUT, CM_REQ_LOCAL_CM_RESPONSE_TIMEOUT),
	PAIR(REQ_RETRY_COUNT, CM_REQ_RETRY_COUNT),
	PAIR(REQ_PKEY, CM_REQ_PARTITION_KEY),
	PAIR(REQ_MTU, CM_REQ_PATH_PACKET_PAYLOAD_MTU),
	PAIR(REQ_RNR_RETRY_COUNT, CM_REQ_RNR_RETRY_COUNT),
	PAIR(REQ_MAX_CM_RETRIES, CM_REQ_MAX_CM_RETRIES),
	PAIR(REQ_SRQ, CM_REQ_SRQ),
	PAIR(REQ_EXTENDED_TYPE, CM_REQ_EXTENDED_TRANSPORT_TYPE),
	PAIR(REQ_LOCAL_LID, CM_REQ_PRIMARY_LOCAL_PORT_LID),
	PAIR(REQ_REMOTE_LID, CM_REQ_PRIMARY_REMOTE_PORT_LID),
	PAIR(REQ_LOCAL_GID, CM_REQ_PRIMARY_LOCAL_PORT_GID),
	PAIR(REQ_REMOTE_GID, CM_REQ_PRIMARY_REMOTE_PORT_GID),
	PAIR(REQ_FLOW_LABEL, CM_REQ_PRIMARY_FLOW_LABEL),
	PAIR(REQ_RATE, CM_REQ_PRIMARY_PACKET_RATE),
	PAIR(REQ_TCLASS, CM_REQ_PRIMARY_TRAFFIC_CLASS),
	PAIR(REQ_HOP_LIMIT, CM_REQ_PRIMARY_HOP_LIMIT),
	PAIR(REQ_SL, CM_REQ_PRIMARY_SL),
	PAIR(REQ_SUBNET_LOCAL, CM_REQ_PRIMARY_SUBNET_LOCAL),
	PAIR(REQ_ACK_TIMEOUT, CM_REQ_PRIMARY_LOCAL_ACK_TIMEOUT),
	PAIR(FLD_PART(REQ_PRIVATE_AT), CM_REQ_PRIVATE_DATA),
	PAIR(MRA_MESSAGE, CM_MRA_MESSAGE_MRAED),
	PAIR(MRA_TIMEOUT, CM_MRA_SERVICE_TIMEOUT),
	PAIR(REJ_MESSAGE, CM_REJ_MESSAGE_REJECTED),
	PAIR(REJ_INFO_LENGTH, CM_REJ_REJECTED_INFO_LENGTH),
	PAIR(REJ_REASON, CM_REJ_REASON),
	PAIR(FLD_PART(REJ_INFO_AT), CM_REJ_ARI),
	PAIR(FLD_PART(REJ_PRIVATE_AT), CM_REJ_PRIVATE_DATA),
	PAIR(REP_QPN, CM_REP_LOCAL_QPN),
	PAIR(REP_VENDOR_ID_H, CM_REP_VENDOR_ID_H),
	PAIR(REP_EECN, CM_REP_LOCAL_EE_CONTEXT_NUMBER),
	PAIR(REP_VENDOR_ID_M, CM_REP_VENDOR_ID_M),
	PAIR(REP_PSN, CM_REP_STARTING_PSN),
	PAIR(REP_VENDOR_ID_L, CM_REP_VENDOR_ID_L),
	PAIR(REP_RESPONDER_RESOURCES, CM_REP_RESPONDER_RESOURCES),
	PAIR(REP_INITIATOR_DEPTH, CM_REP_INITIATOR_DEPTH),
	PAIR(REP_ACK_DELAY, CM_REP_TARGET_ACK_DELAY),
	PAIR(REP_FLOW_CONTROL, CM_REP_END_TO_END_FLOW_CONTROL),
	PAIR(REP_RNR_RETRY_COUNT, CM_REP_RNR_RETRY_COUNT),
	PAIR(REP_SRQ, CM_REP_SRQ),
	PAIR(REP_CA_GUID, CM_REP_LOCAL_CA_GUID),
	PAIR(FLD_PART(REP_PRIVATE_AT), CM_REP_PRIVATE_DATA),
	PAIR(DREQ_QPN, CM_DREQ_REMOTE_QPN_EECN),
	PAIR(SIDR_REQUEST_ID, CM_SIDR_REQ_REQUESTID),
	PAIR(SIDR_REQ_PKEY, CM_SIDR_REQ_PARTITION_KEY),
	PAIR(SIDR_REQ_SERVICE_ID, CM_SIDR_REQ_SERVICEID),
	PAIR(FLD_PART(SIDR_REQ_PRIVATE_AT), CM_SIDR_REQ_PRIVATE_DATA),
	PAIR(SIDR_REP_STATUS, CM_SIDR_REP_STATUS),
	PAIR(SIDR_REP_QPN, CM_SIDR_REP_QPN),
	PAIR(SIDR_REP_SERVICE_ID, CM_SIDR_REP_SERVICEID),
	PAIR(SIDR_REP_QKEY, CM_SIDR_REP_Q_KEY),
	PAIR(FLD_PART(SIDR_REP_PRIVATE_AT), CM_SIDR_REP_PRIVATE_DATA),
};

/* ib_hdrs.h has the extended headers as structures. */
static const struct {
	const char *structure, *member;
	uint32_t ours;
} members[] = {
	{ "ib_reth", "vaddr", RETH_ADDRESS },
	{ "ib_reth", "rkey", RETH_RKEY },
	{ "ib_reth", "length", RETH_LENGTH },
	{ "ib_atomic_eth", "vaddr", ATOMIC_ETH_ADDRESS },
	{ "ib_atomic_eth", "rkey", ATOMIC_ETH_RKEY },
	{ "ib_atomic_eth", "swap_data", ATOMIC_ETH_SWAP },
	{ "ib_atomic_eth", "compare_data", ATOMIC_ETH_COMPARE },
};

static int compare_members(void)
{
	int bad = 0;

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		uint32_t theirs;

		if (kernel_member(KERNEL_HEADERS "/rdma/ib_hdrs.h", members[i].structure,
				  members[i].member, &theirs) &&
		    theirs == members[i].ours)
			continue;
		printf("ib_hdrs.h: not %s.%s\n", members[i].structure, members[i].member);
		bad = 1;
	}
	return bad;
}

static int compare_with_kernel(void)
{
	char path[512];
	int bad = compare_members();

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint64_t theirs;

		snprintf(path, sizeof(path), "%s/rdma/%s", KERNEL_HEADERS, numbers[i].file);
		if (kernel_number(path, numbers[i].name, &theirs) && theirs == numbers[i].ours)
			continue;
		printf("%s: %s is not %#llx\n", numbers[i].file, numbers[i].name,
		       (unsigned long long)numbers[i].ours);
		bad = 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i].ours != places[i].theirs) {
			printf("%s: bit %u, width %u; the kernel: bit %u, width %u\n",
			       places[i].name, FLD_BIT(places[i].ours), FLD_WIDTH(places[i].ours),
			       FLD_BIT(places[i].theirs), FLD_WIDTH(places[i].theirs));
			bad = 1;
		}
	return bad;
}

#else

static int compare_with_kernel(void)
{
	printf("not compared: no rdma/ib_pack.h; install linux-headers-*-common\n");
	return 0;
}

#endif

/* A PathRecord that is asked for in a table: header, RMPP, the SA's header, then the record. */
static int path_request_has_its_bytes(void)
{
	static const char golden[] =
		"01030212 00000000 1122334455667788 00350000 00000000"
		"01010700 00000001 00000054 0000000000000000 00080000"
		"000000000000200c 0000000000000000"
		"fe800000000000000000000000000002 fe800000000000000000000000000001"
		"00410001 00012345 5a81ffff 00008500 92000000";
	uint8_t mad[MAD_SIZE] = { 0 }, want[MAD_SIZE], *record = mad + SA_DATA;
	size_t len = from_hex(golden, want);

	fld_set(mad, MAD_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(mad, MAD_CLASS, MAD_CLASS_SA);
	fld_set(mad, MAD_CLASS_VERSION, SA_CLASS_VERSION);
	fld_set(mad, MAD_METHOD, SA_GET_TABLE);
	fld_set(mad, MAD_TRANSACTION, 0x1122334455667788);
	fld_set(mad, MAD_ATTRIBUTE, SA_PATH_RECORD);
	fld_set(mad, RMPP_VERSION, RMPP_VERSION_1);
	fld_set(mad, RMPP_TYPE, RMPP_DATA);
	fld_set(mad, RMPP_FLAGS, RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST);
	fld_set(mad, RMPP_SEGMENT, 1);
	fld_set(mad, RMPP_LENGTH, SA_HEADER_SIZE + PATH_RECORD_SIZE);
	fld_set(mad, SA_ATTR_OFFSET, PATH_RECORD_SIZE / 8);
	fld_set(mad, SA_COMPONENTS, 1 << PATH_HAS_PKEY | 1 << PATH_HAS_SGID | 1 << PATH_HAS_DGID);
	from_hex("fe800000000000000000000000000002", fld_at(record, PATH_DGID));
	from_hex("fe800000000000000000000000000001", fld_at(record, PATH_SGID));
	fld_set(record, PATH_DLID, 0x41);
	fld_set(record, PATH_SLID, 1);
	fld_set(record, PATH_FLOW_LABEL, 0x00123);
	fld_set(record, PATH_HOP_LIMIT, 0x45);
	fld_set(record, PATH_TCLASS, 0x5a);
	fld_set(record, PATH_REVERSIBLE, 1);
	fld_set(record, PATH_NUMBER, 1);
	fld_set(record, PATH_PKEY, PKEY_DEFAULT);
	fld_set(record, PATH_MTU_SELECTOR, SELECT_EXACTLY);
	fld_set(record, PATH_MTU, MTU_4096);
	fld_set(record, PATH_LIFETIME_SELECTOR, SELECT_EXACTLY);
	fld_set(record, PATH_LIFETIME, 18);
	if (!memcmp(mad, want, len))
		return 0;
	for (size_t i = 0; i < len; i++)
		if (mad[i] != want[i])
			printf("path request: byte %zu is %02x, not %02x\n", i, mad[i], want[i]);
	return 1;
}

int main(void)
{
	return compare_with_kernel() | path_request_has_its_bytes();
}
