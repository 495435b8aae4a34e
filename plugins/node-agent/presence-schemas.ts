// What a node tells of who is connected, in the reply about usage, and what it is told.
import { bool, int, list, shape, text, word } from '../../kernel/index.js';

/** Addresses of one call. */
const MOST_ADDRESSES = 5_000;
/** Devices of one call. */
const MOST_DEVICES = 500;
const GUID = /^[\w:.-]{1,64}$/;

const guidOfCentral = () =>
  word()
    .max(64)
    .pattern(/^[\w:-]+$/, 'letters, digits, -, _ and :')
    .description('guid of the central');
const ids = () => list(int().min(1));
const ago = (of: string) => int().min(0).description(`ms before this message: ${of}`);

const device = {
  id: int().min(1),
  hash: word().pattern(/^[0-9a-f]{64}$/, 'SHA-256 of the device id, in hex'),
  seen: ago('its last fetch'),
  userAgent: text().max(512),
  deviceOs: text().max(512),
  osVersion: text().max(512),
  deviceModel: text().max(512),
};

export const Presence = shape({
  position: text().description('send it as `presence` with the next call'),
  isFull: bool().description('it replaces what was told before'),
  machines: list(
    shape({
      guid: text().description('this panel, or one below it'),
      online: ids().description('clients that are online since `presence`'),
      gone: ids().description('clients that are no longer'),
      active: ids().description('inbounds that move bytes since then'),
      idle: ids().description('inbounds that no longer do'),
    }),
  ),
  addresses: list(
    shape({ id: int().min(1), ip: text(), guid: text(), since: ago('its first use'), seen: ago('its last') }),
  ).description(
    'from where clients connected within half an hour: new ones, and those that are still in use. More than 5,000 come with the next calls',
  ),
  devices: list(shape(device)).description('devices that fetched a subscription here'),
});

export const DevicesElsewhere = shape({
  central: guidOfCentral(),
  seen: list(shape({ ...device, isGone: bool().description('it was removed') })).max(MOST_DEVICES),
}).example({
  central: '6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10',
  seen: [
    {
      id: 12,
      hash: 'a'.repeat(64),
      isGone: false,
      seen: 1_500,
      userAgent: 'app/1',
      deviceOs: '',
      osVersion: '',
      deviceModel: '',
    },
  ],
});

export const AddressesElsewhere = shape({
  central: guidOfCentral(),
  seen: list(
    shape({
      id: int().min(1).description('id of the client at the central'),
      ip: word().max(64),
      guid: word().pattern(GUID, 'a guid').description('of the panel that saw it'),
      since: ago('the beginning of its present use'),
      seen: ago('the beginning of its last connection'),
    }),
  ).max(MOST_ADDRESSES),
}).example({
  central: '6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10',
  seen: [
    {
      id: 12,
      ip: '192.0.2.7',
      guid: '0c9a7a52-8a4e-4d0f-b1c1-1d8ad6f4a1f3',
      since: 61_000,
      seen: 1_500,
    },
  ],
});
export const Taken = shape({ taken: int() });
