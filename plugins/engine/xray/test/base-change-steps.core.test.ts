// The steps of a change, and what is undone after a failure, against an API in memory; the core's converter is real.
import test, { type ExecutionContext } from 'ava';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type BaseChange,
  CoreRefused,
  CoreUnreachable,
  type JsonObject,
  NeedsRestart,
} from '../../driver.js';
import { changeBase } from '../base-change.js';
import { EngineFolder } from '../folder.js';
import { type RouterConfig, type RoutingApi, textIn } from '../routing-api.js';
import { engineBinary } from './harness.js';

/** Outbounds in their order, of which the first added to none is the default; rules in their order. */
class Memory {
  readonly calls: string[] = [];
  readonly found = new Map<string, string>();
  default: string | undefined;
  rules: string[] = [];
  readonly pools = new Set<string>();
  /** thrown by the first call of this kind */
  failing: readonly [kind: string, error: Error] | undefined;

  #call(kind: string, detail: string): void {
    if (this.failing?.[0] === kind) {
      const [, error] = this.failing;
      this.failing = undefined;
      throw error;
    }
    this.calls.push(`${kind} ${detail}`);
  }
  async outbounds(): Promise<Map<string, Uint8Array>> {
    return new Map([...this.found].map(([tag, bytes]) => [tag, Buffer.from(bytes, 'hex')]));
  }
  async addOutbound(tag: string, bytes: Uint8Array): Promise<void> {
    this.#call('add', tag);
    if (this.found.has(tag)) throw new CoreRefused(`existing tag found: ${tag}`);
    this.found.set(tag, Buffer.from(bytes).toString('hex'));
    this.default ??= tag;
  }
  async removeOutbound(tag: string): Promise<void> {
    this.#call('remove', tag);
    this.found.delete(tag);
    if (this.default === tag) this.default = undefined;
  }
  async ruleTags(): Promise<string[]> {
    return [...this.rules];
  }
  async addRules({ rules, balancers }: RouterConfig): Promise<void> {
    const tags = rules.map((rule) => textIn(rule, 19));
    this.#call('rules', String(rules.length));
    if (rules.reduce((sum, { length }) => sum + length, 0) > 4 * 1024 * 1024) throw new Error('too large');
    if (tags.some((tag) => this.rules.includes(tag))) throw new CoreRefused('duplicate ruleTag');
    this.rules.push(...tags);
    for (const balancer of balancers) this.pools.add(textIn(balancer, 1));
  }
  async removeRule(tag: string): Promise<void> {
    this.#call('unrule', tag);
    this.rules = this.rules.filter((rule) => rule !== tag);
  }
  async hasBalancer(tag: string): Promise<boolean> {
    return this.pools.has(tag);
  }
  get state(): object {
    return { found: new Map(this.found), default: this.default, rules: [...this.rules] };
  }
}

const rule = (ruleTag: string, more: object = {}): JsonObject => ({
  type: 'field',
  port: '1',
  outboundTag: 'a',
  ruleTag,
  ...more,
});
const outbound = (tag: string, more: object = {}): JsonObject => ({ tag, protocol: 'freedom', ...more });
const FIRST = [outbound('a'), outbound('b')];

async function boot(t: ExecutionContext) {
  const directory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const folder = new EngineFolder(directory);
  await folder.prepare();
  const memory = new Memory();
  const api = memory as unknown as RoutingApi;
  const change = (
    outbounds: readonly JsonObject[],
    rules: readonly JsonObject[],
    more: Partial<BaseChange>,
  ): Promise<void> =>
    changeBase(
      { binary: engineBinary(), folder },
      api,
      { outbounds, rules, balancers: [] },
      {
        put: [],
        remove: [],
        rules: true,
        ...more,
      },
    );
  await change(FIRST, [rule('1'), rule('2'), rule('3')], { put: ['a', 'b'] });
  memory.calls.length = 0;
  return { memory, change };
}

test('new rules come before old ones go, and those from the end: what is first is in force all the time', async (t) => {
  const { memory, change } = await boot(t);
  await change([outbound('new'), ...FIRST], [rule('1'), rule('x', { outboundTag: 'new' }), rule('3')], {
    put: ['new'],
  });
  t.deepEqual(memory.calls, ['remove new', 'add new', 'rules 2', 'unrule 3', 'unrule 2']);
  t.deepEqual(memory.rules, ['1', 'x', '3~1']);
  await change([outbound('new'), ...FIRST], [rule('3'), rule('1')], {});
  t.deepEqual(memory.rules, ['3', '1~1'], 'the next free name');
});

test('what a failure leaves half done is undone, the last step first', async (t) => {
  const { memory, change } = await boot(t);
  const before = memory.state;
  const changed = [outbound('b', { sendThrough: '127.0.0.1' }), outbound('a'), outbound('c')];
  const another = { put: ['b', 'c'], previousFirst: 'a' };
  for (const kind of ['add', 'remove', 'rules']) {
    memory.failing = [kind, new CoreRefused('no')];
    await t.throwsAsync(change(changed, [rule('9')], another), { instanceOf: CoreRefused });
    t.deepEqual(memory.state, before, kind);
  }
  await change(changed, [rule('9')], another);
  t.is(memory.default, 'b');
  t.deepEqual(memory.rules, ['9']);
});

test('rules of a portion that came through go again when the next one is rejected', async (t) => {
  const { memory, change } = await boot(t);
  const large = (tag: string) =>
    rule(tag, { domain: Array.from({ length: 20_000 }, (_, at) => `full:${tag}${'x'.repeat(100)}${at}`) });
  await change(FIRST, [rule('1'), large('4'), large('5')], {});
  t.deepEqual(memory.calls, ['rules 1', 'rules 1', 'unrule 3', 'unrule 2'], 'below the limit of a message');
  const add = memory.addRules.bind(memory);
  let times = 0;
  memory.addRules = async (config) => {
    times += 1;
    if (times === 2) throw new CoreRefused('no');
    await add(config);
  };
  await t.throwsAsync(change(FIRST, [rule('1'), large('8'), large('9')], {}), { instanceOf: CoreRefused });
  t.false(
    memory.rules.some((tag) => tag.startsWith('8')),
    'no part of it stays',
  );
});

test('a core that does not answer is asked for nothing more', async (t) => {
  const { memory, change } = await boot(t);
  memory.failing = ['rules', new CoreUnreachable('no answer')];
  await t.throwsAsync(change([...FIRST, outbound('c')], [rule('9')], { put: ['c'] }), {
    instanceOf: CoreUnreachable,
  });
  t.deepEqual(memory.calls, ['remove c', 'add c']);
});

test('an outbound that is larger than a message asks for a restart and changes nothing', async (t) => {
  const { memory, change } = await boot(t);
  const servers = outbound('c', {
    protocol: 'wireguard',
    settings: {
      secretKey: 'aGVsbG9oZWxsb2hlbGxvaGVsbG9oZWxsb2hlbGxvaGU=',
      address: Array.from({ length: 250_000 }, (_, at) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}/32`),
      peers: [],
    },
  });
  await t.throwsAsync(change([...FIRST, servers], [rule('9')], { put: ['c'] }), { instanceOf: NeedsRestart });
  t.deepEqual(memory.calls, []);
});
