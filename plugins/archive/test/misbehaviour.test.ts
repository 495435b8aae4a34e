// Plugins whose records cannot be archived: the plugin is named, and no archive looks whole that nobody could take in.
import test from 'ava';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { type ArchivePart, ArchiveParts } from '../contract.js';
import { API, archiveOf, boot, upload } from './archive-world.js';

const part = (change: object): ArchivePart => ({
  kind: 'acme',
  version: 1,
  about: 'Records of acme.',
  export: async function* () {
    yield [{ id: 1 }];
  },
  import: async () => undefined,
  ...change,
});
const acme = (change: object) =>
  definePlugin({
    name: 'acme',
    version: '1.0.0',
    api: 1,
    about: 'Has records.',
    contributes: () => [contribute(ArchiveParts, part(change))],
  });
const yields = (record: unknown) => ({
  export: async function* () {
    yield [record];
  },
});

for (const [name, record] of [
  ['undefined', undefined],
  ['null', null],
  ['a list', [1]],
  ['a text', 'x'],
  ['a date', new Date(0)],
  ['a function', () => 1],
] as const)
  test(`a record that is ${name} is no record`, async (t) => {
    await using panel = await boot({ outside: [acme(yields(record))] });
    const { status, body } = await panel.call(`${API}/export`);
    t.is(status, 503);
    t.regex(body.msg, /acme cannot be exported: record 1 is not an object/);
    t.regex(panel.faults.join('\n'), /^acme, export of acme/m);
  });

test('a plugin that fails while its records are counted is named', async (t) => {
  let isBroken = false;
  const fails = {
    export: async function* () {
      if (isBroken) throw new TypeError('a bug');
      yield [{ id: 1 }];
    },
  };
  await using panel = await boot({ outside: [acme(fails)] });
  const archive = await archiveOf(panel);
  isBroken = true;
  const { status, body } = await upload(panel, archive, { apply: 'true' });
  t.is(status, 503, body.msg);
  t.regex(body.msg, /acme cannot be exported: a bug/);
  t.regex(panel.faults.join('\n'), /^acme, export of acme/m);
});

test('a plugin that fails while records of a file are added up is named, before anything is taken', async (t) => {
  let isBroken = false;
  const adds = {
    sums: () => {
      if (isBroken) throw new TypeError('a bug');
      return { of: 1 };
    },
  };
  await using panel = await boot({ outside: [acme(adds)] });
  const archive = await archiveOf(panel);
  isBroken = true;
  const { status, body } = await upload(panel, archive, { apply: 'true' });
  t.is(status, 503, body.msg);
  t.is(body.msg, 'a record of the kind acme cannot be added up: a bug');
});

test('an order that is no list is refused at the start', async (t) => {
  await using panel = await boot({ outside: [acme({ after: 5 })], partial: true });
  const state = panel.kernel.plugins().find(({ name }) => name === 'acme');
  t.regex(JSON.stringify(state), /after of the kind acme must be a list of kinds/);
  t.true((await archiveOf(panel)).length > 0);
});
