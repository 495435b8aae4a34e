/** Icons of the menu for pages of plugins. */
export const PAGE_ICONS = ['chart', 'list', 'file', 'globe', 'bell', 'wrench', 'users', 'plug'] as const;
export type PageIcon = (typeof PAGE_ICONS)[number];
