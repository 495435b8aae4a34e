#!/bin/sh
# Removes Weir from this machine. Needs root.
#   sh uninstall.sh [--data]
# --data: removes the data folder, /etc/weir.env and the user as well. Without it they stay.
set -eu

data=no
for word in "$@"; do
  case $word in
  --data) data=yes ;;
  --help | -h)
    sed -n '2,4s/^# //p' "$0"
    exit 0
    ;;
  *)
    echo "uninstall.sh: unexpected argument \"$word\"; --help lists the options" >&2
    exit 1
    ;;
  esac
done
[ "$(id -u)" = 0 ] || {
  echo "uninstall.sh: run this as root" >&2
  exit 1
}

if [ -d /opt/weir ]; then
  exec 9>/opt/weir/.lock
  flock --nonblock 9 || {
    echo "uninstall.sh: an upgrade runs; wait until it is done" >&2
    exit 1
  }
fi
if [ -d /run/systemd/system ]; then
  # Stops panel and core in good order: every byte is counted.
  systemctl disable --now --quiet weir weir-update.path weir-update.service 2>/dev/null || true
fi
# A panel that hangs is killed, and cannot stop the core.
for folder in /proc/[0-9]*; do
  if grep -q ':/system\.slice/weir\.service$' "$folder/cgroup" 2>/dev/null; then
    kill -9 "${folder#/proc/}" 2>/dev/null || true
  fi
done
rm -f /etc/systemd/system/weir.service /etc/systemd/system/weir-update.service
rm -f /etc/systemd/system/weir-update.path /usr/local/bin/weir
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
# A shell reads its script while it runs; what follows is read before the folder goes.
finish() {
  rm -rf /opt/weir
  if [ "$data" = yes ]; then
    rm -rf /var/lib/weir /var/cache/weir /etc/weir.env /etc/systemd/system/weir.service.d
    userdel weir 2>/dev/null || true
    echo "removed Weir with its data"
  else
    echo "removed Weir; its data is still in /var/lib/weir, its settings are in /etc/weir.env"
  fi
  exit 0
}
finish
