// Runs on every database in test:full.
// A code opens once, at whichever panel; and what one panel knows of second factors, the other one knows.
import test from 'ava';
import { Secret, TOTP } from 'otpauth';
import { ADMIN } from '../../../test/harness/api.js';
import { onSqlite } from '../../../test/harness/database.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test.serial;
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const secret = Secret.fromBase32(SECRET);
const SMALL = { WEIR_PRESET: 'minimal' };
/** The code before, now, or after, all of which are accepted. */
const code = (steps: number): string => TOTP.generate({ secret, timestamp: Date.now() + steps * 30_000 });
const login = (panel: PanelProcess, twoFactorCode?: string): Promise<number> =>
  panel.call('/login', { body: { ...ADMIN, twoFactorCode }, anonymous: true }).then(({ status }) => status);

onServer('a code, and a recovery code, opens once at two panels at the same moment', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a', SMALL), await panels.start('b', SMALL)];
  const { recoveryCodes } = await a.get<{ recoveryCodes: string[] }>('/panel/api/x/account/secondFactor', {
    body: { twoFactorToken: SECRET, twoFactorCode: code(-1) },
  });
  const ask = async (panel: PanelProcess) =>
    (await panel.call<boolean>('/getTwoFactorEnable', { method: 'POST', anonymous: true })).body.obj;
  await b.until(() => ask(b), 'the other panel asks for a code');
  t.is(await login(b), 401);
  const atOnce = async (text: string | undefined) => {
    const answers = await Promise.all([login(a, text), login(b, text), login(a, text), login(b, text)]);
    return answers.filter((status) => status === 200).length;
  };
  t.is(await atOnce(code(0)), 1);
  t.is(await atOnce(recoveryCodes[0]), 1);
});
