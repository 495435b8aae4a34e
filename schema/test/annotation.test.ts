// What forms must know of fields, beside their schemas.
import test from 'ava';
import { annotate, annotationOf, inSection } from '../annotation.js';
import { inspect } from '../inspect.js';
import { setting } from '../setting.js';
import { int, optional, shape, type Static, text, withDefault } from '../shape.js';

test('a section holds for fields that do not say otherwise', (t) => {
  const fields = inSection(
    'Times',
    {
      idle: annotate(int(), { unit: 'seconds' }),
      every: annotate(int(), { section: 'Other', level: 'advanced', change: 'none' }),
    },
    { change: 'replace' },
  );
  t.deepEqual(annotationOf(fields.idle), {
    level: 'basic',
    change: 'replace',
    section: 'Times',
    unit: 'seconds',
  });
  t.deepEqual(annotationOf(fields.every), { level: 'advanced', change: 'none', section: 'Other' });
  t.deepEqual(annotationOf(inSection('Outer', fields).idle).section, 'Times');
  t.deepEqual(annotationOf(int()), {});
});

test('schemas mean the same with annotations, in their types too', (t) => {
  const schema = shape(
    inSection('A', { a: withDefault(int(), 3), b: optional(annotate(text(), { secret: true })) }),
  );
  const value: Static<typeof schema> = { a: 1 };
  t.deepEqual(inspect(schema, { b: 'x', other: 1 }), { value: { a: 3, b: 'x' } });
  t.deepEqual(inspect(schema, value), { value: { a: 1 } });
  t.deepEqual(inspect(schema, { a: 'x' }), {
    issues: [{ path: 'a', message: 'a must be a number' }],
    more: '',
  });
});

test('settings take annotations, and keep what else they have', (t) => {
  const group = inSection('Mail', {
    port: { ...setting(int(), 25, 'port of the server', { unit: 'x', alias: 'smtp' }), header: 'Port' },
    key: setting(text(), '', 'key', { secret: true }),
  });
  t.like(group.port, {
    initial: 25,
    about: 'port of the server',
    secret: false,
    alias: 'smtp',
    header: 'Port',
  });
  t.deepEqual(annotationOf(group.port.schema), { level: 'basic', section: 'Mail', unit: 'x' });
  t.is(group.key.secret, true);
  t.is(annotationOf(group.key.schema).secret, true);
});
