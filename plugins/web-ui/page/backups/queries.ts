// What the page of backups asks the panel for.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import type { JsonSchema } from '../forms/schema.js';

const WORKING_MS = 2_000;

/** Below the key of the status, so that a change of backups refreshes both. */
export const backupListQuery = queryOptions({
  queryKey: ['backup', 'list'],
  queryFn: ({ signal }) => weir.backup.list({}, { signal }),
});
/** While something is done, how far it is. */
export const backupWorkQuery = queryOptions({
  queryKey: ['backup', 'work'],
  queryFn: ({ signal }) => weir.backup.status({ signal }),
  refetchInterval: ({ state }) => (state.data?.work ? WORKING_MS : 5 * WORKING_MS),
});
export const lastRestoreQuery = queryOptions({
  queryKey: ['backup', 'restore'],
  queryFn: ({ signal }) => weir.backup.lastRestore({ signal }),
});
export const scheduleQuery = queryOptions({
  queryKey: ['backup', 'settings'],
  queryFn: async ({ signal }) => {
    const [schemas, values] = await Promise.all([
      weir.schemas.settings({ signal }).then((response) => response.json()),
      weir.settings.all({ signal }),
    ]);
    const { plugins } = (schemas as { obj: { plugins: { name: string; settings: JsonSchema }[] } }).obj;
    const schema = plugins.find(({ name }) => name === 'backup')?.settings ?? {};
    const all = values as unknown as Readonly<Record<string, unknown>>;
    const names = Object.keys(schema.properties ?? {});
    return { schema, values: Object.fromEntries(names.map((name) => [name, all[name]])) };
  },
});
