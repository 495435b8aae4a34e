// A template over the API, on a real core, while a user downloads.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { connect, engineBinary, engineOf, MIB, openPanel, openServer } from '../../../test/engine/user.js';
import type { CorePanel } from '../../../test/engine/core-panel.js';
import type { CoreChange, JsonObject } from '../../engine/contract.js';

interface Template extends JsonObject {
  readonly outbounds: readonly JsonObject[];
  readonly routing: { readonly rules: readonly JsonObject[]; readonly balancers: readonly JsonObject[] };
}
const API = '/panel/api/engine';
const HISTORY = '/panel/api/x/core-template';
type Plan = CoreChange & { issues: { path: string }[]; notes: string[]; tested: boolean };

const read = async (panel: CorePanel): Promise<Template> =>
  JSON.parse(
    (await panel.get<{ engineSetting: string }>(`${API}/`, { method: 'POST' })).engineSetting,
  ) as Template;
const save = (panel: CorePanel, template: object) =>
  panel.call(`${API}/update`, { body: { engineSetting: JSON.stringify(template) } });
const planOf = (panel: CorePanel, template: object) =>
  panel.get<Plan>(`${API}/plan`, { body: { engineSetting: template } });
const withRules = (template: Template, ...rules: JsonObject[]): Template => ({
  ...template,
  routing: { ...template.routing, rules },
});

async function boot(t: ExecutionContext, env: Record<string, string> = {}) {
  const panel = await openPanel(t, { env });
  const [near, far] = [await openServer(t), await openServer(t)];
  const inbound = await panel.addInbound();
  await panel.addClient('a', [inbound]);
  const user = await connect(t, panel, 'a', near);
  const other = await connect(t, panel, 'a', far);
  return { panel, near, far, user, other };
}

test('an outbound and a rule are planned, in force, compared and brought back, and a download goes on', async (t) => {
  const { panel, far, user, other } = await boot(t);
  const core = await panel.corePid();
  const transfer = user.start(6 * MIB, MIB);
  const first = await read(panel);
  t.true(await other.served());

  const next: Template = {
    ...withRules(first, { type: 'field', port: String(far.port), outboundTag: 'hole' }),
    outbounds: [...first.outbounds, { tag: 'hole', protocol: 'blackhole' }],
  };
  t.like(await planOf(panel, next), {
    change: 'hot',
    outbounds: { put: ['hole'], remove: [] },
    rules: true,
    sections: [],
    connections: { end: 'none', inbounds: [], users: 0 },
    issues: [],
    tested: true,
  });
  t.true(await other.served(), 'a look changes nothing');
  t.like(await panel.get<CoreChange>(`${API}/plan`), { change: 'none' });
  const answer = await save(panel, next);
  t.is(answer.body.msg, 'the template is saved and in force');
  t.is(answer.body.obj, null);
  t.false(await other.served(), 'the rule is in force');
  t.deepEqual(await read(panel), next);
  t.like(await planOf(panel, next), { change: 'none' });

  const history = await panel.get<{ id: number; inForce: boolean; proved: boolean; author: string }[]>(
    `${HISTORY}/history`,
  );
  t.is(history.length, 1);
  t.like(history[0], { inForce: true, proved: true, author: 'admin' });
  const patch = await panel.get<{ op: string; path: string; value?: unknown }[]>(`${HISTORY}/compare?from=0`);
  t.deepEqual(patch.map(({ op, path }) => [op, path]).sort(), [
    ['add', '/outbounds/2'],
    ['add', '/routing/rules/0'],
  ]);
  await panel.get(`${HISTORY}/restore/0`, { method: 'POST' });
  t.true(await other.served(), 'the previous template is in force again');
  t.deepEqual(await read(panel), first);
  t.is((await panel.get<unknown[]>(`${HISTORY}/history`)).length, 2);
  t.true(transfer.soFar < 6 * MIB, 'the transfer ran all the while');
  t.is(await transfer.ended, 6 * MIB);
  t.is(await panel.corePid(), core);
});

test('another section says that it restarts the core and whom that costs a connection, and is in force', async (t) => {
  const { panel, user } = await boot(t);
  const core = await panel.corePid();
  const template = {
    ...(await read(panel)),
    observatory: { subjectSelector: ['direct'], probeURL: 'http://127.0.0.1:9/', probeInterval: '1h' },
  };
  t.like(await planOf(panel, template), {
    change: 'restart',
    sections: ['observatory'],
    connections: { end: 'all', inbounds: [], users: 0 },
  });
  t.is((await save(panel, template)).status, 200);
  t.not(await panel.corePid(), core);
  t.true(await user.served());
  t.deepEqual(
    Object.keys(await panel.get<object>('/panel/api/server/getConfigJson')).includes('observatory'),
    true,
  );
  const again = await save(panel, await read(panel));
  t.is(again.status, 200, 'the same template again changes nothing');
  t.is((await panel.get<unknown[]>(`${HISTORY}/history`)).length, 1);
});

