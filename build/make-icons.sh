#!/usr/bin/env bash
# Renders the icons from build/icons/*.svg into build/resources. Needs rsvg-convert (Debian: librsvg2-bin).
set -euo pipefail
cd "$(dirname "$0")"
for svg in icons/tray-*.svg; do
  name=$(basename "$svg" .svg)
  size=${name##*-}
  rsvg-convert --width "$size" --height "$size" "$svg" --output "resources/$name.png"
  rsvg-convert --width $((size * 2)) --height $((size * 2)) "$svg" --output "resources/$name@2x.png"
done
# for dark panels on Linux
for svg in icons/tray-*-22.svg; do
  name=$(basename "$svg" .svg)
  sed 's/#000/#fff/g' "$svg" | rsvg-convert --width 22 --height 22 --output "resources/$name-white.png"
  sed 's/#000/#fff/g' "$svg" | rsvg-convert --width 44 --height 44 --output "resources/$name-white@2x.png"
done
rsvg-convert --width 512 --height 512 icons/app.svg --output resources/icon.png
