// Several test files in one process: each keeps its own hooks and titles, and all tests run one after another.
import { performance } from 'node:perf_hooks';
import { workTime } from './work-time.mjs';

/** A place in a stack, from the root: of the source where source maps work, else of what was compiled from it. */
const PLACE = /^(?:dist\/)?([^\s:]+\.test)\.[jt]s:/;

const openServers = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;

class TestFile {
  hooks = { before: [], after: [], beforeEach: [], afterEach: [] };
  /** tests that have not run yet */
  left = 0;
  isBegun = false;
  /** that were open before the first test */
  servers = 0;
  ms = 0;
  work = 0;

  constructor(path) {
    this.path = path;
    this.title = path
      .replace(/^dist\/(.*)\.test\.js$/, '$1')
      .split('/')
      .join(' › ');
  }

  async #all(kind, t) {
    for (const hook of this.hooks[kind]) await hook(t);
  }

  /** What stays open after the last test would hurt the files that come after this one. */
  #checkServers() {
    const left = openServers() - this.servers;
    if (this.left === 0 && left > 0)
      process.emitWarning(
        `${this.path} leaves ${left} servers open; close every panel by teardown or await using`,
      );
  }

  async run(t, body) {
    const began = performance.now();
    const worked = workTime();
    // The first to be registered, so it runs after those of the test.
    t.teardown(() => this.#checkServers());
    try {
      if (!this.isBegun) {
        this.isBegun = true;
        this.servers = openServers();
        await this.#all('before', t);
      }
      await this.#all('beforeEach', t);
      return await body(t);
    } finally {
      try {
        await this.#all('afterEach', t);
        if (--this.left === 0) await this.#all('after', t);
      } finally {
        this.ms += performance.now() - began;
        this.work += workTime() - worked;
      }
    }
  }
}

export class TestGroup {
  #files = new Map();
  #root;
  #keepNote;

  /** `chain` is ava's `test`; `keepNote` is called before and after each test. */
  constructor(chain, root, keepNote) {
    this.#root = root;
    this.#keepNote = keepNote;
    const declare = (add) => (title, body) => this.#declare(add, title, body);
    const skip = (title, body) => chain.skip(`${this.#calling().title} › ${title}`, body);
    const hook = (kind) => {
      const keep = (body) => void this.#calling().hooks[kind].push(body);
      return Object.assign(keep, { always: keep });
    };
    const kinds = { before: hook('before'), after: hook('after') };
    const each = { beforeEach: hook('beforeEach'), afterEach: hook('afterEach') };
    // What is not offered here, such as `only` and `failing`, is of no use in a group.
    const serial = Object.assign(declare(chain.serial), { skip, ...kinds, ...each });
    this.test = Object.assign(declare(chain.serial), {
      serial,
      skip,
      ...kinds,
      ...each,
      macro: chain.macro,
      meta: chain.meta,
      requireTestsIn: (paths) => this.#requireTestsIn(paths),
    });
  }

  /** ava finds fault with a file without tests, but not where other files of its group have some. */
  #requireTestsIn(paths) {
    const empty = paths.filter((path) => !this.#files.has(path));
    if (empty.length > 0) throw new Error(`no test is declared in ${empty.join(', ')}`);
  }

  /** The file whose code declares a test just now. */
  #calling() {
    const places = new Error('').stack.split(this.#root).map((text) => PLACE.exec(text)?.[1]);
    const place = places.find((path) => path !== undefined);
    if (place === undefined) throw new Error('a test is declared outside of a test file');
    const path = `dist/${place}.js`;
    const file = this.#files.get(path) ?? new TestFile(path);
    this.#files.set(path, file);
    return file;
  }

  #declare(add, title, body) {
    const file = this.#calling();
    file.left++;
    add(`${file.title} › ${title}`, async (t) => {
      this.#note(`${file.path}: ${title}`);
      try {
        await file.run(t, body);
      } finally {
        this.#note();
      }
    });
  }

  #note(running) {
    const files = [...this.#files.values()];
    const times = Object.fromEntries(files.map(({ path, ms }) => [path, ms]));
    const work = Object.fromEntries(files.map(({ path, work: its }) => [path, its]));
    this.#keepNote({ times, work, running });
  }
}
