/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * server_test.c - the socket of softhca pci: messages in pieces, their descriptors, replies that do
 * not fit, clients that come and go, and when the adapter runs next.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "softhca/front/vfio-user/server.c"

enum { HEAD = sizeof(struct vfu_header), BODY = 100, COMMAND = VFU_DEVICE_GET_INFO };

static struct server *server;
static int client; /* the client's end */
static struct {
	int answer_error, detach_error;
	size_t reply_len;
	bool takes_fds;
	unsigned int answered, detached, num_fds, controls;
	uint8_t first; /* byte of the last body */
	size_t len;
	uint64_t fault_at, device_at; /* next work */
	bool has_more;
	mode_t mode;
} it;

/* Byte AT of each reply. */
static uint8_t reply_byte(size_t at)
{
	return (uint8_t)(at % 251);
}

int message_answer(struct device *device, struct message *message)
{
	assert_ptr_equal(device, &server->device);
	assert_int_equal(message->command, COMMAND);
	it.answered++;
	it.len = message->len;
	it.first = message->len ? message->body[0] : 0;
	it.num_fds = message->num_fds;
	if (it.takes_fds && message->num_fds) {
		close(message->fd[0]);
		message->fd[0] = -1;
	}
	for (size_t i = 0; i < it.reply_len; i++)
		message->reply[i] = reply_byte(i);
	message->reply_len = it.reply_len;
	return it.answer_error;
}

int device_detach(struct device *device)
{
	assert_ptr_equal(device, &server->device);
	it.detached++;
	return it.detach_error;
}

int device_init(struct device *device, const struct hca_config *config, uint32_t timeout_ms)
{
	(void)device, (void)config, (void)timeout_ms;
	return ENOMEM;
}

uint64_t device_progress(struct device *device, uint64_t now)
{
	(void)device, (void)now;
	return it.device_at;
}

void device_free(struct device *device)
{
	(void)device;
}

uint64_t faults_run(struct fault *fault, const struct faults_target *target, uint64_t now)
{
	(void)fault, (void)now;
	assert_int_equal(target->count, 1);
	assert_null(target->device_files);
	return it.fault_at;
}

int faults_create(const struct options *options, uint64_t now, struct fault **fault)
{
	(void)options, (void)now, (void)fault;
	return ENOMEM;
}

bool fabric_progress(struct fabric *fabric, uint64_t now)
{
	(void)fabric, (void)now;
	return it.has_more;
}

int fabric_fd(const struct fabric *fabric)
{
	(void)fabric;
	return -1;
}

int fabric_connect(struct fabric *fabric, bool ethernet, const char *network, const char *capture)
{
	(void)fabric, (void)ethernet, (void)network, (void)capture;
	return 0;
}

bool fabric_is_joined(const struct fabric *fabric)
{
	(void)fabric;
	return false;
}

unsigned int fabric_host_number(const struct fabric *fabric)
{
	(void)fabric;
	return 0;
}

void fabric_describe(struct fabric *fabric)
{
	(void)fabric;
}

int fabric_create(struct fabric **fabric)
{
	(void)fabric;
	return 0;
}

void fabric_destroy(struct fabric *fabric)
{
	(void)fabric;
}

int control_open(const char *path, int *fd)
{
	(void)path, (void)fd;
	return 0;
}

void control_close(const char *path, int fd)
{
	(void)path, (void)fd;
}

void control_receive(int fd, const struct control *control, uint64_t now, uint64_t objects)
{
	char byte;

	(void)now;
	assert_int_equal(objects, 9);
	assert_ptr_equal(control->host, server);
	assert_int_equal(read(fd, &byte, 1), 1);
	it.controls++;
}

uint64_t hca_count_objects(struct hca *hca)
{
	(void)hca;
	return 9;
}

enum hca_kind options_kind(const struct options *options, unsigned int index)
{
	(void)options, (void)index;
	return HCA_MLX5;
}

int socket_bind(int fd, const struct sockaddr *addr, socklen_t len, mode_t mode)
{
	it.mode = mode;
	return bind(fd, addr, len) ? errno : 0;
}

bool eventfd_start(void)
{
	return true;
}

int trace_open(const char *path, struct trace **trace)
{
	(void)path, (void)trace;
	return 0;
}

