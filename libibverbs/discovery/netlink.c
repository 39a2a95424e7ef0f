/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netlink.c - finds RDMA devices by RDMA netlink, which is faster and more precise than sysfs: it
 * provides the driver's number and respects network namespaces. A dump lists all devices; a query
 * for each finds the character device of its uverbs interface.
 */
#include "libibverbs/private.h"

#include <endian.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct found {
	struct verbs_device_info *infos;
	unsigned int count;
	int err;
};

static struct nla_policy policy[RDMA_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_NAME] = { .type = NLA_NUL_STRING },
	[RDMA_NLDEV_ATTR_DEV_NODE_TYPE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_NODE_GUID] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_CHARDEV_NAME] = { .type = NLA_NUL_STRING },
	[RDMA_NLDEV_ATTR_CHARDEV_ABI] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_CHARDEV] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID] = { .type = NLA_U32 },
	[RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK] = { .type = NLA_U8 },
};

static bool msg_parse(struct nl_msg *msg, struct nlattr **tb)
{
	return nlmsg_parse(nlmsg_hdr(msg), 0, tb, RDMA_NLDEV_ATTR_MAX - 1, policy) >= 0;
}

static bool copy_name(char *to, size_t size, const struct nlattr *attr)
{
	return verbs_text_join(to, size, nla_get_string(attr), "", "");
}

static int on_device(struct nl_msg *msg, void *arg)
{
	struct found *found = arg;
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct verbs_device_info info = {};
	struct verbs_device_info *more;

	if (!msg_parse(msg, tb) || !tb[RDMA_NLDEV_ATTR_DEV_INDEX] || !tb[RDMA_NLDEV_ATTR_DEV_NAME])
		return NL_SKIP;
	info.index = (int)nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	if (tb[RDMA_NLDEV_ATTR_DEV_NODE_TYPE])
		info.node_type = nla_get_u8(tb[RDMA_NLDEV_ATTR_DEV_NODE_TYPE]);
	if (tb[RDMA_NLDEV_ATTR_NODE_GUID])
		info.node_guid = htobe64(nla_get_u64(tb[RDMA_NLDEV_ATTR_NODE_GUID]));
	if (!copy_name(info.name, sizeof(info.name), tb[RDMA_NLDEV_ATTR_DEV_NAME]))
		return NL_SKIP;
	more = reallocarray(found->infos, found->count + 1, sizeof(*more));
	if (!more) {
		found->err = ENOMEM;
		return NL_STOP;
	}
	found->infos = more;
	more[found->count++] = info;
	return NL_OK;
}

static int on_chardev(struct nl_msg *msg, void *arg)
{
	struct verbs_device_info *info = arg;
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

	if (!msg_parse(msg, tb) || !tb[RDMA_NLDEV_ATTR_CHARDEV_NAME] ||
	    !tb[RDMA_NLDEV_ATTR_CHARDEV] || !tb[RDMA_NLDEV_ATTR_CHARDEV_ABI])
		return NL_SKIP;
	if (!copy_name(info->uverbs_name, sizeof(info->uverbs_name),
		       tb[RDMA_NLDEV_ATTR_CHARDEV_NAME]))
		return NL_SKIP;
	/* For major numbers of up to 12 bits, the kernel encodes dev_t as glibc does, so no
	 * conversion is needed. */
	info->uverbs_dev = nla_get_u64(tb[RDMA_NLDEV_ATTR_CHARDEV]);
	info->abi_version = (uint32_t)nla_get_u64(tb[RDMA_NLDEV_ATTR_CHARDEV_ABI]);
	if (tb[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID])
		info->driver_id = nla_get_u32(tb[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID]);
	return NL_OK;
}

static int msg_receive(struct nl_sock *sock, int (*on_msg)(struct nl_msg *, void *), void *arg)
{
	int ret;

	ret = nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_msg, arg);
	if (ret < 0)
		return ret;
	return nl_recvmsgs_default(sock);
}

static int dump_devices(struct nl_sock *sock, struct found *found)
{
	int ret = nl_send_simple(sock, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
				 NLM_F_DUMP, NULL, 0);

	if (ret < 0)
		return ret;
	ret = msg_receive(sock, on_device, found);
	if (ret < 0)
		return ret;
	return found->err ? -NLE_NOMEM : 0;
}

static int ask_chardev(struct nl_sock *sock, struct verbs_device_info *info)
{
	struct nl_msg *msg =
		nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV), 0);
	int ret;

	if (!msg)
		return -NLE_NOMEM;
	ret = nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)info->index);
	if (!ret)
		ret = nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	if (!ret)
		ret = nl_send_auto(sock, msg);
	nlmsg_free(msg);
	return ret < 0 ? ret : msg_receive(sock, on_chardev, info);
}

/* Drops devices without a uverbs interface, which verbs cannot use. If memory runs out, the whole
 * search fails instead of losing a device. */
static int complete_devices(struct nl_sock *sock, struct found *found)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < found->count; i++) {
		struct verbs_device_info *info = &found->infos[i];
		int ret = ask_chardev(sock, info);

		if (ret == -NLE_NOMEM)
			return ret;
		if (ret < 0 || !info->uverbs_name[0] || verbs_sysfs_fill_info(info)) {
			verbs_info("%s: has no uverbs interface: skipped", info->name);
			continue;
		}
		found->infos[kept++] = *info;
	}
	found->count = kept;
	return 0;
}

/* Converts an error of libnl to an errno. All but a lack of memory become EPROTONOSUPPORT, because
 * sysfs may still have the answer. */
static int err_of(int nl_err)
{
	return nl_err == -NLE_NOMEM ? ENOMEM : EPROTONOSUPPORT;
}

/* Opens a socket. Disables the wait for acknowledgements: the kernel answers a device query with
 * exactly one message, and without NLM_F_ACK sends no acknowledgement. */
static int open_socket(struct nl_sock **out)
{
	struct nl_sock *sock = nl_socket_alloc();
	int ret;

	if (!sock)
		return ENOMEM;
	nl_socket_disable_auto_ack(sock);
	nl_socket_disable_seq_check(sock);
	ret = nl_connect(sock, NETLINK_RDMA);
	if (ret < 0) {
		nl_socket_free(sock);
		return err_of(ret);
	}
	*out = sock;
	return 0;
}

static int on_system(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	bool *copies = arg;

	if (!msg_parse(msg, tb))
		return NL_SKIP;
	*copies = tb[RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK] &&
		  nla_get_u8(tb[RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK]);
	return NL_OK;
}

/* Returns whether the kernel says that it copies pinned pages at fork(). Returns false if the
 * kernel does not answer. */
bool verbs_netlink_copies_on_fork(void)
{
	struct nl_sock *sock;
	bool copies = false;

	if (open_socket(&sock))
		return false;
	if (nl_send_simple(sock, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET), 0, NULL,
			   0) >= 0)
		msg_receive(sock, on_system, &copies);
	nl_socket_free(sock);
	return copies;
}

int verbs_netlink_find_devices(struct verbs_device_info **infos, unsigned int *count)
{
	struct found found = {};
	struct nl_sock *sock;
	int ret = open_socket(&sock);

	if (ret) {
		verbs_info("RDMA netlink: %s", strerror(ret));
		return ret;
	}
	ret = dump_devices(sock, &found);
	if (!ret)
		ret = complete_devices(sock, &found);
	nl_socket_free(sock);
	if (ret) {
		verbs_info("RDMA netlink: %s", nl_geterror(ret));
		free(found.infos);
		return err_of(ret);
	}
	*infos = found.infos;
	*count = found.count;
	return 0;
}
