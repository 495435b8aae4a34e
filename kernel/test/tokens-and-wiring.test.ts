import test from 'ava';
import {
  column,
  definePlugin,
  contribute,
  extensionPoint,
  maybe,
  message,
  type Plugin,
  provide,
  route,
  singleton,
  table,
  token,
} from '../index.js';
import { PluginError } from '../plugin/error.js';
import { bare, World } from './world.js';

interface Counter {
  count(): number;
}
const Count = token<Counter>('counter', 'Count');
const Labels = extensionPoint<string>('shelf', 'Labels');

class Tally implements Counter {
  #counted = 0;
  count(): number {
    return ++this.#counted;
  }
}
const counter = (rest: Partial<Plugin> = {}): Plugin => ({
  ...definePlugin({
    name: 'counter',
    version: '1.0.0',
    api: 1,
    about: 'Counts.',
    services: { tally: singleton(Tally) },
    provides: ({ tally }) => [provide(Count, tally)],
  }),
  ...rest,
});
const refusedBoot = async (...plugins: Plugin[]): Promise<Error> => {
  try {
    await (await World.boot(plugins))[Symbol.asyncDispose]();
  } catch (error) {
    return error as Error;
  }
  throw new Error('the boot went through');
};

test('each plugin has its own container: services with one name are different objects, built once', async (t) => {
  const built: { plugin: string; tally: Tally; again: Tally }[] = [];
  class Pair {
    readonly tally: Tally;
    constructor({ tally }: { tally: Tally }) {
      this.tally = tally;
    }
  }
  const twin = (name: string) =>
    definePlugin({
      name,
      version: '1.0.0',
      api: 1,
      about: 'x',
      services: { tally: singleton(Tally), pair: singleton(Pair) },
      start: ({ tally, pair }) => void built.push({ plugin: name, tally, again: pair.tally }),
    });
  await using _ = await World.boot([twin('one'), twin('two')]);
  const [one, two] = built;
  t.is(one?.tally, one?.again);
  t.is(two?.tally, two?.again);
  t.not(one?.tally, two?.tally);
});

test('a plugin gets a used token behind a facade, under the name it chose', async (t) => {
  const seen: Counter[] = [];
  await using _ = await World.boot([
    counter(),
    definePlugin({
      name: 'user',
      version: '1.0.0',
      api: 1,
      about: 'x',
      uses: { numbers: Count },
      start: ({ numbers }) => void seen.push(numbers),
    }),
    definePlugin({
      name: 'other',
      version: '1.0.0',
      api: 1,
      about: 'x',
      uses: { numbers: Count },
      start: ({ numbers }) => void seen.push(numbers),
    }),
  ]);
  t.deepEqual(
    seen.map((numbers) => numbers.count()),
    [1, 2],
  );
  t.false(seen[0] === undefined || Object.is(seen[0].constructor, undefined));
  // A method keeps its object when it is passed on.
  const { count } = seen[0] as Counter;
  t.is(count(), 3);
  // It can be looked at, and not be changed.
  t.true('count' in (seen[0] as Counter));
  t.false(Reflect.set(seen[0] as Counter, 'count', () => 0));
  t.is(seen[1]?.count(), 4);
});

test('an optional token is undefined if it is absent', async (t) => {
  const seen: unknown[] = [];
  const user = definePlugin({
    name: 'user',
    version: '1.0.0',
    api: 1,
    about: 'x',
    uses: { numbers: maybe(Count) },
    start: ({ numbers }) => void seen.push(numbers?.count()),
  });
  await (await World.boot([user]))[Symbol.asyncDispose]();
  await (await World.boot([user, counter()]))[Symbol.asyncDispose]();
  t.deepEqual(seen, [undefined, 1]);
});

test('names a token that its owner does not provide, and its users', async (t) => {
  const user = definePlugin({ name: 'user', version: '1.0.0', api: 1, about: 'x', uses: { numbers: Count } });
  const error = await refusedBoot(counter({ provides: () => [] }), user);
  t.true(error instanceof PluginError);
  t.is(error.message, 'plugin user needs counter/Count, but counter does not provide it');
});

test('names all missing tokens of a plugin at once', async (t) => {
  const user = definePlugin({
    name: 'user',
    version: '1.0.0',
    api: 1,
    about: 'x',
    uses: { numbers: Count, sizes: token('counter', 'Sizes'), labels: maybe(token('counter', 'Labels')) },
  });
  const error = await refusedBoot(counter({ provides: () => [] }), user);
  t.is(
    error.message,
    'plugin user needs counter/Count, but counter does not provide it; and counter/Sizes, but counter does not provide it',
  );
});

test('rejects a token with another number, and names both numbers', async (t) => {
  const user = definePlugin({
    name: 'user',
    version: '1.0.0',
    api: 1,
    about: 'x',
    uses: { numbers: token<Counter>('counter', 'Count', 2) },
  });
  const error = await refusedBoot(counter(), user);
  t.true(error instanceof PluginError);
  t.regex(
    error.message,
    /plugin user was written for number 2 of counter\/Count, but counter provides number 1/,
  );
});

test('identifies a token by its name: a second copy of a contract works', async (t) => {
  const seen: number[] = [];
  await using _ = await World.boot([
    counter(),
    definePlugin({
      name: 'user',
      version: '1.0.0',
      api: 1,
      about: 'x',
      uses: { numbers: token<Counter>('counter', 'Count') },
      start: ({ numbers }) => void seen.push(numbers.count()),
    }),
  ]);
  t.deepEqual(seen, [1]);
});

