// Events of the panel itself: admins, settings, the core, outbounds, alarms.
import { duringAdminSave, duringTokenSave } from '../../access/contract.js';
import { addressLimitExceeded } from '../../addresses/contract.js';
import { alarmChanged } from '../../alarms/contract.js';
import { deviceRefused } from '../../devices/contract.js';
import { coreStateChanged } from '../../engine/contract.js';
import { outboundDown, outboundUp } from '../../outbounds/contract.js';
import { duringSettingsSave } from '../../settings/contract.js';
import { callbackSource } from '../contract.js';
import { byOf, recordEvents } from './record-events.js';

export const adminEvents = recordEvents('admin', 'An admin', duringAdminSave, ({ username }) => ({
  name: username,
  shown: { username },
}));
export const tokenEvents = recordEvents('token', 'An API token', duringTokenSave, (token) => ({
  name: token.name,
  shown: { id: token.id, name: token.name, enabled: token.enabled, expiresAt: token.expiresAt },
}));

export const settingEvents = callbackSource({
  types: { 'setting.updated': 'A setting was changed; values of secrets are left out.' },
  hook: duringSettingsSave,
  *describe({ changes, who }) {
    for (const { name, before, after, secret } of changes)
      yield {
        type: 'setting.updated',
        name,
        data: { setting: secret ? { name, secret } : { name, before, after }, by: byOf(who) },
      };
  },
});

export const coreEvents = callbackSource({
  types: { 'core.stateChanged': 'The core started, stopped or failed.' },
  hook: coreStateChanged,
  describe: ({ from, to, reason }) => [{ type: 'core.stateChanged', data: { from, to, reason } }],
});

export const downEvents = callbackSource({
  types: { 'outbound.down': 'An outbound failed several scheduled tests in a row.' },
  hook: outboundDown,
  describe: ({ outbounds }) =>
    outbounds.map(({ tag, failures, error }) => ({
      type: 'outbound.down',
      name: tag,
      data: { outbound: { tag, failures, error: error.slice(0, 1_000) } },
    })),
});
export const upEvents = callbackSource({
  types: { 'outbound.up': 'An outbound that was down works again.' },
  hook: outboundUp,
  describe: ({ outbounds }) =>
    outbounds.map(({ tag, delay }) => ({
      type: 'outbound.up',
      name: tag,
      data: { outbound: { tag, delay } },
    })),
});

export const alarmEvents = callbackSource({
  types: { 'alarm.raised': 'An alarm became active.', 'alarm.cleared': 'An alarm is over.' },
  hook: alarmChanged,
  describe: ({ alarm: { name, isActive, value, limit, text } }) => [
    {
      type: isActive ? 'alarm.raised' : 'alarm.cleared',
      name,
      data: { alarm: { name, value, limit, text } },
    },
  ],
});

export const addressEvents = callbackSource({
  types: { 'client.tooManyAddresses': 'A client connects from more addresses at once than its limitIp.' },
  hook: addressLimitExceeded,
  *describe({ clients }) {
    for (const { id, email, limitIp, kept, over } of clients)
      yield {
        type: 'client.tooManyAddresses',
        name: email,
        data: { client: { id, email, limitIp }, kept, over },
      };
  },
});
export const deviceEvents = callbackSource({
  types: { 'client.deviceRefused': 'A device got no subscription, because of limitHwid.' },
  hook: deviceRefused,
  *describe({ devices }) {
    for (const { reason, limit, ...device } of devices)
      yield { type: 'client.deviceRefused', name: device.email, data: { device, reason, limit } };
  },
});
