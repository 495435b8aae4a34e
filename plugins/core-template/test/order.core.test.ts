// Rules of plugins are asked before those of the template, whenever the plugin was added.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { connect, openPanel, openServer } from '../../../test/engine/user.js';
import { source, thirdParty, writeFiles } from '../../../test/outside/third-party.js';

test('a rule of a plugin, which is narrower, wins over one of the template; the template has the default', async (t) => {
  const [near, far] = [await openServer(t), await openServer(t)];
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const reference = await thirdParty(
    join(dataDirectory, 'packages'),
    'narrow',
    `import { composeCoreConfig } from '@weir-panel/weir/plugins/engine';\n${source(
      'narrow',
      `taps: () => [tap(composeCoreConfig, (add) => add(
         { outbound: { tag: 'way', protocol: 'freedom' } },
         { rule: { type: 'field', port: '${near.port}', outboundTag: 'way' } },
       ))]`,
      'tap',
    )}`,
  );
  await writeFiles(dataDirectory, { 'weir.json': { plugins: { [reference]: true } } });
  const panel = await openPanel(t, { dataDirectory });
  const inbound = await panel.addInbound();
  await panel.addClient('a', [inbound]);
  const [toNear, toFar] = [await connect(t, panel, 'a', near), await connect(t, panel, 'a', far)];
  t.true(await toFar.served());
  const answer = await panel.call('/panel/api/engine/update', {
    body: {
      engineSetting: {
        outbounds: [
          { tag: 'hole', protocol: 'blackhole' },
          { tag: 'direct', protocol: 'freedom' },
        ],
        routing: { rules: [{ type: 'field', network: 'tcp', outboundTag: 'hole' }] },
      },
    },
  });
  t.is(answer.status, 200, answer.text);
  t.true(await toNear.served(), 'the rule of the plugin');
  t.false(await toFar.served(), 'the rule of the template');
  const { routing } = await panel.get<{ routing: { rules: { outboundTag: string }[] } }>(
    '/panel/api/server/getConfigJson',
  );
  const tags = routing.rules.map(({ outboundTag }) => outboundTag);
  t.true(tags.indexOf('way') < tags.indexOf('hole'), tags.join(' '));
});
