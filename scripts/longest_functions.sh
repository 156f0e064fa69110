#!/bin/sh
# scripts/longest_functions.sh [COUNT]: the longest functions of the library and the command, in lines, by clang-format's
# layout: a definition at the left margin, or inside a class, up to the brace that closes it.
set -eu
cd "$(dirname "$0")/.."
find trammel app studies -name '*.cc' -o -name '*.h' | sort | xargs awk '
  function indent() { match($0, /^ */); return substr($0, 1, RLENGTH) }
  FNR == 1 { open = head = 0 }
  { plain = $0; sub(/^ +/, "", plain) }
  plain ~ /^(namespace|class|struct|enum|union|extern|template|using|public|private|protected|return|if|else|for|while|switch|do|case|#|\/\/|\}|\{)/ { other = 1 }
  plain !~ /^(namespace|class|struct|enum|union|extern|template|using|public|private|protected|return|if|else|for|while|switch|do|case|#|\/\/|\}|\{)/ { other = 0 }
  !open && !other && length(indent()) <= 2 && plain ~ /^[A-Za-z~].*\(.*\{$/ && plain !~ /=/ { open = FNR; name = plain; end = indent() "}" }
  !open && !other && length(indent()) <= 2 && plain ~ /^[A-Za-z~].*\(.*[,(]$/ { head = FNR; name = plain; end = indent() "}" }
  !open && head && FNR > head && plain ~ /\) ?(const )?(override )?\{$/ { open = head }
  /^$/ || plain ~ /;$/ { if (!open) head = 0 }
  open && $0 == end { print FNR - open + 1, FILENAME ":" open, name; open = head = 0 }' |
  sort -rn | head -n "${1:-10}" | cut -c 1-140
