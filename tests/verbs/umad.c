/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad.c - files of /dev/infiniband/umad0 over time: queued datagrams of a program that does not
 * read, long datagrams without an end, a file closed while a thread reads it, an adapter that
 * fails. Datagrams go from one file to another of the same port. Limits are Linux'.
 *
 * Covers: softhca/front/process/umad/
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <rdma/ib_user_mad.h>

#include "tests/lib/control.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

enum {
	HEADER = sizeof(struct ib_user_mad_hdr_old),
	MAD = 256,
	SEND = 3, /* methods that want no answer */
	OTHER_SEND = 4,
	SHORT_CLASS = 9,
	LONG_CLASS = 0x30,
	OUI = 9,
	MOST_UNREAD = 200001,
	MORE_THAN_MOST = MOST_UNREAD + 5000,
	MOST_UNFINISHED = 1024, /* softhca's own, as the next two */
	MOST_SENDS = 4096,
	MOST_BYTES = 8 << 20,
	PARTS = 1000,
	WHOLE = MAD + (PARTS - 1) * (MAD - 40),
	WAIT_MS = 20000,
	PERFORMANCE_CLASS = 4,
	BATCH = 1024,
};

enum { DATA = 1, ACK = 2, ABORT = 4 };
enum { ACTIVE = 1, FIRST = 2, LAST = 4 };
enum { NO_RESOURCES = 1 };

struct packet {
	struct ib_user_mad_hdr_old hdr;
	uint8_t mad[MAD];
};

struct end {
	int fd;
	uint32_t agent;
};

static uint16_t own_lid(void)
{
	FILE *file = fopen("/sys/class/infiniband/mlx5_0/ports/1/lid", "r");
	unsigned int lid;

	MUST(file && fscanf(file, "%x", &lid) == 1);
	fclose(file);
	return (uint16_t)lid;
}

static struct end end_open(unsigned int class, unsigned int rmpp_version, int flags)
{
	struct ib_user_mad_reg_req req = { .qpn = 1,
					   .mgmt_class = (uint8_t) class,
					   .mgmt_class_version = class ? 1 : 0,
					   .rmpp_version = (uint8_t)rmpp_version };
	struct end end = { open("/dev/infiniband/umad0", O_RDWR | O_CLOEXEC | flags), 0 };

	if (class == LONG_CLASS)
		req.oui[2] = OUI;
	if (class)
		req.method_mask[0] = 1 << SEND | 1 << OTHER_SEND;
	MUST(end.fd >= 0 && !ioctl(end.fd, IB_USER_MAD_REGISTER_AGENT, &req));
	end.agent = req.id;
	return end;
}

static struct end sender_open(void)
{
	return end_open(0, 0, O_NONBLOCK);
}

static struct packet packet_make(const struct end *from, unsigned int class, uint32_t number)
{
	struct packet packet = { .hdr = { .id = from->agent,
					  .qpn = htobe32(1),
					  .qkey = htobe32(0x80010000),
					  .lid = htobe16(own_lid()) },
				 .mad = { 1, (uint8_t) class, 1, SEND } };

	number = htobe32(number);
	memcpy(packet.mad + 12, &number, sizeof(number));
	return packet;
}

static bool is_readable(int fd, int ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, ms) == 1 && poll_fd.revents & POLLIN;
}

/* Waits until all earlier datagrams have arrived. One exchange is enough, as the adapter answers in
 * order. */
static void batch_await(const struct end *from)
{
	struct packet packet = packet_make(from, PERFORMANCE_CLASS, 1);

	packet.hdr.timeout_ms = WAIT_MS;
	packet.mad[3] = 1;  /* Get */
	packet.mad[17] = 1; /* ClassPortInfo */
	MUST(write(from->fd, &packet, sizeof(packet)) == sizeof(packet));
	MUST(is_readable(from->fd, WAIT_MS));
	MUST(read(from->fd, &packet, sizeof(packet)) == sizeof(packet) && !packet.hdr.status);
}

static void unread_has_an_end(void)
{
	struct end from = sender_open(), to = end_open(SHORT_CLASS, 0, O_NONBLOCK);
	struct packet packet = packet_make(&from, SHORT_CLASS, 1);
	unsigned int count = 0;

	for (unsigned int i = 0; i < MORE_THAN_MOST; i++) {
		MUST(write(from.fd, &packet, sizeof(packet)) == sizeof(packet));
		if (i % BATCH == BATCH - 1)
			batch_await(&from);
	}
	batch_await(&from); /* or the last ones come when the first have been read */
	while (read(to.fd, &packet, sizeof(packet)) == sizeof(packet))
		count++;
	say_check(errno == EAGAIN && count == MOST_UNREAD, "%u datagrams are kept: %u", MOST_UNREAD,
		  count);
	packet = packet_make(&from, SHORT_CLASS, 2);
	say_check(!is_readable(to.fd, 0), "a file that was read to its end is not readable");
	MUST(write(from.fd, &packet, sizeof(packet)) == sizeof(packet));
	say_check(is_readable(to.fd, WAIT_MS), "then the next one comes");
	close(from.fd);
	close(to.fd);
}

