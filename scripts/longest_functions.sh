#!/bin/sh
# scripts/longest_functions.sh [COUNT]: the longest functions of the library and the command, in lines, by clang-format's
# layout: a definition at the left margin, or inside a class, up to the brace that closes it.
set -eu
cd "$(dirname "$0")/.."
find trammel app studies -name '*.cc' -o -name '*.h' | sort | xargs awk '
  FNR == 1 { open = 0 }
  !open && /^[A-Za-z].*\{$/ && !/^(namespace|class|struct|enum|union|extern|template)/ { open = FNR; name = $0; end = "}" }
  !open && /^[A-Za-z].*[,(]$/ && !/^(namespace|class|struct|enum|union|using|template|#)/ { head = FNR; name = $0 }
  !open && head && /^ .*\) (const )?\{$/ { open = head; end = "}" }
  /^$/ { if (!open) head = 0 }
  open && $0 == end { print FNR - open + 1, FILENAME ":" open, name; open = head = 0 }' |
  sort -rn | head -n "${1:-10}" | cut -c 1-140