void trace_close(struct trace *trace)
{
	(void)trace;
}

void fault_destroy(struct fault *fault)
{
	(void)fault;
}

/* ---- the test's calls ---- */

static int server_begin(void **state)
{
	int pair[2];

	(void)state;
	memset(&it, 0, sizeof(it));
	it.fault_at = it.device_at = HCA_IDLE;
	server = calloc(1, sizeof(*server));
	assert_non_null(server);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	server->client_fd = pair[0];
	client = pair[1];
	server->listen_fd = server->signal_fd = server->control_fd = -1;
	return 0;
}

static int server_end(void **state)
{
	(void)state;
	assert_int_equal(server->num_fds, 0);
	if (server->client_fd >= 0)
		close(server->client_fd);
	if (client >= 0)
		close(client);
	free(server);
	return 0;
}

/* A message of the client's; SIZE is what its header says. */
static void client_sends(uint32_t size, uint32_t flags, size_t from, size_t to)
{
	uint8_t bytes[HEAD + BODY];
	const struct vfu_header header = {
		.id = 7, .command = COMMAND, .size = size, .flags = flags
	};

	memset(bytes, 0xab, sizeof(bytes));
	memcpy(bytes, &header, HEAD);
	assert_int_equal(send(client, bytes + from, to - from, 0), to - from);
}

static void client_sends_all(uint32_t flags)
{
	client_sends(HEAD + BODY, flags, 0, HEAD + BODY);
}

static void client_gets(struct vfu_header *header, size_t body)
{
	static uint8_t bytes[VFU_MAX_TRANSFER];

	assert_int_equal(recv(client, header, HEAD, MSG_WAITALL), HEAD);
	assert_int_equal(header->size, HEAD + body);
	assert_int_equal(body ? recv(client, bytes, body, MSG_WAITALL) : 0, body);
	for (size_t i = 0; i < body; i++)
		assert_int_equal(bytes[i], reply_byte(i));
}

static void client_gets_nothing(void)
{
	char byte;

	assert_int_equal(recv(client, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
}

/* ---- messages ---- */

static void a_message_is_answered_when_it_is_whole(void **state)
{
	struct vfu_header header;

	(void)state;
	it.reply_len = 24;
	assert_int_equal(serve_client(server), EAGAIN);
	for (size_t at = 0; at < HEAD + BODY; at += 4) {
		assert_int_equal(it.answered, 0);
		client_sends(HEAD + BODY, 0, at, at + 4);
		assert_int_equal(serve_client(server), EAGAIN);
	}
	assert_int_equal(it.answered, 1);
	assert_int_equal(it.len, BODY);
	assert_int_equal(it.first, 0xab);
	client_gets(&header, 24);
	assert_int_equal(header.id, 7);
	assert_int_equal(header.command, COMMAND);
	assert_int_equal(header.flags, VFU_TYPE_REPLY);
	assert_int_equal(header.error, 0);
}

static void a_refusal_has_the_errno_and_no_body(void **state)
{
	struct vfu_header header;

	(void)state;
	it.reply_len = 24;
	it.answer_error = ENOSPC;
	client_sends_all(0);
	assert_int_equal(serve_client(server), EAGAIN);
	client_gets(&header, 0);
	assert_int_equal(header.flags, VFU_TYPE_REPLY | VFU_ERROR);
	assert_int_equal(header.error, ENOSPC);
}

static void a_message_may_want_no_reply(void **state)
{
	(void)state;
	client_sends_all(VFU_NO_REPLY);
	client_sends(HEAD, VFU_NO_REPLY, 0, HEAD); /* without a body */
	assert_int_equal(serve_client(server), EAGAIN);
	assert_int_equal(it.answered, 2);
	assert_int_equal(it.len, 0);
	client_gets_nothing();
}

static void other_clients_are_not_served(void **state)
{
	static const struct {
		uint32_t size, flags;
	} wrong[] = { { HEAD - 1, 0 },
		      { 0, 0 },
		      { HEAD + MAX_BODY + 1, 0 },
		      { UINT32_MAX, 0 },
		      { HEAD, VFU_TYPE_REPLY },
		      { HEAD, 2 },
		      { HEAD, 0xf } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		client_sends(wrong[i].size, wrong[i].flags, 0, HEAD);
		assert_int_equal(serve_client(server), EPROTO);
		server->received = 0;
	}
	assert_int_equal(it.answered, 0);
	client_sends(HEAD + MAX_BODY, 0, 0, HEAD);
	assert_int_equal(serve_client(server), EAGAIN); /* the longest */
}

/* The others have to run as well. */
static void a_turn_has_a_number_of_messages(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < MESSAGES_PER_TURN + 1; i++)
		client_sends_all(VFU_NO_REPLY);
	assert_int_equal(serve_client(server), 0);
	assert_int_equal(it.answered, MESSAGES_PER_TURN);
	assert_int_equal(serve_client(server), EAGAIN);
	assert_int_equal(it.answered, MESSAGES_PER_TURN + 1);
}

static void no_message_is_read_while_a_reply_waits(void **state)
{
	int room = 4096;
	struct vfu_header header;

	(void)state;
	assert_int_equal(setsockopt(server->client_fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)),
			 0);
	it.reply_len = VFU_MAX_TRANSFER;
	client_sends_all(0);
	client_sends_all(0);
	assert_int_equal(serve_client(server), EAGAIN);
	assert_int_equal(it.answered, 1);
	assert_true(server->sent < server->to_send);
	assert_int_equal(serve_client(server), EAGAIN);
	assert_int_equal(it.answered, 1);
	assert_int_equal(recv(client, &header, HEAD, MSG_WAITALL), HEAD);
	assert_int_equal(header.size, HEAD + VFU_MAX_TRANSFER);
	for (size_t left = VFU_MAX_TRANSFER; left;) {
		uint8_t bytes[8192];
		size_t n = left < sizeof(bytes) ? left : sizeof(bytes);
		ssize_t got = recv(client, bytes, n, 0);

		assert_true(got > 0);
		for (ssize_t i = 0; i < got; i++)
			assert_int_equal(bytes[i], reply_byte(VFU_MAX_TRANSFER - left + (size_t)i));
		left -= (size_t)got;
		assert_int_equal(serve_client(server), EAGAIN);
	}
	assert_int_equal(it.answered, 2);
}

