/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options_test.c - command lines of softhca: each command takes its own options and refuses, in one
 * line that says why, those of others, unknown ones, missing values and arguments that are too
 * many.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "softhca/options.h"
#include "util/bits.h"

enum { MAX_WORDS = 160 };

static struct options options;
static char program[] = "softhca", *argv[MAX_WORDS + 1]; /* options point to them */
static char words[2048], said[512];

/* Parses a command line of words between spaces, and keeps the lines on standard error. */
static int parse(const char *line)
{
	int argc = 1, ret, was = dup(STDERR_FILENO), fd = memfd_create("stderr", MFD_CLOEXEC);
	char *rest;
	ssize_t len;

	memset(argv, 0, sizeof(argv));
	argv[0] = program;
	assert_true(fd >= 0 && was >= 0);
	assert_true(strlen(line) < sizeof(words));
	strcpy(words, line);
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		assert_true(argc < MAX_WORDS);
		argv[argc++] = word;
	}
	dup2(fd, STDERR_FILENO);
	ret = options_parse(argc, argv, &options);
	dup2(was, STDERR_FILENO);
	close(was);
	len = pread(fd, said, sizeof(said) - 1, 0);
	said[len > 0 ? len : 0] = 0;
	close(fd);
	return ret;
}

static void assert_taken(const char *line)
{
	if (parse(line) || said[0])
		fail_msg("%s: refused: %s", line, said);
}

/* The line is refused with one line of text, which has the words TEXT. */
static void assert_refused(const char *line, const char *text)
{
	int ret = parse(line);
	const char *end = strchr(said, '\n');

	if (ret != EINVAL || !strstr(said, text) || !end || end[1])
		fail_msg("%s: %d, and not \"%s\": %s", line, ret, text, said);
}

