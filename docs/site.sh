#!/usr/bin/env bash
# Gathers the pages of the site in a folder, as they are, with one that --help writes: docs/site.sh MARS FOLDER
set -euo pipefail
mars=$1 pages=$2
rm -rf "$pages"
mkdir -p "$pages"
git ls-files -- '*.md' 'docs/*' LICENSE 'clients/*' Dockerfile Makefile packaging 'testdata/*.txtar' 'testdata/*.py' | grep -v '^docs/measured/runs/' | while read -r file; do
  mkdir -p "$pages/$(dirname "$file")"
  case $file in
    # What a test is told after the language of a block, MkDocs takes for no block at all. What belongs to
    # an item of a list it knows by four spaces, and these pages have two or three.
    *.md) awk '
      /^```/ { top = !top; sub(/^```[a-z]+ .*/, substr($1, 1)) }
      top || /^```/ { print; next }
      match($0, /^  +/) && RLENGTH < 4 && !pad { sub(/^ +/, "    "); if (/^    ```/) pad = substr("    ", 1, 4 - RLENGTH); print; next }
      { print pad $0 }
      pad && /^   ?```/ { pad = "" }
    ' "$file" > "$pages/$file" ;;
    *) cp "$file" "$pages/$file" ;;
  esac
done
{
  printf '# Commands\n\nWhat `--help` of each command says.\n'
  "$mars" --help | sed -n 's/^  \([a-z]*\)  *[A-Z].*/\1/p' | while read -r command; do
    printf '\n## mars %s\n\n```text\n' "$command"
    "$mars" "$command" --help
    printf '```\n'
  done
} > "$pages/docs/commands.md"
