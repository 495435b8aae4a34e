// Which settings are shown, and what of them is sent.
import test from 'ava';
import {
  differs,
  movedPage,
  namesIn,
  type PluginSettings,
  rowsOf,
  sectionsOfRows,
  sentOf,
  settingOf,
  shownRows,
  typedAfter,
} from '../page/system/setting-fields.js';

const words = (order: number, section: string, more: object = {}) => ({ order, section, ...more });
const plugins: PluginSettings[] = [
  {
    name: 'mail',
    about: 'Sends mail.',
    settings: {
      properties: {
        mailOn: { type: 'boolean', default: false, 'x-weir': words(1, 'Mail') },
        mailHost: {
          type: 'string',
          default: '',
          description: 'server of mail',
          'x-weir': words(2, 'Mail', { when: { field: 'mailOn' } }),
        },
        mailPort: { type: 'integer', default: 25, 'x-weir': words(3, 'Mail', { level: 'advanced' }) },
        mailSecret: {
          type: 'string',
          'x-weir': words(4, 'Mail', { secret: true, flag: 'hasMailSecret', clear: 'clearMailSecret' }),
        },
        mailTo: { type: 'array', items: { type: 'string' }, default: [], 'x-weir': words(5, 'Reports') },
      },
    },
  },
  {
    name: 'bot',
    about: 'Writes to a chat.',
    settings: { properties: { botPath: { type: 'string', 'x-weir': words(1, 'Reports') } } },
  },
];
const rows = rowsOf(plugins);
const stored = { mailOn: false, mailHost: '', mailPort: 25, mailSecret: '', mailTo: ['a'], botPath: '/x/' };
const none = { search: '', extent: 'usual', values: stored, touched: new Set<string>() } as const;
const names = (looked: Partial<Parameters<typeof shownRows>[1]>) =>
  shownRows(rows, { ...none, ...looked }).map(({ field }) => field.name);

test('the usual settings are those that mean something and are not advanced', (t) => {
  t.deepEqual(names({}), ['mailOn', 'mailSecret', 'mailTo', 'botPath']);
  t.deepEqual(names({ extent: 'all' }), ['mailOn', 'mailPort', 'mailSecret', 'mailTo', 'botPath']);
  t.deepEqual(names({ extent: 'differing' }), ['mailTo']);
  t.deepEqual(names({ touched: new Set(['mailPort']) }).includes('mailPort'), true);
});

test('a search finds every setting by all of its words', (t) => {
  t.deepEqual(names({ search: ' SERVER mail ' }), ['mailHost']);
  t.deepEqual(names({ search: 'mailport' }), ['mailPort']);
  t.deepEqual(names({ search: 'nothing mail' }), []);
});

test('sections of two plugins with one title are apart', (t) => {
  t.deepEqual(
    sectionsOfRows(rows).map(({ title, plugin, rows: own }) => [title, plugin, own.length]),
    [
      ['Mail', 'mail', 4],
      ['Reports', 'bot', 1],
      ['Reports', 'mail', 1],
    ],
  );
});

test('what a search means by its name comes before what only mentions it', (t) => {
  const found = sectionsOfRows(
    rowsOf([
      ...plugins,
      {
        name: 'a',
        about: '',
        settings: { properties: { x: { description: 'path of it', 'x-weir': words(1, 'A') } } },
      },
    ]),
    'path',
  );
  t.deepEqual([found[0]?.plugin, found.at(-1)?.plugin], ['bot', 'mail']);
  t.is(found.findIndex(({ plugin }) => plugin === 'a') > 0, true);
});

test('a setting differs only from a default that is known', (t) => {
  t.deepEqual(
    rows.filter((row) => differs(row, stored)).map(({ field }) => field.name),
    ['mailTo'],
  );
});

test('only what differs is sent, and what was emptied is sent blank', (t) => {
  const typed = typedAfter(
    rows,
    { botPath: '/x/' },
    {
      before: stored,
      after: { ...stored, mailTo: undefined, mailPort: 26, mailSecret: 'hidden' },
    },
  );
  t.deepEqual(typed, { botPath: '/x/', mailTo: [], mailPort: 26 });
  const input = { stored, typed, secrets: {}, fixed: new Set<string>() };
  t.deepEqual(sentOf(rows, input), { mailTo: [], mailPort: 26 });
  t.deepEqual(sentOf(rows, { ...input, fixed: new Set(['mailPort']) }), { mailTo: [] });
});

test('a secret is sent when it was typed or cleared', (t) => {
  const sent = (text: string, isCleared: boolean) =>
    sentOf(rows, { stored, typed: {}, secrets: { mailSecret: { text, isCleared } }, fixed: new Set() });
  t.deepEqual(sent('', false), {});
  t.deepEqual(sent('new', false), { mailSecret: 'new' });
  t.deepEqual(sent('', true), { clearMailSecret: true });
  t.deepEqual([...namesIn(rows, { clearMailSecret: true, botPath: '/y/' })], ['mailSecret', 'botPath']);
});

test('an issue belongs to its setting, and a new base path moves the page', (t) => {
  t.deepEqual(['mailTo[0]', 'mailTo.0', 'mailTo'].map(settingOf), ['mailTo', 'mailTo', 'mailTo']);
  const page = new URL('https://panel.example.org/old/panel/');
  t.is(movedPage(page, '/old/', '/new/')?.href, 'https://panel.example.org/new/panel/');
  t.is(movedPage(page, '/other/', '/new/'), undefined);
});
