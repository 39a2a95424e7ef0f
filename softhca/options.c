/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options.c - the command line of softhca.
 *
 * One table has all about an option: name, argument, commands, place of its value, and help text.
 * Parsing and help both use that table.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/log.h"
#include "softhca/options.h"
#include "softhca/secrets.h"
#include "softhca/net/service.h"
#include "util/bits.h"

enum option_use {
	FOR_RUN = 1 << 0,
	FOR_SERVE = 1 << 1,
	DESCRIBES_ADAPTER = 1 << 2,
	REPEATS = 1 << 3,
	FOR_PCI = 1 << 4,
	FOR_FAULT = 1 << 5,
	FOR_HOSTS = 1 << 6,
};
#define FOR_ADAPTER (FOR_RUN | FOR_SERVE | FOR_PCI | DESCRIBES_ADAPTER)

struct option_def {
	const char *name;
	const char *argument; /* name in --help; NULL: no argument */
	const char *help;
	int (*set)(struct options *options, const struct option_def *def, const char *value);
	size_t offset; /* of the field in struct options */
	uint64_t min, max;
	unsigned int use;
};

static const struct command_def {
	const char *name;
	enum command command;
	unsigned int use; /* bit FOR_* of the options that it takes */
	const char *usage;
} command_table[] = {
	{ "run", COMMAND_RUN, FOR_RUN,
	  "  softhca run [options] -- PROGRAM [ARGUMENT]...\n"
	  "        run PROGRAM, and all it starts, with a private adapter mlx5_0 present;\n"
	  "        the exit status is PROGRAM's\n"
	  "  softhca run --socket PATH -- PROGRAM [ARGUMENT]...\n"
	  "        the same with the adapters of a server, which its programs share\n" },
	{ "serve", COMMAND_SERVE, FOR_SERVE,
	  "  softhca serve --socket PATH [options]\n"
	  "        keep adapters running until SIGTERM or SIGINT\n" },
	{ "pci", COMMAND_PCI, FOR_PCI,
	  "  softhca pci --socket PATH [options]\n"
	  "        be a PCI device for a virtual machine: QEMU's vfio-user-pci connects to PATH;\n"
	  "        when it has gone, the next one may, and finds an adapter that is as new\n" },
	{ "fault", COMMAND_FAULT, FOR_FAULT,
	  "  softhca fault --socket PATH FAULT...\n"
	  "        inject faults into the running adapters served at PATH\n" },
	{ "hosts", COMMAND_HOSTS, FOR_HOSTS,
	  "  softhca hosts --network DIR\n"
	  "        list hosts of a network: adapters, addresses, GIDs, LIDs, state of links\n" },
};

static const struct command_def *find_command(enum command command)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(command_table); i++)
		if (command_table[i].command == command)
			return &command_table[i];
	return NULL;
}

static int bad_value(const struct option_def *def, const char *value, const char *why)
{
	log_error("--%s %s: %s", def->name, value, why);
	return EINVAL;
}

static void *option_field(struct options *options, const struct option_def *def)
{
	return (char *)options + def->offset;
}

static int parse_number(const struct option_def *def, const char *value, uint64_t *number)
{
	char range[80];
	char *end;

	errno = 0;
	*number = strtoull(value, &end, 0);
	if (end == value || *end || *value == '-' || errno)
		return bad_value(def, value, "not a number");
	if (*number < def->min || *number > def->max) {
		snprintf(range, sizeof(range), "must be between %llu and %llu",
			 (unsigned long long)def->min, (unsigned long long)def->max);
		return bad_value(def, value, range);
	}
	return 0;
}

static int set_u32(struct options *options, const struct option_def *def, const char *value)
{
	uint64_t number;
	int ret = parse_number(def, value, &number);

	if (!ret)
		*(uint32_t *)option_field(options, def) = number;
	return ret;
}

