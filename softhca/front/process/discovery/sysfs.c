/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs.c - the directory tree that replaces /sys/class/infiniband*, /dev/infiniband and the places
 * that they link to.
 *
 * Directories have the kernel's shape and relative links, so that paths which a program builds
 * itself stay inside the tree.
 */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/hw_counters.h"
#include "softhca/front/process/driver/netdev.h"
#include "softhca/front/process/discovery/sysfs.h"
#include "softhca/front/process/discovery/sysfs_pci.h"
#include "softhca/front/process/discovery/sysfs_text.h"
#include "softhca/front/process/discovery/writer.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/front/process/umad/umad.h"
#include "softhca/front/process/vfio/vfio.h"
#include "softhca/log.h"
#include "util/bits.h"

/* lifespan: milliseconds that a value is cached; here each read is new. */
#define LIFESPAN_FILE "lifespan"

static void make_hw_counters(struct writer *writer, const char *dir)
{
	char path[256];

	for (unsigned int i = 0; i < HW_COUNTERS; i++) {
		snprintf(path, sizeof(path), "%s/hw_counters/%s", dir, hw_counter_name[i]);
		writer_make_file(writer, path, "0\n");
	}
	snprintf(path, sizeof(path), "%s/hw_counters/" LIFESPAN_FILE, dir);
	writer_make_file(writer, path, "0\n");
}

static bool hw_counter_text(struct adapter *adapter, unsigned int port, const char *name,
			    char *text)
{
	uint64_t value[HW_COUNTERS];

	for (unsigned int i = 0; i < HW_COUNTERS; i++) {
		if (strcmp(name, hw_counter_name[i]))
			continue;
		if (port < 1 || port > adapter->num_ports || hw_counters_read(adapter, port, value))
			return false;
		sysfs_put_count(text, value[i]);
		return true;
	}
	return false;
}

static void make_entry(struct writer *writer, const char *dir, const char *sub,
		       const struct sysfs_subject *of, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s/%u", dir, sub, of->index);
	writer_make_file(writer, path, text);
}

static void make_gids(struct writer *writer, const char *dir, struct sysfs_subject *of)
{
	char text[SYSFS_TEXT_SIZE];

	for (of->index = 0; of->index < of->info->gid_table_len; of->index++) {
		memset(&of->gid, 0, sizeof(of->gid));
		adapter_query_gid(of->adapter, of->port, of->index, &of->gid);
		sysfs_gid_value(of, text);
		make_entry(writer, dir, "gids", of, text);
		if (!of->gid.valid)
			continue;
		sysfs_gid_type(of, text);
		make_entry(writer, dir, "gid_attrs/types", of, text);
		if (of->gid.kind == GID_IB || !netdev_of(of->adapter, of->port))
			continue;
		sysfs_put_text(text, "%s\n", netdev_of(of->adapter, of->port));
		make_entry(writer, dir, "gid_attrs/ndevs", of, text);
	}
}

static void make_pkeys(struct writer *writer, const char *dir, struct sysfs_subject *of)
{
	char text[SYSFS_TEXT_SIZE];
	uint16_t pkey;

	for (of->index = 0; of->index < of->info->pkey_table_len; of->index++) {
		pkey = 0;
		adapter_query_pkey(of->adapter, of->port, of->index, &pkey);
		sysfs_put_text(text, "0x%04x\n", pkey);
		make_entry(writer, dir, "pkeys", of, text);
	}
}

static void ib_dir(const struct adapter *adapter, char *dir, size_t size)
{
	char pci[96];

	sysfs_pci_place(adapter, pci, sizeof(pci));
	snprintf(dir, size, "%s/infiniband/%s", pci, adapter->name);
}

static void make_port(struct writer *writer, struct adapter *adapter, unsigned int port)
{
	static const char *const subdirs[] = {
		"gids", "pkeys", "gid_attrs/types", "gid_attrs/ndevs", "counters", "hw_counters"
	};
	struct port_counters counters = { 0 };
	struct port_info info;
	struct sysfs_subject of = {
		.adapter = adapter, .port = port, .info = &info, .counters = &counters
	};
	char ib[128], dir[160], sub[192];

	if (adapter_query_port(adapter, port, &info))
		return;
	ib_dir(adapter, ib, sizeof(ib));
	snprintf(dir, sizeof(dir), "%s/ports/%u", ib, port);
	for (unsigned int i = 0; i < ARRAY_SIZE(subdirs); i++) {
		snprintf(sub, sizeof(sub), "%s/%s", dir, subdirs[i]);
		writer_make_dirs(writer, sub);
	}
	writer_make_files(writer, dir, sysfs_port_files, &of);
	snprintf(sub, sizeof(sub), "%s/counters", dir);
	writer_make_files(writer, sub, sysfs_counter_files, &of);
	make_hw_counters(writer, dir);
	make_gids(writer, dir, &of);
	make_pkeys(writer, dir, &of);
}

