/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_l2.c - ibv_resolve_eth_l2_from_gid(), which finds MAC address and VLAN of a RoCE peer by its
 * GID.
 *
 * A multicast GID and the link-local GID of RoCE v1 contain the MAC address. Other GIDs are
 * resolved by the system: the route from the local GID's interface leads to the next hop, and the
 * neighbour table has that hop's address. If the entry is missing, an empty datagram makes the
 * kernel resolve it, and this file waits for the result.
 */
#include "libibverbs/private.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <netlink/route/link/vlan.h>
#include <netlink/route/neighbour.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NO_VLAN 0xffff

/* The kernel solicits an unknown neighbour three times, at intervals of a second
 * (net.ipv4.neigh.*.mcast_solicit). */
#define WAIT_MS 3000
#define LOOK_MS 20

struct address {
	int family;
	size_t len;
	uint8_t bytes[16];
};

static struct address address_of(const union ibv_gid *gid)
{
	struct address address = { .family = AF_INET6, .len = 16 };

	memcpy(address.bytes, gid->raw, sizeof(address.bytes));
	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid->raw)) {
		address = (struct address){ .family = AF_INET, .len = 4 };
		memcpy(address.bytes, &gid->raw[12], 4);
	}
	return address;
}

/* The interface id of a link-local GID is the MAC address with FFFE in the middle and the U/L bit
 * inverted (RFC 4291, appendix A). */
static void mac_from_eui64(uint8_t *mac, const union ibv_gid *gid)
{
	memcpy(mac, &gid->raw[8], 3);
	memcpy(mac + 3, &gid->raw[13], 3);
	mac[0] ^= 2;
}

/* The MAC address of a multicast group ends with the last bytes of its IP address (RFC 2464, 7, for
 * IPv6; RFC 1112, 6.4, for IPv4). */
static void mac_of_group(uint8_t *mac, const union ibv_gid *gid)
{
	const uint8_t *ip = &gid->raw[12];
	const bool is_ipv4 = gid->raw[10] == 0xff && gid->raw[11] == 0xff;

	if (is_ipv4)
		memcpy(mac, (const uint8_t[]){ 0x01, 0x00, 0x5e, ip[1] & 0x7f, ip[2], ip[3] }, 6);
	else
		memcpy(mac, (const uint8_t[]){ 0x33, 0x33, ip[0], ip[1], ip[2], ip[3] }, 6);
}

struct hop {
	int ifindex;
	/* the address belongs to this host, so the interface's own MAC is the answer */
	bool is_local;
	struct address address;
};

static int on_route(struct nl_msg *msg, void *arg)
{
	struct hop *hop = arg;
	struct nlattr *tb[RTA_MAX + 1];
	const struct rtmsg *rtm = nlmsg_data(nlmsg_hdr(msg));

	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWROUTE ||
	    nlmsg_parse(nlmsg_hdr(msg), sizeof(*rtm), tb, RTA_MAX, NULL) < 0)
		return NL_SKIP;
	if (tb[RTA_OIF])
		hop->ifindex = (int)nla_get_u32(tb[RTA_OIF]);
	if (tb[RTA_GATEWAY] && (size_t)nla_len(tb[RTA_GATEWAY]) == hop->address.len)
		memcpy(hop->address.bytes, nla_data(tb[RTA_GATEWAY]), hop->address.len);
	hop->is_local = rtm->rtm_type == RTN_LOCAL;
	return NL_OK;
}

static int ask_route(struct nl_sock *sock, int ifindex, const struct address *from,
		     const struct address *to)
{
	const struct rtmsg rtm = {
		.rtm_family = (uint8_t)to->family,
		.rtm_dst_len = (uint8_t)(to->len * 8),
		.rtm_src_len = (uint8_t)(to->len * 8),
	};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETROUTE, NLM_F_REQUEST);
	int ret;

	if (!msg)
		return -NLE_NOMEM;
	ret = nlmsg_append(msg, (void *)&rtm, sizeof(rtm), NLMSG_ALIGNTO);
	if (!ret)
		ret = nla_put(msg, RTA_DST, (int)to->len, to->bytes);
	if (!ret)
		ret = nla_put(msg, RTA_SRC, (int)from->len, from->bytes);
	if (!ret)
		ret = nla_put_u32(msg, RTA_OIF, (uint32_t)ifindex);
	if (!ret)
		ret = nl_send_auto(sock, msg);
	nlmsg_free(msg);
	return ret;
}

