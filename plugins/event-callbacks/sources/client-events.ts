// Events of clients. Credentials are never in them; that one changed is.
import type { Principal } from '../../../kernel/index.js';
import {
  type ClientChange,
  type ClientRow,
  duringClientSave,
  duringGroupSave,
} from '../../clients/contract.js';
import { type CallbackEvent, callbackSource } from '../contract.js';
import { byOf, changedFields, picked, recordEvents } from './record-events.js';

const SHOWN = [
  ...['id', 'email', 'enable', 'depletedCause', 'totalGB', 'expiryTime', 'up', 'down', 'inboundIds'],
  ...['limitIp', 'limitHwid', 'tgId', 'group', 'comment', 'reset', 'resetDay', 'resetMax', 'resetCount'],
  ...['trafficReset', 'trafficResetDay', 'flow', 'lastOnline'],
];
/** Their values open the way to the core, or a subscription. */
const SECRET = [
  ...['subId', 'uuid', 'password', 'auth', 'secret', 'privateKey', 'publicKey', 'preSharedKey'],
  ...['allowedIPs', 'credentials', 'adTag', 'reverse', 'security', 'keepAlive', 'forwardedPorts'],
];
/** Counters move without a change of the client. */
const COUNTED = new Set(['up', 'down', 'lastOnline']);
const COMPARED = SHOWN.filter((name) => !COUNTED.has(name));

const shown = (row: Readonly<ClientRow>): object => picked(row, SHOWN);

function* updated({ before, after, setsUsage }: ClientChange, by: object): Iterable<CallbackEvent> {
  if (!before || !after) return;
  const name = after.email;
  if (before.enable && !after.enable && after.depletedCause) {
    yield { type: 'client.depleted', name, data: { client: shown(after), cause: after.depletedCause, by } };
    return;
  }
  const changed = changedFields(before, after, COMPARED);
  const secrets = changedFields(before, after, SECRET);
  if (changed.length + secrets.length > 0)
    yield {
      type: 'client.updated',
      name,
      data: {
        client: shown(after),
        changed: [...changed, ...secrets],
        previous: picked(before, changed),
        by,
      },
    };
  if (setsUsage)
    yield {
      type: 'client.trafficReset',
      name,
      data: { client: shown(after), previous: { up: before.up, down: before.down }, by },
    };
}

export const clientEvents = callbackSource<{
  readonly changes: readonly ClientChange[];
  readonly who: Principal;
}>({
  types: {
    'client.created': 'A client was added.',
    'client.updated': 'Fields of a client were changed; `previous` has their values before.',
    'client.deleted': 'A client was deleted.',
    'client.depleted': 'A limit disabled a client: its quota or its expiry.',
    'client.trafficReset': 'The counters of a client were set, mostly to zero.',
  },
  hook: duringClientSave,
  *describe({ changes, who }) {
    const by = byOf(who);
    for (const change of changes) {
      const { kind, before, after } = change;
      if (kind === 'updated') yield* updated(change, by);
      else if (kind === 'added' && after)
        yield { type: 'client.created', name: after.email, data: { client: shown(after), by } };
      else if (before)
        yield { type: 'client.deleted', name: before.email, data: { client: shown(before), by } };
    }
  },
});

export const groupEvents = recordEvents('group', 'A group', duringGroupSave, ({ name }) => ({
  name,
  shown: { name },
}));
