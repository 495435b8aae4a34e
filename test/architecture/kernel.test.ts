// The kernel stays small and knows no word of the domain.
import test from 'ava';
import { type Source, sourceOf, sources } from './source.js';

const MOST_LINES = 3_800;
const DOMAIN = ['client', 'inbound', 'subscription', 'hwid', 'xray', 'outbound', 'traffic'];

const isKernel = ({ path, isTest }: Source): boolean => path.startsWith('kernel/') && !isTest;

/** Names and texts of the kernel that speak of what plugins do. */
function domainWords({ path, code }: Source): string[] {
  const words = new RegExp(`\\w*(?:${DOMAIN.join('|')})\\w*`, 'gi');
  return code
    .split('\n')
    .flatMap((line, i) =>
      [
        ...(/^\s*(?:import|export)\b.*\bfrom '/.test(line) ? line.replace(/from '.*'/, '') : line).matchAll(
          words,
        ),
      ].map(
        ([word]) =>
          `${path}:${i + 1} says "${word}": the kernel knows no word of the domain; say what it is to the kernel, or move it into a plugin`,
      ),
    );
}

test(`the kernel has at most ${MOST_LINES} lines of code`, async (t) => {
  const kernel = (await sources()).filter(isKernel);
  t.true(kernel.length > 20, 'the kernel was not found');
  const size = kernel.reduce((sum, file) => sum + file.size, 0);
  t.log(`${size} lines`);
  t.true(
    size <= MOST_LINES,
    `kernel/ has ${size} lines of code, ${MOST_LINES} are allowed; move something into a plugin. Largest: ${kernel
      .sort((a, b) => b.size - a.size)
      .slice(0, 5)
      .map((file) => `${file.path} ${file.size}`)
      .join(', ')}`,
  );
});

test('the kernel knows no word of the domain', async (t) => {
  t.deepEqual((await sources()).filter(isKernel).flatMap(domainWords), []);
});

test('the rule about words sees names and texts, not comments and imports', (t) => {
  const found = (text: string) => domainWords(sourceOf('kernel/x.ts', text)).length;
  t.is(found('const forbidClient = 1;'), 1);
  t.is(found("const a = 1;\nthrow new Error('no Inbound');"), 1);
  t.is(found("// about clients\n/* xray\n traffic */ const url = 'http://x';"), 0);
  t.is(found("import { x } from './traffic.js';"), 0);
  t.is(found('const quote = /["\'`]/; // traffic\nconst traffic = 1;'), 1);
});
