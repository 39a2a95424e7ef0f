/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * release.c - checks which libibverbs the host is. Its private version number is not enough, as
 * structures change between releases of one number. So the release in its file name must be in the
 * range of releases that have the same tables, and find_qp_mask() probes the one member that
 * differs among them.
 */
#include "bridge/host.h"
#include "util/bits.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

/* Imports the host's ibv_qp_to_qp_ex() as host_qp_to_qp_ex(), because our library has the former
 * name as well. */
__asm__(".symver host_qp_to_qp_ex, ibv_qp_to_qp_ex@IBVERBS_1.6");

size_t bridge_qp_mask_at;

/* Returns whether the file PATH, which is loaded, is our libibverbs. It serves the distribution's
 * providers by the same calls as a host (foreign/). */
static bool is_ours(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	const bool is = library && dlsym(library, "verbs_register_driver");

	if (library)
		dlclose(library);
	return is;
}

/* Returns whether bridge/tables/ describe the host's release, the third number in its file's name:
 * libibverbs.so.1.14.44.0 is release 44. */
static bool release_is_known(const char *provider)
{
	unsigned int abi, release = 0;
	char path[PATH_MAX];
	const char *file;
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)verbs_uninit_context, &info) ||
	    !realpath(info.dli_fname, path))
		snprintf(path, sizeof(path), "libibverbs.so.1");
	if (is_ours(path)) {
		verbs_error("provider %s: stays out: %s is rdmakit's, and has a lib%s of its own",
			    provider, path, provider);
		return false;
	}
	file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if (sscanf(file, "libibverbs.so.1.%u.%u.", &abi, &release) == 2 &&
	    release >= HOST_FIRST_RELEASE && release <= HOST_LAST_RELEASE)
		return true;
	verbs_error("provider %s: stays out: %s is of no release from " HOST_TEXT(
			    HOST_FIRST_RELEASE) " to " HOST_TEXT(HOST_LAST_RELEASE) ", which this "
										    "lib%s is for",
		    provider, path, provider);
	return false;
}

/* Finds where the host looks for VERBS_QP_HAS_EX: before release 45 struct ibv_qp_ex was shorter,
 * so members behind it had other offsets. */
static bool find_qp_mask(const char *provider)
{
	static const size_t places[] = { HOST_QP_MASKS };
	const uint32_t mark = VERBS_QP_HAS_EX;

	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		struct verbs_qp qp = {};

		memcpy((char *)&qp + places[i], &mark, sizeof(mark));
		if (!host_qp_to_qp_ex(&qp.qp))
			continue;
		bridge_qp_mask_at = places[i];
		return true;
	}
	verbs_error("provider %s: stays out: this libibverbs does not find ibv_wr_* of a QP",
		    provider);
	return false;
}

struct search {
	const char *provider, *other;
	uintptr_t own;
};

static int look_at_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	const char *file = strrchr(object->dlpi_name, '/');
	struct search *search = arg;
	const size_t length = strlen(search->provider);

	(void)size;
	if (!file || object->dlpi_addr == search->own || strncmp(file, "/lib", 4) ||
	    strncmp(file + 4, search->provider, length) || !strchr(".-", file[4 + length]))
		return 0;
	search->other = object->dlpi_name;
	return 1;
}

/* Returns whether no other library of this provider is loaded. Both libraries would export the same
 * direct verbs, and each knows only its own devices. */
static bool is_alone(const char *provider)
{
	struct search search = { .provider = provider };
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)look_at_object, &info))
		return true;
	search.own = (uintptr_t)info.dli_fbase;
	dl_iterate_phdr(look_at_object, &search);
	if (!search.other)
		return true;
	verbs_error("provider %s: %s stays out: %s is in this process already", provider,
		    info.dli_fname, search.other);
	return false;
}

bool bridge_fits(const char *provider)
{
	return is_alone(provider) && release_is_known(provider) && find_qp_mask(provider);
}