static int find_route(struct nl_sock *sock, int ifindex, const struct address *from,
		      const struct address *to, struct hop *hop)
{
	int ret;

	*hop = (struct hop){ .ifindex = ifindex, .address = *to };
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_route, hop);
	ret = ask_route(sock, ifindex, from, to);
	if (ret >= 0)
		ret = nl_recvmsgs_default(sock);
	if (ret >= 0)
		return 0;
	verbs_warn("ibv_resolve_eth_l2_from_gid: interface %d has no route to the GID: %s", ifindex,
		   nl_geterror(ret));
	return ENETUNREACH;
}

/* Makes the kernel resolve a neighbour, by a datagram to it. Port 9 is the discard service, so a
 * host that gets the datagram does nothing. */
static void neighbour_provoke(const struct hop *hop)
{
	const struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
					  .sin6_port = htons(9),
					  .sin6_scope_id = (uint32_t)hop->ifindex };
	const struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(9) };
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} to;
	const bool is_ipv4 = hop->address.family == AF_INET;
	int fd = socket(hop->address.family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return;
	if (is_ipv4) {
		to.in = in;
		memcpy(&to.in.sin_addr, hop->address.bytes, 4);
	} else {
		to.in6 = in6;
		memcpy(&to.in6.sin6_addr, hop->address.bytes, 16);
	}
	sendto(fd, "", 0, MSG_DONTWAIT, &to.any, is_ipv4 ? sizeof(to.in) : sizeof(to.in6));
	close(fd);
}

static bool copy_lladdr(uint8_t *mac, const struct nl_addr *lladdr)
{
	if (!lladdr || nl_addr_get_len(lladdr) != ETHERNET_LL_SIZE)
		return false;
	memcpy(mac, nl_addr_get_binary_addr(lladdr), ETHERNET_LL_SIZE);
	return true;
}

static bool neighbour_look_up(struct nl_sock *sock, const struct hop *hop, struct nl_addr *addr,
			      uint8_t *mac)
{
	const int usable =
		NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY;
	struct rtnl_neigh *neigh;
	struct nl_cache *cache;
	bool found = false;

	if (rtnl_neigh_alloc_cache(sock, &cache) < 0)
		return false;
	neigh = rtnl_neigh_get(cache, hop->ifindex, addr);
	if (neigh) {
		found = rtnl_neigh_get_state(neigh) & usable &&
			copy_lladdr(mac, rtnl_neigh_get_lladdr(neigh));
		rtnl_neigh_put(neigh);
	}
	nl_cache_free(cache);
	return found;
}

static int find_neighbour(struct nl_sock *sock, const struct hop *hop, uint8_t *mac)
{
	struct nl_addr *addr =
		nl_addr_build(hop->address.family, hop->address.bytes, hop->address.len);
	bool found;

	if (!addr)
		return ENOMEM;
	found = neighbour_look_up(sock, hop, addr, mac);
	if (!found)
		neighbour_provoke(hop);
	for (int ms = 0; !found && ms < WAIT_MS; ms += LOOK_MS) {
		usleep(LOOK_MS * 1000);
		found = neighbour_look_up(sock, hop, addr, mac);
	}
	nl_addr_put(addr);
	if (found)
		return 0;
	verbs_warn(
		"ibv_resolve_eth_l2_from_gid: no host on interface %d answers for the GID within "
		"%d ms",
		hop->ifindex, WAIT_MS);
	return EHOSTUNREACH;
}

