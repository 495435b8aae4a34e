import test from 'ava';
import { createLog } from '../../panel/log.js';
import { PluginInstance } from '../plugin/instance.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { bare } from './world.js';

function running(rest: Parameters<typeof bare>[1] = {}) {
  const lines: { level: string; msg: string }[] = [];
  const clock = new FakeClock();
  const instance = new PluginInstance(
    bare('mill', rest),
    createLog({
      level: 'debug',
      readable: false,
      write: (line) => void lines.push(JSON.parse(line) as { level: string; msg: string }),
    }),
    clock,
  );
  instance.state = 'running';
  return { instance, lines, clock };
}
const fail = (instance: PluginInstance, times: number) => {
  for (let i = 0; i < times; i++) instance.fault('here', new Error('x'));
};

test('a facade has the methods, fields and inherited methods of its object', (t) => {
  class Base {
    #secret = 42;
    inherited(): number {
      return this.#secret;
    }
  }
  class Api extends Base {
    level = 1;
    get double(): number {
      return this.level * 2;
    }
    raise(): void {
      this.level++;
    }
  }
  const { instance } = running();
  const facade = instance.facade(new Api()) as Api;
  t.is(facade.inherited(), 42);
  facade.raise();
  t.deepEqual([facade.level, facade.double], [2, 4]);
  t.is(facade.raise, facade.raise);
  t.true(facade instanceof Api);
  t.deepEqual(['raise' in facade, 'lower' in facade], [true, false]);
  t.throws(() => (facade.level = 9), { instanceOf: TypeError }, 'a plugin cannot change another one');
  t.is(facade.level, 2);
});

test('a plugin can provide a frozen object', (t) => {
  const { instance } = running();
  const facade = instance.facade(Object.freeze({ greet: (name: string) => `hello ${name}`, size: 3 })) as {
    greet(name: string): string;
    size: number;
  };
  t.is(facade.greet('ada'), 'hello ada');
  t.is(facade.size, 3);
});

test('a facade refuses while its plugin is closed', (t) => {
  const { instance } = running();
  const facade = instance.facade({ greet: () => 'hello' }) as { greet(): string };
  fail(instance, 20);
  t.throws(() => facade.greet(), { code: 'KERNEL_PLUGIN_OFF', message: /plugin mill/ });
});

test('counts only faults of the last five minutes', (t) => {
  const { instance, clock, lines } = running();
  for (let i = 0; i < 40; i++) {
    fail(instance, 1);
    clock.tick(15_790);
  }
  fail(instance, 1);
  t.is(instance.state, 'running');
  fail(instance, 1);
  t.is(instance.state, 'faulty');
  t.is(lines.filter(({ msg }) => msg.startsWith('plugin switched off')).length, 1);
  fail(instance, 5);
  t.is(lines.filter(({ msg }) => msg.startsWith('plugin switched off')).length, 1);
  t.is(lines.filter(({ msg }) => msg === 'plugin fault').length, 47);
});

test('faults during the start close nothing, because nothing is open yet', (t) => {
  const { instance } = running();
  instance.state = 'built';
  fail(instance, 30);
  t.is(instance.state, 'built');
});
