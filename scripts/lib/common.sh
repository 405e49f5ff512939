# SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What every script here starts from: the source folder, messages, and how many jobs to run. Sourced by bash.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
script=$(basename "$0")

# step TEXT: what the script does next.
step() { printf '\n==> %s\n' "$*"; }

# say TEXT: a detail of the step.
say() { printf '    %s\n' "$*"; }

# die TEXT...: one line for each argument, then the end with exit code 1.
die() {
  printf '%s: %s\n' "$script" "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

# Ninja would start two jobs more than there are cores, and two compilers of this code fill a small machine's memory.
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

# configure_and_build PRESET [TARGET...]: all targets when none is named.
configure_and_build() {
  local preset=$1 log
  shift
  cd "$root" || return
  log=$(cmake --preset "$preset" 2>&1) || {
    printf '%s\n' "$log"
    return 1
  }
  # Once more for the files that were emitted since the last build: Ninja looks for them by itself (CONFIGURE_DEPENDS).
  cmake --build --preset "$preset" ${1:+--target "$@"}
}
