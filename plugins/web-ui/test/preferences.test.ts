// Preferences in a browser and at the panel: two browsers agree, and nothing that was chosen is lost.
import test from 'ava';
import { browserStore, type PanelPreferences } from '../page/preferences/browser-store.js';
import { DEFAULTS } from '../page/preferences/preferences.js';

function fakeStorage() {
  const stored = new Map<string, string>();
  return {
    stored,
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
}
const storeOn = (storage: ReturnType<typeof fakeStorage>) =>
  browserStore(() => storage as unknown as Storage);

/** A panel with the preferences of one admin. */
class FakePanel implements PanelPreferences {
  values: Record<string, unknown> = {};
  readonly sent: object[] = [];
  fails = false;
  /** runs while a call is under way */
  meanwhile: () => void = () => undefined;
  async #answer(): Promise<Record<string, unknown>> {
    const { meanwhile } = this;
    this.meanwhile = () => undefined;
    meanwhile();
    if (this.fails) throw new Error('no answer');
    return { ...this.values };
  }
  get = () => this.#answer();
  set = (changes: object) => {
    this.sent.push(changes);
    if (!this.fails) Object.assign(this.values, changes);
    return this.#answer();
  };
}

test('what one browser chooses is in the other', async (t) => {
  const panel = new FakePanel();
  const [one, two] = [storeOn(fakeStorage()), storeOn(fakeStorage())];
  await one.meet('root', panel);
  one.write({ theme: 'dark', timeZone: 'Asia/Tehran' });
  await one.meet('root', panel);
  await two.meet('root', panel);
  t.deepEqual(two.read(), { ...DEFAULTS, theme: 'dark', timeZone: 'Asia/Tehran' });
  two.write({ theme: 'light' });
  await two.meet('root', panel);
  await one.meet('root', panel);
  t.is(one.read().theme, 'light');
  t.deepEqual(panel.sent, [{ theme: 'dark', timeZone: 'Asia/Tehran' }, { theme: 'light' }]);
});

test('what did not reach the panel stays over a reload, and is sent again', async (t) => {
  const [panel, storage] = [new FakePanel(), fakeStorage()];
  const before = storeOn(storage);
  await before.meet('root', panel);
  panel.fails = true;
  panel.values = { theme: 'light', units: 'decimal' };
  before.write({ theme: 'dark' });
  await t.throwsAsync(before.meet('root', panel), { message: 'no answer' });
  t.is(before.read().theme, 'dark');
  t.true(before.isUnsent());
  const after = storeOn(storage);
  t.is(after.read().theme, 'dark');
  t.true(after.isUnsent());
  panel.fails = false;
  await after.meet('root', panel);
  t.like(after.read(), { theme: 'dark', units: 'decimal' });
  t.false(after.isUnsent());
  t.is(panel.values['theme'], 'dark');
});

test('what is chosen while a call is under way is sent as well', async (t) => {
  const panel = new FakePanel();
  const store = storeOn(fakeStorage());
  await store.meet('root', panel);
  store.write({ theme: 'dark', units: 'decimal' });
  const set = panel.set;
  panel.set = (changes) => {
    panel.meanwhile = () => store.write({ theme: 'light' });
    panel.set = set;
    return set(changes);
  };
  await store.meet('root', panel);
  t.like(store.read(), { theme: 'light', units: 'decimal' });
  t.false(store.isUnsent());
  t.like(panel.values, { theme: 'light', units: 'decimal' });
});

test('what is chosen while a call is under way stays, also when the next call fails', async (t) => {
  const [panel, storage] = [new FakePanel(), fakeStorage()];
  const store = storeOn(storage);
  await store.meet('root', panel);
  store.write({ theme: 'dark' });
  const set = panel.set;
  panel.set = (changes) => {
    panel.set = () => Promise.reject(new Error('no answer'));
    const answer = set(changes);
    store.write({ theme: 'light' });
    return answer;
  };
  await t.throwsAsync(store.meet('root', panel), { message: 'no answer' });
  t.is(store.read().theme, 'light');
  t.true(store.isUnsent());
  t.is(storeOn(storage).read().theme, 'light');
});

test('an admin does not get, or send, the choices of another', async (t) => {
  const [ann, ben] = [new FakePanel(), new FakePanel()];
  const storage = fakeStorage();
  const store = storeOn(storage);
  await store.meet('ann', ann);
  ann.fails = true;
  store.write({ theme: 'dark' });
  await t.throwsAsync(store.meet('ann', ann));
  await store.meet('ben', ben);
  t.deepEqual(store.read(), DEFAULTS);
  t.deepEqual(ben.values, {});
  ann.fails = false;
  await store.meet('ann', ann);
  t.is(store.read().theme, 'dark');
  t.deepEqual(ann.values, { theme: 'dark' });
});

test('a choice at the login is of the one who logs in; of old choices the panel knows better', async (t) => {
  const [panel, storage] = [new FakePanel(), fakeStorage()];
  storage.setItem('weir.preferences', JSON.stringify({ theme: 'dark', units: 'decimal' }));
  panel.values = { theme: 'light', language: 'ru' };
  const store = storeOn(storage);
  store.write({ language: 'fa' });
  await store.meet('root', panel);
  t.deepEqual(store.read(), { ...DEFAULTS, theme: 'light', units: 'decimal', language: 'fa' });
  t.deepEqual(panel.values, { theme: 'light', units: 'decimal', language: 'fa' });
});

test('what the panel says wrong is left out, and listeners get the same object for the same values', async (t) => {
  const panel = new FakePanel();
  panel.values = { theme: 'pink', units: 7, other: 'x', calendar: 'persian' };
  const store = storeOn(fakeStorage());
  await store.meet('root', panel);
  t.deepEqual(store.read(), { ...DEFAULTS, calendar: 'persian' });
  const before = store.read();
  await store.meet('root', panel);
  t.is(store.read(), before);
});
