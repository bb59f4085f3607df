# A system is a header: the build makes its translation units, one for each value kind, so that what is explored is
# optimized and what only prints is not. They register themselves; nothing is edited to add one.

# lockstep_add_reading(<target> <kind> <header>): adds to an OBJECT library the unit that reads the header with one
# kind: concrete, full (where sizes are large), recorded or timed (cmake/systems/<kind>.cpp.in). The header, relative to an include folder, has a
# namespace lockstep::<stem> with a struct Info.
function(lockstep_add_reading target kind header)
  cmake_path(GET header STEM LOCKSTEP_SYSTEM)
  set(LOCKSTEP_SYSTEM_HEADER "${header}")
  set(source "${PROJECT_BINARY_DIR}/systems/${LOCKSTEP_SYSTEM}.${kind}.cpp")
  configure_file("${LOCKSTEP_SYSTEMS_DIR}/${kind}.cpp.in" "${source}" @ONLY)
  target_sources(${target} PRIVATE "${source}")
endfunction()

set(LOCKSTEP_SYSTEMS_DIR "${CMAKE_CURRENT_LIST_DIR}/systems")

# The headers below the folders that have a struct Info, relative to the project's root.
function(lockstep_system_headers variable)
  set(found "")
  foreach(folder IN LISTS ARGN)
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/${folder}/*.hpp")
    foreach(header IN LISTS headers)
      file(STRINGS "${PROJECT_SOURCE_DIR}/${header}" info REGEX "^struct Info {" LIMIT_COUNT 1)
      if(info)
        list(APPEND found "${header}")
      endif()
    endforeach()
  endforeach()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()