static int set_mode(struct options *options, const struct option_def *def, const char *value)
{
	enum { ALL = 0777, OWNER_WRITES = 0200 };
	char *end;
	unsigned long mode = strtoul(value, &end, 8);

	if (value[0] < '0' || value[0] > '7' || *end || mode > ALL)
		return bad_value(def, value, "not a mode from 0 to 777");
	if (!(mode & OWNER_WRITES))
		return bad_value(def, value, "without 200 its owner could not connect");
	*(uint32_t *)option_field(options, def) = mode;
	return 0;
}

static int set_u64(struct options *options, const struct option_def *def, const char *value)
{
	return parse_number(def, value, option_field(options, def));
}

static int set_power_of_two(struct options *options, const struct option_def *def,
			    const char *value)
{
	uint64_t number;
	int ret = parse_number(def, value, &number);

	if (ret)
		return ret;
	if (number & (number - 1))
		return bad_value(def, value, "not a power of two");
	*(uint32_t *)option_field(options, def) = number;
	return 0;
}

static int set_string(struct options *options, const struct option_def *def, const char *value)
{
	if (!*value)
		return bad_value(def, "''", "must not be empty");
	*(const char **)option_field(options, def) = value;
	return 0;
}

static int set_link(struct options *options, const struct option_def *def, const char *value)
{
	if (strcmp(value, "ib") && strcmp(value, "ib-grh") && strcmp(value, "roce"))
		return bad_value(def, value, "must be ib, ib-grh or roce");
	options->link_layer = strcmp(value, "roce") ? HCA_LINK_INFINIBAND : HCA_LINK_ETHERNET;
	options->grh_required = !strcmp(value, "ib-grh");
	return 0;
}

static int add_kind(struct options *options, const char *word, size_t len)
{
	static const char *const words[] = { [HCA_MLX5] = "mlx5", [HCA_MLX4] = "mlx4" };

	for (size_t i = 0; i < ARRAY_SIZE(words) && options->num_kinds < MAX_DEVICES; i++)
		if (len == strlen(words[i]) && !strncmp(word, words[i], len)) {
			options->kinds[options->num_kinds++] = (enum hca_kind)i;
			return 0;
		}
	return EINVAL;
}

/* Sets the kinds of adapters; each kind named adds an adapter. */
static int set_kinds(struct options *options, const struct option_def *def, const char *value)
{
	options->num_kinds = 0;
	for (const char *word = value;; word++) {
		size_t len = strcspn(word, ",");

		if (add_kind(options, word, len))
			return bad_value(def, value,
					 "must be a list of mlx5 and mlx4, separated by commas");
		word += len;
		if (!*word)
			break;
	}
	if (options->devices < options->num_kinds)
		options->devices = options->num_kinds;
	return 0;
}

enum hca_kind options_kind(const struct options *options, unsigned int index)
{
	unsigned int last = options->num_kinds - 1;

	if (!options->num_kinds)
		return HCA_MLX5;
	return options->kinds[index < last ? index : last];
}

static int add_fault(struct options *options, const struct option_def *def, const char *value)
{
	if (options->num_faults == MAX_FAULTS)
		return bad_value(def, value, "too many faults");
	options->faults[options->num_faults++] = value;
	return 0;
}

static int add_netdev(struct options *options, const struct option_def *def, const char *value)
{
	if (options->num_netdevs == MAX_DEVICES * MAX_PORTS)
		return bad_value(def, value, "more network interfaces than ports");
	options->netdevs[options->num_netdevs++] = value;
	return 0;
}

static int add_service(struct options *options, const struct option_def *def, const char *value)
{
	struct service_text service;

	if (service_parse(value, &service))
		return bad_value(def, value,
				 "must be NAME,ID or NAME,ID,mlx5_N or NAME,ID,mlx5_N:PORT");
	if (options->num_services == MAX_OPTION_SERVICES)
		return bad_value(def, value, "too many services");
	options->services[options->num_services++] = value;
	return 0;
}

