/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * server.c - the main loop of softhca pci: serves one client's socket and runs the adapter.
 *
 * Nothing here blocks: a guest's CPU waits for each answer, and the adapter's timers run in this
 * thread too. Messages are read whole and one at a time, so that descriptors stay with their
 * message. No message is read while a reply waits to be sent.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "softhca/net/fabric.h"
#include "softhca/fault.h"
#include "softhca/front/control.h"
#include "softhca/front/eventfd.h"
#include "softhca/front/faults.h"
#include "softhca/front/socket_bind.h"
#include "softhca/front/pci/device.h"
#include "softhca/front/vfio-user/answer.h"
#include "softhca/front/vfio-user/server.h"
#include "softhca/log.h"
#include "softhca/trace.h"

#define MAX_MEMORY (4ull << 30) /* limit of this process' private memory */

enum { MAX_BODY = VFU_MAX_TRANSFER + 4096, MESSAGES_PER_TURN = 32 };

struct server {
	struct device device;
	struct fault *fault;
	bool once;
	int listen_fd, client_fd, signal_fd, control_fd;
	struct vfu_header header;
	uint8_t body[MAX_BODY];
	size_t received;
	int fd[VFU_MAX_FDS];
	unsigned int num_fds;
	struct vfu_header reply_header;
	uint8_t reply[MAX_BODY];
	size_t sent, to_send; /* bytes, with the header */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void close_fds(struct server *server)
{
	for (unsigned int i = 0; i < server->num_fds; i++)
		if (server->fd[i] >= 0)
			close(server->fd[i]);
	server->num_fds = 0;
}

static void keep_fds(struct server *server, struct msghdr *msg)
{
	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int fd;

		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(fd), sizeof(fd));
			if (server->num_fds < VFU_MAX_FDS)
				server->fd[server->num_fds++] = fd;
			else
				close(fd);
		}
	}
}

/* Returns the room for the next bytes of the message in *TO, and the number of bytes to read
 * there. */
static size_t message_room(struct server *server, void **to)
{
	if (server->received < sizeof(server->header)) {
		*to = (uint8_t *)&server->header + server->received;
		return sizeof(server->header) - server->received;
	}
	*to = server->body + (server->received - sizeof(server->header));
	return server->header.size - server->received;
}

static int check_header(const struct server *server)
{
	if (server->header.size >= sizeof(server->header) &&
	    server->header.size - sizeof(server->header) <= MAX_BODY &&
	    (server->header.flags & VFU_TYPE_MASK) == VFU_TYPE_COMMAND)
		return 0;
	log_error("pci: not a vfio-user command: size %u, flags %#x", server->header.size,
		  server->header.flags);
	return EPROTO;
}

/* Receives a message. Returns 0 when it is whole, EAGAIN before that, and ECONNRESET when the
 * client is gone. */
static int message_receive(struct server *server)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(VFU_MAX_FDS * sizeof(int))];
	} control;
	struct iovec iov;
	struct msghdr msg;
	ssize_t got;

	for (;;) {
		iov.iov_len = message_room(server, &iov.iov_base);
		if (!iov.iov_len)
			return 0;
		msg = (struct msghdr){ .msg_iov = &iov,
				       .msg_iovlen = 1,
				       .msg_control = &control,
				       .msg_controllen = sizeof(control) };
		got = recvmsg(server->client_fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (got <= 0)
			return got < 0 && (errno == EAGAIN || errno == EINTR) ? EAGAIN : ECONNRESET;
		keep_fds(server, &msg);
		server->received += (size_t)got;
		if (server->received == sizeof(server->header) && check_header(server))
			return EPROTO;
	}
}

