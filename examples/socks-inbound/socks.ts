// SOCKS 5 (RFC 1928) with name and password (RFC 1929). Settings: xtls.github.io, SOCKS inbound.
import { randomUUID } from 'node:crypto';
import { annotate, bool, custom, inSection, oneOf, shape, withDefault } from '@weir-panel/weir/kernel';
import { type ConfigAccountType, userName } from '@weir-panel/weir/plugins/engine';
import { type Protocol, valueFor } from '@weir-panel/weir/plugins/inbounds';
import { encodeFragment, type Renderer } from '@weir-panel/weir/plugins/subscription';

/** RFC 1929 has one byte for the length. */
const LONGEST = 255;

/** Xray-core 26.3.27, infra/conf/socks.go: its API cannot change these users; they are part of the inbound's config. */
export const accounts: ConfigAccountType = {
  name: 'socks',
  users: 'config',
  inboundType: 'xray.proxy.socks.ServerConfig',
  list: 'accounts',
  nameKey: 'user',
  fields: { password: { type: 'string', json: 'pass' } },
  fault: ({ password }) => {
    const bytes = Buffer.byteLength(String(password));
    return bytes > 0 && bytes <= LONGEST ? undefined : `password must have 1 to ${LONGEST} bytes`;
  },
  nobody: () => ({ password: randomUUID() }),
};

const settings = shape(
  inSection(
    'Logins',
    {
      auth: annotate(withDefault(oneOf('password'), 'password'), { title: 'Who may use it' }),
      // The core counts no packets of an account.
      udp: annotate(withDefault(bool().valid(false), false), { level: 'advanced' }).description(
        'UDP is not possible',
      ),
    },
    { change: 'replace' },
  ),
);

export const socks: Protocol = {
  name: 'socks',
  settings: custom(settings),
  coreSettings: () => ({ auth: 'password', udp: false }),
  account: ({ password }) => ({ protocol: 'socks', password }),
  // The core counts by login name, so the login is the user's name in the core.
  entry: ({ id: inboundId }, base) => ({
    ...base,
    account: {
      protocol: 'socks',
      user: ({ id: clientId }) => userName({ inboundId, clientId }),
      password: ({ password }) => password,
    },
  }),
};

/** SOCKS has no standard link; this form is what several client programs read: `socks://base64(user:password)@host:port#name`. */
export const link: Renderer = {
  format: 'links',
  protocol: 'socks',
  compile:
    ({ account }) =>
    ({ client, authority, name }) => {
      const of = (field: string): string => String(valueFor(account[field], client));
      const login = Buffer.from(`${of('user')}:${of('password')}`).toString('base64url');
      return `socks://${login}@${authority}${name === '' ? '' : `#${encodeFragment(name)}`}`;
    },
};
