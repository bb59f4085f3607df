# Third-party packages, for the tree and, installed beside LockstepConfig.cmake, for whoever builds against it. Debian
# and Ubuntu package them all; whatever is missing is named in one message. The wrapper ./lockstep installs the same
# packages.

set(lockstep_missing "")

# package(<Debian package> <found>): notes the package as missing where <found> is false.
macro(lockstep_package package found)
  if(NOT ${found})
    list(APPEND lockstep_missing ${package})
  endif()
endmacro()

find_package(Threads REQUIRED)

find_package(fmt QUIET CONFIG)
lockstep_package(libfmt-dev fmt_FOUND)
find_package(CLI11 QUIET CONFIG)
lockstep_package(libcli11-dev CLI11_FOUND)
find_package(nlohmann_json QUIET CONFIG)
lockstep_package(nlohmann-json3-dev nlohmann_json_FOUND)
find_package(pegtl QUIET CONFIG)
lockstep_package(tao-pegtl-dev pegtl_FOUND)
if(NOT CMAKE_FIND_PACKAGE_NAME STREQUAL "Lockstep")
  find_package(Catch2 QUIET CONFIG)
  lockstep_package(catch2 Catch2_FOUND)
endif()

# Boost.Describe came with 1.77; Debian 12's libboost-dev is 1.74, with 1.81 beside it.
find_package(Boost 1.77 QUIET CONFIG)
lockstep_package("libboost-dev (1.77 or later: libboost1.81-dev on Debian 12)" Boost_FOUND)

find_path(XXHASH_INCLUDE_DIR xxhash.h)
lockstep_package(libxxhash-dev XXHASH_INCLUDE_DIR)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h)
lockstep_package(libtomlplusplus-dev TOMLPLUSPLUS_INCLUDE_DIR)
mark_as_advanced(TOMLPLUSPLUS_INCLUDE_DIR)

# The server of `lockstep view`. Debian compiles it apart from its header, with these three, on which what the header
# declares depends; elsewhere it may be a header alone.
find_path(HTTPLIB_INCLUDE_DIR httplib.h)
find_library(HTTPLIB_LIBRARY cpp-httplib)
mark_as_advanced(HTTPLIB_INCLUDE_DIR HTTPLIB_LIBRARY)
lockstep_package(libcpp-httplib-dev HTTPLIB_INCLUDE_DIR)

# Z3's C++ interface, for the prover. Debian ships no CMake package for it.
find_path(Z3_INCLUDE_DIR z3++.h PATH_SUFFIXES z3)
find_library(Z3_LIBRARY z3)
mark_as_advanced(XXHASH_INCLUDE_DIR Z3_INCLUDE_DIR Z3_LIBRARY)
if(TARGET Z3::Z3)
elseif(Z3_INCLUDE_DIR AND Z3_LIBRARY)
  add_library(Z3::Z3 UNKNOWN IMPORTED)
  set_target_properties(
    Z3::Z3 PROPERTIES IMPORTED_LOCATION "${Z3_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Z3_INCLUDE_DIR}")
else()
  list(APPEND lockstep_missing libz3-dev)
endif()

if(lockstep_missing)
  set(names ${lockstep_missing})
  list(TRANSFORM names REPLACE "libboost-dev .*" "libboost1.81-dev")
  list(JOIN names " " names)
  list(JOIN lockstep_missing ", " lockstep_missing)
  message(FATAL_ERROR "These packages are missing: ${lockstep_missing}. On Debian or Ubuntu:\n"
                      "  sudo apt-get install --no-install-recommends ${names}\n"
                      "(or run ./lockstep, which installs what it lacks)")
endif()