/* Returns whether the path has "..", as that could leave the tree from which it is removed. */
static bool goes_up(const char *path)
{
	for (const char *at = strstr(path, "/.."); at; at = strstr(at + 1, "/.."))
		if (!at[3] || at[3] == '/')
			return true;
	return false;
}

static int add_absent(struct options *options, const struct option_def *def, const char *value)
{
	if (strncmp(value, "/dev/", 5) && strncmp(value, "/sys/", 5))
		return bad_value(def, value, "not below /dev or /sys");
	if (goes_up(value))
		return bad_value(def, value, "must not have '..'");
	if (options->num_absent == MAX_ABSENT)
		return bad_value(def, value, "too many paths");
	options->absent[options->num_absent++] = value;
	return 0;
}

static int set_secrets(struct options *options, const struct option_def *def, const char *value)
{
	static struct hca_secrets secrets; /* static, as there is one command line */
	int ret;

	memset(&secrets, 0, sizeof(secrets));
	ret = secrets_read(value, &secrets);
	if (ret && ret != EINVAL)
		return bad_value(def, value, strerror(ret));
	options->secrets = &secrets;
	return ret;
}

static int more_verbose(struct options *options, const struct option_def *def, const char *value)
{
	(void)def;
	(void)value;
	options->verbose++;
	return 0;
}

static int set_once(struct options *options, const struct option_def *def, const char *value)
{
	(void)def;
	(void)value;
	options->once = true;
	return 0;
}

static int set_vfio(struct options *options, const struct option_def *def, const char *value)
{
	(void)def;
	(void)value;
	options->vfio = true;
	return 0;
}

static int set_atomics_in_cqe(struct options *options, const struct option_def *def,
			      const char *value)
{
	(void)def;
	(void)value;
	options->atomics_in_cqe = true;
	return 0;
}

static int set_strict(struct options *options, const struct option_def *def, const char *value)
{
	(void)def;
	(void)value;
	options->strict = true;
	return 0;
}

static int set_steering(struct options *options, const struct option_def *def, const char *value)
{
	if (strcmp(value, "none") && strcmp(value, "v1"))
		return bad_value(def, value, "must be none or v1");
	options->steering = strcmp(value, "v1") ? HCA_STEERING_NONE : HCA_STEERING_V1;
	return 0;
}

static int set_memlock(struct options *options, const struct option_def *def, const char *value)
{
	if (strcmp(value, "linux") && strcmp(value, "unlimited"))
		return bad_value(def, value, "must be linux or unlimited");
	options->no_memlock = !strcmp(value, "unlimited");
	return 0;
}

static int ask_help(struct options *options, const struct option_def *def, const char *value)
{
	(void)def;
	(void)value;
	options->help_on = options->command;
	options->command = COMMAND_HELP;
	return 0;
}

static int ask_version(struct options *options, const struct option_def *def, const char *value)
{
	(void)def;
	(void)value;
	options->command = COMMAND_VERSION;
	return 0;
}

#define AT(member) offsetof(struct options, member)

