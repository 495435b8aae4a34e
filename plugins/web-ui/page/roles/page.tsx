// Who may do what: admins, and the roles that limit them.
import { Admins } from './admins.js';
import { Roles } from './roles.js';

export const RolesPage = () => (
  <div className="stack">
    <Admins />
    <Roles />
  </div>
);
