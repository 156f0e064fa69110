#!/bin/sh
# packages/install.sh LIST...: installs those packages of packages/LIST.txt that are missing. Asks only the local
# package database, and nothing happens when nothing is missing. Needs root or sudo only when something is.
set -eu
here=$(dirname "$0")

wanted=$(for list in "$@"; do sed 's/#.*//' "$here/$list.txt"; done)

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "Not a Debian system: the packages below must be there under whatever name they have here." >&2
  echo $wanted >&2
  exit 0
fi

present=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' 2>/dev/null | sed -n 's/ installed$//p')
missing=$(for package in $wanted; do
  echo "$present" | grep -Fqx "$package" || echo "$package"
done)
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null 2>&1; then
  as_root=sudo
else
  echo "These packages are missing and this is neither root nor is there sudo. As root:" >&2
  echo "  apt-get update && apt-get install --no-install-recommends" $missing >&2
  exit 1
fi
echo "Installing" $missing
$as_root apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
