// XHTTP. Settings and `extra` (what the client's side must know): XTLS/Xray-core discussion 4113.
import { bool, oneOf, openObject, optional, shape } from '../../../kernel/index.js';
import { hostOf, objectOf, pathAndHost, pathOf, type Settings, textOf, type Transport } from './transport.js';

/** The fields of `extra` that are passed on when they are texts that say something. */
const TEXTS = [
  'uplinkHTTPMethod',
  'seqPlacement',
  'seqKey',
  'uplinkDataPlacement',
  'uplinkDataKey',
  'sessionIDTable',
  'sessionIDLength',
] as const;
const PADDING = ['xPaddingKey', 'xPaddingHeader', 'xPaddingPlacement', 'xPaddingMethod'] as const;
/** What every client does unasked; said aloud, it would only mark the link. */
const UNSAID: Readonly<Record<string, string>> = {
  scMaxEachPostBytes: '1000000',
  scMinPostsIntervalMs: '30',
};

const some = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  value !== 0 &&
  (typeof value !== 'object' || Object.keys(value).length > 0);

/** Empty when a client needs to know nothing beside path, host and mode. Server-only settings are left out. */
function extraOf(settings: Settings): Record<string, unknown> {
  const extra: Record<string, unknown> = {};
  const take = (key: string, value = settings[key]): void => {
    if (some(value) && String(value) !== UNSAID[key]) extra[key] = value;
  };
  take('mode');
  take('xPaddingBytes');
  if (settings['xPaddingObfsMode'] === true) {
    extra['xPaddingObfsMode'] = true;
    for (const key of PADDING) take(key);
  }
  for (const key of TEXTS) take(key);
  // Newer programs read the first name, this core and older programs the second.
  for (const [name, legacy] of [
    ['sessionIDPlacement', 'sessionPlacement'],
    ['sessionIDKey', 'sessionKey'],
  ] as const) {
    take(name, settings[name] ?? settings[legacy]);
    take(legacy, settings[name] ?? settings[legacy]);
  }
  for (const key of [...Object.keys(UNSAID), 'uplinkChunkSize', 'xmux', 'downloadSettings']) take(key);
  if (settings['noGRPCHeader'] === true) extra['noGRPCHeader'] = true;
  take(
    'headers',
    Object.fromEntries(
      Object.entries(objectOf(settings['headers'])).filter(([name]) => name.toLowerCase() !== 'host'),
    ),
  );
  return extra;
}

const common = (settings: Settings): Record<string, string> => ({
  path: pathOf(settings),
  host: hostOf(settings),
  ...(typeof settings['mode'] === 'string' && { mode: settings['mode'] }),
  ...(some(settings['xPaddingBytes']) && { x_padding_bytes: String(settings['xPaddingBytes']) }),
});

/** Keys in order, no spaces, as the parts of a link that are compared as text. */
function compactJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
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
  query(settings) {
    const extra = extraOf(settings);
    return { ...common(settings), ...(some(extra) && { extra: compactJson(extra) }) };
  },
  vmess: (settings) => ({
    ...common(settings),
    ...extraOf(settings),
    ...(textOf(settings['mode']) && { mode: settings['mode'] }),
  }),
};
