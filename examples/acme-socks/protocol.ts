// The protocol as the panel sees it: what an inbound may set, and what a client program needs.
import { custom, shape } from '@weir-panel/weir/kernel';
import { userName } from '@weir-panel/weir/plugins/engine';
import { type Protocol, valueFor } from '@weir-panel/weir/plugins/inbounds';
import { encodeFragment, type Renderer } from '@weir-panel/weir/plugins/subscription';

export const protocol: Protocol = {
  name: 'acme-socks',
  runBy: 'program',
  stream: false,
  l4: () => ['tcp'],
  settings: custom(shape({})),
  coreSettings: () => ({}),
  account: ({ password }) => ({ protocol: 'acme-socks', password }),
  entry: ({ id: inboundId }, base) => ({
    ...base,
    account: {
      protocol: 'acme-socks',
      user: ({ id: clientId }) => userName({ inboundId, clientId }),
      password: ({ password }) => password,
    },
  }),
};

/** The form that several client programs read: `socks://base64(user:password)@host:port#name`. */
export const link: Renderer = {
  format: 'links',
  protocol: 'acme-socks',
  compile:
    ({ account }) =>
    ({ client, authority, name }) => {
      const of = (field: string): string => String(valueFor(account[field], client));
      const login = Buffer.from(`${of('user')}:${of('password')}`).toString('base64url');
      return `socks://${login}@${authority}${name === '' ? '' : `#${encodeFragment(name)}`}`;
    },
};
