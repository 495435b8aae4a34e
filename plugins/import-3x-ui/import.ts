// Imports a database of 3x-ui. Each owner writes its own rows, with the checks of its API, in transactions of its own: an import
// that ends halfway is continued by the same import again.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Log, Principal } from '../../kernel/index.js';
import type { AccessArrivalsApi } from '../access/contract.js';
import type { AddressArrivalsApi } from '../addresses/contract.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { ClientArrivalsApi, ClientsApi } from '../clients/contract.js';
import type { CoreTemplateApi } from '../core-template/contract.js';
import type { DevicesApi } from '../devices/contract.js';
import type { ExternalLinksApi } from '../external-links/contract.js';
import type { FallbacksApi } from '../fallbacks/contract.js';
import type { HostEditsApi } from '../hosts/contract.js';
import type { InboundEditsApi, InboundsApi } from '../inbounds/contract.js';
import type { NodeArrivalsApi, NodesApi } from '../nodes/contract.js';
import type { OutboundSubEditsApi } from '../outbound-subs/contract.js';
import type { OutboundCountsApi } from '../outbound-traffic/contract.js';
import type { SettingsEditsApi } from '../settings/contract.js';
import type { BalancerEditsApi } from '../sub-balancers/contract.js';
import type { Context } from './context.js';
import { errors } from './errors.js';
import { type ImportReport, Report } from './report.js';
import { CLIENT_TABLES, ROW_TABLES } from './source/known-tables.js';
import { privateCopy } from './source/private-copy.js';
import { Source } from './source/source.js';
import { importAdmins, importTokens } from './steps/access.js';
import { importAddresses } from './steps/addresses.js';
import { importBalancers } from './steps/balancers.js';
import { importClients } from './steps/clients.js';
import { importFallbacks } from './steps/fallbacks.js';
import { importGroups } from './steps/groups.js';
import { importHosts } from './steps/hosts.js';
import { importInbounds } from './steps/inbounds.js';
import { importNodes } from './steps/nodes.js';
import { importOutboundSubs, importOutboundTraffics } from './steps/outbounds.js';
import { importSettings } from './steps/settings.js';

/** Tables that have no place here. */
const WITHOUT_PLACE: Readonly<Record<string, string>> = {
  history_of_seeders: 'it says which repairs 3x-ui has run',
  node_client_traffics: 'what nodes have counted until now is in the totals of clients',
  node_client_ips: 'nodes report the addresses of their clients again',
  client_global_traffics: 'the central panel reports it again',
};
const FOLDER = 'imports-3x-ui';

export interface Owners {
  readonly inbounds: InboundsApi;
  readonly inboundEdits: InboundEditsApi;
  readonly clients: ClientsApi;
  readonly clientArrivals: ClientArrivalsApi;
  readonly access: AccessArrivalsApi;
  readonly settingsEdits: SettingsEditsApi;
  readonly hosts?: HostEditsApi | undefined;
  readonly balancers?: BalancerEditsApi | undefined;
  readonly fallbacks?: FallbacksApi | undefined;
  readonly nodes?: NodesApi | undefined;
  readonly nodeArrivals?: NodeArrivalsApi | undefined;
  readonly addresses?: AddressArrivalsApi | undefined;
  readonly outboundSubs?: OutboundSubEditsApi | undefined;
  readonly outboundCounts?: OutboundCountsApi | undefined;
  readonly template?: CoreTemplateApi | undefined;
  readonly links?: ExternalLinksApi | undefined;
  readonly devices?: DevicesApi | undefined;
}
interface Needs extends Owners {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit?: AuditTrailApi | undefined;
}
export interface ImportRequest {
  /** of the database; what is read is a copy of it */
  readonly path: string;
  readonly dryRun: boolean;
  readonly who: Principal;
  readonly signal?: AbortSignal;
  readonly progress?: (line: string) => void;
}

export class Import3xUi {
  readonly #owners: Owners;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #audit: AuditTrailApi | undefined;
  #isBusy = false;

  constructor(needs: Needs) {
    const { inbounds, inboundEdits, clients, clientArrivals, access, settingsEdits } = needs;
    const { hosts, balancers, fallbacks, nodes, nodeArrivals, addresses } = needs;
    const { outboundSubs, outboundCounts, template, links, devices } = needs;
    const { dataDirectory, clock, log, audit } = needs;
    this.#owners = {
      ...{ inbounds, inboundEdits, clients, clientArrivals, access, settingsEdits },
      ...{ hosts, balancers, fallbacks, nodes, nodeArrivals, addresses },
      ...{ outboundSubs, outboundCounts, template, links, devices },
    };
    this.#folder = join(dataDirectory, FOLDER);
    this.#clock = clock;
    this.#log = log;
    this.#audit = audit;
  }

  /** Deletes what a crash left behind. */
  start(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  /** Rejects with UNREADABLE, before anything is written, or with BUSY. */
  async run({ path, dryRun, who, signal, progress }: ImportRequest): Promise<ImportReport> {
    if (this.#isBusy) throw errors.BUSY();
    this.#isBusy = true;
    let folder: string | undefined;
    let source: Source | undefined;
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      folder = await mkdtemp(join(this.#folder, 'file-'));
      source = await Source.open(await privateCopy(path, folder), folder);
      if (!dryRun)
        await this.#audit?.act('import', who, { name: '3x-ui', facts: { rows: source.facts.rows } });
      const report = new Report();
      await this.#steps({
        ...{ source, report, who, dryRun },
        signal: signal ?? new AbortController().signal,
        progress: progress ?? (() => undefined),
        ...{ inboundIds: new Map(), nodeIds: new Map() },
      });
      const result = report.of(dryRun);
      this.#log.info(dryRun ? 'tried an import of 3x-ui' : 'imported a database of 3x-ui', {
        taken: Object.fromEntries(result.tables.map(({ table, taken }) => [table, taken])),
      });
      return result;
    } finally {
      source?.close();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
      this.#isBusy = false;
    }
  }

  async #steps(context: Context): Promise<void> {
    const owners = this.#owners;
    const { report, source } = context;
    for (const [table, count] of Object.entries(source.facts.rows)) report.found(table, count);
    await importGroups(context, owners.clientArrivals);
    await importNodes(context, owners.nodes, owners.nodeArrivals);
    await importInbounds(context, { inbounds: owners.inbounds, edits: owners.inboundEdits });
    const missing = (plugin: string) => `this panel runs without the plugin ${plugin}`;
    await importClients(context, {
      arrivals: owners.clientArrivals,
      clients: owners.clients,
      inbounds: owners.inbounds,
      withoutLinks: owners.links ? undefined : missing('external-links'),
      withoutDevices: owners.devices ? undefined : missing('devices'),
    });
    await importFallbacks(context, owners.fallbacks);
    await importHosts(context, owners.hosts);
    await importBalancers(context, owners.balancers);
    await importAddresses(context, {
      clients: owners.clients,
      addresses: owners.addresses,
      now: this.#clock.now(),
    });
    await importOutboundSubs(context, owners.outboundSubs);
    await importOutboundTraffics(context, owners.outboundCounts);
    await importSettings(context, owners.settingsEdits, owners.template);
    await importTokens(context, owners.access);
    await importAdmins(context, owners.access);
    for (const [table, count] of Object.entries(source.facts.rows))
      if (!(table in ROW_TABLES) && !(table in CLIENT_TABLES))
        report.left(table, WITHOUT_PLACE[table] ?? 'this panel does not know the table', '', count);
  }
}
