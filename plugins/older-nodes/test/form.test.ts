// The form of an inbound, which may be a text of megabytes.
import { createHash } from 'node:crypto';
import test from 'ava';
import { formCall } from '../wire.js';

test('a long form is encoded in pieces as it would be in one', async (t) => {
  const odd = `a b&c=d+e%20 é 漢 🙂 ~!*'() "{}" \n \ud800`;
  const fields = { tag: 'in', settings: '🙂'.repeat(20_000) + odd.repeat(3_000), 'x y': odd, empty: '' };
  for (const shift of ['', 'x']) {
    const given = { ...fields, settings: shift + fields.settings };
    const { form, headers } = await formCall(given);
    const whole = new URLSearchParams(given).toString();
    t.is(Buffer.from(form as Uint8Array).toString(), whole);
    t.is(headers?.['x-config-sha256'], createHash('sha256').update(whole).digest('hex'));
  }
});
