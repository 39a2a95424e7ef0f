/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report.c - prints what a bug report needs in addition to the findings: system, environment,
 * rights of this process, kernel modules, and adapters with their ports. One line per item, under
 * headings, and nothing that may contain a secret.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "checks.h"
#include "sysfs.h"

/* Prefixes of environment variables that these libraries, or programs using them, read. */
static const char *const variables[] = { "VERBS_", "RDMAV_", "IBV_", "MLX4_", "MLX5_",
					 "MLX_",   "RS_",    "UCX_", "FI_",   "SOFTHCA_",
					 "SYSFS_", "LD_",    NULL };
static const char *const modules[] = { "mlx", "ib_", "rdma_", "iw_", "nvidia_peermem", NULL };
static const char *const states[] = {
	"Cap", "NoNewPrivs", "Seccomp", "Uid", "VmLck", "VmPin", NULL
};

static void heading(const char *text)
{
	printf("\n== %s\n", text);
}

static bool begins_with_one_of(const char *line, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (!strncmp(line, *beginnings, strlen(*beginnings)))
			return true;
	return false;
}

static void print_lines(const char *path, const char *const *beginnings)
{
	FILE *file = fopen(path, "re");
	char line[512];

	if (!file) {
		printf("%s: cannot be read\n", path);
		return;
	}
	while (fgets(line, sizeof(line), file))
		if (begins_with_one_of(line, beginnings))
			fputs(line, stdout);
	fclose(file);
}

static void report_system(void)
{
	static const char *const release[] = { "PRETTY_NAME", NULL };
	struct utsname name;

	heading("system");
	if (!uname(&name))
		printf("%s %s %s %s\n", name.sysname, name.release, name.version, name.machine);
	print_lines("/etc/os-release", release);
	printf("processors: %ld, page size: %ld\n", sysconf(_SC_NPROCESSORS_ONLN),
	       sysconf(_SC_PAGESIZE));
}

static void report_environment(void)
{
	heading("environment");
	for (char **variable = environ; *variable; variable++)
		if (begins_with_one_of(*variable, variables))
			puts(*variable);
}

static void report_process(void)
{
	struct rlimit limit;

	heading("process");
	print_lines("/proc/self/status", states);
	if (!getrlimit(RLIMIT_MEMLOCK, &limit))
		printf("RLIMIT_MEMLOCK: %" PRIu64 " (RLIM_INFINITY is %" PRIu64 ")\n",
		       (uint64_t)limit.rlim_cur, (uint64_t)RLIM_INFINITY);
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		printf("RLIMIT_NOFILE: %" PRIu64 "\n", (uint64_t)limit.rlim_cur);
}

static void report_port(struct ibv_context *ctx, uint8_t number)
{
	struct ibv_port_attr port;
	int ret = ibv_query_port(ctx, number, &port);

	if (ret) {
		printf("  port %u: %s\n", number, strerror(ret));
		return;
	}
	printf("  port %u: %s, %s, LID 0x%x, manager's LID 0x%x, MTU %d of %d, speed %u, width %u, "
	       "%d GIDs, caps 0x%x\n",
	       number, port.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand",
	       ibv_port_state_str(port.state), port.lid, port.sm_lid, 128 << port.active_mtu,
	       128 << port.max_mtu, port.active_speed, port.active_width, port.gid_tbl_len,
	       port.port_cap_flags);
}

static void report_adapter(struct ibv_device *device)
{
	struct ibv_context *ctx = ibv_open_device(device);
	struct ibv_device_attr attr;

	if (!ctx || ibv_query_device(ctx, &attr)) {
		printf("%s: does not answer\n", ibv_get_device_name(device));
	} else {
		printf("%s: firmware %s, PCI 0x%x:0x%x, revision 0x%x, %d completion vectors, "
		       "max_qp %d, max_cq %d, max_mr %d\n",
		       ibv_get_device_name(device), attr.fw_ver, attr.vendor_id,
		       attr.vendor_part_id, attr.hw_ver, ctx->num_comp_vectors, attr.max_qp,
		       attr.max_cq, attr.max_mr);
		for (unsigned int port = 1; port <= attr.phys_port_cnt; port++)
			report_port(ctx, port);
	}
	if (ctx)
		ibv_close_device(ctx);
}

static void report_adapters(void)
{
	int num = 0;
	struct ibv_device **list = ibv_get_device_list(&num);

	heading("adapters that programs find");
	printf("%d\n", num);
	for (int i = 0; i < num; i++)
		report_adapter(list[i]);
	if (list)
		ibv_free_device_list(list);
}

void report_machine(void)
{
	puts("Attach this text to a report of a defect. Look through it first: it has names and "
	     "variables of this machine.");
	report_system();
	report_environment();
	report_process();
	heading("kernel modules");
	print_lines("/proc/modules", modules);
	report_adapters();
	heading("findings of ibv_doctor");
}
