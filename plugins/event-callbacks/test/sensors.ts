// A plugin whose writes have as many events as a test wants.
import { contribute, type Database, definePlugin, during } from '../../../kernel/index.js';
import { callbackSource, CallbackSources } from '../contract.js';

export interface Sensor {
  readonly id: number;
  readonly reading: string;
}
const duringReading = during<{ readonly sensors: readonly Sensor[] }>('sensors/duringReading');

export function sensors() {
  let db: Database | undefined;
  const plugin = definePlugin({
    name: 'sensors',
    version: '1.0.0',
    api: 1,
    about: 'Has many events.',
    hooks: [duringReading],
    contributes: () => [
      contribute(
        CallbackSources,
        callbackSource({
          types: { 'sensors.read': 'A sensor was read.' },
          hook: duringReading,
          *describe({ sensors }) {
            for (const { id, reading } of sensors)
              yield { type: 'sensors.read', name: `s${id}`, data: { sensor: { id, reading } } };
          },
        }),
      ),
    ],
    start: (scope) => {
      db = scope.db;
    },
  });
  const read = async (count: number): Promise<number> => {
    const all = Array.from({ length: count }, (_, id) => ({ id, reading: 'x'.repeat(400) }));
    const began = performance.now();
    await db?.write((tx) => tx.during(duringReading, { sensors: all }));
    return performance.now() - began;
  };
  return { plugin, read };
}
