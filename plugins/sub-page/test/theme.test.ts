// A page of the admin's own: what it gets, and what keeps it from being shown.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

const clock = new FakeClock();
let panel: TestPanel;
let folder: string;
const set = (body: object) => panel.call('/panel/api/setting/update', { body });
const page = async (subId: string) => {
  const answer = await fetch(`${panel.subscriptionUrl}/s/${subId}?html=1`);
  return { policy: answer.headers.get('content-security-policy') ?? '', body: await answer.text() };
};
interface Data {
  readonly links: readonly string[];
  readonly sId: string;
  readonly subTitle: string;
}
const dataIn = (body: string): Data =>
  JSON.parse(/__SUB_PAGE_DATA__=(.*);<\/script>/.exec(body)?.[1] ?? '') as Data;

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-theme-'));
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock });
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound], { subId: 'ann' });
  await panel.addClient('off', [inbound], { subId: 'off', enable: false });
  await set({ subPath: '/s/', subTitle: '</script><b>' });
});
test.after.always(async () => {
  await panel[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test.serial('a folder without a page is refused with the name of the setting', async (t) => {
  await mkdir(join(folder, 'large'));
  await writeFile(join(folder, 'large', 'sub.html'), Buffer.alloc(1024 * 1024 + 1));
  await mkdir(join(folder, 'odd', 'sub.html'), { recursive: true });
  for (const [subThemeDir, reason] of [
    [folder, /has no sub\.html and no index\.html/],
    [join(folder, 'nowhere'), /has no sub\.html/],
    [join(folder, 'large'), /larger than 1024 KiB/],
    [join(folder, 'odd'), /is not a file/],
    ['relative', /an absolute path/],
  ] as const) {
    const { status, body } = await set({ subThemeDir });
    t.is(status, 400, subThemeDir);
    t.regex(body.msg, reason);
    t.regex(body.msg, /subThemeDir/);
  }
  t.regex((await page('ann')).body, /^<!doctype html>/);
});

test.serial('the page gets the values, and none of them breaks out', async (t) => {
  const text =
    '<html><head><title>{{ .subTitle }}</title></head><body>{{ sId }} {{ .nothing }}</body></html>';
  await writeFile(join(folder, 'index.html'), text);
  t.is((await set({ subThemeDir: folder })).status, 200);
  const { body, policy } = await page('ann');
  t.true(body.startsWith('<html><head><title>&lt;/script&gt;&lt;b&gt;</title><script>'), body);
  t.true(body.endsWith('</head><body>ann {{ .nothing }}</body></html>'), body);
  t.regex(policy, /default-src 'none'/);
  const data = dataIn(body);
  t.like(data, { sId: 'ann', subTitle: '</script><b>' });
  t.regex(data.links[0] ?? '', /^vless:/);
  t.deepEqual(dataIn((await page('off')).body).links, [], 'none where no link works');
});

test.serial('a changed file is shown within a minute, and without one the page of the panel', async (t) => {
  await writeFile(join(folder, 'sub.html'), 'mine');
  clock.tick(60_000);
  await panel.kernel.settled();
  t.regex((await page('ann')).body, /mine$/);
  await rm(join(folder, 'sub.html'));
  await rm(join(folder, 'index.html'));
  clock.tick(60_000);
  await panel.kernel.settled();
  t.regex((await page('ann')).body, /^<!doctype html>/);
  t.regex(panel.log.join('\n'), /the page of subThemeDir is not shown/);
  t.is((await set({ subThemeDir: '' })).status, 200);
});