static const struct option_def option_table[] = {
	{ "socket", "PATH", "run, fault: the adapters served there; serve, pci: listen there",
	  set_string, AT(socket_path), 0, 0, FOR_RUN | FOR_SERVE | FOR_PCI | FOR_FAULT },
	{ "socket-mode", "MODE",
	  "permissions of the socket, octal (default 600: only its owner connects)", set_mode,
	  AT(socket_mode), 0, 0, FOR_SERVE | FOR_PCI },
	{ "devices", "N", "number of adapters, mlx5_0 and up (default 1)", set_u32, AT(devices), 1,
	  MAX_DEVICES, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER },
	{ "device", "mlx5|mlx4[,...]",
	  "kind of all adapters, or a list: ConnectX-6 (default) or ConnectX-3; pci: one kind",
	  set_kinds, 0, 0, 0, FOR_ADAPTER },
	{ "ports", "N", "ports of each adapter (default 1)", set_u32, AT(ports), 1, MAX_PORTS,
	  FOR_ADAPTER },
	{ "lag", "N", "each port is a bond of N ports (2; default: no bond)", set_u32,
	  AT(lag_ports), 2, 2, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER },
	{ "link", "ib|ib-grh|roce",
	  "link layer: InfiniBand (default; ib-grh: all paths need a GRH) or Ethernet with RoCE",
	  set_link, 0, 0, 0, FOR_ADAPTER },
	{ "max-qp", "N", "queue pairs", set_u32, AT(limits.max_qp), 1, 1 << 18, FOR_ADAPTER },
	{ "max-cq", "N", "completion queues", set_u32, AT(limits.max_cq), 1, 1 << 24, FOR_ADAPTER },
	{ "max-mkey", "N", "memory keys", set_u32, AT(limits.max_mkey), 1, 1 << 24, FOR_ADAPTER },
	{ "max-pd", "N", "protection domains", set_u32, AT(limits.max_pd), 1, 1 << 24,
	  FOR_ADAPTER },
	{ "max-wqe-bb", "N", "64-byte blocks of a send queue, a power of two", set_power_of_two,
	  AT(limits.max_wqe_bb), 1, 1 << 15, FOR_ADAPTER },
	{ "max-cqe", "N", "entries of a completion queue, a power of two", set_power_of_two,
	  AT(limits.max_cqe), 1, 1 << 22, FOR_ADAPTER },
	{ "max-rd-atomic", "N", "outstanding RDMA READs and atomics of a queue pair", set_u32,
	  AT(limits.max_rd_atomic), 1, 128, FOR_ADAPTER },
	{ "max-msg-size", "BYTES", "longest message", set_u32, AT(limits.max_msg_size), 1, 1u << 31,
	  FOR_ADAPTER },
	{ "max-tx-speed", "N",
	  "largest speed of sending, in 100 Mbit/s (default: the speed of the link)", set_u32,
	  AT(limits.max_tx_speed), 1, UINT16_MAX, FOR_ADAPTER },
	{ "seed", "N", "seed of all random choices: the same seed makes the same ones", set_u64,
	  AT(seed), 0, UINT64_MAX, FOR_ADAPTER },
	{ "first-uar", "N", "number of the first doorbell page: above 65535 on large machines",
	  set_u32, AT(first_uar), 4, 1 << 23, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER },
	{ "fault", "SPEC", "inject a fault; may be repeated", add_fault, 0, 0, 0,
	  FOR_ADAPTER | REPEATS },
	{ "service", "SPEC",
	  "a service that the subnet knows: NAME,ID[,mlx5_N[:PORT]]; may be repeated", add_service,
	  0, 0, 0, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER | REPEATS },
	{ "without", "PATH",
	  "path below /dev or /sys that programs do not find, as in a container; may be repeated",
	  add_absent, 0, 0, 0, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER | REPEATS },
	{ "memlock", "linux|unlimited",
	  "memory that programs may pin: up to RLIMIT_MEMLOCK (default), or without limit",
	  set_memlock, 0, 0, 0, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER },
	{ "crypto", "FILE",
	  "programs pass keys of data wrapped; FILE has the keys and credentials for that",
	  set_secrets, 0, 0, 0, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER },
	{ "vfio", NULL, "one more adapter, bound to vfio-pci: programs drive it themselves",
	  set_vfio, 0, 0, 0, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER },
	{ "atomics-in-cqe", NULL,
	  "return results of atomics in CQEs, if the queue pair asks for data there",
	  set_atomics_in_cqe, 0, 0, 0, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER },
	{ "steering", "none|v1",
	  "format of flow table entries that programs write: none (default), or of ConnectX-6 Dx",
	  set_steering, 0, 0, 0, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER },
	{ "command-timeout", "MS", "pci, --vfio: time that the driver waits for a command (60000)",
	  set_u32, AT(command_timeout_ms), 100, 1000000, FOR_RUN | FOR_SERVE | FOR_PCI },
	{ "once", NULL, "pci: end when the virtual machine ends", set_once, 0, 0, 0, FOR_PCI },
	{ "trace", "FILE", "write every verbs call, command, WQE and CQE to FILE", set_string,
	  AT(trace_path), 0, 0, FOR_ADAPTER },
	{ "network", "DIR",
	  "be a host of the network DIR, which all its hosts name; hosts: list it", set_string,
	  AT(network_path), 0, 0, FOR_ADAPTER | FOR_HOSTS },
	{ "pcap", "FILE", "write all packets to FILE, for Wireshark", set_string, AT(pcap_path), 0,
	  0, FOR_ADAPTER },
	{ "netdev", "NAME",
	  "the host's network interface that belongs to a port; repeat for more ports", add_netdev,
	  0, 0, 0, FOR_RUN | FOR_SERVE | DESCRIBES_ADAPTER | REPEATS },
	{ "strict", NULL, "report errors that only softhca tolerates; the exit status is 99 then",
	  set_strict, 0, 0, 0, FOR_ADAPTER },
	{ "verbose", NULL, "print more on standard error; twice: every call", more_verbose, 0, 0, 0,
	  FOR_RUN | FOR_SERVE | FOR_PCI | REPEATS },
	{ "help", NULL, "print this help and exit; after a command: its options", ask_help, 0, 0, 0,
	  FOR_RUN | FOR_SERVE | FOR_PCI | FOR_FAULT | FOR_HOSTS },
	{ "version", NULL, "print the version and exit", ask_version, 0, 0, 0,
	  FOR_RUN | FOR_SERVE | FOR_PCI | FOR_FAULT | FOR_HOSTS },
};
#define NUM_OPTIONS (ARRAY_SIZE(option_table))

