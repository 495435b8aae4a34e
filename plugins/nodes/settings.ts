import { int, setting, inSection } from '../../kernel/index.js';

export const nodeSettings = inSection(
  'Nodes',
  {
    nodeDownThreshold: setting(
      int().min(1).max(60),
      3,
      'failed heartbeats in a row, of one every 4.5 seconds, after which a node is offline',
    ),
  },
  { level: 'advanced' },
);
