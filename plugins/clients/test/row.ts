// A client in memory, for tests without a database.
import { newClient } from '../model/new-client.js';
import type { ClientRow } from '../model/row.js';

export const row = (id: number, given: Partial<ClientRow> = {}): ClientRow => ({
  ...newClient({ email: `c${id}` }, 5),
  id,
  inboundIds: [1],
  credentials: null,
  up: 0,
  down: 0,
  lastOnline: 0,
  lastSubFetch: 0,
  ...given,
});
