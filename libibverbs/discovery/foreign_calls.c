/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * foreign_calls.c - the distribution's private interface for libraries that want it before anybody
 * knows of them: a program that is linked with the distribution's libefa.so.1 starts, and its
 * driver is registered.
 *
 * The dynamic linker resolves all of a provider's symbols when the program starts. So they are
 * here, as jumps by a slot. A provider registers its driver before it calls anything else; that
 * loads libforeign-rdmakit, which has the functions, and fills the slots. Nothing is loaded in
 * other programs. No version is a default one, so nothing is linked with these symbols by accident.
 */
#include "libibverbs/private.h"
#include "libibverbs/discovery/foreign_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define HIDDEN          __attribute__((visibility("hidden")))
#define SLOT(num, name) verbs_foreign_slot_##num##_##name

/* Defines a slot, and a function in the private node that jumps by the slot. The arguments stay as
 * they are, in registers and on the stack. */
#define DEFINE_CALL(num, name)                                                              \
	extern void *SLOT(num, name) HIDDEN;                                                \
	void *SLOT(num, name);                                                              \
	void verbs_foreign_call_##num##_##name(void);                                       \
	__asm__(".pushsection .text\n"                                                      \
		".globl verbs_foreign_call_" #num "_" #name "\n"                            \
		".type verbs_foreign_call_" #num "_" #name ", @function\n"                  \
		"verbs_foreign_call_" #num "_" #name ":\n"                                  \
		"	endbr64\n"                                                                \
		"	jmp *verbs_foreign_slot_" #num "_" #name "(%rip)\n"                 \
		".size verbs_foreign_call_" #num "_" #name ", . - verbs_foreign_call_" #num \
		"_" #name "\n"                                                              \
		".popsection\n"                                                             \
		".symver verbs_foreign_call_" #num "_" #name ", " #name "@IBVERBS_PRIVATE_" #num)

#define DEFINE_CALL_LINE(num, name) DEFINE_CALL(num, name);
FOREIGN_CALLS_34(DEFINE_CALL_LINE)
FOREIGN_CALLS_65(DEFINE_CALL_LINE)

/* Guests read this variable to learn whether a lost device counts as destroyed. Our commands have
 * already applied the same setting. */
__asm__(".symver verbs_foreign_lost_34, verbs_allow_disassociate_destroy@IBVERBS_PRIVATE_34");
__asm__(".symver verbs_foreign_lost_65, verbs_allow_disassociate_destroy@IBVERBS_PRIVATE_65");
extern bool verbs_foreign_lost_34, verbs_foreign_lost_65;
VERBS_EXPORT bool verbs_foreign_lost_34;
VERBS_EXPORT bool verbs_foreign_lost_65;

/* Stand in for a function without libforeign-rdmakit. No provider is registered then. */
static int refuse_call(void)
{
	return EOPNOTSUPP;
}

static void *refuse_object(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

/* Finds the function in LIBRARY. dlvsym() also searches the libraries that LIBRARY needs, and so
 * finds OWN, the jump by the slot itself, for a function that LIBRARY lacks. */
static void *find_call(void *library, const char *name, const char *node, void (*own)(void))
{
	void *call = library ? dlvsym(library, name, node) : NULL;

	if (call && call != (void *)own)
		return call;
	return !strcmp(name, "_verbs_init_and_alloc_context") || !strcmp(name, "verbs_open_device")
		       ? (void *)refuse_object
		       : (void *)refuse_call;
}

/* Without a library, leaves what another thread has filled. */
#define FILL_SLOT(num, name)                                                         \
	if (library || !SLOT(num, name))                                             \
		SLOT(num, name) = find_call(library, #name, "IBVERBS_PRIVATE_" #num, \
					    verbs_foreign_call_##num##_##name);

static void fill_34(void *library)
{
	FOREIGN_CALLS_34(FILL_SLOT)
}

static void fill_65(void *library)
{
	FOREIGN_CALLS_65(FILL_SLOT)
}

void verbs_foreign_connect(void *library)
{
	fill_34(library);
	fill_65(library);
	verbs_foreign_lost_34 = verbs_env_is_on("RDMAV_ALLOW_DISASSOC_DESTROY");
	verbs_foreign_lost_65 = verbs_foreign_lost_34;
}

typedef void register_fn(const void *ops);

static void register_by(const char *name, const char *node, const void *ops)
{
	void *bridge, *call;

	if (verbs_foreign_open(verbs_loader_plugins(), "of the distribution", &bridge) !=
	    VERBS_FOREIGN_LOADED) {
		verbs_foreign_connect(NULL);
		return;
	}
	call = dlvsym(bridge, name, node);
	if (call)
		((register_fn *)call)(ops);
}

#define DEFINE_REGISTER(num)                                                              \
	__asm__(".symver verbs_foreign_register_" #num ", verbs_register_driver_" #num    \
		"@IBVERBS_PRIVATE_" #num);                                                \
	VERBS_EXPORT register_fn verbs_foreign_register_##num;                            \
	VERBS_EXPORT void verbs_foreign_register_##num(const void *ops)                   \
	{                                                                                 \
		register_by("verbs_register_driver_" #num, "IBVERBS_PRIVATE_" #num, ops); \
	}

DEFINE_REGISTER(34)
DEFINE_REGISTER(65)
