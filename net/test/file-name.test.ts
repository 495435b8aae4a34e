import test from 'ava';
import { baseName, downloadName } from '../file-name.js';

test('a file name is never a path and has no invisible characters', (t) => {
  t.is(baseName('C:\\a/b\\my.db'), 'my.db');
  for (const none of ['', '..', 'a/', '\0', '\u202e']) t.is(baseName(none), '', JSON.stringify(none));
  t.is(baseName('a\u202efdp.exe'), 'afdp.exe');
  t.is(baseName('a\u2028b\r\nc\ud800'), 'abc');
  t.is(downloadName('../a\u2067b'), '.._a_b');
  t.is(baseName('می\u200cخواهم 👩\u200d💻.db'), 'می\u200cخواهم 👩\u200d💻.db');
});
