// What plugins may declare as an account type, and what an account may say.
import test from 'ava';
import { type AccountType, accountJson, accountProblem, accountTypeProblem } from '../users/account-type.js';
import { Accounts } from '../users/accounts.js';
import type { CoreAccount } from '../driver.js';
import { AccountCodecs } from '../xray/account-codecs.js';
import { socksLike, vlessLike } from './world.js';

const every: AccountType = {
  ...vlessLike,
  name: 'every',
  fields: {
    text: { number: 1, type: 'string' },
    raw: { number: 2, type: 'bytes' },
    on: { number: 3, type: 'bool' },
    small: { number: 4, type: 'uint32' },
    large: { number: 5, type: 'int64' },
    kind: { number: 6, type: 'enum', values: { one: 1, two: 2 }, json: 'sort' },
  },
};
const good: CoreAccount = {
  protocol: 'every',
  text: 'a',
  raw: 'AAE=',
  on: true,
  small: 7,
  large: -8,
  kind: 'two',
};

test('an account has each field in its type, and no other', (t) => {
  t.is(accountProblem(every, good), undefined);
  t.deepEqual(accountJson(every, 'i1.c1', good), {
    email: 'i1.c1',
    level: 0,
    text: 'a',
    raw: 'AAE=',
    on: true,
    small: 7,
    large: -8,
    sort: 'two',
  });
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ text: 7 }, /^text must be text/],
    [{ text: '\ud800' }, /^text must be well-formed/],
    [{ text: 'x'.repeat(70_000) }, /^text must have at most/],
    [{ raw: 'no base64!' }, /^raw must be base64/],
    [{ on: 'true' }, /^on must be true or false/],
    [{ small: -1 }, /^small must be a whole number from 0 to 4294967295/],
    [{ small: 1.5 }, /^small must be a whole number/],
    [{ large: 2 ** 60 }, /^large must be a whole number/],
    [{ kind: 'toString' }, /^kind must be one of one, two/],
    [{ text: undefined }, /^text is missing/],
    [{ more: 'x' }, /^every has no field more/],
  ];
  for (const [change, problem] of wrong)
    t.regex(accountProblem(every, { ...good, ...change } as CoreAccount) ?? '', problem);
});

test('a declaration that cannot be used says why', (t) => {
  const { nobody: _nobody, ...openToAll } = socksLike;
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [{ ...vlessLike, name: '' }, /needs a name/],
    [{ ...vlessLike, users: 'somewhere' }, /users must be api or config/],
    [{ ...vlessLike, message: 'Account' }, /message must be the full name/],
    [{ ...vlessLike, inboundType: undefined }, /inboundType must be/],
    [{ ...vlessLike, usersField: 0 }, /usersField must be/],
    [{ ...vlessLike, fields: {} }, /1 to 50 fields/],
    [{ ...vlessLike, fields: { id: { type: 'string' } } }, /id needs its number/],
    [{ ...vlessLike, fields: { id: { number: 19_500, type: 'string' } } }, /id needs its number/],
    [{ ...vlessLike, fields: { id: { number: 1, type: 'float' } } }, /type of id must be one of/],
    [{ ...vlessLike, fields: { id: { number: 1, type: 'enum' } } }, /id needs values/],
    [
      { ...vlessLike, fields: { id: { number: 1, type: 'enum', values: { far: 2 ** 32 + 1 } } } },
      /id needs values: whole numbers of 32 bits/,
    ],
    [
      { ...vlessLike, fields: { id: { number: 1, type: 'string', json: '__proto__' } } },
      /json of id must be/,
    ],
    [{ ...vlessLike, list: '__proto__' }, /list must be a word/],
    [{ ...vlessLike, fields: { protocol: { number: 1, type: 'string' } } }, /cannot be the name/],
    [{ ...vlessLike, fields: { email: { number: 1, type: 'string' } } }, /two values .* the key email/],
    [
      { ...vlessLike, fields: { a: { number: 1, type: 'string' }, b: { number: 1, type: 'string' } } },
      /two fields have the number 1/,
    ],
    [{ ...vlessLike, fault: 'no' }, /fault must be a function/],
    [{ ...vlessLike, omit: 'flow' }, /omit must be a list/],
    [openToAll, /needs a function nobody/],
  ];
  for (const [type, problem] of wrong) t.regex(accountTypeProblem(type as AccountType) ?? '', problem);
  for (const type of [vlessLike, socksLike, every]) t.is(accountTypeProblem(type), undefined);
});

