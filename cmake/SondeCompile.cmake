# Compiler settings shared by every target of the project.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")

add_library(sonde_compile INTERFACE)
target_compile_definitions(sonde_compile INTERFACE _GNU_SOURCE)
target_compile_options(sonde_compile INTERFACE
  -Wall -Wextra -Werror -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes
  -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wformat=2
  -fno-common -fstack-protector-strong)
# gcc clears structs by "rep stos", which takes longer than the forty or four hundred bytes need.
include(CheckCCompilerFlag)
set(SONDE_CLEAR_STRUCTS -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
check_c_compiler_flag(${SONDE_CLEAR_STRUCTS} SONDE_HAS_MEMSET_STRATEGY)
if(SONDE_HAS_MEMSET_STRATEGY)
  target_compile_options(sonde_compile INTERFACE ${SONDE_CLEAR_STRUCTS})
endif()
target_include_directories(sonde_compile INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)

if(SONDE_SANITIZE)
  target_compile_options(sonde_compile INTERFACE
    -fsanitize=${SONDE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(sonde_compile INTERFACE -fsanitize=${SONDE_SANITIZE})
endif()
if(SONDE_FUZZ)
  target_compile_options(sonde_compile INTERFACE -fsanitize=fuzzer-no-link)
endif()
