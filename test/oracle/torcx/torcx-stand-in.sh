#!/bin/sh
# Stands in for the torcx program where there is none: the six operations, on the folders torcx is told by variables.
set -eu
profiles=$TORCX_CONFDIR/profiles
quoted_names() { for file in "$profiles"/*.json; do [ -f "$file" ] && basename "$file" .json | sed 's/.*/"&"/'; done | paste -sd, -; }
case "$1 ${2-}" in
'help ') ;;
'image list')
  os=$4 name=$5 list=
  for file in "$TORCX_BASEDIR/store/$os/$name":*.torcx.tgz "$TORCX_BASEDIR/store/$name":*.torcx.tgz; do
    [ -f "$file" ] || continue
    reference=${file##*:}
    list="$list${list:+,}{\"name\":\"$name\",\"reference\":\"${reference%.torcx.tgz}\",\"filepath\":\"$file\"}"
  done
  echo "{\"kind\":\"torcx-image-list-v0\",\"value\":[$list]}" ;;
'profile list')
  next=null
  name=$(cat "$TORCX_CONFDIR/next-profile" 2>/dev/null || true)
  [ -n "$name" ] && [ -f "$profiles/$name.json" ] && next="\"$name\""
  echo "{\"kind\":\"torcx-profile-list-v0\",\"value\":{\"lower_profile_names\":[],\"user_profile_name\":null,\"current_profile_path\":null,\"next_profile_name\":$next,\"profiles\":[$(quoted_names)]}}" ;;
'profile new')
  [ ! -e "$profiles/$4.json" ]
  mkdir -p "$profiles"
  echo '{"kind":"profile-manifest-v0","value":{"images":[]}}' >"$profiles/$4.json" ;;
'profile use-image')
  [ "$3" = --allow=missing ] && [ -f "$profiles/$5.json" ]
  name=${6%%:*} reference=${6#*:} file=$profiles/$5.json
  [ -s "$file" ] || echo '{"kind":"profile-manifest-v1","value":{"images":[]}}' >"$file"
  extra=
  grep -q 'manifest-v1' "$file" && extra=',"remote":""'
  entry="{\"name\":\"$name\",\"reference\":\"$reference\"$extra}"
  if grep -q "\"name\":\"$name\"" "$file"; then
    sed -i "s|{\"name\":\"$name\"[^}]*}|$entry|" "$file"
  else
    sed -i "s|\"images\":\[\]|\"images\":[$entry]|; s|\"images\":\[{\(.*\)}\]\(.*\)|\"images\":[{\1}]\2|" "$file"
  fi ;;
'profile set-next')
  [ -f "$profiles/$3.json" ]
  echo "$3" >"$TORCX_CONFDIR/next-profile" ;;
*) echo "unknown operation: $*" >&2; exit 1 ;;
esac
