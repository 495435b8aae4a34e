// The plugins of the panel, as the API shows them.
import { bool, list, oneOf, shape, text } from '../../kernel/index.js';

export const PluginList = list(
  shape({
    name: text(),
    version: text().description('empty when not even that is known'),
    about: text(),
    outside: bool().description('not of this tree'),
    state: oneOf('built', 'running', 'faulty', 'stopped', 'failed').description('failed: left out at the start; faulty: closed after repeated faults'),
    reason: text().description('why it does not run, with the way out; empty while it does'),
  }),
);
