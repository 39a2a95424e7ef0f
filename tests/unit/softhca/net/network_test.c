/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * network_test.c - two hosts of one network: RC over packets, some lost or late; hosts that join
 * and leave; hostile messages.
 *
 * Covers: softhca/net/network.c, softhca/net/uplink.c, softhca/net/accept.c,
 * softhca/net/directory.c, softhca/net/route.c, softhca/net/inventory.c, softhca/net/pcap.c
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softhca/net/directory.h"
#include "softhca/net/network.h"
#include "exchange.h"
#include "util/bits.h"

enum { SENT = 10001, BULK = 300000 };

static const struct flat_qp_attr patient = { .retry = 7, .rnr_retry = 7, .mtu = 5 };

static void run_with(const char *fault)
{
	if (fault)
		assert_int_equal(fault_add(flat.fault, fault, flat.now), 0);
	pair(&patient, EXCHANGE_MEMORY);
	exchange_post(SENT, BULK);
	flat_run(20ull * LONG);
	exchange_check(SENT, BULK);
	unpair();
}

static void each_operation_crosses_the_network(void **state)
{
	(void)state;
	run_with(NULL);
}

/* Returns the next packet to lose: all of the first 12, which are short operations, then every
 * 13th. */
static int next_packet(int n)
{
	return n < 12 ? n + 1 : n + 13;
}

enum { LAST = 180 }; /* approximate number of packets of the exchange */

static void any_one_packet_may_be_lost(void **state)
{
	char text[32];

	for (int n = 1; n <= LAST; n = next_packet(n)) {
		flat_teardown(state);
		flat_setup_network(state);
		snprintf(text, sizeof(text), "loss:%d", n);
		run_with(text);
	}
}

static void any_one_packet_may_be_late(void **state)
{
	char text[32];

	for (int n = 1; n <= LAST; n = next_packet(n)) {
		flat_teardown(state);
		flat_setup_network_roce(state);
		snprintf(text, sizeof(text), "late:%d", n);
		run_with(text);
	}
}

/* Runs the exchange under several shares of lost and late packets. */
static void many_losses(void **state, int (*setup)(void **state))
{
	char text[32];

	for (int n = 1; n < 20; n += 5) {
		flat_teardown(state);
		setup(state);
		snprintf(text, sizeof(text), "late:%d.5%%", n / 4);
		assert_int_equal(fault_add(flat.fault, text, 0), 0);
		snprintf(text, sizeof(text), "loss:%d.%d%%", n / 4, n);
		run_with(text);
	}
}

static void many_packets_may_be_lost_and_late(void **state)
{
	many_losses(state, flat_setup_network);
}

static void many_packets_may_be_lost_and_late_on_roce(void **state)
{
	many_losses(state, flat_setup_network_roce);
}

/* Within one host, messages stay whole unless faults are to hit packets. */
static void packets_are_lost_on_one_host_too(void **state)
{
	(void)state;
	assert_int_equal(fault_add(flat.fault, "late:1%", flat.now), 0);
	run_with("loss:2%");
}

/* Returns the number of packets of OPCODE in an InfiniBand capture; -1 counts all. */
static unsigned int captured(const char *path, int opcode)
{
	enum { MAGIC = 0xa1b23c4d, LINKTYPE = 197, BTH = 16 + 8 };
	uint32_t head[6], packet[4];
	uint8_t bytes[8192];
	unsigned int count = 0;
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(fread(head, sizeof(head), 1, file), 1);
	assert_int_equal(head[0], MAGIC);
	assert_int_equal(head[5], LINKTYPE);
	while (fread(packet, sizeof(packet), 1, file) == 1) {
		assert_in_range(packet[2], 26, sizeof(bytes));
		assert_int_equal(packet[2], packet[3]);
		assert_int_equal(fread(bytes, packet[2], 1, file), 1);
		count += opcode < 0 || bytes[BTH] == opcode;
	}
	fclose(file);
	return count;
}

static void acknowledges_are_few(void **state)
{
	enum { WRITE_FIRST = 0x06, WRITE_MIDDLE = 0x07, WRITE_LAST = 0x08, ACK = 0x11 };
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s.pcap", flat.network[0] ? flat.network : "/tmp/flat-local");
	assert_int_equal(fabric_connect(flat.fabric, false, NULL, path), 0);
	pair(NULL, 256 * 1024);
	write_to(to, rkey, from, 256 * 1024);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	unpair();
	assert_int_equal(captured(path, WRITE_FIRST), 1);
	assert_int_equal(captured(path, WRITE_MIDDLE), 254);
	assert_int_equal(captured(path, WRITE_LAST), 1);
	assert_int_equal(captured(path, ACK), 1);
	assert_int_equal(captured(path, -1), 257);
	unlink(path);
}