/* Makes the link "device", which leads to PCI device PCI, in PLACE: a directory of a network
 * interface in the tree. */
static void make_device_link(struct writer *writer, const char *place, const char *pci)
{
	char dir[256], path[264], target[256] = "";

	snprintf(dir, sizeof(dir), "%s", place + 1);
	writer_make_dirs(writer, dir);
	for (const char *at = dir; at; at = strchr(at + 1, '/'))
		strncat(target, "../", sizeof(target) - strlen(target) - 1);
	strncat(target, pci, sizeof(target) - strlen(target) - 1);
	snprintf(path, sizeof(path), "%s/device", dir);
	writer_make_link(writer, path, target);
}

/* Makes the links between the adapter and its network interface, in both directions. */
static void make_netdev(struct writer *writer, const char *pci, const struct adapter *adapter,
			unsigned int port)
{
	const char *name = netdev_of(adapter, port);
	char dir[160], path[256], place[200], text[NETDEV_TEXT_SIZE];

	if (!name)
		return;
	snprintf(dir, sizeof(dir), "/%s/net/%s", pci, name);
	make_device_link(writer, dir, pci);
	for (const char *const *file = netdev_files; *file; file++) {
		snprintf(path, sizeof(path), "%s/%s", dir + 1, *file);
		if (netdev_text(name, port, *file, text))
			writer_make_file(writer, path, text);
	}
	snprintf(place, sizeof(place), "/sys/class/net/%s", name);
	make_device_link(writer, place, pci);
	if (netdev_place(name, place, sizeof(place)))
		make_device_link(writer, place, pci);
}

static void make_device_file(struct writer *writer, const struct adapter *adapter)
{
	char path[48];

	snprintf(path, sizeof(path), "dev/infiniband/uverbs%u", adapter->index);
	writer_make_file(writer, path, "");
}

static void make_uverbs(struct writer *writer, const char *pci, const struct adapter *adapter)
{
	unsigned int minor = UVERBS_FIRST_MINOR + adapter->index;
	char dir[192], path[256], text[64];

	snprintf(dir, sizeof(dir), "%s/infiniband_verbs/uverbs%u", pci, adapter->index);
	writer_make_dirs(writer, dir);
	snprintf(path, sizeof(path), "%s/ibdev", dir);
	snprintf(text, sizeof(text), "%s\n", adapter->name);
	writer_make_file(writer, path, text);
	snprintf(path, sizeof(path), "%s/abi_version", dir);
	snprintf(text, sizeof(text), "%u\n", adapter->identity->abi);
	writer_make_file(writer, path, text);
	snprintf(path, sizeof(path), "%s/dev", dir);
	snprintf(text, sizeof(text), "%u:%u\n", UVERBS_MAJOR, minor);
	writer_make_file(writer, path, text);
	snprintf(path, sizeof(path), "%s/uevent", dir);
	snprintf(text, sizeof(text), "MAJOR=%u\nMINOR=%u\nDEVNAME=infiniband/uverbs%u\n",
		 UVERBS_MAJOR, minor, adapter->index);
	writer_make_file(writer, path, text);
	snprintf(path, sizeof(path), "%s/device", dir);
	writer_make_link(writer, path, "../..");
	snprintf(path, sizeof(path), "%s/subsystem", dir);
	writer_make_link(writer, path, "../../../../../class/infiniband_verbs");
	make_device_file(writer, adapter);
	snprintf(path, sizeof(path), "sys/dev/char/%u:%u", UVERBS_MAJOR, minor);
	snprintf(text, sizeof(text), "../../class/infiniband_verbs/uverbs%u", adapter->index);
	writer_make_link(writer, path, text);
}

