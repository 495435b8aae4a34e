// What needs the admin, from what the API says: the most urgent first.
import type {
  AlarmsListReply,
  BackupStatusReply,
  CertificatesListReply,
  ServerStatusReply,
  SystemPluginsListReply,
} from '../../../../sdk/index.js';
import { shownName } from '../format/names.js';
import type { MessageKey } from '../language/message-key.js';

export interface Need {
  /** unique among them */
  readonly key: string;
  readonly level: 'bad' | 'warn';
  readonly text: MessageKey;
  readonly values: Readonly<Record<string, string | number>>;
  /** in the words of the panel */
  readonly said?: string;
  /** filter of the list of clients that shows it */
  readonly status?: 'expiring' | 'depleted';
  /** where the admin does something about it */
  readonly page?: '/backups' | '/system/plugins';
}

export interface Known {
  readonly now: number;
  readonly summary?: { readonly expiringCount: number; readonly depletedCount: number } | null | undefined;
  readonly plugins?: SystemPluginsListReply | null | undefined;
  readonly alarms?: AlarmsListReply | null | undefined;
  readonly backup?: BackupStatusReply | null | undefined;
  readonly certificates?:
    | readonly Pick<CertificatesListReply[number], 'id' | 'names' | 'state' | 'validTo' | 'lastError'>[]
    | null
    | undefined;
  readonly core?: Pick<ServerStatusReply['engine'], 'state' | 'errorMsg'> | undefined;
}

const DAY = 24 * 3_600_000;
/** A backup that is older is worth a word. */
const OLD_DAYS = 7;
/** A certificate is renewed long before; this late, the renewal does not work. */
const SOON_DAYS = 14;
const FAILED = new Set(['faulty', 'failed', 'stopped']);

export function needsOf({ now, summary, plugins, alarms, backup, certificates, core }: Known): Need[] {
  const needs: Need[] = [];
  if (core && core.state !== 'running')
    needs.push({
      key: 'core',
      level: 'bad',
      text: core.state === 'stop' ? 'needs.coreStopped' : 'needs.coreFailed',
      values: {},
      said: core.errorMsg,
    });
  else if (core && core.errorMsg !== '')
    needs.push({ key: 'core', level: 'warn', text: 'needs.coreTrouble', values: {}, said: core.errorMsg });
  for (const { name, state, reason } of plugins ?? []) {
    const isDown = FAILED.has(state);
    if (isDown || reason !== '')
      needs.push({
        key: `plugin ${name}`,
        level: isDown ? 'bad' : 'warn',
        text: isDown ? 'needs.pluginDown' : 'needs.pluginTrouble',
        values: { name },
        said: reason,
        page: '/system/plugins',
      });
  }
  for (const { name, isActive, text } of alarms ?? [])
    if (isActive && name !== 'backup')
      needs.push({ key: `alarm ${name}`, level: 'warn', text: 'needs.alarm', values: { name }, said: text });
  needs.push(...backupNeeds(backup, now));
  needs.push(...certificateNeeds(certificates ?? [], now));
  const { expiringCount = 0, depletedCount = 0 } = summary ?? {};
  if (depletedCount > 0)
    needs.push({
      key: 'depleted',
      level: 'warn',
      text: 'needs.depleted',
      values: { count: depletedCount },
      status: 'depleted',
    });
  if (expiringCount > 0)
    needs.push({
      key: 'expiring',
      level: 'warn',
      text: 'needs.expiring',
      values: { count: expiringCount },
      status: 'expiring',
    });
  return needs.sort((a, b) => Number(a.level === 'warn') - Number(b.level === 'warn'));
}

function backupNeeds(backup: BackupStatusReply | null | undefined, now: number): Need[] {
  if (!backup) return [];
  const { problem, doneAt, schedule } = backup;
  const common = { key: 'backup', page: '/backups' } as const;
  if (problem !== '')
    return [{ ...common, level: 'bad', text: 'needs.backupFailed', values: {}, said: problem }];
  if (doneAt === 0 && schedule !== '') return [];
  if (doneAt === 0) return [{ ...common, level: 'warn', text: 'needs.noBackup', values: {} }];
  const days = Math.floor((now - doneAt) / DAY);
  return days > OLD_DAYS ? [{ ...common, level: 'warn', text: 'needs.backupOld', values: { days } }] : [];
}

function certificateNeeds(certificates: NonNullable<Known['certificates']>, now: number): Need[] {
  return certificates.flatMap(({ id, names, state, validTo, lastError: said }): Need[] => {
    const key = `certificate ${id}`;
    const name = shownName(names[0] ?? '');
    if (state === 'expired')
      return [{ key, level: 'bad', text: 'needs.certificateEnded', values: { name }, said }];
    const days = Math.floor((Date.parse(validTo) - now) / DAY);
    if (state === 'valid' && days < SOON_DAYS)
      return [{ key, level: 'warn', text: 'needs.certificateEnds', values: { name, days }, said }];
    return said === ''
      ? []
      : [{ key, level: 'warn', text: 'needs.certificateFailed', values: { name }, said }];
  });
}