test('a check that fails or returns junk rejects its own accounts, and the fault is reported once', (t) => {
  const faults: string[] = [];
  const declared = (name: string, fault: unknown) => ({
    plugin: 'weed',
    value: { ...vlessLike, name, fault },
    fault: (where: string) => void faults.push(where),
  });
  const throwing = () => {
    throw new Error('weeds');
  };
  const accounts = new Accounts({
    contributions: (() => [
      declared('throws', throwing),
      declared('junk', () => 42),
      declared('later', async () => undefined),
      declared('good', () => undefined),
    ]) as never,
  });
  const problem = (protocol: string) =>
    accounts.problem({ name: 'i1.c1', account: { protocol, id: 'x', flow: '' } }, protocol);
  t.regex(problem('throws') ?? '', /fault of the account type throws failed: weeds/);
  t.regex(problem('throws') ?? '', /weeds/);
  t.regex(problem('junk') ?? '', /number instead of/);
  t.regex(problem('later') ?? '', /object instead of/);
  t.is(problem('good'), undefined);
  t.regex(problem('nobody') ?? '', /no plugin declares the accounts nobody/);
  t.is(
    accounts.problem({ name: 'i1.c1', account: { protocol: 'junk', id: 'x', flow: '' } }, 'good'),
    'the account is for junk, the inbound speaks good',
  );
  t.is(faults.length, 3);
});

test('a field may be missing, and may have a form of its own in the config; one that fails costs its key alone', (t) => {
  const faults: string[] = [];
  const value: AccountType = {
    ...vlessLike,
    name: 'formed',
    fields: {
      id: { number: 1, type: 'string' },
      tag: {
        number: 2,
        type: 'string',
        mayMiss: true,
        toJson: (sent) => {
          if (sent === 'weed') throw new Error('weeds');
          return sent === '' ? undefined : { tag: sent };
        },
      },
    },
  };
  const accounts = new Accounts({
    contributions: (() => [
      { plugin: 'weed', value, fault: (where: string) => void faults.push(where) },
    ]) as never,
  });
  const type = accounts.of('formed') as AccountType;
  const shown = (more: object) => accountJson(type, 'n', { protocol: 'formed', id: 'x', ...more });
  t.is(accountProblem(type, { protocol: 'formed', id: 'x' }), undefined);
  const bare = { email: 'n', level: 0, id: 'x' };
  t.deepEqual(shown({}), bare);
  t.deepEqual(shown({ tag: '' }), bare);
  t.deepEqual(shown({ tag: 'out' }), { ...bare, tag: { tag: 'out' } });
  t.deepEqual(faults, []);
  t.deepEqual([shown({ tag: 'weed' }), shown({ tag: 'weed' })], [bare, bare]);
  t.deepEqual(faults, ['toJson of tag of the account type formed'], 'reported once');

  // As a message: a field that is missing is not written, and none when it is read back.
  const codecs = new AccountCodecs(accounts);
  const target = { tag: 'in', protocol: 'formed' };
  const accountWith = (more: object) => ({ protocol: 'formed', id: 'x', ...more });
  for (const account of [accountWith({}), accountWith({ tag: 'out' })]) {
    const bytes = codecs.encode({ name: 'n', account }, target);
    t.deepEqual(codecs.decode(bytes, 'formed'), { name: 'n', account });
    t.is(codecs.message({ name: 'n', account }, target).account?.value.length, 'tag' in account ? 8 : 3);
  }
});
