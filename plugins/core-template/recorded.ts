// How changes of the template are recorded by the plugin audit.
import { audited } from '../audit/contract.js';
import { duringTemplateSave } from './contract.js';

export const coreTemplate = audited({
  area: 'coreTemplate',
  hook: duringTemplateSave,
  // `id` is the credential of vless and vmess.
  secret: ['id'],
  describe: ({ before, after }) => ({
    kind: 'updated',
    name: 'engineSetting',
    id: after.id,
    before: before.template,
    after: after.template,
  }),
});
