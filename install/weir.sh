#!/bin/sh
# The command `weir` of an installed package, and the panel itself (`weir run`). As root it continues as the user of the
# data folder; only `upgrade` and `rollback` stay root, because they change /opt/weir and the service.
set -eu

release=$(dirname "$(dirname "$(readlink -f "$0")")")
settings=/etc/weir.env

# One variable a line, as systemd reads it. A variable of the environment takes precedence, as it does nowhere else.
if [ -r "$settings" ]; then
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
    WEIR_*=*)
      name=${line%%=*}
      value=${line#*=}
      case $value in
      \"*\" | \'*\')
        value=${value#?}
        value=${value%?}
        ;;
      esac
      case $name in
      *[!A-Z0-9_]*)
        echo "weir: $settings: \"$name\" is not the name of a variable" >&2
        exit 1
        ;;
      esac
      eval "given=\${$name+x}"
      if [ -z "$given" ]; then export "$name=$value"; fi
      ;;
    esac
  done <"$settings"
fi
export WEIR_DATA_DIR="${WEIR_DATA_DIR:-/var/lib/weir}"
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-/var/cache}"
# That of a cron job may lack the folders of root.
export PATH="$release/bin:$PATH:/usr/sbin:/sbin"

case ${1:-} in
upgrade | rollback)
  # One at a time. install.sh of the new release, which an upgrade calls, has the lock already.
  if [ -z "${UPGRADE_LOCKED:-}" ] && [ "$(id -u)" = 0 ] && [ -d /opt/weir/releases ]; then
    exec 9>/opt/weir/.lock
    flock --nonblock 9 || {
      echo "weir: another upgrade runs" >&2
      exit 1
    }
    export UPGRADE_LOCKED=1
  fi
  ;;
*)
  if [ "$(id -u)" = 0 ]; then
    owner=$(stat -c %U "$WEIR_DATA_DIR" 2>/dev/null || echo weir)
    if [ "$owner" != root ]; then exec runuser -u "$owner" -- "$0" "$@"; fi
  elif [ ! -r "$settings" ] && [ -e "$settings" ]; then
    echo "weir: $settings cannot be read by $(id -un); run this as root" >&2
    exit 1
  fi
  ;;
esac

if [ "${1:-}" = run ]; then MALLOC_ARENA_MAX=2 exec "$release/bin/node" "$release/app/bin/start.mjs"; fi
exec "$release/bin/node" "$release/app/bin/weir.mjs" "$@"
