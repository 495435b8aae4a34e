// Keys of Shadowsocks 2022: of the length of their method.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

const PATH = '/panel/api/x/keygen/shadowsocks';

test('a key has the length of its method, and no two are alike', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  for (const [method, bytes] of [
    ['2022-blake3-aes-128-gcm', 16],
    ['2022-blake3-aes-256-gcm', 32],
    ['2022-blake3-chacha20-poly1305', 32],
  ] as const) {
    const make = () => panel.get<{ password: string }>(`${PATH}?method=${method}`);
    const { password } = await make();
    t.is(Buffer.from(password, 'base64').length, bytes, method);
    t.not((await make()).password, password);
  }
  for (const query of ['', '?method=', '?method=aes-256-gcm', '?method=constructor'])
    t.is((await panel.call(`${PATH}${query}`)).status, 400, query);
});
