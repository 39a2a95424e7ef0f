/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netlink_test.c - sends to RDMA netlink: which sockets are ours, which requests are answered and
 * how, and messages that cannot be read. Sockets are the kernel's; the call and the adapters are
 * the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softhca/front/process/discovery/netlink.c"

enum { NO_ANSWER = -1, USER = 1000 };

const char *const hw_counter_name[HW_COUNTERS];

static struct {
	struct daemon daemon;
	struct adapter adapter;
	struct identity identity;
	struct call call;
	struct seccomp_notif notif;
	int fd; /* the program's socket */
	int64_t returned;
	int failed;
	int dump_error;
	uint32_t dump_port;
	bool is_unreadable;
	_Alignas(8) uint8_t answer[REPLY_MAX];
} it;

void call_return(struct call *call, int64_t value)
{
	assert_ptr_equal(call, &it.call);
	it.returned = value;
}

void call_fail(struct call *call, int error)
{
	assert_ptr_equal(call, &it.call);
	it.failed = error;
}

int caller_read(const struct call *call, uint64_t addr, void *buf, size_t len)
{
	assert_ptr_equal(call, &it.call);
	if (it.is_unreadable)
		return EFAULT;
	memcpy(buf, (const void *)(uintptr_t)addr, len);
	return 0;
}

int caller_fd_copy(const struct call *call, int fd)
{
	(void)call;
	return dup(fd);
}

int fd_number_pick(pid_t tid, int *number)
{
	(void)tid;
	*number = FD_NUMBER_LOWEST;
	return 0;
}

void fd_number_return(struct call *call, int fd, bool cloexec, int number)
{
	assert_ptr_equal(call, &it.call);
	assert_int_equal(number, FD_NUMBER_LOWEST);
	assert_true(cloexec);
	it.fd = dup(fd);
}

int adapter_query_port(struct adapter *adapter, unsigned int port, struct port_info *info)
{
	(void)adapter;
	(void)port;
	(void)info;
	return EINVAL;
}

int hw_counters_read(struct adapter *adapter, unsigned int port, uint64_t value[HW_COUNTERS])
{
	(void)adapter;
	(void)port;
	(void)value;
	return EIO;
}

const char *netdev_of(const struct adapter *adapter, unsigned int port)
{
	(void)adapter;
	(void)port;
	return "";
}

uint32_t netdev_index(const struct adapter *adapter, unsigned int port)
{
	(void)adapter;
	(void)port;
	return 0;
}

void resources_put_summary(struct reply *reply, uint16_t type, const struct adapter *adapter)
{
	assert_ptr_equal(adapter, &it.adapter);
	reply_begin(reply, type);
	reply_end(reply);
}

bool resources_can_list(uint16_t type)
{
	return RDMA_NL_GET_OP(type) == RDMA_NLDEV_CMD_RES_QP_GET;
}

unsigned int client_thread_uid(pid_t tid)
{
	assert_int_equal(tid, it.call.tid);
	return USER;
}

int dump_begin(const struct adapter *adapter, uint16_t type, unsigned int user, uint32_t port,
	       uint32_t seq)
{
	assert_int_equal(user, USER);
	assert_ptr_equal(adapter, &it.adapter);
	assert_int_equal(RDMA_NL_GET_OP(type), RDMA_NLDEV_CMD_RES_QP_GET);
	assert_int_equal(seq, 0x1234);
	it.dump_port = port;
	return it.dump_error;
}

static int socket_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.identity.kind = HCA_MLX5;
	it.identity.fw_version = "1.2.3";
	it.adapter.identity = &it.identity;
	strcpy(it.adapter.name, "mlx5_0");
	it.daemon.adapters[0] = &it.adapter;
	it.daemon.num_adapters = 1;
	it.call.daemon = &it.daemon;
	it.call.notif = &it.notif;
	it.notif.data.args[1] = SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK;
	netlink_socket(&it.call);
	it.notif.data.args[0] = (uint64_t)it.fd;
	it.returned = it.failed = NO_ANSWER;
	return it.fd > 0 ? 0 : -1;
}

