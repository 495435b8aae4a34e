import test from 'ava';
import nock from 'nock';
import { withDatabase } from '../harness/edit-database.js';
import { boot, call, declaredOf, harm, nameOf, sampleOf, servedBy } from './samples.js';

test.before(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
test.after.always(() => nock.restore());

test('probe', async (t) => {
  await using panel = await boot();
  const count = () =>
    withDatabase(panel.dataDirectory, async (sequelize) => {
      const [[row]] = (await sequelize.query('SELECT MAX(id) AS id FROM audit_changes')) as [{ id: number }[], unknown];
      return Number(row?.id ?? 0);
    });
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', { body: { name: 'probe' } });
  const bearer = { authorization: `Bearer ${token}` };
  for (const served of servedBy(panel).filter(({ path }) => !path.includes('apiTokens')).sort((a, b) => harm(a) - harm(b))) {
    const sample = sampleOf(served, false, declaredOf(served) !== undefined);
    const before = await count();
    const answer = await call(panel, served, sample, bearer, true);
    const after = await count();
    console.log(`${after > before ? 'REC ' : '--- '} ${answer.status} ${nameOf(served)} ${answer.status>299 ? answer.text.slice(0,120):''}`);
  }
  t.pass();
});
