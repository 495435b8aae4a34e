// Runs on every database in test:full.
// kill -9 at many random moments, in the middle of calls of every endpoint that writes, of starts included: what was
// acknowledged is stored, what was not answered is stored whole or not at all, and nothing else is left of it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import { freePort } from '../harness/api.js';
import { onSqlite } from '../harness/database.js';
import { PanelProcess } from '../harness/panel-process.js';
import { random } from '../harness/random.js';
import { until } from '../harness/until.js';
import { weirCommand } from '../harness/weir-command.js';
import { agrees } from '../engine/agrees.js';
import { engineBinary } from '../engine/user.js';
import { type Act, apply, differences, type Part, settle, type World } from './act.js';
import { strayFiles, strayProcesses } from './left-behind.js';
import { KEPT } from './script/files.js';
import { lanes } from './script/lanes.js';
import { oldPanel } from './script/old-panel.js';
import { Ids, readIds, readStored, type Stored } from './stored.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const KILLS = Number(process.env['WEIR_TEST_KILLS'] ?? (onSqlite ? 100 : 25));
const API = '/panel/api/';
/** What the process of a test says of a call whose panel was killed. */
const CUT_OFF = /fetch failed|terminated|ECONN|socket|aborted/i;

/** A start that is killed after so many ms, ready or not. */
async function startKilled(dataDirectory: string, env: Readonly<Record<string, string>>, ms: number) {
  const within = ['timeout', '--foreground', '--signal=KILL', `${ms / 1000}`];
  try {
    const panel = await PanelProcess.start({ env, dataDirectory, anonymous: true, within });
    await panel.until(() => panel.end !== undefined, 'the panel is killed');
  } catch (error) {
    if (!/ended before it was ready/.test(String(error))) throw error;
  }
}

