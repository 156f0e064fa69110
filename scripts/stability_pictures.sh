#!/bin/sh
# scripts/stability_pictures.sh [TRAMMEL]: draws the pictures of the methods' pages, docs/images/methods: regions of
# absolute stability, and what structural methods do to a free oscillation.
set -eu
trammel=${1:-build/release/bin/trammel}
folder=docs/images/methods
mkdir -p "$folder"

region() { # KEY WINDOW NAME...
  key=$1 window=$2
  shift 2
  # shellcheck disable=SC2086  # the window is three words
  "$trammel" stability "$@" -o "$folder/$key.png" --window $window >/dev/null
}
for key in euler taylor-2 heun; do region $key "-3 1 2.5" $key; done
for key in bogacki-shampine-32 rk4 runge-kutta fehlberg-45 dormand-prince-54; do region $key "-5 1.5 4.5" $key; done
region dormand-prince-853 "-8 2 7" dormand-prince-853
region adams-bashforth "-2.5 0.5 1.5" adams-bashforth-1 adams-bashforth-2 adams-bashforth-3 adams-bashforth-4 adams-bashforth-5
region adams-moulton "-7 1 4" adams-moulton-3 adams-moulton-4 adams-moulton-5
region bdf-fixed "-10 20 15" bdf-1 bdf-2 bdf-3 bdf-4 bdf-5 bdf-6
for key in trapezoidal implicit-midpoint; do region $key "-6 4 5" $key; done
for key in norsett-sdirk sdirk-4 gauss radau-iia-1 radau-iia-2 radau-iia-3 lobatto-iiic rosenbrock-nystrom-4 w-method-2; do
  region $key "-6 14 10" $key
done
for key in newmark hht wilson-theta collocation generalized-alpha midpoint; do
  "$trammel" stability $key --oscillation "$folder/$key.png" >/dev/null
done
