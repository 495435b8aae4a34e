// examples/py3xui-bot as it is: a client is sold, uses its link on a real core, is renewed and deleted.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { outboundOf } from '../demo/link-to-outbound.js';
import { download, startClientCore } from '../../plugins/engine/xray/test/traffic.js';
import { counted, engineBinary, openPanel, openServer } from '../engine/user.js';
import { ADMIN, freePort } from '../harness/api.js';
import { sourceRoot } from '../harness/source-root.js';
import { pythonWithLibrary } from './python-command.js';

const GB = 1024 ** 3;
const DAY = 86_400_000;
const BYTES = 300_000;
interface Sold {
  readonly totalGB: number;
  readonly expiryTime: number;
  readonly enable: boolean;
  readonly traffic: { readonly up: number; readonly down: number };
}

for (const login of ['password', 'token'])
  test.serial(`the bot sells, shows, renews and deletes a client, with a ${login}`, async (t) => {
    const [panel, server] = [await openPanel(t), await openServer(t)];
    const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
      body: { name: 'bot' },
    });
    const credentials: Record<string, string> =
      login === 'token'
        ? { XUI_TOKEN: token }
        : { XUI_USERNAME: ADMIN.username, XUI_PASSWORD: ADMIN.password };
    const file = fileURLToPath(new URL('examples/py3xui-bot/bot.py', await sourceRoot()));
    const bot = async (...args: string[]): Promise<string[]> => {
      const { stdout } = await promisify(execFile)(pythonWithLibrary(process.env), [file, ...args], {
        env: {
          PATH: process.env['PATH'],
          PYTHONDONTWRITEBYTECODE: '1',
          XUI_HOST: panel.url,
          ...credentials,
        },
      });
      return stdout.trim().split('\n');
    };
    const ann = () => panel.get<Sold>('/panel/api/clients/get/ann');

    const port = await freePort();
    t.deepEqual(await bot('inbound', String(port)), [`inbound 1 listens on port ${port}`]);
    const [link = '', fresh = ''] = await bot('sell', 'ann', '30', '50');
    const sold = await ann();
    t.like(sold, { totalGB: 50 * GB, enable: true });
    t.true(Math.abs(sold.expiryTime - (Date.now() + 30 * DAY)) < DAY);
    t.is(fresh, `used 0 of ${50 * GB} bytes, paid until ${sold.expiryTime}`);

    const { outbound } = outboundOf(link);
    const core = await startClientCore({ binary: engineBinary(), outbound });
    t.teardown(core.stop);
    t.is(await download({ socksPort: core.socksPort, server, bytes: BYTES }), BYTES);
    await counted(panel, 'ann', BYTES);
    const { up, down } = (await ann()).traffic;
    t.is(
      (await bot('show', 'ann'))[1],
      `used ${up + down} of ${50 * GB} bytes, paid until ${sold.expiryTime}`,
    );

    const [same, renewed] = await bot('renew', 'ann', '30');
    const { expiryTime, totalGB } = await ann();
    t.deepEqual([same, expiryTime, totalGB], [link, sold.expiryTime + 30 * DAY, 50 * GB]);
    t.is(renewed, `used 0 of ${50 * GB} bytes, paid until ${expiryTime}`);

    t.deepEqual(await bot('delete', 'ann'), ['ann is deleted']);
    t.is((await panel.call('/panel/api/clients/get/ann')).status, 404);
    // With a token, failures have their real status.
    const error = login === 'token' ? /404 Client Error/ : /ValueError: .*message: /;
    await t.throwsAsync(bot('show', 'ann'), { message: error });
  });