/* ---- descriptors ---- */

static unsigned int open_fds(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void fds_sent(unsigned int count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(16 * sizeof(int))];
	} control;
	const struct vfu_header header = { .command = COMMAND,
					   .size = HEAD,
					   .flags = VFU_NO_REPLY };
	struct iovec iov = { (void *)&header, HEAD };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = CMSG_SPACE(count * sizeof(int)) };
	struct cmsghdr *cmsg;

	memset(&control, 0, sizeof(control));
	cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(count * sizeof(int));
	for (unsigned int i = 0; i < count; i++)
		memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &client, sizeof(int));
	assert_int_equal(sendmsg(client, &msg, 0), HEAD);
}

static void descriptors_stay_with_their_message(void **state)
{
	unsigned int before = open_fds();

	(void)state;
	fds_sent(3);
	fds_sent(1);
	assert_int_equal(serve_client(server), EAGAIN);
	assert_int_equal(it.answered, 2);
	assert_int_equal(it.num_fds, 1);
	assert_int_equal(open_fds(), before); /* what nobody has taken is closed */
	it.takes_fds = true;
	fds_sent(2);
	assert_int_equal(serve_client(server), EAGAIN);
	assert_int_equal(it.num_fds, 2);
	assert_int_equal(open_fds(), before);
}

static void more_descriptors_than_a_message_has_are_closed(void **state)
{
	unsigned int before = open_fds();

	(void)state;
	fds_sent(VFU_MAX_FDS + 2);
	assert_int_equal(serve_client(server), EAGAIN);
	assert_int_equal(it.num_fds, VFU_MAX_FDS);
	assert_int_equal(open_fds(), before);
}

/* ---- clients ---- */

static void the_next_client_finds_a_new_adapter(void **state)
{
	(void)state;
	close(client);
	client = -1;
	assert_int_equal(turn_client(server), 0);
	assert_int_equal(it.detached, 1);
	assert_int_equal(server->client_fd, -1);
}

static void the_end_of_the_only_client_ends_the_server(void **state)
{
	(void)state;
	server->once = true;
	close(client);
	client = -1;
	assert_int_equal(turn_client(server), ECANCELED);
}

