// How changes of groups are undone. Their clients are entries of their own.
import { ADDED, type KeptChange, undoer } from '../../audit/contract.js';
import { describeResult } from '../../engine/contract.js';
import type { GroupChange } from '../contract.js';
import type { Groups } from './groups.js';

const kept = ({ kind, before, after }: GroupChange): KeptChange | string => {
  if (kind === 'added' || !before) return ADDED;
  const { name } = before;
  if (!after) return { kind: 'deleted', id: name, name, before: { ...before }, after: {} };
  if (after.name === name) return 'counters were set: what was counted since would be lost';
  return { kind: 'updated', id: after.name, name: after.name, before: { name }, after: { name: after.name } };
};

export const groupUndoer = (groups: Groups) =>
  undoer<GroupChange>({
    area: 'group',
    keep: (changes) => {
      const all = changes.map(kept);
      const reason = all.find((one) => typeof one === 'string');
      return reason ?? (all as KeptChange[]);
    },
    now: ({ id }) => (groups.has(String(id)) ? { name: id } : undefined),
    undo: async ([change], who) => {
      const { kind, name, before } = change as KeptChange;
      const { name: earlier, up, down } = before as unknown as NonNullable<GroupChange['before']>;
      if (kind === 'deleted') {
        await groups.adopt(earlier, { up, down }, who);
        return 'the group is there again; its clients come back with the entry of theirs';
      }
      const { applied } = await groups.rename(name, earlier, who);
      return describeResult('the group has its name again', applied);
    },
  });
