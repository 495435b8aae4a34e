// The transport of Hysteria 2: HTTP/3 over QUIC, which only the protocol of this name uses. Settings: xtls.github.io,
// Hysteria transport; XTLS/Xray-core, infra/conf/transport_internet.go, HysteriaConfig.
import { annotate, bool, int, oneOf, openObject, optional, shape, text } from '../../../kernel/index.js';
import { advanced, maybe } from '../form.js';
import type { Transport } from './transport.js';

const ofKind = (kind: string) => ({ when: { field: 'type', is: [kind] } });
// core-guard checks what its keys reach, and refuses folders.
const masquerade = shape(
  advanced('Masquerade', {
    type: optional(oneOf('', '404', 'proxy', 'file', 'string')).description('empty for 404'),
    url: annotate(maybe(text()), ofKind('proxy')).description('site whose pages are shown'),
    rewriteHost: annotate(maybe(bool()), ofKind('proxy')).description('asks the site under its own name'),
    insecure: annotate(maybe(bool()), ofKind('proxy')).description('takes any certificate of the site'),
    content: annotate(maybe(text()), ofKind('string')).description('text of the page'),
    headers: annotate(maybe(openObject()), ofKind('string')).description('headers of the page by name'),
    statusCode: annotate(maybe(int()), ofKind('string')).description('status of the page'),
  }),
).unknown(true);

export const hysteria: Transport = {
  name: 'hysteria',
  title: 'Hysteria (QUIC)',
  alias: undefined,
  keys: ['hysteriaSettings'],
  settings: shape(
    advanced('Transport', {
      // Another version is refused by the core, with its own words.
      version: annotate(optional(int()), { initial: 2 }).description('2; the core has no other'),
      udpIdleTimeout: annotate(optional(int().min(0).max(600)), { unit: 'seconds' }).description(
        "until an idle UDP session ends; 0 for the core's own time",
      ),
      masquerade: optional(masquerade).description('what somebody who is no client is shown'),
    }),
  ).unknown(true),
  entry: () => ({ kind: 'own' }),
};
