// After the last fault: whether all panels say the same, whether users get what they should, and whether each byte was counted once.
import { setTimeout as sleep } from 'node:timers/promises';
import { poll } from '../engine/user.js';
import { withDatabase } from '../harness/edit-database.js';
import type { Verdict } from '../soak/verdict.js';
import { clientsOf, type Domain, inboundsOf, type ListedClient, type Slot } from './domain.js';
import type { Site } from './site.js';
import { LAST_WORDS, type Moved, type Pair, type Range, type Users } from './users.js';

const COUNTED_LIMIT_MS = 30_000;
/** Of what was served, so much may be missing. */
const MISSING = 0.001;

const shown = (
  { email, uuid, enable, totalGB, comment, expiryTime }: ListedClient,
  tags: readonly string[],
) => JSON.stringify([email, uuid, enable, totalGB, comment, expiryTime, ...tags.toSorted()]);

/** What the nodes of a domain have, against what it says; each difference as a sentence. */
async function differencesOf(domain: Domain): Promise<string[]> {
  const { site } = domain;
  const [clients, inbounds] = [await clientsOf(site), await inboundsOf(site)];
  const found: string[] = [];
  for (const nodeId of new Set(domain.inbounds.map((one) => one.nodeId))) {
    const node = domain.inbounds.find((one) => one.nodeId === nodeId)?.node.to as Site;
    const here = inbounds.filter((one) => one.nodeId === nodeId);
    const theirs = (await inboundsOf(node)).filter((one) => one.nodeId === null);
    const tagHere = new Map(here.map(({ id, tag }) => [id, tag]));
    const tagThere = new Map(theirs.map(({ id, tag }) => [id, tag]));
    const of = (list: readonly ListedClient[], tags: ReadonlyMap<number, string>) =>
      new Map(
        list.flatMap((client) => {
          const own = client.inboundIds.flatMap((id) => tags.get(id) ?? []);
          return own.length > 0 ? [[client.uuid, shown(client, own)] as const] : [];
        }),
      );
    const [wanted, has] = [of(clients, tagHere), of(await clientsOf(node), tagThere)];
    for (const uuid of new Set([...wanted.keys(), ...has.keys()]))
      if (wanted.get(uuid) !== has.get(uuid))
        found.push(`${node.name} has ${has.get(uuid) ?? 'nothing'} for ${wanted.get(uuid) ?? 'nothing'}`);
    const inbound = ({ tag, port, enable, remark }: (typeof here)[number]) =>
      JSON.stringify([tag, port, enable, remark]);
    const [a, b] = [here.map(inbound).sort().join(), theirs.map(inbound).sort().join()];
    if (a !== b) found.push(`${node.name} has the inbounds ${b} for ${a}`);
    const keeping =
      await site.panel.get<{ nodeId: number; pending: number; refused: number }[]>('/panel/api/x/node-sync');
    const { pending = 0, refused = 0 } = keeping.find((one) => one.nodeId === nodeId) ?? {};
    if (pending + refused > 0) found.push(`for ${node.name} ${pending} records wait, ${refused} are refused`);
  }
  return found;
}

/** Waits until all agree; resolves with the ms it took, and with what differs if they do not. */
export async function agreement(
  domains: readonly Domain[],
  limitMs: number,
): Promise<{ readonly ms: number; readonly differences: readonly string[] }> {
  const began = performance.now();
  for (;;) {
    const differences: string[] = [];
    for (const domain of domains)
      differences.push(...(await differencesOf(domain).catch((error: Error) => [error.message])));
    const ms = performance.now() - began;
    if (differences.length === 0 || ms > limitMs) return { ms, differences };
    await sleep(200);
  }
}