static int socket_end(void **state)
{
	(void)state;
	close(it.fd);
	return 0;
}

static void message_send(const void *data, size_t len)
{
	struct iovec iov[2] = { { (void *)(uintptr_t)data, len / 2 },
				{ (uint8_t *)(uintptr_t)data + len / 2, len - len / 2 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	it.returned = it.failed = NO_ANSWER;
	it.notif.data.args[1] = (uintptr_t)&msg;
	netlink_sendmsg(&it.call);
}

static struct nlmsghdr header_of(unsigned int command, uint16_t flags)
{
	return (struct nlmsghdr){ .nlmsg_len = NLMSG_HDRLEN,
				  .nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
				  .nlmsg_flags = NLM_F_REQUEST | flags,
				  .nlmsg_seq = 0x1234 };
}

static const struct nlmsghdr *answer_read(void)
{
	ssize_t len = recv(it.fd, it.answer, sizeof(it.answer), MSG_DONTWAIT);

	return len > 0 ? (const struct nlmsghdr *)it.answer : NULL;
}

static void check_error(int error)
{
	const struct nlmsghdr *answer = answer_read();

	assert_non_null(answer);
	assert_int_equal(answer->nlmsg_type, NLMSG_ERROR);
	assert_int_equal(answer->nlmsg_seq, 0x1234);
	assert_int_equal(((const struct nlmsgerr *)NLMSG_DATA(answer))->error, -error);
}

static void a_dump_has_devices_and_an_end(void **state)
{
	const struct nlmsghdr header = header_of(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	const struct nlmsghdr *answer;

	(void)state;
	message_send(&header, sizeof(header));
	assert_int_equal(it.returned, sizeof(header));
	assert_int_equal(it.failed, NO_ANSWER);
	answer = answer_read();
	assert_non_null(answer);
	assert_int_equal(answer->nlmsg_type, header.nlmsg_type);
	assert_int_equal(answer->nlmsg_seq, 0x1234);
	assert_true(answer->nlmsg_flags & NLM_F_MULTI);
	answer = (const void *)((const uint8_t *)answer + NLMSG_ALIGN(answer->nlmsg_len));
	if ((const uint8_t *)answer >= it.answer + sizeof(it.answer) || !answer->nlmsg_len)
		answer = answer_read();
	assert_non_null(answer);
	assert_int_equal(answer->nlmsg_type, NLMSG_DONE);
}

static void what_is_not_known_is_an_error(void **state)
{
	struct nlmsghdr header = header_of(200, 0);

	(void)state;
	message_send(&header, sizeof(header));
	/* the send succeeds, as the error comes in an answer */
	assert_int_equal(it.returned, sizeof(header));
	check_error(EOPNOTSUPP);
	header.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV + 1, RDMA_NLDEV_CMD_GET);
	message_send(&header, sizeof(header));
	check_error(EINVAL);
}

/* Asks for a list; ATTR is the device's index. */
static void list_ask(unsigned int command, uint16_t flags, uint32_t index)
{
	struct {
		struct nlmsghdr header;
		struct nlattr attr;
		uint32_t index;
	} message = { header_of(command, flags),
		      { sizeof(message.attr) + sizeof(index), RDMA_NLDEV_ATTR_DEV_INDEX },
		      index };

	message.header.nlmsg_len = sizeof(message);
	message_send(&message, sizeof(message));
}

static void a_list_is_left_to_its_dump(void **state)
{
	struct sockaddr_nl addr;
	socklen_t len = sizeof(addr);

	(void)state;
	list_ask(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP, 0);
	assert_int_equal(getsockname(it.fd, (struct sockaddr *)&addr, &len), 0);
	assert_int_equal(it.dump_port, addr.nl_pid);
	assert_null(answer_read());
	it.dump_error = EBUSY;
	list_ask(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP, 0);
	check_error(EBUSY);
	assert_null(answer_read());
}

static void what_cannot_be_listed_is_refused(void **state)
{
	(void)state;
	list_ask(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP, 7); /* no such device */
	check_error(EINVAL);
	list_ask(RDMA_NLDEV_CMD_RES_QP_GET, 0, 0);
	check_error(EOPNOTSUPP);
	list_ask(RDMA_NLDEV_CMD_RES_CQ_GET, NLM_F_DUMP, 0);
	check_error(EOPNOTSUPP);
	assert_int_equal(it.dump_port, 0);
}

static void many_devices_take_several_datagrams(void **state)
{
	const struct nlmsghdr header = header_of(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	unsigned int devices = 0, datagrams = 0;
	char name[1000] = "";
	ssize_t len;
	bool is_done = false;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	it.identity.fw_version = name;
	for (unsigned int i = 0; i < MAX_DEVICES; i++)
		it.daemon.adapters[i] = &it.adapter;
	it.daemon.num_adapters = MAX_DEVICES;
	message_send(&header, sizeof(header));
	while ((len = recv(it.fd, it.answer, sizeof(it.answer), MSG_DONTWAIT | MSG_TRUNC)) > 0) {
		assert_true(len <= REPLY_MAX);
		datagrams++;
		for (const struct nlmsghdr *at = (const void *)it.answer; NLMSG_OK(at, len);
		     at = NLMSG_NEXT(at, len)) {
			is_done = at->nlmsg_type == NLMSG_DONE;
			devices += at->nlmsg_type == header.nlmsg_type;
		}
	}
	assert_int_equal(devices, MAX_DEVICES);
	assert_true(is_done);
	assert_true(datagrams > 1);
}

static void headers_that_do_not_fit_are_not_answered(void **state)
{
	struct nlmsghdr header = header_of(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);

	(void)state;
	message_send(&header, sizeof(header) - 1);
	assert_null(answer_read());
	header.nlmsg_len++;
	message_send(&header, sizeof(header));
	assert_null(answer_read());
	header.nlmsg_len = NLMSG_HDRLEN - 1;
	message_send(&header, sizeof(header));
	assert_int_equal(it.returned, sizeof(header));
	assert_null(answer_read());
}

static void a_message_that_cannot_be_read_is_a_fault(void **state)
{
	struct nlmsghdr header = header_of(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);

	(void)state;
	it.notif.data.args[1] = (uintptr_t)&header;
	it.notif.data.args[2] = sizeof(header);
	netlink_sendto(&it.call);
	assert_int_equal(it.returned, sizeof(header));
	assert_non_null(answer_read());
	while (answer_read())
		;
	it.returned = it.failed = NO_ANSWER;
	it.is_unreadable = true;
	netlink_sendto(&it.call);
	assert_int_equal(it.failed, EFAULT);
	assert_int_equal(it.returned, NO_ANSWER);
	assert_null(answer_read());
}

/* The kernel executes sends to other sockets, as only RDMA's netlink is played here. */
static void other_sockets_are_left_alone(void **state)
{
	static const struct {
		int domain, type, protocol;
	} rows[] = { { AF_UNIX, SOCK_DGRAM, 0 },
		     { AF_INET, SOCK_DGRAM, 0 },
		     { AF_NETLINK, SOCK_RAW, NETLINK_ROUTE } };
	const struct nlmsghdr header = header_of(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		int fd = socket(rows[i].domain, rows[i].type | SOCK_CLOEXEC, rows[i].protocol);

		it.notif.data.args[0] = (uint64_t)fd;
		message_send(&header, sizeof(header));
		assert_int_equal(it.returned, NO_ANSWER);
		assert_int_equal(it.failed, NO_ANSWER);
		close(fd);
		message_send(&header, sizeof(header)); /* no socket at all */
		assert_int_equal(it.returned, NO_ANSWER);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, socket_begin, socket_end)
	const struct CMUnitTest tests[] = {
		CASE(a_dump_has_devices_and_an_end),
		CASE(what_is_not_known_is_an_error),
		CASE(a_list_is_left_to_its_dump),
		CASE(what_cannot_be_listed_is_refused),
		CASE(many_devices_take_several_datagrams),
		CASE(headers_that_do_not_fit_are_not_answered),
		CASE(a_message_that_cannot_be_read_is_a_fault),
		CASE(other_sockets_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
