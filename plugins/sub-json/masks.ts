// Masks in the form of the core's config. Source: xtls.github.io, FinalMaskObject.
import type { JsonObject } from '../engine/contract.js';
import type { EntryTemplate, FinalMask, KcpTransport } from '../inbounds/contract.js';

type Mask = NonNullable<FinalMask['tcp']>[number] | NonNullable<FinalMask['udp']>[number];
const masked = (type: string, settings: object = {}): JsonObject =>
  (Object.keys(settings).length > 0 ? { type, settings } : { type }) as JsonObject;

/** What older mKCP called header and seed. Older links say `wechat-video`. */
function disguise(header: string, seed: string): JsonObject[] {
  const name = header === 'wechat-video' ? 'wechat' : header;
  return [
    ...(name === '' || name === 'none' ? [] : [masked(`header-${name}`)]),
    seed === '' ? masked('mkcp-original') : masked('mkcp-aes128gcm', { password: seed }),
  ];
}

/** The core of today knows the legacy mask by its parts only. */
function written(mask: Mask): JsonObject[] {
  const { kind, ...settings } = mask;
  if (mask.kind !== 'mkcp-legacy') return [masked(kind, settings)];
  const { header, value = '' } = mask;
  return header === ''
    ? disguise('', value)
    : [masked(`header-${header === 'wechat-video' ? 'wechat' : header}`)];
}

/** mKCP from elsewhere may say header and seed without a mask. */
const disguiseOf = ({ header, seed = '' }: KcpTransport): JsonObject[] =>
  (header === 'none' || header === '') && seed === '' ? [] : disguise(header, seed);

const listIn = (masks: JsonObject | undefined, key: string): JsonObject[] =>
  (masks?.[key] ?? []) as unknown as JsonObject[];

/** Without an interval the core crashes at the first connection. */
const USUAL_HOP_SECONDS = 30;

/** Those of the entry first, then those of all entries. Undefined when there are none. */
export function maskOf(
  { finalMask = {}, transport }: Pick<EntryTemplate, 'finalMask' | 'transport'>,
  common: JsonObject | undefined,
): JsonObject | undefined {
  const own = (finalMask.udp ?? []).flatMap(written);
  const isDisguised = own.length > 0 || transport.kind !== 'kcp';
  const tcp = [...(finalMask.tcp ?? []).flatMap(written), ...listIn(common, 'tcp')];
  const udp = [...own, ...(isDisguised ? [] : disguiseOf(transport)), ...listIn(common, 'udp')];
  const quicParams = finalMask.udpHop
    ? ({ udpHop: { interval: USUAL_HOP_SECONDS, ...finalMask.udpHop } } as unknown as JsonObject)
    : common?.['quicParams'];
  if (tcp.length + udp.length === 0 && quicParams === undefined) return undefined;
  return {
    ...(tcp.length > 0 && { tcp }),
    ...(udp.length > 0 && { udp }),
    ...(quicParams !== undefined && { quicParams }),
  };
}
