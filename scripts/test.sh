#!/bin/sh
# scripts/test.sh BUILD_FOLDER: runs all tests of a build, shows those that did not pass with their output, and closes
# with the counts. The full log stays in BUILD_FOLDER/tests.log.
set -u
build=$1
cd "$build" || exit 1
rm -f tests.log tests.xml

echo "Running the tests of $build"
ctest -j "$(nproc)" --output-on-failure --no-tests=error --output-junit tests.xml >tests.log 2>&1
status=$?

# Without the lines of tests that passed, and without ctest's summary, which leaves out the disabled ones.
grep -vE '^Test project|^ *Start +[0-9]+: |^ *[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed |% tests passed|^Errors while' tests.log |
  cat -s

count() { sed -n "s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p" tests.xml | head -n 1; }
if [ -f tests.xml ]; then
  tests=$(count tests) failed=$(count failures) skipped=$(count skipped) disabled=$(count disabled)
  echo "$build: $tests tests, $((tests - failed - skipped - disabled)) passed, $failed failed," \
    "$skipped skipped, $disabled disabled"
fi
exit $status
