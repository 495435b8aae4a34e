// VMess. Link: base64 of v2rayN's JSON, version 2 (2dust/v2rayN, "Description of VMess share link"), keys in order,
// indented by two. Settings: xtls.github.io, VMess inbound.
import { custom, shape } from '../../../kernel/index.js';
import type { ApiAccountType, JsonObject } from '../../engine/contract.js';
import type { LinkFill, Protocol } from '../contract.js';
import { streamFields } from '../stream/stream.js';
import { uuidProblem } from './uuid.js';

type Field = string | ((fill: LinkFill) => string);

/** Characters that readers of JSON inside HTML would trip over are escaped, as the programs that share these links do. */
const json = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** `host:port` with IPv6 in brackets, taken apart. */
const hostIn = (authority: string): string =>
  authority.slice(0, authority.lastIndexOf(':')).replace(/^\[|\]$/g, '');
const portIn = (authority: string): string => authority.slice(authority.lastIndexOf(':') + 1);

/** Xray-core 26.3.27, proxy/vmess/account.proto and inbound/config.proto. */
export const vmessAccounts: ApiAccountType = {
  name: 'vmess',
  users: 'api',
  inboundType: 'xray.proxy.vmess.inbound.Config',
  usersField: 1,
  message: 'xray.proxy.vmess.Account',
  fields: { id: { number: 1, type: 'string', lowerCase: true } },
  fault: ({ id }) => uuidProblem(id),
};

export const vmess: Protocol = {
  name: 'vmess',
  settings: custom(shape({}).unknown(true)),
  coreSettings: ({ clients: _clients, ...rest }) => rest as JsonObject,
  account: ({ uuid }) => ({ protocol: 'vmess', id: uuid }),

  link({ streamSettings }) {
    const fixed = { v: '2', scy: 'auto', ...streamFields(streamSettings) };
    const fields: Record<string, Field> = {
      ...Object.fromEntries(Object.entries(fixed).map(([key, value]) => [key, json(value)])),
      add: ({ authority }) => json(hostIn(authority)),
      port: ({ authority }) => portIn(authority),
      id: ({ client }) => `"${client.uuid}"`,
      ps: ({ remark }) => json(remark),
    };
    const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
    return (fill) => {
      const lines = sorted.map(
        ([key, value]) => `  ${json(key)}: ${typeof value === 'string' ? value : value(fill)}`,
      );
      return `vmess://${Buffer.from(`{\n${lines.join(',\n')}\n}`).toString('base64')}`;
    };
  },
};
