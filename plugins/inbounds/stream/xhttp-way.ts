// What a client must know of one way of XHTTP, up or down. Source: XTLS/Xray-core discussion 4113.
import type { XhttpMode, XhttpMux, XhttpTransport } from '../entry/transport.js';
import { headersOf, hostOf, objectOf, pathOf, rangeOf, type Settings, textOf } from './transport.js';

const TEXTS = [
  'uplinkHTTPMethod',
  'sessionIDTable',
  'sessionIDLength',
  'seqPlacement',
  'seqKey',
  'uplinkDataPlacement',
  'uplinkDataKey',
] as const;
/** Of no use where `xPaddingObfsMode` is off. */
const PADDING = ['xPaddingKey', 'xPaddingHeader', 'xPaddingPlacement', 'xPaddingMethod'] as const;
const RANGES = ['xPaddingBytes', 'uplinkChunkSize', 'scMaxEachPostBytes', 'scMinPostsIntervalMs'] as const;
/** Newer programs read the first name, this core and older programs the second. */
const SESSION = [
  ['sessionIDPlacement', 'sessionPlacement'],
  ['sessionIDKey', 'sessionKey'],
] as const;
const MUX: readonly string[] = [
  'maxConcurrency',
  'maxConnections',
  'cMaxReuseTimes',
  'hMaxRequestTimes',
  'hMaxReusableSecs',
  'hKeepAlivePeriod',
] satisfies (keyof XhttpMux)[];

function muxOf(value: unknown): XhttpMux | undefined {
  const known = Object.entries(objectOf(value)).filter(
    ([key, one]) =>
      MUX.includes(key) &&
      (key === 'hKeepAlivePeriod' ? typeof one === 'number' : rangeOf(one) !== undefined),
  );
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}

type Texts = Partial<
  Record<(typeof TEXTS)[number] | (typeof PADDING)[number] | (typeof SESSION)[number][0], string>
>;
function textsIn(settings: Settings): Texts {
  const texts: Texts = {};
  for (const key of [...TEXTS, ...(settings['xPaddingObfsMode'] === true ? PADDING : [])]) {
    const text = textOf(settings[key]);
    if (text !== '') texts[key] = text;
  }
  for (const [name, legacy] of SESSION) {
    const text = textOf(settings[name] ?? settings[legacy]);
    if (text !== '') texts[name] = text;
  }
  return texts;
}

function rangesIn(settings: Settings): Pick<XhttpTransport, (typeof RANGES)[number]> {
  return Object.fromEntries(
    RANGES.map((key) => [key, rangeOf(settings[key])] as const).filter(([, range]) => range !== undefined),
  );
}

export function wayOf(settings: Settings): Omit<XhttpTransport, 'download'> {
  const headers = headersOf(settings);
  const xmux = muxOf(settings['xmux']);
  return {
    kind: 'xhttp',
    path: pathOf(settings),
    host: hostOf(settings),
    ...(typeof settings['mode'] === 'string' && { mode: settings['mode'] as XhttpMode }),
    ...(headers && { headers }),
    ...(settings['xPaddingObfsMode'] === true && { xPaddingObfsMode: true }),
    ...textsIn(settings),
    ...rangesIn(settings),
    ...(settings['noGRPCHeader'] === true && { noGRPCHeader: true }),
    ...(xmux && { xmux }),
  };
}
