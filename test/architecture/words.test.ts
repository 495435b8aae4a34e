// Words that a first reading stumbles over (docs/writing.md), with what to write instead. To add a word, replace it in all
// files and add a line here.
import test from 'ava';
import { filesOf } from './source.js';

interface Word {
  readonly pattern: RegExp;
  readonly instead: string;
}
const WORDS: readonly Word[] = [
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bshall\b/i, instead: 'must' },
  { pattern: /\bformer(?:ly)?\b/i, instead: 'previous' },
  { pattern: /\bmend(?:s|ed)?\b/i, instead: 'fix' },
  { pattern: /\b(?:is|are) told of\b/i, instead: 'is logged, is reported' },
  { pattern: /\bis no JSON\b/, instead: 'is not valid JSON' },
  { pattern: /\bthat (?:is|are) none\b/i, instead: 'an invalid …, or the word for it: a dry run' },
  { pattern: /\b(?:that|what) nobody knows\b|\bnobody knows what\b/i, instead: 'unknown, unexpected' },
  { pattern: /\b(?:fast|slow) lane\b/i, instead: 'fast path, slow path' },
  { pattern: /\bgo(?:es)?-?along\b/i, instead: 'the dependents are disabled' },
  { pattern: /\bworkshop\b/i, instead: 'staging, staged' },
  { pattern: /\bharbour\b/i, instead: 'the name of the thing itself' },
  { pattern: /\b(?:plain|socket-io)-?door\b/i, instead: 'endpoint, server' },
  { pattern: /\b(?:plugins?|channel|format|protocol|one) from outside\b/i, instead: 'third-party' },
  { pattern: /\b(?:exists|is there) already\b/i, instead: 'already exists' },
  { pattern: /\bhears? of\b/i, instead: 'receives, is called with' },
  { pattern: /\bpassed over\b/i, instead: 'skipped' },
  { pattern: /\bmade up\b/i, instead: 'generated' },
  { pattern: /\bwritten down\b/i, instead: 'recorded, stored' },
  { pattern: /\bwithout more ado\b/i, instead: 'directly' },
];

/** Decisions are records of their time; the changelog quotes old names; these two name the words themselves. */
const EXEMPT =
  /^(?:docs\/decisions\/|docs\/writing\.md$|CHANGELOG\.md$|test\/architecture\/words\.test\.ts$)/;
const TEXT = /\.(?:ts|js|mjs|md|json|toml|py)$/;

const problemsOf = (path: string, text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, i) =>
      WORDS.flatMap(({ pattern, instead }) =>
        pattern.test(line)
          ? [`${path}:${i + 1} has "${pattern.exec(line)?.[0]}"; write: ${instead} (docs/writing.md)`]
          : [],
      ),
    );

test('uses plain words in comments, messages and docs', async (t) => {
  const files = (await filesOf()).filter(({ path }) => !EXEMPT.test(path) && TEXT.test(path));
  t.true(files.length > 900, `only ${files.length} files were found`);
  t.deepEqual(
    files.flatMap(({ path, text }) => problemsOf(path, text)),
    [],
  );
});

test('names the line, the word and a better one', (t) => {
  t.deepEqual(problemsOf('a.ts', '// A good line.\n// The panel starts anew.'), [
    'a.ts:2 has "anew"; write: again (docs/writing.md)',
  ]);
  for (const line of [
    'it is no JSON',
    'a start that is none',
    'nobody knows what it is for',
    'the fast lane',
  ])
    t.is(problemsOf('a.md', line).length, 1, line);
  for (const line of ['a sentence that says why there is none', 'recommended', 'the information'])
    t.deepEqual(problemsOf('a.md', line), [], line);
});
