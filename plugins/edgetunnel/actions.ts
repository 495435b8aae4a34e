// The actions of the endpoint: which keys of the body each reads, and what it does.
import {
  custom,
  kernelErrors,
  lenientInt,
  optional,
  type Principal,
  shape,
  type Static,
  text,
} from '../../kernel/index.js';
import { wireguardKey } from '../core-template/contract.js';
import { type KeyPair, newKeyPair, publicKeyOf } from './keys.js';
import type { Done, TunnelDevices } from './tunnel-devices.js';
import type { TunnelService } from './tunnel-service.js';

const Key = () =>
  optional(
    custom<string>(
      text().custom((value: string) => {
        if (value !== '' && wireguardKey(value) === undefined)
          throw new Error('it must be a key of X25519: 32 bytes in base64');
        return value;
      }),
    ),
  ).example('0A9ag3ZLVuYIpuPk8pgJqsF0YqCqVZTNG0PnhT7w6Vk=');

export const ActionBody = shape({
  privateKey: Key().description('reg: base64; without both keys the panel generates them'),
  publicKey: Key().description('reg: follows from the private key'),
  license: optional(
    text().pattern(/^[A-Za-z0-9-]{0,128}$/, 'licence of letters, digits and hyphens, at most 128'),
  )
    .description('license')
    .example('a1B2c3D4-e5F6g7H8-i9J0k1L2'),
  interval: optional(lenientInt().min(0).max(365)).description('interval: days; 0 is never').example(7),
});
export type Sent = Static<typeof ActionBody>;

interface Call {
  readonly devices: TunnelDevices;
  readonly service: TunnelService;
  readonly sent: Sent;
  readonly who: Principal;
  readonly progressed: () => void;
}
interface Action {
  readonly reads: readonly (keyof Sent)[];
  readonly run: (call: Call) => Promise<Done>;
}

const missing = (name: keyof Sent, action: string) =>
  kernelErrors.INVALID(`${name} is required for the action ${action}`, { path: name });

/** The pair that was sent, or a new one. */
function keysOf({ privateKey = '', publicKey = '' }: Sent): KeyPair {
  if (privateKey === '' && publicKey === '') return newKeyPair();
  const key = wireguardKey(privateKey);
  if (key === undefined) throw missing('privateKey', 'reg');
  const own = publicKeyOf(key);
  if (publicKey !== '' && wireguardKey(publicKey) !== own)
    throw kernelErrors.INVALID('publicKey does not belong to privateKey; leave it out', {
      path: 'publicKey',
    });
  return { privateKey: key, publicKey: own };
}

export const ACTIONS = {
  data: {
    reads: [],
    run: async ({ devices }) => ({
      text: devices.stored,
      said: devices.stored === '' ? 'there is no device' : 'the device that is registered',
    }),
  },
  del: { reads: [], run: ({ devices, who }) => devices.delete(who) },
  config: {
    reads: [],
    run: async ({ devices, service }) => {
      const { config } = await service.config(devices.needed);
      return { text: config, said: 'what the tunnel service says of the device' };
    },
  },
  reg: {
    reads: ['privateKey', 'publicKey'],
    run: async ({ devices, sent, who }) => devices.register(keysOf(sent), who),
  },
  license: {
    reads: ['license'],
    run: async ({ devices, sent: { license = '' }, who }) => {
      if (license === '') throw missing('license', 'license');
      return devices.setLicense(license, who);
    },
  },
  changeIp: { reads: [], run: ({ devices, who, progressed }) => devices.changeIp(who, progressed) },
  interval: {
    reads: ['interval'],
    run: async ({ devices, sent: { interval }, who }) => {
      if (interval === undefined) throw missing('interval', 'interval');
      return devices.setInterval(interval, who);
    },
  },
} as const satisfies Record<string, Action>;
export type ActionName = keyof typeof ACTIONS;

/** Runs an action. `ignored` gets the keys with a value that it does not read. */
export function runAction(name: ActionName, call: Call, ignored: Set<string>): Promise<Done> {
  const { reads, run }: Action = ACTIONS[name];
  for (const [key, value] of Object.entries(call.sent))
    if (value !== '' && !reads.includes(key as keyof Sent)) ignored.add(key);
  return run(call);
}
