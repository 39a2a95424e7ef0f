/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ethernet.h - the headers of Ethernet frames that the adapter parses: VLAN tags, IPv4 and IPv6,
 * UDP and TCP, GRE, VXLAN, GENEVE, GTP-U and MPLS, ESP and AH, ICMP, ARP (also over IPoIB) and
 * neighbour discovery. Facts only. IEEE 802.3 and 802.1Q, RFC 791, 8200, 768, 792, 4443, 9293,
 * 2784, 2890, 7348, 8926, 3032, 7510, 4302, 4303, 826, 4391, 4861, and 3GPP TS 29.281.
 *
 * Use fld_get16() and fld_set16() for fields of 16 bits whose dword reaches beyond the header.
 */
#ifndef IB_ETHERNET_H
#define IB_ETHERNET_H

#include "util/fields.h"

/* ---- Ethernet ---- */

enum {
	ETHERNET_SIZE = 14,
	/* bytes of a frame without FCS: a sender pads a shorter one (IEEE 802.3) */
	ETHERNET_MIN = 60,
	/* bit of a MAC's first byte: multicast or broadcast (IEEE 802.3: the I/G bit) */
	ETHERNET_GROUP = 1,
	MAC_SIZE = 6,
	VLAN_SIZE = 4,
};

enum {
	ETHERTYPE_V4 = 0x0800,
	ETHERTYPE_ARP = 0x0806,
	ETHERTYPE_TEB = 0x6558, /* the payload of a tunnel is an Ethernet frame */
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_V6 = 0x86dd,
	ETHERTYPE_MPLS = 0x8847,
	ETHERTYPE_MPLS_MULTICAST = 0x8848,
	ETHERTYPE_QINQ = 0x88a8,
};

#define ETHERNET_DESTINATION FLD_PART(0x0)
#define ETHERNET_SOURCE      FLD_PART(0x6)
#define ETHERNET_TYPE        FLD(0xc, 31, 16) /* last two bytes of the header */

#define MAC_47_16            FLD(0x0, 31, 0)
#define MAC_15_0             FLD(0x4, 31, 16)

/* A VLAN tag replaces the Ethernet type, which then follows the tag. So a parser reads a type
 * behind each tag (IEEE 802.1Q). */
#define VLAN_TPID     FLD(0x0, 31, 16)
#define VLAN_TCI      FLD(0x0, 15, 0)
#define VLAN_PRIORITY FLD(0x0, 15, 13)
#define VLAN_DEI      FLD(0x0, 12, 12)
#define VLAN_ID       FLD(0x0, 11, 0)

/* ---- IP ---- */

enum {
	IP4_SIZE = 20, /* without options */
	IP4_WORDS = IP4_SIZE / 4,
	/* the MTU that every link supports: RFC 791 has each module forward 68 bytes
	 * unfragmented */
	IP4_MTU_MIN = 68,
	IP6_SIZE = 40,
	/* minimal size, and unit of the length field, which does not count the first 8 bytes (RFC
	 * 8200) */
	IP6_EXTENSION_SIZE = 8,
};

enum { /* protocol of IPv4, next header of IPv6 */
       PROTO_HOP_BY_HOP = 0,
       PROTO_ICMP = 1,
       PROTO_IP4 = 4,
       PROTO_TCP = 6,
       PROTO_UDP = 17,
       PROTO_IP6 = 41,
       PROTO_ROUTING = 43,
       PROTO_FRAGMENT = 44,
       PROTO_GRE = 47,
       PROTO_ESP = 50,
       PROTO_AH = 51,
       PROTO_ICMP6 = 58,
       PROTO_DESTINATION = 60,
};

#define IP4_VERSION       FLD(0x0, 31, 28)
#define IP4_HEADER_WORDS  FLD(0x0, 27, 24)
#define IP4_TOS           FLD(0x0, 23, 16)
#define IP4_DSCP          FLD(0x0, 23, 18)
#define IP4_ECN           FLD(0x0, 17, 16)
#define IP4_LENGTH        FLD(0x0, 15, 0)
#define IP4_ID            FLD(0x4, 31, 16)
#define IP4_FRAGMENTATION FLD(0x4, 15, 0) /* flags and offset: the three fields below */
#define IP4_DONT_FRAGMENT FLD(0x4, 14, 14)
#define IP4_FRAGMENT      FLD(0x4, 13, 0) /* not 0: a fragment ("more fragments" or an offset) */
#define IP4_OFFSET        FLD(0x4, 12, 0)
#define IP4_TTL           FLD(0x8, 31, 24)
#define IP4_PROTOCOL      FLD(0x8, 23, 16)
#define IP4_CHECKSUM      FLD(0x8, 15, 0)
#define IP4_SOURCE        FLD_PART(0xc)
#define IP4_DESTINATION   FLD_PART(0x10)

