// The key of an inbound of Shadowsocks that is left out.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

interface Reply {
  readonly id: number;
  readonly settings: { readonly method: string; readonly password?: string };
}
const AES_256 = '2022-blake3-aes-256-gcm';
const AES_128 = '2022-blake3-aes-128-gcm';

test('a key that is left out is generated, and stays over updates', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const save = (path: string, port: number, settings: object) =>
    panel.get<Reply>(`/panel/api/inbounds/${path}`, { body: { protocol: 'shadowsocks', port, settings } });
  const bytesOf = ({ settings: { password = '' } }: Reply) => Buffer.from(password, 'base64').length;

  const usual = await save('add', 9001, { method: AES_256 });
  t.is(bytesOf(usual), 32);
  const other = await save('add', 9002, { method: AES_256 });
  t.not(other.settings.password, usual.settings.password);
  const short = await save('add', 9003, { method: AES_128, password: '' });
  t.is(bytesOf(short), 16);

  const again = await save(`update/${short.id}`, 9003, { method: AES_128 });
  t.is(again.settings.password, short.settings.password);
  const changed = await save(`update/${short.id}`, 9003, { method: '2022-blake3-chacha20-poly1305' });
  t.is(bytesOf(changed), 32, 'a key of the other method has the wrong length');
  const classic = await save('add', 9004, { method: 'aes-256-gcm' });
  t.is(classic.settings.password, undefined, 'each client has its own');
});

test('a key that is no key is refused, and so is an unknown method', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  for (const [settings, says] of [
    [{ method: AES_128, password: 'short' }, /^settings: password must be 16 random bytes in base64/],
    [{ method: 'rot13' }, /^settings\.method must be one of/],
    [{ method: 5 }, /^settings\.method must be one of/],
  ] as const) {
    const { status, body } = await panel.call('/panel/api/inbounds/add', {
      body: { protocol: 'shadowsocks', port: 9001, settings },
    });
    t.is(status, 400);
    t.regex(body.msg, says);
  }
});
