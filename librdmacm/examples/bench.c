/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench.c - options, sizes and results of rstream, riostream and udpong; see bench.h.
 */
#include "bench.h"
#include "address.h"

#include <fcntl.h>
#include <getopt.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const struct bench_calls bench_rsockets = {
	rsocket, rbind,   rlisten,   raccept, rconnect, rshutdown,   rclose,      rsend,
	rrecv,   rsendto, rrecvfrom, rpoll,   rfcntl,   rsetsockopt, rgetsockopt,
};

static const struct bench_calls bench_sockets = {
	socket, bind,   listen,   accept, connect, shutdown,   close,      send,
	recv,   sendto, recvfrom, poll,   fcntl,   setsockopt, getsockopt,
};

void bench_init(struct bench *bench, const struct bench_program *program)
{
	*bench = (struct bench){
		.calls = &bench_rsockets,
		.program = program,
		.port = program->port,
		.hints = { .ai_port_space = RDMA_PS_TCP },
		.iterations = 1,
		.transfers = 1000,
		.size = 1000,
		.flags = MSG_DONTWAIT,
	};
}

static bool is_word(const char *given, const char *word)
{
	return !strcmp(given, word) || (given[0] == word[0] && !given[1]);
}

/* Parses the argument of -T: a word, or its first letter. Returns false if the program has no such
 * test. */
static bool take_test(struct bench *bench, const char *word)
{
	if (!strchr(bench->program->tests, word[0]))
		return false;
	if (is_word(word, "socket") || is_word(word, "sockets"))
		bench->calls = &bench_sockets;
	else if (is_word(word, "async"))
		bench->use_poll = true;
	else if (is_word(word, "blocking"))
		bench->flags = 0;
	else if (is_word(word, "nonblocking"))
		bench->flags = MSG_DONTWAIT;
	else if (is_word(word, "resolve"))
		bench->use_cm_resolver = true;
	else if (is_word(word, "verify"))
		bench->verify = true;
	else if (is_word(word, "fork"))
		bench->use_fork = true;
	else if (is_word(word, "echo"))
		bench->echo = true;
	else
		return false;
	if (bench->use_fork)
		bench->calls = &bench_sockets;
	return true;
}

static void take_size(struct bench *bench, const char *value)
{
	if (!strcmp(value, "all")) {
		bench->all_sizes = true;
		return;
	}
	bench->is_custom = true;
	bench->size = atoi(value);
}

static void take_count(struct bench *bench, int *count, const char *value)
{
	bench->is_custom = true;
	*count = atoi(value);
}

static bool take_option(struct bench *bench, int option, const char *value)
{
	switch (option) {
	case 's':
		bench->host = value;
		return true;
	case 'b':
		bench->local = value;
		return true;
	case 'f':
		address_take_format(value, &bench->hints);
		bench->use_cm_resolver = true;
		return true;
	case 'B':
		bench->buffer_size = atoi(value);
		return true;
	case 'i':
		bench->inline_size = atoi(value);
		return true;
	case 'I':
		take_count(bench, &bench->iterations, value);
		return true;
	case 'C':
		take_count(bench, &bench->transfers, value);
		return true;
	case 'S':
		take_size(bench, value);
		return true;
	case 'p':
		bench->port = value;
		return true;
	case 'k':
		bench->keepalive = atoi(value);
		return true;
	case 'T':
		return take_test(bench, value);
	default:
		return false;
	}
}

/* All lines of usage; a program prints those of its own options and tests. */
static const struct usage_line {
	char letter;
	const char *text;
} option_lines[] = {
	{ 's', "server_address" },
	{ 'b', "bind_address" },
	{ 'f', "address_format" },
	{ 'B', "buffer_size" },
	{ 'i', "inline_size" },
	{ 'I', "iterations" },
	{ 'C', "transfer_count" },
	{ 'S', NULL },
	{ 'p', "port_number" },
	{ 'k', "keepalive_time" },
	{ 'T', "test_option" },
}, test_lines[] = {
	{ 's', "sockets - use standard tcp/ip sockets" },
	{ 'a', "async - asynchronous operation (use poll)" },
	{ 'b', "blocking - use blocking calls" },
	{ 'f', "fork - fork server processing" },
	{ 'n', "nonblocking - use nonblocking calls" },
	{ 'r', "resolve - use rdma cm to resolve address" },
	{ 'v', "verify - verify data" },
	{ 'e', "echo - server echoes all messages" },
};

static void print_usage(const struct bench_program *program, const char *name)
{
	printf("usage: %s\n", name);
	for (size_t i = 0; i < ARRAY_SIZE(option_lines); i++) {
		const struct usage_line *line = &option_lines[i];

		if (!strchr(program->options, line->letter))
			continue;
		printf("\t[-%c %s]\n", line->letter, line->text ? line->text : program->sizes);
		if (line->letter == 'f')
			printf("\t    name, ip, ipv6, or gid\n");
	}
	for (size_t i = 0; i < ARRAY_SIZE(test_lines); i++)
		if (strchr(program->tests, test_lines[i].letter))
			printf("\t    %c|%s\n", test_lines[i].letter, test_lines[i].text);
}

bool bench_take_options(struct bench *bench, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, bench->program->options)) != -1) {
		if (take_option(bench, option, optarg))
			continue;
		print_usage(bench->program, argv[0]);
		return false;
	}
	return true;
}

