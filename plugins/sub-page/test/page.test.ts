// The page as text: what it says in each language and state, and what it never says.
import { createHash } from 'node:crypto';
import test from 'ava';
import type { PageView } from '../../subscription/contract.js';
import { LANGUAGES } from '../languages.js';
import { writePage } from '../page.js';
import { FULL_PLACES, GB, link, links, NOW, sampleView, SOME_PLACES, URL_OF_ADA } from './sample-view.js';

const write = (view: PageView, lang?: string, languages: readonly string[] = []) =>
  writePage(view, { lang, languages, agent: '' });
const written = (view: PageView, lang?: string): string => write(view, lang).html;
/** What a reader sees, with one space between pieces. */
const words = (page: string): string =>
  page
    .replace(/<(style|script|title)>.*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
const header = (view: PageView, wanted: string): string =>
  write(view).headers.find(([name]) => name === wanted)?.[1] ?? '';

test('says usage, time, devices and announcement', (t) => {
  const seen = words(written(sampleView({ devices: SOME_PLACES })));
  for (const expected of [
    'Example VPN',
    'ada@example.org',
    'Active',
    '33.65 GB of 80 GB',
    'Left 46.35 GB',
    'Download 31.4 GB',
    'Upload 2.25 GB',
    'Expires December 4, 2026 at 1:00 PM in 12 days',
    'Last online November 22, 2026 at 9:00 AM 3 hours ago',
    'Devices 2 of 3',
    'Places left 1',
    'On Friday the servers in Germany are renewed.',
    'Support: https://t.me/example_support',
    'Apps update every 12 hours.',
  ])
    t.true(seen.includes(expected), `${expected} is not in ${seen}`);
});

test('says what is without limit, without end, and not yet known', (t) => {
  const seen = words(
    written(
      sampleView({
        status: {
          totalByte: 0,
          expire: 0,
          lastOnline: 0,
          announce: '',
          subSupportUrl: '',
          subUpdates: 1,
          subTitle: '',
        },
      }),
    ),
  );
  for (const expected of [
    'Subscription',
    'Left Unlimited',
    'Expires Never',
    'Last online Not yet',
    'every hour.',
  ])
    t.true(seen.includes(expected), `${expected} is not in ${seen}`);
  for (const absent of ['Announcement', 'Support', 'Devices']) t.false(seen.includes(absent), absent);
  t.true(words(written(sampleView({ status: { isOnline: true } }))).includes('Last online Online now'));
});

test('counts usage beyond the limit as all of it', (t) => {
  const page = written(sampleView({ state: 'depleted', status: { downloadByte: 100 * GB } }));
  t.true(page.includes('<progress max="100" value="100"'));
  t.true(words(page).includes('Left 0 byte'));
});

test('chooses the language: the query first, then what the browser accepts, then English', (t) => {
  const tagOf = (lang: string | undefined, languages: readonly string[]) =>
    /<html lang="([^"]*)" dir="([^"]*)"/
      .exec(write(sampleView(), lang, languages).html)
      ?.slice(1)
      .join(' ');
  t.is(tagOf('fa', ['ru']), 'fa rtl');
  t.is(tagOf('xx', ['de-DE', 'ru-RU', 'fa']), 'ru ltr');
  t.is(tagOf(undefined, ['AR-eg']), 'ar rtl');
  t.is(tagOf(undefined, ['zh-TW']), 'zh-Hans ltr');
  t.is(tagOf(undefined, ['de']), 'en ltr');
  t.is(tagOf('<script>', []), 'en ltr');
  t.is(write(sampleView(), 'fa').headers.find(([name]) => name === 'Content-Language')?.[1], 'fa');
});

test('each language has texts of its own', (t) => {
  const [english, ...others] = LANGUAGES.map(({ texts }) =>
    JSON.stringify(texts, (_, value) => (typeof value === 'function' ? value('1', '2') : value)),
  );
  const flat = (json = '{}') => Object.entries(JSON.parse(json) as Record<string, unknown>);
  for (const [i, other] of others.entries()) {
    const theirs = Object.fromEntries(flat(other));
    for (const [key, value] of flat(english)) {
      t.true(key in theirs);
      t.notDeepEqual(theirs[key], value, `${LANGUAGES[i + 1]?.key}: ${key}`);
    }
  }
});

test('writes dates of the Persian calendar where the setting says so, in every language', (t) => {
  const dates = Object.fromEntries(
    LANGUAGES.map(({ key }) => {
      const page = written(sampleView({ status: { datepicker: 'jalalian' } }), key);
      return [key, /<time datetime="2026-12-04T13:00:00.000Z">([^<]*)</.exec(page)?.[1] ?? ''];
    }),
  );
  t.regex(dates['fa'] ?? '', /۱۳ آذر ۱۴۰۵/);
  t.regex(dates['en'] ?? '', /Azar 13, 1405/);
  t.regex(dates['ru'] ?? '', /1405/);
  t.regex(dates['ar'] ?? '', /1405|١٤٠٥/);
  t.regex(dates['zh'] ?? '', /1405/);
  t.regex(written(sampleView(), 'fa'), /۴ دسامبر ۲۰۲۶/);
});

test('takes the day from the zone of the panel', (t) => {
  const status = { expire: Date.UTC(2026, 11, 4, 22) / 1000 };
  t.true(
    words(written(sampleView({ status, timeZone: 'Asia/Tehran' }))).includes('December 5, 2026 at 1:30 AM'),
  );
  t.true(words(written(sampleView({ status }))).includes('December 4, 2026 at 10:00 PM'));
});

test('says how long ago the end was', (t) => {
  const page = written(sampleView({ state: 'expired', links: [], status: { expire: NOW / 1000 - 5400 } }));
  t.true(words(page).includes('Expired November 22, 2026 at 10:30 AM 90 minutes ago'));
});

for (const state of ['expired', 'depleted', 'disabled'] as const)
  test(`gives no link and no address when ${state}, even where the server gives some`, (t) => {
    for (const { key, texts } of LANGUAGES) {
      const page = written(sampleView({ state }), key);
      t.true(words(page).includes(texts.states[state]));
      t.true(page.includes(texts.advice[state]));
      for (const absent of [
        URL_OF_ADA,
        'de0.example.com',
        'vless',
        '<svg class',
        '11111111-2222',
        'hiddify:',
      ])
        t.false(page.includes(absent), absent);
    }
  });

test('gives no link while a device limit acts, even where the server gives some', (t) => {
  for (const devices of [FULL_PLACES, SOME_PLACES]) {
    const page = written(sampleView({ devices }));
    for (const absent of ['de0.example.com', 'vless:', '11111111-2222'])
      t.false(page.includes(absent), absent);
    // The server asks each device that fetches this.
    t.true(page.includes(URL_OF_ADA));
  }
  t.true(words(written(sampleView({ devices: FULL_PLACES }))).includes('All places are taken.'));
});

test('writes texts of others as text', (t) => {
  const evil = `"'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;`;
  const page = written(
    sampleView({
      devices: undefined,
      urls: [
        { format: evil, url: `https://x/${evil}` },
        { format: 'links', url: `https://y/${evil}` },
      ],
      links: [{ name: evil, link: `vless://${evil}` }],
      status: {
        subTitle: evil,
        announce: evil,
        emails: [evil],
        subSupportUrl: `https://z/${evil}`,
        sId: evil,
      },
    }),
    evil,
  );
  t.is(page.split('<script>').length, 2);
  t.false(page.includes('<img'));
  t.false(/<[^>]* on[a-z]+=(?=[^"]*(?:"[^"]*"[^"]*)*>)/.test(page.replace(/="[^"]*"/g, '=""')));
  t.true(page.includes('&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;'));
});

test('links a support address only where its scheme is known', (t) => {
  const of = (subSupportUrl: string) => written(sampleView({ status: { subSupportUrl } }));
  for (const url of ['https://x.example/', 'tg://resolve?domain=x', 'mailto:a@b.example', 'tel:+1'])
    t.true(of(url).includes(`<a href="${url}"`), url);
  t.false(of('javascript:alert(1)').includes('href="javascript'));
  t.false(of(' javascript:alert(1)').includes('href=" javascript'));
  t.true(of('javascript:alert(1)').includes('<bdi>javascript:alert(1)</bdi>'));
});

test('its policy allows its own style and script and nothing else', (t) => {
  const page = written(sampleView());
  const policy = header(sampleView(), 'Content-Security-Policy');
  const hashOf = (element: string) => {
    const found = [...page.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))];
    t.is(found.length, 1);
    return `'sha256-${createHash('sha256')
      .update(found[0]?.[1] ?? '')
      .digest('base64')}'`;
  };
  t.true(policy.includes(`script-src ${hashOf('script')};`));
  t.true(policy.includes(`style-src ${hashOf('style')};`));
  t.true(policy.startsWith("default-src 'none';"));
  t.false(/unsafe|\*|https?:/.test(policy));
  t.false(/ style="| on[a-z]+="|<link rel="stylesheet|<(?:img|iframe|form|object)/.test(page));
});

test('asks the server for nothing more', (t) => {
  const loads = [...written(sampleView()).matchAll(/(?:src|<link[^>]* href)="([^"]*)"/g)].map(
    ([, url]) => url,
  );
  t.true(loads.length > 0 && loads.every((url) => url?.startsWith('data:')), loads.join(' '));
});

test('has less than 60 KiB whatever the number of servers, and counts those that do not fit', (t) => {
  for (const { key } of LANGUAGES)
    for (const count of [0, 3, 12, 40, 1000]) {
      const page = written(sampleView({ links: links(count) }), key);
      t.true(Buffer.byteLength(page) < 60 * 1024, `${key}, ${count}: ${Buffer.byteLength(page)}`);
      const shown = [...page.matchAll(/id="link\d+"/g)].length;
      if (count <= 40) t.is(shown, count);
      else {
        t.true(shown > 40 && shown < count);
        if (key === 'en')
          t.true(words(page).includes(`Further servers in the subscription: ${count - shown}`));
      }
    }
});

test('a server with a link that does not fit is counted, and those before it have their codes', (t) => {
  const huge = { name: 'huge', link: `${link(1)}${'x'.repeat(60_000)}` };
  const page = written(sampleView({ links: [...links(1), huge] }));
  t.true(Buffer.byteLength(page) < 60 * 1024);
  t.is([...page.matchAll(/id="link\d+"/g)].length, 1);
  t.true(words(page).includes('Further servers in the subscription: 1'));
  t.is([...page.matchAll(/<svg class="qr"/g)].length, 5);
});

test('has a code for each address, and for the first servers', (t) => {
  const page = written(sampleView());
  t.is([...page.matchAll(/<svg class="qr"/g)].length, 7);
  const long = { name: 'long', link: `${link(0)}${'x'.repeat(900)}` };
  t.is([...written(sampleView({ links: [long] })).matchAll(/<svg class="qr"/g)].length, 4);
});

test('the standard address is the first one, and open', (t) => {
  const page = written(sampleView());
  t.true(page.includes(`<details open><summary><bdi>For all apps</bdi></summary><div><code id="url0"`));
  t.true(page.includes(`>${URL_OF_ADA}</code>`));
  t.is([...page.matchAll(/<details open>/g)].length, 1);
});

test('says how long the time lasts where it begins with the first use', (t) => {
  const DAY = 86_400_000;
  const waiting = (timeFromFirstUse: number, lang = 'en') =>
    words(written(sampleView({ timeFromFirstUse, status: { expire: 0 } }), lang));
  t.regex(waiting(30 * DAY), /Expires 30 days, from the first use on/);
  t.regex(waiting(12 * 3_600_000), /Expires 12 hours, from the first use on/);
  t.regex(waiting(30 * DAY, 'ru'), /30 дней с первого использования/);
  for (const { key } of LANGUAGES) t.notRegex(waiting(30 * DAY, key), /Never|undefined/, key);
});

test('the programs of the system that asks are open and stand first', (t) => {
  const systems = (agent: string) =>
    [
      ...writePage(sampleView(), { lang: 'en', languages: [], agent }).html.matchAll(
        /data-system="(\w+)"( open)?/g,
      ),
    ].map(([, system, open = '']) => system + open);
  const phone = 'Mozilla/5.0 (Linux; Android 14) Chrome/126 Mobile';
  t.deepEqual(systems(phone).slice(0, 2), ['Android open', 'iOS']);
  const tablet = 'Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X)';
  t.deepEqual(systems(tablet).slice(0, 2), ['iOS open', 'Android']);
  t.is(systems('Mozilla/5.0 (Windows NT 10.0)')[0], 'Windows open');
  t.is(systems('Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15)')[0], 'macOS open');
  t.deepEqual(systems('curl/8').slice(0, 2), ['Android', 'iOS']);
});
