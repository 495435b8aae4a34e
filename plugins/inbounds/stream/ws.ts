// WebSocket and HTTP upgrade: the same settings. Settings: xtls.github.io, WebSocket and HTTPUpgrade transports.
import { shape } from '../../../kernel/index.js';
import { hostOf, pathAndHost, pathOf, type Settings, type Transport } from './transport.js';

const settings = shape(pathAndHost).unknown(true);
const fields = (of: Settings): { path: string; host: string } => ({ path: pathOf(of), host: hostOf(of) });

export const ws: Transport = {
  name: 'ws',
  alias: 'websocket',
  keys: ['wsSettings'],
  settings,
  query: fields,
  vmess: fields,
};
export const httpupgrade: Transport = {
  name: 'httpupgrade',
  alias: undefined,
  keys: ['httpupgradeSettings'],
  settings,
  query: fields,
  vmess: fields,
};
