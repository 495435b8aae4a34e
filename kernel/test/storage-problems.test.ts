// What errors of databases mean, what callers are told, and when the log says it; without a database.
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { ConnectionError } from 'sequelize';
import { classify as classifyMysql } from '../../drivers/mysql/classify.js';
import { classify as classifySqlite } from '../../drivers/sqlite/classify.js';
import { Outage } from '../../timing/outage.js';
import { Storage, type StorageProblem } from '../database/storage.js';
import { kernelErrors, PanelError, storageFailure } from '../index.js';
import type { Log } from '../log/log.js';

const failed = (facts: object): Error => Object.assign(new Error('it failed'), facts);
/** As the driver throws it, and as Sequelize passes it on. */
const both = (facts: object): Error[] => [failed(facts), failed({ parent: failed(facts) })];

test('says what errors of SQLite mean', (t) => {
  for (const [code, problem] of [
    ['SQLITE_FULL', 'full'],
    ['SQLITE_IOERR', 'full'],
    ['SQLITE_READONLY', 'full'],
    ['SQLITE_CANTOPEN', 'full'],
    ['SQLITE_CORRUPT', 'damaged'],
    ['SQLITE_NOTADB', 'damaged'],
    ['SQLITE_BUSY', 'away'],
    ['SQLITE_CONSTRAINT', undefined],
    ['SQLITE_ERROR', undefined],
    ['ECONNREFUSED', undefined],
  ] as const)
    for (const error of both({ code })) t.is(classifySqlite(error), problem, code);
  t.is(classifySqlite(new Error('a plugin failed')), undefined);
});

test('a copy for which the disk has no room is not the fault of a plugin', (t) => {
  for (const code of ['ENOSPC', 'SQLITE_FULL'])
    t.is(storageFailure(new Error('cannot be copied', { cause: failed({ code }) })), 'disk', code);
  t.is(storageFailure(failed({ code: 'SQLITE_ERROR' })), undefined);
});

test('says what errors of MySQL and MariaDB mean', (t) => {
  for (const [facts, problem] of [
    [{ code: 'ER_DISK_FULL' }, 'full'],
    [{ code: 'ER_RECORD_FILE_FULL' }, 'full'],
    [{ code: 'ER_ERROR_ON_WRITE' }, 'full'],
    [{ code: 'ER_GET_ERRNO', message: 'Got error 28 "No space left on device" from storage engine' }, 'full'],
    [{ code: 'ER_GET_ERRNO', message: 'Got error 122 from storage engine' }, 'full'],
    [{ code: 'ER_GET_ERRNO', message: 'Got error 168 from storage engine' }, undefined],
    [{ code: 'ER_OPTION_PREVENTS_STATEMENT' }, 'readOnly'],
    [{ code: 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION' }, 'readOnly'],
    [{ code: 'PROTOCOL_CONNECTION_LOST', fatal: true }, 'away'],
    [{ code: 'UNKNOWN_CODE_PLEASE_REPORT', errno: 1927 }, 'away'],
    [{ code: 'ER_SERVER_SHUTDOWN' }, 'away'],
    [{ code: 'ER_CON_COUNT_ERROR' }, 'away'],
    [{ code: 'ER_DUP_ENTRY', errno: 1062 }, undefined],
    [{ code: 'ER_LOCK_DEADLOCK', errno: 1213, fatal: false }, 'busy'],
    [{ code: 'ER_LOCK_WAIT_TIMEOUT', errno: 1205 }, 'busy'],
    [{ code: 'ER_CHECKREAD', errno: 1020 }, 'busy'],
    [{ code: 'ER_QUERY_INTERRUPTED', errno: 1317 }, 'busy'],
    // Galera: a server that has lost the others, and one that lost them during a commit.
    [{ code: 'ER_UNKNOWN_COM_ERROR', errno: 1047 }, 'away'],
    [{ code: 'ER_ERROR_DURING_COMMIT', errno: 1180 }, 'away'],
    [{ code: 'ECONNREFUSED' }, undefined],
  ] as const)
    for (const error of both(facts)) t.is(classifyMysql(error), problem, JSON.stringify(facts));
  t.is(classifyMysql(new ConnectionError(failed({ code: 'ECONNREFUSED' }))), 'away');
});

function storageOf() {
  const lines: string[] = [];
  const log = {
    error: (msg: string, { problem }: { problem: string }) => lines.push(`${msg.slice(0, 18)}: ${problem}`),
    info: (msg: string) => lines.push(msg),
  } as unknown as Log;
  return { storage: new Storage((error) => (error as { is?: StorageProblem }).is, log), lines };
}

test('callers are told what fails, and other errors stay as they are', (t) => {
  const { storage, lines } = storageOf();
  const other = new Error('the statement is wrong');
  t.is(storage.named(other), other);
  const refusal = Object.assign(kernelErrors.INVALID('x', { path: 'y' }), { is: 'full' });
  t.is(storage.named(refusal), refusal);
  t.false(storage.isFailing);
  for (const [is, status, code] of [
    ['full', 507, 'KERNEL_STORAGE'],
    ['readOnly', 503, 'KERNEL_DATABASE_READ_ONLY'],
    ['away', 503, 'KERNEL_DATABASE_AWAY'],
    ['taken', 503, 'KERNEL_DATABASE_TAKEN'],
  ] as const) {
    const cause = failed({ is });
    const error = storage.named(cause) as PanelError;
    t.true(error instanceof PanelError);
    t.deepEqual([error.status, error.code, error.cause], [status, code, cause]);
    t.true(storage.isFailing);
  }
  t.is(
    (storage.named(other, 'away') as PanelError).code,
    'KERNEL_DATABASE_AWAY',
    'where it can be nothing else',
  );
  t.deepEqual(lines.length, 2);
});

test('one line says that it begins, and one that another panel has taken it', (t) => {
  const { storage, lines } = storageOf();
  for (const is of ['away', 'full', 'away', 'taken', 'taken', 'taken'] as const)
    storage.named(failed({ is }));
  t.deepEqual(lines, ['the database fails: away', 'the database fails: taken']);
  storage.worked();
  t.true(storage.isFailing, 'a write succeeds between others that fail');
  t.is(lines.length, 2);
});

test('it is over with the first success after a quiet while, and counts from its beginning', async (t) => {
  const outage = new Outage(150);
  t.is(outage.worked(), undefined);
  t.true(outage.failed());
  await pause(100);
  t.false(outage.failed());
  t.is(outage.worked(), undefined);
  await pause(160);
  t.true(outage.isOn);
  const took = outage.worked() ?? 0;
  t.true(took >= 250, `${took} ms`);
  t.deepEqual([outage.isOn, outage.worked()], [false, undefined]);
  t.true(outage.failed(), 'the next one begins');
});