/* Makes a class device of a port: its directory, the link to it, and its device file. */
static void make_port_device(struct writer *writer, const char *pci, const struct adapter *adapter,
			     unsigned int port, const char *kind)
{
	unsigned int index = adapter_port_index(adapter, port);
	unsigned int minor = index + (strcmp(kind, "issm") ? UMAD_FIRST_MINOR : ISSM_FIRST_MINOR);
	char dir[192], path[256], text[80];

	snprintf(dir, sizeof(dir), "%s/infiniband_mad/%s%u", pci, kind, index);
	writer_make_dirs(writer, dir);
	snprintf(path, sizeof(path), "%s/ibdev", dir);
	snprintf(text, sizeof(text), "%s\n", adapter->name);
	writer_make_file(writer, path, text);
	snprintf(path, sizeof(path), "%s/port", dir);
	snprintf(text, sizeof(text), "%u\n", port);
	writer_make_file(writer, path, text);
	snprintf(path, sizeof(path), "%s/dev", dir);
	snprintf(text, sizeof(text), "%u:%u\n", UMAD_MAJOR, minor);
	writer_make_file(writer, path, text);
	snprintf(path, sizeof(path), "%s/uevent", dir);
	snprintf(text, sizeof(text), "MAJOR=%u\nMINOR=%u\nDEVNAME=infiniband/%s%u\n", UMAD_MAJOR,
		 minor, kind, index);
	writer_make_file(writer, path, text);
	snprintf(path, sizeof(path), "%s/device", dir);
	writer_make_link(writer, path, "../..");
	snprintf(path, sizeof(path), "%s/subsystem", dir);
	writer_make_link(writer, path, "../../../../../class/infiniband_mad");
	snprintf(path, sizeof(path), "sys/class/infiniband_mad/%s%u", kind, index);
	snprintf(dir, sizeof(dir), "../../%s/infiniband_mad/%s%u", pci + strlen("sys/"), kind,
		 index);
	writer_make_link(writer, path, dir);
	snprintf(path, sizeof(path), "sys/dev/char/%u:%u", UMAD_MAJOR, minor);
	snprintf(dir, sizeof(dir), "../../class/infiniband_mad/%s%u", kind, index);
	writer_make_link(writer, path, dir);
	snprintf(path, sizeof(path), "dev/infiniband/%s%u", kind, index);
	writer_make_file(writer, path, "");
}

/* Makes the umad file of a port, and its issm file. A RoCE port has no issm file, as there is no
 * subnet manager. */
static void make_umad(struct writer *writer, const char *pci, const struct adapter *adapter,
		      unsigned int port)
{
	make_port_device(writer, pci, adapter, port, "umad");
	if (!adapter_is_roce(adapter))
		make_port_device(writer, pci, adapter, port, "issm");
}

static void make_class_links(struct writer *writer, const char *pci, const struct adapter *adapter)
{
	char path[256], target[256];
	const char *from_sys = pci + strlen("sys/");

	snprintf(path, sizeof(path), "sys/class/infiniband/%s", adapter->name);
	snprintf(target, sizeof(target), "../../%s/infiniband/%s", from_sys, adapter->name);
	writer_make_link(writer, path, target);
	snprintf(path, sizeof(path), "sys/class/infiniband_verbs/uverbs%u", adapter->index);
	snprintf(target, sizeof(target), "../../%s/infiniband_verbs/uverbs%u", from_sys,
		 adapter->index);
	writer_make_link(writer, path, target);
}

static void make_adapter(struct writer *writer, struct adapter *adapter)
{
	struct sysfs_subject of = { .adapter = adapter };
	char pci[96], ib[128], path[160];

	sysfs_pci_place(adapter, pci, sizeof(pci));
	sysfs_pci_make(writer, adapter);
	ib_dir(adapter, ib, sizeof(ib));
	writer_make_dirs(writer, ib);
	writer_make_files(writer, ib, sysfs_ib_files, &of);
	snprintf(path, sizeof(path), "%s/device", ib);
	writer_make_link(writer, path, "../..");
	snprintf(path, sizeof(path), "%s/subsystem", ib);
	writer_make_link(writer, path, "../../../../../class/infiniband");
	make_uverbs(writer, pci, adapter);
	make_class_links(writer, pci, adapter);
	for (unsigned int port = 1; port <= adapter->num_ports; port++) {
		make_port(writer, adapter, port);
		make_umad(writer, pci, adapter, port);
	}
	for (unsigned int port = 1; port <= adapter->num_ports; port++)
		make_netdev(writer, pci, adapter, port);
}

static const char *const places[] = { "/dev/shm", "/tmp" };

enum { NUM_PLACES = ARRAY_SIZE(places) };

