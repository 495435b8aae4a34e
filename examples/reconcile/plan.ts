// The difference between the file and the panel: everything that will be done, before anything is.
import type { ClientsListAllReply } from '@weir-panel/sdk';
import { keyOf, type WishedClient, type Wishes } from './wishes.js';

type Existing = ClientsListAllReply[number];
/** Fields that an update sets; enable has calls of its own. */
const FIELDS = ['totalGB', 'expiryTime', 'limitIp', 'comment'] as const;
type Fields = Partial<Pick<WishedClient, (typeof FIELDS)[number]>>;

export interface Plan {
  readonly create: readonly WishedClient[];
  readonly change: readonly { readonly email: string; readonly fields: Fields; readonly words: string }[];
  readonly enable: readonly string[];
  readonly disable: readonly string[];
  readonly delete: readonly string[];
  /** emails by the id of the inbound */
  readonly attach: ReadonlyMap<number, readonly string[]>;
  readonly detach: ReadonlyMap<number, readonly string[]>;
}

/** Clients of others have these names. */
export class Conflict extends Error {}

/** At a limit the panel switches a client off, and on again when the limit is raised: no difference to the file. */
function isAtLimit({ totalGB, expiryTime, traffic }: Existing, now: number): boolean {
  const used = (traffic?.up ?? 0) + (traffic?.down ?? 0);
  return (totalGB > 0 && used >= totalGB) || (expiryTime > 0 && expiryTime <= now);
}

/** Throws Conflict where the file names a client that is not of its group. */
export function planOf(wishes: Wishes, all: ClientsListAllReply, now = Date.now()): Plan {
  const existing = new Map(all.map((client) => [keyOf(client.email), client]));
  const wished = new Set(wishes.clients.map(({ email }) => keyOf(email)));
  const foreign = wishes.clients.flatMap(({ email }) => {
    const group = existing.get(keyOf(email))?.group;
    return group === undefined || group === wishes.group ? [] : [`${email} is in the group "${group}"`];
  });
  if (foreign.length > 0)
    throw new Conflict(
      `not clients of "${wishes.group}", so nothing is changed:\n${foreign.slice(0, 20).join('\n')}`,
    );

  const plan = {
    create: [] as WishedClient[],
    change: [] as { email: string; fields: Fields; words: string }[],
    enable: [] as string[],
    disable: [] as string[],
    delete: [] as string[],
    attach: new Map<number, string[]>(),
    detach: new Map<number, string[]>(),
  };
  const note = (map: Map<number, string[]>, id: number, email: string): void =>
    void map.set(id, [...(map.get(id) ?? []), email]);
  for (const wish of wishes.clients) {
    const client = existing.get(keyOf(wish.email));
    if (!client) {
      plan.create.push(wish);
      continue;
    }
    const { email } = client;
    const different = FIELDS.filter((name) => client[name] !== wish[name]);
    if (different.length > 0)
      plan.change.push({
        email,
        fields: Object.fromEntries(different.map((name) => [name, wish[name]])) as Fields,
        words: different.map((name) => `${name} ${client[name]} -> ${wish[name]}`).join(', '),
      });
    if (wish.enable && !client.enable && !isAtLimit(client, now)) plan.enable.push(email);
    if (!wish.enable && client.enable) plan.disable.push(email);
    for (const id of wishes.inboundIds) if (!client.inboundIds.includes(id)) note(plan.attach, id, email);
    for (const id of client.inboundIds) if (!wishes.inboundIds.includes(id)) note(plan.detach, id, email);
  }
  for (const { email, group, enable } of all)
    if (group === wishes.group && !wished.has(keyOf(email))) {
      if (wishes.others === 'delete') plan.delete.push(email);
      else if (enable) plan.disable.push(email);
    }
  return plan;
}

/** The plan, a line for each step; empty if there is nothing to do. */
export function linesOf(plan: Plan): string[] {
  const inboundLines = (verb: string, map: ReadonlyMap<number, readonly string[]>): string[] =>
    [...map].flatMap(([id, emails]) => emails.map((email) => `${verb} ${email}: inbound ${id}`));
  return [
    ...plan.create.map(({ email }) => `create ${email}`),
    ...plan.change.map(({ email, words }) => `change ${email}: ${words}`),
    ...inboundLines('attach', plan.attach),
    ...inboundLines('detach', plan.detach),
    ...plan.enable.map((email) => `enable ${email}`),
    ...plan.disable.map((email) => `disable ${email}`),
    ...plan.delete.map((email) => `delete ${email}`),
  ];
}
