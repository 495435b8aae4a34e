import test from 'ava';
import { FOR_UNKNOWN, type Minor, minorOf } from '../version.js';

const CASES: Readonly<Record<string, Minor>> = {
  'SFA/1.11.9 (440; sing-box 1.11.9; language en_US)': 11,
  'SFI/1.12.4 (1; sing-box 1.12.4)': 12,
  'SFM/1.13.0 (1; sing-box 1.13.0-alpha.26)': 13,
  'sing-box 1.14.0': 14,
  'sing-box/v1.14.2': 14,
  'sing-box 1.15.0': 14,
  'sing-box 1.27.1': 14,
  'sing-box 1.8.0': 11,
  'sing-box 2.0.0': FOR_UNKNOWN,
  'using-box 1.11.0': FOR_UNKNOWN,
  'Hiddify/2.0.5': FOR_UNKNOWN,
  '': FOR_UNKNOWN,
};
for (const [agent, minor] of Object.entries(CASES))
  test(`the version of "${agent}"`, (t) => t.is(minorOf(agent), minor));
