// The script: what runs at the same time. Lanes change different records, so that it is known what each call changes.
import type { Part } from '../act.js';
import { clients } from './clients.js';
import { chores, imports, type Sources } from './files.js';
import { groups } from './groups.js';
import { inbounds } from './inbounds.js';
import { ofPanel } from './panel.js';
import { ways } from './ways.js';

export const lanes = (sources: Sources): readonly (readonly Part[])[] => {
  const ofAccounts = ({ route }: Part) => route.startsWith('POST x/node/');
  return [
    [...clients, ...groups, ...inbounds, ...imports(sources), ...ofPanel.filter(ofAccounts)],
    ways,
    ofPanel.filter((part) => !ofAccounts(part)),
    chores,
  ];
};
