#!/bin/sh
# scripts/include_matrix.sh: counts which folder of trammel/ includes which, and fails on an include of a folder that
# comes later in the order below. A row includes its columns.
set -eu
cd "$(dirname "$0")/.."
order="base math linalg recursion write model flexible ode elements read check equations rank initial formulate integrate analyse run couple"

if grep -rn --include='*.cc' --include='*.h' '^#include "' trammel | grep -v '#include "trammel/'; then
  echo "the library includes nothing but itself in quotes"
  exit 1
fi
grep -rn --include='*.cc' --include='*.h' '^#include "trammel/' trammel | awk -v order="$order" '
  BEGIN { n = split(order, folder, " "); for (i = 1; i <= n; ++i) place[folder[i]] = i }
  {
    split($0, part, ":"); split(part[1], path, "/"); split($0, quoted, "\""); split(quoted[2], included, "/")
    from = path[2]; to = included[2]
    if (!(from in place) || !(to in place)) { print "no place in the order: " $0; failed = 1; next }
    ++count[from, to]
    if (place[to] > place[from]) { backward[++backwards] = part[1] " includes " quoted[2] }
  }
  END {
    printf "%-10s", ""; for (j = 1; j <= n; ++j) printf "%5s", substr(folder[j], 1, 4); print ""
    for (i = 1; i <= n; ++i) {
      printf "%-10s", folder[i]
      for (j = 1; j <= n; ++j) printf "%5s", count[folder[i], folder[j]] ? count[folder[i], folder[j]] : "."
      print ""
    }
    for (k = 1; k <= backwards; ++k) print "backward: " backward[k]
    printf "%d folders, %d backward\n", n, backwards
    exit failed || backwards > 0
  }'
