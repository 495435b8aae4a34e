// Accounts of Shadowsocks, classic and 2022, as the core has them. Xray-core 26.3.27, proxy/shadowsocks/config.proto and
// proxy/shadowsocks_2022/config.proto.
import { randomBytes } from 'node:crypto';
import type { ApiAccountType } from '../../engine/contract.js';

export const shadowsocksAccounts: ApiAccountType = {
  name: 'shadowsocks',
  users: 'api',
  inboundType: 'xray.proxy.shadowsocks.ServerConfig',
  usersField: 1,
  message: 'xray.proxy.shadowsocks.Account',
  fields: {
    password: { number: 1, type: 'string' },
    // xray.proxy.shadowsocks.CipherType
    method: {
      number: 2,
      type: 'enum',
      values: { 'aes-128-gcm': 5, 'aes-256-gcm': 6, 'chacha20-poly1305': 7, 'xchacha20-poly1305': 8 },
    },
  },
  admitsTwins: true,
  fault: ({ password }) => (password === '' ? 'password must not be empty' : undefined),
};

/** A key that is no base64 of 16 or 32 bytes is taken by the core, and from then on no user of the inbound changes any more. */
export const shadowsocks2022Accounts: ApiAccountType = {
  name: 'shadowsocks-2022',
  users: 'api',
  protocol: 'shadowsocks',
  inboundType: 'xray.proxy.shadowsocks_2022.MultiUserServerConfig',
  usersField: 3,
  message: 'xray.proxy.shadowsocks_2022.Account',
  fields: { key: { number: 1, type: 'string', json: 'password' } },
  fault: ({ key }) =>
    /^(?:[A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{43}=)$/.test(String(key))
      ? undefined
      : 'key must be 16 or 32 bytes in base64',
  nobody: ({ method }) => ({
    key: randomBytes(String(method).includes('aes-128') ? 16 : 32).toString('base64'),
  }),
};
