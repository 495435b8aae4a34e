// The plugin in a panel: its variables, and whose calls are whose.
import test from 'ava';
import { contribute, definePlugin, payload, route, shape, text } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { messageOf } from '../../../kernel/index.js';
import { Outgoing, type OutgoingAccess, OutgoingHosts } from '../contract.js';
import { serve } from './world.js';

/** A plugin that calls what it is told to; `declares` is false for one that forgot to say so. */
function caller(name: string, hosts: OutgoingAccess['hosts'], declares = true) {
  const access: OutgoingAccess = { hosts };
  return definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'Calls.',
    uses: { outgoing: Outgoing },
    contributes: () => (declares ? [contribute(OutgoingHosts, access)] : []),
    routes: ({ outgoing }) => [
      route({
        method: 'POST',
        path: `/panel/api/x/${name}/call`,
        doc: 'Calls.',
        body: shape({ url: text() }),
        reply: payload(shape({ answer: text() })),
        handle: async ({ body }) => ({
          answer: await outgoing
            .for(access)(body.url)
            .then((reply) => reply.text(), messageOf),
        }),
      }),
    ],
  });
}
const ask = async (panel: TestPanel, name: string, url: string): Promise<string> =>
  (await panel.get<{ answer: string }>(`/panel/api/x/${name}/call`, { method: 'POST', body: { url } }))
    .answer;

test('an entry of WEIR_OUTGOING_ALLOW is for one plugin or for all, and the panel itself is never called', async (t) => {
  const { url, port } = await serve(t, (_, response) => response.end('inside'));
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [
      caller('ada', ['127.0.0.1']),
      caller('bob', ['127.0.0.1']),
      caller('eve', ['127.0.0.1'], false),
    ],
    env: { WEIR_OUTGOING_ALLOW: `ada=127.0.0.1:${port}, [::1]` },
  });
  t.is(await ask(panel, 'ada', url), 'inside');
  t.regex(await ask(panel, 'bob', url), /add bob=127\.0\.0\.1:\d+ to WEIR_OUTGOING_ALLOW/);
  t.regex(await ask(panel, 'eve', url), /contribute it to OutgoingHosts/);
  for (const own of [panel.url, panel.subscriptionUrl])
    t.regex(await ask(panel, 'ada', own), /own listener|is not public|of this machine/);
  t.regex(await ask(panel, 'bob', `${panel.url}/?hidden`), /the panel's own listener panel/);
  t.false(panel.log.some((line) => line.includes('hidden')));
});

test('what is wrong with a variable is said at the start, without its password', async (t) => {
  for (const [env, expected] of [
    [{ WEIR_OUTGOING_ALLOW: 'example.com,a b' }, /WEIR_OUTGOING_ALLOW.*"a b" is not a valid host/s],
    [{ WEIR_OUTGOING_PROXY: 'ftp://ada:hidden@p' }, /WEIR_OUTGOING_PROXY.*socks5/s],
  ] as const) {
    const error = await t.throwsAsync(TestPanel.boot({ plugins: [new FakeEngine().plugin], env }));
    t.regex(error.message, expected);
    t.notRegex(error.message, /hidden/);
  }
});

test('leaves out a plugin with invalid hosts or limits', async (t) => {
  for (const access of [
    { hosts: ['a b'] },
    { hosts: 'example.com' },
    { hosts: ['*'] },
    { hosts: [], limits: { wholeMs: -1 } },
  ]) {
    const plugin = definePlugin({
      name: 'ada',
      version: '1.0.0',
      api: 1,
      about: 'Calls.',
      contributes: () => [contribute(OutgoingHosts, access as never)],
    });
    const boot = TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [plugin] });
    t.regex((await t.throwsAsync(boot)).message, /outgoing\/OutgoingHosts/);
  }
});
