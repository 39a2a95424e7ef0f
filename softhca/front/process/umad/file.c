/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file.c - files of umad and issm: open, read, close.
 *
 * The program has one end of a socket pair, in which there is a byte while it can read, so that
 * poll() works.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "prm/mlx5/vport.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/node.h"
#include "softhca/front/process/umad/umad.h"
#include "softhca/log.h"
#include "util/bits.h"

enum {
	MAX_PACKETS = 200001, /* Linux' limit of unread datagrams */
	LOOK_MS = 500,
};

static LIST_HEAD(, umad_file) files = LIST_HEAD_INITIALIZER(files);

/* Ends all agents of the adapter, as Linux does. Files stay until they are closed, and readers that
 * sleep in read() sleep on. */
static void adapter_died(struct adapter *adapter)
{
	struct umad_file *file;

	LIST_FOREACH(file, &files, in_all) {
		if (file->adapter != adapter || file->is_dead)
			continue;
		file->is_dead = true;
		for (unsigned int i = 0; i < UMAD_MAX_AGENTS; i++)
			umad_agent_end(file, i);
		shutdown(file->watch.fd, SHUT_WR);
	}
}

static void manager_show(const struct umad_file *file, bool present)
{
	adapter_show_manager(file->adapter, file->port, present);
}

static void file_close(struct umad_file *file)
{
	struct umad_packet *packet;
	struct umad_reader *reader;

	for (unsigned int i = 0; i < UMAD_MAX_AGENTS; i++)
		umad_agent_end(file, i);
	while ((packet = STAILQ_FIRST(&file->packets))) {
		STAILQ_REMOVE_HEAD(&file->packets, entry);
		free(packet);
	}
	while ((reader = STAILQ_FIRST(&file->readers))) {
		STAILQ_REMOVE_HEAD(&file->readers, entry);
		call_deferred_forget(&reader->call);
		free(reader);
	}
	if (file->manager)
		manager_show(file, false);
	LIST_REMOVE(file, in_all);
	timer_stop(&file->timer);
	if (!file->is_closed)
		watch_remove(&file->watch);
	close(file->watch.fd);
	free(file);
}

static void reader_drop(struct umad_file *file, struct umad_reader *reader)
{
	STAILQ_REMOVE(&file->readers, reader, umad_reader, entry);
	call_deferred_forget(&reader->call);
	free(reader);
}

static bool has_reader(struct umad_file *file)
{
	struct umad_reader *next;

	for (struct umad_reader *one = STAILQ_FIRST(&file->readers); one; one = next) {
		next = STAILQ_NEXT(one, entry);
		if (!call_deferred_is_alive(&one->call))
			reader_drop(file, one);
	}
	return !STAILQ_EMPTY(&file->readers);
}

static void file_look(struct timer *timer)
{
	struct umad_file *file = container_of(timer, struct umad_file, timer);

	if (has_reader(file))
		timer_start(timer, timer_now() + LOOK_MS * NS_PER_MS);
	else
		file_close(file);
}

/* Closes the file when the program has closed its end. As in the kernel, a thread that sleeps in
 * read() keeps it open. */
static void file_ready(struct watch *watch, uint32_t events)
{
	struct umad_file *file = (struct umad_file *)watch;

	if (!(events & (EPOLLERR | EPOLLHUP)))
		return;
	if (!has_reader(file)) {
		file_close(file);
		return;
	}
	watch_remove(&file->watch);
	file->is_closed = true;
	timer_start(&file->timer, timer_now() + LOOK_MS * NS_PER_MS);
}

static int file_new(struct adapter *adapter, unsigned int port, int flags, struct umad_file **out,
		    int *other)
{
	struct umad_file *file = calloc(1, sizeof(*file));
	struct stat st;
	int fd[2], ret;

	if (!file)
		return ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)) {
		ret = errno;
		goto free_file;
	}
	if (fstat(fd[0], &st) || fcntl(fd[0], F_SETFL, flags) ||
	    fcntl(fd[1], F_SETFL, O_NONBLOCK)) {
		ret = errno;
		goto close_pair;
	}
	file->watch = (struct watch){ fd[1], file_ready };
	file->timer.expired = file_look;
	file->adapter = adapter;
	file->port = port;
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	STAILQ_INIT(&file->packets);
	STAILQ_INIT(&file->readers);
	LIST_INIT(&file->sends);
	LIST_INIT(&file->assemblies);
	ret = watch_add(&file->watch, 0);
	if (ret)
		goto close_pair;
	LIST_INSERT_HEAD(&files, file, in_all);
	*other = fd[0];
	*out = file;
	return 0;
close_pair:
	close(fd[0]);
	close(fd[1]);
free_file:
	free(file);
	return ret;
}

static struct umad_file *open_file(struct call *call, struct adapter *adapter, unsigned int port,
				   uint64_t flags)
{
	struct umad_file *file = NULL;
	int fd = -1, number;
	int ret = fd_number_pick(call->tid, &number);

	if (!ret)
		ret = file_new(adapter, port, flags & O_NONBLOCK, &file, &fd);
	if (ret) {
		call_fail(call, ret);
		return NULL;
	}
	log_note("umad: port %u of %s opened by thread %d", port, adapter->name, call->tid);
	fd_number_return(call, fd, flags & O_CLOEXEC, number);
	close(fd);
	return file;
}