static void options_of_other_commands_are_refused(void **state)
{
	static const char *const lines[][2] = {
		{ "fault --socket /s --devices 2 drop:1",
		  "fault takes no --devices: that is an option of run, serve\n" },
		{ "fault --socket /s --link=roce drop:1", "run, serve, pci\n" },
		{ "fault --socket /s --verbose drop:1", "fault takes no --verbose" },
		{ "fault --socket /s --fault drop:1", "fault takes no --fault" },
		{ "fault --socket /s --network /n drop:1", "run, serve, pci, hosts\n" },
		{ "fault --socket /s --command-timeout=100 drop:1",
		  "fault takes no --command-timeout" },
		{ "run --once -- true", "run takes no --once: that is an option of pci\n" },
		{ "serve --socket /s --once", "serve takes no --once" },
		{ "pci --socket /s --devices 1", "pci takes no --devices" },
		{ "pci --socket /s --memlock linux", "pci takes no --memlock" },
		{ "pci --socket /s --crypto /c", "pci takes no --crypto" },
		{ "pci --socket /s --netdev lo", "pci takes no --netdev" },
		{ "pci --socket /s --without /dev/infiniband", "pci takes no --without" },
		{ "pci --socket /s --atomics-in-cqe", "pci takes no --atomics-in-cqe" },
		{ "pci --socket /s --vfio", "pci takes no --vfio" },
		{ "pci --socket /s --steering v1", "pci takes no --steering" },
		{ "hosts --network /n --socket /s", "hosts takes no --socket" },
		{ "hosts --network /n --verbose", "hosts takes no --verbose" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_refused(lines[i][0], lines[i][1]);
}

static void each_command_takes_its_own_options(void **state)
{
	(void)state;
	assert_taken("run --devices 2 --link roce --strict --verbose -- true --devices");
	assert_int_equal(options.command, COMMAND_RUN);
	assert_int_equal(options.devices, 2);
	assert_string_equal(options.program[1], "--devices");
	assert_taken("run --socket=/s --verbose true");
	assert_taken("serve --socket /s --netdev lo --memlock unlimited --without /dev/infiniband");
	assert_taken("serve --socket /s --steering v1");
	assert_taken("serve --socket /s --steering none");
	assert_taken("pci --socket /s --once --command-timeout 100 --max-qp 64");
	assert_taken("run --vfio --command-timeout 100 -- true");
	assert_taken("serve --socket /s --vfio --command-timeout=100");
	assert_taken("fault --socket /s drop:1 kill@5");
	assert_string_equal(options.program[1], "kill@5");
	assert_taken("hosts --network /n");
}

static void socket_mode_is_octal(void **state)
{
	(void)state;
	assert_taken("serve --socket /s");
	assert_int_equal(options.socket_mode, 0600);
	assert_taken("serve --socket /s --socket-mode 200");
	assert_int_equal(options.socket_mode, 0200);
	assert_taken("pci --socket /s --socket-mode=0777");
	assert_int_equal(options.socket_mode, 0777);
	assert_refused("run --socket-mode 660 -- true", "run takes no --socket-mode");
	for (const char **bad = (const char *[]){ "1000", "8", "-1", "+7", "66o", "u=rw", NULL };
	     *bad; bad++) {
		char line[64];

		snprintf(line, sizeof(line), "serve --socket /s --socket-mode=%s", *bad);
		assert_refused(line, "not a mode from 0 to 777");
	}
	assert_refused("serve --socket /s --socket-mode 0",
		       "without 200 its owner could not connect");
	assert_refused("pci --socket /s --socket-mode 577",
		       "without 200 its owner could not connect");
}

/* Each is taken at its limits, and refused beyond them with the range. */
static void numbers_have_a_range(void **state)
{
	static const struct {
		const char *name, *least, *below, *most, *above;
	} rows[] = {
		{ "devices", "1", "0", "16", "17" },
		{ "ports", "1", "0", "2", "3" },
		{ "lag", "2", "1", "2", "3" },
		{ "max-qp", "1", "0", "262144", "262145" },
		{ "max-cq", "1", "0", "0x1000000", "16777217" },
		{ "max-wqe-bb", "1", "0", "32768", "65536" },
		{ "max-cqe", "1", "0", "4194304", "8388608" },
		{ "max-rd-atomic", "1", "0", "128", "129" },
		{ "max-msg-size", "1", "0", "2147483648", "2147483649" },
		{ "max-tx-speed", "1", "0", "65535", "65536" },
		{ "first-uar", "4", "3", "8388608", "8388609" },
	};
	char line[96];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(line, sizeof(line), "run --%s %s -- true", rows[i].name, rows[i].least);
		assert_taken(line);
		snprintf(line, sizeof(line), "run --%s=%s -- true", rows[i].name, rows[i].most);
		assert_taken(line);
		snprintf(line, sizeof(line), "run --%s %s -- true", rows[i].name, rows[i].below);
		assert_refused(line, "must be between ");
		snprintf(line, sizeof(line), "run --%s %s -- true", rows[i].name, rows[i].above);
		assert_refused(line, "must be between ");
	}
	assert_taken("run --max-msg-size 2147483648 --seed 18446744073709551615 -- true");
	assert_int_equal(options.limits.max_msg_size, 1u << 31);
	assert_true(options.seed == UINT64_MAX);
}

static void what_is_no_number_is_refused(void **state)
{
	static const char *const bad[] = { "1x", "x", "-1", "18446744073709551616", "1,2" };
	char line[96];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(line, sizeof(line), "run --seed %s -- true", bad[i]);
		assert_refused(line, "not a number");
	}
	assert_refused("run --max-cqe 3 -- true", "not a power of two");
	assert_refused("run --max-wqe-bb 48 -- true", "not a power of two");
}

static void words_are_some_of_a_few(void **state)
{
	(void)state;
	assert_taken("run --link ib -- true");
	assert_true(options.link_layer == HCA_LINK_INFINIBAND && !options.grh_required);
	assert_taken("run --link ib-grh -- true");
	assert_true(options.link_layer == HCA_LINK_INFINIBAND && options.grh_required);
	assert_taken("run --link roce -- true");
	assert_true(options.link_layer == HCA_LINK_ETHERNET && !options.grh_required);
	assert_refused("run --link eth -- true", "must be ib, ib-grh or roce");
	assert_taken("run --memlock unlimited -- true");
	assert_true(options.no_memlock);
	assert_taken("run --memlock linux -- true");
	assert_false(options.no_memlock);
	assert_refused("run --memlock none -- true", "must be linux or unlimited");
}

