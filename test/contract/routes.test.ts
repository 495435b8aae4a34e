// Runs on every database.
// Every route of every plugin against its own declaration: it takes what it says that it takes, and refuses the rest by name.
import test, { type ExecutionContext } from 'ava';
import nock from 'nock';
import { inspect, type Schema, type ServedRoute } from '../../kernel/index.js';
import { bootWithoutCore } from '../harness/reference.js';
import type { TestPanel } from '../harness/panel.js';
import {
  boot,
  call,
  declaredOf,
  type Fields,
  harm,
  nameOf,
  sampleOf,
  type Sample,
  schemaOf,
  servedBy,
} from './samples.js';

/** Routes that would end the test itself, with the reason. */
const NOT_CALLED: ReadonlyMap<string, string> = new Map();

test.before(() => {
  // Examples name hosts elsewhere; no test may call them.
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
test.after.always(() => nock.restore());

test('every route says what it answers', async (t) => {
  await using panel = await bootWithoutCore();
  for (const served of servedBy(panel)) {
    const { reply, doc } = served.route;
    t.regex(doc, /^[A-Z][\s\S]*\.$/, `${nameOf(served)}: its doc is no sentence`);
    if (reply.kind === 'raw')
      t.false(
        reply.mediaType === '*/*' || reply.mediaType.includes('json'),
        `${nameOf(served)}: raw("${reply.mediaType}") says nothing of the reply; name the media type, and for JSON a schema with payload(…) or bare(…)`,
      );
    if (reply.kind === 'payload' || reply.kind === 'bare')
      t.not(
        Object.keys(schemaOf(reply.schema, nameOf(served))).length,
        0,
        `${nameOf(served)}: its reply may be anything; say what it is`,
      );
  }
});

/** POSTs that take no Idempotency-Key, with the reason. */
const NOT_REPEATED: ReadonlyMap<string, string> = new Map([
  ['POST /panel/api/clients/import', 'its body is a stream; a client that exists is skipped by its email'],
  ['POST /panel/api/server/importDB', 'it takes a file; a repetition restores the same rows again'],
  ['POST /panel/api/x/import/3x-ui', 'it takes a file; what is here already stays as it is'],
  ['POST /panel/api/x/archive/import', 'it takes a file; what is here already stays as it is'],
  ['POST /panel/api/x/passkeys/register/options', 'it stores nothing; a replay would not set its cookie'],
  ['POST /panel/api/x/openid/link', 'it stores nothing; a replay would not set its cookie'],
  ['POST /panel/api/x/subscription/preview', 'it stores nothing'],
]);

test('every POST of an admin takes an Idempotency-Key, and says so', async (t) => {
  await using panel = await boot();
  const served = servedBy(panel).filter(
    ({ route: { method, auth } }) => method === 'POST' && auth !== 'anyone',
  );
  t.true(served.length > 50);
  const without = served.filter(({ route }) => !route.idempotent).map(nameOf);
  t.deepEqual(
    without.sort(),
    [...NOT_REPEATED.keys()].sort(),
    'a POST that cannot be repeated creates twice when its reply is lost',
  );
});

/** Routes that create, with what counts their work. */
const CREATE = [
  'clients/add',
  'clients/groups/create',
  'inbounds/add',
  'hosts/add',
  'setting/apiTokens/create',
];
test('a POST that creates, repeated with its key, creates once', async (t) => {
  await using panel = await boot();
  const created = servedBy(panel).filter(
    ({ route, path }) =>
      route.idempotent && (CREATE.some((end) => path.endsWith(end)) || /create|add$|import$/i.test(path)),
  );
  t.true(created.length >= CREATE.length);
  for (const served of created) {
    const sample = sampleOf(served, false, declaredOf(served) !== undefined);
    const key = { 'Idempotency-Key': nameOf(served).replaceAll(' ', '-') };
    const first = await call(panel, served, sample, key);
    const again = await call(panel, served, sample, key);
    t.true(first.status < 500, `${nameOf(served)}: ${first.text}`);
    t.is(again.status, first.status, nameOf(served));
    if (first.status >= 400) continue;
    t.deepEqual(
      [again.text, again.headers.get('idempotency-replayed')],
      [first.text, 'true'],
      nameOf(served),
    );
  }
});

test('every route takes an example of its declaration', async (t) => {
  await using panel = await boot();
  const found = new Map<number, number>();
  for (const served of servedBy(panel).sort((a, b) => harm(a) - harm(b))) {
    const name = nameOf(served);
    const reason = NOT_CALLED.get(name);
    if (reason !== undefined) {
      t.log(`${name} is not called: ${reason}`);
      continue;
    }
    for (const whole of [false, true]) {
      const sample = sampleOf(served, whole);
      for (const part of ['params', 'query', 'body'] as const) {
        const schema = served.route[part];
        const result = schema ? inspect(schema, sample[part], { convert: part !== 'body' }) : {};
        t.false(
          'issues' in result,
          `${name}: its ${part} refuse ${JSON.stringify(sample[part])}, which their description takes: ${JSON.stringify(result)}`,
        );
      }
      let answer = await call(panel, served, sample);
      // An example may have ended the session.
      if (answer.status === 401 && served.route.auth !== 'anyone') {
        await panel.login();
        answer = await call(panel, served, sample);
      }
      found.set(answer.status, (found.get(answer.status) ?? 0) + 1);
      t.true(
        answer.status < 500 || answer.status === 502 || answer.status === 503,
        `${name} answers ${answer.status} to ${JSON.stringify(sample)}: ${answer.text.slice(0, 300)}\n${panel.log.filter((line) => line.includes('request failed')).at(-1) ?? ''}`,
      );
    }
  }
  t.log(
    `answers by status: ${[...found]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${count} × ${status}`)
      .join(', ')}`,
  );
  t.true((found.get(200) ?? 0) > 20, 'hardly a call succeeded');
});

/** What hardly any schema takes; the first that this one refuses for this field is sent. */
const WRONG: readonly unknown[] = [{ wrong: true }, ['wrong'], 'wrong', -1.5, true, null];
const WRONG_TEXTS: readonly string[] = ['wrong', '-1.5', '', '\u0000', 'x'.repeat(5000)];

/** The good value with something else in one place, for every place in it; `undefined` takes the place away. */
function* variants(
  good: unknown,
  wrong: readonly unknown[],
  at = '',
): Generator<{ field: string; values: unknown[] }> {
  if (typeof good !== 'object' || good === null) return;
  for (const [key, inner] of Object.entries(good)) {
    const field = at === '' ? key : `${at}.${key}`;
    const put = (value: unknown) =>
      Array.isArray(good)
        ? good.with(Number(key), value)
        : Object.fromEntries(
            Object.entries({ ...good, [key]: value }).filter(([, kept]) => kept !== undefined),
          );
    yield { field, values: wrong.map(put) };
    if (!Array.isArray(good)) yield { field, values: [put(undefined)] };
    for (const deeper of variants(inner, wrong, field))
      yield { field: deeper.field, values: deeper.values.map(put) };
  }
}

/** Of each place one broken copy, where the schema has something against any; and something that is no such value at all. */
function broken(
  schema: Schema,
  good: unknown,
  wrong: readonly unknown[],
  convert: boolean,
): { field: string; value: unknown }[] {
  const isRefused = (value: unknown) => 'issues' in inspect(schema, value, { convert });
  const whole = convert ? [] : [{ field: '', values: [{}, 'wrong', [], 1] }];
  return [...whole, ...variants(good, wrong)].flatMap(({ field, values }) => {
    const value = values.find(isRefused);
    return value === undefined ? [] : [{ field, value }];
  });
}

async function refuses(
  t: ExecutionContext,
  panel: TestPanel,
  served: ServedRoute,
  field: string,
  sample: Sample,
): Promise<void> {
  const answer = await call(panel, served, sample);
  const label = `${nameOf(served)} with a wrong ${field || 'body'}`;
  t.is(answer.status, 400, `${label} is answered with ${answer.status} ${answer.text.slice(0, 300)}`);
  const issue = answer.body.obj?.issues.find(
    ({ path }) => path === field || path.startsWith(`${field}.`) || field === '',
  );
  t.truthy(issue, `${label}: the reply does not name it: ${answer.text.slice(0, 300)}`);
  const spoken = field.replaceAll(/(?:^|\.)(\d+)(?=\.|$)/g, '[$1]');
  t.true(answer.body.msg.includes(spoken), `${label}: its message does not name it: ${answer.body.msg}`);
}

/** Why the example of a body cannot succeed on a fresh panel, and with what it is refused. */
const REFUSED: ReadonlyMap<string, readonly [status: number, code: string]> = new Map([
  ['POST /panel/api/access/recoveryCodes/renew', [422, 'ACCESS_TWO_FACTOR_OFF']],
  ['POST /panel/api/x/account/secondFactor', [403, 'ACCESS_WRONG_CODE']],
  ['POST /panel/api/x/account/secondFactor/del', [404, 'ACCESS_NO_SECOND_FACTOR']],
  // The test calls the panel by its address, where browsers have no passkeys.
  ['POST /panel/api/x/passkeys/register/options', [409, 'PASSKEYS_NEEDS_NAME']],
  ['POST /panel/api/x/passkeys/register', [409, 'PASSKEYS_NEEDS_NAME']],
  ['POST /panel/api/x/passkeys/login', [409, 'PASSKEYS_NEEDS_NAME']],
  ['POST /panel/api/x/openid/login', [409, 'OPENID_OFF']],
  ['POST /panel/api/x/openid/link', [409, 'OPENID_OFF']],
  ['POST /panel/api/x/passkeys/{id}/rename', [404, 'PASSKEYS_NOT_FOUND']],
  // There is no such file, and no such server: RFC 6761 reserves names that end with .example.
  ['POST /panel/api/server/getCertHash', [400, 'KEYGEN_CERTIFICATE']],
  ['POST /panel/api/server/getRemoteCertHash', [400, 'KEYGEN_SERVER']],
  // Without a core there is nothing to ask, and the template has no balancer.
  ['POST /panel/api/engine/routeTest', [503, 'OUTBOUNDS_NO_CORE']],
  ['POST /panel/api/engine/balancerOverride', [404, 'OUTBOUNDS_NO_BALANCER']],
  // The environment of this panel names the core.
  ['POST /panel/api/server/installEngine/{version}', [409, 'ENGINE_VERSIONS_PINNED']],
  // No package is installed here.
  ['POST /panel/api/server/updatePanel', [409, 'UPDATES_NOT_INSTALLED']],
  // No ban driver is chosen, so nobody is banned.
  ['POST /panel/api/x/ban-guard/ban', [409, 'BAN_GUARD_OFF']],
  ['POST /panel/api/x/ban-guard/unban', [404, 'BAN_GUARD_NOT_FOUND']],
  // No key of an account is stored.
  ['POST /panel/api/x/vpnprovider/apply', [409, 'VPNPROVIDER_NO_KEY']],
  // Nobody serves a list there either.
  ['POST /panel/api/engine/outbound-subs/parse', [422, 'OUTBOUND_SUBS_NOT_FETCHED']],
  // There is no server that could be a node, and no second authority.
  ['POST /panel/api/nodes/inbounds', [422, 'NODES_FAILED']],
  ['POST /panel/api/nodes/certFingerprint', [422, 'NODES_FAILED']],
  ['POST /panel/api/x/nodes/mtls/retire', [409, 'NODES_NOT_ROTATING']],
  ['POST /panel/api/x/node-sync/{id}/release', [409, 'NODE_SYNC_ALL_MODE']],
  // It takes a file, and this call has none.
  ['POST /panel/api/server/importDB', [415, 'KERNEL_UNSUPPORTED_BODY']],
  ['POST /panel/api/x/import/3x-ui', [415, 'KERNEL_UNSUPPORTED_BODY']],
  ['POST /panel/api/x/archive/import', [415, 'KERNEL_UNSUPPORTED_BODY']],
  // Nothing has made this backup.
  ['POST /panel/api/x/backup/verify/{name}', [404, 'BACKUP_UNKNOWN']],
  ['POST /panel/api/x/backup/delete/{name}', [404, 'BACKUP_UNKNOWN']],
  ['POST /panel/api/x/backup/restore/{name}', [404, 'BACKUP_UNKNOWN']],
  // No bot is connected.
  ['POST /panel/api/x/msg-bot/webhook/{secret}', [404, 'MSG_BOT_NO_WEBHOOK']],
  // No central has changed anything here.
  ['POST /panel/api/x/node/elsewhere', [404, 'NODE_AGENT_UNKNOWN_CENTRAL']],
  ['POST /panel/api/x/node/addresses', [404, 'NODE_AGENT_UNKNOWN_CENTRAL']],
  ['POST /panel/api/x/node/devices', [404, 'NODE_AGENT_UNKNOWN_CENTRAL']],
  ['POST /panel/api/x/node/usage/ack', [404, 'NODE_AGENT_UNKNOWN_CENTRAL']],
  ['POST /panel/api/x/node/centrals/release', [404, 'NODE_AGENT_UNKNOWN_CENTRAL']],
  ['POST /panel/api/x/node/leave', [404, 'NODE_AGENT_UNKNOWN_CENTRAL']],
  // The admin of this panel is a full one, and is in a row of a reseller already.
  ['POST /panel/api/x/resellers', [409, 'RESELLERS_ADMIN_TAKEN']],
  ['POST /panel/api/x/reseller/clients', [403, 'RESELLERS_NOT_RESELLER']],
  ['POST /panel/api/x/reseller/clients/{id}', [403, 'RESELLERS_NOT_RESELLER']],
  ['POST /panel/api/x/reseller/clients/{id}/renew', [403, 'RESELLERS_NOT_RESELLER']],
  ['POST /panel/api/x/group-clients/clients', [403, 'GROUP_ROLES_NO_ROLE']],
  ['POST /panel/api/x/group-clients/clients/{id}', [403, 'GROUP_ROLES_NO_ROLE']],
  ['POST /panel/api/x/group-clients/clients/{id}/renew', [403, 'GROUP_ROLES_NO_ROLE']],
  // Nothing here can start a panel in place of this one.
  ['POST /panel/api/system/plugins/{name}', [503, 'SYSTEM_NO_PROGRAM']],
]);

test('every body declares an example, which the panel takes', async (t) => {
  let panel = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  const withBody = servedBy(panel)
    .filter(({ route }) => route.body !== undefined)
    .sort((a, b) => harm(a) - harm(b));
  t.true(withBody.length > 25, 'hardly a route has a body');
  for (const served of withBody) {
    const name = nameOf(served);
    const body = declaredOf(served);
    if (body === undefined) {
      t.fail(`${name}: its body has no example; give its schema one with .example(…)`);
      continue;
    }
    const result = inspect(served.route.body as Schema, body);
    t.false('issues' in result, `${name}: its body refuses its example: ${JSON.stringify(result)}`);
    const [status, code] = REFUSED.get(name) ?? [200, undefined];
    let answer = await call(panel, served, sampleOf(served, false, true));
    // An example before this one may have changed what it names; a fresh panel decides.
    if (answer.status !== status || answer.body.code !== code) {
      await panel[Symbol.asyncDispose]();
      panel = await boot();
      answer = await call(panel, served, sampleOf(served, false, true));
    }
    t.is(answer.status, status, `${name} answers its example with ${answer.text.slice(0, 300)}`);
    t.is(answer.body.code, code, name);
  }
});

test('every route refuses a broken example and names the field', async (t) => {
  await using panel = await boot();
  let refusals = 0;
  const open: string[] = [];
  for (const served of servedBy(panel)) {
    const { params, query, files } = served.route;
    // The fields beside files arrive as texts of multipart/form-data.
    const body = files ? undefined : served.route.body;
    const good = sampleOf(served);
    let here = 0;
    for (const [part, schema, wrong] of [
      ['params', params, WRONG_TEXTS.filter((text) => text !== '')],
      ['query', query, WRONG_TEXTS],
      ['body', body, WRONG],
    ] as const) {
      if (!schema) continue;
      for (const { field, value } of broken(schema, good[part], wrong, part !== 'body')) {
        // A path cannot be asked for without its parameters.
        if (part === 'params' && Object.keys(value as Fields).length < Object.keys(good.params).length)
          continue;
        await refuses(t, panel, served, field, { ...good, [part]: value });
        here++;
      }
    }
    if (here === 0 && (params ?? query ?? body)) open.push(nameOf(served));
    refusals += here;
  }
  t.log(`${refusals} refusals; nothing to refuse: ${open.join(', ') || 'none'}`);
  t.true(refusals > 100, 'hardly a field was checked');
});
