// The columns of the list beside the name: which a reader may choose, and how wide each is.

/** In the order of the list. */
export const COLUMNS = {
  state: { width: '116px' },
  usage: { width: 'minmax(150px, 1.2fr)', sort: 'traffic' },
  ends: { width: 'minmax(104px, 1fr)', sort: 'expiryTime' },
  seen: { width: 'minmax(104px, 0.8fr)', sort: 'lastOnline' },
  comment: { width: 'minmax(104px, 1fr)' },
  created: { width: 'minmax(104px, 0.8fr)', sort: 'createdAt' },
} as const;
export type Column = keyof typeof COLUMNS;
export const ALL_COLUMNS = Object.keys(COLUMNS) as Column[];

const USUAL = 'state,usage,ends,seen';
/** The preference when no column is chosen; a blank one means the usual columns. */
const NO_COLUMN = 'none';
/** What fits beside the name where the page is of middle width. */
const FIT = 3;

/** What a preference says; columns that are not known are left out. */
export function columnsOf(preference: string): Column[] {
  const chosen = (preference || USUAL).split(',');
  return ALL_COLUMNS.filter((column) => chosen.includes(column));
}

export const preferenceOf = (chosen: Iterable<Column>): string => {
  const all = new Set(chosen);
  const text = ALL_COLUMNS.filter((column) => all.has(column)).join(',') || NO_COLUMN;
  return text === USUAL ? '' : text;
};

export const fitting = (chosen: Column[], isMedium: boolean): Column[] =>
  isMedium ? chosen.slice(0, FIT) : chosen;

/** `grid-template-columns` of a row: the name, the columns, the actions. */
export const templateOf = (columns: readonly Column[], isMedium: boolean): string =>
  [
    `minmax(${isMedium ? '120px' : '180px'}, 2fr)`,
    ...columns.map((column) => COLUMNS[column].width),
    isMedium ? '40px' : '96px',
  ].join(' ');
