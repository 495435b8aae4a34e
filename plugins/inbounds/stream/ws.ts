// WebSocket and HTTP upgrade: the same settings. Settings: xtls.github.io, WebSocket and HTTPUpgrade transports.
import { shape } from '../../../kernel/index.js';
import { headersOf, hostOf, pathAndHost, pathOf, type Settings, type Transport } from './transport.js';

const settings = shape(pathAndHost).unknown(true);
const fields = (of: Settings) => {
  const headers = headersOf(of);
  return { path: pathOf(of), host: hostOf(of), ...(headers && { headers }) };
};

export const ws: Transport = {
  name: 'ws',
  alias: 'websocket',
  keys: ['wsSettings'],
  settings,
  entry: (of) => ({ kind: 'ws', ...fields(of) }),
};
export const httpupgrade: Transport = {
  name: 'httpupgrade',
  alias: undefined,
  keys: ['httpupgradeSettings'],
  settings,
  entry: (of) => ({ kind: 'httpupgrade', ...fields(of) }),
};
