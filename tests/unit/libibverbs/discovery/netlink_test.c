/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery by RDMA netlink, from a stand-in kernel with two devices: nl_connect() is replaced
 * (--wrap), and gives the socket send and receive functions of the test.
 *
 * Covers: libibverbs/discovery/netlink.c
 */
#include "unit.h"

#include "libibverbs/private.h"
#include "temp_tree.h"

#include <endian.h>
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

int __wrap_nl_connect(struct nl_sock *sock, int protocol);

static struct {
	bool missing;              /* the kernel lacks NETLINK_RDMA */
	int copy_on_fork;          /* attribute of that name; -1: absent */
	int asked_index;           /* index in the last GET_CHARDEV */
	struct nl_msg *answers[4]; /* responses in their order */
	unsigned int count, received;
} kernel;

static void kernel_answer(struct nl_msg *msg)
{
	assert_true(kernel.count < 4);
	kernel.answers[kernel.count++] = msg;
}

static struct nl_msg *new_message(int type, int flags, uint32_t seq)
{
	struct nl_msg *msg = nlmsg_alloc();

	assert_non_null(msg);
	assert_non_null(nlmsg_put(msg, 0, seq, type, 0, flags));
	return msg;
}

static void add_device(uint32_t index, const char *name, uint32_t seq)
{
	struct nl_msg *msg =
		new_message(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), NLM_F_MULTI, seq);

	nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, name);
	nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, IBV_NODE_CA);
	nla_put_u64(msg, RDMA_NLDEV_ATTR_NODE_GUID, 0x0002c90300151a2bull);
	kernel_answer(msg);
}

static void answer_dump(uint32_t seq)
{
	struct nl_msg *done = new_message(NLMSG_DONE, NLM_F_MULTI, seq);
	int status = 0;

	add_device(3, "mlx5_3", seq);
	add_device(7, "nouverbs_7", seq);
	nlmsg_append(done, &status, sizeof(status), NLMSG_ALIGNTO);
	kernel_answer(done);
}

static void answer_error(int err, uint32_t seq)
{
	struct nl_msg *msg = new_message(NLMSG_ERROR, 0, seq);
	struct nlmsgerr body = { .error = -err };

	nlmsg_append(msg, &body, sizeof(body), NLMSG_ALIGNTO);
	kernel_answer(msg);
}

static void answer_chardev(struct nlmsghdr *request)
{
	struct nlattr *index = nlmsg_find_attr(request, 0, RDMA_NLDEV_ATTR_DEV_INDEX);
	struct nlattr *type = nlmsg_find_attr(request, 0, RDMA_NLDEV_ATTR_CHARDEV_TYPE);
	struct nl_msg *msg;

	assert_non_null(index);
	assert_non_null(type);
	assert_string_equal(nla_get_string(type), "uverbs");
	kernel.asked_index = (int)nla_get_u32(index);
	if (kernel.asked_index != 3)
		return answer_error(ENODEV, request->nlmsg_seq);
	msg = new_message(request->nlmsg_type, 0, request->nlmsg_seq);
	nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs5");
	nla_put_u64(msg, RDMA_NLDEV_ATTR_CHARDEV_ABI, 1);
	nla_put_u64(msg, RDMA_NLDEV_ATTR_CHARDEV, 231 << 8 | 197);
	nla_put_u32(msg, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 1);
	kernel_answer(msg);
}

static void answer_system(const struct nlmsghdr *request)
{
	struct nl_msg *msg = new_message(request->nlmsg_type, 0, request->nlmsg_seq);

	nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
	if (kernel.copy_on_fork >= 0)
		nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, (uint8_t)kernel.copy_on_fork);
	kernel_answer(msg);
}

static int take_request(struct nl_sock *sock, struct nl_msg *msg)
{
	struct nlmsghdr *request = nlmsg_hdr(msg);

	(void)sock;
	assert_int_equal(RDMA_NL_GET_CLIENT(request->nlmsg_type), RDMA_NL_NLDEV);
	assert_true(request->nlmsg_flags & NLM_F_REQUEST);
	if (RDMA_NL_GET_OP(request->nlmsg_type) == RDMA_NLDEV_CMD_GET_CHARDEV) {
		answer_chardev(request);
	} else if (RDMA_NL_GET_OP(request->nlmsg_type) == RDMA_NLDEV_CMD_SYS_GET) {
		answer_system(request);
	} else {
		assert_int_equal(RDMA_NL_GET_OP(request->nlmsg_type), RDMA_NLDEV_CMD_GET);
		assert_true(request->nlmsg_flags & NLM_F_DUMP);
		answer_dump(request->nlmsg_seq);
	}
	return (int)request->nlmsg_len;
}

