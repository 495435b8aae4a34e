// What the first steps ask the panel for.
import { queryOptions } from '@tanstack/react-query';
import type { CertificatesListReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { isAbsent } from '../api/trouble.js';
import { realityBody, shadowsocksBody, type Typed, tlsBody } from './recipes.js';

type Certificate = CertificatesListReply[number];

/** Empty where the plugin certificates does not run. */
export const certificatesQuery = queryOptions({
  queryKey: ['certificates'],
  queryFn: async ({ signal }) => {
    try {
      return await weir.certificates.list({ signal });
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  },
});

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