static struct adapter *adapter_of(const struct daemon *daemon, unsigned int index)
{
	return daemon->adapters[index / daemon->options->ports];
}

static unsigned int port_of(const struct daemon *daemon, unsigned int index)
{
	return index % daemon->options->ports + 1;
}

static bool device_exists(const struct daemon *daemon, unsigned int index)
{
	return index < daemon->num_adapters * daemon->options->ports;
}

static void device_open(struct call *call, unsigned int index, uint64_t flags)
{
	open_file(call, adapter_of(call->daemon, index), port_of(call->daemon, index), flags);
}

static bool manager_exists(const struct daemon *daemon, unsigned int index)
{
	return device_exists(daemon, index) && !adapter_is_roce(adapter_of(daemon, index));
}

/* Opens an issm file. While it is open, the port announces a subnet manager. Only one file of a
 * port can be open: another open() fails at once, while in Linux it waits. */
static void manager_open(struct call *call, unsigned int index, uint64_t flags)
{
	struct adapter *adapter = adapter_of(call->daemon, index);
	unsigned int port = port_of(call->daemon, index);
	struct umad_file *file;

	LIST_FOREACH(file, &files, in_all) {
		if (!file->manager || file->adapter != adapter || file->port != port)
			continue;
		call_fail(call, EAGAIN);
		return;
	}
	file = open_file(call, adapter, port, flags);
	if (!file)
		return;
	file->manager = true;
	manager_show(file, true);
}

static struct umad_file *file_find(const struct stat *st)
{
	struct umad_file *file;

	LIST_FOREACH(file, &files, in_all)
		if (file->ino == st->st_ino && file->dev == st->st_dev)
			return file;
	return NULL;
}

static int index_of(const struct stat *st, bool manager)
{
	const struct umad_file *file = file_find(st);

	return file && file->manager == manager ? (int)adapter_port_index(file->adapter, file->port)
						: -1;
}

static int device_of_file(const struct stat *st)
{
	return index_of(st, false);
}

static int manager_of_file(const struct stat *st)
{
	return index_of(st, true);
}

void umad_start(void)
{
	static struct node_kind device = {
		.path = "/dev/infiniband/umad",
		.for_owner = true,
		.major = UMAD_MAJOR,
		.first_minor = UMAD_FIRST_MINOR,
		.exists = device_exists,
		.open = device_open,
		.find = device_of_file,
	};
	static struct node_kind manager = {
		.path = "/dev/infiniband/issm",
		.for_owner = true,
		.major = UMAD_MAJOR,
		.first_minor = ISSM_FIRST_MINOR,
		.exists = manager_exists,
		.open = manager_open,
		.find = manager_of_file,
	};

	node_register(&device);
	node_register(&manager);
	gsi_show(umad_take, adapter_died);
}

struct umad_file *umad_file_next(struct umad_file *after, const struct adapter *adapter,
				 unsigned int port)
{
	struct umad_file *file = after ? LIST_NEXT(after, in_all) : LIST_FIRST(&files);

	while (file && (file->manager || file->adapter != adapter || file->port != port))
		file = LIST_NEXT(file, in_all);
	return file;
}

void umad_stop(void)
{
	struct umad_file *file;

	while ((file = LIST_FIRST(&files)))
		file_close(file);
}

/* Copies a datagram to the program. Returns the number of bytes, or minus an errno. If a long
 * datagram does not fit, copies its beginning, which states the length. */
static int64_t packet_copy(pid_t tid, const struct umad_file *file,
			   const struct umad_packet *packet, uint64_t address, size_t room)
{
	size_t header = umad_header_size(file);
	size_t first = packet->len < MAD_SIZE ? packet->len : MAD_SIZE;
	bool fits = room >= header + packet->len;

	if (room < header + first)
		return -EINVAL;
	if (client_write(tid, address, &packet->hdr, header) ||
	    client_write(tid, address + header, packet->bytes, fits ? packet->len : first))
		return -EFAULT;
	return fits ? (int64_t)(header + packet->len) : -ENOSPC;
}

static void token_put(struct umad_file *file)
{
	file->has_token |= send(file->watch.fd, "", 1, MSG_NOSIGNAL) == 1;
	if (!file->has_token)
		log_note("umad: a program is not told that it can read");
}

/* Reads the token byte from FD, the caller's end of the socket. If softhca has no free descriptor
 * for a copy of FD, the byte stays until the next call. */
static void token_take(struct umad_file *file, pid_t tid, int fd)
{
	int copy = client_fd_copy_of(tid, fd, file->dev, file->ino);
	char byte;

	if (copy < 0)
		return;
	if (recv(copy, &byte, 1, MSG_DONTWAIT) != 1)
		log_note("umad: no byte for a datagram");
	file->has_token = false;
	close(copy);
}

static bool is_nonblocking(struct call *call)
{
	int fd = caller_fd_copy(call, call_arg_int(call, 0));
	int flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);

	if (fd >= 0)
		close(fd);
	return flags & O_NONBLOCK;
}

