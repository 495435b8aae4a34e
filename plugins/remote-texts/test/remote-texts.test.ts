// Runs on every database in test:full.
// Settings with a URL: their texts come in the background, and the last good one stays.
import test from 'ava';
import nock from 'nock';
import { parse } from 'yaml';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';

const ORIGIN = 'https://rules.example';
const MINUTE = 60_000;
const clock = new FakeClock();
let panel: TestPanel;

/** What the source sends now, by path; and what it was asked. */
const texts = new Map<string, { status?: number; body?: string; etag?: string }>();
const asked: { path: string; tag: string | undefined }[] = [];

interface State {
  readonly setting: string;
  readonly fetchedAt: number;
  readonly triedAt: number;
  readonly error: string;
  readonly characters: number;
}
const set = (body: object) => panel.call('/panel/api/setting/update', { body });
const get = async (path: string) => fetch(panel.subscriptionUrl + path);
const states = () => panel.get<State[]>('/panel/api/setting/remoteTexts');
const stateOf = async (name: string) => (await states()).find(({ setting }) => setting === name);
const fetched = (name: string) =>
  until(async () => ((await stateOf(name))?.triedAt ?? 0) === clock.now(), `${name} is fetched`);
/** To the next run of the job. */
const wait = async (ms: number) => {
  clock.tick(ms);
  await panel.kernel.settled();
};
const boot = (dataDirectory?: string) =>
  TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });

test.before(async () => {
  nock(ORIGIN)
    .persist()
    .get(/.*/)
    .reply(function reply(path) {
      const [tag] = [this.req.headers['if-none-match']].flat();
      asked.push({ path, tag });
      const { status = 200, body = '', etag } = texts.get(path) ?? { status: 404 };
      return [status, body, etag === undefined ? {} : { etag }];
    });
  panel = await boot();
  const inbound = await panel.addInbound({ remark: 'in' });
  await panel.addClient('ann', [inbound], { subId: 'ann' });
  await set({
    ...{ subPath: '/s/', jsonPath: '/j/', altFormatPath: '/a/', subSingBoxPath: '/b/' },
    ...{ subJsonEnable: true, subAltEnable: true, subSingBoxEnable: true, subAltEnableRouting: true },
  });
});
test.after.always(async () => {
  await panel[Symbol.asyncDispose]();
  nock.cleanAll();
});

const header = async () => (await get('/s/ann')).headers.get('routing');
const rules = async () => (parse(await (await get('/a/ann')).text()) as { rules: string[] }).rules;

test.serial('a wrong URL is refused with the name of its setting', async (t) => {
  for (const name of ['subRoutingRules', 'subAltRules', 'subJsonRoutingRules', 'subSingBoxTemplate'])
    for (const url of ['https://', 'https://ann:pw@rules.example/x', `${ORIGIN}/${'x'.repeat(3000)}`]) {
      const { status, body } = await set({ [name]: url });
      t.is(status, 400, `${name} ${url}`);
      t.true(body.msg.includes(name), body.msg);
      t.notRegex(body.msg, /pw/);
    }
  t.deepEqual(await states(), []);
});

test.serial('the text is fetched at once after the setting, and a client program never waits', async (t) => {
  texts.set('/rules', {
    body: 'rules: ["DOMAIN,a.b,DIRECT"]\nexternal-controller: 0.0.0.0:9090',
    etag: '"1"',
  });
  t.is((await set({ subAltRules: `${ORIGIN}/rules` })).status, 200);
  await fetched('subAltRules');
  t.deepEqual(await rules(), ['DOMAIN,a.b,DIRECT', 'MATCH,PROXY']);
  t.notRegex(await (await get('/a/ann')).text(), /external-controller/, 'only what its owner may say');
  t.like(await stateOf('subAltRules'), { error: '', fetchedAt: clock.now() });
  t.notRegex(JSON.stringify(await states()), /rules\.example/);
});

test.serial('it comes again after ten minutes, and an unchanged one is not sent', async (t) => {
  asked.length = 0;
  await wait(9 * MINUTE);
  t.deepEqual(asked, []);
  texts.set('/rules', { status: 304 });
  await wait(MINUTE);
  await fetched('subAltRules');
  t.deepEqual(asked, [{ path: '/rules', tag: '"1"' }]);
  t.like(await stateOf('subAltRules'), { error: '', fetchedAt: clock.now() });
  t.deepEqual(await rules(), ['DOMAIN,a.b,DIRECT', 'MATCH,PROXY']);
  texts.set('/rules', { body: '- DOMAIN,c.d,DIRECT' });
  await wait(10 * MINUTE);
  await fetched('subAltRules');
  t.deepEqual(await rules(), ['DOMAIN,c.d,DIRECT', 'MATCH,PROXY']);
});

test.serial('a tag that is too long is not kept, also of a text that is here already', async (t) => {
  texts.set('/rules', { body: '- DOMAIN,c.d,DIRECT', etag: `"${'x'.repeat(4000)}"` });
  for (let i = 0; i < 2; i++) {
    asked.length = 0;
    await wait(10 * MINUTE);
    await fetched('subAltRules');
    t.deepEqual(asked, [{ path: '/rules', tag: undefined }]);
  }
});