static void open_host(bool ethernet, struct fabric **fabric, int expect)
{
	assert_int_equal(fabric_create(fabric), 0);
	assert_int_equal(fabric_connect(*fabric, ethernet, flat.network, NULL), expect);
}

static void numbers_are_given_again(void **state)
{
	struct fabric *third, *fourth;

	(void)state;
	assert_int_equal(fabric_host_number(flat.fabric), 0);
	assert_int_equal(fabric_host_number(flat.far_fabric), 1);
	open_host(false, &third, 0);
	open_host(false, &fourth, 0);
	assert_int_equal(fabric_host_number(third), 2);
	assert_int_equal(fabric_host_number(fourth), 3);
	fabric_destroy(third);
	open_host(false, &third, 0);
	assert_int_equal(fabric_host_number(third), 2);
	fabric_destroy(third);
	fabric_destroy(fourth);
	run_with(NULL);
}

static void other_link_layer_is_refused(void **state)
{
	struct fabric *other;

	(void)state;
	open_host(true, &other, EPROTOTYPE);
	fabric_destroy(other);
	run_with(NULL);
}

/* A killed process leaves its socket's file behind; a new one with the same number replaces it. */
static void file_of_a_dead_host_is_replaced(void **state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct fabric *third;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/2.ib", flat.network);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	open_host(false, &third, 0);
	assert_int_equal(fabric_host_number(third), 2);
	fabric_destroy(third);
}

static void remove_network(void)
{
	char lock[64];

	snprintf(lock, sizeof(lock), "%s/lock", flat.network);
	unlink(lock);
	assert_int_equal(rmdir(flat.network), 0);
}

static void peer_that_has_left_is_silent(void **state)
{
	(void)state;
	pair(NULL, 4096);
	hca_destroy(flat.hca[1]);
	fabric_destroy(flat.far_fabric);
	write_to(to, rkey, from, 8);
	flat.hca[1] = flat.hca[0]; /* for flat_run(), which expects two */
	flat.far_fabric = NULL;
	flat_run(10ull * LONG);
	flat_expect_error(a->send_cq, REQ_ERR, 0, RETRY_EXCEEDED);
	unpair();
	hca_destroy(flat.hca[0]);
	fabric_destroy(flat.fabric);
	remove_network();
	fault_destroy(flat.fault);
	free(flat.mem);
	flat_setup(state); /* for flat_teardown() */
}

static void remove_host(unsigned int number)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%u.ib", flat.network, number);
	unlink(path);
}

static int call_host(unsigned int number)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%u.ib", flat.network, number);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void strangers_are_sent_away(void **state)
{
	static const uint32_t nonsense[][4] = {
		{ 0 },
		{ 12, 1, 2, 3 },
		{ 0xffffffff, 0xffffffff },
		{ 12, 0x52444d4e, 1, 7 }, /* host of the other link layer */
		{ 12, 0x52444d4e, 0, 0 }, /* the number of the called host itself */
		{ 12, 0x52444d4e, 0, 999 },
		{ 8, 0x52444d4e, 0, 7 },
	};
	char byte;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++) {
		int fd = call_host(0);

		assert_int_equal(write(fd, nonsense[i], 16), 16);
		flat_run(LONG);
		assert_int_equal(recv(fd, &byte, 1, 0), 0);
		close(fd);
	}
	run_with(NULL);
}

/* A program may start softhca without a standard input. */
static void a_caller_may_get_descriptor_0(void **state)
{
	static const uint32_t nonsense[4] = { 0 };
	int fd = call_host(0), input = dup(0);
	char byte;

	(void)state;
	close(0);
	assert_int_equal(write(fd, nonsense, sizeof(nonsense)), sizeof(nonsense));
	flat_run(LONG);
	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	if (input >= 0) {
		assert_int_equal(dup2(input, 0), 0);
		close(input);
	}
	close(fd);
}