/* Sends the reply. Returns 0 when it is sent, EAGAIN before that. */
static int send_reply(struct server *server)
{
	while (server->sent < server->to_send) {
		size_t head = sizeof(server->reply_header);
		struct iovec iov[2] = {
			{ (uint8_t *)&server->reply_header + server->sent, head - server->sent },
			{ server->reply, server->to_send - head },
		};
		struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
		ssize_t done;

		if (server->sent >= head) {
			iov[0].iov_len = 0;
			iov[1].iov_base = server->reply + (server->sent - head);
			iov[1].iov_len = server->to_send - server->sent;
		}
		done = sendmsg(server->client_fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (done < 0)
			return errno == EAGAIN || errno == EINTR ? EAGAIN : ECONNRESET;
		server->sent += (size_t)done;
	}
	return 0;
}

static int answer_client(struct server *server)
{
	struct message message = {
		.command = server->header.command,
		.body = server->body,
		.len = server->header.size - sizeof(server->header),
		.fd = server->fd,
		.num_fds = server->num_fds,
		.reply = server->reply,
	};
	int ret = message_answer(&server->device, &message);

	close_fds(server);
	server->received = 0;
	if (ret)
		log_note("pci: command %u refused: %s", message.command, strerror(ret));
	if (server->header.flags & VFU_NO_REPLY)
		return 0;
	server->reply_header = server->header;
	server->reply_header.flags = VFU_TYPE_REPLY | (ret ? VFU_ERROR : 0);
	server->reply_header.error = ret;
	server->reply_header.size = sizeof(server->reply_header) + (ret ? 0 : message.reply_len);
	server->sent = 0;
	server->to_send = server->reply_header.size;
	return send_reply(server);
}

/* Answers received messages. Returns 0 or EAGAIN to go on; any other value ends the connection. */
static int serve_client(struct server *server)
{
	int ret = send_reply(server);

	for (unsigned int i = 0; !ret && i < MESSAGES_PER_TURN; i++) {
		ret = message_receive(server);
		if (!ret)
			ret = answer_client(server);
	}
	return ret;
}

static int accept_client(struct server *server)
{
	server->client_fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (server->client_fd < 0)
		return errno == EAGAIN || errno == ECONNABORTED ? 0 : errno;
	server->received = server->sent = server->to_send = 0;
	log_note("pci: a client has connected");
	return 0;
}

/* Closes the client's connection, as its virtual machine has ended, and resets the device, so that
 * the next client finds a new adapter. */
static int drop_client(struct server *server)
{
	int ret;

	close_fds(server);
	close(server->client_fd);
	server->client_fd = -1;
	log_note("pci: the client has gone");
	ret = device_detach(&server->device);
	return ret || !server->once ? ret : ECANCELED;
}

static const struct timespec *time_left(uint64_t deadline, struct timespec *left)
{
	uint64_t now = now_ns();
	uint64_t ns = deadline > now ? deadline - now : 0;

	if (deadline == HCA_IDLE)
		return NULL;
	left->tv_sec = (time_t)(ns / 1000000000);
	left->tv_nsec = (long)(ns % 1000000000);
	return left;
}

static uint64_t run_faults(struct server *server, uint64_t now)
{
	const struct faults_target target = { &server->device.hca, 1, NULL, NULL };

	return faults_run(server->fault, &target, now);
}

static int faults_finish(void *server, uint64_t now)
{
	run_faults(server, now);
	return 0;
}

static void turn_control(struct server *server)
{
	const struct control control = { server->fault, faults_finish, server };

	control_receive(server->control_fd, &control, now_ns(),
			hca_count_objects(server->device.hca));
}

/* Runs faults that are due, packets from other hosts, and the adapter. Returns the time of the next
 * work. */
static uint64_t server_progress(struct server *server)
{
	uint64_t now = now_ns();
	uint64_t fault = run_faults(server, now);
	bool more = fabric_progress(server->device.config.fabric, now);
	/* Take the time after the packets, so that no completion has an earlier timestamp than its
	 * message's arrival. */
	uint64_t next = device_progress(&server->device, now_ns());

	if (more)
		return 0;
	return fault < next ? fault : next;
}

static int turn_client(struct server *server)
{
	int ret = serve_client(server);

	return ret && ret != EAGAIN ? drop_client(server) : 0;
}

/* Runs one turn of the loop. Returns 0 to go on, or ECANCELED at a signal to stop. */
static int server_turn(struct server *server)
{
	bool sending = server->sent < server->to_send;
	struct pollfd fds[4] = {
		{ .fd = server->signal_fd, .events = POLLIN },
		{ .fd = server->control_fd, .events = POLLIN },
		{ .fd = server->client_fd, .events = sending ? POLLOUT : POLLIN },
		{ .fd = fabric_fd(server->device.config.fabric), .events = POLLIN },
	};
	struct timespec left;

	if (server->client_fd < 0)
		fds[2] = (struct pollfd){ .fd = server->listen_fd, .events = POLLIN };
	if (ppoll(fds, 4, time_left(server_progress(server), &left), NULL) < 0)
		return errno == EINTR ? 0 : errno;
	if (fds[0].revents)
		return ECANCELED;
	if (fds[1].revents)
		turn_control(server);
	if (!fds[2].revents)
		return 0;
	return server->client_fd < 0 ? accept_client(server) : turn_client(server);
}

static int listen_at(const char *path, mode_t mode, int *out)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno;
	ret = socket_bind(fd, (struct sockaddr *)&addr, sizeof(addr), mode);
	if (!ret && listen(fd, 1))
		ret = errno;
	if (ret) {
		close(fd);
		return ret;
	}
	*out = fd;
	return 0;
}