/* Returns a size of the table: powers of two from 64 on, and from 128 on also the midpoints between
 * them. 0 ends the table. */
static int table_size(unsigned int index, bool all)
{
	static const int few[] = { 64, 4096, 65536, 1 << 20, 0 };
	int size;

	if (!all)
		return few[index];
	if (!index)
		return 64;
	size = 128 << (index - 1) / 2;
	size = index % 2 ? size : size / 2 * 3;
	return size <= BENCH_MAX_SIZE ? size : 0;
}

static int transfers_enough(int size)
{
	return size >= 1 << 20   ? 100
	       : size >= 1 << 16 ? 1000
	       : size >= 1 << 10 ? 10000
	       : size >= 64      ? 100000
				 : 1000000;
}

/* Formats a size, with one decimal if there is one digit before the point. */
static void size_text(char *text, size_t room, long long size)
{
	static const struct {
		int shift;
		char unit;
	} units[] = { { 30, 'g' }, { 20, 'm' }, { 10, 'k' } };
	long long whole;
	size_t i = 0;
	int tenths;

	while (i < ARRAY_SIZE(units) && size < 1LL << units[i].shift)
		i++;
	if (i == ARRAY_SIZE(units)) {
		snprintf(text, room, "%lld", size);
		return;
	}
	whole = size >> units[i].shift;
	tenths = (int)((size - (whole << units[i].shift)) * 10 >> units[i].shift);
	if (whole < 10 && tenths)
		snprintf(text, room, "%lld.%d%c", whole, tenths, units[i].unit);
	else
		snprintf(text, room, "%lld%c", whole, units[i].unit);
}

static void count_text(char *text, size_t room, long long count)
{
	if (count >= 1000000000)
		snprintf(text, room, "%lldb", count / 1000000000);
	else if (count >= 1000000)
		snprintf(text, room, "%lldm", count / 1000000);
	else if (count >= 1000)
		snprintf(text, room, "%lldk", count / 1000);
	else
		snprintf(text, room, "%lld", count);
}

void bench_print_heading(void)
{
	printf("%-10s%-8s%-8s%-8s%-8s%8s %10s%13s\n", "name", "bytes", "xfers", "iters", "total",
	       "time", "Gb/sec", "usec/xfer");
}

void bench_start(struct bench *bench)
{
	clock_gettime(CLOCK_MONOTONIC, &bench->start);
}

void bench_stop(struct bench *bench)
{
	clock_gettime(CLOCK_MONOTONIC, &bench->end);
}

static void print_row(const struct bench *bench, long long transfers, bool has_iterations)
{
	long long bytes = transfers * bench->size;
	double seconds = (double)(bench->end.tv_sec - bench->start.tv_sec) +
			 (double)(bench->end.tv_nsec - bench->start.tv_nsec) / 1e9;
	char text[32];

	printf("%-10s", bench->name);
	size_text(text, sizeof(text), bench->size);
	printf("%-8s", text);
	count_text(text, sizeof(text), bench->transfers);
	printf("%-8s", text);
	count_text(text, sizeof(text), bench->iterations);
	if (has_iterations)
		printf("%-8s", text);
	size_text(text, sizeof(text), bytes);
	printf("%-8s", text);
	printf("%8.2fs%10.2f%11.2f\n", seconds, (double)bytes * 8 / seconds / 1e9,
	       seconds * 1e6 / (double)transfers);
	fflush(stdout);
}

void bench_print(const struct bench *bench)
{
	print_row(bench, 2LL * bench->iterations * bench->transfers, true);
}

void bench_print_datagram_heading(void)
{
	printf("%-10s%-8s%-8s%-8s%8s %10s%13s\n", "name", "bytes", "xfers", "total", "time",
	       "Gb/sec", "usec/xfer");
}

void bench_print_datagrams(const struct bench *bench)
{
	print_row(bench, bench->transfers, false);
}

void bench_fill(struct bench *bench, void *buf, size_t size)
{
	uint8_t *at = buf;

	while (size--)
		*at++ = bench->sent++;
}

int bench_check(struct bench *bench, const void *buf, size_t size)
{
	const uint8_t *at = buf;

	for (size_t i = 0; i < size; i++) {
		if (at[i] != bench->received++) {
			printf("data verification failed byte %zu\n", i);
			return -1;
		}
	}
	return 0;
}

static void name_test(struct bench *bench, bool latency)
{
	char text[16];

	size_text(text, sizeof(text), bench->size);
	snprintf(bench->name, sizeof(bench->name), "%s_%s", text, latency ? "lat" : "bw");
}

static int run_table(struct bench *bench, int socket, bool latency, bench_run run)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && table_size(i, bench->all_sizes); i++) {
		bench->size = table_size(i, bench->all_sizes);
		bench->iterations = latency ? transfers_enough(bench->size) : 1;
		bench->transfers = latency ? 1 : transfers_enough(bench->size);
		name_test(bench, latency);
		ret = run(bench, socket);
	}
	return ret;
}

int bench_run_all(struct bench *bench, int socket, bool latency, bench_run run)
{
	if (!bench->is_custom)
		return run_table(bench, socket, latency, run);
	snprintf(bench->name, sizeof(bench->name), "custom");
	return run(bench, socket);
}
