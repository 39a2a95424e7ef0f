/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loader.c - provider drivers: registers them, loads plugins, and finds the driver of a device.
 *
 * RDMAV_DRIVERS or IBV_DRIVERS (colon-separated) and the configuration directory name the plugins.
 * They are loaded when the first device without a driver is found, and again only if descriptors or
 * memory were short. A plugin that does not fit is logged and skipped.
 */
#include "libibverbs/private.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifndef VERBS_STATIC
#include <dlfcn.h>
#endif

#include "libibverbs/config.h"
#include "libibverbs/discovery/places.h"
#include "util/bits.h"

#define PLUGIN_SUFFIX "-rdmakit" RDMAKIT_DRIVER_ABI_STRING ".so"

struct registered {
	const struct verbs_driver *driver;
	bool is_wanted; /* a driver of the distribution that the environment names */
	struct registered *next;
};

static struct registered *drivers;
/* Static entries, so that registering the usual number of drivers needs no memory. */
static struct registered first_drivers[8];
static unsigned int num_first_drivers;
static pthread_mutex_t drivers_lock = PTHREAD_MUTEX_INITIALIZER;

/* whether the environment names the plugin that is being loaded */
static bool is_listed;

/* Whether verbs_loader_before_fork() in this thread has taken the lock. After a timeout it has not,
 * and the handlers after fork() must not unlock it. */
static __thread bool has_drivers_lock;

/* Used instead of pthread_mutex_clocklock(), which the thread sanitizer does not know. */
bool verbs_loader_lock_until(pthread_mutex_t *lock, const struct timespec *until)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct timespec now;

	while (pthread_mutex_trylock(lock)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > until->tv_sec ||
		    (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec))
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

void verbs_loader_before_fork(const struct timespec *until)
{
	has_drivers_lock = verbs_loader_lock_until(&drivers_lock, until);
}

void verbs_loader_forked_in_parent(void)
{
	if (has_drivers_lock)
		pthread_mutex_unlock(&drivers_lock);
	has_drivers_lock = false;
}

void verbs_loader_forked_in_child(void)
{
	has_drivers_lock = false;
	pthread_mutex_init(&drivers_lock, NULL);
}

static bool is_registered(const struct verbs_driver *driver)
{
	for (const struct registered *r = drivers; r; r = r->next)
		if (r->driver == driver)
			return true;
	return false;
}

static void register_driver(const struct verbs_driver *driver)
{
	struct registered *r;

	if (is_registered(driver))
		return;
	r = num_first_drivers < ARRAY_SIZE(first_drivers) ? &first_drivers[num_first_drivers++]
							  : malloc(sizeof(*r));
	if (!r) {
		verbs_error("driver %s: no memory to register it", driver->name);
		return;
	}
	*r = (struct registered){ driver, is_listed && driver->matches, drivers };
	drivers = r;
}

VERBS_EXPORT void verbs_register_driver(const struct verbs_driver *driver)
{
	if (driver->magic != VERBS_DRIVER_MAGIC) {
		verbs_warn("a provider plugin was built against another driver.h: ignored");
		return;
	}
	pthread_mutex_lock(&drivers_lock);
	register_driver(driver);
	pthread_mutex_unlock(&drivers_lock);
}

static bool pci_matches(const struct verbs_driver *driver, const struct verbs_device_info *info)
{
	if (!driver->pci_ids || !info->pci.vendor)
		return false;
	for (const struct verbs_pci_id *id = driver->pci_ids; id->vendor; id++)
		if (id->vendor == info->pci.vendor && id->device == info->pci.device)
			return true;
	return false;
}

static bool driver_matches(const struct verbs_driver *driver, const struct verbs_device_info *info)
{
	if (driver->matches)
		return driver->matches(driver, info);
	if (info->driver_id)
		return driver->driver_id == info->driver_id;
	return pci_matches(driver, info);
}

