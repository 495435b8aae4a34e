import { LARGE_BODY, message, payload, type Principal, type Route, route } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { Centrals } from './centrals.js';
import type { Changes } from './changes.js';
import type { ElsewhereUsage } from './elsewhere.js';
import { errors } from './errors.js';
import type { Offers } from './offers.js';
import type { Records } from './records.js';
import { presenceSince } from './presence-routes.js';
import {
  Acknowledge,
  Applied,
  Apply,
  Buckets,
  CentralList,
  ElsewhereReport,
  ElsewhereTaken,
  OfCentral,
  OfRecords,
  OfUsage,
  RecordPage,
  Summary,
  Usage,
} from './schemas.js';
import type { AgentState } from './state.js';
import type { AddressesOfHere } from './told-addresses.js';
import type { DevicesOfHere } from './told-devices.js';
import type { PresenceOfHere } from './told-presence.js';
import type { UsageTotals } from './usage-totals.js';

const PREFIX = '/panel/api/x/node';

interface Needs {
  readonly identity: PanelIdentityApi;
  readonly audit: AuditTrailApi | undefined;
  readonly centrals: Centrals;
  readonly records: Records;
  readonly changes: Changes;
  readonly state: AgentState;
  readonly totals: UsageTotals;
  readonly elsewhere: ElsewhereUsage;
  readonly presence: PresenceOfHere;
  readonly addressesOfHere: AddressesOfHere;
  readonly offers: Offers;
  readonly devicesOfHere: DevicesOfHere;
}

export const routes = ({
  identity,
  audit,
  centrals,
  records,
  changes,
  state,
  totals,
  elsewhere,
  presence,
  addressesOfHere,
  offers,
  devicesOfHere,
}: Needs): Route[] => {
  const release = async (guid: string, who: Principal): Promise<string> => {
    centrals.get(guid);
    await audit?.act('central', who, { name: 'release', facts: { guid } });
    await changes.release(guid);
    return 'central released';
  };
  return [
    route({
      method: 'POST',
      path: `${PREFIX}/apply`,
      name: 'node.apply',
      doc: 'Takes what the central wants: whole states of inbounds and clients by its ids. A version that is not newer than the stored one changes nothing, except where the record is refused or was changed here. Repeating a call is harmless, and so is any order. A record that is refused does not stop others, and is tried again once a minute.',
      body: Apply,
      bodyLimit: LARGE_BODY,
      reply: payload(Applied),
      errors: [errors.OWN_GUID, errors.OTHER_PANEL, errors.TOO_MANY_CENTRALS],
      handle: async ({ body, reply }) => {
        if ((body.node ?? identity.guid) !== identity.guid)
          throw errors.OTHER_PANEL(undefined, { path: 'node' });
        return { results: await changes.make(body.central, body.changes, () => reply.progressed()) };
      },
    }),
    route({
      method: 'GET',
      path: `${PREFIX}/state`,
      name: 'node.state',
      doc: 'One digest of all records of the central: while it is the one that the central computes, nothing differs.',
      query: OfCentral,
      reply: payload(Summary),
      errors: [errors.UNKNOWN_CENTRAL],
      handle: async ({ query }) => ({
        guid: identity.guid,
        ...(await state.summary(query.central)),
        offers: await offers.digest(query.central),
      }),
    }),
    route({
      method: 'GET',
      path: `${PREFIX}/state/buckets`,
      name: 'node.buckets',
      doc: 'Digests of the records of the central in 256 buckets, to find those that differ.',
      query: OfCentral,
      reply: payload(Buckets),
      errors: [errors.UNKNOWN_CENTRAL],
      handle: async ({ query }) => ({ guid: identity.guid, digests: await state.buckets(query.central) }),
    }),
    route({
      method: 'GET',
      path: `${PREFIX}/state/records`,
      name: 'node.records',
      doc: 'Records of the central that are not deleted, inbounds first, of one bucket or of all, in pages of 2,000.',
      query: OfRecords,
      reply: payload(RecordPage),
      errors: [errors.UNKNOWN_CENTRAL],
      handle: async ({ query }) => ({
        guid: identity.guid,
        ...(await state.page(query.central, query.bucket, query.after)),
      }),
    }),
    route({
      method: 'GET',
      path: `${PREFIX}/usage`,
      name: 'node.usage',
      doc: 'Totals of clients by inbound since the beginning of an epoch, by the ids of the central: of the epoch that is named those that changed after `after`, and of others all that is not acknowledged. They never fall, whatever is reset here. Clients and inbounds that the central does not manage are left out. Bytes of before a new epoch may be told again in the old one, never in the new one.',
      query: OfUsage,
      reply: payload(Usage),
      errors: [errors.UNKNOWN_CENTRAL],
      handle: async ({ query }) => ({
        guid: identity.guid,
        epochs: await totals.read(query.central, query.epoch, query.after),
        ...(query.presence !== undefined && {
          presence: await presenceSince(
            { centrals, presence, addressesOfHere, devicesOfHere },
            query.central,
            query.presence,
          ),
        }),
      }),
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/usage/ack`,
      name: 'node.acknowledge',
      doc: 'The central has stored the totals of this epoch up to this seq. Those of an epoch that is over are removed.',
      body: Acknowledge,
      reply: message(),
      errors: [errors.UNKNOWN_CENTRAL, errors.NO_EPOCH],
      handle: async ({ body }) => {
        await totals.acknowledge(body.central, body.epoch, body.seq);
        return 'acknowledged';
      },
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/elsewhere`,
      name: 'node.elsewhere',
      doc: 'What clients of the central used on all other machines, in place of what it reported before. Their quota counts it together with what they used here, until the next report.',
      body: ElsewhereReport,
      bodyLimit: LARGE_BODY,
      reply: payload(ElsewhereTaken),
      errors: [errors.UNKNOWN_CENTRAL],
      handle: ({ body, reply }) => elsewhere.report(body.central, body.users, () => reply.progressed()),
    }),
    route({
      method: 'GET',
      path: `${PREFIX}/centrals`,
      name: 'node.centrals',
      doc: 'The panels that manage this one.',
      reply: payload(CentralList),
      handle: () =>
        Promise.all(
          centrals
            .list()
            .map(async ({ id, guid, seenAt }) => ({ guid, seenAt, records: await records.count(id) })),
        ),
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/centrals/release`,
      name: 'node.release',
      doc: 'Forgets a central, with its records and the usage kept for it. Its inbounds and clients stay as they are, and nobody manages them.',
      body: OfCentral,
      reply: message(),
      errors: [errors.UNKNOWN_CENTRAL],
      handle: ({ body, who }) => release(body.central, who),
    }),
    route({
      method: 'POST',
      path: `${PREFIX}/leave`,
      name: 'node.leave',
      doc: 'What `node.release` does, asked by the central itself: its record of this panel is new, and knows nothing of what an earlier one has brought about here.',
      body: OfCentral,
      reply: message(),
      errors: [errors.UNKNOWN_CENTRAL],
      handle: ({ body, who }) => release(body.central, who),
    }),
  ];
};
