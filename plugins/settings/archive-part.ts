// Settings in archives: one record each. Every panel has all settings, so they are taken only on request.
import type { ArchivePart, ArchiveRecord } from '../archive/contract.js';
import { PanelError } from '../../kernel/index.js';
import type { SettingsTransfer } from './transfer.js';

export const settingsPart = (transfer: SettingsTransfer): ArchivePart => ({
  kind: 'settings',
  version: 1,
  about: 'settings in force; secret ones are in an archive with secrets only',
  async *export({ secrets }) {
    yield transfer.records(secrets);
  },
  async import(portions, run) {
    const all: ArchiveRecord[] = [];
    for await (const records of portions) all.push(...records);
    const sent: Record<string, unknown> = {};
    for (const { name, value } of all) if (typeof name === 'string') sent[name] = value;
    const who = { ...run.who, ip: run.who.ip ?? '', hosts: [] };
    try {
      const { changes, leftOut } = await transfer.import(sent, run.apply && run.settings, who, {
        secrets: true,
      });
      const changed = new Map(changes.map(({ name, from }) => [name, from]));
      const reasons = new Map(leftOut.map(({ name, reason }) => [name, reason]));
      for (const record of all) {
        const name = String(record['name']);
        const from = changed.get(name);
        const reason = reasons.get(name);
        if (reason !== undefined) run.left(name, reason);
        else if (from === undefined) run.taken(record);
        else if (!run.settings)
          run.left(name, 'it has another value here; --settings takes that of the archive');
        else {
          run.taken(record);
          if (from !== 'now') run.note(name, 'from the next start of the panel on');
        }
      }
    } catch (error) {
      if (!(error instanceof PanelError) || error.status >= 500) throw error;
      for (const { name } of all) run.left(String(name), error.message);
    }
  },
});