#define IP6_VERSION       FLD(0x0, 31, 28)
#define IP6_TCLASS        FLD(0x0, 27, 20)
#define IP6_DSCP          FLD(0x0, 27, 22)
#define IP6_ECN           FLD(0x0, 21, 20)
#define IP6_FLOW_LABEL    FLD(0x0, 19, 0)
/* bytes that follow this header, its extension headers among them (RFC 8200) */
#define IP6_PAYLOAD     FLD(0x4, 31, 16)
#define IP6_NEXT        FLD(0x4, 15, 8)
#define IP6_HOP_LIMIT   FLD(0x4, 7, 0)
#define IP6_SOURCE      FLD_PART(0x8)
#define IP6_DESTINATION FLD_PART(0x18)

/* Extension headers of IPv6. The fragment header has no length field, because its size is fixed
 * (RFC 8200). */
#define IP6_EXT_NEXT   FLD(0x0, 31, 24)
#define IP6_EXT_LENGTH FLD(0x0, 23, 16) /* in units of 8 bytes, without the first */
#define IP6_EXT_OFFSET FLD(0x0, 15, 3)  /* offset of a fragment */

/* ---- UDP and TCP ---- */

enum { UDP_SIZE = 8, TCP_SIZE = 20 };

/* UDP and TCP headers begin with the ports, so one pair of fields serves both. */
#define L4_SOURCE_PORT      FLD(0x0, 31, 16)
#define L4_DESTINATION_PORT FLD(0x0, 15, 0)

#define UDP_LENGTH          FLD(0x4, 31, 16)
#define UDP_CHECKSUM        FLD(0x4, 15, 0)

#define TCP_SEQUENCE        FLD(0x4, 31, 0)
#define TCP_ACKNOWLEDGMENT  FLD(0x8, 31, 0)
#define TCP_HEADER_WORDS    FLD(0xc, 31, 28)
#define TCP_FLAGS           FLD(0xc, 24, 16)
#define TCP_WINDOW          FLD(0xc, 15, 0)
#define TCP_CHECKSUM        FLD(0x10, 31, 16)

enum { TCP_FIN = 0x01, TCP_PSH = 0x08, TCP_ACK = 0x10, TCP_CWR = 0x80 };

/* ---- tunnels and IPsec ---- */

enum {
	VXLAN_PORT = 4789, /* the UDP port that IANA assigned (RFC 7348) */
	VXLAN_SIZE = 8,    /* of VXLAN-GPE, too */
	VXLAN_GPE_PORT = 4790,
	VXLAN_GPE_V4 = 1, /* next protocol */
	VXLAN_GPE_V6 = 2,
	VXLAN_GPE_ETHERNET = 3,
	GENEVE_PORT = 6081,
	GENEVE_SIZE = 8, /* without options, whose size GENEVE_OPTION_WORDS has (RFC 8926) */
	GTPU_PORT = 2152,
	GTPU_SIZE = 8, /* without the optional fields */
	/* size of the optional fields, which are all present if any of the flags E, S and PN is set
	 * (3GPP TS 29.281) */
	GTPU_OPTIONAL_SIZE = 4,
	GTPU_PACKET = 255, /* type of a message that carries an IP packet (3GPP TS 29.281: G-PDU) */
	MPLS_PORT = 6635,
	MPLS_SIZE = 4, /* of a label with its fields */
	/* without the optional fields, which the flags C, K and S announce (RFC 2784, 2890) */
	GRE_SIZE = 4,
	GRE_FIELD_SIZE = 4, /* of the checksum with reserved bytes, and of the key */
	ESP_SIZE = 8,
	AH_SPI_SIZE = 8, /* bytes of an AH up to the end of its SPI */
};

#define VXLAN_VNI           FLD(0x4, 31, 8)
#define VXLAN_GPE_NEXT      FLD(0x0, 7, 0)

#define VXLAN_GPE_FLAGS     FLD(0x0, 31, 24)
#define GENEVE_OPTION_WORDS FLD(0x0, 29, 24) /* in units of 4 bytes */
#define GENEVE_OAM          FLD(0x0, 23, 23)
#define GENEVE_PROTOCOL     FLD(0x0, 15, 0) /* an Ethernet type */
#define GENEVE_VNI          FLD(0x4, 31, 8)

