// Who may use the panel: the admin, the second factor, sessions and API tokens.
import { Account } from './account.js';
import { LinkedAccounts } from './linked-accounts.js';
import { SecondFactor } from './second-factor.js';
import { Sessions } from './sessions.js';
import { Tokens } from './tokens.js';

export const AccessPage = () => (
  <div className="stack">
    <Sessions />
    <Tokens />
    <SecondFactor />
    <LinkedAccounts />
    <Account />
  </div>
);
