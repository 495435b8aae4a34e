// Reading geodata files: what is in them, and what is wrong with them.
import test from 'ava';
import { ipFile, siteFile } from './dat.js';
import { all, place } from './geodata-folder.js';

test('both kinds of file are read, with types, attributes and addresses of both families', async (t) => {
  const { browser, put } = await place(t, {
    'geoip.dat': ipFile({ PRIVATE: ['10.0.0.0/8', 'fd00:0:0:0:0:0:0:0/8'], DE: ['192.0.2.0/24'], EMPTY: [] }),
    'mine.dat': siteFile({
      'CATEGORY-ADS': ['domain:ads.example @ads @cn', 'full:x.example', 'keyword:ad', 'regexp:^a'],
    }),
  });
  t.deepEqual(
    (await browser.categories('geoip.dat', all)).items.map(({ code, count }) => [code, count]),
    [
      ['DE', 1],
      ['EMPTY', 0],
      ['PRIVATE', 2],
    ],
  );
  t.deepEqual(
    (await browser.items('geoip.dat', 'private', all)).items.map(({ type, value }) => `${type} ${value}`),
    ['cidr 10.0.0.0/8', 'cidr fd00::/8'],
  );
  t.deepEqual(await browser.items('mine.dat', 'CATEGORY-ADS', all), {
    total: 4,
    items: [
      { type: 'domain', value: 'ads.example', attributes: ['ads', 'cn'] },
      { type: 'full', value: 'x.example', attributes: [] },
      { type: 'keyword', value: 'ad', attributes: [] },
      { type: 'regexp', value: '^a', attributes: [] },
    ],
  });
  t.like(await browser.items('mine.dat', 'CATEGORY-ADS', { q: 'EXAMPLE', offset: 1, limit: 1 }), {
    total: 2,
    items: [{ value: 'x.example' }],
  });
  t.deepEqual(
    (await browser.files()).map(({ name, kind, categories, problem }) => [name, kind, categories, problem]),
    [
      ['geoip.dat', 'ip', 3, ''],
      ['mine.dat', 'site', 1, ''],
    ],
  );
  await put('mine.dat', siteFile({ OTHER: ['full:y.example'] }));
  t.like(await browser.categories('mine.dat', all), { total: 1, items: [{ code: 'OTHER' }] });
});

test('a file that is damaged, cut off or something else is named with what is wrong', async (t) => {
  const whole = siteFile({ A: ['domain:a.example @x', 'full:b.example'], B: ['full:c.example'] });
  const { assets, put } = await place(t, {});
  const problem = async (content: Buffer | string): Promise<string> => {
    await put('x.dat', content);
    return (await assets.problem('x.dat', 'NOBODY', {})) ?? '';
  };
  t.is(await problem(whole), 'x.dat has no category NOBODY');
  for (let length = 0; length < whole.length; length++)
    t.regex(
      await problem(whole.subarray(0, length)),
      /^x\.dat (?:cannot be used: |has no category)/,
      String(length),
    );
  t.regex(await problem('<html>not found</html>'), /it is not a list of categories|cut off/);
  t.regex(await problem(''), /it has no category/);
  t.regex(await problem(Buffer.concat([whole, ipFile({ DE: ['192.0.2.0/24'] })])), /it mixes categories/);
  t.regex(
    await problem(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1])),
    /cannot be used/,
  );
  let refused = 0;
  for (let i = 0; i < 2000; i++) {
    const broken = Buffer.from(whole);
    broken[(i * 7919) % broken.length] = (i * 104729) % 256;
    if ((await problem(broken)).includes('cannot be used')) refused++;
  }
  t.true(refused > 200, String(refused));
});