/** What was confirmed to the admins against what their panels have, and who is served. */
export async function confirmed(
  domains: readonly Domain[],
  pairs: readonly Pair[],
  users: Users,
): Promise<string[]> {
  const wrong: string[] = [];
  let [slotOffset, inboundOffset] = [0, 0];
  for (const domain of domains) {
    const clients = new Map((await clientsOf(domain.site)).map((client) => [client.uuid, client]));
    for (const slot of domain.slots) {
      const client = clients.get(slot.uuid);
      if (slot.state === 'there' && !client) wrong.push(`${slot.email} is not there`);
      if (slot.state !== 'there' && client) wrong.push(`${slot.email} was deleted, and is there again`);
      if (client && client.email !== slot.email) wrong.push(`${slot.email} is called ${client.email}`);
      if (client && slot.enable !== undefined && client.enable !== slot.enable)
        wrong.push(`${slot.email} is ${client.enable ? 'enabled' : 'disabled'}: ${slot.edits.join(', ')}`);
      if (slot.state === 'unused') continue;
      for (const [i, { id, node }] of domain.inbounds.entries()) {
        const n = pairs.findIndex(
          (pair) => pair.slot === slotOffset + slot.number && pair.inbound === inboundOffset + i,
        );
        const isWanted = client?.enable === true && client.inboundIds.includes(id);
        if ((await users.probe(n)) !== isWanted)
          wrong.push(`${slot.email} is ${isWanted ? 'not served' : 'served'} by ${node.to.name}`);
      }
    }
    slotOffset += domain.slots.length;
    inboundOffset += domain.inbounds.length;
  }
  return wrong;
}

interface Row {
  readonly what: string;
  readonly served: Moved;
  readonly counted: { readonly up: number; readonly down: number };
  /** more may be missing: bytes of clients that are deleted */
  readonly isUpper?: boolean;
  /** how often it was taken off a node: what its connection moves until it is cut may be missing */
  readonly takenOff?: number;
}
const sum = (all: readonly Moved[]): Moved => {
  const of = (way: (moved: Moved) => Range): Range => ({
    least: all.reduce((total, moved) => total + way(moved).least, 0),
    most: all.reduce((total, moved) => total + way(moved).most, 0),
  });
  return { up: of(({ up }) => up), down: of(({ down }) => down) };
};
function faultsOf({ what, served, counted, isUpper = false, takenOff = 0 }: Row): string[] {
  return (['up', 'down'] as const).flatMap((way) => {
    const { least, most } = served[way];
    if (counted[way] > most) return [`${what}: ${counted[way]} bytes ${way} are counted, ${most} were sent`];
    if (!isUpper && counted[way] < least * (1 - MISSING) - takenOff * LAST_WORDS[way])
      return [`${what}: ${counted[way]} bytes ${way} are counted, ${least} were served`];
    return [];
  });
}

export interface Books {
  readonly faults: readonly string[];
  readonly served: number;
  readonly onNodes: number;
  readonly central: number;
}

type Counted = Map<string, { readonly up: number; readonly down: number }>;
/** What a panel has counted itself, by the UUID of the client and the tag of the inbound. Its replies add what was used elsewhere. */
const countedBy = (site: Site): Promise<Counted> =>
  withDatabase(site.dataDirectory, async (sequelize) => {
    const [rows] = await sequelize.query(
      `SELECT c.uuid, i.tag, u.up, u.down FROM client_usage u
       JOIN clients c ON c.id = u.client_id JOIN inbounds i ON i.id = u.inbound_id`,
    );
    return new Map(
      (rows as { uuid: string; tag: string; up: number; down: number }[]).map(({ uuid, tag, up, down }) => [
        `${uuid} ${tag}`,
        { up, down },
      ]),
    );
  });

