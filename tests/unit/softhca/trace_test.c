/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace_test.c - the trace names messages and events, and prints their bytes.
 *
 * Covers: softhca/trace.c, softhca/device/format/mlx5/trace.c
 */
#include <errno.h>
#include <unistd.h>

#include "flat.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/trace.h"

static char path[] = "/tmp/softhca-trace-XXXXXX";
static char text[16384];

static struct trace *open_trace(void)
{
	struct trace *trace;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(trace_open(path, &trace), 0);
	return trace;
}

static void read_back(struct trace *trace)
{
	FILE *file;
	size_t len;

	trace_close(trace);
	file = fopen(path, "r");
	len = fread(text, 1, sizeof(text) - 1, file);
	text[len] = 0;
	fclose(file);
	unlink(path);
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
}

static void names_and_bytes_are_written(void **state)
{
	struct trace *trace = open_trace();
	uint8_t in[16] = { 0x05, 0x02 }, out[16] = { 0x03 }, cqe[64] = { 0 }, eqe[64] = { 0, 0x11 };
	uint8_t wqe[64] = { 0, 0, 0, 0x10, 0, 0, 0x48, 0x03 };

	(void)state;
	cqe[63] = 13 << 4;
	cqe[55] = 0x15;
	mlx5_trace_command(trace, in, sizeof(in), out, sizeof(out));
	mlx5_trace_send(trace, 0x48, 7, wqe, sizeof(wqe));
	mlx5_trace_cqe(trace, 0x400, 1, cqe);
	mlx5_trace_eqe(trace, 2, eqe);
	trace_line(trace, "own %d", 42);
	read_back(trace);
	assert_non_null(strstr(text, "cmd 0x502 RST2INIT_QP status 0x03"));
	assert_non_null(strstr(text, "wqe send qpn 0x000048 index 7 RDMA_READ 00000010 00004803"));
	assert_non_null(strstr(text, "cqe cqn 0x000400 index 1 REQ_ERR syndrome 0x15"));
	assert_non_null(strstr(text, "eqe eqn 2 WQ_ACCESS_ERROR 00110000"));
	assert_non_null(strstr(text, " own 42\n"));
}

static void keys_of_data_are_not_shown(void **state)
{
	struct trace *trace = open_trace();
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + 64], out[16] = { 0 };

	(void)state;
	memset(in, 0xab, sizeof(in));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_DEK);
	mlx5_trace_command(trace, in, sizeof(in), out, sizeof(out));
	read_back(trace);
	assert_non_null(strstr(text, "in 0a00abab abab000c abababab abababab out"));
}

static void long_lines_end_in_a_newline(void **state)
{
	struct trace *trace = open_trace();
	static uint8_t big[100000];
	char wide[6000];
	size_t lines = 0;

	(void)state;
	memset(wide, 'x', sizeof(wide));
	wide[sizeof(wide) - 1] = 0;
	mlx5_trace_command(trace, big, sizeof(big), big, sizeof(big));
	trace_line(trace, "%s", wide);
	trace_line(trace, "end");
	read_back(trace);
	for (char *at = text; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	assert_int_equal(lines, 3);
	assert_non_null(strstr(text, "(100000 bytes)"));
}

static void no_trace_is_no_trouble(void **state)
{
	struct trace *trace;
	uint8_t bytes[64] = { 0 };

	(void)state;
	trace_line(NULL, "x");
	mlx5_trace_command(NULL, bytes, 16, bytes, 16);
	mlx5_trace_send(NULL, 0, 0, bytes, 16);
	trace_bytes(NULL, bytes, 16, "wqe");
	mlx5_trace_cqe(NULL, 0, 0, bytes);
	mlx5_trace_eqe(NULL, 0, bytes);
	trace_close(NULL);
	assert_int_equal(trace_open("/nonexistent/trace", &trace), ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_bytes_are_written),
		cmocka_unit_test(keys_of_data_are_not_shown),
		cmocka_unit_test(long_lines_end_in_a_newline),
		cmocka_unit_test(no_trace_is_no_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
