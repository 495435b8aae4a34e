// Bodies and replies that hold whole clients.
import {
  anything,
  custom,
  describedAs,
  echoing,
  int,
  list,
  nullable,
  oneOf,
  openObject,
  optional,
  type Schema,
  shape,
  type Static,
  withDefault,
  word,
} from '../../../kernel/index.js';
import Joi from 'joi';
import { version } from '../../record-versions/contract.js';
import { flatSchemas, sentCredentialSchemas } from '../credentials/sent.js';
import { fields, replySchemas, shownFields, trafficSchemas } from './fields.js';
import { fieldAmount, nonNegative, idOrUuid } from './value-schemas.js';

type Optional<F> = { [K in keyof F]: ReturnType<typeof optional<F[K] & Schema>> };
const optionalFields = Object.fromEntries(
  Object.entries<Schema>(fields.schemas).map(([name, schema]) => [name, optional(schema)]),
) as Optional<typeof fields.schemas>;

const depletedCause = () => nullable(oneOf('quota', 'expiry')).description('the limit that disabled it');
/** What exports have besides; an update leaves it alone. Times are Unix ms. */
const exported = {
  depletedCause: optional(depletedCause()),
  created_at: optional(fieldAmount()),
  updated_at: optional(fieldAmount()),
};
/** What replies have besides, which programs send back. */
const ECHOED = ['id', ...shownFields, 'inboundIds', 'traffic', 'externalLinks', 'sameTgId', 'version'];

/** A client in add and import. The panel fills in what is missing or blank. */
export const NewClient = echoing(
  shape({
    ...optionalFields,
    ...exported,
    ...sentCredentialSchemas,
    id: optional(idOrUuid()),
    email: fields.schemas.email,
  }),
  ECHOED,
);
export type NewClient = Static<typeof NewClient>;
/** Fields that are left out stay unchanged. */
export const ClientPatch = echoing(
  shape({ ...optionalFields, ...exported, ...sentCredentialSchemas, id: optional(idOrUuid()) }),
  ECHOED,
).example({
  totalGB: 107_374_182_400,
  comment: 'paid until May',
});
export type ClientPatch = Static<typeof ClientPatch>;
/** Keys beside `client` whose values other plugins validate and store (`ClientParts`). */
export const PART_NAMES = ['externalLinks', 'devices'] as const;
export type PartName = (typeof PART_NAMES)[number];
const parts = {
  externalLinks: optional(nullable(list(openObject()).max(1000))).description(
    'as clients/{email}/externalLinks takes them',
  ),
  devices: optional(nullable(list(openObject()).max(1000))).description('as clients/export gives them'),
} satisfies Record<PartName, Schema>;
const added = { client: NewClient, inboundIds: list(int().min(1)).min(1).max(1000), ...parts };
export const AddClient = shape(added).example({
  client: { email: 'grace@example.org', totalGB: 53_687_091_200, expiryTime: 0 },
  inboundIds: [1],
});
/** A list of them. An invalid one is skipped, and the others are added. */
export const AddClients = list(
  describedAs(
    anything(),
    custom(
      Joi.alternatives(shape(added), anything().description('anything else is skipped, with its reason')),
    ),
  ),
)
  .max(10_000)
  .example([
    { client: { email: 'joan@example.org' }, inboundIds: [1] },
    { client: { email: 'kay@example.org', group: 'family' }, inboundIds: [1] },
  ]);
export type AddClient = Static<typeof AddClient>;

/** Bytes that a client used. */
export const UsedBytes = shape({ up: nonNegative(), down: nonNegative() });
/** Only of clients that have some. */
const shownCredentials = {
  ...(Object.fromEntries(
    Object.entries(flatSchemas).map(([name, schema]) => [name, optional(schema)]),
  ) as Optional<typeof flatSchemas>),
  credentials: optional(list(openObject())),
};

/** One item of an export. It may be attached to no inbound. */
export const ImportedClient = shape({
  client: NewClient,
  inboundIds: withDefault(list(int().min(1)).max(1000).empty(null), []),
  ...parts,
  traffic: optional(UsedBytes),
});
export const ExportedClient = shape({
  client: shape({
    id: word(),
    ...fields.schemas,
    email: word(),
    depletedCause: depletedCause(),
    created_at: nonNegative(),
    updated_at: nonNegative(),
    createdAt: nonNegative(),
    updatedAt: nonNegative(),
    ...shownCredentials,
  }),
  inboundIds: list(int()),
  ...parts,
  traffic: optional(UsedBytes).description('missing if the client used nothing'),
});
export type ExportedClient = Static<typeof ExportedClient>;
export const ImportData = shape({
  data: word().description('JSON text of the list that clients/export gives'),
}).example({ data: '[{"client":{"email":"mary@example.org"},"inboundIds":[1]}]' });

export const TrafficRecord = shape({
  id: int(),
  inboundId: int(),
  ...trafficSchemas,
  up: nonNegative(),
  down: nonNegative(),
  lastOnline: nonNegative(),
  lastSubFetch: nonNegative(),
});
export type TrafficRecord = Static<typeof TrafficRecord>;

const replied = {
  id: int(),
  ...replySchemas,
  inboundIds: list(int()),
  traffic: nullable(TrafficRecord),
  externalLinks: optional(list(openObject())),
  version: version(),
  ...shownCredentials,
};
export const ClientReply = shape(replied);
export type ClientReply = Static<typeof ClientReply>;

export const SameTgId = shape({ ...replied, sameTgId: list(word()) });
