// What messages of the live stream change in what the page already knows.
import type { ClientsListReply, ClientsTrafficReply, ServerStatusReply } from '../../../../sdk/index.js';

export type ClientRow = ClientsListReply['items'][number];
export type ClientPage = ClientsListReply;

export interface ClientStats {
  readonly clients: readonly ClientsTrafficReply[] | null;
}
export interface TrafficNow {
  readonly onlineCount: number;
  readonly onlineClients: readonly string[] | null;
}
export interface CoreState {
  readonly state: ServerStatusReply['engine']['state'];
  readonly errorMsg: string;
}

/** The newest usage of each client in these messages, by email. */
export function usageOf(messages: readonly unknown[]): ReadonlyMap<string, ClientsTrafficReply> {
  const found = new Map<string, ClientsTrafficReply>();
  for (const message of messages)
    for (const record of (message as ClientStats | null)?.clients ?? []) found.set(record.email, record);
  return found;
}

/** A client with its newest usage; the same object if nothing of it changed. */
export function withUsage<T extends Pick<ClientRow, 'email' | 'enable' | 'traffic'>>(
  row: T,
  usage: ReadonlyMap<string, ClientsTrafficReply>,
): T {
  const traffic = usage.get(row.email);
  if (!traffic) return row;
  const { traffic: known } = row;
  const isSame =
    known?.up === traffic.up && known.down === traffic.down && known.lastOnline === traffic.lastOnline;
  return isSame && row.enable === traffic.enable ? row : { ...row, enable: traffic.enable, traffic };
}

/** A page of the list with the newest usage of its clients, in the order that it had. */
export function pageWithUsage(
  page: ClientPage | undefined,
  usage: ReadonlyMap<string, ClientsTrafficReply>,
): ClientPage | undefined {
  if (!page) return page;
  let isChanged = false;
  const items = page.items.map((row) => {
    const patched = withUsage(row, usage);
    if (patched !== row) isChanged = true;
    return patched;
  });
  return isChanged ? { ...page, items } : page;
}

export type Reordered =
  /** the same clients in the same order: show the new page */
  | { readonly kind: 'same' }
  /** others, or another order: rows stay where they are until the reader wants it otherwise */
  | { readonly kind: 'moved'; readonly page: ClientPage };

/** What to do with a page that was asked for again while somebody looks at it. */
export function reordered(shown: ClientPage, fresh: ClientPage): Reordered {
  const isSame =
    shown.filtered === fresh.filtered &&
    shown.items.length === fresh.items.length &&
    shown.items.every(({ id }, index) => fresh.items[index]?.id === id);
  if (isSame) return { kind: 'same' };
  const byId = new Map(fresh.items.map((row) => [row.id, row]));
  return { kind: 'moved', page: { ...shown, items: shown.items.map((row) => byId.get(row.id) ?? row) } };
}

/** The last of some messages. */
export const newest = <T>(messages: readonly unknown[]): T | undefined => messages.at(-1) as T | undefined;
