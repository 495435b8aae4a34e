// The script: what runs at the same time. Lanes change different records, so that it is known what each call changes.
import type { Part } from '../act.js';
import { accounts } from './accounts.js';
import { chores, imports, type Sources } from './files.js';
import { ofPanel } from './panel.js';
import { ways } from './ways.js';

export const lanes = (sources: Sources): readonly (readonly Part[])[] => {
  const ofAccounts = ({ route }: Part) => route.startsWith('POST x/node/');
  return [
    [...accounts, ...imports(sources), ...ofPanel.filter(ofAccounts)],
    ways,
    ofPanel.filter((part) => !ofAccounts(part)),
    chores,
  ];
};
