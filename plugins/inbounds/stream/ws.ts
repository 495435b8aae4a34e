// WebSocket and HTTP upgrade: the same settings. Settings: xtls.github.io, WebSocket and HTTPUpgrade transports.
import { annotate, int, shape } from '../../../kernel/index.js';
import { advanced, maybe } from '../form.js';
import {
  behindProxy,
  headersOf,
  hostOf,
  pathAndHost,
  pathOf,
  type Settings,
  type Transport,
} from './transport.js';

const settings = { ...pathAndHost, ...behindProxy };
const fields = (of: Settings) => {
  const headers = headersOf(of);
  return { path: pathOf(of), host: hostOf(of), ...(headers && { headers }) };
};

const MOST_32_BITS = 2 ** 32 - 1;

export const ws: Transport = {
  name: 'ws',
  title: 'WebSocket',
  alias: 'websocket',
  keys: ['wsSettings'],
  settings: shape({
    ...settings,
    ...advanced('Transport', {
      heartbeatPeriod: annotate(maybe(int().min(0).max(MOST_32_BITS)), { unit: 'seconds' }).description(
        'between two pings to the client; 0 for none',
      ),
    }),
  }).unknown(true),
  entry: (of) => ({ kind: 'ws', ...fields(of) }),
};
export const httpupgrade: Transport = {
  name: 'httpupgrade',
  title: 'HTTP upgrade',
  alias: undefined,
  keys: ['httpupgradeSettings'],
  settings: shape(settings).unknown(true),
  entry: (of) => ({ kind: 'httpupgrade', ...fields(of) }),
};