static int watch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int server_run(struct server *server, const struct options *options,
		      const struct hca_config *config)
{
	int ret = device_init(&server->device, config, options->command_timeout_ms);

	eventfd_start();
	if (!ret)
		ret = listen_at(options->socket_path, options->socket_mode, &server->listen_fd);
	if (ret) {
		log_error("pci: %s: %s", options->socket_path, strerror(ret));
		goto free_device;
	}
	ret = control_open(options->socket_path, &server->control_fd);
	if (ret)
		goto close_listen;
	fabric_describe(config->fabric);
	server->client_fd = -1;
	server->signal_fd = watch_signals();
	while (!ret)
		ret = server_turn(server);
	if (server->client_fd >= 0)
		close(server->client_fd);
	close(server->signal_fd);
	control_close(options->socket_path, server->control_fd);
close_listen:
	close(server->listen_fd);
	unlink(options->socket_path);
free_device:
	device_free(&server->device);
	return ret == ECANCELED ? 0 : ret;
}

/* Limits the memory that a guest can make the adapter allocate. Beyond it, objects are refused as
 * on an adapter without memory. Memory that the client shares does not count. A sanitizer's own
 * memory does, and is too large, so that build sets no limit. */
static void limit_memory(void)
{
	const struct rlimit limit = { MAX_MEMORY, MAX_MEMORY };
	unsigned long long data = 0, skip;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return;
	if (fscanf(file, "%llu %llu %llu %llu %llu %llu", &skip, &skip, &skip, &skip, &skip,
		   &data) == 6 &&
	    data * (unsigned long long)sysconf(_SC_PAGESIZE) < MAX_MEMORY / 2)
		setrlimit(RLIMIT_DATA, &limit);
	fclose(file);
}

static int connect_fabric(struct hca_config *config, const struct options *options)
{
	int ret = fabric_connect(config->fabric, options->link_layer == HCA_LINK_ETHERNET,
				 options->network_path, options->pcap_path);

	if (fabric_is_joined(config->fabric))
		config->node_guid = fabric_guid(fabric_host_number(config->fabric), 0);
	return ret;
}

int pci_serve(const struct options *options)
{
	struct hca_config config = {
		.kind = options_kind(options, 0),
		.link_layer = options->link_layer,
		.grh_required = options->grh_required,
		.num_ports = options->ports,
		.node_guid = 0x0002c9fffe600000ull,
		.seed = options->seed,
		.limits = options->limits,
		.real_time = true,
		.kernel_driver = true,
		.name = "guest",
		.strict = options->reports,
	};
	struct server *server;
	int ret;

	limit_memory();
	server = calloc(1, sizeof(*server));
	ret = server ? faults_create(options, now_ns(), &config.fault) : ENOMEM;
	if (!ret)
		ret = fabric_create(&config.fabric);
	if (!ret)
		ret = connect_fabric(&config, options);
	if (!ret) {
		server->fault = config.fault;
		server->once = options->once;
	}
	if (!ret && options->trace_path)
		ret = trace_open(options->trace_path, &config.trace);
	if (!ret)
		ret = server_run(server, options, &config);
	if (ret)
		log_error("pci: %s", strerror(ret));
	if (config.fabric)
		fabric_destroy(config.fabric);
	trace_close(config.trace);
	fault_destroy(config.fault);
	free(server);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
