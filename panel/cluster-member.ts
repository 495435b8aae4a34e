// This panel among several on one database: its name, and the versions of the others.
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../kernel/errors/errors.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { isOlder, PANEL_VERSION } from '../plugins/cluster/contract.js';
import type { Configuration } from './configure.js';
import { databaseName } from './inspect-data.js';
import { ConfigError } from './variables.js';

/** Panels sign every two seconds; one that has not for so long is dead. */
const SIGNED_AGAIN_MS = 10_000;

interface Driver {
  readonly lookAt: (
    url: URL,
    statement: string,
    values: readonly string[],
  ) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

const configured = (configs: Configuration['configs'], plugin: string, name: string): unknown =>
  (configs.get(plugin)?.values as Readonly<Record<string, unknown>> | undefined)?.[name];

/** Throws where this panel could not read what another one encrypts. */
export function memberName(configs: Configuration['configs']): string | undefined {
  const name = configured(configs, 'cluster', 'name') as string | undefined;
  if (name !== undefined && configured(configs, 'secrets', 'secretKey') === undefined)
    throw new ConfigError([
      'WEIR_CLUSTER needs WEIR_SECRET_KEY, the same for all panels of the database: each must be able to read what another one encrypts',
    ]);
  return name;
}

/** The oldest version whose panels may run beside these plugins: an older one uses what their migrations take away. */
export const oldestBeside = (plugins: readonly Pick<Plugin, 'migrations' | 'outside'>[]): string =>
  plugins
    // Versions of third-party plugins are not those of the panel.
    .filter(({ outside }) => !outside)
    .flatMap(({ migrations }) => migrations.map(({ unusedSince = '0.0.0' }) => unusedSince))
    .reduce((oldest, version) => (isOlder(oldest, version) ? version : oldest), '0.0.0');

/** Rejects before anything is migrated where this panel and another one of the database cannot run at the same time. */
export async function requireNeighbours({
  address,
  member,
  oldest,
}: {
  readonly address: string;
  readonly member: string;
  readonly oldest: string;
}): Promise<void> {
  const { lookAt } = (await import('../drivers/mysql/look.js' as string)) as Driver;
  const look = (statement: string, values: readonly string[] = []) =>
    lookAt(new URL(address), statement, values).catch((cause: unknown) => {
      throw new Error(`the database ${databaseName(address, '')} cannot be opened: ${messageOf(cause)}`, {
        cause,
      });
    });
  const [state] = await look('SELECT oldest FROM cluster_state WHERE id = 1');
  const floor = String(state?.['oldest'] ?? '0.0.0');
  if (isOlder(PANEL_VERSION, floor))
    throw new ConfigError([
      `this panel has version ${PANEL_VERSION}, and panels of this database need ${floor} or newer, because a newer one has changed its tables; upgrade this one`,
    ]);
  const tooOld = async () =>
    (
      await look('SELECT name, version, seen_at AS sign FROM cluster_panels WHERE name <> ? ORDER BY name', [
        member,
      ])
    ).filter(({ version }) => isOlder(String(version), oldest));
  const before = new Map((await tooOld()).map(({ name, sign }) => [name, sign]));
  if (before.size === 0) return;
  // Only one that lives signs again.
  await sleep(SIGNED_AGAIN_MS);
  for (const { name, version, sign } of await tooOld())
    if (before.get(name) !== sign)
      throw new ConfigError([
        `the panel ${String(name)} has version ${String(version)}, and ${PANEL_VERSION} runs beside ${oldest} or newer only; upgrade that one to ${oldest} first, or stop it`,
      ]);
}
