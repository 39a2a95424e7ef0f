# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Decision: docs/adr/0003.
# rdmakit_provider(NAME VERSION 1.27 SOURCES ... TWICE ... DATA ... VARIANTS ... CHOOSER ... HEADERS ...)
#
# makes a provider of the files in the current directory: libNAME.so.1, which is at once the library of direct verbs and the
# plugin that libibverbs loads (a link in the plugin directory), and libNAME.a for static programs. Beside the sources lie
# libNAME.map, libNAME.pc.in and NAME.driver.
#
#   VERSION   the ABI's; its first number is the SONAME's
#   SOURCES   objects and direct verbs: what needs the kernel
#   TWICE     those that static programs have in another form (VERBS_STATIC_PROVIDER): compiled for each
#   DATA      the data path; an object library NAME_data, which unit tests run on rings in plain memory
#   VARIANTS  those of the data path that are compiled a second time for x86-64-v3, as NAME_data_v3, with NAME_DATA_V3 (in
#             capitals) defined: a header of the provider gives their symbols other names then
#   CHOOSER   the file of DATA that chooses between the two; it sees NAME_HAS_DATA_V3 where there is a choice
#   HEADERS   the public ones
#
# What providers/common has is linked into the shared library, and not part of the archive: it is in libibverbs.a, as a program
# may link several providers' archives.
include(CheckCCompilerFlag)
set(RDMAKIT_V3_OPTIONS -mavx -mbmi2 -mmovbe)

# The object libraries of the data path; OUT is set to their objects.
function(rdmakit_provider_data name out)
	cmake_parse_arguments(arg "" "CHOOSER" "DATA;VARIANTS" ${ARGN})
	string(TOUPPER "${name}" prefix)

	# On the data path two stores of 4 bytes are cheaper than packing them into a vector register first.
	set_source_files_properties(${arg_DATA} ${arg_VARIANTS} PROPERTIES COMPILE_OPTIONS -fno-tree-slp-vectorize)
	add_library(${name}_data OBJECT ${arg_VARIANTS} ${arg_DATA})
	target_link_libraries(${name}_data PUBLIC rdmakit_provider_common)
	set(objects $<TARGET_OBJECTS:${name}_data>)

	if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
		check_c_compiler_flag("${RDMAKIT_V3_OPTIONS}" RDMAKIT_HAS_V3)
	endif()
	# A sanitizer has nothing else to say of the second variant.
	if(RDMAKIT_HAS_V3 AND arg_VARIANTS AND NOT RDMAKIT_SANITIZE)
		add_library(${name}_data_v3 OBJECT ${arg_VARIANTS})
		target_compile_options(${name}_data_v3 PRIVATE ${RDMAKIT_V3_OPTIONS})
		target_compile_definitions(${name}_data_v3 PUBLIC ${prefix}_DATA_V3)
		target_link_libraries(${name}_data_v3 PUBLIC rdmakit_provider_common)
		set_source_files_properties("${arg_CHOOSER}" PROPERTIES COMPILE_DEFINITIONS ${prefix}_HAS_DATA_V3)
		list(APPEND objects $<TARGET_OBJECTS:${name}_data_v3>)
	endif()
	set(${out} "${objects}" PARENT_SCOPE)
endfunction()

# The plugin by its relative name, so that a staged tree can be moved.
function(rdmakit_provider_plugin name file)
	set(link "${CMAKE_CURRENT_BINARY_DIR}/lib${name}-rdmakit${RDMAKIT_DRIVER_ABI}.so")
	file(RELATIVE_PATH target "${RDMAKIT_PLUGIN_DIR}" "${CMAKE_INSTALL_FULL_LIBDIR}/${file}")
	file(CREATE_LINK "${target}" "${link}" SYMBOLIC)
	install(FILES "${link}" DESTINATION "${RDMAKIT_PLUGIN_DESTINATION}")
endfunction()

function(rdmakit_provider name)
	cmake_parse_arguments(arg "" "VERSION;CHOOSER" "SOURCES;TWICE;DATA;VARIANTS;HEADERS" ${ARGN})
	set(version "${arg_VERSION}.${RDMAKIT_RELEASE}")
	set(map "${CMAKE_CURRENT_SOURCE_DIR}/lib${name}.map")
	string(REGEX MATCH "^[0-9]+" soversion "${arg_VERSION}")

	rdmakit_public_headers(DIR infiniband FILES ${arg_HEADERS})
	rdmakit_provider_data(${name} data CHOOSER "${arg_CHOOSER}" DATA ${arg_DATA} VARIANTS ${arg_VARIANTS})

	# The same objects are in the libraries that bridge/ makes for the distribution's libibverbs.
	add_library(${name}_objects OBJECT ${arg_SOURCES})
	target_link_libraries(${name}_objects PRIVATE ibverbs rdmakit_provider_common rdmakit_util)
	add_library(${name}_plugin_objects OBJECT ${arg_TWICE})
	target_link_libraries(${name}_plugin_objects PRIVATE ibverbs rdmakit_provider_common rdmakit_util)
	list(APPEND data $<TARGET_OBJECTS:${name}_objects>)
	set_property(TARGET ${name}_objects PROPERTY RDMAKIT_ALL_OBJECTS $<TARGET_OBJECTS:${name}_plugin_objects> ${data})
	set_property(TARGET ${name}_objects PROPERTY RDMAKIT_ABI_VERSION "${version}")

	add_library(${name} SHARED $<TARGET_OBJECTS:${name}_plugin_objects> ${data})
	target_link_libraries(${name} PRIVATE ibverbs rdmakit_provider_common rdmakit_util)
	# The driver that its constructor registers is used for as long as libibverbs is there: a program that closes its own
	# handle must not unload it.
	target_link_options(${name} PRIVATE "LINKER:-z,nodelete"
		"LINKER:--version-script=${map},-z,now,-z,relro,--as-needed")
	if(NOT RDMAKIT_SANITIZE)
		target_link_options(${name} PRIVATE "LINKER:-z,defs")
	endif()
	set_target_properties(${name} PROPERTIES VERSION "${version}" SOVERSION "${soversion}" LINK_DEPENDS "${map}")

	add_library(${name}_static STATIC ${arg_TWICE} ${data})
	target_compile_definitions(${name}_static PRIVATE VERBS_STATIC_PROVIDER)
	set_target_properties(${name}_static PROPERTIES OUTPUT_NAME ${name})

	rdmakit_install_library(${name})
	install(FILES ${name}.driver DESTINATION "${RDMAKIT_CONFIG_DESTINATION}")
	rdmakit_provider_plugin(${name} "lib${name}.so.${version}")
endfunction()
