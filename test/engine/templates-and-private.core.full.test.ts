import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { testUnless } from '../harness/left-out.js';
import { REFUSED, TEMPLATES } from './opening-templates.js';
import type { Found } from './reachable-by-template.js';

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('./reachable-by-template.js', import.meta.url));
const OWN_NETWORK = ['--user', '--map-root-user', '--net', '--mount'];
const LIMIT_MS = 600_000;

/** Why this machine allows no separate network namespace; empty where it does. */
const obstacle = await run('unshare', [...OWN_NETWORK, 'ip', 'link', 'set', 'lo', 'up']).then(
  () => '',
  (error: Error) => `it needs unshare and ip with user namespaces: ${error.message.trim()}`,
);

testUnless(obstacle)(
  'no template opens a way to this machine, by name, by address or by packet',
  async (t) => {
    t.timeout(LIMIT_MS + 10_000);
    const { stdout } = await run('unshare', [...OWN_NETWORK, '--kill-child', process.execPath, PROGRAM], {
      timeout: LIMIT_MS,
    });
    const { templates: found, changing } = JSON.parse(stdout) as Found;
    t.deepEqual(Object.keys(found), Object.keys(TEMPLATES));
    for (const [name, { inside, status, msg }] of Object.entries(found)) {
      t.deepEqual(inside, [], `${name}: ${msg}`);
      t.is(status, REFUSED.has(name) ? 422 : 200, `${name}: ${msg}`);
    }
    t.like(changing, { saves: 100, refused: [], inside: [] });
    t.true(changing.streams > 200 && changing.packets > 100, JSON.stringify(changing));
    for (const name of ['plain', 'a balancer of freedoms', 'a balancer that pings freedoms'])
      t.deepEqual(found[name]?.outside, [true, true], `${name}: streams and packets reach the internet`);
  },
);
