// VLESS. Settings: xtls.github.io, VLESS inbound.
import { annotate, custom, optional, shape, text, withDefault, word } from '../../../kernel/index.js';
import type { ApiAccountType, JsonObject } from '../../engine/contract.js';
import type { Inbound, Protocol } from '../contract.js';
import { advanced, forClients } from '../form.js';
import { vlessEncryption } from '../generators.js';
import { takesVision } from '../stream/stream.js';
import { uuidProblem } from './uuid.js';
import { reverseBytes, reverseField } from './vless-reverse.js';

/** One half of VLESS's own encryption (XTLS/Xray-core pull request 5067), or none. */
const HALF = /^(?:none|mlkem768x25519plus\.\S+)$/;
const settings = shape({
  ...advanced('Encryption', {
    // The core refuses a VLESS inbound without it; beside `none` there is VLESS's own encryption.
    decryption: annotate(withDefault(word().pattern(HALF, 'none or mlkem768x25519plus.…'), 'none'), {
      secret: true,
      generator: vlessEncryption,
    }).description("none, or the server's half of VLESS's own encryption"),
  }),
  ...forClients('Encryption', {
    encryption: optional(text().pattern(HALF, 'none or mlkem768x25519plus.…').allow('')).description(
      "the clients' half",
    ),
  }),
}).unknown(true);

/** In links, the suffix tells client programs to carry UDP to port 443 too; the core knows the flow without it. */
const coreFlow = (flow: string): string => (flow === 'xtls-rprx-vision-udp443' ? 'xtls-rprx-vision' : flow);
const says = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isEncrypted = ({ decryption, encryption }: Inbound['settings']): boolean =>
  [decryption, encryption].some((half) => says(half) && half !== 'none');
const takesFlow = ({ settings: own, streamSettings, disableFlow }: Inbound): boolean =>
  !disableFlow && takesVision(streamSettings, isEncrypted(own));

/** Xray-core 26.3.27, proxy/vless/account.proto and inbound/config.proto. The core keeps 16 bytes of the id and prints them in lower case. */
export const vlessAccounts: ApiAccountType = {
  name: 'vless',
  users: 'api',
  inboundType: 'xray.proxy.vless.inbound.Config',
  usersField: 1,
  message: 'xray.proxy.vless.Account',
  fields: {
    id: { number: 1, type: 'string', lowerCase: true },
    flow: { number: 2, type: 'string' },
    reverse: reverseField,
  },
  omit: ['flow'],
  fault: ({ id, flow }) =>
    uuidProblem(id) ??
    (flow === '' || flow === 'xtls-rprx-vision'
      ? undefined
      : `flow must be empty or xtls-rprx-vision, not ${JSON.stringify(flow)}`),
};

export const vless: Protocol = {
  name: 'vless',
  title: 'VLESS',
  socket: true,
  settings: custom(settings),

  // `encryption` is the client's half; the core's config knows only `decryption`.
  coreSettings: ({ clients: _clients, encryption: _encryption, ...rest }) => rest as JsonObject,

  // Where it cannot work, the core would take the flow and refuse the connection.
  account: (client, inbound) => ({
    protocol: 'vless',
    id: client.uuid,
    flow: takesFlow(inbound) ? coreFlow(client.flow) : '',
    ...(client.reverse && { reverse: reverseBytes(client) }),
  }),

  entry: (inbound, base) => ({
    ...base,
    account: {
      protocol: 'vless',
      id: ({ uuid }) => uuid,
      flow: takesFlow(inbound) ? ({ flow }) => flow : '',
      encryption: says(inbound.settings['encryption']) ? inbound.settings['encryption'] : 'none',
    },
  }),
};
