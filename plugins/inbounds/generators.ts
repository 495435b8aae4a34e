// Routes that make values for forms of inbounds. The plugin keygen has them; where it is off, forms have no such button.
import type { Annotation } from '../../kernel/index.js';

type Generator = NonNullable<Annotation['generator']>;
const get = (path: string, fills: Generator['fills'], more: Partial<Generator> = {}): Generator => ({
  method: 'GET',
  path: `/panel/api/${path}`,
  fills,
  ...more,
});

export const realityKeys = get('server/getNewX25519Cert', {
  privateKey: 'privateKey',
  'settings.publicKey': 'publicKey',
});
export const realityShortIds = get('x/keygen/reality', { shortIds: 'shortIds' });
export const realitySpider = get('x/keygen/reality', { spiderX: 'spiderX' });
export const mldsa65Keys = get('server/getNewmldsa65', {
  mldsa65Seed: 'seed',
  'settings.mldsa65Verify': 'verify',
});
export const echKeys: Generator = {
  method: 'POST',
  path: '/panel/api/server/getNewEchCert',
  send: { sni: 'serverName' },
  fills: { echServerKeys: 'echServerKeys', 'settings.echConfigList': 'echConfigList' },
};
export const vlessEncryption = get(
  'server/getNewVlessEnc',
  { decryption: 'decryption', encryption: 'encryption' },
  { choose: { from: 'auths', label: 'label' } },
);
/** Of an inbound itself, and of a peer of it. */
export const wireguardKey = (field: string) => get('x/keygen/wireguard', { [field]: 'privateKey' });
export const wireguardPeer = get('x/keygen/wireguard', {
  publicKey: 'publicKey',
  privateKey: 'privateKey',
  preSharedKey: 'presharedKey',
});
export const shadowsocksKey = get(
  'x/keygen/shadowsocks',
  { password: 'password' },
  { send: { method: 'method' } },
);
