// Who may use the panel: the admin, the second factor, passkeys, sessions and API tokens.
import { useIsReseller } from '../api/rights.js';
import { Account } from './account.js';
import { LinkedAccounts } from './linked-accounts.js';
import { Passkeys } from './passkeys.js';
import { SecondFactor } from './second-factor.js';
import { Sessions } from './sessions.js';
import { Tokens } from './tokens.js';

export function AccessPage() {
  const isReseller = useIsReseller();
  return (
    <div className="stack">
      <Sessions />
      {!isReseller && <Tokens />}
      <SecondFactor />
      <LinkedAccounts />
      <Passkeys />
      <Account />
    </div>
  );
}