static const char faults[] =
	"\n"
	"Faults, for --fault at start or while running; counts and times begin then:\n"
	"  drop:N  drop:N%          lose the Nth message, or N per cent of all\n"
	"  loss:N  loss:N%          lose the Nth packet, or N per cent of all (decimals allowed)\n"
	"  late:N  late:N%          delay the packet until the next one has overtaken it\n"
	"  late:N+M  late:N%+M      delay it until M packets have overtaken it\n"
	"  flip:N  flip:N%          one bit of the Nth transfer of signed data (memory keys with\n"
	"                           signatures) is another, or of N per cent of them; "
	"flip:N+B: bit B\n"
	"  kill  kill:N  kill@MS    the adapter dies: now, at the Nth message, "
	"after MS milliseconds;\n"
	"                           a kernel driver finds that in the health buffer, "
	"and resets it\n"
	"  link-down@MS  link-up@MS the link of all ports; without @MS at once\n"
	"  lid-change@MS  pkey-change@MS  gid-change@MS  client-reregister@MS\n"
	"                           all ports raise that event\n"
	"  keks-vanish@MS           run, serve: the keys of --crypto are removed, "
	"and logins with them\n"
	"  nodes-vanish@MS  nodes-appear@MS\n"
	"                           run, serve: the device files disappear, or appear again\n"
	"  cmd:N=ERRNO              run, serve: the Nth kernel command fails\n"
	"  prm:N                    the Nth command that the adapter executes fails "
	"for lack of resources\n"
	"                           (those that destroy are not counted)\n"
	"  cmd-timeout:N            pci, --vfio: the Nth command of the command queue is never "
	"answered\n"
	"  cmd-refuse:N             --vfio: it is answered with an internal error\n"
	"  cmd-late:N+MS            --vfio: it is executed and answered MS milliseconds later\n"
	"  cmd-kill:N               --vfio: the program is killed before it is executed\n"
	"  unplug:N  unplug@MS      --vfio: the adapter leaves the bus: at that command, or after "
	"MS\n"
	"                           milliseconds; it is back when the program closes it\n";