test.serial('the last good text stays while the source is down or sends what cannot be used', async (t) => {
  const good = (await stateOf('subAltRules'))?.fetchedAt;
  for (const [reply, reason] of [
    [{ status: 500 }, /^the source answered 500$/],
    [{ body: 'DOMAIN,a.b,Nobody' }, /cannot be used: rules\[0\]: there is no proxy or group Nobody/],
    [{ body: `#${'x'.repeat(70_000)}` }, /65536|too (?:large|long|many)|more than/],
    [{ body: 'proxy-groups: [{name: g, type: select, use: [p]}]' }, /cannot be used: /],
  ] as const) {
    texts.set('/rules', reply);
    await wait(10 * MINUTE);
    await fetched('subAltRules');
    const { error = '', fetchedAt } = (await stateOf('subAltRules')) ?? {};
    t.regex(error, reason);
    t.is(fetchedAt, good);
    t.deepEqual(await rules(), ['DOMAIN,c.d,DIRECT', 'MATCH,PROXY']);
  }
  t.regex(panel.log.join('\n'), /the text of a setting was not fetched.*subAltRules/);
});

test.serial('after a failure the next try comes earlier', async (t) => {
  texts.set('/rules', { body: '- DOMAIN,e.f,DIRECT' });
  await wait(10 * MINUTE);
  await fetched('subAltRules');
  texts.set('/rules', { status: 500 });
  await wait(10 * MINUTE);
  await fetched('subAltRules');
  asked.length = 0;
  await wait(MINUTE);
  t.is(asked.length, 1);
  await wait(MINUTE);
  t.is(asked.length, 1);
  await wait(MINUTE);
  t.is(asked.length, 2);
});

test.serial('a profile in JSON becomes the header and the rules of documents', async (t) => {
  const profile = { Name: 'x', DirectSites: ['domain:a.example'] };
  texts.set('/profile', { body: JSON.stringify(profile, null, 2) });
  t.is(await header(), null);
  await set({ subRoutingRules: `${ORIGIN}/profile`, subJsonRoutingRules: `${ORIGIN}/profile` });
  await fetched('subRoutingRules');
  await fetched('subJsonRoutingRules');
  const link = `happ://routing/onadd/${Buffer.from(JSON.stringify(profile)).toString('base64')}`;
  t.is(await header(), link);
  const document = async () => (await get('/j/ann')).text();
  t.regex(await document(), /domain:a\.example/);
  texts.set('/profile', { body: 'happ://routing/onadd/eyJEaXJlY3RTaXRlcyI6WyJkb21haW46Yi5leGFtcGxlIl19' });
  await wait(10 * MINUTE);
  await fetched('subRoutingRules');
  t.is(await header(), 'happ://routing/onadd/eyJEaXJlY3RTaXRlcyI6WyJkb21haW46Yi5leGFtcGxlIl19');
  t.regex(await document(), /domain:b\.example/);
  texts.set('/profile', { body: 'vless://x\r\nX-Evil: 1' });
  await wait(10 * MINUTE);
  await fetched('subRoutingRules');
  t.regex((await stateOf('subRoutingRules'))?.error ?? '', /must be a routing profile/);
  t.regex((await header()) ?? '', /^happ:/);
});

test.serial('a template of sing-box may stand elsewhere', async (t) => {
  const outbounds = [{ type: 'selector', tag: 'mine', outbounds: ['{all}'] }];
  texts.set('/box', { body: JSON.stringify({ outbounds }) });
  t.regex(await (await get('/b/ann')).text(), /urltest/);
  await set({ subSingBoxTemplate: `${ORIGIN}/box` });
  await fetched('subSingBoxTemplate');
  t.regex(await (await get('/b/ann')).text(), /"mine"/);
});

test.serial('texts are there at once after a restart, and gone with their URL', async (t) => {
  const before = await header();
  await panel.stop();
  asked.length = 0;
  texts.clear();
  panel = await boot(panel.dataDirectory);
  t.is(await header(), before);
  await set({ subRoutingRules: `${ORIGIN}/other` });
  await fetched('subRoutingRules');
  t.is(await header(), null);
  t.like(await stateOf('subRoutingRules'), { error: 'the source answered 404', fetchedAt: 0 });
  await set({ subRoutingRules: 'happ://routing/off' });
  t.is(await header(), 'happ://routing/off');

  const document = async () => (await get('/j/ann')).text();
  t.regex(await document(), /domain:b\.example/);
  await set({ subJsonRoutingRules: '' });
  await wait(MINUTE);
  await set({ subJsonRoutingRules: `${ORIGIN}/profile` });
  await fetched('subJsonRoutingRules');
  t.like(await stateOf('subJsonRoutingRules'), { fetchedAt: 0, characters: 0 });
  t.notRegex(await document(), /domain:b\.example/);
});
