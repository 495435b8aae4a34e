import test from 'ava';
import { command } from '../index.js';
import { bare, World } from './world.js';

const says = (name: string) => command({ name, about: 'Says it.', run: ({ say }) => say(name) });
const offers = (plugin: string, ...names: string[]) =>
  bare(plugin, { essential: true, commands: () => names.map(says) });

test('lists the commands of all plugins, each with its plugin', async (t) => {
  await using world = await World.boot([offers('door', 'door open', 'door'), offers('bell', 'ring-2 twice')]);
  t.deepEqual(
    world.kernel.commands.map(({ name, owner }) => `${owner.name}: ${name}`),
    ['bell: ring-2 twice', 'door: door open', 'door: door'],
  );
});

test('rejects a command that two plugins offer', async (t) => {
  await t.throwsAsync(World.boot([offers('bell', 'ring'), offers('door', 'open', 'ring')]), {
    message: 'the command ring is declared by bell and by door',
  });
});

test('rejects a command name that is not words, and names the plugin', async (t) => {
  for (const name of ['', 'Open', 'open  it', 'open it ', '-open', '--help', 'open/it', 'öffne'])
    await t.throwsAsync(World.boot([offers('door', name)]), {
      message: `plugin door declares a command "${name}"; a name is words of lower-case letters, digits and hyphens`,
    });
});