/* A waiting connection would keep the listener readable, and the loop busy, for ever. */
static void who_finds_no_descriptor_is_turned_away(void **state)
{
	int fd = call_host(0), next = dup(fd);
	struct rlimit few, was;
	char byte;

	(void)state;
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = (struct rlimit){ next, was.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	flat_run(LONG);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
	close(fd);
	run_with(NULL);
}

static int listen_as(unsigned int number)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%u.ib", flat.network, number);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

/* Greets host 0 as host NUMBER, from another process than the one of host NUMBER. Returns whether
 * host 0 hangs up. */
static bool impostor_is_refused(uint32_t number)
{
	const uint32_t greeting[4] = { 12, 0x52444d4e, 0, number };
	int fd = call_host(0), status;
	pid_t child;
	char byte;

	close(fd); /* made by this process */
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		fd = call_host(0);
		_exit(write(fd, greeting, 16) != 16 || fcntl(fd, F_SETFL, 0) ||
		      recv(fd, &byte, 1, 0) != 0);
	}
	for (int i = 0; i < 200 && waitpid(child, &status, WNOHANG) == 0; i++) {
		flat_run(LONG);
		usleep(10000);
	}
	if (kill(child, SIGKILL) == 0)
		waitpid(child, &status, 0);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Otherwise anyone could take over the packets to a host. */
static void a_number_belongs_to_the_process_of_its_socket(void **state)
{
	int host;

	(void)state;
	assert_true(impostor_is_refused(1));
	host = listen_as(9);
	assert_true(impostor_is_refused(9));
	close(host);
	remove_host(9);
	run_with(NULL);
}

/* A host introduces itself correctly, and then sends random bytes. */
static void noise_does_no_harm(void **state)
{
	static const uint32_t greeting[4] = { 12, 0x52444d4e, 0, 9 };
	uint8_t packet[4 + 200];
	uint32_t seed = 1, len;
	int fd = call_host(0), own = listen_as(9);

	(void)state;
	assert_int_equal(write(fd, greeting, 16), 16);
	for (int round = 0; round < 4000; round++) {
		for (int i = 4; i < (int)sizeof(packet); i++) {
			seed = seed * 1664525 + 1013904223;
			packet[i] = seed >> 24;
		}
		len = 1 + seed % 200;
		memcpy(packet, &len, 4);
		if (write(fd, packet, 4 + len) < 0)
			assert_int_equal(errno, EAGAIN);
		flat_run(0);
	}
	close(fd);
	close(own);
	remove_host(9);
	run_with(NULL);
}

/* A user that may only read the directory must not be able to hold the lock, as hosts would wait
 * for it. */
static void the_lock_takes_the_right_to_write(void **state)
{
	char path[64];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/lock", flat.network);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0044, 0);
}

/* A file of an earlier version could be read by all, so it loses that right. */
static void an_older_lock_loses_the_right_to_read(void **state)
{
	struct fabric *third;
	char path[64];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/lock", flat.network);
	assert_int_equal(chmod(path, 0644), 0);
	open_host(false, &third, 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	fabric_destroy(third);
}

/* Any user who may write to the directory can put anything there, so a host must not open it
 * unseen. */
static void a_pipe_in_place_of_the_lock_holds_nobody(void **state)
{
	struct fabric *third;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/lock", flat.network);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0666), 0);
	open_host(false, &third, ENXIO);
	fabric_destroy(third);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0777), 0);
	open_host(false, &third, EISDIR);
	fabric_destroy(third);
	assert_int_equal(rmdir(path), 0);
	open_host(false, &third, 0);
	fabric_destroy(third);
}

/* A socket of another user's dead host, which cannot be removed, and is no socket at all here. */
static void a_number_that_stays_taken_is_left_out(void **state)
{
	struct fabric *third;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/2.ib", flat.network);
	assert_int_equal(mkdir(path, 0777), 0);
	open_host(false, &third, 0);
	assert_int_equal(fabric_host_number(third), 3);
	fabric_destroy(third);
	assert_int_equal(rmdir(path), 0);
}

