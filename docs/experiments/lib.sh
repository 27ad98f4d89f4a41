# Sourced by the experiments that mars run cannot express: their data and a folder to work in.
set -euo pipefail
: "${MARS_DATA:?set it to the folder that holds mnist/, usps/ and hipc/}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
