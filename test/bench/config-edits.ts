// Edits of the template: an outbound and a rule come, change and go. How long until they are in force, and how much of it
// the core takes: it tests the config, converts what is new, and makes the change.
import type { BenchPanel } from './bench-panel.js';
import { middle, now, within } from './figures.js';
import { atMost, type Figure } from './report.js';

const TIMES = 10;
const MORE_MS = 100;
const BLOCKED_MS = 50;

interface Template {
  readonly outbounds: readonly object[];
  readonly routing: { readonly rules: readonly object[] };
}
const outbound = (port: number) => ({
  tag: 'bench',
  protocol: 'socks',
  settings: { servers: [{ address: '192.0.2.1', port }] },
});
const rule = (n: number) => ({ type: 'field', domain: [`full:bench${n}.example`], outboundTag: 'bench' });

export async function configEdits(bench: BenchPanel): Promise<Figure[]> {
  const { engineSetting } = await bench.api.get<{ engineSetting: string }>('/panel/api/engine/', {
    method: 'POST',
  });
  const first = JSON.parse(engineSetting) as Template;
  const withRules = (port: number, ...rules: object[]): Template => ({
    ...first,
    outbounds: [...first.outbounds, outbound(port)],
    routing: { ...first.routing, rules: [...first.routing.rules, ...rules] },
  });
  const edits: readonly (readonly [what: string, template: (n: number) => Template])[] = [
    ['an outbound and a rule come', (n) => withRules(1, rule(n))],
    ['a rule changes', (n) => withRules(1, rule(n + 1000))],
    ['an outbound changes', (n) => withRules(2, rule(n + 1000))],
    ['both go', () => first],
  ];
  const all = new Map<string, number[]>();
  const own = new Map<string, number[]>();
  let blocked = 0;
  for (let n = 0; n < TIMES; n++)
    for (const [what, template] of edits) {
      await bench.figures();
      const body = { engineSetting: template(n) };
      const begin = now();
      await bench.api.get('/panel/api/engine/update', { body });
      const end = now();
      const { spans, blockedMs } = await bench.figures();
      blocked = Math.max(blocked, blockedMs);
      all.set(what, [...(all.get(what) ?? []), end - begin]);
      own.set(what, [...(own.get(what) ?? []), end - begin - within(spans, begin, end)]);
    }
  return [
    ...edits.flatMap(([what]): Figure[] => [
      { what, value: middle(all.get(what) ?? []), unit: 'ms' },
      {
        what: `${what} … more than the core takes`,
        value: middle(own.get(what) ?? []),
        unit: 'ms',
        goal: atMost(MORE_MS, 'ms'),
      },
    ]),
    { what: 'blocked event loop, the most', value: blocked, unit: 'ms', goal: atMost(BLOCKED_MS, 'ms') },
  ];
}
