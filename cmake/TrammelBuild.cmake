# How everything of Trammel is compiled: places of the products, ccache, warnings, sanitizers, unity batches.

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(TRAMMEL_CCACHE ccache DOC "Compiler cache, used when present")
if(TRAMMEL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TRAMMEL_CCACHE}")
endif()

# Flags of every target of this project; none of them reaches programs that use the library.
# Neither -ffast-math nor -march: results must not depend on the machine the library was built on.
function(trammel_configure target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE
    -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wold-style-cast)
  if(TRAMMEL_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(TRAMMEL_SANITIZE)
    # Without the checks of every access that the address sanitizer and Eigen's assertions make anyway: with them a batch
    # takes clang 29 s instead of 16 s (gcc: 33 s; the release build: 21 s).
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined
      -fno-sanitize=vptr,null,alignment,pointer-overflow,object-size -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Instrumented code sends gcc's flow analysis astray inside Eigen.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
  endif()
  if(TRAMMEL_PRECOMPILE_EIGEN)
    # Nearly every source includes them through base/types.h: half of the time of a source that is compiled alone.
    target_precompile_headers(${target} PRIVATE <Eigen/Core> <Eigen/Geometry>)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # In a batch gcc takes every .cc for a header and warns of types that rightly use an anonymous namespace.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# With CMAKE_UNITY_BUILD: compile the files in batches that never cross a folder (trammel/read, trammel/elements, ...),
# so that a new file moves no file of another folder into other company. Files not named here are compiled alone.
# Most of the time goes into templates of Eigen and gtest, which a batch makes once: the five tests of couplings took
# 31 s alone and 19 s as one. Precompiled headers brought nothing beyond that (18.7 s), and with them gcc 12 warns of
# the standard library's own code.
function(trammel_unity_by_folder)
  set(batch_size 8)
  foreach(source IN LISTS ARGN)
    string(REGEX MATCH "^[^/]+/?[^/]*/" folder "${source}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR batch "${count_${folder}} / ${batch_size}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}${batch}")
  endforeach()
endfunction()
