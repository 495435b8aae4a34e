// How clients and groups are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { type ClientRow, duringClientSave, duringGroupSave } from './contract.js';

/** Fields whose values open the way to the core, and a subscription. */
const SECRET = ['uuid', 'password', 'auth', 'subId', 'credentials'];

/** Times that each change moves, and counters. What other machines counted is no more a decision of somebody than what this one did. */
const NO_FACTS = ['id', 'updatedAt', 'createdAt', 'countedSince', 'elsewhereUp', 'elsewhereDown'] as const;

function facts(row: Readonly<ClientRow> | undefined): object | undefined {
  if (!row) return undefined;
  const found: Partial<ClientRow> = { ...row };
  for (const name of NO_FACTS) delete found[name];
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
          before: facts(before),
          after: facts(after),
        },
});

export const groups = audited({
  area: 'group',
  hook: duringGroupSave,
  describe: ({ kind, before, after }) => ({ kind, name: (after ?? before)?.name ?? '', before, after }),
});
