// Who may use the panel: the admin, the second factor, passkeys, sessions and API tokens.
import { useOwnKind } from '../api/rights.js';
import { Account } from './account.js';
import { LinkedAccounts } from './linked-accounts.js';
import { Passkeys } from './passkeys.js';
import { SecondFactor } from './second-factor.js';
import { Sessions } from './sessions.js';
import { Tokens } from './tokens.js';

export function AccessPage() {
  const isOwn = useOwnKind() !== undefined;
  return (
    <div className="stack">
      <Sessions />
      {!isOwn && <Tokens />}
      <SecondFactor />
      <LinkedAccounts />
      <Passkeys />
      <Account />
    </div>
  );
}
