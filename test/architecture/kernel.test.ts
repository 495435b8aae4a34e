// The kernel and the libraries under it (schema, tables, net, timing, file) stay small and know no word of the domain.
import test from 'ava';
import { type Source, sourceOf, sources } from './source.js';

/** Lines of code that a folder may have. `net` also writes replies, and lists that are longer than memory should hold. `schema` also names what callers sent in vain, takes values as old programs send them, and has what forms must know of fields. `tables` also has what follows tables in memory, and SQL that differs between databases. */
const MOST_LINES = { kernel: 3_800, schema: 760, net: 1_160, timing: 350, file: 100, tables: 320 } as const;
type Folder = keyof typeof MOST_LINES;
const DOMAIN = ['client', 'inbound', 'subscription', 'hwid', 'xray', 'outbound', 'traffic'];

/** Node's name for the event of an HTTP server. */
const NODE_EVENT = "'clientError'";

const FOLDERS = Object.keys(MOST_LINES) as Folder[];

const within = (all: readonly Source[], folder: Folder): Source[] =>
  all.filter(({ path, isTest }) => path.startsWith(`${folder}/`) && !isTest);

/** Names and texts that speak of what plugins do. */
function domainWords({ path, code }: Source): string[] {
  const words = new RegExp(`\\w*(?:${DOMAIN.join('|')})\\w*`, 'gi');
  return code
    .replaceAll(NODE_EVENT, "''")
    .split('\n')
    .flatMap((line, i) =>
      [
        ...(/^\s*(?:import|export)\b.*\bfrom '/.test(line) ? line.replace(/from '.*'/, '') : line).matchAll(
          words,
        ),
      ].map(
        ([word]) =>
          `${path}:${i + 1} says "${word}": kernel, schema and net know no word of the domain; say what it is to them, or move it into a plugin`,
      ),
    );
}

for (const folder of FOLDERS) {
  const most = MOST_LINES[folder];

  test(`${folder}/ has at most ${most} lines of code`, async (t) => {
    const files = within(await sources(), folder);
    t.true(files.length > 0, `${folder}/ was not found`);
    const size = files.reduce((sum, file) => sum + file.size, 0);
    t.log(`${size} lines`);
    t.true(
      size <= most,
      `${folder}/ has ${size} lines of code, ${most} are allowed; move something into a plugin. Largest: ${files
        .sort((a, b) => b.size - a.size)
        .slice(0, 5)
        .map((file) => `${file.path} ${file.size}`)
        .join(', ')}`,
    );
  });

  test(`${folder}/ knows no word of the domain`, async (t) => {
    t.deepEqual(within(await sources(), folder).flatMap(domainWords), []);
  });
}

test('the rule about words sees names and texts, not comments and imports', (t) => {
  const found = (text: string) => domainWords(sourceOf('kernel/x.ts', text)).length;
  t.is(found('const forbidClient = 1;'), 1);
  t.is(found("server.on('clientError', refuse)"), 0);
  t.is(found('const clientError = 1;'), 1);
  t.is(found("const a = 1;\nthrow new Error('no Inbound');"), 1);
  t.is(found("// about clients\n/* xray\n traffic */ const url = 'http://x';"), 0);
  t.is(found("import { x } from './traffic.js';"), 0);
  t.is(found('const quote = /["\'`]/; // traffic\nconst traffic = 1;'), 1);
});
