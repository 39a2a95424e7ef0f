/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hosts_test.c - the table of a network's hosts: its columns for ports, changes of their state,
 * remains of killed hosts, and hostile files in the directory.
 *
 * Covers: softhca/net/hosts.c, softhca/net/directory.c, softhca/net/fabric.c,
 * softhca/device/port.c
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softhca/device/core.h"
#include "softhca/net/hosts.h"
#include "flat.h"
#include "util/bits.h"

static char table[4096];

static int list(void)
{
	FILE *out = fmemopen(table, sizeof(table), "w");
	int ret;

	assert_non_null(out);
	memset(table, 0, sizeof(table));
	ret = hosts_print(flat.network, out);
	fclose(out);
	return ret;
}

static void assert_row(const char *format, ...)
{
	char row[256];
	va_list list;

	va_start(list, format);
	vsnprintf(row, sizeof(row), format, list);
	va_end(list);
	if (!strstr(table, row))
		fail_msg("no row \"%s\" in:\n%s", row, table);
}

static unsigned int rows(void)
{
	unsigned int count = 0;

	for (const char *at = table; *at; at++)
		count += *at == '\n';
	return count;
}

static const char *path_of(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", flat.network, name);
	return path;
}

static void each_port_is_a_row(void **state)
{
	(void)state;
	flat_run(0);
	assert_int_equal(list(), 0);
	assert_int_equal(rows(), 3);
	assert_row("HOST PROCESS ADAPTER PORT LINK STATE LID   ADDRESS     GID\n");
	assert_row("\n0    %-7d -       1    ib   up    1     -           fe80::", getpid());
	assert_row("\n1    %-7d -       1    ib   up    65    -           fe80::", getpid());
}

static void state_of_links_is_followed(void **state)
{
	(void)state;
	flat_run(0);
	hca_set_link(flat.hca[0], 1, false);
	flat_run(0);
	assert_int_equal(list(), 0);
	assert_row("ib   down  1 ");
	assert_row("ib   up    65 ");
	hca_set_link(flat.hca[0], 1, true);
	hca_kill(flat.hca[1]);
	flat_run(0);
	assert_int_equal(list(), 0);
	assert_row("ib   up    1 ");
	assert_row("ib   dead  65 ");
}

/* A RoCE v1 and a RoCE v2 entry share a GID, which the table lists once. */
static void gids_are_listed_once(void **state)
{
	static const uint8_t v4[16] = { [10] = 0xff, 0xff, 198, 18, 1, 9 }, none[16];
	struct gid_entry entry = { .version = FABRIC_ROCE_V1 };
	struct hca *hca = flat.hca[1];

	(void)state;
	fabric_lock(hca->fabric);
	for (unsigned int i = 0; i < PORT_GIDS_ROCE; i++) {
		memcpy(entry.gid, i == 5 || i == 7 ? v4 : none, sizeof(v4));
		port_set_gid(hca, &hca->port[0], i, &entry);
	}
	fabric_unlock(hca->fabric);
	flat_run(0);
	assert_int_equal(list(), 0);
	assert_row("\n1    %-7d -       1    roce up    -     -           ::ffff:198.18.1.9\n",
		   getpid());
}

static void third_joins(struct fabric **fabric)
{
	assert_int_equal(fabric_create(fabric), 0);
	assert_int_equal(fabric_connect(*fabric, false, flat.network, NULL), 0);
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void host_that_left_is_gone(void **state)
{
	struct fabric *third;

	(void)state;
	flat_run(0);
	third_joins(&third);
	fabric_describe(third);
	assert_int_equal(access(path_of("2.host"), F_OK), 0);
	fabric_destroy(third);
	assert_int_equal(access(path_of("2.host"), F_OK), -1);
	assert_int_equal(list(), 0);
	assert_int_equal(rows(), 3);
}

static int bind_file(const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	strcpy(addr.sun_path, path_of(name));
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void killed_host_is_not_listed(void **state)
{
	static const char *const left[] = { "2.host", "2.host.new", "2.ib.new", "2.roce.new" };
	struct fabric *third;

	(void)state;
	flat_run(0);
	close(bind_file("2.ib"));
	for (size_t i = 0; i < ARRAY_SIZE(left); i++)
		write_file(left[i], "mlx5_0 1 ib up 129 198.18.2.1 fe80::1\n");
	assert_int_equal(list(), 0);
	assert_int_equal(rows(), 3);
	assert_int_equal(access(path_of("2.ib"), F_OK), 0); /* listing must not remove the socket */
	third_joins(&third);
	for (size_t i = 0; i < ARRAY_SIZE(left); i++)
		assert_int_equal(access(path_of(left[i]), F_OK), -1);
	fabric_destroy(third);
}

/* A host that is killed as it joins has a socket of another name, and no number yet. */
static void host_killed_while_joining_leaves_nothing(void **state)
{
	struct fabric *third;

	(void)state;
	flat_run(0);
	close(bind_file("2.ib.new"));
	close(bind_file("2.roce.new"));
	write_file("2.host.new", "");
	assert_int_equal(list(), 0);
	assert_int_equal(rows(), 3);
	third_joins(&third);
	assert_int_equal(access(path_of("2.ib"), F_OK), 0);
	assert_int_equal(access(path_of("2.ib.new"), F_OK), -1);
	assert_int_equal(access(path_of("2.roce.new"), F_OK), -1);
	assert_int_equal(access(path_of("2.host.new"), F_OK), -1);
	fabric_destroy(third);
	assert_int_equal(access(path_of("2.ib"), F_OK), -1);
}

static void remove_host_2(void)
{
	unlink(path_of("2.ib"));
	unlink(path_of("2.host"));
}

static pid_t child_that_listens(int fd, bool traced)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (listen(fd, 4) || (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL)))
			_exit(errno);
		raise(SIGSTOP);
		_exit(0);
	}
	return pid;
}

