// Hysteria 2. Settings: xtls.github.io, Hysteria inbound; v2.hysteria.network.
import { annotate, custom, int, optional, shape } from '../../../kernel/index.js';
import type { ApiAccountType, JsonObject } from '../../engine/contract.js';
import type { Protocol } from '../contract.js';
import { advanced } from '../form.js';
import { objectOf } from '../stream/transport.js';
import { authOf, ownCredential } from './own-credential.js';

/** Xray-core 26.3.27, proxy/hysteria/account/config.proto and proxy/hysteria/config.proto. The core finds a user by `auth` alone. */
export const hysteriaAccounts: ApiAccountType = {
  name: 'hysteria',
  users: 'api',
  inboundType: 'xray.proxy.hysteria.ServerConfig',
  usersField: 1,
  message: 'xray.proxy.hysteria.account.Account',
  fields: { auth: { number: 1, type: 'string' } },
  fault: ({ auth }) => (auth === '' ? 'auth must not be empty' : undefined),
};

const VERSION = 2;

export const hysteria: Protocol = {
  name: 'hysteria',
  title: 'Hysteria 2',
  settings: custom(
    shape(
      advanced('Protocol', {
        version: annotate(optional(int()), { initial: VERSION }).description('2; the core has no other'),
      }),
    ).unknown(true),
  ),
  coreSettings: ({ clients: _clients, ...rest }) => rest as JsonObject,

  // The core reads the version in the stream only. One that it does not run, wherever it stands, is for the core to refuse.
  coreStream(stream, { version }) {
    const own = objectOf(stream['hysteriaSettings']);
    const other = [version, own['version']].find((wanted) => wanted !== undefined && wanted !== VERSION);
    return { ...stream, hysteriaSettings: { ...own, version: other ?? VERSION } } as unknown as JsonObject;
  },
  streamProblem: ({ network, security }) =>
    network === 'hysteria' && security === 'tls'
      ? undefined
      : 'hysteria needs the network hysteria and the security tls',
  l4: () => ['udp'],

  credential: ownCredential('auth'),
  account: (client, inbound) => ({ protocol: 'hysteria', auth: authOf(client, inbound) }),
  entry: (inbound, base) => ({
    ...base,
    account: { protocol: 'hysteria', auth: (client) => authOf(client, inbound) },
  }),
};