static struct packet part_make(const struct end *from, uint32_t number, uint32_t segment,
			       unsigned int flags)
{
	struct packet packet = packet_make(from, LONG_CLASS, number);
	uint32_t length = htobe32(flags & LAST ? 220 : 440);

	packet.mad[24] = 1;
	packet.mad[25] = DATA;
	packet.mad[26] = (uint8_t)(ACTIVE | flags);
	segment = htobe32(segment);
	memcpy(packet.mad + 28, &segment, sizeof(segment));
	memcpy(packet.mad + 32, &length, sizeof(length));
	packet.mad[39] = OUI;
	return packet;
}

static void part_send(const struct end *from, struct packet packet, uint32_t timeout_ms)
{
	packet.hdr.timeout_ms = timeout_ms;
	MUST(write(from->fd, &packet, sizeof(packet)) == sizeof(packet));
}

/* Takes an answer of TYPE and STATUS, for SEGMENT. */
static bool is_answered(const struct end *from, unsigned int type, unsigned int status,
			uint32_t segment, int ms)
{
	struct packet packet;
	uint32_t got;

	if (!is_readable(from->fd, ms) ||
	    read(from->fd, &packet, sizeof(packet)) != sizeof(packet) || packet.hdr.status)
		return false;
	memcpy(&got, packet.mad + 28, sizeof(got));
	return packet.mad[25] == type && packet.mad[27] == status && be32toh(got) == segment;
}

static void last_acknowledge_is_repeated(void)
{
	struct end from = sender_open(), to = end_open(LONG_CLASS, 1, O_NONBLOCK);
	uint8_t whole[HEADER + 2 * MAD];

	part_send(&from, part_make(&from, 1, 1, FIRST), WAIT_MS);
	say_check(is_answered(&from, ACK, 0, 1, WAIT_MS), "the first part is acknowledged");
	part_send(&from, part_make(&from, 1, 2, LAST), WAIT_MS);
	say_check(is_answered(&from, ACK, 0, 2, WAIT_MS), "the last part is acknowledged");
	say_check(is_readable(to.fd, WAIT_MS) && read(to.fd, whole, sizeof(whole)) > HEADER + MAD,
		  "the whole is read");
	part_send(&from, part_make(&from, 1, 2, LAST), 2000);
	say_check(is_answered(&from, ACK, 0, 2, WAIT_MS),
		  "the last part comes again, and is acknowledged");
	say_check(!is_readable(to.fd, 0), "it is read once");
	close(from.fd);
	close(to.fd);
}

static void unfinished_have_a_limit(void)
{
	struct end from = sender_open(), to = end_open(LONG_CLASS, 1, O_NONBLOCK);

	for (uint32_t i = 0; i < MOST_UNFINISHED; i++)
		part_send(&from, part_make(&from, i, 1, FIRST), 0);
	batch_await(&from);
	part_send(&from, part_make(&from, MOST_UNFINISHED, 1, FIRST), WAIT_MS);
	say_check(is_answered(&from, ABORT, NO_RESOURCES, 0, WAIT_MS),
		  "one that is too many is refused");
	close(to.fd);
	close(from.fd);
}

static void long_send(const struct end *from, uint32_t number)
{
	for (uint32_t segment = 1; segment <= PARTS; segment++)
		part_send(from,
			  part_make(from, number, segment,
				    (segment == 1) * FIRST | (segment == PARTS) * LAST),
			  0);
	batch_await(from);
}

/* A file without a reader queues datagrams only until its room is used up, as a peer could
 * otherwise fill the server's memory. */
static void unread_long_ones_have_a_limit(void)
{
	struct end from = sender_open(), to = end_open(LONG_CLASS, 1, O_NONBLOCK);
	const uint32_t most = MOST_BYTES / WHOLE;
	static uint8_t whole[HEADER + WHOLE];
	uint32_t count = 0;

	for (uint32_t number = 1; number <= most + 1; number++)
		long_send(&from, number);
	while (read(to.fd, whole, sizeof(whole)) > 0)
		count++;
	say_check(count == most, "%u of %u bytes are kept: %u", most, WHOLE, count);
	long_send(&from, most + 2);
	say_check(is_readable(to.fd, WAIT_MS), "then the next one comes");
	close(to.fd);
	close(from.fd);
}