test('a plugin provides only its own tokens, each once', async (t) => {
  const thief = bare('thief', { provides: () => [provide(Count, new Tally())] });
  t.is((await refusedBoot(thief)).message, 'plugin thief provides counter/Count, a token of another plugin');
  t.is(
    (
      await refusedBoot(
        counter({ provides: () => [provide(Count, new Tally()), provide(Count, new Tally())] }),
      )
    ).message,
    'plugin counter provides counter/Count twice',
  );
});

test('rejects a service or a use whose name is taken', async (t) => {
  const named = (rest: object) => ({ ...counter(), ...rest }) as Plugin;
  t.is(
    (await refusedBoot(named({ services: { log: singleton(Tally) } }))).message,
    'plugin counter has a service "log"; the kernel or its uses already provide that name',
  );
  t.is(
    (
      await refusedBoot(
        named({ services: { log2: singleton(Tally) }, uses: { db: token('kernel', 'sessions') } }),
      )
    ).message,
    'plugin counter has "db" in its uses; the kernel already provides that name',
  );
  const user = {
    ...bare('user'),
    uses: { numbers: Count },
    services: { numbers: singleton(Tally) },
  } as Plugin;
  t.regex((await refusedBoot(counter(), user)).message, /plugin user has a service "numbers"/);
});

test('names a service with a missing or circular dependency', async (t) => {
  class Asks {
    constructor({ printer }: { printer: unknown }) {
      void printer;
    }
  }
  class Left {
    constructor({ right }: { right: unknown }) {
      void right;
    }
  }
  class Right {
    constructor({ left }: { left: unknown }) {
      void left;
    }
  }
  const missing = await refusedBoot({
    ...bare('office'),
    services: { clerk: singleton(Asks) } as unknown as Plugin['services'],
  });
  t.regex(
    missing.message,
    /^plugin office: the service clerk asks for "printer", which the plugin does not have; it has: name, .*db, .*clerk$/,
  );
  const circle = await refusedBoot({
    ...bare('office'),
    services: { left: singleton(Left), right: singleton(Right) } as unknown as Plugin['services'],
  });
  t.regex(circle.message, /^plugin office could not be built: .*left -> right -> left/s);
});

test('names a plugin that fails while it is built, and starts nothing', async (t) => {
  let started = false;
  const early = bare('early', { start: () => void (started = true) });
  class Explodes {
    constructor() {
      throw new Error('bang');
    }
  }
  t.is(
    (
      await refusedBoot(early, {
        ...bare('late', { essential: true }),
        services: { bomb: singleton(Explodes) } as unknown as Plugin['services'],
      })
    ).message,
    'plugin late could not be built: bang',
  );
  t.is(
    (
      await refusedBoot(
        early,
        bare('late', {
          essential: true,
          taps: () => {
            throw new Error('no hooks');
          },
        }),
      )
    ).message,
    'plugin late could not be built: no hooks',
  );
  t.false(started);
});

test('the owner of an extension point gets all entries at its start, with their plugin, in start order', async (t) => {
  const seen: unknown[] = [];
  const owner = definePlugin({
    name: 'shelf',
    version: '1.0.0',
    api: 1,
    about: 'x',
    start: ({ contributions }) =>
      void seen.push(contributions(Labels), contributions(extensionPoint<string>('shelf', 'Other'))),
  });
  const adder = (name: string, ...labels: string[]) =>
    bare(name, { contributes: () => labels.map((label) => contribute(Labels, label)) });
  await using _ = await World.boot([adder('z', 'last'), owner, adder('a', 'one', 'two')]);
  t.like(seen[0], [
    { plugin: 'a', value: 'one' },
    { plugin: 'a', value: 'two' },
    { plugin: 'z', value: 'last' },
  ]);
  t.is((seen[0] as unknown[]).length, 3);
  t.true(Object.isFrozen(seen[0]), 'plugins share the list');
  t.deepEqual(seen[1], []);
});

test('rejects a table with two owners', async (t) => {
  const owner = (name: string) => bare(name, { tables: { rows: table('rows', { id: column.id() }) } });
  t.is(
    (await refusedBoot(owner('one'), owner('two'))).message,
    'the table rows is declared by one and by two',
  );
});

test('tokens of a closed plugin throw 503; tokens of others keep working', async (t) => {
  const bad = {
    ...counter(),
    routes: () => [
      route({
        method: 'GET',
        path: '/bad',
        auth: 'anyone',
        doc: 'x',
        reply: message(),
        handle: () => {
          throw new Error('x');
        },
      }),
    ],
  };
  const user = definePlugin({
    name: 'user',
    version: '1.0.0',
    api: 1,
    about: 'x',
    uses: { numbers: Count },
    routes: ({ numbers }) => [
      route({
        method: 'GET',
        path: '/count',
        auth: 'anyone',
        doc: 'x',
        reply: message(),
        handle: () => String(numbers.count()),
      }),
    ],
  });
  await using world = await World.boot([bad, user]);
  t.is((await world.call('/count')).body.msg, '1');
  for (let i = 0; i < 20; i++) await world.call('/bad');
  const answer = await world.call('/count');
  t.deepEqual([answer.status, answer.body.code], [503, 'KERNEL_PLUGIN_OFF']);
  t.regex(answer.body.msg, /plugin counter/);
  // The user is not to blame.
  t.is(world.kernel.plugins().find(({ name }) => name === 'user')?.state, 'running');
});
