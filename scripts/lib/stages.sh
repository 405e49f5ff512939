# SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Stages of a test run: each runs in turn, whatever became of those before, and their counts are summed. Sourced after
# common.sh.

logs=${root:?}/build/logs
rm -rf "$logs"
passed=0
failed=0
failed_stages=()

# counts_of LOG: "PASSED FAILED", summed over the summary lines in it. A stage that has none counts as one.
counts_of() {
  sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
    /^\[doctest\] test cases:/ {
      for (i = 2; i <= NF; i++) {
        if ($i == "passed") passed += $(i - 1)
        if ($i == "failed") failed += $(i - 1)
      }
    }
    /tests passed, [0-9]+ tests failed out of/ { passed += $NF - $4; failed += $4 } # ctest
    /^([^ ]+: )?[0-9]+ passed, [0-9]+ failed$/ { passed += $(NF - 3); failed += $(NF - 1) }
    END { print passed + 0, failed + 0 }'
}

# stage NAME COMMAND...: COMMAND's output is shown, and kept in build/logs/NAME.log. A failure is counted, and is not the
# exit code: a call of this in front of `||` or in an `if` would turn `set -e` off inside COMMAND, whatever it sets.
stage() {
  local name=$1 code=0 start=$SECONDS stage_passed stage_failed
  local log=$logs/$name.log
  shift
  step "$name"
  mkdir -p "$logs"
  set +e
  (set -e; "$@") 2>&1 | tee "$log"
  code=${PIPESTATUS[0]}
  set -e
  read -r stage_passed stage_failed < <(counts_of "$log")
  if [ "$code" -ne 0 ] && [ "$stage_failed" -eq 0 ]; then
    stage_failed=1
  elif [ $((stage_passed + stage_failed)) -eq 0 ]; then
    stage_passed=1
  fi
  passed=$((passed + stage_passed))
  failed=$((failed + stage_failed))
  if [ "$stage_failed" -eq 0 ]; then
    say "ok: $name, $stage_passed passed, $((SECONDS - start)) s"
  else
    say "FAILED: $name, $stage_passed passed, $stage_failed failed, exit code $code, $((SECONDS - start)) s; again in $log"
    failed_stages+=("$name")
  fi
}

# What was left out and why, and the sum as the last line; the exit code says whether all passed.
finish_stages() {
  step "Done in $SECONDS s"
  sed -n 's/^\(SKIPPED .*\)/    \1/p' "$logs"/*.log | sort -u
  [ ${#failed_stages[@]} -eq 0 ] || say "failed: ${failed_stages[*]}"
  printf 'stitchgcm: %s passed, %s failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
