// One credential, from what was sent to what is stored: validated, completed by the protocol, and refused where another
// client of the inbound has one of its keys.
import { inspect, type Issue, kernelErrors, type PanelError, sentenceOf } from '../../../kernel/index.js';
import type { Credential, Inbound, ProtocolCredential } from '../../inbounds/contract.js';
import { refuseTaken } from '../edits/uniqueness.js';
import { errors } from '../errors.js';
import { type ClientFields, type UniqueField, uniqueFields } from '../model/fields.js';
import type { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import type { SentCredentials } from './sent.js';
import type { NewCredential } from './statements.js';
import type { InboundKeys } from './taken-keys.js';

/** Where credentials are made: an inbound whose protocol has its own, with the keys that are taken there. */
export interface Place {
  readonly inbound: Inbound;
  readonly rules: ProtocolCredential;
  readonly keys: InboundKeys;
}
/** A credential of a client that may not have its id yet. */
export type Draft = Omit<NewCredential, 'clientId'> & { readonly place: Place };

/** A password of one inbound must not be that of another client either. */
const pickUnique = (value: Credential): Partial<ClientFields> =>
  Object.fromEntries(Object.entries(value).filter(([name]) => uniqueFields.includes(name as UniqueField)));

/** Throws a PanelError when a value is wrong, or a key is taken by another client. */
export function draftOf(
  roster: Roster,
  place: Place,
  client: ClientRow,
  sent: Readonly<Record<string, unknown>>,
  before: Credential | undefined,
  fieldPrefix: string,
): Draft | undefined {
  const { inbound, rules, keys: taken } = place;
  const result = inspect(rules.schema, sent);
  if (!('value' in result)) throw invalid(result.issues, fieldPrefix);
  const value = rules.create(result.value, { inbound, client, before, taken, fieldPrefix });
  if (value === undefined) return undefined;
  refuseTaken(roster, pickUnique(value), fieldPrefix, { self: client.id });
  const keys = [...new Set(rules.keys(value))];
  for (const key of keys) {
    const owner = taken.owner(key);
    if (owner === undefined || (owner !== 0 && owner === client.id)) continue;
    const name =
      owner === 0 ? 'another client of this call' : `the client ${roster.byId(owner)?.email ?? owner}`;
    const [field = 'credentials'] =
      Object.entries(value).find(
        ([, own]) => (Array.isArray(own) || typeof own === 'string') && own.includes(key),
      ) ?? [];
    throw errors.CREDENTIAL_TAKEN(
      `${name} has ${key} on inbound ${inbound.id} (${inbound.remark || inbound.tag})`,
      {
        path: `${fieldPrefix}${field}`,
      },
    );
  }
  return { inboundId: inbound.id, value, keys, place };
}

/** What was sent for this inbound: its own entry wins over the fields beside those of the client. */
export function sentFor(
  sent: SentCredentials | undefined,
  { inbound, rules }: Place,
): Readonly<Record<string, unknown>> {
  if (!sent) return {};
  const flat = Object.fromEntries(Object.entries(sent.flat).filter(([name]) => rules.flat.includes(name)));
  return { ...flat, ...sent.byInbound.get(inbound.id) };
}

export function refuseForeign(
  sent: SentCredentials | undefined,
  inboundIds: readonly number[],
  fieldPrefix: string,
): void {
  for (const inboundId of sent?.byInbound.keys() ?? [])
    if (!inboundIds.includes(inboundId))
      throw kernelErrors.INVALID(`credentials: the client is not attached to inbound ${inboundId}`, {
        path: `${fieldPrefix}credentials`,
      });
}

const invalid = (issues: readonly Issue[], fieldPrefix: string): PanelError =>
  kernelErrors.INVALID(sentenceOf(issues), {
    issues: issues.map(({ path, message }) => ({ path: `${fieldPrefix}${path}`, message })),
  });
