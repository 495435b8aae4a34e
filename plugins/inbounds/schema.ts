// Schemas of inbounds in the API.
import {
  anything,
  bool,
  echoing,
  int,
  list,
  nullable,
  openObject,
  optional,
  type Schema,
  shape,
  type Static,
  text,
  withDefault,
} from '../../kernel/index.js';
import { amount, hiddenNames, inboundRecord, jsonNames, optionNames, pick, valueSchemas } from './fields.js';

export type { Inbound } from './fields.js';

/** An inbound as it is stored. */
export const StoredInbound = shape({ id: int().min(1), ...valueSchemas });

type Optional<S> = { readonly [K in keyof S]: ReturnType<typeof optional<S[K] & Schema>> };
const { schemas } = inboundRecord;
const optionalFields = Object.fromEntries(
  Object.entries(schemas).map(([name, schema]) => [name, optional(schema)]),
) as unknown as Optional<typeof schemas>;

/** What replies have besides, which programs send back; for a new inbound its counters would be lost. */
const ECHOED = ['id', 'fallbackParent', 'originNodeGuid', 'depletedCause', 'lastTrafficResetTime'];
export const COUNTED = ['up', 'down', 'clientStats'];

export const AddInbound = echoing(
  shape({ ...optionalFields, port: schemas.port, protocol: schemas.protocol }),
  ECHOED,
).example({
  remark: 'vless over TCP',
  protocol: 'vless',
  listen: '127.0.0.1',
  port: 24_430,
  streamSettings: { network: 'tcp', security: 'none' },
});
export type AddInbound = Static<typeof AddInbound>;
/** Fields that are left out stay unchanged. */
export const UpdateInbound = echoing(shape(optionalFields), [...ECHOED, ...COUNTED]).example({
  remark: 'another name',
  total: 107_374_182_400,
});
export type UpdateInbound = Static<typeof UpdateInbound>;

/** Initial values of a new inbound. */
export const FRESH = inboundRecord.create({});
/** Those of the fields that callers send. */
export const initialFields = Object.fromEntries(
  Object.keys(schemas).map((name) => [name, FRESH[name as keyof typeof schemas]]),
) as UpdateInbound;

/** A new inbound without what its protocol and its transport decide, for forms. */
export const InboundForm: Schema = shape(
  Object.fromEntries(
    Object.entries(schemas)
      .filter(([name]) => !jsonNames.includes(name as never))
      .map(([name, schema]): [string, Schema] => [
        name,
        name in { port: 0, protocol: 0 } ? schema : withDefault(schema as Schema, FRESH[name as never]),
      ]),
  ),
);

type Shown = {
  readonly [K in Exclude<
    keyof typeof valueSchemas,
    (typeof hiddenNames)[number]
  >]: K extends (typeof jsonNames)[number]
    ? Schema<Record<string, unknown> | null>
    : (typeof valueSchemas)[K];
};
const shown = Object.fromEntries(
  Object.entries(valueSchemas)
    .filter(([name]) => !hiddenNames.includes(name as never))
    .map(([name, schema]) => [name, jsonNames.includes(name as never) ? nullable(schema) : schema]),
) as unknown as Shown;

/** Off, a reply has no `clientStats`: with 100,000 clients these are most of it. */
export const Stats = shape({
  stats: withDefault(bool().truthy('1').falsy('0'), true).description(
    '0 or false: clientStats is empty; for programs that do not need what each client used',
  ),
});

/** Open: other plugins add fields. */
export const InboundReply = shape({
  id: int(),
  ...shown,
  up: amount(),
  down: amount(),
  clientStats: list(openObject()),
  fallbackParent: nullable(anything()),
  originNodeGuid: text().description(
    'guid of the panel on the machine that runs it; empty while it is not known',
  ),
  state: text().description(
    'of the program of its own that runs it: `running`, or `not running: ` and why; empty where the core runs it',
  ),
}).unknown(true);

const ownOptions = {
  awgServer: nullable(openObject()),
  tuicServer: nullable(openObject()),
  mtprotoDomain: text(),
  wgDns: text(),
  wgMtu: int(),
  wgPublicKey: text(),
};
/** What a protocol adds to an option. */
export const OptionOfProtocol = shape(
  Object.fromEntries(Object.entries(ownOptions).map(([name, schema]) => [name, optional(schema as Schema)])),
);
export const InboundOption = shape({
  id: int(),
  ...pick(valueSchemas, optionNames),
  network: text(),
  security: text(),
  tlsFlowCapable: bool(),
  ssMethod: text(),
  nodeAddress: text().description('host of its node, for links; empty for this machine'),
  ...ownOptions,
});
export const InboundIds = shape({ ids: list(int()).max(10_000) }).example({ ids: [1] });
export const SortIndex = shape({ subSortIndex: int().min(1) }).example({ subSortIndex: 2 });
export const BulkDeleted = shape({
  deleted: int(),
  skipped: list(shape({ id: int(), reason: text(), code: text() })),
});

export const InboundId = shape({ id: int().min(1).example(1) });
