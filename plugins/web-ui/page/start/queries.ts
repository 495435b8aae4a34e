// What the first steps ask of the panel.
import type { CertificatesListReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { realityBody, shadowsocksBody, type Typed, tlsBody } from './recipes.js';

type Certificate = CertificatesListReply[number];

/** Makes the inbound of a recipe, with keys that the panel generates. */
export async function makeInbound(typed: Typed, port: number, certificate: Certificate | undefined) {
  if (typed.recipe === 'shadowsocks') return weir.inbounds.add({ body: shadowsocksBody(typed, port) });
  if (typed.recipe === 'tls' && certificate)
    return weir.inbounds.add({ body: tlsBody(typed, port, certificate) });
  const [{ privateKey, publicKey }, { shortIds, spiderX }] = await Promise.all([
    weir.server.newX25519(),
    weir.keygen.reality(),
  ]);
  return weir.inbounds.add({ body: realityBody(typed, port, { privateKey, publicKey, shortIds, spiderX }) });
}
