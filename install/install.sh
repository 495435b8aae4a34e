#!/bin/sh
# Installs this package, or upgrades to it. Needs root, and no network. Run it in the unpacked folder:
#   sh install.sh [--no-start] [--without-backup]
# --no-start: copies the files and does not touch the service, for images and for machines without systemd.
# --without-backup: makes no backup before an upgrade, for a panel that cannot make one.
set -eu
# The service runs these programs as another user; `weir upgrade` calls this with a stricter mask.
umask 022

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

start=yes
backup=
for word in "$@"; do
  case $word in
  --no-start) start=no ;;
  --without-backup) backup=--without-backup ;;
  --help | -h)
    sed -n '2,5s/^# //p' "$0"
    exit 0
    ;;
  *) fail "unexpected argument \"$word\"; --help lists the options" ;;
  esac
done

[ "$(id -u)" = 0 ] || fail "run this as root"
here=$(cd "$(dirname "$0")" && pwd -P)
cd "$here"

field() { sed -n "s/^ *\"$1\": \"\([^\"]*\)\".*/\1/p" VERSION; }
for file in VERSION FILES.sha256; do
  [ -f "$file" ] || fail "$here is not an unpacked package: $file is missing"
done
version=$(field version)
arch=$(field arch)
case $version in
'' | *[!A-Za-z0-9.+-]* | .*) fail "VERSION names no valid version: \"$version\"" ;;
esac
case $(uname -m) in
x86_64) machine=x64 ;;
aarch64) machine=arm64 ;;
*) machine=$(uname -m) ;;
esac
[ "$arch" = "$machine" ] || fail "this package is for $arch, and this machine is $machine"

# A download that was cut off or changed is found here, before anything is installed.
sha256sum --check --quiet --strict FILES.sha256 || fail "files are damaged or missing; unpack the package again"
./bin/node -e 'require("./app/node_modules/sqlite3"); require("./app/node_modules/@node-rs/argon2")' ||
  fail "the programs of this package do not run here; it needs glibc 2.34 and libstdc++ of GCC 11 or newer (Debian 12, Ubuntu 22.04)"
./bin/xray version >/dev/null || fail "the core of this package does not run here"
[ -e /etc/ssl/certs/ca-certificates.crt ] ||
  echo "note: /etc/ssl/certs/ca-certificates.crt is missing, so the core trusts no certificates: install ca-certificates" >&2
command -v ss >/dev/null || echo "note: the program ss is missing, so connections of removed clients stay open: install iproute2" >&2

nologin=$(command -v nologin || echo /usr/sbin/nologin)
getent group weir >/dev/null || groupadd --system weir
getent passwd weir >/dev/null ||
  useradd --system --gid weir --home-dir /var/lib/weir --no-create-home --shell "$nologin" weir
install -d -m 0755 /opt/weir /opt/weir/releases
# One at a time; `weir upgrade`, which calls this, has the lock already.
if [ -z "${UPGRADE_LOCKED:-}" ]; then
  exec 9>/opt/weir/.lock
  flock --nonblock 9 || fail "another upgrade runs"
  export UPGRADE_LOCKED=1
fi
install -d -m 0700 -o weir -g weir /var/lib/weir

release=/opt/weir/releases/$version
if [ "$here" != "$release" ]; then
  if [ -e "$release" ]; then
    cmp -s FILES.sha256 "$release/FILES.sha256" ||
      fail "$release has another build of version $version; remove it, if it is not in use, or build a new version"
    (cd "$release" && sha256sum --check --quiet --strict FILES.sha256) ||
      fail "$release is damaged; remove it and run this again"
  else
    draft=/opt/weir/releases/.new-$$
    rm -rf /opt/weir/releases/.new-*
    # Half a copy would fill the rest of a full disk.
    trap 'rm -rf "$draft"' EXIT
    mkdir "$draft"
    # The files belong to root, so that the service cannot change its own programs.
    tar -C "$here" -cf - . | tar -C "$draft" --no-same-owner -xf - || fail "the files could not be copied to $draft"
    (cd "$draft" && sha256sum --check --quiet --strict FILES.sha256) || fail "the copy in $draft is damaged; is the disk full?"
    chmod -R u=rwX,go=rX "$draft"
    # Of all files: `sync FOLDER` alone writes only the folder, and a power cut would leave empty files.
    sync
    mv "$draft" "$release"
    trap - EXIT
  fi
fi

[ -e /etc/weir.env ] || install -m 0640 -o root -g weir systemd/weir.env /etc/weir.env
install -d -m 0755 /usr/local/bin
ln -sfn /opt/weir/current/bin/weir /usr/local/bin/weir

has_systemd=no
[ -d /run/systemd/system ] && has_systemd=yes
# An installation that was interrupted, or made with --no-start, is not an upgrade: there is no panel to hand over.
is_upgrade=no
if [ -e /opt/weir/current ] && [ "$start" = yes ] && [ "$has_systemd" = yes ]; then
  if [ -e /opt/weir/upgrade.json ] || systemctl is-enabled --quiet weir 2>/dev/null || systemctl is-active --quiet weir; then
    is_upgrade=yes
  fi
fi
if [ $is_upgrade = yes ]; then
  # shellcheck disable=SC2086 # no word, or one
  exec "$release/bin/weir" upgrade --release "$version" $backup
fi
ln -sfn "releases/$version" /opt/weir/.current-$$
mv -T /opt/weir/.current-$$ /opt/weir/current
if [ -d /etc/systemd/system ]; then
  for unit in weir.service weir-update.service weir-update.path; do
    install -m 0644 "$release/systemd/$unit" "/etc/systemd/system/$unit"
  done
fi
if [ "$start" = no ] || [ "$has_systemd" = no ]; then
  echo "installed Weir $version in $release; \`weir run\` starts the panel"
  exit 0
fi
systemctl daemon-reload
systemctl enable --quiet weir weir-update.service weir-update.path
systemctl start weir weir-update.path
tries=0
until /opt/weir/current/bin/weir health >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ $tries -lt 120 ] || fail "the panel is not ready after a minute; see: journalctl -u weir"
  sleep 0.5
done
echo "Weir $version runs. Name, password and address of the panel: /var/lib/weir/first-login.txt (read it, then delete it)"
