// The reduced form for the first Clash: fewer entries, fewer keys, and no template.
import type { ListFormat } from '../subscription/contract.js';
import { cannotLegacy, isLegacyKey } from './proxy/legacy.js';
import { compileProxy } from './proxy/proxy.js';
import { apart } from './template/names.js';
import { chosen } from './template/chosen.js';
import { PLAIN } from './template/template.js';
import { quoted } from './yaml-text.js';

const PATH = '/clash-legacy/';
const nameOf = (name: string): string => apart(name, PLAIN.taken);

export const legacyFormat = (full: ListFormat, isOn: () => boolean): ListFormat => ({
  name: 'alt-legacy',
  variantOf: full.name,
  contentType: full.contentType,
  prefix: () => (isOn() ? PATH : undefined),
  fileName: 'subscription.yaml',
  uniqueNames: true,
  cannot: cannotLegacy,
  compile: (entry) => compileProxy(entry, nameOf, isLegacyKey),
  note: (name) => full.note?.(name) ?? '',
  body: (proxies, written) =>
    PLAIN.write(
      proxies,
      chosen(written).map((name) => quoted(nameOf(name))),
    ),
});