/* Two of one number are two when they differ in their method. */
static void others_parts_are_not_taken(void)
{
	struct end from = sender_open(), to = end_open(LONG_CLASS, 1, O_NONBLOCK);
	struct packet other = part_make(&from, 1, 1, FIRST);
	uint8_t whole[HEADER + 2 * MAD];

	part_send(&from, part_make(&from, 1, 1, FIRST), 0);
	other.mad[3] = OTHER_SEND;
	part_send(&from, other, 0);
	other = part_make(&from, 1, 2, LAST);
	other.mad[3] = OTHER_SEND;
	part_send(&from, other, 0);
	say_check(is_readable(to.fd, WAIT_MS) && read(to.fd, whole, sizeof(whole)) > HEADER + MAD &&
			  whole[HEADER + 3] == OTHER_SEND,
		  "a datagram has no part of one with another method");
	close(to.fd);
	close(from.fd);
}

/* Those that have come back count until they are read, as they take memory, too. */
static void waiting_requests_have_a_limit(uint32_t timeout_ms)
{
	struct end from = sender_open();
	unsigned int sent = 0;

	for (unsigned int i = 1; i <= MOST_SENDS + 1; i++) {
		struct packet packet = packet_make(&from, PERFORMANCE_CLASS, i);

		packet.hdr.lid = htobe16(own_lid() + 77);
		packet.hdr.timeout_ms = timeout_ms;
		packet.mad[3] = 1; /* Get */
		sent += write(from.fd, &packet, sizeof(packet)) == sizeof(packet);
	}
	say_check(sent == MOST_SENDS && errno == ENOMEM, "%u requests wait: %u", MOST_SENDS, sent);
	close(from.fd);
}

struct reader {
	pthread_t thread;
	int fd;
	pid_t tid;
};

static void *read_one(void *arg)
{
	struct reader *reader = arg;
	struct packet packet;

	__atomic_store_n(&reader->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	return (void *)(intptr_t)read(reader->fd, &packet, sizeof(packet));
}

/* Returns whether the thread sleeps, which it does in read() alone. */
static bool reader_sleeps(struct reader *reader)
{
	char path[64], text[512] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat",
		 (int)__atomic_load_n(&reader->tid, __ATOMIC_ACQUIRE));
	file = fopen(path, "re");
	state = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	if (file)
		fclose(file);
	return state && state[1] == ' ' && (state[2] == 'S' || state[2] == 'D');
}

/* The device has the call a little after Linux, so this waits: should it not, the test shows
 * less. */
static void reader_await(struct reader *reader)
{
	for (int i = 0; i < WAIT_MS && !reader_sleeps(reader); i++)
		usleep(1000);
	usleep(200000);
}

static void reader_outlives_the_descriptor(void)
{
	struct end from = sender_open(), to = end_open(SHORT_CLASS, 0, 0);
	struct packet packet = packet_make(&from, SHORT_CLASS, 3);
	struct reader reader = { .fd = to.fd };
	void *got;

	MUST(!pthread_create(&reader.thread, NULL, read_one, &reader));
	reader_await(&reader);
	close(to.fd);
	usleep(200000); /* so that the file would be gone */
	MUST(write(from.fd, &packet, sizeof(packet)) == sizeof(packet));
	alarm(WAIT_MS / 1000);
	MUST(!pthread_join(reader.thread, &got));
	alarm(0);
	say_check((intptr_t)got == sizeof(packet), "who reads a file that is closed reads on");
	to = (struct end){ -1, 0 };
	for (int i = 0; i < 100 && to.fd < 0; i++) { /* its class is free again in a while */
		struct ib_user_mad_reg_req req = { .method_mask = { 1 << SEND },
						   .qpn = 1,
						   .mgmt_class = SHORT_CLASS,
						   .mgmt_class_version = 1 };

		to.fd = open("/dev/infiniband/umad0", O_RDWR | O_CLOEXEC);
		MUST(to.fd >= 0);
		if (!ioctl(to.fd, IB_USER_MAD_REGISTER_AGENT, &req))
			break;
		close(to.fd);
		to.fd = -1;
		usleep(50000);
	}
	say_check(to.fd >= 0, "then the file goes");
	close(to.fd);
	close(from.fd);
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* The alarm comes again and again, so it does not matter when the thread begins to wait. */
static void signals_end_a_read(void)
{
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } }, never = { 0 };
	const struct sigaction handler = { .sa_handler = on_alarm };
	struct end end = end_open(SHORT_CLASS, 0, 0);
	struct sigaction before;
	struct packet packet;

	MUST(!sigaction(SIGALRM, &handler, &before) && !setitimer(ITIMER_REAL, &often, NULL));
	say_check(read(end.fd, &packet, sizeof(packet)) == -1 && errno == EINTR,
		  "a signal ends a read()");
	MUST(!setitimer(ITIMER_REAL, &never, NULL) && !sigaction(SIGALRM, &before, NULL));
	close(end.fd);
}

