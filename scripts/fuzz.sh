#!/bin/sh
# scripts/fuzz.sh BUILD SECONDS: runs every fuzzer of a build for SECONDS in all, starting from the models and bad inputs
# of this tree. What they learn stays in BUILD/corpus; what breaks them in BUILD/crash-*. Exit code 1 if anything does.
set -eu
build=$1
seconds=$2
here=$(cd "$(dirname "$0")/.." && pwd)
fuzzers=$(find "$build" -name 'fuzz-*' -type f -perm -u+x | sort)
count=$(echo "$fuzzers" | wc -l)
each=$((seconds / count > 0 ? seconds / count : 1))
status=0
for fuzzer in $fuzzers; do
  what=$(basename "$fuzzer" | sed 's/^fuzz-//')
  corpus=$build/corpus/$what
  mkdir -p "$corpus"
  case $what in
    read | format) seeds="$here/models $here/models/parts $here/tests/read/bad_inputs $here/tests/read/bad_inputs/files" ;;
    *) seeds="$here/tests/fuzz/seeds/$what" ;;
  esac
  echo "$what: ${each} s"
  "$fuzzer" -max_total_time="$each" -timeout=10 -rss_limit_mb=2000 -max_len=20000 -print_final_stats=0 -verbosity=0 \
    -dict="$here/tests/fuzz/words.dict" -artifact_prefix="$build/crash-$what-" "$corpus" $seeds || status=1
done
exit $status
