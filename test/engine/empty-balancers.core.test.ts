// A balancer that chooses from no outbound blocks what it takes, with strategies that observe outbounds and with others; an
// override still applies.
import test from 'ava';
import { connect, openPanel, openServer } from './user.js';

const ENGINE = '/panel/api/engine';
const OBSERVED = {
  subjectSelector: ['direct'],
  pingConfig: { destination: 'http://127.0.0.1:9/', interval: '1h', sampling: 1, timeout: '1s' },
};

test('nothing leaves by a balancer without outbounds, whatever its strategy; an override does', async (t) => {
  const panel = await openPanel(t);
  const server = await openServer(t);
  await panel.addClient('ann', [await panel.addInbound()]);
  const ann = await connect(t, panel, 'ann', server);
  const { engineSetting } = await panel.get<{ engineSetting: string }>(`${ENGINE}/`, { method: 'POST' });
  const template = JSON.parse(engineSetting) as object;
  for (const type of ['roundRobin', 'leastLoad']) {
    const answer = await panel.call(`${ENGINE}/update`, {
      body: {
        engineSetting: {
          ...template,
          burstObservatory: OBSERVED,
          routing: {
            balancers: [{ tag: 'pool', selector: ['gone-'], strategy: { type } }],
            rules: [{ port: String(server.port), balancerTag: 'pool' }],
          },
        },
      },
    });
    t.is(answer.status, 200, answer.text);
    t.false(await ann.served(), type);
    const override = (target: string) =>
      panel.get(`${ENGINE}/balancerOverride`, { body: { tag: 'pool', target } });
    await override('direct');
    t.true(await ann.served(), `${type}, overridden`);
    await override('');
  }
});