/* Connections that say nothing are closed for new ones, as they would otherwise keep hosts out. */
static void silent_callers_keep_no_host_out(void **state)
{
	enum { CALLERS = 80 };
	struct fabric *third;
	int fds[CALLERS];
	char byte;

	(void)state;
	for (unsigned int i = 0; i < CALLERS; i++) {
		fds[i] = call_host(0);
		flat_run(0);
	}
	assert_int_equal(recv(fds[0], &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(recv(fds[CALLERS - 1], &byte, 1, MSG_DONTWAIT), -1);
	open_host(false, &third, 0);
	flat_run(LONG);
	fabric_destroy(third);
	for (unsigned int i = 0; i < CALLERS; i++)
		close(fds[i]);
	run_with(NULL);
}

/* A socket that appears during the search for a number, as of a host that holds another lock. */
static void a_number_is_never_taken_twice(void **state)
{
	int other = listen_as(2), fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int dir = open(flat.network, O_RDONLY | O_DIRECTORY);
	struct stat before, after;

	(void)state;
	assert_int_equal(fstatat(dir, "2.ib", &before, 0), 0);
	assert_int_equal(directory_listen(dir, "2.ib", fd), EEXIST);
	assert_int_equal(fstatat(dir, "2.ib", &after, 0), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(fstatat(dir, "2.ib.new", &after, 0), -1);
	close(fd);
	close(dir);
	close(other);
	remove_host(2);
}

static void count_packet(void *owner, unsigned int host, uint8_t *packet, size_t len)
{
	unsigned int *count = owner;

	(void)host;
	assert_int_equal(packet[0], 7);
	assert_int_equal(len, 1000);
	(*count)++;
}

static void ignore_host(void *owner, unsigned int host)
{
	(void)owner;
	(void)host;
}

/* Adds hosts 2 to 4 to those of flat_setup_network(); host 4 never receives. */
static void host_that_has_stopped_holds_up_nobody(void **state)
{
	bool busy;
	static const struct network_ops ops = { count_packet, ignore_host, ignore_host };
	static const uint8_t packet[1000] = { 7 };
	const uint64_t ms = 1000000;
	struct network *host[3];
	unsigned int count[3] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(network_join(flat.network, false, &ops, &count[i], &host[i]), 0);
		assert_int_equal(network_number(host[i]), i + 2);
	}
	while (network_progress(host[0], ms) || network_progress(host[1], ms))
		;
	for (unsigned int i = 0; i < 2000; i++)
		network_send(host[0], 4, packet, sizeof(packet));
	network_progress(host[0], 2 * ms);
	assert_true(network_is_congested(host[0]));
	network_progress(host[0], 200 * ms);
	assert_false(network_is_congested(host[0]));
	network_send(host[0], 3, packet, sizeof(packet));
	network_flush(host[0]);
	network_progress(host[1], 200 * ms);
	assert_int_equal(count[1], 1);
	/* the excess of a full queue is lost, the rest arrives once the host continues */
	for (unsigned int i = 0; i < 10000; i++)
		network_send(host[0], 4, packet, sizeof(packet));
	do { /* until neither has work */
		busy = network_progress(host[2], 300 * ms);
		busy |= network_progress(host[0], 300 * ms);
	} while (busy);
	assert_in_range(count[2], 4000, 5000);
	for (unsigned int i = 0; i < 3; i++)
		network_leave(host[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OVER(test, network) cmocka_unit_test_setup_teardown(test, network, flat_teardown)
		OVER(each_operation_crosses_the_network, flat_setup_network),
		OVER(each_operation_crosses_the_network, flat_setup_network_roce),
		OVER(any_one_packet_may_be_lost, flat_setup_network),
		OVER(any_one_packet_may_be_late, flat_setup_network_roce),
		OVER(many_packets_may_be_lost_and_late, flat_setup_network),
		OVER(many_packets_may_be_lost_and_late_on_roce, flat_setup_network_roce),
		OVER(packets_are_lost_on_one_host_too, flat_setup),
		OVER(packets_are_lost_on_one_host_too, flat_setup_roce),
		OVER(acknowledges_are_few, flat_setup),
		OVER(acknowledges_are_few, flat_setup_network),
		OVER(numbers_are_given_again, flat_setup_network),
		OVER(other_link_layer_is_refused, flat_setup_network),
		OVER(file_of_a_dead_host_is_replaced, flat_setup_network),
		OVER(peer_that_has_left_is_silent, flat_setup_network),
		OVER(host_that_has_stopped_holds_up_nobody, flat_setup_network),
		OVER(strangers_are_sent_away, flat_setup_network),
		OVER(a_caller_may_get_descriptor_0, flat_setup_network),
		OVER(who_finds_no_descriptor_is_turned_away, flat_setup_network),
		OVER(a_number_belongs_to_the_process_of_its_socket, flat_setup_network),
		OVER(noise_does_no_harm, flat_setup_network),
		OVER(the_lock_takes_the_right_to_write, flat_setup_network),
		OVER(an_older_lock_loses_the_right_to_read, flat_setup_network),
		OVER(a_number_is_never_taken_twice, flat_setup_network),
		OVER(a_pipe_in_place_of_the_lock_holds_nobody, flat_setup_network),
		OVER(a_number_that_stays_taken_is_left_out, flat_setup_network),
		OVER(silent_callers_keep_no_host_out, flat_setup_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
