// Takes in the database of another panel, 3x-ui.
import { resolve } from 'node:path';
import {
  bool,
  command,
  definePlugin,
  maybe,
  optional,
  Refusal,
  singleton,
  text,
} from '../../kernel/index.js';
import { AccessArrivals } from '../access/contract.js';
import { AddressArrivals } from '../addresses/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { ClientArrivals, Clients } from '../clients/contract.js';
import { CoreTemplate } from '../core-template/contract.js';
import { Devices } from '../devices/contract.js';
import { ExternalLinks } from '../external-links/contract.js';
import { Fallbacks } from '../fallbacks/contract.js';
import { HostEdits } from '../hosts/contract.js';
import { InboundEdits, Inbounds } from '../inbounds/contract.js';
import { NodeArrivals, Nodes } from '../nodes/contract.js';
import { OutboundSubEdits } from '../outbound-subs/contract.js';
import { OutboundCounts } from '../outbound-traffic/contract.js';
import { SettingsEdits } from '../settings/contract.js';
import { BalancerEdits } from '../sub-balancers/contract.js';
import { Import3xUi } from './import.js';
import { isEqual, linesOf } from './report.js';
import { routes } from './routes.js';

export default definePlugin({
  name: 'import-3x-ui',
  version: '0.1.0',
  api: 1,
  about: 'Takes in the database of 3x-ui by one command.',
  uses: {
    inbounds: Inbounds,
    inboundEdits: InboundEdits,
    clients: Clients,
    clientArrivals: ClientArrivals,
    access: AccessArrivals,
    settingsEdits: SettingsEdits,
    hosts: maybe(HostEdits),
    balancers: maybe(BalancerEdits),
    fallbacks: maybe(Fallbacks),
    nodes: maybe(Nodes),
    nodeArrivals: maybe(NodeArrivals),
    addresses: maybe(AddressArrivals),
    outboundSubs: maybe(OutboundSubEdits),
    outboundCounts: maybe(OutboundCounts),
    template: maybe(CoreTemplate),
    links: maybe(ExternalLinks),
    devices: maybe(Devices),
    audit: maybe(AuditTrail),
  },
  services: { importing: singleton(Import3xUi) },
  routes,
  commands: ({ importing }) => [
    command({
      name: 'import 3x-ui',
      about:
        'Takes in the database of 3x-ui: inbounds, clients with their usage, hosts, settings, API tokens, admins. What is here already stays; run it again to continue, or to take what is new there.',
      fresh: true,
      operand: 'file',
      options: {
        file: text().max(4096).description('the database, such as /etc/x-ui/x-ui.db'),
        dryRun: optional(bool().description('write nothing, and say what would be taken, changed and left')),
      },
      example: 'weir import 3x-ui /etc/x-ui/x-ui.db --dry-run',
      run: async ({ options: { file, dryRun = false }, folder, who, say, signal }) => {
        const report = await importing.run({
          path: resolve(folder, file),
          ...{ dryRun, who, signal },
          progress: say,
        });
        for (const line of linesOf(report)) say(line);
        if (dryRun) say('Nothing was written.');
        if (!isEqual(report)) throw new Refusal('the sums of what was taken differ; see above');
      },
    }),
  ],
  start: ({ importing }) => importing.start(),
});
