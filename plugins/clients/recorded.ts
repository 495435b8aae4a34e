// How clients and groups are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { type ClientRow, duringClientSave, duringGroupSave } from './contract.js';

/** Fields whose values open the way to the core, and a subscription. */
const SECRET = ['uuid', 'password', 'auth', 'subId', 'credentials'];

/** Times that each change moves, and counters. What other machines counted is no more a decision of somebody than what this one did. */
const NO_FACTS = ['id', 'updatedAt', 'createdAt', 'countedSince', 'elsewhereUp', 'elsewhereDown'];

type Row = Readonly<ClientRow> | undefined;
/** The fields of a client that are recorded, without those that are the same in `other`: a bulk call edits one of them in thousands of clients. */
function facts(row: Row, other: Row): object | undefined {
  if (!row) return undefined;
  const found: Record<string, unknown> = {};
  for (const name of Object.keys(row) as (keyof ClientRow)[])
    if ((!other || row[name] !== other[name]) && !NO_FACTS.includes(name)) found[name] = row[name];
  return found;
}

export const clients = audited({
  area: 'client',
  hook: duringClientSave,
  secret: SECRET,
  describe: ({ kind, before, after, isRecorded }) =>
    isRecorded
      ? undefined
      : {
          kind,
          name: (after ?? before)?.email ?? '',
          id: (after ?? before)?.id ?? '',
          before: facts(before, after),
          after: facts(after, before),
        },
});

export const groups = audited({
  area: 'group',
  hook: duringGroupSave,
  describe: ({ kind, before, after }) => ({ kind, name: (after ?? before)?.name ?? '', before, after }),
});
