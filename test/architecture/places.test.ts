// Where an inbound runs is decided in one plugin: others take `LocalInbounds` for what runs, and never look at `nodeId`.
import test from 'ava';
import { filesOf } from './source.js';

/** They own the idea, or the nodes; the web page only shows what the API says. */
const OWNERS = /^plugins\/(?:inbounds|nodes|older-nodes|node-[a-z-]+|web-ui\/page)\//;
const CODE = /^plugins\/[^/]+\/(?!test\/).*\.ts$/;
const DECIDES = /(?<!typeof )\bnodeId\b\s*(?:[!=]==?|&&|\|\||\?(?![?:]))|!\w*\.?nodeId\b/;
/** What starts something on this machine, or adds to the core's config. */
const RUNS = /\bcontribute\((?:Sidecars|ProtocolPrograms|UserServers)\b|\btap\(\s*composeCoreConfig\b/;
const ALL_INBOUNDS = /\binbounds: (?:maybe\()?Inbounds\b/;

const problemsOf = (path: string, text: string): string[] => {
  const lines = text
    .split('\n')
    .flatMap((line, i) => (DECIDES.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : []));
  return RUNS.test(text) && ALL_INBOUNDS.test(text)
    ? [...lines, `${path} runs something, and uses Inbounds; use LocalInbounds`]
    : lines;
};

test('no plugin asks where an inbound runs', async (t) => {
  const files = (await filesOf()).filter(({ path }) => CODE.test(path) && !OWNERS.test(path));
  t.true(files.length > 300, `only ${files.length} files were found`);
  t.deepEqual(
    files.flatMap(({ path, text }) => problemsOf(path, text)),
    [],
  );
});

test('finds a question and a plugin that runs inbounds of nodes', (t) => {
  for (const line of [
    'if (inbound.nodeId === null) run();',
    'nodeId !== null && run()',
    'if (!inbound.nodeId)',
  ])
    t.is(problemsOf('a.ts', line).length, 1, line);
  t.is(problemsOf('a.ts', 'uses: { inbounds: Inbounds },\ntaps: [tap(composeCoreConfig, f)]').length, 1);
  t.deepEqual(
    problemsOf('a.ts', 'uses: { inbounds: LocalInbounds },\ntaps: [tap(composeCoreConfig, f)]'),
    [],
  );
  t.deepEqual(problemsOf('a.ts', '{ nodeId: sent.nodeId ?? null }'), []);
});
