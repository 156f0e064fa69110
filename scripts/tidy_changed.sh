#!/bin/sh
# scripts/tidy_changed.sh BUILD_FOLDER COMMITS: clang-tidy on the sources of the library, the command and the studies
# that the last COMMITS commits added or changed; a file that only moved is left out.
set -eu
build=$1 commits=$2
# In a clone that is less deep, or a young history, all commits there are.
first=$(git rev-parse --verify --quiet "HEAD~$commits" || git rev-list --max-parents=0 HEAD | tail -n 1)
git diff --name-status --find-renames=100% --diff-filter=AM "$first" HEAD -- 'trammel/*.cc' 'app/*.cc' 'studies/*.cc' |
  cut -f 2 >"$build/changed"
echo "clang-tidy on $(wc -l <"$build/changed") sources changed in the last $commits commits"
xargs -r -P "$(nproc)" -n 2 clang-tidy -p "$build" --quiet --warnings-as-errors='*' <"$build/changed" 2>"$build/noise" ||
  { cat "$build/noise"; exit 1; }
