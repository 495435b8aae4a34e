// Routes that export clients and import them.
import type { IncomingMessage } from 'node:http';
import {
  int,
  list,
  LongList,
  payload,
  route,
  type Route,
  shape,
  withMessage,
} from '../../../kernel/index.js';
import type { AuditTrailApi } from '../../audit/contract.js';
import { describeResult } from '../../engine/contract.js';
import { SkippedItems } from '../edits/request-schemas.js';
import type { PartsOfClients } from '../model/client-parts.js';
import type { ClientStore } from '../model/client-store.js';
import { ExportedClient, ImportData } from '../model/schema.js';
import { exportOf } from '../model/views.js';
import { type ClientImport, MAX_IMPORT_BYTES } from './client-import.js';

/** Clients of which the parts are read at once. */
const CLIENTS_PER_PORTION = 1000;

export const exportImportRoutes = ({
  store,
  parts,
  importing,
  audit,
}: {
  store: ClientStore;
  parts: PartsOfClients;
  importing: ClientImport;
  audit?: AuditTrailApi | undefined;
}): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/clients/export',
    name: 'clients.export',
    doc: 'All clients with their secrets, inbounds, usage, external links and devices, as clients/import takes them.',
    reply: payload(list(ExportedClient)),
    handle: async ({ who }) => {
      await audit?.act('download', who, { name: 'clients' });
      const rows = [...store.roster.ordered('id')];
      return new LongList(async function* () {
        for (let from = 0; from < rows.length; from += CLIENTS_PER_PORTION) {
          const portion = rows.slice(from, from + CLIENTS_PER_PORTION);
          const items = portion.map(exportOf);
          await parts.addTo(
            items,
            portion.map(({ id }) => id),
          );
          yield items;
        }
      });
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/import',
    name: 'clients.import',
    doc: 'Creates the clients of an export of at most 256 MiB; ids of inbounds are those of this panel. A broken list changes nothing. What cannot be created is listed with its position and reason, the first 10,000 of them.',
    stream: true,
    body: ImportData,
    bodyLimit: MAX_IMPORT_BYTES,
    reply: payload(shape({ created: int(), skipped: SkippedItems, skippedCount: int() })),
    handle: async ({ body, who, ignored }) => {
      const { applied, ...result } = await importing.run(body as unknown as IncomingMessage, who, ignored);
      return withMessage(describeResult(`${result.created} clients created`, applied), result);
    },
  }),
];
