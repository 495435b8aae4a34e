// What services of tunnels and programs beside the core say, as the page reads it.
import test from 'ava';
import {
  countriesIn,
  deviceIn,
  type InboundOption,
  inboundsInPrograms,
  isRunning,
  type Program,
  reasonOf,
  serversIn,
  warningIn,
} from '../page/routing/tunnel-words.js';

test('of a stored device only the id is read, and nothing of what is no device', (t) => {
  t.is(deviceIn('{"device_id":"d-1","access_token":"secret"}'), 'd-1');
  for (const text of ['', 'null', '[]', '{"device_id":5}', '{']) t.is(deviceIn(text), '', text);
  t.is(warningIn('{"data":{},"config":{},"warning":"the licence stays"}'), 'the licence stays');
  t.is(warningIn('{"data":{},"config":{}}'), '');
});

test('countries come by name, servers by load, and odd entries are left out', (t) => {
  t.deepEqual(countriesIn('[{"id":2,"name":"B"},{"id":1,"name":"A"},{"id":"3","name":"C"},null,{"id":4}]'), [
    { id: 1, name: 'A' },
    { id: 2, name: 'B' },
  ]);
  const servers = [{ hostname: 'b', load: 30 }, { hostname: 'a', load: 9 }, { load: 1 }, 5];
  t.deepEqual(serversIn(JSON.stringify({ servers })), [
    { hostname: 'a', load: 9 },
    { hostname: 'b', load: 30 },
  ]);
  const many = Array.from({ length: 5000 }, (_, at) => ({ hostname: `s${at}`, load: 5000 - at }));
  t.deepEqual(serversIn(JSON.stringify({ servers: many })).at(-1), { hostname: 's4800', load: 200 });
  for (const text of ['', 'null', '{"servers":5}', '5']) t.deepEqual(serversIn(text), [], text);
});

test('a program that does not run says why', (t) => {
  const program = (state: string) => ({ state, inboundIds: [1], protocol: 'acme' }) as unknown as Program;
  t.true(isRunning(program('running')));
  t.is(reasonOf(program('running')), '');
  t.false(isRunning(program('not running: no program')));
  t.is(reasonOf(program('not running: no program')), 'no program');
});

test('inbounds in programs are those of this machine, also while they are off', (t) => {
  const inbound = (id: number, protocol: string, nodeId: number | null = null) =>
    ({ id, protocol, nodeId }) as InboundOption;
  const programs = [{ protocol: 'acme', inboundIds: [2, 3], state: 'running' } as unknown as Program];
  const rows = inboundsInPrograms(
    [inbound(1, 'vless'), inbound(2, 'acme'), inbound(4, 'mtproto'), inbound(5, 'amneziawg', 7)],
    programs,
  );
  t.deepEqual(
    rows.map(({ inbound: { id }, program }) => [id, program?.protocol]),
    [
      [2, 'acme'],
      [4, undefined],
    ],
  );
});