static void an_adapter_that_cannot_be_reset_ends_the_server(void **state)
{
	(void)state;
	it.detach_error = ENOMEM;
	close(client);
	client = -1;
	assert_int_equal(turn_client(server), ENOMEM);
}

static void a_client_connects_at_the_socket(void **state)
{
	char dir[] = "/tmp/server_test-XXXXXX";
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/socket", dir);
	assert_int_equal(listen_at(addr.sun_path, 0600, &server->listen_fd), 0);
	assert_int_equal(it.mode, 0600);
	assert_int_equal(stat(addr.sun_path, &st), 0);
	close(server->client_fd);
	close(client);
	server->client_fd = -1;
	assert_int_equal(accept_client(server), 0); /* nobody is there yet */
	assert_int_equal(server->client_fd, -1);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&addr, sizeof(addr)), 0);
	server->received = server->to_send = 5; /* of a client before */
	assert_int_equal(server_turn(server), 0);
	assert_true(server->client_fd >= 0);
	assert_int_equal(server->received, 0);
	assert_int_equal(server->to_send, 0);
	client_sends_all(0);
	assert_int_equal(server_turn(server), 0);
	assert_int_equal(it.answered, 1);
	assert_int_equal(it.detached, 0); /* it waits for the next message */
	close(server->listen_fd);
	unlink(addr.sun_path);
	rmdir(dir);
}

static void a_path_has_an_end(void **state)
{
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(listen_at(path, 0600, &server->listen_fd), ENAMETOOLONG);
	assert_int_equal(listen_at("/nowhere/socket", 0600, &server->listen_fd), ENOENT);
	assert_int_equal(server->listen_fd, -1);
}

/* ---- the loop ---- */

static void a_turn_sees_signals_and_faults(void **state)
{
	int pair[2];

	(void)state;
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(write(pair[1], "x", 1), 1);
	server->control_fd = pair[0];
	it.device_at = 0; /* it is not waited */
	assert_int_equal(server_turn(server), 0);
	assert_int_equal(it.controls, 1);
	server->control_fd = -1;
	assert_int_equal(write(pair[1], "x", 1), 1);
	server->signal_fd = pair[0];
	assert_int_equal(server_turn(server), ECANCELED);
	close(pair[0]);
	close(pair[1]);
}

static void the_next_work_is_the_earliest(void **state)
{
	(void)state;
	assert_true(server_progress(server) == HCA_IDLE);
	it.device_at = 500;
	assert_int_equal(server_progress(server), 500);
	it.fault_at = 400;
	assert_int_equal(server_progress(server), 400);
	it.fault_at = 600;
	assert_int_equal(server_progress(server), 500);
	it.has_more = true;
	assert_int_equal(server_progress(server), 0);
}

static void a_turn_waits_until_there_is_work(void **state)
{
	struct timespec left;
	uint64_t second = 1000000000, now = now_ns();

	(void)state;
	assert_null(time_left(HCA_IDLE, &left));
	assert_ptr_equal(time_left(now, &left), &left);
	assert_int_equal(left.tv_sec, 0);
	assert_int_equal(left.tv_nsec, 0);
	time_left(now + 1000 * second + second / 2, &left);
	assert_true(left.tv_sec >= 900 && left.tv_sec <= 1000);
	assert_true(left.tv_nsec >= 0 && left.tv_nsec < (long)second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, server_begin, server_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_message_is_answered_when_it_is_whole),
		TEST(a_refusal_has_the_errno_and_no_body),
		TEST(a_message_may_want_no_reply),
		TEST(other_clients_are_not_served),
		TEST(a_turn_has_a_number_of_messages),
		TEST(no_message_is_read_while_a_reply_waits),
		TEST(descriptors_stay_with_their_message),
		TEST(more_descriptors_than_a_message_has_are_closed),
		TEST(the_next_client_finds_a_new_adapter),
		TEST(the_end_of_the_only_client_ends_the_server),
		TEST(an_adapter_that_cannot_be_reset_ends_the_server),
		TEST(a_client_connects_at_the_socket),
		TEST(a_path_has_an_end),
		TEST(a_turn_sees_signals_and_faults),
		TEST(the_next_work_is_the_earliest),
		TEST(a_turn_waits_until_there_is_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
