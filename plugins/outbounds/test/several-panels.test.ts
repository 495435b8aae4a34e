// The core of each of several panels follows overrides that others have set.
import test from 'ava';
import { Balancers } from '../balancers.js';

function panelOf(panels: { leads: boolean; hasOwnCore: boolean } | undefined) {
  const calls: string[] = [];
  const overrides = { changes: 0, all: new Map<string, string>() };
  const needs = {
    log: { warn: (message: string) => void calls.push(message) },
    overrides,
    coreRoutes: {
      balancers: async () => new Set(['pool', 'other']),
      override: async (tag: string, target: string) => {
        calls.push(`${tag}: ${target}`);
        return true;
      },
    },
    configured: { tags: async () => new Set(['direct']) },
    panels,
  };
  const balancers = new Balancers(needs as unknown as ConstructorParameters<typeof Balancers>[0]);
  return {
    balancers,
    set: (target: string) => {
      overrides.changes += 1;
      if (target === '') overrides.all.delete('pool');
      else overrides.all.set('pool', target);
    },
    follow: async () => {
      calls.length = 0;
      await balancers.followOthers();
      return [...calls];
    },
  };
}

test('the core follows once, whoever leads, and not when something else was changed', async (t) => {
  for (const leads of [true, false]) {
    const panel = panelOf({ leads, hasOwnCore: true });
    t.deepEqual(await panel.follow(), []);
    panel.set('direct');
    t.deepEqual(await panel.follow(), ['other: ', 'pool: direct']);
    t.deepEqual(await panel.follow(), [], 'nothing more is asked of the core');
    panel.set('');
    t.deepEqual(await panel.follow(), ['pool: ', 'other: ']);
    t.deepEqual(await panel.follow(), []);
  }
});

test('where another panel runs the only core, nothing is composed; it follows when it leads', async (t) => {
  const panels = { leads: false, hasOwnCore: false };
  const panel = panelOf(panels);
  panel.set('direct');
  t.deepEqual(await panel.follow(), []);
  panels.leads = true;
  t.deepEqual(await panel.follow(), ['other: ', 'pool: direct']);
});