static int64_t read_wait(struct call *call, struct umad_file *file)
{
	struct umad_reader *reader;

	if (is_nonblocking(call))
		return -EAGAIN;
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	has_reader(file); /* drops interrupted readers */
	reader->address = call_arg(call, 1);
	reader->room = call_arg(call, 2);
	call_defer(call, &reader->call);
	STAILQ_INSERT_TAIL(&file->readers, reader, entry);
	return 0;
}

static int64_t read_packet(struct call *call, struct umad_file *file)
{
	struct umad_packet *packet = STAILQ_FIRST(&file->packets);
	size_t room = call_arg(call, 2);
	int64_t ret;

	if (room < umad_header_size(file))
		return -EINVAL;
	if (file->is_dead)
		return -EIO;
	if (!packet && file->has_token)
		token_take(file, call->tid, call_arg_int(call, 0));
	if (!packet)
		return read_wait(call, file);
	if (!caller_is_alive(call))
		return -EFAULT;
	ret = packet_copy(call->tid, file, packet, call_arg(call, 1), room);
	if (ret < 0)
		return ret;
	STAILQ_REMOVE_HEAD(&file->packets, entry);
	file->packet_count--;
	file->packet_bytes -= packet->len;
	file->failed_count -= packet->failed;
	free(packet);
	if (STAILQ_EMPTY(&file->packets))
		token_take(file, call->tid, call_arg_int(call, 0));
	return ret;
}

static struct umad_file *file_of(struct call *call)
{
	struct stat st;

	return client_fd_stat(call->tid, call_arg_int(call, 0), &st) ? NULL : file_find(&st);
}

static void call_finish(struct call *call, int64_t ret)
{
	if (call->answered)
		return;
	if (ret < 0)
		call_fail(call, (int)-ret);
	else
		call_return(call, ret);
}

void umad_read(struct call *call)
{
	struct umad_file *file = file_of(call);

	if (file && file->manager)
		call_fail(call, EINVAL);
	else if (file)
		call_finish(call, read_packet(call, file));
}

/* Gives the datagram to a thread that waits in read(). Returns false if no thread waits. */
static bool give_to_reader(struct umad_file *file, const struct umad_packet *packet)
{
	struct umad_reader *reader;
	int64_t ret;

	while ((reader = STAILQ_FIRST(&file->readers))) {
		if (!call_deferred_is_alive(&reader->call)) {
			reader_drop(file, reader);
			continue;
		}
		STAILQ_REMOVE_HEAD(&file->readers, entry);
		ret = packet_copy(reader->call.tid, file, packet, reader->address, reader->room);
		call_deferred_return(&reader->call, ret);
		free(reader);
		if (ret >= 0)
			return true;
	}
	return false;
}

void umad_file_deliver(struct umad_file *file, const struct ib_user_mad_hdr *hdr, bool failed,
		       const void *bytes, size_t len)
{
	struct umad_packet *packet;

	if (!failed && file->packet_count >= MAX_PACKETS) {
		log_note("umad: a datagram is lost: no program reads the file");
		return;
	}
	packet = malloc(sizeof(*packet) + len);
	if (!packet) {
		log_error("umad: a datagram is lost: %s", strerror(ENOMEM));
		return;
	}
	packet->hdr = *hdr;
	if (!failed)
		packet->hdr.length = (uint32_t)(umad_header_size(file) + len);
	packet->len = len;
	packet->failed = failed;
	memcpy(packet->bytes, bytes, len);
	if (give_to_reader(file, packet)) {
		free(packet);
		return;
	}
	if (!file->has_token)
		token_put(file);
	STAILQ_INSERT_TAIL(&file->packets, packet, entry);
	file->packet_count++;
	file->packet_bytes += len;
	file->failed_count += failed;
}

void umad_write(struct call *call)
{
	struct umad_file *file = file_of(call);
	size_t len = call_arg(call, 2);
	int ret;

	if (!file)
		return;
	ret = file->manager ? EINVAL : umad_send(call, file, call_arg(call, 1), len);
	call_finish(call, ret ? -ret : (int64_t)len);
}

static int enable_pkey(struct umad_file *file)
{
	if (file->used)
		return EINVAL;
	file->has_pkey_index = true;
	return 0;
}

static int run_ioctl(struct call *call, struct umad_file *file)
{
	switch ((uint32_t)call_arg(call, 1)) {
	case IB_USER_MAD_REGISTER_AGENT:
		return file->is_dead ? EPIPE : umad_register(call, file);
	case IB_USER_MAD_REGISTER_AGENT2:
		return file->is_dead ? EPIPE : umad_register2(call, file);
	case IB_USER_MAD_UNREGISTER_AGENT:
		return umad_unregister(call, file);
	case IB_USER_MAD_ENABLE_PKEY:
		return enable_pkey(file);
	default:
		return ENOTTY;
	}
}

void umad_ioctl(struct call *call)
{
	struct umad_file *file = file_of(call);

	if (file)
		call_finish(call, -(file->manager ? ENOTTY : run_ioctl(call, file)));
}
