# Emscripten's own toolchain file, wherever the em++ on PATH comes from.

find_program(SOFTLOOKUP_EMXX em++ REQUIRED)
get_filename_component(emscripten_root "${SOFTLOOKUP_EMXX}" REALPATH)
get_filename_component(emscripten_root "${emscripten_root}" DIRECTORY)
set(toolchain cmake/Modules/Platform/Emscripten.cmake)
# A packaged em++ may be a script far from its root.
if(NOT EXISTS "${emscripten_root}/${toolchain}")
  execute_process(
    COMMAND em-config EMSCRIPTEN_ROOT OUTPUT_VARIABLE emscripten_root OUTPUT_STRIP_TRAILING_WHITESPACE
                                                      COMMAND_ERROR_IS_FATAL ANY
  )
endif()

# The tests run in the Node that runs everything else.
find_program(CMAKE_CROSSCOMPILING_EMULATOR node REQUIRED)

include("${emscripten_root}/${toolchain}")
