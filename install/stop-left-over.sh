#!/bin/sh
# systemd runs this when the panel has exited. A stop right after a start can end the panel before it listens to signals;
# then nobody stops the core that it would have adopted. After a crash or a restart the core goes on.
set -eu

if [ "${EXIT_CODE:-}" != killed ] || [ "${EXIT_STATUS:-}" != TERM ]; then exit 0; fi
own=$(cat /proc/self/cgroup)
for folder in /proc/[0-9]*; do
  pid=${folder#/proc/}
  if [ "$pid" != $$ ] && [ "$(cat "$folder/cgroup" 2>/dev/null)" = "$own" ]; then
    kill "$pid" 2>/dev/null || true
  fi
done