#define OWNER_FILE "owner"

/* Makes OWNER_FILE in the tree. The file is locked before it gets this name, so if it is unlocked,
 * the process that owns the tree is dead. */
static int mark_owned(struct sysfs *sysfs)
{
	static const char unlocked[] = OWNER_FILE ".new";

	sysfs->owner_fd = openat(sysfs->fd, unlocked, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (sysfs->owner_fd < 0)
		return errno;
	if (!flock(sysfs->owner_fd, LOCK_EX | LOCK_NB) &&
	    !renameat(sysfs->fd, unlocked, sysfs->fd, OWNER_FILE))
		return 0;
	return errno;
}

/* Returns whether ROOT is a tree whose owner was killed: its OWNER_FILE is unlocked. A directory
 * without that file is a very new tree, or not one of softhca. */
static bool is_abandoned(const char *root)
{
	char path[96];
	struct stat st;
	bool unlocked;
	int fd;

	snprintf(path, sizeof(path), "%s/" OWNER_FILE, root);
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	unlocked = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		   !flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return unlocked;
}

static void remove_abandoned(const char *place)
{
	static const char prefix[] = "softhca-";
	DIR *dir = opendir(place);
	struct dirent *entry;
	char root[64];

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) ||
		    strlen(place) + strlen(entry->d_name) + 2 > sizeof(root))
			continue;
		strcat(strcat(strcpy(root, place), "/"), entry->d_name);
		if (!is_abandoned(root))
			continue;
		log_note("removing %s, which a killed softhca left behind", root);
		sysfs_remove_tree(root);
	}
	closedir(dir);
}

