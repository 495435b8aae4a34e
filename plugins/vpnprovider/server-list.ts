// Reads the provider's list of servers while it arrives: a country has thousands, and parsing all of them at once would
// keep others waiting. What is not wanted is left out of the text; everything else stays as it came.
import { TimeSlice } from '../../kernel/index.js';

/** A reply that is not such a list; the message says why. */
export class UnfitList extends Error {}

const LARGEST_SERVER = 64 * 1024;
/** A country has some thousands. */
const MOST_SERVERS = 20_000;
/** Beside the servers: their places, groups and technologies. It is parsed in one piece. */
const LARGEST_REST = 256 * 1024;
const DEEPEST = 50;
const LIST = 'servers';

const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN, CLOSE] = [
  34, 44, 58, 91, 92, 93, 123, 125,
] as const;
const isSpace = (c: number): boolean => c === 32 || c === 10 || c === 13 || c === 9;

export interface ServerList {
  /** JSON text of the reply with the servers that were kept */
  readonly text: string;
  readonly servers: readonly unknown[];
  readonly leftOut: number;
}

class ListReader {
  readonly #keep: (server: unknown) => boolean;
  readonly #kept: string[] = [];
  readonly #servers: unknown[] = [];
  #leftOut = 0;
  #count = 0;
  /** the text before the list, then that behind it */
  readonly #rest = ['', ''];
  /** of the list: still to come, open, over */
  #list: 'before' | 'open' | 'over' = 'before';
  #depth = 0;
  /** the server that is being read */
  #open = '';
  #inServer = false;
  #inString = false;
  #escaped = false;
  /** where the last string of the outer object began, in the text before the list */
  #key = '';
  #inKey = false;
  #afterColon = false;

  constructor(keep: (server: unknown) => boolean) {
    this.#keep = keep;
  }

  take(text: string): void {
    // Beginning of what is not stored yet.
    let start = 0;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (c === BACKSLASH) this.#escaped = true;
        else if (c === QUOTE) this.#inString = this.#inKey = false;
        if (this.#inKey && this.#key.length <= LIST.length) this.#key += text[i];
        continue;
      }
      if (this.#list === 'open' && !this.#inServer) {
        if (c === CLOSE_LIST) {
          this.#depth--;
          this.#list = 'over';
          start = i;
        } else if (c === OPEN) {
          this.#inServer = true;
          this.#depth++;
          start = i;
        } else if (c !== COMMA && !isSpace(c))
          throw new UnfitList(`${LIST} holds something that is no object`);
        continue;
      }
      if (c === QUOTE) {
        this.#inString = true;
        if (this.#list === 'before' && this.#depth === 1 && !this.#afterColon) {
          this.#inKey = true;
          this.#key = '';
        }
      } else if (c === COLON) this.#afterColon ||= this.#depth === 1;
      else if (c === COMMA) this.#afterColon &&= this.#depth !== 1;
      else if (c === OPEN || c === OPEN_LIST) {
        const isList =
          c === OPEN_LIST &&
          this.#list === 'before' &&
          this.#depth === 1 &&
          this.#afterColon &&
          this.#key === LIST;
        if (++this.#depth > DEEPEST) throw new UnfitList(`it nests deeper than ${DEEPEST} levels`);
        if (isList) {
          this.#store(text.slice(start, i + 1));
          this.#list = 'open';
        }
      } else if (c === CLOSE || c === CLOSE_LIST) {
        this.#depth--;
        if (this.#inServer && this.#depth === 2) {
          this.#server(this.#open + text.slice(start, i + 1));
          this.#open = '';
          this.#inServer = false;
        }
      }
    }
    if (this.#inServer) {
      this.#open += text.slice(start);
      if (this.#open.length > LARGEST_SERVER) throw new UnfitList('a server has more than 64 KiB');
    } else if (this.#list !== 'open') this.#store(text.slice(start));
  }

  #store(text: string): void {
    const part = this.#list === 'before' ? 0 : 1;
    this.#rest[part] += text;
    if ((this.#rest[part]?.length ?? 0) > LARGEST_REST)
      throw new UnfitList('it has more than 256 KiB beside the servers');
  }

  #server(text: string): void {
    if (text.length > LARGEST_SERVER) throw new UnfitList('a server has more than 64 KiB');
    if (++this.#count > MOST_SERVERS) throw new UnfitList(`it has more than ${MOST_SERVERS} servers`);
    const server = parse(text);
    if (!this.#keep(server)) {
      this.#leftOut++;
      return;
    }
    this.#kept.push(text);
    this.#servers.push(server);
  }

  finish(): ServerList {
    const [before = '', behind = ''] = this.#rest;
    if (this.#list === 'before') {
      parse(before);
      throw new UnfitList(`it has no list ${LIST}`);
    }
    parse(before + behind);
    return {
      text: before + this.#kept.join(',') + behind,
      servers: this.#servers,
      leftOut: this.#leftOut,
    };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new UnfitList('it is not valid JSON', { cause });
  }
}

/** Resolves with the servers that `keep` returns true for. Rejects with UnfitList, or as the pieces do. */
export async function readServers(
  pieces: AsyncIterable<Uint8Array>,
  keep: (server: unknown) => boolean,
): Promise<ServerList> {
  const reader = new ListReader(keep);
  const decoder = new TextDecoder();
  const slice = new TimeSlice();
  for await (const piece of pieces) {
    // A decompressed piece may be large.
    for (let from = 0; from < piece.length; from += LARGEST_SERVER) {
      if (slice.isOver) await slice.next();
      reader.take(decoder.decode(piece.subarray(from, from + LARGEST_SERVER), { stream: true }));
    }
  }
  reader.take(decoder.decode());
  return reader.finish();
}
