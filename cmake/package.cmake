# The CMake package `Lockstep`: find_package(Lockstep) elsewhere brings what is compiled here, and the function
# lockstep_add_system (add_system.cmake). `cmake --install` copies it all below a prefix that may be moved; the build
# folder is such a package, too, for ./lockstep --with.
#
#   bin                      the executables of the command
#   include/lockstep         all headers, as in the tree
#   lib/lockstep             archives, and the objects of the systems
#   lib/cmake/Lockstep       the package
#   share/lockstep           tests, models, machines (checker/support/home.hpp) and examples, as in the tree
#   share                    manual pages and completion in shells (manual.cmake)
#   lib/python3              the Python package (python/CMakeLists.txt), where LOCKSTEP_PYTHON is on
#
# A build that is not for this machine's processor alone (the preset `package`) makes a Debian package: cpack.
include(CMakePackageConfigHelpers)

set(parts options packages httplib spec core ${LOCKSTEP_KINDS} proofs proved refimpl cli commands prove sim view)
set(targets ${parts})
list(TRANSFORM targets PREPEND lockstep_)
foreach(part target IN ZIP_LISTS parts targets)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${part})
  add_library(Lockstep::${part} ALIAS ${target})
endforeach()

set(package lib/cmake/Lockstep)
install(TARGETS ${targets} EXPORT LockstepTargets ARCHIVE DESTINATION lib/lockstep OBJECTS DESTINATION lib/lockstep)
install(EXPORT LockstepTargets NAMESPACE Lockstep:: DESTINATION ${package})
install(DIRECTORY spec checker proofs refimpl DESTINATION include/lockstep FILES_MATCHING PATTERN "*.hpp"
        PATTERN spec/models EXCLUDE PATTERN refimpl/machines EXCLUDE PATTERN refimpl/studies EXCLUDE PATTERN proofs/systems EXCLUDE)
install(DIRECTORY litmus examples DESTINATION share/lockstep)
install(DIRECTORY docs/findings DESTINATION share/lockstep/docs)
install(DIRECTORY spec/models DESTINATION share/lockstep/spec)
install(DIRECTORY refimpl/machines refimpl/studies DESTINATION share/lockstep/refimpl)
install(FILES refimpl/timeline.html DESTINATION share/lockstep/refimpl)
install(DIRECTORY refimpl/kernels DESTINATION share/lockstep/refimpl FILES_MATCHING PATTERN "*.cl")
install(DIRECTORY cmake/systems DESTINATION ${package})
install(FILES cmake/packages.cmake cmake/systems.cmake cmake/add_system.cmake cmake/built_from.cpp.in
        DESTINATION ${package})

set(LOCKSTEP_SYSTEM_NAMES ${system_headers})
list(TRANSFORM LOCKSTEP_SYSTEM_NAMES REPLACE "^.*/(.*)\\.hpp$" "\\1")
write_basic_package_version_file(LockstepConfigVersion.cmake COMPATIBILITY ExactVersion)

set(LOCKSTEP_CMAKE_DIR "\${CMAKE_CURRENT_LIST_DIR}")
set(LOCKSTEP_DATA_DIR "\${CMAKE_CURRENT_LIST_DIR}/../../../share/lockstep")
configure_file(cmake/LockstepConfig.cmake.in "${PROJECT_BINARY_DIR}/installed/LockstepConfig.cmake" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/installed/LockstepConfig.cmake"
              "${PROJECT_BINARY_DIR}/LockstepConfigVersion.cmake" DESTINATION ${package})

set(LOCKSTEP_CMAKE_DIR "${PROJECT_SOURCE_DIR}/cmake")
set(LOCKSTEP_DATA_DIR "${PROJECT_SOURCE_DIR}")
configure_file(cmake/LockstepConfig.cmake.in "${PROJECT_BINARY_DIR}/LockstepConfig.cmake" @ONLY)
export(EXPORT LockstepTargets NAMESPACE Lockstep:: FILE "${PROJECT_BINARY_DIR}/LockstepTargets.cmake")

find_program(HELP2MAN help2man)
mark_as_advanced(HELP2MAN)
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" -D \"COMMAND=${PROJECT_BINARY_DIR}/bin/lockstep\"
  -D VERSION=${PROJECT_VERSION} -D \"HELP2MAN=${HELP2MAN}\" -D \"INTO=${PROJECT_BINARY_DIR}/installed/share\"
  -P \"${PROJECT_SOURCE_DIR}/cmake/manual.cmake\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY "${PROJECT_BINARY_DIR}/installed/share/" DESTINATION share)

if(NOT LOCKSTEP_NATIVE)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_CONTACT "The Lockstep developers")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "model checker, prover and simulator for GPU memory-system protocols")
  set(CPACK_PACKAGE_DESCRIPTION "A protocol is written once, as guarded rules in a C++ header: it is explored \
exhaustively, put to litmus tests, proved with Z3, exported to Rumur and SPIN, and simulated with time.")
  # For systems of one's own.
  string(JOIN ", " CPACK_DEBIAN_PACKAGE_RECOMMENDS g++ cmake ninja-build libfmt-dev nlohmann-json3-dev tao-pegtl-dev
         libxxhash-dev libtomlplusplus-dev libz3-dev libcli11-dev libcpp-httplib-dev "libboost1.81-dev | libboost-dev (>= 1.77)")
  # Judges, and what draws.
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "rumur, spin, cvc5, cadical, graphviz, gnuplot-nox")
  if(LOCKSTEP_PYTHON)
    # A module is of one version of Python. Of its packages, frames and arrays alone need any.
    math(EXPR next "${Python3_VERSION_MINOR} + 1")
    set(CPACK_DEBIAN_PACKAGE_DEPENDS
        "python3 (>= ${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}~), python3 (<< ${Python3_VERSION_MAJOR}.${next}~)")
    string(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS ", python3-numpy, python3-pandas")
    set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/postinst"
                                           "${PROJECT_SOURCE_DIR}/cmake/debian/prerm")
  endif()
  include(CPack)
endif()