static void each_kind_named_is_an_adapter(void **state)
{
	(void)state;
	assert_taken("run -- true");
	assert_int_equal(options_kind(&options, 0), HCA_MLX5);
	assert_taken("run --device mlx4 --devices 3 -- true");
	assert_int_equal(options.devices, 3);
	assert_int_equal(options_kind(&options, 2), HCA_MLX4);
	assert_taken("run --device mlx4,mlx5,mlx4 -- true");
	assert_int_equal(options.devices, 3);
	assert_int_equal(options_kind(&options, 0), HCA_MLX4);
	assert_int_equal(options_kind(&options, 1), HCA_MLX5);
	assert_int_equal(options_kind(&options, 2), HCA_MLX4);
	for (const char *const *bad =
		     (const char *const[]){ "mlx", "mlx4,", ",mlx4", "mlx45", NULL };
	     *bad; bad++) {
		char line[64];

		snprintf(line, sizeof(line), "run --device=%s -- true", *bad);
		assert_refused(line, "must be a list of mlx5 and mlx4, separated by commas");
	}
}

/* Repeats an option COUNT times; one more is refused. */
static void repeated(const char *option, unsigned int count, const char *text)
{
	char line[2048] = "run";
	size_t len = 3;

	for (unsigned int i = 0; i < count; i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, " --%s", option);
	snprintf(line + len, sizeof(line) - len, " -- true");
	assert_taken(line);
	snprintf(line + len, sizeof(line) - len, " --%s -- true", option);
	assert_refused(line, text);
}

static void lists_have_an_end(void **state)
{
	(void)state;
	repeated("service=a,1", MAX_OPTION_SERVICES, "too many services");
	repeated("without=/dev/a", MAX_ABSENT, "too many paths");
	repeated("netdev=lo", MAX_DEVICES * MAX_PORTS, "more network interfaces than ports");
}

static void services_have_a_name_and_a_number(void **state)
{
	static const char *const bad[] = { "a", "a,", ",1", "a,x", "a,1,", "a,1,x", "a,1,mlx5_0:" };
	char line[96];

	(void)state;
	assert_taken("run --service a,1 --service b,0x10000000cafe,mlx5_1:2 -- true");
	assert_int_equal(options.num_services, 2);
	assert_string_equal(options.services[0], "a,1");
	assert_string_equal(options.services[1], "b,0x10000000cafe,mlx5_1:2");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(line, sizeof(line), "run --service %s -- true", bad[i]);
		assert_refused(line, "must be NAME,ID or NAME,ID,mlx5_N or NAME,ID,mlx5_N:PORT");
	}
}

static void only_paths_below_dev_and_sys_are_hidden(void **state)
{
	static const char *const bad[] = { "/", "/dev", "/etc/passwd", "dev/a" };
	char line[96];

	(void)state;
	assert_taken("run --without /dev/a..b --without /sys/class/infiniband -- true");
	assert_int_equal(options.num_absent, 2);
	assert_string_equal(options.absent[1], "/sys/class/infiniband");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(line, sizeof(line), "run --without %s -- true", bad[i]);
		assert_refused(line, "not below /dev or /sys");
	}
	assert_refused("run --without /dev/../etc -- true", "must not have '..'");
	assert_refused("run --without /sys/a/.. -- true", "must not have '..'");
	assert_refused("run --without /sys/..a/../b -- true", "must not have '..'");
}

static const char *const commands[] = { "run", "serve", "pci", "fault", "hosts" };

static void unknown_options_are_named(void **state)
{
	char line[64], text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(line, sizeof(line), "%s --sockets /s", commands[i]);
		assert_refused(line, "unknown option --sockets; see softhca --help");
		snprintf(line, sizeof(line), "%s -s /s", commands[i]);
		assert_refused(line, "unknown option -s; see softhca --help");
		snprintf(line, sizeof(line), "%ss", commands[i]);
		snprintf(text, sizeof(text), "unknown command %ss; see softhca --help",
			 commands[i]);
		assert_refused(line, text);
	}
	assert_refused("", "no command given; see softhca --help");
}

