// XHTTP. Settings: XTLS/Xray-core discussion 4113.
import { bool, oneOf, openObject, optional, shape } from '../../../kernel/index.js';
import type { XhttpTransport } from '../entry/transport.js';
import { objectOf, pathAndHost, type Settings, type Transport } from './transport.js';
import { downloadOf } from './xhttp-download.js';
import { wayOf } from './xhttp-way.js';

/** What a client must know: of an inbound's settings, and of a client's own, such as `extra` of a link. */
export function xhttpOf(settings: Settings): XhttpTransport {
  const download = downloadOf(objectOf(settings['downloadSettings']));
  return { ...wayOf(settings), ...(download && { download }) };
}

export const xhttp: Transport = {
  name: 'xhttp',
  alias: 'splithttp',
  keys: ['xhttpSettings', 'splithttpSettings'],
  settings: shape({
    ...pathAndHost,
    mode: optional(oneOf('', 'auto', 'packet-up', 'stream-up', 'stream-one')),
    noGRPCHeader: optional(bool()),
    xmux: optional(openObject()),
    downloadSettings: optional(openObject()),
  }).unknown(true),
  entry: xhttpOf,
};
