// mKCP over UDP. Settings: xtls.github.io, mKCP transport. What disguises its packets stands in `finalmask.udp`: newer cores
// refuse `header` and `seed` here.
import { annotate, int, optional, shape } from '../../../kernel/index.js';
import type { KcpTransport } from '../entry/transport.js';
import { advanced } from '../form.js';
import { objectOf, type Settings, textOf, type Transport } from './transport.js';

const positive = () => int().min(1);
const size = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 ? value : undefined;

/** What older links call `headerType` and `seed`. */
type Disguise = Pick<KcpTransport, 'header' | 'seed'>;

/** The name of a header in links, by the mask that puts it on. */
const headerOf = (type: string): string =>
  type === 'wechat' || type === 'wechat-video' ? 'wechat-video' : type;

function disguiseOf(masks: readonly unknown[]): Disguise {
  let header = 'none';
  let seed = '';
  for (const mask of masks) {
    const type = textOf(objectOf(mask)['type']);
    const settings = objectOf(objectOf(mask)['settings']);
    if (/^header-(?:dns|dtls|srtp|utp|wechat|wireguard)$/.test(type))
      header = headerOf(type.slice('header-'.length));
    else if (type === 'mkcp-aes128gcm') seed = textOf(settings['password']);
    else if (type === 'mkcp-legacy') {
      if (textOf(settings['header']) === '') seed = textOf(settings['value']);
      else header = headerOf(textOf(settings['header']));
    }
  }
  return { header, ...(seed !== '' && { seed }) };
}

export const kcp: Transport = {
  name: 'kcp',
  title: 'mKCP',
  alias: 'mkcp',
  keys: ['kcpSettings'],
  settings: shape(
    advanced('Transport', {
      mtu: annotate(optional(int().min(576).max(1460)), { unit: 'bytes', initial: 1350 }).description(
        'longest packet',
      ),
      tti: annotate(optional(int().min(10).max(100)), { unit: 'ms', initial: 50 }).description(
        'between two looks at what is to be sent',
      ),
      uplinkCapacity: annotate(optional(int().min(0)), { unit: 'MiB/s', initial: 5 }),
      downlinkCapacity: annotate(optional(int().min(0)), { unit: 'MiB/s', initial: 20 }),
      cwndMultiplier: optional(positive()).description('of the congestion window'),
      maxSendingWindow: annotate(optional(positive()), { unit: 'bytes' }),
    }),
  ).unknown(true),
  entry(settings: Settings, stream: Settings) {
    const masks = objectOf(stream['finalmask'])['udp'];
    const [mtu, tti] = [size(settings['mtu']), size(settings['tti'])];
    return {
      kind: 'kcp',
      ...disguiseOf(Array.isArray(masks) ? masks : []),
      ...(mtu !== undefined && { mtu }),
      ...(tti !== undefined && { tti }),
    };
  },
};
