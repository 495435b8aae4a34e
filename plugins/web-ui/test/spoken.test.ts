// The texts that are there, while files come late, fail, or come in another order.
import test from 'ava';
import { chooseLanguage } from '../page/language/languages.js';
import type { Texts } from '../page/language/messages.js';
import { SpokenStore } from '../page/language/spoken.js';

const [english, persian, russian] = ['en', 'fa', 'ru'].map((key) => chooseLanguage([key]));

/** Files come when a test lets them. */
function files() {
  const waiting = new Map<string, { resolve: (texts: Texts) => void; reject: (error: Error) => void }>();
  const store = new SpokenStore(
    (language, part) =>
      new Promise((resolve, reject) => waiting.set(`${language} ${part}`, { resolve, reject })),
  );
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    store,
    come: async (name: string) => {
      const [language = '', part = ''] = name.split(' ');
      waiting.get(name)?.resolve({ [part]: language });
      await settled();
    },
    fail: async (name: string) => {
      waiting.get(name)?.reject(new Error('away'));
      await settled();
    },
  };
}

async function started() {
  const made = files();
  const start = made.store.start(english as never);
  await made.come('en first');
  await start;
  return made;
}

test('the first texts are there at once, and all when somebody waits for them', async (t) => {
  const { store, come } = await started();
  t.deepEqual(store.read().texts, { first: 'en' });
  let told = 0;
  store.subscribe(() => told++);
  const whole = store.whole();
  await come('en later');
  await whole;
  t.deepEqual(store.read().texts, { first: 'en', later: 'en' });
  t.is(told, 1);
});

test('later texts that do not come are asked for again', async (t) => {
  const { store, come, fail } = await started();
  const first = t.throwsAsync(store.whole(), { message: 'away' });
  await fail('en later');
  await first;
  const again = store.whole();
  await come('en later');
  await again;
  t.deepEqual(store.read().texts, { first: 'en', later: 'en' });
});

test('a language stays until all texts of the other are there; the last choice counts', async (t) => {
  const { store, come } = await started();
  const texts = () => Object.values(store.read().texts).join();
  const whole = store.whole();
  const changes = [store.change(persian as never), store.change(russian as never)];
  await come('ru first');
  t.is(texts(), 'en');
  await come('ru later');
  t.is(texts(), 'ru,ru');
  await come('fa first');
  await come('fa later');
  await come('en later');
  t.is(texts(), 'ru,ru');
  await Promise.all([whole, ...changes]);
});