static const struct verbs_driver *find_matching(const struct verbs_device_info *info,
						bool is_wanted)
{
	for (const struct registered *r = drivers; r; r = r->next)
		if (r->is_wanted == is_wanted && driver_matches(r->driver, info))
			return r->driver;
	return NULL;
}

/* Returns the driver of the device INFO, or NULL, whether or not the driver supports the kernel
 * driver's ABI. Prefers a driver of the distribution to ours only if the environment names it. */
const struct verbs_driver *verbs_loader_match(const struct verbs_device_info *info)
{
	const struct verbs_driver *driver;

	pthread_mutex_lock(&drivers_lock);
	driver = find_matching(info, true);
	if (!driver)
		driver = find_matching(info, false);
	pthread_mutex_unlock(&drivers_lock);
	return driver;
}

#ifdef VERBS_STATIC

static const struct verbs_driver *const *default_drivers;
static atomic_bool providers_are_named;

void verbs_loader_set_default(const struct verbs_driver *const *all)
{
	default_drivers = all;
}

/* Registers the providers of a static program (RDMA_STATIC_PROVIDERS). The list ends with NULL. */
void ibv_static_providers(void *unused, ...)
{
	const struct verbs_driver *driver;
	va_list args;

	atomic_store(&providers_are_named, true);
	va_start(args, unused);
	while ((driver = va_arg(args, const struct verbs_driver *)))
		if (driver->name)
			verbs_register_driver(driver);
	va_end(args);
}

void verbs_loader_load_drivers(void)
{
	if (atomic_load(&providers_are_named))
		return;
	for (const struct verbs_driver *const *driver = default_drivers; driver && *driver;
	     driver++)
		verbs_register_driver(*driver);
}

bool verbs_loader_load_foreign(uint32_t driver_id)
{
	(void)driver_id;
	return false;
}

const char *verbs_loader_cure(void)
{
	return ": a static program has the providers that it was compiled with, as "
	       "-DRDMA_STATIC_PROVIDERS=all, or all those that pkg-config --static links";
}

#else

static struct verbs_places places;
static bool all_loaded;

/* Makes a later call of ibv_get_device_list() try again after a temporary shortage. A bad plugin or
 * file is not tried again, because it would fail and log each time. */
static void note_failure(int err)
{
	if (err == EMFILE || err == ENFILE || err == ENOMEM || err == EINTR)
		all_loaded = false;
}

/* Looks for the distribution's plugin of a provider. */
static bool find_foreign_plugin(const char *name, char *found, size_t size)
{
	struct dirent *entry;
	DIR *dir = opendir(places.plugins);
	char prefix[64];
	bool hit = false;

	if (!dir)
		return false;
	snprintf(prefix, sizeof(prefix), "lib%s-rdmav", name);
	while (!hit && (entry = readdir(dir))) {
		hit = !strncmp(entry->d_name, prefix, strlen(prefix));
		if (hit)
			snprintf(found, size, "%s", entry->d_name);
	}
	closedir(dir);
	return hit;
}

/* Says why a configured provider is missing. A plugin of the distribution is there in its place
 * where libibverbs is installed without our providers: such a plugin is loaded when an adapter
 * needs it, if libforeign-rdmakit is there and the provider's name is known. */
static void explain_configured(const char *name, const char *why)
{
	char found[NAME_MAX + 1];

	if (!find_foreign_plugin(name, found, sizeof(found)))
		verbs_warn("provider %s: skipped: %s", name, why);
	else if (!verbs_foreign_has_bridge(places.plugins))
		verbs_warn("provider %s: skipped: %s/%s was built for another libibverbs, and "
			   "lib%s" PLUGIN_SUFFIX " is not there",
			   name, places.plugins, found, name);
	else if (!verbs_foreign_names(name))
		verbs_warn("provider %s: skipped: %s/%s is of the distribution, and is loaded only "
			   "if IBV_DRIVERS names it",
			   name, places.plugins, found);
}

