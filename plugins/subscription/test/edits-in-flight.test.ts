// While hundreds of fetches are under way, none that begins after the answer to an edit shows what was before it.
import test from 'ava';
import { type FormatName, fetchIn, FORMATS, subscribed, UUID } from './edits.js';

const AT_ONCE = 200;
const EDITS = 8;

test('no fetch that begins after the answer to an edit is older than that', async (t) => {
  const world = await subscribed(t);
  const { post, set, inbounds } = world;
  const rows = (await post('hosts/add', {
    inboundIds: [inbounds[1]],
    remark: 'cdn',
    hosts: ['v0.example'],
  })) as { groupId: string }[];
  const kinds = [
    {
      edit: (n: number) => post(`inbounds/update/${inbounds[0]}`, { port: 21_000 + n }),
      shown: /\b210(\d\d)\b/,
    },
    { edit: (n: number) => set({ remarkTemplate: `name${n}end` }), shown: /name(\d+)end/ },
    {
      edit: (n: number) =>
        post('clients/update/ann', { uuid: `${UUID.slice(0, -2)}${String(n).padStart(2, '0')}` }),
      shown: /5555555555(\d\d)/,
    },
    {
      edit: (n: number) => post(`hosts/update/${rows[0]?.groupId}`, { hosts: [`v${n}.example`] }),
      shown: /\bv(\d+)\.example/,
    },
  ];
  for (const { edit } of kinds) await edit(0);
  /** by kind: the last edit that is answered */
  const answered = kinds.map(() => 0);
  let isOver = false;
  let fetches = 0;
  const stale: string[] = [];
  const fetchOn = async (format: FormatName): Promise<void> => {
    let etag: string | undefined;
    while (!isOver) {
      const least = [...answered];
      const { status, text, etag: next } = await fetchIn(world, format, { etag });
      fetches++;
      // Those who have the body are told that nothing has changed: also that must not be old.
      const shown = status === 304 ? undefined : text;
      if (shown === undefined && etag !== next) stale.push(`${format}: 304 for another body`);
      for (const [kind, { shown: pattern }] of kinds.entries()) {
        const version = shown && Number(pattern.exec(shown)?.[1] ?? Number.NaN);
        if (version !== undefined && !(Number(version) >= (least[kind] ?? 0)))
          stale.push(`${format}: ${String(pattern)} is ${version} after ${least[kind]}`);
      }
      etag = fetches % 2 ? next : undefined;
    }
  };
  const under = Array.from({ length: AT_ONCE }, (_, i) => fetchOn(FORMATS[i % FORMATS.length] as FormatName));
  for (let n = 1; n <= EDITS; n++) {
    const kind = n % kinds.length;
    await kinds[kind]?.edit(n);
    answered[kind] = n;
  }
  isOver = true;
  await Promise.all(under);
  t.deepEqual(stale.slice(0, 5), []);
  t.true(fetches > AT_ONCE, `only ${fetches} fetches`);
  for (const format of FORMATS) {
    const { text } = await fetchIn(world, format);
    for (const [kind, { shown }] of kinds.entries())
      t.is(Number(shown.exec(text)?.[1]), answered[kind] as number, `${format}: ${String(shown)}`);
  }
});