static int make_root(struct sysfs *sysfs)
{
	int ret;

	for (unsigned int i = 0; i < NUM_PLACES; i++)
		remove_abandoned(places[i]);
	for (unsigned int i = 0; i < NUM_PLACES; i++) {
		snprintf(sysfs->root, sizeof(sysfs->root), "%s/softhca-XXXXXX", places[i]);
		if (!mkdtemp(sysfs->root))
			continue;
		chmod(sysfs->root, 0755);
		sysfs->fd = open(sysfs->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (sysfs->fd < 0)
			return errno;
		ret = mark_owned(sysfs);
		if (ret)
			sysfs_destroy(sysfs);
		return ret;
	}
	return errno;
}

static void make_rdma_cm(struct writer *writer)
{
	char text[32];

	writer_make_file(writer, "dev/infiniband/rdma_cm", "");
	writer_make_file(writer, "sys/class/misc/rdma_cm/abi_version", "4\n");
	snprintf(text, sizeof(text), "%u:%u\n", UCMA_MISC_MAJOR, UCMA_MISC_MINOR);
	writer_make_file(writer, "sys/class/misc/rdma_cm/dev", text);
}

int sysfs_create(struct adapter **adapters, unsigned int num_adapters, struct adapter *vfio,
		 struct sysfs *sysfs)
{
	static const char *const dirs[] = {
		"sys/class/infiniband", "sys/class/infiniband_verbs", "sys/class/infiniband_mad",
		"sys/dev/char",         "sys/class/misc/rdma_cm",     "dev/infiniband"
	};
	struct writer writer = { 0 };
	int ret = make_root(sysfs);
	char abi[16];

	if (ret)
		return ret;
	writer.root = sysfs->fd;
	for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++)
		writer_make_dirs(&writer, dirs[i]);
	sysfs_pci_start(&writer);
	writer_make_file(&writer, "sys/class/infiniband_verbs/abi_version", "6\n");
	snprintf(abi, sizeof(abi), "%u\n", IB_USER_MAD_ABI_VERSION);
	writer_make_file(&writer, "sys/class/infiniband_mad/abi_version", abi);
	make_rdma_cm(&writer);
	/* From the last to the first, as tmpfs lists the newest entry first, and programs use the
	 * first adapter of the list. */
	for (unsigned int i = num_adapters; i > 0; i--)
		make_adapter(&writer, adapters[i - 1]);
	if (vfio)
		sysfs_pci_make_vfio(&writer, vfio, VFIO_FIRST_GROUP);
	if (writer.error)
		sysfs_destroy(sysfs);
	return writer.error;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void sysfs_remove_tree(const char *root)
{
	if (*root)
		nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void sysfs_remove(const struct sysfs *sysfs, const char *path)
{
	char absolute[PATH_MAX];

	if (snprintf(absolute, sizeof(absolute), "%s%s", sysfs->root, path) < (int)sizeof(absolute))
		sysfs_remove_tree(absolute);
}

void sysfs_show_device(const struct sysfs *sysfs, const struct adapter *adapter, bool present)
{
	struct writer writer = { .root = sysfs->fd };
	char path[48];

	if (present) {
		make_device_file(&writer, adapter);
		return;
	}
	snprintf(path, sizeof(path), "/dev/infiniband/uverbs%u", adapter->index);
	sysfs_remove(sysfs, path);
}

void sysfs_destroy(struct sysfs *sysfs)
{
	sysfs_remove_tree(sysfs->root);
	close(sysfs->owner_fd);
	close(sysfs->fd);
}

/* Opens a path in the tree. Retries after EAGAIN: the kernel returns it if any file is renamed
 * while it resolves "..". */
int sysfs_open(const struct sysfs *sysfs, const char *path, uint64_t flags)
{
	struct open_how how = { .flags = flags, .resolve = RESOLVE_IN_ROOT };
	int fd;

	do
		fd = syscall(SYS_openat2, sysfs->fd, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN);
	return fd;
}

static const struct sysfs_file *find_file(const struct sysfs_file *files, const char *name)
{
	for (; files->name; files++)
		if (!strcmp(files->name, name))
			return files;
	return NULL;
}

/* Rewrites a file in place, as programs may have the file open: they read the old text or the new
 * one. */
static void file_rewrite(const struct sysfs *sysfs, const char *path, const char *text)
{
	int fd = sysfs_open(sysfs, path, O_WRONLY | O_CLOEXEC);
	ssize_t len = strlen(text);

	if (fd < 0)
		return;
	if (pwrite(fd, text, len, 0) == len && ftruncate(fd, len))
		log_note("cannot shorten %s of the device tree: %s", path, strerror(errno));
	close(fd);
}

/* Updates file PATH of a port's network interface from the host's file. */
static void refresh_netdev(const struct sysfs *sysfs, struct adapter **adapters,
			   unsigned int num_adapters, const char *path)
{
	char name[IF_NAMESIZE], file[32], text[NETDEV_TEXT_SIZE];
	const char *net = strstr(path, "/net/");

	if (!net || sscanf(net, "/net/%15[^/]/%31s", name, file) != 2)
		return;
	for (unsigned int i = 0; i < num_adapters; i++)
		for (unsigned int port = 1; port <= adapters[i]->num_ports; port++)
			if (netdev_of(adapters[i], port) &&
			    !strcmp(netdev_of(adapters[i], port), name) &&
			    netdev_text(name, port, file, text))
				file_rewrite(sysfs, path, text);
}

void sysfs_refresh(const struct sysfs *sysfs, struct adapter **adapters, unsigned int num_adapters,
		   const char *path)
{
	struct port_counters counters = { 0 };
	struct port_info info = { 0 };
	struct sysfs_subject of = { .info = &info, .counters = &counters };
	const char *device = strstr(path, "/mlx");
	char name[64], text[SYSFS_TEXT_SIZE];
	const struct sysfs_file *file;
	unsigned int index;

	refresh_netdev(sysfs, adapters, num_adapters, path);
	if (!device ||
	    sscanf(device, "/mlx%*1[45]_%u/ports/%u/%63s", &index, &of.port, name) != 3 ||
	    index >= num_adapters)
		return;
	of.adapter = adapters[index];
	if (!strncmp(name, "hw_counters/", 12)) {
		if (hw_counter_text(of.adapter, of.port, name + 12, text))
			file_rewrite(sysfs, path, text);
		return;
	}
	if (!strncmp(name, "counters/", 9))
		file = find_file(sysfs_counter_files, name + 9);
	else
		file = find_file(sysfs_port_files, name);
	if (!file || !file->text || adapter_query_port(of.adapter, of.port, &info) ||
	    adapter_query_counters(of.adapter, of.port, &counters))
		return;
	file->text(&of, text);
	file_rewrite(sysfs, path, text);
}

bool sysfs_claims(const char *path)
{
	static const char *const prefixes[] = {
		"/sys/class/infiniband",
		"/dev/infiniband",
		"/sys/class/misc/rdma_cm",
		"/sys/dev/char/231:",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(path, prefixes[i], strlen(prefixes[i])))
			return true;
	return sysfs_pci_claims(path) || netdev_claims(path);
}