test('what the core rejects is named by its place, and nothing is saved', async (t) => {
  const { panel, user } = await boot(t);
  const first = await read(panel);
  const cases: readonly [Template, string, RegExp][] = [
    [
      { ...first, outbounds: [...first.outbounds, { tag: 'odd', protocol: 'nonsense' }] },
      'engineSetting.outbounds.2',
      /nonsense/,
    ],
    [
      withRules(first, { port: '1', outboundTag: 'direct' }, { outboundTag: 'direct' }),
      'engineSetting.routing.rules.1',
      /no effective fields/,
    ],
    [
      withRules(first, { domain: ['geosite:cn'], outboundTag: 'direct' }),
      'engineSetting.routing.rules.0',
      /geosite/,
    ],
    [
      withRules(first, { port: '1', outboundTag: 'nowhere' }),
      'engineSetting.routing.rules.0',
      /no outbound has the tag "nowhere"; there are direct, blocked/,
    ],
    [
      { ...first, dns: { servers: [{ address: '1.1.1.1', domains: ['geosite:cn'] }] } },
      'engineSetting.dns.servers.0',
      /geosite/,
    ],
    [{ ...first, policy: { levels: { x: {} } } }, 'engineSetting.policy', /./],
  ];
  for (const [template, path, says] of cases) {
    const answer = await save(panel, template);
    t.is(answer.status, 422, path);
    const { issues } = answer.body.obj as unknown as { issues: { path: string; message: string }[] };
    t.deepEqual(
      issues.map((issue) => issue.path),
      [path],
    );
    t.regex(issues[0]?.message ?? '', says);
    t.deepEqual(
      (await planOf(panel, template)).issues.map((issue) => issue.path),
      [path],
    );
  }
  t.deepEqual(await read(panel), first);
  t.deepEqual(await panel.get(`${HISTORY}/history`), []);
  t.true(await user.served());
});

test('users do not reach this machine by a template: neither by a rule nor by a name', async (t) => {
  const { panel, user } = await boot(t, { WEIR_ENGINE_PRIVATE: 'block' });
  const first = await read(panel);
  t.false(await user.served(), 'the server is on loopback');
  const opened: Template = {
    ...withRules(first, { type: 'field', ip: ['127.0.0.0/8'], outboundTag: 'blocked' }),
    outbounds: [
      { tag: 'blocked', protocol: 'freedom' },
      { tag: 'direct', protocol: 'freedom' },
    ],
  };
  t.is((await save(panel, opened)).status, 200);
  t.false(await user.served(), 'what is called blocked opens nothing');
  const named = await save(panel, { ...first, dns: { hosts: { 'own.example': '127.0.0.1' } } });
  t.is(named.status, 422);
  t.regex(named.body.msg, /hosts\.own\.example: 127\.0\.0\.1 is not public/);
});

/** A core that accepts every template in a test, and does not run with the word `poison` in its config. */
async function pickyCore(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const script = join(folder, 'xray');
  await writeFile(
    script,
    `#!/bin/sh
for last; do :; done
case "$*" in
  "run -test"*) ;;
  run*) if grep -q poison "$last"; then echo 'Failed to start: it is poisoned'; exit 23; fi ;;
esac
exec '${engineBinary()}' "$@"
`,
  );
  await chmod(script, 0o755);
  return script;
}

test('when the core passes the test and does not start, the previous template comes back by itself', async (t) => {
  const { panel, user } = await boot(t, { WEIR_ENGINE_BIN: await pickyCore(t) });
  const first = await read(panel);
  const answer = await save(panel, { ...first, dns: { hosts: { 'poison.example': '203.0.113.1' } } });
  t.is(answer.status, 422, answer.text);
  t.is(answer.body.code, 'CORE_TEMPLATE_ROLLED_BACK', answer.text);
  t.regex(answer.body.msg, /it is poisoned/);
  await panel.until(async () => (await engineOf(panel)).state === 'running', 'the core runs again');
  t.deepEqual(await read(panel), first);
  t.true(await user.served());
  const [latest] = await panel.get<{ note: string; author: string }[]>(`${HISTORY}/history`);
  t.like(latest, { author: 'core-template' });
  t.regex(latest?.note ?? '', /the core did not run/);
});