test('kill -9 at any moment: what was acknowledged is there, the rest whole or not at all, and nothing is left behind', async (t) => {
  t.timeout(120 * 60_000);
  t.log(`WEIR_TEST_SEED=${SEED} WEIR_TEST_KILLS=${KILLS}`);
  const chance = random(SEED);
  const temporary = await mkdtemp(join(tmpdir(), 'weir-temporary-'));
  const own = await mkdtemp(join(tmpdir(), 'weir-sources-'));
  const env = { WEIR_ENGINE_BIN: engineBinary(), WEIR_PRESET: 'full', TMPDIR: temporary };
  let panel = await PanelProcess.start({ env });
  const { dataDirectory } = panel;
  t.teardown(async () => {
    await panel.dispose();
    for (const folder of [dataDirectory, temporary, own]) await rm(folder, { recursive: true, force: true });
  });
  const oldPort = await freePort();
  const bases = [await panel.addInbound({ remark: 'base-1' }), await panel.addInbound({ remark: 'base-2' })];
  await panel.addClient('linked', bases);
  await panel.get(`${API}setting/update`, {
    body: { backupKeepLast: KEPT, backupKeepDays: 0, backupKeepWeeks: 0, backupKeepMonths: 0 },
  });
  const ids = new Ids();
  const known: Stored = await readStored(panel, ids);
  // Without links it has no field of them yet.
  known.set('client/linked', { ...known.get('client/linked'), links: [] });
  const script = lanes({
    oldPort,
    oldPanel: (emails) => oldPanel(own, oldPort, emails),
    archive: async () => {
      const { text, status } = await panel.call(`${API}x/archive/export`);
      if (status !== 200) throw new Error(`the archive was not exported: ${status} ${text}`);
      return text;
    },
  });

  let names = 0;
  const world: World = {
    random: chance,
    stored: known,
    ids,
    fresh: (start) => `${start}${names++}`,
    named: (area, start) =>
      [...known.keys()].flatMap((key) =>
        key.startsWith(`${area}/${start}`) ? [key.slice(area.length + 1)] : [],
      ),
    id: async (key) => {
      try {
        return ids.of(key);
      } catch {
        await readIds(panel, key.slice(0, key.indexOf('/')), ids);
        return ids.of(key);
      }
    },
    port: freePort,
  };
  const outcomes = new Map<string, { done: number; cut: number; stored: number }>();
  const counted = (part: Part) => {
    const { route } = part;
    const count = outcomes.get(route) ?? { done: 0, cut: 0, stored: 0 };
    outcomes.set(route, count);
    return count;
  };
  const send = ({ path, method, body, form }: Act) =>
    panel.call(API + path, {
      ...(method && { method }),
      ...(body !== undefined && { body }),
      ...(form && { method: 'POST', rawBody: form as never }),
    });

  const starts: number[] = [];
  /** Replies until the kill, or ms. */
  let moment: { replies: number } | { ms: number };
  for (let kill = 1; kill <= KILLS; kill++) {
    moment = chance.below(2) === 0 ? { replies: 1 + chance.below(40) } : { ms: 20 + chance.below(2500) };
    const when = `kill ${kill}, ${'ms' in moment ? `after ${moment.ms} ms` : `at reply ${moment.replies}`}`;
    const open: { part: Part; act: Act }[] = [];
    const running = panel;
    let replies = 0;
    let killed: Promise<unknown> | undefined;
    const strike = () => (killed ??= running.kill('SIGKILL'));
    const refusals: string[] = [];
    const lane = async (parts: readonly Part[]): Promise<void> => {
      while (!killed) {
        const part = chance.pick(parts) as Part;
        let act: Act | undefined;
        try {
          act = await part.make(world);
        } catch (error) {
          if (killed && CUT_OFF.test(String(error))) return;
          throw error;
        }
        if (act === undefined) continue;
        if (killed) return;
        const entry = { part, act };
        open.push(entry);
        let answer: Awaited<ReturnType<typeof send>>;
        try {
          answer = await send(act);
        } catch (error) {
          if (!killed || !CUT_OFF.test(String(error))) throw error;
          counted(part).cut++;
          return;
        }
        replies++;
        if ('replies' in moment && replies >= moment.replies) void strike();
        open.splice(open.indexOf(entry), 1);
        if (answer.body.success) {
          apply(known, act);
          counted(part).done++;
        } else
          refusals.push(
            `${when}: ${part.route} ${JSON.stringify(act.body)}: ${answer.status} ${answer.text}`,
          );
      }
    };
    const working = Promise.all(script.map(lane));
    if ('ms' in moment) await sleep(moment.ms);
    else await Promise.race([working, sleep(20_000)]);
    void strike();
    await working;
    await killed;
    t.deepEqual(refusals, [], 'the script makes sense');

    // Some starts are killed as well, in the middle of whatever they put in order.
    if (chance.below(6) === 0) await startKilled(dataDirectory, env, 300 + chance.below(2500));
    const began = performance.now();
    panel = await PanelProcess.start({ env, dataDirectory });
    starts.push(Math.round(performance.now() - began));
    const found = await readStored(panel, ids);
    const halves = open.flatMap(({ part, act }) => {
      const [key] = Object.keys(act.change ?? {});
      const before = key === undefined ? undefined : known.get(key);
      const told = settle(known, found, act);
      if (key !== undefined && !isDeepStrictEqual(known.get(key), before)) counted(part).stored++;
      return told;
    });
    t.deepEqual(halves, [], when);
    t.deepEqual(differences(known, found), [], when);

    // All plugins run.
    const plugins = await panel.get<{ name: string; state: string }[]>(`${API}system/plugins`);
    t.deepEqual(
      plugins.filter(({ state }) => state !== 'running'),
      [],
      when,
    );
    const { problems } = await panel.get<{ problems: string[] }>(`${API}x/audit/verify`, { body: {} });
    t.deepEqual(problems, [], when);
    await agrees(t, { dataDirectory }, { when, env });
    let left: string[] = [];
    const core = await panel.corePid();
    await until(async () => {
      left = [
        ...(await strayFiles(dataDirectory, temporary)),
        ...(await strayProcesses(dataDirectory, [panel.pid, core])),
      ];
      return left.length === 0;
    }, when).catch(() => undefined);
    t.deepEqual(left, [], when);
    t.deepEqual(panel.faults, [], when);
  }
  const deep = await weirCommand(dataDirectory, ['check', '--deep'], env);
  t.is(deep.code, 0, `${deep.said}${deep.complained}`);
  const sorted = [...starts].sort((a, b) => a - b);
  t.log(
    `starts: ${sorted[0]} to ${sorted.at(-1)} ms, half of them within ${sorted[Math.floor(sorted.length / 2)]} ms`,
  );
  t.log(
    [...outcomes]
      .map(
        ([route, { done, cut, stored }]) =>
          `${route}: ${done} answered, ${cut} cut off, ${stored} of them stored`,
      )
      .sort()
      .join('\n'),
  );
});
