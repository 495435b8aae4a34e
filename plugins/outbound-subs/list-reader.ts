// From the body of a list to outbounds of the core. What cannot be one is left out, with the reason.
import { inspect, TimeSlice } from '../../kernel/index.js';
import { hostOf, reachOf } from '../core-guard/contract.js';
import type { JsonObject } from '../engine/contract.js';
import { type EntryTemplate, EntryTemplateShape, type ProxyEntry } from '../inbounds/contract.js';
import { LinkError, type LinkReaderApi } from '../link-reader/contract.js';
import { coreOutbound } from '../sub-json/contract.js';
import type { BodyItem } from './body-items.js';
import { BodyReader, MOST_ENTRIES } from './body-reader.js';
import { Fields } from './entry-fields.js';
import { LeftOutList, shownName } from './left-out.js';
import { ListProblem } from './list-problem.js';
import { mihomoEntry } from './mihomo-entry.js';
import { singBoxEntry } from './sing-box-entry.js';
import { type Candidate, candidateOf, serversOf } from './stored-outbound.js';
import { xrayOutbound } from './xray-outbound.js';

/** Of one list, and of all lists in the core. */
export const MOST_OUTBOUNDS = 1000;
const LONGEST_OUTBOUND = 32_768;

export interface ReadList {
  readonly candidates: readonly Candidate[];
  readonly leftOut: LeftOutList;
}
interface How {
  /** whether servers may have addresses that are not public */
  readonly allowPrivate: boolean;
  readonly signal?: AbortSignal | undefined;
}

export class ListReader {
  readonly #links: LinkReaderApi;
  readonly #bodies = new BodyReader();

  constructor({ reader }: { reader: LinkReaderApi }) {
    this.#links = reader;
  }

  /** Rejects with a ListProblem where the body is no list, or nothing of it can be read. */
  async read(body: Uint8Array<ArrayBuffer>, { allowPrivate, signal }: How): Promise<ReadList> {
    const items = await this.#bodies.read(body, signal);
    const leftOut = new LeftOutList();
    const candidates = new Map<string, Candidate>();
    const slice = new TimeSlice();
    for (const [at, item] of items.slice(0, MOST_ENTRIES).entries()) {
      if (slice.isOver) {
        await slice.next();
        signal?.throwIfAborted();
      }
      if (candidates.size === MOST_OUTBOUNDS) {
        const rest = items.length - at;
        leftOut.add('the rest', `a list may have ${MOST_OUTBOUNDS} outbounds; the rest was not read`, rest);
        break;
      }
      const read = this.#candidate(item, `entry ${at + 1}`, allowPrivate);
      if ('reason' in read) leftOut.add(read.name, read.reason);
      else if (candidates.has(read.digest)) leftOut.add(read.name, 'it is in the list already');
      else candidates.set(read.digest, read);
    }
    if (items.length > MOST_ENTRIES && candidates.size < MOST_OUTBOUNDS)
      leftOut.add('the rest', `a list may have ${MOST_ENTRIES} entries; the rest was not read`);
    return { candidates: [...candidates.values()], leftOut };
  }

  /** One link that an admin pastes: its server may be anywhere. Throws a ListProblem or a LinkError that says why not. */
  fromLink(link: string): { readonly name: string; readonly outbound: JsonObject } {
    const { config, called } = this.#outbound({ form: 'link', link });
    const problem = outboundProblem(config, true);
    if (problem !== undefined) throw new ListProblem(problem);
    const { tag: _, ...outbound } = config;
    return { name: shownName(called), outbound };
  }

  #candidate(
    item: BodyItem,
    place: string,
    allowPrivate: boolean,
  ): Candidate | { name: string; reason: string } {
    let name = item.form === 'link' ? this.#nameOf(item.link) || place : item.name;
    try {
      const { config, called } = this.#outbound(item);
      name = shownName(called || name) || place;
      const problem = outboundProblem(config, allowPrivate);
      return problem === undefined ? candidateOf(name, config) : { name, reason: problem };
    } catch (error) {
      if (error instanceof LinkError || error instanceof ListProblem) return { name, reason: error.message };
      throw error;
    }
  }

  #nameOf(link: string): string {
    try {
      return this.#links.nameIn(link);
    } catch {
      return '';
    }
  }

  #outbound(item: BodyItem): { readonly config: JsonObject; readonly called: string } {
    switch (item.form) {
      case 'unreadable':
        throw new ListProblem(item.reason);
      case 'link': {
        const entry = this.#links.read(item.link);
        return { config: written(entry), called: entry.name };
      }
      case 'xray':
        return { config: xrayOutbound(item.value), called: item.name };
      default: {
        const read = item.form === 'mihomo' ? mihomoEntry : singBoxEntry;
        return { config: written({ ...valid(read(new Fields(item.value))), name: '' }), called: item.name };
      }
    }
  }
}

/** The rules for entries of inbounds hold here too. */
function valid(entry: Omit<ProxyEntry, 'name'>): Omit<ProxyEntry, 'name'> {
  const found = inspect(EntryTemplateShape, entry as EntryTemplate);
  if ('value' in found) return found.value as Omit<ProxyEntry, 'name'>;
  throw new ListProblem(found.issues[0]?.message ?? 'it is not valid');
}

function written(entry: ProxyEntry): JsonObject {
  const outbound = coreOutbound(entry);
  if (typeof outbound === 'string') throw new ListProblem(outbound);
  return outbound;
}

function outboundProblem(outbound: JsonObject, allowPrivate: boolean): string | undefined {
  if (JSON.stringify(outbound).length > LONGEST_OUTBOUND)
    return `its outbound has more than ${LONGEST_OUTBOUND} characters`;
  const servers = serversOf(outbound);
  if (servers.length === 0) return 'it names no server';
  for (const server of servers) {
    const host = hostOf(server);
    if (!host) return 'its server is neither a host name nor an address';
    if (outbound['protocol'] === 'wireguard' && 'name' in host)
      return `its server ${host.name} is a name: the core crashes when it cannot look up that of a WireGuard server`;
    if (!allowPrivate && 'address' in host && reachOf(host.address) !== 'public')
      return `its server ${host.address} is not a public address; allowPrivate permits it`;
  }
  return undefined;
}
