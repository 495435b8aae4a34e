// Who may use the panel: sessions and API tokens.
import { Sessions } from './sessions.js';
import { Tokens } from './tokens.js';

export const AccessPage = () => (
  <div className="stack">
    <Sessions />
    <Tokens />
  </div>
);
