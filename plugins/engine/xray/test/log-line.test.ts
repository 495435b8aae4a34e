import test from 'ava';
import { logLineOf as lineOf } from '../log-line.js';
import { NameMark } from '../name-mark.js';

const names = new NameMark();
const logLineOf = (text: string) => lineOf(text, names);

const TIME = '2026/11/21 05:24:38.326889';
const at = new Date(2026, 10, 21, 5, 24, 38).getTime();

test('a line has its peer, its target, its tags and its user', (t) => {
  const line = (rest: string) => logLineOf(`${TIME} from ${rest}`);
  t.deepEqual(line('tcp:1.2.3.4:48439 accepted tcp:example.com:443 [in-a -> direct] email: i1.c2'), {
    at,
    from: '1.2.3.4:48439',
    to: 'tcp:example.com:443',
    inbound: 'in-a',
    outbound: 'direct',
    name: 'i1.c2',
  });
  t.like(line('[2001:db8::1]:5 accepted udp:1.1.1.1:53 [in-b >> blocked]'), {
    from: '[2001:db8::1]:5',
    to: 'udp:1.1.1.1:53',
    inbound: 'in-b',
    outbound: 'blocked',
    name: '',
  });
  t.like(line('unix:@ accepted tcp:a:1 [in-c ==> far] email: some@body'), {
    from: '@',
    outbound: 'far',
    name: 'some@body',
  });
  t.like(line('1.2.3.4:5 accepted tcp:a:1 email: i1.c2'), { to: 'tcp:a:1', inbound: '', name: 'i1.c2' });
  t.like(line('1.2.3.4:5 rejected  proxy/vless/encoding: invalid request user id'), {
    from: '1.2.3.4:5',
    to: '',
    name: '',
  });
});

test('a target that looks like the rest of a line is a target', (t) => {
  const to = 'tcp:x [in-z -> direct] email: i9.c9:443';
  t.like(logLineOf(`${TIME} from 1.2.3.4:5 accepted ${to} [in-a -> direct]`), {
    to,
    inbound: 'in-a',
    name: '',
  });
  t.like(logLineOf(`${TIME} from 1.2.3.4:5 accepted ${to} [in-a -> direct] email: i1.c2`), {
    to,
    inbound: 'in-a',
    name: 'i1.c2',
  });
});

test('what is no such line is none', (t) => {
  for (const text of [
    '',
    'x',
    TIME,
    `${TIME} from `,
    `${TIME} from 1.2.3.4:5 greeted x`,
    `${TIME} [Warning] core: Xray started`,
    `x${TIME} from 1.2.3.4:5 accepted tcp:a:1`,
  ])
    t.is(logLineOf(text), undefined, text);
});

test('a line with a name without the mark is what a user wrote', (t) => {
  const marked = new NameMark();
  marked.mark = '~mark';
  const line = `${TIME} from 1.2.3.4:5 accepted tcp:a:1 [in-a -> direct]`;
  t.is(lineOf(`${line} email: i1.c2`, marked), undefined);
  t.like(lineOf(`${line} email: i1.c2~mark`, marked), { name: 'i1.c2' });
  t.like(lineOf(line, marked), { name: '' }, 'logins have no name in the log');
});
