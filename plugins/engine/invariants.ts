// Compares the running core with what the database wants of it.
import type { Findings, Invariant } from '../invariants/contract.js';
import type { Accounts } from './users/accounts.js';
import type { Applied } from './apply/applied.js';
import type { CoreDriver } from './driver.js';
import type { InboundReconciler } from './apply/inbound-reconciler.js';
import type { UserReconciler } from './users/user-reconciler.js';

interface Running {
  readonly driver: CoreDriver | undefined;
  readonly users: UserReconciler;
  readonly inbounds: InboundReconciler;
  readonly applied: Applied;
}
interface Needs {
  /** undefined when no core runs */
  readonly running: () => Running | undefined;
  readonly accounts: Accounts;
}

const SAID = {
  missing: 'is not in the core',
  surplus: 'is in the core, and must not be',
  different: 'has another credential in the core',
} as const;

async function compare({ running, accounts }: Needs, { add, pause }: Findings): Promise<string | undefined> {
  const core = running();
  if (!core?.driver) return 'no core runs';
  const { driver, users, inbounds, applied } = core;
  for (const inbound of inbounds.planned.values()) {
    await pause();
    const { tag, id, protocol } = inbound;
    if (!applied.digests.inbounds[tag]) add(`the inbound ${id} (${tag}) does not run as it is stored`);
    // Others have their users in their config, and its digest stands for them.
    else if (accounts.of(protocol)?.users === 'api')
      for (const { name, how } of await users.differences(driver, inbound))
        add(`user ${name} of the inbound ${id} (${tag}) ${SAID[how]}`);
  }
  for (const tag of Object.keys(applied.digests.inbounds))
    if (![...inbounds.planned.values()].some((inbound) => inbound.tag === tag))
      add(`the core runs an inbound ${tag} that is not stored`);
  return undefined;
}

export const coreHasUsers = (needs: Needs): Invariant => ({
  name: 'the core has the inbounds and users of the database',
  fix: 'wait ten seconds, as the panel retries by itself; then POST server/restartEngineService',
  check: (findings) => compare(needs, findings),
});