static int read_link(struct nl_sock *sock, int ifindex, uint8_t *own_mac, uint16_t *vid)
{
	struct rtnl_link *link;
	int err = 0;

	if (rtnl_link_get_kernel(sock, ifindex, NULL, &link) < 0) {
		verbs_warn("ibv_resolve_eth_l2_from_gid: interface %d is gone", ifindex);
		return ENODEV;
	}
	*vid = rtnl_link_is_vlan(link) ? (uint16_t)rtnl_link_vlan_get_id(link) : NO_VLAN;
	if (own_mac && !copy_lladdr(own_mac, rtnl_link_get_addr(link)))
		err = EHOSTUNREACH;
	rtnl_link_put(link);
	return err;
}

static struct nl_sock *open_socket(void)
{
	struct nl_sock *sock = nl_socket_alloc();

	if (!sock)
		return NULL;
	nl_socket_disable_auto_ack(sock);
	if (nl_connect(sock, NETLINK_ROUTE) < 0) {
		nl_socket_free(sock);
		return NULL;
	}
	return sock;
}

/* Finds the MAC address by route and neighbour. A packet to a local address leaves and returns
 * through the source GID's interface, so the answer is that interface's MAC address. */
static int ask_system(struct nl_sock *sock, const struct ibv_gid_entry *source,
		      const union ibv_gid *dgid, uint8_t *mac, uint16_t *vid)
{
	const struct address from = address_of(&source->gid), to = address_of(dgid);
	const int ifindex = (int)source->ndev_ifindex;
	struct hop hop;
	int err;

	if (from.family != to.family) {
		verbs_warn("ibv_resolve_eth_l2_from_gid: sgid_index %u and dgid: one is IPv4, the "
			   "other is not",
			   source->gid_index);
		return ENETUNREACH;
	}
	err = find_route(sock, ifindex, &from, &to, &hop);
	if (err)
		return err;
	if (hop.is_local)
		return read_link(sock, ifindex, mac, vid);
	err = read_link(sock, hop.ifindex, NULL, vid);
	return err ? err : find_neighbour(sock, &hop, mac);
}

static int gid_to_mac(struct nl_sock *sock, const struct ibv_gid_entry *source,
		      const union ibv_gid *dgid, uint8_t *mac, uint16_t *vid)
{
	const int ifindex = (int)source->ndev_ifindex;

	if (dgid->raw[0] == 0xff) {
		mac_of_group(mac, dgid);
		return read_link(sock, ifindex, NULL, vid);
	}
	if (source->gid_type != IBV_GID_TYPE_ROCE_V2 &&
	    IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)dgid->raw)) {
		mac_from_eui64(mac, dgid);
		return read_link(sock, ifindex, NULL, vid);
	}
	return ask_system(sock, source, dgid, mac, vid);
}

/* Returns a negative errno, as all releases do, and also sets errno, as the manual page says. */
static int resolve_result(int err)
{
	if (err)
		errno = err;
	return -err;
}

/* Returns 0, -1 with errno if the source GID is not available, or a negative errno if the system
 * cannot resolve the address. */
VERBS_EXPORT int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
					     uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
	struct ibv_gid_entry source;
	struct nl_sock *sock;
	uint16_t unused;
	int err = verbs_query_gid(context, attr->port_num, attr->grh.sgid_index, &source);

	if (err && err != ENODATA)
		return fail_fd(err);
	if (!source.ndev_ifindex) {
		verbs_warn("ibv_resolve_eth_l2_from_gid: port_num %u sgid_index %u: has no network "
			   "interface",
			   attr->port_num, attr->grh.sgid_index);
		return resolve_result(EINVAL);
	}
	sock = open_socket();
	if (!sock)
		return resolve_result(EHOSTUNREACH);
	err = gid_to_mac(sock, &source, &attr->grh.dgid, eth_mac, vid ? vid : &unused);
	nl_socket_free(sock);
	return resolve_result(err);
}
