# How our own code is compiled. What whoever links it has to share is the one target `lockstep_options`: include root,
# processor, sanitizers. Warnings are for this tree alone.

add_library(lockstep_options INTERFACE)
target_include_directories(lockstep_options INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                                                      "$<INSTALL_INTERFACE:include/lockstep>")
target_compile_features(lockstep_options INTERFACE cxx_std_20)
add_compile_options(-Wall -Wextra -Wpedantic -Wconversion)

# GCC 12 warns of its own library where there is nothing wrong: of std::string's operator+ (bug 105651) and of
# the AVX-512 intrinsics that xxHash uses (bug 105593).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(lockstep_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-maybe-uninitialized)
endif()

# The compiler collects its garbage less often: 8 % less time on the largest unit, and no more memory there.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()

if(LOCKSTEP_WERROR)
  add_compile_options(-Werror)
endif()

if(LOCKSTEP_NATIVE)
  target_compile_options(lockstep_options INTERFACE -march=native)
endif()

if(LOCKSTEP_SANITIZE)
  set(sanitize -fsanitize=${LOCKSTEP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(lockstep_options INTERFACE ${sanitize})
  target_link_options(lockstep_options INTERFACE ${sanitize})
endif()

# Imported targets are SYSTEM for whoever links them, so only our own code is held to our warnings.
add_library(lockstep_packages INTERFACE)
target_include_directories(lockstep_packages SYSTEM INTERFACE "${XXHASH_INCLUDE_DIR}" "${TOMLPLUSPLUS_INCLUDE_DIR}")
target_link_libraries(lockstep_packages INTERFACE fmt::fmt nlohmann_json::nlohmann_json taocpp::pegtl Boost::headers
                                                  Threads::Threads)

add_library(lockstep_httplib INTERFACE)
target_include_directories(lockstep_httplib SYSTEM INTERFACE "${HTTPLIB_INCLUDE_DIR}")
if(HTTPLIB_LIBRARY)
  target_link_libraries(lockstep_httplib INTERFACE "${HTTPLIB_LIBRARY}")
  target_compile_definitions(lockstep_httplib INTERFACE CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT
                                                        CPPHTTPLIB_BROTLI_SUPPORT)
endif()

if(LOCKSTEP_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "LOCKSTEP_FUZZ needs clang: configure with the preset `fuzz`")
  endif()
  target_compile_options(lockstep_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
