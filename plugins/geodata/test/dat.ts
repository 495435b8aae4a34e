// Makes geodata files as their projects do, with protobufjs.
import protobuf from 'protobufjs/light.js';

const root = protobuf.Root.fromJSON({
  nested: {
    CIDR: { fields: { ip: { type: 'bytes', id: 1 }, prefix: { type: 'uint32', id: 2 } } },
    GeoIP: {
      fields: { countryCode: { type: 'string', id: 1 }, cidr: { rule: 'repeated', type: 'CIDR', id: 2 } },
    },
    GeoIPList: { fields: { entry: { rule: 'repeated', type: 'GeoIP', id: 1 } } },
    Attribute: { fields: { key: { type: 'string', id: 1 }, boolValue: { type: 'bool', id: 2 } } },
    Domain: {
      fields: {
        type: { type: 'int32', id: 1 },
        value: { type: 'string', id: 2 },
        attribute: { rule: 'repeated', type: 'Attribute', id: 3 },
      },
    },
    GeoSite: {
      fields: { countryCode: { type: 'string', id: 1 }, domain: { rule: 'repeated', type: 'Domain', id: 2 } },
    },
    GeoSiteList: { fields: { entry: { rule: 'repeated', type: 'GeoSite', id: 1 } } },
  },
});
const encode = (type: string, value: object): Buffer =>
  Buffer.from(root.lookupType(type).encode(value).finish());

const TYPES = ['keyword', 'regexp', 'domain', 'full'];

const bytesOf = (address: string): number[] =>
  address.includes(':')
    ? address.split(':').flatMap((group) => {
        const value = Number.parseInt(group || '0', 16);
        return [value >> 8, value & 255];
      })
    : address.split('.').map(Number);

/** `{ PRIVATE: ['10.0.0.0/8', 'fd00:0:0:0:0:0:0:0/8'] }`, IPv6 with all its groups */
export const ipFile = (categories: Readonly<Record<string, readonly string[]>>): Buffer =>
  encode('GeoIPList', {
    entry: Object.entries(categories).map(([countryCode, ranges]) => ({
      countryCode,
      cidr: ranges.map((range) => {
        const [address = '', prefix] = range.split('/');
        return { ip: Buffer.from(bytesOf(address)), prefix: Number(prefix) };
      }),
    })),
  });

/** `{ ADS: ['domain:example.com @ads @cn', 'full:www.example.com'] }` */
export const siteFile = (categories: Readonly<Record<string, readonly string[]>>): Buffer =>
  encode('GeoSiteList', {
    entry: Object.entries(categories).map(([countryCode, rules]) => ({
      countryCode,
      domain: rules.map((rule) => {
        const [text = '', ...attributes] = rule.split(' @');
        const [type = '', value] = text.split(/:(.*)/s);
        return {
          type: TYPES.indexOf(type),
          value,
          attribute: attributes.map((key) => ({ key, boolValue: true })),
        };
      }),
    })),
  });
