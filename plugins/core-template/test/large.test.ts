// Large templates: what takes time or memory grows with them, not with their square.
import test from 'ava';
import type { JsonObject } from '../../engine/contract.js';
import { comparison } from '../comparison.js';
import { chainIssues } from '../outbound-chains.js';

const many = <T>(count: number, one: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => one(at));
const template = (rules: readonly JsonObject[]): JsonObject => ({ routing: { rules } });
const rule = (name: string): JsonObject => ({ outboundTag: 'direct', domain: [name] });
/** ms of CPU of a comparison, and its operations */
async function compared(from: JsonObject, to: JsonObject): Promise<{ ms: number; paths: string[] }> {
  // The library is loaded with the first one.
  await comparison({}, {});
  const before = process.cpuUsage();
  const operations = await comparison(from, to);
  const { user } = process.cpuUsage(before);
  return { ms: user / 1000, paths: operations.map(({ op, path }) => `${op} ${path}`) };
}

test('long lists that differ are compared as a whole, and a change in a long list by its entries', async (t) => {
  const names = many(60_000, (at) => `a${at}`);
  const listed = (domain: readonly string[]) => template([{ ruleTag: 'x', domain }]);
  const changed = await compared(
    listed(names),
    listed(names.map((name, at) => (at % 2 === 0 ? name : `b${at}`))),
  );
  t.deepEqual(changed.paths, ['replace /routing/rules/0/domain']);
  t.true(changed.ms < 2000, `${changed.ms} ms`);
  t.deepEqual((await compared(listed(names), listed(names.toSpliced(30_000, 1)))).paths, [
    'remove /routing/rules/0/domain/30000',
  ]);
  const rules = many(2000, (at) => rule(`a${at}`));
  const other = await compared(template(rules), template(many(2000, (at) => rule(`b${at}`))));
  t.deepEqual(other.paths, ['replace /routing/rules']);
  t.true(other.ms < 1000, `${other.ms} ms`);
  t.deepEqual((await compared(template(rules), template([rule('first'), ...rules]))).paths, [
    'add /routing/rules/0',
  ]);
});

test('a long chain of outbounds is followed once, and each of a circle is named', (t) => {
  const through = (at: number, tag: string): readonly [JsonObject, string] => [
    { tag: `o${at}`, streamSettings: { sockopt: { dialerProxy: tag } } },
    `outbounds.${at}`,
  ];
  const ways = (outbounds: readonly (readonly [JsonObject, string])[]) => ({
    outbounds,
    rules: [],
    balancers: [],
  });
  const chain = many(1000, (at) => through(at, `o${at + 1}`));
  const before = process.cpuUsage();
  t.deepEqual(chainIssues(ways(chain)), []);
  t.true(process.cpuUsage(before).user < 60_000);
  // 0 leads into the circle of 1, 2 and 3
  const circle = many(4, (at) => through(at, at === 3 ? 'o1' : `o${at + 1}`));
  t.deepEqual(
    chainIssues(ways(circle)).map(({ path }) => path),
    [1, 2, 3].map((at) => `outbounds.${at}.streamSettings.sockopt.dialerProxy`),
  );
});
