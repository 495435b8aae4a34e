// Words that a first reading stumbles over (docs/writing.md), with what to write in their place. To add a word, bring it
// to zero in these folders and add a line; to add a folder, do the same for its files.
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
];

/** Folders in which all of these words are at zero. */
const FOLDERS =
  /^(?:panel|cli|drivers|net|schema|timing|file|kernel|examples|plugins\/(?:notifications|realtime|command-line|quickstart|system|api-docs|subscription|sub-links))\//;
const TEXT = /\.(?:ts|js|mjs|md)$/;

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
  const files = (await filesOf()).filter(({ path }) => FOLDERS.test(path) && TEXT.test(path));
  t.true(files.length > 200, 'the files were found');
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
