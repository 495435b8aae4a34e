// `subJsonFinalMask`: masks of all entries, the place for fragment and noise. Source: xtls.github.io, FinalMaskObject.
import Joi from 'joi';
import type { JsonObject } from '../../engine/contract.js';
import { checked, fields, flag, line, lineThat, maybe, parsed, ports, range, whole } from './json-text.js';

const text = () => line().allow('');
const bytes = () =>
  maybe(
    Joi.alternatives(text(), Joi.array().items(whole(0, 255))).messages({
      'alternatives.types': '{{#label}} must be a text or a list of bytes',
    }),
  );
/** Bytes that are sent as they are, or drawn. */
const packet = {
  type: maybe(Joi.valid('', 'array', 'str', 'hex', 'base64')),
  packet: bytes(),
  randRange: maybe(range(0)),
};
const either = { 'object.nand': '{{#label}} has both packet and rand; leave one of them out' };
const oneOfThem = (schema: Joi.ObjectSchema) => schema.nand('packet', 'rand').messages(either);
const item = oneOfThem(fields({ ...packet, rand: maybe(whole(0)), delay: maybe(range(0)) }));
const sequences = () => maybe(Joi.array().items(Joi.array().items(item)));

const fragment = fields({
  packets: maybe(
    lineThat((value) =>
      value === 'tlshello' || /^[1-9]\d{0,8}(?:-[1-9]\d{0,8})?$/.test(value)
        ? undefined
        : 'it must be tlshello, or a range of writes such as 1-3',
    ).allow(''),
  ),
  length: range(1),
  delay: maybe(range(0)),
  maxSplit: maybe(range(0)),
});
const sudoku = fields({
  password: maybe(text()),
  ascii: maybe(text()),
  customTable: maybe(text()),
  customTables: maybe(Joi.array().items(text())),
  paddingMin: maybe(whole(0, 100)),
  paddingMax: maybe(whole(0, 100)),
});
const noise = fields({
  reset: maybe(range(0)),
  noise: Joi.array()
    .items(oneOfThem(fields({ ...packet, rand: maybe(range(0)), delay: maybe(range(0)) })))
    .min(1),
});
const none = fields({});

const TCP: Readonly<Record<string, Joi.Schema>> = {
  fragment,
  sudoku: maybe(sudoku),
  'header-custom': fields({ clients: sequences(), servers: sequences(), errors: sequences() }),
};
const UDP: Readonly<Record<string, Joi.Schema>> = {
  noise,
  salamander: fields({ password: line(), packetSize: maybe(text()) }),
  sudoku: maybe(sudoku),
  'header-custom': fields({ client: maybe(Joi.array().items(item)), server: maybe(Joi.array().items(item)) }),
  'header-dns': maybe(fields({ domain: maybe(text()) })),
  ...Object.fromEntries(
    ['dtls', 'srtp', 'utp', 'wechat', 'wireguard'].map((name) => [`header-${name}`, maybe(none)]),
  ),
  'mkcp-original': maybe(none),
  'mkcp-aes128gcm': maybe(fields({ password: maybe(text()) })),
  xdns: fields({ domain: line() }),
  xicmp: maybe(fields({ listenIp: maybe(text()), id: maybe(whole(0, 65_535)) })),
};

const masks = (kinds: Readonly<Record<string, Joi.Schema>>) =>
  maybe(
    Joi.array()
      .items(
        fields({
          type: Joi.valid(...Object.keys(kinds)).messages({
            'any.only': '{{#label}} must be one of {{#valids}}',
          }),
          settings: Joi.any().when('type', {
            switch: Object.entries(kinds).map(([is, then]) => ({ is, then })),
          }),
        }),
      )
      .max(20),
  );
/** Bytes a second, such as `100 mbps`. */
const bandwidth = () =>
  maybe(
    line()
      .pattern(/^\d+(?:\.\d+)?\s*(?:[kmgt]?(?:bps)?|[kmgt]b?)$/i, 'rate such as 100 mbps')
      .allow(''),
  );
const window = () => maybe(Joi.alternatives(Joi.valid(0), whole(16_384, Number.MAX_SAFE_INTEGER)));
const seconds = (least: number, most: number) => maybe(Joi.alternatives(Joi.valid(0), whole(least, most)));
const MASK = fields({
  tcp: masks(TCP),
  udp: masks(UDP),
  quicParams: maybe(
    fields({
      congestion: maybe(Joi.valid('', 'brutal', 'reno', 'bbr', 'force-brutal')),
      brutalUp: bandwidth(),
      brutalDown: bandwidth(),
      udpHop: maybe(fields({ ports: maybe(ports()), interval: maybe(range(5)) })),
      initStreamReceiveWindow: window(),
      maxStreamReceiveWindow: window(),
      initConnectionReceiveWindow: window(),
      maxConnectionReceiveWindow: window(),
      maxIdleTimeout: seconds(4, 120),
      keepAlivePeriod: seconds(2, 60),
      disablePathMTUDiscovery: flag(),
      maxIncomingStreams: maybe(Joi.alternatives(Joi.valid(0), whole(8))),
    }),
  ),
});

export function readMasks(text: string): JsonObject | undefined {
  const value = parsed(text);
  return value === undefined ? undefined : (checked(MASK, value) as JsonObject);
}
