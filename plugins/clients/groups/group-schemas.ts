// Bodies and replies of the routes of groups.
import { shape, text } from '../../../kernel/index.js';
import { sentEmails } from '../edits/request-schemas.js';
import { nonNegative, groupName } from '../model/value-schemas.js';

export const GroupName = shape({ name: groupName() }).example({ name: 'family' });
export const NewGroup = shape({ name: groupName() }).example({ name: 'friends' });
export const RenameGroup = shape({ oldName: groupName(), newName: groupName() }).example({
  oldName: 'family',
  newName: 'relatives',
});
export const EmailsAndGroup = shape({
  emails: sentEmails(),
  group: groupName(),
}).example({
  emails: ['ada@example.org'],
  group: 'family',
});
export const GroupReply = shape({
  name: text(),
  clientCount: nonNegative(),
  trafficUsed: nonNegative(),
  up: nonNegative(),
  down: nonNegative(),
});
