// What admins are notified of about nodes.
import { notified } from '../notifications/contract.js';
import { nodesFlipped } from './contract.js';

export const downNodes = notified({
  name: 'nodeDown',
  severity: 'warning',
  isOnByDefault: true,
  aliases: ['node.down'],
  hook: nodesFlipped,
  describe: ({ flips }) => {
    const down = flips.filter(({ to }) => to === 'offline');
    if (down.length === 0) return [];
    return [
      {
        args: { count: down.length, nodes: down.map(({ name, error }) => ({ name, error })) },
        data: { nodes: down.map(({ id, name, error }) => ({ id, name, error })) },
      },
    ];
  },
  titles: { en: 'Nodes offline', fa: 'قطع گره‌ها', ru: 'Узлы недоступны', zh: '节点离线' },
  texts: {
    en: '{count, plural, one {A node is offline} other {# nodes are offline}}: {nodes}.',
    fa: '{count, plural, one {یک گره از دسترس خارج شده است} other {# گره از دسترس خارج شده‌اند}}: {nodes}.',
    ru: '{count, plural, one {Недоступен # узел} few {Недоступны # узла} many {Недоступны # узлов} other {Недоступны # узла}}: {nodes}.',
    zh: '{count, plural, other {# 个节点已离线}}：{nodes}。',
  },
  items: {
    nodes: {
      en: '{name} ({error})',
      fa: '{name} ({error})',
      ru: '{name} ({error})',
      zh: '{name}（{error}）',
    },
  },
});

export const upNodes = notified({
  name: 'nodeUp',
  severity: 'info',
  isOnByDefault: true,
  aliases: ['node.up'],
  hook: nodesFlipped,
  describe: ({ flips }) => {
    // A node that answers for the first time is no news to who has just added it.
    const up = flips.filter(({ from, to }) => from === 'offline' && to === 'online');
    if (up.length === 0) return [];
    return [
      {
        args: { count: up.length, nodes: up.map(({ name }) => ({ name })) },
        data: { nodes: up.map(({ id, name }) => ({ id, name })) },
      },
    ];
  },
  titles: {
    en: 'Nodes online again',
    fa: 'وصل شدن دوبارهٔ گره‌ها',
    ru: 'Узлы снова доступны',
    zh: '节点恢复在线',
  },
  texts: {
    en: '{count, plural, one {A node is online again} other {# nodes are online again}}: {nodes}.',
    fa: '{count, plural, one {یک گره دوباره در دسترس است} other {# گره دوباره در دسترس هستند}}: {nodes}.',
    ru: '{count, plural, one {Снова доступен # узел} few {Снова доступны # узла} many {Снова доступны # узлов} other {Снова доступны # узла}}: {nodes}.',
    zh: '{count, plural, other {# 个节点已恢复在线}}：{nodes}。',
  },
  items: { nodes: { en: '{name}', fa: '{name}', ru: '{name}', zh: '{name}' } },
});
