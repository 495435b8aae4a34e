// Credentials as bodies of clients carry them: fields beside those of the client, and a list by inbound.
import Joi from 'joi';
import {
  custom,
  describedAs,
  int,
  kernelErrors,
  list,
  openObject,
  optional,
  text,
} from '../../../kernel/index.js';
import { line } from '../model/value-schemas.js';

type Values = Readonly<Record<string, unknown>>;

const MOST_INBOUNDS = 1000;
const MOST_ADDRESSES = 64;

/** A list of texts, or one text with commas between them. */
const addresses = () =>
  custom<string | string[]>(
    describedAs(Joi.alternatives(text().max(4096), list(text().max(255)).max(MOST_ADDRESSES)), {
      anyOf: [
        { type: 'string', description: 'with commas between them' },
        { type: 'array', items: { type: 'string' }, maxItems: MOST_ADDRESSES },
      ],
    }),
  );

/** Fields that programs send beside those of the client. Protocols say which of them they know (`credential.flat`). */
export const flatSchemas = {
  privateKey: line().max(255),
  publicKey: line().max(255),
  allowedIPs: addresses(),
  preSharedKey: line().max(255),
  secret: line().max(1000),
  keepAlive: int().min(0).max(65_535),
  forwardedPorts: line().max(1000),
};
export type FlatField = keyof typeof flatSchemas;
export const flatFields = Object.keys(flatSchemas) as FlatField[];

export const sentCredentialSchemas = {
  ...(Object.fromEntries(Object.entries(flatSchemas).map(([name, schema]) => [name, optional(schema)])) as {
    [K in FlatField]: ReturnType<typeof optional<(typeof flatSchemas)[K]>>;
  }),
  credentials: optional(
    list(custom<Values & { readonly inboundId: number }>(openObject().keys({ inboundId: int().min(1) })))
      .max(MOST_INBOUNDS)
      .description('what the client has in one inbound only, by inboundId'),
  ),
};

/** What was sent of the credentials of one client. */
export interface SentCredentials {
  readonly flat: Values;
  readonly byInbound: ReadonlyMap<number, Values>;
}

/** Blank means generated for a new credential and unchanged for another: 0 is no interval, and an empty list no address. */
const isBlank = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  (Array.isArray(value) && value.length === 0);
const withoutBlank = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => !isBlank(value)));

/** Of an entry among the clients of an inbound: the protocol takes what it knows. */
export const credentialsFor = (inboundId: number, entry: Values): SentCredentials => ({
  flat: {},
  byInbound: new Map([[inboundId, withoutBlank(entry)]]),
});

/** Undefined when nothing was sent. */
export function sentCredentials(
  body: { readonly [K in keyof typeof sentCredentialSchemas]?: unknown },
  fieldPrefix: string,
): SentCredentials | undefined {
  // Of thousands of clients in one call, most bring none.
  if (body.credentials === undefined && flatFields.every((name) => isBlank(body[name]))) return undefined;
  const flat = withoutBlank(Object.fromEntries(flatFields.map((name) => [name, body[name]])));
  const byInbound = new Map<number, Values>();
  for (const [i, { inboundId, ...values }] of (
    (body.credentials ?? []) as readonly (Values & { readonly inboundId: number })[]
  ).entries()) {
    if (byInbound.has(inboundId))
      throw kernelErrors.INVALID(`two of the credentials are for inbound ${inboundId}`, {
        path: `${fieldPrefix}credentials.${i}.inboundId`,
      });
    byInbound.set(inboundId, withoutBlank(values));
  }
  return Object.keys(flat).length + byInbound.size === 0 ? undefined : { flat, byInbound };
}
