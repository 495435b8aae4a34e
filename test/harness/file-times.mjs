// Loaded by each test process before its file: says at the end how long the process lived, for bin/test.mjs.
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = process.env.WEIR_TEST_TIMES;
if (folder)
  process.on('exit', () => {
    const on = process.env.WEIR_TEST_DATABASE_SERVER ? 'MariaDB' : '';
    writeFileSync(
      join(folder, `${process.pid}.json`),
      JSON.stringify({ file: relative(root, fileURLToPath(test.meta.file)), ms: performance.now(), on }),
    );
  });
