// The whole config of a start, users included, for admins.
import { CoreRefused } from '../driver.js';
import type { Supervisor } from '../life/supervisor.js';

/** Rejects with CoreRefused when there is no core. */
export async function configJson(
  supervisor: Pick<Supervisor, 'parts' | 'status'>,
): Promise<Record<string, unknown>> {
  const { driver, plan, inbounds: reconciler } = supervisor.parts();
  if (!driver) throw new CoreRefused(supervisor.status().errorMsg);
  const { base, inbounds } = await plan();
  const text = driver.configText(base, [...inbounds.values()].map(reconciler.withUsers));
  return JSON.parse([...text].join('')) as Record<string, unknown>;
}
