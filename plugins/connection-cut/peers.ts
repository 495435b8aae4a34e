// Index of connections by user: learnt from the core's log, confirmed by the Linux kernel's table.
import { addressIn, localPortIn, type SocketTable } from './socket-table.js';

const MAX_PEERS = 100_000;
const MAX_PEERS_OF_USER = 512;
const MAX_PROXIES = 10_000;

interface Entry {
  readonly key: string;
  /** the core's name of the user */
  readonly user: string;
  /** of the user's socket in the table; 0 before it was found there */
  inode: number;
  /** logged on this connection after `user`: its next owner, or a user who shares it */
  other: string | undefined;
  /** whether several users were logged on this socket; unless `no` it must not be closed */
  shared: 'no' | 'perhaps' | 'yes';
  absent: boolean;
  /** number of the table reading before which it was logged */
  readonly era: number;
}

export interface Bounds {
  readonly peers: number;
  readonly ofUser: number;
}

export class PeerIndex {
  readonly #bounds: Bounds;
  readonly #entries = new Map<string, Entry>();
  /** Lists, as most users have one: a set takes four times the memory. */
  readonly #byUser = new Map<string, Entry[]>();
  /** addresses from which users share connections */
  readonly #proxies = new Set<string>();
  #era = 0;

  constructor(bounds: Bounds = { peers: MAX_PEERS, ofUser: MAX_PEERS_OF_USER }) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#entries.size;
  }
  users(): string[] {
    return [...this.#byUser.keys()];
  }
  has(user: string): boolean {
    return this.#byUser.has(user);
  }
  localPorts(): Set<number> {
    const ports = new Set<number>();
    for (const key of this.#entries.keys()) ports.add(localPortIn(key));
    return ports;
  }

  logged(user: string, key: string): void {
    const known = this.#entries.get(key);
    if (known) {
      if (known.user !== user) known.other = user;
      return;
    }
    const own = this.#byUser.get(user);
    // The oldest is most likely closed by now.
    const surplus =
      own && own.length >= this.#bounds.ofUser
        ? own[0]
        : this.#entries.size >= this.#bounds.peers
          ? this.#entries.values().next().value
          : undefined;
    if (surplus) this.#drop(surplus);
    const entry: Entry = {
      key,
      user,
      inode: 0,
      other: undefined,
      shared: 'no',
      absent: false,
      era: this.#era,
    };
    this.#entries.set(key, entry);
    this.#own(entry);
  }

  /** Call it before the table is read: what is logged from here on may be newer than the table. */
  mark(): number {
    return (this.#era += 1);
  }

  /** Compares with a table that was read after this mark. Drops what is ambiguous: a connection that stays open does less harm than closing another user's. */
  settle(table: SocketTable, mark: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.era >= mark) continue;
      const inode = table.get(entry.key);
      if (inode === undefined) {
        // A table that changes while it is read may lack a row; the inode identifies a socket that was found before.
        if (entry.inode === 0 || entry.absent) this.#drop(entry);
        else entry.absent = true;
        continue;
      }
      entry.absent = false;
      this.#match(entry, inode);
    }
  }

  #match(entry: Entry, inode: number): void {
    const { other } = entry;
    entry.other = undefined;
    if (entry.inode === 0) {
      entry.inode = inode;
      if (other !== undefined) entry.shared = 'perhaps';
    } else if (entry.inode === inode) {
      if (entry.shared === 'yes') this.#noteProxy(addressIn(entry.key));
      else if (other !== undefined) entry.shared = 'yes';
    } else {
      this.#drop(entry);
      if (other === undefined) return;
      const next: Entry = { ...entry, user: other, inode, shared: 'no' };
      this.#entries.set(next.key, next);
      this.#own(next);
    }
  }

  /** Keys of the connections that only this user has, and that are open in this table. */
  of(user: string, table: SocketTable): string[] {
    const own = (this.#byUser.get(user) ?? []).filter(
      ({ key, inode, other, shared }) =>
        inode !== 0 && table.get(key) === inode && other === undefined && shared === 'no',
    );
    return own.map(({ key }) => key).filter((key) => !this.#proxies.has(addressIn(key)));
  }

  clear(): void {
    this.#entries.clear();
    this.#byUser.clear();
  }

  #own(entry: Entry): void {
    const own = this.#byUser.get(entry.user);
    if (own) own.push(entry);
    else this.#byUser.set(entry.user, [entry]);
  }

  #drop(entry: Entry): void {
    this.#entries.delete(entry.key);
    const own = this.#byUser.get(entry.user);
    if (!own) return;
    own.splice(own.indexOf(entry), 1);
    if (own.length === 0) this.#byUser.delete(entry.user);
  }

  #noteProxy(address: string): void {
    this.#proxies.delete(address);
    this.#proxies.add(address);
    if (this.#proxies.size > MAX_PROXIES) this.#proxies.delete(this.#proxies.values().next().value ?? '');
  }
}
