// What saving an inbound costs, of the annotations of its schemas.
import test from 'ava';
import type { JsonSchema, Words } from '../page/forms/schema.js';
import { endsOf, type Plan, planOf, planOfRemoval, type Schemas } from '../page/inbounds/plan.js';

const priced = (change: NonNullable<Words['change']>, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  ...more,
  'x-weir': { change },
});
const schemas: Schemas = {
  protocols: {
    inbound: {
      properties: { enable: priced('replace'), remark: priced('none'), port: priced('replace') },
    },
    protocols: [
      {
        name: 'bird',
        title: 'Bird',
        runBy: 'core',
        streams: [],
        settings: {
          properties: {
            height: priced('replace'),
            song: priced('none'),
            dest: { ...priced('replace'), 'x-weir': { change: 'replace', aliasOf: 'height' } },
            nest: { type: 'object', properties: { for: priced('none'), on: priced('replace') } },
            unpriced: { type: 'string' },
          },
        },
      },
      { name: 'fish', title: 'Fish', runBy: 'program', streams: [], settings: { properties: {} } },
      { name: 'ox', title: 'Ox', streams: [], settings: { properties: { name: priced('core') } } },
    ],
  },
  transports: {
    networks: [
      { name: 'tcp', title: 'TCP', key: 'tcpSettings', settings: { properties: { a: priced('replace') } } },
    ],
    securities: [
      { name: 'tls', title: 'TLS', key: 'tlsSettings', settings: { properties: { f: priced('none') } } },
      { name: 'none', title: 'None', key: '', settings: null },
    ],
    sniffing: { properties: { enabled: priced('replace') } },
  },
};
const before = { enable: true, remark: 'a', port: 1, protocol: 'bird', settings: { song: 'x' } };
const is = (after: object, plan: Plan, from: object | undefined = before) =>
  [planOf(schemas, from as never, { ...from, ...after } as never), plan] as const;

test('an edit costs as much as its dearest field', (t) => {
  for (const [found, plan] of [
    is({}, 'none'),
    is({ remark: 'b' }, 'none'),
    is({ remark: 'b', port: 2 }, 'replace'),
    is({ settings: { song: 'y' } }, 'none'),
    is({ settings: { song: 'y', height: '1' } }, 'replace'),
    is({ settings: { song: 'x', dest: '1' } }, 'replace'),
    is({ settings: { song: 'x', nest: { for: '1' } } }, 'none'),
    is({ settings: { song: 'x', nest: { on: '1' } } }, 'replace'),
    is({ settings: { song: 'x', unpriced: '1' } }, 'replace'),
    is({ settings: { song: 'x', unknown: '1' } }, 'replace'),
    is({ settings: {} }, 'none'),
    is({ streamSettings: { tlsSettings: { f: '1' } } }, 'none'),
    is({ streamSettings: { tcpSettings: { a: '1' } } }, 'replace'),
    is({ streamSettings: { security: 'tls' } }, 'replace'),
    is({ sniffing: { enabled: 'x' } }, 'replace'),
    is({ odd: 1 }, 'replace'),
    is({ protocol: 'fish', settings: {} }, 'program'),
  ])
    t.is(found, plan);
});

test('what is off costs nothing, and what is switched off ends its connections', (t) => {
  const off = { ...before, enable: false };
  for (const [found, plan] of [
    is({ port: 2 }, 'idle', off),
    is({ enable: true }, 'add', off),
    is({ enable: false }, 'remove'),
  ])
    t.is(found, plan);
  t.is(planOf(schemas, undefined, before), 'add');
  t.is(planOf(schemas, undefined, off), 'idle');
  t.is(planOfRemoval(schemas, off), 'idle');
  t.is(planOfRemoval(schemas, before), 'remove');
});

test('the core restarts for an inbound that it does not let go of', (t) => {
  const ox = { enable: true, remark: 'a', port: 1, protocol: 'ox', settings: { name: 'a' } };
  for (const [found, plan] of [
    is({ settings: { name: 'b' } }, 'core', ox),
    is({ port: 2 }, 'core', ox),
    is({ protocol: 'bird', settings: {} }, 'core', ox),
    is({ enable: false }, 'core', ox),
    is({ remark: 'b' }, 'none', ox),
  ])
    t.is(found, plan);
  t.is(planOfRemoval(schemas, ox), 'core');
  t.deepEqual((['idle', 'none', 'add', 'replace', 'remove', 'program', 'core'] as const).map(endsOf), [
    'none',
    'none',
    'none',
    'some',
    'some',
    'some',
    'all',
  ]);
});
