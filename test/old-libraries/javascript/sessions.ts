// Login, logout, and what a program has to know before it.
import { ADMIN } from '../../harness/api.js';
import { type Checks, libraryFor, type World } from './world.js';

const sessionsOf = (world: World): Promise<unknown[]> => world.panel.get('/panel/api/access/sessions');
export const asks = async (world: World, cookie: string | null): Promise<number> =>
  (
    await world.panel.call('/panel/api/clients/list', {
      anonymous: true,
      headers: { cookie: cookie ?? 'none' },
    })
  ).status;

export const sessions: Checks = {
  login: async (t, world) => {
    const before = (await sessionsOf(world)).length;
    const library = libraryFor(world.panel);
    t.like(await library['login']?.(), { success: true });
    t.is((await sessionsOf(world)).length, before + 1);
    t.is(await asks(world, library.cookie), 200);
    const wrong = libraryFor(world.panel, { ...ADMIN, password: 'not the password' });
    await t.throwsAsync(async () => wrong['login']?.());
    t.is((await sessionsOf(world)).length, before + 1);
  },
  logout: async (t, world) => {
    const library = libraryFor(world.panel);
    await library['login']?.();
    const [before, { cookie }] = [(await sessionsOf(world)).length, library];
    await library['logout']?.();
    t.is((await sessionsOf(world)).length, before - 1);
    t.is(await asks(world, cookie), 401);
  },
  getTwoFactorEnable: async (t, world) => {
    t.is(await world.call('getTwoFactorEnable'), false);
  },
};