/* GTP-U. An extension begins with its length in units of 4 bytes, and ends with the type of the
 * next extension. */
#define GTPU_FLAGS    FLD(0x0, 31, 24)
#define GTPU_E        FLD(0x0, 26, 26) /* extensions follow the optional fields */
#define GTPU_OPTIONAL FLD(0x0, 26, 24) /* not 0: the optional fields are there */
#define GTPU_TYPE     FLD(0x0, 23, 16)
#define GTPU_TEID     FLD(0x4, 31, 0)
#define GTPU_NEXT     FLD(0x8, 7, 0) /* type of the first extension; 0: none */

#define GRE_C         FLD(0x0, 31, 31) /* a checksum follows, */
#define GRE_K         FLD(0x0, 29, 29) /* then a key, */
#define GRE_S         FLD(0x0, 28, 28) /* then a sequence number */
#define GRE_PROTOCOL  FLD(0x0, 15, 0)

#define ESP_SPI       FLD_PART(0x0)
#define AH_SPI        FLD_PART(0x4)

/* ---- ARP ---- */

enum { ARP_ETHERNET = 1, ARP_INFINIBAND = 32 }; /* hardware type, by IANA; 32 comes from RFC 4391 */
enum { ARP_REQUEST = 1, ARP_REPLY = 2 };        /* operations */

#define ARP_HARDWARE      FLD(0x0, 31, 16)
#define ARP_PROTOCOL      FLD(0x0, 15, 0) /* an Ethernet type */
#define ARP_HARDWARE_SIZE FLD(0x4, 31, 24)
#define ARP_PROTOCOL_SIZE FLD(0x4, 23, 16)
#define ARP_OPERATION     FLD(0x4, 15, 0)

/* Offsets in ARP depend on the sizes of the addresses (RFC 826). The following offsets are for IPv4
 * over Ethernet. */
enum { ARP_SIZE = 28 };
#define ARP_SENDER_MAC FLD_PART(0x8)
#define ARP_SENDER_IP  FLD_PART(0xe)
#define ARP_TARGET_MAC FLD_PART(0x12)
#define ARP_TARGET_IP  FLD_PART(0x18)

/* IPoIB has a header of four bytes before each packet, because a UD packet has no field for its
 * Ethernet type; an address is a QPN and a GID (RFC 4391). */
enum { IPOIB_SIZE = 4, IPOIB_ADDR_SIZE = 20, IPOIB_ARP_SIZE = 56, IPOIB_QKEY = 0x0b1b };
#define IPOIB_TYPE          FLD(0x0, 31, 16)
#define IPOIB_ADDR_QPN      FLD(0x0, 23, 0)
#define IPOIB_ADDR_GID      FLD_PART(0x4)
#define IPOIB_ARP_SENDER    FLD_PART(0x8)
#define IPOIB_ARP_SENDER_IP FLD_PART(0x1c)
#define IPOIB_ARP_TARGET    FLD_PART(0x20)
#define IPOIB_ARP_TARGET_IP FLD_PART(0x34)

/* ---- ICMP, and neighbour discovery by ICMPv6 ---- */

enum { ICMP_SIZE = 8 };
#define ICMP_TYPE FLD(0x0, 31, 24) /* of ICMPv6, too */
#define ICMP_CODE FLD(0x0, 23, 16)
#define ICMP_DATA FLD(0x4, 31, 0)

enum { ND_SOLICITATION = 135, ND_ADVERTISEMENT = 136 };      /* ICMPv6 types */
enum { ND_SIZE = 24, ND_OPTION_MAC_SIZE = 8 };               /* plus 8 with an option */
enum { ND_OPTION_SOURCE_MAC = 1, ND_OPTION_TARGET_MAC = 2 }; /* types of options */
/* Hop limit of a valid packet. With a lower limit, a router has forwarded the packet, so the sender
 * is on another link (RFC 4861, 7.1.1). */
enum { ND_HOPS = 255 };

#define ICMP6_TYPE        FLD(0x0, 31, 24)
#define ICMP6_CODE        FLD(0x0, 23, 16)
#define ICMP6_CHECKSUM    FLD(0x0, 15, 0)
#define ND_SOLICITED      FLD(0x4, 30, 30)
#define ND_OVERRIDE       FLD(0x4, 29, 29)
#define ND_TARGET         FLD_PART(0x8)
#define ND_OPTION         FLD(0x18, 31, 24)
#define ND_OPTION_LENGTH  FLD(0x18, 23, 16) /* in units of 8 bytes */
#define ND_OPTION_ADDRESS FLD_PART(0x1a)

#endif
