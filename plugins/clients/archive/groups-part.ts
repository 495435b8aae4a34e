// Groups in archives: names, and where the count of their traffic starts.
import { inspect, PanelError, shape, bool, int, type Static } from '../../../kernel/index.js';
import type { ArchiveImport, ArchivePart, ArchiveRecord } from '../../archive/contract.js';
import type { Groups } from '../groups/groups.js';
import { groupName } from '../model/value-schemas.js';

const GroupRecord = shape({ name: groupName(), up: int(), down: int(), created: bool() });
export type ArchivedGroup = Static<typeof GroupRecord>;

async function take(groups: Groups, record: ArchiveRecord, run: ArchiveImport): Promise<void> {
  const name = String(record['name'] ?? 'a group').slice(0, 200);
  const result = inspect(GroupRecord, record);
  if (!('value' in result)) return run.left(name, result.issues.map(({ message }) => message).join('; '));
  if (groups.isStored(result.value.name)) return run.left(name, 'it is here already');
  try {
    if (run.apply) await groups.restore(result.value, run.who);
    run.taken(record);
  } catch (error) {
    if (!(error instanceof PanelError) || error.status >= 500) throw error;
    run.left(name, error.message);
  }
}

export const groupsPart = (groups: Groups): ArchivePart => ({
  kind: 'groups',
  version: 1,
  about:
    'groups of clients; up and down are bytes that are subtracted from the sum of the members, negative after their counters were reset',
  async *export() {
    yield groups.stored();
  },
  async import(portions, run) {
    for await (const records of portions) for (const record of records) await take(groups, record, run);
  },
});
