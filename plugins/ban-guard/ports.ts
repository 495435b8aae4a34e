// Ports that stay open to banned addresses, so that nobody is locked out of the machine.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BanPorts } from './contract.js';

const SSH = 22;
const MOST_PORTS = 64;
const SSHD = '/etc/ssh';
const LARGEST_FILE = 256 * 1024;

/** Takes `443, 8443`; throws with the entry that is not a port. */
export function portsIn(text: string): number[] {
  const entries = text.split(/[\s,]+/).filter(Boolean);
  if (entries.length > MOST_PORTS) throw new Error(`it has more than ${MOST_PORTS} ports`);
  return entries.map((entry) => {
    const port = /^\d{1,5}$/.test(entry) ? Number(entry) : 0;
    if (port < 1 || port > 65_535) throw new Error(`"${entry.slice(0, 20)}" is not a port`);
    return port;
  });
}

/** Ports in the configuration of sshd; 22 is always among them. */
export async function sshPorts(folder = SSHD): Promise<number[]> {
  const more = await readdir(join(folder, 'sshd_config.d')).catch(() => []);
  const paths = [
    join(folder, 'sshd_config'),
    ...more.filter((name) => name.endsWith('.conf')).map((name) => join(folder, 'sshd_config.d', name)),
  ];
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8').catch(() => '')));
  const ports = texts.flatMap((text) =>
    [
      ...text
        .slice(0, LARGEST_FILE)
        .matchAll(/^[ \t]*(?:Port[ \t=]+"?|ListenAddress[ \t=]+(?:\[[^\]\s]*\]|[^\s:]+):)(\d{1,5})\b/gim),
    ].map(([, digits]) => Number(digits)),
  );
  return unique([SSH, ...ports]);
}

const unique = (ports: readonly number[]): number[] =>
  [...new Set(ports)].filter((port) => port >= 1 && port <= 65_535).sort((a, b) => a - b);

export function portsOf(needs: {
  readonly ssh: readonly number[];
  /** of all listeners of the panel */
  readonly panel: readonly number[];
  readonly setting: string;
}): BanPorts {
  return {
    open: unique([...needs.ssh, ...needs.panel, ...portsIn(needs.setting)]),
    panel: unique(needs.panel),
  };
}
