/** The row that a key leads to from row `current` of `count`; undefined for other keys. `screen` is the number of rows on the screen. */
export function keyTarget(key: string, current: number, count: number, screen: number): number | undefined {
  const within = (index: number): number => Math.min(count - 1, Math.max(0, index));
  switch (key) {
    case 'ArrowDown':
      return within(current + 1);
    case 'ArrowUp':
      return within(current - 1);
    case 'PageDown':
      return within(current + screen);
    case 'PageUp':
      return within(current - screen);
    case 'Home':
      return 0;
    case 'End':
      return within(count - 1);
    default:
      return undefined;
  }
}
