#!/bin/sh
# scripts/all_cells.sh BUILD_FOLDER: the general rules of the conformance suites over every method and formulation, of
# which `make test` runs the quick cells only. One process a core, each with its share of the tests.
set -eu
build=$1
shares=$(nproc)
export TRAMMEL_ALL_CELLS=1 GTEST_TOTAL_SHARDS=$shares
echo "Running all cells in $shares processes"
running=
for share in $(seq 0 $((shares - 1))); do
  GTEST_SHARD_INDEX=$share "$build/bin/test-conformance" --gtest_brief=1 --gtest_filter='*Rule*' &
  running="$running $!"
done
status=0
for process in $running; do wait "$process" || status=1; done
exit $status
