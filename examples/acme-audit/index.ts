import {
  anything,
  definePlugin,
  int,
  list,
  payload,
  route,
  shape,
  singleton,
  tap,
  text,
  withDefault,
} from '@weir-panel/weir/kernel';
import { duringAdminSave, duringTokenSave } from '@weir-panel/weir/plugins/access';
import { type ClientRow, duringClientSave } from '@weir-panel/weir/plugins/clients';
import { duringInboundSave, type Inbound } from '@weir-panel/weir/plugins/inbounds';
import { duringSettingsSave } from '@weir-panel/weir/plugins/settings';
import { Audit, type Facts } from './audit.js';
import { migrations, tables } from './tables.js';

const ofClient = (row: ClientRow | undefined): Facts | undefined =>
  row && {
    email: row.email,
    enable: row.enable,
    totalGB: row.totalGB,
    expiryTime: row.expiryTime,
    inboundIds: row.inboundIds,
  };
const ofInbound = (row: Inbound | undefined): Facts | undefined =>
  row && { tag: row.tag, protocol: row.protocol, port: row.port, enable: row.enable };

export default definePlugin({
  name: 'acme-audit',
  version: '1.0.0',
  api: 1,
  about: 'Records who changed what, in the transaction of the change.',
  tables,
  migrations,
  services: { audit: singleton(Audit) },
  taps: ({ audit }) => [
    tap(
      duringClientSave,
      ({ changes, who }, tx) =>
        audit.record(
          tx,
          'client',
          who,
          changes.map(({ kind, before, after }) => ({
            kind,
            before: ofClient(before),
            after: ofClient(after),
          })),
        ),
      { strict: true },
    ),
    tap(
      duringInboundSave,
      ({ changes, who }, tx) =>
        audit.record(
          tx,
          'inbound',
          who,
          changes.map(({ kind, before, after }) => ({
            kind,
            before: ofInbound(before),
            after: ofInbound(after),
          })),
        ),
      { strict: true },
    ),
    tap(
      duringSettingsSave,
      ({ changes, who }, tx) =>
        audit.record(
          tx,
          'setting',
          who,
          changes.map(({ name, before, after }) => ({
            kind: 'updated',
            before: { name, value: before },
            after: { name, value: after },
          })),
        ),
      { strict: true },
    ),
    tap(duringAdminSave, ({ changes, who }, tx) => audit.record(tx, 'admin', who, changes), { strict: true }),
    tap(duringTokenSave, ({ changes, who }, tx) => audit.record(tx, 'token', who, changes), { strict: true }),
  ],
  routes: ({ audit }) => [
    route({
      method: 'GET',
      path: '/panel/api/x/acme-audit/entries',
      doc: 'Lists the changes, newest first.',
      query: shape({ limit: withDefault(int().min(1).max(1000), 100) }),
      reply: payload(
        list(
          shape({
            at: int().description('Unix ms'),
            whoKind: text(),
            who: text(),
            about: text(),
            change: text(),
            before: anything(),
            after: anything(),
          }),
        ),
      ),
      handle: ({ query }) => audit.last(query.limit),
    }),
  ],
});
