# The page of `trammel view`, bundled from viewer/ with npm and put into the program as gzipped bytes.
#   TRAMMEL_VIEWER = AUTO   with npm; left out, with a message, where it is missing or cannot load its packages
#                    ON     its absence is an error
#                    OFF    left out
#   TRAMMEL_VIEWER_BUNDLE   a page that was bundled elsewhere (viewer.html.gz), for machines without network
set(TRAMMEL_VIEWER AUTO CACHE STRING "Build the viewer: AUTO, ON or OFF")
set_property(CACHE TRAMMEL_VIEWER PROPERTY STRINGS AUTO ON OFF)
set(TRAMMEL_VIEWER_BUNDLE "" CACHE FILEPATH "A page of the viewer that was bundled elsewhere, viewer.html.gz")

set(viewer_source "${PROJECT_SOURCE_DIR}/viewer")
set(viewer_build "${PROJECT_BINARY_DIR}/viewer")

# Loads the packages that the lock file names, once for each lock file; `why` is empty if they are there.
# Scripts of packages are not run. It happens now and not in the build, so that AUTO can do without.
function(trammel_load_viewer_packages why)
  set(${why} "" PARENT_SCOPE)
  find_program(TRAMMEL_NODE NAMES node nodejs)
  find_program(TRAMMEL_NPM npm)
  if(NOT TRAMMEL_NODE OR NOT TRAMMEL_NPM)
    set(${why} "npm not found (apt-get install npm, or -DTRAMMEL_VIEWER_BUNDLE=FILE)" PARENT_SCOPE)
    return()
  endif()
  file(SHA256 "${viewer_source}/package-lock.json" lock)
  if(EXISTS "${viewer_build}/packages-${lock}")
    return()
  endif()
  foreach(name package.json package-lock.json .npmrc)
    configure_file("${viewer_source}/${name}" "${viewer_build}/${name}" COPYONLY)
  endforeach()
  execute_process(COMMAND "${TRAMMEL_NPM}" ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
    WORKING_DIRECTORY "${viewer_build}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
  if(failed)
    set(${why} "npm could not load its packages (-DTRAMMEL_VIEWER_BUNDLE=FILE does without)\n${said}" PARENT_SCOPE)
    return()
  endif()
  file(TOUCH "${viewer_build}/packages-${lock}")
endfunction()

# Adds the page to `target`, or an empty one.
function(trammel_embed_viewer target)
  set(page "")
  if(TRAMMEL_VIEWER_BUNDLE)
    set(page "${TRAMMEL_VIEWER_BUNDLE}")
  elseif(TRAMMEL_VIEWER)
    trammel_load_viewer_packages(why)
    if(why AND TRAMMEL_VIEWER STREQUAL "AUTO")
      message(NOTICE "Viewer left out: ${why}")
    elseif(why)
      message(FATAL_ERROR "Viewer: ${why}")
    else()
      set(page "${viewer_build}/viewer.html.gz")
      file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${viewer_source}/src/*")
      add_custom_command(OUTPUT "${page}"
        COMMAND "${TRAMMEL_NODE}" "${viewer_source}/build.mjs" --packages "${viewer_build}" --output "${page}"
        DEPENDS ${sources} "${viewer_source}/build.mjs" "${viewer_source}/package-lock.json"
        COMMENT "Bundling the viewer" VERBATIM)
    endif()
  endif()
  set(embedded "${viewer_build}/embedded_page.cc")
  add_custom_command(OUTPUT "${embedded}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=${page}" "-DOUTPUT=${embedded}" -P "${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake"
    DEPENDS ${page} "${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake" VERBATIM)
  target_sources(${target} PRIVATE "${embedded}")
  set_source_files_properties("${embedded}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# The tests of the viewer as one entry of ctest. Node is needed for all of them, chromium and playwright-core (npm ci in
# viewer/) for those of the page; what is missing is counted as skipped. Those of runs that are watched depend on what
# else the machine does: `make viewer-check` has them.
function(trammel_test_viewer)
  if(NOT TRAMMEL_VIEWER OR TRAMMEL_VIEWER_BUNDLE OR NOT TRAMMEL_NODE OR NOT EXISTS "${viewer_build}/node_modules")
    message(STATUS "Tests of the viewer left out: it is not bundled here")
    return()
  endif()
  add_executable(viewer-samples "${viewer_source}/tests/write_samples.cc" "${PROJECT_SOURCE_DIR}/app/view_format.cc")
  target_link_libraries(viewer-samples PRIVATE Trammel::trammel nlohmann_json::nlohmann_json ZLIB::ZLIB)
  trammel_configure(viewer-samples)
  add_custom_command(TARGET viewer-samples POST_BUILD COMMAND viewer-samples "${viewer_build}" VERBATIM)
  add_test(NAME viewer/all COMMAND "${TRAMMEL_NODE}" "${viewer_source}/tests/run.mjs" --packages "${viewer_build}"
    --samples "${viewer_build}" --bundle "${viewer_build}/viewer.html.gz")
  set_tests_properties(viewer/all PROPERTIES TIMEOUT 600)  # 20 s on a machine of its own
endfunction()