/* Two dashes begin the next option, or end them: neither is a value. */
static void missing_values_are_named(void **state)
{
	static const char *const lines[][2] = {
		{ "run --socket -- true", "--socket needs a value: PATH" },
		{ "run --devices --link roce -- true", "--devices needs a value: N" },
		{ "run --trace", "--trace needs a value: FILE" },
		{ "run --trace= -- true", "--trace '': must not be empty" },
		{ "serve --socket", "--socket needs a value: PATH" },
		{ "serve --socket --devices 2", "--socket needs a value: PATH" },
		{ "pci --socket --once", "--socket needs a value: PATH" },
		{ "fault --socket", "--socket needs a value: PATH" },
		{ "hosts --network", "--network needs a value: DIR" },
		{ "hosts --network --help", "--network needs a value: DIR" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_refused(lines[i][0], lines[i][1]);
	assert_taken("run --trace=--file -- true");
	assert_string_equal(options.trace_path, "--file");
}

static void values_of_options_without_any_are_refused(void **state)
{
	(void)state;
	assert_refused("run --strict=yes -- true", "--strict takes no value");
	assert_refused("pci --socket /s --once=1", "--once takes no value");
}

static void surplus_arguments_are_named(void **state)
{
	(void)state;
	assert_refused("serve --socket /s true", "serve takes no arguments: true");
	assert_refused("serve --socket /s -- true", "serve takes no arguments: true");
	assert_refused("pci --socket /s 2", "pci takes no arguments: 2");
	assert_refused("hosts --network /n /m", "hosts takes no arguments: /m");
	assert_refused("hosts --network /n --", "hosts takes no arguments: --");
}

static void what_a_command_needs_is_named(void **state)
{
	(void)state;
	assert_refused("run", "run: no program given");
	assert_refused("run --devices 2 --", "run: no program given");
	assert_refused("serve", "serve: --socket PATH is missing");
	assert_refused("pci", "pci: --socket PATH is missing");
	assert_refused("fault drop:1", "fault: usage: softhca fault --socket PATH FAULT...");
	assert_refused("fault --socket /s", "fault: usage");
	assert_refused("hosts", "hosts: usage: softhca hosts --network DIR");
}

/* An option there would be sent as a fault, after the first one has been injected. */
static void options_behind_faults_are_refused(void **state)
{
	(void)state;
	assert_refused("fault --socket /s drop:1 --verbose", "fault --verbose: not a fault");
	assert_refused("fault --socket /s -- drop:1 --socket /t", "fault --socket: not a fault");
}

static void help_and_version_are_given_by_each_command(void **state)
{
	char line[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(line, sizeof(line), "%s --help", commands[i]);
		assert_taken(line);
		assert_int_equal(options.command, COMMAND_HELP);
		snprintf(line, sizeof(line), "%s --version", commands[i]);
		assert_taken(line);
		assert_int_equal(options.command, COMMAND_VERSION);
	}
	assert_taken("--help");
	assert_taken("help");
	assert_taken("-h");
	assert_taken("--version");
}

/* Help on a command has its options and no others, and faults where they can be given. */
static void help_on_a_command_is_about_it(void **state)
{
	static const struct {
		const char *line, *has, *lacks;
	} texts[] = {
		{ "--help", "--once", "no such text" },
		{ "help", "softhca hosts --network DIR", "no such text" },
		{ "run --help", "--netdev", "--once" },
		{ "run --help", "cmd:N=ERRNO", "softhca serve" },
		{ "pci --help", "keks-vanish@MS           run, serve: ", "--netdev" },
		{ "pci --help", "--once", "--netdev" },
		{ "fault --socket /s --help", "link-down@MS", "--devices" },
		{ "hosts --help", "--network", "link-down" },
	};
	char *text;
	size_t len;
	FILE *out;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_taken(texts[i].line);
		out = open_memstream(&text, &len);
		assert_non_null(out);
		options_print_help(&options, out);
		fclose(out);
		if (!strstr(text, texts[i].has) || strstr(text, texts[i].lacks))
			fail_msg("%s: %s", texts[i].line, text);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_of_other_commands_are_refused),
		cmocka_unit_test(each_command_takes_its_own_options),
		cmocka_unit_test(socket_mode_is_octal),
		cmocka_unit_test(numbers_have_a_range),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(words_are_some_of_a_few),
		cmocka_unit_test(each_kind_named_is_an_adapter),
		cmocka_unit_test(lists_have_an_end),
		cmocka_unit_test(services_have_a_name_and_a_number),
		cmocka_unit_test(only_paths_below_dev_and_sys_are_hidden),
		cmocka_unit_test(unknown_options_are_named),
		cmocka_unit_test(missing_values_are_named),
		cmocka_unit_test(values_of_options_without_any_are_refused),
		cmocka_unit_test(surplus_arguments_are_named),
		cmocka_unit_test(what_a_command_needs_is_named),
		cmocka_unit_test(options_behind_faults_are_refused),
		cmocka_unit_test(help_and_version_are_given_by_each_command),
		cmocka_unit_test(help_on_a_command_is_about_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
