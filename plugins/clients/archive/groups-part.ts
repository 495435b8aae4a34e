// Groups in archives: names, and where the count of their traffic starts.
import { inspect, shape, bool, int, type Static, sentenceOf } from '../../../kernel/index.js';
import {
  type ArchiveImport,
  type ArchivePart,
  type ArchiveRecord,
  IS_HERE,
  takeEach,
  textIn,
} from '../../archive/contract.js';
import type { Groups } from '../groups/groups.js';
import { groupName } from '../model/value-schemas.js';

const GroupRecord = shape({ name: groupName(), up: int(), down: int(), created: bool() });
export type ArchivedGroup = Static<typeof GroupRecord>;

async function take(groups: Groups, record: ArchiveRecord, run: ArchiveImport): Promise<string | undefined> {
  const result = inspect(GroupRecord, record);
  if (!('value' in result)) return sentenceOf(result.issues);
  if (groups.isStored(result.value.name)) return IS_HERE;
  if (run.apply) await groups.restore(result.value, run.who);
  return undefined;
}

export const groupsPart = (groups: Groups): ArchivePart => ({
  kind: 'groups',
  version: 1,
  about:
    'groups of clients; up and down are bytes that are subtracted from the sum of the members, negative after their counters were reset',
  async *export() {
    yield groups.stored();
  },
  import: (portions, run) =>
    takeEach(portions, run, {
      nameOf: ({ name }) => textIn(name) || 'a group',
      take: (record) => take(groups, record, run),
    }),
});
