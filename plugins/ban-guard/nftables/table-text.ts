// Commands for nftables: the panel's own table, with a set of addresses for each family and scope. Elements end by
// themselves, so bans end also while no panel runs.
import { createHash } from 'node:crypto';
import type { BanPorts, BanScope, BanTarget, DriverBan } from '../contract.js';
import { isV6, SCOPES } from '../target.js';

const FAMILIES = ['4', '6'] as const;
const SLASH_64 = 'ffff:ffff:ffff:ffff::';

/** One table for each panel on the machine, by its data folder. */
export const tableOf = (dataDirectory: string): string =>
  `weir_${createHash('sha256').update(dataDirectory).digest('hex').slice(0, 6)}_bans`;

export const setsOf = (scope: BanScope): readonly [string, string] => [`${scope}4`, `${scope}6`];
const setOf = ({ address, scope }: BanTarget): string => setsOf(scope)[isV6(address) ? 1 : 0];

export function rulesOf(
  scope: BanScope,
  ports: BanPorts,
  [v4, v6]: readonly [string, string] = setsOf(scope),
): string[] {
  const list = `{ ${ports[scope === 'proxy' ? 'open' : 'panel'].join(', ')} }`;
  const match =
    scope === 'panel'
      ? `tcp dport ${list}`
      : `meta l4proto { tcp, udp }${ports.open.length > 0 ? ` th dport != ${list}` : ''}`;
  if (scope === 'panel' && ports.panel.length === 0) return [];
  return [`${match} ip saddr @${v4} drop`, `${match} ip6 saddr & ${SLASH_64} @${v6} drop`];
}

/** Makes the table, or gives the one that is there new rules; its bans stay. */
export function tableText(table: string, ports: BanPorts): string {
  const sets = SCOPES.flatMap((scope) => {
    const names = setsOf(scope);
    return FAMILIES.map((family, i) => `  set ${names[i]} { type ipv${family}_addr; flags timeout; }`);
  });
  return [
    `table inet ${table} {`,
    ...sets,
    // Before the rules of others, which may count or log what never gets in.
    '  chain input { type filter hook input priority filter - 10; policy accept; }',
    '}',
    `flush chain inet ${table} input`,
    // The panel and programs of this machine.
    ...['iifname "lo" accept', ...SCOPES.flatMap((scope) => rulesOf(scope, ports))].map(
      (rule) => `add rule inet ${table} input ${rule}`,
    ),
    '',
  ].join('\n');
}

/** Elements of one command. */
const PORTION = 1000;
function elements(
  table: string,
  verb: 'add' | 'delete',
  targets: readonly BanTarget[],
  text: (target: BanTarget) => string,
): string[] {
  const sets = new Map<string, string[]>();
  for (const target of targets) {
    const set = setOf(target);
    const texts = sets.get(set) ?? [];
    texts.push(text(target));
    sets.set(set, texts);
  }
  return [...sets].flatMap(([set, all]) =>
    Array.from({ length: Math.ceil(all.length / PORTION) }, (_, i) =>
      all.slice(i * PORTION, (i + 1) * PORTION),
    ).map((some) => `${verb} element inet ${table} ${set} { ${some.join(', ')} }`),
  );
}

/** An element that is there keeps its time, and one that is not there cannot be deleted. */
const withoutElements = (table: string, targets: readonly BanTarget[]): string[] => [
  ...elements(table, 'add', targets, ({ address }) => `${address} timeout 60s`),
  ...elements(table, 'delete', targets, ({ address }) => address),
];

export function banText(table: string, bans: readonly DriverBan[]): string {
  const seconds = new Map<BanTarget, number>(bans.map((ban) => [ban, ban.seconds]));
  const timed = (ban: BanTarget) =>
    `${ban.address} timeout ${Math.max(1, Math.ceil(seconds.get(ban) ?? 0))}s`;
  return [...withoutElements(table, bans), ...elements(table, 'add', bans, timed), ''].join('\n');
}

export const unbanText = (table: string, targets: readonly BanTarget[]): string =>
  [...withoutElements(table, targets), ''].join('\n');

/** Removes the table, whether it is there or not. */
export const noTableText = (table: string): string => `table inet ${table}\ndelete table inet ${table}\n`;
