// Records as fast as it can, until it is killed: values that follow from their time, for fifty keys.
import { gauge } from '../contract.js';
import { Recorder } from '../recorder.js';
import { keptLog } from './folder.js';

const [path = '', start = '0'] = process.argv.slice(2);
const series = gauge({ name: 'a.load', unit: '', mostKeys: 50 });
const recorder = new Recorder(series, path, keptLog().log);
await recorder.open();
process.stdout.write('writes\n');
for (let at = Number(start); ; at += 2_000) {
  for (let key = 0; key < 50; key++) recorder.add(`key ${key}`, (at / 2_000) % 1_000, at, at);
  await recorder.flush();
}
