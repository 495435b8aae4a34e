// Many clients, through the API.
import type { PanelApi } from '../harness/api.js';

export const subIdOf = (n: number): string => `sub${String(n).padStart(9, '0')}`;
const BATCH = 1000;

/** Clients `from`..`from + count - 1`, each on all inbounds; a quota for one in three, an expiry for one in four. */
export async function seed(
  panel: PanelApi,
  count: number,
  inboundIds: readonly number[],
  from = 0,
): Promise<void> {
  for (let at = from; at < from + count; at += BATCH) {
    const size = Math.min(BATCH, from + count - at);
    const body = Array.from({ length: size }, (_, i) => {
      const n = at + i;
      return {
        client: {
          email: `user${n}@bench`,
          subId: subIdOf(n),
          totalGB: n % 3 ? 0 : 50 * 2 ** 30,
          expiryTime: n % 4 ? 0 : Date.now() + 86_400_000 * ((n % 90) + 1),
          comment: n % 10 ? '' : `note ${n}`,
        },
        inboundIds,
      };
    });
    const { created } = await panel.get<{ created: number }>('/panel/api/clients/bulkCreate', { body });
    if (created !== size) throw new Error(`only ${created} of ${size} clients were created`);
  }
}
