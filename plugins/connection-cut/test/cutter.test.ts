import test from 'ava';
import { createLog } from '../../../panel/log.js';
import type { AcceptedPeer, UserRef } from '../../engine/contract.js';
import type { Inbound } from '../../inbounds/contract.js';
import { spell } from '../address.js';
import { Cutter } from '../cutter.js';
import { OpenConnections } from '../open-connections.js';
import { socketKey, type SocketTable } from '../socket-table.js';

const keyOf = (address: string, port: number, localPort: number): string =>
  socketKey(spell(address) ?? '', port, localPort);
const user = (clientId: number, inboundId = 1): UserRef => ({ inboundId, clientId });

/** A machine with one core: who is connected, who may be, and what was ended. */
class World {
  readonly sockets = new Map<string, number>();
  readonly ended: string[][] = [];
  readonly gone = new Set<string>();
  readonly inbounds = new Map<number, Partial<Inbound>>([
    [1, { id: 1, port: 443, protocol: 'vless', streamSettings: {} }],
    [2, { id: 2, port: 444, protocol: 'hysteria', streamSettings: {} }],
  ]);
  readonly proxies = new Set<string>();
  readonly log: string[] = [];
  wanted = true;
  obstacle = '';
  reads = 0;
  trouble: Error | undefined;
  #hear: ((accepted: readonly AcceptedPeer[]) => void) | undefined;
  #lines: AcceptedPeer[] = [];
  #inode = 0;
  readonly cutter: Cutter;