static void stopped_host_is_told_apart(void **state)
{
	int fd = bind_file("2.ib"), status;
	pid_t pid = child_that_listens(fd, false);

	(void)state;
	close(fd);
	flat_run(0);
	write_file("2.host", "mlx5_0 1 ib up 129 198.18.2.1 fe80::1\n");
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(list(), 0);
	assert_row("\n0    %-7d -       1    ib   up    1 ", getpid());
	assert_row("\n2    %-7d mlx5_0  1    ib   stuck 129 ", (int)pid);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(list(), 0);
	assert_int_equal(rows(), 3);
	remove_host_2();
}

/* SIGCONT does not help a host that a debugger has stopped, so it is not called stuck. Emulators
 * have no ptrace(). */
static void host_in_a_debugger_is_not_stuck(void **state)
{
	int fd = bind_file("2.ib"), status;
	pid_t pid = child_that_listens(fd, true);

	(void)state;
	close(fd);
	flat_run(0);
	write_file("2.host", "mlx5_0 1 ib up 129 198.18.2.1 fe80::1\n");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == ENOSYS) {
		remove_host_2();
		skip();
	}
	assert_true(WIFSTOPPED(status));
	assert_int_equal(list(), 0);
	assert_row("\n2    %-7d mlx5_0  1    ib   up    129 ", (int)pid);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	remove_host_2();
}

/* Nobody joins a network with a host that accepts nothing: the two would not know each other. */
static void host_that_accepts_nothing_is_told_apart(void **state)
{
	int fd = bind_file("2.ib");
	struct fabric *third;

	(void)state;
	flat_run(0);
	write_file("2.host", "mlx5_0 1 ib up 129 198.18.2.1 fe80::1\n");
	assert_int_equal(listen(fd, 2), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(list(), 0);
		assert_row("\n2    %-7d mlx5_0  1    ib   up    129 ", getpid());
	}
	assert_int_equal(list(), 0);
	assert_row("\n2    -       mlx5_0  1    ib   stuck 129 ");
	assert_int_equal(fabric_create(&third), 0);
	assert_int_equal(fabric_connect(third, false, flat.network, NULL), EAGAIN);
	fabric_destroy(third);
	close(fd);
	remove_host_2();
}

static void directory_without_hosts_is_an_error_or_empty(void **state)
{
	char was[sizeof(flat.network)];

	(void)state;
	strcpy(was, flat.network);
	strcpy(flat.network, "/tmp/hosts-test.XXXXXX");
	assert_non_null(mkdtemp(flat.network));
	assert_int_equal(list(), 0);
	assert_int_equal(rows(), 0);
	rmdir(flat.network);
	assert_int_equal(list(), ENOENT);
	strcpy(flat.network, was);
}

static void only_descriptions_are_printed(void **state)
{
	static const char *const nonsense[] = {
		"",
		"\n",
		"mlx5_0 1 ib up 1\n",
		"mlx5_0 one ib up 1 - \n",
		"mlx5_0 1 ib up lid - fe80::1\n",
		"mlx5_0 1 ib up 1 198.18.0.1 \033[2J\n",
		"a_name_without_end 1 ib up 1 - fe80::1\n",
	};

	(void)state;
	flat_run(0);
	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++) {
		write_file("1.host", nonsense[i]);
		assert_int_equal(list(), 0);
		assert_int_equal(rows(), 2);
	}
}

static void only_files_are_read(void **state)
{
	(void)state;
	flat_run(0);
	unlink(path_of("1.host"));
	assert_int_equal(mkfifo(path_of("1.host"), 0600), 0);
	assert_int_equal(list(), 0);
	assert_int_equal(rows(), 2);
	unlink(path_of("1.host"));
	assert_int_equal(symlink("0.host", path_of("1.host")), 0);
	assert_int_equal(list(), 0);
	assert_int_equal(rows(), 2);
}

/* The writer replaces a symbolic link with its file's name instead of following it, as any user may
 * have made it. */
static void trap_is_not_written_through(void **state)
{
	struct stat trapped;

	(void)state;
	write_file("victim", "");
	assert_int_equal(symlink("victim", path_of("1.host.new")), 0);
	flat_run(0);
	assert_int_equal(list(), 0);
	assert_int_equal(rows(), 3);
	assert_int_equal(stat(path_of("victim"), &trapped), 0);
	assert_int_equal(trapped.st_size, 0);
	unlink(path_of("victim"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OVER(test, network) cmocka_unit_test_setup_teardown(test, network, flat_teardown)
		OVER(each_port_is_a_row, flat_setup_network),
		OVER(state_of_links_is_followed, flat_setup_network),
		OVER(gids_are_listed_once, flat_setup_network_roce),
		OVER(host_that_left_is_gone, flat_setup_network),
		OVER(killed_host_is_not_listed, flat_setup_network),
		OVER(host_killed_while_joining_leaves_nothing, flat_setup_network),
		OVER(stopped_host_is_told_apart, flat_setup_network),
		OVER(host_in_a_debugger_is_not_stuck, flat_setup_network),
		OVER(host_that_accepts_nothing_is_told_apart, flat_setup_network),
		OVER(directory_without_hosts_is_an_error_or_empty, flat_setup_network),
		OVER(only_descriptions_are_printed, flat_setup_network),
		OVER(only_files_are_read, flat_setup_network),
		OVER(trap_is_not_written_through, flat_setup_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
