/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places.h - the directories of the plugins and of their configuration.
 */
#ifndef LIBIBVERBS_DISCOVERY_PLACES_H
#define LIBIBVERBS_DISCOVERY_PLACES_H

/* Configuration of the build: the directories of library, plugins and configuration, and the
 * relative paths from the library's directory to the other two. */
struct verbs_layout {
	const char *library;
	const char *plugins;
	const char *config;
	const char *library_to_plugins;
	const char *library_to_config;
};

struct verbs_places {
	const char *plugins;
	const char *config;
};

/* Returns the directories of plugins and configuration. The strings live as long as the process. */
struct verbs_places verbs_places_find(const struct verbs_layout *layout);

#endif