  constructor(hasAccess = true) {
    const access = {
      admits: ({ inboundId, clientId }: UserRef) => !this.gone.has(`${inboundId}.${clientId}`),
      follow: (hear: (accepted: readonly AcceptedPeer[]) => void) => {
        this.#hear = hear;
        return () => (this.#hear = undefined);
      },
      catchUp: async () => this.readLog(),
    };
    this.cutter = new Cutter({
      log: createLog({ level: 'debug', readable: true, write: (line) => void this.log.push(line) }),
      access: hasAccess ? access : undefined,
      inbounds: { get: (id) => this.inbounds.get(id) as Inbound | undefined },
      settings: {
        read: () => ({ engineCutConnections: this.wanted }) as never,
      },
      listeners: { proxies: { trusts: (address: string) => this.proxies.has(address) } },
      sockets: {
        read: async (): Promise<SocketTable> => {
          this.reads += 1;
          return new Map(this.sockets);
        },
        close: async (keys) => {
          if (this.trouble) throw this.trouble;
          this.ended.push([...keys]);
          for (const key of keys) this.sockets.delete(key);
          return keys.length;
        },
        obstacle: async () => this.obstacle,
      },
    });
  }

  /** as the engine does by itself, about once a second */
  readLog(): void {
    this.#hear?.(this.#lines.splice(0));
  }
  connect(who: UserRef, port: number, { address = '192.0.2.1', localPort = 443 } = {}): string {
    const key = keyOf(address, port, localPort);
    if (!this.sockets.has(key)) this.sockets.set(key, (this.#inode += 1));
    this.#lines.push({ ...who, address, port });
    return key;
  }
  remove(...users: UserRef[]): Promise<void> {
    for (const { inboundId, clientId } of users) this.gone.add(`${inboundId}.${clientId}`);
    return this.cutter.removed(users);
  }
  said(text: string): number {
    return this.log.filter((line) => line.includes(text)).length;
  }
  describe(id = 1) {
    return this.cutter.describe(this.inbounds.get(id) as Inbound);
  }
}

async function started(world = new World()): Promise<World> {
  await world.cutter.start();
  return world;
}

test('a removed user loses all connections, in one call, and others keep theirs', async (t) => {
  const world = await started();
  const [a, b] = [world.connect(user(1), 5001), world.connect(user(1), 5002)];
  const other = world.connect(user(2), 5003);
  await world.remove(user(1));
  t.deepEqual(world.ended, [[a, b]]);
  t.deepEqual([...world.sockets.keys()], [other]);
  await world.cutter.tick();
  t.is(world.ended.length, 1, 'once');
  t.deepEqual(world.describe(), { end: true, reason: '', ended: 2, missed: 0 });
});

test('the removal of a user without connections reads no table', async (t) => {
  const world = await started();
  world.connect(user(2), 5003);
  await world.remove(user(1));
  t.is(world.reads, 0);
});

test('many removals at once share a few readings of the table', async (t) => {
  const world = await started();
  const users = Array.from({ length: 100 }, (_, i) => user(i + 1));
  for (const [i, one] of users.entries()) world.connect(one, 5000 + i);
  await Promise.all(users.map((one) => world.remove(one)));
  t.is(world.sockets.size, 0);
  t.true(world.reads <= 2, `${world.reads} looks`);
});

test('a user who is added again before the pass keeps the connection', async (t) => {
  const world = await started();
  world.connect(user(1), 5001);
  const removed = world.remove(user(1));
  world.gone.clear();
  await removed;
  t.deepEqual(world.ended, []);
});

test('the tick finds a line that comes late, and a removal without an event', async (t) => {
  const world = await started();
  await world.remove(user(1));
  const late = world.connect(user(1), 5001);
  world.gone.add('1.2');
  const untold = world.connect(user(2), 5002);
  await world.cutter.tick();
  t.deepEqual(world.ended, [[late, untold]]);
});

test('connections of proxies are never closed: port 0, a trusted address, a shared connection', async (t) => {
  const world = await started();
  world.proxies.add('198.51.100.1').add('2001:0db8:0000:0000:0000:0000:0000:0001');
  world.connect(user(1), 0);
  world.connect(user(1), 5001, { address: '198.51.100.1' });
  world.connect(user(1), 5001, { address: '2001:db8::1' });
  world.connect(user(1), 5002);
  world.connect(user(2), 5002);
  await world.remove(user(1));
  await world.cutter.tick();
  t.deepEqual(world.ended, []);
});

test('inbounds over UDP are left alone', async (t) => {
  const world = await started();
  world.connect(user(1, 2), 5001, { localPort: 444 });
  await world.remove(user(1, 2));
  await world.cutter.tick();
  t.deepEqual(world.ended, []);
  t.like(world.describe(2), {
    end: false,
    reason: 'it runs over UDP, where no connection can be closed alone',
  });
});

test('an inbound that moved to another port is followed there', async (t) => {
  const world = await started();
  world.connect(user(1), 5001);
  await world.cutter.tick();
  world.inbounds.set(1, { ...world.inbounds.get(1), port: 8443 });
  world.cutter.inboundChanged(1, true);
  world.connect(user(1), 5002, { localPort: 8443 });
  await world.remove(user(1));
  t.deepEqual(world.ended, [[keyOf('192.0.2.1', 5001, 443), keyOf('192.0.2.1', 5002, 8443)]]);
});

test('without the right, or without an engine that reports connections, nothing is tried and the reason is shown', async (t) => {
  const powerless = new World();
  powerless.obstacle = 'no right';
  const blind = new World(false);
  for (const [world, reason] of [
    [powerless, 'no right'],
    [blind, 'the engine does not report connections'],
  ] as const) {
    await started(world);
    world.connect(user(1), 5001);
    await world.remove(user(1));
    await world.cutter.tick();
    t.deepEqual([world.ended, world.reads], [[], 0]);
    t.deepEqual(world.describe(), { end: false, reason, ended: 0, missed: 0 });
    t.is(world.said(reason), 1);
  }
});

test('while the setting is off nothing is stored or closed', async (t) => {
  const world = await started();
  world.connect(user(2), 5002);
  world.readLog();
  world.wanted = false;
  world.connect(user(1), 5001);
  world.readLog();
  await world.cutter.tick();
  world.gone.add('1.2');
  await world.remove(user(1));
  t.like(world.describe(), { end: false, reason: 'the setting engineCutConnections is off' });
  world.wanted = true;
  await world.cutter.tick();
  t.deepEqual(world.ended, []);
});

test('a failed close is retried at each tick and logged once', async (t) => {
  const world = await started();
  const key = world.connect(user(1), 5001);
  world.trouble = new Error('no ss today');
  await world.remove(user(1));
  await world.cutter.tick();
  t.is(world.said('no ss today'), 1);
  world.trouble = undefined;
  await world.cutter.tick();
  t.deepEqual(world.ended, [[key]]);
});

test('a removed user who moves bytes after two polls is missed, counted at each poll and named once', async (t) => {
  const world = await started();
  await world.remove(user(1), user(2));
  const moving = [user(1), user(3)];
  world.cutter.counted(moving);
  world.cutter.counted(moving);
  t.is(world.describe().missed, 0);
  world.cutter.counted(moving);
  world.cutter.counted(moving);
  t.is(world.describe().missed, 2);
  t.is(world.said('i1.c1'), 1);
  world.gone.clear();
  world.cutter.counted(moving);
  t.is(world.describe().missed, 2, 'let in again');
});

test('an inbound says that the core logs no connections while bytes move, until it logs one', async (t) => {
  const world = await started();
  for (let poll = 0; poll < 3; poll += 1) {
    t.true(world.describe().end);
    world.connect(user(1), 5001, { address: '192.0.*.*' });
    world.readLog();
    world.cutter.counted([user(1)]);
  }
  t.regex(world.describe().reason, /access log/);
  world.connect(user(1), 0);
  world.readLog();
  for (let poll = 0; poll < 9; poll += 1) world.cutter.counted([user(1)]);
  t.true(world.describe().end, 'one long connection needs no new line');
  world.cutter.coreStarted();
  for (let poll = 0; poll < 3; poll += 1) world.cutter.counted([user(1)]);
  t.false(world.describe().end, 'another core, another log');
});

test('follows no connections after the plugin stopped', async (t) => {
  const world = await started();
  await world.cutter.stop();
  world.connect(user(1), 5001);
  await world.remove(user(1));
  t.deepEqual(world.ended, []);
});

test('single connections of users who stay can be closed, and only those', async (t) => {
  const world = await started();
  const open = new OpenConnections({ cutter: world.cutter });
  world.connect(user(1), 5001, { address: '192.0.2.1' });
  const second = world.connect(user(1), 5002, { address: '2001:db8::7' });
  const elsewhere = world.connect(user(1, 3), 5003, { address: '2001:db8::7' });
  world.connect(user(2), 5004, { address: '2001:db8::7' });
  world.connect(user(1), 5005, { address: '192.0.2.99' });
  world.proxies.add('192.0.2.99');
  world.inbounds.set(3, { id: 3, port: 443, protocol: 'vless', streamSettings: {} });
  const found = await open.of([user(1), user(1, 3)]);
  t.deepEqual(
    found.map(({ address, inboundId }) => [address, inboundId]),
    [
      ['192.0.2.1', 1],
      ['2001:db8::7', 1],
      ['2001:db8::7', 3],
    ],
    'not of others, nor of a proxy',
  );
  t.is(await open.close(found.filter(({ address }) => address === '2001:db8::7')), 2);
  t.deepEqual(world.ended, [[second, elsewhere]]);
  t.is(await open.close(found.filter(({ address }) => address === '2001:db8::7')), 0, 'they are closed');
});

test('a port that another connection uses by now is not closed', async (t) => {
  const world = await started();
  const open = new OpenConnections({ cutter: world.cutter });
  const key = world.connect(user(1), 5001);
  const found = await open.of([user(1)]);
  t.is(found.length, 1);
  world.sockets.set(key, 999);
  t.is(await open.close(found), 0);
  t.deepEqual(world.ended, []);
});

test('no connection of a user is known while closing is off or impossible', async (t) => {
  const world = await started();
  const open = new OpenConnections({ cutter: world.cutter });
  world.connect(user(1), 5001);
  const found = await open.of([user(1)]);
  world.wanted = false;
  t.deepEqual([await open.of([user(1)]), await open.close(found)], [[], 0]);
  const without = new World();
  without.obstacle = 'the panel lacks the right CAP_NET_ADMIN';
  await without.cutter.start();
  without.connect(user(1), 5001);
  t.deepEqual(await new OpenConnections({ cutter: without.cutter }).of([user(1)]), []);
});