/* Returns one datagram per call, as a socket does; libnl frees the buffer. */
static int give_answer(struct nl_sock *sock, struct sockaddr_nl *from, unsigned char **buf,
		       struct ucred **creds)
{
	struct nl_msg *msg;
	int len;

	(void)sock;
	(void)creds;
	assert_true(kernel.received < kernel.count);
	msg = kernel.answers[kernel.received++];
	if (kernel.received == kernel.count)
		kernel.received = kernel.count = 0;
	len = (int)nlmsg_hdr(msg)->nlmsg_len;
	memset(from, 0, sizeof(*from));
	from->nl_family = AF_NETLINK;
	*buf = malloc((size_t)len);
	assert_non_null(*buf);
	memcpy(*buf, nlmsg_hdr(msg), (size_t)len);
	nlmsg_free(msg);
	return len;
}

int __wrap_nl_connect(struct nl_sock *sock, int protocol)
{
	struct nl_cb *cb = nl_socket_get_cb(sock);

	assert_int_equal(protocol, NETLINK_RDMA);
	if (!kernel.missing) {
		nl_cb_overwrite_send(cb, take_request);
		nl_cb_overwrite_recv(cb, give_answer);
	}
	nl_cb_put(cb);
	return kernel.missing ? -NLE_PROTO_MISMATCH : 0;
}

static void a_device_has_what_both_answers_say(void **state)
{
	struct verbs_device_info *infos = NULL;
	unsigned int count = 0;

	(void)state;
	assert_int_equal(verbs_netlink_find_devices(&infos, &count), 0);
	assert_int_equal(count, 1); /* the device without uverbs is dropped */
	assert_int_equal(kernel.asked_index, 7);
	assert_string_equal(infos[0].name, "mlx5_3");
	assert_int_equal(infos[0].index, 3);
	assert_int_equal(infos[0].node_type, IBV_NODE_CA);
	assert_true(infos[0].node_guid == htobe64(0x0002c90300151a2bull));
	assert_string_equal(infos[0].uverbs_name, "uverbs5");
	assert_int_equal(infos[0].abi_version, 1);
	assert_int_equal(infos[0].driver_id, 1);
	assert_int_equal(infos[0].uverbs_dev, makedev(231, 197));
	free(infos);
}

static void sysfs_completes_it(void **state)
{
	struct verbs_device_info *infos = NULL;
	unsigned int count = 0;

	(void)state;
	assert_int_equal(verbs_netlink_find_devices(&infos, &count), 0);
	verbs_sysfs_fill_pci(&infos[0]);
	assert_int_equal(infos[0].pci.vendor, 0x15b3);
	assert_int_equal(infos[0].pci.device, 0x101b);
	assert_non_null(strstr(infos[0].ibdev_path, "/class/infiniband/mlx5_3"));
	free(infos);
}

static void without_netlink_sysfs_is_to_be_asked(void **state)
{
	struct verbs_device_info *infos = NULL;
	unsigned int count = 0;

	(void)state;
	kernel.missing = true;
	assert_int_equal(verbs_netlink_find_devices(&infos, &count), EPROTONOSUPPORT);
	assert_null(infos);
	assert_int_equal(count, 0);
}

static void the_kernel_says_whether_it_copies_on_fork(void **state)
{
	(void)state;
	kernel.missing = false;
	kernel.copy_on_fork = 1;
	assert_true(verbs_netlink_copies_on_fork());
	kernel.copy_on_fork = 0;
	assert_false(verbs_netlink_copies_on_fork());
	kernel.copy_on_fork = -1;
	assert_false(verbs_netlink_copies_on_fork());
	kernel.missing = true;
	assert_false(verbs_netlink_copies_on_fork());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_has_what_both_answers_say),
		cmocka_unit_test(sysfs_completes_it),
		cmocka_unit_test(without_netlink_sysfs_is_to_be_asked),
		cmocka_unit_test(the_kernel_says_whether_it_copies_on_fork),
	};
	int failed;

	setenv("SYSFS_PATH", tree_make(), 1);
	tree_put("class/infiniband/mlx5_3/device/modalias",
		 "pci:v000015B3d0000101Bsv000015B3sd00000007\n");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	tree_remove();
	return failed;
}