/* A byte in a descriptor of the program marks its file as readable. Without a free number to take
 * the descriptor by, softhca leaves the byte, so it takes it the next time. */
static void readiness_outlasts_a_lack_of_numbers(void)
{
	struct end from = sender_open(), to = end_open(SHORT_CLASS, 0, O_NONBLOCK);
	struct packet packet = packet_make(&from, SHORT_CLASS, 5);
	struct rlimit before, none;
	const char *pid_text = getenv("SOFTHCA_PID");
	pid_t pid = pid_text ? (pid_t)strtol(pid_text, NULL, 10) : 0;

	MUST(pid && write(from.fd, &packet, sizeof(packet)) == sizeof(packet));
	MUST(is_readable(to.fd, WAIT_MS) && !prlimit(pid, RLIMIT_NOFILE, NULL, &before));
	none = (struct rlimit){ 0, before.rlim_max };
	MUST(!prlimit(pid, RLIMIT_NOFILE, &none, NULL));
	say_check(read(to.fd, &packet, sizeof(packet)) == sizeof(packet), "what is there is read");
	MUST(!prlimit(pid, RLIMIT_NOFILE, &before, NULL));
	say_check(is_readable(to.fd, 0), "the file looks as if there were more");
	say_check(read(to.fd, &packet, sizeof(packet)) == -1 && errno == EAGAIN,
		  "which a read() finds is not so");
	say_check(!is_readable(to.fd, 0), "from then on it looks empty");
	packet = packet_make(&from, SHORT_CLASS, 6);
	MUST(write(from.fd, &packet, sizeof(packet)) == sizeof(packet));
	say_check(is_readable(to.fd, WAIT_MS) &&
			  read(to.fd, &packet, sizeof(packet)) == sizeof(packet),
		  "the next datagram shows");
	close(to.fd);
	close(from.fd);
}

static void death_is_told(void)
{
	struct end end = end_open(SHORT_CLASS, 0, O_NONBLOCK), idle = sender_open();
	struct packet packet = packet_make(&end, SHORT_CLASS, 4);
	struct ib_user_mad_reg_req req = { .qpn = 1 };
	struct pollfd poll_fd = { .fd = end.fd, .events = POLLIN };

	adapter_tell("kill");
	say_check(poll(&poll_fd, 1, WAIT_MS) == 1, "poll() returns");
	say_check(read(end.fd, &packet, sizeof(packet)) == -1 && errno == EIO, "read(): EIO");
	say_check(read(idle.fd, &packet, HEADER - 1) == -1 && errno == EINVAL,
		  "of too few bytes: EINVAL");
	say_check(write(end.fd, &packet, sizeof(packet)) == -1 && errno == EIO, "write(): EIO");
	say_check(ioctl(end.fd, IB_USER_MAD_REGISTER_AGENT, &req) && errno == EPIPE,
		  "another agent: EPIPE");
	say_check(ioctl(end.fd, IB_USER_MAD_UNREGISTER_AGENT, &end.agent) && errno == EINVAL,
		  "the agent has gone: EINVAL");
	say_check(!close(end.fd) && !close(idle.fd), "the files are closed");
}

static void requests_have_limits(void)
{
	waiting_requests_have_a_limit(WAIT_MS);
	waiting_requests_have_a_limit(1);
}

static void long_datagrams(void)
{
	last_acknowledge_is_repeated();
	unfinished_have_a_limit();
	unread_long_ones_have_a_limit();
	others_parts_are_not_taken();
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = {
		{ "unread", unread_has_an_end },
		{ "long-datagrams", long_datagrams },
		{ "requests", requests_have_limits },
		{ "closing", reader_outlives_the_descriptor },
		{ "signals", signals_end_a_read },
		{ "no-numbers", readiness_outlasts_a_lack_of_numbers },
		{ "death", death_is_told }, /* the adapter's, so it is the last */
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
