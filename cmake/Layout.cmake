# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Decision: docs/adr/0006.
# Where things are installed. The directories of plugins and configuration follow the prefix unless they are given, and are not
# cached: a prefix that is changed later moves them, too.
include(GNUInstallDirs)

if(NOT RDMAKIT_PLUGIN_DIR)
	set(RDMAKIT_PLUGIN_DIR "${CMAKE_INSTALL_FULL_LIBDIR}/libibverbs") # where provider plugins live
endif()
if(NOT RDMAKIT_CONFIG_DIR) # where *.driver files live
	if(CMAKE_INSTALL_PREFIX MATCHES "^/opt/" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_SYSCONFDIR}")
		# The full name would be below /etc/opt, from where a prefix that is moved does not take it along.
		set(RDMAKIT_CONFIG_DIR "${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_SYSCONFDIR}/libibverbs.d")
	else()
		set(RDMAKIT_CONFIG_DIR "${CMAKE_INSTALL_FULL_SYSCONFDIR}/libibverbs.d")
	endif()
endif()

# What is below the prefix is named relative to it, so that "cmake --install --prefix" takes it along.
function(rdmakit_below_prefix out path)
	file(RELATIVE_PATH relative "${CMAKE_INSTALL_PREFIX}" "${path}")
	if(relative MATCHES "^\\.\\.(/|$)")
		set(relative "${path}")
	endif()
	set(${out} "${relative}" PARENT_SCOPE)
endfunction()
rdmakit_below_prefix(RDMAKIT_PLUGIN_DESTINATION "${RDMAKIT_PLUGIN_DIR}")
rdmakit_below_prefix(RDMAKIT_CONFIG_DESTINATION "${RDMAKIT_CONFIG_DIR}")

# How a library that finds itself elsewhere gets to the two.
file(RELATIVE_PATH RDMAKIT_LIBRARY_TO_PLUGINS "${CMAKE_INSTALL_FULL_LIBDIR}" "${RDMAKIT_PLUGIN_DIR}")
file(RELATIVE_PATH RDMAKIT_LIBRARY_TO_CONFIG "${CMAKE_INSTALL_FULL_LIBDIR}" "${RDMAKIT_CONFIG_DIR}")

# What files of pkg-config call the prefix: their own place less the way from there, so that the tree can be moved. The
# distribution's own prefix is said as it is, since pkg-config leaves out only directories that it knows by that name.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
	set(RDMAKIT_PC_PREFIX "/usr")
else()
	file(RELATIVE_PATH RDMAKIT_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
	string(REGEX REPLACE "/$" "" RDMAKIT_PC_PREFIX "\${pcfiledir}/${RDMAKIT_PC_PREFIX}")
endif()
foreach(dir LIBDIR INCLUDEDIR)
	rdmakit_below_prefix(relative "${CMAKE_INSTALL_FULL_${dir}}")
	set(RDMAKIT_PC_${dir} "${relative}")
	if(NOT IS_ABSOLUTE "${relative}")
		set(RDMAKIT_PC_${dir} "\${prefix}/${relative}")
	endif()
endforeach()

# rdmakit_install_library(rdmacm): the targets rdmacm and rdmacm_static, and librdmacm.pc from the current directory.
function(rdmakit_install_library name)
	install(TARGETS ${name} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
	if(ENABLE_STATIC)
		install(TARGETS ${name}_static ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
	else()
		set_target_properties(${name}_static PROPERTIES EXCLUDE_FROM_ALL TRUE) # unit tests may want it
	endif()
	configure_file(lib${name}.pc.in "${CMAKE_CURRENT_BINARY_DIR}/lib${name}.pc" @ONLY)
	install(FILES "${CMAKE_CURRENT_BINARY_DIR}/lib${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
	# Below a prefix that the linker does not know, libibverbs is beside the library that needs it.
	if(NOT CMAKE_INSTALL_PREFIX MATCHES "^/usr/*$")
		set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN")
	endif()
endfunction()

# For find_package(rdmakit).
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/rdmakit")
configure_package_config_file(cmake/rdmakit-config.cmake.in "${CMAKE_BINARY_DIR}/rdmakit-config.cmake"
	INSTALL_DESTINATION "${package_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/rdmakit-config-version.cmake" COMPATIBILITY AnyNewerVersion)
install(FILES "${CMAKE_BINARY_DIR}/rdmakit-config.cmake" "${CMAKE_BINARY_DIR}/rdmakit-config-version.cmake"
	DESTINATION "${package_dir}")