static void print_options(const struct command_def *only, FILE *out)
{
	char left[48];

	fputs("\nOptions:\n", out);
	for (unsigned int i = 0; i < NUM_OPTIONS; i++) {
		const struct option_def *def = &option_table[i];

		if (only && !(def->use & only->use))
			continue;
		snprintf(left, sizeof(left), "--%s%s%s", def->name, def->argument ? " " : "",
			 def->argument ? def->argument : "");
		fprintf(out, "  %-24s %s\n", left, def->help);
	}
}

void options_print_help(const struct options *options, FILE *out)
{
	const struct command_def *only = find_command(options->help_on);

	fputs("softhca - a ConnectX adapter in software\n\n", out);
	for (unsigned int i = 0; i < ARRAY_SIZE(command_table); i++)
		if (!only || only == &command_table[i])
			fputs(command_table[i].usage, out);
	print_options(only, out);
	if (options->help_on != COMMAND_HOSTS)
		fputs(faults, out);
}

static const struct option_def *find_option(const char *name, size_t len)
{
	for (unsigned int i = 0; i < NUM_OPTIONS; i++) {
		const struct option_def *def = &option_table[i];

		if (strlen(def->name) == len && !memcmp(def->name, name, len))
			return def;
	}
	return NULL;
}

static int check_use(enum command command, const struct option_def *def)
{
	const struct command_def *own = find_command(command);
	char others[64] = "";
	size_t len = 0;

	if (def->use & own->use)
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(command_table); i++)
		if (def->use & command_table[i].use)
			len += (size_t)snprintf(others + len, sizeof(others) - len, "%s%s",
						len ? ", " : "", command_table[i].name);
	log_error("%s takes no --%s: that is an option of %s", own->name, def->name, others);
	return EINVAL;
}

/* Finds the value of an option: behind "=", or in the next word. There, a word that begins with two
 * dashes is the next option. */
static int find_value(int argc, char **argv, int *at, const struct option_def *def,
		      const char **value)
{
	bool is_next = !*value && *at < argc && strncmp(argv[*at], "--", 2);

	if (def->argument && is_next)
		*value = argv[(*at)++];
	if (def->argument && !*value) {
		log_error("--%s needs a value: %s", def->name, def->argument);
		return EINVAL;
	}
	if (!def->argument && *value) {
		log_error("--%s takes no value", def->name);
		return EINVAL;
	}
	return 0;
}

/* Applies the option at argv[*at], and moves *at behind the option and its value. */
static int parse_option(int argc, char **argv, int *at, struct options *options)
{
	const char *word = argv[(*at)++];
	const char *name = word + 2;
	size_t len = strcspn(name, "=");
	const char *value = name[len] ? name + len + 1 : NULL;
	const struct option_def *def;
	int ret;

	def = strncmp(word, "--", 2) ? NULL : find_option(name, len);
	if (!def) {
		log_error("unknown option %s; see softhca --help", word);
		return EINVAL;
	}
	ret = check_use(options->command, def);
	if (!ret)
		ret = find_value(argc, argv, at, def, &value);
	if (ret)
		return ret;
	options->adapter_options_given |= !!(def->use & DESCRIBES_ADAPTER);
	return def->set(options, def, value);
}

static int parse_command(const char *word, struct options *options)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(command_table); i++)
		if (!strcmp(word, command_table[i].name)) {
			options->command = command_table[i].command;
			return 0;
		}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
		options->command = COMMAND_HELP;
	} else if (!strcmp(word, "--version")) {
		options->command = COMMAND_VERSION;
	} else {
		log_error("unknown command %s; see softhca --help", word);
		return EINVAL;
	}
	return 0;
}

