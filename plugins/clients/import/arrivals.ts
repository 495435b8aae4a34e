// Clients and groups of another panel, taken in portion by portion.
import {
  inspect,
  int,
  messageOf,
  type Principal,
  refuseHidden,
  shape,
  sentenceOf,
} from '../../../kernel/index.js';
import { DONE } from '../../engine/contract.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import type { Arrival, ArrivingClient, ClientArrivalsApi } from '../contract.js';
import { sentCredentials } from '../credentials/sent.js';
import { addValid } from '../edits/add-valid.js';
import { type ClientService, skippedItem } from '../edits/client-service.js';
import type { ClientWriter } from '../edits/client-writer.js';
import type { ClientEdit } from '../edits/edit.js';
import { newBatch } from '../edits/uniqueness.js';
import { GroupName } from '../groups/group-schemas.js';
import type { Groups } from '../groups/groups.js';
import type { Baseline } from '../groups/group-store.js';
import type { ClientStore } from '../model/client-store.js';
import { emailKey } from '../model/fields.js';
import { ImportedClient } from '../model/schema.js';

interface Needs {
  readonly service: ClientService;
  readonly writer: ClientWriter;
  readonly store: ClientStore;
  readonly groups: Groups;
  readonly inbounds: InboundsApi;
}
const baselineShape = shape({ up: int(), down: int() });

/** What they used, by the key of their email. Counters of zero leave what is retained for the email. */
const usageIn = (clients: readonly ArrivingClient[]) =>
  new Map(
    clients.flatMap(({ client, used: { up, down, ...seen } }) => {
      const { email } = client as { readonly email?: unknown };
      return typeof email === 'string'
        ? [[emailKey(email), { ...seen, ...(up + down > 0 && { up, down }) }] as const]
        : [];
    }),
  );
const itemsOf = (clients: readonly ArrivingClient[]): unknown[] =>
  clients.map(({ used: _, ...item }) => item);

export class Arrivals implements ClientArrivalsApi {
  readonly #needs: Needs;

  constructor({ service, writer, store, groups, inbounds }: Needs) {
    this.#needs = { service, writer, store, groups, inbounds };
  }

  begin(who: Principal): Arrival {
    const { service, writer, store, inbounds } = this.#needs;
    const sharable = new Set<string>();
    const batch = newBatch();
    const optionsFor = (clients: readonly ArrivingClient[]) => ({
      usage: usageIn(clients),
      fromElsewhere: true,
      sharable,
    });
    const checking: Pick<ClientService, 'addMany'> = {
      addMany: async (items, by, options) => {
        const alone = items.map((item) => ({ ...item, inboundIds: [] }));
        const { refused, request } = await service.planNew(alone, by, { ...options, batch });
        return { created: request.added.length, skipped: refused.map(skippedItem), applied: DONE };
      },
    };
    return {
      add: (clients) => addValid(service, itemsOf(clients), who, ImportedClient, optionsFor(clients)),
      check: (clients) => addValid(checking, itemsOf(clients), who, ImportedClient, optionsFor(clients)),
      attach: async (clients) => {
        const edits = clients.flatMap(({ email, inboundIds, credentials }): ClientEdit[] => {
          const row = store.byEmail(email);
          if (!row) return [];
          inbounds.requireForClients(inboundIds, 'inboundIds');
          const attach = inboundIds.filter((id) => !row.inboundIds.includes(id));
          return [{ row, attach, credentials: sentCredentials({ credentials }, '') }];
        });
        return (await writer.write({ edits }, who)).applied;
      },
    };
  }

  hasGroup(name: string): boolean {
    return this.#needs.groups.has(name);
  }

  groupProblem(name: string, baseline: Baseline): string | undefined {
    const found = [inspect(GroupName, { name }), inspect(baselineShape, baseline)];
    const issues = found.flatMap((result) => ('issues' in result ? result.issues : []));
    if (issues.length > 0) return sentenceOf(issues);
    try {
      refuseHidden('name', name, 'label');
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  addGroup(name: string, baseline: Baseline, who: Principal): Promise<void> {
    return this.#needs.groups.adopt(name, baseline, who);
  }
}
