import test from 'ava';
import { defineErrors, kernelErrors, messageOf, PanelError, Refusal } from '../index.js';
import { failure, success } from '../http/envelope.js';

const errors = defineErrors('sub-links', { GONE: [410, 'it is gone'] });

test('a catalogue makes errors with code, status and message', (t) => {
  const error = errors.GONE();
  t.true(error instanceof PanelError && error instanceof Error);
  t.like(error, { code: 'SUB_LINKS_GONE', status: 410, message: 'it is gone', issues: [], headers: {} });
  t.like({ ...errors.GONE }, { code: 'SUB_LINKS_GONE', status: 410, text: 'it is gone' });
});

test('an error can have its own message, field, cause and headers', (t) => {
  const cause = new Error('why');
  t.like(errors.GONE('gone for good', { path: 'link', cause, headers: { 'Retry-After': '1' } }), {
    message: 'gone for good',
    issues: [{ path: 'link', message: 'gone for good' }],
    cause,
    headers: { 'Retry-After': '1' },
  });
  t.deepEqual(
    [...errors.GONE('x', { path: 'ignored', issues: [{ path: 'a', message: 'b' }] }).issues],
    [{ path: 'a', message: 'b' }],
  );
});

test('a refusal is 422 unless it says otherwise', (t) => {
  t.like(new Refusal('no'), { code: 'REFUSED', status: 422, message: 'no' });
  t.like(new Refusal('no', { code: 'QUOTA', status: 403, path: 'size' }), {
    code: 'QUOTA',
    status: 403,
    issues: [{ path: 'size', message: 'no' }],
  });
  t.true(new Refusal('no') instanceof PanelError);
});

test('returns the text of anything thrown', (t) => {
  t.deepEqual([new Error('a'), 'b', 3, undefined].map(messageOf), ['a', 'b', '3', 'undefined']);
});

test('sends the message of known errors, and only the request id of others', (t) => {
  const known = failure(errors.GONE(undefined, { path: 'link', headers: { X: 'y' } }), 'id');
  t.deepEqual(known, {
    expected: true,
    status: 410,
    headers: { X: 'y' },
    body: {
      success: false,
      msg: 'it is gone',
      obj: { issues: [{ path: 'link', message: 'it is gone' }] },
      code: 'SUB_LINKS_GONE',
      requestId: 'id',
    },
  });
  for (const bug of [
    new Error('secret'),
    'secret',
    undefined,
    Object.assign(new Error('secret'), { status: 404, type: 'entity.parse.failed' }),
  ]) {
    const { status, expected, body } = failure(bug, 'id');
    t.deepEqual([status, expected, body.code, body.obj], [500, false, 'KERNEL_INTERNAL', null]);
    t.false(JSON.stringify(body).includes('secret'));
  }
  t.like(failure(kernelErrors.PLUGIN_OFF(), 'id'), { status: 503, expected: false });
});

test('a success without an object has null', (t) => {
  t.deepEqual(success('done', undefined), { success: true, msg: 'done', obj: null });
  t.deepEqual([success('', 0).obj, success('', false).obj, success('', '').obj], [0, false, '']);
});
