// Events of inbounds and hosts. Settings of inbounds hold keys: that they changed is in the events, they are not.
import type { Principal } from '../../../kernel/index.js';
import { duringHostSave } from '../../hosts/contract.js';
import { duringInboundSave, type Inbound, type InboundChange } from '../../inbounds/contract.js';
import { type CallbackEvent, callbackSource } from '../contract.js';
import { byOf, changedFields, picked, recordEvents } from './record-events.js';

const SHOWN = [
  ...['id', 'tag', 'remark', 'enable', 'depletedCause', 'listen', 'port', 'protocol', 'total', 'expiryTime'],
  ...['shareAddr', 'shareAddrStrategy', 'subSortIndex', 'trafficReset', 'trafficResetDay'],
];
const HIDDEN = ['settings', 'streamSettings', 'sniffing', 'disableFlow'];

const shown = (inbound: Inbound): object => picked(inbound, SHOWN);

function updated(before: Inbound, after: Inbound, by: object): CallbackEvent | undefined {
  const name = after.tag;
  if (before.enable && !after.enable && after.depletedCause)
    return {
      type: 'inbound.depleted',
      name,
      data: { inbound: shown(after), cause: after.depletedCause, by },
    };
  const changed = changedFields(before, after, SHOWN);
  const hidden = changedFields(before, after, HIDDEN);
  return changed.length + hidden.length === 0
    ? undefined
    : {
        type: 'inbound.updated',
        name,
        data: {
          inbound: shown(after),
          changed: [...changed, ...hidden],
          previous: picked(before, changed),
          by,
        },
      };
}

export const inboundEvents = callbackSource<{
  readonly changes: readonly InboundChange[];
  readonly who: Principal;
}>({
  types: {
    'inbound.created': 'An inbound was added.',
    'inbound.updated': 'Fields of an inbound were changed; `previous` has their values before.',
    'inbound.deleted': 'An inbound was deleted.',
    'inbound.depleted': 'A limit disabled an inbound: its quota or its expiry.',
  },
  hook: duringInboundSave,
  *describe({ changes, who }) {
    const by = byOf(who);
    for (const { before, after } of changes) {
      if (before && after) {
        const event = updated(before, after, by);
        if (event) yield event;
      } else if (after)
        yield { type: 'inbound.created', name: after.tag, data: { inbound: shown(after), by } };
      else if (before)
        yield { type: 'inbound.deleted', name: before.tag, data: { inbound: shown(before), by } };
    }
  },
});

export const hostEvents = recordEvents(
  'host',
  'A host group',
  duringHostSave,
  ({ groupId, fields, rows }) => ({
    name: fields.remark,
    shown: { groupId, remark: fields.remark, addresses: rows.map(({ address }) => address) },
  }),
);
