// Routes that export clients and import them.
import type { IncomingMessage } from 'node:http';
import {
  int,
  list,
  payload,
  route,
  type Route,
  shape,
  TimeSlice,
  withMessage,
} from '../../../kernel/index.js';
import { describeResult } from '../../engine/contract.js';
import { SkippedItems } from '../edits/request-schemas.js';
import type { PartsOfClients } from '../model/client-parts.js';
import type { ClientStore } from '../model/client-store.js';
import { ExportedClient, ImportData } from '../model/schema.js';
import { exportOf } from '../model/views.js';
import { type ClientImport, MAX_IMPORT_BYTES } from './client-import.js';

export const exportImportRoutes = ({
  store,
  parts,
  importing,
}: {
  store: ClientStore;
  parts: PartsOfClients;
  importing: ClientImport;
}): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/clients/export',
    name: 'clients.export',
    doc: 'All clients with their secrets, inbounds, usage, external links and devices, as clients/import takes them.',
    reply: payload(list(ExportedClient)),
    handle: async () => {
      // Concurrent calls yield to each other.
      await new TimeSlice().next();
      const rows = store.roster.ordered('id');
      const ids = rows.map(({ id }) => id);
      const items = rows.map(exportOf);
      await parts.addTo(items, ids);
      return items;
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
