// Settings in archives: one record each. Every panel has all settings, so they are taken only on request.
import { type ArchiveImport, type ArchivePart, type ArchiveRecord, textIn } from '../archive/contract.js';
import { PanelError, TimeSlice } from '../../kernel/index.js';
import type { SettingsTransfer } from './transfer.js';

/** Characters of all values as JSON: they are checked together. */
const MOST_TEXT = 8 * 1024 * 1024;

/** The records of settings that this panel has, by name: however many there are, no others are kept. */
async function readable(
  transfer: SettingsTransfer,
  portions: AsyncIterable<readonly ArchiveRecord[]>,
  run: ArchiveImport,
): Promise<ReadonlyMap<string, ArchiveRecord>> {
  const all = new Map<string, ArchiveRecord>();
  let text = 0;
  const whyLeft = (name: string, { value }: ArchiveRecord): string | undefined => {
    if (!transfer.has(name)) return 'this panel has no such setting';
    if (all.has(name)) return 'the archive has it twice; the first one counts';
    if (value === undefined) return 'it has no value';
    text += JSON.stringify(value).length;
    return text > MOST_TEXT ? `the values have more than ${MOST_TEXT} characters` : undefined;
  };
  const slice = new TimeSlice();
  for await (const records of portions)
    for (const record of records) {
      if (slice.isOver) await slice.next();
      const name = textIn(record['name']);
      const reason = whyLeft(name, record);
      if (reason === undefined) all.set(name, record);
      else run.left(name || 'a setting', reason);
    }
  return all;
}

export const settingsPart = (transfer: SettingsTransfer): ArchivePart => ({
  kind: 'settings',
  version: 1,
  about: 'settings in force; secret ones are in an archive with secrets only',
  async *export({ secrets }) {
    yield transfer.records(secrets);
  },
  async import(portions, run) {
    const all = await readable(transfer, portions, run);
    const sent = Object.fromEntries([...all].map(([name, { value }]) => [name, value]));
    const who = { ...run.who, ip: run.who.ip ?? '', hosts: [] };
    try {
      const { changes, leftOut } = await transfer.import(sent, run.apply && run.settings, who, {
        secrets: true,
      });
      const changed = new Map(changes.map(({ name, from }) => [name, from]));
      const reasons = new Map(leftOut.map(({ name, reason }) => [name, reason]));
      for (const [name, record] of all) {
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
      for (const name of all.keys()) run.left(name, error.message);
    }
  },
});