static int check_run(const struct options *options)
{
	if (!options->program || !options->program[0]) {
		log_error("run: no program given; usage: softhca run [options] -- PROGRAM...");
		return EINVAL;
	}
	if (options->socket_path && options->adapter_options_given) {
		log_error("run --socket: options of the adapter belong to its server");
		return EINVAL;
	}
	return 0;
}

static int check_no_program(const struct options *options, const char *command)
{
	char **word = options->program;

	if (!word)
		return 0;
	log_error("%s takes no arguments: %s", command, word[0] ? word[0] : "--");
	return EINVAL;
}

static int check_server(const struct options *options, const char *command)
{
	if (check_no_program(options, command))
		return EINVAL;
	if (!options->socket_path) {
		log_error("%s: --socket PATH is missing", command);
		return EINVAL;
	}
	return 0;
}

/* Refuses any option behind the first fault text, before a fault is sent. */
static int check_fault(const struct options *options)
{
	if (!options->socket_path || !options->program || !options->program[0]) {
		log_error("fault: usage: softhca fault --socket PATH FAULT...");
		return EINVAL;
	}
	for (char **word = options->program; *word; word++)
		if (**word == '-') {
			log_error("fault %s: not a fault; options go before the first fault",
				  *word);
			return EINVAL;
		}
	return 0;
}

static int check_hosts(const struct options *options)
{
	if (check_no_program(options, "hosts"))
		return EINVAL;
	if (!options->network_path) {
		log_error("hosts: usage: softhca hosts --network DIR");
		return EINVAL;
	}
	return 0;
}

static int check_pci(const struct options *options)
{
	enum { MLX4_PORTS = 2 };

	if (options->devices != 1) {
		log_error("pci: one device for each server");
		return EINVAL;
	}
	if (options_kind(options, 0) == HCA_MLX4 && options->link_layer == HCA_LINK_ETHERNET &&
	    options->ports > 1) {
		log_error("pci: --device mlx4 with RoCE has one port");
		return EINVAL;
	}
	if (options_kind(options, 0) == HCA_MLX4 && options->ports > MLX4_PORTS) {
		log_error("pci: --device mlx4 has one port or two");
		return EINVAL;
	}
	return check_server(options, "pci");
}

static int options_check(const struct options *options)
{
	switch (options->command) {
	case COMMAND_RUN:
		return check_run(options);
	case COMMAND_SERVE:
		return check_server(options, "serve");
	case COMMAND_PCI:
		return check_pci(options);
	case COMMAND_FAULT:
		return check_fault(options);
	case COMMAND_HOSTS:
		return check_hosts(options);
	default:
		return 0;
	}
}

/* Reads settings from the environment: tests use them to change all adapters, however these are
 * started. */
static void read_environment(struct options *options)
{
	const char *path = getenv("SOFTHCA_STRICT");
	const char *memlock = getenv("SOFTHCA_MEMLOCK");

	if (path && *path) {
		options->strict = true;
		options->strict_path = path;
	}
	options->no_memlock = memlock && !strcmp(memlock, "unlimited");
}

static bool asks_about_softhca(const struct options *options)
{
	return options->command == COMMAND_HELP || options->command == COMMAND_VERSION;
}

int options_parse(int argc, char **argv, struct options *options)
{
	int at = 2;
	int ret;

	*options = (struct options){
		.socket_mode = 0600, .devices = 1, .ports = 1, .command_timeout_ms = 60000
	};
	read_environment(options);
	if (argc < 2) {
		log_error("no command given; see softhca --help");
		return EINVAL;
	}
	ret = parse_command(argv[1], options);
	while (!ret && !asks_about_softhca(options) && at < argc) {
		if (!strcmp(argv[at], "--")) {
			options->program = argv + at + 1;
			break;
		}
		if (argv[at][0] != '-') { /* PROGRAM without preceding "--", so options end here */
			options->program = argv + at;
			break;
		}
		ret = parse_option(argc, argv, &at, options);
	}
	return ret ? ret : options_check(options);
}
