// Values that an API or an import may hold: what is refused names its field, and what is taken cannot add a secret or a line.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { MtprotoWorld } from './world.js';

const STAND_IN = fileURLToPath(new URL('./stand-in.js', import.meta.url));
const EVIL = 'a"\n[secrets]\n"i1.c9" = "ee00"\n';
/** each with the field that the refusal names; '' where it is taken */
const SETTINGS: readonly [object, string][] = [
  [{ fakeTlsDomain: EVIL }, 'settings.fakeTlsDomain'],
  [{ preferIp: EVIL }, 'settings.preferIp'],
  [{ publicIpv4: EVIL }, 'settings.publicIpv4'],
  [{ publicIpv6: EVIL }, 'settings.publicIpv6'],
  [{ domainFronting: { ip: EVIL } }, 'settings.domainFronting.ip'],
  [{ domainFronting: { port: '1\n2' } }, 'settings.domainFronting.port'],
  [{ domainFronting: { proxyProtocol: EVIL } }, 'settings.domainFronting.proxyProtocol'],
  [{ throttleMaxConnections: EVIL }, 'settings.throttleMaxConnections'],
  [{ throttleMaxConnections: -1 }, 'settings.throttleMaxConnections'],
  [{ debug: EVIL }, 'settings.debug'],
  [{ proxyProtocolListener: EVIL }, 'settings.proxyProtocolListener'],
  [{ routeThroughEngine: EVIL }, 'settings.routeThroughEngine'],
  [{ routeThroughEngine: true, outboundTag: EVIL }, ''],
  [{ routeThroughEngine: true, routeEnginePort: 1 }, ''],
  [{ [EVIL]: EVIL }, ''],
];

test('settings with line breaks are refused by name, or stay where they are', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-mtg-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const program = join(folder, 'mtg-multi');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${STAND_IN}' "$@"\n`);
  await chmod(program, 0o755);
  await using world = await MtprotoWorld.open(program);
  await world.running();
  const { panel, inboundId } = world;
  const path = join(panel.dataDirectory, 'processes', 'sidecars', `mtproto-in-${inboundId}`, 'mtg.toml');
  const inbound = await panel.get<{ settings: object }>(`/panel/api/inbounds/get/${inboundId}`);
  for (const [settings, field] of SETTINGS) {
    const before = await readFile(path, 'utf8');
    const body = { ...inbound, settings: { ...inbound.settings, ...settings } };
    const answer = await panel.call(`/panel/api/inbounds/update/${inboundId}`, { body });
    t.is(answer.body.success, field === '', `${JSON.stringify(settings)}: ${answer.body.msg}`);
    t.true(answer.body.msg.includes(field), answer.body.msg);
    const text = await readFile(path, 'utf8');
    if (field !== '') t.is(text, before);
    t.deepEqual(text.split('\n').filter((line) => line.startsWith('["secrets"]')).length, 1);
    t.false(text.includes('i1.c9'));
  }
  const { body } = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'ann', adTag: EVIL, secret: EVIL }, inboundIds: [inboundId] },
  });
  await world.running();
  const { ports } = await world.status();
  const reply = await fetch(`http://127.0.0.1:${ports['api']}/calls`);
  const { secrets } = (await reply.json()) as { secrets: [string, { secret: string; ad_tag?: string }][] };
  for (const [name, { secret, ad_tag: tag }] of secrets) {
    t.regex(name, /^(?:nobody|i\d+\.c\d+)$/, body.msg);
    t.regex(secret, /^ee[0-9a-f]+$/);
    t.is(tag, undefined);
  }
});