async function booksOf(domains: readonly Domain[], pairs: readonly Pair[], users: Users): Promise<Books> {
  const rows: Row[] = [];
  const totals = { served: 0, onNodes: 0, central: 0 };
  const counted = new Map<Site, Counted>();
  for (const site of sitesOf(domains)) counted.set(site, await countedBy(site));
  const by = (site: Site, slot: Slot, tag: string) =>
    counted.get(site)?.get(`${slot.uuid} ${tag}`) ?? { up: 0, down: 0 };
  let [slotOffset, inboundOffset] = [0, 0];
  const movedOf = (of: (pair: Pair) => boolean): Moved =>
    sum(pairs.flatMap((pair, n) => (of(pair) ? [users.moved(n)] : [])));
  for (const domain of domains) {
    const inboundsHere = await inboundsOf(domain.site);
    for (const slot of domain.slots.filter(({ state }) => state === 'there')) {
      const number = slotOffset + slot.number;
      const shownHere = await domain.site.panel.get<{ up: number; down: number }>(
        `/panel/api/clients/traffic/${slot.email}`,
      );
      const served = movedOf((pair) => pair.slot === number);
      const isMoved = slot.wasOff.size > 0 ? ', that was taken off nodes,' : '';
      rows.push({
        what: `${slot.email}${isMoved} at ${domain.site.name}`,
        served,
        counted: shownHere,
        takenOff: slot.takenOff,
      });
      totals.served += served.up.least + served.down.least;
      totals.central += shownHere.up + shownHere.down;
      for (const [i, { id, tag, node }] of domain.inbounds.entries()) {
        // What a node has forgotten with the client, only the panel above knows.
        if (slot.wasOff.has(id)) continue;
        const there = movedOf((pair) => pair.slot === number && pair.inbound === inboundOffset + i);
        const own = by(node.to, slot, tag);
        const above = by(domain.site, slot, tag);
        rows.push({ what: `${slot.email} on ${node.to.name}`, served: there, counted: own });
        rows.push({
          what: `${slot.email} of ${node.to.name} at ${domain.site.name}`,
          served: exactly(own),
          counted: above,
        });
        totals.onNodes += own.up + own.down;
      }
    }
    for (const [i, { id, tag, node }] of domain.inbounds.entries()) {
      const served = movedOf((pair) => pair.inbound === inboundOffset + i);
      const here = inboundsHere.find((one) => one.id === id) ?? { up: 0, down: 0 };
      const there = (await inboundsOf(node.to)).find((one) => one.tag === tag) ?? { up: 0, down: 0 };
      rows.push({ what: `${tag} on ${node.to.name}`, served, counted: there, isUpper: true });
      rows.push({
        what: `${tag} of ${node.to.name} at ${domain.site.name}`,
        served: exactly(there),
        counted: here,
        // The panel above does not count a client that it has deleted; the node does until it is told.
        isUpper: true,
      });
    }
    slotOffset += domain.slots.length;
    inboundOffset += domain.inbounds.length;
  }
  const faults = rows.flatMap(faultsOf);
  const cut = domains.flatMap(({ slots }) => slots).reduce((all, { takenOff }) => all + takenOff, 0);
  const lost = cut * (LAST_WORDS.up + LAST_WORDS.down);
  if (totals.central < totals.served * (1 - MISSING) - lost)
    faults.push(`of all clients ${totals.central} bytes are counted, ${totals.served} were served`);
  return { faults, ...totals };
}

const exactly = ({ up, down }: { readonly up: number; readonly down: number }): Moved => ({
  up: { least: up, most: up },
  down: { least: down, most: down },
});
/** Nodes before the panels above them. */
const sitesOf = (domains: readonly Domain[]): Site[] => [
  ...new Set(
    domains.toReversed().flatMap(({ inbounds, site }) => [...inbounds.map(({ node }) => node.to), site]),
  ),
];

/** Polls until each byte is counted. */
export async function books(
  domains: readonly Domain[],
  pairs: readonly Pair[],
  users: Users,
): Promise<Books> {
  for (const deadline = Date.now() + COUNTED_LIMIT_MS; ; await sleep(500)) {
    for (const site of sitesOf(domains)) await poll(site.panel);
    const found = await booksOf(domains, pairs, users);
    if (found.faults.length === 0 || Date.now() > deadline) return found;
  }
}

export const verdict = (what: string, wanted: string, wrong: readonly string[], found = 'none'): Verdict => ({
  what,
  found: wrong.length === 0 ? found : `${wrong.length}: ${wrong.slice(0, 5).join('; ')}`,
  wanted,
  isGood: wrong.length === 0,
});