static bool open_plugin(const char *path)
{
	/* The handle stays open: a provider is never unloaded, because devices and contexts refer
	 * to it. */
	errno = 0;
	if (!dlopen(path, RTLD_NOW)) {
		note_failure(errno);
		return false;
	}
	verbs_info("loaded %s", path);
	return true;
}

/* Loads a plugin. A NAME with a slash is a path without suffix. Otherwise the plugin directory is
 * searched first, and the linker's search path only if the file does not exist, so that a broken
 * plugin is not reported as "not found". */
static bool find_plugin(const char *name)
{
	char path[PATH_MAX];

	if (strchr(name, '/')) {
		snprintf(path, sizeof(path), "%s" PLUGIN_SUFFIX, name);
		return open_plugin(path);
	}
	snprintf(path, sizeof(path), "%s/lib%s" PLUGIN_SUFFIX, places.plugins, name);
	if (open_plugin(path))
		return true;
	if (!access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), "lib%s" PLUGIN_SUFFIX, name);
	return open_plugin(path);
}

static void load_plugin(const char *name)
{
	enum verbs_foreign_result result;
	const char *why;

	if (find_plugin(name))
		return;
	why = dlerror();
	result = verbs_foreign_load(places.plugins, name);
	if (result == VERBS_FOREIGN_ABSENT)
		verbs_warn("provider %s: skipped: %s", name, why);
	else if (result == VERBS_FOREIGN_SHORT)
		all_loaded = false;
}

bool verbs_loader_load_foreign(uint32_t driver_id)
{
	const char *name = verbs_foreign_plugin(driver_id);
	enum verbs_foreign_result result;
	static uint64_t tried;

	if (!name || driver_id >= 64 || tried >> driver_id & 1)
		return false;
	result = verbs_foreign_load(places.plugins, name);
	if (result != VERBS_FOREIGN_SHORT)
		tried |= (uint64_t)1 << driver_id;
	return result == VERBS_FOREIGN_LOADED;
}

/* Loads a configured driver. The distribution configures its providers on every machine: they are
 * loaded if an adapter needs them, and device.c reports a missing one then. */
static void load_configured(const char *name)
{
	if (!find_plugin(name) && !verbs_foreign_has(name))
		explain_configured(name, dlerror());
}

static void load_listed(const char *list)
{
	char *names = strdup(list), *save = NULL;

	if (!names) {
		note_failure(ENOMEM);
		return;
	}
	is_listed = true;
	for (char *name = strtok_r(names, ":;", &save); name; name = strtok_r(NULL, ":;", &save))
		load_plugin(name);
	is_listed = false;
	free(names);
}

static struct verbs_places find_places(void)
{
	static const struct verbs_layout layout = {
		.library = RDMAKIT_LIBRARY_DIR,
		.plugins = RDMAKIT_PLUGIN_DIR,
		.config = RDMAKIT_CONFIG_DIR,
		.library_to_plugins = RDMAKIT_LIBRARY_TO_PLUGINS,
		.library_to_config = RDMAKIT_LIBRARY_TO_CONFIG,
	};

	return verbs_places_find(&layout);
}

const char *verbs_loader_plugins(void)
{
	return find_places().plugins;
}

/* Loads the plugins at the first call, and again after a shortage, because a plugin that lacked a
 * descriptor or memory may load then. The caller holds the lock of the device list. */
void verbs_loader_load_drivers(void)
{
	const char *list;

	if (all_loaded)
		return;
	all_loaded = true;
	errno = 0;
	places = find_places();
	note_failure(errno);
	list = secure_getenv("RDMAV_DRIVERS");
	if (!list)
		list = secure_getenv("IBV_DRIVERS");
	if (list)
		load_listed(list);
	verbs_config_read(places.config, load_configured, note_failure);
}

const char *verbs_loader_cure(void)
{
	return "";
}

#endif
