// Every field of every form says where it stands, and the schemas are what they claim to be.
import test from 'ava';
import { bootWithoutCore } from '../../../test/harness/reference.js';
import type { TestPanel } from '../../../test/harness/index.js';
import {
  fieldsOf,
  type Form,
  inboundFormOf,
  isSchema,
  protocolsOf,
  settingsOf,
  transportsOf,
} from './forms.js';

let panel: TestPanel;
let forms: readonly (readonly [name: string, form: Form])[];
test.before(async () => {
  panel = await bootWithoutCore();
  const [protocols, transports, settings] = [
    await protocolsOf(panel),
    await transportsOf(panel),
    await settingsOf(panel),
  ];
  const { networks, securities, sockopt, finalmask, sniffing, streamSettings } = transports;
  forms = [
    ['an inbound', await inboundFormOf(panel)],
    ...protocols.flatMap(({ name, settings: own, credential }): (readonly [string, Form])[] => [
      [`settings of ${name}`, own],
      ...(credential ? ([[`credential of ${name}`, credential]] as const) : []),
    ]),
    ...networks.map(({ key, settings: own }) => [key, own] as const),
    ...securities.flatMap(({ key, settings: own }) => (own ? [[key, own] as const] : [])),
    ['sockopt', sockopt],
    ['finalmask', finalmask],
    ['sniffing', sniffing],
    ['streamSettings', streamSettings],
    ...settings.plugins.map(({ name, settings: own }) => [`settings of ${name}`, own] as const),
  ];
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

const LEVELS = ['basic', 'advanced'];
const CHANGES = ['none', 'replace', 'core', 'panel'];

test('every field has a title, a section, a level, its place, and what a change costs', (t) => {
  let count = 0;
  for (const [name, form] of forms)
    for (const [path, field] of fieldsOf(form)) {
      // Settings of a transport or a security within the whole stream: their own forms are walked.
      if (name === 'streamSettings' && /^\w+Settings/.test(path)) continue;
      const { section = '', level = '', order = 0, change } = field['x-weir'] ?? {};
      count++;
      t.not(section, '', `${path} of ${name} has no section`);
      t.true(LEVELS.includes(level), `${path} of ${name} has no level`);
      t.true(order > 0, `${path} of ${name} has no order`);
      t.regex(field.title ?? '', /^\S/, `${path} of ${name} has no title`);
      t.true(CHANGES.includes(change ?? ''), `${path} of ${name} does not say what a change costs`);
    }
  t.true(count > 450, `only ${count} fields`);
});

test('the orders of the fields of an object are 1, 2, 3, …, and conditions name fields beside them', (t) => {
  const look = (name: string, form: Form): void => {
    const fields = Object.entries(form.properties ?? {});
    t.deepEqual(
      fields.map(([, field]) => field['x-weir']?.order),
      fields.map((_, i) => i + 1),
      name,
    );
    for (const [key, field] of fields) {
      const { when, aliasOf } = field['x-weir'] ?? {};
      for (const other of [when?.field, aliasOf])
        if (other !== undefined) t.true(other in (form.properties ?? {}), `${key} of ${name}: ${other}`);
      look(`${name}.${key}`, field);
    }
  };
  for (const [name, form] of forms) look(name, form);
});

test('each schema is JSON Schema 2020-12', (t) => {
  for (const [name, form] of forms) {
    t.is((form as { $schema?: string }).$schema, 'https://json-schema.org/draft/2020-12/schema', name);
    t.true(isSchema(form), name);
  }
});

test('the log has no complaint about a part of a form', (t) => {
  t.deepEqual(
    panel.log.filter((line) => line.includes('a part of a form cannot be described')),
    [],
  );
});

test('a setting that needs a restart of the panel says so; others are in force at once', async (t) => {
  const changes = (await settingsOf(panel)).plugins.flatMap(({ settings }) =>
    Object.entries(settings.properties ?? {}).map(([name, field]) => [name, field['x-weir']?.change]),
  );
  t.like(Object.fromEntries(changes), { subPort: 'panel', bulkJobDays: 'none' });
});

test('settings name their secrets, and nothing secret or generated has a default', async (t) => {
  const secrets: string[] = [];
  for (const { settings } of (await settingsOf(panel)).plugins)
    for (const [name, field] of Object.entries(settings.properties ?? {})) {
      if (!field['x-weir']?.secret) continue;
      secrets.push(name);
      t.false('default' in field, name);
      t.true((field as { writeOnly?: boolean }).writeOnly, name);
    }
  const all = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  const flags = Object.keys(all).filter((name) => /^has[A-Z]/.test(name));
  t.is(secrets.length, flags.length);
  t.true(secrets.includes('smtpPassword'));
});
