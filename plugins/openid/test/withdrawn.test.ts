// Links that end, and settings that change, between the proof of the provider and the session.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { ADMIN } from '../../../test/harness/panel.js';
import { beforeLogin } from '../../access/contract.js';
import { AT, troubleIn } from './visitor.js';
import { boot } from './world.js';

async function scene() {
  let act = async (): Promise<void> => undefined;
  const between = definePlugin({
    name: 'between',
    version: '1.0.0',
    api: 1,
    about: 'Acts between proof and session.',
    taps: () => [tap(beforeLogin, () => act())],
  });
  const world = await boot({ plugins: [between] });
  await world.admin.link(ADMIN.password);
  return {
    ...world,
    meanwhile: (work: () => Promise<void>): void => {
      act = async () => {
        act = async () => undefined;
        await work();
      };
    },
  };
}

test('a link that ends while its account logs in opens nothing', async (t) => {
  await using world = await scene();
  const { admin, meanwhile, visitor } = world;
  meanwhile(async () => {
    const { body } = await admin.call<{ id: string }[]>(`${AT}/links`);
    const ended = await admin.call(`${AT}/links/${body.obj[0]?.id}/del`, { method: 'POST' });
    t.is(ended.status, 200);
  });
  const late = visitor();
  t.is(troubleIn(await late.logIn()), 'ACCESS_LOGIN_REFUSED');
  t.is(await late.who(), undefined);
});

test('a way in that is turned off while somebody logs in opens nothing', async (t) => {
  await using world = await scene();
  const { meanwhile, set, visitor } = world;
  meanwhile(() => set({ openidEnable: false }));
  const late = visitor();
  t.is(troubleIn(await late.logIn()), 'ACCESS_LOGIN_REFUSED');
  t.is(await late.who(), undefined);
  await set({ openidEnable: true });
  await late.logIn();
  t.is(await late.who(), 'admin');
});
