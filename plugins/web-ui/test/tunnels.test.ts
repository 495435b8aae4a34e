// What services of tunnels and programs beside the core say, as the page reads it.
import test from 'ava';
import {
  countriesIn,
  deviceIn,
  type InboundOfList,
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
  t.true(isRunning('running'));
  t.is(reasonOf('running'), '');
  t.false(isRunning('not running: no program'));
  t.is(reasonOf('not running: no program'), 'no program');
});

test('inbounds in programs are those of this machine, also without a process', (t) => {
  const inbound = (id: number, state: string, nodeId: number | null = null) =>
    ({ id, state, nodeId }) as InboundOfList;
  const programs = [{ inboundIds: [2, 3], pid: 5 } as unknown as Program];
  const rows = inboundsInPrograms(
    [inbound(1, ''), inbound(2, 'running'), inbound(4, 'not running: x'), inbound(5, 'running', 7)],
    programs,
  );
  t.deepEqual(
    rows.map(({ inbound: { id }, program }) => [id, program?.pid]),
    [
      [2, 5],
      [4, undefined],
    ],
  );
});
